// SPDX-License-Identifier: MIT
#pragma once

// How a predicting client spends the time its inputs need to reach the server: first by delaying
// them, up to where a hand feels it, then by predicting, up to where it costs and shows too much,
// then by delaying them further. (The controller of SnapNet, which Lightyear took over.) And where
// the predicted world stands: so many ticks ahead of the tick that is heard.

#include <stdbool.h>
#include <stdint.h>

#define CAIRN_DELAY_ADAPTIVE UINT32_MAX

typedef struct cairn_delay_controller_config {
    double tick_ns;
    uint32_t input_delay_first; // ticks of delay before anything is predicted
    uint32_t predict_max;       // ticks predicted before inputs are delayed further
    uint32_t input_delay_fixed; // CAIRN_DELAY_ADAPTIVE: by the two above
} cairn_delay_controller_config;

typedef struct cairn_delay_controller {
    cairn_delay_controller_config config;
    bool running;
    uint32_t input_delay; // ticks
    double ahead;         // ticks the world is stepped ahead of the heard tick; moves smoothly
    uint64_t began_ns;
    uint64_t at_ns; // when it was last moved
    bool more;      // a longer, a shorter delay is wanted since then
    bool less;
    uint64_t since_ns;
    uint64_t changes; // of the delay
} cairn_delay_controller;

void cairn_delay_controller_start(
    cairn_delay_controller *controller, const cairn_delay_controller_config *config);
// Inputs are to be made `need` ticks ahead of the heard tick. A longer delay is taken when it was
// wanted for a quarter of a second, a shorter one when one tick more would allow it and for three
// seconds: so a need that wavers by a tick moves nothing; at once in the first two seconds, while
// the path is being measured. `ahead` follows by at most a tenth of the time passed, and at once
// when it is off by more than a quarter of a second. `predict_max` is config's or what the host can
// afford.
void cairn_delay_controller_advance(
    cairn_delay_controller *controller, uint64_t now_ns, double need, uint32_t predict_max);
// The delay the controller asks for, without regard to the one that stands.
uint32_t cairn_delay_controller_target(
    const cairn_delay_controller_config *config, double need, uint32_t predict_max);
