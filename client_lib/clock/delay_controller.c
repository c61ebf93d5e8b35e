// SPDX-License-Identifier: MIT
#include "client_lib/clock/delay_controller.h"

#include <math.h>

#include "base/assert.h"

static const uint64_t LONGER_AFTER_NS = 250000000;
static const uint64_t SHORTER_AFTER_NS = 3000000000;
static const uint64_t SETTLED_AFTER_NS = 2000000000;
static const double SLACK_TICKS = 1;
static const double CHANGE_RATE = 1.0 / 10;
static const double JUMP_NS = 2.5e8;

void cairn_delay_controller_start(
    cairn_delay_controller *controller, const cairn_delay_controller_config *config) {
    CAIRN_ASSERT(config->tick_ns > 0);
    *controller = (cairn_delay_controller){.config = *config};
}

uint32_t cairn_delay_controller_target(
    const cairn_delay_controller_config *config, double need, uint32_t predict_max) {
    if (config->input_delay_fixed != CAIRN_DELAY_ADAPTIVE) {
        return config->input_delay_fixed;
    }
    const uint32_t ticks = need > 0 ? (uint32_t)ceil(need) : 0;
    if (ticks <= config->input_delay_first) {
        return ticks;
    }
    const uint32_t rest = ticks - config->input_delay_first;
    return rest <= predict_max ? config->input_delay_first : ticks - predict_max;
}

static void set_delay(cairn_delay_controller *controller, uint32_t delay) {
    controller->changes += controller->input_delay != delay ? 1 : 0;
    controller->input_delay = delay;
    controller->wants_longer = false;
    controller->wants_shorter = false;
}

static void adapt_delay(
    cairn_delay_controller *controller, uint64_t now_ns, double need, uint32_t predict_max) {
    CAIRN_ASSERT(now_ns >= controller->started_ns);
    const uint32_t delay = cairn_delay_controller_target(&controller->config, need, predict_max);
    const uint32_t with_slack =
        cairn_delay_controller_target(&controller->config, need + SLACK_TICKS, predict_max);
    const bool longer = delay > controller->input_delay;
    const bool shorter = with_slack < controller->input_delay;
    if (longer != controller->wants_longer || shorter != controller->wants_shorter) {
        controller->wants_longer = longer;
        controller->wants_shorter = shorter;
        controller->wanted_since_ns = now_ns;
    }
    const uint64_t waited_ns = now_ns - controller->wanted_since_ns;
    const bool settling = now_ns - controller->started_ns < SETTLED_AFTER_NS;
    if (longer && (settling || waited_ns >= LONGER_AFTER_NS)) {
        set_delay(controller, delay);
    } else if (shorter && (settling || waited_ns >= SHORTER_AFTER_NS)) {
        set_delay(controller, with_slack);
    }
}

void cairn_delay_controller_advance(
    cairn_delay_controller *controller, uint64_t now_ns, double need, uint32_t predict_max) {
    CAIRN_ASSERT(controller->config.tick_ns > 0);
    const bool first = !controller->running;
    if (first) {
        controller->running = true;
        controller->started_ns = now_ns;
        controller->moved_ns = now_ns;
        set_delay(
            controller, cairn_delay_controller_target(&controller->config, need, predict_max));
    }
    adapt_delay(controller, now_ns > controller->moved_ns ? now_ns : controller->moved_ns, need,
        predict_max);
    const double tick_ns = controller->config.tick_ns;
    const uint64_t passed_ns = now_ns > controller->moved_ns ? now_ns - controller->moved_ns : 0;
    const double change_max = (double)passed_ns * CHANGE_RATE / tick_ns;
    double change = need - (double)controller->input_delay - controller->ahead;
    if (!first && fabs(change) * tick_ns < JUMP_NS) {
        change = change > change_max ? change_max : change < -change_max ? -change_max : change;
    }
    controller->ahead += change;
    controller->moved_ns += passed_ns;
}
