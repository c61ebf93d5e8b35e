// SPDX-License-Identifier: MIT
#include <cairn/articulation.h>

#include "base/assert.h"
#include "sim/body/body.h"
#include "sim/math/rotation.h"
#include "sim/soft_step/soft_step.h"
#include "sim/state/hash_cache.h"
#include "sim/world/world.h"

// The figure of a link as it is in the state, and the place of the link in it; NULL: the body is no
// link. It lies in the scratch of the solver, which the next step fills again.
static cairn_figure *load(const cairn_world *world, cairn_body_id link, uint32_t *place) {
    cairn_forest *forest = &world->soft_step->forest;
    const uint32_t body = cairn_body_slot(world, link);
    if (body == CAIRN_INDEX_NONE || world->def.solver != CAIRN_SOLVER_SOFT_STEP) {
        return NULL;
    }
    cairn_forest_list(forest, world, NULL);
    for (uint32_t i = 0; i < forest->figure_count; ++i) {
        cairn_figure *figure = &forest->figures[i];
        for (uint32_t k = 0; k < figure->tree.link_count; ++k) {
            if (figure->links[k].body == body) {
                cairn_forest_load(world, figure);
                figure->plain = true;
                cairn_figure_set_tree(world, figure);
                *place = k;
                return figure;
            }
        }
    }
    return NULL;
}

// As `load`, with room for `count` numbers, of which `wanted` for each axis are needed.
static cairn_status load_for(const cairn_world *world, cairn_body_id link, uint32_t count,
    uint32_t wanted, cairn_figure **figure, uint32_t *place) {
    *figure = load(world, link, place);
    if (*figure == NULL) {
        return CAIRN_NOT_FOUND;
    }
    return count == wanted * (*figure)->tree.dof_count ? CAIRN_OK : CAIRN_CAPACITY;
}

static cairn_status check_numbers(const float *numbers, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        if (!float_finite(numbers[i])) {
            return CAIRN_NON_FINITE;
        }
    }
    return CAIRN_OK;
}

cairn_status cairn_articulation_read(
    const cairn_world *world, cairn_body_id link, cairn_articulation *out) {
    uint32_t place;
    const cairn_figure *figure = load(world, link, &place);
    *out = (cairn_articulation){.root = CAIRN_ID_NULL};
    if (figure == NULL) {
        return CAIRN_NOT_FOUND;
    }
    out->root = cairn_body_id_at(world, figure->links[0].body);
    out->base =
        figure->base == CAIRN_INDEX_NONE ? CAIRN_ID_NULL : cairn_body_id_at(world, figure->base);
    out->link_count = figure->tree.link_count;
    out->axis_count = figure->tree.dof_count;
    return CAIRN_OK;
}

cairn_status cairn_articulation_links(const cairn_world *world, cairn_body_id link,
    cairn_body_id *bodies, cairn_joint_id *joints, uint32_t *axes, uint32_t capacity) {
    uint32_t place;
    const cairn_figure *figure = load(world, link, &place);
    if (figure == NULL) {
        return CAIRN_NOT_FOUND;
    }
    if (capacity < figure->tree.link_count) {
        return CAIRN_CAPACITY;
    }
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        const cairn_figure_link *at = &figure->links[i];
        if (bodies != NULL) {
            bodies[i] = cairn_body_id_at(world, at->body);
        }
        if (joints != NULL) {
            joints[i] = at->joint == NULL ? CAIRN_ID_NULL
                                          : cairn_slot_id(world->state.joint_ids,
                                                world->state.joint_drives[at->drive].joint);
        }
        if (axes != NULL) {
            axes[i] = figure->tree.links[i].first_dof;
        }
    }
    return CAIRN_OK;
}

