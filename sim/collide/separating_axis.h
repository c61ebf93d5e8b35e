// SPDX-License-Identifier: MIT
#pragma once

// How boxes and hulls choose among their separating axes. Without a hint they take the best face of
// a, unless one of b is clearly better, unless a pair of edges is clearly better than that: faces
// give up to four points, edges one. The hint's axis is kept while it holds, unless a pair of edges
// is clearly better; then they take what they would take without a hint. That choice, as a hint,
// holds. So a hint that comes out, passed in again at the same pose, comes out again.

#include "sim/math/vec.h"

// Edges closer to parallel than this squared sine (half a degree) have no usable cross product; the
// axes of the faces separate as well as theirs would.
#define CAIRN_AXIS_PARALLEL_SINE_SQUARED 1e-4f
// A new axis must be better by this fraction of the old separation plus this fraction of the
// thinnest side (Catto 2006), so that noise does not change features and lose impulses.
#define CAIRN_AXIS_RELATIVE_TOLERANCE 0.05f
#define CAIRN_AXIS_ABSOLUTE_TOLERANCE 0.01f
// The hint's pair of edges is kept while it is better than the best face by this fraction of that.
#define CAIRN_AXIS_EDGE_HYSTERESIS 0.25f
// Incident corners this far outside the reference face, as a fraction of its thinnest side, are not
// clipped: boxes of one size stacked squarely keep the identity of their corners when they sway.
#define CAIRN_CLIP_TOLERANCE 0.01f
// No tolerance is larger than this, m.
#define CAIRN_AXIS_TOLERANCE_MAX 0.0025f

// The separation along an axis that is not usable.
#define CAIRN_NO_SEPARATION (-3e38f)

typedef struct cairn_axis {
    uint32_t number; // as the hint stores it; 0: none
    float separation;
} cairn_axis;

// Axes whose separations differ by less than this count as equal. `absolute` is the pair's absolute
// tolerance, m.
static inline float cairn_axis_tolerance(float separation, float absolute) {
    return CAIRN_AXIS_RELATIVE_TOLERANCE * float_abs(separation) + absolute;
}

// The separation from which on another axis is clearly better than one with this separation.
static inline float cairn_axis_better_from(float separation, float absolute) {
    return separation + cairn_axis_tolerance(separation, absolute);
}

static inline cairn_axis cairn_axis_best_face(
    cairn_axis face_a, cairn_axis face_b, float absolute) {
    const bool clearly_b = face_b.separation > cairn_axis_better_from(face_a.separation, absolute);
    return clearly_b ? face_b : face_a;
}

// Whether the face that the hint names, with this separation, still holds.
static inline bool cairn_axis_face_holds(float separation, cairn_axis best_face, float absolute) {
    return !(best_face.separation > cairn_axis_better_from(separation, absolute));
}

// Whether the pair of edges that the hint names still holds.
static inline bool cairn_axis_edges_hold(float separation, cairn_axis best_face, float absolute) {
    const float tolerance = cairn_axis_tolerance(best_face.separation, absolute);
    return separation > best_face.separation + CAIRN_AXIS_EDGE_HYSTERESIS * tolerance;
}

// The separation above which a pair of edges is taken. `kept` is the hint's axis, if it holds.
static inline float cairn_axis_edge_threshold(cairn_axis face, cairn_axis kept, float absolute) {
    const float separation = kept.number != 0 ? kept.separation : face.separation;
    return cairn_axis_better_from(separation, absolute);
}

// The final choice; number 0 if the shapes are apart by more than the margin.
static inline cairn_axis cairn_axis_choose(
    cairn_axis face, cairn_axis kept, cairn_axis edges, float margin, float absolute) {
    if (edges.number != 0 && edges.separation > margin) {
        return (cairn_axis){.number = 0};
    }
    const float threshold = cairn_axis_edge_threshold(face, kept, absolute);
    if (kept.number != 0 && !(edges.number != 0 && edges.separation > threshold)) {
        return kept;
    }
    const float better = cairn_axis_better_from(face.separation, absolute);
    return edges.number != 0 && edges.separation > better ? edges : face;
}
