// SPDX-License-Identifier: MIT
#include "client_lib/interpolate/interpolation.h"

#include <math.h>

#include "base/assert.h"
#include "bridge/interpolate.h"

static const double GAIN_SPACING = 1.0 / 8;
static const double DELAY_CHANGE_RATE = 1.0 / 20;
static const double DELAY_SNAP_NS = 5e8;
static const double MARGIN_NS = 1e6;
// Of all waits for the next snapshot so many are shorter than the one that the delay covers.
static const double WAIT_SHARE = 0.98;
static const double GAIN_WAIT = 1.0 / 2;
static const double WAIT_SPACINGS_MAX = 5;
// m/s^2 along an axis. What accelerates more was hit, and its path has a corner somewhere.
#define ACCELERATION_MAX 20.0f

void cairn_interpolation_start(
    cairn_interpolation *interpolation, uint32_t delay_ms, uint32_t extrapolation_ms_max) {
    *interpolation = (cairn_interpolation){
        .delay_fixed_ns = (uint64_t)delay_ms * 1000000,
        .extrapolation_ns_max = (uint64_t)extrapolation_ms_max * 1000000,
        .delay_ns = (double)delay_ms * 1e6,
        .spacing_ticks = 3,
    };
}

void cairn_interpolation_observe(
    cairn_interpolation *interpolation, const cairn_clock *clock, uint64_t now_ns, uint64_t tick) {
    if (interpolation->running && tick <= interpolation->newest_tick) {
        return;
    }
    if (interpolation->running) {
        // A quantile by steps in proportion to the share of waits on either side of it, but never
        // beyond the wait itself.
        const double waited = cairn_clock_tick(clock, now_ns) - (double)interpolation->newest_tick;
        const double longest = WAIT_SPACINGS_MAX * interpolation->spacing_ticks;
        const double aim = waited < longest ? waited : longest;
        const double gain = GAIN_WAIT * interpolation->spacing_ticks;
        const double up = interpolation->wait_ticks + WAIT_SHARE * gain;
        const double down = interpolation->wait_ticks - (1 - WAIT_SHARE) * gain;
        interpolation->wait_ticks =
            aim > interpolation->wait_ticks ? (up < aim ? up : aim) : (down > aim ? down : aim);
        // A gap is a loss or a stall: it must not count as a much slower rate at once.
        double spacing = (double)(tick - interpolation->newest_tick);
        const double most = 4 * interpolation->spacing_ticks;
        spacing = spacing < most ? spacing : most;
        interpolation->spacing_ticks += (spacing - interpolation->spacing_ticks) * GAIN_SPACING;
        // By its steps the quantile falls by a hundredth of the time that passes. What a path made
        // it that had gaps is forgotten with the spacing of that path.
        const double covered = WAIT_SPACINGS_MAX * interpolation->spacing_ticks;
        interpolation->wait_ticks =
            interpolation->wait_ticks < covered ? interpolation->wait_ticks : covered;
    }
    CAIRN_ASSERT(interpolation->spacing_ticks > 0);
    interpolation->running = true;
    interpolation->newest_tick = tick;
}

