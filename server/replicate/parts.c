// SPDX-License-Identifier: MIT
#include "server/replicate/parts.h"

#include <stdlib.h>
#include <string.h>

#include <cairn/math.h>

#include "base/assert.h"
#include "base/limits.h"
#include "schema/shared_words.h"

// A part is at most this long: a message of many payloads is seldom complete on a lossy path.
#define PART_SIZE_MAX (16 * 1024)
#define PART_SIZE_MIN 1000
// The longest record, and what ends a part.
#define RECORD_SIZE_MAX 176
// Before the first round trip was measured.
#define FIRST_BYTES_PER_S (128 * 1024)
// What travels around a message, and all of a part without records.
#define AROUND_BITS (8 * 40)
#define EMPTY_BITS (8 * 120)
// With few bytes, parts are fewer rather than empty, but there is one in this time.
#define PART_INTERVAL_NS (250 * UINT64_C(1000000))
#define LEAVE_BITS 12
// A body that waits longer goes before all that wait shorter.
#define STARVING_MS 500
#define RANKS 1024

// The samples that the client holds of one body. Those of others that it holds in the same
// snapshots are mostly as far from their places in the newest one, since bodies come in order.
typedef struct base_set {
    uint64_t acked[CAIRN_PART_BASES];  // ticks; the first one is 0: none
    bool same_places;                  // as in the newest snapshot, of all bodies
    uint32_t shifts[CAIRN_PART_BASES]; // of places, modulo 2^32
    cairn_body_sample bases[CAIRN_PART_BASES];
    cairn_part_spans spans;
} base_set;

#define BASE_SETS 16 // a power of 2

typedef struct sample_source {
    const cairn_baselines *baselines;
    const cairn_room_interest *interest;
    struct {
        uint64_t tick;
        const cairn_snapshot_frame *frame;
        uint32_t shift; // as in base_set
    } found[8];         // by tick modulo 8
    base_set sets[BASE_SETS];
} sample_source;

// Where the body at `place` of the newest snapshot is in another one, which it mostly is at
// `place` + *shift. False: it is not there.
static bool find_place(const sample_source *source, const cairn_snapshot_frame *frame,
    uint64_t tick, uint32_t place, uint32_t *shift) {
    if (tick >= source->interest->same_ids_since) {
        *shift = 0;
        return true;
    }
    uint32_t found;
    if (!cairn_snapshot_frame_find(
            frame, source->interest->frame->ids[place], place + *shift, &found)) {
        return false;
    }
    *shift = found - place;
    return true;
}

// The sample, as it was sent at `tick`, of the body at `place` of the newest snapshot. frame NULL:
// its snapshot was dropped here, or is so old that the client may have dropped it.
static cairn_body_sample sample_at(sample_source *source, uint64_t tick, uint32_t place) {
    cairn_body_sample none = {.frame = NULL};
    if (tick == 0) {
        return none;
    }
    if (source->found[tick % 8].tick != tick) {
        const cairn_baseline *recent = cairn_baselines_find_recent(source->baselines, tick);
        source->found[tick % 8].tick = tick;
        source->found[tick % 8].frame = recent != NULL ? &recent->frame : NULL;
        source->found[tick % 8].shift = 0;
    }
    const cairn_snapshot_frame *frame = source->found[tick % 8].frame;
    uint32_t *shift = &source->found[tick % 8].shift;
    return frame != NULL && find_place(source, frame, tick, place, shift)
               ? (cairn_body_sample){.frame = frame, .place = place + *shift, .tick = tick}
               : none;
}

// A body that was at rest since the client's sample has it in the last snapshot still. The client
// keeps it as long as no newer one arrives.
static cairn_body_sample sample_at_rest(
    const sample_source *source, const cairn_view_member *member, uint32_t hint) {
    const cairn_room_interest *interest = source->interest;
    const cairn_body_history *history = &interest->history[cairn_id_index(member->id)];
    uint32_t place = 0;
    const bool rested = interest->last != NULL && member->sent <= member->acked[0] &&
                        history->changed == interest->tick && history->before <= member->acked[0] &&
                        cairn_snapshot_frame_find(interest->last, member->id, hint, &place);
    return rested ? (cairn_body_sample){.frame = interest->last,
                        .place = place,
                        .tick = member->acked[0]}
                  : (cairn_body_sample){.frame = NULL};
}

