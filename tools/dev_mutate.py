# SPDX-License-Identifier: MIT
"""usage: ./dev mutate FILE TESTS [COUNT [SEED]]

Tests the tests: changes one operator of FILE at a time, builds, runs the ctest names that match TESTS,
and lists the changes that no test noticed. Works on a copy of the tree under build/mutate, never on
the tree itself, under the address and undefined-behaviour sanitizers. COUNT changes (default 40) are picked by SEED (default 1). Some survivors mean the same
as the original; each other one is a rule without a test."""

import os
import random
import re
import shutil
import subprocess
import sys

CHANGES = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
    (r" == ", " != "), (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "),
    (r" \+ ", " - "), (r" - ", " + "), (r" \+= ", " -= "), (r" \* ", " + "),
    (r"\+\+", "--"), (r"(?<=[(\s])!(?=[a-z(])", ""), (r"\breturn true\b", "return false"),
    (r"\breturn false\b", "return true"), (r"\b0\b(?!x|\.)", "1"), (r"\b1\b(?!\.|u <<)", "2"),
    (r"\bfalse\b", "true"), (r"\bcontinue;", ";"), (r"\bbreak;", ";"),
]


def mutants_of(text):
    found = []
    for number, line in enumerate(text.splitlines()):
        code = line.split("//")[0]
        if re.match(r"\s*(#|_Static_assert|CAIRN_ASSERT|static_assert|\")", code):
            continue
        for pattern, replacement in CHANGES:
            for match in re.finditer(pattern, code):
                changed = line[: match.start()] + replacement + line[match.end() :]
                found.append((number, line, changed))
    return found


def run(command, folder, seconds):
    try:
        return subprocess.run(
            command, cwd=folder, capture_output=True, timeout=seconds, check=False
        ).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def build(folder):
    return run(["cmake", "--build", "build", "--", "-j2"], folder, 600)


def test(folder, tests):
    command = ["ctest", "--test-dir", "build", "-R", tests, "-LE", "long", "-j2", "--timeout", "20",
               "--no-tests=error"]
    return run(command, folder, 300)


def copy_tree(root, folder):
    shutil.rmtree(folder, ignore_errors=True)
    skipped = shutil.ignore_patterns("build", "build-*", ".git")
    shutil.copytree(root, folder, ignore=skipped)
    sanitize = "-fsanitize=address,undefined -fno-sanitize-recover=all"
    configure = ["cmake", "-G", "Ninja", "-S", ".", "-B", "build", "-DCAIRN_WERROR=OFF",
                 f"-DCMAKE_C_FLAGS=-O1 {sanitize}", f"-DCMAKE_CXX_FLAGS=-O1 {sanitize}"]
    if not run(configure, folder, 120) or not build(folder):
        sys.exit("the unchanged tree does not build")


def verdict(folder, tests):
    if not build(folder):
        return "does not build"
    return "SURVIVED" if test(folder, tests) else "noticed"


def main(file, tests, count="40", seed="1"):
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folder = os.path.join(root, "build", "mutate")
    copy_tree(root, folder)
    if not test(folder, tests):
        sys.exit("the tests fail, or there are none, without any change")
    path = os.path.join(folder, file)
    with open(path, encoding="utf-8") as source:
        original = source.read()
    mutants = mutants_of(original)
    random.Random(int(seed)).shuffle(mutants)
    counts = {"noticed": 0, "SURVIVED": 0, "does not build": 0}
    for number, line, changed in sorted(mutants[: int(count)]):
        lines = original.splitlines(keepends=True)
        lines[number] = changed + "\n"
        with open(path, "w", encoding="utf-8") as source:
            source.write("".join(lines))
        result = verdict(folder, tests)
        counts[result] += 1
        if result == "SURVIVED":
            print(f"{file}:{number + 1}\n  - {line.strip()}\n  + {changed.strip()}", flush=True)
    print(f"{file}: {len(mutants)} possible changes,", ", ".join(f"{n} {k}" for k, n in counts.items()))


if __name__ == "__main__":
    main(*sys.argv[1:])
