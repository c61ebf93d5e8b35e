// SPDX-License-Identifier: MIT
#include "robot/xml_document.h"

#include <expat.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

// expat calls back while it parses. The first failure ends the parse, though a call for the end of
// the same element may still follow.
typedef struct reading {
    cairn_xml_document *document;
    XML_Parser expat;
    uint32_t open; // the element that is being read; CAIRN_XML_NONE: none
    uint32_t depth;
    cairn_status status;
} reading;

static bool fail(reading *r, size_t at, cairn_status status, const char *error) {
    if (r->status == CAIRN_OK) {
        snprintf(r->document->error, sizeof r->document->error, "%s", error);
        r->document->at = at;
        r->status = status;
        if (r->expat != NULL) {
            (void)XML_StopParser(r->expat, XML_FALSE);
        }
    }
    return false;
}

static bool fail_limit(reading *r, size_t at, const char *format, int limit)
    __attribute__((format(printf, 3, 0)));

static bool fail_limit(reading *r, size_t at, const char *format, int limit) {
    char error[sizeof r->document->error];
    snprintf(error, sizeof error, format, limit);
    return fail(r, at, CAIRN_CAPACITY, error);
}

// Where what expat reports begins, or where it failed.
static size_t current_place(const reading *r) {
    const XML_Index at = XML_GetCurrentByteIndex(r->expat);
    return at < 0 ? 0 : (size_t)at;
}

// Room for one more element of an array.
static bool grow(reading *r, void **array, uint32_t count, uint32_t *capacity, size_t size) {
    if (count < *capacity) {
        return true;
    }
    const uint32_t larger = *capacity == 0 ? 64 : 2 * *capacity;
    void *moved = realloc(*array, larger * size);
    if (moved == NULL) {
        return fail(r, 0, CAIRN_OUT_OF_MEMORY, "out of memory");
    }
    *array = moved;
    *capacity = larger;
    return true;
}

