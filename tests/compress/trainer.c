// SPDX-License-Identifier: MIT
#include "tests/compress/trainer.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"

enum {
    FEATURES_MAX = CAIRN_ERROR_FEATURES,
    PREDICTION_ROUNDS = 10,
    ERROR_ROUNDS = 3,
    ERROR_ROWS = CAIRN_MOTION_CLASSES * CAIRN_COMPONENTS * 3,
    ROWS_MAX = ERROR_ROWS,
    DECISIONS = sizeof((cairn_snapshot_model *)0)->likely / sizeof(cairn_probability),
};

// The normal equations of one row of weights.
typedef struct normal_equations {
    double matrix[FEATURES_MAX][FEATURES_MAX];
    double target[FEATURES_MAX];
} normal_equations;

typedef struct trainer {
    cairn_snapshot_model model;
    normal_equations rows[3][ROWS_MAX]; // by cairn_codec_table
    uint32_t counts[DECISIONS][2];
} trainer;

static float *weights_of(trainer *t, cairn_codec_table table, uint32_t row) {
    switch (table) {
    case CAIRN_CODEC_TABLE_TURN:
        return t->model.turn[row];
    case CAIRN_CODEC_TABLE_MOVE:
        return t->model.move[row / 2][row % 2];
    case CAIRN_CODEC_TABLE_ERROR:
        break;
    }
    return t->model.error[row / (CAIRN_COMPONENTS * 3)][row / 3 % CAIRN_COMPONENTS][row % 3];
}

static void add_sample(void *user, cairn_codec_table table, uint32_t row, const float *features,
    uint32_t count, float target) {
    trainer *t = user;
    const float *weights = weights_of(t, table, row);
    double predicted = 0.0;
    for (uint32_t i = 0; i < count; ++i) {
        predicted += (double)weights[i] * (double)features[i];
    }
    const double left = (double)target - predicted;
    // What is expected to have a large error may have a large one.
    const double spread = table == CAIRN_CODEC_TABLE_ERROR ? fmax(predicted, 0.2) : 2.0;
    const double weight = table == CAIRN_CODEC_TABLE_ERROR ? 1.0 / (spread * spread)
                                                           : 1.0 / (spread * spread + left * left);
    normal_equations *equations = &t->rows[table][row];
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t k = 0; k < count; ++k) {
            equations->matrix[i][k] += weight * (double)features[i] * (double)features[k];
        }
        equations->target[i] += weight * (double)features[i] * (double)target;
    }
}

// Gauss elimination of a positive definite matrix; features that never occurred get 0.
static void solve(normal_equations *e, uint32_t count, float *out) {
    for (uint32_t i = 0; i < count; ++i) {
        e->matrix[i][i] += 1e-6 + 1e-5 * e->matrix[i][i];
    }
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t row = i + 1; row < count; ++row) {
            const double factor = e->matrix[row][i] / e->matrix[i][i];
            for (uint32_t k = i; k < count; ++k) {
                e->matrix[row][k] -= factor * e->matrix[i][k];
            }
            e->target[row] -= factor * e->target[i];
        }
    }
    double x[FEATURES_MAX];
    for (uint32_t i = count; i-- > 0;) {
        double sum = e->target[i];
        for (uint32_t k = i + 1; k < count; ++k) {
            sum -= e->matrix[i][k] * x[k];
        }
        x[i] = sum / e->matrix[i][i];
        out[i] = (float)x[i];
    }
}

static void solve_table(trainer *t, cairn_codec_table table, uint32_t rows, uint32_t features) {
    for (uint32_t row = 0; row < rows; ++row) {
        solve(&t->rows[table][row], features, weights_of(t, table, row));
    }
}

// Every `stride`-th frame of all sets.
static void observe(
    trainer *t, const cubes_set *sets, uint32_t set_count, uint32_t stride, bool sample) {
    memset(t->rows, 0, sizeof t->rows);
    memset(t->counts, 0, sizeof t->counts);
    const cairn_codec_observer observer = {
        .user = t, .sample = sample ? add_sample : NULL, .counts = t->counts};
    for (uint32_t s = 0; s < set_count; ++s) {
        cairn_codec_settings settings = sets[s].settings;
        settings.model = &t->model;
        cairn_snapshot_codec *codec;
        CAIRN_ASSERT(cairn_snapshot_codec_create(&settings, CUBES_COUNT, &codec) == CAIRN_OK);
        for (uint32_t at = CUBES_FIRST; at < sets[s].frame_count; at += stride) {
            const cairn_codec_frames frames = cubes_frames(&sets[s], at);
            cairn_snapshot_observe(codec, &frames, cubes_frame(&sets[s], at), &observer);
        }
        cairn_snapshot_codec_destroy(codec);
    }
}

void trainer_train(cairn_snapshot_model *out, const cubes_set *sets, uint32_t set_count) {
    static trainer trained;
    trainer *t = &trained;
    memset(t, 0, sizeof *t);
    for (uint32_t row = 0; row < ERROR_ROWS; ++row) {
        weights_of(t, CAIRN_CODEC_TABLE_ERROR, row)[0] = 4.0f; // steps, until it is known better
    }
    for (uint32_t round = 0; round < PREDICTION_ROUNDS; ++round) {
        observe(t, sets, set_count, 3, true);
        solve_table(t, CAIRN_CODEC_TABLE_TURN, CAIRN_MOTION_CLASSES, CAIRN_TURN_FEATURES);
        solve_table(t, CAIRN_CODEC_TABLE_MOVE, 2 * CAIRN_MOTION_CLASSES, CAIRN_MOVE_FEATURES);
    }
    for (uint32_t round = 0; round < ERROR_ROUNDS; ++round) {
        observe(t, sets, set_count, 3, true);
        solve_table(t, CAIRN_CODEC_TABLE_ERROR, ERROR_ROWS, CAIRN_ERROR_FEATURES);
    }
    observe(t, sets, set_count, 1, false);
    cairn_probability *likely = (cairn_probability *)&t->model.likely;
    for (uint32_t i = 0; i < DECISIONS; ++i) {
        const double no = t->counts[i][0], yes = t->counts[i][1];
        const double share = (yes + 0.4) / (no + yes + 0.8);
        likely[i] = (cairn_probability)fmin(fmax(share * 65536.0, 24.0), 65512.0);
    }
    *out = t->model;
}
