// SPDX-License-Identifier: MIT
#include "sim/world/mesh.h"

#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "sim/state/hash_cache.h"
#include "sim/state/slots.h"

uint32_t cairn_mesh_slot(const cairn_state *state, cairn_mesh_id mesh) {
    return cairn_slot_find(state->mesh_ids, state->settings->mesh_slots, mesh);
}

size_t cairn_meshes_derived_words(const cairn_world_def *def) {
    return (size_t)def->mesh_block_capacity * CAIRN_MESH_BLOCK_WORDS * CAIRN_MESH_DERIVED_FACTOR;
}

static uint32_t blocks_of_words(uint64_t words) {
    return (uint32_t)((words + CAIRN_MESH_BLOCK_WORDS - 1) / CAIRN_MESH_BLOCK_WORDS);
}

uint32_t cairn_mesh_blocks(uint32_t vertex_count, uint32_t triangle_count) {
    return blocks_of_words(3 * ((uint64_t)vertex_count + triangle_count));
}

uint32_t cairn_height_field_blocks(uint32_t columns, uint32_t rows) {
    return blocks_of_words((uint64_t)columns * rows);
}

static bool is_mesh(const cairn_mesh_header *header) {
    return header->kind == CAIRN_MESH_TRIANGLES;
}

static uint32_t *words_of(const cairn_state *state, const cairn_mesh_header *header) {
    return state->mesh_blocks[header->first_block].words;
}

static const cairn_vec3 *vertices_of(const cairn_state *state, const cairn_mesh_header *header) {
    return (const cairn_vec3 *)(const void *)words_of(state, header);
}

static const uint32_t *indices_of(const cairn_state *state, const cairn_mesh_header *header) {
    return words_of(state, header) + 3 * (size_t)header->vertex_count;
}

static const float *heights_of(const cairn_state *state, const cairn_mesh_header *header) {
    return (const float *)(const void *)words_of(state, header);
}

static size_t word_count(const cairn_mesh_header *header) {
    return is_mesh(header) ? 3 * ((size_t)header->vertex_count + header->triangle_count)
                           : (size_t)header->columns * header->rows;
}

// ---- What is derived

static cairn_hash128 hash_of(const cairn_state *state, uint32_t slot) {
    const cairn_mesh_header *header = &state->meshes[slot];
    const cairn_hash128 parts[2] = {cairn_hash_words(1, header, sizeof *header / sizeof(uint32_t)),
        cairn_hash_words(2, words_of(state, header), word_count(header))};
    return cairn_hash_list(3, parts, 2);
}

// Sets what the header says, and where data and derived data lie.
static void place(const cairn_world *world, uint32_t slot, cairn_mesh *mesh, uint32_t **memory) {
    const cairn_state *state = &world->state;
    const cairn_mesh_header *header = &state->meshes[slot];
    *mesh = (cairn_mesh){.kind = header->kind,
        .triangle_count = header->triangle_count,
        .vertex_count = header->vertex_count,
        .columns = header->columns,
        .rows = header->rows,
        .spacing_x = header->spacing_x,
        .spacing_z = header->spacing_z};
    if (is_mesh(header)) {
        mesh->vertices = vertices_of(state, header);
        mesh->indices = indices_of(state, header);
    } else {
        mesh->heights = heights_of(state, header);
    }
    *memory = world->mesh_memory +
              (size_t)header->first_block * CAIRN_MESH_BLOCK_WORDS * CAIRN_MESH_DERIVED_FACTOR;
}

static void derive(cairn_world *world, uint32_t slot) {
    cairn_mesh *mesh = &world->meshes[slot];
    uint32_t *memory = NULL;
    place(world, slot, mesh, &memory);
    if (mesh->kind == CAIRN_MESH_TRIANGLES) {
        cairn_mesh_derive(mesh, memory);
    } else {
        cairn_height_field_derive(mesh);
    }
    mesh->derived_from = hash_of(&world->state, slot);
}

static bool is_derived(const cairn_world *world, uint32_t slot) {
    return world->meshes[slot].kind == world->state.meshes[slot].kind &&
           cairn_hash_equal(world->meshes[slot].derived_from, hash_of(&world->state, slot));
}

