// SPDX-License-Identifier: MIT
// A predicting client of the game in docs/example_arena.c. usage: client TOKEN_FILE
#include <stdio.h>

#include <cairn/client.h>
#include <cairn/client_uv.h>
#include <cairn/rules.h>

extern const cairn_rules example_arena;

int main(int argc, char **argv) {
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    cairn_client_config config = cairn_client_config_default();
    cairn_client *client = NULL;
    cairn_client_uv *driver = NULL;
    config.mode = CAIRN_CLIENT_PREDICT;
    config.rules = &example_arena;
    if (file == NULL || fread(token, 1, sizeof token, file) != sizeof token ||
        cairn_client_create(&config, &client) != CAIRN_OK) {
        return 2;
    }
    const cairn_client_uv_config driven = {.client = client, .frame_rate_hz = 60};
    if (cairn_client_uv_open(&driven, &driver) != CAIRN_OK) {
        return 2;
    }
    cairn_client_uv_connect(driver, token);
    for (int frame = 0; frame < 120; ++frame) {
        const cairn_client_input input = {.move = {frame % 60 < 30 ? 1.0f : -1.0f, 0.0f, 0.0f}};
        cairn_client_uv_frame(driver);
        cairn_client_push_input(client, &input);
    }
    cairn_client_statistics s;
    cairn_client_statistics_read(client, &s);
    const bool predicts = cairn_client_mode_now(client) == CAIRN_CLIENT_PREDICT;
    printf("%s: %llu state hashes compared, %llu differed; %s%s\n",
        predicts ? "predicts" : "does not predict", (unsigned long long)s.simulation.roots_compared,
        (unsigned long long)s.simulation.roots_differed, cairn_client_failure_text(client),
        cairn_client_mode_text(client));
    cairn_client_uv_disconnect(driver);
    cairn_client_uv_close(driver);
    cairn_client_destroy(client);
    return predicts && s.simulation.roots_compared > 30 && s.simulation.roots_differed == 0 ? 0 : 1;
}
