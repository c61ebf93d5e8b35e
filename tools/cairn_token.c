// SPDX-License-Identifier: MIT

// cairn-token: makes keys and connect tokens, and tells what a token says. A backend does the same
// with net/token.h or with any other netcode library.

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "net/crypto.h"
#include "net/sign.h"
#include "net/token.h"
#include "net/user_data.h"

static const char usage[] =
    "usage: cairn-token keygen [--out FILE]\n"
    "       cairn-token issue --key FILE|HEX --protocol-id N --client-id N --server ADDRESS\n"
    "                         [--server ADDRESS ...] --lifetime SECONDS --timeout SECONDS\n"
    "                         [--user-data HEX] [--operator] --out FILE\n"
    "       cairn-token info FILE\n"
    "       cairn-token signing-key [--out FILE]\n"
    "       cairn-token public-key FILE|HEX\n"
    "       cairn-token --help | --version\n"
    "\n"
    "keygen  prints a new private key, 64 hexadecimal digits, for backend and servers\n"
    "issue   writes a connect token, which lets one client in once; give it to nobody else\n"
    "        --operator: the client may steer rooms of servers that allow it; written over the\n"
    "        first 16 bytes of the user data\n"
    "info    tells what a connect token says in the clear\n"
    "signing-key  prints a new private key for the recordings of cairnd --record-key\n"
    "public-key   prints what belongs to it, for cairn-replay verify --key\n"
    "\n"
    "Numbers are decimal, or hexadecimal after 0x. An address is 127.0.0.1:40000 or [::1]:40000;\n"
    "a client tries them in order, and a server takes only tokens that name it. A time-out of 0\n"
    "or less means none. The options of issue that are not in brackets must be given.\n";

// One sentence on stderr; the answer is the exit status.
static int refuse(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("cairn-token: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return EXIT_FAILURE;
}

static bool fill_random(uint8_t *bytes, size_t size) {
    size_t filled = 0;
    while (filled < size) {
        const ssize_t count = getrandom(bytes + filled, size - filled, 0);
        if (count < 0 && errno != EINTR) {
            return false;
        }
        filled += count > 0 ? (size_t)count : 0;
    }
    return true;
}

static int nibble_of(char c) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *place = c != '\0' ? strchr(digits, c) : NULL;
    return place != NULL ? (int)((place - digits) % 16) : -1;
}

// Reads exactly 2 * size digits.
static bool parse_hex(const char *text, size_t digits, uint8_t *bytes, size_t size) {
    if (digits != 2 * size) {
        return false;
    }
    for (size_t i = 0; i < size; ++i) {
        const int high = nibble_of(text[2 * i]);
        const int low = nibble_of(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        bytes[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}

static bool parse_u64(const char *text, uint64_t *out) {
    const bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hexadecimal ? text + 2 : text;
    if (nibble_of(digits[0]) < 0) {
        return false; // strtoull would take spaces and signs
    }
    char *end;
    errno = 0;
    *out = strtoull(digits, &end, hexadecimal ? 16 : 10);
    return errno == 0 && *end == '\0';
}

static bool parse_i32(const char *text, int32_t *out) {
    const bool negative = text[0] == '-';
    uint64_t value;
    if (!parse_u64(negative ? text + 1 : text, &value) || value > INT32_MAX) {
        return false;
    }
    *out = negative ? -(int32_t)value : (int32_t)value;
    return true;
}

// Reads a file of at most `room` bytes. Returns false when it cannot be read or is longer.
static bool read_file(const char *path, uint8_t *bytes, size_t room, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    *size = fread(bytes, 1, room, file);
    const bool whole = ferror(file) == 0 && fgetc(file) == EOF;
    fclose(file);
    return whole;
}

static bool write_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        return false;
    }
    const bool written = fwrite(bytes, 1, size, file) == size;
    return fclose(file) == 0 && written;
}

// The key itself never appears in a message: it would end up in a log.
static bool read_key(const char *file_or_hex, uint8_t key[CAIRN_KEY_SIZE]) {
    if (parse_hex(file_or_hex, strlen(file_or_hex), key, CAIRN_KEY_SIZE)) {
        return true;
    }
    char text[256];
    size_t size;
    if (!read_file(file_or_hex, (uint8_t *)text, sizeof text, &size)) {
        return false;
    }
    while (size > 0 && strchr(" \t\r\n", text[size - 1]) != NULL) {
        --size;
    }
    const bool good = parse_hex(text, size, key, CAIRN_KEY_SIZE);
    cairn_wipe(text, sizeof text);
    return good;
}

#define KEY_LINE_SIZE (2 * CAIRN_KEY_SIZE + 2)

static void write_key_line(const uint8_t key[CAIRN_KEY_SIZE], char text[KEY_LINE_SIZE]) {
    for (size_t i = 0; i < CAIRN_KEY_SIZE; ++i) {
        snprintf(text + 2 * i, 3, "%02x", key[i]);
    }
    memcpy(text + 2 * CAIRN_KEY_SIZE, "\n", 2);
}

// Both kinds of private key are 32 random bytes.
static int make_key(const char *verb, int argc, char **argv) {
    const bool to_file = argc == 2 && strcmp(argv[0], "--out") == 0;
    if (argc != 0 && !to_file) {
        return refuse("%s takes nothing but --out FILE, not \"%s\".", verb, argv[0]);
    }
    uint8_t key[CAIRN_KEY_SIZE];
    if (!fill_random(key, sizeof key)) {
        return refuse("the system gave no random bytes: %s.", strerror(errno));
    }
    char text[KEY_LINE_SIZE];
    write_key_line(key, text);
    if (!to_file) {
        fputs(text, stdout);
    } else if (!write_file(argv[1], text, strlen(text))) {
        return refuse("%s cannot be written: %s.", argv[1], strerror(errno));
    }
    cairn_wipe(key, sizeof key);
    cairn_wipe(text, sizeof text);
    return EXIT_SUCCESS;
}

static int public_key(int argc, char **argv) {
    uint8_t seed[CAIRN_SIGN_SEED_SIZE];
    uint8_t key[CAIRN_SIGN_PUBLIC_SIZE];
    if (argc != 1) {
        return refuse("public-key needs one FILE or key.");
    }
    if (!read_key(argv[0], seed)) {
        return refuse("public-key: neither 64 hexadecimal digits nor a file that holds them.");
    }
    char text[KEY_LINE_SIZE];
    cairn_sign_public(seed, key);
    cairn_wipe(seed, sizeof seed);
    write_key_line(key, text);
    fputs(text, stdout);
    return EXIT_SUCCESS;
}

typedef struct order {
    const char *key;
    const char *out;
    bool has_protocol_id, has_client_id, has_lifetime, has_timeout;
    uint64_t protocol_id;
    uint64_t client_id;
    uint64_t lifetime_s;
    int32_t timeout_s;
    cairn_address servers[CAIRN_TOKEN_SERVERS_MAX];
    uint32_t server_count;
    uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE];
    bool is_operator;
} order;

