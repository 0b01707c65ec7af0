"""Inputs that once ended a process, and their neighbors, against the built `pushcli` (Tests/Killers)."""

import json
import sqlite3
import subprocess
from pathlib import Path

import pytest

from gateway import ALERT, CRASH, PUSHCLI, TOPIC, run
from hostile import HostileGateway
from waiting import HANG
from wire import Closed

KILLERS = Path(__file__).parent.parent / "Killers"
BODIES = {path.stem: path.read_bytes() for path in sorted((KILLERS / "json").iterdir())}
NUMBERS = (KILLERS / "numbers.txt").read_text().split()
#: Depths about which parsers change their minds: ours (64), Foundation's (512), simdjson's own (1024).
DEPTHS = [1, 63, 64, 65, 66, 510, 511, 512, 513, 514, 515, 1023, 1024, 1025, 4000]
NESTED = {
    f"{opening!r}×{depth}{end!r}": opening * depth + end
    for depth in DEPTHS for opening in (b"[", b'{"a":') for end in (b"", b"[", b" ", b'"', b"1", b"]")
}

#: Routes of devices that take a body: with every credential, and without.
DEVICE_ROUTES = [
    ("POST", "/v1/devices"),
    ("PUT", "/v1/device/preferences"),
    ("POST", "/v1/device/preferences"),
    ("PUT", f"/v1/device/preferences/apps/{TOPIC}"),
    ("PUT", f"/v1/device/preferences/apps/{TOPIC}/categories/NEWS"),
    ("POST", "/v1/device/acknowledgements"),
    ("POST", "/v1/device/ads/reports"),
]
PROVIDER_ROUTES = [("POST", "/4/broadcasts/apps/" + TOPIC), ("POST", f"/1/apps/{TOPIC}/channels")]


def replay(gateway, requests, fields=(), **options):
    """Sends requests on one connection, some at a time; returns what came back, in order."""
    responses = []
    with gateway.connect(**options) as connection:
        for start in range(0, len(requests), 50):
            streams = [
                connection.send(method, path, fields, body, flush=False)
                for method, path, body in requests[start : start + 50]
            ]
            connection.flush()
            responses += [connection.wait(stream) for stream in streams]
    return responses


@pytest.mark.parametrize("credential", ["none", "unknown", "device"])
def test_no_body_ends_the_gateway(gateway, device, credential):
    secret = {"none": None, "unknown": "A" * 43, "device": device.secret}[credential]
    fields = [("authorization", f"bearer {secret}")] if secret else []
    bodies = [*BODIES.values(), *NESTED.values()]
    requests = [(method, path, body) for method, path in DEVICE_ROUTES for body in bodies]
    for (method, path, body), response in zip(requests, replay(gateway, requests, fields)):
        seen = (method, path, body[:60], response.status, response.body)
        assert response.status is not None and response.status != 500, seen
        if path != "/v1/devices" and credential != "device":
            # What is larger than a stranger may send is not even asked who sends it.
            assert response.status == (401 if len(body) <= 16 << 10 else 413), seen
    assert gateway.process.poll() is None


def test_a_request_is_authenticated_before_its_body_is_read(gateway):
    for method, path in DEVICE_ROUTES[1:]:
        for body in (b"", b"{", b"{}", b"\xff"):
            [response] = replay(gateway, [(method, path, body)])
            assert response.status == 401, (method, path, body)


def test_no_payload_ends_the_gateway(gateway, device):
    bodies = [*BODIES.values(), *NESTED.values()]
    requests = [("POST", f"/3/device/{device.token}", body) for body in bodies]
    requests += [(method, path, body) for method, path in PROVIDER_ROUTES for body in bodies]
    fields = gateway.fields() + [("apns-channel-id", "AAAAAAAAAAAAAAAAAAAAAA==")]
    for request, response in zip(requests, replay(gateway, requests, fields)):
        assert response.status in (200, 400, 403, 413), (request, response.status, response.body)


