"""Messages without a provider token: `pushcli senders`, and what curl sends to `/send/NAME`."""

import json
import re
import subprocess
import uuid

import pytest

from gateway import TOPIC
from test_ads import AD
from waiting import HANG


class Sender:
    """A sender, and curl with its token."""

    def __init__(self, gateway, *recipients, topic=TOPIC, options=()):
        self.gateway, self.name = gateway, f"s-{uuid.uuid4().hex[:8]}"
        to = [word for name in recipients for word in ("--to", name)]
        self.token = gateway.run("senders", "add", self.name, "--app", topic, *to, *options).out.strip()

    def curl(self, *options, token=None, name=None):
        """The status, the fields and the JSON of the answer."""
        url = f"https://{self.gateway.address}/send/{name or self.name}"
        done = subprocess.run(
            ["curl", "-sS", "-i", "--cacert", self.gateway.trust, "-H", f"authorization: bearer {token or self.token}",
             *options, url],
            capture_output=True, timeout=HANG)
        assert done.returncode == 0, done.stderr
        head, _, body = done.stdout.decode().replace("\r\n", "\n").partition("\n\n")
        return int(head.split()[1]), head, json.loads(body)


@pytest.fixture
def sender(gateway, device):
    return Sender(gateway, device.name)


def shown(gateway, device):
    """The presentation of each pending push of a device."""
    stream = gateway.stream(device)
    lines = [line["presentation"] for line in stream.caught_up() if line["type"] == "push"]
    stream.connection.close()
    return lines


@pytest.mark.parametrize("options, title, body, badge", [
    (["-d", "Backup done"], "", "Backup done", None),
    (["-d", "exit=1, 50% & more"], "", "exit=1, 50% & more", None),
    (["-d", "title=Backup", "--data-urlencode", "body=A & B = 100%", "-d", "badge=3"], "Backup", "A & B = 100%", 3),
    (["-d", '{"title":"Backup","body":"Done","badge":0}'], "Backup", "Done", 0),
    (["-H", "content-type: application/json", "-d", '{"body":"Done","sound":"default"}'], "", "Done", None),
    (["-H", "content-type: text/plain", "-d", "title=x"], "", "title=x", None),
    (["-H", "content-type:", "-d", "Done"], "", "Done", None),
])
def test_each_form_of_a_message_is_presented(gateway, device, sender, options, title, body, badge):
    status, _, answer = sender.curl(*options)
    assert status == 200, answer
    presentation = shown(gateway, device)[0]
    assert (presentation["alert"]["title"], presentation["alert"]["body"]) == (title, body)
    assert presentation.get("badge") == badge
    devices = answer["recipients"][0]["devices"]
    assert devices[0]["device"] == device.name and "alert" in devices[0]["presented"]
    assert gateway.events(answer["id"], "stored")


def test_the_printed_command_sends(gateway, device):
    done = gateway.run("senders", "add", f"s-{uuid.uuid4().hex[:8]}", "--app", TOPIC, "--to", device.name)
    token = done.out.strip()
    assert re.fullmatch(r"pgs-[0-9A-HJKMNP-TV-Z]{26}", token)
    line = next(line for line in done.err.splitlines() if line.startswith("curl "))
    assert token in line
    # The command names the gateway as other machines reach it; here it is reached at its own address.
    line = re.sub(r"https://[^/]+/", f"https://{gateway.address}/", line)
    answer = subprocess.run(["sh", "-c", line + " -sS"], capture_output=True, text=True, timeout=HANG)
    assert json.loads(answer.stdout)["recipients"][0]["recipient"] == device.name, answer.stderr


def test_a_wrong_token_an_unknown_name_and_another_sender_get_401(gateway, device, sender):
    other = Sender(gateway, device.name)
    for options in [{"token": "pgs-WRONG"}, {"token": other.token}, {"name": "nobody"}]:
        status, _, answer = sender.curl("-d", "x", **options)
        assert (status, answer["reason"]) == (401, "Unauthorized")
        assert "\n" not in answer["message"]
    gateway.run("senders", "rotate", sender.name)
    assert sender.curl("-d", "x")[0] == 401
    gateway.run("senders", "remove", other.name)
    assert other.curl("-d", "x")[0] == 401
    assert gateway.waiting(device) == 0


def test_a_sender_reaches_its_recipients_only(gateway, device):
    away = gateway.device()
    sender = Sender(gateway, device.name)
    assert sender.curl("-d", "x")[0] == 200
    assert (gateway.waiting(device), gateway.waiting(away)) == (1, 0)
    unknown = gateway.run("senders", "add", "wrong", "--app", TOPIC, "--to", "nobody", code=3)
    assert "nobody" in unknown.err
    other = gateway.app()
    refused = gateway.run("senders", "add", "wrong", "--app", other, "--to", device.name, code=1)
    assert f"pushcli devices register {device.name} {other}" in refused.err
    gateway.unregister(device.name, TOPIC)
    status, _, answer = sender.curl("-d", "x")
    assert (status, answer["reason"]) == (409, "NotRegistered")


