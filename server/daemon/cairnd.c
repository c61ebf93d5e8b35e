// SPDX-License-Identifier: MIT
// cairnd: rooms behind one UDP address. Only this folder uses files, the environment, entropy and
// standard output.
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/crypto.h"
#include "program/sockaddr.h"
#include "program/system.h"
#include "rules_file/rules_flag.h"
#include "server/daemon/daemon.h"
#include "server/daemon/host.h"
#include "server/daemon/notify.h"
#include <cairn/programs.h>
#include <cairn/rules_registry.h>

// The server ran and drained, but a recording lacks something.
#define EXIT_RECORDING_INCOMPLETE 3
// Lines that wait for a reader: some thousands.
#define LOG_RING_SIZE ((size_t)1 << 20)
// How long the end of the program waits for the reader.
#define LOG_END_MS 1000

// Makes a key for --dev, in a file that only its owner may read.
static bool make_dev_key(cairn_daemon *p, char path[CAIRN_CONFIG_TEXT_SIZE]) {
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
    const cairn_daemon *p = user;
    return cairn_log_writer_lost(p->log_writer);
}

static uint64_t log_bytes_waiting(void *user) {
    const cairn_daemon *p = user;
    return cairn_log_writer_waiting(p->log_writer);
}

static const char *page_folder(const cairn_daemon *p, char out[CAIRN_CONFIG_TEXT_SIZE]) {
    out[0] = '\0';
    if (p->config.web.root != NULL) {
        return p->config.web.root;
    }
    (void)cairn_system_beside_program("../share/cairn/web", out, CAIRN_CONFIG_TEXT_SIZE);
    return out;
}

static bool say_web_failed(const cairn_daemon *p, const char *why) {
    char text[CAIRN_ADDRESS_TEXT_SIZE];
    cairn_daemon_print_error(cairn_address_print(&p->config.web.listen, text), why);
    return false;
}

static cairn_web_settings_values web_settings(const cairn_config *from) {
    return (cairn_web_settings_values){.origins = from->web.origins,
        .origin_count = from->web.origin_count,
        .sockets_per_network_max = from->web.per_network_max,
        .tokens = from->web.control_tokens,
        .token_count = from->web.control_token_count};
}

// Reads the page and makes all but the socket and its thread, while no tick waits for it.
// `dev_key`: of --dev. False after an error message.
static bool make_web(cairn_daemon *p, const cairn_address *bound, const cairn_key *dev_key) {
    char page[CAIRN_CONFIG_TEXT_SIZE];
    char error[CAIRN_HTTP_ERROR_SIZE];
    const cairn_config *from = &p->config;
    const cairn_web_config config = {.server = p->server,
        .driver = p->driver,
        .root = page_folder(p, page),
        .settings = web_settings(from),
        .peers_max = from->clients_max,
        .dev_key = from->dev && cairn_address_is_loopback(bound) ? dev_key : NULL,
        .public_address = from->public.count > 0 ? from->public.addresses[0] : *bound,
        .token_lifetime_s = from->token_lifetime_s_max != 0 ? from->token_lifetime_s_max : 30,
        .protocol_id = from->protocol_id,
        .control = from->control,
        .log_lines_lost = log_lines_lost,
        .log_bytes_waiting = log_bytes_waiting,
        .user = p};
    return from->web.listen.family == CAIRN_ADDRESS_NONE ||
           cairn_web_create(&config, &p->web, error) || say_web_failed(p, error);
}

// False after an error message.
static bool open_web(cairn_daemon *p) {
    char page[CAIRN_CONFIG_TEXT_SIZE];
    char error[CAIRN_HTTP_ERROR_SIZE];
    char text[CAIRN_ADDRESS_TEXT_SIZE];
    if (p->web == NULL) {
        return true;
    }
    if (!cairn_web_listen(p->web, &p->config.web.listen, error)) {
        return say_web_failed(p, error);
    }
    const cairn_address web = cairn_web_address(p->web);
    const cairn_log_field fields[] = {{.name = "address", .text = cairn_address_print(&web, text)},
        {.name = "page", .text = cairn_web_has_page(p->web) ? page_folder(p, page) : "none"}};
    cairn_daemon_write_line(p, (cairn_log_line){.level = CAIRN_LOG_INFO,
                                   .name = "web",
                                   .fields = fields,
                                   .field_count = FIELD_COUNT(fields),
                                   .unlimited = true});
    return true;
}

static void close_web(cairn_daemon *p) {
    cairn_web_close(p->web);
    p->web = NULL;
}

