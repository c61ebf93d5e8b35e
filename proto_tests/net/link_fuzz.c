// SPDX-License-Identifier: MIT
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "net/link.h"
#include "net/link_parts.h"

// The input is a script for two connected links: their payloads are delayed, dropped, repeated,
// changed or forged. Nothing may crash, every counter must add up, and the first link must receive
// reliable messages in order until an end has received a changed or forged payload.

#define HELD_MAX 64

typedef struct held_payload {
    uint32_t to;
    uint32_t size;
    bool honest;
    _Alignas(8) uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX];
} held_payload;

typedef struct stage {
    cairn_link *ends[2];
    uint64_t now_ns;
    held_payload held[HELD_MAX];
    uint32_t held_count;
    uint8_t sent[2];
    uint8_t received;
    bool touched; // an end received a payload that the other did not send
} stage;

static stage s;

static void hold(uint32_t to, const uint8_t *bytes, size_t size, bool honest) {
    held_payload *h = &s.held[s.held_count++ % HELD_MAX];
    *h = (held_payload){.to = to, .size = (uint32_t)size, .honest = honest};
    memcpy(h->bytes, bytes, size);
}

static void hold_payloads(uint32_t from) {
    _Alignas(8) uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX];
    for (uint32_t i = 0; i < 300; i++) {
        const size_t size = cairn_link_next_payload(s.ends[from], s.now_ns, bytes);
        CAIRN_ASSERT(size <= sizeof bytes);
        if (size == 0) {
            return;
        }
        hold(1 - from, bytes, size, true);
    }
}

static void check_counters(cairn_link *link) {
    const cairn_link_statistics *c = cairn_link_statistics_read(link);
    uint64_t all = 0;
    for (uint32_t i = 0; i < CAIRN_LINK_DROP_COUNT; i++) {
        all += c->drops[i];
    }
    CAIRN_ASSERT(all == c->payloads_received);
    CAIRN_ASSERT(c->payloads_acknowledged + c->payloads_lost <= c->payloads_sent);
    CAIRN_ASSERT(c->loss >= 0.0f && c->loss <= 1.0f);
}

static void deliver(const held_payload *h) {
    cairn_link *link = s.ends[h->to];
    cairn_link_message message;
    s.touched = s.touched || !h->honest;
    cairn_link_receive(link, s.now_ns, h->bytes, h->size);
    while (cairn_link_next_message(link, &message)) {
        CAIRN_ASSERT(message.size > 0 && (uintptr_t)message.bytes % 8 == 0);
        CAIRN_ASSERT(message.size <= link->config.receive_size_max);
        if (h->to == 0 && message.reliable && !s.touched) {
            CAIRN_ASSERT(message.bytes[0] == s.received);
            s.received++;
        }
    }
    check_counters(link);
}

static void send_message(uint32_t from, bool reliable, size_t size) {
    static uint8_t bytes[4096];
    size = size % sizeof bytes + 1;
    memset(bytes, s.sent[from], size);
    if (!reliable) {
        cairn_link_send_unreliable(s.ends[from], bytes, size);
    } else if (cairn_link_send_reliable(s.ends[from], bytes, size) == CAIRN_OK) {
        s.sent[from]++;
    }
}

static void act(cairn_reader *script) {
    const uint8_t verb = cairn_read_u8(script);
    const uint16_t number = cairn_read_u16(script);
    const uint32_t count = s.held_count < HELD_MAX ? s.held_count : HELD_MAX;
    held_payload *h = count > 0 ? &s.held[number % count] : NULL;
    const uint32_t end = verb >> 7;
    const uint8_t *forged = NULL;
    const size_t left = cairn_reader_left(script);
    const size_t size = number % (CAIRN_PAYLOAD_SIZE_MAX + 1u) < left
                            ? number % (CAIRN_PAYLOAD_SIZE_MAX + 1u)
                            : left;
    switch (verb & 7) {
    case 0:
    case 1:
        send_message(end, (verb & 1) != 0, number);
        break;
    case 2:
        hold_payloads(end);
        break;
    case 3:
        s.now_ns += (uint64_t)number * 20000;
        break;
    case 4:
    case 5:
        if (h != NULL) {
            deliver(h);
        }
        break;
    case 6:
        if (h != NULL && h->size > 0) {
            h->bytes[(verb >> 3) * 67u % h->size] ^= (uint8_t)(number >> 6 | 1);
            h->honest = false;
        }
        break;
    default:
        forged = cairn_read_view(script, size);
        if (forged != NULL) {
            hold(end, forged, size, false);
        }
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    cairn_link_config config = cairn_link_config_default();
    cairn_reader script = cairn_reader_of(bytes, size);
    config.receive_size_max = 3000;
    config.unreliable_size_max = 4096;
    config.reliable_buffer_size = 8192;
    s = (stage){.now_ns = 1000};
    const uint64_t start = (1ull << 32) - cairn_read_u8(&script);
    for (uint32_t i = 0; i < 2; i++) {
        CAIRN_ASSERT(cairn_link_create(&config, s.now_ns, &s.ends[i]) == CAIRN_OK);
        cairn_link_start_at(s.ends[i], start);
    }
    while (cairn_reader_left(&script) > 0) {
        act(&script);
    }
    cairn_link_destroy(s.ends[0]);
    cairn_link_destroy(s.ends[1]);
    return 0;
}
