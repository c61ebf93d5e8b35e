// SPDX-License-Identifier: MIT

// The C headers pin their layouts with C's keywords.
#define _Static_assert static_assert
#define _Noreturn [[noreturn]]

#include "schema/codec.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include <flatbuffers/flatbuffers.h>
#include <flatbuffers/idl.h>

#include "schema/codec_tables.h"
#include "schema/message_check.h"
#include "schema/message_size.h"
#include "schema/messages_generated.h"
#include "schema/recording_generated.h"
#include "schema/scene.h"
#include "schema/scene_bfbs_generated.h"
#include "schema/scene_check.h"
#include "schema/scene_generated.h"
#include "schema/scene_parse.h"
#include "schema/scene_text.h"

extern "C" {
#include "base/assert.h"
#include "base/world_settings.h"
#include "schema/byte_order.h"
}

namespace fb = flatbuffers;
namespace wire = cairn::wire;

static_assert(sizeof(cairn_wire_timing) == sizeof(wire::Timing), "one layout");
static_assert(sizeof(cairn_hash128) == sizeof(wire::Hash128), "one layout");

#define TAG_IS_KIND(KIND, member, Table)                                                           \
    static_assert(int(wire::Message::Table) == CAIRN_MESSAGE_##KIND, "tags are kinds");
EACH_MESSAGE(TAG_IS_KIND)

#define CHUNK_TAG_IS_KIND(KIND, member, Table)                                                     \
    static_assert(int(wire::ChunkBody::Table) == CAIRN_CHUNK_##KIND, "tags are kinds");
EACH_CHUNK(CHUNK_TAG_IS_KIND)
static_assert(int(wire::Message::MAX) + 1 == CAIRN_MESSAGE_KIND_COUNT, "tags are kinds");
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

// Words of 8 bytes that a struct of the schema begins with; the rest are words of 4, except for a
// seal's, which are bytes.
template <typename Wire>
constexpr size_t words_8 = std::is_arithmetic_v<Wire> ? sizeof(Wire) / 8 : 0;
template <> constexpr size_t words_8<wire::Hash128> = 2;
template <> constexpr size_t words_8<wire::Input> = 1;
template <> constexpr size_t words_8<wire::Tick> = 3;
template <> constexpr size_t words_8<wire::Root> = 3;
template <> constexpr size_t words_8<wire::Timing> = 1;
template <> constexpr size_t words_8<wire::DesyncHead> = 11;
template <typename Wire> constexpr size_t words_4 = (sizeof(Wire) - 8 * words_8<Wire>) / 4;
template <> constexpr size_t words_4<wire::Seal> = 0;

template <typename Wire> void turn(void *structs, uint32_t count) {
    cairn_byte_order_turn(structs, count, words_8<Wire>, words_4<Wire>);
}

// A table's members are listed once, by `fields`, for whoever visits them: two visitors write, one
// reads. What is not inline in a table has to be written before it.
class Attachments {
  public:
    explicit Attachments(fb::FlatBufferBuilder &builder) : b(builder) {
    }
    template <typename T> void scalar(fb::voffset_t, const T &) {
    }
    template <typename Wire, typename Plain> void plain(fb::voffset_t, const Plain &) {
    }
    template <typename Wire, typename Plain> void added(fb::voffset_t, const Plain &) {
    }
    void text(fb::voffset_t, const char *text) {
        keep(b.CreateString(text, std::strlen(text)).o);
    }
    template <typename Wire, typename Plain>
    void vector(fb::voffset_t, const Plain *elements, uint32_t count) {
        static_assert(sizeof(Wire) == sizeof(Plain), "one layout");
        const auto *wire = reinterpret_cast<const Wire *>(elements);
        if constexpr (std::is_arithmetic_v<Wire>) {
            keep(b.CreateVector(wire, count).o);
        } else {
            keep(b.CreateVectorOfStructs(wire, count).o);
            turn<Wire>(b.GetCurrentBufferPointer() + sizeof(fb::uoffset_t), count);
        }
    }

    fb::uoffset_t offsets[8] = {};

  private:
    void keep(fb::uoffset_t offset) {
        CAIRN_ASSERT(kept < sizeof offsets / sizeof offsets[0]);
        offsets[kept++] = offset;
    }

    fb::FlatBufferBuilder &b;
    size_t kept = 0;
};

class Inline {
  public:
    Inline(fb::FlatBufferBuilder &builder, const Attachments &attachments)
        : b(builder), next(attachments.offsets) {
    }
    template <typename T> void scalar(fb::voffset_t at, const T &value) {
        b.AddElement<T>(at, value, 0);
    }
    template <typename Wire, typename Plain> void plain(fb::voffset_t at, const Plain &value) {
        static_assert(sizeof(Wire) == sizeof(Plain), "one layout");
        Plain copy = value;
        turn<Wire>(&copy, 1);
        b.AddStruct(at, reinterpret_cast<const Wire *>(&copy));
    }
    template <typename Wire, typename Plain> void added(fb::voffset_t at, const Plain &value) {
        plain<Wire>(at, value);
    }
    void text(fb::voffset_t at, const char *) {
        b.AddOffset(at, fb::Offset<void>(*next++));
    }
    template <typename Wire, typename Plain>
    void vector(fb::voffset_t at, const Plain *, uint32_t) {
        b.AddOffset(at, fb::Offset<void>(*next++));
    }

  private:
    fb::FlatBufferBuilder &b;
    const fb::uoffset_t *next;
};

// Reads fields that the verifier found sound; remembers the first that is missing.
class Reader {
  public:
    explicit Reader(const void *body) : table(static_cast<const fb::Table *>(body)) {
    }
    template <typename T> void scalar(fb::voffset_t at, T &value) {
        value = table->GetField<T>(at, 0);
    }
    template <typename Wire, typename Plain> void plain(fb::voffset_t at, Plain &value) {
        static_assert(sizeof(Plain) == sizeof(Wire), "one layout");
        const auto *field = table->GetStruct<const Wire *>(at);
        if (field == nullptr) {
            refuse(CAIRN_DECODE_MISSING_FIELD);
        } else {
            std::memcpy(&value, field, sizeof value);
            turn<Wire>(&value, 1);
        }
    }
    // A member that older writers did not know: zeros then.
    template <typename Wire, typename Plain> void added(fb::voffset_t at, Plain &value) {
        std::memset(&value, 0, sizeof value);
        if (table->GetStruct<const Wire *>(at) != nullptr) {
            plain<Wire>(at, value);
        }
    }
    void text(fb::voffset_t at, const char *&text) {
        const auto *field = table->GetPointer<const fb::String *>(at);
        text = nullptr;
        if (field == nullptr) {
            refuse(CAIRN_DECODE_MISSING_FIELD);
            return;
        }
        if (std::strlen(field->c_str()) != field->size()) {
            refuse(CAIRN_DECODE_TEXT);
        }
        text = field->c_str();
    }
    template <typename Wire, typename Plain>
    void vector(fb::voffset_t at, const Plain *&elements, uint32_t &count) {
        const auto *field = table->GetPointer<const fb::Vector<uint8_t> *>(at);
        elements = nullptr;
        count = 0;
        if (field == nullptr) {
            refuse(CAIRN_DECODE_MISSING_FIELD);
            return;
        }
        // The verifier checks the alignment of the length alone. Machines that align 8 bytes on 4
        // refuse the same.
        constexpr auto alignment = std::is_arithmetic_v<Wire> ? sizeof(Wire) : alignof(Wire);
        if (reinterpret_cast<uintptr_t>(field->Data()) % alignment != 0) {
            refuse(CAIRN_DECODE_NOT_FLATBUFFERS);
            return;
        }
        count = field->size();
        elements = static_cast<const Plain *>(
            cairn_byte_order_copy(field->Data(), count, words_8<Wire>, words_4<Wire>));
        if (elements == nullptr) {
            count = 0;
            refuse(CAIRN_DECODE_NOT_FLATBUFFERS);
        }
    }

    cairn_decode_refusal refusal = CAIRN_DECODE_OK;

  private:
    void refuse(cairn_decode_refusal reason) {
        if (refusal == CAIRN_DECODE_OK) {
            refusal = reason;
        }
    }

    const fb::Table *table;
};

template <typename Visitor> void scalars(Visitor &) {
}

template <typename Visitor, typename T, typename... More>
void scalars(Visitor &v, fb::voffset_t at, T &value, More &&...more) {
    v.scalar(at, value);
    scalars(v, std::forward<More>(more)...);
}

template <typename Visitor> void fields(Visitor &v, cairn_hello &m) {
    using T = wire::Hello;
    scalars(v, T::VT_PROTOCOL_VERSION, m.protocol_version, T::VT_SIM_VERSION, m.sim_version,
        T::VT_MODE, m.mode, T::VT_SPECTATOR, m.spectator);
    v.text(T::VT_RULES_NAME, m.rules_name);
    v.scalar(T::VT_RULES_VERSION, m.rules_version);
    v.text(T::VT_ROOM, m.room);
    v.text(T::VT_BUILD, m.build);
    v.scalar(T::VT_PASSPORT_FAULTS, m.passport_faults);
    v.template plain<wire::Hash128>(T::VT_PASSPORT_HASH, m.passport_hash);
}

template <typename Visitor> void fields(Visitor &v, cairn_input_message &m) {
    using T = wire::Inputs;
    scalars(v, T::VT_SNAPSHOT_ACKNOWLEDGED, m.snapshot_acknowledged, T::VT_TICKS_ACKNOWLEDGED,
        m.ticks_acknowledged, T::VT_SENT_AT_US, m.sent_at_us, T::VT_WORLD_EPOCH, m.world_epoch);
    v.template vector<wire::Input>(T::VT_INPUTS, m.inputs, m.input_count);
    scalars(v, T::VT_SHOWN_TICK, m.shown_tick, T::VT_SHOWN_SPAN, m.shown_span, T::VT_SHOWN_SHARE,
        m.shown_share);
}

template <typename Visitor> void fields(Visitor &v, cairn_root_report &m) {
    v.template vector<wire::Root>(wire::RootReport::VT_ROOTS, m.roots, m.root_count);
    v.scalar(wire::RootReport::VT_WORLD_EPOCH, m.world_epoch);
}

template <typename Visitor> void fields(Visitor &v, cairn_resync_request &m) {
    using T = wire::ResyncRequest;
    scalars(v, T::VT_TICK, m.tick, T::VT_WANT, m.want, T::VT_WORLD_EPOCH, m.world_epoch);
    v.template vector<uint8_t>(
        T::VT_DIFFERENCE_SKETCH, m.difference_sketch, m.difference_sketch_size);
}

template <typename Visitor> void fields(Visitor &v, cairn_control &m) {
    using T = wire::Control;
    scalars(v, T::VT_REQUEST, m.request, T::VT_VERB, m.verb);
    v.text(T::VT_ROOM, m.room);
    scalars(v, T::VT_TICK, m.tick, T::VT_COUNT, m.count, T::VT_SEED, m.seed);
    v.text(T::VT_NAME, m.name);
    scalars(v, T::VT_BODY, m.body, T::VT_MASK, m.mask);
    v.template vector<float>(T::VT_NUMBERS, m.numbers, m.number_count);
    v.template vector<uint8_t>(T::VT_BYTES, m.bytes, m.byte_count);
}

template <typename Visitor> void fields(Visitor &v, cairn_welcome &m) {
    using T = wire::Welcome;
    scalars(v, T::VT_TICK, m.tick, T::VT_SLOT, m.slot, T::VT_TICK_RATE_HZ, m.tick_rate_hz,
        T::VT_SNAPSHOT_RATE_HZ, m.snapshot_rate_hz, T::VT_MODE, m.mode, T::VT_SIM_VERSION,
        m.sim_version, T::VT_RULES_VERSION, m.rules_version);
    v.text(T::VT_RULES_NAME, m.rules_name);
    v.text(T::VT_SCENE_NAME, m.scene_name);
    v.template plain<wire::Hash128>(T::VT_SCENE_DIGEST, m.scene_digest);
    v.text(T::VT_ROOM, m.room);
    scalars(v, T::VT_RIGHTS, m.rights, T::VT_WAIT_MS, m.wait_ms);
    v.text(T::VT_WORDS, m.words);
}

template <typename Visitor> void fields(Visitor &v, cairn_refused &m) {
    v.scalar(wire::Refused::VT_REASON, m.reason);
    v.text(wire::Refused::VT_WORDS, m.words);
}

template <typename Visitor> void fields(Visitor &v, cairn_shapes_message &m) {
    using T = wire::Shapes;
    v.scalar(T::VT_TICK, m.tick);
    v.template vector<wire::Shape>(T::VT_SHAPES, m.shapes, m.shape_count);
    v.template vector<uint32_t>(T::VT_REMOVED, m.removed, m.removed_count);
    v.template vector<uint8_t>(T::VT_CORNER_COUNTS, m.corner_counts, m.hull_count);
    v.template vector<wire::Vec3>(T::VT_CORNERS, m.corners, m.corner_count);
}

template <typename Visitor> void fields(Visitor &v, cairn_keyframe &m) {
    using T = wire::Keyframe;
    scalars(v, T::VT_TICK, m.tick, T::VT_WORLD_EPOCH, m.world_epoch);
    v.template plain<wire::Hash128>(T::VT_VISIBLE_ROOT, m.visible_root);
    v.template plain<wire::Hash128>(T::VT_FULL_ROOT, m.full_root);
    v.template plain<wire::Timing>(T::VT_TIMING, m.timing);
    v.template vector<wire::Body>(T::VT_BODIES, m.bodies, m.body_count);
}

template <typename Visitor> void fields(Visitor &v, cairn_delta &m) {
    using T = wire::Delta;
    scalars(v, T::VT_TICK, m.tick, T::VT_BASELINE_TICK, m.baseline_tick, T::VT_WORLD_EPOCH,
        m.world_epoch);
    v.template plain<wire::Hash128>(T::VT_VISIBLE_ROOT, m.visible_root);
    v.template plain<wire::Hash128>(T::VT_FULL_ROOT, m.full_root);
    v.template plain<wire::Timing>(T::VT_TIMING, m.timing);
    v.template vector<uint8_t>(T::VT_PAYLOAD, m.payload, m.payload_size);
}

template <typename Visitor> void fields(Visitor &v, cairn_ticks_message &m) {
    using T = wire::Ticks;
    v.template plain<wire::Timing>(T::VT_TIMING, m.timing);
    v.template vector<wire::Tick>(T::VT_TICKS, m.ticks, m.tick_count);
    v.template vector<wire::Command>(T::VT_COMMANDS, m.commands, m.command_count);
    v.template vector<uint64_t>(T::VT_DIGESTS, m.digests, m.digest_count);
    v.scalar(T::VT_WORLD_EPOCH, m.world_epoch);
}

template <typename Visitor> void fields(Visitor &v, cairn_state_message &m) {
    using T = wire::State;
    scalars(v, T::VT_TICK, m.tick, T::VT_OFFSET, m.offset, T::VT_TOTAL_SIZE, m.total_size);
    v.template vector<uint8_t>(T::VT_BYTES, m.bytes, m.size);
}

template <typename Visitor> void fields(Visitor &v, cairn_resync_response &m) {
    using T = wire::ResyncResponse;
    scalars(v, T::VT_TICK, m.tick, T::VT_VERDICT, m.verdict);
    v.template plain<wire::Hash128>(T::VT_FULL_ROOT, m.full_root);
    v.scalar(T::VT_PASSPORT_FAULTS, m.passport_faults);
    v.text(T::VT_BUILD, m.build);
    v.template vector<uint8_t>(T::VT_PAYLOAD, m.payload, m.payload_size);
    v.template vector<uint8_t>(T::VT_STAGES, m.stages, m.stages_size);
}

template <typename Visitor> void fields(Visitor &v, cairn_event_message &m) {
    using T = wire::Event;
    scalars(v, T::VT_KIND, m.kind, T::VT_SLOT, m.slot, T::VT_TICK, m.tick, T::VT_VALUE, m.value);
    v.text(T::VT_WORDS, m.words);
}

template <typename Visitor> void fields(Visitor &v, cairn_answer &m) {
    using T = wire::Answer;
    scalars(v, T::VT_REQUEST, m.request, T::VT_VERB, m.verb, T::VT_REFUSAL, m.refusal);
    v.text(T::VT_WORDS, m.words);
    v.text(T::VT_ROOM, m.room);
    v.scalar(T::VT_TICK, m.tick);
    v.template plain<wire::Hash128>(T::VT_ROOT, m.root);
    v.scalar(T::VT_COUNT, m.count);
    v.template vector<uint32_t>(T::VT_IDS, m.ids, m.id_count);
    v.template vector<float>(T::VT_NUMBERS, m.numbers, m.number_count);
    v.template vector<uint8_t>(T::VT_BYTES, m.bytes, m.byte_count);
}

template <typename Visitor> void fields(Visitor &v, cairn_chunk_start &m) {
    using T = wire::ChunkStart;
    scalars(v, T::VT_SIM_VERSION, m.sim_version, T::VT_RULES_VERSION, m.rules_version);
    v.text(T::VT_RULES_NAME, m.rules_name);
    v.text(T::VT_SCENE_NAME, m.scene_name);
    v.text(T::VT_BUILD, m.build);
    v.scalar(T::VT_TICK, m.tick);
    v.template vector<uint8_t>(T::VT_STATE, m.state, m.state_size);
}

template <typename Visitor> void fields(Visitor &v, cairn_chunk_ticks &m) {
    v.template vector<wire::Tick>(wire::ChunkTicks::VT_TICKS, m.ticks, m.tick_count);
    v.template vector<wire::Command>(wire::ChunkTicks::VT_COMMANDS, m.commands, m.command_count);
}

template <typename Visitor> void fields(Visitor &v, cairn_chunk_end &m) {
    using T = wire::ChunkEnd;
    scalars(v, T::VT_TICK, m.tick, T::VT_TICK_COUNT, m.tick_count);
    v.template added<wire::Seal>(T::VT_SEAL, m.seal);
}

template <typename Visitor> void fields(Visitor &v, cairn_chunk_replace &m) {
    v.scalar(wire::ChunkReplace::VT_TICK, m.tick);
    v.template vector<uint8_t>(wire::ChunkReplace::VT_STATE, m.state, m.state_size);
}

template <typename Visitor> void fields(Visitor &v, cairn_chunk_desync &m) {
    using T = wire::ChunkDesync;
    v.template vector<wire::Difference>(T::VT_DIFFERENCES, m.differences, m.difference_count);
    v.template plain<wire::DesyncHead>(T::VT_HEAD, m.head);
    v.text(T::VT_BUILD_CLIENT, m.build_client);
    v.text(T::VT_BUILD_SERVER, m.build_server);
    v.template vector<uint8_t>(T::VT_STAGES_CLIENT, m.stages_client, m.stages_client_size);
    v.template vector<uint8_t>(T::VT_STAGES_SERVER, m.stages_server, m.stages_server_size);
}

template <typename Visitor> void fields(Visitor &v, cairn_chunk_keyframe &m) {
    v.scalar(wire::ChunkKeyframe::VT_TICK, m.tick);
    v.template vector<uint8_t>(wire::ChunkKeyframe::VT_STATE, m.state, m.state_size);
}

template <typename Table> fb::Offset<void> put(fb::FlatBufferBuilder &b, Table &members) {
    Attachments attachments(b);
    fields(attachments, members);
    const auto start = b.StartTable();
    Inline inline_members(b, attachments);
    fields(inline_members, members);
    return fb::Offset<void>(b.EndTable(start));
}

// Calls `with` for the member that the kind says; a kind that is none is never asked for.
template <typename With> auto with_body(cairn_message &m, With with) {
    switch (m.kind) {
#define WITH(KIND, member, Table)                                                                  \
    case CAIRN_MESSAGE_##KIND:                                                                     \
        return with(m.member);
        EACH_MESSAGE(WITH)
    default:
        CAIRN_ASSERT(false);
        return with(m.hello);
    }
}

template <typename With> auto with_body(cairn_chunk &c, With with) {
    switch (c.kind) {
#define WITH_CHUNK(KIND, member, Table)                                                            \
    case CAIRN_CHUNK_##KIND:                                                                       \
        return with(c.member);
        EACH_CHUNK(WITH_CHUNK)
    default:
        CAIRN_ASSERT(false);
        return with(c.start);
    }
}

// Writers take what they visit as constant.
template <typename Union> fb::Offset<void> put_body(fb::FlatBufferBuilder &b, const Union *plain) {
    return with_body(const_cast<Union &>(*plain), [&b](auto &body) { return put(b, body); });
}

template <typename Union> cairn_decode_refusal take_body(const void *bytes, Union *plain) {
    return with_body(*plain, [bytes](auto &body) {
        Reader reader(bytes);
        fields(reader, body);
        return reader.refusal;
    });
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

fb::Verifier verifier_of(const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(reinterpret_cast<uintptr_t>(bytes) % 8 == 0);
    return fb::Verifier(bytes, size, 4, 8); // tables deep, tables in all
}

cairn_decode_refusal decode_message(
    const uint8_t *bytes, size_t size, cairn_direction direction, cairn_message *m) {
    if (size == 0 || size > CAIRN_MESSAGE_SIZE_MAX) {
        return CAIRN_DECODE_EMPTY;
    }
    cairn_byte_order_begin(size);
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
    const auto refusal = take_body(envelope->message(), m);
    return refusal != CAIRN_DECODE_OK ? refusal : cairn_message_check(m);
}

cairn_decode_refusal decode_chunk(const uint8_t *bytes, size_t size, cairn_chunk *c) {
    if (size == 0 || size > size_t{CAIRN_STATE_SIZE_MAX} + 4096) {
        return CAIRN_DECODE_EMPTY;
    }
    cairn_byte_order_begin(size);
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
    const auto refusal = take_body(chunk->body(), c);
    return refusal != CAIRN_DECODE_OK ? refusal : cairn_chunk_check(c);
}

} // namespace

cairn_status cairn_encoder_create(size_t message_size_max, cairn_encoder **out) {
    CAIRN_ASSERT(message_size_max <= size_t{CAIRN_STATE_SIZE_MAX} + 4096);
    const size_t size_max = (message_size_max + 7) & ~size_t{7};
    const size_t head = (sizeof(cairn_encoder) + 15) & ~size_t{15};
    auto *memory = static_cast<uint8_t *>(std::malloc(head + size_max + overhead));
    *out = memory == nullptr ? nullptr : new (memory) cairn_encoder(memory + head, size_max);
    return *out == nullptr ? CAIRN_OUT_OF_MEMORY : CAIRN_OK;
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
    if (cairn_message_vectors_size(message) > encoder->size_max) {
        return CAIRN_CAPACITY;
    }
    auto &b = encoder->builder;
    begin(b);
    const auto body = put_body(b, message);
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
    if (cairn_chunk_vectors_size(chunk) > encoder->size_max) {
        return CAIRN_CAPACITY;
    }
    auto &b = encoder->builder;
    begin(b);
    const auto body = put_body(b, chunk);
    wire::FinishChunkBuffer(
        b, wire::CreateChunk(b, static_cast<wire::ChunkBody>(chunk->kind), body));
    return hand_out(encoder, bytes, size);
}

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

cairn_vec3 or_else(const wire::Vec3 *v, cairn_vec3 otherwise) {
    return v == nullptr ? otherwise : cairn_vec3{v->x() + 0.0f, v->y() + 0.0f, v->z() + 0.0f};
}

cairn_quat or_identity(const wire::Quat *q) {
    return q == nullptr ? cairn_quat{0.0f, 0.0f, 0.0f, 1.0f}
                        : cairn_quat{q->x() + 0.0f, q->y() + 0.0f, q->z() + 0.0f, q->w() + 0.0f};
}

constexpr cairn_vec3 zero = {0.0f, 0.0f, 0.0f};

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
    scene->world = cairn_world_def_default();
#define WORD(name, initial, lower, upper) scene->world.name = static_cast<uint32_t>(t.name());
#define FLOAT(name, initial, lower, upper) scene->world.name = t.name() + 0.0f;
#define VEC3(name, a, b, c, limit) scene->world.name = or_else(t.name(), scene->world.name);
    CAIRN_WORLD_SETTINGS(WORD, FLOAT, VEC3)
#undef WORD
#undef FLOAT
#undef VEC3
    scene->world.seed = t.seed();
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
    cairn_scene_counts counts{};
    counts.bodies = t.bodies() == nullptr ? 0 : t.bodies()->size();
    counts.shapes = count_all(t.bodies(), [](auto &body) { return body.shapes(); });
    counts.joints = t.joints() == nullptr ? 0 : t.joints()->size();
    counts.hulls = t.hulls() == nullptr ? 0 : t.hulls()->size();
    counts.points = count_all(t.hulls(), [](auto &hull) { return hull.points(); });
    cairn_status status = cairn_scene_make_room(scene, &counts, error);
    if (status == CAIRN_OK) {
        const auto *rules = t.rules();
        status = cairn_scene_take_names(scene, t.name()->c_str(), t.name()->size(),
            rules == nullptr ? "" : rules->c_str(), rules == nullptr ? 0 : rules->size(), error);
    }
    if (status != CAIRN_OK) {
        return status;
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

cairn_status cairn_scene_parse_into(
    const char *json, size_t size, cairn_scene *scene, char error[CAIRN_SCENE_ERROR_SIZE]) {
    try {
        return parse_scene(std::string(json, size), scene, error);
    } catch (...) {
        return CAIRN_OUT_OF_MEMORY;
    }
}
