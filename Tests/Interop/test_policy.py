"""What the rules on senders refuse at the door, and what a person's choices remove at delivery (design §2, §3)."""

import json

import pytest

from gateway import TOPIC
from test_wire import ERROR

#: Values of `badge`, and what becomes of them (rule B1): a number that is presented, or a refusal.
BADGES = [
    ("0", 0), ("1", 1), ("42", 42), ("1e2", 100), ("3.0", 3), ("9223372036854775807", 9223372036854775807), ("-0", 0),
    ('"1"', None), ('"new"', None), ('""', None), ("-1", None), ("1.5", None), ("true", None), ("false", None),
    ("null", None), ("[1]", None), ('{"count":1}', None), ("9223372036854775808", None), ("1e19", None),
]

SOUNDS = ["../x.caf", "a/b.caf", "/etc/passwd", "a\\b.caf", "a\x00b", "..", "a\nb", "x" * 3000 + "/"]

FIELDS = {"vibrate": "S3", "vibration": "S3"}


def policy(response):
    assert (response.status, response.reason) == (403, "Forbidden"), (response.status, response.body)
    assert response.shape == ERROR
    assert len(response.body) <= 1024
    body = response.json
    assert list(body) == ["reason", "policy"]
    assert set(body["policy"]) == {"rule", "at", "message", "evidence"}
    assert body["policy"]["message"] and isinstance(body["policy"]["evidence"], list)
    # One library reads keys without regard to case: none may look like one of its own.
    names = {"statuscode", "reason", "apnsid", "timestamp", "apnsuniqueid"}
    assert not names & {key.lower() for key in body["policy"]}
    return body["policy"]


@pytest.mark.parametrize(("badge", "count"), BADGES, ids=[badge for badge, _ in BADGES])
def test_a_badge_is_a_whole_number_of_at_least_zero(gateway, device, badge, count):
    response = gateway.push(device.token, b'{"aps":{"badge":%s}}' % badge.encode())
    if count is None:
        refusal = policy(response)
        assert (refusal["rule"], refusal["at"]) == ("B1", "/aps/badge")
        assert gateway.events(response["apns-id"], "refused")[-1]["detail"].startswith("B1 /aps/badge")
    else:
        assert response.status == 200, response.body
        stream = gateway.stream(device)
        assert [line["presentation"] for line in stream.caught_up()] == [{"badge": count}]
        stream.connection.close()


@pytest.mark.parametrize("sound", SOUNDS, ids=[repr(sound[:12]) for sound in SOUNDS])
@pytest.mark.parametrize("form", ["string", "object"])
def test_a_sound_is_a_bare_file_name(gateway, device, sound, form):
    value = sound if form == "string" else {"name": sound, "volume": 0.5}
    refusal = policy(gateway.push(device.token, {"aps": {"sound": value}}))
    assert refusal["rule"] == "S1"
    assert refusal["at"] == ("/aps/sound" if form == "string" else "/aps/sound/name")


@pytest.mark.parametrize("sound", ["default", "chime.caf", "Über laut.wav", "a.b.c", {"name": "x.caf"}, {"critical": 1}])
def test_a_sound_that_is_one_is_accepted(gateway, device, sound):
    assert gateway.push(device.token, {"aps": {"sound": sound}}).status == 200


@pytest.mark.parametrize("place", ["/aps", "/aps/alert", "/aps/sound"])
@pytest.mark.parametrize("key", sorted(FIELDS))
def test_vibration_is_the_persons_business(gateway, device, place, key):
    aps = {"alert": {"body": "x"}, "sound": {"name": "default"}}
    (aps if place == "/aps" else aps[place.split("/")[2]])[key] = [100, 50]
    refusal = policy(gateway.push(device.token, {"aps": aps}))
    assert refusal["rule"] == FIELDS[key]
    assert refusal["at"] == f"{place}/{key}"


