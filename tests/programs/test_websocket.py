# SPDX-License-Identifier: MIT
"""Clients that reach cairnd by WebSockets, and peers that break the rules of the web: they are refused and counted, and the
players on UDP notice nothing."""

import contextlib
import http.client
import json
import pathlib
import socket
import time

import pytest
from prometheus_client import parser
from websocket import TEXT, Bridge, WebSocket

DATAGRAM_SIZE_MAX = 1300


@pytest.fixture(name="web")
def fixture_web(kit):
    return serve(kit)


def serve(kit, *flags):
    server = kit.serve("--web", "127.0.0.1:0", "--stats-interval", 1, *flags, scene="stack10")
    server.web = server.wait_for("web")[0]["address"]
    return server


def connect(server, source="127.0.0.1"):
    host, port = server.web.split(":")
    return socket.create_connection((host, int(port)), timeout=20, source_address=(source, 0))


def status_of(peer):
    """Reads one answer, which ends with its head or with a body of one line."""
    answer = b""
    while b"\r\n\r\n" not in answer or (b"content-length: 0" not in answer and not answer.endswith(b"runs\n")):
        answer += peer.recv(4096)
    return answer.split()[1]


def get(server, path, host=None, origin=None):
    connection = http.client.HTTPConnection(server.web, timeout=20)
    with contextlib.closing(connection):
        headers = {name: value for name, value in (("Host", host), ("Origin", origin)) if value is not None}
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers


def counters(server):
    time.sleep(0.11)  # as old as an answer may be
    families = parser.text_string_to_metric_families(get(server, "/metrics")[1].decode())
    return {sample.name: sample.value for family in families for sample in family.samples if not sample.labels}


@contextlib.contextmanager
def bridged(kit, *flags, receive_buffer=None):
    """A server that clients reach only through WebSockets."""
    bridge = Bridge(receive_buffer)
    server = serve(kit, "--public", bridge.address, *flags)
    bridge.start(server.web)
    server.bridge = bridge
    server.udp_address = server.address
    server.address = bridge.address
    try:
        yield server
    finally:
        bridge.close()


@pytest.mark.parametrize("mode", ["interpolate", "predict", "lockstep", "heal"])
def test_a_client_plays_over_a_websocket(kit, mode):
    with bridged(kit) as server:
        bot = kit.bot(server, "--seconds", 3, "--mode", mode).json
        assert bot["played"] and bot["failure"] == ""
        server.wait_for("client_left")
        after = counters(server)
        assert after["cairn_web_frames_sent_total"] >= server.bridge.frames > 50
        assert after["cairn_web_frames_received_total"] > 100
        assert after["cairn_web_frames_dropped_total"] == 0 and after["cairn_web_sockets_opened_total"] == 1
        assert after["cairn_web_frames_malformed_total"] == 0


def test_many_clients_play_and_udp_beside_them(kit):
    with bridged(kit) as server:
        direct = kit.start("cairn-bot", "--key", kit.key(), "--server", server.address, "--clients", 8, "--seconds", 4, "--json-stats", 0)
        out, _ = direct.communicate(timeout=30)
        assert direct.returncode == 0, out
        assert counters(server)["cairn_web_sockets_opened_total"] == 8


def test_only_our_page_and_listed_ones_may_open_a_socket(kit):
    server = serve(kit, "--web-origin", "https://play.example")
    for origin, status in ((None, 101), ("http://" + server.web, 101), ("https://" + server.web, 101), ("https://play.example", 101),
                           ("https://evil.example", 403), ("http://play.example", 403), ("null", 403), ("https://play.example.evil", 403),
                           ("x" * 1000, 403)):
        with WebSocket(server.web, origin=origin) as opened:
            assert opened.status == status, origin
    assert counters(server)["cairn_web_sockets_refused_total"] == 5


@pytest.mark.parametrize("wrong", [{"path": "/"}, {"path": "/wss"}, {"path": "/metrics"}, {"protocol": None}, {"protocol": "chat"},
                                   {"protocol": "http"}, {"upgrade": "h2c"}])
def test_other_paths_and_protocols_are_refused(web, wrong):
    with WebSocket(web.web, **wrong) as opened:
        assert opened.status != 101
    assert get(web, "/healthz")[0] == 200


