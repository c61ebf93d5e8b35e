# SPDX-License-Identifier: MIT
"""cairnd as a game server of an Agones fleet, beside a double of the SDK server (agones_sdk.py)."""

import contextlib
import json
import socket
import subprocess
import sys
import threading
import time

import pytest
import yaml
from agones_sdk import Allocator, Sdk
from conftest import SOURCE

MANIFESTS = SOURCE / "packaging/agones"


@pytest.fixture(name="port")
def fixture_port(monkeypatch):
    """Where cairnd finds the SDK server."""
    def name(port):
        monkeypatch.setenv("AGONES_SDK_HTTP_PORT", str(port))
    return name


@pytest.fixture(name="fleet")
def fixture_fleet(kit, port):
    @contextlib.contextmanager
    def begin(*flags, scene="stack10", **sdk_options):
        sdk = Sdk(**sdk_options)
        sdk.address = ("127.0.0.1", free_port())
        port(sdk.port)
        try:
            yield sdk, serve(kit, "--listen", f"127.0.0.1:{sdk.address[1]}", *flags, scene=scene)
            assert sdk.violations == []
        finally:
            sdk.close()
    return begin


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_state(server, state):
    """A state that the server asked for itself is not told."""
    deadline = time.monotonic() + 15
    while state not in [said["detail"] for said in server.events("agones_state")]:
        assert time.monotonic() < deadline, server.log.read_text()
        time.sleep(0.05)


def serve(kit, *flags, scene="stack10"):
    return kit.serve("--agones", "--stats-interval", 1, *flags, scene=scene)


@contextlib.contextmanager
def player(kit, server, client_id, seconds=60):
    bot = kit.start("cairn-bot", "--key", kit.key(), "--server", server.address, "--client-id", client_id, "--seconds", seconds)
    try:
        yield bot
    finally:
        bot.terminate()
        bot.wait()
        bot.stdout.close()


def test_a_life_in_a_fleet(kit, fleet):
    with fleet() as (sdk, server):
        sdk.wait_until(lambda s: s.state == "Ready" and s.rooms == [1, 16])
        with player(kit, server, 7), player(kit, server, 8):
            sdk.wait_until(lambda s: s.state == "Allocated" and sorted(s.players) == ["7", "8"])
        sdk.wait_until(lambda s: s.state == "Ready" and s.players == [])
        sdk.wait_until(lambda s: s.health >= 2)
        server.stop()
        assert sdk.state == "Shutdown"
        assert server.events("agones_ended") and not server.events("agones_lost")


def test_one_that_was_allocated_waits_for_its_players(kit, fleet):
    with fleet() as (sdk, server):
        sdk.wait_until(lambda s: s.state == "Ready")
        sdk.set_state("Allocated")
        wait_for_state(server, "Allocated")
        time.sleep(1)
        assert sdk.asked("/ready") == 1
        with player(kit, server, 7):
            sdk.wait_until(lambda s: s.players == ["7"])
        sdk.wait_until(lambda s: s.asked("/ready") == 2)
        assert sdk.asked("/allocate") == 0


def test_it_stays_reserved_for_those_who_return(kit, fleet):
    with fleet("--agones-reserve", 30) as (sdk, server):
        with player(kit, server, 7):
            sdk.wait_until(lambda s: s.state == "Allocated")
        sdk.wait_until(lambda s: s.state == "Reserved")
        with player(kit, server, 7):
            sdk.wait_until(lambda s: s.asked("/allocate") == 2)


@pytest.mark.parametrize("failures", [[500] * 8, [None] * 8, [503, None, 404, 200, 500, None]], ids=["errors", "cut", "mixed"])
def test_what_fails_is_asked_again(kit, fleet, failures):
    sdk_failures = list(failures)
    with fleet() as (sdk, server):
        with sdk.lock:
            sdk.fails = sdk_failures
        with player(kit, server, 7):
            sdk.wait_until(lambda s: s.state == "Allocated" and s.players == ["7"] and s.rooms == [1, 16], seconds=60)


