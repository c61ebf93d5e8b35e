# SPDX-License-Identifier: MIT
"""Client, Room and serve, against a cairnd on loopback."""

import os
import pathlib
import stat
import subprocess
import sys
import threading
import time

import numpy
import pytest

import cairn
from cairn import control

STEPS = 12


@pytest.fixture
def client(cairn_client):
    cairn_client.ask("pause")
    cairn_client.ask("reset", seed=7)
    return cairn_client


def test_a_load_continues_with_the_same_world(client):
    client.ask("save", name="here")
    client.ask("step", tick_count=3)
    here = client.ask("hash").full
    client.ask("load", name="here")
    client.ask("step", tick_count=3)
    assert client.ask("hash").full == here


def test_a_refusal_is_an_exception_that_names_it(client):
    with pytest.raises(cairn.Refused) as refused:
        client.ask("delete", body=99999)
    assert (refused.value.verb, refused.value.refusal) == ("delete", "no such body") and "99999" in refused.value.reason


def test_answers_have_the_fields_of_their_verb(client):
    body = client.ask("spawn-box", position=(0, 6, 0), half_extents=(0.5, 0.5, 0.5), user=42).body
    client.ask("step", tick_count=2)
    got = client.ask("get", body=body).body
    assert got.user == 42 and got.kind == 2 and got.position[0] == 0 and 5 < got.position[1] < 6
    hit = client.ask("ray", origin=(0, 50, 0), translation=(0, -100, 0))
    assert hit.hit and hit.body == body and hit.normal == (0, 1, 0)
    assert client.ask("overlap", position=(0, 6, 0), radius=1).shape_count == 1
    cylinder = client.ask("spawn", shape=6, position=(4, 9, 0), size=(0.5, 0.25, 0)).body
    points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    hull = client.ask("spawn", shape=5, position=(4, 10, 0), points=points).body
    joined = client.ask("create-joint", kind=1, body_a=cylinder, body_b=hull, anchor_a=(4, 9.5, 0), anchor_b=(4, 9.5, 0))
    assert joined.joint != 0 and joined.body == 0
    client.ask("set-joint", joint=joined.joint, property="break", value=(1e6, 0, 0))
    client.ask("set-joint", joint=joined.joint, property="user", word=9)
    client.ask("set-body", body=hull, property="gyroscopic", value=(1, 0, 0))
    client.ask("step", tick_count=1)
    read = client.ask("get-joint", joint=joined.joint)
    assert read.breakable and read.break_force == 1e6 and read.user == 9 and read.joint.body_a == cylinder
    ball = {"shape": "sphere", "size": (0.5, 0, 0)}
    compound = client.ask("spawn-compound", position=(8, 9, 0), parts=[ball, {**ball, "position": (0, 1, 0)}]).body
    assert len(client.ask("get-body", body=hull).body.position) == 3
    client.ask("spawn-mesh", position=(8, 5, 0), points=points, triangles=[(0, 2, 1), (0, 1, 3)])
    client.ask("spawn-height-field", position=(8, 3, 0), columns=2, spacing_x=1, spacing_z=1, heights=[0, 0, 1, 1])
    assert compound != 0
    rooms = client.ask("rooms").rooms
    assert [(room.name, room.tick) for room in rooms] == [("main", 3)]
    assert len(client.ask("hash").full) == 32
    assert {verb.name for verb in client.ask("features").verbs} == set(control.VERBS)
    size = client.ask("save", name="a").size
    assert len(client.ask("save-read", name="a").bytes) == min(size, 16384)


def test_every_verb_has_its_fields():
    for verb in control.VERBS:
        assert all(isinstance(name, str) for name in control.fields_of(verb))
    assert control.fields_of("impulse") == ["body", "impulse"]
    assert "byte_count" not in control.fields_of("save-write")


def test_bodies_are_an_array(client):
    rows, answer = client.bodies()
    listed = client.ask("bodies").bodies
    assert [body.id for body in listed] == rows["id"].tolist() and answer.body_count == len(rows) == 265
    for row, body in zip(rows, listed):
        assert tuple(row["position"]) == body.position and tuple(row["rotation"]) == body.rotation


