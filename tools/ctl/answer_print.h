// SPDX-License-Identifier: MIT
#pragma once

// Prints an answer on standard output: as text, one field or one element of a list per line, or as
// one JSON object per line. As text, a refusal goes to standard error.

#include <stdbool.h>

#include <cairn/control.h>

void cairn_ctl_answer_print(const cairn_control_answer *answer, bool json);
