// SPDX-License-Identifier: MIT
#include "sim/state/fields.h"

#include "base/assert.h"
#include "base/world_settings.h"
#include "sim/math/limits.h"
#include "sim/state/slots.h"

#define AT(member) .name = #member, .offset = offsetof(ELEMENT, member)
#define WORD(member, most)                                                                         \
    { AT(member), .kind = CAIRN_FIELD_WORD, .max = (most) }
#define FLOAT(member, most)                                                                        \
    { AT(member), .kind = CAIRN_FIELD_FLOAT, .limit = (most) }
#define SIZE(member, most)                                                                         \
    { AT(member), .kind = CAIRN_FIELD_SIZE, .limit = (most) }
#define VEC3(member, most) FLOAT(member.x, most), FLOAT(member.y, most), FLOAT(member.z, most)
#define QUAT(member) VEC3(member, 1.01f), FLOAT(member.w, 1.01f)
#define ANY UINT32_MAX
#define HUGE_FLOAT 3.4028234e38f
#define LENGTH_OF(table) (uint32_t)(sizeof(table) / sizeof(table)[0])

#define ELEMENT cairn_settings
static const cairn_field settings_fields[] = {
#define SETTING_WORD(name, initial, lower, upper) WORD(name, upper),
#define SETTING_FLOAT(name, initial, lower, upper) SIZE(name, upper),
#define SETTING_VEC3(name, a, b, c, limit) VEC3(name, limit),
    CAIRN_WORLD_SETTINGS(SETTING_WORD, SETTING_FLOAT, SETTING_VEC3)
    // Any value is valid.
    WORD(seed_low, ANY),
    WORD(seed_high, ANY),
    WORD(rules_name[0], ANY),
    WORD(rules_name[1], ANY),
    WORD(rules_name[2], ANY),
    WORD(rules_name[3], ANY),
    WORD(rules_name[4], ANY),
    WORD(rules_name[5], ANY),
    WORD(rules_name[6], ANY),
    WORD(rules_name[7], 0x00ffffffu),
    WORD(rules_version, ANY),
    WORD(rules_state_size, CAIRN_RULES_STATE_SIZE_MAX),
    WORD(tick_low, ANY),
    WORD(tick_high, ANY),
    WORD(contacts_dropped, ANY),
    WORD(creates_refused, ANY),
    WORD(bodies_disabled, ANY),
    WORD(edits_refused, ANY),
    WORD(events_dropped, ANY),
    WORD(solver_fallbacks, ANY),
    VEC3(present_gravity, CAIRN_GRAVITY_MAX),
    SIZE(present_step_rate_hz, CAIRN_STEP_RATE_HZ_MAX),
    WORD(body_slots, CAIRN_BODIES_MAX),
    WORD(shape_slots, CAIRN_SHAPES_MAX),
    WORD(joint_slots, CAIRN_JOINTS_MAX),
    WORD(hull_slots, CAIRN_HULLS_MAX),
    WORD(mesh_slots, CAIRN_MESHES_MAX),
    WORD(mesh_block_count, CAIRN_MESH_BLOCKS_MAX),
    WORD(contact_count, CAIRN_CONTACTS_MAX),
    WORD(contact_event_count, CAIRN_EVENTS_MAX),
    WORD(body_event_count, CAIRN_BODIES_MAX),
    WORD(joint_drive_count, CAIRN_JOINTS_MAX),
    WORD(joint_event_count, CAIRN_JOINTS_MAX),
};
#undef ELEMENT

static const cairn_field id_fields[] = {
    {.name = "id", .offset = 0, .kind = CAIRN_FIELD_WORD, .max = ANY},
};

#define ELEMENT cairn_motion
static const cairn_field motion_fields[] = {
    VEC3(origin, HUGE_FLOAT),
    VEC3(position, CAIRN_VALID_DISTANCE),
    QUAT(rotation),
    VEC3(linear_velocity, CAIRN_VALID_SPEED),
    VEC3(angular_velocity, CAIRN_VALID_SPEED),
};
#undef ELEMENT

#define ELEMENT cairn_reference_pose
static const cairn_field reference_pose_fields[] = {
    VEC3(position, CAIRN_VALID_DISTANCE),
    WORD(rotation.words[0], ANY),
    WORD(rotation.words[1], ANY),
};
#undef ELEMENT

