# SPDX-License-Identifier: MIT
"""The build backend of pyproject.toml (PEP 517): CMake builds the package, and this packs it into a wheel."""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def version():
    text = (ROOT / "include/cairn/version.h").read_text(encoding="utf-8")
    return re.search(r'CAIRN_VERSION_TEXT "([^"]+)"', text).group(1)


def build(folder):
    subprocess.run(["cmake", "-S", str(ROOT), "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DCAIRN_TESTS=OFF",
                    "-DCAIRN_INSTALL=OFF", f"-DCAIRN_CFFI_PYTHON={sys.executable}"], check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "cairn_python", "--parallel"], check=True)
    return pathlib.Path(folder) / "python" / "cairn"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """`config_settings["package"]` or $CAIRN_PYTHON_PACKAGE: a package that is built already."""
    built = (config_settings or {}).get("package") or os.environ.get("CAIRN_PYTHON_PACKAGE")
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    tag = f"cp39-abi3-{platform}"
    info = f"cairn-{version()}.dist-info"
    name = f"cairn-{version()}-{tag}.whl"
    with tempfile.TemporaryDirectory() as folder:
        package = pathlib.Path(built) if built else build(folder)
        files = {f"cairn/{path.relative_to(package)}": path.read_bytes() for path in sorted(package.rglob("*"))
                 if path.is_file() and "__pycache__" not in path.parts}
    files[f"{info}/METADATA"] = (f"Metadata-Version: 2.1\nName: cairn\nVersion: {version()}\nLicense: MIT\n"
                                 "Requires-Python: >=3.9\nRequires-Dist: cffi\nRequires-Dist: numpy\n").encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: cairn\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for path, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
    return name
