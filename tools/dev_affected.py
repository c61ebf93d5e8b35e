# SPDX-License-Identifier: MIT
"""usage: tools/dev_affected.py BUILD STAMP [SECONDS]

Prints a regular expression for ctest: the tests of BUILD that run or name a file of BUILD newer than the file STAMP.
Prints nothing if there are none. With SECONDS, so many of them as took no longer together when ctest ran them last: first
those of the folders whose objects are newer, then the cheapest. What is left out it counts on standard error."""

import json
import os
import pathlib
import re
import subprocess
import sys

UNKNOWN_COST_S = 1.0  # of a test that has not run in this build


def is_newer(path, build, since):
    return path.startswith(build) and os.path.isfile(path) and os.path.getmtime(path) > since


def names_of(build, since):
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1", "-LE", "structure|long|sweep"], check=True, capture_output=True)
    names = []
    for test in json.loads(listing.stdout)["tests"]:
        files = test.get("command", [])
        # A test with the folder of the programs as an argument depends on all of them.
        programs = [os.path.join(path, name) for path in files if os.path.basename(path) == "bin" for name in os.listdir(path)]
        if any(is_newer(path, build, since) for path in files + programs):
            names.append(test["name"])
    return names


# Lines "NAME RUNS SECONDS", which ctest keeps.
def costs_of(build):
    file = pathlib.Path(build, "Testing/Temporary/CTestCostData.txt")
    rows = [line.split() for line in file.read_text().splitlines()] if file.exists() else []
    return {row[0]: float(row[2]) for row in rows if len(row) == 3}


# The folders of the sources whose objects are newer: sim, server, ...
def folders_of(build, since):
    paths = (path for path in pathlib.Path(build).rglob("*.o") if path.stat().st_mtime > since)
    return {path.relative_to(build).parts[0].replace("client_lib", "client") for path in paths}


def within(names, seconds, costs, folders):
    chosen, sum_s = [], 0.0
    for name in sorted(names, key=lambda name: (name.split(".")[0] not in folders, costs.get(name, UNKNOWN_COST_S))):
        sum_s += costs.get(name, UNKNOWN_COST_S)
        if sum_s > seconds:
            break
        chosen.append(name)
    return chosen


def main(build, stamp, seconds=None):
    build, since = os.path.abspath(build), os.path.getmtime(stamp)
    names = names_of(build, since)
    chosen = names if seconds is None else within(names, float(seconds), costs_of(build), folders_of(build, since))
    if len(chosen) < len(names):
        print(f"{len(names) - len(chosen)} tests that depend on what changed are left to ./dev quick", file=sys.stderr)
    print(pattern_of(chosen))


def pattern_of(names):
    return "^(" + "|".join(re.escape(name) for name in names) + ")$" if names else ""


if __name__ == "__main__":
    main(*sys.argv[1:])
