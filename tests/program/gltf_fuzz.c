// SPDX-License-Identifier: MIT
// A glTF file of any bytes becomes a JSON text that the reader of scenes can judge, or one
// sentence.

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "schema/scene.h"
#include "tools/scene/gltf_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cairn_gltf file;
    size_t text_size = 0;
    char *text = cairn_gltf_open(&file, data, size, NULL, NULL)
                     ? cairn_gltf_scene(&file, "fuzz", &text_size)
                     : NULL;
    CAIRN_ASSERT((text == NULL) == (file.error[0] != '\0'));
    CAIRN_ASSERT(strlen(file.error) < sizeof file.error);
    if (text != NULL && text_size < 65536) {
        cairn_json_document document;
        CAIRN_ASSERT(cairn_json_document_parse(&document, text, text_size) == CAIRN_OK);
        cairn_json_document_destroy(&document);
        cairn_scene_report report;
        cairn_scene *scene;
        (void)cairn_scene_read(text, text_size, &scene, &report);
        cairn_scene_destroy(scene);
    }
    free(text);
    cairn_gltf_close(&file);
    return 0;
}