static base_set *set_of(sample_source *source, const cairn_view_member *member) {
    const uint64_t *acked = member->acked;
    const uint64_t mixed = (acked[0] + 3 * acked[1] + 9 * acked[2]) * UINT64_C(0x9e3779b97f4a7c15);
    return &source->sets[mixed >> 32 & (BASE_SETS - 1)];
}

// In the same snapshots as another body.
static bool find_again(const sample_source *source, base_set *set, const cairn_view_member *member,
    uint32_t place, cairn_body_sample bases[CAIRN_PART_BASES]) {
    const uint64_t *a = set->acked, *b = member->acked;
    if (a[0] == 0 || ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2])) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < CAIRN_PART_BASES; ++i) {
        bases[i] = set->bases[i];
        bases[i].place = place + set->shifts[i];
    }
    for (uint32_t i = 0; !set->same_places && i < CAIRN_PART_BASES && bases[i].frame != NULL; ++i) {
        if (!find_place(source, bases[i].frame, a[i], place, &set->shifts[i])) {
            return false;
        }
        bases[i].place = place + set->shifts[i];
    }
    return true;
}

// Returns what follows from their ticks.
static const cairn_part_spans *find_bases(sample_source *source, const cairn_view_member *member,
    uint32_t place, cairn_body_sample bases[CAIRN_PART_BASES]) {
    base_set *set = set_of(source, member);
    if (find_again(source, set, member, place, bases)) {
        return &set->spans;
    }
    *set = (base_set){.acked = {0}};
    bases[0] = sample_at(source, member->acked[0], place);
    bases[1] = bases[2] = (cairn_body_sample){.frame = NULL};
    if (bases[0].frame == NULL) {
        bases[0] = member->acked[0] != 0 ? sample_at_rest(source, member, place) : bases[0];
    } else {
        for (uint32_t i = 1; i < CAIRN_PART_BASES && bases[i - 1].frame != NULL; ++i) {
            bases[i] = sample_at(source, member->acked[i], place);
        }
        memcpy(set->acked, member->acked, sizeof set->acked);
    }
    set->same_places = true;
    for (uint32_t i = 0; i < CAIRN_PART_BASES && bases[i].frame != NULL; ++i) {
        set->bases[i] = bases[i];
        set->shifts[i] = bases[i].place - place;
        set->same_places = set->same_places && bases[i].tick >= source->interest->same_ids_since;
    }
    if (bases[0].frame != NULL) {
        set->spans = cairn_part_spans_of(source->interest->frame, bases);
    }
    return &set->spans;
}

// ------------------------------------------------------------------------------------- the budget

typedef struct part_pass {
    const cairn_server_context *context;
    cairn_session *session;
    cairn_view *view;
    cairn_room_interest *interest;
    sample_source source;
    cairn_view_part *part;
    bool again; // the client was sent a part of this tick: it becomes `part` again
    size_t size_max;
    uint64_t late;    // ticks
    uint32_t *chosen; // members: those that wait, then those that are sent
    uint32_t chosen_count;
} part_pass;

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

