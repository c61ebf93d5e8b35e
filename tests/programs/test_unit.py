# SPDX-License-Identifier: MIT
"""packaging/systemd/cairnd.service: the server runs within its list of system calls, and its exposure is low. The AppArmor
profile and the rotation of logs are read by their own programs."""

import ctypes
import errno
import platform
import re
import shutil
import signal
import struct
import subprocess
import time
import urllib.request

import pytest

from conftest import SOURCE

UNIT = SOURCE / "packaging/systemd/cairnd.service"
# What systemd allows with every list.
ALWAYS = "execve exit exit_group getrlimit restart_syscall rt_sigreturn sigreturn".split()
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
KILL, ALLOW = 0x80000000, 0x7FFF0000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2


def allowed():
    lines = re.findall(r"^SystemCallFilter=(.*)$", UNIT.read_text(), re.M)
    return [name for line in lines for name in line.split()]


def numbers():
    """The numbers of the system calls, as the compiler's headers have them."""
    text = subprocess.run(["cc", "-E", "-dM", "-x", "c", "-"], input="#include <sys/syscall.h>\n#include <asm/unistd.h>\n",
                          capture_output=True, text=True, check=True).stdout
    return {name: int(number) for name, number in re.findall(r"^#define __NR_(\w+) (\d+)$", text, re.M)}


def filter_of(names, otherwise=KILL):
    """A program of classic BPF that kills the process at any other call, or does something else."""
    known = numbers()
    calls = sorted({known[name] for name in names if name in known})
    code = [struct.pack("HBBI", 0x20, 0, 0, 4), struct.pack("HBBI", 0x15, 1, 0, ARCHITECTURES[platform.machine()]),
            struct.pack("HBBI", 0x06, 0, 0, KILL), struct.pack("HBBI", 0x20, 0, 0, 0)]
    for i, call in enumerate(calls):
        code.append(struct.pack("HBBI", 0x15, len(calls) - i, 0, call))
    code += [struct.pack("HBBI", 0x06, 0, 0, otherwise), struct.pack("HBBI", 0x06, 0, 0, ALLOW)]
    return b"".join(code)


def install(program):
    libc = ctypes.CDLL(None, use_errno=True)
    block = ctypes.create_string_buffer(program)
    head = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(block))
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, head, 0, 0) == 0


def run_server(kit, names):
    """A server that does what a server does: two rooms, players, an operator, recordings, a capsule's folder."""
    kit.signing_key()
    program = filter_of(names)
    command = [kit.programs / "cairnd", "--listen", "127.0.0.1:0", "--key-file", kit.key(), "--log", "json", "--scene", "stack10", "--io-threads", 2,
               "--room", "side=thousand,record=side.cairn", "--record", "main.cairn", "--record-key", "sign", "--record-sync",
               "chunk", "--control", "--capsules", ".", "--token-lifetime", "0", "--stats-interval", "1", "--web", "127.0.0.1:0", "--web-root", "."]
    server = subprocess.Popen([str(word) for word in command], cwd=kit.folder, stdout=subprocess.PIPE, text=True,
                              close_fds=False, preexec_fn=lambda: install(program))
    try:
        for line in server.stdout:
            if '"event":"listening"' in line:
                address = re.search(r'"address":"([^"]+)"', line).group(1)
            if '"event":"web"' in line:
                web = re.search(r'"address":"([^"]+)"', line).group(1)
                assert urllib.request.urlopen(f"http://{web}/rooms", timeout=20).status == 200
                for mode in ("interpolate", "predict"):
                    kit.run("cairn-bot", "--key", kit.key(), "--server", address, "--seconds", 1, "--mode", mode)
                for verb in (["save", "one"], ["load", "one"], ["seek", "3"], ["room-create", "more", "demo"], ["reset"]):
                    kit.run("cairn-ctl", "--key", kit.key(), "--server", address, *verb)
                time.sleep(0.5)
                server.terminate()
        return server.wait(20)
    finally:
        server.kill()
        server.wait()


needs_seccomp = pytest.mark.skipif(platform.machine() not in ARCHITECTURES or shutil.which("cc") is None,
                                   reason="needs a compiler's headers of a known machine")


@needs_seccomp
def test_a_server_runs_within_the_list_of_system_calls(kit):
    kit.skip_if_sanitized("makes calls of its own")
    assert run_server(kit, allowed() + ALWAYS) == 0
    for name in ("main.cairn", "side.cairn"):
        kit.run("cairn-replay", "verify", name)


