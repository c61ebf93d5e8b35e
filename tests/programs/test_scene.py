# SPDX-License-Identifier: MIT
"""cairn-scene: what it says about scenes, and the JSON schema against the reader."""

import copy
import json
import re

import pytest

from conftest import SOURCE

jsonschema = pytest.importorskip("jsonschema")

FULL = {
    "name": "full", "rules": "sandbox", "seed": 3, "gravity": [0, -9, 0], "solver": "pgs", "sleep": False, "slop": 0.01,
    "hulls": [{"points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}],
    "meshes": [{"vertices": [[0, 0, 0], [0, 0, 1], [1, 0, 0]], "indices": [0, 1, 2]}],
    "height_fields": [{"heights": [0, 0, 0, 1], "columns": 2, "spacing_x": 2}],
    "prefabs": [{"name": "pair", "bodies": [{"shapes": [{"kind": "hull"}]}, {"shapes": [{"kind": "sphere", "radius": 2}]}],
                 "joints": [{"kind": "hinge", "body_b": 1, "limited": True, "upper": 1}]}],
    "bodies": [{"kind": "static", "shapes": [{"kind": "half_space"}, {"kind": "mesh"}, {"kind": "height_field"}]},
               {"position": [0, 2, 0], "rotation_deg": [0, 45, 0], "grid_count": [2, 1, 1], "grid_spacing": [3, 0, 0],
                "shapes": [{"half_extents": [1, 2, 3], "friction_combine": "maximum", "sensor": False}]}],
    "instances": [{"prefab": "pair", "circle_count": 5, "circle_radius": 20, "circle_axis": [0, 1, 0]}],
    "joints": [{"kind": "distance", "body_a": 1, "body_b": 2, "length": 3}],
}


def walk(value, path=()):
    yield path, value
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from walk(value[key], path + (key,))


def replaced(scene, path, value):
    scene = copy.deepcopy(scene)
    place = scene
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return scene


@pytest.fixture
def schema(kit):
    schema = json.loads(kit.run("cairn-scene", "schema").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def accepts(kit, scene):
    """Whether the reader takes a scene. Its messages are about the world if there is no place in them."""
    (kit.folder / "s.json").write_text(json.dumps(scene))
    done = kit.run("cairn-scene", "check", "s.json", code=None)
    return not re.search(r"^s\.json:\d+:\d+: error: ", done.err, re.M)


def test_the_schema_accepts_every_scene_of_the_repository(kit, schema):
    for path in sorted((SOURCE / "scenes").glob("*.json")):
        text = re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.M)
        schema.validate(json.loads(text))
        kit.run("cairn-scene", "check", path.stem)


def test_schema_and_reader_agree_about_every_value_of_a_wrong_kind(kit, schema):
    assert accepts(kit, FULL) and schema.is_valid(FULL)
    wrong = [None, "text", -1, 1e30, True, {}, [], [1, 2]]
    tried = 0
    for path, value in list(walk(FULL))[1:]:
        # Numbers in long lists are alike.
        if len(path) > 4 and isinstance(path[-1], int) and path[-1] > 0:
            continue
        for number, other in enumerate(wrong):
            if (number + len(path)) % 2 == 0 or type(other) is type(value) and other == value:
                continue
            scene = replaced(FULL, path, other)
            if not schema.is_valid(scene):
                tried += 1
                assert not accepts(kit, scene), (path, other)
    assert tried > 150


def test_a_field_that_is_unknown_or_missing_is_refused_by_both(kit, schema):
    for path, value in walk(FULL):
        if isinstance(value, dict):
            scene = replaced(FULL, path + ("colour",), 1) if path else {**FULL, "colour": 1}
            assert not schema.is_valid(scene) and not accepts(kit, scene), path
    for path in (("name",), ("prefabs", 0, "name"), ("hulls", 0, "points"), ("instances", 0, "prefab")):
        scene = copy.deepcopy(FULL)
        place = scene
        for key in path[:-1]:
            place = place[key]
        del place[path[-1]]
        assert not schema.is_valid(scene) and not accepts(kit, scene), path


def test_check_tells_all_errors_with_their_places(kit):
    (kit.folder / "bad.json").write_text('{\n  "name": "bad",\n  "body_capacity": -5,\n'
                                         '  "bodies": [ { "kind": "dynamik", "shapes": [ { "raduis": 1 } ] } ]\n}\n')
    answer = kit.run("cairn-scene", "check", "bad.json", code=1)
    assert answer.err.splitlines() == [
        "bad.json:3:20: error: body_capacity: must be a whole number in [1, 131072], is -5",
        'bad.json:4:25: error: bodies[0].kind: must be one of "static", "kinematic", "dynamic"; did you mean dynamic?',
        "bad.json:4:50: error: bodies[0].shapes[0].raduis: a shape has no such field; did you mean radius?",
        "cairn-scene: bad.json: 3 errors in this scene"]


def test_a_scene_that_is_not_built_in_has_a_neighbour(kit):
    answer = kit.run("cairn-scene", "check", "stakc10", code=1)
    assert "did you mean stack10?" in answer.err
    assert "did you mean stack10?" in kit.run("cairn-replay", "make", "x.cairn", "--scene", "stakc10", code=2).err


def test_the_scenes_of_the_page_are_well(kit):
    blocks = re.findall(r"```json\n(.*?)```", (SOURCE / "docs/SCENES.md").read_text(), re.S)
    assert len(blocks) == 2
    for block in blocks:
        (kit.folder / "page.json").write_text(block)
        assert not kit.run("cairn-scene", "check", "page.json").err


def test_a_robot_is_imported_with_joints_or_in_joint_coordinates(kit):
    robot = SOURCE / "python/examples/double_pendulum.urdf"
    joints = json.loads(kit.run("cairn-scene", "import", robot).out)["joints"]
    assert not any("articulated" in joint for joint in joints)
    kit.run("cairn-scene", "import", robot, "--articulated", "--out", "arm.json", "--parts", "parts.json")
    joints = json.loads((kit.folder / "arm.json").read_text())["joints"]
    assert [joint["articulated"] for joint in joints] == [True, True]
    assert [joint["name"] for joint in json.loads((kit.folder / "parts.json").read_text())["joints"]] == ["shoulder", "elbow"]
    kit.run("cairn-scene", "check", "arm.json")
    assert "--articulated" in kit.run("cairn-scene", "--help").out
