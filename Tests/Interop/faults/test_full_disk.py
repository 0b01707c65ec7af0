"""A disk that fills while the gateway runs, and is emptied again: a small tmpfs."""

import subprocess
import uuid

import pytest

from gateway import Gateway
from waiting import eventually

SIZE = 8 << 20


@pytest.fixture
def disk(tmp_path):
    """A file system of its own, which is soon full."""
    path = tmp_path / "disk"
    path.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "pushgateway-test", str(path)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"a tmpfs can't be mounted here: {done.stderr.strip()}")
    yield path
    subprocess.run(["umount", "--lazy", str(path)], check=True)


def fill(disk):
    """Takes all the room there is."""
    with open(disk / "ballast", "wb", buffering=0) as ballast:
        for size in [1 << 20, 4096, 1]:
            try:
                while True:
                    ballast.write(b"\0" * size)
            except OSError:
                pass


def health(gateway):
    with gateway.connect() as connection:
        response = connection.request("GET", "/v1/health")
        return response.status, response.json


class Accepted:
    """Sends pushes and keeps what was answered 200."""

    def __init__(self, gateway, device):
        self.gateway, self.device, self.ids = gateway, device, []
        self.connection = gateway.connect()

    def send(self, size=200):
        apns_id = str(uuid.uuid4())
        response = self.gateway.push(
            self.device.token, {"aps": {"alert": "x" * size}}, connection=self.connection, apns_id=apns_id)
        if response.status == 200:
            self.ids.append(apns_id)
        else:
            assert (response.status, response.reason) == (503, "ServiceUnavailable"), response.body
        return response.status


def test_a_disk_that_fills_refuses_pushes_and_loses_none_and_recovers_by_itself(disk):
    gateway = Gateway(disk / "state").start()
    try:
        device, idle = gateway.device(), gateway.device()
        sender = Accepted(gateway, device)
        stream = gateway.stream(idle)
        stream.caught_up()
        for _ in range(100):
            assert sender.send() == 200
        waiting_before = len(sender.ids)

        fill(disk)
        eventually(lambda: sender.send(3000) == 503, "the disk is full")
        for _ in range(50):
            assert sender.send(3000) == 503
        status, problems = eventually(lambda: (found := health(gateway))[0] == 503 and found, "health says so")
        mailbox = [problem for problem in problems["problems"] if problem["part"] == "mailbox"]
        assert mailbox and "the disk is full" in mailbox[0]["problem"], problems
        # What is open stays open, and what waits is delivered meanwhile.
        stream.quiet()
        catching_up = gateway.stream(device)
        assert [line["id"] for line in catching_up.caught_up()] == sender.ids
        catching_up.connection.close()

        (disk / "ballast").unlink()
        # Nobody sends anything: a load balancer that believes in health sends nothing until all is well.
        eventually(lambda: health(gateway)[0] == 200, "health is well again")
        for _ in range(100):
            assert sender.send() == 200
        assert len(sender.ids) >= waiting_before + 100
        # The same after a crash.
        gateway.kill()
        gateway.restart()
        stream = gateway.stream(device)
        assert [line["id"] for line in stream.caught_up()] == sender.ids
        stream.connection.close()
    finally:
        gateway.stop()


def test_a_gateway_that_finds_a_full_disk_when_it_starts_says_so_in_one_line_or_serves_what_it_has(disk):
    gateway = Gateway(disk / "state").start()
    device = gateway.device()
    sender = Accepted(gateway, device)
    for _ in range(100):
        sender.send()
    gateway.kill()
    fill(disk)
    gateway.spawn()
    if not gateway.is_ready():
        words = gateway.log.splitlines()[-1]
        assert "free some space" in words, gateway.log
        gateway.process = None
    else:
        gateway.kill()
    (disk / "ballast").unlink()
    gateway.start()
    try:
        stream = gateway.stream(device)
        assert [line["id"] for line in stream.caught_up()] == sender.ids
        stream.connection.close()
    finally:
        gateway.stop()
