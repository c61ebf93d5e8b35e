// SPDX-License-Identifier: MIT
#pragma once

// CAIRN_LANES floats in one SIMD vector: the arithmetic of sim/math/vec.h for several constraints
// at once. A file that includes this is compiled once for each width. Each lane computes what a
// single float would, in the same order, and lanes never mix, so every width gives the same bits.
//
// The vector types are those of GCC and Clang. Minimum, square root and selection by a mask, which
// these cannot express, use the instruction of the CPU where there is one, or a loop over the
// lanes.

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef CAIRN_LANES
#define CAIRN_LANES 1
#endif
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if CAIRN_LANES == 1
typedef float lanes;
typedef int32_t lanes_mask; // 0 or -1
#else
typedef float lanes __attribute__((vector_size(4 * CAIRN_LANES)));
typedef int32_t lanes_mask __attribute__((vector_size(4 * CAIRN_LANES))); // 0 or -1 in each lane
#endif

// Row-wise access: a row is eight consecutive floats.
#define CAIRN_ROW_FLOATS 8

#if CAIRN_LANES == 1
static inline lanes lanes_all(float value) {
    return value;
}
static inline lanes_mask lanes_less(lanes a, lanes b) {
    return a < b ? -1 : 0;
}
static inline lanes lanes_select(lanes_mask mask, lanes yes, lanes no) {
    return mask != 0 ? yes : no;
}
static inline lanes lanes_min(lanes a, lanes b) {
    return a < b ? a : b;
}
static inline lanes lanes_max(lanes a, lanes b) {
    return a > b ? a : b;
}
static inline lanes lanes_sqrt(lanes a) {
    return sqrtf(a);
}
#else
static inline lanes lanes_all(float value) {
#if CAIRN_LANES == 4
    return (lanes){value, value, value, value};
#elif CAIRN_LANES == 8
    return (lanes){value, value, value, value, value, value, value, value};
#else
    return (lanes){value, value, value, value, value, value, value, value, value, value, value,
        value, value, value, value, value};
#endif
}

static inline lanes_mask lanes_less(lanes a, lanes b) {
    return a < b;
}

#if CAIRN_LANES == 4 && defined(__SSE2__)
static inline lanes lanes_select(lanes_mask mask, lanes yes, lanes no) {
    const __m128 m = (__m128)mask;
    return (lanes)_mm_or_ps(_mm_and_ps(m, (__m128)yes), _mm_andnot_ps(m, (__m128)no));
}
static inline lanes lanes_min(lanes a, lanes b) {
    return (lanes)_mm_min_ps((__m128)a, (__m128)b); // a < b ? a : b, for signed zeros as well
}
static inline lanes lanes_max(lanes a, lanes b) {
    return (lanes)_mm_max_ps((__m128)a, (__m128)b);
}
static inline lanes lanes_sqrt(lanes a) {
    return (lanes)_mm_sqrt_ps((__m128)a);
}
#elif CAIRN_LANES == 8 && defined(__AVX2__)
static inline lanes lanes_select(lanes_mask mask, lanes yes, lanes no) {
    return (lanes)_mm256_blendv_ps((__m256)no, (__m256)yes, (__m256)mask);
}
static inline lanes lanes_min(lanes a, lanes b) {
    return (lanes)_mm256_min_ps((__m256)a, (__m256)b);
}
static inline lanes lanes_max(lanes a, lanes b) {
    return (lanes)_mm256_max_ps((__m256)a, (__m256)b);
}
static inline lanes lanes_sqrt(lanes a) {
    return (lanes)_mm256_sqrt_ps((__m256)a);
}
#elif CAIRN_LANES == 16 && defined(__AVX512F__)
static inline lanes lanes_select(lanes_mask mask, lanes yes, lanes no) {
    const __mmask16 m = _mm512_movepi32_mask((__m512i)mask);
    return (lanes)_mm512_mask_blend_ps(m, (__m512)no, (__m512)yes);
}
static inline lanes lanes_min(lanes a, lanes b) {
    return (lanes)_mm512_min_ps((__m512)a, (__m512)b);
}
static inline lanes lanes_max(lanes a, lanes b) {
    return (lanes)_mm512_max_ps((__m512)a, (__m512)b);
}
static inline lanes lanes_sqrt(lanes a) {
    return (lanes)_mm512_sqrt_ps((__m512)a);
}
#else
static inline lanes lanes_select(lanes_mask mask, lanes yes, lanes no) {
    return (lanes)(((lanes_mask)yes & mask) | ((lanes_mask)no & ~mask));
}
static inline lanes lanes_min(lanes a, lanes b) {
    return lanes_select(a < b, a, b);
}
static inline lanes lanes_max(lanes a, lanes b) {
    return lanes_select(a > b, a, b);
}
static inline lanes lanes_sqrt(lanes a) {
    lanes root;
    for (int i = 0; i < CAIRN_LANES; ++i) {
        root[i] = sqrtf(a[i]);
    }
    return root;
}
#endif
#endif

