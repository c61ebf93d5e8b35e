// SPDX-License-Identifier: MIT
#pragma once

#include "storm/system.h"
