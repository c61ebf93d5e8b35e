// SPDX-License-Identifier: MIT
#include "tools/replay/shrink/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

typedef struct row {
    const char *name;
    bool of_body;
    const char *code; // C; @ stands for the body, # for the first tick
} row;

enum {
    X,
    Y,
    Z,
    VX,
    VY,
    VZ,
    SPEED,
    WX,
    WY,
    WZ,
    SPIN,
    AWAKE,
    DISABLED,
    TOUCHES,
    DEPTH,
    ENERGY,
    TICK,
    BODIES,
    BODIES_AWAKE,
    CONTACTS,
    JOINTS,
    WORLD_ENERGY,
    ROW_COUNT
};

#define LENGTH                                                                                     \
    "static double length(cairn_vec3 v) {\n"                                                       \
    "    return sqrt((double)v.x * (double)v.x + (double)v.y * (double)v.y + (double)v.z * "       \
    "(double)v.z);\n}\n\n"
#define DEEPEST                                                                                    \
    "static double depth(const cairn_world *world, cairn_body_id body) {\n"                        \
    "    cairn_contact_data contacts[64];\n"                                                       \
    "    const uint32_t all = cairn_body_contacts(world, body, contacts, 64);\n"                   \
    "    double deepest = 0;\n"                                                                    \
    "    for (uint32_t i = 0; i < (all < 64 ? all : 64); ++i) {\n"                                 \
    "        for (uint32_t k = 0; k < contacts[i].point_count; ++k) {\n"                           \
    "            deepest = fmax(deepest, -(double)contacts[i].points[k].separation);\n"            \
    "        }\n    }\n    return deepest;\n}\n\n"
#define ENERGY_OF                                                                                  \
    "// Kinetic, J, of the motion of the centre of mass.\n"                                        \
    "static double energy(const cairn_world *world, cairn_body_id id) {\n"                         \
    "    cairn_body_state b;\n"                                                                    \
    "    if (cairn_body_read(world, id, &b) != CAIRN_OK) {\n        return 0;\n    }\n"            \
    "    const cairn_vec3 v = b.linear_velocity;\n"                                                \
    "    return 0.5 * (double)cairn_body_mass(world, id) *\n"                                      \
    "           ((double)v.x * (double)v.x + (double)v.y * (double)v.y + (double)v.z * "           \
    "(double)v.z);\n}\n\n"
#define WORLD_ENERGY_OF                                                                            \
    "static double world_energy(const cairn_world *world) {\n"                                     \
    "    static cairn_body_state all[CAIRN_BODIES_MAX];\n"                                         \
    "    const uint32_t n = cairn_world_bodies(world, all, CAIRN_BODIES_MAX);\n"                   \
    "    double sum = 0;\n"                                                                        \
    "    for (uint32_t i = 0; i < n; ++i) {\n        sum += energy(world, all[i].id);\n    }\n"    \
    "    return sum;\n}\n\n"

static const row rows[ROW_COUNT] = {
    [X] = {"x", true, "(double)@.position.x"},
    [Y] = {"y", true, "(double)@.position.y"},
    [Z] = {"z", true, "(double)@.position.z"},
    [VX] = {"vx", true, "(double)@.linear_velocity.x"},
    [VY] = {"vy", true, "(double)@.linear_velocity.y"},
    [VZ] = {"vz", true, "(double)@.linear_velocity.z"},
    [SPEED] = {"speed", true, "length(@.linear_velocity)"},
    [WX] = {"wx", true, "(double)@.angular_velocity.x"},
    [WY] = {"wy", true, "(double)@.angular_velocity.y"},
    [WZ] = {"wz", true, "(double)@.angular_velocity.z"},
    [SPIN] = {"spin", true, "length(@.angular_velocity)"},
    [AWAKE] = {"awake", true, "(double)@.awake"},
    [DISABLED] = {"disabled", true, "(double)(@.enabled == 0)"},
    [TOUCHES] = {"contacts", true, "(double)cairn_body_contacts(world, @.id, NULL, 0)"},
    [DEPTH] = {"depth", true, "depth(world, @.id)"},
    [ENERGY] = {"energy", true, "energy(world, @.id)"},
    [TICK] = {"tick", false, "(double)(# + cairn_world_tick(world))"},
    [BODIES] = {"bodies", false, "(double)cairn_world_counts_read(world).bodies"},
    [BODIES_AWAKE] = {"awake", false, "(double)cairn_world_counts_read(world).bodies_awake"},
    [CONTACTS] = {"contacts", false, "(double)cairn_world_counts_read(world).contacts"},
    [JOINTS] = {"joints", false, "(double)cairn_world_counts_read(world).joints"},
    [WORLD_ENERGY] = {"energy", false, "world_energy(world)"},
};
_Static_assert(ROW_COUNT <= CAIRN_QUANTITY_MAX, "a flag for each");