#define ELEMENT cairn_body
static const cairn_field body_fields[] = {
    WORD(kind, CAIRN_BODY_DYNAMIC + CAIRN_BODY_NOT_ENABLED),
    WORD(allow_sleep, 1),
    WORD(gyroscopic, 1),
    WORD(flags, CAIRN_BODY_FLAGS_ALL),
    WORD(user, ANY),
    VEC3(force, HUGE_FLOAT),
    VEC3(torque, HUGE_FLOAT),
    VEC3(centre, 2.0f * CAIRN_DISTANCE_MAX), // of shapes at that distance, 1e4 m large
    SIZE(mass, HUGE_FLOAT),
    SIZE(inverse_mass, HUGE_FLOAT),
    FLOAT(inverse_inertia.xx, HUGE_FLOAT),
    FLOAT(inverse_inertia.yy, HUGE_FLOAT),
    FLOAT(inverse_inertia.zz, HUGE_FLOAT),
    FLOAT(inverse_inertia.xy, HUGE_FLOAT),
    FLOAT(inverse_inertia.xz, HUGE_FLOAT),
    FLOAT(inverse_inertia.yz, HUGE_FLOAT),
    SIZE(linear_damping, HUGE_FLOAT),
    SIZE(angular_damping, HUGE_FLOAT),
    FLOAT(gravity_scale, HUGE_FLOAT),
    WORD(bullet, 1),
    WORD(name, ANY),
};
#undef ELEMENT

#define ELEMENT cairn_sleep
static const cairn_field sleep_fields[] = {
    WORD(state, CAIRN_SLEEP_WOKEN),
    WORD(ticks, CAIRN_TICK_RATE_HZ_MAX),
    WORD(stay, CAIRN_TICK_RATE_HZ_MAX),
    VEC3(position, CAIRN_VALID_DISTANCE),
    WORD(rotation.words[0], ANY),
    WORD(rotation.words[1], ANY),
    SIZE(squeeze, CAIRN_SQUEEZE_MAX),
};
#undef ELEMENT

#define ELEMENT cairn_hull_vertices
#define VERTEX(index) VEC3(vertices[index], CAIRN_SHAPE_SIZE_MAX)
#define VERTICES_4(first) VERTEX(first), VERTEX(first + 1), VERTEX(first + 2), VERTEX(first + 3)
#define VERTICES_16(first)                                                                         \
    VERTICES_4(first), VERTICES_4(first + 4), VERTICES_4(first + 8), VERTICES_4(first + 12)
static const cairn_field hull_fields[] = {WORD(count, CAIRN_HULL_VERTICES_MAX), VERTICES_16(0),
    VERTICES_16(16), VERTICES_16(32), VERTICES_16(48), VERTICES_16(64), VERTICES_16(80),
    VERTICES_16(96), VERTICES_16(112)};
#undef ELEMENT

#define ELEMENT cairn_mesh_header
static const cairn_field mesh_fields[] = {
    WORD(kind, CAIRN_MESH_HEIGHTS),
    WORD(first_block, CAIRN_MESH_BLOCKS_MAX),
    WORD(block_count, CAIRN_MESH_BLOCKS_MAX),
    WORD(vertex_count, CAIRN_MESH_VERTICES_MAX),
    WORD(triangle_count, CAIRN_MESH_TRIANGLES_MAX),
    WORD(dropped_count, CAIRN_MESH_TRIANGLES_MAX),
    WORD(columns, CAIRN_HEIGHT_FIELD_SIDE_MAX),
    WORD(rows, CAIRN_HEIGHT_FIELD_SIDE_MAX),
    SIZE(spacing_x, CAIRN_SHAPE_SIZE_MAX),
    SIZE(spacing_z, CAIRN_SHAPE_SIZE_MAX),
};
#undef ELEMENT

#define ELEMENT cairn_mesh_block
#define FOUR(i)                                                                                    \
    WORD(words[i], ANY), WORD(words[i + 1], ANY), WORD(words[i + 2], ANY), WORD(words[i + 3], ANY)
