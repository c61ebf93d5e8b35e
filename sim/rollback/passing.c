// SPDX-License-Identifier: MIT
// Bodies so fast that they may pass through others. Such a body counts as a bullet
// (cairn_body_may_pass), and may meet in a tick what is far from it before and after. So its box is
// enlarged by how far it travels.

#include <string.h>

#include "sim/collide/pair_cache.h"
#include "sim/rollback/parts.h"
#include "sim/state/hash_cache.h"

// In the corrected past a body may become somewhat faster than it was.
#define FASTER 1.1f

static void add_speed(cairn_rollback *r, uint32_t slot, float speed) {
    const float travel = FASTER * world_time_step(r->world) * speed;
    if (travel > r->travel[slot] && cairn_body_may_pass(r->world->pair_cache, slot, travel)) {
        r->travel[slot] = travel;
    }
}

static void measure_speeds(cairn_rollback *r, const cairn_tick_state *from) {
    const uint32_t shift = cairn_hash_cache_block_shift(CAIRN_ARRAY_MOTIONS);
    const uint32_t within = (1u << shift) - 1;
    const cairn_motion *motions = NULL;
    uint32_t known = UINT32_MAX;
    for (uint32_t i = 0; i < r->dynamic_count; ++i) {
        const uint32_t slot = r->dynamic[i];
        if (slot >> shift != known) {
            known = slot >> shift;
            motions = cairn_tick_state_block(from, CAIRN_ARRAY_MOTIONS, known);
        }
        add_speed(r, slot, vec3_length(motions[slot & within].linear_velocity));
    }
}

// The speed, m/s, that the commands of a tick may give to a body at once.
static float pushed_speed(
    const cairn_rollback *r, const cairn_command *commands, uint32_t count, cairn_body_id body) {
    const float inverse_mass = r->world->state.bodies[cairn_id_index(body)].inverse_mass;
    float speed = 0.0f;
    for (uint32_t i = 0; i < count; ++i) {
        if (commands[i].slot != CAIRN_SLOT_OPERATOR || commands[i].buttons != body) {
            continue;
        }
        const float size = vec3_length(commands[i].move);
        if (commands[i].kind == CAIRN_COMMAND_SET_VELOCITY) {
            speed += size;
        } else if (commands[i].kind == CAIRN_COMMAND_IMPULSE ||
                   commands[i].kind == CAIRN_COMMAND_IMPULSE_AT) {
            speed += size * inverse_mass;
        }
    }
    return speed;
}

static void measure_pushes(cairn_rollback *r, const cairn_tick_state *from,
    const cairn_command *commands, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        if (commands[i].slot != CAIRN_SLOT_OPERATOR) {
            continue;
        }
        const uint32_t slot = cairn_id_index(commands[i].buttons);
        cairn_motion motion;
        cairn_tick_state_read(from, CAIRN_ARRAY_MOTIONS, slot, 1, &motion);
        add_speed(r, slot,
            vec3_length(motion.linear_velocity) +
                pushed_speed(r, commands, count, commands[i].buttons));
    }
}

void cairn_rollback_measure_travel(cairn_rollback *r, const cairn_rollback_tick *ticks) {
    memset(r->travel, 0, r->world->state.settings->body_slots * sizeof *r->travel);
    for (uint32_t i = r->first; i < r->count; ++i) {
        measure_speeds(r, &r->sources[i]);
        measure_pushes(r, &r->sources[i], ticks[i].before, ticks[i].before_count);
        measure_pushes(r, &r->sources[i], ticks[i].after, ticks[i].after_count);
    }
    for (uint32_t i = 0; i < r->dynamic_count; ++i) {
        r->reaches[i] += r->travel[r->dynamic[i]];
    }
}

bool cairn_rollback_travel_kept(const cairn_rollback *r) {
    const cairn_world *part = r->part;
    const cairn_pair_cache *cache = part->pair_cache;
    for (uint32_t i = 0; i < cache->bullet_count; ++i) {
        const uint32_t body = part->state.shapes[cache->bullets[i]].body;
        if (vec3_length(cache->predicted_motions[body].displacement) > r->travel[body]) {
            return false;
        }
    }
    return true;
}
