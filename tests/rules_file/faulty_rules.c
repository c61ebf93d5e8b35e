// SPDX-License-Identifier: MIT
// Rules that a program must refuse: each has one fault. FAULT_OF_FILE chooses one of the file.

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include <cairn/sim.h>

#define FAULT_NONE 0
#define FAULT_ABI 1
#define FAULT_CONSTRUCTOR 2
#define FAULT_IMPORT 3
#define FAULT_SAME_NAME 4
#define FAULT_SIZE 5
#define FAULT_NO_EXPORT 6
#define FAULT_STATIC 7
#define FAULT_RANDOM 8

#if FAULT_OF_FILE == FAULT_STATIC || FAULT_OF_FILE == FAULT_RANDOM
static void step_badly(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    static uint32_t calls;
    (void)world;
    (void)commands;
    calls += command_count;
    ((uint32_t *)state)[1] = FAULT_OF_FILE == FAULT_STATIC ? calls : (uint32_t)rand();
}

static const cairn_rules badly = {
    .name = "badly", .version = 1, .state_size = 8, .step = step_badly};
CAIRN_RULES_EXPORT(&badly);
#else
static void step_well(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    (void)world;
    (void)commands;
    *(uint32_t *)state += command_count;
}

static volatile uintptr_t nowhere = 64; // so that no compiler sees the fault

static void crash(cairn_world *world, void *state) {
    (void)world;
    (void)state;
    *(volatile uint32_t *)nowhere = 1;
}

#if FAULT_OF_FILE == FAULT_NONE
// A volatile index, so that no compiler sees the fault.
static volatile int32_t beyond = 1;

static void write_after(cairn_world *world, void *state) {
    (void)world;
    ((uint32_t *)state)[beyond] = 1;
}

static void write_before(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    (void)world;
    (void)commands;
    (void)command_count;
    ((uint32_t *)state)[-beyond] = 1;
}

// As if a room had at most 16 players.
static void count_of_players(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    (void)world;
    for (uint32_t i = 0; i < command_count; ++i) {
        ((volatile uint32_t *)state)[commands[i].slot] += 1;
    }
}

static void hang(cairn_world *world, void *state) {
    (void)world;
    (void)state;
    while (beyond != 0) {}
}
#endif

#if FAULT_OF_FILE == FAULT_CONSTRUCTOR
__attribute__((constructor)) static void crash_at_load(void) {
    raise(SIGSEGV);
}
#endif

#if FAULT_OF_FILE == FAULT_IMPORT
extern void cairn_no_such_function(void);
static void import(cairn_world *world, void *state) {
    (void)world;
    (void)state;
    cairn_no_such_function();
}
#else
#define import NULL
#endif

static const cairn_rules crashes = {
    .name = FAULT_OF_FILE == FAULT_SAME_NAME ? "sandbox" : "crashes",
    .version = 1,
    .state_size = FAULT_OF_FILE == FAULT_SIZE ? 5 : 4,
    .start = crash,
    .step = step_well,
    .after_step = import};
#if FAULT_OF_FILE == FAULT_NONE
static const cairn_rules writes_after = {
    .name = "writes after", .version = 1, .state_size = 4, .start = write_after, .step = step_well};
static const cairn_rules writes_before = {
    .name = "writes before", .version = 1, .state_size = 4, .step = write_before};
static const cairn_rules hangs = {
    .name = "hangs", .version = 1, .state_size = 4, .step = step_well, .after_step = hang};
static const cairn_rules few_players = {
    .name = "few players", .version = 1, .state_size = 16 * 4, .step = count_of_players};
CAIRN_RULES_EXPORT(&crashes, &writes_after, &writes_before, &hangs, &few_players);
#elif FAULT_OF_FILE == FAULT_ABI
CAIRN_RULES_VISIBLE const cairn_rules_export cairn_rules_exported;
const cairn_rules_export cairn_rules_exported = {.abi = CAIRN_RULES_ABI + 1};
const cairn_rules *const faulty_unused = &crashes;
#elif FAULT_OF_FILE == FAULT_NO_EXPORT
const cairn_rules *const faulty_unused = &crashes;
#else
CAIRN_RULES_EXPORT(&crashes);
#endif
#endif
