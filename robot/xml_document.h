// SPDX-License-Identifier: MIT
#pragma once

// An XML text as a tree in which every element and attribute knows its place. expat reads it, and
// xml_document.c is the only file that includes expat. Text between elements is left out. A
// document type, and so an entity that a file declares, is refused: nothing expands, and nothing is
// read besides the text. Every text ends in bounded time and memory.

#include <stddef.h>
#include <stdint.h>

#include <cairn/status.h>

#define CAIRN_XML_SIZE_MAX (4 * 1024 * 1024)
#define CAIRN_XML_NODES_MAX 65536
#define CAIRN_XML_ATTRIBUTES_MAX 262144
#define CAIRN_XML_NODE_ATTRIBUTES_MAX 64
#define CAIRN_XML_NAME_SIZE_MAX 64
#define CAIRN_XML_DEPTH_MAX 64
#define CAIRN_XML_NONE UINT32_MAX

// Names and values end with a zero byte. They are in UTF-8 and owned by the document.
typedef struct cairn_xml_attribute {
    const char *name;
    const char *value;
    size_t at; // where its name begins in the text
} cairn_xml_attribute;

typedef struct cairn_xml_node {
    const char *name;
    size_t at;       // where the element begins in the text
    uint32_t parent; // CAIRN_XML_NONE: the root
    uint32_t next;   // the next element of the parent; 0: none
    uint32_t child;  // the first one; 0: none
    uint32_t last;   // the last one
    uint32_t first_attribute;
    uint32_t attribute_count;
} cairn_xml_node;

typedef struct cairn_xml_document {
    const char *source; // the text that was parsed, which must outlive the document
    size_t size;
    char *strings; // names and values
    size_t strings_size;
    cairn_xml_node *nodes; // the first is the root
    uint32_t node_count, node_capacity;
    cairn_xml_attribute *attributes;
    uint32_t attribute_count, attribute_capacity;
    size_t at;       // after a failure: where
    char error[128]; // after a failure: one clause
} cairn_xml_document;

// CAIRN_OK, CAIRN_MALFORMED, CAIRN_CAPACITY (too large) or CAIRN_OUT_OF_MEMORY. Pair with destroy
// in any case.
cairn_status cairn_xml_document_parse(cairn_xml_document *document, const char *text, size_t size);
void cairn_xml_document_destroy(cairn_xml_document *document);

// Both count from 1; columns count bytes.
void cairn_xml_document_place(
    const cairn_xml_document *document, size_t at, uint32_t *line, uint32_t *column);
// The attribute of an element; NULL: it has none of this name.
const cairn_xml_attribute *cairn_xml_attribute_find(
    const cairn_xml_document *document, uint32_t node, const char *name);
// The first element `name` among `first` and those that follow it (a `child` or a `next`); 0: none.
uint32_t cairn_xml_find(const cairn_xml_document *document, uint32_t first, const char *name);
