"""What senders take back, as a sender and the people with their screens see it."""

import uuid

from gateway import PUSHCLI, TOPIC, poll, run
from screen import Screen, needs_tmux


def phone(gateway, device):
    """A phone on a terminal of its own."""
    path = gateway.state / "devices" / f"{device.name}.json"
    assert path.exists()
    return Screen(f"{PUSHCLI} subscribe --device {device.name} --state {gateway.state}")


def send(gateway, target, *options, code=0):
    return gateway.run("send", "--to", f"{target}/{TOPIC}", *options, code=code)


@needs_tmux
def test_a_sender_takes_an_alert_from_two_screens_of_a_person(start):
    gateway = start()
    person = f"ada-{uuid.uuid4().hex[:6]}"
    devices = [gateway.device(person=person) for _ in range(2)]
    away = gateway.device(person=person)
    screens = [phone(gateway, device) for device in devices]
    try:
        apns_id = str(uuid.uuid4())
        for device in [*devices, away]:
            send(gateway, device.name, "--title", "Fire Drill", "--badge", "1", "--id", apns_id)
        for screen in screens:
            screen.shows("Fire Drill")
        done = send(gateway, devices[0].name, "--retract", apns_id)
        assert "taken back" in done.err
        for screen in screens:
            poll(lambda screen=screen: "Fire Drill" not in screen.text, "the alert to leave")
            screen.press("c")
            poll(lambda screen=screen: "Fire Drill" not in screen.text, "the entry to leave the center")
        # Once more is no error, and a script is told.
        again = send(gateway, devices[1].name, "--retract", apns_id, "--json").json
        assert again == {"result": "already", "apns_id": apns_id}
        unknown = send(gateway, away.name, "--retract", str(uuid.uuid4()), "--json").json
        assert unknown["result"] == "unknown"
    finally:
        for screen in screens:
            screen.close()
    # Who was away never gets it.
    lines = gateway.stream(away).caught_up()
    assert not any(line["type"] == "push" for line in lines)
    events = gateway.events(apns_id, "retracted")
    taken = [event for event in events if event["event"] == "retracted"]
    assert {event["device"] for event in taken} == {device.name for device in [*devices, away]}
    assert all(event["detail"].startswith("by key ") for event in taken)


def test_what_was_taken_back_stays_so_over_a_kill(start):
    gateway = start()
    device = gateway.device()
    stream = gateway.stream(device)
    stream.caught_up()
    shown, waiting, later = (str(uuid.uuid4()) for _ in range(3))
    send(gateway, device.name, "--title", "Shown", "--id", shown)
    push = stream.next("push")
    stream.acknowledge(push["seq"])
    gateway.events(shown, "acknowledged")
    stream.end()
    send(gateway, device.name, "--title", "Waiting", "--id", waiting)
    send(gateway, device.name, "--title", "Later", "--id", later, "--in", "2s")
    for apns_id in [shown, waiting, later]:
        send(gateway, device.name, "--retract", apns_id)
    gateway.kill()
    gateway.restart()
    assert gateway.run("scheduled", "list", "--json").records == []
    last = send(gateway, device.name, "--title", "Last", "--in", "3s", "--json").json["apns_id"]
    stream = gateway.stream(device, cursor=push["seq"])
    assert stream.next("welcome")
    retracted = {stream.next("retract")["id"] for _ in range(3)}
    assert retracted == {shown, waiting, later}
    assert stream.next("caught-up")
    # What comes first is what was sent last.
    assert stream.next("push")["id"].lower() == last.lower()


def test_a_sender_elsewhere_takes_back_with_the_token_alone(start, tmp_path):
    gateway = start()
    device = gateway.device()
    topic = gateway.app()
    apns_id = gateway.accepted(device.token)
    common = ["--gateway", gateway.address, "--ca", gateway.trust, "--state", str(tmp_path / "none")]
    keyed = ["--key", gateway.key.path, "--key-id", gateway.key.key_id, "--team", gateway.key.team_id]
    target = ["--token", device.token, "--topic", TOPIC]
    # Another team's key, another topic, and a token that is none.
    other = gateway.new_key(team=gateway.run("teams", "add", "OTHERTEAM1") and "OTHERTEAM1")
    strange = ["--key", other.path, "--key-id", other.key_id, "--team", other.team_id]
    for arguments, code, reason in [
        ([*target, *strange], 5, "TopicDisallowed"),
        (["--token", device.token, "--topic", topic, *keyed], 5, "DeviceTokenNotForTopic"),
        (["--token", "ab" * 32, "--topic", TOPIC, *keyed], 5, "BadDeviceToken"),
    ]:
        done = run("send", "--retract", apns_id, *arguments, *common)
        assert (done.code, reason in done.err) == (code, True), (done.code, done.err)
    done = run("send", "--retract", apns_id, *target, *keyed, *common, "--json")
    assert (done.code, done.json["result"]) == (0, "retracted"), done.err
    gateway.run("devices", "unregister", device.name, TOPIC)
    done = run("send", "--retract", apns_id, *target, *keyed, *common)
    assert "Unregistered" in done.err and done.code != 0


def test_what_is_wrong_with_a_retraction_is_said(start):
    gateway = start()
    device = gateway.device()
    for options, words in [
        (["--retract", "x"], "a UUID"), (["--retract", str(uuid.uuid4()), "Hello"], "sends none"),
        (["--retract", str(uuid.uuid4()), "--title", "x"], "sends none"),
    ]:
        assert words in send(gateway, device.name, *options, code=2).err


def test_who_waits_for_a_push_hears_that_it_was_taken_back(start):
    import subprocess

    gateway = start()
    device = gateway.device()
    apns_id = str(uuid.uuid4())
    waiting = subprocess.Popen(
        [PUSHCLI, "send", "--state", str(gateway.state), "--to", f"{device.name}/{TOPIC}", "--title", "x", "--id", apns_id,
         "--wait", "viewed", "--timeout", "30s"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    gateway.events(apns_id, "stored")
    send(gateway, device.name, "--retract", apns_id)
    _, words = waiting.communicate(timeout=30)
    assert waiting.returncode == 3 and ("taken back" in words or "dropped" in words), words
