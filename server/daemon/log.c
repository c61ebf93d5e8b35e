// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "server/daemon/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "program/json.h"

static const char *const level_names[] = {
    [CAIRN_LOG_ERROR] = "error",
    [CAIRN_LOG_WARN] = "warn",
    [CAIRN_LOG_INFO] = "info",
    [CAIRN_LOG_DEBUG] = "debug",
};

#define PRIORITY_SIZE 3
// Of syslog(3), which the journal takes away from the line.
static const char priorities[][PRIORITY_SIZE + 1] = {
    [CAIRN_LOG_ERROR] = "<3>",
    [CAIRN_LOG_WARN] = "<4>",
    [CAIRN_LOG_INFO] = "<6>",
    [CAIRN_LOG_DEBUG] = "<7>",
};
// Without the priority.
#define TEXT_SIZE_MAX (CAIRN_LOG_LINE_SIZE_MAX - PRIORITY_SIZE)

// "2001-02-03T04:05:06.789Z" and a terminator; years 1970 to 9999.
#define TIME_SIZE 25
static char *print_time(uint64_t unix_ns, char text[TIME_SIZE]) {
    const time_t seconds = (time_t)(unix_ns / CAIRN_NS_PER_S);
    const uint64_t milliseconds = unix_ns / 1000000 % 1000;
    struct tm parts;
    char wide[64];
    const size_t size =
        strftime(wide, sizeof wide, "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &parts));
    snprintf(wide + size, sizeof wide - size, ".%03" PRIu64 "Z", milliseconds);
    CAIRN_ASSERT(strlen(wide) + 1 == TIME_SIZE);
    return memcpy(text, wide, TIME_SIZE);
}

static bool is_given(const char *text) {
    return text != NULL && text[0] != '\0';
}

static size_t text_size(const char *text) {
    return strnlen(text, CAIRN_LOG_TEXT_SIZE_MAX);
}

typedef struct text_writer {
    char *out; // TEXT_SIZE_MAX
    size_t size;
} text_writer;

static void append(text_writer *writer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const size_t space = TEXT_SIZE_MAX - writer->size;
    const int size = vsnprintf(writer->out + writer->size, space, format, arguments);
    va_end(arguments);
    CAIRN_ASSERT(size >= 0 && (size_t)size < space);
    writer->size += (size_t)size;
}

// Printable ASCII stays; all else becomes an escape, so that no text can forge a line.
static void append_quoted(text_writer *writer, const char *text) {
    append(writer, "\"");
    for (size_t i = 0; i < text_size(text); ++i) {
        const unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\') {
            append(writer, "\\%c", c);
        } else {
            append(writer, c >= 0x20 && c < 0x7f ? "%c" : "\\u%04x", c);
        }
    }
    append(writer, "\"");
}

static size_t write_text(const cairn_log_line *line, uint64_t suppressed, char *out) {
    text_writer writer = {.out = out};
    char time[TIME_SIZE];
    append(&writer, "%s %-5s %.48s", print_time(line->unix_ns, time), level_names[line->level],
        line->name);
    if (!line->no_tick) {
        append(&writer, " tick=%" PRIu64, line->tick);
    }
    if (is_given(line->room)) {
        append(&writer, " room=%.31s", line->room);
    }
    if (line->client_id != 0) {
        append(&writer, " client=%" PRIu64, line->client_id);
    }
    if (line->value != 0) {
        append(&writer, " value=%" PRId64, line->value);
    }
    for (uint32_t i = 0; i < line->field_count; ++i) {
        const cairn_log_field *field = &line->fields[i];
        append(&writer, " %s=", field->name);
        if (field->text != NULL) {
            append_quoted(&writer, field->text);
        } else {
            append(&writer, "%" PRIu64, field->number);
        }
    }
    if (suppressed != 0) {
        append(&writer, " suppressed=%" PRIu64, suppressed);
    }
    if (is_given(line->detail)) {
        append(&writer, " ");
        append_quoted(&writer, line->detail);
    }
    append(&writer, "\n");
    return writer.size;
}

static size_t write_json(const cairn_log_line *line, uint64_t suppressed, char *out) {
    char text[TIME_SIZE];
    cairn_json *json = cairn_json_create();
    cairn_json_put_text(json, "time", print_time(line->unix_ns, text));
    cairn_json_put_text(json, "level", level_names[line->level]);
    cairn_json_put_text(json, "event", line->name);
    if (!line->no_tick) {
        cairn_json_put_count(json, "tick", line->tick);
    }
    if (is_given(line->room)) {
        cairn_json_put_text(json, "room", line->room);
    }
    if (line->client_id != 0) {
        // As text: it has 64 bits, and many readers of JSON keep only 53.
        snprintf(text, sizeof text, "%" PRIu64, line->client_id);
        cairn_json_put_text(json, "client", text);
    }
    if (line->value != 0) {
        cairn_json_put_integer(json, "value", line->value);
    }
    for (uint32_t i = 0; i < line->field_count; ++i) {
        const cairn_log_field *field = &line->fields[i];
        if (field->text != NULL) {
            cairn_json_put_bytes(json, field->name, field->text, text_size(field->text));
        } else {
            cairn_json_put_count(json, field->name, field->number);
        }
    }
    if (suppressed != 0) {
        cairn_json_put_count(json, "suppressed", suppressed);
    }
    if (is_given(line->detail)) {
        cairn_json_put_bytes(json, "detail", line->detail, text_size(line->detail));
    }
    const size_t size = cairn_json_write(json, out, TEXT_SIZE_MAX);
    CAIRN_ASSERT(size <= TEXT_SIZE_MAX);
    cairn_json_destroy(json);
    return size;
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
    const uint32_t place = place_of(log, line->name);
    const uint64_t second = line->unix_ns / CAIRN_NS_PER_S;
    const uint64_t interval = second / CAIRN_LOG_LINE_INTERVAL_S;
    if (log->names[place].second != second) {
        log->names[place].second = second;
        log->names[place].written = 0;
    }
    if (log->names[place].interval != interval) {
        // The wall clock may jump back.
        const uint64_t passed = interval - log->names[place].interval;
        const uint32_t burst = log->names[place].burst;
        log->names[place].burst = passed >= burst ? 0 : burst - (uint32_t)passed;
        log->names[place].interval = interval;
    }
    if (log->names[place].written >= CAIRN_LOG_LINES_PER_SECOND_MAX ||
        log->names[place].burst >= CAIRN_LOG_LINES_BURST_MAX) {
        log->names[place].suppressed += 1;
        return false;
    }
    log->names[place].written += 1;
    log->names[place].burst += 1;
    *suppressed = log->names[place].suppressed;
    log->names[place].suppressed = 0;
    return true;
}

size_t cairn_log_write(
    cairn_log *log, const cairn_log_line *line, char out[CAIRN_LOG_LINE_SIZE_MAX]) {
    CAIRN_ASSERT(line->name != NULL && line->level <= CAIRN_LOG_DEBUG);
    CAIRN_ASSERT(line->fields != NULL || line->field_count == 0);
    uint64_t suppressed = 0;
    if (line->level > log->level || (!line->unlimited && !within_limit(log, line, &suppressed))) {
        return 0;
    }
    const size_t begin = log->journal ? PRIORITY_SIZE : 0;
    memcpy(out, priorities[line->level], begin);
    return begin + (log->style == CAIRN_LOG_JSON ? write_json(line, suppressed, out + begin)
                                                 : write_text(line, suppressed, out + begin));
}
