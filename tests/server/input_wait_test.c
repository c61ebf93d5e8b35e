// SPDX-License-Identifier: MIT
// A room that waits for late inputs is not slowed down by a player whose inputs are always a little
// late. tests/storm/stall_test.c has the waits that are announced, as their players see them.
#include "tests/kit/test.h"

#include "server/room/inbox.h"
#include "server/session/input_wait.h"
#include "server/session/session.h"
#include "tests/kit/packed.h"
#include "tests/server/story.h"

#define RATE_HZ 60
#define SECONDS 20

static story s; // too large for a stack

static bool has_story;

AFTER_EACH {
    if (has_story) {
        story_end(&s);
    }
    has_story = false;
}

static void send_input_for(uint32_t client, uint64_t tick) {
    const cairn_wire_input input = {.tick = tick, .sequence = (uint32_t)tick};
    const cairn_input_head head = {
        .ticks_acknowledged = cairn_world_tick(s.clients[client].world), .input_count = 1};
    const cairn_message message = kit_input(&head, &input);
    story_send(&s, client, &message, false);
}

// A player that sends the input of each tick `late_ms` after the tick before it was stepped.
typedef struct late_player {
    uint32_t client, late_ms;
    uint32_t inputs;      // of this session
    uint32_t inputs_stay; // after so many, or 2 s, it leaves and joins again; 0: it stays
    uint64_t sent, seen, seen_ns, since_ns;
} late_player;

static void begin_late(late_player *p) {
    s.clients[p->client].mute_inputs = true;
    p->inputs = 0;
    p->sent = p->seen = story_tick(&s);
    p->seen_ns = p->since_ns = s.now_ns;
}

static bool wants_to_leave(const late_player *p) {
    const bool done = p->inputs >= p->inputs_stay || s.now_ns - p->since_ns >= 2 * CAIRN_NS_PER_S;
    return p->inputs_stay > 0 && done && s.client_count < STORY_CLIENTS_MAX;
}

// With a new token, and the first inputs on time, so that the room waits for what comes then.
static void join_again(late_player *p) {
    story_leave(&s, p->client);
    story_run_ms(&s, 20);
    p->client = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    for (uint32_t i = 0; i < 500 && s.clients[p->client].ticks_stepped <= 2; ++i) {
        story_run_ms(&s, 4);
    }
    story_run_ms(&s, 40);
    begin_late(p);
}

static void run_late(late_player *p) {
    story_run_ms(&s, 4);
    if (story_tick(&s) != p->seen) {
        p->seen = story_tick(&s);
        p->seen_ns = s.now_ns;
    }
    if (p->seen >= p->sent && s.now_ns - p->seen_ns >= p->late_ms * UINT64_C(1000000)) {
        p->sent = p->seen + 1;
        p->inputs += 1;
        send_input_for(p->client, p->seen);
    }
    if (wants_to_leave(p)) {
        join_again(p);
    }
}

// A room with a player that is on time and with this one.
static late_player start_late(uint32_t late_ms, uint32_t inputs_stay) {
    cairn_server_config config = story_config();
    config.first_room.wait_ms = 500;
    config.first_room.tick_rate_hz = RATE_HZ;
    story_start(&s, &config);
    has_story = true;
    story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    s.next_client_id = 77;
    late_player late = {.client = story_join(&s, CAIRN_MODE_LOCKSTEP, false),
        .late_ms = late_ms,
        .inputs_stay = inputs_stay};
    story_run_ms(&s, 1000);
    begin_late(&late);
    return late;
}

// Returns how many ticks the room stepped.
static uint64_t ticks_with_late_player(uint32_t late_ms, uint32_t inputs_stay) {
    late_player late = start_late(late_ms, inputs_stay);
    const uint64_t from = story_tick(&s);
    for (const uint64_t end_ns = s.now_ns + SECONDS * CAIRN_NS_PER_S; s.now_ns < end_ns;) {
        run_late(&late);
    }
    return story_tick(&s) - from;
}

