"""Connections that TCP balancers pass on, with the header of PROXY protocol version 2."""

import contextlib
import ipaddress
import itertools
import json
import socket
import struct
import time
from types import SimpleNamespace

import pytest
from gateway import ALERT
from relay import Relay
from waiting import HANG
from wire import Connection

pytestmark = pytest.mark.alone("its balancer")

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"


def header(client=None, *, extra=b""):
    """A header for a client's address; without one it is for the balancer's own connection."""
    if client is None:
        return SIGNATURE + bytes([0x20, 0x00]) + struct.pack("!H", 0)
    source = ipaddress.ip_address(client)
    family, size = (1, 4) if source.version == 4 else (2, 16)
    body = source.packed + bytes(size) + struct.pack("!HH", 40000, 443) + extra
    return SIGNATURE + bytes([0x21, family << 4 | 1]) + struct.pack("!H", len(body)) + body


@pytest.fixture
def gateway(start):
    return start("--balancers", "127.0.0.1,2001:db8::1")


@pytest.fixture
def through(gateway):
    """Connects to the gateway by a balancer that says whose connection it is."""
    with contextlib.ExitStack() as stack:
        def connect(client=None, *, greeting=None):
            relay = Relay(("127.0.0.1", gateway.port), greeting=header(client) if greeting is None else greeting)
            stack.callback(relay.close)
            front = SimpleNamespace(
                addresses=[("127.0.0.1", relay.port)], host="127.0.0.1", port=relay.port, trust=gateway.trust)
            return stack.enter_context(Connection(front))
        yield connect


@pytest.mark.parametrize("client", ["198.51.100.7", "2001:db8::7", None])
def test_a_push_comes_by_a_balancer(gateway, through, client):
    phone, connection = gateway.device(), through(client)
    assert [gateway.push(phone.token, connection=connection).status for _ in range(2)] == [200, 200]


def test_what_a_balancer_says_besides_is_skipped(gateway, through):
    connection = through(greeting=header("198.51.100.7", extra=b"\x04\x00\x20" + bytes(32)))
    assert gateway.push(gateway.device().token, connection=connection).status == 200


def test_clients_of_a_balancer_are_counted_by_their_own_addresses(gateway, through):
    phone, guessers = gateway.device(), [through("198.51.100.7") for _ in range(10)]
    key, guesses = gateway.key, itertools.count()

    def guess(*connections):
        """The statuses of one guess on each connection, which are all under way at once."""
        tokens = [key.token(issued=int(time.time()) - next(guesses) % 1000, flip=next(guesses) % 200) for _ in connections]
        streams = [
            connection.send("POST", f"/3/device/{phone.token}", gateway.fields(authorization=f"bearer {token}"), ALERT)
            for connection, token in zip(connections, tokens)]
        return [connection.wait(stream).status for connection, stream in zip(connections, streams)]

    # A budget fills up by twenty a second: one guess after another might take longer on a busy machine.
    statuses = [403]
    while set(statuses) == {403}:
        statuses += guess(*guessers)
        assert len(statuses) < 5_000, "nobody counts"
    assert set(statuses) == {403, 429}
    assert [guess(through(client)) for client in ["198.51.100.8", "2001:db8::7", None]] == [[403], [403], [403]]
    assert gateway.push(phone.token, connection=through("198.51.100.8")).status == 200


@pytest.mark.parametrize(("client", "status"), [("127.0.0.1", 403), ("::1", 403), ("198.51.100.7", 403), (None, 201)])
def test_no_client_of_a_balancer_is_on_this_machine(gateway, through, client, status, name):
    body = json.dumps({"name": name}).encode()
    assert through(client).request("POST", "/v1/devices", (), body).status == status


@pytest.mark.parametrize("greeting", [b"\x16\x03\x01\x02\x00", b"PROXY TCP4 198.51.100.7 127.0.0.1 1 2\r\n",
                                      SIGNATURE + b"\x31\x11\0\0", SIGNATURE + b"\x21\x11\0\x04abcd",
                                      SIGNATURE + b"\x21\x11\xff\xff"])
def test_a_connection_of_a_balancer_without_its_header_is_closed(gateway, greeting):
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=HANG) as raw:
        raw.sendall(greeting)
        with contextlib.suppress(ConnectionResetError):
            assert raw.recv(100) == b""
    gateway.wait_for_log("limit=proxy-header peer=127.0.0.1")


# HTTP/1.1


def http_connection(gateway):
    """A connection to `http_listen`, which comes from the balancer's address."""
    host, port = (gateway.state / "http-listening").read_text().split()[0].rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=HANG)


def status(connection, greeting, path):
    """The status of a request on a connection that begins with these bytes; None if it ends without an answer."""
    with contextlib.suppress(ConnectionError):
        connection.sendall(greeting + f"GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode())
        line = connection.makefile("rb").readline()
        return int(line.split()[1]) if line else None


@pytest.mark.parametrize(("greeting", "expected"), [
    (header("198.51.100.7"), 403), (header("127.0.0.1"), 403), (header("2001:db8::7"), 403), (header(), 200), (b"", 200),
    (SIGNATURE + b"\x31\x11\0\0", 400)])
def test_over_http_1_a_balancer_names_its_client_or_does_not(gateway, greeting, expected):
    with http_connection(gateway) as connection:
        assert status(connection, greeting, "/metrics") == expected


def test_over_http_1_clients_of_a_balancer_are_counted_by_their_own_addresses(gateway):
    with contextlib.ExitStack() as stack:
        greeting = header("198.51.100.7")
        statuses = [status(stack.enter_context(http_connection(gateway)), greeting, "/readyz") for _ in range(33)]
        assert statuses == [200] * 32 + [503]
        other = stack.enter_context(http_connection(gateway))
        assert status(other, header("198.51.100.8"), "/readyz") == 200
