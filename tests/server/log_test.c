// SPDX-License-Identifier: MIT
// Log lines: their two styles, what is escaped, and that a flood stays small.
#include "tests/kit/test.h"

#include <string.h>

#include "server/daemon/log.h"

#define S CAIRN_NS_PER_S

static const char *written(cairn_log *log, const cairn_log_line *line) {
    static char text[CAIRN_LOG_LINE_SIZE_MAX + 1];
    size_t size = cairn_log_write(log, line, text);
    assert_true(size <= CAIRN_LOG_LINE_SIZE_MAX);
    text[size] = '\0';
    return text;
}

TEST("times are written as RFC 3339") {
    static const struct {
        uint64_t second, ns;
        const char *text;
    } rows[] = {{0, 0, "1970-01-01T00:00:00.000Z"},
        {951782399, 999999999, "2000-02-28T23:59:59.999Z"},
        {951782400, 0, "2000-02-29T00:00:00.000Z"},
        {1709251200, 1000000, "2024-03-01T00:00:00.001Z"},
        {1735689599, 0, "2024-12-31T23:59:59.000Z"}, {4107542400, 0, "2100-03-01T00:00:00.000Z"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_log log = {.level = CAIRN_LOG_INFO};
        const cairn_log_line line = {
            .name = "n", .level = CAIRN_LOG_INFO, .unix_ns = rows[i].second * S + rows[i].ns};
        assert_memory_equal(written(&log, &line), rows[i].text, strlen(rows[i].text));
    }
}

TEST("a log line has the event's fields and no more") {
    static const cairn_log_field fields[] = {
        {.name = "awake", .number = 12}, {.name = "file", .text = "a b"}};
    static const cairn_log_line all = {.unix_ns = S,
        .level = CAIRN_LOG_WARN,
        .name = "name",
        .room = "side",
        .tick = 7,
        .client_id = UINT64_MAX,
        .value = -3,
        .detail = "why",
        .fields = fields,
        .field_count = 2};
    static const cairn_log_line few = {.level = CAIRN_LOG_INFO, .name = "n"};
    static const cairn_log_line of_a_thread = {
        .level = CAIRN_LOG_INFO, .name = "n", .no_tick = true, .room = "side"};
    cairn_log text = {.style = CAIRN_LOG_TEXT, .level = CAIRN_LOG_INFO};
    cairn_log json = {.style = CAIRN_LOG_JSON, .level = CAIRN_LOG_INFO};
    assert_string_equal(written(&text, &all),
        "1970-01-01T00:00:01.000Z warn  name tick=7 room=side "
        "client=18446744073709551615 value=-3 awake=12 file=\"a b\" \"why\"\n");
    assert_string_equal(written(&text, &few), "1970-01-01T00:00:00.000Z info  n tick=0\n");
    assert_string_equal(
        written(&text, &of_a_thread), "1970-01-01T00:00:00.000Z info  n room=side\n");
    assert_string_equal(written(&json, &of_a_thread),
        "{\"time\":\"1970-01-01T00:00:00.000Z\",\"level\":\"info\",\"event\":\"n\","
        "\"room\":\"side\"}\n");
    assert_string_equal(written(&json, &all),
        "{\"time\":\"1970-01-01T00:00:01.000Z\",\"level\":\"warn\",\"event\":\"name\",\"tick\":7,"
        "\"room\":\"side\","
        "\"client\":\"18446744073709551615\",\"value\":-3,\"awake\":12,\"file\":\"a "
        "b\",\"detail\":\"why\"}\n");
    assert_string_equal(written(&json, &few),
        "{\"time\":\"1970-01-01T00:00:00.000Z\",\"level\":\"info\",\"event\":\"n\",\"tick\":0}\n");
}

TEST("no text can forge a line") {
    static const struct {
        const char *detail, *text, *json;
    } rows[] = {
        {"a\nb", "\"a\\u000ab\"", "\"a\\nb\""},
        {"\x01\x1f", "\"\\u0001\\u001f\"", "\"\\u0001\\u001F\""},
        {"\"}\\", "\"\\\"}\\\\\"", "\"\\\"}\\\\\""},
        {"\xc3\xa9\xff", "\"\\u00c3\\u00a9\\u00ff\"", "\"\\u00C3\\u00A9\\u00FF\""},
        {"plain ~", "\"plain ~\"", "\"plain ~\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        for (cairn_log_style style = CAIRN_LOG_TEXT; style <= CAIRN_LOG_JSON; ++style) {
            cairn_log log = {.style = style, .level = CAIRN_LOG_INFO};
            const cairn_log_field field = {.name = "f", .text = rows[i].detail};
            const cairn_log_line lines[] = {
                {.level = CAIRN_LOG_INFO, .name = "n", .detail = rows[i].detail},
                {.level = CAIRN_LOG_INFO, .name = "n", .fields = &field, .field_count = 1}};
            for (size_t k = 0; k < 2; ++k) {
                const char *text = written(&log, &lines[k]);
                assert_non_null(
                    strstr(text, style == CAIRN_LOG_TEXT ? rows[i].text : rows[i].json));
                assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
            }
        }
    }
}

TEST("a long text is cut and the line stays complete") {
    static char endless[5000];
    static const char fills[] = {'x', '\n', '"', '\xff'};
    for (size_t i = 0; i < sizeof fills; ++i) {
        memset(endless, fills[i], sizeof endless - 1);
        const cairn_log_field fields[] = {
            {.name = "a", .text = endless}, {.name = "b", .text = endless}};
        const cairn_log_line line = {.level = CAIRN_LOG_INFO,
            .name = "n",
            .detail = endless,
            .fields = fields,
            .field_count = 2};
        cairn_log json = {.style = CAIRN_LOG_JSON, .level = CAIRN_LOG_INFO};
        const char *text = written(&json, &line);
        assert_string_equal(text + strlen(text) - 3, "\"}\n");
        assert_true(strlen(text) > 3 * CAIRN_LOG_TEXT_SIZE_MAX);
        cairn_log plain = {.style = CAIRN_LOG_TEXT, .level = CAIRN_LOG_INFO};
        text = written(&plain, &line);
        assert_string_equal(text + strlen(text) - 2, "\"\n");
        assert_true(strlen(text) > 3 * CAIRN_LOG_TEXT_SIZE_MAX);
    }
}

TEST("levels above the wanted one are left out") {
    for (cairn_log_level wanted = CAIRN_LOG_ERROR; wanted <= CAIRN_LOG_DEBUG; ++wanted) {
        cairn_log log = {.level = wanted};
        for (cairn_log_level level = CAIRN_LOG_ERROR; level <= CAIRN_LOG_DEBUG; ++level) {
            const cairn_log_line line = {.level = level, .name = "n", .detail = ""};
            assert_int_equal(written(&log, &line)[0] != '\0', level <= wanted);
        }
    }
}

TEST("a flood of one event is limited and counted") {
    cairn_log log = {.level = CAIRN_LOG_INFO};
    cairn_log_line line = {.level = CAIRN_LOG_INFO, .name = "flood", .detail = ""};
    cairn_log_line other = {.level = CAIRN_LOG_INFO, .name = "other", .detail = ""};
    int lines = 0;
    for (int i = 0; i < 1000; ++i) {
        lines += written(&log, &line)[0] != '\0' ? 1 : 0;
    }
    assert_int_equal(lines, CAIRN_LOG_LINES_PER_SECOND_MAX);
    assert_true(written(&log, &other)[0] != '\0');
    line.unix_ns = S;
    assert_non_null(strstr(written(&log, &line), " suppressed=980"));
    assert_null(strstr(written(&log, &line), "suppressed"));
    for (lines = 2; written(&log, &line)[0] != '\0'; ++lines) {}
    assert_int_equal(lines, CAIRN_LOG_LINES_PER_SECOND_MAX);
}

TEST("a flood of a whole day stays small") {
    cairn_log log = {.level = CAIRN_LOG_INFO};
    size_t size = 0;
    int lines = 0;
    for (uint64_t second = 0; second < 86400; ++second) {
        for (int i = 0; i < 30; ++i) {
            const cairn_log_line line = {.level = CAIRN_LOG_WARN,
                .name = i % 2 == 0 ? "control_refused" : "resync_refused",
                .unix_ns = (1000000 + second) * S,
                .client_id = UINT64_MAX,
                .detail = "the right is missing"};
            const size_t written_size = strlen(written(&log, &line));
            size += written_size;
            lines += written_size > 0 ? 1 : 0;
        }
    }
    assert_in_range(lines, 2 * 43200, 2 * (43200 + CAIRN_LOG_LINES_BURST_MAX));
    assert_true(size < 20 * 1000 * 1000);
}

TEST("a quiet time gives a name its burst back") {
    cairn_log log = {.level = CAIRN_LOG_INFO};
    cairn_log_line line = {.level = CAIRN_LOG_INFO, .name = "n"};
    int first_day = 0;
    for (uint64_t day = 0; day < 3; ++day) {
        int lines = 0;
        for (uint64_t second = 0; second < 20; ++second) {
            for (int i = 0; i < 100; ++i) {
                line.unix_ns = (day * 86400 + second) * S;
                lines += written(&log, &line)[0] != '\0' ? 1 : 0;
            }
        }
        assert_in_range(lines, CAIRN_LOG_LINES_BURST_MAX, CAIRN_LOG_LINES_BURST_MAX + 10);
        first_day = day == 0 ? lines : first_day;
        assert_int_equal(lines, first_day);
    }
}

TEST("a line that no client can cause is not limited") {
    cairn_log log = {.level = CAIRN_LOG_INFO};
    const cairn_log_line line = {.level = CAIRN_LOG_INFO, .name = "n", .unlimited = true};
    for (int i = 0; i < 1000; ++i) {
        assert_true(written(&log, &line)[0] != '\0');
    }
}

TEST("names beyond the limit share the last entry") {
    static char names[200][8];
    cairn_log log = {.level = CAIRN_LOG_INFO};
    int lines = 0;
    for (int i = 0; i < 200; ++i) {
        names[i][0] = (char)('a' + i % 26);
        names[i][1] = (char)('a' + i / 26);
        const cairn_log_line line = {.level = CAIRN_LOG_INFO, .name = names[i], .detail = ""};
        lines += written(&log, &line)[0] != '\0' ? 1 : 0;
    }
    assert_int_equal(lines, CAIRN_LOG_NAMES_MAX - 1 + CAIRN_LOG_LINES_PER_SECOND_MAX);
}

TEST("a line for the journal begins with its priority") {
    static const struct {
        cairn_log_level level;
        const char *text;
    } rows[] = {{CAIRN_LOG_ERROR, "<3>1970-"}, {CAIRN_LOG_WARN, "<4>1970-"},
        {CAIRN_LOG_INFO, "<6>1970-"}, {CAIRN_LOG_DEBUG, "<7>1970-"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_log log = {.level = CAIRN_LOG_DEBUG, .journal = true};
        const cairn_log_line line = {.name = "n", .level = rows[i].level};
        assert_memory_equal(written(&log, &line), rows[i].text, 8);
        log.style = CAIRN_LOG_JSON;
        assert_memory_equal(written(&log, &line), rows[i].text, 3);
        assert_int_equal(written(&log, &line)[3], '{');
    }
}