TEST("after a stall the room steps those ticks at once for which it has all inputs") {
    cairn_server_config config = story_config();
    config.first_room.wait_ms = 500;
    config.first_room.tick_rate_hz = RATE_HZ;
    config.first_room.catch_up_ticks_max = 60;
    story_start(&s, &config);
    has_story = true;
    const uint32_t player = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    story_run_ms(&s, 1000);
    s.clients[player].mute_inputs = true;
    const uint64_t next = story_tick(&s);
    for (uint64_t tick = next; tick < next + 40; ++tick) {
        send_input_for(player, tick);
        story_run_ms(&s, 4); // or the next one replaces it
    }
    story_run_ms(&s, 300);
    const uint64_t before = story_tick(&s);
    assert_in_range(before, next + 25, next + 30);
    s.now_ns += CAIRN_NS_PER_S / 2; // nobody is served meanwhile
    story_run_ms(&s, 8);
    assert_int_equal(story_tick(&s), next + 40);
    story_run_ms(&s, 100);
    assert_int_equal(story_tick(&s), next + 40);
}

TEST("inputs that are always a little late do not slow the room down") {
    for (uint32_t late_ms = 16; late_ms <= 40; late_ms += 4) {
        const uint64_t ticks = ticks_with_late_player(late_ms, 0);
        assert_in_range(ticks, RATE_HZ * SECONDS * 95 / 100, RATE_HZ * SECONDS + 1);
        if (late_ms >= 24) {
            assert_true(story_statistics(&s).total.slots_given_up > 0);
        }
        assert_true(story_statistics(&s).total.input_wait_ns > 0);
    }
}

TEST("a player that leaves and joins again gets no new waits") {
    static const struct {
        uint32_t late_ms, inputs_stay, percent;
    } rows[] = {{450, 2, 92}, {450, 3, 92}, {24, 15, 97}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const uint64_t ticks = ticks_with_late_player(rows[i].late_ms, rows[i].inputs_stay);
        assert_int_equal(s.client_count, STORY_CLIENTS_MAX);
        assert_in_range(ticks, RATE_HZ * SECONDS * rows[i].percent / 100, RATE_HZ * SECONDS + 1);
        assert_true(story_statistics(&s).total.slots_given_up > 0);
    }
}

// A player that is on time for a second when it was given up, `factor` times longer each time, and
// delays the room again. Returns how many ticks the room stepped in a minute.
static uint64_t ticks_with_fickle_player(uint32_t factor) {
    late_player late = start_late(450, 0);
    const uint64_t from = story_tick(&s);
    uint64_t given_up = story_statistics(&s).total.slots_given_up;
    uint32_t timely_ms = 1100;
    for (const uint64_t end_ns = s.now_ns + 60 * CAIRN_NS_PER_S; s.now_ns < end_ns;) {
        run_late(&late);
        if (story_statistics(&s).total.slots_given_up > given_up) {
            given_up = story_statistics(&s).total.slots_given_up;
            s.clients[late.client].mute_inputs = false;
            const uint64_t left_ms = (end_ns - s.now_ns) / UINT64_C(1000000);
            story_run_ms(&s, timely_ms < left_ms ? timely_ms : (uint32_t)left_ms);
            timely_ms *= factor;
            begin_late(&late);
        }
    }
    return story_tick(&s) - from;
}

TEST("being on time for a second does not give new waits again and again") {
    for (uint32_t factor = 1; factor <= 4; factor *= 2) {
        const uint64_t ticks = ticks_with_fickle_player(factor);
        assert_in_range(ticks, 60 * RATE_HZ * 90 / 100, 60 * RATE_HZ + 1);
    }
}

// A room that waits for five seconds at most, and a player that makes it wait for `wait_ms` once
// in `every_ms`; or that leaves for a second after each wait.
typedef struct rare_delay {
    uint32_t every_ms, wait_ms, seconds;
    bool comes_back;
} rare_delay;

