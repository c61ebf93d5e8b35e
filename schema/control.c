// SPDX-License-Identifier: MIT
#include "schema/control.h"

#include <stddef.h>
#include <string.h>

#include "base/assert.h"
#include "schema/control_tables.h"

static const char *copy_text(char *out, size_t size, const char *text) {
    CAIRN_ASSERT(text != NULL);
    const size_t length = strlen(text);
    CAIRN_ASSERT(length < size);
    memcpy(out, text, length + 1);
    return out;
}

static const uint8_t *copy_bytes(uint8_t *out, const uint8_t *bytes, uint32_t count) {
    CAIRN_ASSERT(bytes != NULL || count == 0);
    CAIRN_ASSERT(count <= CAIRN_CONTROL_PIECE_SIZE_MAX);
    if (count > 0) {
        memcpy(out, bytes, count);
    }
    return out;
}

static const cairn_vec3 *copy_points(cairn_vec3 *out, const cairn_vec3 *points, uint32_t count) {
    CAIRN_ASSERT(points != NULL || count == 0);
    CAIRN_ASSERT(count <= CAIRN_CONTROL_POINTS_MAX);
    for (uint32_t i = 0; i < count; ++i) {
        out[i] = points[i];
    }
    return out;
}

static const void *copy_elements(void *out, const void *elements, size_t size) {
    if (size > 0) {
        memcpy(out, elements, size);
    }
    return out;
}

#define COPY_NUMBER(FIELD, field)
#define COPY_REAL(FIELD, field)
#define COPY_VEC3(FIELD, field)
#define COPY_LIMITED_TEXT(FIELD, field, size_max)                                                  \
    CAIRN_ASSERT(text_count < CAIRN_CONTROL_TEXTS_MAX);                                            \
    m->field = copy_text(copy->texts[text_count++], sizeof copy->texts[0], m->field);
#define COPY_LIMITED_BYTES(FIELD, field, count, count_max)                                         \
    m->field = copy_bytes(copy->bytes, m->field, m->count);
#define COPY_POINTS(FIELD, field, count, count_max)                                                \
    m->field = copy_points(copy->points, m->field, m->count);
#define COPY_LIST(FIELD, field, count, element, Wire, count_max)                                   \
    CAIRN_ASSERT(m->count <= count_max);                                                           \
    m->field = copy_elements(copy->lists.element, m->field, m->count * sizeof *m->field);
#define COPY_OF(KIND, ...) COPY_##KIND(__VA_ARGS__)
#define COPY_REQUEST(VERB, member, structure, Table)                                               \
    case CAIRN_CONTROL_##VERB: {                                                                   \
        cairn_control_##structure *m = &copy->request.member;                                      \
        (void)m;                                                                                   \
        CONTROL_MEMBERS_##structure(COPY_OF) break;                                                \
    }

void cairn_control_request_copy_from(
    cairn_control_request_copy *copy, const cairn_control_request *request) {
    CAIRN_ASSERT(copy != NULL && request != NULL);
    uint32_t text_count = 0;
    copy->request = *request;
    copy->request.room = copy_text(copy->room, sizeof copy->room, request->room);
    switch (copy->request.verb) {
        EACH_CONTROL_REQUEST(COPY_REQUEST)
    default: // takes no arguments, or is unknown
        break;
    }
}
