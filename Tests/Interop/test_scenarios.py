"""Faults on purpose, each over a real connection (docs/send/test-error-handling.md)."""

import re
import select
import time
from pathlib import Path

import pytest

from gateway import ALERT, TOPIC
from waiting import HANG, eventually
from test_wire import assert_error

pytestmark = pytest.mark.alone("faults are of one gateway")

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(autouse=True)
def no_faults_remain(gateway):
    yield
    gateway.admin("DELETE", "faults")


def add(gateway, name, *options):
    gateway.run("faults", "add", name, *options)


def faults(gateway):
    return {record["rule"]["name"]: record for record in gateway.admin("GET", "faults")}


def test_a_reason_is_answered_as_often_as_was_said(gateway, device, connection):
    add(gateway, "busy", "--reason", "ServiceUnavailable", "--count", 2)
    for _ in range(2):
        assert_error(gateway.push(device.token, connection=connection), 503, "ServiceUnavailable")
    assert gateway.push(device.token, connection=connection).status == 200
    [busy] = faults(gateway).values()
    assert (busy["hits"], busy["left"], busy["active"], busy["does"]) == (2, 0, False, "503 ServiceUnavailable")


@pytest.mark.parametrize("reason, status", [("BadDeviceToken", 400), ("InternalServerError", 500), ("ExpiredProviderToken", 403)])
def test_any_reason_has_its_status(gateway, device, connection, reason, status):
    add(gateway, "reason", "--reason", reason)
    assert_error(gateway.push(device.token, connection=connection), status, reason)


def test_an_answer_has_the_seconds_of_retry_after(gateway, device, connection):
    add(gateway, "busy", "--reason", "TooManyRequests", "--retry-after", 5, "--count", 1)
    assert gateway.push(device.token, connection=connection)["retry-after"] == "5"
    assert faults(gateway)["busy"]["does"] == "429 TooManyRequests, retry-after 5"


def test_a_410_has_a_timestamp(gateway, device, connection):
    before = int(time.time() * 1000)
    add(gateway, "gone", "--reason", "Unregistered")
    response = gateway.push(device.token, connection=connection)
    assert response.status == 410 and before <= response.json["timestamp"] <= time.time() * 1000


def test_any_status_and_any_pair_of_status_and_reason(gateway, device, connection):
    add(gateway, "bare", "--status", 502)
    response = gateway.push(device.token, connection=connection)
    assert response.status == 502 and response.body == b"" and response.shape == ["HEADERS+END_STREAM"]
    add(gateway, "bare", "--status", 504, "--reason", "InternalServerError")
    response = gateway.push(device.token, connection=connection)
    assert (response.status, response.reason) == (504, "InternalServerError")


def test_selectors_choose_whom_it_strikes(gateway, connection):
    other = gateway.app()
    mine, yours = gateway.device(), gateway.device()
    theirs = gateway.device(topic=other)
    key = gateway.new_key()

    def struck(connection=connection):
        return [
            gateway.push(mine.token, connection=connection).status == 500,
            gateway.push(yours.token, connection=connection).status == 500,
            gateway.push(theirs.token, connection=connection, topic=other).status == 500,
            gateway.push(mine.token, key=key).status == 500,
        ]

    error = ["--reason", "InternalServerError"]
    add(gateway, "one", *error, "--app", TOPIC)
    assert struck() == [True, True, False, True]
    add(gateway, "one", *error, "--token", mine.token.upper())
    assert struck() == [True, False, False, True]
    add(gateway, "one", *error, "--key", key.key_id)
    assert struck() == [False, False, False, True]
    add(gateway, "one", *error, "--app", TOPIC, "--token", theirs.token)
    assert struck() == [False, False, False, False]
    add(gateway, "one", *error, "--connection", "127.0.0.1")
    assert struck() == [True, True, True, True]
    # The newest connection has the highest number; the list may still have connections that are closed here.
    with gateway.connect() as newest:
        newest.ping()
        listed = gateway.run("faults", "connections", "--json").records
        newest_only = max(record["number"] for record in listed if record.get("address"))
        add(gateway, "one", *error, "--connection", newest_only)
        assert struck(newest) == [True, True, True, False]


def test_a_rate_strikes_that_many_and_the_same_ones_with_a_seed(gateway, device, connection):
    def round():
        add(gateway, "some", "--reason", "InternalServerError", "--rate", 30, "--seed", 7)
        return [gateway.push(device.token, connection=connection).status for _ in range(60)]

    first = round()
    assert 5 < first.count(500) < 35
    assert round() == first


