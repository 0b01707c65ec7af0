"""Types inside `aps`: reported, and refused where an app is strict (reference §6)."""

import json

from gateway import TOPIC
from test_wire import ERROR

WRONG = {"aps": {"alert": {"title": "Hello", "loc-args": "x"}, "mutable-content": True, "own": 7}}


def test_a_wrong_type_is_accepted_and_reported_with_its_place(gateway, device):
    sent = gateway.accepted(device.token, WRONG)
    events = gateway.events(sent, "accepted")
    assert [event["detail"] for event in events if event["event"] == "ignored"] == [
        "aps /aps/alert/loc-args: loc-args is an array of strings, or null; this is the string \"x\"",
        "aps /aps/mutable-content: mutable-content is 1, or 0; this is the boolean true",
    ]
    stream = gateway.stream(device)
    [push] = stream.caught_up()
    assert push["payload"] == WRONG and push["presentation"]["alert"]["title"] == "Hello"
    stream.connection.close()


def test_a_strict_app_refuses_it_until_it_is_strict_no_more(gateway, device, connection):
    topic = gateway.app()
    token = gateway.register(device.name, topic)
    made = gateway.run("apps", "add", topic, "--name", "Trains", "--strict", "--json").json
    assert made["strict"] is True
    response = gateway.push(token, WRONG, connection=connection, topic=topic)
    assert (response.status, response.reason, response.shape) == (403, "Forbidden", ERROR)
    assert response.json["policy"]["rule"] == "aps" and response.json["policy"]["at"] == "/aps/alert/loc-args"
    right = {"aps": {"alert": {"title": "Hello", "loc-args": ["x"]}, "mutable-content": 1, "own": 7}}
    assert gateway.push(token, right, connection=connection, topic=topic).status == 200
    # What is said of the app otherwise leaves it strict.
    gateway.run("apps", "add", topic, "--name", "Trams")
    assert gateway.push(token, WRONG, connection=connection, topic=topic).status == 403
    gateway.run("apps", "add", topic, "--name", "Trams", "--no-strict")
    assert gateway.push(token, WRONG, connection=connection, topic=topic).status == 200


def test_send_says_what_is_wrong(gateway, device):
    topic = gateway.app(name="Strict")
    gateway.run("apps", "add", topic, "--name", "Strict", "--strict")
    gateway.register(device.name, topic)
    done = gateway.run("send", "--to", f"{device.name}/{topic}", "-", stdin=json.dumps(WRONG), code=5)
    assert "/aps/alert/loc-args" in done.err