// What is derived lies at the place of the data, so nothing of a mesh that is gone may stay valid.
void cairn_meshes_derive(cairn_world *world) {
    const cairn_state *state = &world->state;
    bool stale[CAIRN_MESHES_MAX];
    for (uint32_t i = 0; i < world->def.mesh_capacity; ++i) {
        const bool exists =
            i < state->settings->mesh_slots && cairn_state_has(state, CAIRN_ARRAY_MESHES, i);
        stale[i] = exists && !is_derived(world, i);
        world->meshes[i].kind = exists ? world->meshes[i].kind : 0;
    }
    for (uint32_t i = 0; i < state->settings->mesh_slots; ++i) {
        if (stale[i]) {
            derive(world, i);
        }
    }
}

void cairn_meshes_copy(cairn_world *to, const cairn_world *from) {
    const cairn_settings *settings = from->state.settings;
    memcpy(to->mesh_memory, from->mesh_memory,
        (size_t)settings->mesh_block_count * sizeof(cairn_mesh_block) * CAIRN_MESH_DERIVED_FACTOR);
    for (uint32_t i = 0; i < settings->mesh_slots; ++i) {
        const cairn_mesh *source = &from->meshes[i];
        cairn_mesh *mesh = &to->meshes[i];
        if (source->kind == 0) {
            continue;
        }
        uint32_t *memory = NULL;
        place(to, i, mesh, &memory);
        mesh->triangle_count = source->triangle_count;
        mesh->bounds = source->bounds;
        mesh->derived_from = source->derived_from;
        if (mesh->kind == CAIRN_MESH_TRIANGLES) {
            cairn_mesh_place(mesh, memory);
        }
    }
}

// ---- Create and destroy

// The first of `count` blocks that are free; the lowest such place. It is at 0 or behind a mesh.
static uint32_t find_blocks(const cairn_state *state, uint32_t count) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i <= state->settings->mesh_slots; ++i) {
        if (i > 0 && !cairn_state_has(state, CAIRN_ARRAY_MESHES, i - 1)) {
            continue;
        }
        const cairn_mesh_header *before = i > 0 ? &state->meshes[i - 1] : NULL;
        const uint32_t first = before != NULL ? before->first_block + before->block_count : 0;
        bool is_free = first < best;
        for (uint32_t k = 0; k < state->settings->mesh_slots && is_free; ++k) {
            const cairn_mesh_header *other = &state->meshes[k];
            is_free = !cairn_state_has(state, CAIRN_ARRAY_MESHES, k) ||
                      first + count <= other->first_block ||
                      other->first_block + other->block_count <= first;
        }
        best = is_free ? first : best;
    }
    return best;
}

static uint32_t blocks_end(const cairn_state *state) {
    uint32_t end = 0;
    for (uint32_t i = 0; i < state->settings->mesh_slots; ++i) {
        if (cairn_state_has(state, CAIRN_ARRAY_MESHES, i)) {
            const uint32_t own = state->meshes[i].first_block + state->meshes[i].block_count;
            end = own > end ? own : end;
        }
    }
    return end;
}

static void mark_blocks(cairn_world *world, const cairn_mesh_header *header) {
    for (uint32_t i = 0; i < header->block_count; ++i) {
        cairn_hash_cache_mark(world, CAIRN_ARRAY_MESH_BLOCKS, header->first_block + i);
    }
}

// Takes a slot and blocks for the header, whose blocks are then zero. CAIRN_CAPACITY.
static cairn_status take_room(cairn_world *world, cairn_mesh_header *header, uint32_t *slot) {
    cairn_state *state = &world->state;
    header->first_block = find_blocks(state, header->block_count);
    const bool fits = header->block_count <= world->def.mesh_block_capacity &&
                      header->first_block <= world->def.mesh_block_capacity - header->block_count;
    *slot = fits ? cairn_slot_take(state->mesh_ids, &state->settings->mesh_slots,
                       world->def.mesh_capacity, &world->mesh_hint)
                 : CAIRN_INDEX_NONE;
    if (*slot == CAIRN_INDEX_NONE) {
        state->settings->creates_refused += 1;
        return CAIRN_CAPACITY;
    }
    state->meshes[*slot] = *header;
    const uint32_t end = blocks_end(state);
    state->settings->mesh_block_count = end;
    memset(words_of(state, header), 0, header->block_count * sizeof(cairn_mesh_block));
    mark_blocks(world, header);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_MESH_IDS, *slot);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_MESHES, *slot);
    return CAIRN_OK;
}

