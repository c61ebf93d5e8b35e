// SPDX-License-Identifier: MIT
#include "tests/kit/rig.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/random.h"
#include "client_lib/client_parts.h"
#include "client_lib/client_probe.h"
#include "tests/kit/test.h"

static const uint64_t ms_ns = 1000000;
static const uint64_t paused_ns = UINT64_MAX / 4;

static bool on_record(void *user, const char *room, const uint8_t *bytes, size_t size) {
    rig *r = user;
    if (size == 0 || strcmp(room, CAIRN_ROOM_NAME_DEFAULT) != 0) {
        return true;
    }
    if (size > RIG_RECORD_MAX - r->record_size) {
        return false;
    }
    memcpy(r->record + r->record_size, bytes, size);
    r->record_size += size;
    return true;
}

static void configure(void *user, cairn_server_config *config) {
    rig *r = user;
    config->first_room.players_max = 4;
    config->user = r;
    config->on_record = r->options.recorded ? on_record : NULL;
    if (r->options.configure != NULL) {
        r->options.configure(config);
    }
}

const cairn_world *rig_server_world(const rig *r) {
    return cairn_server_world(r->system.server, CAIRN_ROOM_MAIN);
}

static void record_tick(void *user) {
    rig *r = user;
    const cairn_world *world = rig_server_world(r);
    if (!r->options.unwatched && cairn_world_tick(world) != r->tick) {
        r->tick = cairn_world_tick(world);
        cairn_oracle_record(r->oracle, world);
    }
}

void rig_start_with(rig *r, const rig_options *options) {
    memset(r, 0, sizeof *r);
    r->options = *options;
    const cairn_scene *scene = options->scene != NULL ? options->scene : kit_scene_stack_and_row();
    r->drift_ppm = 300;
    r->tick = UINT64_MAX;
    assert_int_equal(cairn_oracle_create(2048, &r->oracle), CAIRN_OK);
    r->record = malloc(RIG_RECORD_MAX);
    assert_non_null(r->record);
    cairn_system_config config = cairn_system_config_default(scene);
    config.seed = options->seed;
    config.tick_rate_hz = options->tick_rate_hz;
    config.snapshot_rate_hz = options->snapshot_rate_hz;
    config.wait_ms = options->wait_ms;
    config.configure = configure;
    config.configure_user = r;
    assert_true(cairn_system_start(&r->system, &config));
    r->system.after_server = record_tick;
    r->system.user = r;
    if (options->timeout_s > 0) {
        r->system.config.timeout_s = options->timeout_s;
    }
    for (uint32_t i = 0; i < options->clients; i++) {
        const bool interpolates = i + options->interpolating >= options->clients;
        if (options->config != NULL) {
            rig_join(r, options->config, options->path);
        } else {
            rig_join_mode(r, interpolates ? CAIRN_CLIENT_INTERPOLATE : CAIRN_CLIENT_LOCKSTEP);
        }
    }
    if (options->config != NULL) {
        rig_wait_to_play(r);
    } else if (options->clients > 0) {
        rig_run_ms(r, 3000 + 10 * options->delay_ms);
    }
    for (uint32_t i = 0; i < options->clients; i++) {
        expect_playing(r, i);
    }
}

void rig_end(rig *r) {
    assert_int_equal(r->system.spins, 0);
    assert_true(cairn_virtual_adds_up(r->system.network));
    cairn_system_stop(&r->system);
    cairn_oracle_destroy(r->oracle);
    free(r->record);
}

uint32_t rig_join(rig *r, const cairn_client_config *config, const cairn_virtual_path *path) {
    const cairn_virtual_path usual = {.delay_ns = 20 * ms_ns};
    const uint32_t client = r->client_count++;
    const cairn_virtual_clock clock = {
        .drift_ppm = r->drift_ppm, .offset_ns = 77000000000u * (client + 1)};
    CAIRN_ASSERT(client < CAIRN_SYSTEM_CLIENTS_MAX);
    r->system.config.operator_slots |= r->operators ? 1u << client : 0;
    assert_true(cairn_system_join(&r->system, client, config, clock, path != NULL ? path : &usual));
    return client;
}

cairn_client_config rig_config(cairn_client_mode mode) {
    cairn_client_config config = cairn_client_config_default();
    config.mode = mode;
    return config;
}

uint32_t rig_join_mode(rig *r, cairn_client_mode mode) {
    const cairn_virtual_path path = {.delay_ns = r->options.delay_ms * ms_ns,
        .jitter_ns = r->options.jitter_ms * ms_ns,
        .loss_permille = r->options.loss_permille};
    const cairn_client_config config = rig_config(mode);
    return rig_join(r, &config, &path);
}

