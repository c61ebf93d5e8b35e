// SPDX-License-Identifier: MIT
#include <cairn/client.h>
#include <cairn/client_uv.h>
#include <stdio.h>

int main(int argc, char **argv) {
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]; // from your backend, or from cairn-token
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL || fread(token, 1, sizeof token, file) != sizeof token) {
        return 2;
    }
    cairn_client_config config = cairn_client_config_default();
    cairn_client *client = NULL;
    if (cairn_client_create(&config, &client) != CAIRN_OK) {
        return 2;
    }
    cairn_client_uv_config driver_config = {.client = client, .frame_rate_hz = 60};
    cairn_client_uv *driver = NULL;
    if (cairn_client_uv_open(&driver_config, &driver) != CAIRN_OK) {
        return 2;
    }
    cairn_client_uv_connect(driver, token);

    cairn_client_body bodies[256];
    cairn_client_sample world = {0};
    cairn_client_input input = {.move = {1, 0, 0}}; // to the right, all the time
    for (int frame = 1; frame <= 120; frame++) {
        uint64_t now_ns = cairn_client_uv_frame(driver); // receives, sends, sleeps
        cairn_client_push_input(client, &input);
        if (cairn_client_sample_world(client, now_ns, bodies, 256, &world) && frame % 40 == 0) {
            printf("tick %.1f: %u bodies\n", world.tick, world.body_count);
        }
    }
    printf("%s\n", cairn_client_failure_text(client)); // empty when all went well
    cairn_client_uv_disconnect(driver);
    cairn_client_uv_close(driver);
    cairn_client_destroy(client);
    return world.body_count > 0 ? 0 : 1;
}
