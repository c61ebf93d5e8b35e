// SPDX-License-Identifier: MIT
#pragma once

// How boxes and hulls choose among their separating axes. Without a hint they take the best face of
// a, unless one of b is clearly better, unless a pair of edges is clearly better than that: faces
// give up to four points, edges one. The hint's axis is kept while it holds, unless a pair of edges
// is clearly better; then they take what they would take without a hint. That choice, as a hint,
// holds. So a hint that comes out, passed in again at the same pose, comes out again.
//
// The separation along a face's normal is that of the other shape's lowest corner, wherever that
// is. Two planks of 4 m that cross lie on each other in an area of some centimetres; if one leans
// by a milliradian, its end is 2 mm below the other one's upper face, but far away from it. A pair
// of edges at the crossing is then better by these 2 mm, and a single point would carry the plank.
// So before a pair of edges is taken, the face whose normal is closest to theirs and the best face
// are tried: one that is hardly deeper than the edges where it overlaps the other shape's face is
// taken instead. (Box3D builds the face's points first, too, and compares with their separation.)

#include "sim/collide/clip.h"
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

// A face is taken instead of a pair of edges if it is deeper by at most this, m, or this fraction
// of the thinnest side, where the two faces overlap, and if the angle between the faces is at most
// 60 degrees. Shapes that overlap by more than half of the thinnest side take the best axis.
#define CAIRN_AXIS_FACE_SLOP 0.005f
#define CAIRN_AXIS_FACE_SLOP_FRACTION 0.2f
#define CAIRN_AXIS_FACE_COSINE 0.5f

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

typedef struct cairn_choice {
    cairn_axis axis; // number 0 if the shapes are apart by more than the margin
    cairn_axis face; // the best face
    bool clearly;    // the axis is clearly better than that face
} cairn_choice;
static inline cairn_choice cairn_axis_choose(
    cairn_axis face, cairn_axis kept, cairn_axis edges, float margin, float absolute) {
    cairn_choice choice = {.axis = {.number = 0}, .face = face};
    if (edges.number != 0 && edges.separation > margin) {
        return choice;
    }
    const float better = cairn_axis_better_from(face.separation, absolute);
    const float threshold = cairn_axis_edge_threshold(face, kept, absolute);
    if (kept.number != 0 && !(edges.number != 0 && edges.separation > threshold)) {
        choice.axis = kept;
    } else {
        choice.axis = edges.number != 0 && edges.separation > better ? edges : face;
    }
    choice.clearly = choice.axis.separation > better;
    return choice;
}

// The faces that are tried in place of the chosen pair of edges, in order: the one of the hint (0:
// it names none), the one along the edges' normal, and the best one. Those that are not tried, or
// have been tried, are 0.
typedef struct cairn_axis_candidates {
    uint32_t faces[3];
} cairn_axis_candidates;
static inline cairn_axis_candidates cairn_axis_candidates_of(
    const cairn_choice *choice, uint32_t hinted, uint32_t along) {
    const uint32_t first = choice->clearly ? hinted : 0;
    const uint32_t second = choice->clearly && along != first ? along : 0;
    const uint32_t best = choice->face.number;
    return (cairn_axis_candidates){
        .faces = {first, second, best != first && best != second ? best : 0}};
}

// Whether a face serves as well as the chosen pair of edges, so that there are several points
// instead of one. `low` are the corners of the incident face where it is over the reference face,
// and `cosine` that of the angle between the two. `hinted`: the hint names this face; it holds
// although the last step may have compared it with an edge pair that was kept and not the best one.
static inline bool cairn_axis_face_serves(const cairn_choice *edges, const cairn_clip_point *low,
    uint32_t count, float cosine, bool hinted, float absolute) {
    const float separation = edges->axis.separation;
    const float thinnest = absolute / CAIRN_AXIS_ABSOLUTE_TOLERANCE;
    const float more = hinted ? 2.0f * cairn_axis_tolerance(separation, absolute) : 0.0f;
    const float slop =
        float_min(CAIRN_AXIS_FACE_SLOP, CAIRN_AXIS_FACE_SLOP_FRACTION * thinnest) + more;
    return count >= 2 && cosine >= CAIRN_AXIS_FACE_COSINE &&
           cairn_clip_lowest(low, count) + slop >= separation;
}
