"""What a stranger can take: every attack has a bound, and an honest sender is served meanwhile."""

import base64
import collections
import contextlib
import json
import re
import resource
import select
import socket
import sqlite3
import ssl
import struct
import subprocess
from datetime import datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from h2.settings import SettingCodes

from frames import (
    CALM, CONTINUATION, DATA, DEVICE_REQUEST, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, REQUEST, RST_STREAM, SETTINGS, WINDOW_UPDATE,
    Raw, frame)
from gateway import TOPIC
from waiting import HANG, Readable, wait_for
from wire import Closed, tls_context


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
    # The gateway may hang up while the rest is being sent.
    with contextlib.suppress(Closed):
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


@pytest.mark.parametrize(("method", "path", "size", "is_device"), [
    ("POST", "/v1/devices", 4096, False), ("PUT", "/v1/device/preferences", 16 << 10, False),
    ("PUT", "/v1/device/preferences", 256 << 10, True), ("PUT", "/v1/device/channels/x", 16 << 10, False)])
def test_a_body_is_as_large_as_its_route_takes(gateway, device, connection, method, path, size, is_device):
    fields = [("authorization", f"bearer {device.secret}")] if is_device else []
    assert connection.request(method, path, fields, body=b"x" * size).status != 413
    refused = connection.request(method, path, fields, body=b"x" * (size + 1))
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
        raw.socket.settimeout(HANG)
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


def test_incomplete_requests_of_many_connections_are_bounded_together(start):
    gateway = start("--loops", "1")
    device = gateway.device()
    before = size_of(gateway)
    streams = range(1, 221, 2)
    block = b"".join(
        frame(HEADERS, END_HEADERS, stream, DEVICE_REQUEST) + frame(DATA, 0, stream, b"x" * 9000) for stream in streams)
    with contextlib.ExitStack() as stack:
        # An incomplete request ends after a minute: all connections are made before the first one.
        connections = []
        for _ in range(300):
            connections.append(stack.enter_context(Raw(gateway)))
            connections[-1].settle()
        for raw in connections:
            with contextlib.suppress(Closed):
                raw.send(block)
        for raw in connections:
            with contextlib.suppress(Closed):
                raw.settle()
        # 128 MiB of all together, and 16 KiB and the buffers of each connection.
        assert size_of(gateway) - before < 220
        assert gateway.push(device.token).status == 200
    gateway.wait_for_log("limit=kept-size")


def test_pings_of_who_never_reads_cost_no_memory(gateway):
    before = size_of(gateway)
    with Raw(gateway) as raw:
        raw.socket.settimeout(HANG)
        try:
            for _ in range(2000):
                raw.socket.sendall(frame(PING, 0, 0, b"12345678") * 1000)
        except (OSError, ssl.SSLError):
            pass
        assert size_of(gateway) - before < 20


def test_streams_that_the_peer_resets_end_the_connection(raw):
    """CVE-2023-44487: a request, and at once its reset, by somebody who has shown nothing."""
    count = 0
    try:
        for start in range(1, 20_001, 100):
            raw.send(b"".join(
                frame(HEADERS, END_HEADERS | END_STREAM, stream, REQUEST) + frame(RST_STREAM, 0, stream, struct.pack(">I", 8))
                for stream in range(start, start + 100, 2)))
            count += 50
            raw.settle()
            if raw.all(GOAWAY):
                break
    except Closed:
        pass
    assert raw.end is not None and 100 <= count < 200


@pytest.mark.parametrize("count", [8, 9])
def test_a_header_block_has_so_many_continuations(raw, count):
    """CVE-2024-28182."""
    pieces = frame(CONTINUATION, 0, 1) * (count - 1) + frame(CONTINUATION, END_HEADERS, 1)
    raw.send(frame(HEADERS, END_STREAM, 1, REQUEST) + pieces)
    if count == 8:
        raw.until(lambda: raw.all(HEADERS, 1))
        return
    raw.drain()
    assert not raw.all(HEADERS)


