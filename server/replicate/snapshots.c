// SPDX-License-Identifier: MIT
#include "server/replicate/snapshots.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/limits.h"
#include "bridge/snapshot.h"
#include "compress/frame_codec.h"
#include "compress/velocity.h"
#include "schema/shared_words.h"
#include "server/replicate/body_extents.h"

// The other fields of a message need some of CAIRN_MESSAGE_SIZE_MAX.
#define DELTA_SIZE_MAX (CAIRN_MESSAGE_SIZE_MAX - 1024)
#define DELTA_STORE_SIZE (4 * DELTA_SIZE_MAX)

// A client keeps CAIRN_SNAPSHOTS_MAX (client_lib/interpolate/snapshots.h) snapshots, 32; older ones
// than this many are no bases, with some to spare for those that overtook each other.
#define BASES_AGE_MAX 28

// A keyframe up to two payloads long is sent with every snapshot until one is acknowledged. A
// longer one is seldom complete on a lossy path and goes over the reliable stream, once.
#define UNRELIABLE_KEYFRAME_SIZE_MAX (2 * 1100)

// Differences of one snapshot that are kept, each for all clients that hold its bases.
#define DELTAS_MAX 256

// Of these, how many may have bases that are not as far apart as the first is old: those of clients
// that missed some. Others get one that is stored. With 1,000 clients that lose 5 % within 300 ms
// some 20 are asked for, and with 20 % some 60: then snapshots are 0.6 % longer. A client that
// acknowledges what it likes could ask for any of thousands, and each costs as much as all else
// that a client gets.
#define DELTAS_OFF_GRID_MAX 24

// How many snapshots ago each base was taken; 0: none.
typedef struct base_ages {
    uint16_t at[3];
} base_ages;

typedef struct stored_delta {
    base_ages ages;
    bool velocities;
    uint16_t next; // of those with the same first base; DELTAS_MAX: none
    size_t offset; // after the room for a head
    size_t size;   // 0: longer than a message, or there was no memory for the codec
} stored_delta;

struct cairn_baselines {
    uint32_t capacity;
    uint32_t body_capacity;
    uint32_t count;
    uint32_t newest;
    bool checked;         // `check` is that of the newest snapshot: parts of it need none
    uint32_t check;       // cairn_snapshot_frame_check
    cairn_baseline *ring; // frames have room for as many bodies as they needed so far
    cairn_quantisation quantisation;
    uint32_t shared_words; // of each
    uint32_t *shared;
    cairn_body_state *states; // as read from the world, by place in the newest snapshot
    bool follows;             // the next snapshot may follow from the newest one
    cairn_body_id *changed;   // room for a quarter of the bodies; NULL until a snapshot is taken
    cairn_quantised_velocity *velocities; // of the newest snapshot; NULL until a client asks
    bool velocities_wanted;               // since it was taken
    bool velocities_taken;
    cairn_body_extents extents;
    cairn_frame_codec *codec; // NULL until a snapshot is sent
    stored_delta *deltas;     // of the newest snapshot
    uint16_t *first_deltas;   // by the age of their first base; DELTAS_MAX: none
    uint32_t delta_count;
    uint32_t encoded;  // differences of the newest snapshot
    uint32_t off_grid; // of these
    size_t store_used;
    uint8_t *store;
};

static bool allocate(cairn_baselines *baselines) {
    const size_t capacity = baselines->capacity;
    const uint32_t body_capacity = baselines->body_capacity;
    baselines->ring = calloc(capacity, sizeof *baselines->ring);
    baselines->states = calloc(body_capacity, sizeof *baselines->states);
    baselines->deltas = malloc(DELTAS_MAX * sizeof *baselines->deltas);
    baselines->first_deltas = malloc(capacity * sizeof *baselines->first_deltas);
    baselines->shared = calloc(capacity * baselines->shared_words + 1, sizeof *baselines->shared);
    baselines->store = malloc(DELTA_STORE_SIZE);
    return baselines->ring != NULL && baselines->states != NULL && baselines->deltas != NULL &&
           baselines->first_deltas != NULL && baselines->store != NULL &&
           baselines->shared != NULL &&
           cairn_body_extents_create(&baselines->extents, body_capacity);
}

