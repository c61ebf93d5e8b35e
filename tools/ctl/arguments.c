// SPDX-License-Identifier: MIT
#include "tools/ctl/arguments.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/control_words.h"
#include "schema/control_tables.h"

typedef enum argument_kind {
    ARGUMENT_END = 0,
    ARGUMENT_U32,
    ARGUMENT_U64,
    ARGUMENT_REAL,
    ARGUMENT_VEC3, // three words
    ARGUMENT_TEXT,
    ARGUMENT_WORD,        // a name of the verb in program/control_words.h
    ARGUMENT_VALUE,       // of the property before it: a number, or a word
    ARGUMENT_SHAPE_VALUE, // the same for set-shape
    ARGUMENT_JOINT_VALUE, // the same for set-joint: a number, a word, or a name
    // All words that are left.
    ARGUMENT_POINTS,  // of spawn, three for each
    ARGUMENT_PARTS,   // of spawn-compound: a shape's name, its size and its place, and a hull's
                      // points
    ARGUMENT_SURFACE, // of spawn-mesh: how many vertices, three words for each, and the triangles
    ARGUMENT_HEIGHTS, // of spawn-height-field
} argument_kind;

typedef struct verb_argument {
    argument_kind kind;
    size_t offset; // in cairn_ctl_command
    size_t given;  // offset of a bool that is set if the argument is given; 0: none
} verb_argument;

// One way to write a verb. Arguments after the first `required` may be left out from the end.
typedef struct verb_form {
    uint32_t verb;
    const char *usage;
    const char *meaning; // one line
    uint32_t required;
    verb_argument arguments[9];
} verb_form;

#define AT(member) offsetof(cairn_ctl_command, request.member)
#define U32(member)                                                                                \
    { ARGUMENT_U32, AT(member), 0 }
#define U64(member)                                                                                \
    { ARGUMENT_U64, AT(member), 0 }
#define REAL(member)                                                                               \
    { ARGUMENT_REAL, AT(member), 0 }
#define VEC3(member)                                                                               \
    { ARGUMENT_VEC3, AT(member), 0 }
#define TEXT(member)                                                                               \
    { ARGUMENT_TEXT, AT(member), 0 }
#define FILE_NAME                                                                                  \
    { ARGUMENT_TEXT, offsetof(cairn_ctl_command, file), 0 }
#define GIVEN_U64(member, flag)                                                                    \
    { ARGUMENT_U64, AT(member), AT(flag) }
#define GIVEN_REAL(member, flag)                                                                   \
    { ARGUMENT_REAL, AT(member), AT(flag) }

