#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: dev_doxygen.py HEADER
Doxygen's filter: writes a public header with its plain `//` comments as comments of doxygen. A block above a declaration
describes it, a comment after a declaration that, and the first block of a header the file. Lines keep their numbers."""

import re
import sys

ALONE = re.compile(r"^(\s*)//\s?(.*)$")
AFTER = re.compile(r"^(.*?[;,{)\w\]])\s*// (.*)$")


def escaped(text):
    text = re.sub(r"([\\@<>#&$%])", r"\\\1", text)
    return re.sub(r"^(\s*)\.", r"\1&#46;", text)  # a dot at the beginning ends a list


def main(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    out, first = [], True
    i = 0
    while i < len(lines):
        alone = ALONE.match(lines[i])
        if alone is None:
            after = AFTER.match(lines[i])
            if after is None or lines[i].lstrip().startswith("#"):
                out.append(lines[i])
                i += 1
                continue
            out.append(f"{after[1]} ///< {escaped(after[2])}")
            column = lines[i].index("// ")
            i += 1
            while i < len(lines) and (more := ALONE.match(lines[i])) and len(more[1]) == column:
                out.append(f"{more[1]}///< {escaped(more[2])}")
                i += 1
            continue
        begin = i
        while i < len(lines) and ALONE.match(lines[i]):
            i += 1
        block = [ALONE.match(line)[2] for line in lines[begin:i]]
        if block[0].startswith(("SPDX", "----")):
            out += [""] * len(block)
        elif first:
            first = False
            out[-1] = "/** \\file"  # in the blank line above: of this file
            out += [escaped(line) for line in block[:-1]] + [escaped(block[-1]) + " */"]
        elif i < len(lines) and lines[i].strip() not in ("", "}"):
            out += [f"{alone[1]}/// {escaped(line)}" for line in block]
        else:
            out += [f"{alone[1]}// {line}" for line in block]
    print("\n".join(out))


main(sys.argv[1])
