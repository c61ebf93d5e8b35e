// SPDX-License-Identifier: MIT

// The C headers pin their layouts with C's keywords.
#define _Static_assert static_assert
#define _Noreturn [[noreturn]]

#include "schema/codec.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include <flatbuffers/flatbuffers.h>
#include <flatbuffers/idl.h>

#include "schema/message_check.h"
#include "schema/messages_generated.h"
#include "schema/recording_generated.h"
#include "schema/scene.h"
#include "schema/scene_bfbs_generated.h"
#include "schema/scene_check.h"
#include "schema/scene_generated.h"
#include "schema/scene_text.h"

extern "C" {
#include "base/assert.h"
}

namespace fb = flatbuffers;
namespace wire = cairn::wire;

#if FLATBUFFERS_LITTLEENDIAN == 0
#error "vectors of structs are read in place: the codec needs a little-endian host"
#endif

static_assert(sizeof(cairn_wire_timing) == sizeof(wire::Timing), "one layout");
static_assert(sizeof(cairn_hash128) == sizeof(wire::Hash128), "one layout");
static_assert(int(wire::Message::Hello) == CAIRN_MESSAGE_HELLO, "tags are kinds");
static_assert(int(wire::Message::State) == CAIRN_MESSAGE_STATE, "tags are kinds");
static_assert(int(wire::Message::MAX) + 1 == CAIRN_MESSAGE_KIND_COUNT, "tags are kinds");
static_assert(int(wire::ChunkBody::ChunkEnd) == CAIRN_CHUNK_END, "tags are kinds");
static_assert(int(wire::ChunkBody::MAX) + 1 == CAIRN_CHUNK_KIND_COUNT, "tags are kinds");

namespace {

// The builder's only memory: one block, handed out once. It never grows, because sizes are checked
// before anything is built.
class Block final : public fb::Allocator {
  public:
    uint8_t *allocate(size_t size) override {
        CAIRN_ASSERT(size <= capacity);
        return memory;
    }
    void deallocate(uint8_t *, size_t) override {
    }
    uint8_t *reallocate_downward(uint8_t *, size_t, size_t, size_t, size_t) override {
        CAIRN_ASSERT(false);
        return nullptr;
    }

    uint8_t *memory = nullptr;
    size_t capacity = 0;
};

// Tables, their field offsets, texts of bounded length and padding: what a message holds besides
// its vectors.
constexpr size_t overhead = 2048;

} // namespace

struct cairn_encoder {
    cairn_encoder(uint8_t *memory, size_t bound)
        : size_max(bound), builder(bound + overhead, &block) {
        block.memory = memory;
        block.capacity = bound + overhead;
    }
    size_t size_max;
    Block block;
    fb::FlatBufferBuilder builder;
};

// ------------------------------------------------------------------------------------- encoding

