// SPDX-License-Identifier: MIT
#include "base/assert.h"
#include "storm/parts.h"

static const uint64_t ms_ns = 1000000;
static const uint64_t second_ns = 1000000000;

static void tell(const cairn_storm *s, const char *what, uint32_t i) {
    if (s->config.on_event != NULL) {
        s->config.on_event(s->config.user, cairn_system_now_ns(&s->system), i, what);
    }
}

// When whatever stands still between the client and the server goes on.
static uint64_t stalled_until_ns(const cairn_storm *s, uint32_t i) {
    const cairn_system_client *client = &s->system.clients[i];
    const uint64_t path_ns =
        cairn_virtual_path_between(s->system.network, client->endpoint, s->system.server_endpoint)
            ->stalled_until_ns;
    uint64_t until_ns = s->system.server_host.stalled_until_ns;
    until_ns = client->host.stalled_until_ns > until_ns ? client->host.stalled_until_ns : until_ns;
    return path_ns > until_ns ? path_ns : until_ns;
}

// From now on the client's path is whole and its time counts, once nothing stands still.
static void mend(cairn_storm *s, uint32_t i) {
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    const uint64_t until_ns = stalled_until_ns(s, i);
    s->places[i].healthy_ns = until_ns > now_ns ? until_ns : now_ns;
    s->places[i].hurt |= until_ns > now_ns + 2 * second_ns;
}

static cairn_storm_place fresh_place(void) {
    return (cairn_storm_place){.present = true,
        .world_tick = UINT64_MAX,
        .snapshot_tick = UINT64_MAX,
        .playing_ns = UINT64_MAX,
        .calm_ns = UINT64_MAX};
}

