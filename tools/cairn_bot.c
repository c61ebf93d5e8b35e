// SPDX-License-Identifier: MIT
// A client without a screen, or several on one loop: each connects, plays by a simple plan, and
// statistics are reported in the last line and success in the exit status.

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/client.h>
#include <cairn/client_uv.h>

#include "base/game_input.h"
#include "base/limits.h"
#include "base/random.h"
#include "client_lib/client_probe.h"
#include "program/flags.h"
#include "program/json.h"
#include "program/key.h"
#include "program/output_file.h"
#include "program/system.h"
#include "rules_file/rules_flag.h"
#include <cairn/programs.h>
#include <cairn/server.h>
#include <cairn/types.h>

// A client that is resynchronised too often stops simulating; the bot stays below that limit.
#define DAMAGE_EVERY_S 2
_Static_assert(CAIRN_CLIENT_REPAIR_ATTEMPTS_NS / CAIRN_NS_PER_S / DAMAGE_EVERY_S <
                   CAIRN_CLIENT_REPAIR_ATTEMPTS_MAX,
    "the client keeps simulating");

enum { EXIT_OK = 0, EXIT_NOT_CONNECTED = 1, EXIT_USAGE = 2, EXIT_HASH_DIFFERED = 3 };

#define FRAME_RATE_HZ 60
#define CLIENTS_MAX 1000
#define NAME_SIZE 64

// Indexed by cairn_client_mode.
static const char *const modes[] = {"interpolate", "lockstep", "predict", "heal", NULL};

typedef enum plan { PLAN_NONE = 0, PLAN_RANDOM, PLAN_PUSH } plan;

typedef struct column {
    bool asked;
    double x, z, radius;
    uint32_t bodies; // in the last sample
    double top_m;
} column;

typedef struct bot {
    char name[NAME_SIZE];
    cairn_client_config config;
    plan plan;
    cairn_random random;
    uint64_t seconds;
    uint64_t rebind_s; // 0: never
    uint64_t next_rebind_ns;
    uint64_t damage_s; // 0: never
    uint64_t next_damage_ns;
    uint32_t damaged;
    uint32_t damaged_body; // the last
    const char *capsules;  // a folder; NULL: none are written
    uint32_t capsule_count;
    column column;

    cairn_client *client;
    cairn_client_uv *driver;
    cairn_client_body *bodies;
    cairn_client_sample sample;
    uint64_t start_ns;
    uint64_t next_plan_ns;
    bool returning; // this half of the walk leads back to where the other half began
    cairn_client_input input;
    bool played;            // has been PLAYING
    float correction_m_max; // predict: the largest error that was smoothed away
} bot;

typedef struct fleet {
    bot first; // what all are made of
    const char *name;
    uint64_t seed;
    uint64_t stats_interval_s;
    uint64_t join_after_s;
    cairn_token_source source; // of the first; the others have the client ids after it
    uint32_t count;
    bot *bots; // [count], on the loop of the first
} fleet;

static volatile sig_atomic_t stopped = 0;

static void on_signal(int signal_number) {
    (void)signal_number;
    stopped = 1;
}

// Each walk leads out and back, so that a player stays near its start.
static void plan_walk(bot *b) {
    b->returning = !b->returning;
    if (b->returning) {
        b->input.move[0] = -b->input.move[0];
        b->input.move[2] = -b->input.move[2];
        return;
    }
    double angle = 6.2831853 * (double)cairn_random_unit(&b->random);
    b->input.move[0] = (float)cos(angle);
    b->input.move[2] = (float)sin(angle);
}