// ---- rows: eight floats of each of CAIRN_LANES elements, transposed to eight lanes and back

#if CAIRN_LANES == 1
__attribute__((always_inline)) static inline void lanes_load_rows(
    const float *const *rows, lanes out[CAIRN_ROW_FLOATS]) {
    memcpy(out, rows[0], sizeof(float) * CAIRN_ROW_FLOATS);
}
__attribute__((always_inline)) static inline void lanes_scatter_rows(
    const lanes in[CAIRN_ROW_FLOATS], float *const *rows) {
    memcpy(rows[0], in, sizeof(float) * CAIRN_ROW_FLOATS);
}
#elif CAIRN_LANES == 8 && defined(__AVX2__)
__attribute__((always_inline)) static inline void lanes_transpose(lanes r[8]) {
    lanes t[8];
    lanes s[8];
    for (int i = 0; i < 8; i += 2) {
        t[i] = (lanes)_mm256_unpacklo_ps((__m256)r[i], (__m256)r[i + 1]);
        t[i + 1] = (lanes)_mm256_unpackhi_ps((__m256)r[i], (__m256)r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        s[i] = (lanes)_mm256_shuffle_ps((__m256)t[i], (__m256)t[i + 2], 0x44);
        s[i + 1] = (lanes)_mm256_shuffle_ps((__m256)t[i], (__m256)t[i + 2], 0xee);
        s[i + 2] = (lanes)_mm256_shuffle_ps((__m256)t[i + 1], (__m256)t[i + 3], 0x44);
        s[i + 3] = (lanes)_mm256_shuffle_ps((__m256)t[i + 1], (__m256)t[i + 3], 0xee);
    }
    for (int i = 0; i < 4; ++i) {
        r[i] = (lanes)_mm256_permute2f128_ps((__m256)s[i], (__m256)s[i + 4], 0x20);
        r[i + 4] = (lanes)_mm256_permute2f128_ps((__m256)s[i], (__m256)s[i + 4], 0x31);
    }
}
__attribute__((always_inline)) static inline void lanes_load_rows(
    const float *const *rows, lanes out[CAIRN_ROW_FLOATS]) {
    for (int i = 0; i < 8; ++i) {
        out[i] = (lanes)_mm256_loadu_ps(rows[i]);
    }
    lanes_transpose(out);
}
__attribute__((always_inline)) static inline void lanes_scatter_rows(
    const lanes in[CAIRN_ROW_FLOATS], float *const *rows) {
    lanes transposed[8];
    for (int i = 0; i < 8; ++i) {
        transposed[i] = in[i];
    }
    lanes_transpose(transposed);
    for (int i = 0; i < 8; ++i) {
        _mm256_storeu_ps(rows[i], (__m256)transposed[i]);
    }
}
#elif CAIRN_LANES == 16 && defined(__AVX512F__) && defined(__AVX512DQ__)
// Each vector is two rows, i and i + 8: both halves are transposed as above.
__attribute__((always_inline)) static inline void lanes_transpose(__m512 r[8]) {
    __m512 t[8];
    __m512d s[8];
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        s[i] = _mm512_castps_pd(_mm512_shuffle_ps(t[i], t[i + 2], 0x44));
        s[i + 1] = _mm512_castps_pd(_mm512_shuffle_ps(t[i], t[i + 2], 0xee));
        s[i + 2] = _mm512_castps_pd(_mm512_shuffle_ps(t[i + 1], t[i + 3], 0x44));
        s[i + 3] = _mm512_castps_pd(_mm512_shuffle_ps(t[i + 1], t[i + 3], 0xee));
    }
    const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    for (int i = 0; i < 4; ++i) {
        r[i] = _mm512_castpd_ps(_mm512_permutex2var_pd(s[i], low, s[i + 4]));
        r[i + 4] = _mm512_castpd_ps(_mm512_permutex2var_pd(s[i], high, s[i + 4]));
    }
}
__attribute__((always_inline)) static inline void lanes_load_rows(
    const float *const *rows, lanes out[CAIRN_ROW_FLOATS]) {
    __m512 r[8];
    for (int i = 0; i < 8; ++i) {
        const __m512 lower = _mm512_castps256_ps512(_mm256_loadu_ps(rows[i]));
        r[i] = _mm512_insertf32x8(lower, _mm256_loadu_ps(rows[i + 8]), 1);
    }
    lanes_transpose(r);
    for (int i = 0; i < 8; ++i) {
        out[i] = (lanes)r[i];
    }
}
__attribute__((always_inline)) static inline void lanes_scatter_rows(
    const lanes in[CAIRN_ROW_FLOATS], float *const *rows) {
    __m512 r[8];
    for (int i = 0; i < 8; ++i) {
        r[i] = (__m512)in[i];
    }
    lanes_transpose(r);
    for (int i = 0; i < 8; ++i) {
        _mm256_storeu_ps(rows[i], _mm512_castps512_ps256(r[i]));
        _mm256_storeu_ps(rows[i + 8], _mm512_extractf32x8_ps(r[i], 1));
    }
}
#elif CAIRN_LANES == 4 && defined(__SSE2__)
__attribute__((always_inline)) static inline void lanes_transpose(lanes r[4]) {
    const __m128 a = _mm_unpacklo_ps((__m128)r[0], (__m128)r[1]);
    const __m128 b = _mm_unpackhi_ps((__m128)r[0], (__m128)r[1]);
    const __m128 c = _mm_unpacklo_ps((__m128)r[2], (__m128)r[3]);
    const __m128 d = _mm_unpackhi_ps((__m128)r[2], (__m128)r[3]);
    r[0] = (lanes)_mm_movelh_ps(a, c);
    r[1] = (lanes)_mm_movehl_ps(c, a);
    r[2] = (lanes)_mm_movelh_ps(b, d);
    r[3] = (lanes)_mm_movehl_ps(d, b);
}
__attribute__((always_inline)) static inline void lanes_load_rows(
    const float *const *rows, lanes out[CAIRN_ROW_FLOATS]) {
    for (int i = 0; i < 4; ++i) {
        out[i] = (lanes)_mm_loadu_ps(rows[i]);
        out[i + 4] = (lanes)_mm_loadu_ps(rows[i] + 4);
    }
    lanes_transpose(out);
    lanes_transpose(out + 4);
}
__attribute__((always_inline)) static inline void lanes_scatter_rows(
    const lanes in[CAIRN_ROW_FLOATS], float *const *rows) {
    lanes transposed[8];
    for (int i = 0; i < 8; ++i) {
        transposed[i] = in[i];
    }
    lanes_transpose(transposed);
    lanes_transpose(transposed + 4);
    for (int i = 0; i < 4; ++i) {
        _mm_storeu_ps(rows[i], (__m128)transposed[i]);
        _mm_storeu_ps(rows[i] + 4, (__m128)transposed[i + 4]);
    }
}
#else
__attribute__((always_inline)) static inline void lanes_load_rows(
    const float *const *rows, lanes out[CAIRN_ROW_FLOATS]) {
    for (int k = 0; k < CAIRN_ROW_FLOATS; ++k) {
        for (int i = 0; i < CAIRN_LANES; ++i) {
            out[k][i] = rows[i][k];
        }
    }
}
__attribute__((always_inline)) static inline void lanes_scatter_rows(
    const lanes in[CAIRN_ROW_FLOATS], float *const *rows) {
    for (int i = 0; i < CAIRN_LANES; ++i) {
        for (int k = 0; k < CAIRN_ROW_FLOATS; ++k) {
            rows[i][k] = in[k][i];
        }
    }
}
#endif

