#!/bin/sh
# SPDX-License-Identifier: MIT
# Capsules through the programs: usage: programs_test.sh FOLDER_OF_PROGRAMS
set -eu
. "$(dirname "$0")/../programs_kit.sh"

# A capsule made by a client, read by cairn-replay.
"$programs/test_capsule_explain" made.cairn >/dev/null || fail "no capsule was made"
ends 1 "$programs/cairn-replay" explain made.cairn
says "body 3, linear_velocity.y, 1048576 ulps, bit 20" out.txt
says "the memory of the client changed after the step" out.txt
ends 1 "$programs/cairn-replay" explain made.cairn --json
says '"hazard":"field_changed","certain":true' out.txt
ends 1 "$programs/cairn-replay" verify made.cairn
says "linear_velocity.y" err.txt
ends 0 "$programs/cairn-replay" info made.cairn
ends 0 "$programs/cairn-replay" make --seconds 1 sound.cairn
ends 2 "$programs/cairn-replay" explain sound.cairn
says "it does not hold one tick behind its state" err.txt
ends 2 "$programs/cairn-replay" explain

# A server that writes what it knows of a client that went astray.
"$programs/cairn-token" keygen >key
mkdir capsules
: >server.log
"$programs/cairnd" --listen 127.0.0.1:0 --key-file key --scene demo --protocol-id 77 \
    --capsules capsules --log json --token-lifetime 0 >server.log &
server=$!
waited=0
while ! grep -q listening server.log; do
    waited=$((waited + 1))
    [ $waited -lt 100 ] || fail "cairnd does not listen: $(cat server.log)"
    sleep 0.05
done
address=$(sed -n 's/.*"listening".*"address":"\([^"]*\)".*/\1/p' server.log)
"$programs/broken_bot" --key key --server "$address" --protocol-id 77 --client-id 5 --mode lockstep \
    --inputs random --seconds 4 >bot.txt 2>&1 || true
kill "$server"
wait "$server" || true
server=
set -- capsules/*.cairn
[ -f "$1" ] || fail "no capsule was written: $(cat server.log bot.txt)"
[ $# -le 2 ] || fail "too many capsules"
says '"event":"capsule"' server.log
ends 1 "$programs/cairn-replay" explain "$1"
says "began the step without the impulses of the last one" out.txt
