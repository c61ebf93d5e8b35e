// SPDX-License-Identifier: MIT
#pragma once

// What a process that takes the place of another one on the same machine receives of the network:
// the sessions of netcode with their keys and sequences, and the links in them. Times are of the
// system's monotonic clock, which both processes share. The process that gives must send nothing
// afterwards: two that go on with the same keys would use a nonce twice.
//
// Each function writes or reads, as the archive says. Of an archive with a refusal nothing is to be
// used; what was read into is then only fit to be destroyed.

#include <stdint.h>

#include "net/archive.h"
#include "net/link.h"
#include "net/netcode_server.h"

// A server without clients reads: its keys of challenges become those that are handed over, its
// start is the start of the first process, so that tokens of before are still taken, and used ones
// still refused. Streams cannot be handed over; the sessions of their peers (family
// CAIRN_ADDRESS_IPV6 + 1) are, and each continues where its peer next is. No event and no datagram
// waits in the server that writes (asserted). Handshakes that are under way go on.
void cairn_netcode_server_hand_over(
    cairn_netcode_server *server, uint64_t now_ns, cairn_archive *archive);

// Whether nothing waits to be read or sent.
bool cairn_netcode_server_is_quiet(const cairn_netcode_server *server);
// Whether a client is connected at this index and is handed over.
bool cairn_netcode_server_is_given(const cairn_netcode_server *server, uint32_t client);
// The client id and the token's user data of a connected client (asserted).
uint64_t cairn_netcode_server_identity(
    const cairn_netcode_server *server, uint32_t client, const uint8_t **user_data);

// A link that was just created with the same config reads. Handed over are the sequences, what was
// received, the reliable stream in both directions and the estimates of the path. Segments of the
// stream that were not acknowledged are sent again; an unreliable message that has not left, or of
// which fragments are missing, is lost; the congestion control begins again with the window that it
// had.
void cairn_link_hand_over(cairn_link *link, uint64_t now_ns, cairn_archive *archive);
