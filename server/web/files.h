// SPDX-License-Identifier: MIT
#pragma once

// The files of a page, read into memory at once: what is asked for later is looked up by its name,
// so no request reaches the file system.

#include <stdbool.h>
#include <stdint.h>

#include "server/web/http.h"

// What a folder may hold.
#define CAIRN_WEB_FILES_MAX 512
#define CAIRN_WEB_FILES_BYTES_MAX (UINT64_C(64) << 20)

typedef struct cairn_web_files cairn_web_files;

// Reads a folder and those in it; links are followed. Files with a leading dot are left out. False:
// `error` says why, and *out is NULL. A folder that does not exist holds no files.
bool cairn_web_files_load(
    const char *folder, cairn_web_files **out, char error[CAIRN_HTTP_ERROR_SIZE]);
// The answers of these files may be sent after this.
void cairn_web_files_release(cairn_web_files *files); // NULL is allowed
uint32_t cairn_web_files_count(const cairn_web_files *files);

// The file of a path; "/" is /index.html. False: the page has no such file.
bool cairn_web_files_get(
    cairn_web_files *files, const cairn_http_request *request, cairn_http_answer *out);