// Inputs of the layout that the room's rules declare: random ones, held for half a second.
static void play_declared(
    bot *b, uint64_t now_ns, const cairn_input_field *fields, uint32_t count) {
    if (b->plan != PLAN_NONE && now_ns >= b->next_plan_ns) {
        uint32_t input[CAIRN_INPUT_FIELDS_MAX];
        b->next_plan_ns = now_ns + 500000000;
        cairn_input_draw(fields, count, &b->random, input);
        cairn_client_push_game_input(b->client, input, 4 * count);
    }
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
    // Towards positive z, because pushed bodies must not hit the scenes' stacks at negative z: a
    // run is judged by whether they stand.
    double angle = 0.5 + 2.1 * (double)cairn_random_unit(&b->random);
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

// How many heals took longer than a round trip and three ticks, and the largest cost of one.
static void put_heals(cairn_json *json, const bot *b, const cairn_client_statistics *s) {
    cairn_client_resync_record heals[CAIRN_CLIENT_RESYNCS_HELD];
    const uint32_t held = cairn_client_resyncs(b->client, heals, CAIRN_CLIENT_RESYNCS_HELD);
    // In server ticks, because an overloaded machine also runs fewer of them.
    const uint64_t expected_ticks =
        3 + (s->connection.rtt_ns * FRAME_RATE_HZ + 999999999) / CAIRN_NS_PER_S;
    uint64_t slow = 0, elapsed_ns = 0, bytes = 0, elements = 0;
    for (uint32_t i = 0; i < held; i++) {
        slow += heals[i].ticks > expected_ticks ? 1 : 0;
        elapsed_ns = heals[i].elapsed_ns > elapsed_ns ? heals[i].elapsed_ns : elapsed_ns;
        bytes = heals[i].bytes > bytes ? heals[i].bytes : bytes;
        elements = heals[i].elements > elements ? heals[i].elements : elements;
    }
    cairn_json_put_count(json, "damaged", b->damaged);
    cairn_json_put_count(json, "damaged_body", b->damaged_body);
    cairn_json_put_count(json, "heals", s->resync.count);
    cairn_json_put_count(json, "heals_slow", slow);
    cairn_json_put_count(json, "heal_us_max", elapsed_ns / 1000);
    cairn_json_put_count(json, "heal_bytes_max", bytes);
    cairn_json_put_count(json, "heal_elements_max", elements);
}

static void put_traffic(cairn_json *json, const cairn_client_statistics *s) {
    cairn_json_put_count(json, "inputs_sent", s->inputs.sent);
    cairn_json_put_count(json, "inputs_late", s->inputs.late);
    cairn_json_put_count(json, "bytes_sent", s->connection.bytes_sent);
    cairn_json_put_count(json, "bytes_received", s->connection.bytes_received);
    cairn_json_put_count(json, "dropped", s->connection.datagrams_dropped);
}

static void put_path(cairn_json *json, const cairn_client_statistics *s) {
    cairn_json_put_integer(json, "lateness_us", s->inputs.lateness_us);
    cairn_json_put_real(json, "loss", (double)s->connection.loss);
    cairn_json_put_count(json, "rtt_us", s->connection.rtt_ns / 1000);
    cairn_json_put_count(json, "path_changes", s->connection.path_changes);
    cairn_json_put_count(json, "queue_us", s->connection.queue_ns / 1000);
    cairn_json_put_count(json, "delay_us", s->snapshots.interpolation_delay_ns / 1000);
    cairn_json_put_count(json, "lead_us", s->inputs.lead_ns / 1000);
    cairn_json_put_count(json, "extrapolated_us", s->snapshots.extrapolated_ns / 1000);
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

static void print_bot(const bot *b, const char *kind) {
    static const char *const states[] = {
        "idle", "connecting", "joining", "playing", "left", "failed"};
    cairn_client_statistics s;
    cairn_client_statistics_read(b->client, &s);
    cairn_json *json = cairn_json_create();
    cairn_json_put_text(json, "kind", kind);
    cairn_json_put_text(json, "name", b->name);
    cairn_json_put_text(json, "mode", modes[b->config.mode]);
    cairn_json_put_text(json, "state", states[cairn_client_state_read(b->client)]);
    cairn_json_put_bool(json, "played", b->played);
    cairn_json_put_count(json, "slot", s.connection.slot);
    cairn_json_put_count(json, "tick", s.connection.server_tick);
    cairn_json_put_count(json, "steps", s.simulation.ticks_stepped);
    cairn_json_put_count(json, "bodies", b->sample.body_count);
    put_snapshots(json, &s);
    put_traffic(json, &s);
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

static void add_statistics(cairn_client_statistics *sum, const cairn_client_statistics *s) {
    sum->snapshots.received += s->snapshots.received;
    sum->snapshots.keyframes += s->snapshots.keyframes;
    sum->snapshots.deltas += s->snapshots.deltas;
    sum->snapshots.unusable += s->snapshots.unusable;
    sum->snapshots.bytes += s->snapshots.bytes;
    sum->simulation.ticks_stepped += s->simulation.ticks_stepped;
    sum->simulation.roots_compared += s->simulation.roots_compared;
    sum->simulation.roots_differed += s->simulation.roots_differed;
    if (s->simulation.first_difference_tick < sum->simulation.first_difference_tick) {
        sum->simulation.first_difference_tick = s->simulation.first_difference_tick;
    }
    sum->resync.count += s->resync.count;
    sum->inputs.sent += s->inputs.sent;
    sum->inputs.late += s->inputs.late;
    sum->connection.bytes_sent += s->connection.bytes_sent;
    sum->connection.bytes_received += s->connection.bytes_received;
    sum->connection.datagrams_dropped += s->connection.datagrams_dropped;
}

// One bot with all that it knows, several with sums.
static void print_statistics(const fleet *f, const char *kind) {
    if (f->count == 1) {
        print_bot(&f->bots[0], kind);
        return;
    }
    cairn_client_statistics sum = {.simulation.first_difference_tick = UINT64_MAX};
    uint64_t played = 0, failed = 0, damaged = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        const bot *b = &f->bots[i];
        cairn_client_statistics s;
        cairn_client_statistics_read(b->client, &s);
        add_statistics(&sum, &s);
        played += b->played ? 1 : 0;
        failed += cairn_client_state_read(b->client) == CAIRN_CLIENT_FAILED ? 1 : 0;
        damaged += b->damaged;
    }
    cairn_json *json = cairn_json_create();
    cairn_json_put_text(json, "kind", kind);
    cairn_json_put_text(json, "name", f->name);
    cairn_json_put_text(json, "mode", modes[f->first.config.mode]);
    cairn_json_put_count(json, "clients", f->count);
    cairn_json_put_count(json, "played", played);
    cairn_json_put_count(json, "failed", failed);
    cairn_json_put_count(json, "steps", sum.simulation.ticks_stepped);
    put_snapshots(json, &sum);
    put_traffic(json, &sum);
    cairn_json_put_count(json, "damaged", damaged);
    cairn_json_put_count(json, "heals", sum.resync.count);
    cairn_json_print(json, stdout);
    cairn_json_destroy(json);
}

// Every DAMAGE_EVERY_S seconds, another body each time.
static void damage_own_world(bot *b, uint64_t now_ns) {
    if (b->damage_s == 0 || b->sample.body_count == 0 || now_ns < b->next_damage_ns) {
        return;
    }
    const uint64_t played_s = (now_ns - b->start_ns) / CAIRN_NS_PER_S;
    if (b->seconds > 0 && played_s + 1 >= b->seconds) {
        return; // the last damage must be healed before the end
    }
    const bool first = b->next_damage_ns == 0;
    b->next_damage_ns = now_ns + (first ? b->damage_s : DAMAGE_EVERY_S) * CAIRN_NS_PER_S;
    if (!first) {
        const uint64_t among = b->sample.body_count - 1;
        const uint32_t body = 2 + (uint32_t)cairn_random_below(&b->random, among);
        const bool damaged = cairn_client_probe_damage(b->client, body);
        b->damaged += damaged ? 1 : 0;
        b->damaged_body = damaged ? body : b->damaged_body;
    }
}

static void run_frame(void *context, uint64_t now_ns) {
    bot *b = context;
    b->played |= cairn_client_state_read(b->client) == CAIRN_CLIENT_PLAYING;
    cairn_input_field fields[CAIRN_INPUT_FIELDS_MAX];
    const uint32_t field_count = cairn_client_input_fields(b->client, fields);
    if (field_count > 0) {
        play_declared(b, now_ns, fields, field_count);
    } else {
        plan_next(b, now_ns);
        cairn_client_push_input(b->client, &b->input); // refused without a slot, as it should be
    }
    cairn_client_sample sample;
    if (cairn_client_sample_world(b->client, now_ns, b->bodies, b->config.bodies_max, &sample)) {
        b->sample = sample;
        measure_column(b);
    }
    damage_own_world(b, now_ns);
    if (b->rebind_s > 0 && now_ns >= b->next_rebind_ns) {
        if (b->next_rebind_ns > 0) {
            cairn_client_uv_rebind(b->driver);
        }
        b->next_rebind_ns = now_ns + b->rebind_s * CAIRN_NS_PER_S;
    }
    if (b->config.mode == CAIRN_CLIENT_PREDICT) {
        cairn_client_statistics s;
        cairn_client_statistics_read(b->client, &s);
        b->correction_m_max = fmaxf(b->correction_m_max, s.prediction.correction_m);
    }
}

// Whether a bot is there that may still play.
static bool any_goes_on(const fleet *f) {
    for (uint32_t i = 0; i < f->count; i++) {
        if (cairn_client_state_read(f->bots[i].client) != CAIRN_CLIENT_FAILED) {
            return true;
        }
    }
    return false;
}

static void play_until_end(fleet *f) {
    const uint64_t start_ns = f->first.start_ns;
    uint64_t next_stats_ns = start_ns + f->stats_interval_s * CAIRN_NS_PER_S;
    while (!stopped && any_goes_on(f)) {
        const uint64_t now_ns = cairn_client_uv_frame(f->bots[0].driver);
        if (f->stats_interval_s > 0 && now_ns >= next_stats_ns) {
            next_stats_ns = now_ns + f->stats_interval_s * CAIRN_NS_PER_S;
            print_statistics(f, "stats");
        }
        if (f->first.seconds > 0 && now_ns - start_ns >= f->first.seconds * CAIRN_NS_PER_S) {
            break;
        }
    }
    print_statistics(f, "final");
    for (uint32_t i = 0; i < f->count; i++) {
        cairn_client_uv_disconnect(f->bots[i].driver);
    }
}

static int exit_code(const bot *b) {
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

// False: a sentence was printed.
static bool create_bot(fleet *f, uint32_t i) {
    bot *b = &f->bots[i];
    *b = f->first;
    const int length = i == 0 ? snprintf(b->name, NAME_SIZE, "%s", f->name)
                              : snprintf(b->name, NAME_SIZE, "%s-%u", f->name, (unsigned)i + 1);
    b->random = cairn_random_of(f->seed + i);
    b->config.desync_report_context = b;
    b->bodies = malloc(b->config.bodies_max * sizeof b->bodies[0]);
    const cairn_status created = cairn_client_create(&b->config, &b->client);
    if (b->bodies == NULL || created != CAIRN_OK || length >= NAME_SIZE) {
        fprintf(stderr, "%s: %s\n", b->name, length >= NAME_SIZE ? "too long" : "out of memory");
        return false;
    }
    const cairn_client_uv_config driver = {.client = b->client,
        .loop = i == 0 ? NULL : cairn_client_uv_loop(f->bots[0].driver),
        .frame_rate_hz = FRAME_RATE_HZ,
        .on_frame = run_frame,
        .user = b};
    const cairn_status opened = cairn_client_uv_open(&driver, &b->driver);
    if (opened != CAIRN_OK) {
        fprintf(stderr, "%s: cannot open the event loop: %s\n", b->name, cairn_status_text(opened));
    }
    return opened == CAIRN_OK;
}

// Each has a client id of its own. The last token wipes the key. False: as cairn_token_source_read.
static bool connect_all(fleet *f, char error[CAIRN_TOKEN_SOURCE_ERROR_SIZE]) {
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    f->first.start_ns = cairn_client_uv_now_ns();
    for (uint32_t i = 0; i < f->count; i++) {
        cairn_token_source copy = f->source;
        cairn_token_source *source = i + 1 == f->count ? &f->source : &copy;
        source->client_id += i;
        if (!cairn_token_source_read(source, token, error)) {
            return false;
        }
        f->bots[i].start_ns = f->first.start_ns;
        (void)cairn_client_uv_connect(f->bots[i].driver, token); // a token that it refuses fails it
    }
    return true;
}

// Backwards, because the loop is the first one's.
static void destroy_bots(fleet *f) {
    for (uint32_t i = f->count; i-- > 0;) {
        cairn_client_uv_close(f->bots[i].driver);
    }
    for (uint32_t i = 0; i < f->count; i++) {
        cairn_client_destroy(f->bots[i].client);
        free(f->bots[i].bodies);
    }
    free(f->bots);
}

static int run_bots(fleet *f) {
    char error[CAIRN_TOKEN_SOURCE_ERROR_SIZE];
    int status = EXIT_OK;
    f->bots = calloc(f->count, sizeof *f->bots);
    for (uint32_t i = 0; f->bots != NULL && i < f->count; i++) {
        if (!create_bot(f, i)) {
            return EXIT_NOT_CONNECTED;
        }
    }
    if (f->bots == NULL || !connect_all(f, error)) {
        fprintf(stderr, "cairn-bot: %s\n", f->bots == NULL ? "out of memory" : error);
        return EXIT_USAGE;
    }
    play_until_end(f);
    for (uint32_t i = 0; i < f->count; i++) {
        const int own = exit_code(&f->bots[i]);
        status = own > status ? own : status;
    }
    destroy_bots(f);
    return status;
}

static const char *read_column(void *out, const char *value, bool first) {
    (void)first;
    column *c = out;
    c->asked = sscanf(value, "%lf,%lf,%lf", &c->x, &c->z, &c->radius) == 3;
    return c->asked ? NULL : "must be X,Z,RADIUS in metres";
}

// The client's report of a step that differed, as DIR/NAME-1.cairn and so on.
static void write_capsule(void *context, const uint8_t *bytes, size_t size) {
    bot *b = context;
    char path[512];
    const int length = snprintf(
        path, sizeof path, "%s/%s-%u.cairn", b->capsules, b->name, (unsigned)++b->capsule_count);
    if (length >= (int)sizeof path || !cairn_output_file_write(path, 0666, bytes, size)) {
        fprintf(stderr, "cairn-bot: %s: the capsule cannot be written\n", path);
    }
}

static uint64_t read_clock(void *context) {
    (void)context;
    return cairn_client_uv_now_ns();
}

static cairn_flags_result read_flags(int argc, char **argv, fleet *f) {
    static const char *const plans[] = {"none", "random", "push", NULL};
    static const char *room = "";
    bot *b = &f->first;
    cairn_token_source *token = &f->source;
    uint32_t mode = CAIRN_CLIENT_INTERPOLATE, inputs = PLAN_NONE;
    const cairn_flag flags[] = {
        {"--token", NULL, "FILE", "connect token of 2048 bytes; - for standard input",
            CAIRN_FLAG_TEXT, .out = &token->file},
        {"--key", NULL, "FILE", "issue a connect token with the servers' private key instead",
            CAIRN_FLAG_CUSTOM, .out = &token->key, .read = cairn_key_flag_file, .secret = true},
        {"--server", NULL, "HOST:PORT", "the issued token names this server; repeatable",
            CAIRN_FLAG_CUSTOM, .out = &token->server, .read = cairn_host_flag},
        {"--protocol-id", NULL, "ID", "of the issued token (0x636169726e)", CAIRN_FLAG_U64,
            .out = &token->protocol_id},
        {"--client-id", NULL, "ID", "of the issued token (1)", CAIRN_FLAG_U64,
            .out = &token->client_id},
        {"--clients", NULL, "N", "so many, with client ids from ID on, in one process (1)",
            CAIRN_FLAG_U32, .out = &f->count, .least = 1, .most = CLIENTS_MAX},
        {"--mode", NULL, "MODE", "interpolate, lockstep, predict or heal (interpolate)",
            CAIRN_FLAG_CHOICE, .out = &mode, .words = modes},
        {"--input-delay", NULL, "MS", "lockstep and predict: a fixed input delay (0: it adapts)",
            CAIRN_FLAG_U32, .out = &b->config.input_delay_ms, .most = 2000},
        {"--damage", NULL, "S",
            "heal: corrupt the own world every other second, from this second on (0: never)",
            CAIRN_FLAG_U64, .out = &b->damage_s, .most = 3600},
        {"--capsules", NULL, "DIR",
            "write a file for `cairn-replay explain` when the own world differs", CAIRN_FLAG_TEXT,
            .out = &b->capsules},
        {"--rebind", NULL, "S",
            "change the own address each time, as in another network (0: never)", CAIRN_FLAG_U64,
            .out = &b->rebind_s, .most = 3600},
        {"--rules", "CAIRN_RULES", "FILE",
            "load a game's rules (a shared object, docs/RULES.md); repeatable", CAIRN_FLAG_CUSTOM,
            .out = b, .read = cairn_rules_flag_read},
        {"--spectator", NULL, NULL, "join without a player slot", CAIRN_FLAG_SWITCH,
            .out = &b->config.spectator},
        {"--room", NULL, "NAME", "room to join (the server's first)", CAIRN_FLAG_TEXT,
            .out = &room},
        {"--inputs", NULL, "PLAN", "none, random (walk, jump) or push (towards +z) (none)",
            CAIRN_FLAG_CHOICE, .out = &inputs, .words = plans},
        {"--seed", NULL, "N", "seed of the inputs (1)", CAIRN_FLAG_U64, .out = &f->seed},
        {"--seconds", NULL, "S", "leave after this time; 0: stay (10)", CAIRN_FLAG_U64,
            .out = &b->seconds, .most = 86400},
        {"--json-stats", NULL, "S", "print statistics each time (0: only at the end)",
            CAIRN_FLAG_U64, .out = &f->stats_interval_s, .most = 3600},
        {"--join-after", NULL, "S", "wait, then read or issue the token (0)", CAIRN_FLAG_U64,
            .out = &f->join_after_s, .most = 3600},
        {"--column", NULL, "X,Z,RADIUS", "count the bodies above this disc", CAIRN_FLAG_CUSTOM,
            .out = &b->column, .read = read_column},
        {"--name", NULL, "TEXT", "name in what is printed (bot)", CAIRN_FLAG_TEXT, .out = &f->name},
    };
    cairn_flags_program program = {
        .name = "cairn-bot",
        .usage = "--token FILE | --key FILE --server HOST:PORT [FLAGS]",
        .about = "A client without a screen: joins a server, plays, and prints statistics as JSON.",
        .notes = "Exits with 0 when all is well, 1 when it did not play, 2 when a flag is wrong, "
                 "and 3 when its\n"
                 "world differs from the server's.",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags,
    };
    const cairn_flags_result result = cairn_flags_read(&program, argc, argv, NULL);
    b->config.mode = (cairn_client_mode)mode;
    b->config.room = room;
    b->config.rules = cairn_rules_last();
    b->config.on_desync_report = b->capsules != NULL ? write_capsule : NULL;
    b->plan = (plan)inputs;
    return result;
}

int cairn_bot_main(int argc, char **argv, const cairn_rules *const *rules, uint32_t count) {
    if (!cairn_rules_take("cairn-bot", rules, count)) {
        return EXIT_USAGE;
    }
    fleet f = {.name = "bot",
        .seed = 1,
        .count = 1,
        .first = {.seconds = 10, .config = cairn_client_config_default()},
        .source = {.protocol_id = CAIRN_PROTOCOL_ID_DEFAULT, .client_id = 1}};
    f.first.config.clock_ns = read_clock;
    cairn_system_forbid_core_dumps();
    const cairn_flags_result result = read_flags(argc, argv, &f);
    if (result != CAIRN_FLAGS_READ) {
        return result == CAIRN_FLAGS_REFUSED ? EXIT_USAGE : EXIT_OK;
    }
    if (f.count > 1 && f.source.file != NULL) {
        fprintf(stderr, "cairn-bot: --clients needs --key: a token is for one client\n");
        return EXIT_USAGE;
    }
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    const uint64_t join_ns = cairn_client_uv_now_ns() + f.join_after_s * CAIRN_NS_PER_S;
    while (!stopped && cairn_client_uv_now_ns() < join_ns) {
        cairn_system_sleep_ms(20);
    }
    return run_bots(&f);
}
