// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <string.h>

#include "net/link.h"

SCOPE_POINTER_ENDS(cairn_link, cairn_link_destroy)

// Tests what docs/PROTOCOL.md says about the bytes of a link.

#define ACKS 0x08
#define BARE 1
#define MESSAGE 2
#define FRAGMENT 3
#define STREAM 4

static size_t put32(uint8_t *bytes, size_t at, uint32_t value) {
    for (size_t i = 0; i < 4; i++) {
        bytes[at + i] = (uint8_t)(value >> (8 * i));
    }
    return at + 4;
}

// A payload as a row of a table: header fields, two words of a part header, filling.
typedef struct row {
    const char *rule;
    cairn_link_drop expected;
    uint32_t kind; // with flags
    uint32_t window;
    uint32_t delay;
    uint32_t sequence;
    uint32_t ack;
    uint32_t bits;
    uint32_t words[3];
    uint32_t word_count;
    uint32_t fill; // bytes that follow
} row;

static size_t write_row(const row *r, uint8_t *bytes) {
    bytes[0] = (uint8_t)r->kind;
    bytes[1] = (uint8_t)r->window;
    bytes[2] = (uint8_t)r->delay;
    bytes[3] = (uint8_t)(r->delay >> 8);
    put32(bytes, 4, r->sequence);
    put32(bytes, 8, r->ack);
    size_t at = put32(bytes, 12, r->bits);
    for (uint32_t i = 0; i < r->word_count; i++) {
        at = put32(bytes, at, r->words[i]);
    }
    memset(bytes + at, 0x5a, r->fill);
    return at + r->fill;
}

static cairn_link *new_link(uint32_t receive_size_max) {
    cairn_link_config config = cairn_link_config_default();
    config.receive_size_max = receive_size_max;
    cairn_link *link = NULL;
    assert_int_equal(cairn_link_create(&config, 0, &link), CAIRN_OK);
    return link;
}

// Receives messages of five bytes with these sequences.
static void receive_messages(
    cairn_link *link, uint64_t now_ns, const uint32_t *sequences, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        _Alignas(8) uint8_t bytes[64];
        const row r = {"", 0, MESSAGE, 1, 0, sequences[i], 0, 0, {0}, 0, 5};
        const size_t size = write_row(&r, bytes);
        assert_int_equal(cairn_link_receive(link, now_ns, bytes, size), CAIRN_LINK_TAKEN);
    }
}

// A link that has sent sequences 0 to 3 and received 0 to 2 and 2000.
static cairn_link *active_link(void) {
    cairn_link *link = new_link(4000);
    _Alignas(8) uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX + 100] = {1};
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(cairn_link_send_unreliable(link, bytes, 10), CAIRN_OK);
        assert_int_equal(cairn_link_next_payload(link, 1000, bytes), 26);
    }
    receive_messages(link, 2000, (const uint32_t[]){0, 1, 2, 2000}, 4);
    return link;
}

static void check_row(const row *r) {
    _Alignas(8) uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX + 100];
    SCOPED(cairn_link) *link = active_link();
    const cairn_link_statistics before = *cairn_link_statistics_read(link);
    const size_t size = write_row(r, bytes);
    const cairn_link_drop drop = cairn_link_receive(link, 3000, bytes, size);
    if (drop != r->expected) {
        fail_msg("%s: %s, expected %s", r->rule, cairn_link_drop_text(drop),
            cairn_link_drop_text(r->expected));
    }
    const cairn_link_statistics *after = cairn_link_statistics_read(link);
    for (uint32_t i = 0; i < CAIRN_LINK_DROP_COUNT; i++) {
        assert_int_equal(after->drops[i] - before.drops[i], i == (uint32_t)drop ? 1 : 0);
    }
    if (drop != CAIRN_LINK_TAKEN) {
        assert_int_equal(after->payloads_acknowledged, before.payloads_acknowledged);
    }
}

#define TAKEN CAIRN_LINK_TAKEN
#define SIZE CAIRN_LINK_DROP_SIZE
#define KIND CAIRN_LINK_DROP_KIND
#define STALE CAIRN_LINK_DROP_STALE
#define DUPLICATE CAIRN_LINK_DROP_DUPLICATE
#define ACK CAIRN_LINK_DROP_ACK
#define PIECE CAIRN_LINK_DROP_FRAGMENT
#define LARGE CAIRN_LINK_DROP_MESSAGE_SIZE
#define WINDOW CAIRN_LINK_DROP_STREAM

