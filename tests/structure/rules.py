# SPDX-License-Identifier: MIT
"""The structure rules, as functions from a tree of sources to complaints.

A tree is a dictionary from path (relative to the root, with slashes) to text. Every rule returns a
list of strings, empty if the tree has no fault. selftest.py plants one fault for each."""

import re

FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 800

SOURCE = (".c", ".h", ".cpp")
SCRIPT = (".py", ".sh", ".ts", ".mjs", ".cmake", "CMakeLists.txt", "dev", ".ci/run")

# Headers of the C standard library that need no operating system.
FREESTANDING = set(
    "assert ctype errno float inttypes iso646 limits math setjmp stdalign stdarg stdatomic stdbool"
    " stddef stdint stdio stdlib stdnoreturn string".split()
)
# The compiler's own, for the floating-point environment and for vectors.
FREESTANDING |= set("xmmintrin emmintrin immintrin arm_neon wasm_simd128".split())
OUTSIDE = [
    (re.compile(r"^flatbuffers/|_generated\.h$|_bfbs"), "FlatBuffers"),
    (re.compile(r"^sodium"), "libsodium"),
    (re.compile(r"^uv(\.h|/)"), "libuv"),
    (re.compile(r"^cmocka"), "CMocka"),
    (re.compile(r"^xxh"), "libxxhash"),
    (re.compile(r"^zstd"), "libzstd"),
    (re.compile(r"^jansson"), "libjansson"),
    (re.compile(r"^png"), "libpng"),
    (re.compile(r"^vpx/"), "libvpx"),
    (re.compile(r"^libwebsockets"), "libwebsockets"),
    (re.compile(r"^curl/"), "libcurl"),
    (re.compile(r"^expat"), "expat"),
    (re.compile(r"^dlfcn"), "libdl"),
    (re.compile(r"^(pthread|threads|semaphore|sched)\.h$"), "pthreads"),
]
# What every C test may include, wherever it lies.
TEST_KIT = ("tests/kit/test.h", "tests/kit/exact.h")
# Rooms and files that may speak to the operating system.
DRIVER_ROOMS = ("program", "rules_file", "tools", "tests", "bench", "proto_tests")
DRIVER_FILE = re.compile(r"(_uv\.c|^base/address\.c|^server/(agones|daemon|web)/.*\.c|^workers/pool\.c|^python/native/link\.c)$")
# What may include headers of the C++ library.
CPP_FILES = ("schema/codec.cpp",)


def of_kind(tree, endings):
    return {path: text for path, text in tree.items() if path.endswith(endings)}


def room_of(path):
    return path.split("/")[0]


# The table of docs/ARCHITECTURE.md is the rule; this reads it.
def read_rooms(architecture):
    rooms = {}
    for line in architecture.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 4 or not re.match(r"`\w+/`$", cells[0]):
            continue
        name = cells[0].strip("`/")
        rooms[name] = {
            "may": included_rooms(cells[2], list(rooms)),
            "libraries": named_libraries(cells[3]),
        }
    return rooms


def included_rooms(cell, above):
    if cell in ("", "nothing"):
        return set()
    if cell == "all":
        return None
    words = cell.split(" but ")
    allowed = set(above) if words[0] == "all above" else set(re.findall(r"\w+", words[0]))
    return allowed - set(re.findall(r"\w+", words[1])) if len(words) == 2 else allowed


# "libuv in `uv_driver.c`" names the only file; "CMocka" alone allows the whole room.
def named_libraries(cell):
    libraries = {}
    for part in re.split(r";\s*", cell):
        match = re.match(r"(\w+)(?: in (.*))?$", part.strip())
        if match and match.group(1) != "none":
            libraries[match.group(1)] = re.findall(r"`([^`]+)`", match.group(2) or "") or None
    return libraries


def check_include(path, header, quoted, rooms):
    room = rooms[room_of(path)]
    for pattern, library in OUTSIDE:
        if pattern.search(header):
            files = room["libraries"].get(library, [])
            named = files is None or path.split("/", 1)[1] in files
            return None if named else f"{library} is not named for this file in the table"
    if header in TEST_KIT and room_of(path) in ("tests", "proto_tests"):
        return None
    if quoted or header.startswith("cairn/"):
        target = "include" if header.startswith("cairn/") else room_of(header)
        if target not in rooms:
            return "not written from the root"
        allowed = room["may"] is None or target == room_of(path) or target in room["may"]
        return None if allowed else f"{room_of(path)}/ may not include {target}/"
    if header.endswith(".h") and header[:-2] in FREESTANDING:
        return None
    if path in CPP_FILES and not header.endswith(".h"):
        return None
    if room_of(path) in DRIVER_ROOMS or DRIVER_FILE.search(path):
        return None
    return "a header of the operating system outside a driver"


