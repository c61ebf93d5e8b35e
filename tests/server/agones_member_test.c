// SPDX-License-Identifier: MIT
// What a game server of a fleet says next, and what it makes of the answers.
#include "tests/kit/test.h"

#include <string.h>

#include "base/random.h"
#include "server/agones/member.h"

#define PLAYERS_MAX 16
#define LOST "connection refused"
#define MISSING "{\"code\":2,\"message\":\"counter not found: rooms\"}"

static cairn_agones_member *member;
static cairn_agones_view view;
static uint64_t players[PLAYERS_MAX];

static void begin(uint32_t reserve_s) {
    cairn_agones_member_destroy(member);
    assert_int_equal(cairn_agones_member_create(PLAYERS_MAX, reserve_s, &member), CAIRN_OK);
    view = (cairn_agones_view){.rooms = 1, .rooms_max = 16, .players = players};
}

static void expect(cairn_agones_request_kind kind) {
    assert_int_equal(cairn_agones_member_next(member, &view).kind, kind);
}

// Answers the next request, which must be this one.
static cairn_agones_outcome answer(
    cairn_agones_request_kind kind, uint32_t status, const char *text) {
    const cairn_agones_request next = cairn_agones_member_next(member, &view);
    assert_int_equal(next.kind, kind);
    return cairn_agones_member_answered(member, &next, status, text);
}

static void settle(void) {
    assert_int_equal(answer(CAIRN_AGONES_READY, 200, "{}"), CAIRN_AGONES_DONE);
    assert_int_equal(answer(CAIRN_AGONES_ROOMS_CAPACITY, 200, "{}"), CAIRN_AGONES_DONE);
    assert_int_equal(answer(CAIRN_AGONES_ROOMS_COUNT, 200, "{}"), CAIRN_AGONES_DONE);
    expect(CAIRN_AGONES_NOTHING);
}

TEST("requests have the form of the SDK's description") {
    begin(30);
    const cairn_agones_request ready = cairn_agones_member_next(member, &view);
    assert_string_equal(ready.method, "POST");
    assert_string_equal(ready.path, "/ready");
    assert_string_equal(ready.body, "{}");
    (void)answer(CAIRN_AGONES_READY, 200, "{}");
    const cairn_agones_request rooms = cairn_agones_member_next(member, &view);
    assert_string_equal(rooms.method, "PATCH");
    assert_string_equal(rooms.path, "/v1beta1/counters/rooms");
    assert_string_equal(rooms.body, "{\"capacity\":\"16\"}");
}

TEST("it is allocated while there are clients, and then ready, or reserved") {
    for (uint32_t reserve_s = 0; reserve_s <= 30; reserve_s += 30) {
        begin(reserve_s);
        settle();
        view.clients = 1;
        (void)answer(CAIRN_AGONES_ALLOCATE, 200, "{}");
        expect(CAIRN_AGONES_NOTHING);
        view.clients = 0;
        (void)answer(reserve_s > 0 ? CAIRN_AGONES_RESERVE : CAIRN_AGONES_READY, 200, "{}");
        expect(CAIRN_AGONES_NOTHING);
    }
}

TEST("one that was allocated waits for its first client") {
    begin(0);
    settle();
    assert_true(cairn_agones_member_state(member, "Allocated"));
    assert_false(cairn_agones_member_state(member, "Allocated"));
    expect(CAIRN_AGONES_NOTHING);
    view.clients = 1;
    expect(CAIRN_AGONES_NOTHING);
    view.clients = 0;
    expect(CAIRN_AGONES_READY);
}

TEST("what is lost is asked again, what is missing is not") {
    begin(0);
    assert_int_equal(answer(CAIRN_AGONES_READY, 0, LOST), CAIRN_AGONES_AGAIN);
    assert_int_equal(answer(CAIRN_AGONES_READY, 404, "{}"), CAIRN_AGONES_AGAIN);
    assert_int_equal(answer(CAIRN_AGONES_READY, 200, "{}"), CAIRN_AGONES_DONE);
    assert_int_equal(answer(CAIRN_AGONES_ROOMS_CAPACITY, 0, LOST), CAIRN_AGONES_AGAIN);
    assert_int_equal(answer(CAIRN_AGONES_ROOMS_CAPACITY, 500, "{}"), CAIRN_AGONES_AGAIN);
    assert_int_equal(answer(CAIRN_AGONES_ROOMS_CAPACITY, 500, MISSING), CAIRN_AGONES_MISSING);
    expect(CAIRN_AGONES_NOTHING);
    players[0] = 5;
    view.player_count = 1;
    assert_int_equal(answer(CAIRN_AGONES_PLAYER_ADD, 404, "{}"), CAIRN_AGONES_MISSING);
    expect(CAIRN_AGONES_NOTHING);
}

TEST("a list that is full, or has the value, is asked once") {
    begin(0);
    settle();
    players[0] = 5;
    players[1] = 9;
    view.player_count = 2;
    assert_int_equal(
        answer(CAIRN_AGONES_PLAYER_ADD, 500, "Already exists. Value: 5"), CAIRN_AGONES_DONE);
    assert_int_equal(answer(CAIRN_AGONES_PLAYER_ADD, 400, "{}"), CAIRN_AGONES_REFUSED);
    expect(CAIRN_AGONES_NOTHING);
    view.player_count = 0;
    assert_int_equal(
        answer(CAIRN_AGONES_PLAYER_REMOVE, 500, "not found. Value: 5"), CAIRN_AGONES_DONE);
}

TEST("the list becomes the players, whatever it was before") {
    cairn_random random = cairn_random_of(7);
    uint64_t said[PLAYERS_MAX];
    uint32_t count = 0;
    begin(0);
    settle();
    for (uint32_t round = 0; round < 200; ++round) {
        view.player_count = 0;
        for (uint64_t id = 1; id <= PLAYERS_MAX; ++id) {
            if (cairn_random_next(&random) % 2 == 0) {
                players[view.player_count++] = id;
            }
        }
        cairn_agones_request next;
        for (uint32_t i = 0; (next = cairn_agones_member_next(member, &view)).kind != 0; ++i) {
            assert_true(i < 2 * PLAYERS_MAX);
            const bool adds = next.kind == CAIRN_AGONES_PLAYER_ADD;
            uint32_t at = 0;
            while (at < count && said[at] != next.number) {
                ++at;
            }
            assert_int_equal(at == count, adds);
            said[at] = adds ? next.number : said[count - 1];
            count = adds ? count + 1 : count - 1;
            assert_int_equal(
                cairn_agones_member_answered(member, &next, 200, "{}"), CAIRN_AGONES_DONE);
        }
        assert_int_equal(count, view.player_count);
    }
    cairn_agones_member_destroy(member);
    member = NULL;
}
