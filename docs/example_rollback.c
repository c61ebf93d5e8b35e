// SPDX-License-Identifier: MIT
// Rollback between two peers over any transport (docs/ROLLBACK.md). The program plays two peers
// over a bad one and ends with 0 if both have the same confirmed worlds. Usage: example_rollback
#include <cairn/history.h>
#include <cairn/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAYERS = 2, WINDOW = 32, REPEATED = 16 };

// What travels: a player's last inputs, so that a lost message does not matter.
typedef struct message {
    uint64_t tick; // of the newest input; inputs[i] is that of tick - i
    uint32_t slot;
    cairn_command inputs[REPEATED];
} message;

typedef struct peer {
    cairn_world *world;
    uint32_t slot;
    cairn_command inputs[PLAYERS][WINDOW]; // by tick % WINDOW, predicted from `known` on
    uint64_t known[PLAYERS];               // ticks of which the inputs are known
    uint64_t wrong;                        // the first tick stepped with a wrong input, or NONE
    cairn_history *past;                   // the state before each tick
} peer;

static void step(peer *p) {
    const uint64_t tick = cairn_world_tick(p->world);
    cairn_command commands[PLAYERS];
    cairn_history_save(p->past, CAIRN_TICK_NONE); // the oldest state may go
    for (uint32_t slot = 0; slot < PLAYERS; ++slot) {
        cairn_command *input = &p->inputs[slot][tick % WINDOW];
        if (tick >= p->known[slot]) { // predict: the last input is held
            *input = p->inputs[slot][(tick + WINDOW - 1) % WINDOW];
        }
        commands[slot] = *input;
    }
    cairn_commands_sort(commands, PLAYERS);
    cairn_world_step(p->world, commands, PLAYERS);
}

// Takes a message from anywhere, in any order, any number of times.
static void receive(peer *p, const message *m) {
    const uint64_t tick = cairn_world_tick(p->world), known = p->known[m->slot];
    for (uint64_t t = known; t <= m->tick && m->tick - t < REPEATED && t < known + WINDOW; ++t) {
        cairn_command *input = &p->inputs[m->slot][t % WINDOW];
        const cairn_command *arrived = &m->inputs[m->tick - t];
        if (t < tick && t < p->wrong && memcmp(input, arrived, sizeof *input) != 0) {
            p->wrong = t; // stepped with another input than the player's
        }
        *input = *arrived;
        p->known[m->slot] = t + 1;
    }
}

// Once per tick of the host's clock: goes back if a prediction was wrong, takes the player's input,
// steps, and fills the message to send. False: the other peer is too far behind; try again later.
static bool advance(peer *p, cairn_command input, message *out) {
    const uint64_t tick = cairn_world_tick(p->world);
    if (p->wrong != CAIRN_TICK_NONE) {
        cairn_history_restore(p->past, p->wrong);
        p->wrong = CAIRN_TICK_NONE;
        while (cairn_world_tick(p->world) < tick) {
            step(p);
        }
    }
    if (tick >= p->known[1 - p->slot] + REPEATED - 1) {
        return false;
    }
    p->inputs[p->slot][tick % WINDOW] = input;
    p->known[p->slot] = tick + 1;
    step(p);
    *out = (message){.tick = tick, .slot = p->slot};
    for (uint64_t i = 0; i < REPEATED && i <= tick; ++i) {
        out->inputs[i] = p->inputs[p->slot][(tick - i) % WINDOW];
    }
    return true;
}

// ---- two peers and a transport that delays and loses messages

enum { TICKS = 600, DELAY = 5, HASHES = 20, QUEUE = 64 };

typedef struct queue {
    message messages[QUEUE];
    uint32_t due[QUEUE]; // frame of arrival; 0: free
} queue;

static uint32_t random_below(uint32_t bound) {
    static uint64_t count;
    return (uint32_t)(cairn_random_at(1, count++, 0, 0) % bound);
}

static void carry(queue *q, const message *m, uint32_t frame) {
    if (random_below(10) == 0) {
        return; // lost
    }
    for (uint32_t i = 0; i < QUEUE; ++i) {
        if (q->due[i] == 0) {
            q->messages[i] = *m;
            q->due[i] = frame + 1 + random_below(2 * DELAY);
            return;
        }
    }
}

static void deliver(queue *q, peer *to, uint32_t frame) {
    for (uint32_t i = 0; i < QUEUE; ++i) {
        if (q->due[i] != 0 && q->due[i] <= frame) {
            receive(to, &q->messages[i]);
            q->due[i] = 0;
        }
    }
}