void rig_connect_again(rig *r, uint32_t client) {
    assert_true(cairn_system_rejoin(&r->system, client));
}

void rig_leave(rig *r, uint32_t client) {
    cairn_system_disconnect(&r->system, client);
}

void rig_wait_to_play(rig *r) {
    for (uint32_t i = 0; i < r->client_count; i++) {
        for (int k = 0; k < 100 && rig_state(r, i) != CAIRN_CLIENT_PLAYING; k++) {
            rig_run_ms(r, 100);
        }
        expect_playing(r, i);
    }
}

void rig_run_ms(rig *r, uint64_t ms) {
    cairn_system_run_until(&r->system, cairn_system_now_ns(&r->system) + ms * ms_ns);
}

void rig_run_ticks(rig *r, uint32_t ticks) {
    const uint32_t rate_hz = r->options.tick_rate_hz != 0 ? r->options.tick_rate_hz : 60;
    cairn_system_run_until(
        &r->system, cairn_system_now_ns(&r->system) + ticks * CAIRN_NS_PER_S / rate_hz);
}

void rig_play(rig *r, uint64_t seed, uint64_t ms) {
    cairn_random random = cairn_random_of(seed);
    for (uint64_t t = 0; t < ms; t += 100) {
        for (uint32_t i = 0; i < r->client_count; i++) {
            if (cairn_random_below(&random, 4) == 0) {
                rig_press(r, i, 1u << cairn_random_below(&random, 4),
                    (float)cairn_random_below(&random, 3) - 1.0f);
            }
        }
        rig_run_ms(r, 100);
    }
}

bool rig_press(rig *r, uint32_t client, uint32_t buttons, float move_x) {
    const cairn_client_input input = {.buttons = buttons, .move = {move_x, 0, 0}};
    return cairn_client_push_input(rig_client(r, client), &input);
}

void rig_cut(rig *r, uint32_t client, bool cut) {
    cairn_system_cut(&r->system, client, cut);
}

void rig_delay(rig *r, uint32_t client, uint32_t delay_ms) {
    const cairn_virtual_path path = {.delay_ns = delay_ms * ms_ns};
    cairn_virtual_connect(
        r->system.network, r->system.clients[client].endpoint, r->system.server_endpoint, &path);
}

void rig_pause(rig *r, uint32_t client, bool paused) {
    r->system.clients[client].host.held_count = 0;
    cairn_system_stall(&r->system, client, paused ? paused_ns : 0);
}

void rig_pause_server(rig *r, bool paused) {
    r->system.server_host.held_count = 0;
    cairn_system_stall_server(&r->system, paused ? paused_ns : 0);
}

void rig_restart_server(rig *r) {
    cairn_oracle_forget(r->oracle);
    r->tick = UINT64_MAX;
    assert_true(cairn_system_restart_server(&r->system));
}

cairn_client *rig_client(const rig *r, uint32_t client) {
    CAIRN_ASSERT(r->system.clients[client].client != NULL);
    return r->system.clients[client].client;
}

uint64_t rig_client_now_ns(const rig *r, uint32_t client) {
    return cairn_system_client_now_ns(&r->system, client);
}

uint64_t rig_server_now_ns(const rig *r) {
    return cairn_virtual_local_ns(r->system.network, r->system.server_endpoint);
}

void rig_deliver(rig *r, uint32_t client, const cairn_message *message) {
    cairn_encoder *encoder = NULL;
    cairn_link_message bytes = {.reliable = true};
    assert_int_equal(cairn_encoder_create(4096, &encoder), CAIRN_OK);
    assert_int_equal(cairn_message_encode(encoder, message, &bytes.bytes, &bytes.size), CAIRN_OK);
    cairn_client_take_message(rig_client(r, client), rig_client_now_ns(r, client), &bytes);
    cairn_encoder_destroy(encoder);
}

cairn_control_answer rig_ask(rig *r, uint32_t client, const cairn_control_request *request) {
    cairn_control_answer answer = {.reason = ""};
    const uint32_t number = cairn_client_ask(rig_client(r, client), request);
    assert_int_not_equal(number, 0);
    for (uint32_t i = 0; i < 500; ++i) {
        rig_run_ms(r, 10);
        if (cairn_client_next_answer(rig_client(r, client), &answer)) {
            assert_int_equal(answer.number, number);
            return answer;
        }
    }
    fail_msg("no answer");
    return answer;
}

