// SPDX-License-Identifier: MIT
// Bodies that break into Voronoi cells. Everything is planned, down to the hulls, before anything
// is changed.

#include <cairn/fracture.h>

#include <string.h>

#include "base/assert.h"
#include "base/check.h"
#include "sim/articulation/hang.h"
#include "sim/body/body.h"
#include "sim/body/shape.h"
#include "sim/math/limits.h"
#include "sim/shape/hull.h"
#include "sim/shape/voronoi.h"
#include "sim/state/slots.h"
#include "sim/world/world.h"

_Static_assert(CAIRN_FRACTURE_PIECES_MAX <= CAIRN_VORONOI_SITES_MAX, "each piece has a site");

// No piece is thinner than this, m: a hull has at least twice CAIRN_SHAPE_SIZE_MIN.
#define THICKNESS_LEAST (2.5 * (double)CAIRN_SHAPE_SIZE_MIN)
// How often sites are drawn, if one was left alone: two in a crowd may be too close together.
#define ATTEMPTS 8
// How far the volumes of the pieces may be from that of the body, as a fraction.
#define VOLUME_ERROR_MAX 1e-4

static const char *const too_thin = "the body is too thin or too small to be divided";

// Lengths are in axes of the body, from its centre of mass.
typedef struct plan {
    const cairn_world *world;
    const cairn_fracture_def *def;
    uint32_t body;  // slot
    uint32_t shape; // slot
    cairn_polyhedron whole;
    double volume;
    double thickness_squared; // the least of a piece
    cairn_voronoi voronoi;
    // By site:
    cairn_hull *hulls[CAIRN_FRACTURE_PIECES_MAX]; // where each is built; relative to its centre
    cairn_vec3 centres[CAIRN_FRACTURE_PIECES_MAX];
    float volumes[CAIRN_FRACTURE_PIECES_MAX]; // of the hulls
    double built[CAIRN_FRACTURE_PIECES_MAX];  // of the cell that the hull was built from; 0: none
    cairn_body_def bodies[CAIRN_FRACTURE_PIECES_MAX];
    float masses[CAIRN_FRACTURE_PIECES_MAX]; // to be set; 0: they follow from the shapes
    const char *refusal;
} plan;

static cairn_status refuse(plan *p, cairn_status status, const char *why) {
    CAIRN_ASSERT(status != CAIRN_OK && p->refusal == NULL);
    p->refusal = why;
    return status;
}

// ---- The body and the def

static cairn_status check_def(plan *p) {
    const cairn_fracture_def *def = p->def;
    const cairn_status checks[] = {cairn_check_vec3(def->point, CAIRN_VALID_DISTANCE),
        cairn_check_float(def->crowding, 0.0f, 1.0f),
        cairn_check_float(def->thickness_min, 0.0f, CAIRN_SHAPE_SIZE_MAX)};
    const cairn_status status = cairn_check_all(checks, sizeof checks / sizeof checks[0]);
    if (status != CAIRN_OK) {
        return refuse(p, status, "point, crowding or thickness_min is out of range");
    }
    if (def->pieces < 2 || def->pieces > CAIRN_FRACTURE_PIECES_MAX) {
        return refuse(p, CAIRN_INVALID_ARGUMENT, "fewer than two pieces, or too many");
    }
    return CAIRN_OK;
}

static cairn_status check_body(plan *p, cairn_body_id id) {
    const cairn_world *world = p->world;
    p->body = cairn_body_slot(world, id);
    if (p->body == CAIRN_INDEX_NONE) {
        return refuse(p, CAIRN_NOT_FOUND, "there is no such body");
    }
    if (world->state.bodies[p->body].kind != CAIRN_BODY_DYNAMIC) {
        return refuse(p, CAIRN_WRONG_STATE, "the body is not dynamic, or not enabled");
    }
    if (cairn_body_is_link(world, id)) {
        return refuse(p, CAIRN_WRONG_STATE, "the body is a link of an articulation");
    }
    p->shape = world->shape_first[p->body] - 1;
    if (p->shape == CAIRN_INDEX_NONE || world->shape_next[p->shape] != 0) {
        return refuse(p, CAIRN_WRONG_STATE, "the body has no shape, or more than one");
    }
    if ((world->state.shapes[p->shape].flags & CAIRN_SHAPE_SENSOR) != 0) {
        return refuse(p, CAIRN_WRONG_STATE, "the shape is a sensor");
    }
    return CAIRN_OK;
}