static const verb_form forms[] = {
    {CAIRN_CONTROL_FEATURES, "", "versions, limits and verbs of the server", 0, {{0}}},
    {CAIRN_CONTROL_ROOMS, "", "name and tick of every room", 0, {{0}}},
    {CAIRN_CONTROL_STATE, "", "scene, rules, speed and counters of the room", 0, {{0}}},
    {CAIRN_CONTROL_CLIENTS, "", "id, mode, slot and round trip of the room's clients", 0, {{0}}},
    {CAIRN_CONTROL_PAUSE, "", "stop the room's time; its clients stay connected", 0, {{0}}},
    {CAIRN_CONTROL_RESUME, "", "let a paused room run again", 0, {{0}}},
    {CAIRN_CONTROL_STEP, "TICKS", "run a paused room for TICKS ticks, as fast as possible", 1,
        {U32(step.tick_count)}},
    {CAIRN_CONTROL_RUN_UNTIL, "TICK", "run the room to this tick, then pause it", 1,
        {U64(run_until.tick)}},
    {CAIRN_CONTROL_RATE, "THOUSANDTHS", "speed of the room's time; 1000: real, 0: unlimited", 1,
        {U32(rate.speed_thousandths)}},
    {CAIRN_CONTROL_RESET, "[SEED]", "replace the room's world with its scene's first state, tick 0",
        0, {GIVEN_U64(reset.seed, reset.has_seed)}},
    {CAIRN_CONTROL_SAVE, "NAME", "keep the room's state in the server's memory", 1,
        {TEXT(save.name)}},
    {CAIRN_CONTROL_LOAD, "NAME", "replace the room's world with a save", 1, {TEXT(load.name)}},
    {CAIRN_CONTROL_SAVES, "", "name and size of every save", 0, {{0}}},
    {CAIRN_CONTROL_SAVE_READ, "NAME FILE", "download a save into a file", 2,
        {TEXT(save_read.name), FILE_NAME}},
    {CAIRN_CONTROL_SAVE_WRITE, "NAME FILE", "upload a file as a save", 2,
        {TEXT(save_write.name), FILE_NAME}},
    {CAIRN_CONTROL_SAVE_DELETE, "NAME", "delete a save", 1, {TEXT(save_delete.name)}},
    {CAIRN_CONTROL_SEEK, "TICK", "replace the room's world with its own at an earlier tick", 1,
        {U64(seek.tick)}},
    {CAIRN_CONTROL_FORK, "NEW-ROOM [TICK]", "create a room that continues the world of this one", 1,
        {TEXT(fork.name), GIVEN_U64(fork.tick, fork.has_tick)}},
    {CAIRN_CONTROL_ROOM_CREATE, "NEW-ROOM SCENE [SEED]", "create a room from a scene", 2,
        {TEXT(room_create.name), TEXT(room_create.scene),
            GIVEN_U64(room_create.seed, room_create.has_seed)}},
    {CAIRN_CONTROL_ROOM_DESTROY, "ROOM", "close a room and disconnect its clients", 1,
        {TEXT(room)}},
    {CAIRN_CONTROL_SPAWN_BOX, "X Y Z HALF-X HALF-Y HALF-Z [USER]",
        "create a dynamic box at the next tick", 2,
        {VEC3(spawn_box.position), VEC3(spawn_box.half_extents), U32(spawn_box.user)}},
    {CAIRN_CONTROL_SPAWN_SPHERE, "X Y Z RADIUS [USER]", "create a dynamic sphere at the next tick",
        2, {VEC3(spawn_sphere.position), REAL(spawn_sphere.radius), U32(spawn_sphere.user)}},
    {CAIRN_CONTROL_SPAWN,
        "SHAPE X Y Z SIZE-X SIZE-Y SIZE-Z [RX RY RZ [USER [POINT-X POINT-Y POINT-Z]...]]",
        "create a shape, turned by a rotation vector; size: a box's half extents, else radius and "
        "half height; a hull's is 0",
        3,
        {{ARGUMENT_WORD, AT(spawn.shape), 0}, VEC3(spawn.position), VEC3(spawn.size),
            VEC3(spawn.rotation), U32(spawn.user),
            {ARGUMENT_POINTS, offsetof(cairn_ctl_command, points), 0}}},
    {CAIRN_CONTROL_SPAWN_COMPOUND,
        "X Y Z RX RY RZ USER SHAPE SIZE-X SIZE-Y SIZE-Z PX PY PZ PRX PRY PRZ...",
        "create a body of several shapes, each with its place; a hull's size is its number of "
        "points, 0, 0; they follow",
        3,
        {VEC3(spawn_compound.position), VEC3(spawn_compound.rotation), U32(spawn_compound.user),
            {ARGUMENT_PARTS, offsetof(cairn_ctl_command, parts), 0}}},
    {CAIRN_CONTROL_SPAWN_MESH, "X Y Z RX RY RZ USER VERTICES VX VY VZ... A B C...",
        "create a static triangle mesh: how many vertices, these, and the triangles of them", 3,
        {VEC3(spawn_mesh.position), VEC3(spawn_mesh.rotation), U32(spawn_mesh.user),
            {ARGUMENT_SURFACE, offsetof(cairn_ctl_command, points), 0}}},
    {CAIRN_CONTROL_SPAWN_HEIGHT_FIELD, "X Y Z RX RY RZ USER COLUMNS SPACING-X SPACING-Z HEIGHT...",
        "create a static height field from its samples, row by row", 6,
        {VEC3(spawn_height_field.position), VEC3(spawn_height_field.rotation),
            U32(spawn_height_field.user), U32(spawn_height_field.columns),
            REAL(spawn_height_field.spacing_x), REAL(spawn_height_field.spacing_z),
            {ARGUMENT_HEIGHTS, offsetof(cairn_ctl_command, heights), 0}}},
    {CAIRN_CONTROL_DELETE, "BODY", "delete a body at the next tick", 1, {U32(delete_body.body)}},
    {CAIRN_CONTROL_SET_POSITION, "BODY X Y Z", "move a body, m; it keeps its rotation", 2,
        {U32(set_position.body), VEC3(set_position.position)}},
    {CAIRN_CONTROL_SET_VELOCITY, "BODY VX VY VZ WX WY WZ",
        "set a body's linear (m/s) and angular (rad/s) velocity", 3,
        {U32(set_velocity.body), VEC3(set_velocity.linear_velocity),
            VEC3(set_velocity.angular_velocity)}},
    {CAIRN_CONTROL_IMPULSE, "BODY X Y Z", "push a body at its centre of mass, N s", 2,
        {U32(impulse.body), VEC3(impulse.impulse)}},
    {CAIRN_CONTROL_GET, "BODY", "state of one body", 1, {U32(get.body)}},
    {CAIRN_CONTROL_BODIES, "[FIRST]", "states of at most 512 bodies, after the first FIRST", 0,
        {U32(bodies.first)}},
    {CAIRN_CONTROL_JOINTS, "[FIRST [BODY]]",
        "states of at most 512 joints, of the world or of a body, after the first FIRST", 0,
        {U32(joints.first), U32(joints.body)}},
    {CAIRN_CONTROL_SET_JOINT, "JOINT PROPERTY X [Y [Z]]",
        "set a property of a joint, such as motor (speed, force), limits, spring (hertz, damping), "
        "break (force, torque) or name",
        3,
        {U32(set_joint.joint), {ARGUMENT_WORD, AT(set_joint.property), 0},
            {ARGUMENT_JOINT_VALUE, AT(set_joint.value), 0}, REAL(set_joint.value.y),
            REAL(set_joint.value.z)}},
    {CAIRN_CONTROL_GET_JOINT, "JOINT", "all properties of a joint, its error and what it exerts", 1,
        {U32(get_joint.joint)}},
    {CAIRN_CONTROL_SET_ROW,
        "JOINT LAX LAY LAZ WAX WAY WAZ LBX LBY LBZ WBX WBY WBZ LOWER UPPER [VELOCITY]",
        "set a row: the force along J (linear and angular of a, then of b), from LOWER to UPPER, "
        "that makes J V the velocity",
        7,
        {U32(set_row.joint), VEC3(set_row.linear_a), VEC3(set_row.angular_a),
            VEC3(set_row.linear_b), VEC3(set_row.angular_b), REAL(set_row.lower),
            REAL(set_row.upper), REAL(set_row.velocity)}},
    {CAIRN_CONTROL_CREATE_JOINT,
        "KIND BODY-A BODY-B AX AY AZ BX BY BZ [AXIS-X AXIS-Y AXIS-Z [NUMBER [BREAK-FORCE]]]",
        "join two bodies at anchors in the world; number: a cone's angle, the ratio of a gear or "
        "pulley, a motor's hertz",
        5,
        {{ARGUMENT_WORD, AT(create_joint.kind), 0}, U32(create_joint.body_a),
            U32(create_joint.body_b), VEC3(create_joint.anchor_a), VEC3(create_joint.anchor_b),
            VEC3(create_joint.axis), REAL(create_joint.number), REAL(create_joint.break_force)}},
    {CAIRN_CONTROL_ACT, "TICKS [FIELDS]",
        "step a paused room and print all bodies; fields: 1 position + 2 rotation + "
        "4, 8 velocities + 16 awake",
        1, {U32(act.tick_count), U32(act.fields)}},
    {CAIRN_CONTROL_DELETE_JOINT, "JOINT", "delete a joint at the next tick", 1,
        {U32(delete_joint.joint)}},
    {CAIRN_CONTROL_RAY, "X Y Z TO-X TO-Y TO-Z [IGNORED-BODY]",
        "the first shape that a ray from a point along a translation hits", 2,
        {VEC3(ray.origin), VEC3(ray.translation), U32(ray.ignored_body)}},
    {CAIRN_CONTROL_CAST, "X Y Z HALF-X HALF-Y HALF-Z TO-X TO-Y TO-Z [IGNORED-BODY]",
        "the first shape that a box hits on its way along a translation", 3,
        {VEC3(cast.position), VEC3(cast.half_extents), VEC3(cast.translation),
            U32(cast.ignored_body)}},
    {CAIRN_CONTROL_CAST, "X Y Z RADIUS TO-X TO-Y TO-Z [IGNORED-BODY]",
        "the first shape that a sphere hits on its way along a translation", 3,
        {VEC3(cast.position), GIVEN_REAL(cast.radius, cast.has_radius), VEC3(cast.translation),
            U32(cast.ignored_body)}},
    {CAIRN_CONTROL_CLOSEST, "X Y Z DISTANCE-MAX [IGNORED-BODY]", "the shape nearest to a point", 2,
        {VEC3(closest.position), REAL(closest.distance_max), U32(closest.ignored_body)}},
    {CAIRN_CONTROL_OVERLAP, "X Y Z HALF-X HALF-Y HALF-Z", "every shape that overlaps a box", 2,
        {VEC3(overlap.position), VEC3(overlap.half_extents)}},
    {CAIRN_CONTROL_OVERLAP, "X Y Z RADIUS", "every shape that overlaps a sphere", 2,
        {VEC3(overlap.position), GIVEN_REAL(overlap.radius, overlap.has_radius)}},
    {CAIRN_CONTROL_HASH, "", "hashes of the room's world and of each section of its state", 0,
        {{0}}},
    {CAIRN_CONTROL_DIFF, "OTHER-ROOM", "fields in which the worlds of two rooms differ", 1,
        {TEXT(diff.other_room)}},
    {CAIRN_CONTROL_FAULTS, "CLIENT [LOSS DUPLICATES DELAY-MS JITTER-MS [SEED]]",
        "inject faults into one client's path; without numbers: end them", 1,
        {U64(faults.client_id), REAL(faults.loss), REAL(faults.duplicates), REAL(faults.delay_ms),
            REAL(faults.jitter_ms), U64(faults.seed)}},
    {CAIRN_CONTROL_SET_BODY, "BODY PROPERTY X [Y [Z]]",
        "set a property of a body, such as kind, mass, locks, user, enabled, friction or "
        "surface-velocity",
        3,
        {U32(set_body.body), {ARGUMENT_WORD, AT(set_body.property), 0},
            {ARGUMENT_VALUE, AT(set_body.value), 0}, REAL(set_body.value.y),
            REAL(set_body.value.z)}},
    {CAIRN_CONTROL_SET_SHAPE, "SHAPE PROPERTY X [Y [Z]]",
        "set a property of a shape: friction and the rest of its material, density, category, mask "
        "or user",
        3,
        {U32(set_shape.shape), {ARGUMENT_WORD, AT(set_shape.property), 0},
            {ARGUMENT_SHAPE_VALUE, AT(set_shape.value), 0}, REAL(set_shape.value.y),
            REAL(set_shape.value.z)}},
    {CAIRN_CONTROL_SET_POSE, "BODY X Y Z [RX RY RZ]",
        "put a body elsewhere, m, turned by a rotation vector, rad", 2,
        {U32(set_pose.body), VEC3(set_pose.position), VEC3(set_pose.rotation)}},
    {CAIRN_CONTROL_SET_MASS, "BODY MASS X Y Z XX YY ZZ [XY XZ YZ]",
        "set a body's mass, kg, its centre and its inertia about that, kg m^2", 4,
        {U32(set_mass.body), REAL(set_mass.mass), VEC3(set_mass.centre), VEC3(set_mass.inertia),
            VEC3(set_mass.products)}},
    {CAIRN_CONTROL_GET_BODY, "BODY", "all properties of a body, and its mass", 1,
        {U32(get_body.body)}},
    {CAIRN_CONTROL_SHAPES, "[FIRST [BODY]]",
        "at most 256 shapes, of the world or of a body, after the first FIRST", 0,
        {U32(shapes.first), U32(shapes.body)}},
    {CAIRN_CONTROL_PUSH, "BODY KIND X Y Z [AT-X AT-Y AT-Z]",
        "push a body by a force (N; with a torque, N m), force-at or impulse-at a point, or turn "
        "(N m s)",
        3, {U32(push.body), {ARGUMENT_WORD, AT(push.kind), 0}, VEC3(push.push), VEC3(push.place)}},
    {CAIRN_CONTROL_SET_TARGET, "BODY X Y Z [RX RY RZ]",
        "move a kinematic body within the next tick; a rotation vector, rad", 2,
        {U32(set_target.body), VEC3(set_target.position), VEC3(set_target.rotation)}},
    {CAIRN_CONTROL_SET_GRAVITY, "X Y Z", "set the gravity of the world, m/s^2", 1,
        {VEC3(set_gravity.gravity)}},
    {CAIRN_CONTROL_EXPLODE, "X Y Z RADIUS FALLOFF IMPULSE-PER-AREA MASK [SHIELD-MASK]",
        "push the bodies around a point away from it, N s/m^2; static bodies may shield", 5,
        {VEC3(explode.centre), REAL(explode.radius), REAL(explode.falloff),
            REAL(explode.impulse_per_area), U32(explode.mask), U32(explode.shield_mask)}},
    {CAIRN_CONTROL_FRACTURE, "BODY X Y Z PIECES [CROWDING [THICKNESS-MIN [SEED]]]",
        "break a body of one box, hull, cylinder or cone that is hit at a point into pieces", 3,
        {U32(fracture.body), VEC3(fracture.point), U32(fracture.pieces), REAL(fracture.crowding),
            REAL(fracture.thickness_min), U32(fracture.seed)}},
};
#define FORM_COUNT (sizeof forms / sizeof *forms)

