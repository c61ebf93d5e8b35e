// SPDX-License-Identifier: MIT
#include "sim/articulation/forest.h"

#include <string.h>

#include "base/assert.h"
#include <cairn/articulation.h>

void cairn_forest_allocate(cairn_forest *forest, cairn_arena *from, const cairn_world_def *def) {
    const size_t joints = def->joint_capacity;
    const size_t bodies = (size_t)def->body_capacity + 1;
    // Each figure that floats has a link more than joints, and six axes more.
    const size_t links = 2 * joints < bodies ? 2 * joints : bodies;
    const size_t dofs = 3 * joints + 6 * (links < joints ? links : joints);
    forest->figures = cairn_arena_take(from, joints, sizeof *forest->figures);
    forest->links = cairn_arena_take(from, links, sizeof *forest->links);
    forest->tree_links = cairn_arena_take(from, links, sizeof *forest->tree_links);
    forest->axes = cairn_arena_take(from, dofs, sizeof *forest->axes);
    forest->dofs = cairn_arena_take(from, dofs, sizeof *forest->dofs);
    forest->drives = cairn_arena_take(from, joints, sizeof *forest->drives);
    forest->keys = cairn_arena_take(from, joints, sizeof *forest->keys);
    forest->drive_of = cairn_arena_take(from, bodies, sizeof *forest->drive_of);
    forest->place_of = cairn_arena_take(from, bodies, sizeof *forest->place_of);
    forest->figure_of = cairn_arena_take(from, bodies, sizeof *forest->figure_of);
    forest->touched = cairn_arena_take(from, links, sizeof *forest->touched);
    forest->sources = cairn_arena_take(from, joints, sizeof *forest->sources);
    forest->figure_count = 0;
    forest->drive_count = 0;
    forest->link_count = 0;
    forest->dof_count = 0;
    forest->source_count = 0;
}

static const cairn_joint *joint_of(const cairn_world *world, uint32_t drive) {
    CAIRN_ASSERT(drive < world->state.settings->joint_drive_count);
    return &world->state.joints[world->state.joint_drives[drive].joint];
}

static bool can_move(const cairn_world *world, const unsigned char *moves, uint32_t body) {
    const cairn_body *params = &world->state.bodies[body];
    return moves != NULL ? moves[body] != 0
                         : params->kind == CAIRN_BODY_DYNAMIC && params->inverse_mass > 0.0f;
}

// Lists the joints that hold a body that moves. The first one of a body counts.
static void list_drives(
    cairn_forest *forest, const cairn_world *world, const unsigned char *moves) {
    const uint32_t count = world->state.settings->joint_drive_count;
    forest->drive_count = 0;
    for (uint32_t pass = 0; pass < 2; ++pass) {
        for (uint32_t i = 0; i < count; ++i) {
            if ((world->state.joint_drives[i].flags & CAIRN_DRIVE_ARTICULATED) == 0) {
                continue;
            }
            const uint32_t a = cairn_id_index(joint_of(world, i)->body_a);
            const uint32_t b = cairn_id_index(joint_of(world, i)->body_b);
            if (pass == 0) {
                forest->drive_of[a] = CAIRN_INDEX_NONE;
                forest->drive_of[b] = CAIRN_INDEX_NONE;
                forest->place_of[a] = CAIRN_INDEX_NONE;
                forest->place_of[b] = CAIRN_INDEX_NONE;
            } else if (can_move(world, moves, b) && body_enabled(&world->state.bodies[a]) &&
                       forest->drive_of[b] == CAIRN_INDEX_NONE) {
                forest->drive_of[b] = i;
                forest->drives[forest->drive_count++] = i;
            }
        }
    }
}

// The first link above a body, which is the body of its figure that hangs on nothing that moves; or
// CAIRN_INDEX_NONE after too many links, or in a cycle.
static uint32_t first_link(const cairn_forest *forest, const cairn_world *world,
    const unsigned char *moves, uint32_t body) {
    for (uint32_t i = 0; i < CAIRN_ARTICULATION_LINKS_MAX; ++i) {
        const uint32_t drive = forest->drive_of[body];
        const uint32_t above =
            drive == CAIRN_INDEX_NONE ? body : cairn_id_index(joint_of(world, drive)->body_a);
        if (above == body || !can_move(world, moves, above)) {
            return body;
        }
        body = above;
    }
    return CAIRN_INDEX_NONE;
}

