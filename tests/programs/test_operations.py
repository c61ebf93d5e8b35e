# SPDX-License-Identifier: MIT
"""The first chapter of docs/OPERATIONS.md, from a package to a fleet: its commands are run as they stand, in a folder in place of / and on
free ports. What systemd and Kubernetes do is replaced (test_agones.py runs the fleet's files)."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest
from conftest import SOURCE

ELSEWHERE = ("apt-get ", "kubectl ", "python3 /usr/share/cairn/agones/")


def chapter():
    text = (SOURCE / "docs/OPERATIONS.md").read_text()
    return re.search(r"## From a package to a fleet\n(.*?)\n## ", text, re.S)[1]


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", chapter(), re.S)


def free_port(kind):
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Machine:
    """Runs lines of the chapter; the folder stands for the machine's root."""

    def __init__(self, kit):
        self.kit = kit
        self.ports = {"40000": free_port(socket.SOCK_DGRAM), "9100": free_port(socket.SOCK_STREAM), "443": free_port(socket.SOCK_STREAM)}
        self.started = []
        (kit.folder / "run/cairn").mkdir(parents=True)
        (kit.folder / "page").mkdir()
        (kit.folder / "page/index.html").write_text("<title>cairn</title>")
        self.environment = {**os.environ, "PATH": f"{kit.programs}:{os.environ['PATH']}", "CAIRN_WEB_ROOT": "page", "CAIRN_TOKEN_LIFETIME": "0"}

    def here(self, text):
        text = text.replace("/run/credentials/cairnd.service", f"{self.kit.folder}/etc/cairn").replace(" /etc/cairn", f" {self.kit.folder}/etc/cairn")
        text = text.replace("/run/cairn/hand", f"{self.kit.folder}/run/cairn/hand").replace("$(cat /etc", f"$(cat {self.kit.folder}/etc")
        text = re.sub("192.0.2.1|0.0.0.0", "127.0.0.1", text)
        return re.sub(r"(?<=[: ])(40000|9100|443)\b", lambda port: str(self.ports[port[0]]), text)

    def run(self, line):
        done = subprocess.run(["bash", "-c", self.here(line)], cwd=self.kit.folder, env=self.environment, capture_output=True, text=True,
                              timeout=30, check=False)
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
        return done.stdout

    def start(self, line):
        log = self.kit.folder / f"started{len(self.started)}.log"
        with log.open("w") as out:
            self.started.append(subprocess.Popen(["bash", "-c", f"exec {self.here(line)}"], cwd=self.kit.folder, env=self.environment, stdout=out,
                                                 stderr=subprocess.STDOUT))
        deadline = time.monotonic() + 30
        while " web " not in log.read_text():  # the last of its sockets
            assert self.started[-1].poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)

    def close(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()


@pytest.fixture(name="machine")
def fixture_machine(kit):
    machine = Machine(kit)
    yield machine
    machine.close()


def start_unit(machine):
    """What `systemctl enable --now cairnd` does, by the unit of the package and the lines that the chapter adds."""
    unit = (SOURCE / "packaging/systemd/cairnd.service").read_text() + blocks("ini")[0]
    assert unit.index("\nExecStart=\n") > unit.index("\nExecStart=/")  # the chapter's replaces that of the package
    command = re.findall(r"^ExecStart=/usr/bin/(.*)$", unit, re.M)[-1].replace("${CREDENTIALS_DIRECTORY}", f"{machine.kit.folder}/etc/cairn")
    machine.environment["CAIRN_CONFIG"] = f"{machine.kit.folder}/etc/cairn/cairnd.json"
    machine.start(command.replace("--log json", "--log text"))


def test_the_chapter_is_carried_out(machine):
    ran = []
    for line in "".join(blocks("sh")).splitlines():
        if line.startswith(ELSEWHERE):
            continue
        ran.append(line)
        if line.startswith("install "):
            machine.run(line)
            config = machine.kit.folder / "etc/cairn/cairnd.json"
            config.write_text(machine.here(blocks("json")[0]))
            assert json.loads(config.read_text())["drain-seconds"] == 600
        elif line.startswith("systemctl "):
            start_unit(machine)
        elif line.endswith("&"):
            first = machine.started[-1]
            machine.start(line.removesuffix("&"))
            assert first.wait(30) == 0
        else:
            said = machine.run(line)
            assert "cairn-bot" not in line or json.loads(said.splitlines()[-1])["played"], said
            assert "/metrics" not in line or "cairn_rooms_on_demand_total 1" in said
            assert "control/rooms" not in line or '"match-1"' in said
    assert len(ran) >= 10
    assert machine.started[-1].wait(30) == 0  # nobody is in a match: the drain ends it


def test_nginx_passes_the_page_and_websockets_and_nothing_for_operators(machine):
    nginx = shutil.which("nginx") or "/usr/sbin/nginx"
    if not os.path.exists(nginx) or shutil.which("openssl") is None:
        pytest.skip("no nginx or no openssl")
    folder = machine.kit.folder
    (folder / "etc/cairn").mkdir(parents=True)
    for name in "key", "operator":
        machine.run(f"cairn-token keygen --out /etc/cairn/{name}")
    machine.run("openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=play.example -out /etc/cairn/tls.pem -keyout /etc/cairn/tls.key")
    (folder / "etc/cairn/cairnd.json").write_text(machine.here(blocks("json")[0]))
    machine.start("cairnd --config /etc/cairn/cairnd.json --key-file /etc/cairn/key")
    (folder / "nginx.conf").write_text(f"""daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr;
        events {{}} http {{ access_log off; client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
        uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e; {machine.here(blocks("nginx")[0])} }}""")
    with (folder / "nginx.log").open("w") as log:
        proxy = subprocess.Popen([nginx, "-e", "stderr", "-c", folder / "nginx.conf"], stdout=log, stderr=subprocess.STDOUT)
    machine.started.append(proxy)

    def status(path, *more):
        done = subprocess.run(["curl", "-sk", "--max-time", "3", "--http1.1", "-o", folder / "body", "-w", "%{http_code}", "--resolve",
                               f"play.example:{machine.ports['443']}:127.0.0.1", *more, f"https://play.example:{machine.ports['443']}{path}"],
                              capture_output=True, text=True, check=False)
        return int(done.stdout)
    deadline = time.monotonic() + 20
    while status("/") == 0:
        assert proxy.poll() is None and time.monotonic() < deadline, (folder / "nginx.log").read_text()
        time.sleep(0.1)
    assert status("/") == 200 and "cairn" in (folder / "body").read_text()
    assert [status(path) for path in ("/metrics", "/control/rooms", "/drain", "/token", "/healthz")] == [404] * 5
    upgrade = [word for header in ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: cairn",
                                   "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==") for word in ("-H", header)]
    assert status("/ws", *upgrade, "-H", "Origin: https://play.example") == 101
    assert status("/ws", *upgrade, "-H", "Origin: https://elsewhere.example") == 403
    proxy.send_signal(signal.SIGTERM)
    proxy.wait(20)
