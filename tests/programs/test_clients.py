# SPDX-License-Identifier: MIT
"""Clients at a server over real sockets on loopback, and the recording of what they did."""

import json
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from datetime import timedelta

import pytest


@pytest.mark.parametrize("example", ["example_client", "example_predict"])
def test_an_example_sees_the_scene_and_itself(kit, example):
    server = kit.serve()
    assert "266 bodies" in kit.run(example, kit.token(server)).out


def test_the_example_client_needs_a_token(kit):
    kit.run("example_client", kit.key(), code=2)


def test_a_bot_that_predicts_holds_the_servers_world(kit):
    server = kit.serve("--protocol-id", 77)
    answer = kit.bot(server, "--protocol-id", 77, "--mode", "predict", "--input-delay", 1, "--inputs", "random",
                     "--seconds", 1).json
    assert answer["mode"] == "predict" and answer["roots_differed"] == 0


def test_a_lockstep_bot_and_a_spectator_play_side_by_side(kit):
    server = kit.serve()
    lockstep = kit.start("cairn-bot", "--token", kit.token(server), "--mode", "lockstep", "--inputs", "random",
                         "--seconds", 1)
    spectator = kit.bot(server, "--client-id", 9, "--spectator", "--seconds", 1).json
    assert spectator["slot"] == 65535 and spectator["played"] is True
    out, _ = lockstep.communicate(timeout=30)
    assert lockstep.returncode == 0, out
    assert '"roots_differed":0' in out and '"roots_compared":0' not in out


def test_several_bots_play_in_one_process(kit):
    server = kit.serve()
    answer = kit.bot(server, "--clients", 6, "--mode", "predict", "--inputs", "random", "--seconds", 3).json
    assert answer["clients"] == 6 and answer["played"] == 6 and answer["failed"] == 0
    assert answer["roots_compared"] > 60 and answer["roots_differed"] == 0
    server.stop()
    assert len({e.get("value", 0) for e in server.events("client_joined")}) == 6


def test_each_bot_of_a_process_that_fails_is_named(kit):
    server = kit.serve()
    answer = kit.bot(server, "--clients", 2, "--room", "nowhere", "--seconds", 5, code=1)
    assert answer.json["failed"] == 2
    assert "bot: the server refused" in answer.err and "bot-2: the server refused" in answer.err


@pytest.mark.parametrize("mode", ["lockstep", "predict", "interpolate"])
def test_a_bot_that_changes_its_address_plays_on(kit, mode):
    server = kit.serve()
    answer = kit.bot(server, "--mode", mode, "--inputs", "random", "--rebind", 1, "--seconds", 4).json
    assert answer["path_changes"] >= 2 and answer["played"] is True and answer["roots_differed"] == 0
    assert answer["slot"] == 0 and answer["failure"] == ""


def test_a_bot_that_was_killed_gets_its_slot_back_at_once_with_a_newer_token(kit):
    """Slot 0 is free again when it comes back: it gets the one that it had, not the lowest."""
    server = kit.serve()
    again = ("--client-id", 7)
    leaver = kit.start("cairn-bot", "--token", kit.token(server, "--client-id", 3, name="leaver"), "--seconds", 1)
    server.wait_for("client_joined")
    first = kit.start("cairn-bot", "--token", kit.token(server, *again), "--mode", "lockstep", "--seconds", 20)
    server.wait_for("client_playing", 2)
    assert leaver.wait(30) == 0
    assert server.wait_for("client_left")[0]["client"] == "3"
    time.sleep(1)  # a token is newer by whole seconds
    first.kill()
    first.wait()
    answer = kit.run("cairn-bot", "--token", kit.token(server, *again), "--mode", "lockstep", "--seconds", 2).json
    assert answer["slot"] == 1 and answer["played"] is True and answer["roots_differed"] == 0
    joined = [event for event in server.wait_for("client_joined", 3) if event["client"] == "7"]
    assert [event["value"] for event in joined] == [1, 1]
    left = [event for event in server.events("client_left") if event["client"] == "7"][0]
    assert left["detail"] == "connected again with a newer token"
    assert timedelta(0) <= server.when(joined[1]) - server.when(left) < timedelta(seconds=0.5)


