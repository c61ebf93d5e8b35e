// SPDX-License-Identifier: MIT
// Rules of the inbox: which inputs are taken, late, early, repeated or held, and the order of a
// tick's commands.
#include "tests/kit/test.h"

#include <math.h>
#include <string.h>

#include "server/room/inbox.h"

SCOPE_POINTER_ENDS(cairn_inbox, cairn_inbox_destroy)

#define FIRST_TICK 100
#define WINDOW 16
#define HOLD 3

static cairn_inbox *inbox_of(uint32_t slots) {
    const cairn_inbox_config config = {
        .tick = FIRST_TICK, .window_ticks = WINDOW, .slots = slots, .hold_ticks = HOLD};
    cairn_inbox *inbox;
    assert_int_equal(cairn_inbox_create(&config, &inbox), CAIRN_OK);
    return inbox;
}

static cairn_inbox *inbox_of_a_player(void) {
    cairn_inbox *inbox = inbox_of(1);
    cairn_inbox_join(inbox);
    return inbox;
}

static cairn_inbox_verdict take(
    cairn_inbox *inbox, uint32_t slot, uint64_t tick, uint32_t buttons) {
    const cairn_command input = {.sequence = (uint32_t)tick, .buttons = buttons};
    return cairn_inbox_take(inbox, slot, tick, &input);
}

// One letter a command, in order: J, L, or the buttons as a digit.
static const char *gather(cairn_inbox *inbox) {
    static char text[CAIRN_INBOX_COMMANDS_MAX + 1];
    cairn_command commands[CAIRN_INBOX_COMMANDS_MAX];
    uint32_t count = cairn_inbox_gather(inbox, commands);
    for (uint32_t i = 0; i < count; ++i) {
        assert_int_equal(cairn_command_check(&commands[i]), CAIRN_OK);
        text[i] = commands[i].kind == CAIRN_COMMAND_JOIN    ? 'J'
                  : commands[i].kind == CAIRN_COMMAND_LEAVE ? 'L'
                                                            : (char)('0' + commands[i].buttons);
    }
    text[count] = '\0';
    return text;
}

TEST("an input is applied at its tick") {
    SCOPED(cairn_inbox) *inbox = inbox_of_a_player();
    assert_int_equal(take(inbox, 0, FIRST_TICK + 1, 7), CAIRN_INBOX_TAKEN);
    assert_string_equal(gather(inbox), "J");
    assert_string_equal(gather(inbox), "7");
}

TEST("an input outside the window is late or early") {
    static const struct {
        uint64_t tick;
        cairn_inbox_verdict verdict;
    } rows[] = {{FIRST_TICK - 1, CAIRN_INBOX_LATE}, {FIRST_TICK, CAIRN_INBOX_TAKEN},
        {FIRST_TICK + WINDOW - 1, CAIRN_INBOX_TAKEN}, {FIRST_TICK + WINDOW, CAIRN_INBOX_EARLY},
        {UINT64_MAX, CAIRN_INBOX_EARLY}, {0, CAIRN_INBOX_LATE}};
    SCOPED(cairn_inbox) *inbox = inbox_of_a_player();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        assert_int_equal(take(inbox, 0, rows[i].tick, 1), rows[i].verdict);
    }
}

TEST("a copy is repeated, whether the first was taken or late") {
    SCOPED(cairn_inbox) *inbox = inbox_of_a_player();
    assert_int_equal(take(inbox, 0, FIRST_TICK + 2, 1), CAIRN_INBOX_TAKEN);
    assert_int_equal(take(inbox, 0, FIRST_TICK + 2, 1), CAIRN_INBOX_REPEATED);
    assert_int_equal(take(inbox, 0, FIRST_TICK - 2, 1), CAIRN_INBOX_LATE);
    assert_int_equal(take(inbox, 0, FIRST_TICK - 2, 1), CAIRN_INBOX_REPEATED);
    for (int i = 0; i < 5; ++i) {
        gather(inbox);
    }
    assert_int_equal(take(inbox, 0, FIRST_TICK + 2, 1), CAIRN_INBOX_REPEATED);
    assert_int_equal(take(inbox, 0, FIRST_TICK + 3, 1), CAIRN_INBOX_LATE);
}

