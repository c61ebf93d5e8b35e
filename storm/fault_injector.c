// SPDX-License-Identifier: MIT
#include "storm/state.h"

#include "base/assert.h"
#include "base/game_input.h"
#include "net/packet.h"

static const uint64_t ms_ns = 1000000;
// The smallest MTU of IPv6 without the headers of IPv6 and UDP.
enum { IPV6_PAYLOAD_SIZE_MAX = 1280 - 40 - 8 };
_Static_assert(CAIRN_PACKET_ENCRYPTED_SIZE_MAX <= IPV6_PAYLOAD_SIZE_MAX,
    "the longest datagram passes every path that a storm draws");

static void report_event(const cairn_storm *s, const char *what, uint32_t i) {
    if (s->config.on_event != NULL) {
        s->config.on_event(s->config.user, cairn_system_now_ns(&s->system), i, what);
    }
}

// When the last stall between the client and the server ends.
static uint64_t stalled_until_ns(const cairn_storm *s, uint32_t i) {
    const cairn_system_client *client = &s->system.clients[i];
    const uint64_t path_ns =
        cairn_virtual_path_between(s->system.network, client->endpoint, s->system.server_endpoint)
            ->stalled_until_ns;
    uint64_t until_ns = s->system.server_host.stalled_until_ns;
    until_ns = client->host.stalled_until_ns > until_ns ? client->host.stalled_until_ns : until_ns;
    return path_ns > until_ns ? path_ns : until_ns;
}

// The client counts as undisturbed from now on, or from the end of its last stall.
static void restart_undisturbed_time(cairn_storm *s, uint32_t i) {
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    const uint64_t until_ns = stalled_until_ns(s, i);
    s->slots[i].undisturbed_since_ns = until_ns > now_ns ? until_ns : now_ns;
    s->slots[i].path_since_ns = now_ns;
    s->slots[i].fresh = false;
    s->slots[i].degraded |= until_ns > now_ns + 2 * CAIRN_NS_PER_S;
}

static cairn_storm_slot initial_slot(void) {
    return (cairn_storm_slot){.present = true,
        .world_tick = UINT64_MAX,
        .snapshot_tick = UINT64_MAX,
        .playing_ns = UINT64_MAX,
        .quiescent_ns = UINT64_MAX};
}

static cairn_virtual_path draw_path(cairn_storm *s) {
    return cairn_storm_draw_path(
        &s->random, s->system.config.tick_rate_hz, s->config.loss_permille_max);
}

static bool is_connected(const cairn_storm *s, uint32_t i) {
    const cairn_client_state state = cairn_client_state_read(s->system.clients[i].client);
    return state == CAIRN_CLIENT_JOINING || state == CAIRN_CLIENT_PLAYING;
}

// Leads the paths between the client and the server through bottlenecks, or not.
static void draw_bottlenecks(cairn_storm *s, uint32_t i) {
    cairn_virtual_network *network = s->system.network;
    const uint32_t ends[2] = {s->system.clients[i].endpoint, s->system.server_endpoint};
    const bool limited = s->system.config.tick_rate_hz <= 64 && !s->quiescent &&
                         cairn_random_below(&s->path_random, 1000) < s->config.bottleneck_permille;
    const bool small = cairn_random_below(&s->path_random, 4) == 0;
    for (uint32_t way = 0; way < 2; way++) {
        cairn_virtual_path *path = cairn_virtual_path_between(network, ends[way], ends[1 - way]);
        const cairn_virtual_bottleneck drawn = cairn_storm_draw_bottleneck(&s->path_random);
        uint32_t *bottleneck = &s->bottlenecks[i][way];
        if (limited && *bottleneck == 0) {
            *bottleneck = cairn_virtual_bottleneck_add(network, drawn);
        } else if (limited) {
            *cairn_virtual_bottleneck_at(network, *bottleneck) = drawn;
        }
        path->bottleneck = limited ? *bottleneck : 0;
        path->size_max = limited && small ? IPV6_PAYLOAD_SIZE_MAX : 0;
    }
    s->report.bottlenecks += limited ? 1 : 0;
}

