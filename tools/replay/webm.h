// SPDX-License-Identifier: MIT
#pragma once

// The container of a film: WebM (Matroska with one track of VP9), with an index before the
// pictures, so that a browser can seek. https://www.webmproject.org/docs/container/, RFC 8794, RFC
// 9559.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CAIRN_WEBM_SIZE_MAX ((size_t)1 << 30) // bytes of pictures, which are kept until the end

// Bytes that grow. After a failure appends are ignored.
typedef struct cairn_webm_bytes {
    uint8_t *at; // owned
    size_t size, capacity;
    bool failed; // too long, or out of memory
} cairn_webm_bytes;

typedef struct cairn_webm {
    uint32_t width, height, pictures_hz;
    cairn_webm_bytes clusters; // each from a picture that needs no other one to the next such
    cairn_webm_bytes points;   // of the index: uint64_t ms and offset of each cluster
    size_t cluster;            // where the open one's size is; 0: none is open
    uint64_t cluster_ms;
    uint64_t count; // pictures
} cairn_webm;

// Appends the next picture. `alone`: it needs no picture before it; true for the first.
void cairn_webm_add(cairn_webm *webm, const void *bytes, size_t size, bool alone);
// NULL: written. Otherwise why not, a static text.
const char *cairn_webm_write(cairn_webm *webm, FILE *out);
void cairn_webm_destroy(cairn_webm *webm);
