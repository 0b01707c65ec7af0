"""What RFC 9113 (HTTP/2) and RFC 7541 (HPACK) ask of a server, a case for each sentence.

The cases are those that h2spec 2.6.1 knows in its strict mode, all 147, under its numbers; what must come back is what the
RFC says, where the tool would also take a connection that just ends. Nothing here depends on time: what must not come is
looked for once a PING is answered that was sent last, or a request.
"""

import collections
import struct
from dataclasses import dataclass

import pytest

from frames import (
    ACK, CANCEL, COMPRESSION_ERROR, CONTINUATION, DATA, END_HEADERS, END_STREAM, FLOW_CONTROL_ERROR, FRAME_SIZE_ERROR, GOAWAY, HEADERS,
    NO_ERROR, PADDED, PING, PREFACE, PRIORITY, PROTOCOL_ERROR, PUSH_PROMISE, RST_STREAM, SETTINGS, STREAM_CLOSED, WINDOW_UPDATE,
    WITH_PRIORITY, Raw, frame, number)
from wire import Closed

# What is sent


def literal(name, value, *, kind=0x00):
    """A field that HPACK does not know: without indexing (RFC 7541 §6.2.2), 0x10 never indexed, 0x40 remembered."""
    return bytes([kind, len(name)]) + name + bytes([len(value)]) + value


def pseudo(method=b"\x82", scheme=b"\x87", path=b"\x04\x0a/3/device/", authority=b"\x01\x01a"):
    """The pseudo-header fields of a request, from the static table where it has them (RFC 7541, appendix A)."""
    return method + scheme + path + authority


GET, HEAD, POST = pseudo(), pseudo(b"\x02\x04HEAD"), pseudo(b"\x83")
#: `x: aaa…`, 100 bytes.
FIELD = literal(b"x", b"a" * 100)
MAXIMUM = 0x7FFFFFFF
#: What a window or a stream is told to begin with, what a push may be, how large a frame may be.
ENABLE_PUSH, INITIAL_WINDOW, FRAME_SIZE = 2, 4, 5


def head(block=GET, stream=1, *, end=True, whole=True, flags=0, before=b"", after=b""):
    """HEADERS: a request without a body, all in one frame, if nothing else is said."""
    flags |= (END_STREAM if end else 0) | (END_HEADERS if whole else 0)
    return frame(HEADERS, flags, stream, before + block + after)


def more(block=FIELD, stream=1, *, whole=True):
    return frame(CONTINUATION, END_HEADERS if whole else 0, stream, block)


def data(body=b"test", stream=1, *, end=True):
    return frame(DATA, END_STREAM if end else 0, stream, body)


def settings(*pairs):
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", *pair) for pair in pairs))


def window(increment, stream=1):
    return frame(WINDOW_UPDATE, 0, stream, number(increment))


def depends(stream=1, on=0, weight=255, exclusive=False):
    return frame(PRIORITY, 0, stream, priority(on, weight, exclusive))


def priority(on=0, weight=255, exclusive=False):
    return number(on | (1 << 31 if exclusive else 0)) + bytes([weight])


def reset(stream=1, code=CANCEL):
    return frame(RST_STREAM, 0, stream, number(code))


#: No answer can end while its window is shut, so that its stream stays half-closed (remote).
SHUT = settings((INITIAL_WINDOW, 0))


# What is waited for between two of them


def settled(raw):
    raw.settle()


def answered(raw):
    """The stream is closed: both sides have ended it."""
    raw.until(lambda: any(each[0] in (HEADERS, DATA) and each[1] & END_STREAM for each in raw.frames if each[2] == 1))


def some_data(raw):
    raw.until(lambda: raw.all(DATA, 1))


# What must come back


def answer(raw, stream=1):
    """The request is answered, whole, and the connection goes on."""
    raw.until(lambda: any(each[1] & END_STREAM for each in raw.all(HEADERS, stream) + raw.all(DATA, stream)))
    raw.settle()
    assert raw.all(HEADERS, stream) and not raw.all(RST_STREAM) and not raw.all(GOAWAY)


def head_alone(raw):
    answer(raw)
    assert not raw.all(DATA)


def answer_on(stream):
    return lambda raw: answer(raw, stream)


