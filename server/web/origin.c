// SPDX-License-Identifier: MIT
#include "server/web/origin.h"

#include <string.h>

#include "program/sockaddr.h"

#define NAME_SIZE 300

static bool is_origin_of(const char *origin, const char *host) {
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; ++i) {
        const size_t size = strlen(schemes[i]);
        if (strncmp(origin, schemes[i], size) == 0 && strcmp(origin + size, host) == 0) {
            return true;
        }
    }
    return false;
}

bool cairn_origin_allowed(
    const cairn_http_request *request, const char *const *origins, uint32_t count) {
    char origin[NAME_SIZE];
    char host[NAME_SIZE];
    if (!cairn_http_has_header(request, CAIRN_HTTP_ORIGIN)) {
        return true;
    }
    if (!cairn_http_header_read(request, CAIRN_HTTP_ORIGIN, origin, sizeof origin)) {
        return false;
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (strcmp(origin, origins[i]) == 0) {
            return true;
        }
    }
    return cairn_http_header_read(request, CAIRN_HTTP_HOST, host, sizeof host) &&
           is_origin_of(origin, host);
}

bool cairn_origin_is_local(const cairn_http_request *request) {
    char host[NAME_SIZE];
    cairn_address named;
    if (!cairn_address_is_loopback(request->from) ||
        !cairn_http_header_read(request, CAIRN_HTTP_HOST, host, sizeof host)) {
        return false;
    }
    if (cairn_address_parse(host, &named)) {
        return cairn_address_is_loopback(&named);
    }
    const size_t size = strcspn(host, ":");
    return size == strlen("localhost") && strncmp(host, "localhost", size) == 0;
}
