# SPDX-License-Identifier: MIT
"""usage: ./dev mutate [--count N] [--seed S] [--tests REGEX] [--log FILE] [--sanitize] PATH...

Tests the tests: draws N (40) changes of one operator each by seed S (1) from the C files of PATH (files or folders, for
example net server), makes one at a time in a copy of the tree under build/mutate, and asks the fast tests: it builds and
runs those of the same module, then all others whose programs changed, the quickest first, until one fails. Prints the
changes that no test noticed.

Each result is a line of JSON in FILE (build/mutate/log.jsonl). A change that is there already is not made again, so a run
that was ended goes on where it was, and a test that was added for a survivor is tried by deleting its line. --tests asks
only the tests whose names match; --sanitize builds with the address and undefined-behaviour sanitizers.

A survivor that means the same as the original is no fault of the tests; each other one is a rule without a test."""

import argparse
import json
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import time

CHANGES = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
    (r" == ", " != "), (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "),
    (r" \+ ", " - "), (r" - ", " + "), (r" \+= ", " -= "), (r" \* ", " + "),
    (r"\+\+", "--"), (r"(?<=[(\s])!(?=[a-z(])", ""), (r"\breturn true\b", "return false"),
    (r"\breturn false\b", "return true"), (r"\b0\b(?!x|\.)", "1"), (r"\b1\b(?!\.|u <<)", "2"),
    (r"\bfalse\b", "true"), (r"\bcontinue;", ";"), (r"\bbreak;", ";"),
]
NOT_FAST = {"long", "structure", "fuzz", "sweep", "matrix"}
NOT_FAST_NAMES = re.compile("programs|python|outside|bench|install|.*threads")
SECONDS_OF_A_TEST = 60
COST_MAX = 3  # seconds of processor time; those that cost more repeat what others do


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


def run(command, folder, seconds, environment=None, processor_seconds=None):
    """Whether the command succeeds in this time."""
    def limit():
        if processor_seconds is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (processor_seconds, processor_seconds))
    try:
        done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=seconds, check=False, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def build(folder, targets=()):
    return run(["cmake", "--build", "build", "--", "-j2", *targets], folder, 3600)


class Test:
    """A fast test of the copy, and the files of the build that it names."""

    def __init__(self, described, build_folder):
        properties = {entry["name"]: entry["value"] for entry in described.get("properties", [])}
        self.name, self.command = described["name"], described.get("command", [])
        self.labels = properties.get("LABELS", [])
        self.folder = properties.get("WORKING_DIRECTORY", build_folder)
        self.environment = {**os.environ, **dict(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", []))}
        self.targets = [os.path.relpath(path, build_folder) for path in self.command
                        if path.startswith(build_folder) and os.path.isfile(path)]
        self.cost = SECONDS_OF_A_TEST / 10  # of processor time

    # A mutant may make it ten times slower before it counts as noticed, on a machine that does other work as well.
    def passes(self):
        return run(self.command, self.folder, 10 * SECONDS_OF_A_TEST, self.environment, int(10 * self.cost) + 5)


# Programs on real clocks and sockets fail now and then on a busy machine: they tell nothing of a mutant.
def fast_tests(folder):
    build_folder = str((folder / "build").resolve())
    listing = subprocess.run(["ctest", "--test-dir", build_folder, "--show-only=json-v1"], check=True, capture_output=True)
    tests = [Test(described, build_folder) for described in json.loads(listing.stdout)["tests"]]
    return [test for test in tests if test.targets and not NOT_FAST & set(test.labels) and not NOT_FAST_NAMES.match(test.name)]


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# Measures what each test costs. The names of those that fail.
def measure(tests):
    failed = []
    for test in tests:
        begin = processor_seconds()
        if not test.passes():
            failed.append(test.name)
        test.cost = processor_seconds() - begin
    return failed


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
    if not run(configure, folder, 600) or not build(folder):
        sys.exit("the unchanged tree does not build")


# The tests of the mutant's own module, then all others; the quickest of each first.
def stages(mutant, tests):
    module = mutant["file"].split("/")[0].replace("client_lib", "client") + "."
    quickest = sorted(tests, key=lambda test: test.cost)
    return [[test for test in quickest if test.name.startswith(module)], [test for test in quickest if not test.name.startswith(module)]]


# Puts the change into the copy, builds and asks the tests stage by stage until one fails, and takes the change out again.
# Programs that do not have the change in them are not newer than the stamp. A test that fails has to fail twice.
def verdict(root, folder, mutant, tests):
    path = folder / mutant["file"]
    original = (root / mutant["file"]).read_text()
    lines = original.splitlines(keepends=True)
    line = lines[mutant["line"] - 1]
    lines[mutant["line"] - 1] = line.replace(line.strip(), mutant["to"])
    stamp = folder / "stamp"
    stamp.touch()
    since = os.path.getmtime(stamp)
    time.sleep(0.02)
    path.write_text("".join(lines))
    asked = 0
    try:
        for stage in stages(mutant, tests):
            if not build(folder, sorted({target for test in stage for target in test.targets})):
                return {"result": "does not build"}
            for test in stage:
                if all(os.path.getmtime(folder / "build" / target) <= since for target in test.targets):
                    continue
                asked += 1
                if not test.passes() and not test.passes():
                    return {"result": "noticed", "by": test.name}
        return {"result": "SURVIVED", "asked": asked}
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
    tests = [test for test in fast_tests(folder) if re.search(options.tests or ".", test.name)]
    failed = measure(tests)
    tests = [test for test in tests if test.cost <= COST_MAX]
    if failed:
        sys.exit(f"tests fail without any change: {failed}")
    print(f"{len(tests)} tests, {sum(test.cost for test in tests):.0f} s", flush=True)
    for mutant in drawn:
        if key_of(mutant) not in done:
            done[key_of(mutant)] = {**mutant, **verdict(root, folder, mutant, tests)}
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
