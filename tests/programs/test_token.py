# SPDX-License-Identifier: MIT
"""cairn-token: keys, connect tokens, and what it refuses."""

import re
import shutil
import stat
import subprocess

import pytest

from conftest import SOURCE

KEY = re.compile(r"[0-9a-f]{64}\n")
ISSUE = ["issue", "--key", "one.key", "--server", "127.0.0.1:1", "--out", "refused.bin"]


@pytest.fixture
def token(kit):
    kit.run("cairn-token", "keygen", "--out", "one.key")
    return lambda *arguments: kit.run("cairn-token", *arguments)


def test_help_and_version_are_answers(token):
    assert token("--help").out.startswith("usage: cairn-token VERB")
    assert re.match(r"cairn-token \d+\.\d+\.\d+, protocol \d+, simulation \d+\n", token("--version").out)


@pytest.mark.parametrize("verb", ["keygen", "signing-key"])
def test_a_key_is_64_digits_and_never_the_same(kit, token, verb):
    printed = token(verb).out
    token(verb, "--out", "two.key")
    written = (kit.folder / "two.key").read_text()
    assert KEY.fullmatch(printed) and KEY.fullmatch(written)
    assert printed != written


@pytest.mark.parametrize("verb", ["keygen", "signing-key"])
def test_a_key_file_is_for_its_owner_alone(kit, token, verb):
    path = kit.folder / "private.key"
    path.write_text("older and longer than a key" * 10)
    path.chmod(0o644)
    token(verb, "--out", "private.key")
    assert KEY.fullmatch(path.read_text())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_public_key_is_that_of_rfc_8032(kit, token):
    """Section 7.1, test 1."""
    secret = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
    (kit.folder / "rfc.key").write_text(secret + "\n")
    (kit.folder / "rfc.key").chmod(0o600)
    public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a\n"
    assert token("public-key", "rfc.key").out == public


def test_info_prints_what_was_issued(kit, token):
    token("issue", "--key", "one.key", "--protocol-id", "0x1122334455667788", "--client-id", 7,
          "--server", "127.0.0.1:40000", "--server", "[::1]:40001", "--lifetime", 45, "--timeout", 5,
          "--user-data", "00ff", "--out", "a.bin")
    assert (kit.folder / "a.bin").stat().st_size == 2048
    lines = token("info", "a.bin").lines()
    assert {"protocol id 0x1122334455667788", "time-out 5 s", "server 127.0.0.1:40000",
            "server [::1]:40001"} <= set(lines)
    assert any(re.fullmatch(r"expires in 4\d s", line) for line in lines)


def test_servers_are_named_by_hosts(kit, token):
    token("issue", "--key", "one.key", "--server", "localhost:40000", "--server", "[::1]:40001", "--out", "a.bin")
    servers = [line for line in token("info", "a.bin").lines() if line.startswith("server ")]
    assert servers[0] == "server 127.0.0.1:40000" and servers[-1] == "server [::1]:40001"
    for host, why in [("no..name:1", "this name has no address"), ("localhost", "must be a host with a port"),
                      ("::1:40000", "must be a host with a port"), ("localhost:0", "must be a host with a port")]:
        refused = token_refusal(kit, host)
        assert f"--server {host}: " in refused and why in refused, refused


def token_refusal(kit, host):
    return kit.run("cairn-token", "issue", "--key", "one.key", "--server", host, "--out", "refused.bin", code=1).err


def test_a_bot_tries_the_addresses_of_a_host_in_order(kit):
    """The server listens on IPv4 alone; the first address of the token is another port, where nothing listens."""
    server = kit.serve()
    port = server.address.rsplit(":", 1)[1]
    kit.run("cairn-token", "issue", "--key", kit.key(), "--server", "127.0.0.1:9", "--server", f"localhost:{port}",
            "--timeout", 2, "--out", "token")
    assert kit.run("cairn-bot", "--token", "token", "--seconds", 4).json["played"]
    assert kit.run("cairn-bot", "--key", kit.key(), "--server", f"localhost:{port}", "--seconds", 1).json["played"]
    kit.refuses("cairn-bot", "--key", kit.key(), "--server", "no..name:1", code=2, says="this name has no address")


