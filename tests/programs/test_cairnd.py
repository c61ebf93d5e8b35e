# SPDX-License-Identifier: MIT
"""cairnd: what it answers to its flags, and a run that serves, records and drains."""

import fcntl
import json
import os
import subprocess
import time

import pytest

KEY = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
SCENE = '{"name": "probe", "rules": "sandbox", "bodies": [{"kind": "static", "shapes": [{"kind": "half_space"}]}]}'


@pytest.fixture
def folder(kit):
    (kit.folder / "probe.json").write_text(SCENE)
    (kit.folder / "broken.json").write_text('{"name": "broken",\n  "bodies": [}')
    (kit.folder / "key.txt").write_text(KEY + "\n")
    (kit.folder / "short.txt").write_text("0001\n")
    return kit.folder


@pytest.mark.parametrize("flags, says", [
    (["--key", KEY], "would run scene demo"),
    (["--key-file", "key.txt", "--scene", "probe.json"],
     "would run scene probe (1 bodies, sandbox) at 60 Hz, snapshots at 20 Hz, for 64 clients on 127.0.0.1:40000"),
    (["--key", KEY, "--scene", "probe.json", "--tick-rate", "10"], "at 10 Hz, snapshots at 10 Hz"),
])
def test_a_check_prints_what_would_run(kit, folder, flags, says):
    assert says in kit.run("cairnd", "--check", *flags).out


def test_the_version_names_protocol_and_simulation(kit):
    assert kit.run("cairnd", "--version").out.startswith("cairnd 0.1.0, protocol 5, simulation ")


@pytest.mark.parametrize("flags, says", [
    (["--check"], "--key: a private key is needed"),
    (["--check", "--key", KEY, "--tick-rate", "500"], "--tick-rate 500: must be a whole number in [10, 240]"),
    (["--check", "--key", KEY, "--scene", "nowhere"],
     "--scene nowhere: not a file's name and not built in; built in are"),
    (["--check", "--key", KEY, "--scene", "./nowhere.json"], "./nowhere.json: No such file"),
    (["--check", "--key", KEY, "--scene", "broken.json"], "broken.json: line 2"),
    (["--check", "--key", KEY, "--room", "a b=demo"], "a b: a room's name has 1 to 31 letters, digits"),
    (["--check", "--key-file", "nowhere.txt"], "--key-file nowhere.txt: No such"),
    (["--check", "--key-file", "short.txt"], "--key-file short.txt: must hold 64 hexadecimal digits"),
    (["--key", KEY, "--listen", "192.0.2.1:1", "--scene", "probe.json"], "192.0.2.1:1: bind: "),
    (["--key", KEY, "--listen", "127.0.0.1:0", "--record", "/nowhere/at/all"], "/nowhere/at/all: No such"),
])
def test_a_configuration_that_cannot_run_is_refused(kit, folder, flags, says):
    kit.refuses("cairnd", *flags, code=1, says=f"cairnd: {says}")


def test_a_server_of_two_rooms_records_both_and_drains(kit, folder):
    server = kit.serve("--record", "main.cairn", "--room", "side=stack10,rate=30,record=side.cairn", scene="probe.json")
    shown, exact = (kit.start("cairn-bot", "--key", kit.key(), "--server", server.address, "--seconds", 20,
                              "--client-id", client, "--mode", mode)
                    for client, mode in ((1, "interpolate"), (2, "lockstep")))
    deadline = time.monotonic() + 20
    while len(server.events("client_playing")) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)
    server.stop()
    played = []
    for bot in (shown, exact):
        out, _ = bot.communicate(timeout=30)
        assert bot.returncode == 1 and "the server closed the connection" in out
        played.append(json.loads(out.splitlines()[0]))
    assert played[0]["deltas"] >= 5
    assert played[1]["roots_compared"] >= 20 and played[1]["roots_differed"] == 0
    for name in ("client_joined", "client_playing", "draining", "client_left", "ended"):
        assert server.events(name), name
    last = server.events("stats")[-1]
    assert last["rooms"] == 2 and last["roots_differed"] == 0
    for name in ("main.cairn", "side.cairn"):
        assert (folder / name).stat().st_size > 1000


def test_a_log_that_nobody_reads_stops_no_tick_and_no_end(kit, folder):
    """Sixteen rooms' statistics fill the pipe of one page within two seconds."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    rooms = [word for i in range(15) for word in ("--room", f"r{i}=probe.json,rate=30")]
    kit.signing_key()
    server = subprocess.Popen(
        [kit.programs / "cairnd", "--listen", "127.0.0.1:0", "--key-file", kit.key(), "--log", "json", "--scene", "probe.json",
         "--log-level", "debug", "--stats-interval", "1", "--token-lifetime", "0", "--record", "unread.cairn",
         "--record-key", "sign", *rooms],
        cwd=kit.folder, stdout=writer)
    try:
        os.close(writer)
        text = ""
        while '"listening"' not in text or not text.endswith("\n"):
            letter = os.read(reader, 1)
            assert letter != b"", f"the server ended: {text}"
            text += letter.decode()
        address = json.loads(text.splitlines()[-1])["address"]
        time.sleep(3)
        kit.run("cairn-bot", "--key", kit.key(), "--server", address, "--seconds", 1)
        server.terminate()
        assert server.wait(5) == 0
    finally:
        server.kill()
        server.wait()
        os.close(reader)
    ticks = kit.run("cairn-replay", "info", "unread.cairn", "--json").json["ticks"]
    assert ticks > 4 * 60 - 30
    kit.run("cairn-replay", "verify", "unread.cairn", "--key", "public")
