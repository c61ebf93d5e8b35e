# SPDX-License-Identifier: MIT
"""The Python of the pages runs. A block that begins with `# test_name.py` is run by pytest."""

import os
import re
import subprocess
import sys

import pytest

from conftest import SOURCE


def blocks(page):
    text = (SOURCE / page).read_text()
    return re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)


PAGES = ("README.md", "docs/HARNESS.md", "docs/RL.md", "docs/ROBOTS.md")
ALL = [(page, i, block) for page in PAGES for i, block in enumerate(blocks(page))]


@pytest.mark.parametrize("page, i, block", ALL, ids=[f"{page.rpartition('/')[2]}-{i}" for page, i, _ in ALL])
def test_a_block_runs(page, i, block, tmp_path):
    name = re.match(r"# (test_\w+\.py)\n", block)
    path = tmp_path / (name[1] if name else "block.py")
    path.write_text(block)
    command = [sys.executable] + (["-m", "pytest", "-q", "-p", "no:cacheprovider"] if name else []) + [str(path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_page_has_blocks():
    assert [len(blocks(page)) for page in PAGES] == [1, 2, 5, 2]