@pytest.mark.parametrize("verb, fields, error, says", [
    ("impulse", {"bodi": 3, "impulse": (0, 0, 0)}, TypeError, "impulse has no field 'bodi'; its fields: body, impulse"),
    ("impulse", {"body": 3}, TypeError, "impulse: the field 'impulse' is missing"),
    ("impulse", {"body": "3", "impulse": (0, 0, 0)}, TypeError, "impulse: body must be an int"),
    ("impulse", {"body": 3, "impulse": (0, 0)}, TypeError, "impulse: impulse must be three numbers"),
    ("impulse", {"body": 3, "impulse": (0, float("nan"), 0)}, ValueError, "impulse: impulse is not finite: nan"),
    ("impulse", {"body": 3, "impulse": (0, 1e39, 0)}, ValueError, "beyond single precision"),
    ("impulse", {"body": -1, "impulse": (0, 0, 0)}, ValueError, "body is negative"),
    ("impulse", {"body": 2**32, "impulse": (0, 0, 0)}, ValueError, "impulse"),
    ("faults", {"client_id": 1, "loss": float("inf")}, ValueError, "faults: loss is not finite"),
    ("save", {"name": "a\nb"}, ValueError, "printable ASCII"),
    ("save", {"name": 7}, TypeError, "must be a str"),
    ("spawn", {"shape": 5, "position": (0, 0, 0), "points": [(0, 0)]}, TypeError, "spawn: points must be three numbers"),
    ("save-write", {"name": "a", "bytes": 7}, TypeError, "bytes"),
    ("set-body", {"body": 1, "property": "weight"}, ValueError, "set-body: property must be one of kind, mass"),
    ("pause", {"tick": 1}, TypeError, "pause has no field 'tick'; its fields: none"),
    ("sideways", {}, ValueError, "no such verb: sideways"),
])
def test_a_wrong_field_is_named_before_anything_is_sent(cairn_client, verb, fields, error, says):
    with pytest.raises(error) as raised:
        cairn_client.ask(verb, **fields)
    assert says in str(raised.value)
    assert cairn_client.ask("rooms").rooms, "the connection serves on"


@pytest.mark.parametrize("timeout", [float("nan"), 0, -1.0, float("inf")])
def test_a_timeout_must_make_sense(cairn_client, timeout):
    with pytest.raises(ValueError, match="timeout"):
        cairn.Client(bytes(2048), timeout=timeout)
    with pytest.raises(ValueError, match="timeout"):
        cairn_client.ask("state", timeout=timeout)


def test_a_closed_client_raises(cairn_client):
    cairn_client.close()
    cairn_client.close()
    for call in (lambda: cairn_client.ask("pause"), cairn_client.bodies):
        with pytest.raises(cairn.Closed, match="closed"):
            call()


def test_a_guest_may_not_control(cairn_server):
    with cairn.Client(cairn_server.token(operator=False)) as guest:
        assert not guest.operator
        with pytest.raises(cairn.Refused) as refused:
            guest.ask("pause")
    assert refused.value.refusal == "no right"


@pytest.mark.parametrize("token, error, says", [
    (b"short", ValueError, "2048 bytes"), (bytes(2048), ValueError, "malformed or expired"), ("nowhere", FileNotFoundError, "nowhere"),
])
def test_a_wrong_token_is_refused_at_once(token, error, says):
    with pytest.raises(error, match=says):
        cairn.Client(token)


def test_a_server_that_is_gone_is_an_exception(cairn_server):
    client = cairn_server.connect(timeout=0.3)
    cairn_server.kill()
    with pytest.raises(cairn.NoAnswer):
        client.ask("pause")
    assert isinstance(cairn.NoAnswer(), TimeoutError)


def test_a_wait_ends_by_a_signal(cairn_server):
    """Ctrl-C ends a step of a million ticks."""
    script = ("import cairn, sys, os, signal, threading\n"
              "client = cairn.Client(sys.stdin.buffer.read())\nclient.ask('pause')\n"
              "threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
              "client.ask('step', tick_count=1000000)\n")
    begin = time.monotonic()
    done = subprocess.run([sys.executable, "-c", script], input=cairn_server.token(), capture_output=True, timeout=30)
    assert b"KeyboardInterrupt" in done.stderr and time.monotonic() - begin < 10


def test_other_threads_run_while_a_client_waits(client):
    counted = []
    stop = threading.Event()

    def count():
        while not stop.is_set():
            counted.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    client.ask("step", tick_count=20000)
    stop.set()
    thread.join()
    assert len(counted) > 5


def test_serve_takes_a_scene_of_any_form(tmp_path):
    scene = {"name": "own", "bodies": [{"kind": "static", "shapes": [{"kind": "half_space"}]}]}
    with cairn.serve(scene) as server:
        assert server.connect().ask("state").scene == "own"
        folder = pathlib.Path(server._folder.name)
        assert stat.S_IMODE((folder / "key").stat().st_mode) == 0o600
    assert not folder.exists()


def test_a_server_that_does_not_start_says_why(tmp_path):
    with pytest.raises(cairn.ServerFailed, match="nowhere"):
        cairn.serve("nowhere")
    with pytest.raises(cairn.ServerFailed, match="--colour"):
        cairn.serve(flags=["--colour", "blue"])


def test_the_program_is_named_by_the_environment(monkeypatch):
    monkeypatch.setenv("CAIRND", "/nowhere/cairnd")
    with pytest.raises(FileNotFoundError, match="/nowhere/cairnd"):
        cairn.serve()


def test_a_stopped_server_gives_no_token(cairn_server):
    cairn_server.stop()
    cairn_server.stop()
    with pytest.raises(cairn.Closed):
        cairn_server.token()


@pytest.mark.cairn("stack10", flags=["--tick-rate", "30"])
def test_the_marker_chooses_scene_and_options(cairn_client):
    state = cairn_client.ask("state")
    assert (state.scene, state.tick_rate_hz) == ("stack10", 30)


