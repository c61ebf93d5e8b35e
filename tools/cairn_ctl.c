// SPDX-License-Identifier: MIT
// Controls a running server from the shell: sends one verb, or a file of verbs, and prints each
// answer as text or JSON. The exit status says whether every verb was carried out.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/client.h>
#include <cairn/client_uv.h>
#include <cairn/control.h>

#include "program/control_answer.h"
#include "program/flags.h"
#include "program/key.h"
#include "program/output_file.h"
#include "program/progress.h"
#include "program/system.h"
#include "rules_file/rules_flag.h"
#include "schema/messages.h"
#include "tools/ctl/arguments.h"
#include <cairn/programs.h>
#include <cairn/server.h>
#include <cairn/types.h>

enum { EXIT_DONE = 0, EXIT_REFUSED = 1, EXIT_USAGE = 2, EXIT_NO_ANSWER = 3 };

#define FRAME_RATE_HZ 1000
#define LINE_SIZE_MAX 16384

typedef struct operator_session {
    cairn_token_source token;
    const char *room; // NULL: the first
    uint64_t seen_by;
    uint64_t timeout_s;
    bool json, paused;
    cairn_client *client;
    cairn_client_uv *driver;
} operator_session;

static int report_error(int status, const char *what, const char *why) {
    fprintf(stderr, "cairn-ctl: %s%s%s\n", what, why[0] == '\0' ? "" : ": ", why);
    return status;
}

static int connect_client(operator_session *o, const uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]) {
    cairn_client_config config = cairn_client_config_default();
    config.spectator = true;
    cairn_status status = cairn_client_create(&config, &o->client);
    const cairn_client_uv_config driver = {.client = o->client, .frame_rate_hz = FRAME_RATE_HZ};
    if (status == CAIRN_OK) {
        status = cairn_client_uv_open(&driver, &o->driver);
    }
    if (status != CAIRN_OK) {
        return report_error(EXIT_NO_ANSWER, cairn_status_text(status), "");
    }
    cairn_client_uv_connect(o->driver, token);
    const uint64_t end_ns = cairn_client_uv_now_ns() + o->timeout_s * CAIRN_NS_PER_S;
    while (!cairn_client_welcomed(o->client) &&
           cairn_client_state_read(o->client) < CAIRN_CLIENT_LEFT &&
           cairn_client_uv_now_ns() < end_ns) {
        cairn_client_uv_frame(o->driver);
    }
    if (!cairn_client_welcomed(o->client)) {
        const char *why = cairn_client_failure_text(o->client);
        return report_error(EXIT_NO_ANSWER, "not connected", why[0] == '\0' ? "no answer" : why);
    }
    return EXIT_DONE;
}

// How far the room of a request is, asked four times a second.
typedef struct room_watch {
    cairn_progress progress;
    uint32_t number; // of the last question; 0: none
    uint64_t asked_ns;
    uint64_t tick; // of the last answer; 0: none
} room_watch;

static void watch_ask(room_watch *watch, operator_session *o, const char *room) {
    const uint64_t now_ns = cairn_client_uv_now_ns();
    if (now_ns - watch->asked_ns >= CAIRN_NS_PER_S / 4) {
        const cairn_control_request state = {.verb = CAIRN_CONTROL_STATE, .room = room};
        watch->number = cairn_client_ask(o->client, &state);
        watch->asked_ns = now_ns;
    }
}

static void watch_take(room_watch *watch, const cairn_control_answer *answer) {
    if (answer->number == watch->number && answer->refusal == CAIRN_CONTROL_DONE) {
        const uint64_t from = watch->tick == 0 ? answer->tick : watch->tick;
        cairn_progress_step(&watch->progress, answer->tick > from ? answer->tick - from : 0);
        watch->tick = answer->tick;
    }
}

