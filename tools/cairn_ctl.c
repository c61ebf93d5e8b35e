// SPDX-License-Identifier: MIT
// An operator at the shell: one verb, or a file of verbs, asked of a running server. Says what the
// server answered as text or JSON; the exit status says whether all was done.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/client.h>
#include <cairn/client_uv.h>
#include <cairn/control.h>

#include "net/token.h"
#include "net/user_data.h"
#include "schema/control.h"
#include "schema/messages.h"
#include "tools/ctl/wording.h"
#include "tools/flags.h"
#include "tools/system.h"
#include <cairn/server.h>
#include <cairn/types.h>

enum { EXIT_DONE = 0, EXIT_REFUSED = 1, EXIT_USAGE = 2, EXIT_NO_ANSWER = 3 };

#define FRAME_RATE_HZ 1000
#define LINE_SIZE_MAX 1024

typedef struct desk {
    const char *token_file, *seen_by, *key, *server, *protocol_id, *client_id, *room, *json,
        *paused, *timeout, *help;
    uint64_t timeout_s;
    cairn_client *client;
    cairn_client_uv *driver;
} desk;

static int complain(int status, const char *what, const char *why) {
    fprintf(stderr, "cairn-ctl: %s%s%s\n", what, why[0] == '\0' ? "" : ": ", why);
    return status;
}

static bool read_token(const desk *o, uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]) {
    FILE *file = fopen(o->token_file, "rb");
    const size_t size = file == NULL ? 0 : fread(token, 1, CAIRN_CONNECT_TOKEN_SIZE, file);
    if (file != NULL) {
        fclose(file);
    }
    return size == CAIRN_CONNECT_TOKEN_SIZE;
}

static bool issue_token(
    const desk *o, uint8_t token[CAIRN_CONNECT_TOKEN_SIZE], char error[CAIRN_FLAG_ERROR_SIZE]) {
    uint8_t key[CAIRN_KEY_SIZE];
    uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE];
    uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE] = {0};
    uint64_t protocol_id = CAIRN_PROTOCOL_ID_DEFAULT;
    uint64_t client_id = 0;
    // One id is one client at a time; two operators must not shut each other out.
    const bool drawn = cairn_system_random(&client_id, sizeof client_id);
    cairn_address server;
    if (!cairn_flag_key("--key", o->key, key, error) ||
        (o->protocol_id != NULL && !cairn_flag_number("--protocol-id", o->protocol_id, 0,
                                       UINT64_MAX, &protocol_id, error)) ||
        (o->client_id != NULL &&
            !cairn_flag_number("--client-id", o->client_id, 0, UINT64_MAX, &client_id, error))) {
        return false;
    }
    snprintf(error, CAIRN_FLAG_ERROR_SIZE, "--server must be ADDRESS:PORT");
    if (o->server == NULL || !cairn_address_parse(o->server, &server) || server.port == 0) {
        return false;
    }
    snprintf(error, CAIRN_FLAG_ERROR_SIZE, "no token can be issued");
    cairn_user_data_write(user_data, CAIRN_USER_RIGHT_OPERATOR);
    const cairn_token_request request = {.protocol_id = protocol_id,
        .client_id = client_id,
        .create_unix_s = cairn_system_unix_s(),
        .lifetime_s = 30,
        .timeout_s = 5,
        .server_addresses = &server,
        .server_count = 1,
        .private_key = key,
        .user_data = user_data,
        .entropy = entropy};
    return drawn && cairn_system_random(entropy, sizeof entropy) &&
           cairn_token_issue(&request, token) == CAIRN_OK;
}

static int get_token(const desk *o, uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]) {
    char error[CAIRN_FLAG_ERROR_SIZE] = "either --token or --key and --server are needed";
    if (o->token_file != NULL) {
        return read_token(o, token) ? EXIT_DONE
                                    : complain(EXIT_USAGE, o->token_file, "holds no token");
    }
    return o->key != NULL && issue_token(o, token, error) ? EXIT_DONE
                                                          : complain(EXIT_USAGE, error, "");
}

static bool over(const desk *o) {
    return cairn_client_state_read(o->client) >= CAIRN_CLIENT_LEFT;
}

