// SPDX-License-Identifier: MIT
#include "storm/state.h"

#include "base/assert.h"
#include "client_lib/client_probe.h"
#include "server/control/room_time.h"
#include <cairn/control.h>

static float between(cairn_storm *s, float low, float high) {
    return low + (high - low) * cairn_random_unit(&s->random);
}

static void send_request(cairn_storm *s, uint32_t i, const cairn_control_request *request) {
    cairn_connection *connection = cairn_client_probe_of(s->system.clients[i].client).connection;
    const cairn_message message = {.kind = CAIRN_MESSAGE_CONTROL, .control = *request};
    // A full link refuses the request; the operator sends another one later.
    if (cairn_connection_send_reliable(connection, &message) > 0) {
        s->report.operator_acts++;
    }
}

#define HULL_POINTS 9

// A shape of any kind, two in nine cases one that the server refuses.
static cairn_control_spawn_request draw_spawn(
    cairn_storm *s, cairn_vec3 position, cairn_vec3 size, cairn_vec3 points[HULL_POINTS]) {
    cairn_control_spawn_request spawn = {
        .shape = 1 + (uint32_t)cairn_storm_below(s, CAIRN_SHAPE_HEIGHT_FIELD),
        .position = position,
        .rotation = size,
        .size = size};
    if (spawn.shape == CAIRN_SHAPE_HALF_SPACE) {
        spawn.position.y = -20.0f;
        spawn.rotation = (cairn_vec3){0};
    }
    if (spawn.shape == CAIRN_SHAPE_SPHERE) {
        spawn.size.y = 0.0f;
    }
    if (spawn.shape != CAIRN_SHAPE_BOX) {
        spawn.size.z = 0.0f;
    }
    if (spawn.shape == CAIRN_SHAPE_HALF_SPACE || spawn.shape == CAIRN_SHAPE_HULL) {
        spawn.size = (cairn_vec3){0};
    }
    if (spawn.shape == CAIRN_SHAPE_HULL) {
        for (uint32_t i = 0; i < HULL_POINTS; ++i) {
            points[i] = (cairn_vec3){
                between(s, -0.4f, 0.4f), between(s, -0.4f, 0.4f), between(s, -0.4f, 0.4f)};
        }
        spawn.points = points;
        spawn.point_count = HULL_POINTS;
    }
    return spawn;
}

// Two shapes beside each other: in two cases of nine one is of a kind that compounds do not have.
static cairn_control_spawn_compound_request draw_compound(cairn_storm *s, cairn_vec3 position,
    cairn_vec3 size, cairn_vec3 points[HULL_POINTS], cairn_control_part parts[2]) {
    const cairn_control_spawn_request first = draw_spawn(s, position, size, points);
    parts[0] = (cairn_control_part){
        .shape = first.shape, .point_count = first.point_count, .size = first.size};
    parts[1] = (cairn_control_part){.shape = CAIRN_SHAPE_BOX, .size = size, .position.x = 0.5f};
    return (cairn_control_spawn_compound_request){.position = first.position,
        .parts = parts,
        .part_count = 2,
        .points = points,
        .point_count = first.point_count};
}

// A roof below the floor of the scenes, so that it carries nobody away.
static cairn_control_spawn_mesh_request mesh_of(cairn_vec3 size) {
    static const cairn_vec3 points[] = {{-2.0f, 0.0f, -2.0f}, {2.0f, 0.0f, -2.0f},
        {2.0f, 0.0f, 2.0f}, {-2.0f, 0.0f, 2.0f}, {0.0f, 1.0f, 0.0f}};
    static const cairn_control_triangle triangles[] = {
        {1, 0, 4}, {2, 1, 4}, {3, 2, 4}, {0, 3, 4}, {0, 1, 7}};
    return (cairn_control_spawn_mesh_request){.position = {size.x, -25.0f, size.z},
        .rotation = size,
        .points = points,
        .point_count = 5,
        .triangles = triangles,
        .triangle_count = size.y > 0.4f ? 5 : 4}; // the last one is of no vertices
}