static cairn_virtual_path draw_path(cairn_storm *s) {
    return cairn_storm_draw_path(
        &s->random, s->system.config.tick_rate_hz, s->config.loss_permille_max);
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

void cairn_storm_join(cairn_storm *s, uint32_t i) {
    static const char *const words[CAIRN_STORM_MODES] = {
        [CAIRN_CLIENT_INTERPOLATE] = "joins to interpolate",
        [CAIRN_CLIENT_LOCKSTEP] = "joins in lockstep",
        [CAIRN_CLIENT_PREDICT] = "joins to predict",
        [CAIRN_CLIENT_HEAL] = "joins and heals",
    };
    cairn_client_config config = cairn_client_config_default();
    config.mode = draw_mode(s);
    config.spectator = cairn_storm_chance(s, 150);
    config.rules = s->config.rules;
    config.bodies_max = s->scene->body_capacity;
    config.shapes_max = s->scene->shape_capacity;
    const cairn_virtual_path path = draw_path(s);
    s->places[i] = fresh_place();
    s->places[i].room = (uint32_t)cairn_storm_below(s, s->room_count);
    config.room = s->places[i].room == 0 ? "" : CAIRN_SYSTEM_SECOND_ROOM;
    const bool joined =
        cairn_system_join(&s->system, i, &config, cairn_storm_draw_clock(&s->random), &path);
    CAIRN_ASSERT(joined);
    s->report.joins++;
    mend(s, i);
    tell(s, words[config.mode], i);
}

static void rejoin(cairn_storm *s, uint32_t i) {
    const bool cut = s->places[i].cut;
    const uint32_t room = s->places[i].room;
    s->places[i] = fresh_place();
    s->places[i].room = room;
    s->places[i].cut = cut;
    s->places[i].hurt = cut;
    const bool joined = cairn_system_rejoin(&s->system, i);
    CAIRN_ASSERT(joined);
    s->report.joins++;
    mend(s, i);
    tell(s, "rejoins", i);
}

static void remove_client(cairn_storm *s, uint32_t i) {
    cairn_system_cut(&s->system, i, false);
    cairn_system_remove(&s->system, i);
    s->places[i].present = false;
    tell(s, "is gone", i);
}

static void set_cut(cairn_storm *s, uint32_t i, bool cut) {
    cairn_system_cut(&s->system, i, cut);
    s->places[i].cut = cut;
    s->places[i].hurt = true;
    s->report.cuts += cut ? 1 : 0;
    mend(s, i);
    tell(s, cut ? "is cut off" : "is no longer cut off", i);
}

static void restart_server(cairn_storm *s) {
    const bool restarted = cairn_system_restart_server(&s->system);
    CAIRN_ASSERT(restarted);
    cairn_storm_forget(s);
    s->report.restarts++;
    for (uint32_t i = 0; i < s->place_count; i++) {
        s->places[i].hurt = true;
        s->places[i].orphan = true;
        mend(s, i);
    }
    tell(s, "the server restarts", 0);
}

static void change_path(cairn_storm *s, uint32_t i) {
    cairn_virtual_path path = draw_path(s);
    path.cut = s->places[i].cut;
    cairn_virtual_connect(
        s->system.network, s->system.clients[i].endpoint, s->system.server_endpoint, &path);
    tell(s, "has another path", i);
}

// A stall of up to eight seconds, mostly short. Connections live through two seconds, unless
// something else was done to them shortly before.
static uint64_t draw_stall(cairn_storm *s) {
    const uint64_t most_ms = cairn_storm_chance(s, 700) ? 2000 : 8000;
    s->report.stalls++;
    return (100 + cairn_storm_below(s, most_ms - 99)) * ms_ns;
}

static void suffer(cairn_storm *s, uint32_t i, uint64_t stall_ns) {
    const uint64_t end_ns = cairn_system_now_ns(&s->system) + stall_ns;
    cairn_storm_place *c = &s->places[i];
    if (stall_ns > 2 * second_ns ||
        cairn_storm_whole_ns(s, i) < CAIRN_STORM_RECOVERY_S * second_ns) {
        c->hurt = true;
    }
    c->healthy_ns = end_ns > c->healthy_ns ? end_ns : c->healthy_ns;
}

static void stall_client(cairn_storm *s, uint32_t i) {
    const uint64_t stall_ns = draw_stall(s);
    cairn_system_stall(&s->system, i, stall_ns);
    suffer(s, i, stall_ns);
    tell(s, "stands still", i);
}

static void stall_path(cairn_storm *s, uint32_t i) {
    const uint64_t stall_ns = draw_stall(s);
    cairn_virtual_stall(
        s->system.network, s->system.clients[i].endpoint, s->system.server_endpoint, stall_ns);
    suffer(s, i, stall_ns);
    tell(s, "has a path that stalls", i);
}

static void stall_server(cairn_storm *s) {
    const uint64_t stall_ns = draw_stall(s);
    cairn_system_stall_server(&s->system, stall_ns);
    for (uint32_t i = 0; i < s->place_count; i++) {
        suffer(s, i, stall_ns);
    }
    tell(s, "has a server that stands still", 0);
}

// Whether a client that was hurt has come through: it keeps up, or had ample time to fail. A server
// that gave it up is noticed late when the stranger brings datagrams that were lost before. Behind
// a server that began anew nobody lags, so an orphan is not judged by that.
static bool came_through(const cairn_storm *s, uint32_t i) {
    const uint64_t since_ns = cairn_storm_whole_ns(s, i);
    const bool keeps_up = !s->places[i].orphan &&
                          since_ns > (CAIRN_SYSTEM_TIMEOUT_S + 3) * second_ns &&
                          cairn_storm_lag_ns(s, i) < 3 * second_ns;
    return keeps_up || since_ns > 5 * CAIRN_SYSTEM_TIMEOUT_S * second_ns;
}

static void recover(cairn_storm *s, uint32_t i) {
    cairn_storm_place *c = &s->places[i];
    const cairn_client_state state = cairn_client_state_read(s->system.clients[i].client);
    if (state == CAIRN_CLIENT_FAILED && c->hurt) {
        rejoin(s, i);
    } else if (c->hurt && !c->cut && came_through(s, i)) {
        c->hurt = false;
        c->orphan = false;
        mend(s, i);
    }
}

static void trouble_for(cairn_storm *s, uint32_t i) {
    cairn_storm_place *c = &s->places[i];
    const uint64_t what = cairn_storm_below(s, 100);
    if (!c->present) {
        cairn_storm_join(s, i);
    } else if (c->leaving) {
        remove_client(s, i);
    } else if (c->cut) {
        set_cut(s, i, false);
    } else if (what < 30) {
        set_cut(s, i, true);
    } else if (what < 55) {
        change_path(s, i);
    } else if (what < 65) {
        c->leaving = true;
        cairn_system_disconnect(&s->system, i);
        tell(s, "says goodbye", i);
    } else if (what < 70) {
        remove_client(s, i);
    } else if (what == 70 && s->report.restarts < 3) {
        restart_server(s);
    } else if (what >= 72 && what < 81) {
        stall_client(s, i);
    } else if (what >= 81 && what < 88) {
        stall_path(s, i);
    } else if (what >= 88 && what < 91) {
        stall_server(s);
    }
}

static void press(cairn_storm *s, uint32_t i) {
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

static void hostile_act(cairn_storm *s) {
    const uint32_t i = (uint32_t)cairn_storm_below(s, s->place_count);
    const uint32_t victim = s->places[i].present && cairn_storm_chance(s, 300)
                                ? s->system.clients[i].endpoint
                                : s->system.server_endpoint;
    cairn_stranger_act(
        &s->stranger, s->system.network, cairn_virtual_address(s->system.network, victim));
    s->report.hostile++;
}

void cairn_storm_weather(cairn_storm *s) {
    while (cairn_storm_chance(s, s->stranger_permille)) {
        hostile_act(s);
    }
    if (!s->calm && !s->config.quiet && cairn_storm_chance(s, s->trouble_permille)) {
        trouble_for(s, (uint32_t)cairn_storm_below(s, s->place_count));
    }
    for (uint32_t i = 0; i < s->place_count; i++) {
        if (s->places[i].present && !s->places[i].leaving) {
            recover(s, i);
            if (cairn_storm_chance(s, 200)) {
                press(s, i);
            }
            if (s->operated && i == 0) {
                cairn_storm_operate(s, i);
            }
            if (!s->calm && !s->config.quiet && cairn_storm_chance(s, 5)) {
                cairn_storm_damage(s, i);
            }
        }
    }
}

void cairn_storm_begin_calm(cairn_storm *s) {
    const cairn_virtual_path whole = {.delay_ns = 20 * ms_ns};
    s->calm = true;
    for (uint32_t r = 0; r < s->room_count; r++) {
        s->rooms[r].calm_tick = s->rooms[r].server_tick;
    }
    cairn_storm_leave_time_alone(s);
    cairn_system_stall_server(&s->system, 0);
    for (uint32_t i = 0; i < s->place_count; i++) {
        if (!s->places[i].present || s->places[i].leaving) {
            continue;
        }
        if (s->places[i].cut) {
            set_cut(s, i, false);
        }
        s->places[i].calm_equal = false;
        cairn_system_stall(&s->system, i, 0);
        cairn_virtual_connect(
            s->system.network, s->system.clients[i].endpoint, s->system.server_endpoint, &whole);
        mend(s, i);
        if (s->config.broken == CAIRN_STORM_BREAK_CALM) {
            cairn_system_cut(&s->system, i, true);
        }
    }
    tell(s, "is where it is calm from now on", 0);
}
