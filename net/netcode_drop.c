// SPDX-License-Identifier: MIT
#include "net/netcode_drop.h"

const char *cairn_netcode_drop_text(cairn_netcode_drop drop) {
    static const char *const texts[CAIRN_NETCODE_DROP_COUNT] = {
        [CAIRN_NETCODE_TAKEN] = "taken",
        [CAIRN_NETCODE_DROP_SIZE] = "wrong size",
        [CAIRN_NETCODE_DROP_TYPE] = "unknown or unexpected packet type",
        [CAIRN_NETCODE_DROP_SEQUENCE_BYTES] = "invalid sequence length",
        [CAIRN_NETCODE_DROP_UNKNOWN_SENDER] = "unknown sender",
        [CAIRN_NETCODE_DROP_REPLAYED] = "received before or too old",
        [CAIRN_NETCODE_DROP_DECRYPT] = "decryption failed",
        [CAIRN_NETCODE_DROP_VERSION] = "other protocol version",
        [CAIRN_NETCODE_DROP_PROTOCOL_ID] = "other protocol id",
        [CAIRN_NETCODE_DROP_TOKEN_EXPIRED] = "token expired",
        [CAIRN_NETCODE_DROP_TOKEN_RESTART] = "token may be from before the start",
        [CAIRN_NETCODE_DROP_TOKEN_BROKEN] = "token cannot be decrypted",
        [CAIRN_NETCODE_DROP_TOKEN_NOT_FOR_US] = "token names other servers",
        [CAIRN_NETCODE_DROP_TOKEN_USED] = "token already used",
        [CAIRN_NETCODE_DROP_TOKEN_HISTORY_FULL] = "token history full",
        [CAIRN_NETCODE_DROP_ADDRESS_CONNECTED] = "address already connected",
        [CAIRN_NETCODE_DROP_ID_CONNECTED] = "client id already connected",
        [CAIRN_NETCODE_DROP_HANDSHAKES_FULL] = "too many handshakes under way",
        [CAIRN_NETCODE_DROP_SERVER_FULL] = "server full",
        [CAIRN_NETCODE_DROP_CHALLENGE] = "challenge token is not this server's",
        [CAIRN_NETCODE_DROP_WRONG_STATE] = "not expected in this state",
        [CAIRN_NETCODE_DROP_SEND_QUEUE_FULL] = "no room to queue an answer",
        [CAIRN_NETCODE_DROP_UNREAD] = "last payload was not taken in time",
    };
    return (unsigned)drop < CAIRN_NETCODE_DROP_COUNT ? texts[drop] : "unknown reason";
}
