// SPDX-License-Identifier: MIT
#include "net/netcode_table.h"

#include "base/assert.h"

#define DROP(reason, state)                                                                        \
    { CAIRN_NETCODE_SERVER_DROP, CAIRN_NETCODE_DROP_##reason, CAIRN_PEER_##state }
#define DO(act, state)                                                                             \
    { CAIRN_NETCODE_SERVER_##act, CAIRN_NETCODE_TAKEN, CAIRN_PEER_##state }

// clang-format off
static const cairn_netcode_server_rule server_rules[CAIRN_PEER_COUNT][CAIRN_NETCODE_SERVER_INPUT_COUNT] = {
    [CAIRN_PEER_UNKNOWN] = {
        [CAIRN_PACKET_REQUEST]        = DO(ADMIT, PENDING),
        [CAIRN_PACKET_DENIED]         = DROP(TYPE, UNKNOWN),
        [CAIRN_PACKET_CHALLENGE]      = DROP(TYPE, UNKNOWN),
        [CAIRN_PACKET_RESPONSE]       = DROP(UNKNOWN_SENDER, UNKNOWN),
        [CAIRN_PACKET_KEEP_ALIVE]     = DROP(UNKNOWN_SENDER, UNKNOWN),
        [CAIRN_PACKET_PAYLOAD]        = DROP(UNKNOWN_SENDER, UNKNOWN),
        [CAIRN_PACKET_DISCONNECT]     = DROP(UNKNOWN_SENDER, UNKNOWN),
        [CAIRN_NETCODE_SERVER_INPUT_TIME_OUT] = DO(NOTHING, UNKNOWN),
        [CAIRN_NETCODE_SERVER_INPUT_KICK]     = DO(NOTHING, UNKNOWN),
    },
    [CAIRN_PEER_PENDING] = {
        [CAIRN_PACKET_REQUEST]        = DO(ADMIT, PENDING),
        [CAIRN_PACKET_DENIED]         = DROP(TYPE, PENDING),
        [CAIRN_PACKET_CHALLENGE]      = DROP(TYPE, PENDING),
        [CAIRN_PACKET_RESPONSE]       = DO(ACCEPT, UNCONFIRMED),
        [CAIRN_PACKET_KEEP_ALIVE]     = DROP(WRONG_STATE, PENDING),
        [CAIRN_PACKET_PAYLOAD]        = DROP(WRONG_STATE, PENDING),
        [CAIRN_PACKET_DISCONNECT]     = DROP(WRONG_STATE, PENDING),
        [CAIRN_NETCODE_SERVER_INPUT_TIME_OUT] = DO(FORGET, UNKNOWN),
        [CAIRN_NETCODE_SERVER_INPUT_KICK]     = DO(NOTHING, PENDING),
    },
    [CAIRN_PEER_UNCONFIRMED] = {
        [CAIRN_PACKET_REQUEST]        = DO(ADMIT, UNCONFIRMED), // only to count the right refusal
        [CAIRN_PACKET_DENIED]         = DROP(TYPE, UNCONFIRMED),
        [CAIRN_PACKET_CHALLENGE]      = DROP(TYPE, UNCONFIRMED),
        [CAIRN_PACKET_RESPONSE]       = DROP(ADDRESS_CONNECTED, UNCONFIRMED),
        [CAIRN_PACKET_KEEP_ALIVE]     = DO(REFRESH, CONFIRMED),
        [CAIRN_PACKET_PAYLOAD]        = DO(DELIVER, CONFIRMED),
        [CAIRN_PACKET_DISCONNECT]     = DO(END, UNKNOWN),
        [CAIRN_NETCODE_SERVER_INPUT_TIME_OUT] = DO(END, UNKNOWN),
        [CAIRN_NETCODE_SERVER_INPUT_KICK]     = DO(DISCONNECT, UNKNOWN),
    },
    [CAIRN_PEER_CONFIRMED] = {
        [CAIRN_PACKET_REQUEST]        = DO(ADMIT, CONFIRMED), // only to count the right refusal
        [CAIRN_PACKET_DENIED]         = DROP(TYPE, CONFIRMED),
        [CAIRN_PACKET_CHALLENGE]      = DROP(TYPE, CONFIRMED),
        [CAIRN_PACKET_RESPONSE]       = DROP(ADDRESS_CONNECTED, CONFIRMED),
        [CAIRN_PACKET_KEEP_ALIVE]     = DO(REFRESH, CONFIRMED),
        [CAIRN_PACKET_PAYLOAD]        = DO(DELIVER, CONFIRMED),
        [CAIRN_PACKET_DISCONNECT]     = DO(END, UNKNOWN),
        [CAIRN_NETCODE_SERVER_INPUT_TIME_OUT] = DO(END, UNKNOWN),
        [CAIRN_NETCODE_SERVER_INPUT_KICK]     = DO(DISCONNECT, UNKNOWN),
    },
};
// clang-format on
#undef DROP
#undef DO

cairn_netcode_server_rule cairn_netcode_server_rule_of(cairn_netcode_peer peer, unsigned input) {
    CAIRN_ASSERT((unsigned)peer < CAIRN_PEER_COUNT && input < CAIRN_NETCODE_SERVER_INPUT_COUNT);
    return server_rules[peer][input];
}

#define DROP(reason, state)                                                                        \
    { CAIRN_NETCODE_CLIENT_DROP, CAIRN_NETCODE_DROP_##reason, CAIRN_NETCODE_STATE_##state }
#define DO(act, state)                                                                             \
    { CAIRN_NETCODE_CLIENT_##act, CAIRN_NETCODE_TAKEN, CAIRN_NETCODE_STATE_##state }

// clang-format off
static const cairn_netcode_client_rule
    client_rules[CAIRN_NETCODE_STATE_CONNECTED + 1][CAIRN_NETCODE_CLIENT_INPUT_COUNT] = {
    [CAIRN_NETCODE_STATE_DISCONNECTED] = {
        [CAIRN_PACKET_REQUEST]        = DROP(TYPE, DISCONNECTED),
        [CAIRN_PACKET_DENIED]         = DROP(WRONG_STATE, DISCONNECTED),
        [CAIRN_PACKET_CHALLENGE]      = DROP(WRONG_STATE, DISCONNECTED),
        [CAIRN_PACKET_RESPONSE]       = DROP(TYPE, DISCONNECTED),
        [CAIRN_PACKET_KEEP_ALIVE]     = DROP(WRONG_STATE, DISCONNECTED),
        [CAIRN_PACKET_PAYLOAD]        = DROP(WRONG_STATE, DISCONNECTED),
        [CAIRN_PACKET_DISCONNECT]     = DROP(WRONG_STATE, DISCONNECTED),
        [CAIRN_NETCODE_CLIENT_INPUT_TIME_OUT] = DO(NOTHING, DISCONNECTED),
        [CAIRN_NETCODE_CLIENT_INPUT_EXPIRE]   = DO(NOTHING, DISCONNECTED),
        [CAIRN_NETCODE_CLIENT_INPUT_SEND]     = DO(NOTHING, DISCONNECTED),
        [CAIRN_NETCODE_CLIENT_INPUT_LEAVE]    = DO(NOTHING, DISCONNECTED),
    },
    [CAIRN_NETCODE_STATE_SENDING_REQUEST] = {
        [CAIRN_PACKET_REQUEST]        = DROP(TYPE, SENDING_REQUEST),
        [CAIRN_PACKET_DENIED]         = DO(NEXT_SERVER, DENIED),
        [CAIRN_PACKET_CHALLENGE]      = DO(ANSWER, SENDING_RESPONSE),
        [CAIRN_PACKET_RESPONSE]       = DROP(TYPE, SENDING_REQUEST),
        [CAIRN_PACKET_KEEP_ALIVE]     = DROP(WRONG_STATE, SENDING_REQUEST),
        [CAIRN_PACKET_PAYLOAD]        = DROP(WRONG_STATE, SENDING_REQUEST),
        [CAIRN_PACKET_DISCONNECT]     = DROP(WRONG_STATE, SENDING_REQUEST),
        [CAIRN_NETCODE_CLIENT_INPUT_TIME_OUT] = DO(NEXT_SERVER, REQUEST_TIMED_OUT),
        [CAIRN_NETCODE_CLIENT_INPUT_EXPIRE]   = DO(END, TOKEN_EXPIRED),
        [CAIRN_NETCODE_CLIENT_INPUT_SEND]     = DO(REPEAT, SENDING_REQUEST),
        [CAIRN_NETCODE_CLIENT_INPUT_LEAVE]    = DO(END, DISCONNECTED),
    },
    [CAIRN_NETCODE_STATE_SENDING_RESPONSE] = {
        [CAIRN_PACKET_REQUEST]        = DROP(TYPE, SENDING_RESPONSE),
        [CAIRN_PACKET_DENIED]         = DO(NEXT_SERVER, DENIED),
        [CAIRN_PACKET_CHALLENGE]      = DROP(WRONG_STATE, SENDING_RESPONSE),
        [CAIRN_PACKET_RESPONSE]       = DROP(TYPE, SENDING_RESPONSE),
        [CAIRN_PACKET_KEEP_ALIVE]     = DO(ENTER, CONNECTED),
        [CAIRN_PACKET_PAYLOAD]        = DROP(WRONG_STATE, SENDING_RESPONSE),
        [CAIRN_PACKET_DISCONNECT]     = DROP(WRONG_STATE, SENDING_RESPONSE),
        [CAIRN_NETCODE_CLIENT_INPUT_TIME_OUT] = DO(NEXT_SERVER, RESPONSE_TIMED_OUT),
        [CAIRN_NETCODE_CLIENT_INPUT_EXPIRE]   = DO(END, TOKEN_EXPIRED),
        [CAIRN_NETCODE_CLIENT_INPUT_SEND]     = DO(REPEAT, SENDING_RESPONSE),
        [CAIRN_NETCODE_CLIENT_INPUT_LEAVE]    = DO(DISCONNECT, DISCONNECTED), // may hold a slot already
    },
    [CAIRN_NETCODE_STATE_CONNECTED] = {
        [CAIRN_PACKET_REQUEST]        = DROP(TYPE, CONNECTED),
        [CAIRN_PACKET_DENIED]         = DROP(WRONG_STATE, CONNECTED),
        [CAIRN_PACKET_CHALLENGE]      = DROP(WRONG_STATE, CONNECTED),
        [CAIRN_PACKET_RESPONSE]       = DROP(TYPE, CONNECTED),
        [CAIRN_PACKET_KEEP_ALIVE]     = DO(REFRESH, CONNECTED),
        [CAIRN_PACKET_PAYLOAD]        = DO(DELIVER, CONNECTED),
        [CAIRN_PACKET_DISCONNECT]     = DO(END, DISCONNECTED),
        [CAIRN_NETCODE_CLIENT_INPUT_TIME_OUT] = DO(END, CONNECTION_TIMED_OUT),
        [CAIRN_NETCODE_CLIENT_INPUT_EXPIRE]   = DO(NOTHING, CONNECTED), // the token is no longer needed
        [CAIRN_NETCODE_CLIENT_INPUT_SEND]     = DO(REPEAT, CONNECTED),
        [CAIRN_NETCODE_CLIENT_INPUT_LEAVE]    = DO(DISCONNECT, DISCONNECTED),
    },
};
// clang-format on

cairn_netcode_client_rule cairn_netcode_client_rule_of(
    cairn_netcode_client_state state, unsigned input) {
    CAIRN_ASSERT(
        state <= CAIRN_NETCODE_STATE_CONNECTED && input < CAIRN_NETCODE_CLIENT_INPUT_COUNT);
    const int row = state > CAIRN_NETCODE_STATE_DISCONNECTED ? (int)state : 0;
    return client_rules[row][input];
}

const char *cairn_netcode_client_state_text(cairn_netcode_client_state state) {
    enum { FIRST = CAIRN_NETCODE_STATE_TOKEN_EXPIRED };
    static const char *const texts[] = {
        [CAIRN_NETCODE_STATE_TOKEN_EXPIRED - FIRST] = "connect token expired",
        [CAIRN_NETCODE_STATE_TOKEN_INVALID - FIRST] = "connect token invalid",
        [CAIRN_NETCODE_STATE_CONNECTION_TIMED_OUT - FIRST] = "connection timed out",
        [CAIRN_NETCODE_STATE_RESPONSE_TIMED_OUT - FIRST] = "challenge response timed out",
        [CAIRN_NETCODE_STATE_REQUEST_TIMED_OUT - FIRST] = "connection request timed out",
        [CAIRN_NETCODE_STATE_DENIED - FIRST] = "connection denied",
        [CAIRN_NETCODE_STATE_DISCONNECTED - FIRST] = "disconnected",
        [CAIRN_NETCODE_STATE_SENDING_REQUEST - FIRST] = "sending connection request",
        [CAIRN_NETCODE_STATE_SENDING_RESPONSE - FIRST] = "sending challenge response",
        [CAIRN_NETCODE_STATE_CONNECTED - FIRST] = "connected",
    };
    CAIRN_ASSERT(state >= (int)FIRST && state <= CAIRN_NETCODE_STATE_CONNECTED);
    return texts[state - (int)FIRST];
}

const char *cairn_netcode_drop_text(cairn_netcode_drop drop) {
    static const char *const texts[CAIRN_NETCODE_DROP_COUNT] = {
        [CAIRN_NETCODE_TAKEN] = "taken",
        [CAIRN_NETCODE_DROP_SIZE] = "size does not fit the packet type",
        [CAIRN_NETCODE_DROP_TYPE] = "unknown or unexpected packet type",
        [CAIRN_NETCODE_DROP_SEQUENCE_BYTES] = "invalid sequence length",
        [CAIRN_NETCODE_DROP_UNKNOWN_SENDER] = "unknown sender",
        [CAIRN_NETCODE_DROP_REPLAYED] = "received before or too old",
        [CAIRN_NETCODE_DROP_DECRYPT] = "decryption failed",
        [CAIRN_NETCODE_DROP_VERSION] = "another protocol version",
        [CAIRN_NETCODE_DROP_PROTOCOL_ID] = "another protocol id",
        [CAIRN_NETCODE_DROP_REQUEST_AGAIN] = "request repeated too often",
        [CAIRN_NETCODE_DROP_TOKEN_EXPIRED] = "token expired",
        [CAIRN_NETCODE_DROP_TOKEN_LIFETIME] = "token expires too far in the future",
        [CAIRN_NETCODE_DROP_TOKEN_RESTART] = "token may have been used before the server started",
        [CAIRN_NETCODE_DROP_TOKEN_METERED] = "token not tried after many broken ones",
        [CAIRN_NETCODE_DROP_TOKEN_BROKEN] = "token cannot be decrypted",
        [CAIRN_NETCODE_DROP_TOKEN_TIMEOUT] = "token has too long a time-out or none",
        [CAIRN_NETCODE_DROP_TOKEN_NOT_FOR_US] = "token does not name this server",
        [CAIRN_NETCODE_DROP_TOKEN_USED] = "token already used",
        [CAIRN_NETCODE_DROP_TOKEN_HISTORY_FULL] = "token history full",
        [CAIRN_NETCODE_DROP_ID_TOKENS] = "client id used too many tokens",
        [CAIRN_NETCODE_DROP_ADDRESS_CONNECTED] = "address already connected",
        [CAIRN_NETCODE_DROP_ID_CONNECTED] = "client id already connected",
        [CAIRN_NETCODE_DROP_HANDSHAKES_FULL] = "too many pending handshakes",
        [CAIRN_NETCODE_DROP_ID_HANDSHAKES] = "too many pending handshakes of one client id",
        [CAIRN_NETCODE_DROP_SERVER_FULL] = "server full",
        [CAIRN_NETCODE_DROP_CHALLENGE] = "challenge token is not of this handshake",
        [CAIRN_NETCODE_DROP_WRONG_STATE] = "not expected in this state",
        [CAIRN_NETCODE_DROP_PATH_OLD] = "path request is older than another packet",
        [CAIRN_NETCODE_DROP_PATH_RESPONSE] = "path response without its challenge",
        [CAIRN_NETCODE_DROP_SEND_QUEUE_FULL] = "send queue full",
        [CAIRN_NETCODE_DROP_UNREAD] = "last payload was not taken in time",
    };
    return (unsigned)drop < CAIRN_NETCODE_DROP_COUNT ? texts[drop] : "unknown reason";
}