cairn_status cairn_baselines_create(uint32_t count, const cairn_world_def *def,
    const cairn_quantisation *quantisation, cairn_baselines **out) {
    CAIRN_ASSERT(count >= 2 && count <= UINT16_MAX && def->body_capacity > 0);
    *out = NULL;
    cairn_baselines *baselines = calloc(1, sizeof *baselines);
    if (baselines == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    baselines->capacity = count;
    baselines->body_capacity = def->body_capacity;
    baselines->quantisation = *quantisation;
    baselines->shared_words = def->rules == NULL ? 0 : def->rules->shared_size / 4;
    if (!allocate(baselines)) {
        cairn_baselines_destroy(baselines);
        return CAIRN_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < count; ++i) {
        baselines->ring[i].shared = baselines->shared + (size_t)i * baselines->shared_words;
    }
    *out = baselines;
    return CAIRN_OK;
}

void cairn_baselines_destroy(cairn_baselines *baselines) {
    if (baselines != NULL) {
        for (uint32_t i = 0; baselines->ring != NULL && i < baselines->capacity; ++i) {
            cairn_snapshot_frame_destroy(&baselines->ring[i].frame);
        }
        cairn_frame_codec_destroy(baselines->codec);
        cairn_body_extents_destroy(&baselines->extents);
        free(baselines->store);
        free(baselines->shared);
        free(baselines->deltas);
        free(baselines->first_deltas);
        free(baselines->changed);
        free(baselines->states);
        free(baselines->velocities);
        free(baselines->ring);
        free(baselines);
    }
}

// Frames have room for the bodies that there were, and a few more: most rooms have far fewer than
// they could.
static bool reserve(cairn_snapshot_frame *frame, uint32_t body_count, uint32_t body_capacity) {
    if (body_count <= frame->capacity) {
        return true;
    }
    const uint32_t roomy = body_count + body_count / 4 + 8;
    cairn_snapshot_frame wider;
    if (cairn_snapshot_frame_create(&wider, roomy < body_capacity ? roomy : body_capacity) !=
        CAIRN_OK) {
        return false;
    }
    cairn_snapshot_frame_destroy(frame);
    *frame = wider;
    return true;
}

static void forget_deltas(cairn_baselines *baselines) {
    baselines->delta_count = 0;
    baselines->store_used = 0;
    for (uint32_t age = 0; age < baselines->capacity; ++age) {
        baselines->first_deltas[age] = DELTAS_MAX;
    }
}

static void take_velocities(cairn_baselines *baselines, uint32_t body_count) {
    if (baselines->velocities_wanted && baselines->velocities == NULL) {
        baselines->velocities = calloc(baselines->body_capacity, sizeof *baselines->velocities);
    }
    baselines->velocities_taken = baselines->velocities_wanted && baselines->velocities != NULL;
    baselines->velocities_wanted = false;
    for (uint32_t i = 0; baselines->velocities_taken && i < body_count; ++i) {
        const cairn_body_state *body = &baselines->states[i];
        baselines->velocities[i] =
            cairn_quantise_velocity(body->linear_velocity, body->angular_velocity);
    }
}

cairn_quantised_velocity *cairn_baselines_velocities(cairn_baselines *baselines) {
    baselines->velocities_wanted = true;
    return baselines->velocities_taken ? baselines->velocities : NULL;
}

// If more bodies changed, all are read.
static uint32_t changed_max(const cairn_baselines *baselines) {
    return baselines->body_capacity / 4;
}

// All bodies, as the world has them.
static void read_all(cairn_baselines *baselines, cairn_snapshot_frame *frame, uint32_t count) {
    frame->count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_snapshot_body body = cairn_snapshot_body_of(&baselines->states[i]);
        cairn_snapshot_frame_add(
            frame, &body, baselines->extents.half_extents[cairn_id_index(body.id)]);
    }
}

// Reads again the bodies of `frame`, a copy of the last snapshot, that were listed as changed.
// False: one of them is not in the last snapshot.
static bool read_changed(cairn_baselines *baselines, const cairn_world *world,
    cairn_snapshot_frame *frame, uint32_t changed_count) {
    uint32_t place = 0;
    for (uint32_t i = 0; i < changed_count; ++i) {
        const cairn_body_id id = baselines->changed[i];
        if (!cairn_snapshot_frame_find(frame, id, place + 1, &place)) {
            return false;
        }
        cairn_body_state *state = &baselines->states[place];
        const cairn_status status = cairn_body_read(world, id, state);
        CAIRN_ASSERT(status == CAIRN_OK);
        const cairn_snapshot_body body = cairn_snapshot_body_of(state);
        cairn_snapshot_frame_set(
            frame, place, &body, baselines->extents.half_extents[cairn_id_index(id)]);
    }
    return true;
}