const char *cairn_mesh_refusal(const cairn_mesh_def *def) {
    return cairn_mesh_arrays_refusal(
        def->vertices, def->vertex_count, def->indices, def->triangle_count);
}

static bool def_triangle_has_area(const cairn_mesh_def *def, uint32_t triangle) {
    const uint32_t *corners = &def->indices[3 * (size_t)triangle];
    return cairn_triangle_has_area(
        def->vertices[corners[0]], def->vertices[corners[1]], def->vertices[corners[2]]);
}

cairn_status cairn_mesh_create(cairn_world *world, const cairn_mesh_def *def, cairn_mesh_id *out) {
    *out = 0;
    for (uint32_t i = 0; i < def->vertex_count && i < CAIRN_MESH_VERTICES_MAX; ++i) {
        if (!vec3_finite(def->vertices[i])) {
            return CAIRN_NON_FINITE;
        }
    }
    if (cairn_mesh_refusal(def) != NULL) {
        return CAIRN_INVALID_ARGUMENT;
    }
    cairn_mesh_header header = {.kind = CAIRN_MESH_TRIANGLES, .vertex_count = def->vertex_count};
    for (uint32_t i = 0; i < def->triangle_count; ++i) {
        header.triangle_count += def_triangle_has_area(def, i) ? 1u : 0u;
    }
    header.dropped_count = def->triangle_count - header.triangle_count;
    header.block_count = cairn_mesh_blocks(header.vertex_count, header.triangle_count);
    uint32_t slot = 0;
    const cairn_status status = take_room(world, &header, &slot);
    if (status != CAIRN_OK) {
        return status;
    }
    uint32_t *words = words_of(&world->state, &header);
    for (uint32_t i = 0; i < def->vertex_count; ++i) {
        const cairn_vec3 vertex = vec3_clean(def->vertices[i]);
        memcpy(words + 3 * (size_t)i, &vertex, sizeof vertex);
    }
    words += 3 * (size_t)def->vertex_count;
    for (uint32_t i = 0; i < def->triangle_count; ++i) {
        if (def_triangle_has_area(def, i)) {
            memcpy(words, &def->indices[3 * (size_t)i], 3 * sizeof words[0]);
            words += 3;
        }
    }
    derive(world, slot);
    *out = cairn_slot_id(world->state.mesh_ids, slot);
    return CAIRN_OK;
}

const char *cairn_height_field_refusal(const cairn_height_field_def *def) {
    return cairn_heights_refusal(
        def->heights, def->columns, def->rows, def->spacing_x, def->spacing_z);
}

cairn_status cairn_height_field_create(
    cairn_world *world, const cairn_height_field_def *def, cairn_mesh_id *out) {
    *out = 0;
    const bool countable =
        def->columns <= CAIRN_HEIGHT_FIELD_SIDE_MAX && def->rows <= CAIRN_HEIGHT_FIELD_SIDE_MAX;
    bool finite = float_finite(def->spacing_x) && float_finite(def->spacing_z);
    for (uint32_t i = 0; countable && i < def->columns * def->rows; ++i) {
        finite = finite && float_finite(def->heights[i]);
    }
    if (!finite) {
        return CAIRN_NON_FINITE;
    }
    if (cairn_height_field_refusal(def) != NULL) {
        return CAIRN_INVALID_ARGUMENT;
    }
    cairn_mesh_header header = {.kind = CAIRN_MESH_HEIGHTS,
        .block_count = cairn_height_field_blocks(def->columns, def->rows),
        .columns = def->columns,
        .rows = def->rows,
        .spacing_x = def->spacing_x,
        .spacing_z = def->spacing_z};
    uint32_t slot = 0;
    const cairn_status status = take_room(world, &header, &slot);
    if (status != CAIRN_OK) {
        return status;
    }
    uint32_t *words = words_of(&world->state, &header);
    for (uint32_t i = 0; i < def->columns * def->rows; ++i) {
        const float height = def->heights[i] + 0.0f;
        memcpy(words + i, &height, sizeof height);
    }
    derive(world, slot);
    *out = cairn_slot_id(world->state.mesh_ids, slot);
    return CAIRN_OK;
}

