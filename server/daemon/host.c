// SPDX-License-Identifier: MIT
#include "server/daemon/host.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/assert.h"
#include "bridge/scene_library.h"
#include "net/crypto.h"
#include "program/output_file.h"
#include "program/scene_file.h"
#include "rules_file/trial.h"
#include "server/daemon/calibrate.h"
#include "server/daemon/notify.h"
#include <cairn/rules_registry.h>
#include <cairn/sim.h>

static void on_event(void *user, const cairn_server_event *event) {
    cairn_daemon *p = user;
    if (strcmp(event->name, "ends_soon") == 0 || strcmp(event->name, "draining") == 0) {
        cairn_notify("STOPPING=1");
    }
    // Errors before the server listens are printed on standard error.
    if (!p->listening) {
        return;
    }
    cairn_daemon_write_line(p, (cairn_log_line){.level = event->level,
                                   .name = event->name,
                                   .tick = event->tick,
                                   .room = event->room,
                                   .client_id = event->client_id,
                                   .value = event->value,
                                   .detail = event->detail});
}

// The thread that writes the recordings.
static void on_record_file(void *user, const char *room, const char *path) {
    const cairn_log_field file = {.name = "file", .text = path};
    cairn_daemon_write_line(user, (cairn_log_line){.level = CAIRN_LOG_INFO,
                                      .name = "recording",
                                      .no_tick = true,
                                      .room = room,
                                      .fields = &file,
                                      .field_count = 1,
                                      .unlimited = true});
}

static void log_file_error(
    cairn_daemon *p, const char *event, const char *room, const char *path, const char *why) {
    if (!p->listening) {
        cairn_daemon_print_error(path, why);
        return;
    }
    const cairn_log_field file = {.name = "file", .text = path};
    cairn_daemon_write_line(p, (cairn_log_line){.level = CAIRN_LOG_ERROR,
                                   .name = event,
                                   .no_tick = true,
                                   .room = room,
                                   .fields = &file,
                                   .field_count = 1,
                                   .detail = why});
}

static void on_record_error(void *user, const char *room, const char *path, const char *why) {
    log_file_error(user, "recording_error", room, path, why);
}

static void on_broadcast_error(void *user, const char *room, const char *path, const char *why) {
    log_file_error(user, "broadcast_error", room, path, why);
}

static bool on_record(void *user, const char *room, const uint8_t *bytes, size_t size) {
    cairn_daemon *p = user;
    return cairn_records_write(p->records, room, bytes, size);
}

static bool on_segment(
    void *user, const cairn_server_segment *segment, const uint8_t *bytes, size_t size) {
    cairn_daemon *p = user;
    return cairn_broadcast_write(p->broadcast, segment, bytes, size);
}

static cairn_world *on_seek(void *user, const char *room, uint64_t tick) {
    cairn_daemon *p = user;
    return cairn_records_seek(p->records, room, tick);
}

// The server limits their number; this limits their size.
#define CAPSULE_BYTES_MAX ((uint64_t)256 << 20)

// On the thread that writes files.
static void on_capsule(void *user, const char *room, uint64_t tick, uint64_t client_id,
    const uint8_t *bytes, size_t size) {
    cairn_daemon *p = user;
    char path[512];
    const int length = snprintf(path, sizeof path, "%s/%s-%" PRIu64 "-%" PRIu64 ".cairn",
        p->config.capsule_folder, room, tick, client_id);
    const char *why = NULL;
    if (length < 0 || (size_t)length >= sizeof path) {
        why = "the name is too long";
    } else if (size > CAPSULE_BYTES_MAX - p->capsule_bytes) {
        why = "too many bytes of capsules";
    } else {
        why = cairn_output_file_write(path, 0644, bytes, size) ? NULL : strerror(errno);
    }
    if (why != NULL) {
        const cairn_log_field field = {.name = "file", .text = path};
        cairn_daemon_write_line(p, (cairn_log_line){.level = CAIRN_LOG_ERROR,
                                       .name = "capsule_failed",
                                       .tick = tick,
                                       .room = room,
                                       .client_id = client_id,
                                       .detail = why,
                                       .fields = &field,
                                       .field_count = 1});
        return;
    }
    p->capsule_bytes += size;
    const cairn_log_field fields[] = {
        {.name = "bytes", .number = size}, {.name = "file", .text = path}};
    cairn_daemon_write_line(p, (cairn_log_line){.level = CAIRN_LOG_WARN,
                                   .name = "capsule",
                                   .tick = tick,
                                   .room = room,
                                   .client_id = client_id,
                                   .fields = fields,
                                   .field_count = 2});
}