def check_includes(tree):
    rooms = read_rooms(tree["docs/ARCHITECTURE.md"])
    if len(rooms) < 2:
        return ["docs/ARCHITECTURE.md: the table of rooms was not found"]
    complaints = []
    for path, text in sorted(of_kind(tree, SOURCE).items()):
        if room_of(path) not in rooms:
            if "/" in path and room_of(path) != "docs":
                complaints.append(f"{path}: its room is not in the table of docs/ARCHITECTURE.md")
            complaints += check_example(path, text) if path.startswith("docs/") else []
            continue
        for number, line in enumerate(text.splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
            why = match and check_include(path, match.group(2), match.group(1) == '"', rooms)
            if why:
                complaints.append(f"{path}:{number}: {match.group(2)}: {why}")
    return complaints + check_own_header_first(tree)


# Examples, of which the sandbox rules are one, know what a user of cairn knows.
def check_example(path, text):
    return [f"{path}: an example includes {header}, which is not public"
            for header in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.M)]


def check_own_header_first(tree):
    complaints = []
    for path, text in sorted(of_kind(tree, (".c", ".cpp")).items()):
        own = re.sub(r"\.(c|cpp)$", ".h", path)
        first = re.search(r'^#include\s*["<]([^">]+)[">]', text, re.M)
        if own in tree and first and first.group(1) != own:
            complaints.append(f"{path}: includes {first.group(1)} before its own header")
    return complaints


def check_spdx(tree):
    complaints = []
    for path, text in sorted(of_kind(tree, SOURCE + SCRIPT).items()):
        lines = text.splitlines()
        first = lines[1] if len(lines) > 1 and lines[0].startswith("#!") else (lines + [""])[0]
        if first not in ("// SPDX-License-Identifier: MIT", "# SPDX-License-Identifier: MIT"):
            complaints.append(f"{path}: does not begin with its SPDX line")
    return complaints


def check_endings(tree):
    return [f"{path}: does not end with a newline" for path, text in sorted(of_kind(tree, SOURCE + SCRIPT).items())
            if text and not text.endswith("\n")]


# (first line, name, length) of each function: a head that begins in column 0, a line that ends in
# ") {", a brace in column 0. The formatter guarantees this shape.
def functions_of(text):
    found = []
    head = ""
    start = 0
    for number, line in enumerate(text.splitlines(), 1):
        if start:
            if line.startswith("}"):
                name = re.search(r"(\w+)\(", head)
                found.append((start, name.group(1) if name else "?", number - start + 1))
                head, start = "", 0
            continue
        if re.match(r"[A-Za-z_]", line):
            head = line
        if head and line.endswith(") {"):
            start = number
        elif line.endswith((";", "{", "}")):
            head = ""
    return found


def all_functions(tree):
    return [
        (path, *function)
        for path, text in sorted(of_kind(tree, SOURCE).items())
        for function in functions_of(text)
    ]


def check_lengths(tree):
    complaints = [
        f"{path}:{line}: {name} has {length} lines, {FUNCTION_LINES_MAX} are the limit"
        for path, line, name, length in all_functions(tree)
        if length > FUNCTION_LINES_MAX
    ]
    for path, text in sorted(of_kind(tree, SOURCE + SCRIPT).items()):
        lines = len(text.splitlines())
        if lines > FILE_LINES_MAX:
            complaints.append(f"{path}: {lines} lines; two rooms or two ideas in one file?")
    return complaints


def describe_lengths(tree):
    lengths = sorted(length for _, _, _, length in all_functions(tree))
    if not lengths:
        return "no functions"
    return (
        f"{len(lengths)} functions: median {lengths[len(lengths) // 2]}, "
        f"90th percentile {lengths[len(lengths) * 9 // 10]}, longest {lengths[-1]}"
    )


