// SPDX-License-Identifier: MIT
// Commands as TICKS and recordings carry them: which kinds are allowed in which slots, with which
// values (docs/PROTOCOL.md, the table of commands).

#include "tests/kit/test.h"

#include <math.h>

#include "schema/message_check.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static cairn_decode_refusal check(const cairn_command *commands, uint32_t count) {
    const cairn_wire_tick tick = {.tick = 7, .command_count = count};
    const cairn_chunk chunk = {.kind = CAIRN_CHUNK_TICKS,
        .ticks = {.ticks = &tick, .tick_count = 1, .commands = commands, .command_count = count}};
    return cairn_chunk_check(&chunk);
}

#define OPERATOR 256
#define NO(refusal) CAIRN_DECODE_##refusal

TEST("each kind of command has its slots and ranges") {
    static const struct {
        cairn_command command;
        cairn_decode_refusal expected;
    } rows[] = {{{.kind = 0, .slot = 0}, NO(OUT_OF_RANGE)}, {{.kind = 1, .slot = 0}, NO(OK)},
        {{.kind = 3, .slot = 255, .move = {1, -1, 1}}, NO(OK)},
        {{.kind = 3, .slot = 63, .move = {1.01f, 0, 0}}, NO(OUT_OF_RANGE)},
        {{.kind = 1, .slot = OPERATOR}, NO(OUT_OF_RANGE)},
        {{.kind = 3, .slot = OPERATOR}, NO(OUT_OF_RANGE)},
        {{.kind = 6, .slot = 63}, NO(OUT_OF_RANGE)}, {{.kind = 6, .slot = 257}, NO(OUT_OF_RANGE)},
        {{.kind = 10, .slot = OPERATOR}, NO(OUT_OF_RANGE)},
        {{.kind = 4, .slot = OPERATOR, .move = {1e5f, 0, 0}, .aim = {1e-3f, 1e4f, 1}}, NO(OK)},
        {{.kind = 4, .slot = OPERATOR, .move = {1.1e5f, 0, 0}, .aim = {1, 1, 1}}, NO(OUT_OF_RANGE)},
        {{.kind = 4, .slot = OPERATOR, .aim = {1, 0, 1}}, NO(OUT_OF_RANGE)},
        {{.kind = 4, .slot = OPERATOR, .aim = {1, 1, 1.1e4f}}, NO(OUT_OF_RANGE)},
        {{.kind = 5, .slot = OPERATOR, .aim = {0.5f, 0, 0}}, NO(OK)},
        {{.kind = 5, .slot = OPERATOR, .aim = {0.5f, 0, 0.5f}}, NO(OUT_OF_RANGE)},
        {{.kind = 5, .slot = OPERATOR, .aim = {-0.5f, 0, 0}}, NO(OUT_OF_RANGE)},
        {{.kind = 6, .slot = OPERATOR, .buttons = UINT32_MAX}, NO(OK)},
        {{.kind = 6, .slot = OPERATOR, .move = {0, 1, 0}}, NO(OUT_OF_RANGE)},
        {{.kind = 7, .slot = OPERATOR, .move = {0, -1e5f, 0}}, NO(OK)},
        {{.kind = 7, .slot = OPERATOR, .aim = {0, 1, 0}}, NO(OUT_OF_RANGE)},
        {{.kind = 8, .slot = OPERATOR, .move = {1e4f, 0, 0}, .aim = {0, 0, -1e4f}}, NO(OK)},
        {{.kind = 8, .slot = OPERATOR, .aim = {0, 0, -1.1e4f}}, NO(OUT_OF_RANGE)},
        {{.kind = 9, .slot = OPERATOR, .move = {0, 1e38f, 0}}, NO(OK)},
        {{.kind = 9, .slot = OPERATOR, .move = {0, INFINITY, 0}}, NO(NON_FINITE)},
        {{.kind = 9, .slot = OPERATOR, .aim = {0, 0, NAN}}, NO(NON_FINITE)},
        {{.kind = 9, .slot = OPERATOR, .aim = {1, 0, 0}}, NO(OUT_OF_RANGE)}};
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        const cairn_decode_refusal refusal = check(&rows[i].command, 1);
        if (refusal != rows[i].expected) {
            fail_msg("row %zu: %s", i, cairn_decode_refusal_text(refusal));
        }
    }
}

TEST("the commands of an operator come last, in order of sequence") {
    cairn_command commands[] = {{.kind = 3, .slot = 63, .sequence = 9},
        {.kind = 7, .slot = OPERATOR, .sequence = 1}, {.kind = 6, .slot = OPERATOR, .sequence = 2},
        {.kind = 8, .slot = OPERATOR, .sequence = 2}};
    assert_int_equal(check(commands, 4), NO(OK));
    commands[1].sequence = 3;
    assert_int_equal(check(commands, 4), NO(ORDER));
    commands[1].sequence = 1;
    commands[3].kind = 9;
    commands[2].kind = 9;
    assert_int_equal(check(commands, 4), NO(OK));
    commands[3].kind = 6;
    assert_int_equal(check(commands, 4), NO(ORDER));
    assert_int_equal(check(commands + 1, 1), NO(OK));
    const cairn_command swapped[] = {commands[1], commands[0]};
    assert_int_equal(check(swapped, 2), NO(ORDER));
}
