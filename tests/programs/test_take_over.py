# SPDX-License-Identifier: MIT
"""A cairnd takes the place of another one while clients play."""

import json
import os
import signal
import socket
import struct
import threading
import time
import urllib.request

import pytest
from conftest import Server


def take_over(kit, server, *flags, code=None):
    """The cairnd that follows `server`, when it serves; with `code` it is expected to end with it."""
    follower = Server(kit, "--take-over", "hand", "--hand-over", "hand", *flags)
    kit.servers.append(follower)
    if code is None:
        follower.wait_until_listening()
        assert server.process.wait(30) == 0, server.log.read_text()
    else:
        assert follower.process.wait(30) == code, follower.log.read_text()
    return follower


def bots(kit, server, *flags, seconds=5):
    return [kit.start("cairn-bot", "--key", kit.key(), "--server", server.address, "--mode", mode, "--clients", 4,
                      "--client-id", 100 * (number + 1), "--inputs", "random", "--seconds", seconds, *flags)
            for number, mode in enumerate(("predict", "lockstep", "interpolate"))]


def results(started):
    out = []
    for bot in started:
        text, _ = bot.communicate(timeout=60)
        assert bot.returncode == 0, text
        out.append(json.loads(text.splitlines()[-1]))
    return out


def check(found):
    for result in found:
        assert result["played"] == 4 and result["failed"] == 0
        assert result["roots_differed"] == 0 and result["unusable"] == 0
        assert result["keyframes"] in (0, 4)  # no client was sent another one
    assert found[0]["roots_compared"] > 200 and found[1]["roots_compared"] > 200
    assert found[2]["deltas"] > 60


def test_clients_notice_nothing(kit):
    server = kit.serve("--hand-over", "hand", "--record", "game.cairn", "--web", "127.0.0.1:0", scene="stack10")
    playing = bots(kit, server)
    server.wait_for("client_playing", 12)
    assert (kit.folder / "hand").stat().st_mode & 0o077 == 0
    address = server.wait_for("web")[0]["address"]
    second = take_over(kit, server, "--record", "game.cairn", "--web", address)
    assert second.address == server.address
    assert server.wait_for("hand_over_began") and server.events("handed_over")[0]["us"] < 500000
    assert second.events("took_over")[0]["ticks"] >= 50  # of the second in which both step
    assert second.wait_for("web")[0]["address"] == address  # when the first one has ended
    third = take_over(kit, second, "--record", "game.cairn")
    check(results(playing))
    assert not server.events("client_left") and not second.events("client_left")
    third.stop()
    for name in ("game.cairn", "game.cairn.1", "game.cairn.2"):
        assert "every state hash agrees" in kit.run("cairn-replay", "verify", name).out
    assert not (kit.folder / "hand").exists()


TICK_US = 16667


class Machine:
    """How long a process that does nothing was kept from running: what a loaded machine does to everybody."""

    def __enter__(self):
        self.longest_us = 0
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        while not self.ends.is_set():
            before = time.monotonic()
            time.sleep(0.001)
            self.longest_us = max(self.longest_us, int((time.monotonic() - before - 0.001) * 1e6))

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()


@pytest.fixture
def ahead_of_others():
    """What the test starts runs before other programs of the machine, if the system permits it."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        pass
    yield
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


@pytest.mark.parametrize("mode", ["lockstep", "interpolate"])
def test_two_thousand_bodies_and_two_hundred_clients_wait_for_one_tick_at_most(kit, ahead_of_others, mode):
    kit.skip_if_sanitized("steps 2,000 bodies too slowly")
    (kit.folder / "stacks.json").write_text(
        '{"name": "stacks", "rules": "sandbox", "body_capacity": 2304, "shape_capacity": 2304, "contact_capacity": 16384, "bodies":'
        ' [{"kind": "static", "shapes": [{"kind": "half_space", "friction": 0.5}]}, {"position": [-19, 0.5, -19],'
        ' "grid_count": [20, 5, 20], "grid_spacing": [2, 1, 2], "shapes": [{"kind": "box", "half_extents": [0.5, 0.5, 0.5]}]}]}')
    flags = "--clients-max", 256, "--players-max", 200, "--stats-interval", 1
    server = kit.serve("--hand-over", "hand", *flags, scene="stacks.json")
    with Machine() as machine:
        load = kit.start("cairn-load", "--key", kit.key(), "--server", server.address, "--clients", 200, "--join-seconds", 1,
                         "--seconds", 6, "--mode", mode, "--inputs", "random", "--json")
        while not any(line["clients"] == 200 for line in server.events("stats")):
            assert load.poll() is None, load.communicate()[0]
            time.sleep(0.05)
        follower = take_over(kit, server, "--scene", "stacks.json", *flags)
        text, _ = load.communicate(timeout=60)
    assert load.returncode == 0, text
    found = json.loads(text.splitlines()[-1])
    still_us = server.events("handed_over")[0]["us"]
    print(f"{mode}: {still_us} us without a step, latest tick {found['late_us']['max']} us, the machine stood {machine.longest_us} us")
    assert found["playing"] == 200
    assert not server.events("client_left") and not server.events("hand_over_failed")
    # A loaded machine keeps each of the two processes from running, and makes ticks late without a hand-over.
    assert still_us < TICK_US + 3 * machine.longest_us
    assert found["late_us"]["max"] < TICK_US or machine.longest_us > TICK_US / 4
    follower.stop()


def lateness(address):
    """Ticks, and how many of them were at most 67 ms late."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()

    def value(sample):
        return int(next(line for line in lines if line.startswith(sample)).rsplit(" ", 1)[1])

    return value("cairn_room_tick_late_seconds_count"), value('cairn_room_tick_late_seconds_bucket{room="main",le="0.067108864"}')