def test_an_sdk_server_that_begins_late_is_found(kit, port):
    """It may start after the game server."""
    with contextlib.closing(Sdk()) as gone:
        number = gone.port
    port(number)
    server = serve(kit, "--public", "127.0.0.1:9")
    server.wait_for("agones_lost", 3)
    with contextlib.closing(Sdk(port=number)) as sdk:
        sdk.wait_until(lambda s: s.state == "Ready" and s.rooms == [1, 16], seconds=25)
        server.wait_for("agones_back")


def test_clients_reach_it_where_the_sdk_server_says(kit, port):
    """Which it may not know at first. The server listens elsewhere, as behind a port of its node."""
    with contextlib.closing(Sdk()) as sdk:
        port(sdk.port)
        sdk.address = ("", 0)
        timer = threading.Timer(1, setattr, (sdk, "address", ("127.0.0.1", 7777)))
        timer.start()
        server = serve(kit)
        timer.join()
        assert sdk.asked("/gameserver") >= 2
        kit.run("cairn-token", "issue", "--key", kit.key(), "--server", server.address, "--out", "token")
        refused = kit.run("cairn-bot", "--token", "token", "--seconds", 2, code=None)
        assert not json.loads(refused.out.splitlines()[-1])["played"]
        assert server.wait_for("stats", 3)[-1]["drops"] > 0


def test_a_silent_sdk_server_costs_no_tick(kit, fleet):
    """A loop that waits for an answer stands still for five seconds at a time."""
    with fleet() as (sdk, server):
        sdk.wait_until(lambda s: s.state == "Ready")
        sdk.silent = True
        before = server.wait_for("stats", len(server.events("stats")) + 1)[-1]
        server.wait_for("agones_lost")
        after = server.wait_for("stats", len(server.events("stats")) + 6)[-1]
        ticks = after["tick"] - before["tick"]
        assert after["skipped"] - before["skipped"] < ticks / 3
        begin = time.monotonic()
        server.stop()
        assert time.monotonic() - begin < 10


def test_a_fleet_without_counter_and_list_is_served(kit, fleet):
    with fleet(rooms=None, players=None) as (sdk, server):
        with player(kit, server, 7):
            server.wait_for("agones_missing", 2)
            sdk.wait_until(lambda s: s.state == "Allocated")
            asked = len([each for each in sdk.requests if "v1beta1" in each])
            time.sleep(1)
            assert len([each for each in sdk.requests if "v1beta1" in each]) == asked == 2


def test_a_list_that_is_full_is_said_once(kit, fleet):
    with fleet(players=1) as (sdk, server):
        with player(kit, server, 7):
            sdk.wait_until(lambda s: s.players == ["7"])
            with player(kit, server, 8):
                server.wait_for("agones_refused")
                time.sleep(1)
                assert len(server.events("agones_refused")) == 1


def test_a_watch_that_ends_is_begun_again(kit, fleet):
    with fleet() as (sdk, server):
        sdk.wait_until(lambda s: s.watches == 1)
        sdk.cut_watches = True
        sdk.set_state("Ready")
        server.wait_for("agones_lost")
        sdk.cut_watches = False
        sdk.wait_until(lambda s: s.watches >= 2)
        sdk.set_state("Unhealthy")
        wait_for_state(server, "Unhealthy")


def test_a_wrong_port_is_refused(kit, port):
    port(70000)
    kit.refuses("cairnd", "--listen", "127.0.0.1:0", "--key-file", kit.key(), "--agones", code=1, says="AGONES_SDK_HTTP_PORT 70000: must be a whole number in [1, 65535]")


def allocate(kit, service, *flags):
    command = [sys.executable, MANIFESTS / "allocate.py", "--service", service, "--key", kit.key(), "--cairn-token",
               kit.programs / "cairn-token", *flags]
    return subprocess.run(list(map(str, command)), cwd=kit.folder, capture_output=True, text=True, timeout=30, check=False)


