// SPDX-License-Identifier: MIT
#pragma once

// Answers for /metrics, on the thread of the web: text in memory that is kept, and answers requests
// for a moment without the loop's thread.

#include <stdbool.h>
#include <stdint.h>

#include "server/web/http.h"
#include "server/web/metrics.h"

typedef struct cairn_scrape cairn_scrape;

cairn_scrape *cairn_scrape_create(void); // NULL: out of memory
// Answers may still be sent after this. NULL is allowed.
void cairn_scrape_destroy(cairn_scrape *scrape);

// `open`: as OpenMetrics. False: what is kept is too old.
bool cairn_scrape_kept(
    const cairn_scrape *scrape, bool open, uint64_t now_ns, cairn_http_answer *out);
// Fills what the loop's thread does not, and gives memory for what it reads, if any is kept.
void cairn_scrape_begin(cairn_scrape *scrape, cairn_web_counts *counts, cairn_metrics **memory);
// The answer, of what was asked for at `begin_ns`. Takes `read`.
cairn_http_answer cairn_scrape_end(
    cairn_scrape *scrape, bool open, uint64_t begin_ns, cairn_metrics *read);
