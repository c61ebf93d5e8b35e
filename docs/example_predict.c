// SPDX-License-Identifier: MIT
// A predicting client that prints the cause of each rollback. Usage: example_predict TOKEN_FILE
#include <cairn/client.h>
#include <cairn/client_uv.h>
#include <stdio.h>

static uint64_t read_clock(void *context) {
    (void)context;
    return cairn_client_uv_now_ns();
}

// Prints the rollbacks after the first `printed`; returns how many there are in all.
static uint64_t print_rollbacks(const cairn_client *client, uint64_t printed) {
    cairn_client_statistics s;
    cairn_client_rollback rollbacks[CAIRN_CLIENT_ROLLBACKS_HELD];
    cairn_client_statistics_read(client, &s);
    const uint64_t fresh = s.prediction.rollbacks - printed;
    const uint32_t count = cairn_client_rollbacks(client, rollbacks,
        fresh < CAIRN_CLIENT_ROLLBACKS_HELD ? (uint32_t)fresh : CAIRN_CLIENT_ROLLBACKS_HELD);
    for (uint32_t i = 0; i < count; i++) {
        const cairn_client_rollback *r = &rollbacks[i];
        printf("back %u ticks in %.2f ms: %s (%u), %u bodies, at most %.1f mm\n", r->ticks,
            (double)r->cost_ns * 1e-6,
            cairn_client_rollback_cause_text((cairn_client_rollback_cause)r->cause), r->slot,
            r->bodies_moved, (double)r->error_m_max * 1e3);
    }
    return s.prediction.rollbacks;
}

int main(int argc, char **argv) {
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL || fread(token, 1, sizeof token, file) != sizeof token) {
        return 2;
    }
    cairn_client_config config = cairn_client_config_default();
    config.mode = CAIRN_CLIENT_PREDICT;
    config.clock_ns = read_clock; // so that one frame never steps for more than resim_budget_us
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
    cairn_client_input input = {.move = {1, 0, 0}};
    uint64_t printed = 0;
    for (int frame = 1; frame <= 120; frame++) {
        const uint64_t now_ns = cairn_client_uv_frame(driver);
        input.move[0] = frame % 60 < 30 ? 1.0f : -1.0f;
        cairn_client_push_input(client, &input); // shows within a few ticks
        cairn_client_sample_world(client, now_ns, bodies, 256, &world);
        printed = print_rollbacks(client, printed);
    }
    printf("%u bodies %s\n", world.body_count, cairn_client_failure_text(client));
    cairn_client_uv_disconnect(driver);
    cairn_client_uv_close(driver);
    cairn_client_destroy(client);
    return world.body_count > 0 ? 0 : 1;
}
