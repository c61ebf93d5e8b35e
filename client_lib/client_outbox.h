// SPDX-License-Identifier: MIT
#pragma once

// What a client sends: HELLO, inputs, root reports and resync requests.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/client.h>

// The cairn_mode that the config asks for.
uint32_t cairn_client_mode_asked(const cairn_client *client);

// The first message of a connection.
void cairn_client_send_hello(cairn_client *client);
// Sends HELLO again, asking to be served by snapshots. False: the reliable stream has no room now.
bool cairn_client_request_snapshots(cairn_client *client);

// Makes the inputs that are due, and notes whether they are to be sent.
void cairn_client_make_inputs(cairn_client *client, uint64_t now_ns);
// Notes whether roots are to be reported.
void cairn_client_note_roots(cairn_client *client);

// Hands the next message to the link; false: there is none. The link keeps one unreliable message
// at a time, so call it only after the last one has left.
bool cairn_client_outbox_next(cairn_client *client, uint64_t now_ns);
