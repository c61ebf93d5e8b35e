// SPDX-License-Identifier: MIT
// A function that refuses a call changes nothing: not one bit of the encoded world. Only a refusal
// for lack of room leaves a trace, one more in `creates_refused`. One line for each way to be
// refused, of every function of the simulation that changes a world.

#include "tests/sim/world_kit.h"

#include <math.h>
#include <string.h>

#include "sim/state/hash_cache.h"

#define NAN3 vec3(NAN, 0.0f, 0.0f)
#define FAR3 vec3(2e5f, 0.0f, 0.0f)
#define STALE 0x7fff0001u

// What the calls are about.
typedef struct cast {
    cairn_world *world;
    cairn_body_id ground; // a static half-space
    cairn_body_id cube;
    cairn_body_id lift;     // kinematic, carries `rider` upward
    cairn_body_id rider;    // dynamic
    cairn_body_id absent;   // not enabled
    cairn_body_id massless; // dynamic, without shapes
    cairn_shape_id shape;   // of the cube
    cairn_joint_id slider;
    cairn_joint_id ball;
    cairn_hull_id hull; // both in use
    cairn_mesh_id field;
} cast;

static const cairn_vec3 corners[4] = {
    {0.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}};
static const float heights[4] = {0.0f, 0.0f, 0.0f, 0.0f};

static cairn_height_field_def flat_field(void) {
    return (cairn_height_field_def){
        .heights = heights, .columns = 2, .rows = 2, .spacing_x = 1.0f, .spacing_z = 1.0f};
}

static cairn_shape_def shape_of_kind(uint32_t kind) {
    cairn_shape_def def = cairn_shape_def_default();
    def.kind = kind;
    return def;
}

static cairn_joint_def joint_of_kind(const cast *c, uint32_t kind) {
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = kind;
    def.body_a = c->cube;
    def.body_b = c->absent; // so that it pulls nothing
    return def;
}

// `full`: there is room for what is in the world and nothing else.
static cast world_with_cast(bool full) {
    cairn_world_def def = cairn_world_def_default();
    if (full) {
        def.body_capacity = 7;
        def.shape_capacity = 7;
        def.joint_capacity = 2;
        def.hull_capacity = 1;
        def.mesh_capacity = 1;
    }
    cast c = {.world = kit_world(&def)};
    c.ground = kit_ground(c.world);
    c.cube = kit_cube(c.world, vec3(0.0f, 3.0f, 0.0f));
    EXPECT_OK(cairn_body_shapes(c.world, c.cube, &c.shape, 1) == 1 ? CAIRN_OK : CAIRN_NOT_FOUND);
    c.lift = kit_kinematic(c.world, vec3(5.0f, 1.0f, 0.0f), vec3(0.0f, 0.1f, 0.0f));
    c.rider = kit_cube(c.world, vec3(5.0f, 2.0f, 0.0f));
    cairn_body_def body = cairn_body_def_default();
    body.position = vec3(0.0f, 20.0f, 0.0f);
    body.disabled = 1;
    EXPECT_OK(cairn_hull_create(c.world, corners, 4, &c.hull));
    cairn_shape_def shape = shape_of_kind(CAIRN_SHAPE_HULL);
    shape.hull = c.hull;
    c.absent = kit_body(c.world, &body, &shape);
    body.disabled = 0;
    EXPECT_OK(cairn_body_create(c.world, &body, &c.massless));
    const cairn_height_field_def field = flat_field();
    EXPECT_OK(cairn_height_field_create(c.world, &field, &c.field));
    shape = shape_of_kind(CAIRN_SHAPE_HEIGHT_FIELD);
    shape.mesh = c.field;
    body.kind = CAIRN_BODY_STATIC;
    body.position = vec3(30.0f, 0.0f, 0.0f);
    kit_body(c.world, &body, &shape);
    const cairn_joint_def slider = joint_of_kind(&c, CAIRN_JOINT_PRISMATIC);
    c.slider = kit_joint(c.world, &slider);
    const cairn_joint_def ball = joint_of_kind(&c, CAIRN_JOINT_BALL);
    c.ball = kit_joint(c.world, &ball);
    if (full) { // the last shape that there is room for
        cairn_shape_id last = 0;
        const cairn_shape_def cube = cairn_shape_def_default();
        EXPECT_OK(cairn_shape_create(c.world, c.absent, &cube, &last));
    }
    kit_run(c.world, 3);
    return c;
}

