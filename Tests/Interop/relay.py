"""A TCP relay, which can be cut: the network between two processes of this machine."""

import itertools
import socket
import threading
import time

from waiting import HANG


class Relay:
    """Listens on a port of its own, and connects each connection to one of its targets, one after the other.

    While it is cut, connections are ended, and new ones get no answer. Everything is held up for `delay` seconds. Each
    connection to a target begins with the bytes `greeting`.
    """

    def __init__(self, *targets, delay=0, greeting=b""):
        self.delay, self.greeting = delay, greeting
        self.targets, self.turn = list(targets), itertools.count()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        self.lock, self.pairs, self.is_cut = threading.Lock(), set(), False
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(near,), daemon=True).start()

    def serve(self, near):
        far = None if self.is_cut else self.connect()
        if far is None:
            near.close()
            return
        pair = (near, far)
        with self.lock:
            self.pairs.add(pair)
        for source, sink in (pair, pair[::-1]):
            threading.Thread(target=self.copy, args=(source, sink, pair), daemon=True).start()

    def connect(self):
        """To the target whose turn it is, or the next that takes it."""
        start = next(self.turn)
        for step in range(len(self.targets)):
            try:
                far = socket.create_connection(self.targets[(start + step) % len(self.targets)], timeout=HANG)
            except OSError:
                continue
            far.settimeout(None)
            far.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            far.sendall(self.greeting)
            return far
        return None

    def copy(self, source, sink, pair):
        try:
            while data := source.recv(1 << 16):
                time.sleep(self.delay)
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            self.end(pair)

    def end(self, pair):
        with self.lock:
            self.pairs.discard(pair)
        for one in pair:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()

    def cut(self):
        self.is_cut = True
        for pair in list(self.pairs):
            self.end(pair)

    def heal(self):
        self.is_cut = False

    def close(self):
        # A blocked accept ends with the shutdown, not with the close.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut()
