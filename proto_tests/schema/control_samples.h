// SPDX-License-Identifier: MIT
#pragma once

// One request and one answer of each verb, every member with a value of its own, and comparisons of
// two, all made from schema/control_tables.h.

#include <cairn/control.h>

// Lists and texts are valid until the next call.
cairn_control_request sample_control_request(uint32_t verb);
cairn_control_answer sample_control_answer(uint32_t verb);

// Fail the running test at the first member that differs.
void expect_same_control_request(const cairn_control_request *a, const cairn_control_request *b);
void expect_same_control_answer(const cairn_control_answer *a, const cairn_control_answer *b);
