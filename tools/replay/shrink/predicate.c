// SPDX-License-Identifier: MIT
#include "tools/replay/shrink/predicate.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "tools/replay/shrink/quantity.h"

// Nested brackets and signs; a text of any length cannot exhaust the stack.
#define DEPTH_MAX 64
#define TOKEN_SIZE 32

typedef struct parser {
    const char *text, *at; // `at`: behind the token
    const char *begin;     // of the token
    char token[TOKEN_SIZE];
    double number; // of a token that begins with a digit or a point
    uint32_t depth;
    cairn_predicate *out;
    char *error; // "" while all is well
} parser;

static const char *const names[CAIRN_PREDICATE_OPERATOR_COUNT] = {
    [CAIRN_PREDICATE_OR] = "or",
    [CAIRN_PREDICATE_AND] = "and",
    [CAIRN_PREDICATE_NOT] = "not",
    [CAIRN_PREDICATE_LESS] = "<",
    [CAIRN_PREDICATE_LESS_EQUAL] = "<=",
    [CAIRN_PREDICATE_GREATER] = ">",
    [CAIRN_PREDICATE_GREATER_EQUAL] = ">=",
    [CAIRN_PREDICATE_EQUAL] = "==",
    [CAIRN_PREDICATE_UNEQUAL] = "!=",
    [CAIRN_PREDICATE_ADD] = "+",
    [CAIRN_PREDICATE_SUBTRACT] = "-",
    [CAIRN_PREDICATE_MULTIPLY] = "*",
    [CAIRN_PREDICATE_DIVIDE] = "/",
};

// ------------------------------------------------------------------------------------- parsing