namespace {

fb::Offset<fb::String> put(fb::FlatBufferBuilder &b, const char *text) {
    return b.CreateString(text, std::strlen(text));
}

fb::Offset<fb::Vector<uint8_t>> put(fb::FlatBufferBuilder &b, const uint8_t *bytes, size_t size) {
    return b.CreateVector(bytes, size);
}

template <typename Wire, typename Plain>
fb::Offset<fb::Vector<const Wire *>> put(fb::FlatBufferBuilder &b, const Plain *plain, size_t n) {
    static_assert(sizeof(Wire) == sizeof(Plain), "one layout");
    return b.CreateVectorOfStructs(reinterpret_cast<const Wire *>(plain), n);
}

const wire::Hash128 *as_wire(const cairn_hash128 &hash) {
    return reinterpret_cast<const wire::Hash128 *>(&hash);
}

const wire::Timing *as_wire(const cairn_wire_timing &timing) {
    return reinterpret_cast<const wire::Timing *>(&timing);
}

fb::Offset<void> put_hello(fb::FlatBufferBuilder &b, const cairn_hello &m) {
    const auto rules_name = put(b, m.rules_name);
    return wire::CreateHello(
        b, m.protocol_version, m.sim_version, m.mode, m.spectator, rules_name, m.rules_version)
        .Union();
}

fb::Offset<void> put_input(fb::FlatBufferBuilder &b, const cairn_input_message &m) {
    const auto inputs = put<wire::Input>(b, m.inputs, m.input_count);
    return wire::CreateInputs(
        b, m.snapshot_acknowledged, m.ticks_acknowledged, m.sent_at_us, inputs)
        .Union();
}

fb::Offset<void> put_root_report(fb::FlatBufferBuilder &b, const cairn_root_report &m) {
    return wire::CreateRootReport(b, put<wire::Root>(b, m.roots, m.root_count)).Union();
}

fb::Offset<void> put_welcome(fb::FlatBufferBuilder &b, const cairn_welcome &m) {
    const auto rules_name = put(b, m.rules_name);
    const auto scene_name = put(b, m.scene_name);
    const wire::Hash128 digest(m.scene_digest_lo, m.scene_digest_hi);
    return wire::CreateWelcome(b, m.tick, m.slot, m.tick_rate_hz, m.snapshot_rate_hz, m.mode,
        m.sim_version, m.rules_version, rules_name, scene_name, &digest)
        .Union();
}

fb::Offset<void> put_refused(fb::FlatBufferBuilder &b, const cairn_refused &m) {
    return wire::CreateRefused(b, m.reason, put(b, m.words)).Union();
}

fb::Offset<void> put_shapes(fb::FlatBufferBuilder &b, const cairn_shapes_message &m) {
    const auto shapes = put<wire::Shape>(b, m.shapes, m.shape_count);
    const auto removed = b.CreateVector(m.removed, m.removed_count);
    const auto counts = put(b, m.corner_counts, m.hull_count);
    const auto corners = put<wire::Vec3>(b, m.corners, m.corner_count);
    return wire::CreateShapes(b, m.tick, shapes, removed, counts, corners).Union();
}

fb::Offset<void> put_keyframe(fb::FlatBufferBuilder &b, const cairn_keyframe &m) {
    const auto bodies = put<wire::Body>(b, m.bodies, m.body_count);
    return wire::CreateKeyframe(
        b, m.tick, as_wire(m.visible_root), as_wire(m.full_root), as_wire(m.timing), bodies)
        .Union();
}

fb::Offset<void> put_delta(fb::FlatBufferBuilder &b, const cairn_delta &m) {
    const auto payload = put(b, m.payload, m.payload_size);
    return wire::CreateDelta(b, m.tick, m.baseline_tick, as_wire(m.visible_root),
        as_wire(m.full_root), as_wire(m.timing), payload)
        .Union();
}

fb::Offset<void> put_ticks(fb::FlatBufferBuilder &b, const cairn_ticks_message &m) {
    const auto ticks = put<wire::Tick>(b, m.ticks, m.tick_count);
    const auto commands = put<wire::Command>(b, m.commands, m.command_count);
    return wire::CreateTicks(b, as_wire(m.timing), ticks, commands).Union();
}

fb::Offset<void> put_state(fb::FlatBufferBuilder &b, const cairn_state_message &m) {
    const auto bytes = put(b, m.bytes, m.size);
    return wire::CreateState(b, m.tick, m.offset, m.total_size, bytes).Union();
}

fb::Offset<void> put_message(fb::FlatBufferBuilder &b, const cairn_message &m) {
    switch (m.kind) {
    case CAIRN_MESSAGE_HELLO:
        return put_hello(b, m.hello);
    case CAIRN_MESSAGE_INPUT:
        return put_input(b, m.input);
    case CAIRN_MESSAGE_ROOT_REPORT:
        return put_root_report(b, m.root_report);
    case CAIRN_MESSAGE_WELCOME:
        return put_welcome(b, m.welcome);
    case CAIRN_MESSAGE_REFUSED:
        return put_refused(b, m.refused);
    case CAIRN_MESSAGE_SHAPES:
        return put_shapes(b, m.shapes);
    case CAIRN_MESSAGE_KEYFRAME:
        return put_keyframe(b, m.keyframe);
    case CAIRN_MESSAGE_DELTA:
        return put_delta(b, m.delta);
    case CAIRN_MESSAGE_TICKS:
        return put_ticks(b, m.ticks);
    case CAIRN_MESSAGE_STATE:
        return put_state(b, m.state);
    case CAIRN_MESSAGE_NONE:
    case CAIRN_MESSAGE_KIND_COUNT:
        break;
    }
    CAIRN_ASSERT(false);
    return 0;
}

// Bytes of the vectors in a message that passed its check: at most some hundred megabytes.
size_t vectors_size(const cairn_message &m) {
    switch (m.kind) {
    case CAIRN_MESSAGE_INPUT:
        return m.input.input_count * sizeof(cairn_wire_input);
    case CAIRN_MESSAGE_ROOT_REPORT:
        return m.root_report.root_count * sizeof(cairn_wire_root);
    case CAIRN_MESSAGE_SHAPES:
        return m.shapes.shape_count * sizeof(cairn_wire_shape) +
               m.shapes.removed_count * sizeof(uint32_t) + m.shapes.hull_count +
               m.shapes.corner_count * sizeof(cairn_wire_vec3);
    case CAIRN_MESSAGE_KEYFRAME:
        return m.keyframe.body_count * sizeof(cairn_wire_body);
    case CAIRN_MESSAGE_DELTA:
        return m.delta.payload_size;
    case CAIRN_MESSAGE_TICKS:
        return m.ticks.tick_count * sizeof(cairn_wire_tick) +
               m.ticks.command_count * sizeof(cairn_wire_command);
    case CAIRN_MESSAGE_STATE:
        return m.state.size;
    default:
        return 0;
    }
}

fb::Offset<void> put_chunk(fb::FlatBufferBuilder &b, const cairn_chunk &c) {
    if (c.kind == CAIRN_CHUNK_START) {
        const auto rules_name = put(b, c.start.rules_name);
        const auto scene_name = put(b, c.start.scene_name);
        const auto build = put(b, c.start.build);
        const auto state = put(b, c.start.state, c.start.state_size);
        return wire::CreateChunkStart(b, c.start.sim_version, c.start.rules_version, rules_name,
            scene_name, build, c.start.tick, state)
            .Union();
    }
    if (c.kind == CAIRN_CHUNK_TICKS) {
        const auto ticks = put<wire::Tick>(b, c.ticks.ticks, c.ticks.tick_count);
        const auto commands = put<wire::Command>(b, c.ticks.commands, c.ticks.command_count);
        return wire::CreateChunkTicks(b, ticks, commands).Union();
    }
    if (c.kind == CAIRN_CHUNK_KEYFRAME) {
        const auto state = put(b, c.keyframe.state, c.keyframe.state_size);
        return wire::CreateChunkKeyframe(b, c.keyframe.tick, state).Union();
    }
    return wire::CreateChunkEnd(b, c.end.tick, c.end.tick_count).Union();
}

size_t vectors_size(const cairn_chunk &c) {
    if (c.kind == CAIRN_CHUNK_START) {
        return c.start.state_size;
    }
    if (c.kind == CAIRN_CHUNK_KEYFRAME) {
        return c.keyframe.state_size;
    }
    return c.kind == CAIRN_CHUNK_TICKS ? c.ticks.tick_count * sizeof(cairn_wire_tick) +
                                             c.ticks.command_count * sizeof(cairn_wire_command)
                                       : 0;
}

// The finished bytes start on 8 bytes even when the message holds nothing that wide.
void begin(fb::FlatBufferBuilder &b) {
    b.Clear();
    b.TrackMinAlign(8);
}

cairn_status hand_out(cairn_encoder *encoder, const uint8_t **bytes, size_t *size) {
    if (encoder->builder.GetSize() > encoder->size_max) {
        return CAIRN_CAPACITY;
    }
    *bytes = encoder->builder.GetBufferPointer();
    *size = encoder->builder.GetSize();
    return CAIRN_OK;
}

} // namespace

