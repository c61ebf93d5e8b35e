# SPDX-License-Identifier: MIT
"""Writes the C source of the module cairn._native, and the list of what it declares. usage: build.py SOURCE OUT.c"""

import pathlib
import sys

import cffi

from declarations import PUBLIC, declarations

source, out = pathlib.Path(sys.argv[1]), sys.argv[2]
paths = [f"include/cairn/{name}.h" for name in PUBLIC] + ["python/native/native.h", "python/native/link.h"]
ffi = cffi.FFI()
for path in paths:
    ffi.cdef(declarations(source / path))
ffi.set_source("cairn._native", "".join(f'#include "{path.removeprefix("include/")}"\n' for path in paths))
ffi.emit_c_code(out)
