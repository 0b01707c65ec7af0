"""The device API: enrolment, the stream both ways, what waits, what goes (design §2, §4)."""

import json
import re
import subprocess
import time
import uuid

import pytest

from gateway import TOPIC
from waiting import wait_for, passes


def call(connection, method, path, body=None, secret=None):
    fields = [("content-type", "application/json")]
    if secret is not None:
        fields.append(("authorization", f"bearer {secret}"))
    return connection.request(method, path, fields, json.dumps(body).encode() if body is not None else b"")


def assert_problem(response, status):
    """Problem details (RFC 9457)."""
    assert response.status == status, (response.status, response.body)
    assert response["content-type"] == "application/problem+json"
    assert response.json["status"] == status
    assert response.json["title"] and response.json["detail"]


@pytest.fixture
def stream(gateway, device):
    """The device's stream, caught up."""
    stream = gateway.stream(device)
    stream.caught_up()
    yield stream
    stream.connection.close()


# Enrolment and registration


def test_a_device_enrols_registers_receives_and_unregisters_over_http(gateway, connection):
    name = f"http-{uuid.uuid4().hex[:8]}"
    enrolled = call(connection, "POST", "/v1/devices", {"name": name})
    assert enrolled.status == 201
    assert set(enrolled.json) == {"device", "secret", "name", "person", "role"}
    secret = enrolled.json["secret"]
    first = call(connection, "PUT", f"/v1/device/apps/{TOPIC}", secret=secret)
    assert first.status == 200 and len(first.json["token"]) == 64
    assert call(connection, "PUT", f"/v1/device/apps/{TOPIC}", secret=secret).json == first.json
    assert gateway.push(first.json["token"], connection=connection).status == 200
    assert call(connection, "DELETE", f"/v1/device/apps/{TOPIC}", secret=secret).status == 204
    assert gateway.push(first.json["token"], connection=connection).status == 410


def test_what_waits_of_an_app_goes_when_it_is_unregistered(gateway):
    other = gateway.app()
    device = gateway.device()
    token = gateway.register(device.name, other)
    gone, kept = gateway.accepted(device.token), gateway.accepted(token, topic=other)
    gateway.unregister(device.name, TOPIC)
    stream = gateway.stream(device)
    assert [line["id"] for line in stream.caught_up()] == [kept]
    assert gateway.events(gone, "dropped")[-1]["detail"] == "unregistered"
    stream.connection.close()


@pytest.mark.parametrize(
    ("body", "status"),
    [({}, 400), ({"name": 7}, 400), ({"name": ""}, 400), ({"name": "a/b"}, 400), ({"name": "x" * 65}, 400), (None, 400), ([], 400)])
def test_an_enrolment_that_is_wrong_is_a_problem(connection, body, status):
    assert_problem(call(connection, "POST", "/v1/devices", body), status)


def test_a_name_is_given_once(device, connection):
    assert_problem(call(connection, "POST", "/v1/devices", {"name": device.name}), 409)


@pytest.mark.parametrize("secret", [None, "wrong", "two words", "0" * 64])
@pytest.mark.parametrize(
    ("method", "path"),
    [("PUT", f"/v1/device/apps/{TOPIC}"), ("DELETE", f"/v1/device/apps/{TOPIC}"), ("GET", "/v1/device/preferences"),
     ("PUT", "/v1/device/preferences"), ("GET", "/v1/device/stream"), ("POST", "/v1/device/stream"),
     ("POST", "/v1/device/acknowledgements"), ("GET", "/v1/device/log")])
def test_a_wrong_secret_is_401(connection, method, path, secret):
    body = {} if method in ("PUT", "POST") else None
    assert_problem(call(connection, method, path, body, secret), 401)


def test_an_app_that_is_not_there_is_404(device, connection):
    assert_problem(call(connection, "PUT", "/v1/device/apps/com.example.none", secret=device.secret), 404)
    assert_problem(call(connection, "DELETE", "/v1/device/apps/com.example.none", secret=device.secret), 404)


