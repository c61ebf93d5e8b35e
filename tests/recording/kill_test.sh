#!/bin/sh
# SPDX-License-Identifier: MIT
# A server killed at any instant leaves a recording that verifies: usage: kill_test.sh PROGRAMS
set -eu
programs=$1
folder=$(mktemp -d)
server=
end() {
    [ -z "$server" ] || kill -9 "$server" 2>/dev/null || true
    rm -rf "$folder"
}
trap end EXIT
cd "$folder"

fail() {
    echo "FAILED: $1" >&2
    exit 1
}

# says TEXT FILE
says() {
    grep -qF -- "$1" "$2" || fail "$2 does not say $1: $(cat "$2")"
}

# ends STATUS COMMAND...: output in out.txt and err.txt
ends() {
    wanted=$1
    shift
    status=0
    "$@" >out.txt 2>err.txt || status=$?
    [ "$status" = "$wanted" ] || fail "$* ended with $status: $(cat out.txt err.txt)"
}

"$programs/cairn-token" keygen >key
"$programs/cairn-token" signing-key >sign
"$programs/cairn-token" public-key sign >public
start() {
    : >server.log
    "$programs/cairnd" --listen 127.0.0.1:0 --key-file key --scene stack10 --tick-rate 240 \
        --record world.cairn --record-key sign >server.log &
    server=$!
    waited=0
    while ! grep -q listening server.log; do
        waited=$((waited + 1))
        [ $waited -lt 100 ] || fail "cairnd does not listen: $(cat server.log)"
        sleep 0.02
    done
}

for delay in 0.05 0.31 0.77; do
    start
    sleep $delay
    kill -9 "$server"
    wait "$server" 2>/dev/null || true
    server=
    ends 0 "$programs/cairn-replay" verify world.cairn
    says "every root agrees" out.txt
    says "seal: none" out.txt
done
ends 0 "$programs/cairn-replay" info world.cairn --json
grep -q '"ticks":[1-9]' out.txt || fail "nothing was on file: $(cat out.txt)"
# Not signed: not what was asked for.
ends 4 "$programs/cairn-replay" verify world.cairn --key public

start
sleep 0.4
kill "$server"
wait "$server" || fail "cairnd ended with $?"
server=
ends 0 "$programs/cairn-replay" verify world.cairn --key public
says "signed by $(cat public)" out.txt
ends 4 "$programs/cairn-replay" verify world.cairn --key sign
echo "all well"
