// SPDX-License-Identifier: MIT
#include "tools/ctl/wording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/control.h"

// What each argument is: c count, t tick, T tick that is given, s seed, n name, r room, b body,
// u user word, f number, p file. Those behind ? may be left out.
typedef struct grammar {
    uint32_t verb;
    const char *arguments;
    const char *usage;
} grammar;

static const grammar grammars[] = {
    {CAIRN_CONTROL_FEATURES, "", ""},
    {CAIRN_CONTROL_ROOMS, "", ""},
    {CAIRN_CONTROL_STATE, "", ""},
    {CAIRN_CONTROL_CLIENTS, "", ""},
    {CAIRN_CONTROL_PAUSE, "", ""},
    {CAIRN_CONTROL_RESUME, "", ""},
    {CAIRN_CONTROL_STEP, "c", "TICKS"},
    {CAIRN_CONTROL_RUN_UNTIL, "t", "TICK"},
    {CAIRN_CONTROL_RATE, "c", "THOUSANDTHS (0: as fast as it goes)"},
    {CAIRN_CONTROL_RESET, "?s", "[SEED]"},
    {CAIRN_CONTROL_SAVE, "n", "NAME"},
    {CAIRN_CONTROL_LOAD, "n", "NAME"},
    {CAIRN_CONTROL_SAVES, "", ""},
    {CAIRN_CONTROL_SAVE_READ, "np", "NAME FILE"},
    {CAIRN_CONTROL_SAVE_WRITE, "np", "NAME FILE"},
    {CAIRN_CONTROL_SAVE_DELETE, "n", "NAME"},
    {CAIRN_CONTROL_SEEK, "t", "TICK"},
    {CAIRN_CONTROL_FORK, "n?T", "NEW-ROOM [TICK]"},
    {CAIRN_CONTROL_ROOM_CREATE, "rn?s", "NEW-ROOM SCENE [SEED]"},
    {CAIRN_CONTROL_ROOM_DESTROY, "r", "ROOM"},
    {CAIRN_CONTROL_SPAWN_BOX, "ffffff?u", "X Y Z HALF-X HALF-Y HALF-Z [USER]"},
    {CAIRN_CONTROL_SPAWN_SPHERE, "ffff?u", "X Y Z RADIUS [USER]"},
    {CAIRN_CONTROL_DELETE, "b", "BODY"},
    {CAIRN_CONTROL_SET_POSITION, "bfff", "BODY X Y Z"},
    {CAIRN_CONTROL_SET_VELOCITY, "bffffff", "BODY VX VY VZ WX WY WZ"},
    {CAIRN_CONTROL_IMPULSE, "bfff", "BODY X Y Z"},
    {CAIRN_CONTROL_GET, "b", "BODY"},
    {CAIRN_CONTROL_BODIES, "?c", "[FIRST]"},
    {CAIRN_CONTROL_RAY, "ffffff?b", "X Y Z TO-X TO-Y TO-Z [IGNORED-BODY]"},
    {CAIRN_CONTROL_OVERLAP, "ffffff", "X Y Z HALF-X HALF-Y HALF-Z (RADIUS 0 0: a sphere)"},
    {CAIRN_CONTROL_HASH, "", ""},
    {CAIRN_CONTROL_DIFF, "n", "OTHER-ROOM"},
    {CAIRN_CONTROL_FAULTS, "l?ffffs",
        "CLIENT [LOSS DUPLICATE DELAY-MS JITTER-MS [SEED]] (none: no more)"},
};
#define GRAMMAR_COUNT (sizeof grammars / sizeof *grammars)

static bool refuse(char *error, const grammar *g, const char *what, const char *word) {
    snprintf(error, CAIRN_CTL_ERROR_SIZE, "%s %.60s; use: %s %s", what, word,
        cairn_control_verb_text(g->verb), g->usage);
    return false;
}

static bool whole(const char *word, uint64_t most, uint64_t *out) {
    char *end;
    errno = 0;
    *out = strtoull(word, &end, 10);
    return word[0] >= '0' && word[0] <= '9' && *end == '\0' && errno == 0 && *out <= most;
}

static bool real(const char *word, float *out) {
    char *end;
    *out = strtof(word, &end);
    return end != word && *end == '\0' && *out - *out == 0.0f;
}

static bool take(cairn_ctl_request *out, char kind, const char *word) {
    cairn_client_request *ask = &out->ask;
    uint64_t number = 0;
    switch (kind) {
    case 'n':
        ask->name = word;
        return true;
    case 'r':
        ask->room = word;
        return true;
    case 'p':
        out->file = word;
        return true;
    case 'f':
        return real(word, &out->numbers[ask->number_count++]);
    case 's':
        ask->mask |= CAIRN_CONTROL_MASK_GIVEN;
        return whole(word, UINT64_MAX, &ask->seed);
    case 'T':
        ask->mask |= CAIRN_CONTROL_MASK_GIVEN;
        return whole(word, UINT64_MAX, &ask->tick);
    case 't':
    case 'l':
        return whole(word, UINT64_MAX, &ask->tick);
    default:
        break;
    }
    const bool good = whole(word, UINT32_MAX, &number);
    *(kind == 'c' ? &ask->count : &ask->body) = (uint32_t)number;
    return good;
}

static bool take_all(const grammar *g, const char *const *words, size_t word_count,
    cairn_ctl_request *out, char *error) {
    size_t taken = 1;
    bool optional = false;
    for (const char *at = g->arguments; *at != '\0'; at++) {
        if (*at == '?') {
            optional = true;
        } else if (taken == word_count) {
            return optional || refuse(error, g, "an argument is missing behind", words[taken - 1]);
        } else if (!take(out, *at, words[taken++])) {
            return refuse(error, g, "cannot be understood:", words[taken - 1]);
        }
    }
    return taken == word_count || refuse(error, g, "not expected:", words[taken]);
}

