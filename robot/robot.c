// SPDX-License-Identifier: MIT
#include "robot/robot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "robot/model.h"

static bool read_model(
    cairn_robot_model *model, const char *text, size_t size, const cairn_robot_options *options) {
    cairn_robot_reader *reader = &model->reader;
    model->articulated = options->articulated;
    const cairn_status status = cairn_xml_document_parse(&reader->xml, text, size);
    if (status != CAIRN_OK) {
        uint32_t line, column;
        cairn_xml_document_place(&reader->xml, reader->xml.at, &line, &column);
        snprintf(reader->error, sizeof reader->error, "line %u, column %u: %s", (unsigned)line,
            (unsigned)column, reader->xml.error);
        reader->status = status;
        return false;
    }
    if (!cairn_robot_model_create(model)) {
        return false;
    }
    const char *root = cairn_robot_element(reader, 0);
    if (strcmp(root, "robot") == 0) {
        return cairn_robot_read_urdf(model, options);
    }
    return strcmp(root, "mujoco") == 0
               ? cairn_robot_read_mjcf(model)
               : cairn_robot_fail(reader, 0, NULL, CAIRN_INVALID_ARGUMENT,
                     "is not a robot: the root of URDF is <robot>, that of MJCF <mujoco>");
}

// <robot name> or <mujoco model>, if a scene can have that name.
static void name_model(cairn_robot_model *model, const char *name) {
    const char *own = cairn_robot_text(&model->reader, 0, "name");
    own = own != NULL ? own : cairn_robot_text(&model->reader, 0, "model");
    const char *const names[] = {own, name, "robot"};
    for (int i = 0; i < 3 && model->name[0] == '\0'; ++i) {
        const size_t size = names[i] == NULL ? 0 : strlen(names[i]);
        bool plain = size >= 1 && size <= CAIRN_NAME_SIZE_MAX;
        for (size_t k = 0; k < size; ++k) {
            const char c = names[i][k];
            plain = plain && c >= ' ' && c <= '~' && c != '"' && c != '\\';
        }
        if (plain) {
            memcpy(model->name, names[i], size + 1);
        }
    }
}

cairn_status cairn_robot_read(const char *text, size_t size, const char *name,
    const cairn_robot_options *options, cairn_robot *out) {
    CAIRN_ASSERT(text != NULL && options != NULL && out != NULL);
    *out = (cairn_robot){0};
    cairn_robot_model *model = calloc(1, sizeof *model);
    if (model == NULL) {
        snprintf(out->error, sizeof out->error, "out of memory");
        return CAIRN_OUT_OF_MEMORY;
    }
    bool read = read_model(model, text, size, options) && cairn_robot_assemble(model);
    if (read) {
        name_model(model, name);
        read = cairn_robot_write(model, out);
    }
    const cairn_status status = model->reader.status;
    CAIRN_ASSERT(read == (status == CAIRN_OK));
    if (!read) {
        cairn_robot_destroy(out);
        memcpy(out->error, model->reader.error, sizeof out->error);
    }
    cairn_robot_model_destroy(model);
    free(model);
    return status;
}

void cairn_robot_destroy(cairn_robot *robot) {
    free(robot->scene);
    free(robot->parts);
    *robot = (cairn_robot){0};
}
