// SPDX-License-Identifier: MIT
#pragma once

#include <cairn/rules.h>

extern const cairn_rules example_buoyancy;
