// SPDX-License-Identifier: MIT
#pragma once

// JSON Schema (2020-12) of the requests and answers of operators, from the same tables as the
// codec.

#include <stdint.h>

struct cairn_json;

// Each puts the schema's members into `out`.
void cairn_control_request_schema(struct cairn_json *out, uint32_t verb);
void cairn_control_answer_schema(struct cairn_json *out, uint32_t verb);
void cairn_control_refusal_schema(struct cairn_json *out); // of every verb