// Bits that may be sent now: what the room's options and the path allow since the last part. A
// quarter of the path is left for the reliable stream.
static void refill(part_pass *pass, uint64_t bytes_per_second) {
    cairn_view *view = pass->view;
    const cairn_server_room_config *settings = &pass->session->room->settings;
    const cairn_link_statistics *link = cairn_link_statistics_read(pass->session->link);
    uint64_t rate = link->rate_bytes_per_s > 0 ? link->rate_bytes_per_s * 3 / 4 : FIRST_BYTES_PER_S;
    rate = least(rate, bytes_per_second);
    const uint64_t now_ns = pass->context->now_ns;
    const uint64_t interval_ns = CAIRN_NS_PER_S / settings->snapshot_rate_hz;
    const uint64_t passed_ns = view->refilled_ns == 0
                                   ? 2 * interval_ns
                                   : least(now_ns - view->refilled_ns, CAIRN_NS_PER_S);
    const uint64_t most = 8 * (rate * 2 * interval_ns / CAIRN_NS_PER_S + PART_SIZE_MIN);
    view->refilled_ns = now_ns;
    view->allowance += (int64_t)(8 * rate * passed_ns / CAIRN_NS_PER_S);
    view->allowance = view->allowance < (int64_t)most ? view->allowance : (int64_t)most;
    view->allowance = view->allowance > -(int64_t)most ? view->allowance : -(int64_t)most;
    // Of a message of n payloads the share n * loss does not arrive whole.
    const double payloads = link->loss > 0 ? 0.3 / (double)link->loss : 1e6;
    pass->size_max = payloads * CAIRN_PAYLOAD_SIZE_MAX < PART_SIZE_MAX
                         ? (size_t)(payloads * CAIRN_PAYLOAD_SIZE_MAX)
                         : PART_SIZE_MAX;
    pass->size_max = pass->size_max > PART_SIZE_MIN ? pass->size_max : PART_SIZE_MIN;
    const uint64_t tick_ns = CAIRN_NS_PER_S / settings->tick_rate_hz;
    const uint64_t rtt_ns = link->rtt_ns > 0 ? link->rtt_ns + 4 * link->jitter_ns : 300000000u;
    pass->late = (rtt_ns + 2 * interval_ns) / tick_ns;
    // A client that acknowledges nothing is sent everything again, but less and less often.
    const uint64_t known = view->opened > view->acknowledged ? view->opened : view->acknowledged;
    const uint64_t longer = (pass->interest->tick - known) / 2;
    pass->late = pass->late > longer ? pass->late : longer;
}

static uint32_t bits_of(const cairn_view *view, const cairn_view_member *member) {
    return member->leaving         ? LEAVE_BITS
           : member->acked[0] == 0 ? view->enter_bits
                                   : view->go_on_bits;
}

// How far the client's picture of the body is off, in m: what it was sent last, or that it has
// nothing.
static float error_of(part_pass *pass, const cairn_view_member *member) {
    const cairn_snapshot_frame *frame = pass->interest->frame;
    const uint32_t place = pass->interest->places[cairn_id_index(member->id)] - 1;
    const cairn_vec3 half = frame->bodies[place].half_extents;
    const float radius = half.x + half.y + half.z + 0.01f;
    const uint64_t tick = member->sent > member->acked[0] ? member->sent : member->acked[0];
    const cairn_body_sample shown = sample_at(&pass->source, tick, place);
    if (member->acked[0] == 0 || shown.frame == NULL) {
        return 0.5f + radius;
    }
    const cairn_quantised_body *a = &frame->poses[place];
    const cairn_quantised_body *b = &shown.frame->poses[shown.place];
    float steps = 0.0f;
    float turn = 0.0f;
    for (uint32_t i = 0; i < 3; ++i) {
        steps += cairn_float_abs((float)a->position[i] - (float)b->position[i]);
        turn += cairn_float_abs((float)a->rotation[i] - (float)b->rotation[i]);
    }
    turn = a->largest != b->largest ? 0.2f : turn * cairn_rotation_step(&frame->quantisation);
    return steps * frame->quantisation.position_step_m + 2.0f * turn * radius;
}

// A float above 0 grows with its bits: an eighth of an octave, from 2^-64 to 2^64.
static uint32_t rank_of(float priority) {
    const uint32_t bits = cairn_float_bits(priority) >> 20;
    const uint32_t lowest = (127 - 64) * 8;
    return bits < lowest ? 0 : bits - lowest < RANKS ? bits - lowest : RANKS - 1;
}

