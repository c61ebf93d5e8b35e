# SPDX-License-Identifier: MIT
"""Operators by HTTP: the same answers as cairn-ctl --json, as /openapi.json describes them, and what is refused."""

import concurrent.futures
import contextlib
import http.client
import json
import socket
import time

import jsonschema
import pytest

TOKEN = "00112233445566778899aabbccddeeff" * 2
BEARER = {"Authorization": f"Bearer {TOKEN}"}
VOLATILE = {"tick_cost_ns_p50", "tick_cost_ns_p99", "tick_cost_ns_max", "tick_lateness_ns_p99", "ticks_skipped",
            "clients", "recording_bytes", "bytes"}
BOX = dict(position=[0, 6, 0], half_extents=[0.5, 0.5, 0.5])
TETRAHEDRON = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]

# What an operator at the shell says, and the same by HTTP. All verbs, some refused.
SAID = [
    ("features", {}),
    ("pause", {}),
    ("reset 7", {"seed": 7}),
    ("rooms", {}),
    ("state", {}),
    ("spawn-box 0 6 0 .5 .5 .5 42", {**BOX, "user": 42}),
    ("spawn-sphere 3 6 0 .5", {"position": [3, 6, 0], "radius": 0.5}),
    ("spawn hull 0 30 0 0 0 0 0 0 0 7 0 0 0 1 0 0 0 1 0 0 0 1",
     {"shape": "hull", "position": [0, 30, 0], "size": [0, 0, 0], "user": 7, "points": TETRAHEDRON}),
    ("spawn cone 2 30 0 .5 .5 0", {"shape": 7, "position": [2, 30, 0], "size": [0.5, 0.5, 0]}),
    ("spawn-compound 6 30 0 0 0 1 8 box .5 .5 .5 0 0 0 0 0 0 cone .5 .5 0 0 1 0 0 0 0",
     {"position": [6, 30, 0], "rotation": [0, 0, 1], "user": 8, "parts": [
         {"shape": "box", "size": [0.5, 0.5, 0.5], "position": [0, 0, 0], "rotation": [0, 0, 0]},
         {"shape": 7, "size": [0.5, 0.5, 0], "position": [0, 1, 0], "rotation": [0, 0, 0]}]}),
    ("spawn-mesh 0 20 0 0 0 0 9 4 0 0 0 1 0 0 0 1 0 0 0 1 0 2 1 0 1 3",
     {"position": [0, 20, 0], "user": 9, "points": TETRAHEDRON, "triangles": [{"a": 0, "b": 2, "c": 1}, {"a": 0, "b": 1, "c": 3}]}),
    ("spawn-mesh 0 20 0 0 0 0 9 4 0 0 0 1 0 0 0 1 0 0 0 1 0 2 4",
     {"position": [0, 20, 0], "user": 9, "points": TETRAHEDRON, "triangles": [{"a": 0, "b": 2, "c": 4}]}),
    ("spawn-height-field 0 20 9 0 0 0 0 2 1 1 0 0 1 1",
     {"position": [0, 20, 9], "columns": 2, "spacing_x": 1, "spacing_z": 1, "heights": [{"value": v} for v in (0, 0, 1, 1)]}),
    ("step 10", {"tick_count": 10}),
    ("create-joint weld 268 269 1 30 0 1 30 0",
     {"kind": "weld", "body_a": 268, "body_b": 269, "anchor_a": [1, 30, 0], "anchor_b": [1, 30, 0]}),
    ("step 1", {"tick_count": 1}),
    ("joints", {"first": 0}),
    ("joints 0 268", {"first": 0, "body": 268}),
    ("set-joint 1 enabled 1", {"joint": 1, "property": "enabled", "value": [1, 0, 0]}),
    ("set-joint 1 user 7", {"joint": 1, "property": "user", "word": 7}),
    ("set-joint 1 ratio 7", {"joint": 1, "property": "ratio", "value": [7, 0, 0]}),
    ("get-joint 1", {"joint": 1}),
    ("create-joint row 268 269 0 0 0 0 0 0", {"kind": 11, "body_a": 268, "body_b": 269, "anchor_a": [0, 0, 0], "anchor_b": [0, 0, 0]}),
    ("set-row 2 0 1 0 0 0 0 0 -1 0 0 0 0 -5 5 2",
     {"joint": 2, "linear_a": [0, 1, 0], "linear_b": [0, -1, 0], "lower": -5, "upper": 5, "velocity": 2}),
    ("delete-joint 99", {"joint": 99}),
    ("set-position 266 0 8 0", {"body": 266, "position": [0, 8, 0]}),
    ("set-velocity 266 0 1 0 0 2 0", {"body": 266, "linear_velocity": [0, 1, 0], "angular_velocity": [0, 2, 0]}),
    ("impulse 266 1 0 0", {"body": 266, "impulse": [1, 0, 0]}),
    ("set-body 266 mass 3", {"body": 266, "property": "mass", "value": [3, 0, 0]}),
    ("set-body 266 user 9", {"body": 266, "property": "user", "word": 9}),
    ("set-pose 267 3 9 0 0 1 0", {"body": 267, "position": [3, 9, 0], "rotation": [0, 1, 0]}),
    ("set-mass 266 3 0 .1 0 1 1 1", {"body": 266, "mass": 3, "centre": [0, 0.1, 0], "inertia": [1, 1, 1]}),
    ("set-mass 266 3 0 .1 0 1 1 -9", {"body": 266, "mass": 3, "centre": [0, 0.1, 0], "inertia": [1, 1, -9]}),
    ("set-shape 266 friction .25", {"shape": 266, "property": "friction", "value": [0.25, 0, 0]}),
    ("set-shape 266 category 6", {"shape": 266, "property": "category", "word": 6}),
    ("get-body 266", {"body": 266}),
    ("shapes 0 266", {"first": 0, "body": 266}),
    ("push 266 force 0 9 0", {"body": 266, "kind": "force", "push": [0, 9, 0]}),
    ("set-target 266 0 8 0", {"body": 266, "position": [0, 8, 0]}),
    ("set-gravity 0 -3 0", {"gravity": [0, -3, 0]}),
    ("explode 0 0 0 5 2 10 4294967295",
     {"centre": [0, 0, 0], "radius": 5, "falloff": 2, "impulse_per_area": 10, "mask": 4294967295}),
    ("explode 0 0 0 5 2 10 1 4",
     {"centre": [0, 0, 0], "radius": 5, "falloff": 2, "impulse_per_area": 10, "mask": 1, "shield_mask": 4}),
    ("fracture 99999 0 9 0 12 .5 .02 7",
     {"body": 99999, "point": [0, 9, 0], "pieces": 12, "crowding": 0.5, "thickness_min": 0.02, "seed": 7}),
    ("fracture 267 3 9 0 4", {"body": 267, "point": [3, 9, 0], "pieces": 4}),
    ("step 5", {"tick_count": 5}),
    ("get 266", {"body": 266}),
    ("bodies", {}),
    ("bodies 260", {"first": 260}),
    ("act 2 31", {"tick_count": 2, "fields": 31}),
    ("ray 0 50 0 0 -100 0", {"origin": [0, 50, 0], "translation": [0, -100, 0]}),
    ("cast 0 50 0 .5 .5 .5 0 -100 0", {"position": [0, 50, 0], "half_extents": [0.5, 0.5, 0.5], "translation": [0, -100, 0]}),
    ("cast 0 50 0 .5 0 -100 0", {"position": [0, 50, 0], "radius": 0.5, "translation": [0, -100, 0]}),
    ("closest 0 6 0 50", {"position": [0, 6, 0], "distance_max": 50}),
    ("overlap 0 1 0 3 3 3", {"position": [0, 1, 0], "half_extents": [3, 3, 3]}),
    ("overlap 0 1 0 3", {"position": [0, 1, 0], "radius": 3}),
    ("hash", {}),
    ("save here", {"name": "here"}),
    ("saves", {}),
    ("save-delete there", {"name": "there"}),
    ("delete 266", {"body": 266}),
    ("delete 99999", {"body": 99999}),
    ("run-until 25", {"tick": 25}),
    ("load here", {"name": "here"}),
    ("seek 15", {"tick": 15}),
    ("seek 1000000", {"tick": 1000000}),
    ("fork twin", {"name": "twin"}),
    ("diff twin", {"other_room": "twin"}),
    ("room-create third stack10 5", {"name": "third", "scene": "stack10", "seed": 5, "paused": True}),
    ("--room nowhere pause", {"room": "nowhere"}),
    ("--room twin room-destroy twin", {"room": "twin"}),
    ("faults 99 .1 0 50 0", {"client_id": 99, "loss": 0.1, "delay_ms": 50}),
    ("rate 2000", {"speed_thousandths": 2000}),
    ("save-delete here", {"name": "here"}),
    ("clients", {}),
]


