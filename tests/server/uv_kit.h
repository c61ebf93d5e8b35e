// SPDX-License-Identifier: MIT
#pragma once

// Servers behind a real socket on loopback.

#include "tests/kit/scenes.h"
#include "tests/kit/test.h"
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

// One that operators may use, with a room "main" of kit_scene_stack_and_row.
static inline cairn_server *kit_uv_server(const cairn_address *bound) {
    cairn_server *server;
    uint32_t room;
    cairn_server_config config = kit_uv_config(bound);
    config.control = true;
    assert_int_equal(cairn_server_create(&config, &server), CAIRN_OK);
    cairn_server_room_config hosted = cairn_server_room_config_default();
    hosted.name = "main";
    hosted.scene = kit_scene_stack_and_row();
    assert_int_equal(cairn_server_room_create(server, cairn_uv_now_ns(), &hosted, &room, NULL),
        CAIRN_ROOM_CREATED);
    return server;
}
