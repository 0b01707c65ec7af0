"""What several people share: pushes that senders take back, groups, and channels that are read by a link."""

import json
import re
import subprocess
import uuid

from gateway import PUSHCLI, TOPIC, run
from machines import machine  # noqa: F401
from screen import Screen, needs_tmux
from waiting import HANG


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
        assert "retracted" in done.err
        for screen in screens:
            screen.drops("Fire Drill")
            screen.press("c")
            screen.drops("Fire Drill")
        # Once more is no error, and a script is told.
        again = send(gateway, devices[1].name, "--retract", apns_id, "--json").json
        assert again == {"result": "already", "apns_id": apns_id}
        unknown = send(gateway, away.name, "--retract", str(uuid.uuid4()), "--json", code=3).json
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
    stream = gateway.stream(device, cursor=push["seq"])
    assert stream.next("welcome")
    retracted = {stream.next("retract")["id"] for _ in range(3)}
    assert retracted == {shown, waiting, later}
    assert stream.next("caught-up")
    last = send(gateway, device.name, "--title", "Last", "--in", "3s", "--json").json["apns_id"]
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
    other = gateway.new_key(team=gateway.add_team("OTHERTEAM1"))
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
    gateway.unregister(device.name, TOPIC)
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
    gateway = start()
    device = gateway.device()
    apns_id = str(uuid.uuid4())
    waiting = subprocess.Popen(
        [PUSHCLI, "send", "--state", str(gateway.state), "--to", f"{device.name}/{TOPIC}", "--title", "x", "--id", apns_id,
         "--wait", "viewed", "--timeout", f"{HANG}s"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    gateway.events(apns_id, "stored")
    send(gateway, device.name, "--retract", apns_id)
    _, words = waiting.communicate(timeout=HANG)
    assert waiting.returncode == 3 and ("retracted" in words or "dropped" in words), words


# Groups


def team(gateway, *members, name=None):
    """A group of persons, each with a device that is registered, and its token."""
    name = name or f"ops-{uuid.uuid4().hex[:6]}"
    devices = {member: gateway.device(person=f"{member}-{uuid.uuid4().hex[:6]}") for member in members}
    people = {row["name"]: row for row in gateway.devices()}
    persons = {member: people[device.name]["person"] for member, device in devices.items()}
    gateway.run("groups", "add", name, *persons.values())
    token = gateway.run("groups", "register", name, TOPIC).out.strip()
    assert len(token) == 64 and int(token, 16) >= 0
    return name, token, devices, persons


@needs_tmux
def test_one_of_a_group_answers_for_all_of_it(start):
    gateway = start()
    name, _, devices, persons = team(gateway, "anna", "ben")
    screens = {member: phone(gateway, device) for member, device in devices.items()}
    try:
        for screen in screens.values():
            screen.shows("News")
        question = subprocess.Popen(
            [PUSHCLI, "ask", "--state", str(gateway.state), "--to", f"{name}/{TOPIC}", "--title", "Restart the Database?",
             "--action", "yes=Restart", "--timeout", f"{HANG}s", "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for screen in screens.values():
            screen.shows("Restart the Database?", "Restart ")
        screens["anna"].press("v")
        out, err = question.communicate(timeout=HANG)
        for screen in screens.values():
            screen.drops("├")
        answer = json.loads(out)
        assert answer["outcome"] == "answered" and answer["device"] == devices["anna"].name, (out, err)
        screens["ben"].press("2")
        screens["ben"].shows("Restart the Database?", f"Answered “Restart” by {persons['anna']}")
    finally:
        for screen in screens.values():
            screen.close()


def test_a_later_answer_of_a_group_comes_too_late_also_over_a_kill(start):
    gateway = start()
    name, token, devices, persons = team(gateway, "anna", "ben", "cleo")
    gateway.run("apps", "category", TOPIC, "DEPLOY", "--action", "approve=Approve", "--action", "deny=Deny")
    question = {"aps": {"alert": {"title": "Deploy?"}, "category": "DEPLOY"}}
    apns_id = gateway.accepted(token, question)
    streams = {member: gateway.stream(devices[member]) for member in ["anna", "ben"]}
    for stream in streams.values():
        assert stream.next("welcome") and stream.next("push")["id"] == apns_id
        stream.next("caught-up")
    # Who closes it has not answered for the others.
    streams["anna"].say(type="answer", id=apns_id, action="close")
    assert streams["anna"].next("answered")["action"] == "close"
    streams["ben"].say(type="answer", id=apns_id, action="approve")
    assert streams["ben"].next("answered")["action"] == "approve"
    assert streams["anna"].next("retract") == {
        "type": "retract", "id": apns_id, "action": "approve", "person": persons["ben"]}
    gateway.events(apns_id, "action")
    # The mailbox writes in order: when the next push is accepted, the removal of cleo's question is on disk.
    gateway.accepted(devices["ben"].token)
    gateway.kill()
    gateway.restart()
    # Who was away is not asked any more; should they have it all the same, they come too late.
    cleo = gateway.stream(devices["cleo"])
    assert not any(line["type"] == "push" for line in cleo.caught_up())
    again = gateway.stream(devices["anna"], cursor=1)
    again.caught_up()
    again.say(type="answer", id=apns_id, action="deny")
    assert again.next("answered")["action"] in ("approve", "close")
    actions = [event for event in gateway.events(apns_id, "action") if event["event"] == "action"]
    assert [(event["device"], event["detail"]) for event in actions] == [(devices["ben"].name, "approve")], str(actions)


def test_a_group_is_addressed_as_a_device_is(start):
    gateway = start()
    name, token, devices, persons = team(gateway, "anna", "ben")
    again = gateway.run("groups", "register", name, TOPIC).out.strip()
    assert again == token
    assert gateway.run("groups", "--json").records == [{"name": name, "members": 2, "topics": [TOPIC]}]
    shown = gateway.run("groups", "show", name, "--json").json
    assert [member["person"] for member in shown["members"]] == list(persons.values())
    # Names are taken once.
    assert "group" in gateway.run("devices", "enrol", name, code=1).err
    assert "device" in gateway.run("groups", "add", devices["anna"].name, code=1).err
    # By name, collapsed, and later.
    for title in ["First", "Second"]:
        send(gateway, name, "--title", title, "--collapse-id", "x")
    # A push that is due much later is in the list, however long it takes to ask for that.
    far = send(gateway, name, "--title", "Far", "--in", "1h", "--json").json["apns_id"]
    assert [row["device"] for row in gateway.run("scheduled", "list", "--json").records] == [name]
    gateway.run("scheduled", "cancel", far)
    later = send(gateway, name, "--title", "Later", "--in", "1s", "--json").json["apns_id"]
    gateway.events(later, "stored")
    for device in devices.values():
        titles = [line["payload"]["aps"]["alert"]["title"] for line in gateway.stream(device).caught_up()
                  if line["type"] == "push"]
        assert titles == ["Second", "Later"]
    # A sender takes it back from all.
    assert send(gateway, name, "--retract", later, "--json").json["result"] == "retracted"
    for device in devices.values():
        assert [line["id"].lower() for line in gateway.stream(device, cursor=9).caught_up() if line["type"] == "retract"] == [
            later.lower()]
    # Members leave, and with the person, too.
    gateway.run("groups", "remove", name, persons["ben"])
    gateway.run("persons", "remove", persons["anna"])
    assert gateway.run("groups", "show", name, "--json").json["members"] == []
    nobody = gateway.accepted(token)
    assert "no member" in [event for event in gateway.events(nobody, "dropped") if event["event"] == "dropped"][0]["detail"]
    done = send(gateway, name, "--title", "x", "--wait", "acknowledged", code=3)
    assert "dropped" in done.err
    gateway.run("groups", "unregister", name, TOPIC)
    response = gateway.push(token)
    assert response.status == 410 and json.loads(response.body)["timestamp"] > 0
    other = gateway.run("groups", "register", name, TOPIC).out.strip()
    assert other != token
    gateway.run("groups", "remove", name)
    assert gateway.push(other).status == 410
    gateway.kill()
    gateway.restart()
    assert gateway.push(other).status == 410 and gateway.push(token).status == 410
    assert gateway.run("groups", "--json").records == []


def test_each_member_of_a_group_has_choices(start):
    gateway = start()
    name, token, devices, _ = team(gateway, "anna", "ben")
    gateway.prefer(devices["ben"].name, "alert=off")
    apns_id = gateway.accepted(token)
    parts = {}
    for member, device in devices.items():
        push = next(line for line in gateway.stream(device).caught_up() if line["type"] == "push")
        parts[member] = "alert" in push["presentation"]
        assert push["id"] == apns_id
    assert parts == {"anna": True, "ben": False}
    waiting = subprocess.Popen(
        [PUSHCLI, "send", "--state", str(gateway.state), "--to", f"{name}/{TOPIC}", "--title", "x", "--wait", "viewed",
         "--timeout", f"{HANG}s"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    sent = waiting.stdout.readline().strip()
    stream = gateway.stream(devices["anna"])
    stream.caught_up()
    stream.say(type="answer", id=sent, action="view")
    _, words = waiting.communicate(timeout=HANG)
    # It shows who.
    assert waiting.returncode == 0 and devices["anna"].name in words.splitlines()[-1], words


# Channels that several people read by one link


LINK = re.compile(r"^[0-9A-Z]{4}(-[0-9A-Z]{4}){9}-[0-9A-Z]{2}@\S+$")


def share(gateway, channel, *options) -> str:
    link = gateway.run("channels", "share", channel, "--host", f"localhost:{gateway.port}", *options).out.strip()
    assert LINK.match(link), link
    return link


def channel_of(gateway, *options) -> str:
    return gateway.run("channels", "create", TOPIC, "--store", *options).out.strip()


def shares(gateway):
    return gateway.run("channels", "shares", "--json").records


def broadcast(gateway, channel, title):
    gateway.run("send", "--channel", channel, "--topic", TOPIC, "--expires", "1h", "-",
                stdin=json.dumps({"aps": {"event": "update", "content-state": {"score": title}}}))


def heard(machine):
    push = machine.run("subscribe", "--json", "--once").json
    return push["channel"], push["payload"]["aps"]["content-state"]["score"]


def test_two_people_on_two_machines_read_a_channel_by_one_link(start, machine):
    gateway = start()
    channel = channel_of(gateway)
    done = gateway.run("channels", "share", channel, "--host", f"localhost:{gateway.port}", "--uses", "3")
    link = done.out.strip()
    assert LINK.match(link) and f"for {TOPIC}, 3 devices, within 30 days" in done.err, done.err
    listed = shares(gateway)
    assert [(row["channel"], row["topic"], row["uses"]) for row in listed] == [(channel, TOPIC, 3)]
    assert [row["id"] for row in gateway.run("devices", "invitations", "--json").records] == [listed[0]["id"]]
    anna, ben = machine("anna"), machine("ben")
    words = anna.run("join", link, "--device", "anna").err
    assert f"joined localhost:{gateway.port} as anna, a device of anna, reads the channel {channel} of {TOPIC}" in words
    assert "pushcli subscribe\n" in words
    joined = ben.run("join", link, "--device", "ben", "--person", "Ben", "--json").json
    assert joined == {"gateway": f"localhost:{gateway.port}", "context": "localhost", "device": "ben", "person": "Ben",
                      "role": "device", "channel": channel, "topic": TOPIC, "known": False}
    broadcast(gateway, channel, "1:0")
    assert heard(anna) == heard(ben) == (channel, "1:0")
    # Who has joined a channel administers nothing.
    assert "login" in anna.run("devices", code=4).err
    # Without a name, a machine that is called as another takes the next one; then the link is used up.
    names = {row["name"] for row in gateway.devices()}
    assert machine("cleo").run("join", link, "--json").json["device"] not in names
    assert shares(gateway) == []
    dora = machine("dora")
    assert "used" in dora.run("join", link, "--device", "dora", code=4).err
    assert not (dora.home / ".local/share/pushgateway/contexts/localhost").exists()
    gateway.run("persons", "remove", "Ben")
    assert next(row for row in gateway.run("channels", "--json").records if row["id"] == channel)["subscriptions"] == 2


def test_machines_of_one_name_join_by_one_link(start, machine):
    gateway = start()
    link = share(gateway, channel_of(gateway))
    joined = [machine(name).run("join", link, "--json").json for name in ("one", "two")]
    assert joined[1]["device"] == joined[0]["device"] + "-2" and joined[0]["person"] != joined[1]["person"]


def test_a_link_that_was_taken_back_is_good_no_longer(start, machine):
    gateway = start()
    channel, other = channel_of(gateway), channel_of(gateway)
    link, gone = share(gateway, channel), share(gateway, other)
    machine("anna").run("join", link, "--device", "anna")
    id = next(row["id"] for row in shares(gateway) if row["channel"] == channel)
    assert f"took back link {id}" in gateway.run("channels", "unshare", id).err
    assert "there is no link" in gateway.run("channels", "unshare", id, code=3).err
    ben = machine("ben")
    assert "unknown, used or expired" in ben.run("join", link, "--device", "ben", code=4).err
    # Who has joined stays; a link goes with its channel.
    assert gateway.run("channels", "list", "--device", "anna", "--json").json["id"] == channel
    gateway.run("channels", "delete", other)
    assert shares(gateway) == []
    assert "unknown, used or expired" in ben.run("join", gone, "--device", "ben", code=4).err
    assert "there is no channel" in gateway.run("channels", "share", other, "--host", "localhost", code=3).err
    for options in (["--days", "0"], ["--days", "366"], ["--uses", "1"], ["--uses", "1000001"]):
        assert options[0] in gateway.run("channels", "share", channel, *options, code=2).err


def test_who_has_a_device_joins_without_another(start, machine):
    gateway = start()
    channel, second = channel_of(gateway), channel_of(gateway)
    link = share(gateway, channel, "--uses", "5")
    laptop = machine("laptop")
    laptop.join(gateway, person="ada")
    words = laptop.run("join", link).err
    assert f"laptop, which this machine is at localhost:{gateway.port} already, reads the channel {channel} of {TOPIC}\n" in words
    assert shares(gateway)[0]["uses"] == 4
    # The same device once more: nothing changes, over a kill, too.
    gateway.kill()
    gateway.restart()
    again = laptop.run("join", link, "--json").json
    assert (again["device"], again["channel"], again["known"]) == ("laptop", channel, True)
    assert "as before" in laptop.run("join", link, "--device", "laptop").err
    assert shares(gateway)[0]["uses"] == 4
    assert [row["name"] for row in gateway.devices()] == ["laptop"]
    broadcast(gateway, channel, "2:1")
    assert heard(laptop) == (channel, "2:1")
    # Another device only by another name.
    assert laptop.run("join", link, "--device", "laptop-b", "--json").json["person"] == "laptop-b"
    assert shares(gateway)[0]["uses"] == 3
    other = share(gateway, second)
    assert "name the device with --device: there are laptop, laptop-b" in laptop.run("join", other, code=2).err
    laptop.run("join", other, "--device", "laptop")
    # A code that is wrong by a character, and a device that was removed.
    place = link.index("@") - 1
    wrong = link[:place] + ("X" if link[place] != "X" else "Y") + link[place + 1:]
    assert "this link is unknown, used up, revoked or expired" in laptop.run("join", wrong, "--device", "laptop", code=4).err
    gateway.run("devices", "remove", "laptop")
    assert "is no longer known to localhost" in laptop.run("join", link, "--device", "laptop", code=4).err


def test_a_link_of_somebody_elses_gateway_gets_no_secret(start, machine):
    ours, theirs = start(name="ours"), start(name="theirs")
    laptop = machine("laptop")
    laptop.join(ours)
    link = share(theirs, channel_of(theirs)).split("@")[0] + f"@localhost:{ours.port}"
    assert "is not the gateway of this code" in laptop.run("join", link, code=6).err