def test_a_refusal_stays_within_1024_bytes_whatever_it_quotes(gateway, device):
    for text in ["x" * 3900, "ü" * 1900, "\U0001f686" * 900, "\x01" * 600, '"\\' * 900]:
        for aps in [{"badge": text}, {"sound": text + "/"}, {"alert": {"vibrate": text}}]:
            body = json.dumps({"aps": aps}, ensure_ascii=False).encode()
            policy(gateway.push(device.token, body))


def test_a_refused_push_never_reaches_the_device(gateway, device):
    policy(gateway.push(device.token, {"aps": {"badge": "1", "alert": "x"}}))
    stream = gateway.stream(device)
    assert stream.caught_up() == []
    stream.connection.close()


def test_the_same_push_is_accepted_once_it_is_mended(gateway, device):
    offered = "F4121B12-E0BF-4266-A079-D9253E98BF40"
    policy(gateway.push(device.token, {"aps": {"badge": "1"}}, apns_id=offered))
    assert gateway.push(device.token, {"aps": {"badge": 1}}, apns_id=offered).status == 200


def test_an_app_that_only_wants_a_report_accepts_and_logs(gateway):
    topic = gateway.app(policy="report")
    device = gateway.device(topic)
    apns_id = gateway.accepted(device.token, {"aps": {"badge": "1", "alert": "x"}}, topic=topic)
    events = gateway.events(apns_id, "stored")
    reported = [event for event in events if event["event"] == "reported"]
    assert len(reported) == 1 and reported[0]["detail"].startswith("report only: B1 /aps/badge")
    assert "refused" not in [event["event"] for event in events]
    stream = gateway.stream(device)
    [push] = stream.caught_up()
    assert push["payload"] == {"aps": {"badge": "1", "alert": "x"}}
    assert "badge" not in push["presentation"]
    stream.connection.close()
    gateway.app(topic, policy="enforce")
    policy(gateway.push(device.token, {"aps": {"badge": "1"}}, topic=topic))


# A person's choices

EVERYTHING = {"aps": {"alert": {"title": "T", "body": "B"}, "badge": 3, "sound": "default", "category": "SPORT"}}
PARTS = ["badge", "sound", "alert"]

#: Choices (for what, which), and of what remains and which rule and setting removed the rest.
CHOICES = [
    ([], {}),
    ([("", "badge=off")], {"badge": "N4 badge"}),
    ([("", "sound=off")], {"sound": "N4 sound"}),
    ([("", "alert=off")], {"alert": "N4 alert"}),
    ([("", "notifications=off")], dict.fromkeys(PARTS, "N4 notifications")),
    ([("app", "badge=off")], {"badge": f"N5 apps/{TOPIC}/badge"}),
    ([("app", "alert=off sound=off")], {"sound": f"N5 apps/{TOPIC}/sound", "alert": f"N5 apps/{TOPIC}/alert"}),
    ([("app", "notifications=off")], dict.fromkeys(PARTS, f"N5 apps/{TOPIC}/notifications")),
    ([("category", "alert=off")], {"alert": f"N6 apps/{TOPIC}/categories/SPORT/alert"}),
    ([("app", "alert=off"), ("category", "alert=on")], {}),
    ([("app", "notifications=off"), ("category", "alert=on")], dict.fromkeys(PARTS, f"N5 apps/{TOPIC}/notifications")),
    ([("", "alert=off"), ("category", "alert=on")], {"alert": "N4 alert"}),
    ([("category", "alert=off"), ("category", "alert=inherit")], {}),
    ([("", "badge=off sound=off alert=off"), ("", "badge=on")], {"sound": "N4 sound", "alert": "N4 alert"}),
]


def choose(gateway, device, scope, settings):
    place = {"": {}, "app": {"app": TOPIC}, "category": {"app": TOPIC, "category": "SPORT"}}[scope]
    return gateway.prefer(device, *settings.split(), **place)


