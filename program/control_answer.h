// SPDX-License-Identifier: MIT
#pragma once

// Answers to operators, printed: all members of schema/control_tables.h by their names.

#include <stdbool.h>

#include <cairn/control.h>

struct cairn_json;

// One object; the caller destroys it. `bytes`: those of a save in hexadecimal, beside their number.
struct cairn_json *cairn_control_answer_json(const cairn_control_answer *answer, bool bytes);
// On standard output: as text, one field or one element of a list per line, or as one JSON object
// per line. As text, a refusal goes to standard error.
void cairn_control_answer_print(const cairn_control_answer *answer, bool json);
