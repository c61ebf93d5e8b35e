#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: tools/dev_fresh.sh FOLDER VERB [ARGUMENTS...]
# Tries `./dev VERB` as a newcomer would: in a new minimal Debian 12 with nothing but git and a C
# compiler, in a clone of what is committed here. Needs root and debootstrap. FOLDER keeps the
# untouched system (base) for the next time; the tried one (tried) stays for a look around.
set -u
folder=${1:?a folder} repository=$(cd "$(dirname "$0")/.." && pwd)
shift
base=$folder/base tried=$folder/tried

if [ ! -e "$base/etc/debian_version" ]; then
    mkdir -p "$folder"
    debootstrap --variant=minbase --include=git,gcc,libc6-dev,ca-certificates bookworm "$base" ||
        exit 1
fi
mountpoint -q "$tried/proc" && umount "$tried/proc"
rm -rf --one-file-system "$tried"
cp -a "$base" "$tried" || exit 1
cp /etc/resolv.conf "$tried/etc/resolv.conf"
git clone -q --no-hardlinks "$repository" "$tried/srv/cairn" || exit 1
mount -t proc proc "$tried/proc" || exit 1
trap 'umount "$tried/proc"' EXIT

echo "fresh Debian $(cat "$tried/etc/debian_version"), commit $(git -C "$tried/srv/cairn" rev-parse --short HEAD)"
for tool in g++ cmake ninja python3 clang-14 pkg-config make; do
    chroot "$tried" sh -c "command -v $tool" && echo "  (already has $tool)"
done
timeout 1800 chroot "$tried" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM="${TERM:-dumb}" \
    /srv/cairn/dev "$@" </dev/null
