// SPDX-License-Identifier: MIT
#include "server/room/inbox.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/game_input.h"
#include "base/game_message.h"

// For this many ticks a slot remembers whether an input arrived: the window ahead and at least as
// many before, so that a redundant copy of a late input is not counted late again.
#define SEEN_TICKS 512
_Static_assert(SEEN_TICKS >= 2 * CAIRN_INPUT_WINDOW_TICKS_MAX, "the window fits twice");

typedef enum slot_phase {
    SLOT_FREE = 0,
    SLOT_JOINING, // JOIN waits for the next tick
    SLOT_JOINED,
    SLOT_LEAVING,             // LEAVE waits for the next tick
    SLOT_JOINING_AND_LEAVING, // JOIN and LEAVE wait for the same tick
    SLOT_LEAVING_AND_JOINING, // LEAVE waits for the next tick, JOIN for the one after it
} slot_phase;

typedef struct slot_inputs {
    slot_phase phase;
    bool holds; // `held` is an input of this player
    uint64_t held_tick;
    uint64_t newest; // tick of an input taken
    cairn_command held[CAIRN_INPUT_COMMANDS_MAX];
    uint64_t seen[SEEN_TICKS]; // tick + 1 at tick % SEEN_TICKS
} slot_inputs;

struct cairn_inbox {
    cairn_inbox_config config;
    uint64_t tick;
    uint32_t players;
    uint32_t parts;       // of an input
    cairn_slot_set taken; // slots that are not free
    uint32_t edit_count;
    cairn_command edits[CAIRN_INBOX_EDITS_MAX];
    uint32_t message_count;
    cairn_command messages[CAIRN_INBOX_MESSAGES_WAITING_MAX]; // in order of arrival
    slot_inputs *slots;                                       // of config.slots
    cairn_command *waiting;                                   // [tick % window_ticks][slot][part]
};

cairn_status cairn_inbox_create(const cairn_inbox_config *config, cairn_inbox **out) {
    *out = NULL;
    if (config->window_ticks < 1 || config->window_ticks > CAIRN_INPUT_WINDOW_TICKS_MAX ||
        config->slots < 1 || config->slots > CAIRN_SLOTS_MAX ||
        config->edits_max > CAIRN_INBOX_EDITS_MAX) {
        return CAIRN_INVALID_ARGUMENT;
    }
    cairn_inbox *inbox = calloc(1, sizeof *inbox);
    if (inbox == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    inbox->config = *config;
    inbox->tick = config->tick;
    inbox->parts = cairn_input_parts_of(config->rules);
    // Pages of slots without a player are never touched, so they take no memory.
    inbox->slots = calloc(config->slots, sizeof *inbox->slots);
    inbox->waiting =
        calloc((size_t)config->window_ticks * config->slots * inbox->parts, sizeof *inbox->waiting);
    if (inbox->slots == NULL || inbox->waiting == NULL) {
        cairn_inbox_destroy(inbox);
        return CAIRN_OUT_OF_MEMORY;
    }
    *out = inbox;
    return CAIRN_OK;
}

void cairn_inbox_destroy(cairn_inbox *inbox) {
    if (inbox != NULL) {
        free(inbox->waiting);
        free(inbox->slots);
        free(inbox);
    }
}

uint64_t cairn_inbox_tick(const cairn_inbox *inbox) {
    return inbox->tick;
}

uint32_t cairn_inbox_input_parts(const cairn_inbox *inbox) {
    return inbox->parts;
}

uint32_t cairn_inbox_commands_max(const cairn_inbox *inbox) {
    return (1 + inbox->parts) * inbox->config.slots + inbox->config.edits_max +
           CAIRN_INBOX_MESSAGES_MAX;
}

// Forgets the slot's inputs.
static void set_phase(cairn_inbox *inbox, uint32_t slot, slot_phase phase) {
    inbox->slots[slot] = (slot_inputs){.phase = phase};
    cairn_slot_set_put(&inbox->taken, slot, phase != SLOT_FREE);
}

uint32_t cairn_inbox_join(cairn_inbox *inbox) {
    uint32_t slot = 0;
    while (slot < inbox->config.slots && cairn_slot_set_has(&inbox->taken, slot)) {
        slot += 1;
    }
    if (slot == inbox->config.slots) {
        return CAIRN_SLOTS_MAX;
    }
    set_phase(inbox, slot, SLOT_JOINING);
    CAIRN_ASSERT(inbox->players < inbox->config.slots);
    inbox->players += 1;
    return slot;
}

bool cairn_inbox_join_at(cairn_inbox *inbox, uint32_t slot) {
    CAIRN_ASSERT(slot < inbox->config.slots);
    const slot_phase phase = inbox->slots[slot].phase;
    if (phase != SLOT_FREE && phase != SLOT_LEAVING) {
        return false;
    }
    set_phase(inbox, slot, phase == SLOT_FREE ? SLOT_JOINING : SLOT_LEAVING_AND_JOINING);
    CAIRN_ASSERT(inbox->players < inbox->config.slots);
    inbox->players += 1;
    return true;
}

static bool is_player(const slot_inputs *slot) {
    return slot->phase == SLOT_JOINING || slot->phase == SLOT_JOINED ||
           slot->phase == SLOT_LEAVING_AND_JOINING;
}

bool cairn_inbox_has_player(const cairn_inbox *inbox, uint32_t slot) {
    return slot < inbox->config.slots && is_player(&inbox->slots[slot]);
}

static uint32_t slot_of_message(const cairn_command *piece) {
    return piece->buttons & 255;
}

static void drop_messages(cairn_inbox *inbox, uint32_t slot) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < inbox->message_count; ++i) {
        if (slot_of_message(&inbox->messages[i]) != slot) {
            inbox->messages[kept++] = inbox->messages[i];
        }
    }
    inbox->message_count = kept;
}

