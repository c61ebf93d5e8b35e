# SPDX-License-Identifier: MIT
"""cairn-replay's verbs on recordings that it makes."""

import base64
import json
import re
import resource
import struct
import subprocess
import zlib

import pytest

from conftest import SOURCE


@pytest.fixture(scope="module")
def recordings(programs, tmp_path_factory):
    """one and again: the same inputs, signed; two: another player, unsigned."""
    from conftest import Kit

    kit = Kit(programs, tmp_path_factory.mktemp("recordings"))
    kit.signing_key()
    make = ["make", "--scene", "stack10", "--seconds", 12]
    for name in ("one", "again"):
        kit.run("cairn-replay", *make, "--players", 1, "--sign", "sign", name + ".cairn")
    kit.run("cairn-replay", *make, "--players", 2, "two.cairn")
    return kit


@pytest.fixture
def replay(recordings):
    return lambda *arguments, code=0: recordings.run("cairn-replay", *arguments, code=code)


def read(recordings, name):
    return (recordings.folder / name).read_bytes()


def write(recordings, name, content):
    (recordings.folder / name).write_bytes(content)
    return name


def test_the_same_inputs_make_the_same_file(recordings):
    assert read(recordings, "one.cairn") == read(recordings, "again.cairn")


def test_info_describes_a_file(recordings, replay):
    text = replay("info", "one.cairn").out
    assert "scene            stack10" in text
    assert "ticks            720 up to tick 720" in text
    assert read(recordings, "public").decode().strip() in text
    answer = replay("info", "one.cairn", "--json").json
    assert (answer["ticks"], answer["tick_end"], answer["commands"]) == (720, 720, 720)
    assert answer["signed_by"] == read(recordings, "public").decode().strip()
    assert answer["chunks"]["start"]["count"] == 1


def test_verify_compares_every_root_and_the_seal(replay):
    assert "every state hash agrees" in replay("verify", "one.cairn", "--key", "public", "--workers", 2).out
    answer = replay("verify", "one.cairn", "--json").json
    assert answer["verdict"] == "same" and answer["ticks"] == 720 and answer["seal_holds"] is True
    replay("verify", "one.cairn", "--key", "sign", code=4)
    replay("verify", "two.cairn", "--key", "public", code=4)
    replay("verify", "two.cairn")


def test_seek_shows_the_world_of_a_tick(recordings, replay):
    text = replay("seek", "one.cairn", 655, "--body", 3, "--state", "state.bin").out
    assert "655, 55 ticks after the nearest recorded state" in text
    assert ", as recorded" in text and "body             3, dynamic" in text
    assert len(read(recordings, "state.bin")) > 0
    answer = replay("seek", "one.cairn", 655, "--body", 3, "--json").json
    assert (answer["tick"], answer["stepped"], answer["as_recorded"]) == (655, 55, True)
    assert answer["body"]["id"] == 3 and len(answer["body"]["rotation"]) == 4


def test_seek_refuses_a_missing_tick_or_body(replay):
    assert "its ticks are 0 to 720" in replay("seek", "one.cairn", 721, code=2).err
    assert "no body has this id" in replay("seek", "one.cairn", 10, "--body", 4000, code=2).err
    replay("seek", "one.cairn", "x", code=2)


def test_a_cut_is_a_recording_of_the_same_worlds(replay):
    replay("cut", "one.cairn", 100, 700, "cut.cairn", "--sign", "sign")
    assert "600 ticks" in replay("verify", "cut.cairn", "--key", "public").out
    assert replay("seek", "cut.cairn", 655, "--json").json["root"] == replay("seek", "one.cairn", 655, "--json").json["root"]
    assert "equal for 600 ticks, from tick 100 to 700" in replay("diff", "one.cairn", "cut.cairn").out


def test_a_cut_that_cannot_be_made_leaves_no_file(recordings, replay):
    replay("cut", "one.cairn", 700, 100, "never.cairn", code=2)
    assert "the recording ends" in replay("cut", "one.cairn", 700, 800, "never.cairn", code=1).err
    assert not (recordings.folder / "never.cairn").exists()


def test_diff_names_the_first_difference(replay):
    text = replay("diff", "one.cairn", "two.cairn", code=1).out
    assert "at tick 1" in text and "the commands differ" in text
    numbers = re.findall(r"(?:first|second) ([-+.e0-9]+) \(0x([0-9a-f]{8})\)", text)
    assert numbers and all(struct.pack(">f", float(number)).hex() == bits for number, bits in numbers), text
    answer = replay("diff", "one.cairn", "two.cairn", "--json", code=1).json
    assert (answer["divergence"], answer["first_tick"], answer["ticks"], answer["tick"]) == ("commands", 0, 2, 1)


