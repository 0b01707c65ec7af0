"""Broadcasts and their channels, over real connections (reference §8)."""

import base64
import contextlib
import json
import resource
import time
import uuid

import pytest

from gateway import TOPIC
from waiting import eventually, passes
from test_wire import ERROR, UUID

UPDATE = {"aps": {"timestamp": 1700000000, "event": "update", "content-state": {"minute": 5}}}
HOUR = 3600


class Sender:
    """What a sender knows of one app's channels."""

    def __init__(self, gateway, topic=TOPIC, **connection):
        self.gateway, self.topic = gateway, topic
        self.connection = gateway.connect(**connection)

    def fields(self, **more):
        fields = {"authorization": self.gateway.bearer(more.pop("key", None))} | more
        return [(name.replace("_", "-"), str(value)) for name, value in fields.items() if value is not None]

    def call(self, method, what, body=b"", **more):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.connection.request(method, f"/1/apps/{self.topic}/{what}", self.fields(**more), body)

    def create(self, policy=1, **more):
        response = self.call("POST", "channels", {"message-storage-policy": policy, "push-type": "LiveActivity"}, **more)
        assert response.status == 201, response.body
        return response["apns-channel-id"]

    def send(self, channel, payload=UPDATE, *, path=None, extra=(), **more):
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        fields = {"apns_channel_id": channel, "apns_push_type": "liveactivity", "apns_expiration": "0"} | more
        path = f"/4/broadcasts/apps/{self.topic}" if path is None else path
        return self.connection.request("POST", path, self.fields(**fields) + list(extra), body)

    def sent(self, channel, payload=UPDATE, **more):
        response = self.send(channel, payload, **more)
        assert response.status == 200, response.body
        return response["apns-request-id"]


@pytest.fixture
def sender(gateway):
    sender = Sender(gateway)
    yield sender
    sender.connection.close()


def later(seconds=HOUR):
    return int(time.time()) + seconds


def subscribe(gateway, channel, *devices):
    gateway.admin("POST", "channels", channel, "subscriptions", body={"devices": [device.name for device in devices]})


