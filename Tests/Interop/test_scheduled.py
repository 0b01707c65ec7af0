"""Pushes for a later time: `send --at`, `send --in`, `apns-deliver-at`, and `scheduled`."""

import re
import time

import pytest
from gateway import TOPIC
from waiting import passes

ALERT = {"aps": {"alert": "later"}}


def schedule(gateway, device, seconds, **fields):
    at = int(time.time()) + seconds
    response = gateway.push(device.token, ALERT, apns_deliver_at=at, **fields)
    assert response.status == 200 and response["apns-deliver-at"] == str(at)
    return response["apns-id"], at


def scheduled(gateway):
    return gateway.admin("GET", "scheduled")


def test_a_push_comes_at_its_time_and_not_before(gateway, device):
    stream = gateway.stream(device)
    stream.caught_up()
    # A push that is due much later is in the list, however long it takes to ask for that.
    later, _ = schedule(gateway, device, 3600)
    [row] = [row for row in scheduled(gateway) if row["device"] == device.name]
    assert (row["id"].lower(), row["topic"]) == (later.lower(), TOPIC)
    id, at = schedule(gateway, device, 5)
    push = stream.next("push")
    assert at <= time.time()
    assert push["id"].lower() == id.lower()
    gateway.when(
        lambda: [row["id"].lower() for row in scheduled(gateway) if row["device"] == device.name] == [later.lower()],
        "it is scheduled no longer")
    assert [record["event"] for record in gateway.events(id, "transmitted")] == ["accepted", "stored", "transmitted"]


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_what_was_accepted_survives_the_gateway(start, end):
    gateway = start()
    device = gateway.device()
    soon, _ = schedule(gateway, device, 5)
    over = int(time.time()) + 7
    short, _ = schedule(gateway, device, 5, apns_expiration=over)
    later, _ = schedule(gateway, device, 3600)
    getattr(gateway, end)()
    passes(over)
    # A late start delivers at once what is not over.
    gateway.restart()
    stream = gateway.stream(device)
    push = next(line for line in iter(stream.next, None) if line["type"] == "push")
    assert push["id"].lower() == soon.lower()
    assert [record["event"] for record in gateway.events(short, "expired")][-1] == "expired"
    # A push leaves the schedule after it was stored, and its device may have it before.
    gateway.when(
        lambda: [row["id"].lower() for row in scheduled(gateway)] == [later.lower()], "the last one alone is scheduled")


def test_what_is_cancelled_does_not_come(gateway, device):
    stream = gateway.stream(device)
    stream.caught_up()
    # A busy machine may need some seconds for the two requests.
    id, _ = schedule(gateway, device, 10)
    gateway.admin("DELETE", "scheduled", id)
    last, _ = schedule(gateway, device, 11)
    assert stream.next("push")["id"].lower() == last.lower()
    assert gateway.events(id, "dropped")[-1]["detail"] == "canceled before its scheduled time"
    assert "no push" in gateway.run("scheduled", "cancel", id, code=3).err
    assert "UUID" in gateway.run("scheduled", "cancel", "tomorrow", code=2).err


def test_the_command_says_when_with_the_zone(gateway, device):
    to = ["--to", f"{device.name}/{TOPIC}", "--title", "Stand-Up"]
    done = gateway.run("send", *to, "--in", "1h", env={"TZ": "Asia/Kolkata"})
    assert re.search(r"it is delivered at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+05:30 \(Asia/Kolkata\)$", done.err.strip())
    told = gateway.run("send", *to, "--at", "18:00 America/New_York", "--json").json
    assert re.fullmatch(r"\d{4}-\d\d-\d\d 18:00:00 -0[45]:00 \(America/New_York\)", told["deliver_at"])
    ids = {row["id"].lower() for row in scheduled(gateway) if row["device"] == device.name}
    assert ids == {done.out.strip().lower(), told["apns_id"].lower()}
    table = gateway.run("scheduled", env={"TZ": "Etc/UTC"}).out
    assert "AT" in table and device.name in table
    for id in ids:
        gateway.run("scheduled", "cancel", id)


@pytest.mark.parametrize("options, words", [
    (["--at", "25:00"], '--at is "25:00"'), (["--in", "soon"], '--in is "soon"'), (["--at", "18:00", "--in", "1h"], "not both")])
def test_a_time_that_is_none_is_told_before_anything_is_sent(gateway, device, options, words):
    assert words in gateway.run("send", "--to", f"{device.name}/{TOPIC}", "--title", "x", *options, code=2).err


def test_a_time_too_far_away_is_refused(gateway, device):
    done = gateway.run("send", "--to", f"{device.name}/{TOPIC}", "--title", "x", "--in", "31d", code=5)
    assert "400 BadExpirationDate" in done.err


def test_what_the_door_refuses_is_not_scheduled(gateway, device):
    at = int(time.time()) + 3600
    for payload, status in (({"aps": {"badge": "3"}}, 403), ({"aps": {"alert": "50% off, buy now"}}, 403)):
        assert gateway.push(device.token, payload, apns_deliver_at=at).status == status
    assert not [row for row in scheduled(gateway) if row["device"] == device.name]


def test_what_is_scheduled_for_a_person_goes_with_the_person(start):
    gateway = start()
    device = gateway.device()
    schedule(gateway, device, 3600)
    gateway.run("persons", "remove", device.name)
    assert scheduled(gateway) == []
