"""A raw HTTP/2 client on h2 that remembers every frame it received, in order."""

import json
import os
import socket
import ssl
from dataclasses import dataclass, field

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
from documents import check_line
from hyperframe.frame import Frame
from waiting import HANG


@dataclass
class Received:
    """One frame as it arrived."""

    name: str
    stream: int
    flags: frozenset
    size: int
    frame: Frame

    def __repr__(self):
        return f"{self.name}({self.stream}, {self.size} bytes, {'+'.join(sorted(self.flags)) or '-'})"


@dataclass
class Response:
    """What came back on one stream."""

    stream: int
    fields: list = field(default_factory=list)
    body: bytes = b""
    is_ended: bool = False
    reset: int | None = None
    frames: list = field(default_factory=list)

    def __getitem__(self, name):
        values = [value for key, value in self.fields if key == name]
        assert len(values) <= 1, f"{name} came {len(values)} times"
        return values[0] if values else None

    @property
    def status(self):
        return int(self[":status"]) if self[":status"] else None

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def reason(self):
        return self.json["reason"] if self.body else None

    @property
    def shape(self):
        """The frames of the stream in short: `["HEADERS+END_STREAM"]`."""
        return [frame.name + ("+END_STREAM" if "END_STREAM" in frame.flags else "") for frame in self.frames]


class Closed(Exception):
    """The gateway closed the connection."""


def tls_context(trust, alpn=("h2",), version=None, certificate=None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=trust)
    if alpn:
        context.set_alpn_protocols(list(alpn))
    if version:
        context.minimum_version = context.maximum_version = version
    if certificate:
        context.load_cert_chain(*certificate)
    return context


class Connection:
    """A connection to a gateway; the preface goes out at once, and nothing waits for SETTINGS."""

    def __init__(
        self, gateway, *, alpn=("h2",), version=None, preface=True, certificate=None, name=None, listener=0,
        context=None, session=None, admin=False,
    ):
        self.gateway = gateway
        if admin:
            self.socket = socket.socket(socket.AF_UNIX)
            # The address of a socket has at most 107 bytes; the path of a folder may have more.
            folder = os.open(gateway.state, os.O_PATH)
            try:
                self.socket.connect(f"/proc/self/fd/{folder}/admin.sock")
            finally:
                os.close(folder)
        else:
            host, port = gateway.addresses[listener]
            raw = socket.create_connection((host, int(port)), timeout=HANG)
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            context = context or tls_context(gateway.trust, alpn, version, certificate)
            self.socket = context.wrap_socket(raw, server_hostname=name or host, session=session)
        self.h2 = h2.connection.H2Connection(
            h2.config.H2Configuration(
                client_side=True, header_encoding="utf-8", validate_outbound_headers=False,
                normalize_outbound_headers=False))
        self.frames: list[Received] = []
        self.responses: dict[int, Response] = {}
        self.settings: dict[int, int] | None = None
        self.goaway = None
        self.pongs: list[bytes] = []
        self._unparsed = b""
        self._next = 1
        if preface:
            self.h2.initiate_connection()
            self.h2.increment_flow_control_window(1 << 24)
            self.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    # Sending

    def flush(self):
        if data := self.h2.data_to_send():
            # Whatever a read may wait for: half a write that is given up leaves a connection that says something else.
            self.socket.settimeout(HANG)
            try:
                self.socket.sendall(data)
            # After a write that failed OpenSSL has other names for the same (BAD_LENGTH).
            except (ConnectionResetError, BrokenPipeError, ssl.SSLError) as error:
                raise Closed(str(error)) from error

    def open(self, method, path, fields=(), *, authority=":authority", end=False, flush=True) -> int:
        """Sends the head of a request; `authority` names the field that carries the host."""
        stream, self._next = self._next, self._next + 2
        head = [(":method", method), (":scheme", "https"), (":path", path)]
        host = [(authority, f"{self.gateway.host}:{self.gateway.port}")]
        head += host if authority.startswith(":") else []
        head += [] if authority.startswith(":") else host
        self.h2.send_headers(stream, head + list(fields), end_stream=end)
        self.responses[stream] = Response(stream)
        if flush:
            self.flush()
        return stream

    def write(self, stream, data: bytes, *, end=False, flush=True):
        while len(data) > (room := min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)):
            if room:
                self.h2.send_data(stream, data[:room])
                data = data[room:]
            else:
                self.pump()
        self.h2.send_data(stream, data, end_stream=end)
        if flush:
            self.flush()

    def send(self, method, path, fields=(), body=b"", *, flush=True, **options) -> int:
        stream = self.open(method, path, fields, end=not body, flush=False, **options)
        if body:
            self.write(stream, body, end=True, flush=False)
        if flush:
            self.flush()
        return stream

    def request(self, method, path, fields=(), body=b"", **options) -> Response:
        return self.wait(self.send(method, path, fields, body, **options))

    # Receiving

    def pump(self, seconds=HANG):
        """Takes what comes next. Raises `Closed` at the end of the connection.

        A load that has its own pace gives `seconds`, after which there is a `TimeoutError`.
        """
        self._answer()
        self.socket.settimeout(seconds)
        try:
            data = self.socket.recv(1 << 17)
        except (ConnectionResetError, BrokenPipeError, ssl.SSLEOFError, ssl.SSLZeroReturnError) as error:
            raise Closed(str(error)) from error
        if not data:
            raise Closed("end of the connection")
        self._record(data)
        for event in self.h2.receive_data(data):
            self._handle(event)
        self._answer()

    def _answer(self):
        try:
            self.flush()
        except Closed:
            pass  # What the gateway said before it closed can still be read.

    def until(self, condition):
        """Takes what comes until `condition()` holds, and returns what it returned."""
        while not (result := condition()):
            self.pump()
        return result

    def wait(self, stream) -> Response:
        response = self.responses[stream]
        self.until(lambda: response.is_ended or response.reset is not None)
        return response

    def drain(self):
        """Takes what comes until the gateway closes."""
        try:
            while True:
                self.pump()
        except Closed:
            pass

    def ping(self, data=b"12345678"):
        self.h2.ping(data)
        self.flush()
        self.until(lambda: data in self.pongs)

    def _record(self, data):
        self._unparsed += data
        while len(self._unparsed) >= 9:
            frame, size = Frame.parse_frame_header(memoryview(self._unparsed[:9]))
            if len(self._unparsed) < 9 + size:
                break
            frame.parse_body(memoryview(self._unparsed[9 : 9 + size]))
            self._unparsed = self._unparsed[9 + size :]
            name = type(frame).__name__.removesuffix("Frame").upper()
            received = Received(name, frame.stream_id, frozenset(frame.flags), size, frame)
            self.frames.append(received)
            if frame.stream_id in self.responses and name not in ("WINDOWUPDATE", "PRIORITY"):
                self.responses[frame.stream_id].frames.append(received)

    def _handle(self, event):
        match event:
            case h2.events.ResponseReceived():
                self.responses[event.stream_id].fields = list(event.headers)
            case h2.events.DataReceived():
                self.responses[event.stream_id].body += event.data
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            case h2.events.StreamEnded():
                self.responses[event.stream_id].is_ended = True
            case h2.events.StreamReset():
                self.responses[event.stream_id].reset = event.error_code
            case h2.events.RemoteSettingsChanged():
                changed = {int(code): setting.new_value for code, setting in event.changed_settings.items()}
                self.settings = (self.settings or {}) | changed
            case h2.events.PingAckReceived():
                self.pongs.append(event.ping_data)
            case h2.events.ConnectionTerminated():
                self.goaway = event


