// SPDX-License-Identifier: MIT
#pragma once

// One message of each kind, one chunk of each kind, and one request and one answer of each control
// verb. Every member has a value of its own.

#include "schema/codec.h"

cairn_message sample_message(cairn_message_kind kind);
cairn_direction sample_direction(cairn_message_kind kind);
cairn_chunk sample_chunk(cairn_chunk_kind kind);

// Lists and texts are valid until the next call.
cairn_control_request sample_control_request(uint32_t verb);
cairn_control_answer sample_control_answer(uint32_t verb);

// Fail the running test at the first member that differs.
void expect_same_message(const cairn_message *a, const cairn_message *b);
void expect_same_chunk(const cairn_chunk *a, const cairn_chunk *b);
