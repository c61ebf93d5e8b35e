# SPDX-License-Identifier: MIT
"""An operator at the shell: cairn-ctl at a cairnd with --control."""

import pytest

from conftest import SOURCE

DROP = """pause
reset 7            # always the same beginning
spawn-box 0 6 0 0.5 0.5 0.5 42
step 60
"""


class Operator:
    def __init__(self, kit, server):
        self.kit = kit
        self.server = server
        (kit.folder / "drop.verbs").write_text(DROP)

    def __call__(self, *arguments, code=0):
        return self.kit.run("cairn-ctl", "--server", self.server.address, "--key", self.kit.key(), *arguments, code=code)

    def root(self, *arguments):
        """The state hash of the last answer."""
        return self.ask(*arguments)["root"]

    def ask(self, *arguments, code=0):
        return self("--json", *arguments, code=code).json


@pytest.fixture
def ctl(kit):
    return Operator(kit, kit.serve("--control", "--record", "world.cairn"))


def test_the_verbs_of_the_page_do_what_it_says(kit, ctl):
    page = (SOURCE / "docs/HARNESS.md").read_text().partition("## A test with cairn-ctl")[2].partition("A test is then")[0]
    (kit.folder / "page.verbs").write_text("\n".join(line for line in page.splitlines() if line.startswith("    ")))
    answers = ctl("run", "page.verbs").lines()
    assert "joint=2" in answers and "joint=3" in answers and "breakable=true" in answers
    assert "mass=5" in answers
    assert ctl.ask("shapes", 0, 266)["shapes"][0]["friction"] == pytest.approx(0.2)


def test_the_same_verbs_give_the_same_world_and_another_seed_another(ctl):
    first = ctl.ask("run", "drop.verbs")
    assert first["tick"] == 60
    assert ctl.root("run", "drop.verbs") == first["root"]
    ctl("reset", 8)
    assert ctl.root("step", 60) != first["root"]


def test_text_answers_name_room_tick_and_root(ctl):
    text = ctl("run", "drop.verbs").lines()[-2]
    assert text.startswith("ok room=main tick=60 root=")


def test_a_spawned_body_keeps_its_user_word(ctl):
    ctl("run", "drop.verbs")
    body = ctl.ask("get", 266)["body"]
    assert (body["id"], body["kind"], body["awake"], body["user"]) == (266, "dynamic", True, 42)
    assert len(body["position"]) == 3 and len(body["rotation"]) == 4


def test_shapes_and_joints_are_made_from_words(ctl):
    ctl("pause")
    tetrahedron = (0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1)
    hull = ctl.ask("spawn", "hull", 0, 30, 0, 0, 0, 0, 0, 0, 0, 7, *tetrahedron)["body"]
    cone = ctl.ask("spawn", "cone", 2, 30, 0, 0.5, 0.5, 0)["body"]
    joint = ctl.ask("create-joint", "weld", hull, cone, 1, 30, 0, 1, 30, 0)["joint"]
    ctl("step", 30)
    (made,) = ctl.ask("joints")["joints"][-1:]
    assert (made["id"], made["body_a"], made["body_b"]) == (joint, hull, cone)
    assert ctl.ask("get", hull)["body"]["user"] == 7
    ctl("spawn", "hull", 0, 30, 0, 0, 0, 0, 0, 0, 0, 7, 1, 2, code=2)  # a third of a point
    ctl("spawn", "ball", 0, 30, 0, 1, 0, 0, code=2)
    assert "spawn-mesh makes meshes" in ctl.ask("spawn", "mesh", 0, 30, 0, 0, 0, 0, code=1)["reason"]