static bool parse_whole(const char *word, uint64_t most, uint64_t *out) {
    char *end;
    errno = 0;
    *out = strtoull(word, &end, 10);
    return word[0] >= '0' && word[0] <= '9' && *end == '\0' && errno == 0 && *out <= most;
}

#define PART_WORDS 10

static bool takes_rest(argument_kind kind) {
    return kind >= ARGUMENT_POINTS;
}

// How many words the argument takes; of one that takes the rest, the most.
static size_t words_of(argument_kind kind) {
    switch (kind) {
    case ARGUMENT_VEC3:
        return 3;
    case ARGUMENT_POINTS:
        return 3 * CAIRN_CONTROL_POINTS_MAX;
    case ARGUMENT_PARTS:
        return PART_WORDS * CAIRN_CONTROL_PARTS_MAX + 3 * CAIRN_CONTROL_POINTS_MAX;
    case ARGUMENT_SURFACE:
        return 1 + 3 * CAIRN_CONTROL_POINTS_MAX + 3 * CAIRN_CONTROL_TRIANGLES_MAX;
    case ARGUMENT_HEIGHTS:
        return CAIRN_CONTROL_HEIGHTS_MAX;
    default:
        return 1;
    }
}

static bool parse_reals(const char *const *words, size_t count, float *out) {
    bool valid = true;
    for (size_t i = 0; i < count; ++i) {
        char *end;
        out[i] = strtof(words[i], &end);
        valid = valid && end != words[i] && *end == '\0' && isfinite(out[i]);
    }
    return valid;
}