void cairn_inbox_leave(cairn_inbox *inbox, uint32_t slot) {
    CAIRN_ASSERT(slot < inbox->config.slots && is_player(&inbox->slots[slot]));
    const bool joined = inbox->slots[slot].phase != SLOT_JOINING;
    set_phase(inbox, slot, joined ? SLOT_LEAVING : SLOT_JOINING_AND_LEAVING);
    CAIRN_ASSERT(inbox->players > 0);
    inbox->players -= 1;
    drop_messages(inbox, slot);
}

uint32_t cairn_inbox_players(const cairn_inbox *inbox) {
    return inbox->players;
}

static bool was_seen(const slot_inputs *slot, uint64_t tick) {
    return slot->seen[tick % SEEN_TICKS] == tick + 1;
}

static cairn_command *waiting_at(const cairn_inbox *inbox, uint64_t tick, uint32_t slot) {
    CAIRN_ASSERT(slot < inbox->config.slots);
    uint64_t row = tick % inbox->config.window_ticks;
    return &inbox->waiting[(row * inbox->config.slots + slot) * inbox->parts];
}

cairn_input_refusal cairn_inbox_input_refusal(
    const cairn_inbox *inbox, const cairn_command *input, uint32_t parts) {
    const cairn_rules *rules = inbox->config.rules;
    if (parts != inbox->parts) {
        return CAIRN_INPUT_REFUSED_PARTS;
    }
    return rules == NULL || rules->input_count == 0
               ? CAIRN_INPUT_TAKEN
               : cairn_input_unpack(rules->input, rules->input_count, input, parts, NULL);
}

bool cairn_inbox_has(const cairn_inbox *inbox, uint32_t slot, uint64_t tick) {
    CAIRN_ASSERT(slot < inbox->config.slots && is_player(&inbox->slots[slot]));
    const bool late = tick < inbox->tick;
    const bool early = !late && tick - inbox->tick >= inbox->config.window_ticks;
    const bool forgotten = late && inbox->tick - tick > SEEN_TICKS - inbox->config.window_ticks;
    return !early && (forgotten || was_seen(&inbox->slots[slot], tick));
}

