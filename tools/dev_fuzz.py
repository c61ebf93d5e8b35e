# SPDX-License-Identifier: MIT
"""usage: tools/dev_fuzz.py [--hours N | --seconds N] [--only REGEX] [--list] [--keep] [--build FOLDER]

Runs the libFuzzer targets of a build, one after the other, and prints executions, coverage and corpus of each.

  --seconds N      each target runs N seconds (default 60)
  --hours N        all targets together run N hours; those of whole sessions get the larger shares
  --only REGEX     the targets whose names match
  --list           the targets of the build with the executions that each owes before a release, and nothing else
  --keep           then replace each kept corpus in the repository by the smallest one that covers as much, at most
                   300 kB: largest gains first
  --build FOLDER   default build/fuzz, without sanitizers and so several times faster: what it finds is then read once by the
                   program of build/asan, if that is built. build/asan: with the sanitizers throughout

New inputs are in build/fuzz-found/NAME and are used again by the next run; crashes are in build/fuzz-found/NAME-*. The last
lines are appended to build/fuzz-found/report.csv: target, seconds, executions, edges, features, inputs, bytes."""

import argparse
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FOUND = pathlib.Path("build/fuzz-found")
KEPT_SIZE_MAX = 300 * 1000
# Shares of a night: an execution of a whole session takes a thousand times as long as one of a decoder.
WEIGHTS = {"server_session": 10, "client_session": 10, "server_control": 4, "client_lies": 4}
# Executions that a target owes: small inputs 20 million, a whole session of a server or a client, or a whole world that is
# stepped, 500,000.
OWED = 20_000_000
OWED_SESSIONS = dict.fromkeys(("netcode_client", "netcode_server", "client_lies", "client_session", "server_control", "server_session",
                               "sim_articulation", "sim_fracture", "sim_laboratory"), 500_000)
# Bytes of an input, where the time of an execution grows faster than the input: hulls of twelve points, pieces of one of
# twenty, figures of ten bodies.
LENGTH_MAX = {"sim_hull": 73, "sim_fracture": 84, "sim_articulation": 420, "compress_frame": 128, "compress_snapshot": 256}
# A session allocates and frees whole servers: without these a third of its time is pages that the system clears. What
# measures a world takes megabytes and touches few of them: with these half of its time is clearing.
ENVIRONMENT = {"MALLOC_TRIM_THRESHOLD_": "1000000000", "MALLOC_MMAP_THRESHOLD_": "1000000000", "MALLOC_TOP_PAD_": "67108864"}
# Of a target with tens of thousands of edges, weighing inputs by their rarest features takes a quarter of the time.
OPTIONS = {name: ["-entropic=0"] for name in ("server_session", "client_session", "server_control")}
# A target that finds fewer edges is blind: the code it calls is in none of the folders of CAIRN_FUZZ_FOLDERS (CMakePresets.json).
EDGES_MIN = 10
# Seconds that one input may take; the sanitizers make sessions slow.
TIMEOUT_S = {"server_session": 20, "client_session": 20, "server_control": 20}


def kept_corpus(name):
    found = [path for path in pathlib.Path(".").glob(f"*tests/*/corpus/{name}") if path.is_dir()]
    return found[0] if found else None


def size_of(folder):
    files = [path.stat().st_size for path in folder.iterdir() if path.is_file()] if folder else []
    return len(files), sum(files)


