// SPDX-License-Identifier: MIT
#include "program/flags.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "program/manual.h"
#include <cairn/types.h>
#include <cairn/version.h>

// As many hexadecimal digits may be a key with a slip.
#define KEY_DIGITS_MIN 48

// Where a value came from, for error messages.
typedef struct source {
    const char *name;      // of the flag or the variable
    const char *separator; // " " after a flag, "=" after a variable
    bool first;            // of this flag
    char *error;
} source;

static bool refuse(char *error, const char *format, ...) {
    CAIRN_ASSERT(error != NULL);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, CAIRN_FLAGS_ERROR_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

static bool refuse_value(const source *from, const char *value, const char *why) {
    return refuse(from->error, "%s%s%.100s: %s", from->name, from->separator, value, why);
}

// strtoull would take "-1" and " 7".
static bool parse_number(const char *text, uint64_t *out) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    CAIRN_ASSERT(text != NULL && out != NULL);
    const bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *at = hexadecimal ? text + 2 : text;
    const uint64_t base = hexadecimal ? 16 : 10;
    uint64_t value = 0;
    if (*at == '\0') {
        return false;
    }
    for (; *at != '\0'; ++at) {
        const char *place = strchr(digits, *at);
        const uint64_t digit = place == NULL ? base : (uint64_t)(place - digits) % 16;
        if (digit >= base || value > (UINT64_MAX - digit) / base) {
            return false;
        }
        value = value * base + digit;
    }
    *out = value;
    return true;
}

static bool read_number(
    const source *from, const char *text, uint64_t least, uint64_t most, uint64_t *out) {
    CAIRN_ASSERT(least <= most);
    uint64_t number;
    if (parse_number(text, &number) && number >= least && number <= most) {
        *out = number;
        return true;
    }
    char why[96] = "must be a whole number below 2^64";
    if (least != 0 || most != UINT64_MAX) {
        snprintf(
            why, sizeof why, "must be a whole number in [%" PRIu64 ", %" PRIu64 "]", least, most);
    }
    return refuse_value(from, text, why);
}

bool cairn_flags_number(const char *name, const char *text, uint64_t least, uint64_t most,
    uint64_t *out, char error[CAIRN_FLAGS_ERROR_SIZE]) {
    const source from = {.name = name, .separator = " ", .error = error};
    return read_number(&from, text, least, most, out);
}

static bool read_choice(const cairn_flag *flag, const source *from, const char *value) {
    char why[160] = "must be one of";
    CAIRN_ASSERT(flag->words != NULL);
    for (uint32_t i = 0; flag->words[i] != NULL; ++i) {
        if (strcmp(value, flag->words[i]) == 0) {
            *(uint32_t *)flag->out = i;
            return true;
        }
        const size_t used = strlen(why);
        snprintf(why + used, sizeof why - used, "%s %s", i == 0 ? "" : ",", flag->words[i]);
    }
    return refuse_value(from, value, why);
}

static bool read_address(const cairn_flag *flag, const source *from, const char *value) {
    CAIRN_ASSERT(flag->out != NULL);
    cairn_address address;
    if (!cairn_address_parse(value, &address) || (flag->least > 0 && address.port == 0)) {
        return refuse_value(from, value,
            flag->least > 0
                ? "must be an address with a port, such as 127.0.0.1:40000 or [::1]:40000"
                : "must be an address such as 127.0.0.1:40000 or [::1]:40000");
    }
    memcpy(flag->out, &address, sizeof address);
    return true;
}