static void write3(float *out, cairn_vec3 v) {
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

static cairn_vec3 read3(const float *from) {
    return vec3(from[0], from[1], from[2]);
}

cairn_status cairn_articulation_positions(
    const cairn_world *world, cairn_body_id link, float *out, uint32_t count) {
    cairn_figure *figure;
    uint32_t place;
    const cairn_status status = load_for(world, link, count, 1, &figure, &place);
    for (uint32_t i = 0; status == CAIRN_OK && i < figure->tree.link_count; ++i) {
        const cairn_figure_link *at = &figure->links[i];
        const cairn_tree_link *in_tree = &figure->tree.links[i];
        if (at->joint == NULL) {
            write3(&out[0], vector_of_quat(at->rotation));
            write3(&out[3], vec3_add(at->position, figure->origin));
        } else if (in_tree->dof_count == 1) {
            out[in_tree->first_dof] = cairn_figure_position(at);
        } else if (in_tree->dof_count == 3) {
            write3(&out[in_tree->first_dof], vector_of_quat(at->turn));
        }
    }
    return status;
}

cairn_status cairn_articulation_speeds(
    const cairn_world *world, cairn_body_id link, float *out, uint32_t count) {
    cairn_figure *figure;
    uint32_t place;
    const cairn_status status = load_for(world, link, count, 1, &figure, &place);
    for (uint32_t i = 0; status == CAIRN_OK && i < figure->tree.link_count; ++i) {
        const cairn_tree_link *in_tree = &figure->tree.links[i];
        for (uint32_t k = in_tree->first_dof; k < in_tree->first_dof + in_tree->dof_count; ++k) {
            out[k] = cairn_figure_speed(figure, i, k);
        }
    }
    return status;
}

static cairn_status put_links(cairn_world *world, const cairn_figure *figure) {
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        const cairn_figure_link *link = &figure->links[i];
        const cairn_vec3 centre = world->state.bodies[link->body].centre;
        const cairn_vec3 at = vec3_add(link->position, figure->origin);
        const cairn_pose pose = {.rotation = link->rotation,
            .position = vec3_sub(at, quat_rotate(link->rotation, centre))};
        const cairn_status status =
            cairn_body_set_pose(world, cairn_body_id_at(world, link->body), pose);
        if (status != CAIRN_OK) {
            return status;
        }
    }
    return CAIRN_OK;
}

cairn_status cairn_articulation_set_positions(
    cairn_world *world, cairn_body_id link, const float *positions, uint32_t count) {
    cairn_figure *figure;
    uint32_t place;
    cairn_status status = load_for(world, link, count, 1, &figure, &place);
    status = status == CAIRN_OK ? check_numbers(positions, count) : status;
    if (status != CAIRN_OK) {
        return status;
    }
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        cairn_figure_link *at = &figure->links[i];
        const cairn_tree_link *in_tree = &figure->tree.links[i];
        const float *from = &positions[in_tree->first_dof];
        if (at->joint == NULL) {
            at->rotation = quat_of_vector(read3(from));
            at->position = vec3_sub(read3(from + 3), figure->origin);
        } else if (at->joint->kind == CAIRN_JOINT_PRISMATIC) {
            at->travel = from[0];
        } else if (in_tree->dof_count == 1) {
            at->turn = quat_of_vector(vec3(from[0], 0.0f, 0.0f));
        } else if (in_tree->dof_count == 3) {
            at->turn = quat_of_vector(read3(from));
        }
    }
    cairn_figure_place(figure, 0.0f);
    return put_links(world, figure);
}

cairn_status cairn_articulation_set_speeds(
    cairn_world *world, cairn_body_id link, const float *speeds, uint32_t count) {
    cairn_figure *figure;
    uint32_t place;
    cairn_status status = load_for(world, link, count, 1, &figure, &place);
    status = status == CAIRN_OK ? check_numbers(speeds, count) : status;
    if (status != CAIRN_OK) {
        return status;
    }
    cairn_tree_set_velocities(&figure->tree, speeds);
    for (uint32_t i = 0; status == CAIRN_OK && i < figure->tree.link_count; ++i) {
        const cairn_spatial velocity = figure->tree.links[i].velocity;
        const cairn_figure_link *at = &figure->links[i];
        status = cairn_body_set_velocity(world, cairn_body_id_at(world, at->body),
            spatial_velocity_at(velocity, at->position), velocity.angular);
    }
    return status;
}

cairn_status cairn_articulation_set_torques(
    cairn_world *world, cairn_body_id link, const float *torques, uint32_t count) {
    cairn_figure *figure;
    uint32_t place;
    cairn_status status = load_for(world, link, count, 1, &figure, &place);
    status = status == CAIRN_OK ? check_numbers(torques, count) : status;
    for (uint32_t i = 0; status == CAIRN_OK && i < count; ++i) {
        status = float_abs(torques[i]) <= CAIRN_FORCE_MAX ? CAIRN_OK : CAIRN_INVALID_ARGUMENT;
    }
    if (status != CAIRN_OK) {
        return status;
    }
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        const cairn_figure_link *at = &figure->links[i];
        const cairn_tree_link *in_tree = &figure->tree.links[i];
        const float *from = &torques[in_tree->first_dof];
        if (at->joint == NULL) {
            status = cairn_body_apply_force(
                world, cairn_body_id_at(world, at->body), read3(from + 3), read3(from));
        } else if (in_tree->dof_count > 0) {
            cairn_joint_drive *drive = &world->state.joint_drives[at->drive];
            drive->drive_torque =
                vec3_clean(in_tree->dof_count == 3 ? read3(from) : vec3(from[0], 0.0f, 0.0f));
            cairn_hash_cache_mark(world, CAIRN_ARRAY_JOINT_DRIVES, at->drive);
            cairn_body_wake(world, at->body);
        }
    }
    return status;
}

