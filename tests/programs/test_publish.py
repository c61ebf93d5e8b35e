# SPDX-License-Identifier: MIT
"""Broadcasts: cairnd --publish writes them, nginx carries them, cairn-replay checks what arrives."""

import asyncio
import json
import pathlib
import shutil
import socket
import subprocess
import time

import pytest

VIEWERS = 200


def index_of(kit, room="main"):
    return json.loads((kit.folder / "live" / room / "index.json").read_text())


def wait_for_segments(kit, server, count):
    """The index once it lists `count` segments."""
    path = kit.folder / "live/main/index.json"
    deadline = time.monotonic() + 60
    while not path.exists() or len(index_of(kit)["segments"]) < count:
        assert time.monotonic() < deadline and server.process.poll() is None, server.log.read_text()
        time.sleep(0.05)
    return index_of(kit)


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != "index.json")


def test_segments_are_the_recording(kit):
    kit.signing_key()
    server = kit.serve("--publish", "live", "--record", "whole.cairn", "--record-key", "sign", "--seconds", 7)
    kit.bot(server, "--seconds", 5)
    assert server.process.wait(30) == 0
    index = index_of(kit)
    assert not index["live"] and index["scene"] == "demo" and index["tick_rate_hz"] == 60
    listed = [segment["number"] for segment in index["segments"]]
    assert listed == list(range(len(listed))) and len(listed) >= 3
    for before, after in zip(index["segments"], index["segments"][1:]):
        assert after["first_tick"] == before["first_tick"] + before["ticks"]
        size = (kit.folder / f"live/main/{after['number']:08}.cairn").stat().st_size
        assert size == after["bytes"]
    assert kit.run("cairn-replay", "verify", "live/main/00000001.cairn", "--key", "public", "--json").json["verdict"] == "same"
    kit.run("cairn-replay", "join", "live/main", "joined.cairn", "--key", "public")
    kit.run("cairn-replay", "verify", "joined.cairn")
    assert "both end there" in kit.run("cairn-replay", "diff", "whole.cairn", "joined.cairn").out


def test_a_segment_that_was_changed_or_left_out_is_found(kit):
    kit.signing_key()
    server = kit.serve("--publish", "live", "--record-key", "sign", "--seconds", 5)
    assert server.process.wait(30) == 0
    one = kit.folder / "live/main/00000001.cairn"
    kit.run("cairn-replay", "join", "live/main", "x.cairn", "--key", "public")
    # Another server's, without the key, and one that is not the next.
    for other, code, says in [
        ("00000000.cairn", 1, "does not continue"),
        ("unsigned.cairn", 4, "not signed"),
        ("cut.cairn", 4, "not signed"),
    ]:
        kept = one.read_bytes()
        if other == "unsigned.cairn":
            kit.run("cairn-replay", "cut", one, 121, 200, one.parent / other)
        if other == "cut.cairn":
            (one.parent / other).write_bytes(kept[:-200])
        shutil.copy(one.parent / other, one)
        kit.refuses("cairn-replay", "join", "live/main", "y.cairn", "--key", "public", code=code, says=says)
        assert not (kit.folder / "y.cairn").exists()
        one.write_bytes(kept)


def test_a_segment_ends_where_an_operator_replaces_the_world(kit):
    server = kit.serve("--publish", "live", "--control")
    wait_for_segments(kit, server, 1)
    kit.run("cairn-ctl", "--server", server.address, "--key", kit.key(), "reset")
    wait_for_segments(kit, server, 4)
    server.stop()
    index = index_of(kit)
    starts = [segment["first_tick"] for segment in index["segments"]]
    assert starts.count(0) == 2 and not index["live"]
    for segment in index["segments"]:
        kit.run("cairn-replay", "verify", f"live/main/{segment['number']:08}.cairn")
    # Before and after the reset are two recordings.
    kit.refuses("cairn-replay", "join", "live/main", "x.cairn", code=1, says="does not continue")