def test_no_tick_waits_for_the_files_of_a_page(kit, ahead_of_others):
    (kit.folder / "page").mkdir()
    for number in range(60):
        (kit.folder / f"page/{number}").write_bytes(os.urandom(1 << 20))
    page = "--web-root", "page"
    server = kit.serve("--hand-over", "hand", "--web", "127.0.0.1:0", *page, scene="stack10")
    address = server.wait_for("web")[0]["address"]
    # A page that cannot be read is found while the first process goes on.
    (kit.folder / "wrong").mkdir()
    with (kit.folder / "wrong/large").open("wb") as large:
        large.truncate((64 << 20) + 1)
    follower = take_over(kit, server, "--web", address, "--web-root", "wrong", code=1)
    assert "the page has more than 512 files or 64 MiB" in follower.log.read_text()
    assert server.process.poll() is None
    with Machine() as machine:
        follower = take_over(kit, server, "--web", address, *page)
        follower.wait_for("web")
        time.sleep(0.5)
    ticks, soon = lateness(address)
    assert ticks > 20
    assert soon == ticks or machine.longest_us > 20000
    follower.stop()


def test_another_build_is_found_and_the_old_one_goes_on(kit):
    """Rules of the same name and version that step otherwise."""
    modules = kit.programs.parent / "lib"
    (kit.folder / "arena.json").write_text(
        '{"name": "disc", "rules": "arena", "body_capacity": 80, "shape_capacity": 80, "contact_capacity": 400, "bodies":'
        ' [{"kind": "static", "shapes": [{"kind": "box", "half_extents": [6, 0.5, 6], "position": [0, -0.5, 0]}]}]}')
    server = kit.serve("--hand-over", "hand", "--rules", modules / "arena.so", scene="arena.json")
    playing = bots(kit, server, "--rules", modules / "arena.so")
    server.wait_for("client_playing", 12)
    follower = take_over(kit, server, "--rules", modules / "arena_other.so", "--scene", "arena.json", code=1)
    assert "room main differs after tick " in follower.log.read_text()
    said = server.wait_for("hand_over_failed")[0]["detail"]
    assert "room main differs after tick " in said and "bodies" in said
    third = take_over(kit, server, "--rules", modules / "arena.so", "--scene", "arena.json")  # the same build follows
    check(results(playing))
    third.stop()


def ask(kit, bytes_):
    with socket.socket(socket.AF_UNIX) as asker:
        asker.settimeout(10)
        asker.connect(str(kit.folder / "hand"))
        asker.sendall(bytes_)
        answer = b""
        while piece := asker.recv(4096):
            answer += piece
        return answer


