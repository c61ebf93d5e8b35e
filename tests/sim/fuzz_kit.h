// SPDX-License-Identifier: MIT
#pragma once

// Shared by the fuzzers of states: a world with many kinds of things in it, and words of a sound
// encoding that the input changes.

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "tests/sim/golden_scenes.h"

static inline const golden_scene *fuzz_scene(void) {
    return &golden_scenes[3]; // joints
}

static inline cairn_world *fuzz_world(void) {
    const golden_scene *scene = fuzz_scene();
    cairn_world *world = golden_create(scene);
    CAIRN_ASSERT(world != NULL);
    scene->build(world);
    for (uint32_t i = 0; i < 60; ++i) {
        golden_step(scene, world);
    }
    return world;
}

// Six bytes of data are a place in the sound bytes and the word to write there.
static inline size_t fuzz_patch(
    uint8_t *bytes, const uint8_t *sound, size_t sound_size, const uint8_t *data, size_t size) {
    cairn_reader reader = cairn_reader_of(data, size);
    memcpy(bytes, sound, sound_size);
    while (cairn_reader_left(&reader) >= 6) {
        const size_t at = 4 * (size_t)(cairn_read_u16(&reader) % (sound_size / 4));
        cairn_writer writer = cairn_writer_of(bytes + at, 4);
        cairn_write_u32(&writer, cairn_read_u32(&reader));
    }
    return sound_size;
}
