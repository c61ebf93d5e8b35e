# SPDX-License-Identifier: MIT
"""cairnd: what it answers to its flags, and a run that serves, records and drains."""

import fcntl
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import time

import pytest

KEY = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
SCENE = '{"name": "probe", "rules": "sandbox", "bodies": [{"kind": "static", "shapes": [{"kind": "half_space"}]}]}'


@pytest.fixture
def folder(kit):
    (kit.folder / "probe.json").write_text(SCENE)
    (kit.folder / "broken.json").write_text('{"name": "broken",\n  "bodies": [}')
    (kit.folder / "key.txt").write_text(KEY + "\n")
    (kit.folder / "key.txt").chmod(0o600)
    (kit.folder / "open.txt").write_text(KEY + "\n")
    (kit.folder / "open.txt").chmod(0o640)
    (kit.folder / "short.txt").write_text("0001\n")
    (kit.folder / "short.txt").chmod(0o600)
    return kit.folder


@pytest.mark.parametrize("flags, says", [
    (["--key-file", "key.txt"], "would run scene demo"),
    (["--key-file", "key.txt", "--scene", "probe.json"],
     "would run scene probe (1 bodies, sandbox) at 60 Hz, snapshots at 20 Hz, for 64 clients on 127.0.0.1:40000"),
    (["--key-file", "key.txt", "--scene", "probe.json", "--tick-rate", "10"], "at 10 Hz, snapshots at 10 Hz"),
])
def test_a_check_prints_what_would_run(kit, folder, flags, says):
    assert says in kit.run("cairnd", "--check", *flags).out


def test_the_version_names_protocol_and_simulation(kit):
    assert kit.run("cairnd", "--version").out.startswith("cairnd 0.1.0, protocol 5, simulation ")


@pytest.mark.parametrize("flags, says", [
    (["--check"], "--key-file: a private key is needed"),
    (["--check", "--key-file", "key.txt", "--tick-rate", "500"], "--tick-rate 500: must be a whole number in [10, 240]"),
    (["--check", "--key-file", "key.txt", "--scene", "nowhere"],
     "--scene nowhere: not a file's name and not built in; built in are"),
    (["--check", "--key-file", "key.txt", "--scene", "./nowhere.json"], "./nowhere.json: No such file"),
    (["--check", "--key-file", "key.txt", "--room", "a b=demo"], "a b: a room's name has 1 to 31 letters, digits"),
    (["--check", "--key-file", "nowhere.txt"], "--key-file nowhere.txt: No such"),
    (["--check", "--key", KEY], "--key: every user can read the command line; set the variable CAIRN_KEY, or use a file"),
    (["--check", "--key-file", KEY], "--key-file ...: every user can read a key in the command line"),
    (["--check", "--key-file", "open.txt"], "--key-file open.txt: others than its owner may read this private key: chmod 600"),
    (["--check", "--key-file", "short.txt"], "--key-file short.txt: must hold 64 hexadecimal digits"),
    (["--key-file", "key.txt", "--listen", "192.0.2.1:1", "--scene", "probe.json"], "192.0.2.1:1: bind: "),
    (["--key-file", "key.txt", "--listen", "127.0.0.1:0", "--record", "/nowhere/at/all"], "/nowhere/at/all: No such"),
])
def test_a_configuration_that_cannot_run_is_refused(kit, folder, flags, says):
    kit.refuses("cairnd", *flags, code=1, says=f"cairnd: {says}")


def test_a_scene_that_is_wrong_is_refused_with_its_place(kit, folder):
    flags = ["--check", "--key-file", "key.txt", "--scene", "broken.json"]
    kit.refuses("cairnd", *flags, code=1, says="broken.json:2:14: error: a value is expected")


