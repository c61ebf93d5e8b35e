// SPDX-License-Identifier: MIT
#pragma once

// Variables that are destroyed at the end of their block:
//
//     SCOPED(cairn_world) *world = kit_world(NULL);
//
// The newest is destroyed first. After a failed assertion nothing is destroyed: the program reports
// and exits.
#define SCOPED(type) __attribute__((cleanup(end_scope_of_##type))) type

// Declares once per type how a variable of it is destroyed, held by value or by pointer.
#define SCOPE_ENDS(type, end)                                                                      \
    static inline void end_scope_of_##type(type *object) {                                         \
        end(object);                                                                               \
    }
#define SCOPE_POINTER_ENDS(type, destroy)                                                          \
    static inline void end_scope_of_##type(type **object) {                                        \
        destroy(*object);                                                                          \
    }