static cairn_control_spawn_height_field_request heights_of(cairn_vec3 size) {
    static const cairn_control_height heights[] = {
        {0.0f}, {0.25f}, {0.5f}, {0.25f}, {0.0f}, {0.25f}, {CAIRN_HEIGHT_HOLE}};
    return (cairn_control_spawn_height_field_request){.position = {size.x, -25.0f, size.z},
        .columns = 3,
        .spacing_x = size.x,
        .spacing_z = size.z,
        .heights = heights,
        .height_count = size.y > 0.4f ? 7 : 6}; // no whole rows
}

// Between two bodies, or a body and itself; the number suits every kind.
static cairn_control_create_joint_request draw_joint(
    cairn_storm *s, uint32_t body, cairn_vec3 anchor) {
    return (cairn_control_create_joint_request){
        .kind = 1 + (uint32_t)cairn_storm_below(s, CAIRN_JOINT_ROW),
        .body_a = body,
        .body_b = s->operator_bodies[0],
        .anchor_a = anchor,
        .anchor_b = anchor,
        .axis = {.x = 1.0f},
        .number = 1.0f,
        .break_force = 5000.0f * (float)cairn_storm_below(s, 2)};
}

// What an edit is about, and the memory for lists of a request.
typedef struct drawn {
    cairn_vec3 a; // a place above the floor
    cairn_vec3 b; // a size
    uint32_t body;
    cairn_vec3 points[HULL_POINTS];
    cairn_control_part parts[2];
} drawn;

static void draw_new_body(cairn_storm *s, cairn_control_request *request, drawn *d) {
    const cairn_vec3 a = d->a;
    const cairn_vec3 b = d->b;
    switch (request->verb) {
    case CAIRN_CONTROL_SPAWN_BOX:
        request->spawn_box = (cairn_control_spawn_box_request){.position = a, .half_extents = b};
        break;
    case CAIRN_CONTROL_SPAWN_SPHERE:
        request->spawn_sphere = (cairn_control_spawn_sphere_request){.position = a, .radius = b.x};
        break;
    case CAIRN_CONTROL_SPAWN:
        request->spawn = draw_spawn(s, a, b, d->points);
        break;
    case CAIRN_CONTROL_SPAWN_COMPOUND:
        request->spawn_compound = draw_compound(s, a, b, d->points, d->parts);
        break;
    case CAIRN_CONTROL_SPAWN_MESH:
        request->spawn_mesh = mesh_of(b);
        break;
    default:
        request->spawn_height_field = heights_of(b);
        break;
    }
}

static void draw_joint_edit(cairn_storm *s, cairn_control_request *request, const drawn *d) {
    const cairn_vec3 a = d->a;
    const cairn_vec3 b = d->b;
    switch (request->verb) {
    case CAIRN_CONTROL_CREATE_JOINT:
        request->create_joint = draw_joint(s, d->body, d->a);
        break;
    case CAIRN_CONTROL_SET_JOINT: // of the lowest ids, most of which exist at first
        request->set_joint =
            (cairn_control_set_joint_request){.joint = (uint32_t)cairn_storm_below(s, 8),
                .property = 1 + (uint32_t)cairn_storm_below(s, CAIRN_JOINT_PROPERTY_LAST),
                .value.x = (float)cairn_storm_below(s, 2)};
        break;
    case CAIRN_CONTROL_SET_ROW: // most of them are not rows
        request->set_row =
            (cairn_control_set_row_request){.joint = (uint32_t)cairn_storm_below(s, 16),
                .linear_a = a,
                .angular_b = b,
                .lower = -b.x,
                .upper = 100.0f * b.y,
                .velocity = b.z};
        break;
    default:
        request->delete_joint.joint = (uint32_t)cairn_storm_below(s, 16);
        break;
    }
}

