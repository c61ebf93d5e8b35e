// SPDX-License-Identifier: MIT
#include "program/control_words.h"

#include <string.h>

#include <cairn/joint.h>
#include <cairn/sim.h>

static const char *const properties[CAIRN_BODY_PROPERTY_LAST + 1] = {
    [CAIRN_BODY_PROPERTY_KIND] = "kind",
    [CAIRN_BODY_PROPERTY_MASS] = "mass",
    [CAIRN_BODY_PROPERTY_DAMPING] = "damping",
    [CAIRN_BODY_PROPERTY_GRAVITY_SCALE] = "gravity-scale",
    [CAIRN_BODY_PROPERTY_LOCKS] = "locks",
    [CAIRN_BODY_PROPERTY_USER] = "user",
    [CAIRN_BODY_PROPERTY_AWAKE] = "awake",
    [CAIRN_BODY_PROPERTY_ALLOW_SLEEP] = "allow-sleep",
    [CAIRN_BODY_PROPERTY_ENABLED] = "enabled",
    [CAIRN_BODY_PROPERTY_CATEGORY] = "category",
    [CAIRN_BODY_PROPERTY_MASK] = "mask",
    [CAIRN_BODY_PROPERTY_FRICTION] = "friction",
    [CAIRN_BODY_PROPERTY_RESTITUTION] = "restitution",
    [CAIRN_BODY_PROPERTY_STATIC_FRICTION] = "static-friction",
    [CAIRN_BODY_PROPERTY_ROLLING_RESISTANCE] = "rolling-resistance",
    [CAIRN_BODY_PROPERTY_SPIN_RESISTANCE] = "spin-resistance",
    [CAIRN_BODY_PROPERTY_FRICTION_COMBINE] = "friction-combine",
    [CAIRN_BODY_PROPERTY_RESTITUTION_COMBINE] = "restitution-combine",
    [CAIRN_BODY_PROPERTY_SURFACE_VELOCITY] = "surface-velocity",
    [CAIRN_BODY_PROPERTY_BULLET] = "bullet",
    [CAIRN_BODY_PROPERTY_GYROSCOPIC] = "gyroscopic",
    [CAIRN_BODY_PROPERTY_OWNER] = "owner",
    [CAIRN_BODY_PROPERTY_DENSITY] = "density",
};
static const char *const joint_properties[CAIRN_JOINT_PROPERTY_LAST + 1] = {
    [CAIRN_JOINT_PROPERTY_ENABLED] = "enabled",
    [CAIRN_JOINT_PROPERTY_MOTOR] = "motor",
    [CAIRN_JOINT_PROPERTY_TARGET] = "target",
    [CAIRN_JOINT_PROPERTY_LIMITS] = "limits",
    [CAIRN_JOINT_PROPERTY_SPRING] = "spring",
    [CAIRN_JOINT_PROPERTY_SOFTNESS] = "softness",
    [CAIRN_JOINT_PROPERTY_STEERING] = "steering",
    [CAIRN_JOINT_PROPERTY_MOTOR_ON] = "motor-on",
    [CAIRN_JOINT_PROPERTY_MOTOR_VELOCITY] = "motor-velocity",
    [CAIRN_JOINT_PROPERTY_MOTOR_FORCE] = "motor-force",
    [CAIRN_JOINT_PROPERTY_TARGET_POSITION] = "target-position",
    [CAIRN_JOINT_PROPERTY_TARGET_ROTATION] = "target-rotation",
    [CAIRN_JOINT_PROPERTY_LIMITED] = "limited",
    [CAIRN_JOINT_PROPERTY_CONE] = "cone",
    [CAIRN_JOINT_PROPERTY_BREAK] = "break",
    [CAIRN_JOINT_PROPERTY_STEERING_SPRING] = "steering-spring",
    [CAIRN_JOINT_PROPERTY_RATIO] = "ratio",
    [CAIRN_JOINT_PROPERTY_LENGTH] = "length",
    [CAIRN_JOINT_PROPERTY_DRIVE] = "drive",
    [CAIRN_JOINT_PROPERTY_DRIVE_TORQUE] = "drive-torque",
    [CAIRN_JOINT_PROPERTY_FRICTION] = "friction",
    [CAIRN_JOINT_PROPERTY_ARMATURE] = "armature",
    [CAIRN_JOINT_PROPERTY_ANCHOR_A] = "anchor-a",
    [CAIRN_JOINT_PROPERTY_ANCHOR_B] = "anchor-b",
    [CAIRN_JOINT_PROPERTY_AXIS_A] = "axis-a",
    [CAIRN_JOINT_PROPERTY_AXIS_B] = "axis-b",
    [CAIRN_JOINT_PROPERTY_NORMAL_A] = "normal-a",
    [CAIRN_JOINT_PROPERTY_NORMAL_B] = "normal-b",
    [CAIRN_JOINT_PROPERTY_FIXED_A] = "fixed-a",
    [CAIRN_JOINT_PROPERTY_FIXED_B] = "fixed-b",
    [CAIRN_JOINT_PROPERTY_USER] = "user",
    [CAIRN_JOINT_PROPERTY_NAME] = "name",
    [CAIRN_JOINT_PROPERTY_ROW_LINEAR_A] = "row-linear-a",
    [CAIRN_JOINT_PROPERTY_ROW_ANGULAR_A] = "row-angular-a",
    [CAIRN_JOINT_PROPERTY_ROW_LINEAR_B] = "row-linear-b",
    [CAIRN_JOINT_PROPERTY_ROW_ANGULAR_B] = "row-angular-b",
    [CAIRN_JOINT_PROPERTY_ROW_BOUNDS] = "row-bounds",
};
static const char *const shapes[CAIRN_SHAPE_HEIGHT_FIELD + 1] = {
    [CAIRN_SHAPE_SPHERE] = "sphere",
    [CAIRN_SHAPE_CAPSULE] = "capsule",
    [CAIRN_SHAPE_BOX] = "box",
    [CAIRN_SHAPE_HALF_SPACE] = "half-space",
    [CAIRN_SHAPE_HULL] = "hull",
    [CAIRN_SHAPE_CYLINDER] = "cylinder",
    [CAIRN_SHAPE_CONE] = "cone",
    [CAIRN_SHAPE_MESH] = "mesh",
    [CAIRN_SHAPE_HEIGHT_FIELD] = "height-field",
};
static const char *const joints[CAIRN_JOINT_ROW + 1] = {
    [CAIRN_JOINT_BALL] = "ball",
    [CAIRN_JOINT_DISTANCE] = "distance",
    [CAIRN_JOINT_HINGE] = "hinge",
    [CAIRN_JOINT_CONE] = "cone",
    [CAIRN_JOINT_PRISMATIC] = "prismatic",
    [CAIRN_JOINT_WELD] = "weld",
    [CAIRN_JOINT_WHEEL] = "wheel",
    [CAIRN_JOINT_MOTOR] = "motor",
    [CAIRN_JOINT_GEAR] = "gear",
    [CAIRN_JOINT_PULLEY] = "pulley",
    [CAIRN_JOINT_ROW] = "row",
};
static const char *const pushes[] = {"force", "force-at", "impulse-at", "turn"};

