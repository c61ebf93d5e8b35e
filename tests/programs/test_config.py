# SPDX-License-Identifier: MIT
"""cairnd --config: a JSON file with the names of the flags. Each mistake is told with its line and column. SIGHUP reads it
again."""

import contextlib
import http.client
import json
import re
import signal

import jsonschema
import pytest
from conftest import SOURCE


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


@pytest.mark.parametrize("text, line", [("", 1), ("[]", 1), ("7", 1), ("{\n\"scene\" \"demo\"}", 2),
                                        ("{\"scene\": \"demo\"", 1), ("{} {}", 1), ("{\n\n'scene': 1}", 3), ("{\"a\": \"\x01\"}", 1)])
def test_what_is_no_object_is_refused_where_it_breaks(kit, text, line):
    found = mistakes(kit, text)
    assert len(found) == 1 and found[0][0] == line


def test_a_name_that_is_there_twice_hides_no_other_mistake(kit):
    text = """{"tick-rate": 30, "log": "json",
  "tick-rate": 60, "log": ["text", {"a": 1}],
  "colour": 1,
  "clients-max": 0}"""
    found = mistakes(kit, text)
    assert [each[:2] for each in found] == [(2, 3), (2, 20), (3, 13), (4, 18)]
    assert found[0][2] == "tick-rate: is in line 1 already"


def test_scenes_and_rules_of_every_room_and_template_are_told_with_their_place(kit):
    (kit.folder / "odd.json").write_text('{"name": "odd", "rules": "chess", "bodies": []}')
    text = """{
  "scene": "stack11", "tick-rate": 3000,
  "room": ["good=demo", "a=nothing,players=4",
           "b=none.json"],
  "template": ["match=demi,idle=60", "odd=odd.json"]
}"""
    found = mistakes(kit, text)
    assert sorted(each[:2] for each in found) == [(2, 12), (2, 36), (3, 25), (4, 12), (5, 16), (5, 38)]
    said = {each[:2]: each[2] for each in found}
    assert "did you mean stack10?" in said[(2, 12)] and "nothing" in said[(3, 25)] and "No such file" in said[(4, 12)]
    assert "did you mean demo?" in said[(5, 16)] and "chess" in said[(5, 38)]
    # Without a mistake of another kind they are told, too.
    err = check(kit, text.replace("3000", "30"), code=1).err
    assert len(err.splitlines()) == 5 and "cairnd: cairnd.json:4:12: " in err
    # A flag goes before the file.
    assert "cairnd: --scene demoo" in check(kit, text.replace("3000", "30"), "--scene", "demoo", code=1).err


def test_a_file_that_cannot_be_read_is_refused(kit):
    assert "No such file" in kit.run("cairnd", "--config", "none.json", "--dev", code=1).err
    assert "larger than 64 KiB" in check(kit, '{"scene": "' + 70000 * "a" + '"}', code=1).err


def test_texts_keep_their_escapes(kit):
    assert "would run" in check(kit, r'{"scene": "stack\u00310"}').out
    assert "mistakes" in check(kit, '{"' + 200 * "a" + '": 1}', code=1).err


def schema_of(kit):
    return jsonschema.Draft202012Validator(json.loads(kit.run("cairnd", "--schema").out))


def test_the_schema_takes_what_the_program_takes(kit):
    validator = schema_of(kit)
    validator.check_schema(validator.schema)
    documented = re.search(r"```json\n(.*?)```", (SOURCE / "docs/OPERATIONS.md").read_text(), re.DOTALL)[1]
    examples = [json.loads(documented), {}, {"scene": "stack10", "tick-rate": 30, "room": ["side=demo,rate=20", "third=stack10"], "log": "json",
                "control": True, "clients-max": "0x10", "dev": False, "web": "[::1]:0", "web-origin": "https://play.example"}]
    for example in examples:
        validator.validate(example)
    for example in examples[1:]:
        check(kit, json.dumps(example))


