// SPDX-License-Identifier: MIT
#pragma once

#include "storm/stranger.h"
