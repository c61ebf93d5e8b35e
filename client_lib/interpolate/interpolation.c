// SPDX-License-Identifier: MIT
#include "client_lib/interpolate/interpolation.h"

#include <math.h>

#include "base/assert.h"
#include "bridge/interpolate.h"

static const double GAIN_SPACING = 1.0 / 8;
static const double DELAY_CHANGE_RATE = 1.0 / 20;
static const double DELAY_SNAP_NS = 5e8;
static const double MARGIN_NS = 1e6;

void cairn_interpolation_start(
    cairn_interpolation *interpolation, uint32_t delay_ms, uint32_t extrapolation_ms_max) {
    *interpolation = (cairn_interpolation){
        .delay_fixed_ns = (uint64_t)delay_ms * 1000000,
        .extrapolation_ns_max = (uint64_t)extrapolation_ms_max * 1000000,
        .delay_ns = (double)delay_ms * 1e6,
        .spacing_ticks = 3,
    };
}

void cairn_interpolation_observe(cairn_interpolation *interpolation, uint64_t tick) {
    if (interpolation->running && tick <= interpolation->newest_tick) {
        return;
    }
    if (interpolation->running) {
        // A gap is a loss or a stall: it must not count as a much slower rate at once.
        double spacing = (double)(tick - interpolation->newest_tick);
        const double most = 4 * interpolation->spacing_ticks;
        spacing = spacing < most ? spacing : most;
        interpolation->spacing_ticks += (spacing - interpolation->spacing_ticks) * GAIN_SPACING;
    }
    CAIRN_ASSERT(interpolation->spacing_ticks > 0);
    interpolation->running = true;
    interpolation->newest_tick = tick;
}

void cairn_interpolation_advance(
    cairn_interpolation *interpolation, const cairn_clock *clock, uint64_t now_ns) {
    CAIRN_ASSERT(clock->tick_ns > 0);
    const double measured_ns =
        interpolation->spacing_ticks * clock->tick_ns + 3 * clock->jitter_ns + MARGIN_NS;
    const double wanted_ns =
        interpolation->delay_fixed_ns > 0 ? (double)interpolation->delay_fixed_ns : measured_ns;
    double change_ns = wanted_ns - interpolation->delay_ns;
    bool first = interpolation->moved_ns == 0;
    bool forward = now_ns > interpolation->moved_ns;
    double most_ns = forward ? (double)(now_ns - interpolation->moved_ns) * DELAY_CHANGE_RATE : 0;
    interpolation->moved_ns = forward ? now_ns : interpolation->moved_ns;
    if (!first && fabs(change_ns) < DELAY_SNAP_NS) {
        change_ns = change_ns > most_ns ? most_ns : change_ns < -most_ns ? -most_ns : change_ns;
    }
    interpolation->delay_ns += change_ns;
}

double cairn_interpolation_tick(
    const cairn_interpolation *interpolation, const cairn_clock *clock, uint64_t now_ns) {
    CAIRN_ASSERT(clock->tick_ns > 0);
    const double delay = clock->paused ? 0 : interpolation->delay_ns / clock->tick_ns;
    const double tick = cairn_clock_tick(clock, now_ns) - delay;
    return tick > 0 ? tick : 0;
}

static uint32_t teleports_of(const cairn_snapshot_body *body) {
    return body->flags >> CAIRN_SNAPSHOT_BODY_TELEPORTS_SHIFT & CAIRN_SNAPSHOT_BODY_TELEPORTS_MASK;
}

static cairn_client_body interpolate_body(
    const cairn_snapshot_body *a, const cairn_snapshot_body *b, float fraction) {
    CAIRN_ASSERT(a->id == b->id && fraction >= 0 && fraction <= 1);
    const uint32_t owner = a->flags >> CAIRN_SNAPSHOT_BODY_OWNER_SHIFT;
    cairn_client_body body = {.id = a->id,
        .awake = ((a->flags | b->flags) & CAIRN_SNAPSHOT_BODY_AWAKE) != 0,
        .disabled = (a->flags & CAIRN_SNAPSHOT_BODY_DISABLED) != 0,
        .owner = owner == 0 ? CAIRN_SLOT_NONE : owner - 1,
        .user = a->user,
        .teleports = teleports_of(a)};
    cairn_interpolate_vec3(a->position, b->position, fraction, body.position);
    cairn_interpolate_quat(a->rotation, b->rotation, fraction, body.rotation);
    cairn_interpolate_vec3(a->linear_velocity, b->linear_velocity, fraction, body.linear_velocity);
    cairn_interpolate_vec3(
        a->angular_velocity, b->angular_velocity, fraction, body.angular_velocity);
    return body;
}

