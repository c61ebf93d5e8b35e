// SPDX-License-Identifier: MIT
// Addresses of sockets: every one that arrives is answered at the same one.
#define _DEFAULT_SOURCE
#include "tests/kit/test.h"

#include <string.h>

#include "program/sockaddr.h"

static struct sockaddr_storage ipv6(const char *text, uint16_t port, uint32_t scope) {
    struct sockaddr_in6 address = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_scope_id = scope};
    struct sockaddr_storage out = {0};
    assert_int_equal(inet_pton(AF_INET6, text, &address.sin6_addr), 1);
    memcpy(&out, &address, sizeof address);
    return out;
}

TEST("an address of IPv6 comes back as it was, with its scope if it is link-local") {
    static const struct {
        const char *text;
        uint32_t scope, kept;
    } rows[] = {{"::1", 0, 0}, {"2001:db8::1", 0, 0}, {"fe80::1", 2, 2}, {"fe80::1", 3, 3},
        {"fe80::fc00:fffe:0:1", 0x12345678, 0x12345678}, {"febf::9", 7, 7}, {"fec0::9", 7, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const struct sockaddr_storage from = ipv6(rows[i].text, 4000, rows[i].scope);
        const struct sockaddr_storage wanted = ipv6(rows[i].text, 4000, rows[i].kept);
        struct sockaddr_storage to;
        const cairn_address address = cairn_address_of_sockaddr((const struct sockaddr *)&from);
        assert_int_equal(address.family, CAIRN_ADDRESS_IPV6);
        assert_int_equal(cairn_address_to_sockaddr(&address, &to), sizeof(struct sockaddr_in6));
        assert_memory_equal(&to, &wanted, sizeof to);
        assert_int_equal(
            cairn_address_to_sockaddr_dual(&address, &to), sizeof(struct sockaddr_in6));
        assert_memory_equal(&to, &wanted, sizeof to);
    }
}

TEST("peers of two links with one address are two peers") {
    const struct sockaddr_storage a = ipv6("fe80::1", 4000, 2), b = ipv6("fe80::1", 4000, 3);
    const cairn_address of_a = cairn_address_of_sockaddr((const struct sockaddr *)&a);
    const cairn_address of_b = cairn_address_of_sockaddr((const struct sockaddr *)&b);
    assert_false(cairn_address_equal(&of_a, &of_b));
}

TEST("an address of IPv4 on a socket for both is that of IPv4") {
    const struct sockaddr_storage from = ipv6("::ffff:192.0.2.7", 4000, 0);
    const cairn_address address = cairn_address_of_sockaddr((const struct sockaddr *)&from);
    char text[CAIRN_ADDRESS_TEXT_SIZE];
    struct sockaddr_storage to;
    assert_string_equal(cairn_address_print(&address, text), "192.0.2.7:4000");
    assert_int_equal(cairn_address_to_sockaddr_dual(&address, &to), sizeof(struct sockaddr_in6));
    assert_memory_equal(&to, &from, sizeof to);
    assert_int_equal(cairn_address_to_sockaddr(&address, &to), sizeof(struct sockaddr_in));
}
