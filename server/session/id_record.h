// SPDX-License-Identifier: MIT
#pragma once

// Records that outlive a connection, by client id: each begins with this head. A record is in force
// until its time is over, and nothing replaces it before.

#include <stddef.h>
#include <stdint.h>

typedef struct cairn_id_record {
    uint64_t client_id;
    uint64_t until_ns; // 0, or a time that has passed: the record is free
} cairn_id_record;

// The client's record among `count` of `record_size` bytes each; NULL: it has none. A free one is
// in *free; NULL: all are in force.
cairn_id_record *cairn_id_record_find(void *records, size_t record_size, uint32_t count,
    uint64_t client_id, uint64_t now_ns, cairn_id_record **free);
