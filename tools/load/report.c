// SPDX-License-Identifier: MIT
#include "tools/load/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "program/json.h"
#include "program/output_file.h"

#define BAR_WIDTH 50
// Of the doublings that are shown: what is below 16 us falls into one.
#define SHORTEST 12

// The sums and distributions of a run, read once for whatever is printed.
typedef struct figures {
    double seconds;
    uint32_t played;
    uint32_t playing;
    cairn_histogram late_ns;       // of ticks while the measurement lasted
    cairn_histogram late_joins_ns; // and before it, while clients joined
    uint64_t ticks_lost;
    uint64_t ticks_lost_joins;
    uint64_t datagrams_received;
    uint64_t datagrams_sent;
    uint64_t bytes_received;
    uint64_t bytes_sent;
    double loss; // mean of the clients' own measurement, of what they sent
    double updates_hz;
    double updates_hz_min; // of the client that got fewest
    double own_cores;
    double watched_cores;
    double watched_us_per_datagram; // of processor time
    double watched_kb_per_client;   // that the process grew by
} figures;

load_usage load_usage_read(uint32_t process_id) {
    load_usage usage = {0};
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/stat", process_id);
    FILE *file = fopen(path, "r");
    const size_t size = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);
    if (file != NULL) {
        fclose(file);
    }
    text[size] = '\0';
    // The name of the program, in brackets, may hold anything. utime and stime are fields 14 and
    // 15, the resident pages field 24.
    const char *at = strrchr(text, ')');
    uint64_t user = 0, kernel = 0, pages = 0;
    if (at != NULL && sscanf(at + 1,
                          " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
                          " %*d %*d %*d %*d %*d %*d %*u %*u %" SCNu64,
                          &user, &kernel, &pages) == 3) {
        usage.cpu_s = (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
        usage.resident_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    }
    return usage;
}

static double updates_per_second(const load_client *own, double seconds) {
    return (double)own->gaps_ns.count / seconds;
}

static figures read_figures(const load_fleet *fleet, const load_times *times) {
    figures f = {.seconds = (double)(times->to_ns - times->from_ns) / 1e9, .updates_hz_min = 1e9};
    for (uint32_t i = 0; i < fleet->config.room_count; i++) {
        const load_ticks *ticks = &fleet->ticks[i];
        f.ticks_lost += load_ticks_lateness(ticks, times->from_ns, times->to_ns, &f.late_ns);
        f.ticks_lost_joins +=
            load_ticks_lateness(ticks, times->join_from_ns, times->from_ns, &f.late_joins_ns);
    }
    for (uint32_t i = 0; i < fleet->begun; i++) {
        const load_client *own = &fleet->clients[i];
        cairn_client_statistics now;
        cairn_client_statistics_read(own->client, &now);
        f.played += own->played_ns != 0 ? 1 : 0;
        f.playing += own->state == CAIRN_CLIENT_PLAYING ? 1 : 0;
        f.datagrams_received += now.connection.datagrams_received - own->before.datagrams_received;
        f.datagrams_sent += now.connection.datagrams_sent - own->before.datagrams_sent;
        f.bytes_received += now.connection.bytes_received - own->before.bytes_received;
        f.bytes_sent += now.connection.bytes_sent - own->before.bytes_sent;
        f.loss += (double)now.connection.loss / fleet->begun;
        const double updates_hz = updates_per_second(own, f.seconds);
        f.updates_hz += updates_hz / fleet->begun;
        f.updates_hz_min = updates_hz < f.updates_hz_min ? updates_hz : f.updates_hz_min;
    }
    const double cpu_s = times->watched_after.cpu_s - times->watched_before.cpu_s;
    const uint64_t datagrams = f.datagrams_received + f.datagrams_sent;
    const uint64_t grown =
        times->watched_after.resident_bytes - times->watched_before_joins.resident_bytes;
    f.own_cores = (times->own_after.cpu_s - times->own_before.cpu_s) / f.seconds;
    f.watched_cores = cpu_s / f.seconds;
    f.watched_us_per_datagram = datagrams > 0 ? cpu_s * 1e6 / (double)datagrams : 0;
    f.watched_kb_per_client = (double)(int64_t)grown / 1024 / fleet->config.clients;
    return f;
}

