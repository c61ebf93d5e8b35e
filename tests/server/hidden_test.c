// SPDX-License-Identifier: MIT
// Nothing of a body that rules hide is on the wire: whatever such a body does, a player from whom
// it is hidden is sent the same datagrams, byte by byte and at the same time.
#include "tests/kit/test.h"

#include <stdio.h>
#include <string.h>

#include "schema/scene.h"
#include "tests/server/story.h"
#include <cairn/rules.h>

enum {
    FIRST_TICK = 60, // of deeds; the client plays by then
    RUN_MS = 3000,
    VISIBLE = 12,
    HIDDEN = 8, // of these some exist from the start
    SPARE = 4,
};

// What hidden bodies do from FIRST_TICK on.
typedef enum deed {
    STAY,
    MOVE,
    TELEPORT,
    FALL_ASLEEP,
    CHANGE_USER,
    BECOME_STATIC,
    BELONG_TO_PLAYER,
    GET_SHAPES,
    GET_MANY_SHAPES,
    GET_MESHES,
    COLLIDE,
    COLLIDE_OFTEN, // more often than a message has events
    COME_AND_GO,
    TAKE_AN_INDEX, // of a visible body that is gone in every run
    TAKE_AN_INDEX_WITH_SHAPES,
    BEGIN_ELSEWHERE,
    SHOW, // the control: a hidden body is shown to the player
    DEEDS
} deed;
static const char *const names[DEEDS] = {"stays", "moves", "is put elsewhere", "falls asleep",
    "changes its user word", "becomes static", "belongs to the player", "gets shapes",
    "gets many shapes", "gets meshes", "collides", "collides often", "comes and goes",
    "takes an index", "takes an index, with shapes", "begins elsewhere", "is shown"};

static deed done; // in the world that runs
static uint32_t view_m;
static cairn_shape_id row[600]; // of a hidden body

typedef struct hiding {
    cairn_body_id visible[VISIBLE];
    cairn_body_id hidden[HIDDEN];
    cairn_body_id own;
    cairn_shape_id last_shape;
    uint32_t shown;
} hiding;

static cairn_shape_id add_box(cairn_world *world, cairn_body_id body, float x, uint32_t flags) {
    cairn_shape_def def = cairn_shape_def_default();
    cairn_shape_id shape = 0;
    def.half_extents = (cairn_vec3){0.5f, 0.5f, 0.5f};
    def.pose.position.x = x;
    def.flags = flags;
    (void)cairn_shape_create(world, body, &def, &shape);
    return shape;
}

static cairn_body_id add_body(
    cairn_world *world, cairn_vec3 position, cairn_vec3 velocity, uint32_t flags) {
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id body = 0;
    def.position = position;
    def.linear_velocity = velocity;
    def.gravity_scale = flags == 0 ? 0.0f : 1.0f;
    (void)cairn_body_create(world, &def, &body);
    add_box(world, body, 0.0f, flags);
    return body;
}

static cairn_mesh_id add_mesh(cairn_world *world, float size) {
    const cairn_vec3 corners[] = {{0, 0, 0}, {0, 0, size}, {size, 0, 0}};
    static const uint32_t indices[] = {0, 1, 2};
    const cairn_mesh_def def = {
        .vertices = corners, .vertex_count = 3, .indices = indices, .triangle_count = 1};
    cairn_mesh_id mesh = 0;
    (void)cairn_mesh_create(world, &def, &mesh);
    return mesh;
}

static void add_surface(cairn_world *world, cairn_vec3 at, float size, cairn_body_id *body) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_shape_id id = 0;
    def.kind = CAIRN_BODY_STATIC;
    def.position = at;
    (void)cairn_body_create(world, &def, body);
    shape.kind = CAIRN_SHAPE_MESH;
    shape.mesh = add_mesh(world, size);
    (void)cairn_shape_create(world, *body, &shape, &id);
}