// Sums up what is wrong and chooses what matters most as long as it fits `budget` bits.
static void choose_some(part_pass *pass, int64_t budget) {
    cairn_view *view = pass->view;
    uint32_t bits_by_rank[RANKS] = {0};
    const uint64_t tick = pass->interest->tick;
    const uint64_t starving =
        (uint64_t)pass->session->room->settings.tick_rate_hz * STARVING_MS / 1000;
    for (uint32_t i = 0; i < pass->chosen_count; ++i) {
        cairn_view_member *member = &view->members[pass->chosen[i]];
        cairn_view_look(view, member, pass->interest);
        const float near = 1.0f / (1.0f + 0.1f * member->distance_m);
        member->priority += member->leaving ? 1e3f : error_of(pass, member) * member->weight * near;
        // Of a world that has just begun to arrive all bodies wait: the nearest come first.
        if (tick - member->waiting >= starving) {
            const float whole = member->acked[0] != 0 ? 1.0f : near;
            member->priority += 1e9f * (float)(tick - member->waiting) * whole;
        }
        bits_by_rank[rank_of(member->priority)] += bits_of(view, member);
    }
    uint32_t rank = RANKS;
    while (rank > 0 && budget >= (int64_t)bits_by_rank[rank - 1]) {
        rank -= 1;
        budget -= bits_by_rank[rank];
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < pass->chosen_count; ++i) {
        cairn_view_member *member = &view->members[pass->chosen[i]];
        const uint32_t own = rank_of(member->priority);
        member->chosen = own >= rank;
        if (own + 1 == rank && budget > 0) {
            member->chosen = true;
            budget -= bits_of(view, member);
        }
        pass->chosen[kept] = pass->chosen[i];
        kept += member->chosen ? 1 : 0;
    }
    pass->chosen_count = kept;
}

// Whether a member cannot be due before it changes.
static inline bool is_settled(
    const cairn_view_member *member, const cairn_room_interest *interest) {
    return !member->leaving && member->acked[0] != 0 &&
           interest->history[cairn_id_index(member->id)].changed <= member->acked[0];
}

// All members that may be due. Members are in order of index, as the bits of `held` are. Returns
// the bits that those take which are due.
static int64_t look_at_owed(part_pass *pass) {
    cairn_view *view = pass->view;
    const uint64_t tick = pass->interest->tick;
    int64_t wanted = 0;
    uint32_t count = 0;
    uint32_t m = 0;
    for (uint32_t w = 0; w < cairn_view_words(view); ++w) {
        uint64_t held = view->held[w];
        const uint64_t owed = view->owed[w] & held;
        uint64_t settled = 0;
        if (owed == 0) {
            m += held == 0 ? 0 : (uint32_t)__builtin_popcountll(held);
            continue;
        }
        for (; held != 0; held &= held - 1, m += 1) {
            const uint64_t bit = held & (0 - held);
            cairn_view_member *member = &view->members[m];
            if ((owed & bit) == 0) {
                continue;
            }
            member->chosen = cairn_view_is_due(view, member, pass->interest, pass->late);
            if (member->chosen) {
                member->waiting = member->waiting != 0 ? member->waiting : tick;
                pass->chosen[count++] = m;
                wanted += bits_of(view, member);
            } else {
                member->waiting = 0;
                settled |= is_settled(member, pass->interest) ? bit : 0;
            }
        }
        view->owed[w] = owed & ~settled;
    }
    pass->chosen_count = count;
    return wanted;
}

static void choose(part_pass *pass) {
    const cairn_view *view = pass->view;
    const int64_t wanted = EMPTY_BITS + look_at_owed(pass);
    const int64_t longest = (int64_t)(8 * (pass->size_max - RECORD_SIZE_MAX));
    const int64_t budget = view->allowance < longest ? view->allowance : longest;
    if (wanted > budget) {
        choose_some(pass, budget - EMPTY_BITS);
    }
}

// A paused room sends parts of one tick until the client acknowledges that tick, which does not say
// which of them arrived. So they have the same records, as many as fit.
static void choose_again(part_pass *pass) {
    cairn_view *view = pass->view;
    const cairn_view_part *part = pass->part;
    uint32_t at = 0;
    for (uint32_t m = 0; m < view->count; ++m) {
        cairn_view_member *member = &view->members[m];
        const uint32_t index = cairn_id_index(member->id);
        member->chosen = cairn_view_part_record(part, index, &at) ==
                         (index | (member->leaving ? CAIRN_VIEW_LEFT : 0u));
        if (member->chosen) {
            pass->chosen[pass->chosen_count++] = m;
        }
    }
}

// ---------------------------------------------------------------------------------------- the part

// The part that was sent last, if it is of this tick.
static cairn_view_part *part_of_tick(cairn_view *view, uint64_t tick) {
    const uint32_t last = (view->next_part + CAIRN_VIEW_PARTS_MAX - 1) % CAIRN_VIEW_PARTS_MAX;
    return view->parts[last].tick == tick ? &view->parts[last] : NULL;
}

