// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <math.h>
#include <string.h>

#include "program/json.h"

SCOPE_POINTER_ENDS(cairn_json, cairn_json_destroy)

static void assert_line(cairn_json *json, const char *wanted) {
    char line[1024];
    const size_t size = cairn_json_write(json, line, sizeof line - 1);
    line[size] = '\0';
    assert_string_equal(line, wanted);
    cairn_json_destroy(json);
}

TEST("members keep their order and types") {
    cairn_json *json = cairn_json_create();
    cairn_json_put_text(json, "text", "a");
    cairn_json_put_count(json, "count", INT64_MAX);
    cairn_json_put_integer(json, "integer", -3);
    cairn_json_put_real(json, "real", (double)0.1f);
    cairn_json_put_bool(json, "bool", true);
    cairn_json_put_null(json, "null");
    cairn_json *array = cairn_json_put_array(json, "array");
    cairn_json_put_count(array, NULL, 1);
    cairn_json_put_text(cairn_json_put_object(array, NULL), "b", "c");
    assert_line(json, "{\"text\":\"a\",\"count\":9223372036854775807,\"integer\":-3,"
                      "\"real\":0.100000001,\"bool\":true,\"null\":null,"
                      "\"array\":[1,{\"b\":\"c\"}]}\n");
}

TEST("a number that JSON cannot hold is written as text or null") {
    cairn_json *json = cairn_json_create();
    cairn_json_put_count(json, "count", UINT64_MAX);
    cairn_json_put_real(json, "nan", (double)NAN);
    cairn_json_put_real(json, "infinite", (double)INFINITY);
    assert_line(json, "{\"count\":\"18446744073709551615\",\"nan\":null,\"infinite\":null}\n");
}

TEST("any bytes become printable text") {
    cairn_json *json = cairn_json_create();
    cairn_json_put_text(json, "quoted", "\"\\\n\x01");
    cairn_json_put_text(json, "utf8", "\xc3\xa9");
    cairn_json_put_text(json, "latin1", "\xc3\xa9\xff");
    assert_line(json, "{\"quoted\":\"\\\"\\\\\\n\\u0001\",\"utf8\":\"\\u00E9\","
                      "\"latin1\":\"\\u00C3\\u00A9\\u00FF\"}\n");
}

TEST("a line that does not fit is not written") {
    SCOPED(cairn_json) *json = cairn_json_create();
    cairn_json_put_text(json, "a", "b");
    char line[16];
    assert_int_equal(cairn_json_write(json, line, sizeof line), strlen("{\"a\":\"b\"}\n"));
    assert_int_equal(cairn_json_write(json, line, strlen("{\"a\":\"b\"}\n")), 10);
    assert_int_equal(cairn_json_write(json, line, strlen("{\"a\":\"b\"}")), 0);
}

TEST("written values are read back") {
    static const char text[] =
        "{\"tick\": 12, \"name\": \"bot\", \"real\": -1.5, \"played\": true}";
    SCOPED(cairn_json) *json = cairn_json_parse(text, strlen(text));
    double number = 7;
    bool truth = false;
    char name[4];
    assert_true(cairn_json_get_number(json, "tick", &number) && number == 12);
    assert_true(cairn_json_get_number(json, "real", &number) && number == -1.5);
    assert_false(cairn_json_get_number(json, "name", &number) || number != -1.5);
    assert_false(cairn_json_get_number(json, "missing", &number) || number != -1.5);
    assert_true(cairn_json_get_bool(json, "played", &truth) && truth);
    assert_true(cairn_json_get_text(json, "name", name, sizeof name));
    assert_string_equal(name, "bot");
    assert_true(cairn_json_get_text(json, "name", name, 3));
    assert_string_equal(name, "bo");
}

TEST("what is not an object is refused") {
    static const char *const texts[] = {"", "[1]", "{", "{\"a\":1} x", "1", "{\"a\":1,\"a\":2}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        assert_null(cairn_json_parse(texts[i], strlen(texts[i])));
    }
}