TEST("an early input is taken if it is sent again within the window") {
    SCOPED(cairn_inbox) *inbox = inbox_of_a_player();
    assert_int_equal(take(inbox, 0, FIRST_TICK + WINDOW, 1), CAIRN_INBOX_EARLY);
    gather(inbox);
    assert_int_equal(take(inbox, 0, FIRST_TICK + WINDOW, 1), CAIRN_INBOX_TAKEN);
}

TEST("an input older than the inbox remembers is not counted as late") {
    SCOPED(cairn_inbox) *inbox = inbox_of_a_player();
    for (int i = 0; i < 2000; ++i) {
        gather(inbox);
    }
    assert_int_equal(take(inbox, 0, FIRST_TICK, 1), CAIRN_INBOX_REPEATED);
    assert_int_equal(take(inbox, 0, FIRST_TICK + 1999, 1), CAIRN_INBOX_LATE);
}

TEST("the first input for a tick counts") {
    SCOPED(cairn_inbox) *inbox = inbox_of_a_player();
    gather(inbox);
    assert_int_equal(take(inbox, 0, FIRST_TICK + 1, 3), CAIRN_INBOX_TAKEN);
    assert_int_equal(take(inbox, 0, FIRST_TICK + 1, 4), CAIRN_INBOX_REPEATED);
    assert_string_equal(gather(inbox), "3");
}

TEST("a missing input repeats the last one, then nothing") {
    SCOPED(cairn_inbox) *inbox = inbox_of_a_player();
    assert_string_equal(gather(inbox), "J");
    assert_string_equal(gather(inbox), "");
    take(inbox, 0, FIRST_TICK + 2, 5);
    assert_string_equal(gather(inbox), "5");
    for (int i = 0; i < HOLD; ++i) {
        assert_string_equal(gather(inbox), "5");
    }
    assert_string_equal(gather(inbox), "");
    take(inbox, 0, FIRST_TICK + 7, 6);
    assert_string_equal(gather(inbox), "6");
}

TEST("a late input changes nothing") {
    SCOPED(cairn_inbox) *inbox = inbox_of_a_player();
    take(inbox, 0, FIRST_TICK, 5);
    assert_string_equal(gather(inbox), "J5");
    gather(inbox);
    assert_int_equal(take(inbox, 0, FIRST_TICK + 1, 9), CAIRN_INBOX_LATE);
    assert_string_equal(gather(inbox), "5");
}

TEST("players get the lowest free slot") {
    SCOPED(cairn_inbox) *inbox = inbox_of(3);
    assert_int_equal(cairn_inbox_join(inbox), 0);
    assert_int_equal(cairn_inbox_join(inbox), 1);
    assert_int_equal(cairn_inbox_join(inbox), 2);
    assert_int_equal(cairn_inbox_join(inbox), CAIRN_SLOTS_MAX);
    assert_int_equal(cairn_inbox_players(inbox), 3);
    assert_string_equal(gather(inbox), "JJJ");
    cairn_inbox_leave(inbox, 1);
    assert_int_equal(cairn_inbox_players(inbox), 2);
}

TEST("a slot is free only after its leave was stepped") {
    SCOPED(cairn_inbox) *inbox = inbox_of_a_player();
    gather(inbox);
    cairn_inbox_leave(inbox, 0);
    assert_int_equal(cairn_inbox_join(inbox), CAIRN_SLOTS_MAX);
    assert_string_equal(gather(inbox), "L");
    assert_int_equal(cairn_inbox_join(inbox), 0);
    assert_string_equal(gather(inbox), "J");
}

TEST("a player that comes back takes its slot, also before its leave was stepped") {
    SCOPED(cairn_inbox) *inbox = inbox_of_a_player();
    gather(inbox);
    assert_false(cairn_inbox_join_at(inbox, 0)); // it is there
    cairn_inbox_leave(inbox, 0);
    assert_true(cairn_inbox_join_at(inbox, 0));
    assert_int_equal(cairn_inbox_players(inbox), 1);
    assert_string_equal(gather(inbox), "L");
    assert_string_equal(gather(inbox), "J");
    cairn_inbox_leave(inbox, 0);
    assert_true(cairn_inbox_join_at(inbox, 0));
    cairn_inbox_leave(inbox, 0); // and leaves again at once
    assert_int_equal(cairn_inbox_players(inbox), 0);
    assert_string_equal(gather(inbox), "L");
    assert_true(cairn_inbox_join_at(inbox, 0));
    assert_string_equal(gather(inbox), "J");
}

