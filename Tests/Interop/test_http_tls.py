"""HTTP/1.1 over TLS, an entry `https://` of `http_listen`: senders without HTTP/2 on other machines, and attacks on it."""

import contextlib
import os
import re
import socket
import ssl
import struct
import subprocess

import apprise
import pytest
import requests

from brokers import free_ports
from gateway import TOPIC, run
from test_balancers import header
from test_hooks import BODIES, Webhook
from test_ntfy import alert, payload
from test_senders import Sender
from waiting import HANG, eventually
from wire import tls_context

pytestmark = pytest.mark.alone("HTTP/1.1 is served by each machine itself")

GET = b"GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n"


@pytest.fixture
def gateway(start):
    return start("--http-listen", "127.0.0.1:0", "--http-listen", "https://127.0.0.1:0")


def addresses(gateway):
    """The addresses of HTTP/1.1 without TLS, and with TLS: `HOST:PORT`."""
    plain, secure = (gateway.state / "http-listening").read_text().split()
    assert secure.startswith("https://") and not plain.startswith("https://")
    return plain, secure.removeprefix("https://")


def secure_address(gateway):
    return addresses(gateway)[1]


def raw(gateway):
    """A TCP connection to the address with TLS."""
    host, port = secure_address(gateway).rsplit(":", 1)
    return socket.create_connection((host, int(port)), HANG)


def connect(gateway, alpn=("http/1.1",), **options):
    """A connection after its handshake."""
    return tls_context(gateway.trust, alpn, **options).wrap_socket(raw(gateway), server_hostname="localhost")


def ask(connection, request=GET):
    """The status of the answer to a request, whose body has ended with a newline or a brace."""
    connection.sendall(request)
    answer = b""
    while not answer.endswith((b"\n", b"}")) or b"\r\n\r\n" not in answer[:-1]:
        part = connection.recv(65536)
        assert part, answer
        answer += part
    return int(answer.split()[1])


