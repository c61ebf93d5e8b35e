// SPDX-License-Identifier: MIT
// Any hull and any def of a fracture are refused and change nothing, or give pieces that have the
// mass of the whole, in a world that holds what it must.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "sim/math/vec.h"
#include <cairn/fracture.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

// Reads as many bytes as there are; the rest is zero.
static void take(const uint8_t **bytes, size_t *size, void *out, size_t wanted) {
    const size_t count = wanted < *size ? wanted : *size;
    memset(out, 0, wanted);
    memcpy(out, *bytes, count);
    *bytes += count;
    *size -= count;
}

// Sixteenths, so that many points are on common lines and planes; a quarter of a cubic metre or
// more, or a thousandth of that.
static uint32_t points_of(const uint8_t *bytes, size_t size, bool small, cairn_vec3 *points) {
    const float unit = small ? 1.0f / 16384.0f : 1.0f / 16.0f;
    uint32_t count = 0;
    for (size_t at = 0; at + 3 <= size && count < CAIRN_HULL_POINTS_MAX; at += 3) {
        points[count++] = vec3(unit * (float)(int8_t)bytes[at], unit * (float)(int8_t)bytes[at + 1],
            unit * (float)(int8_t)bytes[at + 2]);
    }
    return count;
}

static cairn_body_id add_body(
    cairn_world *world, const uint8_t *bytes, size_t size, uint32_t choice) {
    static const uint32_t kinds[4] = {
        CAIRN_SHAPE_HULL, CAIRN_SHAPE_HULL, CAIRN_SHAPE_CYLINDER, CAIRN_SHAPE_CONE};
    cairn_vec3 points[CAIRN_HULL_POINTS_MAX];
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id body;
    cairn_shape_id id;
    const uint32_t count = points_of(bytes, size, (choice & 4u) != 0, points);
    shape.kind = kinds[choice & 3u];
    if (shape.kind == CAIRN_SHAPE_HULL &&
        cairn_hull_create(world, points, count, &shape.hull) != CAIRN_OK) {
        return CAIRN_ID_NULL;
    }
    if (count > 0) {
        shape.radius = vec3_length(points[0]);
        shape.half_height = vec3_length(points[count / 2]);
        def.angular_velocity = points[count - 1];
    }
    const cairn_status status = cairn_body_create_compound(world, &def, &shape, 1, &body, &id);
    return status == CAIRN_OK ? body : CAIRN_ID_NULL;
}

static void expect_pieces(const cairn_world *world, const cairn_body_id *pieces, uint32_t count,
    float mass, uint32_t wanted) {
    float sum = 0.0f;
    for (uint32_t i = 0; i < count; ++i) {
        sum += cairn_body_mass(world, pieces[i]);
    }
    CAIRN_ASSERT(count >= 2 && count <= wanted);
    // The rim of a cylinder or cone is a polygon of its area, up to the rounding of its sine.
    CAIRN_ASSERT(float_abs(sum - mass) <= 2e-4f * mass);
    CAIRN_ASSERT(cairn_world_counts_read(world).bodies == count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    cairn_world_def settings = cairn_world_def_default();
    cairn_fracture_def def = cairn_fracture_def_default();
    cairn_body_id pieces[CAIRN_FRACTURE_PIECES_MAX];
    cairn_world *world;
    uint8_t choice;
    uint8_t wanted;
    uint32_t count;
    settings.body_capacity = settings.shape_capacity = settings.contact_capacity = 48;
    settings.hull_capacity = 49;
    settings.joint_capacity = settings.mesh_capacity = settings.mesh_block_capacity = 0;
    if (cairn_world_create(&settings, &world) != CAIRN_OK) {
        return 0;
    }
    take(&bytes, &size, &choice, 1);
    take(&bytes, &size, &wanted, 1);
    take(&bytes, &size, &def.seed, 2);
    take(&bytes, &size, &def.point, sizeof def.point);
    take(&bytes, &size, &def.crowding, sizeof def.crowding);
    take(&bytes, &size, &def.thickness_min, sizeof def.thickness_min);
    // Every piece is a hull to build: mostly few.
    def.pieces = wanted < 240 ? wanted % 12u : 40u * (wanted - 240u) / 8u;
    const cairn_body_id body = add_body(world, bytes, size, choice);
    const float mass = cairn_body_mass(world, body);
    const cairn_hash128 before = cairn_world_hash_read(world).full;
    const char *refusal = cairn_body_fracture_refusal(world, body, &def);
    const cairn_status status =
        cairn_body_fracture(world, body, &def, pieces, CAIRN_FRACTURE_PIECES_MAX, &count);
    CAIRN_ASSERT(status == CAIRN_CAPACITY || (status == CAIRN_OK) == (refusal == NULL));
    if (status == CAIRN_OK) {
        expect_pieces(world, pieces, count, mass, def.pieces);
    } else if (status != CAIRN_CAPACITY) {
        CAIRN_ASSERT(cairn_hash_equal(before, cairn_world_hash_read(world).full));
    }
    CAIRN_ASSERT(cairn_world_validate(world, NULL) == CAIRN_OK);
    cairn_world_destroy(world);
    return 0;
}