static int ask_and_wait(
    operator_session *o, const cairn_control_request *request, cairn_control_answer *answer) {
    uint32_t number = 0;
    int status = EXIT_NO_ANSWER;
    const uint64_t end_ns = cairn_client_uv_now_ns() + o->timeout_s * CAIRN_NS_PER_S;
    // Step and run-until are answered when the room has run, however long that takes.
    const bool unlimited =
        request->verb == CAIRN_CONTROL_STEP || request->verb == CAIRN_CONTROL_RUN_UNTIL;
    room_watch watch = {0};
    cairn_progress_begin(&watch.progress, "ticks",
        request->verb == CAIRN_CONTROL_STEP ? request->step.tick_count : 0);
    while (status == EXIT_NO_ANSWER && cairn_client_state_read(o->client) < CAIRN_CLIENT_LEFT &&
           (unlimited || cairn_client_uv_now_ns() < end_ns)) {
        number = number != 0 ? number : cairn_client_ask(o->client, request);
        cairn_client_uv_frame(o->driver);
        while (status == EXIT_NO_ANSWER && cairn_client_next_answer(o->client, answer)) {
            if (answer->number == number) {
                status = answer->refusal == CAIRN_CONTROL_DONE ? EXIT_DONE : EXIT_REFUSED;
            } else {
                watch_take(&watch, answer);
            }
        }
        if (unlimited && number != 0 && watch.progress.terminal) {
            watch_ask(&watch, o, request->room);
        }
    }
    cairn_progress_end(&watch.progress);
    return status == EXIT_NO_ANSWER
               ? report_error(status, "no answer", cairn_client_failure_text(o->client))
               : status;
}

// Downloads a save piece by piece.
static int read_save(
    operator_session *o, cairn_ctl_command *command, cairn_control_answer *answer) {
    cairn_output_file out;
    const bool opened = cairn_output_file_open(&out, command->file, 0666);
    int status = opened ? EXIT_DONE : report_error(EXIT_USAGE, command->file, "cannot be written");
    bool complete = false;
    cairn_progress progress;
    cairn_progress_begin(&progress, "bytes", 0);
    while (status == EXIT_DONE && !complete) {
        status = ask_and_wait(o, &command->request, answer);
        const cairn_control_save_read_answer *piece = &answer->save_read;
        if (status == EXIT_DONE) {
            if (fwrite(piece->bytes, 1, piece->byte_count, out.file) != piece->byte_count) {
                status = report_error(EXIT_USAGE, command->file, "cannot be written");
            }
            command->request.save_read.offset += piece->byte_count;
            progress.total = piece->size;
            cairn_progress_step(&progress, piece->byte_count);
            complete = piece->byte_count == 0 || command->request.save_read.offset >= piece->size;
        }
    }
    cairn_progress_end(&progress);
    if (opened && !cairn_output_file_close(&out, status == EXIT_DONE) && status == EXIT_DONE) {
        status = report_error(EXIT_USAGE, command->file, "cannot be written");
    }
    return status;
}

// Uploads a save piece by piece.
static int write_save(
    operator_session *o, cairn_ctl_command *command, cairn_control_answer *answer) {
    uint8_t bytes[CAIRN_CONTROL_PIECE_SIZE_MAX];
    FILE *file = fopen(command->file, "rb");
    long size = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        size = ftell(file);
        rewind(file);
    }
    int status = size > 0 && size <= (long)CAIRN_STATE_SIZE_MAX
                     ? EXIT_DONE
                     : report_error(EXIT_USAGE, command->file, "cannot be read, or holds no state");
    cairn_control_save_write_request *piece = &command->request.save_write;
    piece->size = size > 0 ? (uint32_t)size : 0;
    piece->bytes = bytes;
    cairn_progress progress;
    cairn_progress_begin(&progress, "bytes", piece->size);
    while (status == EXIT_DONE && piece->offset < piece->size) {
        piece->byte_count = (uint32_t)fread(bytes, 1, sizeof bytes, file);
        status = piece->byte_count == 0 ? report_error(EXIT_USAGE, command->file, "cannot be read")
                                        : ask_and_wait(o, &command->request, answer);
        piece->offset += piece->byte_count;
        cairn_progress_step(&progress, piece->byte_count);
    }
    cairn_progress_end(&progress);
    if (file != NULL) {
        fclose(file);
    }
    return status;
}