cairn_status cairn_mesh_destroy(cairn_world *world, cairn_mesh_id mesh) {
    cairn_state *state = &world->state;
    const uint32_t slot = cairn_mesh_slot(state, mesh);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    for (uint32_t i = 0; i < state->settings->shape_slots; ++i) {
        if (state->shapes[i].geometry.mesh == mesh) {
            return CAIRN_WRONG_STATE;
        }
    }
    const cairn_mesh_header header = state->meshes[slot];
    memset(words_of(state, &header), 0, header.block_count * sizeof(cairn_mesh_block));
    mark_blocks(world, &header);
    memset(&state->meshes[slot], 0, sizeof state->meshes[slot]);
    cairn_slot_free(state->mesh_ids, slot, &world->mesh_hint);
    world->meshes[slot].kind = 0;
    state->settings->mesh_block_count = blocks_end(state);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_MESH_IDS, slot);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_MESHES, slot);
    return CAIRN_OK;
}

// ---- Reading

cairn_status cairn_mesh_info_read(
    const cairn_world *world, cairn_mesh_id mesh, cairn_mesh_info *out) {
    *out = (cairn_mesh_info){.kind = 0};
    const uint32_t slot = cairn_mesh_slot(&world->state, mesh);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    const cairn_mesh_header *header = &world->state.meshes[slot];
    *out = (cairn_mesh_info){.kind = header->kind,
        .vertex_count = header->vertex_count,
        .triangle_count = header->triangle_count,
        .dropped_count = header->dropped_count,
        .columns = header->columns,
        .rows = header->rows,
        .spacing_x = header->spacing_x,
        .spacing_z = header->spacing_z,
        .lower = world->meshes[slot].bounds.lower,
        .upper = world->meshes[slot].bounds.upper};
    return CAIRN_OK;
}

cairn_status cairn_mesh_read(
    const cairn_world *world, cairn_mesh_id mesh, cairn_vec3 *vertices, uint32_t *indices) {
    const uint32_t slot = cairn_mesh_slot(&world->state, mesh);
    if (slot == CAIRN_INDEX_NONE || !is_mesh(&world->state.meshes[slot])) {
        return CAIRN_NOT_FOUND;
    }
    const cairn_mesh_header *header = &world->state.meshes[slot];
    memcpy(vertices, vertices_of(&world->state, header), header->vertex_count * sizeof *vertices);
    memcpy(indices, indices_of(&world->state, header),
        3 * (size_t)header->triangle_count * sizeof *indices);
    return CAIRN_OK;
}

cairn_status cairn_height_field_read(const cairn_world *world, cairn_mesh_id mesh, float *heights) {
    const uint32_t slot = cairn_mesh_slot(&world->state, mesh);
    if (slot == CAIRN_INDEX_NONE || is_mesh(&world->state.meshes[slot])) {
        return CAIRN_NOT_FOUND;
    }
    const cairn_mesh_header *header = &world->state.meshes[slot];
    memcpy(heights, heights_of(&world->state, header), word_count(header) * sizeof *heights);
    return CAIRN_OK;
}

uint32_t cairn_world_meshes(const cairn_world *world, cairn_mesh_id *out, uint32_t capacity) {
    CAIRN_ASSERT(out != NULL || capacity == 0);
    const cairn_state *state = &world->state;
    return cairn_slots_list(state->mesh_ids, state->settings->mesh_slots, out, capacity);
}

// ---- Checks

