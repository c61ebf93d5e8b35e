// SPDX-License-Identifier: MIT
// What is read of robots, as the worlds that their scenes make.

#include "tests/kit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/scene_world.h"
#include "robot/robot.h"
#include <cairn/articulation.h>
#include <cairn/math.h>
#include <cairn/sim.h>

static cairn_world *world_with(const char *text, const cairn_robot_options *options) {
    char error[CAIRN_SCENE_ERROR_SIZE];
    cairn_scene *scene = NULL;
    cairn_world *world = NULL;
    cairn_robot robot;
    assert_int_equal(cairn_robot_read(text, strlen(text), "x", options, &robot), CAIRN_OK);
    assert_int_equal(cairn_scene_parse(robot.scene, robot.scene_size, &scene, error), CAIRN_OK);
    assert_int_equal(cairn_scene_world_create(scene, NULL, &world, error), CAIRN_OK);
    cairn_scene_destroy(scene);
    cairn_robot_destroy(&robot);
    return world;
}

static cairn_world *world_of(const char *text) {
    return world_with(text, &(cairn_robot_options){.fixed_base = false});
}

// Body 0 is the world.
static cairn_body_state body_of(const cairn_world *world, uint32_t index) {
    cairn_body_state bodies[16];
    assert_true(cairn_world_bodies(world, bodies, 16) > index);
    return bodies[index];
}

TEST("every way to write a rotation turns alike") {
    static const char *const ways[] = {"quat='0.5 0.5 0.5 0.5'", "euler='90 0 90'",
        "axisangle='1 1 1 120'", "xyaxes='0 1 0 0 0 1'", "quat='2 2 2 2'", "axisangle='3 3 3 120'"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
        char text[256];
        snprintf(text, sizeof text,
            "<mujoco><compiler eulerseq='xyz'/><worldbody><body %s><freejoint/><geom size='1'/>"
            "</body></worldbody></mujoco>",
            ways[i]);
        cairn_world *world = world_of(text);
        const cairn_quat q = body_of(world, 1).rotation;
        if (i == 1) { // 90 about x, then 90 about the new z
            const cairn_vec3 z = cairn_quat_rotate(q, cairn_vec3_of(0, 0, 1));
            const cairn_vec3 x = cairn_quat_rotate(q, cairn_vec3_of(1, 0, 0));
            assert_float_equal(z.y, -1.0f, 1e-6f);
            assert_float_equal(x.z, 1.0f, 1e-6f);
        } else {
            assert_float_equal(q.x, 0.5f, 1e-6f);
            assert_float_equal(q.w, 0.5f, 1e-6f);
        }
        cairn_world_destroy(world);
    }
}

TEST("zaxis is the shortest turn, upper case turns about the axes outside") {
    cairn_world *world = world_of("<mujoco><compiler eulerseq='XYZ' angle='radian'/><worldbody>"
                                  "<body zaxis='1 0 0'><freejoint/><geom size='1'/></body>"
                                  "<body zaxis='0 0 -1'><freejoint/><geom size='1'/></body>"
                                  "<body euler='1.5707963 1.5707963 0'><freejoint/><geom "
                                  "size='1'/></body></worldbody></mujoco>");
    const cairn_vec3 z = cairn_vec3_of(0, 0, 1);
    assert_float_equal(cairn_quat_rotate(body_of(world, 1).rotation, z).x, 1.0f, 1e-6f);
    assert_float_equal(cairn_quat_rotate(body_of(world, 2).rotation, z).z, -1.0f, 1e-6f);
    assert_float_equal(cairn_quat_rotate(body_of(world, 3).rotation, z).y, -1.0f, 1e-6f);
    cairn_world_destroy(world);
}

// The world sums shapes of the density that a scene has by default, which is MJCF's as well.
TEST("masses of geoms are those that the world computes of its shapes") {
    cairn_world *world = world_of(
        "<mujoco><worldbody><body pos='1 2 3' euler='10 20 30'><freejoint/>"
        "<geom type='box' size='0.1 0.2 0.3' pos='1 0 0' euler='40 0 9'/>"
        "<geom type='sphere' size='0.2' pos='0 1 0'/>"
        "<geom type='capsule' size='0.1 0.4' pos='0 0 1' axisangle='1 2 3 50'/>"
        "<geom type='cylinder' size='0.3 0.2' quat='1 2 3 4'/>"
        "<body pos='0 0 -1' euler='0 70 0'><geom type='capsule' fromto='0 0 0 1 1 0' size='0.1'/>"
        "</body></body></worldbody></mujoco>");
    cairn_mass_properties given, summed;
    const cairn_body_id body = body_of(world, 1).id;
    assert_int_equal(cairn_body_read_mass(world, body, &given), CAIRN_OK);
    assert_int_equal(cairn_body_set_mass(world, body, 0.0f), CAIRN_OK);
    assert_int_equal(cairn_body_read_mass(world, body, &summed), CAIRN_OK);
    assert_float_equal(given.mass / summed.mass, 1.0f, 1e-5f);
    assert_float_equal(given.centre.x, summed.centre.x, 1e-5f);
    assert_float_equal(given.centre.z, summed.centre.z, 1e-5f);
    for (int i = 0; i < 6; ++i) {
        assert_float_equal(given.inertia[i], summed.inertia[i], 2e-4f * summed.inertia[0]);
    }
    cairn_world_destroy(world);
}

