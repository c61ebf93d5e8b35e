// SPDX-License-Identifier: MIT
#include "base/assert.h"
#include "base/check.h"
#include "base/game_message.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/world_settings.h"
#include <cairn/math.h>

static cairn_status check_zero(cairn_vec3 unused) {
    return cairn_check_vec3(unused, 0.0f);
}

static cairn_status check_size(float size) {
    return cairn_check_float(size, CAIRN_SHAPE_SIZE_MIN, CAIRN_SHAPE_SIZE_MAX);
}

static cairn_status check_box(cairn_vec3 half_extents) {
    const cairn_status x = check_size(half_extents.x);
    const cairn_status y = check_size(half_extents.y);
    const cairn_status z = check_size(half_extents.z);
    return x != CAIRN_OK ? x : y != CAIRN_OK ? y : z;
}

static cairn_status check_sphere(cairn_vec3 size) {
    const cairn_status rest = check_zero(cairn_vec3_of(0.0f, size.y, size.z));
    return rest != CAIRN_OK ? rest : check_size(size.x);
}

// Two points of a hull, or one and zeros.
static cairn_status check_points(const cairn_command *command) {
    const cairn_status checks[] = {
        command->buttons == 1 || command->buttons == 2 ? CAIRN_OK : CAIRN_INVALID_ARGUMENT,
        cairn_check_vec3(command->move, CAIRN_SHAPE_SIZE_MAX),
        cairn_check_vec3(command->aim, command->buttons == 1 ? 0.0f : CAIRN_SHAPE_SIZE_MAX)};
    return cairn_check_all(checks, sizeof checks / sizeof checks[0]);
}

// Checks the first `buttons` of the six numbers of `move` and `aim`; the others must be 0.
static cairn_status check_six(const cairn_command *command, cairn_status (*check)(float number)) {
    const float numbers[] = {command->move.x, command->move.y, command->move.z, command->aim.x,
        command->aim.y, command->aim.z};
    cairn_status status =
        command->buttons >= 1 && command->buttons <= 6 ? CAIRN_OK : CAIRN_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < 6 && status == CAIRN_OK; ++i) {
        status =
            i < command->buttons ? check(numbers[i]) : cairn_check_float(numbers[i], 0.0f, 0.0f);
    }
    return status;
}

static cairn_status check_height(float height) {
    return height == CAIRN_HEIGHT_HOLE
               ? CAIRN_OK
               : cairn_check_float(height, -CAIRN_SHAPE_SIZE_MAX, CAIRN_SHAPE_SIZE_MAX);
}

static cairn_status check_direction(cairn_vec3 direction) {
    return cairn_check_vec3(direction, 1.0f);
}

static cairn_status check_position(cairn_vec3 position) {
    return cairn_check_vec3(position, CAIRN_DISTANCE_MAX);
}

static cairn_status check_velocity(cairn_vec3 velocity) {
    return cairn_check_vec3(velocity, CAIRN_SPEED_MAX);
}

static cairn_status check_impulse(cairn_vec3 impulse) {
    return cairn_vec3_finite(impulse) ? CAIRN_OK : CAIRN_NON_FINITE;
}

static cairn_status check_any(cairn_vec3 vector) {
    return check_impulse(vector);
}

static cairn_status check_turn(cairn_vec3 rotation) {
    return cairn_check_vec3(rotation, CAIRN_TURN_MAX);
}

static cairn_status check_gravity(cairn_vec3 gravity) {
    return cairn_check_vec3(gravity, CAIRN_GRAVITY_MAX);
}

static cairn_status check_mass(cairn_vec3 mass) {
    const cairn_status rest = check_zero(cairn_vec3_of(0.0f, mass.y, mass.z));
    return rest != CAIRN_OK ? rest : cairn_check_float(mass.x, CAIRN_MASS_MIN, CAIRN_MASS_MAX);
}