@pytest.mark.parametrize("wrong", [
    {"tick-rate": 3000}, {"tick-rate": 9}, {"tick-rate": "fast"}, {"colour": "red"}, {"control": 1}, {"scene": None}, {"log": "xml"},
    {"room": ["side"]}, {"room": {"side": "demo"}}, {"room": [["side=demo"]]}, {"web-origin": ["https://a/b"]}, {"key": "00"},
    {"listen": "here"}, {"public": "192.0.2.1:0"}, {"clients-max": 1e9}, {"scene": ""}, {"stats-interval": -1}])
def test_the_schema_and_the_program_refuse_the_same(kit, wrong):
    assert not schema_of(kit).is_valid(wrong)
    check(kit, json.dumps(wrong), code=1)


@pytest.fixture(name="running")
def fixture_running(kit):
    """A server with a configuration file, and how to change the file and send the signal."""
    class Running:
        def __init__(self):
            self.count = 0
            self.write({"scene": "stack10", "log-level": "info"})
            self.server = kit.serve("--config", "cairnd.json", "--web", "127.0.0.1:0", "--control", "--stats-interval", 5)
            self.web = self.server.wait_for("web")[0]["address"]

        def write(self, settings):
            text = settings if isinstance(settings, str) else json.dumps(settings)
            (kit.folder / "cairnd.json").write_text(text)

        def reload(self, settings):
            self.write(settings)
            self.count += 1
            self.server.process.send_signal(signal.SIGHUP)
            return self.server.wait_for("reloaded", self.count)[-1]

        def post(self, token):
            connection = http.client.HTTPConnection(self.web, timeout=20)
            with contextlib.closing(connection):
                connection.request("POST", "/control/rooms", "{}", {"Content-Type": "application/json", "Authorization": f"Bearer {token}"})
                return connection.getresponse().status

    return Running()


def test_a_reload_changes_what_can_change_and_names_the_rest(kit, running):
    event = running.reload({"scene": "demo", "log-level": "debug", "clients-max": 8, "drain-seconds": 9, "room": "more=demo", "stats-interval": 1})
    assert event["changed"] == "log-level drain-seconds"  # the command line goes before the file: stats-interval stays
    assert event["left"] == "room clients-max"  # as does the scene of the command line
    running.server.wait_for("room_stats")  # is of the level debug
    assert running.server.process.poll() is None
    assert running.reload({"log-level": "info"})["changed"] == "log-level drain-seconds"
    kit.bot(running.server, "--seconds", 1)


def test_a_reload_changes_the_tokens_of_operators(kit, running):
    first, second = "11" * 32, "ab" * 32
    for name, token in (("first", first), ("second", second)):
        (kit.folder / name).write_text(token)
        (kit.folder / name).chmod(0o600)
    assert running.post(first) == 404
    assert running.reload({"control-token": ["first", "second"]})["changed"] == "control-token"
    assert running.post(first) == 200 == running.post(second)
    running.reload({"control-token": "second"})
    assert running.post(first) == 401 and running.post(second) == 200
    running.reload({})
    assert running.post(first) == 401 == running.post(second)


def test_a_broken_file_changes_nothing(kit, running):
    for text, places in (('{\n "log-level": "debug",\n "drain-seconds": true, "colour": 1}', [(3, 19), (3, 35)]), ('{"log-level": "debug"', [(1, 21)])):
        before = len(running.server.events("reload_refused"))
        running.write(text)
        running.server.process.send_signal(signal.SIGHUP)
        refused = running.server.wait_for("reload_refused", before + len(places))[before:]
        assert [(each["line"], each["column"]) for each in refused] == places
        assert refused[0]["file"] == "cairnd.json" and refused[0]["detail"]
    (kit.folder / "cairnd.json").unlink()
    running.server.process.send_signal(signal.SIGHUP)
    assert "No such file" in running.server.wait_for("reload_refused", 4)[-1]["detail"]
    running.write({"control-token": "none"})
    running.server.process.send_signal(signal.SIGHUP)
    assert "No such file" in running.server.wait_for("reload_refused", 5)[-1]["detail"]
    assert not running.server.events("reloaded") and not running.server.events("room_stats")
    kit.bot(running.server, "--seconds", 1)
    running.server.stop()
