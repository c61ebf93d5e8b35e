# SPDX-License-Identifier: MIT
"""A server that is killed leaves a recording that verifies, and a restarted server does not overwrite it."""

import os
import random
import time

import pytest


@pytest.fixture
def serve(kit):
    kit.signing_key()
    return lambda: kit.serve("--tick-rate", 240, "--record", "world.cairn", "--record-key", "sign", scene="stack10")


def ticks(kit, name):
    return kit.run("cairn-replay", "info", name, "--json").json["ticks"]


@pytest.mark.parametrize("delay_s", [0, 0.05, 0.31, 0.77])
def test_a_server_killed_at_any_instant_leaves_a_recording_that_verifies(kit, serve, delay_s):
    server = serve()
    time.sleep(delay_s)
    server.kill()
    text = kit.run("cairn-replay", "verify", "world.cairn").out
    assert "every state hash agrees" in text and "seal: none" in text
    assert ticks(kit, "world.cairn") > 0 or delay_s < 0.7
    # --key requires a signature.
    kit.run("cairn-replay", "verify", "world.cairn", "--key", "public", code=4)


def test_a_server_that_is_started_again_never_replaces_a_recording(kit, serve):
    for _ in range(3):
        server = serve()
        time.sleep(0.7)
        server.kill()
        if (kit.folder / "world.cairn.2").exists():
            break
        first = (kit.folder / "world.cairn").read_bytes()
    assert (kit.folder / "world.cairn").read_bytes() == first
    assert server.events("recording")[0]["file"] == "world.cairn.2"
    for name in ("world.cairn", "world.cairn.1", "world.cairn.2"):
        kit.run("cairn-replay", "verify", name)
        assert ticks(kit, name) > 0


def test_a_server_that_is_stopped_signs_its_recording(kit, serve):
    server = serve()
    time.sleep(0.4)
    server.stop()
    text = kit.run("cairn-replay", "verify", "world.cairn", "--key", "public").out
    assert "signed by " + (kit.folder / "public").read_text().strip() in text
    kit.run("cairn-replay", "verify", "world.cairn", "--key", "sign", code=4)


def play(kit, server, name, *flags):
    return kit.start("cairn-bot", "--token", kit.token(server, *flags, name=name), "--inputs", "random", "--seconds", 20)


def test_every_setting_of_sync_survives_a_kill_at_a_random_instant(kit):
    """CAIRN_KILLS=500 for a night. A player in each room; some kills come before they are there."""
    kit.signing_key()
    recorded = 0
    playing = 0
    for number in range(int(os.environ.get("CAIRN_KILLS", 6))):
        name = f"random{number}.cairn"
        server = kit.serve("--tick-rate", 240, "--record", name, "--record-key", "sign", "--record-sync",
                           ("none", "chunk", "close")[number % 3], "--room", f"side=thousand,record=side-{name}", scene="stack10")
        bots = [play(kit, server, "one", "--client-id", 1), play(kit, server, "two", "--client-id", 2, "--room", "side")]
        time.sleep(random.Random(number).uniform(0, 0.9))
        server.kill()
        for bot in bots:
            bot.kill()
            bot.communicate()
        playing += len(server.events("client_playing"))
        for path in kit.folder.glob(f"*{name}"):
            kit.run("cairn-replay", "verify", path.name)
            recorded += ticks(kit, path.name)
            path.unlink()
    assert recorded > 0 and playing > 0