// Whether what was sent of this tick is not known to be lost.
static bool is_on_its_way(const part_pass *pass) {
    const uint32_t tick_rate_hz = pass->session->room->settings.tick_rate_hz;
    const uint64_t passed_ns = pass->context->now_ns - pass->view->sent_ns;
    return pass->again && passed_ns <= pass->late * CAIRN_NS_PER_S / tick_rate_hz;
}

static bool begin_part(part_pass *pass, uint32_t count) {
    cairn_view *view = pass->view;
    cairn_view_part *part = pass->again ? pass->part : &view->parts[view->next_part];
    if (part->capacity < count) {
        uint32_t *records = realloc(part->records, (count + count / 4) * sizeof *records);
        if (records == NULL) {
            return false;
        }
        part->records = records;
        part->capacity = count + count / 4;
    }
    part->tick = pass->interest->tick;
    part->count = 0;
    pass->part = part;
    return true;
}

static void follow_mean(uint32_t *mean, size_t bits) {
    *mean = (uint32_t)((15 * (uint64_t)*mean + bits + 8) / 16);
}

static size_t bits_written(const cairn_part_writer *writer) {
    return 8 * writer->bits.at + writer->bits.count;
}

static void put_member(part_pass *pass, cairn_part_writer *writer, cairn_view_member *member) {
    cairn_view *view = pass->view;
    const cairn_room_interest *interest = pass->interest;
    const uint32_t index = cairn_id_index(member->id);
    const size_t before = bits_written(writer);
    if (member->leaving) {
        cairn_part_leave(writer, index);
        pass->part->records[pass->part->count++] = index | CAIRN_VIEW_LEFT;
    } else {
        const uint32_t place = interest->places[index] - 1;
        cairn_body_sample bases[CAIRN_PART_BASES];
        const cairn_part_spans *spans = find_bases(&pass->source, member, place, bases);
        if (bases[0].frame == NULL) {
            member->acked[0] = member->acked[1] = member->acked[2] = 0;
            cairn_part_enter(writer, place);
            follow_mean(&view->enter_bits, bits_written(writer) - before);
        } else {
            const cairn_body_history *history = &interest->history[index];
            const bool rested = interest->last != NULL && member->sent < interest->last->tick &&
                                history->changed == interest->tick &&
                                history->before <= member->sent;
            cairn_part_chunk chunk;
            cairn_room_interest_chunk(pass->interest, place, bases, spans, rested, &chunk);
            cairn_part_go_on(writer, place, bases, spans, &chunk, history->hash);
            follow_mean(&view->go_on_bits, bits_written(writer) - before);
        }
        pass->part->records[pass->part->count++] = index;
    }
    member->sent = interest->tick;
    member->waiting = 0;
    member->priority = 0.0f;
}

// Returns the size; 0: no memory.
static size_t write_part(
    part_pass *pass, cairn_quantised_velocity *velocities, uint8_t *bytes, uint32_t *check) {
    cairn_view *view = pass->view;
    cairn_snapshot_frame with = *pass->interest->frame;
    const cairn_snapshot_frame *frame = &with;
    with.velocities = velocities;
    if (!begin_part(pass, pass->chosen_count)) {
        return 0;
    }
    if (view->settings_since == 0 ||
        memcmp(&view->gravity, &frame->gravity, sizeof view->gravity) != 0) {
        view->settings_since = frame->tick;
        view->gravity = frame->gravity;
    }
    const bool settings = view->acknowledged < view->settings_since;
    cairn_part_writer writer = cairn_part_write(frame, settings, bytes, pass->size_max);
    for (uint32_t i = 0;
         i < pass->chosen_count && writer.bits.at + RECORD_SIZE_MAX < pass->size_max; ++i) {
        put_member(pass, &writer, &view->members[pass->chosen[i]]);
    }
    return cairn_part_finish(&writer, check);
}

static void write_shared(const cairn_baselines *baselines, const cairn_baseline *base,
    uint32_t words, uint8_t *shared, cairn_snapshot_message *out) {
    static const uint32_t zeros[CAIRN_SHARED_WORDS_MAX];
    out->shared = shared;
    out->shared_packed_size = (uint32_t)cairn_words_encode(base == NULL ? zeros : base->shared,
        cairn_baselines_newest(baselines)->shared, words, shared, CAIRN_SHARED_PACKED_SIZE_MAX);
}

