// SPDX-License-Identifier: MIT
#pragma once

// The verbs of <cairn/control.h>, and what each works on. A verb's action reads its member of the
// request, fills its member of the answer and returns CAIRN_CONTROL_DONE or a refusal, after which
// the server is as it was. The verbs that edit bodies share one action.

#include <cairn/control.h>

#include "server/core/server_state.h"

// Bytes of all saves together.
#define CAIRN_CONTROL_SAVES_SIZE_MAX ((size_t)64 * 1024 * 1024)

// A world in its canonical encoding that operators keep in the server's memory under a name.
typedef struct cairn_control_save {
    char name[CAIRN_NAME_SIZE_MAX + 1];
    uint8_t *bytes; // [size], owned; NULL: the entry is free
    size_t size;
    size_t received_size;   // less than `size` while an upload is incomplete
    cairn_slot_set players; // the slots that have a player in the world
} cairn_control_save;

typedef struct cairn_control_saves {
    cairn_control_save entries[CAIRN_CONTROL_SAVES_MAX];
    uint8_t *lent;     // bytes that a task reads; NULL: none
    bool lent_deleted; // its entry does not have them any more
} cairn_control_saves;

// Returns NULL if no save has this name.
cairn_control_save *cairn_control_saves_find(cairn_control_saves *saves, const char *name);
void cairn_control_saves_clear(cairn_control_saves *saves);
// The bytes of one save stay until they are taken back, even if it is deleted.
void cairn_control_saves_lend(cairn_control_saves *saves, const cairn_control_save *save);
void cairn_control_saves_take_back(cairn_control_saves *saves);

// Memory for what an answer points to. A verb fills one member.
typedef union cairn_control_lists {
    cairn_control_feature features[CAIRN_CONTROL_VERB_COUNT];
    cairn_control_room rooms[CAIRN_CONTROL_ROOMS_MAX];
    cairn_control_client clients[CAIRN_CLIENTS_MAX];
    cairn_control_saved saves[CAIRN_CONTROL_SAVES_MAX];
    cairn_control_body bodies[CAIRN_CONTROL_BODIES_MAX];
    cairn_control_shape shapes[CAIRN_CONTROL_OVERLAPS_MAX];
    cairn_control_joint joints[CAIRN_CONTROL_JOINTS_MAX];
    cairn_control_shape_state shape_states[CAIRN_CONTROL_SHAPES_MAX];
    cairn_control_section sections[CAIRN_CONTROL_SECTIONS_MAX];
    cairn_control_difference differences[CAIRN_CONTROL_DIFFERENCES_MAX];
    cairn_control_number numbers[CAIRN_CONTROL_ACT_NUMBERS_MAX];
} cairn_control_lists;

// The encoded answer; with it a link's stream has space for other messages.
#define CAIRN_CONTROL_ANSWER_SIZE_MAX (48 * 1024)
_Static_assert(sizeof(cairn_control_lists) + 4096 <= CAIRN_CONTROL_ANSWER_SIZE_MAX, "a list fits");
_Static_assert(CAIRN_CONTROL_READ_SIZE_MAX + 4096 <= CAIRN_CONTROL_ANSWER_SIZE_MAX, "a piece fits");

// A request, and the client that waits for its answer.
typedef struct cairn_control_asked {
    const cairn_control_request *request;
    uint32_t client;
    uint64_t client_id;
} cairn_control_asked;

// What a verb works on: the operator who asks, in which room, and the answer that it fills.
typedef struct cairn_control_context {
    cairn_server *server;
    const cairn_control_asked *asked;
    const cairn_room *own; // the room of the operator's client; of others the first; NULL: none
    bool is_member;        // the operator's client is in it
    cairn_room *room;      // the one asked about; after a verb that makes a room, the new one; NULL
                           // only for a verb that needs none
    const cairn_control_request *request;
    cairn_control_saves *saves;
    cairn_control_lists *lists;
    char *reason; // [CAIRN_TEXT_SIZE_MAX + 1], of a refusal
    cairn_control_answer answer;
    bool answers_later;                         // when the room has run
    struct cairn_control_preparation *prepared; // for this request; NULL: nothing had to be
} cairn_control_context;

