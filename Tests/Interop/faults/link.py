"""Two network namespaces, and a cable between them that goes through our hands: packet by packet."""

import contextlib
import ctypes
import fcntl
import heapq
import itertools
import os
import random
import select
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path

import pytest

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)


class Link(threading.Thread):
    """The namespaces `gateway` (10.77.0.1) and `device` (10.77.0.2), joined by two TUN devices.

    Every IP packet from one to the other waits `delay` seconds, is dropped with the probability `loss`, and dropped in
    any case when its direction is in `cut`: silently, as by a network that has gone.
    """

    ADDRESSES = {"gateway": "10.77.0.1", "device": "10.77.0.2"}

    def __init__(self, seed=0):
        super().__init__(daemon=True)
        self.delay, self.loss, self.cut = 0.0, 0.0, set()
        self.chance = random.Random(seed)
        self.carried = self.lost = 0
        self.names = {side: f"pushgw-{os.getpid()}-{side}" for side in self.ADDRESSES}
        self.tunnels = {}
        self.is_over = False
        try:
            for side, address in self.ADDRESSES.items():
                self._make(side, address)
        except (OSError, subprocess.CalledProcessError) as failure:
            self.remove()
            words = getattr(failure, "stderr", None) or str(failure)
            pytest.skip(f"network namespaces can't be made here: {words.strip()}")
        self.start()

    def _make(self, side, address):
        namespace, device = self.names[side], f"pg{os.getpid()}{side[0]}"
        ip = lambda *words: subprocess.run(["ip", *words], check=True, capture_output=True, text=True)
        ip("netns", "add", namespace)
        tunnel = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        self.tunnels[side] = tunnel
        fcntl.ioctl(tunnel, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TUN | IFF_NO_PI))
        ip("link", "set", device, "netns", namespace)
        ip("-n", namespace, "link", "set", "lo", "up")
        ip("-n", namespace, "addr", "add", f"{address}/24", "dev", device)
        ip("-n", namespace, "link", "set", device, "up")

    def run(self):
        others = dict(zip(self.tunnels.values(), reversed(self.tunnels.values())))
        sides = {tunnel: side for side, tunnel in self.tunnels.items()}
        queue, numbers = [], itertools.count()
        while not self.is_over:
            timeout = max(0, queue[0][0] - time.monotonic()) if queue else 0.05
            for tunnel in select.select(list(others), [], [], min(timeout, 0.05))[0]:
                with contextlib.suppress(BlockingIOError):
                    while True:
                        packet = os.read(tunnel, 65_536)
                        if sides[tunnel] in self.cut or self.chance.random() < self.loss:
                            self.lost += 1
                            continue
                        heapq.heappush(queue, (time.monotonic() + self.delay, next(numbers), others[tunnel], packet))
            while queue and queue[0][0] <= time.monotonic():
                _, _, tunnel, packet = heapq.heappop(queue)
                self.carried += 1
                with contextlib.suppress(OSError):
                    os.write(tunnel, packet)

    def connections(self, pid) -> int:
        """How many connections to the device's side a process on the gateway's side holds open."""
        other = struct.unpack("=I", socket.inet_aton(self.ADDRESSES["device"]))[0]
        rows = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
        established = "01"
        return sum(row[2].startswith(f"{other:08X}:") and row[3] == established for row in rows)

    def within(self, side) -> list[str]:
        """What stands before a command that runs on this side."""
        return ["ip", "netns", "exec", self.names[side]]

    def enter(self, side):
        """Moves the calling thread to a side: sockets that it makes from now on are there."""
        with open(f"/var/run/netns/{self.names[side]}") as namespace:
            if LIBC.setns(namespace.fileno(), CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")

    @contextlib.contextmanager
    def inside(self, side):
        with open("/proc/thread-self/ns/net") as home:
            self.enter(side)
            try:
                yield
            finally:
                LIBC.setns(home.fileno(), CLONE_NEWNET)

    def remove(self):
        self.is_over = True
        if self.is_alive():
            self.join()
        for tunnel in self.tunnels.values():
            os.close(tunnel)
        for name in self.names.values():
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
