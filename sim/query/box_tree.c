// SPDX-License-Identifier: MIT
#define CAIRN_LANES 4
#include "sim/query/box_tree.h"

#include "base/assert.h"
#include "sim/math/lanes.h"
#include "sim/math/vec.h"

enum { WIDTH = CAIRN_BOX_TREE_WIDTH };
_Static_assert(WIDTH == CAIRN_LANES, "the boxes of a node are tested in one vector");
_Static_assert(sizeof(cairn_box_tree_node) == 128, "two cache lines");

#define LEAF_BIT 0x80000000u
#define NONE CAIRN_INDEX_NONE

// A traversal takes one node from its stack and puts back at most four, so it needs three entries
// for each level. A build makes at most ten levels, insertions deeper ones.
#define DEPTH_MAX 32
#define STACK_MAX (3 * DEPTH_MAX + 8)

// An empty box has this as its lower bound and its negative as its upper bound.
#define EMPTY_BOUND 3e38f

void cairn_box_tree_allocate(cairn_box_tree *tree, cairn_arena *from, uint32_t capacity) {
    // Every node but the root has two children or more.
    tree->nodes = cairn_arena_take(from, (size_t)capacity + 1, sizeof *tree->nodes);
    tree->boxes = cairn_arena_take(from, capacity, sizeof *tree->boxes);
    tree->places = cairn_arena_take(from, capacity, sizeof *tree->places);
    tree->order = cairn_arena_take(from, capacity, sizeof *tree->order);
}

// ---- Nodes

static uint32_t take_node(cairn_box_tree *tree) {
    uint32_t node = tree->free_node;
    if (node != NONE) {
        tree->free_node = tree->nodes[node].place;
    } else {
        node = tree->node_count++;
    }
    cairn_box_tree_node *out = &tree->nodes[node];
    *out = (cairn_box_tree_node){.place = NONE};
    for (uint32_t k = 0; k < WIDTH; ++k) {
        out->children[k] = NONE;
        for (uint32_t axis = 0; axis < 3; ++axis) {
            out->lower[axis][k] = EMPTY_BOUND;
            out->upper[axis][k] = -EMPTY_BOUND;
        }
    }
    return node;
}

static cairn_aabb box_at(const cairn_box_tree_node *node, uint32_t k) {
    return (cairn_aabb){.lower = vec3(node->lower[0][k], node->lower[1][k], node->lower[2][k]),
        .upper = vec3(node->upper[0][k], node->upper[1][k], node->upper[2][k])};
}

static void set_box_at(cairn_box_tree_node *node, uint32_t k, cairn_aabb box) {
    for (uint32_t axis = 0; axis < 3; ++axis) {
        node->lower[axis][k] = vec3_component(box.lower, axis);
        node->upper[axis][k] = vec3_component(box.upper, axis);
    }
}

// Puts a leaf or a node into a place of a node.
static void link_child(
    cairn_box_tree *tree, uint32_t node, uint32_t k, uint32_t child, cairn_aabb box) {
    CAIRN_ASSERT(k < WIDTH && child != NONE);
    tree->nodes[node].children[k] = child;
    set_box_at(&tree->nodes[node], k, box);
    if ((child & LEAF_BIT) != 0) {
        tree->places[child & ~LEAF_BIT] = node * WIDTH + k;
    } else {
        tree->nodes[child].place = node * WIDTH + k;
    }
}

static cairn_aabb box_union(cairn_aabb a, cairn_aabb b) {
    return (cairn_aabb){.lower = vec3_min(a.lower, b.lower), .upper = vec3_max(a.upper, b.upper)};
}

static cairn_aabb box_of_children(const cairn_box_tree_node *node) {
    return box_union(
        box_union(box_at(node, 0), box_at(node, 1)), box_union(box_at(node, 2), box_at(node, 3)));
}

