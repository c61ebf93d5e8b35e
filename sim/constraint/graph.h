// SPDX-License-Identifier: MIT
#pragma once

// Who is solved together with whom: constraints between two bodies are coloured so that no two of a
// colour share a moving body, and each colour is cut into groups of as many as there are lanes.

#include <stdint.h>

#include "sim/limits.h"

#define CAIRN_NO_COLOUR CAIRN_COLOURS
// Groups hold constraints of one kind only; kinds are the caller's, below this.
#define CAIRN_LINK_KINDS 8

// A constraint as the plan sees it.
typedef struct cairn_link {
    uint32_t element; // index of the contact or joint
    uint32_t patch;   // index among the patches; 0 for a joint
    uint32_t body_a;  // slots
    uint32_t body_b;
    uint32_t solver_a; // solver bodies; below the plan's moving_count if impulses move them
    uint32_t solver_b;
    uint32_t kind;
    uint32_t colour; // in: that of the last step, CAIRN_NO_COLOUR for none; out: what it got
} cairn_link;

typedef struct cairn_plan {
    cairn_link *links;
    uint32_t link_count;
    uint32_t *taken; // by solver body: bit set of colours; scratch
    uint32_t *order; // links by lane, group after group; UINT32_MAX for an empty lane
    uint32_t *single_order;
    uint32_t group_start[CAIRN_COLOURS + 1];
    uint32_t single_count;
} cairn_plan;

// Fills everything but `links`. Links keep the colour they had where that is still free, the others
// get the lowest free one, in order; those with one moving body count from the other end, so that
// what stands on the ground is solved last. Depends on the links and the lanes alone, and what it
// means for the result on the links alone.
void cairn_plan_make(cairn_plan *plan, uint32_t body_count, uint32_t moving_count, uint32_t lanes);
// Groups that a plan of that many links can need.
uint32_t cairn_plan_groups_max(uint32_t link_count, uint32_t lanes);