static void draw_edit(cairn_storm *s, cairn_control_request *request, const drawn *d) {
    const cairn_vec3 a = d->a;
    const cairn_vec3 b = d->b;
    const uint32_t body = d->body;
    switch (request->verb) {
    case CAIRN_CONTROL_DELETE:
        request->delete_body.body = body;
        break;
    case CAIRN_CONTROL_SET_POSITION:
        request->set_position = (cairn_control_set_position_request){.body = body, .position = a};
        break;
    case CAIRN_CONTROL_SET_VELOCITY:
        request->set_velocity = (cairn_control_set_velocity_request){
            .body = body, .linear_velocity = a, .angular_velocity = b};
        break;
    case CAIRN_CONTROL_SET_BODY:
        // 0 and 1 are in the range of a kind, a gravity scale, locks and what is on or off.
        request->set_body = (cairn_control_set_body_request){.body = body,
            .property = 1 + (uint32_t)cairn_storm_below(s, CAIRN_BODY_PROPERTY_LAST),
            .value.x = (float)cairn_storm_below(s, 2)};
        break;
    case CAIRN_CONTROL_PUSH:
        request->push = (cairn_control_push_request){
            .body = body, .kind = (uint32_t)cairn_storm_below(s, 4), .push = a, .place = {0}};
        break;
    case CAIRN_CONTROL_SET_POSE:
        request->set_pose =
            (cairn_control_set_pose_request){.body = body, .position = a, .rotation = b};
        break;
    case CAIRN_CONTROL_SET_MASS: // half of them are not positive definite
        request->set_mass = (cairn_control_set_mass_request){.body = body,
            .mass = 100.0f * b.x,
            .centre = {0.0f, 0.1f * b.y, 0.0f},
            .inertia = {10.0f, 12.0f, 14.0f},
            .products = {25.0f * (float)cairn_storm_below(s, 2), 1.0f, 1.0f}};
        break;
    case CAIRN_CONTROL_SET_SHAPE: // of the lowest ids
        request->set_shape =
            (cairn_control_set_shape_request){.shape = (uint32_t)cairn_storm_below(s, 32),
                .property = 1 + (uint32_t)cairn_storm_below(s, CAIRN_BODY_PROPERTY_LAST),
                .value.x = (float)cairn_storm_below(s, 2)};
        break;
    case CAIRN_CONTROL_SET_GRAVITY:
        request->set_gravity.gravity = (cairn_vec3){0.0f, between(s, -12, -6), 0.0f};
        break;
    case CAIRN_CONTROL_EXPLODE:
        request->explode = (cairn_control_explode_request){.centre = a,
            .radius = 2.0f,
            .falloff = 2.0f,
            .impulse_per_area = 100.0f,
            .mask = UINT32_MAX,
            .shield_mask = (uint32_t)cairn_storm_below(s, 2)};
        break;
    default:
        request->impulse = (cairn_control_impulse_request){.body = body, .impulse = a};
        break;
    }
}

