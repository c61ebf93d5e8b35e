// SPDX-License-Identifier: MIT
// The verbs that tell what a server and its rooms are. Facts are lines of a name and a value.
#include <inttypes.h>

#include "server/control/parts.h"
#include "server/core/server_state.h"

#define DIFFERENCES_MAX 64

cairn_control_refusal cairn_control_features(cairn_control_visit *v) {
    cairn_control_line(v, "protocol %d", CAIRN_PROTOCOL_VERSION);
    cairn_control_line(v, "simulation %d", CAIRN_SIM_VERSION);
    cairn_control_line(v, "rooms_max %" PRIu32, v->server->config.rooms_max);
    cairn_control_line(v, "clients_max %" PRIu32, v->server->config.clients_max);
    cairn_control_line(v, "edits_per_tick_max %d", CAIRN_INBOX_EDITS_MAX);
    for (uint32_t verb = 1; verb < CAIRN_CONTROL_VERB_COUNT; ++verb) {
        const cairn_control_row *row = cairn_control_row_of(verb);
        if (row != NULL) {
            cairn_control_add_id(v, verb);
            cairn_control_line(
                v, "verb_%s %s", cairn_control_verb_text(verb), row->writes ? "writes" : "reads");
        }
    }
    v->answer.count = v->answer.id_count;
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_rooms(cairn_control_visit *v) {
    for (uint32_t id = 0; (id = cairn_server_room_next(v->server, id)) != 0;) {
        const cairn_room *room = cairn_server_room_at(v->server, id);
        cairn_control_line(v, "%s %" PRIu64, room->name, room->scheduler.tick);
        v->answer.count += 1;
    }
    return CAIRN_CONTROL_DONE;
}

static void add_statistics(cairn_control_visit *v, const cairn_server_room_statistics *s) {
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"clients", s->clients},
        {"players", s->players},
        {"bodies", s->bodies},
        {"bodies_awake", s->bodies_awake},
        {"ticks_skipped", s->ticks_skipped},
        {"tick_cost_ns_p50", s->tick_cost_ns_p50},
        {"tick_cost_ns_p99", s->tick_cost_ns_p99},
        {"tick_cost_ns_max", s->tick_cost_ns_max},
        {"tick_lateness_ns_p99", s->tick_lateness_ns_p99},
        {"inputs_taken", s->inputs_taken},
        {"inputs_late", s->inputs_late},
        {"roots_compared", s->roots_compared},
        {"roots_differed", s->roots_differed},
        {"recording_bytes", s->recording_bytes},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_control_line(v, "%s %" PRIu64, rows[i].name, rows[i].value);
    }
}

cairn_control_refusal cairn_control_state(cairn_control_visit *v) {
    const cairn_room *room = v->room;
    const cairn_world_counters counters = cairn_world_counters_read(room->world);
    cairn_server_room_statistics statistics;
    cairn_server_room_statistics_read(v->server, room->id, &statistics);
    cairn_control_line(v, "scene %s", room->scene_name);
    cairn_control_line(v, "rules %s", cairn_room_rules_name(room));
    cairn_control_line(v, "state %s", room->time_control.paused ? "paused" : "running");
    cairn_control_line(v, "tick_rate_hz %" PRIu32, room->settings.tick_rate_hz);
    cairn_control_line(v, "speed_thousandths %" PRIu32, room->time_control.speed);
    cairn_control_line(v, "seed %" PRIu64, cairn_world_settings(room->world)->seed);
    cairn_control_line(v, "edits_refused %" PRIu32, counters.edits_refused);
    cairn_control_line(v, "creates_refused %" PRIu32, counters.creates_refused);
    cairn_control_line(v, "bodies_disabled %" PRIu32, counters.bodies_disabled);
    add_statistics(v, &statistics);
    v->answer.count = room->time_control.paused ? 1 : 0;
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_clients(cairn_control_visit *v) {
    static const char *const modes[CAIRN_MODE_COUNT] = {
        [CAIRN_MODE_INTERPOLATE] = "interpolate",
        [CAIRN_MODE_LOCKSTEP] = "lockstep",
        [CAIRN_MODE_PREDICT] = "predict",
        [CAIRN_MODE_HEAL] = "heal",
    };
    for (cairn_session *member = v->room->members; member != NULL; member = member->member_next) {
        const cairn_link_statistics *link = cairn_link_statistics_read(member->link);
        cairn_control_line(v, "%" PRIu64 " %s slot=%" PRIu32 " rtt_us=%" PRIu64 " late=%" PRIu32,
            member->client_id, modes[member->mode], member->slot, link->rtt_ns / 1000,
            member->input_timing.inputs_late);
        v->answer.count += 1;
    }
    return CAIRN_CONTROL_DONE;
}

static void add_hash(cairn_control_visit *v, const char *name, cairn_hash128 hash) {
    cairn_control_line(v, "%s %016" PRIx64 "%016" PRIx64, name, hash.hi, hash.lo);
}

cairn_control_refusal cairn_control_hash(cairn_control_visit *v) {
    const cairn_world_hash *hash = &v->room->hash;
    add_hash(v, "visible", hash->visible);
    add_hash(v, "full", hash->full);
    for (uint32_t i = 0; i < CAIRN_SECTION_COUNT; ++i) {
        add_hash(v, cairn_section_name((cairn_section)i), hash->sections[i]);
    }
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_diff(cairn_control_visit *v) {
    const cairn_room *other =
        cairn_server_room_at(v->server, cairn_server_room_find(v->server, v->ask->name));
    if (other == NULL || v->ask->name[0] == '\0') {
        return cairn_control_refuse(
            v, CAIRN_CONTROL_ROOM_UNKNOWN, "there is no room \"%.64s\"", v->ask->name);
    }
    if (other->job.running) {
        return cairn_control_refuse(v, CAIRN_CONTROL_BUSY, "the other room is being stepped");
    }
    cairn_difference found[DIFFERENCES_MAX];
    v->answer.count = cairn_world_diff(v->room->world, other->world, found, DIFFERENCES_MAX);
    const uint32_t told = v->answer.count < DIFFERENCES_MAX ? v->answer.count : DIFFERENCES_MAX;
    for (uint32_t i = 0; i < told; ++i) {
        cairn_control_line(v, "%s[%" PRIu32 "].%s %08" PRIx32 " %08" PRIx32,
            cairn_section_name(found[i].section), found[i].element, found[i].field, found[i].bits_a,
            found[i].bits_b);
    }
    return CAIRN_CONTROL_DONE;
}
