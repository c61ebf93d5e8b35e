// SPDX-License-Identifier: MIT
#pragma once

// Every reason to drop a datagram, in the order of the checks of the standard. Each has a
// counter; no datagram is dropped uncounted.
typedef enum cairn_netcode_drop {
    CAIRN_NETCODE_TAKEN = 0,           // not dropped
    CAIRN_NETCODE_DROP_SIZE,           // too small, too large, or wrong for its type
    CAIRN_NETCODE_DROP_TYPE,           // unknown type, or not allowed for this side
    CAIRN_NETCODE_DROP_SEQUENCE_BYTES, // not 1 .. 8, or longer than the datagram
    CAIRN_NETCODE_DROP_UNKNOWN_SENDER, // no connection and no handshake from this address
    CAIRN_NETCODE_DROP_REPLAYED,       // received before, or older than the window
    CAIRN_NETCODE_DROP_DECRYPT,        // does not decrypt with the key of this sender
    CAIRN_NETCODE_DROP_VERSION,        // request: another version text
    CAIRN_NETCODE_DROP_PROTOCOL_ID,    // request: another protocol
    CAIRN_NETCODE_DROP_REQUEST_AGAIN,  // request: answered with as many challenges as allowed
    CAIRN_NETCODE_DROP_TOKEN_EXPIRED,
    CAIRN_NETCODE_DROP_TOKEN_LIFETIME,   // expires later than a token of the allowed lifetime
    CAIRN_NETCODE_DROP_TOKEN_RESTART,    // an earlier run of the server may have accepted it
    CAIRN_NETCODE_DROP_TOKEN_METERED,    // not tried: its network sent many broken ones
    CAIRN_NETCODE_DROP_TOKEN_BROKEN,     // private part does not decrypt or parse
    CAIRN_NETCODE_DROP_TOKEN_TIMEOUT,    // its time-out is longer than allowed, or missing
    CAIRN_NETCODE_DROP_TOKEN_NOT_FOR_US, // no public address of this server in its list
    CAIRN_NETCODE_DROP_TOKEN_USED,       // pending at another address, or consumed by a session
    CAIRN_NETCODE_DROP_TOKEN_HISTORY_FULL,
    CAIRN_NETCODE_DROP_ID_TOKENS, // this client id consumed as many tokens as one id may
    CAIRN_NETCODE_DROP_ADDRESS_CONNECTED,
    CAIRN_NETCODE_DROP_ID_CONNECTED,
    CAIRN_NETCODE_DROP_HANDSHAKES_FULL, // no room for another pending handshake
    CAIRN_NETCODE_DROP_ID_HANDSHAKES,   // this client id has as many pending as one id may
    CAIRN_NETCODE_DROP_SERVER_FULL,     // answered with denied
    CAIRN_NETCODE_DROP_CHALLENGE,     // response: challenge token is not of this handshake, or old
    CAIRN_NETCODE_DROP_WRONG_STATE,   // not what the state of this peer expects
    CAIRN_NETCODE_DROP_PATH_OLD,      // path request: not the newest packet of its client
    CAIRN_NETCODE_DROP_PATH_RESPONSE, // path response: of no challenge to this address
    CAIRN_NETCODE_DROP_SEND_QUEUE_FULL, // an answer could not be queued
    CAIRN_NETCODE_DROP_UNREAD,          // the caller did not take the last payload
    CAIRN_NETCODE_DROP_COUNT
} cairn_netcode_drop;

const char *cairn_netcode_drop_text(cairn_netcode_drop drop);