static void request_edit(cairn_storm *s, uint32_t i) {
    static const uint32_t verbs[] = {CAIRN_CONTROL_SPAWN_BOX, CAIRN_CONTROL_SPAWN_SPHERE,
        CAIRN_CONTROL_DELETE, CAIRN_CONTROL_SET_POSITION, CAIRN_CONTROL_SET_VELOCITY,
        CAIRN_CONTROL_IMPULSE, CAIRN_CONTROL_SET_BODY, CAIRN_CONTROL_PUSH,
        CAIRN_CONTROL_SET_GRAVITY, CAIRN_CONTROL_EXPLODE, CAIRN_CONTROL_SET_JOINT,
        CAIRN_CONTROL_DELETE_JOINT, CAIRN_CONTROL_SPAWN, CAIRN_CONTROL_CREATE_JOINT,
        CAIRN_CONTROL_SET_ROW, CAIRN_CONTROL_SET_POSE, CAIRN_CONTROL_SET_MASS,
        CAIRN_CONTROL_SET_SHAPE, CAIRN_CONTROL_SPAWN_COMPOUND, CAIRN_CONTROL_SPAWN_MESH,
        CAIRN_CONTROL_SPAWN_HEIGHT_FIELD};
    cairn_control_request request = {
        .number = 1, .verb = verbs[cairn_storm_below(s, 21)], .room = ""};
    const cairn_vec3 a = {between(s, -4, 4), between(s, 1, 5), between(s, -4, 4)};
    const cairn_vec3 b = {between(s, 0.1f, 0.5f), between(s, 0.1f, 0.5f), between(s, 0.1f, 0.5f)};
    drawn d = {.a = a, .b = b};
    d.body = s->operator_bodies[cairn_storm_below(s, CAIRN_STORM_OPERATOR_BODIES)];
    switch (request.verb) {
    case CAIRN_CONTROL_SPAWN_BOX:
    case CAIRN_CONTROL_SPAWN_SPHERE:
    case CAIRN_CONTROL_SPAWN:
    case CAIRN_CONTROL_SPAWN_COMPOUND:
    case CAIRN_CONTROL_SPAWN_MESH:
    case CAIRN_CONTROL_SPAWN_HEIGHT_FIELD:
        draw_new_body(s, &request, &d);
        break;
    case CAIRN_CONTROL_CREATE_JOINT:
    case CAIRN_CONTROL_SET_JOINT:
    case CAIRN_CONTROL_SET_ROW:
    case CAIRN_CONTROL_DELETE_JOINT:
        draw_joint_edit(s, &request, &d);
        break;
    default:
        draw_edit(s, &request, &d);
        break;
    }
    send_request(s, i, &request);
}

static void request_time_change(cairn_storm *s, uint32_t i) {
    static const uint32_t verbs[] = {CAIRN_CONTROL_PAUSE, CAIRN_CONTROL_STEP, CAIRN_CONTROL_RATE};
    static const uint32_t rates[] = {500, 1000, 1200, 1500};
    const uint64_t which = cairn_storm_below(s, 3);
    const uint32_t count =
        which == 2 ? rates[cairn_storm_below(s, 4)] : 1 + (uint32_t)cairn_storm_below(s, 5);
    cairn_control_request request = {.number = 2, .verb = verbs[which], .room = ""};
    if (request.verb == CAIRN_CONTROL_STEP) {
        request.step.tick_count = count;
    } else if (request.verb == CAIRN_CONTROL_RATE) {
        request.rate.speed_thousandths = count;
    }
    send_request(s, i, &request);
    s->resume_ns = cairn_system_now_ns(&s->system) + cairn_storm_below(s, 2000) * 1000000;
}

static bool time_is_usual(const cairn_storm *s, uint32_t i) {
    const cairn_time_control *time = &cairn_storm_server_room(s, s->slots[i].room)->time_control;
    return !time->paused && time->speed == CAIRN_TIME_SPEED_REAL;
}

// Repeated until the room has done it.
static void request_usual_time(cairn_storm *s, uint32_t i) {
    const cairn_room *room = cairn_storm_server_room(s, s->slots[i].room);
    if (time_is_usual(s, i)) {
        s->resume_ns = 0;
        return;
    }
    const uint32_t verb = room->time_control.paused ? CAIRN_CONTROL_RESUME : CAIRN_CONTROL_RATE;
    send_request(s, i,
        &(cairn_control_request){.number = 3,
            .verb = verb,
            .room = "",
            .rate = {.speed_thousandths = CAIRN_TIME_SPEED_REAL}});
    s->resume_ns += 500000000;
}