TEST("a player that leaves before its first tick joins and leaves in it") {
    SCOPED(cairn_inbox) *inbox = inbox_of_a_player();
    take(inbox, 0, FIRST_TICK, 5);
    cairn_inbox_leave(inbox, 0);
    assert_string_equal(gather(inbox), "JL");
    assert_string_equal(gather(inbox), "");
}

TEST("the next player of a slot inherits nothing") {
    SCOPED(cairn_inbox) *inbox = inbox_of_a_player();
    take(inbox, 0, FIRST_TICK, 5);
    take(inbox, 0, FIRST_TICK + 2, 6);
    assert_string_equal(gather(inbox), "J5");
    cairn_inbox_leave(inbox, 0);
    assert_string_equal(gather(inbox), "L");
    cairn_inbox_join(inbox);
    assert_string_equal(gather(inbox), "J");
    assert_int_equal(take(inbox, 0, FIRST_TICK + 3, 7), CAIRN_INBOX_TAKEN);
    assert_string_equal(gather(inbox), "7");
}

TEST("commands are sorted by slot, whatever the order of arrival") {
    SCOPED(cairn_inbox) *inbox = inbox_of(4);
    for (int i = 0; i < 4; ++i) {
        cairn_inbox_join(inbox);
    }
    gather(inbox);
    take(inbox, 3, FIRST_TICK + 1, 4);
    take(inbox, 0, FIRST_TICK + 1, 1);
    take(inbox, 2, FIRST_TICK + 1, 3);
    take(inbox, 1, FIRST_TICK + 1, 2);
    assert_string_equal(gather(inbox), "1234");
}

TEST("inputs are acknowledged up to the first gap") {
    SCOPED(cairn_inbox) *inbox = inbox_of_a_player();
    assert_int_equal(cairn_inbox_acknowledged(inbox, 0), FIRST_TICK - 1);
    take(inbox, 0, FIRST_TICK, 1);
    take(inbox, 0, FIRST_TICK + 1, 1);
    take(inbox, 0, FIRST_TICK + 3, 1);
    assert_int_equal(cairn_inbox_acknowledged(inbox, 0), FIRST_TICK + 1);
    gather(inbox);
    gather(inbox);
    gather(inbox); // the input of the third tick never came: it is lost now
    assert_int_equal(cairn_inbox_acknowledged(inbox, 0), FIRST_TICK + 3);
}

TEST("an input out of range is refused") {
    static const float bad[] = {NAN, INFINITY, -INFINITY, 1.5f, -1.5f};
    SCOPED(cairn_inbox) *inbox = inbox_of_a_player();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        cairn_command input = {.move = {.x = bad[i]}};
        assert_int_equal(cairn_inbox_take(inbox, 0, FIRST_TICK, &input), CAIRN_INBOX_REFUSED);
    }
    assert_int_equal(take(inbox, 0, FIRST_TICK, 1), CAIRN_INBOX_TAKEN);
}

TEST("an input applies to its sender's slot, whatever slot it claims") {
    SCOPED(cairn_inbox) *inbox = inbox_of(2);
    cairn_inbox_join(inbox);
    cairn_inbox_join(inbox);
    gather(inbox);
    const cairn_command forged = {.kind = CAIRN_COMMAND_LEAVE, .slot = 0, .buttons = 8};
    assert_int_equal(cairn_inbox_take(inbox, 1, FIRST_TICK + 1, &forged), CAIRN_INBOX_TAKEN);
    cairn_command commands[CAIRN_INBOX_COMMANDS_MAX];
    assert_int_equal(cairn_inbox_gather(inbox, commands), 1);
    assert_int_equal(commands[0].kind, CAIRN_COMMAND_INPUT);
    assert_int_equal(commands[0].slot, 1);
}

