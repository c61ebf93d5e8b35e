# SPDX-License-Identifier: MIT
"""Rules of a game, loaded from files and linked: every program takes them, and refuses those with a fault."""

import os
import subprocess

import pytest

SCENE = """{"name": "disc", "rules": "%s", "body_capacity": 80, "shape_capacity": 80, "contact_capacity": 400,
  "bodies": [{"kind": "static", "shapes": [{"kind": "box", "half_extents": [6, 0.5, 6], "position": [0, -0.5, 0]}]}]}"""


@pytest.fixture
def files(kit):
    """The folder of rules files; scenes of some rules."""
    for rules in ("arena", "pilots", "crashes", "writes after"):
        (kit.folder / (rules.replace(" ", "_") + ".json")).write_text(SCENE % rules)
    return kit.programs.parent / "lib"


def test_a_game_is_loaded_by_every_program(kit, files):
    arena = files / "arena.so"
    server = kit.serve("--rules", arena, "--record", "game.cairn", "--seconds", 4, scene="arena.json")
    bot = kit.bot(server, "--rules", arena, "--mode", "predict", "--inputs", "random", "--seconds", 2).json
    assert bot["roots_compared"] > 20 and bot["roots_differed"] == 0
    without = kit.bot(server, "--mode", "predict", "--seconds", 2, code=1)
    assert "they are arena, version 1; the client has sandbox, version" in without.err
    server.process.wait(30)
    assert "every state hash agrees" in kit.run("cairn-replay", "verify", "game.cairn", "--rules", arena).out
    kit.refuses("cairn-replay", "verify", "game.cairn", code=3, says="arena")


def test_a_declared_input_goes_through_every_program(kit, files):
    """A predicting bot with the rules and a thin one without them play; the recording and one that is made verify."""
    pilots = files / "pilots.so"
    server = kit.serve("--rules", pilots, "--record", "game.cairn", "--seconds", 5, scene="pilots.json")
    bot = kit.bot(server, "--rules", pilots, "--mode", "predict", "--inputs", "random", "--seconds", 2).json
    assert bot["roots_compared"] > 20 and bot["roots_differed"] == 0 and bot["inputs_sent"] > 60
    assert kit.bot(server, "--inputs", "random", "--seconds", 1).json["inputs_sent"] > 20
    server.process.wait(30)
    assert "declare" not in server.log.read_text()  # no input was refused
    kit.run("cairn-replay", "make", "made.cairn", "--scene", "pilots.json", "--rules", pilots, "--players", 2, "--seconds", 2)
    for name in ("game.cairn", "made.cairn"):
        assert "every state hash agrees" in kit.run("cairn-replay", "verify", name, "--rules", pilots).out


def test_a_game_is_linked_in_three_lines(kit, files):
    out = kit.run("example_arena_server", "--key-file", kit.key(), "--scene", "arena.json", "--check").out
    assert "would run scene disc (1 bodies, arena)" in out
    kit.refuses("cairnd", "--key-file", kit.key(), "--scene", "arena.json", "--check", code=1,
                says="has the rules 'arena', which nothing brings")


def test_rules_with_a_fault_keep_their_room_closed_and_the_others_run(kit, files):
    faulty = files / "faulty.so"
    server = kit.serve("--rules", faulty, "--room", "bad=crashes.json", "--room", "worse=writes_after.json")
    log = server.log.read_text()
    assert ("room bad is not started: rules crashes, version 1, in scene disc: they crash in start "
            "(segmentation fault)") in log
    assert "rules writes after, version 1, in scene disc: they read or write outside their state in start" in log
    assert kit.bot(server, "--seconds", 1).json["played"]
    refused = kit.bot(server, "--room", "bad", "--seconds", 2, code=1)
    assert "no room of this name" in refused.err
    alone = kit.run("cairnd", "--key-file", kit.key(), "--rules", faulty, "--scene", "crashes.json", code=1)
    assert "room main is not started" in alone.err