def pong(payload=None):
    """A PING is acknowledged, with its payload, and the connection goes on."""

    def check(raw):
        raw.settle()
        if payload is not None:
            # The first is that of the preface, the last of what was just sent.
            assert [each[1:] for each in raw.all(PING)[1:-1]] == [(ACK, 0, payload)]
        assert not raw.all(GOAWAY)

    return check


def settings_first(raw):
    raw.settle()
    assert raw.frames[0][0] == SETTINGS and not raw.frames[0][1] & ACK


def acknowledged(raw):
    """SETTINGS were acknowledged, once for those of the preface and once for those that the test sent."""
    raw.settle()
    assert [each for each in raw.all(SETTINGS) if each[1] & ACK] == [(SETTINGS, ACK, 0, b"")] * 2


def connection_error(*codes):
    """GOAWAY with one of these codes is the last that is said, and the connection is closed (RFC 9113 §5.4.1)."""

    def check(raw):
        assert raw.end in codes
        raw.drain()
        assert raw.frames[-1][0] == GOAWAY

    return check


def stream_error(*codes, stream=1):
    """RST_STREAM, and nothing else on this stream; others are served (§5.4.2)."""

    def check(raw):
        raw.until(lambda: raw.all(RST_STREAM) or raw.all(GOAWAY))
        assert [(each[2], int.from_bytes(each[3], "big")) for each in raw.all(RST_STREAM)] in [[(stream, code)] for code in codes]
        raw.send(head(stream=2001))
        raw.until(lambda: raw.all(HEADERS, 2001) or raw.all(GOAWAY))
        assert not raw.all(GOAWAY)

    return check


def only_one_byte(raw):
    """The window holds a single byte, and no more than that is sent."""
    some_data(raw)
    raw.settle()
    assert [len(each[3]) for each in raw.all(DATA)] == [1]


def one_byte_more(raw):
    """Three bytes went out; the window, negative by one then, was raised by two: there is room for one."""
    raw.settle()
    assert [len(each[3]) for each in raw.all(DATA)] == [3, 1]


def closed(raw):
    """The connection is closed, with or without a word."""
    raw.drain()
    assert not raw.all(HEADERS)


def answer_and_end(raw):
    """A client that goes away gets the answers that it waits for, and then the end; it broke no rule."""
    raw.drain()
    assert raw.all(HEADERS, 1) and raw.all(DATA, 1)[-1][1] & END_STREAM
    assert all(int.from_bytes(each[3][4:8], "big") == NO_ERROR for each in raw.all(GOAWAY))


@dataclass
class Case:
    number: str
    section: str
    what: str
    steps: list
    expected: object
    preface: bytes = PREFACE + frame(SETTINGS, 0, 0)


def case(number, section, what, *steps, preface=None):
    *steps, expected = steps
    return Case(number, section, what, steps, expected, **({"preface": preface} if preface is not None else {}))


BAD_PING = frame(PING, 0, 3, bytes(8))
UNKNOWN = frame(0x16, 0, 0, bytes(8))
#: `custom-key` and `custom-value` as RFC 7541, appendix C.4.3, has them in Huffman's code, and a value that ends in its middle.
HUFFMAN_KEY = b"\x88" + bytes.fromhex("25a849e95ba97d7f")
HUFFMAN_VALUE = b"\x89" + bytes.fromhex("25a849e95bb8e8b4bf")
PLAIN = literal(b"custom-key", b"custom-value")
#: `user-agent` is number 58 of the static table.
AGENT, AGENT_VALUE = 58, b"\x06gopher"

