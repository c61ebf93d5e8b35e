// SPDX-License-Identifier: MIT
#include "tools/replay/shrink/repro.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/scene_world.h"
#include "tools/replay/shrink/scene_parts.h"

void cairn_repro_end(cairn_repro *repro) {
    cairn_world_destroy(repro->state);
    cairn_scene_parts_end(repro->scene);
    free(repro->play.commands);
    free(repro->keep);
    *repro = (cairn_repro){.state = NULL};
}

uint32_t cairn_repro_count(const cairn_repro *repro, uint32_t kind) {
    if (kind == CAIRN_SELECT_COMMANDS) {
        return repro->play.count;
    }
    if (repro->state == NULL) {
        return kind == CAIRN_SELECT_BODIES ? repro->scene->body_count : repro->scene->joint_count;
    }
    const cairn_world_counts counts = cairn_world_counts_read(repro->state);
    return kind == CAIRN_SELECT_BODIES ? counts.bodies : counts.joints;
}

cairn_world *cairn_repro_world(const cairn_repro *repro) {
    cairn_world *world = NULL;
    char error[CAIRN_SCENE_ERROR_SIZE];
    const cairn_status status = repro->state != NULL
                                    ? cairn_world_fork(repro->state, &world)
                                    : cairn_scene_world_create(repro->scene, NULL, &world, error);
    return status == CAIRN_OK ? world : NULL;
}

bool cairn_command_names_body(const cairn_command *c) {
    return (c->kind >= CAIRN_COMMAND_DESTROY && c->kind <= CAIRN_COMMAND_SET_TARGET) ||
           c->kind == CAIRN_COMMAND_JOINT || c->kind == CAIRN_COMMAND_CREATE_JOINT ||
           c->kind == CAIRN_COMMAND_SET_POSE || c->kind == CAIRN_COMMAND_SET_MASS ||
           c->kind == CAIRN_COMMAND_FRACTURE;
}

bool cairn_command_names_joint(const cairn_command *c) {
    return c->kind == CAIRN_COMMAND_SET_JOINT || c->kind == CAIRN_COMMAND_DESTROY_JOINT;
}

// ------------------------------------------------------------------------------------ reducing

static bool *chosen(const cairn_selection *selection, uint32_t kind, uint32_t count) {
    bool *out = calloc((size_t)count + 1, sizeof *out);
    for (uint32_t i = 0; out != NULL && i < count; ++i) {
        out[i] = selection->items[kind] == NULL;
    }
    for (uint32_t i = 0; out != NULL && i < selection->counts[kind]; ++i) {
        CAIRN_ASSERT(selection->items[kind][i] < count);
        out[selection->items[kind][i]] = true;
    }
    return out;
}

static bool copy_commands(
    const cairn_repro *from, const cairn_selection *selection, cairn_repro *out) {
    const uint32_t count = from->play.count;
    bool *stays = chosen(selection, CAIRN_SELECT_COMMANDS, count);
    out->play.ticks = from->play.ticks;
    out->play.commands = calloc((size_t)count + 1, sizeof *out->play.commands);
    out->keep = calloc((size_t)from->keep_count + 1, sizeof *out->keep);
    const bool good = stays != NULL && out->play.commands != NULL && out->keep != NULL;
    for (uint32_t i = 0; good && i < count; ++i) {
        if (stays[i]) {
            out->play.commands[out->play.count++] = from->play.commands[i];
        }
    }
    if (good) {
        memcpy(out->keep, from->keep, from->keep_count * sizeof *out->keep);
        out->keep_count = from->keep_count;
    }
    free(stays);
    return good;
}

static bool reduce_state(
    const cairn_world *from, const cairn_selection *selection, cairn_world **out) {
    if (cairn_world_fork(from, out) != CAIRN_OK) {
        return false;
    }
    const cairn_world_counts counts = cairn_world_counts_read(from);
    cairn_body_state *bodies = calloc((size_t)counts.bodies + 1, sizeof *bodies);
    cairn_joint_id *joints = calloc((size_t)counts.joints + 1, sizeof *joints);
    bool *body_stays = chosen(selection, CAIRN_SELECT_BODIES, counts.bodies);
    bool *joint_stays = chosen(selection, CAIRN_SELECT_JOINTS, counts.joints);
    const bool good = bodies != NULL && joints != NULL && body_stays != NULL && joint_stays != NULL;
    if (good) {
        (void)cairn_world_bodies(from, bodies, counts.bodies);
        (void)cairn_world_joints(from, joints, counts.joints);
    }
    for (uint32_t i = 0; good && i < counts.joints; ++i) {
        if (!joint_stays[i]) {
            (void)cairn_joint_destroy(*out, joints[i]);
        }
    }
    for (uint32_t i = 0; good && i < counts.bodies; ++i) {
        if (!body_stays[i]) {
            (void)cairn_body_destroy(*out, bodies[i].id);
        }
    }
    free(bodies);
    free(joints);
    free(body_stays);
    free(joint_stays);
    return good;
}

