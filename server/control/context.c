// SPDX-License-Identifier: MIT
#include "server/control/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"

cairn_control_refusal cairn_control_refuse(
    cairn_control_context *c, cairn_control_refusal refusal, const char *format, ...) {
    CAIRN_ASSERT(refusal > CAIRN_CONTROL_DONE && refusal < CAIRN_CONTROL_REFUSAL_COUNT);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->reason, CAIRN_TEXT_SIZE_MAX + 1, format, arguments);
    va_end(arguments);
    return refusal;
}

cairn_control_refusal cairn_control_refuse_running(cairn_control_context *c) {
    CAIRN_ASSERT(c->room->control_wait.waits);
    return cairn_control_refuse(
        c, CAIRN_CONTROL_BUSY, "another request makes the room run; pause it first");
}

void cairn_control_name_set(char name[CAIRN_NAME_SIZE_MAX + 1], const char *text) {
    const size_t length = strlen(text);
    const size_t size = length < CAIRN_NAME_SIZE_MAX ? length : CAIRN_NAME_SIZE_MAX;
    memset(name, 0, CAIRN_NAME_SIZE_MAX + 1);
    memcpy(name, text, size);
}
