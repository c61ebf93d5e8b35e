// SPDX-License-Identifier: MIT
#include "storm/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The log of the server goes through the ring of cairnd to a reader that stops now and then. What
// it reads are all lines in order, or a count of those that are missing, at their place.

static const uint64_t ms_ns = 1000000;

void cairn_storm_create_reader(cairn_storm *s) {
    cairn_storm_reader *reader = &s->reader;
    reader->random = cairn_random_of(s->config.seed * 40503u + 43);
    reader->ring = cairn_line_ring_of(reader->bytes, sizeof reader->bytes);
}

void cairn_storm_log(cairn_storm *s, const cairn_server_event *event) {
    cairn_storm_reader *reader = &s->reader;
    char line[CAIRN_STORM_LOG_LINE_SIZE];
    const int size =
        snprintf(line, sizeof line, "%" PRIu64 " %.40s\n", ++reader->written, event->name);
    (void)cairn_line_ring_put(&reader->ring, line, (size_t)size);
}

static void check_line(cairn_storm *s, const char *line) {
    cairn_storm_reader *reader = &s->reader;
    const uint64_t number = strtoull(line, NULL, 10);
    s->report.log_lines += 1;
    reader->expected += 1;
    if (number != reader->expected) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_LOG,
            "the log's line %" PRIu64 " stands where line %" PRIu64 " should, and %" PRIu64
            " lines are counted as lost",
            number, reader->expected, reader->ring.lost);
    }
    reader->expected = number;
}

// Reads a piece of bytes, which may begin and end within lines.
static void read_piece(cairn_storm *s, const char *piece, size_t size) {
    cairn_storm_reader *reader = &s->reader;
    for (size_t i = 0; i < size; i++) {
        reader->line[reader->line_size++] = piece[i];
        if (piece[i] == '\n' || reader->line_size == sizeof reader->line - 1) {
            reader->line[reader->line_size] = '\0';
            reader->line_size = 0;
            check_line(s, reader->line);
        }
    }
}

static void read_all(cairn_storm *s) {
    cairn_storm_reader *reader = &s->reader;
    char piece[100];
    size_t size;
    do {
        while ((size = cairn_line_ring_take(&reader->ring, piece, sizeof piece)) > 0) {
            read_piece(s, piece, size);
        }
        const uint64_t lost = cairn_line_ring_take_lost(&reader->ring);
        reader->expected += lost;
        s->report.log_lines_lost += lost;
        size = reader->ring.size;
    } while (size > 0);
    if (reader->expected != reader->written) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_LOG,
            "%" PRIu64 " lines were logged; the reader knows of %" PRIu64, reader->written,
            reader->expected);
    }
}

void cairn_storm_read_log(cairn_storm *s) {
    cairn_storm_reader *reader = &s->reader;
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    const bool stops =
        !s->quiescent && !s->config.no_faults && cairn_random_below(&reader->random, 1000) < 6;
    if (now_ns >= reader->stopped_until_ns && stops) {
        reader->stopped_until_ns =
            now_ns + (500 + cairn_random_below(&reader->random, 8000)) * ms_ns;
        s->report.log_stops += 1;
        if (s->config.on_event != NULL) {
            s->config.on_event(s->config.user, now_ns, 0, "sees the reader of the log stop");
        }
    }
    if (now_ns >= reader->stopped_until_ns || s->quiescent) {
        read_all(s);
    }
}
