// SPDX-License-Identifier: MIT
#include "server/replicate/view_shapes.h"

#include "base/assert.h"

// Of a body that entered. False: the batch is full.
static bool add_body(const cairn_world *world, const cairn_room_shapes *list,
    const cairn_room_interest *interest, const cairn_shapes_sent *sent, cairn_body_id body,
    cairn_shape_batch *batch) {
    uint32_t place = interest->shape_first[cairn_id_index(body)];
    for (; place != 0; place = interest->shape_next[place - 1]) {
        const cairn_snapshot_shape *shape = &list->shapes[place - 1];
        const uint32_t sent_id = sent->ids[cairn_id_index(shape->id)];
        if (sent_id != shape->id && !cairn_shape_batch_add(world, shape, sent_id, batch)) {
            return false;
        }
    }
    return true;
}

static void send_entered(const cairn_server_context *context, cairn_session *session,
    const cairn_room_shapes *list, const cairn_room_interest *interest, cairn_view *view,
    cairn_shapes_sent *sent) {
    bool more = true;
    for (uint32_t m = 0;
         more && cairn_link_reliable_room(session->link) >= CAIRN_SHAPE_BATCH_SIZE_MAX;) {
        cairn_shape_batch batch;
        cairn_shape_batch_begin(&batch);
        uint32_t end = m;
        for (more = false; !more && end < view->count; end += more ? 0 : 1) {
            const cairn_view_member *member = &view->members[end];
            more = !member->shapes_sent && !member->leaving &&
                   !add_body(session->room->world, list, interest, sent, member->id, &batch);
        }
        if (batch.shape_count > 0 && !cairn_shape_batch_send(context, session, sent, &batch)) {
            return;
        }
        for (; m < end; ++m) {
            view->members[m].shapes_sent = true;
        }
        // A body with more shapes than a batch holds waits for the next look at all shapes.
        more = more && batch.shape_count > 0;
    }
}

void cairn_view_shapes_send(const cairn_server_context *context, cairn_session *session,
    const cairn_room_shapes *list, const cairn_room_interest *interest, cairn_view *view,
    cairn_shapes_sent *sent) {
    CAIRN_ASSERT(sent->ids != NULL);
    send_entered(context, session, list, interest, view, sent);
    const bool stale = view->shapes_stale || sent->revision != list->revision;
    if (stale && context->now_ns >= view->shapes_ns &&
        cairn_shapes_send_changes(context, session, list, view->held, sent)) {
        sent->revision = list->revision;
        view->shapes_stale = false;
        view->shapes_ns = context->now_ns + CAIRN_NS_PER_S;
    }
}