// Returns how many percent of the due ticks the room stepped.
static uint64_t percent_with_rare_delays(const rare_delay *rare) {
    cairn_server_config config = story_config();
    config.first_room.wait_ms = 5000;
    config.first_room.tick_rate_hz = RATE_HZ;
    story_start(&s, &config);
    has_story = true;
    story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    s.next_client_id = 77;
    uint32_t client = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    story_run_ms(&s, 1000);
    const uint64_t from = story_tick(&s);
    const uint64_t from_ns = s.now_ns;
    while (s.now_ns < from_ns + rare->seconds * CAIRN_NS_PER_S) {
        s.clients[client].mute_inputs = true;
        for (uint32_t ms = 0; ms < rare->wait_ms; ms += 100) {
            send_input_for(client, story_tick(&s) - 1); // it is there, and its inputs are not
            story_run_ms(&s, 100);
        }
        s.clients[client].mute_inputs = false;
        story_run_ms(&s, rare->every_ms - rare->wait_ms);
        if (rare->comes_back && s.client_count < STORY_CLIENTS_MAX) {
            story_leave(&s, client);
            story_run_ms(&s, 1000);
            client = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
            story_run_ms(&s, 1000);
        }
    }
    const uint64_t due = RATE_HZ * (s.now_ns - from_ns) / CAIRN_NS_PER_S;
    return 100 * (story_tick(&s) - from) / due;
}

TEST("a delay of seconds once in ten seconds does not go on for good") {
    static const struct {
        rare_delay rare;
        uint64_t percent; // three of the longest waits, and a twentieth
        uint64_t given_up_min;
    } rows[] = {
        {{15500, 5000, 310, false}, 89, 1}, {{15500, 5000, 310, true}, 88, 1},
        {{12000, 1000, 600, false}, 92, 1},
        {{60000, 5000, 180, false}, 91, 0}, // as a bad path has it: it is waited for
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const uint64_t percent = percent_with_rare_delays(&rows[i].rare);
        const cairn_server_statistics now = story_statistics(&s);
        print_message("%u ms in %u: %u %% of the ticks, %u waits, given up %u times\n",
            rows[i].rare.wait_ms, rows[i].rare.every_ms, (unsigned)percent,
            (unsigned)now.total.input_waits, (unsigned)now.total.slots_given_up);
        assert_in_range(percent, rows[i].percent, 100);
        if (rows[i].given_up_min > 0) {
            assert_true(now.total.slots_given_up >= rows[i].given_up_min);
        } else {
            assert_int_equal(now.total.slots_given_up, 0);
        }
    }
}

#define FIRST_TICK 100
#define STEP_NS (CAIRN_NS_PER_S / 50)
#define WAIT_MS 100
#define MS_NS UINT64_C(1000000)

// A room of one player that simulates, and whose inputs a test sends.
typedef struct bench {
    cairn_server_context context;
    cairn_room room;
    cairn_session session;
    cairn_input_wait wait;
    uint64_t due_ns;
} bench;

static void begin_bench(bench *b) {
    const cairn_inbox_config inbox = {
        .tick = FIRST_TICK - 1, .window_ticks = 64, .slots = 2, .hold_ticks = 3};
    const cairn_link_config link = cairn_link_config_default();
    *b = (bench){.context = {.now_ns = 100 * CAIRN_NS_PER_S},
        .room = {.settings = {.wait_ms = WAIT_MS, .tick_rate_hz = 50, .players_max = 2},
            .input_wait = &b->wait,
            .members = &b->session,
            .member_last = &b->session},
        .session = {.room = &b->room,
            .slot = 0,
            .state = CAIRN_SESSION_PLAYING,
            .mode = CAIRN_MODE_LOCKSTEP,
            .received_ns = 100 * CAIRN_NS_PER_S,
            .due_ns = &b->due_ns}};
    b->room.scheduler = cairn_tick_scheduler_of(b->context.now_ns, 50, 8, FIRST_TICK);
    assert_int_equal(cairn_inbox_create(&inbox, &b->room.inbox), CAIRN_OK);
    assert_int_equal(cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX, &b->context.encoder), CAIRN_OK);
    assert_int_equal(cairn_link_create(&link, b->context.now_ns, &b->session.link), CAIRN_OK);
    cairn_inbox_join(b->room.inbox);
    cairn_command commands[CAIRN_INBOX_COMMANDS_MAX];
    assert_int_equal(cairn_inbox_gather(b->room.inbox, commands), 1);
}