// The first number of a property, or its word of 32 bits.
static bool parse_value(const char *text, bool is_word, float *x, uint32_t *word) {
    uint64_t whole = 0;
    if (!is_word) {
        return parse_reals(&text, 1, x);
    }
    const bool valid = parse_whole(text, UINT32_MAX, &whole);
    *word = (uint32_t)whole;
    return valid;
}

static bool is_word_of_body(uint32_t property) {
    return property == CAIRN_BODY_PROPERTY_USER || property == CAIRN_BODY_PROPERTY_CATEGORY ||
           property == CAIRN_BODY_PROPERTY_MASK;
}

static bool parse_joint_value(const char *text, cairn_control_set_joint_request *out) {
    if (out->property == CAIRN_JOINT_PROPERTY_NAME) {
        out->word = cairn_name_hash(text);
        return true;
    }
    return parse_value(text, out->property == CAIRN_JOINT_PROPERTY_USER, &out->value.x, &out->word);
}

// Three words for each.
static bool parse_vectors(const char *const *words, size_t count, cairn_vec3 *out) {
    bool valid = true;
    for (size_t i = 0; valid && i < count; ++i) {
        float vector[3];
        valid = parse_reals(&words[3 * i], 3, vector);
        out[i] = (cairn_vec3){vector[0], vector[1], vector[2]};
    }
    return valid;
}

