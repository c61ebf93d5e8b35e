// SPDX-License-Identifier: MIT
// The same arithmetic of rules in C and in C++.
#pragma once

#include <cairn/math.h>
#include <cairn/rules.h>

#ifdef __cplusplus
extern "C" {
#endif

uint64_t rules_in_c(void);
uint64_t rules_in_cpp(void);

#ifdef __cplusplus
}
#endif

// A hash of the bits of sums of products, which a compiler fuses if it may, and of functions.
static inline uint64_t arithmetic(void) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 2000; ++i) {
        const uint64_t drawn = cairn_random_at(1, i, 2, 3);
        const float x = (float)(drawn >> 40) * 1e-4f;
        const float y = (float)(drawn & 0xffffffu) * 1e-5f;
        const cairn_vec3 a = cairn_vec3_of(x, y, x - y);
        const cairn_vec3 b = cairn_vec3_of(y, 0.1f - x, 0.3f);
        const float values[] = {cairn_vec3_dot(a, b), cairn_vec3_cross(a, b).x,
            x * y + (x - y) * 0.1f, (x + y) - x, cairn_float_sin(x), cairn_float_atan2(y, x),
            cairn_float_pow(x + 1.0f, 0.3f), cairn_float_log(y + 1e-3f)};
        for (uint32_t k = 0; k < sizeof values / sizeof values[0]; ++k) {
            sum = sum * UINT64_C(0x9e3779b97f4a7c15) + cairn_float_bits(values[k]);
        }
    }
    return sum;
}