static cairn_status measure_whole(plan *p) {
    const cairn_world *world = p->world;
    const cairn_shape_view view = cairn_shape_view_at(world, p->shape);
    const cairn_pose pose = world->state.shapes[p->shape].pose;
    double centre[3];
    if (!cairn_polyhedron_of_shape(&view, &pose, world->state.bodies[p->body].centre, &p->whole)) {
        return refuse(p, CAIRN_WRONG_STATE, "the shape is neither box, hull, cylinder nor cone");
    }
    const double half = 0.25 * cairn_polyhedron_thickness_squared(&p->whole); // its square
    const double wanted = (double)p->def->thickness_min * (double)p->def->thickness_min;
    p->thickness_squared = wanted < half ? wanted : half;
    if (p->thickness_squared < THICKNESS_LEAST * THICKNESS_LEAST) {
        p->thickness_squared = THICKNESS_LEAST * THICKNESS_LEAST;
    }
    p->volume = cairn_polyhedron_measure(&p->whole, centre);
    return p->volume > 0.0 ? CAIRN_OK : refuse(p, CAIRN_INVALID_ARGUMENT, too_thin);
}

// ---- The sites

static double draw(const plan *p, uint32_t attempt, uint32_t site, uint32_t stream) {
    return (double)(cairn_random_at(p->def->seed, attempt, site, stream) >> 11) /
           9007199254740992.0;
}

// The point of impact in the body. CAIRN_INVALID_ARGUMENT: it is too far away.
static cairn_status find_impact(plan *p, double impact[3]) {
    const cairn_motion *motion = &p->world->state.motions[p->body];
    const cairn_vec3 local =
        quat_rotate_inverse(motion->rotation, vec3_sub(p->def->point, motion->position));
    double centre[3];
    impact[0] = (double)local.x;
    impact[1] = (double)local.y;
    impact[2] = (double)local.z;
    (void)cairn_polyhedron_measure(&p->whole, centre);
    const double away = impact[0] * impact[0] + impact[1] * impact[1] + impact[2] * impact[2];
    if (away > 4.0 * cairn_polyhedron_reach_squared(&p->whole, centre)) {
        return refuse(p, CAIRN_INVALID_ARGUMENT, "the point is too far from the body");
    }
    cairn_polyhedron_clamp(&p->whole, centre, impact);
    return CAIRN_OK;
}

// The first sites are drawn towards the point of impact: from a uniform point, the square of a
// uniform number of the way remains.
static void draw_sites(plan *p, const double impact[3], uint32_t attempt) {
    const uint32_t crowded = (uint32_t)(p->def->crowding * (float)p->def->pieces + 0.5f);
    cairn_voronoi_begin(&p->voronoi, &p->whole);
    for (uint32_t i = 0; i < p->def->pieces; ++i) {
        double draws[5];
        double site[3];
        for (uint32_t k = 0; k < 5; ++k) {
            draws[k] = draw(p, attempt, i, k);
        }
        const double way = draws[4];
        cairn_polyhedron_sample(&p->whole, draws, site);
        for (uint32_t k = 0; k < 3 && i < crowded; ++k) {
            site[k] = impact[k] + way * way * (site[k] - impact[k]);
        }
        cairn_voronoi_add(&p->voronoi, site);
    }
}

// A cell only grows when another site is removed, so one pass leaves none that is too thin. False:
// fewer than two sites are left.
static bool remove_thin_cells(plan *p) {
    cairn_polyhedron work[2];
    for (uint32_t i = 0; i < p->voronoi.count;) {
        const cairn_polyhedron *cell = cairn_voronoi_cell(&p->voronoi, i, work);
        const bool thin =
            cell == NULL || cairn_polyhedron_thickness_squared(cell) < p->thickness_squared;
        if (thin) {
            cairn_voronoi_remove(&p->voronoi, i);
        } else {
            ++i;
        }
    }
    return p->voronoi.count >= 2;
}

static cairn_status choose_sites(plan *p) {
    double impact[3];
    const cairn_status status = find_impact(p, impact);
    if (status != CAIRN_OK) {
        return status;
    }
    for (uint32_t attempt = 0; attempt < ATTEMPTS; ++attempt) {
        draw_sites(p, impact, attempt);
        if (remove_thin_cells(p)) {
            return CAIRN_OK;
        }
    }
    return refuse(p, CAIRN_INVALID_ARGUMENT, too_thin);
}

// ---- The pieces

