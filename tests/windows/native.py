# SPDX-License-Identifier: MIT
"""A cairnd of the native build, for clients that were built for Windows."""

import contextlib
import json
import subprocess


@contextlib.contextmanager
def server(programs, folder, *flags):
    """Serves the demo from `folder`. Yields its address and a function that writes a connect token into a file there."""
    if not (folder / "key").exists():
        subprocess.run([programs / "cairn-token", "keygen", "--out", "key"], cwd=folder, check=True)
    process = subprocess.Popen(
        [programs / "cairnd", "--listen", "127.0.0.1:0", "--key-file", "key", "--scene", "demo", "--log", "json",
         "--token-lifetime", "0", "--seconds", "120", *flags], cwd=folder, stdout=subprocess.PIPE, text=True)

    def issue(name):
        subprocess.run([programs / "cairn-token", "issue", "--key", "key", "--server", address, "--timeout", "30",
                        "--lifetime", "120", "--out", name], cwd=folder, check=True)

    try:
        address = next(json.loads(line)["address"] for line in process.stdout if '"listening"' in line)
        yield address, issue
    finally:
        process.terminate()
        process.communicate()
