# SPDX-License-Identifier: MIT
"""What cairnd --web answers: counters that others read (Prometheus' own checker and its library for Python), health, and
that bad requests hurt no room."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import resource
import shutil
import socket
import subprocess
import time
import types

import pytest
from prometheus_client import parser
from prometheus_client.openmetrics import parser as open_parser

OPEN = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
CONNECTIONS_MAX = 64


@pytest.fixture(name="web")
def fixture_web(kit):
    server = kit.serve("--web", "127.0.0.1:0", "--room", "second.one=stack10", "--stats-interval", 1, scene="stack10")
    server.web = server.wait_for("web")[0]["address"]
    return server


class Skips:
    """Ticks that a server skips from now on, and those of another one beside it that has nothing else to do: on a busy machine both skip
    some."""

    def __init__(self, kit, server):
        self.servers = server, kit.serve("--room", "second.one=stack10", "--stats-interval", 1, scene="stack10")
        self.before = [self.next(server) for server in self.servers]

    def next(self, server):
        return server.wait_for("stats", len(server.events("stats")) + 1)[-1]["skipped"]

    def expect_no_more_than_beside(self):
        own, beside = (self.next(server) - before for server, before in zip(self.servers, self.before))
        assert own <= 12 + 2 * beside, (own, beside)


def get(server, path, accept="text/plain", method="GET", timeout=20):
    connection = http.client.HTTPConnection(server.web, timeout=timeout)
    with contextlib.closing(connection):
        connection.request(method, path, headers={"Accept": accept})
        answer = connection.getresponse()
        return answer.status, answer.getheader("Content-Type"), answer.read().decode()


def samples(families):
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for family in families for sample in family.samples}


def connect(server):
    host, port = server.web.split(":")
    return socket.create_connection((host, int(port)), timeout=20)


# Seconds until the server closes the connection; what it said is thrown away.
def closes_after(connection):
    begin = time.monotonic()
    with contextlib.suppress(ConnectionError):
        while connection.recv(4096):
            pass
    return time.monotonic() - begin


def test_both_formats_say_what_happened(kit, web):
    bot = kit.bot(web, "--seconds", 2).json
    web.wait_for("client_left")
    status, kind, text = get(web, "/metrics")
    assert status == 200 and kind == "text/plain; version=0.0.4; charset=utf-8"
    classic = samples(parser.text_string_to_metric_families(text))
    status, kind, text = get(web, "/metrics", accept=OPEN)
    assert status == 200 and kind.startswith("application/openmetrics-text; version=1.0.0")
    opened = samples(open_parser.text_string_to_metric_families(text))
    assert set(classic) == set(opened) and len(opened) > 100
    main = (("room", "main"),)
    assert opened[("cairn_rooms", ())] == 2 and opened[("cairn_clients", ())] == 0
    assert opened[("cairn_room_joins_total", main)] == 1 == opened[("cairn_room_leaves_total", main)]
    assert opened[("cairn_room_joins_total", (("room", "second.one"),))] == 0
    assert opened[("cairn_room_bodies", (("room", "second.one"),))] == 11
    assert opened[("cairn_sent_bytes_total", ())] >= bot["bytes_received"] > 0
    assert opened[("cairn_datagrams_received_total", ())] > 60
    assert opened[("process_resident_memory_bytes", ())] > 1e6 and opened[("process_cpu_seconds_total", ())] > 0
    assert abs(opened[("process_start_time_seconds", ())] - time.time()) < 600
    # A histogram rises to the count of all ticks.
    for name in ("cairn_room_tick_seconds", "cairn_room_tick_late_seconds"):
        buckets = sorted((float(dict(labels)["le"]), value) for (sample, labels), value in opened.items()
                         if sample == name + "_bucket" and dict(labels)["room"] == "main")
        counts = [value for _, value in buckets]
        assert len(buckets) == 17 and counts == sorted(counts) and counts[-1] == opened[(name + "_count", main)] > 60
        assert buckets[0][0] == 16384e-9 and opened[(name + "_sum", main)] > 0


def test_modes_queues_and_bytes_of_rooms_are_told(kit):
    server = kit.serve("--web", "127.0.0.1:0", "--record", "game.cairn", "--room", "other=stack10", scene="stack10")
    server.web = server.wait_for("web")[0]["address"]
    bots = [kit.start("cairn-bot", "--key", kit.key(), "--server", server.address, "--mode", mode, "--clients", count, "--client-id", 100 * count,
                      "--seconds", 4) for mode, count in (("predict", 3), ("interpolate", 2))]
    server.wait_for("client_playing", 5)
    seen = samples(open_parser.text_string_to_metric_families(get(server, "/metrics", accept=OPEN)[2]))
    modes = {labels: value for (name, labels), value in seen.items() if name == "cairn_room_mode_clients"}
    assert modes == {(("mode", "predict"), ("room", "main")): 3, (("mode", "interpolate"), ("room", "main")): 2}
    assert 0 < seen[("cairn_room_sent_bytes_total", (("room", "main"),))] <= seen[("cairn_sent_bytes_total", ())]
    assert seen[("cairn_room_sent_bytes_total", (("room", "other"),))] == 0
    for name in ("cairn_log_queue_bytes", "cairn_web_frame_queue_bytes", "cairn_jobs_queued", "cairn_tasks_queued"):
        assert seen[(name, ())] >= 0
    assert seen[("cairn_room_recording_queue_bytes", (("room", "main"),))] >= 0
    promtool = shutil.which("promtool")
    if promtool is not None:
        done = subprocess.run([promtool, "check", "metrics"], input=get(server, "/metrics")[2], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and done.stdout + done.stderr == ""
    main = (("room", "main"),)
    deadline = time.monotonic() + 20
    while (seen := samples(open_parser.text_string_to_metric_families(get(server, "/metrics", accept=OPEN)[2])))[("cairn_room_rollbacks_total", main)] < 1:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert seen[("cairn_room_rollback_ticks_total", main)] >= 1 and seen[("cairn_room_rollback_reports_bounded_total", main)] == 0
    for bot in bots:
        bot.communicate(timeout=30)
    deadline = time.monotonic() + 20
    # Their last packets may wait a moment where processors are few.
    while any(name == "cairn_room_mode_clients"
              for name, _ in samples(open_parser.text_string_to_metric_families(get(server, "/metrics", accept=OPEN)[2]))):
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_promtool_has_nothing_to_say(web):
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("no promtool (Debian: prometheus)")
    done = subprocess.run([promtool, "check", "metrics"], input=get(web, "/metrics")[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout + done.stderr == ""


def test_counters_never_decrease(kit, web):
    before = samples(parser.text_string_to_metric_families(get(web, "/metrics")[2]))
    kit.bot(web, "--seconds", 1)
    after = samples(parser.text_string_to_metric_families(get(web, "/metrics")[2]))
    grown = [name for name in before if re.search("_(total|count|sum|bucket)$", name[0]) and after[name] > before[name]]
    assert len(grown) > 20 and all(after[name] >= before[name] for name in before if name[0].endswith("_total"))


def scrape_ms(connection, buffer):
    """The time of one request for the counters, and how long their text is."""
    begin = time.perf_counter()
    connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
    size, length = connection.recv_into(buffer), None
    while length is None or size < length:
        if length is None and (end := buffer.find(b"\r\n\r\n", 0, size)) >= 0:
            length = end + 4 + int(re.search(rb"content-length: (\d+)", bytes(buffer[:end]).lower())[1])
            continue
        more = connection.recv_into(memoryview(buffer)[size:])
        assert more > 0
        size += more
    return 1000 * (time.perf_counter() - begin), length


def test_the_counters_of_a_hundred_rooms_take_less_than_a_millisecond(kit):
    """From request to last byte, when the machine has nothing else to do: the best of some, as it is rarely idle."""
    kit.skip_if_sanitized("makes it slower")
    rooms = [word for i in range(99) for word in ("--room", f"room-{i}=stack10,players=4")]
    server = kit.serve("--web", "127.0.0.1:0", "--rooms-max", 128, *rooms, scene="stack10")
    server.web = server.wait_for("web")[0]["address"]
    buffer, found = bytearray(1 << 20), []
    with contextlib.closing(connect(server)) as connection:
        while len(found) < 20 or (min(found) >= 1 and len(found) < 200):
            time.sleep(0.11)  # so that they are counted again
            took, length = scrape_ms(connection, buffer)
            found.append(took)
            assert length > 400000
    print(f"the counters of 100 rooms: {min(found):.2f} ms, median {sorted(found)[len(found) // 2]:.2f}")
    assert min(found) < 1, sorted(found)


def test_health(web):
    assert get(web, "/healthz") == (200, "text/plain", "the loop runs\n")
    assert get(web, "/readyz") == (200, "text/plain", "clients may join\n")


@pytest.mark.parametrize("path", ["/", "/metric", "/metrics/", "/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//metrics/..", "/metrics%00"])
def test_other_paths_are_refused(web, path):
    with contextlib.suppress(http.client.RemoteDisconnected):
        status, _, text = get(web, path)
        page = status == 200 and text.lower().startswith("<!doctype html>")  # where it was built; paths are made plain first
        assert page or (status in (400, 403, 404) and "cairn_" not in text and "root:" not in text)
    assert get(web, "/healthz")[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_other_methods_are_refused(web, method):
    with contextlib.suppress(http.client.BadStatusLine, ConnectionError):
        assert get(web, "/metrics", method=method)[0] == 405
    assert get(web, "/healthz")[0] == 200


def test_head_is_answered_as_get_without_a_body(web):
    with contextlib.closing(http.client.HTTPConnection(web.web, timeout=20)) as connection:
        for path, status in ("/metrics", 200), ("/rooms", 200), ("/nothing", 404), ("/healthz", 200):  # on one connection
            connection.request("HEAD", path)
            answer = connection.getresponse()
            assert (answer.status, answer.read()) == (status, b"")
            assert status == 404 or int(answer.getheader("Content-Length")) > 0


def test_headers_have_a_limit(web):
    with contextlib.closing(connect(web)) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\nX: " + 20000 * b"a" + b"\r\n\r\n")
        answer = b""
        with contextlib.suppress(ConnectionError):
            answer = connection.recv(4096)
        assert b"200 OK" not in answer
    assert get(web, "/healthz")[0] == 200


def test_silent_and_slow_peers_are_closed_and_nobody_waits_for_them(kit, web):
    """More connections than there may be: half say nothing, half say their request a byte at a time."""
    skips = Skips(kit, web)
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(contextlib.closing(connect(web))) for _ in range(CONNECTIONS_MAX + 16)]
        begin = time.monotonic()
        bot = kit.bot(web, "--seconds", 2).json
        assert bot["played"] and bot["failure"] == ""
        with contextlib.suppress(ConnectionError):
            while time.monotonic() < begin + 4:
                for peer in peers[::2]:
                    peer.sendall(b"G")
                time.sleep(0.5)
        for peer in peers:
            assert closes_after(peer) < 20
    assert get(web, "/healthz")[0] == 200
    skips.expect_no_more_than_beside()


def test_requests_in_a_row_skip_no_tick(kit, web):
    skips = Skips(kit, web)
    connection = http.client.HTTPConnection(web.web, timeout=20)
    with contextlib.closing(connection):
        for _ in range(300):
            connection.request("GET", "/metrics")
            assert connection.getresponse().read().endswith(b"\n")
    skips.expect_no_more_than_beside()


def test_connections_beyond_the_descriptors_are_closed_and_cost_nothing(web):
    pid = web.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    used = len(os.listdir(f"/proc/{pid}/fd"))
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + 4, before[1]))
    waiting = [connect(web) for _ in range(20)]

    def seconds():
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    start = seconds()
    time.sleep(1)
    spent = seconds() - start
    closed = 0
    for connection in waiting:
        connection.settimeout(0.1)
        try:
            closed += connection.recv(1) == b""
        except TimeoutError:
            pass
        except ConnectionResetError:
            closed += 1
        connection.close()
    resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
    assert closed >= 16 and spent < 0.5, (closed, spent)


@pytest.mark.parametrize("has_proc", [True, False])
def test_the_page_is_that_of_the_installed_folder(kit, has_proc):
    """share/cairn/web beside the program's folder, also in a root without /proc and by any path."""
    alone = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    if not has_proc and subprocess.run([*alone, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no mounts of its own")
    (kit.folder / "bin").mkdir()
    shutil.copy(kit.programs / "cairnd", kit.folder / "bin/cairnd")
    (kit.folder / "share/cairn/web/assets").mkdir(parents=True)
    (kit.folder / "share/cairn/web/index.html").write_text("<title>installed</title>")
    (kit.folder / "share/cairn/web/assets/a.js").write_text("1")
    server = types.SimpleNamespace()
    command = ["bin/cairnd", "--listen", "127.0.0.1:0", "--key-file", kit.key(), "--log", "json", "--web", "127.0.0.1:0"]
    with subprocess.Popen([*([] if has_proc else alone), *command], cwd=kit.folder, stdout=subprocess.PIPE, text=True) as process:
        said = next(json.loads(line) for line in process.stdout if line.startswith("{") and json.loads(line)["event"] == "web")
        server.web = said["address"]
        assert get(server, "/")[2] == "<title>installed</title>" and get(server, "/assets/a.js")[2] == "1"
        process.terminate()
        process.stdout.read()


def test_an_address_that_is_taken_is_told(kit):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        kit.refuses("cairnd", "--listen", "127.0.0.1:0", "--key-file", kit.key(), "--web", "127.0.0.1:%d" % taken.getsockname()[1],
                    code=1, says="Address already in use")