def test_a_server_of_two_rooms_records_both_and_drains(kit, folder):
    server = kit.serve("--record", "main.cairn", "--room", "side=stack10,rate=30,record=side.cairn", scene="probe.json")
    shown, exact = (kit.start("cairn-bot", "--key", kit.key(), "--server", server.address, "--seconds", 20,
                              "--client-id", client, "--mode", mode)
                    for client, mode in ((1, "interpolate"), (2, "lockstep")))
    server.wait_for("client_playing", 2)
    time.sleep(1)
    server.stop()
    played = []
    for bot in (shown, exact):
        out, _ = bot.communicate(timeout=30)
        assert bot.returncode == 1 and "the server closed the connection" in out
        played.append(json.loads(out.splitlines()[0]))
    assert played[0]["deltas"] >= 5
    assert played[1]["roots_compared"] >= 20 and played[1]["roots_differed"] == 0
    for name in ("client_joined", "client_playing", "draining", "client_left", "ended"):
        assert server.events(name), name
    last = server.events("stats")[-1]
    assert last["rooms"] == 2 and last["roots_differed"] == 0
    for name in ("main.cairn", "side.cairn"):
        assert (folder / name).stat().st_size > 1000


def test_a_log_that_nobody_reads_stops_no_tick_and_no_end(kit, folder):
    """Sixteen rooms' statistics fill the pipe of one page within two seconds."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    rooms = [word for i in range(15) for word in ("--room", f"r{i}=probe.json,rate=30")]
    kit.signing_key()
    server = subprocess.Popen(
        [kit.programs / "cairnd", "--listen", "127.0.0.1:0", "--key-file", kit.key(), "--log", "json", "--scene", "probe.json",
         "--log-level", "debug", "--stats-interval", "1", "--token-lifetime", "0", "--record", "unread.cairn",
         "--record-key", "sign", *rooms],
        cwd=kit.folder, stdout=writer)
    try:
        os.close(writer)
        text = ""
        while '"listening"' not in text or not text.endswith("\n"):
            letter = os.read(reader, 1)
            assert letter != b"", f"the server ended: {text}"
            text += letter.decode()
        address = json.loads(text.splitlines()[-1])["address"]
        time.sleep(3)
        kit.run("cairn-bot", "--key", kit.key(), "--server", address, "--seconds", 1)
        server.terminate()
        assert server.wait(5) == 0
    finally:
        server.kill()
        server.wait()
        os.close(reader)
    ticks = kit.run("cairn-replay", "info", "unread.cairn", "--json").json["ticks"]
    assert ticks > 200  # of at least 240
    kit.run("cairn-replay", "verify", "unread.cairn", "--key", "public")


def limited(kit, limit, value, *flags):
    """A server of a few seconds with a limit of its process; its log."""
    command = [kit.programs / "cairnd", "--listen", "127.0.0.1:0", "--key-file", kit.key(), "--log", "json",
               "--token-lifetime", "0", "--stats-interval", "1", *map(str, flags)]
    done = subprocess.run(command, cwd=kit.folder, capture_output=True, text=True, timeout=30,
                          preexec_fn=lambda: resource.setrlimit(limit, (value, value)))
    return done, [json.loads(line) for line in done.stdout.splitlines()]


def named(lines, name):
    return [line for line in lines if line["event"] == name]


def test_a_recording_that_meets_a_limit_of_size_continues_in_files_that_verify(kit, folder):
    server = kit.serve("--tick-rate", 240, "--record", "small.cairn", "--core-dumps", scene="stack10")
    before = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    # The next chunk does not fit, and no first state; the log does. It is tried again each second.
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (600, before[1]))
    assert "File too large" in server.wait_for("recording_error")[0]["detail"]
    assert server.wait_for("recording_failed")
    time.sleep(2.2)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, before)
    assert server.wait_for("recording_resumed")
    time.sleep(1)
    server.process.terminate()
    assert server.process.wait(20) == 3
    last = server.events("stats")[-1]
    files = sorted(folder.glob("small.cairn*"))
    assert [path.name for path in files] == ["small.cairn", "small.cairn.1"]
    assert last["recording_files"] == 2 and last["recording_failures"] >= 2
    assert len(server.events("recording_error")) == 1
    ticks = 0
    for path in files:
        kit.run("cairn-replay", "verify", path.name)
        ticks += kit.run("cairn-replay", "info", path.name, "--json").json["ticks"]
    assert ticks + last["recording_ticks_lost"] == last["tick"] and ticks > 0


def test_a_recording_that_cannot_begin_is_refused_at_the_start(kit, folder):
    done, _ = limited(kit, resource.RLIMIT_FSIZE, 100, "--record", "never.cairn", "--seconds", 1)
    assert done.returncode == 1 and "never.cairn: File too large (write)" in done.stderr
    assert not list(folder.glob("never.cairn*"))


def test_a_room_whose_file_cannot_be_opened_is_reported(kit, folder):
    kit.run("cairn-token", "keygen", "--out", "key")
    server = kit.serve("--record", "main.cairn", "--control", "--core-dumps", scene="probe.json")
    # No further descriptor.
    pid = server.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (len(os.listdir(f"/proc/{pid}/fd")), before[1]))
    kit.run("cairn-ctl", "--key", "key", "--server", server.address, "room-create", "more", "demo")
    assert "Too many open files" in server.wait_for("recording_error")[0]["detail"]
    resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
    assert [event["room"] for event in server.wait_for("recording_resumed")] == ["more"]
    server.process.terminate()
    assert server.process.wait(10) == 3
    for name in ("main.cairn", "main.cairn.more"):
        kit.run("cairn-replay", "verify", name)


def test_two_rooms_on_one_file_are_refused(kit, folder):
    kit.refuses("cairnd", "--key-file", "key.txt", "--listen", "127.0.0.1:0", "--record", "one.cairn", "--room",
                "side=demo,record=./one.cairn", code=1, says="./one.cairn: two rooms cannot be recorded to one file")


def test_a_start_that_fails_leaves_no_file(kit, folder):
    kit.run("cairnd", "--key-file", "key.txt", "--listen", "127.0.0.1:0", "--scene", "broken.json", "--record", "one.cairn", code=1)
    assert not list(folder.glob("one.cairn*"))


def test_an_operator_cannot_overwrite_a_recording(kit, folder):
    server = kit.serve("--control", "--record", "world.cairn", "--room", "lobby=probe.json", scene="probe.json")
    (folder / "world.cairn.bak").write_text("mine")
    ctl = ["cairn-ctl", "--key", kit.key(), "--server", server.address]
    for room in ("bak", "more", "more"):
        kit.run(*ctl, "room-create", room, "demo")
        time.sleep(0.3)
        kit.run(*ctl, "room-destroy", room)
    server.stop()
    assert (folder / "world.cairn.bak").read_text() == "mine"
    for name in ("world.cairn", "world.cairn.bak.1", "world.cairn.more", "world.cairn.more.1"):
        kit.run("cairn-replay", "verify", name)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_a_signal_drains(kit, folder, number):
    kit.signing_key()
    server = kit.serve("--record", "world.cairn", "--record-key", "sign", scene="probe.json")
    server.process.send_signal(number)
    assert server.process.wait(5) == 0
    kit.run("cairn-replay", "verify", "world.cairn", "--key", "public")


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("ss") is None, reason="root alone may abort a socket, with ss of iproute2")
def test_a_socket_with_an_error_is_received_from(kit, folder):
    """libuv stops the handle of a descriptor that has an error."""
    # A port that the system chose would be lost with the error.
    server = kit.serve("--listen", f"127.0.0.1:{free_port('127.0.0.1')}", scene="probe.json")
    # An error that the server gets when it receives or sends does not stop the handle. So there are several errors.
    for _ in range(10):
        aborted = subprocess.run(["ss", "-K", "-u", "-a", "src", server.address], capture_output=True, text=True)
        if server.address not in aborted.stdout:
            pytest.skip("this kernel does not abort sockets")
        time.sleep(0.05)
    # It joins through the socket of unknown peers, and plays through that of clients.
    assert kit.bot(server, "--seconds", 2).json["loss"] == 0
    server.stop()


def test_the_end_comes_in_time_without_traffic(kit, folder):
    """By the server's log: how long a busy machine takes to start a process and to end it does not count."""
    server = kit.serve("--seconds", 1, scene="none")
    assert server.process.wait(20) == 0
    (begin,), (end,) = server.events("listening"), server.events("ended")
    assert 0.9 < (server.when(end) - server.when(begin)).total_seconds() < 1.3


