"""Each push once, in order, whatever kills the client."""

import fcntl
import json
import os
import pty
import random
import signal
import struct
import subprocess
import termios
import threading
import uuid

from gateway import PUSHCLI, SOAK, TOPIC
from screen import Screen, needs_tmux
from waiting import HANG, Bell, wait_for

PUSHES = 4_000 if SOAK else 1_500
KILLS = 40 if SOAK else 10


class Sender(threading.Thread):
    """Sends one push after another over one connection."""

    def __init__(self, gateway, token, count):
        super().__init__(daemon=True)
        self.gateway, self.token, self.count = gateway, token, count
        self.failure, self.sent = None, 0
        self.has_ended, self.changed = False, Bell()

    def run(self):
        try:
            with self.gateway.connect() as connection:
                for number in range(self.count):
                    body = b'{"aps":{"alert":{"title":"Push %d","body":"Text."},"badge":%d},"n":%d}' % ((number + 1,) * 3)
                    response = self.gateway.push(self.token, body, connection=connection, apns_id=str(uuid.uuid4()))
                    assert response.status == 200, response.body
                    self.sent += 1
        except Exception as failure:
            self.failure = failure
        finally:
            self.has_ended = True
            self.changed.ring()


def test_a_file_gets_each_push_once_and_in_order_however_often_its_subscriber_is_killed(gateway, device, tmp_path):
    """SIGKILL at random moments, under load: between write, cursor and acknowledgement, and within a write."""
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    print("seed", seed)
    sender = Sender(gateway, device.token, PUSHES)
    sender.start()
    path = tmp_path / "pushes.ndjson"
    path.touch()
    command = [PUSHCLI, "subscribe", "--state", gateway.state, "--device", device.name, "--json"]
    torn = 0
    for _ in range(KILLS):
        size = path.stat().st_size
        with open(path, "ab") as out:
            process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        # It is killed while it writes: some bytes after its first, however many come at a time.
        wanted = size + chance.randrange(1, 40_000)
        wait_for(lambda: path.stat().st_size >= wanted or sender.has_ended, "it writes", path, sender.changed)
        process.send_signal(signal.SIGKILL)
        process.wait()
        torn += not path.read_bytes().endswith(b"\n") if path.stat().st_size else 0
        # What a crash within a write leaves, at whatever place.
        if chance.random() < 0.3 and path.read_bytes().endswith(b"\n"):
            cursor = int((gateway.state / "devices" / f"{device.name}.cursor").read_text() or 0)
            with open(path, "ab") as out:
                line = b'{"type":"push","seq":%d,"id":"' % (cursor + 1_000_000)
                out.write(line[: chance.randrange(1, len(line))])
    sender.join(HANG)
    assert sender.failure is None
    print("torn by kills:", torn)

    with open(path, "ab") as out:
        last = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    wait_for(lambda: path.read_bytes().count(b"\n") >= PUSHES, "all are there", path, last)
    gateway.when(lambda: gateway.waiting(device) == 0, "all are acknowledged")
    last.terminate()
    assert last.wait() == 130
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, PUSHES + 1))
    assert [line["payload"]["n"] for line in lines] == list(range(1, PUSHES + 1))


