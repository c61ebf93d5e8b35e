// SPDX-License-Identifier: MIT
#include "tools/demo/line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Behind `before`, `name` and `after` put together, where what stands before is no letter.
static const char *behind(
    const char *line, const char *before, const char *name, const char *after) {
    char wanted[64];
    int length = snprintf(wanted, sizeof wanted, "%s%s%s", before, name, after);
    const char *at = line;
    while ((at = strstr(at, wanted)) != NULL) {
        bool whole = before[0] != '\0' || at == line || at[-1] == ' ' || at[-1] == '"';
        if (whole) {
            return at + length;
        }
        at++;
    }
    return NULL;
}

bool cairn_line_number(const char *line, const char *name, double *out) {
    const char *at = behind(line, "\"", name, "\":");
    at = at != NULL ? at : behind(line, "", name, "=");
    if (at == NULL) {
        return false;
    }
    char *end = NULL;
    double value = strtod(at, &end);
    if (end == at) {
        return false;
    }
    *out = value;
    return true;
}

bool cairn_line_text(const char *line, const char *name, char *out, size_t size) {
    const char *at = behind(line, "\"", name, "\":\"");
    if (at == NULL) {
        return false;
    }
    size_t length = strcspn(at, "\"");
    length = length < size ? length : size - 1;
    memcpy(out, at, length);
    out[length] = '\0';
    return true;
}
