// SPDX-License-Identifier: MIT

// Renderer, light, ground and camera.

import * as THREE from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';

import type { Picture } from '../source/source.js';
import { BodyMeshes, Hit, shapePose } from './bodies.js';
import { OverlayLines } from './overlays.js';

const GROUND_SIZE = 800;      // m, around what is looked at
const SHADOW_REACH = 34;      // m
const SLOW_FRAME_MS = 34;     // of frames over a second: then shadows and fine pixels go
const RATIO_MIN = 0.4;
const TURN = 0.05;            // rad for a press of an arrow key

export class Stage {
    readonly bodies = new BodyMeshes();
    readonly lines = new OverlayLines();
    readonly besideBodies = new BodyMeshes(); // of a second world, in the right half
    readonly besideLines = new OverlayLines();
    readonly camera = new THREE.PerspectiveCamera(50, 1, 0.05, 2000);
    readonly orbit: OrbitControls;
    drawTime = 0;  // ms, smoothed
    readonly software: boolean;
    private readonly renderer: THREE.WebGLRenderer;
    private readonly scene = new THREE.Scene();
    private readonly sun = new THREE.DirectionalLight(0xfff4e2, 2.1);
    private readonly sky = new THREE.HemisphereLight(0xffffff, 0x8a8070, 1.5);
    private grounds: THREE.Mesh[] = [];
    private groundMaterial: THREE.MeshLambertMaterial | THREE.MeshBasicMaterial = new THREE.MeshLambertMaterial();
    private lineMaterial: THREE.LineBasicMaterial | null = null; // of the ground, where it has no texture
    private slowFrames = 0;
    private fine: boolean;