@contextlib.contextmanager
def refusing_disk(gateway):
    """A gateway whose files can't grow; it may be killed meanwhile."""
    resource.prlimit(gateway.process.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    yield
    with contextlib.suppress(AttributeError, ProcessLookupError):
        resource.prlimit(gateway.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def listed(gateway, channel):
    [record] = [record for record in gateway.run("channels", "list", "--json").records if record["id"] == channel]
    return record


# Channels


def test_the_life_of_a_channel(gateway, sender):
    made = sender.call("POST", "channels", {"message-storage-policy": 1, "push-type": "LiveActivity"})
    assert made.status == 201 and made.shape == ["HEADERS+END_STREAM"] and UUID.fullmatch(made["apns-request-id"])
    channel = made["apns-channel-id"]
    assert len(channel) == 24 and len(base64.b64decode(channel, validate=True)) == 16 and made["apns-id"] is None
    read = sender.call("GET", "channels", apns_channel_id=channel)
    assert (read.status, read.body) == (200, b'{"message-storage-policy":1,"push-type":"LiveActivity"}')
    assert read.shape == ["HEADERS", "DATA+END_STREAM"]
    assert channel in sender.call("GET", "all-channels").json["channels"]
    deleted = sender.call("DELETE", "channels", apns_channel_id=channel)
    assert deleted.status == 204 and deleted.shape == ["HEADERS+END_STREAM"]
    assert channel not in sender.call("GET", "all-channels").json["channels"]
    gone = sender.call("GET", "channels", apns_channel_id=channel)
    assert (gone.status, gone.reason, gone.shape) == (404, "BadPath", ERROR)


def test_a_request_id_comes_back_as_it_was_sent(sender):
    for name in ("apns-request-id", "apns-id"):
        mine = str(uuid.uuid4())
        response = sender.connection.request(
            "GET", f"/1/apps/{TOPIC}/all-channels", sender.fields() + [(name, mine)])
        assert response["apns-request-id"] == mine
    refused = sender.send("nothing", apns_request_id="6f9619ff-8b86-4011-b42d-00c04fc964FF")
    assert refused.status == 400 and refused["apns-request-id"] == "6f9619ff-8b86-4011-b42d-00c04fc964FF"


def test_apnswift_lists_by_its_own_path_and_reads_json_from_every_answer(sender):
    own = {"user-agent": "APNS/swift-nio", "content-type": "application/json"}
    for body in [{"message-storage-policy": 1}, {"message-storage-policy": 1, "push-type": "LiveActivity"}]:
        made = sender.call("POST", "channels", body, **own)
        assert made.status == 201
        channel = made.json.pop("channel-id")
        assert channel == made["apns-channel-id"]
        assert made.json == {"channel-id": channel, "message-storage-policy": 1, "push-type": "LiveActivity"}
        listed = sender.call("GET", "channels", **own)
        assert listed.status == 200 and channel in listed.json["channels"]
        escaped = channel.replace("+", "%2B").replace("/", "%2F")
        for path, more in [("channels", {"apns_channel_id": channel}), (f"channels/{escaped}", {})]:
            read = sender.call("GET", path, **more, **own)
            assert (read.status, read.json) == (200, made.json)
        deleted = sender.call("DELETE", f"channels/{escaped}", **own)
        assert (deleted.status, deleted.json) == (200, {})
        assert channel not in sender.call("GET", "channels", **own).json["channels"]
    assert sender.call("POST", "channels", {"message-storage-policy": 1, "push-type": "alert"}, **own).reason == "InvalidPushType"


def test_the_other_librarys_paths_are_served_too(sender):
    channel = sender.create()
    escaped = channel.replace("+", "%2B").replace("/", "%2F")
    assert sender.call("GET", f"channels/{escaped}").status == 200
    assert sender.call("GET", f"channels/{channel}").status == 200
    assert sender.call("DELETE", f"channels/{channel}").status == 204


def test_channels_outlive_a_restart_and_so_does_that_one_was_deleted(start):
    gateway = start()
    sender = Sender(gateway)
    kept, deleted = sender.create(policy=0), sender.create()
    sender.call("DELETE", "channels", apns_channel_id=deleted)
    sender.connection.close()
    gateway.kill()
    gateway.restart()
    sender = Sender(gateway)
    assert sender.call("GET", "all-channels").json == {"channels": [kept]}
    assert sender.call("GET", "channels", apns_channel_id=kept).json["message-storage-policy"] == 0
    assert sender.send(deleted).reason == "ChannelNotRegistered"
    sender.connection.close()


def test_environments_have_their_own_channels(start):
    gateway = start("--listen", "127.0.0.1:0=production")
    development, production = Sender(gateway), Sender(gateway, listener=1)
    channel = development.create()
    assert production.call("GET", "all-channels").json == {"channels": []}
    assert production.send(channel).reason == "BadChannelId"
    assert development.send(channel)["apns-unique-id"] and not production.send(production.create())["apns-unique-id"]


def test_a_listener_for_channels_serves_nothing_else(start):
    gateway = start("--listen", "127.0.0.1:0=production+channels")
    device = gateway.device()
    manage = Sender(gateway, listener=1)
    channel = manage.create()
    assert listed(gateway, channel)["environment"] == "production"
    for path in (f"/3/device/{device.token}", f"/4/broadcasts/apps/{TOPIC}", "/v1/health", "/"):
        response = manage.connection.request("POST", path, manage.fields(), b"{}")
        assert (response.status, response.reason) == (404, "BadPath"), path
    bare = manage.connection.request("GET", f"/1/apps/{TOPIC}/all-channels")
    assert (bare.status, bare.reason) == (403, "MissingProviderToken")
    # What looks for the gateway finds the listener that serves everything.
    assert gateway.run("send", "--to", f"{device.name}/{TOPIC}", "--title", "Hello").code == 0


def test_ten_thousand_channels_an_app(gateway):
    topic = gateway.app()
    sender = Sender(gateway, topic)
    gateway.run("channels", "create", topic, "--count", 9_999)
    last = sender.create()
    full = sender.call("POST", "channels", {"message-storage-policy": 0, "push-type": "LiveActivity"})
    assert (full.status, full.reason, full.shape) == (400, "CannotCreateChannelConfig", ERROR)
    channels = sender.call("GET", "all-channels").json["channels"]
    assert len(channels) == len(set(channels)) == 10_000 and channels[-1] == last
    sender.call("DELETE", "channels", apns_channel_id=last)
    sender.create()
    sender.connection.close()


# Delivery


def test_a_broadcast_reaches_all_who_subscribe_and_nobody_else(gateway, sender):
    channel = sender.create(policy=0)
    devices = [gateway.device() for _ in range(3)]
    other = gateway.device()
    subscribe(gateway, channel, *devices)
    streams = [gateway.stream(device) for device in devices]
    bystander = gateway.stream(other)
    for stream in [*streams, bystander]:
        assert stream.caught_up() == []
    request = sender.sent(channel)
    for stream in streams:
        push = stream.next("push")
        assert (push["seq"], push["channel"], push["number"], push["topic"]) == (0, channel, 0, TOPIC)
        assert push["id"] == request and push["payload"] == UPDATE
    assert bystander.quiet() == []
    assert (listed(gateway, channel)["subscriptions"], listed(gateway, channel)["connected"]) == (3, 3)
    names = {one.name for one in devices}

    def transmitted():
        return {row["device"] for row in gateway.rows(request) if row["event"] == "transmitted"}

    # Each event loop hands over its own rows, some time after it has written the pushes.
    gateway.when(lambda: names <= transmitted(), "the rows of all three devices")
    assert transmitted() == names


def test_without_storage_whoever_is_not_connected_misses_it(gateway, sender, device):
    channel = sender.create(policy=0)
    subscribe(gateway, channel, device)
    sender.sent(channel)
    stream = gateway.stream(device)
    assert stream.caught_up() == [] and stream.quiet() == []


def test_with_storage_the_most_recent_message_waits_until_it_is_acknowledged(gateway, sender, device):
    channel = sender.create(policy=1)
    subscribe(gateway, channel, device)
    for minute in (1, 2, 3):
        sender.sent(channel, {"aps": {"content-state": {"minute": minute}}}, apns_expiration=later())
    for _ in range(2):
        stream = gateway.stream(device)
        push = next(line for line in iter(stream.next, None) if line["type"] == "push")
        assert (push["number"], push["payload"]["aps"]["content-state"]["minute"]) == (3, 3)
        stream.connection.close()
    stream = gateway.stream(device)
    push = next(line for line in iter(stream.next, None) if line["type"] == "push")
    stream.say(type="ack", channel=channel, number=3)
    events = gateway.events(push["id"], "acknowledged")
    assert [event["detail"] for event in events if event["event"] == "acknowledged"] == ["from storage"]
    stream.connection.close()
    stream = has_nothing(gateway, device)
    # The next one comes.
    sender.sent(channel, apns_expiration=later())
    assert stream.next("push")["number"] == 4


def has_nothing(gateway, device):
    """A stream that brings nothing; in a cell, once the other gateway has heard of what was acknowledged here."""

    def opened():
        stream = gateway.stream(device)
        if stream.caught_up() == [] and stream.quiet() == []:
            return stream
        stream.connection.close()
        assert gateway.is_cell
        return None

    return eventually(opened, "nothing is due")


def test_a_device_cannot_acknowledge_what_it_was_not_sent(gateway, sender, device):
    channel = sender.create()
    subscribe(gateway, channel, device)
    stream = gateway.stream(device)
    stream.say(type="ack", channel=channel, number=7)
    stream.say(type="ack", channel="nonsense", number=7)
    stream.caught_up()
    sender.sent(channel, apns_expiration=later())
    assert stream.next("push")["number"] == 1


def test_what_was_answered_200_is_there_after_kill_minus_nine(start, device):
    gateway = start()
    device = gateway.device()
    sender = Sender(gateway)
    channel = sender.create()
    subscribe(gateway, channel, device)
    sender.sent(channel, apns_expiration=later())
    gateway.kill()
    gateway.restart()
    stream = gateway.stream(device)
    push = next(line for line in iter(stream.next, None) if line["type"] == "push")
    assert (push["channel"], push["number"], push["payload"]) == (channel, 1, UPDATE)


def test_numbers_go_on_after_refused_writes_and_kill_minus_nine(start):
    """No number is used twice, and no message that was answered 200 is lost, where the disk takes nothing in between."""
    gateway = start()
    device = gateway.device()
    sender = Sender(gateway)
    channel = sender.create()
    subscribe(gateway, channel, device)
    number = 0
    for round in range(3):
        sender = Sender(gateway)
        sender.sent(channel, {"aps": {"event": "update"}, "round": round}, apns_expiration=later())
        number += 1
        with refusing_disk(gateway):
            response = sender.send(channel, apns_expiration=later())
            assert (response.status, response.reason) == (503, "ServiceUnavailable")
            gateway.kill()
        gateway.restart()
        stream = gateway.stream(device)
        push = next(line for line in iter(stream.next, None) if line["type"] == "push")
        assert (push["number"], push["payload"]["round"]) == (number, round)
        stream.connection.close()


def test_a_stored_message_ends_with_its_expiration(gateway, sender, device):
    channel = sender.create()
    subscribe(gateway, channel, device)
    sender.sent(channel, apns_expiration=later(1))
    passes(later(1))
    stream = gateway.stream(device)
    assert stream.caught_up() == [] and stream.quiet() == []


def test_expiration_0_replaces_nothing_that_is_stored(gateway, sender, device):
    channel = sender.create()
    subscribe(gateway, channel, device)
    stored = sender.sent(channel, apns_expiration=later())
    sender.sent(channel, {"aps": {"event": "end"}})
    stream = gateway.stream(device)
    push = next(line for line in iter(stream.next, None) if line["type"] == "push")
    assert push["id"] == stored
    stream.connection.close()


def test_a_connected_device_joins_and_leaves_while_its_stream_is_open(gateway, sender, device):
    channel = sender.create()
    sender.sent(channel, apns_expiration=later())
    stream = gateway.stream(device)
    stream.caught_up()
    # The device's own API; a new subscriber gets the most recent message.
    path = "/v1/device/channels/" + channel.replace("/", "%2F").replace("+", "%2B")
    own = [("authorization", f"bearer {device.secret}")]
    assert sender.connection.request("PUT", path, own).status == 204
    assert stream.next("push")["number"] == 1
    assert sender.connection.request("GET", "/v1/device/channels", own).json == {"channels": [channel]}
    sender.sent(channel, apns_expiration=later())
    assert stream.next("push")["number"] == 2
    assert sender.connection.request("DELETE", path, own).status == 204
    sender.sent(channel, apns_expiration=later())
    assert stream.quiet() == [] and listed(gateway, channel)["connected"] == 0


def test_only_a_device_that_is_registered_for_the_app_may_subscribe(gateway, sender):
    channel = sender.create()
    stranger = gateway.device(topic=gateway.app())
    done = gateway.run("channels", "subscribe", channel, stranger.name, code=1)
    assert "is not registered for" in done.err and done.err.count("\n") == 1
    member = gateway.device()
    subscribe(gateway, channel, member)
    gateway.unregister(member.name, TOPIC)
    assert listed(gateway, channel)["subscriptions"] == 0


def test_a_deleted_channel_is_silent(gateway, sender, device):
    channel = sender.create()
    subscribe(gateway, channel, device)
    sender.sent(channel, apns_expiration=later())
    sender.call("DELETE", "channels", apns_channel_id=channel)
    stream = gateway.stream(device)
    assert stream.caught_up() == [] and stream.quiet() == []
    assert sender.send(channel).reason == "ChannelNotRegistered"


def test_the_persons_choices_hold_for_broadcasts(gateway, sender):
    topic = gateway.app()
    device = gateway.device(topic=topic)
    sender = Sender(gateway, topic)
    channel = sender.create()
    subscribe(gateway, channel, device)
    gateway.prefer(device.name, "alert=off", app=topic)
    stream = gateway.stream(device)
    stream.caught_up()
    sender.sent(channel, {"aps": {"event": "update", "alert": {"title": "Goal"}, "content-state": {}}})
    push = stream.next("push")
    assert "alert" not in push["presentation"]
    sender.connection.close()


def test_others_are_served_while_a_broadcast_goes_out(start, tmp_path):
    gateway = start("--loops", 1)
    sender = Sender(gateway)
    channel = sender.create(policy=0)
    devices = [gateway.device() for _ in range(20)]
    subscribe(gateway, channel, *devices)
    streams = [gateway.stream(device) for device in devices]
    for stream in streams:
        stream.caught_up()
    # Ten broadcasts and a push behind them, all on one connection, answered in any order.
    for number in range(10):
        sender.sent(channel, {"aps": {"content-state": {"number": number}}})
    assert gateway.push(devices[0].token, connection=sender.connection).status == 200
    for stream in streams:
        numbers = [stream.next("push")["payload"]["aps"]["content-state"]["number"] for _ in range(10)]
        assert numbers == list(range(10))


# Commands


def test_subscribe_and_send_by_command(gateway, device, subscribe, tmp_path):
    channel = gateway.run("channels", "create", TOPIC, "--store").out.strip()
    subscriber = subscribe(gateway, device, "--channel", channel, "--count", 2)
    subscriber.connected()
    (tmp_path / "state.json").write_text(json.dumps(UPDATE))
    for _ in range(2):
        done = gateway.run(
            "send", "--channel", channel, "--topic", TOPIC, "--expires", "1h", tmp_path / "state.json")
        assert UUID.fullmatch(done.out.strip())
    assert subscriber.wait() == 0
    assert [(line["channel"], line["number"]) for line in subscriber.lines] == [(channel, 1), (channel, 2)]
    # They were acknowledged: nothing comes again.
    gateway.events(subscriber.lines[1]["id"], "acknowledged")
    has_nothing(gateway, device)
    assert gateway.run("channels", "list", "--device", device.name, "--json").json["id"] == channel
    gateway.run("channels", "unsubscribe", channel, device.name)
    assert gateway.run("channels", "list", "--device", device.name, "--json").out == ""
    gateway.run("channels", "delete", channel)
    done = gateway.run("send", "--channel", channel, "--topic", TOPIC, tmp_path / "state.json", code=5)
    assert "ChannelNotRegistered" in done.err and "channels list" in done.err


# Every reason of §8.3


def sent(**fields):
    def provoke(gateway, sender, start):
        channel = fields.pop("channel", None) or sender.create()
        return sender.send(channel, **fields)

    return provoke


def created(body, **fields):
    return lambda gateway, sender, start: sender.call("POST", "channels", body, **fields)


def deleted(gateway, sender, start):
    channel = sender.create()
    sender.call("DELETE", "channels", apns_channel_id=channel)
    return sender.send(channel)


def off(*options):
    def provoke(gateway, sender, start):
        gateway = start(*options)
        sender = Sender(gateway)
        channel = sender.create()
        gateway.run("channels", "disable", TOPIC)
        refused = sender.send(channel)
        # What it had is gone when it may broadcast again.
        gateway.run("channels", "enable", TOPIC)
        assert sender.send(channel).reason == "ChannelNotRegistered"
        return refused

    return provoke


def full(gateway, sender, start):
    topic = gateway.app()
    gateway.run("channels", "create", topic, "--count", 10_000)
    return Sender(gateway, topic).call("POST", "channels", {"message-storage-policy": 0, "push-type": "LiveActivity"})


def of_other_topic(gateway, sender, start):
    key = gateway.new_key(topics=[gateway.app()])
    return Sender(gateway).send("A" * 22 + "==", key=key)


def two_tokens(gateway, sender, start):
    now = int(time.time())
    sender = Sender(gateway)
    assert sender.call("GET", "all-channels", authorization=gateway.key.bearer(issued=now - 300)).status == 200
    return sender.call("GET", "all-channels", authorization=gateway.key.bearer(issued=now))


def rate(gateway, sender, start):
    sender = Sender(start("--rate-limit", 1))
    channel = sender.create()

    def second():
        answers = [sender.send(channel) for _ in range(2)]
        return answers[1] if answers[1].status == 429 else None

    return eventually(second, "two broadcasts in one second")


def certificate(*, revoked=False, **options):
    def provoke(gateway, sender, start):
        shown = gateway.certificate(**options)
        if revoked:
            gateway.run("certs", "revoke", "--file", shown[0])
        connection = gateway.connect(certificate=shown)
        connection.drain()
        return connection

    return provoke


def disk_full(gateway, sender, start):
    gateway = start()
    sender = Sender(gateway)
    channel = sender.create()
    with refusing_disk(gateway):
        return sender.send(channel, apns_expiration=later())


def damaged(gateway, sender, start):
    """A fault set on purpose answers as a broken database would."""
    gateway.run("faults", "add", "broken", "--reason", "InternalServerError", "--app", TOPIC, "--count", 1)
    return sender.send("A" * 22 + "==")


def shutdown(gateway, sender, start):
    gateway = start()
    connection = gateway.connect()
    connection.open("POST", f"/4/broadcasts/apps/{TOPIC}", [("authorization", gateway.bearer())])
    connection.ping()
    gateway.terminate()
    connection.drain()
    [response] = connection.responses.values()
    assert response["apns-request-id"]
    return connection


POLICY = {"message-storage-policy": 1, "push-type": "LiveActivity"}
PROVOKED = {
    "BadChannelId": sent(channel="A" * 22 + "=="),
    "ChannelNotRegistered": deleted,
    "MissingChannelId": lambda gateway, sender, start: sender.call("GET", "channels"),
    "MissingPushType": sent(apns_push_type=None),
    "InvalidPushType": sent(apns_push_type="alert"),
    "BadRequestParams": created(POLICY | {"message-storage-policy": 2}),
    "BadRequestPayload": sent(payload=b"[1]"),
    "PayloadEmpty": sent(payload=b""),
    "BadMessageId": sent(apns_request_id="nope"),
    "BadExpirationDate": sent(apns_expiration=None),
    "BadPriority": sent(apns_priority=7),
    "CannotCreateChannelConfig": full,
    "TopicDisallowed": sent(path=f"/4/broadcasts/apps/{TOPIC}.push-type.liveactivity"),
    "FeatureNotEnabled": off("--broadcast-feature-reason", "FeatureNotEnabled"),
    "BroadcastFeatureNotEnabled": off(),
    "MissingChannelQueueSize": created({"push-type": "LiveActivity"}),
    "BadCertificate": certificate(revoked=True),
    "BadCertificateEnvironment": certificate(environment="production"),
    "TopicMismatch": of_other_topic,
    "MissingProviderToken": sent(channel="A" * 22 + "==", authorization=None),
    "ExpiredProviderToken": lambda gateway, sender, start: sender.send(
        "A" * 22 + "==", authorization=gateway.key.bearer(issued=int(time.time()) - 3700)),
    "InvalidProviderToken": sent(channel="A" * 22 + "==", authorization="bearer nonsense"),
    "BadPath": sent(path="/4/broadcasts/nowhere"),
    "MethodNotAllowed": lambda gateway, sender, start: sender.call("PUT", "channels"),
    "PayloadTooLarge": sent(payload=b'{"x":"' + b"x" * 5113 + b'"}'),
    "TooManyRequests": rate,
    "TooManyProviderTokenUpdates": two_tokens,
    "InternalServerError": damaged,
    "ServiceUnavailable": disk_full,
    "Shutdown": shutdown,
}
STATUS = {
    "TopicMismatch": 403, "BadCertificate": 403, "BadCertificateEnvironment": 403, "MissingProviderToken": 403,
    "ExpiredProviderToken": 403, "InvalidProviderToken": 403, "BadPath": 404, "MethodNotAllowed": 405,
    "PayloadTooLarge": 413, "TooManyRequests": 429, "TooManyProviderTokenUpdates": 429, "InternalServerError": 500,
    "ServiceUnavailable": 503, "Shutdown": 503,
}


#: Those that a machine's own disk, or a fault that is set there, provokes.
ALONE = [
    pytest.param(reason, marks=pytest.mark.alone("its disk")) for reason in ("InternalServerError", "ServiceUnavailable")]


@pytest.mark.parametrize("reason", [*sorted(set(PROVOKED) - {one.values[0] for one in ALONE}), *ALONE])
def test_the_reason_is_provoked(gateway, sender, start, reason):
    seen = PROVOKED[reason](gateway, sender, start)
    if hasattr(seen, "goaway"):
        assert bytes(seen.goaway.additional_data) == b'{"reason":"%s"}' % reason.encode()
        seen.close()
        return
    assert (seen.status, seen.body, seen.shape) == (STATUS.get(reason, 400), b'{"reason":"%s"}' % reason.encode(), ERROR)
    assert seen["apns-request-id"] and seen["apns-id"] is None


@pytest.mark.parametrize("provoke, reason", [
    (sent(channel="not base64"), "BadChannelId"),
    (sent(channel="A" * 100), "BadChannelId"),
    (sent(apns_expiration="soon"), "BadExpirationDate"),
    (sent(payload=b"{"), "BadRequestPayload"),
    (sent(payload={"aps": {"event": "start", "attributes-type": "Ride"}}), "BadRequestPayload"),
    (created(b"{"), "BadRequestPayload"),
    (created(b""), "PayloadEmpty"),
    (created({"message-storage-policy": 1}), "MissingPushType"),
    (created({"message-storage-policy": 1, "push-type": "alert"}), "InvalidPushType"),
    (created(POLICY | {"message-storage-policy": "1"}), "BadRequestParams"),
    (sent(extra=[("apns-priority", "5"), ("apns-priority", "5")]), "BadRequestParams"),
    (lambda gateway, sender, start: sender.send(sender.create(policy=0), apns_expiration=later()), "BadExpirationDate"),
    (lambda gateway, sender, start: Sender(gateway, "com.example.nobody").call("GET", "all-channels"), "TopicDisallowed"),
])
def test_other_ways_to_a_reason(gateway, sender, start, provoke, reason):
    seen = provoke(gateway, sender, start)
    assert (seen.status, seen.reason) == (STATUS.get(reason, 400), reason)


@pytest.mark.parametrize("fields", [
    {"apns_push_type": "LiveActivity"}, {"apns_push_type": "Liveactivity"}, {"apns_priority": 1},
    {"payload": b'{"x":"' + b"x" * 5112 + b'"}'}, {"apns_topic": "anything"}, {"apns_expiration": 300},
])
def test_what_is_accepted(sender, fields):
    response = sender.send(sender.create(), **fields)
    assert response.status == 200 and response.shape == ["HEADERS+END_STREAM"]
    assert UUID.fullmatch(response["apns-request-id"]) and UUID.fullmatch(response["apns-unique-id"])


def test_a_certificate_may_broadcast_for_its_own_app(gateway):
    own = Sender(gateway, certificate=gateway.certificate())
    assert own.send(own.create()).status == 200
    other = Sender(gateway, gateway.app(), certificate=gateway.certificate())
    assert other.call("GET", "all-channels").reason == "TopicMismatch"
