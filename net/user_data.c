// SPDX-License-Identifier: MIT
#include <cairn/token.h>

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"

#define MAGIC_SIZE 8
#define VERSION 1
#define RIGHTS_KNOWN CAIRN_USER_RIGHT_OPERATOR

static const uint8_t magic[MAGIC_SIZE] = {'c', 'a', 'i', 'r', 'n', 'u', 's', 'r'};

uint32_t cairn_user_data_rights(const uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE]) {
    cairn_reader reader = cairn_reader_of(user_data, CAIRN_TOKEN_USER_DATA_SIZE);
    const uint8_t *head = cairn_read_view(&reader, MAGIC_SIZE);
    const uint32_t version = cairn_read_u32(&reader);
    const uint32_t rights = cairn_read_u32(&reader);
    CAIRN_ASSERT(reader.ok);
    const bool ours = memcmp(head, magic, MAGIC_SIZE) == 0 && version == VERSION;
    return ours ? rights & RIGHTS_KNOWN : 0;
}

void cairn_user_data_write(uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE], uint32_t rights) {
    cairn_writer writer = cairn_writer_of(user_data, CAIRN_TOKEN_USER_DATA_SIZE);
    cairn_write_bytes(&writer, magic, MAGIC_SIZE);
    cairn_write_u32(&writer, VERSION);
    cairn_write_u32(&writer, rights);
    CAIRN_ASSERT(writer.ok);
}