static bool boxes_equal(cairn_aabb a, cairn_aabb b) {
    return a.lower.x == b.lower.x && a.lower.y == b.lower.y && a.lower.z == b.lower.z &&
           a.upper.x == b.upper.x && a.upper.y == b.upper.y && a.upper.z == b.upper.z;
}

// Fits the boxes of the ancestors to those of this node's children.
static void refit_from(cairn_box_tree *tree, uint32_t node) {
    while (node != 0) {
        const uint32_t place = tree->nodes[node].place;
        cairn_box_tree_node *parent = &tree->nodes[place / WIDTH];
        const cairn_aabb box = box_of_children(&tree->nodes[node]);
        CAIRN_ASSERT(parent->children[place % WIDTH] == node);
        if (boxes_equal(box, box_at(parent, place % WIDTH))) {
            return;
        }
        set_box_at(parent, place % WIDTH, box);
        node = place / WIDTH;
    }
}

// ---- Build

// Twice the centre of the leaf's box.
static float centre_of(const cairn_box_tree *tree, uint32_t leaf, uint32_t axis) {
    const cairn_aabb *box = &tree->boxes[leaf];
    return vec3_component(box->lower, axis) + vec3_component(box->upper, axis);
}

static uint32_t longest_axis(const cairn_box_tree *tree, uint32_t begin, uint32_t end) {
    const cairn_aabb *first = &tree->boxes[tree->order[begin]];
    cairn_vec3 lower = vec3_add(first->lower, first->upper);
    cairn_vec3 upper = lower;
    for (uint32_t i = begin + 1; i < end; ++i) {
        const cairn_aabb *box = &tree->boxes[tree->order[i]];
        const cairn_vec3 centre = vec3_add(box->lower, box->upper);
        lower = vec3_min(lower, centre);
        upper = vec3_max(upper, centre);
    }
    return vec3_largest_axis(vec3_sub(upper, lower));
}

// Reorders the leaves from `begin` to `end` along their longest axis, so that none before the
// middle is beyond one after it (Hoare's selection). Returns the middle.
static uint32_t split(cairn_box_tree *tree, uint32_t begin, uint32_t end) {
    const uint32_t axis = longest_axis(tree, begin, end);
    const uint32_t middle = begin + (end - begin) / 2;
    uint32_t *order = tree->order;
    uint32_t left = begin;
    uint32_t right = end - 1;
    while (left < right) {
        const float pivot = centre_of(tree, order[left + (right - left) / 2], axis);
        uint32_t i = left;
        uint32_t k = right;
        for (;;) {
            while (centre_of(tree, order[i], axis) < pivot) {
                ++i;
            }
            while (pivot < centre_of(tree, order[k], axis)) {
                --k;
            }
            if (i >= k) {
                break;
            }
            const uint32_t leaf = order[i];
            order[i++] = order[k];
            order[k--] = leaf;
        }
        // Up to k nothing is beyond the pivot, and after it nothing is before it.
        if (middle <= k) {
            right = k;
        } else {
            left = k + 1;
        }
    }
    CAIRN_ASSERT(begin < middle && middle < end);
    return middle;
}

static cairn_aabb box_of_range(const cairn_box_tree *tree, uint32_t begin, uint32_t end) {
    cairn_aabb box = tree->boxes[tree->order[begin]];
    for (uint32_t i = begin + 1; i < end; ++i) {
        box = box_union(box, tree->boxes[tree->order[i]]);
    }
    return box;
}

// The leaves below a node, in the order of the build.
typedef struct range {
    uint32_t begin;
    uint32_t end;
    uint32_t node;
} range;