static uint64_t on_unix(void *user) {
    (void)user;
    return cairn_uv_unix_ns();
}

static uint64_t on_clock(void *user) {
    (void)user;
    return cairn_uv_now_ns();
}

static uint32_t or_else(uint32_t own, uint32_t common) {
    return own != 0 ? own : common;
}

// Number `index` of program's scenes; NULL after an error message.
// `place`: before the message of an error.
static const cairn_scene *scene_at(
    cairn_daemon *p, uint32_t index, const char *name, const char *place) {
    CAIRN_ASSERT(index < CAIRN_DAEMON_SCENES_MAX);
    if (p->scenes[index] == NULL) {
        p->scenes[index] = cairn_scene_file_load(place, name);
    }
    return p->scenes[index];
}

static const cairn_scene *scene_of_room(cairn_daemon *p, uint32_t index, const char *name) {
    return scene_at(p, index, name, "cairnd");
}

// Whether the rules that the scene names may run in this process. If they may not, the room is left
// out and no operator can create one of its scene; the other rooms go on.
static bool rules_may_run_at(
    cairn_daemon *p, uint32_t index, const char *room, uint32_t players_max, const char *place) {
    const cairn_scene *scene = p->scenes[index];
    const cairn_rules *rules = NULL;
    char why[CAIRN_RULES_FILE_ERROR_SIZE];
    if (!cairn_rules_find(scene->rules, &rules) || rules == NULL || rules == &cairn_rules_sandbox ||
        cairn_rules_trial(scene, rules, players_max, why)) {
        return true;
    }
    fprintf(stderr, "%s: room %s is not started: rules %s, version %" PRIu32 ", in scene %s: %s\n",
        place, room, rules->name, rules->version, scene->name, why);
    cairn_scene_destroy(p->scenes[index]);
    p->scenes[index] = NULL;
    return false;
}

static bool rules_may_run(cairn_daemon *p, uint32_t index, const char *room, uint32_t players_max) {
    return rules_may_run_at(p, index, room, players_max, "cairnd");
}

// Of --room or --template; a number that it leaves out is that of the flags for all rooms.
static cairn_server_room_config settings_of(const cairn_daemon *p, const cairn_config_room *named) {
    const cairn_server_room_config *own = &named->settings;
    cairn_server_room_config room = p->config.all_rooms;
    room.tick_rate_hz = or_else(own->tick_rate_hz, room.tick_rate_hz);
    room.snapshot_rate_hz = or_else(own->snapshot_rate_hz, room.snapshot_rate_hz);
    room.position_steps_per_m = or_else(own->position_steps_per_m, room.position_steps_per_m);
    room.rotation_bits = or_else(own->rotation_bits, room.rotation_bits);
    room.coded_together_max = or_else(own->coded_together_max, room.coded_together_max);
    room.view_distance_m = or_else(own->view_distance_m, room.view_distance_m);
    room.client_bytes_per_second =
        or_else(own->client_bytes_per_second, room.client_bytes_per_second);
    room.room_bytes_per_second = or_else(own->room_bytes_per_second, room.room_bytes_per_second);
    room.players_max = or_else(own->players_max, room.players_max);
    room.wait_ms = or_else(own->wait_ms, room.wait_ms);
    room.idle_s = own->idle_s;
    room.cost_us = own->cost_us;
    return room;
}

// A room of --room.
static bool create_room(cairn_daemon *p, uint32_t index, const cairn_config_room *named) {
    const cairn_scene *scene = scene_of_room(p, index, named->scene);
    if (scene == NULL) {
        return false;
    }
    cairn_server_room_config room = settings_of(p, named);
    room.name = named->name;
    room.scene = scene;
    if (!rules_may_run(p, index, named->name, room.players_max)) {
        p->rooms_left_out += 1;
        return true;
    }
    room.recorded = cairn_records_has(p->records, named->name);
    uint32_t id;
    char words[CAIRN_ROOM_REASON_SIZE];
    bool created = cairn_server_room_create(p->server, cairn_uv_now_ns(), &room, &id, words) ==
                   CAIRN_ROOM_CREATED;
    if (!created) {
        cairn_daemon_print_error(named->name, words);
    }
    cairn_server_room_info info;
    // The error is printed already.
    return created && cairn_server_room_read(p->server, id, &info) &&
           (info.recording || !room.recorded);
}

