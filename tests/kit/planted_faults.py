# SPDX-License-Identifier: MIT
"""Negative controls: faults that are planted in a copy of the sources, each with the test that must fail. All are compiled
into one copy; the environment variable CAIRN_FAULT chooses one when a test starts. tests/physics/faults.py and
tests/server/faults.py have the tables.

usage: tests/kit/planted_faults.py SOURCE FOLDER    builds one copy in FOLDER with the faults and tests of both tables, so that
                                                    the golden matrix compiles the sources once"""

import os
import pathlib
import runpy
import shutil
import signal
import subprocess
import sys

SPDX = "// SPDX-License-Identifier: MIT\n"
CHOICE = """
#include <stdlib.h>
__attribute__((constructor)) static void choose_fault(void) {
    const char *number = getenv("CAIRN_FAULT");
    cairn_planted_fault = number == NULL ? 0 : (unsigned)atoi(number);
}
"""
DECLARATION = "extern unsigned cairn_planted_fault;\n"
# The file that has the variable: every test links it.
HOME = "base/address.c"
# Whichever makes building and running together shortest: the simulation computes nearly all that the tests compute.
LEVEL = "-O0"
LEVEL_OF_SIM = "add_compile_options(-O1)\n"
# The first number of a table's faults.
FIRST = {"physics": 1, "server": 1001}


# The sources that differ in a copy with these faults. `numbers` has a number for the name of each.
def patched(source, faults, numbers):
    texts = {HOME: (source / HOME).read_text()}
    for name, (what, _, patches) in faults.items():
        for path, anchor, replacement in patches:
            texts.setdefault(path, (source / path).read_text())
            count = texts[path].count(anchor)
            if count != 1:
                sys.exit(f"faults.py: {name} ({what}): its anchor occurs {count} times in {path} and must"
                         f" occur once; adapt the patch to the new code:\n{anchor}")
            replacement = replacement.replace("FAULT", f"(cairn_planted_fault == {numbers[name]})")
            texts[path] = texts[path].replace(anchor, replacement)
    for path in texts:
        texts[path] = texts[path].replace(SPDX, SPDX + DECLARATION, 1)
    texts[HOME] = texts[HOME].replace(DECLARATION, "unsigned cairn_planted_fault;\n", 1) + CHOICE
    texts["sim/CMakeLists.txt"] = LEVEL_OF_SIM + (source / "sim/CMakeLists.txt").read_text()
    return texts


def numbered(module, faults):
    return {name: number for number, name in enumerate(faults, FIRST[module])}


