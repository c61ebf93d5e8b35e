// SPDX-License-Identifier: MIT
#pragma once

// Worlds that are encoded on one machine and continue on another: a file for each golden scene,
// with the canonical encoding of its world and a set-difference sketch of it.

#include <stdbool.h>

#include <cairn/sim.h>

// Writes FOLDER/NAME.world. False if the file cannot be written completely.
bool golden_transfer_write(const char *folder, const char *name, const cairn_world *world);

// Decodes FOLDER/NAME.world into `world`. False, after a line on stdout that says why, if the file
// cannot be read or decoded, or if the decoded world does not encode to the same bytes or does not
// give the same sketch.
bool golden_transfer_read(const char *folder, const char *name, cairn_world *world);
