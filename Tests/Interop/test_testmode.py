"""Test gateways (`pushcli serve --test`): unmodified senders, the test API over HTTP, recordings, and the end of it all."""

import base64
import concurrent.futures
import json
import re
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
import uuid
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from gateway import PUSHCLI, Gateway, run
from tokens import Key
from waiting import HANG, eventually
from wire import Connection, tls_context

TOPIC = "com.example.train"
TRAIN = {"aps": {"alert": {"title": "Train in 5 Minutes", "body": "Platform 4"}, "badge": 3}, "url": "https://example.com/4"}


class Sender:
    """A sender with a key that nobody has registered."""

    def __init__(self, ready):
        self.url, self.ready = ready["apns"], ready
        self.key = Key.__new__(Key)
        self.key.key_id, self.key.team_id, self.key.private = "ABC1234567", "TEAM123456", ec.generate_private_key(ec.SECP256R1())
        self.authorization = self.key.bearer()
        self.client = httpx2.Client(http2=True, verify=tls_context(Path(ready["ca"])), timeout=HANG)

    def push(self, token, payload=TRAIN, **fields):
        headers = {"authorization": self.authorization, "apns-topic": TOPIC, "apns-expiration": "0"}
        headers |= {name.replace("_", "-"): value for name, value in fields.items()}
        return self.client.post(f"{self.url}/3/device/{token}", headers=headers, content=json.dumps(payload))