static cairn_status check_blast(cairn_vec3 blast) {
    const cairn_status checks[] = {cairn_check_float(blast.x, 0.0f, 0.5f * CAIRN_SHAPE_SIZE_MAX),
        cairn_check_float(blast.y, 0.0f, 0.5f * CAIRN_SHAPE_SIZE_MAX),
        cairn_check_float(blast.z, -CAIRN_EXPLOSION_MAX, CAIRN_EXPLOSION_MAX)};
    return cairn_check_all(checks, 3);
}

// The greatest first and second number of each property, and which are whole; the least is 0, of
// some its negative.
static const struct {
    float x, y;
    bool whole, negative, word, vector;
    bool of_shape; // SET_SHAPE sets it, too
} properties[CAIRN_BODY_PROPERTY_LAST + 1] = {
    [CAIRN_BODY_PROPERTY_KIND] = {.x = CAIRN_BODY_DYNAMIC, .whole = true},
    [CAIRN_BODY_PROPERTY_MASS] = {.x = CAIRN_MASS_MAX},
    [CAIRN_BODY_PROPERTY_DAMPING] = {.x = CAIRN_DAMPING_MAX, .y = CAIRN_DAMPING_MAX},
    [CAIRN_BODY_PROPERTY_GRAVITY_SCALE] = {.x = CAIRN_GRAVITY_SCALE_MAX, .negative = true},
    [CAIRN_BODY_PROPERTY_LOCKS] = {.x = CAIRN_LOCKS_ALL, .whole = true},
    [CAIRN_BODY_PROPERTY_USER] = {.word = true, .of_shape = true},
    [CAIRN_BODY_PROPERTY_AWAKE] = {.x = 1.0f, .whole = true},
    [CAIRN_BODY_PROPERTY_ALLOW_SLEEP] = {.x = 1.0f, .whole = true},
    [CAIRN_BODY_PROPERTY_ENABLED] = {.x = 1.0f, .whole = true},
    [CAIRN_BODY_PROPERTY_CATEGORY] = {.word = true, .of_shape = true},
    [CAIRN_BODY_PROPERTY_MASK] = {.word = true, .of_shape = true},
    [CAIRN_BODY_PROPERTY_FRICTION] = {.x = CAIRN_FRICTION_MAX, .of_shape = true},
    [CAIRN_BODY_PROPERTY_RESTITUTION] = {.x = 1.0f, .of_shape = true},
    [CAIRN_BODY_PROPERTY_STATIC_FRICTION] = {.x = CAIRN_FRICTION_MAX, .of_shape = true},
    [CAIRN_BODY_PROPERTY_ROLLING_RESISTANCE] = {.x = CAIRN_RESISTANCE_MAX, .of_shape = true},
    [CAIRN_BODY_PROPERTY_SPIN_RESISTANCE] = {.x = CAIRN_RESISTANCE_MAX, .of_shape = true},
    [CAIRN_BODY_PROPERTY_FRICTION_COMBINE] = {.x = CAIRN_COMBINE_LAST,
        .whole = true,
        .of_shape = true},
    [CAIRN_BODY_PROPERTY_RESTITUTION_COMBINE] = {.x = CAIRN_COMBINE_LAST,
        .whole = true,
        .of_shape = true},
    [CAIRN_BODY_PROPERTY_SURFACE_VELOCITY] = {.vector = true, .of_shape = true},
    [CAIRN_BODY_PROPERTY_BULLET] = {.x = 1.0f, .whole = true},
    [CAIRN_BODY_PROPERTY_GYROSCOPIC] = {.x = 1.0f, .whole = true},
    [CAIRN_BODY_PROPERTY_OWNER] = {.x = (float)CAIRN_SLOT_NONE, .whole = true},
    [CAIRN_BODY_PROPERTY_DENSITY] = {.x = CAIRN_DENSITY_MAX, .of_shape = true},
};

// Whole, in 0 .. most. Only numbers that have passed the range check are converted.
static cairn_status check_whole(float value, float most) {
    const cairn_status status = cairn_check_float(value, 0.0f, most);
    return status == CAIRN_OK && (float)(uint32_t)value != value ? CAIRN_INVALID_ARGUMENT : status;
}

