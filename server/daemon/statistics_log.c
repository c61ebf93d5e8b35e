// SPDX-License-Identifier: MIT
#include "server/daemon/statistics_log.h"

#include <string.h>

#include <cairn/server_uv.h>

#define FIELD_COUNT(fields) ((uint32_t)(sizeof(fields) / sizeof *(fields)))

static uint64_t per_second(uint64_t bytes, uint64_t elapsed_ns) {
    return elapsed_ns == 0 ? 0 : bytes * 1000 / (elapsed_ns / 1000000 + 1);
}

static void log_room_statistics(cairn_statistics_log *log) {
    for (uint32_t id = 0; (id = cairn_server_room_next(log->server, id)) != 0;) {
        cairn_server_room_info room;
        cairn_server_room_statistics now;
        cairn_server_room_read(log->server, id, &room);
        cairn_server_room_statistics_read(log->server, id, &now);
        const cairn_log_field fields[] = {
            {"clients", .number = now.clients},
            {"players", .number = now.players},
            {"bodies", .number = now.bodies},
            {"awake", .number = now.bodies_awake},
            {"tick_us_p50", .number = now.tick_cost_ns_p50 / 1000},
            {"tick_us_p99", .number = now.tick_cost_ns_p99 / 1000},
            {"late_us_p99", .number = now.tick_lateness_ns_p99 / 1000},
            {"skipped", .number = now.ticks_skipped},
            {"input_waits", .number = now.input_waits},
            {"stuck", .number = now.jobs_stuck},
            {"recording_bytes", .number = now.recording_bytes},
            {"recording_failures", .number = now.recording_failures},
            {"recording_gaps", .number = now.recording_gaps},
            {"recording_ticks_lost", .number = now.recording_ticks_lost},
        };
        log->write(log->user, (cairn_log_line){.level = CAIRN_LOG_DEBUG,
                                  .name = "room_stats",
                                  .tick = now.tick,
                                  .room = room.name,
                                  .fields = fields,
                                  .field_count = FIELD_COUNT(fields),
                                  .unlimited = true});
    }
}

// One line for each reason that dropped something since the last time.
static uint64_t log_drops(cairn_statistics_log *log, const cairn_server_statistics *now) {
    cairn_server_drop drops[CAIRN_SERVER_DROPS_MAX];
    const uint32_t count = cairn_server_drops_read(now, drops);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t k = 0;
        while (k < log->drop_count &&
               (log->drops[k].reason != drops[i].reason || log->drops[k].layer != drops[i].layer)) {
            ++k;
        }
        const uint64_t before = k < log->drop_count ? log->drops[k].count : 0;
        const cairn_log_field fields[] = {{"layer", .text = drops[i].layer},
            {"reason", .text = drops[i].reason}, {"count", .number = drops[i].count},
            {"new", .number = drops[i].count - before}};
        sum += drops[i].count;
        if (drops[i].count > before) {
            log->write(log->user, (cairn_log_line){.level = CAIRN_LOG_INFO,
                                      .name = "drops",
                                      .fields = fields,
                                      .field_count = FIELD_COUNT(fields),
                                      .unlimited = true});
        }
    }
    memcpy(log->drops, drops, count * sizeof *drops);
    log->drop_count = count;
    return sum;
}

void cairn_statistics_log_write(cairn_statistics_log *log) {
    cairn_server_statistics now;
    cairn_server_statistics_read(log->server, &now);
    const cairn_uv_statistics io = cairn_uv_driver_statistics(log->driver);
    const uint64_t now_ns = cairn_uv_now_ns();
    const uint64_t elapsed_ns = now_ns - log->begin_ns;
    const uint64_t drops = log_drops(log, &now);
    const cairn_log_field fields[] = {
        {"rooms", .number = now.rooms},
        {"clients", .number = now.clients},
        {"players", .number = now.total.players},
        {"bodies", .number = now.total.bodies},
        {"awake", .number = now.total.bodies_awake},
        {"in_bytes_s", .number = per_second(now.bytes_received - log->bytes_in, elapsed_ns)},
        {"out_bytes_s", .number = per_second(now.bytes_sent - log->bytes_out, elapsed_ns)},
        {"tick_us_p50", .number = now.total.tick_cost_ns_p50 / 1000},
        {"tick_us_p99", .number = now.total.tick_cost_ns_p99 / 1000},
        {"late_us_p50", .number = now.total.tick_lateness_ns_p50 / 1000},
        {"late_us_p99", .number = now.total.tick_lateness_ns_p99 / 1000},
        {"late_us_max", .number = now.total.tick_lateness_ns_max / 1000},
        {"skipped", .number = now.total.ticks_skipped},
        {"inputs", .number = now.total.inputs_taken},
        {"inputs_late", .number = now.total.inputs_late},
        {"keyframes", .number = now.total.keyframes_sent},
        {"deltas", .number = now.total.deltas_sent},
        {"parts", .number = now.total.parts_sent},
        {"roots", .number = now.total.roots_compared},
        {"roots_differed", .number = now.total.roots_differed},
        {"drops", .number = drops},
        {"send_waits", .number = io.send_waits},
        {"send_errors", .number = io.send_errors},
        {"joined", .number = io.datagrams_joined},
        {"io_threads", .number = io.io_threads},
        {"buffer_dropped", .number = io.buffer_dropped},
        {"unknown_dropped", .number = io.unknown_dropped},
        {"received_dropped", .number = io.received_dropped},
        {"sent_dropped", .number = io.sent_dropped},
        {"clock_jumps", .number = now.clock_jumps},
        {"log_lost", .number = log->lines_lost(log->user)},
        {"recording_bytes", .number = now.total.recording_bytes},
        {"recording_files", .number = now.total.recording_segments},
        {"recording_failures", .number = now.total.recording_failures},
        {"recording_gaps", .number = now.total.recording_gaps},
        {"recording_ticks_lost", .number = now.total.recording_ticks_lost},
        {"broadcast_bytes", .number = now.total.broadcast_bytes},
        {"broadcast_failures", .number = now.total.broadcast_failures},
        {"broadcast_gaps", .number = now.total.broadcast_gaps},
        {"broadcast_ticks_lost", .number = now.total.broadcast_ticks_lost},
        {"threads_failed", .number = io.threads_failed},
        {"handovers_failed", .number = io.handovers_failed},
    };
    log->begin_ns = now_ns;
    log->bytes_in = now.bytes_received;
    log->bytes_out = now.bytes_sent;
    log->write(log->user, (cairn_log_line){.level = CAIRN_LOG_INFO,
                              .name = "stats",
                              .tick = now.total.tick,
                              .fields = fields,
                              .field_count = FIELD_COUNT(fields),
                              .unlimited = true});
    log_room_statistics(log);
}
