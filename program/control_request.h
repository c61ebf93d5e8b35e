// SPDX-License-Identifier: MIT
#pragma once

// Requests of operators from JSON: an object with the members of the verb's request in
// <cairn/control.h>, and "room". A member `has_X` of the struct is not one of the object: it says
// whether X is there.

#include <stdbool.h>
#include <stdint.h>

#include "schema/control.h"

struct cairn_json;

#define CAIRN_CONTROL_REQUEST_ERROR_SIZE 160

// Whether the object may leave out this member, which is 0 then. Members that a `has_` belongs to
// may be left out as well.
bool cairn_control_member_optional(uint32_t verb, const char *name);

// Fills *out, which may not be moved. Takes the members out of the object. False: `why` holds one
// sentence. Limits of the message (schema/message_check.h) are not checked.
bool cairn_control_request_parse(uint32_t verb, struct cairn_json *json,
    cairn_control_request_copy *out, char why[CAIRN_CONTROL_REQUEST_ERROR_SIZE]);
