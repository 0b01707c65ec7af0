"""Event targets: `pushcli event-targets`, and servers that get the events of the delivery log."""

import base64
import datetime
import hashlib
import hmac
import http.server
import ipaddress
import json
import os
import re
import ssl
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from gateway import TOPIC
from waiting import Bell, wait_for

PAGE = Path(__file__).parents[2] / "docs/send/delivery-events.md"


class Receiver(Bell):
    """A server that keeps each request, and answers with `answers`, the next one each time, and then with 204."""

    def __init__(self, port=0, context=None):
        super().__init__()
        self.requests, self.answers, self.context = [], [], context
        self.open(port)

    def open(self, port=0):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                status, fields = receiver.answers.pop(0) if receiver.answers else (204, {})
                receiver.requests.append((status, dict(self.headers.items()), body))
                self.send_response(status)
                for name, value in fields.items():
                    self.send_header(name, value)
                self.send_header("content-length", "0" if status == 204 else "5")
                self.end_headers()
                if status != 204:
                    self.wfile.write(b"Hello")
                receiver.ring()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        if self.context:
            self.server.socket = self.context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    @property
    def url(self):
        return f"{'https' if self.context else 'http'}://127.0.0.1:{self.port}/events?of=gateway"

    def until(self, condition, what):
        return wait_for(condition, what, self)

    def sent(self, status=204):
        """The events of the requests that had this answer."""
        return [event for answer, _, body in self.requests if answer == status
                for event in json.loads(body)["data"]["events"]]

    def has(self, *ids, event="stored"):
        """Returns when these pushes have this event."""
        self.until(lambda: {one["id"] for one in self.sent() if one["event"] == event} >= set(ids), f"{event} of {ids}")


def signature(secret, fields, body):
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{fields['webhook-id']}.{fields['webhook-timestamp']}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture
def target(gateway, receiver, name):
    """The name of a target of the module's gateway, and its secret."""
    secret = gateway.run("event-targets", "add", name, "--url", receiver.url).out.strip()
    yield name, secret
    gateway.run("event-targets", "remove", name)


def test_each_event_is_sent_once_with_a_signature(gateway, device, receiver, target):
    name, secret = target
    ids = [gateway.accepted(device.token) for _ in range(3)]
    receiver.has(*ids)
    for _, fields, body in receiver.requests:
        assert fields["webhook-signature"] == signature(secret, fields, body)
        assert fields["content-type"] == "application/json"
    events = receiver.sent()
    numbers = [(event.get("gateway"), event["number"]) for event in events]
    assert len(set(numbers)) == len(numbers)
    for apns_id in ids:
        logged = {(row["event"], row["at"]) for row in gateway.events(apns_id, until="stored")}
        sent = [event for event in events if event["id"] == apns_id]
        assert {(event["event"], event["at"]) for event in sent} <= logged
        assert all((event["device"], event["topic"]) == (device.name, TOPIC) for event in sent)
        assert not any("text" in event for event in sent)
    [row] = [row for row in gateway.run("event-targets", "--json").records if row["name"] == name]
    assert row["url"] == receiver.url and "error" not in row and "secret" not in row


def test_a_target_gets_only_what_it_names(gateway, device, receiver, name):
    gateway.run("event-targets", "add", name, "--url", receiver.url, "--app", TOPIC, "--events", "stored")
    apns_id = gateway.accepted(device.token)
    receiver.has(apns_id)
    assert {event["event"] for event in receiver.sent()} == {"stored"}
    gateway.run("event-targets", "remove", name)


def test_a_refused_request_is_sent_again_with_its_id_and_its_events(gateway, device, receiver, target):
    receiver.answers = [(503, {"retry-after": "1"}), (302, {"location": receiver.url}), (500, {})]
    apns_id = gateway.accepted(device.token)
    receiver.has(apns_id)
    refused = [(fields["webhook-id"], json.loads(body)["data"]["events"]) for status, fields, body in receiver.requests
               if status != 204]
    assert len(refused) == 3
    accepted = {fields["webhook-id"]: json.loads(body)["data"]["events"] for status, fields, body in receiver.requests
                if status == 204}
    for webhook_id, events in refused:
        assert accepted[webhook_id] == events
    times = {fields["webhook-timestamp"] for _, fields, _ in receiver.requests}
    assert len(times) > 1, "each attempt has its own time"


def test_410_disables_a_target_until_it_is_resumed(gateway, device, receiver, target):
    name, _ = target
    receiver.answers = [(410, {})]
    first = gateway.accepted(device.token)
    gateway.wait_for_log("an event target answered 410")
    [row] = [row for row in gateway.run("event-targets", "--json").records if row["name"] == name]
    assert "disabled" in row
    second = gateway.accepted(device.token)
    gateway.events(second, until="stored")
    assert len(receiver.requests) == 1
    gateway.run("event-targets", "resume", name)
    receiver.has(first, second)