static void print_distribution(const char *name, const cairn_histogram *histogram, double unit_ns) {
    printf("%-28s%10.3f%10.3f%10.3f%12" PRIu64 "\n", name,
        (double)cairn_histogram_percentile(histogram, 500) / unit_ns,
        (double)cairn_histogram_percentile(histogram, 990) / unit_ns,
        (double)histogram->max / unit_ns, histogram->count);
}

// A bar for each doubling.
static void print_histogram(const cairn_histogram *histogram) {
    uint64_t counts[CAIRN_HISTOGRAM_BUCKETS / 4] = {0};
    uint32_t first = CAIRN_HISTOGRAM_BUCKETS / 4, last = 0;
    uint64_t most = 1;
    for (uint32_t i = 0; i < CAIRN_HISTOGRAM_BUCKETS; i++) {
        counts[i / 4 < SHORTEST ? SHORTEST : i / 4] += histogram->buckets[i];
    }
    for (uint32_t i = 0; i < CAIRN_HISTOGRAM_BUCKETS / 4; i++) {
        first = counts[i] > 0 && i < first ? i : first;
        last = counts[i] > 0 ? i : last;
        most = counts[i] > most ? counts[i] : most;
    }
    for (uint32_t i = first; i <= last; i++) {
        const double top_us = (double)(UINT64_C(1) << (i + 2)) / 1000;
        const int width = (int)((counts[i] * BAR_WIDTH + most - 1) / most);
        printf("  below %10.1f us %10" PRIu64 "  %.*s\n", top_us, counts[i], width,
            "##################################################");
    }
}

void load_report_print(const load_fleet *fleet, const load_times *times) {
    const figures f = read_figures(fleet, times);
    const double each = f.seconds * fleet->config.clients;
    printf("%" PRIu32 " clients, %" PRIu32 " played, %" PRIu32 " still do; measured for %.1f s\n\n",
        fleet->config.clients, f.played, f.playing, f.seconds);
    printf("%-28s%10s%10s%10s%12s\n", "ms", "p50", "p99", "max", "samples");
    print_distribution("lateness of ticks", &f.late_ns, 1e6);
    print_distribution("  while clients joined", &f.late_joins_ns, 1e6);
    print_distribution("last clients after the first", &fleet->spread_ns, 1e6);
    print_distribution("gaps between updates", &fleet->gaps_ns, 1e6);
    print_distribution("joins", &fleet->joins_ns, 1e6);
    printf("\nticks lost: %" PRIu64 ", while clients joined: %" PRIu64 "\n", f.ticks_lost,
        f.ticks_lost_joins);
    printf("updates of each client: %.1f/s, the fewest %.1f/s\n", f.updates_hz, f.updates_hz_min);
    printf("each client received %.0f B/s in %.1f datagrams/s and sent %.0f B/s in %.1f; loss %.2f "
           "%%\n",
        (double)f.bytes_received / each, (double)f.datagrams_received / each,
        (double)f.bytes_sent / each, (double)f.datagrams_sent / each, 100 * f.loss);
    printf("this program used %.2f of a core%s\n", f.own_cores,
        f.own_cores > 0.9 ? ": it is too slow for this load, so its figures are of itself" : "");
    if (times->watched != 0) {
        printf("process %" PRIu32 " used %.2f of a core, %.2f s per million datagrams, and grew by "
               "%.1f kB per client\n",
            times->watched, f.watched_cores, f.watched_us_per_datagram, f.watched_kb_per_client);
    }
    printf("\nlateness of ticks:\n");
    print_histogram(&f.late_ns);
}

