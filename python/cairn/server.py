# SPDX-License-Identifier: MIT
"""A server of one's own for as long as a block runs."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
from typing import Any, Mapping, Sequence

from ._native import ffi, lib
from .client import TOKEN_SIZE, Client
from .errors import CairnError, Closed, check
from .room import Room

PROTOCOL_ID = 0x636169726E


class ServerFailed(CairnError, RuntimeError):
    """cairnd did not start, or ended with an error: the text is what it printed."""


def find_cairnd() -> str:
    """The program: $CAIRND, else beside this package (a wheel, a build folder), else in PATH."""
    here = pathlib.Path(__file__).resolve().parent
    given = os.environ.get("CAIRND")
    candidates = [given] if given else [str(here / "bin/cairnd"), str(here.parents[1] / "bin/cairnd"), "cairnd"]
    for candidate in candidates:
        if found := shutil.which(candidate):
            return found
    raise FileNotFoundError(f"cairnd is not found: {', '.join(candidates)}; set CAIRND to the program")


class Server:
    """A cairnd on a free port of loopback with a temporary key, which ends with the block:

        with cairn.serve("demo") as server:
            client = server.connect()

    `address` is "127.0.0.1:PORT". The log is JSON lines: events(name) are those of one name."""

    def __init__(self, scene: Any = "demo", *, control: bool = True, record: str | os.PathLike[str] | None = None,
                 flags: Sequence[str] = (), timeout: float = 10.0) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="cairn-")
        self._process: subprocess.Popen[bytes] | None = None
        self._clients: list[Client] = []
        folder = pathlib.Path(self._folder.name)
        self._key = os.urandom(lib.CAIRN_KEY_SIZE)
        key = folder / "key"
        key.touch(0o600)
        key.write_text(self._key.hex() + "\n")
        self._log = folder / "log"
        command = [find_cairnd(), "--listen", "127.0.0.1:0", "--key-file", str(key), "--log", "json"]
        command += ["--scene", self._scene(scene, folder)]
        command += ["--control"] if control else []
        command += ["--record", os.fspath(record)] if record is not None else []
        with self._log.open("wb") as log:
            self._process = subprocess.Popen([*command, *map(str, flags)], stdout=log, stderr=subprocess.STDOUT)
        try:
            self.address: str = self._wait_until_listening(timeout)
        except BaseException:
            self.kill()
            raise

    @staticmethod
    def _scene(scene: Any, folder: pathlib.Path) -> str:
        if isinstance(scene, str) and "{" not in scene:
            return scene
        if isinstance(scene, os.PathLike):
            return os.fspath(scene)
        text = json.dumps(scene, allow_nan=False) if isinstance(scene, Mapping) else scene
        (folder / "scene.json").write_text(text)
        return str(folder / "scene.json")

    def log(self) -> str:
        """What the server printed."""
        return self._log.read_text(errors="replace")

    def events(self, name: str) -> list[dict[str, Any]]:
        """The events of this name in the log."""
        lines = [line for line in self.log().splitlines(keepends=True) if line.startswith("{") and line.endswith("\n")]
        return [event for event in map(json.loads, lines) if event["event"] == name]

    def _wait_until_listening(self, timeout: float) -> str:
        assert self._process is not None
        end = time.monotonic() + timeout
        while not (found := self.events("listening")):
            if self._process.poll() is not None or time.monotonic() > end:
                raise ServerFailed(f"cairnd: {self.log().strip() or 'it did not begin to listen in time'}")
            time.sleep(0.005)
        return found[0]["address"]

    def token(self, *, operator: bool = True, client_id: int | None = None, lifetime_s: int = 30) -> bytes:
        """A connect token for this server."""
        if self._process is None:
            raise Closed("the server was stopped")
        address = ffi.new("cairn_address *")
        assert lib.cairn_address_parse(self.address.encode(), address)
        user_data = ffi.new("uint8_t[]", lib.CAIRN_TOKEN_USER_DATA_SIZE)
        lib.cairn_user_data_write(user_data, lib.CAIRN_USER_RIGHT_OPERATOR if operator else 0)
        key, entropy = ffi.from_buffer(self._key), ffi.from_buffer(os.urandom(lib.CAIRN_TOKEN_ENTROPY_SIZE))
        request = ffi.new("cairn_token_request *", {
            "protocol_id": PROTOCOL_ID, "create_unix_s": int(time.time()), "lifetime_s": lifetime_s, "timeout_s": 10,
            "client_id": int.from_bytes(os.urandom(7), "little") if client_id is None else client_id,
            "server_addresses": address, "server_count": 1, "private_key": key, "user_data": user_data, "entropy": entropy})
        out = ffi.new("uint8_t[]", TOKEN_SIZE)
        check(lib.cairn_token_issue(request, out), "token")
        return bytes(ffi.buffer(out))

    def connect(self, *, room: str = "", timeout: float = 5.0, player: bool = False) -> Client:
        """An operator's client, or a player; the server closes it when it stops."""
        client = Client(self.token(), room=room, timeout=timeout, player=player)
        self._clients.append(client)
        return client

    def room(self, name: str = "") -> Room:
        """A room with the methods of World, paused."""
        return Room(self.connect(), name)

    def stop(self) -> None:
        """Ends the server and its clients. ServerFailed if it did not end well. A second stop does
        nothing."""
        for client in self._clients:
            client.close()
        if self._process is None:
            return
        self._process.terminate()
        code = self._process.wait(20)
        log = self.log() if code else ""
        self.kill()
        if code != 0:
            raise ServerFailed(f"cairnd ended with {code}: {log[-2000:]}")

    def kill(self) -> None:
        """Ends the server at once."""
        process, self._process = self._process, None
        if process is not None:
            if process.poll() is None:
                process.kill()
            process.wait()
            self._folder.cleanup()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __del__(self) -> None:
        if getattr(self, "_process", None) is not None:
            self.kill()


def serve(scene: Any = "demo", **options: Any) -> Server:
    """Starts a server with this scene (a name, a path, JSON or a mapping); use it in a with statement.
    Options: `control` (True), `record` (a file), `flags` (of cairnd), `timeout` (s, to start)."""
    return Server(scene, **options)
