// SPDX-License-Identifier: MIT
#pragma once

// CMocka's own comparison is for float alone; this one says both numbers when it fails.
#define EXPECT_NEAR(got, wanted, within)                                                           \
    do {                                                                                           \
        double got_value = (double)(got);                                                          \
        double wanted_value = (double)(wanted);                                                    \
        double off =                                                                               \
            got_value > wanted_value ? got_value - wanted_value : wanted_value - got_value;        \
        if (!(off <= (double)(within))) {                                                          \
            fail_msg("%s is %.9g, wanted %.9g", #got, got_value, wanted_value);                    \
        }                                                                                          \
    } while (0)
