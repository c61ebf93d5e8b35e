# SPDX-License-Identifier: MIT
"""The rules of layout and of names: folders inside modules, cycles, private headers, public
headers, names defined twice, nouns and retired terms. rules.py has the rest and says what a tree is."""

import re

LIBRARY = ("base", "sim", "workers", "schema", "net", "bridge", "recording", "rules_file", "server", "client_lib", "storm")
PUBLIC = "include/cairn/"
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<(cairn/[^>]+)>)', re.M)


def code_of(tree, modules=LIBRARY):
    return {
        path: text
        for path, text in tree.items()
        if path.endswith((".c", ".h", ".cpp")) and path.split("/")[0] in modules
    }


def includes_of(text):
    return [quoted or "include/" + public for quoted, public in INCLUDE.findall(text)]


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def folder_of(path):
    return path.rsplit("/", 1)[0]


# Rows "| `sim/collide/` | ... | math, shape |" of docs/ARCHITECTURE.md; "`sim/*`" is the top of a module.
def read_folders(architecture):
    folders = {}
    for line in architecture.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        match = re.match(r"`(\w+)/(\w+/|\*)`$", cells[0])
        if match and len(cells) >= 2:
            module, folder = match.group(1), match.group(2).strip("/")
            name = module if folder == "*" else f"{module}/{folder}"
            above = [other for other in folders if other.split("/")[0] == module]
            cell = cells[-1]
            if cell in ("all", "all above"):
                folders[name] = set(above)
            else:
                folders[name] = {f"{module}/{word}" for word in re.findall(r"\w+", cell) if word != "nothing"}
    return folders


def check_folders(tree):
    folders = read_folders(tree["docs/ARCHITECTURE.md"])
    split = {path.split("/")[0] for path in code_of(tree) if path.count("/") > 1}
    complaints = []
    for path, text in sorted(code_of(tree).items()):
        module, folder = path.split("/")[0], folder_of(path)
        if module not in split:
            continue
        if folder not in folders:
            complaints.append(f"{path}: {folder} has no row in docs/ARCHITECTURE.md")
            continue
        for header in includes_of(text):
            target = folder_of(header)
            if header.split("/")[0] == module and target != folder and target not in folders[folder]:
                complaints.append(f"{path}: {folder} may not include {header}")
    return complaints


def units_of(code):
    arrows = {}
    for path, text in code.items():
        unit = re.sub(r"\.(c|h|cpp)$", "", path)
        arrows.setdefault(unit, set()).update(
            re.sub(r"\.h$", "", header) for header in includes_of(text)
        )
    return {unit: {to for to in targets if to in arrows and to != unit} for unit, targets in arrows.items()}


def reached_from(unit, arrows):
    reached, work = set(), list(arrows[unit])
    while work:
        to = work.pop()
        if to not in reached:
            reached.add(to)
            work.extend(arrows[to])
    return reached


# Groups of units of which each reaches every other.
def cycles_of(arrows):
    reached = {unit: reached_from(unit, arrows) for unit in arrows}
    cycles = {tuple(sorted(to for to in reached[unit] if unit in reached[to])) for unit in arrows if unit in reached[unit]}
    return sorted(cycles)


# A header and the source file of its name are one unit. No unit reaches itself through others. One cycle is meant: a
# private header without a source file, for the files that share a struct, includes the header of the struct's name.
def is_shared_struct(cycle, code):
    alone = [unit for unit in cycle if f"{unit}.c" not in code and f"{unit}.cpp" not in code]
    return len(cycle) == 2 and len(alone) == 1 and folder_of(cycle[0]) == folder_of(cycle[1])


def check_cycles(tree):
    code = code_of(tree)
    return [f"{cycle[0]}: a cycle of includes: {', '.join(cycle)}" for cycle in cycles_of(units_of(code))
            if not is_shared_struct(cycle, code)]


# "| `sim/` | `sim/debug/trace.h`, ... |" under the heading "Offered headers".
def read_offered(architecture):
    section = re.search(r"^#+ Offered headers\n(.*?)(?=^#|\Z)", architecture, re.M | re.S)
    return set(re.findall(r"`([\w/]+\.h)`", section.group(1) if section else ""))


# In a module with folders, other modules and programs see what lies at its top, and what it offers. Tests see all.
def check_private(tree):
    offered = read_offered(tree["docs/ARCHITECTURE.md"])
    complaints = [f"docs/ARCHITECTURE.md: offers {name}, which does not exist" for name in sorted(offered - set(tree))]
    users = code_of(tree, LIBRARY + ("tools", "bench"))
    for path, text in sorted(users.items()):
        for header in includes_of(text):
            module = header.split("/")[0]
            foreign = module != path.split("/")[0] and header.count("/") > 1 and not header.startswith(PUBLIC)
            if foreign and header not in offered:
                complaints.append(f"{path}: {header} is private to {module}/")
    return complaints


