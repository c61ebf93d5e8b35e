# SPDX-License-Identifier: MIT
"""cairn-replay's verbs on recordings that it makes."""

import resource
import subprocess

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
    assert "at tick 1" in text and "the commands differ" in text and "second 0x" in text
    answer = replay("diff", "one.cairn", "two.cairn", "--json", code=1).json
    assert (answer["divergence"], answer["first_tick"], answer["ticks"], answer["tick"]) == ("commands", 0, 2, 1)


def test_export_writes_a_row_for_each_body_and_tick(recordings, replay):
    replay("export", "one.cairn", "out.csv", "--every", 60, "--bodies", "2,3")
    lines = read(recordings, "out.csv").decode().splitlines()
    assert len(lines) == 27 and lines[-1].startswith("720,3,")


@pytest.mark.parametrize("bodies", ["2,,3", "", "2,", "x", "0", "1,4294967296", ",".join("1" * 257)])
def test_export_refuses_invalid_lists_of_bodies(replay, bodies):
    assert "--bodies" in replay("export", "one.cairn", "out.csv", "--bodies", bodies, code=2).err


@pytest.mark.parametrize("arguments", [
    ["cut", "{}", 100, 200, "{}"],
    ["export", "{}", "{}"],
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
    ["export", "one.cairn", "kept"],
    ["make", "--scene", "stack10", "kept"],
])
def test_an_output_that_fails_leaves_what_was_there(recordings, programs, arguments):
    """The second fails because of a limit of the size of files."""
    write(recordings, "kept", b"mine")
    done = subprocess.run([programs / "cairn-replay", *map(str, arguments)], cwd=recordings.folder, capture_output=True,
                          timeout=30, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
    assert done.returncode != 0
    assert read(recordings, "kept") == b"mine"
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
