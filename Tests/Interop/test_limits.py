"""What a stranger can take: every attack has a bound, and an honest sender is served meanwhile."""

import resource
import socket
import ssl
import struct
import time

import pytest

from gateway import ALERT
from wire import Closed, tls_context

CALM, PROTOCOL_ERROR, STREAM_CLOSED, FLOW_CONTROL_ERROR = 0xB, 0x1, 0x5, 0x3
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
#: `GET https://a/`, without anything that HPACK would remember.
REQUEST = bytes.fromhex("828784010161")
#: `POST https://a/v1/device/log`, likewise.
DEVICE_REQUEST = bytes.fromhex("838704") + bytes([14]) + b"/v1/device/log" + bytes.fromhex("010161")


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


class Raw:
    """A client that says what a test says, frame by frame, and remembers what came."""

    def __init__(self, gateway, acknowledges=True):
        raw = socket.create_connection((gateway.host, gateway.port), timeout=10)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = tls_context(gateway.trust).wrap_socket(raw, server_hostname=gateway.host)
        self.frames, self.rest, self.settled = [], b"", 0
        self.acknowledges = acknowledges
        self.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.settimeout(20)
        try:
            self.socket.sendall(data)
        except (OSError, ssl.SSLError) as error:
            raise Closed(str(error)) from error

    def pump(self, timeout=10.0):
        self.socket.settimeout(timeout)
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

    def all(self, kind):
        return [each for each in self.frames if each[0] == kind]

    def until(self, condition, timeout=10.0):
        end = time.monotonic() + timeout
        while not condition():
            self.pump(max(0.001, end - time.monotonic()))

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


