"""The standing of an app with its recipients (rule N11), and proposals of quieter preferences (`prefs advise`)."""

import json

PAYLOAD = {"aps": {"alert": {"title": "Order Shipped", "body": "It arrives on Friday."}}}
ALERTS = 100


def receive(gateway, device, count, answer=None):
    """Receives pending pushes, reports their alerts as shown, and returns their ids."""
    stream = gateway.stream(device)
    lines = stream.caught_up()
    assert len(lines) == count
    for line in lines:
        stream.say(type="presented", id=line["id"], parts=["alert"])
        if answer:
            stream.say(type="answer", id=line["id"], action=answer)
    stream.acknowledge(lines[-1]["seq"])
    for line in lines[-3:]:
        gateway.events(line["id"], "presented")
        if answer:
            gateway.events(line["id"], "closed" if answer == "close" else "viewed")
    gateway.events(lines[-1]["id"], "acknowledged")
    stream.connection.close()
    return [line["id"] for line in lines]


def report(gateway, device, topic, apns_id):
    gateway.ask("POST", "/v1/device/ads/reports", {"id": apns_id, "topic": topic}, secret=device.secret)


def standing(gateway, topic):
    [record] = gateway.run("ads", "standing", "--app", topic, "--json").records
    return record


def shown(gateway, device, topic):
    """Sends a push, and returns its presentation and its id."""
    accepted = gateway.accepted(device.token, PAYLOAD, topic=topic)
    stream = gateway.stream(device)
    [line] = [line for line in stream.caught_up() if line.get("topic") == topic]
    stream.acknowledge(line["seq"])
    gateway.events(accepted, "acknowledged")
    stream.connection.close()
    return line["presentation"], accepted


def test_three_persons_report_an_app_and_its_alerts_come_in_the_summary_until_an_appeal(start):
    gateway = start()
    topic = gateway.app()
    devices = [gateway.device(topic=topic) for _ in range(3)]
    for device in devices:
        gateway.prefer(device, "budget=unlimited", app=topic)
    with gateway.connect() as connection:
        for device, count in zip(devices, (ALERTS - 2, 1, 1)):
            for _ in range(count):
                assert gateway.push(device.token, PAYLOAD, topic=topic, connection=connection).status == 200
    ids = [receive(gateway, device, count)[-1] for device, count in zip(devices, (ALERTS - 2, 1, 1))]
    for device, apns_id in zip(devices[:2], ids):
        report(gateway, device, topic, apns_id)
    before = standing(gateway, topic)
    assert (before["presented"], before["reported"], before["reporters"]) == (ALERTS, 2, 2)
    assert "alert" in shown(gateway, devices[0], topic)[0], "two persons do not silence an app"
    report(gateway, devices[2], topic, ids[2])
    assert "summary_until" in standing(gateway, topic)

    presentation, accepted = shown(gateway, devices[0], topic)
    assert presentation["held"]["by"] == "summary"
    assert f"alert N11 apps/{topic}/standing" in next(
        row["detail"] for row in gateway.events(accepted, "suppressed") if row["event"] == "suppressed")
    gateway.stop()
    gateway.start()
    assert "held" in shown(gateway, devices[1], topic)[0], "it holds after a restart"

    # The recipient decides: the deferred alert comes in a summary now, and later ones are shown.
    gateway.prefer(devices[0], "advertising=allow", app=topic)
    stream = gateway.stream(devices[0])
    summary = next(line for line in stream.caught_up() or [stream.next_of("push")] if line.get("topic") == "summary")
    assert [entry["title"] for entry in summary["payload"]["digest"]["entries"]] == ["Order Shipped"]
    stream.acknowledge(summary["seq"])
    stream.connection.close()
    assert "alert" in shown(gateway, devices[0], topic)[0]

    # An administrator ends it for all, and the audit trail has that.
    assert "held" in shown(gateway, devices[2], topic)[0]
    gateway.run("ads", "appeal", topic)
    assert "summary_until" not in standing(gateway, topic)
    assert "alert" in shown(gateway, devices[2], topic)[0]
    assert f"/admin/v1/ads/standing/{topic}" in [row["path"] for row in gateway.run("admin", "audit", "--json").records]
    gateway.run("ads", "appeal", "com.example.unknown", code=3)
    gateway.run("ads", "appeal", topic, "--until", "soon", code=2)


def test_explain_names_the_reports(gateway):
    topic = gateway.app()
    devices = [gateway.device(topic=topic) for _ in range(3)]
    for device, count in zip(devices, (ALERTS, 1, 1)):
        gateway.prefer(device, "budget=unlimited", app=topic)
        for _ in range(count):
            gateway.accepted(device.token, PAYLOAD, topic=topic)
        report(gateway, device, topic, receive(gateway, device, count)[-1])
    name = devices[1].name
    asked = ["policy", "explain", "--device", name, "--topic", topic, "--json", "-"]
    answer = json.loads(gateway.run(*asked, stdin=json.dumps(PAYLOAD), code=3).out)
    assert [(removal["part"], removal["rule"]) for removal in answer["removed"]] == [("alert", "N11")]
    assert answer["removed"][0]["remedy"] == f"pushcli prefs set --device {name} --app {topic} advertising=allow"


def test_advise_proposes_what_makes_unopened_alerts_quieter_and_changes_nothing(gateway):
    topic, other = gateway.app(), gateway.app()
    device = gateway.device(topic=topic)
    token = gateway.register(device.name, other)
    for app, target, answer in ((topic, device.token, "close"), (other, token, "view")):
        gateway.prefer(device, "budget=unlimited", app=app)
        for _ in range(10):
            gateway.accepted(target, PAYLOAD, topic=app)
        receive(gateway, device, 10, answer)
    before = gateway.run("prefs", "show", "--device", device.name, "--json").json
    [advice] = gateway.run("prefs", "advise", "--device", device.name, "--json").records
    assert (advice["topic"], advice["presented"], advice["viewed"], advice["closed"]) == (topic, 10, 0, 10)
    assert gateway.run("prefs", "show", "--device", device.name, "--json").json == before
    gateway.run(*advice["apply"].split()[1:])
    assert gateway.run("prefs", "advise", "--device", device.name, "--json").records == []
    gateway.run(*advice["undo"].split()[1:])
    assert len(gateway.run("prefs", "advise", "--device", device.name, "--json").records) == 1
