// SPDX-License-Identifier: MIT
#pragma once

// A world: its block of state, what follows from the block, and the parts that the folders above
// add. This header only declares those parts; each is defined in the folder that uses it.

#include "base/arena.h"
#include "sim/state/state_array.h"

typedef struct cairn_awake_set cairn_awake_set;                     // sim/state/awake_set.h
typedef struct cairn_hash_cache cairn_hash_cache;                   // sim/state/hash_cache.h
typedef struct cairn_trace_hook cairn_trace_hook;                   // sim/state/trace_hook.h
typedef struct cairn_task_scheduler cairn_task_scheduler;           // sim/task/task_scheduler.h
typedef struct cairn_pair_cache cairn_pair_cache;                   // sim/collide/pair_cache.h
typedef struct cairn_hangs cairn_hangs;                             // sim/articulation/hang.h
typedef struct cairn_manifold_pool cairn_manifold_pool;             // sim/collide/manifold_pool.h
typedef struct cairn_contact_edit_buffer cairn_contact_edit_buffer; // sim/collide/contact_list.h
typedef struct cairn_islands cairn_islands;                         // sim/sleep/island.h
typedef struct cairn_soft_step cairn_soft_step;                     // sim/soft_step/soft_step.h
typedef struct cairn_pgs cairn_pgs;                                 // sim/pgs/pgs.h
typedef struct cairn_shape_tree cairn_shape_tree;                   // sim/query/shape_tree.h
typedef struct cairn_scratch cairn_scratch;                         // sim/world/scratch.h

// Where large memory comes from: calloc, or a function like it that does not clear.
typedef void *cairn_allocator(size_t count, size_t size);

// What the rules sent in the last step (sim/world/game_messages.h).
typedef struct cairn_game_messages {
    bool stepping; // the rules may send
    uint32_t count;
    uint64_t refused;                // since the world was created
    struct cairn_game_message *list; // owned; NULL: a world without rules
} cairn_game_messages;

struct cairn_world {
    cairn_world_def def;
    cairn_state state; // the block
    cairn_state spare; // where decode builds
    void *state_memory;
    void *spare_memory;
    // Derived from the state.
    uint32_t *shape_first; // by body slot: index + 1 of its lowest shape
    uint32_t *shape_next;  // by shape slot: index + 1 of the body's next shape
    uint64_t *awake_marks; // by body slot, a bit: 0 if the body is not in the awake set
    uint32_t body_count;   // that exist
    uint32_t body_hint;    // no slot below is free
    uint32_t shape_hint;
    uint32_t joint_hint;
    uint32_t hull_hint;
    uint32_t mesh_hint;
    uint32_t hit_shapes;   // shapes with CAIRN_SHAPE_HIT_EVENTS
    cairn_hull *hulls;     // by slot, ready for collision
    cairn_mesh *meshes;    // by slot
    uint32_t *mesh_memory; // of their trees
    uint32_t mesh_shapes;  // shapes that are meshes or height fields
    bool contacts_stale;   // false: only a body of the awake set can make a contact end
    cairn_hash_cache *hash_cache;
    bool islands_settled;  // no body was woken since the last step
    bool bodies_woken;     // false: no body is CAIRN_SLEEP_WOKEN
    bool targets_set;      // false: no body has CAIRN_BODY_TARGET_SET or _REACHED
    bool pair_cache_valid; // false: the next step fills the pair cache from the state
    cairn_pair_cache *pair_cache;
    cairn_shape_tree *shape_tree; // written by queries, too
    cairn_hangs *hangs;           // written where it is read
    cairn_game_messages game_messages;
    // How a step is executed and observed.
    cairn_parallel parallel;
    cairn_task_scheduler *scheduler;
    void (*stage_probe)(void *context, uint32_t stage); // NULL: none
    void *stage_context;
    cairn_trace_hook *trace_hook; // NULL except in a traced step
    // Scratch: rebuilt by each step, and may be overwritten between two calls without changing a
    // bit.
    cairn_scratch *scratch; // owns the parts below
    cairn_awake_set *awake_set;
    cairn_manifold_pool *manifold_pool;
    cairn_contact_edit_buffer *contact_edit_buffer;
    cairn_islands *islands;
    cairn_soft_step *soft_step;
    cairn_pgs *pgs;
};

static inline float world_step_rate(const cairn_world *world) {
    return world->state.settings->present_step_rate_hz;
}

static inline float world_time_step(const cairn_world *world) {
    return 1.0f / world_step_rate(world);
}
