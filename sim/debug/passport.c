// SPDX-License-Identifier: MIT
#include "sim/debug/passport.h"

#include "base/assert.h"
#include "sim/debug/passport_golden.h"
#include "sim/debug/passport_parts.h"
#include "sim/math/float_env.h"
#include "sim/math/trig.h"
#include "sim/math/vec.h"

#define TRIGONOMETRY_STEPS 64
#define SCENE_TICKS 32

const cairn_arithmetic cairn_arithmetic_own = {
    .minimum = float_min,
    .maximum = float_max,
    .root = float_sqrt,
    .sine = lanes_sin,
    .cosine = lanes_cos,
    .angle = lanes_atan2,
};

// A float that the compiler cannot know, so that the machine computes the result. Bits are
// compared, never values: in a thread with denormals-are-zero all subnormal numbers equal zero.
static float hidden(uint32_t bits) {
    volatile uint32_t shown = bits;
    return float_of_bits(shown);
}

// Ties go to the even neighbour, the rest to the nearer one, on both sides of zero.
static bool rounds_to_nearest(void) {
    const float one = hidden(0x3f800000u);
    const float odd = hidden(0x3f800001u);
    const float half = hidden(0x33800000u); // 2^-24
    const float more = hidden(0x33800001u);
    const float less = hidden(0x337fffffu);
    return float_bits(one + half) == 0x3f800000u && float_bits(odd + half) == 0x3f800002u &&
           float_bits(one + more) == 0x3f800001u && float_bits(one + less) == 0x3f800000u &&
           float_bits(-one - half) == 0xbf800000u && float_bits(-one - more) == 0xbf800001u;
}

// Gradual underflow: results are rounded once, to the precision they have, and the difference of
// two unequal numbers is not zero.
static bool subnormals_exact(void) {
    const float next = hidden(0x00800001u);
    const float least = hidden(0x00800000u);
    const float third = hidden(0x3eaaaaabu);
    return float_bits(next - least) == 0x00000001u &&
           float_bits(least * third) == 0x002aaaabu && // 2796202.75 steps of 2^-149
           float_bits(hidden(0x00000003u) / hidden(0x40000000u)) == 0x00000002u; // 1.5: to even
}

// The result for two zeros is the second one, as `a < b ? a : b` says.
static bool zeros_ordered(const cairn_arithmetic *arithmetic) {
    const float plus = hidden(0);
    const float minus = hidden(0x80000000u);
    return float_bits(arithmetic->minimum(plus, minus)) == 0x80000000u &&
           float_bits(arithmetic->minimum(minus, plus)) == 0 &&
           float_bits(arithmetic->maximum(plus, minus)) == 0x80000000u &&
           float_bits(arithmetic->maximum(minus, plus)) == 0;
}

// Whether `root` of 24 bits is the float nearest to the square root of `square`, in whole numbers:
// (root - 1/2)^2 < square < (root + 1/2)^2. A root is never half way between two floats.
static bool nearest_root(uint64_t square, uint64_t root) {
    CAIRN_ASSERT(root >= 1u << 23 && root < 1u << 24 && square >> 60 == 0);
    const uint64_t low = 2 * root - 1;
    const uint64_t high = 2 * root + 1;
    return low * low < 4 * square && 4 * square < high * high;
}

// For a float in [1, 4) the root lies in [1, 2), so both are whole numbers of steps of 2^-23 and
// 2^-46.
static bool root_ok(const cairn_arithmetic *arithmetic, uint32_t bits) {
    const uint64_t significand = (bits & 0x007fffffu) | 0x00800000u;
    const uint32_t exponent = bits >> 23; // 127 or 128
    CAIRN_ASSERT(exponent == 127 || exponent == 128);
    const uint32_t root = float_bits(arithmetic->root(hidden(bits)));
    return root >> 23 == 127 &&
           nearest_root(significand << (23 + exponent - 127), (root & 0x007fffffu) | 0x00800000u);
}

// Near 1 and 4, roots come within 2^-26 of a step of the midpoint between two floats. The other
// samples are spread evenly, and the last one is subnormal.
static bool roots_nearest(const cairn_arithmetic *arithmetic) {
    bool ok = root_ok(arithmetic, 0x3f800001u) && root_ok(arithmetic, 0x3f800003u) &&
              root_ok(arithmetic, 0x407ffffeu) && root_ok(arithmetic, 0x407ffffdu);
    for (uint32_t bits = 0x3f800000u; bits < 0x40800000u; bits += 0x0003fffbu) {
        ok = ok && root_ok(arithmetic, bits);
    }
    return ok && float_bits(arithmetic->root(hidden(0x00000002u))) == 0x1a800000u; // 2^-74
}

cairn_hash128 cairn_passport_trigonometry(const cairn_arithmetic *arithmetic) {
    uint32_t results[3 * TRIGONOMETRY_STEPS];
    for (uint32_t i = 0; i < TRIGONOMETRY_STEPS; ++i) {
        // Multiples of 2^-6 are exact, so the table is the same everywhere.
        const float at = hidden(float_bits((float)i * 0.046875f));
        const float half = hidden(float_bits(1.5f));
        results[3 * i] = float_bits(arithmetic->sine(at - half));
        results[3 * i + 1] = float_bits(arithmetic->cosine(at));
        results[3 * i + 2] = float_bits(arithmetic->angle(at - half, half - at * at));
    }
    return cairn_hash_words(0, results, 3 * TRIGONOMETRY_STEPS);
}

