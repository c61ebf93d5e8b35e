// SPDX-License-Identifier: MIT
#pragma once

// One message of each kind and one chunk of each kind, every field with a value of its own, and
// comparisons of two messages field by field.

#include "schema/codec.h"

cairn_message sample_message(cairn_message_kind kind);
cairn_direction sample_direction(cairn_message_kind kind);
cairn_chunk sample_chunk(cairn_chunk_kind kind);

// Fail the running test at the first field that differs.
void expect_same_message(const cairn_message *a, const cairn_message *b);
void expect_same_chunk(const cairn_chunk *a, const cairn_chunk *b);
