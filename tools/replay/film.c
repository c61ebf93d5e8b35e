// SPDX-License-Identifier: MIT
// Ticks of a recording as a picture or a film, drawn without a screen.
#include <errno.h>
#include <string.h>

#include "program/output_file.h"
#include "program/progress.h"
#include "tools/replay/painter.h"
#include "tools/replay/picture.h"
#include "tools/replay/verbs.h"
#include "tools/replay/video.h"

#define PICTURES_HZ 30

typedef struct film {
    const cairn_replay_options *options;
    cairn_player *player;
    cairn_painter painter;
    uint64_t first, last; // ticks
    FILE *out;
} film;

static int complain(const film *f, const char *why) {
    return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, f->options->words[2], why);
}

// A flag of films is refused for a picture, and the other way round.
static const char *wrong_flag(const cairn_replay_options *o, bool is_film) {
    if (is_film) {
        return o->tick != CAIRN_TICK_NONE ? "--tick is for a .png; a .webm has --from and --to"
                                          : NULL;
    }
    return o->from != CAIRN_TICK_NONE || o->to != CAIRN_TICK_NONE || o->pictures_hz != 0
               ? "--from, --to and --fps are for a .webm; a .png has --tick"
               : NULL;
}

// Which ticks are shown. Returns an exit code.
static int choose_ticks(film *f, const cairn_system_map *input, bool is_film) {
    const cairn_replay_options *o = f->options;
    cairn_recording_index index;
    if (cairn_recording_index_of(input->bytes, input->size, &index) != CAIRN_OK) {
        return complain(f, "out of memory");
    }
    uint64_t from = 0, to = 0;
    (void)cairn_recording_index_range(&index, &from, &to);
    cairn_recording_index_end(&index);
    if (is_film) {
        f->first = o->from != CAIRN_TICK_NONE ? o->from : from;
        f->last = o->to != CAIRN_TICK_NONE ? o->to : to;
    } else {
        f->first = f->last = o->tick != CAIRN_TICK_NONE ? o->tick : to;
    }
    if (f->first > f->last) {
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, "--from", "is a tick after that of --to");
    }
    if (f->last > to) {
        char words[CAIRN_RECORDING_ERROR_SIZE];
        snprintf(words, sizeof words, "it holds no tick %llu; the last is %llu",
            (unsigned long long)f->last, (unsigned long long)to);
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, o->words[1], words);
    }
    return CAIRN_EXIT_GOOD;
}

// Plays on to `tick`. Returns an exit code.
static int play_to(film *f, uint64_t tick) {
    cairn_player_event event = CAIRN_PLAYER_TICK;
    while (cairn_world_tick(f->player->world) < tick) {
        event = cairn_player_next(f->player);
        if (event == CAIRN_PLAYER_END || event == CAIRN_PLAYER_REFUSED) {
            char words[CAIRN_PLAYER_TEXT_SIZE];
            cairn_player_end_text(f->player, words);
            return cairn_replay_complain(CAIRN_EXIT_DAMAGED, f->options->words[1], words);
        }
    }
    return CAIRN_EXIT_GOOD;
}

static int draw_film(film *f, cairn_video *video, uint32_t pictures_hz) {
    const uint32_t rate = cairn_world_settings(f->player->world)->tick_rate_hz;
    const uint64_t count = (f->last - f->first) * pictures_hz / rate + 1;
    cairn_progress progress;
    cairn_progress_begin(&progress, "pictures", count);
    int code = CAIRN_EXIT_GOOD;
    for (uint64_t i = 0; i < count && code == CAIRN_EXIT_GOOD; ++i) {
        code = play_to(f, f->first + i * rate / pictures_hz);
        if (code == CAIRN_EXIT_GOOD) {
            cairn_painter_draw(&f->painter, f->player->world);
            const char *why = cairn_video_add(video, f->painter.pixels);
            code = why == NULL ? code : complain(f, why);
        }
        cairn_progress_step(&progress, 1);
    }
    cairn_progress_end(&progress);
    return code;
}

static int write_film(film *f) {
    const cairn_native_camera *camera = &f->painter.camera;
    const uint32_t pictures_hz =
        f->options->pictures_hz != 0 ? f->options->pictures_hz : PICTURES_HZ;
    cairn_video *video = NULL;
    const char *why = cairn_video_create(camera->width, camera->height, pictures_hz, &video);
    int code = why == NULL ? draw_film(f, video, pictures_hz) : complain(f, why);
    if (code == CAIRN_EXIT_GOOD) {
        why = cairn_video_write(video, f->out);
        code = why == NULL ? code : complain(f, why);
    }
    cairn_video_destroy(video);
    return code;
}

static int write_picture(film *f) {
    cairn_painter_draw(&f->painter, f->player->world);
    const cairn_native_camera *camera = &f->painter.camera;
    const char *why = cairn_picture_write(camera->width, camera->height, f->painter.pixels, f->out);
    return why == NULL ? CAIRN_EXIT_GOOD : complain(f, why);
}

static int write_file(film *f, bool is_film) {
    cairn_output_file out;
    if (!cairn_output_file_open(&out, f->options->words[2], 0666)) {
        return complain(f, strerror(errno));
    }
    f->out = out.file;
    const int code = is_film ? write_film(f) : write_picture(f);
    if (!cairn_output_file_close(&out, code == CAIRN_EXIT_GOOD) && code == CAIRN_EXIT_GOOD) {
        return complain(f, strerror(errno));
    }
    return code;
}

static int play(film *f, const cairn_system_map *input, bool is_film) {
    uint64_t state_tick = 0;
    int code = choose_ticks(f, input, is_film);
    if (code == CAIRN_EXIT_GOOD) {
        code = cairn_replay_player_seek(f->player, f->options, f->first, &state_tick);
    }
    if (code != CAIRN_EXIT_GOOD) {
        return code;
    }
    const char *why =
        cairn_painter_create(&f->painter, &f->options->view, f->player->world, f->options->workers);
    code = why == NULL ? write_file(f, is_film) : complain(f, why);
    cairn_painter_destroy(&f->painter);
    return code;
}

int cairn_replay_film(const cairn_replay_options *options, const cairn_system_map *input) {
    const char *path = options->words[2], *extension = cairn_replay_extension(path);
    const bool is_film = strcmp(extension, "webm") == 0;
    if (!cairn_replay_differs(options->words[1], path)) {
        return CAIRN_EXIT_UNUSABLE;
    }
    const char *why = !is_film && strcmp(extension, "png") != 0
                          ? "the name says what is written: it must end in .png or .webm"
                          : wrong_flag(options, is_film);
    if (why != NULL) {
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, path, why);
    }
    cairn_player player;
    film f = {.options = options, .player = &player};
    int code = cairn_replay_player_open(&player, options, input);
    code = code == CAIRN_EXIT_GOOD ? play(&f, input, is_film) : code;
    cairn_player_close(&player);
    return code;
}
