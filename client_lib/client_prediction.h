// SPDX-License-Identifier: MIT
#pragma once

// How a client predicts: the settings, the clock and the delay controller on one side, the world
// that runs ahead (simulate/predict.h) on the other. For a client that does not predict the first
// three functions do nothing.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/client.h>

bool cairn_client_predicts(const cairn_client *client);
void cairn_client_prediction_create(cairn_client *client);
// WELCOME was taken: the tick rate is known.
void cairn_client_prediction_start(cairn_client *client);
// A state was loaded. CAIRN_OUT_OF_MEMORY.
cairn_status cairn_client_prediction_load(cairn_client *client);
void cairn_client_prediction_advance(cairn_client *client, uint64_t now_ns);
bool cairn_client_prediction_sample(cairn_client *client, uint64_t now_ns,
    cairn_client_body *bodies, uint32_t body_capacity, cairn_client_sample *out);
// From the last advance until the next predicted step is to be shown; UINT64_MAX if the client does
// not predict.
uint64_t cairn_client_prediction_rest_ns(const cairn_client *client);
