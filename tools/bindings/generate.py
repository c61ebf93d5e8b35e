#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: generate.py typescript|csharp|check|names COMPILER INCLUDE POINTER_SIZE HEADERS... >FILE

Writes a binding of the public headers <cairn/HEADER.h> for hosts in other languages:
  typescript   a module of enums, interfaces, layouts and signatures
  csharp       structs and P/Invoke declarations
  check        C code that compiles only where the structs have the layouts of the other two
  names        the names of the functions and variables, one a line"""

import sys

import model


def main():
    kind, compiler, include, pointer_size = sys.argv[1:5]
    headers = sys.argv[5:]
    read = model.read(compiler, include, headers, int(pointer_size))
    if kind == "typescript":
        import typescript
        print(typescript.generate(read), end="")
    elif kind == "csharp":
        import csharp
        print(csharp.generate(read), end="")
    elif kind == "check":
        print(model.check_source(read, headers), end="")
    else:
        print("\n".join([f.name for f in read.functions] + [name for name, _ in read.variables]))


if __name__ == "__main__":
    main()
