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
        // Another body, which the client may not see, may have the index since the snapshot.
        if (shape->body == body && sent_id != shape->id &&
            !cairn_shape_batch_add(world, shape, sent_id, batch)) {
            return false;
        }
    }
    return true;
}

static bool has_room(const cairn_session *session) {
    return cairn_link_reliable_room(session->link) >= CAIRN_SHAPE_BATCH_SIZE_MAX;
}

static void send_entered(const cairn_server_context *context, cairn_session *session,
    const cairn_room_shapes *list, const cairn_room_interest *interest, cairn_view *view,
    cairn_shapes_sent *sent) {
    for (uint32_t m = 0; view->shapes_owed && has_room(session);) {
        cairn_shape_batch batch;
        cairn_shape_batch_begin(&batch);
        uint32_t end = m;
        bool more = false;
        for (; !more && end < view->count; end += more ? 0 : 1) {
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
        view->shapes_owed = more;
    }
}

static bool shows(const void *view, cairn_body_id body) {
    return cairn_view_shows(view, body);
}

// Of a body that left, unless it came back. False: the batch is full.
static bool remove_body(const cairn_room_shapes *list, const cairn_room_interest *interest,
    const cairn_view *view, const cairn_shapes_sent *sent, uint32_t index,
    cairn_shape_batch *batch) {
    uint32_t place = cairn_view_holds(view, index) ? 0 : interest->shape_first[index];
    for (; place != 0; place = interest->shape_next[place - 1]) {
        const cairn_shape_id id = list->shapes[place - 1].id;
        if (sent->ids[cairn_id_index(id)] == id && !cairn_shape_batch_add(NULL, NULL, id, batch)) {
            return false;
        }
    }
    return true;
}

static void remove_gone(const cairn_server_context *context, cairn_session *session,
    const cairn_room_shapes *list, const cairn_room_interest *interest, cairn_view *view,
    cairn_shapes_sent *sent) {
    if (view->gone_count > CAIRN_VIEW_GONE_MAX) {
        const cairn_shape_filter filter = {.view = view, .shows = shows, .held = view->held};
        const bool all = cairn_shapes_send_all(context, session, list, &filter, sent);
        view->gone_count = all ? 0 : view->gone_count;
        return;
    }
    while (view->gone_count > 0 && has_room(session)) {
        cairn_shape_batch batch;
        cairn_shape_batch_begin(&batch);
        uint32_t left = view->gone_count;
        while (left > 0 && remove_body(list, interest, view, sent, view->gone[left - 1], &batch)) {
            left -= 1;
        }
        if (batch.removed_count > 0 && !cairn_shape_batch_send(context, session, sent, &batch)) {
            return;
        }
        view->gone_count = left;
    }
}

void cairn_view_shapes_send(const cairn_server_context *context, cairn_session *session,
    const cairn_room_shapes *list, const cairn_room_interest *interest, cairn_view *view,
    cairn_shapes_sent *sent) {
    const cairn_shape_filter filter = {.view = view, .shows = shows};
    CAIRN_ASSERT(interest->shapes_revision == list->revision);
    if (!cairn_shapes_sent_own(sent, list)) {
        return;
    }
    send_entered(context, session, list, interest, view, sent);
    cairn_shapes_send_changes(context, session, list, &filter, sent);
    // At times that do not depend on what happens to bodies that the client does not see.
    if (context->now_ns >= view->shapes_ns) {
        remove_gone(context, session, list, interest, view, sent);
        view->shapes_ns = context->now_ns + CAIRN_NS_PER_S;
    }
}
