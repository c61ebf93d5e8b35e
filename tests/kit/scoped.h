// SPDX-License-Identifier: MIT
#pragma once

// Variables that end when their block ends, so that a test says once what it needs:
//
//     SCOPED(cairn_world) *world = kit_world(NULL);
//
// The newest ends first. After a failed assertion nothing ends: the program reports and exits.
#define SCOPED(type) __attribute__((cleanup(end_scope_of_##type))) type

// Says once per type how a variable of it ends, held by value or by pointer.
#define SCOPE_ENDS(type, end)                                                                      \
    static inline void end_scope_of_##type(type *object) {                                         \
        end(object);                                                                               \
    }
#define SCOPE_POINTER_ENDS(type, destroy)                                                          \
    static inline void end_scope_of_##type(type **object) {                                        \
        destroy(*object);                                                                          \
    }
