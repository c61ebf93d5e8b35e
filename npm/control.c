// SPDX-License-Identifier: MIT

// Operators in JavaScript: the requests that the page makes, with its connection as a client, and
// what is answered.

#include <cairn/client.h>
#include <cairn/control.h>

// operator.ts writes it: what the verb needs of it, in the order of its request's fields.
typedef struct cairn_npm_request {
    const char *verb; // "spawn-box"
    const char *name; // never NULL
    uint32_t body;
    uint32_t unused;
    double number; // ticks, a tick, a speed or a radius
    cairn_vec3 a;
    cairn_vec3 b;
} cairn_npm_request;

// operator.ts reads it; texts until the next answer is taken.
typedef struct cairn_npm_answer {
    uint32_t number;
    uint32_t refusal;
    const char *verb;
    const char *reason; // "" if it was done
    uint32_t paused;    // of a state
    uint32_t speed_thousandths;
    uint64_t tick;
} cairn_npm_answer;

_Static_assert(sizeof(cairn_npm_request) == 48 && sizeof(cairn_npm_answer) == 32, "operator.ts");

bool cairn_npm_is_operator(const cairn_client *client);
uint32_t cairn_npm_ask(cairn_client *client, const cairn_npm_request *from);
bool cairn_npm_answer_take(cairn_client *client, cairn_npm_answer *out);

// True once the server has said so.
bool cairn_npm_is_operator(const cairn_client *client) {
    return cairn_client_is_operator(client);
}

static uint64_t tick_of(double number) {
    return number >= 0.0 && number < 9e15 ? (uint64_t)number : CAIRN_TICK_NONE;
}

// The number that the answer will have; 0: it could not be sent, or the page does not have the
// verb.
uint32_t cairn_npm_ask(cairn_client *client, const cairn_npm_request *from) {
    cairn_control_request request = {.verb = cairn_control_verb_find(from->verb), .room = ""};
    const uint32_t number = (uint32_t)tick_of(from->number);
    switch (request.verb) {
    case CAIRN_CONTROL_STATE:
    case CAIRN_CONTROL_PAUSE:
    case CAIRN_CONTROL_RESUME:
    case CAIRN_CONTROL_RESET:
        break;
    case CAIRN_CONTROL_STEP:
        request.step.tick_count = number;
        break;
    case CAIRN_CONTROL_RATE:
        request.rate.speed_thousandths = number;
        break;
    case CAIRN_CONTROL_SEEK:
        request.seek.tick = tick_of(from->number);
        break;
    case CAIRN_CONTROL_FORK:
        request.fork.name = from->name;
        break;
    case CAIRN_CONTROL_SPAWN_BOX:
        request.spawn_box.position = from->a;
        request.spawn_box.half_extents = from->b;
        break;
    case CAIRN_CONTROL_SPAWN_SPHERE:
        request.spawn_sphere.position = from->a;
        request.spawn_sphere.radius = (float)from->number;
        break;
    case CAIRN_CONTROL_DELETE:
        request.delete_body.body = from->body;
        break;
    case CAIRN_CONTROL_SET_VELOCITY:
        request.set_velocity.body = from->body;
        request.set_velocity.linear_velocity = from->a;
        request.set_velocity.angular_velocity = from->b;
        break;
    case CAIRN_CONTROL_IMPULSE:
        request.impulse.body = from->body;
        request.impulse.impulse = from->a;
        break;
    default:
        return 0;
    }
    return cairn_client_ask(client, &request);
}

// False: none waits.
bool cairn_npm_answer_take(cairn_client *client, cairn_npm_answer *out) {
    cairn_control_answer answer;
    if (!cairn_client_next_answer(client, &answer)) {
        return false;
    }
    const char *verb = cairn_control_verb_text(answer.verb);
    *out = (cairn_npm_answer){.number = answer.number,
        .refusal = answer.refusal,
        .verb = verb != NULL ? verb : "",
        .reason = answer.reason[0] == '\0' && answer.refusal != CAIRN_CONTROL_DONE
                      ? cairn_control_refusal_text(answer.refusal)
                      : answer.reason,
        .tick = answer.tick};
    if (answer.refusal == CAIRN_CONTROL_DONE && answer.verb == CAIRN_CONTROL_STATE) {
        out->paused = answer.state.paused ? 1 : 0;
        out->speed_thousandths = answer.state.speed_thousandths;
    }
    return true;
}