// Runs `call`, which must be refused with that status, and compares the encodings.
#define EXPECT_REFUSED(status, call)                                                               \
    do {                                                                                           \
        SCOPED(kit_bytes) before = kit_encode(w);                                                  \
        const cairn_status got = (call);                                                           \
        if (got != (status)) {                                                                     \
            fail_msg("%s: %s, not %s", #call, cairn_status_text(got), cairn_status_text(status));  \
        }                                                                                          \
        SCOPED(kit_bytes) after = kit_encode(w);                                                   \
        if (before.size != after.size || memcmp(before.bytes, after.bytes, after.size) != 0) {     \
            fail_msg("%s changed the world", #call);                                               \
        }                                                                                          \
        assert_true(                                                                               \
            cairn_hash_equal(cairn_world_hash_read(w).full, cairn_world_hash_fresh(w).full));      \
    } while (0)

// The same for a field of a def that is changed before the call.
#define EXPECT_DEF_REFUSED(status, type, start, change, call)                                      \
    do {                                                                                           \
        type def = (start);                                                                        \
        change;                                                                                    \
        EXPECT_REFUSED(status, call);                                                              \
    } while (0)

TEST("a refused body, velocity or force leaves the world as it was") {
    const cast c = world_with_cast(false);
    SCOPED(cairn_world) *w = c.world;
    const cairn_vec3 o = vec3_zero();
    const cairn_pose stays = pose_identity();
    const cairn_pose far = {.position = FAR3, .rotation = quat_identity()};
    const cairn_pose lost = {.position = NAN3, .rotation = quat_identity()};
    const cairn_pose crooked = {.rotation = {.w = 0.5f}};
    cairn_body_id id = 0;
#define BODY(status, change)                                                                       \
    EXPECT_DEF_REFUSED(                                                                            \
        status, cairn_body_def, cairn_body_def_default(), change, cairn_body_create(w, &def, &id))
    BODY(CAIRN_INVALID_ARGUMENT, def.kind = 3);
    BODY(CAIRN_INVALID_ARGUMENT, def.position = FAR3);
    BODY(CAIRN_NON_FINITE, def.linear_velocity = NAN3);
    BODY(CAIRN_INVALID_ARGUMENT, def.rotation.w = 3.0f);
    BODY(CAIRN_INVALID_ARGUMENT, def.linear_damping = -1.0f);
    BODY(CAIRN_NON_FINITE, def.gravity_scale = INFINITY);
    BODY(CAIRN_INVALID_ARGUMENT, def.locks = CAIRN_LOCKS_ALL + 1);
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_destroy(w, STALE));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_place(w, STALE, stays));
    EXPECT_REFUSED(CAIRN_NON_FINITE, cairn_body_place(w, c.cube, lost));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_set_pose(w, STALE, stays));
    EXPECT_REFUSED(CAIRN_NON_FINITE, cairn_body_set_pose(w, c.cube, lost));
    EXPECT_REFUSED(CAIRN_INVALID_ARGUMENT, cairn_body_set_pose(w, c.cube, far));
    EXPECT_REFUSED(CAIRN_INVALID_ARGUMENT, cairn_body_set_pose(w, c.cube, crooked));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_set_velocity(w, STALE, o, o));
    EXPECT_REFUSED(CAIRN_NON_FINITE, cairn_body_set_velocity(w, c.cube, o, NAN3));
    EXPECT_REFUSED(CAIRN_INVALID_ARGUMENT, cairn_body_set_velocity(w, c.cube, FAR3, o));
    EXPECT_REFUSED(CAIRN_WRONG_STATE, cairn_body_set_velocity(w, c.absent, o, o));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_set_target(w, STALE, stays));
    EXPECT_REFUSED(CAIRN_WRONG_STATE, cairn_body_set_target(w, c.cube, stays));
    EXPECT_REFUSED(CAIRN_WRONG_STATE, cairn_body_set_target(w, c.absent, stays));
    EXPECT_REFUSED(CAIRN_NON_FINITE, cairn_body_set_target(w, c.lift, lost));
    EXPECT_REFUSED(CAIRN_INVALID_ARGUMENT, cairn_body_set_target(w, c.lift, far));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_apply_impulse(w, STALE, o, o));
    EXPECT_REFUSED(CAIRN_NON_FINITE, cairn_body_apply_impulse(w, c.cube, NAN3, o));
    EXPECT_REFUSED(CAIRN_NON_FINITE, cairn_body_apply_impulse(w, c.lift, NAN3, o));
    EXPECT_REFUSED(CAIRN_WRONG_STATE, cairn_body_apply_impulse(w, c.absent, o, o));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_apply_impulse_at_centre(w, STALE, o));
    EXPECT_REFUSED(CAIRN_NON_FINITE, cairn_body_apply_impulse_at_centre(w, c.cube, NAN3));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_apply_angular_impulse(w, STALE, o));
    EXPECT_REFUSED(CAIRN_NON_FINITE, cairn_body_apply_angular_impulse(w, c.cube, NAN3));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_apply_force(w, STALE, o, o));
    EXPECT_REFUSED(CAIRN_NON_FINITE, cairn_body_apply_force(w, c.cube, o, NAN3));
    EXPECT_REFUSED(CAIRN_WRONG_STATE, cairn_body_apply_force(w, c.absent, o, o));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_apply_force_at(w, STALE, o, o));
    EXPECT_REFUSED(CAIRN_NON_FINITE, cairn_body_apply_force_at(w, c.cube, o, NAN3));
}

