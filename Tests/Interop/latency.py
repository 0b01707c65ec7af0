"""Time from a key to the screen, while pushes come in and the center is full.

  Tests/Interop/run PATH_TO_PUSHCLI --program latency.py [--entries 10000] [--rate 50] [--keys 300]

Every second key opens the help, and is timed until its frame has arrived; between them the list is paged through. It prints
the percentiles in milliseconds.
"""

import argparse
import fcntl
import os
import pty
import select
import struct
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path

from gateway import PUSHCLI, Gateway

PUSH = b'{"aps":{"alert":{"title":"Push %d","body":"What it says is of a usual length, more or less."},"badge":%d}}'


class Phone:
    """`pushcli subscribe` on a terminal of 80 columns and 24 rows."""

    def __init__(self, device, state):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", LANG="C.UTF-8")
            os.execv(PUSHCLI, [PUSHCLI, "subscribe", "--device", device, "--state", str(state)])
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    def read(self, seconds, until=None):
        """What is drawn in a time, or until there is a word; whether that came."""
        end, seen = time.monotonic() + seconds, b""
        while (left := end - time.monotonic()) > 0:
            if select.select([self.terminal], [], [], left)[0]:
                seen += os.read(self.terminal, 65_536)
            if until and until in seen:
                return True
        return False

    def press(self, keys):
        os.write(self.terminal, keys)


def main():
    options = argparse.ArgumentParser()
    for name, value in [("--entries", 10_000), ("--rate", 50), ("--keys", 300)]:
        options.add_argument(name, type=int, default=value)
    options = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway(Path(folder) / "state").start()
        try:
            measure(gateway, options)
        finally:
            gateway.stop()


def measure(gateway, options):
    device = gateway.device()
    with gateway.connect() as connection:
        for number in range(options.entries):
            answer = gateway.push(device.token, PUSH % (number, number), connection=connection)
            assert answer.status == 200, answer
    phone = Phone(device.name, gateway.state)
    phone.read(15, b"Close All")
    phone.read(1.5)
    for keys in [b"c", b"2"]:
        phone.press(keys)
        phone.read(1)
    stop = threading.Event()

    def load():
        with gateway.connect() as connection:
            number = 0
            while not stop.wait(1 / options.rate):
                number += 1
                # Badges only, as most of a burst's pushes are for the screen: no alert covers what is timed.
                gateway.push(device.token, b'{"aps":{"badge":%d}}' % number, connection=connection)

    sender = threading.Thread(target=load)
    sender.start()
    times = []
    for _ in range(options.keys):
        phone.press(b"\x1b[6~")
        phone.read(0.03)
        began = time.monotonic()
        phone.press(b"?")
        if not phone.read(2, b"Keys"):
            sys.exit("the help did not come")
        times.append((time.monotonic() - began) * 1_000)
        phone.press(b"x")
        phone.read(0.03)
    stop.set()
    sender.join()
    phone.press(b"\x03")
    times.sort()
    parts = " ".join(f"{name} {times[min(int(len(times) * part), len(times) - 1)]:.1f}"
                     for name, part in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1)])
    print(f"{options.entries} entries, {options.rate} pushes a second, {len(times)} keys: {parts} ms")


if __name__ == "__main__":
    main()