// One of the modes that the config allows.
static cairn_client_mode draw_mode(cairn_storm *s) {
    cairn_client_mode allowed[CAIRN_STORM_MODES];
    uint32_t count = 0;
    for (uint32_t mode = 0; mode < CAIRN_STORM_MODES; mode++) {
        if ((s->config.modes >> mode & 1) != 0) {
            allowed[count++] = (cairn_client_mode)mode;
        }
    }
    return allowed[cairn_storm_below(s, count)];
}

// What an earlier session reported of its damaged world may be read after that session: when a
// stall ends (seed 12006381).
static void begin_slot(cairn_storm *s, uint32_t i, uint32_t room) {
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    const uint64_t until_ns = stalled_until_ns(s, i);
    const bool differs = cairn_storm_difference_expected(s, i);
    s->slots[i] = initial_slot();
    s->slots[i].room = room;
    s->slots[i].repaired_ns = !differs ? 0 : until_ns > now_ns ? until_ns : now_ns;
}

void cairn_storm_join(cairn_storm *s, uint32_t i) {
    static const char *const events[CAIRN_STORM_MODES] = {
        [CAIRN_CLIENT_INTERPOLATE] = "joins in mode interpolate",
        [CAIRN_CLIENT_LOCKSTEP] = "joins in mode lockstep",
        [CAIRN_CLIENT_PREDICT] = "joins in mode predict",
        [CAIRN_CLIENT_HEAL] = "joins in mode heal",
    };
    cairn_client_config config = cairn_client_config_default();
    config.mode = draw_mode(s);
    config.spectator = cairn_storm_chance(s, 150);
    config.rules = s->config.rules;
    config.velocities = s->views && i % 2 == 1;
    config.bodies_max = s->scene->world.body_capacity;
    config.shapes_max = s->scene->world.shape_capacity;
    const cairn_virtual_path path = draw_path(s);
    begin_slot(s, i, (uint32_t)cairn_storm_below(s, s->room_count));
    s->slots[i].degraded = s->memory_until_ns != 0 || s->clock_until_ns != 0;
    config.room = s->slots[i].room == 0 ? "" : CAIRN_SYSTEM_SECOND_ROOM;
    const bool joined =
        cairn_system_join(&s->system, i, &config, cairn_storm_draw_clock(&s->random), &path);
    CAIRN_ASSERT(joined || s->clock_until_ns != 0); // its clock may say that the token expired
    draw_bottlenecks(s, i);
    s->report.joins++;
    restart_undisturbed_time(s, i);
    s->slots[i].fresh = stalled_until_ns(s, i) <= cairn_system_now_ns(&s->system);
    report_event(s, events[config.mode], i);
}

static void rejoin(cairn_storm *s, uint32_t i) {
    const bool cut = s->slots[i].cut;
    const uint32_t room = s->slots[i].room;
    begin_slot(s, i, room);
    s->slots[i].cut = cut;
    s->slots[i].degraded = cut || s->memory_until_ns != 0 || s->clock_until_ns != 0;
    const bool returns = cairn_random_below(&s->id_random, 1000) < 700;
    const bool joined =
        returns ? cairn_system_return(&s->system, i) : cairn_system_rejoin(&s->system, i);
    CAIRN_ASSERT(joined || s->clock_until_ns != 0); // its clock may say that the token expired
    s->report.joins++;
    s->report.returns += returns ? 1 : 0;
    restart_undisturbed_time(s, i);
    report_event(s, returns ? "rejoins with its client id" : "rejoins", i);
}

static void remove_client(cairn_storm *s, uint32_t i) {
    cairn_system_cut(&s->system, i, false);
    cairn_system_remove(&s->system, i);
    s->slots[i].present = false;
    report_event(s, "is removed", i);
}

static void set_cut(cairn_storm *s, uint32_t i, bool cut) {
    cairn_system_cut(&s->system, i, cut);
    s->slots[i].cut = cut;
    s->slots[i].degraded = true;
    s->report.cuts += cut ? 1 : 0;
    restart_undisturbed_time(s, i);
    report_event(s, cut ? "is cut off" : "is reconnected by its path", i);
}

void cairn_storm_disturb(cairn_storm *s, uint32_t i) {
    restart_undisturbed_time(s, i);
}