def verb_of(said):
    words = said.split()
    return words[2] if words[0] == "--room" else words[0]


def serve(kit, *flags):
    (kit.folder / "operator").write_text(TOKEN)
    (kit.folder / "operator").chmod(0o600)
    server = kit.serve("--control", "--web", "127.0.0.1:0", "--control-token", "operator", *flags)
    server.web = server.wait_for("web")[0]["address"]
    return server


@pytest.fixture(name="web")
def fixture_web(kit):
    return serve(kit)


def post(server, verb, members=None, headers=None, body=None, timeout=20):
    """Status and answer."""
    body = json.dumps(members or {}) if body is None else body
    sent = {"Content-Type": "application/json", **BEARER, **(headers or {})}
    path = verb if verb.startswith("/") else f"/control/{verb}"
    connection = http.client.HTTPConnection(server.web, timeout=timeout)
    with contextlib.closing(connection):
        connection.request("POST", path, body, {name: value for name, value in sent.items() if value is not None})
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None


def get(server, path):
    connection = http.client.HTTPConnection(server.web, timeout=20)
    with contextlib.closing(connection):
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def counter(server, name):
    time.sleep(0.15)  # counters are read at most each .1 s
    return int(next(line.split()[1] for line in get(server, "/metrics")[1].splitlines() if line.startswith(name + "_total ")))


