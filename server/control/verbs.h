// SPDX-License-Identifier: MIT
#pragma once

// The table of the verbs of <cairn/control.h>. A verb's action reads its member of the request,
// fills its member of the answer and returns CAIRN_CONTROL_DONE or a refusal, after which the
// server is as it was. The verbs that edit bodies share one action.

#include "server/control/context.h"

typedef cairn_control_refusal (*cairn_control_action)(cairn_control_context *c);

typedef struct cairn_control_verb_row {
    cairn_control_action action;
    bool needs_no_room;
    bool writes; // changes a room or the server
} cairn_control_verb_row;

// NULL if this server has no such verb.
const cairn_control_verb_row *cairn_control_verb_find_row(uint32_t verb);

// Every verb: X(VERB, action, what it does). READS and WRITES need a room.
#define EACH_CONTROL_VERB(X)                                                                       \
    X(FEATURES, features, READS_SERVER)        /* verbs.c */                                       \
    X(ROOMS, rooms, READS_SERVER)              /* reports.c */                                     \
    X(STATE, state, READS)                     /* reports.c */                                     \
    X(CLIENTS, clients, READS)                 /* reports.c */                                     \
    X(PAUSE, pause, WRITES)                    /* room_time.c */                                   \
    X(RESUME, resume, WRITES)                  /* room_time.c */                                   \
    X(STEP, step, WRITES)                      /* room_time.c */                                   \
    X(RUN_UNTIL, run_until, WRITES)            /* room_time.c */                                   \
    X(RATE, rate, WRITES)                      /* room_time.c */                                   \
    X(RESET, reset, WRITES)                    /* replacements.c */                                \
    X(SAVE, save, WRITES)                      /* save_verbs.c */                                  \
    X(LOAD, load, WRITES)                      /* replacements.c */                                \
    X(SAVES, saves, READS_SERVER)              /* save_verbs.c */                                  \
    X(SAVE_READ, save_read, READS_SERVER)      /* save_verbs.c */                                  \
    X(SAVE_WRITE, save_write, WRITES_SERVER)   /* save_verbs.c */                                  \
    X(SAVE_DELETE, save_delete, WRITES_SERVER) /* save_verbs.c */                                  \
    X(SEEK, seek, WRITES)                      /* replacements.c */                                \
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
    X(FAULTS, faults, WRITES_SERVER)           /* link_faults.c */

#define DECLARE_ACTION(VERB, name, does)                                                           \
    cairn_control_refusal cairn_control_on_##name(cairn_control_context *c);
EACH_CONTROL_VERB(DECLARE_ACTION)
#undef DECLARE_ACTION
