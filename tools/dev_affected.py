# SPDX-License-Identifier: MIT
"""usage: tools/dev_affected.py BUILD STAMP

Prints a regular expression for ctest: the tests of BUILD that run or name a file of BUILD newer than the file STAMP.
Prints nothing if there are none."""

import json
import os
import re
import subprocess
import sys


def is_newer(path, build, since):
    return path.startswith(build) and os.path.isfile(path) and os.path.getmtime(path) > since


def names_of(build, stamp):
    build = os.path.abspath(build)
    since = os.path.getmtime(stamp)
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True)
    names = []
    for test in json.loads(listing.stdout)["tests"]:
        files = test.get("command", [])
        # A test with the folder of the programs as an argument depends on all of them.
        programs = [os.path.join(path, name) for path in files if os.path.basename(path) == "bin" for name in os.listdir(path)]
        if any(is_newer(path, build, since) for path in files + programs):
            names.append(test["name"])
    return names


def pattern_of(names):
    return "^(" + "|".join(re.escape(name) for name in names) + ")$" if names else ""


if __name__ == "__main__":
    print(pattern_of(names_of(*sys.argv[1:])))