def test_a_key_comes_from_a_descriptor_or_a_variable(kit, folder):
    with (folder / "key.txt").open() as key:
        command = [kit.programs / "cairnd", "--check", "--key-file", f"/dev/fd/{key.fileno()}"]
        assert subprocess.run(command, pass_fds=[key.fileno()], capture_output=True, timeout=30).returncode == 0
    reader, writer = os.pipe()
    os.write(writer, KEY.encode())
    os.close(writer)
    command = [kit.programs / "cairnd", "--check", "--key-file", f"/dev/fd/{reader}"]
    assert subprocess.run(command, pass_fds=[reader], capture_output=True, timeout=30).returncode == 0
    os.close(reader)
    command = [kit.programs / "cairnd", "--check"]
    assert subprocess.run(command, env={"CAIRN_KEY": KEY}, capture_output=True, timeout=30).returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root reads the memory's files of a program that is not dumpable")
@pytest.mark.parametrize("source", ["variable", "file"])
def test_no_core_file_and_one_copy_of_the_key_in_memory(kit, folder, source):
    kit.skip_if_sanitized("keeps what was freed")
    kit.run("cairn-token", "keygen", "--out", "own.key")
    key = (folder / "own.key").read_text().strip()
    server = subprocess.Popen([kit.programs / "cairnd", "--listen", "127.0.0.1:0", "--scene", "probe.json",
                               *(["--key-file", "own.key"] if source == "file" else [])], cwd=kit.folder,
                              env={**os.environ, **({"CAIRN_KEY": key} if source == "variable" else {})}, stdout=subprocess.PIPE, text=True)
    assert "listening" in server.stdout.readline()
    proc = pathlib.Path(f"/proc/{server.pid}")
    assert key not in (proc / "environ").read_bytes().decode()
    assert "Max core file size        0                    0" in (proc / "limits").read_text()
    maps = [line.split() for line in (proc / "maps").read_text().splitlines()]
    found = []
    with (proc / "mem").open("rb", 0) as memory:
        for line in maps:
            first, last = (int(part, 16) for part in line[0].split("-"))
            if line[1].startswith("rw") and last - first < 64 << 20:
                memory.seek(first)
                block = memory.read(last - first)
                hits = block.count(key.encode()) + block.count(bytes.fromhex(key))
                found += [" ".join(line)] * hits
    server.terminate()
    assert server.wait(10) == 0
    # The endpoint's own copy, which it needs.
    assert len(found) == 1, found


