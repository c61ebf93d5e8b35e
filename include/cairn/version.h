// SPDX-License-Identifier: MIT
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The version of the library. CMake reads it from here.
#define CAIRN_VERSION_MAJOR 0
#define CAIRN_VERSION_MINOR 1
#define CAIRN_VERSION_PATCH 0
#define CAIRN_VERSION_TEXT "0.1.0"
#define CAIRN_VERSION                                                                              \
    (CAIRN_VERSION_MAJOR * 10000u + CAIRN_VERSION_MINOR * 100u + CAIRN_VERSION_PATCH)

// Incremented when any golden hash changes. Peers with different numbers never share a simulation.
#define CAIRN_SIM_VERSION 20

// Incremented when a message changes in a way that older peers cannot read. Exchanged in HELLO.
#define CAIRN_PROTOCOL_VERSION 5

// The versions of the library that was linked, to compare with those of the headers compiled
// against.
uint32_t cairn_version(void);         // CAIRN_VERSION
const char *cairn_version_text(void); // static, such as "0.1.0"
uint32_t cairn_sim_version(void);
uint32_t cairn_protocol_version(void);

// The compiler that built the library and its target, such as "gcc 12.2.0 x86-64", to find out why
// two builds differ. Static text.
const char *cairn_build_text(void);

#ifdef __cplusplus
}
#endif
