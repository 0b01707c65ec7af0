"""Pushes for device tokens that a gateway does not know, forwarded to an upstream: here another gateway, with faults on."""

import os
import subprocess
import sys
import uuid

import aioapns
import pytest

from gateway import ALERT, TOPIC
from test_libraries import needs_python_of_hyper, program, variables, with_aioapns
from waiting import HANG, eventually
from wire import Closed

pytestmark = pytest.mark.alone("its upstream")

UNKNOWN = "0" * 64


@pytest.fixture
def pair(start):
    """A gateway and its upstream. Only the upstream has the key of the senders."""
    upstream = start(name="upstream")
    return start(*options(upstream), name="gateway"), upstream


def options(upstream):
    return "--upstream", f"https://{upstream.address}", "--upstream-ca", upstream.trust


def push(gateway, upstream, token, payload=ALERT, **fields):
    return gateway.push(token, payload, key=upstream.key, **fields)


def row(gateway, apns_id, event="forwarded") -> dict:
    """The only row of a push."""
    [row] = gateway.events(apns_id, event)
    return row


# Answers


def test_a_push_is_delivered_at_the_upstream_and_both_logs_have_it(pair):
    gateway, upstream = pair
    device, name = upstream.device(), str(uuid.uuid4())
    response = push(gateway, upstream, device.token, apns_id=name)
    assert (response.status, response["apns-id"]) == (200, name)
    # The development environment of the upstream has the other id, too.
    assert upstream.events(response["apns-unique-id"], "accepted")[0]["id"] == name
    stream = upstream.stream(device)
    assert [line["id"] for line in stream.caught_up()] == [name]
    stream.connection.close()
    details = row(gateway, name)["details"]
    assert (details["upstream"], details["status"], details["topic"]) == (upstream.address, 200, TOPIC)
    assert (details["key_id"], details["team_id"]) == (upstream.key.key_id, upstream.key.team_id)
    assert f"200 of {upstream.address}" in gateway.run("log", name).out


def test_each_answer_is_that_of_the_upstream(pair):
    gateway, upstream = pair
    device, gone = upstream.device(), upstream.device()
    upstream.unregister(gone.name, TOPIC)
    other = upstream.app()
    cases = [
        (device.token, {}), (gone.token, {}), (UNKNOWN, {}), (UNKNOWN + "ab" * 40, {}), (device.token, {"topic": other}),
        (device.token, {"apns_push_type": "background", "apns_priority": 5, "apns_expiration": 0}),
    ]
    seen = set()
    for token, fields in cases:
        name = str(uuid.uuid4()).upper()
        mine = push(gateway, upstream, token, apns_id=name, **fields)
        theirs = push(upstream, upstream, token, apns_id=name, **fields)
        assert (mine.status, mine.body, mine["apns-id"]) == (theirs.status, theirs.body, theirs["apns-id"])
        seen.add(mine.status)
        assert row(gateway, name)["details"].get("reason") == (mine.reason if mine.body else None)
    assert seen == {200, 400, 410}


def test_an_id_that_the_upstream_makes_is_that_of_both_logs(pair):
    gateway, upstream = pair
    name = push(gateway, upstream, upstream.device().token)["apns-id"]
    assert row(gateway, name)["details"]["status"] == 200
    assert upstream.events(name, "accepted")


def test_an_imported_key_is_verified_here(pair):
    gateway, upstream = pair
    key = upstream.key
    gateway.run("keys", "import", key.path, "--key-id", key.key_id, "--team", key.team_id)
    device = upstream.device()
    assert push(gateway, upstream, device.token).status == 200
    forged = gateway.connect()
    fields = gateway.fields(authorization="bearer " + key.token(flip=3))
    response = forged.request("POST", f"/3/device/{device.token}", fields, ALERT)
    forged.close()
    assert response.reason == "InvalidProviderToken" and "forwarded" not in [
        line["event"] for line in gateway.rows(response["apns-id"])]


def test_a_device_of_this_gateway_is_served_here(pair):
    gateway, upstream = pair
    here, gone = gateway.device(), gateway.device()
    gateway.admin("DELETE", "devices", gone.name)
    assert gateway.push(here.token).status == 200
    # A removed device keeps its answer; its token is known to no other service.
    assert gateway.push(gone.token).reason == "Unregistered"
    assert push(gateway, upstream, here.token).reason == "InvalidProviderToken"
    assert upstream.rows(limit=10) == []


def test_policy_is_applied_before(pair):
    gateway, upstream = pair
    device = upstream.device()
    assert push(gateway, upstream, device.token, {"aps": {"badge": "3"}}).reason == "Forbidden"
    gateway.admin("POST", "apps", body={
        "topic": TOPIC, "name": "News", "team_id": gateway.key.team_id, "ads": "refuse", "policy_mode": "enforce"})
    sale = {"aps": {"alert": {"title": "Flash Sale", "body": "Up to 70% off everything. Shop now before midnight"}}}
    assert push(gateway, upstream, device.token, sale).json["policy"]["rule"] == "A9"
    assert push(gateway, upstream, device.token, b"[]").reason == "PayloadEmpty"
    assert push(gateway, upstream, device.token, apns_deliver_at=4102444800).reason == "BadExpirationDate"
    assert upstream.rows(limit=10) == []