def test_malformed_messages_are_counted_and_their_sockets_closed(web):
    cases = [(b"a" * (DATAGRAM_SIZE_MAX + 1), {}, 1009), (b"hello", {"opcode": TEXT}, 1003), (b"a" * 70000, {}, 1009)]
    for bytes_, options, code in cases:
        with WebSocket(web.web) as opened:
            with contextlib.suppress(ConnectionError):
                opened.send(bytes_, **options)
            assert opened.closed_with() in (code, None)
    with WebSocket(web.web) as opened:  # pieces that are too large together
        with contextlib.suppress(ConnectionError):
            opened.send(b"a" * 1000, final=False)
            opened.send(b"a" * 1000, opcode=0)
        assert opened.closed_with() in (1009, None)
    with WebSocket(web.web) as opened:  # without a mask
        opened.socket.sendall(b"\x82\x02aa")
        opened.closed_with()
    with WebSocket(web.web) as opened:  # no opcode
        opened.socket.sendall(b"\x83\x80aaaa")
        opened.closed_with()
    assert counters(web)["cairn_web_frames_malformed_total"] == 4
    assert counters(web)["cairn_web_sockets"] == 0


def test_a_message_in_pieces_is_one_datagram(web):
    before = counters(web)["cairn_web_frames_received_total"]
    with WebSocket(web.web) as opened:
        opened.send(b"a" * 600, final=False)
        opened.send(b"a" * 600, opcode=0)
        deadline = time.monotonic() + 10
        while counters(web)["cairn_web_frames_received_total"] == before and time.monotonic() < deadline:
            pass
    assert counters(web)["cairn_web_frames_received_total"] == before + 1


def loop_busy_s(server):
    """Processor time of the thread of the server's loop, the first one. Skipped ticks would also count what other programs take."""
    return int(pathlib.Path(f"/proc/{server.process.pid}/task/{server.process.pid}/schedstat").read_text().split()[0]) / 1e9


def test_a_flood_closes_its_socket_and_udp_does_not_notice(kit, web):
    bot = kit.start("cairn-bot", "--key", kit.key(), "--server", web.address, "--seconds", 6)
    web.wait_for("client_joined")
    begin = loop_busy_s(web)
    time.sleep(2)
    calm_s = loop_busy_s(web) - begin
    end = time.monotonic() + 2
    count = sent = 0
    while time.monotonic() < end:
        with WebSocket(web.web) as opened:
            count += opened.status == 101  # others are refused: too many requests
            with contextlib.suppress(ConnectionError):
                for _ in range(40):
                    opened.socket.sendall(b"\x82\x80aaaa" * 100)
                    sent += 100
            opened.closed_with()
    flooded_s = loop_busy_s(web) - begin - calm_s
    out, _ = bot.communicate(timeout=30)
    last = json.loads(out.splitlines()[-1])
    assert last["played"] and last["failure"] == ""
    assert counters(web)["cairn_web_sockets_closed_rate_total"] == count
    # Frames by the million, and less than a tenth of a core for them: the thread of the loop does not see them.
    assert flooded_s < calm_s + 0.2 and sent > 1000, (calm_s, flooded_s, sent)


def test_a_socket_without_a_session_is_closed(web):
    with WebSocket(web.web) as opened:
        begin = time.monotonic()
        opened.closed_with()
        assert 4 < time.monotonic() - begin < 16
    assert counters(web)["cairn_web_sockets_closed_idle_total"] == 1


def test_a_reader_that_stops_is_dropped(kit):
    """Its bridge reads nothing any more. A system with large buffers takes all until the session ends; then it counts as
    idle, not as slow. server.web_peers tests the difference."""
    with bridged(kit, receive_buffer=4096) as server:
        bot = kit.start("cairn-bot", "--key", kit.key(), "--server", server.address, "--seconds", 60)
        try:
            server.wait_for("client_joined")
            for peer in server.bridge.peers.values():
                server.bridge.selector.unregister(peer.socket)
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and counters(server)["cairn_web_sockets"] == 1:
                time.sleep(0.2)
            assert counters(server)["cairn_web_sockets"] == 0
        finally:
            bot.kill()
            bot.wait()


def test_one_address_cannot_take_all_sockets(kit):
    server = serve(kit, "--web-per-address", 4)
    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(WebSocket(server.web)) for _ in range(6)]
        assert [each.status for each in opened] == [101] * 4 + [503] * 2
        assert stack.enter_context(WebSocket(server.web, source="127.0.0.2")).status == 101
    assert counters(server)["cairn_web_sockets_opened_total"] == 5


def test_rooms_are_listed(kit):
    server = serve(kit, "--room", "second.one=demo,players=3")
    status, text, headers = get(server, "/rooms")
    assert status == 200 and headers["Content-Type"] == "application/json"
    listed = json.loads(text)
    assert [room["name"] for room in listed] == ["main", "second.one"]
    assert listed[0]["scene"] == "stack10" and listed[0]["bodies"] == 11 and listed[0]["clients"] == 0


