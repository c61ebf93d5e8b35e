// SPDX-License-Identifier: MIT
// usage: train_snapshots OUT
// Makes the tables of the snapshot codec, compress/model_tables.inc, from the motion of own scenes
// (cubes.h), each with poses rounded as snapshots have them and as the challenge had them. Seeds
// below 100 are for training; tests measure others.
#include <stdio.h>

#include "tests/compress/trainer.h"

enum { FRAMES = 1206 };

// ---- The tables as text, in the nested braces of the struct.

typedef struct printer {
    FILE *file;
    const float *floats; // or
    const cairn_probability *shares;
} printer;

static void print_nested(printer *p, const uint32_t *lengths) {
    fputs("{", p->file);
    for (uint32_t i = 0; i < lengths[0]; ++i) {
        if (lengths[1] > 0) {
            print_nested(p, lengths + 1);
            fputs(i + 1 < lengths[0] ? ",\n" : "", p->file);
        } else {
            fputs(i > 0 ? ", " : "", p->file);
            if (p->floats != NULL) {
                fprintf(p->file, "%.8ef", (double)*p->floats++); // nine digits: exact
            } else {
                fprintf(p->file, "%u", *p->shares++);
            }
        }
    }
    fputs("}", p->file);
}

#define PRINT_FLOATS(name, ...)                                                                    \
    do {                                                                                           \
        printer nested = {.file = file, .floats = (const float *)m->name};                         \
        fputs("." #name " = ", file);                                                              \
        print_nested(&nested, (const uint32_t[]){__VA_ARGS__, 0});                                 \
        fputs(",\n", file);                                                                        \
    } while (0)
#define PRINT_SHARES(name, ...)                                                                    \
    do {                                                                                           \
        printer nested = {.file = file, .shares = (const cairn_probability *)m->likely.name};      \
        fputs("." #name " = ", file);                                                              \
        print_nested(&nested, (const uint32_t[]){__VA_ARGS__, 0});                                 \
        fputs(",\n", file);                                                                        \
    } while (0)

static void print_model(FILE *file, const cairn_snapshot_model *m) {
    fputs("// SPDX-License-Identifier: MIT\n// Made by train_snapshots.\n// clang-format off\n{\n",
        file);
    PRINT_FLOATS(turn, CAIRN_MOTION_CLASSES, CAIRN_TURN_FEATURES);
    PRINT_FLOATS(move, CAIRN_MOTION_CLASSES, 2, CAIRN_MOVE_FEATURES);
    PRINT_FLOATS(error, CAIRN_MOTION_CLASSES, CAIRN_COMPONENTS, 3, CAIRN_ERROR_FEATURES);
    fputs(".likely = {\n", file);
    PRINT_SHARES(block, 2, 2, 2);
    PRINT_SHARES(changed, 2, 3, 2);
    PRINT_SHARES(not_largest, CAIRN_MARGINS);
    fprintf(file, ".not_second = %u,\n", m->likely.not_second);
    PRINT_SHARES(not_zero, CAIRN_COMPONENTS, CAIRN_ERROR_LEVELS, CAIRN_FRACTIONS);
    PRINT_SHARES(negative, CAIRN_COMPONENTS, CAIRN_ERROR_LEVELS, CAIRN_FRACTIONS);
    PRINT_SHARES(longer, CAIRN_COMPONENTS, CAIRN_ERROR_LEVELS, CAIRN_MAGNITUDES);
    PRINT_SHARES(mantissa, CAIRN_COMPONENTS, CAIRN_MAGNITUDES, 3);
    fputs("},\n}\n", file);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: train_snapshots OUT\n");
        return 2;
    }
    static const struct {
        cubes_kind kind;
        uint64_t seed;
    } scenes[] = {{CUBES_MODERATE, 1}, {CUBES_MODERATE, 2}, {CUBES_MODERATE, 3},
        {CUBES_MODERATE, 4}, {CUBES_HEAVY, 1}, {CUBES_HEAVY, 2}, {CUBES_REST, 1}, {CUBES_REST, 2}};
    enum { SCENES = sizeof scenes / sizeof scenes[0] };
    cubes_set sets[2 * SCENES];
    for (uint32_t i = 0; i < SCENES; ++i) {
        const uint32_t warm_up = cubes_warm_up(scenes[i].kind);
        sets[2 * i] = cubes_simulate(scenes[i].kind, scenes[i].seed, warm_up, FRAMES);
        sets[2 * i + 1] = cubes_simulate_challenge(scenes[i].kind, scenes[i].seed, warm_up, FRAMES);
    }
    static cairn_snapshot_model model;
    trainer_train(&model, sets, 2 * SCENES);
    FILE *file = fopen(argv[1], "w");
    if (file == NULL) {
        perror(argv[1]);
        return 1;
    }
    print_model(file, &model);
    const bool written = ferror(file) == 0;
    return fclose(file) == 0 && written ? 0 : 1;
}
