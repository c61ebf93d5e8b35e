// SPDX-License-Identifier: MIT
// A client without a screen: connects, plays by a simple plan, counts, and says in its last line
// and its exit status whether all was well.

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/client.h>
#include <cairn/client_uv.h>

#include "base/limits.h"
#include "base/random.h"
#include "client_lib/client_probe.h"
#include "net/token.h"
#include "program/json.h"
#include "tools/flags.h"
#include "tools/system.h"
#include <cairn/server.h>
#include <cairn/types.h>

// Whoever is repaired too often gives up, and rightly: a demonstration stays below.
#define DAMAGE_EVERY_S 2
_Static_assert(CAIRN_CLIENT_REPAIR_ATTEMPTS_NS / 1000000000u / DAMAGE_EVERY_S <
                   CAIRN_CLIENT_REPAIR_ATTEMPTS_MAX,
    "it goes on simulating");

enum { EXIT_OK = 0, EXIT_NOT_CONNECTED = 1, EXIT_USAGE = 2, EXIT_HASH_DIFFERED = 3 };

#define FRAME_RATE_HZ 60

// By cairn_client_mode.
static const char *const modes[] = {"interpolate", "lockstep", "predict", "heal", NULL};

typedef enum plan { PLAN_NONE = 0, PLAN_RANDOM, PLAN_PUSH } plan;

typedef struct column {
    bool asked;
    double x, z, radius;
    uint32_t bodies; // in the last sample
    double top_m;
} column;

typedef struct bot {
    const char *name;
    cairn_client_config config;
    plan plan;
    cairn_random random;
    uint64_t seconds;
    uint64_t stats_interval_s;
    uint64_t join_after_s;
    uint64_t damage_s; // 0: never
    uint64_t next_damage_ns;
    uint32_t damaged;
    column column;

    cairn_client *client;
    cairn_client_uv *driver;
    cairn_client_body *bodies;
    cairn_client_sample sample;
    uint64_t start_ns;
    uint64_t next_stats_ns;
    uint64_t next_plan_ns;
    bool returning; // this half of the walk goes back where the last one came from
    cairn_client_input input;
    bool played;            // was PLAYING at some time
    float correction_m_max; // predict: the largest error that was smoothed away
} bot;

static volatile sig_atomic_t stopped = 0;

static void on_signal(int signal_number) {
    (void)signal_number;
    stopped = 1;
}

static double random_between(cairn_random *random, double low, double high) {
    return low + (high - low) * (double)cairn_random_unit(random);
}

// Each walk is walked back, so that a player stays about where it began.
static void plan_walk(bot *b) {
    b->returning = !b->returning;
    if (b->returning) {
        b->input.move[0] = -b->input.move[0];
        b->input.move[2] = -b->input.move[2];
        return;
    }
    double angle = random_between(&b->random, 0, 6.2831853);
    b->input.move[0] = (float)cos(angle);
    b->input.move[2] = (float)sin(angle);
}

static void plan_next(bot *b, uint64_t now_ns) {
    static const uint32_t jump = 1; // include/cairn/sim.h: CAIRN_SANDBOX_JUMP
    static const uint32_t push = 2; // CAIRN_SANDBOX_PUSH
    if (b->plan == PLAN_NONE || now_ns < b->next_plan_ns) {
        b->input.buttons = 0; // a press lasts one frame
        return;
    }
    b->next_plan_ns = now_ns + 500000000;
    plan_walk(b);
    // Towards positive z: what a push sends flying must not come near the scenes' stacks, which
    // stand at negative z, for whether they stand is what a run is judged by.
    double angle = random_between(&b->random, 0.5, 2.6);
    b->input.aim[0] = (float)cos(angle);
    b->input.aim[2] = (float)sin(angle);
    b->input.buttons = b->plan == PLAN_PUSH                     ? push
                       : cairn_random_below(&b->random, 3) == 0 ? jump
                                                                : 0;
}

static void measure_column(bot *b) {
    uint32_t capacity = b->config.bodies_max;
    uint32_t count = b->sample.body_count < capacity ? b->sample.body_count : capacity;
    b->column.bodies = 0;
    b->column.top_m = 0;
    for (uint32_t i = 0; i < count; i++) {
        const float *at = b->bodies[i].position;
        double off_m = hypot((double)at[0] - b->column.x, (double)at[2] - b->column.z);
        if (off_m <= b->column.radius && at[1] > 0) {
            b->column.bodies++;
            b->column.top_m = (double)at[1] > b->column.top_m ? (double)at[1] : b->column.top_m;
        }
    }
}

