// SPDX-License-Identifier: MIT
#include "server/resync/inquiry.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim/debug/trace.h"

struct cairn_inquiry {
    cairn_server_task task; // first
    cairn_room *room;       // NULL: it closed
    cairn_task_runner *runner;
    void (*on_found)(void *user, cairn_room *room, const cairn_inquiry_found *found);
    void *user;
    uint64_t paid_until_ns; // by the copies so far

    cairn_fork_size size; // of the memory for a copy
    cairn_world *world;   // owned; NULL: there is no memory yet
    size_t state_size;    // of the room's world, encoded, when a state was copied last
    bool no_memory;       // the task that was to take some got none
    bool filled;          // it has a state
    bool copied;          // that of the tick below, as the history had it at `generation`
    uint64_t tick;
    uint64_t generation;

    struct cairn_session *requester;
    cairn_resync_request request; // its sketch is the one below
    uint8_t theirs[CAIRN_DIFFERENCE_SKETCH_SIZE_MAX];
    uint8_t mine[CAIRN_DIFFERENCE_SKETCH_SIZE_MAX]; // of the copy; kept for others that ask
    uint32_t mine_size;                             // 0: none is kept
    cairn_command *commands;                        // owned
    uint32_t command_count;

    cairn_inquiry_found found;
    cairn_element_key keys[CAIRN_SKETCH_CELLS_MAX];
    uint8_t payload[CAIRN_INQUIRY_PAYLOAD_SIZE_MAX];
    uint8_t stages[CAIRN_DESYNC_STAGES_SIZE_MAX];
};

cairn_inquiry *cairn_inquiry_create(cairn_room *room, cairn_task_runner *runner,
    void (*on_found)(void *user, cairn_room *room, const cairn_inquiry_found *found), void *user) {
    cairn_inquiry *inquiry = calloc(1, sizeof *inquiry);
    if (inquiry != NULL) {
        inquiry->room = room;
        inquiry->runner = runner;
        inquiry->on_found = on_found;
        inquiry->user = user;
    }
    return inquiry;
}

static void free_inquiry(cairn_inquiry *inquiry) {
    cairn_world_destroy(inquiry->world);
    free(inquiry->commands);
    free(inquiry);
}

void cairn_inquiry_destroy(cairn_inquiry *inquiry) {
    if (inquiry != NULL && inquiry->task.out) {
        inquiry->room = NULL;
    } else if (inquiry != NULL) {
        free_inquiry(inquiry);
    }
}

void cairn_inquiry_forget(cairn_inquiry *inquiry, const struct cairn_session *requester) {
    if (inquiry->requester == requester) {
        inquiry->requester = NULL;
    }
}

bool cairn_inquiry_is_ready(const cairn_inquiry *inquiry, uint64_t now_ns) {
    return !inquiry->task.out && !inquiry->room->job.running &&
           inquiry->paid_until_ns < now_ns + CAIRN_INQUIRY_BURST_NS;
}

static void pay(cairn_inquiry *inquiry, uint64_t now_ns, size_t bytes) {
    const uint64_t cost_ns = (uint64_t)bytes * 1000 / CAIRN_INQUIRY_BYTES_PER_US;
    const uint64_t paid_ns = inquiry->paid_until_ns > now_ns ? inquiry->paid_until_ns : now_ns;
    inquiry->paid_until_ns = paid_ns + cost_ns * CAIRN_INQUIRY_SHARE;
}

// ------------------------------------------------------------------------------------ the task

static void find_elements(cairn_inquiry *inquiry) {
    const cairn_resync_request *request = &inquiry->request;
    const uint32_t size = request->difference_sketch_size;
    cairn_inquiry_found *found = &inquiry->found;
    if (inquiry->mine_size != size) {
        cairn_sketch_build(inquiry->world, size / CAIRN_SKETCH_CELL_SIZE, inquiry->mine);
        inquiry->mine_size = size;
    }
    found->status = cairn_sketch_compare(inquiry->world, inquiry->mine, inquiry->theirs, size,
        inquiry->keys, CAIRN_SKETCH_CELLS_MAX, &found->element_count);
    if (found->status != CAIRN_OK) {
        return;
    }
    const cairn_world *world = inquiry->world;
    if (cairn_elements_size(world, inquiry->keys, found->element_count) > sizeof inquiry->payload) {
        found->status = CAIRN_CAPACITY;
        return;
    }
    found->full_root = cairn_world_hash_read(world).full;
    found->payload = inquiry->payload;
    found->payload_size = (uint32_t)cairn_elements_encode(
        world, inquiry->keys, found->element_count, inquiry->payload, sizeof inquiry->payload);
    CAIRN_ASSERT(found->payload_size > 0 || found->element_count == 0);
}

static void find_stages(cairn_inquiry *inquiry) {
    cairn_inquiry_found *found = &inquiry->found;
    found->stages = inquiry->stages;
    found->stages_size = (uint32_t)cairn_trace_stages(
        inquiry->world, inquiry->commands, inquiry->command_count, inquiry->stages);
    CAIRN_ASSERT(found->stages_size <= sizeof inquiry->stages);
    found->full_root = cairn_world_hash_read(inquiry->world).full;
}

static void run_find(cairn_server_task *task) {
    cairn_inquiry *inquiry = (cairn_inquiry *)task;
    if (inquiry->request.want == CAIRN_RESYNC_WANT_STAGES) {
        find_stages(inquiry);
    } else {
        find_elements(inquiry);
    }
}