// Of the configuration file, while the server runs with the old one.
static void log_mistake(void *user, uint32_t line, uint32_t column, const char *sentence) {
    cairn_daemon *p = user;
    const cairn_log_field fields[] = {{.name = "file", .text = p->config.config_file},
        {.name = "line", .number = line}, {.name = "column", .number = column}};
    cairn_daemon_write_line(p, (cairn_log_line){.level = CAIRN_LOG_ERROR,
                                   .name = "reload_refused",
                                   .fields = fields,
                                   .field_count = FIELD_COUNT(fields),
                                   .detail = sentence});
}

static void on_reload(void *user) {
    cairn_daemon *p = user;
    cairn_config *config = &p->config;
    cairn_config_changes changes;
    cairn_notify("RELOADING=1");
    if (cairn_config_reload(p->argc, p->argv, NULL, config, log_mistake, p, &changes)) {
        cairn_log_writer_set_level(p->log_writer, &p->log, (cairn_log_level)config->log_level);
        cairn_uv_driver_set_times(p->driver, config->stats_interval_s, config->drain_s);
        if (p->web != NULL) {
            const cairn_web_settings_values values = web_settings(config);
            cairn_web_set(p->web, &values);
        }
        cairn_wipe(config->web.control_tokens, sizeof config->web.control_tokens);
        const cairn_log_field fields[] = {
            {.name = "changed", .text = changes.changed}, {.name = "left", .text = changes.left}};
        cairn_daemon_write_line(p, (cairn_log_line){.level = CAIRN_LOG_INFO,
                                       .name = "reloaded",
                                       .fields = fields,
                                       .field_count = FIELD_COUNT(fields),
                                       .unlimited = true});
    }
    cairn_notify("READY=1");
}

static void on_agones(void *user, bool warns, const char *event, const char *detail) {
    cairn_daemon_write_line(user, (cairn_log_line){.level = warns ? CAIRN_LOG_WARN : CAIRN_LOG_INFO,
                                      .name = event,
                                      .detail = detail,
                                      .unlimited = !warns});
}

// Where the SDK server is, and, unless --public says so, where clients are to reach this one. False
// after an error message.
static bool find_fleet(cairn_daemon *p) {
    const char *text = getenv("AGONES_SDK_HTTP_PORT");
    char error[CAIRN_FLAGS_ERROR_SIZE], why[CAIRN_AGONES_WHY_SIZE];
    uint64_t port = CAIRN_AGONES_PORT_DEFAULT;
    if (text != NULL &&
        !cairn_flags_number("AGONES_SDK_HTTP_PORT", text, 1, UINT16_MAX, &port, error)) {
        cairn_daemon_print_error(error, "");
        return false;
    }
    p->agones_port = (uint32_t)port;
    if (p->config.public.count > 0) {
        return true;
    }
    if (!cairn_agones_find_address(p->agones_port, &p->config.public.addresses[0], why)) {
        cairn_daemon_print_error("--agones: no address for clients; --public may name one", why);
        return false;
    }
    p->config.public.count = 1;
    return true;
}

// False after an error message.
static bool open_agones(cairn_daemon *p) {
    const cairn_agones_config config = {.loop = cairn_uv_driver_loop(p->driver),
        .server = p->server,
        .port = p->agones_port,
        .clients_max = p->config.clients_max,
        .rooms_max = cairn_host_rooms_max(&p->config),
        .reserve_s = p->config.agones_reserve_s,
        .say = on_agones,
        .user = p};
    const cairn_status status = cairn_agones_open(&config, &p->agones);
    if (status != CAIRN_OK) {
        cairn_daemon_print_error("--agones", status == CAIRN_NOT_FOUND
                                                 ? "libcurl.so.4 is not installed"
                                                 : cairn_status_text(status));
    }
    return status == CAIRN_OK;
}

static void write_any_line(void *user, cairn_log_line line) {
    cairn_daemon_write_line(user, line);
}

static void on_stats(void *user) {
    cairn_daemon *p = user;
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
    const cairn_daemon *p = user;
    if (p->web != NULL) {
        cairn_web_send(p->web, to, bytes, size);
    }
}

static void on_turn(void *user) {
    const cairn_daemon *p = user;
    cairn_hand_over_turn(p->hand_over);
    cairn_web_turn(p->web);
}

static void on_hand_over(
    void *user, bool warns, const char *event, const char *detail, uint64_t us) {
    const cairn_log_field field = {.name = "us", .number = us};
    cairn_daemon_write_line(user, (cairn_log_line){.level = warns ? CAIRN_LOG_WARN : CAIRN_LOG_INFO,
                                      .name = event,
                                      .detail = detail,
                                      .fields = &field,
                                      .field_count = us > 0 ? 1 : 0,
                                      .unlimited = true});
}

// The process before has ended: its HTTP address is free.
static void on_alone(void *user) {
    (void)open_web(user);
}

