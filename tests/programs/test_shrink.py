# SPDX-License-Identifier: MIT
"""cairn-replay shrink: planted faults in worlds of many bodies become tests of a few, which fail as claimed."""

import json
import os
import subprocess

import pytest

from conftest import SOURCE

IMPULSE, SET_VELOCITY, SET_POSITION, OPERATOR = 9, 8, 7, 256
CRATES = 60
TICKS = 300
FALLS = "body 3 y < body 2 y - 1"  # body 3 passes through the thin plate, body 2


def command(tick, kind, body, *move):
    return {"tick": tick, "kind": kind, "slot": OPERATOR, "sequence": kind, "buttons": body, "move": move}


def thrown_through(crates, ticks):
    """A ball above a thin plate, crates about it that an operator pushes; near the end the ball is put under the plate's
    middle and thrown down: an input, since a ball that is thrown alone is stopped."""
    side = int(crates**0.5)
    bodies = [{"kind": "static", "shapes": [{"kind": "half_space"}]},
              {"kind": "static", "position": [0, 5, 0], "shapes": [{"half_extents": [1, 0.01, 1]}]},
              {"position": [0, 5.2, 0], "shapes": [{"kind": "sphere", "radius": 0.1}]}]
    bodies += [{"position": [3 + i % side * 1.2, 0.5, i // side * 1.2], "shapes": [{"half_extents": [0.3, 0.3, 0.3]}]}
               for i in range(crates)]
    commands = [command(tick, IMPULSE, 4 + tick * 31 % crates, 20, 100, 0) for tick in range(0, ticks, 7)]
    commands += [command(ticks - 30, SET_POSITION, 3, 0.1, 4.8, 0.1), command(ticks - 30, SET_VELOCITY, 3, 0, -9, 0.5)]
    scene = {"name": "plate", "rules": "sandbox", "body_capacity": 2048, "shape_capacity": 2048, "contact_capacity": 16384,
             "bodies": bodies}
    return scene, {"ticks": ticks, "commands": sorted(commands, key=lambda c: c["tick"])}


def watched(crates=20):
    """The body "watched" falls to the ground among crates that lie there."""
    bodies = [{"kind": "static", "shapes": [{"kind": "half_space"}]}]
    bodies += [{"position": [2 + i % 6 * 1.5, 0.5, i // 6 * 1.5], "shapes": [{}]} for i in range(crates)]
    bodies.insert(12, {"name": "watched", "position": [0, 4, 0], "shapes": [{}]})
    return {"name": "watch", "rules": "watcher", "bodies": bodies}


def write(kit, name, value):
    (kit.folder / name).write_text(json.dumps(value))
    return name


def record(kit, scene, commands, *flags):
    write(kit, "scene.json", scene)
    write(kit, "play.json", commands)
    kit.run("cairn-replay", "make", "--scene", "scene.json", "--commands", "play.json", *flags, "long.cairn")


def shrink(kit, *flags, prefix="small"):
    return kit.run("cairn-replay", "shrink", "long.cairn", prefix, "--json", *flags).json


def run_test(kit, name="small", *arguments):
    """Compiles the C test with the libraries and runs it; returns its exit code."""
    build = kit.programs.parent
    compiler = os.environ.get("CC", "cc")
    libraries = [build / "sim/libcairn_sim.a", build / "base/libcairn_base.a"]
    subprocess.run([compiler, "-std=c17", "-Wall", "-Wextra", "-Werror", "-I", SOURCE / "include", f"{name}.c", *libraries, "-lm",
                    "-o", name], cwd=kit.folder, check=True)
    return subprocess.run([f"./{name}", *arguments], cwd=kit.folder, capture_output=True, check=False).returncode


@pytest.fixture
def plate(kit):
    record(kit, *thrown_through(CRATES, TICKS))
    return kit


@pytest.fixture
def files(programs):
    return programs.parent / "lib"


def test_a_body_that_passes_a_floor_becomes_a_test_of_two(plate):
    answer = shrink(plate, "--predicate", FALLS, "--start", "body 3 y > body 2 y")
    assert (answer["bodies"], answer["joints"], answer["commands"]) == (2, 0, 2)
    assert answer["ticks"] < 10 and answer["scene"] and answer["minimal"]
    assert answer["tick_failed"] == TICKS - 24
    scene = json.loads((plate.folder / "small.json").read_text())
    assert scene["bodies"][0]["shapes"][0]["half_extents"][0] == 1 and scene["body_capacity"] < 100
    # What was written is what every program reads.
    plate.run("cairn-scene", "check", "small.json")
    plate.run("cairn-replay", "make", "--scene", "small.json", "--commands", "small.commands.json", "again.cairn")
    assert "every state hash agrees" in plate.run("cairn-replay", "verify", "small.cairn").out
    assert "equal for" in plate.run("cairn-replay", "diff", "small.cairn", "again.cairn").out


def test_the_c_test_fails_and_passes_when_the_fault_is_gone(plate):
    plate.skip_if_sanitized("would have to be linked there as well")
    shrink(plate, "--predicate", FALLS, "--start", "body 3 y > body 2 y")
    assert run_test(plate) == 1
    text = (plate.folder / "small.c").read_text()
    (plate.folder / "cured.c").write_text(text.replace("{7, 256,", "{9, 256,"))  # an impulse in place of the new position
    assert run_test(plate, "cured") == 0


def test_workers_find_the_same(plate):
    answers = []
    for workers in (1, 2):
        answer = shrink(plate, "--predicate", FALLS, "--workers", workers, prefix=f"w{workers}")
        answers.append({key: answer[key] for key in ("bodies", "commands", "ticks")})
    assert answers[0] == answers[1]
    assert (plate.folder / "w1.json").read_text() == (plate.folder / "w2.json").read_text()


def test_any_and_kept_bodies(plate):
    answer = shrink(plate, "--predicate", "any y < 4.8 and any y > 4 and tick > 200", "--keep", "2,9")
    assert answer["bodies"] == 3


@pytest.mark.parametrize("articulated", [False, True])
def test_a_joint_that_the_failure_needs_stays(kit, articulated):
    """A weight swings on a hinge, beside chains that fall; without its hinge it would fall as well."""
    hinge = {"kind": "hinge", "body_a": 0, "body_b": 1, "axis_a": [0, 0, 1], "axis_b": [0, 0, 1], "normal_a": [1, 0, 0],
             "normal_b": [1, 0, 0], "anchor_b": [-1, 0, 0], "articulated": articulated}
    chains = [{"kind": "ball", "body_a": i, "body_b": i + 1, "anchor_a": [0.75, 0, 0], "anchor_b": [-0.75, 0, 0]}
              for i in range(2, 12, 2)]
    bodies = [{"kind": "static", "position": [0, 5, 0], "shapes": [{"half_extents": [0.1, 0.1, 0.1]}]},
              {"position": [1, 5, 0], "shapes": [{"kind": "sphere", "radius": 0.2}]}]
    bodies += [{"position": [3 + 1.5 * i, 5, 0], "shapes": [{}]} for i in range(12)]
    record(kit, {"name": "swing", "bodies": bodies, "joints": [hinge] + chains}, {"ticks": 90, "commands": []})
    answer = shrink(kit, "--predicate", "body 2 x < -0.5 and body 2 y > 3 and body 1 y == 5", "--lead", 40)
    assert (answer["bodies"], answer["joints"], answer["scene"]) == (2, 1, True)
    assert ("joint.articulated = 1u;" in (kit.folder / "small.c").read_text()) == articulated
    kit.skip_if_sanitized("would have to be linked there as well")
    assert run_test(kit) == 1


def test_rules_that_keep_something_outside_their_state(kit, files):
    remembers = files / "watcher_remembers.so"
    record(kit, watched(), {"ticks": 120, "commands": []}, "--rules", remembers)
    answer = shrink(kit, "--rules", remembers, "--difference")
    assert answer["bodies"] == 1 and answer["ticks"] == 1 and answer["scene"]
    assert answer["failure"] == "each step in a world that was loaded differs"
    # The scene has another name of the same hash, by which the rules find the body.
    assert len(json.loads((kit.folder / "small.json").read_text())["bodies"][0]["name"]) == 6


def test_an_assertion_of_the_rules(kit, files):
    record(kit, watched(), {"ticks": 120, "commands": []}, "--rules", files / "watcher.so")
    answer = shrink(kit, "--rules", files / "watcher_asserts.so", "--assertion")
    assert answer["bodies"] == 1 and answer["ticks"] == 1
    kit.refuses("cairn-replay", "shrink", "long.cairn", "none", "--rules", files / "watcher.so", "--assertion", code=2,
                says="its rules end the program at no tick")


def test_another_program_is_the_oracle(kit, files):
    """Two builds of one version: the recorded hashes are of one, this program loads the other."""
    other = f"{kit.programs}/cairn-replay verify --rules {files}/watcher.so"
    record(kit, watched(), {"ticks": 120, "commands": []}, "--rules", files / "watcher.so")
    pushes = ["--rules", files / "watcher_pushes.so"]
    kit.run("cairn-replay", "verify", "long.cairn", *pushes, code=1)
    refused = kit.run("cairn-replay", "shrink", "long.cairn", "none", *pushes, code=2)
    assert "name the other program: --oracle" in refused.err
    answer = shrink(kit, *pushes, "--oracle", other)
    assert answer["bodies"] == 1 and answer["failure"] == "the command says so"
    kit.run("cairn-replay", "verify", "small.cairn", "--rules", files / "watcher.so", code=1)


def test_a_state_when_a_scene_does_not_fail(kit):
    """The player's body is known to the memory of the rules alone: a scene has it not."""
    kit.run("cairn-replay", "make", "--scene", "empty", "--players", 2, "--seconds", 4, "long.cairn")
    answer = shrink(kit, "--predicate", "tick == 200 and any speed > 0.3", "--lead", 20)
    assert answer["bodies"] <= 2
    assert (kit.folder / "small.c").exists() and (kit.folder / "small.json").exists() == answer["scene"]


@pytest.mark.parametrize("arguments, says", [
    (["small", "--predicate", "body 3 hight < 2"], "--predicate: column 8: 'hight' is not known"),
    (["small", "--predicate", "any y < 0", "--start", "1 +"], "--start: column 4: a number or a quantity is expected here"),
    (["small", "--predicate", "any y < -99"], "long.cairn: the predicate holds after no tick"),
    (["small", "--predicate", FALLS, "--start", "any y > 99"], "--start holds at no tick before the failure"),
    (["small", "--predicate", FALLS, "--keep", "999"], "--keep: one of them does not exist"),
    (["small", "--predicate", FALLS, "--assertion"], "give one of --difference"),
    (["small", "--oracle", "true"], "the command of --oracle ends with 0 or 125"),
    (["small"], "no state hash differs"),
    (["folder/"], "must be the beginning of file names"),
    (["nowhere/small", "--predicate", FALLS], "nowhere/small.json: No such file"),
])
def test_bad_arguments_are_named(plate, arguments, says):
    answer = plate.run("cairn-replay", "shrink", "long.cairn", *arguments, code=2)
    assert says in answer.err.splitlines()[-1]
    assert not list(plate.folder.glob("small*"))


def test_an_output_that_is_the_input_is_refused(plate):
    before = (plate.folder / "long.cairn").read_bytes()
    plate.refuses("cairn-replay", "shrink", "long.cairn", "long", "--predicate", FALLS, code=2,
                  says="long.cairn: is the input, which would be overwritten")
    assert (plate.folder / "long.cairn").read_bytes() == before


@pytest.mark.parametrize("text, says", [
    ('{"commands": []}', "ticks: must be a whole number from 1"),
    ('{"ticks": 3, "commands": 7}', "commands: must be a list"),
    ('{"ticks": 3, "commands": [{"tick": 3}]}', "commands[0]: tick must be a whole number below ticks"),
    ('{"ticks": 3, "commands": [{"tick": 1, "kind": 99}]}', "commands[0]: is not a command"),
    ('{"ticks": 3, "commands": [{"tick": 1, "kind": 9, "slot": 256, "buttons": 1, "move": [1, 2]}]}', "lists of three numbers"),
    ('{"ticks": 3, "commands": [7]}', "commands[0]: must be an object"),
    ('{"ticks": 3', "line 1"),
    ('{"ticks": 3, "commands": [{"kind": 1, "tick": 2}, {"kind": 1, "tick": 1}]}', "commands[1]: its tick is before"),
])
def test_bad_commands_files_are_named(kit, text, says):
    (kit.folder / "play.json").write_text(text)
    kit.refuses("cairn-replay", "make", "--scene", "empty", "--commands", "play.json", "x.cairn", code=2, says=says)
