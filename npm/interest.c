// SPDX-License-Identifier: MIT

// What the server sends to the page's client of each body: an overlay shows it.

#include "client_lib/client_parts.h"
#include <cairn/client.h>

// interest.ts reads it.
typedef struct cairn_npm_interest {
    uint32_t body;
    uint32_t age; // ticks from its last sample to the newest snapshot
} cairn_npm_interest;

bool cairn_npm_interest_is_partial(const cairn_client *client);
uint32_t cairn_npm_interest_read(
    const cairn_client *client, cairn_npm_interest *out, uint32_t capacity);

// False: the client is sent the whole room, or simulates it.
bool cairn_npm_interest_is_partial(const cairn_client *client) {
    return client->view.snapshots.parts != NULL && client->view.snapshots.count > 0;
}

// Writes the first `capacity` bodies of the newest snapshot of a client that is sent a part of the
// room. Returns how many there are.
uint32_t cairn_npm_interest_read(
    const cairn_client *client, cairn_npm_interest *out, uint32_t capacity) {
    const cairn_snapshots *snapshots = &client->view.snapshots;
    if (!cairn_npm_interest_is_partial(client)) {
        return 0;
    }
    const cairn_snapshot *newest = cairn_snapshots_newest(snapshots);
    for (uint32_t i = 0; i < newest->body_count && i < capacity; ++i) {
        const cairn_body_id body = newest->bodies[i].id;
        const uint64_t tick = cairn_snapshot_parts_tick(snapshots->parts, cairn_id_index(body));
        const uint64_t age = tick < newest->tick ? newest->tick - tick : 0;
        out[i] = (cairn_npm_interest){
            .body = body, .age = age < UINT32_MAX ? (uint32_t)age : UINT32_MAX};
    }
    return newest->body_count;
}