TEST("an inertial wins over geoms, and turns with its frame") {
    cairn_world *world = world_of(
        "<robot name='r'><link name='a'><inertial><origin xyz='0 0 1' rpy='0 0 1.5707963'/>"
        "<mass value='2'/><inertia ixx='1' iyy='2' izz='2.5'/></inertial>"
        "<collision><geometry><sphere radius='9'/></geometry></collision></link></robot>");
    cairn_mass_properties mass;
    assert_int_equal(cairn_body_read_mass(world, body_of(world, 1).id, &mass), CAIRN_OK);
    assert_float_equal(mass.mass, 2.0f, 0.0f);
    assert_float_equal(mass.centre.z, 1.0f, 0.0f);
    assert_float_equal(mass.inertia[0], 2.0f, 1e-5f);
    assert_float_equal(mass.inertia[1], 1.0f, 1e-5f);
    cairn_world_destroy(world);
}

TEST("a joint starts at its reference, within its limits and at its place") {
    cairn_world *world = world_of(
        "<mujoco><worldbody><body pos='0 0 1'><joint axis='0 1 0' ref='30' range='-10 50'/>"
        "<joint type='slide' axis='1 0 0' ref='0.5' range='0 1' pos='0.1 0 0'/>"
        "<geom size='0.1'/></body></worldbody></mujoco>");
    cairn_joint_id joints[4];
    cairn_joint_travel travel;
    cairn_joint_def def;
    float error;
    assert_int_equal(cairn_world_joints(world, joints, 4), 2);
    assert_int_equal(cairn_joint_travel_read(world, joints[0], &travel), CAIRN_OK);
    assert_float_equal(travel.position, 0.5235988f, 1e-6f);
    assert_int_equal(cairn_joint_travel_read(world, joints[1], &travel), CAIRN_OK);
    assert_float_equal(travel.position, 0.5f, 1e-6f);
    assert_int_equal(cairn_joint_read(world, joints[0], &def), CAIRN_OK);
    assert_float_equal(def.lower, -0.1745329f, 1e-6f);
    assert_int_equal(cairn_joint_error(world, joints[0], &error), CAIRN_OK);
    assert_float_equal(error, 0.0f, 1e-6f);
    cairn_world_destroy(world);
}

static bool collide(const cairn_shape_def *a, const cairn_shape_def *b) {
    return (a->category & b->mask) != 0 && (b->category & a->mask) != 0;
}

TEST("types and affinities filter as in MuJoCo") {
    cairn_world *world = world_of(
        "<mujoco><worldbody>"
        "<geom size='1' contype='1' conaffinity='0'/><geom size='1' contype='0' conaffinity='1'/>"
        "<geom size='1' contype='2' conaffinity='0'/><geom size='1' contype='0' conaffinity='0'/>"
        "</worldbody></mujoco>");
    cairn_shape_id ids[4];
    cairn_shape_def shapes[4];
    cairn_body_id body;
    assert_int_equal(cairn_body_shapes(world, body_of(world, 0).id, ids, 4), 4);
    for (int i = 0; i < 4; ++i) {
        assert_int_equal(cairn_shape_read(world, ids[i], &shapes[i], &body), CAIRN_OK);
    }
    assert_true(collide(&shapes[0], &shapes[1])); // 1 meets 1 from one side
    assert_false(collide(&shapes[0], &shapes[0]));
    assert_false(collide(&shapes[2], &shapes[1]));
    assert_false(collide(&shapes[3], &shapes[3]));
    cairn_world_destroy(world);
}

TEST("classes give what an element lacks: the nearest first, and childclass below a body") {
    cairn_world *world =
        world_of("<mujoco><default><geom size='1' mass='1'/><default class='a'><geom mass='2'/>"
                 "<default class='b'><geom mass='3'/></default></default></default><worldbody>"
                 "<body><freejoint/><geom/></body><body childclass='a'><freejoint/><geom/></body>"
                 "<body childclass='a'><freejoint/><geom class='b'/></body>"
                 "<body childclass='a'><freejoint/><geom mass='4'/></body></worldbody></mujoco>");
    for (uint32_t i = 1; i <= 4; ++i) {
        assert_float_equal(cairn_body_mass(world, body_of(world, i).id), (float)i, 0.0f);
    }
    cairn_world_destroy(world);
}