// Each point is the farthest from those before it, and the first from the centre. A hull takes the
// plane of a face from the first points of it, and three that are close together would tell little
// about the others.
static void spread_points(cairn_vec3 points[CAIRN_HULL_POINTS_MAX], uint32_t count) {
    float distances[CAIRN_HULL_POINTS_MAX]; // from those before, squared; at first from the centre
    CAIRN_ASSERT(count <= CAIRN_HULL_POINTS_MAX);
    for (uint32_t i = 0; i < count; ++i) {
        distances[i] = vec3_length_squared(points[i]);
    }
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t farthest = i;
        for (uint32_t k = i + 1; k < count; ++k) {
            farthest = distances[k] > distances[farthest] ? k : farthest;
        }
        const cairn_vec3 point = points[farthest];
        points[farthest] = points[i];
        points[i] = point;
        distances[farthest] = distances[i];
        for (uint32_t k = i + 1; k < count; ++k) {
            const float distance = vec3_length_squared(vec3_sub(points[k], point));
            distances[k] = i == 0 ? distance : float_min(distances[k], distance);
        }
    }
}

typedef struct cell {
    uint32_t count;                           // 0: it cannot be a hull
    cairn_vec3 points[CAIRN_HULL_POINTS_MAX]; // relative to the centre
    cairn_vec3 centre;
    double volume;
} cell;

static void find_cell(const plan *p, uint32_t site, cell *out) {
    cairn_polyhedron work[2];
    double middle[3];
    const cairn_polyhedron *found = cairn_voronoi_cell(&p->voronoi, site, work);
    out->count = 0;
    if (found == NULL || found->vertex_count > CAIRN_HULL_POINTS_MAX ||
        cairn_polyhedron_thickness_squared(found) < p->thickness_squared) {
        return;
    }
    out->volume = cairn_polyhedron_measure(found, middle);
    out->centre = vec3_clean(vec3((float)middle[0], (float)middle[1], (float)middle[2]));
    out->count = found->vertex_count;
    for (uint32_t i = 0; i < found->vertex_count; ++i) {
        const double *at = found->vertices[i];
        out->points[i] = vec3_clean(vec3((float)(at[0] - (double)out->centre.x),
            (float)(at[1] - (double)out->centre.y), (float)(at[2] - (double)out->centre.z)));
    }
    spread_points(out->points, out->count);
}

// Returns the first site whose cell cannot be a hull, or their number. A cell that has not grown
// since its hull was built keeps it.
static uint32_t build_all(plan *p) {
    for (uint32_t i = 0; i < p->voronoi.count; ++i) {
        cell c;
        find_cell(p, i, &c);
        if (c.count > 0 && c.volume == p->built[i]) {
            continue;
        }
        if (c.count == 0 || cairn_hull_build_stable(c.points, c.count, p->hulls[i]) != NULL) {
            // So that nobody takes what is left there for a hull.
            p->hulls[i]->vertex_count = 0;
            return i;
        }
        p->centres[i] = c.centre;
        p->volumes[i] = p->hulls[i]->volume;
        p->built[i] = c.volume;
    }
    return p->voronoi.count;
}

static void remove_site(plan *p, uint32_t site) {
    cairn_voronoi_remove(&p->voronoi, site);
    for (uint32_t i = site; i < p->voronoi.count; ++i) {
        *p->hulls[i] = *p->hulls[i + 1];
        p->centres[i] = p->centres[i + 1];
        p->volumes[i] = p->volumes[i + 1];
        p->built[i] = p->built[i + 1];
    }
    p->built[p->voronoi.count] = 0.0;
}

static cairn_status build_hulls(plan *p) {
    double volume = 0.0;
    memset(p->built, 0, sizeof p->built);
    for (uint32_t bad = build_all(p); bad < p->voronoi.count; bad = build_all(p)) {
        if (p->voronoi.count == 2) {
            return refuse(p, CAIRN_INVALID_ARGUMENT, too_thin);
        }
        remove_site(p, bad);
    }
    for (uint32_t i = 0; i < p->voronoi.count; ++i) {
        volume += (double)p->volumes[i];
    }
    const double error = volume - p->volume;
    const double most = VOLUME_ERROR_MAX * p->volume;
    return error <= most && 0.0 - error <= most
               ? CAIRN_OK
               : refuse(p, CAIRN_INVALID_ARGUMENT, "the pieces would not fill the body");
}

// Each moves as that part of the body did.
static cairn_status describe_bodies(plan *p) {
    const cairn_state *state = &p->world->state;
    const cairn_motion *motion = &state->motions[p->body];
    cairn_body_def def;
    (void)cairn_body_read_def(p->world, cairn_body_id_at(p->world, p->body), &def);
    for (uint32_t i = 0; i < p->voronoi.count; ++i) {
        const cairn_vec3 arm = quat_rotate(motion->rotation, p->centres[i]);
        def.position = vec3_add(motion->position, arm);
        def.linear_velocity =
            vec3_add(motion->linear_velocity, vec3_cross(motion->angular_velocity, arm));
        p->bodies[i] = def;
        if (cairn_body_def_check(&def) != CAIRN_OK) {
            return refuse(p, CAIRN_INVALID_ARGUMENT, "a piece would be too fast or too far away");
        }
    }
    return CAIRN_OK;
}