TEST("a refused property of a body leaves the world as it was") {
    const cast c = world_with_cast(false);
    SCOPED(cairn_world) *w = c.world;
    const cairn_mass_properties round = {
        .mass = 1.0f, .inertia = {1.0f, 1.0f, 1.0f, 0.0f, 0.0f, 0.0f}};
#define MASS(status, body, change)                                                                 \
    EXPECT_DEF_REFUSED(status, cairn_mass_properties, round, change,                               \
        cairn_body_set_mass_properties(w, body, &def))
    MASS(CAIRN_NOT_FOUND, STALE, (void)def);
    MASS(CAIRN_INVALID_ARGUMENT, c.cube, def.mass = 0.0f);
    MASS(CAIRN_NON_FINITE, c.cube, def.mass = NAN);
    MASS(CAIRN_NON_FINITE, c.cube, def.inertia[3] = NAN);
    MASS(CAIRN_INVALID_ARGUMENT, c.cube, def.inertia[0] = -1.0f);
    MASS(CAIRN_INVALID_ARGUMENT, c.cube, def.inertia[3] = 2.0f); // not positive definite
    MASS(CAIRN_INVALID_ARGUMENT, c.cube, def.centre = FAR3);
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_set_mass(w, STALE, 1.0f));
    EXPECT_REFUSED(CAIRN_INVALID_ARGUMENT, cairn_body_set_mass(w, c.cube, -1.0f));
    EXPECT_REFUSED(CAIRN_NON_FINITE, cairn_body_set_mass(w, c.cube, NAN));
    EXPECT_REFUSED(CAIRN_WRONG_STATE, cairn_body_set_mass(w, c.massless, 1.0f));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_set_kind(w, STALE, CAIRN_BODY_STATIC));
    EXPECT_REFUSED(CAIRN_INVALID_ARGUMENT, cairn_body_set_kind(w, c.cube, 3));
    EXPECT_REFUSED(CAIRN_WRONG_STATE, cairn_body_set_kind(w, c.ground, CAIRN_BODY_DYNAMIC));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_set_damping(w, STALE, 0.0f, 0.0f));
    EXPECT_REFUSED(CAIRN_INVALID_ARGUMENT, cairn_body_set_damping(w, c.cube, 0.0f, -1.0f));
    EXPECT_REFUSED(CAIRN_NON_FINITE, cairn_body_set_damping(w, c.cube, NAN, 0.0f));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_set_gravity_scale(w, STALE, 1.0f));
    EXPECT_REFUSED(CAIRN_NON_FINITE, cairn_body_set_gravity_scale(w, c.cube, NAN));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_set_locks(w, STALE, 0));
    EXPECT_REFUSED(CAIRN_INVALID_ARGUMENT, cairn_body_set_locks(w, c.cube, CAIRN_LOCKS_ALL + 1));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_set_user(w, STALE, 1));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_set_owner(w, STALE, 1));
    EXPECT_REFUSED(CAIRN_INVALID_ARGUMENT, cairn_body_set_owner(w, c.cube, CAIRN_SLOTS_MAX));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_set_allow_sleep(w, STALE, true));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_set_bullet(w, STALE, true));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_set_gyroscopic(w, STALE, true));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_set_awake(w, STALE, true));
    EXPECT_REFUSED(CAIRN_WRONG_STATE, cairn_body_set_awake(w, c.ground, false));
    EXPECT_REFUSED(CAIRN_WRONG_STATE, cairn_body_set_awake(w, c.absent, true));
    EXPECT_REFUSED(CAIRN_WRONG_STATE, cairn_body_set_awake(w, c.rider, false)); // on a moving lift
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_body_set_enabled(w, STALE, true));
    EXPECT_REFUSED(CAIRN_NON_FINITE, cairn_world_set_gravity(w, NAN3));
    EXPECT_REFUSED(CAIRN_INVALID_ARGUMENT, cairn_world_set_gravity(w, FAR3));
    const cairn_explosion blast = {.radius = 5.0f, .impulse_per_area = 100.0f, .mask = UINT32_MAX};
