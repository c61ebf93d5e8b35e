// SPDX-License-Identifier: MIT
// Predicates say what they mean, are refused by column, and are false when a named body is missing.
#include "tests/kit/test.h"

#include "tools/replay/shrink/predicate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cairn_world *world;

// Body 1: a static plane. Body 2: a ball that falls at 2 m/s from 3 m. Body 3: a box at rest on it.
BEFORE_ALL {
    const cairn_world_def def = cairn_world_def_default();
    cairn_body_def body = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_body_id id;
    cairn_shape_id made;
    assert_int_equal(cairn_world_create(&def, &world), CAIRN_OK);
    body.kind = CAIRN_BODY_STATIC;
    shape.kind = CAIRN_SHAPE_HALF_SPACE;
    assert_int_equal(cairn_body_create(world, &body, &id), CAIRN_OK);
    assert_int_equal(cairn_shape_create(world, id, &shape, &made), CAIRN_OK);
    body.kind = CAIRN_BODY_DYNAMIC;
    body.position = (cairn_vec3){.x = 4, .y = 3};
    body.linear_velocity = (cairn_vec3){.y = -2};
    shape.kind = CAIRN_SHAPE_SPHERE;
    shape.radius = 0.5f;
    assert_int_equal(cairn_body_create(world, &body, &id), CAIRN_OK);
    assert_int_equal(cairn_shape_create(world, id, &shape, &made), CAIRN_OK);
    body.position = (cairn_vec3){.y = 0.49f};
    body.linear_velocity = (cairn_vec3){0};
    shape.kind = CAIRN_SHAPE_BOX;
    assert_int_equal(cairn_body_create(world, &body, &id), CAIRN_OK);
    assert_int_equal(cairn_shape_create(world, id, &shape, &made), CAIRN_OK);
    cairn_world_step(world, NULL, 0);
}

AFTER_ALL {
    cairn_world_destroy(world);
}

static bool holds(const char *text) {
    cairn_predicate predicate;
    char error[CAIRN_PREDICATE_ERROR_SIZE];
    if (!cairn_predicate_parse(text, &predicate, error)) {
        fail_msg("%s: %s", text, error);
    }
    return cairn_predicate_holds(&predicate, world, NULL);
}

static void expect_refusal(const char *text, const char *says) {
    cairn_predicate predicate;
    char error[CAIRN_PREDICATE_ERROR_SIZE];
    assert_false(cairn_predicate_parse(text, &predicate, error));
    assert_non_null(strstr(error, says));
    assert_int_equal(predicate.node_count, 0);
}

TEST("quantities of bodies and of the world are those of the world") {
    assert_true(holds("body 2 y < 3 and body 2 y > 2.9 and body 2 x == 4 and body 2 z == 0"));
    assert_true(holds("body 2 vy < -2 and body 2 speed > 2 and body 2 spin == 0"));
    assert_true(holds("body 2 awake == 1 and body 2 contacts == 0 and body 3 contacts == 1"));
    assert_true(holds("body 3 depth > 0 and body 3 depth < 0.02 and body 2 depth == 0"));
    assert_true(
        holds("tick == 1 and bodies == 3 and awake == 2 and contacts == 1 and joints == 0"));
    // Half of pi / 6 * 1000 kg at 2.1635 m/s.
    assert_true(holds("body 2 energy > 1225 and body 2 energy < 1226 and energy >= body 2 energy"));
}

TEST("operators bind as in arithmetic") {
    assert_true(holds("1 + 2 * 3 == 7 and (1 + 2) * 3 == 9 and 8 / 4 / 2 == 1"));
    assert_true(holds("5 - 2 - 1 == 2 and -2 * -3 == 6 and - -1 == 1"));
    assert_true(holds("1 < 2 or 1 / 0 and 0")); // and before or
    assert_true(holds("not 1 > 2") && !holds("not (1 < 2)"));
    assert_true(holds("1 <= 1 and 2 >= 2 and 1 != 2"));
}

TEST("'any' asks each body that is not static, and says which") {
    cairn_predicate predicate;
    char error[CAIRN_PREDICATE_ERROR_SIZE];
    cairn_body_id which;
    assert_true(cairn_predicate_parse("any y > 2 and any vy < 0", &predicate, error));
    assert_true(cairn_predicate_holds(&predicate, world, &which));
    assert_int_equal(which, 2);
    assert_false(holds("any y > 2 and any x < 1")); // not one body
    assert_false(holds("any contacts == 2"));
    assert_false(holds("any y == 0")); // the plane
}

TEST("a predicate that names a missing body is false, whatever else it says") {
    assert_false(holds("body 9 y < 0"));
    assert_false(holds("not body 9 y < 0"));
    assert_false(holds("1 < 2 or body 9 y < 0"));
}

TEST("what is wrong is named with its column") {
    expect_refusal("", "column 1: a number or a quantity is expected here");
    expect_refusal("body 17 lenght < 1", "column 9: 'lenght' is not known; a body has x y z");
    expect_refusal("hight > 1", "column 1: 'hight' is not known; a world has tick");
    expect_refusal("body y < 1", "column 6: the id of a body is expected here");
    expect_refusal("body 0 y < 1", "the id of a body");
    expect_refusal("body 1.5 y < 1", "the id of a body");
    expect_refusal("1 < 2 < 3", "column 7: '<' is not expected here");
    expect_refusal("(1 < 2", "a ')' is expected here");
    expect_refusal("1e999 > 2", "a number is expected here");
    expect_refusal("17abc > 2", "a number is expected here");
    expect_refusal("1 ; 2", "column 3: ';' is not expected here");
    expect_refusal("tick =", "'=' is not expected here");
}

TEST("long and deep texts are refused") {
    static char text[20000];
    memset(text, '(', sizeof text - 1);
    expect_refusal(text, "nested deeper than 64");
    memset(text, '-', sizeof text - 1);
    expect_refusal(text, "nested deeper than 64");
    text[0] = '\0';
    for (int i = 0; i < 200; ++i) {
        strcat(text, "1 + ");
    }
    strcat(text, "1");
    expect_refusal(text, "it has more than 128 parts");
    text[0] = '\0';
    for (int i = 1; i < 20; ++i) {
        char one[32];
        snprintf(one, sizeof one, "body %d y + ", i);
        strcat(text, one);
    }
    strcat(text, "1");
    expect_refusal(text, "it names more than 16 bodies");
}