def free_port(host):
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


def listening(kit, *flags):
    server = subprocess.Popen([kit.programs / "cairnd", "--key-file", kit.key(), "--token-lifetime", "0", "--scene", "probe.json",
                               *flags], cwd=kit.folder, stdout=subprocess.PIPE, text=True)
    assert "listening" in server.stdout.readline()
    return server


def test_one_socket_takes_both_versions_of_ip(kit, folder):
    port = free_port("::")
    server = listening(kit, "--listen", f"[::]:{port}", "--public", f"127.0.0.1:{port}", "--public", f"[::1]:{port}")
    for address in (f"127.0.0.1:{port}", f"[::1]:{port}"):
        kit.run("cairn-bot", "--key", kit.key(), "--server", address, "--seconds", 1)
    server.terminate()
    assert server.wait(10) == 0


def link_local():
    """The first link-local address of this machine, with the index of its interface."""
    for line in pathlib.Path("/proc/net/if_inet6").read_text().splitlines():
        digits, index, _, scope, flags, _ = line.split()
        if scope == "20" and int(flags, 16) & 0x40 == 0:  # not tentative
            return bytes.fromhex(digits), int(index, 16)
    return None, 0


def test_a_link_local_peer_gets_answers(kit, folder):
    host, index = link_local()
    if host is None:
        pytest.skip("this machine has no link-local address")
    named = socket.inet_ntop(socket.AF_INET6, host[:4] + index.to_bytes(4, "big") + host[8:])
    port = free_port("::")
    server = listening(kit, "--listen", f"[{named}]:{port}")
    kit.run("cairn-bot", "--key", kit.key(), "--server", f"[{named}]:{port}", "--seconds", 1)
    server.terminate()
    assert server.wait(10) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone may become a user without other processes")
