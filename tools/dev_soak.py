# SPDX-License-Identifier: MIT
"""usage: ./dev soak [--hours N] [--minutes N] [--bots N] [--simulating N] [--scene NAME] [--seed N] [--build FOLDER]

Long runs in which nothing may grow and no hash may differ. Prints samples and a verdict of each part.

  --hours N        virtual time of one storm in one process (default 8; 0: none): memory of the process in each tenth
  --minutes N      a cairnd on loopback with bots in real time (default 60; 0: none): its memory and its descriptors
  --bots N         how many (default 200): they follow snapshots, but for
  --simulating N   that simulate in turns of mode (default: one in four)
  --scene NAME     of the cairnd (default: its own)
  --seed N         of the storm (default 1)
  --build FOLDER   default build/release

Beside other work bots run out of time: `chrt -f 10 ./dev soak` puts all its processes before the others."""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

# What memory may differ between the first and the last fifth of a run after its first tenth.
GROWTH_KB_MAX = 2048
GROWTH_PERCENT_MAX = 2
PLAYERS = 48


def memory_kb(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0  # it has ended


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def mean(values):
    return sum(values) / max(1, len(values))


# Whether the memory of the last fifth is that of the first, after a tenth in which it warms up.
def is_flat(samples):
    warm = samples[len(samples) // 10:]
    fifth = max(1, len(warm) // 5)
    first, last = mean(warm[:fifth]), mean(warm[-fifth:])
    print(f"memory: {first:.0f} kB in the first fifth, {last:.0f} kB in the last, at most {max(samples)} kB")
    return last - first <= max(GROWTH_KB_MAX, first * GROWTH_PERCENT_MAX / 100)


def soak_storm(programs, options):
    command = [programs / "storm", "--seeds", f"{options.seed},1", "--seconds", str(int(options.hours * 3600))]
    samples, begin = [], time.monotonic()
    with tempfile.TemporaryFile("w+") as out:
        with subprocess.Popen(command, stdout=out, stderr=out) as storm:
            while storm.poll() is None:
                samples.append(memory_kb(storm.pid))
                time.sleep(0.5)
        out.seek(0)
        print(out.read(), end="")
    samples = [sample for sample in samples if sample > 0]
    print(f"storm of {options.hours:g} h: {time.monotonic() - begin:.0f} s")
    # Worlds, clients and servers come and go, and the storm holds each of them to a bound of growth. What nobody holds
    # would make the highest samples higher.
    half = len(samples) // 2
    first, second = max(samples[:half], default=0), max(samples[half:], default=0)
    print(f"memory: at most {first} kB in the first half, {second} kB in the second")
    return storm.returncode == 0 and second - first <= max(GROWTH_KB_MAX, first * GROWTH_PERCENT_MAX / 100)


def start_server(programs, folder, options):
    subprocess.run([programs / "cairn-token", "keygen", "--out", "key"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    log = open(folder / "server.log", "w")
    server = subprocess.Popen([programs / "cairnd", "--listen", "127.0.0.1:0", "--key-file", "key", "--log", "json", "--stats-interval", "10",
                               "--clients-max", str(options.bots + 8), "--record", "soak.cairn",
                               *(["--scene", options.scene] if options.scene else [])], cwd=folder, stdout=log, stderr=log)
    while '"listening"' not in (folder / "server.log").read_text():
        if server.poll() is not None:
            sys.exit("dev soak: " + (folder / "server.log").read_text())
        time.sleep(0.05)
    address = next(json.loads(line)["address"] for line in (folder / "server.log").read_text().splitlines() if '"listening"' in line)
    return server, address


# A process for each mode of players and of spectators.
def start_bots(programs, folder, address, options):
    modes = ["lockstep", "predict", "heal"]
    simulating = options.bots // 4 if options.simulating is None else min(options.simulating, options.bots)
    groups = {}
    for i in range(options.bots):
        # Spread evenly, so that players and spectators have some of each.
        number = i * simulating // options.bots
        simulates = (i + 1) * simulating // options.bots > number
        group = (modes[number % 3] if simulates else "interpolate", i >= PLAYERS)
        groups[group] = groups.get(group, 0) + 1
    bots, first = [], 1
    for (mode, spectates), count in groups.items():
        bots.append(subprocess.Popen([programs / "cairn-bot", "--key", "key", "--server", address, "--client-id", str(first), "--clients",
                                      str(count), "--mode", mode, *(["--spectator"] if spectates else []), "--inputs", "random",
                                      "--seed", str(first), "--seconds", "0"],
                                     cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))
        first += count
    return bots


def soak_loopback(programs, options):
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        server, address = start_server(programs, folder, options)
        bots = start_bots(programs, folder, address, options)
        memory, files = [], []
        time.sleep(10)
        end = time.monotonic() + options.minutes * 60
        try:
            while time.monotonic() < end and server.poll() is None:
                time.sleep(min(5, options.minutes * 3))
                memory.append(memory_kb(server.pid))
                files.append(descriptors(server.pid))
            gone = sum(bot.poll() is not None for bot in bots)
        finally:
            for bot in bots:
                bot.send_signal(signal.SIGINT)
            ends = [json.loads((bot.communicate(timeout=60)[0].splitlines() or ["{}"])[-1]) for bot in bots]
            server.send_signal(signal.SIGTERM)
            server.wait(20)
        stats = [json.loads(line) for line in (folder / "server.log").read_text().splitlines() if '"stats"' in line]
        verified = subprocess.run([programs / "cairn-replay", "verify", "soak.cairn"], cwd=folder, stdout=subprocess.DEVNULL).returncode
    compared, differed = (sum(end.get(key, 0) for end in ends) for key in ("roots_compared", "roots_differed"))
    playing = sum(end.get("clients", 1) - end.get("failed", end.get("state") == "failed") for end in ends)
    print(f"{options.bots} bots for {options.minutes:g} min: {compared} roots compared, {differed} differed; descriptors {min(files)} to {max(files)};"
          f" ticks skipped {stats[-1].get('skipped', 0) if stats else '?'}; recording {'verifies' if verified == 0 else 'DOES NOT VERIFY'}")
    failures += ["a hash differed"] if differed or not compared else []
    failures += ["descriptors leak"] if max(files[len(files) // 2:]) > max(files[: max(1, len(files) // 2)]) else []
    failures += [f"{gone} processes of bots ended early"] if gone else []
    failures += [f"{options.bots - playing} bots did not play to the end"] if playing < options.bots else []
    failures += ["the recording does not verify"] if verified else []
    failures += [f"the server ended with {server.returncode}"] if server.returncode else []
    failures += [] if is_flat(memory) else ["memory grows"]
    print("; ".join(failures) or "flat")
    return not failures


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split(": ", 1)[1])
    parser.add_argument("--hours", type=float, default=8)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--bots", type=int, default=200)
    parser.add_argument("--simulating", type=int)
    parser.add_argument("--scene")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", default="build/release")
    options = parser.parse_args()
    programs = pathlib.Path(options.build, "bin").resolve()
    fine = options.hours == 0 or soak_storm(programs, options)
    fine = (options.minutes == 0 or soak_loopback(programs, options)) and fine
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