// Reads the scenes of templates and tries their rules. False after an error message.
static bool load_templates(cairn_daemon *p) {
    for (uint32_t i = 0; i < p->config.templates.count; ++i) {
        const cairn_config_room *named = &p->config.templates.list[i];
        const uint32_t index = CAIRN_DAEMON_TEMPLATES_FROM + i;
        if (scene_of_room(p, index, named->scene) == NULL) {
            return false;
        }
        const bool runs = rules_may_run(p, index, named->name, settings_of(p, named).players_max);
        p->rooms_left_out += runs ? 0 : 1;
    }
    return true;
}

// The longest body capacity of their scenes.
static uint32_t template_bodies_max(const cairn_daemon *p) {
    uint32_t most = 0;
    for (uint32_t i = CAIRN_DAEMON_TEMPLATES_FROM; i < CAIRN_DAEMON_SCENES_MAX; ++i) {
        const uint32_t own = p->scenes[i] == NULL ? 0 : p->scenes[i]->world.body_capacity;
        most = own > most ? own : most;
    }
    return most;
}

// Of cairn_server_config. The template with the longest name counts.
static bool find_template(void *user, const char *name, cairn_server_room_config *out) {
    const cairn_daemon *p = user;
    size_t longest = 0;
    for (uint32_t i = 0; i < p->config.templates.count; ++i) {
        const cairn_config_room *named = &p->config.templates.list[i];
        const cairn_scene *scene = p->scenes[CAIRN_DAEMON_TEMPLATES_FROM + i];
        const size_t size = strlen(named->name);
        if (scene == NULL || size <= longest || strncmp(name, named->name, size) != 0 ||
            (name[size] != '\0' && name[size] != '-')) {
            continue;
        }
        longest = size;
        *out = settings_of(p, named);
        out->scene = scene;
        out->recorded = p->config.record_file != NULL;
    }
    return longest > 0;
}

static bool has_main(const cairn_config *config) {
    return strcmp(config->scene, CAIRN_CONFIG_NO_SCENE) != 0;
}

static bool create_rooms(cairn_daemon *p) {
    cairn_config_room first = {.name = CAIRN_ROOM_NAME_DEFAULT};
    snprintf(first.scene, sizeof first.scene, "%s", p->config.scene);
    bool created = !has_main(&p->config) || create_room(p, 0, &first);
    for (uint32_t i = 0; created && i < p->config.rooms.count; ++i) {
        created = create_room(p, i + 1, &p->config.rooms.list[i]);
    }
    return created;
}

// Of rooms that another process hands over: an operator may ask for them.
static bool load_scenes(cairn_daemon *p) {
    bool loaded = !has_main(&p->config) || scene_of_room(p, 0, p->config.scene) != NULL;
    for (uint32_t i = 0; loaded && i < p->config.rooms.count; ++i) {
        loaded = scene_of_room(p, i + 1, p->config.rooms.list[i].scene) != NULL;
    }
    return loaded;
}

// The scene of this name: a built-in one, or one that a room of the command line runs.
static const cairn_scene *find_scene(void *user, const char *name) {
    cairn_daemon *p = user;
    for (uint32_t i = 0; i <= p->config.rooms.count; ++i) {
        if (p->scenes[i] != NULL && strcmp(p->scenes[i]->name, name) == 0) {
            return p->scenes[i];
        }
    }
    cairn_scene_destroy(p->found_scene);
    p->found_scene =
        cairn_scene_library_find(name) == NULL ? NULL : cairn_scene_file_load("cairnd", name);
    return p->found_scene;
}

static bool on_job(void *user, cairn_server_job *job) {
    cairn_daemon *p = user;
    return p->driver != NULL && cairn_uv_driver_run_job(p->driver, job);
}

// Before the server listens, recordings are begun at once, so that one that cannot be is refused.
static bool on_task(void *user, cairn_server_task *task) {
    cairn_daemon *p = user;
    return p->listening && cairn_uv_driver_run_task(p->driver, task);
}