LIBM = (
    "sin cos tan asin acos atan atan2 sinh cosh tanh exp exp2 expm1 log log2 log10 log1p pow hypot"
    " cbrt fmin fmax fmod remainder round roundf rint nearbyint fma fdim erf tgamma"
).split()
COMMENT = "work left behind in a comment"
FORBIDDEN = [
    # (which paths, what, why)
    (r".", r"\b(TODO|FIXME|XXX)\b", COMMENT),
    (r".", r"(?<![\w.])/(home|root|work|Users|mnt)/\w", "a path of one machine"),
    (r"^(?!tests/matrix/).*(?<!\.[ch])(?<!\.md)$",
     r"-ffast-math|-Ofast|-funsafe-math|-fassociative-math|fp:fast",
     "a flag that breaks the determinism contract"),
    (r".*\.([ch]|cpp)$", r"\boptimize\s*\(|#\s*pragma\s+(GCC|clang|STDC|float_control)\s+"
     r"(optimize|fp|FP_CONTRACT)", "arithmetic by another rule than the rest of the program's"),
    (r"^(sim|base)/", r"\b(" + "|".join(LIBM) + r")f?\s*\(",
     "a function of the C mathematics library: its bits differ between machines"),
    (r"^(sim|base)/", r"rsqrt|_rcp_|vrecpe|vrsqrte|_rcp14|_rcp28", "an estimate, different on each CPU"),
    (r"^(sim|base)/", r"\b(qsort|bsearch|rand|srand|time|clock|getenv)\s*\(",
     "order, randomness, time or environment from the C library"),
    (r"^(base|sim|schema|net|bridge|recording|client_lib)/.*\.[ch]$|^server/(?!daemon/|web/)",
     r"\b(clock_gettime|gettimeofday|getrandom|fopen|socket|getenv|sendto|recvfrom)\s*\(",
     "the operating system outside a driver"),
]
SELF = "tests/structure/"


def check_words(tree):
    complaints = []
    for path, text in sorted(of_kind(tree, SOURCE + SCRIPT + (".json", ".fbs", ".md")).items()):
        rules = [(what, why) for where, what, why in FORBIDDEN if re.search(where, path)]
        if path.startswith(SELF):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for what, why in rules:
                code = line if why == COMMENT else re.sub(r"//.*", "", line)
                found = re.search(what, code)
                if found:
                    complaints.append(f"{path}:{number}: '{found.group(0)}': {why}")
    return complaints


# The first C block of the README is a part of the example that a test compiles and runs.
def check_readme(tree):
    example = tree.get("docs/example_client.c")
    if example is None:
        return []
    blocks = re.findall(r"^```c\n(.*?)^```$", tree["README.md"], re.M | re.S)
    if not blocks:
        return ["README.md: shows no example"]
    if blocks[0] not in example:
        return ["README.md: its example is not docs/example_client.c to the letter"]
    return []


# Pages that show a part of a file that a test runs: the language of their blocks, and the file.
SHOWN = {"docs/ROLLBACK.md": {"c": "docs/example_rollback.c", "ts": "npm/cairn-sim/examples/rollback.ts"}}


def check_shown(tree):
    complaints = []
    for page, files in SHOWN.items():
        for language, path in files.items():
            blocks = re.findall(rf"^```{language}\n(.*?)^```$", tree.get(page, ""), re.M | re.S)
            if page in tree and not blocks:
                complaints.append(f"{page}: shows nothing of {path}")
            complaints += [f"{page}: a block is not in {path} to the letter" for block in blocks
                           if block not in tree.get(path, "")]
    return complaints


def anchors_of(text):
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-") for heading in headings}


# Links of the pages to files, folders and headings of this tree.
def check_links(tree):
    complaints = []
    for path, text in sorted(of_kind(tree, (".md",)).items()):
        folder = path.split("/")[:-1]
        for target in re.findall(r"\]\((?!https?:)([^)\s]*)\)", text):
            name, _, anchor = target.partition("#")
            parts = list(folder)
            for part in name.split("/") if name else []:
                parts = parts[:-1] if part == ".." else parts + [part]
            there = "/".join(parts) if name else path
            known = there in tree or there in UNREAD or any(other.startswith(there + "/") for other in tree)
            if not known:
                complaints.append(f"{path}: links to {target}, which does not exist")
            elif anchor and anchor not in anchors_of(tree.get(there, "")):
                complaints.append(f"{path}: links to {target}, where no such heading is")
    return complaints


# Files that pages link to and no rule reads.
UNREAD = ("LICENSE", "tests/sim/golden.txt")