def test_a_token_is_good_for_one_client(kit):
    server = kit.serve()
    token = kit.token(server)
    kit.run("cairn-bot", "--token", token, "--seconds", 1)
    answer = kit.run("cairn-bot", "--token", token, "--seconds", 1, code=1)
    assert "not playing when time was up" in answer.err


@pytest.mark.parametrize("flags, says", [
    (["--token", "key"], "holds 65 bytes, a token has 2048"),
    (["--token", "nowhere"], "--token nowhere: No such file"),
    (["--mode", "sideways", "--token", "key"], "must be one of interpolate, lockstep, predict, heal"),
    (["--seconds", "1x", "--token", "key"], "--seconds 1x: must be a whole number"),
    (["--token", "key", "--clients", "2"], "a token is for one client"),
    (["--clients", "0"], "--clients 0: must be a whole number"),
    ([], "either --token or --key and --server"),
    (["--key", "key"], "either --token or --key and --server"),
])
def test_a_wrong_flag_of_the_bot_is_refused_in_one_line(kit, flags, says):
    kit.key()
    kit.refuses("cairn-bot", *flags, code=2, says=says)


def test_a_run_is_recorded_and_verifies(kit):
    server = kit.serve("--record", "world.cairn")
    kit.bot(server, "--mode", "lockstep", "--inputs", "random", "--seconds", 1)
    server.stop()
    text = kit.run("cairn-replay", "verify", "world.cairn").out
    assert "closed properly" in text and "every state hash agrees" in text
    assert "scene            demo" in kit.run("cairn-replay", "info", "world.cairn").out
    assert "equal for" in kit.run("cairn-replay", "diff", "world.cairn", "world.cairn").out
    whole = (kit.folder / "world.cairn").read_bytes()
    (kit.folder / "cut.cairn").write_bytes(whole[:-1000])
    assert "cut off" in kit.run("cairn-replay", "verify", "cut.cairn").out


def test_the_demo_refuses_a_time_that_is_too_short(kit):
    kit.refuses("cairn-demo", "--seconds", 1, code=2, says="must be a whole number in [3, 3600]")


@pytest.mark.parametrize("program", ["cairnd", "cairn-token", "cairn-bot", "cairn-load", "cairn-replay", "cairn-ctl", "cairn-demo"])
def test_help_explains_every_flag_and_fits_a_screen(kit, program):
    text = kit.run(program, "--help").out
    assert text.startswith(f"usage: {program} ")
    assert max(map(len, text.splitlines())) <= 150
    assert kit.run(program, "-h").out == text
    flags = [line.split() for line in text.splitlines() if line.startswith("  --")]
    assert all(len(words) > 2 for words in flags)
    assert kit.run(program, "--version").out.startswith(f"{program} 0.")


def test_the_help_of_cairnd_names_its_variables(kit):
    text = kit.run("cairnd", "--help").out
    assert "--input-window" in text and "[CAIRN_INPUT_WINDOW]" in text


def test_a_demo_that_stays_tells_its_address_and_serves_until_it_is_interrupted(kit):
    with subprocess.Popen([kit.programs / "cairn-demo", "--seconds", "3", "--stay"], cwd=kit.folder, stdout=subprocess.PIPE, text=True) as demo:
        said = ""
        while "the server runs on; Ctrl-C ends it" not in said or not re.search(r"http://\S+\n$", said):
            line = demo.stdout.readline()
            assert line, said
            said += line
        address = re.findall(r"http://[0-9.]+:\d+/", said)[-1]
        with urllib.request.urlopen(f"{address}rooms", timeout=20) as answer:
            assert [room["name"] for room in json.loads(answer.read())] == ["main", "thousand"]
        demo.send_signal(signal.SIGINT)
        said += demo.stdout.read()
        assert demo.wait(30) == 0 and "stopped" not in said, said
        with pytest.raises(urllib.error.URLError):
            urllib.request.urlopen(address, timeout=5)