def size_of(gateway):
    """Its resident memory, in MiB."""
    with open(f"/proc/{gateway.process.pid}/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / (1 << 20)


@pytest.fixture
def raw(gateway):
    with Raw(gateway) as raw:
        raw.settle()
        yield raw


@pytest.fixture(autouse=True)
def honest(gateway, device):
    """Whatever a test did, others are served."""
    yield
    assert gateway.push(device.token).status == 200


# Header lists


def bomb(stream, count):
    """A value of 3,900 bytes, put into the table of HPACK, and then named `count` times with a byte each."""
    value = b"a" * 3900
    size = len(value) - 127
    field = bytes([0x40, 1]) + b"x" + bytes([0x7F, size & 127 | 128, size >> 7]) + value
    block = REQUEST + field + b"\xbe" * count
    pieces = [block[place : place + 16_384] for place in range(0, len(block), 16_384)]
    frames = frame(HEADERS, END_STREAM | (END_HEADERS if len(pieces) == 1 else 0), stream, pieces[0])
    for number, piece in enumerate(pieces[1:], 2):
        frames += frame(CONTINUATION, END_HEADERS if number == len(pieces) else 0, stream, piece)
    return frames


@pytest.mark.parametrize("count", [100, 12_000, 110_000])
def test_a_header_bomb_is_reset_and_the_second_ends_the_connection(raw, count):
    raw.send(bomb(1, count))
    raw.settle()
    assert [each[3] for each in raw.all(RST_STREAM)] == [struct.pack(">I", CALM)]
    assert not raw.all(HEADERS) and not raw.all(GOAWAY)
    raw.send(frame(HEADERS, END_STREAM | END_HEADERS, 3, REQUEST))
    raw.until(lambda: raw.all(HEADERS))
    raw.send(bomb(5, count))
    assert raw.end == CALM


def test_our_own_routes_say_that_there_are_too_many_fields(gateway, connection):
    fields = [(f"x-{number}", "y" * 1000) for number in range(16)]
    response = connection.request("GET", "/v1/health", fields)
    assert (response.status, response["content-type"]) == (431, "application/problem+json")
    assert connection.request("GET", "/v1/health").status == 200


# Bodies


def test_incomplete_bodies_of_a_stranger_are_bounded(gateway, raw):
    before = size_of(gateway)
    streams = 0
    try:
        for stream in range(1, 600, 2):
            raw.send(frame(HEADERS, END_HEADERS, stream, DEVICE_REQUEST) + frame(DATA, 0, stream, b"x" * 16_384))
            streams += 1
            if stream % 100 == 1:
                raw.settle()
    except Closed:
        pass
    assert raw.end == CALM
    assert len(raw.all(RST_STREAM)) >= 1
    assert size_of(gateway) - before < 20


@pytest.mark.parametrize(("method", "path", "size"), [
    ("POST", "/v1/devices", 4096), ("PUT", "/v1/device/preferences", 256 << 10), ("PUT", "/v1/device/channels/x", 16 << 10)])
def test_a_body_is_as_large_as_its_route_takes(gateway, connection, method, path, size):
    assert connection.request(method, path, body=b"x" * size).status != 413
    refused = connection.request(method, path, body=b"x" * (size + 1))
    assert refused.status == 413 and str(size) in refused.json["detail"]


# Frames


def test_streams_that_the_gateway_is_made_to_reset_end_the_connection(gateway, raw):
    """CVE-2025-8671: a whole request, and then a window that overflows."""
    count = 0
    try:
        for stream in range(1, 10_001, 2):
            raw.send(
                frame(HEADERS, END_HEADERS | END_STREAM, stream, REQUEST)
                + frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", 0x7FFFFFFF)))
            count += 1
            if count % 50 == 0:
                raw.settle()
                if raw.all(GOAWAY):
                    break
    except Closed:
        pass
    assert raw.end == CALM and count < 1000


def test_who_never_reads_costs_no_memory(gateway):
    """Refused streams, of a client that acknowledges nothing and reads nothing: each would leave a frame behind."""
    before = size_of(gateway)
    with Raw(gateway, acknowledges=False) as raw:
        raw.socket.settimeout(3)
        sent = 0
        try:
            for start in range(1, 1_000_000, 2000):
                block = b"".join(frame(HEADERS, END_HEADERS, stream, REQUEST) for stream in range(start, start + 2000, 2))
                raw.socket.sendall(block)
                sent += 1000
        except (OSError, ssl.SSLError):
            pass
        assert sent < 500_000
        assert size_of(gateway) - before < 20


def test_pings_of_who_never_reads_cost_no_memory(gateway):
    before = size_of(gateway)
    with Raw(gateway) as raw:
        raw.socket.settimeout(3)
        try:
            for _ in range(2000):
                raw.socket.sendall(frame(PING, 0, 0, b"12345678") * 1000)
        except (OSError, ssl.SSLError):
            pass
        assert size_of(gateway) - before < 20


# Descriptors


def test_idle_connections_lock_nobody_out(start):
    gateway = start(wrapper=("prlimit", "--nofile=256"))
    device = gateway.device()
    context = tls_context(gateway.trust)
    idle = []

    def hold():
        raw = socket.create_connection((gateway.host, gateway.port), timeout=10)
        idle.append(context.wrap_socket(raw, server_hostname=gateway.host))

    for _ in range(150):
        hold()
    for _ in range(60):
        raw = socket.create_connection((gateway.host, gateway.port), timeout=10)
        raw.setblocking(False)
        idle.append(raw)
    for _ in range(5):
        assert gateway.push(device.token).status == 200
    gateway.wait_for_log("limit=descriptors")
    assert gateway.log.count("limit=descriptors") == 1, "once a minute"
    for each in idle:
        each.close()


def own_address():
    """An address of this machine that is not loopback's, if it has one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            address = probe.getsockname()[0]
        except OSError:
            return None
    return None if address.startswith("127.") else address


@pytest.mark.skipif(own_address() is None, reason="this machine has loopback alone")
def test_an_address_has_so_many_connections_until_it_shows_who_it_is(start):
    gateway = start(listen="0.0.0.0:0")
    device = gateway.device()
    gateway.addresses[0][0] = gateway.host = own_address()
    context = tls_context(gateway.trust)
    context.check_hostname = False
    held = [gateway.connect(context=context) for _ in range(32)]
    for each in held:
        each.until(lambda: each.settings)
    with pytest.raises((OSError, ssl.SSLError)):
        gateway.connect(context=context)
    gateway.wait_for_log("limit=address-connections")
    # Loopback has a budget of its own.
    gateway.addresses[0][0] = gateway.host = "127.0.0.1"
    assert gateway.push(device.token).status == 200
    gateway.addresses[0][0] = gateway.host = own_address()
    for each in held:
        assert gateway.push(device.token, connection=each).status == 200
    held += [gateway.connect(context=context) for _ in range(32)]
    for each in held:
        each.close()


# TLS


@pytest.mark.parametrize("cipher", ["ECDHE-ECDSA-AES256-SHA", "ECDHE-ECDSA-AES128-SHA256", "AES128-GCM-SHA256", "AES256-SHA"])
def test_old_ciphers_are_refused(gateway, cipher):
    context = tls_context(gateway.trust, version=ssl.TLSVersion.TLSv1_2)
    context.set_ciphers(cipher + ":@SECLEVEL=0")
    with pytest.raises((ssl.SSLError, ConnectionResetError)):
        gateway.connect(context=context)


# Streams that are over: what h2spec asks of RFC 9113 §5.1, strictly


def answered(raw):
    raw.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, REQUEST))
    raw.until(lambda: any(each[1] & END_STREAM and each[2] == 1 for each in raw.frames if each[0] in (HEADERS, DATA)))


def reset(raw):
    raw.send(frame(HEADERS, END_HEADERS, 1, REQUEST) + frame(RST_STREAM, 0, 1, struct.pack(">I", 8)))


@pytest.mark.parametrize("over", [answered, reset])
@pytest.mark.parametrize(("extra", "codes"), [
    # Of DATA nghttp2 does not tell; it drops it.
    (frame(HEADERS, END_HEADERS | END_STREAM, 1, REQUEST), [STREAM_CLOSED]),
    (frame(CONTINUATION, END_HEADERS, 1, REQUEST), [STREAM_CLOSED, PROTOCOL_ERROR]),
], ids=["HEADERS", "CONTINUATION"])
def test_5_1_a_frame_on_a_closed_stream_is_an_error(raw, over, extra, codes):
    over(raw)
    raw.send(extra)
    assert raw.end in codes


@pytest.mark.parametrize("extra", [
    frame(WINDOW_UPDATE, 0, 1, struct.pack(">I", 1)), frame(PRIORITY, 0, 1, bytes(5)), frame(RST_STREAM, 0, 1, bytes(4)),
], ids=["WINDOW_UPDATE", "PRIORITY", "RST_STREAM"])
def test_5_1_what_may_still_come_on_a_closed_stream_does_no_harm(raw, extra):
    answered(raw)
    raw.send(extra)
    raw.settle()
    assert not raw.all(GOAWAY)


@pytest.mark.parametrize("extra", [
    frame(DATA, END_STREAM, 1, b"test"), frame(RST_STREAM, 0, 1, bytes(4)), frame(WINDOW_UPDATE, 0, 1, struct.pack(">I", 1)),
    frame(CONTINUATION, END_HEADERS, 1, REQUEST),
], ids=["DATA", "RST_STREAM", "WINDOW_UPDATE", "CONTINUATION"])
def test_5_1_a_frame_on_an_idle_stream_is_an_error(raw, extra):
    raw.send(extra)
    assert raw.end == PROTOCOL_ERROR


@pytest.mark.parametrize(("stream", "first"), [(2, None), (3, 5), (4, 5)], ids=["even", "lower", "even and lower"])
def test_5_1_1_a_stream_number_that_is_even_or_lower_is_an_error(raw, stream, first):
    if first:
        raw.send(frame(HEADERS, END_HEADERS | END_STREAM, first, REQUEST))
    raw.send(frame(HEADERS, END_HEADERS | END_STREAM, stream, REQUEST))
    assert raw.end == PROTOCOL_ERROR


@pytest.mark.parametrize(("data", "code"), [
    (frame(SETTINGS, ACK, 0, bytes(6)), 0x6), (frame(SETTINGS, 0, 1, b""), PROTOCOL_ERROR), (frame(SETTINGS, 0, 0, bytes(3)), 0x6),
    (frame(PING, 0, 1, bytes(8)), PROTOCOL_ERROR), (frame(PING, 0, 0, bytes(6)), 0x6),
    (frame(GOAWAY, 0, 1, bytes(8)), PROTOCOL_ERROR), (frame(WINDOW_UPDATE, 0, 0, bytes(4)), PROTOCOL_ERROR),
    (frame(WINDOW_UPDATE, 0, 0, bytes(3)), 0x6), (frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 0x7FFFFFFF)), FLOW_CONTROL_ERROR),
    (frame(DATA, 0, 0, b"x"), PROTOCOL_ERROR), (frame(HEADERS, END_HEADERS | END_STREAM, 0, REQUEST), PROTOCOL_ERROR),
    (frame(RST_STREAM, 0, 0, bytes(4)), PROTOCOL_ERROR), (frame(5, END_HEADERS, 1, bytes(4) + REQUEST), PROTOCOL_ERROR),
    (frame(SETTINGS, 0, 0, struct.pack(">HI", 2, 2)), PROTOCOL_ERROR),
    (frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0x80000000)), FLOW_CONTROL_ERROR),
    (frame(SETTINGS, 0, 0, struct.pack(">HI", 5, 16_383)), PROTOCOL_ERROR),
    (frame(DATA, 0, 1, b"x" * 16_385), 0x6), (frame(HEADERS, END_HEADERS, 1, REQUEST + bytes(16_384)), 0x6),
    (frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\xff\xff\xff\xff\xff\xff"), 0x9),
    (frame(HEADERS, 0, 1, REQUEST) + frame(DATA, END_STREAM, 1, b"x"), PROTOCOL_ERROR),
    (frame(HEADERS, 0, 1, REQUEST) + frame(CONTINUATION, END_HEADERS, 3, REQUEST), PROTOCOL_ERROR),
    (frame(HEADERS, END_HEADERS | 0x8, 1, bytes([200]) + REQUEST), PROTOCOL_ERROR),
])
def test_6_a_frame_that_breaks_the_rules_of_its_kind_ends_the_connection(raw, data, code):
    raw.send(data)
    assert raw.end == code


@pytest.mark.parametrize("block", [
    REQUEST + b"\x00\x01X\x01y", REQUEST + b"\x00\x0aconnection\x05close", REQUEST + b"\x00\x02te\x07deflate",
    REQUEST + b"\x00\x05:test\x01y", REQUEST + b"\x82", b"\x87\x84\x01\x01a", b"\x82\x84\x01\x01a", b"\x82\x87\x01\x01a",
    b"\x82\x87\x04\x00\x01\x01a", b"\x00\x01x\x01y" + REQUEST, REQUEST + b"\x88",
], ids=["upper case", "connection", "te", "unknown pseudo field", "twice", "no method", "no scheme", "no path", "empty path",
        "late pseudo field", "pseudo field of an answer"])
def test_8_a_malformed_request_ends_its_stream_and_no_more(raw, block):
    raw.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, block))
    raw.settle()
    assert [int.from_bytes(each[3], "big") for each in raw.all(RST_STREAM)] == [PROTOCOL_ERROR]
    assert not raw.all(HEADERS) and not raw.all(GOAWAY)


def test_4_1_unknown_frames_and_flags_are_ignored(raw):
    raw.send(frame(0x16, 0xFF, 0, b"x" * 100) + frame(0x16, 0, 1, b"") + frame(PING, 0x16, 0, b"12345678"))
    raw.settle()
    assert (PING, ACK, 0, b"12345678") in raw.frames and not raw.all(GOAWAY)


def test_6_9_windows_are_kept_to(gateway, raw):
    """With a window of one byte an answer comes byte by byte; with none, not at all until there is one."""
    raw.send(frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0)) + frame(HEADERS, END_HEADERS | END_STREAM, 1, REQUEST))
    raw.until(lambda: raw.all(HEADERS))
    raw.settle()
    assert not raw.all(DATA)
    raw.send(frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 1)))
    raw.until(lambda: raw.all(DATA))
    assert len(raw.all(DATA)[0][3]) == 1
    raw.send(frame(WINDOW_UPDATE, 0, 1, struct.pack(">I", 1000)))
    raw.until(lambda: raw.all(DATA)[-1][1] & END_STREAM)
    assert b"".join(each[3] for each in raw.all(DATA)) == b'{"reason":"MethodNotAllowed"}'