static int connect_client(desk *o, const uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]) {
    cairn_client_config config = cairn_client_config_default();
    config.spectator = true;
    const cairn_status created = cairn_client_create(&config, &o->client);
    const cairn_client_uv_config driver = {.client = o->client, .frame_rate_hz = FRAME_RATE_HZ};
    o->driver = created != CAIRN_OK ? NULL : cairn_client_uv_open(&driver);
    if (o->driver == NULL) {
        return complain(EXIT_NO_ANSWER, "out of memory", "");
    }
    cairn_client_uv_connect(o->driver, token);
    const uint64_t end_ns = cairn_client_uv_now_ns() + o->timeout_s * 1000000000u;
    while (!cairn_client_welcomed(o->client) && !over(o) && cairn_client_uv_now_ns() < end_ns) {
        cairn_client_uv_frame(o->driver);
    }
    if (!cairn_client_welcomed(o->client)) {
        const char *why = cairn_client_failure_text(o->client);
        return complain(EXIT_NO_ANSWER, "not connected", why[0] == '\0' ? "no answer" : why);
    }
    return EXIT_DONE;
}

static void disconnect_client(desk *o) {
    if (o->driver != NULL) {
        cairn_client_uv_disconnect(o->driver);
    }
    cairn_client_uv_close(o->driver);
    cairn_client_destroy(o->client);
}

// A request that makes a room run takes as long as it takes; the others have their time.
static bool takes_long(uint32_t verb) {
    return verb == CAIRN_CONTROL_STEP || verb == CAIRN_CONTROL_RUN_UNTIL;
}

static int ask(desk *o, const cairn_client_request *request, cairn_client_reply *reply) {
    uint32_t number = 0;
    const uint64_t end_ns = cairn_client_uv_now_ns() + o->timeout_s * 1000000000u;
    while (!over(o) && (takes_long(request->verb) || cairn_client_uv_now_ns() < end_ns)) {
        number = number != 0 ? number : cairn_client_ask(o->client, request);
        cairn_client_uv_frame(o->driver);
        while (cairn_client_next_reply(o->client, reply)) {
            if (reply->request == number) {
                return reply->refusal == 0 ? EXIT_DONE : EXIT_REFUSED;
            }
        }
    }
    return complain(EXIT_NO_ANSWER, "no answer", cairn_client_failure_text(o->client));
}

// Pieces one after the other, as many as the save has.
static int read_save(desk *o, cairn_ctl_request *request, cairn_client_reply *reply) {
    FILE *file = fopen(request->file, "wb");
    int status = file == NULL ? complain(EXIT_USAGE, request->file, "cannot be written") : 0;
    do {
        status = status != EXIT_DONE ? status : ask(o, &request->ask, reply);
        if (status == EXIT_DONE &&
            fwrite(reply->bytes, 1, reply->byte_count, file) != reply->byte_count) {
            status = complain(EXIT_USAGE, request->file, "cannot be written");
        }
        request->ask.tick += reply->byte_count;
    } while (status == EXIT_DONE && reply->byte_count > 0 && request->ask.tick < reply->count);
    if (file != NULL && fclose(file) != 0 && status == EXIT_DONE) {
        status = complain(EXIT_USAGE, request->file, "cannot be written");
    }
    return status;
}

static int write_save(desk *o, cairn_ctl_request *request, cairn_client_reply *reply) {
    uint8_t piece[CAIRN_CONTROL_BYTES_MAX];
    FILE *file = fopen(request->file, "rb");
    long size = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        size = ftell(file);
        rewind(file);
    }
    int status = size > 0 && size <= (long)CAIRN_STATE_SIZE_MAX
                     ? EXIT_DONE
                     : complain(EXIT_USAGE, request->file, "cannot be read, or holds no state");
    while (status == EXIT_DONE && request->ask.tick < (uint64_t)size) {
        request->ask.count = (uint32_t)size;
        request->ask.bytes = piece;
        request->ask.byte_count = (uint32_t)fread(piece, 1, sizeof piece, file);
        status = request->ask.byte_count == 0
                     ? complain(EXIT_USAGE, request->file, "cannot be read")
                     : ask(o, &request->ask, reply);
        request->ask.tick += request->ask.byte_count;
    }
    if (file != NULL) {
        fclose(file);
    }
    return status;
}

