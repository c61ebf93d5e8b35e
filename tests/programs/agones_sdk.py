# SPDX-License-Identifier: MIT
"""A double of the SDK server that Agones runs beside each game server, with its REST interface as the SDK's OpenAPI
description has it (sdks/swagger/sdk.swagger.json and beta.swagger.json of the Agones repository). What does not fit the
description is noted in `violations`. As the SDK server itself does, it answers an error of a counter or a list with 500
and a sentence."""

import http.server
import json
import re
import threading
import time

# (method, path): what its body must have, and what it may have. Values of 64 bits are texts of digits.
DESCRIPTION = {
    ("POST", "/ready"): (set(), set()),
    ("POST", "/allocate"): (set(), set()),
    ("POST", "/shutdown"): (set(), set()),
    ("POST", "/health"): (set(), set()),
    ("POST", "/reserve"): ({"seconds"}, {"seconds"}),
    ("GET", "/gameserver"): None,
    ("GET", "/watch/gameserver"): None,
    ("PATCH", "/v1beta1/counters/rooms"): (set(), {"count", "capacity", "countDiff"}),
    ("POST", "/v1beta1/lists/players:addValue"): ({"value"}, {"value"}),
    ("POST", "/v1beta1/lists/players:removeValue"): ({"value"}, {"value"}),
}
STATES = {"/ready": "Ready", "/allocate": "Allocated", "/shutdown": "Shutdown", "/reserve": "Reserved"}


class Refusal(Exception):
    """Of a counter or a list: a sentence."""


class Sdk:
    """fails: statuses with which the next requests are answered, None for a connection that is cut. silent: no request
    is answered. Lists and counters that are None are not declared."""

    def __init__(self, rooms=(0, 1000), players=1000, port=0):
        self.lock = threading.Condition()
        self.state = "Scheduled"
        self.requests = []
        self.violations = []
        self.health = 0
        self.fails = []
        self.silent = False
        self.rooms = None if rooms is None else list(rooms)
        self.players_max = players
        self.players = None if players is None else []
        self.watches = 0
        self.address = None  # (host, port) at which clients reach the game server
        self.cut_watches = False
        handler = type("Handler", (Handler,), {"sdk": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def game_server(self):
        ports = [] if self.address is None else [{"name": "default", "port": self.address[1]}]
        return {"object_meta": {"name": "one", "labels": {}}, "spec": {"health": {"period_seconds": 5}},
                "status": {"state": self.state, "address": self.address[0] if self.address else "", "ports": ports}}

    def set_state(self, state):
        with self.lock:
            self.state = state
            self.lock.notify_all()

    def wait_until(self, condition, seconds=15):
        deadline = time.monotonic() + seconds
        while not condition(self):
            assert time.monotonic() < deadline, (self.state, self.rooms, self.players, self.requests[-20:])
            time.sleep(0.02)

    def asked(self, path):
        with self.lock:
            return sum(each == path for each in self.requests)

    def check(self, method, path, body):
        """Notes what the description does not allow."""
        fields = DESCRIPTION.get((method, path), "unknown")
        if fields == "unknown":
            self.violations.append((method, path, "no such operation"))
        elif fields is not None:
            needed, allowed = fields
            if not isinstance(body, dict) or not needed <= body.keys() <= allowed:
                self.violations.append((method, path, body))
            elif any(not isinstance(value, str) or (name != "value" and not re.fullmatch(r"-?\d+", value))
                     for name, value in body.items()):
                self.violations.append((method, path, body))

    def carry_out(self, path, body):
        if path in STATES:
            self.state = STATES[path]
            self.lock.notify_all()
        elif path == "/health":
            self.health += 1
        elif path.startswith("/v1beta1/counters/"):
            self.count(body)
        elif path.startswith("/v1beta1/lists/"):
            self.change_list(path.rsplit(":", 1)[1], body["value"])

    def count(self, body):
        if self.rooms is None:
            raise Refusal("counter not found: rooms")
        if len(body) != 1:
            raise Refusal("invalid argument. Malformed CounterUpdateRequest")
        if "capacity" in body:
            self.rooms[1] = int(body["capacity"])
        else:
            count = int(body.get("count", 0)) + (self.rooms[0] + int(body["countDiff"]) if "countDiff" in body else 0)
            if not 0 <= count <= self.rooms[1]:
                raise Refusal("out of range. Count must be within range [0,Capacity].")
            self.rooms[0] = count

    def change_list(self, what, value):
        if self.players is None:
            raise Refusal("not found. players List not found")
        if what == "addValue":
            if value in self.players:
                raise Refusal(f"already exists. Value: {value} already in List: players")
            if len(self.players) >= self.players_max:
                raise Refusal("out of range. No available capacity.")
            self.players.append(value)
        elif value in self.players:
            self.players.remove(value)
        else:
            raise Refusal(f"not found. Value: {value} is not in List: players")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, value):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def handle_one(self):
        sdk = self.sdk
        size = int(self.headers.get("Content-Length", 0))
        text = self.rfile.read(size)
        body = json.loads(text) if text else None
        with sdk.lock:
            sdk.requests.append(self.path)
            sdk.check(self.command, self.path, body)
            fail = sdk.fails.pop(0) if sdk.fails else 200
            silent = sdk.silent
        if silent:
            time.sleep(30)
        if fail is None or silent:
            self.close_connection = True
            return
        if fail != 200:
            self.answer(fail, {"code": 13, "message": "planted"})
            return
        if self.path == "/gameserver":
            self.answer(200, sdk.game_server())
            return
        if self.path == "/watch/gameserver":
            self.watch()
            return
        try:
            with sdk.lock:
                sdk.carry_out(self.path, body)
            self.answer(200, {})
        except Refusal as refusal:
            self.answer(500, {"code": 2, "message": str(refusal), "details": []})

    do_GET = do_POST = do_PATCH = handle_one

    def watch(self):
        sdk = self.sdk
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        shown = None
        with sdk.lock:
            sdk.watches += 1
        while True:
            with sdk.lock:
                sdk.lock.wait_for(lambda: sdk.state != shown or sdk.cut_watches, timeout=1)
                if sdk.cut_watches:
                    self.close_connection = True
                    return
                shown = sdk.state
            line = json.dumps({"result": sdk.game_server()}) + "\n"
            # In two pieces: lines may arrive in parts.
            try:
                for piece in (line[:20], line[20:]):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece.encode()))
                    self.wfile.flush()
            except OSError:
                return


class Allocator(http.server.ThreadingHTTPServer):
    """A double of the allocation service, after pkg/allocation/go/allocation.swagger.json. server: (host, port) that is
    free; None: none is."""

    def __init__(self, server):
        self.server = server
        self.requests = []
        super().__init__(("127.0.0.1", 0), AllocatorHandler)
        self.daemon_threads = True
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()


class AllocatorHandler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, body))
        host, port = self.server.server or ("", 0)
        free = {"gameServerName": "cairn-one", "address": host, "ports": [{"name": "default", "port": port}]}
        none = {"code": 8, "message": "there is no available GameServer to allocate"}
        self.send_response(200 if self.server.server else 429)
        self.end_headers()
        self.wfile.write(json.dumps(free if self.server.server else none).encode())