@pytest.mark.parametrize("depth, status", [(2, 200), (63, 200), (64, 200), (65, 400), (66, 400), (1024, 400)])
@pytest.mark.parametrize("form", ["arrays", "objects", "closed"])
def test_a_payload_is_at_most_64_levels_deep(gateway, device, depth, status, form):
    opening, middle, closing = {"arrays": (b"[", b"1", b"]"), "closed": (b"[", b"", b"]"), "objects": (b'{"":', b"1", b"}")}[form]
    levels = depth - 1
    payload = b'{"aps":{"alert":"a"},"x":' + opening * levels + middle + closing * levels + b"}"
    if len(payload) > 4096:
        status = 413
    response = gateway.push(device.token, payload)
    assert response.status == status, response.body
    assert status != 400 or response.reason == "PayloadEmpty"


def test_no_time_of_a_token_ends_the_gateway(gateway, device):
    """C2: `iat` of −2^63, which was subtracted from now."""
    for number in NUMBERS:
        for text in (number, f'"{number}"'):
            claims = f'{{"iss":"{gateway.key.team_id}","iat":{text}}}'
            token = gateway.key.token(dumps=lambda value: claims if "iat" in value else json.dumps(value))
            response = gateway.push(device.token, ALERT, authorization=f"bearer {token}")
            assert response.status == 403, (text, response.status)
            assert response.reason in ("InvalidProviderToken", "ExpiredProviderToken"), (text, response.reason)


def test_no_field_of_a_request_ends_the_gateway(gateway, device):
    with gateway.connect() as connection:
        for number in NUMBERS:
            for name in ("apns_expiration", "apns_priority", "apns_id", "apns_collapse_id", "content_length"):
                try:
                    response = gateway.push(device.token, connection=connection, **{name: number})
                except Closed:
                    raise AssertionError(f"{name}: {number} ended the connection") from None
                assert response.status in (200, 400, None), (name, number)


def test_no_number_of_a_device_ends_the_gateway(gateway, device):
    fields = [("authorization", f"bearer {device.secret}")]
    requests = [("POST", "/v1/device/acknowledgements", b'{"seq":%s}' % number.encode()) for number in NUMBERS]
    queries = ("since", "after", "before", "limit")
    requests += [
        ("PUT", f"/v1/device/preferences/apps/{TOPIC}", b'{"alert_budget":%s}' % number.encode()) for number in NUMBERS
    ]
    for request, response in zip(requests, replay(gateway, requests, fields)):
        assert response.status in (200, 204, 400), (request, response.status, response.body)
    with gateway.connect() as connection:
        # One at a time: that is all a device may do.
        for path in [f"/v1/device/log?{name}={number}" for name in queries for number in NUMBERS]:
            response = connection.request("GET", path, fields)
            assert response.status in (200, 400), (path, response.status, response.body)
    for number in NUMBERS:
        lines = [
            f'{{"type":"hello","cursor":{number}}}', f'{{"type":"ack","seq":{number}}}',
            f'{{"type":"undeliverable","seq":{number}}}',
            f'{{"type":"ack","channel":"AAAAAAAAAAAAAAAAAAAAAA==","number":{number}}}',
        ]
        with gateway.connect() as connection:
            stream = connection.open("POST", "/v1/device/stream", fields)
            connection.write(stream, "\n".join(lines).encode() + b"\n" + b"\n".join(BODIES.values()) + b"\n")
            connection.ping()
            events = connection.open("GET", "/v1/device/stream", [*fields, ("last-event-id", number)], end=True)
            connection.until(lambda: connection.responses[events].status)
            assert connection.responses[events].status == 200