// The bodies of the world, in the order of the last snapshot if it has the same ones; then most of
// them are as they were there.
static bool read_bodies(cairn_baselines *baselines, const cairn_world *world,
    const cairn_snapshot_frame *last, cairn_snapshot_frame *frame, uint32_t changed_count) {
    const uint32_t count = cairn_world_population_read(world).bodies;
    if (!reserve(frame, count, baselines->body_capacity)) {
        return false;
    }
    const bool follows =
        last != NULL && last->count == count && changed_count <= changed_max(baselines);
    if (follows) {
        cairn_snapshot_frame_copy(last, frame);
    }
    frame->tick = cairn_world_tick(world);
    frame->tick_rate_hz = cairn_world_settings(world)->tick_rate_hz;
    frame->quantisation = baselines->quantisation;
    frame->gravity = cairn_world_settings(world)->gravity;
    if (follows && read_changed(baselines, world, frame, changed_count)) {
        return true;
    }
    const uint32_t all = cairn_world_bodies(world, baselines->states, baselines->body_capacity);
    CAIRN_ASSERT(all == count);
    read_all(baselines, frame, all);
    return true;
}

// Returns how many bodies changed since this was called before; UINT32_MAX: nobody knows.
static uint32_t list_changed(cairn_baselines *baselines, cairn_watch *watch) {
    const uint32_t most = changed_max(baselines);
    if (baselines->changed == NULL) {
        baselines->changed = malloc((most + 1) * sizeof *baselines->changed);
    }
    return watch == NULL || baselines->changed == NULL
               ? UINT32_MAX
               : cairn_watch_bodies(watch, baselines->changed, most);
}

static void add_shared_words(
    const cairn_baselines *baselines, const cairn_world *world, cairn_baseline *snapshot) {
    uint32_t state_size = 0;
    if (baselines->shared_words > 0) {
        const uint8_t *state = cairn_world_rules_state(world, &state_size);
        memcpy(snapshot->shared, state + cairn_world_settings(world)->rules->shared_offset,
            baselines->shared_words * sizeof *snapshot->shared);
    }
}

bool cairn_baselines_take(cairn_baselines *baselines, const cairn_world *world,
    const cairn_room_shapes *shapes, cairn_watch *watch) {
    const cairn_baseline *last = cairn_baselines_newest(baselines);
    cairn_baseline *snapshot = &baselines->ring[(baselines->newest + 1) % baselines->capacity];
    cairn_snapshot_frame *frame = &snapshot->frame;
    CAIRN_ASSERT(last == NULL || cairn_world_tick(world) > last->frame.tick);
    CAIRN_ASSERT(snapshot != last);
    cairn_body_extents_update(&baselines->extents, &baselines->quantisation, world, shapes);
    const uint32_t changed_count = list_changed(baselines, watch);
    // What the watch has listed is not listed again: if this fails, the next one reads all. Where a
    // shape came or went, its body is listed.
    const bool follows = baselines->follows && last != NULL;
    baselines->follows =
        read_bodies(baselines, world, follows ? &last->frame : NULL, frame, changed_count);
    if (!baselines->follows) {
        return false;
    }
    baselines->newest = (uint32_t)(snapshot - baselines->ring);
    baselines->count += baselines->count < baselines->capacity ? 1 : 0;
    baselines->encoded = 0;
    baselines->off_grid = 0;
    forget_deltas(baselines);
    take_velocities(baselines, frame->count);
    baselines->checked = false;
    add_shared_words(baselines, world, snapshot);
    return true;
}

size_t cairn_baselines_bytes(const cairn_baselines *baselines) {
    size_t bytes = cairn_frame_codec_bytes(baselines->codec);
    for (uint32_t i = 0; i < baselines->capacity; ++i) {
        bytes += baselines->ring[i].frame.capacity * CAIRN_FRAME_BODY_SIZE;
    }
    return bytes;
}

void cairn_baselines_forget(cairn_baselines *baselines) {
    baselines->count = 0;
    forget_deltas(baselines);
}

