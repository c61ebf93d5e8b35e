// SPDX-License-Identifier: MIT
#include "recording/pack.h"

#include <zstd.h>

#include "base/assert.h"

// Higher levels take twice as long and hardly make states smaller.
#define LEVEL 1

cairn_status cairn_packer_create(cairn_packer **out) {
    *out = (cairn_packer *)ZSTD_createCCtx();
    return *out == NULL ? CAIRN_OUT_OF_MEMORY : CAIRN_OK;
}

void cairn_packer_destroy(cairn_packer *packer) {
    ZSTD_freeCCtx((ZSTD_CCtx *)packer);
}

size_t cairn_pack(
    cairn_packer *packer, const uint8_t *bytes, size_t size, uint8_t *out, size_t room) {
    CAIRN_ASSERT(bytes != NULL && size > 0 && out != NULL);
    const size_t packed = ZSTD_compressCCtx((ZSTD_CCtx *)packer, out, room, bytes, size, LEVEL);
    CAIRN_ASSERT(ZSTD_isError(packed) || packed <= room);
    return ZSTD_isError(packed) ? 0 : packed;
}

const cairn_packing_functions cairn_packing_zstd = {
    .create = cairn_packer_create, .destroy = cairn_packer_destroy, .pack = cairn_pack};

const char *cairn_unpack_refusal_text(cairn_unpack_refusal refusal) {
    static const char *const texts[CAIRN_UNPACK_REFUSAL_COUNT] = {
        [CAIRN_UNPACK_OK] = "unpacks",
        [CAIRN_UNPACK_NO_FRAME] = "is not one zstd frame",
        [CAIRN_UNPACK_WRONG_SIZE] = "its unpacked size differs from that in its head",
        [CAIRN_UNPACK_DAMAGED] = "cannot be unpacked",
    };
    return (unsigned)refusal < CAIRN_UNPACK_REFUSAL_COUNT ? texts[refusal] : "unknown refusal";
}

cairn_status cairn_unpacker_create(cairn_unpacker **out) {
    *out = (cairn_unpacker *)ZSTD_createDCtx();
    return *out == NULL ? CAIRN_OUT_OF_MEMORY : CAIRN_OK;
}

void cairn_unpacker_destroy(cairn_unpacker *unpacker) {
    ZSTD_freeDCtx((ZSTD_DCtx *)unpacker);
}

cairn_unpack_refusal cairn_unpack(
    cairn_unpacker *unpacker, const uint8_t *packed, size_t size, uint8_t *out, size_t raw_size) {
    CAIRN_ASSERT(packed != NULL && out != NULL);
    const unsigned long long content = ZSTD_getFrameContentSize(packed, size);
    if (content == ZSTD_CONTENTSIZE_ERROR || content == ZSTD_CONTENTSIZE_UNKNOWN ||
        ZSTD_findFrameCompressedSize(packed, size) != size) {
        return CAIRN_UNPACK_NO_FRAME;
    }
    if (content != raw_size) {
        return CAIRN_UNPACK_WRONG_SIZE;
    }
    const size_t written = ZSTD_decompressDCtx((ZSTD_DCtx *)unpacker, out, raw_size, packed, size);
    return written == raw_size ? CAIRN_UNPACK_OK : CAIRN_UNPACK_DAMAGED;
}
