// SPDX-License-Identifier: MIT
#include "server/core/session_link.h"

#include "base/assert.h"
#include "net/crypto.h"
#include "server/resync/resync.h"

// What a client may send at once. An input message with all its inputs is well below.
#define CLIENT_MESSAGE_SIZE_MAX (CAIRN_DIFFERENCE_SKETCH_SIZE_MAX + 4096)
// Room for a ticks message, however small the world.
#define UNRELIABLE_SIZE_MIN (32 * 1024)
#define RELIABLE_BUFFER_SIZE_MIN (64 * 1024)

static uint32_t clamp(uint64_t value, uint32_t least, uint32_t most) {
    CAIRN_ASSERT(least <= most);
    return value < least ? least : value > most ? most : (uint32_t)value;
}

// A link that can carry any message of a room with so many bodies.
static cairn_link_config link_config(uint64_t bodies) {
    const uint64_t keyframe_size = bodies * sizeof(cairn_snapshot_body) + 1024;
    cairn_link_config config = cairn_link_config_default();
    config.unreliable_size_max = clamp(keyframe_size, UNRELIABLE_SIZE_MIN, CAIRN_MESSAGE_SIZE_MAX);
    config.receive_size_max = CLIENT_MESSAGE_SIZE_MAX;
    config.reliable_buffer_size =
        clamp(2 * keyframe_size, RELIABLE_BUFFER_SIZE_MIN, 2 * CAIRN_MESSAGE_SIZE_MAX);
    return config;
}

cairn_status cairn_session_link_create(cairn_server *server, uint32_t bodies, cairn_link **out) {
    cairn_link_config config = link_config(bodies);
    server->links_created += 1;
    config.skip_seed = cairn_siphash((const uint8_t *)&server->links_created,
                           sizeof server->links_created, server->skip_key) |
                       1;
    config.blocks = &server->link_blocks;
    return cairn_link_create(&config, server->context.now_ns, out);
}