// Counts the links and axes of each figure, in the fields that hold them.
static void count_figures(
    cairn_forest *forest, const cairn_world *world, const unsigned char *moves) {
    uint32_t kept = 0;
    forest->figure_count = 0;
    for (uint32_t i = 0; i < forest->drive_count; ++i) {
        const uint32_t drive = forest->drives[i];
        const cairn_joint *joint = joint_of(world, drive);
        const uint32_t key = first_link(forest, world, moves, cairn_id_index(joint->body_b));
        if (key == CAIRN_INDEX_NONE) {
            // No public function makes such a tree. The joint exerts nothing.
            forest->drive_of[cairn_id_index(joint->body_b)] = CAIRN_INDEX_NONE;
            continue;
        }
        forest->drives[kept] = drive;
        forest->keys[kept++] = key;
    }
    forest->drive_count = kept;
    for (uint32_t i = 0; i < kept; ++i) {
        const uint32_t key = forest->keys[i];
        if (forest->place_of[key] == CAIRN_INDEX_NONE) {
            const bool floats = forest->drive_of[key] == CAIRN_INDEX_NONE;
            forest->place_of[key] = 0; // has a figure; add_link sets which link
            forest->figure_of[key] = forest->figure_count;
            forest->figures[forest->figure_count++] =
                (cairn_figure){.tree = {.link_count = floats ? 1 : 0, .dof_count = floats ? 6 : 0},
                    .base = CAIRN_INDEX_NONE,
                    .base_rotation = quat_identity()};
        }
        cairn_tree *tree = &forest->figures[forest->figure_of[key]].tree;
        tree->link_count += 1;
        tree->dof_count += cairn_joint_axis_count(joint_of(world, forest->drives[i])->kind);
    }
    for (uint32_t i = 0; i < kept; ++i) {
        forest->place_of[forest->keys[i]] = CAIRN_INDEX_NONE;
    }
}

static void share_arrays(cairn_forest *forest) {
    forest->link_count = 0;
    forest->dof_count = 0;
    for (uint32_t i = 0; i < forest->figure_count; ++i) {
        cairn_figure *figure = &forest->figures[i];
        figure->links = &forest->links[forest->link_count];
        figure->tree.links = &forest->tree_links[forest->link_count];
        figure->axes = &forest->axes[forest->dof_count];
        figure->tree.dofs = &forest->dofs[forest->dof_count];
        forest->link_count += figure->tree.link_count;
        forest->dof_count += figure->tree.dof_count;
        figure->tree.link_count = 0;
        figure->tree.dof_count = 0;
    }
}

static void add_link(cairn_forest *forest, const cairn_world *world, cairn_figure *figure,
    uint32_t body, uint32_t drive) {
    cairn_tree *tree = &figure->tree;
    const uint32_t index = tree->link_count++;
    const cairn_joint *joint = drive == CAIRN_INDEX_NONE ? NULL : joint_of(world, drive);
    const uint32_t above = joint == NULL || index == 0
                               ? CAIRN_INDEX_NONE
                               : forest->place_of[cairn_id_index(joint->body_a)] -
                                     (uint32_t)(figure->links - forest->links);
    const uint32_t count = joint == NULL ? 6 : cairn_joint_axis_count(joint->kind);
    tree->links[index] =
        (cairn_tree_link){.parent = above, .first_dof = tree->dof_count, .dof_count = count};
    figure->links[index] = (cairn_figure_link){.body = body,
        .figure = (uint32_t)(figure - forest->figures),
        .drive = drive,
        .joint = joint};
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_joint_drive *from = joint == NULL ? NULL : &world->state.joint_drives[drive];
        const float mode = from == NULL ? 0.0f : from->impulses[3 + i];
        const bool known = mode >= 0.0f && mode <= (float)CAIRN_AXIS_AT_UPPER;
        tree->dofs[tree->dof_count] = (cairn_tree_dof){.locked = 0};
        figure->axes[tree->dof_count++] =
            (cairn_figure_axis){.mode = known ? (uint32_t)mode : CAIRN_AXIS_FREE};
    }
    forest->place_of[body] = (uint32_t)(&figure->links[index] - forest->links);
}

static void set_base(const cairn_world *world, cairn_figure *figure, uint32_t first) {
    figure->origin = world->state.motions[figure->links[0].body].position;
    if (first != CAIRN_INDEX_NONE) {
        const cairn_motion *motion = &world->state.motions[first];
        figure->base = first;
        figure->base_rotation = motion->rotation;
        figure->base_position = vec3_sub(motion->position, figure->origin);
    }
}

