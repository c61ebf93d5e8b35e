// SPDX-License-Identifier: MIT
#pragma once

// What a room of a scene costs: its ticks are stepped and hashed on this machine with all its
// players. They push in random directions if the scene's rules take the usual input. Sending to
// clients is not measured. For cairnd alone.

#include <stdbool.h>
#include <stdint.h>

#include "schema/scene.h"

// Of a processor that ticks should take, per cent, so that the rest receives and sends.
#define CAIRN_CALIBRATION_SHARE 80

typedef struct cairn_calibration {
    uint32_t rate_hz;
    uint32_t players;
    uint32_t bodies; // at the end
    uint32_t ticks;  // measured
    uint64_t mean_ns;
    uint64_t p99_ns;
    uint64_t rooms; // that one processor steps in its share
} cairn_calibration;

// `rate_hz` 0: the scene's. Takes some seconds at most. False: `error` says why the world cannot be
// built.
bool cairn_calibrate(const cairn_scene *scene, uint32_t rate_hz, uint32_t players,
    cairn_calibration *out, char error[CAIRN_SCENE_ERROR_SIZE]);
// On standard output, for people or as a line of JSON.
void cairn_calibration_print(
    const cairn_calibration *found, const char *name, const char *scene_name, bool json);
