// SPDX-License-Identifier: MIT
#include "tools/replay/trial.h"

#include <stdint.h>
#include <string.h>

#include "sim/debug/poison.h"
#include "sim/state/hash_cache.h"
#include "sim/state/world.h"
#include "tools/replay/fused.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

const char *cairn_hazard_name(cairn_hazard hazard) {
    static const char *const names[CAIRN_HAZARD_COUNT] = {
        [CAIRN_HAZARD_NONE] = "none",
        [CAIRN_HAZARD_CONTRACTION] = "contraction",
        [CAIRN_HAZARD_FLUSH_TO_ZERO] = "flush_to_zero",
        [CAIRN_HAZARD_ROUNDING] = "rounding",
        [CAIRN_HAZARD_WARM_START] = "warm_start",
        [CAIRN_HAZARD_FIELD_CHANGED] = "field_changed",
        [CAIRN_HAZARD_UNINITIALISED] = "uninitialised",
        [CAIRN_HAZARD_RULES] = "rules",
        [CAIRN_HAZARD_ARITHMETIC] = "arithmetic",
        [CAIRN_HAZARD_UNKNOWN] = "unknown",
    };
    return (uint32_t)hazard < CAIRN_HAZARD_COUNT ? names[hazard] : "unknown";
}

const cairn_trial cairn_trial_plain = {.hazard = CAIRN_HAZARD_NONE, .words = "as it should be"};

// ------------------------------------------------------------------------ modes of the processor

#if defined(__SSE2__)
enum { MODES = 1 };

static void set_mode(uint32_t mode) {
    uint32_t word = 0x1f80;
    word |= (mode & CAIRN_TRIAL_FLUSH) != 0 ? 0x8000u : 0;
    word |= (mode & CAIRN_TRIAL_SUBNORMAL) != 0 ? 0x0040u : 0;
    word |= (mode & (CAIRN_TRIAL_DOWN | CAIRN_TRIAL_TO_ZERO)) != 0 ? 0x2000u : 0;
    word |= (mode & (CAIRN_TRIAL_UP | CAIRN_TRIAL_TO_ZERO)) != 0 ? 0x4000u : 0;
    _mm_setcsr(word);
}
#elif defined(__aarch64__)
enum { MODES = 1 };

static void set_mode(uint32_t mode) {
    uint64_t word = 0;
    word |= (mode & (CAIRN_TRIAL_FLUSH | CAIRN_TRIAL_SUBNORMAL)) != 0 ? UINT64_C(1) << 24 : 0;
    word |= (mode & (CAIRN_TRIAL_UP | CAIRN_TRIAL_TO_ZERO)) != 0 ? UINT64_C(1) << 22 : 0;
    word |= (mode & (CAIRN_TRIAL_DOWN | CAIRN_TRIAL_TO_ZERO)) != 0 ? UINT64_C(1) << 23 : 0;
    __asm__ volatile("msr fpcr, %0" : : "r"(word));
}
#else
enum { MODES = 0 };

static void set_mode(uint32_t mode) {
    (void)mode;
}
#endif

// A step sets the mode of the determinism contract when it begins and restores the caller's at its
// end.
static void switch_mode(void *context, uint32_t stage) {
    if (stage == CAIRN_STAGE_RULES) {
        set_mode(*(const uint32_t *)context);
    }
}

// -------------------------------------------------------------------------------------- trials

static const cairn_trial trials[] = {
    {CAIRN_HAZARD_CONTRACTION, "with products fused into sums", .fused = true},
    {CAIRN_HAZARD_FLUSH_TO_ZERO, "with flush-to-zero and denormals-are-zero",
        .mode = CAIRN_TRIAL_FLUSH | CAIRN_TRIAL_SUBNORMAL},
    {CAIRN_HAZARD_FLUSH_TO_ZERO, "with flush-to-zero", .mode = CAIRN_TRIAL_FLUSH},
    {CAIRN_HAZARD_FLUSH_TO_ZERO, "with denormals-are-zero", .mode = CAIRN_TRIAL_SUBNORMAL},
    {CAIRN_HAZARD_WARM_START, "without the impulses of the last step", .no_warm_start = true},
    {CAIRN_HAZARD_ROUNDING, "rounding down", .mode = CAIRN_TRIAL_DOWN},
    {CAIRN_HAZARD_ROUNDING, "rounding up", .mode = CAIRN_TRIAL_UP},
    {CAIRN_HAZARD_ROUNDING, "rounding to zero", .mode = CAIRN_TRIAL_TO_ZERO},
};

