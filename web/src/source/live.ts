// SPDX-License-Identifier: MIT

// A room of a server: this page is a client of it, and in the modes that simulate a peer with the
// same bits.

import { BodyKind, Cairn, Client, ClientBodies, ClientMode, ClientRollbackCause, ClientState, ClientStatistics, MeshKind, ShapeKind,
    World } from '../cairn/index.js';
import type { PlayerInput } from '../live/controls.js';
import { Interest } from '../live/interest.js';
import { Operator } from '../live/operator.js';
import { DatagramSocket } from '../live/socket.js';
import { Fact, Picture, Shape, ShapeTable, SLOT_NONE, Source, Surface } from './source.js';
import { fieldSurface, formOf, ShownHash } from './world_picture.js';

export type LiveMode = keyof typeof ClientMode;
export interface LiveOptions { mode: LiveMode; spectator: boolean; room: string; token: Uint8Array; socket: string }

// A page in a hidden tab is not drawn, and its timers are slow: the client must go on.
const ADVANCE_MS = 8;

export class LiveRoom implements Source {
    readonly title: string;
    readonly label = '';
    readonly beside = null;
    readonly picture = new Picture();
    readonly playback = null;
    readonly shapes: ClientShapes;
    readonly client: Client;
    player = 0;
    stepTime = 0;
    input: ((seconds: number) => PlayerInput) | null = null;
    readonly operator: Operator;
    readonly interest: Interest;
    closed = ''; // why this room is over
    readonly joinedAfter = { ms: 0 };
    readonly socket: DatagramSocket;
    private readonly timer: number;
    private readonly begin = performance.now();
    private own: World | null = null;
    private inputAt = performance.now();
    private readonly shownHash = new ShownHash();

    constructor(cairn: Cairn, readonly options: LiveOptions) {
        const { mode, spectator, room, token } = options;
        this.title = room === '' ? 'first room' : room;
        this.client = cairn.createClient({ mode, spectator, room });
        this.shapes = new ClientShapes(this.client);
        this.operator = new Operator(this.client);
        this.interest = new Interest(this.client);
        this.socket = new DatagramSocket(options.socket);
        this.socket.onDatagram = (bytes) => {
            const from = this.client.serverAddress;
            if (from !== null) {
                this.client.receive(nanoseconds(), from, bytes);
            }
        };
        if (!this.client.connect(nanoseconds(), token)) {
            this.closed = this.client.failure;
        }
        this.timer = window.setInterval(() => this.pump(), ADVANCE_MS);
    }

    get hash(): string { return this.shownHash.text; }
    get hashes(): readonly { tick: number; hash: string }[] { return this.shownHash.last; }

    world(): World | null {
        const { memory, address } = this.client;
        const now = memory.functions.cairn_client_world(address);
        if (now === 0 || this.own?.address !== now) {
            this.own?.release();
            this.own = now === 0 ? null : new World(memory, now);
        }
        return this.own;
    }

    advance(): void {
        this.pump();
        const shown = this.client.sample(nanoseconds());
        if (shown === null) {
            return;
        }
        if (this.joinedAfter.ms === 0) {
            this.joinedAfter.ms = performance.now() - this.begin;
        }
        copyBodies(shown.bodies, this.picture);
        this.picture.tick = shown.sample.tick;
        const own = this.world();
        this.shapes.update(own);
        if (own !== null) {
            this.shownHash.update(own, false);
        }
        for (let i = 0; i < this.picture.count; ++i) {
            this.picture.kind[i] = this.shapes.kindOf(this.picture.id[i]);
        }
        this.findPlayer();
        this.interest.update(this.picture, performance.now());
    }

    statistics(): ClientStatistics { return this.client.statistics(); }

    rollbacks(): { cause: string; count: number }[] {
        const { functions, text } = { functions: this.client.memory.functions, text: (at: number) => this.client.memory.text(at) };
        return Array.from({ length: ClientRollbackCause.CAUSE_COUNT }, (_, cause) => ({
            cause: text(functions.cairn_client_rollback_cause_text(cause)),
            count: Number(functions.cairn_client_rollback_count(this.client.address, cause)) })).filter((each) => each.count > 0);
    }