static void end_bench(bench *b) {
    cairn_inbox_destroy(b->room.inbox);
    cairn_encoder_destroy(b->context.encoder);
    cairn_link_destroy(b->session.link);
}

static void send_tick(bench *b, uint64_t tick) {
    const cairn_command input = {.sequence = (uint32_t)tick};
    assert_int_equal(cairn_inbox_take(b->room.inbox, 0, tick, &input), CAIRN_INBOX_TAKEN);
}

// How many of `ticks` may be stepped `after_ns` after the next one was due.
static uint32_t ready_after(bench *b, int64_t after_ns, uint32_t ticks) {
    b->context.now_ns = cairn_tick_scheduler_due_ns(&b->room.scheduler, b->room.scheduler.tick) +
                        (uint64_t)after_ns;
    b->session.received_ns = b->context.now_ns;
    return cairn_input_wait_ready_count(&b->context, &b->room, ticks);
}

// The next tick is stepped when its input came so late.
static void step_late(bench *b, uint64_t late_ns) {
    const uint64_t due_ns = cairn_tick_scheduler_due_ns(&b->room.scheduler, b->room.scheduler.tick);
    assert_int_equal(ready_after(b, 0, 1), 0);
    assert_int_equal(ready_after(b, (int64_t)late_ns - 1, 1), 0);
    send_tick(b, b->room.scheduler.tick);
    assert_int_equal(ready_after(b, (int64_t)late_ns, 1), 1);
    assert_int_equal(cairn_tick_scheduler_due_ns(&b->room.scheduler, b->room.scheduler.tick),
        due_ns + late_ns / STEP_NS * STEP_NS); // the schedule slips by whole ticks
    cairn_tick_scheduler_step(&b->room.scheduler);
}

TEST("a wait is announced after two ticks, and ends with the input or with the time for it") {
    bench b;
    begin_bench(&b);
    assert_int_equal(ready_after(&b, 0, 4), 4); // who has sent nothing yet is not waited for
    send_tick(&b, FIRST_TICK);
    cairn_tick_scheduler_step(&b.room.scheduler);
    assert_int_equal(ready_after(&b, 0, 0), 0);
    assert_int_equal(ready_after(&b, 0, 4), 0);
    const uint64_t due_ns = b.context.now_ns;
    assert_int_equal(cairn_input_wait_due_ns(&b.room), due_ns + 2 * STEP_NS);
    assert_int_equal(ready_after(&b, 2 * STEP_NS - 1, 4), 0);
    assert_int_equal(b.room.statistics.input_waits, 0);
    assert_int_equal(ready_after(&b, 2 * STEP_NS, 4), 0);
    assert_int_equal(b.room.statistics.input_waits, 1);
    assert_int_equal(ready_after(&b, 3 * STEP_NS, 4), 0);
    assert_int_equal(b.room.statistics.input_waits, 1); // once
    assert_int_equal(cairn_input_wait_due_ns(&b.room), due_ns + WAIT_MS * MS_NS);
    send_tick(&b, FIRST_TICK + 1);
    assert_int_equal(ready_after(&b, 3 * STEP_NS, 4), 1);
    assert_int_equal(b.room.statistics.input_wait_ns, 3 * STEP_NS);
    assert_int_equal(b.wait.slots[0].waits, 1);
    assert_int_equal(b.wait.slots[0].waited_ns, 3 * STEP_NS);
    assert_int_equal(b.wait.slots[0].budget.offences, 1);
    assert_false(b.wait.waiting);
    cairn_tick_scheduler_step(&b.room.scheduler);
    assert_int_equal(ready_after(&b, 0, 4), 0);
    assert_int_equal(ready_after(&b, WAIT_MS * (int64_t)MS_NS - 1, 4), 0);
    assert_int_equal(ready_after(&b, WAIT_MS * (int64_t)MS_NS, 4), 1); // without it
    assert_int_equal(b.wait.slots[0].budget.timely_required, 1);
    // Not waited for until an input is on time.
    const uint64_t tick = b.room.scheduler.tick;
    cairn_input_wait_observe_tick(&b.room, tick);
    cairn_tick_scheduler_step(&b.room.scheduler);
    assert_int_equal(ready_after(&b, 0, 4), 4);
    send_tick(&b, tick + 1);
    cairn_input_wait_observe_tick(&b.room, tick + 1);
    assert_int_equal(b.wait.slots[0].budget.timely_required, 0);
    cairn_tick_scheduler_step(&b.room.scheduler);
    assert_int_equal(ready_after(&b, 0, 4), 0);
    send_tick(&b, tick + 4);
    assert_int_equal(ready_after(&b, STEP_NS, 4), 1);
    cairn_tick_scheduler_step(&b.room.scheduler);
    assert_int_equal(ready_after(&b, 0, 4), 2); // as far as inputs are there
    assert_int_equal(ready_after(&b, 0, 2), 2);
    cairn_input_wait_join(&b.room, 0, 77, b.context.now_ns);
    assert_int_equal(b.wait.slots[0].waits, 0);
    end_bench(&b);
}

