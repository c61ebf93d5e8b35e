# SPDX-License-Identifier: MIT
"""usage: ./dev bench --wire [--clients N] [--seconds S] [--build FOLDER]

What the wire costs, in one table: bytes and time of snapshots, bytes of ticks in small rooms, parts of a world of 20,000 bodies for
200 clients, and a server with many clients (cairn-load) beside worlds of 901 cubes, at rest and with 90 that tumble. The server runs on
the first processor and the clients on the last, with real-time priority if that is allowed; else a busy machine shows. It takes two minutes.

  --clients N      of the rows about many clients (default 1000)
  --seconds S      each run is measured for (default 5)
  --build FOLDER   default build/release"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

# Before these were worked on (issue 12), measured by the same rows or taken from its text.
BEFORE = {"moderate": "7200 of 170 moving", "ticks_idle_down": "250", "ticks_idle_up": "205", "ticks_active_down": "515",
          "lockstep_us": "6.1 us", "lockstep_kb": "170 kB", "interpolate_us": "6.7 us", "interpolate_kb": "106 kB"}
# netcode 139beae, GameNetworkingSockets e707b3a and ENet 1.3.17, 64 bytes up and 1000 down at 60 Hz, 1,000 clients; the smallest
# published frames of the snapshot challenge. Other machines, other sizes: an order of magnitude, not a race.
PEERS = {"moderate": "425 (the record)", "us": "netcode 2.9, ENet 2.5, GNS 6.1 us", "kb": "netcode 10.6, ENet 2 to 3.5, GNS 12 to 16 kB"}
# Name, scene, mode, updates in a second. In the drum 90 cubes tumble for ever, as many as move in the moderate set.
SERVED = (("lockstep", "cubes901", "lockstep", 60), ("snapshots", "cubes901", "interpolate", 20), ("snapshots of 90 moving", "drum901", "interpolate", 20))
WIDTHS = 76, 20, 20, 10, 0
PRIORITY = 50


def alone_on(processors):
    """Run in the child: its processor, and before all others there."""
    def begin():
        if len(os.sched_getaffinity(0)) > 1:
            os.sched_setaffinity(0, processors)
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
        except PermissionError:
            pass
    return begin


class Bench:
    def __init__(self, programs, folder, options):
        self.programs, self.folder, self.options = programs, folder, options
        self.processors = sorted(os.sched_getaffinity(0))
        subprocess.run([programs / "cairn-token", "keygen", "--out", "key"], cwd=folder, check=True, capture_output=True)

    def load(self, scene, *flags):
        """The figures of cairn-load and of the server's own statistics, which begin before the clients join."""
        path = self.folder / "server.log"
        with path.open("w") as out:
            server = subprocess.Popen(
                [self.programs / "cairnd", "--listen", "127.0.0.1:0", "--key-file", "key", "--log", "json", "--scene", scene,
                 "--clients-max", "1024", "--stats-interval", "3600"],
                cwd=self.folder, stdout=out, stderr=out, preexec_fn=alone_on({self.processors[0]}))
        try:
            deadline = time.monotonic() + 20
            while '"listening"' not in path.read_text():
                if server.poll() is not None or time.monotonic() > deadline:
                    sys.exit(f"cairnd does not listen: {path.read_text()}")
                time.sleep(0.02)
            address = next(json.loads(line)["address"] for line in path.read_text().splitlines() if '"listening"' in line)
            done = subprocess.run(
                [self.programs / "cairn-load", "--key", "key", "--server", address, "--watch", str(server.pid), "--json",
                 "--seconds", str(self.options.seconds), *map(str, flags)],
                cwd=self.folder, capture_output=True, text=True, preexec_fn=alone_on({self.processors[-1]}), timeout=300)
            if done.returncode != 0:
                sys.exit(f"cairn-load: {done.stderr or done.stdout}")
            return json.loads(done.stdout)
        finally:
            server.terminate()
            server.wait(20)


def size(found, way):
    return f"{found['bytes_' + way] / max(1, found['datagrams_' + way]):.0f}"


def snapshots(programs):
    """Bytes, encoding and decoding of frames by set: (name, bytes, encode us, decode us)."""
    out = subprocess.run([programs / "measure_snapshots"], check=True, capture_output=True, text=True).stdout
    pattern = r"^(\S.*?)\s+[\d.]+ changed\s+([\d.]+) bytes.*encode ([\d.]+) us, decode ([\d.]+) us"
    return re.findall(pattern, out, re.MULTILINE)


def ms(us):
    return f"{us / 1000:.2f} ms"


