#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: run_wine.sh WINE FOLDER PROGRAM [ARGUMENTS]
# Runs a program for Windows under Wine, with its settings in FOLDER instead of the user's home, and without Wine's own
# messages.
wine=$1
export WINEPREFIX="$2" WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="
shift 2
exec "$wine" "$@"
