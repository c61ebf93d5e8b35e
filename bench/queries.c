// SPDX-License-Identifier: MIT
#include "bench/queries.h"

#include <stdio.h>
#include <time.h>

#include "base/assert.h"
#include "base/random.h"
#include <cairn/sim.h>

#define BODIES 2000
#define QUERIES 20000
#define ROUNDS 5

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static float between(cairn_random *random, float lower, float upper) {
    return lower + (upper - lower) * cairn_random_unit(random);
}

// Columns of ten cubes of half a metre on a plane, asleep.
static cairn_world *pile(void) {
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world = NULL;
    cairn_body_id body;
    cairn_shape_id id;
    def.body_capacity = def.shape_capacity = BODIES + 1;
    def.contact_capacity = 10 * BODIES;
    if (cairn_world_create(&def, &world) != CAIRN_OK) {
        return NULL;
    }
    for (uint32_t i = 0; i <= BODIES; ++i) {
        cairn_body_def at = cairn_body_def_default();
        cairn_shape_def shape = cairn_shape_def_default();
        if (i == 0) {
            at.kind = CAIRN_BODY_STATIC;
            shape.kind = CAIRN_SHAPE_HALF_SPACE;
        } else {
            const uint32_t column = (i - 1) / 10;
            at.position = (cairn_vec3){0.8f * (float)(column % 14) - 5.6f,
                0.25f + 0.5f * (float)((i - 1) % 10), 0.8f * (float)(column / 14) - 5.6f};
            shape.half_extents = (cairn_vec3){0.25f, 0.25f, 0.25f};
        }
        const cairn_status created = cairn_body_create(world, &at, &body);
        const cairn_status shaped = cairn_shape_create(world, body, &shape, &id);
        CAIRN_ASSERT(created == CAIRN_OK && shaped == CAIRN_OK);
    }
    for (uint32_t i = 0; i < 120; ++i) {
        cairn_world_step(world, NULL, 0);
    }
    return world;
}

typedef void query(const cairn_world *world, cairn_vec3 at, cairn_vec3 way);

static void query_ray(const cairn_world *world, cairn_vec3 at, cairn_vec3 way) {
    const cairn_query_filter filter = cairn_query_filter_default();
    cairn_ray_hit hit;
    (void)cairn_world_ray_closest(world, at, way, &filter, &hit);
}

static void query_overlap(const cairn_world *world, cairn_vec3 at, cairn_vec3 way) {
    const cairn_query_filter filter = cairn_query_filter_default();
    const cairn_shape_def box = cairn_shape_def_default();
    cairn_shape_id found[64];
    (void)way;
    (void)cairn_world_overlap_shape(
        world, &box, (cairn_pose){.position = at, .rotation = {.w = 1.0f}}, &filter, found, 64);
}

static void query_cast(const cairn_world *world, cairn_vec3 at, cairn_vec3 way) {
    const cairn_query_filter filter = cairn_query_filter_default();
    cairn_shape_def capsule = cairn_shape_def_default();
    cairn_ray_hit hit;
    capsule.kind = CAIRN_SHAPE_CAPSULE;
    capsule.radius = 0.3f;
    (void)cairn_world_shape_cast(
        world, &capsule, (cairn_pose){.position = at, .rotation = {.w = 1.0f}}, way, &filter, &hit);
}

// The least mean of several rounds, us.
static double measure(const cairn_world *world, query *run) {
    double best = 1e9;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        cairn_random random = cairn_random_of(1);
        const double begin = now_us();
        for (uint32_t i = 0; i < QUERIES; ++i) {
            const cairn_vec3 at = {between(&random, -5.6f, 5.6f), between(&random, 0.0f, 6.0f),
                between(&random, -5.6f, 5.6f)};
            const cairn_vec3 way = {between(&random, -5.0f, 5.0f), between(&random, -5.0f, 5.0f),
                between(&random, -5.0f, 5.0f)};
            run(world, at, way);
        }
        const double mean = (now_us() - begin) / QUERIES;
        best = mean < best ? mean : best;
    }
    return best;
}

bool bench_queries(void) {
    static const struct {
        const char *name;
        query *run;
        double target; // us
    } rows[] = {{"ray", query_ray, 1.5}, {"overlap of a cube of 1 m", query_overlap, 3.0},
        {"cast of a capsule", query_cast, 5.0}};
    cairn_world *world = pile();
    bool all = world != NULL;
    if (world == NULL) {
        return false;
    }
    cairn_world_queries_prepare(world);
    printf("%-26s %8s %8s\n", "2000 bodies asleep", "us", "target");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const double cost = measure(world, rows[i].run);
        printf("%-26s %8.2f %8.2f\n", rows[i].name, cost, rows[i].target);
        all = all && cost <= rows[i].target;
    }
    cairn_world_destroy(world);
    return all;
}
