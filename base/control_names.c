// SPDX-License-Identifier: MIT

// The texts of <cairn/control.h>.

#include <stddef.h>
#include <string.h>

#include <cairn/control.h>

#include "base/assert.h"

static const char *const verbs[CAIRN_CONTROL_VERB_COUNT] = {
    [CAIRN_CONTROL_FEATURES] = "features",
    [CAIRN_CONTROL_ROOMS] = "rooms",
    [CAIRN_CONTROL_STATE] = "state",
    [CAIRN_CONTROL_CLIENTS] = "clients",
    [CAIRN_CONTROL_PAUSE] = "pause",
    [CAIRN_CONTROL_RESUME] = "resume",
    [CAIRN_CONTROL_STEP] = "step",
    [CAIRN_CONTROL_RUN_UNTIL] = "run-until",
    [CAIRN_CONTROL_RATE] = "rate",
    [CAIRN_CONTROL_RESET] = "reset",
    [CAIRN_CONTROL_SAVE] = "save",
    [CAIRN_CONTROL_LOAD] = "load",
    [CAIRN_CONTROL_SAVES] = "saves",
    [CAIRN_CONTROL_SAVE_READ] = "save-read",
    [CAIRN_CONTROL_SAVE_WRITE] = "save-write",
    [CAIRN_CONTROL_SAVE_DELETE] = "save-delete",
    [CAIRN_CONTROL_SEEK] = "seek",
    [CAIRN_CONTROL_FORK] = "fork",
    [CAIRN_CONTROL_ROOM_CREATE] = "room-create",
    [CAIRN_CONTROL_ROOM_DESTROY] = "room-destroy",
    [CAIRN_CONTROL_SPAWN_BOX] = "spawn-box",
    [CAIRN_CONTROL_SPAWN_SPHERE] = "spawn-sphere",
    [CAIRN_CONTROL_DELETE] = "delete",
    [CAIRN_CONTROL_SET_POSITION] = "set-position",
    [CAIRN_CONTROL_SET_VELOCITY] = "set-velocity",
    [CAIRN_CONTROL_IMPULSE] = "impulse",
    [CAIRN_CONTROL_GET] = "get",
    [CAIRN_CONTROL_BODIES] = "bodies",
    [CAIRN_CONTROL_RAY] = "ray",
    [CAIRN_CONTROL_OVERLAP] = "overlap",
    [CAIRN_CONTROL_HASH] = "hash",
    [CAIRN_CONTROL_DIFF] = "diff",
    [CAIRN_CONTROL_FAULTS] = "faults",
    [CAIRN_CONTROL_SET_BODY] = "set-body",
    [CAIRN_CONTROL_PUSH] = "push",
    [CAIRN_CONTROL_SET_TARGET] = "set-target",
    [CAIRN_CONTROL_SET_GRAVITY] = "set-gravity",
    [CAIRN_CONTROL_EXPLODE] = "explode",
    [CAIRN_CONTROL_JOINTS] = "joints",
    [CAIRN_CONTROL_SET_JOINT] = "set-joint",
    [CAIRN_CONTROL_DELETE_JOINT] = "delete-joint",
    [CAIRN_CONTROL_CAST] = "cast",
    [CAIRN_CONTROL_CLOSEST] = "closest",
    [CAIRN_CONTROL_SPAWN] = "spawn",
    [CAIRN_CONTROL_CREATE_JOINT] = "create-joint",
    [CAIRN_CONTROL_ACT] = "act",
    [CAIRN_CONTROL_GET_JOINT] = "get-joint",
    [CAIRN_CONTROL_SET_ROW] = "set-row",
    [CAIRN_CONTROL_SET_POSE] = "set-pose",
    [CAIRN_CONTROL_SET_MASS] = "set-mass",
    [CAIRN_CONTROL_SET_SHAPE] = "set-shape",
    [CAIRN_CONTROL_GET_BODY] = "get-body",
    [CAIRN_CONTROL_SHAPES] = "shapes",
    [CAIRN_CONTROL_SPAWN_COMPOUND] = "spawn-compound",
    [CAIRN_CONTROL_SPAWN_MESH] = "spawn-mesh",
    [CAIRN_CONTROL_SPAWN_HEIGHT_FIELD] = "spawn-height-field",
    [CAIRN_CONTROL_FRACTURE] = "fracture",
};

const char *cairn_control_verb_text(uint32_t verb) {
    CAIRN_ASSERT(verb == 0 || verb >= CAIRN_CONTROL_VERB_COUNT || verbs[verb] != NULL);
    return verb < CAIRN_CONTROL_VERB_COUNT ? verbs[verb] : NULL;
}

uint32_t cairn_control_verb_find(const char *text) {
    CAIRN_ASSERT(text != NULL);
    for (uint32_t verb = 1; verb < CAIRN_CONTROL_VERB_COUNT; ++verb) {
        if (strcmp(verbs[verb], text) == 0) {
            return verb;
        }
    }
    return 0;
}

const char *cairn_control_refusal_text(uint32_t refusal) {
    static const char *const texts[CAIRN_CONTROL_REFUSAL_COUNT] = {
        [CAIRN_CONTROL_DONE] = "done",
        [CAIRN_CONTROL_NO_RIGHT] = "no right",
        [CAIRN_CONTROL_CLOSED] = "control is not enabled",
        [CAIRN_CONTROL_VERB_UNKNOWN] = "unknown verb",
        [CAIRN_CONTROL_ROOM_UNKNOWN] = "no such room",
        [CAIRN_CONTROL_BODY_UNKNOWN] = "no such body",
        [CAIRN_CONTROL_NAME_UNKNOWN] = "nothing has this name",
        [CAIRN_CONTROL_OUT_OF_RANGE] = "out of range",
        [CAIRN_CONTROL_TICK_GONE] = "the tick is not held",
        [CAIRN_CONTROL_FOREIGN] = "a foreign state",
        [CAIRN_CONTROL_CAPACITY] = "beyond capacity",
        [CAIRN_CONTROL_NOT_PAUSED] = "the room is not paused",
        [CAIRN_CONTROL_BUSY] = "busy",
        [CAIRN_CONTROL_NAME_TAKEN] = "the name is taken or not valid",
        [CAIRN_CONTROL_NOT_RECORDED] = "not recorded",
        [CAIRN_CONTROL_ROOM_CLOSED] = "the room was closed",
    };
    CAIRN_ASSERT(refusal >= CAIRN_CONTROL_REFUSAL_COUNT || texts[refusal] != NULL);
    return refusal < CAIRN_CONTROL_REFUSAL_COUNT ? texts[refusal] : "another refusal";
}