static const char *state_text(cairn_client_state state) {
    static const char *const texts[] = {
        "idle", "connecting", "joining", "playing", "left", "failed"};
    return texts[state];
}

static void put_snapshots(cairn_json *json, const cairn_client_statistics *s) {
    cairn_json_put_count(json, "snapshots", s->snapshots.received);
    cairn_json_put_count(json, "keyframes", s->snapshots.keyframes);
    cairn_json_put_count(json, "deltas", s->snapshots.deltas);
    cairn_json_put_count(json, "unusable", s->snapshots.unusable);
    cairn_json_put_count(json, "snapshot_bytes", s->snapshots.bytes);
    cairn_json_put_count(json, "roots_compared", s->simulation.roots_compared);
    cairn_json_put_count(json, "roots_differed", s->simulation.roots_differed);
    if (s->simulation.first_difference_tick == UINT64_MAX) {
        cairn_json_put_null(json, "first_difference_tick");
    } else {
        cairn_json_put_count(json, "first_difference_tick", s->simulation.first_difference_tick);
    }
}

static void put_prediction(cairn_json *json, const bot *b, const cairn_client_statistics *s) {
    static const char *const names[CAIRN_ROLLBACK_CAUSE_COUNT] = {
        [CAIRN_ROLLBACK_LATE_INPUT] = "rollbacks_late_input",
        [CAIRN_ROLLBACK_OWN_INPUT] = "rollbacks_own_input",
        [CAIRN_ROLLBACK_WRONG_PREDICTION] = "rollbacks_wrong_prediction",
        [CAIRN_ROLLBACK_LOST_PACKET] = "rollbacks_lost_packet",
        [CAIRN_ROLLBACK_JOIN_LEAVE] = "rollbacks_join_leave",
        [CAIRN_ROLLBACK_OPERATOR] = "rollbacks_operator",
        [CAIRN_ROLLBACK_RESYNC] = "rollbacks_heal",
        [CAIRN_ROLLBACK_STATE_REPLACED] = "rollbacks_state_replaced",
    };
    cairn_client_rollback rollbacks[CAIRN_CLIENT_ROLLBACKS_HELD];
    const uint32_t held = cairn_client_rollbacks(b->client, rollbacks, CAIRN_CLIENT_ROLLBACKS_HELD);
    uint64_t cost_ns = 0;
    for (uint32_t i = 0; i < held; i++) {
        cost_ns = rollbacks[i].cost_ns > cost_ns ? rollbacks[i].cost_ns : cost_ns;
    }
    cairn_json_put_count(json, "input_delay_ticks", s->inputs.delay_ticks);
    cairn_json_put_count(json, "predicted_ticks", s->prediction.predicted_ticks);
    cairn_json_put_count(json, "rollbacks", s->prediction.rollbacks);
    cairn_json_put_count(json, "rollback_ticks", s->prediction.rollback_ticks);
    for (uint32_t cause = 0; cause < CAIRN_ROLLBACK_CAUSE_COUNT; cause++) {
        cairn_json_put_count(json, names[cause],
            cairn_client_rollback_count(b->client, (cairn_client_rollback_cause)cause));
    }
    cairn_json_put_count(json, "rollback_us_max", cost_ns / 1000);
    cairn_json_put_count(json, "over_budget", s->prediction.over_budget);
    cairn_json_put_real(json, "correction_mm_max", 1000 * (double)b->correction_m_max);
}

