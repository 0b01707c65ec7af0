"""Webhooks: `pushcli hooks`, and what services post to `/hooks/NAME`, with the bodies of `Tests/Webhooks`."""

import hashlib
import hmac
import json
import subprocess
import uuid
from pathlib import Path

import pytest
import requests

from gateway import TOPIC
from test_senders import Sender, shown
from waiting import HANG

BODIES = Path(__file__).parents[1] / "Webhooks"


class Webhook:
    """A webhook, and curl with the body of its service."""

    def __init__(self, gateway, kind, *recipients, options=()):
        self.gateway, self.name = gateway, f"h-{uuid.uuid4().hex[:8]}"
        to = [word for name in recipients for word in ("--to", name)]
        self.added = gateway.run("hooks", "add", self.name, "--kind", kind, "--app", TOPIC, *to, *options)
        self.token = self.added.out.strip()

    def post(self, body, *headers, query=""):
        """The status and the JSON of the answer to a recorded body, or to bytes."""
        content = body if isinstance(body, bytes) else (BODIES / f"{body}.json").read_bytes()
        fields = [word for header in headers for word in ("-H", header)]
        done = subprocess.run(
            ["curl", "-sS", "-w", "\n%{http_code}", "--cacert", self.gateway.trust, "-H", "content-type: application/json",
             *fields, "--data-binary", "@-", f"https://{self.gateway.address}/hooks/{self.name}{query}"],
            input=content, capture_output=True, timeout=HANG)
        assert done.returncode == 0, done.stderr
        answer, _, status = done.stdout.decode().rpartition("\n")
        return int(status), json.loads(answer)

    @property
    def bearer(self):
        return f"Authorization: Bearer {self.token}"


def test_a_group_of_alerts_is_one_push_and_its_end_retracts_it(gateway, device):
    alerts = Webhook(gateway, "alertmanager", device.name)
    assert f"/hooks/{alerts.name}" in alerts.added.err and alerts.token in alerts.added.err
    status, answer = alerts.post("alertmanager-firing", alerts.bearer)
    assert status == 200, answer
    assert "alert" in answer["recipients"][0]["devices"][0]["presented"]
    assert alerts.post("alertmanager-firing", alerts.bearer)[0] == 200
    [presentation] = shown(gateway, device)
    assert presentation["alert"]["title"] == "HighRequestLatency (2)"
    assert presentation["alert"]["body"] == "Requests on api-1 are slow\nRequests on api-2 are slow"
    status, answer = alerts.post("alertmanager-resolved", alerts.bearer)
    assert (status, answer["result"]) == (200, "retracted")
    assert gateway.waiting(device) == 0
    assert alerts.post("alertmanager-resolved", alerts.bearer) == (200, {"result": "unknown"})


def test_an_event_of_github_is_signed(gateway, device):
    code = Webhook(gateway, "github", device.name)

    def sign(name, token=code.token):
        body = (BODIES / f"{name}.json").read_bytes()
        return "X-Hub-Signature-256: sha256=" + hmac.new(token.encode(), body, hashlib.sha256).hexdigest()

    for headers in [[], [code.bearer], [sign("github-push")], [sign("github-workflow-failed", "other")]]:
        status, answer = code.post("github-workflow-failed", *headers)
        assert (status, answer["reason"]) == (401, "Unauthorized")
    assert gateway.waiting(device) == 0
    assert code.post("github-ping", sign("github-ping"))[1]["result"] == "ignored"
    assert code.post("github-workflow-failed", sign("github-workflow-failed"))[0] == 200
    assert shown(gateway, device)[0]["alert"]["title"] == "octo-org/shop: Build failed"
    status, answer = code.post("github-workflow-succeeded", sign("github-workflow-succeeded"))
    assert (status, answer["result"]) == (200, "retracted")


@pytest.mark.alone("HTTP/1.1 is served by each machine itself")
def test_webhooks_over_http1(gateway, device, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    address = (gateway.state / "http-listening").read_text().split()[0]
    alerts, code = Webhook(gateway, "alertmanager", device.name), Webhook(gateway, "github", device.name)

    def post(hook, body, headers):
        content = body if isinstance(body, bytes) else (BODIES / f"{body}.json").read_bytes()
        answer = requests.post(f"http://{address}/hooks/{hook.name}", data=content, headers=headers, timeout=HANG)
        return answer.status_code, answer.json()

    bearer = {"Authorization": f"Bearer {alerts.token}", "Content-Type": "application/json", "User-Agent": "Alertmanager/0.28.1"}
    firing = (BODIES / "alertmanager-firing.json").read_bytes()
    for body in ["alertmanager-firing", firing + b" " * ((256 << 10) - len(firing))]:
        status, answer = post(alerts, body, bearer)
        assert status == 200 and answer["recipients"][0]["devices"], answer
    assert gateway.waiting(device) == 1
    assert post(alerts, firing + b" " * (256 << 10), bearer)[0] == 413
    assert post(alerts, "alertmanager-resolved", bearer)[1]["result"] == "retracted"
    assert post(alerts, "alertmanager-firing", {})[0] == 401
    content = (BODIES / "github-workflow-failed.json").read_bytes()
    digest = hmac.new(code.token.encode(), content, hashlib.sha256).hexdigest()
    headers = {"X-GitHub-Event": "workflow_run", "X-Hub-Signature-256": "sha256=" + digest, "User-Agent": "GitHub-Hookshot/1"}
    assert post(code, content, headers)[0] == 200
    assert post(code, content + b" ", headers)[0] == 401
    assert shown(gateway, device)[0]["alert"]["title"] == "octo-org/shop: Build failed"


def test_a_webhook_and_a_sender_have_paths_of_their_own(gateway, device):
    hook, sender = Webhook(gateway, "alertmanager", device.name), Sender(gateway, device.name)
    firing = (BODIES / "alertmanager-firing.json").read_text()
    for path, token in [(f"/send/{hook.name}", hook.token), (f"/ntfy/{hook.name}", hook.token), ("/gotify/message", hook.token),
                        (f"/beat/{hook.name}", hook.token), (f"/hooks/{sender.name}", sender.token)]:
        done = subprocess.run(
            ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "--cacert", gateway.trust, "-d", firing,
             "-H", f"authorization: bearer {token}", f"https://{gateway.address}{path}"],
            capture_output=True, text=True, timeout=HANG)
        assert done.stdout == "401", path
    refused = gateway.run("expect", hook.name, "--every", "1h", code=1)
    assert "webhook" in refused.err
    assert gateway.waiting(device) == 0


