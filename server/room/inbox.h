// SPDX-License-Identifier: MIT
#pragma once

// Commands by tick, between the network and the world. What comes out of it, tick by tick, is all
// that the outside changes in the world, and what is recorded.
//
// Rules: an input is taken once, for a tick of the window [next, next + window). An input for a
// tick that was already stepped is late: counted, never applied. One beyond the window is early:
// refused; the client may send it again. A slot whose input is missing repeats its last one for
// hold_ticks; after that it has none, which the rules read as neutral. A slot joins and leaves by
// commands of the next tick. It is free for another player only after its LEAVE was stepped, so
// that one tick never has a LEAVE and a later JOIN of the same slot.

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/slot_set.h"
#include "net/archive.h"
#include <cairn/server.h>
#include <cairn/sim.h>
#include <cairn/status.h>

#define CAIRN_INBOX_EDITS_MAX 64
// Commands of players' messages in one tick, and those that may wait for later ones.
#define CAIRN_INBOX_MESSAGES_MAX 128
#define CAIRN_INBOX_MESSAGES_WAITING_MAX 512

typedef struct cairn_inbox cairn_inbox;

typedef struct cairn_inbox_config {
    uint64_t tick;                   // the first to gather
    uint32_t window_ticks;           // 1 .. CAIRN_INPUT_WINDOW_TICKS_MAX
    uint32_t slots;                  // 1 .. CAIRN_SLOTS_MAX
    uint32_t hold_ticks;             // how long a missing input repeats the last one
    uint32_t edits_max;              // operator's edits of one tick, 0 .. CAIRN_INBOX_EDITS_MAX
    const struct cairn_rules *rules; // the layout of inputs; NULL: the default one
} cairn_inbox_config;

// CAIRN_INVALID_ARGUMENT or CAIRN_OUT_OF_MEMORY leave *out NULL.
cairn_status cairn_inbox_create(const cairn_inbox_config *config, cairn_inbox **out);
void cairn_inbox_destroy(cairn_inbox *inbox); // NULL is allowed

// The next tick to gather.
uint64_t cairn_inbox_tick(const cairn_inbox *inbox);

// Gives the lowest free slot to a player: JOIN at the next tick. CAIRN_SLOTS_MAX: all are taken.
uint32_t cairn_inbox_join(cairn_inbox *inbox);
// Joins this slot if it is free or its player is leaving: then LEAVE comes first, a tick before
// JOIN. Returns false if it is another player's.
bool cairn_inbox_join_at(cairn_inbox *inbox, uint32_t slot);
// LEAVE at the next tick; inputs that wait for the slot are dropped. The slot has a player
// (asserted).
void cairn_inbox_leave(cairn_inbox *inbox, uint32_t slot);
uint32_t cairn_inbox_players(const cairn_inbox *inbox);               // joined and not leaving
bool cairn_inbox_has_player(const cairn_inbox *inbox, uint32_t slot); // who is not leaving

typedef enum cairn_inbox_verdict {
    CAIRN_INBOX_TAKEN = 0,
    CAIRN_INBOX_LATE,     // its tick was stepped; the first copy that arrived
    CAIRN_INBOX_EARLY,    // beyond the window
    CAIRN_INBOX_REPEATED, // a copy of one that was taken or late, or too old to remember
    CAIRN_INBOX_REFUSED,  // not a valid input: cairn_command_check, or not of the rules' layout
    CAIRN_INBOX_VERDICT_COUNT
} cairn_inbox_verdict;

// Commands of an input, as the rules declare it.
uint32_t cairn_inbox_input_parts(const cairn_inbox *inbox);
// What the player of `slot` (asserted) holds during `tick`: cairn_inbox_input_parts commands. Their
// kinds and slots are overwritten.
cairn_inbox_verdict cairn_inbox_take(
    cairn_inbox *inbox, uint32_t slot, uint64_t tick, const cairn_command *input);
// Whether an input of the player of `slot` for this tick would be a repeated one, if it is valid.
bool cairn_inbox_has(const cairn_inbox *inbox, uint32_t slot, uint64_t tick);
// Why cairn_inbox_take refuses an input of `parts` commands. CAIRN_INPUT_TAKEN: it does not, or
// cairn_command_check does.
cairn_input_refusal cairn_inbox_input_refusal(
    const cairn_inbox *inbox, const cairn_command *input, uint32_t parts);

// The newest tick for which an input of `slot` was taken; 0: none since it joined.
uint64_t cairn_inbox_newest(const cairn_inbox *inbox, uint32_t slot);
// The newest tick up to which every input of `slot` was taken or is too late.
uint64_t cairn_inbox_acknowledged(const cairn_inbox *inbox, uint32_t slot);

// The slots that have a player in the world: JOIN was gathered and LEAVE was not.
cairn_slot_set cairn_inbox_joined(const cairn_inbox *inbox);
// The world was replaced by one at `tick`, which has players in the slots of `joined`. Players that
// it does not have join, players that it has and the room does not leave; inputs and edits that
// wait are dropped.
void cairn_inbox_restart(cairn_inbox *inbox, uint64_t tick, const cairn_slot_set *joined);

// An operator's edit for the next tick, after those that wait: its parts and its command. Slots and
// sequences are overwritten. False, and nothing waits: more than edits_max commands would wait, or
// cairn_command_check refuses one.
bool cairn_inbox_edit(cairn_inbox *inbox, const cairn_command *commands, uint32_t count);
// The edits that wait for the next tick.
const cairn_command *cairn_inbox_edits(const cairn_inbox *inbox, uint32_t *count);

// A message of the player in `slot` (asserted) to the rules, 1 to CAIRN_GAME_MESSAGE_SIZE_MAX
// bytes, for the next tick that the player is in the world and that has room for it, after those
// that wait. False: too many wait. LEAVE drops the player's messages.
bool cairn_inbox_message(cairn_inbox *inbox, uint32_t slot, const uint8_t *bytes, uint32_t size);

// Each slot has in a tick at most a LEAVE, or a JOIN and either a LEAVE or an input.
#define CAIRN_INBOX_COMMANDS_PER_SLOT_MAX (1 + CAIRN_INPUT_COMMANDS_MAX)
#define CAIRN_INBOX_COMMANDS_MAX                                                                   \
    (CAIRN_INBOX_COMMANDS_PER_SLOT_MAX * CAIRN_SLOTS_MAX + CAIRN_INBOX_EDITS_MAX +                 \
        CAIRN_INBOX_MESSAGES_MAX)
_Static_assert(CAIRN_INBOX_COMMANDS_MAX <= CAIRN_COMMANDS_PER_TICK_MAX, "a tick's commands fit");
// The same for this inbox: of its slots, with the operator's edits and messages.
uint32_t cairn_inbox_commands_max(const cairn_inbox *inbox);

// The commands of the next tick, sorted for cairn_world_step, into `out` (room for
// cairn_inbox_commands_max); returns how many. The inbox then continues with the tick after it.
uint32_t cairn_inbox_gather(cairn_inbox *inbox, cairn_command *out);

// Hands everything over to an inbox of the same config, which reads. What does not belong into an
// inbox that continues at `tick` is refused.
void cairn_inbox_hand_over(cairn_inbox *inbox, uint64_t tick, cairn_archive *archive);
