// SPDX-License-Identifier: MIT
#pragma once

// The laboratory of solvers: how fast each one comes to the solution, scene by scene, against
// iterations and against time; then the results of Catto 2005, section 9, with every solver.

#include <stdbool.h>

bool bench_solvers_have_scene(const char *name);

// `scenes`: names, separated by commas; NULL: all but the pile of 10,000 bodies. `csv` and `chart`:
// files to write; NULL: none. False: a file cannot be written.
bool bench_solvers(const char *scenes, const char *csv, const char *chart);