TEST("a player that is silent for a second, does not play or only watches is not waited for") {
    bench b;
    begin_bench(&b);
    send_tick(&b, FIRST_TICK);
    cairn_tick_scheduler_step(&b.room.scheduler);
    b.context.now_ns = cairn_tick_scheduler_due_ns(&b.room.scheduler, FIRST_TICK + 1);
    static const struct {
        uint64_t silent_ns;
        cairn_session_state state;
        uint32_t mode, slot;
        bool waited_for;
    } rows[] = {{CAIRN_NS_PER_S, CAIRN_SESSION_PLAYING, CAIRN_MODE_LOCKSTEP, 0, false},
        {0, CAIRN_SESSION_WELCOMED, CAIRN_MODE_LOCKSTEP, 0, false},
        {0, CAIRN_SESSION_PLAYING, CAIRN_MODE_INTERPOLATE, 0, false},
        {0, CAIRN_SESSION_PLAYING, CAIRN_MODE_LOCKSTEP, CAIRN_SLOT_NONE, false},
        {CAIRN_NS_PER_S - 1, CAIRN_SESSION_PLAYING, CAIRN_MODE_LOCKSTEP, 0, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        b.session.received_ns = b.context.now_ns - rows[i].silent_ns;
        b.session.state = rows[i].state;
        b.session.mode = rows[i].mode;
        b.session.slot = rows[i].slot;
        assert_int_equal(
            cairn_input_wait_ready_count(&b.context, &b.room, 1), rows[i].waited_for ? 0 : 1);
    }
    b.session.state = CAIRN_SESSION_PLAYING;
    b.session.mode = CAIRN_MODE_LOCKSTEP;
    b.session.slot = 0;
    b.room.settings.wait_ms = 0;
    assert_int_equal(cairn_input_wait_ready_count(&b.context, &b.room, 3), 3);
    end_bench(&b);
}

TEST(
    "a player that delays its room again and again is given up until it was on time for a second") {
    static const struct {
        uint64_t late_ns, pause_ns;
        uint32_t given_up_at; // after so many waits; 0: never
    } rows[] = {{2 * STEP_NS + MS_NS, 0, 3}, {2 * STEP_NS + MS_NS, CAIRN_INPUT_WAIT_OFFENCES_NS, 0},
        {39 * MS_NS, 0, 13}, {2 * STEP_NS, 0, 13}, {10 * MS_NS, CAIRN_NS_PER_S, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        bench b;
        begin_bench(&b);
        send_tick(&b, FIRST_TICK);
        cairn_tick_scheduler_step(&b.room.scheduler);
        for (uint32_t k = 1; k <= 30 && b.room.statistics.slots_given_up == 0; ++k) {
            step_late(&b, rows[i].late_ns);
            assert_int_equal(b.room.statistics.slots_given_up, k == rows[i].given_up_at);
            cairn_tick_scheduler_restart(
                &b.room.scheduler, b.context.now_ns + rows[i].pause_ns, 1000);
        }
        assert_int_equal(b.room.statistics.slots_given_up, rows[i].given_up_at > 0);
        if (rows[i].given_up_at > 0) {
            assert_int_equal(b.wait.slots[0].budget.timely_required, 50);
            for (uint32_t k = 0; k < 50; ++k) {
                assert_int_equal(b.wait.slots[0].budget.timely_missing, 50 - k);
                assert_int_equal(ready_after(&b, 0, 1), 1);
                send_tick(&b, b.room.scheduler.tick);
                cairn_input_wait_observe_tick(&b.room, b.room.scheduler.tick);
                cairn_tick_scheduler_step(&b.room.scheduler);
            }
            assert_int_equal(ready_after(&b, 0, 1), 0); // and is waited for again
        }
        end_bench(&b);
    }
}

// How much of the room's waits for slot 0 was used.
static const cairn_wait_budget *budget_of(const bench *b) {
    return &b->wait.slots[0].budget;
}

static void leave(bench *b, uint64_t client_id) {
    cairn_input_wait_leave(&b->context, &b->room, 0, client_id);
}

static void join(bench *b, uint64_t client_id) {
    cairn_input_wait_join(&b->room, 0, client_id, b->context.now_ns);
}

static void begin_delayed(bench *b, uint32_t waits) {
    begin_bench(b);
    send_tick(b, FIRST_TICK);
    cairn_tick_scheduler_step(&b->room.scheduler);
    for (uint32_t i = 0; i < waits; ++i) {
        step_late(b, 3 * STEP_NS);
    }
}

TEST("what a player has used of the waits is its own, whoever has its slot meanwhile") {
    bench b;
    begin_delayed(&b, 2);
    leave(&b, 77);
    join(&b, 78);
    assert_int_equal(budget_of(&b)->offences, 0);
    step_late(&b, STEP_NS);
    leave(&b, 78);
    join(&b, 77);
    assert_int_equal(budget_of(&b)->offences, 2);
    assert_int_equal(budget_of(&b)->silent_ns, 0);
    assert_int_equal(b.wait.slots[0].waits, 0); // a count of the session
    step_late(&b, 3 * STEP_NS);
    assert_int_equal(b.room.statistics.slots_given_up, 1);
    leave(&b, 77);
    join(&b, 78);
    assert_int_equal(budget_of(&b)->silent_ns, STEP_NS);
    leave(&b, 78);
    join(&b, 77);
    assert_int_equal(budget_of(&b)->timely_required, 50);
    end_bench(&b);
}

TEST("a player that leaves while the room waits for it has used that wait") {
    bench b;
    begin_delayed(&b, 0);
    assert_int_equal(ready_after(&b, 0, 1), 0);
    assert_int_equal(ready_after(&b, 3 * STEP_NS, 1), 0);
    leave(&b, 77);
    assert_int_equal(b.room.statistics.input_wait_ns, 3 * STEP_NS);
    join(&b, 78);
    b.session.slot = CAIRN_SLOT_NONE;
    assert_int_equal(ready_after(&b, 4 * STEP_NS, 1), 1);
    assert_int_equal(b.room.statistics.input_wait_ns, 3 * STEP_NS); // it counts once
    assert_int_equal(budget_of(&b)->offences, 0);
    leave(&b, 78);
    join(&b, 77);
    assert_int_equal(budget_of(&b)->offences, 1);
    end_bench(&b);
}

TEST("after the next player's wait began, a player that left is charged for its own alone") {
    bench b;
    begin_delayed(&b, 0);
    assert_int_equal(ready_after(&b, 0, 1), 0);
    assert_int_equal(ready_after(&b, STEP_NS, 1), 0);
    leave(&b, 77);
    join(&b, 78);
    assert_int_equal(ready_after(&b, 2 * STEP_NS, 1), 0); // for the next player
    send_tick(&b, b.room.scheduler.tick);
    assert_int_equal(ready_after(&b, 3 * STEP_NS, 1), 1);
    assert_int_equal(budget_of(&b)->silent_ns, STEP_NS);
    leave(&b, 78);
    join(&b, 77);
    assert_int_equal(budget_of(&b)->silent_ns, STEP_NS);
    end_bench(&b);
}

TEST("another world gives no new waits") {
    bench b;
    begin_delayed(&b, 2);
    assert_int_equal(ready_after(&b, 0, 1), 0);
    cairn_input_wait_restart(&b.room);
    assert_false(b.wait.waiting);
    assert_int_equal(budget_of(&b)->offences, 2);
    end_bench(&b);
}

TEST("only time gives a player that left new waits") {
    bench b;
    begin_delayed(&b, 2);
    step_late(&b, STEP_NS);
    const uint64_t silent_from_ns = budget_of(&b)->silent_from_ns;
    assert_true(silent_from_ns > budget_of(&b)->offence_ns);
    b.context.now_ns = budget_of(&b)->offence_ns + CAIRN_INPUT_WAIT_OFFENCES_NS - 1;
    leave(&b, 77);
    join(&b, 77);
    assert_int_equal(budget_of(&b)->offences, 2);
    assert_int_equal(budget_of(&b)->silent_ns, STEP_NS);
    b.context.now_ns += 1;
    leave(&b, 77);
    join(&b, 77);
    assert_int_equal(budget_of(&b)->offences, 0);
    assert_int_equal(budget_of(&b)->silent_ns, STEP_NS);
    b.context.now_ns = silent_from_ns + CAIRN_INPUT_WAIT_SILENT_NS;
    leave(&b, 77);
    join(&b, 77);
    assert_int_equal(budget_of(&b)->silent_ns, 0);
    end_bench(&b);
}

TEST("a player that is given up again has to be on time for longer, for five minutes") {
    static const uint32_t timely[] = {50, 200, 800, 3200, 3200};
    bench b;
    begin_delayed(&b, 0);
    for (uint32_t i = 0; i < 6; ++i) {
        for (uint32_t k = 0; k < CAIRN_INPUT_WAIT_OFFENCES_MAX; ++k) {
            step_late(&b, 3 * STEP_NS);
        }
        assert_int_equal(b.room.statistics.slots_given_up, i + 1);
        assert_int_equal(budget_of(&b)->timely_required, i < 5 ? timely[i] : 50);
        b.wait.slots[0].budget.timely_required = 0; // it was on time, for long
        b.wait.slots[0].budget.paid_ns = 0;
        leave(&b, 77);
        join(&b, 77);
        assert_int_equal(budget_of(&b)->times_given_up, i < 3 ? i + 1 : i < 5 ? 4 : 1);
        if (i == 4) {
            cairn_tick_scheduler_restart(
                &b.room.scheduler, budget_of(&b)->given_up_ns + CAIRN_INPUT_WAIT_GIVEN_UP_NS, 1000);
        }
    }
    b.context.now_ns = budget_of(&b)->given_up_ns + CAIRN_INPUT_WAIT_GIVEN_UP_NS - 1;
    leave(&b, 77);
    join(&b, 77);
    assert_int_equal(budget_of(&b)->times_given_up, 1);
    b.context.now_ns += 1;
    leave(&b, 77);
    join(&b, 77);
    assert_int_equal(budget_of(&b)->times_given_up, 0);
    end_bench(&b);
}
