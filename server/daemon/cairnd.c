// SPDX-License-Identifier: MIT
// cairnd: rooms behind one UDP socket. Only this folder uses files, the environment, entropy and
// standard output.
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/assert.h"
#include "bridge/scene_library.h"
#include "net/crypto.h"
#include "program/output_file.h"
#include "program/scene_file.h"
#include "program/system.h"
#include "rules_file/rules_flag.h"
#include "rules_file/trial.h"
#include "schema/scene.h"
#include "server/agones/agones.h"
#include "server/daemon/broadcast.h"
#include "server/daemon/config.h"
#include "server/daemon/log.h"
#include "server/daemon/log_writer.h"
#include "server/daemon/notify.h"
#include "server/daemon/records.h"
#include "server/daemon/statistics_log.h"
#include "server/web/web.h"
#include <cairn/programs.h>
#include <cairn/rules_registry.h>
#include <cairn/server.h>
#include <cairn/server_uv.h>
#include <cairn/sim.h>

typedef struct program {
    int argc;
    char **argv;
    cairn_config config;
    cairn_log log;
    cairn_log_writer *log_writer;
    cairn_server *server;
    cairn_uv_driver *driver;
    cairn_records *records;
    cairn_broadcast *broadcast; // NULL: none
    cairn_web *web;             // NULL: none
    cairn_agones *agones;       // NULL: none
    uint32_t agones_port;
    // The scenes in files that the command line names, of "main" and then of each --room; NULL for
    // one that is built in. Read once: an operator's request reads no file.
    cairn_scene *scenes[1 + CAIRN_CONFIG_ROOMS_MAX];
    cairn_scene *found_scene; // the built-in one that an operator asked for last
    uint64_t capsule_bytes;   // written
    cairn_statistics_log statistics;
    uint32_t rooms_left_out; // because of their rules
    bool listening;
} program;

static int print_error(const char *what, const char *why) {
    fprintf(stderr, "cairnd: %s%s%s\n", what, why[0] == '\0' ? "" : ": ", why);
    return 1;
}

static void write_line(program *p, cairn_log_line line) {
    line.unix_ns = cairn_uv_unix_ns();
    cairn_log_writer_write(p->log_writer, &p->log, &line);
}

// On the writer's thread.
static size_t write_lost_lines(void *user, uint64_t lines, char *out) {
    const program *p = user;
    cairn_log log = {.style = p->log.style, .level = CAIRN_LOG_ERROR};
    const cairn_log_field field = {.name = "lines", .number = lines};
    const cairn_log_line line = {.unix_ns = cairn_uv_unix_ns(),
        .level = CAIRN_LOG_ERROR,
        .name = "log_lines_lost",
        .fields = &field,
        .field_count = 1,
        .detail = "the log was not read in time"};
    return cairn_log_write(&log, &line, out);
}

// A line of the server as a whole; `field` may be NULL.
static void log_server(
    program *p, cairn_log_level level, const char *name, const cairn_log_field *field) {
    cairn_server_statistics now;
    cairn_server_statistics_read(p->server, &now);
    write_line(p, (cairn_log_line){.level = level,
                      .name = name,
                      .tick = now.total.tick,
                      .fields = field,
                      .field_count = field == NULL ? 0 : 1,
                      .unlimited = true});
}

