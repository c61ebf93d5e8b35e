# SPDX-License-Identifier: MIT
"""Reads C headers as cffi's cdef takes them: without comments, includes, C++ and the bodies of inline functions. The
compiler checks every layout against the header itself when the module is built."""

import pathlib
import re

# Headers of include/cairn in order of their includes. math.h has inline functions alone.
PUBLIC = ("status", "types", "version", "rules", "rules_registry", "rules_file", "events", "joint", "sim", "articulation", "fracture", "measure", "token", "control_requests", "control", "client")
# Inline or variadic, or of no use in Python.
_LEFT_OUT = re.compile(r"cairn_id_index|cairn_id_generation")


def _without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def _without_inline_functions(text):
    out, at = [], 0
    for found in re.finditer(r"^static inline [^;{]*\{", text, flags=re.M):
        out.append(text[at : found.start()])
        depth, at = 1, found.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
    return "".join(out) + text[at:]


def _define(name, value):
    """A number as it stands; of anything else the compiler finds the value. A text, or none, is left out."""
    if re.fullmatch(r"\(?(0x[0-9a-fA-F]+|\d+)[uU]?\)?", value):
        return f"#define {name} {value.strip('()').rstrip('uU')}\n"
    if re.fullmatch(r"[\s\w()*+<-]+", value) and not re.search(r"\d\.|\df", value):
        return f"#define {name} ...\n"
    return ""


def declarations(path):
    """The declarations of one header."""
    text = _without_comments(pathlib.Path(path).read_text())
    text = re.sub(r"#ifdef __cplusplus\n.*?#endif\n", "", text, flags=re.S)
    text = _without_inline_functions(text)
    text = re.sub(r"\\\n", " ", text)
    out = []
    for line in text.splitlines(keepends=True):
        if line.startswith("#"):
            found = re.match(r"#define (\w+)[ \t]+(\S.*)", line)
            out.append(_define(found[1], found[2].strip()) if found else "")
        elif not line.startswith("_Static_assert"):
            out.append(line)
    return re.sub(r"\n{2,}", "\n", "".join(out))
