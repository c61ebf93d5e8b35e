// SPDX-License-Identifier: MIT
// Every refusal of a robot's text: its status, and the message with line, column, element and
// attribute. A refused text leaves nothing behind.

#include "tests/kit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "robot/robot.h"
#include "robot/xml_document.h"

typedef struct refusal {
    const char *text;
    cairn_status status;
    const char *error;
} refusal;

static void assert_refused(const refusal *rows, size_t count) {
    const cairn_robot_options options = {0};
    for (size_t i = 0; i < count; ++i) {
        cairn_robot robot;
        const cairn_status status =
            cairn_robot_read(rows[i].text, strlen(rows[i].text), "x", &options, &robot);
        if (status != rows[i].status || strcmp(robot.error, rows[i].error) != 0) {
            print_error("%s\n", rows[i].text);
        }
        assert_string_equal(robot.error, rows[i].error);
        assert_int_equal(status, rows[i].status);
        assert_null(robot.scene);
        assert_null(robot.parts);
        cairn_robot_destroy(&robot);
    }
}

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

#define DOCUMENT_TYPE "line 1, column 1: a document type is refused, as are entities of its own"

// expat finds what is malformed, and has its own words for it.
static const refusal xml_refusals[] = {
    {"", CAIRN_MALFORMED, "line 1, column 1: no element found"},
    {"robot", CAIRN_MALFORMED, "line 1, column 1: syntax error"},
    {"<robot>\n<link name=\"a\"", CAIRN_MALFORMED, "line 2, column 1: unclosed token"},
    {"<robot>\n <link></robot>", CAIRN_MALFORMED, "line 2, column 10: mismatched tag"},
    {"<robot a=\"1\" a=\"2\"/>", CAIRN_MALFORMED, "line 1, column 14: duplicate attribute"},
    {"<robot a=\"&lt;&#65;&#x42;\"/>", CAIRN_INVALID_ARGUMENT,
        "line 1, column 1: robot: has no <link>"},
    {"<robot a=\"&bomb;\"/>", CAIRN_MALFORMED, "line 1, column 1: undefined entity"},
    {"<!DOCTYPE robot><robot/>", CAIRN_MALFORMED, DOCUMENT_TYPE},
    {"<!DOCTYPE robot SYSTEM \"file:///etc/passwd\"><robot/>", CAIRN_MALFORMED, DOCUMENT_TYPE},
    {"<!DOCTYPE r [<!ENTITY % p SYSTEM \"http://a/b\"> %p;]><robot/>", CAIRN_MALFORMED,
        DOCUMENT_TYPE},
    {"<!DOCTYPE r [<!ENTITY a \"aa\">]><robot a=\"&a;\"/>", CAIRN_MALFORMED, DOCUMENT_TYPE},
    {"<?xml version=\"1.0\" encoding=\"utf-7\"?><robot/>", CAIRN_MALFORMED,
        "line 1, column 31: unknown encoding"},
    {"<robot><!-- \xe9 --></robot>", CAIRN_MALFORMED,
        "line 1, column 13: not well-formed (invalid token)"},
    {"<sdf version=\"1\"/>", CAIRN_INVALID_ARGUMENT,
        "line 1, column 1: sdf: is not a robot: the root of URDF is <robot>, that of MJCF "
        "<mujoco>"},
    // Attributes are found behind blanks of all kinds and values with the other quotation mark.
    {"<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>\n<mujoco><option \xe9 = 'a\"\xe9'\n"
     "\twind\n= \"1\"/></mujoco>",
        CAIRN_INVALID_ARGUMENT,
        "line 3, column 2: option wind: cairn does not read this attribute"},
};

