// SPDX-License-Identifier: MIT
// What the log says of statistics, of a server that has what the test says.
#include "tests/kit/test.h"

#include <stdio.h>
#include <string.h>

#include "server/daemon/statistics_log.h"
#include <cairn/server_uv.h>

#define LINES_MAX 16

static cairn_server_statistics counted;
static cairn_server_drop dropped[CAIRN_SERVER_DROPS_MAX];
static uint32_t dropped_count, room_count;
static uint64_t now_ns;
static cairn_uv_statistics io;
static cairn_server_room_statistics of_room;

// They replace those of the server and its driver (CMakeLists.txt).
void __wrap_cairn_server_statistics_read(
    const cairn_server *server, cairn_server_statistics *statistics);
uint32_t __wrap_cairn_server_drops_read(
    const cairn_server_statistics *statistics, cairn_server_drop *drops);
uint32_t __wrap_cairn_server_room_next(const cairn_server *server, uint32_t room);
bool __wrap_cairn_server_room_read(
    const cairn_server *server, uint32_t room, cairn_server_room_info *out);
bool __wrap_cairn_server_room_statistics_read(
    const cairn_server *server, uint32_t room, cairn_server_room_statistics *out);
cairn_uv_statistics __wrap_cairn_uv_driver_statistics(const cairn_uv_driver *driver);
uint64_t __wrap_cairn_uv_now_ns(void);

void __wrap_cairn_server_statistics_read(
    const cairn_server *server, cairn_server_statistics *statistics) {
    (void)server;
    *statistics = counted;
}

uint32_t __wrap_cairn_server_drops_read(
    const cairn_server_statistics *statistics, cairn_server_drop *drops) {
    assert_memory_equal(statistics, &counted, sizeof counted);
    memcpy(drops, dropped, sizeof dropped);
    return dropped_count;
}

uint32_t __wrap_cairn_server_room_next(const cairn_server *server, uint32_t room) {
    (void)server;
    return room < room_count ? room + 1 : 0;
}

bool __wrap_cairn_server_room_read(
    const cairn_server *server, uint32_t room, cairn_server_room_info *out) {
    static const char *const names[] = {"", "room-1", "room-2", "room-3"};
    (void)server;
    *out = (cairn_server_room_info){.name = names[room]};
    return true;
}

bool __wrap_cairn_server_room_statistics_read(
    const cairn_server *server, uint32_t room, cairn_server_room_statistics *out) {
    (void)server;
    *out = of_room;
    out->tick = 100 + room;
    return true;
}

cairn_uv_statistics __wrap_cairn_uv_driver_statistics(const cairn_uv_driver *driver) {
    (void)driver;
    return io;
}

uint64_t __wrap_cairn_uv_now_ns(void) {
    return now_ns;
}

// The lines of the last time, each with its fields.
static char lines[LINES_MAX][2048];
static uint32_t line_count;

static void write_line(void *user, cairn_log_line line) {
    assert_ptr_equal(user, lines);
    assert_true(line_count < LINES_MAX && line.unlimited);
    char *out = lines[line_count++];
    int at = snprintf(out, sizeof *lines, "%s level=%d tick=%u room=%s ", line.name,
        (int)line.level, (unsigned)line.tick, line.room == NULL ? "" : line.room);
    for (uint32_t i = 0; i < line.field_count; ++i) {
        const cairn_log_field *field = &line.fields[i];
        at += field->text != NULL ? snprintf(out + at, sizeof *lines - (size_t)at, "%s=%s ",
                                        field->name, field->text)
                                  : snprintf(out + at, sizeof *lines - (size_t)at, "%s=%llu ",
                                        field->name, (unsigned long long)field->number);
    }
}

static uint64_t lines_lost(void *user) {
    assert_ptr_equal(user, lines);
    return 17;
}

static cairn_statistics_log statistics;

BEFORE_EACH {
    memset(&counted, 0, sizeof counted);
    memset(&of_room, 0, sizeof of_room);
    memset(&io, 0, sizeof io);
    dropped_count = room_count = 0;
    now_ns = 5 * CAIRN_NS_PER_S;
    statistics = (cairn_statistics_log){
        .write = write_line, .lines_lost = lines_lost, .user = lines, .begin_ns = now_ns};
}

