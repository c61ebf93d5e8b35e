// SPDX-License-Identifier: MIT
// A recording inside the page that plays it: one file of HTML, which needs no server and no
// network. The page's build (web/) makes a template with all scripts, the module and the place of
// the recording.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/replay/output.h"
#include "tools/replay/verbs.h"
#include <cairn/version.h>

#define TEMPLATE "standalone.html"
#define FOLDER "../share/cairn/web/"
// Where the recording goes; web/vite.config.mjs writes the same line.
#define PLACE_FORMAT "<!--recording of simulation %u-->"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

static const char base64[] = LETTERS "+/";

// NULL: not there, or twice.
static const char *find_once(const cairn_system_map *in, const char *text) {
    const char *at = (const char *)in->bytes, *end = at + in->size, *found = NULL;
    const size_t size = strlen(text);
    for (; (size_t)(end - at) >= size && (at = memchr(at, text[0], (size_t)(end - at))) != NULL;
         ++at) {
        if ((size_t)(end - at) >= size && memcmp(at, text, size) == 0) {
            if (found != NULL) {
                return NULL;
            }
            found = at;
        }
    }
    return found;
}

static void write_base64(FILE *file, const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const uint32_t b = left > 1 ? bytes[i + 1] : 0, c = left > 2 ? bytes[i + 2] : 0;
        const uint32_t word = ((uint32_t)bytes[i] << 16) | (b << 8) | c;
        putc(base64[word >> 18], file);
        putc(base64[(word >> 12) & 63], file);
        putc(left > 1 ? base64[(word >> 6) & 63] : '=', file);
        putc(left > 2 ? base64[word & 63] : '=', file);
    }
}

// The last part of a path, with nothing that HTML could take for its own.
static void write_name(FILE *file, const char *path) {
    const char *slash = strrchr(path, '/');
    for (const char *at = slash == NULL ? path : slash + 1; *at != '\0'; ++at) {
        putc(strchr(LETTERS "._-", *at) != NULL ? *at : '_', file);
    }
}

// Returns an exit code.
static int write_page(const cairn_replay_options *options, const cairn_system_map *input,
    const cairn_system_map *page, const char *place, size_t place_size) {
    const char *path = options->words[2], *begin = (const char *)page->bytes;
    const char *rest = place + place_size;
    cairn_output_file out;
    if (!cairn_output_file_open(&out, path, 0666)) {
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, path, strerror(errno));
    }
    fwrite(begin, 1, (size_t)(place - begin), out.file);
    fputs("<script type=\"application/octet-stream\" id=\"recording\" data-name=\"", out.file);
    write_name(out.file, options->words[1]);
    fputs("\">", out.file);
    write_base64(out.file, input->bytes, input->size);
    fputs("</script>", out.file);
    fwrite(rest, 1, (size_t)(begin + page->size - rest), out.file);
    const bool complete = ferror(out.file) == 0;
    if (!cairn_output_file_close(&out, complete) || !complete) {
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, path, "cannot be written");
    }
    return CAIRN_EXIT_GOOD;
}

static int fill(
    const cairn_replay_options *options, const cairn_system_map *input, const char *template_path) {
    char place[64], why[160];
    cairn_system_map page;
    if (!cairn_system_map_open(template_path, &page)) {
        snprintf(
            why, sizeof why, "%s; './dev web' makes the page, --page names it", strerror(errno));
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, template_path, why);
    }
    snprintf(place, sizeof place, PLACE_FORMAT, CAIRN_SIM_VERSION);
    const char *found = find_once(&page, place);
    const int code = found != NULL ? write_page(options, input, &page, found, strlen(place))
                                   : cairn_replay_complain(CAIRN_EXIT_UNUSABLE, template_path,
                                         "not the page of this version of the simulation");
    cairn_system_map_close(&page);
    return code;
}

int cairn_replay_page(const cairn_replay_options *options, const cairn_system_map *input) {
    const char *path = options->words[2], *extension = cairn_replay_extension(path);
    char beside[CAIRN_OUTPUT_PATH_SIZE] = FOLDER TEMPLATE;
    const char *template_path = options->page != NULL ? options->page : beside;
    (void)cairn_system_beside_program(FOLDER TEMPLATE, beside, sizeof beside);
    if (!cairn_replay_differs(options->words[1], path) ||
        !cairn_replay_differs(template_path, path)) {
        return CAIRN_EXIT_UNUSABLE;
    }
    if (strncmp(path, "/dev/", 5) != 0 && strcmp(extension, "html") != 0) {
        return cairn_replay_complain(
            CAIRN_EXIT_UNUSABLE, path, "a page is written; its name must end in .html");
    }
    cairn_player player; // the page would refuse what this one refuses
    int code = cairn_replay_player_open(&player, options, input);
    cairn_player_close(&player);
    if (code == CAIRN_EXIT_GOOD) {
        code = fill(options, input, template_path);
    }
    return code;
}
