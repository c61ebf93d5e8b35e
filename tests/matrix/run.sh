#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: run.sh equal|mutants|different|refused SOURCE BUILD GOLDEN WORLDS CMAKE_ARGUMENTS...
# Builds base, sim and the golden checker one way and runs their tests.
#   equal      every test passes; the worlds in WORLDS, written by GOLDEN, continue in this build, and GOLDEN
#              continues the worlds that this build writes
#   mutants    as equal, in a copy of the sources into which tests/sim/mutants.py has put its mutants: the tests
#              of that build choose one after the other and expect other hashes
#   different  builds, and the golden test reports hashes that differ: a negative control
#   refused    does not compile, because the code itself says no: a negative control
set -u
# What a row costs: processor seconds of its compilers, and of its tests.
trap 'times >"$build.times"' EXIT
expected=$1 source=$2 build=$3 golden=$4 worlds=$5
shift 5
rm -rf "$build"
mkdir -p "$build"

fail() {
    echo "$1"
    tail -n 40 "$build/log.txt"
    exit 1
}

if [ "$expected" = mutants ]; then
    python3 "$source/tests/sim/mutants.py" "$source" "$build/source" >"$build/log.txt" 2>&1 || fail "a mutant does not apply"
    source=$build/source
    expected=equal
fi
cmake -G Ninja -S "$source" -B "$build" -DCAIRN_SIM_ONLY=ON -DCAIRN_WARNINGS=OFF -DCAIRN_GOLDEN_WORLDS="$worlds" "$@" >"$build/log.txt" 2>&1 ||
    fail "cannot be configured"
# One file that the code refuses is enough: the step's own. For hashes that differ, the golden checker is.
target=all
[ "$expected" = refused ] && target=sim/CMakeFiles/cairn_sim.dir/step.c.o
[ "$expected" = different ] && target=golden
if ! cmake --build "$build" --target "$target" -- -j1 >>"$build/log.txt" 2>&1; then
    [ "$expected" = refused ] || fail "does not build"
    grep -E '#error|static assertion failed' "$build/log.txt" && exit 0
    fail "does not build, but not because the code refused it"
fi
times >"$build.build_times"
[ "$expected" = refused ] && fail "builds, but should have been refused"

# CAIRN_MATRIX_WITHOUT: tests that this row leaves to others.
only=(${CAIRN_MATRIX_WITHOUT:+-E "$CAIRN_MATRIX_WITHOUT"})
[ "$expected" = different ] && only=(-R '^sim[.]golden$')
if ctest --test-dir "$build" "${only[@]}" --no-tests=error --stop-on-failure --output-on-failure >"$build/log.txt" 2>&1; then
    [ "$expected" = equal ] || fail "every hash is equal, but this build should have changed one"
    tail -n 3 "$build/log.txt"
    "$golden" --check "$source/tests/sim/golden.txt" --read-from "$build/tests/sim/worlds" >"$build/log.txt" 2>&1 ||
        fail "a world of this build does not continue elsewhere"
    exit 0
fi
[ "$expected" = different ] || fail "a test failed"
grep -E '^golden: .*differs' "$build/log.txt" || fail "failed, but not because a hash differs"
