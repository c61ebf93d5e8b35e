// SPDX-License-Identifier: MIT
// The arena of another build: the same name, version and sizes, and a slightly lighter push. Its
// sources are compiled with cairn_body_mass defined as lighter_mass.
#include <cairn/sim.h>
#undef cairn_body_mass

float cairn_body_mass(const cairn_world *world, cairn_body_id body);

float lighter_mass(const cairn_world *world, cairn_body_id body) {
    return 0.999f * cairn_body_mass(world, body);
}