typedef struct word_list {
    const char *member;
    const char *const *words;
    uint32_t count;
} word_list;

#define LIST(member, words)                                                                        \
    { member, words, sizeof(words) / sizeof *(words) }

static word_list find_list(uint32_t verb) {
    switch (verb) {
    case CAIRN_CONTROL_SET_BODY:
    case CAIRN_CONTROL_SET_SHAPE:
        return (word_list)LIST("property", properties);
    case CAIRN_CONTROL_SET_JOINT:
        return (word_list)LIST("property", joint_properties);
    case CAIRN_CONTROL_SPAWN:
    case CAIRN_CONTROL_SPAWN_COMPOUND:
        return (word_list)LIST("shape", shapes);
    case CAIRN_CONTROL_CREATE_JOINT:
        return (word_list)LIST("kind", joints);
    case CAIRN_CONTROL_PUSH:
        return (word_list)LIST("kind", pushes);
    default:
        return (word_list){.member = ""};
    }
}

const char *cairn_control_word_member(uint32_t verb) {
    return find_list(verb).member;
}

uint32_t cairn_control_word_count(uint32_t verb) {
    return find_list(verb).count;
}

const char *cairn_control_word_at(uint32_t verb, uint32_t number) {
    const word_list list = find_list(verb);
    return number < list.count ? list.words[number] : NULL;
}

bool cairn_control_word_find(uint32_t verb, const char *word, uint32_t *out) {
    const word_list list = find_list(verb);
    for (uint32_t i = 0; i < list.count; ++i) {
        if (list.words[i] != NULL && strcmp(list.words[i], word) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}