cairn_encoder *cairn_encoder_create(size_t message_size_max) {
    CAIRN_ASSERT(message_size_max <= size_t{CAIRN_STATE_SIZE_MAX} + 4096);
    const size_t size_max = (message_size_max + 7) & ~size_t{7};
    const size_t head = (sizeof(cairn_encoder) + 15) & ~size_t{15};
    auto *memory = static_cast<uint8_t *>(std::malloc(head + size_max + overhead));
    return memory == nullptr ? nullptr : new (memory) cairn_encoder(memory + head, size_max);
}

void cairn_encoder_destroy(cairn_encoder *encoder) {
    if (encoder != nullptr) {
        encoder->~cairn_encoder();
        std::free(encoder);
    }
}

cairn_status cairn_message_encode(
    cairn_encoder *encoder, const cairn_message *message, const uint8_t **bytes, size_t *size) {
    *bytes = nullptr;
    *size = 0;
    if (cairn_message_check(message) != CAIRN_DECODE_OK) {
        return CAIRN_INVALID_ARGUMENT;
    }
    if (vectors_size(*message) > encoder->size_max) {
        return CAIRN_CAPACITY;
    }
    auto &b = encoder->builder;
    begin(b);
    const auto body = put_message(b, *message);
    wire::FinishEnvelopeBuffer(
        b, wire::CreateEnvelope(b, static_cast<wire::Message>(message->kind), body));
    return hand_out(encoder, bytes, size);
}