// How many heals took longer than a round trip and three ticks, and the most that one cost.
static void put_heals(cairn_json *json, const bot *b, const cairn_client_statistics *s) {
    cairn_client_resync_record heals[CAIRN_CLIENT_RESYNCS_HELD];
    const uint32_t held = cairn_client_resyncs(b->client, heals, CAIRN_CLIENT_RESYNCS_HELD);
    // In the server's ticks: a machine that is late runs fewer of them, too.
    const uint64_t soon = 3 + (s->connection.rtt_ns * FRAME_RATE_HZ + 999999999) / 1000000000;
    uint64_t slow = 0, elapsed_ns = 0, bytes = 0, elements = 0;
    for (uint32_t i = 0; i < held; i++) {
        slow += heals[i].ticks > soon ? 1 : 0;
        elapsed_ns = heals[i].elapsed_ns > elapsed_ns ? heals[i].elapsed_ns : elapsed_ns;
        bytes = heals[i].bytes > bytes ? heals[i].bytes : bytes;
        elements = heals[i].elements > elements ? heals[i].elements : elements;
    }
    cairn_json_put_count(json, "damaged", b->damaged);
    cairn_json_put_count(json, "heals", s->resync.count);
    cairn_json_put_count(json, "heals_slow", slow);
    cairn_json_put_count(json, "heal_us_max", elapsed_ns / 1000);
    cairn_json_put_count(json, "heal_bytes_max", bytes);
    cairn_json_put_count(json, "heal_elements_max", elements);
}

static void put_path(cairn_json *json, const cairn_client_statistics *s) {
    cairn_json_put_count(json, "inputs_sent", s->inputs.sent);
    cairn_json_put_count(json, "inputs_late", s->inputs.late);
    cairn_json_put_integer(json, "lateness_us", s->inputs.lateness_us);
    cairn_json_put_real(json, "loss", (double)s->connection.loss);
    cairn_json_put_count(json, "rtt_us", s->connection.rtt_ns / 1000);
    cairn_json_put_count(json, "delay_us", s->snapshots.interpolation_delay_ns / 1000);
    cairn_json_put_count(json, "lead_us", s->inputs.lead_ns / 1000);
    cairn_json_put_count(json, "extrapolated_us", s->snapshots.extrapolated_ns / 1000);
    cairn_json_put_count(json, "bytes_sent", s->connection.bytes_sent);
    cairn_json_put_count(json, "bytes_received", s->connection.bytes_received);
    cairn_json_put_count(json, "dropped", s->connection.datagrams_dropped);
}

static void put_drops(cairn_json *json, const bot *b) {
    cairn_json *drops = cairn_json_put_object(json, "drops");
    cairn_client_drop drop;
    for (uint32_t i = 0; cairn_client_drop_read(b->client, i, &drop); i++) {
        if (drop.count > 0) {
            char name[128];
            snprintf(name, sizeof name, "%s: %s", drop.layer, drop.reason);
            cairn_json_put_count(drops, name, drop.count);
        }
    }
}

static void print_statistics(bot *b, const char *kind) {
    cairn_client_statistics s;
    cairn_client_statistics_read(b->client, &s);
    cairn_json *json = cairn_json_create();
    cairn_json_put_text(json, "kind", kind);
    cairn_json_put_text(json, "name", b->name);
    cairn_json_put_text(json, "mode", modes[b->config.mode]);
    cairn_json_put_text(json, "state", state_text(cairn_client_state_read(b->client)));
    cairn_json_put_bool(json, "played", b->played);
    cairn_json_put_count(json, "slot", s.connection.slot);
    cairn_json_put_count(json, "tick", s.connection.server_tick);
    cairn_json_put_count(json, "steps", s.simulation.ticks_stepped);
    cairn_json_put_count(json, "bodies", b->sample.body_count);
    put_snapshots(json, &s);
    put_path(json, &s);
    if (b->config.mode == CAIRN_CLIENT_PREDICT) {
        put_prediction(json, b, &s);
    }
    if (b->config.mode == CAIRN_CLIENT_HEAL) {
        put_heals(json, b, &s);
    }
    if (b->column.asked) {
        cairn_json_put_count(json, "column_bodies", b->column.bodies);
        cairn_json_put_real(json, "column_top_m", b->column.top_m);
    }
    put_drops(json, b);
    cairn_json_put_text(json, "failure", cairn_client_failure_text(b->client));
    cairn_json_print(json, stdout);
    cairn_json_destroy(json);
}

