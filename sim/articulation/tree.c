// SPDX-License-Identifier: MIT
#include "sim/articulation/tree.h"

#include "base/assert.h"

// A pivot below this part of the link's inertia is rounding: the axis is not used.
#define PIVOT_MIN 1e-8f

static cairn_tree_link *parent_of(const cairn_tree *tree, const cairn_tree_link *link) {
    CAIRN_ASSERT(link->parent == CAIRN_INDEX_NONE || &tree->links[link->parent] < link);
    return link->parent == CAIRN_INDEX_NONE ? NULL : &tree->links[link->parent];
}

static void factor_link(const cairn_tree *tree, cairn_tree_link *link) {
    const cairn_articulated_inertia *all = &link->articulated;
    const float size = all->angular.xx + all->angular.yy + all->angular.zz + all->linear.xx +
                       all->linear.yy + all->linear.zz;
    for (uint32_t i = link->dof_count; i > 0; --i) {
        cairn_tree_dof *dof = &tree->dofs[link->first_dof + i - 1];
        dof->moved = articulated_inertia_apply(&link->articulated, dof->axis);
        const float pivot = spatial_dot(dof->moved, dof->axis) + dof->armature;
        dof->inverse = pivot > PIVOT_MIN * size ? 1.0f / pivot : 0.0f;
        dof->factored_locked = dof->locked;
        if (dof->locked == 0) {
            link->articulated =
                articulated_inertia_sub_square(&link->articulated, dof->moved, dof->inverse);
        }
    }
}

// Factors the links with `stale` set.
static void factor_stale(const cairn_tree *tree) {
    for (uint32_t i = 0; i < tree->link_count; ++i) {
        cairn_tree_link *link = &tree->links[i];
        if (link->stale) {
            link->articulated = articulated_inertia_of(&link->inertia);
        }
    }
    for (uint32_t i = tree->link_count; i > 0; --i) {
        cairn_tree_link *link = &tree->links[i - 1];
        cairn_tree_link *parent = parent_of(tree, link);
        if (link->stale) {
            factor_link(tree, link);
        }
        if (parent != NULL && parent->stale) {
            parent->articulated = articulated_inertia_add(&parent->articulated, &link->articulated);
        }
    }
}

void cairn_tree_factor(const cairn_tree *tree) {
    for (uint32_t i = 0; i < tree->link_count; ++i) {
        tree->links[i].stale = true;
    }
    factor_stale(tree);
}

void cairn_tree_factor_again(const cairn_tree *tree) {
    for (uint32_t i = 0; i < tree->link_count; ++i) {
        tree->links[i].stale = false;
    }
    for (uint32_t i = tree->link_count; i > 0; --i) {
        cairn_tree_link *link = &tree->links[i - 1];
        cairn_tree_link *parent = parent_of(tree, link);
        for (uint32_t k = link->first_dof; k < link->first_dof + link->dof_count; ++k) {
            link->stale = link->stale || tree->dofs[k].locked != tree->dofs[k].factored_locked;
        }
        if (parent != NULL && link->stale) {
            parent->stale = true;
        }
    }
    factor_stale(tree);
}

// From the leaves: what each axis has left to do, and what the rest of it asks of the parent.
static void solve_forces(const cairn_tree *tree, cairn_tree_link *link) {
    for (uint32_t i = link->dof_count; i > 0; --i) {
        cairn_tree_dof *dof = &tree->dofs[link->first_dof + i - 1];
        dof->rest = dof->force - spatial_dot(link->pending, dof->axis);
        const float along = dof->locked != 0 ? dof->value : dof->rest * dof->inverse;
        link->pending = spatial_add_scaled(link->pending, dof->moved, along);
    }
}

static void solve_values(const cairn_tree *tree, cairn_tree_link *link) {
    for (uint32_t i = 0; i < link->dof_count; ++i) {
        cairn_tree_dof *dof = &tree->dofs[link->first_dof + i];
        const float carried = spatial_dot(dof->moved, link->value);
        if (dof->locked != 0) {
            const float inertia = dof->inverse > 0.0f ? 1.0f / dof->inverse : 0.0f;
            dof->reaction = carried + inertia * dof->value - dof->rest;
        } else {
            dof->value = (dof->rest - carried) * dof->inverse;
        }
        link->value = spatial_add_scaled(link->value, dof->axis, dof->value);
    }
}