static const cairn_field mesh_block_fields[] = {FOUR(0), FOUR(4), FOUR(8), FOUR(12), FOUR(16),
    FOUR(20), FOUR(24), FOUR(28), FOUR(32), FOUR(36), FOUR(40), FOUR(44), FOUR(48), FOUR(52),
    FOUR(56), FOUR(60)};
#undef FOUR
#undef ELEMENT

#define ELEMENT cairn_shape
static const cairn_field shape_fields[] = {
    WORD(body, CAIRN_BODIES_MAX),
    WORD(geometry.kind, CAIRN_SHAPE_HEIGHT_FIELD),
    VEC3(geometry.half_extents, CAIRN_SHAPE_SIZE_MAX),
    SIZE(geometry.radius, CAIRN_SHAPE_SIZE_MAX),
    SIZE(geometry.half_height, CAIRN_SHAPE_SIZE_MAX),
    WORD(geometry.hull, ANY),
    WORD(geometry.mesh, ANY),
    VEC3(pose.position, CAIRN_DISTANCE_MAX),
    QUAT(pose.rotation),
    SIZE(density, CAIRN_DENSITY_MAX),
    SIZE(friction, HUGE_FLOAT),
    SIZE(restitution, 1.0f),
    WORD(category, ANY),
    WORD(mask, ANY),
    WORD(user, ANY),
    WORD(name, ANY),
    WORD(flags, CAIRN_SHAPE_FLAGS),
    SIZE(static_friction, CAIRN_FRICTION_MAX),
    SIZE(rolling_resistance, CAIRN_RESISTANCE_MAX),
    SIZE(spin_resistance, CAIRN_RESISTANCE_MAX),
    WORD(friction_combine, CAIRN_COMBINE_LAST),
    WORD(restitution_combine, CAIRN_COMBINE_LAST),
    VEC3(surface_velocity, CAIRN_SPEED_MAX),
};
#undef ELEMENT

#define ELEMENT cairn_joint
static const cairn_field joint_fields[] = {
    WORD(kind, CAIRN_JOINT_ROW),
    WORD(extent, CAIRN_JOINT_ARTICULATED),
    WORD(collide_connected, 1),
    WORD(user, ANY),
    WORD(name, ANY),
    WORD(body_a, ANY),
    WORD(body_b, ANY),
    VEC3(anchor_a, CAIRN_DISTANCE_MAX),
    VEC3(anchor_b, CAIRN_DISTANCE_MAX),
    SIZE(length, CAIRN_SHAPE_SIZE_MAX),
    VEC3(impulse, HUGE_FLOAT),
    VEC3(relax_impulse, HUGE_FLOAT),
    VEC3(axis_a, 1.01f),
    VEC3(axis_b, 1.01f),
    VEC3(normal_a, 1.01f),
    VEC3(normal_b, 1.01f),
    SIZE(cone, CAIRN_ANGLE_MAX),
    FLOAT(lower, CAIRN_SHAPE_SIZE_MAX),
    FLOAT(upper, CAIRN_SHAPE_SIZE_MAX),
    WORD(limited, 1),
    VEC3(angular_impulse, HUGE_FLOAT),
    SIZE(swing_impulse, HUGE_FLOAT),
    SIZE(lower_impulse, HUGE_FLOAT),
    SIZE(upper_impulse, HUGE_FLOAT),
};
#undef ELEMENT

