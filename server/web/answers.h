// SPDX-License-Identifier: MIT
#pragma once

// What the loop's thread answers to the thread of the web: all that is read from the server.

#include <stdint.h>

#include "program/key.h"
#include "server/web/questions.h"
#include <cairn/status.h>

struct cairn_server;
struct cairn_uv_driver;

typedef struct cairn_web_answers cairn_web_answers;

// Members as of cairn_web_config, where they are not explained.
typedef struct cairn_web_answers_config {
    struct cairn_server *server;
    struct cairn_uv_driver *driver;
    cairn_questions *questions;
    const cairn_key *dev_key; // copied; NULL: no question is about tokens
    cairn_address public_address;
    uint32_t token_lifetime_s;
    uint64_t protocol_id;
    uint64_t (*frames_not_sent)(void *user); // datagrams that the thread did not take in time
    void *user;
    uint64_t (*log_lines_lost)(void *user);
    uint64_t (*log_bytes_waiting)(void *user);
    void *log_user;
} cairn_web_answers_config;

// CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_web_answers_create(
    const cairn_web_answers_config *config, cairn_web_answers **out);
void cairn_web_answers_destroy(cairn_web_answers *answers); // NULL is allowed

// Answers what was asked; operators get their answers later.
void cairn_web_answers_give(cairn_web_answers *answers);
