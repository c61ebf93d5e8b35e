// SPDX-License-Identifier: MIT
// What cairnd gives its server: rooms of templates, scenes by name, files of capsules, and lines of
// its log.
#define _GNU_SOURCE
#include "tests/kit/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "bridge/scene_library.h"
#include "server/core/room_opening.h"
#include "server/core/server_state.h"
#include "server/daemon/host.h"

#define PATH_SIZE 96
#define ARGUMENTS_MAX 24

static char folder[64], small[PATH_SIZE], other[PATH_SIZE], log_path[PATH_SIZE];
static char text[16384]; // of the file that was read last
static cairn_daemon p;
static int log_fd;

static void name_file(char path[PATH_SIZE], const char *name) {
    snprintf(path, PATH_SIZE, "%s/%s", folder, name);
}

static void write_scene(char path[PATH_SIZE], const char *file, const char *json) {
    name_file(path, file);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(json, out);
    fclose(out);
}

BEFORE_EACH {
    snprintf(folder, sizeof folder, "/tmp/host-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    write_scene(small, "small.json", "{\"name\": \"small\", \"body_capacity\": 7}");
    write_scene(other, "other.json", "{\"name\": \"other\", \"body_capacity\": 9}");
    name_file(log_path, "log");
    log_fd = open(log_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(log_fd >= 0);
    memset(&p, 0, sizeof p);
}

AFTER_EACH {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static const char *look_up(const char *name) {
    static char key[65];
    memset(key, '1', sizeof key - 1);
    return strcmp(name, "CAIRN_KEY") == 0 ? key : NULL;
}

// A process with these arguments, up to its server. Returns whether that could be made.
static bool host(const char *const *arguments) {
    const cairn_log_writer_config writer = {
        .descriptor = log_fd, .ring_size = 1 << 16, .write_lost = cairn_daemon_write_lost_lines};
    char *argv[ARGUMENTS_MAX] = {"cairnd", "--scene", small};
    char error[CAIRN_FLAGS_ERROR_SIZE];
    int argc = 3;
    for (uint32_t i = 0; arguments[i] != NULL; ++i) {
        argv[argc++] = (char *)arguments[i];
    }
    assert_int_equal(cairn_config_read(argc, argv, look_up, &p.config, error), CAIRN_FLAGS_READ);
    assert_int_equal(cairn_log_writer_open(&writer, &p.log_writer), CAIRN_OK);
    p.log.level = CAIRN_LOG_INFO;
    assert_true(cairn_host_open_files(&p));
    return cairn_host_name_records(&p) && cairn_host_create(&p, &p.config.listen);
}
#define HOST(...) host((const char *const[]){__VA_ARGS__, NULL})

static const char *read_file(const char *path) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

// Ends what host made. Returns the log.
static const char *end(void) {
    cairn_server_destroy(p.server);
    cairn_scene_destroy(p.found_scene);
    for (uint32_t i = 0; i < CAIRN_DAEMON_SCENES_MAX; ++i) {
        cairn_scene_destroy(p.scenes[i]);
    }
    assert_true(cairn_records_close(p.records));
    cairn_broadcast_close(p.broadcast);
    assert_true(cairn_log_writer_close(p.log_writer, 1000));
    close(log_fd);
    return read_file(log_path);
}

static void expect(const char *all, const char *part) {
    if (strstr(all, part) == NULL) {
        fail_msg("not \"%s\": %s", part, all);
    }
}

TEST("a room that is asked for is of the template with the longest name that begins its own") {
    static const struct {
        const char *name;
        uint32_t players; // of the template; 0: no template has such rooms
    } rows[] = {{"arena", 3}, {"arena-1", 3}, {"arena-", 3}, {"arena-big", 5}, {"arena-big-2", 5},
        {"arena-bigger", 3}, {"aren", 0}, {"arenas", 0}, {"", 0}, {"field", 7}, {"main", 0}};
    char short_one[2 * PATH_SIZE], long_one[2 * PATH_SIZE], last[2 * PATH_SIZE];
    snprintf(short_one, sizeof short_one, "arena=%s,players=3", small);
    snprintf(long_one, sizeof long_one, "arena-big=%s,players=5", other);
    snprintf(last, sizeof last, "field=%s,players=7", small);
    const char *const orders[2][2] = {{short_one, long_one}, {long_one, short_one}};
    for (uint32_t k = 0; k < 2; ++k) {
        char record[PATH_SIZE];
        name_file(record, "record");
        log_fd = k == 0 ? log_fd : open(log_path, O_WRONLY | O_CLOEXEC);
        memset(&p, 0, sizeof p);
        assert_true(k == 0 ? HOST("--template", orders[k][0], "--template", orders[k][1],
                                 "--template", last)
                           : HOST("--template", orders[k][0], "--template", orders[k][1],
                                 "--template", last, "--record", record));
        const cairn_server_config *config = &p.server->config;
        assert_int_equal(config->template_bodies_max, 9);
        for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
            cairn_server_room_config room = cairn_server_room_config_default();
            assert_int_equal(
                config->find_template(config->user, rows[i].name, &room), rows[i].players > 0);
            if (rows[i].players > 0) {
                assert_int_equal(room.players_max, rows[i].players);
                assert_string_equal(room.scene->name, rows[i].players == 5 ? "other" : "small");
                assert_int_equal(room.recorded, k == 1);
            }
        }
        end();
    }
}

TEST("a room of a template is opened with the name that was asked for, and counted") {
    char template[2 * PATH_SIZE];
    snprintf(template, sizeof template, "arena=%s,players=3", small);
    assert_true(HOST("--template", template));
    uint32_t room = 5;
    bool known = true;
    char reason[CAIRN_ROOM_REASON_SIZE];
    assert_int_equal(cairn_server_room_open_template(p.server, cairn_uv_now_ns(), "field",
                         "field-1", NULL, &known, &room, reason),
        CAIRN_ROOM_REFUSED_UNKNOWN);
    assert_false(known);
    assert_int_equal(room, 0);
    for (uint32_t i = 0; i < 2; ++i) {
        const cairn_server_room_refusal refusal = cairn_server_room_open_template(
            p.server, cairn_uv_now_ns(), "arena-1", "arena-1", NULL, &known, &room, reason);
        assert_int_equal(refusal == CAIRN_ROOM_CREATED, i == 0);
        assert_true(known);
        assert_int_equal(p.server->statistics.rooms_on_demand, 1);
        assert_int_equal(room != 0, i == 0);
    }
    cairn_server_room_info info;
    assert_true(
        cairn_server_room_read(p.server, cairn_server_room_find(p.server, "arena-1"), &info));
    assert_string_equal(info.scene_name, "small");
    end();
}

TEST("a server without templates knows none, and no bodies of theirs") {
    assert_true(HOST("--players-max", "3"));
    assert_null(p.server->config.find_template);
    assert_int_equal(p.server->config.template_bodies_max, 0);
    end();
}

TEST("what a room does not say is as the flags for all rooms say") {
    char template[2 * PATH_SIZE];
    snprintf(template, sizeof template, "arena=%s", small);
    assert_true(HOST("--template", template));
    const cairn_server_config *config = &p.server->config;
    cairn_server_room_config *all = &p.config.all_rooms;
    cairn_server_room_config *own = &p.config.templates.list[0].settings;
    // Numbers that --room and --template have.
#define NUMBERS(OF)                                                                                \
    {&(OF)->tick_rate_hz, &(OF)->snapshot_rate_hz, &(OF)->position_steps_per_m,                    \
        &(OF)->rotation_bits, &(OF)->coded_together_max, &(OF)->view_distance_m,                   \
        &(OF)->client_bytes_per_second, &(OF)->room_bytes_per_second, &(OF)->players_max,          \
        &(OF)->wait_ms}
    uint32_t *const of_all[] = NUMBERS(all), *const of_own[] = NUMBERS(own);
    const uint32_t count = sizeof of_all / sizeof *of_all;
    for (uint32_t given = 0; given <= count; ++given) {
        cairn_server_room_config room;
        const uint32_t *const made[] = NUMBERS(&room);
        for (uint32_t i = 0; i < count; ++i) {
            *of_all[i] = 100 + i;
            *of_own[i] = i == given ? 200 + i : 0;
        }
        own->idle_s = all->idle_s + 1;
        own->cost_us = all->cost_us + 1;
        assert_true(config->find_template(config->user, "arena", &room));
        for (uint32_t i = 0; i < count; ++i) {
            assert_int_equal(*made[i], (i == given ? 200 : 100) + i);
        }
        assert_int_equal(room.idle_s, own->idle_s);
        assert_int_equal(room.cost_us, own->cost_us);
    }
    end();
}

TEST("an operator finds the scenes of the command line by their names, and those of the library") {
    char room[2 * PATH_SIZE];
    snprintf(room, sizeof room, "side=%s", other);
    assert_true(HOST("--room", room));
    const cairn_server_config *config = &p.server->config;
    uint32_t count;
    const char *const built_in = cairn_scene_library(&count)[0].name;
    assert_ptr_equal(config->find_scene(config->user, "small"), p.scenes[0]);
    assert_ptr_equal(config->find_scene(config->user, "other"), p.scenes[1]);
    assert_null(config->find_scene(config->user, "side")); // a room's name is no scene's
    for (uint32_t i = 0; i < 2; ++i) {
        const cairn_scene *found = config->find_scene(config->user, built_in);
        assert_non_null(found);
        assert_string_equal(found->name, built_in);
    }
    assert_null(config->find_scene(config->user, small)); // nor is a file
    assert_null(p.found_scene);
    end();
}

static void write_capsule(uint64_t tick, const char *bytes) {
    const cairn_server_config *config = &p.server->config;
    config->on_capsule(config->user, "main", tick, 77, (const uint8_t *)bytes, strlen(bytes));
}

TEST("a capsule becomes a file of its room, tick and client, until too many bytes are there") {
    char path[PATH_SIZE];
    assert_true(HOST("--capsules", folder));
    write_capsule(5, "one");
    name_file(path, "main-5-77.cairn");
    assert_string_equal(read_file(path), "one");
    assert_int_equal(p.capsule_bytes, 3);
    p.capsule_bytes = (256u << 20) - 3;
    write_capsule(6, "four");
    write_capsule(7, "two");
    assert_int_equal(p.capsule_bytes, 256u << 20);
    write_capsule(8, "!");
    for (uint32_t tick = 6; tick <= 8; ++tick) {
        snprintf(path, sizeof path, "%s/main-%u-77.cairn", folder, tick);
        assert_int_equal(access(path, F_OK) == 0, tick == 7);
    }
    const char *log = end();
    expect(log, "capsule tick=5 room=main client=");
    expect(log, "bytes=3 ");
    expect(log, "main-5-77.cairn");
    expect(log, "main-7-77.cairn");
    const char *failed = strstr(log, "capsule_failed tick=6");
    assert_non_null(failed);
    expect(failed, "too many bytes of capsules");
    expect(failed, "capsule_failed tick=8");
    assert_null(strstr(log, "capsule_failed tick=7"));
}

TEST("a capsule that no file can hold is an error of the log") {
    char path[CAIRN_CONFIG_TEXT_SIZE * 2];
    name_file(path, "nowhere");
    assert_true(HOST("--capsules", path));
    write_capsule(5, "one");
    // 512 bytes of name and their end.
    memset(path, 'a', sizeof path);
    const size_t rest = strlen("/main-6-77.cairn");
    path[511 - rest] = '\0';
    p.config.capsule_folder = path;
    write_capsule(6, "one");
    path[511 - rest] = 'a';
    path[512 - rest] = '\0';
    write_capsule(7, "one");
    assert_int_equal(p.capsule_bytes, 0);
    const char *log = end();
    expect(log, "capsule_failed tick=5");
    expect(log, "No such file or directory");
    expect(strstr(log, "capsule_failed tick=6"), "File name too long");
    expect(strstr(log, "capsule_failed tick=7"), "the name is too long");
}

TEST("nothing is logged before the server listens, and a manager hears that the end began") {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    char path[PATH_SIZE], told[32] = "";
    name_file(path, "manager");
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    setenv("NOTIFY_SOCKET", path, 1);
    assert_true(HOST("--players-max", "3"));
    const cairn_server_config *config = &p.server->config;
    static const char *const names[] = {"room_opened", "ends_soon", "draining"};
    for (uint32_t i = 0; i < 6; ++i) {
        p.listening = i >= 3;
        const cairn_server_event event = {.name = names[i % 3],
            .level = CAIRN_LOG_INFO,
            .room = "main",
            .tick = 10 + i,
            .client_id = 3,
            .detail = "words",
            .value = 4};
        config->on_event(config->user, &event);
        const ssize_t size = recv(fd, told, sizeof told - 1, MSG_DONTWAIT);
        assert_int_equal(size, i % 3 == 0 ? -1 : (ssize_t)strlen("STOPPING=1"));
    }
    unsetenv("NOTIFY_SOCKET");
    p.listening = false;
    close(fd);
    const char *log = end();
    assert_null(strstr(log, "tick=12"));
    expect(log, "room_opened tick=13 room=main");
    expect(log, "ends_soon tick=14");
    expect(log, "draining tick=15");
}

TEST("work goes to threads when there are any") {
    assert_true(HOST("--players-max", "3"));
    const cairn_server_config *config = &p.server->config;
    assert_false(config->run_job(config->user, NULL));
    assert_false(config->run_task(config->user, NULL));
    end();
}

TEST("a file that cannot be written is an error of the log, and before the server listens of the "
     "process") {
    char record[PATH_SIZE], printed[PATH_SIZE];
    name_file(record, "nowhere/record");
    name_file(printed, "printed");
    fflush(stderr);
    const int kept = dup(STDERR_FILENO);
    const int fd = open(printed, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    dup2(fd, STDERR_FILENO);
    const bool made = HOST("--record", record);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(fd);
    close(kept);
    assert_false(made);
    expect(read_file(printed), "cairnd: ");
    expect(text, record);
    expect(text, "No such file or directory");
    p.listening = true;
    assert_false(cairn_records_write(p.records, "main", (const uint8_t *)"bytes", 5));
    p.listening = false;
    assert_null(strstr(end(), "tick="));
}

TEST("as many rooms may be there as usual, or as the command line names") {
    cairn_config *config = &p.config;
    config->scene = "small";
    const uint32_t usual = cairn_server_config_default().rooms_max;
    assert_int_equal(cairn_host_rooms_max(config), usual);
    config->rooms.count = usual;
    assert_int_equal(cairn_host_rooms_max(config), usual + 1);
    config->scene = CAIRN_CONFIG_NO_SCENE;
    assert_int_equal(cairn_host_rooms_max(config), usual);
    config->rooms_max = 2;
    assert_int_equal(cairn_host_rooms_max(config), 2);
    close(log_fd);
}
