// SPDX-License-Identifier: MIT

// Geometries of unit size for the forms of shapes, and the scale that gives a shape its size.

import * as THREE from 'three';
import { ConvexGeometry } from 'three/examples/jsm/geometries/ConvexGeometry.js';

import { ShapeKind } from '../cairn/index.js';
import type { Shape, Surface } from '../source/source.js';

function surfaceGeometry(surface: Surface): THREE.BufferGeometry {
    if (surface.indices === null) {
        const points: THREE.Vector3[] = [];
        for (let i = 0; i < surface.points.length; i += 3) {
            points.push(new THREE.Vector3().fromArray(surface.points, i));
        }
        return new ConvexGeometry(points);
    }
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.BufferAttribute(surface.points, 3));
    geometry.setIndex(new THREE.BufferAttribute(surface.indices, 1));
    const flat = geometry.toNonIndexed();
    flat.computeVertexNormals();
    return flat;
}

export function geometryOf(shape: Shape): THREE.BufferGeometry {
    switch (shape.kind) {
    case ShapeKind.SPHERE: return new THREE.SphereGeometry(1, 20, 14);
    case ShapeKind.BOX: return new THREE.BoxGeometry(2, 2, 2);
    case ShapeKind.CYLINDER: return new THREE.CylinderGeometry(1, 1, 2, 24);
    case ShapeKind.CONE: return new THREE.ConeGeometry(1, 2, 24);
    case ShapeKind.CAPSULE: return new THREE.CapsuleGeometry(1, 2 * shape.halfHeight / shape.radius, 6, 16);
    default: return shape.surface === null ? new THREE.BoxGeometry(1, 1, 1) : surfaceGeometry(shape.surface);
    }
}

export function scaleOf(shape: Shape): [number, number, number] {
    const { radius: r, halfHeight: h } = shape;
    switch (shape.kind) {
    case ShapeKind.BOX: return shape.half;
    case ShapeKind.SPHERE: case ShapeKind.CAPSULE: return [r, r, r];
    case ShapeKind.CYLINDER: case ShapeKind.CONE: return [r, h, r];
    default: return [1, 1, 1];
    }
}
