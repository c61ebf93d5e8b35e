// SPDX-License-Identifier: MIT
// What a snapshot of a few moving bodies costs a client that interpolates, and where the bytes go.
// The run prints its figures.
#include "tests/kit/test.h"

#include <stdio.h>
#include <string.h>

#include "net/link.h"
#include "schema/snapshot_head.h"
#include "tests/kit/rig.h"

#define WARM_UP_MS 3000
#define MEASURED_MS 10000

// Of the snapshots that the server sent, in bytes.
typedef struct parts {
    double count;
    double table; // around the payload
    double head;
    double bodies;
} parts;

static parts sent;

// The test is linked with --wrap=cairn_link_send_unreliable.
cairn_status __real_cairn_link_send_unreliable(cairn_link *link, const uint8_t *bytes, size_t size);
cairn_status __wrap_cairn_link_send_unreliable(cairn_link *link, const uint8_t *bytes, size_t size);
cairn_status __wrap_cairn_link_send_unreliable(
    cairn_link *link, const uint8_t *bytes, size_t size) {
    cairn_message message;
    cairn_snapshot_head head;
    if (cairn_message_decode(bytes, size, CAIRN_TO_CLIENT, &message) == CAIRN_DECODE_OK &&
        message.kind == CAIRN_MESSAGE_SNAPSHOT) {
        const uint32_t payload = message.snapshot.payload_size;
        const size_t of_head = cairn_snapshot_head_read(message.snapshot.payload, payload, &head);
        sent.count += 1;
        sent.table += (double)(size - payload);
        sent.head += (double)of_head;
        sent.bodies += (double)(payload - of_head);
    }
    return __real_cairn_link_send_unreliable(link, bytes, size);
}

// Balls that bounce for ever, each on its own and from another height.
static const cairn_scene *balls(uint32_t count) {
    static char texts[32][4096]; // scenes are kept by the place of their text
    char *json = texts[count];
    const size_t room = sizeof texts[0];
    size_t at = (size_t)snprintf(json, room,
        "{'name': 'balls', 'tick_rate_hz': 60, 'sleep': false, 'bodies': ["
        "{'kind': 'static', 'shapes': [{'kind': 'half_space', 'restitution': 1}]}");
    for (uint32_t i = 0; i < count; ++i) {
        at += (size_t)snprintf(json + at, room - at,
            ",{'kind': 'dynamic', 'position': [%u, %.2f, 0],"
            " 'shapes': [{'kind': 'sphere', 'radius': 0.5, 'restitution': 1}]}",
            2 * i, 2.0 + 0.37 * i);
    }
    (void)snprintf(json + at, room - at, "]}");
    return kit_scene(json);
}

// Returns the bytes of a snapshot with all headers.
static double measure(uint32_t count) {
    RIG(r, .seed = 1, .scene = balls(count), .clients = 1, .interpolating = 1, .delay_ms = 25);
    rig_run_ms(&r, WARM_UP_MS);
    const uint32_t to = r.system.clients[0].endpoint;
    const uint64_t before =
        cairn_virtual_traffic_between(r.system.network, r.system.server_endpoint, to).bytes;
    sent = (parts){0};
    rig_run_ms(&r, MEASURED_MS);
    const uint64_t after =
        cairn_virtual_traffic_between(r.system.network, r.system.server_endpoint, to).bytes;
    const double all = (double)(after - before) / sent.count;
    printf(
        "%2u bodies: %5.1f bytes; table %4.1f, head %4.1f, bodies %5.1f, headers and acks %4.1f\n",
        count, all, sent.table / sent.count, sent.head / sent.count, sent.bodies / sent.count,
        all - (sent.table + sent.head + sent.bodies) / sent.count);
    return all;
}

TEST("a snapshot of a few bodies is not mostly wrapping") {
    static const struct row {
        uint32_t bodies;
        double most;
    } rows[] = {{1, 66}, {5, 75}, {10, 85}, {20, 105}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const double all = measure(rows[i].bodies);
        if (all > rows[i].most) {
            fail_msg("%u bodies: more than %.0f bytes", rows[i].bodies, rows[i].most);
        }
        assert_true(sent.table <= sent.count); // one byte each
    }
}