// Splits the leaves of a node among its children. Returns how many of them are nodes.
static uint32_t build_node(cairn_box_tree *tree, const range *of, range out[WIDTH]) {
    const uint32_t count = of->end - of->begin;
    uint32_t starts[WIDTH + 1] = {of->begin};
    uint32_t groups = count;
    if (count > WIDTH) {
        groups = WIDTH;
        starts[2] = split(tree, of->begin, of->end);
        starts[1] = split(tree, of->begin, starts[2]);
        starts[3] = split(tree, starts[2], of->end);
        starts[4] = of->end;
    } else {
        for (uint32_t k = 0; k < count; ++k) {
            starts[k + 1] = of->begin + k + 1;
        }
    }
    uint32_t nodes = 0;
    for (uint32_t k = 0; k < groups; ++k) {
        const bool leaf = starts[k + 1] - starts[k] == 1;
        const uint32_t child = leaf ? tree->order[starts[k]] | LEAF_BIT : take_node(tree);
        const cairn_aabb box = box_of_range(tree, starts[k], starts[k + 1]);
        link_child(tree, of->node, k, child, box);
        if (!leaf) {
            out[nodes++] = (range){.begin = starts[k], .end = starts[k + 1], .node = child};
        }
    }
    return nodes;
}

void cairn_box_tree_build(cairn_box_tree *tree, uint32_t count) {
    range stack[STACK_MAX];
    tree->node_count = 0;
    tree->free_node = NONE;
    tree->leaf_count = count;
    tree->inserted = 0;
    tree->too_deep = false;
    const uint32_t root = take_node(tree);
    CAIRN_ASSERT(root == 0);
    stack[0] = (range){.begin = 0, .end = count, .node = root};
    for (uint32_t top = 1; top > 0;) {
        const range of = stack[--top];
        CAIRN_ASSERT(top + WIDTH <= STACK_MAX);
        top += build_node(tree, &of, &stack[top]);
    }
}

bool cairn_box_tree_wants_build(const cairn_box_tree *tree) {
    return tree->too_deep || tree->inserted > 2 * tree->leaf_count + 64;
}

// ---- Insert and remove

static lanes load(const float from[WIDTH]) {
    lanes out;
    memcpy(&out, from, sizeof out);
    return out;
}

// By how much half the surface of each child's box would grow if it took in `box`; meaningless for
// unused places.
static void growth_of_children(
    const cairn_box_tree_node *node, const cairn_aabb *box, float out[WIDTH]) {
    lanes before[3];
    lanes after[3];
    for (uint32_t axis = 0; axis < 3; ++axis) {
        const lanes lower = load(node->lower[axis]);
        const lanes upper = load(node->upper[axis]);
        before[axis] = upper - lower;
        after[axis] = lanes_max(upper, lanes_all(vec3_component(box->upper, axis))) -
                      lanes_min(lower, lanes_all(vec3_component(box->lower, axis)));
    }
    const lanes growth = (after[0] * after[1] + after[1] * after[2] + after[2] * after[0]) -
                         (before[0] * before[1] + before[1] * before[2] + before[2] * before[0]);
    memcpy(out, &growth, sizeof growth);
}

// The child that grows least, and an unused place; NONE if all eight are used.
typedef struct choice {
    uint32_t child;
    uint32_t unused;
} choice;

static choice choose_child(const cairn_box_tree_node *node, const cairn_aabb *box) {
    float growth[WIDTH];
    growth_of_children(node, box, growth);
    choice out = {.child = NONE, .unused = NONE};
    for (uint32_t k = 0; k < WIDTH; ++k) {
        if (node->children[k] == NONE) {
            out.unused = k;
        } else if (out.child == NONE || growth[k] < growth[out.child]) {
            out.child = k;
        }
    }
    // A box that is far from all children is better off beside them.
    const cairn_vec3 size = vec3_sub(box->upper, box->lower);
    const float surface = size.x * size.y + size.y * size.z + size.z * size.x;
    if (out.unused != NONE && out.child != NONE && growth[out.child] > surface) {
        out.child = NONE;
    }
    return out;
}

