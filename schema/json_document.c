// SPDX-License-Identifier: MIT
#include "schema/json_document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include <cairn/math.h>

static bool refuse(cairn_json_document *d, size_t at, const char *words) {
    CAIRN_ASSERT(at <= d->size);
    d->at = at;
    snprintf(d->error, sizeof d->error, "%s", words);
    return false;
}

static char byte_at(const cairn_json_document *d, size_t at) {
    return at < d->size ? d->text[at] : '\0';
}

// Behind blanks and comments. An open comment ends with the text.
static size_t skip_blanks(const cairn_json_document *d, size_t at) {
    for (;;) {
        const char c = byte_at(d, at);
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            at += 1;
        } else if (c == '/' && byte_at(d, at + 1) == '/') {
            while (at < d->size && d->text[at] != '\n') {
                at += 1;
            }
        } else if (c == '/' && byte_at(d, at + 1) == '*') {
            at += 2;
            while (at < d->size && !(d->text[at] == '*' && byte_at(d, at + 1) == '/')) {
                at += 1;
            }
            at = at < d->size ? at + 2 : at;
        } else {
            return at;
        }
    }
}

// 0: out of memory or too many.
static uint32_t add_node(cairn_json_document *d, size_t at, size_t key) {
    if (d->count == d->capacity) {
        const uint32_t capacity = d->capacity == 0 ? 256 : 2 * d->capacity;
        void *wider = d->capacity == CAIRN_JSON_NODES_MAX
                          ? NULL
                          : realloc(d->nodes, capacity * sizeof *d->nodes);
        if (wider == NULL) {
            refuse(d, at, "more values than a scene needs, or out of memory");
            return UINT32_MAX;
        }
        d->nodes = wider;
        d->capacity = capacity;
    }
    d->nodes[d->count] = (cairn_json_node){.at = (uint32_t)at, .key = (uint32_t)key};
    return d->count++;
}

// Returns the position after the closing quote, 0 after a refusal. `at` is after the opening quote.
static size_t skip_text(cairn_json_document *d, size_t at) {
    const size_t begin = at - 1;
    for (; at < d->size && d->text[at] != '"'; ++at) {
        const unsigned char c = (unsigned char)d->text[at];
        if (c == '\\') {
            at += 1;
            if (byte_at(d, at) == '\0' || strchr("\"\\/bfnrtu", d->text[at]) == NULL) {
                return refuse(d, at, "an unknown escape in a text");
            }
        } else if (c < ' ') {
            return refuse(d, c == '\n' ? begin : at,
                c == '\n' ? "the closing quote of this text is missing"
                          : "a control character in a text");
        }
    }
    return at < d->size ? at + 1 : refuse(d, begin, "the closing quote of this text is missing");
}

static size_t skip_digits(const cairn_json_document *d, size_t at) {
    while (byte_at(d, at) >= '0' && byte_at(d, at) <= '9') {
        at += 1;
    }
    return at;
}

