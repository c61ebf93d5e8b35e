# SPDX-License-Identifier: MIT
"""cairnd --config: a JSON file with the names of the flags. Each mistake is told with its line and column."""

import json
import re

import pytest


def check(kit, text, *flags, code=0):
    (kit.folder / "cairnd.json").write_text(text)
    return kit.run("cairnd", "--config", "cairnd.json", "--key-file", kit.key(), "--check", *flags, code=code)


def mistakes(kit, text):
    lines = check(kit, text, code=1).err.splitlines()
    assert lines[-1].endswith(f"mistakes: {len(lines) - 1}")
    found = [re.fullmatch(r"cairnd: cairnd.json:(\d+):(\d+): (.+)", line) for line in lines[:-1]]
    return [(int(each[1]), int(each[2]), each[3]) for each in found]


def test_a_file_has_the_names_of_the_flags(kit):
    settings = {"scene": "stack10", "tick-rate": 30, "room": ["side=demo,rate=20", "third=stack10"], "control": True, "log": "json",
                "clients-max": "0x10", "dev": False}
    out = check(kit, json.dumps(settings, indent=2)).out
    assert "would run scene stack10" in out and "at 30 Hz" in out and "for 16 clients" in out and "room side" in out and "room third" in out


def test_flags_and_variables_go_before_the_file(kit, monkeypatch):
    assert "at 60 Hz" in check(kit, '{"tick-rate": 30, "scene": "stack10"}', "--tick-rate", 60).out
    monkeypatch.setenv("CAIRN_TICK_RATE", "20")
    assert "at 20 Hz" in check(kit, '{"tick-rate": 30, "scene": "stack10"}').out
    monkeypatch.setenv("CAIRN_ROOM", "other=demo")
    out = check(kit, '{"room": ["side=demo"]}').out
    assert "room other" in out and "room side" not in out


def test_each_mistake_is_told_with_its_place(kit):
    text = """{
  "tick-rate": 3000,
  "colour": "red",
  "room": ["side=demo",
           "bad", 7],
    "control": 1, "scene": null,
  "log": {"style": ["json"]},
  "web-origin": [["https://a"]],
  "key": "00", "listen": "here"
}"""
    found = mistakes(kit, text)
    assert [each[:2] for each in found] == [(2, 16), (3, 13), (5, 12), (5, 19), (6, 16), (6, 28), (7, 10), (8, 18), (9, 10), (9, 26)]
    assert found[0][2] == "tick-rate 3000: must be a whole number in [10, 240]"
    assert found[1][2] == "colour: unknown setting; --help lists all flags"
    assert found[4][2] == "control 1: must be true or false"
    assert found[5][2] == "scene null: must be a text or a number"


@pytest.mark.parametrize("text, line", [("", 1), ("[]", 1), ("7", 1), ("{\n\"a\": 1,\n\"a\": 2}", 3), ("{\n\"scene\" \"demo\"}", 2),
                                        ("{\"scene\": \"demo\"", 1), ("{} {}", 1), ("{\n\n'scene': 1}", 3), ("{\"a\": \"\x01\"}", 1)])
def test_what_is_no_object_is_refused_where_it_breaks(kit, text, line):
    found = mistakes(kit, text)
    assert len(found) == 1 and found[0][0] == line


def test_a_file_that_cannot_be_read_is_refused(kit):
    assert "No such file" in kit.run("cairnd", "--config", "none.json", "--dev", code=1).err
    assert "larger than 64 KiB" in check(kit, '{"scene": "' + 70000 * "a" + '"}', code=1).err


def test_texts_keep_their_escapes(kit):
    assert "would run" in check(kit, r'{"scene": "stack\u00310"}').out
    assert "mistakes" in check(kit, '{"' + 200 * "a" + '": 1}', code=1).err