class Server:
    """A test gateway, which ends with its standard input."""

    def __init__(self, *options, log):
        self.process = subprocess.Popen(
            [PUSHCLI, "serve", "--test", "--json", *map(str, options)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=open(log, "wb"))
        self.ready = json.loads(self.process.stdout.readline())
        self.url = self.ready["http"]

    def call(self, method, path, body=None, headers={}):
        """The status and the JSON of a request to the test API."""
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"{self.url}/test/v1{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=HANG) as response:
                text = response.read()
                return response.status, json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def expect(self, **members):
        members = {"within": "60s"} | members
        return self.call("POST", "/expect", members)

    def end(self):
        self.process.stdin.close()
        return self.process.wait(HANG)


@pytest.fixture
def start(tmp_path):
    gateways = []

    def start(*options):
        gateways.append(Server(*options, log=tmp_path / f"log-{len(gateways)}"))
        return gateways[-1]

    yield start
    for gateway in gateways:
        if gateway.process.poll() is None:
            assert gateway.end() == 0
        assert not Path(gateway.ready["state"]).exists()


@pytest.fixture
def server(start):
    return start()


@pytest.fixture
def token():
    return uuid.uuid4().hex * 2


def test_an_unmodified_sender_is_asserted(server, token):
    answer = Sender(server.ready).push(token, apns_priority="10", apns_push_type="alert")
    assert (answer.status_code, answer.http_version) == (200, "HTTP/2")
    status, found = server.expect(token=token, match={"title~": "^Train", "badge": 3, "payload./url*": "example"}, state="presented")
    assert status == 200
    [push] = found["pushes"]
    assert push["id"] == answer.headers["apns-id"]
    assert push["payload"] == TRAIN
    assert (push["push_type"], push["priority"], push["expiration"]) == ("alert", 10, 0)
    assert push["presented"] == ["badge", "alert"]
    assert [event["event"] for event in push["events"]][:3] == ["accepted", "transmitted", "presented"]


def test_a_failure_explains_itself(server, token):
    sender = Sender(server.ready)
    assert sender.push(token).status_code == 200
    assert server.expect(token=token)[0] == 200
    status, failure = server.expect(token=token, match={"title": "Train"}, within="1ms")
    assert status == 417
    [nearest] = failure["nearest"]
    assert nearest["differences"] == [{"field": "title", "expected": "Train", "found": "Train in 5 Minutes"}]
    assert sender.push("ab").status_code == 400
    status, failure = server.expect(token="ab", within="1ms")
    assert (status, failure["nearest"][0]["cause"]) == (417, "the push was refused with 400 BadDeviceToken")


def test_two_hundred_tests_at_once(server):
    sender, turn = Sender(server.ready), threading.Lock()

    def one(number):
        token = server.call("POST", "/devices", {"topic": TOPIC})[1]["token"]
        # httpx does not share an HTTP/2 connection safely among threads that write at the same time.
        with turn:
            assert sender.push(token, {"aps": {"alert": {"title": f"Nr {number}"}}}).status_code == 200
        status, found = server.expect(token=token, match={"title": f"Nr {number}"}, state="presented")
        return status, len(found["pushes"])

    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        assert set(pool.map(one, range(200))) == {(200, 1)}


def test_a_web_page_and_another_host_are_refused(server):
    assert server.call("GET", "", headers={"Origin": "https://evil.example"})[0] == 403
    assert server.call("GET", "", headers={"Host": "evil.example"})[0] == 403
    assert server.call("GET", "")[0] == 200
    assert server.call("POST", "/expect", {"match": {"title": "x" * (70 << 10)}})[0] == 413
    assert server.call("GET", "/nothing")[0] == 404
    assert server.call("PATCH", "/clock", {})[0] == 405


def http2(server, host="127.0.0.1"):
    """A connection of the test API; `host` is the name in its requests."""
    port = int(server.ready["apns"].rpartition(":")[2])
    return Connection(
        SimpleNamespace(addresses=[("127.0.0.1", port)], trust=Path(server.ready["ca"]), host=host, port=port))


def test_the_test_api_is_served_over_http2(server, token):
    sender = Sender(server.ready)
    api = f"{server.ready['apns']}/test/v1"
    device = sender.client.post(f"{api}/devices", json={"topic": TOPIC})
    assert (device.status_code, device.http_version) == (201, "HTTP/2")
    assert sender.push(device.json()["token"]).status_code == 200
    found = sender.client.post(f"{api}/expect", json={"token": device.json()["token"], "state": "presented", "within": "60s"})
    assert (found.status_code, len(found.json()["pushes"])) == (200, 1)
    assert sender.client.post(f"{api}/expect", json={"token": token, "within": "1ms"}).status_code == 417
    assert sender.client.get(f"{api}/openapi.json").json() == server.call("GET", "/openapi.json")[1]
    assert sender.client.get(f"{api}/pushes/1.svg").headers["content-type"] == "image/svg+xml"
    assert sender.client.get(api, headers={"origin": "https://evil.example"}).status_code == 403
    assert sender.client.post(f"{api}/expect", json={"match": {"title": "x" * (70 << 10)}}).status_code == 413
    with http2(server, "evil.example") as foreign:
        assert foreign.request("GET", "/test/v1").status == 403
    # Its own requests are no pushes.
    assert server.call("GET", "/pushes")[1]["last"] == 1


def test_an_expectation_over_http2_ends_with_its_stream(server):
    with http2(server) as connection:
        assert connection.request("GET", "/test/v1").status == 200
        # As many as a connection may have in progress.
        streams = [connection.send("POST", "/test/v1/expect", body=b'{"within":"60s"}') for _ in range(64)]
        assert connection.request("GET", "/test/v1").status == 429
        for stream in streams:
            connection.h2.reset_stream(stream)
        connection.flush()
        eventually(lambda: connection.request("GET", "/test/v1").status == 200, "the expectations go on")


def test_a_broadcast_is_a_push_to_each_subscriber(server):
    sender = Sender(server.ready)
    fields = {"authorization": sender.authorization}
    made = sender.client.post(
        f"{sender.url}/1/apps/{TOPIC}/channels", headers=fields, json={"message-storage-policy": 0, "push-type": "LiveActivity"})
    assert made.status_code == 201
    own = base64.b64encode(uuid.uuid4().bytes).decode()
    for channel in [made.headers["apns-channel-id"], own]:
        tokens = [server.call("POST", "/devices", {"topic": TOPIC, "channels": [channel]})[1]["token"] for _ in range(2)]
        sent = sender.client.post(
            f"{sender.url}/4/broadcasts/apps/{TOPIC}",
            headers=fields | {"apns-channel-id": channel, "apns-push-type": "liveactivity", "apns-expiration": "0"},
            json={"aps": {"timestamp": 1, "event": "update", "content-state": {}, "alert": {"title": "Goal"}}})
        assert sent.status_code == 200
        for token in tokens:
            status, found = server.expect(token=token, match={"title": "Goal", "push-type": "liveactivity"}, state="presented")
            assert (status, [push["id"] for push in found["pushes"]]) == (200, [sent.headers["apns-request-id"]])


def test_health_says_that_it_is_a_test_gateway(server):
    with urllib.request.urlopen(f"{server.url}/v1/health", timeout=HANG) as response:
        assert [warning["part"] for warning in json.load(response)["warnings"]] == ["test"]


def test_production_has_no_test_api(tmp_path):
    gateway = Gateway(tmp_path / "state", "--http-listen", "127.0.0.1:0").start()
    try:
        address = (gateway.state / "http-listening").read_text().split()[0]
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(f"http://{address}/test/v1", timeout=HANG)
        assert error.value.code == 404
    finally:
        gateway.close()


@pytest.mark.parametrize("certificate", ["unknown-ca", "expired", "wrong-name"])
def test_a_sender_refuses_another_certificate(server, token, certificate):
    assert server.call("PUT", "/tls", {"certificate": certificate})[0] == 200
    with pytest.raises(httpx2.ConnectError):
        Sender(server.ready).push(token)
    assert server.call("PUT", "/tls", {"certificate": "valid"})[0] == 200
    assert Sender(server.ready).push(token).status_code == 200


def test_a_token_expires_without_waiting(server, token):
    sender = Sender(server.ready)
    assert sender.push(token).status_code == 200
    assert server.call("POST", "/clock", {"advance": "61m"})[1]["offset"] == 3_660_000
    assert sender.push(token).json() == {"reason": "ExpiredProviderToken"}
    sender.authorization = sender.key.bearer(issued=int(time.time()) + 1)
    assert sender.push(token).status_code == 200
    [line, *_] = server.call("GET", "/report")[1]["lines"]
    assert line["verdict"] == "handled"


def test_the_report_names_each_usual_mistake_of_a_sender(server):
    sender = Sender(server.ready)
    silent, large = {"aps": {"content-available": 1}}, {"aps": {"alert": "x" * 5000}}
    tokens = {}

    def new(name, **state):
        tokens[name] = uuid.uuid4().hex * 2
        if state:
            assert server.call("PUT", f"/tokens/{tokens[name]}", state)[0] == 200
        return tokens[name]

    early = new("too early", state="throttled", **{"retry-after": 3600}, count=1)
    assert sender.push(early).headers["retry-after"] == "3600"
    assert sender.push(early).status_code == 200
    assert sender.push(new("never", state="unavailable")).status_code == 503
    gone = new("unregistered", state="unregistered")
    assert [sender.push(gone).status_code for _ in range(2)] == [410, 410]
    topic = new("topic")
    assert [sender.push(topic).status_code, sender.push(topic, apns_topic="com.example.tram").status_code] == [200, 400]
    assert sender.push(new("size"), large).status_code == 413
    assert sender.push(new("priority"), silent, apns_push_type="background", apns_priority="10").status_code == 200
    assert sender.push(new("push type"), silent, apns_push_type="alert").status_code == 200
    known, id = new("id"), str(uuid.uuid4())
    for alert in ["Train", "Bus"]:
        assert sender.push(known, {"aps": {"alert": alert}}, apns_id=id).status_code == 200
    assert server.call("PUT", f"/tokens/{new('GOAWAY')}/faults", {"faults": [{"goaway": "Shutdown", "count": 1}]})[0] == 200
    with pytest.raises(httpx2.TransportError):
        Sender(server.ready).push(tokens["GOAWAY"])
    assert server.expect(token=tokens["GOAWAY"], match={"outcome": "reset"}, state="any")[0] == 200
    renewed = new("token for each push")
    assert [Sender(server.ready).push(renewed).status_code for _ in range(3)] == [200] * 3
    hasty = Sender(server.ready)
    assert hasty.push(new("token updates")).status_code == 200
    hasty.authorization = hasty.key.bearer(issued=int(time.time()) - 60)
    assert hasty.push(tokens["token updates"]).json() == {"reason": "TooManyProviderTokenUpdates"}
    old = Sender(server.ready)
    old.authorization = old.key.bearer(issued=int(time.time()) - 7200)
    assert [old.push(tokens.get("expired") or new("expired")).status_code for _ in range(2)] == [403, 403]

    lines = server.call("GET", "/report")[1]["lines"]
    first = {name: next(line for line in lines if line.get("token") == token) for name, token in tokens.items()}
    assert {name: (line["verdict"], line["expected"]) for name, line in first.items()} == {
        "too early": ("retried-too-early", "the same push again, after 3600 s (retry-after)"),
        "never": ("never-retried", "the same push again, after a pause"),
        "unregistered": ("retried", "no more pushes to this token"),
        "topic": ("mistake", "the topic of the token's app"),
        "size": ("mistake", "a payload of at most 4096 bytes, of a voip push at most 5120"),
        "priority": ("mistake", "apns-priority 5"),
        "push type": ("mistake", "apns-push-type background and apns-priority 5"),
        "id": ("mistake", "a new apns-id for each push, and the same one only for its retries"),
        "GOAWAY": ("never-retried", "the same push again, on a new connection if this one has ended"),
        "token for each push": ("mistake", "one provider token for all pushes, renewed after 20 to 60 minutes"),
        "token updates": ("mistake", "one provider token for all pushes, renewed after 20 to 60 minutes"),
        "expired": ("retried", "the same push again, with a new provider token: renew it after 20 to 60 minutes"),
    }


def test_it_ends_with_its_standard_input_or_by_a_signal(start):
    first, second = start(), start()
    assert first.end() == 0
    second.process.send_signal(signal.SIGTERM)
    assert second.process.wait(HANG) == 0


def test_it_listens_on_loopback_only(tmp_path):
    done = run("serve", "--test", "--listen", "0.0.0.0:0")
    assert done.code == 2 and "--test-listen" in done.err
    assert run("serve", "--test", "--state", tmp_path / "x").code == 2
    assert run("serve", "--strict").code == 2


def test_a_recording_is_compared(start, tmp_path):
    def record(name, *titles):
        server = start("--record", tmp_path / name)
        token = uuid.uuid4().hex * 2
        for title in titles:
            assert Sender(server.ready).push(token, {"aps": {"alert": {"title": title}}}).status_code == 200
        assert server.end() == 0
        return tmp_path / name

    one = record("one", "Train", "Bus")
    assert len(one.read_text().splitlines()) == 2
    assert run("test-diff", one, record("two", "Train", "Bus")).code == 0
    done = run("test-diff", one, record("three", "Train", "Tram", "Boat"), "--json")
    assert done.code == 1
    assert [change["kind"] for change in done.records] == ["changed", "added"]
    fields = {field["field"]: field["after"] for field in done.records[0]["fields"]}
    assert fields["/payload/aps/alert/title"] == '"Tram"'


def recording(path, tests):
    """Writes a recording of the pushes with some titles for each token."""
    lines = [{"token": token, "payload": {"aps": {"alert": {"title": title}}}, "topic": "com.example.train", "status": 200}
             for token, titles in tests for title in titles]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def compared(before, after):
    done = run("test-diff", before, after, "--json")
    return done.code, [(change["kind"], change["token"], change["place"]) for change in done.records]


def test_a_missing_push_does_not_change_the_pushes_after_it(tmp_path):
    titles = [f"Nr {number}" for number in range(50)]
    one = recording(tmp_path / "one", [("ab", titles)])
    assert compared(one, recording(tmp_path / "two", [("ab", titles[:20] + titles[21:])])) == (1, [("missing", "ab", 21)])
    more = recording(tmp_path / "three", [("ab", ["new", *titles[:30], "Nr 30!", *titles[31:]])])
    assert compared(one, more) == (1, [("added", "ab", 1), ("changed", "ab", 32)])
    # Each push differs, and one is missing.
    other = recording(tmp_path / "four", [("ab", [title for title in titles if title != "Nr 7"])])
    other.write_text(other.read_text().replace('"status": 200', '"status": 410'))
    code, changes = compared(one, other)
    assert code == 1 and ("missing", "ab", 8) in changes and len(changes) == 50


def test_a_new_test_does_not_change_the_tests_after_it(tmp_path):
    before = recording(tmp_path / "one", [(f"a{number}", [f"Nr {number}", "again"]) for number in range(20)])
    tests = [(f"b{number}", [f"Nr {number}", "again"]) for number in range(20)]
    after = recording(tmp_path / "two", [*tests[:5], ("cc", ["new"]), *tests[5:]])
    assert compared(before, after) == (1, [("added", "cc", 1)])
    assert compared(after, before) == (1, [("missing", "cc", 1)])
    # Beyond the limit of the comparison, pushes are paired by position.
    many = recording(tmp_path / "three", [("ab", [f"Nr {number}" for number in range(600)])])
    others = recording(tmp_path / "four", [("ab", [f"No {number}" for number in range(601)])])
    code, changes = compared(many, others)
    assert code == 1 and len(changes) == 601 and changes[-1] == ("added", "ab", 601)


def test_test_run_passes_the_environment_and_the_status(tmp_path):
    script = 'test -f "$APNS_CA" && echo "$APNS_URL $PUSHGATEWAY_TEST_URL"; exit 7'
    done = run("test-run", "--", "sh", "-c", script)
    assert done.code == 7
    assert re.fullmatch(r"https://127\.0\.0\.1:\d+ http://127\.0\.0\.1:\d+\n", done.out)
    assert "0 pushes" in done.err
    assert run("test-run", "--", str(tmp_path / "nothing")).code == 127
    assert run("test-run").code == 2


def test_the_ready_line_without_json(tmp_path):
    process = subprocess.Popen([PUSHCLI, "serve", "--test"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert re.fullmatch(
        r"test gateway ready: https://127\.0\.0\.1:\d+ \(CA \S+/ca\.pem\), test API http://127\.0\.0\.1:\d+/test/v1\n",
        process.stdout.readline())
    process.stdin.close()
    assert process.wait(HANG) == 0
