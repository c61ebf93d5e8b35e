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

static void take(cairn_delay_controller *controller, uint32_t delay) {
    controller->changes += controller->input_delay != delay ? 1 : 0;
    controller->input_delay = delay;
    controller->more = false;
    controller->less = false;
}

static void climb(
    cairn_delay_controller *controller, uint64_t now_ns, double need, uint32_t predict_max) {
    const uint32_t delay = cairn_delay_controller_target(&controller->config, need, predict_max);
    const uint32_t easy =
        cairn_delay_controller_target(&controller->config, need + SLACK_TICKS, predict_max);
    const bool more = delay > controller->input_delay;
    const bool less = easy < controller->input_delay;
    if (more != controller->more || less != controller->less) {
        controller->more = more;
        controller->less = less;
        controller->since_ns = now_ns;
    }
    const uint64_t waited_ns = now_ns - controller->since_ns;
    const bool unsettled = now_ns - controller->began_ns < SETTLED_AFTER_NS;
    if (more && (unsettled || waited_ns >= MORE_AFTER_NS)) {
        take(controller, delay);
    } else if (less && (unsettled || waited_ns >= LESS_AFTER_NS)) {
        take(controller, easy);
    }
}

void cairn_delay_controller_advance(
    cairn_delay_controller *controller, uint64_t now_ns, double need, uint32_t predict_max) {
    const bool first = !controller->running;
    if (first) {
        controller->running = true;
        controller->began_ns = now_ns;
        controller->at_ns = now_ns;
        take(controller, cairn_delay_controller_target(&controller->config, need, predict_max));
    }
    climb(controller, now_ns > controller->at_ns ? now_ns : controller->at_ns, need, predict_max);
    const double tick_ns = controller->config.tick_ns;
    const uint64_t passed_ns = now_ns > controller->at_ns ? now_ns - controller->at_ns : 0;
    const double most = (double)passed_ns * CHANGE_RATE / tick_ns;
    double change = need - (double)controller->input_delay - controller->ahead;
    if (!first && fabs(change) * tick_ns < JUMP_NS) {
        change = change > most ? most : change < -most ? -most : change;
    }
    controller->ahead += change;
    controller->at_ns += passed_ns;
}
