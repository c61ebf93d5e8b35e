# SPDX-License-Identifier: MIT
"""cairnd as a service: what its manager is told, how it ends while clients play, and the files for Prometheus and Grafana."""

import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest

from conftest import SOURCE

MONITORING = SOURCE / "packaging/monitoring"
ALERTS = MONITORING / "cairn-alerts.yml"
DASHBOARD = MONITORING / "cairn-dashboard.json"


@pytest.fixture(name="manager")
def fixture_manager(tmp_path, monkeypatch):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "notify"))
        listener.settimeout(20)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        yield listener


def status_of(server, path):
    try:
        with urllib.request.urlopen(f"http://{server.wait_for('web')[0]['address']}{path}", timeout=20) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code


def test_the_service_manager_is_told(kit, manager, monkeypatch):
    monkeypatch.setenv("WATCHDOG_USEC", "200000")
    server = kit.serve(scene="stack10")
    assert manager.recv(100) == b"READY=1"
    begin = time.monotonic()
    assert [manager.recv(100) for _ in range(5)] == [b"WATCHDOG=1"] * 5
    assert time.monotonic() - begin > 0.35
    server.stop()
    told = b""
    while told != b"STOPPING=1":
        told = manager.recv(100)
        assert told in (b"STOPPING=1", b"WATCHDOG=1")


@pytest.mark.parametrize("style", ["json", "text"])
def test_the_journal_is_told_priorities_and_nobody_else(kit, style):
    """systemd names the stream of the journal by its device and inode (systemd.exec(5), JOURNAL_STREAM)."""
    for own in True, False:
        with (kit.folder / f"log{own}").open("wb+") as log:
            status = os.fstat(log.fileno())
            stream = f"{status.st_dev}:{status.st_ino if own else status.st_ino + 1}"
            subprocess.run([kit.programs / "cairnd", "--listen", "127.0.0.1:0", "--key-file", kit.key(), "--log", style, "--seconds", "1",
                            "--scene", "stack10"], cwd=kit.folder, stdout=log, env={**os.environ, "JOURNAL_STREAM": stream}, check=True, timeout=30)
            log.seek(0)
            lines = log.read().decode().splitlines()
        assert len(lines) >= 2
        assert all(bool(re.match("<[3467]>", line)) == own for line in lines)
        if style == "json":
            assert "listening" in [json.loads(line[3 if own else 0:])["event"] for line in lines]


def test_without_a_watchdog_there_is_no_beat(kit, manager, monkeypatch):
    monkeypatch.setenv("WATCHDOG_USEC", "200000")
    monkeypatch.setenv("WATCHDOG_PID", "1")
    server = kit.serve(scene="stack10")
    assert manager.recv(100) == b"READY=1"
    time.sleep(0.5)
    server.stop()
    assert manager.recv(100) == b"STOPPING=1"


def test_a_manager_that_is_not_there_changes_nothing(kit, monkeypatch):
    for name in ("/nothing/there", "@nobody", "relative", "/" + "x" * 200, ""):
        monkeypatch.setenv("NOTIFY_SOCKET", name)
        kit.serve(scene="stack10").stop()


def test_clients_play_to_their_end_and_nobody_joins(kit):
    server = kit.serve("--web", "127.0.0.1:0", "--drain-seconds", 30, scene="stack10")
    bot = kit.start("cairn-bot", "--key", kit.key(), "--server", server.address, "--seconds", 4)
    server.wait_for("client_joined")
    assert status_of(server, "/readyz") == 200
    server.process.terminate()
    assert server.wait_for("ends_soon")[0]["detail"] == "the server ends in 30 s"
    assert status_of(server, "/readyz") == 503 and status_of(server, "/healthz") == 200
    refused = kit.run("cairn-bot", "--key", kit.key(), "--server", server.address, "--seconds", 1, code=None).json
    assert not refused["played"]
    out, _ = bot.communicate(timeout=30)
    assert json.loads(out.splitlines()[-1])["played"]
    begin = time.monotonic()
    assert server.process.wait(20) == 0 and time.monotonic() - begin < 10


def test_the_deadline_ends_it(kit):
    server = kit.serve("--drain-seconds", 2, scene="stack10")
    bot = kit.start("cairn-bot", "--key", kit.key(), "--server", server.address, "--seconds", 25)
    server.wait_for("client_joined")
    begin = time.monotonic()
    server.process.terminate()
    assert server.process.wait(20) == 0
    assert 1.5 < time.monotonic() - begin < 10
    bot.communicate(timeout=30)


