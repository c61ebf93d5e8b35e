// SPDX-License-Identifier: MIT
#include <cairn/status.h>

#include "base/assert.h"

static const char *const texts[CAIRN_STATUS_COUNT] = {
    [CAIRN_OK] = "ok",
    [CAIRN_INVALID_ARGUMENT] = "invalid argument",
    [CAIRN_NON_FINITE] = "value is not finite",
    [CAIRN_OUT_OF_MEMORY] = "out of memory",
    [CAIRN_CAPACITY] = "capacity used up",
    [CAIRN_NOT_FOUND] = "not found",
    [CAIRN_BUFFER_TOO_SMALL] = "buffer too small",
    [CAIRN_MALFORMED] = "malformed bytes",
    [CAIRN_VERSION_MISMATCH] = "version mismatch",
    [CAIRN_WRONG_STATE] = "wrong state",
    [CAIRN_NOT_READY] = "not ready",
    [CAIRN_IO_FAILED] = "input or output failed",
};

const char *cairn_status_text(cairn_status status) {
    if ((unsigned)status >= CAIRN_STATUS_COUNT) {
        return "unknown status";
    }
    CAIRN_ASSERT(texts[status][0] != '\0');
    return texts[status];
}
