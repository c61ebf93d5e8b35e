// SPDX-License-Identifier: MIT

// Rooms whose clients are not sent all of it. What a client holds of such a room are samples of
// bodies: each sample is the server's body at its tick, and in quiescence the client holds
// exactly what it is owed. Distances and times have some slack, since things move meanwhile.

#include "storm/state.h"

#include <inttypes.h>

#include "base/assert.h"
#include "client_lib/client_probe.h"

// A body that is near, or far, for so long is held, or not; and is as it was at most so long ago.
#define SETTLED_MS 3000
#define LOOKS 6 // at the past, evenly spread over that time
#define SLACK_M 0.5f
// At this distance, as a multiple of the view distance, a body leaves; it enters at the distance.
#define LEAVE_RATIO (9.0f / 8.0f)

void cairn_storm_draw_views(cairn_storm *s) {
    cairn_random random = cairn_random_of(s->config.seed * 40503u + 29);
    s->views = cairn_random_below(&random, 1000) < s->config.view_permille;
    const uint32_t kind = (uint32_t)cairn_random_below(&random, 3);
    const uint32_t distance_m = 4 + (uint32_t)cairn_random_below(&random, 16);
    const uint32_t bytes = 12000 + (uint32_t)cairn_random_below(&random, 20000);
    s->view_distance_m = s->views && kind != 0 ? distance_m : 0;
    s->view_bytes_per_second = s->views && kind != 1 ? bytes : 0;
}

static const cairn_snapshots *snapshots_of(const cairn_storm *s, uint32_t i) {
    return cairn_client_probe_of(s->system.clients[i].client).snapshots;
}

bool cairn_storm_has_view(const cairn_storm *s, uint32_t i) {
    const cairn_snapshots *snapshots = snapshots_of(s, i);
    return snapshots->parts != NULL && snapshots->parts->tick_rate_hz != 0;
}

static float distance(cairn_vec3 a, cairn_vec3 b) {
    const cairn_vec3 d = cairn_vec3_sub(a, b);
    return cairn_float_sqrt(cairn_vec3_length_squared(d));
}

// Where the player's own body is. False: it has none.
static bool find_eye(const cairn_oracle_tick *tick, uint32_t player, cairn_vec3 *eye) {
    for (uint32_t i = 0; i < tick->body_count && player != CAIRN_SLOT_NONE; ++i) {
        if (tick->bodies[i].flags >> CAIRN_SNAPSHOT_BODY_OWNER_SHIFT == player + 1) {
            *eye = tick->bodies[i].position;
            return true;
        }
    }
    return false;
}

// One client's newest picture and the server's last ticks.
typedef struct view_check {
    cairn_storm *s;
    uint32_t slot;
    const cairn_snapshots *snapshots;
    const cairn_snapshot *newest;
    const cairn_oracle_tick *ticks[LOOKS]; // newest first
    cairn_vec3 eyes[LOOKS];
    bool sees_all; // no distance counts
    cairn_quantisation quantisation;
} view_check;

static void report(const view_check *c, cairn_body_id body, const char *what) {
    cairn_storm_report_finding(c->s, CAIRN_STORM_FOUND_SNAPSHOT,
        "client %" PRIu32 ": at tick %" PRIu64 " body %" PRIu32 " %s", c->slot, c->newest->tick,
        body, what);
}

// What the message of this tick brought.
static void check_samples(const view_check *c) {
    const cairn_snapshot_frame *frame = &c->newest->frame;
    for (uint32_t i = 0; i < frame->count; ++i) {
        const cairn_snapshot_body body = cairn_snapshot_frame_body(frame, i);
        if (!cairn_oracle_body_equal(c->ticks[0], &c->quantisation, &body)) {
            report(c, body.id, "is not the server's");
        }
    }
}

// The ticks of the time in which a view settles. False: some are not known, or something else than
// the distance to the player's body decided what it is shown.
static bool look_back(view_check *c) {
    const cairn_storm *s = c->s;
    const cairn_rules *rules = s->config.rules;
    const uint64_t span = (uint64_t)s->system.config.tick_rate_hz * SETTLED_MS / 1000;
    cairn_client_statistics statistics;
    cairn_client_statistics_read(s->system.clients[c->slot].client, &statistics);
    if ((rules != NULL && (rules->view != NULL || rules->relevance != NULL)) ||
        c->newest->tick <= span) {
        return false;
    }
    c->sees_all = s->view_distance_m == 0;
    for (uint32_t k = 0; k < LOOKS; ++k) {
        const uint64_t tick = c->newest->tick - span * k / (LOOKS - 1);
        c->ticks[k] = cairn_oracle_find(cairn_storm_room_of_slot(c->s, c->slot)->oracle, tick);
        if (c->ticks[k] == NULL || !c->ticks[k]->whole ||
            (!c->sees_all && !find_eye(c->ticks[k], statistics.connection.slot, &c->eyes[k]))) {
            return false;
        }
    }
    return true;
}

