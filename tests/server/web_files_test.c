// SPDX-License-Identifier: MIT
// The files of a page: which are read, and how they are answered.
#define _GNU_SOURCE
#include "tests/kit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/web/files.h"

static char folder[64];
static char error[CAIRN_HTTP_ERROR_SIZE];
static const char *known; // by the browser: If-None-Match

// Replaces the one of http.c (CMakeLists.txt).
bool __wrap_cairn_http_header_read(
    const cairn_http_request *request, cairn_http_header header, char *out, size_t size);
bool __wrap_cairn_http_header_read(
    const cairn_http_request *request, cairn_http_header header, char *out, size_t size) {
    (void)request;
    assert_int_equal(header, CAIRN_HTTP_IF_NONE_MATCH);
    snprintf(out, size, "%s", known == NULL ? "" : known);
    return known != NULL;
}

BEFORE_EACH {
    snprintf(folder, sizeof folder, "/tmp/cairn-files-XXXXXX");
    assert_non_null(mkdtemp(folder));
    known = NULL;
}

AFTER_EACH {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

// Makes the folders of the path, too.
static void write_file(const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')) != NULL; ++slash) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static cairn_web_files *load(void) {
    cairn_web_files *files;
    if (!cairn_web_files_load(folder, &files, error)) {
        fail_msg("%s", error);
    }
    return files;
}

static cairn_http_answer get(cairn_web_files *files, const char *path) {
    const cairn_http_request request = {.path = path};
    cairn_http_answer answer = {.status = 404};
    (void)cairn_web_files_get(files, &request, &answer);
    return answer;
}

TEST("a path has its file, with its type, and others have none") {
    write_file("index.html", "<title>");
    write_file("assets/a.js", "1");
    write_file("assets/deep/b.wasm", "2");
    write_file(".hidden", "3");
    write_file(".git/config", "4");
    cairn_web_files *files = load();
    assert_int_equal(cairn_web_files_count(files), 3);
    const struct {
        const char *path, *text, *type, *cache;
    } rows[] = {{"/", "<title>", "text/html; charset=utf-8", "no-cache"},
        {"/index.html", "<title>", "text/html; charset=utf-8", "no-cache"},
        {"/assets/a.js", "1", "text/javascript; charset=utf-8",
            "public, max-age=31536000, immutable"},
        {"/assets/deep/b.wasm", "2", "application/wasm", "public, max-age=31536000, immutable"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const cairn_http_answer answer = get(files, rows[i].path);
        assert_int_equal(answer.status, 200);
        assert_int_equal(answer.size, strlen(rows[i].text));
        assert_memory_equal(answer.bytes, rows[i].text, answer.size);
        assert_string_equal(answer.type, rows[i].type);
        assert_string_equal(answer.cache, rows[i].cache);
        answer.release(answer.owner);
    }
    const char *none[] = {"/a.js", "/.hidden", "/.git/config", "/assets", "/assets/", "", "//"};
    for (size_t i = 0; i < sizeof none / sizeof *none; ++i) {
        assert_int_equal(get(files, none[i]).status, 404);
    }
    cairn_web_files_release(files);
}

TEST("a file that the browser has is not sent again") {
    write_file("index.html", "<title>");
    cairn_web_files *files = load();
    const cairn_http_answer first = get(files, "/");
    char etag[64];
    snprintf(etag, sizeof etag, "%s", first.etag);
    assert_int_equal(strlen(etag), 18);
    known = etag;
    const cairn_http_answer again = get(files, "/");
    assert_int_equal(again.status, 304);
    assert_int_equal(again.size, 0);
    again.release(again.owner);
    known = "\"0000000000000000\"";
    const cairn_http_answer other = get(files, "/");
    assert_int_equal(other.status, 200);
    assert_int_equal(other.size, 7);
    other.release(other.owner);
    cairn_web_files_release(files);
    assert_memory_equal(first.bytes, "<title>", 7); // an answer that is being sent keeps its file
    first.release(first.owner);
}

TEST("a folder that is missing is empty, and one that is too deep or too large is refused") {
    cairn_web_files *files;
    assert_true(cairn_web_files_load("/tmp/cairn-there-is-no-such-folder", &files, error));
    assert_int_equal(cairn_web_files_count(files), 0);
    cairn_web_files_release(files);
    write_file("1/2/3/4/5/6/7/file", "");
    files = load();
    assert_int_equal(cairn_web_files_count(files), 1);
    cairn_web_files_release(files);
    write_file("1/2/3/4/5/6/7/8/file", "");
    assert_false(cairn_web_files_load(folder, &files, error));
    assert_null(files);
    assert_non_null(strstr(error, "too long"));
}

TEST("a page has so many files and bytes") {
    char name[32];
    cairn_web_files *files;
    for (uint32_t i = 0; i < CAIRN_WEB_FILES_MAX; ++i) {
        snprintf(name, sizeof name, "%u", i);
        write_file(name, "");
    }
    files = load();
    assert_int_equal(cairn_web_files_count(files), CAIRN_WEB_FILES_MAX);
    cairn_web_files_release(files);
    write_file("one more", "");
    assert_false(cairn_web_files_load(folder, &files, error));
    assert_non_null(strstr(error, "512 files or 64 MiB"));
}
