# SPDX-License-Identifier: MIT
"""usage: play.py PROGRAMS COMMAND...

Runs COMMAND TOKEN SECONDS, a client built for Windows, on a cairnd of the native build in the folder PROGRAMS. The client's
world must have the server's hashes."""

import pathlib
import re
import subprocess
import sys
import tempfile

import native

SECONDS = 4


def main():
    programs, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder, native.server(programs, pathlib.Path(folder)) as (_, issue):
        issue("token")
        done = subprocess.run(command + ["token", str(SECONDS)], cwd=folder, capture_output=True, text=True, timeout=100)
    print(done.stdout, done.stderr)
    found = re.search(r"^compared (\d+) differed (\d+) inputs (\d+) mode '' failure ''", done.stdout, re.M)
    assert found is not None, "the client did not play"
    compared, differed, inputs = map(int, found.groups())
    assert compared >= 30 and differed == 0 and inputs > 0, found.group(0)


if __name__ == "__main__":
    main()