// A bound of how far the body reaches from its origin, as the server tells clients.
static float reach_of(const view_check *c, cairn_body_id body) {
    const cairn_room *room = cairn_storm_server_room(c->s, c->s->slots[c->slot].room);
    const cairn_snapshot_frame *frame =
        &cairn_baselines_newest(room->replication->baselines)->frame;
    uint32_t place = 0;
    return cairn_snapshot_frame_find(frame, body, 0, &place)
               ? cairn_float_sqrt(cairn_vec3_length_squared(frame->bodies[place].half_extents))
               : 1e9f;
}

static bool holds(const view_check *c, cairn_body_id body) {
    const cairn_snapshot *newest = c->newest;
    return cairn_oracle_find_body(newest->bodies, newest->body_count, body) != NULL;
}

// Whether all bodies could arrive while the view settles: a keyframe of them takes less than this.
static bool affords_all(const view_check *c) {
    const uint64_t bytes = c->s->view_bytes_per_second;
    return bytes == 0 || c->ticks[0]->body_count * UINT64_C(20) < bytes * SETTLED_MS / 1000;
}

static void check_owed(const view_check *c, cairn_body_id id) {
    bool near = true;
    bool far = true;
    const float reach_m = reach_of(c, id);
    for (uint32_t k = 0; k < LOOKS; ++k) {
        const cairn_snapshot_body *body = cairn_oracle_body(c->ticks[k], id);
        const float away_m =
            c->sees_all || body == NULL ? 0.0f : distance(body->position, c->eyes[k]);
        const float view_m = (float)c->s->view_distance_m;
        near = near && body != NULL && (c->sees_all || away_m < view_m - SLACK_M);
        far = far && (body == NULL || away_m > view_m * LEAVE_RATIO + reach_m + SLACK_M) &&
              !c->sees_all;
    }
    if (near && !holds(c, id)) {
        report(c, id, "is owed to it and not held");
    }
    if (far && holds(c, id)) {
        report(c, id, "is far from it and still held");
    }
}

// A body that changed since its sample did so lately.
static void check_fresh(const view_check *c, const cairn_snapshot_body *held) {
    const cairn_oracle_tick *settled = c->ticks[LOOKS - 1];
    const uint64_t sampled =
        cairn_snapshot_parts_tick(c->snapshots->parts, cairn_id_index(held->id));
    const cairn_snapshot_body *now = cairn_oracle_body(c->ticks[0], held->id);
    if (now == NULL && cairn_oracle_body(settled, held->id) == NULL) {
        report(c, held->id, "is gone and still held");
    }
    if (now != NULL && sampled < settled->tick &&
        !cairn_oracle_body_equal(settled, &c->quantisation, held)) {
        report(c, held->id, "is shown as it was long ago");
    }
}

static bool is_settled(const cairn_storm *s, uint32_t i) {
    const cairn_storm_slot *slot = &s->slots[i];
    const uint64_t wait_ns = (CAIRN_STORM_RECOVERY_S - 1) * CAIRN_NS_PER_S;
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    return s->quiescent && !slot->degraded && !slot->cut && slot->playing_ns != UINT64_MAX &&
           now_ns - slot->playing_ns > wait_ns && now_ns - slot->path_since_ns > wait_ns &&
           cairn_storm_undisturbed_ns(s, i) > wait_ns;
}

void cairn_storm_check_view(cairn_storm *s, uint32_t i, const cairn_oracle_tick *expected) {
    const cairn_snapshots *snapshots = snapshots_of(s, i);
    view_check c = {.s = s,
        .slot = i,
        .snapshots = snapshots,
        .newest = cairn_snapshots_newest(snapshots),
        .ticks = {expected},
        .quantisation = cairn_quantisation_default()};
    CAIRN_ASSERT(c.newest != NULL && c.newest->tick == expected->tick);
    check_samples(&c);
    s->report.view_samples_compared += c.newest->frame.count;
    if (!is_settled(s, i) || !affords_all(&c) || !look_back(&c)) {
        return;
    }
    s->report.views_compared += 1;
    for (uint32_t b = 0; b < expected->body_count; ++b) {
        check_owed(&c, expected->bodies[b].id);
    }
    for (uint32_t b = 0; b < c.newest->body_count; ++b) {
        check_fresh(&c, &c.newest->bodies[b]);
    }
}
