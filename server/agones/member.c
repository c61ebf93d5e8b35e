// SPDX-License-Identifier: MIT
#include "server/agones/member.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define ROOMS "/v1beta1/counters/rooms"
#define PLAYERS "/v1beta1/lists/players"

struct cairn_agones_member {
    bool ready;  // said once
    bool played; // somebody, since it was ready or reserved
    bool counts_rooms;
    bool lists_players;
    uint32_t reserve_s;
    uint64_t rooms_said;
    uint64_t rooms_max_said;
    char state[CAIRN_AGONES_STATE_SIZE]; // as Agones showed it last, or as an answer made it
    uint32_t players_max;
    uint32_t player_count; // that were said, in rising order
    uint64_t players[];
};

cairn_status cairn_agones_member_create(
    uint32_t players_max, uint32_t reserve_s, cairn_agones_member **out) {
    *out = calloc(1, sizeof **out + players_max * sizeof(uint64_t));
    if (*out == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    (*out)->counts_rooms = true;
    (*out)->lists_players = true;
    (*out)->reserve_s = reserve_s;
    (*out)->rooms_said = UINT64_MAX;
    (*out)->players_max = players_max;
    return CAIRN_OK;
}

void cairn_agones_member_destroy(cairn_agones_member *member) {
    free(member);
}

static cairn_agones_request request(cairn_agones_request_kind kind, uint64_t number) {
    static const struct {
        const char *method, *path, *body; // NULL: without a number
    } forms[] = {
        [CAIRN_AGONES_NOTHING] = {"", "", NULL},
        [CAIRN_AGONES_READY] = {"POST", "/ready", NULL},
        [CAIRN_AGONES_ALLOCATE] = {"POST", "/allocate", NULL},
        [CAIRN_AGONES_RESERVE] = {"POST", "/reserve", "seconds"},
        [CAIRN_AGONES_ROOMS_CAPACITY] = {"PATCH", ROOMS, "capacity"},
        [CAIRN_AGONES_ROOMS_COUNT] = {"PATCH", ROOMS, "count"},
        [CAIRN_AGONES_PLAYER_ADD] = {"POST", PLAYERS ":addValue", "value"},
        [CAIRN_AGONES_PLAYER_REMOVE] = {"POST", PLAYERS ":removeValue", "value"},
    };
    cairn_agones_request out = {.kind = kind, .number = number, .method = forms[kind].method};
    snprintf(out.path, sizeof out.path, "%s", forms[kind].path);
    // JSON of protocol buffers writes numbers of 64 bits as texts.
    if (forms[kind].body == NULL) {
        snprintf(out.body, sizeof out.body, "{}");
    } else {
        snprintf(out.body, sizeof out.body, "{\"%s\":\"%" PRIu64 "\"}", forms[kind].body, number);
    }
    return out;
}

static bool is_state(const cairn_agones_member *member, const char *state) {
    return strcmp(member->state, state) == 0;
}

static cairn_agones_request next_of_lifecycle(
    const cairn_agones_member *member, const cairn_agones_view *view) {
    if (!member->ready) {
        return request(CAIRN_AGONES_READY, 0);
    }
    if (view->clients > 0 && (is_state(member, "Ready") || is_state(member, "Reserved"))) {
        return request(CAIRN_AGONES_ALLOCATE, 0);
    }
    // A server that was allocated waits for its first client as long as it takes.
    if (view->clients == 0 && member->played && is_state(member, "Allocated")) {
        return member->reserve_s > 0 ? request(CAIRN_AGONES_RESERVE, member->reserve_s)
                                     : request(CAIRN_AGONES_READY, 0);
    }
    return request(CAIRN_AGONES_NOTHING, 0);
}

// The capacity goes first: the count must not exceed it, and a request may hold only one of them.
static cairn_agones_request next_of_rooms(
    const cairn_agones_member *member, const cairn_agones_view *view) {
    if (member->rooms_max_said != view->rooms_max) {
        return request(CAIRN_AGONES_ROOMS_CAPACITY, view->rooms_max);
    }
    return member->rooms_said != view->rooms ? request(CAIRN_AGONES_ROOMS_COUNT, view->rooms)
                                             : request(CAIRN_AGONES_NOTHING, 0);
}

// The first difference of two rising lists. Players that left are removed first, because
// the list may be full.
static cairn_agones_request next_of_players(
    const cairn_agones_member *member, const cairn_agones_view *view) {
    uint32_t said = 0, seen = 0;
    const uint64_t *added = NULL;
    while (said < member->player_count || seen < view->player_count) {
        if (seen == view->player_count ||
            (said < member->player_count && member->players[said] < view->players[seen])) {
            return request(CAIRN_AGONES_PLAYER_REMOVE, member->players[said]);
        }
        const bool known =
            said < member->player_count && member->players[said] == view->players[seen];
        added = !known && added == NULL ? &view->players[seen] : added;
        said += known ? 1 : 0;
        seen += 1;
    }
    return added == NULL ? request(CAIRN_AGONES_NOTHING, 0)
                         : request(CAIRN_AGONES_PLAYER_ADD, *added);
}

cairn_agones_request cairn_agones_member_next(
    cairn_agones_member *member, const cairn_agones_view *view) {
    CAIRN_ASSERT(view->player_count <= member->players_max);
    member->played |= view->clients > 0;
    cairn_agones_request out = next_of_lifecycle(member, view);
    if (out.kind == CAIRN_AGONES_NOTHING && member->counts_rooms) {
        out = next_of_rooms(member, view);
    }
    if (out.kind == CAIRN_AGONES_NOTHING && member->lists_players) {
        out = next_of_players(member, view);
    }
    return out;
}

static void say_player(cairn_agones_member *member, uint64_t player, bool present) {
    uint32_t at = 0;
    while (at < member->player_count && member->players[at] < player) {
        ++at;
    }
    uint64_t *place = member->players + at;
    const size_t behind = (member->player_count - at) * sizeof *place;
    const bool known = at < member->player_count && *place == player;
    if (present && !known) {
        memmove(place + 1, place, behind);
        *place = player;
        member->player_count += 1;
    } else if (!present && known) {
        memmove(place, place + 1, behind - sizeof *place);
        member->player_count -= 1;
    }
}

static void note_done(cairn_agones_member *member, const cairn_agones_request *done) {
    switch (done->kind) {
    case CAIRN_AGONES_READY:
        member->ready = true;
        member->played = false;
        (void)cairn_agones_member_state(member, "Ready");
        break;
    case CAIRN_AGONES_ALLOCATE:
        (void)cairn_agones_member_state(member, "Allocated");
        break;
    case CAIRN_AGONES_RESERVE:
        member->played = false;
        (void)cairn_agones_member_state(member, "Reserved");
        break;
    case CAIRN_AGONES_ROOMS_CAPACITY:
        member->rooms_max_said = done->number;
        break;
    case CAIRN_AGONES_ROOMS_COUNT:
        member->rooms_said = done->number;
        break;
    case CAIRN_AGONES_PLAYER_ADD:
    case CAIRN_AGONES_PLAYER_REMOVE:
        say_player(member, done->number, done->kind == CAIRN_AGONES_PLAYER_ADD);
        break;
    case CAIRN_AGONES_NOTHING:
        break;
    }
}

// Without regard to case.
static bool says(const char *text, const char *words) {
    const size_t size = strlen(words);
    for (; *text != '\0'; ++text) {
        size_t i = 0;
        while (i < size && tolower((unsigned char)text[i]) == words[i]) {
            ++i;
        }
        if (i == size) {
            return true;
        }
    }
    return false;
}

static cairn_agones_outcome outcome_of(
    const cairn_agones_request *asked, uint32_t status, const char *text) {
    const bool lists =
        asked->kind == CAIRN_AGONES_PLAYER_ADD || asked->kind == CAIRN_AGONES_PLAYER_REMOVE;
    const bool counts =
        asked->kind == CAIRN_AGONES_ROOMS_CAPACITY || asked->kind == CAIRN_AGONES_ROOMS_COUNT;
    if (status >= 200 && status < 300) {
        return CAIRN_AGONES_DONE;
    }
    if ((!lists && !counts) || status == 0) {
        return CAIRN_AGONES_AGAIN;
    }
    if (status == 409 || says(text, "already exists")) {
        return CAIRN_AGONES_DONE;
    }
    if (status == 404 || says(text, "not found") || says(text, "not enabled")) {
        // The value of a list may be gone, by another hand.
        return asked->kind == CAIRN_AGONES_PLAYER_REMOVE ? CAIRN_AGONES_DONE : CAIRN_AGONES_MISSING;
    }
    return status == 400 || says(text, "out of range") ? CAIRN_AGONES_REFUSED : CAIRN_AGONES_AGAIN;
}

cairn_agones_outcome cairn_agones_member_answered(cairn_agones_member *member,
    const cairn_agones_request *asked, uint32_t status, const char *text) {
    const cairn_agones_outcome outcome = outcome_of(asked, status, text);
    if (outcome == CAIRN_AGONES_MISSING) {
        const bool lists = asked->kind == CAIRN_AGONES_PLAYER_ADD;
        *(lists ? &member->lists_players : &member->counts_rooms) = false;
    } else if (outcome != CAIRN_AGONES_AGAIN) {
        note_done(member, asked);
    }
    return outcome;
}

bool cairn_agones_member_state(cairn_agones_member *member, const char *state) {
    if (is_state(member, state)) {
        return false;
    }
    snprintf(member->state, sizeof member->state, "%s", state);
    return true;
}
