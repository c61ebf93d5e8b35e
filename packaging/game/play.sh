#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs in a fresh root of Debian in which the packages are installed (packaging/debian_test.sh): programs, pages, a game
# built with CMake and with pkg-config, Python.
set -euo pipefail
cd "$(dirname "$0")"
servers=()
trap 'kill "${servers[@]}" 2>/dev/null || true' EXIT

# serve PORT PROGRAM...: a server that ends by itself; waits until it listens.
serve() {
    local port=$1
    shift
    "$@" --listen "127.0.0.1:$port" --seconds 20 >"log$port" 2>&1 &
    servers+=($!)
    for _ in $(seq 100); do
        if grep -q listening "log$port"; then
            sleep 1.1 # a token of the second in which the server started is from before, perhaps
            return
        fi
        sleep 0.1
    done
    cat "log$port"
    return 1
}

echo "== programs, manual pages, completion"
for program in cairnd cairn-token cairn-ctl cairn-bot cairn-load cairn-replay cairn-rules cairn-scene cairn-demo; do
    "$program" --version
    test -s "/usr/share/man/man1/$program.1.gz"
    bash -c ". /usr/share/bash-completion/completions/$program && complete -p $program" >/dev/null
done

echo "== cairnd --dev, and a bot that joins by name"
serve 40100 cairnd --dev
cairn-token keygen --out key
serve 40101 cairnd --key-file key --token-lifetime 30
cairn-bot --key key --server localhost:40101 --mode predict --seconds 2 >/dev/null

echo "== the page that the installed cairnd serves"
serve 40104 cairnd --key-file key --web 127.0.0.1:40105
python3 - <<'EOT'
import re
import urllib.request

def get(path):
    with urllib.request.urlopen(f"http://127.0.0.1:40105/{path}", timeout=10) as answer:
        return answer.read()

names = re.findall(r'(?:src|href)="\./([^"]+)"', get("").decode())
assert len(names) >= 3, names
print({name: len(get(name)) for name in [*names, "cairn_web.wasm", "cairn_web_simd.wasm"]})
EOT

echo "== what an operator gets beside the programs"
for file in /etc/logrotate.d/cairnd /usr/share/cairn/apparmor/usr.bin.cairnd /usr/share/cairn/monitoring/cairn-alerts.yml \
    /usr/share/cairn/monitoring/cairn-dashboard.json /usr/share/cairn/agones/fleet.yaml /usr/share/cairn/agones/allocate.py; do
    test -s "$file"
done
grep -q '^ExecStart=/usr/bin/cairnd ' /lib/systemd/system/cairnd.service
cairnd --schema | cmp - /usr/share/cairn/cairnd.schema.json

# play SERVER CLIENT PORT
play() {
    serve "$3" "$1" --key-file key --scene arena.json --record "game$3.cairn"
    cairn-token issue --key key --server "localhost:$3" --out "token$3"
    "$2" "token$3"
}

echo "== a game with CMake"
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build build >/dev/null
play build/game_server build/game_client 40102

echo "== the same with pkg-config: the server static, the client with the shared library"
rules=$(pkg-config --cflags cairn-sim)
cc -O2 -c example_arena.c $rules -o arena.o
cc -O2 example_arena_server.c arena.o $(pkg-config --static --cflags --libs cairn-server) -o game_server
cc -O2 client.c arena.o $(pkg-config --cflags --libs cairn-client_uv) -o game_client
play ./game_server ./game_client 40103

echo "== Python"
python3 - <<'EOT'
import cairn
world = cairn.World("stack10")
start = world.hash
world.step(60)
assert world.tick == 60 and world.hash != start
saved = world.save()
world.step(60)
end = world.hash
world.load(saved)
world.step(60)
assert world.hash == end
with cairn.serve("demo") as server:
    client = server.connect()
    client.ask("pause")
    client.ask("step", tick_count=60)
    rows, _ = client.bodies()
    print(f"steps in the process and on a server with {len(rows)} bodies")
EOT
for pid in "${servers[@]}"; do kill "$pid" 2>/dev/null || true; done
wait "${servers[@]}" || true
cairn-replay info game40102.cairn >/dev/null
