// SPDX-License-Identifier: MIT
#pragma once

// Written by the program `passport`; changes as the golden hashes do.

#include "base/hash.h"

static const cairn_hash128 cairn_passport_golden_trigonometry = {
    .lo = UINT64_C(0xadac0fa76d6dd904), .hi = UINT64_C(0xc70d98dbdf0fe20e)};
static const cairn_hash128 cairn_passport_golden_scene = {
    .lo = UINT64_C(0xa7fb494e4a44a1e6), .hi = UINT64_C(0xb0f16dfade627bf9)};
