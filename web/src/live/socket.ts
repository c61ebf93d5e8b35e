// SPDX-License-Identifier: MIT

// Carries the datagrams of a client: each binary message of a WebSocket is one, in both directions. One that ends is opened again, and the
// client's session goes on as on a path that changed: after a server's take-over, or when a proxy was restarted.

const AGAIN_MIN_MS = 100, AGAIN_MAX_MS = 2000;
const WAITING_MAX = 16;

export class DatagramSocket {
    onDatagram: (bytes: Uint8Array) => void = () => {};
    sent = 0;     // bytes
    received = 0;
    lost = 0;     // times that the connection was opened and ended
    private socket!: WebSocket;
    private waiting: Uint8Array[] = [];
    private again = AGAIN_MIN_MS; // until the next attempt
    private timer = 0;

    constructor(private readonly address: string) {
        this.begin();
    }

    get open(): boolean { return this.socket.readyState === WebSocket.OPEN; }

    // As a datagram: dropped rather than queued if the connection does not take it.
    send(bytes: Uint8Array): void {
        this.sent += bytes.length;
        if (this.socket.readyState === WebSocket.CONNECTING && this.waiting.length < WAITING_MAX) {
            this.waiting.push(bytes);
        } else if (this.open && this.socket.bufferedAmount < 65536) {
            this.socket.send(bytes as BufferSource);
        }
    }

    close(): void {
        clearTimeout(this.timer);
        this.socket.onclose = null;
        this.socket.close();
    }

    private begin(): void {
        const socket = new WebSocket(this.address, 'cairn');
        let opened = false;
        this.socket = socket;
        socket.binaryType = 'arraybuffer';
        socket.onopen = () => {
            opened = true;
            this.waiting.forEach((bytes) => socket.send(bytes as BufferSource));
            this.waiting = [];
        };
        socket.onmessage = (event) => {
            const bytes = new Uint8Array(event.data as ArrayBuffer);
            this.received += bytes.length;
            this.again = AGAIN_MIN_MS; // a server that closes what it took is asked ever more seldom
            this.onDatagram(bytes);
        };
        socket.onclose = () => {
            this.waiting = [];
            this.lost += opened ? 1 : 0;
            this.timer = window.setTimeout(() => this.begin(), this.again);
            this.again = Math.min(2 * this.again, AGAIN_MAX_MS);
        };
    }
}
