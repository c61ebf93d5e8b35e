// SPDX-License-Identifier: MIT
#include <cairn/version.h>

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown compiler"
#endif

#if defined(__x86_64__)
#define MACHINE "x86-64"
#elif defined(__i386__)
#define MACHINE "i686"
#elif defined(__aarch64__)
#define MACHINE "aarch64"
#elif defined(__arm__)
#define MACHINE "arm"
#elif defined(__riscv)
#define MACHINE "riscv"
#elif defined(__powerpc64__)
#define MACHINE "ppc64"
#elif defined(__s390x__)
#define MACHINE "s390x"
#elif defined(__wasm__)
#define MACHINE "wasm"
#else
#define MACHINE "unknown machine"
#endif

uint32_t cairn_version(void) {
    return CAIRN_VERSION;
}

const char *cairn_version_text(void) {
    return CAIRN_VERSION_TEXT;
}

uint32_t cairn_sim_version(void) {
    return CAIRN_SIM_VERSION;
}

uint32_t cairn_protocol_version(void) {
    return CAIRN_PROTOCOL_VERSION;
}

const char *cairn_build_text(void) {
    return COMPILER " " MACHINE;
}
