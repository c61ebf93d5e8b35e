// SPDX-License-Identifier: MIT
// The stated errors of sim/math/trig.h, against the C library in double precision.

#include "tests/kit/test.h"

#include <math.h>

#include "sim/math/trig.h"

#define POINTS 20000

static const double PI = 3.14159265358979323846;

TEST("the error of the sine is at most 2e-7") {
    for (int i = -POINTS; i <= POINTS; ++i) {
        const float x = (float)(0.5 * PI * i / POINTS);
        assert_true(fabs((double)lanes_sin(x) - sin((double)x)) <= 2e-7);
    }
}

TEST("the error of the cosine is at most 3e-7") {
    for (int i = 0; i <= POINTS; ++i) {
        const float x = (float)(PI * i / POINTS);
        assert_true(fabs((double)lanes_cos(x) - cos((double)x)) <= 3e-7);
    }
}

TEST("the error of the angle of a direction is at most 5e-7") {
    for (int i = -POINTS; i < POINTS; ++i) {
        const float length = (float)(1.0 + 0.01 * (i % 100));
        const float x = length * (float)cos(PI * i / POINTS);
        const float y = length * (float)sin(PI * i / POINTS);
        const double expected = atan2((double)y, (double)x);
        assert_true(fabs((double)lanes_atan2(y, x) - expected) <= 5e-7);
    }
}

TEST("directions along the axes have exact angles") {
    assert_true(lanes_atan2(0.0f, 0.0f) == 0.0f);
    assert_true(lanes_atan2(0.0f, 2.0f) == 0.0f);
    assert_true(lanes_atan2(3.0f, 0.0f) == 0.5f * CAIRN_PI);
    assert_true(lanes_atan2(-3.0f, 0.0f) == -0.5f * CAIRN_PI);
    assert_true(lanes_atan2(0.0f, -1.0f) == CAIRN_PI);
    assert_true(lanes_sin(0.0f) == 0.0f);
}