// A server that starts with a wrong clock cannot tell which tokens an earlier one saw.
static void restart_server(cairn_storm *s) {
    cairn_storm_end_clock_fault(s);
    cairn_storm_close_disk(s);
    const bool restarted = cairn_system_restart_server(&s->system);
    CAIRN_ASSERT(restarted);
    cairn_storm_forget_server(s);
    s->report.restarts++;
    for (uint32_t i = 0; i < s->slot_count; i++) {
        s->slots[i].degraded = true;
        s->slots[i].server_died = true;
        restart_undisturbed_time(s, i);
    }
    report_event(s, "sees the server restart", 0);
}

// A stall of up to eight seconds, usually at most two. Connections survive two seconds unless
// another fault came shortly before.
static uint64_t draw_stall(cairn_storm *s) {
    const uint64_t most_ms = cairn_storm_chance(s, 700) ? 2000 : 8000;
    s->report.stalls++;
    return (100 + cairn_storm_below(s, most_ms - 99)) * ms_ns;
}

static void note_stall(cairn_storm *s, uint32_t i, uint64_t stall_ns) {
    const uint64_t end_ns = cairn_system_now_ns(&s->system) + stall_ns;
    cairn_storm_slot *slot = &s->slots[i];
    if (stall_ns > 2 * CAIRN_NS_PER_S ||
        cairn_storm_undisturbed_ns(s, i) < CAIRN_STORM_RECOVERY_S * CAIRN_NS_PER_S) {
        slot->degraded = true;
    }
    slot->fresh = false;
    slot->undisturbed_since_ns =
        end_ns > slot->undisturbed_since_ns ? end_ns : slot->undisturbed_since_ns;
}

// A degraded client has recovered when it keeps up, or had ample time to fail. If the attacker
// replays datagrams that were lost, a client notices late that the server dropped it. A client of a
// restarted server holds a tick ahead of the new world's, so its lag has no meaning.
static void rejoin_or_recover(cairn_storm *s, uint32_t i) {
    cairn_storm_slot *slot = &s->slots[i];
    if (!slot->degraded) {
        return;
    }
    if (cairn_client_state_read(s->system.clients[i].client) == CAIRN_CLIENT_FAILED) {
        rejoin(s, i);
        return;
    }
    const uint64_t since_ns = cairn_storm_undisturbed_ns(s, i);
    const bool keeps_up = !slot->server_died &&
                          since_ns > (CAIRN_SYSTEM_TIMEOUT_S + 3) * CAIRN_NS_PER_S &&
                          cairn_storm_lag_ns(s, i) < 3 * CAIRN_NS_PER_S;
    if (!slot->cut && (keeps_up || since_ns > 5 * CAIRN_SYSTEM_TIMEOUT_S * CAIRN_NS_PER_S)) {
        slot->degraded = false;
        slot->server_died = false;
        restart_undisturbed_time(s, i);
    }
}

static void take_new_path(cairn_storm *s, uint32_t i) {
    s->slots[i].path_since_ns = cairn_system_now_ns(&s->system);
    s->slots[i].fresh = false;
}

static void inject_fault(cairn_storm *s, uint32_t i) {
    cairn_storm_slot *slot = &s->slots[i];
    const uint32_t endpoint = s->system.clients[i].endpoint;
    const uint64_t what = cairn_storm_below(s, 100);
    if (!slot->present) {
        cairn_storm_join(s, i);
    } else if (slot->leaving) {
        remove_client(s, i);
    } else if (slot->cut) {
        set_cut(s, i, false);
    } else if (what < 30) {
        set_cut(s, i, true);
    } else if (what < 55) {
        cairn_virtual_path path = draw_path(s);
        path.cut = slot->cut;
        cairn_virtual_connect(s->system.network, endpoint, s->system.server_endpoint, &path);
        draw_bottlenecks(s, i);
        take_new_path(s, i);
        report_event(s, "gets another path", i);
    } else if (what < 60 && is_connected(s, i)) { // a handshake belongs to its address
        cairn_system_change_address(&s->system, i);
        take_new_path(s, i);
        report_event(s, "changes its address", i);
        s->report.address_changes++;
    } else if (what < 65) {
        slot->leaving = true;
        cairn_system_disconnect(&s->system, i);
        report_event(s, "disconnects", i);
    } else if (what < 72) {
        remove_client(s, i);
    } else if (what < 81) {
        const uint64_t stall_ns = draw_stall(s);
        cairn_system_stall(&s->system, i, stall_ns);
        note_stall(s, i, stall_ns);
        report_event(s, "stalls", i);
    } else if (what < 88) {
        const uint64_t stall_ns = draw_stall(s);
        cairn_virtual_stall(s->system.network, endpoint, s->system.server_endpoint, stall_ns);
        note_stall(s, i, stall_ns);
        report_event(s, "has a stalled path", i);
    } else if (what < 91) {
        const uint64_t stall_ns = draw_stall(s);
        cairn_system_stall_server(&s->system, stall_ns);
        for (uint32_t k = 0; k < s->slot_count; k++) {
            note_stall(s, k, stall_ns);
        }
        report_event(s, "sees the server stall", 0);
    } else if (s->report.restarts < 3) {
        restart_server(s);
    }
}