// False after an error message.
static bool open_hand_over(cairn_daemon *p) {
    char error[CAIRN_HAND_OVER_ERROR_SIZE];
    const cairn_hand_over_config config = {.path = p->config.hand_over_path,
        .server = p->server,
        .driver = p->driver,
        .predecessor_fd = p->config.take_over_path != NULL ? p->take_over.fd : -1,
        .on_alone = on_alone,
        .say = on_hand_over,
        .user = p};
    return (config.path == NULL && config.predecessor_fd < 0) ||
           cairn_hand_over_open(&config, &p->hand_over, error) ||
           cairn_daemon_print_error(error, "") == 0;
}

static bool is_recorded(void *user, const char *room) {
    const cairn_daemon *p = user;
    return cairn_records_has(p->records, room) || p->config.record_file != NULL;
}

// Follows another process. False after an error message; that one goes on.
static bool take_over(cairn_daemon *p) {
    cairn_take_over *take = &p->take_over;
    char why[CAIRN_TAKE_OVER_WHY_SIZE] = "the server cannot be created", error[CAIRN_UV_ERROR_SIZE];
    bool good = cairn_take_over_begin(take, p->config.take_over_path, why);
    // The loop, its threads and its memory are made while the other process serves.
    if (good && cairn_uv_driver_adopt(&take->sockets, &p->driver, error) != CAIRN_OK) {
        snprintf(why, sizeof why, "%s", error);
        good = false;
    }
    cairn_key dev_key = p->config.key; // cairn_host_create wipes it
    good = good && cairn_host_name_records(p) && cairn_host_create(p, &take->bound) &&
           make_web(p, &take->bound, &dev_key) && cairn_take_over_run(take, p->server, why) &&
           cairn_take_over_finish(take, why);
    cairn_wipe(&dev_key, sizeof dev_key);
    if (!good) {
        cairn_take_over_fail(take, why);
        close_web(p);
        cairn_daemon_print_error("--take-over", why);
        return false;
    }
    p->listening = true;
    cairn_handover_record(&take->handover, p->server, is_recorded, p);
    const uint64_t now_ns = cairn_uv_now_ns();
    const cairn_log_field fields[] = {{.name = "ticks", .number = take->handover.ticks},
        {.name = "us", .number = (now_ns - take->frozen_ns) / 1000},
        {.name = "ms", .number = (now_ns - take->began_ns) / 1000000}};
    cairn_daemon_write_line(p, (cairn_log_line){.level = CAIRN_LOG_INFO,
                                   .name = "took_over",
                                   .fields = fields,
                                   .field_count = FIELD_COUNT(fields),
                                   .unlimited = true});
    cairn_handover_end(&take->handover);
    return true;
}

// Opens the socket and makes the rooms. `key_path`: of a key that was made; "": none. False after
// an error message.
static bool begin(cairn_daemon *p, cairn_key *dev_key, char key_path[CAIRN_CONFIG_TEXT_SIZE]) {
    char text[CAIRN_ADDRESS_TEXT_SIZE];
    char error[CAIRN_UV_ERROR_SIZE];
    if (cairn_uv_driver_open_wide(&p->config.listen, p->config.io_threads, &p->driver, error) !=
        CAIRN_OK) {
        return cairn_daemon_print_error(cairn_address_print(&p->config.listen, text), error) == 0;
    }
    const cairn_address bound = cairn_uv_driver_address(p->driver);
    if (p->config.dev && !p->config.key.given && !make_dev_key(p, key_path)) {
        return cairn_daemon_print_error("--dev: no key file can be written", strerror(errno)) == 0;
    }
    *dev_key = p->config.key;
    p->listening = cairn_host_name_records(p) && cairn_host_create(p, &bound);
    return p->listening;
}

// Tells the service manager, and then the process that this one follows: that one may end now.
static void tell_manager(const cairn_daemon *p, bool follows) {
    cairn_notify_ready(follows);
    if (follows) {
        cairn_take_over_known(&p->take_over);
    }
}

