// SPDX-License-Identifier: MIT
// For clock_gettime, and the "e" of fopen.
#define _DEFAULT_SOURCE
#include "server/web/scrape.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include <cairn/server_uv.h>

// Counters are read at most this often; requests in between get the same answer.
#define AGE_NS UINT64_C(100000000)

// Text that answers share while they are sent.
typedef struct shared_text {
    uint32_t references;
    cairn_metrics_text text;
    uint64_t begin_ns; // when it was asked for; 0: it is not whole
} shared_text;

struct cairn_scrape {
    shared_text *texts[2];  // of each format; NULL: none yet
    cairn_metrics *metrics; // memory for what is read next; NULL: none
    uint64_t start_unix_s;
};

cairn_scrape *cairn_scrape_create(void) {
    cairn_scrape *scrape = calloc(1, sizeof *scrape);
    if (scrape != NULL) {
        scrape->start_unix_s = cairn_uv_unix_ns() / CAIRN_NS_PER_S;
    }
    return scrape;
}

static void release_text(void *owner) {
    shared_text *text = owner;
    if (text != NULL && --text->references == 0) {
        free(text->text.bytes);
        free(text);
    }
}

void cairn_scrape_destroy(cairn_scrape *scrape) {
    if (scrape != NULL) {
        release_text(scrape->texts[0]);
        release_text(scrape->texts[1]);
        cairn_metrics_destroy(scrape->metrics);
        free(scrape);
    }
}

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

static cairn_http_answer share(shared_text *text, bool open) {
    text->references += 1;
    return (cairn_http_answer){.status = 200,
        .type = open ? CAIRN_METRICS_OPEN_TYPE : CAIRN_METRICS_TYPE,
        .bytes = (const uint8_t *)text->text.bytes,
        .size = text->text.size,
        .release = release_text,
        .owner = text};
}

bool cairn_scrape_kept(
    const cairn_scrape *scrape, bool open, uint64_t now_ns, cairn_http_answer *out) {
    shared_text *text = scrape->texts[open ? 1 : 0];
    if (text == NULL || now_ns - text->begin_ns > AGE_NS) {
        return false;
    }
    *out = share(text, open);
    return true;
}

void cairn_scrape_begin(cairn_scrape *scrape, cairn_web_counts *counts, cairn_metrics **memory) {
    counts->start_unix_s = scrape->start_unix_s;
    counts->resident_bytes = resident_bytes();
    counts->cpu_ns = cpu_ns();
    *memory = scrape->metrics;
    scrape->metrics = NULL;
}

// Writes the kept text again. If an answer still uses it, takes new memory for it. NULL: out of
// memory.
static shared_text *renew(shared_text **kept, bool open, const cairn_metrics *read) {
    if (*kept != NULL && (*kept)->references > 1) {
        release_text(*kept);
        *kept = NULL;
    }
    if (*kept == NULL) {
        *kept = calloc(1, sizeof **kept);
        if (*kept == NULL) {
            return NULL;
        }
        (*kept)->references = 1;
    }
    (*kept)->begin_ns = 0;
    return cairn_metrics_write(read, open, &(*kept)->text) ? *kept : NULL;
}

cairn_http_answer cairn_scrape_end(
    cairn_scrape *scrape, bool open, uint64_t begin_ns, cairn_metrics *read) {
    shared_text *text = renew(&scrape->texts[open ? 1 : 0], open, read);
    cairn_metrics_destroy(scrape->metrics);
    scrape->metrics = read;
    if (text == NULL) {
        return (cairn_http_answer){.status = 503, .type = "text/plain"};
    }
    text->begin_ns = begin_ns;
    return share(text, open);
}
