# SPDX-License-Identifier: MIT
"""usage: measure_flood.py PROGRAMS [--rate N] [--seconds S] [--runs N] [--bots N] [--joiners N] [--only KIND,KIND...]

What floods of hostile datagrams cost a cairnd on loopback while honest bots play: lateness of ticks (p99 and worst), inputs of
the bots that were lost, the server's processor time for each hostile datagram (beyond a run without a flood), in the program
and in the kernel, what the kernel dropped because the buffer of clients or that of unknown peers was full, and how long other bots
took to join meanwhile, with the start of their process (median and longest). Prints a row for each kind of flood, from one address and
from 10,000, and for one of a client with a valid token; medians of the runs."""

import argparse
import datetime
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

FLOODS = [("none", 1)] + [(kind, sources) for sources in (1, 10000) for kind in ("junk", "request", "replay", "payload", "mix")]
FLOODS += [("member", 1)]


def cpu_seconds(pid):
    """In the program and in the kernel."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) / os.sysconf("SC_CLK_TCK"), int(fields[12]) / os.sysconf("SC_CLK_TCK")


def socket_drops(port):
    """Of all sockets at the port."""
    rows = [line.split() for line in pathlib.Path("/proc/net/udp").read_text().splitlines()[1:]]
    return sum(int(fields[-1]) for fields in rows if int(fields[1].split(":")[1], 16) == port)


def join(start, count, seconds, begun):
    """Starts bots one after the other; adds when each began, by its client id."""
    for number in range(count):
        begun[str(1000 + number)] = time.time()
        start("--client-id", str(1000 + number), "--seconds", "1")
        time.sleep(seconds / count)


def join_ms(lines, begun):
    joined = {line["client"]: datetime.datetime.strptime(line["time"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=datetime.timezone.utc).timestamp()
              for line in lines if line.get("event") == "client_joined"}
    return [1000 * (joined[client] - begin) if client in joined else float("inf") for client, begin in begun.items()]


def run(programs, folder, kind, sources, options):
    log = folder / "server.log"
    with log.open("w") as out:
        server = subprocess.Popen([programs / "cairnd", "--listen", "127.0.0.1:0", "--key-file", "key", "--log", "json",
                                   "--stats-interval", str(options.seconds)], cwd=folder, stdout=out, stderr=out)
    try:
        while '"listening"' not in log.read_text():
            time.sleep(0.02)
        address = next(json.loads(line)["address"] for line in log.read_text().splitlines() if '"listening"' in line)

        def start(*flags):
            return subprocess.Popen([programs / "cairn-bot", "--key", "key", "--server", address, "--inputs", "random", *flags],
                                    cwd=folder, stdout=subprocess.PIPE, text=True)
        bots = [start("--client-id", str(i + 1), "--mode", ["interpolate", "lockstep"][i % 2], "--seconds", str(2 * options.seconds + 1))
                for i in range(options.bots)]
        # The second interval of the statistics is the flood's.
        while log.read_text().count('"stats"') < 1:
            time.sleep(0.02)
        before, begin = cpu_seconds(server.pid), time.monotonic()
        sent = 0
        begun = {}
        joiners = threading.Thread(target=join, args=(start, options.joiners, options.seconds - 1, begun))
        joiners.start()
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
        joiners.join()
        ends = [json.loads(bot.communicate(timeout=30)[0].splitlines()[-1]) for bot in bots]
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(10)
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    stats = [line for line in lines if line["event"] == "stats"][1]
    joins = join_ms(lines, begun) or [0]
    loss = max(end["loss"] for end in ends)
    return {"sent": sent, "rate": sent / seconds, "late_us_p99": stats["late_us_p99"], "late_us_max": stats["late_us_max"],
            "skipped": stats["skipped"], "inputs_late": stats["inputs_late"], "loss": loss, "kernel_drops": dropped,
            "client_drops": stats.get("buffer_dropped", dropped), "join_ms": statistics.median(joins), "join_ms_max": max(joins),
            "cpu": (user + kernel) / seconds, "user": user, "kernel": kernel}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--rate", type=int, default=100000)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--bots", type=int, default=4)
    parser.add_argument("--joiners", type=int, default=0)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    programs = options.programs.resolve()
    idle = None
    print(f"{'flood':<9}{'sources':>8}{'sent/s':>9}{'late p99 us':>12}{'late max us':>12}{'skipped':>8}{'late inputs':>12}{'loss %':>8}"
          f"{'cpu':>6}{'user us':>9}{'kernel us':>11}{'full: clients':>14}{'unknown':>9}{'join ms':>9}{'longest':>9}")
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
                  f"{kernel:>11.2f}{middle['client_drops']:>14.0f}{middle['kernel_drops'] - middle['client_drops']:>9.0f}"
                  f"{middle['join_ms']:>9.0f}{middle['join_ms_max']:>9.0f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