cairn_inbox_verdict cairn_inbox_take(
    cairn_inbox *inbox, uint32_t slot, uint64_t tick, const cairn_command *input) {
    CAIRN_ASSERT(slot < inbox->config.slots && is_player(&inbox->slots[slot]));
    slot_inputs *inputs = &inbox->slots[slot];
    cairn_command commands[CAIRN_INPUT_COMMANDS_MAX];
    bool valid = true;
    for (uint32_t i = 0; i < inbox->parts; ++i) {
        commands[i] = input[i];
        commands[i].kind = cairn_input_part_kind(i);
        commands[i].slot = slot;
        valid = valid && cairn_command_check(&commands[i]) == CAIRN_OK;
    }
    if (!valid || cairn_inbox_input_refusal(inbox, commands, inbox->parts) != CAIRN_INPUT_TAKEN) {
        return CAIRN_INBOX_REFUSED;
    }
    bool late = tick < inbox->tick;
    if (!late && tick - inbox->tick >= inbox->config.window_ticks) {
        return CAIRN_INBOX_EARLY;
    }
    if (cairn_inbox_has(inbox, slot, tick)) {
        return CAIRN_INBOX_REPEATED;
    }
    inputs->seen[tick % SEEN_TICKS] = tick + 1;
    CAIRN_ASSERT(was_seen(inputs, tick));
    if (late) {
        return CAIRN_INBOX_LATE;
    }
    memcpy(waiting_at(inbox, tick, slot), commands, inbox->parts * sizeof commands[0]);
    inputs->newest = tick > inputs->newest ? tick : inputs->newest;
    return CAIRN_INBOX_TAKEN;
}

uint64_t cairn_inbox_newest(const cairn_inbox *inbox, uint32_t slot) {
    CAIRN_ASSERT(slot < CAIRN_SLOTS_MAX);
    return inbox->slots[slot].newest;
}

uint64_t cairn_inbox_acknowledged(const cairn_inbox *inbox, uint32_t slot) {
    CAIRN_ASSERT(slot < inbox->config.slots);
    uint64_t tick = inbox->tick;
    while (tick - inbox->tick < inbox->config.window_ticks && was_seen(&inbox->slots[slot], tick)) {
        tick += 1;
    }
    return tick == 0 ? 0 : tick - 1;
}

// The input of a joined slot for the tick: the one that arrived, or the last one held. Returns how
// many commands.
static uint32_t read_input(cairn_inbox *inbox, uint32_t slot, cairn_command *out) {
    slot_inputs *inputs = &inbox->slots[slot];
    CAIRN_ASSERT(inputs->held_tick <= inbox->tick);
    if (was_seen(inputs, inbox->tick)) {
        memcpy(inputs->held, waiting_at(inbox, inbox->tick, slot),
            inbox->parts * sizeof inputs->held[0]);
        inputs->held_tick = inbox->tick;
        inputs->holds = true;
    } else if (inputs->holds && inbox->tick - inputs->held_tick > inbox->config.hold_ticks) {
        inputs->holds = false;
    }
    if (!inputs->holds) {
        return 0;
    }
    memcpy(out, inputs->held, inbox->parts * sizeof inputs->held[0]);
    return inbox->parts;
}

static uint32_t gather_slot(cairn_inbox *inbox, uint32_t slot, cairn_command *out) {
    slot_inputs *inputs = &inbox->slots[slot];
    cairn_command *at = out;
    if (inputs->phase == SLOT_JOINING || inputs->phase == SLOT_JOINING_AND_LEAVING) {
        *at++ = (cairn_command){.kind = CAIRN_COMMAND_JOIN, .slot = slot};
    }
    if (inputs->phase == SLOT_LEAVING || inputs->phase == SLOT_JOINING_AND_LEAVING) {
        *at++ = (cairn_command){.kind = CAIRN_COMMAND_LEAVE, .slot = slot};
        set_phase(inbox, slot, SLOT_FREE);
    }
    if (inputs->phase == SLOT_LEAVING_AND_JOINING) {
        *at++ = (cairn_command){.kind = CAIRN_COMMAND_LEAVE, .slot = slot};
        inputs->phase = SLOT_JOINING;
    } else if (is_player(inputs)) {
        inputs->phase = SLOT_JOINED;
        at += read_input(inbox, slot, at);
    }
    CAIRN_ASSERT(at - out <= CAIRN_INBOX_COMMANDS_PER_SLOT_MAX);
    return (uint32_t)(at - out);
}

cairn_slot_set cairn_inbox_joined(const cairn_inbox *inbox) {
    cairn_slot_set joined = {{0}};
    for (uint32_t slot = cairn_slot_set_next(&inbox->taken, 0); slot < CAIRN_SLOTS_MAX;
         slot = cairn_slot_set_next(&inbox->taken, slot + 1)) {
        const slot_phase phase = inbox->slots[slot].phase;
        const bool known =
            phase == SLOT_JOINED || phase == SLOT_LEAVING || phase == SLOT_LEAVING_AND_JOINING;
        cairn_slot_set_put(&joined, slot, known);
    }
    return joined;
}