bool cairn_mesh_header_ok(const cairn_state *state, uint32_t slot) {
    CAIRN_ASSERT(slot < state->settings->mesh_slots);
    const cairn_mesh_header *header = &state->meshes[slot];
    const bool sizes =
        is_mesh(header)
            ? header->vertex_count >= 3 && header->triangle_count >= 1 && header->columns == 0 &&
                  header->rows == 0 && header->spacing_x == 0.0f && header->spacing_z == 0.0f &&
                  header->block_count ==
                      cairn_mesh_blocks(header->vertex_count, header->triangle_count)
            : header->kind == CAIRN_MESH_HEIGHTS && header->columns >= 2 && header->rows >= 2 &&
                  header->vertex_count == 0 && header->triangle_count == 0 &&
                  header->dropped_count == 0 &&
                  header->block_count == cairn_height_field_blocks(header->columns, header->rows);
    const uint32_t end = header->first_block + header->block_count;
    if (!sizes || end > state->settings->mesh_block_count) {
        return false;
    }
    for (uint32_t i = 0; i < slot; ++i) {
        const cairn_mesh_header *other = &state->meshes[i];
        if (cairn_state_has(state, CAIRN_ARRAY_MESHES, i) &&
            header->first_block < other->first_block + other->block_count &&
            other->first_block < end) {
            return false;
        }
    }
    return true;
}

static bool all_zero(const uint32_t *words, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        if (words[i] != 0) {
            return false;
        }
    }
    return true;
}

// No -0, which create cleans.
static bool none_negative_zero(const uint32_t *words, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        if (words[i] == 0x80000000u) {
            return false;
        }
    }
    return true;
}

bool cairn_mesh_data_ok(const cairn_state *state, uint32_t slot) {
    const cairn_mesh_header *header = &state->meshes[slot];
    const uint32_t *words = words_of(state, header);
    const size_t count = word_count(header);
    if (!all_zero(words + count, header->block_count * (size_t)CAIRN_MESH_BLOCK_WORDS - count)) {
        return false;
    }
    if (!is_mesh(header)) {
        return none_negative_zero(words, count) &&
               cairn_heights_refusal(heights_of(state, header), header->columns, header->rows,
                   header->spacing_x, header->spacing_z) == NULL;
    }
    const cairn_mesh_def def = {.vertices = vertices_of(state, header),
        .vertex_count = header->vertex_count,
        .indices = indices_of(state, header),
        .triangle_count = header->triangle_count};
    if (!none_negative_zero(words, 3 * (size_t)header->vertex_count) ||
        cairn_mesh_refusal(&def) != NULL) {
        return false;
    }
    for (uint32_t i = 0; i < header->triangle_count; ++i) {
        if (!def_triangle_has_area(&def, i)) {
            return false;
        }
    }
    return true;
}

// Headers must be valid.
bool cairn_mesh_blocks_ok(const cairn_state *state) {
    const cairn_settings *settings = state->settings;
    if (settings->mesh_block_count != blocks_end(state)) {
        return false;
    }
    for (uint32_t at = 0; at < settings->mesh_block_count;) {
        uint32_t next = settings->mesh_block_count;
        bool inside = false;
        for (uint32_t i = 0; i < settings->mesh_slots; ++i) {
            const cairn_mesh_header *header = &state->meshes[i];
            if (!cairn_state_has(state, CAIRN_ARRAY_MESHES, i) ||
                header->first_block + header->block_count <= at) {
                continue;
            }
            const bool holds = header->first_block <= at;
            const uint32_t edge =
                holds ? header->first_block + header->block_count : header->first_block;
            inside = inside || holds;
            next = holds || (edge < next && !inside) ? edge : next;
        }
        if (!inside &&
            !all_zero(state->mesh_blocks[at].words, (next - at) * (size_t)CAIRN_MESH_BLOCK_WORDS)) {
            return false;
        }
        at = next;
    }
    return true;
}

bool cairn_meshes_ok(const cairn_world *world) {
    for (uint32_t i = 0; i < world->def.mesh_capacity; ++i) {
        const bool exists = i < world->state.settings->mesh_slots &&
                            cairn_state_has(&world->state, CAIRN_ARRAY_MESHES, i);
        if (exists ? !is_derived(world, i) : world->meshes[i].kind != 0) {
            return false;
        }
    }
    return true;
}