static cairn_status check_triangle(float vertices) {
    return check_whole(vertices, 16777215.0f);
}

static cairn_status check_property(const cairn_command *command) {
    const cairn_vec3 aim = command->aim;
    const cairn_vec3 move = command->move;
    const cairn_status named = check_whole(aim.x, (float)CAIRN_BODY_PROPERTY_LAST);
    if (named != CAIRN_OK || aim.x == 0.0f) {
        return named != CAIRN_OK ? named : CAIRN_INVALID_ARGUMENT;
    }
    const uint32_t i = (uint32_t)aim.x;
    if (command->kind == CAIRN_COMMAND_SET_SHAPE && !properties[i].of_shape) {
        return CAIRN_INVALID_ARGUMENT;
    }
    const float half = properties[i].word ? 65535.0f : 0.0f;
    const float least = properties[i].negative ? 0.0f - properties[i].x : 0.0f;
    if (properties[i].vector) {
        const cairn_status velocity = check_velocity(move);
        return velocity != CAIRN_OK ? velocity : check_zero(cairn_vec3_of(0.0f, aim.y, aim.z));
    }
    const cairn_status checks[] = {check_whole(aim.y, half), check_whole(aim.z, half),
        properties[i].whole ? check_whole(move.x, properties[i].x)
                            : cairn_check_float(move.x, least, properties[i].x),
        cairn_check_float(move.y, 0.0f, properties[i].y), cairn_check_float(move.z, 0.0f, 0.0f)};
    return cairn_check_all(checks, sizeof checks / sizeof checks[0]);
}

// The size of a shape that commands can make, and the rotation of its body.
static cairn_status check_shape(const cairn_command *command) {
    const cairn_vec3 size = command->move;
    const cairn_status turn = check_turn(command->aim);
    if (turn != CAIRN_OK) {
        return turn;
    }
    switch (command->buttons) {
    case CAIRN_SHAPE_BOX:
        return check_box(size);
    case CAIRN_SHAPE_SPHERE:
        return check_sphere(size);
    case CAIRN_SHAPE_CAPSULE:
    case CAIRN_SHAPE_CYLINDER:
    case CAIRN_SHAPE_CONE: {
        const cairn_status checks[] = {
            check_size(size.x), check_size(size.y), cairn_check_float(size.z, 0.0f, 0.0f)};
        return cairn_check_all(checks, sizeof checks / sizeof checks[0]);
    }
    case CAIRN_SHAPE_HULL:
    case CAIRN_SHAPE_HALF_SPACE:
    case CAIRN_SHAPE_MESH:
        return check_zero(size);
    case CAIRN_SHAPE_HEIGHT_FIELD: {
        const cairn_status checks[] = {check_size(size.x), check_size(size.y),
            check_whole(size.z, (float)CAIRN_HEIGHT_FIELD_SIDE_MAX),
            size.z < 2.0f ? CAIRN_INVALID_ARGUMENT : CAIRN_OK};
        return cairn_check_all(checks, sizeof checks / sizeof checks[0]);
    }
    default:
        return CAIRN_INVALID_ARGUMENT;
    }
}

// The ranges of a joint's property: of each number of `move`, from `least` to `most`.
typedef struct joint_range {
    cairn_vec3 least;
    cairn_vec3 most;
    bool whole; // 0 or 1
    bool word;  // in two numbers of `aim`
} joint_range;

#define JOINT_FLAG                                                                                 \
    { .most = {.x = 1.0f}, .whole = true }
#define JOINT_NUMBER(lower, upper)                                                                 \
    { .least = {.x = (lower)}, .most = {.x = (upper)}, }
#define JOINT_PAIR(x_least, x_most, y_least, y_most)                                               \
    { .least = {.x = (x_least), .y = (y_least)}, .most = {.x = (x_most), .y = (y_most)}, }
