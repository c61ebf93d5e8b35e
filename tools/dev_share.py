# SPDX-License-Identifier: MIT
"""usage: tools/dev_share.py BUILD K/N ALWAYS CTEST-ARGUMENTS...

Of the tests that ctest would run with these arguments in the configured folder BUILD: those whose names match the regular
expression ALWAYS, and of the others one in N, beginning with the K-th. Prints two lines: a regular expression of their names for
ctest, and what ninja has to build for them."""

import json
import os
import pathlib
import re
import subprocess
import sys

# What tests of whole programs need; they name the folder of the programs alone.
PROGRAMS = ["server/all", "tools/all", "robot/all", "rules_file/all", "tests/programs/all"]


def names_of(build, arguments):
    command = ["ctest", "--test-dir", build, "--show-only=json-v1", *arguments]
    listing = subprocess.run(command, check=True, capture_output=True, text=True)
    return [test["name"] for test in json.loads(listing.stdout)["tests"]]


# The commands of tests, which ctest does not tell before their programs are built.
def commands_of(build):
    commands = {}
    for file in pathlib.Path(build).rglob("CTestTestfile.cmake"):
        for name, words in re.findall(r"^add_test\(\[=\[(.+?)\]=\] (.*)\)$", file.read_text(), re.M):
            commands[name] = re.findall(r'"((?:\\.|[^"\\])*)"', words)
    return commands


# Those of whole programs go together: in most shares these programs need not be built.
def unit_of(name):
    return "programs" if name.startswith("programs.") else name


def chosen(names, share, always):
    first, count = (int(word) for word in share.split("/"))
    others = sorted({unit_of(name) for name in names if not re.search(always, name)})
    drawn = set(others[first::count])
    return sorted(name for name in names if re.search(always, name) or unit_of(name) in drawn)


# Rules files that tests of whole programs load.
def modules_of(build):
    return re.findall(r"^build (lib/[^ :]+\.so):", pathlib.Path(build, "build.ninja").read_text(), re.M)


# The programs that the commands name.
def targets_of(build, commands):
    bin_folder = os.path.join(os.path.abspath(build), "bin")
    targets = set()
    for word in (word for command in commands for word in command):
        if os.path.dirname(word) == bin_folder:
            targets.add("bin/" + os.path.basename(word))
        elif os.path.abspath(word) == bin_folder:
            targets.update(PROGRAMS + modules_of(build))
    return sorted(targets)


def main(build, share, always, *arguments):
    names = chosen(names_of(build, arguments), share, always)
    commands = commands_of(build)
    print("^(" + "|".join(re.escape(name) for name in names) + ")$")
    print(" ".join(targets_of(build, [commands[name] for name in names])))


if __name__ == "__main__":
    main(*sys.argv[1:])