uint32_t cairn_host_rooms_max(const cairn_config *config) {
    const uint32_t named = config->rooms.count + (has_main(config) ? 1 : 0);
    const uint32_t usual = cairn_server_config_default().rooms_max;
    return or_else(config->rooms_max, usual > named ? usual : named);
}

bool cairn_host_create(cairn_daemon *p, const cairn_address *bound) {
    uint8_t entropy[32];
    if (!load_templates(p)) {
        return false;
    }
    if (getrandom(entropy, sizeof entropy, 0) != sizeof entropy) {
        cairn_daemon_print_error("no entropy", strerror(errno));
        return false;
    }
    const cairn_config *config = &p->config;
    cairn_server_config server = cairn_server_config_default();
    const bool is_bound = config->public.count == 0;
    server.protocol_id = config->protocol_id;
    server.private_key = config->key.bytes;
    server.entropy = entropy;
    server.public_addresses = is_bound ? bound : config->public.addresses;
    server.public_address_count = is_bound ? 1 : config->public.count;
    server.clients_max = config->clients_max;
    server.rooms_max = cairn_host_rooms_max(config);
    server.token_lifetime_s_max = config->token_lifetime_s_max;
    server.token_timeout_s_max = config->token_timeout_s_max;
    server.control = config->control;
    server.start_ns = cairn_uv_now_ns();
    server.start_unix_ns = cairn_uv_unix_ns();
    server.unix_ns = on_unix;
    server.on_event = on_event;
    server.clock_ns = on_clock;
    server.on_record = on_record;
    server.on_seek = on_seek;
    server.on_segment = p->broadcast == NULL ? NULL : on_segment;
    server.find_scene = find_scene;
    server.find_template = config->templates.count > 0 ? find_template : NULL;
    server.template_bodies_max = template_bodies_max(p);
    server.load_max_percent = config->load_max_percent;
    server.run_job = on_job;
    server.run_task = on_task;
    server.record_seed = config->record_key.given ? config->record_key.bytes : NULL;
    server.on_capsule = config->capsule_folder == NULL ? NULL : on_capsule;
    server.user = p;
    p->statistics.begin_ns = server.start_ns;
    cairn_status status = cairn_server_create(&server, &p->server);
    // The server has a copy.
    cairn_wipe(p->config.key.bytes, sizeof p->config.key.bytes);
    cairn_wipe(entropy, sizeof entropy);
    if (status != CAIRN_OK) {
        cairn_daemon_print_error("the server cannot be created", cairn_status_text(status));
        return false;
    }
    if (config->take_over_path != NULL) {
        return load_scenes(p);
    }
    // A server without any of its rooms would only refuse clients.
    return create_rooms(p) && (p->rooms_left_out == 0 || template_bodies_max(p) > 0 ||
                                  cairn_server_room_next(p->server, 0) != 0);
}

// Of one room or template; `value`: as the file has it. Returns the number of mistakes.
static uint32_t check_room(
    cairn_daemon *p, uint32_t index, const cairn_config_room *room, const char *value) {
    char place[CAIRN_CONFIG_PLACE_SIZE];
    const cairn_rules *rules = NULL;
    cairn_config_print_place(&p->config, value, place);
    const cairn_scene *scene = scene_at(p, index, room->scene, place);
    if (scene == NULL) {
        return 1;
    }
    if (!cairn_rules_find(scene->rules, &rules)) {
        fprintf(stderr, "%s: room %s: scene %s has the rules '%s', which nothing brings: --rules\n",
            place, room->name, scene->name, scene->rules);
        return 1;
    }
    return rules_may_run_at(p, index, room->name, settings_of(p, room).players_max, place) ? 0 : 1;
}

static uint32_t check_rooms(cairn_daemon *p, const cairn_config_rooms *rooms, uint32_t first) {
    uint32_t mistakes = 0;
    for (uint32_t i = 0; i < rooms->count; ++i) {
        char value[2 * CAIRN_CONFIG_TEXT_SIZE];
        const cairn_config_room *room = &rooms->list[i];
        snprintf(value, sizeof value, "%s=%s", room->name, room->scene);
        mistakes += check_room(p, first + i, room, value);
    }
    return mistakes;
}

