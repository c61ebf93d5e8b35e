# SPDX-License-Identifier: MIT
"""Floods of hostile datagrams against a cairnd that plays with honest clients."""

import json
import pathlib
import signal

import pytest


DROPPED_MIN = 1000


def dropped_at(server):
    """What the kernel dropped at all UDP sockets of the server's port."""
    port = int(server.address.rsplit(":", 1)[1])
    rows = [line.split() for line in pathlib.Path("/proc/net/udp").read_text().splitlines()[1:]]
    return sum(int(fields[-1]) for fields in rows if int(fields[1].split(":")[1], 16) == port)


def flood_a_server_that_does_not_run(kit, server, kind):
    """More than a socket's buffer takes, while nobody empties it; a busy machine takes longer to send that."""
    before = dropped_at(server)
    server.process.send_signal(signal.SIGSTOP)
    try:
        for _ in range(10):
            kit.run("flood", "--key", kit.key(), "--server", server.address, "--kind", kind, "--rate", 200000, "--seconds", 0.1,
                    "--sources", 100)
            if dropped_at(server) - before > DROPPED_MIN:
                return
    finally:
        server.process.send_signal(signal.SIGCONT)
    assert False, "the buffer did not become full"


@pytest.mark.parametrize("kind", ["request", "payload"])
def test_what_clients_send_is_not_displaced_while_the_server_does_not_run(kit, kind):
    server = kit.serve("--stats-interval", 1)
    bots = [kit.start("cairn-bot", "--key", kit.key(), "--server", server.address, "--client-id", 1 + i, "--mode", "lockstep", "--inputs",
                      "random", "--seconds", 4) for i in range(3)]
    server.wait_for("client_playing", 3)
    server.wait_for("stats", len(server.events("stats")) + 1)
    for _ in range(3):
        flood_a_server_that_does_not_run(kit, server, kind)
        server.wait_for("stats", len(server.events("stats")) + 1)
    for bot in bots:
        text, _ = bot.communicate(timeout=30)
        assert json.loads(text.splitlines()[-1])["loss"] == 0, text
    server.stop()
    last = server.events("stats")[-1]
    assert last["unknown_dropped"] > 3 * DROPPED_MIN and last["buffer_dropped"] == 0, last
