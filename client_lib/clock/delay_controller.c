// SPDX-License-Identifier: MIT
#include "client_lib/clock/delay_controller.h"

#include <math.h>

#include "base/assert.h"

static const uint64_t MORE_AFTER_NS = 250000000;
static const uint64_t LESS_AFTER_NS = 3000000000;
static const uint64_t SETTLED_AFTER_NS = 2000000000;
static const double SLACK_TICKS = 1;
static const double CHANGE_RATE = 1.0 / 10;
static const double JUMP_NS = 2.5e8;

void cairn_ladder_start(cairn_ladder *ladder, const cairn_ladder_config *config) {
    CAIRN_ASSERT(config->tick_ns > 0);
    *ladder = (cairn_ladder){.config = *config};
}

uint32_t cairn_ladder_delay(const cairn_ladder_config *config, double need, uint32_t predict_max) {
    if (config->input_delay_fixed != CAIRN_LADDER_ADAPTS) {
        return config->input_delay_fixed;
    }
    const uint32_t ticks = need > 0 ? (uint32_t)ceil(need) : 0;
    if (ticks <= config->input_delay_first) {
        return ticks;
    }
    const uint32_t rest = ticks - config->input_delay_first;
    return rest <= predict_max ? config->input_delay_first : ticks - predict_max;
}

static void take(cairn_ladder *ladder, uint32_t delay) {
    ladder->changes += ladder->input_delay != delay ? 1 : 0;
    ladder->input_delay = delay;
    ladder->more = false;
    ladder->less = false;
}

static void climb(cairn_ladder *ladder, uint64_t now_ns, double need, uint32_t predict_max) {
    const uint32_t delay = cairn_ladder_delay(&ladder->config, need, predict_max);
    const uint32_t easy = cairn_ladder_delay(&ladder->config, need + SLACK_TICKS, predict_max);
    const bool more = delay > ladder->input_delay;
    const bool less = easy < ladder->input_delay;
    if (more != ladder->more || less != ladder->less) {
        ladder->more = more;
        ladder->less = less;
        ladder->since_ns = now_ns;
    }
    const uint64_t waited_ns = now_ns - ladder->since_ns;
    const bool unsettled = now_ns - ladder->began_ns < SETTLED_AFTER_NS;
    if (more && (unsettled || waited_ns >= MORE_AFTER_NS)) {
        take(ladder, delay);
    } else if (less && (unsettled || waited_ns >= LESS_AFTER_NS)) {
        take(ladder, easy);
    }
}

void cairn_ladder_advance(
    cairn_ladder *ladder, uint64_t now_ns, double need, uint32_t predict_max) {
    const bool first = !ladder->running;
    if (first) {
        ladder->running = true;
        ladder->began_ns = now_ns;
        ladder->at_ns = now_ns;
        take(ladder, cairn_ladder_delay(&ladder->config, need, predict_max));
    }
    climb(ladder, now_ns > ladder->at_ns ? now_ns : ladder->at_ns, need, predict_max);
    const double tick_ns = ladder->config.tick_ns;
    const uint64_t passed_ns = now_ns > ladder->at_ns ? now_ns - ladder->at_ns : 0;
    const double most = (double)passed_ns * CHANGE_RATE / tick_ns;
    double change = need - (double)ladder->input_delay - ladder->ahead;
    if (!first && fabs(change) * tick_ns < JUMP_NS) {
        change = change > most ? most : change < -most ? -most : change;
    }
    ladder->ahead += change;
    ladder->at_ns += passed_ns;
}