void cairn_box_tree_insert(cairn_box_tree *tree, uint32_t leaf, cairn_aabb box) {
    uint32_t node = 0;
    uint32_t depth = 0;
    tree->boxes[leaf] = box;
    tree->leaf_count += 1;
    tree->inserted += 1;
    for (;; ++depth) {
        const choice to = choose_child(&tree->nodes[node], &box);
        if (to.child == NONE) {
            link_child(tree, node, to.unused, leaf | LEAF_BIT, box);
            break;
        }
        const uint32_t child = tree->nodes[node].children[to.child];
        const cairn_aabb before = box_at(&tree->nodes[node], to.child);
        set_box_at(&tree->nodes[node], to.child, box_union(before, box));
        if ((child & LEAF_BIT) != 0) {
            const uint32_t pair = take_node(tree);
            link_child(tree, node, to.child, pair, box_union(before, box));
            link_child(tree, pair, 0, child, before);
            link_child(tree, pair, 1, leaf | LEAF_BIT, box);
            ++depth;
            break;
        }
        node = child;
    }
    // Deeper than this only after a thousand insertions in an unlucky order since the last build.
    tree->too_deep = tree->too_deep || depth + 1 >= DEPTH_MAX;
    CAIRN_ASSERT(tree->places[leaf] != NONE);
}

void cairn_box_tree_remove(cairn_box_tree *tree, uint32_t leaf) {
    const uint32_t place = tree->places[leaf];
    CAIRN_ASSERT(place != NONE && tree->leaf_count > 0);
    uint32_t node = place / WIDTH;
    cairn_box_tree_node *from = &tree->nodes[node];
    CAIRN_ASSERT(from->children[place % WIDTH] == (leaf | LEAF_BIT));
    from->children[place % WIDTH] = NONE;
    set_box_at(from, place % WIDTH,
        (cairn_aabb){.lower = vec3(EMPTY_BOUND, EMPTY_BOUND, EMPTY_BOUND),
            .upper = vec3(-EMPTY_BOUND, -EMPTY_BOUND, -EMPTY_BOUND)});
    tree->places[leaf] = NONE;
    tree->leaf_count -= 1;
    uint32_t left = 0;
    uint32_t last = 0;
    for (uint32_t k = 0; k < WIDTH; ++k) {
        last = from->children[k] != NONE ? k : last;
        left += from->children[k] != NONE ? 1u : 0u;
    }
    if (node != 0 && left == 1) {
        // The only child takes the place of its node.
        const uint32_t parent = from->place / WIDTH;
        link_child(tree, parent, from->place % WIDTH, from->children[last], box_at(from, last));
        from->place = tree->free_node;
        tree->free_node = node;
        node = parent;
    }
    refit_from(tree, node);
}

void cairn_box_tree_set(cairn_box_tree *tree, uint32_t leaf, cairn_aabb box) {
    const uint32_t place = tree->places[leaf];
    CAIRN_ASSERT(place != NONE);
    tree->boxes[leaf] = box;
    set_box_at(&tree->nodes[place / WIDTH], place % WIDTH, box);
    refit_from(tree, place / WIDTH);
}

static bool box_contains(cairn_aabb outer, cairn_aabb inner) {
    return boxes_equal(box_union(outer, inner), outer);
}

bool cairn_box_tree_ok(const cairn_box_tree *tree) {
    uint32_t stack[STACK_MAX] = {0};
    uint32_t leaves = 0;
    for (uint32_t top = 1; top > 0;) {
        const uint32_t at = stack[--top];
        const cairn_box_tree_node *node = &tree->nodes[at];
        for (uint32_t k = 0; k < WIDTH; ++k) {
            const uint32_t child = node->children[k];
            if (child == NONE) {
                continue;
            }
            const bool leaf = (child & LEAF_BIT) != 0;
            const uint32_t index = child & ~LEAF_BIT;
            if (!leaf && (index >= tree->node_count || top == STACK_MAX)) {
                return false;
            }
            const uint32_t place = leaf ? tree->places[index] : tree->nodes[index].place;
            const cairn_aabb inner =
                leaf ? tree->boxes[index] : box_of_children(&tree->nodes[index]);
            if (place != at * WIDTH + k || !box_contains(box_at(node, k), inner)) {
                return false;
            }
            leaves += leaf ? 1u : 0u;
            if (!leaf) {
                stack[top++] = index;
            }
        }
    }
    return leaves == tree->leaf_count;
}

