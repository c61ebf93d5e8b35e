// SPDX-License-Identifier: MIT
#pragma once

#include "storm/oracle.h"