static void write_statistics(uint64_t after_ms) {
    now_ns += after_ms * 1000000;
    line_count = 0;
    cairn_statistics_log_write(&statistics);
}

static void expect(uint32_t line, const char *part) {
    assert_true(line < line_count);
    if (strstr(lines[line], part) == NULL) {
        fail_msg("not \"%s\": %s", part, lines[line]);
    }
}

TEST("each reason that dropped more since the last time has a line, with how much more") {
    dropped[0] = (cairn_server_drop){.layer = "link", .reason = "stale", .count = 3};
    dropped[1] = (cairn_server_drop){.layer = "netcode", .reason = "stale", .count = 5};
    dropped_count = 2;
    write_statistics(1000);
    assert_int_equal(line_count, 3);
    expect(0, "drops level=");
    expect(0, "layer=link reason=stale count=3 new=3 ");
    expect(1, "layer=netcode reason=stale count=5 new=5 ");
    expect(2, " drops=8 ");
    write_statistics(1000);
    assert_int_equal(line_count, 1);
    expect(0, " drops=8 ");
    dropped[2] = dropped[1];
    dropped[2].count = 7;
    dropped[1] = (cairn_server_drop){.layer = "link", .reason = "window", .count = 1};
    dropped_count = 3;
    write_statistics(1000);
    assert_int_equal(line_count, 3);
    expect(0, "layer=link reason=window count=1 new=1 ");
    expect(1, "layer=netcode reason=stale count=7 new=2 ");
    expect(2, " drops=11 ");
}

TEST("bytes of a second are those since the last time") {
    counted.bytes_received = 5000;
    counted.bytes_sent = 70000;
    write_statistics(0);
    expect(0, " in_bytes_s=0 out_bytes_s=0 ");
    counted.bytes_received += 5000;
    counted.bytes_sent += 70000;
    write_statistics(1999);
    expect(0, " in_bytes_s=2500 out_bytes_s=35000 ");
    write_statistics(999);
    expect(0, " in_bytes_s=0 out_bytes_s=0 ");
    counted.bytes_sent += 8000;
    write_statistics(3999);
    expect(0, " in_bytes_s=0 out_bytes_s=2000 ");
}

TEST("numbers of the server, its driver and the log are in one line, times in microseconds") {
    counted.rooms = 1;
    counted.clients = 2;
    counted.clock_jumps = 3;
    counted.total.players = 4;
    counted.total.tick = 99;
    counted.total.tick_cost_ns_p50 = 5999;
    counted.total.tick_cost_ns_p99 = 6000;
    counted.total.tick_lateness_ns_p50 = 7000;
    counted.total.tick_lateness_ns_p99 = 8000;
    counted.total.tick_lateness_ns_max = 9000;
    io.send_waits = 10;
    io.handovers_failed = 11;
    write_statistics(1000);
    assert_int_equal(line_count, 1);
    static const char *const parts[] = {"stats level=", " tick=99 ",
        " rooms=1 clients=2 players=4 ",
        " tick_us_p50=5 tick_us_p99=6 late_us_p50=7 late_us_p99=8 late_us_max=9 ",
        " send_waits=10 ", " clock_jumps=3 ", " log_lost=17 ", " handovers_failed=11 "};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
        expect(0, parts[i]);
    }
}

TEST("each room has a line of its own, for those who look for it") {
    room_count = 3;
    of_room.players = 4;
    of_room.tick_cost_ns_p50 = 5999;
    of_room.tick_cost_ns_p99 = 6000;
    of_room.tick_lateness_ns_p99 = 8000;
    write_statistics(1000);
    assert_int_equal(line_count, 4);
    for (uint32_t i = 1; i <= 3; ++i) {
        char begin[96];
        snprintf(begin, sizeof begin, "room_stats level=%d tick=%u room=room-%u ",
            (int)CAIRN_LOG_DEBUG, (unsigned)(100 + i), (unsigned)i);
        expect(i, begin);
        expect(i, " players=4 ");
        expect(i, " tick_us_p50=5 tick_us_p99=6 late_us_p99=8 ");
    }
}