static bool parse_points(const char *const *words, size_t word_count, cairn_ctl_command *out) {
    cairn_control_spawn_request *spawn = &out->request.spawn;
    spawn->points = out->points;
    spawn->point_count = (uint32_t)(word_count / 3);
    return word_count % 3 == 0 && parse_vectors(words, word_count / 3, out->points);
}

// The points of a hull, which follow it. `taken`: points that earlier hulls have.
static bool parse_part_points(const char *const *words, size_t word_count, const cairn_vec3 *size,
    uint32_t taken, cairn_ctl_command *out, uint32_t *count) {
    const size_t free = CAIRN_CONTROL_POINTS_MAX - taken;
    if (!(size->x >= 0.0f) || size->x > (float)free || size->x != floorf(size->x) ||
        word_count < 3 * (size_t)size->x) {
        return false;
    }
    *count = (uint32_t)size->x;
    return parse_vectors(words, *count, &out->points[taken]);
}

// Returns how many words the part takes; 0 if they are not valid.
static size_t parse_part(const char *const *words, size_t word_count, cairn_ctl_command *out) {
    cairn_control_spawn_compound_request *spawn = &out->request.spawn_compound;
    cairn_control_part *part = &out->parts[spawn->part_count];
    cairn_vec3 numbers[3] = {{0}};
    if (spawn->part_count == CAIRN_CONTROL_PARTS_MAX || word_count < PART_WORDS ||
        !cairn_control_word_find(CAIRN_CONTROL_SPAWN, words[0], &part->shape) ||
        !parse_vectors(&words[1], 3, numbers)) {
        return 0;
    }
    *part = (cairn_control_part){
        .shape = part->shape, .size = numbers[0], .position = numbers[1], .rotation = numbers[2]};
    if (part->shape == CAIRN_SHAPE_HULL) {
        part->size = (cairn_vec3){0};
        if (!parse_part_points(&words[PART_WORDS], word_count - PART_WORDS, &numbers[0],
                spawn->point_count, out, &part->point_count)) {
            return 0;
        }
    }
    spawn->part_count += 1;
    spawn->point_count += part->point_count;
    return PART_WORDS + 3 * (size_t)part->point_count;
}

