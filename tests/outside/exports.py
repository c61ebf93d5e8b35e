# SPDX-License-Identifier: MIT
"""usage: exports.py INCLUDE NM LIBRARY...: complaints on standard output, exit 1 if any

A shared library exports functions that public headers declare, and nothing else; all libraries together export every one
of them, apart from those of the storm and of programs (but cairnd_main), which exist as static libraries alone."""

import pathlib
import re
import subprocess
import sys

STATIC = ("storm.h", "programs.h")


def declared(text):
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"#define(?:[^\n]*\\\n)*[^\n]*", "", text)
    text = re.sub(r"static inline[^{;]*\{.*?\n\}", "", text, flags=re.S)
    return set(re.findall(r"^(?!static|typedef|\s)[\w \*]*?\b(cairn\w+)\s*\(", text, re.M))


def complain(functions, exports, static=frozenset()):
    complaints = [f"{library} exports {name}, which no public header declares"
                  for library, names in exports.items() for name in sorted(names - functions - static)]
    missing = functions - set().union(*exports.values())
    return complaints + [f"no library exports {name}" for name in sorted(missing)]


def main(include, nm, *libraries):
    functions, static = {"cairnd_main"}, set()
    for path in pathlib.Path(include).glob("*.h"):
        (static if path.name in STATIC else functions).update(declared(path.read_text(encoding="utf-8")))
    exports = {}
    for library in libraries:
        listing = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
        names = {line.split()[2].split("@")[0] for line in listing.splitlines() if line.split()[1] in "TDBR"}
        exports[pathlib.Path(library).name] = names
        if not names:
            print(f"{library} exports nothing")
            return 1
    # The rule can fail.
    assert complain({"cairn_a"}, {"x": {"cairn_a", "cairn_b"}}) and complain({"cairn_a", "cairn_b"}, {"x": {"cairn_a"}})
    complaints = complain(functions, exports, static)
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