def test_a_backend_allocates_a_server_and_a_player_makes_the_room(kit, fleet):
    with fleet("--template", "match=stack10,idle=1", scene="none") as (sdk, server), contextlib.closing(Allocator(sdk.address)) as service:
        sdk.wait_until(lambda s: s.state == "Ready" and s.rooms == [0, 16])
        url = f"http://127.0.0.1:{service.server_address[1]}"
        done = allocate(kit, url, "--client-id", 77)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert (found["server"], found["name"]) == (server.address, "cairn-one") and found["room"].startswith("match-")
        path, request = service.requests[0]
        assert path == "/gameserverallocation"
        assert [each["gameServerState"] for each in request["gameServerSelectors"]] == ["ALLOCATED", "READY"]
        assert all(each["counters"] == {"rooms": {"minAvailable": "1"}} for each in request["gameServerSelectors"])
        sdk.set_state("Allocated")
        second = json.loads(allocate(kit, url, "--client-id", 78, "--out", "other").stdout)
        assert second["room"] != found["room"]
        bots = [kit.start("cairn-bot", "--token", token, "--seconds", 3) for token in ("token", "other")]
        sdk.wait_until(lambda s: s.rooms == [2, 16] and sorted(s.players) == ["77", "78"])
        for bot in bots:
            text, _ = bot.communicate(timeout=30)
            assert json.loads(text.splitlines()[-1])["played"], text
        assert {line["room"] for line in server.events("client_joined")} == {found["room"], second["room"]}
        sdk.wait_until(lambda s: s.rooms == [0, 16])  # nobody is in them


def test_a_fleet_that_is_full_has_an_exit_code_of_its_own(kit):
    with contextlib.closing(Allocator(None)) as service:
        assert allocate(kit, f"http://127.0.0.1:{service.server_address[1]}").returncode == 3
        gone = f"http://127.0.0.1:{service.server_address[1]}"
    assert allocate(kit, gone).returncode == 1


def manifests():
    return [document for path in sorted(MANIFESTS.glob("*.yaml")) for document in yaml.safe_load_all(path.read_text())]


def test_the_fleet_runs_what_this_cairnd_understands(kit):
    fleet = next(each for each in manifests() if each["kind"] == "Fleet")["spec"]["template"]["spec"]
    container = fleet["template"]["spec"]["containers"][0]
    assert [each["name"] for each in container["env"]] == ["CAIRN_KEY"]
    kit.run("cairnd", *container["args"], "--key-file", kit.key(), "--check")
    argument = dict(zip(container["args"], container["args"][1:]))
    assert argument["--listen"].endswith(f":{fleet['ports'][0]['containerPort']}")
    assert argument["--rooms-max"] == str(fleet["counters"]["rooms"]["capacity"])
    assert argument["--clients-max"] == str(fleet["lists"]["players"]["capacity"])
    assert fleet["template"]["spec"]["terminationGracePeriodSeconds"] > int(argument["--drain-seconds"])
    assert container["name"] == fleet["container"]
    assert argument["--scene"] == "none" and argument["--template"].startswith("match=") and ",idle=" in argument["--template"]


def test_the_secret_is_that_of_the_fleet_and_refused_until_it_is_filled(kit, monkeypatch):
    kinds = {each["kind"]: each for each in manifests()}
    container = kinds["Fleet"]["spec"]["template"]["spec"]["template"]["spec"]["containers"][0]
    wanted = container["env"][0]["valueFrom"]["secretKeyRef"]
    secret = kinds["Secret"]
    assert secret["metadata"]["name"] == wanted["name"]
    monkeypatch.setenv("CAIRN_KEY", secret["stringData"][wanted["key"]])
    kit.refuses("cairnd", *container["args"], "--check", code=1, says="CAIRN_KEY")
    monkeypatch.setenv("CAIRN_KEY", (kit.folder / kit.key()).read_text().strip())
    kit.run("cairnd", *container["args"], "--check")


def test_the_manifests_belong_together():
    kinds = {each["kind"]: each for each in manifests()}
    assert set(kinds) == {"Fleet", "FleetAutoscaler", "NetworkPolicy", "Secret", "Service"}
    labels = kinds["Fleet"]["spec"]["template"]["spec"]["template"]["metadata"]["labels"]
    assert kinds["FleetAutoscaler"]["spec"]["fleetName"] == kinds["Fleet"]["metadata"]["name"]
    assert kinds["FleetAutoscaler"]["spec"]["policy"]["counter"]["key"] in kinds["Fleet"]["spec"]["template"]["spec"]["counters"]
    for selector in (kinds["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"], kinds["Service"]["spec"]["selector"]):
        assert selector.items() <= labels.items()
    ports = [each["port"] for rule in kinds["NetworkPolicy"]["spec"]["ingress"] for each in rule["ports"]]
    assert ports == [40000, 9100]
