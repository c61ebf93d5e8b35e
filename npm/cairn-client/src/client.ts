// SPDX-License-Identifier: MIT

// A client of a cairn server. The methods are the functions of <cairn/client.h>, which says what they
// do. Times are nanoseconds of one monotonic clock of the host.

import type { ClientConfig, ClientEvent, ClientGameStatistics, ClientInput, ClientSample, ClientShape,
    ClientStatistics } from './generated.js';
import { ClientMode, ClientState, CONNECT_TOKEN_SIZE, DATAGRAM_SIZE_MAX, layouts, Status } from './generated.js';
import { CairnError, Fields, In, Memory, Runtime, sizeOf } from './memory.js';
import { World } from './world.js';

const ADDRESS_TEXT_SIZE = 64;
const EVENTS_AT_ONCE = 64;
const DATAGRAM_CAPACITY = 65536; // the largest that UDP carries

// The callbacks of the C library have no place here: what they tell is asked for (Client.events).
type Callbacks = 'clock_ns' | 'clock_context' | 'on_step' | 'step_context' | 'on_desync_report' | 'desync_report_context';
export type ClientOptions = Omit<Fields<ClientConfig>, Callbacks | 'mode' | 'room' | 'rules'> & {
    mode?: keyof typeof ClientMode; // default INTERPOLATE
    room?: string;                  // default: the server's first room
};

const WORD_OF = (name: string) => layouts.cairn_client_body.fields.find((field) => field[0] === name)![2] / 4;
const BYTE_OF = (name: string) => layouts.cairn_client_body.fields.find((field) => field[0] === name)![2];

// The bodies of a picture in order of id, as they lie in the memory of the module. The views are valid
// until the next call of anything: read them, or copy them.
export class ClientBodies {
    static readonly STRIDE = layouts.cairn_client_body.size / 4; // words of one body
    readonly floats: Float32Array;
    readonly words: Uint32Array;
    private readonly bytes: Uint8Array;

    constructor(buffer: ArrayBuffer, address: number, readonly count: number) {
        this.floats = new Float32Array(buffer, address, count * ClientBodies.STRIDE);
        this.words = new Uint32Array(buffer, address, count * ClientBodies.STRIDE);
        this.bytes = new Uint8Array(buffer, address, 4 * count * ClientBodies.STRIDE);
    }

    id(i: number): number { return this.word(i, 'id'); }
    awake(i: number): boolean { return this.flag(i, 'awake'); }
    disabled(i: number): boolean { return this.flag(i, 'disabled'); }
    owner(i: number): number { return this.word(i, 'owner'); }
    user(i: number): number { return this.word(i, 'user'); }
    teleports(i: number): number { return this.word(i, 'teleports'); }
    position(i: number): Float32Array { return this.part(i, 'position', 3); }
    rotation(i: number): Float32Array { return this.part(i, 'rotation', 4); }
    linearVelocity(i: number): Float32Array { return this.part(i, 'linear_velocity', 3); }
    angularVelocity(i: number): Float32Array { return this.part(i, 'angular_velocity', 3); }

    private word(i: number, name: string): number { return this.words[i * ClientBodies.STRIDE + WORD_OF(name)]; }
    private flag(i: number, name: string): boolean {
        return this.bytes[4 * i * ClientBodies.STRIDE + BYTE_OF(name)] !== 0;
    }
    private part(i: number, name: string, count: number): Float32Array {
        const at = i * ClientBodies.STRIDE + WORD_OF(name);
        return this.floats.subarray(at, at + count);
    }
}

export interface Picture { sample: ClientSample; bodies: ClientBodies }
export interface GameMessage { tick: bigint; kind: number; bytes: Uint8Array } // kind: ClientGameKind
export interface Shared { tick: bigint; bytes: Uint8Array }

export class Client {
    private handle = 0;
    private readonly datagram: number;
    private bodyArray = 0;
    private bodyCapacity = 0;

    // A host calls Cairn.createClient.
    constructor(readonly memory: Memory, options: ClientOptions) {
        const { mode = 'INTERPOLATE', room = '', ...numbers } = options;
        const name = new TextEncoder().encode(room);
        const struct = 'cairn_client_config';
        memory.with(sizeOf(struct) + name.length + 1, (config) => {
            const text = config + sizeOf(struct);
            this.f.cairn_client_config_default(config);
            memory.write(struct, config, { ...numbers, mode: ClientMode[mode], room: text }, 'client');
            memory.bytes.set(name, text);
            memory.bytes[text + name.length] = 0;
            memory.with(4, (out) => {
                this.check('client', this.f.cairn_client_create(config, out));
                this.handle = memory.data.getUint32(out, true);
            });
        });
        this.datagram = memory.allocate(DATAGRAM_CAPACITY);
    }