// ---- Dynamics

cairn_status cairn_articulation_mass_matrix(
    const cairn_world *world, cairn_body_id link, float *out, uint32_t count) {
    cairn_articulation found;
    cairn_figure *figure;
    uint32_t place;
    const cairn_status status = cairn_articulation_read(world, link, &found);
    if (status != CAIRN_OK || count != found.axis_count * found.axis_count) {
        return status != CAIRN_OK ? status : CAIRN_CAPACITY;
    }
    (void)load_for(world, link, found.axis_count, 1, &figure, &place);
    cairn_tree_mass_matrix(&figure->tree, out);
    return CAIRN_OK;
}

cairn_status cairn_articulation_jacobian(
    const cairn_world *world, cairn_body_id link, cairn_vec3 point, float *out, uint32_t count) {
    cairn_figure *figure;
    uint32_t place;
    const cairn_status status = load_for(world, link, count, 6, &figure, &place);
    if (status != CAIRN_OK || !vec3_finite(point)) {
        return status != CAIRN_OK ? status : CAIRN_NON_FINITE;
    }
    const uint32_t n = figure->tree.dof_count;
    const cairn_vec3 at = vec3_sub(point, figure->origin);
    for (uint32_t i = 0; i < n; ++i) {
        const bool moves = cairn_tree_moves(&figure->tree, i, place);
        const cairn_spatial axis = moves ? figure->tree.dofs[i].axis : spatial_zero();
        const cairn_vec3 velocity = spatial_velocity_at(axis, at);
        for (uint32_t k = 0; k < 3; ++k) {
            out[k * n + i] = vec3_component(axis.angular, k);
            out[(3 + k) * n + i] = vec3_component(velocity, k);
        }
    }
    return CAIRN_OK;
}

// The biases of the present velocities, gravity and applied forces.
static void set_bias(const cairn_world *world, const cairn_figure *figure) {
    const cairn_tree *tree = &figure->tree;
    for (uint32_t i = 0; i < tree->link_count; ++i) {
        const cairn_figure_link *link = &figure->links[i];
        tree->links[i].velocity =
            spatial_of_velocity(link->position, link->linear_velocity, link->angular_velocity);
    }
    cairn_tree_set_bias(tree, NULL, figure->base == CAIRN_INDEX_NONE);
    for (uint32_t i = 0; i < tree->link_count; ++i) {
        const cairn_figure_link *link = &figure->links[i];
        const cairn_body *body = &world->state.bodies[link->body];
        const cairn_vec3 weight =
            vec3_scale(world->state.settings->present_gravity, body->gravity_scale * link->mass);
        tree->links[i].bias = spatial_sub(tree->links[i].bias,
            spatial_of_force(link->position, vec3_add(weight, body->force), body->torque));
    }
}

cairn_status cairn_articulation_inverse_dynamics(const cairn_world *world, cairn_body_id link,
    const float *accelerations, float *out, uint32_t count) {
    cairn_figure *figure;
    uint32_t place;
    cairn_status status = load_for(world, link, count, 1, &figure, &place);
    status = status == CAIRN_OK ? check_numbers(accelerations, count) : status;
    if (status == CAIRN_OK) {
        set_bias(world, figure);
        cairn_tree_inverse_dynamics(&figure->tree, accelerations, out);
    }
    return status;
}

cairn_status cairn_articulation_forward_dynamics(
    const cairn_world *world, cairn_body_id link, const float *forces, float *out, uint32_t count) {
    cairn_figure *figure;
    uint32_t place;
    cairn_status status = load_for(world, link, count, 1, &figure, &place);
    status = status == CAIRN_OK ? check_numbers(forces, count) : status;
    if (status == CAIRN_OK) {
        set_bias(world, figure);
        cairn_tree_factor(&figure->tree);
        cairn_tree_forward_dynamics(&figure->tree, forces, out);
    }
    return status;
}
