// SPDX-License-Identifier: MIT
// Messages allocate nothing after the encoder was created. The linker routes the calls of malloc,
// by this program and by the codec, to the counter below. The codec has no operator new.
#include "tests/kit/test.h"

#include "proto_tests/schema/flat.h"
#include "proto_tests/schema/samples.h"

SCOPE_POINTER_ENDS(cairn_encoder, cairn_encoder_destroy)

static uint32_t allocations;

// The names are the linker's.
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size) {
    ++allocations;
    return __real_malloc(size);
}

static flat f;

TEST("ten thousand messages allocate nothing") {
    SCOPED(cairn_encoder) *encoder = NULL;
    assert_int_equal(cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX, &encoder), CAIRN_OK);
    assert_int_equal(allocations, 1); // so the counter works
    allocations = 0;
    // A big-endian machine sets memory aside for the first of each size: schema/byte_order.h.
    const int warm = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 100;
    for (int i = -warm; i < 10000; ++i) {
        allocations = i < 0 ? 0 : allocations;
        const cairn_message_kind kind = (cairn_message_kind)(1 + (i + warm) % 10);
        const cairn_message message = sample_message(kind);
        cairn_message decoded;
        flat_encode_message(&f, encoder, &message);
        assert_int_equal(
            cairn_message_decode(f.bytes, f.size, sample_direction(kind), &decoded), 0);
        f.bytes[f.size / 2] ^= 0x55;
        (void)cairn_message_decode(f.bytes, f.size, sample_direction(kind), &decoded);
    }
    assert_int_equal(allocations, 0);
}
