// SPDX-License-Identifier: MIT
#include "tests/sim/golden_transfer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/serialize/sketch.h"

#define PATH_SIZE 512
#define CELLS 64
#define SKETCH_SIZE ((size_t)CELLS * CAIRN_SKETCH_CELL_SIZE)

// The sketch, then the encoding; to be freed. NULL if there is no memory.
static uint8_t *bytes_of_world(const cairn_world *world, size_t *size) {
    const size_t encoded = cairn_world_encode_size(world);
    *size = SKETCH_SIZE + encoded;
    uint8_t *bytes = malloc(*size);
    if (bytes != NULL) {
        cairn_sketch_build(world, CELLS, bytes);
        if (cairn_world_encode(world, bytes + SKETCH_SIZE, encoded) != encoded) {
            free(bytes);
            return NULL;
        }
    }
    return bytes;
}

static FILE *open_file(const char *folder, const char *name, const char *mode) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s.world", folder, name);
    return fopen(path, mode);
}

bool golden_transfer_write(const char *folder, const char *name, const cairn_world *world) {
    size_t size = 0;
    uint8_t *bytes = bytes_of_world(world, &size);
    FILE *file = open_file(folder, name, "wb");
    bool ok = bytes != NULL && file != NULL && fwrite(bytes, 1, size, file) == size;
    ok = (file != NULL && fclose(file) == 0) && ok;
    free(bytes);
    return ok;
}

// The whole file; to be freed. NULL if it cannot be read.
static uint8_t *read_file(const char *folder, const char *name, size_t *size) {
    FILE *file = open_file(folder, name, "rb");
    uint8_t *bytes = NULL;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        *size = (size_t)ftell(file);
        rewind(file);
        bytes = malloc(*size);
        if (bytes != NULL && fread(bytes, 1, *size, file) != *size) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return bytes;
}

bool golden_transfer_read(const char *folder, const char *name, cairn_world *world) {
    size_t size = 0;
    size_t own_size = 0;
    const char *where = "";
    uint8_t *bytes = read_file(folder, name, &size);
    if (bytes == NULL || size < SKETCH_SIZE) {
        printf("golden: %s/%s.world cannot be read\n", folder, name);
        free(bytes);
        return false;
    }
    const bool decoded =
        cairn_world_decode(world, bytes + SKETCH_SIZE, size - SKETCH_SIZE, &where) == CAIRN_OK;
    uint8_t *own = decoded ? bytes_of_world(world, &own_size) : NULL;
    const bool same = own != NULL && own_size == size && memcmp(own, bytes, size) == 0;
    if (!same) {
        printf("golden: %s cannot be decoded here: %s\n", name,
            decoded ? "it encodes to other bytes" : where);
    }
    free(own);
    free(bytes);
    return same;
}
