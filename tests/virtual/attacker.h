// SPDX-License-Identifier: MIT
#pragma once

#include "storm/attacker.h"