def test_export_writes_a_row_for_each_body_and_tick(recordings, replay):
    replay("export", "one.cairn", "out.csv", "--every", 60, "--bodies", "2,3")
    lines = read(recordings, "out.csv").decode().splitlines()
    assert len(lines) == 27 and lines[-1].startswith("720,3,")


@pytest.mark.parametrize("arguments, says", [
    (["export", "one.cairn", "world.gltf"], "must end in .csv or .glb"),
    (["export", "one.cairn", "world"], "must end in .csv or .glb"),
    (["cut", "one.cairn", 100, 200, "cut.csv"], "must end in .cairn"),
    (["make", "world.glb"], "must end in .cairn"),
    (["page", "one.cairn", "world"], "must end in .html"),
    (["page", "one.cairn", "never.html", "--page", "nowhere"], "'./dev web' makes the page"),
    (["page", "--page", "sign", "one.cairn", "never.html"], "not the page of this version"),
    (["film", "one.cairn", "a.gif"], "must end in .png or .webm"),
    (["film", "one.cairn", "--size", "960", "a.png"], "--size"),
    (["film", "one.cairn", "--size", "8x8193", "a.png"], "--size"),
    (["film", "one.cairn", "--eye", "1,2", "a.png"], "--eye"),
    (["film", "one.cairn", "--eye", "1,2,3", "a.png"], "both or not at all"),
    (["film", "one.cairn", "--eye", "1,2,3", "--target", "1,2,3", "a.png"], "--eye is where --target is"),
    (["film", "one.cairn", "--follow", "999", "a.webm"], "no body has this id"),
    (["film", "one.cairn", "--fps", "25", "a.png"], "are for a .webm"),
    (["film", "one.cairn", "--from", "5", "a.png"], "are for a .webm"),
    (["film", "one.cairn", "--tick", "5", "a.webm"], "--tick is for a .png"),
    (["film", "one.cairn", "--fps", "0", "a.webm"], "--fps"),
    (["film", "one.cairn", "--from", "9", "--to", "8", "a.webm"], "a tick after that of --to"),
    (["film", "one.cairn", "--to", "721", "a.webm"], "it holds no tick 721; the last is 720"),
    (["film", "one.cairn", "--tick", "100000", "a.png"], "it holds no tick 100000"),
    (["export", "one.cairn", "a.glb", "--tick", 100000], "it holds no tick 100000"),
])
def test_an_output_is_what_its_name_says(recordings, replay, arguments, says):
    assert says in replay(*arguments, code=2).err
    assert not (recordings.folder / str(arguments[-1])).exists()


def glb(data):
    """The JSON and the buffer of a binary glTF file, its structure checked against the standard."""
    magic, version, size, json_size, json_kind = struct.unpack("<4sIII4s", data[:20])
    assert (magic, version, size, json_kind) == (b"glTF", 2, len(data), b"JSON") and json_size % 4 == 0
    buffer_size, buffer_kind = struct.unpack("<I4s", data[20 + json_size:28 + json_size])
    assert buffer_kind == b"BIN\0" and 28 + json_size + buffer_size == size
    return json.loads(data[20:20 + json_size]), data[28 + json_size:]


def test_a_tick_is_exported_as_gltf(recordings, replay):
    replay("export", "one.cairn", "world.glb", "--tick", 60)
    gltf, buffer = glb(read(recordings, "world.glb"))
    assert gltf["asset"]["version"] == "2.0" and gltf["buffers"] == [{"byteLength": len(buffer)}]
    roots = gltf["scenes"][gltf["scene"]]["nodes"]
    assert len(roots) == 12 and gltf["nodes"][roots[0]]["extras"]["cairn"]["kind"] == "static"
    for root in roots:
        for child in gltf["nodes"][root]["children"]:
            assert abs(sum(x * x for x in gltf["nodes"][child]["rotation"]) - 1) < 1e-6
            primitive = gltf["meshes"][gltf["nodes"][child]["mesh"]]["primitives"][0]
            assert primitive["material"] < len(gltf["materials"])
            points, indices = (gltf["accessors"][i] for i in (primitive["attributes"]["POSITION"], primitive["indices"]))
            values = []
            for accessor, form in ((points, "<%df"), (indices, "<%dI")):
                view = gltf["bufferViews"][accessor["bufferView"]]
                count = accessor["count"] * (3 if accessor["type"] == "VEC3" else 1)
                begin = view["byteOffset"] + accessor["byteOffset"]
                assert accessor["byteOffset"] + 4 * count <= view["byteLength"] and accessor["componentType"] in (5125, 5126)
                values.append(struct.unpack_from(form % count, buffer, begin))
            assert max(values[1]) < points["count"] and len(values[1]) % 3 == 0
            for axis in range(3):
                assert abs(min(values[0][axis::3]) - points["min"][axis]) < 1e-6
                assert abs(max(values[0][axis::3]) - points["max"][axis]) < 1e-6
            faces_outwards(values[0], values[1])
    box = gltf["nodes"][gltf["nodes"][roots[1]]["children"][0]]["extras"]["cairn"]
    assert box["kind"] == "box" and len(box["half_extents"]) == 3


