// SPDX-License-Identifier: MIT
#include "net/link_drop.h"

const char *cairn_link_drop_text(cairn_link_drop drop) {
    static const char *const texts[CAIRN_LINK_DROP_COUNT] = {
        [CAIRN_LINK_TAKEN] = "taken",
        [CAIRN_LINK_DROP_SIZE] = "payload size does not fit its kind",
        [CAIRN_LINK_DROP_KIND] = "unknown payload kind or reserved bits set",
        [CAIRN_LINK_DROP_STALE] = "older than the sequence window",
        [CAIRN_LINK_DROP_DUPLICATE] = "received before",
        [CAIRN_LINK_DROP_ACK] = "acknowledges a payload that was never sent",
        [CAIRN_LINK_DROP_FRAGMENT] = "fragment is invalid or contradicts another",
        [CAIRN_LINK_DROP_MESSAGE_SIZE] = "message larger than this side accepts",
        [CAIRN_LINK_DROP_STREAM] = "reliable bytes outside the receive window",
    };
    return (unsigned)drop < CAIRN_LINK_DROP_COUNT ? texts[drop] : "unknown";
}
