"""Every reason of the provider API, provoked over a real connection (reference §3.3, §5.4)."""

import contextlib
import re
import sqlite3
import time
from pathlib import Path

import pytest

from gateway import ALERT, TOPIC
from waiting import HANG, eventually
import test_broadcast
from test_broadcast import certificate
from test_wire import assert_error
from wire import Closed

#: The table of the source: what is there and what is provoked here must be the same.
SOURCE = Path(__file__).parents[2] / "Sources/GatewayProtocol/Reason.swift"
REASONS = re.findall(r'case \w+ = "(\w+)"', SOURCE.read_text())


def request(gateway, device, *, method="POST", path=None, payload=ALERT, extra=(), **fields):
    path = f"/3/device/{device.token}" if path is None else path
    with gateway.connect() as connection:
        return connection.request(method, path, gateway.fields(**fields) + list(extra), payload)


def field(**fields):
    return lambda gateway, device, start: request(gateway, device, **fields)


def unregistered(gateway, device, start):
    gateway.unregister(device.name, TOPIC)
    return request(gateway, device)


def expired(gateway, device, start):
    gateway.unregister(device.name, TOPIC)
    before = int(time.time() * 1000)
    device.token = gateway.register(device.name, TOPIC, valid_seconds=0)
    response = request(gateway, device)
    assert before <= response.json["timestamp"] <= int(time.time() * 1000)
    return response


def two_tokens(first, second):
    def provoke(gateway, device, start):
        with gateway.connect() as connection:
            assert gateway.push(device.token, connection=connection, authorization=first(gateway)).status == 200
            return gateway.push(device.token, connection=connection, authorization=second(gateway))

    return provoke


def issued(age):
    return lambda gateway: gateway.key.bearer(issued=int(time.time()) - age)


def of_topic(gateway):
    return gateway.new_key(topics=[TOPIC]).bearer()


def rate(gateway, device, start):
    gateway = start("--rate-limit", 1)
    device = gateway.device()
    with gateway.connect() as connection:
        def second():
            answers = [gateway.push(device.token, connection=connection) for _ in range(2)]
            return answers[1] if answers[1].status == 429 else None

        return eventually(second, "two pushes in one second")


def documented(gateway, device, start):
    gateway = start("--environment-key-reason", "BadEnvironmentKeyIdInToken")
    return request(gateway, gateway.device(), key=gateway.new_key(environment="production"))


def full(gateway, device, start):
    import resource

    gateway = start()
    device = gateway.device()
    resource.prlimit(gateway.process.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    response = request(gateway, device)
    resource.prlimit(gateway.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return response


def damaged(gateway, device, start):
    """The schema of the running gateway's database is broken under its feet."""
    gateway = start()
    device = gateway.device()
    with sqlite3.connect(gateway.state / "pushgateway.sqlite", timeout=HANG) as database:
        [version] = database.execute("PRAGMA schema_version").fetchone()
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_master SET sql = 'nonsense' WHERE name = 'mailbox'")
        database.execute(f"PRAGMA schema_version = {version + 1}")
    return request(gateway, device)


def idle(gateway, device, start):
    gateway = start("--idle-timeout", 1)
    fields = gateway.fields()

    def opened():
        # A machine that stands still for a second opens nothing in time, and tries again.
        with contextlib.suppress(Closed):
            connection = gateway.connect()
            stream = connection.open("POST", "/3/device/" + "0" * 64, fields)
            connection.drain()
            return connection if connection.responses[stream].is_ended else None

    return eventually(opened, "a request is open for the idle time")


def shutdown(gateway, device, start):
    gateway = start()
    connection = gateway.connect()
    connection.open("POST", "/3/device/" + "0" * 64, gateway.fields())
    connection.ping()
    gateway.terminate()
    connection.drain()
    return connection


PROVOKED = {
    "BadCollapseId": field(apns_collapse_id="x" * 65),
    "BadDeviceToken": field(path="/3/device/" + "0" * 64),
    "BadExpirationDate": field(apns_expiration="soon"),
    "BadMessageId": field(apns_id="nope"),
    "BadPriority": field(apns_priority="7"),
    "BadTopic": field(topic="no topic"),
    "DeviceTokenNotForTopic": field(topic="com.example.another"),
    "DuplicateHeaders": field(extra=[("apns-topic", TOPIC)]),
    "IdleTimeout": idle,
    "InvalidPushType": field(apns_push_type="alarm"),
    "MissingDeviceToken": field(path="/3/device/"),
    "MissingTopic": field(topic=None),
    "PayloadEmpty": field(payload=b""),
    "TopicDisallowed": field(topic=TOPIC + ".unknown"),
    "BadCertificate": certificate(revoked=True),
    "BadCertificateEnvironment": certificate(environment="production"),
    "BadEnvironmentKeyIdInToken": documented,
    "BadEnvironmentKeyInToken": lambda gateway, device, start: request(
        gateway, device, key=gateway.new_key(environment="production")),
    "ExpiredProviderToken": lambda gateway, device, start: request(gateway, device, authorization=issued(3660)(gateway)),
    "Forbidden": field(payload=b'{"aps":{"badge":"1"}}'),
    "InvalidProviderToken": field(authorization="bearer nonsense"),
    "MissingProviderToken": field(authorization=None),
    "UnrelatedKeyIdInToken": two_tokens(of_topic, of_topic),
    "BadPath": field(path="/3/devices/"),
    "MethodNotAllowed": field(method="GET"),
    "ExpiredToken": expired,
    "Unregistered": unregistered,
    "PayloadTooLarge": field(payload=b'{"x":"' + b"x" * 4096 + b'"}'),
    "TooManyProviderTokenUpdates": two_tokens(issued(300), issued(0)),
    "TooManyRequests": rate,
    "InternalServerError": damaged,
    "ServiceUnavailable": full,
    "Shutdown": shutdown,
}

STATUS = {
    "BadCertificate": 403, "BadCertificateEnvironment": 403, "IdleTimeout": 400, "Shutdown": 503, "BadPath": 404,
    "MethodNotAllowed": 405, "ExpiredToken": 410, "Unregistered": 410, "PayloadTooLarge": 413,
    "TooManyProviderTokenUpdates": 429, "TooManyRequests": 429, "InternalServerError": 500, "ServiceUnavailable": 503,
    "BadEnvironmentKeyIdInToken": 403, "BadEnvironmentKeyInToken": 403, "ExpiredProviderToken": 403, "Forbidden": 403,
    "InvalidProviderToken": 403, "MissingProviderToken": 403, "UnrelatedKeyIdInToken": 403,
}


def test_no_reason_is_forgotten():
    assert len(REASONS) > 30 and set(REASONS) == set(PROVOKED) | set(test_broadcast.PROVOKED)


#: Those that a machine's own disk provokes.
ALONE = [
    pytest.param(reason, marks=pytest.mark.alone("its disk")) for reason in ("InternalServerError", "ServiceUnavailable")]


@pytest.mark.parametrize("reason", [*sorted(set(PROVOKED) - {one.values[0] for one in ALONE}), *ALONE])
def test_the_reason_is_provoked(gateway, device, start, reason):
    seen = PROVOKED[reason](gateway, device, start)
    status = STATUS.get(reason, 400)
    if hasattr(seen, "goaway"):
        # The connection ended; a request that was open was answered with the same reason.
        assert bytes(seen.goaway.additional_data) == b'{"reason":"%s"}' % reason.encode()
        for response in seen.responses.values():
            assert_error(response, status, reason)
        seen.close()
    else:
        assert_error(seen, status, reason)
