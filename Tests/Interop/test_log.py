"""The delivery log: looked up by either id, with the statuses of the real service's console (reference §9.1)."""

import subprocess

from gateway import PUSHCLI, TOPIC


def statuses(gateway, id):
    return [row["status"] for row in gateway.rows(id) if row.get("status")]


def until(gateway, id, status):
    return gateway.when(lambda: (found := statuses(gateway, id)) and status in found and found, status)


def test_a_push_is_looked_up_by_its_unique_id(gateway, connection):
    # One id for two devices: each push has a unique id of its own.
    mine, yours = gateway.device(), gateway.device()
    same = "6f9619ff-8b86-4011-b42d-00c04fc964ff"
    first = gateway.push(mine.token, connection=connection, apns_id=same)["apns-unique-id"]
    second = gateway.push(yours.token, connection=connection, apns_id=same)["apns-unique-id"]
    assert first != second
    gateway.when(lambda: len(gateway.rows(same)) == 4, "the rows of both")
    for unique, device in ((first, mine), (second, yours), (first.lower(), mine)):
        records = gateway.run("log", unique, "--json").records
        assert [record["event"] for record in records] == ["accepted", "stored"]
        assert {record["device"] for record in records} == {device.name}
        assert {record["id"] for record in records} == {same}
        assert records[0]["unique_id"] == unique.upper()
    assert len(gateway.run("log", same, "--json").records) == 4
    none = gateway.run("log", first, "--device", yours.name, "--json")
    assert none.records == [] and f"no rows of {first}" in none.err


def test_a_push_to_a_device_that_is_connected(gateway, device, connection):
    stream = gateway.stream(device)
    stream.caught_up()
    id = gateway.push(device.token, connection=connection)["apns-unique-id"]
    stream.acknowledge(stream.next("push")["seq"])
    assert until(gateway, id, "Delivered to Device") == ["Received by APNs", "Delivered to Device"]


def test_a_push_that_waits_for_its_device(gateway, device, connection):
    id = gateway.push(device.token, connection=connection)["apns-unique-id"]
    assert until(gateway, id, "Stored – Device Offline") == ["Received by APNs", "Stored – Device Offline"]
    stream = gateway.stream(device)
    [push] = stream.caught_up()
    stream.acknowledge(push["seq"])
    assert until(gateway, id, "Delivered to Device (From Storage)")[-1] == "Delivered to Device (From Storage)"


def test_a_push_whose_token_ends(gateway, device, connection):
    id = gateway.push(device.token, connection=connection)["apns-unique-id"]
    gateway.unregister(device.name, TOPIC)
    until(gateway, id, "Discarded – Token Unregistered (From Storage)")


def test_a_push_with_no_time_to_wait(gateway, device, connection):
    id = gateway.push(device.token, connection=connection, apns_expiration=0)["apns-unique-id"]
    assert until(gateway, id, "Discarded – Expired") == ["Received by APNs", "Discarded – Expired"]


def test_a_push_of_which_the_person_wants_nothing(gateway, connection):
    topic = gateway.app()
    device = gateway.device(topic=topic)
    gateway.prefer(device.name, "notifications=off", app=topic)
    stream = gateway.stream(device)
    stream.caught_up()
    id = gateway.push(device.token, connection=connection, topic=topic)["apns-unique-id"]
    stream.next("push")
    until(gateway, id, "Discarded – Disabled")


def test_events_can_be_chosen(gateway, device, connection):
    id = gateway.push(device.token, connection=connection)["apns-id"]
    gateway.events(id, "stored")
    chosen = gateway.run("log", id, "--event", "stored,dropped", "--json").records
    assert [record["event"] for record in chosen] == ["stored"]
    assert "unknown event \"gone\": expected one of accepted" in gateway.run("log", "--event", "gone", code=2).err
    [line] = gateway.run("log", id, "--event", "stored").out.splitlines()
    assert line.endswith("device offline  [Stored – Device Offline]")


def found(gateway, text, *options):
    return [record["text"] for record in gateway.run("log", "--text", text, "--json", *options).records]


def test_a_push_is_found_by_its_text(start):
    gateway = start()
    # A device of this state folder, as `pushcli subscribe` enrolls it.
    gateway.enroll("mine")
    token = gateway.register("mine", TOPIC)
    for title, body in (("Train in 5 Minutes", "Platform 4"), ("Mail", "A train of thought"), ("Lunch", "Soup")):
        gateway.accepted(token, {"aps": {"alert": {"title": title, "body": body}}})
    gateway.run("subscribe", "--device", "mine", "--json", "--count", "3")
    gateway.when(lambda: len(found(gateway, "train")) == 2 and found(gateway, "soup"), "all three")
    assert found(gateway, "TRAIN") == ["Train in 5 Minutes\nPlatform 4", "Mail\nA train of thought"]
    assert found(gateway, "platform 4", "--device", "mine") == ["Train in 5 Minutes\nPlatform 4"]
    assert "“Lunch – Soup”" in gateway.run("log", "--text", "soup").out
    # Not by whoever else may read the log, until the person says so.
    assert all("text" not in record for record in gateway.run("log", "--device", "mine", "--json").records)
    gateway.run("prefs", "set", "--device", "mine", "log-text=senders")
    gateway.accepted(token, {"aps": {"alert": "Dinner"}})
    gateway.run("subscribe", "--device", "mine", "--json", "--once")
    texts = gateway.when(
        lambda: [record["text"] for record in gateway.run("log", "--device", "mine", "--json").records if "text" in record],
        "from then on")
    assert texts == ["\nDinner"] and len(found(gateway, "train")) == 2
    # What was kept goes with the choice, and does not come back.
    for choice in ("off", "senders"):
        gateway.run("prefs", "set", "--device", "mine", f"log-text={choice}")
    assert found(gateway, "train") == []
    assert not any(b"Platform 4" in path.read_bytes() for path in gateway.state.glob("delivery-log*"))