static bool parse_parts(const char *const *words, size_t word_count, cairn_ctl_command *out) {
    cairn_control_spawn_compound_request *spawn = &out->request.spawn_compound;
    spawn->parts = out->parts;
    spawn->points = out->points;
    size_t at = 0;
    while (at < word_count) {
        const size_t taken = parse_part(&words[at], word_count - at, out);
        if (taken == 0) {
            return false;
        }
        at += taken;
    }
    return true;
}

static bool parse_surface(const char *const *words, size_t word_count, cairn_ctl_command *out) {
    cairn_control_spawn_mesh_request *spawn = &out->request.spawn_mesh;
    uint64_t points = 0;
    if (!parse_whole(words[0], CAIRN_CONTROL_POINTS_MAX, &points) || word_count < 1 + 3 * points ||
        (word_count - 1) % 3 != 0 || !parse_vectors(&words[1], points, out->points)) {
        return false;
    }
    const size_t triangles = (word_count - 1) / 3 - points;
    bool valid = triangles <= CAIRN_CONTROL_TRIANGLES_MAX;
    for (size_t i = 0; valid && i < triangles; ++i) {
        uint64_t corners[3] = {0};
        for (size_t k = 0; k < 3; ++k) {
            valid = valid && parse_whole(words[1 + 3 * (points + i) + k], UINT32_MAX, &corners[k]);
        }
        out->triangles[i] = (cairn_control_triangle){
            (uint32_t)corners[0], (uint32_t)corners[1], (uint32_t)corners[2]};
    }
    spawn->points = out->points;
    spawn->point_count = (uint32_t)points;
    spawn->triangles = out->triangles;
    spawn->triangle_count = (uint32_t)triangles;
    return valid;
}

