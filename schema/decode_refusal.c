// SPDX-License-Identifier: MIT
#include "schema/decode_refusal.h"

#include "base/assert.h"

const char *cairn_decode_refusal_text(cairn_decode_refusal refusal) {
    static const char *const texts[CAIRN_DECODE_REFUSAL_COUNT] = {
        [CAIRN_DECODE_OK] = "ok",
        [CAIRN_DECODE_EMPTY] = "empty or too large",
        [CAIRN_DECODE_NOT_FLATBUFFERS] = "not a FlatBuffers message of this schema",
        [CAIRN_DECODE_UNKNOWN_KIND] = "unknown message kind",
        [CAIRN_DECODE_COUNT_LIMIT] = "too many elements",
        [CAIRN_DECODE_MISSING_FIELD] = "a field is missing",
        [CAIRN_DECODE_NON_FINITE] = "a float is not finite",
        [CAIRN_DECODE_OUT_OF_RANGE] = "a value is out of range",
        [CAIRN_DECODE_ORDER] = "ticks or ids are out of order",
        [CAIRN_DECODE_TEXT] = "a text is too long or not printable",
        [CAIRN_DECODE_WRONG_DIRECTION] = "a message that only the other side may send",
    };
    if ((unsigned)refusal >= CAIRN_DECODE_REFUSAL_COUNT) {
        return "unknown refusal";
    }
    CAIRN_ASSERT(texts[refusal][0] != '\0');
    return texts[refusal];
}