TEST("in joint coordinates a tree is one articulation, with the numbers of the text") {
    cairn_world *world = world_with(
        "<mujoco><worldbody><body name='a' pos='0 0 1'><freejoint/><geom size='0.1'/>"
        "<body pos='0.5 0 0'><joint axis='0 1 0' stiffness='8' damping='2' frictionloss='0.5'"
        " armature='0.25' springref='30' range='-10 50'/>"
        "<joint type='slide' axis='1 0 0' damping='3' armature='4' range='0 1'/>"
        "<geom size='0.1' mass='2'/><body pos='0.5 0 0'><joint type='ball' range='0 60'/>"
        "<geom size='0.1'/></body></body></body></worldbody></mujoco>",
        &(cairn_robot_options){.articulated = true});
    cairn_joint_id joints[8];
    cairn_joint_def def;
    cairn_articulation tree;
    assert_int_equal(cairn_articulation_read(world, body_of(world, 1).id, &tree), CAIRN_OK);
    assert_int_equal(tree.base, CAIRN_ID_NULL);
    assert_int_equal(tree.link_count, 4); // one small body between hinge and slide
    assert_int_equal(tree.axis_count, 6 + 1 + 1 + 3);
    assert_true(cairn_world_joints(world, joints, 8) >= 3);
    assert_int_equal(cairn_joint_read(world, joints[0], &def), CAIRN_OK);
    assert_int_equal(def.kind, CAIRN_JOINT_HINGE);
    assert_true(def.articulated == 1 && def.spring == 0 && def.motor == 0);
    assert_true(def.drive_stiffness == 8.0f && def.drive_damping == 2.0f);
    assert_true(def.joint_friction == 0.5f && def.armature == 0.25f && def.limited == 1);
    assert_float_equal(def.target, 0.5235988f, 1e-6f);
    assert_float_equal(def.upper, 0.8726646f, 1e-6f);
    assert_int_equal(cairn_joint_read(world, joints[1], &def), CAIRN_OK);
    assert_int_equal(def.kind, CAIRN_JOINT_PRISMATIC);
    assert_true(def.articulated == 1 && def.drive_damping == 3.0f && def.armature == 4.0f);
    assert_int_equal(cairn_joint_read(world, joints[2], &def), CAIRN_OK);
    assert_int_equal(def.kind, CAIRN_JOINT_CONE);
    assert_float_equal(def.cone, 1.0471976f, 1e-6f);
    // The rotor is no part of the link, and the small body has little of its mass.
    assert_float_equal(cairn_body_mass(world, body_of(world, 2).id), 2.0f / 1024.0f, 1e-6f);
    cairn_world_destroy(world);
}

TEST("the same text is the same bytes on every machine") {
    static const char text[] =
        "<mujoco model='m'><worldbody><geom type='plane'/><body pos='.1 1e-3 +2' euler='1 2 3'>"
        "<freejoint/><geom type='capsule' fromto='0 0 0 .3 .2 .1' size='0.05'/>"
        "<body pos='0.3 0.2 0.1' axisangle='1 2 3 77'><joint axis='1 1 0' range='-33 44' "
        "damping='2'"
        " stiffness='3' armature='0.01'/><joint axis='1 0 0' damping='1'/>"
        "<geom type='box' size='.1 .2 .3'/></body></body></worldbody></mujoco>";
    static const uint64_t expected[] = {
        UINT64_C(0xbebec2586b835fd2), UINT64_C(0x4602f22f89066c16)}; // and in joint coordinates
    for (uint32_t i = 0; i < 2; ++i) {
        const cairn_robot_options options = {.articulated = i == 1};
        cairn_robot robot;
        uint64_t hash = UINT64_C(0xcbf29ce484222325); // FNV-1a
        assert_int_equal(cairn_robot_read(text, sizeof text - 1, "x", &options, &robot), CAIRN_OK);
        for (size_t k = 0; k < robot.scene_size; ++k) {
            hash = (hash ^ (uint8_t)robot.scene[k]) * UINT64_C(0x100000001b3);
        }
        if (hash != expected[i]) {
            print_error("%016llx\n%s\n", (unsigned long long)hash, robot.scene);
        }
        assert_true(hash == expected[i]);
        cairn_robot_destroy(&robot);
    }
}
