// SPDX-License-Identifier: MIT
// cairn-token: makes keys and connect tokens, and prints what a token says. A backend does the same
// with net/token.h or with any other netcode library.

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "net/crypto.h"
#include "net/sign.h"
#include "net/token.h"
#include "program/flags.h"
#include "program/host.h"
#include "program/key.h"
#include "program/output_file.h"
#include "program/system.h"
#include <cairn/server.h>
#include <cairn/token.h>

typedef struct options {
    const char *word; // the argument after the verb
    const char *out;
    cairn_key key;
    uint64_t protocol_id;
    uint64_t client_id;
    uint32_t lifetime_s;
    int32_t timeout_s;
    cairn_host servers;
    uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE];
    bool is_operator;
    const char *room;
    const char *player;
} options;

// One sentence on standard error; the answer is the exit status.
static int complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("cairn-token: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return EXIT_FAILURE;
}

// Both kinds of private key are 32 random bytes.
static int make_key(const options *o) {
    uint8_t key[CAIRN_KEY_SIZE];
    if (!cairn_system_random(key, sizeof key)) {
        return complain("the system returned no random bytes: %s", strerror(errno));
    }
    if (o->out == NULL) {
        cairn_key_print(key);
    } else if (!cairn_key_file_write(o->out, key)) {
        return complain("--out %s: cannot be written: %s", o->out, strerror(errno));
    }
    cairn_wipe(key, sizeof key);
    return EXIT_SUCCESS;
}

static int print_public_key(const options *o) {
    cairn_key seed;
    uint8_t key[CAIRN_SIGN_PUBLIC_SIZE];
    const char *why = cairn_key_flag_file(&seed, o->word, true);
    if (why != NULL) {
        return complain("public-key: KEY: %s", why);
    }
    cairn_sign_public(seed.bytes, key);
    cairn_wipe(&seed, sizeof seed);
    cairn_key_print(key);
    return EXIT_SUCCESS;
}

static int issue_token(options *o) {
    const char *missing = !o->key.given           ? "--key"
                          : o->servers.count == 0 ? "--server"
                          : o->out == NULL        ? "--out"
                                                  : NULL;
    if (missing != NULL) {
        return complain("issue: %s is missing; --help explains it", missing);
    }
    if (o->room != NULL || o->player != NULL) {
        cairn_user_data user = {.rights = o->is_operator ? CAIRN_USER_RIGHT_OPERATOR : 0};
        const int room =
            snprintf(user.room, sizeof user.room, "%s", o->room == NULL ? "" : o->room);
        const int player =
            snprintf(user.player, sizeof user.player, "%s", o->player == NULL ? "" : o->player);
        if (room >= CAIRN_USER_NAME_SIZE || player >= CAIRN_USER_NAME_SIZE) {
            return complain("--room, --player: a name has at most 31 bytes");
        }
        (void)cairn_user_data_encode(&user, o->user_data);
    } else if (o->is_operator) {
        cairn_user_data_write(o->user_data, CAIRN_USER_RIGHT_OPERATOR);
    }
    uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE];
    if (!cairn_system_random(entropy, sizeof entropy)) {
        return complain("the system returned no random bytes: %s", strerror(errno));
    }
    const cairn_token_request request = {
        .protocol_id = o->protocol_id,
        .client_id = o->client_id,
        .create_unix_s = (uint64_t)time(NULL),
        .lifetime_s = o->lifetime_s,
        .timeout_s = o->timeout_s,
        .server_addresses = o->servers.addresses,
        .server_count = o->servers.count,
        .private_key = o->key.bytes,
        .user_data = o->user_data,
        .entropy = entropy,
    };
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    const cairn_status status = cairn_token_issue(&request, token);
    cairn_wipe(o->key.bytes, sizeof o->key.bytes);
    cairn_wipe(entropy, sizeof entropy);
    if (status != CAIRN_OK) {
        return complain("no connect token can be issued: %s", cairn_status_text(status));
    }
    // Who holds a token can join with it.
    const bool written = cairn_output_file_write(o->out, 0600, token, sizeof token);
    cairn_wipe(token, sizeof token);
    if (!written) {
        return complain("--out %s: cannot be written: %s", o->out, strerror(errno));
    }
    return EXIT_SUCCESS;
}