// Visible and hidden bodies in turns, so that each hidden one is between visible ones. Visible ones
// fall on a floor; hidden ones hang near them.
static void start(cairn_world *world, void *state) {
    hiding *h = state;
    cairn_body_def floor = cairn_body_def_default();
    cairn_shape_def plane = cairn_shape_def_default();
    cairn_shape_id id = 0;
    cairn_body_id body = 0;
    memset(row, 0, sizeof row);
    floor.kind = CAIRN_BODY_STATIC;
    plane.kind = CAIRN_SHAPE_HALF_SPACE;
    (void)cairn_body_create(world, &floor, &body);
    (void)cairn_shape_create(world, body, &plane, &id);
    add_surface(world, (cairn_vec3){-8.0f, 0.1f, 0.0f}, 3.0f, &body);
    for (uint32_t i = 0; i < VISIBLE; ++i) {
        const float x = 3.0f * (float)i;
        h->visible[i] = add_body(world, (cairn_vec3){x, 1.0f + 0.7f * (float)(i % 4), 0.0f},
            (cairn_vec3){0.3f, 0.0f, 0.1f * (float)(i % 3)},
            CAIRN_SHAPE_HIT_EVENTS | CAIRN_SHAPE_CONTACT_EVENTS);
        if (i < HIDDEN - SPARE) {
            const float up = done == BEGIN_ELSEWHERE ? 1.5f : 0.0f;
            h->hidden[i] = add_body(world, (cairn_vec3){x, 12.0f + up, 3.0f}, (cairn_vec3){0}, 0);
        }
    }
}

static bool is_hidden(const hiding *h, cairn_body_id body) {
    for (uint32_t i = 0; i < HIDDEN; ++i) {
        if (h->hidden[i] == body) {
            return !(h->shown != 0 && i == 0);
        }
    }
    return false;
}

static float relevance(
    const cairn_world *world, const void *state, uint32_t slot, cairn_body_id body) {
    (void)world;
    (void)slot;
    return is_hidden(state, body) ? 0.0f : 1.0f;
}

// Another row of shapes in each tick, and the row before is gone.
static void change_shapes(cairn_world *world, hiding *h, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        (void)cairn_shape_destroy(world, row[i]);
        row[i] = add_box(world, h->hidden[1], 0.001f * (float)i, 0);
    }
}

static void change_meshes(cairn_world *world, hiding *h, uint64_t tick) {
    cairn_body_id *body = &h->hidden[HIDDEN - 1];
    if (tick % 20 == 0) {
        add_surface(world, (cairn_vec3){4.0f, 15.0f, 0.0f}, 1.0f + 0.1f * (float)(tick % 7), body);
    } else if (tick % 20 == 15) {
        cairn_mesh_id meshes[8];
        (void)cairn_body_destroy(world, *body);
        *body = 0;
        const uint32_t count = cairn_world_meshes(world, meshes, 8);
        for (uint32_t i = 1; i < count; ++i) {
            (void)cairn_mesh_destroy(world, meshes[i]);
        }
    }
}

static void come_and_go(cairn_world *world, hiding *h, uint64_t tick) {
    cairn_body_id *body = &h->hidden[HIDDEN - 1 - tick % 3];
    if (*body != 0) {
        (void)cairn_body_destroy(world, *body);
        *body = 0;
    } else {
        *body = add_body(world, (cairn_vec3){5.0f, 12.0f, -4.0f * (float)(tick % 3)},
            (cairn_vec3){0.0f, 0.0f, 1.0f}, CAIRN_SHAPE_CONTACT_EVENTS);
        (void)cairn_body_set_gravity_scale(world, *body, 0.0f);
    }
}

static void collide(cairn_world *world, hiding *h, uint64_t tick) {
    if (tick == FIRST_TICK) {
        for (uint32_t i = 0; i < SPARE; ++i) {
            const uint32_t flags = CAIRN_SHAPE_HIT_EVENTS | CAIRN_SHAPE_CONTACT_EVENTS;
            h->hidden[HIDDEN - 1 - i] = add_body(
                world, (cairn_vec3){6.0f, 0.5f + 1.5f * (float)i, 7.0f}, (cairn_vec3){0}, flags);
        }
    }
    for (uint32_t i = 0; i < SPARE; ++i) {
        const cairn_vec3 up = {0.0f, tick % 40 == 0 ? 3.0f + (float)i : 0.0f, 0.0f};
        if (up.y > 0.0f) {
            (void)cairn_body_set_velocity(world, h->hidden[HIDDEN - 1 - i], up, (cairn_vec3){0});
        }
    }
}