def test_a_path_or_method_that_is_not_there_is_a_problem(connection):
    assert_problem(call(connection, "GET", "/v1/nothing"), 404)
    assert_problem(call(connection, "PATCH", "/v1/device/preferences"), 405)
    assert_problem(call(connection, "PUT", "/v1/device/stream"), 405)


def test_preferences_are_read_and_changed_in_three_scopes(device, connection):
    get = lambda path: call(connection, "GET", path, secret=device.secret).json
    put = lambda path, body: call(connection, "PUT", path, body, device.secret)
    root, app = "/v1/device/preferences", f"/v1/device/preferences/apps/{TOPIC}"
    assert get(root) == {"notifications": True, "badge": True, "sound": True, "alert": True, "apps": {}}
    assert put(app, {"alert": False}).status == 200
    assert get(app)["alert"] is False and get(app)["badge"] is True
    assert put(f"{app}/categories/SPORT", {"alert": True}).status == 200
    assert get(f"{app}/categories/SPORT") == {"alert": True}
    assert get(root)["apps"][TOPIC]["categories"] == {"SPORT": {"alert": True}}
    assert put(root, {"sound": False}).status == 200
    assert get(root)["sound"] is False
    assert_problem(put(root, {"sound": "maybe"}), 400)
    assert_problem(call(connection, "PUT", root, None, device.secret), 400)


# The stream


def test_the_stream_says_welcome_and_caught_up(gateway, device):
    stream = gateway.stream(device)
    welcome = stream.next("welcome")
    assert welcome["device"] == device.name
    assert welcome["apps"] == [{"topic": TOPIC, "name": "News", "icon": "📰"}]
    assert welcome["preferences"]["notifications"] is True
    assert stream.next("caught-up") == {"type": "caught-up", "seq": 0}
    assert stream.response.status == 200
    assert stream.response["content-type"] == "application/x-ndjson"
    stream.end()
    assert stream.next() == {"type": "bye", "reason": "goodbye"}
    stream.connection.close()


def test_nothing_is_said_before_hello(gateway, device):
    gateway.accepted(device.token)
    stream = gateway.stream(device, hello=False)
    assert stream.quiet() == []
    stream.connection.close()