void cairn_part_send(const cairn_server_context *context, cairn_session *session,
    cairn_baselines *baselines, cairn_room_interest *interest, cairn_view *view,
    uint64_t bytes_per_second, cairn_game_sent *game) {
    if (!cairn_session_may_send_unreliable(session, context->now_ns, false) ||
        !cairn_view_update(view, interest, session->room, session)) {
        return;
    }
    part_pass pass = {.context = context,
        .session = session,
        .view = view,
        .interest = interest,
        .chosen = interest->near,
        .source = {.baselines = baselines, .interest = interest}};
    pass.part = part_of_tick(view, interest->tick);
    pass.again = pass.part != NULL;
    refill(&pass, bytes_per_second);
    if (is_on_its_way(&pass) ||
        (view->allowance < 2 * EMPTY_BITS && context->now_ns - view->sent_ns < PART_INTERVAL_NS)) {
        return;
    }
    if (pass.again) {
        choose_again(&pass);
    } else {
        choose(&pass);
    }
    uint8_t payload[CAIRN_SNAPSHOT_HEAD_SIZE_MAX + PART_SIZE_MAX];
    uint8_t shared[CAIRN_SHARED_PACKED_SIZE_MAX];
    const uint32_t shared_words = cairn_baselines_shared_words(baselines);
    const cairn_baseline *base =
        shared_words == 0 ? NULL : cairn_baselines_find_recent(baselines, view->acknowledged);
    cairn_snapshot_head head = {.part = true,
        .tick = interest->tick,
        .world_epoch = session->world_epoch,
        .bases = {base != NULL ? base->frame.tick : 0},
        .timing = cairn_input_timing_report(&session->input_timing, session->room, session->slot),
        .shared_words = shared_words};
    uint8_t packed[CAIRN_SNAPSHOT_HEAD_SIZE_MAX];
    cairn_quantised_velocity *velocities =
        session->velocities ? cairn_baselines_velocities(baselines) : NULL;
    const size_t size =
        write_part(&pass, velocities, payload + CAIRN_SNAPSHOT_HEAD_SIZE_MAX, &head.check);
    if (size == 0) {
        return;
    }
    const size_t head_size = cairn_snapshot_head_write(&head, packed);
    uint8_t *start = payload + CAIRN_SNAPSHOT_HEAD_SIZE_MAX - head_size;
    memcpy(start, packed, head_size);
    cairn_packed_events events;
    cairn_game_events_pack(session, game, interest->tick, &events);
    cairn_message message = {.kind = CAIRN_MESSAGE_SNAPSHOT,
        .snapshot = {.payload = start,
            .payload_size = (uint32_t)(head_size + size),
            .velocities = velocities != NULL ? 1 : 0,
            .events = events.items,
            .events_size = events.size}};
    write_shared(baselines, base, shared_words, shared, &message.snapshot);
    const size_t all = cairn_session_send_unreliable(session, context->encoder, &message);
    view->allowance -= (int64_t)(8 * all) + AROUND_BITS;
    if (all == 0) {
        pass.part->tick = pass.again ? interest->tick : 0;
        return;
    }
    view->sent_ns = context->now_ns;
    view->next_part = (view->next_part + (pass.again ? 0 : 1)) % CAIRN_VIEW_PARTS_MAX;
    session->room->statistics.parts_sent += 1;
    session->room->statistics.snapshot_bytes += all;
    cairn_game_events_sent(session, game, &events);
}

// --------------------------------------------------------------------------- a room that is paused

static bool is_owed_standing(const cairn_view_member *member, const cairn_room_interest *interest) {
    if (member->standing == interest->tick + 1) {
        return false;
    }
    return member->leaving
               ? member->sent != 0
               : member->acked[0] == 0 ||
                     interest->history[cairn_id_index(member->id)].changed > member->acked[0];
}