static int run_verb(desk *o, const char *const *words, size_t count) {
    cairn_ctl_request request;
    cairn_client_reply reply = {.words = "", .room = ""};
    char error[CAIRN_CTL_ERROR_SIZE];
    if (!cairn_ctl_parse(words, count, &request, error)) {
        return complain(EXIT_USAGE, error, "");
    }
    request.ask.numbers = request.numbers;
    request.ask.room = request.ask.room == NULL ? o->room : request.ask.room;
    request.ask.mask |= o->paused != NULL ? CAIRN_CONTROL_MASK_PAUSED : 0;
    const bool looks =
        request.ask.verb == CAIRN_CONTROL_RAY || request.ask.verb == CAIRN_CONTROL_OVERLAP;
    if (looks && o->seen_by != NULL) {
        request.ask.count = 1;
        request.ask.seed = strtoull(o->seen_by, NULL, 10);
    }
    const int status = request.ask.verb == CAIRN_CONTROL_SAVE_READ ? read_save(o, &request, &reply)
                       : request.ask.verb == CAIRN_CONTROL_SAVE_WRITE
                           ? write_save(o, &request, &reply)
                           : ask(o, &request.ask, &reply);
    if (status == EXIT_DONE || status == EXIT_REFUSED) {
        cairn_ctl_reply_print(&reply, o->json != NULL);
    }
    return status;
}

// A verb on each line; what is behind # is left out. Stops at the first that is not done.
static int run_file(desk *o, const char *path) {
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    char line[LINE_SIZE_MAX];
    int status = file == NULL ? complain(EXIT_USAGE, path, "cannot be read") : EXIT_DONE;
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

int main(int argc, char **argv) {
    desk o = {.timeout = "5"};
    const cairn_flag flags[] = {
        {"--server", "ADDRESS", "where the server is; with --key", &o.server},
        {"--key", "HEX|FILE", "the servers' private key: makes an operator's token", &o.key},
        {"--protocol-id", "ID", "of the server", &o.protocol_id},
        {"--client-id", "ID", "of the operator (any)", &o.client_id},
        {"--token", "FILE", "an operator's connect token, instead of key and server",
            &o.token_file},
        {"--room", "NAME", "which room is meant (the first)", &o.room},
        {"--paused", NULL, "a room that is made begins paused", &o.paused},
        {"--seen-by", "CLIENT", "ray and overlap: as the client of this id sees it", &o.seen_by},
        {"--json", NULL, "answers as JSON, one object a line", &o.json},
        {"--timeout", "S", "how long to wait for an answer (5); a run takes as long as it takes",
            &o.timeout},
        {"--help", NULL, "this text", &o.help},
    };
    const size_t flag_count = sizeof flags / sizeof *flags;
    const char *words[CAIRN_CTL_WORDS_MAX];
    memset(words, 0, sizeof words);
    char error[CAIRN_FLAG_ERROR_SIZE];
    if (!cairn_flags_read(argc, argv, flags, flag_count, words, CAIRN_CTL_WORDS_MAX, error) ||
        (o.timeout != NULL &&
            !cairn_flag_number("--timeout", o.timeout, 1, 3600, &o.timeout_s, error))) {
        return complain(EXIT_USAGE, error, "");
    }
    if (o.help != NULL) {
        cairn_flags_help("cairn-ctl [FLAGS] VERB [ARGUMENTS] | run FILE", flags, flag_count);
        printf("\nverbs:\n");
        cairn_ctl_verbs_print(stdout);
        return EXIT_DONE;
    }
    size_t count = 0;
    while (count < CAIRN_CTL_WORDS_MAX && words[count] != NULL) {
        count++;
    }
    const bool runs = count == 2 && strcmp(words[0], "run") == 0;
    if (count == 0) {
        return complain(EXIT_USAGE, "a verb is needed, see --help", "");
    }
    cairn_ctl_request checked;
    if (!runs && !cairn_ctl_parse(words, count, &checked, error)) {
        return complain(EXIT_USAGE, error, "");
    }
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    int status = get_token(&o, token);
    status = status == EXIT_DONE ? connect_client(&o, token) : status;
    if (status == EXIT_DONE) {
        status = runs ? run_file(&o, words[1]) : run_verb(&o, words, count);
    }
    disconnect_client(&o);
    return status;
}
