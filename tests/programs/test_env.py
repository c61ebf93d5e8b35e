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
    return [("impulse", (0, 40.0 * (body % 7), 0), {"body": body})]


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
    assert env.client.ask("state").facts["state"] == "paused"


def test_a_load_goes_on_to_the_same_world(env):
    env.reset(7)
    env.client.ask("save", name="here")
    here = env.step()[4]["hash"]
    env.client.ask("load", name="here")
    assert env.step()[4]["hash"] == here


def test_a_refusal_is_an_exception_that_names_it(env, cairn):
    with pytest.raises(cairn.Refused) as refused:
        env.client.ask("delete", body=99999)
    assert refused.value.refusal == "no such body"


def test_a_guest_may_not_control(kit, server, cairn):
    guest = cairn.Client(kit.folder / kit.token(server, name="guest"))
    assert not guest.operator
    with pytest.raises(cairn.Refused) as refused:
        guest.ask("pause")
    assert refused.value.refusal == "no right"
    guest.close()


def test_what_an_environment_did_is_recorded(kit, server, env):
    hashes(env, 7, range(2, 2 + STEPS))
    server.stop()
    assert "every state hash agrees" in kit.run("cairn-replay", "verify", "world.cairn").out


def test_generated_code_reads_the_protocols_vectors(cairn):
    pytest.importorskip("flatbuffers")
    from cairn.wire import Answer, Envelope

    data = bytes.fromhex((SOURCE / "proto_tests/schema/vectors/answer.hex").read_text())
    table = Envelope.Envelope.GetRootAs(data, 0).Message()
    answer = Answer.Answer()
    answer.Init(table.Bytes, table.Pos)
    assert answer.Words().decode().isprintable() and answer.IdsLength() > 0
    assert answer.NumbersLength() > 0 and answer.Root().Lo() != 0