GENERIC = [
    case("generic/1/1", "3.4", "a client's preface is answered with SETTINGS", settings_first),
    case("generic/2/1", "5.1", "PRIORITY on an idle stream", depends(), pong()),
    case("generic/2/2", "5.1", "WINDOW_UPDATE on a half-closed stream", SHUT, head(), settled, window(1), only_one_byte),
    case("generic/2/3", "5.1", "PRIORITY on a half-closed stream", SHUT, head(), settled, depends(), window(1), only_one_byte),
    case("generic/2/4", "5.1", "RST_STREAM on a half-closed stream", SHUT, head(), settled, reset(), pong()),
    case("generic/2/5", "5.1", "PRIORITY on a closed stream", head(), answered, depends(), pong()),
    case("generic/3.1/1", "6.1", "a DATA frame", head(POST, end=False), data(), answer),
    case("generic/3.1/2", "6.1", "two DATA frames", head(POST, end=False), data(end=False), data(), answer),
    case("generic/3.1/3", "6.1", "a DATA frame with padding",
         head(POST, end=False), frame(DATA, END_STREAM | PADDED, 1, b"\x05test" + bytes(5)), answer),
    case("generic/3.2/1", "6.2", "a HEADERS frame", head(), answer),
    case("generic/3.2/2", "6.2", "a HEADERS frame with padding", head(flags=PADDED, before=b"\x05", after=bytes(5)), answer),
    case("generic/3.2/3", "6.2", "a HEADERS frame with a priority", head(flags=WITH_PRIORITY, before=priority()), answer),
    case("generic/3.3/1", "6.3", "PRIORITY with the least weight", depends(weight=0), head(), answer),
    case("generic/3.3/2", "6.3", "PRIORITY with the greatest weight", depends(weight=255), head(), answer),
    case("generic/3.3/3", "6.3", "PRIORITY that depends on a stream", depends(on=3), head(), answer),
    case("generic/3.3/4", "6.3", "PRIORITY that is exclusive", depends(on=3, exclusive=True), head(), answer),
    case("generic/3.3/5", "6.3", "PRIORITY opens nothing: a lower stream may begin", depends(7), head(stream=1), answer),
    case("generic/3.4/1", "6.4", "RST_STREAM", head(POST, end=False), reset(), pong()),
    case("generic/3.5/1", "6.5", "SETTINGS", settings((INITIAL_WINDOW, 100)), acknowledged),
    case("generic/3.7/1", "6.7", "PING", frame(PING, 0, 0, b"a1b2c3d4"), pong(b"a1b2c3d4")),
    case("generic/3.8/1", "6.8", "GOAWAY of a client", head(POST, end=False), frame(GOAWAY, 0, 0, bytes(8)), data(), answer_and_end),
    case("generic/3.9/1", "6.9", "WINDOW_UPDATE for the connection", window(1, stream=0), head(), answer),
    case("generic/3.9/2", "6.9", "WINDOW_UPDATE for a stream", head(POST, end=False), window(1), data(), answer),
    case("generic/3.10/1", "6.10", "CONTINUATION", head(GET[:5], whole=False), more(GET[5:]), answer),
    case("generic/3.10/2", "6.10", "CONTINUATION, twice", head(GET[:5], whole=False), more(GET[5:9], whole=False), more(GET[9:]), answer),
    case("generic/4/1", "8.1", "GET", head(), answer),
    case("generic/4/2", "8.1", "HEAD is answered without DATA", head(HEAD), head_alone),
    case("generic/4/3", "8.1", "POST", head(POST, end=False), data(), answer),
    case("generic/4/4", "8.1", "POST with trailers", head(POST, end=False), data(end=False), head(PLAIN), answer),
    case("generic/5/1", "7541 6.1", "an indexed field", head(GET + b"\xba"), answer),
    case("generic/5/2", "7541 6.2.1", "a field to remember, its name by number",
         head(GET + bytes([0x40 | AGENT]) + AGENT_VALUE), head(GET + b"\xbe", 3), answer_on(3)),
    case("generic/5/3", "7541 6.2.1", "a field to remember, its name by number, in Huffman's code",
         head(GET + bytes([0x40 | AGENT]) + HUFFMAN_VALUE), head(GET + b"\xbe", 3), answer_on(3)),
    case("generic/5/4", "7541 6.2.1", "a field to remember with a new name",
         head(GET + literal(b"custom-key", b"custom-value", kind=0x40)), head(GET + b"\xbe", 3), answer_on(3)),
    case("generic/5/5", "7541 6.2.1", "a field to remember with a new name, in Huffman's code",
         head(GET + b"\x40" + HUFFMAN_KEY + HUFFMAN_VALUE), head(GET + b"\xbe", 3), answer_on(3)),
    case("generic/5/6", "7541 6.2.2", "a field to forget, its name by number", head(GET + bytes([0x0F, AGENT - 15]) + AGENT_VALUE), answer),
    case("generic/5/7", "7541 6.2.2", "a field to forget, its name by number, in Huffman's code",
         head(GET + bytes([0x0F, AGENT - 15]) + HUFFMAN_VALUE), answer),
    case("generic/5/8", "7541 6.2.2", "a field to forget with a new name", head(GET + PLAIN), answer),
    case("generic/5/9", "7541 6.2.2", "a field to forget with a new name, in Huffman's code",
         head(GET + b"\x00" + HUFFMAN_KEY + HUFFMAN_VALUE), answer),
    case("generic/5/10", "7541 6.2.3", "a field never to index, its name by number",
         head(GET + bytes([0x1F, AGENT - 15]) + AGENT_VALUE), answer),
    case("generic/5/11", "7541 6.2.3", "a field never to index, its name by number, in Huffman's code",
         head(GET + bytes([0x1F, AGENT - 15]) + HUFFMAN_VALUE), answer),
    case("generic/5/12", "7541 6.2.3", "a field never to index with a new name",
         head(GET + literal(b"custom-key", b"custom-value", kind=0x10)), answer),
    case("generic/5/13", "7541 6.2.3", "a field never to index with a new name, in Huffman's code",
         head(GET + b"\x10" + HUFFMAN_KEY + HUFFMAN_VALUE), answer),
    case("generic/5/14", "7541 6.3", "another size of the table", head(b"\x3f\x61" + GET), answer),
    case("generic/5/15", "7541 4.2", "another size of the table, twice", head(b"\x3f\x61\x3f\xe1\x1f" + GET), answer),
]