def test_old_segments_go_and_numbers_continue(kit):
    server = kit.serve("--publish", "live", "--publish-keep", 1)
    wait_for_segments(kit, server, 2)
    server.kill()  # leaves a segment that is not listed
    used = names(kit.folder / "live/main")
    server = kit.serve("--publish", "live", "--publish-keep", 1)
    time.sleep(2)
    index = wait_for_segments(kit, server, 2)
    server.stop()
    numbers = [segment["number"] for segment in index["segments"]]
    assert numbers[0] >= len([name for name in used if name.endswith(".cairn")])
    index = index_of(kit)
    assert index["oldest"] == numbers[0]  # those of the first run are gone
    left = names(kit.folder / "live/main")
    assert [name for name in left if name.endswith(".cairn")] == [f"{s['number']:08}.cairn" for s in index["segments"]]


def test_a_folder_that_cannot_be_made_is_told_and_costs_no_tick(kit):
    (kit.folder / "live").write_text("a file")
    server = kit.serve("--publish", "live", "--seconds", 3, "--stats-interval", 1)
    assert server.process.wait(30) == 0
    # At the start, before the server listens, the reason is on standard error.
    assert "Not a directory (folder)" in server.log.read_text()
    stats = server.events("stats")[-1]
    assert stats["broadcast_failures"] >= 1 and stats["broadcast_bytes"] == 0 and stats["tick"] >= 150


# ---- nginx and its viewers


@pytest.fixture
def web(kit):
    """nginx with the broadcast as its root; the port."""
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin")
    if nginx is None:
        pytest.skip("no nginx")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = kit.folder / "nginx"
    folder.mkdir()
    paths = "".join(f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(f"""
        daemon off; worker_processes 1; pid {folder}/pid; error_log stderr;
        events {{ worker_connections 1024; }}
        http {{
            access_log off; {paths}
            server {{
                listen 127.0.0.1:{port}; root {kit.folder}/live;
                location ~ index.json$ {{ add_header Cache-Control no-cache; }}
                location ~ cairn$ {{ add_header Cache-Control "public, max-age=31536000, immutable"; }}
            }}
        }}""")
    if pathlib.Path("/proc/self").stat().st_uid == 0:
        kit.folder.chmod(0o755)
    process = subprocess.Popen([nginx, "-p", folder, "-c", "nginx.conf", "-g", "user root;"],
                               stdout=subprocess.DEVNULL, stderr=(folder / "errors").open("w"))
    yield port
    process.terminate()
    process.wait(10)


async def get(reader, writer, path):
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    await writer.drain()
    head = await reader.readuntil(b"\r\n\r\n")
    size = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
    return head.startswith(b"HTTP/1.1 200"), await reader.readexactly(size)


async def watch(port, seconds):
    """One viewer: begins with the newest segment and fetches each next one. What it got, by number."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    got = {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        good, text = await get(reader, writer, "/main/index.json")
        assert good
        listed = [segment["number"] for segment in json.loads(text)["segments"]]
        for number in listed if got else listed[-1:]:
            if number not in got and (not got or number > max(got)):
                good, got[number] = await get(reader, writer, f"/main/{number:08}.cairn")
                assert good
        await asyncio.sleep(0.5)
    writer.close()
    return got


async def watch_all(port, seconds):
    return await asyncio.gather(*(watch(port, seconds) for _ in range(VIEWERS)))


def test_two_hundred_viewers_cost_the_server_nothing(kit, web):
    server = kit.serve("--publish", "live", "--stats-interval", 1)
    wait_for_segments(kit, server, 1)
    viewers = asyncio.run(watch_all(web, 5))
    server.stop()
    assert server.events("stats")[-1]["broadcast_failures"] == 0
    for got in viewers:
        assert sorted(got) == list(range(min(got), max(got) + 1)) and len(got) >= 2
    # All received the same bytes, and these verify.
    newest = max(viewers, key=len)
    for number, content in newest.items():
        assert all(got.get(number, content) == content for got in viewers)
        (kit.folder / "seen.cairn").write_bytes(content)
        kit.run("cairn-replay", "verify", "seen.cairn")
