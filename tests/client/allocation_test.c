// SPDX-License-Identifier: MIT
// A whole session of a server and its clients in which an allocation fails: the n-th alone, or all
// from the n-th on, for each n until none fails. What cannot be had is refused, nothing crashes or
// leaks, and when there is memory again a new client plays. The linker routes the allocations of
// this program's libraries to the functions below.
#include "tests/kit/test.h"

#include <stdlib.h>
#include <string.h>

#include "client_lib/client_probe.h"
#include "tests/kit/scenes.h"
#include "tests/kit/watched.h"
#include <cairn/client.h>
#include <cairn/control.h>
#include <cairn/server.h>

#define CLIENTS 5 // one for each mode, and one that joins later
#define LATER 4
#define MS_NS UINT64_C(1000000)
#define STEP_NS (UINT64_C(8) * MS_NS)
#define START_NS (UINT64_C(5000) * MS_NS)
#define START_UNIX_S UINT64_C(1000000)

static uint64_t allocations; // tried
static uint64_t fail_from;   // number of the first that fails; 0: none fails
static uint64_t fail_to;     // number of the last one
static int64_t held;         // not freed

// The names are the linker's.
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __real_free(void *memory);
void __wrap_free(void *memory);

static bool fails(void) {
    allocations += 1;
    return fail_from != 0 && allocations >= fail_from && allocations <= fail_to;
}

static void *hold(void *memory) {
    held += memory != NULL ? 1 : 0;
    return memory;
}

void *__wrap_malloc(size_t size) {
    return fails() ? NULL : hold(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : hold(__real_calloc(count, size));
}

void *__wrap_realloc(void *memory, size_t size) {
    if (fails()) {
        return NULL;
    }
    void *grown = __real_realloc(memory, size);
    return memory == NULL ? hold(grown) : grown;
}

void __wrap_free(void *memory) {
    held -= memory != NULL ? 1 : 0;
    __real_free(memory);
}

static struct {
    uint64_t now_ns;
    cairn_server *server;
    cairn_client *clients[CLIENTS];
    uint8_t tokens[CLIENTS][CAIRN_CONNECT_TOKEN_SIZE];
    uint32_t capsules;
    uint32_t reports;
} s;

static const cairn_address server_address = {
    .family = CAIRN_ADDRESS_IPV4, .port = 40000, .ip = {10, 0, 0, 1}};
static const uint8_t key[CAIRN_KEY_SIZE] = {1};

static const cairn_scene *scene(void) {
    return kit_scene("{'name': 'test', 'rules': 'sandbox', 'body_capacity': 24,"
                     " 'shape_capacity': 24, 'contact_capacity': 64, 'bodies': ["
                     "{'kind': 'static', 'shapes': [{'kind': 'half_space'}]},"
                     "{'kind': 'dynamic', 'position': [0, 0.6, 0], 'grid_count': [2, 2, 1],"
                     " 'grid_spacing': [2, 1.1, 1],"
                     " 'shapes': [{'kind': 'box', 'half_extents': [0.5, 0.5, 0.5]}]}]}");
}

static const cairn_scene *find_scene(void *user, const char *name) {
    (void)user;
    return strcmp(name, "test") == 0 ? scene() : NULL;
}

static bool on_record(void *user, const char *room, const uint8_t *bytes, size_t size) {
    (void)user;
    (void)room;
    (void)bytes;
    (void)size;
    return true;
}

static void on_capsule(void *user, const char *room, uint64_t tick, uint64_t client_id,
    const uint8_t *bytes, size_t size) {
    (void)user;
    (void)room;
    (void)tick;
    (void)client_id;
    (void)bytes;
    s.capsules += size > 0 ? 1 : 0;
}

static void on_report(void *context, const uint8_t *bytes, size_t size) {
    (void)context;
    (void)bytes;
    s.reports += size > 0 ? 1 : 0;
}

static void make_tokens(void) {
    for (uint32_t i = 0; i < CLIENTS; ++i) {
        const uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE] = {(uint8_t)(i + 1)};
        uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE] = {0};
        cairn_user_data_write(user_data, CAIRN_USER_RIGHT_OPERATOR);
        const cairn_token_request request = {.protocol_id = CAIRN_PROTOCOL_ID_DEFAULT,
            .user_data = user_data,
            .client_id = i + 1,
            .create_unix_s = START_UNIX_S,
            .lifetime_s = 600,
            .timeout_s = 5,
            .server_addresses = &server_address,
            .server_count = 1,
            .private_key = key,
            .entropy = entropy};
        assert_int_equal(cairn_token_issue(&request, s.tokens[i]), CAIRN_OK);
    }
}