static void add_body(cairn_client_body *bodies, uint32_t capacity, cairn_client_sample *out,
    const cairn_client_body *body) {
    if (out->body_count < capacity) {
        bodies[out->body_count] = *body;
    }
    out->body_count++;
}

// Both lists are in order of id index. If another body took over an index in between, the older
// body is shown until the newer snapshot is reached.
static void show_between(const cairn_snapshot *a, const cairn_snapshot *b, float fraction,
    cairn_client_body *bodies, uint32_t capacity, cairn_client_sample *out) {
    uint32_t j = 0;
    for (uint32_t i = 0; i < a->body_count; i++) {
        const cairn_snapshot_body *from = &a->bodies[i];
        uint32_t index = cairn_id_index(from->id);
        while (j < b->body_count && cairn_id_index(b->bodies[j].id) < index) {
            j++;
        }
        // A body that was put elsewhere in between stands still until the newer snapshot, too.
        const bool stays = j < b->body_count && b->bodies[j].id == from->id &&
                           teleports_of(&b->bodies[j]) == teleports_of(from);
        cairn_client_body body = interpolate_body(from, stays ? &b->bodies[j] : from, fraction);
        add_body(bodies, capacity, out, &body);
    }
}

// First-order integration of the rotation by its angular velocity.
static void rotate(float q[4], const float w[3], float seconds) {
    float half = 0.5f * seconds;
    float x = half * (w[0] * q[3] + w[1] * q[2] - w[2] * q[1]);
    float y = half * (w[1] * q[3] + w[2] * q[0] - w[0] * q[2]);
    float z = half * (w[2] * q[3] + w[0] * q[1] - w[1] * q[0]);
    float s = half * -(w[0] * q[0] + w[1] * q[1] + w[2] * q[2]);
    q[0] += x;
    q[1] += y;
    q[2] += z;
    q[3] += s;
    cairn_rotation_normalize(q);
}

static void show_beyond(const cairn_snapshot *a, float seconds, cairn_client_body *bodies,
    uint32_t capacity, cairn_client_sample *out) {
    for (uint32_t i = 0; i < a->body_count; i++) {
        cairn_client_body body = interpolate_body(&a->bodies[i], &a->bodies[i], 0);
        for (int axis = 0; axis < 3; axis++) {
            body.position[axis] += body.linear_velocity[axis] * seconds;
        }
        if (seconds > 0) {
            rotate(body.rotation, body.angular_velocity, seconds);
        }
        add_body(bodies, capacity, out, &body);
    }
}

bool cairn_interpolate(const cairn_snapshots *snapshots, double tick, double tick_ns,
    double extrapolation_ticks_max, cairn_client_body *bodies, uint32_t capacity,
    cairn_client_sample *out) {
    CAIRN_ASSERT(tick >= 0 && tick_ns > 0 && extrapolation_ticks_max >= 0);
    *out = (cairn_client_sample){0};
    if (snapshots->count == 0) {
        return false;
    }
    uint32_t next = 0;
    while (next < snapshots->count && (double)snapshots->list[next].tick <= tick) {
        next++;
    }
    if (next == snapshots->count) {
        const cairn_snapshot *newest = &snapshots->list[next - 1];
        double beyond = tick - (double)newest->tick;
        out->extrapolated = beyond > 0;
        out->held = beyond > extrapolation_ticks_max;
        beyond = out->held ? extrapolation_ticks_max : beyond;
        out->tick = (double)newest->tick + beyond;
        out->tick_from = newest->tick;
        out->span = beyond > 0 ? 0 : 1;
        show_beyond(newest, (float)(beyond * tick_ns * 1e-9), bodies, capacity, out);
        return true;
    }
    const cairn_snapshot *b = &snapshots->list[next];
    const cairn_snapshot *a = next > 0 ? &snapshots->list[next - 1] : b;
    double span = (double)b->tick - (double)a->tick;
    double fraction = span > 0 ? (tick - (double)a->tick) / span : 0;
    out->tick = span > 0 ? tick : (double)b->tick;
    out->tick_from = a->tick;
    out->span = span > 0 ? (uint32_t)span : 1;
    out->share = (float)fraction;
    show_between(a, b, (float)fraction, bodies, capacity, out);
    return true;
}