    get stateText(): string {
        if (this.client.state === ClientState.FAILED) {
            return this.client.failure;
        }
        const lost = this.interrupted ? '; the connection is opened again' : '';
        return this.closed !== '' ? this.closed
            : ['idle', 'connecting', 'joining', 'playing', 'left', 'failed'][this.client.state] + lost;
    }
    get predicts(): boolean { return this.client.mode === ClientMode.PREDICT; }
    get interrupted(): boolean { return !this.failed && !this.socket.open && this.socket.lost > 0; }
    get failed(): boolean { return this.client.state === ClientState.FAILED || this.closed !== ''; }

    facts(): Fact[] {
        const { connection, simulation, snapshots, resync } = this.statistics();
        const facts: Fact[] = [{ name: 'state', value: this.stateText, state: this.failed ? 'bad' : undefined },
            { name: 'mode', value: Object.keys(ClientMode)[this.client.mode]?.toLowerCase() ?? '' },
            { name: 'player', value: connection.slot === SLOT_NONE ? 'spectator' : String(connection.slot) },
            { name: 'bodies', value: String(this.picture.count) }];
        if (this.client.modeText !== '') {
            facts.push({ name: 'why', value: this.client.modeText, state: 'bad' });
        }
        if (this.client.mode === ClientMode.INTERPOLATE) {
            facts.push({ name: 'snapshots', value: String(snapshots.received) },
                { name: 'delay', value: `${(Number(snapshots.interpolation_delay_ns) / 1e6).toFixed(0)} ms` },
                { name: 'sent', value: this.interest.partial ? `${this.interest.fresh} of ${this.picture.count} in view` : 'the whole room' });
        } else {
            facts.push({ name: 'hashes compared', value: String(simulation.roots_compared), state: 'good' },
                { name: 'hashes that differed', value: String(simulation.roots_differed), state: simulation.roots_differed > 0n ? 'bad' : 'good' },
                { name: 'healed', value: String(resync.count) });
        }
        return facts;
    }

    dispose(): void {
        clearInterval(this.timer);
        this.client.disconnect(nanoseconds());
        this.flush();
        this.socket.close();
        this.own?.release();
        this.client.destroy();
    }

    // Everything that is due: the body of a driver.
    private pump(): void {
        const now = performance.now();
        this.client.advance(nanoseconds());
        if (this.client.state === ClientState.FAILED && this.closed === '') {
            this.closed = this.client.failure;
            this.socket.close();
        }
        const passed = performance.now() - now;
        this.stepTime = passed > 0.05 ? passed : this.stepTime;
        this.client.events();
        this.client.gameMessages();
        this.operator.pump(now);
        if (this.input !== null && this.client.playing) {
            this.client.pushInput(this.input((now - this.inputAt) / 1000));
            this.inputAt = now;
        }
        this.flush();
    }

    private flush(): void {
        for (const bytes of this.client.send(nanoseconds())) {
            this.socket.send(bytes);
        }
    }

    private findPlayer(): void {
        const { slot } = this.statistics().connection;
        const row = slot === SLOT_NONE ? -1 : this.picture.owner.subarray(0, this.picture.count).indexOf(slot);
        this.player = row < 0 ? 0 : this.picture.id[row];
    }
}

export function nanoseconds(): bigint {
    return BigInt(Math.round(performance.now() * 1e6)) + 1_000_000_000n;
}

function copyBodies(bodies: ClientBodies, out: Picture): void {
    out.reserve(bodies.count);
    for (let i = 0; i < bodies.count; ++i) {
        out.id[i] = bodies.id(i);
        out.awake[i] = bodies.awake(i) ? 1 : 0;
        out.hidden[i] = 0;
        out.owner[i] = bodies.owner(i);
        out.pose.set(bodies.position(i), 7 * i);
        out.pose.set(bodies.rotation(i), 7 * i + 3);
    }
}