static void collide_often(cairn_world *world, const hiding *h, uint64_t tick) {
    if (tick > FIRST_TICK + 40) {
        return;
    }
    for (uint32_t i = 0; tick == FIRST_TICK && i < 80; ++i) {
        add_box(world, h->hidden[2], 0.01f * (float)i, CAIRN_SHAPE_CONTACT_EVENTS);
    }
    const float y = tick % 4 < 2 ? 12.0f : 20.0f;
    (void)cairn_body_set_pose(world, h->hidden[2], (cairn_pose){{6, 12, 3}, {0, 0, 0, 1}});
    (void)cairn_body_set_pose(world, h->hidden[3], (cairn_pose){{6.2f, y, 3}, {0, 0, 0, 1}});
}

static void act(cairn_world *world, hiding *h, uint64_t tick) {
    const cairn_body_id body = h->hidden[0];
    const float x = (float)(tick % 50);
    switch (done) {
    case MOVE:
        (void)cairn_body_set_velocity(
            world, body, (cairn_vec3){1.0f - 0.04f * x, 0.0f, 0.5f}, (cairn_vec3){0.0f, x, 1.0f});
        break;
    case TELEPORT:
        (void)cairn_body_set_pose(world, body, (cairn_pose){{x, 20.0f, 3.0f}, {0, 0, 0, 1}});
        break;
    case FALL_ASLEEP:
        (void)cairn_body_set_awake(world, body, tick % 7 == 0);
        break;
    case CHANGE_USER:
        (void)cairn_body_set_user(world, body, (uint32_t)tick);
        break;
    case BECOME_STATIC:
        (void)cairn_body_set_kind(
            world, body, tick % 9 < 5 ? CAIRN_BODY_STATIC : CAIRN_BODY_KINEMATIC);
        break;
    case BELONG_TO_PLAYER:
        (void)cairn_body_set_owner(world, body, 0);
        (void)cairn_body_set_pose(world, body, (cairn_pose){{2.0f * x, 20, 3.0f}, {0, 0, 0, 1}});
        break;
    case GET_SHAPES:
        change_shapes(world, h, 3);
        break;
    case GET_MANY_SHAPES:
        if (tick % 50 == 10) { // each shape that comes or goes looks at all of its body
            change_shapes(world, h, 600);
        }
        break;
    case GET_MESHES:
        change_meshes(world, h, tick);
        break;
    case COLLIDE:
        collide(world, h, tick);
        break;
    case COLLIDE_OFTEN:
        collide_often(world, h, tick);
        break;
    case COME_AND_GO:
        come_and_go(world, h, tick);
        break;
    case SHOW:
        h->shown = 1;
        break;
    default:
        break;
    }
}

// In every run a visible body goes, and other visible bodies come and go without another index.
static void act_visibly(cairn_world *world, hiding *h, uint64_t tick) {
    if (tick == FIRST_TICK + 30) {
        (void)cairn_body_destroy(world, h->visible[5]);
        h->visible[5] = 0;
        if (done == TAKE_AN_INDEX || done == TAKE_AN_INDEX_WITH_SHAPES) {
            h->hidden[HIDDEN - 1] =
                add_body(world, (cairn_vec3){9.0f, 14.0f, 2.0f}, (cairn_vec3){0.2f, 0.0f, 0.1f}, 0);
        }
    }
    if (done == TAKE_AN_INDEX_WITH_SHAPES && tick > FIRST_TICK + 30) {
        change_shapes(world, h, 2);
        add_box(world, h->hidden[HIDDEN - 1], 0.1f * (float)(tick % 10), 0);
    }
    if (tick % 25 == 0) {
        (void)cairn_body_set_user(world, h->visible[2], (uint32_t)tick);
        (void)cairn_body_set_velocity(
            world, h->visible[tick / 25 % 5], (cairn_vec3){1.0f, 4.0f, 0.5f}, (cairn_vec3){0});
    }
}