static uint32_t fault_unless(bool ok, cairn_passport_fault fault) {
    return ok ? 0 : (uint32_t)fault;
}

uint32_t cairn_passport_arithmetic_faults(const cairn_arithmetic *arithmetic) {
    const cairn_hash128 angles = cairn_passport_trigonometry(arithmetic);
    // The least normal number halved is subnormal. A subnormal number times 2^24 is normal.
    const uint32_t halved = float_bits(hidden(0x00800000u) * hidden(0x3f000000u));
    const uint32_t raised = float_bits(hidden(0x00400000u) * hidden(0x4b800000u));
    return fault_unless(cairn_float_sums_ok(), CAIRN_PASSPORT_CONTRACTION) |
           fault_unless(cairn_float_alternating_sums_ok(), CAIRN_PASSPORT_CONTRACTION_TURNS) |
           fault_unless(halved == 0x00400000u, CAIRN_PASSPORT_FLUSH_TO_ZERO) |
           fault_unless(raised == 0x0c000000u, CAIRN_PASSPORT_DENORMALS_ARE_ZERO) |
           fault_unless(rounds_to_nearest(), CAIRN_PASSPORT_ROUNDING) |
           fault_unless(subnormals_exact(), CAIRN_PASSPORT_SUBNORMALS) |
           fault_unless(zeros_ordered(arithmetic), CAIRN_PASSPORT_MINIMUM) |
           fault_unless(roots_nearest(arithmetic), CAIRN_PASSPORT_SQUARE_ROOT) |
           fault_unless(cairn_hash_equal(angles, cairn_passport_golden_trigonometry),
               CAIRN_PASSPORT_TRIGONOMETRY);
}

// A short world with every shape and every joint: enough to use each kernel, and small enough for a
// millisecond.
static void require_ok(cairn_status status) {
    CAIRN_ASSERT(status == CAIRN_OK);
}

static cairn_body_id create_body(cairn_world *world, uint32_t kind, float x, float y) {
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id body = 0;
    def.kind = kind;
    def.position = vec3(x, y, 0.125f * x);
    def.rotation = (cairn_quat){0.0625f * y, 0.25f, 0.125f * x, 0.9375f};
    def.rotation =
        kind == CAIRN_BODY_STATIC ? (cairn_quat){.w = 1.0f} : quat_normalize(def.rotation);
    def.linear_velocity = kind == CAIRN_BODY_STATIC ? vec3_zero() : vec3(0.5f - x, -y, 0.25f);
    require_ok(cairn_body_create(world, &def, &body));
    return body;
}

static cairn_body_id create_shaped_body(
    cairn_world *world, uint32_t kind, cairn_hull_id hull, float x, float y) {
    const cairn_body_id body = create_body(world, CAIRN_BODY_DYNAMIC, x, y);
    cairn_shape_def def = cairn_shape_def_default();
    cairn_shape_id shape = 0;
    def.kind = kind;
    def.half_extents = vec3(0.5f, 0.25f, 0.375f);
    def.radius = 0.25f;
    def.half_height = 0.375f;
    def.hull = hull;
    def.restitution = 0.25f;
    require_ok(cairn_shape_create(world, body, &def, &shape));
    return body;
}

static cairn_hull_id create_wedge(cairn_world *world) {
    static const cairn_vec3 corners[] = {{-0.5f, -0.25f, -0.25f}, {0.5f, -0.25f, -0.25f},
        {0.5f, -0.25f, 0.25f}, {-0.5f, -0.25f, 0.25f}, {-0.375f, 0.25f, 0.0f},
        {0.25f, 0.375f, 0.0625f}};
    cairn_hull_id hull = 0;
    require_ok(cairn_hull_create(world, corners, sizeof corners / sizeof corners[0], &hull));
    return hull;
}

static void create_joint(cairn_world *world, uint32_t kind, cairn_body_id a, cairn_body_id b) {
    CAIRN_ASSERT(a != b);
    cairn_joint_def def = cairn_joint_def_default();
    cairn_joint_id joint = 0;
    def.kind = kind;
    def.body_a = a;
    def.body_b = b;
    def.anchor_a = vec3(0.5f, 0.0f, 0.0f);
    def.anchor_b = vec3(-0.5f, 0.125f, 0.0f);
    def.length = 0.75f;
    def.cone = 0.5f;
    def.limited = 1;
    def.lower = -0.25f;
    def.upper = 0.5f;
    def.hertz = kind == CAIRN_JOINT_MOTOR ? 4.0f : 0.0f;
    if (kind == CAIRN_JOINT_WHEEL) {
        def.axis_b = vec3(0.0f, 1.0f, 0.0f);
        def.normal_b = vec3(1.0f, 0.0f, 0.0f);
    }
    if (kind == CAIRN_JOINT_PULLEY) {
        def.fixed_a = vec3(-1.0f, 4.0f, 0.0f);
        def.fixed_b = vec3(1.0f, 4.0f, 0.0f);
        def.length = 7.0f;
    }
    def.row.linear_b = vec3(0.0f, 1.0f, 0.0f);
    def.row.upper = 50.0f;
    require_ok(cairn_joint_create(world, &def, &joint));
}

