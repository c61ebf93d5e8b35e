// SPDX-License-Identifier: MIT

// The memory of the module: structs read and written by the layouts of the public headers, and a
// small stack for arguments.

import { Field, Functions, layouts, Status } from './generated.js';

export type Vec3In = { x: number; y: number; z: number } | readonly number[];

// What a caller may give for a struct: some of its fields; vectors also as [x, y, z], rotations as
// [x, y, z, w], flags also as booleans.
export type In<T> = T extends boolean ? boolean
    : T extends number ? number | boolean
    : T extends bigint ? bigint | number
    : T extends readonly (infer E)[] ? readonly E[]
    : Fields<T> | readonly number[];
export type Fields<T> = { [K in keyof T]?: In<T[K]> };

export interface Runtime extends Functions {
    memory: WebAssembly.Memory;
    malloc(size: number): number;
    free(address: number): void;
    _initialize?(): void;
}

// A function of the simulation refused: `status` is one of `Status`.
export class CairnError extends Error {
    constructor(readonly status: number, message: string) {
        super(message);
        this.name = 'CairnError';
    }
}

const STACK_SIZE = 65536;

export class Memory {
    private dataView: DataView | null = null;
    private byteView = new Uint8Array(0);
    private readonly stack: number;
    private top = 0;

    constructor(readonly functions: Runtime) {
        this.stack = this.allocate(STACK_SIZE);
    }

    // The views are made again when the memory has grown.
    get data(): DataView {
        if (this.dataView === null || this.dataView.buffer !== this.functions.memory.buffer) {
            this.dataView = new DataView(this.functions.memory.buffer);
        }
        return this.dataView;
    }

    get bytes(): Uint8Array {
        if (this.byteView.buffer !== this.functions.memory.buffer) {
            this.byteView = new Uint8Array(this.functions.memory.buffer);
        }
        return this.byteView;
    }

    allocate(size: number): number {
        const address = this.functions.malloc(Math.max(size, 1)) >>> 0;
        if (address === 0) {
            throw new CairnError(Status.OUT_OF_MEMORY, `out of memory: ${size} bytes`);
        }
        return address;
    }

    // Runs `use` with room on the stack that is free again when it returns.
    with<T>(size: number, use: (address: number) => T): T {
        const before = this.top;
        const rounded = (size + 15) & ~15;
        if (before + rounded > STACK_SIZE) {
            const address = this.allocate(rounded);
            try {
                return use(address);
            } finally {
                this.functions.free(address);
            }
        }
        this.top = before + rounded;
        try {
            return use(this.stack + before);
        } finally {
            this.top = before;
        }
    }

    text(address: number): string {
        const bytes = this.bytes;
        let end = address;
        while (bytes[end] !== 0) {
            ++end;
        }
        return new TextDecoder().decode(bytes.slice(address, end));
    }

    // Throws unless `status` is OK. `refusal`: the address of a text that says more, or 0.
    check(what: string, status: number, refusal = 0): void {
        if (status !== Status.OK) {
            const words = this.text(refusal !== 0 ? refusal : this.functions.cairn_status_text(status));
            throw new CairnError(status, `${what}: ${words}`);
        }
    }

    // The 32 hexadecimal digits of a hash.
    hash(address: number): string {
        return this.with(40, (text) => this.text(this.functions.cairn_hash_print(address, text)));
    }

    read(struct: string, address: number): any {
        const out: any = {};
        for (const [name, type, offset, count] of layouts[struct].fields) {
            const at = address + offset;
            out[name] = count === 0 ? this.readOne(type, at)
                : Array.from({ length: count }, (_, i) => this.readOne(type, at + i * sizeOf(type)));
        }
        return out;
    }

    readOne(type: string, at: number): any {
        const data = this.data;
        switch (type) {
        case 'f32': return data.getFloat32(at, true);
        case 'f64': return data.getFloat64(at, true);
        case 'u32': return data.getUint32(at, true);
        case 'i32': return data.getInt32(at, true);
        case 'u64': return data.getBigUint64(at, true);
        case 'i64': return data.getBigInt64(at, true);
        case 'u16': return data.getUint16(at, true);
        case 'i16': return data.getInt16(at, true);
        case 'u8': case 'char': return data.getUint8(at);
        case 'i8': return data.getInt8(at);
        case 'bool': return data.getUint8(at) !== 0;
        default: return this.read(type, at);
        }
    }

    // Writes the fields that `value` has and leaves the others as they are.
    write(struct: string, address: number, value: any, path = struct): void {
        const fields = layouts[struct].fields;
        if (Array.isArray(value)) {
            if (value.length !== fields.length) {
                throw new TypeError(`${path}: has ${fields.length} numbers, not ${value.length}`);
            }
            fields.forEach((field, i) => this.writeField(field, address, value[i], path));
            return;
        }
        for (const name of Object.keys(value)) {
            const field = fields.find((candidate) => candidate[0] === name);
            if (field === undefined) {
                throw new TypeError(`${path}: has no field '${name}'`);
            }
            if (value[name] !== undefined) {
                this.writeField(field, address, value[name], path);
            }
        }
    }

    private writeField(field: Field, address: number, value: any, path: string): void {
        const [name, type, offset, count] = field;
        const where = `${path}.${name}`;
        if (count === 0) {
            this.writeOne(type, address + offset, value, where);
            return;
        }
        if (!Array.isArray(value) || value.length !== count) {
            throw new TypeError(`${where}: must be an array of ${count}`);
        }
        value.forEach((element, i) =>
            this.writeOne(type, address + offset + i * sizeOf(type), element, `${where}[${i}]`));
    }

    writeOne(type: string, at: number, value: any, path: string): void {
        const data = this.data;
        if (type in layouts) {
            if (typeof value !== 'object' || value === null) {
                throw new TypeError(`${path}: must be an object or an array of numbers`);
            }
            this.write(type, at, value, path);
        } else if (type === 'u64' || type === 'i64') {
            data.setBigUint64(at, BigInt.asUintN(64, BigInt(value)), true);
        } else if (type === 'f32' || type === 'f64') {
            if (typeof value !== 'number') {
                throw new TypeError(`${path}: must be a number`);
            }
            // The simulation knows no negative zero.
            if (type === 'f32') {
                data.setFloat32(at, value + 0, true);
            } else {
                data.setFloat64(at, value + 0, true);
            }
        } else {
            this.writeInteger(type, at, typeof value === 'boolean' ? Number(value) : value, path);
        }
    }

    private writeInteger(type: string, at: number, value: number, path: string): void {
        const bits = type === 'bool' || type === 'char' ? 8 : Number(type.slice(1));
        const signed = type[0] === 'i';
        const lower = signed ? -(2 ** (bits - 1)) : 0;
        const upper = signed ? 2 ** (bits - 1) - 1 : 2 ** bits - 1;
        if (!Number.isInteger(value) || value < lower || value > upper) {
            throw new RangeError(`${path}: must be an integer in [${lower}, ${upper}], is ${value}`);
        }
        if (bits === 8) {
            this.data.setUint8(at, value);
        } else if (bits === 16) {
            this.data.setUint16(at, value, true);
        } else {
            this.data.setUint32(at, value, true);
        }
    }
}

const SIZES: Readonly<Record<string, number>> = { u8: 1, i8: 1, bool: 1, char: 1, u16: 2, i16: 2, u64: 8, i64: 8, f64: 8 };

export function sizeOf(type: string): number {
    return layouts[type]?.size ?? SIZES[type] ?? 4;
}