def kept(answer, *left_out):
    return {name: value for name, value in answer.items() if name not in VOLATILE | set(left_out)}


def check(description, verb, status, answer):
    """An answer is as the description says."""
    schemas = description["components"]["schemas"]
    schema = {"$ref": f"#/components/schemas/{verb}-answer" if status == 200 else "#/components/schemas/refusal",
              "components": {"schemas": schemas}}
    jsonschema.Draft202012Validator(schema).validate(answer)


def test_every_verb_answers_as_at_the_shell(kit):
    shell, web = serve(kit, "--record", "shell.cairn"), serve(kit, "--record", "web.cairn")
    description = json.loads(get(web, "/openapi.json")[1])
    left_out = ("tick", "root")  # until both worlds begin again
    for said, members in SAID:
        left_out = () if said.startswith("reset") else left_out
        at_shell = kit.run("cairn-ctl", "--server", shell.address, "--key", kit.key(), "--json",
                           *(["--paused"] if "room-create" in said else []), *said.split(), code=None).json
        status, by_web = post(web, verb_of(said), members)
        assert kept(by_web, *left_out) == kept(at_shell, *left_out), said
        assert (status == 200) == by_web["ok"], said
        check(description, verb_of(said), status, by_web)
        request = {"$ref": f"#/components/schemas/{verb_of(said)}-request", **{"components": description["components"]}}
        jsonschema.Draft202012Validator(request).validate(members)
    verbs = {verb["name"] for verb in post(web, "features")[1]["verbs"]}
    assert verbs - {verb_of(said) for said, _ in SAID} == {"resume", "save-read", "save-write"}
    assert {path.removeprefix("/control/") for path in description["paths"]} == verbs | {"/drain"}
    refused = [said for said, members in SAID if not post(web, verb_of(said), members)[1]["ok"]]
    assert refused  # some of them are, as the shell was


def test_the_description_is_one_of_openapi(web):
    description = json.loads(get(web, "/openapi.json")[1])
    assert description["openapi"].startswith("3.1") and description["info"]["title"] == "cairnd"
    for path, item in description["paths"].items():
        operation = item["post"]
        assert path in (f"/control/{operation['operationId']}", "/drain") and set(operation["responses"]) == {"200", "default"}
    for name, schema in description["components"]["schemas"].items():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema.get("additionalProperties") is False or name == "refusal"