#define ELEMENT cairn_joint_drive
static const cairn_field joint_drive_fields[] = {
    WORD(joint, CAIRN_JOINTS_MAX - 1),
    WORD(flags, CAIRN_DRIVE_FLAGS),
    SIZE(hertz, CAIRN_HERTZ_MAX),
    SIZE(damping, CAIRN_DAMPING_RATIO_MAX),
    SIZE(spring_hertz, CAIRN_HERTZ_MAX),
    SIZE(spring_damping, CAIRN_DAMPING_RATIO_MAX),
    FLOAT(target, CAIRN_SHAPE_SIZE_MAX),
    VEC3(target_position, CAIRN_DISTANCE_MAX),
    QUAT(target_rotation),
    FLOAT(motor_speed, CAIRN_SPEED_MAX),
    VEC3(motor_velocity, CAIRN_SPEED_MAX),
    SIZE(motor_force, CAIRN_FORCE_MAX),
    SIZE(motor_torque, CAIRN_FORCE_MAX),
    SIZE(steering_hertz, CAIRN_HERTZ_MAX),
    SIZE(steering_damping, CAIRN_DAMPING_RATIO_MAX),
    FLOAT(steering_target, CAIRN_ANGLE_MAX),
    SIZE(steering_torque, CAIRN_FORCE_MAX),
    FLOAT(ratio, CAIRN_ROW_MAX),
    VEC3(fixed_a, CAIRN_DISTANCE_MAX),
    VEC3(fixed_b, CAIRN_DISTANCE_MAX),
    VEC3(row.linear_a, CAIRN_ROW_MAX),
    VEC3(row.angular_a, CAIRN_ROW_MAX),
    VEC3(row.linear_b, CAIRN_ROW_MAX),
    VEC3(row.angular_b, CAIRN_ROW_MAX),
    FLOAT(row.lower, CAIRN_FORCE_MAX),
    FLOAT(row.upper, CAIRN_FORCE_MAX),
    FLOAT(row.velocity, CAIRN_SPEED_MAX),
    SIZE(break_force, CAIRN_FORCE_MAX),
    SIZE(break_torque, CAIRN_FORCE_MAX),
    SIZE(drive_stiffness, CAIRN_FORCE_MAX),
    SIZE(drive_damping, CAIRN_FORCE_MAX),
    VEC3(drive_torque, CAIRN_FORCE_MAX),
    SIZE(joint_friction, CAIRN_FORCE_MAX),
    SIZE(armature, CAIRN_MASS_MAX),
    FLOAT(phase, HUGE_FLOAT),
    FLOAT(impulses[0], HUGE_FLOAT),
    FLOAT(impulses[1], HUGE_FLOAT),
    FLOAT(impulses[2], HUGE_FLOAT),
    FLOAT(impulses[3], HUGE_FLOAT),
    FLOAT(impulses[4], HUGE_FLOAT),
    FLOAT(impulses[5], HUGE_FLOAT),
    FLOAT(impulses[6], HUGE_FLOAT),
    FLOAT(impulses[7], HUGE_FLOAT),
    FLOAT(impulses[8], HUGE_FLOAT),
    FLOAT(impulses[9], HUGE_FLOAT),
    FLOAT(impulses[10], HUGE_FLOAT),
    FLOAT(impulses[11], HUGE_FLOAT),
    VEC3(reaction_force, HUGE_FLOAT),
    VEC3(reaction_torque, HUGE_FLOAT),
};
#undef ELEMENT

#define ELEMENT cairn_joint_event
static const cairn_field joint_event_fields[] = {
    WORD(kind, CAIRN_JOINT_BROKE),
    WORD(joint, ANY),
    WORD(body_a, ANY),
    WORD(body_b, ANY),
    SIZE(force, HUGE_FLOAT),
    SIZE(torque, HUGE_FLOAT),
};
#undef ELEMENT

#define ELEMENT cairn_contact
#define POINT(index)                                                                               \
    WORD(points[index].feature, ANY), SIZE(points[index].normal_impulse, HUGE_FLOAT)
static const cairn_field contact_fields[] = {
    WORD(shape_a, ANY),
    WORD(shape_b, ANY),
    WORD(body_a, ANY),
    WORD(body_b, ANY),
    WORD(part, ANY),
    WORD(axis_hint, ANY),
    WORD(point_count, CAIRN_MANIFOLD_POINTS_MAX),
    WORD(colour, CAIRN_COLOURS + 1),
    SIZE(margin, CAIRN_CONTACT_MARGIN + CAIRN_MARGIN_GROWTH_MAX),
    VEC3(reference_displacement, 2.0f * CAIRN_VALID_DISTANCE),
    WORD(reference_rotation_a.words[0], ANY),
    WORD(reference_rotation_a.words[1], ANY),
    WORD(reference_rotation_b.words[0], ANY),
    WORD(reference_rotation_b.words[1], ANY),
    POINT(0),
    POINT(1),
    POINT(2),
    POINT(3),
    FLOAT(tangent_impulse[0], HUGE_FLOAT),
    FLOAT(tangent_impulse[1], HUGE_FLOAT),
    FLOAT(tangent_impulse[2], HUGE_FLOAT),
    FLOAT(tangent_impulse[3], HUGE_FLOAT),
    FLOAT(tangent_impulse[4], HUGE_FLOAT),
    FLOAT(tangent_impulse[5], HUGE_FLOAT),
    FLOAT(tangent_impulse[6], HUGE_FLOAT),
    FLOAT(tangent_impulse[7], HUGE_FLOAT),
};
#undef ELEMENT