cairn_control_answer rig_order(rig *r, uint32_t client, const cairn_control_request *request) {
    const cairn_control_answer answer = rig_ask(r, client, request);
    if (answer.refusal != 0) {
        fail_msg("%s: %s", cairn_control_verb_text(request->verb), answer.reason);
    }
    return answer;
}

bool rig_look(rig *r, uint32_t client) {
    rig_view *view = &r->views[client];
    return cairn_client_sample_world(rig_client(r, client), rig_client_now_ns(r, client),
        view->bodies, RIG_BODIES_MAX, &view->sample);
}

cairn_client_state rig_state(const rig *r, uint32_t client) {
    return cairn_client_state_read(rig_client(r, client));
}

cairn_client_statistics rig_statistics(const rig *r, uint32_t client) {
    cairn_client_statistics statistics;
    cairn_client_statistics_read(rig_client(r, client), &statistics);
    return statistics;
}

cairn_server_statistics rig_server_statistics(const rig *r) {
    cairn_server_statistics statistics;
    cairn_server_statistics_read(r->system.server, &statistics);
    return statistics;
}

static bool is_lockstep(const rig *r, uint32_t client) {
    return r->system.clients[client].config.mode == CAIRN_CLIENT_LOCKSTEP;
}

static const cairn_world *world_of(const rig *r, uint32_t client) {
    const cairn_world *world = cairn_client_world(rig_client(r, client));
    assert_non_null(world);
    return world;
}

static const cairn_snapshot *snapshot_of(const rig *r, uint32_t client) {
    const cairn_snapshot *snapshot =
        cairn_snapshots_newest(cairn_client_probe_of(rig_client(r, client)).snapshots);
    assert_non_null(snapshot);
    return snapshot;
}

static uint64_t tick_of(const rig *r, uint32_t client) {
    return is_lockstep(r, client) ? cairn_world_tick(world_of(r, client))
                                  : snapshot_of(r, client)->tick;
}

uint64_t rig_ticks_behind(const rig *r, uint32_t client) {
    return r->tick - tick_of(r, client);
}

uint32_t rig_body_count(const rig *r, uint32_t client) {
    return is_lockstep(r, client) ? cairn_world_counts_read(world_of(r, client)).bodies
                                  : snapshot_of(r, client)->body_count;
}

void expect_servers_world(const rig *r, uint32_t client) {
    const cairn_oracle_tick *expected = cairn_oracle_find(r->oracle, tick_of(r, client));
    assert_non_null(expected);
    if (is_lockstep(r, client)) {
        assert_true(
            cairn_hash_equal(expected->root, cairn_world_hash_read(world_of(r, client)).full));
    } else {
        const cairn_snapshot *snapshot = snapshot_of(r, client);
        const cairn_quantisation quantisation = cairn_quantisation_default();
        assert_true(cairn_oracle_bodies_equal(
            expected, &quantisation, snapshot->bodies, snapshot->body_count));
    }
}

void expect_snapshots_usable(const rig *r, uint32_t client) {
    const uint64_t *drops = cairn_client_probe_of(rig_client(r, client)).snapshot_drops;
    assert_int_equal(drops[CAIRN_SNAPSHOT_MALFORMED], 0);
    assert_int_equal(drops[CAIRN_SNAPSHOT_DIFFERS], 0);
    assert_int_equal(drops[CAIRN_SNAPSHOT_BASELINE_LOST], 0);
    assert_int_equal(drops[CAIRN_SNAPSHOT_BODIES_MAX], 0);
}

void expect_playing(const rig *r, uint32_t client) {
    if (rig_state(r, client) != CAIRN_CLIENT_PLAYING) {
        fail_msg("client %u is in state %d: %s", client, (int)rig_state(r, client),
            cairn_client_failure_text(rig_client(r, client)));
    }
}

void expect_behind_at_most_ticks(const rig *r, uint32_t client, uint64_t ticks) {
    assert_in_range(rig_ticks_behind(r, client), 0, ticks);
}

void expect_no_difference(const rig *r) {
    assert_int_equal(rig_server_statistics(r).total.roots_differed, 0);
    for (uint32_t i = 0; i < r->client_count; i++) {
        if (is_lockstep(r, i)) {
            assert_int_equal(rig_statistics(r, i).simulation.roots_differed, 0);
            assert_true(rig_statistics(r, i).simulation.roots_compared > 0);
        }
    }
}
