// SPDX-License-Identifier: MIT
// A server of one's own, without sockets: a scene from text, a room, and some ticks.
#include <stdio.h>
#include <string.h>

#include <cairn/scene.h>
#include <cairn/server.h>
#include <cairn/version.h>

int main(void) {
    static const char json[] = "{ \"name\": \"floor\", \"bodies\": [ { \"kind\": \"static\" } ] }";
    static const uint8_t secret[32] = {1};
    static const cairn_address address = {.family = CAIRN_ADDRESS_IPV4, .port = 9, .ip = {127}};
    char error[CAIRN_SCENE_ERROR_SIZE];
    cairn_scene *scene = NULL;
    if (cairn_scene_parse(json, strlen(json), &scene, error) != CAIRN_OK) {
        printf("%s\n", error);
        return 1;
    }
    cairn_server_config config = cairn_server_config_default();
    config.private_key = secret;
    config.entropy = secret;
    config.public_addresses = &address;
    config.public_address_count = 1;
    config.first_room.scene = scene;
    cairn_server *server = NULL;
    const cairn_status status = cairn_server_create(&config, &server);
    cairn_scene_destroy(scene);
    if (status != CAIRN_OK) {
        printf("%s\n", cairn_status_text(status));
        return 1;
    }
    cairn_server_advance(server, UINT64_C(100000000));
    cairn_server_room_info room;
    const bool there = cairn_server_room_read(server, CAIRN_ROOM_MAIN, &room);
    cairn_server_destroy(server);
    return there && cairn_version() == CAIRN_VERSION ? 0 : 1;
}