#define ELEMENT cairn_contact_event
static const cairn_field contact_event_fields[] = {
    WORD(kind, CAIRN_SENSOR_END),
    WORD(shape_a, ANY),
    WORD(shape_b, ANY),
    WORD(body_a, ANY),
    WORD(body_b, ANY),
    VEC3(point, HUGE_FLOAT),
    VEC3(normal, 1.01f),
    FLOAT(approach_speed, HUGE_FLOAT),
    SIZE(impulse, HUGE_FLOAT),
};
#undef ELEMENT

#define ELEMENT cairn_body_event
static const cairn_field body_event_fields[] = {
    WORD(kind, CAIRN_BODY_FELL_ASLEEP),
    WORD(body, ANY),
};
#undef ELEMENT

#define ELEMENT cairn_rules_block
static const cairn_field rules_fields[] = {WORD(words[0], ANY), WORD(words[1], ANY),
    WORD(words[2], ANY), WORD(words[3], ANY), WORD(words[4], ANY), WORD(words[5], ANY),
    WORD(words[6], ANY), WORD(words[7], ANY), WORD(words[8], ANY), WORD(words[9], ANY),
    WORD(words[10], ANY), WORD(words[11], ANY), WORD(words[12], ANY), WORD(words[13], ANY),
    WORD(words[14], ANY), WORD(words[15], ANY)};
#undef ELEMENT