def test_rules_are_checked(kit, files):
    kit.skip_if_sanitized("adds imports to a rules file")
    quick = ["--seeds", 1, "--ticks", 120, "--storm-seconds", 3]
    sound = kit.run("cairn-rules", "check", files / "arena.so", *quick).out
    assert "rules arena, version 1" in sound
    assert [line.split() for line in sound.splitlines() if " sound" in line] == [
        [what, "sound"] for what in ("imports", "trial", "replay", "storms")]
    assert kit.run("cairn-rules", "check", files / "pilots.so", *quick).out.count(" sound") == 4
    kept = kit.run("cairn-rules", "check", files / "static.so", *quick, code=1).out
    assert "replay    FAULT: your rules keep state outside their block: seed 1, after tick" in kept
    assert "the word at byte 4 of their state is 0x" in kept
    called = kit.run("cairn-rules", "check", files / "random.so", *quick, code=1).out
    assert "imports   FAULT: your rules import what rules may not call: rand" in called
    crashed = kit.run("cairn-rules", "check", files / "faulty.so", *quick, code=1).out
    assert "trial     FAULT: they crash in start (segmentation fault)" in crashed
    again = kit.run("cairn-rules", "check", files / "sandbox.so", *quick, code=1).out
    assert "imports   sound" in again and "other rules have the same name" in again
    kit.refuses("cairn-rules", "check", code=2, says="name a rules file")


def test_python_loads_rules(files):
    if not (files.parent / "python/cairn").exists():
        pytest.skip("a build with sanitizers has no Python package")
    code = ("import sys, cairn; cairn.load_rules(sys.argv[1])\n"
            "world = cairn.World('empty', rules='arena'); world.step_players({}, join=[0]); world.step(9)\n"
            "assert world.hash != cairn.World('empty', rules='').hash")
    declared = ("import sys, struct, cairn; cairn.load_rules(sys.argv[1])\n"
                "world = cairn.World('empty', rules='pilots'); world.step_players({}, join=[1])\n"
                "assert world.input_fields[:2] == [('bits', 6, 0.0, 0.0), ('float', 8, -1.0, 1.0)]\n"
                "world.step_players({1: (5, 0.5, 1, 2, 3, 4, 5, 6)})\n"
                "seen = struct.unpack('<3If6I', world.rules_state)\n"
                "assert seen[:3] == (11, 0, 5) and abs(seen[3] - 0.5) < 0.004 and seen[4:] == (1, 2, 3, 4, 5, 6), seen\n"
                "for wrong in ((64, 0, 0, 0, 0, 0, 0, 0), (0, 1.5, 0, 0, 0, 0, 0, 0), (0, 0)):\n"
                "    try: world.step_players({1: wrong})\n"
                "    except (cairn.InvalidArgument, TypeError) as e: assert 'input' in str(e)\n"
                "    else: raise AssertionError(wrong)\n")
    environment = {**os.environ, "PYTHONPATH": str(files.parent / "python")}

    def load(name, code=code):
        command = ["/usr/bin/python3", "-c", code, files / name]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30, check=False)

    own = load("pilots.so", declared)
    assert own.returncode == 0, own.stderr
    good, bad = load("arena.so"), load("imports.so")
    assert good.returncode == 0, good.stderr
    assert bad.returncode == 1 and "cairn_no_such_function" in bad.stderr


@pytest.mark.parametrize("name, says", [
    ("other_abi", "is built for version 3 of the rules' ABI"),
    ("crashes_at_load", "crash in the code that runs when the file is loaded"),
    ("missing", "No such file"),
    ("foreign", "is built for another kind of processor"),
])
def test_a_file_with_a_fault_is_refused_by_name(kit, files, name, says):
    path = files / f"{name}.so"
    if name == "foreign":
        path = kit.folder / "foreign.so"
        whole = bytearray((files / "arena.so").read_bytes())
        whole[18] = 8  # MIPS
        path.write_bytes(whole)
    for program, arguments in (("cairnd", ["--key-file", kit.key()]), ("cairn-bot", []), ("cairn-replay", ["make", "out"])):
        code = 1 if program == "cairnd" else 2
        kit.refuses(program, *arguments, "--rules", path, code=code, says=says)
