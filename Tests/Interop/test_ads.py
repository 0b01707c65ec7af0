"""Advertising (rule A9): refused, held or reported, by the app's mode; allowed by the person; told by `lint --ads`."""

import json

import pytest

from gateway import run
from test_policy import policy

AD = "Flash sale! Up to 70% off everything. Shop now before midnight"
AD_ZH = "限时特惠，全场五折起，满300减100，快来抢购！"
ORDINARY = "Your order has shipped and arrives Friday"


def payload(text):
    return {"aps": {"alert": {"title": "News", "body": text}, "badge": 3, "sound": "default"}}


def shown(gateway, device):
    """What the device is shown of each push."""
    stream = gateway.stream(device)
    lines = [line["presentation"] for line in stream.caught_up()]
    stream.connection.close()
    return lines


def detail(gateway, apns_id, event):
    """What the log says of this event."""
    return next(entry["detail"] for entry in gateway.events(apns_id, event) if entry["event"] == event)


def mode(gateway, ads):
    """An app with this mode, and a device registered for it."""
    topic = gateway.app(ads=ads)
    return topic, gateway.device(topic=topic)


@pytest.mark.parametrize("text", [AD, AD_ZH, "Ｆｌａｓｈ ｓａｌｅ！ Up to 70% off everything. Shop now before midnight"])
def test_a_new_app_may_not_advertise(gateway, device, text):
    response = gateway.push(device.token, payload(text))
    refusal = policy(response)
    assert (refusal["rule"], refusal["at"]) == ("A9", "/aps/alert")
    assert refusal["evidence"]
    assert detail(gateway, response["apns-id"], "refused").startswith("A9 /aps/alert")
    assert gateway.push(device.token, payload(ORDINARY)).status == 200


def test_report_only_logs(gateway):
    topic, device = mode(gateway, "report")
    accepted = gateway.accepted(device.token, payload(AD), topic=topic)
    assert detail(gateway, accepted, "reported").startswith("report only: A9")
    assert shown(gateway, device)[0]["alert"]["body"] == AD


def test_off_looks_at_nothing(gateway):
    topic, device = mode(gateway, "off")
    accepted = gateway.accepted(device.token, payload(AD), topic=topic)
    assert "refused" not in [event["event"] for event in gateway.events(accepted, "stored")]
    assert shown(gateway, device)[0]["alert"]["body"] == AD


def test_what_is_held_comes_without_alert_and_sound_until_the_person_allows_it(gateway):
    topic, device = mode(gateway, "hold")
    accepted = gateway.accepted(device.token, payload(AD), topic=topic)
    assert shown(gateway, device) == [{"badge": 3}]
    assert "A9 apps/" in detail(gateway, accepted, "suppressed")
    gateway.prefer(device.name, "advertising=allow", app=topic)
    assert shown(gateway, device)[0]["alert"]["body"] == AD


@pytest.mark.parametrize("ads, code, verdict", [("refuse", 5, "refused"), ("hold", 3, "partly")])
def test_explain_names_the_rule_and_the_command_that_changes_it(gateway, ads, code, verdict):
    topic, device = mode(gateway, ads)
    asked = ["policy", "explain", "--device", device.name, "--topic", topic, "--json", "-"]
    answer = json.loads(gateway.run(*asked, stdin=json.dumps(payload(AD)), code=code).out)
    assert answer["verdict"] == verdict
    assert [fault["rule"] for fault in answer["refused"]] == (["A9"] if ads == "refuse" else [])
    assert [(removal["part"], removal["rule"]) for removal in answer["removed"]] == [("sound", "A9"), ("alert", "A9")]
    # What is refused at the door is presented nowhere, its badge neither.
    assert answer["presented"].get("badge") == (None if ads == "refuse" else 3)
    remedy = answer["removed"][0]["remedy"]
    assert remedy == f"pushcli prefs set --device {device.name} --app {topic} advertising=allow"
    gateway.run(*remedy.split()[1:])
    answer = json.loads(gateway.run(*asked, stdin=json.dumps(payload(AD))).out)
    assert answer["verdict"] == "presented"


def test_a_person_who_allowed_it_gets_what_is_refused_to_others(gateway):
    topic, device = mode(gateway, "refuse")
    assert gateway.push(device.token, payload(AD), topic=topic).status == 403
    gateway.prefer(device.name, "advertising=allow", app=topic)
    gateway.accepted(device.token, payload(AD), topic=topic)
    assert shown(gateway, device)[0]["alert"]["body"] == AD


def test_the_mode_can_be_changed(gateway):
    topic, device = mode(gateway, "off")
    gateway.run("apps", "set", topic, "--ads", "refuse")
    assert gateway.push(device.token, payload(AD), topic=topic).status == 403
    apps = gateway.run("apps", "--json").records
    assert [app["ads"] for app in apps if app["topic"] == topic] == ["refuse"]
    gateway.run("apps", "set", topic, "--ads", "often", code=2)


def test_a_report_of_a_person_is_kept_and_listed(gateway):
    topic, device = mode(gateway, "off")
    accepted = gateway.accepted(device.token, payload(AD), topic=topic)

    def report(body):
        with gateway.connect() as connection:
            fields = [("authorization", f"bearer {device.secret}"), ("content-type", "application/json")]
            return connection.request("POST", "/v1/device/ads/reports", fields, json.dumps(body).encode()).status

    assert report({"id": accepted, "topic": topic, "text": AD}) == 204
    assert report({"id": accepted, "topic": topic}) == 204, "said twice"
    assert report({"id": "x", "topic": topic}) == 400
    assert report({"id": accepted, "topic": "com.example.unknown"}) == 404
    reports = [entry for entry in gateway.run("ads", "reports", "--json").records if entry["topic"] == topic]
    assert [(entry["id"], entry["device"], entry["text"], entry["outcome"]) for entry in reports] == [
        (accepted, device.name, AD, "refuse")]


def test_lint_says_of_each_text_whether_it_advertises():
    lines = [
        json.dumps({"id": "a", "title": "Sale", "subtitle": "", "body": AD}), json.dumps({"id": "b", "body": ORDINARY}),
        "no json", "", '{"title":"no id"}', json.dumps({"id": "c"}), json.dumps({"id": "d", "body": AD_ZH}),
    ]
    done = run("lint", "--ads", stdin="\n".join(lines))
    # What is no notification is told, and the rest is judged all the same.
    assert done.code == 1 and [line.partition(":")[0] for line in done.err.splitlines()] == ["line 3", "line 5", "pushcli"]
    rows = [line.split("\t") for line in done.out.splitlines()]
    assert [(row[0], row[2]) for row in rows] == [("a", "promo"), ("b", "ok"), ("c", "ok"), ("d", "promo")]
    assert all(float(row[1]) == float(row[1]) for row in rows)
    assert [len(row) for row in rows] == [4, 3, 3, 4]
    # The same without the reasons, which are for people.
    plain = run("lint", "--ads", "--no-reasons", stdin="\n".join(lines))
    assert plain.out.splitlines() == ["\t".join(row[:3]) for row in rows]