void cairn_inbox_restart(cairn_inbox *inbox, uint64_t tick, const cairn_slot_set *joined) {
    for (uint32_t slot = 0; slot < inbox->config.slots; ++slot) {
        const bool known = cairn_slot_set_has(joined, slot);
        if (known || cairn_slot_set_has(&inbox->taken, slot)) {
            const bool here = is_player(&inbox->slots[slot]);
            set_phase(inbox, slot,
                here ? (known ? SLOT_JOINED : SLOT_JOINING) : (known ? SLOT_LEAVING : SLOT_FREE));
        }
    }
    inbox->tick = tick;
    inbox->edit_count = 0;
    inbox->message_count = 0;
}

bool cairn_inbox_edit(cairn_inbox *inbox, const cairn_command *commands, uint32_t count) {
    CAIRN_ASSERT(inbox->edit_count <= inbox->config.edits_max && count > 0);
    bool valid = count <= inbox->config.edits_max - inbox->edit_count;
    for (uint32_t i = 0; valid && i < count; ++i) {
        cairn_command *command = &inbox->edits[inbox->edit_count + i];
        *command = commands[i];
        command->slot = CAIRN_SLOT_OPERATOR;
        command->sequence = inbox->edit_count + i;
        valid = cairn_command_check(command) == CAIRN_OK;
    }
    inbox->edit_count += valid ? count : 0;
    return valid;
}

const cairn_command *cairn_inbox_edits(const cairn_inbox *inbox, uint32_t *count) {
    *count = inbox->edit_count;
    return inbox->edits;
}

bool cairn_inbox_message(cairn_inbox *inbox, uint32_t slot, const uint8_t *bytes, uint32_t size) {
    CAIRN_ASSERT(slot < inbox->config.slots && is_player(&inbox->slots[slot]));
    const uint32_t pieces = cairn_message_piece_count(size);
    if (pieces > CAIRN_INBOX_MESSAGES_WAITING_MAX - inbox->message_count) {
        return false;
    }
    cairn_command *at = &inbox->messages[inbox->message_count];
    inbox->message_count += cairn_commands_of_message(slot, bytes, size, 0, at);
    return true;
}

// Moves whole messages to `out`: of players that are in the world, as many as a tick takes. A
// player's messages stay in order.
static uint32_t gather_messages(cairn_inbox *inbox, cairn_command *out) {
    bool waits[CAIRN_SLOTS_MAX] = {false};
    uint32_t count = 0;
    uint32_t kept = 0;
    uint32_t pieces = 0;
    for (uint32_t i = 0; i < inbox->message_count; i += pieces) {
        const cairn_command *first = &inbox->messages[i];
        const uint32_t slot = slot_of_message(first);
        pieces = cairn_message_piece_count((first->buttons >> 8 & 255) + 1);
        waits[slot] |=
            inbox->slots[slot].phase != SLOT_JOINED || pieces > CAIRN_INBOX_MESSAGES_MAX - count;
        for (uint32_t k = 0; k < pieces; ++k) {
            if (waits[slot]) {
                inbox->messages[kept++] = first[k];
            } else {
                out[count] = first[k];
                out[count].sequence = inbox->edit_count + count;
                count += 1;
            }
        }
    }
    inbox->message_count = kept;
    return count;
}

uint32_t cairn_inbox_gather(cairn_inbox *inbox, cairn_command *out) {
    CAIRN_ASSERT(inbox->edit_count <= inbox->config.edits_max);
    uint32_t count = inbox->message_count == 0 ? 0 : gather_messages(inbox, out);
    for (uint32_t slot = cairn_slot_set_next(&inbox->taken, 0); slot < CAIRN_SLOTS_MAX;
         slot = cairn_slot_set_next(&inbox->taken, slot + 1)) {
        count += gather_slot(inbox, slot, out + count);
    }
    for (uint32_t i = 0; i < inbox->edit_count; ++i) {
        out[count++] = inbox->edits[i];
    }
    inbox->edit_count = 0;
    CAIRN_ASSERT(count <= cairn_inbox_commands_max(inbox));
    cairn_commands_sort(out, count);
    inbox->tick += 1;
    return count;
}

static void put_commands(cairn_archive *archive, cairn_command *commands, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        cairn_archive_bytes(archive, &commands[i], sizeof commands[i]);
        if (archive->reading && cairn_command_check(&commands[i]) != CAIRN_OK) {
            cairn_archive_refuse(archive, "a command that waits");
        }
    }
}

