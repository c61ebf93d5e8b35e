// SPDX-License-Identifier: MIT
#pragma once

// A flow that sends as much as its congestion control allows, between two endpoints of the virtual
// network: the download that shares a bottleneck with a client. Its window grows and shrinks as
// TCP's does: Reno (RFC 5681), or CUBIC in the region where its window follows that of Reno (RFC
// 9438, section 4.3), which is where every path of a test lies. Each packet is acknowledged for
// itself; a packet is lost when three later ones were acknowledged, or one, and it is overdue by a
// quarter of the round trip (RFC 8985).

#include <stdbool.h>
#include <stdint.h>

#include "storm/network.h"

// Packets in flight at most.
#define CAIRN_GREEDY_FLOW_WINDOW_MAX 512

typedef enum cairn_greedy_flow_kind {
    CAIRN_GREEDY_FLOW_RENO = 0,
    CAIRN_GREEDY_FLOW_CUBIC,
} cairn_greedy_flow_kind;

typedef struct cairn_greedy_flow {
    cairn_virtual_network *network;
    uint32_t from;
    uint32_t to;
    uint32_t kind;       // cairn_greedy_flow_kind
    uint64_t window;     // packets, in units of 1 / 65536
    uint64_t threshold;  // of slow start, in the same units
    uint64_t oldest;     // every packet before it was acknowledged or is lost
    uint64_t next;       // number of the next packet
    uint64_t acked_next; // one past the newest packet acknowledged
    uint64_t recovery;   // losses of packets before it belong to a reduction that was made
    uint32_t in_flight;
    uint64_t rtt_ns;      // smoothed
    uint64_t progress_ns; // of the last acknowledgement
    uint64_t packets_received;
    uint64_t packets_lost;
    bool waits[CAIRN_GREEDY_FLOW_WINDOW_MAX * 2]; // in flight, by number
    uint64_t sent_ns[CAIRN_GREEDY_FLOW_WINDOW_MAX * 2];
} cairn_greedy_flow;

#define CAIRN_GREEDY_FLOW_PACKET_SIZE 1200

// Begins to send at once.
void cairn_greedy_flow_start(cairn_greedy_flow *flow, cairn_greedy_flow_kind kind,
    cairn_virtual_network *network, uint32_t from, uint32_t to);
// Takes a datagram that arrived at one of its endpoints. Returns false if it is not of this flow.
bool cairn_greedy_flow_receive(cairn_greedy_flow *flow, const cairn_virtual_datagram *datagram);
// Call it now and then: notices that nothing is acknowledged any more.
void cairn_greedy_flow_advance(cairn_greedy_flow *flow);
