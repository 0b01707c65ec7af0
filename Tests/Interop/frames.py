"""HTTP/2 frames made by hand, and a client that says nothing but them."""

import socket
import ssl
import struct

from waiting import HANG
from wire import Closed, tls_context

NO_ERROR, PROTOCOL_ERROR, FLOW_CONTROL_ERROR, STREAM_CLOSED, FRAME_SIZE_ERROR = 0x0, 0x1, 0x3, 0x5, 0x6
REFUSED_STREAM, CANCEL, COMPRESSION_ERROR, CALM = 0x7, 0x8, 0x9, 0xB
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, END_HEADERS, PADDED, WITH_PRIORITY, ACK = 1, 4, 8, 32, 1
#: `GET https://a/`, without anything that HPACK would remember.
REQUEST = bytes.fromhex("828784010161")
#: `POST https://a/v1/device/log`, likewise.
DEVICE_REQUEST = bytes.fromhex("838704") + bytes([14]) + b"/v1/device/log" + bytes.fromhex("010161")
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def number(value):
    """The payload of WINDOW_UPDATE and RST_STREAM."""
    return struct.pack(">I", value)


class Raw:
    """A client that says what a test says, frame by frame, and remembers what came."""

    def __init__(self, gateway, acknowledges=True, preface=PREFACE + frame(SETTINGS, 0, 0)):
        raw = socket.create_connection((gateway.host, gateway.port), timeout=HANG)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = tls_context(gateway.trust).wrap_socket(raw, server_hostname=gateway.host)
        self.frames, self.rest, self.settled = [], b"", 0
        self.acknowledges = acknowledges
        self.send(preface)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.settimeout(HANG)
        try:
            self.socket.sendall(data)
        except (OSError, ssl.SSLError) as error:
            raise Closed(str(error)) from error

    def pump(self):
        self.socket.settimeout(HANG)
        try:
            data = self.socket.recv(1 << 16)
        except TimeoutError:
            raise
        except (OSError, ssl.SSLError) as error:
            raise Closed(str(error)) from error
        if not data:
            raise Closed("end of the connection")
        self.rest += data
        while len(self.rest) >= 9:
            size = int.from_bytes(self.rest[:3], "big")
            if len(self.rest) < 9 + size:
                break
            kind, flags, stream = self.rest[3], self.rest[4], int.from_bytes(self.rest[5:9], "big")
            self.frames.append((kind, flags, stream, self.rest[9 : 9 + size]))
            self.rest = self.rest[9 + size :]
            if kind == SETTINGS and not flags & ACK and self.acknowledges:
                self.send(frame(SETTINGS, ACK, 0))

    def all(self, kind, stream=None):
        return [each for each in self.frames if each[0] == kind and stream in (None, each[2])]

    def until(self, condition):
        while not condition():
            self.pump()

    def drain(self):
        """Takes what comes until the gateway closes."""
        try:
            while True:
                self.pump()
        except Closed:
            pass

    def settle(self):
        """Returns when all that was sent so far was dealt with; or when the gateway has hung up."""
        self.settled += 1
        data = b"%08d" % self.settled
        try:
            self.send(frame(PING, 0, 0, data))
            self.until(lambda: (PING, ACK, 0, data) in self.frames or self.all(GOAWAY))
        except Closed:
            pass

    @property
    def end(self):
        """The code of GOAWAY, once it is there."""
        try:
            self.until(lambda: self.all(GOAWAY))
        except (Closed, TimeoutError):
            pass
        return int.from_bytes(self.all(GOAWAY)[0][3][4:8], "big") if self.all(GOAWAY) else None
