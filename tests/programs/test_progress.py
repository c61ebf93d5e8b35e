# SPDX-License-Identifier: MIT
"""Work that takes longer than a second shows on a terminal how much of it is done, its rate and the time left."""

import os
import pty
import re
import select
import subprocess
import time

LINE = re.compile(rb"(\d+) %, \d+ (\w+)/s, (\d+ min )?\d+ s left")


def shown(kit, *command):
    """What a program writes to a terminal until the first line about its progress, and when that came, in seconds."""
    ours, theirs = pty.openpty()
    begin = time.monotonic()
    process = subprocess.Popen([kit.programs / command[0], *map(str, command[1:])], cwd=kit.folder,
                               stdout=subprocess.DEVNULL, stderr=theirs, stdin=subprocess.DEVNULL)
    os.close(theirs)
    text = b""
    try:
        while not LINE.search(text) and time.monotonic() < begin + 20:
            if select.select([ours], [], [], 0.1)[0]:
                text += os.read(ours, 4096)
    finally:
        process.terminate()
        process.wait(20)
        os.close(ours)
    return text, time.monotonic() - begin


def test_a_long_recording_shows_how_far_it_is(kit):
    text, took_s = shown(kit, "cairn-replay", "make", "long.cairn", "--scene", "stack10", "--awake", "--seconds", 50000)
    assert LINE.search(text) and LINE.search(text)[2] == b"ticks", text
    assert took_s > 0.9


def test_an_operator_sees_how_far_a_step_is_in_any_room(kit):
    server = kit.serve("--control", "--room", "second=stack10")
    for room in ("main", "second"):
        ctl = ["cairn-ctl", "--server", server.address, "--key", kit.key(), "--room", room]
        kit.run(*ctl, "pause")
        text, _ = shown(kit, *ctl, "step", 1000000)
        assert LINE.search(text) and LINE.search(text)[2] == b"ticks", text


def test_a_file_gets_none_of_it(kit):
    assert kit.run("cairn-replay", "make", "short.cairn", "--scene", "demo", "--awake", "--seconds", 60).err == ""
