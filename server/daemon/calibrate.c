// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "server/daemon/calibrate.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/game_input.h"
#include "base/histogram.h"
#include "base/random.h"
#include "bridge/scene_world.h"
#include "sim/math/float_env.h"
#include <cairn/server_uv.h>
#include <cairn/sim.h>

// Until the world has come to rest as far as it does, and measured.
#define WARM_S 2
#define MEASURED_S 4
#define TIME_NS_MAX (6 * CAIRN_NS_PER_S)

// Of this thread: what else runs on the machine does not count.
static uint64_t processor_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * CAIRN_NS_PER_S + (uint64_t)now.tv_nsec;
}

// The commands of a tick: all players join in the first one.
static uint32_t make_commands(const cairn_rules *rules, uint32_t players, bool first,
    cairn_random *random, cairn_command *out) {
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < players; ++slot) {
        if (first) {
            out[count++] = (cairn_command){.kind = CAIRN_COMMAND_JOIN, .slot = slot};
        } else if (cairn_input_parts_of(rules) == 1 && (rules == NULL || rules->input_count == 0)) {
            out[count++] = (cairn_command){.kind = CAIRN_COMMAND_INPUT,
                .slot = slot,
                .move = {cairn_random_unit(random) * 2.0f - 1.0f, 0.0f,
                    cairn_random_unit(random) * 2.0f - 1.0f}};
        }
    }
    return count;
}

static void measure(cairn_world *world, cairn_calibration *out) {
    const cairn_rules *rules = cairn_world_settings(world)->rules;
    const uint64_t begin_ns = cairn_uv_now_ns();
    cairn_random random = cairn_random_of(1);
    cairn_histogram cost_ns = {0};
    const uint32_t warm = WARM_S * out->rate_hz;
    for (uint32_t tick = 0; tick < warm + MEASURED_S * out->rate_hz; ++tick) {
        cairn_command commands[CAIRN_SLOTS_MAX];
        const uint32_t count = make_commands(rules, out->players, tick == 0, &random, commands);
        const uint64_t before_ns = processor_ns();
        cairn_world_step(world, commands, count);
        (void)cairn_world_hash_read(world);
        const uint64_t after_ns = processor_ns();
        const bool late = cairn_uv_now_ns() - begin_ns > TIME_NS_MAX;
        if (tick >= warm || late) {
            cairn_histogram_add(&cost_ns, after_ns - before_ns);
        }
        if (late) {
            break;
        }
    }
    out->ticks = (uint32_t)cost_ns.count;
    out->mean_ns = cost_ns.sum / cost_ns.count;
    out->p99_ns = cairn_histogram_percentile(&cost_ns, 990);
    out->bodies = cairn_world_counts_read(world).bodies;
    const uint64_t room_ns = out->mean_ns * out->rate_hz;
    out->rooms = room_ns == 0 ? 0 : CAIRN_NS_PER_S / 100 * CAIRN_CALIBRATION_SHARE / room_ns;
}

bool cairn_calibrate(const cairn_scene *scene, uint32_t rate_hz, uint32_t players,
    cairn_calibration *out, char error[CAIRN_SCENE_ERROR_SIZE]) {
    cairn_scene own = *scene;
    cairn_world *world;
    own.world.tick_rate_hz = rate_hz != 0 ? rate_hz : scene->world.tick_rate_hz;
    *out = (cairn_calibration){.rate_hz = own.world.tick_rate_hz, .players = players};
    const uint64_t mode = cairn_float_set_default();
    const bool built = cairn_scene_world_create(&own, NULL, &world, error) == CAIRN_OK;
    if (built) {
        measure(world, out);
        cairn_world_destroy(world);
    }
    cairn_float_leave(mode);
    return built;
}

void cairn_calibration_print(
    const cairn_calibration *found, const char *name, const char *scene_name, bool json) {
    const double mean_us = (double)found->mean_ns / 1000.0;
    const double p99_us = (double)found->p99_ns / 1000.0;
    const uint64_t cost_us = (found->mean_ns + 999) / 1000;
    if (json) {
        printf("{\"name\":\"%s\",\"scene\":\"%s\",\"players\":%" PRIu32 ",\"bodies\":%" PRIu32
               ",\"tick_rate_hz\":%" PRIu32 ",\"ticks\":%" PRIu32
               ",\"mean_us\":%.1f,\"p99_us\":%.1f,\"rooms\":%" PRIu64 ",\"cost\":%" PRIu64 "}\n",
            name, scene_name, found->players, found->bodies, found->rate_hz, found->ticks, mean_us,
            p99_us, found->rooms, cost_us);
    } else {
        printf("%s (scene %s): a tick takes %.1f us with %" PRIu32 " players and %" PRIu32
               " bodies, %.1f us in one of a hundred; at %" PRIu32
               " Hz one processor steps %" PRIu64 " rooms in %d percent of its time; cost=%" PRIu64
               "\n",
            name, scene_name, mean_us, found->players, found->bodies, p99_us, found->rate_hz,
            found->rooms, CAIRN_CALIBRATION_SHARE, cost_us);
    }
}
