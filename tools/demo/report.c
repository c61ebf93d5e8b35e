// SPDX-License-Identifier: MIT
#include "tools/demo/report.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "program/json.h"

// A member of a line and its place in a cairn_demo_server or cairn_demo_client.
typedef struct number_member {
    const char *name;
    size_t offset;
} number_member;

static void read_numbers(
    const cairn_json *json, const number_member *members, size_t count, void *out) {
    for (size_t i = 0; i < count; i++) {
        cairn_json_get_number(
            json, members[i].name, (double *)(void *)((char *)out + members[i].offset));
    }
}

#define SERVER(member)                                                                             \
    { #member, offsetof(cairn_demo_server, member) }
#define CLIENT(member)                                                                             \
    { #member, offsetof(cairn_demo_client, member) }

void cairn_demo_take_server_line(void *server, const char *line) {
    static const number_member members[] = {SERVER(tick), SERVER(clients), SERVER(bodies),
        SERVER(awake), SERVER(in_bytes_s), SERVER(out_bytes_s), SERVER(tick_us_p50),
        SERVER(tick_us_p99), SERVER(late_us_p99), SERVER(skipped), SERVER(roots),
        SERVER(roots_differed)};
    cairn_demo_server *s = server;
    cairn_json *json = cairn_json_parse(line, strlen(line));
    char event[32] = "";
    cairn_json_get_text(json, "event", event, sizeof event);
    if (strcmp(event, "listening") == 0) {
        cairn_json_get_text(json, "address", s->address, sizeof s->address);
    } else if (strcmp(event, "stats") == 0) {
        read_numbers(json, members, sizeof members / sizeof *members, s);
    }
    cairn_json_destroy(json);
}

void cairn_demo_take_client_line(void *client, const char *line) {
    static const number_member members[] = {CLIENT(tick), CLIENT(snapshots), CLIENT(keyframes),
        CLIENT(unusable), CLIENT(snapshot_bytes), CLIENT(roots_compared), CLIENT(roots_differed),
        CLIENT(inputs_sent), CLIENT(inputs_late), CLIENT(rtt_us), CLIENT(delay_us),
        CLIENT(column_bodies), CLIENT(column_top_m), CLIENT(predicted_ticks), CLIENT(rollbacks),
        CLIENT(rollback_ticks), CLIENT(rollback_us_max), CLIENT(correction_mm_max),
        CLIENT(rollbacks_late_input), CLIENT(rollbacks_own_input),
        CLIENT(rollbacks_wrong_prediction), CLIENT(rollbacks_lost_packet),
        CLIENT(rollbacks_join_leave), CLIENT(bodies), CLIENT(damaged), CLIENT(heals),
        CLIENT(heals_slow), CLIENT(heal_us_max), CLIENT(heal_bytes_max), CLIENT(heal_elements_max)};
    cairn_demo_client *c = client;
    cairn_json *json = cairn_json_parse(line, strlen(line));
    char kind[16];
    if (cairn_json_get_text(json, "kind", kind, sizeof kind)) {
        c->seen = true;
        c->final |= strcmp(kind, "final") == 0;
        cairn_json_get_bool(json, "played", &c->played);
        cairn_json_get_text(json, "mode", c->mode, sizeof c->mode);
        cairn_json_get_text(json, "state", c->state, sizeof c->state);
        read_numbers(json, members, sizeof members / sizeof *members, c);
    }
    cairn_json_destroy(json);
}

static void draw_line(cairn_demo_report *report, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("%s\n", report->terminal ? "\x1b[K" : "");
    report->drawn++;
}

static void draw_client(cairn_demo_report *report, const cairn_demo_client *c) {
    if (!c->seen) {
        draw_line(report, "  %-10s has not joined yet", c->name);
        return;
    }
    char work[128];
    if (strcmp(c->mode, "lockstep") == 0) {
        snprintf(work, sizeof work, "lockstep   %6.0f hash checks, %.0f differed",
            c->roots_compared, c->roots_differed);
    } else if (strcmp(c->mode, "predict") == 0) {
        snprintf(work, sizeof work, "predicts   %6.0f hash checks, %.0f differed, %.0f rollbacks",
            c->roots_compared, c->roots_differed, c->rollbacks);
    } else if (strcmp(c->mode, "heal") == 0) {
        snprintf(work, sizeof work,
            "heals      %6.0f hash checks, corrupted %.0f times, healed %.0f", c->roots_compared,
            c->damaged, c->heals);
    } else {
        snprintf(work, sizeof work, "snapshots  %6.0f shown %.0f ms late", c->snapshots,
            c->delay_us / 1000);
    }
    draw_line(report, "  %-10s %-8s rtt %6.2f ms   %s", c->name, c->state, c->rtt_us / 1000, work);
}

void cairn_demo_draw(cairn_demo_report *report, double seconds, double seconds_total) {
    const cairn_demo_server *s = &report->server;
    if (report->terminal && report->drawn > 0) {
        printf("\x1b[%dA", report->drawn);
    }
    report->drawn = 0;
    draw_line(report,
        "%3.0f/%.0f s  tick %6.0f   bodies %.0f, awake %.0f   clients %.0f   in %.1f kB/s, "
        "out %.1f kB/s   step %.2f ms",
        seconds, seconds_total, s->tick, s->bodies, s->awake, s->clients, s->in_bytes_s / 1000,
        s->out_bytes_s / 1000, s->tick_us_p50 / 1000);
    for (int i = 0; i < CAIRN_DEMO_CLIENTS; i++) {
        draw_client(report, &report->clients[i]);
    }
    fflush(stdout);
}

static double sum_of_clients(const cairn_demo_report *report, size_t offset) {
    double sum = 0;
    for (int i = 0; i < CAIRN_DEMO_CLIENTS; i++) {
        const char *client = (const char *)&report->clients[i];
        double value;
        memcpy(&value, client + offset, sizeof value);
        sum += value;
    }
    return sum;
}

#define TOTAL(member) sum_of_clients(report, offsetof(cairn_demo_client, member))

static int fail_if(bool broken, const char *format, ...) {
    if (broken) {
        va_list arguments;
        va_start(arguments, format);
        printf("FAILED: ");
        vprintf(format, arguments);
        va_end(arguments);
        printf("\n");
    }
    return broken ? 1 : 0;
}

static bool stack_stands(const cairn_demo_client *c) {
    return c->column_bodies >= CAIRN_DEMO_STACK_BODIES && c->column_top_m >= CAIRN_DEMO_STACK_TOP_M;
}

static bool corrupts_itself(const cairn_demo_client *c) {
    return strcmp(c->mode, "heal") == 0;
}

static void print_client(const cairn_demo_client *c) {
    if (strcmp(c->mode, "predict") == 0) {
        printf("rollbacks            %.0f of %.1f ticks, the longest %.2f ms: %.0f for another "
               "player's input,\n"
               "                     %.0f for one whose packet was lost, %.0f for one that was "
               "late, %.0f for\n"
               "                     late own input, %.0f for joins and leaves\n",
            c->rollbacks, c->rollbacks > 0 ? c->rollback_ticks / c->rollbacks : 0,
            c->rollback_us_max / 1000, c->rollbacks_wrong_prediction, c->rollbacks_lost_packet,
            c->rollbacks_late_input, c->rollbacks_own_input, c->rollbacks_join_leave);
        printf("visible error        at most %.1f mm, smoothed away\n", c->correction_mm_max);
    } else if (corrupts_itself(c)) {
        printf("healing              one body of %.0f corrupted %.0f times, healed %.0f times with "
               "at most\n"
               "                     %.0f elements, %.0f bytes and %.1f ms; %.0f took longer than "
               "a round\n"
               "                     trip and three ticks\n",
            c->bodies - 1, c->damaged, c->heals, c->heal_elements_max, c->heal_bytes_max,
            c->heal_us_max / 1000, c->heals_slow);
    }
}

// A busy machine may be late sometimes, but not most of the time.
static int judge_heals(const cairn_demo_client *c) {
    return fail_if(!(c->damaged > 0), "client %s corrupted nothing", c->name) +
           fail_if(c->heals < c->damaged, "client %s was not healed each time", c->name) +
           fail_if(c->heal_bytes_max >= CAIRN_DEMO_HEAL_BYTES_MAX,
               "client %s needed %.0f bytes to be healed", c->name, c->heal_bytes_max) +
           fail_if(2 * c->heals_slow > c->heals, "client %s was healed too late", c->name);
}

// Clients that corrupt their own world are judged by their healing instead.
static double roots_differed(const cairn_demo_report *report) {
    double sum = 0;
    for (int i = 0; i < CAIRN_DEMO_CLIENTS; i++) {
        const cairn_demo_client *c = &report->clients[i];
        sum += corrupts_itself(c) ? 0 : c->roots_differed;
    }
    return sum;
}

static void print_figures(const cairn_demo_report *report) {
    const cairn_demo_server *s = &report->server;
    double snapshots = TOTAL(snapshots);
    printf("\nticks run            %.0f (%.0f skipped), a step takes %.2f ms (median), %.2f ms ("
           "99 %%)\n",
        s->tick, s->skipped, s->tick_us_p50 / 1000, s->tick_us_p99 / 1000);
    printf("snapshots received   %.0f, %.0f of them keyframes, %.0f unusable\n", snapshots,
        TOTAL(keyframes), TOTAL(unusable));
    printf("bytes per snapshot   %.0f for %.0f bodies\n",
        snapshots > 0 ? TOTAL(snapshot_bytes) / snapshots : 0, report->clients[0].bodies);
    printf("hash comparisons     %.0f by clients, %.0f by the server; %.0f and %.0f differed\n",
        TOTAL(roots_compared), s->roots, roots_differed(report), s->roots_differed);
    printf("inputs               %.0f sent (copies counted), %.0f late\n", TOTAL(inputs_sent),
        TOTAL(inputs_late));
    for (int i = 0; i < CAIRN_DEMO_CLIENTS; i++) {
        print_client(&report->clients[i]);
    }
    const cairn_demo_client *c = &report->clients[0];
    printf("stack of ten         %s: %.0f bodies, the highest at %.2f m\n",
        stack_stands(c) ? "stands" : "fell", c->column_bodies, c->column_top_m);
}

int cairn_demo_sum_up(const cairn_demo_report *report, bool verified) {
    int broken = 0;
    print_figures(report);
    for (int i = 0; i < CAIRN_DEMO_CLIENTS; i++) {
        const cairn_demo_client *c = &report->clients[i];
        bool simulates = strcmp(c->mode, "interpolate") != 0;
        broken += fail_if(!c->final || !c->played, "client %s did not play", c->name);
        broken += corrupts_itself(c)
                      ? judge_heals(c)
                      : fail_if(c->roots_differed > 0,
                            "the world of client %s differs from the server's", c->name);
        broken += fail_if(c->final && simulates && !(c->roots_compared > 0),
            "client %s compared no hash", c->name);
        broken += fail_if(c->final && !simulates && !(c->snapshots > 0),
            "client %s received no snapshot", c->name);
    }
    // Each corruption is reported once, or twice if a report was in flight.
    broken += fail_if(report->server.roots_differed > 2 * TOTAL(damaged),
        "clients reported other hashes to the server");
    broken += fail_if(!stack_stands(&report->clients[0]), "the stack of ten fell");
    broken += fail_if(!verified, "the recording does not verify");
    printf("%s\n", broken == 0 ? "all well" : "not well");
    return broken;
}
