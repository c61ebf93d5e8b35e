// SPDX-License-Identifier: MIT

// Drags a body: as long as the pointer is held, the body has the velocity that brings it below the pointer, in the plane of the
// picture. It pushes what it meets, as everything else does.

import * as THREE from 'three';

import type { Stage } from '../scene/stage.js';
import type { Picture } from '../source/source.js';
import type { Vec3 } from './operator.js';

const EVERY_MS = 50;    // between two velocities
const PULL = 8;         // 1/s
const SPEED_MAX = 15;   // m/s

export class Drag {
    private readonly plane = new THREE.Plane();
    private readonly offset = new THREE.Vector3(); // of the place that was taken from the body's position
    private readonly target = new THREE.Vector3();
    private sentAt = 0;

    constructor(private readonly stage: Stage, readonly body: number, point: THREE.Vector3, picture: Picture) {
        this.plane.setFromNormalAndCoplanarPoint(stage.camera.getWorldDirection(new THREE.Vector3()), point);
        const at = positionOf(picture, body);
        this.offset.copy(at === null ? new THREE.Vector3() : point.clone().sub(at));
        this.target.copy(point);
        stage.orbit.enabled = false;
    }

    move(clientX: number, clientY: number): void {
        this.stage.rayAt(clientX, clientY).ray.ray.intersectPlane(this.plane, this.target);
    }

    // Once a frame: the velocity to give the body; null: not yet again, or the body is gone.
    velocity(picture: Picture, now: number): Vec3 | null {
        const at = positionOf(picture, this.body);
        if (at === null || now < this.sentAt + EVERY_MS) {
            return null;
        }
        this.sentAt = now;
        return this.target.clone().sub(at.add(this.offset)).multiplyScalar(PULL).clampLength(0, SPEED_MAX).toArray();
    }

    end(): void { this.stage.orbit.enabled = true; }
}

function positionOf(picture: Picture, body: number): THREE.Vector3 | null {
    const row = picture.id.subarray(0, picture.count).indexOf(body);
    return row < 0 ? null : new THREE.Vector3().fromArray(picture.pose, 7 * row);
}