static int set_number(const char *name, const char *value, uint64_t *out, bool *has) {
    *has = parse_u64(value, out);
    return *has ? EXIT_SUCCESS : refuse("%s: \"%s\" is not a number.", name, value);
}

static int set_timeout(order *o, const char *value) {
    o->has_timeout = parse_i32(value, &o->timeout_s);
    return o->has_timeout ? EXIT_SUCCESS
                          : refuse("--timeout: \"%s\" is not a number of seconds.", value);
}

static int add_server(order *o, const char *value) {
    if (o->server_count == CAIRN_TOKEN_SERVERS_MAX) {
        return refuse("--server: a token names at most %d servers.", CAIRN_TOKEN_SERVERS_MAX);
    }
    cairn_address *server = &o->servers[o->server_count];
    if (!cairn_address_parse(value, server) || server->port == 0) {
        return refuse("--server: \"%s\" is not an address and port such as 127.0.0.1:40000 or "
                      "[::1]:40000.",
            value);
    }
    ++o->server_count;
    return EXIT_SUCCESS;
}

static int set_user_data(order *o, const char *value) {
    const size_t digits = strlen(value);
    if (digits > 2 * CAIRN_TOKEN_USER_DATA_SIZE ||
        !parse_hex(value, digits, o->user_data, digits / 2)) {
        return refuse("--user-data: at most %d bytes as pairs of hexadecimal digits are needed.",
            CAIRN_TOKEN_USER_DATA_SIZE);
    }
    return EXIT_SUCCESS;
}

static int set_option(order *o, const char *name, const char *value) {
    if (strcmp(name, "--key") == 0) {
        o->key = value;
        return EXIT_SUCCESS;
    }
    if (strcmp(name, "--out") == 0) {
        o->out = value;
        return EXIT_SUCCESS;
    }
    if (strcmp(name, "--protocol-id") == 0) {
        return set_number(name, value, &o->protocol_id, &o->has_protocol_id);
    }
    if (strcmp(name, "--client-id") == 0) {
        return set_number(name, value, &o->client_id, &o->has_client_id);
    }
    if (strcmp(name, "--lifetime") == 0) {
        return set_number(name, value, &o->lifetime_s, &o->has_lifetime);
    }
    if (strcmp(name, "--timeout") == 0) {
        return set_timeout(o, value);
    }
    if (strcmp(name, "--server") == 0) {
        return add_server(o, value);
    }
    if (strcmp(name, "--user-data") == 0) {
        return set_user_data(o, value);
    }
    return refuse("issue has no option \"%s\"; see --help.", name);
}

