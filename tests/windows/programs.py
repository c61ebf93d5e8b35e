# SPDX-License-Identifier: MIT
"""usage: programs.py PROGRAMS FOLDER RUNNER...

cairn-bot.exe and cairn-replay.exe in FOLDER, run by RUNNER, beside the native programs in PROGRAMS: a bot plays on a cairnd
and has its hashes, and what cairn-replay says and writes of the server's recording is the same in both builds."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import native

SECONDS = 4
TIMES = re.compile(rb'in [0-9.]+ s|[0-9]+ times real time|"(took_s|times_real_time)":[0-9.e+-]+')


class Windows:
    def __init__(self, programs, folder, runner):
        self.programs, self.folder, self.runner = programs, folder, runner

    def run(self, program, *arguments, cwd):
        return subprocess.run([*self.runner, self.folder / f"{program}.exe", *arguments], cwd=cwd, capture_output=True, timeout=100)

    def replay_both(self, *arguments, cwd, writes=None):
        """Exit code and output of the native program; what a build for Windows says, and writes into the file `writes`, is the
        same but for the ends of lines and how long it took."""
        results = []
        for run in (lambda: self.run("cairn-replay", *arguments, cwd=cwd),
                    lambda: subprocess.run([self.programs / "cairn-replay", *arguments], cwd=cwd, capture_output=True)):
            done = run()
            written = (cwd / writes).read_bytes() if writes is not None else b""
            said = [TIMES.sub(b"", text.replace(b"\r\n", b"\n")) for text in (done.stdout, done.stderr)]
            results.append((done.returncode, *said, written))
            if writes is not None:
                (cwd / writes).unlink()
        assert results[0] == results[1], (arguments, [str(result)[:2000] for result in results])
        assert results[0][0] == 0 or writes is None, results[0]
        return results[0]


def play(windows, folder, server, mode):
    address, issue = server
    issue("token")
    arguments = ["--token", "token"] if mode != "lockstep" else ["--key", "key", "--server", address.replace("127.0.0.1", "localhost")]
    done = windows.run("cairn-bot", *arguments, "--mode", mode, "--inputs", "random", "--seconds", str(SECONDS), cwd=folder)
    print(mode, done.stdout.decode(), done.stderr.decode())
    assert done.returncode == 0, (mode, done.returncode)
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["state"] == "playing" and said["failure"] == "" and said["inputs_sent"] > 0, said
    if mode != "interpolate":
        assert said["roots_compared"] >= 10 and said["roots_differed"] == 0, said
    else:
        assert said["snapshots"] >= 5, said


def read(windows, folder):
    code, text, *_ = windows.replay_both("info", "game.cairn", "--json", cwd=folder)
    last = json.loads(text)["tick_end"]
    assert code == 0 and last > 60, text
    for verb in (["verify", "game.cairn"], ["verify", "game.cairn", "--json"], ["verify", "game.cairn", "--workers", "2"],
                 ["seek", "game.cairn", str(last // 2), "--body", "3"], ["diff", "game.cairn", "game.cairn"]):
        assert windows.replay_both(*verb, cwd=folder)[0] == 0, verb
    windows.replay_both("seek", "game.cairn", "40", "--state", "state", cwd=folder, writes="state")
    windows.replay_both("export", "game.cairn", "rows.csv", "--every", "20", cwd=folder, writes="rows.csv")
    windows.replay_both("export", "game.cairn", "tick.glb", cwd=folder, writes="tick.glb")


def write(windows, folder):
    """A recording names the compiler of its writer, so two are compared by what they hold."""
    for verb, arguments in ((["make"], ["--seconds", "2", "--players", "3"]), (["cut", "game.cairn", "30", "60"], [])):
        assert windows.run("cairn-replay", *verb, "windows.cairn", *arguments, cwd=folder).returncode == 0
        subprocess.run([windows.programs / "cairn-replay", *verb, "native.cairn", *arguments], cwd=folder, check=True)
        for check in (["verify", "windows.cairn"], ["diff", "windows.cairn", "native.cairn"]):
            assert windows.replay_both(*check, cwd=folder)[0] == 0, (verb, check)


def refuse(windows, folder):
    """Refusals are named in both builds; a damaged recording is found in both."""
    damaged = bytearray((folder / "game.cairn").read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (folder / "damaged.cairn").write_bytes(damaged)
    assert windows.replay_both("verify", "damaged.cairn", cwd=folder)[0] == 5
    assert windows.replay_both("info", "missing.cairn", cwd=folder)[0] == 2
    (folder / "empty.cairn").write_bytes(b"")
    assert windows.replay_both("info", "empty.cairn", cwd=folder)[0] == 2
    assert windows.replay_both("cut", "game.cairn", "30", "60", "game.cairn", cwd=folder)[0] == 2
    for program, arguments in (("cairn-bot", []), ("cairn-replay", ["verify", "game.cairn"])):
        done = windows.run(program, *arguments, "--rules", "arena.dll", cwd=folder)
        assert done.returncode == 2 and b"arena.dll: this build loads no rules files" in done.stderr, done
    done = windows.run("cairn-replay", "film", "game.cairn", "tick.png", cwd=folder)
    assert done.returncode == 2 and b"tick.png: this build writes no pictures" in done.stderr, done
    assert not (folder / "tick.png").exists()


def main():
    windows = Windows(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with native.server(windows.programs, folder, "--record", "game.cairn") as server:
            for mode in ("predict", "lockstep", "interpolate"):
                play(windows, folder, server, mode)
        read(windows, folder)
        write(windows, folder)
        refuse(windows, folder)


if __name__ == "__main__":
    main()