    private get f(): Runtime { return this.memory.functions; }

    // The client in calls of the module's own functions (Cairn.functions).
    get address(): number {
        if (this.handle === 0) {
            throw new CairnError(Status.WRONG_STATE, 'the client was destroyed');
        }
        return this.handle;
    }

    // Disconnect and send first, or the server waits for its time-out.
    destroy(): void {
        this.f.cairn_client_destroy(this.handle);
        this.f.free(this.bodyArray);
        this.f.free(this.datagram);
        this.handle = this.bodyArray = this.bodyCapacity = 0;
    }

    // ---- connection

    // `nowUnix`: the wall clock, in seconds. False: the token is malformed or expired.
    connect(now: bigint, token: Uint8Array, nowUnix = Math.floor(Date.now() / 1000)): boolean {
        if (token.length !== CONNECT_TOKEN_SIZE) {
            throw new RangeError(`token: has ${CONNECT_TOKEN_SIZE} bytes, not ${token.length}`);
        }
        return this.memory.with(token.length, (at) => {
            this.memory.bytes.set(token, at);
            return this.f.cairn_client_connect(this.address, now, BigInt(nowUnix), at) !== 0;
        });
    }
    disconnect(now: bigint): void { this.f.cairn_client_disconnect(this.address, now); }

    get state(): number { return this.f.cairn_client_state_read(this.address); } // ClientState
    get playing(): boolean { return this.state === ClientState.PLAYING; }
    get failure(): string { return this.memory.text(this.f.cairn_client_failure_text(this.address)); }
    get mode(): number { return this.f.cairn_client_mode_now(this.address); } // ClientMode
    get modeText(): string { return this.memory.text(this.f.cairn_client_mode_text(this.address)); }

    // ---- datagrams

    // Where the datagrams go, as "127.0.0.1:40000" or "[::1]:40000"; null before connect.
    get serverAddress(): string | null {
        return this.memory.with(sizeOf('cairn_address') + ADDRESS_TEXT_SIZE, (at) => {
            this.f.cairn_client_server_address(at, this.address);
            return this.memory.data.getUint8(at) === 0 ? null
                : this.memory.text(this.f.cairn_address_print(at, at + sizeOf('cairn_address')));
        });
    }

    // A datagram of any size from any source. `from`: as serverAddress.
    receive(now: bigint, from: string, bytes: Uint8Array): void {
        const text = new TextEncoder().encode(from).slice(0, ADDRESS_TEXT_SIZE - 1);
        this.memory.with(sizeOf('cairn_address') + ADDRESS_TEXT_SIZE, (at) => {
            const textAt = at + sizeOf('cairn_address');
            this.memory.bytes.set(text, textAt);
            this.memory.bytes[textAt + text.length] = 0;
            if (this.f.cairn_address_parse(textAt, at) === 0) {
                throw new TypeError(`from: '${from}' is not an address with a port`);
            }
            const size = Math.min(bytes.length, DATAGRAM_CAPACITY);
            this.memory.bytes.set(bytes.subarray(0, size), this.datagram);
            this.f.cairn_client_receive(this.address, now, at, this.datagram, size);
        });
    }
    pathChanged(now: bigint): void { this.f.cairn_client_path_changed(this.address, now); }
    advance(now: bigint): void { this.f.cairn_client_advance(this.address, now); }
    get deadline(): bigint { return BigInt.asUintN(64, this.f.cairn_client_deadline_ns(this.address)); }

    // The datagrams that are to be sent now, each a copy.
    *send(now: bigint): Generator<Uint8Array> {
        for (;;) {
            const size = this.f.cairn_client_send(this.address, now, this.datagram);
            if (size === 0 || size > DATAGRAM_SIZE_MAX) {
                return;
            }
            yield this.memory.bytes.slice(this.datagram, this.datagram + size);
        }
    }

    // ---- play

    // False: a value is out of range, or the client has no slot (yet).
    pushInput(input: In<ClientInput>): boolean {
        return this.memory.with(sizeOf('cairn_client_input'), (at) => {
            this.memory.bytes.fill(0, at, at + sizeOf('cairn_client_input'));
            this.memory.write('cairn_client_input', at, input, 'input');
            return this.f.cairn_client_push_input(this.address, at) !== 0;
        });
    }

    // The input that the rules of the room declare, as the bytes of their struct. False: as above, or
    // the rules declare no input of this size.
    pushGameInput(bytes: Uint8Array): boolean {
        return this.memory.with(bytes.length, (at) => {
            this.memory.bytes.set(bytes, at);
            return this.f.cairn_client_push_game_input(this.address, at, bytes.length) !== 0;
        });
    }