#define BLAST(status, change)                                                                      \
    EXPECT_DEF_REFUSED(status, cairn_explosion, blast, change, cairn_world_explode(w, &def, NULL))
    BLAST(CAIRN_NON_FINITE, def.centre = NAN3);
    BLAST(CAIRN_INVALID_ARGUMENT, def.radius = -1.0f);
    BLAST(CAIRN_NON_FINITE, def.impulse_per_area = NAN);
}

TEST("a refused shape, hull, mesh or height field leaves the world as it was") {
    const cast c = world_with_cast(false);
    SCOPED(cairn_world) *w = c.world;
    cairn_shape_id id = 0;
#define SHAPE(status, body, change)                                                                \
    EXPECT_DEF_REFUSED(status, cairn_shape_def, cairn_shape_def_default(), change,                 \
        cairn_shape_create(w, body, &def, &id))
    SHAPE(CAIRN_NOT_FOUND, STALE, (void)def);
    SHAPE(CAIRN_INVALID_ARGUMENT, c.cube, def.density = 0.0f);
    SHAPE(CAIRN_INVALID_ARGUMENT, c.cube, def.half_extents.y = 0.0f);
    SHAPE(CAIRN_NON_FINITE, c.cube, def.friction = NAN);
    SHAPE(CAIRN_INVALID_ARGUMENT, c.cube, def.static_friction = 0.1f);
    SHAPE(CAIRN_INVALID_ARGUMENT, c.cube, def.restitution = 1.5f);
    SHAPE(CAIRN_NON_FINITE, c.cube, def.pose.position = NAN3);
    SHAPE(CAIRN_INVALID_ARGUMENT, c.cube, def.flags = CAIRN_SHAPE_FLAGS + 1);
    SHAPE(CAIRN_INVALID_ARGUMENT, c.cube, def.kind = 200);
    SHAPE(CAIRN_INVALID_ARGUMENT, c.cube, def.kind = CAIRN_SHAPE_HALF_SPACE);
    SHAPE(CAIRN_NOT_FOUND, c.cube, (def.kind = CAIRN_SHAPE_HULL, def.hull = STALE));
    SHAPE(CAIRN_NOT_FOUND, c.ground, (def.kind = CAIRN_SHAPE_MESH, def.mesh = c.field));
    SHAPE(
        CAIRN_INVALID_ARGUMENT, c.cube, (def.kind = CAIRN_SHAPE_HEIGHT_FIELD, def.mesh = c.field));
    const cairn_material slippery = {.friction = 0.0f};
#define MATERIAL(status, shape, change)                                                            \
    EXPECT_DEF_REFUSED(                                                                            \
        status, cairn_material, slippery, change, cairn_shape_set_material(w, shape, &def))
    MATERIAL(CAIRN_NOT_FOUND, STALE, (void)def);
    MATERIAL(CAIRN_INVALID_ARGUMENT, c.shape, def.friction = -1.0f);
    MATERIAL(CAIRN_NON_FINITE, c.shape, def.surface_velocity = NAN3);
    MATERIAL(CAIRN_INVALID_ARGUMENT, c.shape, def.friction_combine = 99);
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_shape_destroy(w, STALE));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_shape_set_filter(w, STALE, 1, 1));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_shape_set_density(w, STALE, 1.0f));
    EXPECT_REFUSED(CAIRN_INVALID_ARGUMENT, cairn_shape_set_density(w, c.shape, 0.0f));
    EXPECT_REFUSED(CAIRN_NON_FINITE, cairn_shape_set_density(w, c.shape, NAN));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_shape_set_user(w, STALE, 1));
    cairn_vec3 flat[4] = {corners[0], corners[1], corners[2], {1.0f, 1.0f, 0.0f}};
    EXPECT_REFUSED(CAIRN_INVALID_ARGUMENT, cairn_hull_create(w, corners, 3, &id));
    EXPECT_REFUSED(CAIRN_INVALID_ARGUMENT, cairn_hull_create(w, flat, 4, &id));
    flat[2] = NAN3;
    EXPECT_REFUSED(CAIRN_NON_FINITE, cairn_hull_create(w, flat, 4, &id));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_hull_destroy(w, STALE));
    EXPECT_REFUSED(CAIRN_WRONG_STATE, cairn_hull_destroy(w, c.hull));
    static const uint32_t triangle[3] = {0, 1, 2};
    static const uint32_t line[3] = {0, 1, 1};
    static const uint32_t beyond[3] = {0, 1, 4};
    const cairn_mesh_def mesh = {
        .vertices = corners, .vertex_count = 4, .indices = triangle, .triangle_count = 1};
