"""Everything has an owner: whose word counts, whose key reaches which app, who may become whom (docs/access.md)."""

import contextlib
import sqlite3
import subprocess
import uuid

import pytest

from gateway import PUSHCLI, TOPIC

QUESTION = {"aps": {"alert": {"title": "Deploy?"}, "category": "DEPLOY"}}


# What a device says of pushes


def ask(gateway, device, topic, *options):
    return subprocess.Popen(
        [PUSHCLI, "ask", "--state", str(gateway.state), "--to", f"{device.name}/{topic}", "--title", "Deploy?",
         "--action", "approve=Approve", "--action", "reject=Reject!", *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_strangers_answer_does_not_open_the_gate(gateway):
    topic = gateway.app()
    me, mine = gateway.device(topic, person="ada"), gateway.device(topic, person="ada")
    mallory = gateway.device(topic)
    stream, other, strange = gateway.stream(me), gateway.stream(mine), gateway.stream(mallory)
    for each in [stream, other, strange]:
        each.caught_up()
    process = ask(gateway, me, topic, "--timeout", "30s")
    question = stream.next("push")["id"]
    for each in [strange, other]:
        each.say(type="answer", id=question, action="approve")
        # Lines are handled in their order: when this push is answered, the one before was looked at.
        device = mallory if each is strange else mine
        apns_id = gateway.accepted(device.token, topic=topic)
        assert each.next("push")["id"] == apns_id
        each.say(type="answer", id=apns_id, action="view")
        gateway.events(apns_id, "viewed")
        assert process.poll() is None
    stream.say(type="answer", id=question, action="something")
    stream.say(type="answer", id=question, action="reject")
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out.strip()) == (11, "reject")
    answers = [event["device"] for event in gateway.events(question) if event["event"] == "action"]
    assert answers == [me.name]


def test_send_with_wait_believes_the_device_that_it_went_to(gateway):
    me, mallory = gateway.device(), gateway.device()
    apns_id = str(uuid.uuid4())
    # The same id for both: each speaks for itself.
    strange = gateway.stream(mallory)
    strange.caught_up()
    waiting = subprocess.Popen(
        [PUSHCLI, "send", "--state", str(gateway.state), "--to", f"{me.name}/{TOPIC}", "--title", "x", "--id", apns_id,
         "--wait", "viewed", "--timeout", "30s"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    gateway.events(apns_id, "stored")
    gateway.accepted(mallory.token, apns_id=apns_id)
    assert strange.next("push")["id"] == apns_id
    strange.say(type="answer", id=apns_id, action="view")
    gateway.events(apns_id, "viewed")
    assert waiting.poll() is None
    stream = gateway.stream(me)
    stream.caught_up()
    stream.say(type="answer", id=apns_id, action="view")
    waiting.communicate(timeout=30)
    assert waiting.returncode == 0


@pytest.mark.parametrize("acknowledges", [True, False])
def test_an_answer_is_believed_after_the_gateway_was_started_again(start, acknowledges):
    gateway = start()
    gateway.run("apps", "category", TOPIC, "DEPLOY", "--action", "approve=Approve")
    me, mallory = gateway.device(), gateway.device()
    stream = gateway.stream(me)
    stream.caught_up()
    apns_id = gateway.accepted(me.token, QUESTION)
    assert stream.next("push")["seq"] == 1
    if acknowledges:
        stream.acknowledge(1)
        gateway.events(apns_id, "acknowledged")
    gateway.stop()
    gateway.restart()
    strange = gateway.stream(mallory)
    strange.caught_up()
    strange.say(type="answer", id=apns_id, action="approve")
    stream = gateway.stream(me, cursor=1)
    stream.caught_up()
    stream.say(type="answer", id=apns_id, action="reject")
    stream.say(type="answer", id=apns_id, action="approve")
    [answer] = [event for event in gateway.events(apns_id, "action") if event["event"] == "action"]
    assert (answer["device"], answer["detail"], answer["topic"]) == (me.name, "approve", TOPIC)


# Whose key reaches which app


def test_a_key_reaches_the_apps_of_its_team(start):
    gateway = start()
    device = gateway.device()
    gateway.run("teams", "add", "OTHERTEAM1")
    other = gateway.new_key(team="OTHERTEAM1")
    for body in [{"aps": {"badge": 1}}, b"nonsense"]:
        response = gateway.push(device.token, body, key=other)
        assert (response.status, response.reason) == (400, "TopicDisallowed")
    with gateway.connect() as connection:
        fields = [("authorization", gateway.bearer(other))]
        response = connection.request("GET", f"/1/apps/{TOPIC}/all-channels", fields)
        assert (response.status, response.reason) == (403, "TopicMismatch")
    refused = gateway.run("apps", "add", "com.example.shop", "--name", "Shop", code=1)
    assert "--team" in refused.err and "OTHERTEAM1" in refused.err
    gateway.run("apps", "add", "com.example.shop", "--name", "Shop", "--team", "OTHERTEAM1")
    token = gateway.register(device.name, "com.example.shop")
    assert gateway.push(token, key=other, topic="com.example.shop").status == 200
    assert gateway.push(token, topic="com.example.shop").status == 400
    gateway.run("apps", "set", TOPIC, "--team", "OTHERTEAM1")
    assert gateway.push(device.token, key=other).status == 200
    teams = {app["topic"]: app["team_id"] for app in gateway.run("apps", "--json").records}
    assert teams == {TOPIC: "OTHERTEAM1", "com.example.shop": "OTHERTEAM1"}
    assert "any team" not in gateway.run("apps").err


def test_apps_without_a_team_are_open_and_everybody_says_so(start):
    """As from a version before, where there were several teams: nothing is refused that was accepted then."""
    gateway = start()
    device = gateway.device()
    gateway.run("teams", "add", "OTHERTEAM1")
    other = gateway.new_key(team="OTHERTEAM1")
    gateway.stop()
    with contextlib.closing(sqlite3.connect(gateway.state / "pushgateway.sqlite")) as database:
        database.execute("UPDATE app SET team = NULL")
        database.commit()
    gateway.start()
    assert gateway.push(device.token, key=other).status == gateway.push(device.token).status == 200
    assert TOPIC in gateway.log and "apps set TOPIC --team" in gateway.log
    assert "apps set TOPIC --team" in gateway.run("apps").err
    [finding] = [record for record in gateway.run("doctor", "--json").records if record["check"] == "apps"]
    assert finding["state"] == "warning" and TOPIC in finding["words"]
    gateway.run("apps", "set", TOPIC, "--team", gateway.key.team_id)
    assert gateway.push(device.token, key=other).status == 400
    [finding] = [record for record in gateway.run("doctor", "--json").records if record["check"] == "apps"]
    assert finding["state"] == "ok"