static bool parse_heights(const char *const *words, size_t word_count, cairn_ctl_command *out) {
    float heights[CAIRN_CONTROL_HEIGHTS_MAX];
    const bool valid = parse_reals(words, word_count, heights);
    for (size_t i = 0; valid && i < word_count; ++i) {
        out->heights[i].value = heights[i];
    }
    out->request.spawn_height_field.heights = out->heights;
    out->request.spawn_height_field.height_count = (uint32_t)word_count;
    return valid;
}

// Parses the words of one argument, at most words_of its kind, into the command.
static bool parse_argument(const verb_argument *argument, const char *const *words,
    size_t word_count, cairn_ctl_command *out) {
    unsigned char *at = (unsigned char *)out + argument->offset;
    uint64_t whole = 0;
    float reals[3] = {0};
    bool valid = true;
    switch (argument->kind) {
    case ARGUMENT_U32:
        valid = parse_whole(words[0], UINT32_MAX, &whole);
        *(uint32_t *)(void *)at = (uint32_t)whole;
        break;
    case ARGUMENT_U64:
        valid = parse_whole(words[0], UINT64_MAX, (uint64_t *)(void *)at);
        break;
    case ARGUMENT_REAL:
    case ARGUMENT_VEC3:
        valid = parse_reals(words, word_count, reals);
        memcpy(at, reals, word_count * sizeof *reals);
        break;
    case ARGUMENT_TEXT:
        *(const char **)(void *)at = words[0];
        break;
    case ARGUMENT_WORD:
        valid = cairn_control_word_find(out->request.verb, words[0], (uint32_t *)(void *)at);
        break;
    case ARGUMENT_VALUE:
        valid = parse_value(words[0], is_word_of_body(out->request.set_body.property),
            &out->request.set_body.value.x, &out->request.set_body.word);
        break;
    case ARGUMENT_SHAPE_VALUE:
        valid = parse_value(words[0], is_word_of_body(out->request.set_shape.property),
            &out->request.set_shape.value.x, &out->request.set_shape.word);
        break;
    case ARGUMENT_JOINT_VALUE:
        valid = parse_joint_value(words[0], &out->request.set_joint);
        break;
    case ARGUMENT_POINTS:
        valid = parse_points(words, word_count, out);
        break;
    case ARGUMENT_PARTS:
        valid = parse_parts(words, word_count, out);
        break;
    case ARGUMENT_SURFACE:
        valid = parse_surface(words, word_count, out);
        break;
    case ARGUMENT_HEIGHTS:
        valid = parse_heights(words, word_count, out);
        break;
    case ARGUMENT_END:
        break;
    }
    if (argument->given != 0) {
        *(bool *)(void *)((unsigned char *)out + argument->given) = true;
    }
    return valid;
}

// Words of the verb and its first `count` arguments, or all of them if it has fewer.
static size_t words_until(const verb_form *form, size_t count) {
    size_t words = 1;
    for (size_t i = 0; i < count && form->arguments[i].kind != ARGUMENT_END; ++i) {
        words += words_of(form->arguments[i].kind);
    }
    return words;
}

