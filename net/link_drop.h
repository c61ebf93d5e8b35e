// SPDX-License-Identifier: MIT
#pragma once

// Why a link drops a payload: one reason, one counter each.

typedef enum cairn_link_drop {
    CAIRN_LINK_TAKEN = 0,
    CAIRN_LINK_DROP_SIZE,  // shorter than a header, or not a size of its kind
    CAIRN_LINK_DROP_KIND,  // unknown payload kind or reserved bits set
    CAIRN_LINK_DROP_STALE, // older than the sequence window
    CAIRN_LINK_DROP_DUPLICATE,
    CAIRN_LINK_DROP_ACK,          // acknowledges a payload that was never sent
    CAIRN_LINK_DROP_FRAGMENT,     // index, count or size impossible or contradicting
    CAIRN_LINK_DROP_MESSAGE_SIZE, // larger than receive_size_max
    CAIRN_LINK_DROP_STREAM,       // reliable bytes outside the receive window, or not cut at 8
    CAIRN_LINK_DROP_COUNT
} cairn_link_drop;
const char *cairn_link_drop_text(cairn_link_drop drop);