def test_rooms_are_stepped_without_threads_under_a_pids_limit(kit, folder):
    """Three threads: the loop's, the log's and the one for files. It was aborted by its library."""
    # The kernel counts the processes of a user: a run of this test beside another one needs a user of its own.
    user = 10000 + os.getpid() % 50000

    def become_limited():
        resource.setrlimit(resource.RLIMIT_NPROC, (3, 3))
        os.setuid(user)

    done = subprocess.run([kit.programs / "cairnd", "--listen", "127.0.0.1:0", "--log", "json", "--scene", "stack10", "--room",
                           "side=thousand", "--seconds", "2", "--stats-interval", "1"], cwd="/", env={**os.environ, "CAIRN_KEY": KEY},
                          capture_output=True, text=True, timeout=30, preexec_fn=become_limited)
    assert done.returncode == 0, done.stderr
    last = [json.loads(line) for line in done.stdout.splitlines() if '"stats"' in line][-1]
    assert last["threads_failed"] >= 1 and last["handovers_failed"] >= 1 and last["tick"] >= 30


def test_dev_prints_a_command_line_that_works(kit):
    """--dev needs no key, stays on loopback, and says that it is insecure."""
    server = kit.start("cairnd", "--dev", "--listen", "127.0.0.1:0", "--seconds", "20")
    lines = []
    while not any("cairn-token issue" in line for line in lines):
        lines.append(server.stdout.readline())
        assert lines[-1], lines
    assert any("insecure" in line for line in lines)
    command = next(line.split() for line in lines if line.strip().startswith("cairn-bot"))
    kit.run(*command, "--seconds", "1")
    server.terminate()
    assert server.wait(10) == 0
    assert not (kit.folder / command[2]).exists()
    kit.refuses("cairnd", "--dev", "--listen", "192.0.2.1:0", code=1, says="is not loopback")


PROGRAMS = ["cairnd", "cairn-token", "cairn-ctl", "cairn-bot", "cairn-load", "cairn-replay", "cairn-rules", "cairn-demo"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_manual_and_the_completion_name_every_flag(kit, program):
    summary = kit.run(program, "--help").out
    flags = {word for line in summary.splitlines() for word in line.split()[:1] if word.startswith("--")}
    manual = kit.run(program, "--manual").out
    completion = kit.run(program, "--completion").out
    assert manual.startswith(f".TH {program} 1 ") and ".SH OPTIONS" in manual
    assert flags and all(flag.replace("-", "\\-") in manual and flag in completion for flag in flags)
    script = completion + f"COMP_WORDS=({program} --he) COMP_CWORD=1\n_cairn_complete_{program} {program} --he\n"
    done = subprocess.run(["bash", "-c", script + 'echo "${COMPREPLY[*]}"'], capture_output=True, text=True, check=True)
    assert done.stdout == "--help\n" and done.stderr == ""
