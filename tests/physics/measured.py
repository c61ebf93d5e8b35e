# SPDX-License-Identifier: MIT
"""Rewrites the last section of tests/physics/README.md: what each case of this folder measures beside its closed form.

usage: measured.py BIN      the folder of the built tests, such as build/quick/bin

A case compares many numbers. The row has the one that uses most of its bound."""

import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TITLE = "## Measured\n"
HEAD = TITLE + """
Of each case the comparison that uses most of its bound, and how many there are. `python3 tests/physics/measured.py build/quick/bin`
makes this table from the tests as they are built. Cases without a row count, or compare bits.

| file | case | compared | closed form | measured | bound |
| --- | --- | --: | --: | --: | --: |
"""


# By case: how many numbers were compared, and the worst of them as (part of the bound, measured, wanted, bound).
def comparisons(program):
    done = subprocess.run([str(program)], env={**os.environ, "CAIRN_MEASURED": "1"}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{program.name} fails:\n{done.stdout[-500:]}{done.stderr[-500:]}")
    cases = {}
    name = ""
    for line in done.stdout.splitlines():
        if match := re.match(r"\[ RUN +\] (.*)", line):
            name = match[1]
        elif line.startswith("measured "):
            got, wanted, within = (float(word) for word in line.split()[1:])
            part = abs(got - wanted) / within if within > 0 else 0.0
            count, worst = cases.get(name, (0, None))
            row = (part, got, wanted, within)
            cases[name] = (count + 1, row if worst is None or part > worst[0] else worst)
    return cases


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    readme = HERE / "README.md"
    rows = []
    for source in sorted(HERE.glob("*_test.c")):
        file = source.name.removesuffix("_test.c")
        for name, (count, (_, got, wanted, within)) in comparisons(pathlib.Path(sys.argv[1]) / f"test_physics_{file}").items():
            rows.append(f"| `{file}` | {name} | {count} | {wanted:.6g} | {got:.6g} | {within:.2g} |\n")
    text = readme.read_text().split(TITLE)[0].rstrip("\n")
    readme.write_text(text + "\n\n" + HEAD + "".join(rows))


main()
