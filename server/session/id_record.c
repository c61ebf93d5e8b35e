// SPDX-License-Identifier: MIT
#include "server/session/id_record.h"

#include "base/assert.h"

cairn_id_record *cairn_id_record_find(void *records, size_t record_size, uint32_t count,
    uint64_t client_id, uint64_t now_ns, cairn_id_record **free) {
    CAIRN_ASSERT(record_size >= sizeof(cairn_id_record));
    uint8_t *at = records;
    *free = NULL;
    for (uint32_t i = 0; i < count; ++i, at += record_size) {
        cairn_id_record *record = (cairn_id_record *)(void *)at;
        if (record->until_ns <= now_ns) {
            *free = record;
        } else if (record->client_id == client_id) {
            return record;
        }
    }
    return NULL;
}