static void step(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    hiding *h = state;
    const uint64_t tick = cairn_world_tick(world);
    for (uint32_t i = 0; i < command_count; ++i) {
        if (commands[i].kind == CAIRN_COMMAND_JOIN) {
            h->own = add_body(world, (cairn_vec3){4.0f, 0.6f, -5.0f}, (cairn_vec3){3, 0, 0},
                CAIRN_SHAPE_CONTACT_EVENTS);
            (void)cairn_body_set_owner(world, h->own, commands[i].slot);
        }
    }
    if (tick % 50 == 0 && h->own != 0) { // back and forth: bodies enter and leave its view
        (void)cairn_body_set_velocity(world, h->own,
            (cairn_vec3){tick % 100 == 0 ? 9.0f : -9.0f, 0.0f, 0.0f}, (cairn_vec3){0});
    }
    if (tick >= FIRST_TICK) {
        act(world, h, tick);
        act_visibly(world, h, tick);
    }
}

static const cairn_rules rules = {.name = "hiding",
    .version = 1,
    .state_size = sizeof(hiding),
    .start = start,
    .step = step,
    .relevance = relevance};

typedef struct outcome {
    cairn_hash128 received, root;
    uint32_t datagrams, shapes, events, meshes, removed;
} outcome;

static outcome run(deed what) {
    static story s;
    cairn_scene scene = cairn_scene_default();
    cairn_server_config config = story_config();
    memcpy(scene.name, "hiding", sizeof "hiding");
    scene.world.body_capacity = 64;
    scene.world.shape_capacity = 1024;
    scene.world.contact_capacity = 4096;
    scene.world.mesh_block_capacity = 64;
    scene.world.mesh_capacity = 8;
    config.first_room.scene = &scene;
    config.first_room.rules = &rules;
    config.first_room.view_distance_m = view_m;
    done = what;
    story_start(&s, &config);
    const uint32_t client = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, RUN_MS);
    const story_client *c = &s.clients[client];
    assert_true(c->welcomed && c->parts > 30 && c->decode_failures == 0);
    assert_true(c->welcome.scene_digest.lo == 0 && c->welcome.scene_digest.hi == 0);
    const outcome out = {.received = c->received,
        .root = story_root(&s),
        .datagrams = c->datagrams,
        .shapes = c->shapes_seen,
        .removed = c->shapes_removed,
        .events = c->messages[CAIRN_MESSAGE_WORLD_EVENTS],
        .meshes = c->messages[CAIRN_MESSAGE_MESH]};
    story_end(&s);
    return out;
}

// Returns how many deeds were noticed.
static uint32_t count_noticed(void) {
    uint32_t noticed = 0;
    const outcome first = run(STAY);
    const outcome again = run(STAY);
    assert_true(cairn_hash_equal(first.received, again.received));
    // What can be seen is sent.
    assert_true(first.shapes > VISIBLE / 2 && first.events > 0 && first.meshes == 1);
    assert_true(first.removed > 0);
    for (deed what = MOVE; what < DEEDS; ++what) {
        const outcome other = run(what);
        assert_false(cairn_hash_equal(first.root, other.root));
        const bool differs = !cairn_hash_equal(first.received, other.received);
        if (differs != (what == SHOW)) {
            print_message("a hidden body %s: %s, %u datagrams and %u\n", names[what],
                differs ? "the datagrams differ" : "nothing was noticed", first.datagrams,
                other.datagrams);
            noticed += 1;
        }
    }
    return noticed;
}

TEST("whatever a hidden body does, the player is sent the same bytes") {
    view_m = 0;
    assert_int_equal(count_noticed(), 0);
}

TEST("the same in a room with a view distance") {
    view_m = 14;
    assert_int_equal(count_noticed(), 0);
}
