// SPDX-License-Identifier: MIT
#include "tools/flags.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const cairn_flag *find(
    const char *argument, size_t length, const cairn_flag *flags, size_t flag_count) {
    for (size_t i = 0; i < flag_count; i++) {
        if (strlen(flags[i].name) == length && memcmp(flags[i].name, argument, length) == 0) {
            return &flags[i];
        }
    }
    return NULL;
}

// Takes the flag at argv[*i] and its value, which may be the next argument.
static bool take_flag(int argc, char **argv, int *i, const cairn_flag *flags, size_t flag_count,
    char error[CAIRN_FLAG_ERROR_SIZE]) {
    const char *argument = argv[*i];
    const char *equals = strchr(argument, '=');
    size_t length = equals != NULL ? (size_t)(equals - argument) : strlen(argument);
    const cairn_flag *flag = find(argument, length, flags, flag_count);
    if (flag == NULL) {
        snprintf(error, CAIRN_FLAG_ERROR_SIZE, "%.60s: no such flag, see --help", argument);
        return false;
    }
    if (flag->value_name == NULL) {
        *flag->value = flag->name;
        snprintf(error, CAIRN_FLAG_ERROR_SIZE, "%s takes no value", flag->name);
        return equals == NULL;
    }
    if (equals == NULL && *i + 1 >= argc) {
        snprintf(
            error, CAIRN_FLAG_ERROR_SIZE, "%s needs a value: %s", flag->name, flag->value_name);
        return false;
    }
    *flag->value = equals != NULL ? equals + 1 : argv[++*i];
    return true;
}

bool cairn_flags_read(int argc, char **argv, const cairn_flag *flags, size_t flag_count,
    const char **words, size_t word_count_max, char error[CAIRN_FLAG_ERROR_SIZE]) {
    size_t word_count = 0;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) == 0) {
            if (!take_flag(argc, argv, &i, flags, flag_count, error)) {
                return false;
            }
            continue;
        }
        if (word_count == word_count_max) {
            snprintf(error, CAIRN_FLAG_ERROR_SIZE, "%.60s: not expected here, see --help", argv[i]);
            return false;
        }
        words[word_count++] = argv[i];
    }
    error[0] = '\0';
    return true;
}

void cairn_flags_help(const char *usage, const cairn_flag *flags, size_t flag_count) {
    printf("usage: %s\n", usage);
    for (size_t i = 0; i < flag_count; i++) {
        char left[40];
        const char *value = flags[i].value_name != NULL ? flags[i].value_name : "";
        snprintf(left, sizeof left, "%s %s", flags[i].name, value);
        printf("  %-26s %s\n", left, flags[i].help);
    }
}

static bool is_number(const char *text, uint64_t *out) {
    uint64_t value = 0;
    for (const char *at = text; *at != '\0'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (*at < '0' || *at > '9' || value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *out = value;
    return text[0] != '\0';
}

bool cairn_flag_number(const char *name, const char *text, uint64_t low, uint64_t high,
    uint64_t *out, char error[CAIRN_FLAG_ERROR_SIZE]) {
    if (is_number(text, out) && *out >= low && *out <= high) {
        return true;
    }
    snprintf(error, CAIRN_FLAG_ERROR_SIZE, "%s %.40s: must be a whole number in [%llu, %llu]", name,
        text, (unsigned long long)low, (unsigned long long)high);
    return false;
}

static int digit_of(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    int lower = tolower((unsigned char)c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static bool read_hex(const char *text, uint8_t key[32]) {
    for (size_t i = 0; i < 64; i++) {
        int digit = digit_of(text[i]);
        if (digit < 0) {
            return false;
        }
        key[i / 2] = (uint8_t)((i % 2 == 0 ? 0 : key[i / 2] << 4) | digit);
    }
    return true;
}

static bool read_key_file(const char *path, char text[65]) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    size_t size = fread(text, 1, 64, file);
    text[size] = '\0';
    fclose(file);
    return size == 64;
}

bool cairn_flag_key(
    const char *name, const char *text, uint8_t key[32], char error[CAIRN_FLAG_ERROR_SIZE]) {
    if (strlen(text) == 64 && read_hex(text, key)) {
        return true;
    }
    char content[65];
    if (read_key_file(text, content) && read_hex(content, key)) {
        return true;
    }
    snprintf(error, CAIRN_FLAG_ERROR_SIZE,
        "%s: neither 64 hexadecimal digits nor a readable file that begins with them", name);
    return false;
}