#define MESH(status, change)                                                                       \
    EXPECT_DEF_REFUSED(status, cairn_mesh_def, mesh, change, cairn_mesh_create(w, &def, &id))
    MESH(CAIRN_INVALID_ARGUMENT, def.triangle_count = 0);
    MESH(CAIRN_INVALID_ARGUMENT, def.indices = line); // no area
    MESH(CAIRN_INVALID_ARGUMENT, def.indices = beyond);
    MESH(CAIRN_NON_FINITE, def.vertices = flat);
    static const float torn[4] = {0.0f, NAN, 0.0f, 0.0f};
#define FIELD(status, change)                                                                      \
    EXPECT_DEF_REFUSED(status, cairn_height_field_def, flat_field(), change,                       \
        cairn_height_field_create(w, &def, &id))
    FIELD(CAIRN_INVALID_ARGUMENT, def.rows = 1);
    FIELD(CAIRN_INVALID_ARGUMENT, def.spacing_x = 0.0f);
    FIELD(CAIRN_NON_FINITE, def.spacing_z = NAN);
    FIELD(CAIRN_NON_FINITE, def.heights = torn);
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_mesh_destroy(w, STALE));
    EXPECT_REFUSED(CAIRN_WRONG_STATE, cairn_mesh_destroy(w, c.field));
}

TEST("a refused compound leaves the world as it was") {
    const cast c = world_with_cast(false);
    SCOPED(cairn_world) *w = c.world;
    cairn_body_def good = cairn_body_def_default();
    cairn_body_def bad = good;
    bad.position = NAN3;
    cairn_body_id body = 0;
    cairn_shape_id ids[3];
    const cairn_shape_def shapes[3] = {shape_of_kind(CAIRN_SHAPE_BOX),
        shape_of_kind(CAIRN_SHAPE_SPHERE), shape_of_kind(CAIRN_SHAPE_HALF_SPACE)};
    EXPECT_REFUSED(
        CAIRN_INVALID_ARGUMENT, cairn_body_create_compound(w, &good, shapes, 0, &body, ids));
    EXPECT_REFUSED(CAIRN_NON_FINITE, cairn_body_create_compound(w, &bad, shapes, 2, &body, ids));
    EXPECT_REFUSED(
        CAIRN_INVALID_ARGUMENT, cairn_body_create_compound(w, &good, shapes, 3, &body, ids));
    assert_int_equal(body, CAIRN_ID_NULL);
    assert_int_equal(ids[0], CAIRN_ID_NULL);
    // The same call without the bad shape makes what it would have made before.
    SCOPED(cairn_world) *twin = kit_fork(w);
    EXPECT_OK(cairn_body_create_compound(w, &good, shapes, 2, &body, ids));
    EXPECT_OK(cairn_body_create_compound(twin, &good, shapes, 2, &body, ids));
    assert_true(kit_equal(w, twin));
}

