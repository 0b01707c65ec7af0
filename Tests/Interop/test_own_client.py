"""The client of docs/receive/your-own-client.md, as on the page: it enrolls, and stores each push once, whatever ends it."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gateway import PUSHCLI, Device
from waiting import HANG, eventually, wait_for

PAGE = (Path(__file__).parents[2] / "docs/receive/your-own-client.md").read_text()
[PROGRAM] = re.findall(r"^```js receive.mjs\n(.*?)^```$", PAGE, re.M | re.S)
[INVITE] = re.findall(r"^```sh gateway\n(.*?)^```$", PAGE, re.M | re.S)
ENROLL, REGISTER, READ, ACKNOWLEDGE = re.findall(r"^```sh client\n(.*?)^```$", PAGE, re.M | re.S)


class Client:
    """A folder with the program, and the shell of the page."""

    def __init__(self, gateway, folder):
        self.gateway, self.folder, self.process = gateway, folder, None
        (folder / "bin").mkdir()
        (folder / "bin" / "pushcli").symlink_to(PUSHCLI)
        (folder / "receive.mjs").write_text(PROGRAM)
        self.environment = os.environ | {
            "PATH": f"{folder}/bin:{os.environ['PATH']}", "PUSHGATEWAY_STATE": str(gateway.state),
            "GATEWAY": f"https://localhost:{gateway.port}", "CA": gateway.trust}

    def shell(self, text):
        done = subprocess.run(
            ["bash", "-euc", text], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=HANG)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def join(self):
        invite = INVITE.replace("localhost:2197", f"localhost:{self.gateway.port}")
        enrolled = json.loads(self.shell(invite + ENROLL))
        assert enrolled.keys() == json.loads(re.search(r"^```json\n(.*?)^```$", PAGE, re.M | re.S)[1]).keys()
        self.environment["SECRET"] = enrolled["secret"]
        token = json.loads(self.shell(REGISTER))["token"]
        return Device(enrolled["name"], enrolled["secret"], token)

    def start(self):
        with (self.folder / "out").open("a") as out:
            self.process = subprocess.Popen(
                ["node", "receive.mjs"], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=out,
                stderr=subprocess.STDOUT)
        return self

    def stored(self):
        file = self.folder / "pushes.ndjson"
        lines = file.read_text().split("\n")[:-1] if file.exists() else []
        return [json.loads(line)["id"] for line in lines]

    def has(self, ids):
        wait_for(lambda: len(self.stored()) >= len(ids), lambda: (self.folder / "out").read_text(), self.folder)
        assert self.stored() == ids

    def end(self, kill=False):
        if self.process:
            self.process.kill() if kill else self.process.terminate()
            code, self.process = self.process.wait(HANG), None
            return code


@pytest.fixture
def client(start, tmp_path):
    folder = tmp_path / "client"
    folder.mkdir()
    client = Client(start(), folder)
    yield client
    client.end(kill=True)


def test_the_lines_of_the_page_read_and_acknowledge(client):
    device = client.join()
    push = client.gateway.accepted(device.token)
    with subprocess.Popen(
            ["bash", "-euc", f"exec {READ}"], env=client.environment, stdout=subprocess.PIPE, text=True) as reader:
        line = next(line for line in reader.stdout if '"type":"push"' in line)
        reader.terminate()
    assert json.loads(line.removeprefix("data: "))["id"] == push
    client.shell(ACKNOWLEDGE)
    eventually(lambda: client.gateway.waiting(device) == 0, "the push leaves the mailbox")


def test_the_program_stores_each_push_once(client):
    if not shutil.which("node"):
        pytest.skip("node is not there")
    device = client.join()
    ids = [client.gateway.accepted(device.token)]
    client.start().has(ids)
    client.end(kill=True)
    # A crash can leave a part of a line.
    with (client.folder / "pushes.ndjson").open("a") as file:
        file.write('{"type":"push","seq":')
    ids += [client.gateway.accepted(device.token) for _ in range(3)]
    client.start().has(ids)
    client.gateway.run("admin", "restart")
    ids.append(client.gateway.accepted(device.token))
    client.has(ids)
    assert client.end() == 0
    eventually(lambda: client.gateway.waiting(device) == 0, "the pushes leave the mailbox")
    # A program with a secret that was revoked ends, and does not try again.
    client.start()
    eventually(lambda: client.gateway.devices()[0]["streams"], "the program connects")
    client.gateway.run("devices", "remove", device.name)
    assert client.process.wait(HANG) == 0 and "revoked" in (client.folder / "out").read_text()