static void start_server(void) {
    static const uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE] = {2};
    cairn_server_config config = cairn_server_config_default();
    config.clients_max = CLIENTS;
    config.rooms_max = 4;
    config.first_room.scene = scene();
    config.first_room.name = CAIRN_ROOM_NAME_DEFAULT;
    config.private_key = key;
    config.entropy = entropy;
    config.public_addresses = &server_address;
    config.public_address_count = 1;
    config.token_lifetime_s_max = 600;
    config.control = true;
    config.find_scene = find_scene;
    config.on_record = on_record;
    config.on_capsule = on_capsule;
    config.start_ns = s.now_ns;
    config.start_unix_ns = START_UNIX_S * CAIRN_NS_PER_S;
    const cairn_status status = cairn_server_create(&config, &s.server);
    assert_true(status == CAIRN_OK || (status == CAIRN_OUT_OF_MEMORY && s.server == NULL) ||
                (status == CAIRN_INVALID_ARGUMENT && s.server == NULL));
}

static void join(uint32_t i) {
    cairn_client_config config = cairn_client_config_default();
    config.mode = (cairn_client_mode)(i % 4);
    config.bodies_max = 64;
    config.shapes_max = 64;
    config.state_size_max = 1 << 20;
    config.rollback_memory_max = 1 << 18;
    config.on_desync_report = on_report;
    const cairn_status status = cairn_client_create(&config, &s.clients[i]);
    assert_true(status == CAIRN_OK || (status == CAIRN_OUT_OF_MEMORY && s.clients[i] == NULL));
    if (status == CAIRN_OK) {
        assert_true(cairn_client_connect(s.clients[i], s.now_ns, START_UNIX_S + 1, s.tokens[i]));
    }
}

static cairn_address address_of(uint32_t i) {
    return (cairn_address){
        .family = CAIRN_ADDRESS_IPV4, .port = (uint16_t)(50000 + i), .ip = {10, 0, 0, 2}};
}

static void pass(uint32_t steps) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    cairn_address to;
    size_t size;
    for (uint32_t step = 0; step < steps && s.server != NULL; ++step) {
        s.now_ns += STEP_NS;
        for (uint32_t i = 0; i < CLIENTS; ++i) {
            const cairn_address from = address_of(i);
            const cairn_client_input input = {.buttons = step / 8 % 2};
            if (s.clients[i] == NULL) {
                continue;
            }
            cairn_client_push_input(s.clients[i], &input);
            cairn_client_advance(s.clients[i], s.now_ns);
            while ((size = cairn_client_send(s.clients[i], s.now_ns, bytes)) > 0) {
                cairn_server_receive(s.server, s.now_ns, &from, bytes, size);
            }
        }
        cairn_server_advance(s.server, s.now_ns);
        while ((size = cairn_server_send(s.server, s.now_ns, &to, bytes)) > 0) {
            cairn_client *client = s.clients[to.port - 50000];
            if (client != NULL) {
                cairn_client_receive(client, s.now_ns, &server_address, bytes, size);
            }
        }
    }
}

static void ask(cairn_control_request request) {
    request.room = request.room == NULL ? "" : request.room;
    if (s.clients[0] != NULL) {
        cairn_client_ask(s.clients[0], &request);
    }
    pass(2);
}

static void operate(void) {
    ask((cairn_control_request){.verb = CAIRN_CONTROL_SAVE, .save = {.name = "a"}});
    ask((cairn_control_request){.verb = CAIRN_CONTROL_FORK, .fork = {.name = "b"}});
    ask((cairn_control_request){
        .verb = CAIRN_CONTROL_ROOM_CREATE, .room_create = {.name = "c", .scene = "test"}});
    ask((cairn_control_request){.verb = CAIRN_CONTROL_DIFF, .diff = {.other_room = "b"}});
    ask((cairn_control_request){.verb = CAIRN_CONTROL_HASH});
    ask((cairn_control_request){.verb = CAIRN_CONTROL_BODIES});
    ask((cairn_control_request){.verb = CAIRN_CONTROL_RAY,
        .ray = {
            .origin = {0, 9, 0}, .translation = {0, -9, 0}, .has_seen_by = true, .seen_by = 2}});
    ask((cairn_control_request){.verb = CAIRN_CONTROL_SPAWN_SPHERE,
        .spawn_sphere = {.position = {0, 4, 0}, .radius = 0.5f}});
    ask((cairn_control_request){
        .verb = CAIRN_CONTROL_FAULTS, .faults = {.client_id = 2, .delay_ms = 8, .seed = 1}});
    ask((cairn_control_request){.verb = CAIRN_CONTROL_RESET});
    ask((cairn_control_request){.verb = CAIRN_CONTROL_LOAD, .load = {.name = "a"}});
    ask((cairn_control_request){.verb = CAIRN_CONTROL_ROOM_DESTROY, .room = "c"});
    pass(10);
}