FRAMES = [
    case("http2/3.5/1", "3.4", "SETTINGS are the first frame of a server", settings_first),
    # GOAWAY may be left out here.
    case("http2/3.5/2", "3.4", "what is no preface", b"INVALID CONNECTION PREFACE\r\n\r\n", closed, preface=b""),
    case("http2/4.1/1", "4.1", "a frame of an unknown type", UNKNOWN, pong()),
    case("http2/4.1/2", "4.1", "unknown flags", frame(PING, 0x16, 0, b"12345678"), pong(b"12345678")),
    case("http2/4.1/3", "4.1", "the reserved bit", frame(PING, 0, 1 << 31, b"12345678"), pong(b"12345678")),
    case("http2/4.2/1", "4.2", "a DATA frame of 2^14 bytes", head(POST, end=False), data(b"x" * (1 << 14)), answer),
    case("http2/4.2/2", "4.2", "a DATA frame that is larger",
         head(POST, end=False), data(b"x" * (1 << 14) + b"x"), connection_error(FRAME_SIZE_ERROR)),
    case("http2/4.2/3", "4.2", "a HEADERS frame that is larger", head(GET + FIELD * 160), connection_error(FRAME_SIZE_ERROR)),
    case("http2/4.3/1", "4.3", "a field without its name and value", head(b"\x40"), connection_error(COMPRESSION_ERROR)),
    case("http2/4.3/2", "4.3", "PRIORITY within a header block",
         head(end=False, whole=False), depends(), more(), connection_error(PROTOCOL_ERROR)),
    case("http2/4.3/3", "4.3", "HEADERS of another stream within a header block",
         head(end=False, whole=False), head(stream=3), more(), connection_error(PROTOCOL_ERROR)),
    case("http2/5.1/1", "5.1", "DATA on an idle stream", data(), connection_error(PROTOCOL_ERROR)),
    case("http2/5.1/2", "5.1", "RST_STREAM on an idle stream", reset(), connection_error(PROTOCOL_ERROR)),
    case("http2/5.1/3", "5.1", "WINDOW_UPDATE on an idle stream", window(100), connection_error(PROTOCOL_ERROR)),
    case("http2/5.1/4", "5.1", "CONTINUATION on an idle stream", more(GET), connection_error(PROTOCOL_ERROR)),
    case("http2/5.1/5", "5.1", "DATA on a half-closed stream", SHUT, head(), settled, data(), connection_error(STREAM_CLOSED)),
    case("http2/5.1/6", "5.1", "HEADERS on a half-closed stream", SHUT, head(), settled, head(), connection_error(STREAM_CLOSED)),
    case("http2/5.1/7", "5.1", "CONTINUATION on a half-closed stream", SHUT, head(), settled, more(), connection_error(PROTOCOL_ERROR)),
    case("http2/5.1/8", "5.1", "DATA after RST_STREAM", head(end=False) + reset() + data(), stream_error(STREAM_CLOSED)),
    case("http2/5.1/9", "5.1", "HEADERS after RST_STREAM", head(end=False) + reset() + head(), connection_error(STREAM_CLOSED)),
    case("http2/5.1/10", "5.1", "CONTINUATION after RST_STREAM", head(end=False), reset(), more(), connection_error(PROTOCOL_ERROR)),
    case("http2/5.1/11", "5.1", "DATA on a closed stream", head(), answered, data(), connection_error(STREAM_CLOSED)),
    case("http2/5.1/12", "5.1", "HEADERS on a closed stream", head(), answered, head(), connection_error(STREAM_CLOSED)),
    case("http2/5.1/13", "5.1", "CONTINUATION on a closed stream", head(), answered, more(), connection_error(PROTOCOL_ERROR)),
    case("http2/5.1.1/1", "5.1.1", "a stream with an even number", head(stream=2), connection_error(PROTOCOL_ERROR)),
    case("http2/5.1.1/2", "5.1.1", "a stream with a lower number", head(stream=5), head(stream=3), connection_error(PROTOCOL_ERROR)),
    # The same holds of this, once the client has acknowledged how many it may open.
    case("http2/5.1.2/1", "5.1.2", "a stream more than may be open",
         SHUT, b"".join(head(stream=stream) for stream in range(1, 2000, 2)), head(stream=2001),
         connection_error(PROTOCOL_ERROR)),
    case("http2/5.3.1/1", "5.3.1", "HEADERS that depend on themselves",
         head(flags=WITH_PRIORITY, before=priority(on=1)), connection_error(PROTOCOL_ERROR)),
    case("http2/5.3.1/2", "5.3.1", "PRIORITY that depends on itself", depends(on=1), connection_error(PROTOCOL_ERROR)),
    case("http2/5.4.1/1", "5.4.1", "an error ends the connection", BAD_PING, closed),
    case("http2/5.4.1/2", "5.4.1", "GOAWAY comes before the end", BAD_PING, connection_error(PROTOCOL_ERROR)),
    case("http2/5.5/1", "5.5", "a frame of an extension", UNKNOWN, pong()),
    case("http2/5.5/2", "5.5", "a frame of an extension within a header block", head(whole=False), UNKNOWN, connection_error(PROTOCOL_ERROR)),
    case("http2/6.1/1", "6.1", "DATA on stream 0", data(stream=0), connection_error(PROTOCOL_ERROR)),
    case("http2/6.1/2", "6.1", "DATA on a stream that is not open",
         SHUT, head(POST), settled, data(), connection_error(STREAM_CLOSED)),
    case("http2/6.1/3", "6.1", "DATA with more padding than frame",
         head(POST, end=False), frame(DATA, END_STREAM | PADDED, 1, b"\x06Test"), connection_error(PROTOCOL_ERROR)),
    case("http2/6.2/1", "6.2", "HEADERS without END_HEADERS, then PRIORITY",
         head(end=False, whole=False), depends(), more(), connection_error(PROTOCOL_ERROR)),
    case("http2/6.2/2", "6.2", "HEADERS without END_HEADERS, then those of another stream",
         head(end=False, whole=False), head(stream=3), more(), connection_error(PROTOCOL_ERROR)),
    case("http2/6.2/3", "6.2", "HEADERS on stream 0", head(stream=0), connection_error(PROTOCOL_ERROR)),
    case("http2/6.2/4", "6.2", "HEADERS with more padding than frame",
         head(flags=PADDED, before=bytes([len(GET) + 1])), connection_error(PROTOCOL_ERROR)),
    case("http2/6.3/1", "6.3", "PRIORITY on stream 0", depends(0), connection_error(PROTOCOL_ERROR)),
    case("http2/6.3/2", "6.3", "PRIORITY of four bytes", head(POST, end=False), frame(PRIORITY, 0, 1, bytes(4)),
         connection_error(FRAME_SIZE_ERROR)),
    case("http2/6.4/1", "6.4", "RST_STREAM on stream 0", reset(0), connection_error(PROTOCOL_ERROR)),
    case("http2/6.4/2", "6.4", "RST_STREAM on an idle stream", reset(1), connection_error(PROTOCOL_ERROR)),
    case("http2/6.4/3", "6.4", "RST_STREAM of three bytes", head(), frame(RST_STREAM, 0, 1, bytes(3)), connection_error(FRAME_SIZE_ERROR)),
    case("http2/6.5/1", "6.5", "an acknowledgement of SETTINGS that says something", frame(SETTINGS, ACK, 0, b"\x00"),
         connection_error(FRAME_SIZE_ERROR)),
    case("http2/6.5/2", "6.5", "SETTINGS on a stream", frame(SETTINGS, 0, 1, struct.pack(">HI", 3, 100)), connection_error(PROTOCOL_ERROR)),
    case("http2/6.5/3", "6.5", "SETTINGS of three bytes", frame(SETTINGS, 0, 0, b"\x00\x03\x00"), connection_error(FRAME_SIZE_ERROR)),
    case("http2/6.5.2/1", "6.5.2", "ENABLE_PUSH of 2", settings((ENABLE_PUSH, 2)), connection_error(PROTOCOL_ERROR)),
    case("http2/6.5.2/2", "6.5.2", "INITIAL_WINDOW_SIZE of 2^31", settings((INITIAL_WINDOW, 1 << 31)), connection_error(FLOW_CONTROL_ERROR)),
    case("http2/6.5.2/3", "6.5.2", "MAX_FRAME_SIZE of 2^14 - 1", settings((FRAME_SIZE, (1 << 14) - 1)), connection_error(PROTOCOL_ERROR)),
    case("http2/6.5.2/4", "6.5.2", "MAX_FRAME_SIZE of 2^24", settings((FRAME_SIZE, 1 << 24)), connection_error(PROTOCOL_ERROR)),
    case("http2/6.5.2/5", "6.5.2", "a setting that is unknown", settings((0xFF, 1)), pong()),
    case("http2/6.5.3/1", "6.5.3", "of one setting twice the last holds",
         settings((INITIAL_WINDOW, 100), (INITIAL_WINDOW, 1)), settled, head(), only_one_byte),
    case("http2/6.5.3/2", "6.5.3", "SETTINGS are acknowledged", settings((ENABLE_PUSH, 0)), acknowledged),
    case("http2/6.7/1", "6.7", "PING", frame(PING, 0, 0, b"h2h2h2h2"), pong(b"h2h2h2h2")),
    case("http2/6.7/2", "6.7", "PING's acknowledgement is not answered",
         frame(PING, ACK, 0, b"unasked!"), frame(PING, 0, 0, b"expected"), pong(b"expected")),
    case("http2/6.7/3", "6.7", "PING on a stream", frame(PING, 0, 1, bytes(8)), connection_error(PROTOCOL_ERROR)),
    case("http2/6.7/4", "6.7", "PING of six bytes", frame(PING, 0, 0, bytes(6)), connection_error(FRAME_SIZE_ERROR)),
    case("http2/6.8/1", "6.8", "GOAWAY on a stream", frame(GOAWAY, 0, 1, bytes(8)), connection_error(PROTOCOL_ERROR)),
    case("http2/6.9/1", "6.9", "WINDOW_UPDATE of 0 for the connection", window(0, stream=0), connection_error(PROTOCOL_ERROR)),
    # A stream's error; nghttp2 takes it for the connection's, as §5.4.1 lets it.
    case("http2/6.9/2", "6.9", "WINDOW_UPDATE of 0 for a stream", head(POST, end=False), window(0), connection_error(PROTOCOL_ERROR)),
    case("http2/6.9/3", "6.9", "WINDOW_UPDATE of three bytes", frame(WINDOW_UPDATE, 0, 0, b"\x00\x00\x01"),
         connection_error(FRAME_SIZE_ERROR)),
    case("http2/6.9.1/1", "6.9.1", "a window of one byte", settings((INITIAL_WINDOW, 1)), settled, head(), only_one_byte),
    case("http2/6.9.1/2", "6.9.1", "the connection's window beyond 2^31 - 1",
         window(MAXIMUM, stream=0), window(MAXIMUM, stream=0), connection_error(FLOW_CONTROL_ERROR)),
    case("http2/6.9.1/3", "6.9.1", "a stream's window beyond 2^31 - 1",
         head(POST, end=False), window(MAXIMUM), window(MAXIMUM), stream_error(FLOW_CONTROL_ERROR)),
    case("http2/6.9.2/1", "6.9.2", "another initial window changes that of an open stream",
         SHUT, settled, head(), settings((INITIAL_WINDOW, 1)), only_one_byte),
    case("http2/6.9.2/2", "6.9.2", "a window may become negative",
         settings((INITIAL_WINDOW, 3)), settled, head(), some_data, settings((INITIAL_WINDOW, 2)), settled, window(2), one_byte_more),
    case("http2/6.9.2/3", "6.9.2", "an initial window beyond 2^31 - 1",
         settings((INITIAL_WINDOW, 1 << 31)), connection_error(FLOW_CONTROL_ERROR)),
    case("http2/6.10/1", "6.10", "CONTINUATION, twice", head(whole=False), more(whole=False), more(), answer),
    case("http2/6.10/2", "6.10", "CONTINUATION, then DATA",
         head(POST, end=False, whole=False), more(whole=False), data(), connection_error(PROTOCOL_ERROR)),
    case("http2/6.10/3", "6.10", "CONTINUATION on stream 0", head(whole=False), more(stream=0), connection_error(PROTOCOL_ERROR)),
    case("http2/6.10/4", "6.10", "CONTINUATION after HEADERS that were whole", head(), more(), connection_error(PROTOCOL_ERROR)),
    case("http2/6.10/5", "6.10", "CONTINUATION after the last one", head(whole=False), more(), more(), connection_error(PROTOCOL_ERROR)),
    case("http2/6.10/6", "6.10", "CONTINUATION after DATA",
         head(POST, end=False, whole=False), data(), more(whole=False), more(), connection_error(PROTOCOL_ERROR)),
    case("http2/7/1", "7", "GOAWAY with an unknown code",
         head(POST, end=False), frame(GOAWAY, 0, 0, number(0) + number(0xFF)), data(), answer_and_end),
    case("http2/7/2", "7", "RST_STREAM with an unknown code", head(POST, end=False), reset(code=0xFF), pong()),
]

