"""The provider API on the wire: frames, headers, reasons and their order (reference §2–§5, §11.1)."""

import re
import resource
import socket
import ssl
import time
import uuid

import pytest
from h2.settings import SettingCodes

from gateway import ALERT, TOPIC, Gateway
from waiting import HANG
from wire import Closed

UUID = re.compile(r"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}")
SUCCESS = ["HEADERS+END_STREAM"]
ERROR = ["HEADERS", "DATA+END_STREAM"]
UNKNOWN = "0" * 64


def assert_error(response, status, reason):
    assert (response.status, response.reason) == (status, reason), (response.status, response.body)
    assert response.shape == ERROR
    if status == 410:
        assert re.fullmatch(rb'\{"reason":"%s","timestamp":\d{13}\}' % reason.encode(), response.body)
    elif reason == "Forbidden":
        assert response.body.startswith(b'{"reason":"Forbidden","policy":{')
    else:
        assert response.body == b'{"reason":"%s"}' % reason.encode()
    assert response["apns-id"], "every response carries apns-id"


# The response


def test_a_success_is_one_headers_frame_that_ends_the_stream(gateway, device, connection):
    response = gateway.push(device.token, connection=connection)
    assert response.status == 200
    assert response.shape == SUCCESS
    assert response.body == b""


def test_an_error_is_headers_and_one_data_frame_with_exact_bytes(gateway, connection):
    response = gateway.push(UNKNOWN, connection=connection)
    assert response.shape == ERROR
    assert response.body == b'{"reason":"BadDeviceToken"}'


def test_no_response_has_a_content_type_a_date_or_a_retry_after(gateway, device, connection):
    for response in [gateway.push(device.token, connection=connection), gateway.push("zz", connection=connection)]:
        names = {name for name, _ in response.fields}
        assert names <= {":status", "apns-id", "apns-unique-id"}


@pytest.mark.parametrize("change", [str.upper, str.lower, str.title], ids=["upper", "lower", "mixed"])
@pytest.mark.parametrize("token", ["known", "unknown"])
def test_the_apns_id_comes_back_byte_for_byte(gateway, device, connection, change, token):
    offered = change("f4121b12-e0bf-4266-a079-d9253e98bf4" + "abcdef"[hash(change.__name__ + token) % 6])
    response = gateway.push(device.token if token == "known" else UNKNOWN, connection=connection, apns_id=offered)
    assert response["apns-id"] == offered


@pytest.mark.parametrize("token", ["known", "unknown"])
def test_an_apns_id_is_made_in_upper_case_when_none_is_sent(gateway, device, connection, token):
    response = gateway.push(device.token if token == "known" else UNKNOWN, connection=connection)
    assert UUID.fullmatch(response["apns-id"])


@pytest.mark.parametrize("offered", ["nope", "f4121b12e0bf4266a079d9253e98bf49", "x" * 64, "f4121b12-e0bf-4266-a079-d9253e98bf4g"])
def test_a_malformed_apns_id_is_refused_and_still_echoed(gateway, device, connection, offered):
    response = gateway.push(device.token, connection=connection, apns_id=offered)
    assert_error(response, 400, "BadMessageId")
    assert response["apns-id"] == offered


def test_an_apns_id_that_is_no_short_ascii_is_replaced(gateway, device, connection):
    response = gateway.push(device.token, connection=connection, apns_id="ü" * 10)
    assert_error(response, 400, "BadMessageId")
    assert UUID.fullmatch(response["apns-id"])


def test_the_development_environment_adds_an_apns_unique_id(gateway, device, connection):
    response = gateway.push(device.token, connection=connection)
    assert UUID.fullmatch(response["apns-unique-id"])
    assert response["apns-unique-id"] != response["apns-id"]


def test_the_production_environment_adds_no_apns_unique_id(start):
    gateway = start("--environment", "production")
    response = gateway.push(gateway.device().token)
    assert response.status == 200
    assert response["apns-unique-id"] is None


def test_an_unregistered_token_is_410_with_its_time_in_milliseconds(gateway, device, connection):
    before = int(time.time() * 1000)
    gateway.unregister(device.name, TOPIC)
    response = gateway.push(device.token, connection=connection)
    assert_error(response, 410, "Unregistered")
    assert before <= response.json["timestamp"] <= int(time.time() * 1000)
    assert gateway.push(device.token, connection=connection).json["timestamp"] == response.json["timestamp"]


