// SPDX-License-Identifier: MIT
#include "program/host.h"

#include <stddef.h>

#include "program/addrinfo.h"
#include "program/system.h"

#define TOO_MANY "at most 32 addresses can be given, each once"

static const char *why_not(int result) {
    switch (result) {
    case EAI_AGAIN:
        return "no name server answered for this name; try again later, or give an address";
    case EAI_MEMORY:
        return "there is not enough memory to look this name up";
#ifdef EAI_SYSTEM
    case EAI_SYSTEM:
        return "the system could not look this name up";
#endif
    default:
        return "this name has no address";
    }
}

const char *cairn_host_find(const char *text, cairn_host *out) {
    CAIRN_ASSERT(text != NULL && out != NULL);
    cairn_host_text split;
    if (!cairn_host_split(text, &split)) {
        return CAIRN_HOST_TEXT_WHY;
    }
    const uint32_t before = out->count;
    if (cairn_host_add_address(out, text)) {
        return out->count > before ? NULL : TOO_MANY;
    }
    const struct addrinfo hints = cairn_host_hints();
    struct addrinfo *found = NULL;
    cairn_system_start_sockets();
    const int result = getaddrinfo(split.name, split.port, &hints, &found);
    if (result != 0) {
        return why_not(result);
    }
    cairn_host_add_all(out, found);
    freeaddrinfo(found);
    return out->count > before ? NULL : TOO_MANY;
}

const char *cairn_host_flag(void *out, const char *value, bool first) {
    cairn_host *host = out;
    if (first) {
        host->count = 0;
    }
    return cairn_host_find(value, host);
}