TEST("a refused joint or setting of a joint leaves the world as it was") {
    const cast c = world_with_cast(false);
    SCOPED(cairn_world) *w = c.world;
    cairn_joint_id id = 0;
#define JOINT(status, kind, change)                                                                \
    EXPECT_DEF_REFUSED(status, cairn_joint_def, joint_of_kind(&c, kind), change,                   \
        cairn_joint_create(w, &def, &id))
    JOINT(CAIRN_INVALID_ARGUMENT, CAIRN_JOINT_BALL, def.body_b = def.body_a);
    JOINT(CAIRN_NOT_FOUND, CAIRN_JOINT_BALL, def.body_b = STALE);
    JOINT(CAIRN_NON_FINITE, CAIRN_JOINT_BALL, def.anchor_a = NAN3);
    JOINT(CAIRN_NON_FINITE, CAIRN_JOINT_HINGE, def.motor_speed = NAN);
    JOINT(CAIRN_INVALID_ARGUMENT, CAIRN_JOINT_WELD, (def.breakable = 1, def.break_force = 0.0f));
    JOINT(CAIRN_INVALID_ARGUMENT, CAIRN_JOINT_GEAR, def.ratio = 0.0f);
    JOINT(CAIRN_NON_FINITE, CAIRN_JOINT_ROW, def.row.velocity = NAN);
    JOINT(CAIRN_INVALID_ARGUMENT, CAIRN_JOINT_ROW + 1, (void)def);
    const cairn_joint_row row = {.velocity = NAN};
    cairn_joint_def other = joint_of_kind(&c, CAIRN_JOINT_WELD);
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_joint_destroy(w, STALE));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_joint_set(w, STALE, &other));
    EXPECT_REFUSED(CAIRN_INVALID_ARGUMENT, cairn_joint_set(w, c.slider, &other));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_joint_set_motor(w, STALE, 0.0f, 0.0f));
    EXPECT_REFUSED(CAIRN_NON_FINITE, cairn_joint_set_motor(w, c.slider, NAN, 1.0f));
    EXPECT_REFUSED(CAIRN_INVALID_ARGUMENT, cairn_joint_set_motor(w, c.slider, 1.0f, -1.0f));
    EXPECT_REFUSED(CAIRN_INVALID_ARGUMENT, cairn_joint_set_motor(w, c.ball, 1.0f, 1.0f));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_joint_set_limits(w, STALE, 0.0f, 0.0f));
    EXPECT_REFUSED(CAIRN_INVALID_ARGUMENT, cairn_joint_set_limits(w, c.slider, 1.0f, 0.0f));
    EXPECT_REFUSED(CAIRN_INVALID_ARGUMENT, cairn_joint_set_limits(w, c.ball, 0.0f, 1.0f));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_joint_set_spring(w, STALE, 1.0f, 1.0f));
    EXPECT_REFUSED(CAIRN_NON_FINITE, cairn_joint_set_spring(w, c.slider, NAN, 1.0f));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_joint_set_target(w, STALE, 1.0f));
    EXPECT_REFUSED(CAIRN_NON_FINITE, cairn_joint_set_target(w, c.slider, NAN));
    EXPECT_REFUSED(CAIRN_INVALID_ARGUMENT, cairn_joint_set_target(w, c.ball, 1.0f));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_joint_set_steering(w, STALE, 1.0f));
    EXPECT_REFUSED(CAIRN_INVALID_ARGUMENT, cairn_joint_set_steering(w, c.slider, 1.0f));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_joint_set_softness(w, STALE, 1.0f, 1.0f));
    EXPECT_REFUSED(CAIRN_NON_FINITE, cairn_joint_set_softness(w, c.ball, NAN, 1.0f));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_joint_set_enabled(w, STALE, true));
    EXPECT_REFUSED(CAIRN_NOT_FOUND, cairn_joint_set_row(w, STALE, &row));
    EXPECT_REFUSED(CAIRN_INVALID_ARGUMENT, cairn_joint_set_row(w, c.slider, &row));
}

TEST("a refused state leaves the world as it was") {
    const cast c = world_with_cast(false);
    SCOPED(cairn_world) *w = c.world;
    cairn_world_def def = cairn_world_def_default();
    def.tick_rate_hz = 120;
    SCOPED(cairn_world) *other = kit_world(&def);
    SCOPED(kit_bytes) saved = kit_save(other);
    SCOPED(kit_bytes) encoded = kit_encode(w);
    unsigned char *bytes = encoded.bytes;
    EXPECT_REFUSED(CAIRN_MALFORMED, cairn_world_load(w, saved.bytes, saved.size));
    EXPECT_REFUSED(CAIRN_MALFORMED, cairn_world_decode(w, bytes, encoded.size - 1, NULL));
    memset(bytes + encoded.size / 2, 0xff, 64);
    const cairn_status status = cairn_world_decode(w, bytes, encoded.size, NULL);
    assert_int_not_equal(status, CAIRN_OK);
    EXPECT_REFUSED(status, cairn_world_decode(w, bytes, encoded.size, NULL));
}