def test_compounds_and_surfaces_are_made_from_words_and_recorded(kit, ctl):
    ctl("pause")
    place = (0, 60, 0, 0, 0, 0, 7)
    parts = ("box", 0.5, 0.5, 0.5, 0, 0, 0, 0, 0, 0, "sphere", 0.5, 0, 0, 0, 1, 0, 0, 0, 0)
    compound = ctl.ask("spawn-compound", *place, *parts)["body"]
    corners = (0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1)
    hull = ("hull", 4, 0, 0, *[0] * 6, *corners)
    other = ("hull", 5, 0, 0, *[0] * 6, *[x + 3 * (i % 3 == 0) for i, x in enumerate(corners)], 4, 1, 1)
    hulls = ctl.ask("spawn-compound", 30, 90, 0, *place[3:], *hull, *parts[10:], *other)["body"]
    ctl("step", 1)
    assert ctl.ask("ray", 33.2, 99, 0.2, 0, -20, 0)["body"] == hulls
    assert ctl.ask("ray", 32.2, 99, 0.2, 0, -20, 0)["body"] == 0  # between both hulls
    square = (-4, 0, -4, -4, 0, 4, 4, 0, 4, 4, 0, -4)
    mesh = ctl.ask("spawn-mesh", 0, 50, 0, 0, 0, 0, 7, 4, *square, 0, 1, 2, 0, 2, 3)["body"]
    field = ctl.ask("spawn-height-field", 20, 50, 0, 0, 0, 0, 7, 2, 4, 4, 0, 0, 0.5, 0.5)["body"]
    ctl("step", 200)
    assert 50 < ctl.ask("get", compound)["body"]["position"][1] < 51
    assert [shape["kind"] for shape in ctl.ask("shapes", 0, compound)["shapes"]] == [3, 1]
    assert [shape["kind"] for shape in ctl.ask("shapes", 0, hulls)["shapes"]] == [5, 1, 5]
    assert ctl.ask("ray", 22, 60, 2, 0, -20, 0)["body"] == field
    assert ctl.ask("get", mesh)["body"]["kind"] == "static"
    ctl("spawn-compound", *place, *parts[:-1], code=2)  # a word is missing
    ctl("spawn-compound", *place, *hull[:-1], code=2)
    ctl("spawn-compound", *place, "hull", 3.5, *hull[2:], code=2)
    ctl("spawn-compound", *place, *("hull", 61, 0, 0, *[0] * 6, *[1] * 183) * 2, code=2)  # 122 points
    ctl("spawn-mesh", *place, 5, *square, code=2)  # so are the numbers of a vertex
    assert "whole rows" in ctl.ask("spawn-height-field", *place, 2, 4, 4, 0, 0, 0.5, code=1)["reason"]
    flat = [number for i in range(74) for number in (i, 0, i % 3)]
    many = [corner for i in range(151) for corner in (i % 70, i % 70 + 1, i % 70 + 2)]
    assert "65 edits" in ctl.ask("spawn-mesh", *place, 74, *flat, *many, code=1)["reason"]
    ctl.server.stop()
    assert "every state hash agrees" in kit.run("cairn-replay", "verify", "world.cairn").out


def test_a_body_is_broken_and_recorded(kit, ctl):
    ctl("pause")
    ball = ctl.ask("spawn-sphere", 30, 40, 0, 0.5)["body"]
    wall = ctl.ask("spawn-box", 0, 40, 0, 2, 1, 0.25, 42)["body"]
    ctl("step", 1)
    mass = ctl.ask("get-body", wall)["mass"]
    pieces = ctl.ask("fracture", wall, 0.5, 40, 0.25, 12, 0.5, 0.02, 7)["pieces"]
    assert 2 <= len(pieces) <= 12
    ctl("step", 1)
    found = [ctl.ask("get-body", piece["body"]) for piece in pieces]
    assert abs(sum(piece["mass"] for piece in found) - mass) < 1e-4 * mass
    assert all(piece["body"]["user"] == 42 for piece in found)
    assert [ctl.ask("shapes", 0, piece["body"])["shapes"][0]["id"] for piece in pieces] == [piece["shape"] for piece in pieces]
    assert str(wall) in ctl.ask("get", wall, code=1)["reason"]
    assert "neither box, hull, cylinder nor cone" in ctl.ask("fracture", ball, 30, 40, 0, 4, code=1)["reason"]
    assert "2 to 64 pieces" in ctl.ask("fracture", found[0]["body"]["id"], 0, 40, 0, 65, code=1)["reason"]
    ctl("fracture", ball, 0, 40, 0, code=2)
    ctl("step", 60)
    ctl.server.stop()
    assert "every state hash agrees" in kit.run("cairn-replay", "verify", "world.cairn").out


def test_more_numbers_than_a_request_carries_are_refused(ctl):
    place = (0, 50, 0, 0, 0, 0, 7)
    assert "too many for one request" in ctl("spawn-height-field", *place, 2, 4, 4, *[0] * 373, code=2).err
    assert "too many for one request" in ctl("spawn", "hull", *[0] * 9, 7, *[1] * 363, code=2).err
    parts = ("box", *[1] * 9)
    assert "use: spawn-compound" in ctl("spawn-compound", *place, *parts * 33, code=2).err
    assert "use: spawn-mesh" in ctl("spawn-mesh", *place, 3, *[0] * (9 + 3 * 361), code=2).err