def fuzz(program, name, seconds):
    """Returns the row of the report, and whether nothing was found."""
    found = FOUND / name
    found.mkdir(parents=True, exist_ok=True)
    kept = kept_corpus(name)
    log = FOUND / f"{name}.log"
    options = [f"-timeout={TIMEOUT_S.get(name, 5)}", "-rss_limit_mb=2048", f"-artifact_prefix={found}-"]
    options += [f"-max_len={LENGTH_MAX[name]}"] if name in LENGTH_MAX else []
    command = [program, *options, f"-max_total_time={seconds}", "-print_final_stats=1", *OPTIONS.get(name, []), found] + ([kept] if kept else [])
    watched = pathlib.Path("build/asan/bin", program.name).resolve()
    environment = os.environ if name == "sim_laboratory" else {**os.environ, **ENVIRONMENT}
    with open(log, "wb") as out:
        status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment).returncode
    text = log.read_text(errors="replace")
    if status == 0 and watched != program and watched.exists():
        with open(log, "ab") as out:
            status = subprocess.run([watched, *options, "-runs=0", found], stdin=subprocess.DEVNULL, stdout=out, stderr=out).returncode
    executions = re.findall(r"stat::number_of_executed_units: (\d+)", text) or re.findall(r"^#(\d+)", text, re.M)
    coverage = re.findall(r"cov: (\d+) ft: (\d+)", text)
    edges, features = coverage[-1] if coverage else (0, 0)
    inputs, size = size_of(found)
    row = [name, seconds, int(executions[-1]) if executions else 0, int(edges), int(features), inputs, size]
    blind = int(edges) < EDGES_MIN
    if blind and status == 0:
        with open(log, "a") as out:
            out.write(f"only {edges} edges: is the code that {name} calls in a folder of CAIRN_FUZZ_FOLDERS?\n")
    return row, status == 0 and not blind


def keep(program, name):
    """Replaces the kept corpus by the smallest that covers as many edges."""
    kept = kept_corpus(name)
    if kept is None:
        print(f"dev fuzz: {name} has no corpus folder in the repository")
        return
    with tempfile.TemporaryDirectory() as folder:
        merged = pathlib.Path(folder)
        subprocess.run([program, "-set_cover_merge=1", merged, kept, FOUND / name], check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        files = sorted((path for path in merged.iterdir()), key=lambda path: path.stat().st_size)
        total = 0
        for path in kept.iterdir():
            path.unlink()
        for path in files:
            total += path.stat().st_size
            if total <= KEPT_SIZE_MAX:
                shutil.copy(path, kept / path.name)
    inputs, size = size_of(kept)
    print(f"kept {inputs} of {len(files)} inputs, {size} bytes, in {kept}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plain_seconds", nargs="?", type=int, help="as --seconds")
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--hours", type=float)
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--build", default="build/fuzz")
    options = parser.parse_args()
    programs = {path.name.removeprefix("fuzz_"): path.resolve() for path in sorted(pathlib.Path(options.build, "bin").glob("fuzz_*"))
                if re.search(options.only, path.name.removeprefix("fuzz_"))}
    if not programs:
        sys.exit(f"dev fuzz: no target in {options.build}/bin matches '{options.only}': build the target 'fuzzers' first")
    if options.list:
        for name in programs:
            print(f"{name:<20} {OWED_SESSIONS.get(name, OWED):>10} {'whole session or world' if name in OWED_SESSIONS else 'small inputs'}")
        sys.exit(0)
    seconds = options.seconds or options.plain_seconds or 60
    shares = sum(WEIGHTS.get(name, 1) for name in programs)
    clean = True
    FOUND.mkdir(parents=True, exist_ok=True)
    print(f"{'target':<20} {'seconds':>7} {'executions':>12} {'edges':>7} {'features':>8} {'inputs':>7} {'bytes':>9}", flush=True)
    for name, program in programs.items():
        if options.hours is not None:
            seconds = max(1, int(options.hours * 3600 * WEIGHTS.get(name, 1) / shares))
        row, fine = fuzz(program, name, seconds)
        print("{:<20} {:>7} {:>12} {:>7} {:>8} {:>7} {:>9}".format(*row) + ("" if fine else "  FAILED"), flush=True)
        with open(FOUND / "report.csv", "a", newline="") as out:
            csv.writer(out).writerow(row)
        if not fine:
            clean = False
            print(f"dev fuzz: {name} failed; the end of {FOUND / (name + '.log')}:")
            print("\n".join((FOUND / f"{name}.log").read_text(errors="replace").splitlines()[-40:]), flush=True)
        elif options.keep:
            keep(program, name)
    sys.exit(0 if clean else 1)


if __name__ == "__main__":
    os.environ.setdefault("ASAN_SYMBOLIZER_PATH", "/usr/bin/llvm-symbolizer-14")
    main()
