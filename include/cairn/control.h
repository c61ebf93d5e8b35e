// SPDX-License-Identifier: MIT
#pragma once

// An operator's side of a client: asks a server to pause, step, seek, fork, write into and look
// into its rooms. What each verb reads and answers is a table in docs/PROTOCOL.md, Control. The
// client's token must have the operator's right, and the server must have been started with
// --control; otherwise every answer is a refusal that says so.
//
// Requests go out in order and each is answered once, with its number. A step and a run are
// answered when the room has run; requests after them are answered before. Time-outs are the
// host's: what is not answered after a time it likes is best followed by a disconnect.

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cairn_client; // cairn/client.h

// A client for nothing but this: it watches without a slot. NULL: out of memory.
struct cairn_client *cairn_client_create_operator(void);

// What a verb does not read stays 0. Pointers are the caller's, for the call alone; NULL is empty.
typedef struct cairn_client_request {
    uint32_t verb;
    const char *room; // NULL or "": the client's own; at most 31 characters
    uint64_t tick;
    uint32_t count;
    uint64_t seed;
    const char *name; // at most 255 printable ASCII characters
    uint32_t body;
    uint32_t mask;
    const float *numbers;  // finite
    uint32_t number_count; // at most 64
    const uint8_t *bytes;
    uint32_t byte_count; // at most 4096
} cairn_client_request;

// Sends a request. Returns its number, which its answer carries, or 0 when nothing was sent: the
// client is not welcomed yet, a field is out of its bounds, or too much waits to be sent (advance
// and send, then ask again).
uint32_t cairn_client_ask(struct cairn_client *client, const cairn_client_request *request);

typedef struct cairn_client_reply {
    uint32_t request;
    uint32_t verb;
    uint32_t refusal;  // 0: done; cairn_client_refusal_text names it
    const char *words; // why not, one sentence; ""
    const char *room;  // whose tick and root these are
    uint64_t tick;
    uint64_t root_lo; // full root of that world
    uint64_t root_hi;
    uint32_t count;
    const uint32_t *ids;
    uint32_t id_count;
    const float *numbers;
    uint32_t number_count;
    const uint8_t *bytes; // text of lines, for the verbs that tell facts
    uint32_t byte_count;
} cairn_client_reply;

// The oldest answer that was not taken yet; its pointers last until the next call. False: there is
// none. Sixty-four wait at most; further ones are dropped and counted.
bool cairn_client_next_reply(struct cairn_client *client, cairn_client_reply *out);

// Whether WELCOME has come, so that requests can be sent, and whether it gave the operator's right.
bool cairn_client_welcomed(const struct cairn_client *client);
bool cairn_client_is_operator(const struct cairn_client *client);

// The number of a verb by its text ("run-until"), 0 for none; and the texts of numbers.
uint32_t cairn_client_verb_find(const char *text);
const char *cairn_client_verb_text(uint32_t verb);       // NULL: no verb
const char *cairn_client_refusal_text(uint32_t refusal); // never NULL

#ifdef __cplusplus
}
#endif