// A player that changes direction, jumps and throws.
static cairn_command play(uint32_t slot, uint64_t tick) {
    const uint64_t random = cairn_random_at(2, tick / 20, slot, 0);
    return (cairn_command){.kind = tick == 0 ? CAIRN_COMMAND_JOIN : CAIRN_COMMAND_INPUT,
        .slot = slot,
        .buttons =
            tick == 0 ? 0 : (uint32_t)(random >> 8) & (CAIRN_SANDBOX_JUMP | CAIRN_SANDBOX_THROW),
        .move = {.x = tick == 0 ? 0.0f : (float)(random % 3) - 1.0f, .z = tick == 0 ? 0.0f : 1.0f},
        .aim = {.x = tick == 0 ? 0.0f : 1.0f}};
}

static cairn_world *arena(void) {
    cairn_world *world = NULL;
    cairn_world_def def = cairn_world_def_default();
    def.rules = &cairn_rules_sandbox;
    if (cairn_world_create(&def, &world) != CAIRN_OK) {
        exit(2);
    }
    for (uint32_t i = 0; i < 31; ++i) {
        cairn_body_def body = cairn_body_def_default();
        cairn_shape_def shape = cairn_shape_def_default();
        cairn_body_id id = 0;
        cairn_shape_id shape_id = 0;
        body.kind = i == 0 ? CAIRN_BODY_STATIC : CAIRN_BODY_DYNAMIC;
        shape.kind = i == 0 ? CAIRN_SHAPE_HALF_SPACE : CAIRN_SHAPE_BOX;
        body.position = (cairn_vec3){.x = 2.0f * (float)(i % 6) - 5.0f,
            .y = i == 0 ? 0.0f : 0.5f,
            .z = 2.0f * (float)(i / 6) + 4.0f};
        if (cairn_body_create(world, &body, &id) != CAIRN_OK ||
            cairn_shape_create(world, id, &shape, &shape_id) != CAIRN_OK) {
            exit(2);
        }
    }
    return world;
}

int main(void) {
    peer peers[PLAYERS];
    queue queues[PLAYERS]; // to each peer
    cairn_hash128 hashes[PLAYERS];
    uint32_t rollbacks = 0;
    memset(peers, 0, sizeof peers);
    memset(queues, 0, sizeof queues);
    for (uint32_t i = 0; i < PLAYERS; ++i) {
        peers[i].world = arena();
        if (cairn_history_create(peers[i].world, WINDOW, 0, &peers[i].past) != CAIRN_OK) {
            return 1;
        }
        peers[i].slot = i;
        peers[i].wrong = CAIRN_TICK_NONE;
        for (uint32_t slot = 0; slot < PLAYERS; ++slot) { // predicted for tick 0
            peers[i].inputs[slot][WINDOW - 1] = play(slot, 0);
        }
    }
    for (uint32_t frame = 1; frame < 2 * TICKS; ++frame) {
        for (uint32_t i = 0; i < PLAYERS; ++i) {
            message m;
            const uint64_t tick = cairn_world_tick(peers[i].world);
            deliver(&queues[i], &peers[i], frame);
            rollbacks += peers[i].wrong != CAIRN_TICK_NONE;
            if (tick < TICKS && advance(&peers[i], play(i, tick), &m)) {
                carry(&queues[1 - i], &m, frame);
            } else if (tick > 0) { // says its last inputs again, so that the other can go on
                m = (message){.tick = tick - 1, .slot = i};
                for (uint64_t k = 0; k < REPEATED && k < tick; ++k) {
                    m.inputs[k] = peers[i].inputs[i][(tick - 1 - k) % WINDOW];
                }
                carry(&queues[1 - i], &m, frame);
            }
        }
    }
    for (uint32_t i = 0; i < PLAYERS; ++i) {
        message m;
        (void)advance(&peers[i], play(i, TICKS), &m); // what arrived last is stepped again
        cairn_history_restore(peers[i].past, TICKS);
        hashes[i] = cairn_world_hash_read(peers[i].world).full;
        cairn_world_destroy(peers[i].world);
        cairn_history_destroy(peers[i].past);
    }
    char text[CAIRN_HASH_TEXT_SIZE];
    printf("%d ticks, %u rollbacks, %s\n", TICKS, rollbacks, cairn_hash_print(hashes[0], text));
    return rollbacks >= 20 && cairn_hash_equal(hashes[0], hashes[1]) ? 0 : 1;
}
