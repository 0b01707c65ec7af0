"""Marketing (rule N9): off until the person turns it on, with an unsubscribe that the sender learns of."""

import json

import aioapns
import pytest

from gateway import TOPIC
from test_libraries import connect, page, with_aioapns  # noqa: F401 (fixtures)
from test_policy import policy

SALE = {"aps": {"alert": {"title": "Flash Sale", "body": "Up to 70% off everything. Shop now before midnight"}, "badge": 3}}
DECLARED = SALE | {"marketing": True}
OFFER = "Get 20% off your next order with code SAVE20."
MIXED = {"aps": {"alert": {"title": "Order Shipped", "body": f"Your order 4711 has shipped and arrives Friday. {OFFER}"}}}
ORDINARY = {"aps": {"alert": {"title": "Order Shipped", "body": "It arrives on Friday."}}}


def shown(gateway, device):
    """The lines of the pushes that a device is sent."""
    stream = gateway.stream(device)
    lines = stream.caught_up()
    stream.connection.close()
    return lines


@pytest.fixture
def shop(gateway):
    """A new app, a device whose person wants its marketing, and one whose person does not."""
    topic = gateway.app()
    wants, other = gateway.device(topic=topic), gateway.device(topic=topic)
    gateway.prefer(wants, "marketing=on", app=topic)
    return topic, wants, other


def test_a_library_sends_to_two_people_what_each_wants(gateway, connect):  # noqa: F811
    wants, other = gateway.device(), gateway.device()
    gateway.prefer(wants, "marketing=on", app=TOPIC)
    requests = [
        aioapns.NotificationRequest(device.token, message)
        for device in (wants, other) for message in (DECLARED, SALE, MIXED, DECLARED | MIXED, ORDINARY)]
    results = with_aioapns(connect, *requests)
    assert [(result.status, result.description) for result in results] == [
        ("200", None), ("403", "Forbidden"), ("403", "Forbidden"), ("200", None), ("200", None),
        ("403", "Forbidden"), ("403", "Forbidden"), ("403", "Forbidden"), ("403", "Forbidden"), ("200", None)]
    assert len(shown(gateway, wants)) == 3
    assert [line["payload"] for line in shown(gateway, other)] == [ORDINARY]


def test_the_answer_names_the_rule(gateway, shop):
    topic, wants, other = shop
    refusal = policy(gateway.push(other.token, DECLARED, topic=topic))
    assert (refusal["rule"], refusal["at"]) == ("N9", "/marketing")
    # The header is for libraries that can't change the payload.
    assert policy(gateway.push(other.token, ORDINARY, topic=topic, apns_marketing="true"))["rule"] == "N9"
    assert gateway.push(other.token, ORDINARY, topic=topic).status == 200
    assert gateway.push(wants.token, ORDINARY, topic=topic, apns_marketing="true").status == 200
    assert shown(gateway, wants)[0]["payload"]["marketing"] is True


def test_what_is_not_declared_is_refused_also_to_a_person_who_wants_marketing(gateway, shop):
    topic, wants, other = shop
    for device in (wants, other):
        assert policy(gateway.push(device.token, SALE, topic=topic))["rule"] == "A9"
    # One sentence makes an offer, and the refusal names it.
    refusal = policy(gateway.push(wants.token, MIXED, topic=topic))
    assert refusal["rule"] == "A9" and OFFER in refusal["message"]


def test_in_the_other_modes_marketing_is_accepted_and_not_shown(gateway):
    for mode in ("off", "report", "hold"):
        topic = gateway.app(ads=mode)
        device = gateway.device(topic=topic)
        accepted = gateway.accepted(device.token, DECLARED, topic=topic)
        [line] = shown(gateway, device)
        assert line["presentation"] == {"badge": 3}
        details = {event["event"]: event.get("detail") for event in gateway.events(accepted, "suppressed")}
        assert f"alert N9 apps/{topic}/marketing" in details["suppressed"]
        assert ("reported" in details) == (mode == "report")