#define JOINT_VECTOR(size)                                                                         \
    { .least = {-(size), -(size), -(size)}, .most = {(size), (size), (size)}, }
#define SIZE CAIRN_SHAPE_SIZE_MAX
#define FORCE CAIRN_FORCE_MAX

// The world refuses what the joint's kind does not allow.
static const joint_range joint_ranges[CAIRN_JOINT_PROPERTY_LAST + 1] = {
    [CAIRN_JOINT_PROPERTY_ENABLED] = JOINT_FLAG,
    [CAIRN_JOINT_PROPERTY_MOTOR] = JOINT_PAIR(-SIZE, SIZE, -FORCE, FORCE),
    [CAIRN_JOINT_PROPERTY_TARGET] = JOINT_NUMBER(-SIZE, SIZE),
    [CAIRN_JOINT_PROPERTY_LIMITS] = JOINT_PAIR(-SIZE, SIZE, -FORCE, FORCE),
    [CAIRN_JOINT_PROPERTY_SPRING] = JOINT_PAIR(-SIZE, SIZE, -FORCE, FORCE),
    [CAIRN_JOINT_PROPERTY_SOFTNESS] = JOINT_PAIR(-SIZE, SIZE, -FORCE, FORCE),
    [CAIRN_JOINT_PROPERTY_STEERING] = JOINT_NUMBER(-SIZE, SIZE),
    [CAIRN_JOINT_PROPERTY_MOTOR_ON] = JOINT_FLAG,
    [CAIRN_JOINT_PROPERTY_MOTOR_VELOCITY] = JOINT_VECTOR(CAIRN_SPEED_MAX),
    [CAIRN_JOINT_PROPERTY_MOTOR_FORCE] = JOINT_PAIR(0.0f, FORCE, 0.0f, FORCE),
    [CAIRN_JOINT_PROPERTY_TARGET_POSITION] = JOINT_VECTOR(CAIRN_DISTANCE_MAX),
    [CAIRN_JOINT_PROPERTY_TARGET_ROTATION] = JOINT_VECTOR(CAIRN_TURN_MAX),
    [CAIRN_JOINT_PROPERTY_LIMITED] = JOINT_FLAG,
    [CAIRN_JOINT_PROPERTY_CONE] = JOINT_NUMBER(0.0f, CAIRN_ANGLE_MAX),
    [CAIRN_JOINT_PROPERTY_BREAK] = JOINT_PAIR(0.0f, FORCE, 0.0f, FORCE),
    [CAIRN_JOINT_PROPERTY_STEERING_SPRING] = {.most = {CAIRN_HERTZ_MAX, CAIRN_DAMPING_RATIO_MAX,
                                                  FORCE}},
    [CAIRN_JOINT_PROPERTY_RATIO] = JOINT_NUMBER(-CAIRN_ROW_MAX, CAIRN_ROW_MAX),
    [CAIRN_JOINT_PROPERTY_LENGTH] = JOINT_NUMBER(0.0f, SIZE),
    [CAIRN_JOINT_PROPERTY_DRIVE] = JOINT_PAIR(0.0f, FORCE, 0.0f, FORCE),
    [CAIRN_JOINT_PROPERTY_DRIVE_TORQUE] = JOINT_VECTOR(FORCE),
    [CAIRN_JOINT_PROPERTY_FRICTION] = JOINT_NUMBER(0.0f, FORCE),
    [CAIRN_JOINT_PROPERTY_ARMATURE] = JOINT_NUMBER(0.0f, CAIRN_MASS_MAX),
    [CAIRN_JOINT_PROPERTY_ANCHOR_A] = JOINT_VECTOR(CAIRN_DISTANCE_MAX),
    [CAIRN_JOINT_PROPERTY_ANCHOR_B] = JOINT_VECTOR(CAIRN_DISTANCE_MAX),
    [CAIRN_JOINT_PROPERTY_AXIS_A] = JOINT_VECTOR(1.1f),
    [CAIRN_JOINT_PROPERTY_AXIS_B] = JOINT_VECTOR(1.1f),
    [CAIRN_JOINT_PROPERTY_NORMAL_A] = JOINT_VECTOR(1.1f),
    [CAIRN_JOINT_PROPERTY_NORMAL_B] = JOINT_VECTOR(1.1f),
    [CAIRN_JOINT_PROPERTY_FIXED_A] = JOINT_VECTOR(CAIRN_DISTANCE_MAX),
    [CAIRN_JOINT_PROPERTY_FIXED_B] = JOINT_VECTOR(CAIRN_DISTANCE_MAX),
    [CAIRN_JOINT_PROPERTY_USER] = {.word = true},
    [CAIRN_JOINT_PROPERTY_NAME] = {.word = true},
    [CAIRN_JOINT_PROPERTY_ROW_LINEAR_A] = JOINT_VECTOR(CAIRN_ROW_MAX),
    [CAIRN_JOINT_PROPERTY_ROW_ANGULAR_A] = JOINT_VECTOR(CAIRN_ROW_MAX),
    [CAIRN_JOINT_PROPERTY_ROW_LINEAR_B] = JOINT_VECTOR(CAIRN_ROW_MAX),
    [CAIRN_JOINT_PROPERTY_ROW_ANGULAR_B] = JOINT_VECTOR(CAIRN_ROW_MAX),
    [CAIRN_JOINT_PROPERTY_ROW_BOUNDS] = {.least = {-FORCE, -FORCE, -CAIRN_SPEED_MAX},
        .most = {FORCE, FORCE, CAIRN_SPEED_MAX}},
};

