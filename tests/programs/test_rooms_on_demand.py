# SPDX-License-Identifier: MIT
"""Rooms that are made of templates when somebody asks for them, and what they cost."""

import json
import urllib.request


def play(kit, server, room, name, seconds=1, code=0):
    """A bot with a token for the room."""
    kit.token(server, "--room", room, name=name)
    return kit.run("cairn-bot", "--token", name, "--seconds", seconds, code=code)


def refused(kit, server, room, says):
    answer = play(kit, server, room, "refused", code=1)
    assert says in answer.err + answer.out, answer.err + answer.out


def metric(server, name):
    with urllib.request.urlopen(f"http://{server.wait_for('web')[0]['address']}/metrics", timeout=20) as answer:
        lines = answer.read().decode().splitlines()
    return float(next(line for line in lines if line.startswith(name + " ")).split()[1])


def test_a_token_makes_a_room_and_the_empty_room_closes(kit):
    server = kit.serve("--template", "arena=stack10,players=2,idle=1", "--rooms-max", 2, "--web", "127.0.0.1:0",
                       scene="stack10")
    refused(kit, server, "other-1", "no room of this name")
    refused(kit, server, "arenas", "no room of this name")
    # Only a token makes a room, not the wish of a client.
    assert "no room of this name" in kit.bot(server, "--room", "arena-1", "--seconds", 1, code=1).err
    playing = kit.start("cairn-bot", "--token", kit.token(server, "--room", "arena-1"), "--mode", "predict", "--seconds", 3)
    assert server.wait_for("room_created")[0]["room"] == "arena-1"
    refused(kit, server, "arena-2", "the server cannot hold another room")
    text, _ = playing.communicate(timeout=30)
    result = json.loads(text.splitlines()[-1])
    assert result["roots_compared"] > 20 and result["roots_differed"] == 0
    closed = server.wait_for("room_closed")[0]
    assert closed["room"] == "arena-1" and closed["detail"] == "the room was empty"
    play(kit, server, "arena-2", "second")
    assert metric(server, "cairn_rooms_on_demand_total") == 2
    assert metric(server, "cairn_rooms_refused_total") == 1
    assert metric(server, "cairn_rooms_idle_total") >= 1
    server.stop()


def test_a_room_that_costs_too_much_is_refused(kit):
    server = kit.serve("--template", "cheap=stack10,cost=1", "--template", "dear=demo,cost=20000", "--load-max", 100,
                       "--web", "127.0.0.1:0", scene="none")
    refused(kit, server, "dear-1", "the rooms take as much time as they may")
    play(kit, server, "cheap-1", "cheap", seconds=2)
    assert metric(server, "cairn_rooms") == 1
    assert 0 < metric(server, "cairn_load_permille") < 1000
    server.stop()


def test_an_operator_makes_a_room_of_a_template(kit):
    (kit.folder / "operator").write_text("0123456789abcdef" * 4)
    (kit.folder / "operator").chmod(0o600)
    server = kit.serve("--template", "arena=stack10,players=3,idle=1", "--control", "--web", "127.0.0.1:0",
                       "--control-token", "operator")
    body = json.dumps({"name": "match-7", "scene": "arena"}).encode()
    request = urllib.request.Request(
        f"http://{server.wait_for('web')[0]['address']}/control/room-create", data=body,
        headers={"Authorization": "Bearer " + "0123456789abcdef" * 4, "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        assert answer.status == 200
    made = server.wait_for("room_created")[0]
    assert made["room"] == "match-7" and made["detail"] == "stack10"
    kit.run("cairn-ctl", "--key", kit.key(), "--server", server.address, "room-create", "match-8", "arena")
    assert {event["room"] for event in server.wait_for("room_closed", 2)} == {"match-7", "match-8"}
    server.stop()


def test_scenes_are_calibrated(kit):
    answer = kit.run("cairnd", "--calibrate", "--json", "--scene", "none", "--template", "arena=stack10,players=4", "--room",
                     "big=demo,rate=30")
    big, arena = map(json.loads, answer.lines())
    assert big["name"] == "big" and big["scene"] == "demo" and big["tick_rate_hz"] == 30 and big["ticks"] == 120
    assert arena["players"] == 4 and arena["ticks"] == 240
    for found in (big, arena):
        assert 0 < found["mean_us"] <= found["cost"] and found["rooms"] > 0
        # Eight tenths of a processor, as the figures say.
        assert abs(found["rooms"] * found["mean_us"] * found["tick_rate_hz"] / 800000 - 1) < 0.2
    words = kit.run("cairnd", "--calibrate", "--scene", "stack10", "--players-max", 2).out
    assert "main (scene stack10): a tick takes " in words and "; cost=" in words
    kit.refuses("cairnd", "--calibrate", "--scene", "nothing", code=1, says="nothing")
