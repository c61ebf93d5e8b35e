# SPDX-License-Identifier: MIT
"""cairn-load beside a cairnd: all clients play and get what they are owed, and a client that does not is reported."""

import csv

import pytest


def load(kit, server, *flags, code=0):
    return kit.run("cairn-load", "--key", kit.key(), "--server", server.address, "--join-seconds", 0, *flags, code=code)


def ticks_kept(server):
    """The share of the scheduled ticks that were not skipped."""
    last = server.wait_for("stats", len(server.events("stats")) + 1)[-1]
    return last["tick"] / max(1, last["tick"] + last["skipped"])


def test_snapshots_reach_every_client(kit):
    server = kit.serve("--clients-max", 30, "--stats-interval", 1)
    found = load(kit, server, "--clients", 30, "--spectator", "--seconds", 2, "--json", "--csv", "load.csv",
                 "--watch", server.process.pid).json
    assert found["played"] == found["playing"] == found["join_us"]["count"] == 30
    least_hz = 5 * ticks_kept(server)
    assert least_hz < found["updates_hz_min"] <= found["updates_hz"] < 25, found
    assert found["bytes_received"] > 0 and found["datagrams_sent"] > 0 and found["send_errors"] == 0
    assert found["late_us"]["count"] > 10 and found["watched_us_per_datagram"] >= 0
    with (kit.folder / "load.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["client"]) for row in rows] == list(range(1, 31))
    assert all(row["played"] == "1" and float(row["updates_per_s"]) > least_hz for row in rows)


def test_clients_in_lockstep_acknowledge_every_tick_and_the_server_agrees_with_them(kit):
    server = kit.serve("--stats-interval", 1, "--room", "side=empty")
    found = load(kit, server, "--clients", 12, "--mode", "lockstep", "--inputs", "random", "--seconds", 2, "--json",
                 "--room", "main", "--room", "side").json
    last = server.wait_for("stats", 3)[-1]
    # A busy machine makes the server skip ticks, of which nobody hears.
    assert found["playing"] == 12 and 20 * ticks_kept(server) < found["updates_hz"] < 65
    assert last["roots"] > 0 and last["roots_differed"] == 0 and last["inputs"] > 0
    assert last["rooms"] == 2


def test_a_summary_for_people_has_a_histogram(kit):
    text = load(kit, kit.serve(), "--clients", 2, "--seconds", 1).out
    assert "2 clients, 2 played" in text and "lateness of ticks:" in text and "#" in text


def test_clients_that_do_not_play_are_reported(kit):
    server = kit.serve("--clients-max", 2)
    answer = load(kit, server, "--clients", 3, "--seconds", 1, code=1)
    assert "1 of 3 clients do not play; the last one: the server is full" in answer.err


@pytest.mark.parametrize("flags, says", [
    ([], "--key and --server are needed"),
    (["--clients", 0], "--clients 0: must be a whole number in [1, 16384]"),
    (["--mode", "predict"], "must be one of interpolate, lockstep"),
])
def test_a_wrong_flag_is_refused_in_one_line(kit, flags, says):
    kit.refuses("cairn-load", *flags, code=2, says=says)