static cairn_status check_joint_property(const cairn_command *command) {
    const cairn_vec3 aim = command->aim;
    const cairn_vec3 move = command->move;
    const cairn_status named = check_whole(aim.x, (float)CAIRN_JOINT_PROPERTY_LAST);
    if (named != CAIRN_OK || aim.x == 0.0f) {
        return named != CAIRN_OK ? named : CAIRN_INVALID_ARGUMENT;
    }
    const joint_range *range = &joint_ranges[(uint32_t)aim.x];
    const float half = range->word ? 65535.0f : 0.0f;
    const cairn_status checks[] = {range->whole
                                       ? check_whole(move.x, range->most.x)
                                       : cairn_check_float(move.x, range->least.x, range->most.x),
        cairn_check_float(move.y, range->least.y, range->most.y),
        cairn_check_float(move.z, range->least.z, range->most.z), check_whole(aim.y, half),
        check_whole(aim.z, half)};
    return cairn_check_all(checks, sizeof checks / sizeof checks[0]);
}

static cairn_status check_new_joint(const cairn_command *command) {
    const cairn_vec3 aim = command->aim;
    const cairn_status checks[] = {check_position(command->move),
        check_whole(aim.x, (float)CAIRN_JOINT_ROW),
        aim.x == 0.0f ? CAIRN_INVALID_ARGUMENT : CAIRN_OK,
        cairn_check_float(aim.y, -CAIRN_SHAPE_SIZE_MAX, CAIRN_SHAPE_SIZE_MAX),
        aim.z == CAIRN_BREAK_FORCE_ARTICULATED ? CAIRN_OK
                                               : cairn_check_float(aim.z, 0.0f, CAIRN_FORCE_MAX)};
    return cairn_check_all(checks, sizeof checks / sizeof checks[0]);
}

// Pieces, crowding and least thickness.
static cairn_status check_fracture(const cairn_command *command) {
    const cairn_vec3 aim = command->aim;
    const cairn_status checks[] = {check_position(command->move),
        check_whole(aim.x, (float)CAIRN_FRACTURE_PIECES_MAX),
        aim.x < 2.0f ? CAIRN_INVALID_ARGUMENT : CAIRN_OK, cairn_check_float(aim.y, 0.0f, 1.0f),
        cairn_check_float(aim.z, 0.0f, CAIRN_SHAPE_SIZE_MAX)};
    return cairn_check_all(checks, sizeof checks / sizeof checks[0]);
}

