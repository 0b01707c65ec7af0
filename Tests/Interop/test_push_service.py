"""Closed pages: the gateway reaches a browser through its push service, here a strict one of the test or the gateway itself."""

import base64
import http.server
import json
import os
import re
import threading
import time

import http_ece
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from gateway import TOPIC
from test_web_push import endpoint
from waiting import Bell, wait_for

pytestmark = pytest.mark.alone("the subscriptions of a browser belong to one gateway")

PATH = "/v1/device/subscription"


def encoded(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Browser:
    """The keys of a subscription."""

    def __init__(self):
        self.key, self.auth, self.bytes = ec.generate_private_key(ec.SECP256R1()), os.urandom(16), b""
        point = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.keys = {"p256dh": encoded(point), "auth": encoded(self.auth)}

    def read(self, body):
        """The message, and as `content` the encrypted Web Push message that follows it."""
        self.bytes = http_ece.decrypt(body, private_key=self.key, auth_secret=self.auth, version="aes128gcm")
        line, end, content = self.bytes.partition(b"\n")
        return json.loads(line) | ({"content": content} if end else {})


class Service(Bell):
    """A push service that refuses what RFC 8030, 8188, 8291 or 8292 do not permit, and else answers as the test says."""

    def __init__(self):
        super().__init__()
        self.browser, self.messages, self.answers, self.mistakes, self.public = Browser(), [], [], [], None
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                try:
                    message = service.check(self.path, self.headers, body)
                except Exception as mistake:  # noqa: BLE001
                    service.mistakes.append(repr(mistake))
                    status, fields = 400, {}
                else:
                    status, fields = service.answers.pop(0) if service.answers else (201, {"location": "/m/1"})
                    service.messages.append((status, dict(self.headers.items()), message))
                self.send_response(status)
                for name, value in fields.items():
                    self.send_header(name, value)
                self.send_header("content-length", "0")
                self.end_headers()
                service.ring()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def check(self, path, headers, body):
        assert path == "/push/1?device=a"
        assert headers["content-encoding"] == "aes128gcm" and headers["content-type"] == "application/octet-stream"
        assert re.fullmatch(r"\d{1,7}", headers["ttl"]) and int(headers["ttl"]) <= 2_419_200
        assert headers["urgency"] in ("very-low", "low", "normal", "high")
        assert headers.get("topic") is None or re.fullmatch(r"[A-Za-z0-9_-]{32}", headers["topic"])
        assert len(body) <= 4096, "a longer message may be refused (RFC 8030 §7.2)"
        token, key = re.fullmatch(r"vapid t=([^, ]+), k=([^, ]+)", headers["authorization"]).groups()
        public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(key))
        claims = jwt.decode(token, public, algorithms=["ES256"], audience=self.origin, options={"require": ["aud", "exp", "sub"]})
        assert claims["exp"] <= time.time() + 12 * 3600 + 60 and re.match("mailto:|https:", claims["sub"])
        assert self.public in (None, key), "a subscription is bound to its key"
        return self.browser.read(body)

    def subscribe(self, gateway, device, **more):
        self.public = gateway.ask("GET", PATH, secret=device.secret)["key"]
        body = {"endpoint": f"{self.origin}/push/1?device=a", "keys": self.browser.keys, **more}
        gateway.ask("PUT", PATH, body, secret=device.secret)

    def has(self, count, status=201):
        """The messages with this answer, as soon as there are so many."""
        wait_for(lambda: len(self.with_status(status)) >= count or self.mistakes, f"{count} messages with {status}", self)
        assert not self.mistakes, self.mistakes
        found = self.with_status(status)
        assert len(found) == count
        return found

    def with_status(self, status):
        return [(fields, message) for answer, fields, message in self.messages if answer == status]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    from conftest import Served
    gateway = Served(tmp_path_factory.mktemp("gateway") / "state", "--push-services", "all").start()
    yield gateway
    gateway.close()


@pytest.fixture
def service():
    service = Service()
    yield service
    service.close()
    assert not service.mistakes, service.mistakes


def subscription(gateway, device):
    return gateway.ask("GET", PATH, secret=device.secret)


def test_a_closed_page_is_reached_and_the_push_stays_in_its_mailbox(gateway, device, service):
    service.subscribe(gateway, device, quiet=True)
    payload = {"aps": {"alert": {"title": "Backup", "body": "Done ✓"}, "badge": 3, "sound": "default"}, "secret": "s"}
    push = gateway.accepted(device.token, payload, **{"apns-collapse-id": "backup", "apns-expiration": str(int(time.time()) + 600)})
    [(fields, message)] = service.has(1)
    assert message["type"] == "push" and message["id"] == push and message["topic"] == TOPIC
    assert message["presentation"]["alert"]["title"] == "Backup" and message["presentation"]["alert"]["body"] == "Done ✓"
    assert message["presentation"]["badge"] == 3 and message["presentation"]["sound"] == "default"
    assert message["collapse"] == "backup" and "payload" not in message
    assert 500 < int(fields["ttl"]) <= 600 and len(fields["topic"]) == 32 and fields["urgency"] == "normal"
    assert gateway.waiting(device) == 1
    # The worker reports what it has shown, although the push is still pending.
    body = json.dumps({"type": "presented", "id": push, "parts": ["alert"]}) + "\n"
    with gateway.connect(admin=True) as connection:
        answer = connection.request("POST", "/v1/device/reports", [("authorization", f"bearer {device.secret}")], body.encode())
    assert answer.status == 200
    gateway.events(push, until="presented")


