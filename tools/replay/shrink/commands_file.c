// SPDX-License-Identifier: MIT
#include "tools/replay/shrink/commands_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/json.h"
#include "program/scene_file.h"

#define SIZE_MAX_OF_FILE (64 * 1024 * 1024)
#define TICKS_MAX 100000000

uint32_t cairn_play_next(const cairn_play *play, uint64_t at, uint32_t *next,
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX]) {
    uint32_t count = 0;
    while (*next < play->count && play->commands[*next].tick == at &&
           count < CAIRN_COMMANDS_PER_TICK_MAX) {
        commands[count++] = play->commands[(*next)++].command;
    }
    cairn_commands_sort(commands, count);
    return count;
}

static void put_vector(cairn_json *json, const char *name, const cairn_vec3 *v) {
    cairn_json *list = cairn_json_put_array(json, name);
    cairn_json_put_real(list, NULL, (double)v->x);
    cairn_json_put_real(list, NULL, (double)v->y);
    cairn_json_put_real(list, NULL, (double)v->z);
}

char *cairn_commands_write(const cairn_play *play) {
    cairn_json *json = cairn_json_create();
    size_t size;
    cairn_json_put_count(json, "ticks", play->ticks);
    cairn_json *list = cairn_json_put_array(json, "commands");
    for (uint32_t i = 0; i < play->count; ++i) {
        const cairn_play_command *c = &play->commands[i];
        cairn_json *object = cairn_json_put_object(list, NULL);
        cairn_json_put_count(object, "tick", c->tick);
        cairn_json_put_count(object, "kind", c->command.kind);
        cairn_json_put_count(object, "slot", c->command.slot);
        cairn_json_put_count(object, "sequence", c->command.sequence);
        cairn_json_put_count(object, "buttons", c->command.buttons);
        put_vector(object, "move", &c->command.move);
        put_vector(object, "aim", &c->command.aim);
    }
    char *text = cairn_json_text(json, &size);
    cairn_json_destroy(json);
    return text;
}

static const char *const names[] = {"tick", "kind", "slot", "sequence", "buttons"};
enum { TICK, KIND, SLOT, SEQUENCE, BUTTONS, NAME_COUNT };

// A missing member is 0.
static bool read_word(const cairn_json *object, uint32_t name, uint64_t most, uint64_t *out) {
    const cairn_json *value = cairn_json_member(object, names[name]);
    *out = 0;
    return value == NULL || (cairn_json_read_count(value, out) && *out <= most);
}

static bool read_vector(const cairn_json *object, const char *name, cairn_vec3 *out) {
    const cairn_json *list = cairn_json_member(object, name);
    double numbers[3] = {0};
    if (list == NULL) {
        return true;
    }
    if (cairn_json_length(list) != 3) {
        return false;
    }
    for (size_t i = 0; i < 3; ++i) {
        if (!cairn_json_read_real(cairn_json_element(list, i), &numbers[i])) {
            return false;
        }
    }
    *out = (cairn_vec3){.x = (float)numbers[0], .y = (float)numbers[1], .z = (float)numbers[2]};
    return true;
}

// NULL, or what is wrong with it.
static const char *read_command(const cairn_json *object, uint64_t ticks, cairn_play_command *out) {
    uint64_t words[NAME_COUNT];
    *out = (cairn_play_command){.tick = 0};
    if (!cairn_json_is_object(object)) {
        return "must be an object";
    }
    for (uint32_t i = 0; i < NAME_COUNT; ++i) {
        if (!read_word(object, i, i == TICK ? ticks - 1 : UINT32_MAX, &words[i])) {
            return i == TICK ? "tick must be a whole number below ticks"
                             : "kind, slot, sequence and buttons must be whole numbers below "
                               "2^32";
        }
    }
    if (!read_vector(object, "move", &out->command.move) ||
        !read_vector(object, "aim", &out->command.aim)) {
        return "move and aim must be lists of three numbers";
    }
    out->tick = words[TICK];
    out->command.kind = (uint32_t)words[KIND];
    out->command.slot = (uint32_t)words[SLOT];
    out->command.sequence = (uint32_t)words[SEQUENCE];
    out->command.buttons = (uint32_t)words[BUTTONS];
    return cairn_command_check(&out->command) == CAIRN_OK
               ? NULL
               : "is not a command: its kind, slot or numbers are out of range (cairn/types.h)";
}

static const char *read_list(
    const cairn_json *json, cairn_play *play, char error[CAIRN_COMMANDS_FILE_ERROR_SIZE]) {
    const cairn_json *list = cairn_json_member(json, "commands");
    const size_t count = list == NULL ? 0 : cairn_json_length(list);
    if (!cairn_json_read_count(cairn_json_member(json, "ticks"), &play->ticks) ||
        play->ticks == 0 || play->ticks > TICKS_MAX) {
        return "ticks: must be a whole number from 1 to 100000000";
    }
    if (count == SIZE_MAX) {
        return "commands: must be a list";
    }
    play->commands = calloc(count + 1, sizeof *play->commands);
    if (play->commands == NULL) {
        return "out of memory";
    }
    for (size_t i = 0; i < count; ++i) {
        const char *why =
            read_command(cairn_json_element(list, i), play->ticks, &play->commands[i]);
        const bool late = i > 0 && play->commands[i].tick < play->commands[i - 1].tick;
        const bool full =
            i >= CAIRN_COMMANDS_PER_TICK_MAX &&
            play->commands[i].tick == play->commands[i - CAIRN_COMMANDS_PER_TICK_MAX].tick;
        why = why != NULL ? why
              : late      ? "its tick is before that of the command before it"
              : full      ? "its tick has more than 1280 commands"
                          : NULL;
        if (why != NULL) {
            snprintf(error, CAIRN_COMMANDS_FILE_ERROR_SIZE, "commands[%zu]: %s", i, why);
            return error;
        }
        play->count++;
    }
    return NULL;
}

bool cairn_commands_read(
    const char *path, cairn_play *play, char error[CAIRN_COMMANDS_FILE_ERROR_SIZE]) {
    const char *why = NULL;
    size_t size = 0;
    uint32_t line = 0, column = 0;
    char syntax[128];
    *play = (cairn_play){.commands = NULL};
    char *text = cairn_scene_file_bytes(path, SIZE_MAX_OF_FILE, &size, &why);
    cairn_json *json = NULL;
    error[0] = '\0';
    if (text != NULL &&
        !cairn_json_check(text, size, false, &line, &column, syntax, sizeof syntax)) {
        snprintf(
            error, CAIRN_COMMANDS_FILE_ERROR_SIZE, "line %u, column %u: %s", line, column, syntax);
    } else if (text != NULL) {
        json = cairn_json_parse(text, size);
        why = json == NULL ? "out of memory" : read_list(json, play, error);
    }
    if (error[0] == '\0' && why != NULL) {
        snprintf(error, CAIRN_COMMANDS_FILE_ERROR_SIZE, "%s", why);
    }
    cairn_json_destroy(json);
    free(text);
    return error[0] == '\0';
}