static cairn_status check_message(const cairn_command *command) {
    uint8_t bytes[CAIRN_MESSAGE_PIECE_SIZE];
    const float numbers[] = {command->move.x, command->move.y, command->move.z, command->aim.x,
        command->aim.y, command->aim.z};
    for (uint32_t i = 0; i < 6; ++i) {
        const cairn_status status = check_whole(numbers[i], 16777215.0f);
        const bool negative = cairn_float_bits(numbers[i]) >> 31 != 0; // -0
        if (status != CAIRN_OK || negative) {
            return status != CAIRN_OK ? status : CAIRN_INVALID_ARGUMENT;
        }
    }
    const cairn_message_piece piece = cairn_message_piece_read(command, bytes);
    return piece.size == 0 ? CAIRN_INVALID_ARGUMENT : CAIRN_OK;
}

static bool is_players(uint32_t kind) {
    return kind <= CAIRN_COMMAND_INPUT || kind == CAIRN_COMMAND_INPUT_SECOND ||
           kind == CAIRN_COMMAND_INPUT_THIRD;
}

// The range checks of a kind's two vectors.
static const struct {
    cairn_status (*move)(cairn_vec3 move);
    cairn_status (*aim)(cairn_vec3 aim);
} ranges[] = {
    [CAIRN_COMMAND_JOIN] = {check_direction, check_direction},
    [CAIRN_COMMAND_LEAVE] = {check_direction, check_direction},
    [CAIRN_COMMAND_INPUT] = {check_direction, check_direction},
    [CAIRN_COMMAND_SPAWN_BOX] = {check_position, check_box},
    [CAIRN_COMMAND_SPAWN_SPHERE] = {check_position, check_sphere},
    [CAIRN_COMMAND_DESTROY] = {check_zero, check_zero},
    [CAIRN_COMMAND_SET_POSITION] = {check_position, check_zero},
    [CAIRN_COMMAND_SET_VELOCITY] = {check_velocity, check_velocity},
    [CAIRN_COMMAND_IMPULSE] = {check_impulse, check_zero},
    [CAIRN_COMMAND_FORCE] = {check_any, check_any},
    [CAIRN_COMMAND_FORCE_AT] = {check_any, check_position},
    [CAIRN_COMMAND_IMPULSE_AT] = {check_impulse, check_position},
    [CAIRN_COMMAND_TURN] = {check_impulse, check_zero},
    [CAIRN_COMMAND_SET_TARGET] = {check_position, check_turn},
    [CAIRN_COMMAND_SET_GRAVITY] = {check_gravity, check_zero},
    [CAIRN_COMMAND_EXPLODE] = {check_position, check_blast},
    [CAIRN_COMMAND_DESTROY_JOINT] = {check_zero, check_zero},
    [CAIRN_COMMAND_JOINT] = {check_position, check_position},
    [CAIRN_COMMAND_SPAWN] = {check_position, check_zero},
    [CAIRN_COMMAND_HOST] = {check_any, check_any},
    [CAIRN_COMMAND_INPUT_SECOND] = {check_direction, check_direction},
    [CAIRN_COMMAND_INPUT_THIRD] = {check_direction, check_direction},
    [CAIRN_COMMAND_SET_POSE] = {check_position, check_turn},
    [CAIRN_COMMAND_INERTIA] = {check_any, check_any},
    [CAIRN_COMMAND_SET_MASS] = {check_position, check_mass},
    [CAIRN_COMMAND_SHAPE_POSE] = {check_position, check_turn},
    [CAIRN_COMMAND_SHIELD] = {check_zero, check_zero},
    [CAIRN_COMMAND_SEED] = {check_zero, check_zero},
};