def test_an_open_page_gets_no_message(gateway, device, service):
    service.subscribe(gateway, device)
    stream = gateway.stream(device)
    stream.caught_up()
    first = gateway.accepted(device.token)
    line = stream.next_of("push")
    assert line["id"] == first
    stream.acknowledge(line["seq"])
    gateway.events(first, until="acknowledged")
    stream.connection.close()
    second = gateway.accepted(device.token)
    [(_, message)] = service.has(1)
    assert message["id"] == second


def test_a_long_text_is_cut_and_413_gets_a_shorter_one(gateway, device, service):
    service.subscribe(gateway, device)
    service.answers = [(413, {})]
    gateway.accepted(device.token, {"aps": {"alert": {"title": "Title", "body": "a" * 3000}}})
    [(_, long)] = service.has(1, status=413)
    [(_, short)] = service.has(1)
    sizes = [len(json.dumps(message, ensure_ascii=False).encode()) for message in (long, short)]
    assert sizes[1] < 1100 < sizes[0] <= 4000
    for message in (long, short):
        alert = message["presentation"]["alert"]
        assert alert["title"] == "Title" and re.fullmatch("a+…?", alert["body"])
    assert short["presentation"]["alert"]["body"].endswith("…")


def test_a_failing_service_gets_the_message_again_after_the_time_that_it_names(gateway, device, service):
    service.subscribe(gateway, device)
    service.answers = [(429, {"retry-after": "1"}), (503, {"retry-after": "1"})]
    push = gateway.accepted(device.token)
    [(_, message)] = service.has(1)
    assert message["id"] == push and len(service.messages) == 3
    gateway.wait_for_log("a push service does not accept messages")


@pytest.mark.parametrize("status", [404, 410])
def test_an_ended_subscription_is_removed(gateway, device, service, status):
    service.subscribe(gateway, device)
    service.answers = [(status, {})]
    gateway.accepted(device.token)
    service.has(1, status=status)
    gateway.when(lambda: "endpoint" not in subscription(gateway, device), "the end of the subscription", gateway.log_path)


def test_a_refusal_disables_the_subscription_until_the_page_subscribes_again(gateway, device, service):
    service.subscribe(gateway, device)
    service.answers = [(403, {})]
    gateway.accepted(device.token)
    service.has(1, status=403)
    gateway.wait_for_log("a push service refused a message with 403")
    assert subscription(gateway, device)["refused"] == 403
    assert "push-services" in json.dumps(gateway.ask("GET", "/v1/health", status=(200, 503)))
    service.subscribe(gateway, device)
    push = gateway.accepted(device.token)
    [(_, message)] = service.has(1)
    assert message["id"] == push


def test_a_retraction_closes_what_was_shown(gateway, device, service):
    service.subscribe(gateway, device, quiet=True)
    push = gateway.accepted(device.token)
    service.has(1)
    gateway.run("send", "--to", f"{device.name}/{TOPIC}", "--retract", push)
    messages = service.has(2)
    assert messages[1][1] == {"type": "retract", "id": push}


def test_a_new_secret_ends_the_subscription(gateway, device, service):
    service.subscribe(gateway, device)
    gateway.run("devices", "rotate", device.name)
    gateway.accepted(device.token)
    other = gateway.device()
    service.subscribe(gateway, other)
    push = gateway.accepted(other.token)
    [(_, message)] = service.has(1)
    assert message["id"] == push


def test_the_gateway_reaches_a_terminal_through_itself(gateway, device):
    address = (gateway.state / "http-listening").read_text().split()[0]
    terminal = gateway.device()
    _, made = endpoint(gateway, terminal, f"http://{address}")
    gateway.ask("PUT", PATH, {"endpoint": made["endpoint"], "keys": made["keys"]}, secret=device.secret)
    push = gateway.accepted(device.token, {"aps": {"alert": "Hello from the gateway"}})
    [received] = gateway.run("subscribe", "--device", terminal.name, "--json", "--count", 1).records
    # The message of a closed page is no message for a terminal, which shows it as a text.
    message = json.loads(received["presentation"]["alert"]["body"])
    assert message["id"] == push and message["presentation"]["alert"]["body"] == "Hello from the gateway"


def test_a_private_endpoint_needs_the_setting(start):
    gateway = start()
    device = gateway.device()
    service = Service()
    body = {"endpoint": f"{service.origin}/push/1?device=a", "keys": service.browser.keys}
    gateway.ask("PUT", PATH, body, secret=device.secret, status=400)
    # A name may have any address: it is checked when the gateway has connected.
    gateway.ask("PUT", PATH, body | {"endpoint": "https://localhost:1/push"}, secret=device.secret)
    gateway.accepted(device.token)
    gateway.wait_for_log("a push service does not accept messages")
    assert not service.messages
    service.close()


def test_the_setting_off_serves_no_subscription(start):
    gateway = start("--push-services", "off")
    device = gateway.device()
    gateway.ask("GET", PATH, secret=device.secret, status=403)
    gateway.ask("PUT", PATH, {"endpoint": "https://push.example/1", "keys": Browser().keys}, secret=device.secret, status=403)
    gateway.ask("DELETE", PATH, secret=device.secret, status=204)