const cairn_baseline *cairn_baselines_newest(const cairn_baselines *baselines) {
    CAIRN_ASSERT(
        baselines->count <= baselines->capacity && baselines->newest < baselines->capacity);
    return baselines->count == 0 ? NULL : &baselines->ring[baselines->newest];
}

static cairn_baseline *of_age(const cairn_baselines *baselines, uint32_t age) {
    CAIRN_ASSERT(age < baselines->count);
    const uint32_t newest = baselines->newest;
    return &baselines->ring[newest >= age ? newest - age : newest + baselines->capacity - age];
}

static uint32_t age_of(const cairn_baselines *baselines, const cairn_baseline *baseline) {
    const uint32_t place = (uint32_t)(baseline - baselines->ring);
    return (baselines->newest + baselines->capacity - place) % baselines->capacity;
}

// Most are asked for the newer ones.
const cairn_baseline *cairn_baselines_find(const cairn_baselines *baselines, uint64_t tick) {
    for (uint32_t age = 0; age < baselines->count; ++age) {
        const cairn_baseline *each = of_age(baselines, age);
        if (each->frame.tick <= tick) {
            return each->frame.tick == tick ? each : NULL;
        }
    }
    return NULL;
}

const cairn_baseline *cairn_baselines_find_recent(const cairn_baselines *baselines, uint64_t tick) {
    const cairn_baseline *found = tick == 0 ? NULL : cairn_baselines_find(baselines, tick);
    return found != NULL && age_of(baselines, found) <= BASES_AGE_MAX ? found : NULL;
}

const cairn_baseline *cairn_baselines_before_newest(const cairn_baselines *baselines) {
    const uint32_t capacity = baselines->capacity;
    return baselines->count < 2 ? NULL
                                : &baselines->ring[(baselines->newest + capacity - 1) % capacity];
}

uint32_t cairn_baselines_shared_words(const cairn_baselines *baselines) {
    return baselines->shared_words;
}

void cairn_baselines_around(const cairn_baselines *baselines, double tick,
    const cairn_baseline **before, const cairn_baseline **after) {
    *before = NULL;
    *after = NULL;
    for (uint32_t age = 0; age < baselines->count && *before == NULL; ++age) {
        const cairn_baseline *each = of_age(baselines, age);
        *((double)each->frame.tick <= tick ? before : after) = each;
    }
}

static bool is_store_full(const cairn_baselines *baselines) {
    return DELTA_STORE_SIZE - baselines->store_used <
               CAIRN_SNAPSHOT_HEAD_SIZE_MAX + DELTA_SIZE_MAX ||
           baselines->delta_count == DELTAS_MAX;
}

// Whether each base is as much older than the one before as that is old, or the same one again.
static bool is_on_grid(const base_ages *ages) {
    const uint32_t age = ages->at[0];
    const uint32_t between[2] = {
        (uint32_t)ages->at[1] - ages->at[0], (uint32_t)ages->at[2] - ages->at[1]};
    return (between[0] == 0 || between[0] == age) && (between[1] == 0 || between[1] == age);
}

static const stored_delta *find_delta(
    const cairn_baselines *baselines, const base_ages *ages, bool velocities) {
    uint32_t i = baselines->first_deltas[ages->at[0]];
    while (i < DELTAS_MAX) {
        const stored_delta *stored = &baselines->deltas[i];
        if (stored->velocities == velocities && stored->ages.at[1] == ages->at[1] &&
            stored->ages.at[2] == ages->at[2]) {
            return stored;
        }
        i = stored->next;
    }
    return NULL;
}