    // The picture to show now; null before the first snapshot or state has arrived.
    sample(now: bigint): Picture | null {
        return this.memory.with(sizeOf('cairn_client_sample'), (out) => {
            const look = () => this.f.cairn_client_sample_world(this.address, now, this.bodyArray, this.bodyCapacity, out) !== 0;
            let shown = look();
            const count = shown ? this.memory.read('cairn_client_sample', out).body_count : 0;
            if (count > this.bodyCapacity) {
                this.f.free(this.bodyArray);
                this.bodyArray = this.bodyCapacity = 0;
                this.bodyArray = this.memory.allocate(2 * count * sizeOf('cairn_client_body'));
                this.bodyCapacity = 2 * count;
                shown = look();
            }
            return !shown ? null : { sample: this.memory.read('cairn_client_sample', out),
                bodies: new ClientBodies(this.f.memory.buffer as ArrayBuffer, this.bodyArray, count) };
        });
    }

    // What happened in the world that is shown; take them after each advance.
    events(): ClientEvent[] {
        const size = sizeOf('cairn_client_event');
        return this.memory.with(EVENTS_AT_ONCE * size, (out) => {
            const all: ClientEvent[] = [];
            for (let count = EVENTS_AT_ONCE; count === EVENTS_AT_ONCE;) {
                count = this.f.cairn_client_events(this.address, out, EVENTS_AT_ONCE);
                for (let i = 0; i < count; ++i) {
                    all.push(this.memory.read('cairn_client_event', out + i * size));
                }
            }
            return all;
        });
    }

    // Messages and events of the game's rules; take them after each advance.
    gameMessages(): GameMessage[] {
        return this.memory.with(sizeOf('cairn_client_game_message'), (at) => {
            const all: GameMessage[] = [];
            while (this.f.cairn_client_next_game_message(this.address, at) !== 0) {
                const { tick, kind, size, bytes } = this.memory.read('cairn_client_game_message', at);
                all.push({ tick, kind, bytes: Uint8Array.from(bytes.slice(0, size)) });
            }
            return all;
        });
    }
    sendGameMessage(bytes: Uint8Array): void {
        this.memory.with(bytes.length, (at) => {
            this.memory.bytes.set(bytes, at);
            this.check('sendGameMessage', this.f.cairn_client_send_game_message(this.address, at, bytes.length));
        });
    }

    // What the rules share with every client; null: nothing, or not yet.
    shared(): Shared | null {
        const size = this.f.cairn_client_shared_read(this.address, 0, 0, 0);
        return size === 0 ? null : this.memory.with(8 + size, (at) => {
            this.f.cairn_client_shared_read(this.address, at + 8, size, at);
            return { tick: this.memory.readOne('u64', at), bytes: this.memory.bytes.slice(at + 8, at + 8 + size) };
        });
    }

    shapes(): ClientShape[] {
        const struct = 'cairn_client_shape';
        const count = this.f.cairn_client_shapes(this.address, 0, 0, 0);
        return this.memory.with(count * sizeOf(struct), (out) => {
            this.f.cairn_client_shapes(this.address, out, count, 0);
            return Array.from({ length: count }, (_, i) => this.memory.read(struct, out + i * sizeOf(struct)));
        });
    }

    // Modes that simulate: the client's own world, to be read; null before its state has arrived. It
    // is valid until the next call of advance or receive, and not to be destroyed.
    world(): World | null {
        const address = this.f.cairn_client_world(this.address);
        return address === 0 ? null : new World(this.memory, address);
    }
    get confirmedTick(): bigint { return BigInt.asUintN(64, this.f.cairn_client_confirmed_tick(this.address)); }

    // ---- statistics

    statistics(): ClientStatistics {
        return this.read('cairn_client_statistics', (out) => this.f.cairn_client_statistics_read(this.address, out));
    }
    gameStatistics(): ClientGameStatistics {
        return this.read('cairn_client_game_statistics', (out) => this.f.cairn_client_game_statistics_read(out, this.address));
    }
    // Data that was received and ignored: how often, by "layer: reason".
    drops(): Record<string, bigint> {
        const all: Record<string, bigint> = {};
        for (let i = 0; ; ++i) {
            const drop = this.read('cairn_client_drop', (out) => this.f.cairn_client_drop_read(this.address, i, out) || null);
            if (drop === null) {
                return all;
            }
            if (drop.count > 0n) {
                all[`${this.memory.text(drop.layer)}: ${this.memory.text(drop.reason)}`] = drop.count;
            }
        }
    }

    // The struct that `call` writes; null if it returns null.
    private read(struct: string, call: (out: number) => number | void | null): any {
        return this.memory.with(sizeOf(struct), (out) => call(out) === null ? null : this.memory.read(struct, out));
    }

    private check(what: string, status: number): void {
        this.memory.check(what, status);
    }
}