// A mass that was set is divided by volume.
static cairn_status divide_mass(plan *p) {
    const cairn_body *body = &p->world->state.bodies[p->body];
    const bool is_set = (body->flags & CAIRN_BODY_MASS_SET) != 0;
    float volume = 0.0f;
    for (uint32_t i = 0; i < p->voronoi.count; ++i) {
        volume += p->volumes[i];
    }
    for (uint32_t i = 0; i < p->voronoi.count; ++i) {
        p->masses[i] = is_set ? body->mass * (p->volumes[i] / volume) : 0.0f;
        if (is_set && cairn_check_float(p->masses[i], CAIRN_MASS_MIN, CAIRN_MASS_MAX) != CAIRN_OK) {
            return refuse(p, CAIRN_INVALID_ARGUMENT, "a piece would be too light");
        }
    }
    return CAIRN_OK;
}

// ---- Joints

// The piece that gets an anchor of the body, and the anchor in the frame of that piece.
static uint32_t piece_of_anchor(const plan *p, cairn_vec3 anchor, cairn_vec3 *moved) {
    const cairn_vec3 local = vec3_sub(anchor, p->world->state.bodies[p->body].centre);
    const double point[3] = {(double)local.x, (double)local.y, (double)local.z};
    const uint32_t piece = cairn_voronoi_nearest(&p->voronoi, point);
    *moved = vec3_clean(vec3_sub(local, p->centres[piece]));
    return piece;
}

static bool joint_is_of(const cairn_state *state, uint32_t joint, cairn_body_id body) {
    return cairn_state_has(state, CAIRN_ARRAY_JOINTS, joint) &&
           (state->joints[joint].body_a == body || state->joints[joint].body_b == body);
}

static cairn_status check_joints(plan *p) {
    const cairn_state *state = &p->world->state;
    const cairn_body_id id = cairn_body_id_at(p->world, p->body);
    for (uint32_t i = 0; i < state->settings->joint_slots; ++i) {
        if (!joint_is_of(state, i, id)) {
            continue;
        }
        const cairn_joint *joint = &state->joints[i];
        cairn_vec3 moved;
        (void)piece_of_anchor(p, joint->body_a == id ? joint->anchor_a : joint->anchor_b, &moved);
        if (cairn_check_vec3(moved, CAIRN_DISTANCE_MAX) != CAIRN_OK) {
            return refuse(p, CAIRN_INVALID_ARGUMENT, "an anchor of a joint is too far away");
        }
    }
    return CAIRN_OK;
}

static void move_joints(cairn_world *world, const plan *p, const cairn_body_id *pieces) {
    const cairn_body_id id = cairn_body_id_at(world, p->body);
    for (uint32_t i = 0; i < world->state.settings->joint_slots; ++i) {
        if (!joint_is_of(&world->state, i, id)) {
            continue;
        }
        const cairn_joint *joint = &world->state.joints[i];
        const bool of_b = joint->body_b == id;
        cairn_vec3 moved;
        const uint32_t piece = piece_of_anchor(p, of_b ? joint->anchor_b : joint->anchor_a, &moved);
        cairn_joint_move_end(world, i, of_b, pieces[piece], moved);
    }
}

// ---- Together

// Up to the sites. The rest needs places for hulls.
static cairn_status begin_plan(
    plan *p, const cairn_world *world, cairn_body_id body, const cairn_fracture_def *def) {
    p->world = world;
    p->def = def;
    p->refusal = NULL;
    p->voronoi.count = 0;
    cairn_status status = check_body(p, body);
    status = status == CAIRN_OK ? check_def(p) : status;
    status = status == CAIRN_OK ? measure_whole(p) : status;
    return status == CAIRN_OK ? choose_sites(p) : status;
}

static cairn_status end_plan(plan *p) {
    cairn_status status = build_hulls(p);
    status = status == CAIRN_OK ? describe_bodies(p) : status;
    status = status == CAIRN_OK ? divide_mass(p) : status;
    return status == CAIRN_OK ? check_joints(p) : status;
}