// Copies the flags that are part of the request into it.
static void apply_flags(const operator_session *o, cairn_control_request *request) {
    request->room = request->room == NULL ? o->room : request->room;
    if (request->verb == CAIRN_CONTROL_FORK) {
        request->fork.paused = o->paused;
    } else if (request->verb == CAIRN_CONTROL_ROOM_CREATE) {
        request->room_create.paused = o->paused;
    } else if (request->verb == CAIRN_CONTROL_RAY) {
        request->ray.has_seen_by = o->seen_by != 0;
        request->ray.seen_by = o->seen_by;
    } else if (request->verb == CAIRN_CONTROL_OVERLAP) {
        request->overlap.has_seen_by = o->seen_by != 0;
        request->overlap.seen_by = o->seen_by;
    } else if (request->verb == CAIRN_CONTROL_CAST) {
        request->cast.has_seen_by = o->seen_by != 0;
        request->cast.seen_by = o->seen_by;
    } else if (request->verb == CAIRN_CONTROL_CLOSEST) {
        request->closest.has_seen_by = o->seen_by != 0;
        request->closest.seen_by = o->seen_by;
    }
}

static int run_verb(operator_session *o, const char *const *words, size_t count) {
    cairn_ctl_command command;
    cairn_control_answer answer = {.reason = "", .room = ""};
    char error[CAIRN_CTL_ERROR_SIZE];
    if (!cairn_ctl_parse(words, count, &command, error)) {
        return report_error(EXIT_USAGE, error, "");
    }
    apply_flags(o, &command.request);
    int status = EXIT_DONE;
    if (command.request.verb == CAIRN_CONTROL_SAVE_READ) {
        status = read_save(o, &command, &answer);
    } else if (command.request.verb == CAIRN_CONTROL_SAVE_WRITE) {
        status = write_save(o, &command, &answer);
    } else {
        status = ask_and_wait(o, &command.request, &answer);
    }
    if (status == EXIT_DONE || status == EXIT_REFUSED) {
        cairn_control_answer_print(&answer, o->json);
    }
    return status;
}

// A file with one verb per line; # begins a comment. Stops at the first verb that is not carried
// out.
static int run_file(operator_session *o, const char *path) {
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    char line[LINE_SIZE_MAX];
    int status = file == NULL ? report_error(EXIT_USAGE, path, "cannot be read") : EXIT_DONE;
    while (status == EXIT_DONE && fgets(line, sizeof line, file) != NULL) {
        const char *words[CAIRN_CTL_WORDS_MAX];
        size_t count = 0;
        line[strcspn(line, "#\n")] = '\0';
        for (char *word = strtok(line, " \t\r"); word != NULL && count < CAIRN_CTL_WORDS_MAX;
             word = strtok(NULL, " \t\r")) {
            words[count++] = word;
        }
        status = count == 0 ? EXIT_DONE : run_verb(o, words, count);
    }
    if (file != NULL && file != stdin) {
        fclose(file);
    }
    return status;
}

