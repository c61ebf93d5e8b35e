// SPDX-License-Identifier: MIT
#include "server/replicate/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

// A body leaves at this many eighths of the distance at which it enters.
#define LEAVE_EIGHTHS 9.0f

// ------------------------------------------------------------------------------------------ memory

// Members, scratch and entrants have room for the bodies that there were: most views are small.
static bool reserve(cairn_view *view, uint32_t count) {
    if (count <= view->room) {
        return true;
    }
    uint32_t room = count + count / 4 + 64;
    room = room < view->capacity ? room : view->capacity;
    cairn_view_member *members = realloc(view->members, room * sizeof *members);
    view->members = members != NULL ? members : view->members;
    cairn_view_member *scratch = realloc(view->scratch, room * sizeof *scratch);
    view->scratch = scratch != NULL ? scratch : view->scratch;
    uint32_t *entrants = realloc(view->entrants, room * sizeof *entrants);
    view->entrants = entrants != NULL ? entrants : view->entrants;
    if (members == NULL || scratch == NULL || entrants == NULL) {
        return false;
    }
    view->room = room;
    return true;
}

static void set_held(cairn_view *view, uint32_t index, bool held) {
    const uint8_t bit = (uint8_t)(1u << index % 8);
    view->held[index / 8] =
        (uint8_t)(held ? view->held[index / 8] | bit : view->held[index / 8] & ~bit);
}

static void note_gone(cairn_view *view, uint32_t index) {
    set_held(view, index, false);
    if (view->gone_count < CAIRN_VIEW_GONE_MAX) {
        view->gone[view->gone_count] = index;
    }
    view->gone_count += view->gone_count <= CAIRN_VIEW_GONE_MAX ? 1 : 0;
}

cairn_view *cairn_view_create(uint32_t body_capacity, const cairn_snapshot_frame *frame) {
    cairn_view *view = calloc(1, sizeof *view);
    if (view == NULL) {
        return NULL;
    }
    *view = (cairn_view){.capacity = body_capacity, .enter_bits = 100, .go_on_bits = 48};
    view->held = calloc(body_capacity / 8 + 1, sizeof *view->held);
    if (view->held == NULL || !reserve(view, frame != NULL ? frame->count : 1)) {
        cairn_view_destroy(view);
        return NULL;
    }
    for (uint32_t i = 0; frame != NULL && i < frame->count; ++i) {
        // Its shapes are those of all bodies.
        view->gone_count = CAIRN_VIEW_GONE_MAX + 1;
        view->members[view->count++] = (cairn_view_member){.id = frame->ids[i],
            .weight = 1.0f,
            .acked = {frame->tick},
            .sent = frame->tick,
            .since = 1,
            .shapes_sent = true};
        set_held(view, cairn_id_index(frame->ids[i]), true);
    }
    return view;
}

void cairn_view_destroy(cairn_view *view) {
    if (view != NULL) {
        for (uint32_t i = 0; i < CAIRN_VIEW_PARTS_MAX; ++i) {
            free(view->parts[i].records);
        }
        free(view->held);
        free(view->entrants);
        free(view->scratch);
        free(view->members);
        free(view);
    }
}

size_t cairn_view_bytes(const cairn_view *view) {
    size_t bytes = sizeof *view + view->capacity / 8 +
                   view->room * (2 * sizeof *view->members + sizeof *view->entrants);
    for (uint32_t i = 0; i < CAIRN_VIEW_PARTS_MAX; ++i) {
        bytes += view->parts[i].capacity * sizeof *view->parts[i].records;
    }
    return bytes;
}

