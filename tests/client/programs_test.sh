#!/bin/sh
# SPDX-License-Identifier: MIT
# The programs over real sockets on loopback: usage: programs_test.sh FOLDER_OF_PROGRAMS EXAMPLE PREDICTS
set -eu
example=$2
predicts=$3
. "$(dirname "$0")/../programs_kit.sh"

"$programs/cairn-token" keygen >key
: >server.log
"$programs/cairnd" --listen 127.0.0.1:0 --key-file key --scene demo --protocol-id 77 --record world.cairn \
    --log json --token-lifetime 0 >server.log &
server=$!
waited=0
while ! grep -q listening server.log; do
    waited=$((waited + 1))
    [ $waited -lt 100 ] || fail "cairnd does not listen: $(cat server.log)"
    sleep 0.05
done
address=$(sed -n 's/.*"listening".*"address":"\([^"]*\)".*/\1/p' server.log)

"$programs/cairn-token" issue --key key --protocol-id 77 --client-id 7 \
    --server "$address" --lifetime 30 --timeout 5 --out token
ends 0 "$example" token
says " 266 bodies" out.txt # 265 of the scene, and its own
ends 2 "$example" key
"$programs/cairn-token" issue --key key --protocol-id 77 --client-id 6 \
    --server "$address" --lifetime 30 --timeout 5 --out token0
ends 0 "$predicts" token0
says "266 bodies" out.txt
ends 0 "$programs/cairn-bot" --key key --server "$address" --protocol-id 77 --client-id 5 \
    --mode predict --input-delay 1 --inputs random --seconds 1
says '"mode":"predict"' out.txt
says '"roots_differed":0' out.txt

"$programs/cairn-token" issue --key key --protocol-id 77 --client-id 8 \
    --server "$address" --lifetime 30 --timeout 5 --out token2
ends 0 "$programs/cairn-bot" --token token2 --mode lockstep --inputs random --seconds 1 &
lockstep=$!
cd "$folder"
mkdir other && cd other
ends 0 "$programs/cairn-bot" --key ../key --server "$address" \
    --protocol-id 77 --client-id 9 --spectator --seconds 1
says '"slot":255' out.txt
says '"played":true' out.txt
cd "$folder"
wait "$lockstep" || fail "the lockstep bot"
says '"roots_differed":0' out.txt
grep -q '"roots_compared":[1-9]' out.txt || fail "no root was compared: $(cat out.txt)"

# What is wrong is said in one line.
ends 1 "$programs/cairn-bot" --token token2 --seconds 1
says "not playing when time was up" err.txt
ends 2 "$programs/cairn-bot" --token key
says "holds 65 bytes, a token has 2048" err.txt
ends 2 "$programs/cairn-bot" --token nowhere
ends 2 "$programs/cairn-bot" --mode sideways --token token
ends 2 "$programs/cairn-bot" --seconds 1x --token token
ends 2 "$programs/cairn-bot"
says "either --token or --key and --server" err.txt

kill "$server"
wait "$server" || fail "cairnd ended with $?"
server=
ends 0 "$programs/cairn-replay" verify world.cairn
says "closed in order" out.txt
says "every root agrees" out.txt
ends 0 "$programs/cairn-replay" info world.cairn
says "scene            demo" out.txt
ends 0 "$programs/cairn-replay" diff world.cairn world.cairn
says "one run" out.txt
size=$(wc -c <world.cairn)
head -c $((size - 1000)) world.cairn >cut.cairn
ends 0 "$programs/cairn-replay" verify cut.cairn
says "cut off" out.txt
ends 2 "$programs/cairn-replay" verify key
ends 2 "$programs/cairn-replay" verify nowhere
says "No such file" err.txt
ends 2 "$programs/cairn-replay" sideways world.cairn
ends 2 "$programs/cairn-demo" --seconds 1
says "must be a whole number in [3, 3600]" err.txt
echo "all well"