// A refusal with a sentence of its own, formatted like printf. Returns `refusal`.
cairn_control_refusal cairn_control_refuse(
    cairn_control_context *c, cairn_control_refusal refusal, const char *format, ...);
// Writes a text that fits an element's name, cut if it is too long.
void cairn_control_name_set(char name[CAIRN_NAME_SIZE_MAX + 1], const char *text);

// Each replacement of a room's world sends every client a new state, so a room has a budget of them
// (Turner 1986, the leaky bucket as a meter): two in a second, four at once.
#define CAIRN_CONTROL_REPLACEMENT_NS UINT64_C(500000000)
#define CAIRN_CONTROL_REPLACEMENTS_BURST 4
bool cairn_control_may_replace(const cairn_room *room, uint64_t now_ns);

// Whether a room can be stepped so often now; and begins it. The answer is sent when it has run.
cairn_control_refusal cairn_control_check_step(cairn_control_context *c, uint32_t tick_count);
void cairn_control_begin_step(cairn_control_context *c, uint32_t tick_count);

// Adds the commands of edits, accepted or refused together. `made` is what the last one made.
cairn_control_refusal cairn_control_add_edits(
    cairn_control_context *c, cairn_command *commands, uint32_t count, cairn_edit_made *made);

// Whether the verb's edits are tried in a copy of the room's world, and whether the copy that the
// room has is as the world is now.
bool cairn_control_is_tried(uint32_t verb);
bool cairn_control_trial_is_fresh(const cairn_room *room);

// Fills the config of the room that the request names, but for its seed: of a template, or of a
// scene, which find_scene may free at its next call. False: there is neither.
bool cairn_control_new_room(cairn_server *server, const cairn_control_request *request,
    cairn_server_room_config *out, bool *of_template);

// The observation of an act, in the memory of the lists. What was asked for has been checked.
cairn_control_act_answer cairn_control_observe(
    const cairn_room *room, const cairn_control_wait *wait, cairn_control_lists *lists);

// The most commands of a request: a compound of as many parts and points as one carries.
#define CAIRN_CONTROL_COMMANDS_MAX (CAIRN_CONTROL_POINTS_MAX / 2 + 3 * CAIRN_CONTROL_PARTS_MAX + 1)

// Writes the commands of a request that spawns a body, and returns their number. If the parts of a
// compound count other points than the request has, it is written without a shape, and the world
// refuses it.
uint32_t cairn_control_spawn_commands(
    const cairn_control_request *request, cairn_command out[CAIRN_CONTROL_COMMANDS_MAX]);
// Why a world refuses what the request spawns, a static text. NULL: a number is out of range, or
// the request spawns nothing.
const char *cairn_control_spawn_refusal(const cairn_control_request *request);

// A body in an answer.
cairn_control_body cairn_control_describe_body(const cairn_body_state *body);

typedef cairn_control_refusal (*cairn_control_action)(cairn_control_context *c);

typedef struct cairn_control_verb_row {
    cairn_control_action action;
    bool needs_no_room;
    bool writes; // changes a room or the server
    bool moves;  // is refused while another request makes the room run
} cairn_control_verb_row;

// NULL if this server has no such verb.
const cairn_control_verb_row *cairn_control_verb_find_row(uint32_t verb);

