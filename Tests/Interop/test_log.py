"""The delivery log: looked up by either id, with the statuses of the real service's console (reference §9.1)."""


from gateway import TOPIC, poll


def statuses(gateway, id):
    return [record["status"] for record in gateway.run("log", id, "--json").records if record.get("status")]


def until(gateway, id, status):
    return poll(lambda: (found := statuses(gateway, id)) and status in found and found, status)


def test_a_push_is_looked_up_by_its_unique_id(gateway, connection):
    # One id for two devices: each push has a unique id of its own.
    mine, yours = gateway.device(), gateway.device()
    same = "6f9619ff-8b86-4011-b42d-00c04fc964ff"
    first = gateway.push(mine.token, connection=connection, apns_id=same)["apns-unique-id"]
    second = gateway.push(yours.token, connection=connection, apns_id=same)["apns-unique-id"]
    assert first != second
    for unique, device in ((first, mine), (second, yours), (first.lower(), mine)):
        records = gateway.run("log", unique, "--json").records
        assert [record["event"] for record in records] == ["accepted", "stored"]
        assert {record["device"] for record in records} == {device.name}
        assert {record["id"] for record in records} == {same}
        assert records[0]["unique_id"] == unique.upper()
    assert len(gateway.run("log", same, "--json").records) == 4
    assert gateway.run("log", first, "--device", yours.name, "--json").records == []


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
    gateway.run("devices", "unregister", device.name, TOPIC)
    until(gateway, id, "Discarded – Token Unregistered (From Storage)")


def test_a_push_with_no_time_to_wait(gateway, device, connection):
    id = gateway.push(device.token, connection=connection, apns_expiration=0)["apns-unique-id"]
    assert until(gateway, id, "Discarded – Expired") == ["Received by APNs", "Discarded – Expired"]


def test_a_push_of_which_the_person_wants_nothing(gateway, connection):
    topic = gateway.app()
    device = gateway.device(topic=topic)
    gateway.run("prefs", "set", "--device", device.name, "--app", topic, "notifications=off")
    stream = gateway.stream(device)
    stream.caught_up()
    id = gateway.push(device.token, connection=connection, topic=topic)["apns-unique-id"]
    stream.next("push")
    until(gateway, id, "Discarded – Disabled")


def test_events_can_be_chosen(gateway, device, connection):
    id = gateway.push(device.token, connection=connection)["apns-id"]
    poll(lambda: len(gateway.run("log", id, "--json").records) == 2, "both rows")
    chosen = gateway.run("log", id, "--event", "stored,dropped", "--json").records
    assert [record["event"] for record in chosen] == ["stored"]
    assert "is no event; there are accepted" in gateway.run("log", "--event", "lost", code=1).err
    [line] = gateway.run("log", id, "--event", "stored").out.splitlines()
    assert line.endswith("device offline  [Stored – Device Offline]")