static const stored_delta *store_delta(
    cairn_baselines *baselines, const base_ages *ages, cairn_quantised_velocity *velocities) {
    if (is_store_full(baselines)) {
        // What was stored was copied into messages; at worst it is encoded a second time.
        forget_deltas(baselines);
    }
    uint16_t *first = &baselines->first_deltas[ages->at[0]];
    stored_delta *delta = &baselines->deltas[baselines->delta_count];
    *delta = (stored_delta){.ages = *ages, .velocities = velocities != NULL, .next = *first};
    *first = (uint16_t)baselines->delta_count++;
    baselines->encoded += 1;
    baselines->off_grid += is_on_grid(ages) ? 0 : 1;
    delta->offset = baselines->store_used + CAIRN_SNAPSHOT_HEAD_SIZE_MAX;
    cairn_frame_bases frames = {0};
    if (ages->at[0] != 0) {
        frames = (cairn_frame_bases){&of_age(baselines, ages->at[0])->frame,
            &of_age(baselines, ages->at[1])->frame, &of_age(baselines, ages->at[2])->frame};
    }
    cairn_snapshot_frame frame = cairn_baselines_newest(baselines)->frame;
    frame.velocities = velocities;
    if (baselines->codec != NULL ||
        cairn_frame_codec_create(baselines->body_capacity, &baselines->codec) == CAIRN_OK) {
        delta->size = cairn_frame_encode(
            baselines->codec, &frames, &frame, baselines->store + delta->offset, DELTA_SIZE_MAX);
    }
    baselines->store_used = delta->offset + delta->size;
    return delta;
}

const uint8_t *cairn_baselines_delta(cairn_baselines *baselines,
    const cairn_baseline *const bases[3], cairn_quantised_velocity *velocities, size_t *size) {
    CAIRN_ASSERT(
        bases[0] == NULL || bases[0]->frame.tick < cairn_baselines_newest(baselines)->frame.tick);
    base_ages ages = {0};
    for (uint32_t k = 0; k < 3 && bases[0] != NULL; ++k) {
        ages.at[k] = (uint16_t)age_of(baselines, bases[k]);
    }
    const stored_delta *delta = find_delta(baselines, &ages, velocities != NULL);
    if (delta == NULL) {
        delta = store_delta(baselines, &ages, velocities);
    }
    *size = delta->size;
    return delta->size == 0 ? NULL : baselines->store + delta->offset;
}

uint32_t cairn_baselines_encoded(const cairn_baselines *baselines) {
    return baselines->encoded;
}

// ------------------------------------------------------------------------------------- of a client

void cairn_snapshots_acknowledge(cairn_snapshots_sent *sent, uint64_t tick) {
    uint64_t *before = sent->acknowledged_before;
    CAIRN_ASSERT(tick > sent->acknowledged);
    memmove(before + 1, before, (CAIRN_SNAPSHOTS_ACKNOWLEDGED_MAX - 1) * sizeof *before);
    before[0] = sent->acknowledged;
    sent->acknowledged = tick;
}

// Which snapshots the client holds that may be bases: bit n for that of age n, none is older than
// BASES_AGE_MAX.
static uint32_t held_ages(const cairn_baselines *baselines, const cairn_snapshots_sent *sent) {
    uint64_t tick = sent->acknowledged;
    uint32_t next = 0;
    uint32_t held = 0;
    for (uint32_t age = 1; age <= BASES_AGE_MAX && age < baselines->count; ++age) {
        const uint64_t own = of_age(baselines, age)->frame.tick;
        while (tick > own && next < CAIRN_SNAPSHOTS_ACKNOWLEDGED_MAX) {
            tick = sent->acknowledged_before[next++];
        }
        held |= tick == own && own != 0 ? 1u << age : 0;
    }
    return held;
}

// The newest of these that is at least so old; if none is, the oldest that is older than `newer`;
// if none is, `newer`.
static uint32_t held_of_age(uint32_t held, uint32_t age, uint32_t newer) {
    uint32_t found = newer;
    for (uint32_t each = newer + 1; each <= BASES_AGE_MAX && (found < age || found == newer);
         ++each) {
        found = (held >> each & 1) != 0 ? each : found;
    }
    return found;
}

// The shortest difference that is stored and that the client can use, NULL: none.
static const stored_delta *find_usable(
    const cairn_baselines *baselines, uint32_t held, bool velocities) {
    const stored_delta *best = NULL;
    for (uint32_t i = 0; i < baselines->delta_count; ++i) {
        const stored_delta *stored = &baselines->deltas[i];
        const uint16_t *at = stored->ages.at;
        const bool usable = stored->size > 0 && stored->velocities == velocities &&
                            at[2] <= BASES_AGE_MAX && (held >> at[0] & 1) != 0 &&
                            (held >> at[1] & 1) != 0 && (held >> at[2] & 1) != 0;
        best = usable && (best == NULL || stored->size < best->size) ? stored : best;
    }
    return best;
}

