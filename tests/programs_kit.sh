# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# What tests of whole programs share. Sourced with the folder of programs as $1: goes to a folder of its own, which
# ends with the test, and so does the server whose process is in $server.
programs=$1
folder=$(mktemp -d)
server=
end() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$folder"
}
trap end EXIT
cd "$folder"

fail() {
    echo "FAILED: $1" >&2
    exit 1
}

# says TEXT FILE
says() {
    grep -qF -- "$1" "$2" || fail "$2 does not say $1: $(cat "$2")"
}

# ends STATUS COMMAND...: output in out.txt and err.txt
ends() {
    wanted=$1
    shift
    status=0
    "$@" >out.txt 2>err.txt || status=$?
    [ "$status" = "$wanted" ] || fail "$* ended with $status: $(cat out.txt err.txt)"
}
