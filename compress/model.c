// SPDX-License-Identifier: MIT
#include "compress/model.h"

const cairn_snapshot_model cairn_snapshot_model_default =
#include "compress/model_tables.inc"
    ;
