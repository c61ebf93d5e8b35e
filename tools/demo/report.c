// SPDX-License-Identifier: MIT
#include "tools/demo/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void cairn_demo_read_server_line(void *server, const char *line) {
    cairn_demo_server *s = server;
    cairn_json *json = cairn_json_parse(line, strlen(line));
    char event[32] = "";
    cairn_json_get_text(json, "event", event, sizeof event);
    if (strcmp(event, "listening") == 0) {
        cairn_json_get_text(json, "address", s->address, sizeof s->address);
    } else if (strcmp(event, "web") == 0) {
        char page[16] = "none";
        cairn_json_get_text(json, "address", s->web, sizeof s->web);
        cairn_json_get_text(json, "page", page, sizeof page);
        s->has_page = strcmp(page, "none") != 0;
    } else if (strcmp(event, "stats") == 0) {
        cairn_json *old = s->last;
        s->last = json;
        json = old;
    }
    cairn_json_destroy(json);
}

void cairn_demo_read_client_line(void *client, const char *line) {
    cairn_demo_client *c = client;
    cairn_json *json = cairn_json_parse(line, strlen(line));
    char kind[16];
    if (cairn_json_get_text(json, "kind", kind, sizeof kind)) {
        cairn_json_destroy(c->last);
        c->last = json;
        c->final |= strcmp(kind, "final") == 0;
    } else {
        cairn_json_destroy(json);
    }
}

void cairn_demo_report_end(cairn_demo_report *report) {
    cairn_json_destroy(report->server.last);
    for (int i = 0; i < CAIRN_DEMO_CLIENTS; i++) {
        cairn_json_destroy(report->clients[i].last);
    }
}

// A member of the last statistics; 0 if it is missing.
static double number(const cairn_json *last, const char *name) {
    double value = 0;
    cairn_json_get_number(last, name, &value);
    return value;
}

static bool has_mode(const cairn_demo_client *c, const char *mode) {
    return strcmp(c->mode, mode) == 0;
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
    const cairn_json *last = c->last;
    if (c->last == NULL) {
        draw_line(report, "  %-10s has not joined yet", c->name);
        return;
    }
    char work[128], state[16] = "";
    cairn_json_get_text(c->last, "state", state, sizeof state);
    if (has_mode(c, "lockstep")) {
        snprintf(work, sizeof work, "lockstep   %6.0f hash checks, %.0f differed",
            number(last, "roots_compared"), number(last, "roots_differed"));
    } else if (has_mode(c, "predict")) {
        snprintf(work, sizeof work, "predicts   %6.0f hash checks, %.0f differed, %.0f rollbacks",
            number(last, "roots_compared"), number(last, "roots_differed"),
            number(last, "rollbacks"));
    } else if (has_mode(c, "heal")) {
        snprintf(work, sizeof work,
            "heals      %6.0f hash checks, corrupted %.0f times, healed %.0f",
            number(last, "roots_compared"), number(last, "damaged"), number(last, "heals"));
    } else {
        snprintf(work, sizeof work, "snapshots  %6.0f shown %.0f ms late",
            number(last, "snapshots"), number(last, "delay_us") / 1000);
    }
    draw_line(report, "  %-10s %-8s rtt %6.2f ms   %s", c->name, state,
        number(last, "rtt_us") / 1000, work);
}

void cairn_demo_draw(cairn_demo_report *report, double seconds, double seconds_total) {
    const cairn_json *s = report->server.last;
    if (report->terminal && report->drawn > 0) {
        printf("\x1b[%dA", report->drawn);
    }
    report->drawn = 0;
    draw_line(report,
        "%3.0f/%.0f s  tick %6.0f   bodies %.0f, awake %.0f   clients %.0f   in %.1f kB/s, "
        "out %.1f kB/s   step %.2f ms",
        seconds, seconds_total, number(s, "tick"), number(s, "bodies"), number(s, "awake"),
        number(s, "clients"), number(s, "in_bytes_s") / 1000, number(s, "out_bytes_s") / 1000,
        number(s, "tick_us_p50") / 1000);
    for (int i = 0; i < CAIRN_DEMO_CLIENTS; i++) {
        draw_client(report, &report->clients[i]);
    }
    fflush(stdout);
}

static double sum_of_clients(const cairn_demo_report *report, const char *name) {
    double sum = 0;
    for (int i = 0; i < CAIRN_DEMO_CLIENTS; i++) {
        sum += number(report->clients[i].last, name);
    }
    return sum;
}

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
    return number(c->last, "column_bodies") >= CAIRN_DEMO_STACK_BODIES &&
           number(c->last, "column_top_m") >= CAIRN_DEMO_STACK_TOP_M;
}