def test_joints_are_set_read_and_recorded(kit, ctl):
    ctl("pause")
    a, b = (ctl.ask("spawn-box", x, 30, 0, 0.5, 0.5, 0.5)["body"] for x in (0, 2))
    hinge = ctl.ask("create-joint", "hinge", a, b, 1, 30, 0, 1, 30, 0, 0, 0, 1)["joint"]
    row = ctl.ask("create-joint", "row", a, b, 0, 0, 0, 0, 0, 0)["joint"]
    ctl("set-joint", hinge, "motor", 2, 500)
    ctl("set-joint", hinge, "break", 1e6, 1e5)
    ctl("set-joint", hinge, "anchor-b", -1, 0, 0.25)
    ctl("set-joint", hinge, "name", "elbow")
    ctl("set-row", row, 0, 1, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, -5, 5)
    ctl("set-body", b, "gyroscopic", 1)
    ctl("step", 30)
    got = ctl.ask("get-joint", hinge)
    assert got["joint"]["kind"] == 3 and got["motor"] and got["motor_speed"] == 2
    assert (got["break_force"], got["break_torque"], got["anchor_b"]) == (1e6, 1e5, [-1, 0, 0.25])
    assert got["name"] != 0 and abs(got["error"]) < 0.1
    assert ctl.ask("get-joint", row)["row_lower"] == -5
    assert "does not have this property" in ctl.ask("set-joint", hinge, "ratio", 2, code=1)["reason"]
    assert "is not a row" in ctl.ask("set-row", hinge, *[0] * 14, code=1)["reason"]
    ctl("set-joint", hinge, "colour", 2, code=2)
    ctl.server.stop()
    assert "every state hash agrees" in kit.run("cairn-replay", "verify", "world.cairn").out


def test_bodies_and_shapes_are_set_read_and_recorded(kit, ctl):
    ctl("pause")
    body = ctl.ask("spawn-box", 0, 30, 0, 0.5, 0.5, 0.5)["body"]
    ctl("step", 1)
    (shape,) = ctl.ask("shapes", 0, body)["shapes"]
    assert (shape["kind"], shape["body"], shape["friction"]) == (3, body, 0.5)
    ctl("set-pose", body, 0, 40, 0, 0, 0, 1)
    ctl("set-mass", body, 7, 0, 0.25, 0, 2, 3, 4, 0.5, 0, 0)
    ctl("set-shape", shape["id"], "friction", 0.25)
    ctl("set-shape", shape["id"], "mask", 4294967294)
    ctl("set-body", body, "owner", 3)
    ctl("step", 30)
    got = ctl.ask("get-body", body)
    assert (got["mass"], got["centre"], got["owner"]) == (7, [0, 0.25, 0], 3)
    assert got["body"]["rotation"][2] == pytest.approx(0.4794, abs=1e-3)
    (shape,) = ctl.ask("shapes", 0, body)["shapes"]
    assert (shape["friction"], shape["mask"]) == (0.25, 4294967294)
    assert "positive definite" in ctl.ask("set-mass", body, 7, 0, 0, 0, 1, 1, -1, code=1)["reason"]
    assert "shapes do not have" in ctl.ask("set-shape", shape["id"], "mass", 1, code=1)["reason"]
    ctl.server.stop()
    assert "every state hash agrees" in kit.run("cairn-replay", "verify", "world.cairn").out


def test_text_answers_name_every_field(ctl):
    ctl("run", "drop.verbs")
    lines = ctl("get", 266).lines()
    assert lines[1].startswith("id=266 kind=dynamic awake=true user=42 position=")
    hit = dict(line.split("=") for line in ctl("ray", 0, 50, 0, 0, -100, 0).lines()[1:])
    assert list(hit) == ["hit", "body", "shape", "point", "normal", "fraction"]
    assert hit["hit"] == "true" and hit["normal"] == "0,1,0"
    assert "paused=true" in ctl("state").lines()


def test_help_describes_each_verb_and_its_answer(kit, ctl):
    listed = kit.run("cairn-ctl", "--help").out
    features = ctl.ask("features")
    for verb in features["verbs"]:
        about = kit.run("cairn-ctl", "help", verb["name"]).lines()
        assert f"  {verb['name']}" in listed and about[1].strip()
        assert about[-1].startswith("answers: room tick root")
    assert kit.run("cairn-ctl", "help", "ray").lines()[-1].endswith("hit body shape point normal fraction")


def test_a_save_in_a_file_restores_the_same_world(ctl):
    first = ctl.root("run", "drop.verbs")
    ctl("save", "here")
    ctl("save-read", "here", "here.state")
    assert ctl.root("step", 30) != first
    ctl("save-write", "back", "here.state")
    assert ctl.root("load", "back") == first


def test_a_seek_and_the_same_steps_reach_the_same_world(ctl):
    first = ctl.root("run", "drop.verbs")
    ctl("step", 30)
    assert ctl.ask("seek", 20)["tick"] == 20
    assert ctl.root("run-until", 60) == first


