# SPDX-License-Identifier: MIT
"""The wheel of the Python package (pyproject.toml), from the package that the build made."""

import base64
import csv
import hashlib
import subprocess
import sys
import zipfile

import pytest

from conftest import SOURCE


def test_a_wheel_installs_and_its_record_is_right(kit):
    package = kit.programs.parent / "python" / "cairn"
    if not (package / "_native.abi3.so").exists():
        pytest.skip("this build has no Python package")
    sys.path.insert(0, str(SOURCE / "packaging" / "python"))
    import build_wheel  # the backend that pyproject.toml names

    name = build_wheel.build_wheel(str(kit.folder), {"package": str(package)})
    assert name.startswith("cairn-") and "-cp39-abi3-" in name
    with zipfile.ZipFile(kit.folder / name) as wheel:
        files = {path: wheel.read(path) for path in wheel.namelist()}
        wheel.extractall(kit.folder / "site")
    record = next(data for path, data in files.items() if path.endswith("/RECORD")).decode()
    rows = {row[0]: row[1] for row in csv.reader(record.splitlines())}
    assert set(rows) == set(files)
    for path, digest in rows.items():
        found = base64.urlsafe_b64encode(hashlib.sha256(files[path]).digest()).rstrip(b"=").decode()
        assert path.endswith("/RECORD") or digest == f"sha256={found}"
    assert not any("__pycache__" in path for path in files)
    done = subprocess.run([sys.executable, "-c", "import cairn; print(cairn.__file__)"], cwd=kit.folder / "site",
                          capture_output=True, text=True, check=True, env={"PATH": "/usr/bin"})
    assert str(kit.folder / "site") in done.stdout