// The server has too little memory for a while: it refuses what it cannot have, and its clients may
// lose their connections. Drawn from a sequence of its own.
static void exhaust_memory(cairn_storm *s) {
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    if (s->config.memory_fails == NULL || s->config.no_faults) {
        return;
    }
    const bool begins =
        s->memory_until_ns == 0 && !s->quiescent && cairn_random_below(&s->memory_random, 1000) < 3;
    const bool ends = s->memory_until_ns != 0 && (s->quiescent || now_ns >= s->memory_until_ns);
    if (begins) {
        s->memory_until_ns = now_ns + (50 + cairn_random_below(&s->memory_random, 1500)) * ms_ns;
        s->system.server_memory_fails = 1 + (uint32_t)cairn_random_below(&s->memory_random, 4);
        s->report.memory_faults++;
        report_event(s, "sees the server run out of memory", 0);
    } else if (ends) {
        s->memory_until_ns = 0;
        s->system.server_memory_fails = 0;
    }
    for (uint32_t k = 0; k < s->slot_count && (s->memory_until_ns != 0 || ends); k++) {
        s->slots[k].degraded = true;
        note_stall(s, k, 0);
    }
}

void cairn_storm_end_clock_fault(cairn_storm *s) {
    s->clock_until_ns = 0;
    s->server_clock_ns = 0;
    s->system.backend_clock_ns = 0;
    s->system.client_clock_ns = 0;
}

// A wall clock is wrong for a while, of the server, the backend or the clients: tokens are refused
// by their times, and no used token may be taken again when it jumps back.
static void spoil_clocks(cairn_storm *s) {
    static const uint64_t errors_s[] = {2, 40, 3600, 100000};
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    const bool ends = s->clock_until_ns != 0 && (s->quiescent || now_ns >= s->clock_until_ns);
    if (ends) {
        cairn_storm_end_clock_fault(s);
    } else if (s->clock_until_ns == 0 && !s->quiescent && !s->config.no_faults &&
               cairn_random_below(&s->clock_random, 1000) < 2) {
        const int64_t error_ns =
            (int64_t)(errors_s[cairn_random_below(&s->clock_random, 4)] * CAIRN_NS_PER_S);
        int64_t *const clocks[] = {
            &s->server_clock_ns, &s->system.backend_clock_ns, &s->system.client_clock_ns};
        *clocks[cairn_random_below(&s->clock_random, 3)] =
            cairn_random_below(&s->clock_random, 2) == 0 ? error_ns : -error_ns;
        s->clock_until_ns = now_ns + (500 + cairn_random_below(&s->clock_random, 6000)) * ms_ns;
        s->report.clock_faults++;
        report_event(s, "sees a wall clock jump", 0);
    }
    for (uint32_t k = 0; k < s->slot_count && (s->clock_until_ns != 0 || ends); k++) {
        s->slots[k].degraded = true;
        note_stall(s, k, 0);
    }
}

// A valid input of the layout that the rules declare.
static void push_game_input(cairn_storm *s, uint32_t i) {
    const cairn_rules *rules = s->config.rules;
    uint32_t words[CAIRN_INPUT_FIELDS_MAX];
    cairn_random random = cairn_random_of(cairn_storm_below(s, UINT64_MAX));
    cairn_input_draw(rules->input, rules->input_count, &random, words);
    if (s->config.on_game_input != NULL) {
        s->config.on_game_input(s->config.user, s, i, words);
    }
    cairn_client_push_game_input(s->system.clients[i].client, words, rules->input_size);
}