def faces_outwards(points, indices):
    """The volume that the triangles of a closed surface enclose is positive; that of a square is 0."""
    volume = 0
    for i in range(0, len(indices), 3):
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = (points[3 * k:3 * k + 3] for k in indices[i:i + 3])
        volume += ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    assert volume > 0 or len(indices) == 6


def test_a_tick_is_drawn(recordings, replay):
    """The same for any number of workers; a body that is followed stands in the middle wherever it is."""
    size, views = ["--size", "64x48"], {
        "all": [], "near": ["--eye", "0,1,9", "--target", "0,1,0", "--tick", 0], "follow": ["--follow", 2, "--workers", 3],
        "beside": ["--follow", 2, "--eye", "3,0,0", "--target", "0,0,0"], "again": ["--follow", 2]}
    for name, view in views.items():
        replay("film", "one.cairn", f"{name}.png", *size, *view)
    shown = {name: picture(read(recordings, f"{name}.png")) for name in views}
    assert zlib.crc32(shown["near"]) == 0xbe1f391d, "the same pixels on every machine"
    assert shown.pop("again") == shown["follow"]
    assert len(set(shown.values())) == len(shown) and all(len(set(rows)) > 8 for rows in shown.values())
    body = replay("seek", "one.cairn", 720, "--body", 2, "--json").json["body"]["position"]
    eye = ",".join(str(at + off) for at, off in zip(body, (3, 0, 0)))
    replay("film", "one.cairn", "placed.png", *size, "--eye", eye, "--target", ",".join(map(str, body)))
    assert picture(read(recordings, "placed.png")) == shown["beside"]


