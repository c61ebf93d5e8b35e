// SPDX-License-Identifier: MIT

// All bodies as instanced meshes: one draw call for each form of shape.

import * as THREE from 'three';

import { ShapeKind } from '../cairn/index.js';
import type { Picture, Shape, ShapeTable } from '../source/source.js';
import { colourOf, Marking } from './colours.js';
import { geometryOf, scaleOf } from './geometry.js';

// The shapes of one form.
interface Group {
    mesh: THREE.InstancedMesh;
    shapes: Shape[];
    scales: Float32Array;
    rows: Int32Array; // of the shape's body in the picture; -1: not there
}

export interface Hit { body: number; point: THREE.Vector3 }

export class BodyMeshes {
    readonly root = new THREE.Group();
    planes: { shape: Shape; row: number }[] = [];
    private groups: Group[] = [];
    private geometries = new Map<string, THREE.BufferGeometry>();
    private readonly material = new THREE.MeshLambertMaterial();
    private readonly ghost = new THREE.MeshLambertMaterial({ transparent: true, opacity: 0.25, depthWrite: false });
    private shown: ShapeTable | null = null;
    private revision = 0;
    private ids = new Uint32Array(0);

    update(picture: Picture, table: ShapeTable, marking: Marking): void {
        const other = table !== this.shown || table.revision !== this.revision;
        if (other) {
            this.build(table);
        }
        const moved = picture.count !== this.ids.length || !same(this.ids, picture.id);
        if (other || moved) {
            this.ids = picture.id.slice(0, picture.count);
            this.assignRows();
        }
        for (const group of this.groups) {
            placeGroup(group, picture, marking);
        }
    }

    // The body under a ray; 0: none.
    pick(ray: THREE.Raycaster): Hit | null {
        let best: (Hit & { distance: number }) | null = null;
        for (const { mesh, shapes } of this.groups) {
            mesh.boundingSphere = null;
            const hit = ray.intersectObject(mesh, false)[0];
            if (hit !== undefined && hit.instanceId !== undefined && (best === null || hit.distance < best.distance)) {
                best = { body: shapes[hit.instanceId].body, point: hit.point, distance: hit.distance };
            }
        }
        return best;
    }

    get drawCalls(): number { return this.groups.length; }

    private build(table: ShapeTable): void {
        const same_table = table === this.shown;
        this.shown = table;
        this.revision = table.revision;
        for (const group of this.groups) {
            this.root.remove(group.mesh);
            group.mesh.dispose();
        }
        if (!same_table) {
            this.geometries.forEach((geometry) => geometry.dispose());
            this.geometries.clear();
        }
        const forms = new Map<string, Shape[]>();
        this.planes = [];
        for (const shape of table.list) {
            if (shape.kind === ShapeKind.HALF_SPACE) {
                this.planes.push({ shape, row: -1 });
                continue;
            }
            const form = shape.form + (shape.sensor ? ' sensor' : '');
            const shapes = forms.get(form);
            if (shapes === undefined) {
                forms.set(form, [shape]);
            } else {
                shapes.push(shape);
            }
        }
        this.groups = [...forms].map(([form, shapes]) => this.group(form, shapes));
    }

    private group(form: string, shapes: Shape[]): Group {
        let geometry = this.geometries.get(form);
        if (geometry === undefined) {
            geometry = geometryOf(shapes[0]);
            this.geometries.set(form, geometry);
        }
        const mesh = new THREE.InstancedMesh(geometry, shapes[0].sensor ? this.ghost : this.material, shapes.length);
        mesh.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(3 * shapes.length), 3);
        mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
        mesh.frustumCulled = false;
        mesh.castShadow = !shapes[0].sensor;
        mesh.receiveShadow = true;
        this.root.add(mesh);
        const scales = new Float32Array(3 * shapes.length);
        shapes.forEach((shape, i) => scales.set(scaleOf(shape), 3 * i));
        return { mesh, shapes, scales, rows: new Int32Array(shapes.length) };
    }

    private assignRows(): void {
        const rowOf = new Map<number, number>();
        this.ids.forEach((id, row) => rowOf.set(id, row));
        for (const { shapes, rows } of this.groups) {
            shapes.forEach((shape, i) => { rows[i] = rowOf.get(shape.body) ?? -1; });
        }
        for (const plane of this.planes) {
            plane.row = rowOf.get(plane.shape.body) ?? -1;
        }
    }
}