def check_public(tree):
    complaints = []
    for path, text in sorted(tree.items()):
        if not path.startswith(PUBLIC):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*(["<])([^">]+)', line)
            if match and (match.group(1) == '"' or ("/" in match.group(2) and not match.group(2).startswith("cairn/"))):
                complaints.append(f"{path}:{number}: a public header may not include {match.group(2)}")
        if re.search(r"^\w[\w \*]*\(", without_comments(text), re.M) and 'extern "C"' not in text:
            complaints.append(f'{path}: no extern "C"')
    return complaints


TAG = re.compile(r"\b(struct|union|enum)\s+(\w+)\s*\{")
FUNCTION = re.compile(r"^(?!static|typedef|extern|#|struct \w+ \{)[A-Za-z_][\w \*]*?\b\*?(\w+)\((?:[^;{}]|\n)*?\)\s*(\{|;)", re.M)


def functions_in(text, mark):
    return [name for name, end in FUNCTION.findall(without_comments(text)) if end == mark]


# name_windows.c stands in for name.c where the system is Windows.
def is_for_windows(path, tree):
    return path.endswith("_windows.c") and path.replace("_windows.c", ".c") in tree


def check_twice(tree):
    places = {}
    for path, text in sorted(code_of(tree, LIBRARY + ("include",)).items()):
        if is_for_windows(path, tree):
            continue
        for kind, name in TAG.findall(without_comments(text)):
            places.setdefault(f"{kind} {name}", set()).add(path)
        if path.endswith((".c", ".cpp")):
            for name in functions_in(text, "{"):
                places.setdefault(f"{name}()", set()).add(path)
    # Tags that only one source file sees may repeat.
    complaints = []
    for name, where in sorted(places.items()):
        seen = {path for path in where if path.endswith(".h")} or (where if name.endswith("()") else set())
        if len(where) > 1 and seen:
            complaints.append(f"{sorted(where)[0]}: {name} is also defined in {', '.join(sorted(where)[1:])}")
    return complaints


# What a header declares is defined in the source file of its name, or at least in its folder; what a public header
# declares, in one module.
def check_nouns(tree):
    code = code_of(tree, LIBRARY + ("include",))
    defined = {}
    for path, text in code.items():
        if path.endswith((".c", ".cpp")):
            for name in functions_in(text, "{"):
                defined.setdefault(name, path)
    complaints = []
    for path, text in sorted(code.items()):
        if not path.endswith(".h"):
            continue
        homes = {name: defined[name] for name in functions_in(text, ";") if name in defined}
        if path.startswith(PUBLIC):
            modules = {home.split("/")[0] for home in homes.values()} - {"base"}
            if len(modules) > 1:
                complaints.append(f"{path}: its functions live in {', '.join(sorted(modules))}")
            continue
        for name, home in sorted(homes.items()):
            if folder_of(home) != folder_of(path):
                complaints.append(f"{path}: {name} lives in {home}")
    return complaints


# Lines "regex<TAB>where<TAB>say instead" of retired.txt; the regex is searched in code, comments and texts.
def read_retired(text):
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return [(re.compile(row[0]), re.compile(row[1]), row[2]) for row in rows if len(row) == 3], [
        row for row in rows if len(row) != 3
    ]


RETIRED = "tests/structure/retired.txt"


# The terms that may occur anywhere. Those of one word are searched among the distinct words, a tenth of the work of a search of
# every text.
def occurring(terms, tree):
    words = "\n".join({word for path, text in tree.items() if path != RETIRED for word in re.findall(r"\w+", text)})
    longer_than_a_word = re.compile(r"[^\w\\()|?*+<!^$\[\]]|\\[^bwd]")
    return [row for row in terms if longer_than_a_word.search(row[0].pattern) or row[0].search(words)]


def check_retired(tree):
    terms, broken = read_retired(tree.get(RETIRED, ""))
    terms = occurring(terms, tree)
    complaints = [f"{RETIRED}: not three columns: {row}" for row in broken]
    for path, text in sorted(tree.items()):
        if path == RETIRED or path.startswith("tests/structure/") or path in ("docs/GLOSSARY.md", "CHANGELOG.md"):
            continue
        here = [(term, instead) for term, where, instead in terms if where.search(path) and term.search(text)]
        for number, line in enumerate(text.splitlines() if here else [], 1):
            for term, instead in here:
                found = term.search(line)
                if found:
                    complaints.append(f"{path}:{number}: '{found.group(0)}' is retired: {instead}")
    return complaints


RULES = {
    "folders": check_folders,
    "cycles": check_cycles,
    "private": check_private,
    "public": check_public,
    "twice": check_twice,
    "nouns": check_nouns,
    "retired": check_retired,
}
