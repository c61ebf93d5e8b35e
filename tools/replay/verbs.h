// SPDX-License-Identifier: MIT
#pragma once

// The verbs of cairn-replay, each in a file of its name. A verb prints its answer as text or as one
// JSON object on standard output, and an error as one sentence on standard error.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/json.h"
#include "program/key.h"
#include "program/system.h"
#include "recording/player.h"
#include "tools/replay/painter.h"

// Exit codes.
typedef enum cairn_replay_exit {
    CAIRN_EXIT_GOOD = 0,
    CAIRN_EXIT_DIFFERS = 1,  // a state hash differs, or two recordings do
    CAIRN_EXIT_UNUSABLE = 2, // arguments, files, memory, ticks that are not in the recording
    CAIRN_EXIT_VERSION = 3,  // it needs another version of the simulation or of the rules
    CAIRN_EXIT_SEAL = 4,     // the seal is broken, or was not made with the key of --key
    CAIRN_EXIT_DAMAGED = 5,  // the file is damaged; what comes before the damage agrees
} cairn_replay_exit;

#define CAIRN_REPLAY_BODIES_MAX 256

typedef struct cairn_replay_bodies {
    uint32_t ids[CAIRN_REPLAY_BODIES_MAX];
    uint32_t count; // 0: every body
} cairn_replay_bodies;

// The command line.
typedef struct cairn_replay_options {
    const char *words[5]; // the verb and its arguments; NULL after the last
    bool json;
    uint32_t workers;
    cairn_key key;     // public
    uint32_t body;     // 0: none
    const char *state; // NULL: none
    cairn_replay_bodies bodies;
    uint64_t every;
    uint64_t tick;        // CAIRN_TICK_NONE: the last
    uint64_t from, to;    // CAIRN_TICK_NONE: the first, the last
    uint32_t pictures_hz; // 0: the verb's own
    cairn_painter_view view;
    const char *page; // a template; NULL: the installed one
    const char *scene;
    uint64_t seconds;
    uint32_t players;
    uint32_t plough; // a body; 0: none
    bool awake;
    const char *commands; // a file; NULL: none
    cairn_key sign;
    const char *predicate, *start; // NULL: none
    const char *oracle;            // a command; NULL: none
    bool difference, assertion;
    uint64_t lead; // ticks; 0: the verb's own
    uint64_t minutes;
} cairn_replay_options;

// Reads the flag --bodies into a cairn_replay_bodies.
const char *cairn_replay_read_bodies(void *out, const char *value, bool first);

// Read the flags --size, --eye and --target into a cairn_painter_view.
const char *cairn_replay_read_size(void *out, const char *value, bool first);
const char *cairn_replay_read_eye(void *out, const char *value, bool first);
const char *cairn_replay_read_target(void *out, const char *value, bool first);

// `input` is the verb's first argument; join and make have none. Returns an exit code.
typedef int cairn_replay_verb(const cairn_replay_options *options, const cairn_system_map *input);
cairn_replay_verb cairn_replay_info;
cairn_replay_verb cairn_replay_verify;
cairn_replay_verb cairn_replay_seek;
cairn_replay_verb cairn_replay_cut;
cairn_replay_verb cairn_replay_join;
cairn_replay_verb cairn_replay_diff;
cairn_replay_verb cairn_replay_explain;
cairn_replay_verb cairn_replay_export;
cairn_replay_verb cairn_replay_film;
cairn_replay_verb cairn_replay_page;
cairn_replay_verb cairn_replay_make;
cairn_replay_verb cairn_replay_shrink;

// ------------------------------------------------------------------------------------- helpers

// "cairn-replay: what: why" on standard error. Returns `code`.
int cairn_replay_complain(int code, const char *what, const char *why);
// "cairn-replay: verb: at tick N why". Returns CAIRN_EXIT_DIFFERS.
int cairn_replay_complain_at(const cairn_player *player, const char *verb, const char *why);
// The argument `name`, a number in [least, most]. False after a complaint.
bool cairn_replay_number(
    const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *out);
// Prints the verb's answer on standard output and destroys it.
void cairn_replay_print_json(cairn_json *json);
// False after a complaint: both names are one file, also by links. `input` NULL: no file is
// compared.
bool cairn_replay_differs(const char *input, const char *output);

// What follows the last dot of a file's name; "" if it has none, or is a device.
const char *cairn_replay_extension(const char *path);
// False after a complaint: the name says that it is no recording.
bool cairn_replay_is_recording(const char *path);

// False after a complaint. Pair with cairn_system_map_close.
bool cairn_replay_file_open(const char *path, cairn_system_map *out);

// Opens a player of the input. Returns an exit code, after a complaint if it is not
// CAIRN_EXIT_GOOD. Pair with cairn_player_close in any case.
int cairn_replay_player_open(
    cairn_player *player, const cairn_replay_options *options, const cairn_system_map *input);
// Steps it to `tick`, from the nearest state: that of *state_tick. Returns an exit code in the same
// way.
int cairn_replay_player_seek(
    cairn_player *player, const cairn_replay_options *options, uint64_t tick, uint64_t *state_tick);
