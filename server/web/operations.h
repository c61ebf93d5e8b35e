// SPDX-License-Identifier: MIT
#pragma once

// What operators asked by HTTP (server/web/control.h), carried out on the loop's thread.

#include "server/web/questions.h"
#include <cairn/status.h>

struct cairn_server;
struct cairn_uv_driver;

typedef struct cairn_operations cairn_operations;

// CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_operations_create(struct cairn_server *server, struct cairn_uv_driver *driver,
    cairn_questions *questions, cairn_operations **out);
// The server forgets what it was asked. NULL is allowed.
void cairn_operations_destroy(cairn_operations *operations);

// A question of the kind CONTROL or DRAIN; answered now or later.
void cairn_operations_begin(cairn_operations *operations, cairn_question *question);
// Peers may have left: the server forgets what they asked.
void cairn_operations_forget_left(cairn_operations *operations);

// What was carried out, and what the server refused to begin.
const cairn_web_control_statistics *cairn_operations_statistics(const cairn_operations *operations);