cairn_status cairn_chunk_encode(
    cairn_encoder *encoder, const cairn_chunk *chunk, const uint8_t **bytes, size_t *size) {
    *bytes = nullptr;
    *size = 0;
    if (cairn_chunk_check(chunk) != CAIRN_DECODE_OK) {
        return CAIRN_INVALID_ARGUMENT;
    }
    if (vectors_size(*chunk) > encoder->size_max) {
        return CAIRN_CAPACITY;
    }
    auto &b = encoder->builder;
    begin(b);
    const auto body = put_chunk(b, *chunk);
    wire::FinishChunkBuffer(
        b, wire::CreateChunk(b, static_cast<wire::ChunkBody>(chunk->kind), body));
    return hand_out(encoder, bytes, size);
}

// ------------------------------------------------------------------------------------- decoding

namespace {

// Reads fields that the verifier found sound; remembers the first that is missing.
class Fields {
  public:
    const char *text(const fb::String *field) {
        if (field == nullptr) {
            refuse(CAIRN_DECODE_MISSING_FIELD);
            return nullptr;
        }
        if (std::strlen(field->c_str()) != field->size()) {
            refuse(CAIRN_DECODE_TEXT);
        }
        return field->c_str();
    }

    template <typename Plain, typename Element>
    const Plain *vector(const fb::Vector<Element> *field, uint32_t *count) {
        *count = 0;
        if (field == nullptr) {
            refuse(CAIRN_DECODE_MISSING_FIELD);
            return nullptr;
        }
        // The verifier looks at the alignment of a vector's length only.
        if (reinterpret_cast<uintptr_t>(field->Data()) % alignof(Plain) != 0) {
            refuse(CAIRN_DECODE_NOT_FLATBUFFERS);
            return nullptr;
        }
        *count = field->size();
        return reinterpret_cast<const Plain *>(field->Data());
    }

    template <typename Plain, typename Wire> Plain plain(const Wire *field) {
        static_assert(sizeof(Plain) == sizeof(Wire), "one layout");
        Plain result{};
        if (field == nullptr) {
            refuse(CAIRN_DECODE_MISSING_FIELD);
        } else {
            std::memcpy(&result, field, sizeof result);
        }
        return result;
    }

    cairn_decode_refusal refusal = CAIRN_DECODE_OK;

