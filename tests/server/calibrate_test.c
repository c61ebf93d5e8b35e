// SPDX-License-Identifier: MIT
// What is measured of a room, and what follows from it. How long a tick takes is the machine's.
#include "tests/kit/test.h"

#include <string.h>

#include "server/daemon/calibrate.h"
#include "tests/kit/scenes.h"

TEST("four seconds are measured, at the rate and with the players that were asked for") {
    static const struct {
        uint32_t asked_hz, rate_hz, players;
    } rows[] = {{0, 60, 0}, {30, 30, 0}, {10, 10, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const cairn_scene *scene =
            kit_scene("{'name': 'small', 'rules': 'sandbox', 'tick_rate_hz': 60, 'body_capacity': "
                      "16, 'bodies': ["
                      "{'kind': 'static', 'shapes': [{'kind': 'half_space'}]},"
                      "{'position': [20, 0.5, 0], 'shapes': [{'kind': 'box'}]}]}");
        cairn_calibration found;
        char error[CAIRN_SCENE_ERROR_SIZE];
        assert_true(cairn_calibrate(scene, rows[i].asked_hz, rows[i].players, &found, error));
        assert_int_equal(found.rate_hz, rows[i].rate_hz);
        assert_int_equal(found.ticks, 4 * rows[i].rate_hz);
        assert_int_equal(found.players, rows[i].players);
        assert_int_equal(found.bodies, 2 + rows[i].players);
        assert_true(found.mean_ns > 0);
        const uint64_t room_ns = found.mean_ns * found.rate_hz;
        assert_int_equal(found.rooms, CAIRN_NS_PER_S / 100 * CAIRN_CALIBRATION_SHARE / room_ns);
    }
}

TEST("a scene that makes no world is refused") {
    cairn_scene scene = *kit_scene("{'name': 'small'}");
    cairn_calibration found;
    char error[CAIRN_SCENE_ERROR_SIZE] = "";
    strcpy(scene.rules, "none of these");
    assert_false(cairn_calibrate(&scene, 0, 1, &found, error));
    assert_true(error[0] != '\0');
}