// ---- Traversals

typedef struct entry {
    float key; // a lower bound of what a visit below can give
    uint32_t child;
} entry;

typedef struct entries {
    uint32_t count;
    entry all[STACK_MAX];
} entries;

// Adds the children of `node` whose key is at most `bound`, the least last.
static void push_children(
    entries *stack, const cairn_box_tree_node *node, const float keys[WIDTH], float bound) {
    CAIRN_ASSERT(stack->count + WIDTH <= STACK_MAX);
    const uint32_t base = stack->count;
    for (uint32_t k = 0; k < WIDTH; ++k) {
        if (node->children[k] == NONE || !(keys[k] <= bound)) {
            continue;
        }
        uint32_t at = stack->count++;
        while (at > base && stack->all[at - 1].key < keys[k]) {
            stack->all[at] = stack->all[at - 1];
            --at;
        }
        stack->all[at] = (entry){.key = keys[k], .child = node->children[k]};
    }
}

typedef void key_function(const void *query, const cairn_box_tree_node *node, float out[WIDTH]);

// Visits leaves with the least key first; those beyond the bound have keys beyond it.
static inline void traverse(const cairn_box_tree *tree, key_function *keys_of, const void *query,
    float bound, cairn_box_tree_bounder *visit, void *context) {
    entries stack;
    float keys[WIDTH];
    stack.count = 1;
    stack.all[0] = (entry){.key = 0.0f, .child = 0};
    while (stack.count > 0) {
        const entry next = stack.all[--stack.count];
        if (next.key > bound) {
            continue;
        }
        if ((next.child & LEAF_BIT) != 0) {
            bound = visit(context, next.child & ~LEAF_BIT);
            continue;
        }
        const cairn_box_tree_node *node = &tree->nodes[next.child];
        keys_of(query, node, keys);
        push_children(&stack, node, keys, bound);
    }
}

typedef struct cast_query {
    lanes inverse[3];    // of the translation
    lanes from_lower[3]; // the origin, moved by the half extents, for the near and the far planes
    lanes from_upper[3];
    bool negative[3];
} cast_query;

// Rays as in a slab test (Kay, Kajiya 1986), for four boxes. The key is the fraction at which the
// ray enters the box; beyond all bounds if it does not.
static inline void cast_keys(
    const void *context, const cairn_box_tree_node *node, float out[WIDTH]) {
    const cast_query *query = context;
    lanes entry_fraction = lanes_all(0.0f);
    lanes exit_fraction = lanes_all(1.0f);
    for (uint32_t axis = 0; axis < 3; ++axis) {
        const lanes to_lower = (load(node->lower[axis]) - query->from_lower[axis]);
        const lanes to_upper = (load(node->upper[axis]) - query->from_upper[axis]);
        const lanes near = query->negative[axis] ? to_upper : to_lower;
        const lanes far = query->negative[axis] ? to_lower : to_upper;
        entry_fraction = lanes_max(entry_fraction, near * query->inverse[axis]);
        exit_fraction = lanes_min(exit_fraction, far * query->inverse[axis]);
    }
    const lanes keys =
        lanes_select(entry_fraction <= exit_fraction, entry_fraction, lanes_all(EMPTY_BOUND));
    memcpy(out, &keys, sizeof keys);
}

// Coordinates of about this size have their rounding errors below the result, with a reserve for
// the functions that test single shapes.
static float rounding_of(float size) {
    return float_min(4e-6f * size, 1e30f);
}