TEST("a config outside its ranges is refused") {
    static const cairn_inbox_config rows[] = {{.window_ticks = 0, .slots = 1},
        {.window_ticks = CAIRN_INPUT_WINDOW_TICKS_MAX + 1, .slots = 1},
        {.window_ticks = 1, .slots = 0}, {.window_ticks = 1, .slots = CAIRN_SLOTS_MAX + 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_inbox *inbox;
        assert_int_equal(cairn_inbox_create(&rows[i], &inbox), CAIRN_INVALID_ARGUMENT);
        assert_null(inbox);
    }
}

TEST("an operator's edits keep the order of their requests") {
    // Sorted by kind, or by body, they would come out in another order.
    static const cairn_command edits[] = {{.kind = CAIRN_COMMAND_IMPULSE, .buttons = 9},
        {.kind = CAIRN_COMMAND_SET_POSITION, .buttons = 9},
        {.kind = CAIRN_COMMAND_SPAWN_SPHERE, .aim = {.x = 0.5f}},
        {.kind = CAIRN_COMMAND_IMPULSE, .buttons = 3},
        {.kind = CAIRN_COMMAND_DESTROY, .buttons = 9}};
    enum { EDITS = sizeof edits / sizeof *edits };
    const cairn_inbox_config config = {.tick = FIRST_TICK,
        .window_ticks = WINDOW,
        .slots = 1,
        .hold_ticks = HOLD,
        .edits_max = EDITS};
    SCOPED(cairn_inbox) *inbox = NULL;
    assert_int_equal(cairn_inbox_create(&config, &inbox), CAIRN_OK);
    for (uint32_t round = 0; round < 2; ++round) {
        for (uint32_t i = 0; i < EDITS; ++i) {
            assert_true(cairn_inbox_edit(inbox, &edits[i], 1));
        }
        assert_false(cairn_inbox_edit(inbox, edits, 1));
        cairn_command commands[CAIRN_INBOX_COMMANDS_MAX];
        assert_int_equal(cairn_inbox_gather(inbox, commands), EDITS);
        for (uint32_t i = 0; i < EDITS; ++i) {
            assert_int_equal(commands[i].kind, edits[i].kind);
            assert_int_equal(commands[i].buttons, edits[i].buttons);
            assert_int_equal(commands[i].sequence, i);
            assert_int_equal(commands[i].slot, CAIRN_SLOT_OPERATOR);
        }
    }
}

TEST("a room of 256 players gathers every input, and has no slot for the next player") {
    SCOPED(cairn_inbox) *inbox = inbox_of(CAIRN_SLOTS_MAX);
    for (uint32_t slot = 0; slot < CAIRN_SLOTS_MAX; ++slot) {
        assert_int_equal(cairn_inbox_join(inbox), slot);
        assert_int_equal(take(inbox, slot, FIRST_TICK, slot), CAIRN_INBOX_TAKEN);
    }
    assert_int_equal(cairn_inbox_join(inbox), CAIRN_SLOTS_MAX);
    cairn_command commands[CAIRN_INBOX_COMMANDS_MAX];
    assert_int_equal(cairn_inbox_gather(inbox, commands), 2 * CAIRN_SLOTS_MAX);
    const cairn_slot_set joined = cairn_inbox_joined(inbox);
    for (uint32_t slot = 0; slot < CAIRN_SLOTS_MAX; ++slot) {
        assert_int_equal(commands[2 * slot].kind, CAIRN_COMMAND_JOIN);
        assert_int_equal(commands[2 * slot + 1].slot, slot);
        assert_int_equal(commands[2 * slot + 1].buttons, slot);
        assert_true(cairn_slot_set_has(&joined, slot));
    }
    cairn_inbox_leave(inbox, 200);
    assert_int_equal(cairn_inbox_gather(inbox, commands), CAIRN_SLOTS_MAX);
    assert_int_equal(cairn_inbox_join(inbox), 200);
}

TEST("another inbox goes on with the inputs and the messages that wait") {
    static const uint32_t sizes[] = {1, 40, 100, CAIRN_GAME_MESSAGE_SIZE_MAX};
    static const uint8_t bytes[CAIRN_GAME_MESSAGE_SIZE_MAX] = {1, 2, 3};
    SCOPED(cairn_inbox) *inbox = inbox_of(2);
    SCOPED(cairn_inbox) *other = inbox_of(2);
    cairn_inbox_join(inbox);
    (void)gather(inbox);
    for (uint64_t tick = FIRST_TICK + 1; tick < FIRST_TICK + 6; ++tick) {
        assert_int_equal(take(inbox, 0, tick, (uint32_t)(tick % 10)), CAIRN_INBOX_TAKEN);
    }
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        assert_true(cairn_inbox_message(inbox, 0, bytes, sizes[i]));
    }
    cairn_archive archive = cairn_archive_writer();
    cairn_inbox_hand_over(inbox, FIRST_TICK + 1, &archive);
    assert_null(archive.refused);
    cairn_archive in = cairn_archive_reader(archive.out, archive.size);
    cairn_inbox_hand_over(other, FIRST_TICK + 1, &in);
    assert_true(cairn_archive_is_done(&in));
    for (uint32_t i = 0; i < 8; ++i) {
        static cairn_command here[CAIRN_INBOX_COMMANDS_MAX], there[CAIRN_INBOX_COMMANDS_MAX];
        const uint32_t count = cairn_inbox_gather(inbox, here);
        assert_true(i > 4 || count > 0);
        assert_int_equal(cairn_inbox_gather(other, there), count);
        assert_memory_equal(here, there, count * sizeof *here);
    }
    cairn_archive_free(&archive);
}

