# SPDX-License-Identifier: MIT
"""usage: measure_flood.py PROGRAMS [--rate N] [--seconds S] [--runs N] [--bots N]

What floods of hostile datagrams cost a cairnd on loopback while honest bots play: lateness of ticks (p99 and worst), inputs of
the bots that were lost, the server's processor time for each hostile datagram (beyond a run without a flood), in the program
and in the kernel. Prints a row for each kind of flood, from one address and from 10,000, and for one of a client with a valid token; medians of
the runs."""

import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

FLOODS = [("none", 1)] + [(kind, sources) for sources in (1, 10000) for kind in ("junk", "request", "replay", "payload", "mix")]
FLOODS += [("member", 1)]


def cpu_seconds(pid):
    """In the program and in the kernel."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) / os.sysconf("SC_CLK_TCK"), int(fields[12]) / os.sysconf("SC_CLK_TCK")


def socket_drops(port):
    for line in pathlib.Path("/proc/net/udp").read_text().splitlines()[1:]:
        fields = line.split()
        if int(fields[1].split(":")[1], 16) == port:
            return int(fields[-1])
    return 0


def run(programs, folder, kind, sources, options):
    log = folder / "server.log"
    with log.open("w") as out:
        server = subprocess.Popen([programs / "cairnd", "--listen", "127.0.0.1:0", "--key-file", "key", "--log", "json",
                                   "--stats-interval", str(options.seconds)], cwd=folder, stdout=out, stderr=out)
    try:
        while '"listening"' not in log.read_text():
            time.sleep(0.02)
        address = next(json.loads(line)["address"] for line in log.read_text().splitlines() if '"listening"' in line)
        bots = [subprocess.Popen([programs / "cairn-bot", "--key", "key", "--server", address, "--client-id", str(i + 1), "--mode",
                                  ["interpolate", "lockstep"][i % 2], "--inputs", "random", "--seconds", str(2 * options.seconds + 1)],
                                 cwd=folder, stdout=subprocess.PIPE, text=True) for i in range(options.bots)]
        # The second interval of the statistics is the flood's.
        while log.read_text().count('"stats"') < 1:
            time.sleep(0.02)
        before, begin = cpu_seconds(server.pid), time.monotonic()
        sent = 0
        if kind != "none":
            flood = subprocess.run([programs / "flood", "--key", "key", "--server", address, "--kind", kind, "--rate", str(options.rate),
                                    "--seconds", str(options.seconds - 0.2), "--sources", str(sources)], cwd=folder, check=True,
                                   capture_output=True, text=True)
            sent = json.loads(flood.stdout)["sent"]
        while log.read_text().count('"stats"') < 2:
            time.sleep(0.02)
        user, kernel = (after - start for after, start in zip(cpu_seconds(server.pid), before))
        seconds = time.monotonic() - begin
        dropped = socket_drops(int(address.split(":")[1]))
        ends = [json.loads(bot.communicate(timeout=30)[0].splitlines()[-1]) for bot in bots]
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(10)
    stats = [json.loads(line) for line in log.read_text().splitlines() if '"stats"' in line][1]
    loss = max(end["loss"] for end in ends)
    return {"sent": sent, "rate": sent / seconds, "late_us_p99": stats["late_us_p99"], "late_us_max": stats["late_us_max"],
            "skipped": stats["skipped"], "inputs_late": stats["inputs_late"], "loss": loss, "kernel_drops": dropped,
            "cpu": (user + kernel) / seconds, "user": user, "kernel": kernel}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--rate", type=int, default=100000)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--bots", type=int, default=4)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    programs = options.programs.resolve()
    idle = None
    print(f"{'flood':<9}{'sources':>8}{'sent/s':>9}{'late p99 us':>12}{'late max us':>12}{'skipped':>8}{'late inputs':>12}{'loss %':>8}"
          f"{'cpu':>6}{'user us':>9}{'kernel us':>11}{'kernel drops':>13}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([programs / "cairn-token", "keygen", "--out", "key"], cwd=folder, check=True, capture_output=True)
        for kind, sources in FLOODS:
            if options.only and kind not in ("none", *options.only.split(",")):
                continue
            rows = [run(programs, folder, kind, sources, options) for _ in range(options.runs)]
            middle = {key: statistics.median(row[key] for row in rows) for key in rows[0]}
            idle = middle if kind == "none" else idle
            taken = max(1, middle["sent"] - middle["kernel_drops"])
            user, kernel = ((middle[part] - idle[part]) / taken * 1e6 for part in ("user", "kernel"))
            print(f"{kind:<9}{sources:>8}{middle['rate']:>9.0f}{middle['late_us_p99']:>12.0f}{middle['late_us_max']:>12.0f}"
                  f"{middle['skipped']:>8.0f}{middle['inputs_late']:>12.0f}{100 * middle['loss']:>8.3f}{middle['cpu']:>6.2f}{user:>9.2f}"
                  f"{kernel:>11.2f}{middle['kernel_drops']:>13.0f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