def test_a_room_has_the_methods_of_a_world(client, cairn_world):
    room, world = cairn.Room(client), cairn_world("demo")
    edits = [lambda w: w.impulse(5, (3, 50, 0)), lambda w: w.impulse(6, (3, 50, 0), (0, 1, 0)),
             lambda w: w.angular_impulse(7, (0, 9, 0)), lambda w: w.force(8, (0, 900, 0), (1, 0, 0)),
             lambda w: w.set_velocity(9, (1, 2, 3), (0, 1, 0)), lambda w: w.set_position(10, (40, 5, 40)),
             lambda w: w.spawn_box((30, 4, 30), (0.5, 0.5, 0.5), 4), lambda w: w.spawn_sphere((30, 8, 30), 0.5),
             lambda w: w.destroy(11), lambda w: w.set_gravity((0, -5, 1)),
             lambda w: w.fracture(12, world.body(12).position), lambda w: w.fracture(13, world.body(13).position, pieces=4, seed=9)]
    watched = numpy.array([5, 8, 11, 266], dtype="u4")
    for on in (room, world):
        on.restart(9, numpy.random.default_rng(0))
    assert room.hash == world.hash
    for edit in edits:
        for on in (room, world):
            edit(on)
        seen, known = room.advance(2, watched, 31, 14), world.advance(2, watched, 31, 14)
        assert (seen == known).all() and room.hash == world.hash and room.tick == world.tick
    assert (seen[2] == 0).all(), "a body that is gone has zeros"
    room.set_pose(8, (20, 9, 20), (0, 0, 0.6, 0.8))
    room.set_body(8, "gravity-scale", 0)
    room.set_shape(8, "friction", 0.25)
    room.set_body(8, "damping", numpy.array([0.5, 0.25]))
    with pytest.raises(TypeError):
        room.set_body(8, "damping", (1, 2, 3, 4))
    row = room.advance(1, numpy.array([8], dtype="u4"), 2, 4)
    assert row[0] == pytest.approx([0, 0, 0.6, 0.8], abs=3e-2)
    (piece, *others) = client.ask("fracture", body=5, point=world.body(5).position, pieces=3, crowding=0, thickness_min=0).pieces
    assert len(others) == 2 and client.ask("step", tick_count=1).tick_count == 1
    assert [shape.id for shape in client.ask("shapes", first=0, body=piece.body).shapes] == [piece.shape]
    read = client.ask("get-body", body=8)
    assert (read.gravity_scale, read.linear_damping, read.angular_damping) == (0, 0.5, 0.25)


def test_a_step_is_one_round_trip(client):
    room = cairn.Room(client)
    watched = numpy.array([5, 6], dtype="u4")
    before = room.advance(0, watched, 1, 3)
    asked = []
    send = client.send
    client.send = lambda request, *rest: asked.append(request.verb) or send(request, *rest)
    room.impulse(5, (0, 0, 5000))
    numbers = room.advance(3, watched, 1, 3)
    assert asked == ["act"] and numbers.shape == (2, 3) and numbers[0, 2] > before[0, 2] + 0.05


def test_edits_of_a_step_are_refused_together(client):
    room = cairn.Room(client)
    watched = numpy.array([5], dtype="u4")
    before = room.advance(0, watched, 1, 3)
    room.set_position(5, (1, 9, 1))
    room.impulse(99999, (0, 1, 0))
    with pytest.raises(cairn.Refused, match="unknown body 99999"):
        room.advance(1, watched, 1, 3)
    assert (room.advance(0, watched, 1, 3) == before).all(), "nothing was done, and nothing waits"
    with pytest.raises(ValueError, match="at most 64 edits"):
        for _ in range(65):
            room.impulse(5, (0, 1, 0))
    answer = client.ask("act", tick_count=1, fields=1)
    assert answer.body_count == 265 and len(answer.numbers) == 3 * 265


def test_a_session_is_recorded(tmp_path, verify):
    path = tmp_path / "world.cairn"
    with cairn.serve("demo", record=path) as server:
        env = cairn.Env(client=server.connect(), ticks_per_step=2)
        env.reset(seed=7)
        for _ in range(STEPS):
            env.step(numpy.ones((1, 3), "f4"))
    assert os.path.getsize(path) > 0
    verify(path)


def test_a_room_is_drawn_as_a_world_is():
    with cairn.serve("stack10") as server:
        room = server.room()
        camera = {"width": 64, "height": 48, "eye": (4, 3, 9)}
        with cairn.World("stack10") as world:
            world.step(room.tick)
            assert world.hash == room.hash
            assert (room.draw(**camera) == world.draw(**camera)).all()
            assert room.encode() == world.encode()
        assert room.client.ask("saves").saves == []
        env = cairn.Env(client=room.client, render_mode="rgb_array", camera={"width": 32, "height": 24})
        env.reset(seed=1)
        assert env.render().shape == (24, 32, 3)
        env.close()
    with pytest.raises(cairn.Malformed):
        cairn.World.from_encoding(b"nothing of the kind")
