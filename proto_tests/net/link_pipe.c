// SPDX-License-Identifier: MIT
#include "proto_tests/net/link_pipe.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

pipe_settings pipe_settings_default(void) {
    return (pipe_settings){.seed = 1,
        .delay_ns = 10000000,
        .config = {cairn_link_config_default(), cairn_link_config_default()}};
}

pipe pipe_open(const pipe_settings *settings) {
    pipe p = {.settings = *settings,
        .random = cairn_random_of(settings->seed),
        .now_ns = CAIRN_NS_PER_S,
        .packets = malloc(PIPE_PACKETS_MAX * sizeof(pipe_packet))};
    CAIRN_ASSERT(p.packets != NULL);
    for (uint32_t i = 0; i < 2; i++) {
        const cairn_status status = cairn_link_create(&settings->config[i], p.now_ns, &p.ends[i]);
        CAIRN_ASSERT(status == CAIRN_OK);
    }
    return p;
}

void pipe_close(pipe *p) {
    cairn_link_destroy(p->ends[0]);
    cairn_link_destroy(p->ends[1]);
    free(p->packets);
}

static void put(pipe *p, uint32_t to, const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(p->packet_count < PIPE_PACKETS_MAX);
    pipe_packet *packet = &p->packets[p->packet_count++];
    const uint64_t jitter_ns =
        p->settings.jitter_ns > 0 ? cairn_random_below(&p->random, p->settings.jitter_ns) : 0;
    packet->at_ns = p->now_ns + p->settings.delay_ns + jitter_ns;
    packet->order = p->order++;
    packet->to = to;
    packet->size = (uint32_t)size;
    memcpy(packet->bytes, bytes, size);
}

static void send_all(pipe *p, uint32_t from) {
    uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX];
    const bool due = cairn_link_deadline_ns(p->ends[from]) <= p->now_ns;
    const uint64_t carried = p->carried;
    for (size_t size; (size = cairn_link_next_payload(p->ends[from], p->now_ns, bytes)) > 0;) {
        CAIRN_ASSERT(size <= sizeof bytes);
        p->carried++;
        if (p->cut || cairn_random_below(&p->random, 1000) < p->settings.loss_permille) {
            continue;
        }
        put(p, 1 - from, bytes, size);
        if (cairn_random_below(&p->random, 1000) < p->settings.repeat_permille) {
            put(p, 1 - from, bytes, size);
        }
    }
    // A driver sleeps to the deadline: it must neither oversleep nor spin.
    CAIRN_ASSERT(due || p->carried == carried);
    CAIRN_ASSERT(cairn_link_deadline_ns(p->ends[from]) > p->now_ns);
}

static void deliver(pipe *p, const pipe_packet *packet) {
    cairn_link_receive(p->ends[packet->to], p->now_ns, packet->bytes, packet->size);
    cairn_link_message message;
    while (cairn_link_next_message(p->ends[packet->to], &message)) {
        CAIRN_ASSERT((uintptr_t)message.bytes % 8 == 0);
        if (p->on_message != NULL) {
            p->on_message(p->user, packet->to, &message);
        }
    }
}

static int earlier_first(const void *a, const void *b) {
    const pipe_packet *x = a;
    const pipe_packet *y = b;
    if (x->at_ns != y->at_ns) {
        return x->at_ns < y->at_ns ? -1 : 1;
    }
    return x->order < y->order ? -1 : 1;
}

static void deliver_due(pipe *p) {
    qsort(p->packets, p->packet_count, sizeof *p->packets, earlier_first);
    uint32_t due = 0;
    while (due < p->packet_count && p->packets[due].at_ns <= p->now_ns) {
        deliver(p, &p->packets[due++]);
    }
    p->packet_count -= due;
    memmove(p->packets, p->packets + due, p->packet_count * sizeof *p->packets);
}

void pipe_run(pipe *p, uint64_t duration_ns) {
    const uint64_t end_ns = p->now_ns + duration_ns;
    while (p->now_ns < end_ns) {
        p->now_ns += 1000000;
        if (p->packet_count > 0) {
            deliver_due(p);
        }
        send_all(p, 0);
        send_all(p, 1);
    }
}
