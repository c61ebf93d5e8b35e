// SPDX-License-Identifier: MIT
#include "client_lib/interpolate/snapshot_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

static cairn_status create_settled(cairn_settled *settled, uint32_t capacity) {
    settled->ticks = calloc(capacity, sizeof *settled->ticks);
    return settled->ticks == NULL ? CAIRN_OUT_OF_MEMORY
                                  : cairn_snapshot_frame_create(&settled->frame, capacity);
}

cairn_snapshot_parts *cairn_snapshot_parts_create(uint32_t capacity) {
    cairn_snapshot_parts *parts = calloc(1, sizeof *parts);
    if (parts == NULL) {
        return NULL;
    }
    parts->capacity = capacity;
    parts->held = calloc(capacity, sizeof *parts->held);
    parts->scratch = calloc(capacity, sizeof *parts->scratch);
    if (parts->held == NULL || parts->scratch == NULL ||
        cairn_part_create(&parts->part, capacity) != CAIRN_OK ||
        create_settled(&parts->settled[0], capacity) != CAIRN_OK ||
        create_settled(&parts->settled[1], capacity) != CAIRN_OK) {
        cairn_snapshot_parts_destroy(parts);
        return NULL;
    }
    return parts;
}

void cairn_snapshot_parts_destroy(cairn_snapshot_parts *parts) {
    if (parts != NULL) {
        for (uint32_t i = 0; i < 2; ++i) {
            cairn_snapshot_frame_destroy(&parts->settled[i].frame);
            free(parts->settled[i].ticks);
        }
        cairn_part_destroy(&parts->part);
        free(parts->scratch);
        free(parts->held);
        free(parts);
    }
}

void cairn_snapshot_parts_clear(cairn_snapshot_parts *parts) {
    parts->held_count = 0;
    parts->settled[0].frame.count = 0;
    parts->settled[1].frame.count = 0;
    parts->tick_rate_hz = 0;
}

void cairn_snapshot_parts_start(cairn_snapshot_parts *parts, const cairn_snapshot_frame *frame,
    const cairn_snapshot_body *bodies, uint32_t body_count) {
    CAIRN_ASSERT(parts->held_count == 0 && body_count <= parts->capacity);
    for (uint32_t i = 0; i < body_count; ++i) {
        parts->held[parts->held_count++] =
            (cairn_held_body){cairn_id_index(bodies[i].id), frame->tick};
    }
    parts->tick_rate_hz = frame->tick_rate_hz;
    parts->quantisation = frame->quantisation;
    parts->gravity = frame->gravity;
}

cairn_body_sample cairn_snapshot_parts_settled(
    const cairn_snapshot_parts *parts, uint32_t index, uint64_t tick) {
    const cairn_settled *settled = &parts->settled[parts->settled_now];
    uint32_t place = 0;
    const bool found = cairn_snapshot_frame_find_index(&settled->frame, index, &place) &&
                       settled->ticks[place] == tick;
    return found ? (cairn_body_sample){.frame = &settled->frame, .place = place, .tick = tick}
                 : (cairn_body_sample){.frame = NULL};
}

static void copy_sample(
    cairn_settled *to, const cairn_snapshot_frame *frame, uint32_t place, uint64_t tick) {
    cairn_snapshot_frame *out = &to->frame;
    const uint32_t k = out->count++;
    CAIRN_ASSERT(k < out->capacity);
    out->ids[k] = frame->ids[place];
    out->flags[k] = frame->flags[place];
    out->users[k] = frame->users[place];
    out->bodies[k] = frame->bodies[place];
    out->poses[k] = frame->poses[place];
    out->exact[k] = frame->exact[place];
    to->ticks[k] = tick;
}

// Of each body that is held the newer of the settled sample and that of the frame.
void cairn_snapshot_parts_settle(cairn_snapshot_parts *parts, const cairn_snapshot_frame *frame) {
    const cairn_settled *old = &parts->settled[parts->settled_now];
    cairn_settled *next = &parts->settled[1 - parts->settled_now];
    next->frame.count = 0;
    next->frame.quantisation = frame->quantisation;
    uint32_t k = 0;
    uint32_t i = 0;
    for (uint32_t h = 0; h < parts->held_count; ++h) {
        const uint32_t index = parts->held[h].index;
        while (k < old->frame.count && cairn_id_index(old->frame.ids[k]) < index) {
            ++k;
        }
        while (i < frame->count && cairn_id_index(frame->ids[i]) < index) {
            ++i;
        }
        if (i < frame->count && cairn_id_index(frame->ids[i]) == index) {
            copy_sample(next, frame, i, frame->tick);
        } else if (k < old->frame.count && cairn_id_index(old->frame.ids[k]) == index) {
            copy_sample(next, &old->frame, k, old->ticks[k]);
        }
    }
    parts->settled_now = 1 - parts->settled_now;
}

uint64_t cairn_snapshot_parts_tick(const cairn_snapshot_parts *parts, uint32_t index) {
    uint32_t low = 0;
    for (uint32_t high = parts->held_count; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        if (parts->held[middle].index < index) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const bool held = low < parts->held_count && parts->held[low].index == index;
    return held ? parts->held[low].tick : 0;
}

// Three lists in order of id index: bodies held, samples, and what left.
cairn_status cairn_snapshot_parts_apply(cairn_snapshot_parts *parts,
    const cairn_snapshot_body *bodies, uint32_t body_count, cairn_snapshot_body *out,
    uint32_t *count) {
    const cairn_part *part = &parts->part;
    const cairn_snapshot_frame *frame = &part->frame;
    uint32_t added = 0;
    uint32_t b = 0;
    uint32_t left = 0;
    CAIRN_ASSERT(body_count == parts->held_count);
    for (uint32_t s = 0; s < frame->count || b < body_count;) {
        const uint32_t of_sample = s < frame->count ? cairn_id_index(frame->ids[s]) : UINT32_MAX;
        const uint32_t of_body = b < body_count ? cairn_id_index(bodies[b].id) : UINT32_MAX;
        const uint32_t index = of_sample < of_body ? of_sample : of_body;
        while (left < part->left_count && part->left[left] < index) {
            ++left;
        }
        const bool leaves = left < part->left_count && part->left[left] == index;
        const bool sampled = of_sample == index;
        if ((sampled || !leaves) && added == parts->capacity) {
            return CAIRN_CAPACITY;
        }
        if (sampled) {
            out[added] = cairn_snapshot_frame_body(frame, s);
            parts->scratch[added++] = (cairn_held_body){index, frame->tick};
        } else if (!leaves) {
            out[added] = bodies[b];
            // Where it was seen last.
            out[added].linear_velocity = (cairn_vec3){0};
            out[added].angular_velocity = (cairn_vec3){0};
            parts->scratch[added++] = parts->held[b];
        }
        s += sampled ? 1 : 0;
        b += of_body == index ? 1 : 0;
    }
    cairn_held_body *held = parts->scratch;
    parts->scratch = parts->held;
    parts->held = held;
    parts->held_count = added;
    *count = added;
    return CAIRN_OK;
}
