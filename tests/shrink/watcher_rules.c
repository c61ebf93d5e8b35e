// SPDX-License-Identifier: MIT
// Rules that watch the body named "watched". Three builds have a fault of one name and version.

#include <stdlib.h>

#include <cairn/sim.h>

#define LOW 0.8f // m: it has fallen

static bool is_low(const cairn_world *world) {
    cairn_body_state body;
    return cairn_body_read(world, cairn_world_find_body(world, "watched"), &body) == CAIRN_OK &&
           body.position.y < LOW;
}

static void step(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    (void)commands;
    *(uint32_t *)state += command_count;
#ifdef WATCHER_PUSHES
    if (is_low(world)) {
        (void)cairn_body_apply_impulse_at_centre(
            world, cairn_world_find_body(world, "watched"), (cairn_vec3){.x = 1.0f});
    }
#else
    (void)world;
#endif
}

static void after_step(cairn_world *world, void *state) {
    (void)state;
#ifdef WATCHER_ASSERTS
    if (is_low(world)) {
        abort();
    }
#elif defined(WATCHER_REMEMBERS)
    static uint32_t times; // not part of the state: a restored world goes on with another number
    if (is_low(world)) {
        (void)cairn_body_set_user(world, cairn_world_find_body(world, "watched"), ++times);
    }
#else
    (void)is_low(world);
#endif
}

static const cairn_rules watcher = {
    .name = "watcher", .version = 1, .state_size = 4, .step = step, .after_step = after_step};
CAIRN_RULES_EXPORT(&watcher);
