// SPDX-License-Identifier: MIT
// Any text as a predicate: refused with a sentence, or asked of a world in bounded time.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "tools/replay/shrink/predicate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static cairn_world *make_world(void) {
    const cairn_world_def def = cairn_world_def_default();
    const cairn_body_def body = cairn_body_def_default();
    const cairn_shape_def shape = cairn_shape_def_default();
    cairn_world *world;
    cairn_body_id id;
    cairn_shape_id made;
    CAIRN_ASSERT(cairn_world_create(&def, &world) == CAIRN_OK);
    for (int i = 0; i < 3; ++i) {
        CAIRN_ASSERT(cairn_body_create(world, &body, &id) == CAIRN_OK);
        CAIRN_ASSERT(cairn_shape_create(world, id, &shape, &made) == CAIRN_OK);
    }
    cairn_world_step(world, NULL, 0);
    return world;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static cairn_world *world;
    cairn_predicate predicate;
    char error[CAIRN_PREDICATE_ERROR_SIZE];
    char *text = malloc(size + 1);
    world = world == NULL ? make_world() : world;
    CAIRN_ASSERT(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    const bool good = cairn_predicate_parse(text, &predicate, error);
    CAIRN_ASSERT(good == (error[0] == '\0'));
    CAIRN_ASSERT(strlen(error) < sizeof error);
    CAIRN_ASSERT(good == (predicate.node_count > 0));
    const bool holds = cairn_predicate_holds(&predicate, world, NULL);
    CAIRN_ASSERT(good || !holds);
    free(text);
    return 0;
}
