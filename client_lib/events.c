// SPDX-License-Identifier: MIT
// What a client makes of the server's notices: its clock stops with a paused room, and another
// world begins with nothing of the former.
#include "client_lib/client_parts.h"

static void follow_time(cairn_client *client) {
    const bool held = client->paused || client->speed == 0;
    if (held) {
        cairn_clock_pause(&client->clock);
    } else {
        cairn_clock_resume(&client->clock, client->tick_rate_hz, client->speed);
    }
}

static void begin_world(cairn_client *client, const cairn_event_message *notice) {
    client->world_epoch = (uint32_t)notice->value;
    client->welcome_tick = notice->tick;
    cairn_client_clear_world(client);
    cairn_clock_start(&client->clock, client->tick_rate_hz);
    follow_time(client);
    cairn_interpolation_start(&client->interpolation, client->config.interpolation_delay_ms,
        client->config.extrapolation_ms_max);
    client->input_due = true;
    cairn_client_apply_event(client, CAIRN_CONNECTION_WORLD_REPLACED, "");
}

void cairn_client_take_notice(cairn_client *client, const cairn_event_message *notice) {
    switch (notice->kind) {
    case CAIRN_EVENT_PAUSED:
    case CAIRN_EVENT_RESUMED:
        client->paused = notice->kind == CAIRN_EVENT_PAUSED;
        follow_time(client);
        break;
    case CAIRN_EVENT_RATE:
        client->speed = notice->value <= CAIRN_CLOCK_SPEED_MAX ? (uint32_t)notice->value : 0;
        follow_time(client);
        break;
    case CAIRN_EVENT_REPLACED:
        begin_world(client, notice);
        break;
    default:
        break; // nothing follows for the client itself
    }
}