def test_texts_of_others_are_found_where_they_let_senders(start):
    gateway = start()
    device = gateway.device()
    # It belongs to somebody elsewhere: nobody here has its secret.
    (gateway.state / "devices" / f"{device.name}.json").unlink()

    def send(text):
        id = gateway.accepted(device.token, {"aps": {"alert": text}})
        stream = gateway.stream(device)
        stream.acknowledge(stream.caught_up()[-1]["seq"])
        gateway.events(id, "acknowledged")
        stream.connection.close()
    send("first words")
    assert found(gateway, "words") == []
    choice = {"settings": ["log-text=senders"]}
    refused = gateway.admin("POST", "devices", device.name, "preferences", body=choice, status=403)
    assert "a device of the user" in refused["detail"]
    gateway.ask("POST", "/v1/device/preferences", choice, secret=device.secret)
    send("second words")
    assert found(gateway, "words") == ["\nsecond words"]
    gateway.run("persons", "remove", device.name)
    assert found(gateway, "words") == []


def test_the_log_shows_local_time(gateway, device, connection):
    id = gateway.push(device.token, connection=connection)["apns-id"]
    gateway.events(id, "stored")
    [utc, _] = [record["at"] for record in gateway.run("log", id, "--json").records]
    assert gateway.run("log", id, "--utc").out.startswith(utc)
    hour = (int(utc[11:13]) + 14) % 24
    assert gateway.run("log", id, env={"TZ": "Pacific/Kiritimati"}).out[11:13] == f"{hour:02}"


def test_following_begins_with_ten_rows(start):
    gateway = start()
    device = gateway.device()
    with gateway.connect() as connection:
        ids = [gateway.accepted(device.token, connection=connection) for _ in range(12)]
    gateway.when(lambda: len(gateway.rows()) == 24, "all rows")
    follow = subprocess.Popen(
        [PUSHCLI, "log", "--follow", "--event", "accepted", "--state", str(gateway.state)], stdout=subprocess.PIPE, text=True)
    try:
        assert [follow.stdout.readline().split()[3] for _ in range(10)] == ids[2:]
    finally:
        follow.kill()
        follow.wait()


def test_a_search_that_can_not_be_is_usage(gateway):
    assert "--text" in gateway.run("log", "--text", "x", "--follow", code=2).err
    assert "--text is empty" in gateway.run("log", "--text", "", code=2).err


def test_a_refused_push_has_a_row_with_the_answer_and_its_sender(gateway, device, connection):
    same = "6f9619ff-8b86-4011-b42d-00c04fc964fe"
    refused = gateway.push(device.token, connection=connection, apns_id=same, apns_priority=7)
    assert (refused.status, refused.reason) == (400, "BadPriority")
    [row] = gateway.when(lambda: gateway.rows(same), "the row of the refusal")
    assert (row["event"], row["device"], row["topic"]) == ("refused", device.name, TOPIC)
    assert row["details"] == {
        "status": 400, "reason": "BadPriority", "topic": TOPIC, "key_id": gateway.key.key_id, "team_id": gateway.key.team_id}
    assert gateway.push("0" * 64, connection=connection, topic="com.example.none").status == 400
    shown = "com.example.none  400 BadDeviceToken, key " + gateway.key.key_id
    gateway.when(lambda: shown in gateway.run("log", "--event", "refused").out, "the row of the next")


def test_a_push_without_a_valid_token_has_a_row_too(gateway, device, connection):
    path, nobody = "/3/device/" + device.token, [("apns-topic", TOPIC)]
    assert connection.request("POST", path, nobody, body=b"{}").status == 403
    # Neither is a push.
    connection.request("GET", path, nobody)
    connection.request("POST", "/3/devices/x", nobody, body=b"{}")
    gateway.accepted(device.token, connection=connection)
    rows = gateway.when(lambda: (found := gateway.rows(device=device.name))[-1:] and found[-1]["event"] == "stored"
                        and found, "the push that was accepted")
    assert [row["details"] for row in rows if row["event"] == "refused"] == [
        {"status": 403, "reason": "MissingProviderToken", "topic": TOPIC}]
