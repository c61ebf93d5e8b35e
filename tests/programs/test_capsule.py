# SPDX-License-Identifier: MIT
"""Desync capsules through the programs: written by a client and by a server, explained by cairn-replay."""


import pytest


@pytest.fixture
def capsule(kit):
    """A capsule of a client whose memory was changed after a step."""
    kit.run("test_capsule_explain", "made.cairn")
    return "made.cairn"


def test_a_capsule_is_explained(kit, capsule):
    text = kit.run("cairn-replay", "explain", capsule, code=1).out
    assert "body 4, linear_velocity.y, 1048576 ulps, bit 20" in text
    assert "the memory of the client was changed after the step" in text
    answer = kit.run("cairn-replay", "explain", capsule, "--json", code=1).json
    assert answer["hazard"] == "field_changed" and answer["certain"] is True
    assert answer["bodies"] == [4] and answer["bit"] == 20


def test_a_capsule_is_a_recording_too(kit, capsule):
    assert "linear_velocity.y" in kit.run("cairn-replay", "verify", capsule, code=1).err
    kit.run("cairn-replay", "info", capsule)


def test_a_body_that_was_damaged_on_purpose_is_named(kit):
    """The server knows the hash of the client alone; the client's own capsule knows what differs."""
    (kit.folder / "servers").mkdir()
    (kit.folder / "clients").mkdir()
    server = kit.serve("--capsules", "servers")
    bot = kit.bot(server, "--mode", "heal", "--damage", 1, "--seconds", 4, "--capsules", "clients").json
    server.wait_for("capsule")
    server.stop()
    assert bot["damaged"] == bot["heals"] > 0
    ours = sorted((kit.folder / "clients").glob("*.cairn"))[-1]
    text = kit.run("cairn-replay", "explain", ours, code=1).out
    assert "linear_velocity.y" in text and "words differ after the step" in text
    assert "its memory was changed from outside before the step" in text
    answer = kit.run("cairn-replay", "explain", ours, "--json", code=1).json
    assert answer["hazard"] == "field_changed" and answer["bodies"] == [bot["damaged_body"]]
    theirs = sorted((kit.folder / "servers").glob("*.cairn"))[-1]
    assert "knows no more of the client than that hash" in kit.run("cairn-replay", "explain", theirs, code=1).out


def test_a_recording_is_not_a_capsule(kit):
    kit.run("cairn-replay", "make", "--seconds", 1, "sound.cairn")
    assert "not a desync capsule" in kit.run("cairn-replay", "explain", "sound.cairn", code=2).err
    kit.run("cairn-replay", "explain", code=2)


def test_a_server_writes_a_capsule_about_a_diverged_client(kit):
    (kit.folder / "capsules").mkdir()
    server = kit.serve("--capsules", "capsules")
    bot = kit.start("broken_bot", "--key", kit.key(), "--server", server.address, "--mode", "lockstep", "--inputs",
                    "random", "--seconds", 4)
    text, _ = bot.communicate(timeout=30)
    server.stop()
    capsules = sorted((kit.folder / "capsules").glob("*.cairn"))
    assert 1 <= len(capsules) <= 2, text + server.log.read_text()
    written = server.events("capsule")
    assert {event["file"] for event in written} == {f"capsules/{path.name}" for path in capsules}
    assert written[0]["bytes"] == (kit.folder / written[0]["file"]).stat().st_size
    text = kit.run("cairn-replay", "explain", capsules[0], code=1).out
    assert "began the step without the impulses of the last one" in text
