# SPDX-License-Identifier: MIT
"""usage: ./dev mutate [--count N] [--seed S] [--tests REGEX] [--log FILE] [--sanitize] PATH...

Tests the tests: draws N (40) changes of one operator each by seed S (1) from the C files of PATH (files or folders, for
example net server), makes one at a time in a copy of the tree under build/mutate, builds, and runs the fast tests whose
programs changed, those of the same module first. Prints the changes that no test noticed.

Each result is a line of JSON in FILE (build/mutate/log.jsonl). A change that is there already is not made again, so a run
that was ended goes on where it was, and a test that was added for a survivor is tried by deleting its line. --tests asks
other tests than those that changed; --sanitize builds with the address and undefined-behaviour sanitizers.

A survivor that means the same as the original is no fault of the tests; each other one is a rule without a test."""

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

import dev_affected

CHANGES = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
    (r" == ", " != "), (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "),
    (r" \+ ", " - "), (r" - ", " + "), (r" \+= ", " -= "), (r" \* ", " + "),
    (r"\+\+", "--"), (r"(?<=[(\s])!(?=[a-z(])", ""), (r"\breturn true\b", "return false"),
    (r"\breturn false\b", "return true"), (r"\b0\b(?!x|\.)", "1"), (r"\b1\b(?!\.|u <<)", "2"),
    (r"\bfalse\b", "true"), (r"\bcontinue;", ";"), (r"\bbreak;", ";"),
]
NOT_FAST = "long|structure|fuzz|sweep|matrix"
SECONDS_OF_A_TEST = 60  # five times what the slowest fast test takes


# Preprocessor lines, assertions, strings and comments stay as they are.
def mutants_of(path, text):
    found = []
    in_assertion = False
    for number, line in enumerate(text.splitlines()):
        code = re.sub(r'"(\\.|[^"\\])*"', lambda match: "\0" * len(match.group()), line.split("//")[0])
        in_assertion = in_assertion or re.match(r"\s*(#|_Static_assert|CAIRN_ASSERT|static_assert)", code) is not None
        if in_assertion:
            in_assertion = not code.rstrip().endswith((";", ")")) if "#" not in code else code.rstrip().endswith("\\")
            continue
        for pattern, replacement in CHANGES:
            for match in re.finditer(pattern, code):
                changed = line[: match.start()] + replacement + line[match.end():]
                found.append({"file": path, "line": number + 1, "from": line.strip(), "to": changed.strip()})
    return found


def draw(root, paths, count, seed):
    files = []
    for path in paths:
        here = root / path
        files += sorted(here.rglob("*.c")) if here.is_dir() else [here]
    found = [mutant for file in files for mutant in mutants_of(str(file.relative_to(root)), file.read_text())]
    random.Random(seed).shuffle(found)
    return found[:count], len(found)


def run(command, folder, seconds):
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return False, ""
    return done.returncode == 0, done.stdout


def build(folder):
    return run(["cmake", "--build", "build", "--", "-j2"], folder, 3600)[0]


# Whether the tests pass that match a regular expression, and the names of those that failed.
def test(folder, names):
    passed, output = run(["ctest", "--test-dir", "build", "-R", names, "-LE", NOT_FAST, "-j3", "--stop-on-failure",
                          "--timeout", str(SECONDS_OF_A_TEST), "--no-tests=ignore"], folder, 1200)
    return passed, re.findall(r"Test +#\d+: (\S+) .*\*\*\*", output)


def copy_tree(root, folder, sanitize):
    folder.mkdir(parents=True, exist_ok=True)
    names = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout.split("\n")
    for name in filter(None, names):
        source, target = root / name, folder / name
        if source.is_file() and not (target.exists() and source.read_bytes() == target.read_bytes()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    flags = "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all" if sanitize else "-O1"
    configure = ["cmake", "-G", "Ninja", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Quick", "-DCAIRN_WERROR=OFF",
                 f"-DCMAKE_C_FLAGS_QUICK={flags}", f"-DCMAKE_CXX_FLAGS_QUICK={flags}", "-DCAIRN_AVX512=OFF",
                 "-DCAIRN_FUSED=OFF", "-DCAIRN_HARDEN=OFF", "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold"]
    if not run(configure, folder, 600)[0] or not build(folder):
        sys.exit("the unchanged tree does not build")


# Puts the change into the copy, asks the tests, and takes it out again. Programs are newer than the stamp if the change
# is in them; the tests of the module itself are asked first, because they most often notice.
def verdict(root, folder, mutant, tests):
    path = folder / mutant["file"]
    original = (root / mutant["file"]).read_text()
    lines = original.splitlines(keepends=True)
    line = lines[mutant["line"] - 1]
    lines[mutant["line"] - 1] = line.replace(line.strip(), mutant["to"])
    stamp = folder / "stamp"
    stamp.touch()
    time.sleep(0.02)
    path.write_text("".join(lines))
    try:
        if not build(folder):
            return {"result": "does not build"}
        changed = dev_affected.names_of(str(folder / "build"), str(stamp))
        module = mutant["file"].split("/")[0].replace("client_lib", "client") + "."
        own = [name for name in changed if name.startswith(module)]
        other = [name for name in changed if not name.startswith(module)]
        for names in [tests] if tests else [dev_affected.pattern_of(own), dev_affected.pattern_of(other)]:
            passed, failed = test(folder, names) if names else (True, [])
            if not passed:
                return {"result": "noticed", "by": failed}
        return {"result": "SURVIVED"}
    finally:
        path.write_text(original)


def key_of(mutant):
    return (mutant["file"], mutant["from"], mutant["to"], mutant["line"])


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split(": ", 1)[1])
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tests")
    parser.add_argument("--log")
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("paths", nargs="+")
    options = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    folder = root / "build" / "mutate"
    log = pathlib.Path(options.log or folder / "log.jsonl")
    drawn, possible = draw(root, options.paths, options.count, options.seed)
    done = {}
    if log.exists():
        done = {key_of(entry): entry for entry in map(json.loads, log.read_text().splitlines())}
    copy_tree(root, folder, options.sanitize)
    passed, failed = test(folder, options.tests or ".")
    if not passed:
        sys.exit(f"tests fail without any change: {failed}")
    for mutant in drawn:
        if key_of(mutant) not in done:
            done[key_of(mutant)] = {**mutant, **verdict(root, folder, mutant, options.tests)}
            with log.open("a") as file:
                file.write(json.dumps(done[key_of(mutant)]) + "\n")
        entry = done[key_of(mutant)]
        if entry["result"] == "SURVIVED":
            print(f"{entry['file']}:{entry['line']}\n  - {entry['from']}\n  + {entry['to']}", flush=True)
    results = [done[key_of(mutant)]["result"] for mutant in drawn]
    counts = {result: results.count(result) for result in ("noticed", "SURVIVED", "does not build")}
    print(f"{len(drawn)} of {possible} possible changes:", ", ".join(f"{n} {what}" for what, n in counts.items()))


if __name__ == "__main__":
    main()