def test_no_number_of_an_administrator_ends_the_gateway(gateway, device):
    """M8, and whatever else takes a number, past the checks of the commands."""
    bodies = [
        ("POST", f"/admin/v1/devices/{device.name}/registrations", '{"topic":"%s","valid_seconds":#}' % TOPIC),
        ("POST", "/admin/v1/invitations", '{"valid_seconds":#}'),
        ("POST", "/admin/v1/batches", '{"name":"b","first":#,"count":1,"topic":"%s"}' % TOPIC),
        ("POST", "/admin/v1/batches", '{"name":"b","first":0,"count":#,"topic":"nothing"}'),
        ("POST", "/admin/v1/channels", '{"topic":"%s","message_storage_policy":#,"count":1}' % TOPIC),
        ("POST", "/admin/v1/channels", '{"topic":"%s","message_storage_policy":0,"count":#}' % TOPIC),
        ("POST", "/admin/v1/certificates", '{"topic":"%s","topics":[],"kinds":[],"days":#}' % TOPIC),
        *(
            ("POST", "/admin/v1/faults", '[{"name":"f","count":1,"for":1,"app":"no","%s":#}]' % name)
            for name in ("status", "delay", "streams", "throttle", "seed")
        ),
        ("POST", f"/admin/v1/ads/standing/{TOPIC}", '{"until":#}'),
        ("POST", "/admin/v1/faults", '[{"name":"f","app":"no","status":500,"count":#}]'),
        ("POST", "/admin/v1/faults", '[{"name":"f","app":"no","status":500,"for":#}]'),
        ("POST", "/admin/v1/faults", '[{"name":"f","app":"no","status":500,"rate":#}]'),
    ]
    log = [("GET", f"/admin/v1/log?{name}=#", "") for name in ("since", "after", "before", "limit")]
    log += [("GET", "/admin/v1/ads/reports?limit=#", "")]
    requests = [
        (method, path.replace("#", number), body.replace("#", number).encode())
        for method, path, body in bodies + log for number in NUMBERS
    ]
    for request, response in zip(requests, replay(gateway, requests, admin=True)):
        assert response.status in (200, 201, 400, 404, 409), (request, response.status, response.body)
    replay(gateway, [("DELETE", "/admin/v1/faults", b"")], admin=True)
    routes = sorted({(method, path) for method, path, body in bodies})
    requests = [(method, path, body) for method, path in routes for body in [*BODIES.values(), *NESTED.values()]]
    for request, response in zip(requests, replay(gateway, requests, admin=True)):
        assert response.status in (200, 201, 400, 404, 409), (request, response.status, response.body)
    assert gateway.run("devices", "list").out


@pytest.mark.parametrize(
    "command",
    [("devices", "register", "{device}", TOPIC, "--valid-for", "#"), ("devices", "invite", "--minutes", "#")],
    ids=lambda command: " ".join(command[:2]))
def test_no_number_of_a_command_ends_the_gateway(gateway, device, command):
    for number in ("9223372036854775807", "153722867280912930", "-9223372036854775808", "-1", "1e300"):
        done = run(*(part.replace("#", number).format(device=device.name) for part in command), state=gateway.state)
        assert done.code in (1, 2), (number, done.out)
    assert gateway.process.poll() is None


def push(seq, payload=b'{"aps":{"alert":"a"}}', **more) -> bytes:
    """A line as a gateway sends it."""
    members = {"type": "push", "seq": seq, "id": "00000000-0000-4000-8000-%012d" % seq, "topic": TOPIC} | more
    return json.dumps(members, separators=(",", ":")).encode()[:-1] + b',"payload":' + payload + b"}"


def test_a_push_that_a_device_cannot_read_is_told_and_not_acknowledged_unseen(gateway, tmp_path):
    """M4: an older gateway sends a payload of 1,000 levels."""
    device = gateway.device()
    welcome = b'{"type":"welcome","gateway":"old","device":"d","apps":[],"preferences":{}}'
    lines = [welcome, push(1), push(2, b'{"x":' + b"[" * 1000 + b"]" * 1000 + b"}"), push(3), b'{"type":"caught-up","seq":3}']
    with HostileGateway(gateway.state, lines) as hostile:
        done = gateway.run("subscribe", "--device", device.name, "--gateway", hostile.address, "--json", "--count", 2)
        assert [record["seq"] for record in done.records] == [1, 3]
        hostile.wait(lambda received: {"type": "undeliverable", "seq": 2} in received)
        hostile.wait(lambda received: {"type": "ack", "seq": 3} in received)
        assert [line["seq"] for line in hostile.received if line["type"] == "undeliverable"] == [2]
    assert done.err.count("can't be read") == 1, done.err


