// SPDX-License-Identifier: MIT
// Each laboratory solver steps every world that decodes: the world stays valid, and goes on from
// its encoding as from itself. What holds it by forces can be asked of any of them.

#include <cairn/measure.h>

#include "tests/sim/fuzz_kit.h"

#define SOLVERS 7u
#define FUZZ_BODIES_MAX 1024u

typedef struct fuzz_laboratory {
    cairn_world *victim;
    cairn_world *twin;
    uint8_t valid[FUZZ_SIZE_MAX];
    size_t valid_size;
} fuzz_laboratory;

// Lemke's algorithm, which also finds what holds the others, takes a third power of the rows.
static void build_few(cairn_world *world) {
    golden_build_pile(world, 3);
}

static void build_some(cairn_world *world) {
    golden_build_pile(world, 8);
}

static void prepare(fuzz_laboratory *laboratory, uint32_t index) {
    static const golden_scene scenes[SOLVERS] = {
        {.name = "direct", .define = golden_define_direct, .build = build_few},
        {.name = "psor", .define = golden_define_psor, .build = build_some},
        {.name = "pssor", .define = golden_define_pssor, .build = build_some},
        {.name = "split", .define = golden_define_split, .build = build_some},
        {.name = "gradient", .define = golden_define_gradient, .build = build_some},
        {.name = "mprgp", .define = golden_define_mprgp, .build = build_some},
        {.name = "apgd", .define = golden_define_apgd, .build = build_some}};
    const golden_scene *scene = &scenes[index];
    cairn_world *world = golden_world_at(scene, 40);
    laboratory->victim = golden_create(scene);
    laboratory->twin = golden_create(scene);
    laboratory->valid_size = cairn_world_encode(world, laboratory->valid, FUZZ_SIZE_MAX);
    CAIRN_ASSERT(laboratory->victim != NULL && laboratory->twin != NULL);
    CAIRN_ASSERT(laboratory->valid_size > 0);
    cairn_world_destroy(world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static fuzz_laboratory laboratories[SOLVERS];
    static uint8_t later[FUZZ_SIZE_MAX];
    if (size < 2) {
        return 0;
    }
    fuzz_laboratory *at = &laboratories[data[0] % SOLVERS];
    if (at->victim == NULL) {
        prepare(at, data[0] % SOLVERS);
    }
    size_t count = 0;
    const uint8_t *bytes = fuzz_encoding(at->valid, at->valid_size, data + 1, size - 1, &count);
    if (bytes == NULL || cairn_world_decode(at->victim, bytes, count, NULL) != CAIRN_OK) {
        return 0;
    }
    for (uint32_t i = 0; i < 3; ++i) {
        const size_t later_size = cairn_world_encode(at->victim, later, sizeof later);
        CAIRN_ASSERT(cairn_world_decode(at->twin, later, later_size, NULL) == CAIRN_OK);
        cairn_world_step(at->victim, NULL, 0);
        cairn_world_step(at->twin, NULL, 0);
        CAIRN_ASSERT(cairn_hash_equal(
            cairn_world_hash_read(at->victim).full, cairn_world_hash_read(at->twin).full));
    }
    CAIRN_ASSERT(cairn_world_validate(at->victim, NULL) == CAIRN_OK);
    static cairn_body_forces bodies[FUZZ_BODIES_MAX];
    cairn_forces sum;
    const cairn_hash128 before = cairn_world_hash_read(at->victim).full;
    CAIRN_ASSERT(cairn_world_forces_read(at->victim, FUZZ_BODIES_MAX, bodies, &sum) == CAIRN_OK);
    CAIRN_ASSERT(cairn_hash_equal(before, cairn_world_hash_read(at->victim).full));
    return 0;
}
