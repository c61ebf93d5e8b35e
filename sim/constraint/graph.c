// SPDX-License-Identifier: MIT
#include "sim/constraint/graph.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "sim/debug/negative_control.h"

#define CELLS (CAIRN_COLOURS * CAIRN_LINK_KINDS)

uint32_t cairn_plan_groups_max(uint32_t link_count, uint32_t lanes) {
    const uint32_t partial = link_count < CELLS ? link_count : CELLS;
    return link_count / lanes + partial;
}

static uint32_t taken_of(const cairn_plan *plan, const cairn_link *link, uint32_t moving_count) {
    return (link->solver_a < moving_count ? plan->taken[link->solver_a] : 0) |
           (link->solver_b < moving_count ? plan->taken[link->solver_b] : 0);
}

static void take(cairn_plan *plan, const cairn_link *link) {
    plan->taken[link->solver_a] |= 1u << link->colour;
    plan->taken[link->solver_b] |= 1u << link->colour;
}

static uint32_t free_colour(const cairn_plan *plan, const cairn_link *link, uint32_t moving_count) {
    const uint32_t taken = taken_of(plan, link, moving_count);
    const bool both = link->solver_a < moving_count && link->solver_b < moving_count;
    for (uint32_t i = 0; i < CAIRN_COLOURS; ++i) {
        const uint32_t colour = both ? i : CAIRN_COLOURS - 1 - i;
        if ((taken >> colour & 1u) == 0) {
            return colour;
        }
    }
    return CAIRN_NO_COLOUR;
}

static void colour_links(cairn_plan *plan, uint32_t moving_count) {
    for (uint32_t i = 0; i < plan->link_count; ++i) {
        cairn_link *link = &plan->links[i];
        const bool kept = link->colour < CAIRN_COLOURS &&
                          (taken_of(plan, link, moving_count) >> link->colour & 1u) == 0;
        if (kept) {
            take(plan, link);
        } else {
            link->colour = CAIRN_NO_COLOUR;
        }
    }
    for (uint32_t i = 0; i < plan->link_count; ++i) {
        cairn_link *link = &plan->links[i];
        if (link->colour != CAIRN_NO_COLOUR) {
            continue;
        }
        link->colour = free_colour(plan, link, moving_count);
        if (link->colour != CAIRN_NO_COLOUR) {
            take(plan, link);
        }
    }
}

static uint32_t cell_of(const cairn_link *link) {
    const uint32_t colour = control_colours_mixed() ? link->colour / 2 * 2 : link->colour;
    return colour * CAIRN_LINK_KINDS + link->kind;
}

// Groups of a colour lie together, those of a kind in it, too.
static void group_links(cairn_plan *plan, uint32_t lanes) {
    uint32_t next[CELLS] = {0};
    plan->single_count = 0;
    for (uint32_t i = 0; i < plan->link_count; ++i) {
        const cairn_link *link = &plan->links[i];
        if (link->colour == CAIRN_NO_COLOUR) {
            plan->single_order[plan->single_count++] = i;
        } else {
            next[cell_of(link)] += 1;
        }
    }
    uint32_t group = 0;
    for (uint32_t cell = 0; cell < CELLS; ++cell) {
        if (cell % CAIRN_LINK_KINDS == 0) {
            plan->group_start[cell / CAIRN_LINK_KINDS] = group;
        }
        const uint32_t count = next[cell];
        next[cell] = group * lanes;
        group += (count + lanes - 1) / lanes;
    }
    plan->group_start[CAIRN_COLOURS] = group;
    memset(plan->order, 0xff, (size_t)group * lanes * sizeof *plan->order);
    for (uint32_t i = 0; i < plan->link_count; ++i) {
        const cairn_link *link = &plan->links[i];
        if (link->colour != CAIRN_NO_COLOUR) {
            plan->order[next[cell_of(link)]++] = i;
        }
    }
}

void cairn_plan_make(cairn_plan *plan, uint32_t body_count, uint32_t moving_count, uint32_t lanes) {
    memset(plan->taken, 0, body_count * sizeof *plan->taken);
    colour_links(plan, moving_count);
    group_links(plan, lanes);
}