static void on_event(void *user, const cairn_server_event *event) {
    program *p = user;
    if (strcmp(event->name, "ends_soon") == 0 || strcmp(event->name, "draining") == 0) {
        cairn_notify("STOPPING=1");
    }
    // Errors before the server listens are printed on standard error.
    if (!p->listening) {
        return;
    }
    write_line(p, (cairn_log_line){.level = event->level,
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
    write_line(user, (cairn_log_line){.level = CAIRN_LOG_INFO,
                         .name = "recording",
                         .room = room,
                         .fields = &file,
                         .field_count = 1,
                         .unlimited = true});
}

static void log_file_error(
    program *p, const char *event, const char *room, const char *path, const char *why) {
    if (!p->listening) {
        print_error(path, why);
        return;
    }
    const cairn_log_field file = {.name = "file", .text = path};
    write_line(p, (cairn_log_line){.level = CAIRN_LOG_ERROR,
                      .name = event,
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
    program *p = user;
    return cairn_records_write(p->records, room, bytes, size);
}

static bool on_segment(
    void *user, const cairn_server_segment *segment, const uint8_t *bytes, size_t size) {
    program *p = user;
    return cairn_broadcast_write(p->broadcast, segment, bytes, size);
}

static cairn_world *on_seek(void *user, const char *room, uint64_t tick) {
    program *p = user;
    return cairn_records_seek(p->records, room, tick);
}

// The server ran and drained, but a recording lacks something.
#define EXIT_RECORDING_INCOMPLETE 3
// Lines that wait for a reader: some thousands.
#define LOG_RING_SIZE ((size_t)1 << 20)
// How long the end of the program waits for the reader.
#define LOG_END_MS 1000

// The server limits their number; this limits their size.
#define CAPSULE_BYTES_MAX ((uint64_t)256 << 20)

// On the thread that writes files.
static void on_capsule(void *user, const char *room, uint64_t tick, uint64_t client_id,
    const uint8_t *bytes, size_t size) {
    program *p = user;
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
        write_line(p, (cairn_log_line){.level = CAIRN_LOG_ERROR,
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
    write_line(p, (cairn_log_line){.level = CAIRN_LOG_WARN,
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

#define FIELD_COUNT(fields) ((uint32_t)(sizeof(fields) / sizeof *(fields)))

static uint32_t or_else(uint32_t own, uint32_t common) {
    return own != 0 ? own : common;
}

// Number `index` of program's scenes; NULL after an error message.
static const cairn_scene *scene_of_room(program *p, uint32_t index, const char *name) {
    CAIRN_ASSERT(index <= CAIRN_CONFIG_ROOMS_MAX);
    if (p->scenes[index] == NULL) {
        p->scenes[index] = cairn_scene_file_load("cairnd", name);
    }
    return p->scenes[index];
}

// Whether the rules that the scene names may run in this process. If they may not, the room is left
// out and no operator can create one of its scene; the other rooms go on.
static bool rules_may_run(program *p, uint32_t index, const char *room, uint32_t players_max) {
    const cairn_scene *scene = p->scenes[index];
    const cairn_rules *rules = NULL;
    char why[CAIRN_RULES_FILE_ERROR_SIZE];
    if (!cairn_rules_find(scene->rules, &rules) || rules == NULL || rules == &cairn_rules_sandbox ||
        cairn_rules_trial(scene, rules, players_max, why)) {
        return true;
    }
    fprintf(stderr,
        "cairnd: room %s is not started: rules %s, version %" PRIu32 ", in scene %s: %s\n", room,
        rules->name, rules->version, scene->name, why);
    cairn_scene_destroy(p->scenes[index]);
    p->scenes[index] = NULL;
    return false;
}

// A room of --room; a number that it leaves out is that of the flags for all rooms.
static bool create_room(program *p, uint32_t index, const cairn_config_room *named) {
    const cairn_scene *scene = scene_of_room(p, index, named->scene);
    if (scene == NULL) {
        return false;
    }
    cairn_server_room_config room = p->config.all_rooms;
    room.name = named->name;
    room.scene = scene;
    room.tick_rate_hz = or_else(named->settings.tick_rate_hz, room.tick_rate_hz);
    room.snapshot_rate_hz = or_else(named->settings.snapshot_rate_hz, room.snapshot_rate_hz);
    room.position_steps_per_m =
        or_else(named->settings.position_steps_per_m, room.position_steps_per_m);
    room.rotation_bits = or_else(named->settings.rotation_bits, room.rotation_bits);
    room.view_distance_m = or_else(named->settings.view_distance_m, room.view_distance_m);
    room.client_bytes_per_second =
        or_else(named->settings.client_bytes_per_second, room.client_bytes_per_second);
    room.room_bytes_per_second =
        or_else(named->settings.room_bytes_per_second, room.room_bytes_per_second);
    room.players_max = or_else(named->settings.players_max, room.players_max);
    if (!rules_may_run(p, index, named->name, room.players_max)) {
        p->rooms_left_out += 1;
        return true;
    }
    room.wait_ms = or_else(named->settings.wait_ms, room.wait_ms);
    room.recorded = cairn_records_has(p->records, named->name);
    uint32_t id;
    char words[CAIRN_ROOM_REASON_SIZE];
    bool created = cairn_server_room_create(p->server, cairn_uv_now_ns(), &room, &id, words) ==
                   CAIRN_ROOM_CREATED;
    if (!created) {
        print_error(named->name, words);
    }
    cairn_server_room_info info;
    // The error is printed already.
    return created && cairn_server_room_read(p->server, id, &info) &&
           (info.recording || !room.recorded);
}

static bool has_main(const cairn_config *config) {
    return strcmp(config->scene, CAIRN_CONFIG_NO_SCENE) != 0;
}

static bool create_rooms(program *p) {
    cairn_config_room first = {.name = CAIRN_ROOM_NAME_DEFAULT};
    snprintf(first.scene, sizeof first.scene, "%s", p->config.scene);
    bool created = !has_main(&p->config) || create_room(p, 0, &first);
    for (uint32_t i = 0; created && i < p->config.rooms.count; ++i) {
        created = create_room(p, i + 1, &p->config.rooms.list[i]);
    }
    return created;
}

// The scene of this name: a built-in one, or one that a room of the command line runs.
static const cairn_scene *find_scene(void *user, const char *name) {
    program *p = user;
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
    program *p = user;
    return p->driver != NULL && cairn_uv_driver_run_job(p->driver, job);
}

// Before the server listens, recordings are begun at once, so that one that cannot be is refused.
static bool on_task(void *user, cairn_server_task *task) {
    program *p = user;
    return p->listening && cairn_uv_driver_run_task(p->driver, task);
}

static uint32_t rooms_max_of(const cairn_config *config) {
    const uint32_t named = config->rooms.count + (has_main(config) ? 1 : 0);
    const uint32_t usual = cairn_server_config_default().rooms_max;
    return or_else(config->rooms_max, usual > named ? usual : named);
}

static bool create_server(program *p, const cairn_address *bound) {
    uint8_t entropy[32];
    if (getrandom(entropy, sizeof entropy, 0) != sizeof entropy) {
        print_error("no entropy", strerror(errno));
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
    server.rooms_max = rooms_max_of(config);
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
        print_error("the server cannot be created", cairn_status_text(status));
        return false;
    }
    // A server without any of its rooms would only refuse clients.
    return create_rooms(p) && (p->rooms_left_out == 0 || cairn_server_room_next(p->server, 0) != 0);
}

static int print_what_would_run(program *p) {
    char listen[CAIRN_ADDRESS_TEXT_SIZE];
    if (!create_server(p, &p->config.listen)) {
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

static bool name_records(program *p) {
    const cairn_config *config = &p->config;
    for (uint32_t i = 0; i <= config->rooms.count; ++i) {
        const char *room = i == 0 ? CAIRN_ROOM_NAME_DEFAULT : config->rooms.list[i - 1].name;
        const char *path = i == 0 ? config->record_file : config->rooms.list[i - 1].record_file;
        const char *why =
            path == NULL || path[0] == '\0' ? NULL : cairn_records_add(p->records, room, path);
        if (why != NULL) {
            print_error(path, why);
            return false;
        }
    }
    return true;
}

// Makes a key for --dev, in a file that only its owner may read.
static bool make_dev_key(program *p, char path[CAIRN_CONFIG_TEXT_SIZE]) {
    const char *folder = getenv("XDG_RUNTIME_DIR");
    folder = folder != NULL && folder[0] == '/' ? folder : "/tmp";
    const int length =
        snprintf(path, CAIRN_CONFIG_TEXT_SIZE, "%s/cairnd-dev-%ld.key", folder, (long)getpid());
    cairn_key *key = &p->config.key;
    key->given = length > 0 && length < CAIRN_CONFIG_TEXT_SIZE &&
                 cairn_system_random(key->bytes, sizeof key->bytes) &&
                 cairn_key_file_write(path, key->bytes);
    // A server that is started again and again takes the tokens of a moment ago.
    p->config.token_lifetime_s_max = 0;
    return key->given;
}

static void print_dev(const cairn_address *bound, const char *key_path) {
    char text[CAIRN_ADDRESS_TEXT_SIZE];
    fprintf(stderr,
        "cairnd: --dev is insecure: for this machine alone. Join with\n\n"
        "    cairn-bot --key %s --server %s\n\n"
        "or issue a token for another client:\n\n"
        "    cairn-token issue --key %s --server %s --out token\n\n",
        key_path, cairn_address_print(bound, text), key_path, text);
}

static uint64_t log_lines_lost(void *user) {
    const program *p = user;
    return cairn_log_writer_lost(p->log_writer);
}

// False after an error message.
static bool open_web(program *p, const cairn_address *bound, const cairn_key *dev_key) {
    char page[CAIRN_CONFIG_TEXT_SIZE] = "";
    char error[CAIRN_HTTP_ERROR_SIZE];
    char text[CAIRN_ADDRESS_TEXT_SIZE];
    (void)cairn_system_beside_program("../share/cairn/web", page, sizeof page);
    const cairn_config *from = &p->config;
    cairn_web_config config = {.listen = from->web.listen,
        .server = p->server,
        .driver = p->driver,
        .root = from->web.root != NULL ? from->web.root : page,
        .origin_count = from->web.origin_count,
        .peers_max = from->clients_max,
        .peers_per_network_max = from->web.per_network_max,
        .dev_key = from->dev ? dev_key : NULL,
        .public_address = from->public.count > 0 ? from->public.addresses[0] : *bound,
        .token_lifetime_s = or_else(from->token_lifetime_s_max, 30),
        .protocol_id = from->protocol_id,
        .control = from->control,
        .control_tokens = from->web.control_tokens,
        .control_token_count = from->web.control_token_count,
        .log_lines_lost = log_lines_lost,
        .user = p};
    memcpy(config.origins, from->web.origins, sizeof config.origins);
    if (!cairn_web_open(&config, &p->web, error)) {
        print_error(cairn_address_print(&from->web.listen, text), error);
        return false;
    }
    const cairn_address web = cairn_web_address(p->web);
    const cairn_log_field fields[] = {{.name = "address", .text = cairn_address_print(&web, text)},
        {.name = "page", .text = cairn_web_has_page(p->web) ? config.root : "none"}};
    write_line(p, (cairn_log_line){.level = CAIRN_LOG_INFO,
                      .name = "web",
                      .fields = fields,
                      .field_count = FIELD_COUNT(fields),
                      .unlimited = true});
    return true;
}

// Of the configuration file, while the server runs with the old one.
static void log_mistake(void *user, uint32_t line, uint32_t column, const char *sentence) {
    program *p = user;
    const cairn_log_field fields[] = {{.name = "file", .text = p->config.config_file},
        {.name = "line", .number = line}, {.name = "column", .number = column}};
    write_line(p, (cairn_log_line){.level = CAIRN_LOG_ERROR,
                      .name = "reload_refused",
                      .fields = fields,
                      .field_count = FIELD_COUNT(fields),
                      .detail = sentence});
}

static void on_reload(void *user) {
    program *p = user;
    cairn_config *config = &p->config;
    cairn_config_changes changes;
    cairn_notify("RELOADING=1");
    if (cairn_config_reload(p->argc, p->argv, NULL, config, log_mistake, p, &changes)) {
        cairn_log_writer_set_level(p->log_writer, &p->log, (cairn_log_level)config->log_level);
        cairn_uv_driver_set_times(p->driver, config->stats_interval_s, config->drain_s);
        if (p->web != NULL) {
            cairn_web_set(p->web, config->web.origins, config->web.origin_count,
                config->web.per_network_max, config->web.control_tokens,
                config->web.control_token_count);
        }
        cairn_wipe(config->web.control_tokens, sizeof config->web.control_tokens);
        const cairn_log_field fields[] = {
            {.name = "changed", .text = changes.changed}, {.name = "left", .text = changes.left}};
        write_line(p, (cairn_log_line){.level = CAIRN_LOG_INFO,
                          .name = "reloaded",
                          .fields = fields,
                          .field_count = FIELD_COUNT(fields),
                          .unlimited = true});
    }
    cairn_notify("READY=1");
}

static void on_agones(void *user, bool warns, const char *event, const char *detail) {
    write_line(user, (cairn_log_line){.level = warns ? CAIRN_LOG_WARN : CAIRN_LOG_INFO,
                         .name = event,
                         .detail = detail,
                         .unlimited = !warns});
}

// Where the SDK server is, and, unless --public says so, where clients are to reach this one. False
// after an error message.
static bool find_fleet(program *p) {
    const char *text = getenv("AGONES_SDK_HTTP_PORT");
    char error[CAIRN_FLAGS_ERROR_SIZE], why[CAIRN_AGONES_WHY_SIZE];
    uint64_t port = CAIRN_AGONES_PORT_DEFAULT;
    if (text != NULL &&
        !cairn_flags_number("AGONES_SDK_HTTP_PORT", text, 1, UINT16_MAX, &port, error)) {
        print_error(error, "");
        return false;
    }
    p->agones_port = (uint32_t)port;
    if (p->config.public.count > 0) {
        return true;
    }
    if (!cairn_agones_find_address(p->agones_port, &p->config.public.addresses[0], why)) {
        print_error("--agones: no address for clients; --public may name one", why);
        return false;
    }
    p->config.public.count = 1;
    return true;
}

// False after an error message.
static bool open_agones(program *p) {
    const cairn_agones_config config = {.loop = cairn_uv_driver_loop(p->driver),
        .server = p->server,
        .port = p->agones_port,
        .clients_max = p->config.clients_max,
        .rooms_max = rooms_max_of(&p->config),
        .reserve_s = p->config.agones_reserve_s,
        .say = on_agones,
        .user = p};
    const cairn_status status = cairn_agones_open(&config, &p->agones);
    if (status != CAIRN_OK) {
        print_error("--agones", status == CAIRN_NOT_FOUND ? "libcurl.so.4 is not installed"
                                                          : cairn_status_text(status));
    }
    return status == CAIRN_OK;
}

static void write_any_line(void *user, cairn_log_line line) {
    write_line(user, line);
}

static void on_stats(void *user) {
    program *p = user;
    p->statistics.server = p->server;
    p->statistics.driver = p->driver;
    p->statistics.write = write_any_line;
    p->statistics.lines_lost = log_lines_lost;
    p->statistics.user = p;
    cairn_statistics_log_write(&p->statistics);
}

static void on_beat(void *user) {
    (void)user;
    cairn_notify("WATCHDOG=1");
}

static void on_stream(void *user, const cairn_address *to, const uint8_t *bytes, size_t size) {
    const program *p = user;
    if (p->web != NULL) {
        cairn_web_send(p->web, to, bytes, size);
    }
}

static int serve(program *p) {
    char key_path[CAIRN_CONFIG_TEXT_SIZE] = "";
    char text[CAIRN_ADDRESS_TEXT_SIZE];
    char error[CAIRN_UV_ERROR_SIZE];
    const cairn_log_writer_config writer = {.descriptor = STDOUT_FILENO,
        .ring_size = LOG_RING_SIZE,
        .write_lost = write_lost_lines,
        .user = p};
    if (cairn_log_writer_open(&writer, &p->log_writer) != CAIRN_OK) {
        return print_error("the thread that writes the log cannot be started", strerror(errno));
    }
    if (p->config.agones && !find_fleet(p)) {
        return 1;
    }
    if (cairn_uv_driver_open(&p->config.listen, &p->driver, error) != CAIRN_OK) {
        return print_error(cairn_address_print(&p->config.listen, text), error);
    }
    const cairn_address bound = cairn_uv_driver_address(p->driver);
    const bool makes_key = p->config.dev && !p->config.key.given;
    if (makes_key && !make_dev_key(p, key_path)) {
        return print_error("--dev: no key file can be written", strerror(errno));
    }
    cairn_key dev_key = p->config.key; // create_server wipes it
    if (!name_records(p) || !create_server(p, &bound)) {
        return 1;
    }
    p->listening = true;
    const cairn_log_field address = {.name = "address", .text = cairn_address_print(&bound, text)};
    log_server(p, CAIRN_LOG_INFO, "listening", &address);
    const bool has_web = p->config.web.listen.family != CAIRN_ADDRESS_NONE;
    if (has_web && !open_web(p, &bound, &dev_key)) {
        return 1;
    }
    cairn_wipe(&dev_key, sizeof dev_key);
    cairn_wipe(p->config.web.control_tokens, sizeof p->config.web.control_tokens);
    if (p->config.agones && !open_agones(p)) {
        cairn_web_close(p->web);
        return 1;
    }
    if (makes_key) {
        print_dev(&bound, key_path);
    }
    const cairn_uv_run driven = {
        .server = p->server,
        .seconds = p->config.seconds,
        .stats_interval_s = p->config.stats_interval_s,
        .on_stats = on_stats,
        .drain_s = p->config.drain_s,
        .beat_ms = cairn_notify_watchdog_ms(),
        .on_beat = on_beat,
        .send_stream = on_stream,
        .on_reload = p->config.config_file == NULL ? NULL : on_reload,
        .user = p,
    };
    cairn_notify("READY=1");
    cairn_uv_driver_run(p->driver, &driven);
    cairn_web_close(p->web);
    p->web = NULL;
    cairn_agones_close(p->agones);
    p->agones = NULL;
    on_stats(p);
    cairn_server_statistics now;
    cairn_server_statistics_read(p->server, &now);
    const uint64_t lost = now.total.recording_failures + now.total.recording_gaps;
    log_server(p, CAIRN_LOG_INFO, "ended", NULL);
    if (makes_key) {
        (void)remove(key_path);
    }
    return lost == 0 ? 0 : EXIT_RECORDING_INCOMPLETE;
}

// Returns the exit code.
static int clean_up(program *p, int code) {
    // A thread may never leave a room's world or a write, so nothing can be freed.
    if (p->server != NULL && cairn_server_jobs_out(p->server) > 0) {
        const cairn_log_field reason = {.name = "reason", .text = "a room's step did not return"};
        log_server(p, CAIRN_LOG_ERROR, "room_abandoned", &reason);
        (void)cairn_log_writer_close(p->log_writer, LOG_END_MS);
        _Exit(1);
    }
    if (p->server != NULL && cairn_server_tasks_out(p->server) > 0) {
        const cairn_log_field reason = {.name = "reason", .text = "the disk did not answer"};
        log_server(p, CAIRN_LOG_ERROR, "recording_abandoned", &reason);
        (void)cairn_log_writer_close(p->log_writer, LOG_END_MS);
        _Exit(EXIT_RECORDING_INCOMPLETE);
    }
    cairn_server_destroy(p->server);
    cairn_uv_driver_close(p->driver);
    cairn_scene_destroy(p->found_scene);
    for (uint32_t i = 0; i <= CAIRN_CONFIG_ROOMS_MAX; ++i) {
        cairn_scene_destroy(p->scenes[i]);
    }
    (void)cairn_records_close(p->records);
    cairn_broadcast_close(p->broadcast);
    cairn_memory_unlock(p->config.record_key.bytes, sizeof p->config.record_key.bytes);
    (void)cairn_log_writer_close(p->log_writer, LOG_END_MS);
    return code;
}

int cairnd_main(int argc, char **argv, const cairn_rules *const *rules, uint32_t count) {
    static program p;
    p.argc = argc;
    p.argv = argv;
    char error[CAIRN_FLAGS_ERROR_SIZE];
    if (!cairn_rules_take("cairnd", rules, count)) {
        return 1;
    }
    // glibc raises this limit to the largest block that was freed, and clears smaller ones by hand:
    // a room would take the memory of all that it could hold.
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
    signal(SIGPIPE, SIG_IGN);
    cairn_memory_lock(p.config.record_key.bytes, sizeof p.config.record_key.bytes);
    signal(SIGXFSZ, SIG_IGN); // writes return EFBIG
    const cairn_flags_result result = cairn_config_read(argc, argv, NULL, &p.config, error);
    if (result != CAIRN_FLAGS_READ) {
        return result == CAIRN_FLAGS_REFUSED ? print_error(error, "") : 0;
    }
    if (!p.config.core_dumps) {
        cairn_system_forbid_core_dumps();
    }
    p.log.style = (cairn_log_style)p.config.log_style;
    p.log.level = (cairn_log_level)p.config.log_level;
    const cairn_records_config records = {.sync = (cairn_record_sync)p.config.record_sync,
        .on_open = on_record_file,
        .on_error = on_record_error,
        .user = &p};
    const cairn_broadcast_config broadcast = {.folder = p.config.publish_folder,
        .keep_s = p.config.publish_keep_s,
        .on_error = on_broadcast_error,
        .user = &p};
    if (cairn_records_create(&records, &p.records) != CAIRN_OK ||
        (p.config.publish_folder != NULL &&
            cairn_broadcast_create(&broadcast, &p.broadcast) != CAIRN_OK)) {
        return print_error("out of memory", "");
    }
    return clean_up(&p, p.config.check ? print_what_would_run(&p) : serve(&p));
}
