#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the packages of a folder in a fresh root of Debian, and plays a game with them there (packaging/game/play.sh).
# usage: packaging/debian_test.sh OUT. It needs root and mmdebstrap; the root comes from this machine's Debian mirror.
set -euo pipefail
out=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")/.." && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
sources=(/etc/apt/sources.list.d/debian.sources)
[ -e "${sources[0]}" ] || sources=(/etc/apt/sources.list)
mkdir "$out/game" 2>/dev/null || true
cp "$here"/packaging/game/* "$here"/docs/example_arena.c "$here"/docs/example_arena_server.c "$out/game/"
mmdebstrap --variant=apt --include=ca-certificates,cmake,gcc,libc6-dev,make,pkg-config bookworm "$root" "${sources[@]}" \
    --customize-hook="mkdir \"\$1/packages\" && cp '$out'/*.deb \"\$1/packages\" && cp -r '$out/game' \"\$1/game\"" \
    --customize-hook='chroot "$1" sh -c "DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends /packages/*.deb"'
echo "installed after $SECONDS s"
printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts" # as an installed system has it
chroot "$root" /game/play.sh
echo "played after $SECONDS s"
# Nothing stays behind.
chroot "$root" sh -c 'DEBIAN_FRONTEND=noninteractive apt-get purge -y cairnd libcairn-client0 libcairn-dev python3-cairn >/dev/null'
left=$(find "$root/usr" "$root/lib" "$root/etc" -iname '*cairn*')
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
echo "the packages are installed, used and purged, after $SECONDS s"