TEST("a header that breaks one rule is refused for the right reason") {
    static const row rows[] = {
        // rule, expected, kind, window, delay, sequence, ack, bits, words, word count, filling
        {"a message", TAKEN, MESSAGE, 1, 0, 2001, 0, 0, {0}, 0, 1},
        {"the largest message", TAKEN, MESSAGE, 1, 0, 2001, 0, 0, {0}, 0, 1184},
        {"an empty message", SIZE, MESSAGE, 1, 0, 2001, 0, 0, {0}, 0, 0},
        {"a message larger than a payload", SIZE, MESSAGE, 1, 0, 2001, 0, 0, {0}, 0, 1185},
        {"kind 0", KIND, 0, 1, 0, 2001, 0, 0, {0}, 0, 1},
        {"kind 5", KIND, 5, 1, 0, 2001, 0, 0, {0}, 0, 1},
        {"kind 7", KIND, 7, 1, 0, 2001, 0, 0, {0}, 0, 1},
        {"bit 4", KIND, MESSAGE | 0x10, 1, 0, 2001, 0, 0, {0}, 0, 1},
        {"bit 7", KIND, MESSAGE | 0x80, 1, 0, 2001, 0, 0, {0}, 0, 1},
        {"window 0", KIND, MESSAGE, 0, 0, 2001, 0, 0, {0}, 0, 1},
        {"another window than before", CAIRN_LINK_DROP_WINDOW, MESSAGE, 2, 0, 2001, 0, 0, {0}, 0,
            1},
        {"a delay without acks", KIND, MESSAGE, 1, 1, 2001, 0, 0, {0}, 0, 1},
        {"an ack without acks", KIND, MESSAGE, 1, 0, 2001, 1, 0, {0}, 0, 1},
        {"ack bits without acks", KIND, MESSAGE, 1, 0, 2001, 0, 1, {0}, 0, 1},
        {"a bare ack without acks", KIND, BARE, 1, 0, 2001, 0, 0, {0}, 0, 0},
        {"a bare ack", TAKEN, BARE | ACKS, 1, 0, 2001, 3, 7, {0}, 0, 0},
        {"a bare ack of half a word", SIZE, BARE | ACKS, 1, 0, 2001, 3, 7, {0}, 0, 2},
        {"a bare ack of nine words", SIZE, BARE | ACKS, 1, 0, 2001, 3, 7, {0}, 0, 36},
        {"a bare ack that ends in zeros", KIND, BARE | ACKS, 1, 0, 2001, 3, 7, {0}, 1, 0},
        {"the newest again", DUPLICATE, MESSAGE, 1, 0, 2000, 0, 0, {0}, 0, 1},
        {"the oldest of the window", TAKEN, MESSAGE, 1, 0, 977, 0, 0, {0}, 0, 1},
        {"one before the window", STALE, MESSAGE, 1, 0, 976, 0, 0, {0}, 0, 1},
        {"long ago", STALE, MESSAGE, 1, 0, 0, 0, 0, {0}, 0, 1},
        {"before the first", TAKEN, MESSAGE, 1, 0, 0x7fffffff, 0, 0, {0}, 0, 1},
        {"an ack of the last sent", TAKEN, MESSAGE | ACKS, 1, 0, 2001, 3, 7, {0}, 0, 1},
        {"an ack of the next", ACK, MESSAGE | ACKS, 1, 0, 2001, 4, 0, {0}, 0, 1},
        {"an ack far ahead", ACK, MESSAGE | ACKS, 1, 0, 2001, 0x7fffffff, 0, {0}, 0, 1},
        {"an ack before the first", ACK, MESSAGE | ACKS, 1, 0, 2001, 0xffffffff, 0, {0}, 0, 1},
        {"a bit before the first", ACK, MESSAGE | ACKS, 1, 0, 2001, 3, 8, {0}, 0, 1},
        {"a far bit before the first", ACK, BARE | ACKS, 1, 0, 2001, 3, 7, {1}, 1, 0},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(&rows[i]);
    }
}

