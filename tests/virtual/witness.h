// SPDX-License-Identifier: MIT
#pragma once

#include "storm/witness.h"
