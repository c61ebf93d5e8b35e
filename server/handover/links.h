// SPDX-License-Identifier: MIT
#pragma once

// Links of clients that are about to be taken, made while there is time: having memory for them
// takes longer than reading them.

#include <stdbool.h>
#include <stdint.h>

struct cairn_link;
struct cairn_server;

typedef struct cairn_handover_links {
    struct cairn_link **list; // owned; NULL: none
    uint32_t count;
    uint32_t bodies; // that they are made for
} cairn_handover_links;

// Makes so many more for so many bodies, or fewer when memory is short: others are made when they
// are needed.
void cairn_handover_links_prepare(
    cairn_handover_links *links, struct cairn_server *server, uint32_t bodies, uint32_t count);
// One of them, or a new one if none fits. False: out of memory.
bool cairn_handover_links_take(cairn_handover_links *links, struct cairn_server *server,
    uint32_t bodies, struct cairn_link **out);
void cairn_handover_links_end(cairn_handover_links *links); // may be called again
