// SPDX-License-Identifier: MIT
#pragma once

#include "storm/network.h"