static const refusal urdf_refusals[] = {
    {"<robot name=\"r\">\n\n</robot>", CAIRN_INVALID_ARGUMENT,
        "line 1, column 1: robot 'r': has no <link>"},
    {"<robot name=\"r\">\n<link/>\n</robot>", CAIRN_INVALID_ARGUMENT,
        "line 2, column 1: link: needs the attribute name"},
    {"<robot name=\"r\">\n<link name=\"a\"/>\n<link name=\"a\"/>\n</robot>", CAIRN_INVALID_ARGUMENT,
        "line 3, column 7: link 'a' name: another link has this name"},
    {"<robot name=\"r\">\n<link name=\"a\"/><link name=\"b\"/>\n</robot>", CAIRN_INVALID_ARGUMENT,
        "line 2, column 17: link 'b': is a second root: each link but one is the child of a joint"},
    {"<robot name=\"r\">\n<link name=\"a\"/>\n<joint name=\"j\" type=\"fixed\"><parent "
     "link=\"a\"/></joint>\n</robot>",
        CAIRN_INVALID_ARGUMENT, "line 3, column 1: joint 'j': needs <child link=\"...\">"},
    {"<robot name=\"r\">\n<link name=\"a\"/>\n<joint name=\"j\" type=\"fixed\"><parent "
     "link=\"a\"/><child link=\"c\"/></joint>\n</robot>",
        CAIRN_NOT_FOUND, "line 3, column 55: child link: no link is named 'c'"},
    {"<robot name=\"r\">\n<link name=\"arm\"><inertial><mass value=\"1\"/>\n<inertia ixx=\"1\" "
     "iyy=\"1\" izz=\"5\"/></inertial></link>\n</robot>",
        CAIRN_INVALID_ARGUMENT,
        "line 3, column 1: inertia: of 'arm': a moment exceeds the sum of the other two, as no "
        "body's does"},
    {"<robot name=\"r\">\n<link name=\"a\"/><joint name=\"j\" type=\"fixed\"><parent "
     "link=\"a\"/><child link=\"a\"/></joint>\n</robot>",
        CAIRN_INVALID_ARGUMENT, "line 1, column 1: robot 'r': its joints form a loop"},
    {"<robot name=\"r\">\n<link name=\"a\"/><link name=\"b\"><inertial><mass value=\"1\"/><inertia "
     "ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>\n<link name=\"c\"/><joint name=\"1\" "
     "type=\"fixed\"><parent link=\"a\"/><child link=\"c\"/></joint>\n<joint name=\"2\" "
     "type=\"fixed\"><parent link=\"b\"/><child link=\"c\"/></joint>\n</robot>",
        CAIRN_INVALID_ARGUMENT,
        "line 4, column 1: joint '2': its child has a joint already: links form a tree"},
    {"<robot name=\"r\">\n<link name=\"a\"/><link name=\"b\"/><link name=\"c\"/>\n<joint "
     "name=\"1\" type=\"fixed\"><parent link=\"b\"/><child link=\"c\"/></joint><joint name=\"2\" "
     "type=\"fixed\"><parent link=\"c\"/><child link=\"b\"/></joint>\n</robot>",
        CAIRN_INVALID_ARGUMENT,
        "line 3, column 73: joint '2': is part of a loop that hangs on no root"},
    {"<robot name=\"r\">\n<link name=\"a\"/><link name=\"b\"><inertial><mass value=\"1\"/><inertia "
     "ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>\n<joint name=\"j\" type=\"planar\"><parent "
     "link=\"a\"/><child link=\"b\"/></joint>\n</robot>",
        CAIRN_INVALID_ARGUMENT,
        "line 3, column 17: joint 'j' type: cairn does not read 'planar': it reads fixed, "
        "revolute, continuous, prismatic, floating"},
    {"<robot name=\"r\">\n<link name=\"a\"/><link name=\"b\"><inertial><mass value=\"1\"/><inertia "
     "ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>\n<joint name=\"j\" ><parent "
     "link=\"a\"/><child link=\"b\"/></joint>\n</robot>",
        CAIRN_INVALID_ARGUMENT, "line 3, column 1: joint 'j': needs the attribute type"},
    {"<robot name=\"r\">\n<link name=\"a\"/><link name=\"b\"><inertial><mass value=\"1\"/><inertia "
     "ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>\n<joint name=\"j\" "
     "type=\"revolute\"><parent link=\"a\"/><child link=\"b\"/></joint>\n</robot>",
        CAIRN_INVALID_ARGUMENT, "line 3, column 1: joint 'j': needs <limit>"},
    {"<robot name=\"r\">\n<link name=\"a\"/><link name=\"b\"><inertial><mass value=\"1\"/><inertia "
     "ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>\n<joint name=\"j\" "
     "type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/><mimic "
     "joint=\"k\"/></joint>\n</robot>",
        CAIRN_INVALID_ARGUMENT, "line 3, column 70: mimic: cairn does not read <mimic>"},
    {"<robot name=\"r\">\n<link name=\"a\"/><link name=\"b\"><inertial><mass value=\"1\"/><inertia "
     "ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>\n<joint name=\"j\" "
     "type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/><axis xyz=\"0 0 "
     "0\"/></joint>\n</robot>",
        CAIRN_INVALID_ARGUMENT, "line 3, column 76: axis xyz: must not be zero"},
    {"<robot name=\"r\">\n<link name=\"a\"/><link name=\"b\"><inertial><mass value=\"1\"/><inertia "
     "ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>\n<joint name=\"j\" "
     "type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/><axis xyz=\"0 "
     "1\"/></joint>\n</robot>",
        CAIRN_INVALID_ARGUMENT, "line 3, column 76: axis xyz: must have 3 numbers, has 2"},
    {"<robot name=\"r\">\n<link name=\"a\"/><link name=\"b\"><inertial><mass value=\"1\"/><inertia "
     "ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>\n<joint name=\"j\" "
     "type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/><axis xyz=\"0 1 "
     "x\"/></joint>\n</robot>",
        CAIRN_MALFORMED, "line 3, column 76: axis xyz: number 3 is not a number"},
    {"<robot name=\"r\">\n<link name=\"a\"/><link name=\"b\"><inertial><mass value=\"1\"/><inertia "
     "ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>\n<joint name=\"j\" "
     "type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/><axis xyz=\"0 1 "
     "nan\"/></joint>\n</robot>",
        CAIRN_NON_FINITE, "line 3, column 76: axis xyz: number 3 is not a finite number"},
    {"<robot name=\"r\">\n<link name=\"a\"/><link name=\"b\"><inertial><mass value=\"1\"/><inertia "
     "ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>\n<joint name=\"j\" "
     "type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/><axis xyz=\"0 1 "
     "1e10\"/></joint>\n</robot>",
        CAIRN_INVALID_ARGUMENT, "line 3, column 76: axis xyz: number 3 is larger than 1e+09"},
    {"<robot name=\"r\">\n<link name=\"a\"/><link name=\"b\"><inertial><mass value=\"1\"/><inertia "
     "ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>\n<joint name=\"j\" "
     "type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/><axis "
     "xyz=\"1,0,0\"/></joint>\n</robot>",
        CAIRN_MALFORMED, "line 3, column 76: axis xyz: number 1 is not a number"},
    {"<robot name=\"r\">\n<link name=\"a\"/><link name=\"b\"><inertial><mass value=\"1\"/><inertia "
     "ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>\n<joint name=\"j\" "
     "type=\"revolute\"><parent link=\"a\"/><child link=\"b\"/><limit lower=\"1\" "
     "upper=\"0\"/></joint>\n</robot>",
        CAIRN_INVALID_ARGUMENT,
        "line 3, column 85: limit upper: the upper limit, 0, is below the lower, 1"},
    {"<robot name=\"r\">\n<link name=\"a\"/><link name=\"b\"><inertial><mass value=\"1\"/><inertia "
     "ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>\n<joint name=\"j\" "
     "type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/><dynamics "
     "damping=\"-1\"/></joint>\n</robot>",
        CAIRN_INVALID_ARGUMENT,
        "line 3, column 80: dynamics damping: must be in [0, 1e+09], is -1"},
    {"<robot name=\"r\">\n<link name=\"a\"/><link name=\"b\"><inertial><mass value=\"1\"/><inertia "
     "ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>\n<joint name=\"j\" "
     "type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/><origin rpy=\"1 2 3 "
     "4\"/></joint>\n</robot>",
        CAIRN_INVALID_ARGUMENT, "line 3, column 78: origin rpy: must have at most 3 numbers"},
    {"<robot name=\"r\">\n<link name=\"a\"/><link name=\"b\"/>\n<joint name=\"j\" "
     "type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/></joint>\n</robot>",
        CAIRN_INVALID_ARGUMENT,
        "line 2, column 17: link 'b': moves, so its mass must be in [1e-9, 1e12] kg, is 0"},
    {"<robot name=\"r\">\n<link name=\"a\"><inertial><mass "
     "value=\"1\"/></inertial></link>\n</robot>",
        CAIRN_INVALID_ARGUMENT, "line 2, column 16: inertial: needs <inertia>"},
    {"<robot name=\"r\">\n<link name=\"a\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" "
     "iyy=\"1\"/></inertial></link>\n</robot>",
        CAIRN_INVALID_ARGUMENT, "line 2, column 43: inertia: needs the attribute izz"},
    {"<robot name=\"r\">\n<link name=\"a\"><inertial><mass value=\"1\"/>\n<inertia ixx=\"1\" "
     "iyy=\"1\" izz=\"1\" ixy=\"2\"/></inertial></link>\n</robot>",
        CAIRN_INVALID_ARGUMENT,
        "line 2, column 1: link 'a': moves, so its inertia must be positive definite"},
    {"<robot name=\"r\">\n<link name=\"a\"><collision><geometry><mesh "
     "filename=\"m.stl\"/></geometry></collision></link>\n</robot>",
        CAIRN_INVALID_ARGUMENT,
        "line 2, column 37: mesh: cairn does not read <mesh> here: it reads box, sphere and "
        "cylinder"},
    {"<robot name=\"r\">\n<link name=\"a\"><collision/></link>\n</robot>", CAIRN_INVALID_ARGUMENT,
        "line 2, column 16: collision: needs a <geometry> with a shape"},
    {"<robot name=\"r\">\n<link name=\"a\"><collision><geometry><sphere "
     "radius=\"0\"/></geometry></collision></link>\n</robot>",
        CAIRN_INVALID_ARGUMENT,
        "line 2, column 45: sphere radius: must be in [0.001, 10000], is 0"},
    {"<robot name=\"r\">\n<link name=\"a\"><collision><geometry><box size=\"1 1 "
     "0\"/></geometry></collision></link>\n</robot>",
        CAIRN_INVALID_ARGUMENT,
        "line 2, column 42: box size: must have three edges in [0.002, 20000] m"},
    {"<robot name=\"r\">\n<link name=\"this name has more than 31 characters\"/>\n</robot>",
        CAIRN_CAPACITY,
        "line 2, column 7: link 'this name has more than 31 chara' name: has more than 31 "
        "characters"},
    {"<robot name=\"r\">\n<link name=\"a&quot;b\"/>\n</robot>", CAIRN_INVALID_ARGUMENT,
        "line 2, column 7: link 'a\"b' name: may have printable ASCII characters without \" and \\ "
        "alone"},
    {"<robot name=\"r\">\n<link name=\"a\"/><link name=\"b\"><inertial><mass value=\"1\"/><inertia "
     "ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>\n<joint name=\"j\" "
     "type=\"floating\"><parent link=\"b\"/><child link=\"a\"/></joint>\n</robot>",
        CAIRN_INVALID_ARGUMENT,
        "line 3, column 17: joint 'j' type: may be floating only below the root, if that does not "
        "move"},
};