cairn_status cairn_command_check(const cairn_command *command) {
    CAIRN_ASSERT(command != NULL);
    if (command->kind < CAIRN_COMMAND_JOIN || command->kind > CAIRN_COMMAND_LAST ||
        command->slot > CAIRN_SLOT_OPERATOR ||
        (command->slot == CAIRN_SLOT_OPERATOR) == is_players(command->kind)) {
        return CAIRN_INVALID_ARGUMENT;
    }
    switch (command->kind) {
    case CAIRN_COMMAND_MESSAGE:
        return check_message(command);
    case CAIRN_COMMAND_SET_BODY:
    case CAIRN_COMMAND_SET_SHAPE:
        return check_property(command);
    case CAIRN_COMMAND_SET_JOINT:
        return check_joint_property(command);
    case CAIRN_COMMAND_HULL_POINTS:
        return check_points(command);
    case CAIRN_COMMAND_SHAPE:
        return check_shape(command);
    case CAIRN_COMMAND_TRIANGLES:
        return check_six(command, check_triangle);
    case CAIRN_COMMAND_HEIGHTS:
        return check_six(command, check_height);
    case CAIRN_COMMAND_CREATE_JOINT:
        return check_new_joint(command);
    case CAIRN_COMMAND_FRACTURE:
        return check_fracture(command);
    default: {
        const cairn_status move = ranges[command->kind].move(command->move);
        return move != CAIRN_OK ? move : ranges[command->kind].aim(command->aim);
    }
    }
}

#define COMMAND_WORDS 10

static void words_of(const cairn_command *command, uint32_t words[COMMAND_WORDS]) {
    CAIRN_ASSERT(command != NULL);
    words[0] = command->slot;
    words[1] = command->kind;
    words[2] = command->sequence;
    words[3] = command->buttons;
    words[4] = cairn_float_bits(command->move.x);
    words[5] = cairn_float_bits(command->move.y);
    words[6] = cairn_float_bits(command->move.z);
    words[7] = cairn_float_bits(command->aim.x);
    words[8] = cairn_float_bits(command->aim.y);
    words[9] = cairn_float_bits(command->aim.z);
}

// The words in the order of the sort keys: an operator's commands are applied in the order in which
// they were sent, for all kinds.
static void ordered_words_of(const cairn_command *command, uint32_t words[COMMAND_WORDS]) {
    words_of(command, words);
    if (command->slot == CAIRN_SLOT_OPERATOR) {
        words[1] = command->sequence;
        words[2] = command->kind;
    }
}

bool cairn_command_before(const cairn_command *a, const cairn_command *b) {
    uint32_t left[COMMAND_WORDS];
    uint32_t right[COMMAND_WORDS];
    ordered_words_of(a, left);
    ordered_words_of(b, right);
    for (int i = 0; i < COMMAND_WORDS; ++i) {
        if (left[i] != right[i]) {
            return left[i] < right[i];
        }
    }
    return false;
}

// By insertion: a tick has few commands and they come nearly sorted.
void cairn_commands_sort(cairn_command *commands, uint32_t count) {
    CAIRN_ASSERT(count == 0 || commands != NULL);
    for (uint32_t i = 1; i < count; ++i) {
        const cairn_command moving = commands[i];
        uint32_t at = i;
        while (at > 0 && cairn_command_before(&moving, &commands[at - 1])) {
            commands[at] = commands[at - 1];
            --at;
        }
        commands[at] = moving;
        CAIRN_ASSERT(at == 0 || !cairn_command_before(&commands[at], &commands[at - 1]));
    }
}

cairn_hash128 cairn_commands_digest(uint64_t tick, const cairn_command *commands, uint32_t count) {
    CAIRN_ASSERT(count == 0 || commands != NULL);
    const uint32_t head[3] = {(uint32_t)tick, (uint32_t)(tick >> 32), count};
    cairn_hash128 digest = cairn_hash_words(UINT64_MAX, head, 3);
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t words[COMMAND_WORDS];
        words_of(&commands[i], words);
        digest = cairn_hash_add(digest, cairn_hash_words(i, words, COMMAND_WORDS));
    }
    return digest;
}