def test_a_device_that_registers_again_has_a_new_token_and_the_old_one_stays_410(gateway, device, connection):
    gateway.unregister(device.name, TOPIC)
    token = gateway.register(device.name, TOPIC)
    assert token != device.token
    assert gateway.push(token, connection=connection).status == 200
    assert_error(gateway.push(device.token, connection=connection), 410, "Unregistered")


# The reasons, in the order of the checks (reference §2.5)


class Wrong:
    """A push with everything wrong that can be; `mend` puts one thing right."""

    def __init__(self, gateway):
        gateway.add_team("OTHERTEAM1")
        self.gateway = gateway
        self.device, self.gone = gateway.device(), gateway.device()
        gateway.unregister(self.gone.name, TOPIC)
        self.other = gateway.app()
        self.other_token = gateway.register(self.device.name, self.other)
        self.key = gateway.key
        self.restricted = gateway.new_key(topics=[self.other])
        self.production = gateway.new_key(environment="production")
        self.method, self.path, self.token = "PUT", "/4/device/", ""
        self.body = b""
        self.fields = {"apns-id": "nope", "apns-push-type": "nope", "apns-priority": "7",
            "apns-expiration": "soon", "apns-collapse-id": "x" * 65, "apns-topic": ""}
        self.extra = [("apns-topic", "again")]

    def send(self, connection):
        fields = list(self.fields.items()) + self.extra
        return connection.request(self.method, self.path + self.token, fields, self.body)


def steps(wrong):
    """What is refused first, and what mends it, in order."""
    put = lambda name: lambda value: wrong.fields.__setitem__(name, value)
    make = lambda name: lambda value: setattr(wrong, name, value)
    drop = lambda name: lambda _: wrong.fields.pop(name)
    authorization = put("authorization")
    old = int(time.time()) - 3660
    large = b'{"aps":{"badge":"x"},"pad":"' + b"x" * 4069 + b'"}'
    assert len(large) == 4099
    return [
        (405, "MethodNotAllowed", make("method"), "POST"),
        (404, "BadPath", make("path"), "/3/device/"),
        (400, "DuplicateHeaders", make("extra"), []),
        (403, "MissingProviderToken", authorization, "bearer nonsense"),
        (403, "InvalidProviderToken", authorization, wrong.key.bearer(issued=old)),
        (403, "ExpiredProviderToken", authorization, wrong.production.bearer()),
        (403, "BadEnvironmentKeyInToken", authorization, wrong.restricted.bearer()),
        (400, "BadMessageId", drop("apns-id"), None),
        (400, "InvalidPushType", put("apns-push-type"), "alert"),
        (400, "BadPriority", put("apns-priority"), "5"),
        (400, "BadExpirationDate", put("apns-expiration"), "2000000000"),
        (400, "BadCollapseId", put("apns-collapse-id"), "x" * 64),
        (400, "MissingTopic", put("apns-topic"), "no topic at all!"),
        (400, "BadTopic", put("apns-topic"), TOPIC),
        (400, "TopicDisallowed", authorization, wrong.key.bearer()),
        (400, "MissingDeviceToken", make("token"), "xyz"),
        (400, "BadDeviceToken", make("token"), UNKNOWN),
        (400, "PayloadEmpty", make("body"), large.replace(b"}", b"")),
        (413, "PayloadTooLarge", make("body"), b'{"aps":'),
        (400, "PayloadEmpty", make("body"), b'{"aps":{"badge":"x"}}'),
        (400, "BadDeviceToken", make("token"), wrong.gone.token),
        (410, "Unregistered", make("token"), wrong.other_token),
        (400, "DeviceTokenNotForTopic", make("token"), wrong.device.token),
    ]


