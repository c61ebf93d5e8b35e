// SPDX-License-Identifier: MIT
#include "program/manual.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include <cairn/version.h>

// Text as troff shows it: a hyphen as one that can be copied, no line as a request.
static void print_text(const char *text) {
    bool line_begins = true;
    CAIRN_ASSERT(text != NULL);
    for (const char *at = text; *at != '\0'; ++at) {
        if (line_begins && (*at == '.' || *at == '\'')) {
            fputs("\\&", stdout);
        }
        if (*at == '\\' || *at == '-') {
            fputs(*at == '-' ? "\\-" : "\\e", stdout);
        } else {
            putchar(*at);
        }
        line_begins = *at == '\n';
    }
}

// Lines that are indented keep their ends; others are filled.
static void print_notes(const char *notes) {
    bool kept = false;
    for (const char *at = notes; *at != '\0';) {
        const size_t size = strcspn(at, "\n");
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)size, at);
        const bool indented = line[0] == ' ';
        if (size == 0 && !kept) {
            puts(".PP");
        }
        if (size > 0 && indented != kept) {
            puts(indented ? ".nf" : ".fi");
            kept = indented;
        }
        if (size > 0 || kept) {
            print_text(line);
            putchar('\n');
        }
        at += size + (at[size] == '\n' ? 1 : 0);
    }
    puts(kept ? ".fi" : "");
}

static void print_entry(const char *name, const char *value, const char *help) {
    fputs(".TP\n.B ", stdout);
    print_text(name);
    if (value != NULL) {
        fputs(" \\fI", stdout);
        print_text(value);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    print_text(help);
    putchar('\n');
}

static void print_flag(const cairn_flag *flag) {
    print_entry(flag->only_variable ? flag->variable : flag->name, flag->value_name, flag->help);
    if (flag->verbs != NULL) {
        puts(".br");
        print_text("Of the verbs ");
        print_text(flag->verbs);
        puts(".");
    }
    if (flag->variable != NULL && !flag->only_variable) {
        printf(".br\nEnvironment variable: ");
        print_text(flag->variable);
        puts(".");
    }
    if (flag->reloads) {
        puts(".br\nSIGHUP reads it from the file of --config again.");
    }
}

void cairn_manual_print(const cairn_flags_program *program) {
    char first[128];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(program->about, ".\n"), program->about);
    printf(".TH %s 1 \"\" \"cairn %s\" \"User Commands\"\n.SH NAME\n", program->name,
        CAIRN_VERSION_TEXT);
    print_text(program->name);
    fputs(" \\- ", stdout);
    print_text(first);
    fputs("\n.SH SYNOPSIS\n.B ", stdout);
    print_text(program->name);
    putchar('\n');
    print_text(program->usage);
    puts("\n.SH DESCRIPTION");
    print_text(program->about);
    if (program->verb_count > 0) {
        puts("\n.SH VERBS");
    }
    for (size_t i = 0; i < program->verb_count; ++i) {
        const cairn_flags_verb *verb = &program->verbs[i];
        print_entry(verb->name, verb->arguments[0] == '\0' ? NULL : verb->arguments, verb->help);
    }
    puts("\n.SH OPTIONS");
    for (size_t i = 0; i < program->flag_count; ++i) {
        print_flag(&program->flags[i]);
    }
    print_entry("--help", NULL, "print a summary of this page");
    print_entry("--version", NULL, "print the versions of program, protocol and simulation");
    if (program->notes != NULL) {
        puts(".SH NOTES");
        print_notes(program->notes);
    }
}

void cairn_completion_print(const cairn_flags_program *program) {
    printf("# bash completion for %s\n_cairn_complete_%s() {\n    local word=$2 previous=$3\n"
           "    case $previous in\n",
        program->name, program->name);
    for (size_t i = 0; i < program->flag_count; ++i) {
        const cairn_flag *flag = &program->flags[i];
        if (flag->only_variable || flag->kind == CAIRN_FLAG_SWITCH) {
            continue;
        }
        printf("    %s)\n", flag->name);
        const bool file =
            strstr(flag->value_name, "FILE") != NULL || strstr(flag->value_name, "FOLDER") != NULL;
        if (flag->kind == CAIRN_FLAG_CHOICE) {
            fputs("        COMPREPLY=($(compgen -W \"", stdout);
            for (size_t k = 0; flag->words[k] != NULL; ++k) {
                printf("%s%s", k == 0 ? "" : " ", flag->words[k]);
            }
            puts("\" -- \"$word\"))");
        } else if (file) {
            puts("        COMPREPLY=($(compgen -f -- \"$word\"))");
        }
        puts("        return ;;");
    }
    fputs("    esac\n    if [[ $word == -* ]]; then\n        COMPREPLY=($(compgen -W \"", stdout);
    for (size_t i = 0; i < program->flag_count; ++i) {
        if (!program->flags[i].only_variable) {
            printf("%s ", program->flags[i].name);
        }
    }
    puts("--help --version\" -- \"$word\"))\n        return\n    fi");
    if (program->verb_count > 0) {
        fputs("    if [[ $COMP_CWORD == 1 ]]; then\n        COMPREPLY=($(compgen -W \"", stdout);
        for (size_t i = 0; i < program->verb_count; ++i) {
            printf("%s%s", i == 0 ? "" : " ", program->verbs[i].name);
        }
        puts("\" -- \"$word\"))\n        return\n    fi");
    }
    printf("    COMPREPLY=($(compgen -f -- \"$word\"))\n}\ncomplete -o filenames -F "
           "_cairn_complete_%s %s\n",
        program->name, program->name);
}
