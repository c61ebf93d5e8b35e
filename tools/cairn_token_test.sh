#!/bin/sh
# SPDX-License-Identifier: MIT
# cairn-token at work: usage: cairn_token_test.sh PROGRAM
set -eu
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
    echo "FAILED: $1" >&2
    exit 1
}

# refused TEXT ARGUMENTS...: ends with status 1, says one line that has TEXT in it, writes no file.
refused() {
    text=$1
    shift
    if "$program" "$@" >out.txt 2>err.txt; then
        fail "taken: $*"
    fi
    [ "$(wc -l <err.txt)" = 1 ] || fail "not one line: $*: $(cat err.txt)"
    grep -qF -- "$text" err.txt || fail "$*: $(cat err.txt) does not say $text"
    [ ! -e refused.bin ] || fail "wrote a file: $*"
}

"$program" --help | grep -q "^usage: cairn-token" || fail "--help"
"$program" --version | grep -q "^cairn-token [0-9]" || fail "--version"

"$program" keygen >one.key
"$program" keygen --out two.key
grep -qE '^[0-9a-f]{64}$' one.key || fail "a key is 64 digits"
grep -qE '^[0-9a-f]{64}$' two.key || fail "a key is 64 digits"
cmp -s one.key two.key && fail "two keys are equal"

# RFC 8032, 7.1, test 1.
"$program" signing-key --out sign.key
grep -qE '^[0-9a-f]{64}$' sign.key || fail "a signing key is 64 digits"
echo 9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60 >rfc.key
[ "$("$program" public-key rfc.key)" = \
    d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a ] || fail "public-key"
refused "needs one" public-key
refused "neither" public-key nowhere
refused "signing-key takes nothing" signing-key x

"$program" issue --key one.key --protocol-id 0x1122334455667788 --client-id 7 \
    --server 127.0.0.1:40000 --server '[::1]:40001' --lifetime 45 --timeout 5 \
    --user-data 00ff --out a.bin
[ "$(wc -c <a.bin)" = 2048 ] || fail "a token is 2048 bytes"
"$program" info a.bin >info.txt
for line in 'protocol id 0x1122334455667788' 'time-out 5 s' 'server 127.0.0.1:40000' \
    'server [::1]:40001'; do
    grep -qxF "$line" info.txt || fail "info lacks: $line"
done
grep -qE '^expires in 4[0-9] s$' info.txt || fail "info lacks the rest of its life"

"$program" issue --key "$(cat one.key)" --protocol-id 1 --client-id 18446744073709551615 \
    --server 127.0.0.1:40000 --lifetime 1 --timeout -1 --out b.bin
"$program" info b.bin | grep -qxF 'time-out none' || fail "no time-out"

"$program" issue --operator --key one.key --protocol-id 1 --client-id 1 --server 127.0.0.1:40000 \
    --lifetime 1 --timeout 5 --out operator.bin
[ "$(wc -c <operator.bin)" = 2048 ] || fail "an operator's token is 2048 bytes"

# issue_but OPTION VALUE...: a good issue with these options behind it (the last one given holds).
issue_but() {
    text=$1
    shift
    refused "$text" issue --key one.key --protocol-id 1 --client-id 1 --server 127.0.0.1:1 \
        --lifetime 10 --timeout 5 --out refused.bin "$@"
}
issue_but "not a number" --protocol-id x
issue_but "not a number" --protocol-id ' 1'
issue_but "not a number" --client-id -1
issue_but "not a number" --client-id 18446744073709551616
issue_but "not a number" --client-id ''
issue_but "1 to 4294967295" --lifetime 0
issue_but "1 to 4294967295" --lifetime 4294967296
issue_but "seconds" --timeout 2147483648
issue_but "seconds" --timeout 5s
issue_but "not an address" --server localhost:40000
issue_but "not an address" --server 127.0.0.1
issue_but "not an address" --server 127.0.0.1:65536
issue_but "hexadecimal" --user-data 0
issue_but "hexadecimal" --user-data 0g
issue_but "--key" --key nowhere.key
issue_but "--key" --key a.bin
issue_but "no option" --colour blue
issue_but "needs a value" --user-data
issue_but "cannot be written" --out nowhere/refused.bin
refused "issue needs --key" issue
refused "issue needs --out" issue --key one.key --protocol-id 1 --client-id 1 \
    --server 127.0.0.1:1 --lifetime 10 --timeout 5
refused "keygen takes nothing" keygen extra
refused "cannot be written" keygen --out nowhere/key
refused "none of keygen" ""
refused "none of keygen" forge
refused "needs one FILE" info
refused "cannot be read" info nowhere.bin
refused "2048 bytes" info one.key
refused "2048 bytes" info /dev/null
head -c 2049 /dev/zero >long.bin
refused "2048 bytes" info long.bin
head -c 2048 /dev/zero >zero.bin
refused "not a netcode 1.02 token" info zero.bin
grep -rqF "$(cat one.key)" err.txt out.txt && fail "a key was shown"
exit 0