// Returns the position after the number; 0: the text at `at` is not a number.
static size_t skip_number(const cairn_json_document *d, size_t at) {
    const size_t begin = at;
    at += byte_at(d, at) == '-' ? 1 : 0;
    size_t end = skip_digits(d, at);
    bool good = end > at;
    if (byte_at(d, end) == '.') {
        at = end + 1;
        end = skip_digits(d, at);
        good = good && end > at;
    }
    if (byte_at(d, end) == 'e' || byte_at(d, end) == 'E') {
        at = end + 1;
        at += byte_at(d, at) == '-' || byte_at(d, at) == '+' ? 1 : 0;
        end = skip_digits(d, at);
        good = good && end > at;
    }
    return good && end - begin <= CAIRN_JSON_NUMBER_SIZE_MAX ? end : 0;
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// A word, a number, or what is neither.
static size_t read_plain(cairn_json_document *d, size_t at, uint32_t *kind) {
    static const char *const words[] = {"null", "false", "true"};
    size_t length = 0;
    while (is_letter(byte_at(d, at + length))) {
        length += 1;
    }
    for (uint32_t i = 0; i < 3; ++i) {
        if (strlen(words[i]) == length && memcmp(d->text + at, words[i], length) == 0) {
            *kind = CAIRN_JSON_NULL + i;
            return at + length;
        }
    }
    const size_t end = length == 0 ? skip_number(d, at) : 0;
    if (end != 0) {
        *kind = CAIRN_JSON_NUMBER;
        return end;
    }
    if (at >= d->size) {
        return refuse(d, at, "the text ends before the scene does");
    }
    char words_of[96];
    if (length > 0) {
        snprintf(words_of, sizeof words_of,
            "%.*s: a value is a number, true, false, a text in quotes, a list or an object",
            length < 20 ? (int)length : 20, d->text + at);
    } else {
        const char c = d->text[at];
        snprintf(words_of, sizeof words_of, "a value is expected here, not '%c'",
            c >= ' ' && c <= '~' ? c : '?');
    }
    return refuse(d, at, words_of);
}

static size_t read_value(cairn_json_document *d, size_t at, uint32_t node, uint32_t depth);

// Returns the position after the closing bracket, 0 after a refusal. `at` is after the opening one.
static size_t read_members(
    cairn_json_document *d, size_t at, uint32_t node, uint32_t depth, bool object) {
    const char close = object ? '}' : ']';
    const size_t begin = at - 1;
    uint32_t last = 0;
    bool numbers = !object;
    at = skip_blanks(d, at);
    if (byte_at(d, at) == close) {
        return at + 1;
    }
    for (;;) {
        size_t key = 0;
        if (object) {
            if (byte_at(d, at) != '"') {
                return refuse(d, at,
                    byte_at(d, at) == close ? "a comma before the closing bracket"
                                            : "the name of a field in quotes is expected here");
            }
            key = at + 1;
            at = skip_text(d, key);
            at = at == 0 ? 0 : skip_blanks(d, at);
            if (at == 0 || byte_at(d, at) != ':') {
                return at == 0 ? 0 : refuse(d, at, "a colon is missing");
            }
            at = skip_blanks(d, at + 1);
        } else if (byte_at(d, at) == close) {
            return refuse(d, at, "a comma before the closing bracket");
        }
        // A list of numbers has no nodes: meshes have millions of them.
        const size_t number = numbers ? skip_number(d, at) : 0;
        if (number != 0) {
            at = number;
        } else if (numbers && d->nodes[node].count > 0) {
            return refuse(d, at, "a number is expected here, as before in this list");
        } else {
            numbers = false;
            const uint32_t member = add_node(d, at, key);
            at = member == UINT32_MAX ? 0 : read_value(d, at, member, depth + 1);
            if (at == 0) {
                return 0;
            }
            *(last == 0 ? &d->nodes[node].child : &d->nodes[last].next) = member;
            last = member;
        }
        d->nodes[node].count += 1;
        at = skip_blanks(d, at);
        const char c = byte_at(d, at);
        if (c == close) {
            d->nodes[node].kind = numbers ? CAIRN_JSON_NUMBERS : d->nodes[node].kind;
            return at + 1;
        }
        if (c != ',') {
            return at < d->size ? refuse(d, at, "a comma or the closing bracket is expected here")
                                : refuse(d, begin, "the closing bracket of this one is missing");
        }
        at = skip_blanks(d, at + 1);
    }
}

static size_t read_value(cairn_json_document *d, size_t at, uint32_t node, uint32_t depth) {
    const char c = byte_at(d, at);
    if (c == '{' || c == '[') {
        if (depth >= CAIRN_JSON_DEPTH_MAX) {
            return refuse(d, at, "lists and objects are nested too deeply");
        }
        d->nodes[node].kind = c == '{' ? CAIRN_JSON_OBJECT : CAIRN_JSON_LIST;
        return read_members(d, at + 1, node, depth, c == '{');
    }
    if (c == '"') {
        d->nodes[node].kind = CAIRN_JSON_TEXT;
        return skip_text(d, at + 1);
    }
    uint32_t kind = CAIRN_JSON_NULL;
    const size_t end = read_plain(d, at, &kind);
    d->nodes[node].kind = kind;
    return end;
}

cairn_status cairn_json_document_parse(cairn_json_document *d, const char *text, size_t size) {
    *d = (cairn_json_document){.text = text, .size = size};
    if (size > CAIRN_JSON_SIZE_MAX) {
        refuse(d, 0, "a scene may have at most 16 MiB");
        return CAIRN_CAPACITY;
    }
    const bool marked = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0; // byte order mark
    size_t at = skip_blanks(d, marked ? 3 : 0);
    const uint32_t root = add_node(d, at, 0);
    if (root == UINT32_MAX) {
        return CAIRN_OUT_OF_MEMORY;
    }
    at = read_value(d, at, root, 0);
    if (at == 0) {
        return CAIRN_MALFORMED;
    }
    at = skip_blanks(d, at);
    if (at < size) {
        refuse(d, at, "the scene has ended; nothing may follow it");
        return CAIRN_MALFORMED;
    }
    return CAIRN_OK;
}

void cairn_json_document_destroy(cairn_json_document *d) {
    free(d->nodes);
    d->nodes = NULL;
}

void cairn_json_document_place(
    const cairn_json_document *d, size_t at, uint32_t *line, uint32_t *column) {
    CAIRN_ASSERT(at <= d->size);
    *line = 1;
    *column = 1;
    for (size_t i = 0; i < at; ++i) {
        *column = d->text[i] == '\n' ? 1 : *column + 1;
        *line += d->text[i] == '\n' ? 1 : 0;
    }
}

bool cairn_json_key_is(
    const cairn_json_document *d, const cairn_json_node *member, const char *name) {
    const size_t length = strlen(name);
    return length < d->size - member->key && memcmp(d->text + member->key, name, length) == 0 &&
           d->text[member->key + length] == '"';
}

// The character of an escape; `at` is at the backslash. *at ends behind it.
static char read_escape(const cairn_json_document *d, size_t *at) {
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    const char c = byte_at(d, *at + 1);
    *at += 2;
    if (c != 'u') {
        const char *place = strchr(from, c);
        return place != NULL && c != '\0' ? to[place - from] : c;
    }
    unsigned value = 0;
    for (int i = 0; i < 4; ++i, ++*at) {
        const char digit = byte_at(d, *at);
        const bool number = digit >= '0' && digit <= '9';
        const char letter = (char)(digit | 0x20);
        if (!number && !(letter >= 'a' && letter <= 'f')) {
            return '\1';
        }
        value = 16 * value + (unsigned)(number ? digit - '0' : letter - 'a' + 10);
    }
    return value == 0 || value > 126 ? '\1' : (char)value;
}

size_t cairn_json_text_copy(const cairn_json_document *d, size_t at, char *out, size_t out_size) {
    CAIRN_ASSERT(out_size > 0);
    size_t length = 0;
    while (at < d->size && d->text[at] != '"') {
        const char c = d->text[at] == '\\' ? read_escape(d, &at) : d->text[at++];
        if (length + 1 < out_size) {
            out[length] = (c & 0x80) != 0 ? '\1' : c;
        }
        length += 1;
    }
    out[length + 1 < out_size ? length : out_size - 1] = '\0';
    return length;
}

// By the C library, correctly rounded. Written without a decimal point, which depends on the
// locale: 1.25e3 as 125e1.
static float slow_float(const cairn_json_document *d, size_t at, size_t end) {
    char text[CAIRN_JSON_NUMBER_SIZE_MAX + 16];
    size_t length = 0;
    int decimals = 0, exponent = 0;
    bool behind_point = false;
    for (; at < end && d->text[at] != 'e' && d->text[at] != 'E'; ++at) {
        const bool point = d->text[at] == '.';
        decimals += behind_point ? 1 : 0;
        behind_point = behind_point || point;
        if (!point) {
            text[length++] = d->text[at];
        }
    }
    const bool negative = at + 1 < end && d->text[at + 1] == '-';
    for (at += 1; at < end; ++at) {
        const bool digit = d->text[at] >= '0' && d->text[at] <= '9';
        exponent = digit && exponent < 10000 ? 10 * exponent + (d->text[at] - '0') : exponent;
    }
    CAIRN_ASSERT(length <= CAIRN_JSON_NUMBER_SIZE_MAX);
    snprintf(
        text + length, sizeof text - length, "e%d", (negative ? -exponent : exponent) - decimals);
    return strtof(text, NULL);
}

// Up to 15 digits and a power of ten up to 22 are exact in a double, so one division or
// multiplication rounds correctly. Rounding that to float is correct as well, unless the double
// lies half-way between two floats.
float cairn_json_float(const cairn_json_document *d, size_t at, size_t *end) {
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    *end = skip_number(d, at);
    CAIRN_ASSERT(*end > at);
    const bool negative = d->text[at] == '-';
    uint64_t digits = 0;
    uint32_t count = 0, decimals = 0;
    bool behind_point = false, plain = true;
    for (size_t i = at + (negative ? 1 : 0); i < *end; ++i) {
        const char c = d->text[i];
        if (c == '.') {
            behind_point = true;
        } else if (c >= '0' && c <= '9' && count < 15) {
            digits = 10 * digits + (uint64_t)(c - '0');
            count += digits > 0 ? 1 : 0;
            decimals += behind_point ? 1 : 0;
        } else {
            plain = false;
        }
    }
    const double value = decimals > 22 ? 0.0 : (double)digits / powers[decimals];
    const bool halfway = (cairn_double_bits(value) & 0x1fffffffu) == 0x10000000u;
    if (!plain || halfway || decimals > 22 || (digits != 0 && value < 1.2e-38)) {
        return slow_float(d, at, *end);
    }
    return digits == 0 ? 0.0f : negative ? (float)(0.0 - value) : (float)value;
}

bool cairn_json_whole(const cairn_json_document *d, size_t at, uint64_t *out, size_t *end) {
    *end = skip_number(d, at);
    uint64_t value = 0;
    for (size_t i = at; i < *end; ++i) {
        const char c = d->text[i];
        const uint64_t digit = (uint64_t)(c - '0');
        if (c < '0' || c > '9' || value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value = 10 * value + digit;
    }
    *out = value;
    return true;
}

size_t cairn_json_number_next(const cairn_json_document *d, size_t at) {
    at = skip_blanks(d, at);
    return byte_at(d, at) == ',' ? skip_blanks(d, at + 1) : at;
}
