# SPDX-License-Identifier: MIT
"""cairnd with several sockets at its address, each with a thread that receives and sends for the loop."""

import json
import os
import pathlib
import re
import time
import urllib.request

from conftest import Server

THREADS = 3


def play(kit, server, *flags, clients=12, seconds=4, modes=("lockstep", "predict", "interpolate")):
    """Bots of each mode; the results of all, once they have left."""
    bots = [kit.start("cairn-bot", "--key", kit.key(), "--server", server.address, "--mode", mode, "--clients", clients,
                      "--client-id", 100 * (number + 1), "--inputs", "random", "--seconds", seconds, *flags)
            for number, mode in enumerate(modes)]
    for bot in bots:
        text, _ = bot.communicate(timeout=90)
        assert bot.returncode == 0, text
        yield json.loads(text.splitlines()[-1])


def check(results, clients=12):
    for result in results:
        assert result["played"] == clients and result["failed"] == 0
        assert result["roots_differed"] == 0 and result["unusable"] == 0, result
        assert result["mode"] == "interpolate" or result["roots_compared"] > 100 * clients


def sockets_of(server):
    """How many UDP sockets the process has, at its address."""
    port = int(server.address.rsplit(":", 1)[1])
    inodes = set(re.findall(rf"^ *\d+: 0100007F:{port:04X} .*? \d+ +\d+ +\d+ (\d+) ", pathlib.Path("/proc/net/udp").read_text(), re.M))
    open_files = {os.readlink(path) for path in pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir() if path.is_symlink()}
    return sum(f"socket:[{inode}]" in open_files for inode in inodes)


def last_statistics(server):
    return server.events("stats")[-1]


def nothing_was_dropped(server):
    last = last_statistics(server)
    assert last["received_dropped"] == last["sent_dropped"] == last["send_errors"] == 0, last
    return last


def test_dozens_of_clients_agree_on_every_root(kit):
    server = kit.serve("--io-threads", THREADS, "--clients-max", 64, scene="stack10")
    assert sockets_of(server) == THREADS
    check(play(kit, server))
    server.stop()
    assert nothing_was_dropped(server)["io_threads"] == THREADS


def test_the_loop_serves_its_socket_itself_unless_it_is_told_otherwise(kit):
    server = kit.serve(scene="stack10")
    assert sockets_of(server) == 2  # of clients, and of unknown peers
    server.stop()
    assert last_statistics(server)["io_threads"] == 0


def test_a_server_that_ends_is_followed_at_its_address(kit):
    server = kit.serve("--io-threads", THREADS, scene="stack10")
    again = Server(kit, "--listen", server.address, "--io-threads", THREADS)  # no two servers share an address
    assert again.process.wait(30) == 1 and "bind: Address already in use" in again.log.read_text()
    server.stop()
    after = kit.serve("--listen", server.address, "--io-threads", THREADS, "--token-lifetime", 0, scene="stack10")
    assert after.address == server.address and sockets_of(after) == THREADS
    check(play(kit, after, clients=4, seconds=3, modes=("lockstep",)), clients=4)


def test_all_sockets_are_handed_over_while_clients_play(kit):
    server = kit.serve("--io-threads", THREADS, "--hand-over", "hand", "--clients-max", 64, scene="stack10")
    bots = [kit.start("cairn-bot", "--key", kit.key(), "--server", server.address, "--mode", mode, "--clients", 9, "--client-id",
                      1000 * (number + 1), "--inputs", "random", "--seconds", 6) for number, mode in enumerate(("lockstep", "predict"))]
    server.wait_for("client_playing", 18)  # the log has at most 20 in a second
    follower = server
    for flags in ((), ("--io-threads", 1)):  # the sockets count, not the flag
        follower = Server(kit, "--take-over", "hand", "--hand-over", "hand", "--clients-max", 64, *flags)
        kit.servers.append(follower)
        follower.wait_until_listening()
        assert server.process.wait(30) == 0, server.log.read_text()
        assert nothing_was_dropped(server)["io_threads"] == THREADS
        assert follower.address == server.address and sockets_of(follower) == THREADS
        server = follower
    found = [json.loads(bot.communicate(timeout=60)[0].splitlines()[-1]) for bot in bots]
    check(found, clients=9)
    follower.stop()
    assert nothing_was_dropped(follower)["io_threads"] == THREADS


def test_the_sockets_of_one_loop_are_handed_over_to_one_loop(kit):
    server = kit.serve("--hand-over", "hand", scene="stack10")
    follower = Server(kit, "--take-over", "hand", "--io-threads", THREADS)
    kit.servers.append(follower)
    follower.wait_until_listening()
    assert server.process.wait(30) == 0 and sockets_of(follower) == 2
    follower.stop()
    assert last_statistics(follower)["io_threads"] == 0


def test_threads_are_counted_by_name(kit):
    server = kit.serve("--io-threads", THREADS, "--web", "127.0.0.1:0", scene="stack10")
    with urllib.request.urlopen(f"http://{server.wait_for('web')[0]['address']}/metrics", timeout=20) as answer:
        text = answer.read().decode()
    assert f"cairn_io_threads {THREADS}\n" in text
    for name in ("cairn_datagrams_joined", "cairn_buffer_dropped", "cairn_unknown_dropped", "cairn_received_dropped", "cairn_sent_dropped"):
        assert f"{name}_total 0\n" in text


def test_a_wrong_number_is_refused(kit):
    for number in (0, 17):
        kit.refuses("cairnd", "--dev", "--io-threads", number, code=1, says=f"--io-threads {number}: must be a whole number in [1, 16]")


def test_snapshots_of_many_clients_pass_the_threads(kit):
    kit.skip_if_sanitized("is too slow for so many clients")
    server = kit.serve("--io-threads", THREADS, "--clients-max", 256, scene="cubes901")
    found = kit.run("cairn-load", "--key", kit.key(), "--server", server.address, "--clients", 200, "--spectator", "--join-seconds", 1,
                    "--seconds", 3, "--json").json
    assert found["playing"] == 200 and found["updates_hz_min"] > 5, found
    time.sleep(0.1)
    server.stop()
    nothing_was_dropped(server)