def test_a_save_travels_in_pieces(web):
    post(web, "pause")
    post(web, "save", {"name": "here"})
    whole, size = "", 1
    while len(whole) // 2 < size:
        _, piece = post(web, "save-read", {"name": "here", "offset": len(whole) // 2})
        assert piece["byte_count"] == len(piece["bytes"]) // 2 > 0
        whole, size = whole + piece["bytes"], piece["size"]
    for at in range(0, len(whole), 8192):
        members = {"name": "back", "offset": at // 2, "size": size, "bytes": whole[at:at + 8192]}
        assert post(web, "save-write", members)[0] == 200
    before = post(web, "hash")[1]
    post(web, "step", {"tick_count": 20})
    assert post(web, "load", {"name": "back"})[1]["root"] == before["root"]


@pytest.mark.parametrize("verb, members, says", [
    ("step", {}, "tick_count: is missing"),
    ("step", {"tick_count": -1}, "whole number below 2^32"),
    ("step", {"tick_count": 4294967296}, "whole number below 2^32"),
    ("step", {"tick_count": 1.5}, "whole number"),
    ("step", {"tick_count": 1, "ticks": 1}, "ticks: unknown member"),
    ("reset", {"has_seed": True}, "has_seed: unknown member"),
    ("run-until", {"tick": "18446744073709551616"}, "below 2^64"),
    ("spawn-box", {"position": [0, 1], "half_extents": [1, 1, 1]}, "three finite numbers"),
    ("spawn-box", {"position": [0, 1, "a"], "half_extents": [1, 1, 1]}, "three finite numbers"),
    ("spawn-box", {"position": [0, 1, 1e39], "half_extents": [1, 1, 1]}, "three finite numbers"),
    ("spawn", {"shape": "blob", "position": [0, 0, 0], "size": [1, 1, 1]}, "one of the words"),
    ("spawn", {"shape": "hull", "position": [0, 0, 0], "size": [0, 0, 0], "points": [[0, 0, 0]] * 121}, "too many"),
    ("save", {"name": "x" * 256}, "at most 255 characters"),
    ("save", {"name": "h\u00e4"}, "printable ASCII"),
    ("save-write", {"name": "a", "offset": 0, "size": 2, "bytes": "0g"}, "hexadecimal"),
    ("fork", {"name": "f", "paused": 1}, "true or false"),
    ("pause", {"room": 5}, "name of a room"),
    ("act", {"tick_count": 0, "edits": [5]}, "list of objects"),
    ("act", {"tick_count": 0, "edits": [{"kind": 1, "what": 2}]}, "what: unknown member"),
])
def test_what_is_not_a_request_is_refused(web, verb, members, says):
    status, answer = post(web, verb, members)
    assert status == 400 and not answer["ok"] and says in answer["reason"]


@pytest.mark.parametrize("body", [" ", "[]", "{", "{} {}", '{"a":1,"a":2}', "\0", "[" * 5000, '"' + "x" * 60000])
def test_bodies_that_are_not_an_object(web, body):
    assert post(web, "pause", body=body)[0] == 400
    assert post(web, "state")[0] == 200


def test_tokens_origins_types_and_verbs(web):
    for token in (None, "Bearer", "Bearer ", "Bearer " + TOKEN[:-1], "Bearer " + TOKEN[:-1] + "e", "Basic " + TOKEN,
                  "Bearer " + TOKEN + "00", "Bearer " + "z" * 64, "Bearer " + "0" * 64, "x" * 3000):
        status, answer = post(web, "pause", headers={"Authorization": token})
        assert status == 401 and answer["refusal"] == "token"
    assert counter(web, "cairn_web_controls_refused_token") == 10
    assert post(web, "pause", headers={"Origin": "https://elsewhere.example"})[0] == 403
    assert post(web, "pause", headers={"Origin": f"http://{web.web}"})[0] == 200
    assert counter(web, "cairn_web_controls_refused_origin") == 1
    for kind in (None, "text/plain", "application/x-www-form-urlencoded", "application/json2"):
        assert post(web, "pause", headers={"Content-Type": kind})[0] == 415
    assert post(web, "nothing")[0] == 404 and post(web, "pause/x")[0] == 404 and post(web, "")[0] == 404
    assert counter(web, "cairn_web_controls_refused_body") == 7
    assert get(web, "/control/pause")[0] == 404


def test_wrong_tokens_are_slowed_down(web):
    statuses = [post(web, "pause", headers={"Authorization": "Bearer " + "0" * 64})[0] for _ in range(60)]
    assert statuses[:15] == [401] * 15 and 429 in statuses
    time.sleep(1)
    assert post(web, "pause")[0] == 200


def test_without_a_token_there_are_no_operators_by_http(kit):
    server = kit.serve("--control", "--web", "127.0.0.1:0")
    server.web = server.wait_for("web")[0]["address"]
    assert post(server, "pause")[1]["refusal"] == "closed" and get(server, "/openapi.json")[0] == 404
    serve(kit).stop()
    kit.refuses("cairnd", "--key-file", kit.key(), "--control-token", "operator", "--control", code=1, says="--control-token")
    (kit.folder / "operator").chmod(0o644)
    kit.refuses("cairnd", "--key-file", kit.key(), "--control-token", "operator", "--control", "--web", "127.0.0.1:0",
                code=1, says="chmod 600")


def test_drain_waits_for_the_players_and_ends_the_server(kit):
    web = serve(kit, "--drain-seconds", 20)
    player = kit.start("cairn-bot", "--key", kit.key(), "--server", web.address, "--seconds", 3)
    web.wait_for("client_joined")
    assert post(web, "/drain", headers={"Authorization": "Bearer " + "0" * 64})[0] == 401
    assert post(web, "/drain", {"now": True})[0] == 400 and get(web, "/readyz")[0] == 200
    assert post(web, "/drain") == (200, {"ok": True}) == post(web, "/drain")
    deadline = time.monotonic() + 5
    while get(web, "/readyz")[0] == 200:
        assert time.monotonic() < deadline
    assert web.process.poll() is None
    player.communicate(timeout=30)
    assert web.process.wait(20) == 0
    at_once = serve(kit)
    assert post(at_once, "/drain") == (200, {"ok": True})
    assert at_once.process.wait(20) == 0


def raw(server, text):
    host, port = server.web.split(":")
    connection = socket.create_connection((host, int(port)), timeout=20)
    connection.sendall(text.encode())
    return connection


def head(verb, length, *more):
    return "\r\n".join([f"POST /control/{verb} HTTP/1.1", "Host: cairn", f"Authorization: Bearer {TOKEN}",
                        "Content-Type: application/json", f"Content-Length: {length}", *more, "", ""])


@pytest.mark.parametrize("length, status", [(65537, 413), (10**12, 413), (0, 411), ("x", 411), ("-1", 411)])
def test_lengths(web, length, status):
    with contextlib.closing(raw(web, head("pause", length))) as connection:
        assert connection.recv(4096).split()[1] == str(status).encode()


def test_the_longest_body_is_taken(web):
    assert post(web, "pause", body="{}".ljust(65536))[0] == 200


def test_a_body_that_drips_is_closed(web):
    begin = time.monotonic()
    with contextlib.closing(raw(web, head("pause", 60000))) as connection, contextlib.suppress(ConnectionError):
        for _ in range(100):
            connection.sendall(b" ")
            time.sleep(0.1)
    assert 3 < time.monotonic() - begin < 9
    assert post(web, "state")[0] == 200


def wait_for_ticks_after(server, tick):
    while post(server, "state")[1]["tick"] == tick:
        time.sleep(0.01)


def test_an_answer_comes_when_the_room_has_run_and_nobody_waits_for_those_who_left(web):
    post(web, "pause")
    post(web, "rate", {"speed_thousandths": 1000})
    tick = post(web, "state")[1]["tick"]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        slow = pool.submit(post, web, "step", {"tick_count": 1000000}, None, None, 100)
        wait_for_ticks_after(web, tick)
        status, answer = post(web, "step", {"tick_count": 1})
        assert status == 503 and "makes the room run" in answer["reason"]
        assert post(web, "rooms")[0] == 200 and not slow.done()
        post(web, "pause")
        assert slow.result()[1]["tick_count"] < 1000000
    tick = post(web, "state")[1]["tick"]
    left = raw(web, head("step", 22) + '{"tick_count": 999999}')
    wait_for_ticks_after(web, tick)
    left.close()
    deadline = time.monotonic() + 10
    while counter(web, "cairn_web_controls_left") == 0:
        assert time.monotonic() < deadline
    post(web, "pause")
    assert post(web, "step", {"tick_count": 1})[0] == 200


def test_a_connection_that_does_not_wait_for_its_answer_is_closed(web):
    with contextlib.closing(raw(web, (head("state", 2) + "{}") * 5)) as connection, contextlib.suppress(ConnectionError):
        while connection.recv(65536):
            pass
    with contextlib.closing(http.client.HTTPConnection(web.web, timeout=20)) as connection:
        for _ in range(5):  # one after the other on one connection
            connection.request("POST", "/control/state", "{}", {"Content-Type": "application/json", **BEARER})
            assert json.loads(connection.getresponse().read())["ok"]