def test_a_rate_is_kept_and_says_when_to_send_again(gateway, device):
    sender = Sender(gateway, device.name, options=["--rate", "1"])
    assert sender.curl("-d", "1")[0] == 200
    status, head, answer = sender.curl("-d", "2")
    assert (status, answer["reason"]) == (429, "TooManyRequests")
    assert re.search(r"^retry-after: 60$", head, re.M)
    assert gateway.waiting(device) == 1


@pytest.mark.parametrize("options", [["-d", "badge=three"], ["-d", '{"badge":"3"}']])
def test_a_badge_is_a_number_by_the_rule_of_every_push(gateway, device, sender, options):
    status, _, answer = sender.curl(*options)
    assert (status, answer["reason"], answer["rule"]) == (403, "Forbidden", "B1")
    assert gateway.waiting(device) == 0


def test_advertising_is_refused_or_removed_as_the_app_has_it(gateway, device, sender):
    status, _, answer = sender.curl("-d", json.dumps({"title": "News", "body": AD}))
    assert (status, answer["rule"]) == (403, "A9")
    topic = gateway.app(ads="hold")
    held = gateway.device(topic=topic)
    status, _, answer = Sender(gateway, held.name, topic=topic).curl("-d", "title=News", "--data-urlencode", f"body={AD}")
    assert status == 200
    found = answer["recipients"][0]["devices"][0]
    assert found["presented"] == []
    assert [(removed["part"], removed["rule"]) for removed in found["removed"]] == [("alert", "A9")]
    assert found["removed"][0]["reason"]


def test_the_answer_names_the_setting_that_removes_a_part(gateway, device, sender):
    gateway.prefer(device.name, "sound=off", app=TOPIC)
    answer = sender.curl("-d", "body=Done&sound=default&badge=1")[2]
    found = answer["recipients"][0]["devices"][0]
    assert found["presented"] == ["badge", "alert"]
    assert found["removed"][0]["setting"] == f"apps/{TOPIC}/sound"
    presentation = shown(gateway, device)[0]
    assert presentation["badge"] == 1 and "sound" not in presentation


def test_a_message_for_later_is_listed_and_a_group_gets_each_message(gateway, device, sender):
    answer = sender.curl("-d", "body=Later&in=1h")[2]
    assert answer["deliver_at"].endswith("Z") and gateway.waiting(device) == 0
    assert answer["id"].lower() in [row["id"].lower() for row in gateway.admin("GET", "scheduled")]
    person, name = f"p-{uuid.uuid4().hex[:6]}", f"g-{uuid.uuid4().hex[:6]}"
    members = [gateway.device(person=person) for _ in range(2)]
    gateway.run("groups", "add", name, person)
    gateway.run("groups", "register", name, TOPIC)
    answer = Sender(gateway, name).curl("-d", "For all")[2]
    assert {one["device"] for one in answer["recipients"][0]["devices"]} == {member.name for member in members}
    assert [gateway.waiting(member) for member in members] == [1, 1]


def test_equal_messages_are_one_alert_with_their_number(gateway, device):
    sender = Sender(gateway, device.name, options=["--combine", "10m"])
    answers = [sender.curl("-d", "Backup failed")[2] for _ in range(3)]
    assert [answer.get("times") for answer in answers] == [None, 2, 3]
    assert gateway.waiting(device) == 1
    assert shown(gateway, device)[0]["alert"]["body"] == "Backup failed (3 times)"
    accepted = gateway.events(answers[2]["id"], "accepted")[0]
    assert accepted["detail"] == "3 equal messages"
    [row] = [row for row in gateway.run("senders", "--json").records if row["name"] == sender.name]
    assert row["combine"] == 600
    wrong = gateway.run("senders", "add", "wrong", "--app", TOPIC, "--to", device.name, "--combine", "8d", code=2)
    assert "7d" in wrong.err


def test_mistakes_are_named_in_one_line(sender):
    for options, expected in [
        (["-d", "title=x&colour=red"], (400, "colour")), (["-d", '{"body":"x","level":"loud"}'], (400, "level")),
        (["-H", "content-type: application/json", "-d", "{"], (400, "JSON")), (["-F", "colour=red"], (400, "colour")),
        (["-d", "x" * 4097], (413, "4096")), (["-X", "PUT", "-d", "x"], (405, "POST")),
    ]:
        status, _, answer = sender.curl(*options)
        assert (status, True) == (expected[0], expected[1] in answer["message"]), answer
        assert set(answer) == {"reason", "message"} and "\n" not in answer["message"]


def test_senders_are_listed_without_their_tokens_and_outlive_a_restart(start):
    gateway = start()
    device = gateway.device()
    sender = Sender(gateway, device.name, options=["--rate", "5"])
    gateway.kill()
    gateway.restart()
    assert sender.curl("-d", "x")[0] == 200
    listed = gateway.run("senders", "--json")
    record = next(row for row in listed.records if row["name"] == sender.name)
    assert (record["app"], record["recipients"], record["rate"]) == (TOPIC, [device.name], 5)
    assert sender.token not in listed.out and record["last_used"]
    assert sender.token.encode() not in b"".join(path.read_bytes() for path in gateway.state.glob("pushgateway.sqlite*"))
    trail = json.dumps(gateway.run("admin", "audit", "--json").records)
    assert "/admin/v1/senders" in trail and sender.token not in trail