# What each library may import. A name with an object in front counts for that object alone.
MEMORY = ["memcpy", "memmove", "memset", "memcmp", "bcmp"]
ALLOCATE = ["malloc", "calloc", "free"]
TEXT = ["strlen", "strcmp", "strncmp", "strchr", "memchr"]
# What of the C++ library reaches the operating system.
IMPORTS = {
    "base": MEMORY + TEXT + [r"address\.c\.o:inet_(pton|ntop)", "snprintf", "fprintf", "stderr", "abort", "fwrite", "fputc"],
    # What the CPU can do is asked in one file; no bit depends on the answer.
    "sim": MEMORY + ALLOCATE + TEXT + ["sqrtf", r"kernels\.c\.o:__cpu_model"],
    "net": MEMORY + ALLOCATE + TEXT + [r"crypto\.c\.o:(crypto|sodium)_\w+"],
    "recording": MEMORY + ALLOCATE + TEXT + ["realloc", "snprintf", r"pack\.c\.o:ZSTD_\w+"],
    # The codec is C++ that needs no C++ library; FlatBuffers has asserts.
    "schema": MEMORY + ALLOCATE + TEXT + ["snprintf", r"codec\.cpp\.o:__assert_fail"],
    "scene": MEMORY + ALLOCATE + TEXT
    + ["realloc", "snprintf", "vsnprintf", r"json_document\.c\.o:strtof"],
    "recorder": MEMORY + ALLOCATE + TEXT + ["realloc"],
}


# `listing` is what `nm -A --undefined-only` prints, `own` the names that our libraries define.
def check_imports(room, listing, own):
    complaints = []
    for line in listing.splitlines():
        match = re.match(r".*?([^:/]+\.o):\s+[Uw] (\S+)$", line)
        if not match:
            continue
        unit, name = match.groups()
        if name in own or name == "_GLOBAL_OFFSET_TABLE_":
            continue
        # Hardening (cmake/cairn_flags.cmake) checks the stack, and calls a function that checks a size before it copies.
        if name == "__stack_chk_fail":
            continue
        plain = re.sub(r"^__(\w+)_chk$", r"\1", name)
        if not any(re.fullmatch(allowed, f"{unit}:{plain}" if ":" in allowed else plain)
                   for allowed in IMPORTS[room]):
            complaints.append(f"libcairn_{room}.a: {unit} imports {name}")
    return complaints


# Functions of the headers for rules that a rules file does not get: they make, step, save, copy, compare or read a world as a
# whole, or serve a host.
NOT_LENT = frozenset(
    """cairn_commands_of_input cairn_edit_command_count cairn_float_contract_ok cairn_input_refusal_text cairn_section_name
    cairn_world_apply_edit cairn_world_copy cairn_world_create cairn_world_decode cairn_world_def_of_encoding cairn_world_def_state_size
    cairn_world_destroy cairn_world_diff cairn_world_encode cairn_world_encode_size cairn_world_fork
    cairn_world_game_messages_refused cairn_world_hash_read cairn_world_lanes cairn_world_load cairn_world_queries_prepare
    cairn_world_save cairn_world_save_size cairn_world_save_size_max cairn_world_set_lanes cairn_world_set_parallel
    cairn_world_set_stage_probe cairn_world_step cairn_world_validate""".split())
LENT = "rules_file/functions.inc"
LENT_HEADERS = tuple(f"include/cairn/{name}.h" for name in ("sim", "events", "fracture", "joint", "mover", "rules"))


def check_lent(tree):
    """Each function of the headers for rules is lent to rules files or named above, and what is lent is declared."""
    def declared(path):
        text = re.sub(r"//[^\n]*", "", tree.get(path, ""))
        return set(re.findall(r"^(?!static inline)[a-z][\w \*]*?\b(cairn_\w+)\(", text, re.M))

    found = {name: path for path in LENT_HEADERS for name in declared(path)}
    lent = set(re.findall(r"^X\((\w+)\)", tree.get(LENT, ""), re.M))
    known = {**found, **{name: "include/cairn/types.h" for name in declared("include/cairn/types.h")}}
    return [f"{found[name]}: {name} is neither in {LENT} nor in NOT_LENT of tests/structure/rules.py"
            for name in sorted(set(found) - lent - NOT_LENT)] + [
        f"{LENT}: {name} is not declared in a header for rules" for name in sorted(lent - set(known))] + [
        f"{LENT}: {name} may not be lent" for name in sorted(lent & NOT_LENT)]


TREE_RULES = {
    "lent": check_lent,
    "includes": check_includes,
    "spdx": check_spdx,
    "endings": check_endings,
    "lengths": check_lengths,
    "words": check_words,
    "readme": check_readme,
    "links": check_links,
    "shown": check_shown,
}
