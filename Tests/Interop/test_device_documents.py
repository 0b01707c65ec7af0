"""The OpenAPI document of device requests, and the schema of stream lines, describe what a gateway does.

`wire.DeviceStream` validates the lines that any gateway of this suite sends.
"""

import json
import re
import uuid
from urllib.parse import quote

import jsonschema
import pytest

from documents import API, FROM_DEVICE, FROM_GATEWAY, REFERENCE, STREAM, check_answer, check_line
from gateway import TOPIC

OPERATIONS = {(method.upper(), path) for path, item in API["paths"].items() for method in item}


class Caller:
    """The requests of one device, each of which is validated."""

    def __init__(self, connection, device):
        self.connection, self.device, self.called = connection, device, set()

    def __call__(self, method, template, body=None, query="", secret=True, **values):
        path = re.sub(r"{(\w+)}", lambda name: quote(values[name[1]], safe=""), template)
        fields = [("authorization", f"bearer {self.device.secret}")] if secret else []
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        answer = self.connection.request(method, path + query, fields, data)
        check_answer(method, template, answer.status, answer["content-type"] if answer.body else None, answer.body)
        self.called.add((method, template))
        return answer


@pytest.mark.alone("a device enrolls without an invitation")
def test_each_operation_answers_as_documented(gateway, device, connection):
    call = Caller(connection, device)
    push = gateway.accepted(device.token)
    stream = gateway.stream(device)
    assert stream.next_of("push")["id"] == push
    for method in ("GET", "POST"):
        # The answers of these two do not end; each of their lines is validated.
        call.called.add((method, "/v1/device/stream"))
    name = f"documented-{uuid.uuid4().hex[:8]}"
    assert call("POST", "/v1/devices", {"name": name}, secret=False).status == 201
    assert call("POST", "/v1/devices", {"name": name}, secret=False).status == 409
    assert call("GET", "/v1/device").json["apps"] == [TOPIC]
    assert [app["topic"] for app in call("GET", "/v1/device/apps").json] == [TOPIC]
    assert call("PUT", "/v1/device/apps/{topic}", topic=TOPIC).json["token"] == device.token
    assert call("PUT", "/v1/device/apps/{topic}", topic="com.example.none").status == 404
    preferences = call("GET", "/v1/device/preferences").json
    assert call("PUT", "/v1/device/preferences", preferences).status == 200
    assert call("POST", "/v1/device/preferences", {"settings": ["sound=off"]}).json["sound"] is False
    app = call("GET", "/v1/device/preferences/apps/{topic}", topic=TOPIC).json
    assert call("PUT", "/v1/device/preferences/apps/{topic}", app, topic=TOPIC).status == 200
    category = "/v1/device/preferences/apps/{topic}/categories/{category}"
    assert call("GET", category, topic=TOPIC, category="SPORT").status == 200
    assert call("PUT", category, {"alert": False}, topic=TOPIC, category="SPORT").status == 200
    channel = gateway.channel()
    assert call("PUT", "/v1/device/channels/{id}", id=channel).status == 204
    assert call("GET", "/v1/device/channels").json["channels"] == [channel]
    assert call("DELETE", "/v1/device/channels/{id}", id=channel).status == 204
    link = gateway.admin("POST", "channels", channel, "shares", body={"valid_seconds": 600, "uses": 5})["invitation"]
    assert call("POST", "/v1/device/channels", {"invitation": link}).json["id"] == channel
    assert call("POST", "/v1/device/reports", b'{"type":"presented","id":"' + push.encode() + b'","parts":["alert"]}\n').status == 200
    assert call("POST", "/v1/device/acknowledgements", {"seq": 1}).status in (204, 409)
    assert call("POST", "/v1/device/ads/reports", {"id": push, "topic": TOPIC, "text": "Buy now"}).status == 204
    assert call("GET", "/v1/device/ads/reports").json
    assert [row["topic"] for row in call("GET", "/v1/device/ads/standing").json] == [TOPIC]
    assert call("GET", "/v1/device/log").status == 200
    start = call("GET", "/v1/device/log/start", query="?limit=1").json
    after = quote(str(start.get("position") or start["after"]))
    assert call("GET", "/v1/device/log/next", query=f"?after={after}&seconds=0").json["rows"]
    made = call("POST", "/v1/device/endpoints", {"name": "blog", "app": TOPIC, "origin": "https://localhost:2197"})
    assert made.json["url"] == f"https://localhost:2197/webpush/{made.json['id']}"
    assert [one["name"] for one in call("GET", "/v1/device/endpoints").json] == ["blog"]
    assert call("DELETE", "/v1/device/endpoints/{name}", name="blog").status == 204
    key = call("GET", "/v1/device/subscription").json["key"]
    subscription = {"endpoint": "https://push.example/1", "keys": {"p256dh": key, "auth": "A" * 22}}
    assert call("PUT", "/v1/device/subscription", subscription).status == 204
    assert call("GET", "/v1/device/subscription").json["endpoint"] == "https://push.example/1"
    assert call("DELETE", "/v1/device/subscription").status == 204
    assert call("GET", "/v1/device/attachments/{id}", id="0" * 32).status == 404
    assert call("DELETE", "/v1/device/apps/{topic}", topic=TOPIC).status == 204
    assert call("GET", "/v1/device", secret=False).status == 401
    assert call.called == OPERATIONS


def test_each_path_describes_its_parameters():
    for path, item in API["paths"].items():
        for method, operation in item.items():
            names = {one["name"] for one in operation.get("parameters", []) if one["in"] == "path"}
            assert names == set(re.findall(r"{(\w+)}", path)), (method, path)


def test_the_schema_is_valid_and_lists_the_lines_of_the_page():
    jsonschema.Draft202012Validator.check_schema(STREAM)
    page = (REFERENCE / "device-protocol.md").read_text()
    device, gateway = page.split("### From the device")[1].split("### From the gateway")
    gateway = gateway.split("###")[0]
    for text, kinds in ((device, FROM_DEVICE), (gateway, FROM_GATEWAY)):
        assert set(re.findall(r"^\| `([a-z-]+)` \|", text, re.M)) == set(kinds)


@pytest.mark.parametrize("line", [
    {"type": "hello", "version": 3, "cursor": 0, "silent": False}, {"type": "hello", "focus": None},
    {"type": "ack", "seq": 7}, {"type": "ack", "channel": "dHN0LXNyY2gtY2hubA==", "number": 2},
    {"type": "undeliverable", "seq": 3}, {"type": "state", "focus": "work"},
    {"type": "presented", "id": str(uuid.uuid4()), "parts": ["badge", "alert"]},
    {"type": "answer", "id": str(uuid.uuid4()), "action": "view"}, {"type": "ack", "seq": 7, "later": True},
])
def test_a_line_of_a_device_is_valid(line):
    check_line(line, FROM_DEVICE)


@pytest.mark.parametrize("line", [
    {"type": "push", "seq": 1}, {"type": "caught-up", "seq": -1}, {"type": "bye", "reason": "tired"}, {"type": "retract"},
])
def test_a_line_that_no_gateway_sends_is_refused(line):
    with pytest.raises(jsonschema.ValidationError):
        check_line(line)