TEST("a fragment or segment that breaks one rule is refused for the right reason") {
    static const row rows[] = {
        {"a first fragment", TAKEN, FRAGMENT, 1, 0, 2001, 0, 0, {0, 1185}, 2, 1000},
        {"a last fragment", TAKEN, FRAGMENT, 1, 0, 2001, 0, 0, {1, 1185}, 2, 185},
        {"a fragment without bytes", SIZE, FRAGMENT, 1, 0, 2001, 0, 0, {0, 1185}, 2, 0},
        {"a fragment of 1001 bytes", SIZE, FRAGMENT, 1, 0, 2001, 0, 0, {0, 1185}, 2, 1001},
        {"a first fragment cut short", PIECE, FRAGMENT, 1, 0, 2001, 0, 0, {0, 1185}, 2, 999},
        {"a last fragment too long", PIECE, FRAGMENT, 1, 0, 2001, 0, 0, {1, 1185}, 2, 186},
        {"a fragment past the last", PIECE, FRAGMENT, 1, 0, 2001, 0, 0, {2, 1185}, 2, 1000},
        {"index 2^32 - 1", PIECE, FRAGMENT, 1, 0, 2001, 0, 0, {UINT32_MAX, 3000}, 2, 1000},
        {"a message that fits one payload", PIECE, FRAGMENT, 1, 0, 2001, 0, 0, {0, 1184}, 2, 1000},
        {"a message of size 0", PIECE, FRAGMENT, 1, 0, 2001, 0, 0, {0, 0}, 2, 1000},
        {"larger than any message", PIECE, FRAGMENT, 1, 0, 2001, 0, 0, {0, 262145}, 2, 1000},
        {"size 2^32 - 1", PIECE, FRAGMENT, 1, 0, 2001, 0, 0, {0, UINT32_MAX}, 2, 1000},
        {"the largest this side accepts", TAKEN, FRAGMENT, 1, 0, 2001, 0, 0, {0, 4000}, 2, 1000},
        {"larger than this side accepts", LARGE, FRAGMENT, 1, 0, 2001, 0, 0, {0, 4001}, 2, 1000},
        // A frame of 4 bytes, then one whose message is to come.
        {"a segment", TAKEN, STREAM, 1, 0, 2001, 0, 0, {0, 0, 4}, 3, 4},
        {"a segment without bytes", SIZE, STREAM, 1, 0, 2001, 0, 0, {0, 0}, 2, 0},
        {"a segment too long", SIZE, STREAM, 1, 0, 2001, 0, 0, {0, 0, 4}, 3, 1004},
        {"a segment of 12 bytes", WINDOW, STREAM, 1, 0, 2001, 0, 0, {0, 0, 4}, 3, 8},
        {"an offset of 4", WINDOW, STREAM, 1, 0, 2001, 0, 0, {4, 0, 4}, 3, 4},
        {"the window's last bytes", TAKEN, STREAM, 1, 0, 2001, 0, 0, {4088, 0, 4}, 3, 4},
        {"past the window", WINDOW, STREAM, 1, 0, 2001, 0, 0, {4088, 0, 4}, 3, 12},
        {"behind the window", WINDOW, STREAM, 1, 0, 2001, 0, 0, {4104, 0, 4}, 3, 4},
        {"offset 2^64 - 8", WINDOW, STREAM, 1, 0, 2001, 0, 0, {UINT32_MAX - 7, UINT32_MAX, 4}, 3,
            4},
        {"a frame of size 0", LARGE, STREAM, 1, 0, 2001, 0, 0, {0, 0, 0}, 3, 4},
        {"a frame larger than this side accepts", LARGE, STREAM, 1, 0, 2001, 0, 0, {0, 0, 4001}, 3,
            4},
        {"the largest frame this side accepts", TAKEN, STREAM, 1, 0, 2001, 0, 0, {0, 0, 4000}, 3,
            4},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(&rows[i]);
    }
}

TEST("a drop that has no number has a text") {
    assert_string_equal(cairn_link_drop_text(CAIRN_LINK_DROP_COUNT), "unknown");
}

