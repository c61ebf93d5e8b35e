// SPDX-License-Identifier: MIT
#pragma once

// A question about a world, as text: "body 17 y < -1", "any speed > 200 or any disabled". The
// grammar is in docs/REPLAYS.md, "Shrink". It reads bodies and computes; nothing else can be said,
// so that text from anywhere is safe.

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <cairn/sim.h>

#define CAIRN_PREDICATE_NODES_MAX 128
#define CAIRN_PREDICATE_BODIES_MAX 16
#define CAIRN_PREDICATE_ERROR_SIZE 256

typedef enum cairn_predicate_operator {
    CAIRN_PREDICATE_NUMBER = 0,
    CAIRN_PREDICATE_WORLD, // a quantity of the world
    CAIRN_PREDICATE_BODY,  // a quantity of bodies[body]
    CAIRN_PREDICATE_ANY,   // a quantity of the body that is tried
    CAIRN_PREDICATE_OR,    // from here on, the name of each is in predicate.c
    CAIRN_PREDICATE_AND,
    CAIRN_PREDICATE_NOT,
    CAIRN_PREDICATE_LESS,
    CAIRN_PREDICATE_LESS_EQUAL,
    CAIRN_PREDICATE_GREATER,
    CAIRN_PREDICATE_GREATER_EQUAL,
    CAIRN_PREDICATE_EQUAL,
    CAIRN_PREDICATE_UNEQUAL,
    CAIRN_PREDICATE_ADD,
    CAIRN_PREDICATE_SUBTRACT,
    CAIRN_PREDICATE_MULTIPLY,
    CAIRN_PREDICATE_DIVIDE,
    CAIRN_PREDICATE_NEGATE,
    CAIRN_PREDICATE_OPERATOR_COUNT
} cairn_predicate_operator;

typedef struct cairn_predicate_node {
    cairn_predicate_operator op;
    uint32_t a, b; // nodes, both before this one
    double number;
    uint32_t body;     // index into bodies
    uint32_t quantity; // row of the table in predicate.c
} cairn_predicate_node;

typedef struct cairn_predicate {
    cairn_predicate_node nodes[CAIRN_PREDICATE_NODES_MAX]; // the last one is the whole
    uint32_t node_count;                                   // 0: no predicate
    cairn_body_id bodies[CAIRN_PREDICATE_BODIES_MAX];      // those that are named
    uint32_t body_count;
    bool any;            // it is asked of each body that is not static
    uint64_t tick_first; // the tick of a world that says it is 0: a scene begins there
} cairn_predicate;

// False: `error` says what is wrong and where. Bounded in time and memory for any text.
bool cairn_predicate_parse(
    const char *text, cairn_predicate *out, char error[CAIRN_PREDICATE_ERROR_SIZE]);
// Whether it holds. It does not if a body that it names does not exist. `which` (may be NULL)
// receives the body for which `any` held, or null.
bool cairn_predicate_holds(
    const cairn_predicate *predicate, const cairn_world *world, cairn_body_id *which);

// Writes the functions of a C program that ask the same: `static bool fails(const cairn_world *)`.
void cairn_predicate_write_c(const cairn_predicate *predicate, FILE *out);