def curl(gateway, path, *options, address=None, scheme="https"):
    """The status, the version and the body of the answer to curl."""
    done = subprocess.run(
        ["curl", "-sS", "-w", "\n%{http_code} %{http_version}", "--cacert", gateway.trust, *options,
         f"{scheme}://{address or secure_address(gateway)}{path}"], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stderr
    body, _, line = done.stdout.rpartition("\n")
    status, version = line.split()
    return int(status), version, body


def limit(gateway, name):
    """How often a limit was reached."""
    found = re.search(rf'pushgateway_limits_reached_total{{limit="{name}"}} (\d+)', gateway.run("metrics").out)
    return int(found[1])


def test_its_address_is_printed_and_serves_health(gateway):
    gateway.wait_for_log(f"health and metrics at https://{secure_address(gateway)}\n")
    assert curl(gateway, "/readyz") == (200, "1.1", "ready\n")
    assert curl(gateway, "/readyz", "--http1.1") == (200, "1.1", "ready\n")
    assert curl(gateway, "/readyz", "--tls-max", "1.2") == (200, "1.1", "ready\n")
    status, _, body = curl(gateway, "/metrics")
    assert status == 200 and "pushgateway_tls_handshakes_total" in body
    # As without TLS, a client of another name needs the secret.
    assert curl(gateway, "/metrics", "-H", "host: push.example.com")[0] == 403


def test_a_message_and_a_webhook_arrive(gateway):
    device = gateway.device()
    sender, hook = Sender(gateway, device.name), Webhook(gateway, "alertmanager", device.name)
    status, version, _ = curl(
        gateway, f"/send/{sender.name}", "--http1.1", "-H", f"authorization: bearer {sender.token}", "-d", "Backup done")
    assert (status, version) == (200, "1.1")
    assert alert(payload(gateway, device))[1] == "Backup done"
    gateway.run("expect", sender.name, "--every", "24h")
    assert curl(gateway, f"/beat/{sender.name}", "-H", f"authorization: bearer {sender.token}")[0] == 200
    assert curl(gateway, f"/send/{sender.name}", "-H", "authorization: bearer wrong", "-d", "x")[0] == 401
    body = f"@{BODIES / 'alertmanager-firing.json'}"
    status, _, answer = curl(gateway, f"/hooks/{hook.name}", "--http1.1", "-H", hook.bearer, "--data-binary", body)
    assert status == 200 and "recipients" in answer
    assert gateway.waiting(device) == 2


@pytest.mark.parametrize("url", [
    "ntfys://{address}/{name}?token={token}&mode=private", "gotifys://{address}/gotify/{token}?priority=high"])
def test_apprise_sends(gateway, monkeypatch, url):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", gateway.trust)
    device = gateway.device()
    sender = Sender(gateway, device.name)
    sending = apprise.Apprise()
    assert sending.add(url.format(address=secure_address(gateway), name=sender.name, token=sender.token))
    assert sending.notify(title="Backup", body="3 files failed")
    assert alert(payload(gateway, device))[:2] == ("Backup", "3 files failed")


def test_a_session_of_requests_keeps_its_connection(gateway, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with requests.Session() as session:
        for _ in range(3):
            answer = session.get(f"https://{secure_address(gateway)}/readyz", verify=gateway.trust, timeout=HANG)
            assert answer.text == "ready\n"
    text = gateway.run("metrics").out
    assert re.search(r"^pushgateway_tls_handshakes_total 1$", text, re.M), text


@pytest.mark.parametrize("path", ["/phone", "/console", "/v1/device/stream", "/admin/v1/status", "/phone/session"])
def test_pages_and_their_apis_are_not_served_and_no_cookie_is_set(gateway, path):
    done = subprocess.run(
        ["curl", "-sS", "-i", "--cacert", gateway.trust, "-H", "cookie: pushgateway=x", "-H", "sec-fetch-site: same-origin",
         f"https://{secure_address(gateway)}{path}"], capture_output=True, text=True, timeout=HANG)
    assert done.stdout.startswith("HTTP/1.1 404 ") and "set-cookie" not in done.stdout.lower(), done.stdout


# TLS


def test_http_1_is_selected_and_a_client_without_alpn_is_served(gateway):
    for alpn, selected in [(["http/1.1"], "http/1.1"), (["h2", "http/1.1"], "http/1.1"), (None, None)]:
        with connect(gateway, alpn) as connection:
            assert connection.selected_alpn_protocol() == selected
            assert ask(connection) == 200 and ask(connection) == 200


@pytest.mark.parametrize("alpn", [["h2"], ["http/1.0", "h2c"]])
def test_a_client_with_other_protocols_is_refused(gateway, alpn):
    with pytest.raises((ssl.SSLError, ConnectionResetError)):
        connect(gateway, alpn)
    with connect(gateway) as connection:
        assert ask(connection) == 200


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_the_end_is_announced(gateway, version):
    context = tls_context(gateway.trust, ["http/1.1"], version)
    # An end without close_notify is an error then (RFC 8446 §6.1).
    with context.wrap_socket(raw(gateway), server_hostname="localhost", suppress_ragged_eofs=False) as connection:
        connection.sendall(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        answer = b""
        while part := connection.recv(65536):
            answer += part
    assert answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"ready\n")


def test_a_session_is_resumed(gateway):
    context = tls_context(gateway.trust, ["http/1.1"])
    with context.wrap_socket(raw(gateway), server_hostname="localhost") as first:
        assert ask(first) == 200
        session = first.session
    with context.wrap_socket(raw(gateway), server_hostname="localhost", session=session) as second:
        assert ask(second) == 200 and second.session_reused


def test_a_new_certificate_is_used_for_new_connections(gateway):
    def names(connection):
        return [name for kind, name in connection.getpeercert()["subjectAltName"] if kind == "DNS"]

    with connect(gateway) as old:
        assert "push.example" not in names(old)
        gateway.run("certs", "create-server", "--name", "push.example")
        with connect(gateway) as new:
            assert "push.example" in names(new) and ask(new) == 200
        assert ask(old) == 200


def test_clients_are_not_asked_for_a_certificate(gateway):
    certificate = gateway.certificate(topic=TOPIC)
    with connect(gateway, certificate=certificate) as connection:
        assert ask(connection) == 200
    # The address of pushes accepts the same certificate.
    with gateway.connect(certificate=certificate) as connection:
        assert connection.request("GET", "/v1/health").status == 200


# Attacks


def test_a_handshake_that_stalls_is_closed_and_counted(gateway):
    with raw(gateway) as silent, raw(gateway) as slow:
        slow.sendall(b"\x16\x03\x01\x02\x00\x01\x00")
        assert silent.recv(1) == b"" and slow.recv(1) == b""
    eventually(lambda: limit(gateway, "handshake_time") == 2, "both are counted")
    assert curl(gateway, "/readyz")[0] == 200


@pytest.mark.parametrize("garbage", [
    GET, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", bytes(2000), b"\xff" * 2000, b"\x16\x03\x01\x00\x05hello",
    b"\x15\x03\x01\x00\x02\x02\x28", b"\x17\x03\x03\x40\x00" + bytes(16384)])
def test_garbage_is_not_answered_in_http(gateway, garbage):
    with raw(gateway) as connection:
        answer = b""
        with contextlib.suppress(ConnectionError):
            connection.sendall(garbage)
            while part := connection.recv(65536):
                answer += part
    assert b"HTTP" not in answer
    assert curl(gateway, "/readyz")[0] == 200


@pytest.mark.parametrize("way", ["close", "reset", "broken record", "half a record"])
def test_a_connection_that_breaks_in_a_request_harms_no_other(gateway, way):
    with connect(gateway) as other:
        connection = connect(gateway)
        connection.sendall(b"POST /send/x HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\nhalf")
        if way == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        descriptor = connection.detach()
        with socket.socket(fileno=descriptor) as ending:
            ending.settimeout(HANG)
            if way == "broken record":
                ending.sendall(b"\x17\x03\x03\x00\x20" + bytes(32))
                with contextlib.suppress(ConnectionError):
                    while ending.recv(65536):
                        pass
            if way == "half a record":
                ending.sendall(b"\x17\x03\x03\x40\x00" + bytes(100))
        assert ask(other) == 200
    assert curl(gateway, "/readyz")[0] == 200


def test_many_connections_are_bounded_and_other_clients_are_served(gateway):
    connections = [raw(gateway) for _ in range(300)]
    try:
        # The oldest ones without a request have ended; the addresses without TLS have a limit of their own.
        assert curl(gateway, "/readyz")[0] == 200
        assert curl(gateway, "/readyz", address=addresses(gateway)[0], scheme="http")[0] == 200
        assert limit(gateway, "http_connections") >= 300 - 256
        assert connections[0].recv(1) == b""
    finally:
        for connection in connections:
            connection.close()


def test_answers_that_the_client_does_not_read_end_the_connection(gateway):
    with connect(gateway) as connection, pytest.raises(OSError):
        for _ in range(20_000):
            connection.sendall(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n" * 20)
    assert curl(gateway, "/readyz")[0] == 200


# Operation


def test_doctor_names_an_address_without_http_2(gateway, tmp_path):
    done = run(
        "doctor", "--gateway", f"https://{secure_address(gateway)}", "--ca", gateway.trust, state=tmp_path / "none",
        env={"NO_COLOR": "1"})
    assert done.code == 1 and "HTTP/1.1 only" in done.out, done.out + done.err


def test_a_restart_keeps_the_address_and_adds_tls_to_another(start, tmp_path):
    [port] = free_ports(1)
    config = tmp_path / "config.yaml"
    config.write_text(f"listen: 127.0.0.1:0\nhttp_listen: 127.0.0.1:{port}\n")
    gateway = start("--config", config, listen=None)
    pid = gateway.process.pid
    assert curl(gateway, "/readyz", address=f"127.0.0.1:{port}", scheme="http")[0] == 200
    config.write_text(f"listen: 127.0.0.1:0\nhttp_listen: https://127.0.0.1:{port}\n")

    def is_announced():
        return (gateway.state / "http-listening").read_text().split() == [f"https://127.0.0.1:{port}"]

    for _ in range(2):
        gateway.run("admin", "restart")
        eventually(is_announced, "the address is announced")
        assert curl(gateway, "/readyz", address=f"127.0.0.1:{port}")[0] == 200
        assert gateway.process.poll() is None and gateway.process.pid == pid


def test_a_balancer_sends_its_header_before_tls(start):
    gateway = start("--balancers", "127.0.0.1", "--http-listen", "127.0.0.1:0", "--http-listen", "https://127.0.0.1:0")
    for greeting, expected in [(header("198.51.100.7"), 403), (header(), 200), (b"", 200)]:
        connection = raw(gateway)
        connection.sendall(greeting)
        with tls_context(gateway.trust, ["http/1.1"]).wrap_socket(connection, server_hostname="localhost") as secured:
            assert ask(secured, GET.replace(b"/readyz", b"/metrics")) == expected


@pytest.mark.parametrize("entry", ["https://", "https://push.example.com", "http://127.0.0.1:0", "https://127.0.0.1:0/"])
def test_an_entry_of_another_form_is_a_wrong_usage(tmp_path, entry):
    done = run("serve", "--http-listen", entry, state=tmp_path / "state")
    assert done.code == 2 and "expected HOST:PORT" in done.err and not os.path.exists(tmp_path / "state"), done.err
