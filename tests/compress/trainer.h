// SPDX-License-Identifier: MIT
#pragma once

// Makes the tables of the snapshot codec from recorded motion.
//
// The weights of predictions and of expected errors are least squares, weighted again by the error
// that they left (Holland and Welsch, "Robust regression using iteratively reweighted
// least-squares", 1977), so that a few collisions do not bend them. Then the decisions are counted.

#include "tests/compress/cubes.h"

void trainer_train(cairn_snapshot_model *model, const cubes_set *sets, uint32_t set_count);
