// SPDX-License-Identifier: MIT
#include <cairn/types.h>

#include <stdio.h>
#include <string.h>

bool cairn_address_equal(const cairn_address *a, const cairn_address *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

// A run of decimal digits without leading zeros, at most `most`. Returns the first character behind
// it, or NULL.
static const char *parse_decimal(const char *at, unsigned most, unsigned *out) {
    if (*at < '0' || *at > '9' || (at[0] == '0' && at[1] >= '0' && at[1] <= '9')) {
        return NULL;
    }
    unsigned value = 0;
    for (; *at >= '0' && *at <= '9'; ++at) {
        value = value * 10 + (unsigned)(*at - '0');
        if (value > most) {
            return NULL;
        }
    }
    *out = value;
    return at;
}

static const char *parse_ipv4(const char *at, uint8_t ip[4]) {
    for (int i = 0; i < 4; ++i) {
        unsigned octet;
        if (i > 0 && *at++ != '.') {
            return NULL;
        }
        at = parse_decimal(at, 255, &octet);
        if (at == NULL) {
            return NULL;
        }
        ip[i] = (uint8_t)octet;
    }
    return at;
}

static int hex_value(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return -1;
}

static const char *parse_group(const char *at, uint16_t *out) {
    unsigned value = 0;
    int digits = 0;
    for (; digits < 4 && hex_value(*at) >= 0; ++digits, ++at) {
        value = value * 16 + (unsigned)hex_value(*at);
    }
    *out = (uint16_t)value;
    return digits > 0 ? at : NULL;
}

// RFC 4291 section 2.2 without the embedded IPv4 form.
static const char *parse_ipv6(const char *at, uint8_t ip[16]) {
    uint16_t groups[8] = {0};
    int count = 0;
    int gap = -1;
    if (at[0] == ':' && at[1] == ':') {
        gap = 0;
        at += 2;
    }
    while (count < 8 && hex_value(*at) >= 0) {
        at = parse_group(at, &groups[count++]);
        if (at[0] == ':' && at[1] == ':') {
            if (gap >= 0) {
                return NULL;
            }
            gap = count;
            at += 2;
        } else if (at[0] == ':' && count < 8) {
            ++at;
            if (hex_value(*at) < 0) {
                return NULL;
            }
        } else {
            break;
        }
    }
    if (gap < 0 ? count != 8 : count > 7) {
        return NULL;
    }
    for (int i = 0; i < count; ++i) {
        const int place = (gap >= 0 && i >= gap) ? 8 - count + i : i;
        ip[2 * place] = (uint8_t)(groups[i] >> 8);
        ip[2 * place + 1] = (uint8_t)groups[i];
    }
    return at;
}

static bool parse_port(const char *at, uint16_t *port) {
    unsigned value = 0;
    if (*at == '\0') {
        return true;
    }
    if (*at != ':') {
        return false;
    }
    at = parse_decimal(at + 1, 65535, &value);
    *port = (uint16_t)value;
    return at != NULL && *at == '\0';
}

static bool parse_into(const char *text, cairn_address *out) {
    if (text[0] == '[') {
        out->family = CAIRN_ADDRESS_IPV6;
        const char *at = parse_ipv6(text + 1, out->ip);
        return at != NULL && *at == ']' && parse_port(at + 1, &out->port);
    }
    if (strchr(text, '.') != NULL) {
        out->family = CAIRN_ADDRESS_IPV4;
        const char *at = parse_ipv4(text, out->ip);
        return at != NULL && parse_port(at, &out->port);
    }
    out->family = CAIRN_ADDRESS_IPV6;
    const char *at = parse_ipv6(text, out->ip);
    return at != NULL && *at == '\0';
}

bool cairn_address_parse(const char *text, cairn_address *out) {
    *out = (cairn_address){0};
    if (!parse_into(text, out)) {
        *out = (cairn_address){0};
        return false;
    }
    return true;
}

// RFC 5952 section 4.2: the longest run of two or more zero groups becomes "::", the first if
// equal.
static void find_zero_run(const uint16_t groups[8], int *start, int *length) {
    *start = -1;
    *length = 1;
    for (int i = 0; i < 8; ++i) {
        int run = 0;
        while (i + run < 8 && groups[i + run] == 0) {
            ++run;
        }
        if (run > *length) {
            *start = i;
            *length = run;
        }
    }
}

static void print_ipv6(const cairn_address *address, char *text) {
    uint16_t groups[8];
    for (int i = 0; i < 8; ++i) {
        groups[i] = (uint16_t)(address->ip[2 * i] << 8 | address->ip[2 * i + 1]);
    }
    int start;
    int length;
    find_zero_run(groups, &start, &length);
    size_t at = 0;
    for (int i = 0; i < 8; ++i) {
        if (i == start) {
            at += (size_t)snprintf(text + at, CAIRN_ADDRESS_TEXT_SIZE - at, "::");
            i += length - 1;
            continue;
        }
        const char *separator = (i == 0 || (start >= 0 && i == start + length)) ? "" : ":";
        at += (size_t)snprintf(
            text + at, CAIRN_ADDRESS_TEXT_SIZE - at, "%s%x", separator, (unsigned)groups[i]);
    }
}

char *cairn_address_print(const cairn_address *address, char text[CAIRN_ADDRESS_TEXT_SIZE]) {
    const uint8_t *ip = address->ip;
    if (address->family == CAIRN_ADDRESS_IPV4) {
        snprintf(text, CAIRN_ADDRESS_TEXT_SIZE, "%u.%u.%u.%u:%u", ip[0], ip[1], ip[2], ip[3],
            (unsigned)address->port);
    } else if (address->family == CAIRN_ADDRESS_IPV6) {
        char groups[CAIRN_ADDRESS_TEXT_SIZE];
        print_ipv6(address, groups);
        snprintf(text, CAIRN_ADDRESS_TEXT_SIZE, "[%.45s]:%u", groups, (unsigned)address->port);
    } else {
        snprintf(text, CAIRN_ADDRESS_TEXT_SIZE, "none");
    }
    return text;
}