def test_a_token_needs_a_key_a_server_and_a_file_alone(kit, token):
    token("issue", "--key", "one.key", "--server", "127.0.0.1:40000", "--out", "a.bin")
    lines = token("info", "a.bin").lines()
    assert "protocol id 0x000000636169726e" in lines and "time-out 5 s" in lines


def test_no_time_out(kit, token):
    token("issue", "--key", "one.key", "--protocol-id", 1, "--client-id", 2**64 - 1, "--server", "127.0.0.1:40000",
          "--lifetime", 1, "--timeout", -1, "--out", "b.bin")
    assert "time-out none" in token("info", "b.bin").lines()
    assert stat.S_IMODE((kit.folder / "b.bin").stat().st_mode) == 0o600


@pytest.mark.parametrize("arguments", [
    ["cairn-token", *ISSUE, "--key"],
    ["cairn-token", "public-key"],
    ["cairn-bot", "--server", "127.0.0.1:1", "--key"],
    ["cairn-ctl", "pause", "--server", "127.0.0.1:1", "--key"],
    ["cairn-replay", "make", "never.cairn", "--sign"],
])
def test_no_program_takes_a_key_from_the_command_line_or_an_open_file(kit, token, arguments):
    key = (kit.folder / "one.key").read_text().strip()
    code = 2 if arguments[0] != "cairn-token" else 1
    answer = kit.refuses(*arguments, key, code=code, says="every user can read a key in the command line")
    assert key not in answer.err
    (kit.folder / "one.key").chmod(0o644)
    kit.refuses(*arguments, "one.key", code=code, says="chmod 600")


def test_an_operators_token_has_the_same_size(kit, token):
    token("issue", "--operator", "--key", "one.key", "--server", "127.0.0.1:40000", "--out", "operator.bin")
    assert (kit.folder / "operator.bin").stat().st_size == 2048


def test_a_default_token_is_accepted_by_a_server_that_runs(kit):
    server = kit.serve()
    kit.run("cairn-bot", "--token", kit.token(server), "--seconds", 1)


def test_a_token_that_outlives_the_servers_limit_is_refused_before_and_after_a_restart(kit):
    server = kit.serve("--stats-interval", 1)
    long, default = kit.token(server, "--lifetime", 3600, name="long"), kit.token(server, name="default")
    kit.run("cairn-bot", "--token", long, "--seconds", 1, code=1)
    kit.run("cairn-bot", "--token", default, "--seconds", 1)
    drops = {event["reason"]: event for event in server.wait_for("drops")}
    assert drops["token expires too far in the future"]["layer"] == "netcode"
    assert drops["token expires too far in the future"]["count"] > 0
    server.kill()
    restarted = kit.serve("--listen", server.address)
    for token in (long, default):
        answer = kit.run("cairn-bot", "--token", token, "--seconds", 1, code=1)
        assert "not playing when time was up" in answer.err
    kit.run("cairn-bot", "--token", kit.token(restarted), "--seconds", 1)


def test_a_token_without_a_time_out_is_refused(kit):
    server = kit.serve()
    kit.run("cairn-bot", "--token", kit.token(server, "--timeout", -1), "--seconds", 1, code=1)


@pytest.mark.parametrize("flags, says", [
    (["--protocol-id", "x"], "--protocol-id x: must be a whole number"),
    (["--protocol-id", " 1"], "must be a whole number"),
    (["--client-id", "-1"], "must be a whole number"),
    (["--client-id", "18446744073709551616"], "must be a whole number"),
    (["--client-id", ""], "must be a whole number"),
    (["--lifetime", "0"], "[1, 4294967295]"),
    (["--lifetime", "4294967296"], "[1, 4294967295]"),
    (["--timeout", "2147483648"], "must be a whole number of seconds"),
    (["--timeout", "5s"], "must be a whole number of seconds"),
    (["--server", "localhost"], "must be a host with a port"),
    (["--server", "127.0.0.1"], "must be a host with a port"),
    (["--server", "127.0.0.1:65536"], "must be a host with a port"),
    (["--user-data", "0"], "hexadecimal"),
    (["--user-data", "0g"], "hexadecimal"),
    (["--key", "nowhere.key"], "--key ...: No such file"),
    (["--key", "/dev/null"], "--key ...: must hold 64 hexadecimal digits"),
    (["--colour", "blue"], "--colour: there is no such flag"),
    (["--user-data"], "the value is missing"),
    (["--out", "nowhere/refused.bin"], "cannot be written"),
])
def test_a_wrong_flag_of_issue_is_refused_and_nothing_written(kit, token, flags, says):
    kit.refuses("cairn-token", *ISSUE, *flags, code=1, says=says)
    assert not (kit.folder / "refused.bin").exists()