// The shapes that the client knows, and of which kind their bodies are as far as it can tell.
class ClientShapes implements ShapeTable {
    revision = 0;
    list: Shape[] = [];
    private seen = '';
    private kinds = new Map<number, number>();

    constructor(private readonly client: Client) {}

    kindOf(body: number): number { return this.kinds.get(body) ?? BodyKind.DYNAMIC; }

    update(world: World | null): void {
        const { memory, address } = this.client;
        const [shapes, meshes] = memory.with(32, (out) => {
            memory.functions.cairn_client_shapes(address, 0, 0, out + 24);
            return [memory.data.getUint32(out + 24, true), this.meshRevision()];
        });
        const seen = `${shapes} ${meshes} ${world === null}`;
        if (seen === this.seen) {
            return;
        }
        this.seen = seen;
        this.list = this.client.shapes().map((shape): Shape => {
            const half = shape.half_extents as [number, number, number];
            const made: Shape = { body: shape.body, kind: shape.kind, half, radius: shape.radius, halfHeight: shape.half_height,
                position: shape.position as [number, number, number], rotation: shape.rotation as [number, number, number, number],
                sensor: false, surface: this.surface(shape.kind, shape.id, shape.mesh), form: '' };
            made.form = formOf(made, shape.kind === ShapeKind.HULL ? made.surface!.points.join() : `${shape.mesh} ${made.surface !== null}`);
            return made;
        }).filter((shape) => shape.surface !== null || shape.kind < ShapeKind.MESH);
        this.readKinds(world);
        this.revision += 1;
    }

    private meshRevision(): number {
        const { memory, address } = this.client;
        return memory.with(64, (out) => {
            memory.functions.cairn_client_mesh_info(address, 0, out, out + 60);
            return memory.data.getUint32(out + 60, true);
        });
    }

    private readKinds(world: World | null): void {
        this.kinds.clear();
        for (const shape of this.list) {
            const still = shape.kind === ShapeKind.HALF_SPACE || shape.kind >= ShapeKind.MESH;
            this.kinds.set(shape.body, still ? BodyKind.STATIC : BodyKind.DYNAMIC);
        }
        const bodies = world?.bodies();
        for (let i = 0; bodies !== undefined && i < bodies.count; ++i) {
            this.kinds.set(bodies.id(i), bodies.kind(i));
        }
    }

    private surface(kind: number, shape: number, mesh: number): Surface | null {
        const { memory, address } = this.client, { functions } = memory;
        if (kind === ShapeKind.HULL) {
            const count = functions.cairn_client_shape_corners(address, shape, 0, 0);
            return memory.with(12 * count, (out) => {
                functions.cairn_client_shape_corners(address, shape, out, count);
                return { points: new Float32Array(functions.memory.buffer, out, 3 * count).slice(), indices: null };
            });
        }
        return kind === ShapeKind.MESH || kind === ShapeKind.HEIGHT_FIELD ? this.meshSurface(mesh) : null;
    }

    // Null: it has not arrived yet.
    private meshSurface(mesh: number): Surface | null {
        const { memory, address } = this.client, { functions } = memory;
        const info = memory.with(64, (out) =>
            functions.cairn_client_mesh_info(address, mesh, out, 0) === 0 ? memory.read('cairn_client_mesh', out) : null);
        if (info === null) {
            return null;
        }
        if (info.kind !== MeshKind.TRIANGLES) {
            return memory.with(4 * info.columns * info.rows, (out) => {
                functions.cairn_client_height_field_read(address, mesh, out);
                return fieldSurface(new Float32Array(functions.memory.buffer, out, info.columns * info.rows).slice(),
                    info.columns, info.rows, info.spacing_x, info.spacing_z);
            });
        }
        const points = 12 * info.vertex_count;
        return memory.with(points + 12 * info.triangle_count, (out) => {
            functions.cairn_client_mesh_read(address, mesh, out, out + points);
            const { buffer } = functions.memory;
            return { points: new Float32Array(buffer, out, 3 * info.vertex_count).slice(),
                indices: new Uint32Array(buffer, out + points, 3 * info.triangle_count).slice() };
        });
    }
}