def test_every_check_comes_in_its_order(start):
    gateway = start("--rate-limit", 1)
    wrong = Wrong(gateway)
    for status, reason, mend, value in steps(wrong):
        # A connection each: one takes no other token so soon.
        with gateway.connect() as connection:
            assert_error(wrong.send(connection), status, reason)
        mend(value)
    with gateway.connect() as connection:
        # The rate comes next, and policy last: of a burst within one second, one push gets as far as policy.
        def burst():
            path, fields = wrong.path + wrong.token, list(wrong.fields.items())
            streams = [connection.send("POST", path, fields, wrong.body, flush=False) for _ in range(20)]
            connection.flush()
            return [connection.wait(stream) for stream in streams]

        refused = burst()
        assert {response.reason for response in refused} == {"Forbidden", "TooManyRequests"}
        for response in refused:
            assert_error(response, 403 if response.reason == "Forbidden" else 429, response.reason)
        wrong.body = ALERT
        # Each refusal is an answer that says when to come back; in the next second a push is taken.
        while (response := wrong.send(connection)).status != 200:
            assert response.reason == "TooManyRequests"


@pytest.mark.alone("its disk")
def test_a_full_disk_is_service_unavailable_until_there_is_room(start):
    gateway = start()
    device = gateway.device()
    pid = gateway.process.pid
    limits = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    offered = str(uuid.uuid4()).upper()
    with gateway.connect() as connection:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, limits[1]))
        response = gateway.push(device.token, connection=connection, apns_id=offered)
        assert_error(response, 503, "ServiceUnavailable")
        assert response["apns-id"] == offered
        resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
        response = gateway.push(device.token, connection=connection, apns_id=offered)
        assert response.status == 200, response.body
    stream = gateway.stream(device)
    assert [line["id"] for line in stream.caught_up()] == [offered]
    stream.connection.close()


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", ["/3/device/" + UNKNOWN, "/3/device/", "/", "/favicon.ico"])
def test_another_method_is_405_also_without_credentials(connection, method, path):
    response = connection.request(method, path)
    assert_error(response, 405, "MethodNotAllowed")
    assert UUID.fullmatch(response["apns-id"])


@pytest.mark.parametrize("path", ["/", "/3/device", "/3/devices/" + UNKNOWN, "/3", "/4/device/" + UNKNOWN, "/admins", "//admin/v1/status"])
def test_another_path_is_bad_path(gateway, connection, path):
    assert_error(connection.request("POST", path, gateway.fields(), ALERT), 404, "BadPath")


@pytest.mark.parametrize(
    "name", ["authorization", "apns-id", "apns-topic", "apns-push-type", "apns-priority", "apns-expiration", "apns-collapse-id"])
def test_a_repeated_field_is_duplicate_headers(gateway, device, connection, name):
    fields = gateway.fields(apns_id=uuid.uuid4(), apns_priority=10, apns_expiration=2000000000, apns_collapse_id="x")
    again = (name, dict(fields)[name])
    response = connection.request("POST", f"/3/device/{device.token}", fields + [again], ALERT)
    assert_error(response, 400, "DuplicateHeaders")


def test_a_field_that_nobody_reads_may_come_twice(gateway, device, connection):
    fields = gateway.fields() + [("accept", "*/*"), ("user-agent", "a"), ("user-agent", "b"), ("content-type", "text/x")]
    assert connection.request("POST", f"/3/device/{device.token}", fields, ALERT).status == 200


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("apns-push-type", "", "InvalidPushType"),
        ("apns-push-type", "alarm", "InvalidPushType"),
        ("apns-priority", "", "BadPriority"),
        ("apns-priority", "0", "BadPriority"),
        ("apns-priority", "11", "BadPriority"),
        ("apns-priority", "high", "BadPriority"),
        ("apns-expiration", "", "BadExpirationDate"),
        ("apns-expiration", "-1", "BadExpirationDate"),
        ("apns-expiration", "1.5", "BadExpirationDate"),
        ("apns-expiration", "9" * 30, "BadExpirationDate"),
        ("apns-topic", "com example", "BadTopic"),
        ("apns-topic", "ü.example", "BadTopic"),
        ("apns-topic", "", "MissingTopic"),
        ("apns-topic", None, "MissingTopic"),
    ])
def test_a_header_that_is_wrong_has_its_reason(gateway, device, connection, field, value, reason):
    response = gateway.push(device.token, connection=connection, **{field.replace("-", "_"): value})
    assert_error(response, 400, reason)


@pytest.mark.parametrize(
    ("field", "value"),
    [("apns-push-type", None), ("apns-push-type", "Alert"), ("apns-push-type", "background"), ("apns-priority", "1"),
     ("apns-priority", "5"), ("apns-priority", "10"), ("apns-expiration", "0"), ("apns-expiration", "300"),
     ("apns-expiration", "4102444800")])
