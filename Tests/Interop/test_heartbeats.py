"""Heartbeats: `pushcli expect`, and what curl sends to `/beat/NAME`."""

import json
import subprocess

import pytest

from test_senders import Sender
from waiting import HANG


def beat(sender, *options, query=""):
    """The status and the JSON of the answer."""
    done = subprocess.run(
        ["curl", "-sS", "-w", "\n%{http_code}", "--cacert", sender.gateway.trust, *options,
         f"https://{sender.gateway.address}/beat/{sender.name}{query}"],
        capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stderr
    body, _, status = done.stdout.rpartition("\n")
    return int(status), json.loads(body) if body else None


def bearer(sender):
    return ["-H", f"authorization: bearer {sender.token}"]


def test_a_push_reports_a_late_heartbeat_and_another_one_its_end(gateway, device):
    sender = Sender(gateway, device.name)
    stream = gateway.stream(device)
    stream.caught_up()
    said = gateway.run("expect", sender.name, "--every", "1s", "--grace", "0s").err
    assert f"/beat/{sender.name}" in said
    late = stream.next("push")
    assert late["presentation"]["alert"]["title"] == f"{sender.name} is late"
    [row] = [row for row in gateway.run("expect", "list", "--json").records if row["sender"] == sender.name]
    assert (row["every"], row["grace"], row["late"], "last" in row) == (1, 0, True, False)
    # From now on no heartbeat of this test is late again.
    gateway.run("expect", "remove", sender.name)
    assert beat(sender, *bearer(sender))[0] == 404
    gateway.run("expect", sender.name, "--every", "1s")
    assert stream.next("push")["presentation"]["alert"]["title"] == f"{sender.name} is late"
    status, answer = beat(sender, *bearer(sender))
    assert (status, answer["late"]) == (200, True)
    assert stream.next("push")["presentation"]["alert"]["title"] == f"{sender.name} is back"
    gateway.run("expect", "remove", sender.name)


def test_a_heartbeat_that_became_late_while_no_gateway_ran_is_reported_at_the_start(start):
    gateway = start()
    device = gateway.device()
    sender = Sender(gateway, device.name)
    gateway.run("expect", sender.name, "--every", "1s")
    gateway.kill()
    gateway.restart()
    stream = gateway.stream(device)
    assert stream.next("push")["presentation"]["alert"]["title"] == f"{sender.name} is late"
    assert beat(sender, *bearer(sender))[1]["late"] is True
    assert stream.next("push")["presentation"]["alert"]["title"] == f"{sender.name} is back"


@pytest.mark.parametrize("options", [[], ["-d", "x"], ["-I"]])
def test_get_post_and_head_are_heartbeats_with_the_token_in_the_field_or_in_the_query(gateway, device, options):
    sender = Sender(gateway, device.name)
    gateway.run("expect", sender.name, "--every", "1h")
    if options == ["-I"]:
        options = ["-I", "-o", "/dev/null"]
    assert beat(sender, *options, *bearer(sender))[0] == 200
    assert beat(sender, *options, query=f"?token={sender.token}")[0] == 200
    assert beat(sender, *options)[0] == 401
    [row] = [row for row in gateway.run("expect", "list", "--json").records if row["sender"] == sender.name]
    assert row["last"] and not row["late"] and row["grace"] == 360
    assert sender.name in gateway.run("expect", "list").out
    gateway.run("senders", "remove", sender.name)
    assert sender.name not in gateway.run("expect", "list").out


@pytest.mark.parametrize("options, words", [
    (["--every", "soon"], "--every"), (["--every", "0s"], "--every"), (["--every", "400d"], "366d"), ([], "--every"),
    (["--every", "1h", "--grace", "x"], "--grace")])
def test_a_wrong_interval_is_named_before_anything_is_sent(gateway, options, words):
    assert words in gateway.run("expect", "backup", *options, code=2).err


def test_an_unknown_sender_has_no_expectation(gateway):
    assert "senders add" in gateway.run("expect", "nobody-here", "--every", "1h", code=3).err
    assert "expect list" in gateway.run("expect", "remove", "nobody-here", code=3).err