// All sections but that of the counters.
static void expect_only_counted(cairn_world *world, const cairn_world_hash *before,
    uint32_t refused, cairn_status status, const char *call) {
    const cairn_world_hash after = cairn_world_hash_read(world);
    if (status != CAIRN_CAPACITY ||
        cairn_world_counters_read(world).creates_refused != refused + 1) {
        fail_msg("%s: %s", call, cairn_status_text(status));
    }
    for (uint32_t i = CAIRN_SECTION_SETTINGS + 1; i < CAIRN_SECTION_COUNT; ++i) {
        if (!cairn_hash_equal(before->sections[i], after.sections[i])) {
            fail_msg("%s changed %s", call, cairn_section_name((cairn_section)i));
        }
    }
}

#define EXPECT_NO_ROOM(call)                                                                       \
    do {                                                                                           \
        const cairn_world_hash before = cairn_world_hash_read(w);                                  \
        const uint32_t refused = cairn_world_counters_read(w).creates_refused;                     \
        const cairn_status status = (call);                                                        \
        expect_only_counted(w, &before, refused, status, #call);                                   \
    } while (0)

TEST("what a full world refuses is counted once, and nothing else changes") {
    const cast c = world_with_cast(true);
    SCOPED(cairn_world) *w = c.world;
    const cairn_body_def body = cairn_body_def_default();
    const cairn_shape_def cube = cairn_shape_def_default();
    const cairn_joint_def weld = joint_of_kind(&c, CAIRN_JOINT_WELD);
    const cairn_height_field_def field = flat_field();
    static const uint32_t triangle[3] = {0, 1, 2};
    const cairn_mesh_def mesh = {
        .vertices = corners, .vertex_count = 4, .indices = triangle, .triangle_count = 1};
    uint32_t id = 0;
    uint32_t ids[2];
    const cairn_shape_def two[2] = {cube, cube};
    EXPECT_NO_ROOM(cairn_body_create(w, &body, &id));
    EXPECT_NO_ROOM(cairn_shape_create(w, c.cube, &cube, &id));
    EXPECT_NO_ROOM(cairn_body_create_compound(w, &body, two, 2, &id, ids));
    EXPECT_NO_ROOM(cairn_joint_create(w, &weld, &id));
    EXPECT_NO_ROOM(cairn_hull_create(w, corners, 4, &id));
    EXPECT_NO_ROOM(cairn_mesh_create(w, &mesh, &id));
    EXPECT_NO_ROOM(cairn_height_field_create(w, &field, &id));
    // An operator's edits: no body is made for a shape without room, no hull for such a body.
    cairn_edit_made made;
    const cairn_command box = {.kind = CAIRN_COMMAND_SPAWN_BOX,
        .slot = CAIRN_SLOT_OPERATOR,
        .aim = vec3(0.5f, 0.5f, 0.5f)};
    EXPECT_NO_ROOM(cairn_world_apply_edit(w, &box, 1, &made));
    cairn_command hull[4] = {{.kind = CAIRN_COMMAND_HULL_POINTS, .buttons = 2},
        {.kind = CAIRN_COMMAND_HULL_POINTS, .buttons = 2},
        {.kind = CAIRN_COMMAND_SHAPE, .buttons = CAIRN_SHAPE_HULL}, {.kind = CAIRN_COMMAND_SPAWN}};
    for (uint32_t i = 0; i < 4; ++i) {
        hull[i].slot = CAIRN_SLOT_OPERATOR;
        hull[i].move = i < 2 ? vec3_scale(corners[2 * i], 2.0f) : vec3_zero();
        hull[i].aim = i < 2 ? vec3_scale(corners[2 * i + 1], 2.0f) : vec3_zero();
    }
    EXPECT_OK(cairn_shape_destroy(w, c.shape)); // room for a shape, none for a body
    EXPECT_NO_ROOM(cairn_world_apply_edit(w, hull, 4, &made));
}