static void end_find(cairn_server_task *task) {
    cairn_inquiry *inquiry = (cairn_inquiry *)task;
    if (inquiry->room == NULL) {
        free_inquiry(inquiry);
        return;
    }
    inquiry->found.requester = inquiry->requester;
    inquiry->requester = NULL;
    inquiry->on_found(inquiry->user, inquiry->room, &inquiry->found);
}

static void run_reserve(cairn_server_task *task) {
    cairn_inquiry *inquiry = (cairn_inquiry *)task;
    (void)cairn_fork_reserve(&inquiry->size, &inquiry->world);
}

static void end_reserve(cairn_server_task *task) {
    cairn_inquiry *inquiry = (cairn_inquiry *)task;
    if (inquiry->room == NULL) {
        free_inquiry(inquiry);
        return;
    }
    inquiry->no_memory = inquiry->world == NULL;
    inquiry->on_found(inquiry->user, inquiry->room, NULL);
}

static void start(cairn_inquiry *inquiry, void (*run)(cairn_server_task *task),
    void (*done)(cairn_server_task *task)) {
    inquiry->task = (cairn_server_task){.run = run, .done = done};
    cairn_task_start(inquiry->runner, &inquiry->task);
}

// ------------------------------------------------------------------------------------ the copy

// To take memory for a large world takes long, so a task does it.
static void reserve(cairn_inquiry *inquiry) {
    inquiry->size = cairn_fork_size_of(inquiry->room->world);
    if (inquiry->state_size > CAIRN_INQUIRY_AT_ONCE_SIZE_MAX) {
        start(inquiry, run_reserve, end_reserve);
    } else {
        run_reserve(&inquiry->task);
    }
}

// False: the copy has another def than the room's world by now.
static bool load(cairn_inquiry *inquiry, uint64_t tick) {
    const cairn_state_history *history = inquiry->room->state_history;
    inquiry->copied = false;
    inquiry->mine_size = 0;
    inquiry->filled =
        inquiry->filled || cairn_fork_fill(inquiry->world, inquiry->room->world) == CAIRN_OK;
    if (!inquiry->filled || cairn_state_history_load(history, tick, inquiry->world) != CAIRN_OK) {
        cairn_world_destroy(inquiry->world);
        inquiry->world = NULL;
        inquiry->filled = false;
        return false;
    }
    inquiry->copied = true;
    inquiry->tick = tick;
    inquiry->generation = cairn_state_history_generation(history);
    return true;
}

cairn_inquiry_copy cairn_inquiry_copy_state(
    cairn_inquiry *inquiry, uint64_t now_ns, uint64_t tick) {
    const cairn_state_history *history = inquiry->room->state_history;
    CAIRN_ASSERT(cairn_inquiry_is_ready(inquiry, now_ns));
    if (!cairn_state_history_holds(history, tick)) {
        return CAIRN_INQUIRY_GONE;
    }
    if (inquiry->copied && inquiry->tick == tick &&
        inquiry->generation == cairn_state_history_generation(history)) {
        return CAIRN_INQUIRY_COPIED;
    }
    inquiry->state_size = cairn_world_encode_size(inquiry->room->world);
    pay(inquiry, now_ns, inquiry->state_size);
    if (inquiry->world != NULL && load(inquiry, tick)) {
        return CAIRN_INQUIRY_COPIED;
    }
    if (!inquiry->no_memory) {
        reserve(inquiry);
    }
    if (inquiry->task.out) {
        return CAIRN_INQUIRY_LATER;
    }
    inquiry->no_memory = false;
    return inquiry->world != NULL && load(inquiry, tick) ? CAIRN_INQUIRY_COPIED
                                                         : CAIRN_INQUIRY_NO_MEMORY;
}

static void take(cairn_inquiry *inquiry, struct cairn_session *requester,
    const cairn_resync_request *request, uint32_t want) {
    CAIRN_ASSERT(!inquiry->task.out && inquiry->copied && inquiry->requester == NULL);
    inquiry->requester = requester;
    inquiry->request = *request;
    inquiry->request.want = want;
    inquiry->request.difference_sketch = inquiry->theirs;
    inquiry->found = (cairn_inquiry_found){.request = &inquiry->request};
}

void cairn_inquiry_begin_elements(
    cairn_inquiry *inquiry, struct cairn_session *requester, const cairn_resync_request *request) {
    CAIRN_ASSERT(cairn_sketch_size_ok(request->difference_sketch_size));
    take(inquiry, requester, request, CAIRN_RESYNC_WANT_ELEMENTS);
    memcpy(inquiry->theirs, request->difference_sketch, request->difference_sketch_size);
    if (inquiry->state_size > CAIRN_INQUIRY_AT_ONCE_SIZE_MAX) {
        start(inquiry, run_find, end_find);
    } else {
        run_find(&inquiry->task);
        end_find(&inquiry->task);
    }
}

bool cairn_inquiry_begin_stages(cairn_inquiry *inquiry, struct cairn_session *requester,
    const cairn_resync_request *request, const cairn_command *commands, uint32_t count) {
    cairn_command *copy = realloc(inquiry->commands, (count + 1) * sizeof *copy);
    if (copy == NULL) {
        return false;
    }
    inquiry->commands = copy;
    inquiry->command_count = count;
    if (count > 0) {
        memcpy(copy, commands, count * sizeof *copy);
    }
    take(inquiry, requester, request, CAIRN_RESYNC_WANT_STAGES);
    inquiry->copied = false; // the task steps it
    start(inquiry, run_find, end_find);
    return true;
}