// Hulls are built where they will be: in the free slots that cairn_hull_store takes one after the
// other. What is in a free slot means nothing.
static cairn_status find_places(cairn_world *world, plan *p) {
    const cairn_state *state = &world->state;
    uint32_t found = 0;
    for (uint32_t i = world->hull_hint; i < world->def.hull_capacity && found < p->voronoi.count;
         ++i) {
        if (i >= state->settings->hull_slots || (state->hull_ids[i] & CAIRN_SLOT_USED) == 0) {
            p->hulls[found++] = &world->hulls[i];
        }
    }
    const bool fits = found == p->voronoi.count &&
                      cairn_slots_fit(state->body_ids, state->settings->body_slots,
                          world->def.body_capacity, world->body_hint, found) &&
                      cairn_slots_fit(state->shape_ids, state->settings->shape_slots,
                          world->def.shape_capacity, world->shape_hint, found);
    state->settings->creates_refused += fits ? 0u : 1u;
    return fits ? CAIRN_OK : CAIRN_CAPACITY;
}

static cairn_body_id create_piece(
    cairn_world *world, const plan *p, uint32_t index, const cairn_shape_def *of_body) {
    const uint32_t owner = world->state.bodies[p->body].flags >> CAIRN_BODY_OWNER_SHIFT;
    cairn_shape_def def = *of_body;
    cairn_body_id body;
    cairn_shape_id shape;
    cairn_status status = cairn_hull_store(world, p->hulls[index], &def.hull);
    CAIRN_ASSERT(status == CAIRN_OK && &world->hulls[cairn_id_index(def.hull)] == p->hulls[index]);
    status = cairn_body_create(world, &p->bodies[index], &body);
    CAIRN_ASSERT(status == CAIRN_OK);
    status = cairn_shape_create(world, body, &def, &shape);
    CAIRN_ASSERT(status == CAIRN_OK);
    if (owner != 0) {
        status = cairn_body_set_owner(world, body, owner - 1);
        CAIRN_ASSERT(status == CAIRN_OK);
    }
    if (p->masses[index] > 0.0f) {
        status = cairn_body_set_mass(world, body, p->masses[index]);
        CAIRN_ASSERT(status == CAIRN_OK);
    }
    (void)status;
    return body;
}

static void apply(cairn_world *world, const plan *p, cairn_body_id made[]) {
    const cairn_body_id id = cairn_body_id_at(world, p->body);
    cairn_shape_def def;
    cairn_body_id owner;
    cairn_status status = cairn_shape_read(world, cairn_shape_id_at(world, p->shape), &def, &owner);
    CAIRN_ASSERT(status == CAIRN_OK && owner == id);
    def.kind = CAIRN_SHAPE_HULL;
    def.pose = pose_identity();
    def.flags |= CAIRN_SHAPE_OWNS_HULL;
    for (uint32_t i = 0; i < p->voronoi.count; ++i) {
        made[i] = create_piece(world, p, i, &def);
    }
    move_joints(world, p, made);
    status = cairn_body_destroy(world, id);
    CAIRN_ASSERT(status == CAIRN_OK);
    (void)status;
}

cairn_fracture_def cairn_fracture_def_default(void) {
    return (cairn_fracture_def){.pieces = 12, .crowding = 0.5f, .thickness_min = 0.02f};
}

cairn_status cairn_body_fracture(cairn_world *world, cairn_body_id body,
    const cairn_fracture_def *def, cairn_body_id *pieces, uint32_t capacity, uint32_t *count) {
    plan p;
    cairn_body_id made[CAIRN_FRACTURE_PIECES_MAX];
    CAIRN_ASSERT(pieces != NULL || capacity == 0);
    *count = 0;
    cairn_status status = begin_plan(&p, world, body, def);
    status = status == CAIRN_OK ? find_places(world, &p) : status;
    status = status == CAIRN_OK ? end_plan(&p) : status;
    if (status != CAIRN_OK) {
        return status;
    }
    apply(world, &p, made);
    *count = p.voronoi.count;
    for (uint32_t i = 0; i < *count && i < capacity; ++i) {
        pieces[i] = made[i];
    }
    CAIRN_ASSERT(*count >= 2 && !cairn_body_exists(world, body));
    return CAIRN_OK;
}

const char *cairn_body_fracture_refusal(
    const cairn_world *world, cairn_body_id body, const cairn_fracture_def *def) {
    plan p;
    cairn_hull hull;
    cairn_status status = begin_plan(&p, world, body, def);
    for (uint32_t i = 0; i < CAIRN_FRACTURE_PIECES_MAX; ++i) {
        p.hulls[i] = &hull;
    }
    status = status == CAIRN_OK ? end_plan(&p) : status;
    CAIRN_ASSERT((status == CAIRN_OK) == (p.refusal == NULL));
    (void)status;
    return p.refusal;
}
