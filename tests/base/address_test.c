// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <cairn/types.h>

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

static const struct {
    const char *text;
    const char *printed; // NULL: the text itself
} accepted[] = {
    {"0.0.0.0:0", NULL},
    {"127.0.0.1:40000", NULL},
    {"255.255.255.255:65535", NULL},
    {"10.0.0.1", "10.0.0.1:0"},
    {"[::]:1", NULL},
    {"[::1]:40000", NULL},
    {"[::1]", "[::1]:0"},
    {"::1", "[::1]:0"},
    {"::", "[::]:0"},
    {"1::", "[1::]:0"},
    {"[2001:db8::8:800:200c:417a]:65535", NULL},
    {"[2001:0db8:0000:0000:0008:0800:200C:417A]:9", "[2001:db8::8:800:200c:417a]:9"},
    {"[1:2:3:4:5:6:7:8]:1", NULL},
    {"[1:2:3:4:5:6:7::]:1", "[1:2:3:4:5:6:7:0]:1"},
    {"[::2:3:4:5:6:7:8]:1", "[0:2:3:4:5:6:7:8]:1"},
    {"[2001:db8:0:1:1:1:1:1]:1", NULL},                    // one zero group is not shortened
    {"[2001:0:0:1:0:0:0:1]:1", "[2001:0:0:1::1]:1"},       // the longest run is
    {"[2001:db8:0:0:1:0:0:1]:1", "[2001:db8::1:0:0:1]:1"}, // of equal runs the first
    {"[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535", NULL},
};

static const struct {
    const char *why;
    const char *text;
} refused[] = {
    {"nothing", ""},
    {"a space alone", " "},
    {"a space in front", " 1.2.3.4:5"},
    {"a space behind", "1.2.3.4:5 "},
    {"a host name", "localhost:1"},
    {"three octets", "1.2.3:4"},
    {"five octets", "1.2.3.4.5:6"},
    {"an octet too large", "256.0.0.1:1"},
    {"an octet far too large", "99999999999999999999.0.0.1:1"},
    {"a leading zero", "01.2.3.4:5"},
    {"two zeros", "00.2.3.4:5"},
    {"nine groups in brackets", "[1:2:3:4:5:6:7:8:9]:1"},
    {"an empty octet", "1..3.4:5"},
    {"a sign", "+1.2.3.4:5"},
    {"a negative octet", "-1.2.3.4:5"},
    {"hexadecimal", "0x1.2.3.4:5"},
    {"an empty port", "1.2.3.4:"},
    {"a port too large", "1.2.3.4:65536"},
    {"a port that wraps", "1.2.3.4:4294967297"},
    {"a leading zero in the port", "1.2.3.4:08"},
    {"a negative port", "1.2.3.4:-1"},
    {"two ports", "1.2.3.4:5:6"},
    {"letters behind the port", "1.2.3.4:5a"},
    {"IPv4 in brackets", "[1.2.3.4]:5"},
    {"no closing bracket", "[::1:5"},
    {"no opening bracket", "::1]:5"},
    {"empty brackets", "[]:5"},
    {"a port without a colon", "[::1]5"},
    {"an empty port behind brackets", "[::1]:"},
    {"one colon", ":"},
    {"three colons", ":::"},
    {"two gaps", "1::2::3"},
    {"a gap twice at the end", "::1::"},
    {"seven groups", "1:2:3:4:5:6:7"},
    {"nine groups", "1:2:3:4:5:6:7:8:9"},
    {"a gap of no group", "1:2:3:4:5:6:7:8::"},
    {"a gap in front of eight groups", "::1:2:3:4:5:6:7:8"},
    {"a group of five digits", "12345::"},
    {"a letter that is no digit", "::g"},
    {"a colon in front", ":1:2:3:4:5:6:7:8"},
    {"a colon behind", "1:2:3:4:5:6:7:8:"},
    {"a single colon before the end", "1::2:"},
    {"a zone", "fe80::1%eth0"},
    {"embedded IPv4", "::ffff:1.2.3.4"},
};