def test_a_second_signal_ends_it_at_once(kit):
    server = kit.serve("--drain-seconds", 3600, scene="stack10")
    bot = kit.start("cairn-bot", "--key", kit.key(), "--server", server.address, "--seconds", 25)
    server.wait_for("client_joined")
    server.process.terminate()
    server.wait_for("ends_soon")
    server.process.terminate()
    assert server.process.wait(10) == 0
    bot.communicate(timeout=30)


ARENA = """{"name": "disc", "rules": "arena", "body_capacity": 80, "shape_capacity": 80, "contact_capacity": 400,
  "bodies": [{"kind": "static", "shapes": [{"kind": "box", "half_extents": [6, 0.5, 6], "position": [0, -0.5, 0]}]}]}"""


def post(server, path, members):
    request = urllib.request.Request(f"http://{server.wait_for('web')[0]['address']}{path}", data=json.dumps(members).encode(),
                                     headers={"Authorization": "Bearer " + "5" * 64, "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.loads(answer.read())


@pytest.mark.parametrize("by", ["signal", "http"])
def test_a_server_ends_when_its_matches_do(kit, by):
    """One match ends by its rules when a player leaves, one by an operator; players who stay do not hold the server up."""
    (kit.folder / "arena.json").write_text(ARENA)
    (kit.folder / "operator").write_text("5" * 64)
    (kit.folder / "operator").chmod(0o600)
    server = kit.serve("--rules", kit.programs.parent / "lib/arena.so", "--drain-seconds", 600, "--web", "127.0.0.1:0", "--control",
                       "--control-token", "operator", "--room", "duel=arena.json", scene="stack10")

    def play(room, number, seconds):
        return kit.start("cairn-bot", "--key", kit.key(), "--server", server.address, "--room", room, "--client-id", number, "--seconds", seconds)
    bots = [play("duel", 1, 4), play("duel", 2, 60), play("main", 3, 60)]
    server.wait_for("client_playing", 3)
    begin = time.monotonic()
    if by == "signal":
        server.process.terminate()
    else:
        assert post(server, "/drain", {}) is not None
    server.wait_for("ends_soon")
    late = kit.run("cairn-bot", "--key", kit.key(), "--server", server.address, "--client-id", 4, "--seconds", 1, code=None)
    assert not late.json["played"]
    closed = server.wait_for("room_closed")[0]
    assert closed["room"] == "duel" and closed["detail"] == "the match is over"
    assert server.process.poll() is None and bots[2].poll() is None
    post(server, "/control/room-destroy", {"room": "main"})
    assert server.process.wait(20) == 0 and time.monotonic() - begin < 40
    assert [json.loads(bot.communicate(timeout=30)[0].splitlines()[0])["played"] for bot in bots] == [True] * 3


def test_promtool_accepts_the_alerts():
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("no promtool (Debian: prometheus)")
    done = subprocess.run([promtool, "check", "rules", ALERTS], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "9 rules found" in done.stdout, done.stdout + done.stderr


def test_alerts_and_dashboard_name_what_the_server_counts(kit):
    server = kit.serve("--web", "127.0.0.1:0", scene="stack10")
    connection = http.client.HTTPConnection(server.wait_for("web")[0]["address"], timeout=20)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    counted = set(re.findall(r"^(\w+)", text, re.M)) | set(re.findall(r"^# TYPE (\w+)", text, re.M))
    panels = json.loads(DASHBOARD.read_text())["panels"]
    expressions = [target["expr"] for panel in panels for target in panel["targets"]]
    expressions += re.findall(r"expr: (.*)", ALERTS.read_text())
    named = set(re.findall(r"\b((?:cairn|process)_\w+)", " ".join(expressions)))
    assert len(panels) == 19 and len(named) > 25
    assert named <= counted, named - counted
    promtool = shutil.which("promtool")
    if promtool is not None:
        rules = [{"record": f"panel:{i}", "expr": re.sub(r"\$__rate_interval", "1m", each)} for i, each in enumerate(expressions)]
        (kit.folder / "panels.json").write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
        done = subprocess.run([promtool, "check", "rules", kit.folder / "panels.json"], capture_output=True, text=True, check=False)
        assert "SUCCESS" in done.stdout, done.stdout + done.stderr
