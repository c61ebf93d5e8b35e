// SPDX-License-Identifier: MIT
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Why bytes were refused. Every decoder keeps one counter for each reason.
typedef enum cairn_decode_refusal {
    CAIRN_DECODE_OK = 0,
    CAIRN_DECODE_EMPTY,           // no bytes, or more than CAIRN_MESSAGE_SIZE_MAX
    CAIRN_DECODE_NOT_FLATBUFFERS, // the FlatBuffers verifier failed
    CAIRN_DECODE_UNKNOWN_KIND,    // union tag unknown, or its body missing
    CAIRN_DECODE_COUNT_LIMIT,     // a vector is longer than its limit
    CAIRN_DECODE_MISSING_FIELD,   // a required vector or string is missing
    CAIRN_DECODE_NON_FINITE,      // a float is NaN or infinite
    CAIRN_DECODE_OUT_OF_RANGE,    // an enum, slot, size or offset is outside its range
    CAIRN_DECODE_ORDER,           // ticks or ids are not in the order the message promises
    CAIRN_DECODE_TEXT,            // a string is too long or not printable ASCII
    CAIRN_DECODE_WRONG_DIRECTION, // a client's kind at a client, or a server's at a server
    CAIRN_DECODE_REFUSAL_COUNT
} cairn_decode_refusal;

const char *cairn_decode_refusal_text(cairn_decode_refusal refusal);

#ifdef __cplusplus
}
#endif