#define TABLE(part, table)                                                                         \
    { .section = CAIRN_SECTION_##part, .word_count = LENGTH_OF(table), .fields = (table) }
static const cairn_field_table tables[CAIRN_ARRAY_COUNT] = {
    [CAIRN_ARRAY_SETTINGS] = TABLE(SETTINGS, settings_fields),
    [CAIRN_ARRAY_BODY_IDS] = TABLE(IDS, id_fields),
    [CAIRN_ARRAY_SHAPE_IDS] = TABLE(IDS, id_fields),
    [CAIRN_ARRAY_JOINT_IDS] = TABLE(IDS, id_fields),
    [CAIRN_ARRAY_HULL_IDS] = TABLE(IDS, id_fields),
    [CAIRN_ARRAY_MOTIONS] = TABLE(BODIES, motion_fields),
    [CAIRN_ARRAY_REFERENCE_POSES] = TABLE(CONTACTS, reference_pose_fields),
    [CAIRN_ARRAY_BODIES] = TABLE(BODIES, body_fields),
    [CAIRN_ARRAY_SLEEP] = TABLE(SLEEP, sleep_fields),
    [CAIRN_ARRAY_HULLS] = TABLE(SHAPES, hull_fields),
    [CAIRN_ARRAY_SHAPES] = TABLE(SHAPES, shape_fields),
    [CAIRN_ARRAY_JOINTS] = TABLE(JOINTS, joint_fields),
    [CAIRN_ARRAY_CONTACTS] = TABLE(CONTACTS, contact_fields),
    [CAIRN_ARRAY_CONTACT_EVENTS] = TABLE(EVENTS, contact_event_fields),
    [CAIRN_ARRAY_BODY_EVENTS] = TABLE(EVENTS, body_event_fields),
    [CAIRN_ARRAY_RULES] = TABLE(RULES, rules_fields),
    [CAIRN_ARRAY_JOINT_DRIVES] = TABLE(JOINTS, joint_drive_fields),
    [CAIRN_ARRAY_JOINT_EVENTS] = TABLE(EVENTS, joint_event_fields),
    [CAIRN_ARRAY_MESH_IDS] = TABLE(IDS, id_fields),
    [CAIRN_ARRAY_MESHES] = TABLE(SHAPES, mesh_fields),
    [CAIRN_ARRAY_MESH_BLOCKS] = TABLE(SHAPES, mesh_block_fields),
};

_Static_assert(LENGTH_OF(settings_fields) * 4 == sizeof(cairn_settings), "every word is named");
_Static_assert(LENGTH_OF(motion_fields) * 4 == sizeof(cairn_motion), "every word is named");
_Static_assert(
    LENGTH_OF(reference_pose_fields) * 4 == sizeof(cairn_reference_pose), "every word is named");
_Static_assert(LENGTH_OF(body_fields) * 4 == sizeof(cairn_body), "every word is named");
_Static_assert(LENGTH_OF(sleep_fields) * 4 == sizeof(cairn_sleep), "every word is named");
_Static_assert(LENGTH_OF(hull_fields) * 4 == sizeof(cairn_hull_vertices), "every word is named");
_Static_assert(LENGTH_OF(mesh_fields) * 4 == sizeof(cairn_mesh_header), "every word is named");
_Static_assert(LENGTH_OF(mesh_block_fields) * 4 == sizeof(cairn_mesh_block), "every word is named");
_Static_assert(LENGTH_OF(shape_fields) * 4 == sizeof(cairn_shape), "every word is named");
_Static_assert(LENGTH_OF(joint_fields) * 4 == sizeof(cairn_joint), "every word is named");
_Static_assert(
    LENGTH_OF(joint_drive_fields) * 4 == sizeof(cairn_joint_drive), "every word is named");
_Static_assert(
    LENGTH_OF(joint_event_fields) * 4 == sizeof(cairn_joint_event), "every word is named");
_Static_assert(LENGTH_OF(contact_fields) * 4 == sizeof(cairn_contact), "every word is named");
_Static_assert(
    LENGTH_OF(contact_event_fields) * 4 == sizeof(cairn_contact_event), "every word is named");
_Static_assert(LENGTH_OF(body_event_fields) * 4 == sizeof(cairn_body_event), "every word is named");
_Static_assert(LENGTH_OF(rules_fields) * 4 == sizeof(cairn_rules_block), "every word is named");

const cairn_field_table *cairn_field_table_of(cairn_array array) {
    CAIRN_ASSERT(array < CAIRN_ARRAY_COUNT);
    return &tables[array];
}

static cairn_status field_check(const cairn_field *field, uint32_t bits) {
    if (field->kind == CAIRN_FIELD_WORD) {
        return bits <= field->max ? CAIRN_OK : CAIRN_MALFORMED;
    }
    const float value = float_of_bits(bits);
    if (!float_finite(value)) {
        return CAIRN_NON_FINITE;
    }
    if (bits == 0x80000000u || float_abs(value) > field->limit) {
        return CAIRN_MALFORMED;
    }
    return field->kind == CAIRN_FIELD_SIZE && value < 0.0f ? CAIRN_MALFORMED : CAIRN_OK;
}

cairn_status cairn_fields_check(
    const cairn_field_table *table, const uint32_t *words, const char **where) {
    CAIRN_ASSERT(table->word_count <= CAIRN_ELEMENT_WORDS_MAX);
    for (uint32_t word = 0; word < table->word_count; ++word) {
        const cairn_status status = field_check(&table->fields[word], words[word]);
        if (status != CAIRN_OK) {
            *where = table->fields[word].name;
            return status;
        }
    }
    return CAIRN_OK;
}

const char *cairn_section_name(cairn_section section) {
    static const char *const names[CAIRN_SECTION_COUNT] = {
        [CAIRN_SECTION_SETTINGS] = "settings",
        [CAIRN_SECTION_BODIES] = "bodies",
        [CAIRN_SECTION_SHAPES] = "shapes",
        [CAIRN_SECTION_JOINTS] = "joints",
        [CAIRN_SECTION_CONTACTS] = "contacts",
        [CAIRN_SECTION_SLEEP] = "sleep",
        [CAIRN_SECTION_IDS] = "ids",
        [CAIRN_SECTION_RULES] = "rules",
        [CAIRN_SECTION_EVENTS] = "events",
    };
    return section < CAIRN_SECTION_COUNT ? names[section] : "unknown";
}