void cairn_tree_solve(const cairn_tree *tree) {
    for (uint32_t i = 0; i < tree->link_count; ++i) {
        tree->links[i].pending = tree->links[i].bias;
    }
    for (uint32_t i = tree->link_count; i > 0; --i) {
        cairn_tree_link *link = &tree->links[i - 1];
        cairn_tree_link *parent = parent_of(tree, link);
        solve_forces(tree, link);
        if (parent != NULL) {
            parent->pending = spatial_add(parent->pending, link->pending);
        }
    }
    for (uint32_t i = 0; i < tree->link_count; ++i) {
        cairn_tree_link *link = &tree->links[i];
        const cairn_tree_link *parent = parent_of(tree, link);
        link->value = parent != NULL ? parent->value : tree->base;
        solve_values(tree, link);
    }
}

// With U the moved inertia and D the pivot of an axis S, a velocity v of what is above becomes
// v - S (U . v) / D, and an impulse P gives S (S . P) / D more; so the response R becomes
// R - (S (R U)^T + (R U) S^T) / D + S S^T (1 + U . R U / D) / D.
void cairn_tree_set_responses(const cairn_tree *tree) {
    const cairn_articulated_inertia none = {.linear = sym3_zero()};
    for (uint32_t i = 0; i < tree->link_count; ++i) {
        cairn_tree_link *link = &tree->links[i];
        const cairn_tree_link *parent = parent_of(tree, link);
        link->response = parent != NULL ? parent->response : none;
        for (uint32_t k = 0; k < link->dof_count; ++k) {
            const cairn_tree_dof *dof = &tree->dofs[link->first_dof + k];
            if (dof->locked != 0) {
                continue;
            }
            const cairn_spatial carried = articulated_inertia_apply(&link->response, dof->moved);
            const float more = 1.0f + spatial_dot(dof->moved, carried) * dof->inverse;
            const cairn_spatial change = spatial_add_scaled(
                spatial_add_scaled(spatial_zero(), dof->axis, 0.5f * more * dof->inverse), carried,
                0.0f - dof->inverse);
            link->response = articulated_inertia_add_products(&link->response, dof->axis, change);
        }
    }
}

// The velocity that the link's own axes give it.
static cairn_spatial own_motion(
    const cairn_tree *tree, const cairn_tree_link *link, const float *rates) {
    cairn_spatial motion = spatial_zero();
    for (uint32_t i = 0; i < link->dof_count; ++i) {
        const uint32_t dof = link->first_dof + i;
        CAIRN_ASSERT(dof < tree->dof_count);
        motion = spatial_add_scaled(motion, tree->dofs[dof].axis, rates[dof]);
    }
    return motion;
}

void cairn_tree_set_velocities(const cairn_tree *tree, const float *speeds) {
    for (uint32_t i = 0; i < tree->link_count; ++i) {
        cairn_tree_link *link = &tree->links[i];
        const cairn_tree_link *parent = parent_of(tree, link);
        link->velocity = spatial_add(
            parent != NULL ? parent->velocity : tree->base, own_motion(tree, link, speeds));
    }
}

// The link's acceleration by velocities alone, then what keeps it moving so.
void cairn_tree_set_rates(const cairn_tree *tree, bool free_root) {
    for (uint32_t i = 0; i < tree->link_count; ++i) {
        cairn_tree_link *link = &tree->links[i];
        const cairn_tree_link *parent = parent_of(tree, link);
        const cairn_spatial before = parent != NULL ? parent->velocity : tree->base;
        cairn_spatial turned = spatial_cross(before, spatial_sub(link->velocity, before));
        if (parent == NULL && free_root) {
            const cairn_vec3 centre = vec3_scale(link->inertia.moment, 1.0f / link->inertia.mass);
            const cairn_vec3 linear = spatial_velocity_at(link->velocity, centre);
            turned = spatial(vec3_zero(), vec3_cross(linear, link->velocity.angular));
        }
        link->pending = parent != NULL ? spatial_add(parent->pending, turned) : turned;
    }
    for (uint32_t i = 0; i < tree->link_count; ++i) {
        cairn_tree_link *link = &tree->links[i];
        const cairn_spatial momentum = spatial_inertia_apply(&link->inertia, link->velocity);
        link->rate = spatial_add(spatial_inertia_apply(&link->inertia, link->pending),
            spatial_cross_force(link->velocity, momentum));
    }
}