bool cairn_baselines_choose(const cairn_baselines *baselines, const cairn_snapshots_sent *sent,
    bool velocities, const cairn_baseline *bases[3]) {
    bases[0] = sent->acknowledged == 0 ? NULL : cairn_baselines_find(baselines, sent->acknowledged);
    if (bases[0] == NULL) {
        return false;
    }
    const uint32_t held = held_ages(baselines, sent);
    const uint32_t age = age_of(baselines, bases[0]);
    const uint32_t earlier = held_of_age(held, 2 * age, age);
    const uint32_t earliest = held_of_age(held, earlier + age, earlier);
    base_ages ages = {{(uint16_t)age, (uint16_t)earlier, (uint16_t)earliest}};
    const bool affordable = !is_store_full(baselines) &&
                            (is_on_grid(&ages) || baselines->off_grid < DELTAS_OFF_GRID_MAX);
    if (!affordable && find_delta(baselines, &ages, velocities) == NULL) {
        const stored_delta *usable = find_usable(baselines, held, velocities);
        ages = usable != NULL ? usable->ages : (base_ages){{ages.at[0], ages.at[0], ages.at[0]}};
    }
    for (uint32_t k = 0; k < 3; ++k) {
        bases[k] = of_age(baselines, ages.at[k]);
    }
    return true;
}

static cairn_quantised_velocity *velocities_for(
    const cairn_session *session, cairn_baselines *baselines) {
    return session->velocities ? cairn_baselines_velocities(baselines) : NULL;
}

// Fills the message with the newest snapshot but for its head. Returns how long it becomes at most;
// 0: longer than a message.
static size_t write_snapshot(const cairn_session *session, cairn_baselines *baselines,
    const cairn_baseline *const bases[3], const cairn_packed_events *events,
    uint8_t shared[CAIRN_SHARED_PACKED_SIZE_MAX], cairn_snapshot_message *out) {
    static const uint32_t zeros[CAIRN_SHARED_WORDS_MAX];
    size_t size = 0;
    cairn_quantised_velocity *velocities = velocities_for(session, baselines);
    out->payload = cairn_baselines_delta(baselines, bases, velocities, &size);
    out->velocities = velocities != NULL ? 1 : 0;
    if (out->payload == NULL) {
        return 0;
    }
    out->payload_size = (uint32_t)size;
    out->events = events->items;
    out->events_size = events->size;
    out->shared = shared;
    out->shared_packed_size = (uint32_t)cairn_words_encode(
        bases[0] == NULL ? zeros : bases[0]->shared, cairn_baselines_newest(baselines)->shared,
        baselines->shared_words, shared, CAIRN_SHARED_PACKED_SIZE_MAX);
    size += CAIRN_SESSION_ENVELOPE_SIZE + CAIRN_SNAPSHOT_HEAD_SIZE_MAX + out->events_size +
            out->shared_packed_size;
    return size <= CAIRN_MESSAGE_SIZE_MAX ? size : 0;
}

static uint32_t check_newest(cairn_baselines *baselines) {
    if (!baselines->checked) {
        baselines->check = cairn_snapshot_frame_check(&cairn_baselines_newest(baselines)->frame);
        baselines->checked = true;
    }
    return baselines->check;
}

// In the room before the payload.
static void write_head(cairn_session *session, cairn_baselines *baselines,
    const cairn_baseline *const bases[3], cairn_snapshot_message *out) {
    const cairn_baseline *newest = cairn_baselines_newest(baselines);
    cairn_snapshot_head head = {.tick = newest->frame.tick,
        .world_epoch = session->world_epoch,
        .check = check_newest(baselines),
        .timing = cairn_input_timing_report(&session->input_timing, session->room, session->slot),
        .shared_words = baselines->shared_words};
    for (uint32_t k = 0; k < 3 && bases[0] != NULL; ++k) {
        head.bases[k] = bases[k]->frame.tick;
    }
    uint8_t packed[CAIRN_SNAPSHOT_HEAD_SIZE_MAX];
    const size_t size = cairn_snapshot_head_write(&head, packed);
    uint8_t *payload = baselines->store + (out->payload - baselines->store) - size;
    memcpy(payload, packed, size);
    out->payload = payload;
    out->payload_size += (uint32_t)size;
}

typedef enum send_outcome { SENT, NOT_SENT, TOO_LONG } send_outcome;

