// SPDX-License-Identifier: MIT
#include "storm/greedy_flow.h"

#include <string.h>

#include "base/assert.h"

#define ACK_SIZE 40
#define SLOTS (CAIRN_GREEDY_FLOW_WINDOW_MAX * 2)
static const uint64_t one_packet = 65536;
static const uint64_t first_window = 10;
static const uint64_t timeout_ns_min = 200000000;

static void send_number(
    cairn_greedy_flow *flow, uint32_t from, uint32_t to, uint64_t number, size_t size) {
    uint8_t bytes[CAIRN_GREEDY_FLOW_PACKET_SIZE] = {0};
    memcpy(bytes, &number, sizeof number);
    cairn_virtual_send(flow->network, from, cairn_virtual_address(flow->network, to), bytes, size);
}

static void send_packets(cairn_greedy_flow *flow) {
    const uint64_t now_ns = cairn_virtual_now_ns(flow->network);
    while (flow->in_flight < flow->window / one_packet && flow->next - flow->oldest < SLOTS) {
        CAIRN_ASSERT(!flow->waits[flow->next % SLOTS]);
        flow->waits[flow->next % SLOTS] = true;
        flow->sent_ns[flow->next % SLOTS] = now_ns;
        flow->in_flight++;
        send_number(flow, flow->from, flow->to, flow->next++, CAIRN_GREEDY_FLOW_PACKET_SIZE);
    }
}

void cairn_greedy_flow_start(cairn_greedy_flow *flow, cairn_greedy_flow_kind kind,
    cairn_virtual_network *network, uint32_t from, uint32_t to) {
    *flow = (cairn_greedy_flow){.network = network,
        .from = from,
        .to = to,
        .kind = (uint32_t)kind,
        .window = first_window * one_packet,
        .threshold = UINT64_MAX,
        .progress_ns = cairn_virtual_now_ns(network)};
    send_packets(flow);
}

static void grow(cairn_greedy_flow *flow) {
    if (flow->window < flow->threshold) {
        flow->window += one_packet;
    } else {
        // Reno adds a packet in a round trip; CUBIC, which gives up less, 3 (1 - 0.7) / (1 + 0.7).
        const uint64_t share =
            flow->kind == CAIRN_GREEDY_FLOW_CUBIC ? one_packet * 9 / 17 : one_packet;
        flow->window += share * one_packet / flow->window;
    }
    const uint64_t most = CAIRN_GREEDY_FLOW_WINDOW_MAX * one_packet;
    flow->window = flow->window < most ? flow->window : most;
}

static void reduce(cairn_greedy_flow *flow) {
    const uint64_t kept = flow->kind == CAIRN_GREEDY_FLOW_CUBIC ? 7 : 5;
    flow->window = flow->window * kept / 10;
    flow->window = flow->window > 2 * one_packet ? flow->window : 2 * one_packet;
    flow->threshold = flow->window;
    flow->recovery = flow->next;
}

static void resolve(cairn_greedy_flow *flow, uint64_t number) {
    CAIRN_ASSERT(flow->waits[number % SLOTS] && flow->in_flight > 0);
    flow->waits[number % SLOTS] = false;
    flow->in_flight--;
}

static void detect_losses(cairn_greedy_flow *flow) {
    for (; flow->oldest < flow->next; flow->oldest++) {
        if (!flow->waits[flow->oldest % SLOTS]) {
            continue;
        }
        const uint64_t since_ns =
            cairn_virtual_now_ns(flow->network) - flow->sent_ns[flow->oldest % SLOTS];
        const bool overdue =
            flow->oldest < flow->acked_next && since_ns > flow->rtt_ns + flow->rtt_ns / 4;
        if (flow->oldest + 3 >= flow->acked_next && !overdue) {
            return;
        }
        resolve(flow, flow->oldest);
        flow->packets_lost++;
        if (flow->oldest >= flow->recovery) {
            reduce(flow);
        }
    }
}

static void take_ack(cairn_greedy_flow *flow, uint64_t number) {
    const uint64_t now_ns = cairn_virtual_now_ns(flow->network);
    if (number < flow->oldest || number >= flow->next || !flow->waits[number % SLOTS]) {
        return;
    }
    const uint64_t sample_ns = now_ns - flow->sent_ns[number % SLOTS];
    flow->rtt_ns = flow->rtt_ns == 0 ? sample_ns : (7 * flow->rtt_ns + sample_ns) / 8;
    flow->progress_ns = now_ns;
    flow->acked_next = number + 1 > flow->acked_next ? number + 1 : flow->acked_next;
    resolve(flow, number);
    grow(flow);
    detect_losses(flow);
    send_packets(flow);
}

bool cairn_greedy_flow_receive(cairn_greedy_flow *flow, const cairn_virtual_datagram *datagram) {
    uint64_t number = 0;
    memcpy(&number, datagram->bytes, sizeof number);
    if (flow->network != NULL && datagram->to == flow->to) {
        flow->packets_received++;
        send_number(flow, flow->to, flow->from, number, ACK_SIZE);
        return true;
    }
    if (flow->network != NULL && datagram->to == flow->from) {
        take_ack(flow, number);
        return true;
    }
    return false;
}

void cairn_greedy_flow_advance(cairn_greedy_flow *flow) {
    const uint64_t now_ns = cairn_virtual_now_ns(flow->network);
    const uint64_t timeout_ns =
        2 * flow->rtt_ns > timeout_ns_min ? 2 * flow->rtt_ns : timeout_ns_min;
    if (flow->in_flight == 0 || now_ns < flow->progress_ns + timeout_ns) {
        return;
    }
    for (uint64_t number = flow->oldest; number < flow->next; number++) {
        if (flow->waits[number % SLOTS]) {
            resolve(flow, number);
            flow->packets_lost++;
        }
    }
    flow->oldest = flow->next;
    reduce(flow);
    flow->window = 2 * one_packet;
    flow->progress_ns = now_ns;
    send_packets(flow);
}