uint32_t cairn_host_check_scenes(cairn_daemon *p) {
    cairn_config_room main_room = {.name = CAIRN_ROOM_NAME_DEFAULT};
    snprintf(main_room.scene, sizeof main_room.scene, "%s", p->config.scene);
    const uint32_t mistakes =
        has_main(&p->config) ? check_room(p, 0, &main_room, p->config.scene) : 0;
    return mistakes + check_rooms(p, &p->config.rooms, 1) +
           check_rooms(p, &p->config.templates, CAIRN_DAEMON_TEMPLATES_FROM);
}

int cairn_host_check(cairn_daemon *p) {
    char listen[CAIRN_ADDRESS_TEXT_SIZE];
    if (cairn_host_check_scenes(p) > 0 || !cairn_host_create(p, &p->config.listen)) {
        return 1;
    }
    for (uint32_t id = 0; (id = cairn_server_room_next(p->server, id)) != 0;) {
        cairn_server_room_info room;
        cairn_server_room_read(p->server, id, &room);
        printf("would run scene %s (%" PRIu32 " bodies, %s) at %" PRIu32
               " Hz, snapshots at %" PRIu32 " Hz, for %" PRIu32 " clients on %s, room %s\n",
            room.scene_name, cairn_world_counts_read(cairn_server_world(p->server, id)).bodies,
            room.rules_name[0] == '\0' ? "no rules" : room.rules_name, room.tick_rate_hz,
            room.snapshot_rate_hz, p->config.clients_max,
            cairn_address_print(&p->config.listen, listen), room.name);
    }
    return p->rooms_left_out == 0 ? 0 : 1;
}

bool cairn_host_name_records(cairn_daemon *p) {
    const cairn_config *config = &p->config;
    for (uint32_t i = 0; i <= config->rooms.count; ++i) {
        const char *room = i == 0 ? CAIRN_ROOM_NAME_DEFAULT : config->rooms.list[i - 1].name;
        const char *path = i == 0 ? config->record_file : config->rooms.list[i - 1].record_file;
        const char *why =
            path == NULL || path[0] == '\0' ? NULL : cairn_records_add(p->records, room, path);
        if (why != NULL) {
            cairn_daemon_print_error(path, why);
            return false;
        }
    }
    return true;
}

bool cairn_host_open_files(cairn_daemon *p) {
    const cairn_records_config records = {.sync = (cairn_record_sync)p->config.record_sync,
        .on_open = on_record_file,
        .on_error = on_record_error,
        .user = p};
    const cairn_broadcast_config broadcast = {.folder = p->config.publish_folder,
        .keep_s = p->config.publish_keep_s,
        .on_error = on_broadcast_error,
        .user = p};
    return cairn_records_create(&records, &p->records) == CAIRN_OK &&
           (p->config.publish_folder == NULL ||
               cairn_broadcast_create(&broadcast, &p->broadcast) == CAIRN_OK);
}

// Measures a scene as the rooms of it run. False after an error message.
static bool calibrate(cairn_daemon *p, uint32_t index, const char *name, const char *scene_name,
    const cairn_server_room_config *room) {
    const cairn_scene *scene = scene_of_room(p, index, scene_name);
    char error[CAIRN_SCENE_ERROR_SIZE];
    cairn_calibration found;
    if (scene == NULL || !rules_may_run(p, index, name, room->players_max)) {
        return false;
    }
    if (!cairn_calibrate(scene, room->tick_rate_hz, room->players_max, &found, error)) {
        return cairn_daemon_print_error(name, error) == 0;
    }
    cairn_calibration_print(&found, name, scene->name, p->config.json);
    return true;
}

int cairn_host_calibrate(cairn_daemon *p) {
    const cairn_config *config = &p->config;
    bool good = !has_main(config) ||
                calibrate(p, 0, CAIRN_ROOM_NAME_DEFAULT, config->scene, &config->all_rooms);
    for (uint32_t i = 0; good && i < config->rooms.count; ++i) {
        const cairn_config_room *named = &config->rooms.list[i];
        const cairn_server_room_config room = settings_of(p, named);
        good = calibrate(p, i + 1, named->name, named->scene, &room);
    }
    for (uint32_t i = 0; good && i < config->templates.count; ++i) {
        const cairn_config_room *named = &config->templates.list[i];
        const cairn_server_room_config room = settings_of(p, named);
        good = calibrate(p, CAIRN_DAEMON_TEMPLATES_FROM + i, named->name, named->scene, &room);
    }
    return good ? 0 : 1;
}
