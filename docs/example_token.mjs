// SPDX-License-Identifier: MIT
// A backend that issues connect tokens, in Node.js without packages: the layout of docs/PROTOCOL.md. OpenSSL has
// ChaCha20-Poly1305 with a short nonce; HChaCha20 makes XChaCha20 of it (draft-irtf-cfrg-xchacha, 2.2).
// usage: node example_token.mjs KEY_FILE ADDRESS:PORT OUT [ROOM [NAME]]
// @ts-check
import { createCipheriv, randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const PROTOCOL_ID = 0x636169726en;
const VERSION = Buffer.from("NETCODE 1.02\0");

/** @param {Uint32Array} x @param {number} a @param {number} b @param {number} c @param {number} d */
function quarter(x, a, b, c, d) {
    for (const [to, add, turn, by] of [[a, b, d, 16], [c, d, b, 12], [a, b, d, 8], [c, d, b, 7]]) {
        x[to] += x[add];
        x[turn] ^= x[to];
        x[turn] = (x[turn] << by) | (x[turn] >>> (32 - by));
    }
}

/** The key of ChaCha20 for a key and the first 16 bytes of a nonce. @param {Buffer} key @param {Buffer} nonce */
function hchacha20(key, nonce) {
    const bytes = Buffer.concat([Buffer.from("expand 32-byte k"), key, nonce]);
    const x = Uint32Array.from({ length: 16 }, (_, i) => bytes.readUInt32LE(4 * i));
    for (let round = 0; round < 10; ++round) {
        for (let i = 0; i < 4; ++i) quarter(x, i, 4 + i, 8 + i, 12 + i);
        for (let i = 0; i < 4; ++i) quarter(x, i, 4 + ((i + 1) % 4), 8 + ((i + 2) % 4), 12 + ((i + 3) % 4));
    }
    const out = Buffer.alloc(32);
    [0, 1, 2, 3, 12, 13, 14, 15].forEach((word, i) => out.writeUInt32LE(x[word], 4 * i));
    return out;
}

/** @param {Buffer} text @param {Buffer} associated @param {Buffer} nonce @param {Buffer} key */
function encrypt(text, associated, nonce, key) {
    const short = Buffer.concat([Buffer.alloc(4), nonce.subarray(16)]);
    const cipher = createCipheriv("chacha20-poly1305", hchacha20(key, nonce.subarray(0, 16)), short, { authTagLength: 16 });
    cipher.setAAD(associated, { plaintextLength: text.length });
    return Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

/** @param {number} size @param {Buffer} bytes */
const padded = (size, bytes) => Buffer.concat([bytes, Buffer.alloc(size - bytes.length)]);
/** @param {...bigint} values */
const words = (...values) => Buffer.concat(values.map((value) => Buffer.from(BigUint64Array.of(value).buffer)));
/** @param {...number} values */
const ints = (...values) => Buffer.concat(values.map((value) => Buffer.from(Int32Array.of(value).buffer)));

/** What the server reads of the 256 bytes: docs/PROTOCOL.md, User data. */
export function userData(room = "", name = "", rights = 0, opaque = Buffer.alloc(0)) {
    const size = Buffer.from(Uint16Array.of(opaque.length).buffer);
    return Buffer.concat([Buffer.from("cairnusr"), ints(2, rights), padded(32, Buffer.from(room)),
        padded(32, Buffer.from(name)), size, opaque]);
}

/** Of IPv4 servers. @param {Buffer} key @param {[string, number][]} servers @param {bigint} clientId @param {Buffer} data */
export function issue(key, servers, clientId, data, lifetime = 30, timeout = 5) {
    const now = BigInt(Math.floor(Date.now() / 1000));
    const expire = now + BigInt(lifetime);
    const nonce = randomBytes(24);
    const keys = randomBytes(64);
    const list = Buffer.concat([ints(servers.length), ...servers.map(([host, port]) =>
        Buffer.from([1, ...host.split(".").map(Number), port & 255, port >> 8]))]);
    const secret = Buffer.concat([words(clientId), ints(timeout), list, keys, padded(256, data)]);
    const associated = Buffer.concat([VERSION, words(PROTOCOL_ID, expire)]);
    return padded(2048, Buffer.concat([VERSION, words(PROTOCOL_ID, now, expire), nonce,
        encrypt(padded(1008, secret), associated, nonce, key), ints(timeout), list, keys]));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
    const [keyFile, server, out, room, name] = process.argv.slice(2);
    const [host, port] = server.split(":");
    const key = Buffer.from(readFileSync(keyFile, "ascii").trim(), "hex");
    const clientId = randomBytes(8).readBigUInt64LE();
    writeFileSync(out, issue(key, [[host, Number(port)]], clientId, userData(room, name)), { mode: 0o600 });
}