// Once a second, each time another body.
static void damage(bot *b, uint64_t now_ns) {
    if (b->damage_s == 0 || b->sample.body_count == 0 || now_ns < b->next_damage_ns) {
        return;
    }
    const uint64_t played_s = (now_ns - b->start_ns) / 1000000000u;
    if (b->seconds > 0 && played_s + 1 >= b->seconds) {
        return; // what is damaged last shall be healed as well
    }
    const bool first = b->next_damage_ns == 0;
    b->next_damage_ns = now_ns + (first ? b->damage_s : DAMAGE_EVERY_S) * 1000000000u;
    if (!first) {
        const uint64_t among = b->sample.body_count - 1;
        const uint32_t body = 2 + (uint32_t)cairn_random_below(&b->random, among);
        b->damaged += cairn_client_probe_damage(b->client, body) ? 1 : 0;
    }
}

static void frame(bot *b, uint64_t now_ns) {
    b->played |= cairn_client_state_read(b->client) == CAIRN_CLIENT_PLAYING;
    plan_next(b, now_ns);
    cairn_client_push_input(b->client, &b->input); // refused without a slot, which is right
    cairn_client_sample sample;
    if (cairn_client_sample_world(b->client, now_ns, b->bodies, b->config.bodies_max, &sample)) {
        b->sample = sample;
        measure_column(b);
    }
    damage(b, now_ns);
    if (b->config.mode == CAIRN_CLIENT_PREDICT) {
        cairn_client_statistics s;
        cairn_client_statistics_read(b->client, &s);
        b->correction_m_max = fmaxf(b->correction_m_max, s.prediction.correction_m);
    }
    if (b->stats_interval_s > 0 && now_ns >= b->next_stats_ns) {
        b->next_stats_ns = now_ns + b->stats_interval_s * 1000000000u;
        print_statistics(b, "stats");
    }
}

static void play(bot *b, const uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]) {
    uint64_t now_ns = cairn_client_uv_now_ns();
    b->start_ns = now_ns;
    b->next_stats_ns = now_ns + b->stats_interval_s * 1000000000u;
    bool begun = cairn_client_uv_connect(b->driver, token);
    while (begun && !stopped && cairn_client_state_read(b->client) != CAIRN_CLIENT_FAILED) {
        now_ns = cairn_client_uv_frame(b->driver);
        frame(b, now_ns);
        if (b->seconds > 0 && now_ns - b->start_ns >= b->seconds * 1000000000u) {
            break;
        }
    }
    print_statistics(b, "final");
    cairn_client_uv_disconnect(b->driver);
}

static int verdict(const bot *b) {
    cairn_client_statistics s;
    cairn_client_statistics_read(b->client, &s);
    if (!b->played || cairn_client_state_read(b->client) == CAIRN_CLIENT_FAILED) {
        const char *why = cairn_client_failure_text(b->client);
        fprintf(stderr, "%s: %s\n", b->name, why[0] != '\0' ? why : "not playing when time was up");
        return EXIT_NOT_CONNECTED;
    }
    const bool healed = s.resync.count >= b->damaged && b->damaged > 0;
    if (s.simulation.roots_differed > 0 && !healed) {
        fprintf(stderr, "%s: the world differs from the server's since tick %llu\n", b->name,
            (unsigned long long)s.simulation.first_difference_tick);
        return EXIT_HASH_DIFFERED;
    }
    return EXIT_OK;
}

static int run(bot *b, const uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]) {
    b->bodies = malloc(b->config.bodies_max * sizeof b->bodies[0]);
    const cairn_status created = cairn_client_create(&b->config, &b->client);
    if (b->bodies == NULL || created != CAIRN_OK) {
        fprintf(stderr, "%s: out of memory\n", b->name);
        return EXIT_NOT_CONNECTED;
    }
    const cairn_client_uv_config driver = {.client = b->client, .frame_rate_hz = FRAME_RATE_HZ};
    b->driver = cairn_client_uv_open(&driver);
    if (b->driver == NULL) {
        fprintf(stderr, "%s: no socket or timer\n", b->name);
        return EXIT_NOT_CONNECTED;
    }
    play(b, token);
    int status = verdict(b);
    cairn_client_uv_close(b->driver);
    cairn_client_destroy(b->client);
    free(b->bodies);
    return status;
}

typedef struct texts {
    const char *token, *key, *server, *protocol_id, *client_id;
    const char *mode, *spectator, *inputs, *seed, *seconds, *stats, *join_after, *column, *name;
    const char *room, *input_delay, *damage, *help;
} texts;