def test_nothing_is_lost_while_the_receiver_and_the_gateway_are_away(start, name):
    gateway = start()
    device = gateway.device()
    receiver = Receiver()
    gateway.run("event-targets", "add", name, "--url", receiver.url)
    ids = [gateway.accepted(device.token)]
    receiver.has(*ids)
    port = receiver.port
    receiver.close()
    ids += [gateway.accepted(device.token) for _ in range(5)]
    for apns_id in ids:
        gateway.events(apns_id, until="stored")
    gateway.wait_for_log("an event target does not accept events")
    gateway.kill()
    receiver.open(port)
    gateway.restart()
    receiver.has(*ids)
    # Events arrive again only in a request with the same id.
    requests = {}
    for _, fields, body in receiver.requests:
        requests.setdefault(fields["webhook-id"], set()).update(
            event["number"] for event in json.loads(body)["data"]["events"])
    numbers = [number for events in requests.values() for number in events]
    assert len(numbers) == len(set(numbers))
    receiver.close()


def certificate(folder):
    """The files of a certificate for 127.0.0.1 that no CA has signed, and of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "receiver")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .sign(key, hashes.SHA256()))
    (folder / "receiver.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "receiver.key").write_bytes(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return folder / "receiver.pem", folder / "receiver.key"


def test_a_server_with_tls_needs_a_certificate_that_is_trusted(gateway, device, name, tmp_path):
    pem, key = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, key)
    receiver = Receiver(context=context)
    gateway.run("event-targets", "add", f"{name}-0", "--url", receiver.url)
    assert "is not trusted" in gateway.run("event-targets", "test", f"{name}-0", code=1).err
    gateway.run("event-targets", "remove", f"{name}-0")
    assert not receiver.requests
    gateway.run("event-targets", "add", name, "--url", receiver.url, "--ca", pem)
    apns_id = gateway.accepted(device.token)
    receiver.has(apns_id)
    other = receiver.url.replace("127.0.0.1", "localhost")
    gateway.run("event-targets", "add", f"{name}-1", "--url", other, "--ca", pem)
    assert "for other names" in gateway.run("event-targets", "test", f"{name}-1", code=1).err
    for target in [name, f"{name}-1"]:
        gateway.run("event-targets", "remove", target)
    receiver.close()


def test_a_test_shows_the_answer(gateway, receiver, target):
    name, secret = target
    assert f"{name} answered 204" in gateway.run("event-targets", "test", name).err
    receiver.answers = [(418, {})]
    done = gateway.run("event-targets", "test", name, code=1)
    assert "answered 418" in done.err and done.out.strip() == "Hello"
    for _, fields, body in receiver.requests:
        assert json.loads(body)["type"] == "delivery.test"
        assert fields["webhook-signature"] == signature(secret, fields, body)


def test_a_former_secret_signs_too_after_a_rotation(gateway, receiver, target):
    name, secret = target
    new = gateway.run("event-targets", "rotate", name).out.strip()
    gateway.run("event-targets", "test", name)
    [(_, fields, body)] = receiver.requests
    assert fields["webhook-signature"].split() == [signature(new, fields, body), signature(secret, fields, body)]


@pytest.mark.parametrize("url", ["http://shop.example/", "https://me@shop.example/", "shop.example"])
def test_a_wrong_address_is_refused_in_words(gateway, name, url):
    assert "invalid address of an event target" in gateway.run("event-targets", "add", name, "--url", url, code=2).err


def test_the_receiver_of_the_page_checks_signatures(gateway, device, name, tmp_path):
    [code] = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    (tmp_path / "receiver.py").write_text(code)
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as free:
        port = free.server_address[1]
    url = f"http://127.0.0.1:{port}/"
    secret = gateway.run("event-targets", "add", name, "--url", url).out.strip()
    out = tmp_path / "events"
    with out.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, tmp_path / "receiver.py", str(port)], stdout=file, stderr=subprocess.DEVNULL,
            env=os.environ | {"EVENT_SECRET": secret})
    try:
        apns_id = gateway.accepted(device.token)
        wait_for(lambda: f"stored {apns_id} {device.name}" in out.read_text(), "the printed event", out)
        gateway.run("event-targets", "remove", name)
        gateway.run("event-targets", "add", name, "--url", url)
        assert "answered 401" in gateway.run("event-targets", "test", name, code=1).err
    finally:
        process.kill()
        process.wait()
        gateway.run("event-targets", "remove", name)
