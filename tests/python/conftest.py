# SPDX-License-Identifier: MIT
"""Tests of the Python package. PYTHONPATH names the build's python folder. usage: python3 -m pytest tests/python"""

import pathlib
import subprocess

import pytest

pytest_plugins = ["cairn.pytest_plugin"]

SOURCE = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def programs():
    from cairn.server import find_cairnd

    return pathlib.Path(find_cairnd()).parent


@pytest.fixture
def verify(programs):
    """Steps a recording again and compares every root."""
    def run(recording):
        done = subprocess.run([programs / "cairn-replay", "verify", recording], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "every state hash agrees" in done.stdout, done.stdout + done.stderr

    return run