static float largest_component(cairn_vec3 a) {
    const cairn_vec3 size = vec3_abs(a);
    return float_max(size.x, float_max(size.y, size.z));
}

void cairn_box_tree_cast(const cairn_box_tree *tree, cairn_vec3 origin, cairn_vec3 translation,
    cairn_vec3 half_extents, float bound, cairn_box_tree_bounder *visit, void *context) {
    cast_query query;
    // Each term alone, because a sum may overflow.
    const float slack =
        rounding_of(largest_component(origin)) + rounding_of(largest_component(translation));
    for (uint32_t axis = 0; axis < 3; ++axis) {
        const float from = vec3_component(origin, axis);
        const float step = vec3_component(translation, axis);
        const float extent = vec3_component(half_extents, axis) + slack;
        // A step this small leaves no box and enters none, and its inverse must stay finite.
        const bool still = float_abs(step) < 1e-20f;
        query.inverse[axis] = lanes_all(still ? 1e20f : 1.0f / step);
        query.negative[axis] = !still && step < 0.0f;
        query.from_lower[axis] = lanes_all(from + extent);
        query.from_upper[axis] = lanes_all(from - extent);
    }
    traverse(tree, cast_keys, &query, bound, visit, context);
}

typedef struct box_query {
    lanes lower[3];
    lanes upper[3];
} box_query;

static box_query box_query_of(const cairn_aabb *box) {
    box_query query;
    const float slack =
        rounding_of(largest_component(box->lower)) + rounding_of(largest_component(box->upper));
    for (uint32_t axis = 0; axis < 3; ++axis) {
        query.lower[axis] = lanes_all(vec3_component(box->lower, axis) - slack);
        query.upper[axis] = lanes_all(vec3_component(box->upper, axis) + slack);
    }
    return query;
}

// The key is the distance of the boxes.
static inline void near_keys(
    const void *context, const cairn_box_tree_node *node, float out[WIDTH]) {
    const box_query *query = context;
    lanes sum = lanes_all(0.0f);
    for (uint32_t axis = 0; axis < 3; ++axis) {
        const lanes below = query->lower[axis] - load(node->upper[axis]);
        const lanes above = load(node->lower[axis]) - query->upper[axis];
        const lanes gap = lanes_max(lanes_all(0.0f), lanes_max(below, above));
        sum += gap * gap;
    }
    // Rounded down, so that a box at the bound itself is visited.
    const lanes distance = lanes_sqrt(sum) * lanes_all(0.999999f);
    memcpy(out, &distance, sizeof distance);
}

void cairn_box_tree_near(const cairn_box_tree *tree, const cairn_aabb *box, float bound,
    cairn_box_tree_bounder *visit, void *context) {
    const box_query query = box_query_of(box);
    traverse(tree, near_keys, &query, bound, visit, context);
}

void cairn_box_tree_overlap(const cairn_box_tree *tree, const cairn_aabb *box,
    cairn_box_tree_visitor *visit, void *context) {
    const box_query query = box_query_of(box);
    uint32_t stack[STACK_MAX] = {0};
    for (uint32_t top = 1; top > 0;) {
        const cairn_box_tree_node *node = &tree->nodes[stack[--top]];
        lanes_mask hits = lanes_all(0.0f) == lanes_all(0.0f);
        for (uint32_t axis = 0; axis < 3; ++axis) {
            hits &= (load(node->lower[axis]) <= query.upper[axis]) &
                    (query.lower[axis] <= load(node->upper[axis]));
        }
        for (uint32_t k = 0; k < WIDTH; ++k) {
            const uint32_t child = node->children[k];
            if (hits[k] == 0 || child == NONE) {
                continue;
            }
            if ((child & LEAF_BIT) != 0) {
                visit(context, child & ~LEAF_BIT);
            } else {
                CAIRN_ASSERT(top < STACK_MAX);
                stack[top++] = child;
            }
        }
    }
}
