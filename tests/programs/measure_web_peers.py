# SPDX-License-Identifier: MIT
"""usage: python3 measure_web_peers.py PROGRAMS [--peers 50] [--seconds 8] [--rounds 3] [--mode interpolate]

What peers on WebSockets cost a tick of cairnd more than as many on UDP: processor time, of the program and the kernel, of the
thread of the server's loop (loop_ms) and of all threads. A process of its own carries datagrams between the clients' UDP sockets and the server's WebSockets
(websocket.py) or, one by one in the same way, its UDP socket: in both cases each datagram arrives by itself, and wakes the
server or not. Asked: at most .1 ms of the loop's thread a tick with 50 peers. Caches that others use make it more: leave the machine alone."""

import argparse
import json
import os
import pathlib
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent


class UdpPeer:
    """In the place of a WebSocket: a UDP socket at the server. What arrives looks like frames."""

    def __init__(self, address, **_):
        host, port = address.rsplit(":", 1)
        self.socket = self
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.connect((host, int(port)))
        self.buffer = bytearray()
        self.status = 101

    def fileno(self):
        return self.udp.fileno()

    def send(self, bytes_):
        self.udp.send(bytes_)

    def recv(self, size):
        from websocket import BINARY
        bytes_ = self.udp.recv(size)
        return bytes([0x80 | BINARY, 126]) + struct.pack("!H", len(bytes_)) + bytes_


def bridge(over_web):
    """Says where clients reach it, is told the server's address, and carries until its input ends."""
    import websocket
    if not over_web:
        websocket.WebSocket = UdpPeer
    carrier = websocket.Bridge()
    print(carrier.address, flush=True)
    carrier.start(sys.stdin.readline().strip())
    sys.stdin.readline()
    os._exit(0)


class Server:
    """A cairnd in a folder of its own, and the bridge to it."""

    def __init__(self, programs, folder, over_web):
        self.folder = folder
        self.bridge = subprocess.Popen([sys.executable, __file__, "--bridge", "web" if over_web else "udp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        public = self.bridge.stdout.readline().strip()
        subprocess.run([programs / "cairn-token", "keygen", "--out", "key"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        self.log = folder / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [programs / "cairnd", "--listen", "127.0.0.1:0", "--key-file", "key", "--log", "json", "--web", "127.0.0.1:0",
                 "--web-root", folder, "--scene", "stack10", "--clients-max", "128", "--players-max", "64", "--web-per-address", "128",
                 "--public", public], cwd=folder, stdout=log, stderr=subprocess.STDOUT)
        self.web = self.event("web")["address"]
        self.address = public
        self.bridge.stdin.write((self.web if over_web else self.event("listening")["address"]) + "\n")
        self.bridge.stdin.flush()

    def event(self, name):
        while True:
            for line in self.log.read_text().splitlines():
                if line.startswith("{") and line.endswith("}") and json.loads(line)["event"] == name:
                    return json.loads(line)
            time.sleep(0.02)

    def tick(self):
        with urllib.request.urlopen(f"http://{self.web}/metrics") as answer:
            lines = answer.read().decode().splitlines()
        return int(next(line for line in lines if line.startswith('cairn_room_tick{')).rsplit(" ", 1)[1])

    def processor_s(self):
        """Of the thread of the loop, which is the first one, and of all."""
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task")
        used = {task.name: int((task / "schedstat").read_text().split()[0]) / 1e9 for task in tasks.iterdir()}
        return used[str(self.process.pid)], sum(used.values())

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
        self.bridge.stdin.close()
        self.bridge.wait(20)


def measure(options, over_web):
    """Milliseconds of processors for a tick: of the thread of the loop, and of all."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        server = Server(options.programs, folder, over_web)
        load = subprocess.Popen([options.programs / "cairn-load", "--key", "key", "--server", server.address, "--clients", str(options.peers),
                                 "--join-seconds", "1", "--seconds", str(options.seconds + 4), "--mode", options.mode, "--inputs", "random",
                                 "--json"], cwd=folder, stdout=subprocess.PIPE, text=True)
        time.sleep(4)
        tick, before = server.tick(), server.processor_s()
        time.sleep(options.seconds)
        after, ticks = server.processor_s(), max(1, server.tick() - tick)
        text, _ = load.communicate()
        playing = json.loads(text.splitlines()[-1])["playing"]
        assert playing == options.peers, f"{playing} of {options.peers} peers play"
        server.stop()
        return [1000 * (end - begin) / ticks for begin, end in zip(before, after)]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("programs", type=lambda text: pathlib.Path(text).resolve(), nargs="?")
    parser.add_argument("--bridge", choices=["web", "udp"], help=argparse.SUPPRESS)
    parser.add_argument("--peers", type=int, default=50)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mode", default="interpolate", choices=["interpolate", "lockstep"])
    options = parser.parse_args()
    if options.bridge:
        sys.path.insert(0, str(HERE))
        bridge(options.bridge == "web")
    found = {False: [], True: []}
    for _ in range(options.rounds):
        for over_web in (False, True):
            found[over_web].append(measure(options, over_web))
    said = {"peers": options.peers, "mode": options.mode}
    for place, name in enumerate(("loop_", "")):
        udp, web = (statistics.median(each[place] for each in found[over_web]) for over_web in (False, True))
        said |= {f"udp_{name}ms": round(udp, 3), f"web_{name}ms": round(web, 3), f"more_{name}ms": round(web - udp, 3)}
    print(json.dumps(said))


if __name__ == "__main__":
    main()