static cairn_flags_result read_flags(
    int argc, char **argv, operator_session *o, cairn_flags_program *program) {
    const cairn_flag flags[] = {
        {"--server", NULL, "HOST:PORT", "where the server is; with --key", CAIRN_FLAG_CUSTOM,
            .out = &o->token.server, .read = cairn_host_flag},
        {"--key", NULL, "FILE", "the servers' private key: issues an operator's connect token",
            CAIRN_FLAG_CUSTOM, .out = &o->token.key, .read = cairn_key_flag_file, .secret = true},
        {"--protocol-id", NULL, "ID", "of the issued token (0x636169726e)", CAIRN_FLAG_U64,
            .out = &o->token.protocol_id},
        {"--client-id", NULL, "ID", "of the issued token (a random one)", CAIRN_FLAG_U64,
            .out = &o->token.client_id},
        {"--token", NULL, "FILE", "an operator's connect token, instead of --key and --server",
            CAIRN_FLAG_TEXT, .out = &o->token.file},
        {"--room", NULL, "NAME", "the room that the verb is about (the server's first)",
            CAIRN_FLAG_TEXT, .out = &o->room},
        {"--paused", NULL, NULL, "create the room paused", CAIRN_FLAG_SWITCH, .out = &o->paused},
        {"--seen-by", NULL, "CLIENT", "queries: the world as the client of this id sees it",
            CAIRN_FLAG_U64, .out = &o->seen_by, .least = 1},
        {"--json", NULL, NULL, "answer with one JSON object per line", CAIRN_FLAG_SWITCH,
            .out = &o->json},
        {"--timeout", NULL, "S",
            "how long to wait for an answer (5); step and run-until may take longer",
            CAIRN_FLAG_U64, .out = &o->timeout_s, .least = 1, .most = 3600},
    };
    program->flags = flags;
    program->flag_count = sizeof flags / sizeof *flags;
    const cairn_flags_result result = cairn_flags_read(program, argc, argv, NULL);
    program->flags = NULL; // they end with this function
    return result;
}

int cairn_ctl_main(int argc, char **argv, const cairn_rules *const *rules, uint32_t rules_count) {
    if (!cairn_rules_take("cairn-ctl", rules, rules_count)) {
        return EXIT_USAGE;
    }
    operator_session o = {.timeout_s = 5};
    o.token.protocol_id = CAIRN_PROTOCOL_ID_DEFAULT;
    o.token.is_operator = true;
    cairn_system_forbid_core_dumps();
    cairn_flags_program program = {
        .name = "cairn-ctl",
        .usage = "[FLAGS] VERB [ARGUMENTS] | [FLAGS] run FILE | help VERB",
        .about =
            "Controls the rooms of a running server: one verb, or a file with one verb per line.\n"
            "`cairn-ctl help VERB` lists the fields of a verb's answer.",
        .words_max = CAIRN_CTL_WORDS_MAX - 1,
        .notes = "Exits with 0 when all was done, 1 when the server refused, 2 when an argument is "
                 "wrong, and 3 when\n"
                 "there was no answer.",
    };
    program.verbs = cairn_ctl_verbs(&program.verb_count);
    // A server admits one client per id: two operators must not disconnect each other.
    if (!cairn_system_random(&o.token.client_id, sizeof o.token.client_id)) {
        return report_error(EXIT_USAGE, "the system returned no random bytes", "");
    }
    const cairn_flags_result result = read_flags(argc, argv, &o, &program);
    if (result == CAIRN_FLAGS_REFUSED) {
        return EXIT_USAGE;
    }
    if (result == CAIRN_FLAGS_ANSWERED) {
        return EXIT_DONE;
    }
    size_t count = 0;
    while (program.words[count] != NULL) {
        count++;
    }
    char error[CAIRN_TOKEN_SOURCE_ERROR_SIZE];
    const bool runs = count == 2 && strcmp(program.words[0], "run") == 0;
    if (count == 2 && strcmp(program.words[0], "help") == 0 &&
        cairn_ctl_help_print(program.words[1])) {
        return EXIT_DONE;
    }
    if (count == 0) {
        return report_error(EXIT_USAGE, "a verb is missing; --help lists all", "");
    }
    cairn_ctl_command checked;
    if (!runs && !cairn_ctl_parse(program.words, count, &checked, error)) {
        return report_error(EXIT_USAGE, error, "");
    }
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    if (!cairn_token_source_read(&o.token, token, error)) {
        return report_error(EXIT_USAGE, error, "");
    }
    int status = connect_client(&o, token);
    if (status == EXIT_DONE) {
        status = runs ? run_file(&o, program.words[1]) : run_verb(&o, program.words, count);
    }
    if (o.driver != NULL) {
        cairn_client_uv_disconnect(o.driver);
    }
    cairn_client_uv_close(o.driver);
    cairn_client_destroy(o.client);
    return status;
}
