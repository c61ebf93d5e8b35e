#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: tools/dev_foreign.sh ARCHITECTURE FOLDER
# Unpacks the libraries that base, schema, net and client_lib need, as Debian builds them for ARCHITECTURE, into
# FOLDER/root. Installs nothing and does not change this system's list of architectures.
set -eu
architecture=$1 folder=$2
packages="libsodium-dev libsodium23 libflatbuffers-dev libflatbuffers2 libcmocka-dev libcmocka0 libxxhash-dev
    libxxhash0 libzstd-dev libzstd1"
[ -e "$folder/complete" ] && exit 0
rm -rf "$folder"
mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/root"
folder=$(cd "$folder" && pwd)
apt="apt-get -o APT::Architecture=$architecture -o APT::Architectures::=$architecture -o Dir::State=$folder
    -o Dir::State::Lists=$folder/lists -o Dir::State::status=/dev/null -o Dir::Cache=$folder/cache
    -o Acquire::Retries=3"
[ "$(id -u)" = 0 ] && apt="$apt -o APT::Sandbox::User=root"
# One broken index of several does not matter if the packages are found: the download says.
$apt update || true
cd "$folder"
$apt download $packages
for package in *.deb; do
    dpkg-deb -x "$package" root
done
rm -f ./*.deb
touch complete