def test_a_push_arrives_with_everything_that_is_known_of_it(gateway, device, stream):
    before = int(time.time())
    payload = {"aps": {"alert": {"title": "T", "subtitle": "S", "body": "B"}, "badge": 2, "sound": "x.caf"}, "own": {"k": [1, "ü"]}}
    apns_id = gateway.accepted(device.token, payload, apns_collapse_id="line-4", apns_expiration=before + 600)
    push = stream.next("push")
    after = time.time()
    assert gateway.are_numbered([push], 1) and push["id"] == apns_id and push["topic"] == TOPIC
    assert push["app"] == {"name": "News", "icon": "📰"}
    assert push["collapse"] == "line-4"
    assert push["payload"] == payload
    assert push["presentation"] == {
        "badge": 2, "sound": "x.caf",
        "alert": {"title": "T", "subtitle": "S", "body": "B", "buttons": ["Close", "View"]}}
    parse = lambda text: time.mktime(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone
    # The time lies between two events of this test, however long a busy machine takes for them.
    assert before <= parse(push["received"]) <= after
    assert parse(push["expires"]) == before + 600


def test_what_waits_arrives_in_order_and_is_gone_once_acknowledged(gateway, device):
    ids = [gateway.accepted(device.token) for _ in range(5)]
    stream = gateway.stream(device)
    pushes = stream.caught_up()
    assert gateway.are_numbered(pushes, 1, 2, 3, 4, 5)
    assert [push["id"] for push in pushes] == ids
    stream.acknowledge(pushes[2]["seq"])
    gateway.events(ids[2], "acknowledged")
    stream.connection.close()
    again = gateway.stream(device)
    assert again.caught_up() == pushes[3:]
    again.acknowledge(pushes[4]["seq"])
    again.quiet()
    again.connection.close()
    last = gateway.stream(device)
    assert last.caught_up() == []
    last.connection.close()


def numbering(stream) -> dict:
    """What a device says of its cursor's numbering: a gateway that is alone has one, which has no name."""
    return {name: value for name, value in stream.next("welcome").items() if name == "epoch"}


def test_a_device_goes_on_from_its_cursor(gateway, device):
    for _ in range(5):
        gateway.accepted(device.token)
    stream = gateway.stream(device)
    known = numbering(stream)
    pushes = stream.caught_up()
    stream.connection.close()
    stream = gateway.stream(device, cursor=pushes[1]["seq"], **known)
    assert stream.caught_up() == pushes[2:] and gateway.are_numbered(pushes[2:], 3, 4, 5)
    stream.connection.close()


def test_an_acknowledgement_of_what_was_never_sent_removes_nothing(gateway, device, stream):
    stream.acknowledge(1000)
    stream.quiet()
    gateway.accepted(device.token)
    push = stream.next("push")
    assert gateway.are_numbered([push], 1)
    stream.connection.close()
    again = gateway.stream(device)
    assert again.caught_up() == [push]
    again.connection.close()


@pytest.mark.alone("a cell is restored with another epoch")
def test_a_cursor_beyond_everything_loses_nothing(gateway, device):
    """As after a backup of the gateway's disk was restored: the device knows numbers that were not given out yet."""
    waiting = gateway.accepted(device.token)
    stream = gateway.stream(device, cursor=1000)
    [first] = stream.caught_up()
    assert (first["id"], first["seq"]) == (waiting, 1001)
    later = gateway.accepted(device.token)
    push = stream.next("push")
    assert (push["id"], push["seq"]) == (later, 1002)
    stream.connection.close()
    again = gateway.stream(device, cursor=1000)
    assert [push["seq"] for push in again.caught_up()] == [1001, 1002]
    again.connection.close()


def test_a_cursor_that_no_gateway_gives_out_ends_the_stream(gateway, device):
    stream = gateway.stream(device, cursor=2**63 - 1, **numbering(gateway.stream(device)))
    assert stream.next("bye")["reason"] == "cursor-too-large"


def test_unknown_lines_and_keys_are_ignored(gateway, device, stream):
    for line in [{"type": "unknown"}, {"type": "ack"}, {"type": "ack", "seq": "x"}, {"type": "answer"}, {}, {"type": 7}]:
        stream.say(**line)
    stream.connection.write(stream.stream, b"no json\n\n[]\n\xff\xfe\n")
    stream.say(type="state", silent=False, focus="work", more={"x": 1})
    apns_id = gateway.accepted(device.token)
    assert stream.next("push")["id"] == apns_id


def test_a_line_may_come_in_pieces_and_several_in_one(gateway, device):
    gateway.accepted(device.token)
    stream = gateway.stream(device, hello=False)
    for byte in b'{"type":"hello","cursor":0}\n':
        stream.connection.write(stream.stream, bytes([byte]))
    [push] = stream.caught_up()
    stream.connection.write(stream.stream, b'{"type":"ack","seq":%d}\n{"type":"presented","id":"%s","parts":["alert"]}\n' % (push["seq"], push["id"].encode()))
    rows = [event for event in gateway.events(push["id"], "presented") if event["event"] in ("acknowledged", "presented")]
    assert [row["event"] for row in rows] == ["acknowledged", "presented"] and rows[1]["detail"] == "alert"
    stream.connection.close()


def test_a_line_without_an_end_ends_the_stream(gateway, device, stream):
    stream.connection.write(stream.stream, b"x" * 20_000)
    assert stream.next() == {"type": "bye", "reason": "line-too-long"}


@pytest.mark.parametrize(
    ("action", "event", "detail"),
    [("view", "viewed", None), ("close", "closed", "close"), ("ok", "closed", "ok"), ("TRACK", "action", "TRACK")])
def test_an_answer_is_logged_and_retracts_the_push_elsewhere(gateway, device, stream, action, event, detail):
    gateway.run("apps", "category", TOPIC, "ORDER", "--action", "TRACK=Track")
    second = gateway.stream(device)
    second.caught_up()
    apns_id = gateway.accepted(device.token, {"aps": {"alert": "sent", "category": "ORDER"}})
    assert stream.next("push")["id"] == second.next("push")["id"] == apns_id
    stream.say(type="answer", id=apns_id, action=action)
    assert second.next() == {"type": "retract", "id": apns_id, "action": action, "device": device.name}
    assert stream.next() == {"type": "answered", "id": apns_id, "action": action}
    assert stream.quiet() == []
    assert gateway.events(apns_id, event)[-1].get("detail") == detail
    second.connection.close()


def test_each_live_stream_gets_every_push(gateway, device, stream):
    second = gateway.stream(device)
    second.caught_up()
    ids = [gateway.accepted(device.token) for _ in range(3)]
    for each in [stream, second]:
        assert [each.next("push")["id"] for _ in ids] == ids
    second.connection.close()


def test_a_device_that_stops_reading_loses_nothing(gateway, device):
    """Its window is shut while 1200 pushes come; then it reads on and finds all of them in order."""
    stream = gateway.stream(device)
    stream.caught_up()
    payload = {"aps": {"alert": "x"}, "pad": "y" * 3000}
    with gateway.connect() as sender:
        fields = gateway.fields()
        body = json.dumps(payload).encode()
        streams = [sender.send("POST", f"/3/device/{device.token}", fields, body) for _ in range(600)]
        for number in streams:
            assert sender.wait(number).status == 200
    assert gateway.are_numbered([stream.next("push") for _ in streams], *range(1, 601))
    stream.connection.close()


# What goes


def test_a_collapse_id_leaves_the_newest_and_retracts_the_one_it_replaces(gateway, device):
    first = gateway.accepted(device.token, apns_collapse_id="gate")
    other = gateway.accepted(device.token, apns_collapse_id="else")
    last = gateway.accepted(device.token, {"aps": {"badge": 2}}, apns_collapse_id="gate")
    assert "collapsed" in [event["event"] for event in gateway.events(first, "collapsed")]
    stream = gateway.stream(device)
    assert [push["id"] for push in stream.caught_up()] == [other, last]
    newest = gateway.accepted(device.token, apns_collapse_id="gate")
    lines = [stream.next(), stream.next()]
    assert sorted(line["type"] for line in lines) == ["push", "retract"]
    assert {line["type"]: line["id"] for line in lines} == {"push": newest, "retract": last}
    stream.connection.close()


def test_a_collapse_id_is_an_apps_own(gateway):
    other = gateway.app()
    device = gateway.device()
    token = gateway.register(device.name, other)
    ids = [gateway.accepted(device.token, apns_collapse_id="x"), gateway.accepted(token, topic=other, apns_collapse_id="x")]
    stream = gateway.stream(device)
    assert [push["id"] for push in stream.caught_up()] == ids
    stream.connection.close()


def test_what_has_expired_is_not_delivered(gateway, device):
    now = int(time.time())
    short = gateway.accepted(device.token, apns_expiration=now + 1)
    long = gateway.accepted(device.token, apns_expiration=now + 1000)
    passes(now + 1)
    stream = gateway.stream(device)
    assert [push["id"] for push in stream.caught_up()] == [long]
    assert short != long
    stream.connection.close()


@pytest.mark.alone("a gateway does not know whether another has a stream")
def test_a_push_that_is_never_stored_is_dropped_when_nobody_listens(gateway, device):
    for expiration in [0, 1, 300]:
        apns_id = gateway.accepted(device.token, apns_expiration=expiration)
        assert gateway.events(apns_id, "dropped")[-1]["detail"] == "not connected"
    stream = gateway.stream(device)
    assert stream.caught_up() == []
    stream.connection.close()


def test_a_push_that_is_never_stored_arrives_with_seq_0_when_somebody_does(gateway, device, stream):
    apns_id = gateway.accepted(device.token, apns_expiration=0)
    push = stream.next("push")
    assert (push["seq"], push["id"]) == (0, apns_id)
    assert "expires" not in push
    stored = gateway.accepted(device.token)
    push = stream.next("push")
    assert push["id"] == stored and gateway.are_numbered([push], 1)


def test_a_retry_of_the_same_apns_id_is_delivered_once(gateway, device, connection):
    offered = str(uuid.uuid4())
    answers = [gateway.push(device.token, connection=connection, apns_id=change(offered)) for change in [str, str, str.upper]]
    assert [answer.status for answer in answers] == [200] * 3
    assert [answer["apns-id"] for answer in answers] == [offered, offered, offered.upper()]
    stream = gateway.stream(device)
    [push] = stream.caught_up()
    assert push["id"] == offered
    stream.acknowledge(1)
    stream.quiet()
    assert gateway.push(device.token, connection=connection, apns_id=offered).status == 200
    assert stream.quiet() == []
    stream.connection.close()


def test_a_retry_is_also_recognised_while_the_first_is_being_stored(gateway, device, connection):
    offered = str(uuid.uuid4())
    fields = gateway.fields(apns_id=offered)
    streams = [connection.send("POST", f"/3/device/{device.token}", fields, b"{}", flush=False) for _ in range(50)]
    connection.flush()
    assert {connection.wait(stream).status for stream in streams} == {200}
    stream = gateway.stream(device)
    assert len(stream.caught_up()) == 1
    stream.connection.close()


def test_a_retry_is_recognised_after_a_restart(start):
    gateway = start()
    device = gateway.device()
    waiting, acknowledged = str(uuid.uuid4()), str(uuid.uuid4())
    gateway.accepted(device.token, apns_id=acknowledged)
    gateway.run("subscribe", "--device", device.name, "--json", "--once")
    gateway.accepted(device.token, apns_id=waiting)
    gateway.kill()
    gateway.restart()
    for offered in [waiting, acknowledged]:
        gateway.accepted(device.token, apns_id=offered)
    stream = gateway.stream(device)
    assert [push["id"] for push in stream.caught_up()] == [waiting]
    stream.connection.close()


def test_the_same_apns_id_for_another_device_is_another_push(gateway):
    offered = str(uuid.uuid4())
    for device in [gateway.device(), gateway.device()]:
        gateway.accepted(device.token, apns_id=offered)
        stream = gateway.stream(device)
        assert [push["id"] for push in stream.caught_up()] == [offered]
        stream.connection.close()


def test_a_full_mailbox_drops_the_oldest_and_says_so(start):
    gateway = start("--mailbox-cap", 10)
    device = gateway.device()
    ids = [gateway.accepted(device.token) for _ in range(25)]
    stream = gateway.stream(device)
    gap, *pushes = stream.caught_up()
    assert gap["dropped"] == 15 and gap["from"] <= gap["to"] < pushes[0]["seq"]
    assert [push["id"] for push in pushes] == ids[15:]
    assert gateway.are_numbered([{"seq": gap["from"]}, {"seq": gap["to"]}, *pushes], 1, *range(15, 26))
    assert gateway.events(ids[0], "dropped")[-1]["detail"] == "the mailbox is full"
    stream.acknowledge(pushes[-1]["seq"])
    gateway.events(ids[-1], "acknowledged")
    stream.connection.close()
    again = gateway.stream(device)
    assert again.caught_up() == []
    again.connection.close()


def test_a_gap_is_told_also_after_a_crash(start):
    gateway = start("--mailbox-cap", 10)
    device = gateway.device()
    for _ in range(25):
        gateway.accepted(device.token)
    gateway.stop()
    gateway.start()
    done = gateway.run("subscribe", "--device", device.name, "--json", "--count", 10)
    assert "15 pushes were dropped" in done.err
    assert gateway.are_numbered(done.records, *range(16, 26))


# Events for browsers and curl


def test_the_stream_as_events_with_curl(gateway, device, tmp_path):
    first = gateway.accepted(device.token)
    out = tmp_path / "events"
    base = ["curl", "--silent", "--no-buffer", "--http2", "--cacert", gateway.trust, "-H", f"authorization: bearer {device.secret}"]
    with open(out, "wb") as file:
        curl = subprocess.Popen(base + ["-i", "-H", "accept: text/event-stream", f"https://{gateway.address}/v1/device/stream"], stdout=file)
    try:
        # The file may end within a character that curl has not got all of; what is behind the last whole event is left out.
        text = lambda: out.read_text(errors="replace").replace("\r\n", "\n")
        events = lambda: [
            dict(line.split(": ", 1) for line in block.splitlines())
            for block in text().partition("\n\n")[2].split("\n\n")[:-1]
        ]
        found = lambda kind: [event for event in events() if json.loads(event["data"])["type"] == kind]
        wait_for(lambda: found("caught-up"), "the stream caught up", out, curl)
        assert "content-type: text/event-stream" in text()
        second = gateway.accepted(device.token)
        wait_for(lambda: len(found("push")) == 2, "both pushes came", out, curl)
        pushes = [json.loads(event["data"]) for event in found("push")]
        assert [push["id"] for push in pushes] == [first, second] and gateway.are_numbered(pushes, 1, 2)
        # A cell's are behind its epoch.
        assert [event["id"].rpartition(":")[2] for event in found("push")] == [str(push["seq"]) for push in pushes]
        done = {"seq": pushes[1]["seq"]}
        if gateway.is_cell:
            done["epoch"] = json.loads(found("welcome")[0]["data"])["epoch"]
        posted = subprocess.run(
            base + ["-w", "%{http_code}", "-d", json.dumps(done), f"https://{gateway.address}/v1/device/acknowledgements"],
            capture_output=True, text=True)
        assert posted.stdout == "204"
    finally:
        curl.kill()
        curl.wait()
    gateway.when(lambda: gateway.waiting(device) == 0, "nothing waits")


def test_events_go_on_from_last_event_id(gateway, device, connection):
    for _ in range(3):
        gateway.accepted(device.token)
    fields = [("authorization", f"bearer {device.secret}"), ("accept", "text/event-stream")]

    def received(*more):
        stream = connection.open("GET", "/v1/device/stream", [*fields, *more], end=True)
        response = connection.responses[stream]
        connection.until(lambda: b"caught-up" in response.body)
        return re.findall(rb"^id: (\S+)\ndata: {\"type\":\"push\"", response.body, re.M)

    ids = received()
    assert len(ids) == 3 and (gateway.is_cell or ids[2] == b"3")
    assert received(("last-event-id", ids[1].decode())) == ids[2:]


def test_a_stream_of_events_says_in_its_query_that_the_device_is_silent(gateway, device, connection):
    fields = [("authorization", f"bearer {device.secret}"), ("accept", "text/event-stream")]
    stream = connection.open("GET", "/v1/device/stream?silent=true&focus=work", fields, end=True)
    response = connection.responses[stream]
    connection.until(lambda: b"caught-up" in response.body)
    assert response.status == 200
    [record] = [entry for entry in gateway.devices() if entry["name"] == device.name]
    assert (record["silent"], record["focus"]) == (True, "work")


# The log, and the end


def test_a_device_reads_its_own_log_and_no_other(gateway, device, connection):
    other = gateway.device()
    mine, theirs = gateway.accepted(device.token), gateway.accepted(other.token)
    gateway.events(mine, "stored"), gateway.events(theirs, "stored")
    rows = lambda answer: answer["rows"] if gateway.is_cell else answer
    records = rows(call(connection, "GET", "/v1/device/log", secret=device.secret).json)
    assert {record["id"] for record in records} == {mine}
    assert [record["event"] for record in records] == ["accepted", "stored"]
    sneaky = rows(call(connection, "GET", f"/v1/device/log?device={other.name}", secret=device.secret).json)
    assert {record["id"] for record in sneaky} == {mine}


def test_a_live_stream_is_told_goodbye_when_the_gateway_stops(start):
    gateway = start()
    stream = gateway.stream(gateway.device())
    stream.caught_up()
    gateway.terminate()
    assert stream.next().items() >= {"type": "bye", "reason": "shutdown"}.items()
    stream.end()
    stream.connection.drain()
    assert bytes(stream.connection.goaway.additional_data) == b'{"reason":"Shutdown"}'
    assert gateway.ended() == 0


def test_a_subscriber_reconnects_after_a_restart_and_goes_on(start, subscribe):
    gateway = start()
    device = gateway.device()
    subscriber = subscribe(gateway, device, "--count", 2)
    subscriber.connected()
    first = gateway.accepted(device.token)
    subscriber.has(1)
    gateway.stop()
    gateway.restart()
    second = gateway.accepted(device.token)
    assert subscriber.wait() == 0
    assert [line["id"] for line in subscriber.lines] == [first, second]
    assert gateway.are_numbered(subscriber.lines, 1, 2)


def test_exec_runs_a_command_for_each_push(gateway, device, tmp_path):
    out = tmp_path / "pushes"
    apns_id = gateway.accepted(device.token, {"aps": {"alert": {"title": "$(x) `y` 'z'", "body": "B"}, "badge": 3}})
    command = f'printf "%s|%s|%s|%s|" "$PUSH_ID" "$PUSH_TITLE" "$PUSH_BADGE" "$PUSH_TOPIC" >> {out}; cat >> {out}'
    gateway.run("subscribe", "--device", device.name, "--plain", "--once", "--exec", command)
    head, title, badge, topic, line = out.read_text().split("|", 4)
    assert (head, title, badge, topic) == (apns_id, "$(x) `y` 'z'", "3", TOPIC)
    assert json.loads(line)["id"] == apns_id


# Several at once


def at_once(connection, requests, secret=None):
    fields = [("authorization", f"bearer {secret}")] if secret else []
    streams = [
        connection.send(method, path, fields, json.dumps(body).encode() if body is not None else b"", flush=False)
        for method, path, body in requests
    ]
    connection.flush()
    return [connection.wait(stream) for stream in streams]


def test_of_many_who_enrol_under_one_name_at_once_one_gets_it(connection):
    name = f"race-{uuid.uuid4().hex[:8]}"
    answers = at_once(connection, [("POST", "/v1/devices", {"name": name})] * 20)
    assert sorted(answer.status for answer in answers) == [201] + [409] * 19


def test_registering_many_times_at_once_makes_one_token(gateway, device, connection):
    topic = gateway.app()
    answers = at_once(connection, [("PUT", f"/v1/device/apps/{topic}", None)] * 20, device.secret)
    assert {answer.status for answer in answers} == {200}
    assert len({answer.json["token"] for answer in answers}) == 1


def test_choices_that_are_made_at_once_are_all_kept(device, connection):
    path = f"/v1/device/preferences/apps/{TOPIC}/categories/"
    names = {f"C{number}" for number in range(20)}
    answers = at_once(connection, [("PUT", path + name, {"alert": False}) for name in names], device.secret)
    assert {answer.status for answer in answers} == {200}
    kept = call(connection, "GET", f"/v1/device/preferences/apps/{TOPIC}", secret=device.secret).json
    assert set(kept["categories"]) == names


def test_of_many_who_unregister_at_once_one_does(device, connection):
    answers = at_once(connection, [("DELETE", f"/v1/device/apps/{TOPIC}", None)] * 10, device.secret)
    assert {answer.status for answer in answers} <= {204, 404} and 204 in {answer.status for answer in answers}