static int read_order(int argc, char **argv, order *o) {
    for (int i = 0; i < argc; i += 2) {
        if (strcmp(argv[i], "--operator") == 0) {
            o->is_operator = true;
            i -= 1;
            continue;
        }
        if (i + 1 == argc) {
            return refuse("%s needs a value; see --help.", argv[i]);
        }
        if (set_option(o, argv[i], argv[i + 1]) != EXIT_SUCCESS) {
            return EXIT_FAILURE;
        }
    }
    const struct {
        const char *name;
        bool given;
    } needed[] = {
        {"--key", o->key != NULL},
        {"--protocol-id", o->has_protocol_id},
        {"--client-id", o->has_client_id},
        {"--server", o->server_count > 0},
        {"--lifetime", o->has_lifetime},
        {"--timeout", o->has_timeout},
        {"--out", o->out != NULL},
    };
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; ++i) {
        if (!needed[i].given) {
            return refuse("issue needs %s; see --help.", needed[i].name);
        }
    }
    if (o->lifetime_s < 1 || o->lifetime_s > UINT32_MAX) {
        return refuse("--lifetime: a token lives 1 to %" PRIu32 " seconds.", UINT32_MAX);
    }
    return EXIT_SUCCESS;
}

static int issue(int argc, char **argv) {
    order o = {0};
    if (read_order(argc, argv, &o) != EXIT_SUCCESS) {
        return EXIT_FAILURE;
    }
    uint8_t key[CAIRN_KEY_SIZE];
    if (!read_key(o.key, key)) {
        return refuse("--key: neither 64 hexadecimal digits nor a file that holds them.");
    }
    if (o.is_operator) {
        cairn_user_data_write(o.user_data, CAIRN_USER_RIGHT_OPERATOR);
    }
    uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE];
    if (!fill_random(entropy, sizeof entropy)) {
        return refuse("the system gave no random bytes: %s.", strerror(errno));
    }
    const cairn_token_request request = {
        .protocol_id = o.protocol_id,
        .client_id = o.client_id,
        .create_unix_s = (uint64_t)time(NULL),
        .lifetime_s = (uint32_t)o.lifetime_s,
        .timeout_s = o.timeout_s,
        .server_addresses = o.servers,
        .server_count = o.server_count,
        .private_key = key,
        .user_data = o.user_data,
        .entropy = entropy,
    };
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    const cairn_status status = cairn_token_issue(&request, token);
    cairn_wipe(key, sizeof key);
    cairn_wipe(entropy, sizeof entropy);
    if (status != CAIRN_OK) {
        return refuse("no token could be made: %s.", cairn_status_text(status));
    }
    if (!write_file(o.out, token, sizeof token)) {
        return refuse("%s cannot be written: %s.", o.out, strerror(errno));
    }
    cairn_wipe(token, sizeof token);
    return EXIT_SUCCESS;
}

static void print_time(const char *name, uint64_t unix_s) {
    char text[64] = "beyond the calendar";
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

static int info(int argc, char **argv) {
    if (argc != 1) {
        return refuse("info needs one FILE.");
    }
    uint8_t bytes[CAIRN_CONNECT_TOKEN_SIZE + 1];
    size_t size = 0;
    errno = 0;
    if (!read_file(argv[0], bytes, sizeof bytes, &size) && size < sizeof bytes) {
        return refuse("%s cannot be read: %s.", argv[0], strerror(errno));
    }
    cairn_token_public token;
    const cairn_token_refusal refusal = cairn_token_read_public(bytes, size, &token);
    if (refusal != CAIRN_TOKEN_OK) {
        return refuse("%s: %s.", argv[0], cairn_token_refusal_text(refusal));
    }
    print_token(&token);
    cairn_wipe(&token, sizeof token);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
    const char *verb = argc > 1 ? argv[1] : "";
    if (strcmp(verb, "--help") == 0) {
        fputs(usage, stdout);
        return EXIT_SUCCESS;
    }
    if (strcmp(verb, "--version") == 0) {
        puts("cairn-token " CAIRN_VERSION);
        return EXIT_SUCCESS;
    }
    if (strcmp(verb, "keygen") == 0 || strcmp(verb, "signing-key") == 0) {
        return make_key(verb, argc - 2, argv + 2);
    }
    if (strcmp(verb, "issue") == 0) {
        return issue(argc - 2, argv + 2);
    }
    if (strcmp(verb, "info") == 0) {
        return info(argc - 2, argv + 2);
    }
    if (strcmp(verb, "public-key") == 0) {
        return public_key(argc - 2, argv + 2);
    }
    return refuse(
        "\"%s\" is none of keygen, issue, info, signing-key and public-key; see --help.", verb);
}
