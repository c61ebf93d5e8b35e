// SPDX-License-Identifier: MIT
#pragma once

// Finds values in the lines that our own programs print: JSON with a member of that name, or words
// like name=value. Not a parser: for lines whose writer is known.

#include <stdbool.h>
#include <stddef.h>

// The number behind "name": or name=. False when there is none.
bool cairn_line_number(const char *line, const char *name, double *out);
// The string behind "name":, without its quotes, cut to fit.
bool cairn_line_text(const char *line, const char *name, char *out, size_t size);