static bool read_value(const cairn_flag *flag, const source *from, const char *value) {
    const uint64_t most = flag->most > 0 ? flag->most : UINT64_MAX;
    CAIRN_ASSERT(flag->least <= most);
    uint64_t number;
    const char *why;
    switch (flag->kind) {
    case CAIRN_FLAG_SWITCH:
        *(bool *)flag->out = value == NULL || strcmp(value, "1") == 0;
        return value == NULL || *(bool *)flag->out || strcmp(value, "0") == 0 ||
               refuse_value(from, value, "must be 0 or 1");
    case CAIRN_FLAG_U32:
        if (!read_number(
                from, value, flag->least, most < UINT32_MAX ? most : UINT32_MAX, &number)) {
            return false;
        }
        *(uint32_t *)flag->out = (uint32_t)number;
        return true;
    case CAIRN_FLAG_U64:
        return read_number(from, value, flag->least, most, flag->out);
    case CAIRN_FLAG_TEXT:
        *(const char **)flag->out = value;
        return value[0] != '\0' || refuse_value(from, value, "must not be empty");
    case CAIRN_FLAG_CHOICE:
        return read_choice(flag, from, value);
    case CAIRN_FLAG_ADDRESS:
        return read_address(flag, from, value);
    case CAIRN_FLAG_CUSTOM:
        break;
    }
    CAIRN_ASSERT(flag->read != NULL);
    why = flag->read(flag->out, value, from->first);
    // Nor is a key shown that was given where its file's name belongs.
    const bool hidden = flag->secret || strspn(value, "0123456789abcdefABCDEF") >= KEY_DIGITS_MIN;
    return why == NULL || refuse_value(from, hidden ? "..." : value, why);
}

static const cairn_flag *find_flag(
    const cairn_flags_program *program, const char *name, size_t length) {
    for (size_t i = 0; i < program->flag_count; ++i) {
        const cairn_flag *flag = &program->flags[i];
        if (strlen(flag->name) == length && memcmp(flag->name, name, length) == 0) {
            return flag;
        }
    }
    return NULL;
}

bool cairn_flags_set(const cairn_flags_program *program, const char *name, const char *value,
    bool is_word, bool first, char error[CAIRN_FLAGS_ERROR_SIZE]) {
    char dashed[80];
    snprintf(dashed, sizeof dashed, "--%s", name);
    const cairn_flag *flag = find_flag(program, dashed, strlen(dashed));
    if (flag == NULL || flag->only_variable) {
        return refuse(error, "%.60s: unknown setting; --help lists all flags", name);
    }
    const source from = {.name = name, .separator = " ", .first = first, .error = error};
    const bool is_switch = flag->kind == CAIRN_FLAG_SWITCH;
    if (is_switch ? !is_word || value[0] == 'n' : is_word) {
        return refuse_value(
            &from, value, is_switch ? "must be true or false" : "must be a text or a number");
    }
    return read_value(flag, &from, is_switch ? (value[0] == 't' ? "1" : "0") : value);
}

static bool read_environment(const cairn_flags_program *program, char *error) {
    for (size_t i = 0; i < program->flag_count; ++i) {
        const cairn_flag *flag = &program->flags[i];
        const char *value = flag->variable == NULL         ? NULL
                            : program->environment != NULL ? program->environment(flag->variable)
                                                           : getenv(flag->variable);
        const source from = {
            .name = flag->variable, .separator = "=", .first = true, .error = error};
        if (value != NULL && !read_value(flag, &from, value)) {
            return false;
        }
    }
    return true;
}

// --help, --version, --manual, --completion or --schema among the arguments, if they are not the
// value of a flag; NULL: neither.
static const char *find_question(const cairn_flags_program *program, int argc, char *const *argv) {
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0 ||
            strcmp(argv[i], "--version") == 0 || strcmp(argv[i], "--manual") == 0 ||
            strcmp(argv[i], "--completion") == 0 ||
            (strcmp(argv[i], "--schema") == 0 && program->print_schema != NULL)) {
            return argv[i];
        }
        const cairn_flag *flag = find_flag(program, argv[i], strlen(argv[i]));
        i += flag != NULL && flag->kind != CAIRN_FLAG_SWITCH ? 1 : 0;
    }
    return NULL;
}