static int serve(cairn_daemon *p) {
    char key_path[CAIRN_CONFIG_TEXT_SIZE] = "";
    char text[CAIRN_ADDRESS_TEXT_SIZE];
    const cairn_log_writer_config writer = {.descriptor = STDOUT_FILENO,
        .ring_size = LOG_RING_SIZE,
        .write_lost = cairn_daemon_write_lost_lines,
        .user = p};
    if (cairn_log_writer_open(&writer, &p->log_writer) != CAIRN_OK) {
        return cairn_daemon_print_error(
            "the thread that writes the log cannot be started", strerror(errno));
    }
    if (p->config.agones && !find_fleet(p)) {
        return 1;
    }
    const bool follows = p->config.take_over_path != NULL;
    cairn_key dev_key = p->config.key; // cairn_host_create wipes it
    if (follows ? !take_over(p) : !begin(p, &dev_key, key_path)) {
        return 1;
    }
    const cairn_address bound = cairn_uv_driver_address(p->driver);
    const cairn_log_field address = {.name = "address", .text = cairn_address_print(&bound, text)};
    // A signal that comes after this line is logged finds its handler.
    cairn_uv_driver_catch_signals(p->driver);
    cairn_daemon_log(p, CAIRN_LOG_INFO, "listening", &address);
    const bool opened =
        (follows || (make_web(p, &bound, &dev_key) && open_web(p))) && open_hand_over(p);
    cairn_wipe(&dev_key, sizeof dev_key);
    cairn_wipe(p->config.web.control_tokens, sizeof p->config.web.control_tokens);
    if (!opened || (p->config.agones && !open_agones(p))) {
        close_web(p);
        return 1;
    }
    if (key_path[0] != '\0') {
        print_dev(&bound, key_path);
    }
    const cairn_uv_run driven = {
        .server = p->server,
        .seconds = p->config.seconds,
        .stats_interval_s = p->config.stats_interval_s,
        .on_stats = on_stats,
        .drain_s = p->config.drain_s,
        .beat_ms = cairn_notify_watchdog_ms(follows),
        .on_beat = on_beat,
        .send_stream = on_stream,
        .on_turn = on_turn,
        .on_reload = p->config.config_file == NULL ? NULL : on_reload,
        .user = p,
    };
    tell_manager(p, follows);
    cairn_uv_driver_run(p->driver, &driven);
    close_web(p);
    cairn_agones_close(p->agones);
    p->agones = NULL;
    cairn_hand_over_close(p->hand_over);
    p->hand_over = NULL;
    on_stats(p);
    cairn_server_statistics now;
    cairn_server_statistics_read(p->server, &now);
    const uint64_t lost = now.total.recording_failures + now.total.recording_gaps;
    cairn_daemon_log(p, CAIRN_LOG_INFO, "ended", NULL);
    if (key_path[0] != '\0') {
        (void)remove(key_path);
    }
    return lost == 0 ? 0 : EXIT_RECORDING_INCOMPLETE;
}

// Returns the exit code.
static int clean_up(cairn_daemon *p, int code) {
    // A thread may never leave a room's world or a write, so nothing can be freed.
    if (p->server != NULL && cairn_server_jobs_out(p->server) > 0) {
        const cairn_log_field reason = {.name = "reason", .text = "a room's step did not return"};
        cairn_daemon_log(p, CAIRN_LOG_ERROR, "room_abandoned", &reason);
        (void)cairn_log_writer_close(p->log_writer, LOG_END_MS);
        _Exit(1);
    }
    if (p->server != NULL && cairn_server_tasks_out(p->server) > 0) {
        const cairn_log_field reason = {.name = "reason", .text = "the disk did not answer"};
        cairn_daemon_log(p, CAIRN_LOG_ERROR, "recording_abandoned", &reason);
        (void)cairn_log_writer_close(p->log_writer, LOG_END_MS);
        _Exit(EXIT_RECORDING_INCOMPLETE);
    }
    cairn_server_destroy(p->server);
    cairn_uv_driver_close(p->driver);
    cairn_scene_destroy(p->found_scene);
    for (uint32_t i = 0; i < CAIRN_DAEMON_SCENES_MAX; ++i) {
        cairn_scene_destroy(p->scenes[i]);
    }
    (void)cairn_records_close(p->records);
    cairn_broadcast_close(p->broadcast);
    cairn_memory_unlock(p->config.record_key.bytes, sizeof p->config.record_key.bytes);
    (void)cairn_log_writer_close(p->log_writer, LOG_END_MS);
    return code;
}

int cairnd_main(int argc, char **argv, const cairn_rules *const *rules, uint32_t count) {
    static cairn_daemon p;
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
    if (result == CAIRN_FLAGS_REFUSED && p.config.check && p.config.mistakes > 0) {
        snprintf(error, sizeof error, "--config %.100s: mistakes: %" PRIu32, p.config.config_file,
            p.config.mistakes + cairn_host_check_scenes(&p));
    }
    if (result != CAIRN_FLAGS_READ) {
        return result == CAIRN_FLAGS_REFUSED ? cairn_daemon_print_error(error, "") : 0;
    }
    if (!p.config.core_dumps) {
        cairn_system_forbid_core_dumps();
    }
    p.log.style = (cairn_log_style)p.config.log_style;
    p.log.level = (cairn_log_level)p.config.log_level;
    p.log.journal = cairn_notify_is_journal(STDOUT_FILENO);
    if (!cairn_host_open_files(&p)) {
        return cairn_daemon_print_error("out of memory", "");
    }
    return clean_up(&p, p.config.calibrate ? cairn_host_calibrate(&p)
                        : p.config.check   ? cairn_host_check(&p)
                                           : serve(&p));
}
