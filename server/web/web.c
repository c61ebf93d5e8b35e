// SPDX-License-Identifier: MIT
// For clock_gettime, and the "e" of fopen.
#define _DEFAULT_SOURCE
#include "server/web/web.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "server/web/metrics.h"

struct cairn_web {
    cairn_web_config config;
    cairn_http *http;
    uint64_t start_unix_s;
};

static uint64_t resident_bytes(void) {
    unsigned long size = 0;
    unsigned long resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    const bool read = file != NULL && fscanf(file, "%lu %lu", &size, &resident) == 2;
    if (file != NULL) {
        fclose(file);
    }
    return read ? (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static uint64_t cpu_ns(void) {
    struct timespec used = {0};
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * CAIRN_NS_PER_S + (uint64_t)used.tv_nsec;
}

static cairn_http_answer metrics(const cairn_web *web, const char *accept) {
    const bool open = strstr(accept, "application/openmetrics-text") != NULL;
    const cairn_metrics_process process = {.io = cairn_uv_driver_statistics(web->config.driver),
        .start_unix_s = web->start_unix_s,
        .log_lines_lost = web->config.log_lines_lost(web->config.user),
        .resident_bytes = resident_bytes(),
        .cpu_ns = cpu_ns()};
    cairn_http_answer answer = {
        .status = 200, .type = open ? CAIRN_METRICS_OPEN_TYPE : CAIRN_METRICS_TYPE};
    answer.bytes = (uint8_t *)cairn_metrics_write(web->config.server, &process, open, &answer.size);
    return answer.bytes != NULL ? answer : (cairn_http_answer){.status = 503, .type = "text/plain"};
}

static cairn_http_answer words(uint32_t status, const char *text) {
    cairn_http_answer answer = {.status = status, .type = "text/plain", .size = strlen(text)};
    answer.bytes = malloc(answer.size);
    if (answer.bytes == NULL) {
        return (cairn_http_answer){.status = 503, .type = "text/plain"};
    }
    memcpy(answer.bytes, text, answer.size);
    return answer;
}

static cairn_http_answer get(void *user, const cairn_http_request *request) {
    const cairn_web *web = user;
    const char *path = request->path;
    if (strcmp(path, "/metrics") == 0) {
        return metrics(web, request->accept);
    }
    if (strcmp(path, "/healthz") == 0) {
        return words(200, "the loop runs\n");
    }
    if (strcmp(path, "/readyz") == 0) {
        return cairn_server_draining(web->config.server) ? words(503, "the server ends\n")
                                                         : words(200, "clients may join\n");
    }
    return words(404, "there are /metrics, /healthz and /readyz\n");
}

bool cairn_web_open(
    const cairn_web_config *config, cairn_web **out, char error[CAIRN_HTTP_ERROR_SIZE]) {
    *out = NULL;
    cairn_web *web = calloc(1, sizeof *web);
    if (web == NULL) {
        snprintf(error, CAIRN_HTTP_ERROR_SIZE, "out of memory");
        return false;
    }
    *web = (cairn_web){.config = *config, .start_unix_s = cairn_uv_unix_ns() / CAIRN_NS_PER_S};
    if (!cairn_http_open(
            cairn_uv_driver_loop(config->driver), &config->listen, get, web, &web->http, error)) {
        free(web);
        return false;
    }
    *out = web;
    return true;
}

void cairn_web_close(cairn_web *web) {
    if (web != NULL) {
        cairn_http_close(web->http);
        free(web);
    }
}

cairn_address cairn_web_address(const cairn_web *web) {
    return cairn_http_address(web->http);
}