static inline void lanes_store_rows(
    const lanes in[CAIRN_ROW_FLOATS], float (*rows)[CAIRN_ROW_FLOATS]) {
    float *out[CAIRN_LANES];
    for (int i = 0; i < CAIRN_LANES; ++i) {
        out[i] = rows[i];
    }
    lanes_scatter_rows(in, out);
}

typedef struct lanes_quat {
    lanes x, y, z, w;
} lanes_quat;

// ---- lanes3: three lanes as a vector, and symmetric matrices

typedef struct lanes3 {
    lanes x, y, z;
} lanes3;

typedef struct lanes_sym3 {
    lanes xx, yy, zz, xy, xz, yz;
} lanes_sym3;

static inline lanes3 lanes3_of(lanes x, lanes y, lanes z) {
    return (lanes3){.x = x, .y = y, .z = z};
}
static inline lanes3 lanes3_add(lanes3 a, lanes3 b) {
    return lanes3_of(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline lanes3 lanes3_sub(lanes3 a, lanes3 b) {
    return lanes3_of(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline lanes3 lanes3_scale(lanes3 a, lanes s) {
    return lanes3_of(a.x * s, a.y * s, a.z * s);
}
static inline lanes3 lanes3_add_scaled(lanes3 a, lanes3 b, lanes s) {
    return lanes3_of(a.x + b.x * s, a.y + b.y * s, a.z + b.z * s);
}
// Component by component.
static inline lanes3 lanes3_multiply(lanes3 a, lanes3 b) {
    return lanes3_of(a.x * b.x, a.y * b.y, a.z * b.z);
}

static inline lanes3 lanes3_sub_scaled(lanes3 a, lanes3 b, lanes s) {
    return lanes3_of(a.x - b.x * s, a.y - b.y * s, a.z - b.z * s);
}
static inline lanes lanes3_dot(lanes3 a, lanes3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline lanes3 lanes3_cross(lanes3 a, lanes3 b) {
    return lanes3_of(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline lanes3 lanes3_select(lanes_mask mask, lanes3 yes, lanes3 no) {
    return lanes3_of(lanes_select(mask, yes.x, no.x), lanes_select(mask, yes.y, no.y),
        lanes_select(mask, yes.z, no.z));
}
static inline lanes3 lanes_sym3_apply(lanes_sym3 m, lanes3 v) {
    return lanes3_of(m.xx * v.x + m.xy * v.y + m.xz * v.z, m.xy * v.x + m.yy * v.y + m.yz * v.z,
        m.xz * v.x + m.yz * v.y + m.zz * v.z);
}
static inline lanes_sym3 lanes_sym3_add(lanes_sym3 a, lanes_sym3 b) {
    return (lanes_sym3){.xx = a.xx + b.xx,
        .yy = a.yy + b.yy,
        .zz = a.zz + b.zz,
        .xy = a.xy + b.xy,
        .xz = a.xz + b.xz,
        .yz = a.yz + b.yz};
}

// A rotation as three rows.
typedef struct lanes_mat3 {
    lanes3 x, y, z;
} lanes_mat3;

// mat3_of_quat of sim/math/vec.h, in its order.
static inline lanes_mat3 lanes_mat3_of_quat(lanes qx, lanes qy, lanes qz, lanes qw) {
    const lanes one = lanes_all(1.0f);
    const lanes two = lanes_all(2.0f);
    const lanes xx = two * qx * qx;
    const lanes yy = two * qy * qy;
    const lanes zz = two * qz * qz;
    const lanes xy = two * qx * qy;
    const lanes xz = two * qx * qz;
    const lanes yz = two * qy * qz;
    const lanes wx = two * qw * qx;
    const lanes wy = two * qw * qy;
    const lanes wz = two * qw * qz;
    return (lanes_mat3){.x = lanes3_of(one - (yy + zz), xy - wz, xz + wy),
        .y = lanes3_of(xy + wz, one - (xx + zz), yz - wx),
        .z = lanes3_of(xz - wy, yz + wx, one - (xx + yy))};
}
static inline lanes3 lanes_mat3_apply(lanes_mat3 m, lanes3 v) {
    return lanes3_of(lanes3_dot(m.x, v), lanes3_dot(m.y, v), lanes3_dot(m.z, v));
}
// R M R^T: sym3_rotate of sim/math/vec.h, in its order.
static inline lanes_sym3 lanes_sym3_rotate(lanes_sym3 m, lanes_mat3 r) {
    const lanes3 x = lanes_sym3_apply(m, r.x);
    const lanes3 y = lanes_sym3_apply(m, r.y);
    const lanes3 z = lanes_sym3_apply(m, r.z);
    return (lanes_sym3){.xx = lanes3_dot(r.x, x),
        .yy = lanes3_dot(r.y, y),
        .zz = lanes3_dot(r.z, z),
        .xy = lanes3_dot(r.x, y),
        .xz = lanes3_dot(r.x, z),
        .yz = lanes3_dot(r.y, z)};
}
