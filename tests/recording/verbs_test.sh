#!/bin/sh
# SPDX-License-Identifier: MIT
# cairn-replay's verbs on recordings it makes: usage: verbs_test.sh PROGRAMS PAST
set -eu
replay=$1/cairn-replay
token=$1/cairn-token
past=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
    echo "FAILED: $1" >&2
    exit 1
}

# says TEXT FILE
says() {
    grep -qF -- "$1" "$2" || fail "$2 does not say $1: $(cat "$2")"
}

# ends STATUS VERB...: output in out.txt and err.txt
ends() {
    wanted=$1
    shift
    status=0
    "$replay" "$@" >out.txt 2>err.txt || status=$?
    [ "$status" = "$wanted" ] || fail "$* ended with $status: $(cat out.txt err.txt)"
}

"$token" signing-key >sign
"$token" public-key sign >public
ends 0 make --scene stack10 --players 1 --seconds 12 --sign sign one.cairn
ends 0 make --scene stack10 --players 1 --seconds 12 --sign sign again.cairn
ends 0 make --scene stack10 --players 2 --seconds 12 two.cairn
cmp -s one.cairn again.cairn || fail "the same play makes another file"

ends 0 info one.cairn
says "scene            stack10" out.txt
says "ticks            720 up to tick 720" out.txt
says "names signer     $(cat public)" out.txt
ends 0 info one.cairn --json
says '"ticks":720,"tick_end":720,"commands":720' out.txt

ends 0 verify one.cairn --key public --workers 2
says "every root agrees" out.txt
ends 0 verify one.cairn --json
says '"verdict":"same","ticks":720' out.txt
ends 4 verify one.cairn --key sign
ends 4 verify two.cairn --key public
ends 0 verify two.cairn

ends 0 seek one.cairn 655 --body 3 --state state.bin
says "655, 55 ticks after the state it began with" out.txt
says ", as recorded" out.txt
says "body             3, dynamic" out.txt
[ -s state.bin ] || fail "no state was written"
ends 0 seek one.cairn 655 --json
says '"tick":655,"stepped":55' out.txt
root=$(sed 's/.*"root":"\([0-9a-f]*\)","as_.*/\1/' out.txt)
ends 2 seek one.cairn 721
says "its ticks are 0 to 720" err.txt
ends 2 seek one.cairn 10 --body 4000
ends 2 seek one.cairn x

ends 0 cut one.cairn 100 700 cut.cairn --sign sign
ends 0 verify cut.cairn --key public
says "600 ticks" out.txt
ends 0 seek cut.cairn 655 --json
says "$root" out.txt
ends 0 diff one.cairn cut.cairn
says "one run in 600 ticks from tick 100 to 700" out.txt
ends 2 cut one.cairn 700 100 never.cairn
ends 1 cut one.cairn 700 800 never.cairn
says "the recording ends" err.txt
[ ! -e never.cairn ] || fail "half a recording was left"

ends 1 diff one.cairn two.cairn
says "they part at tick 1, 2 ticks" out.txt
says "the commands differ" out.txt
says "second 0x" out.txt
ends 1 diff one.cairn two.cairn --json
says '"parting":"commands","first_tick":0,"ticks":2,"tick":1' out.txt

ends 0 export one.cairn out.csv --every 60 --bodies 2,3
[ "$(wc -l <out.csv)" = 27 ] || fail "$(wc -l <out.csv) lines"
grep -q '^720,3,' out.csv || fail "the last tick is missing"
ends 2 export one.cairn out.csv --bodies 2,,3

# What is damaged, cut off, or no recording at all.
size=$(wc -c <one.cairn)
head -c $((size - 100)) one.cairn >short.cairn
ends 0 verify short.cairn
says "cut off" out.txt
{ head -c $((size / 2)) one.cairn; printf 'damaged!'; tail -c +$((size / 2 + 9)) one.cairn; } >bad.cairn
ends 1 verify bad.cairn
says "agrees up to where it is damaged" err.txt
ends 2 verify sign
ends 2 info sign
ends 2 verify nowhere
ends 2 verify
ends 2 seek one.cairn
ends 2 sideways one.cairn
ends 2 make --scene nowhere never.cairn
ends 0 --help
says "needs another version" out.txt

# Recordings of earlier days verify, or say what they need.
for file in "$past"/*.cairn; do
    status=0
    "$replay" verify "$file" >out.txt 2>err.txt || status=$?
    case $status in
    0) says "every root agrees" out.txt ;;
    3) says "it was recorded by simulation version" err.txt ;;
    *) fail "$file: $status: $(cat out.txt err.txt)" ;;
    esac
done
echo "all well"
