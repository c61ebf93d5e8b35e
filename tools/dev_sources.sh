#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: tools/dev_sources.sh TARGET FOLDER [PACKAGES...]
# Builds the libraries that base, schema, net and client_lib need for a target that Debian has no packages for
# (wasm32, windows), and PACKAGES, from the sources of Debian's packages, into FOLDER/root. Installs nothing and does not change this
# system's list of sources.
set -eu
target=$1 folder=$2
here=$(cd "$(dirname "$0")" && pwd)
shift 2
packages="libsodium xxhash $*"
[ "$target" = wasm32 ] && packages="$packages libzstd"
[ "$(cat "$folder/complete" 2>/dev/null)" = "$packages" ] && exit 0
rm -rf "$folder"
mkdir -p "$folder/lists/partial" "$folder/sources" "$folder/parts"
folder=$(cd "$folder" && pwd)

# The system's own archives, of sources.
for file in /etc/apt/sources.list.d/*.sources; do
    [ -e "$file" ] && sed -E 's/^Types:.*/Types: deb-src/' "$file" >"$folder/parts/$(basename "$file")"
done
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -e "$file" ] && sed -nE 's/^deb( .*)/deb-src\1/p' "$file" >"$folder/parts/$(basename "$file").list"
done
options="-o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=$folder/parts
    -o Dir::State::Lists=$folder/lists -o Acquire::Retries=3"
[ "$(id -u)" = 0 ] && options="$options -o APT::Sandbox::User=root"

# The newest version that can be had: a mirror may list one whose files it does not have yet.
download() {
    local package=$1 version
    for version in $(apt-cache $options showsrc --only-source "$package" | sed -n 's/^Version: //p' | sort -rVu); do
        apt-get $options source --download-only "$package=$version" && return
        rm -f "$package"_*
    done
    return 1
}

apt-get $options update || true # one broken index of several does not matter if the packages are found
cd "$folder/sources"
for package in $packages; do
    download "$package"
    dpkg-source --no-check -x "$package"_*.dsc "$package"
done

cmake -G Ninja -S "$here/foreign" -B "$folder/build" -DCAIRN_SOURCES="$folder/sources" -DCMAKE_BUILD_TYPE=Foreign \
    -DCMAKE_C_COMPILER_WORKS=ON -DCMAKE_TOOLCHAIN_FILE="$here/../cmake/toolchains/$target.cmake" \
    -DCMAKE_INSTALL_PREFIX="$folder/root"
cmake --build "$folder/build" --target install
# Headers alone, which are the same for every machine.
cp -r /usr/include/flatbuffers "$folder/root/include/"
rm -rf "$folder/sources" "$folder/build" "$folder/lists"
echo "$packages" >"$folder/complete"
