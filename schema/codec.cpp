// SPDX-License-Identifier: MIT

// The C headers pin their layouts with C's keywords.
#define _Static_assert static_assert
#define _Noreturn [[noreturn]]

#include "schema/codec.h"

// FlatBuffers' builder names the functions of `new` and `delete`, in branches that are never taken,
// because the builder has memory of ours. Under other names, and defined below, they need no C++
// library, which a client then does not link. The compiler knows these functions, so their new
// names come before all else.
#include <cstddef>

void *operator new(std::size_t size) __asm__("cairn_codec_new");
void *operator new[](std::size_t size) __asm__("cairn_codec_new_array");
void operator delete(void *memory) noexcept __asm__("cairn_codec_delete");
void operator delete(void *memory, std::size_t size) noexcept __asm__("cairn_codec_delete_sized");
void operator delete[](void *memory) noexcept __asm__("cairn_codec_delete_array");
void operator delete[](void *memory, std::size_t size) noexcept
    __asm__("cairn_codec_delete_array_sized");

#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

#include <flatbuffers/flatbuffers.h>

#include "schema/codec_tables.h"
#include "schema/control_tables.h"
#include "schema/message_check.h"
#include "schema/message_size.h"
#include "schema/messages_generated.h"
#include "schema/recording_generated.h"

extern "C" {
#include "base/assert.h"
#include "schema/byte_order.h"
}

void *operator new(std::size_t) {
    CAIRN_ASSERT(false);
}

void *operator new[](std::size_t) {
    CAIRN_ASSERT(false);
}

void operator delete(void *) noexcept {
    CAIRN_ASSERT(false);
}

void operator delete(void *, std::size_t) noexcept {
    CAIRN_ASSERT(false);
}

void operator delete[](void *) noexcept {
    CAIRN_ASSERT(false);
}

void operator delete[](void *, std::size_t) noexcept {
    CAIRN_ASSERT(false);
}

namespace fb = flatbuffers;
namespace wire = cairn::wire;

static_assert(sizeof(cairn_wire_event) == sizeof(wire::WorldEvent), "one layout");
static_assert(int(wire::ControlRequest::MAX) + 1 == CAIRN_CONTROL_VERB_COUNT, "tags are verbs");
static_assert(int(wire::ControlAnswer::MAX) + 1 == CAIRN_CONTROL_VERB_COUNT, "tags are verbs");
static_assert(int(wire::ControlRequest::Hash) == CAIRN_CONTROL_HASH, "tags are verbs");
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

// Words of 8 bytes that a struct of the schema begins with. Words of 4 follow, then bytes: of a
// seal and of names.
template <typename Wire>
constexpr size_t words_8 = std::is_arithmetic_v<Wire> ? sizeof(Wire) / 8 : 0;
template <> constexpr size_t words_8<wire::Hash128> = 2;
template <> constexpr size_t words_8<wire::Tick> = 3;
template <> constexpr size_t words_8<wire::Root> = 3;
template <> constexpr size_t words_8<wire::WorldEvent> = 1;
template <> constexpr size_t words_8<wire::DesyncHead> = 11;
template <> constexpr size_t words_8<wire::RoomEntry> = 1;
template <> constexpr size_t words_8<wire::SaveEntry> = 1;
template <> constexpr size_t words_8<wire::ClientEntry> = 2;
template <> constexpr size_t words_8<wire::SectionHash> = 2;
template <typename Wire> constexpr size_t byte_tail = 0;
template <> constexpr size_t byte_tail<wire::Seal> = sizeof(wire::Seal);
template <> constexpr size_t byte_tail<wire::VerbFeature> = sizeof(wire::Name);
template <> constexpr size_t byte_tail<wire::RoomEntry> = sizeof(wire::Name);
template <> constexpr size_t byte_tail<wire::SaveEntry> = sizeof(wire::Name);
template <> constexpr size_t byte_tail<wire::SectionHash> = sizeof(wire::Name);
template <> constexpr size_t byte_tail<wire::FieldDifference> = 2 * sizeof(wire::Name);
template <typename Wire>
constexpr cairn_byte_order_layout layout_of = {
    words_8<Wire>, (sizeof(Wire) - 8 * words_8<Wire> - byte_tail<Wire>) / 4, byte_tail<Wire>};

template <typename Wire> void turn(void *structs, uint32_t count) {
    cairn_byte_order_turn(structs, count, layout_of<Wire>);
}

// The tag of a control message's union: the verb's number, 0 if there is no body.
uint8_t tag_of(const cairn_control_request &request) {
    return static_cast<uint8_t>(request.verb);
}

