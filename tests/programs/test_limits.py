# SPDX-License-Identifier: MIT
"""What cairnd takes of a machine. When the process may open few files it starts or says why it does not, and never aborts."""

import pathlib
import re
import resource
import subprocess
import time

SCENE = '{"name": "probe", "rules": "sandbox", "bodies": [{"kind": "static", "shapes": [{"kind": "half_space"}]}]}'
LOADER_FAILED = 127


def run_with_files(kit, limit):
    def apply():
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

    command = [kit.programs / "cairnd", "--listen", "127.0.0.1:0", "--key-file", "key", "--scene", "probe.json",
               "--room", "second=probe.json", "--record", f"record{limit}.cairn", "--seconds", "1"]
    return subprocess.run(command, cwd=kit.folder, capture_output=True, text=True, timeout=30, preexec_fn=apply)


def test_few_files_are_told(kit):
    kit.key()
    (kit.folder / "probe.json").write_text(SCENE)
    started = 0
    for limit in range(3, 40):
        done = run_with_files(kit, limit)
        text = done.stdout + done.stderr
        if done.returncode == LOADER_FAILED:
            continue
        assert done.returncode in (0, 1, 2, 3), f"{limit} files: {done.returncode}: {text}"
        if done.returncode != 0:
            assert text.strip(), f"{limit} files: exit {done.returncode} without a word"
        else:
            started += 1
            kit.run("cairn-replay", "verify", f"record{limit}.cairn")
        if started == 2:
            return
    assert started == 2


def test_a_hundred_rooms_take_little_memory(kit):
    """Rooms of two players that nobody joined: the history holds what happened, and snapshots are taken for members."""
    kit.skip_if_sanitized("keeps memory of its own")
    flags = [f"--room=room{i}=stack10,players=2" for i in range(99)]
    server = kit.serve(*flags, scene="stack10")
    time.sleep(2.5)
    text = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    resident_kb = int(re.search(r"VmRSS:\s+(\d+) kB", text)[1])
    assert resident_kb <= 50_000


def niceness_of_threads(process):
    """Of the first thread, which is the loop, and of the others."""
    found = {}
    for thread in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
        found[int(thread.name)] = int((thread / "stat").read_text().rsplit(")", 1)[1].split()[16])
    return found.pop(process.pid), sorted(found.values())


def test_tasks_run_when_the_loop_leaves_a_processor(kit):
    """Recordings, packed states and worlds for operators are made by one thread, and no tick waits for it."""
    server = kit.serve("--room", "other=demo", "--record", "record.cairn")
    deadline = time.monotonic() + 10
    loop, others = niceness_of_threads(server.process)
    while others.count(loop + 5) != 1 and time.monotonic() < deadline:
        time.sleep(0.01)
        loop, others = niceness_of_threads(server.process)
    assert others.count(loop + 5) == 1 and set(others) <= {loop, loop + 5}
