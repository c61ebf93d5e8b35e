// SPDX-License-Identifier: MIT
#pragma once

// Clients of a web server on its own thread: each time one waits, all sides have a turn, so a test
// goes as fast as they do and needs no other thread.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include <cairn/types.h>

// The longest wait; it ends a test that fails.
#define KIT_PATIENCE_NS (10 * CAIRN_NS_PER_S)
#define KIT_ANSWER_MAX (1 << 20)

typedef struct kit_answer {
    int status; // 0: none came
    size_t size;
    char head[4096];
    char body[KIT_ANSWER_MAX + 1]; // a zero follows it
} kit_answer;

extern kit_answer kit_answered; // the newest
// A turn of everything that serves, without waiting; set by the test.
extern void (*kit_turn)(void);

// The loop of the server; one at a time.
struct uv_loop_s *kit_loop_open(void);
void kit_loop_turn(void);
void kit_loop_close(void); // expects that all of its handles are closed, or close in some turns

// `buffer`: how much the system keeps for this client to read; 0: as it likes.
int kit_dial(const cairn_address *to, int buffer);
void kit_say(int fd, const void *bytes, size_t size);
// Returns how much came before the connection was closed: `size`, or less.
size_t kit_hear(int fd, void *out, size_t size);
// The head of an answer; its body waits to be read. Returns the status.
int kit_hear_head(int fd);
int kit_ask(int fd, const char *text);
// One request of a connection of its own.
int kit_ask_once(const cairn_address *to, const char *text);

int kit_open_socket(const cairn_address *to); // a WebSocket
// A piece of a message: `first` begins one, `last` ends it.
void kit_say_piece(int fd, bool first, bool last, const uint8_t *bytes, uint16_t size);