function same(a: Uint32Array, b: Uint32Array): boolean {
    for (let i = 0; i < a.length; ++i) {
        if (a[i] !== b[i]) {
            return false;
        }
    }
    return true;
}

const colour = new THREE.Color();
const pose = new Float32Array(7);

function placeGroup(group: Group, picture: Picture, marking: Marking): void {
    const matrices = group.mesh.instanceMatrix.array as Float32Array;
    const colours = group.mesh.instanceColor!.array as Float32Array;
    for (let i = 0; i < group.shapes.length; ++i) {
        const row = group.rows[i];
        if (row < 0 || picture.hidden[row] !== 0) {
            matrices.fill(0, 16 * i, 16 * i + 16); // nothing is drawn
            continue;
        }
        shapePose(pose, picture.pose, 7 * row, group.shapes[i]);
        writeMatrix(matrices, 16 * i, pose, group.scales, 3 * i);
        colour.setHex(colourOf(picture, row, marking)).toArray(colours, 3 * i);
    }
    group.mesh.instanceMatrix.needsUpdate = true;
    group.mesh.instanceColor!.needsUpdate = true;
}

// out = the body's pose at poses[at ..] * the shape's pose in the body.
export function shapePose(out: Float32Array, poses: Float32Array, at: number, shape: Shape): void {
    const [px, py, pz] = shape.position, [bx, by, bz, bw] = shape.rotation;
    const ax = poses[at + 3], ay = poses[at + 4], az = poses[at + 5], aw = poses[at + 6];
    // a rotates p: p + 2 w (v x p) + 2 v x (v x p)
    const tx = 2 * (ay * pz - az * py), ty = 2 * (az * px - ax * pz), tz = 2 * (ax * py - ay * px);
    out[0] = poses[at] + px + aw * tx + ay * tz - az * ty;
    out[1] = poses[at + 1] + py + aw * ty + az * tx - ax * tz;
    out[2] = poses[at + 2] + pz + aw * tz + ax * ty - ay * tx;
    out[3] = aw * bx + ax * bw + ay * bz - az * by;
    out[4] = aw * by - ax * bz + ay * bw + az * bx;
    out[5] = aw * bz + ax * by - ay * bx + az * bw;
    out[6] = aw * bw - ax * bx - ay * by - az * bz;
}

// Column by column, as WebGL has it.
function writeMatrix(out: Float32Array, at: number, from: Float32Array, scales: Float32Array, scaleAt: number): void {
    const x = from[3], y = from[4], z = from[5], w = from[6];
    const sx = scales[scaleAt], sy = scales[scaleAt + 1], sz = scales[scaleAt + 2];
    out[at] = (1 - 2 * (y * y + z * z)) * sx;
    out[at + 1] = 2 * (x * y + w * z) * sx;
    out[at + 2] = 2 * (x * z - w * y) * sx;
    out[at + 3] = 0;
    out[at + 4] = 2 * (x * y - w * z) * sy;
    out[at + 5] = (1 - 2 * (x * x + z * z)) * sy;
    out[at + 6] = 2 * (y * z + w * x) * sy;
    out[at + 7] = 0;
    out[at + 8] = 2 * (x * z + w * y) * sz;
    out[at + 9] = 2 * (y * z - w * x) * sz;
    out[at + 10] = (1 - 2 * (x * x + y * y)) * sz;
    out[at + 11] = 0;
    out[at + 12] = from[0];
    out[at + 13] = from[1];
    out[at + 14] = from[2];
    out[at + 15] = 1;
}