// New ids of bodies or joints: a scene gives them in its order. What is made later comes behind the
// last of the old ones, and will come behind the last of the new ones.
static uint32_t renumbered(const uint32_t *ids, uint32_t count, uint32_t stays, uint32_t id) {
    const uint32_t index = cairn_id_index(id);
    if (index >= count) {
        return index == CAIRN_INDEX_NONE ? id : id - (count - stays);
    }
    return cairn_id_generation(id) == 0 ? ids[index] : CAIRN_ID_NULL;
}

// New ids by old index, CAIRN_ID_NULL for what goes.
static uint32_t number(const bool *stays, uint32_t count, uint32_t *ids) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < count; ++i) {
        ids[i] = stays[i] ? ++next : CAIRN_ID_NULL;
    }
    return next;
}

#define NOBODY UINT32_MAX // no body has this id

static void renumber_predicate(cairn_predicate *p, const cairn_renumbering *r) {
    for (uint32_t i = 0; i < p->body_count; ++i) {
        uint32_t *id = &p->bodies[i];
        *id = *id == NOBODY ? NOBODY : renumbered(r->bodies, r->body_count, r->bodies_left, *id);
        *id = *id == CAIRN_ID_NULL ? NOBODY : *id;
    }
}

void cairn_repro_renumber(cairn_repro *out, const cairn_renumbering *r) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < out->play.count; ++i) {
        cairn_play_command c = out->play.commands[i];
        if (cairn_command_names_body(&c.command)) {
            c.command.buttons =
                renumbered(r->bodies, r->body_count, r->bodies_left, c.command.buttons);
        } else if (cairn_command_names_joint(&c.command)) {
            c.command.buttons =
                renumbered(r->joints, r->joint_count, r->joints_left, c.command.buttons);
        }
        if (cairn_command_check(&c.command) == CAIRN_OK) { // a null id is refused
            out->play.commands[count++] = c;
        }
    }
    out->play.count = count;
    renumber_predicate(&out->predicate, r);
    renumber_predicate(&out->start, r);
    for (uint32_t i = 0; i < out->keep_count; ++i) {
        out->keep[i] = renumbered(r->bodies, r->body_count, r->bodies_left, out->keep[i]);
        out->missing |= out->keep[i] == CAIRN_ID_NULL;
    }
}

static bool reduce_scene(
    const cairn_repro *from, const cairn_selection *selection, cairn_repro *out) {
    const uint32_t bodies = from->scene->body_count, joints = from->scene->joint_count;
    bool *body_stays = chosen(selection, CAIRN_SELECT_BODIES, bodies);
    bool *joint_stays = chosen(selection, CAIRN_SELECT_JOINTS, joints);
    cairn_renumbering r = {.bodies = calloc((size_t)bodies + 1, sizeof(uint32_t)),
        .joints = calloc((size_t)joints + 1, sizeof(uint32_t)),
        .body_count = bodies,
        .joint_count = joints};
    bool good = body_stays != NULL && joint_stays != NULL && r.bodies != NULL && r.joints != NULL;
    if (good) {
        for (uint32_t i = 0; i < joints; ++i) {
            const cairn_scene_joint *j = &from->scene->joints[i];
            joint_stays[i] &= body_stays[j->body_a] && body_stays[j->body_b];
        }
        r.bodies_left = number(body_stays, bodies, r.bodies);
        r.joints_left = number(joint_stays, joints, r.joints);
        out->scene = cairn_scene_parts_copy(from->scene, r.bodies, r.joints);
        good = out->scene != NULL;
        cairn_repro_renumber(out, &r);
    }
    free(body_stays);
    free(joint_stays);
    free(r.bodies);
    free(r.joints);
    return good;
}

bool cairn_repro_reduce(
    const cairn_repro *from, const cairn_selection *selection, cairn_repro *out) {
    *out = (cairn_repro){.predicate = from->predicate, .start = from->start};
    if (!copy_commands(from, selection, out)) {
        return false;
    }
    if (from->state == NULL) {
        return reduce_scene(from, selection, out);
    }
    const bool good = reduce_state(from->state, selection, &out->state);
    for (uint32_t i = 0; good && i < out->keep_count; ++i) {
        out->missing |= !cairn_body_exists(out->state, out->keep[i]);
    }
    return good;
}

bool cairn_repro_scene(const cairn_repro *from, cairn_repro *out) {
    CAIRN_ASSERT(from->state != NULL);
    const cairn_selection all = {.counts = {0}};
    cairn_renumbering r = {.bodies = NULL};
    *out = (cairn_repro){.predicate = from->predicate, .start = from->start};
    bool good = copy_commands(from, &all, out);
    out->scene = good ? cairn_scene_parts_of_world(from->state, &r) : NULL;
    good = out->scene != NULL;
    if (good) {
        out->predicate.tick_first += cairn_world_tick(from->state);
        out->start.tick_first += cairn_world_tick(from->state);
        cairn_repro_renumber(out, &r);
    }
    free(r.bodies);
    free(r.joints);
    return good && !out->missing;
}