    constructor(readonly canvas: HTMLCanvasElement) {
        this.software = drawsInSoftware();
        this.fine = !this.software || /[#&]fine/.test(location.hash);
        // Opaque: what lies below it needs not be mixed in.
        const context = canvas.getContext('webgl2', { alpha: false, antialias: this.fine, powerPreference: 'high-performance' })!;
        this.renderer = new THREE.WebGLRenderer({ canvas, context });
        if (!this.fine) { // each pixel costs: no curve from light to colour, no texture, no fog
            THREE.ColorManagement.enabled = false;
            this.renderer.outputColorSpace = THREE.LinearSRGBColorSpace;
            this.groundMaterial = new THREE.MeshBasicMaterial({ polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
            this.lineMaterial = new THREE.LineBasicMaterial();
        }
        this.renderer.shadowMap.enabled = true;
        this.renderer.shadowMap.type = THREE.PCFShadowMap;
        this.orbit = new OrbitControls(this.camera, canvas);
        this.orbit.enableDamping = true;
        this.orbit.dampingFactor = 0.12;
        this.orbit.maxPolarAngle = 0.495 * Math.PI;
        this.orbit.minDistance = 0.5;
        this.orbit.maxDistance = 400;
        this.sun.castShadow = this.fine;
        this.sun.shadow.mapSize.setScalar(this.software ? 1024 : 2048);
        this.sun.shadow.bias = -0.0004;
        this.sun.shadow.normalBias = 0.03;
        const { camera } = this.sun.shadow;
        [camera.left, camera.right, camera.top, camera.bottom] = [-SHADOW_REACH, SHADOW_REACH, SHADOW_REACH, -SHADOW_REACH];
        camera.far = 160;
        this.scene.add(this.sun, this.sun.target, this.sky, this.bodies.root, this.lines.root, this.besideBodies.root, this.besideLines.root);
        this.camera.position.set(14, 9, 18);
        const dark = matchMedia('(prefers-color-scheme: dark)');
        dark.addEventListener('change', () => this.dress());
        this.dress();
        addEventListener('resize', () => this.resize());
        this.resize();
    }

    // Looks at all bodies that may move.
    frame(picture: Picture): void {
        const points: THREE.Vector3[] = [new THREE.Vector3()];
        for (let i = 0; i < picture.count; ++i) {
            const point = new THREE.Vector3().fromArray(picture.pose, 7 * i);
            if (picture.kind[i] !== 0 && point.length() < 200) {
                points.push(point);
            }
        }
        const ball = new THREE.Sphere().setFromPoints(points.length > 1 ? points.slice(1) : points);
        const { width, height } = this.free(), free = Math.min(width, height) / document.documentElement.clientHeight;
        const distance = (Math.max(ball.radius, 2) + 0.6) / (Math.tan(Math.PI * this.camera.fov / 360) * free);
        this.orbit.target.copy(ball.center);
        this.camera.position.copy(ball.center).add(new THREE.Vector3(0.4, 0.42, 0.8).normalize().multiplyScalar(0.92 * distance));
        this.orbit.update();
    }

    follow(x: number, y: number, z: number): void {
        const target = this.orbit.target, dx = x - target.x, dy = y - target.y, dz = z - target.z;
        target.set(x, y, z);
        this.camera.position.x += dx;
        this.camera.position.y += dy;
        this.camera.position.z += dz;
    }

    turn(horizontal: number, vertical: number): void {
        const way = this.camera.position.clone().sub(this.orbit.target), ball = new THREE.Spherical().setFromVector3(way);
        ball.theta += horizontal;
        ball.phi = Math.min(Math.max(ball.phi + vertical, 0.05), this.orbit.maxPolarAngle);
        this.camera.position.copy(this.orbit.target).add(way.setFromSpherical(ball));
    }

    get distance(): number { return this.camera.position.distanceTo(this.orbit.target); }

    zoom(factor: number): void {
        this.camera.position.sub(this.orbit.target).multiplyScalar(factor).add(this.orbit.target);
    }

    // True: the key was one of the camera's.
    key(name: string): boolean {
        const turns: Record<string, [number, number]> = { ArrowLeft: [-TURN, 0], ArrowRight: [TURN, 0], ArrowUp: [0, -TURN], ArrowDown: [0, TURN] };
        if (name in turns) {
            this.turn(...turns[name]);
        } else if (name === '+' || name === '=') {
            this.zoom(0.9);
        } else if (name === '-') {
            this.zoom(1.1);
        }
        return name in turns || '+=-'.includes(name);
    }

    // The body at a place of the page.
    pick(clientX: number, clientY: number): Hit | null {
        const { ray, second } = this.rayAt(clientX, clientY);
        return (second ? this.besideBodies : this.bodies).pick(ray);
    }

    // The body in the middle of what the panel leaves free.
    pickMiddle(): Hit | null {
        const { left, top } = this.canvas.getBoundingClientRect(), { width, height } = this.free();
        return this.pick(left + width / 2, top + height / 2);
    }

    // `second`: in the right half.
    rayAt(clientX: number, clientY: number): { ray: THREE.Raycaster; second: boolean } {
        const { left, top, width: whole, height: high } = this.canvas.getBoundingClientRect(), { width, height } = this.free();
        const ray = new THREE.Raycaster(), at = new THREE.Vector2(2 * (clientX - left) / whole - 1, 1 - 2 * (clientY - top) / high);
        const second = this.split && clientX - left > width;
        if (this.split) {
            at.set(2 * (clientX - left - (second ? width : 0)) / width - 1, 1 - 2 * (clientY - top) / height);
        }
        ray.setFromCamera(at, this.camera);
        return { ray, second };
    }

    // True: two worlds.
    divide(split: boolean): void {
        this.split = split;
        this.aim();
    }

    // One world, or two in the halves of what the panel leaves free.
    draw(picture: Picture, beside: Picture | null): void {
        const begin = performance.now();
        this.orbit.update();
        this.sun.target.position.copy(this.orbit.target);
        this.sun.position.copy(this.orbit.target).add(new THREE.Vector3(28, 60, 20));
        if (beside === null) {
            this.render(picture, this.bodies);
        } else {
            this.renderer.clear();
            this.renderer.setScissorTest(true);
            this.render(picture, this.bodies, 0);
            this.render(beside, this.besideBodies, 1);
            this.renderer.setScissorTest(false);
        }
        this.drawTime += 0.1 * (performance.now() - begin - this.drawTime);
    }

    private render(picture: Picture, bodies: BodyMeshes, half = -1): void {
        const { clientWidth, clientHeight } = document.documentElement, { width, height } = this.free();
        for (const [each, lines] of [[this.bodies, this.lines], [this.besideBodies, this.besideLines]] as const) {
            each.root.visible = each === bodies;
            lines.root.visible = each === bodies && lines.count > 0;
        }
        if (half < 0) {
            this.renderer.setViewport(0, 0, clientWidth, clientHeight);
        } else {
            this.renderer.setViewport(half * width, clientHeight - height, width, height);
            this.renderer.setScissor(half * width, clientHeight - height, width - 1, height);
        }
        this.placeGrounds(picture, bodies.planes);
        this.renderer.render(this.scene, this.camera);
    }

    // Pixels that the panel leaves to each world.
    private free(): { width: number; height: number } {
        const { clientWidth, clientHeight } = document.documentElement;
        return { width: (clientWidth - this.right) / (this.split ? 2 : 1), height: clientHeight - this.bottom };
    }
    private split = false;

    // A machine that cannot draw everything in time draws without shadows, and then coarser.
    pace(frameMs: number): void {
        this.slowFrames = frameMs > SLOW_FRAME_MS ? this.slowFrames + 1 : Math.max(0, this.slowFrames - 2);
        if (this.slowFrames <= (this.software ? 6 : 20) || /[#&]fine/.test(location.hash)) {
            return;
        }
        this.slowFrames = 0;
        if (this.fine) {
            this.fine = false;
            this.sun.castShadow = false;
            this.resize();
        } else if (this.ratio > RATIO_MIN) {
            this.ratio = Math.max(RATIO_MIN, 0.8 * this.ratio);
            this.resize();
        }
    }
    private ratio = 0.7; // pixels of the picture for one of the page, if it is not fine

    get triangles(): number { return this.renderer.info.render.triangles; }
    get drawCalls(): number { return this.renderer.info.render.calls; }
    get shadows(): boolean { return this.sun.castShadow; }

    // The picture's centre is that of what the panel leaves free: pixels at the right and at the bottom.
    leaveRoom(right: number, bottom: number): void {
        [this.right, this.bottom] = [right, bottom];
        this.aim();
    }

    private aim(): void {
        const { clientWidth, clientHeight } = document.documentElement, { width, height } = this.free();
        this.camera.aspect = this.split ? width / height : clientWidth / clientHeight;
        if (this.split) {
            this.camera.clearViewOffset();
        } else {
            this.camera.setViewOffset(clientWidth, clientHeight, 0.5 * this.right, 0.5 * this.bottom, clientWidth, clientHeight);
        }
        this.camera.updateProjectionMatrix();
    }
    private right = 0;
    private bottom = 0;

    private resize(): void {
        const { clientWidth, clientHeight } = document.documentElement;
        this.renderer.setPixelRatio(this.fine ? Math.min(devicePixelRatio, 2) : this.ratio);
        this.renderer.setSize(clientWidth, clientHeight, false);
        this.aim();
    }

    // The colours of the page's theme.
    private dress(): void {
        const style = getComputedStyle(document.documentElement);
        const colour = (name: string) => style.getPropertyValue(name).trim();
        const sky = new THREE.Color(colour('--sky'));
        this.scene.background = sky;
        this.renderer.setClearColor(sky);
        this.scene.fog = this.lineMaterial !== null ? null : new THREE.Fog(sky, 60, 320);
        this.groundMaterial.map?.dispose();
        this.groundMaterial.needsUpdate = true;
        const dark = sky.getHSL({ h: 0, s: 0, l: 0 }).l < 0.5;
        if (this.lineMaterial !== null) {
            this.groundMaterial.color.set(colour('--ground'));
            this.lineMaterial.color.set(colour('--line'));
            [this.sky.intensity, this.sun.intensity] = dark ? [1.6, 1.6] : [2.3, 1.5];
            return;
        }
        this.groundMaterial.map = gridTexture(colour('--ground'), colour('--line'), this.software ? 1 : this.renderer.capabilities.getMaxAnisotropy());
        [this.sky.intensity, this.sun.intensity] = dark ? [0.9, 1.9] : [1.5, 2.1];
    }

    private placeGrounds(picture: Picture, planes: BodyMeshes['planes']): void {
        while (this.grounds.length < planes.length) {
            const ground = new THREE.Mesh(new THREE.PlaneGeometry(GROUND_SIZE, GROUND_SIZE).rotateX(-0.5 * Math.PI), this.groundMaterial);
            ground.receiveShadow = true;
            if (this.lineMaterial !== null) {
                ground.add(new THREE.LineSegments(gridLines(), this.lineMaterial));
            }
            this.grounds.push(ground);
            this.scene.add(ground);
        }
        const pose = new Float32Array(7), back = new THREE.Quaternion(), near = new THREE.Vector3();
        this.grounds.forEach((ground, i) => {
            ground.visible = i < planes.length && planes[i].row >= 0;
            if (!ground.visible) {
                return;
            }
            shapePose(pose, picture.pose, 7 * planes[i].row, planes[i].shape);
            ground.position.fromArray(pose);
            ground.quaternion.fromArray(pose, 3);
            // Moved in its plane by whole squares, so that it has no end.
            near.copy(this.orbit.target).sub(ground.position).applyQuaternion(back.copy(ground.quaternion).invert());
            near.set(Math.round(near.x / 10) * 10, 0, Math.round(near.z / 10) * 10).applyQuaternion(ground.quaternion);
            ground.position.add(near);
        });
    }
}

// Asked of a canvas of its own, because smooth edges are chosen when a context is made.
function drawsInSoftware(): boolean {
    const gl = document.createElement('canvas').getContext('webgl2');
    const extension = gl?.getExtension('WEBGL_debug_renderer_info');
    const name = extension ? String(gl!.getParameter(extension.UNMASKED_RENDERER_WEBGL)) : '';
    gl?.getExtension('WEBGL_lose_context')?.loseContext();
    return /swiftshader|llvmpipe|software/i.test(name);
}

// Ten metres of ground: a line for each metre, a stronger one for ten.
function gridTexture(ground: string, line: string, anisotropy: number): THREE.CanvasTexture {
    const size = 1024, canvas = document.createElement('canvas');
    canvas.width = canvas.height = size;
    const context = canvas.getContext('2d')!;
    context.fillStyle = ground;
    context.fillRect(0, 0, size, size);
    context.strokeStyle = line;
    for (let i = 0; i <= 10; ++i) {
        context.lineWidth = i % 10 === 0 ? 8 : 2;
        context.globalAlpha = i % 10 === 0 ? 1 : 0.7;
        context.beginPath();
        context.moveTo(i * size / 10, 0);
        context.lineTo(i * size / 10, size);
        context.moveTo(0, i * size / 10);
        context.lineTo(size, i * size / 10);
        context.stroke();
    }
    const texture = new THREE.CanvasTexture(canvas);
    texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
    texture.repeat.set(GROUND_SIZE / 10, GROUND_SIZE / 10);
    texture.anisotropy = Math.min(anisotropy, 8);
    texture.colorSpace = THREE.SRGBColorSpace;
    return texture;
}

// A line for each five metres, around what is looked at.
function gridLines(): THREE.BufferGeometry {
    const points: number[] = [], reach = 150;
    for (let i = -reach; i <= reach; i += 5) {
        points.push(i, 0, -reach, i, 0, reach, -reach, 0, i, reach, 0, i);
    }
    return new THREE.BufferGeometry().setAttribute('position', new THREE.Float32BufferAttribute(points, 3));
}
