// SPDX-License-Identifier: MIT
#pragma once

// A scene with a state of 1.5 MB. A test that links large_state.c with --wrap=cairn_state_pack
// sends states without packing them. Packed, the state of this scene would take 4 kB.

#define WALL(tick_rate_hz)                                                                         \
    "{'name': 'wall', 'rules': 'sandbox', 'body_capacity': 8192, 'shape_capacity': 8192,"          \
    " 'contact_capacity': 1024, 'tick_rate_hz': " tick_rate_hz ","                                 \
    " 'bodies': [{'kind': 'static', 'position': [0, 0.5, 0],"                                      \
    " 'grid_count': [66, 1, 65], 'grid_spacing': [2, 1, 2],"                                       \
    " 'shapes': [{'kind': 'box', 'half_extents': [0.5, 0.5, 0.5]}]}]}"