@pytest.mark.parametrize("count", [32, 33])
def test_settings_have_so_many_entries(raw, count):
    raw.send(frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 65_535) * count))
    if count == 32:
        raw.settle()
        assert not raw.all(GOAWAY)
    else:
        assert raw.end == CALM


# Numbers of the control plane


def test_a_batch_has_so_many_devices_and_a_key_so_many_topics(gateway):
    with gateway.connect(admin=True) as connection:
        batch = {"name": "many", "first": 0, "count": 10_001, "topic": TOPIC}
        refused = connection.request("POST", "/admin/v1/batches", body=json.dumps(batch).encode())
        assert (refused.status, "10000" in refused.body.decode()) == (400, True)
        for count, status in [(400, 201), (401, 400)]:
            key = {"team": gateway.key.team_id, "topics": [f"com.example.app{number}" for number in range(count)]}
            response = connection.request("POST", "/admin/v1/keys", body=json.dumps(key).encode())
            assert response.status == status, (count, response.body)


# Descriptors


@pytest.mark.alone("a limit of each process")
def test_idle_connections_lock_nobody_out(start):
    # Some fifty connections take all descriptors. The gateway ends the first after ten seconds, as it acknowledges no SETTINGS.
    gateway = start(wrapper=("prlimit", "--nofile=160"))
    device = gateway.device()
    context = tls_context(gateway.trust)
    idle = []

    def hold():
        raw = socket.create_connection((gateway.host, gateway.port), timeout=HANG)
        idle.append(context.wrap_socket(raw, server_hostname=gateway.host))

    for _ in range(52):
        hold()
    for _ in range(60):
        raw = socket.create_connection((gateway.host, gateway.port), timeout=HANG)
        raw.setblocking(False)
        idle.append(raw)
    for _ in range(5):
        assert gateway.push(device.token).status == 200
    gateway.wait_for_log("limit=descriptors")
    # On a slow machine the next minute has a line, too.
    told = [datetime.fromisoformat(time) for time in re.findall(r"^ts=(\S+) .*limit=descriptors\b", gateway.log, re.M)]
    assert told and all(later - earlier > timedelta(seconds=59) for earlier, later in zip(told, told[1:])), told
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


@pytest.mark.alone("a limit of each process")
@pytest.mark.skipif(own_address() is None, reason="this machine has loopback alone")
def test_an_address_has_so_many_connections_until_it_shows_who_it_is(start):
    gateway = start(listen="0.0.0.0:0")
    device = gateway.device()
    gateway.addresses[0][0] = gateway.host = own_address()
    context = tls_context(gateway.trust)
    context.check_hostname = False
    held = []
    for _ in range(32):
        held.append(gateway.connect(context=context))
        # The gateway ends a connection that does not acknowledge SETTINGS in ten seconds: each does before the next is made.
        held[-1].until(lambda: held[-1].settings)
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


# Work of the control plane


@contextlib.contextmanager
def locked(gateway):
    """Nothing can be written to the gateway's database, as while a backup program holds it."""
    database = sqlite3.connect(gateway.state / "pushgateway.sqlite", isolation_level=None)
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        database.execute("ROLLBACK")
        database.close()


@pytest.mark.alone("a limit of each process")
def der(kind, *parts):
    """An element of DER."""
    content = b"".join(parts)
    size = len(content)
    length = bytes([size]) if size < 128 else b"\x82" + size.to_bytes(2, "big")
    return bytes([kind]) + length + content


