// SPDX-License-Identifier: MIT
#pragma once

// One line per event, as text for people or JSON for machines. Time is an argument; the caller
// writes the line. Lines are limited per event name, because a hostile peer could cause some of
// them at will; the next line of that name reports how many were suppressed.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/server.h>

typedef enum cairn_log_style {
    CAIRN_LOG_TEXT = 0,
    CAIRN_LOG_JSON = 1,
} cairn_log_style;

// One more value of a line: a text, or a number when `text` is NULL.
typedef struct cairn_log_field {
    const char *name; // static text, lower case with underscores
    uint64_t number;
    const char *text; // any bytes, escaped; cut after CAIRN_LOG_TEXT_SIZE_MAX
} cairn_log_field;

typedef struct cairn_log_line {
    uint64_t unix_ns;
    cairn_log_level level;
    const char *name; // static text, lower case with underscores
    uint64_t tick;
    bool no_tick;       // of a thread that knows none: left out
    const char *room;   // NULL or "": left out; a room's name
    uint64_t client_id; // 0: left out
    int64_t value;      // 0: left out
    const char *detail; // NULL or "": left out; any bytes, escaped; cut as a field's text
    const cairn_log_field *fields;
    uint32_t field_count;
    bool unlimited; // no client can cause this line
} cairn_log_line;

// Names that are limited separately; further ones share the last place.
#define CAIRN_LOG_NAMES_MAX 64
// Lines of one name that may be written in one second.
#define CAIRN_LOG_LINES_PER_SECOND_MAX 20
// Lines of one name that may be written at that rate; after them one line may be written every
// CAIRN_LOG_LINE_INTERVAL_S. So a name writes at most some 43,000 lines a day.
#define CAIRN_LOG_LINES_BURST_MAX 200
#define CAIRN_LOG_LINE_INTERVAL_S 2

typedef struct cairn_log {
    cairn_log_style style;
    cairn_log_level level; // lines above it are left out
    bool journal;          // each line begins with "<N>", its priority for systemd's journal
    struct {
        const char *name;
        uint64_t second;
        uint32_t written;    // in this second
        uint32_t burst;      // lines not yet made up for by time
        uint64_t interval;   // the last one that reduced `burst`
        uint64_t suppressed; // since the last line of this name
    } names[CAIRN_LOG_NAMES_MAX];
} cairn_log;

#define CAIRN_LOG_TEXT_SIZE_MAX 512
// A line with its newline never needs more, with a detail and two fields of text that need escapes.
#define CAIRN_LOG_LINE_SIZE_MAX 16384

// Writes the line with its newline and no terminator. Returns its size, 0 when it is left out.
size_t cairn_log_write(
    cairn_log *log, const cairn_log_line *line, char out[CAIRN_LOG_LINE_SIZE_MAX]);