// Reads the flag at argv[*i] and its value, which may be the next argument. `given` has a place for
// each flag.
static bool read_flag(const cairn_flags_program *program, int argc, char *const *argv, int *i,
    const char **given, char *error) {
    CAIRN_ASSERT(*i >= 1 && *i < argc);
    const char *argument = argv[*i];
    const char *equals = strchr(argument, '=');
    const size_t length = equals != NULL ? (size_t)(equals - argument) : strlen(argument);
    const cairn_flag *flag = find_flag(program, argument, length);
    if (flag == NULL) {
        return refuse(error, "%.60s: there is no such flag; --help lists all", argument);
    }
    if (flag->only_variable) {
        return refuse(error,
            "%s: every user can read the command line; set the variable %s, or use a file",
            flag->name, flag->variable);
    }
    CAIRN_ASSERT((flag->kind == CAIRN_FLAG_SWITCH) == (flag->value_name == NULL));
    const char **place = &given[flag - program->flags];
    const source from = {
        .name = flag->name, .separator = " ", .first = *place == NULL, .error = error};
    *place = flag->name;
    const char *value = equals != NULL ? equals + 1 : NULL;
    if (flag->kind == CAIRN_FLAG_SWITCH) {
        return value == NULL ? read_value(flag, &from, NULL)
                             : refuse_value(&from, value, "takes no value");
    }
    if (value == NULL && *i + 1 < argc) {
        *i += 1;
        value = argv[*i];
    }
    return value != NULL ? read_value(flag, &from, value)
                         : refuse_value(&from, flag->value_name, "the value is missing");
}

// With verbs and without a limit, the words are a verb and its arguments.
static size_t words_max(const cairn_flags_program *program) {
    return program->words_max == 0 && program->verb_count > 0 ? CAIRN_FLAGS_WORDS_MAX - 1
                                                              : program->words_max;
}

static bool read_arguments(
    cairn_flags_program *program, int argc, char *const *argv, const char **given, char *error) {
    size_t count = 0;
    for (int i = 1; i < argc; ++i) {
        if (strncmp(argv[i], "--", 2) == 0) {
            if (!read_flag(program, argc, argv, &i, given, error)) {
                return false;
            }
        } else if (count == words_max(program)) {
            return refuse(error, "%.60s: not expected; --help lists the arguments", argv[i]);
        } else {
            program->words[count++] = argv[i];
        }
    }
    return true;
}