def der_number(value):
    return der(2, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def test_a_client_key_that_is_expensive_to_verify_is_refused(gateway, tmp_path):
    """An RSA key whose public exponent is as long as the key, and whose private one is short."""
    numbers = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_numbers()
    p, q, private = numbers.p, numbers.q, 65537
    modulus, public = p * q, pow(private, -1, (p - 1) * (q - 1))
    key = der(0x30, *map(der_number, (
        0, modulus, public, private, p, q, private % (p - 1), private % (q - 1), pow(q, -1, p))))
    name = der(0x30, der(0x31, der(0x30, bytes.fromhex("0603550403"), der(0x0C, b"a"))))
    signature = der(0x30, bytes.fromhex("06092a864886f70d01010b0500"))
    content = der(
        0x30, der_number(5), signature, name, der(0x30, der(0x17, b"200101000000Z"), der(0x17, b"490101000000Z")), name,
        der(0x30, der(0x30, bytes.fromhex("06092a864886f70d0101010500")),
            der(3, b"\0", der(0x30, der_number(modulus), der_number(public)))))
    certificate = der(0x30, content, signature, der(3, b"\0" * 257))
    files = tmp_path / "client.pem", tmp_path / "client.key"
    for file, kind, data in zip(files, ("CERTIFICATE", "RSA PRIVATE KEY"), (certificate, key)):
        file.write_text(f"-----BEGIN {kind}-----\n{base64.encodebytes(data).decode()}-----END {kind}-----\n")
    with pytest.raises((Closed, ssl.SSLError)):
        connection = gateway.connect(certificate=files)
        connection.until(lambda: connection.settings)


def test_no_signature_of_dsa_is_asked_of_a_client(gateway):
    done = subprocess.run(
        ["openssl", "s_client", "-connect", gateway.address, "-tls1_2"], input="", capture_output=True, text=True, errors="replace",
        timeout=HANG)
    asked = re.search(r"^Requested Signature Algorithms: (.*)$", done.stdout, re.M)[1].split(":")
    assert "RSA+SHA256" in asked and not [each for each in asked if each.startswith("DSA")]


def test_the_process_works_on_so_many_requests_at_once(start):
    gateway = start()
    device = gateway.device()
    connections = []
    for _ in range(17):
        connections.append(gateway.connect())
        connections[-1].ping()
    streams = []
    for number, each in enumerate(connections * 64):
        body = json.dumps({"name": f"stranger-{number}"}).encode()
        streams.append((each, each.send("POST", "/v1/devices", body=body, flush=False)))
    excess = len(streams) - 1024
    # A write gives up after five seconds: the requests are made before the lock, and sent within it.
    with locked(gateway):
        for each in connections:
            each.flush()
        # Those that are too many are answered while the others wait, on whichever connections they came.
        def ended():
            for each in connections:
                while each.socket.pending() or select.select([each.socket], [], [], 0)[0]:
                    each.pump()
            return [response for each in connections for response in each.responses.values() if response.is_ended]

        def refused():
            found = ended()
            assert all(response.status == 503 and "too many requests in progress" in response.json["detail"] for response in found), found
            return len(found) == excess

        # All of them: the gateway would take a request that it reads after the release.
        wait_for(refused, "those that are too many are refused", *[Readable(each.socket) for each in connections])
    answers = collections.Counter(each.wait(stream).status for each, stream in streams)
    assert answers[503] == excess, answers
    gateway.wait_for_log("limit=running-requests")
    for each in connections:
        assert gateway.push(device.token, connection=each).status == 200
        each.close()


def test_who_takes_no_answers_gets_no_more_of_them(start):
    gateway = start()
    gateway.device()
    before = size_of(gateway)
    with gateway.connect(admin=True) as connection:
        connection.h2.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: 0})
        connection.ping()
        streams, refused = [], None
        while not refused:
            assert len(streams) < 1000, "nothing is refused"
            streams.append(connection.send("GET", "/admin/v1/metrics"))
            # Its head comes, whatever the window.
            connection.until(lambda: connection.responses[streams[-1]].fields)
            refused = connection.responses[streams[-1]].status == 429
        assert size_of(gateway) - before < 20
        gateway.wait_for_log("limit=waiting-answers")
        connection.h2.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: 1 << 20})
        connection.flush()
        answers = [connection.wait(stream) for stream in streams]
        assert {each.status for each in answers[:-1]} == {200}
        waiting = sum(len(each.body) for each in answers[:-1])
        assert 4 << 20 <= waiting < (4 << 20) + 2 * len(answers[0].body)
        assert connection.request("GET", "/admin/v1/metrics").status == 200
