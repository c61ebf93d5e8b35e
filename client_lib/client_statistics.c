// SPDX-License-Identifier: MIT
#include "client_lib/client_parts.h"

static const char *client_drop_text(uint32_t reason) {
    static const char *const texts[CAIRN_CLIENT_DROP_COUNT] = {
        [CAIRN_CLIENT_DROP_NOT_WELCOME] = "before the welcome",
        [CAIRN_CLIENT_DROP_SECOND_WELCOME] = "a second welcome",
        [CAIRN_CLIENT_DROP_MODE] = "a message of the other mode",
        [CAIRN_CLIENT_DROP_SHAPES] = "more shapes than shapes_max",
        [CAIRN_CLIENT_DROP_OVER] = "outside of a connection",
        [CAIRN_CLIENT_DROP_WORLD] = "of another world",
        [CAIRN_CLIENT_DROP_ANSWER] = "too many answers wait to be taken",
    };
    return texts[reason];
}

static const char *netcode_text(uint32_t reason) {
    return cairn_netcode_drop_text((cairn_netcode_drop)reason);
}

static const char *link_text(uint32_t reason) {
    return cairn_link_drop_text((cairn_link_drop)reason);
}

static const char *decode_text(uint32_t reason) {
    return cairn_decode_refusal_text((cairn_decode_refusal)reason);
}

static const char *snapshot_text(uint32_t reason) {
    return cairn_snapshot_refusal_text((cairn_snapshot_refusal)reason);
}

static const char *lockstep_text(uint32_t reason) {
    return cairn_lockstep_verdict_text((cairn_lockstep_verdict)reason);
}

// One layer's reasons: counts[first .. count), those before are not drops.
typedef struct layer {
    const char *name;
    const uint64_t *counts;
    uint32_t first;
    uint32_t count;
    const char *(*text)(uint32_t reason);
} layer;

#define LAYERS 6

static void layers_of(const cairn_client *client, layer out[LAYERS]) {
    out[0] = (layer){"netcode", cairn_netcode_client_drops(client->netcode),
        CAIRN_NETCODE_TAKEN + 1, CAIRN_NETCODE_DROP_COUNT, netcode_text};
    out[1] = (layer){"link", cairn_link_statistics_read(client->link)->drops, CAIRN_LINK_TAKEN + 1,
        CAIRN_LINK_DROP_COUNT, link_text};
    out[2] = (layer){"decode", client->drops_decode, CAIRN_DECODE_OK + 1,
        CAIRN_DECODE_REFUSAL_COUNT, decode_text};
    out[3] = (layer){"session", client->drops_client, 0, CAIRN_CLIENT_DROP_COUNT, client_drop_text};
    out[4] = (layer){"snapshot", client->drops_snapshot, CAIRN_SNAPSHOT_TAKEN + 1,
        CAIRN_SNAPSHOT_REFUSAL_COUNT, snapshot_text};
    out[5] = (layer){"lockstep", client->drops_lockstep, CAIRN_LOCKSTEP_EARLY + 1,
        CAIRN_LOCKSTEP_VERDICT_COUNT, lockstep_text};
}

bool cairn_client_drop_read(const cairn_client *client, uint32_t i, cairn_client_drop *out) {
    layer layers[LAYERS];
    layers_of(client, layers);
    for (uint32_t n = 0; n < LAYERS; n++) {
        const layer *at = &layers[n];
        uint32_t reasons = at->count - at->first;
        if (i < reasons) {
            uint32_t reason = at->first + i;
            *out = (cairn_client_drop){at->name, at->text(reason), at->counts[reason]};
            return true;
        }
        i -= reasons;
    }
    *out = (cairn_client_drop){"", "", 0};
    return false;
}

static void read_lockstep(const cairn_client *client, cairn_client_statistics *out) {
    const cairn_timeline *timeline = &client->lockstep.timeline;
    out->tick_local = timeline->steps;
    out->roots_compared = timeline->roots_compared;
    out->roots_differed = timeline->roots_differed;
    out->states_loaded = client->lockstep.states_loaded;
    out->capsules = client->desync_report.count;
    out->capsules_unfounded = client->desync_report.unfounded;
    out->first_difference_tick = timeline->first_difference_tick;
}

void cairn_client_statistics_read(const cairn_client *client, cairn_client_statistics *out) {
    const cairn_link_statistics *link = cairn_link_statistics_read(client->link);
    *out = client->statistics;
    out->tick_server = client->clock.newest_tick;
    out->slot = client->slot;
    out->rtt_ns = link->rtt_ns;
    out->jitter_ns = link->jitter_ns;
    out->loss = link->loss;
    out->interpolation_delay_ns = (uint64_t)client->interpolation.delay_ns;
    out->input_lead_ns = (uint64_t)client->input_lead.lead_ns;
    read_lockstep(client, out);
    cairn_client_predict_statistics(client, out);
    cairn_client_heal_statistics(client, out);
    out->datagrams_dropped = 0;
    cairn_client_drop drop;
    for (uint32_t i = 0; cairn_client_drop_read(client, i, &drop); i++) {
        out->datagrams_dropped += drop.count;
    }
}