// Returns the text of an address, from which the same address must be parsed.
static const char *print_and_parse(const cairn_address *address) {
    static char text[CAIRN_ADDRESS_TEXT_SIZE];
    cairn_address again;
    assert_true(cairn_address_parse(cairn_address_print(address, text), &again));
    assert_true(cairn_address_equal(address, &again));
    return text;
}

TEST("an address prints as it was parsed") {
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; ++i) {
        cairn_address address;
        const char *expected = accepted[i].printed ? accepted[i].printed : accepted[i].text;
        assert_true(cairn_address_parse(accepted[i].text, &address));
        assert_string_equal(print_and_parse(&address), expected);
    }
}

TEST("a malformed address is refused and nothing is written") {
    const cairn_address none = {0};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i) {
        cairn_address address;
        memset(&address, 0x55, sizeof address);
        if (cairn_address_parse(refused[i].text, &address)) {
            fail_msg("accepted %s: \"%s\"", refused[i].why, refused[i].text);
        }
        assert_true(cairn_address_equal(&address, &none));
    }
}

TEST("an address has the bytes that the header states") {
    cairn_address address;
    assert_true(cairn_address_parse("1.2.3.4:258", &address));
    const cairn_address v4 = {.family = CAIRN_ADDRESS_IPV4, .port = 258, .ip = {1, 2, 3, 4}};
    assert_true(cairn_address_equal(&address, &v4));
    assert_true(cairn_address_parse("[102::f0e]:258", &address));
    const cairn_address v6 = {
        .family = CAIRN_ADDRESS_IPV6, .port = 258, .ip = {1, 2, [14] = 0x0f, [15] = 0x0e}};
    assert_true(cairn_address_equal(&address, &v6));
}

TEST("addresses that differ anywhere are not equal") {
    cairn_address address;
    assert_true(cairn_address_parse("[1:2:3:4:5:6:7:8]:9", &address));
    for (size_t i = 0; i < sizeof address; ++i) {
        cairn_address other = address;
        ((uint8_t *)&other)[i] ^= 1;
        assert_false(cairn_address_equal(&address, &other));
    }
}

TEST("the absent address prints as none") {
    const cairn_address none = {0};
    const cairn_address unknown = {.family = 200};
    char text[CAIRN_ADDRESS_TEXT_SIZE];
    assert_string_equal(cairn_address_print(&none, text), "none");
    assert_string_equal(cairn_address_print(&unknown, text), "none");
}

// The text sits at the end of its own block, so that a sanitizer sees a byte read too far.
TEST("random text is never read past its end") {
    static const char letters[] = "0123456789abcdefABCDEFg.:[]%- ";
    cairn_random random = cairn_random_of(1);
    for (int round = 0; round < 20000; ++round) {
        const size_t size = (size_t)cairn_random_below(&random, 60);
        char *text = malloc(size + 1);
        assert_non_null(text);
        for (size_t i = 0; i < size; ++i) {
            text[i] = letters[cairn_random_below(&random, sizeof letters - 1)];
        }
        text[size] = '\0';
        cairn_address address;
        if (cairn_address_parse(text, &address)) {
            (void)print_and_parse(&address);
        }
        free(text);
    }
}

TEST("every address is parsed again from its text") {
    cairn_random random = cairn_random_of(2);
    for (int round = 0; round < 20000; ++round) {
        cairn_address address = {.family = (uint8_t)(1 + cairn_random_below(&random, 2)),
            .port = (uint16_t)cairn_random_next(&random)};
        const size_t size = address.family == CAIRN_ADDRESS_IPV4 ? 4 : 16;
        for (size_t i = 0; i < size; ++i) {
            // Half of the bytes are zero, so that runs of zero groups of every length occur.
            address.ip[i] = (uint8_t)(cairn_random_next(&random) >> 32);
            address.ip[i] *= (uint8_t)cairn_random_below(&random, 2);
        }
        (void)print_and_parse(&address);
    }
}