@needs_seccomp
def test_a_server_takes_the_place_of_another_within_the_list(kit):
    kit.skip_if_sanitized("makes calls of its own")
    program = filter_of(allowed() + ALWAYS)
    command = [kit.programs / "cairnd", "--listen", "127.0.0.1:0", "--key-file", kit.key(), "--log", "json", "--scene", "stack10", "--io-threads", 2,
               "--hand-over", "hand"]
    started = []

    def start(*flags):
        started.append(subprocess.Popen([str(word) for word in (*command, *flags)], cwd=kit.folder, stdout=subprocess.PIPE, text=True,
                                        close_fds=False, preexec_fn=lambda: install(program)))
        for line in started[-1].stdout:
            if '"event":"listening"' in line:
                return re.search(r'"address":"([^"]+)"', line).group(1)
        raise AssertionError(f"ended with {started[-1].wait(20)}")

    try:
        address = start()
        bot = kit.start("cairn-bot", "--key", kit.key(), "--server", address, "--seconds", 4, "--mode", "predict")
        assert start("--take-over", "hand") == address
        assert started[0].wait(20) == 0
        text, _ = bot.communicate(timeout=30)
        assert bot.returncode == 0, text
        started[1].terminate()
        assert started[1].wait(20) == 0
    finally:
        for server in started:
            server.kill()
            server.wait()


@needs_seccomp
def test_a_call_that_is_not_listed_is_noticed(kit):
    kit.skip_if_sanitized("makes calls of its own")
    names = [name for name in allowed() if name != "renameat2"] + ALWAYS
    assert run_server(kit, names) == -signal.SIGSYS


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_the_exposure_is_low(kit):
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=15", UNIT], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-400:] + done.stderr


@needs_seccomp
def test_a_process_that_may_not_have_threads_says_so(kit):
    """As under a pids limit. It was aborted by its library when it had two rooms."""
    kit.skip_if_sanitized("starts a thread of its own")
    refused = 0x00050000 | errno.EAGAIN
    names = [name for name in allowed() if name not in ("clone", "clone3")]
    program = filter_of(names + ALWAYS, refused)
    done = subprocess.run([kit.programs / "cairnd", "--listen", "127.0.0.1:0", "--key-file", kit.key(), "--room", "side=demo",
                           "--seconds", "1"], cwd=kit.folder, capture_output=True, text=True, timeout=30, close_fds=False,
                          preexec_fn=lambda: install(program))
    assert done.returncode == 1
    assert done.stderr == "cairnd: the thread that writes the log cannot be started: Resource temporarily unavailable\n"


def system_program(name, package):
    path = shutil.which(name, path="/usr/sbin:/sbin:/usr/bin")
    if path is None:
        pytest.skip(f"no {name} (Debian: {package})")
    return path


@pytest.mark.parametrize("added, code", [("", 0), ("profile broken {", 1)])
def test_apparmor_reads_the_profile(kit, added, code):
    parser = system_program("apparmor_parser", "apparmor")
    copy = kit.folder / "profile"
    copy.write_text((SOURCE / "packaging/apparmor/usr.bin.cairnd").read_text() + added)
    done = subprocess.run([parser, "--skip-kernel-load", "--skip-cache", str(copy)], capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == (code != 0), done.stderr


def test_a_log_is_rotated_while_it_is_written(kit):
    rotate = system_program("logrotate", "logrotate")
    text = (SOURCE / "packaging/debian/cairnd.logrotate").read_text()
    rules = kit.folder / "rules"
    rules.write_text(text.replace("/var/log/cairn/", f"{kit.folder}/"))
    rules.chmod(0o644)
    kit.folder.chmod(0o755)
    log = kit.folder / "cairnd.log"
    with log.open("a", encoding="utf-8") as out:
        process = subprocess.Popen([kit.programs / "cairnd", "--listen", "127.0.0.1:0", "--key-file", kit.key(), "--log", "json",
                                    "--stats-interval", "1"], cwd=kit.folder, stdout=out)
        try:
            wait_for_text(log, '"stats"')
            done = subprocess.run([rotate, "--force", "--state", str(kit.folder / "state"), str(rules)], capture_output=True, text=True, check=False)
            assert done.returncode == 0 and "error" not in done.stderr, done.stderr
            assert '"listening"' in (kit.folder / "cairnd.log.1").read_text() and '"listening"' not in log.read_text()
            wait_for_text(log, '"stats"')  # it goes on in the file that was cut
        finally:
            process.terminate()
            process.wait(20)


def wait_for_text(path, text):
    deadline = time.monotonic() + 20
    while text not in path.read_text():
        assert time.monotonic() < deadline, path.read_text()
        time.sleep(0.05)