static bool refuse(char *error, const verb_form *form, const char *what, const char *word) {
    const bool other = form + 1 < forms + FORM_COUNT && form[1].verb == form->verb;
    snprintf(error, CAIRN_CTL_ERROR_SIZE, "%s %.60s; use: %s %s%s%s", what, word,
        cairn_control_verb_text(form->verb), form->usage, other ? " | " : "",
        other ? form[1].usage : "");
    return false;
}

static bool parse_form(const verb_form *form, const char *const *words, size_t word_count,
    cairn_ctl_command *out, char *error) {
    size_t parsed = 1;
    bool full = false;
    for (size_t i = 0; form->arguments[i].kind != ARGUMENT_END && parsed < word_count; ++i) {
        const size_t most = words_of(form->arguments[i].kind);
        const size_t left = word_count - parsed;
        const size_t size = takes_rest(form->arguments[i].kind) && left < most ? left : most;
        if (size > left) {
            return refuse(error, form, "an argument is missing after", words[word_count - 1]);
        }
        if (!parse_argument(&form->arguments[i], &words[parsed], size, out)) {
            return refuse(error, form, "not a number of this kind:", words[parsed]);
        }
        parsed += size;
        full = size < left && takes_rest(form->arguments[i].kind);
    }
    return parsed == word_count ||
           refuse(error, form,
               full ? "too many for one request, from" : "not expected:", words[parsed]);
}

bool cairn_ctl_parse(const char *const *words, size_t word_count, cairn_ctl_command *out,
    char error[CAIRN_CTL_ERROR_SIZE]) {
    const uint32_t verb = cairn_control_verb_find(words[0]);
    const verb_form *first = NULL;
    const verb_form *fitting = NULL;
    *out = (cairn_ctl_command){.request = {.verb = verb}};
    for (size_t i = 0; i < FORM_COUNT; ++i) {
        if (forms[i].verb == verb) {
            const bool fits = word_count >= words_until(&forms[i], forms[i].required) &&
                              word_count <= words_until(&forms[i], SIZE_MAX);
            first = first == NULL ? &forms[i] : first;
            fitting = fits ? &forms[i] : fitting;
        }
    }
    if (first == NULL) {
        snprintf(error, CAIRN_CTL_ERROR_SIZE, "%.60s: no such verb; --help lists all", words[0]);
        return false;
    }
    if (fitting == NULL && word_count < words_until(first, first->required)) {
        return refuse(error, first, "an argument is missing after", words[word_count - 1]);
    }
    return parse_form(fitting == NULL ? first : fitting, words, word_count, out, error);
}

const cairn_flags_verb *cairn_ctl_verbs(size_t *count) {
    static cairn_flags_verb verbs[FORM_COUNT];
    for (size_t i = 0; i < FORM_COUNT; i++) {
        verbs[i] = (cairn_flags_verb){.name = cairn_control_verb_text(forms[i].verb),
            .arguments = forms[i].usage,
            .help = forms[i].meaning};
    }
    *count = FORM_COUNT;
    return verbs;
}

#define FIELD_NAME(KIND, FIELD, ...) " " FIELD_TEXT(__VA_ARGS__, )
#define FIELD_TEXT(field, ...) #field
#define ANSWER_FIELDS(VERB, member, structure)                                                     \
    case CAIRN_CONTROL_##VERB:                                                                     \
        return CONTROL_MEMBERS_##structure(FIELD_NAME);

static const char *answer_fields(uint32_t verb) {
    switch (verb) {
        EACH_CONTROL_ANSWER(ANSWER_FIELDS)
    default:
        return "";
    }
}

bool cairn_ctl_help_print(const char *verb) {
    const uint32_t number = cairn_control_verb_find(verb);
    for (size_t i = 0; i < FORM_COUNT; ++i) {
        if (forms[i].verb == number) {
            printf("cairn-ctl [FLAGS] %s %s\n    %s\n", verb, forms[i].usage, forms[i].meaning);
        }
    }
    if (number != 0) {
        printf("answers: room tick root%s\n", answer_fields(number));
    }
    return number != 0;
}
