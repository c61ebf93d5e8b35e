#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the Debian packages of the committed sources into a folder, and checks them. usage: packaging/debian.sh OUT
# It needs debhelper, lintian, what packaging/debian/control names, and the page in build/web (`./dev web`): building that asks
# a registry, which the build of a package must not.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -s build/web/index.html ] || { echo "there is no page in build/web: ./dev web"; exit 1; }
out=$(mkdir -p "$1" && cd "$1" && pwd)
rm -rf "$out"/cairn "$out"/*.deb "$out"/*.changes "$out"/*.buildinfo
mkdir "$out/cairn"
git archive HEAD | tar -x -C "$out/cairn"
mkdir -p "$out/cairn/build" && cp -r build/web "$out/cairn/build/"
mv "$out/cairn/packaging/debian" "$out/cairn/debian"
cp "$out/cairn/packaging/systemd/cairnd.service" "$out/cairn/debian/"
cd "$out/cairn"
# Nobody gets packages of debug symbols from here.
DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-} noautodbgsym" dpkg-buildpackage -b -us -uc -ui
echo "built in $SECONDS s"
lintian --allow-root --fail-on error,warning "$out"/*.changes
echo "checked after $SECONDS s"
