# SPDX-License-Identifier: MIT
"""usage: ./dev mutate [--count N] [--seed S] [--again FILE] [--tests REGEX] [--programs REGEX] [--log FILE] [--sanitize] PATH...

Tests the tests: draws N (40) changes of one operator each by seed S (1) from the C files of PATH (files or folders, for
example net server), and asks the fast tests about each of them. Prints the changes that no test noticed.

All changes are compiled into one copy of the tree under build/mutate: a function with a change is there twice, and the
environment variable CAIRN_MUTANT chooses one change when a test starts. Each test is first run without a change, which
shows what it costs and which of these functions it calls. A change is shown to the tests that call its function, the most
probable and cheapest first, until one fails. A change outside of functions is built alone.

Each result is a line of JSON in FILE (build/mutate/log.jsonl). A change that is there already is not tried again, so a run
that was ended goes on where it was, and a test that was added for a survivor is tried by deleting its line. --tests asks
only the tests whose names match. --again asks about the survivors in the log of an earlier run, also of an older tree, in place
of drawn changes; --log should then name another file. --programs asks these slow tests too, of whole programs and of threads, about changes in
functions that no fast test calls. --sanitize builds with the address and undefined-behaviour sanitizers.

A survivor that means the same as the original is no fault of the tests; each other one is a rule without a test.
tests/equal_mutants.txt lists the first, each with its reason; they count as equal and are not printed. So does the smaller or
larger of two numbers with another comparison: "a < b ? a : b" and "a <= b ? a : b"."""

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
import tempfile
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
HOME = "base/address.c"  # every test links it
SPDX = "// SPDX-License-Identifier: MIT\n"
DECLARATIONS = "extern unsigned cairn_mutant;\nextern unsigned char cairn_mutant_called[];\n"
CHOICE = """
#include <stdlib.h>
unsigned cairn_mutant;
unsigned char cairn_mutant_called[COUNT];
__attribute__((constructor)) static void choose_mutant(void) {
    const char *number = getenv("CAIRN_MUTANT");
    cairn_mutant = number == NULL ? 0 : (unsigned)atoi(number);
}
__attribute__((destructor)) static void write_called(void) {
    const char *path = getenv("CAIRN_MUTANT_CALLED");
    FILE *file = path == NULL ? NULL : fopen(path, "ab");
    if (file != NULL) {
        fwrite(cairn_mutant_called, 1, sizeof cairn_mutant_called, file);
        fclose(file);
    }
}
"""


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


def survivors(root, log, paths):
    """Those of a log whose lines still exist, at the place nearest to where they were."""
    found = []
    for entry in map(json.loads, pathlib.Path(log).read_text().splitlines()):
        file = root / entry["file"]
        if entry["result"] != "SURVIVED" or not file.exists() or not entry["file"].startswith(tuple(paths)):
            continue
        places = [number for number, line in enumerate(file.read_text().splitlines(), 1) if line.strip() == entry["from"]]
        if places:
            line = min(places, key=lambda number: abs(number - entry["line"]))
            found.append({"file": entry["file"], "line": line, "from": entry["from"], "to": entry["to"]})
    return found


class Function:
    """A function of a formatted source: lines [first, last], from its type to the brace in column 0."""

    def __init__(self, lines, first, opened, last):
        self.first, self.opened, self.last = first, opened, last
        self.head = "\n".join(lines[first:opened + 1])
        match = re.search(r"\b(\w+)\(", self.head)
        self.name, self.before, inside = match.group(1), self.head[:match.start()], self.head[match.end():]
        inside = inside[:inside.rindex(")")]
        depth, parameters = 0, [""]
        for character in inside:
            depth += {"(": 1, ")": -1}.get(character, 0)
            if character == "," and depth == 0:
                parameters.append("")
            else:
                parameters[-1] += character
        parameters = [parameter.strip() for parameter in parameters if parameter.strip() not in ("", "void")]
        names = [re.search(r"\(\*(\w+)\)|(\w+)\s*(\[[^]]*\]\s*)*$", parameter) for parameter in parameters]
        self.arguments = [match and (match.group(1) or match.group(2)) for match in names]
        self.usable = None not in self.arguments and "..." not in inside
        self.returns = re.search(r"\bvoid\s*$", self.before) is None

    def copy(self, lines, number, mutant):
        body = list(lines[self.opened + 1:self.last + 1])
        at = mutant["line"] - 1 - self.opened - 1
        body[at] = body[at].replace(body[at].strip(), mutant["to"])
        head = self.head.replace(self.name + "(", f"{self.name}_mutant{number}(", 1)
        return ("" if "static" in self.before else "static ") + head + "\n" + "\n".join(body)

    def choices(self, numbers, index):
        text = f"    cairn_mutant_called[{index}] = 1;\n"
        for number in numbers:
            call = f"{self.name}_mutant{number}({', '.join(self.arguments)});"
            text += f"    if (cairn_mutant == {number}) {{ " + (f"return {call}" if self.returns else f"{call} return;") + " }\n"
        return text


