// SPDX-License-Identifier: MIT
#include "server/room/room.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "bridge/scene_world.h"
#include "schema/scene.h"

// A missing input repeats the last one for about this long; then the player has none.
#define HOLD_MS 150
#define SNAPSHOT_RATE_HZ_DEFAULT 20
#define POSITION_STEPS_PER_M_DEFAULT 512
#define ROTATION_BITS_DEFAULT 9

static cairn_status refuse(char *error, cairn_status status, const char *why) {
    snprintf(error, CAIRN_SCENE_ERROR_SIZE, "%s", why);
    return status;
}

static cairn_status create_world(const cairn_server_room_config *config,
    const cairn_room_source *source, cairn_room *room, char *error) {
    if (source->world != NULL) {
        room->world = source->world;
        room->start_root = source->start_root;
        snprintf(room->scene_name, sizeof room->scene_name, "%s", source->scene_name);
        return CAIRN_OK;
    }
    if (config->scene == NULL) {
        return refuse(error, CAIRN_INVALID_ARGUMENT, "a room needs a scene");
    }
    cairn_scene scene = *config->scene;
    if (config->tick_rate_hz != 0) {
        scene.world.tick_rate_hz = config->tick_rate_hz;
    }
    snprintf(room->scene_name, sizeof room->scene_name, "%s", scene.name);
    const cairn_status status =
        cairn_scene_world_create(&scene, config->rules, &room->world, error);
    if (status == CAIRN_OK) {
        room->start_root = cairn_world_hash_read(room->world).full;
    }
    return status;
}

static bool is_too_few(uint32_t bytes_per_second) {
    return bytes_per_second > 0 && bytes_per_second < CAIRN_VIEW_BYTES_MIN;
}

static uint32_t first_not_0(uint32_t own, uint32_t of_scene, uint32_t usual) {
    return own != 0 ? own : of_scene != 0 ? of_scene : usual;
}

// Fills in what the scene says, then the defaults. NULL, or which number is outside its range.
static const char *resolve_settings(const cairn_server_room_config *config, cairn_room *room) {
    cairn_server_room_config *settings = &room->settings;
    *settings = *config;
    settings->name = NULL;
    settings->scene = NULL;
    settings->rules = NULL;
    settings->tick_rate_hz = cairn_world_settings(room->world)->tick_rate_hz;
    if (settings->snapshot_rate_hz == 0) {
        settings->snapshot_rate_hz = SNAPSHOT_RATE_HZ_DEFAULT < settings->tick_rate_hz
                                         ? SNAPSHOT_RATE_HZ_DEFAULT
                                         : settings->tick_rate_hz;
    }
    const cairn_scene *scene = config->scene;
    const uint32_t bits = first_not_0(
        settings->rotation_bits, scene != NULL ? scene->rotation_bits : 0, ROTATION_BITS_DEFAULT);
    const uint32_t steps = first_not_0(settings->position_steps_per_m,
        scene != NULL ? scene->position_steps_per_m : 0, POSITION_STEPS_PER_M_DEFAULT);
    const uint32_t together = first_not_0(settings->coded_together_max,
        scene != NULL ? scene->coded_together_max : 0, CAIRN_CODED_TOGETHER_DEFAULT);
    settings->rotation_bits = bits;
    settings->coded_together_max = together;
    settings->position_steps_per_m = steps;
    return settings->players_max < 1 || settings->players_max > CAIRN_SLOTS_MAX
               ? "players_max is outside its range"
           : settings->wait_ms > CAIRN_ROOM_WAIT_MS_MAX ? "wait_ms is outside its range"
           : settings->catch_up_ticks_max < 1 ||
                   settings->catch_up_ticks_max > CAIRN_CATCH_UP_TICKS_MAX
               ? "catch_up_ticks_max is outside its range"
           : settings->snapshot_rate_hz > settings->tick_rate_hz
               ? "the snapshot rate exceeds the tick rate"
           : settings->view_distance_m > CAIRN_VIEW_DISTANCE_MAX
               ? "view_distance_m is outside its range"
           : is_too_few(settings->client_bytes_per_second)
               ? "client_bytes_per_second is outside its range"
           : is_too_few(settings->room_bytes_per_second)
               ? "room_bytes_per_second is outside its range"
           : steps > CAIRN_POSITION_STEPS_PER_M_MAX ? "position_steps_per_m is outside its range"
           : bits < CAIRN_ROTATION_BITS_MIN || bits > CAIRN_ROTATION_BITS_MAX
               ? "rotation_bits is outside its range"
           : together > CAIRN_BODIES_MAX ? "coded_together_max is outside its range"
                                         : NULL;
}

static cairn_status create_memory(const cairn_room_source *source, cairn_room *room) {
    const cairn_server_room_config *settings = &room->settings;
    const cairn_inbox_config inbox = {
        .tick = cairn_world_tick(room->world),
        .window_ticks = settings->input_window_ticks,
        .slots = settings->players_max,
        .hold_ticks = (settings->tick_rate_hz * HOLD_MS + 999) / 1000,
        .edits_max = source->edits_max,
        .rules = cairn_world_settings(room->world)->rules,
    };
    cairn_status status = cairn_inbox_create(&inbox, &room->inbox);
    if (status == CAIRN_OK) {
        status = cairn_command_log_create(CAIRN_ROOM_COMMAND_LOG_TICKS,
            cairn_inbox_commands_max(room->inbox), &room->command_log);
    }
    if (status == CAIRN_OK) {
        status =
            cairn_state_history_create(CAIRN_ROOM_STATE_HISTORY_SECONDS * settings->tick_rate_hz,
                CAIRN_ROOM_STATE_HISTORY_BYTES_MAX, &room->state_history);
    }
    if (status == CAIRN_OK) {
        status = cairn_job_create(&room->job, room, room->world, room->state_history,
            settings->catch_up_ticks_max, cairn_inbox_commands_max(room->inbox));
    }
    return status;
}