// Adds the joints above a body that have no link yet, from the first one down, and its own.
static void add_chain(
    cairn_forest *forest, const cairn_world *world, cairn_figure *figure, uint32_t drive) {
    uint32_t chain[CAIRN_ARTICULATION_LINKS_MAX];
    uint32_t count = 0;
    while (drive != CAIRN_INDEX_NONE &&
           forest->place_of[cairn_id_index(joint_of(world, drive)->body_b)] == CAIRN_INDEX_NONE &&
           count < CAIRN_ARTICULATION_LINKS_MAX) {
        chain[count++] = drive;
        const uint32_t above = cairn_id_index(joint_of(world, drive)->body_a);
        drive = forest->drive_of[above];
    }
    for (; count > 0; --count) {
        const cairn_joint *joint = joint_of(world, chain[count - 1]);
        const bool first = figure->tree.link_count == 0;
        add_link(forest, world, figure, cairn_id_index(joint->body_b), chain[count - 1]);
        if (first) {
            set_base(world, figure, cairn_id_index(joint->body_a));
        }
    }
}

static cairn_forest_source source_of(
    const cairn_world *world, const unsigned char *moves, uint32_t drive) {
    const cairn_joint *joint = joint_of(world, drive);
    const uint32_t a = cairn_id_index(joint->body_a);
    const uint32_t b = cairn_id_index(joint->body_b);
    if ((world->state.joint_drives[drive].flags & CAIRN_DRIVE_ARTICULATED) == 0) {
        return (cairn_forest_source){.joint = CAIRN_INDEX_NONE};
    }
    return (cairn_forest_source){.joint = world->state.joint_drives[drive].joint,
        .body_a = a,
        .body_b = b,
        .kind = joint->kind,
        .moves = (moves[a] != 0 ? 1u : 0u) | (moves[b] != 0 ? 2u : 0u) |
                 (body_enabled(&world->state.bodies[a]) ? 4u : 0u)};
}

static void note_sources(
    cairn_forest *forest, const cairn_world *world, const unsigned char *moves) {
    const uint32_t count = world->state.settings->joint_drive_count;
    for (uint32_t i = 0; i < count; ++i) {
        forest->sources[i] = source_of(world, moves, i);
    }
    forest->source_count = count;
}

bool cairn_forest_stays(
    cairn_forest *forest, const cairn_world *world, const unsigned char *moves) {
    const uint32_t count = world->state.settings->joint_drive_count;
    if (count != forest->source_count) {
        return false;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_forest_source source = source_of(world, moves, i);
        if (memcmp(&source, &forest->sources[i], sizeof source) != 0) {
            return false;
        }
    }
    for (uint32_t i = 0; i < forest->figure_count; ++i) {
        forest->figures[i].touched = false;
        set_base(world, &forest->figures[i], forest->figures[i].base);
    }
    memset(forest->touched, 0, forest->link_count);
    return true;
}

void cairn_forest_list(cairn_forest *forest, const cairn_world *world, const unsigned char *moves) {
    forest->source_count = 0;
    list_drives(forest, world, moves);
    count_figures(forest, world, moves);
    share_arrays(forest);
    for (uint32_t i = 0; i < forest->drive_count; ++i) {
        const uint32_t key = forest->keys[i];
        cairn_figure *figure = &forest->figures[forest->figure_of[key]];
        if (figure->tree.link_count == 0 && forest->drive_of[key] == CAIRN_INDEX_NONE) {
            add_link(forest, world, figure, key, CAIRN_INDEX_NONE);
            set_base(world, figure, CAIRN_INDEX_NONE);
        }
        add_chain(forest, world, figure, forest->drives[i]);
    }
    memset(forest->touched, 0, forest->link_count);
    if (moves != NULL) {
        note_sources(forest, world, moves);
    }
}

void cairn_forest_load(const cairn_world *world, cairn_figure *figure) {
    for (uint32_t k = 0; k < figure->tree.link_count; ++k) {
        cairn_figure_load(world, figure, k);
    }
}

bool cairn_forest_has(const cairn_forest *forest, uint32_t body) {
    const uint32_t place = forest->place_of[body];
    return place < forest->link_count && forest->links[place].body == body;
}

void cairn_forest_touch(cairn_forest *forest, uint32_t body) {
    if (cairn_forest_has(forest, body)) {
        const uint32_t place = forest->place_of[body];
        forest->touched[place] = 1;
        forest->figures[forest->links[place].figure].touched = true;
    }
}
