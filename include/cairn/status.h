// SPDX-License-Identifier: MIT
#pragma once

// What a call of ours answers. Wire and file decoders have their own, finer enums of refusals; this
// one is for the caller of a function, who can do something about it.
typedef enum cairn_status {
    CAIRN_OK = 0,
    CAIRN_INVALID_ARGUMENT, // a value is outside what the header allows; nothing was changed
    CAIRN_NON_FINITE,       // a float is NaN or infinite; nothing was changed
    CAIRN_OUT_OF_MEMORY,    // only at create
    CAIRN_CAPACITY,         // a capacity given at create is used up; nothing was changed
    CAIRN_NOT_FOUND,        // an id is null, stale or never existed
    CAIRN_BUFFER_TOO_SMALL, // the caller's buffer; nothing useful was written
    CAIRN_MALFORMED,        // bytes do not follow their format
    CAIRN_VERSION_MISMATCH, // bytes follow another version of their format
    CAIRN_WRONG_STATE,      // the object is not in the state this call needs
    CAIRN_NOT_READY,        // nothing to hand out yet; call again later
    CAIRN_IO_FAILED,        // the operating system refused; errno text is logged by the driver
    CAIRN_STATUS_COUNT
} cairn_status;

// A short lower-case English phrase, static storage, never NULL.
const char *cairn_status_text(cairn_status status);