// Each byte of the text becomes at most two of UTF-8, and what stands around a name or a value has
// room for the zero byte.
static const char *keep(cairn_xml_document *d, const char *string) {
    const size_t size = strlen(string) + 1;
    CAIRN_ASSERT(size <= 2 * d->size - d->strings_size);
    char *kept = d->strings + d->strings_size;
    memcpy(kept, string, size);
    d->strings_size += size;
    return kept;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Where the next attribute of an element begins, behind its name or another attribute's value.
// expat found the element well-formed, but tells no places of attributes.
static size_t next_attribute(const char *text, size_t at) {
    while (!is_blank(text[at])) {
        at += 1;
    }
    while (is_blank(text[at])) {
        at += 1;
    }
    return at;
}

static size_t behind_value(const char *text, size_t at) {
    while (text[at] != '"' && text[at] != '\'') {
        at += 1;
    }
    const char quote = text[at];
    do {
        at += 1;
    } while (text[at] != quote);
    return at + 1;
}

static bool add_attributes(reading *r, uint32_t node, const XML_Char **pairs) {
    cairn_xml_document *d = r->document;
    size_t at = d->nodes[node].at;
    for (; *pairs != NULL; pairs += 2) {
        at = next_attribute(d->source, at);
        if (d->nodes[node].attribute_count >= CAIRN_XML_NODE_ATTRIBUTES_MAX) {
            return fail_limit(r, at, "more than %d attributes", CAIRN_XML_NODE_ATTRIBUTES_MAX);
        }
        if (d->attribute_count >= CAIRN_XML_ATTRIBUTES_MAX) {
            return fail_limit(r, at, "more than %d attributes", CAIRN_XML_ATTRIBUTES_MAX);
        }
        if (strlen(pairs[0]) > CAIRN_XML_NAME_SIZE_MAX) {
            return fail_limit(r, at, "a name has more than %d characters", CAIRN_XML_NAME_SIZE_MAX);
        }
        if (!grow(r, (void **)&d->attributes, d->attribute_count, &d->attribute_capacity,
                sizeof *d->attributes)) {
            return false;
        }
        d->attributes[d->attribute_count++] =
            (cairn_xml_attribute){.name = keep(d, pairs[0]), .value = keep(d, pairs[1]), .at = at};
        d->nodes[node].attribute_count += 1;
        at = behind_value(d->source, at);
    }
    return true;
}

static bool check_node(reading *r, const char *name, size_t at) {
    if (r->document->node_count >= CAIRN_XML_NODES_MAX) {
        return fail_limit(r, at, "more than %d elements", CAIRN_XML_NODES_MAX);
    }
    if (r->depth >= CAIRN_XML_DEPTH_MAX) {
        return fail_limit(r, at, "elements are nested deeper than %d", CAIRN_XML_DEPTH_MAX);
    }
    return strlen(name) <= CAIRN_XML_NAME_SIZE_MAX ||
           fail_limit(r, at, "a name has more than %d characters", CAIRN_XML_NAME_SIZE_MAX);
}

static void XMLCALL start_element(void *user, const XML_Char *name, const XML_Char **pairs) {
    reading *r = user;
    cairn_xml_document *d = r->document;
    const size_t at = current_place(r);
    if (r->status != CAIRN_OK || !check_node(r, name, at) ||
        !grow(r, (void **)&d->nodes, d->node_count, &d->node_capacity, sizeof *d->nodes)) {
        return;
    }
    const uint32_t node = d->node_count++;
    d->nodes[node] = (cairn_xml_node){
        .name = keep(d, name), .at = at, .parent = r->open, .first_attribute = d->attribute_count};
    if (r->open != CAIRN_XML_NONE) {
        cairn_xml_node *parent = &d->nodes[r->open];
        if (parent->child == 0) {
            parent->child = node;
        } else {
            d->nodes[parent->last].next = node;
        }
        parent->last = node;
    }
    r->open = node;
    r->depth += 1;
    (void)add_attributes(r, node, pairs);
}

static void XMLCALL end_element(void *user, const XML_Char *name) {
    reading *r = user;
    (void)name;
    if (r->status == CAIRN_OK) {
        r->open = r->document->nodes[r->open].parent;
        r->depth -= 1;
    }
}

static void XMLCALL start_document_type(
    void *user, const XML_Char *name, const XML_Char *system, const XML_Char *public, int inside) {
    reading *r = user;
    (void)name;
    (void)system;
    (void)public;
    (void)inside;
    // expat has come to what is declared inside, if anything is.
    size_t at = current_place(r);
    while (at > 0 && r->document->source[at] != '<') {
        at -= 1;
    }
    (void)fail(r, at, CAIRN_MALFORMED, "a document type is refused, as are entities of its own");
}

static void read_text(reading *r, const char *text, size_t size) {
    XML_SetUserData(r->expat, r);
    XML_SetElementHandler(r->expat, start_element, end_element);
    XML_SetStartDoctypeDeclHandler(r->expat, start_document_type);
    if (XML_Parse(r->expat, text, (int)size, XML_TRUE) != XML_STATUS_OK) {
        const enum XML_Error error = XML_GetErrorCode(r->expat);
        (void)fail(r, current_place(r),
            error == XML_ERROR_NO_MEMORY ? CAIRN_OUT_OF_MEMORY : CAIRN_MALFORMED,
            XML_ErrorString(error));
    }
}

cairn_status cairn_xml_document_parse(cairn_xml_document *document, const char *text, size_t size) {
    CAIRN_ASSERT(document != NULL && text != NULL);
    *document = (cairn_xml_document){.source = text, .size = size};
    reading r = {.document = document, .open = CAIRN_XML_NONE};
    if (size > CAIRN_XML_SIZE_MAX) {
        (void)fail_limit(&r, 0, "more than %d bytes", CAIRN_XML_SIZE_MAX);
        return r.status;
    }
    const char *zero = size == 0 ? NULL : memchr(text, '\0', size);
    if (zero != NULL) { // as UTF-16 has, in which places are not found as above
        (void)fail(&r, (size_t)(zero - text), CAIRN_MALFORMED, "a zero byte is not in UTF-8");
        return r.status;
    }
    document->strings = malloc(2 * size + 1);
    r.expat = XML_ParserCreate(NULL);
    if (document->strings == NULL || r.expat == NULL) {
        (void)fail(&r, 0, CAIRN_OUT_OF_MEMORY, "out of memory");
    } else {
        read_text(&r, text, size);
    }
    XML_ParserFree(r.expat);
    return r.status;
}

void cairn_xml_document_destroy(cairn_xml_document *document) {
    free(document->strings);
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
