#!/bin/sh
# SPDX-License-Identifier: MIT
# An operator at the shell: usage: control_test.sh FOLDER_OF_PROGRAMS
set -eu
. "$(dirname "$0")/../programs_kit.sh"

# serve FLAGS...: a server on any port; its address is in $address
serve() {
    : >server.log
    "$programs/cairnd" --listen 127.0.0.1:0 --key-file key --scene demo --log json \
        --token-lifetime 0 "$@" >server.log &
    server=$!
    waited=0
    while ! grep -q listening server.log; do
        waited=$((waited + 1))
        [ $waited -lt 100 ] || fail "cairnd does not listen: $(cat server.log)"
        sleep 0.05
    done
    address=$(sed -n 's/.*"listening".*"address":"\([^"]*\)".*/\1/p' server.log)
}

ctl() {
    wanted=$1
    shift
    ends "$wanted" "$programs/cairn-ctl" --server "$address" --key key "$@"
}

# root: of the last answer
root() {
    sed -n 's/.*root=\([0-9a-f]*\).*/\1/p' out.txt | tail -1
}

"$programs/cairn-token" keygen >key
serve --control --record world.cairn

cat >harness <<'VERBS'
pause
reset 7            # always the same beginning
spawn-box 0 6 0 0.5 0.5 0.5 42
step 60
VERBS
ctl 0 run harness
says "tick=60" out.txt
first=$(root)
ctl 0 run harness
[ "$(root)" = "$first" ] || fail "the same verbs gave another world"
ctl 0 reset 8
ctl 0 step 60
[ "$(root)" != "$first" ] || fail "another seed gave the same world"

ctl 0 run harness
ctl 0 --json get 266
says '"ids":[266,2,1,42]' out.txt
ctl 0 save here
ctl 0 save-read here here.state
ctl 0 step 30
ctl 0 save-write back here.state
ctl 0 load back
[ "$(root)" = "$first" ] || fail "a save came back as another world"
ctl 0 seek 20
says "tick=20" out.txt
ctl 0 run-until 60
[ "$(root)" = "$first" ] || fail "a sought tick went on to another world"
ctl 0 fork twin
ctl 0 --room twin delete 266
ctl 0 --room twin step 1
ctl 0 step 1
ctl 0 diff twin
says "bodies[" out.txt
ctl 0 --json diff main
says '"count":0' out.txt
ctl 0 rooms
says "twin 61" out.txt
ctl 0 room-destroy twin
ctl 0 --paused room-create other demo 9
ctl 0 ray 0 50 0 0 -100 0
ctl 0 overlap 0 1 0 3 3 3
ctl 0 hash
says "contacts " out.txt
ctl 0 clients
ctl 1 --seen-by 99 ray 0 50 0 0 -100 0
says "nothing has this name" err.txt
ctl 1 faults 99 0.1 0 50 0
ctl 0 rate 2000
ctl 0 resume
ctl 0 --json state
says '["state","running"]' out.txt

# What is not done says why.
ctl 1 step 1
says "not paused" err.txt
ctl 1 --json delete 99999
says '"refusal":"no such body"' out.txt
ctl 1 seek 1000000
ctl 1 load nothing
ctl 1 --room nowhere pause
ctl 2 sideways
ctl 2 step
says "use: step TICKS" err.txt
ctl 2 step one
ctl 2 step 1 2
ctl 2
"$programs/cairn-token" issue --key key --protocol-id 0x636169726e --client-id 5 \
    --server "$address" --lifetime 30 --timeout 5 --out guest
ends 1 "$programs/cairn-ctl" --token guest pause
says "no right" err.txt
"$programs/cairn-token" issue --operator --key key --protocol-id 0x636169726e --client-id 6 \
    --server "$address" --lifetime 30 --timeout 5 --out operator
ends 0 "$programs/cairn-ctl" --token operator pause
ends 2 "$programs/cairn-ctl" --token key pause

kill "$server"
wait "$server" || fail "cairnd ended with $?"
server=
for recording in world.cairn world.cairn.twin world.cairn.other; do
    ends 0 "$programs/cairn-replay" verify $recording
    says "every root agrees" out.txt
done

serve
ctl 1 pause
says "control is closed" err.txt
kill "$server"
wait "$server" || fail "cairnd ended with $?"
server=
ends 3 "$programs/cairn-ctl" --server "$address" --key key --timeout 1 pause
echo "all well"
