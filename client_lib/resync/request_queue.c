// SPDX-License-Identifier: MIT
#include "client_lib/resync/request_queue.h"

#include "base/assert.h"

void cairn_resync_queue_ask(cairn_resync_queue *queue, cairn_resync_purpose purpose,
    const cairn_resync_request *request, uint64_t due_ns, bool repeats) {
    CAIRN_ASSERT(purpose < CAIRN_RESYNC_PURPOSE_COUNT && request->want != 0);
    queue->entries[purpose] = (cairn_resync_queue_entry){
        .open = true, .repeats = repeats, .due_ns = due_ns, .request = *request};
}

void cairn_resync_queue_postpone(
    cairn_resync_queue *queue, cairn_resync_purpose purpose, uint64_t now_ns) {
    cairn_resync_queue_entry *entry = &queue->entries[purpose];
    CAIRN_ASSERT(entry->request.want != 0);
    entry->open = true;
    entry->due_ns = now_ns + CAIRN_RESYNC_BACKOFF_NS;
}

void cairn_resync_queue_withdraw(cairn_resync_queue *queue, cairn_resync_purpose purpose) {
    CAIRN_ASSERT(purpose < CAIRN_RESYNC_PURPOSE_COUNT);
    queue->entries[purpose].open = false;
}

cairn_resync_purpose cairn_resync_queue_next(const cairn_resync_queue *queue, uint64_t now_ns) {
    uint32_t purpose = 0;
    while (purpose < CAIRN_RESYNC_PURPOSE_COUNT &&
           (!queue->entries[purpose].open || now_ns < queue->entries[purpose].due_ns)) {
        purpose++;
    }
    return (cairn_resync_purpose)purpose;
}

void cairn_resync_queue_sent(
    cairn_resync_queue *queue, cairn_resync_purpose purpose, uint64_t now_ns) {
    cairn_resync_queue_entry *entry = &queue->entries[purpose];
    CAIRN_ASSERT(entry->open && now_ns >= entry->due_ns);
    entry->open = entry->repeats;
    entry->due_ns = now_ns + CAIRN_RESYNC_RETRY_NS;
}