def test_a_certificate_can_not_be_forwarded_and_the_log_says_so_once(pair):
    gateway, _ = pair
    with gateway.connect(certificate=gateway.certificate()) as connection:
        fields = [("apns-topic", TOPIC)]
        for _ in range(2):
            response = connection.request("POST", f"/3/device/{UNKNOWN}", fields, ALERT)
            assert (response.status, response.reason) == (403, "MissingProviderToken")
    gateway.wait_for_log("event=certificate-not-forwarded")
    assert gateway.log.count("event=certificate-not-forwarded") == 1


def test_a_gateway_that_is_its_own_upstream_forwards_once(start):
    gateway = start()
    gateway.stop()
    gateway.options += "--upstream", f"https://{gateway.address}", "--upstream-ca", gateway.trust
    gateway.restart()
    assert gateway.push(UNKNOWN).reason == "InternalServerError"
    assert len(gateway.rows(event="forwarded", limit=10)) == 1


# Libraries


@pytest.fixture
def connect(pair, monkeypatch):
    gateway, upstream = pair
    for name, value in senders(gateway, upstream).items():
        monkeypatch.setenv(name, value)
    definitions = {"__name__": "page"}
    exec(compile(program("send_aioapns.py", gateway), "send_aioapns.py", "exec"), definitions)
    return definitions["connect"]


def senders(gateway, upstream):
    """The variables of the programs: the address of the gateway, and the key of the upstream."""
    key = upstream.key
    return variables(gateway) | {"KEY_FILE": key.path, "KEY_ID": key.key_id, "TEAM_ID": key.team_id}


def test_aioapns_sees_the_answers_of_the_upstream(pair, connect):
    _, upstream = pair
    device, gone = upstream.device(), upstream.device()
    upstream.unregister(gone.name, TOPIC)
    upstream.run("faults", "add", "busy", "--reason", "TooManyRequests", "--token", "ab" * 32, "--count", 1)
    tokens = [device.token, UNKNOWN, gone.token, "ab" * 32]
    [fine, unknown, unregistered, busy] = with_aioapns(
        connect, *(aioapns.NotificationRequest(token, {"aps": {"alert": "x"}}) for token in tokens))
    assert fine.is_successful
    assert (unknown.status, unknown.description) == ("400", "BadDeviceToken")
    assert (unregistered.status, unregistered.description) == ("410", "Unregistered")
    assert isinstance(unregistered.timestamp, int)
    assert (busy.status, busy.description) == ("429", "TooManyRequests")


def test_aioapns_sends_500_at_once(pair, connect):
    _, upstream = pair
    token = upstream.device().token
    results = with_aioapns(
        connect, *(aioapns.NotificationRequest(token, {"aps": {"badge": number}}) for number in range(500)))
    assert {result.status for result in results} == {"200"}


@pytest.mark.parametrize("name", ["send_kalyke.py", pytest.param("send_pyapns2.py", marks=needs_python_of_hyper)])
def test_a_program_of_the_page_sends_to_the_upstream(pair, tmp_path, name):
    gateway, upstream = pair
    device = upstream.device()
    (tmp_path / name).write_text(program(name, gateway))
    packages = {"PYTHONPATH": os.environ["PYAPNS2_PACKAGES"]} if name == "send_pyapns2.py" else {}
    done = subprocess.run(
        [sys.executable, name], cwd=tmp_path, capture_output=True, text=True, timeout=HANG,
        env=os.environ | senders(gateway, upstream) | {"DEVICE_TOKEN": device.token} | packages)
    assert done.returncode == 0, done.stderr
    assert upstream.waiting(device) == 1


# Faults


@pytest.mark.parametrize("fault, status, reason", [
    (["--reason", "ServiceUnavailable", "--retry-after", 7], 503, "ServiceUnavailable"),
    (["--status", 500], 500, None),
    (["--delay", "200ms"], 200, None),
    # A refused stream was certainly not processed, so it is sent again.
    (["--reset", "REFUSED_STREAM"], 200, None),
    (["--reset", "INTERNAL_ERROR"], 503, "ServiceUnavailable"),
    (["--goaway", "Shutdown"], 503, "ServiceUnavailable"),
    (["--drop"], 503, "ServiceUnavailable"),
])
def test_a_fault_of_the_upstream_is_one_answer(pair, fault, status, reason):
    gateway, upstream = pair
    device, name = upstream.device(), str(uuid.uuid4())
    upstream.run("faults", "add", "x", *fault, "--count", 1)
    response = push(gateway, upstream, device.token, apns_id=name)
    assert response.status == status and (reason is None or response.reason == reason)
    if "--retry-after" in fault:
        assert response["retry-after"] == "7"
    details = row(gateway, name)["details"]
    assert details["status"] == status
    is_unanswered = fault[0] in ("--goaway", "--drop") or fault[1:] == ["INTERNAL_ERROR"]
    assert details.get("unanswered", False) == is_unanswered
    assert upstream.waiting(device) == (1 if status == 200 else 0)
    # The next push is served, on the same connection or on a new one.
    eventually(lambda: push(gateway, upstream, device.token).status == 200, "the upstream serves again")


