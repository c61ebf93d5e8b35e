# SPDX-License-Identifier: MIT
"""usage: hardened.py READELF ARCHITECTURE program|library FILE...: complaints on standard output, exit 1 if any

Whether programs and libraries are as cmake/cairn_flags.cmake hardens them. A program shows most of it in its headers and
imports. What the C library's own start files lack (CET) and what leaves no trace in a program (stack clash) is read from
the objects of the libraries: each names its compiler's flags if it has debug information."""

import re
import subprocess
import sys

# Functions that _FORTIFY_SOURCE replaces wherever they are called. Others stay if the size of the target is not known.
CHECKED = ("fprintf", "printf", "vfprintf")
# What gcc records of its command line (sim/CMakeLists.txt says why some objects of sim have no stack protector); -fcf-protection, which it does not, is a property of the object.
FLAGS = ["-fPIE", "-fstack-protector-strong"]
UNPROTECTED = ("pair_cache.c.o", "measure.c.o", "solver_bodies.c.o", "contact_solver.c.o", "figure_solver.c.o", "integrate.c.o", "joint_solver.c.o")
CLASH = "-fstack-clash-protection"


# `listing` is what `readelf -hldW --dyn-syms` prints.
def check_program(name, listing):
    imports = set(re.findall(r" UND (\w+)", listing))
    stack = re.search(r"GNU_STACK .*", listing)
    rules = {
        "is not position independent (-pie)": re.search(r"FLAGS_1.*\bPIE\b", listing),
        "has writable relocations (-z relro)": "GNU_RELRO" in listing,
        "binds lazily (-z now)": re.search(r"FLAGS_1.*\bNOW\b", listing),
        "has an executable stack (-z noexecstack)": stack and " RWE " not in stack.group(),
        "checks no stack (-fstack-protector-strong)": "__stack_chk_fail" in imports,
        "checks no size (_FORTIFY_SOURCE)": any(f"__{call}_chk" in imports for call in CHECKED),
    }
    complaints = [f"{name} {rule}" for rule, kept in rules.items() if not kept]
    return complaints + [f"{name} calls {call} unchecked (_FORTIFY_SOURCE)" for call in CHECKED if call in imports]


# `listing` is what `readelf -nW -p .debug_str` prints of a library: its objects, one after the other.
def check_library(name, listing, architecture):
    complaints = []
    for part in listing.split("\nFile: ")[1:]:
        unit = re.search(r"\(([^)]+)\)", part.splitlines()[0]).group(1)
        if architecture == "x86_64" and not re.search(r"x86 feature: IBT, SHSTK", part):
            complaints.append(f"{name}: {unit} has no control-flow enforcement (-fcf-protection)")
        for producer in re.findall(r"GNU C(?:17|\+\+17) .*", part):
            given = producer.split()
            complaints += [f"{name}: {unit} was compiled without {flag}"
                           for flag in FLAGS + ([CLASH] if architecture in ("x86_64", "aarch64") else [])
                           if flag not in given and flag.replace("PIE", "PIC") not in given and not (flag == FLAGS[1] and name.endswith("libcairn_sim.a") and unit in UNPROTECTED)]
    return complaints


def main(readelf, architecture, kind, *paths):
    options = ["-hldW", "--dyn-syms"] if kind == "program" else ["-nW", "-p", ".debug_str"]
    complaints = []
    for path in paths:
        done = subprocess.run([readelf, *options, path], capture_output=True, text=True, check=False)
        listing = "\n" + done.stdout
        complaints += check_program(path, listing) if kind == "program" else check_library(path, listing, architecture)
        if kind == "library" and "\nFile: " not in listing:
            complaints.append(f"{path} has no objects")
    print("\n".join(complaints))
    sys.exit(1 if complaints or not paths else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