void cairn_interpolation_advance(
    cairn_interpolation *interpolation, const cairn_clock *clock, uint64_t now_ns) {
    CAIRN_ASSERT(clock->tick_ns > 0);
    const double usual_ns = interpolation->spacing_ticks * clock->tick_ns + 3 * clock->jitter_ns;
    const double rare_ns = interpolation->wait_ticks * clock->tick_ns;
    const double measured_ns = (usual_ns > rare_ns ? usual_ns : rare_ns) + MARGIN_NS;
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

// Looks a body up in a snapshot, in order of id index. NULL: it is not there, or was put elsewhere.
typedef struct follower {
    const cairn_snapshot *snapshot; // NULL: not held
    uint32_t at;
} follower;

static const cairn_snapshot_body *follow(follower *in, const cairn_snapshot_body *body) {
    const cairn_snapshot *snapshot = in->snapshot;
    const uint32_t index = cairn_id_index(body->id);
    while (snapshot != NULL && in->at < snapshot->body_count &&
           cairn_id_index(snapshot->bodies[in->at].id) < index) {
        in->at++;
    }
    const bool found = snapshot != NULL && in->at < snapshot->body_count &&
                       snapshot->bodies[in->at].id == body->id &&
                       teleports_of(&snapshot->bodies[in->at]) == teleports_of(body);
    return found ? &snapshot->bodies[in->at] : NULL;
}

// The times of up to four snapshots that follow each other, in seconds; 0: that one is not held.
typedef struct path_steps {
    float before;
    float between;
    float after;
} path_steps;

// How much the mean velocity changes from one step to the next. False: by more than a body that
// was not hit.
static bool velocity_change(
    float from, float middle, float to, float first_s, float second_s, float *change) {
    *change = (to - middle) / second_s - (middle - from) / first_s;
    const float most = ACCELERATION_MAX * 0.5f * (first_s + second_s);
    return *change <= most && *change >= -most;
}

// What a cubic Hermite curve from `a` to `b` adds to the straight line, on one axis. The velocity
// at an end is that of the parabola through the end and its two neighbours; an end without one
// takes the parabola of the other end.
static float bend(const float p[4], const path_steps *steps, float fraction) {
    float start = 0, end = 0; // velocity less the mean one from a to b
    const bool starts = steps->before > 0 &&
                        velocity_change(p[0], p[1], p[2], steps->before, steps->between, &start);
    const bool ends =
        steps->after > 0 && velocity_change(p[1], p[2], p[3], steps->between, steps->after, &end);
    if (!starts && !ends) {
        return 0;
    }
    start *= -steps->between / (steps->before + steps->between);
    end *= steps->between / (steps->between + steps->after);
    start = starts ? start : -end;
    end = ends ? end : -start;
    return steps->between * fraction * (1 - fraction) * ((1 - fraction) * start - fraction * end);
}

static float axis_of(cairn_vec3 v, int axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static void bend_path(const cairn_snapshot_body *before, const cairn_snapshot_body *a,
    const cairn_snapshot_body *b, const cairn_snapshot_body *after, const path_steps *steps,
    float fraction, float position[3]) {
    const path_steps known = {.before = before == NULL ? 0 : steps->before,
        .between = steps->between,
        .after = after == NULL ? 0 : steps->after};
    for (int axis = 0; axis < 3; axis++) {
        const float p[4] = {before == NULL ? 0 : axis_of(before->position, axis),
            axis_of(a->position, axis), axis_of(b->position, axis),
            after == NULL ? 0 : axis_of(after->position, axis)};
        position[axis] += bend(p, &known, fraction);
    }
}

// All lists are in order of id index. If another body took over an index in between, the older
// body is shown until the newer snapshot is reached. Steps of a simulation follow each other tick
// by tick: their paths are straight lines.
static void show_between(const cairn_snapshots *snapshots, uint32_t next, double tick_ns,
    bool curved, float fraction, cairn_client_body *bodies, uint32_t capacity,
    cairn_client_sample *out) {
    const cairn_snapshot *list = snapshots->list;
    const cairn_snapshot *b = &list[next];
    const cairn_snapshot *a = next > 0 ? &list[next - 1] : b;
    const double tick_s = tick_ns * 1e-9;
    follower before = {.snapshot = next > 1 ? &list[next - 2] : NULL};
    follower beside = {.snapshot = b};
    follower after = {.snapshot = next + 1 < snapshots->count ? &list[next + 1] : NULL};
    const path_steps steps = {
        .before =
            before.snapshot == NULL ? 0 : (float)((double)(a->tick - list[next - 2].tick) * tick_s),
        .between = (float)((double)(b->tick - a->tick) * tick_s),
        .after =
            after.snapshot == NULL ? 0 : (float)((double)(list[next + 1].tick - b->tick) * tick_s)};
    const bool straight = !curved || b->tick - a->tick < 2;
    for (uint32_t i = 0; i < a->body_count; i++) {
        const cairn_snapshot_body *from = &a->bodies[i];
        // A body that was put elsewhere in between stands still until the newer snapshot, too.
        const cairn_snapshot_body *to = follow(&beside, from);
        cairn_client_body body = interpolate_body(from, to != NULL ? to : from, fraction);
        if (!straight && to != NULL && body.awake) {
            bend_path(follow(&before, from), from, to, follow(&after, to), &steps, fraction,
                body.position);
        }
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

// A body that was not hit lately keeps its acceleration. Velocities that the server sent are those
// of the centre of mass: the picture goes on as the poses do.
static void show_beyond(const cairn_snapshots *snapshots, double tick_ns, float seconds,
    cairn_client_body *bodies, uint32_t capacity, cairn_client_sample *out) {
    const uint32_t newest = snapshots->count - 1;
    const cairn_snapshot *list = snapshots->list;
    const cairn_snapshot *a = &list[newest];
    follower before = {.snapshot = newest > 0 ? &list[newest - 1] : NULL};
    follower first = {.snapshot = newest > 1 ? &list[newest - 2] : NULL};
    const float last_s =
        newest > 0 ? (float)((double)(a->tick - list[newest - 1].tick) * tick_ns * 1e-9) : 0;
    const float first_s =
        newest > 1
            ? (float)((double)(list[newest - 1].tick - list[newest - 2].tick) * tick_ns * 1e-9)
            : 0;
    for (uint32_t i = 0; i < a->body_count; i++) {
        const cairn_snapshot_body *to = &a->bodies[i];
        cairn_client_body body = interpolate_body(to, to, 0);
        const cairn_snapshot_body *middle = seconds > 0 ? follow(&before, to) : NULL;
        const cairn_snapshot_body *from = middle != NULL ? follow(&first, middle) : NULL;
        for (int axis = 0; axis < 3; axis++) {
            float change = 0;
            if (from == NULL ||
                !velocity_change(axis_of(from->position, axis), axis_of(middle->position, axis),
                    axis_of(to->position, axis), first_s, last_s, &change)) {
                change = 0;
            }
            const float acceleration = from == NULL ? 0 : change / (0.5f * (first_s + last_s));
            const float mean =
                !a->velocities ? body.linear_velocity[axis]
                : middle == NULL
                    ? 0
                    : (axis_of(to->position, axis) - axis_of(middle->position, axis)) / last_s;
            const float rest_s = a->velocities ? seconds : 0.5f * last_s + seconds;
            body.position[axis] += (mean + acceleration * 0.5f * (last_s + seconds)) * seconds;
            body.linear_velocity[axis] += acceleration * rest_s;
        }
        if (seconds > 0) {
            rotate(body.rotation, body.angular_velocity, seconds);
        }
        add_body(bodies, capacity, out, &body);
    }
}

bool cairn_interpolate(const cairn_snapshots *snapshots, double tick, double tick_ns,
    double extrapolation_ticks_max, bool curved, cairn_client_body *bodies, uint32_t capacity,
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
        show_beyond(snapshots, tick_ns, (float)(beyond * tick_ns * 1e-9), bodies, capacity, out);
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
    show_between(snapshots, next, tick_ns, curved, (float)fraction, bodies, capacity, out);
    return true;
}