MESSAGES = [
    case("http2/8.1/1", "8.1", "HEADERS a second time, without END_STREAM",
         head(POST, end=False), data(end=False), head(PLAIN, end=False), stream_error(PROTOCOL_ERROR)),
    case("http2/8.1.2/1", "8.2.1", "a name with capitals", head(GET + literal(b"X-TEST", b"ok")), stream_error(PROTOCOL_ERROR)),
    case("http2/8.1.2.1/1", "8.3", "an unknown pseudo-header field", head(GET + literal(b":test", b"ok")), stream_error(PROTOCOL_ERROR)),
    case("http2/8.1.2.1/2", "8.3", "a pseudo-header field of answers", head(GET + b"\x88"), stream_error(PROTOCOL_ERROR)),
    case("http2/8.1.2.1/3", "8.3", "a pseudo-header field in trailers",
         head(POST, end=False), data(end=False), head(b"\x83"), stream_error(PROTOCOL_ERROR)),
    case("http2/8.1.2.1/4", "8.3", "a pseudo-header field after others", head(PLAIN + GET), stream_error(PROTOCOL_ERROR)),
    case("http2/8.1.2.2/1", "8.2.2", "a field of the connection", head(GET + literal(b"connection", b"keep-alive")),
         stream_error(PROTOCOL_ERROR)),
    case("http2/8.1.2.2/2", "8.2.2", "TE that is not `trailers`", head(GET + literal(b"te", b"trailers, deflate")),
         stream_error(PROTOCOL_ERROR)),
    case("http2/8.1.2.3/1", "8.3.1", "an empty :path", head(pseudo(path=b"\x04\x00")), stream_error(PROTOCOL_ERROR)),
    case("http2/8.1.2.3/2", "8.3.1", "no :method", head(pseudo(method=b"")), stream_error(PROTOCOL_ERROR)),
    case("http2/8.1.2.3/3", "8.3.1", "no :scheme", head(pseudo(scheme=b"")), stream_error(PROTOCOL_ERROR)),
    case("http2/8.1.2.3/4", "8.3.1", "no :path", head(pseudo(path=b"")), stream_error(PROTOCOL_ERROR)),
    case("http2/8.1.2.3/5", "8.3.1", ":method twice", head(GET + b"\x82"), stream_error(PROTOCOL_ERROR)),
    case("http2/8.1.2.3/6", "8.3.1", ":scheme twice", head(GET + b"\x87"), stream_error(PROTOCOL_ERROR)),
    case("http2/8.1.2.3/7", "8.3.1", ":path twice", head(GET + b"\x84"), stream_error(PROTOCOL_ERROR)),
    case("http2/8.1.2.6/1", "8.1.1", "a content-length that is not that of DATA",
         head(POST + literal(b"content-length", b"1"), end=False), data(), stream_error(PROTOCOL_ERROR)),
    case("http2/8.1.2.6/2", "8.1.1", "a content-length that is not that of all DATA",
         head(POST + literal(b"content-length", b"5"), end=False), data(end=False), data(), stream_error(PROTOCOL_ERROR)),
    case("http2/8.2/1", "8.4", "PUSH_PROMISE of a client",
         frame(PUSH_PROMISE, END_HEADERS, 1, number(3) + GET), connection_error(PROTOCOL_ERROR)),
]

