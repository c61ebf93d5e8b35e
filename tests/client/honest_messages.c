// SPDX-License-Identifier: MIT
#include "tests/client/honest_messages.h"

#include "base/assert.h"
#include "client_lib/client_parts.h"
#include "client_lib/client_probe.h"
#include "tests/kit/exact.h"
#include "tests/kit/rig.h"

#define PER_KIND_MAX 12

static honest_messages honest[HONEST_MODES];
static rig session; // too large for a stack
static bool capturing;

// The linker puts this in the place of cairn_client_take_message.
void __real_cairn_client_take_message(
    cairn_client *client, uint64_t now_ns, const cairn_link_message *message);
void __wrap_cairn_client_take_message(
    cairn_client *client, uint64_t now_ns, const cairn_link_message *message);

void __wrap_cairn_client_take_message(
    cairn_client *client, uint64_t now_ns, const cairn_link_message *message) {
    for (uint32_t mode = 0; mode < HONEST_MODES && capturing; mode++) {
        honest_messages *kept = &honest[mode];
        cairn_message decoded;
        if (rig_client(&session, mode) == client && kept->count < HONEST_MESSAGES_MAX &&
            cairn_message_decode(message->bytes, message->size, CAIRN_TO_CLIENT, &decoded) ==
                CAIRN_DECODE_OK &&
            kept->of_kind[decoded.kind]++ < PER_KIND_MAX) {
            kept->list[kept->count] = *message;
            kept->list[kept->count++].bytes = kit_exact_copy(message->bytes, message->size);
        }
    }
    __real_cairn_client_take_message(client, now_ns, message);
}

static void on_report(void *context, const uint8_t *bytes, size_t size) {
    (void)context;
    CAIRN_ASSERT(bytes != NULL && size > 0);
}

cairn_client_config honest_messages_config(uint32_t mode) {
    cairn_client_config config = cairn_client_config_default();
    config.mode = (cairn_client_mode)mode;
    config.bodies_max = 256;
    config.shapes_max = 256;
    config.state_size_max = 1 << 20;
    config.mesh_size_max = 1 << 20;
    config.rollback_memory_max = 1 << 20;
    config.on_desync_report = on_report;
    return config;
}

const honest_messages *honest_messages_capture(void) {
    rig_start(&session, .seed = 7);
    for (uint32_t mode = 0; mode < HONEST_MODES; mode++) {
        const cairn_client_config config = honest_messages_config(mode);
        rig_join(&session, &config, NULL);
    }
    capturing = true;
    rig_wait_to_play(&session);
    rig_play(&session, 7, 600);
    // The server then answers the healing client with the elements that differ.
    const bool damaged = cairn_client_probe_damage(rig_client(&session, CAIRN_CLIENT_HEAL), 5);
    CAIRN_ASSERT(damaged);
    rig_play(&session, 8, 600);
    capturing = false;
    rig_end(&session);
    return honest;
}
