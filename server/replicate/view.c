// SPDX-License-Identifier: MIT
#include "server/replicate/view.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

// A body leaves at this many times the distance at which it enters.
#define LEAVE_RATIO (9.0f / 8.0f)

// ------------------------------------------------------------------------------------------ memory

static uint32_t roomy(const cairn_view *view, uint32_t count) {
    const uint32_t room = count + count / 4 + 64;
    return room < view->capacity ? room : view->capacity;
}

// There is room for the members that there were: most views are small.
static bool reserve(cairn_view *view, uint32_t count) {
    if (count <= view->room) {
        return true;
    }
    const uint32_t room = roomy(view, count);
    cairn_view_member *members = realloc(view->members, room * sizeof *members);
    if (members == NULL) {
        return false;
    }
    view->members = members;
    view->room = room;
    return true;
}

static void set_held(cairn_view *view, uint32_t index, bool held) {
    const uint64_t bit = UINT64_C(1) << index % 64;
    view->held[index / 64] = held ? view->held[index / 64] | bit : view->held[index / 64] & ~bit;
}

// A body that the view may find again if it comes back. If the list is full, the view searches
// again next time.
static void list_found(cairn_view *view, cairn_body_id id) {
    cairn_view_search *search = &view->search;
    if (search->count < search->room) {
        search->found[search->count++] = id;
    } else {
        search->looked = 0;
    }
}

static void note_gone(cairn_view *view, cairn_body_id id) {
    const uint32_t index = cairn_id_index(id);
    set_held(view, index, false);
    list_found(view, id);
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
    view->held = calloc(2 * cairn_view_words(view), sizeof *view->held);
    view->owed = view->held == NULL ? NULL : view->held + cairn_view_words(view);
    if (view->held == NULL || !reserve(view, frame != NULL ? frame->count : 1)) {
        cairn_view_destroy(view);
        return NULL;
    }
    memset(view->owed, 0xff, cairn_view_words(view) * sizeof *view->owed);
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
        free(view->search.found);
        free(view->members);
        free(view);
    }
}

size_t cairn_view_bytes(const cairn_view *view) {
    size_t bytes = sizeof *view + 2 * cairn_view_words(view) * sizeof *view->held +
                   view->room * sizeof *view->members +
                   view->search.room * sizeof *view->search.found;
    for (uint32_t i = 0; i < CAIRN_VIEW_PARTS_MAX; ++i) {
        bytes += view->parts[i].capacity * sizeof *view->parts[i].records;
    }
    return bytes;
}