def views(bench):
    """Milliseconds of serving in a second, kB/s of a client and at most, us of a part, longest wait."""
    out = subprocess.run([bench.programs / "bench_views", "--seconds", "1"], check=True, capture_output=True, text=True,
                         preexec_fn=alone_on({bench.processors[-1]})).stdout
    return [re.search(pattern, out)[1] for pattern in (r"of serving (\d+) ms", r"a client: ([\d.]+) kB/s", r"the most ([\d.]+);",
                                                       r"([\d.]+) us for each part", r"at most (\d+) ms")]


def rows(bench):
    for name, length, encode, decode in snapshots(bench.programs):
        aim = next((text for word, text in (("moderate", "320"), ("heavy", "2500"), ("rest", "36")) if word in name), "")
        moderate = "moderate" in name
        yield f"snapshot, {name}: bytes", f"{float(length):.0f}", BEFORE["moderate"] if moderate else "", aim, PEERS["moderate"] if moderate else ""
        yield f"snapshot, {name}: encode, decode", f"{encode}, {decode} us", "", "60, 60 us", ""
    idle = bench.load("empty", "--clients", 2, "--mode", "lockstep")
    yield "tick, two idle players: bytes down", size(idle, "received"), BEFORE["ticks_idle_down"], "64", ""
    yield "tick, two idle players: bytes up", size(idle, "sent"), BEFORE["ticks_idle_up"], "56", ""
    active = bench.load("empty", "--clients", 8, "--mode", "lockstep", "--inputs", "random")
    yield "tick, eight active players: bytes down", size(active, "received"), BEFORE["ticks_active_down"], "120", ""
    serving, mean, most, part, waits = views(bench)
    world = "20,000 moving bodies, 200 clients"
    yield f"{world}: kB/s of a client, at most", f"{mean}, {most}", "", "60", ""
    yield f"{world}: longest wait of a body in view", f"{waits} ms", "", "1 s", ""
    yield f"{world}: core for serving, a part", f"{float(serving) / 1000:.2f}, {part} us", "", "0.5", ""
    for name, scene, mode, rate in SERVED:
        yield from served(bench, name, scene, mode, rate)


def served(bench, name, scene, mode, rate):
    """Many clients beside 901 cubes. The memory of one is what the server grows by from a fourth of them to all: what they share, such as
    the snapshots that are kept, is there in both runs."""
    clients = bench.options.clients
    flags = "--mode", mode, "--spectator", "--join-seconds", 2
    few = bench.load(scene, "--clients", max(1, clients // 4), *flags)
    found = bench.load(scene, "--clients", clients, *flags)
    grown = [run["watched_kb_per_client"] * run["clients"] for run in (few, found)]
    each = (grown[1] - grown[0]) / max(1, found["clients"] - few["clients"])
    before = {key.removeprefix(f"{mode}_"): text for key, text in BEFORE.items()} if scene == "cubes901" else {}
    what = f"{clients:,} clients, {name} at {rate} Hz"
    joins = found["late_joins_us"]
    yield f"{what}: ticks lost, while they joined", f"{found['ticks_lost']}, {found['ticks_lost_joins']}", "", "0, 0", ""
    yield f"{what}: lateness p50, p99", f"{ms(found['late_us']['p50'])}, {ms(found['late_us']['p99'])}", "", "p99 1 ms", ""
    yield f"{what}: lateness p99 while they joined", ms(joins["p99"]), "", "", ""
    yield f"{what}: updates of a client, bytes down", f"{found['updates_hz']:.1f}/s, {size(found, 'received')}", "", f"{rate}/s", ""
    yield f"{what}: server for a datagram", f"{found['watched_us_per_datagram']:.2f} us", before.get("us", ""), "2.5 us", PEERS["us"]
    yield f"{what}: memory of a client, shared", f"{each:.1f} kB, {grown[1] - each * found['clients']:,.0f} kB", before.get("kb", ""), "16 kB", PEERS["kb"]
    yield f"{what}: cores of server, of clients", f"{found['watched_cores']:.2f}, {found['own_cores']:.2f}", "", "1", ""


def print_row(cells):
    print("| " + " | ".join(f"{cell:<{width}}" for cell, width in zip(cells, WIDTHS)) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[0].removeprefix("usage: "), description=__doc__.split("\n\n", 1)[1],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    options = parser.parse_args()
    programs = (options.build / "bin").resolve()
    print_row(("", "now", "before", "aim", "peers"))
    print_row(["-" * max(3, width) for width in WIDTHS])
    with tempfile.TemporaryDirectory() as name:
        for row in rows(Bench(programs, pathlib.Path(name), options)):
            print_row(row)


if __name__ == "__main__":
    sys.exit(main())
