// SPDX-License-Identifier: MIT
#pragma once

// The JSON schema (draft 2020-12) of scenes, for editors. It follows from the tables that the
// reader uses (schema/scene_fields.h): what it refuses, the reader refuses as well. The reader also
// checks what a schema cannot say, such as indices and the order of two numbers.

#include <stddef.h>

// Writes the schema, terminated, as far as it fits. Returns its whole length without the end.
size_t cairn_scene_schema(char *out, size_t size);