// Every verb: X(VERB, action, what it does). READS, WRITES and MOVES need a room. MOVES changes the
// room's world or time and must wait while another request makes the room run.
#define EACH_CONTROL_VERB(X)                                                                       \
    X(FEATURES, features, READS_SERVER)        /* verbs.c */                                       \
    X(ROOMS, rooms, READS_SERVER)              /* reports.c */                                     \
    X(STATE, state, READS)                     /* reports.c */                                     \
    X(CLIENTS, clients, READS)                 /* reports.c */                                     \
    X(PAUSE, pause, WRITES)                    /* room_time.c */                                   \
    X(RESUME, resume, MOVES)                   /* room_time.c */                                   \
    X(STEP, step, MOVES)                       /* room_time.c */                                   \
    X(RUN_UNTIL, run_until, MOVES)             /* room_time.c */                                   \
    X(RATE, rate, WRITES)                      /* room_time.c */                                   \
    X(RESET, reset, MOVES)                     /* replacements.c */                                \
    X(SAVE, save, WRITES)                      /* saves.c */                                       \
    X(LOAD, load, MOVES)                       /* replacements.c */                                \
    X(SAVES, saves, READS_SERVER)              /* saves.c */                                       \
    X(SAVE_READ, save_read, READS_SERVER)      /* saves.c */                                       \
    X(SAVE_WRITE, save_write, WRITES_SERVER)   /* saves.c */                                       \
    X(SAVE_DELETE, save_delete, WRITES_SERVER) /* saves.c */                                       \
    X(SEEK, seek, MOVES)                       /* replacements.c */                                \
    X(FORK, fork, WRITES)                      /* rooms.c */                                       \
    X(ROOM_CREATE, room_create, WRITES_SERVER) /* rooms.c */                                       \
    X(ROOM_DESTROY, room_destroy, WRITES)      /* rooms.c */                                       \
    X(SPAWN_BOX, edit, WRITES)                 /* edits.c */                                       \
    X(SPAWN_SPHERE, edit, WRITES)              /* edits.c */                                       \
    X(DELETE, edit, WRITES)                    /* edits.c */                                       \
    X(SET_POSITION, edit, WRITES)              /* edits.c */                                       \
    X(SET_VELOCITY, edit, WRITES)              /* edits.c */                                       \
    X(IMPULSE, edit, WRITES)                   /* edits.c */                                       \
    X(GET, get, READS)                         /* queries.c */                                     \
    X(BODIES, bodies, READS)                   /* queries.c */                                     \
    X(RAY, ray, READS)                         /* queries.c */                                     \
    X(OVERLAP, overlap, READS)                 /* queries.c */                                     \
    X(HASH, hash, READS)                       /* reports.c */                                     \
    X(DIFF, diff, READS)                       /* reports.c */                                     \
    X(FAULTS, faults, WRITES_SERVER)           /* link_faults.c */                                 \
    X(SET_BODY, edit, WRITES)                  /* edits.c */                                       \
    X(PUSH, edit, WRITES)                      /* edits.c */                                       \
    X(SET_TARGET, edit, WRITES)                /* edits.c */                                       \
    X(SET_GRAVITY, edit, WRITES)               /* edits.c */                                       \
    X(EXPLODE, edit, WRITES)                   /* edits.c */                                       \
    X(JOINTS, joints, READS)                   /* definitions.c */                                 \
    X(SET_JOINT, edit, WRITES)                 /* edits.c */                                       \
    X(DELETE_JOINT, edit, WRITES)              /* edits.c */                                       \
    X(CAST, cast, READS)                       /* queries.c */                                     \
    X(CLOSEST, closest, READS)                 /* queries.c */                                     \
    X(SPAWN, edit, WRITES)                     /* edits.c */                                       \
    X(CREATE_JOINT, edit, WRITES)              /* edits.c */                                       \
    X(ACT, act, MOVES)                         /* act.c */                                         \
    X(GET_JOINT, get_joint, READS)             /* definitions.c */                                 \
    X(SET_ROW, edit, WRITES)                   /* edits.c */                                       \
    X(SET_POSE, edit, WRITES)                  /* edits.c */                                       \
    X(SET_MASS, edit, WRITES)                  /* edits.c */                                       \
    X(SET_SHAPE, edit, WRITES)                 /* edits.c */                                       \
    X(GET_BODY, get_body, READS)               /* definitions.c */                                 \
    X(SHAPES, shapes, READS)                   /* definitions.c */                                 \
    X(SPAWN_COMPOUND, edit, WRITES)            /* edits.c */                                       \
    X(SPAWN_MESH, edit, WRITES)                /* edits.c */                                       \
    X(SPAWN_HEIGHT_FIELD, edit, WRITES)        /* edits.c */                                       \
    X(FRACTURE, fracture, WRITES)              /* edits.c */

#define DECLARE_ACTION(VERB, name, does)                                                           \
    cairn_control_refusal cairn_control_on_##name(cairn_control_context *c);
EACH_CONTROL_VERB(DECLARE_ACTION)
#undef DECLARE_ACTION