void cairn_tree_set_bias(const cairn_tree *tree, const cairn_spatial *forces, bool free_root) {
    cairn_tree_set_rates(tree, free_root);
    for (uint32_t i = 0; i < tree->link_count; ++i) {
        cairn_tree_link *link = &tree->links[i];
        link->bias = forces != NULL ? spatial_sub(link->rate, forces[i]) : link->rate;
    }
}

void cairn_tree_forward_dynamics(const cairn_tree *tree, const float *forces, float *out) {
    for (uint32_t i = 0; i < tree->dof_count; ++i) {
        tree->dofs[i].force = forces[i];
    }
    cairn_tree_solve(tree);
    for (uint32_t i = 0; i < tree->dof_count; ++i) {
        out[i] = tree->dofs[i].value;
    }
}

void cairn_tree_inverse_dynamics(const cairn_tree *tree, const float *accelerations, float *out) {
    for (uint32_t i = 0; i < tree->link_count; ++i) {
        cairn_tree_link *link = &tree->links[i];
        const cairn_tree_link *parent = parent_of(tree, link);
        link->value = spatial_add(
            parent != NULL ? parent->value : tree->base, own_motion(tree, link, accelerations));
        link->pending = spatial_add(link->bias, spatial_inertia_apply(&link->inertia, link->value));
    }
    for (uint32_t i = tree->link_count; i > 0; --i) {
        cairn_tree_link *link = &tree->links[i - 1];
        cairn_tree_link *parent = parent_of(tree, link);
        for (uint32_t k = link->first_dof; k < link->first_dof + link->dof_count; ++k) {
            out[k] = spatial_dot(link->pending, tree->dofs[k].axis) +
                     tree->dofs[k].armature * accelerations[k];
        }
        if (parent != NULL) {
            parent->pending = spatial_add(parent->pending, link->pending);
        }
    }
}

// The row and column of one axis: the force along the axes of its own link and of those below that
// moves everything above.
static void fill_column(const cairn_tree *tree, const cairn_tree_link *link,
    const cairn_spatial_inertia *composite, uint32_t dof, float *out) {
    const cairn_spatial force = spatial_inertia_apply(composite, tree->dofs[dof].axis);
    for (const cairn_tree_link *at = link; at != NULL; at = parent_of(tree, at)) {
        for (uint32_t k = at->first_dof; k < at->first_dof + at->dof_count; ++k) {
            const float value = spatial_dot(force, tree->dofs[k].axis);
            out[dof * tree->dof_count + k] = value;
            out[k * tree->dof_count + dof] = value;
        }
    }
    out[dof * tree->dof_count + dof] += tree->dofs[dof].armature;
}

void cairn_tree_mass_matrix(const cairn_tree *tree, float *out) {
    for (uint32_t i = 0; i < tree->dof_count * tree->dof_count; ++i) {
        out[i] = 0.0f;
    }
    for (uint32_t i = 0; i < tree->link_count; ++i) {
        tree->links[i].composite = tree->links[i].inertia;
    }
    for (uint32_t i = tree->link_count; i > 0; --i) {
        cairn_tree_link *link = &tree->links[i - 1];
        cairn_tree_link *parent = parent_of(tree, link);
        for (uint32_t k = link->first_dof; k < link->first_dof + link->dof_count; ++k) {
            fill_column(tree, link, &link->composite, k, out);
        }
        if (parent != NULL) {
            parent->composite = spatial_inertia_add(parent->composite, link->composite);
        }
    }
}

bool cairn_tree_moves(const cairn_tree *tree, uint32_t dof, uint32_t link) {
    for (const cairn_tree_link *at = &tree->links[link]; at != NULL; at = parent_of(tree, at)) {
        if (dof >= at->first_dof && dof < at->first_dof + at->dof_count) {
            return true;
        }
    }
    return false;
}