static bool choose(const char *flag, const char *text, const char *const *names, uint32_t *out,
    char error[CAIRN_FLAG_ERROR_SIZE]) {
    for (uint32_t i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], text) == 0) {
            *out = i;
            return true;
        }
    }
    snprintf(error, CAIRN_FLAG_ERROR_SIZE, "%s %.40s: not one of those in --help", flag, text);
    return false;
}

static bool read_column(const char *text, column *out, char error[CAIRN_FLAG_ERROR_SIZE]) {
    out->asked = sscanf(text, "%lf,%lf,%lf", &out->x, &out->z, &out->radius) == 3;
    snprintf(error, CAIRN_FLAG_ERROR_SIZE, "--column %.40s: must be X,Z,RADIUS in metres", text);
    return out->asked;
}

static uint64_t read_clock(void *context) {
    (void)context;
    return cairn_client_uv_now_ns();
}

static bool read_bot(const texts *t, bot *b, char error[CAIRN_FLAG_ERROR_SIZE]) {
    static const char *const plans[] = {"none", "random", "push", NULL};
    uint32_t mode = 0;
    uint32_t inputs = 0;
    uint64_t seed = 0;
    uint64_t input_delay_ms = 0;
    bool good =
        choose("--mode", t->mode, modes, &mode, error) &&
        choose("--inputs", t->inputs, plans, &inputs, error) &&
        cairn_flag_number("--seed", t->seed, 0, UINT64_MAX, &seed, error) &&
        cairn_flag_number("--input-delay", t->input_delay, 0, 2000, &input_delay_ms, error) &&
        cairn_flag_number("--seconds", t->seconds, 0, 86400, &b->seconds, error) &&
        cairn_flag_number("--json-stats", t->stats, 0, 3600, &b->stats_interval_s, error) &&
        cairn_flag_number("--damage", t->damage, 0, 3600, &b->damage_s, error) &&
        cairn_flag_number("--join-after", t->join_after, 0, 3600, &b->join_after_s, error) &&
        (t->column == NULL || read_column(t->column, &b->column, error));
    b->name = t->name;
    b->config = cairn_client_config_default();
    b->config.mode = (cairn_client_mode)mode;
    b->config.input_delay_ms = (uint32_t)input_delay_ms;
    b->config.clock_ns = read_clock;
    b->config.spectator = t->spectator != NULL;
    b->config.room = t->room;
    b->plan = (plan)inputs;
    b->random = cairn_random_of(seed);
    return good;
}

static bool read_token_file(
    const char *path, uint8_t token[CAIRN_CONNECT_TOKEN_SIZE], char error[CAIRN_FLAG_ERROR_SIZE]) {
    bool standard_input = strcmp(path, "-") == 0;
    FILE *file = standard_input ? stdin : fopen(path, "rb");
    if (file == NULL) {
        snprintf(error, CAIRN_FLAG_ERROR_SIZE, "--token %.100s: cannot be opened", path);
        return false;
    }
    size_t size = fread(token, 1, CAIRN_CONNECT_TOKEN_SIZE, file);
    if (!standard_input) {
        fclose(file);
    }
    snprintf(error, CAIRN_FLAG_ERROR_SIZE, "--token %.100s: holds %zu bytes, a token has %d", path,
        size, CAIRN_CONNECT_TOKEN_SIZE);
    return size == CAIRN_CONNECT_TOKEN_SIZE;
}