// Of every room: an operator may have left one that it had paused (seed 56000683).
void cairn_storm_restore_time(cairn_storm *s) {
    const uint64_t local_ns = cairn_virtual_local_ns(s->system.network, s->system.server_endpoint);
    s->resume_ns = 0;
    for (uint32_t i = 0; i < s->room_count; i++) {
        cairn_room *room = cairn_storm_server_room(s, i);
        if (room != NULL &&
            (room->time_control.paused || room->time_control.speed != CAIRN_TIME_SPEED_REAL)) {
            // As a request does it: a client that is not told goes on at the old rate (seed
            // 530582).
            cairn_room_time_run(s->system.server, room, CAIRN_TIME_SPEED_REAL, local_ns);
            s->system.server_host.due = true;
        }
    }
}

void cairn_storm_draw_replacements(cairn_storm *s) {
    s->replace_random = cairn_random_of(s->config.seed * 40503u + 37);
    s->replaces = s->operated && cairn_random_below(&s->replace_random, 1000) < 900;
}

static const char fork_name[] = CAIRN_DISK_FORK;

// Replaces the world by another one, or makes a room of it, now and then.
static void request_replacement(cairn_storm *s, uint32_t i) {
    const cairn_room *room = cairn_storm_server_room(s, s->slots[i].room);
    const uint64_t what = cairn_random_below(&s->replace_random, 100);
    cairn_control_request request = {.number = 4, .room = ""};
    if (what < 25) {
        request.verb = CAIRN_CONTROL_RESET;
    } else if (what < 40) {
        request.verb = CAIRN_CONTROL_SAVE;
        request.save.name = "early";
    } else if (what < 60) {
        request.verb = CAIRN_CONTROL_LOAD;
        request.load.name = "early";
    } else if (what < 80) {
        // A recording reaches further back than the two seconds of the history.
        const uint64_t back =
            1 + cairn_random_below(&s->replace_random, s->disk.used && s->disk.replays ? 400 : 100);
        request.verb = CAIRN_CONTROL_SEEK;
        request.seek.tick = room->scheduler.tick > back ? room->scheduler.tick - back : 0;
    } else if (cairn_server_room_find(s->system.server, fork_name) == 0) {
        request.verb = CAIRN_CONTROL_FORK;
        request.fork = (cairn_control_fork_request){.name = fork_name};
        s->report.forks++;
    } else {
        request.verb = CAIRN_CONTROL_ROOM_DESTROY;
        request.room = fork_name;
    }
    send_request(s, i, &request);
}

void cairn_storm_operate(cairn_storm *s, uint32_t i) {
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    const cairn_client *client = s->system.clients[i].client;
    if (cairn_client_state_read(client) != CAIRN_CLIENT_PLAYING) {
        return;
    }
    if (s->resume_ns == 0 && !time_is_usual(s, i)) {
        // A request to pause was on its way for so long that the room seemed to run again (seed
        // 37).
        s->resume_ns = now_ns;
    }
    if (s->resume_ns != 0 && now_ns >= s->resume_ns) {
        request_usual_time(s, i);
    }
    if (s->quiescent || s->config.no_faults) {
        return;
    }
    if (s->replaces && cairn_random_below(&s->replace_random, 1000) < 40) {
        request_replacement(s, i);
    }
    if (!cairn_storm_chance(s, 30)) {
        return;
    }
    if (cairn_storm_chance(s, 800)) {
        // Ids of bodies in the server's world, as an operator's query would have returned.
        const cairn_world *world = cairn_storm_server_room(s, s->slots[i].room)->world;
        const uint32_t capacity = s->scene->world.body_capacity;
        const uint32_t all = cairn_world_bodies(world, s->bodies, capacity);
        const uint32_t count = all < capacity ? all : capacity;
        for (uint32_t k = 0; k < CAIRN_STORM_OPERATOR_BODIES && count > 0; k++) {
            s->operator_bodies[k] = s->bodies[cairn_storm_below(s, count)].id;
        }
        request_edit(s, i);
    } else if (s->resume_ns == 0) {
        request_time_change(s, i);
    }
}