def test_a_header_that_is_right_or_absent_is_accepted(gateway, device, connection, field, value):
    response = gateway.push(device.token, connection=connection, **{field.replace("-", "_"): value})
    assert response.status == 200, response.body


@pytest.mark.parametrize("token", ["x", "zz", "abc", "g" * 64, "ab/cd", "%61%62"])
def test_a_token_that_is_no_hex_is_bad_device_token(gateway, connection, token):
    assert_error(gateway.push(token, connection=connection), 400, "BadDeviceToken")


@pytest.mark.parametrize("digits", [2, 62, 66, 160, 200])
def test_a_token_of_another_length_is_bad_device_token(gateway, connection, digits):
    assert_error(gateway.push("ab" * (digits // 2), connection=connection), 400, "BadDeviceToken")


def test_a_token_is_read_in_either_case_of_hex(gateway, device, connection):
    assert gateway.push(device.token.upper(), connection=connection).status == 200


def test_a_token_of_the_other_environment_is_bad_device_token(gateway, device, connection):
    token = gateway.register(device.name, TOPIC, environment="production")
    assert token != device.token
    assert_error(gateway.push(token, connection=connection), 400, "BadDeviceToken")


def test_a_token_of_another_app_is_device_token_not_for_topic(gateway, device, connection):
    assert_error(gateway.push(device.token, connection=connection, topic=gateway.app()), 400, "DeviceTokenNotForTopic")


@pytest.mark.parametrize("payload", [b"", b"[]", b'"text"', b"1", b"null", b"{", b'{"aps":', b"\xff\xfe", b'{"a":1}{', b"[" * 4000])
def test_a_payload_that_is_no_json_object_is_payload_empty(gateway, device, connection, payload):
    assert_error(gateway.push(device.token, payload, connection=connection), 400, "PayloadEmpty")


@pytest.mark.parametrize(
    "payload", [b"{}", b'{"mdm":"x"}', b'{"aps":{}}', b'{"aps":null}', b'{"aps":{"alert":7}}', b' \r\n{\n"aps":{\r\n"alert":"x"}}\n',
                '{"aps":{"alert":"Zug fährt 🚆"}}'.encode(), b'{"aps":{"alert":"\\u0041"},"custom":[1,2,{"a":null}]}'])
def test_a_json_object_is_accepted_whatever_it_holds(gateway, device, connection, payload):
    response = gateway.push(device.token, payload, connection=connection)
    assert response.status == 200, response.body


def test_a_collapse_id_is_counted_in_bytes(gateway, device, connection):
    for text, status in [("x" * 64, 200), ("x" * 65, 400), ("ü" * 32, 200), ("ü" * 32 + "x", 400), ("🚆" * 16, 200), ("🚆" * 17, 400)]:
        response = gateway.push(device.token, connection=connection, apns_collapse_id=text)
        assert response.status == status, (text, response.body)
        if status == 400:
            assert_error(response, 400, "BadCollapseId")


# Sizes


def sized(size):
    body = b'{"aps":{"alert":"x"},"pad":"' + b"x" * (size - 30) + b'"}'
    assert len(body) == size
    return body


def test_4096_bytes_are_taken_and_4097_refused_and_the_connection_goes_on(gateway, device, connection):
    assert gateway.push(device.token, sized(4096), connection=connection).status == 200
    for size in [4097, 5121, 16384, 70_000, 300_000]:
        assert_error(gateway.push(device.token, sized(size), connection=connection), 413, "PayloadTooLarge")
    assert gateway.push(device.token, connection=connection).status == 200


@pytest.mark.parametrize("push_type", ["voip", None])
def test_voip_takes_5120_bytes(gateway, device, connection, push_type):
    fields = {"topic": TOPIC + ".voip", "apns_push_type": push_type}
    assert gateway.push(device.token, sized(5120), connection=connection, **fields).status == 200
    assert_error(gateway.push(device.token, sized(5121), connection=connection, **fields), 413, "PayloadTooLarge")
    assert gateway.push(device.token, connection=connection, **fields).status == 200


def test_a_body_may_come_in_many_frames(gateway, device, connection):
    stream = connection.open("POST", f"/3/device/{device.token}", gateway.fields())
    for byte in ALERT[:-1]:
        connection.write(stream, bytes([byte]))
    connection.write(stream, ALERT[-1:], end=True)
    assert connection.wait(stream).status == 200


def test_a_body_may_end_with_an_empty_frame(gateway, device, connection):
    stream = connection.open("POST", f"/3/device/{device.token}", gateway.fields())
    connection.write(stream, ALERT)
    connection.write(stream, b"", end=True)
    assert connection.wait(stream).status == 200


def test_a_wrong_content_length_is_a_stream_error_and_no_more(gateway, device, connection):
    fields = gateway.fields() + [("content-length", "3")]
    assert connection.wait(connection.send("POST", f"/3/device/{device.token}", fields, ALERT)).status != 200
    assert gateway.push(device.token, connection=connection).status == 200


# The connection (reference §5)


def test_settings_come_first_and_at_once(gateway):
    with gateway.connect(preface=False) as connection:
        connection.h2.initiate_connection()
        connection.h2.data_to_send()  # kept back: the gateway speaks before it has heard anything
        connection.until(lambda: connection.settings)
        assert connection.frames[0].name == "SETTINGS"


def test_settings_are_those_of_the_real_service(gateway, connection):
    connection.until(lambda: connection.settings)
    first = next(frame for frame in connection.frames if frame.name == "SETTINGS")
    settings = dict(first.frame.settings)
    assert settings.pop(SettingCodes.INITIAL_WINDOW_SIZE, 65535) == 65535
    assert settings == {
        SettingCodes.HEADER_TABLE_SIZE: 4096,
        SettingCodes.MAX_CONCURRENT_STREAMS: 1000,
        SettingCodes.MAX_FRAME_SIZE: 16384,
        SettingCodes.MAX_HEADER_LIST_SIZE: 8000,
    }


def test_the_connection_window_is_large(gateway, connection):
    connection.until(lambda: connection.h2.outbound_flow_control_window >= 16 << 20)


def test_a_ping_is_acknowledged_with_its_data(connection):
    connection.ping(b"a1b2c3d4")
    assert connection.pongs == [b"a1b2c3d4"]


def test_1000_streams_directly_after_the_preface_are_all_answered(gateway):
    device = gateway.device()
    with gateway.connect(preface=False) as connection:
        connection.h2.initiate_connection()
        # Before any SETTINGS of the gateway this library counts with its own idea of the limit.
        connection.h2.remote_settings.max_concurrent_streams = 1000
        connection.h2.remote_settings.acknowledge()
        fields = gateway.fields()
        streams = [
            connection.send("POST", f"/3/device/{device.token}", fields + [("apns-id", str(uuid.uuid4()))], ALERT, flush=False)
            for _ in range(1000)
        ]
        connection.flush()
        responses = [connection.wait(stream) for stream in streams]
        assert {response.status for response in responses} == {200}
        assert connection.goaway is None
    assert [entry for entry in gateway.devices() if entry["name"] == device.name][0]["waiting"] == 1000


def test_the_1001st_stream_is_refused_or_ends_the_connection_and_nothing_else(gateway, device):
    with gateway.connect() as connection:
        connection.until(lambda: connection.settings)
        connection.h2.remote_settings.max_concurrent_streams = 2000
        connection.h2.remote_settings.acknowledge()
        fields = gateway.fields()
        streams = [connection.open("POST", f"/3/device/{device.token}", fields, flush=False) for _ in range(1001)]
        connection.flush()
        try:
            connection.until(lambda: connection.goaway or connection.responses[streams[-1]].reset is not None)
        except Closed:
            pass
    assert gateway.push(device.token).status == 200


def test_trailers_end_a_request(gateway, device, connection):
    stream = connection.open("POST", f"/3/device/{device.token}", gateway.fields())
    connection.write(stream, ALERT)
    connection.h2.send_headers(stream, [("x-trailer", "1"), ("apns-topic", "late")], end_stream=True)
    assert connection.wait(stream).status == 200


def test_fields_beyond_all_measure_end_their_stream_only(gateway, device, connection):
    connection.until(lambda: connection.settings)
    large = [("apns-collapse-id", "x" * 20_000)]
    stream = connection.send("POST", f"/3/device/{device.token}", gateway.fields() + large, ALERT)
    assert connection.wait(stream).status != 200
    assert gateway.push(device.token, connection=connection).status == 200


@pytest.mark.parametrize(("method", "path"), [
    ("GET", "/v1/health"), ("GET", "/v1/nothing"), ("PUT", "/3/device/ab"), ("PUT", "/1/apps/x/channels"), ("PUT", "/"),
])
def test_head_is_answered_without_data(connection, method, path):
    whole = connection.request(method, path)
    head = connection.request("HEAD", path)
    assert (head.status, head.shape, head.body) == (whole.status, SUCCESS, b"")
    assert whole.body


def test_who_asks_before_the_body_is_told_to_go_on_and_nobody_else(gateway, device, connection):
    for more, heads in [([("expect", "100-continue")], 2), ([], 1)]:
        stream = connection.open("POST", f"/3/device/{device.token}", gateway.fields() + more)
        connection.ping(len(connection.pongs).to_bytes(8, "big"))
        frames = connection.responses[stream].frames
        assert [frame.name for frame in frames] == ["HEADERS"] * (heads - 1)
        connection.write(stream, ALERT, end=True)
        assert connection.wait(stream).status == 200
        assert [frame.name for frame in frames] == ["HEADERS"] * heads


def test_a_stream_that_is_reset_by_the_sender_is_forgotten(gateway, device, connection):
    for _ in range(50):
        stream = connection.open("POST", f"/3/device/{device.token}", gateway.fields(), flush=False)
        connection.h2.reset_stream(stream, 8)
    connection.flush()
    assert gateway.push(device.token, connection=connection).status == 200


def test_host_instead_of_authority_is_enough(gateway, device, connection):
    response = connection.request("POST", f"/3/device/{device.token}", gateway.fields(), ALERT, authority="host")
    assert response.status == 200


def test_without_alpn_h2_is_spoken(gateway, device):
    with gateway.connect(alpn=None) as connection:
        assert connection.socket.selected_alpn_protocol() is None
        assert gateway.push(device.token, connection=connection).status == 200


def test_alpn_h2_is_chosen_among_others(gateway, device):
    with gateway.connect(alpn=["http/1.1", "h2"]) as connection:
        assert connection.socket.selected_alpn_protocol() == "h2"
        assert gateway.push(device.token, connection=connection).status == 200


def test_alpn_http_1_1_alone_is_refused(gateway):
    with pytest.raises((ssl.SSLError, ConnectionResetError)):
        gateway.connect(alpn=["http/1.1"])


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_the_gateway_says_close_notify_before_it_hangs_up(gateway, version):
    context = ssl.create_default_context(cafile=gateway.trust)
    context.set_alpn_protocols(["h2"])
    context.minimum_version = context.maximum_version = version
    raw = socket.create_connection((gateway.host, gateway.port), timeout=HANG)
    # An end without close_notify is an error then (RFC 8446 §6.1).
    with context.wrap_socket(raw, server_hostname=gateway.host, suppress_ragged_eofs=False) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        while connection.recv(4096):
            pass


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_tls_1_2_and_1_3_are_spoken(gateway, device, version):
    with gateway.connect(version=version) as connection:
        assert connection.socket.version() == {"TLSv1_2": "TLSv1.2", "TLSv1_3": "TLSv1.3"}[version.name]
        assert gateway.push(device.token, connection=connection).status == 200


def test_many_pushes_on_one_connection_keep_its_header_table_in_step(gateway, device, connection):
    fields = gateway.fields()
    for round in range(20):
        streams = [
            connection.send("POST", f"/3/device/{device.token if number % 2 else UNKNOWN}",
                fields + [("apns-id", f"{uuid.uuid4()}"), ("apns-collapse-id", f"{round}-{number}")], ALERT, flush=False)
            for number in range(10)
        ]
        connection.flush()
        assert [connection.wait(stream).status for stream in streams] == [400, 200] * 5


@pytest.mark.parametrize("junk", [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\0" * 64, b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n" + b"\xff" * 64])
def test_junk_ends_its_connection_and_nothing_else(gateway, device, junk):
    with gateway.connect(preface=False) as connection:
        connection.socket.sendall(junk)
        connection.socket.settimeout(HANG)
        try:
            while connection.socket.recv(65536):
                pass
        except (ConnectionResetError, ssl.SSLEOFError):
            pass
    assert gateway.push(device.token).status == 200


def test_a_client_that_leaves_with_open_streams_harms_nobody(gateway, device):
    for _ in range(20):
        connection = gateway.connect()
        for _ in range(20):
            connection.send("POST", f"/3/device/{device.token}", gateway.fields(), ALERT, flush=False)
        connection.open("POST", f"/3/device/{device.token}", gateway.fields())
        connection.close()
    assert gateway.push(device.token).status == 200


# The stream limit (reference §5.3)


@pytest.fixture(scope="module")
def faithful(tmp_path_factory):
    gateway = Gateway(tmp_path_factory.mktemp("faithful") / "state", "--stream-limit", "faithful").start()
    yield gateway
    gateway.stop()


def limits(connection):
    """Every stream limit that was announced, with the place of its frame."""
    return [
        (place, frame.frame.settings[SettingCodes.MAX_CONCURRENT_STREAMS])
        for place, frame in enumerate(connection.frames)
        if frame.name == "SETTINGS" and SettingCodes.MAX_CONCURRENT_STREAMS in frame.frame.settings
    ]


def test_one_stream_is_allowed_until_a_push_was_accepted(faithful):
    device = faithful.device()
    with faithful.connect() as connection:
        for _ in range(2):
            assert_error(faithful.push(UNKNOWN, connection=connection), 400, "BadDeviceToken")
        assert [limit for _, limit in limits(connection)] == [1]
        assert faithful.push(device.token, connection=connection).status == 200
        [(_, first), (place, second)] = limits(connection)
        assert (first, second) == (1, 1000)
        success = connection.responses[5].frames[0]
        assert place < connection.frames.index(success), "the new limit comes before the first 200"
        fields = faithful.fields()
        streams = [connection.send("POST", f"/3/device/{device.token}", fields, ALERT, flush=False) for _ in range(500)]
        connection.flush()
        assert {connection.wait(stream).status for stream in streams} == {200}
        assert len(limits(connection)) == 2


def test_the_limit_does_not_fall_with_a_refusal(faithful):
    """Two libraries count with the lowest limit that they were told, for ever."""
    device = faithful.device()
    with faithful.connect() as connection:
        for _ in range(2):
            assert faithful.push(device.token, connection=connection).status == 200
            for _ in range(2):
                assert_error(faithful.push(UNKNOWN, connection=connection), 400, "BadDeviceToken")
        assert faithful.push(device.token, connection=connection).status == 200
        assert [limit for _, limit in limits(connection)] == [1, 1000]


def test_a_refusal_changes_no_limit_that_is_fixed(gateway, device, connection):
    assert gateway.push(device.token, connection=connection).status == 200
    assert gateway.push(UNKNOWN, connection=connection).status == 400
    assert gateway.push(device.token, connection=connection).status == 200
    assert [limit for _, limit in limits(connection)] == [1000]


def test_more_streams_than_one_are_refused_until_then(faithful):
    device = faithful.device()
    with faithful.connect(preface=False) as connection:
        connection.h2.initiate_connection()
        connection.h2.remote_settings.max_concurrent_streams = 100
        connection.h2.remote_settings.acknowledge()
        streams = [connection.open("POST", f"/3/device/{device.token}", faithful.fields(), flush=False) for _ in range(3)]
        connection.flush()
        assert {connection.wait(stream).reset for stream in streams[1:]} == {7}, "REFUSED_STREAM"
        connection.write(streams[0], ALERT, end=True)
        assert connection.wait(streams[0]).status == 200


def test_a_certificate_allows_all_streams_at_once(faithful):
    with faithful.connect(certificate=faithful.certificate()) as connection:
        connection.until(lambda: len(limits(connection)) == 2)
        assert [limit for _, limit in limits(connection)] == [1, 1000]


def test_a_device_is_not_held_to_one_stream(faithful):
    stream = faithful.stream(faithful.device())
    stream.caught_up()
    assert [limit for _, limit in limits(stream.connection)] == [1, 1000]
    stream.connection.close()


# Silence


def test_a_silent_connection_ends_with_idle_timeout_and_a_device_that_listens_does_not(start):
    # A busy machine may need more than a second between a handshake and the request after it.
    gateway = start("--idle-timeout", 5)
    device = gateway.device()
    stream = gateway.stream(device)
    stream.caught_up()
    with gateway.connect() as silent:
        silent.drain()
        assert bytes(silent.goaway.additional_data) == b'{"reason":"IdleTimeout"}'
    # A device that only listens is not idle: it had said nothing for longer.
    gateway.accepted(device.token)
    assert stream.next("push")
    stream.connection.close()


# The end (reference §5.4)


def test_open_streams_are_answered_before_goaway_with_shutdown(start):
    gateway = start()
    device = gateway.device()
    connection, idle = gateway.connect(), gateway.connect()
    streams = [connection.open("POST", f"/3/device/{device.token}", gateway.fields()) for _ in range(5)]
    # A part of the body of each is there, so the gateway knows of them.
    for stream in streams:
        connection.write(stream, ALERT[:5])
    connection.ping()
    idle.ping()
    gateway.terminate()
    gateway.wait_for_drain()
    # The GOAWAY says that it drains: open streams have three seconds from then on.
    idle.until(lambda: idle.goaway)
    for stream in streams:
        connection.write(stream, ALERT[5:], end=True)
    for stream in streams:
        assert connection.wait(stream).status == 200
    connection.drain()
    idle.drain()
    for each in [connection, idle]:
        assert each.goaway is not None, "GOAWAY is said before the connection closes"
        assert each.goaway.error_code == 0
        assert bytes(each.goaway.additional_data) == b'{"reason":"Shutdown"}'
    assert connection.goaway.last_stream_id >= streams[-1]
    names = [frame.name for frame in connection.frames if frame.name in ("HEADERS", "GOAWAY")]
    assert names == ["HEADERS"] * 5 + ["GOAWAY"]
    assert gateway.ended() == 0
    # What was answered 200 is there after the restart.
    gateway.start()
    stream = gateway.stream(device)
    assert len(stream.caught_up()) == 5
    stream.connection.close()


def test_connections_that_never_spoke_do_not_keep_the_gateway_from_ending(start):
    gateway = start()
    silent = [socket.create_connection((gateway.host, gateway.port)) for _ in range(3)]
    half = socket.create_connection((gateway.host, gateway.port))
    half.sendall(bytes.fromhex("16030100c8010000c4"))
    with gateway.connect(preface=False):
        gateway.stop()
    for each in [*silent, half]:
        each.close()


def test_a_stream_that_never_ends_does_not_keep_the_gateway_from_ending(start):
    gateway = start()
    device = gateway.device()
    connection = gateway.connect()
    connection.open("POST", f"/3/device/{device.token}", gateway.fields())
    connection.ping()
    gateway.stop()


def test_a_devices_request_that_is_not_complete_is_answered_in_its_own_form(start):
    gateway = start("--idle-timeout", 5)
    with gateway.connect() as connection:
        stream = connection.open("POST", "/v1/devices")
        connection.drain()
        response = connection.responses[stream]
        assert response.status == 503 and "before the request was complete" in response.json["detail"]
        assert response["content-type"] == "application/problem+json"


def test_a_sender_that_never_pauses_gets_an_answer_to_all_it_sent_before_goaway(start):
    gateway = start()
    device = gateway.device()
    connection = gateway.connect()
    fields = gateway.fields()
    streams = []
    accepted = 0
    gateway_ends = False
    try:
        while connection.goaway is None:
            streams.append(connection.send("POST", f"/3/device/{device.token}", fields, ALERT))
            if len(streams) == 50:
                gateway.terminate()
                gateway_ends = True
            if len(streams) % 10 == 0:
                connection.wait(streams[-10])
    except Closed:
        pass
    connection.drain()
    assert gateway_ends and connection.goaway is not None
    for stream in streams:
        response = connection.responses[stream]
        if stream <= connection.goaway.last_stream_id:
            assert response.status == 200, f"stream {stream} of {connection.goaway.last_stream_id} had no answer"
            accepted += 1
    assert gateway.ended() == 0
    gateway.start()
    assert gateway.devices()[0]["waiting"] >= accepted


@pytest.mark.alone("when its connections end")
def test_after_sigterm_no_new_connection_is_taken(start):
    gateway = start()
    connection = gateway.connect()
    connection.open("POST", "/3/device/" + UNKNOWN, gateway.fields())
    connection.ping()
    gateway.terminate()
    gateway.wait_for_drain()

    with pytest.raises((ConnectionRefusedError, ConnectionResetError, ssl.SSLError)):
        gateway.connect().close()
    connection.close()
    assert gateway.ended() == 0