// The member with this id index, or the one after where it would be.
static uint32_t find_member(const cairn_view *view, uint32_t index) {
    uint32_t low = 0;
    for (uint32_t high = view->count; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        if (cairn_id_index(view->members[middle].id) < index) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool cairn_view_shows(const cairn_view *view, cairn_body_id body) {
    if (!cairn_view_holds(view, cairn_id_index(body))) {
        return false;
    }
    const uint32_t m = find_member(view, cairn_id_index(body));
    return m < view->count && view->members[m].id == body && !view->members[m].leaving;
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
    uint32_t entrant_count;
    bool follows; // on the last snapshot's set: what members know of their distances is valid
    bool still;   // and nothing can enter or leave but what jumped
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

// Whether the body is where the client sees what it holds already. `near`: and what it does not.
static bool is_in_sight(const set_pass *pass, uint32_t place, float *distance_m, bool *near) {
    const float radius_m = pass->point.radius_m;
    *distance_m = 0.0f;
    *near = true;
    if (!(radius_m > 0.0f)) {
        return true;
    }
    const bool inside = cairn_room_interest_is_near(
        pass->interest, place, pass->point.center, radius_m * LEAVE_RATIO, distance_m);
    const bool own = place + 1 == pass->own;
    *near = own || (inside && *distance_m <= radius_m);
    return own || inside;
}

static void note_entrant(set_pass *pass, uint32_t place) {
    cairn_room_interest *interest = pass->interest;
    const cairn_body_id id = interest->frame->ids[place];
    float distance_m;
    bool near;
    if (cairn_view_holds(pass->view, cairn_id_index(id)) ||
        interest->marks[place] == interest->stamp ||
        !is_in_sight(pass, place, &distance_m, &near) || !near) {
        return;
    }
    const float weight = weight_of(pass, id);
    if (weight > 0.0f) {
        interest->marks[place] = interest->stamp;
        interest->entrants[pass->entrant_count++] =
            (cairn_view_entrant){.place = place, .weight = weight, .distance_m = distance_m};
    }
}

// Whether the view's last update was at the snapshot before this one, with the same radius.
static bool follows_last(const set_pass *pass) {
    const cairn_view_search *search = &pass->view->search;
    const cairn_room_interest *interest = pass->interest;
    const float radius_m = pass->point.radius_m;
    return interest->last != NULL && search->looked != 0 &&
           search->looked == interest->last->tick && !(search->radius_m < radius_m) &&
           !(search->radius_m > radius_m) && interest->jumped_count <= CAIRN_JUMPED_MAX;
}

static float way_between(cairn_vec3 a, cairn_vec3 b) {
    const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return cairn_float_sqrt(x * x + y * y + z * z);
}

// Whether no body can enter but those found by the last search and those that jumped since the last
// snapshot.
static bool is_search_valid(const set_pass *pass) {
    const cairn_view_search *search = &pass->view->search;
    const float radius_m = pass->point.radius_m;
    const double gone_m = (double)way_between(pass->point.center, search->center) +
                          pass->interest->travelled_m - search->travelled_m;
    // A little less than what lies between, for rounding.
    return follows_last(pass) && gone_m < 0.99 * (double)(radius_m * (LEAVE_RATIO - 1.0f)) &&
           search->gone_m < radius_m;
}

// As the last snapshot.
static bool has_same_ids(const cairn_room_interest *interest) {
    return interest->same_ids_since < interest->tick;
}

// On the way from the last update.
static void go_on(set_pass *pass) {
    cairn_view_search *search = &pass->view->search;
    const double travelled_m = pass->interest->travelled_m;
    const float step_m = way_between(pass->point.center, search->last_center) +
                         (float)(travelled_m - search->last_travelled_m);
    pass->still = pass->follows && !(step_m > 0.0f) && pass->interest->jumped_count == 0 &&
                  has_same_ids(pass->interest);
    search->gone_m += step_m;
    search->last_center = pass->point.center;
    search->last_travelled_m = travelled_m;
}

static bool search_again(set_pass *pass) {
    cairn_view_search *search = &pass->view->search;
    cairn_room_interest *interest = pass->interest;
    const uint32_t count =
        cairn_room_interest_near(interest, pass->point.center, pass->point.radius_m * LEAVE_RATIO);
    if (count > search->room) {
        const uint32_t room = roomy(pass->view, count);
        cairn_body_id *found = realloc(search->found, room * sizeof *found);
        if (found == NULL) {
            return false;
        }
        search->found = found;
        search->room = room;
    }
    search->count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_body_id id = interest->frame->ids[interest->near[i]];
        search->found[search->count] = id;
        search->count += cairn_view_holds(pass->view, cairn_id_index(id)) ? 0 : 1;
    }
    search->gone_m = 0.0f;
    search->center = search->last_center = pass->point.center;
    search->radius_m = pass->point.radius_m;
    search->travelled_m = search->last_travelled_m = interest->travelled_m;
    return true;
}

// A body that jumped is found there if it is in sight, and a member that jumped is looked at.
static void follow_jump(set_pass *pass, uint32_t place) {
    cairn_view *view = pass->view;
    const cairn_body_id id = pass->interest->frame->ids[place];
    const uint32_t index = cairn_id_index(id);
    float distance_m;
    bool near;
    if (cairn_view_holds(view, index)) {
        view->members[find_member(view, index)].stays_m = 0.0f;
    } else if (is_in_sight(pass, place, &distance_m, &near)) {
        list_found(view, id);
    }
}

static int compare_entrants(const void *a, const void *b) {
    const uint32_t x = ((const cairn_view_entrant *)a)->place;
    const uint32_t y = ((const cairn_view_entrant *)b)->place;
    return x < y ? -1 : x > y;
}

// Bodies that enter, in order of place.
static bool find_entrants(set_pass *pass) {
    cairn_room_interest *interest = pass->interest;
    cairn_view_search *search = &pass->view->search;
    interest->stamp += 1;
    pass->follows = pass->rules == NULL || pass->rules->relevance == NULL;
    if (!(pass->point.radius_m > 0.0f)) {
        pass->follows = pass->follows && follows_last(pass);
        pass->still = pass->follows && has_same_ids(interest);
        search->radius_m = 0.0f;
        search->looked = interest->tick;
        for (uint32_t place = 0; !pass->still && place < interest->frame->count; ++place) {
            note_entrant(pass, place);
        }
        return true;
    }
    const float leave_m = pass->point.radius_m * LEAVE_RATIO;
    if (interest->wanted_m == 0.0f || leave_m < interest->wanted_m) {
        interest->wanted_m = leave_m;
    }
    const bool valid = is_search_valid(pass);
    pass->follows = pass->follows && valid;
    if (!valid && !search_again(pass)) {
        return false;
    }
    go_on(pass);
    search->looked = interest->tick;
    for (uint32_t i = 0; !pass->still && i < search->count; ++i) {
        const uint32_t index = cairn_id_index(search->found[i]);
        const uint32_t place = interest->places[index];
        if (!cairn_view_holds(pass->view, index) && place != 0) {
            note_entrant(pass, place - 1);
        }
    }
    for (uint32_t i = 0; i < interest->jumped_count && i < CAIRN_JUMPED_MAX; ++i) {
        note_entrant(pass, interest->jumped[i]);
        follow_jump(pass, interest->jumped[i]);
    }
    if (pass->own != 0) {
        note_entrant(pass, pass->own - 1);
    }
    qsort(interest->entrants, pass->entrant_count, sizeof *interest->entrants, compare_entrants);
    return true;
}

static void enter(cairn_view *view, cairn_view_member *member, cairn_body_id id, uint64_t tick) {
    const uint32_t index = cairn_id_index(id);
    view->owed[index / 64] |= UINT64_C(1) << index % 64;
    *member = (cairn_view_member){.id = id, .since = tick};
    view->shapes_owed = true;
}

// A little less, for rounding. What the client's own body is may change.
static float stays_for(const set_pass *pass, uint32_t place, float distance_m) {
    const float radius_m = pass->point.radius_m;
    const float gone_m = pass->view->search.gone_m;
    if (place == pass->own) {
        return 0.0f;
    }
    return radius_m > 0.0f ? gone_m + (LEAVE_RATIO - 0.002f) * radius_m - distance_m : FLT_MAX;
}

// Whether the member stays in the list.
static bool follow(set_pass *pass, cairn_view_member *member) {
    const cairn_room_interest *interest = pass->interest;
    const uint64_t tick = interest->frame->tick;
    const uint32_t place = interest->places[cairn_id_index(member->id)];
    float distance_m = 0.0f;
    float weight = 0.0f;
    bool near = false;
    if (place != 0 && is_in_sight(pass, place - 1, &distance_m, &near)) {
        weight = weight_of(pass, interest->frame->ids[place - 1]);
    }
    const bool stays = weight > 0.0f;
    const cairn_body_id id = stays ? interest->frame->ids[place - 1] : member->id;
    if (stays && (id != member->id || (member->leaving && near))) {
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
        member->weight = weight;
        member->distance_m = distance_m;
        member->stays_m = stays_for(pass, place, distance_m);
    }
    return true;
}

// Whether a member is known to be in sight without a look.
static bool is_known(const set_pass *pass, const cairn_view_member *member) {
    const cairn_room_interest *interest = pass->interest;
    if (!pass->follows || !(pass->view->search.gone_m < member->stays_m)) {
        return false;
    }
    const uint32_t place = interest->places[cairn_id_index(member->id)];
    return has_same_ids(interest) || (place != 0 && interest->frame->ids[place - 1] == member->id);
}

static void follow_members(set_pass *pass) {
    cairn_view *view = pass->view;
    uint32_t kept = 0;
    for (uint32_t m = 0; m < view->count; ++m) {
        if (!is_known(pass, &view->members[m]) && !follow(pass, &view->members[m])) {
            note_gone(view, view->members[m].id);
            continue;
        }
        if (kept != m) {
            view->members[kept] = view->members[m];
        }
        kept += 1;
    }
    view->count = kept;
}

// Both lists are in order of id index. From behind, so that each member moves once.
static void merge_entrants(set_pass *pass) {
    cairn_view *view = pass->view;
    const cairn_room_interest *interest = pass->interest;
    const cairn_snapshot_frame *frame = interest->frame;
    uint32_t m = view->count;
    uint32_t e = pass->entrant_count;
    view->count += e;
    CAIRN_ASSERT(view->count <= view->room);
    while (e > 0) {
        const cairn_view_entrant *entrant = &interest->entrants[e - 1];
        const cairn_body_id id = frame->ids[entrant->place];
        cairn_view_member *to = &view->members[m + e - 1];
        if (m > 0 && cairn_id_index(view->members[m - 1].id) > cairn_id_index(id)) {
            *to = view->members[--m];
            continue;
        }
        enter(view, to, id, frame->tick);
        to->weight = entrant->weight;
        to->distance_m = entrant->distance_m;
        set_held(view, cairn_id_index(id), true);
        e -= 1;
    }
}

// Members that changed since the last update may be due. If snapshots were left out, all may be.
static void note_owed(cairn_view *view, const cairn_room_interest *interest) {
    const bool follows = interest->last != NULL && view->owed_at == interest->last->tick;
    for (uint32_t w = 0; view->owed_at != interest->tick && w < cairn_view_words(view); ++w) {
        view->owed[w] |= follows ? interest->changed[w] : UINT64_MAX;
    }
    view->owed_at = interest->tick;
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
        .slot = session->slot};
    view->opened = view->opened != 0 ? view->opened : interest->tick;
    note_owed(view, interest);
    find_point(&pass, (float)room->settings.view_distance_m);
    if (!find_entrants(&pass) || !reserve(view, view->count + pass.entrant_count)) {
        view->search.looked = 0;
        return false;
    }
    if (!pass.still) {
        follow_members(&pass);
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

// Of a part with few of the members, none of which left.
static bool acknowledge_few(cairn_view *view, const cairn_view_part *part) {
    bool few = part->count < view->count / 16;
    for (uint32_t i = 0; few && i < part->count; ++i) {
        few = (part->records[i] & CAIRN_VIEW_LEFT) == 0;
    }
    for (uint32_t i = 0; few && i < part->count; ++i) {
        const uint32_t m = find_member(view, part->records[i]);
        cairn_view_member *member = &view->members[m];
        if (m < view->count && cairn_id_index(member->id) == part->records[i] && !member->leaving) {
            acknowledge_member(member, part->tick);
        }
    }
    return few;
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
    if (acknowledge_few(view, part)) {
        return;
    }
    uint32_t kept = 0;
    uint32_t at = 0;
    for (uint32_t m = 0; m < view->count; ++m) {
        cairn_view_member *member = &view->members[m];
        const uint32_t index = cairn_id_index(member->id);
        const uint32_t record = cairn_view_part_record(part, index, &at);
        const bool named = record != CAIRN_VIEW_NO_RECORD;
        const bool left = named && (record & CAIRN_VIEW_LEFT) != 0;
        if (left && member->leaving && tick >= member->since) {
            note_gone(view, member->id);
            continue;
        }
        if (named && !left && !member->leaving) {
            acknowledge_member(member, tick);
        }
        if (kept != m) {
            view->members[kept] = *member;
        }
        kept += 1;
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
    const uint64_t changed = interest->history[cairn_id_index(member->id)].changed;
    return changed > member->acked[0] && (member->sent < changed || lost);
}