  private:
    void refuse(cairn_decode_refusal reason) {
        if (refusal == CAIRN_DECODE_OK) {
            refusal = reason;
        }
    }
};

void take(Fields &f, const wire::Hello &t, cairn_hello *m) {
    m->protocol_version = t.protocol_version();
    m->sim_version = t.sim_version();
    m->mode = t.mode();
    m->spectator = t.spectator();
    m->rules_name = f.text(t.rules_name());
    m->rules_version = t.rules_version();
}

void take(Fields &f, const wire::Inputs &t, cairn_input_message *m) {
    m->snapshot_acknowledged = t.snapshot_acknowledged();
    m->ticks_acknowledged = t.ticks_acknowledged();
    m->sent_at_us = t.sent_at_us();
    m->inputs = f.vector<cairn_wire_input>(t.inputs(), &m->input_count);
}

void take(Fields &f, const wire::RootReport &t, cairn_root_report *m) {
    m->roots = f.vector<cairn_wire_root>(t.roots(), &m->root_count);
}

void take(Fields &f, const wire::Welcome &t, cairn_welcome *m) {
    m->tick = t.tick();
    m->slot = t.slot();
    m->tick_rate_hz = t.tick_rate_hz();
    m->snapshot_rate_hz = t.snapshot_rate_hz();
    m->mode = t.mode();
    m->sim_version = t.sim_version();
    m->rules_version = t.rules_version();
    m->rules_name = f.text(t.rules_name());
    m->scene_name = f.text(t.scene_name());
    const auto digest = f.plain<cairn_hash128>(t.scene_digest());
    m->scene_digest_lo = digest.lo;
    m->scene_digest_hi = digest.hi;
}

void take(Fields &f, const wire::Refused &t, cairn_refused *m) {
    m->reason = t.reason();
    m->words = f.text(t.words());
}

void take(Fields &f, const wire::Shapes &t, cairn_shapes_message *m) {
    m->tick = t.tick();
    m->shapes = f.vector<cairn_wire_shape>(t.shapes(), &m->shape_count);
    m->removed = f.vector<uint32_t>(t.removed(), &m->removed_count);
    m->corner_counts = f.vector<uint8_t>(t.corner_counts(), &m->hull_count);
    m->corners = f.vector<cairn_wire_vec3>(t.corners(), &m->corner_count);
}

void take(Fields &f, const wire::Keyframe &t, cairn_keyframe *m) {
    m->tick = t.tick();
    m->visible_root = f.plain<cairn_hash128>(t.visible_root());
    m->full_root = f.plain<cairn_hash128>(t.full_root());
    m->timing = f.plain<cairn_wire_timing>(t.timing());
    m->bodies = f.vector<cairn_wire_body>(t.bodies(), &m->body_count);
}

void take(Fields &f, const wire::Delta &t, cairn_delta *m) {
    m->tick = t.tick();
    m->baseline_tick = t.baseline_tick();
    m->visible_root = f.plain<cairn_hash128>(t.visible_root());
    m->full_root = f.plain<cairn_hash128>(t.full_root());
    m->timing = f.plain<cairn_wire_timing>(t.timing());
    m->payload = f.vector<uint8_t>(t.payload(), &m->payload_size);
}

void take(Fields &f, const wire::Ticks &t, cairn_ticks_message *m) {
    m->timing = f.plain<cairn_wire_timing>(t.timing());
    m->ticks = f.vector<cairn_wire_tick>(t.ticks(), &m->tick_count);
    m->commands = f.vector<cairn_wire_command>(t.commands(), &m->command_count);
}

void take(Fields &f, const wire::State &t, cairn_state_message *m) {
    m->tick = t.tick();
    m->offset = t.offset();
    m->total_size = t.total_size();
    m->bytes = f.vector<uint8_t>(t.bytes(), &m->size);
}

void take_message(Fields &f, const wire::Envelope &e, cairn_message *m) {
    switch (m->kind) {
    case CAIRN_MESSAGE_HELLO:
        return take(f, *e.message_as_Hello(), &m->hello);
    case CAIRN_MESSAGE_INPUT:
        return take(f, *e.message_as_Inputs(), &m->input);
    case CAIRN_MESSAGE_ROOT_REPORT:
        return take(f, *e.message_as_RootReport(), &m->root_report);
    case CAIRN_MESSAGE_WELCOME:
        return take(f, *e.message_as_Welcome(), &m->welcome);
    case CAIRN_MESSAGE_REFUSED:
        return take(f, *e.message_as_Refused(), &m->refused);
    case CAIRN_MESSAGE_SHAPES:
        return take(f, *e.message_as_Shapes(), &m->shapes);
    case CAIRN_MESSAGE_KEYFRAME:
        return take(f, *e.message_as_Keyframe(), &m->keyframe);
    case CAIRN_MESSAGE_DELTA:
        return take(f, *e.message_as_Delta(), &m->delta);
    case CAIRN_MESSAGE_TICKS:
        return take(f, *e.message_as_Ticks(), &m->ticks);
    case CAIRN_MESSAGE_STATE:
        return take(f, *e.message_as_State(), &m->state);
    case CAIRN_MESSAGE_NONE:
    case CAIRN_MESSAGE_KIND_COUNT:
        break;
    }
    CAIRN_ASSERT(false);
}

fb::Verifier verifier_of(const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(reinterpret_cast<uintptr_t>(bytes) % 8 == 0);
    return fb::Verifier(bytes, size, 4, 8); // tables deep, tables in all
}

cairn_decode_refusal decode_message(
    const uint8_t *bytes, size_t size, cairn_direction direction, cairn_message *m) {
    if (size == 0 || size > CAIRN_MESSAGE_SIZE_MAX) {
        return CAIRN_DECODE_EMPTY;
    }
    auto verifier = verifier_of(bytes, size);
    if (!wire::VerifyEnvelopeBuffer(verifier)) {
        return CAIRN_DECODE_NOT_FLATBUFFERS;
    }
    // The verifier lets a tag it does not know pass, and a tag without a body.
    const auto *envelope = wire::GetEnvelope(bytes);
    const auto tag = static_cast<unsigned>(envelope->message_type());
    if (envelope->message() == nullptr || tag == 0 || tag >= CAIRN_MESSAGE_KIND_COUNT) {
        return CAIRN_DECODE_UNKNOWN_KIND;
    }
    if ((tag < CAIRN_MESSAGE_WELCOME) != (direction == CAIRN_TO_SERVER)) {
        return CAIRN_DECODE_WRONG_DIRECTION;
    }
    m->kind = static_cast<cairn_message_kind>(tag);
    Fields fields;
    take_message(fields, *envelope, m);
    return fields.refusal != CAIRN_DECODE_OK ? fields.refusal : cairn_message_check(m);
}

void take_chunk(Fields &f, const wire::Chunk &t, cairn_chunk *c) {
    if (c->kind == CAIRN_CHUNK_START) {
        const auto &start = *t.body_as_ChunkStart();
        c->start.sim_version = start.sim_version();
        c->start.rules_version = start.rules_version();
        c->start.rules_name = f.text(start.rules_name());
        c->start.scene_name = f.text(start.scene_name());
        c->start.build = f.text(start.build());
        c->start.tick = start.tick();
        c->start.state = f.vector<uint8_t>(start.state(), &c->start.state_size);
    } else if (c->kind == CAIRN_CHUNK_TICKS) {
        const auto &ticks = *t.body_as_ChunkTicks();
        c->ticks.ticks = f.vector<cairn_wire_tick>(ticks.ticks(), &c->ticks.tick_count);
        c->ticks.commands = f.vector<cairn_wire_command>(ticks.commands(), &c->ticks.command_count);
    } else if (c->kind == CAIRN_CHUNK_KEYFRAME) {
        const auto &keyframe = *t.body_as_ChunkKeyframe();
        c->keyframe.tick = keyframe.tick();
        c->keyframe.state = f.vector<uint8_t>(keyframe.state(), &c->keyframe.state_size);
    } else {
        c->end.tick = t.body_as_ChunkEnd()->tick();
        c->end.tick_count = t.body_as_ChunkEnd()->tick_count();
    }
}

cairn_decode_refusal decode_chunk(const uint8_t *bytes, size_t size, cairn_chunk *c) {
    if (size == 0 || size > size_t{CAIRN_STATE_SIZE_MAX} + 4096) {
        return CAIRN_DECODE_EMPTY;
    }
    auto verifier = verifier_of(bytes, size);
    if (!wire::VerifyChunkBuffer(verifier)) {
        return CAIRN_DECODE_NOT_FLATBUFFERS;
    }
    const auto *chunk = wire::GetChunk(bytes);
    const auto tag = static_cast<unsigned>(chunk->body_type());
    if (chunk->body() == nullptr || tag == 0 || tag >= CAIRN_CHUNK_KIND_COUNT) {
        return CAIRN_DECODE_UNKNOWN_KIND;
    }
    c->kind = static_cast<cairn_chunk_kind>(tag);
    Fields fields;
    take_chunk(fields, *chunk, c);
    return fields.refusal != CAIRN_DECODE_OK ? fields.refusal : cairn_chunk_check(c);
}

} // namespace

