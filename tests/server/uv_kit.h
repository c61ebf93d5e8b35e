// SPDX-License-Identifier: MIT
#pragma once

// Servers behind a real socket on loopback.

#include <cairn/server.h>
#include <cairn/server_uv.h>

// Of a server at `bound`, which must live until it is created, with a fixed key.
static inline cairn_server_config kit_uv_config(const cairn_address *bound) {
    static const uint8_t secret[CAIRN_KEY_SIZE] = {1};
    cairn_server_config config = cairn_server_config_default();
    config.private_key = secret;
    config.entropy = secret;
    config.public_addresses = bound;
    config.public_address_count = 1;
    config.start_ns = cairn_uv_now_ns();
    return config;
}