TEST("a message of any size is whole for another inbox") {
    static const uint8_t bytes[CAIRN_GAME_MESSAGE_SIZE_MAX] = {1};
    for (uint32_t size = 1; size <= CAIRN_GAME_MESSAGE_SIZE_MAX; ++size) {
        SCOPED(cairn_inbox) *inbox = inbox_of_a_player();
        SCOPED(cairn_inbox) *other = inbox_of(1);
        assert_true(cairn_inbox_message(inbox, 0, bytes, size));
        cairn_archive archive = cairn_archive_writer();
        cairn_inbox_hand_over(inbox, FIRST_TICK, &archive);
        cairn_archive in = cairn_archive_reader(archive.out, archive.size);
        cairn_inbox_hand_over(other, FIRST_TICK, &in);
        assert_true(cairn_archive_is_done(&in));
        cairn_archive_free(&archive);
    }
}

TEST("messages of a player that leaves are dropped, and those of others wait in their order") {
    static cairn_command commands[CAIRN_INBOX_COMMANDS_MAX];
    for (uint32_t first = 0; first < 2; ++first) { // the slot of the first message
        SCOPED(cairn_inbox) *inbox = inbox_of(2);
        cairn_inbox_join(inbox);
        cairn_inbox_join(inbox);
        (void)cairn_inbox_gather(inbox, commands);
        for (uint8_t i = 0; i < 4; ++i) {
            assert_true(cairn_inbox_message(inbox, (first + i) % 2, &i, 1));
        }
        cairn_inbox_leave(inbox, 0);
        uint32_t messages = 0;
        for (uint32_t k = 0; k < 3; ++k) {
            const uint32_t count = cairn_inbox_gather(inbox, commands);
            for (uint32_t i = 0; i < count; ++i) {
                if (commands[i].kind != CAIRN_COMMAND_LEAVE && (commands[i].buttons & 255) == 1 &&
                    commands[i].kind != CAIRN_COMMAND_INPUT) {
                    messages += 1;
                } else {
                    assert_true(commands[i].kind == CAIRN_COMMAND_LEAVE ||
                                commands[i].kind == CAIRN_COMMAND_INPUT);
                }
            }
        }
        assert_int_equal(messages, 2);
    }
}

TEST("a message of a slot that the other inbox does not have is refused") {
    static const uint8_t bytes[40] = {1};
    for (uint32_t slot = 0; slot < 2; ++slot) {
        SCOPED(cairn_inbox) *inbox = inbox_of(2);
        SCOPED(cairn_inbox) *other = inbox_of(1);
        cairn_inbox_join(inbox);
        cairn_inbox_join(inbox);
        (void)gather(inbox);
        assert_true(cairn_inbox_message(inbox, slot, bytes, sizeof bytes));
        cairn_archive archive = cairn_archive_writer();
        cairn_inbox_hand_over(inbox, FIRST_TICK + 1, &archive);
        cairn_archive in = cairn_archive_reader(archive.out, archive.size);
        cairn_inbox_hand_over(other, FIRST_TICK + 1, &in);
        assert_int_equal(in.refused != NULL, slot == 1);
        assert_true(slot == 0 || strcmp(in.refused, "messages") == 0);
        cairn_archive_free(&archive);
    }
}
