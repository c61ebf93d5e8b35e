#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: test.sh exports|example SOURCE BUILD LIBRARY PYTHON COMPILER
#   exports  the library exports every function of the headers that a host in another language needs, and the structs
#            lie as the bindings say
#   example  writes Cairn.cs, compiles it with Example.cs, and runs it with the library
set -eu
what=$1 source=$2 build=$3 library=$4 python=$5 compiler=$6
headers="sim mover math debug_draw client rules version"
export PYTHONDONTWRITEBYTECODE=1
generate() {
    "$python" "$source/tools/bindings/generate.py" "$1" "$compiler" "$source/include" 8 $headers
}

if [ "$what" = exports ]; then
    nm -D --defined-only "$library" | awk '{ print $3 }' | sed 's/@.*//' | sort >"$build/exported.txt"
    generate names | grep -v '^cairn_rules_sandbox$' | sort >"$build/needed.txt"
    missing=$(comm -13 "$build/exported.txt" "$build/needed.txt")
    [ -z "$missing" ] || { echo "$library does not export:"; echo "$missing"; exit 1; }
    [ "$(wc -l <"$build/needed.txt")" -gt 150 ]
    generate check >"$build/check.c"
    "$compiler" -std=c17 -I"$source/include" -fsyntax-only "$build/check.c"
    exit
fi
generate csharp >"$build/Cairn.cs"
mcs -unsafe -warn:4 -warnaserror -out:"$build/example.exe" "$build/Cairn.cs" "$source/csharp/Example.cs"
LD_LIBRARY_PATH=$(dirname "$library") mono "$build/example.exe"
