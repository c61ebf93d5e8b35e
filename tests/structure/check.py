# SPDX-License-Identifier: MIT
"""usage: check.py ROOT RULE [ARGUMENTS]: complaints on standard output, exit 1 when there is one.

RULE is one of rules.TREE_RULES or layout.RULES, techniques, or
  format CLANG_FORMAT            every C and C++ file is as the formatter writes it
  alone COMPILER FLAGS...        every header compiles with nothing in front of it
  imports ROOM NM LIBRARY...     the first library imports only what is allowed; the others are ours

With CAIRN_CHANGED_SINCE=FILE in the environment `format` and `alone` look at files that are newer than FILE (`./dev check`)."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import layout
import rules
import techniques

SKIPPED = ("build", ".git", "corpus", "node_modules")


def read_tree(root):
    tree = {}
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED and not name.startswith("build-")]
        for name in files:
            path = os.path.relpath(os.path.join(folder, name), root)
            if path.endswith(rules.SOURCE + rules.SCRIPT + (".json", ".fbs", ".inc", ".md", ".ts", "retired.txt")):
                with open(os.path.join(root, path), encoding="utf-8") as file:
                    tree[path] = file.read()
            elif path.endswith(".png"):
                tree[path] = ""
    return tree


def changed(root, paths):
    since = os.environ.get("CAIRN_CHANGED_SINCE")
    return [path for path in paths if not since or os.path.getmtime(os.path.join(root, path)) > os.path.getmtime(since)]


def check_format(root, formatter):
    paths = changed(root, sorted(rules.of_kind(read_tree(root), rules.SOURCE)))
    if not paths:
        return []
    result = subprocess.run(
        [formatter, "--dry-run", "-Werror", *paths], cwd=root, capture_output=True, text=True
    )
    lines = [line for line in result.stderr.splitlines() if "error:" in line]
    return lines or (["the formatter failed: " + result.stderr] if result.returncode else [])


def compile_alone(root, command, header):
    result = subprocess.run(
        [*command, "-fsyntax-only", "-Iinclude", "-I.", "-include", header, "-x", "c", "/dev/null"],
        cwd=root, capture_output=True, text=True,
    )
    return [] if result.returncode == 0 else [f"{header}: {result.stderr}"]


# Headers that a source includes before anything else: every build compiles them alone.
def first_of_sources(tree):
    firsts = set()
    for text in rules.of_kind(tree, (".c",)).values():
        first = re.search(r"^#.*$", text, re.M)
        found = first and re.fullmatch(r'#include [<"](.+)[>"]', first.group(0))
        if found:
            firsts |= {found.group(1), "include/" + found.group(1)}
    return firsts


def check_alone(root, command, headers=None):
    if not headers:
        tree = read_tree(root)
        headers = changed(root, sorted(set(rules.of_kind(tree, (".h",))) - first_of_sources(tree)))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda header: compile_alone(root, command, header), headers)
    return [complaint for complaints in results for complaint in complaints]


def run_nm(nm, options, library):
    return subprocess.run(
        [nm, "-A", *options, library], check=True, capture_output=True, text=True
    ).stdout


def check_imports(room, nm, libraries):
    own = {
        line.split()[-1]
        for library in libraries
        for line in run_nm(nm, ["--defined-only"], library).splitlines()
        if line.split()
    }
    return rules.check_imports(room, run_nm(nm, ["--undefined-only"], libraries[0]), own)


def main(root, rule, *arguments):
    if rule == "format":
        complaints = check_format(root, arguments[0])
    elif rule == "alone":
        complaints = check_alone(root, arguments)
    elif rule == "imports":
        complaints = check_imports(arguments[0], arguments[1], arguments[2:])
    else:
        tree = read_tree(root)
        complaints = {**rules.TREE_RULES, **layout.RULES, "techniques": techniques.check_techniques}[rule](tree)
        print(rules.describe_lengths(tree) if rule == "lengths" else f"{len(tree)} files read")
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