// Whether a list of words separated by spaces contains this word.
static bool has_word(const char *list, const char *word) {
    CAIRN_ASSERT(list != NULL && word[0] != '\0');
    const size_t length = strlen(word);
    for (const char *at = strstr(list, word); at != NULL; at = strstr(at + 1, word)) {
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

static bool check_verb(const cairn_flags_program *program, const char **given, char *error) {
    const cairn_flags_verb *verb = NULL;
    const char *name = program->words[0] == NULL ? "" : program->words[0];
    for (size_t i = 0; i < program->verb_count; ++i) {
        verb = strcmp(program->verbs[i].name, name) == 0 ? &program->verbs[i] : verb;
    }
    if (verb == NULL) {
        return refuse(error,
            name[0] == '\0' ? "a verb is missing; --help lists all"
                            : "%.60s: there is no such verb; --help lists all",
            name);
    }
    size_t least = 0, most = 0, count = 0;
    for (const char *at = verb->arguments; *at != '\0'; ++at) {
        const bool begins = *at != ' ' && (at == verb->arguments || at[-1] == ' ');
        most += begins ? 1 : 0;
        least += begins && *at != '[' ? 1 : 0;
    }
    while (program->words[count + 1] != NULL) {
        count += 1;
    }
    CAIRN_ASSERT(least <= most);
    if (count < least || count > most) {
        return refuse(error, "%s: %s; use: %s %s%s%s", name,
            count < least ? "an argument is missing" : "too many arguments", program->name, name,
            most == 0 ? "" : " ", verb->arguments);
    }
    for (size_t i = 0; i < program->flag_count; ++i) {
        const char *verbs = program->flags[i].verbs;
        if (given[i] != NULL && verbs != NULL && !has_word(verbs, name)) {
            return refuse(error, "%s: not a flag of %s, but of: %s", given[i], name, verbs);
        }
    }
    return true;
}

// Two columns; a left side that is too long has a line of its own.
static void print_row(const char *left, const char *right, const char *variable) {
    CAIRN_ASSERT(left != NULL && right != NULL);
    printf(strlen(left) < 26 ? "  %-26s" : "  %s\n                            ", left);
    printf(variable != NULL ? "%s [%s]\n" : "%s\n", right, variable);
}

static void print_help(const cairn_flags_program *program) {
    char left[128];
    printf("usage: %s %s\n\n%s\n", program->name, program->usage, program->about);
    if (program->verb_count > 0) {
        printf("\nverbs:\n");
    }
    for (size_t i = 0; i < program->verb_count; ++i) {
        const cairn_flags_verb *verb = &program->verbs[i];
        snprintf(left, sizeof left, "%s %s", verb->name, verb->arguments);
        print_row(left, verb->help, NULL);
    }
    printf("\nflags:\n");
    for (size_t i = 0; i < program->flag_count; ++i) {
        const cairn_flag *flag = &program->flags[i];
        char right[256];
        if (flag->only_variable) {
            continue;
        }
        snprintf(left, sizeof left, "%s %s", flag->name,
            flag->value_name != NULL ? flag->value_name : "");
        snprintf(
            right, sizeof right, flag->verbs != NULL ? "%s (%s)" : "%s", flag->help, flag->verbs);
        print_row(left, right, flag->variable);
    }
    print_row("-h, --help", "print this text", NULL);
    print_row("--version", "print the versions of program, protocol and simulation", NULL);
    for (size_t i = 0; i < program->flag_count; ++i) {
        if (program->flags[i].only_variable) {
            print_row(program->flags[i].variable, program->flags[i].help, NULL);
        }
    }
    if (program->notes != NULL) {
        printf("\n%s\n", program->notes);
    }
}

#define FLAGS_MAX 64

cairn_flags_result cairn_flags_read(
    cairn_flags_program *program, int argc, char *const *argv, char *error) {
    CAIRN_ASSERT(program->flag_count <= FLAGS_MAX);
    CAIRN_ASSERT(words_max(program) < CAIRN_FLAGS_WORDS_MAX);
    const char *given[FLAGS_MAX] = {NULL};
    char own_error[CAIRN_FLAGS_ERROR_SIZE];
    char *sentence = error != NULL ? error : own_error;
    sentence[0] = '\0';
    memset(program->words, 0, sizeof program->words);
    const char *question = find_question(program, argc, argv);
    if (question != NULL) {
        if (strcmp(question, "--version") == 0) {
            printf("%s %s, protocol %d, simulation %d\n", program->name, CAIRN_VERSION_TEXT,
                CAIRN_PROTOCOL_VERSION, CAIRN_SIM_VERSION);
        } else if (strcmp(question, "--manual") == 0) {
            cairn_manual_print(program);
        } else if (strcmp(question, "--completion") == 0) {
            cairn_completion_print(program);
        } else if (strcmp(question, "--schema") == 0) {
            program->print_schema(program);
        } else {
            print_help(program);
        }
        return CAIRN_FLAGS_ANSWERED;
    }
    if (read_environment(program, sentence) &&
        read_arguments(program, argc, argv, given, sentence) &&
        (words_max(program) == program->words_max || check_verb(program, given, sentence))) {
        return CAIRN_FLAGS_READ;
    }
    CAIRN_ASSERT(error != NULL || sentence[0] != '\0');
    if (error == NULL) {
        fprintf(stderr, "%s: %s\n", program->name, sentence);
    }
    return CAIRN_FLAGS_REFUSED;
}