uint32_t cairn_trials(const cairn_trial **out) {
    static cairn_trial available[sizeof trials / sizeof trials[0]];
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; ++i) {
        const cairn_trial *trial = &trials[i];
        if ((!trial->fused || cairn_fused_available()) && (trial->mode == 0 || MODES == 1)) {
            available[count++] = *trial;
        }
    }
    *out = available;
    return count;
}

void cairn_trial_clear_impulses(cairn_world *world) {
    const cairn_settings *settings = world->state.settings;
    for (uint32_t i = 0; i < settings->contact_count; ++i) {
        cairn_contact *contact = &world->state.contacts[i];
        for (uint32_t k = 0; k < CAIRN_MANIFOLD_POINTS_MAX; ++k) {
            contact->points[k].normal_impulse = 0.0f;
        }
        memset(contact->tangent_impulse, 0, sizeof contact->tangent_impulse);
    }
    for (uint32_t i = 0; i < settings->joint_slots; ++i) {
        cairn_joint *joint = &world->state.joints[i];
        joint->impulse = (cairn_vec3){0.0f, 0.0f, 0.0f};
        joint->relax_impulse = (cairn_vec3){0.0f, 0.0f, 0.0f};
        joint->angular_impulse = (cairn_vec3){0.0f, 0.0f, 0.0f};
        joint->swing_impulse = 0.0f;
        joint->lower_impulse = 0.0f;
        joint->upper_impulse = 0.0f;
    }
    for (uint32_t i = 0; i < settings->joint_drive_count; ++i) {
        cairn_joint_drive *drive = &world->state.joint_drives[i];
        memset(drive->impulses, 0, sizeof drive->impulses);
    }
    cairn_hash_cache_mark_all(world);
}

void cairn_trial_begin(const cairn_trial *trial, cairn_world *world) {
    if (trial->no_warm_start) {
        cairn_trial_clear_impulses(world);
    }
    if (trial->mode != 0) {
        cairn_world_set_stage_probe(world, switch_mode, (void *)(uintptr_t)&trial->mode);
    }
}

void cairn_trial_end(cairn_world *world) {
    cairn_world_set_stage_probe(world, NULL, NULL);
}

void cairn_trial_step(const cairn_trial *trial, cairn_world *world, const cairn_command *commands,
    uint32_t count, cairn_trace *out) {
    cairn_trial_begin(trial, world);
    if (trial->fused) {
        cairn_fused_step_traced(world, commands, count, out);
    } else {
        cairn_world_step_traced(world, commands, count, out);
    }
    cairn_trial_end(world);
}

cairn_frame *cairn_trial_freeze(const cairn_trial *trial, cairn_world *world,
    const cairn_command *commands, uint32_t count, uint32_t point) {
    cairn_trial_begin(trial, world);
    cairn_frame *frame = trial->fused ? cairn_fused_step_frozen(world, commands, count, point)
                                      : cairn_world_step_frozen(world, commands, count, point);
    cairn_trial_end(world);
    return frame;
}

// ----------------------------------------------------- memory that is not part of the state

#define FILL_SIZE 32768

typedef struct stack_fill {
    const cairn_rules *rules;
    unsigned char byte;
} stack_fill;

static stack_fill fill; // static, because rules have no argument for it

static void fill_stack(unsigned char byte) {
    volatile unsigned char area[FILL_SIZE];
    for (size_t i = 0; i < sizeof area; ++i) {
        area[i] = byte;
    }
}

static void step_with_fill(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    void (*volatile fill_below)(unsigned char byte) = fill_stack; // must not be inlined
    fill_below(fill.byte);
    fill.rules->step(world, state, commands, command_count);
}

static void after_step_with_fill(cairn_world *world, void *state) {
    void (*volatile fill_below)(unsigned char byte) = fill_stack;
    fill_below(fill.byte);
    fill.rules->after_step(world, state);
}

bool cairn_trial_step_with_fill(const cairn_world *world, unsigned char byte,
    const cairn_command *commands, uint32_t count, cairn_hash128 *root) {
    cairn_world *fork = NULL;
    if (cairn_world_fork(world, &fork) != CAIRN_OK) {
        return false;
    }
    const cairn_rules *rules = fork->def.rules;
    cairn_rules filling_rules;
    if (rules != NULL) {
        fill = (stack_fill){.rules = rules, .byte = byte};
        filling_rules = *rules;
        filling_rules.step = step_with_fill;
        filling_rules.after_step = rules->after_step != NULL ? after_step_with_fill : NULL;
        fork->def.rules = &filling_rules;
    }
    cairn_world_poison(fork, byte);
    cairn_world_step(fork, commands, count);
    *root = cairn_world_hash_read(fork).full;
    cairn_world_destroy(fork);
    return true;
}
