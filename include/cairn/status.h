// SPDX-License-Identifier: MIT
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// The result of a function call. It has only the causes that a caller can act on; decoders of
// datagrams and files have finer enums.
typedef enum cairn_status {
    CAIRN_OK = 0,
    CAIRN_INVALID_ARGUMENT, // a value is outside what the header allows; nothing was changed
    CAIRN_NON_FINITE,       // a float is NaN or infinite; nothing was changed
    CAIRN_OUT_OF_MEMORY,    // only at create
    CAIRN_CAPACITY,         // a capacity given at create is used up; nothing was changed
    CAIRN_NOT_FOUND,        // an id is null, stale or never existed
    CAIRN_BUFFER_TOO_SMALL, // the caller's buffer is too small; its content is undefined
    CAIRN_MALFORMED,        // bytes do not follow their format
    CAIRN_VERSION_MISMATCH, // bytes follow another version of their format
    CAIRN_WRONG_STATE,      // the object is not in the state this call needs
    CAIRN_NOT_READY,        // nothing to hand out yet; call again later
    CAIRN_IO_FAILED,        // the operating system refused; the driver logs the errno text
    CAIRN_STATUS_COUNT
} cairn_status;

// A short lower-case English phrase, static storage, never NULL.
const char *cairn_status_text(cairn_status status);

#ifdef __cplusplus
}
#endif