static void print_client(const cairn_demo_client *c) {
    const cairn_json *last = c->last;
    if (has_mode(c, "predict")) {
        printf("rollbacks            %.0f of %.1f ticks, the longest %.2f ms: %.0f for another "
               "player's input,\n"
               "                     %.0f for one whose packet was lost, %.0f for one that was "
               "late, %.0f for\n"
               "                     late own input, %.0f for joins and leaves\n",
            number(last, "rollbacks"),
            number(last, "rollbacks") > 0
                ? number(last, "rollback_ticks") / number(last, "rollbacks")
                : 0,
            number(last, "rollback_us_max") / 1000, number(last, "rollbacks_wrong_prediction"),
            number(last, "rollbacks_lost_packet"), number(last, "rollbacks_late_input"),
            number(last, "rollbacks_own_input"), number(last, "rollbacks_join_leave"));
        printf("visible error        at most %.1f mm, smoothed away\n",
            number(last, "correction_mm_max"));
    } else if (has_mode(c, "heal")) {
        printf("healing              one body of %.0f corrupted %.0f times, healed %.0f times with "
               "at most\n"
               "                     %.0f elements, %.0f bytes and %.1f ms; %.0f took longer than "
               "a round\n"
               "                     trip and three ticks\n",
            number(last, "bodies") - 1, number(last, "damaged"), number(last, "heals"),
            number(last, "heal_elements_max"), number(last, "heal_bytes_max"),
            number(last, "heal_us_max") / 1000, number(last, "heals_slow"));
    }
}

// A busy machine may be late sometimes, but not most of the time.
static int judge_heals(const cairn_demo_client *c) {
    const cairn_json *last = c->last;
    return fail_if(!(number(last, "damaged") > 0), "client %s corrupted nothing", c->name) +
           fail_if(number(last, "heals") < number(last, "damaged"),
               "client %s was not healed each time", c->name) +
           fail_if(number(last, "heal_bytes_max") >= CAIRN_DEMO_HEAL_BYTES_MAX,
               "client %s needed %.0f bytes to be healed", c->name,
               number(last, "heal_bytes_max")) +
           fail_if(2 * number(last, "heals_slow") > number(last, "heals"),
               "client %s was healed too late", c->name);
}

// Clients that corrupt their own world are judged by their healing instead.
static double roots_differed(const cairn_demo_report *report) {
    double sum = 0;
    for (int i = 0; i < CAIRN_DEMO_CLIENTS; i++) {
        const cairn_demo_client *c = &report->clients[i];
        sum += has_mode(c, "heal") ? 0 : number(c->last, "roots_differed");
    }
    return sum;
}

static void print_figures(const cairn_demo_report *report) {
    const cairn_json *s = report->server.last;
    double snapshots = sum_of_clients(report, "snapshots");
    printf("\nticks run            %.0f (%.0f skipped), a step takes %.2f ms (median), %.2f ms ("
           "99 %%)\n",
        number(s, "tick"), number(s, "skipped"), number(s, "tick_us_p50") / 1000,
        number(s, "tick_us_p99") / 1000);
    printf("snapshots received   %.0f, %.0f of them keyframes, %.0f unusable\n", snapshots,
        sum_of_clients(report, "keyframes"), sum_of_clients(report, "unusable"));
    printf("bytes per snapshot   %.0f for %.0f bodies\n",
        snapshots > 0 ? sum_of_clients(report, "snapshot_bytes") / snapshots : 0,
        number(report->clients[0].last, "bodies"));
    printf("hash comparisons     %.0f by clients, %.0f by the server; %.0f and %.0f differed\n",
        sum_of_clients(report, "roots_compared"), number(s, "roots"), roots_differed(report),
        number(s, "roots_differed"));
    printf("inputs               %.0f sent (copies counted), %.0f late\n",
        sum_of_clients(report, "inputs_sent"), sum_of_clients(report, "inputs_late"));
    for (int i = 0; i < CAIRN_DEMO_CLIENTS; i++) {
        print_client(&report->clients[i]);
    }
    const cairn_demo_client *c = &report->clients[0];
    printf("stack of ten         %s: %.0f bodies, the highest at %.2f m\n",
        stack_stands(c) ? "stands" : "fell", number(c->last, "column_bodies"),
        number(c->last, "column_top_m"));
}

int cairn_demo_sum_up(const cairn_demo_report *report, bool verified) {
    int broken = 0;
    print_figures(report);
    for (int i = 0; i < CAIRN_DEMO_CLIENTS; i++) {
        const cairn_demo_client *c = &report->clients[i];
        const cairn_json *last = c->last;
        const bool simulates = !has_mode(c, "interpolate");
        bool played = false;
        cairn_json_get_bool(c->last, "played", &played);
        broken += fail_if(!c->final || !played, "client %s did not play", c->name);
        broken += has_mode(c, "heal")
                      ? judge_heals(c)
                      : fail_if(number(last, "roots_differed") > 0,
                            "the world of client %s differs from the server's", c->name);
        broken += fail_if(c->final && simulates && !(number(last, "roots_compared") > 0),
            "client %s compared no hash", c->name);
        broken += fail_if(c->final && !simulates && !(number(last, "snapshots") > 0),
            "client %s received no snapshot", c->name);
    }
    // Each corruption is reported once, or twice if a report was in flight.
    broken += fail_if(
        number(report->server.last, "roots_differed") > 2 * sum_of_clients(report, "damaged"),
        "clients reported other hashes to the server");
    broken += fail_if(!stack_stands(&report->clients[0]), "the stack of ten fell");
    broken += fail_if(!verified, "the recording does not verify");
    printf("%s\n", broken == 0 ? "all well" : "not well");
    return broken;
}