def test_a_developer_gets_tokens_for_its_own_machine(kit):
    server = serve(kit, "--dev", "--control")
    status, token, headers = get(server, "/token?room=main&mode=player")
    assert status == 200 and len(token) == 2048 and headers["Content-Type"] == "application/octet-stream"
    assert headers["Cache-Control"] == "no-store"
    (kit.folder / "dev").write_bytes(token)
    assert kit.run("cairn-bot", "--token", "dev", "--seconds", 1).json["played"]
    port = server.web.rsplit(":", 1)[1]
    assert get(server, "/token", host=f"localhost:{port}", origin=f"http://localhost:{port}")[0] == 200
    assert get(server, "/token", origin="https://evil.example")[0] == 403
    # A foreign name that was made to lead here.
    assert get(server, "/token", host=f"evil.example:{port}", origin=f"http://evil.example:{port}")[0] == 403
    assert get(server, "/token?room=none")[0] == 404
    assert get(server, "/token?mode=god")[0] == 400
    assert get(server, "/token?right=operator")[0] == 200
    assert get(server, "/token?right=god")[0] == 403


def test_others_get_no_tokens(web):
    assert get(web, "/token")[0] == 404


def test_dev_is_refused_on_other_addresses(kit):
    kit.refuses("cairnd", "--dev", "--listen", "127.0.0.1:0", "--web", "0.0.0.0:0", code=1, says="not loopback")


@pytest.fixture(name="page")
def fixture_page(kit):
    root = kit.folder / "page"
    (root / "assets").mkdir(parents=True)
    (root / "index.html").write_text("<!doctype html><title>cairn</title>")
    (root / "assets" / "main-1234.js").write_text("export const a = 1;")
    (root / "sim.wasm").write_bytes(b"\0asm" + bytes(100000))
    (root / ".secret").write_text("secret")
    (kit.folder / "outside.txt").write_text("outside")
    return serve(kit, "--web-root", root)


def test_the_page_is_served_with_types_and_caching(page):
    status, text, headers = get(page, "/")
    assert status == 200 and b"cairn" in text and headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Cache-Control"] == "no-cache" and headers["X-Content-Type-Options"] == "nosniff"
    policies = headers.get_all("Content-Security-Policy")
    assert len(policies) == 1 and "default-src 'none'" in policies[0] and "unsafe-inline" not in policies[0] and "'unsafe-eval'" not in policies[0]
    assert get(page, "/?room=main")[1] == text == get(page, "/index.html")[1]
    status, _, headers = get(page, "/assets/main-1234.js")
    assert status == 200 and "immutable" in headers["Cache-Control"] and headers["Content-Type"].startswith("text/javascript")
    status, bytes_, headers = get(page, "/sim.wasm")
    assert status == 200 and len(bytes_) == 100004 and headers["Content-Type"] == "application/wasm"
    connection = http.client.HTTPConnection(page.web, timeout=20)
    with contextlib.closing(connection):
        connection.request("GET", "/sim.wasm", headers={"If-None-Match": headers["ETag"]})
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (304, b"")


@pytest.mark.parametrize("path", ["/../outside.txt", "/%2e%2e/outside.txt", "/assets/../../outside.txt", "/assets/..%2f..%2foutside.txt",
                                  "//outside.txt", "/.secret", "/assets", "/assets/", "/..\\outside.txt", "/index.html%00"])
def test_no_path_leaves_the_page(page, path):
    with contextlib.suppress(http.client.RemoteDisconnected):
        status, text, _ = get(page, path)
        assert status in (400, 403, 404) and b"outside" not in text and b"secret" not in text
    assert get(page, "/healthz")[0] == 200


def test_one_address_cannot_ask_all_the_time(web):
    """More than 200 requests in a second, when 400 at once are over; another address is answered."""
    request = f"GET /healthz HTTP/1.1\r\nHost: {web.web}\r\n\r\n".encode()
    statuses = set()
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(contextlib.closing(connect(web))) for _ in range(12)]
        for _ in range(200):
            for peer in peers:
                peer.sendall(request)
            statuses.update(status_of(peer) for peer in peers)
            if b"429" in statuses:
                break
        assert statuses == {b"200", b"429"}
        other = stack.enter_context(contextlib.closing(connect(web, source="127.0.0.2")))
        other.sendall(request)
        assert status_of(other) == b"200"
