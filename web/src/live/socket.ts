// SPDX-License-Identifier: MIT

// Carries the datagrams of a client: each binary message of a WebSocket is one, in both directions.

export class DatagramSocket {
    onDatagram: (bytes: Uint8Array) => void = () => {};
    onClose: (why: string) => void = () => {};
    sent = 0;     // bytes
    received = 0;
    private readonly socket: WebSocket;
    private waiting: Uint8Array[] = [];

    constructor(address: string) {
        this.socket = new WebSocket(address, 'cairn');
        this.socket.binaryType = 'arraybuffer';
        this.socket.onopen = () => {
            this.waiting.forEach((bytes) => this.socket.send(bytes as BufferSource));
            this.waiting = [];
        };
        this.socket.onmessage = (event) => {
            const bytes = new Uint8Array(event.data as ArrayBuffer);
            this.received += bytes.length;
            this.onDatagram(bytes);
        };
        this.socket.onclose = (event) => this.onClose(event.reason || 'the server closed the connection');
    }

    // As a datagram: dropped rather than queued if the connection does not take it.
    send(bytes: Uint8Array): void {
        this.sent += bytes.length;
        if (this.socket.readyState === WebSocket.CONNECTING && this.waiting.length < 16) {
            this.waiting.push(bytes);
        } else if (this.socket.readyState === WebSocket.OPEN && this.socket.bufferedAmount < 65536) {
            this.socket.send(bytes as BufferSource);
        }
    }

    close(): void {
        this.socket.onclose = null;
        this.socket.close();
    }
}