static void put_distribution(cairn_json *json, const char *name, const cairn_histogram *histogram) {
    cairn_json *object = cairn_json_put_object(json, name);
    cairn_json_put_count(object, "count", histogram->count);
    cairn_json_put_count(object, "p50", cairn_histogram_percentile(histogram, 500) / 1000);
    cairn_json_put_count(object, "p99", cairn_histogram_percentile(histogram, 990) / 1000);
    cairn_json_put_count(object, "max", histogram->max / 1000);
}

void load_report_print_json(const load_fleet *fleet, const load_times *times) {
    const figures f = read_figures(fleet, times);
    cairn_json *json = cairn_json_create();
    cairn_json_put_count(json, "clients", fleet->config.clients);
    cairn_json_put_count(json, "played", f.played);
    cairn_json_put_count(json, "playing", f.playing);
    cairn_json_put_real(json, "seconds", f.seconds);
    put_distribution(json, "late_us", &f.late_ns);
    put_distribution(json, "late_joins_us", &f.late_joins_ns);
    put_distribution(json, "spread_us", &fleet->spread_ns);
    put_distribution(json, "gap_us", &fleet->gaps_ns);
    put_distribution(json, "join_us", &fleet->joins_ns);
    cairn_json_put_count(json, "ticks_lost", f.ticks_lost);
    cairn_json_put_count(json, "ticks_lost_joins", f.ticks_lost_joins);
    cairn_json_put_real(json, "updates_hz", f.updates_hz);
    cairn_json_put_real(json, "updates_hz_min", f.updates_hz_min);
    cairn_json_put_count(json, "datagrams_received", f.datagrams_received);
    cairn_json_put_count(json, "datagrams_sent", f.datagrams_sent);
    cairn_json_put_count(json, "bytes_received", f.bytes_received);
    cairn_json_put_count(json, "bytes_sent", f.bytes_sent);
    cairn_json_put_real(json, "loss", f.loss);
    cairn_json_put_count(json, "send_errors", fleet->send_errors);
    cairn_json_put_real(json, "own_cores", f.own_cores);
    if (times->watched != 0) {
        cairn_json_put_real(json, "watched_cores", f.watched_cores);
        cairn_json_put_real(json, "watched_us_per_datagram", f.watched_us_per_datagram);
        cairn_json_put_real(json, "watched_kb_per_client", f.watched_kb_per_client);
    }
    cairn_json_print(json, stdout);
    cairn_json_destroy(json);
}

bool load_report_write_csv(const load_fleet *fleet, const load_times *times, const char *path) {
    const double seconds = (double)(times->to_ns - times->from_ns) / 1e9;
    cairn_output_file out;
    if (!cairn_output_file_open(&out, path, 0666)) {
        return false;
    }
    fprintf(out.file, "client,played,join_ms,updates_per_s,gap_p50_ms,gap_p99_ms,gap_max_ms,"
                      "datagrams_received,bytes_received,datagrams_sent,bytes_sent,loss,rtt_us\n");
    for (uint32_t i = 0; i < fleet->begun; i++) {
        const load_client *own = &fleet->clients[i];
        const cairn_histogram *gaps = &own->gaps_ns;
        cairn_client_statistics now;
        cairn_client_statistics_read(own->client, &now);
        const cairn_client_connection_statistics *link = &now.connection;
        const uint64_t join_ns = own->played_ns != 0 ? own->played_ns - own->begin_ns : 0;
        fprintf(out.file,
            "%" PRIu64 ",%d,%.3f,%.2f,%.3f,%.3f,%.3f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
            ",%.4f,%" PRIu64 "\n",
            fleet->config.source.client_id + i, own->played_ns != 0, (double)join_ns / 1e6,
            updates_per_second(own, seconds), (double)cairn_histogram_percentile(gaps, 500) / 1e6,
            (double)cairn_histogram_percentile(gaps, 990) / 1e6, (double)gaps->max / 1e6,
            link->datagrams_received - own->before.datagrams_received,
            link->bytes_received - own->before.bytes_received,
            link->datagrams_sent - own->before.datagrams_sent,
            link->bytes_sent - own->before.bytes_sent, (double)link->loss, link->rtt_ns / 1000);
    }
    return cairn_output_file_close(&out, true);
}