def test_a_fork_differs_by_its_own_edits(ctl):
    ctl("run", "drop.verbs")
    ctl("fork", "twin")
    ctl("--room", "twin", "delete", 266)
    ctl("--room", "twin", "step", 1)
    ctl("step", 1)
    assert "section=bodies " in ctl("diff", "twin").out
    assert ctl.ask("diff", "main")["difference_count"] == 0
    assert {"name": "twin", "tick": 61} in ctl.ask("rooms")["rooms"]
    ctl("room-destroy", "twin")
    assert "twin" not in ctl("rooms").out


def test_queries_are_answered(ctl):
    ctl("run", "drop.verbs")
    assert ctl.ask("ray", 0, 50, 0, 0, -100, 0)["hit"]
    assert not ctl.ask("ray", 0, 50, 0, 0, 100, 0)["hit"]
    box = ctl.ask("overlap", 0, 1, 0, 3, 3, 3)
    assert box["shape_count"] == len(box["shapes"]) > 0
    assert ctl.ask("overlap", 0, 50, 0, 1)["shape_count"] == 0  # a sphere
    assert "name=contacts " in ctl("hash").out
    (client,) = ctl.ask("clients")["clients"]
    assert client["mode"] == "interpolate" and client["rights"] == 1


def test_an_unknown_client_is_refused(ctl):
    assert "nothing has this name" in ctl("--seen-by", 99, "ray", 0, 50, 0, 0, -100, 0, code=1).err
    ctl("faults", 99, 0.1, 0, 50, 0, code=1)


def test_a_room_runs_again_after_resume(ctl):
    ctl("pause")
    ctl("rate", 2000)
    ctl("resume")
    assert ctl.ask("state")["paused"] is False


@pytest.mark.parametrize("verb, says", [
    (["step", 1], "not paused"),
    (["delete", 99999], "no such body"),
    (["seek", 1000000], ""),
    (["load", "nothing"], ""),
    (["--room", "nowhere", "pause"], ""),
])
def test_a_refused_verb_has_a_reason(ctl, verb, says):
    assert says in ctl(*verb, code=1).err
    refused = ctl.ask(*verb, code=1)
    assert not refused["ok"] and refused["refusal"]


@pytest.mark.parametrize("verb, says", [
    (["sideways"], "no such verb"),
    (["step"], "use: step TICKS"),
    (["step", "one"], "use: step TICKS"),
    (["step", 1, 2], "use: step TICKS"),
    (["overlap", 0, 0], "use: overlap X Y Z HALF-X HALF-Y HALF-Z | X Y Z RADIUS"),
    (["impulse", 7, 0, "up", 0], "use: impulse BODY X Y Z"),
    ([], "a verb is missing"),
])
def test_a_wrong_verb_is_refused_before_anything_is_sent(kit, verb, says):
    kit.refuses("cairn-ctl", "--server", "127.0.0.1:1", "--key", kit.key(), *verb, code=2, says=says)


def test_only_a_token_with_the_operator_right_may_control(kit, ctl):
    guest = kit.token(ctl.server, name="guest")
    operator = kit.token(ctl.server, "--operator", name="operator")
    assert "no right" in kit.run("cairn-ctl", "--token", guest, "pause", code=1).err
    kit.run("cairn-ctl", "--token", operator, "pause")
    kit.refuses("cairn-ctl", "--token", "key", "pause", code=2, says="a token has 2048")


def test_every_room_is_recorded_with_what_operators_did(kit, ctl):
    ctl("run", "drop.verbs")
    ctl("seek", 20)
    ctl("run-until", 60)
    ctl("fork", "twin")
    ctl("--room", "twin", "delete", 266)
    ctl("--room", "twin", "step", 1)
    ctl("room-destroy", "twin")
    ctl("--paused", "room-create", "other", "demo", 9)
    ctl.server.stop()
    for recording in ("world.cairn", "world.cairn.twin", "world.cairn.other"):
        assert "every state hash agrees" in kit.run("cairn-replay", "verify", recording).out


def test_a_recreated_room_has_a_new_recording(kit, ctl):
    ctl("pause")
    for ticks in (50, 10):
        ctl("fork", "twin")
        ctl("--room", "twin", "step", ticks)
        ctl("room-destroy", "twin")
    ctl.server.stop()
    recordings = [event["file"] for event in ctl.server.events("recording")]
    assert recordings == ["world.cairn", "world.cairn.twin", "world.cairn.twin.1"]
    ticks = [kit.run("cairn-replay", "verify", name, "--json").json["ticks"] for name in recordings[1:]]
    assert ticks == [50, 10]


def test_control_is_off_by_default(kit):
    ctl = Operator(kit, kit.serve())
    assert "control is not enabled" in ctl("pause", code=1).err


def test_a_stopped_server_does_not_answer(kit):
    ctl = Operator(kit, kit.serve("--control"))
    ctl.server.stop()
    ctl("--timeout", 1, "pause", code=3)