def functions_of(lines):
    found, first = [], None
    for i, line in enumerate(lines):
        if first is None and re.match(r"[A-Za-z_]", line) and not re.match(r"typedef|_Static_assert|extern|enum", line):
            first = i
        if first is not None and line.endswith("{"):
            head = " ".join(lines[first:i + 1])
            if "(" in head and "=" not in head and i < len(lines):
                last = next(k for k in range(i, len(lines)) if lines[k] == "}")
                found.append(Function(lines, first, i, last))
            first = None
        elif first is not None and (line.endswith((";", ")")) or line == ""):
            first = first if line.endswith(")") and first == i and "(" in line and not line.startswith(tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")) else None
    return found


class Copy:
    """The sources with every change in them. `number` of a mutant: its place among those drawn, from 1."""

    def __init__(self, root, mutants):
        self.places = {}  # of a mutant's number: its function's index; none: it is outside of functions
        self.texts = {}
        self.ranges = {}  # of a file: (first line, last line, number) of its changed functions
        index = 0
        for path in sorted({mutant["file"] for mutant in mutants.values()} | {HOME}):
            lines = (root / path).read_text().splitlines()
            out, ranges, at = [], [], 0
            for function in functions_of(lines):
                inside = {number: mutant for number, mutant in mutants.items() if mutant["file"] == path
                          and function.opened < mutant["line"] - 1 <= function.last}
                if not inside or not function.usable:
                    continue
                out += lines[at:function.first] + (function.head[:-1].rstrip() + ";").split("\n")  # for recursion
                for number, mutant in inside.items():
                    copy = function.copy(lines, number, mutant).split("\n")
                    ranges.append((len(out), len(out) + len(copy), number))
                    out += copy
                    self.places[number] = index
                out += lines[function.first:function.opened + 1] + function.choices(inside, index).rstrip("\n").split("\n")
                at, index = function.opened + 1, index + 1
            text = "\n".join(out + lines[at:]) + "\n"
            self.texts[path] = text.replace(SPDX, SPDX + DECLARATIONS, 1)
            shift = DECLARATIONS.count("\n")
            self.ranges[path] = [(first + shift, last + shift, number) for first, last, number in ranges]
        self.texts[HOME] = self.texts[HOME].replace(DECLARATIONS, "") + CHOICE.replace("COUNT", str(index + 1))

    def write(self, folder):
        for path, text in self.texts.items():
            if (folder / path).read_text() != text:
                (folder / path).write_text(text)

    def numbers_of_errors(self, output):
        found = set()
        for path, line in re.findall(r"([\w./]+\.c):(\d+):\d+: error", output):
            for known, ranges in self.ranges.items():
                if path.endswith(known):
                    found |= {number for first, last, number in ranges if first < int(line) <= last}
        return found


def build(folder, targets=()):
    done = subprocess.run(["cmake", "--build", "build", "--", "-j2", "-k", "0", *targets], cwd=folder, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stdout + done.stderr


class Test:
    """A test of the copy, and the files of the build that it names."""

    def __init__(self, described, build_folder):
        properties = {entry["name"]: entry["value"] for entry in described.get("properties", [])}
        self.name, self.command = described["name"], described.get("command", [])
        self.labels = properties.get("LABELS", [])
        self.folder = properties.get("WORKING_DIRECTORY", build_folder)
        self.environment = {**os.environ, **dict(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", [])), "PYTEST_ADDOPTS": "-x"}
        self.targets = [os.path.relpath(path, build_folder) for path in self.command
                        if path.startswith(build_folder) and os.path.isfile(path)]
        self.of_programs = self.name.startswith("programs.")
        self.cost = SECONDS_OF_A_TEST / 5  # of processor time
        self.calls = b""

    # Programs on real clocks and sockets fail now and then on a busy machine: without --programs they are not asked.
    def is_fast(self):
        return bool(self.targets) and not NOT_FAST & set(self.labels) and not NOT_FAST_NAMES.match(self.name)

    def passes(self, **environment):
        """Whether it passes, up to its first case that fails. A mutant may make it five times slower."""
        def limit():
            seconds = int(5 * self.cost) + 2
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        command = ["timeout", str(5 * SECONDS_OF_A_TEST), *self.command]
        with subprocess.Popen(command, cwd=self.folder, env={**self.environment, **environment}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", preexec_fn=limit) as running:
            for line in running.stderr:
                if "[  FAILED  ]" in line and not self.of_programs:
                    running.terminate()
                    return False
        return running.returncode == 0

    def measure(self, function_count):
        begin = processor_seconds()
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name, "called")
            passed = self.passes(CAIRN_MUTANT_CALLED=str(path))
            called = path.read_bytes() if path.exists() else b""
        self.calls = bytes(max(called[i::function_count], default=0) for i in range(function_count))
        self.cost = processor_seconds() - begin
        return passed

    # The cheaper and the more probable it is to notice a change of this file, the earlier it is asked.
    def rank(self, mutant):
        path = pathlib.Path(mutant["file"])
        module = path.parts[0].replace("client_lib", "client")
        same = path.stem in self.name.replace(".", "_")
        probability = 0.5 if same else 0.15 if self.name.startswith(module + ".") else 0.05
        return (self.cost + 0.03) / probability


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read_tests(folder):
    build_folder = str((folder / "build").resolve())
    listing = subprocess.run(["ctest", "--test-dir", build_folder, "--show-only=json-v1"], check=True, capture_output=True)
    return [Test(described, build_folder) for described in json.loads(listing.stdout)["tests"]]


def copy_tree(root, folder, texts):
    folder.mkdir(parents=True, exist_ok=True)
    names = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout.split("\n")
    for name in filter(None, names):
        source, target = root / name, folder / name
        if source.is_file() and name not in texts and not (target.exists() and source.read_bytes() == target.read_bytes()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    for name in texts:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if not (folder / name).exists():
            shutil.copy(root / name, folder / name)


def configure(folder, sanitize):
    flags = "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all" if sanitize else "-O1"
    command = ["cmake", "-G", "Ninja", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Quick", "-DCAIRN_WERROR=OFF", "-DCAIRN_TEST_FLAGS=-O0",
               f"-DCMAKE_C_FLAGS_QUICK={flags}", f"-DCMAKE_CXX_FLAGS_QUICK={flags}", "-DCAIRN_AVX512=OFF",
               "-DCAIRN_FUSED=OFF", "-DCAIRN_HARDEN=OFF", "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


# Builds the copy without the changes that do not compile. Returns it and their numbers.
def build_copy(root, folder, mutants, sanitize):
    broken = set()
    while True:
        copy = Copy(root, {number: mutant for number, mutant in mutants.items() if number not in broken})
        copy_tree(root, folder, copy.texts)
        copy.write(folder)
        configure(folder, sanitize)
        errors = build(folder)
        if errors is None:
            return copy, broken
        numbers = copy.numbers_of_errors(errors)
        if not numbers:
            sys.exit("the unchanged tree does not build:\n" + errors[-2000:])
        broken |= numbers


# A test that fails has to fail twice.
def ask(tests, mutant, **environment):
    asked = 0
    for test in sorted(tests, key=lambda test: test.rank(mutant)):
        asked += 1
        if not test.passes(**environment) and not test.passes(**environment):
            return {"result": "noticed", "by": test.name, "asked": asked}
    return {"result": "SURVIVED", "asked": asked}


def verdict(copy, number, mutant, fast, programs):
    place = copy.places[number]
    asked = [test for test in fast if test.calls[place]] or [test for test in programs if test.calls[place]]
    return ask(asked, mutant, CAIRN_MUTANT=str(number))


# A change outside of functions is built alone. Then the tests run that link the changed file.
def verdict_alone(root, folder, mutant, fast, copy):
    path = folder / mutant["file"]
    original = path.read_text()
    line = (root / mutant["file"]).read_text().splitlines()[mutant["line"] - 1]
    if original.count(line) != 1:
        return {"result": "not tried", "why": "its line occurs several times"}
    stamp = folder / "stamp"
    stamp.touch()
    since = os.path.getmtime(stamp)
    time.sleep(0.02)
    path.write_text(original.replace(line, line.replace(line.strip(), mutant["to"])))
    try:
        if build(folder) is not None:
            return {"result": "does not build"}
        changed = [test for test in fast if any(os.path.getmtime(folder / "build" / target) > since for target in test.targets)]
        return ask(changed, mutant)
    finally:
        path.write_text(original)
        build(folder)


# Changes after which a program does the same: (file, from, to).
def read_equal(root):
    text = (root / "tests" / "equal_mutants.txt").read_text()
    blocks = [block.splitlines() for block in text.split("\n\n")[1:]]
    return {(file, before.removeprefix("- "), after.removeprefix("+ ")) for file, before, after, _ in blocks}


def key_of(mutant):
    return (mutant["file"], mutant["from"], mutant["to"], mutant["line"])


# "a < b ? a : b" is the same with <=: where both are equal either is the result.
OPERAND = r"[\w.>\[\]*-]+"
BEFORE, AFTER = r"(?:(?<=[^=!<>]= )|(?<=return )|(?<=[(])|(?<=, ))", "(?=[;),])"
SMALLER_OR_LARGER = re.compile(
    rf"{BEFORE}({OPERAND}) (?P<than><=?|>=?) ({OPERAND}) \? (?:\1 : \3|\3 : \1){AFTER}")


def is_smaller_or_larger(mutant):
    for match in SMALLER_OR_LARGER.finditer(mutant["from"]):
        than = match["than"]
        other = than[0] if than.endswith("=") else than + "="
        if mutant["from"][:match.start("than")] + other + mutant["from"][match.end("than"):] == mutant["to"]:
            return True
    return False


def is_equal(mutant, done, equal):
    known = (mutant["file"], mutant["from"], mutant["to"]) in equal or is_smaller_or_larger(mutant)
    return done[key_of(mutant)]["result"] == "SURVIVED" and known


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split(": ", 1)[1])
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again")
    parser.add_argument("--tests", default=".")
    parser.add_argument("--programs")
    parser.add_argument("--log")
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("paths", nargs="+")
    options = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    folder = root / "build" / "mutate"
    log = pathlib.Path(options.log or folder / "log.jsonl")
    drawn, possible = draw(root, options.paths, options.count, options.seed)
    drawn = survivors(root, options.again, options.paths) if options.again else drawn
    mutants = dict(enumerate(drawn, 1))
    equal = read_equal(root)
    begin = time.monotonic()
    copy, broken = build_copy(root, folder, mutants, options.sanitize)
    functions = max(copy.places.values(), default=0) + 2
    tests = read_tests(folder)
    fast = [test for test in tests if test.is_fast() and re.search(options.tests, test.name)]
    programs = [test for test in tests if not test.is_fast() and options.programs and re.search(options.programs, test.name)]
    failed = [test.name for test in fast + programs if not test.measure(functions)]
    if failed:
        sys.exit(f"tests fail without any change: {failed}")
    fast = [test for test in fast if test.cost <= COST_MAX]
    print(f"{len(fast)} tests, {sum(test.cost for test in fast):.0f} s; {time.monotonic() - begin:.0f} s until here", flush=True)
    done = {}
    if log.exists():
        done = {key_of(entry): entry for entry in map(json.loads, log.read_text().splitlines())}
    for number, mutant in mutants.items():
        key = key_of(mutant)
        if key in done:
            continue
        if number in broken:
            done[key] = {**mutant, "result": "does not build"}
        elif number in copy.places:
            done[key] = {**mutant, **verdict(copy, number, mutant, fast, programs)}
        else:
            done[key] = {**mutant, **verdict_alone(root, folder, mutant, fast, copy)}
        with log.open("a") as file:
            file.write(json.dumps({**done[key], "at_s": round(time.monotonic() - begin)}) + "\n")
        if done[key]["result"] == "SURVIVED" and not is_equal(mutant, done, equal):
            print(f"{mutant['file']}:{mutant['line']} ({done[key]['asked']} tests)\n  - {mutant['from']}\n  + {mutant['to']}", flush=True)
    results = ["equal" if is_equal(mutant, done, equal) else done[key_of(mutant)]["result"] for mutant in drawn]
    counts = {result: results.count(result) for result in sorted(set(results))}
    print(f"{len(drawn)} of {possible} possible changes:", ", ".join(f"{n} {what}" for what, n in counts.items()),
          f"; {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