def test_the_upstream_is_killed_under_load_and_no_answer_is_invented(pair):
    gateway, upstream = pair
    device = upstream.device()
    sent = {}
    with gateway.connect() as connection:
        def send(count):
            for _ in range(count):
                name = str(uuid.uuid4())
                fields = gateway.fields(key=upstream.key, apns_id=name)
                sent[name] = connection.send("POST", f"/3/device/{device.token}", fields, ALERT, flush=False)
            connection.flush()

        # Fewer than 200 pushes can be refused before the restart: an unknown sender gets no more rows for refusals.
        send(140)
        # Some are answered, some are on their way, and some are not sent yet.
        connection.until(lambda: any(response.is_ended for response in connection.responses.values()))
        upstream.kill()
        send(50)
        first = {name: connection.wait(number).status for name, number in sent.items()}
        assert set(first.values()) <= {200, 503}
        upstream.restart()

        def is_reached():
            fields = gateway.fields(key=upstream.key, apns_id=str(uuid.uuid4()))
            return connection.wait(connection.send("POST", f"/3/device/{device.token}", fields, ALERT)).status == 200

        # By the same connection: each event loop of the gateway has a connection to the upstream.
        eventually(is_reached, "the upstream is reached again")
        before = set(sent)
        send(300)
        answers = {name: connection.wait(number) for name, number in sent.items()}
    assert {answers[name].status for name in set(sent) - before} == {200}
    accepted = {name for name, response in answers.items() if response.status == 200}
    assert all(len([frame for frame in response.frames if frame.name == "HEADERS"]) == 1 for response in answers.values())
    stream = upstream.stream(device)
    stored = {line["id"] for line in stream.caught_up()}
    stream.connection.close()
    assert accepted <= stored

    # Each push has one row, of its answer. A push that is stored without a 200 was sent, and had no answer.
    def rows_of_all():
        by_id = {}
        for line in gateway.rows(event="forwarded,refused", limit=10_000):
            by_id.setdefault(line["id"], []).append(line)
        return by_id if set(answers) <= set(by_id) else None

    # The log is written behind.
    by_id = gateway.when(rows_of_all, "the rows of all pushes")
    for name, response in answers.items():
        [line] = by_id[name]
        assert line["details"]["status"] == response.status
        if name in stored and response.status != 200:
            assert line["event"] == "forwarded" and line["details"]["unanswered"]


def test_an_upstream_that_is_away_is_503_and_a_warning_until_it_is_back(pair):
    gateway, upstream = pair
    token = upstream.device().token
    upstream.kill()
    response = push(gateway, upstream, token)
    assert (response.status, response.reason) == (503, "ServiceUnavailable")
    assert int(response["retry-after"]) >= 1
    gateway.wait_for_log("event=upstream-lost")
    with gateway.connect() as connection:
        health = connection.request("GET", "/v1/health")
        assert health.status == 200 and "upstream" in [warning["part"] for warning in health.json["warnings"]]
    assert gateway.push(gateway.device().token).status == 200, "its own devices are served"
    upstream.restart()
    gateway.wait_for_log("event=upstream-back")
    assert push(gateway, upstream, token).status == 200
    assert gateway.log.count("event=upstream-lost") == 1


def test_a_sender_that_ends_its_stream_cancels_the_push(pair):
    gateway, upstream = pair
    upstream.run("faults", "add", "slow", "--delay", "10m", "--count", 1)
    name = str(uuid.uuid4())
    connection = gateway.connect()
    connection.send("POST", f"/3/device/{UNKNOWN}", gateway.fields(key=upstream.key, apns_id=name), ALERT)
    upstream.wait_for_log("event=fault-struck")
    connection.close()
    assert row(gateway, name)["details"]["unanswered"]
    with gateway.connect(admin=True) as connection:
        metrics = connection.request("GET", "/admin/v1/metrics").body.decode()
    assert "\npushgateway_forwards 0\n" in metrics
    assert '\npushgateway_forwarded_pushes_total{status="none"} 1\n' in metrics


def test_a_stop_waits_for_pushes_on_their_way(pair):
    gateway, upstream = pair
    upstream.run("faults", "add", "slow", "--delay", "1s", "--count", 1)
    device = upstream.device()
    with gateway.connect() as connection:
        number = connection.send("POST", f"/3/device/{device.token}", gateway.fields(key=upstream.key), ALERT)
        upstream.wait_for_log("event=fault-struck")
        gateway.terminate()
        assert connection.wait(number).status == 200
        with pytest.raises(Closed):
            connection.until(lambda: False)
    assert gateway.ended() == 0
    gateway.process = None