static send_outcome send_delta(const cairn_server_context *context, cairn_session *session,
    cairn_baselines *baselines, const cairn_baseline *const bases[3],
    const cairn_packed_events *events, uint64_t size_max) {
    uint8_t shared[CAIRN_SHARED_PACKED_SIZE_MAX];
    cairn_message message = {.kind = CAIRN_MESSAGE_SNAPSHOT};
    if (write_snapshot(session, baselines, bases, events, shared, &message.snapshot) == 0 ||
        message.snapshot.payload_size > size_max) {
        return TOO_LONG;
    }
    write_head(session, baselines, bases, &message.snapshot);
    const size_t size = cairn_session_send_unreliable(session, context->encoder, &message);
    session->room->statistics.deltas_sent += size > 0 ? 1 : 0;
    session->room->statistics.snapshot_bytes += size;
    return size > 0 ? SENT : NOT_SENT;
}

static send_outcome send_keyframe(const cairn_server_context *context, cairn_session *session,
    cairn_baselines *baselines, cairn_snapshots_sent *sent, const cairn_packed_events *events,
    uint64_t size_max) {
    static const cairn_baseline *const no_bases[3];
    cairn_server_room_statistics *statistics = &session->room->statistics;
    const uint64_t tick = cairn_baselines_newest(baselines)->frame.tick;
    const bool stands = session->room->time_control.paused;
    // One is on its way over the reliable stream and will still be a base when it arrives.
    if (sent->keyframe_tick > sent->acknowledged &&
        cairn_baselines_find(baselines, sent->keyframe_tick) != NULL) {
        return NOT_SENT;
    }
    // A client that acknowledges none is sent them less and less often. Where no tick follows it is
    // sent one, reliably.
    if (tick == 0 ? sent->start_sent
                  : !stands && 8 * (tick - sent->keyframes_to) <
                                   sent->keyframes_to - sent->keyframes_from) {
        return NOT_SENT;
    }
    uint8_t shared[CAIRN_SHARED_PACKED_SIZE_MAX];
    cairn_message message = {.kind = CAIRN_MESSAGE_SNAPSHOT};
    const size_t longest =
        write_snapshot(session, baselines, no_bases, events, shared, &message.snapshot);
    const bool reliable = stands || longest > UNRELIABLE_KEYFRAME_SIZE_MAX;
    if (longest == 0 || message.snapshot.payload_size > size_max) {
        statistics->snapshots_too_large += 1;
        return TOO_LONG;
    }
    if (reliable && cairn_link_reliable_room(session->link) < longest) {
        return NOT_SENT;
    }
    write_head(session, baselines, no_bases, &message.snapshot);
    const size_t size = reliable
                            ? cairn_session_send_reliable(session, context->encoder, &message)
                            : cairn_session_send_unreliable(session, context->encoder, &message);
    if (size > 0) {
        sent->start_sent = tick == 0;
        sent->keyframe_tick = reliable ? tick : 0;
        sent->keyframes_from = sent->keyframes_from != 0 ? sent->keyframes_from : tick;
        sent->keyframes_to = tick;
        statistics->keyframes_sent += 1;
        statistics->snapshot_bytes += size;
    }
    return size > 0 ? SENT : NOT_SENT;
}

bool cairn_snapshot_send(const cairn_server_context *context, cairn_session *session,
    cairn_baselines *baselines, uint64_t bytes_per_second, cairn_snapshots_sent *sent,
    cairn_game_sent *game) {
    CAIRN_ASSERT(cairn_baselines_newest(baselines) != NULL);
    if (!cairn_session_may_send_unreliable(session, context->now_ns, false)) {
        return true;
    }
    cairn_packed_events events;
    const cairn_baseline *bases[3];
    cairn_game_events_pack(session, game, cairn_baselines_newest(baselines)->frame.tick, &events);
    // A keyframe may take what a second has.
    const uint64_t delta_max = bytes_per_second / session->room->settings.snapshot_rate_hz;
    const bool based =
        cairn_baselines_choose(baselines, sent, velocities_for(session, baselines) != NULL, bases);
    if (based) {
        sent->keyframes_from = sent->keyframes_to = 0;
    }
    const send_outcome outcome =
        based ? send_delta(context, session, baselines, bases, &events, delta_max)
              : send_keyframe(context, session, baselines, sent, &events, bytes_per_second);
    if (outcome == SENT) {
        cairn_game_events_sent(session, game, &events);
    }
    return outcome != TOO_LONG;
}