bool cairn_ctl_parse(const char *const *words, size_t word_count, cairn_ctl_request *out,
    char error[CAIRN_CTL_ERROR_SIZE]) {
    *out = (cairn_ctl_request){0};
    const uint32_t verb = cairn_client_verb_find(words[0]);
    for (size_t i = 0; i < GRAMMAR_COUNT; i++) {
        if (grammars[i].verb == verb) {
            out->ask.verb = verb;
            return take_all(&grammars[i], words, word_count, out, error);
        }
    }
    snprintf(error, CAIRN_CTL_ERROR_SIZE, "%.60s: no such verb, see --help", words[0]);
    return false;
}

const cairn_flags_verb *cairn_ctl_verbs(size_t *count) {
    static cairn_flags_verb verbs[GRAMMAR_COUNT];
    for (size_t i = 0; i < GRAMMAR_COUNT; i++) {
        verbs[i] = (cairn_flags_verb){.name = cairn_control_verb_text(grammars[i].verb),
            .arguments = grammars[i].usage,
            .help = ""};
    }
    *count = GRAMMAR_COUNT;
    return verbs;
}

// Texts of the protocol are printable ASCII; lines of facts have newlines beside.
static void print_quoted(const char *text, size_t size) {
    putchar('"');
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"' || text[i] == '\\') {
            putchar('\\');
        }
        if (text[i] >= ' ' && text[i] <= '~') {
            putchar(text[i]);
        } else {
            printf("\\u%04x", (unsigned char)text[i]);
        }
    }
    putchar('"');
}

// Whether the bytes are lines of facts, not a piece of a save.
static bool is_text(const cairn_client_reply *reply) {
    return reply->byte_count > 0 && reply->verb != CAIRN_CONTROL_SAVE_READ;
}

static void print_facts(const cairn_client_reply *reply) {
    const char *at = (const char *)reply->bytes;
    const char *end = at + reply->byte_count;
    printf(",\"facts\":[");
    for (bool first = true; at < end; first = false) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline == NULL ? end : newline;
        const char *blank = memchr(at, ' ', (size_t)(stop - at));
        const char *value = blank == NULL ? stop : blank;
        printf(first ? "[" : ",[");
        print_quoted(at, (size_t)(value - at));
        putchar(',');
        value += value < stop ? 1 : 0;
        print_quoted(value, (size_t)(stop - value));
        putchar(']');
        at = stop + 1;
    }
    putchar(']');
}

static void print_json(const cairn_client_reply *r) {
    const char *verb = cairn_client_verb_text(r->verb);
    printf("{\"ok\":%s,\"verb\":\"%s\",\"room\":", r->refusal == 0 ? "true" : "false",
        verb == NULL ? "" : verb);
    print_quoted(r->room, strlen(r->room));
    printf(",\"tick\":%" PRIu64 ",\"root\":\"%016" PRIx64 "%016" PRIx64 "\",\"count\":%" PRIu32,
        r->tick, r->root_hi, r->root_lo, r->count);
    if (r->refusal != 0) {
        printf(",\"refusal\":\"%s\",\"words\":", cairn_client_refusal_text(r->refusal));
        print_quoted(r->words, strlen(r->words));
    }
    for (uint32_t i = 0; i < r->id_count; i++) {
        printf("%s%" PRIu32, i == 0 ? ",\"ids\":[" : ",", r->ids[i]);
    }
    printf("%s", r->id_count > 0 ? "]" : "");
    for (uint32_t i = 0; i < r->number_count; i++) {
        printf("%s%.9g", i == 0 ? ",\"numbers\":[" : ",", (double)r->numbers[i]);
    }
    printf("%s", r->number_count > 0 ? "]" : "");
    if (is_text(r)) {
        print_facts(r);
    }
    printf("}\n");
}

static void print_rows(const cairn_client_reply *r, uint32_t ids, uint32_t numbers) {
    for (uint32_t row = 0; row * ids < r->id_count; row++) {
        for (uint32_t i = 0; i < ids && row * ids + i < r->id_count; i++) {
            printf("%s%" PRIu32, i == 0 ? "" : " ", r->ids[row * ids + i]);
        }
        for (uint32_t i = 0; i < numbers && row * numbers + i < r->number_count; i++) {
            printf(" %.9g", (double)r->numbers[row * numbers + i]);
        }
        putchar('\n');
    }
}

static void print_text(const cairn_client_reply *r) {
    if (r->refusal != 0) {
        fprintf(stderr, "cairn-ctl: %s: %s\n", cairn_client_refusal_text(r->refusal), r->words);
        return;
    }
    printf("ok room=%s tick=%" PRIu64 " root=%016" PRIx64 "%016" PRIx64 " count=%" PRIu32 "\n",
        r->room, r->tick, r->root_hi, r->root_lo, r->count);
    if (is_text(r)) {
        fwrite(r->bytes, 1, r->byte_count, stdout);
    }
    const bool bodies = r->verb == CAIRN_CONTROL_GET || r->verb == CAIRN_CONTROL_BODIES;
    const bool pairs = r->verb == CAIRN_CONTROL_RAY || r->verb == CAIRN_CONTROL_OVERLAP;
    print_rows(r, bodies ? 4 : pairs ? 2 : 1, bodies ? 13 : r->number_count);
}

void cairn_ctl_reply_print(const cairn_client_reply *reply, bool json) {
    if (json) {
        print_json(reply);
    } else {
        print_text(reply);
    }
    fflush(stdout);
}
