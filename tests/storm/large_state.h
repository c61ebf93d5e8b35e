// SPDX-License-Identifier: MIT
#pragma once

// A scene whose state is 1.5 MB. Programs that link large_state.c with --wrap=cairn_state_pack send
// states as they are: packed, this one would be 4 kB.

#define WALL(tick_rate_hz)                                                                         \
    "{'name': 'wall', 'rules': 'sandbox', 'body_capacity': 8192, 'shape_capacity': 8192,"          \
    " 'contact_capacity': 1024, 'tick_rate_hz': " tick_rate_hz ","                                 \
    " 'bodies': [{'kind': 'static', 'position': [0, 0.5, 0],"                                      \
    " 'grid_count': [66, 1, 65], 'grid_spacing': [2, 1, 2],"                                       \
    " 'shapes': [{'kind': 'box', 'half_extents': [0.5, 0.5, 0.5]}]}]}"