@pytest.mark.parametrize("kind, body, way", [
    ("grafana", "grafana-firing", "bearer"), ("gitlab", "gitlab-merge-request", "gitlab"),
    ("healthchecks", "healthchecks-down", "query"),
])
def test_each_way_to_send_a_token(gateway, device, kind, body, way):
    hook = Webhook(gateway, kind, device.name)
    headers = {"bearer": [hook.bearer], "gitlab": [f"X-Gitlab-Token: {hook.token}"], "query": []}[way]
    status, answer = hook.post(body, *headers, query=f"?token={hook.token}" if way == "query" else "")
    assert status == 200, answer
    assert gateway.waiting(device) == 1
    assert hook.post(body)[0] == 401


def test_any_json_is_read_by_pointers(gateway, device):
    options = [word for field in ["title=/monitor/name", "body=/message", "link=/monitor/url", "subject=/monitor/id"]
               for word in ("--field", field)]
    hook = Webhook(gateway, "json", device.name, options=options)
    assert hook.post("json-down", hook.bearer)[0] == 200
    alert = shown(gateway, device)[0]["alert"]
    assert (alert["title"], alert["body"]) == ("shop.example", "Connection refused")
    missing = gateway.run("hooks", "add", "x", "--kind", "json", "--app", TOPIC, "--to", device.name, code=2)
    assert "--field" in missing.err
    wrong = gateway.run(
        "hooks", "add", "x", "--kind", "json", "--field", "colour=/c", "--app", TOPIC, "--to", device.name, code=2)
    assert "colour" in wrong.err


def test_a_body_is_tested_without_sending(gateway, device):
    hook = Webhook(gateway, "alertmanager", device.name)
    done = gateway.run("hooks", "test", hook.name, BODIES / "alertmanager-firing.json")
    assert json.loads(done.out)["aps"]["interruption-level"] == "time-sensitive"
    assert f"{device.name} would present" in done.err
    [record] = gateway.run("hooks", "test", hook.name, BODIES / "alertmanager-resolved.json", "--json").records
    assert record["result"] == "resolved" and record["collapse_id"]
    refused = gateway.run("hooks", "test", hook.name, BODIES / "github-push.json", code=2)
    assert "groupKey" in refused.err
    assert gateway.waiting(device) == 0


def test_hostile_bodies_are_refused_in_one_line(gateway, device):
    hook = Webhook(gateway, "alertmanager", device.name)
    deep = b"[" * 10_000 + b"]" * 10_000
    for body, expected in [(b"", 400), (b"{", 400), (deep, 400), (b'{"alerts":1e999}', 400), (b"{}", 400),
                           (b'{"x":"' + b"x" * (1 << 20) + b'"}', 413)]:
        status, answer = hook.post(body, hook.bearer)
        assert status == expected, answer
        assert "\n" not in answer["message"]
    assert hook.post("alertmanager-firing", hook.bearer)[0] == 200


def test_webhooks_are_listed_with_their_kinds_and_outlive_a_restart(start):
    gateway = start()
    device = gateway.device()
    hook = Webhook(gateway, "alertmanager", device.name)
    assert hook.post("alertmanager-firing", hook.bearer)[0] == 200
    gateway.kill()
    gateway.restart()
    listed = gateway.run("hooks", "--json")
    assert [(row["name"], row["kind"]) for row in listed.records] == [(hook.name, "alertmanager")]
    assert hook.token not in listed.out
    assert hook.post("alertmanager-resolved", hook.bearer)[1]["result"] == "retracted"
    token = gateway.run("hooks", "rotate", hook.name).out.strip()
    assert hook.post("alertmanager-firing", hook.bearer)[0] == 401
    assert hook.post("alertmanager-firing", f"Authorization: Bearer {token}")[0] == 200
    gateway.run("hooks", "remove", hook.name)
    assert hook.post("alertmanager-firing", f"Authorization: Bearer {token}")[0] == 401
