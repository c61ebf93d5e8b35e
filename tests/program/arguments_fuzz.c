// SPDX-License-Identifier: MIT
// Untrusted text: the value of every flag of cairnd, keys, numbers, lines of JSON, and requests of
// operators. The first byte chooses the flag and the verb.

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "program/control_request.h"
#include "program/json.h"
#include "schema/message_check.h"
#include "server/daemon/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The reader overwrites a key.
static char key[2 * CAIRN_KEY_SIZE + 1];

static const char *environment(const char *name) {
    static const char digits[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    return strcmp(name, "CAIRN_KEY") == 0 ? memcpy(key, digits, sizeof key) : NULL;
}

static void parse_request(const uint8_t *data, size_t size) {
    static cairn_control_request_copy copy;
    char why[CAIRN_CONTROL_REQUEST_ERROR_SIZE] = "";
    cairn_json *json = cairn_json_parse((const char *)data + 1, size - 1);
    const uint32_t verb = 1 + data[0] % (CAIRN_CONTROL_VERB_COUNT - 1);
    if (json != NULL && cairn_control_request_parse(verb, json, &copy, why)) {
        const cairn_message message = {.kind = CAIRN_MESSAGE_CONTROL, .control = copy.request};
        (void)cairn_message_check(&message);
    } else {
        CAIRN_ASSERT(json == NULL || why[0] != '\0');
    }
    cairn_json_destroy(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const flags[] = {"--room", "--public", "--listen", "--key", "--protocol-id",
        "--tick-rate", "--log", "--scene", "--control", ""};
    if (size == 0 || (size > 1 && data[1] == '-')) {
        return 0; // --help would be answered on standard output
    }
    char *text = malloc(size);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    const char *const arguments[] = {
        "cairnd", flags[data[0] % (sizeof flags / sizeof *flags)], text};
    static cairn_config config;
    char error[CAIRN_FLAGS_ERROR_SIZE];
    const cairn_flags_result result =
        cairn_config_read(3, (char *const *)arguments, environment, &config, error);
    CAIRN_ASSERT((result == CAIRN_FLAGS_REFUSED) == (error[0] != '\0'));
    CAIRN_ASSERT(strlen(error) < CAIRN_FLAGS_ERROR_SIZE);
    parse_request(data, size);
    uint8_t bytes[CAIRN_KEY_SIZE];
    (void)cairn_key_parse((const char *)data, size, bytes);
    cairn_json *json = cairn_json_parse((const char *)data, size);
    double number = 0;
    cairn_json_get_number(json, "tick", &number);
    cairn_json_destroy(json);
    json = cairn_json_create();
    cairn_json_put_bytes(json, "text", data, size);
    char line[4096];
    const size_t written = cairn_json_write(json, line, sizeof line);
    for (size_t i = 0; i + 1 < written; ++i) {
        CAIRN_ASSERT(line[i] >= 0x20); // any bytes stay on one line
    }
    cairn_json_destroy(json);
    free(text);
    return 0;
}
