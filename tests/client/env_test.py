# SPDX-License-Identifier: MIT
"""The Python environment against a cairnd on loopback: usage: env_test.py PROGRAMS PACKAGE VECTORS"""

import pathlib
import re
import subprocess
import sys
import tempfile
import time

programs, package, vectors = map(pathlib.Path, sys.argv[1:])
sys.path.insert(0, str(package))
import cairn


def start(folder, *flags):
    log = folder / "server.log"
    server = subprocess.Popen(
        [programs / "cairnd", "--listen", "127.0.0.1:0", "--key-file", folder / "key", "--scene"]
        + ["demo", "--token-lifetime", "0", *flags],
        stdout=log.open("w"),
    )
    for _ in range(100):
        found = re.search(r"listening .*?(127\.0\.0\.1:\d+)", log.read_text())
        if found:
            return server, found.group(1)
        time.sleep(0.05)
    raise SystemExit("cairnd does not listen: " + log.read_text())


def issue(folder, address, client_id, *flags):
    token = folder / f"token{client_id}"
    subprocess.run(
        [programs / "cairn-token", "issue", "--key", folder / "key", "--protocol-id"]
        + ["0x636169726e", "--client-id", str(client_id), "--server", address, "--lifetime"]
        + ["60", "--timeout", "5", "--out", token, *flags],
        check=True,
    )
    return token


def push(body):
    return [("impulse", (0, 40.0 * (body % 7), 0), {"body": body})]


def run(env, seed, bodies):
    """Hashes of a run: each step pushes a body."""
    obs, info = env.reset(seed)
    assert info["tick"] == 0 and len(obs) == len(info["ids"]), info
    hashes = [info["hash"]]
    for body in bodies:
        obs, reward, terminated, truncated, info = env.step(push(body))
        assert reward == info["tick"] and not terminated
        hashes.append(info["hash"])
    assert truncated
    return hashes


def check(folder, address):
    token = issue(folder, address, 1, "--operator")
    steps = 12
    env = cairn.Env(
        token,
        ticks_per_step=2,
        ticks_max=2 * steps,
        reward=lambda obs, info: float(info["tick"]),
    )
    actions = list(range(2, 2 + steps))
    first = run(env, 7, actions)
    assert run(env, 7, actions) == first, "the same seed and actions gave other hashes"
    other = run(env, 8, actions)
    assert all(a != b for a, b in zip(first, other)), "another seed gave an equal hash"
    pushed = run(env, 7, [3] + actions[1:])
    assert pushed[0] == first[0] and pushed[1] != first[1], "another action changed nothing"
    assert env.client.ask("state").facts["state"] == "paused"

    env.client.ask("save", name="here")
    here = env.step()[4]["hash"]
    env.client.ask("load", name="here")
    assert env.step()[4]["hash"] == here, "a load went on to another world"
    try:
        env.client.ask("delete", body=99999)
        raise SystemExit("a body that is none was deleted")
    except cairn.Refused as refused:
        assert refused.refusal == "no such body", refused
    env.close()

    guest = cairn.Client(issue(folder, address, 2))
    assert not guest.operator
    try:
        guest.ask("pause")
        raise SystemExit("a guest paused the room")
    except cairn.Refused as refused:
        assert refused.refusal == "no right", refused
    guest.close()


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    subprocess.run([programs / "cairn-token", "keygen", "--out", folder / "key"], check=True)
    server, address = start(folder, "--control", "--record", str(folder / "world.cairn"))
    try:
        check(folder, address)
    finally:
        server.terminate()
        assert server.wait(10) == 0
    told = subprocess.run(
        [programs / "cairn-replay", "verify", folder / "world.cairn"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "every root agrees" in told, told


def check_generated_code():
    """cairn.wire reads the bytes that the protocol's own vectors hold."""
    try:
        import flatbuffers
    except ImportError:
        print("python3-flatbuffers is not there: cairn.wire is not looked at")
        return
    from cairn.wire import Answer, Envelope

    data = bytes.fromhex((vectors / "answer.hex").read_text())
    table = Envelope.Envelope.GetRootAs(data, 0).Message()
    answer = Answer.Answer()
    answer.Init(table.Bytes, table.Pos)
    assert answer.Words().decode().isprintable() and answer.IdsLength() > 0
    assert answer.NumbersLength() > 0 and answer.Root().Lo() != 0


check_generated_code()
print("all well")