def test_who_asks_wrongly_is_refused_and_told_why(kit):
    kit.refuses("cairnd", "--key-file", kit.key(), "--take-over", "nothing", code=1, says="nothing: No such file")
    kit.refuses("cairnd", "--dev", "--take-over", "hand", code=1, says="--take-over: the key of the other process")
    kit.refuses("cairnd", "--key-file", kit.key(), "--agones", "--hand-over", "hand", code=1, says="--agones: ")
    server = kit.serve("--hand-over", "hand", scene="stack10")
    head = struct.Struct("<IIQQ")
    for number, wrong in enumerate((b"x" * 24, head.pack(1, 0x6f686163, 12, 1) + b"y" * 12,
                                    head.pack(3, 0x6f686163, 0, 0), head.pack(1, 0x6f686163, 1 << 40, 0))):
        assert b"malformed" in ask(kit, wrong)
        server.wait_for("hand_over_failed", number + 1)
    assert server.process.poll() is None
    again = Server(kit, "--hand-over", "hand")  # somebody listens there
    assert again.process.wait(30) == 1 and "Address already in use" in again.log.read_text()
    follower = take_over(kit, server)
    follower.kill()
    after = kit.serve("--hand-over", "hand", scene="stack10")  # a file that an ended process left is replaced
    after.stop()


def test_a_follower_that_dies_changes_nothing(kit):
    server = kit.serve("--hand-over", "hand", scene="stack10")
    playing = bots(kit, server, seconds=6)
    server.wait_for("client_playing", 12)
    for wait_s in (0.0, 0.02, 0.05, 0.3, 0.8):
        count = len(server.events("hand_over_began"))
        follower = Server(kit, "--take-over", "hand")
        server.wait_for("hand_over_began", count + 1)
        time.sleep(wait_s)
        os.kill(follower.process.pid, signal.SIGKILL)
        follower.process.wait()
        server.wait_for("hand_over_failed", count + 1)
    assert "the new process is gone" in server.events("hand_over_failed")[-1]["detail"]
    take_over(kit, server).wait_for("took_over")
    check(results(playing))


def test_systemd_knows_of_the_follower_before_the_first_process_ends(kit, monkeypatch):
    """The test is systemd: with NotifyAccess=all it believes MAINPID= of any process of the unit."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(kit.folder / "notify"))
        manager.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        manager.settimeout(20)
        monkeypatch.setenv("NOTIFY_SOCKET", str(kit.folder / "notify"))

        def notice():
            text, control, _, _ = manager.recvmsg(256, socket.CMSG_SPACE(12))
            return text.decode(), struct.unpack("iII", control[0][2])[0]

        server = kit.serve("--hand-over", "hand", scene="stack10")
        assert notice() == ("READY=1", server.process.pid)
        # What a shell in the unit leaves to the follower: it names the first process.
        monkeypatch.setenv("WATCHDOG_USEC", "200000")
        monkeypatch.setenv("WATCHDOG_PID", str(server.process.pid))
        follower = Server(kit, "--take-over", "hand", "--hand-over", "hand")
        kit.servers.append(follower)
        follower.wait_until_listening()
        os.kill(follower.process.pid, signal.SIGSTOP)  # somewhere near its notice: the first one must not end before it
        time.sleep(0.3)
        manager.setblocking(False)
        try:
            told = notice()
        except BlockingIOError:
            assert server.process.poll() is None
            told = None
        os.kill(follower.process.pid, signal.SIGCONT)
        manager.settimeout(20)
        assert (told or notice()) == (f"MAINPID={follower.process.pid}", follower.process.pid)
        assert notice() == ("READY=1", follower.process.pid)
        assert server.process.wait(30) == 0
        assert [notice() for _ in range(3)] == [("WATCHDOG=1", follower.process.pid)] * 3
        follower.stop()


def test_a_paused_room_and_several_rooms_are_handed_over(kit):
    server = kit.serve("--hand-over", "hand", "--control", "--room", "second=stack10", "--room", "third=demo", scene="stack10")
    kit.run("cairn-ctl", "--key", kit.key(), "--server", server.address, "pause")
    playing = bots(kit, server, "--room", "third")
    server.wait_for("client_playing", 12)
    follower = take_over(kit, server, "--control", "--room", "second=stack10", "--room", "third=demo")
    check(results(playing))
    rooms = kit.run("cairn-ctl", "--key", kit.key(), "--server", follower.address, "rooms").out
    assert "main" in rooms and "second" in rooms and "third" in rooms
    kit.run("cairn-ctl", "--key", kit.key(), "--server", follower.address, "resume")
    follower.stop()


def test_a_server_that_ends_is_not_handed_over(kit):
    server = kit.serve("--hand-over", "hand", "--drain-seconds", 30, scene="stack10")
    bot = kit.start("cairn-bot", "--key", kit.key(), "--server", server.address, "--seconds", 4)
    server.wait_for("client_playing")
    server.process.terminate()
    server.wait_for("ends_soon")
    follower = take_over(kit, server, code=1)
    assert "the server is shutting down" in follower.log.read_text()
    bot.communicate(timeout=30)
    assert server.process.wait(30) == 0