uint32_t cairn_quantity_find(const char *name, bool of_body) {
    for (uint32_t i = 0; i < ROW_COUNT; ++i) {
        if (rows[i].of_body == of_body && strcmp(rows[i].name, name) == 0) {
            return i;
        }
    }
    return CAIRN_QUANTITY_NONE;
}

const char *cairn_quantity_names(bool of_body, char *text, size_t size) {
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < ROW_COUNT; ++i) {
        if (rows[i].of_body == of_body && at + strlen(rows[i].name) + 2 < size) {
            at += (size_t)snprintf(text + at, size - at, at == 0 ? "%s" : " %s", rows[i].name);
        }
    }
    return text;
}

static double length(cairn_vec3 v) {
    return sqrt((double)v.x * (double)v.x + (double)v.y * (double)v.y + (double)v.z * (double)v.z);
}

static double depth(const cairn_world *world, cairn_body_id body) {
    cairn_contact_data contacts[64];
    const uint32_t all = cairn_body_contacts(world, body, contacts, 64);
    double deepest = 0;
    for (uint32_t i = 0; i < (all < 64 ? all : 64); ++i) {
        for (uint32_t k = 0; k < contacts[i].point_count; ++k) {
            deepest = fmax(deepest, -(double)contacts[i].points[k].separation);
        }
    }
    return deepest;
}

static double energy(const cairn_world *world, const cairn_body_state *body) {
    const double speed = length(body->linear_velocity);
    return 0.5 * (double)cairn_body_mass(world, body->id) * speed * speed;
}

static double world_energy(const cairn_world *world) {
    double sum = 0;
    const uint32_t count = cairn_world_bodies(world, NULL, 0);
    cairn_body_state *all = calloc((size_t)count + 1, sizeof *all);
    CAIRN_ASSERT(all != NULL);
    (void)cairn_world_bodies(world, all, count);
    for (uint32_t i = 0; i < count; ++i) {
        sum += energy(world, &all[i]);
    }
    free(all);
    return sum;
}

double cairn_quantity_of_world(uint32_t quantity, const cairn_world *world, uint64_t tick_first) {
    const cairn_world_counts counts = cairn_world_counts_read(world);
    switch (quantity) {
    case TICK:
        return (double)(tick_first + cairn_world_tick(world));
    case BODIES:
        return counts.bodies;
    case BODIES_AWAKE:
        return counts.bodies_awake;
    case CONTACTS:
        return counts.contacts;
    case JOINTS:
        return counts.joints;
    default:
        CAIRN_ASSERT(quantity == WORLD_ENERGY);
        return world_energy(world);
    }
}

static double component(const cairn_vec3 *v, uint32_t axis) {
    return (double)(axis == 0 ? v->x : axis == 1 ? v->y : v->z);
}

double cairn_quantity_of_body(
    uint32_t quantity, const cairn_world *world, const cairn_body_state *body) {
    switch (quantity) {
    case X:
    case Y:
    case Z:
        return component(&body->position, quantity - X);
    case VX:
    case VY:
    case VZ:
        return component(&body->linear_velocity, quantity - VX);
    case WX:
    case WY:
    case WZ:
        return component(&body->angular_velocity, quantity - WX);
    case SPEED:
        return length(body->linear_velocity);
    case SPIN:
        return length(body->angular_velocity);
    case AWAKE:
        return body->awake;
    case DISABLED:
        return body->enabled == 0;
    case TOUCHES:
        return cairn_body_contacts(world, body->id, NULL, 0);
    case DEPTH:
        return depth(world, body->id);
    default:
        CAIRN_ASSERT(quantity == ENERGY);
        return energy(world, body);
    }
}

void cairn_quantity_write_helpers(const bool used[CAIRN_QUANTITY_MAX], FILE *out) {
    if (used[SPEED] || used[SPIN]) {
        fputs(LENGTH, out);
    }
    if (used[DEPTH]) {
        fputs(DEEPEST, out);
    }
    if (used[ENERGY] || used[WORLD_ENERGY]) {
        fputs(ENERGY_OF, out);
    }
    if (used[WORLD_ENERGY]) {
        fputs(WORLD_ENERGY_OF, out);
    }
}

void cairn_quantity_write_c(uint32_t quantity, const char *body, uint64_t tick_first, FILE *out) {
    for (const char *c = rows[quantity].code; *c != '\0'; ++c) {
        if (*c == '@') {
            fputs(body, out);
        } else if (*c == '#') {
            fprintf(out, "UINT64_C(%llu)", (unsigned long long)tick_first);
        } else {
            fputc(*c, out);
        }
    }
}