static bool issue_token(
    const texts *t, uint8_t token[CAIRN_CONNECT_TOKEN_SIZE], char error[CAIRN_FLAG_ERROR_SIZE]) {
    uint8_t key[CAIRN_KEY_SIZE];
    uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE];
    uint64_t protocol_id = CAIRN_PROTOCOL_ID_DEFAULT;
    uint64_t client_id = 0;
    cairn_address server;
    if (!cairn_flag_key("--key", t->key, key, error) ||
        (t->protocol_id != NULL && !cairn_flag_number("--protocol-id", t->protocol_id, 0,
                                       UINT64_MAX, &protocol_id, error)) ||
        !cairn_flag_number("--client-id", t->client_id, 0, UINT64_MAX, &client_id, error)) {
        return false;
    }
    if (!cairn_address_parse(t->server, &server) || server.port == 0) {
        snprintf(error, CAIRN_FLAG_ERROR_SIZE, "--server %.60s: must be ADDRESS:PORT", t->server);
        return false;
    }
    if (!cairn_system_random(entropy, sizeof entropy)) {
        snprintf(error, CAIRN_FLAG_ERROR_SIZE, "the system gives no randomness");
        return false;
    }
    const cairn_token_request request = {.protocol_id = protocol_id,
        .client_id = client_id,
        .create_unix_s = cairn_system_unix_s(),
        .lifetime_s = 30,
        .timeout_s = 5,
        .server_addresses = &server,
        .server_count = 1,
        .private_key = key,
        .entropy = entropy};
    snprintf(error, CAIRN_FLAG_ERROR_SIZE, "no token can be issued");
    return cairn_token_issue(&request, token) == CAIRN_OK;
}

static bool get_token(
    const texts *t, uint8_t token[CAIRN_CONNECT_TOKEN_SIZE], char error[CAIRN_FLAG_ERROR_SIZE]) {
    if (t->token != NULL) {
        return read_token_file(t->token, token, error);
    }
    if (t->key != NULL && t->server != NULL) {
        return issue_token(t, token, error);
    }
    snprintf(error, CAIRN_FLAG_ERROR_SIZE, "either --token or --key and --server are needed");
    return false;
}

static void wait_to_join(const bot *b) {
    uint64_t until_ns = cairn_client_uv_now_ns() + b->join_after_s * 1000000000u;
    while (!stopped && cairn_client_uv_now_ns() < until_ns) {
        cairn_system_sleep_ms(20);
    }
}

int main(int argc, char **argv) {
    texts t = {.client_id = "1",
        .mode = "interpolate",
        .inputs = "none",
        .seed = "1",
        .seconds = "10",
        .stats = "0",
        .join_after = "0",
        .input_delay = "0",
        .room = "",
        .damage = "0",
        .name = "bot"};
    const cairn_flag flags[] = {
        {"--token", "FILE", "connect token of 2048 bytes, - for standard input", &t.token},
        {"--key", "HEX|FILE", "issue a token with this private key instead", &t.key},
        {"--server", "ADDRESS:PORT", "for the server there", &t.server},
        {"--protocol-id", "N", "of the token issued", &t.protocol_id},
        {"--client-id", "N", "of the token issued (1)", &t.client_id},
        {"--mode", "MODE", "interpolate (default), lockstep, predict or heal", &t.mode},
        {"--input-delay", "MS", "fixed, of lockstep and predict (0: adapts)", &t.input_delay},
        {"--damage", "N",
            "heal: damage the own world every other second from the Nth on (0: never)", &t.damage},
        {"--spectator", NULL, "ask for no player slot", &t.spectator},
        {"--room", "NAME", "which of the server's rooms; its first otherwise", &t.room},
        {"--inputs", "PLAN", "none (default), random (walk, jump) or push (towards +z)", &t.inputs},
        {"--seed", "N", "of the plan (1)", &t.seed},
        {"--seconds", "N", "leave after N seconds, 0 for never (10)", &t.seconds},
        {"--json-stats", "N", "a line of statistics every N seconds (0: only the last)", &t.stats},
        {"--join-after", "N", "wait N seconds, then read or issue the token (0)", &t.join_after},
        {"--column", "X,Z,RADIUS", "count the bodies that stand there", &t.column},
        {"--name", "TEXT", "in the lines printed (bot)", &t.name},
        {"--help", NULL, "this text", &t.help},
    };
    const size_t flag_count = sizeof flags / sizeof flags[0];
    char error[CAIRN_FLAG_ERROR_SIZE];
    bot b = {0};
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    bool good = cairn_flags_read(argc, argv, flags, flag_count, NULL, 0, error);
    if (good && t.help != NULL) {
        cairn_flags_help("cairn-bot --token FILE [flags]", flags, flag_count);
        return EXIT_OK;
    }
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    if (good && read_bot(&t, &b, error)) {
        wait_to_join(&b);
        if (get_token(&t, token, error)) {
            return run(&b, token);
        }
    }
    fprintf(stderr, "cairn-bot: %s\n", error);
    return EXIT_USAGE;
}
