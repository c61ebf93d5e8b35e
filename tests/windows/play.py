# SPDX-License-Identifier: MIT
"""usage: play.py PROGRAMS COMMAND...

Runs COMMAND TOKEN SECONDS, a client built for Windows, on a cairnd of the native build in the folder PROGRAMS. The client's
world must have the server's hashes."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

SECONDS = 4


def main():
    programs, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([programs / "cairn-token", "keygen", "--out", "key"], cwd=folder, check=True)
        server = subprocess.Popen(
            [programs / "cairnd", "--listen", "127.0.0.1:0", "--key-file", "key", "--scene", "demo", "--log", "json",
             "--token-lifetime", "0", "--seconds", "120"], cwd=folder, stdout=subprocess.PIPE, text=True)
        try:
            listening = next(json.loads(line) for line in server.stdout if '"listening"' in line)
            subprocess.run([programs / "cairn-token", "issue", "--key", "key", "--server", listening["address"], "--timeout", "30",
                            "--lifetime", "120", "--out", "token"], cwd=folder, check=True)
            done = subprocess.run(command + ["token", str(SECONDS)], cwd=folder, capture_output=True, text=True, timeout=100)
        finally:
            server.kill()
            server.wait()
        print(done.stdout, done.stderr)
        found = re.search(r"^compared (\d+) differed (\d+) inputs (\d+) mode '' failure ''", done.stdout, re.M)
        assert found is not None, "the client did not play"
        compared, differed, inputs = map(int, found.groups())
        assert compared >= 30 and differed == 0 and inputs > 0, found.group(0)


if __name__ == "__main__":
    main()