static void play(void) {
    for (uint32_t i = 0; i < LATER && s.server != NULL; ++i) {
        join(i);
    }
    pass(40);
    cairn_client *heals = s.clients[CAIRN_CLIENT_HEAL];
    if (heals != NULL && cairn_client_world(heals) != NULL) {
        cairn_client_probe_damage(heals, 2); // is repaired, and reported
    }
    pass(20);
    operate();
}

// The server lived through it: a new client plays.
static void expect_new_client_plays(void) {
    join(LATER);
    pass(60);
    assert_int_equal(cairn_client_state_read(s.clients[LATER]), CAIRN_CLIENT_PLAYING);
}

static void end(void) {
    for (uint32_t i = 0; i < CLIENTS; ++i) {
        cairn_client_destroy(s.clients[i]);
        s.clients[i] = NULL;
    }
    cairn_server_destroy(s.server);
    s.server = NULL;
}

static void expect_nothing_held(uint64_t from, uint64_t to) {
    if (held != 0) {
        fail_msg("allocations %llu to %llu failed: %lld blocks were not freed",
            (unsigned long long)from, (unsigned long long)to, (long long)held);
    }
}

static void begin(void) {
    allocations = 0;
    fail_from = 0;
    held = 0;
    s.now_ns = START_NS;
}

// Returns whether an allocation failed.
static bool run(uint64_t from, uint64_t to) {
    begin();
    fail_from = from;
    fail_to = to;
    start_server();
    play();
    const bool failed = from != 0 && allocations >= from;
    fail_from = 0;
    if (s.server != NULL) {
        expect_new_client_plays();
    }
    end();
    expect_nothing_held(from, to);
    return failed;
}

// The same for the requests of an operator alone.
static bool run_operator(uint64_t from) {
    begin();
    start_server();
    join(0);
    pass(20);
    assert_int_equal(cairn_client_state_read(s.clients[0]), CAIRN_CLIENT_PLAYING);
    allocations = 0;
    fail_from = from;
    fail_to = from;
    operate();
    const bool failed = allocations >= from;
    assert_int_equal(cairn_client_state_read(s.clients[0]), CAIRN_CLIENT_PLAYING);
    end();
    expect_nothing_held(from, from);
    return failed;
}

static uint64_t run_each(uint64_t first, uint64_t stride, bool alone) {
    uint64_t n = first;
    for (uint64_t number = 0;; ++number, n += stride) {
        if (test_is_in_share(number) && !run(n, alone ? n : UINT64_MAX)) {
            return n;
        }
    }
}

enum { FAST_STRIDE = KIT_WATCHED ? 160 : 16 };

// All of them take a minute and a half: CAIRN_ALLOCATIONS=all in the environment asks for it, else
// the long tests take every seventh, of which `./dev test` tries a share.
static uint64_t long_stride(void) {
    const char *which = getenv("CAIRN_ALLOCATIONS");
    return which != NULL && strcmp(which, "all") == 0 ? 1 : 7;
}

static void fail_operator(uint64_t stride) {
    uint64_t n = stride;
    while (run_operator(n)) {
        n += stride;
    }
    assert_true(n > 50);
}

BEFORE_ALL {
    make_tokens();
    (void)scene();
}

TEST("fast: a session without failures") {
    run(0, 0);
    assert_true(s.reports > 0); // so the session reaches what is rare
    assert_in_range(allocations, 100, 100000);
}

TEST("fast: every fourth allocation of an operator's request fails") {
    fail_operator(4);
}

TEST("fast: every 16th allocation fails alone") {
    assert_true(run_each(16, FAST_STRIDE, true) > 100);
}

TEST("fast: all allocations fail from every 16th on") {
    assert_true(run_each(8, FAST_STRIDE, false) > 100);
}

TEST("all: each allocation of an operator's request fails") {
    fail_operator(1);
}

TEST("all: the n-th allocation fails, for every seventh n or all") {
    assert_true(run_each(1, long_stride(), true) > 100);
}

TEST("all: all allocations from the n-th on fail, for every seventh n or all") {
    assert_true(run_each(2, long_stride(), false) > 100);
}
