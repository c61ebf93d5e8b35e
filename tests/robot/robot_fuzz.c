// SPDX-License-Identifier: MIT
// A description of any bytes becomes a scene that the reader of scenes accepts, or one sentence;
// read twice, it has the same outcome.

#include <string.h>

#include "base/assert.h"
#include "robot/robot.h"
#include "schema/json_document.h"
#include "schema/scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_scene(const cairn_robot *robot) {
    cairn_scene_report report;
    cairn_scene *scene = NULL;
    cairn_json_document parts;
    (void)cairn_scene_read(robot->scene, robot->scene_size, &scene, &report);
    CAIRN_ASSERT(report.status != CAIRN_MALFORMED);
    cairn_scene_destroy(scene);
    CAIRN_ASSERT(
        cairn_json_document_parse(&parts, robot->parts, robot->parts_size) != CAIRN_MALFORMED);
    cairn_json_document_destroy(&parts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const cairn_robot_options options = {
        .fixed_base = size % 2 == 1, .articulated = size / 2 % 2 == 1};
    cairn_robot first, second;
    const char *text = size == 0 ? "" : (const char *)data;
    const cairn_status status = cairn_robot_read(text, size, "fuzz", &options, &first);
    CAIRN_ASSERT(cairn_robot_read(text, size, "fuzz", &options, &second) == status);
    CAIRN_ASSERT((status == CAIRN_OK) == (first.scene != NULL));
    CAIRN_ASSERT((status == CAIRN_OK) == (first.error[0] == '\0'));
    CAIRN_ASSERT(strcmp(first.error, second.error) == 0);
    if (status == CAIRN_OK) {
        CAIRN_ASSERT(first.scene_size == second.scene_size);
        CAIRN_ASSERT(memcmp(first.scene, second.scene, first.scene_size) == 0);
        check_scene(&first);
    }
    cairn_robot_destroy(&first);
    cairn_robot_destroy(&second);
    return 0;
}