static const refusal mjcf_refusals[] = {
    {"<mujoco>\n<tendon/>\n</mujoco>", CAIRN_INVALID_ARGUMENT,
        "line 2, column 1: tendon: cairn does not read <tendon> in <mujoco>"},
    {"<mujoco>\n<include file=\"x\"/>\n</mujoco>", CAIRN_INVALID_ARGUMENT,
        "line 2, column 1: include: cairn does not read <include> in <mujoco>"},
    {"<mujoco>\n<compiler angle=\"turns\"/>\n</mujoco>", CAIRN_INVALID_ARGUMENT,
        "line 2, column 11: compiler angle: cairn does not read 'turns'"},
    {"<mujoco>\n<compiler coordinate=\"global\"/>\n</mujoco>", CAIRN_INVALID_ARGUMENT,
        "line 2, column 11: compiler coordinate: cairn does not read 'global'"},
    {"<mujoco>\n<compiler eulerseq=\"xyw\"/>\n</mujoco>", CAIRN_INVALID_ARGUMENT,
        "line 2, column 11: compiler eulerseq: must be three of x, y, z, X, Y, Z"},
    {"<mujoco>\n<compiler settotalmass=\"3\"/>\n</mujoco>", CAIRN_INVALID_ARGUMENT,
        "line 2, column 11: compiler settotalmass: cairn does not read this attribute"},
    {"<mujoco>\n<option timestep=\"0\"/>\n</mujoco>", CAIRN_INVALID_ARGUMENT,
        "line 2, column 9: option timestep: must be in [0.0001, 0.1], is 0"},
    {"<mujoco>\n<option wind=\"1 0 0\"/>\n</mujoco>", CAIRN_INVALID_ARGUMENT,
        "line 2, column 9: option wind: cairn does not read this attribute"},
    {"<mujoco>\n<default/><default/>\n</mujoco>", CAIRN_INVALID_ARGUMENT,
        "line 2, column 11: default: a second <default>: put its classes into the first"},
    {"<mujoco>\n<default><default/></default>\n</mujoco>", CAIRN_INVALID_ARGUMENT,
        "line 2, column 10: default: needs the attribute class"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom class=\"c\" "
     "size=\"1\"/></body></worldbody>\n</mujoco>",
        CAIRN_NOT_FOUND, "line 2, column 33: geom class: no default class is named 'c'"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT, "line 2, column 27: geom: needs the attribute size"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom type=\"ellipsoid\" size=\"1 1 "
     "1\"/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT, "line 2, column 33: geom type: cairn does not read 'ellipsoid'"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom type=\"mesh\" "
     "mesh=\"m\"/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT, "line 2, column 33: geom type: cairn does not read 'mesh'"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom type=\"plane\"/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT, "line 2, column 27: geom: a plane may stand only in <worldbody>"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom type=\"box\" size=\"1 "
     "1\"/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT, "line 2, column 44: geom size: must have 3 numbers, has 2"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom size=\"-1\"/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT,
        "line 2, column 33: geom size: sizes must be in [0.001, 10000] m, one is -1"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom type=\"capsule\" size=\"1\" fromto=\"0 0 0 0 0 "
     "0\"/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT, "line 2, column 57: geom fromto: must not be zero"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom type=\"box\" size=\"1 1 1\" fromto=\"0 0 0 0 0 "
     "1\"/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT,
        "line 2, column 57: geom fromto: cairn reads it of capsules and cylinders alone"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom size=\"1\" "
     "friction=\"-1\"/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT,
        "line 2, column 42: geom friction: number 1 must be in [0, 1000], is -1"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom size=\"1\" "
     "contype=\"1.5\"/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT,
        "line 2, column 42: geom contype: must be a whole number up to 65535"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom size=\"1\" quat=\"0 0 0 "
     "0\"/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT, "line 2, column 42: geom quat: must not be zero"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom size=\"1\" quat=\"1 0 0 0\" euler=\"0 0 "
     "0\"/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT,
        "line 2, column 57: geom euler: one rotation is enough: it has quat"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom size=\"1\" "
     "condim=\"2\"/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT, "line 2, column 42: geom condim: cairn does not read '2'"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom size=\"1\"/><joint "
     "type=\"screw\"/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT, "line 2, column 50: joint type: cairn does not read 'screw'"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom size=\"1\"/><joint axis=\"0 0 "
     "0\"/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT, "line 2, column 50: joint axis: must not be zero"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom size=\"1\"/><joint range=\"2 "
     "1\"/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT,
        "line 2, column 50: joint range: the upper limit, 0.0174533, is below the lower, "
        "0.0349066"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom size=\"1\"/><joint "
     "limited=\"true\"/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT, "line 2, column 43: joint: is limited and needs a range"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom size=\"1\"/><joint "
     "damping=\"inf\"/></body></worldbody>\n</mujoco>",
        CAIRN_NON_FINITE, "line 2, column 50: joint damping: number 1 is not a finite number"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom "
     "size=\"1\"/><joint/><freejoint/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT,
        "line 2, column 51: freejoint: a free joint must be the only one of a body in <worldbody>"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom "
     "size=\"1\"/><joint/><joint/><joint/><joint/><joint/><joint/><joint/></body></worldbody>\n</"
     "mujoco>",
        CAIRN_CAPACITY, "line 2, column 91: joint: a robot has at most 6 joints in a link"},
    {"<mujoco>\n<worldbody><body name=\"b\"><freejoint/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT,
        "line 2, column 12: body 'b': moves, so its mass must be in [1e-9, 1e12] kg, is 0"},
    {"<mujoco>\n<worldbody><body name=\"b\"><joint/><inertial pos=\"0 0 0\" "
     "mass=\"1\"/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT,
        "line 2, column 35: inertial: needs mass, and diaginertia or fullinertia"},
    {"<mujoco>\n<worldbody><body name=\"b\"><joint/><inertial mass=\"1\" diaginertia=\"1 1 "
     "-1\"/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT,
        "line 2, column 12: body 'b': moves, so its inertia must be positive definite"},
    {"<mujoco>\n<worldbody><body name=\"b\"><joint/><inertial mass=\"1\" diaginertia=\"1 1 "
     "5\"/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT,
        "line 2, column 54: inertial diaginertia: of 'b': a moment exceeds the sum of the other "
        "two, as no body's does"},
    {"<mujoco>\n<worldbody><body name=\"b\"><geom "
     "size=\"1\"/><composite/></body></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT,
        "line 2, column 43: composite: cairn does not read <composite> here"},
    {"<mujoco>\n<worldbody><body name=\"b\" mocap=\"true\"/></worldbody>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT,
        "line 2, column 27: body 'b' mocap: cairn does not read this attribute"},
    {"<mujoco>\n<worldbody><joint/></worldbody>\n</mujoco>", CAIRN_INVALID_ARGUMENT,
        "line 2, column 12: joint: cairn does not read <joint> here"},
    {"<mujoco>\n<worldbody/><actuator><motor/></actuator>\n</mujoco>", CAIRN_INVALID_ARGUMENT,
        "line 2, column 23: motor: needs the attribute joint: cairn reads no other transmission"},
    {"<mujoco>\n<worldbody/>\n<actuator><motor joint=\"k\"/></actuator>\n</mujoco>",
        CAIRN_NOT_FOUND, "line 3, column 18: motor joint: no hinge or slide is named 'k'"},
    {"<mujoco>\n<worldbody/><actuator><muscle joint=\"k\"/></actuator>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT,
        "line 2, column 23: muscle: cairn does not read <muscle>: it reads motor, position and "
        "velocity"},
    {"<mujoco>\n<worldbody><body><geom size=\"1\"/><joint "
     "name=\"k\"/></body></worldbody>\n<actuator><motor joint=\"k\" "
     "gear=\"0\"/></actuator>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT, "line 3, column 28: motor gear: must not be zero"},
    {"<mujoco>\n<worldbody><body><geom size=\"1\"/><joint "
     "name=\"k\"/></body></worldbody>\n<actuator><motor joint=\"k\" ctrlrange=\"1 "
     "1\"/></actuator>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT,
        "line 3, column 28: motor ctrlrange: must be two numbers, the lower first"},
    {"<mujoco>\n<worldbody><body><geom size=\"1\"/><joint name=\"k\" "
     "type=\"ball\"/></body></worldbody>\n<actuator><motor joint=\"k\"/></actuator>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT, "line 3, column 18: motor joint: cairn does not drive ball joints"},
    {"<mujoco>\n<worldbody/><contact><pair/></contact>\n</mujoco>", CAIRN_INVALID_ARGUMENT,
        "line 2, column 22: pair: cairn does not read <pair> here"},
    {"<mujoco>\n<worldbody/><contact><exclude body1=\"world\" body2=\"x\"/></contact>\n</mujoco>",
        CAIRN_NOT_FOUND, "line 2, column 45: exclude body2: no body is named 'x'"},
    {"<mujoco>\n<worldbody/><equality><joint/></equality>\n</mujoco>", CAIRN_INVALID_ARGUMENT,
        "line 2, column 23: joint: cairn does not read <joint>: it reads connect and weld"},
    {"<mujoco>\n<worldbody/><equality><weld body1=\"world\" relpose=\"0 0 0 1 0 0 "
     "0\"/></equality>\n</mujoco>",
        CAIRN_INVALID_ARGUMENT,
        "line 2, column 43: weld relpose: cairn does not read this attribute"},
    {"<mujoco>\n<worldbody><body pos=\"1e6 0 0\"/></worldbody>\n</mujoco>", CAIRN_INVALID_ARGUMENT,
        "line 2, column 12: body: lies more than 100000 m from the origin"},
};

TEST("a slip in the XML is named with its place") {
    assert_refused(xml_refusals, COUNT(xml_refusals));
}

TEST("what is wrong with URDF is named with its element") {
    assert_refused(urdf_refusals, COUNT(urdf_refusals));
}

TEST("what is wrong with MJCF, or not read of it, is named with its element") {
    assert_refused(mjcf_refusals, COUNT(mjcf_refusals));
}

// `count` times `part` between `begin` and `end`.
static char *repeated(const char *begin, const char *part, size_t count, const char *end) {
    const size_t size = strlen(part);
    char *text = malloc(strlen(begin) + count * size + strlen(end) + 1);
    assert_non_null(text);
    size_t at = (size_t)sprintf(text, "%s", begin);
    for (size_t i = 0; i < count; ++i, at += size) {
        memcpy(text + at, part, size);
    }
    memcpy(text + at, end, strlen(end) + 1);
    return text;
}

static void assert_too_large(char *text, const char *error) {
    const refusal row = {text, CAIRN_CAPACITY, error};
    assert_refused(&row, 1);
    free(text);
}

TEST("a text in UTF-16 is refused by its first zero byte") {
    static const char text[] = "\xff\xfe<\0r\0o\0b\0o\0t\0/\0>\0";
    const cairn_robot_options options = {0};
    cairn_robot robot;
    assert_int_equal(
        cairn_robot_read(text, sizeof text - 1, "x", &options, &robot), CAIRN_MALFORMED);
    assert_string_equal(robot.error, "line 1, column 4: a zero byte is not in UTF-8");
    cairn_robot_destroy(&robot);
}

TEST("entities of entities do not expand") {
    char text[2048];
    size_t at = (size_t)sprintf(text, "<!DOCTYPE robot [<!ENTITY a0 \"ha\">");
    for (int i = 1; i < 32; ++i) { // a31 would have 2 GiB
        at += (size_t)sprintf(text + at, "<!ENTITY a%d \"&a%d;&a%d;\">", i, i - 1, i - 1);
    }
    (void)sprintf(text + at, "]><robot name=\"&a31;\"/>");
    const refusal row = {text, CAIRN_MALFORMED, DOCUMENT_TYPE};
    assert_refused(&row, 1);
}

TEST("what is too large or too deep is refused") {
    assert_too_large(repeated("<robot>", "<a>", 80, ""),
        "line 1, column 197: elements are nested deeper than 64");
    assert_too_large(repeated("<robot>", "<a/>", CAIRN_XML_NODES_MAX, "</robot>"),
        "line 1, column 262148: more than 65536 elements");
    assert_too_large(repeated("<robot>", " ", CAIRN_XML_SIZE_MAX, "</robot>"),
        "line 1, column 1: more than 4194304 bytes");
    assert_too_large(
        repeated("<", "a", 65, "/>"), "line 1, column 1: a name has more than 64 characters");
    assert_too_large(repeated("<robot ", "a", 65, "=''/>"),
        "line 1, column 8: a name has more than 64 characters");
    char many[65 * 8] = "";
    for (int i = 0; i < 65; ++i) {
        (void)sprintf(many + strlen(many), " a%d=''", i);
    }
    assert_too_large(
        repeated("<robot", many, 1, "/>"), "line 1, column 446: more than 64 attributes");
    assert_too_large(
        repeated("<mujoco><worldbody>", "<geom size='1'/>", 4097, "</worldbody></mujoco>"),
        "line 1, column 65556: geom: a robot has at most 4096 geoms");
    assert_too_large(repeated("<mujoco><worldbody>", "<body/>", 1024, "</worldbody></mujoco>"),
        "line 1, column 7181: body: a robot has at most 1024 links");
}

// 300 links of URDF, each on the one before.
TEST("a chain that joint coordinates cannot have is refused by name, and no other way of reading "
     "it") {
    enum { LINKS = 300, PART = 256 };
    char *text = calloc(LINKS + 1, PART);
    assert_non_null(text);
    size_t at = (size_t)sprintf(text, "<robot name='r'>");
    for (int i = 0; i < LINKS; ++i) {
        at += (size_t)sprintf(text + at,
            "\n<link name='l%d'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/>"
            "</inertial></link>",
            i);
        if (i > 0) {
            at += (size_t)sprintf(text + at,
                "<joint name='j%d' type='continuous'><parent link='l%d'/><child link='l%d'/>"
                "</joint>",
                i, i - 1, i);
        }
    }
    (void)sprintf(text + at, "\n</robot>");
    for (uint32_t i = 0; i < 2; ++i) {
        const cairn_robot_options options = {.articulated = i == 1};
        cairn_robot robot;
        const cairn_status status = cairn_robot_read(text, strlen(text), "x", &options, &robot);
        assert_int_equal(status, i == 1 ? CAIRN_CAPACITY : CAIRN_OK);
        assert_string_equal(robot.error, i == 0 ? ""
                                                : "line 258, column 1: link 'l256': is link 257 of "
                                                  "its chain: with joint coordinates a chain has "
                                                  "at most 256");
        cairn_robot_destroy(&robot);
    }
    free(text);
}

TEST("a number of any length ends in bounded time") {
    char *text = repeated("<robot name='r' ><link name='a'><inertial><mass value='", "9", 100000,
        "'/><inertia/></inertial></link></robot>");
    const refusal row = {
        text, CAIRN_MALFORMED, "line 1, column 49: mass value: number 1 is not a number"};
    assert_refused(&row, 1);
    free(text);
}