@pytest.mark.parametrize("arguments, says", [
    (["issue"], "issue: --key is missing"),
    (["issue", "--key", "one.key"], "issue: --server is missing"),
    (["issue", "--key", "one.key", "--server", "127.0.0.1:1"], "issue: --out is missing"),
    (["keygen", "extra"], "keygen: too many arguments"),
    (["keygen", "--out", "nowhere/key"], "cannot be written"),
    (["signing-key", "x"], "signing-key: too many arguments"),
    (["public-key"], "public-key: an argument is missing"),
    (["public-key", "nowhere"], "public-key: KEY: No such file"),
    ([], "a verb is missing"),
    ([""], "a verb is missing"),
    (["forge"], "forge: there is no such verb"),
    (["info"], "info: an argument is missing"),
    (["info", "nowhere.bin"], "cannot be read"),
    (["info", "one.key"], "2048 bytes"),
    (["info", "/dev/null"], "2048 bytes"),
    (["info", "one.key", "--operator"], "--operator: not a flag of info"),
])
def test_an_error_is_one_line(kit, token, arguments, says):
    kit.refuses("cairn-token", *arguments, code=1, says=says)


@pytest.mark.parametrize("size, says", [(2047, "2048 bytes"), (2049, "2048 bytes"), (2048, "not a netcode 1.02 token")])
def test_a_file_that_is_no_token_is_refused(kit, size, says):
    (kit.folder / "zeros.bin").write_bytes(bytes(size))
    kit.refuses("cairn-token", "info", "zeros.bin", code=1, says=says)


def test_a_key_is_never_shown(kit, token):
    key = (kit.folder / "one.key").read_text().strip()
    for wrong in (key[:-1], key + "0", key[:-1] + "g"):
        answer = kit.refuses("cairn-token", *ISSUE, "--key", wrong, code=1, says="--key")
        assert wrong not in answer.out + answer.err
    answer = kit.refuses("cairn-token", "info", "one.key", code=1, says="2048 bytes")
    assert key not in answer.out + answer.err


ISSUERS = [["/usr/bin/python3", "example_token.py"], ["node", "example_token.mjs"]]


@pytest.mark.parametrize("issuer", ISSUERS, ids=["python", "node"])
def test_backends_of_the_documentation_issue_tokens(kit, issuer):
    if shutil.which(issuer[0]) is None:
        pytest.skip(f"no {issuer[0]}")
    server = kit.serve("--token-lifetime", "0", "--room", "side=stack10")
    command = [*issuer[:1], SOURCE / "docs" / issuer[1], kit.key(), server.address, "issued", "side", "al"]
    subprocess.run(command, cwd=kit.folder, check=True, timeout=30)
    assert f"server {server.address}" in kit.run("cairn-token", "info", "issued").lines()
    kit.run("cairn-bot", "--token", "issued", "--seconds", "1")
    assert [event["room"] for event in server.wait_for("client_joined")] == ["side"]


def test_a_token_of_a_room_is_for_that_room_alone(kit):
    server = kit.serve("--token-lifetime", "0", "--room", "side=stack10")
    kit.token(server, "--room", "side", name="a")
    kit.token(server, "--room", "side", name="b")
    kit.run("cairn-bot", "--token", "a", "--seconds", "1", "--room", "side")
    refused = kit.run("cairn-bot", "--token", "b", "--seconds", "1", "--room", "main", code=1)
    assert "the connect token is for another room" in refused.out + refused.err


def test_a_refused_token_is_told_by_name(kit):
    server = kit.serve("--protocol-id", "7", "--token-lifetime", "0")
    kit.bot(server, "--seconds", "1", code=1)
    assert any("protocol" in event["detail"] for event in server.wait_for("connection_refused"))