def phone_on_terminal(gateway, device):
    """The full screen on a pseudo-terminal; what it draws is thrown away."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        [PUSHCLI, "subscribe", "--state", gateway.state, "--device", device.name],
        stdin=slave, stdout=slave, stderr=subprocess.DEVNULL, start_new_session=True)
    os.close(slave)

    def drain():
        try:
            while os.read(master, 65_536):
                pass
        except OSError:
            pass
        os.close(master)

    threading.Thread(target=drain, daemon=True).start()
    return process


@needs_tmux
def test_a_phone_that_is_killed_again_and_again_shows_every_push_once(gateway, device):
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    print("seed", seed)
    # The center counts fewer than these by the alerts that were closed alone: the first digit stays.
    count = 1_500 if SOAK else 550
    # What counts here are the alerts, of which a new app shows twenty an hour.
    gateway.prefer(device.name, "budget=none", app=TOPIC)
    sender = Sender(gateway, device.token, count)
    sender.start()
    journal = gateway.state / "devices" / f"{device.name}.phone"
    for _ in range(25 if SOAK else 8):
        process = phone_on_terminal(gateway, device)
        size = journal.stat().st_size if journal.exists() else 0
        wanted = size + chance.randrange(1, 30_000)
        wait_for(lambda: journal.exists() and journal.stat().st_size >= wanted or sender.has_ended, "it stores",
                 journal, sender.changed)
        process.kill()
        process.wait()
    sender.join(HANG)
    assert sender.failure is None

    screen = Screen(f"{PUSHCLI} subscribe --device {device.name} --state {gateway.state}")
    try:
        # Those that wait are one, the first among them; the badge is the last one, and the center counts each once.
        screen.shows("200 Notifications", f"Push {count}")
        screen.press("End")
        screen.shows("Push 1 ", "lines above")
        # Keys are for the alerts that were there half a second before.
        screen.close_alerts()
        # Of those that were closed alone, before the others settled, the center says that they were read.
        screen.shows(f"2 Center · {str(count)[0]}", f"({count})")
    finally:
        screen.close()


@needs_tmux
def test_a_memory_that_cannot_be_read_is_set_aside_with_one_line(gateway, device):
    journal = gateway.state / "devices" / f"{device.name}.phone"
    journal.write_bytes(b"a file of another kind\n")
    screen = Screen(f"{PUSHCLI} subscribe --device {device.name} --state {gateway.state}", columns=200)
    try:
        screen.shows("what this phone remembered can't be read; the old file is kept as", "News")
        screen.press("s")
        screen.drops("remembered")
        gateway.accepted(device.token, b'{"aps":{"alert":"Still here"}}')
        screen.shows("Still here", "Close")
    finally:
        screen.close()
    assert (journal.parent / (journal.name + ".set-aside")).read_bytes() == b"a file of another kind\n"


@needs_tmux
def test_a_phone_takes_keys_while_another_screen_has_locked_the_history(gateway, device):
    journal = gateway.state / "devices" / f"{device.name}.phone"
    screen = Screen(f"{PUSHCLI} subscribe --device {device.name} --state {gateway.state}", columns=200)
    try:
        screen.shows("● pushgateway")
        # A screen that is stopped in the middle of a write has this lock.
        with open(journal, "rb") as locked:
            fcntl.flock(locked, fcntl.LOCK_EX)
            gateway.accepted(device.token, b'{"aps":{"alert":"Platform 4"}}')
            screen.press("?")
            screen.shows(" Keys ")
            screen.press("Escape")
            assert "Platform 4" not in screen.text and gateway.waiting(device) == 1
        screen.shows("Platform 4", "Close")
        gateway.when(lambda: gateway.waiting(device) == 0, "it is acknowledged")
    finally:
        screen.close()


def test_a_full_disk_is_told_and_nothing_is_acknowledged(gateway, device, tmp_path):
    """The file size limit stands in for a disk: standard output can't grow, and the command ends with words."""
    gateway.accepted(device.token, b'{"aps":{"alert":"%s"}}' % (b"x" * 2_000))
    out = tmp_path / "out"
    script = f'ulimit -f 1; trap "" XFSZ; exec {PUSHCLI} subscribe --state {gateway.state} --device {device.name} --json --once'
    done = subprocess.run(["bash", "-c", script], stdout=open(out, "ab"), stderr=subprocess.PIPE, text=True, timeout=HANG)
    assert done.returncode == 1 and "can't be written" in done.stderr
    done = subprocess.run(
        [PUSHCLI, "subscribe", "--state", gateway.state, "--device", device.name, "--json", "--once"],
        stdout=open(out, "ab"), stderr=subprocess.PIPE, text=True, timeout=HANG)
    assert done.returncode == 0
    assert out.read_text().count("\n") == 1
