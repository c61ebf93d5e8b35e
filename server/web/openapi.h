// SPDX-License-Identifier: MIT
#pragma once

// The OpenAPI 3.1 description of what server/web/control.h answers, made from the table of the
// verbs.

#include <stddef.h>

#define CAIRN_WEB_CONTROL_PATH "/control/"
#define CAIRN_WEB_DRAIN_PATH "/drain"

// The caller frees the text. NULL: out of memory.
char *cairn_openapi_write(size_t *size);
