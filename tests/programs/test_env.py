# SPDX-License-Identifier: MIT
"""The Python package: an operator's client and an environment, against a cairnd on loopback."""

import importlib

import pytest

from conftest import SOURCE

STEPS = 12


@pytest.fixture
def cairn(programs, monkeypatch):
    monkeypatch.syspath_prepend(str(programs.parent / "python"))
    return importlib.import_module("cairn")


@pytest.fixture
def server(kit):
    return kit.serve("--control", "--record", "world.cairn")


@pytest.fixture
def env(kit, server, cairn):
    token = kit.folder / kit.token(server, "--operator", name="operator")
    env = cairn.Env(token, ticks_per_step=2, ticks_max=2 * STEPS, reward=lambda obs, info: float(info["tick"]))
    yield env
    env.close()


def push(body):
    return [("impulse", {"body": body, "impulse": (0, 40.0 * (body % 7), 0)})]


def hashes(env, seed, bodies):
    """Hashes of a run: each step pushes a body."""
    obs, info = env.reset(seed)
    assert info["tick"] == 0 and len(obs) == len(info["ids"]), info
    found = [info["hash"]]
    for body in bodies:
        obs, reward, terminated, truncated, info = env.step(push(body))
        assert reward == info["tick"] and not terminated
        found.append(info["hash"])
    assert truncated
    return found


def test_a_run_depends_on_seed_and_actions_alone(env):
    actions = list(range(2, 2 + STEPS))
    first = hashes(env, 7, actions)
    assert hashes(env, 7, actions) == first
    other = hashes(env, 8, actions)
    assert all(a != b for a, b in zip(first, other))
    pushed = hashes(env, 7, [3] + actions[1:])
    assert pushed[0] == first[0] and pushed[1] != first[1]
    assert env.client.ask("state").paused


def test_a_load_continues_with_the_same_world(env):
    env.reset(7)
    env.client.ask("save", name="here")
    here = env.step()[4]["hash"]
    env.client.ask("load", name="here")
    assert env.step()[4]["hash"] == here


def test_a_refusal_is_an_exception_that_names_it(env, cairn):
    with pytest.raises(cairn.Refused) as refused:
        env.client.ask("delete", body=99999)
    assert refused.value.refusal == "no such body"


def test_answers_have_the_fields_of_their_verb(env):
    env.reset(7)
    body = env.client.ask("spawn-box", position=(0, 6, 0), half_extents=(0.5, 0.5, 0.5), user=42).body
    env.step()
    got = env.client.ask("get", body=body).body
    assert got.user == 42 and got.kind == 2 and got.position[0] == 0 and 5 < got.position[1] < 6
    hit = env.client.ask("ray", origin=(0, 50, 0), translation=(0, -100, 0))
    assert hit.hit and hit.body == body and hit.normal == (0, 1, 0)
    assert env.client.ask("overlap", position=(0, 6, 0), radius=1).shape_count == 1
    cylinder = env.client.ask("spawn", shape=6, position=(4, 9, 0), size=(0.5, 0.25, 0)).body
    points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    hull = env.client.ask("spawn", shape=5, position=(4, 10, 0), points=points).body
    joined = env.client.ask(
        "create-joint", kind=1, body_a=cylinder, body_b=hull, anchor_a=(4, 9.5, 0), anchor_b=(4, 9.5, 0)
    )
    assert joined.joint != 0 and joined.body == 0
    rooms = env.client.ask("rooms").rooms
    assert [(room.name, room.tick) for room in rooms] == [("main", 2)]
    assert len(env.client.ask("hash").full) == 32
    assert {verb.name for verb in env.client.ask("features").verbs} == set(cairn_verbs())
    size = env.client.ask("save", name="a").size
    assert len(env.client.ask("save-read", name="a").bytes) == min(size, 16384)


def cairn_verbs():
    from cairn import messages

    return messages.VERBS


def test_both_readers_return_the_same_bodies(env):
    env.reset(7)
    ids, numbers, _ = env.client.bodies()
    listed = env.client.ask("bodies").bodies
    assert [body.id for body in listed] == list(ids)
    for row, body in enumerate(listed):
        flat = (*body.position, *body.rotation, *body.linear_velocity, *body.angular_velocity)
        assert flat == tuple(numbers[13 * row : 13 * row + 13])


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
    ("pause", {"tick": 1}, TypeError, "pause has no field 'tick'; its fields: none"),
    ("sideways", {}, ValueError, "no such verb: sideways"),
])
def test_a_wrong_field_is_named_before_anything_is_sent(env, verb, fields, error, says):
    with pytest.raises(error) as raised:
        env.client.ask(verb, **fields)
    assert says in str(raised.value)


def test_an_action_with_nan_is_refused_as_a_whole(env):
    _, info = env.reset(7)
    body = info["ids"][1]
    with pytest.raises(ValueError):
        env.step([("delete", {"body": body}), ("impulse", {"body": body, "impulse": (0, float("nan"), 0)})])
    assert env.client.ask("state").tick == 0
    _, after = env.reset(7)
    assert after["hash"] == info["hash"]


@pytest.mark.parametrize("arguments", [
    {"ticks_per_step": 0}, {"ticks_per_step": float("nan")}, {"ticks_per_step": 1.5}, {"ticks_max": -1},
    {"timeout": float("nan")}, {"timeout": 0}, {"timeout": -1.0}, {"timeout": float("inf")},
])
def test_a_number_that_makes_no_sense_is_refused_before_anything_is_sent(cairn, arguments):
    with pytest.raises(ValueError):
        cairn.Env(bytes(2048), **arguments)


def test_a_timeout_of_a_request_is_checked(env):
    env.reset(7)
    with pytest.raises(ValueError):
        env.client.ask("state", timeout=float("nan"))


def test_a_closed_environment_raises(env):
    env.reset(7)
    env.close()
    env.close()
    for call in (env.step, env.reset, lambda: env.client.ask("pause"), env.client.bodies):
        with pytest.raises(RuntimeError, match="closed"):
            call()


def test_a_guest_may_not_control(kit, server, cairn):
    guest = cairn.Client(kit.folder / kit.token(server, name="guest"))
    assert not guest.operator
    with pytest.raises(cairn.Refused) as refused:
        guest.ask("pause")
    assert refused.value.refusal == "no right"
    guest.close()


def test_the_session_of_an_environment_is_recorded(kit, server, env):
    hashes(env, 7, range(2, 2 + STEPS))
    server.stop()
    assert "every state hash agrees" in kit.run("cairn-replay", "verify", "world.cairn").out


def test_generated_code_reads_the_protocols_vectors(cairn):
    data = bytes.fromhex((SOURCE / "proto_tests/schema/vectors/answer.hex").read_text())
    reader = importlib.import_module("cairn.messages").Reader(data)
    assert (reader.number, reader.verb, reader.refusal) == (65, "bodies", 0)
    answer = reader.answer()
    assert answer.room == "arena" and answer.tick == 68
    assert answer.hash == "99aabbccddeeff001122334455667788"
    assert len(answer.bodies) == 2 and all(body.kind == 2 for body in answer.bodies)