def test_no_line_of_a_gateway_ends_a_device(gateway, tmp_path):
    device = gateway.device()
    templates = [
        '{"type":"push","seq":#,"id":"i","topic":"t"}', '{"type":"gap","dropped":#}', '{"type":"gap","dropped":#}',
        '{"type":"push","seq":0,"channel":"AAAAAAAAAAAAAAAAAAAAAA==","number":#,"id":"i","topic":"t","payload":{}}',
        '{"type":"push","seq":0,"id":"i","topic":"t","received":#,"presentation":{"badge":#,"alert":{"title":#},'
        '"held":{"by":"summary","until":#,"relevance":#}},"payload":{"aps":{"badge":#}}}',
        '{"type":"push","seq":0,"id":"i","topic":"t","received":"9999-12-99T99:99:99.999Z","payload":{}}',
        '{"type":"welcome","preferences":{"apps":{"t":{"alert_budget":#}}}}', '{"type":"preferences","preferences":#}',
        '{"type":"caught-up","seq":#}', '{"type":"bye","reason":#}',
    ]
    numbered = [template.replace("#", number).encode() for number in NUMBERS for template in templates]
    documents = [body for body in [*BODIES.values(), *NESTED.values()] if b"\n" not in body]
    wrapped = [b'{"type":"push","seq":0,"id":"i","topic":"t","payload":' + body + b"}" for body in documents]
    for form in ("--json", "--plain"):
        with HostileGateway(gateway.state, numbered + documents + wrapped + [push(1 << 53, topic="last")]) as hostile:
            running = subprocess.Popen(
                [PUSHCLI, "subscribe", "--state", gateway.state, "--device", device.name, "--gateway", hostile.address, form],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            hostile.wait(lambda received: any(line["type"] == "ack" for line in received))
            running.terminate()
            _, words = running.communicate(timeout=HANG)
        assert running.returncode in (0, 130, 143), words
        assert not CRASH.search(words.decode(errors="replace")), words


@pytest.mark.parametrize("status", [200, 400])
def test_no_answer_of_a_gateway_ends_a_command(gateway, status):
    bodies = [BODIES["brackets-513"], BODIES["members-512"], BODIES["lone-low-surrogate"], b"", b"{", b"null", b"[" * 100_000]
    for body in bodies:
        with HostileGateway(gateway.state, status=status, body=body) as hostile:
            run("doctor", "--gateway", hostile.address, state=gateway.state)
            run("send", "--to", "nobody/" + TOPIC, "--title", "a", "--gateway", hostile.address, state=gateway.state)


def test_a_gateway_that_does_not_answer_does_not_keep_doctor(gateway):
    with HostileGateway(gateway.state, status=None) as hostile:
        done = run("doctor", "--gateway", hostile.address, state=gateway.state)
    assert done.code == 1 and "failed" in done.out


def test_a_stored_payload_that_cannot_be_read_ends_in_the_log_as_undeliverable(start, subscribe):
    """M4: an earlier version accepted payloads of up to 1,024 levels."""
    gateway = start()
    device = gateway.device()
    first, deep, last = [gateway.accepted(device.token) for _ in range(3)]
    gateway.stop()
    database = sqlite3.connect(gateway.state / "pushgateway.sqlite")
    payload = b'{"aps":{"alert":"deep"},"x":' + b"[" * 900 + b"]" * 900 + b"}"
    database.execute("UPDATE mailbox SET payload = ? WHERE seq = 2", [payload])
    assert database.total_changes == 1
    database.commit()
    database.close()
    gateway.start()
    subscriber = subscribe(gateway, device)
    gateway.events(last, until="acknowledged")
    assert [record["seq"] for record in subscriber.lines] == [1, 3]
    gateway.events(deep, until="undeliverable")
    again = subscribe(gateway, device)
    last = gateway.accepted(device.token)
    gateway.events(last, until="acknowledged")
    events = [record["event"] for record in gateway.events(deep)]
    assert events == ["accepted", "stored", "undeliverable"], events
    assert subscriber.words.count("can't read a stored push for " + TOPIC) == 1
    assert "can't read" not in again.words