static void put_input(cairn_archive *archive, uint32_t slot, cairn_command *parts, uint32_t count) {
    put_commands(archive, parts, count);
    for (uint32_t i = 0; i < count; ++i) {
        if (archive->reading &&
            (parts[i].slot != slot || parts[i].kind != cairn_input_part_kind(i))) {
            cairn_archive_refuse(archive, "a slot's input");
        }
    }
}

// A bit for each tick that matters still.
static void put_seen(cairn_archive *archive, const cairn_inbox *inbox, slot_inputs *inputs) {
    uint64_t seen[SEEN_TICKS / 64] = {0};
    const uint64_t end = inbox->tick + inbox->config.window_ticks;
    const uint64_t from = end > SEEN_TICKS ? end - SEEN_TICKS : 0;
    for (uint64_t tick = from; tick < end; ++tick) {
        seen[tick % SEEN_TICKS / 64] |= was_seen(inputs, tick) ? UINT64_C(1) << tick % 64 : 0;
    }
    cairn_archive_words(archive, seen, SEEN_TICKS / 64);
    for (uint64_t tick = from; archive->reading && tick < end; ++tick) {
        const bool was = (seen[tick % SEEN_TICKS / 64] >> tick % 64 & 1) != 0;
        inputs->seen[tick % SEEN_TICKS] = was ? tick + 1 : 0;
    }
}

// The inputs of a slot: those that wait, those that are remembered as seen, and the one it holds.
static void put_slot(cairn_inbox *inbox, uint32_t slot, cairn_archive *archive) {
    slot_inputs *inputs = &inbox->slots[slot];
    uint32_t phase = inputs->phase;
    cairn_archive_u32(archive, "a slot's phase", &phase, SLOT_FREE, SLOT_LEAVING_AND_JOINING);
    if (archive->reading) {
        set_phase(inbox, slot, (slot_phase)phase);
        inbox->players += is_player(inputs) ? 1 : 0;
    }
    if (phase == SLOT_FREE) {
        return;
    }
    cairn_archive_bool(archive, "a slot's input", &inputs->holds);
    cairn_archive_u64(archive, "a slot's input", &inputs->held_tick, 0, inbox->tick);
    cairn_archive_words(archive, &inputs->newest, 1);
    put_seen(archive, inbox, inputs);
    if (inputs->holds) {
        put_input(archive, slot, inputs->held, inbox->parts);
    }
    for (uint64_t tick = inbox->tick; tick - inbox->tick < inbox->config.window_ticks; ++tick) {
        if (was_seen(inputs, tick)) {
            put_input(archive, slot, waiting_at(inbox, tick, slot), inbox->parts);
        }
    }
}

// Whether the pieces of messages are whole: gather counts on it.
static bool are_messages_whole(const cairn_inbox *inbox) {
    uint32_t i = 0;
    while (i < inbox->message_count) {
        const cairn_command *first = &inbox->messages[i];
        const uint32_t slot = slot_of_message(first);
        if (first->kind != CAIRN_COMMAND_MESSAGE || slot >= inbox->config.slots) {
            return false;
        }
        i += cairn_message_piece_count((first->buttons >> 8 & 255) + 1);
    }
    return i == inbox->message_count;
}

void cairn_inbox_hand_over(cairn_inbox *inbox, uint64_t tick, cairn_archive *archive) {
    uint32_t parts = inbox->parts;
    CAIRN_ASSERT(archive->reading || inbox->tick == tick);
    inbox->tick = tick;
    inbox->players = archive->reading ? 0 : inbox->players;
    cairn_archive_u32(archive, "an input's parts", &parts, inbox->parts, inbox->parts);
    cairn_archive_u32(archive, "edits", &inbox->edit_count, 0, inbox->config.edits_max);
    put_commands(archive, inbox->edits, inbox->edit_count);
    cairn_archive_u32(
        archive, "messages", &inbox->message_count, 0, CAIRN_INBOX_MESSAGES_WAITING_MAX);
    put_commands(archive, inbox->messages, inbox->message_count);
    if (archive->reading && !are_messages_whole(inbox)) {
        cairn_archive_refuse(archive, "messages");
        inbox->message_count = 0;
    }
    for (uint32_t slot = 0; slot < inbox->config.slots && archive->refused == NULL; ++slot) {
        put_slot(inbox, slot, archive);
    }
}