static void push_input(cairn_storm *s, uint32_t i) {
    if (s->config.rules != NULL && s->config.rules->input_count > 0) {
        push_game_input(s, i);
        return;
    }
    cairn_client_input input = {.buttons = (uint32_t)cairn_storm_below(s, 16)};
    for (uint32_t axis = 0; axis < 3; axis++) {
        input.move[axis] = (float)cairn_storm_below(s, 201) / 100.0f - 1.0f;
        input.aim[axis] = (float)cairn_storm_below(s, 201) / 100.0f - 1.0f;
    }
    if (s->config.on_input != NULL) {
        s->config.on_input(s->config.user, s, i, &input);
    }
    cairn_client_push_input(s->system.clients[i].client, &input);
}

// Only if the rules take messages, so that other storms stay as they are.
static void send_message(cairn_storm *s, uint32_t i) {
    cairn_client *client = s->system.clients[i].client;
    cairn_client_game_message taken;
    while (cairn_client_next_game_message(client, &taken)) {
        s->report.game_messages += 1;
    }
    const cairn_rules *rules = s->config.rules;
    if (rules == NULL || rules->message_size_max == 0) {
        return;
    }
    uint8_t bytes[CAIRN_GAME_MESSAGE_SIZE_MAX];
    const uint32_t size = 1 + (uint32_t)cairn_storm_below(s, rules->message_size_max);
    for (uint32_t k = 0; k < size; ++k) {
        bytes[k] = (uint8_t)cairn_storm_below(s, 256);
    }
    (void)cairn_client_send_game_message(client, bytes, size);
}

void cairn_storm_inject_faults(cairn_storm *s) {
    exhaust_memory(s);
    spoil_clocks(s);
    while (cairn_storm_chance(s, s->attacker_permille)) {
        const uint32_t i = (uint32_t)cairn_storm_below(s, s->slot_count);
        const uint32_t victim = s->slots[i].present && cairn_storm_chance(s, 300)
                                    ? s->system.clients[i].endpoint
                                    : s->system.server_endpoint;
        cairn_attacker_send(
            &s->attacker, s->system.network, cairn_virtual_address(s->system.network, victim));
        s->report.hostile++;
    }
    for (uint32_t i = 0; i < s->hostile_count; i++) {
        cairn_hostile_act_now(&s->hostiles[i]);
    }
    if (!s->quiescent && !s->config.no_faults && cairn_storm_chance(s, s->fault_permille)) {
        inject_fault(s, (uint32_t)cairn_storm_below(s, s->slot_count));
    }
    for (uint32_t i = 0; i < s->slot_count; i++) {
        if (s->slots[i].present && !s->slots[i].leaving) {
            rejoin_or_recover(s, i);
            if (cairn_storm_chance(s, 200)) {
                push_input(s, i);
                send_message(s, i);
            }
            if (s->operated && i == 0) {
                cairn_storm_operate(s, i);
            }
            if (!s->quiescent && !s->config.no_faults && cairn_storm_chance(s, 8)) {
                cairn_storm_damage(s, i);
            }
            if (s->slots[i].damaged && cairn_storm_chance(s, 500)) {
                cairn_storm_damage_again(s, i);
            }
        }
    }
}

void cairn_storm_begin_quiescence(cairn_storm *s) {
    const cairn_virtual_path whole = {.delay_ns = 20 * ms_ns};
    s->quiescent = true;
    for (uint32_t r = 0; r < s->room_count; r++) {
        s->rooms[r].quiescence_tick = s->rooms[r].server_tick;
    }
    cairn_system_stall_server(&s->system, 0);
    for (uint32_t i = 0; i < s->slot_count; i++) {
        if (!s->slots[i].present || s->slots[i].leaving) {
            continue;
        }
        if (s->slots[i].cut) {
            set_cut(s, i, false);
        }
        s->slots[i].quiescence_equal = false;
        cairn_system_stall(&s->system, i, 0);
        cairn_virtual_connect(
            s->system.network, s->system.clients[i].endpoint, s->system.server_endpoint, &whole);
        restart_undisturbed_time(s, i);
    }
    report_event(s, "sees the quiescence begin", 0);
}
