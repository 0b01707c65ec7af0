"""The publish API of ntfy and the messages of Gotify: apprise, and the bodies that other programs send."""

import base64
import json
import logging
import subprocess

import apprise
import pytest
import requests

from test_senders import Sender
from waiting import HANG

pytestmark = pytest.mark.alone("HTTP/1.1 is served by each machine itself")

GRAFANA = {
    "receiver": "gateway", "status": "firing", "orgId": 1, "version": "1", "truncatedAlerts": 0, "state": "alerting",
    "externalURL": "http://localhost:3000/", "groupKey": '{}:{alertname="CPU"}', "groupLabels": {"alertname": "CPU"},
    "commonLabels": {"alertname": "CPU", "grafana_folder": "Nodes"}, "commonAnnotations": {"summary": "CPU is busy"},
    "title": "[FIRING:1] CPU Nodes", "message": "**Firing**\n\nValue: B=97\nLabels:\n - alertname = CPU\n",
    "alerts": [{
        "status": "firing", "labels": {"alertname": "CPU", "instance": f"node-{number}:9100", "job": "node-exporter"},
        "annotations": {"summary": "CPU is busy"}, "startsAt": "2026-03-15T02:28:00Z", "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "http://localhost:3000/alerting/grafana/NW9oDw4z/view", "fingerprint": "becbfb94bd81ef48",
        "silenceURL": "http://localhost:3000/alerting/silence/new?alertmanager=grafana&matcher=alertname%3DCPU",
        "dashboardURL": "", "panelURL": "", "values": {"B": 97.2, "C": 1},
        "valueString": "[ var='B' labels={instance=node:9100} value=97.2 ]",
    } for number in range(12)],
}

#: What each program sends: the path, the fields, and the body as JSON; and the title, the text and the link of the alert.
RECORDED = {
    "Uptime Kuma, ntfy": (
        "/ntfy", {"Authorization": "Bearer {token}", "Accept": "application/json, text/plain, */*", "User-Agent": "axios/0.32.0"},
        {"topic": "{name}", "message": "timeout of 48000ms exceeded", "priority": 5, "title": "Shop Down [Uptime-Kuma]",
         "tags": ["red_circle", "prod: eu"], "actions": [{"action": "view", "label": "Open Shop", "url": "https://shop.example/"}],
         "icon": "https://example.com/icon.png"},
        ("🔴 Shop Down [Uptime-Kuma]", "timeout of 48000ms exceeded\nTags: prod: eu", "https://shop.example/")),
    "Uptime Kuma, Gotify": (
        "/gotify/message?token={token}", {"User-Agent": "axios/0.32.0"},
        {"message": "[Shop] [🔴 Down] timeout of 48000ms exceeded", "priority": 8, "title": "Uptime-Kuma"},
        ("Uptime-Kuma", "[Shop] [🔴 Down] timeout of 48000ms exceeded", None)),
    "Home Assistant, ntfy": (
        "/ntfy/", {"Authorization": "Bearer {token}", "User-Agent": "HomeAssistant/2026.3.1 aiohttp/3.13.2 Python/3.13"},
        {"topic": "{name}", "message": "The garage is open", "title": "Garage", "tags": ["warning"], "priority": 4, "actions": [],
         "click": "https://home.example/garage", "attach": None, "markdown": False, "icon": None, "filename": None, "delay": None,
         "email": None, "call": None, "sequence_id": None},
        ("⚠️ Garage", "The garage is open", "https://home.example/garage")),
    "Home Assistant, Gotify": (
        "/gotify/message", {"X-Gotify-Key": "{token}"},
        {"title": "Home Assistant", "message": "The garage is open", "priority": 5,
         "extras": {"client::display": {"contentType": "text/plain"}, "client::notification": {"click": {"url": "https://home.example"}}}},
        ("Home Assistant", "The garage is open", "https://home.example")),
    "Grafana, ntfy": (
        "/ntfy/{name}?template=grafana", {"Authorization": "Bearer {token}", "User-Agent": "Grafana"}, GRAFANA,
        ("🚨 [FIRING:1] CPU Nodes", GRAFANA["message"], None)),
    "Grafana, Gotify": (
        "/gotify/message?token={token}", {"User-Agent": "Grafana"}, GRAFANA, ("[FIRING:1] CPU Nodes", GRAFANA["message"], None)),
}


