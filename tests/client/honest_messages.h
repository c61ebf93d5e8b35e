// SPDX-License-Identifier: MIT
#pragma once

// The messages that a real server sends to clients of each mode in a session: what a hostile server
// begins with. A program that links this wraps cairn_client_take_message (--wrap).

#include <stdint.h>

#include "net/link.h"
#include "schema/messages.h"
#include <cairn/client.h>

#define HONEST_MODES 4
#define HONEST_MESSAGES_MAX 96

typedef struct honest_messages {
    uint32_t count;
    uint32_t of_kind[CAIRN_MESSAGE_KIND_COUNT];
    cairn_link_message list[HONEST_MESSAGES_MAX]; // in order; bytes owned
} honest_messages;

// What clients of the session may take in memory is small, for fuzzers. They report what differs to
// a function that only asserts that there is a report.
cairn_client_config honest_messages_config(uint32_t mode);
// Plays the session once, with these configs. Returns the messages by mode.
const honest_messages *honest_messages_capture(void);