// Two layers of bodies, the upper above the lower; a joint of each kind connects bodies of the
// upper.
static void build_scene(cairn_world *world) {
    static const uint32_t kinds[5] = {CAIRN_SHAPE_BOX, CAIRN_SHAPE_SPHERE, CAIRN_SHAPE_CAPSULE,
        CAIRN_SHAPE_HULL, CAIRN_SHAPE_BOX};
    cairn_body_id upper[5] = {0};
    cairn_shape_def plane = cairn_shape_def_default();
    cairn_shape_id ground = 0;
    plane.kind = CAIRN_SHAPE_HALF_SPACE;
    require_ok(cairn_shape_create(
        world, create_body(world, CAIRN_BODY_STATIC, 0.0f, 0.0f), &plane, &ground));
    const cairn_hull_id hull = create_wedge(world);
    for (uint32_t i = 0; i < 5; ++i) {
        const float x = (float)i - 2.0f;
        (void)create_shaped_body(
            world, kinds[i], kinds[i] == CAIRN_SHAPE_HULL ? hull : 0, x, 0.375f);
        const uint32_t above = kinds[4 - i];
        upper[i] =
            create_shaped_body(world, above, above == CAIRN_SHAPE_HULL ? hull : 0, x, 0.875f);
    }
    for (uint32_t i = 0; i < CAIRN_JOINT_ROW; ++i) {
        create_joint(world, CAIRN_JOINT_BALL + i, upper[i % 4], upper[i % 4 + 1]);
    }
}

cairn_status cairn_passport_scene(cairn_hash128 *out) {
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world = NULL;
    *out = (cairn_hash128){0};
    def.body_capacity = 16;
    def.shape_capacity = 16;
    def.joint_capacity = CAIRN_JOINT_ROW;
    def.hull_capacity = 1;
    def.contact_capacity = 64;
    // If the float mode cannot be set, a step in a wrong mode would fail an assert.
    if (!cairn_float_mode_known() && !cairn_float_mode_ok()) {
        return CAIRN_OK;
    }
    const cairn_status status = cairn_world_create(&def, &world);
    if (status != CAIRN_OK) {
        return status;
    }
    const uint64_t mode = cairn_float_enter();
    build_scene(world);
    cairn_float_leave(mode);
    for (uint32_t i = 0; i < SCENE_TICKS; ++i) {
        cairn_world_step(world, NULL, 0);
    }
    *out = cairn_world_hash_read(world).full;
    CAIRN_ASSERT(cairn_world_tick(world) == SCENE_TICKS);
    cairn_world_destroy(world);
    return CAIRN_OK;
}

cairn_status cairn_passport_read(cairn_passport *out) {
    *out = (cairn_passport){
        .faults = cairn_passport_arithmetic_faults(&cairn_arithmetic_own),
    };
    const cairn_status status = cairn_passport_scene(&out->hash);
    out->faults |= fault_unless(
        cairn_hash_equal(out->hash, cairn_passport_golden_scene), CAIRN_PASSPORT_SCENE);
    return status;
}

typedef struct fault_text {
    const char *name;
    const char *words;
} fault_text;

static const fault_text none = {"none", ""};
static const fault_text unknown = {"unknown", "a check failed that this build does not know"};
static const fault_text texts[CAIRN_PASSPORT_FAULT_COUNT] = {
    {"contraction", "products are fused into sums: build with -ffp-contract=off"},
    {"contraction of turns", "products are fused into sums by turns of sign: gcc, -O3 with FMA"},
    {"flush-to-zero", "subnormal results become zero: a library with fast-math, or ftz set"},
    {"denormals-are-zero", "subnormal operands count as zero: a library with fast-math, or daz "
                           "set"},
    {"rounding", "results are not rounded to nearest: the rounding mode was changed"},
    {"subnormals", "subnormal results are not exact"},
    {"minimum", "minimum or maximum of signed zeros differs: fminf or an instruction is in use"},
    {"square root", "square roots are not correctly rounded: an estimate is in use"},
    {"trigonometry", "sine, cosine or arc tangent differ in some bits"},
    {"scene", "a short test world ends with a different root: another build or simulation version"},
};

static const fault_text *text_of(uint32_t faults) {
    for (uint32_t i = 0; i < CAIRN_PASSPORT_FAULT_COUNT; ++i) {
        if ((faults >> i & 1) != 0) {
            return &texts[i];
        }
    }
    return faults == 0 ? &none : &unknown;
}

const char *cairn_passport_fault_name(uint32_t faults) {
    return text_of(faults)->name;
}

const char *cairn_passport_fault_words(uint32_t faults) {
    return text_of(faults)->words;
}
