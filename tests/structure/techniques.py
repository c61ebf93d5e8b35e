# SPDX-License-Identifier: MIT
"""The table of techniques in docs/PHYSICS.md: what it names is there.

A row has seven cells: number, technique, text and section, `file: function` or `file: function, function`, `test` or
`test: case`, figure, state. The state is "built", "in part: what is missing" or "not: why"; a row that is not built may have
"-" for what it has not."""

import re

import rules

PAGE = "docs/PHYSICS.md"
HEADING = "## The source texts, row by row"
ROWS_MIN = 72
STATES = ("built", "in part: ", "not: ")


def read_rows(page):
    rows = []
    for line in page.partition(HEADING)[2].partition("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| ") and re.fullmatch(r"\d+", cells[0]):
            rows.append(cells)
    return rows


# The ctest entries of the CMake files, and for each the sources that have its cases.
def read_tests(tree):
    tests = {}
    for path, text in rules.of_kind(tree, ("CMakeLists.txt",)).items():
        folder = path.rpartition("/")[0]
        for name, rest in re.findall(r"\b(?:cairn_test|add_test)\(\s*NAME\s+([\w.]+)((?:[^()]|\([^()]*\))*)\)", text):
            sources = re.search(r"\bSOURCES\s+(.*?)(?=\s+[A-Z_]{4,}\s|$)", rest, re.S)
            tests.setdefault(name, []).extend(
                from_folder(folder, source) for source in (sources.group(1).split() if sources else []))
    return tests


def from_folder(folder, source):
    parts = [] if source.startswith("${PROJECT_SOURCE_DIR}") else folder.split("/")
    for part in source.replace("${PROJECT_SOURCE_DIR}/", "").split("/"):
        parts = parts[:-1] if part == ".." else parts + [part]
    return "/".join(parts)


# The names of the functions that a text defines: heads that begin in column 0 and end in ") {", with attributes or without.
def functions_in(text):
    heads = re.findall(r"^[A-Za-z_](?:(?!\n\n)[^;={}])*?\) \{", text, re.M)
    names = (re.search(r"(\w+)\(", re.sub(r"__attribute__\(\([^()]*\)\)", "", head)) for head in heads)
    return {name.group(1) for name in names if name}


def check_code(tree, entry):
    path, _, names = entry.partition(": ")
    if path not in tree:
        return [f"{path} does not exist"]
    known = functions_in(tree[path])
    return [f"{path} has no function {name}" for name in re.split(r",\s*", names) if name not in known]


def check_test(tree, tests, entry):
    name, _, case = entry.partition(": ")
    if name not in tests:
        return [f"there is no test {name}"]
    if case and not any(f'"{case}"' in tree.get(source, "") for source in tests[name]):
        return [f"test {name} has no case '{case}'"]
    return []


def check_row(tree, tests, row):
    if len(row) != 7 or not all(row):
        return ["not seven cells"]
    _, _, _, code, test, figure, state = row
    if not state.startswith(STATES):
        return ["its state is neither 'built' nor 'in part: ...' nor 'not: ...'"]
    complaints = []
    for cell, what, check in ((code, "function", lambda entry: check_code(tree, entry)),
                              (test, "test", lambda entry: check_test(tree, tests, entry))):
        entries = re.findall(r"`([^`]+)`", cell)
        if not entries and not (cell == "-" and state.startswith("not: ")):
            complaints.append(f"names no {what}")
        for entry in entries:
            complaints += check(entry)
    if not re.search(r"\d", figure) and not state.startswith("not: "):
        complaints.append("its figure has no number")
    return complaints


def check_techniques(tree):
    rows = read_rows(tree.get(PAGE, ""))
    tests = read_tests(tree)
    complaints = []
    if len(rows) < ROWS_MIN:
        complaints.append(f"{PAGE}: {len(rows)} techniques, {ROWS_MIN} are in the texts")
    for number, row in enumerate(rows, 1):
        if row[0] != str(number):
            complaints.append(f"{PAGE}: technique {row[0]} is row {number}")
        complaints += [f"{PAGE}: technique {row[0]}: {complaint}" for complaint in check_row(tree, tests, row)]
    return complaints