class DeviceStream:
    """A device's NDJSON stream (design §4)."""

    def __init__(self, connection: Connection, secret: str, *, cursor=0, hello=True, **state):
        self.connection = connection
        self.stream = connection.open("POST", "/v1/device/stream", [("authorization", f"bearer {secret}")])
        self.response = connection.responses[self.stream]
        self.lines: list[dict] = []
        self._taken = 0
        if hello:
            self.say(type="hello", cursor=cursor, **state)

    def say(self, **line):
        self.connection.write(self.stream, json.dumps(line).encode() + b"\n")

    def _cut(self):
        while (end := self.response.body.find(b"\n", self._taken)) >= 0:
            self.lines.append(json.loads(self.response.body[self._taken : end]))
            check_line(self.lines[-1])
            self._taken = end + 1

    def next(self, kind=None) -> dict:
        """The next line, which must be of this kind."""

        def line():
            self._cut()
            assert self.lines or not self.response.is_ended, "the stream ended"
            return self.lines.pop(0) if self.lines else None

        found = self.connection.until(line)
        assert kind in (None, found["type"]), f"{kind} was due, not {found}"
        return found

    def next_of(self, kind, id=None) -> dict:
        """The next line of a kind, whatever comes before it."""
        while (line := self.next())["type"] != kind or (id or line["id"]) != line["id"]:
            pass
        return line

    def caught_up(self) -> list[dict]:
        """Everything up to `caught-up`, without the welcome."""
        found = []
        while (line := self.next())["type"] != "caught-up":
            found.append(line)
        return [line for line in found if line["type"] != "welcome"]

    def acknowledge(self, seq):
        self.say(type="ack", seq=seq)

    def quiet(self):
        """Sees that everything the gateway had to say has been said: a PING's answer comes after it."""
        self.connection.ping(len(self.connection.pongs).to_bytes(8, "big"))
        self._cut()
        return self.lines

    def end(self):
        self.connection.write(self.stream, b"", end=True)
        self.connection.wait(self.stream)
        self._cut()