// Chooses as many as fit the bits that may be sent now. False: none is left.
static bool choose_standing(part_pass *pass) {
    cairn_view *view = pass->view;
    const int64_t longest = (int64_t)(8 * (pass->size_max - RECORD_SIZE_MAX));
    int64_t budget = (view->allowance < longest ? view->allowance : longest) - EMPTY_BITS;
    bool any = false;
    for (uint32_t m = 0; m < view->count; ++m) {
        cairn_view_member *member = &view->members[m];
        const bool owed = is_owed_standing(member, pass->interest);
        member->chosen = owed && budget > 0;
        budget -= !owed ? 0 : member->leaving ? LEAVE_BITS : view->enter_bits;
        any = any || owed;
    }
    return any;
}

// Each record stands for itself. Returns the size.
static size_t write_standing(part_pass *pass, uint8_t *bytes, uint32_t *check) {
    cairn_view *view = pass->view;
    cairn_part_writer writer = cairn_part_write(pass->interest->frame, true, bytes, pass->size_max);
    for (uint32_t m = 0; m < view->count; ++m) {
        cairn_view_member *member = &view->members[m];
        const uint32_t index = cairn_id_index(member->id);
        const size_t before = bits_written(&writer);
        member->chosen = member->chosen && writer.bits.at + RECORD_SIZE_MAX < pass->size_max;
        if (member->chosen && member->leaving) {
            cairn_part_leave(&writer, index);
        } else if (member->chosen) {
            cairn_part_enter(&writer, pass->interest->places[index] - 1);
            follow_mean(&view->enter_bits, bits_written(&writer) - before);
        }
    }
    return cairn_part_finish(&writer, check);
}

void cairn_part_send_standing(const cairn_server_context *context, cairn_session *session,
    cairn_baselines *baselines, cairn_room_interest *interest, cairn_view *view,
    uint64_t bytes_per_second) {
    uint8_t payload[CAIRN_SNAPSHOT_HEAD_SIZE_MAX + PART_SIZE_MAX];
    uint8_t shared[CAIRN_SHARED_PACKED_SIZE_MAX];
    const bool begun = view->stands == interest->tick + 1;
    if ((begun && view->stands_whole) ||
        !cairn_view_update(view, interest, session->room, session)) {
        return;
    }
    part_pass pass = {.context = context, .session = session, .view = view, .interest = interest};
    refill(&pass, bytes_per_second);
    if (view->allowance < 2 * EMPTY_BITS ||
        cairn_link_reliable_room(session->link) <
            sizeof payload + sizeof shared + CAIRN_SESSION_ENVELOPE_SIZE) {
        return;
    }
    // A client that may be sent no body sees an empty world, which it must be told at tick 0.
    view->stands_whole = !choose_standing(&pass);
    if (view->stands_whole && (begun || interest->tick > 0)) {
        view->stands = interest->tick + 1;
        return;
    }
    cairn_snapshot_head head = {.part = true,
        .standing = true,
        .tick = interest->tick,
        .world_epoch = session->world_epoch,
        .timing = cairn_input_timing_report(&session->input_timing, session->room, session->slot),
        .shared_words = cairn_baselines_shared_words(baselines)};
    uint8_t packed[CAIRN_SNAPSHOT_HEAD_SIZE_MAX];
    const size_t size = write_standing(&pass, payload + CAIRN_SNAPSHOT_HEAD_SIZE_MAX, &head.check);
    if (size == 0) {
        return;
    }
    const size_t head_size = cairn_snapshot_head_write(&head, packed);
    uint8_t *start = payload + CAIRN_SNAPSHOT_HEAD_SIZE_MAX - head_size;
    memcpy(start, packed, head_size);
    cairn_message message = {.kind = CAIRN_MESSAGE_SNAPSHOT,
        .snapshot = {.payload = start, .payload_size = (uint32_t)(head_size + size)}};
    write_shared(baselines, NULL, head.shared_words, shared, &message.snapshot);
    const size_t all = cairn_session_send_reliable(session, context->encoder, &message);
    view->allowance -= (int64_t)(8 * all) + AROUND_BITS;
    session->room->statistics.parts_sent += all > 0 ? 1 : 0;
    session->room->statistics.snapshot_bytes += all;
    if (all == 0) {
        return;
    }
    view->stands = interest->tick + 1;
    for (uint32_t m = 0; m < view->count; ++m) {
        cairn_view_member *member = &view->members[m];
        member->standing = member->chosen ? interest->tick + 1 : member->standing;
    }
}
