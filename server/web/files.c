// SPDX-License-Identifier: MIT
// For opendir and stat, and the "e" of fopen.
#define _DEFAULT_SOURCE
#include "server/web/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/assert.h"
#include "base/checksum.h"

#define PATH_SIZE 1024
#define DEPTH_MAX 8
// Vite puts a hash of the content into the names of the files there.
#define IMMUTABLE_FOLDER "/assets/"
#define ETAG_SIZE 20

typedef struct file {
    char *path; // as requests name it
    const char *type;
    uint8_t *bytes;
    size_t size;
    char etag[ETAG_SIZE];
} file;

struct cairn_web_files {
    uint32_t references; // 1, and one for each answer that is being sent
    uint32_t count;
    uint64_t size;
    file list[CAIRN_WEB_FILES_MAX];
};

static const char *type_of(const char *path) {
    static const struct {
        const char *ending;
        const char *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".mjs", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".json", "application/json"},
        {".webmanifest", "application/manifest+json"},
        {".wasm", "application/wasm"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".jpg", "image/jpeg"},
        {".webp", "image/webp"},
        {".ico", "image/x-icon"},
        {".woff2", "font/woff2"},
        {".txt", "text/plain; charset=utf-8"},
    };
    const char *ending = strrchr(path, '.');
    for (size_t i = 0; ending != NULL && i < sizeof types / sizeof *types; ++i) {
        if (strcmp(ending, types[i].ending) == 0) {
            return types[i].type;
        }
    }
    return "application/octet-stream";
}

static bool refuse(char *error, const char *path, const char *why) {
    snprintf(error, CAIRN_HTTP_ERROR_SIZE, "%.100s: %s", path, why);
    return false;
}

static bool read_bytes(const char *path, uint8_t *out, size_t size) {
    FILE *opened = fopen(path, "rbe");
    const bool read = opened != NULL && fread(out, 1, size, opened) == size;
    if (opened != NULL) {
        fclose(opened);
    }
    return read;
}

// `name`: as requests name it.
static bool add_file(
    cairn_web_files *files, const char *path, const char *name, uint64_t size, char *error) {
    if (files->count == CAIRN_WEB_FILES_MAX || size > CAIRN_WEB_FILES_BYTES_MAX - files->size) {
        return refuse(error, path, "the page has more than 512 files or 64 MiB");
    }
    file *added = &files->list[files->count++];
    *added = (file){.path = strdup(name),
        .type = type_of(name),
        .bytes = malloc(size + 1),
        .size = (size_t)size};
    files->size += size;
    if (added->path == NULL || added->bytes == NULL) {
        return refuse(error, path, "out of memory");
    }
    if (!read_bytes(path, added->bytes, added->size)) {
        return refuse(error, path, "cannot be read");
    }
    const uint64_t sum = cairn_checksum(added->bytes, added->size);
    snprintf(added->etag, sizeof added->etag, "\"%016llx\"", (unsigned long long)sum);
    return true;
}

// `begin`: how much of `path` is the folder of all files.
static bool add_folder(
    cairn_web_files *files, const char *path, size_t begin, uint32_t depth, char *error) {
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return errno == ENOENT && depth == 0 ? true : refuse(error, path, strerror(errno));
    }
    bool good = true;
    for (const struct dirent *entry; good && (entry = readdir(folder)) != NULL;) {
        char inner[PATH_SIZE];
        struct stat status;
        const int length = snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] == '.') {
            continue;
        }
        if (length < 0 || (size_t)length >= sizeof inner || depth == DEPTH_MAX) {
            good = refuse(error, path, "the names in it are too long");
        } else if (stat(inner, &status) != 0) {
            good = refuse(error, inner, strerror(errno));
        } else if (S_ISDIR(status.st_mode)) {
            good = add_folder(files, inner, begin, depth + 1, error);
        } else if (S_ISREG(status.st_mode)) {
            good = add_file(files, inner, inner + begin, (uint64_t)status.st_size, error);
        }
    }
    closedir(folder);
    return good;
}

bool cairn_web_files_load(
    const char *folder, cairn_web_files **out, char error[CAIRN_HTTP_ERROR_SIZE]) {
    *out = NULL;
    cairn_web_files *files = calloc(1, sizeof *files);
    if (files == NULL) {
        return refuse(error, folder, "out of memory");
    }
    files->references = 1;
    if (!add_folder(files, folder, strlen(folder), 0, error)) {
        cairn_web_files_release(files);
        return false;
    }
    *out = files;
    return true;
}

void cairn_web_files_release(cairn_web_files *files) {
    if (files == NULL || --files->references > 0) {
        return;
    }
    for (uint32_t i = 0; i < files->count; ++i) {
        free(files->list[i].path);
        free(files->list[i].bytes);
    }
    free(files);
}

uint32_t cairn_web_files_count(const cairn_web_files *files) {
    return files->count;
}

static void release(void *owner) {
    cairn_web_files_release(owner);
}

static const file *find(const cairn_web_files *files, const char *path) {
    const char *name = strcmp(path, "/") == 0 ? "/index.html" : path;
    for (uint32_t i = 0; i < files->count; ++i) {
        if (strcmp(files->list[i].path, name) == 0) {
            return &files->list[i];
        }
    }
    return NULL;
}

// A browser that has the file already is sent its head alone.
bool cairn_web_files_get(
    cairn_web_files *files, const cairn_http_request *request, cairn_http_answer *out) {
    char known[64];
    const file *found = find(files, request->path);
    if (found == NULL) {
        return false;
    }
    const bool same =
        cairn_http_header_read(request, CAIRN_HTTP_IF_NONE_MATCH, known, sizeof known) &&
        strcmp(known, found->etag) == 0;
    const bool immutable = strncmp(found->path, IMMUTABLE_FOLDER, strlen(IMMUTABLE_FOLDER)) == 0;
    files->references += 1;
    *out = (cairn_http_answer){.status = same ? 304 : 200,
        .type = found->type,
        .bytes = found->bytes,
        .size = same ? 0 : found->size,
        .release = release,
        .owner = files,
        .cache = immutable ? "public, max-age=31536000, immutable" : "no-cache",
        .etag = found->etag};
    return true;
}