bool cairn_view_shows(const cairn_view *view, cairn_body_id body) {
    if (!cairn_view_holds(view, cairn_id_index(body))) {
        return false;
    }
    uint32_t low = 0;
    for (uint32_t high = view->count; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        if (cairn_id_index(view->members[middle].id) < cairn_id_index(body)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < view->count && view->members[low].id == body && !view->members[low].leaving;
}

// ----------------------------------------------------------------------------------------- the set

typedef struct set_pass {
    cairn_view *view;
    cairn_room_interest *interest;
    const cairn_world *world;
    const cairn_rules *rules;
    const void *state;
    uint32_t slot;
    uint32_t own; // place + 1 of the player's own body; 0: none
    cairn_view_point point;
    uint32_t stamp; // marks of this pass are stamp and stamp + 1, which is of bodies that may enter
    uint32_t entrant_count;
} set_pass;

// How much the body matters to the player; 0: it is hidden.
static float weight_of(const set_pass *pass, cairn_body_id body) {
    if (pass->rules == NULL || pass->rules->relevance == NULL) {
        return 1.0f;
    }
    const float weight = pass->rules->relevance(pass->world, pass->state, pass->slot, body);
    return weight > 0.0f ? weight : 0.0f; // of a NaN, too
}

// From where the client sees: its own body, or where it was last. The rules may say otherwise. What
// a player would see around a hidden body would tell where that is.
static void find_point(set_pass *pass, float radius_m) {
    cairn_view *view = pass->view;
    const cairn_snapshot_frame *frame = pass->interest->frame;
    uint32_t own = pass->slot < CAIRN_SLOTS_MAX ? pass->interest->owned_places[pass->slot] : 0;
    while (own != 0 && !(weight_of(pass, frame->ids[own - 1]) > 0.0f)) {
        own = pass->interest->owned_next[own - 1];
    }
    pass->own = own;
    if (own != 0) {
        const cairn_pose pose = cairn_dequantise(&frame->quantisation, &frame->poses[own - 1]);
        view->center = pose.position;
        view->centered = true;
    }
    pass->point =
        (cairn_view_point){.center = view->center, .radius_m = view->centered ? radius_m : 0.0f};
    if (pass->rules != NULL && pass->rules->view != NULL) {
        pass->rules->view(pass->world, pass->state, pass->slot, &pass->point);
        view->center = pass->point.center;
    }
}

static void mark(set_pass *pass, uint32_t place, float distance_m, bool near) {
    cairn_view *view = pass->view;
    const cairn_snapshot_frame *frame = pass->interest->frame;
    const cairn_body_id id = frame->ids[place];
    const uint32_t index = cairn_id_index(id);
    if (!near && !cairn_view_holds(view, index)) {
        return;
    }
    const float weight = weight_of(pass, id);
    if (weight == 0.0f) {
        return;
    }
    pass->interest->marks[place] = pass->stamp + (near ? 1u : 0u);
    pass->interest->weights[place] = weight;
    pass->interest->distances[place] = distance_m;
    if (near && !cairn_view_holds(view, index)) {
        view->entrants[pass->entrant_count++] = place;
    }
}

static int compare_places(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static bool mark_set(set_pass *pass) {
    cairn_room_interest *interest = pass->interest;
    const cairn_snapshot_frame *frame = interest->frame;
    const float radius_m = pass->point.radius_m;
    if (!(radius_m > 0.0f)) {
        if (!reserve(pass->view, frame->count + pass->view->count)) {
            return false;
        }
        for (uint32_t place = 0; place < frame->count; ++place) {
            mark(pass, place, 0.0f, true);
        }
        return true;
    }
    const uint32_t count =
        cairn_room_interest_near(interest, pass->point.center, radius_m * (LEAVE_EIGHTHS / 8.0f));
    if (!reserve(pass->view, count + 1 + pass->view->count)) {
        return false;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_near_body *near = &interest->near[i];
        mark(pass, near->place, near->distance_m, near->distance_m <= radius_m);
    }
    if (pass->own != 0 && interest->marks[pass->own - 1] < pass->stamp) {
        mark(pass, pass->own - 1, 0.0f, true);
    }
    qsort(pass->view->entrants, pass->entrant_count, sizeof *pass->view->entrants, compare_places);
    return true;
}

static void enter(cairn_view *view, cairn_view_member *member, cairn_body_id id, uint64_t tick) {
    *member = (cairn_view_member){.id = id, .since = tick};
    view->shapes_owed = true;
}

// Whether the member stays in the list.
static bool follow(set_pass *pass, cairn_view_member *member) {
    const cairn_room_interest *interest = pass->interest;
    const uint64_t tick = interest->frame->tick;
    const uint32_t place = interest->places[cairn_id_index(member->id)];
    const uint32_t marked = place == 0 ? 0 : interest->marks[place - 1];
    const bool stays = marked >= pass->stamp;
    const cairn_body_id id = stays ? interest->frame->ids[place - 1] : member->id;
    if (stays && (id != member->id || (member->leaving && marked > pass->stamp))) {
        // Another body has its index, or it comes back while it leaves.
        enter(pass->view, member, id, tick);
    } else if (!stays && !member->leaving) {
        if (member->sent == 0) {
            return false;
        }
        const cairn_body_id gone = member->id;
        enter(pass->view, member, gone, tick);
        member->leaving = true;
    }
    if (stays && !member->leaving) {
        member->weight = interest->weights[place - 1];
        member->distance_m = interest->distances[place - 1];
    }
    return true;
}

// Both lists are in order of id index.
static void merge_entrants(set_pass *pass) {
    cairn_view *view = pass->view;
    const cairn_room_interest *interest = pass->interest;
    const cairn_snapshot_frame *frame = interest->frame;
    uint32_t count = 0;
    uint32_t e = 0;
    for (uint32_t m = 0; m <= view->count; ++m) {
        const uint32_t index = m < view->count ? cairn_id_index(view->members[m].id) : UINT32_MAX;
        for (; e < pass->entrant_count; ++e) {
            const uint32_t place = view->entrants[e];
            if (cairn_id_index(frame->ids[place]) > index) {
                break;
            }
            cairn_view_member *member = &view->scratch[count++];
            enter(view, member, frame->ids[place], frame->tick);
            member->weight = interest->weights[place];
            member->distance_m = interest->distances[place];
            set_held(view, cairn_id_index(member->id), true);
        }
        if (m < view->count && follow(pass, &view->members[m])) {
            view->scratch[count++] = view->members[m];
        } else if (m < view->count) {
            note_gone(view, index);
        }
    }
    cairn_view_member *members = view->scratch;
    view->scratch = view->members;
    view->members = members;
    view->count = count;
    CAIRN_ASSERT(count <= view->room);
}

bool cairn_view_update(cairn_view *view, cairn_room_interest *interest, const cairn_room *room,
    const cairn_session *session) {
    uint32_t state_size = 0;
    const cairn_rules *rules = cairn_world_settings(room->world)->rules;
    set_pass pass = {.view = view,
        .interest = interest,
        .world = room->world,
        .rules = rules,
        .state = rules == NULL ? NULL : cairn_world_rules_state(room->world, &state_size),
        .slot = session->slot,
        .stamp = interest->stamp += 2};
    view->opened = view->opened != 0 ? view->opened : interest->tick;
    find_point(&pass, (float)room->settings.view_distance_m);
    if (!mark_set(&pass)) {
        return false;
    }
    merge_entrants(&pass);
    return true;
}

// --------------------------------------------------------------------- what the client is known to
// hold

static void acknowledge_member(cairn_view_member *member, uint64_t tick) {
    if (tick >= member->since && tick > member->acked[0]) {
        memmove(member->acked + 1, member->acked, 2 * sizeof *member->acked);
        member->acked[0] = tick;
    }
}

void cairn_view_acknowledge(cairn_view *view, uint64_t tick) {
    const cairn_view_part *part = NULL;
    for (uint32_t i = 0; i < CAIRN_VIEW_PARTS_MAX && part == NULL; ++i) {
        part = view->parts[i].tick == tick ? &view->parts[i] : NULL;
    }
    if (part == NULL || tick <= view->acknowledged) {
        return; // what was not sent, or so long ago that it counts as lost
    }
    view->acknowledged = tick;
    uint32_t kept = 0;
    uint32_t r = 0;
    for (uint32_t m = 0; m < view->count; ++m) {
        cairn_view_member *member = &view->members[m];
        const uint32_t index = cairn_id_index(member->id);
        while (r < part->count && (part->records[r] & ~CAIRN_VIEW_LEFT) < index) {
            ++r;
        }
        const bool named = r < part->count && (part->records[r] & ~CAIRN_VIEW_LEFT) == index;
        const bool left = named && (part->records[r] & CAIRN_VIEW_LEFT) != 0;
        if (left && member->leaving && tick >= member->since) {
            note_gone(view, index);
            continue;
        }
        if (named && !left && !member->leaving) {
            acknowledge_member(member, tick);
        }
        view->members[kept++] = *member;
    }
    view->count = kept;
}

bool cairn_view_is_due(const cairn_view *view, const cairn_view_member *member,
    const cairn_room_interest *interest, uint64_t late) {
    const uint64_t tick = interest->frame->tick;
    const bool lost =
        member->sent == 0 || member->sent <= view->acknowledged || tick - member->sent > late;
    if (member->leaving || member->acked[0] == 0) {
        return lost;
    }
    const uint64_t changed = interest->changed[cairn_id_index(member->id)];
    return changed > member->acked[0] && (member->sent < changed || lost);
}
