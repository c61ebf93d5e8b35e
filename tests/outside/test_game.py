# SPDX-License-Identifier: MIT
"""usage: test_game.py BUILD WORK PYTHON_PACKAGE
Follows docs/GAME.md with what is installed and nothing else: writes every block with a file's name into an empty folder and runs
every block of commands there, in the order of the page."""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/GAME.md"
NAME = re.compile(r"(?://|#) ([\w.]+)")


def free_address():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % probe.getsockname()[1]


def main():
    build, work, package = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
    shutil.rmtree(work, ignore_errors=True)
    game = work / "game"
    game.mkdir(parents=True)
    installed = work / "installed"
    done = subprocess.run(["cmake", "--install", build, "--prefix", installed], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    python = pathlib.Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{installed / 'bin'}:{python}:{os.environ['PATH']}", "CMAKE_PREFIX_PATH": str(installed),
                   "PYTHONPATH": str(package), "CAIRND": str(installed / "bin/cairnd"), "PYTHONDONTWRITEBYTECODE": "1"}
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    written = [NAME.match(text)[1] for language, text in blocks if language != "sh"]
    assert len(set(written)) == len(written) >= 7, written
    for language, text in blocks:
        if language != "sh":
            (game / NAME.match(text)[1]).write_text(text)
    output = ""
    for language, text in blocks:
        if language == "sh":
            begin = time.monotonic()
            script = "set -e\n" + text.replace("127.0.0.1:40000", free_address())
            done = subprocess.run(["bash", "-c", script], cwd=game, env=environment, capture_output=True, text=True, timeout=120,
                                  check=False)
            print(text, done.stdout, done.stderr, f"{time.monotonic() - begin:.1f} s", flush=True)
            output += done.stdout
            if done.returncode != 0:
                sys.exit(f"docs/GAME.md: a block ended with {done.returncode}")
    # The bot and the thin client join at the same time: either may have the first slot.
    for said in ("arena, 8 bodies", "seed 2: all well", "score 0 : ", r"player [0-2] is Bo", "every state hash agrees", "3 passed"):
        if not re.search(said, output):
            sys.exit(f"docs/GAME.md: nothing said '{said}'")


main()
