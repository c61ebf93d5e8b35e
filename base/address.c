// SPDX-License-Identifier: MIT
#include <cairn/types.h>

#include <stdio.h>
#include <string.h>
#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>
#else
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#endif

#include "base/assert.h"

bool cairn_address_equal(const cairn_address *a, const cairn_address *b) {
    CAIRN_ASSERT(a != NULL && b != NULL);
    return memcmp(a, b, sizeof *a) == 0;
}

// At most 65535, in decimal, without a sign or leading zeros.
static bool parse_port(const char *at, uint16_t *out) {
    CAIRN_ASSERT(at != NULL && out != NULL);
    uint32_t value = 0;
    if (at[0] == '\0' || (at[0] == '0' && at[1] != '\0')) {
        return false;
    }
    for (; *at >= '0' && *at <= '9' && value <= UINT16_MAX; ++at) {
        value = value * 10 + (uint32_t)(*at - '0');
    }
    *out = (uint16_t)value;
    return *at == '\0' && value <= UINT16_MAX;
}

// `host` is the part without brackets and port. An IPv4 address embedded in IPv6 is refused:
// cairn_address_print writes every IPv6 address as groups.
static bool parse_host(const char *host, size_t size, cairn_address *out) {
    CAIRN_ASSERT(size <= strlen(host));
    char text[INET6_ADDRSTRLEN];
    if (size >= sizeof text) {
        return false;
    }
    memcpy(text, host, size);
    text[size] = '\0';
    const bool dots = strchr(text, '.') != NULL;
    if (out->family == CAIRN_ADDRESS_IPV4) {
        return inet_pton(AF_INET, text, out->ip) == 1;
    }
    return !dots && inet_pton(AF_INET6, text, out->ip) == 1;
}

static bool parse_into(const char *text, cairn_address *out) {
    CAIRN_ASSERT(text != NULL && out != NULL);
    const bool bracket = text[0] == '[';
    const char *host = bracket ? text + 1 : text;
    out->family = !bracket && strchr(text, '.') != NULL ? CAIRN_ADDRESS_IPV4 : CAIRN_ADDRESS_IPV6;
    const char *end = bracket ? strchr(text, ']') : NULL;
    if (bracket && end == NULL) {
        return false;
    }
    if (out->family == CAIRN_ADDRESS_IPV4) {
        end = strchr(text, ':');
    }
    CAIRN_ASSERT(end == NULL || end >= host);
    const size_t size = end == NULL ? strlen(host) : (size_t)(end - host);
    if (!parse_host(host, size, out)) {
        return false;
    }
    const char *rest = end == NULL ? "" : end + (bracket ? 1 : 0);
    return rest[0] == '\0' || (rest[0] == ':' && parse_port(rest + 1, &out->port));
}

bool cairn_address_parse(const char *text, cairn_address *out) {
    CAIRN_ASSERT(text != NULL && out != NULL);
    *out = (cairn_address){0};
    if (!parse_into(text, out)) {
        *out = (cairn_address){0};
        return false;
    }
    CAIRN_ASSERT(out->family == CAIRN_ADDRESS_IPV4 || out->family == CAIRN_ADDRESS_IPV6);
    return true;
}

// RFC 5952. inet_ntop writes addresses that hold an IPv4 address with dots, which
// cairn_address_parse refuses: here they are groups, too.
static void print_ipv6(const uint8_t ip[16], char text[INET6_ADDRSTRLEN]) {
    static const uint8_t zeros[10] = {0};
    const unsigned groups[3] = {(unsigned)ip[10] << 8 | ip[11], (unsigned)ip[12] << 8 | ip[13],
        (unsigned)ip[14] << 8 | ip[15]};
    const bool mapped = groups[0] == 0xffff;
    const bool compatible = groups[0] == 0 && groups[1] != 0;
    if (memcmp(ip, zeros, sizeof zeros) == 0 && (mapped || compatible)) {
        snprintf(text, INET6_ADDRSTRLEN, "::%s%x:%x", mapped ? "ffff:" : "", groups[1], groups[2]);
        return;
    }
    const char *written = inet_ntop(AF_INET6, ip, text, INET6_ADDRSTRLEN);
    CAIRN_ASSERT(written != NULL);
}

char *cairn_address_print(const cairn_address *address, char text[CAIRN_ADDRESS_TEXT_SIZE]) {
    CAIRN_ASSERT(address != NULL && text != NULL);
    const uint8_t *ip = address->ip;
    if (address->family == CAIRN_ADDRESS_IPV4) {
        snprintf(text, CAIRN_ADDRESS_TEXT_SIZE, "%u.%u.%u.%u:%u", ip[0], ip[1], ip[2], ip[3],
            (unsigned)address->port);
    } else if (address->family == CAIRN_ADDRESS_IPV6) {
        char host[INET6_ADDRSTRLEN];
        print_ipv6(ip, host);
        snprintf(text, CAIRN_ADDRESS_TEXT_SIZE, "[%s]:%u", host, (unsigned)address->port);
    } else {
        snprintf(text, CAIRN_ADDRESS_TEXT_SIZE, "none");
    }
    return text;
}
