// SPDX-License-Identifier: MIT
#pragma once

// A picture of a world for its developers: shapes, boxes, contacts, joints, islands and sleep, as
// lines and triangles in the world's coordinates. Two forms of the same picture: callbacks, as the
// debug drawing of Box3D and Jolt has, and arrays, for hosts in other languages.
//
// The picture reads the world and changes nothing. It is not made for speed: of a large world ask
// for the parts that are looked at. The order is the same on every machine. Contacts and islands
// take memory during the call; without memory they are left out.

#include <cairn/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

// What is drawn; a bit set.
typedef enum cairn_debug_part {
    CAIRN_DEBUG_SHAPES = 1u << 0,   // outlines of shapes
    CAIRN_DEBUG_SURFACES = 1u << 1, // surfaces of shapes, as triangles
    CAIRN_DEBUG_BOXES = 1u << 2,    // the box around each shape
    // Of each contact point a cross, and a line along the normal: 1 cm for each newton of the
    // contact, at least 5 cm and at most 1 m.
    CAIRN_DEBUG_CONTACTS = 1u << 3,
    CAIRN_DEBUG_JOINTS = 1u << 4, // from each body's centre of mass to its anchor, and the axes
    CAIRN_DEBUG_FRAMES = 1u << 5, // the axes of each body at its centre of mass: x red, y green
    // Colours shapes by island instead of by state: awake bodies that touch or are joined, directly
    // or by others, have one colour.
    CAIRN_DEBUG_ISLANDS = 1u << 6,
    // What each joint does to its body b, from the anchor there: a line along the force, 1 cm for
    // each newton as of contacts, and one along the torque, 1 cm for each newton metre.
    CAIRN_DEBUG_REACTIONS = 1u << 7,
    CAIRN_DEBUG_ALL = (1u << 8) - 1
} cairn_debug_part;

// Colours are 0xRRGGBB. Shapes without CAIRN_DEBUG_ISLANDS:
#define CAIRN_DEBUG_COLOUR_STATIC 0x7f8f9fu
#define CAIRN_DEBUG_COLOUR_KINEMATIC 0x3f7fffu
#define CAIRN_DEBUG_COLOUR_AWAKE 0xffaf3fu
#define CAIRN_DEBUG_COLOUR_ASLEEP 0x5f6f3fu
#define CAIRN_DEBUG_COLOUR_DISABLED 0x3f3f3fu
#define CAIRN_DEBUG_COLOUR_SENSOR 0x3fff7fu
// And what is drawn besides.
#define CAIRN_DEBUG_COLOUR_BOX 0xbf3fbfu
#define CAIRN_DEBUG_COLOUR_CONTACT 0xff3f3fu
#define CAIRN_DEBUG_COLOUR_JOINT 0x3fbfffu
#define CAIRN_DEBUG_COLOUR_FORCE 0xff3f9fu
#define CAIRN_DEBUG_COLOUR_TORQUE 0x9f5fffu

typedef struct cairn_debug_line {
    cairn_vec3 from; // m, world
    cairn_vec3 to;
    uint32_t colour;
    cairn_body_id body; // that it belongs to; of a contact and a joint: body a
} cairn_debug_line;

typedef struct cairn_debug_triangle {
    cairn_vec3 corners[3]; // m, world; counter-clockwise seen from outside
    uint32_t colour;
    cairn_body_id body;
} cairn_debug_triangle;

typedef struct cairn_debug_draw {
    uint32_t parts; // cairn_debug_part
    void *context;
    // Called for each line and triangle, with a pointer that is valid during the call; either may
    // be NULL. They must not change the world.
    void (*line)(void *context, const cairn_debug_line *line);
    void (*triangle)(void *context, const cairn_debug_triangle *triangle);
} cairn_debug_draw;

// Calls the functions of `draw` for all that its parts have.
void cairn_world_debug_draw(const cairn_world *world, const cairn_debug_draw *draw);

// The same as arrays: write at most `capacity` lines or triangles, and return how many there are.
uint32_t cairn_world_debug_lines(
    const cairn_world *world, uint32_t parts, cairn_debug_line *out, uint32_t capacity);
uint32_t cairn_world_debug_triangles(
    const cairn_world *world, uint32_t parts, cairn_debug_triangle *out, uint32_t capacity);

#ifdef __cplusplus
}
#endif