def build(source, folder, tests, texts):
    folder.mkdir(parents=True, exist_ok=True)
    tree = folder / "tree"
    skipped = shutil.ignore_patterns("build", "build-*", ".git")
    shutil.copytree(source, tree, ignore=skipped, dirs_exist_ok=True, copy_function=copy_if_newer)
    for path, text in texts.items():
        if (tree / path).read_text() != text:
            (tree / path).write_text(text)
    targets = sorted({target for test in tests for target in targets_of(folder, test)})
    configure = ["cmake", "-G", "Ninja", "-S", str(tree), "-B", str(folder / "build"), "-DCMAKE_BUILD_TYPE=Quick",
                 f"-DCMAKE_C_FLAGS_QUICK={LEVEL}", f"-DCMAKE_CXX_FLAGS_QUICK={LEVEL}", "-DCAIRN_AVX2=OFF", "-DCAIRN_FUSED=OFF",
                 "-DCAIRN_KERNEL_CALLS=ON", "-DCAIRN_WARNINGS=OFF", "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold"]
    for command in (configure, ["cmake", "--build", str(folder / "build"), "--", "-j2", *targets]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(done.stdout[-3000:] + done.stderr[-3000:])


# Keeps the times of files that are equal, so that a second build is short.
def copy_if_newer(source, target):
    if not os.path.exists(target) or pathlib.Path(source).read_bytes() != pathlib.Path(target).read_bytes():
        shutil.copyfile(source, target)


# Tests that are programs with arguments: the fuzzers of whole sessions, with random scripts. They have to find a fault
# within so many.
SCRIPTS_MAX = 400
PROGRAMS = {"server.session_scripts": ["scripts_server_session", "1", str(SCRIPTS_MAX), "verbose"],
            "client.session_scripts": ["scripts_client_session", "1", str(SCRIPTS_MAX), "verbose"]}


# Tests of whole programs: "programs.cairnd:EXPRESSION" is what pytest's -k chooses in test_cairnd.py.
WHOLE_PROGRAMS = ["cairnd", "cairn-token", "cairn-bot", "cairn-ctl", "cairn-replay", "flood"]


def targets_of(folder, test):
    return WHOLE_PROGRAMS if test.startswith("programs.") else [pathlib.Path(command_of(folder, test)[0]).name]


def command_of(folder, test):
    if test.startswith("programs."):
        file, expression = test.removeprefix("programs.").split(":")
        return ["/usr/bin/python3", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--programs", str(folder / "build" / "bin"),
                str(folder / "tree" / "tests" / "programs" / f"test_{file}.py"), "-k", expression]
    name, *arguments = PROGRAMS.get(test, ["test_" + test.replace(".", "_")])
    return [str(folder / "build" / "bin" / name), *arguments]


# Ends what a test has left, such as a server that a fault made deaf to signals: `timeout` is the leader of a group.
def end_group(leader):
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


# The first case of the test that fails; "" if none does. The cases after it are not run. A crash counts as a failure
# without a name.
def failure(folder, test, number):
    scripts = 0
    with subprocess.Popen(["timeout", "1200", *command_of(folder, test)], env={**os.environ, "CAIRN_FAULT": str(number)},
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
        try:
            for line in running.stderr:
                scripts += 1 if line.startswith("script of seed") else 0
                if "[  FAILED  ]" in line and "listed below" not in line:
                    return line.split("]", 1)[1].split(": ")[-1].strip()
            running.wait()
        finally:
            end_group(running.pid)
    words = f"(crash in script {scripts})" if scripts > 0 else "(fails)" if test.startswith("programs.") else "(crash, or too slow)"
    return words if running.returncode else ""


# CAIRN_FAULTS_SHARE=K/N in the environment: one in N of all, beginning with the K-th.
def share_of(faults):
    first, count = (int(word) for word in os.environ.get("CAIRN_FAULTS_SHARE", "0/1").split("/"))
    return list(faults)[first::count]


# `module`: the folder of the table. With --built the copy is there already.
def main(usage, faults, module):
    arguments = sys.argv[1:]
    if not arguments:
        sys.exit(usage)
    source = pathlib.Path(arguments[0]).resolve()
    numbers = numbered(module, faults)
    texts = patched(source, faults, numbers)
    if len(arguments) == 1:
        for name, (what, test, _) in faults.items():
            print(f"{name:22} {test:28} {what}")
        return
    folder = pathlib.Path(arguments[1]).resolve()
    everything = "--all" in arguments
    chosen = [name for name in arguments[2:] if not name.startswith("--")] or share_of(faults)
    tests = {test for _, test, _ in faults.values()}
    if "--built" not in arguments:
        build(source, folder, tests if everything else {faults[name][1] for name in chosen}, texts)
    unnoticed = 0
    for name, (what, test, _) in faults.items():
        if name not in chosen:
            continue
        for run in sorted(tests) if everything else [test]:
            failed = failure(folder, run, numbers[name])
            print(f"{name:22} {run:20} {failed or 'UNNOTICED'}", flush=True)
            unnoticed += 1 if not failed and run == test else 0
    healthy = [test for test in tests if not everything and (folder / "build").exists()
               and test in {faults[name][1] for name in chosen} and failure(folder, test, 0)]
    if unnoticed or healthy:
        sys.exit(f"{unnoticed} faults unnoticed; tests that fail without a fault: {healthy}")


# Builds the tests of the chosen faults alone. CAIRN_FAULTS_OF=MODULE in the environment: of the faults of that table.
def build_both(source, folder):
    faults, numbers, tests = {}, {}, set()
    for module in FIRST:
        table = runpy.run_path(str(source / "tests" / module / "faults.py"))["FAULTS"]
        numbers |= numbered(module, table)
        if faults.keys() & table.keys():
            sys.exit(f"two faults have one name: {sorted(faults.keys() & table.keys())}")
        faults |= table
        if os.environ.get("CAIRN_FAULTS_OF", module) == module:
            tests |= {table[name][1] for name in share_of(table)}
    build(source, folder, tests, patched(source, faults, numbers))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    build_both(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
