// SPDX-License-Identifier: MIT
// A server for which the system has no memory is not created, and leaves nothing behind.
#include "tests/kit/test.h"

#include <stdlib.h>

#include <cairn/server.h>

static uint32_t allocations, fails_at; // from 1; 0: none

// They replace those of the system (CMakeLists.txt).
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);

static bool fails(void) {
    allocations += 1;
    return allocations == fails_at;
}

void *__wrap_malloc(size_t size) {
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : __real_calloc(count, size);
}

TEST("a server is not created when any of its allocations fails") {
    static const uint8_t secret[CAIRN_KEY_SIZE] = {1};
    cairn_server_config config = cairn_server_config_default();
    cairn_address address;
    cairn_server *server = NULL;
    assert_true(cairn_address_parse("192.0.2.1:4", &address));
    config.clients_max = 4;
    config.private_key = secret;
    config.entropy = secret;
    config.public_addresses = &address;
    config.public_address_count = 1;
    do {
        allocations = 0;
        fails_at += 1;
        const cairn_status status = cairn_server_create(&config, &server);
        const bool failed = allocations >= fails_at;
        assert_int_equal(status, failed ? CAIRN_OUT_OF_MEMORY : CAIRN_OK);
        assert_int_equal(server == NULL, failed);
    } while (server == NULL);
    assert_true(fails_at > 10);
    fails_at = 0;
    cairn_server_destroy(server);
}
