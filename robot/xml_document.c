// SPDX-License-Identifier: MIT
#include "robot/xml_document.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

enum { NAME_SIZE_MAX = 64 };

typedef struct parser {
    cairn_xml_document *document;
    size_t at;
    uint32_t open; // the element that is being read; CAIRN_XML_NONE: none
    uint32_t depth;
    cairn_status status;
} parser;

// Keeps the first failure. Returns false.
static bool fail(parser *p, size_t at, cairn_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static bool fail(parser *p, size_t at, cairn_status status, const char *format, ...) {
    if (p->status == CAIRN_OK) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(p->document->error, sizeof p->document->error, format, arguments);
        va_end(arguments);
        p->document->at = at;
        p->status = status;
    }
    return false;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
           (c & 0x80) != 0;
}

static bool is_name(char c) {
    return is_name_start(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

// The byte at the place of the parser; '\0' behind the last.
static char peek(const parser *p) {
    return p->document->text[p->at];
}

static bool begins_with(const parser *p, const char *word) {
    return strncmp(p->document->text + p->at, word, strlen(word)) == 0;
}

static void skip_blanks(parser *p) {
    while (is_blank(peek(p))) {
        p->at += 1;
    }
}

// Goes behind the next `word`.
static bool skip_past(parser *p, const char *word, const char *what) {
    const char *found = strstr(p->document->text + p->at, word);
    if (found == NULL) {
        return fail(p, p->at, CAIRN_MALFORMED, "%s does not end", what);
    }
    p->at = (size_t)(found - p->document->text) + strlen(word);
    return true;
}

// Comments, processing instructions and CDATA; *skipped: there was one.
static bool skip_other(parser *p, bool *skipped) {
    *skipped = true;
    if (begins_with(p, "<!--")) {
        p->at += 4;
        return skip_past(p, "-->", "a comment");
    }
    if (begins_with(p, "<?")) {
        return skip_past(p, "?>", "a processing instruction");
    }
    if (begins_with(p, "<![CDATA[") && p->open != CAIRN_XML_NONE) {
        return skip_past(p, "]]>", "CDATA");
    }
    if (begins_with(p, "<!")) {
        return fail(
            p, p->at, CAIRN_MALFORMED, "a document type is refused, as are entities of its own");
    }
    *skipped = false;
    return true;
}

static bool read_name(parser *p, const char *what, const char **name, size_t *size) {
    const size_t begin = p->at;
    if (!is_name_start(peek(p))) {
        return fail(p, begin, CAIRN_MALFORMED, "expected %s", what);
    }
    while (is_name(peek(p))) {
        p->at += 1;
    }
    *name = p->document->text + begin;
    *size = p->at - begin;
    return *size <= NAME_SIZE_MAX ||
           fail(p, begin, CAIRN_CAPACITY, "a name has more than %d characters", NAME_SIZE_MAX);
}

// &#48; or &#x30;
static bool read_number_entity(parser *p, size_t begin, char *out) {
    const bool hex = p->document->text[begin + 2] == 'x';
    uint32_t value = 0, digits = 0;
    for (p->at = begin + (hex ? 3 : 2); peek(p) != ';'; p->at += 1, digits += 1) {
        const char c = peek(p);
        const bool decimal = c >= '0' && c <= '9';
        const bool letter = hex && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
        if (!decimal && !letter) {
            return fail(p, begin, CAIRN_MALFORMED, "a character by number is malformed");
        }
        const uint32_t digit = (uint32_t)(decimal ? c - '0' : (c | 0x20) - 'a' + 10);
        value = value > 0x10ffff ? value : value * (hex ? 16u : 10u) + digit;
    }
    p->at += 1;
    if (digits == 0 || value == 0 || value > 0x10ffff) {
        return fail(p, begin, CAIRN_MALFORMED, "a character by number is malformed");
    }
    *out = value < 0x80 ? (char)value : '\1';
    return true;
}

static bool read_entity(parser *p, char *out) {
    static const struct {
        const char *word;
        char character;
    } entities[] = {
        {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (size_t i = 0; i < sizeof entities / sizeof *entities; ++i) {
        if (begins_with(p, entities[i].word)) {
            *out = entities[i].character;
            p->at += strlen(entities[i].word);
            return true;
        }
    }
    if (begins_with(p, "&#")) {
        return read_number_entity(p, p->at, out);
    }
    return fail(p, p->at, CAIRN_MALFORMED, "an entity that is not one of XML's own is refused");
}

// Writes the value over itself, which is never longer than what it was written as.
static bool read_value(parser *p, const char **value) {
    char *text = p->document->text;
    const char quote = peek(p);
    if (quote != '"' && quote != '\'') {
        return fail(p, p->at, CAIRN_MALFORMED, "expected a value in quotation marks");
    }
    const size_t begin = ++p->at;
    size_t end = begin;
    while (peek(p) != quote) {
        char c = peek(p);
        if (c == '\0' || c == '<') {
            return fail(p, begin - 1, CAIRN_MALFORMED, "a value does not end");
        }
        if (c == '&') {
            if (!read_entity(p, &c)) {
                return false;
            }
        } else {
            c = (c & 0x80) != 0 ? '\1' : is_blank(c) ? ' ' : c;
            p->at += 1;
        }
        text[end++] = c;
    }
    p->at += 1;
    text[end] = '\0';
    *value = text + begin;
    return true;
}

// Room for one more element of an array.
static bool grow(parser *p, void **array, uint32_t count, uint32_t *capacity, size_t size) {
    if (count < *capacity) {
        return true;
    }
    const uint32_t larger = *capacity == 0 ? 64 : 2 * *capacity;
    void *moved = realloc(*array, larger * size);
    if (moved == NULL) {
        return fail(p, p->at, CAIRN_OUT_OF_MEMORY, "out of memory");
    }
    *array = moved;
    *capacity = larger;
    return true;
}

static bool read_attribute(parser *p, uint32_t node) {
    cairn_xml_document *d = p->document;
    const size_t at = p->at;
    const char *name, *value = NULL;
    size_t size;
    if (!read_name(p, "an attribute, > or />", &name, &size)) {
        return false;
    }
    skip_blanks(p);
    if (peek(p) != '=') {
        return fail(p, p->at, CAIRN_MALFORMED, "expected = behind the name of an attribute");
    }
    p->at += 1;
    d->text[at + size] = '\0'; // = or a blank was here
    skip_blanks(p);
    if (!read_value(p, &value)) {
        return false;
    }
    if (cairn_xml_attribute_find(d, node, name) != NULL) {
        return fail(p, at, CAIRN_MALFORMED, "the attribute %s is given twice", name);
    }
    if (d->attribute_count >= CAIRN_XML_ATTRIBUTES_MAX || d->nodes[node].attribute_count >= 64) {
        return fail(p, at, CAIRN_CAPACITY, "too many attributes");
    }
    if (!grow(p, (void **)&d->attributes, d->attribute_count, &d->attribute_capacity,
            sizeof *d->attributes)) {
        return false;
    }
    d->attributes[d->attribute_count++] =
        (cairn_xml_attribute){.name = name, .value = value, .at = at};
    d->nodes[node].attribute_count += 1;
    return true;
}

static bool add_node(parser *p, const char *name, size_t at) {
    cairn_xml_document *d = p->document;
    if (d->node_count >= CAIRN_XML_NODES_MAX) {
        return fail(p, at, CAIRN_CAPACITY, "more than %d elements", CAIRN_XML_NODES_MAX);
    }
    if (p->depth >= CAIRN_XML_DEPTH_MAX) {
        return fail(
            p, at, CAIRN_CAPACITY, "elements are nested deeper than %d", CAIRN_XML_DEPTH_MAX);
    }
    if (!grow(p, (void **)&d->nodes, d->node_count, &d->node_capacity, sizeof *d->nodes)) {
        return false;
    }
    const uint32_t node = d->node_count++;
    d->nodes[node] = (cairn_xml_node){
        .name = name, .at = at, .parent = p->open, .first_attribute = d->attribute_count};
    if (p->open != CAIRN_XML_NONE) {
        cairn_xml_node *parent = &d->nodes[p->open];
        if (parent->child == 0) {
            parent->child = node;
        } else {
            d->nodes[parent->last].next = node;
        }
        parent->last = node;
    }
    p->open = node;
    p->depth += 1;
    return true;
}

static void close_node(parser *p) {
    p->open = p->document->nodes[p->open].parent;
    p->depth -= 1;
}

// <name a="1" ...> or <name .../>
static bool read_start(parser *p) {
    cairn_xml_document *d = p->document;
    const size_t at = p->at++;
    const char *name;
    size_t size;
    if (!read_name(p, "the name of an element", &name, &size) || !add_node(p, name, at)) {
        return false;
    }
    for (;;) {
        const bool blank = is_blank(peek(p));
        skip_blanks(p);
        const bool empty = begins_with(p, "/>");
        if (empty || peek(p) == '>') {
            p->at += empty ? 2 : 1;
            d->text[at + 1 + size] = '\0';
            if (empty) {
                close_node(p);
            }
            return true;
        }
        if (!blank) {
            return fail(p, p->at, CAIRN_MALFORMED, "expected a blank, > or />");
        }
        if (!read_attribute(p, p->open)) {
            return false;
        }
    }
}

// </name>
static bool read_end(parser *p) {
    const size_t at = p->at;
    const char *name;
    size_t size;
    p->at += 2;
    if (!read_name(p, "the name of an element", &name, &size)) {
        return false;
    }
    skip_blanks(p);
    if (peek(p) != '>') {
        return fail(p, p->at, CAIRN_MALFORMED, "expected >");
    }
    p->at += 1;
    const char *open = p->document->nodes[p->open].name;
    if (strlen(open) != size || strncmp(open, name, size) != 0) {
        return fail(p, at, CAIRN_MALFORMED, "<%s> ends with </%.*s>", open, (int)size, name);
    }
    close_node(p);
    return true;
}

static bool read_content(parser *p) {
    while (p->open != CAIRN_XML_NONE) {
        bool skipped = false;
        while (peek(p) != '<' && peek(p) != '\0') {
            p->at += 1;
        }
        if (peek(p) == '\0') {
            return fail(p, p->document->nodes[p->open].at, CAIRN_MALFORMED, "<%s> does not end",
                p->document->nodes[p->open].name);
        }
        if (!skip_other(p, &skipped)) {
            return false;
        }
        if (!skipped && !(begins_with(p, "</") ? read_end(p) : read_start(p))) {
            return false;
        }
    }
    return true;
}

// What may stand before and behind the root.
static bool skip_around(parser *p) {
    bool skipped = true;
    while (skipped) {
        skip_blanks(p);
        if (!skip_other(p, &skipped)) {
            return false;
        }
    }
    return true;
}

static bool check_bytes(parser *p) {
    for (size_t i = 0; i < p->document->size; ++i) {
        const char c = p->document->text[i];
        if ((c & 0x80) == 0 && c < ' ' && !is_blank(c)) {
            return fail(p, i, CAIRN_MALFORMED, "a control character is not XML");
        }
    }
    return true;
}

static bool read_document(parser *p) {
    if (begins_with(p, "\xef\xbb\xbf")) {
        p->at = 3; // byte order mark
    }
    if (!check_bytes(p) || !skip_around(p)) {
        return false;
    }
    if (peek(p) != '<') {
        return fail(p, p->at, CAIRN_MALFORMED, "expected <: this is not XML");
    }
    return read_start(p) && read_content(p) && skip_around(p) &&
           (peek(p) == '\0' ||
               fail(p, p->at, CAIRN_MALFORMED, "the text goes on behind its only element"));
}

cairn_status cairn_xml_document_parse(cairn_xml_document *document, const char *text, size_t size) {
    CAIRN_ASSERT(document != NULL && text != NULL);
    *document = (cairn_xml_document){.source = text, .size = size};
    parser p = {.document = document, .open = CAIRN_XML_NONE};
    if (size > CAIRN_XML_SIZE_MAX) {
        (void)fail(&p, 0, CAIRN_CAPACITY, "more than %d bytes", CAIRN_XML_SIZE_MAX);
        return p.status;
    }
    document->text = malloc(size + 1);
    if (document->text == NULL) {
        (void)fail(&p, 0, CAIRN_OUT_OF_MEMORY, "out of memory");
        return p.status;
    }
    memcpy(document->text, text, size);
    document->text[size] = '\0';
    (void)read_document(&p);
    return p.status;
}

void cairn_xml_document_destroy(cairn_xml_document *document) {
    free(document->text);
    free(document->nodes);
    free(document->attributes);
    *document = (cairn_xml_document){0};
}

void cairn_xml_document_place(
    const cairn_xml_document *document, size_t at, uint32_t *line, uint32_t *column) {
    *line = 1;
    *column = 1;
    for (size_t i = 0; i < at && i < document->size; ++i) {
        const bool end = document->source[i] == '\n';
        *line += end ? 1 : 0;
        *column = end ? 1 : *column + 1;
    }
}

const cairn_xml_attribute *cairn_xml_attribute_find(
    const cairn_xml_document *document, uint32_t node, const char *name) {
    const cairn_xml_node *owner = &document->nodes[node];
    for (uint32_t i = 0; i < owner->attribute_count; ++i) {
        const cairn_xml_attribute *attribute = &document->attributes[owner->first_attribute + i];
        if (strcmp(attribute->name, name) == 0) {
            return attribute;
        }
    }
    return NULL;
}

uint32_t cairn_xml_find(const cairn_xml_document *document, uint32_t first, const char *name) {
    while (first != 0 && strcmp(document->nodes[first].name, name) != 0) {
        first = document->nodes[first].next;
    }
    return first;
}
