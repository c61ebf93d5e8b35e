// SPDX-License-Identifier: MIT
#pragma once

// How a predicting client spends the time that its inputs need to reach the server: first it delays
// them, as long as a player does not feel it; then it predicts, as long as mispredictions stay
// cheap and small; then it delays inputs further. (SnapNet's input delay policy, also in
// Lightyear.) It also determines how many ticks the predicted world is ahead of the tick received
// now.

#include <stdbool.h>
#include <stdint.h>

#define CAIRN_DELAY_ADAPTIVE UINT32_MAX

typedef struct cairn_delay_controller_config {
    double tick_ns;
    uint32_t input_delay_first; // ticks of delay before anything is predicted
    uint32_t predict_max;       // ticks predicted before inputs are delayed further
    uint32_t input_delay_fixed; // CAIRN_DELAY_ADAPTIVE: from the two above
} cairn_delay_controller_config;

typedef struct cairn_delay_controller {
    cairn_delay_controller_config config;
    bool running;
    uint32_t input_delay; // ticks
    double ahead; // ticks that the world is stepped ahead of the received tick; moves smoothly
    uint64_t started_ns;
    uint64_t moved_ns; // when `ahead` was last moved
    bool wants_longer; // a longer or a shorter delay is wanted, since wanted_since_ns
    bool wants_shorter;
    uint64_t wanted_since_ns;
    uint64_t changes; // of the delay
} cairn_delay_controller;

void cairn_delay_controller_start(
    cairn_delay_controller *controller, const cairn_delay_controller_config *config);
// Inputs must be made `need` ticks ahead of the received tick. The delay becomes longer after a
// longer one was wanted for a quarter of a second, and shorter after a shorter one, with a tick to
// spare, was wanted for three seconds, so a need that wavers by a tick changes nothing. In the
// first two seconds, while the path is being measured, it changes at once. `ahead` follows by at
// most a tenth of the time passed, and at once if it is off by more than a quarter of a second.
// `predict_max` is the config's, or less if the host cannot afford so much.
void cairn_delay_controller_advance(
    cairn_delay_controller *controller, uint64_t now_ns, double need, uint32_t predict_max);
// The delay that fits `need`, whatever the present delay is.
uint32_t cairn_delay_controller_target(
    const cairn_delay_controller_config *config, double need, uint32_t predict_max);