@pytest.fixture(autouse=True)
def without_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def sender(gateway, device):
    return Sender(gateway, device.name)


@pytest.fixture
def address(gateway):
    """The address of HTTP/1.1."""
    return (gateway.state / "http-listening").read_text().split()[0]


def filled(value, sender):
    """A recorded value with the name and the token of a sender."""
    return json.loads(json.dumps(value).replace("{token}", sender.token).replace("{name}", sender.name))


def payload(gateway, device):
    """The payload of the only pending push of a device."""
    stream = gateway.stream(device)
    [payload] = [line["payload"] for line in stream.caught_up() if line["type"] == "push"]
    stream.connection.close()
    return payload


def alert(payload):
    """The title, the text and the link."""
    return payload["aps"]["alert"].get("title", ""), payload["aps"]["alert"]["body"], payload.get("url")


def h2(sender, path, *options):
    """Sends over HTTP/2 with curl; returns the status and the JSON of the answer."""
    done = subprocess.run(
        ["curl", "-sS", "-w", "\n%{http_code} %{http_version}", "--cacert", sender.gateway.trust, *options,
         f"https://{sender.gateway.address}{path}"], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stderr
    body, _, line = done.stdout.rpartition("\n")
    status, version = line.split()
    assert version == "2"
    return int(status), json.loads(body)


@pytest.mark.parametrize("program", RECORDED)
def test_a_recorded_request_becomes_an_alert(gateway, device, sender, address, program):
    path, fields, body, expected = RECORDED[program]
    path, fields, body = filled([path, fields, body], sender)
    answer = requests.post(f"http://{address}{path}", json=body, headers=fields, timeout=HANG)
    assert answer.status_code == 200, answer.text
    assert alert(payload(gateway, device)) == expected
    record = answer.json()
    if path.startswith("/ntfy"):
        assert (record["event"], record["topic"]) == ("message", sender.name)
        assert record["expires"] > record["time"] and gateway.events(record["id"], "stored")
    else:
        assert record["message"] == body["message"] and isinstance(record["id"], int) and record["date"].endswith("Z")


@pytest.mark.parametrize("url, title, sounds", [
    ("ntfy://{address}/{name}?token={token}&mode=private&priority=high&tags=warning,db&click=https://example.com", "⚠️ Backup", True),
    ("ntfy://user:{token}@{address}/{name}?mode=private", "Backup", True),
    ("ntfy://{address}/{name}?token={token}&mode=private&priority=min", "Backup", False),
    ("gotify://{address}/gotify/{token}?priority=high", "Backup", True),
    ("gotify://{address}/gotify/{token}?priority=low", "Backup", False),
])
def test_apprise_sends(gateway, device, sender, address, url, title, sounds):
    sending = apprise.Apprise()
    assert sending.add(url.format(address=address, name=sender.name, token=sender.token))
    assert sending.notify(title="Backup", body="3 files failed")
    received = payload(gateway, device)
    found, body, link = alert(received)
    assert found == title and body.startswith("3 files failed")
    assert link == ("https://example.com" if "click" in url else None)
    assert ("Tags: db" in body) == ("tags" in url)
    assert ("sound" in received["aps"]) == sounds


@pytest.mark.parametrize("url, words", [
    ("ntfy://{address}/{name}?token=pgs-WRONG&mode=private", "error=40101"),
    ("gotify://{address}/gotify/pgs-WRONG", "error=401"),
])
def test_apprise_reports_a_wrong_token(gateway, device, sender, address, caplog, url, words):
    sending = apprise.Apprise()
    assert sending.add(url.format(address=address, name=sender.name))
    with caplog.at_level(logging.WARNING):
        assert not sending.notify(title="Backup", body="x")
    assert words in caplog.text and gateway.waiting(device) == 0


def test_ntfy_over_http2_has_fields_and_short_names(gateway, device, sender):
    bearer = f"authorization: bearer {sender.token}"
    status, answer = h2(
        sender, f"/ntfy/{sender.name}", "-H", bearer, "-H", "Title: Backup", "-H", "prio: 5", "-H", "ta: cd,db",
        "-H", 'Actions: view, "Open, now", https://example.com/a', "-d", "Done")
    assert status == 200 and answer["priority"] == 5 and answer["tags"] == ["cd", "db"], answer
    assert alert(payload(gateway, device)) == ("💿 Backup", "Done\nTags: db", "https://example.com/a")


@pytest.mark.parametrize("user", ["", "phil"])
def test_the_password_is_the_token(gateway, device, sender, address, user):
    answer = requests.put(f"http://{address}/ntfy/{sender.name}", data="x", auth=(user, sender.token), timeout=HANG)
    assert answer.status_code == 200, answer.text
    encoded = base64.urlsafe_b64encode(f"Basic {base64.b64encode(f'{user}:{sender.token}'.encode()).decode()}".encode())
    url = f"http://{address}/ntfy/{sender.name}?auth={encoded.decode().rstrip('=')}&title=a+b"
    assert requests.post(url, data="x", timeout=HANG).json()["title"] == "a b"
    assert gateway.waiting(device) == 2


def test_a_delayed_message_is_scheduled(gateway, device, sender, address):
    answer = requests.post(
        f"http://{address}/ntfy/{sender.name}", data="Later", headers={"In": "2 hours", "Authorization": f"Bearer {sender.token}"},
        timeout=HANG)
    assert answer.status_code == 200 and gateway.waiting(device) == 0
    assert answer.json()["id"].lower() in [row["id"].lower() for row in gateway.admin("GET", "scheduled")]


@pytest.mark.parametrize("body", [{"data": {"title": "a", "message": "b c", "priority": "8"}},
                                  {"files": {"title": (None, "a"), "message": (None, "b c"), "priority": (None, "8")}}])
def test_gotify_takes_forms(gateway, device, sender, address, body):
    answer = requests.post(f"http://{address}/gotify/message?token={sender.token}", timeout=HANG, **body)
    assert answer.status_code == 200 and answer.json()["priority"] == 8, answer.text
    assert alert(payload(gateway, device)) == ("a", "b c", None)


def test_mistakes_have_the_form_of_each_api(gateway, device, sender, address):
    bearer = {"Authorization": f"Bearer {sender.token}"}
    for path, options, status, code, words in [
        ("/ntfy/nobody", {"data": "x"}, 401, 40101, "token"),
        (f"/ntfy/{sender.name}", {"data": "x", "headers": {"Priority": "9"}}, 400, 40007, "priority"),
        (f"/ntfy/{sender.name}", {"data": "x" * 4097}, 413, 41301, "4096"),
        (f"/ntfy/{sender.name}", {"data": b"\x89PNG"}, 400, 40011, "filename"),
        ("/ntfy", {"json": {"message": "x"}}, 400, 40009, "topic"),
        ("/gotify/message", {"json": {"title": "x"}}, 400, 400, "message"),
        ("/gotify/message", {"data": "x", "headers": {"Content-Type": "image/png"}}, 415, 415, "image/png"),
    ]:
        headers = bearer | options.pop("headers", {})
        answer = requests.post(f"http://{address}{path}", headers=headers, timeout=HANG, **options)
        record = answer.json()
        message = record["error"] if "code" in record else record["errorDescription"]
        assert (answer.status_code, record.get("code", record.get("errorCode"))) == (status, code), answer.text
        assert words in message and "\n" not in message
    assert gateway.waiting(device) == 0


def test_the_rate_of_the_sender_holds_for_all_forms(gateway, device, address):
    sender = Sender(gateway, device.name, options=["--rate", "1"])
    assert sender.curl("-d", "1")[0] == 200
    answer = requests.post(f"http://{address}/gotify/message?token={sender.token}", json={"message": "2"}, timeout=HANG)
    assert (answer.status_code, answer.headers["retry-after"], answer.json()["errorCode"]) == (429, "60", 429)