def test_a_time_ends_it(gateway, device, connection):
    def strikes():
        add(gateway, "soon", "--reason", "InternalServerError", "--for", "4s")
        return gateway.push(device.token, connection=connection).status == 500

    # A fault that was over before the push came is set again.
    eventually(strikes, "the fault strikes within its time")
    assert faults(gateway)["soon"]["seconds_left"] <= 4
    eventually(lambda: gateway.push(device.token, connection=connection).status == 200, "the fault has ended")
    assert faults(gateway)["soon"]["active"] is False


def test_a_delay_alone_delivers_late(gateway, device, connection):
    add(gateway, "slow", "--delay", "200ms", "--count", 1)
    before = time.monotonic()
    assert gateway.push(device.token, connection=connection).status == 200
    assert time.monotonic() - before >= 0.2


def test_a_delayed_answer_lets_others_overtake(gateway, device, connection):
    def is_overtaken():
        add(gateway, "slow", "--delay", "3s", "--reason", "InternalServerError", "--count", 1)
        late = connection.send("POST", f"/3/device/{device.token}", gateway.fields(), ALERT)
        assert gateway.push(device.token, connection=connection).status == 200
        is_open = not connection.responses[late].is_ended
        assert connection.wait(late).status == 500
        return is_open

    # The attempt is repeated where the other push took more than three seconds.
    eventually(is_overtaken, "an answer overtakes one that is three seconds late")


@pytest.mark.parametrize("code, number", [("REFUSED_STREAM", 7), ("11", 11)])
def test_a_stream_is_reset(gateway, device, connection, code, number):
    add(gateway, "reset", "--reset", code, "--count", 1)
    response = gateway.push(device.token, connection=connection)
    assert response.reset == number and response.status is None
    assert gateway.push(device.token, connection=connection).status == 200


def test_goaway_comes_mid_flight_without_an_answer(gateway, device):
    add(gateway, "leave", "--goaway", "Shutdown", "--count", 1)
    with gateway.connect() as connection:
        stream = connection.send("POST", f"/3/device/{device.token}", gateway.fields(), ALERT)
        connection.drain()
        assert bytes(connection.goaway.additional_data) == b'{"reason":"Shutdown"}'
        assert not connection.responses[stream].fields
    assert gateway.push(device.token).status == 200


def test_a_connection_is_dropped(gateway, device):
    add(gateway, "cut", "--drop", "--count", 1)
    with gateway.connect() as connection:
        connection.ping()
        connection.send("POST", f"/3/device/{device.token}", gateway.fields(), ALERT)
        # The TLS layer calls every end an end; the socket knows that this one was a reset.
        poller = select.poll()
        poller.register(connection.socket, select.POLLIN)
        [(_, events)] = poller.poll(HANG * 1000)
        assert events & select.POLLERR
    assert gateway.push(device.token).status == 200


def test_a_half_open_connection_answers_nothing_and_stays(gateway, device):
    add(gateway, "dead", "--half-open", "--count", 1)
    with gateway.connect() as connection:
        stream = connection.send("POST", f"/3/device/{device.token}", gateway.fields(), ALERT)
        eventually(lambda: faults(gateway)["dead"]["hits"] == 1, "the fault struck")
        connection.h2.ping(b"12345678")
        connection.flush()
        # Others are served meanwhile, so what this one gets is not merely late.
        for _ in range(20):
            assert gateway.push(device.token).status == 200
        while select.select([connection.socket], [], [], 0)[0]:
            # What it said before the request; the end of the connection would raise.
            connection.pump()
        assert not connection.pongs and not connection.responses[stream].fields


def test_flow_control_stalls_until_the_fault_is_removed(gateway, device):
    add(gateway, "dry", "--stall")
    with gateway.connect() as connection:
        connection.until(lambda: connection.h2.remote_settings.initial_window_size == 0)
        stream = connection.open("POST", f"/3/device/{device.token}", gateway.fields())
        assert connection.h2.local_flow_control_window(stream) == 0
        gateway.run("faults", "remove", "dry")
        connection.write(stream, ALERT, end=True)
        assert connection.wait(stream).status == 200


def test_a_fault_of_connections_strikes_those_that_are_there(gateway, device, connection):
    connection.until(lambda: connection.settings)
    add(gateway, "tight", "--streams", 1)
    connection.until(lambda: connection.h2.remote_settings.max_concurrent_streams == 1)
    gateway.run("faults", "remove", "tight")
    connection.until(lambda: connection.h2.remote_settings.max_concurrent_streams == 1000)
    assert gateway.push(device.token, connection=connection).status == 200


