#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Carries out the steps of packaging/Containerfile in fresh roots of Debian, and lets a bot of the image play on its server.
usage: packaging/container_test.py. It needs root and mmdebstrap; no container program and no registry are asked: what the
file takes `FROM` is a root that mmdebstrap makes. The sources are the committed ones, and the page is that of build/web."""

import contextlib
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
PAGE_PORT = 9100
BEGUN = time.monotonic()
BASE = "docker.io/library/debian:bookworm-slim"


def instructions(text):
    """Each instruction and the rest of its line, continued lines joined."""
    joined = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", text, flags=re.M))
    return [tuple(line.split(maxsplit=1)) for line in joined.splitlines() if line.strip()]


def make_base(folder):
    """The root that the file takes FROM."""
    sources = pathlib.Path("/etc/apt/sources.list.d/debian.sources")
    sources = sources if sources.exists() else pathlib.Path("/etc/apt/sources.list")
    subprocess.run(["mmdebstrap", "--quiet", "--variant=apt", "bookworm", str(folder), str(sources)], check=True)
    (folder / "etc/hosts").write_text("127.0.0.1 localhost\n::1 localhost\n")


class Image:
    def __init__(self, folder, base):
        self.root, self.user, self.environment, self.entry = folder, "0:0", {}, []
        subprocess.run(["cp", "-a", "--reflink=auto", str(base), str(folder)], check=True)

    def command(self, words):
        given = [f"{name}={value}" for name, value in self.environment.items()]
        return ["chroot", f"--userspec={self.user}", str(self.root), "env", "-i", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
                *given, *words]

    def run(self, words):
        subprocess.run(self.command(words), check=True, stdin=subprocess.DEVNULL)


def copy_sources(image, to):
    target = image.root / to.lstrip("/")
    target.mkdir(parents=True)
    archive = subprocess.Popen(["git", "-C", str(HERE.parent), "archive", "HEAD"], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", str(target)], stdin=archive.stdout, check=True)
    assert archive.wait() == 0
    shutil.copytree(HERE.parent / "build/web", target / "build/web")


def build(folder):
    """The last image of the file."""
    stages = {}
    image = None
    base_root = folder / "base"
    make_base(base_root)
    for name, rest in instructions((HERE / "Containerfile").read_text()):
        if name == "FROM":
            base, *alias = rest.split(" AS ")
            assert base == BASE, base
            image = Image(folder / f"stage{len(stages)}", base_root)
            stages[alias[0] if alias else "last"] = image
        elif name == "RUN":
            image.run(["sh", "-c", rest])
        elif name == "COPY" and rest.startswith("--from="):
            stage, source, to = re.fullmatch(r"--from=(\S+) (\S+) (\S+)", rest).groups()
            shutil.copytree(stages[stage].root / source.lstrip("/"), image.root / to.lstrip("/"), symlinks=True, dirs_exist_ok=True)
        elif name == "COPY":
            source, to = rest.split()
            assert source == "."
            copy_sources(image, to)
        elif name == "USER":
            image.user = rest
        elif name == "ENV":
            image.environment.update(word.split("=", 1) for word in shlex.split(rest))
        elif name == "ENTRYPOINT":
            image.entry = json.loads(rest)
        else:
            assert name == "EXPOSE", name
        print(f"{time.monotonic() - BEGUN:.0f} s: {name} {rest[:60]}", flush=True)
    return image


@contextlib.contextmanager
def served(image, port):
    """The entry point with the environment that the file's head shows, in this process's own network."""
    image.environment |= {"CAIRN_KEY_FILE": "/key/key", "CAIRN_PUBLIC": f"127.0.0.1:{port}"}
    server = subprocess.Popen(image.command([*image.entry, "--token-lifetime", "0", "--seconds", "60", "--web", f"127.0.0.1:{PAGE_PORT}"]), stdout=subprocess.PIPE)
    try:
        while b" web " not in (line := server.stdout.readline()):  # which comes after "listening"
            assert line, "the server ended"
        yield
    finally:
        server.terminate()
        server.communicate()


def fetch_page():
    """Every file that the page's first one names."""
    def get(path):
        with urllib.request.urlopen(f"http://127.0.0.1:{PAGE_PORT}/{path}", timeout=10) as answer:
            return answer.read()
    names = re.findall(r'(?:src|href)="\./([^"]+)"', get("").decode())
    assert len(names) >= 3 and all(len(get(name)) > 100 for name in [*names, "cairn_web.wasm", "cairn_web_simd.wasm"]), names


def play(image):
    port = image.environment["CAIRN_LISTEN"].rpartition(":")[2]
    key = image.root / "key"
    key.mkdir()
    shutil.chown(key, *map(int, image.user.split(":")))
    image.run(["cairn-token", "keygen", "--out", "/key/key"])
    with served(image, port):
        bot = ["cairn-bot", "--key", "/key/key", "--server", f"localhost:{port}", "--mode", "predict", "--inputs", "random",
               "--seconds", "4"]
        fetch_page()
        said = json.loads(subprocess.run(image.command(bot), check=True, capture_output=True).stdout.splitlines()[-1])
    assert said["state"] == "playing" and said["roots_compared"] > 0 and said["roots_differed"] == 0, said
    return said


def main():
    if sys.argv[1:] != ["--inside"]:
        # The port of the file is free in a network of its own.
        inner = f"ip link set lo up && exec {shlex.quote(sys.executable)} {shlex.quote(__file__)} --inside"
        root = tempfile.mkdtemp()
        try:
            image = build(pathlib.Path(root))
            saved = {"root": str(image.root), "user": image.user, "environment": image.environment, "entry": image.entry}
            subprocess.run(["unshare", "--net", "sh", "-c", inner], input=json.dumps(saved), text=True, check=True)
        finally:
            shutil.rmtree(root, ignore_errors=True)
        return
    image = Image.__new__(Image)
    image.__dict__.update(json.load(sys.stdin))
    image.root = pathlib.Path(image.root)
    said = play(image)
    print(f"the server of the container file and its bot: {said['roots_compared']} hashes agree")


if __name__ == "__main__":
    main()