TEST("a payload shorter than its header is refused") {
    const row r = {"", TAKEN, MESSAGE, 1, 0, 2001, 0, 0, {0}, 0, 1};
    _Alignas(8) uint8_t bytes[64];
    SCOPED(cairn_link) *link = active_link();
    assert_int_equal(write_row(&r, bytes), 17);
    for (size_t size = 0; size < 17; size++) {
        assert_int_equal(cairn_link_receive(link, 3000, bytes, size), CAIRN_LINK_DROP_SIZE);
    }
    assert_int_equal(cairn_link_receive(link, 3000, bytes, 17), CAIRN_LINK_TAKEN);
}

TEST("fragments that contradict each other are refused") {
    const row first = {"", TAKEN, FRAGMENT, 1, 0, 2001, 0, 0, {0, 2500}, 2, 1000};
    const row liar = {"", PIECE, FRAGMENT, 1, 0, 2002, 0, 0, {1, 2600}, 2, 1000};
    const row second = {"", TAKEN, FRAGMENT, 1, 0, 2002, 0, 0, {1, 2500}, 2, 1000};
    const row third = {"", TAKEN, FRAGMENT, 1, 0, 2003, 0, 0, {2, 2500}, 2, 500};
    const row *const rows[] = {&third, &first, &liar, &second};
    _Alignas(8) uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX];
    cairn_link_message message;
    SCOPED(cairn_link) *link = active_link();
    while (cairn_link_next_message(link, &message)) {}
    for (uint32_t i = 0; i < 4; i++) {
        assert_false(cairn_link_next_message(link, &message));
        const size_t size = write_row(rows[i], bytes);
        assert_int_equal(cairn_link_receive(link, 3000, bytes, size), rows[i]->expected);
    }
    assert_true(cairn_link_next_message(link, &message));
    assert_int_equal(message.size, 2500);
    assert_false(message.reliable);
}

TEST("bytes of the stream that were received do not change") {
    // The frame's header comes first and is checked; a segment that says otherwise changes nothing.
    const row header = {"", TAKEN, STREAM, 1, 0, 2001, 0, 0, {0, 0, 12}, 3, 4};
    const row liar = {"", TAKEN, STREAM, 1, 0, 2002, 0, 0, {0, 0, 4000}, 3, 12};
    _Alignas(8) uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX];
    cairn_link_message message;
    SCOPED(cairn_link) *link = active_link();
    while (cairn_link_next_message(link, &message)) {}
    cairn_link_receive(link, 3000, bytes, write_row(&header, bytes));
    cairn_link_receive(link, 3000, bytes, write_row(&liar, bytes));
    assert_true(cairn_link_next_message(link, &message));
    assert_int_equal(message.size, 12);
    assert_true(message.reliable);
    assert_false(cairn_link_next_message(link, &message));
}

TEST("a segment adds what follows the bytes that were received") {
    // The frame's header and 4 bytes, then the whole frame.
    const row first = {"", TAKEN, STREAM, 1, 0, 2001, 0, 0, {0, 0, 12}, 3, 4};
    const row whole = {"", TAKEN, STREAM, 1, 0, 2002, 0, 0, {0, 0, 12}, 3, 12};
    _Alignas(8) uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX];
    cairn_link_message message;
    SCOPED(cairn_link) *link = active_link();
    while (cairn_link_next_message(link, &message)) {}
    cairn_link_receive(link, 3000, bytes, write_row(&first, bytes));
    assert_false(cairn_link_next_message(link, &message));
    const size_t size = write_row(&whole, bytes);
    memcpy(bytes + size - 12, "1234abcdefgh", 12);
    cairn_link_receive(link, 3000, bytes, size);
    assert_true(cairn_link_next_message(link, &message));
    assert_int_equal(message.size, 12);
    assert_memory_equal(message.bytes, "ZZZZabcdefgh", 12);
}