static void print_time(const char *name, uint64_t unix_s) {
    char text[64] = "out of range";
    const time_t seconds = (time_t)unix_s;
    const bool fits = seconds >= 0 && (uint64_t)seconds == unix_s;
    const struct tm *parts = fits ? gmtime(&seconds) : NULL;
    if (parts != NULL) {
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", parts);
    }
    printf("%s %" PRIu64 " (%s)\n", name, unix_s, text);
}

static void print_token(const cairn_token_public *token) {
    printf("protocol id 0x%016" PRIx64 "\n", token->protocol_id);
    print_time("created", token->create_unix_s);
    print_time("expires", token->expire_unix_s);
    const uint64_t now_unix_s = (uint64_t)time(NULL);
    if (token->expire_unix_s > now_unix_s) {
        printf("expires in %" PRIu64 " s\n", token->expire_unix_s - now_unix_s);
    } else {
        printf("expired %" PRIu64 " s ago\n", now_unix_s - token->expire_unix_s);
    }
    if (token->timeout_s > 0) {
        printf("time-out %" PRId32 " s\n", token->timeout_s);
    } else {
        printf("time-out none\n");
    }
    for (uint32_t i = 0; i < token->server_count; ++i) {
        char text[CAIRN_ADDRESS_TEXT_SIZE];
        printf("server %s\n", cairn_address_print(&token->servers[i], text));
    }
}

static int print_info(const options *o) {
    uint8_t bytes[CAIRN_CONNECT_TOKEN_SIZE + 1];
    FILE *file = fopen(o->word, "rb");
    if (file == NULL) {
        return complain("%s: cannot be read: %s", o->word, strerror(errno));
    }
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    cairn_token_public token;
    const cairn_token_refusal refusal = cairn_token_read_public(bytes, size, &token);
    if (refusal != CAIRN_TOKEN_OK) {
        return complain("%s: %s", o->word, cairn_token_refusal_text(refusal));
    }
    print_token(&token);
    cairn_wipe(&token, sizeof token);
    return EXIT_SUCCESS;
}

static const char *set_timeout(void *out, const char *value, bool first) {
    (void)first;
    const bool negative = value[0] == '-';
    char error[CAIRN_FLAGS_ERROR_SIZE];
    uint64_t seconds;
    if (!cairn_flags_number("", negative ? value + 1 : value, 0, INT32_MAX, &seconds, error)) {
        return "must be a whole number of seconds up to 2147483647";
    }
    *(int32_t *)out = negative ? -(int32_t)seconds : (int32_t)seconds;
    return NULL;
}

static const char *set_user_data(void *out, const char *value, bool first) {
    (void)first;
    const size_t digits = strlen(value);
    const bool good =
        digits <= 2 * CAIRN_TOKEN_USER_DATA_SIZE && cairn_hex_read(value, digits, out, digits / 2);
    return good ? NULL : "must be pairs of hexadecimal digits, for at most 256 bytes";
}

static const cairn_flags_verb verbs[] = {
    {"keygen", "", "print a new private key for backend and servers: 64 hexadecimal digits"},
    {"issue", "", "write a connect token, which lets one client join once"},
    {"info", "FILE", "print what a connect token says without the key"},
    {"signing-key", "", "print a new private key for signed recordings (cairnd --record-key)"},
    {"public-key", "FILE", "print the public key of a signing key (cairn-replay verify --key)"},
};

