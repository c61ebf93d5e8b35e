// SPDX-License-Identifier: MIT
#pragma once

// Which pages may use this server. Browsers say in a header which page asks; other programs may say
// what they like, so this protects people that look at foreign pages, and nothing else.

#include <stdbool.h>
#include <stdint.h>

#include "server/web/http.h"

// Whether the page that asks is one of this server, or of a listed origin such as
// https://play.example. A request without an origin is none of a page.
bool cairn_origin_allowed(
    const cairn_http_request *request, const char *const *origins, uint32_t count);

// Whether the peer and the name by which it asks are this machine: a foreign name that leads here
// (DNS rebinding) is not.
bool cairn_origin_is_local(const cairn_http_request *request);