def picture(data):
    """The pixels of a PNG picture of 64 by 48, without its filters (PNG specification, 9.2)."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", data[16:24]) == (64, 48)
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += 12 + size
    rows, size = zlib.decompress(packed), 64 * 3
    assert len(rows) == 48 * (1 + size)
    above, pixels = bytes(size), b""
    for begin in range(0, len(rows), 1 + size):
        row = bytearray(rows[begin + 1:begin + 1 + size])
        for i in range(size):
            left, corner = (row[i - 3], above[i - 3]) if i >= 3 else (0, 0)
            nearest = min((left, above[i], corner), key=lambda each: abs(left + above[i] - corner - each))
            row[i] = row[i] + (0, left, above[i], (left + above[i]) // 2, nearest)[rows[begin]] & 255
        above, pixels = row, pixels + row
    return pixels


MASTERS = {0x18538067: "segment", 0x1F43B675: "cluster", 0x1654AE6B: "tracks", 0xAE: "track", 0xE0: "video", 0x1549A966: "info",
           0x1C53BB6B: "cues", 0xBB: "cue", 0xB7: "positions", 0x1A45DFA3: "head"}


def elements(data, at, end):
    """Id, place and content of each element of EBML (RFC 8794) between two places, those inside others too."""
    while at < end:
        place, size = at, 9 - data[at].bit_length()
        name, at = int.from_bytes(data[at:at + size], "big"), at + size
        size = 9 - data[at].bit_length()
        length = int.from_bytes(data[at:at + size], "big") & (1 << 7 * size) - 1
        at += size
        assert at + length <= end, hex(name)
        yield name, place, data[at:at + length]
        if name in MASTERS:
            yield from elements(data, at, at + length)
        at += length


def test_ticks_become_a_film(recordings, replay):
    """150 ticks at 25 pictures for each second; each point of the index is a cluster that begins with a key picture."""
    arguments = ["--size", "66x48", "--from", 30, "--to", 180, "--fps", 25]
    replay("film", "one.cairn", "film.webm", *arguments)
    replay("film", "one.cairn", "film2.webm", *arguments, "--workers", 3)
    data = read(recordings, "film.webm")
    assert read(recordings, "film2.webm") == data
    found = list(elements(data, 0, len(data)))
    values = {name: content for name, _, content in found}
    whole = lambda name: int.from_bytes(values[name], "big")
    assert (values[0x4282], values[0x86], whole(0xB0), whole(0xBA), whole(0x2AD7B1)) == (b"webm", b"V_VP9", 66, 48, 10 ** 6)
    assert struct.unpack(">d", values[0x4489])[0] == 63 * 40
    times, keys, cluster = [], [], 0
    for name, place, content in found:
        if name == 0x1F43B675:
            cluster = place
        elif name == 0xE7:
            begin = int.from_bytes(content, "big")
        elif name == 0xA3:
            track, after, flags = struct.unpack(">BhB", content[:4])
            # A frame of VP9 begins with the marker 2; bit 2 says that it is no key picture.
            assert track == 0x81 and content[4] >> 6 == 2 and bool(flags & 0x80) == (not content[4] & 4)
            times.append(begin + after)
            if flags & 0x80:
                keys.append((cluster, begin))
                assert after == 0
    assert times == [40 * i for i in range(63)]
    segment = next(place for name, place, _ in found if name == 0x18538067) + 12
    cues = zip(*([int.from_bytes(content, "big") for name, _, content in found if name == each] for each in (0xF1, 0xB3)))
    assert [(segment + offset, time) for offset, time in cues] == keys and len(keys) == 2


@pytest.mark.parametrize("bodies", ["2,,3", "", "2,", "x", "0", "1,4294967296", ",".join("1" * 257)])
def test_export_refuses_invalid_lists_of_bodies(replay, bodies):
    assert "--bodies" in replay("export", "one.cairn", "out.csv", "--bodies", bodies, code=2).err


@pytest.mark.parametrize("arguments", [
    ["cut", "{}", 100, 200, "{}"],
    ["export", "{}", "{}"],
    ["film", "{}", "{}"],
    ["page", "{}", "{}"],
    ["page", "one.cairn", "{}", "--page", "{}"],
    ["seek", "{}", 10, "--state", "{}"],
    ["cut", "{}", 100, 200, "link.cairn"],
])
def test_an_output_is_never_the_input(recordings, replay, arguments):
    whole = read(recordings, "one.cairn")
    write(recordings, "input.cairn", whole)
    link = recordings.folder / "link.cairn"
    link.unlink(missing_ok=True)
    link.symlink_to("input.cairn")
    filled = ["input.cairn" if argument == "{}" else argument for argument in arguments]
    assert "is the input" in replay(*filled, code=2).err
    assert read(recordings, "input.cairn") == whole


def template(recordings, count=1):
    version = re.search(r"CAIRN_SIM_VERSION (\d+)", (SOURCE / "include/cairn/version.h").read_text())[1]
    write(recordings, "template", b"<p>" + count * f"<!--recording of simulation {version}-->".encode() + b"<p>\n")


def test_a_page_holds_the_whole_recording(recordings, replay):
    """Sizes that leave 0, 1 and 2 bytes for the last letters."""
    template(recordings)
    for extra in range(3):
        whole = read(recordings, "one.cairn") + extra * b"x"
        write(recordings, '"<one>".cairn', whole)
        replay("page", '"<one>".cairn', "one.html", "--page", "template")
        page = re.fullmatch(rb'<p><script type="[a-z/-]+" id="recording" data-name="([^"]*)">([^<]*)</script><p>\n',
                            read(recordings, "one.html"))
        assert page[1] == b"__one__.cairn" and base64.b64decode(page[2], validate=True) == whole
    template(recordings, 2)
    assert "not the page" in replay("page", "one.cairn", "two.html", "--page", "template", code=2).err
    assert not (recordings.folder / "two.html").exists()


def test_a_hard_link_or_a_key_is_never_the_output(recordings, replay):
    whole = read(recordings, "one.cairn")
    write(recordings, "input.cairn", whole)
    hard = recordings.folder / "hard.cairn"
    hard.unlink(missing_ok=True)
    hard.hardlink_to(recordings.folder / "input.cairn")
    assert "is the input" in replay("cut", "input.cairn", 100, 200, "hard.cairn", code=2).err
    key = read(recordings, "sign")
    assert "is the input" in replay("cut", "input.cairn", 100, 200, "sign", "--sign", "sign", code=2).err
    assert "is the input" in replay("make", "sign", "--sign", "sign", code=2).err
    assert read(recordings, "sign") == key and read(recordings, "input.cairn") == whole


@pytest.mark.parametrize("arguments", [
    ["cut", "one.cairn", 700, 800, "kept"],
    ["cut", "one.cairn", 100, 200, "kept"],
    ["seek", "one.cairn", 10, "--state", "kept"],
    ["export", "one.cairn", "kept.csv"],
    ["export", "one.cairn", "kept.glb"],
    ["film", "one.cairn", "kept.png", "--size", "64x48"],
    ["film", "one.cairn", "kept.webm", "--size", "64x48", "--to", 30],
    ["make", "--scene", "stack10", "kept"],
    ["page", "one.cairn", "kept.html", "--page", "template"],
])
def test_an_output_that_fails_leaves_what_was_there(recordings, programs, arguments):
    """The second fails because of a limit of the size of files."""
    template(recordings)
    kept = next(word for word in map(str, arguments) if word.startswith("kept"))
    write(recordings, kept, b"mine")
    done = subprocess.run([programs / "cairn-replay", *map(str, arguments)], cwd=recordings.folder, capture_output=True,
                          timeout=30, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
    assert done.returncode != 0
    assert read(recordings, kept) == b"mine"
    assert not list(recordings.folder.glob("kept*.part"))


def test_a_link_is_followed_and_a_pipe_is_written(recordings, replay):
    write(recordings, "target.csv", b"older")
    link = recordings.folder / "link.csv"
    link.unlink(missing_ok=True)
    link.symlink_to("target.csv")
    replay("export", "one.cairn", "link.csv", "--every", 60, "--bodies", "2,3")
    assert link.is_symlink() and read(recordings, "target.csv").startswith(b"tick,body")
    assert "720,3," in replay("export", "one.cairn", "/dev/stdout", "--every", 60, "--bodies", "2,3").out


def test_a_scene_is_never_the_output_of_make(recordings, replay):
    write(recordings, "scene.json", b"{}")
    assert "is the input" in replay("make", "--scene", "scene.json", "scene.json", code=2).err


def test_a_file_that_is_cut_off_verifies_up_to_its_end(recordings, replay):
    write(recordings, "short.cairn", read(recordings, "one.cairn")[:-100])
    assert "cut off" in replay("verify", "short.cairn").out


@pytest.mark.parametrize("arguments, says", [
    (["verify", "bad.cairn"], "agrees up to where it is damaged"),
    (["diff", "one.cairn", "bad.cairn"], "the second: a chunk's payload is damaged"),
    (["diff", "bad.cairn", "bad.cairn"], "the first: a chunk's payload is damaged"),
    (["cut", "bad.cairn", 10, 700, "never.cairn"], "a chunk's payload is damaged"),
    (["export", "bad.cairn", "out.csv"], "a chunk's payload is damaged"),
    (["seek", "bad.cairn", 590], "a chunk's payload is damaged"),
])
def test_damage_has_an_exit_code_of_its_own(recordings, replay, arguments, says):
    whole = bytearray(read(recordings, "one.cairn"))
    half = len(whole) // 2
    whole[half : half + 8] = b"damaged!"
    write(recordings, "bad.cairn", whole)
    assert says in replay(*arguments, code=5).err
    if arguments[0] in ("verify", "diff"):
        answer = replay(*arguments, "--json", code=5).json
        assert "damaged" in (answer.get("verdict"), answer.get("divergence"))


@pytest.mark.parametrize("arguments, says", [
    (["verify", "sign"], "sign: not a cairn recording: bad magic (at byte 0)"),
    (["info", "sign"], ""),
    (["verify", "nowhere"], "No such file"),
    (["verify"], "an argument is missing"),
    (["seek", "one.cairn"], "an argument is missing"),
    (["sideways", "one.cairn"], "there is no such verb"),
    (["make", "--scene", "nowhere", "never.cairn"], "nowhere"),
    (["export", "one.cairn", "out.csv", "--plough", 3], "--plough: not a flag of export"),
    (["explain", "one.cairn"], ""),
    (["page", "sign", "never.html"], "not a cairn recording"),
])
def test_a_failure_has_a_reason(replay, arguments, says):
    assert says in replay(*arguments, code=2).err


def test_help_lists_the_exit_codes(replay):
    assert "needs another version" in replay("--help").out


@pytest.mark.parametrize("recording", sorted((SOURCE / "tests/recording/past").glob("*.cairn")), ids=lambda p: p.name)
def test_earlier_recordings_verify_or_say_what_they_need(replay, recording):
    version = replay("info", recording, "--json").json["sim_version"]
    ours = int(replay("--version").out.split()[-1])
    if version == ours:
        assert "every state hash agrees" in replay("verify", recording).out
        return
    needs = f"it was recorded by simulation version {version} and needs a program with that version; this one has {ours}"
    for verb in (["verify", recording], ["seek", recording, 100], ["cut", recording, 10, 20, "cut.cairn"],
                 ["export", recording, "out.csv"], ["diff", recording, recording]):
        assert needs in replay(*verb, code=3).err