uint8_t tag_of(const cairn_control_answer &answer) {
    return answer.refusal == CAIRN_CONTROL_DONE ? static_cast<uint8_t>(answer.verb) : uint8_t{0};
}

// Each table's members are listed once, in `fields`. Two visitors write them and one reads them:
// what is not inline in a table has to be written before it.
class Attachments {
  public:
    explicit Attachments(fb::FlatBufferBuilder &builder) : b(builder) {
    }
    template <typename T> void scalar(fb::voffset_t, const T &) {
    }
    template <typename Plain> void choice(fb::voffset_t, fb::voffset_t, Plain &message);
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

    void optional(fb::voffset_t, const uint8_t *bytes, uint32_t size) {
        keep(size == 0 ? 0 : b.CreateVector(bytes, size).o);
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
    void scalar(fb::voffset_t at, const bool &value) {
        b.AddElement<uint8_t>(at, value ? 1 : 0, 0);
    }
    template <typename Plain> void choice(fb::voffset_t at_tag, fb::voffset_t at, Plain &message) {
        scalar(at_tag, tag_of(message));
        b.AddOffset(at, fb::Offset<void>(*next++));
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
    void optional(fb::voffset_t at, const uint8_t *, uint32_t) {
        b.AddOffset(at, fb::Offset<void>(*next++)); // adds nothing if it is 0
    }

  private:
    fb::FlatBufferBuilder &b;
    const fb::uoffset_t *next;
};

// Reads fields that the verifier accepted; remembers the first that is missing.
class Reader {
  public:
    explicit Reader(const void *body) : table(static_cast<const fb::Table *>(body)) {
    }
    template <typename T> void scalar(fb::voffset_t at, T &value) {
        value = table->GetField<T>(at, 0);
    }
    void scalar(fb::voffset_t at, bool &value) {
        value = table->GetField<uint8_t>(at, 0) != 0;
    }
    template <typename Plain> void choice(fb::voffset_t at_tag, fb::voffset_t at, Plain &message);
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
        // refuse the same. Writers do not align a vector without elements.
        constexpr auto alignment = std::is_arithmetic_v<Wire> ? sizeof(Wire) : alignof(Wire);
        if (field->size() != 0 && reinterpret_cast<uintptr_t>(field->Data()) % alignment != 0) {
            refuse(CAIRN_DECODE_NOT_FLATBUFFERS);
            return;
        }
        count = field->size();
        elements = static_cast<const Plain *>(
            cairn_byte_order_copy(field->Data(), count, layout_of<Wire>));
        if (elements == nullptr) {
            count = 0;
            refuse(CAIRN_DECODE_NOT_FLATBUFFERS);
        }
    }

    void optional(fb::voffset_t at, const uint8_t *&bytes, uint32_t &size) {
        const auto *field = table->GetPointer<const fb::Vector<uint8_t> *>(at);
        bytes = field == nullptr ? nullptr : field->Data();
        size = field == nullptr ? 0 : field->size();
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

// What a visitor does with each kind of member of schema/codec_tables.h and control_tables.h.
#define FIELD_NUMBER(FIELD, field) v.scalar(T::VT_##FIELD, m.field);
#define FIELD_REAL(FIELD, field) v.scalar(T::VT_##FIELD, m.field);
#define FIELD_TEXT(FIELD, field) v.text(T::VT_##FIELD, m.field);
#define FIELD_LIMITED_TEXT(FIELD, field, size_max) FIELD_TEXT(FIELD, field)
#define FIELD_STRUCT(FIELD, field, Wire) v.template plain<wire::Wire>(T::VT_##FIELD, m.field);
#define FIELD_ADDED(FIELD, field, Wire) v.template added<wire::Wire>(T::VT_##FIELD, m.field);
#define FIELD_VEC3(FIELD, field) FIELD_STRUCT(FIELD, field, Vec3)
#define FIELD_QUAT(FIELD, field) FIELD_STRUCT(FIELD, field, Quat)
#define FIELD_HASH(FIELD, field) FIELD_STRUCT(FIELD, field, Hash128)
#define FIELD_ONE(FIELD, field, element, Wire) FIELD_STRUCT(FIELD, field, Wire)
#define FIELD_VECTOR(FIELD, field, count, Wire)                                                    \
    v.template vector<wire::Wire>(T::VT_##FIELD, m.field, m.count);
#define FIELD_LIST(FIELD, field, count, element, Wire, count_max)                                  \
    FIELD_VECTOR(FIELD, field, count, Wire)
#define FIELD_NUMBERS(FIELD, field, count, type)                                                   \
    v.template vector<type>(T::VT_##FIELD, m.field, m.count);
#define FIELD_BYTES(FIELD, field, count) FIELD_NUMBERS(FIELD, field, count, uint8_t)
#define FIELD_OPTIONAL(FIELD, field, count) v.optional(T::VT_##FIELD, m.field, m.count);
#define FIELD_LIMITED_BYTES(FIELD, field, count, count_max) FIELD_BYTES(FIELD, field, count)
#define FIELD_POINTS(FIELD, field, count, count_max) FIELD_VECTOR(FIELD, field, count, Vec3)
#define FIELD_OF(KIND, ...) FIELD_##KIND(__VA_ARGS__)
#define FIELDS_OF(MEMBERS, structure, Table)                                                       \
    template <typename Visitor> void fields(Visitor &v, cairn_##structure &m) {                    \
        using T = wire::Table;                                                                     \
        MEMBERS(FIELD_OF)                                                                          \
    }
#define TABLE_FIELDS(structure, Table) FIELDS_OF(MEMBERS_##structure, structure, Table)
#define REQUEST_FIELDS(VERB, member, structure, Table) ANSWER_FIELDS(structure, Table)
#define ANSWER_FIELDS(structure, Table)                                                            \
    FIELDS_OF(CONTROL_MEMBERS_##structure, control_##structure, Table)
EACH_TABLE(TABLE_FIELDS)
EACH_CONTROL_REQUEST(REQUEST_FIELDS)
EACH_CONTROL_ANSWER_STRUCT(ANSWER_FIELDS)

template <typename Visitor> void fields(Visitor &v, cairn_control_request &m) {
    using T = wire::Control;
    v.scalar(T::VT_NUMBER, m.number);
    v.text(T::VT_ROOM, m.room);
    v.choice(T::VT_REQUEST_TYPE, T::VT_REQUEST, m);
}

template <typename Visitor> void fields(Visitor &v, cairn_control_answer &m) {
    using T = wire::Answer;
    v.scalar(T::VT_NUMBER, m.number);
    v.scalar(T::VT_VERB, m.verb);
    v.scalar(T::VT_REFUSAL, m.refusal);
    v.text(T::VT_REASON, m.reason);
    v.text(T::VT_ROOM, m.room);
    v.scalar(T::VT_TICK, m.tick);
    v.template plain<wire::Hash128>(T::VT_ROOT, m.root);
    v.choice(T::VT_ANSWER_TYPE, T::VT_ANSWER, m);
}

template <typename Table> fb::Offset<void> put(fb::FlatBufferBuilder &b, Table &members) {
    Attachments attachments(b);
    fields(attachments, members);
    const auto start = b.StartTable();
    Inline inline_members(b, attachments);
    fields(inline_members, members);
    return fb::Offset<void>(b.EndTable(start));
}

// Calls `with` for the member of the message's verb; false if the verb has none or is unknown.
#define WITH_REQUEST(VERB, member, structure, Table)                                               \
    case CAIRN_CONTROL_##VERB:                                                                     \
        with(message.member);                                                                      \
        return true;
#define WITH_ANSWER(VERB, member, structure) WITH_REQUEST(VERB, member, structure, )
template <typename With> bool with_choice(cairn_control_request &message, With with) {
    switch (message.verb) {
        EACH_CONTROL_REQUEST(WITH_REQUEST)
    default:
        return false;
    }
}

template <typename With> bool with_choice(cairn_control_answer &message, With with) {
    switch (message.verb) {
        EACH_CONTROL_ANSWER(WITH_ANSWER)
    default:
        return false;
    }
}

template <typename Plain> void Attachments::choice(fb::voffset_t, fb::voffset_t, Plain &message) {
    fb::uoffset_t offset = 0;
    const auto put_it = [&](auto &body) { offset = put(b, body).o; };
    if (tag_of(message) != 0 && !with_choice(message, put_it)) {
        offset = b.EndTable(b.StartTable());
    }
    keep(offset);
}

// The body of a verb that this version does not know is not read.
template <typename Plain>
void Reader::choice(fb::voffset_t at_tag, fb::voffset_t at, Plain &message) {
    const auto tag = table->GetField<uint8_t>(at_tag, 0);
    const void *body = table->GetPointer<const void *>(at);
    if constexpr (std::is_same_v<Plain, cairn_control_request>) {
        message.verb = tag;
    }
    if (tag != tag_of(message)) {
        refuse(CAIRN_DECODE_OUT_OF_RANGE);
    } else if (tag != 0 && tag < CAIRN_CONTROL_VERB_COUNT && body == nullptr) {
        refuse(CAIRN_DECODE_MISSING_FIELD);
    } else if (tag != 0) {
        with_choice(message, [&](auto &plain) {
            Reader inner(body);
            fields(inner, plain);
            refuse(inner.refusal);
        });
    }
}

// Calls `with` for the member that belongs to the kind; the kind is known to be valid.
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

// The short form of a message that has nothing but a payload: a byte, which no FlatBuffers buffer
// begins with, because the place of its root is a multiple of 4, and the payload. The fields around
// it would be longer than most of these payloads. 0: the message has none.
uint8_t short_form(const cairn_message &m) {
    const auto form = static_cast<uint8_t>(4 * m.kind + 1);
    const auto &snapshot = m.snapshot;
    switch (m.kind) {
    case CAIRN_MESSAGE_INPUT:
    case CAIRN_MESSAGE_TICKS:
        return form;
    case CAIRN_MESSAGE_SNAPSHOT:
        return snapshot.events_size > 0 || snapshot.shared_packed_size > 0
                   ? uint8_t{0}
                   : static_cast<uint8_t>(form + snapshot.velocities);
    default:
        return 0;
    }
}

struct payload {
    const uint8_t *bytes;
    uint32_t size;
};

payload payload_of(const cairn_message &m) {
    switch (m.kind) {
    case CAIRN_MESSAGE_INPUT:
        return {m.input.payload, m.input.payload_size};
    case CAIRN_MESSAGE_TICKS:
        return {m.ticks.payload, m.ticks.payload_size};
    default:
        CAIRN_ASSERT(m.kind == CAIRN_MESSAGE_SNAPSHOT);
        return {m.snapshot.payload, m.snapshot.payload_size};
    }
}

cairn_status encode_short(
    cairn_encoder *encoder, uint8_t form, payload message, const uint8_t **bytes, size_t *size) {
    uint8_t *out = encoder->block.memory;
    if (size_t{1} + message.size > encoder->size_max) {
        return CAIRN_CAPACITY;
    }
    out[0] = form;
    if (message.size > 0) {
        std::memcpy(out + 1, message.bytes, message.size);
    }
    *bytes = out;
    *size = size_t{1} + message.size;
    return CAIRN_OK;
}

cairn_decode_refusal decode_short(
    const uint8_t *bytes, size_t size, cairn_direction direction, cairn_message *m) {
    const auto payload_size = static_cast<uint32_t>(size - 1);
    // The byte may name a kind that does not exist.
    switch (bytes[0] / 4) {
    case CAIRN_MESSAGE_INPUT:
        m->kind = CAIRN_MESSAGE_INPUT;
        m->input.payload = bytes + 1;
        m->input.payload_size = payload_size;
        break;
    case CAIRN_MESSAGE_TICKS:
        m->kind = CAIRN_MESSAGE_TICKS;
        m->ticks.payload = bytes + 1;
        m->ticks.payload_size = payload_size;
        break;
    case CAIRN_MESSAGE_SNAPSHOT:
        m->kind = CAIRN_MESSAGE_SNAPSHOT;
        m->snapshot = cairn_snapshot_message{};
        m->snapshot.payload = bytes + 1;
        m->snapshot.payload_size = payload_size;
        m->snapshot.velocities = bytes[0] % 4 == 2 ? 1 : 0;
        break;
    default:
        return CAIRN_DECODE_NOT_FLATBUFFERS;
    }
    if (bytes[0] != short_form(*m)) {
        return CAIRN_DECODE_NOT_FLATBUFFERS;
    }
    return cairn_message_is_clients(m->kind) == (direction == CAIRN_TO_SERVER)
               ? cairn_message_check(m)
               : CAIRN_DECODE_WRONG_DIRECTION;
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
    if (bytes[0] % 4 != 0) {
        return decode_short(bytes, size, direction, m);
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
    if (cairn_message_is_clients(tag) != (direction == CAIRN_TO_SERVER)) {
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
    const uint8_t form = short_form(*message);
    if (form != 0) {
        return encode_short(encoder, form, payload_of(*message), bytes, size);
    }
    auto &b = encoder->builder;
    begin(b);
    const auto body = put_body(b, message);
    wire::FinishEnvelopeBuffer(
        b, wire::CreateEnvelope(b, static_cast<wire::Message>(message->kind), body));
    return hand_out(encoder, bytes, size);
}

void cairn_ticks_message_finish(uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(size >= 2 && size <= CAIRN_MESSAGE_SIZE_MAX);
    bytes[0] = 4 * CAIRN_MESSAGE_TICKS + 1;
#ifndef NDEBUG
    cairn_message message{};
    CAIRN_ASSERT(decode_short(bytes, size, CAIRN_TO_CLIENT, &message) == CAIRN_DECODE_OK);
#endif
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