static cairn_flags_result read_flags(int argc, char **argv, options *o, const char **verb) {
    const cairn_flag flags[] = {
        {"--out", NULL, "FILE", "write here; keys go to standard output without it",
            CAIRN_FLAG_TEXT, .out = &o->out, .verbs = "keygen signing-key issue"},
        {"--key", NULL, "FILE", "the servers' private key; required", CAIRN_FLAG_CUSTOM,
            .out = &o->key, .read = cairn_key_flag_file, .verbs = "issue", .secret = true},
        {"--server", NULL, "HOST:PORT",
            "a server that accepts the token; required, repeatable, tried in order",
            CAIRN_FLAG_CUSTOM, .out = &o->servers, .read = cairn_host_flag, .verbs = "issue"},
        {"--protocol-id", NULL, "ID", "as the servers have it (0x636169726e)", CAIRN_FLAG_U64,
            .out = &o->protocol_id, .verbs = "issue"},
        {"--client-id", NULL, "ID", "the client's id; one connection at a time (a random one)",
            CAIRN_FLAG_U64, .out = &o->client_id, .verbs = "issue"},
        {"--lifetime", NULL, "S", "how long the token can be used to join (30)", CAIRN_FLAG_U32,
            .out = &o->lifetime_s, .least = 1, .verbs = "issue"},
        {"--timeout", NULL, "S", "silence after which a side disconnects; 0 or less: never (5)",
            CAIRN_FLAG_CUSTOM, .out = &o->timeout_s, .read = set_timeout, .verbs = "issue"},
        {"--user-data", NULL, "HEX", "up to 256 bytes for the server", CAIRN_FLAG_CUSTOM,
            .out = o->user_data, .read = set_user_data, .verbs = "issue"},
        {"--room", NULL, "NAME", "the only room that the client may join; instead of --user-data",
            CAIRN_FLAG_TEXT, .out = &o->room, .verbs = "issue"},
        {"--player", NULL, "NAME", "the player's name; instead of --user-data", CAIRN_FLAG_TEXT,
            .out = &o->player, .verbs = "issue"},
        {"--operator", NULL, NULL,
            "the client may control rooms; written over the first 16 bytes of the user data",
            CAIRN_FLAG_SWITCH, .out = &o->is_operator, .verbs = "issue"},
    };
    cairn_flags_program program = {
        .name = "cairn-token",
        .usage = "VERB [FLAGS]",
        .about = "Makes private keys and connect tokens, and prints what a token says.",
        .notes =
            "Numbers are decimal, or hexadecimal after 0x. A token for a server on this "
            "machine:\n\n"
            "    cairn-token keygen --out key\n"
            "    cairnd --key-file key &\n"
            "    cairn-token issue --key key --server 127.0.0.1:40000 --out token\n"
            "    cairn-bot --token token\n\n"
            "Issue a token after the server has started: cairnd refuses those that expire less "
            "than 30 s\n"
            "(its --token-lifetime) after its start, because an earlier run may have seen them. It "
            "refuses\n"
            "those that expire more than 30 s from now, too.",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags,
        .verbs = verbs,
        .verb_count = sizeof verbs / sizeof *verbs,
    };
    const cairn_flags_result result = cairn_flags_read(&program, argc, argv, NULL);
    *verb = program.words[0];
    o->word = program.words[1];
    return result;
}

int main(int argc, char **argv) {
    options o = {.protocol_id = CAIRN_PROTOCOL_ID_DEFAULT, .lifetime_s = 30, .timeout_s = 5};
    if (!cairn_system_random(&o.client_id, sizeof o.client_id)) {
        return complain("the system returned no random bytes: %s", strerror(errno));
    }
    const char *verb;
    cairn_system_forbid_core_dumps();
    const cairn_flags_result result = read_flags(argc, argv, &o, &verb);
    if (result != CAIRN_FLAGS_READ) {
        return result == CAIRN_FLAGS_REFUSED ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    return strcmp(verb, "issue") == 0        ? issue_token(&o)
           : strcmp(verb, "info") == 0       ? print_info(&o)
           : strcmp(verb, "public-key") == 0 ? print_public_key(&o)
                                             : make_key(&o);
}