// Keeps the first error: what follows one is no news.
static uint32_t refuse(parser *p, const char *format, ...) {
    if (p->error[0] == '\0') {
        const int size = snprintf(p->error, CAIRN_PREDICATE_ERROR_SIZE,
            "column %u: ", (unsigned)(p->begin - p->text) % 100000u + 1);
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(p->error + size, CAIRN_PREDICATE_ERROR_SIZE - (size_t)size, format, arguments);
        va_end(arguments);
    }
    return 0;
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

// "" at the end.
static void next(parser *p) {
    while (isspace((unsigned char)*p->at)) {
        p->at++;
    }
    p->begin = p->at;
    const char c = *p->at;
    if (isdigit((unsigned char)c) || c == '.') {
        char *end;
        p->number = strtod(p->at, &end);
        p->at = end == p->at ? p->at + 1 : end;
        if (end == p->begin || is_word(*p->at) || p->number > DBL_MAX) {
            refuse(p, "a number is expected here");
        }
    } else if (is_word(c)) {
        while (is_word(*p->at)) {
            p->at++;
        }
    } else if (c != '\0') {
        const bool two = strchr("<>=!", c) != NULL && p->at[1] == '=';
        p->at += two ? 2 : 1;
    }
    const size_t size = (size_t)(p->at - p->begin);
    const size_t kept = size < TOKEN_SIZE - 1 ? size : TOKEN_SIZE - 1;
    memcpy(p->token, p->begin, kept);
    p->token[kept] = '\0';
}

static bool is(const parser *p, const char *token) {
    return strcmp(p->token, token) == 0;
}

static bool take(parser *p, const char *token) {
    const bool same = is(p, token);
    if (same) {
        next(p);
    }
    return same;
}

static uint32_t add(parser *p, cairn_predicate_node node) {
    if (p->out->node_count == CAIRN_PREDICATE_NODES_MAX) {
        return refuse(p, "it is too long: it has more than %d parts", CAIRN_PREDICATE_NODES_MAX);
    }
    p->out->nodes[p->out->node_count] = node;
    return p->out->node_count++;
}

static uint32_t binary(parser *p, cairn_predicate_operator op, uint32_t a, uint32_t b) {
    return add(p, (cairn_predicate_node){.op = op, .a = a, .b = b});
}

static uint32_t parse_quantity(parser *p, cairn_predicate_node node) {
    const bool of_body = node.op != CAIRN_PREDICATE_WORLD;
    const uint32_t row = cairn_quantity_find(p->token, of_body);
    if (row == CAIRN_QUANTITY_NONE) {
        char known[160];
        return refuse(p, "'%s' is not known; %s has %s", p->token, of_body ? "a body" : "a world",
            cairn_quantity_names(of_body, known, sizeof known));
    }
    node.quantity = row;
    next(p);
    return add(p, node);
}

// After the word "body".
static uint32_t parse_body(parser *p) {
    if (!isdigit((unsigned char)p->token[0]) || p->number < 1 || p->number > UINT32_MAX ||
        floor(p->number) < p->number) {
        return refuse(p, "the id of a body is expected here, as in: body 17 y < 0");
    }
    const cairn_body_id id = (cairn_body_id)p->number;
    uint32_t at = 0;
    while (at < p->out->body_count && p->out->bodies[at] != id) {
        at++;
    }
    if (at == CAIRN_PREDICATE_BODIES_MAX) {
        return refuse(p, "it names more than %d bodies", CAIRN_PREDICATE_BODIES_MAX);
    }
    p->out->bodies[at] = id;
    p->out->body_count += at == p->out->body_count ? 1 : 0;
    next(p);
    return parse_quantity(p, (cairn_predicate_node){.op = CAIRN_PREDICATE_BODY, .body = at});
}

static uint32_t parse_or(parser *p);

static uint32_t parse_value(parser *p) {
    if (take(p, "(")) {
        const uint32_t inside = parse_or(p);
        return take(p, ")") ? inside : refuse(p, "a ')' is expected here");
    }
    if (take(p, "body")) {
        return parse_body(p);
    }
    if (take(p, "any")) {
        p->out->any = true;
        return parse_quantity(p, (cairn_predicate_node){.op = CAIRN_PREDICATE_ANY});
    }
    if (isdigit((unsigned char)p->token[0]) || p->token[0] == '.') {
        const double number = p->number;
        next(p);
        return add(p, (cairn_predicate_node){.op = CAIRN_PREDICATE_NUMBER, .number = number});
    }
    if (!is_word(p->token[0])) {
        return refuse(p, "a number or a quantity is expected here");
    }
    return parse_quantity(p, (cairn_predicate_node){.op = CAIRN_PREDICATE_WORLD});
}

static uint32_t parse_sign(parser *p) {
    if (p->depth == DEPTH_MAX) {
        return refuse(p, "it is nested deeper than %d", DEPTH_MAX);
    }
    p->depth++;
    const uint32_t out =
        take(p, "-") ? binary(p, CAIRN_PREDICATE_NEGATE, parse_sign(p), 0) : parse_value(p);
    p->depth--;
    return out;
}

// Operators of one level, from the left.
static uint32_t parse_level(parser *p, cairn_predicate_operator first,
    cairn_predicate_operator last, uint32_t (*below)(parser *p)) {
    uint32_t left = below(p);
    for (uint32_t i = first; i <= (uint32_t)last && p->error[0] == '\0'; ++i) {
        if (take(p, names[i])) {
            left = binary(p, (cairn_predicate_operator)i, left, below(p));
            i = (uint32_t)first - 1;
        }
    }
    return left;
}

static uint32_t parse_product(parser *p) {
    return parse_level(p, CAIRN_PREDICATE_MULTIPLY, CAIRN_PREDICATE_DIVIDE, parse_sign);
}

static uint32_t parse_sum(parser *p) {
    return parse_level(p, CAIRN_PREDICATE_ADD, CAIRN_PREDICATE_SUBTRACT, parse_product);
}

// At most one: "1 < x < 2" would mean something else than it says.
static uint32_t parse_comparison(parser *p) {
    const uint32_t left = parse_sum(p);
    for (uint32_t i = CAIRN_PREDICATE_LESS; i <= CAIRN_PREDICATE_UNEQUAL; ++i) {
        if (take(p, names[i])) {
            return binary(p, (cairn_predicate_operator)i, left, parse_sum(p));
        }
    }
    return left;
}

static uint32_t parse_not(parser *p) {
    if (p->depth == DEPTH_MAX) {
        return refuse(p, "it is nested deeper than %d", DEPTH_MAX);
    }
    p->depth++;
    const uint32_t out =
        take(p, "not") ? binary(p, CAIRN_PREDICATE_NOT, parse_not(p), 0) : parse_comparison(p);
    p->depth--;
    return out;
}

static uint32_t parse_and(parser *p) {
    return parse_level(p, CAIRN_PREDICATE_AND, CAIRN_PREDICATE_AND, parse_not);
}

static uint32_t parse_or(parser *p) {
    return parse_level(p, CAIRN_PREDICATE_OR, CAIRN_PREDICATE_OR, parse_and);
}

bool cairn_predicate_parse(
    const char *text, cairn_predicate *out, char error[CAIRN_PREDICATE_ERROR_SIZE]) {
    *out = (cairn_predicate){.node_count = 0};
    error[0] = '\0';
    parser p = {.text = text, .at = text, .begin = text, .out = out, .error = error};
    next(&p);
    (void)parse_or(&p);
    if (p.token[0] != '\0') {
        refuse(&p, "'%s' is not expected here", p.token);
    }
    if (error[0] != '\0') {
        *out = (cairn_predicate){.node_count = 0};
    }
    return error[0] == '\0';
}

// ---------------------------------------------------------------------------------- evaluation

typedef struct evaluation {
    const cairn_predicate *predicate;
    const cairn_world *world;
    cairn_body_state bodies[CAIRN_PREDICATE_BODIES_MAX];
    cairn_body_state tried; // of `any`
} evaluation;

static double compute(cairn_predicate_operator op, double a, double b) {
    switch (op) {
    case CAIRN_PREDICATE_OR:
        return a != 0 || b != 0;
    case CAIRN_PREDICATE_AND:
        return a != 0 && b != 0;
    case CAIRN_PREDICATE_NOT:
        return a == 0;
    case CAIRN_PREDICATE_LESS:
        return a < b;
    case CAIRN_PREDICATE_LESS_EQUAL:
        return a <= b;
    case CAIRN_PREDICATE_GREATER:
        return a > b;
    case CAIRN_PREDICATE_GREATER_EQUAL:
        return a >= b;
    case CAIRN_PREDICATE_EQUAL:
        return a == b;
    case CAIRN_PREDICATE_UNEQUAL:
        return a != b;
    case CAIRN_PREDICATE_ADD:
        return a + b;
    case CAIRN_PREDICATE_SUBTRACT:
        return a - b;
    case CAIRN_PREDICATE_MULTIPLY:
        return a * b;
    case CAIRN_PREDICATE_DIVIDE:
        return a / b;
    default:
        CAIRN_ASSERT(op == CAIRN_PREDICATE_NEGATE);
        return -a;
    }
}

// Nodes stand behind their parts, so one pass over them computes all.
static bool evaluate(const evaluation *e) {
    double values[CAIRN_PREDICATE_NODES_MAX];
    const cairn_predicate *p = e->predicate;
    for (uint32_t i = 0; i < p->node_count; ++i) {
        const cairn_predicate_node *node = &p->nodes[i];
        if (node->op == CAIRN_PREDICATE_NUMBER) {
            values[i] = node->number;
        } else if (node->op == CAIRN_PREDICATE_WORLD) {
            values[i] = cairn_quantity_of_world(node->quantity, e->world, p->tick_first);
        } else if (node->op == CAIRN_PREDICATE_BODY) {
            values[i] = cairn_quantity_of_body(node->quantity, e->world, &e->bodies[node->body]);
        } else if (node->op == CAIRN_PREDICATE_ANY) {
            values[i] = cairn_quantity_of_body(node->quantity, e->world, &e->tried);
        } else {
            values[i] = compute(node->op, values[node->a], values[node->b]);
        }
    }
    return p->node_count > 0 && values[p->node_count - 1] != 0;
}

bool cairn_predicate_holds(
    const cairn_predicate *predicate, const cairn_world *world, cairn_body_id *which) {
    evaluation e = {.predicate = predicate, .world = world};
    if (which != NULL) {
        *which = CAIRN_ID_NULL;
    }
    for (uint32_t i = 0; i < predicate->body_count; ++i) {
        if (cairn_body_read(world, predicate->bodies[i], &e.bodies[i]) != CAIRN_OK) {
            return false;
        }
    }
    if (!predicate->any) {
        return evaluate(&e);
    }
    const uint32_t count = cairn_world_bodies(world, NULL, 0);
    cairn_body_state *all = calloc(count + 1, sizeof *all);
    CAIRN_ASSERT(all != NULL);
    (void)cairn_world_bodies(world, all, count);
    bool holds = false;
    for (uint32_t i = 0; i < count && !holds; ++i) {
        e.tried = all[i];
        holds = all[i].kind != CAIRN_BODY_STATIC && evaluate(&e);
        if (holds && which != NULL) {
            *which = all[i].id;
        }
    }
    free(all);
    return holds;
}

// -------------------------------------------------------------------------------------- as C

static void write_node(const cairn_predicate *p, uint32_t at, FILE *out) {
    const cairn_predicate_node *node = &p->nodes[at];
    switch (node->op) {
    case CAIRN_PREDICATE_NUMBER:
        fprintf(out, "%.17g", node->number);
        return;
    case CAIRN_PREDICATE_WORLD:
        cairn_quantity_write_c(node->quantity, "", p->tick_first, out);
        return;
    case CAIRN_PREDICATE_BODY: {
        char name[16];
        snprintf(name, sizeof name, "body_%u", p->bodies[node->body]);
        cairn_quantity_write_c(node->quantity, name, 0, out);
        return;
    }
    case CAIRN_PREDICATE_ANY:
        cairn_quantity_write_c(node->quantity, "any", 0, out);
        return;
    case CAIRN_PREDICATE_NOT:
    case CAIRN_PREDICATE_NEGATE:
        fprintf(out, node->op == CAIRN_PREDICATE_NOT ? "!(" : "-(");
        write_node(p, node->a, out);
        fputc(')', out);
        return;
    default:
        fputc('(', out);
        write_node(p, node->a, out);
        fprintf(out, " %s ",
            node->op == CAIRN_PREDICATE_OR    ? "||"
            : node->op == CAIRN_PREDICATE_AND ? "&&"
                                              : names[node->op]);
        write_node(p, node->b, out);
        fputc(')', out);
    }
}

void cairn_predicate_write_c(const cairn_predicate *p, FILE *out) {
    bool used[CAIRN_QUANTITY_MAX] = {false};
    for (uint32_t i = 0; i < p->node_count; ++i) {
        const cairn_predicate_operator op = p->nodes[i].op;
        if (op >= CAIRN_PREDICATE_WORLD && op <= CAIRN_PREDICATE_ANY) {
            used[p->nodes[i].quantity] = true;
        }
    }
    cairn_quantity_write_helpers(used, out);
    fputs("// The failure.\nstatic bool fails(const cairn_world *world) {\n", out);
    for (uint32_t i = 0; i < p->body_count; ++i) {
        fprintf(out,
            "    cairn_body_state body_%u;\n"
            "    if (cairn_body_read(world, %uu, &body_%u) != CAIRN_OK) {\n"
            "        return false;\n    }\n",
            p->bodies[i], p->bodies[i], p->bodies[i]);
    }
    if (p->any) {
        fputs("    static cairn_body_state bodies[CAIRN_BODIES_MAX];\n"
              "    const uint32_t count = cairn_world_bodies(world, bodies, CAIRN_BODIES_MAX);\n"
              "    for (uint32_t i = 0; i < count; ++i) {\n"
              "        const cairn_body_state any = bodies[i];\n"
              "        if (any.kind != CAIRN_BODY_STATIC && ",
            out);
        write_node(p, p->node_count - 1, out);
        fputs(") {\n            return true;\n        }\n    }\n    return false;\n}\n\n", out);
    } else {
        fputs("    return ", out);
        write_node(p, p->node_count - 1, out);
        fputs(";\n}\n\n", out);
    }
}
