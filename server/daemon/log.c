// SPDX-License-Identifier: MIT
#include "server/daemon/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"

static const char *const level_names[] = {
    [CAIRN_LOG_ERROR] = "error",
    [CAIRN_LOG_WARN] = "warn",
    [CAIRN_LOG_INFO] = "info",
    [CAIRN_LOG_DEBUG] = "debug",
};

// Days since 1970 to the civil date: Hinnant, "chrono-compatible low-level date algorithms",
// civil_from_days, for days after 1970.
static void civil_of(uint64_t days, uint32_t *year, uint32_t *month, uint32_t *day) {
    uint64_t z = days + 719468;
    uint64_t era = z / 146097;
    uint32_t of_era = (uint32_t)(z - era * 146097);
    uint32_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    uint32_t of_year = of_era - (365 * y + y / 4 - y / 100);
    uint32_t shifted = (5 * of_year + 2) / 153;
    *day = of_year - (153 * shifted + 2) / 5 + 1;
    *month = shifted < 10 ? shifted + 3 : shifted - 9;
    *year = (uint32_t)(y + era * 400) + (*month <= 2 ? 1 : 0);
}

char *cairn_log_time_print(uint64_t unix_ns, char text[CAIRN_LOG_TIME_SIZE]) {
    uint64_t seconds = unix_ns / 1000000000;
    uint32_t year;
    uint32_t month;
    uint32_t day;
    civil_of(seconds / 86400, &year, &month, &day);
    uint32_t of_day = (uint32_t)(seconds % 86400);
    char wide[64];
    snprintf(wide, sizeof wide, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", year % 10000, month, day,
        of_day / 3600, of_day / 60 % 60, of_day % 60, (unsigned)(unix_ns / 1000000 % 1000));
    memcpy(text, wide, CAIRN_LOG_TIME_SIZE - 1);
    text[CAIRN_LOG_TIME_SIZE - 1] = '\0';
    return text;
}

// Text that grows and remembers when it was cut. The last bytes are kept free for what must
// follow a cut detail.
typedef struct line_writer {
    char *out;
    size_t at;
    size_t room;
} line_writer;

static void put(line_writer *writer, const char *format, ...) {
    char piece[128];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    CAIRN_ASSERT(size >= 0 && (size_t)size < sizeof piece);
    if ((size_t)size <= writer->room - writer->at) {
        memcpy(writer->out + writer->at, piece, (size_t)size);
        writer->at += (size_t)size;
    }
}

// Printable ASCII stays; all else becomes an escape that JSON knows, so no detail can forge a line.
static void put_escaped(line_writer *writer, const char *text) {
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; ++c) {
        if (*c == '"' || *c == '\\') {
            put(writer, "\\%c", *c);
        } else if (*c >= 0x20 && *c < 0x7f) {
            put(writer, "%c", *c);
        } else {
            put(writer, "\\u%04x", *c);
        }
    }
}

static void put_text(line_writer *writer, const cairn_log_line *line, uint64_t suppressed) {
    char time[CAIRN_LOG_TIME_SIZE];
    put(writer, "%s %-5s %.48s tick=%" PRIu64, cairn_log_time_print(line->unix_ns, time),
        level_names[line->level], line->name, line->tick);
    if (line->room != NULL && line->room[0] != '\0') {
        put(writer, " room=%.31s", line->room);
    }
    if (line->client_id != 0) {
        put(writer, " client=%" PRIu64, line->client_id);
    }
    if (line->value != 0) {
        put(writer, " value=%" PRId64, line->value);
    }
    if (suppressed != 0) {
        put(writer, " suppressed=%" PRIu64, suppressed);
    }
    if (line->detail[0] != '\0') {
        put(writer, " \"");
        put_escaped(writer, line->detail);
        writer->room += 2;
        put(writer, "\"");
    }
}

// A client id is a string: it has 64 bits and many readers of JSON keep only 53.
static void put_json(line_writer *writer, const cairn_log_line *line, uint64_t suppressed) {
    char time[CAIRN_LOG_TIME_SIZE];
    put(writer, "{\"time\":\"%s\",\"level\":\"%s\"", cairn_log_time_print(line->unix_ns, time),
        level_names[line->level]);
    put(writer, ",\"event\":\"%.48s\",\"tick\":%" PRIu64, line->name, line->tick);
    if (line->room != NULL && line->room[0] != '\0') {
        put(writer, ",\"room\":\"%.31s\"", line->room);
    }
    if (line->client_id != 0) {
        put(writer, ",\"client\":\"%" PRIu64 "\"", line->client_id);
    }
    if (line->value != 0) {
        put(writer, ",\"value\":%" PRId64, line->value);
    }
    if (suppressed != 0) {
        put(writer, ",\"suppressed\":%" PRIu64, suppressed);
    }
    if (line->detail[0] != '\0') {
        put(writer, ",\"detail\":\"");
        put_escaped(writer, line->detail);
        writer->room += 2;
        put(writer, "\"");
    }
    writer->room += 1;
    put(writer, "}");
}

static uint32_t place_of(cairn_log *log, const char *name) {
    uint32_t i = 0;
    while (i + 1 < CAIRN_LOG_NAMES_MAX && log->names[i].name != NULL &&
           strcmp(log->names[i].name, name) != 0) {
        i += 1;
    }
    log->names[i].name = name;
    return i;
}

static bool within_limit(cairn_log *log, const cairn_log_line *line, uint64_t *suppressed) {
    uint32_t place = place_of(log, line->name);
    uint64_t second = line->unix_ns / 1000000000;
    if (log->names[place].second != second) {
        log->names[place].second = second;
        log->names[place].written = 0;
    }
    if (log->names[place].written >= CAIRN_LOG_LINES_PER_SECOND_MAX) {
        log->names[place].suppressed += 1;
        return false;
    }
    log->names[place].written += 1;
    *suppressed = log->names[place].suppressed;
    log->names[place].suppressed = 0;
    return true;
}

size_t cairn_log_write(
    cairn_log *log, const cairn_log_line *line, char out[CAIRN_LOG_LINE_SIZE_MAX]) {
    uint64_t suppressed = 0;
    if (line->level > log->level || !within_limit(log, line, &suppressed)) {
        return 0;
    }
    line_writer writer = {.out = out, .room = CAIRN_LOG_LINE_SIZE_MAX - 4};
    if (log->style == CAIRN_LOG_JSON) {
        put_json(&writer, line, suppressed);
    } else {
        put_text(&writer, line, suppressed);
    }
    out[writer.at++] = '\n';
    CAIRN_ASSERT(writer.at <= CAIRN_LOG_LINE_SIZE_MAX);
    return writer.at;
}