def test_a_throttle_lets_so_many_a_second_through(gateway, device, connection):
    add(gateway, "throttle", "--throttle", 3, "--app", TOPIC)

    def refused():
        streams = [connection.send("POST", f"/3/device/{device.token}", gateway.fields(), ALERT) for _ in range(12)]
        return [response for stream in streams if (response := connection.wait(stream)).status != 200]

    def refused_within_a_second():
        refusals = refused()
        return refusals if len(refusals) == 9 else None

    # Twelve within a second of their own: of two seconds more pass, and in one that has let three through fewer.
    refusals = eventually(refused_within_a_second, "a second in which twelve are sent")
    assert_error(refusals[0], 429, "TooManyRequests")


def test_a_token_is_unregistered_now(gateway, device, connection):
    add(gateway, "uninstalled", "--unregister", "--token", device.token, "--count", 1)
    first = gateway.push(device.token, connection=connection)
    assert (first.status, first.reason) == (410, "Unregistered")
    second = gateway.push(device.token, connection=connection)
    assert (second.status, second.json) == (410, first.json)
    assert gateway.register(device.name, TOPIC) != device.token


def test_faults_are_in_the_logs(gateway, device, connection):
    add(gateway, "told", "--reason", "InternalServerError", "--count", 1)
    response = gateway.push(device.token, connection=connection, apns_id="6F9619FF-8B86-4011-B42D-00C04FC964FF")
    assert response.status == 500
    [event] = gateway.events("6F9619FF-8B86-4011-B42D-00C04FC964FF", until="fault")
    assert event["detail"] == "told: 500 InternalServerError" and event["device"] == device.name
    gateway.run("faults", "remove", "told")
    for words in ("fault told was set", "fault told injected", "fault told was removed"):
        gateway.wait_for_log(words)


@pytest.mark.parametrize("options, words", [
    (["--reason", "Nonsense"], 'unknown reason "Nonsense"'),
    ([], "no effect given"),
    (["--drop", "--reason", "BadPath"], "2 effects given"),
    (["--reset", "MAYBE"], "RFC 9113"),
    (["--delay", "soon"], "expected a time"),
    (["--reason", "BadPath", "--rate", 101], "percent"),
    (["--reason", "BadPath", "--count", 0], "expected 1 or more"),
    (["--streams", 1001], "expected 0 to 1000"),
    (["--status", 503, "--retry-after", 5], "retry-after needs reason or throttle"),
    (["--reason", "ServiceUnavailable", "--retry-after", 0], "expected 1 to 86400"),
    (["--reason", "BadPath", "--token", "xyz"], "in hex"),
])
def test_a_fault_that_cannot_be_is_refused_in_one_line(gateway, options, words):
    done = gateway.run("faults", "add", "bad", *options, code=2)
    assert words in done.err and done.err.count("\n") == 1
    assert faults(gateway) == {}


# Scenario files


def test_the_example_of_the_documentation_is_the_file_beside_it_and_loads(gateway):
    text = (DOCS / "send/test-error-handling.md").read_text()
    [example] = re.findall(r"```yaml\n(.*?)```", text, re.S)
    file = DOCS / "send/faults-example.yaml"
    assert file.read_text() == example
    names = re.findall(r"name: (\S+)", example)
    gateway.run("faults", "load", file)
    assert list(faults(gateway)) == names
    # A second time replaces, and does not add.
    gateway.run("faults", "load", file)
    assert list(faults(gateway)) == names


def test_a_scenario_plays_in_its_order(gateway, device, connection):
    gateway.run("faults", "load", "-", stdin="""
faults:
  - {name: first, reason: TooManyRequests, count: 2}
  - {name: second, reason: InternalServerError, count: 1}
""")
    statuses = [gateway.push(device.token, connection=connection).status for _ in range(4)]
    assert statuses == [429, 429, 500, 200]


@pytest.mark.parametrize("text, words", [
    ("faults: [{name: a, reason: BadPath}, {name: b, typo: 1}]", 'unknown key "typo"'),
    ("faults: [{reason: BadPath}]", "`name:` is missing"),
    ("faults: [{name: a, count: many, reason: BadPath}]", "expected a whole number"),
    ("nothing: here", "one list, `faults:`"),
    ("faults: [}", "invalid YAML"),
    ("faults: [{name: a, drop: true}, {name: a, stall: true}]", "occurs twice"),
])
def test_a_scenario_is_taken_whole_or_not_at_all(gateway, text, words):
    done = gateway.run("faults", "load", "-", stdin=text, code=2)
    assert words in done.err and done.err.count("\n") == 1
    assert faults(gateway) == {}


def test_load_can_replace_what_is_there(gateway):
    add(gateway, "old", "--drop")
    gateway.run("faults", "load", "-", "--replace", stdin="faults: [{name: new, delay: 1s}]")
    assert list(faults(gateway)) == ["new"]


def test_remove_wants_a_name_that_is_there(gateway):
    assert "there is no fault never" in gateway.run("faults", "remove", "never", code=3).err