cairn_status cairn_room_create(const cairn_server_room_config *config,
    const cairn_room_source *source, cairn_room *out, char error[CAIRN_SCENE_ERROR_SIZE]) {
    *out = (cairn_room){.saved = source->saved};
    error[0] = '\0';
    cairn_status status = create_world(config, source, out, error);
    if (status != CAIRN_OK) {
        return status;
    }
    const char *refused = resolve_settings(config, out);
    if (refused != NULL) {
        return refuse(error, CAIRN_INVALID_ARGUMENT, refused);
    }
    const cairn_world_def *def = cairn_world_settings(out->world);
    out->body_capacity = def->body_capacity;
    out->shape_capacity = def->shape_capacity;
    out->mesh_capacity = def->mesh_capacity;
    status = create_memory(source, out);
    if (status != CAIRN_OK) {
        return refuse(error, status, cairn_status_text(status));
    }
    const uint64_t start_ns = cairn_tick_scheduler_start_ns(
        source->server_start_ns, source->now_ns, out->settings.tick_rate_hz);
    out->scheduler = cairn_tick_scheduler_of(start_ns, out->settings.tick_rate_hz,
        out->settings.catch_up_ticks_max, cairn_world_tick(out->world));
    out->time_control = cairn_time_control_default();
    out->population = cairn_world_population_read(out->world);
    out->hash = cairn_world_hash_read(out->world);
    CAIRN_ASSERT(cairn_inbox_tick(out->inbox) == out->scheduler.tick);
    return CAIRN_OK;
}

void cairn_room_destroy(cairn_room *room) {
    CAIRN_ASSERT(!room->job.running && room->members == NULL);
    cairn_job_destroy(&room->job);
    cairn_state_history_destroy(room->state_history);
    cairn_command_log_destroy(room->command_log);
    cairn_inbox_destroy(room->inbox);
    cairn_watch_destroy(room->watch);
    cairn_world_destroy(room->world);
    cairn_world_destroy(room->trial.world);
    free(room->control_wait.watched);
    *room = (cairn_room){0};
}

cairn_world *cairn_room_set_world(
    cairn_room *room, cairn_world *world, const cairn_world_population *population) {
    cairn_world *before = room->world;
    CAIRN_ASSERT(!room->job.running);
    CAIRN_ASSERT(cairn_world_settings(world)->body_capacity == room->body_capacity);
    // Now: another thread may destroy the world before.
    cairn_watch_destroy(room->watch);
    room->watch = NULL;
    room->world = world;
    room->job.world = world;
    room->job.mean_cost_ns = 0;
    room->hash = cairn_world_hash_read(world);
    room->population = *population;
    return before;
}

cairn_watch *cairn_room_watch(cairn_room *room) {
    CAIRN_ASSERT(!room->job.running);
    if (room->watch == NULL) {
        (void)cairn_watch_create(room->world, &room->watch);
    }
    return room->watch;
}

void cairn_room_finish_job(cairn_room *room) {
    const struct cairn_server_job *job = &room->job;
    const cairn_command *commands = job->commands;
    CAIRN_ASSERT(!job->running && job->from == room->scheduler.tick);
    for (uint32_t i = 0; i < job->tick_count; ++i) {
        const cairn_job_tick *tick = &job->ticks[i];
        cairn_command_log_add(
            room->command_log, job->from + i, commands, tick->command_count, tick->root);
        cairn_tick_scheduler_step(&room->scheduler);
        commands += tick->command_count;
    }
    CAIRN_ASSERT(commands == job->commands + job->command_count);
    CAIRN_ASSERT(cairn_world_tick(room->world) == room->scheduler.tick);
    room->hash = job->hash;
    room->statistics.ticks_stepped += job->tick_count;
    room->statistics.game_over_step = job->game_refused;
    room->population = job->population;
}

cairn_quantisation cairn_room_quantisation(const cairn_room *room) {
    return (cairn_quantisation){
        .position_step_m = 1.0f / (float)room->settings.position_steps_per_m,
        .rotation_bits = room->settings.rotation_bits,
        .coded_together_max = room->settings.coded_together_max};
}

void cairn_room_observe_end(cairn_room *room, uint64_t now_ns) {
    const cairn_rules *rules = cairn_world_settings(room->world)->rules;
    uint32_t size;
    CAIRN_ASSERT(!room->job.running);
    const bool over = rules != NULL && rules->over != NULL &&
                      rules->over(room->world, cairn_world_rules_state(room->world, &size));
    room->over_since_ns = !over ? 0 : room->over_since_ns == 0 ? now_ns : room->over_since_ns;
}

bool cairn_room_snapshot_is_due(const cairn_room *room, uint64_t from, uint64_t to) {
    const uint64_t rate = room->settings.snapshot_rate_hz;
    CAIRN_ASSERT(from <= to && rate >= 1);
    return from * rate / room->settings.tick_rate_hz != to * rate / room->settings.tick_rate_hz;
}

const char *cairn_room_rules_name(const cairn_room *room) {
    const cairn_rules *rules = cairn_world_settings(room->world)->rules;
    return rules == NULL ? "" : rules->name;
}

uint32_t cairn_room_rules_version(const cairn_room *room) {
    const cairn_rules *rules = cairn_world_settings(room->world)->rules;
    return rules == NULL ? 0 : rules->version;
}
