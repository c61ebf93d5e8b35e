# SPDX-License-Identifier: MIT
"""cairn-scene import: scenes from glTF files, those of cairn's own export and of other programs."""

import base64
import copy
import json
import re
import struct

import pytest

from conftest import SOURCE

# A box of 2 by 4 by 6 about (1, 0, 0), and a tetrahedron.
BOX = [(1 + x, y, z) for x in (-1, 1) for y in (-2, 2) for z in (-3, 3)]
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
BOX_INDICES = [k for a, b, c, d in QUADS for k in (a, b, c, a, c, d)]
ROCK = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
ROCK_INDICES = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]


def gltf(nodes, **more):
    """A text file with the two meshes in a data URI."""
    points = b"".join(struct.pack("<3f", *p) for p in BOX + ROCK)
    indices = struct.pack(f"<{len(BOX_INDICES)}H", *BOX_INDICES) + bytes(ROCK_INDICES)
    data = points + indices
    accessor = {"bufferView": 0, "componentType": 5126, "type": "VEC3"}
    return {
        "asset": {"version": "2.0"}, "scene": 0,
        "scenes": [{"name": "yard", "nodes": [i for i in range(len(nodes)) if not any(i in n.get("children", []) for n in nodes)]}],
        "nodes": nodes,
        "meshes": [{"name": "Cube", "primitives": [{"attributes": {"POSITION": 0}, "indices": 2}]},
                   {"name": "Rock", "primitives": [{"attributes": {"POSITION": 1}, "indices": 3}]}],
        "accessors": [{**accessor, "count": 8}, {**accessor, "count": 4, "byteOffset": 96},
                      {"bufferView": 1, "componentType": 5123, "type": "SCALAR", "count": 36},
                      {"bufferView": 2, "componentType": 5121, "type": "SCALAR", "count": 12}],
        "bufferViews": [{"buffer": 0, "byteLength": 144}, {"buffer": 0, "byteOffset": 144, "byteLength": 72},
                        {"buffer": 0, "byteOffset": 216, "byteLength": 12}],
        "buffers": [{"byteLength": len(data), "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode()}],
        **more,
    }


def imported(kit, file, name="world.gltf"):
    (kit.folder / name).write_text(json.dumps(file))
    return json.loads(kit.run("cairn-scene", "import", name).out)


def test_an_export_is_imported_with_the_same_bodies_and_shapes(kit):
    kit.run("cairn-replay", "make", "one.cairn", "--scene", SOURCE / "tests/npm/features.json", "--seconds", 1)
    kit.run("cairn-replay", "export", "one.cairn", "a.glb", "--tick", 30)
    kit.run("cairn-scene", "import", "a.glb", "--out", "a.json")
    kit.run("cairn-scene", "check", "a.json", code=None)
    kit.run("cairn-replay", "make", "two.cairn", "--scene", "a.json", "--seconds", 1)
    kit.run("cairn-replay", "export", "two.cairn", "b.glb", "--tick", 0)
    kit.run("cairn-scene", "import", "b.glb", "--out", "b.json")
    first, second = (json.loads((kit.folder / name).read_text()) for name in ("a.json", "b.json"))
    assert len(first["bodies"]) > 5 and len({shape["kind"] for body in first["bodies"] for shape in body["shapes"]}) >= 4
    for scene in (first, second):
        scene.pop("name")
        for body in scene["bodies"]:
            body.pop("name")  # has the body's number
    assert same(first, second)


def same(a, b):
    """Equal, but for the last bits of rotations, which the export brings to length 1."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(near(a[k], b[k]) if k == "rotation" else same(a[k], b[k]) for k in a)
    return len(a) == len(b) and all(map(same, a, b)) if isinstance(a, list) else a == b


def near(a, b):
    return max(abs(x - y) for x, y in zip(a, b, strict=True)) < 1e-6


def test_names_say_what_nodes_are(kit):
    scene = imported(kit, gltf([
        {"name": "floor_box", "mesh": 0, "translation": [0, -1, 0]},
        {"name": "crate_box_dynamic.001", "mesh": 0, "translation": [0, 5, 0], "scale": [0.5, 0.5, 0.5]},
        {"name": "rock_dynamic", "mesh": 1},
        {"name": "hill", "mesh": 1, "scale": [2, 1, -2]},
        {"name": "door_kinematic", "translation": [9, 0, 0], "children": [5, 6]},
        {"name": "leaf_capsule", "mesh": 0, "scale": [1, 2, 0.25]},
        {"name": "knob_sphere", "mesh": 1, "translation": [0, 1, 0]},
    ]))
    floor, crate, rock, hill, door = scene["bodies"]
    assert scene["name"] == "yard"
    assert [body["kind"] for body in scene["bodies"]] == ["static", "dynamic", "dynamic", "static", "kinematic"]
    assert floor["shapes"] == [{"kind": "box", "half_extents": [1, 2, 3], "position": [1, 0, 0]}] and floor["position"] == [0, -1, 0]
    assert crate["shapes"] == [{"kind": "box", "half_extents": [0.5, 1, 1.5], "position": [0.5, 0, 0]}]
    assert crate["name"] == "crate_box_dynamic.001"
    assert rock["shapes"][0]["kind"] == "hull" and len(scene["hulls"][0]["points"]) == 4
    assert hill["shapes"][0]["kind"] == "mesh"
    mesh = scene["meshes"][0]
    assert mesh["vertices"][1] == [2, 0, 0] and mesh["vertices"][3] == [0, 0, -2]
    assert mesh["indices"][:3] == [0, 1, 2]  # mirrored, so turned round
    assert [shape["kind"] for shape in door["shapes"]] == ["capsule", "sphere"]
    assert door["shapes"][0]["radius"] == 1 and door["shapes"][0]["half_height"] == 3
    assert door["shapes"][1]["position"] == [0.5, 1.5, 0.5]


def test_extras_are_fields_of_the_scene(kit):
    scene = imported(kit, gltf([
        {"name": "a", "mesh": 0, "extras": {"cairn": {
            "kind": "dynamic", "mass": 3, "bullet": True, "linear_velocity": [1, 2, 3], "name": "ball",
            "shape": {"kind": "sphere", "radius": 0.25, "friction": 0.75, "hit_events": True}}}},
        {"matrix": [0, 0, -2, 0, 0, 2, 0, 0, 2, 0, 0, 0, 5, 6, 7, 1], "children": [2]},
        {"name": "b", "mesh": 1, "extras": {"cairn": {"kind": "mesh", "friction": 0.5}}},
    ]))
    ball, turned = scene["bodies"]
    assert ball["mass"] == 3 and ball["bullet"] is True and ball["linear_velocity"] == [1, 2, 3] and ball["name"] == "ball"
    assert ball["shapes"] == [{"kind": "sphere", "position": [0, 0, 0], "radius": 0.25, "friction": 0.75, "hit_events": True}]
    assert turned["position"] == [5, 6, 7] and turned["shapes"][0]["friction"] == 0.5
    assert near(turned["rotation"], [0, 0.5 ** 0.5, 0, 0.5 ** 0.5])
    assert scene["meshes"][0]["vertices"][1] == [2, 0, 0]


def test_buffers_may_lie_beside_the_file(kit):
    file = gltf([{"mesh": 1}])
    (kit.folder / "world.bin").write_bytes(base64.b64decode(file["buffers"][0]["uri"].split(",")[1]))
    file["buffers"][0]["uri"] = "world.bin"
    assert len(imported(kit, file)["meshes"][0]["vertices"]) == 4
    for elsewhere in ("/etc/passwd", "../world.bin", "missing.bin", "http://world.bin"):
        file["buffers"][0]["uri"] = elsewhere
        (kit.folder / "bad.gltf").write_text(json.dumps(file))
        assert f"buffers[0]: '{elsewhere}' cannot be loaded" in kit.run("cairn-scene", "import", "bad.gltf", code=1).err


def put(path, value):
    def change(file):
        for key in path[:-1]:
            file = file[key]
        file[path[-1]] = value
    return change


@pytest.mark.parametrize("change, says", [
    (put(["asset", "version"], "1.0"), "asset.version: must be 2.0, is '1.0'"),
    (put(["extensionsRequired"], ["KHR_draco_mesh_compression"]), "KHR_draco_mesh_compression is not supported"),
    (put(["nodes", 0, "children"], [0]), "nodes[0] 'rock': it is below itself"),
    (put(["nodes", 0, "children"], [7]), "nodes[0] 'rock': children[0] is not a node"),
    (put(["nodes", 0, "rotation"], [0, 0, 0, 2]), "nodes[0] 'rock': rotation must be a quaternion of length 1"),
    (put(["nodes", 0, "scale"], [0, 1, 1]), "nodes[0] 'rock': scale must not be 0"),
    (put(["nodes", 0, "translation"], [1e39, 0, 0]), "translation must be a list of 3 finite numbers"),
    (put(["nodes", 0, "matrix"], [1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]), "its matrix is not a rotation"),
    (put(["nodes", 0, "mesh"], 9), "mesh must be a whole number, at most 1"),
    (put(["nodes", 0, "name"], "rock_capsule"), "a capsule is longer along y than it is wide"),
    (put(["meshes", 1, "primitives", 0, "mode"], 1), "meshes[1]: must consist of triangles"),
    (put(["meshes", 1, "primitives"], []), "meshes[1]: has no triangles"),
    (put(["accessors", 1, "count"], 5), "accessors[1]: reaches beyond its bufferView or buffer"),
    (put(["accessors", 1, "count"], 3), "accessors[3]: index 5 is 3, there are 3 positions"),
    (put(["accessors", 1, "componentType"], 5122), "accessors[1]: positions must be floats"),
    (put(["accessors", 3, "type"], "VEC2"), "must be 1 to 3000000 of type SCALAR, is 12 of 'VEC2'"),
    (put(["bufferViews", 0, "byteStride"], 4), "accessors[1]: reaches beyond"),
    (put(["bufferViews", 0, "byteLength"], 4000000), "accessors[1]: reaches beyond"),
    (put(["bufferViews", 0, "buffer"], 3), "buffer must be a whole number"),
    (put(["scenes", 0, "nodes"], [4]), "scenes[0].nodes[0]: is not a node"),
    (put(["nodes", 0, "extras"], {"cairn": {"kind": "dynamic", "maas": 3}}), "maas: a body has no such field; did you mean mass?"),
    (lambda file: file["nodes"][0].pop("mesh"), "no node has a mesh"),
])
def test_what_is_wrong_is_refused_by_name(kit, change, says):
    file = gltf([{"name": "rock", "mesh": 1}])
    imported(kit, copy.deepcopy(file))
    change(file)
    (kit.folder / "bad.gltf").write_text(json.dumps(file))
    answer = kit.run("cairn-scene", "import", "bad.gltf", "--out", "bad.json", code=1)
    assert says in answer.err and "bad.gltf" in answer.err
    assert not (kit.folder / "bad.json").exists()


def test_a_turned_node_in_a_stretched_parent_is_refused(kit):
    file = gltf([{"name": "long", "scale": [1, 3, 1], "children": [1]},
                 {"name": "turned", "mesh": 1, "rotation": [0.6, 0, 0, 0.8]}])
    (kit.folder / "bad.gltf").write_text(json.dumps(file))
    assert "nodes[1] 'turned': it is turned in a parent" in kit.run("cairn-scene", "import", "bad.gltf", code=1).err


@pytest.mark.parametrize("data, says", [
    (b"{", "line 1, column 2"),
    (b"", "line 1, column 1"),
    (b"glTF\x02\0\0\0\xff\0\0\0\x04\0\0\0JSON{}  ", "not that of binary glTF 2.0"),
    (struct.pack("<4sIIII", b"glTF", 2, 32, 4, 0x4e4f534a) + b"{}  " + struct.pack("<II", 9, 0x004e4942), "the binary chunk is cut off"),
])
def test_a_broken_file_is_refused(kit, data, says):
    (kit.folder / "bad.glb").write_bytes(data)
    assert says in kit.run("cairn-scene", "import", "bad.glb", code=1).err


def test_the_page_says_every_word(kit):
    page = (SOURCE / "docs/SCENES.md").read_text()
    section = page[page.index("## glTF"):]
    for word in ("static", "kinematic", "dynamic", "box", "sphere", "capsule", "cylinder", "cone", "hull", "mesh", "half_space"):
        assert re.search(rf"`[^`]*\b{word}\b", section), word