def test_an_unsubscribe_counts_for_pushes_on_their_way(gateway, shop):
    topic, wants, _ = shop
    ids = [gateway.accepted(wants.token, DECLARED, topic=topic) for _ in range(3)]
    with gateway.connect() as connection:
        body = {"settings": ["marketing=off"], "app": topic}
        fields = [("authorization", f"bearer {wants.secret}"), ("content-type", "application/json")]
        assert connection.request("POST", "/v1/device/preferences", fields, json.dumps(body).encode()).status == 200
    assert [line["presentation"] for line in shown(gateway, wants)] == [{"badge": 3}] * 3
    for apns_id in ids:
        assert "N9" in next(row["detail"] for row in gateway.events(apns_id, "suppressed") if row["event"] == "suppressed")


def test_the_sender_learns_of_an_unsubscribe(gateway, shop):
    topic, wants, _ = shop
    with gateway.connect() as connection:
        sent = gateway.push(wants.token, DECLARED, topic=topic, connection=connection)
        assert (sent.status, sent["apns-marketing"]) == (200, None)
        [line] = shown(gateway, wants)
        assert line["app"]["marketing"] is True, "devices offer to unsubscribe"
        fields = [("authorization", f"bearer {wants.secret}"), ("content-type", "application/json")]
        body = {"settings": ["marketing=off"], "app": topic, "push": sent["apns-id"]}
        assert connection.request("POST", "/v1/device/preferences", fields, json.dumps(body).encode()).status == 200
        # In the log, in the answer to the next push, and in the refusal of the next marketing.
        [row] = [row for row in gateway.events(sent["apns-id"], "unsubscribed") if row["event"] == "unsubscribed"]
        assert (row["device"], row["topic"]) == (wants.name, topic)
        ordinary = gateway.push(wants.token, ORDINARY, topic=topic, connection=connection)
        assert (ordinary.status, ordinary["apns-marketing"]) == (200, "unsubscribed")
        refused = gateway.push(wants.token, DECLARED, topic=topic, connection=connection)
        assert (refused.status, refused.reason, refused["apns-marketing"]) == (403, "Forbidden", "unsubscribed")
        assert "has unsubscribed" in refused.json["policy"]["message"]


def test_prefs_unsubscribes_and_explain_names_the_command(gateway, shop):
    topic, wants, other = shop
    gateway.run("prefs", "set", "--device", wants.name, "--app", topic, "marketing=off")
    assert policy(gateway.push(wants.token, DECLARED, topic=topic))["rule"] == "N9"
    asked = ["policy", "explain", "--device", other.name, "--topic", topic, "--json", "-"]
    answer = json.loads(gateway.run(*asked, stdin=json.dumps(DECLARED), code=5).out)
    assert [fault["rule"] for fault in answer["refused"]] == ["N9"]
    remedy = answer["removed"][0]["remedy"]
    assert remedy == f"pushcli prefs set --device {other.name} --app {topic} marketing=on"
    gateway.run(*remedy.split()[1:])
    assert json.loads(gateway.run(*asked, stdin=json.dumps(DECLARED)).out)["verdict"] == "presented"


def test_a_new_category_is_quiet_until_the_person_has_chosen(gateway):
    topic = gateway.app()
    device = gateway.device(topic=topic)

    def push(category):
        payload = {"aps": ORDINARY["aps"] | {"category": category, "sound": "default"}}
        accepted = gateway.accepted(device.token, payload, topic=topic)
        stream = gateway.stream(device)
        [line] = stream.caught_up()
        stream.acknowledge(line["seq"])
        stream.connection.close()
        return accepted, line["presentation"]

    accepted, shown_at_once = push("NEWS")
    gateway.events(accepted, "acknowledged")
    assert "alert" in shown_at_once, "by default no category starts quiet"
    gateway.run("apps", "set", topic, "--new-categories", "quiet")
    assert "alert" in push("NEWS")[1], "it was there before"
    accepted, quiet = push("OFFERS")
    assert "alert" not in quiet and quiet["centre"]["title"] == "Order Shipped" and quiet["new_category"] == "OFFERS"
    assert f"alert N10 apps/{topic}/categories/OFFERS/permission" in next(
        row["detail"] for row in gateway.events(accepted, "suppressed") if row["event"] == "suppressed")
    gateway.run("prefs", "set", "--device", device.name, "--app", topic, "--category", "OFFERS", "permission=show")
    assert "alert" in push("OFFERS")[1]
    gateway.run("prefs", "set", "--device", device.name, "--app", topic, "--category", "OFFERS", "permission=off")
    assert push("OFFERS")[1] == {}
    gateway.run("apps", "set", topic, "--new-categories", "sometimes", code=2)
