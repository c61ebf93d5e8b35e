# SPDX-License-Identifier: MIT
"""What the tests of whole programs share: a folder for each test, programs that are run to their end, and servers, which
end with the test that started them. usage: python3 -m pytest --programs=build/dev/bin tests/programs"""

import json
import os
import pathlib
import signal
import subprocess
import time
from datetime import datetime

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_S = 30


def pytest_addoption(parser):
    parser.addoption("--programs", required=True, help="folder of cairnd and the others")


class Answer:
    """What a program printed. `json`: its last line as JSON."""

    def __init__(self, out, err):
        self.out = out
        self.err = err

    @property
    def json(self):
        return json.loads(self.out.splitlines()[-1])

    def lines(self):
        return self.out.splitlines()


class Kit:
    """Programs run in a folder of the test's own."""

    def __init__(self, programs, folder):
        self.programs = programs
        self.folder = folder
        self.servers = []

    def run(self, program, *arguments, code=0):
        """Runs a program to its end and expects this exit code; None: any."""
        command = [self.programs / program, *map(str, arguments)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT_S)
        assert code is None or done.returncode == code, f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}"
        return Answer(done.stdout, done.stderr)

    def refuses(self, program, *arguments, code, says):
        """Expects that a program refuses its arguments with one line."""
        answer = self.run(program, *arguments, code=code)
        assert says in answer.err
        assert len(answer.err.splitlines()) == 1, answer.err
        return answer

    def start(self, program, *arguments):
        """A program in the background; the caller waits for it."""
        return subprocess.Popen([self.programs / program, *map(str, arguments)], cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def skip_if_sanitized(self, why):
        """A sanitizer maps, copies and calls what the program itself does not."""
        if b"__asan_init" in (self.programs / "cairnd").read_bytes():
            pytest.skip(f"a sanitizer {why}")

    def key(self):
        if not (self.folder / "key").exists():
            self.run("cairn-token", "keygen", "--out", "key")
        return "key"

    def signing_key(self):
        """Makes a key to sign recordings with, in the file sign, and its public key, in the file public."""
        self.run("cairn-token", "signing-key", "--out", "sign")
        (self.folder / "public").write_text(self.run("cairn-token", "public-key", "sign").out)

    def serve(self, *flags, scene="demo"):
        server = Server(self, "--scene", scene, *flags)
        self.servers.append(server)
        server.wait_until_listening()
        return server

    def token(self, server, *flags, name="token"):
        self.run("cairn-token", "issue", "--key", self.key(), "--server", server.address, "--out", name, *flags)
        return name

    def bot(self, server, *flags, code=0):
        """The last statistics of a bot with a token of its own."""
        return self.run("cairn-bot", "--key", self.key(), "--server", server.address, *flags, code=code)

    def close(self):
        for server in self.servers:
            server.kill()


class Server:
    """A cairnd on any free port of loopback, and its log."""

    def __init__(self, kit, *flags):
        self.log = kit.folder / f"server{len(kit.servers)}.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [kit.programs / "cairnd", "--listen", "127.0.0.1:0", "--key-file", kit.key(), "--log", "json"]
                + [str(flag) for flag in flags],
                cwd=kit.folder, stdout=log, stderr=subprocess.STDOUT,
            )
        self.address = None

    def events(self, name):
        lines = self.log.read_text().splitlines(keepends=True)
        found = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("\n")]
        return [event for event in found if event["event"] == name]

    def wait_for(self, name, count=1):
        """The events of that name once there are `count`: a thread of the server writes its log, later than it acts."""
        deadline = time.monotonic() + TIMEOUT_S
        while len(found := self.events(name)) < count:
            assert self.process.poll() is None and time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.01)
        return found

    @staticmethod
    def when(event):
        return datetime.strptime(event["time"], "%Y-%m-%dT%H:%M:%S.%fZ")

    def wait_until_listening(self):
        self.address = self.wait_for("listening")[0]["address"]

    def stop(self):
        """Stops it and expects exit code 0."""
        self.process.terminate()
        assert self.process.wait(TIMEOUT_S) == 0, self.log.read_text()

    def kill(self):
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait()


@pytest.fixture(scope="session")
def programs(request):
    return pathlib.Path(request.config.getoption("--programs")).resolve()


@pytest.fixture
def kit(programs, tmp_path):
    kit = Kit(programs, tmp_path)
    yield kit
    kit.close()