cairn_decode_refusal cairn_message_decode(
    const uint8_t *bytes, size_t size, cairn_direction direction, cairn_message *out) {
    const auto refusal = decode_message(bytes, size, direction, out);
    if (refusal != CAIRN_DECODE_OK) {
        out->kind = CAIRN_MESSAGE_NONE;
    }
    return refusal;
}

int cairn_chunk_decode(const uint8_t *bytes, size_t size, cairn_chunk *out) {
    const auto refusal = decode_chunk(bytes, size, out);
    if (refusal != CAIRN_DECODE_OK) {
        out->kind = CAIRN_CHUNK_NONE;
    }
    return refusal;
}

// ---- scenes from JSON, by FlatBuffers' own parser

namespace {

cairn_wire_vec3 or_else(const wire::Vec3 *v, cairn_wire_vec3 otherwise) {
    return v == nullptr ? otherwise : cairn_wire_vec3{v->x() + 0.0f, v->y() + 0.0f, v->z() + 0.0f};
}

cairn_wire_quat or_identity(const wire::Quat *q) {
    return q == nullptr
               ? cairn_wire_quat{0.0f, 0.0f, 0.0f, 1.0f}
               : cairn_wire_quat{q->x() + 0.0f, q->y() + 0.0f, q->z() + 0.0f, q->w() + 0.0f};
}

constexpr cairn_wire_vec3 zero = {0.0f, 0.0f, 0.0f};

cairn_scene_shape scene_shape(const wire::SceneShape &t) {
    cairn_scene_shape shape{};
    shape.kind = static_cast<uint32_t>(t.kind());
    shape.half_extents = or_else(t.half_extents(), {0.5f, 0.5f, 0.5f});
    shape.radius = t.radius();
    shape.half_height = t.half_height();
    shape.position = or_else(t.position(), zero);
    shape.rotation = or_identity(t.rotation());
    shape.density = t.density();
    shape.friction = t.friction() + 0.0f;
    shape.restitution = t.restitution() + 0.0f;
    shape.category = t.category();
    shape.mask = t.mask();
    shape.hull = t.hull();
    return shape;
}

cairn_scene_body scene_body(const wire::SceneBody &t) {
    cairn_scene_body body{};
    body.kind = static_cast<uint32_t>(t.kind());
    body.position = or_else(t.position(), zero);
    body.rotation = or_identity(t.rotation());
    body.linear_velocity = or_else(t.linear_velocity(), zero);
    body.angular_velocity = or_else(t.angular_velocity(), zero);
    body.linear_damping = t.linear_damping() + 0.0f;
    body.angular_damping = t.angular_damping() + 0.0f;
    body.gravity_scale = t.gravity_scale() + 0.0f;
    body.allow_sleep = t.allow_sleep();
    const auto *grid = t.grid_count();
    body.grid_count[0] = grid == nullptr ? 1 : grid->x();
    body.grid_count[1] = grid == nullptr ? 1 : grid->y();
    body.grid_count[2] = grid == nullptr ? 1 : grid->z();
    body.grid_spacing = or_else(t.grid_spacing(), zero);
    return body;
}

cairn_scene_joint scene_joint(const wire::SceneJoint &t) {
    cairn_scene_joint joint{};
    joint.kind = static_cast<uint32_t>(t.kind());
    joint.body_a = t.body_a();
    joint.body_b = t.body_b();
    joint.anchor_a = or_else(t.anchor_a(), zero);
    joint.anchor_b = or_else(t.anchor_b(), zero);
    joint.length = t.length() + 0.0f;
    joint.collide_connected = t.collide_connected();
    joint.axis_a = or_else(t.axis_a(), {1.0f, 0.0f, 0.0f});
    joint.axis_b = or_else(t.axis_b(), {1.0f, 0.0f, 0.0f});
    joint.normal_a = or_else(t.normal_a(), {0.0f, 1.0f, 0.0f});
    joint.normal_b = or_else(t.normal_b(), {0.0f, 1.0f, 0.0f});
    joint.cone = t.cone() + 0.0f;
    joint.lower = t.lower() + 0.0f;
    joint.upper = t.upper() + 0.0f;
    joint.limited = t.limited();
    return joint;
}

void take_settings(const wire::Scene &t, cairn_scene *scene) {
    scene->body_capacity = t.body_capacity();
    scene->shape_capacity = t.shape_capacity();
    scene->joint_capacity = t.joint_capacity();
    scene->hull_capacity = t.hull_capacity();
    scene->contact_capacity = t.contact_capacity();
    scene->tick_rate_hz = t.tick_rate_hz();
    scene->gravity = or_else(t.gravity(), {0.0f, -9.81f, 0.0f});
    scene->solver = static_cast<uint32_t>(t.solver());
    scene->substeps = t.substeps();
    scene->iterations = t.iterations();
    scene->friction_model = static_cast<uint32_t>(t.friction_model());
    scene->warm_start = t.warm_start();
    scene->sleep = t.sleep();
    scene->baumgarte = t.baumgarte() + 0.0f;
    scene->slop = t.slop() + 0.0f;
    scene->contact_hertz = t.contact_hertz() + 0.0f;
    scene->contact_damping = t.contact_damping() + 0.0f;
    scene->joint_hertz = t.joint_hertz() + 0.0f;
    scene->joint_damping = t.joint_damping() + 0.0f;
    scene->restitution_threshold = t.restitution_threshold() + 0.0f;
    scene->seed = t.seed();
}

// False when the text does not fit, or holds a zero byte.
bool take_name(const fb::String *text, char (&out)[32]) {
    const size_t size = text == nullptr ? 0 : text->size();
    if (size > CAIRN_NAME_SIZE_MAX || (size > 0 && std::strlen(text->c_str()) != size)) {
        return false;
    }
    std::memcpy(out, text == nullptr ? "" : text->c_str(), size);
    return true;
}

cairn_status refuse_scene(char *error, cairn_status status, const char *words) {
    std::snprintf(error, CAIRN_SCENE_ERROR_SIZE, "%s", words);
    return status;
}

template <typename Plain> bool make_room(Plain **array, size_t count) {
    *array = static_cast<Plain *>(std::calloc(count + 1, sizeof(Plain)));
    return *array != nullptr;
}

// How long the lists in the tables of a list are together.
template <typename Tables, typename List> size_t count_all(const Tables *tables, List list) {
    size_t count = 0;
    for (fb::uoffset_t i = 0; tables != nullptr && i < tables->size(); ++i) {
        const auto *inner = list(*tables->Get(i));
        count += inner == nullptr ? 0 : inner->size();
    }
    return count;
}

void take_bodies(const wire::Scene &t, cairn_scene *scene) {
    for (fb::uoffset_t i = 0; t.bodies() != nullptr && i < t.bodies()->size(); ++i) {
        const auto *table = t.bodies()->Get(i);
        cairn_scene_body body = scene_body(*table);
        body.first_shape = scene->shape_count;
        for (fb::uoffset_t k = 0; table->shapes() != nullptr && k < table->shapes()->size(); ++k) {
            scene->shapes[scene->shape_count++] = scene_shape(*table->shapes()->Get(k));
            ++body.shape_count;
        }
        scene->bodies[scene->body_count++] = body;
    }
    for (fb::uoffset_t i = 0; t.joints() != nullptr && i < t.joints()->size(); ++i) {
        scene->joints[scene->joint_count++] = scene_joint(*t.joints()->Get(i));
    }
}

void take_hulls(const wire::Scene &t, cairn_scene *scene) {
    for (fb::uoffset_t i = 0; t.hulls() != nullptr && i < t.hulls()->size(); ++i) {
        const auto *points = t.hulls()->Get(i)->points();
        cairn_scene_hull hull = {scene->point_count, points == nullptr ? 0 : points->size()};
        for (fb::uoffset_t k = 0; k < hull.point_count; ++k) {
            scene->points[scene->point_count++] = or_else(points->Get(k), zero);
        }
        scene->hulls[scene->hull_count++] = hull;
    }
}

cairn_status take_scene(const wire::Scene &t, cairn_scene *scene, char *error) {
    const size_t body_count = t.bodies() == nullptr ? 0 : t.bodies()->size();
    const size_t joint_count = t.joints() == nullptr ? 0 : t.joints()->size();
    const size_t hull_count = t.hulls() == nullptr ? 0 : t.hulls()->size();
    const size_t shape_count = count_all(t.bodies(), [](auto &body) { return body.shapes(); });
    const size_t point_count = count_all(t.hulls(), [](auto &hull) { return hull.points(); });
    if (body_count > CAIRN_BODIES_MAX || shape_count > CAIRN_SHAPES_MAX ||
        joint_count > CAIRN_JOINTS_MAX || hull_count > CAIRN_HULLS_MAX) {
        return refuse_scene(error, CAIRN_CAPACITY, "more than a world has room for");
    }
    const bool named = take_name(t.name(), scene->name);
    if (!named || !take_name(t.rules(), scene->rules)) {
        return refuse_scene(error, CAIRN_INVALID_ARGUMENT,
            named ? "rules: must be at most 31 characters of ASCII"
                  : "name: must be at most 31 characters of ASCII");
    }
    if (!make_room(&scene->bodies, body_count) || !make_room(&scene->shapes, shape_count) ||
        !make_room(&scene->joints, joint_count) || !make_room(&scene->hulls, hull_count) ||
        !make_room(&scene->points, point_count)) {
        return refuse_scene(error, CAIRN_OUT_OF_MEMORY, "out of memory");
    }
    take_hulls(t, scene);
    take_settings(t, scene);
    take_bodies(t, scene);
    return cairn_scene_check(scene, error);
}

// Throws std::bad_alloc alone.
cairn_status parse_scene(const std::string &json, cairn_scene *scene, char *error) {
    if (!cairn_scene_text_check(json.data(), json.size(), error)) {
        return CAIRN_MALFORMED;
    }
    fb::IDLOptions options;
    options.strict_json = true;
    fb::Parser parser(options);
    // Copied, because the generated array has no alignment.
    const std::string schema(reinterpret_cast<const char *>(wire::SceneBinarySchema::data()),
        wire::SceneBinarySchema::size());
    const bool known =
        parser.Deserialize(reinterpret_cast<const uint8_t *>(schema.data()), schema.size());
    CAIRN_ASSERT(known);
    if (!parser.ParseJson(json.c_str())) {
        cairn_scene_text_explain(parser.error_.c_str(), error);
        return CAIRN_MALFORMED;
    }
    return take_scene(*wire::GetScene(parser.builder_.GetBufferPointer()), scene, error);
}

} // namespace

cairn_status cairn_scene_parse(
    const char *json, size_t size, cairn_scene **out, char error[CAIRN_SCENE_ERROR_SIZE]) {
    *out = nullptr;
    error[0] = '\0';
    if (size > CAIRN_SCENE_JSON_SIZE_MAX) {
        return refuse_scene(error, CAIRN_CAPACITY, "a scene may have at most 16 MiB");
    }
    auto *scene = static_cast<cairn_scene *>(std::calloc(1, sizeof(cairn_scene)));
    cairn_status status = CAIRN_OUT_OF_MEMORY;
    try {
        if (scene != nullptr) {
            status = parse_scene(std::string(json, size), scene, error);
        }
    } catch (...) {
        status = CAIRN_OUT_OF_MEMORY;
    }
    if (status != CAIRN_OK) {
        if (status == CAIRN_OUT_OF_MEMORY) {
            refuse_scene(error, status, "out of memory");
        }
        cairn_scene_destroy(scene);
        return status;
    }
    *out = scene;
    return CAIRN_OK;
}