TEST("payloads have the bytes of the document") {
    static const uint8_t first[] = {2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 'c'};
    static const uint8_t acked[] = {
        10, 1, 125, 0, 1, 0, 0, 0, 0xd0, 7, 0, 0, 0, 4, 0, 0x80, 'a', 'b', 'c'};
    static const uint8_t stream[] = {12, 1, 125, 0, 2, 0, 0, 0, 0xd0, 7, 0, 0, 0, 4, 0, 0x80, 0, 0,
        0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 'a', 'b', 'c', 0};
    const uint8_t text[] = {'a', 'b', 'c'};
    _Alignas(8) uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX];
    SCOPED(cairn_link) *link = new_link(100);

    cairn_link_send_unreliable(link, text, sizeof text);
    assert_int_equal(cairn_link_next_payload(link, 0, bytes), sizeof first);
    assert_memory_equal(bytes, first, sizeof first);

    receive_messages(link, 1000000, (const uint32_t[]){1968, 1989, 2000}, 3);
    cairn_link_send_unreliable(link, text, sizeof text);
    assert_int_equal(cairn_link_next_payload(link, 2000000, bytes), sizeof acked);
    assert_memory_equal(bytes, acked, sizeof acked);

    cairn_link_send_reliable(link, text, sizeof text);
    assert_int_equal(cairn_link_next_payload(link, 2000000, bytes), sizeof stream);
    assert_memory_equal(bytes, stream, sizeof stream);
}

TEST("a bare ack waits 20 ms and acknowledges more than 33 sequences") {
    static const uint8_t bare[] = {
        9, 1, 0xc4, 9, 0, 0, 0, 0, 0xd1, 7, 0, 0, 1, 8, 0, 0, 1, 0, 0, 0};
    _Alignas(8) uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX];
    SCOPED(cairn_link) *link = new_link(100);
    receive_messages(link, 3000000, (const uint32_t[]){1968, 1989, 2000, 2001}, 4);
    assert_int_equal(cairn_link_deadline_ns(link), 23000000);
    assert_int_equal(cairn_link_next_payload(link, 22999999, bytes), 0);
    assert_int_equal(cairn_link_next_payload(link, 23000000, bytes), sizeof bare);
    assert_memory_equal(bytes, bare, sizeof bare);
    assert_int_equal(cairn_link_next_payload(link, 23000000, bytes), 0);
    assert_int_equal(cairn_link_deadline_ns(link), UINT64_MAX);
}

TEST("only unreliable messages may be acknowledged later") {
    const row segment = {"", TAKEN, STREAM, 1, 0, 2002, 0, 0, {0, 0, 12}, 3, 4};
    _Alignas(8) uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX];
    SCOPED(cairn_link) *link = new_link(100);
    cairn_link_delay_acks(link, CAIRN_ACK_DELAY_NS_MAX);
    receive_messages(link, 3000000, (const uint32_t[]){2001}, 1);
    assert_int_equal(cairn_link_deadline_ns(link), 63000000);
    const size_t size = write_row(&segment, bytes);
    assert_int_equal(cairn_link_receive(link, 4000000, bytes, size), CAIRN_LINK_TAKEN);
    receive_messages(link, 5000000, (const uint32_t[]){2003}, 1); // does not put it off
    assert_int_equal(cairn_link_deadline_ns(link), 24000000);
    assert_int_equal(cairn_link_next_payload(link, 23999999, bytes), 0);
    assert_true(cairn_link_next_payload(link, 24000000, bytes) > 0);
    assert_int_equal(cairn_link_deadline_ns(link), UINT64_MAX);
    cairn_link_reset(link, 30000000);
    receive_messages(link, 30000000, (const uint32_t[]){2001}, 1);
    assert_int_equal(cairn_link_deadline_ns(link), 50000000);
}

TEST("what an ack in passing does not reach has a bare ack 20 ms after it came") {
    _Alignas(8) uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX];
    SCOPED(cairn_link) *link = new_link(100);
    receive_messages(link, 100000000, (const uint32_t[]){2001}, 1);
    receive_messages(link, 105000000, (const uint32_t[]){1960}, 1);
    cairn_link_send_unreliable(link, bytes, 1);
    assert_int_equal(cairn_link_next_payload(link, 106000000, bytes), CAIRN_LINK_HEADER_SIZE + 1);
    assert_int_equal(cairn_link_deadline_ns(link), 125000000);
    assert_int_equal(cairn_link_next_payload(link, 124999999, bytes), 0);
    assert_true(cairn_link_next_payload(link, 125000000, bytes) > CAIRN_LINK_HEADER_SIZE);
    assert_int_equal(cairn_link_deadline_ns(link), UINT64_MAX);
}