HPACK = [
    case("hpack/2.3.3/1", "7541 2.3.3", "an index beyond both tables", head(GET + b"\xc6"), connection_error(COMPRESSION_ERROR)),
    case("hpack/2.3.3/2", "7541 2.3.3", "a name's index beyond both tables", head(GET + b"\x7f\x07\x00"), connection_error(COMPRESSION_ERROR)),
    case("hpack/4.2/1", "7541 4.2", "another size of the table at the end of a block", head(GET + b"\x21"),
         connection_error(COMPRESSION_ERROR)),
    case("hpack/5.2/1", "7541 5.2", "more than seven bits of padding",
         head(GET + b"\x00" + HUFFMAN_KEY + b"\x8a" + HUFFMAN_VALUE[1:] + b"\xff"), connection_error(COMPRESSION_ERROR)),
    # `private`, whose code ends with one bit of padding.
    case("hpack/5.2/2", "7541 5.2", "padding with a zero",
         head(GET + b"\x00" + HUFFMAN_KEY + b"\x85" + bytes.fromhex("aec3771a4a")), connection_error(COMPRESSION_ERROR)),
    # `1`, the end of the string in thirty ones, and `0`.
    case("hpack/5.2/3", "7541 5.2", "the end of the string within it",
         head(GET + b"\x00" + HUFFMAN_KEY + b"\x85" + bytes.fromhex("0fffffffe0")), connection_error(COMPRESSION_ERROR)),
    case("hpack/6.1/1", "7541 6.1", "index 0", head(GET + b"\x80"), connection_error(COMPRESSION_ERROR)),
    case("hpack/6.3/1", "7541 6.3", "a table larger than was allowed", head(b"\x3f\xe2\x1f" + GET), connection_error(COMPRESSION_ERROR)),
]

CASES = GENERIC + FRAMES + MESSAGES + HPACK


@pytest.mark.parametrize("case", CASES, ids=[f"{case.section} {case.what} ({case.number})" for case in CASES])
def test_rfc(gateway, case):
    with Raw(gateway, preface=case.preface) as raw:
        if case.preface:
            raw.settle()
        for step in case.steps:
            if callable(step):
                step(raw)
            else:
                try:
                    raw.send(step)
                except Closed:
                    pass  # It has hung up already, at what came before.
        case.expected(raw)


def test_all_cases_are_here():
    assert len(CASES) == len({case.number for case in CASES}) == 147
    groups = collections.Counter(case.number.split("/")[0] for case in CASES)
    assert groups == {"generic": 44, "http2": 95, "hpack": 8}


def test_who_broke_the_rules_harmed_nobody(gateway, device):
    assert gateway.push(device.token).status == 200
