// SPDX-License-Identifier: MIT
#include "server/daemon/daemon.h"

#include <stdio.h>

int cairn_daemon_print_error(const char *what, const char *why) {
    fprintf(stderr, "cairnd: %s%s%s\n", what, why[0] == '\0' ? "" : ": ", why);
    return 1;
}

void cairn_daemon_write_line(cairn_daemon *p, cairn_log_line line) {
    line.unix_ns = cairn_uv_unix_ns();
    cairn_log_writer_write(p->log_writer, &p->log, &line);
}

size_t cairn_daemon_write_lost_lines(void *user, uint64_t lines, char *out) {
    const cairn_daemon *p = user;
    cairn_log log = {.style = p->log.style, .level = CAIRN_LOG_ERROR, .journal = p->log.journal};
    const cairn_log_field field = {.name = "lines", .number = lines};
    const cairn_log_line line = {.unix_ns = cairn_uv_unix_ns(),
        .level = CAIRN_LOG_ERROR,
        .name = "log_lines_lost",
        .fields = &field,
        .field_count = 1,
        .detail = "the log was not read in time"};
    return cairn_log_write(&log, &line, out);
}

void cairn_daemon_log(
    cairn_daemon *p, cairn_log_level level, const char *name, const cairn_log_field *field) {
    cairn_server_statistics now;
    cairn_server_statistics_read(p->server, &now);
    cairn_daemon_write_line(p, (cairn_log_line){.level = level,
                                   .name = name,
                                   .tick = now.total.tick,
                                   .fields = field,
                                   .field_count = field == NULL ? 0 : 1,
                                   .unlimited = true});
}