@pytest.mark.parametrize(("choices", "removed"), CHOICES, ids=[str(choices) for choices, _ in CHOICES])
def test_a_choice_removes_what_it_should_and_the_log_says_by_which_rule(gateway, device, choices, removed):
    for scope, settings in choices:
        choose(gateway, device, scope, settings)
    apns_id = gateway.accepted(device.token, EVERYTHING)
    [push] = gateway.run("subscribe", "--device", device.name, "--json", "--once").records
    assert push["id"] == apns_id
    assert push["payload"] == EVERYTHING
    assert set(push["presentation"]) == set(PARTS) - set(removed)
    if "alert" in push["presentation"]:
        assert push["presentation"]["alert"] == {"title": "T", "subtitle": "", "body": "B", "buttons": ["Close", "View"]}
    events = gateway.events(apns_id, "acknowledged")
    details = [event["detail"] for event in events if event["event"] == "suppressed"]
    expected = "; ".join(f"{part} {removed[part]}" for part in PARTS if part in removed)
    assert details == ([expected] if removed else [])


def test_a_choice_reaches_a_live_stream_and_holds_for_the_next_push(gateway, device):
    stream = gateway.stream(device)
    stream.caught_up()
    choose(gateway, device, "app", "alert=off")
    change = stream.next("preferences")
    assert change["preferences"]["apps"][TOPIC]["alert"] is False
    gateway.accepted(device.token, EVERYTHING)
    assert set(stream.next("push")["presentation"]) == {"badge", "sound"}
    stream.connection.close()


def test_a_choice_holds_for_what_already_waits(gateway, device):
    gateway.accepted(device.token, EVERYTHING)
    choose(gateway, device, "", "notifications=off")
    stream = gateway.stream(device)
    [push] = stream.caught_up()
    assert push["presentation"] == {}
    stream.connection.close()


def test_a_choice_holds_for_all_devices_of_the_person_and_nobody_else(gateway):
    one, two = gateway.device(person="anna"), gateway.device(person="anna")
    other = gateway.device(person="bert")
    choose(gateway, one, "", "sound=off")
    for device, parts in [(two, {"badge", "alert"}), (other, {"badge", "sound", "alert"})]:
        gateway.accepted(device.token, EVERYTHING)
        stream = gateway.stream(device)
        [push] = stream.caught_up()
        assert set(push["presentation"]) == parts
        stream.connection.close()


def test_the_silent_switch_removes_the_sound_and_nothing_else(gateway, device):
    stream = gateway.stream(device, silent=True)
    stream.caught_up()
    apns_id = gateway.accepted(device.token, EVERYTHING)
    assert set(stream.next("push")["presentation"]) == {"badge", "alert"}
    assert gateway.events(apns_id, "suppressed")[-1]["detail"] == "sound S4 silent"
    stream.say(type="state", silent=False)
    stream.quiet()
    gateway.accepted(device.token, EVERYTHING)
    assert set(stream.next("push")["presentation"]) == {"badge", "sound", "alert"}
    stream.connection.close()


def test_choices_survive_a_restart(start):
    gateway = start()
    device = gateway.device()
    choose(gateway, device, "category", "alert=off")
    gateway.stop()
    gateway.start()
    shown = gateway.run("prefs", "--device", device.name, "--json").json
    assert shown["apps"][TOPIC]["categories"] == {"SPORT": {"alert": False}}


@pytest.mark.parametrize(
    ("action", "buttons"),
    [({}, ["Close", "View"]), ({"action-loc-key": "Track"}, ["Close", "Track"]), ({"action-loc-key": None}, ["OK"])])
def test_the_buttons_of_an_alert_follow_action_loc_key(gateway, device, action, buttons):
    gateway.accepted(device.token, {"aps": {"alert": {"body": "B"} | action}})
    stream = gateway.stream(device)
    [push] = stream.caught_up()
    assert push["presentation"]["alert"]["buttons"] == buttons
    stream.connection.close()
