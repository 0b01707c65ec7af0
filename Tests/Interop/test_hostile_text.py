"""Texts from senders, devices and gateways never reach a terminal or a log as they came: nothing that it obeys."""

import json
import os
import pty
import re
import subprocess
import unicodedata

import pytest

from gateway import PUSHCLI, TOPIC, run
from hostile import HostileGateway
from waiting import HANG

#: Ends a title, asks for the clipboard, clears, forges a line, turns the order, hides.
HOSTILE = "x\x1b]0;owned\x07\x1b]52;c;AAAA\x07\x9b2J\r\n2026-01-01T00:00:00+0000 error pushgateway: forged\u202egnp\u200f\u061c\u3164\x7f"
ORDERS = set(map(ord, "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"))


def unsafe(output):
    """What of an output a terminal may obey."""
    text = output.decode(errors="replace") if isinstance(output, bytes) else output
    return [hex(ord(sign)) for sign in text if unicodedata.category(sign) == "Cc" and sign != "\n" or ord(sign) in ORDERS]


def assert_safe(*outputs, has_bodies=False):
    for output in outputs:
        assert not unsafe(output), (unsafe(output), output[:2000])
        # A body has lines of its own.
        assert has_bodies or not re.search(r"^2026-01-01T00:00:00", output if isinstance(output, str) else output.decode(), re.M), output


@pytest.fixture
def hostile_gateway(gateway):
    """A gateway with a sender's and a device's worst texts in every list it has."""
    device = gateway.device()
    payload = {"aps": {"alert": {"title": HOSTILE, "body": HOSTILE}, "category": HOSTILE, "thread-id": HOSTILE}, HOSTILE: HOSTILE}
    apns_id = gateway.accepted(device.token, json.dumps(payload).encode())
    gateway.connect().request(
        "POST", "/v1/device/ads/reports", [("authorization", f"bearer {device.secret}")],
        json.dumps({"id": apns_id, "topic": TOPIC, "text": HOSTILE}).encode())
    return gateway, device, apns_id


COMMANDS = [
    ["log"], ["devices"], ["ads", "reports"], ["apps"], ["apps", "categories", TOPIC], ["keys"], ["teams"], ["certs"], ["channels", TOPIC],
    ["faults"], ["doctor"], ["prefs", "show"], ["log", HOSTILE.replace("\0", "")], ["devices", "register", HOSTILE, TOPIC],
    ["prefs", "show", "--device", HOSTILE], ["send", "--to", HOSTILE, "--title", HOSTILE], ["bogus" + HOSTILE],
]


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_no_command_prints_what_a_terminal_obeys(hostile_gateway, form):
    gateway, device, _ = hostile_gateway
    for command in [*COMMANDS, ["prefs", "show", "--device", device.name]]:
        done = run(*command, *form, state=gateway.state)
        assert_safe(done.out, done.err)
    assert_safe(gateway.log_path.read_bytes())


def test_a_device_without_a_screen_prints_nothing_that_a_terminal_obeys(hostile_gateway):
    gateway, device, _ = hostile_gateway
    done = gateway.run("subscribe", "--device", device.name, "--plain", "--count", 1, "--exec", 'printf "%s\\n" "$PUSH_TITLE" "$PUSH_THREAD"')
    assert "forged" in done.out and "owned" not in done.out
    assert_safe(done.out, has_bodies=True)
    assert_safe(done.err)


def test_json_is_exact_in_a_pipe_and_the_same_value_on_a_terminal(hostile_gateway):
    gateway, device, _ = hostile_gateway
    done = gateway.run("subscribe", "--device", device.name, "--json", "--count", 1)
    assert done.records[0]["presentation"]["alert"]["title"] == HOSTILE
    other = gateway.device()
    gateway.accepted(other.token, json.dumps({"aps": {"alert": HOSTILE}}).encode())
    main, end = pty.openpty()
    line = [PUSHCLI, "subscribe", "--state", gateway.state, "--device", other.name, "--json", "--count", "1"]
    running = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=end, stderr=subprocess.DEVNULL)
    os.close(end)
    shown = b""
    try:
        while data := os.read(main, 1 << 16):
            shown += data
    except OSError:  # The other end is closed.
        pass
    assert running.wait(HANG) == 0
    os.close(main)
    shown = shown.decode().replace("\r\n", "\n")
    assert json.loads(shown)["presentation"]["alert"]["body"] == HOSTILE
    assert_safe(shown)


@pytest.mark.parametrize("status", [200, 400, 403, 500])
def test_a_hostile_gateway_says_nothing_that_a_terminal_obeys(gateway, status):
    body = json.dumps({"title": HOSTILE, "detail": HOSTILE, "reason": HOSTILE}).encode()
    device = gateway.device()
    with HostileGateway(gateway.state, status=status, body=body) as hostile:
        for command in (["doctor"], ["send", "--to", "a/" + TOPIC, "--title", "a"], ["prefs", "show", "--device", device.name]):
            done = run(*command, "--gateway", hostile.address, state=gateway.state)
            assert_safe(done.out, done.err)


def test_a_hostile_gateways_lines_show_nothing_that_a_terminal_obeys(gateway):
    device = gateway.device()
    lines = [
        {"type": "welcome", "gateway": HOSTILE, "device": HOSTILE, "apps": [{"topic": HOSTILE, "name": HOSTILE, "icon": HOSTILE}], "preferences": {}},
        {"type": "undeliverable", "id": HOSTILE, "app": {"name": HOSTILE, "icon": "N"}},
        {"type": "push", "seq": 1, "id": HOSTILE, "topic": HOSTILE, "app": {"name": HOSTILE, "icon": HOSTILE}, "received": HOSTILE,
         "presentation": {"sound": HOSTILE, "alert": {"title": HOSTILE, "body": HOSTILE, "buttons": [{"title": HOSTILE, "action": HOSTILE}]}},
         "payload": {"aps": {"alert": HOSTILE}, "link": "https://e.org/" + HOSTILE}},
        {"type": "bye", "reason": HOSTILE},
    ]
    with HostileGateway(gateway.state, [json.dumps(line).encode() for line in lines]) as hostile:
        done = run(
            "subscribe", "--device", device.name, "--plain", "--count", 1, "--gateway", hostile.address, state=gateway.state)
    assert "forged" in done.out and "owned" not in done.out
    assert_safe(done.out, has_bodies=True)
    assert_safe(done.err)


def test_a_line_without_an_end_ends_the_stream(gateway):
    device = gateway.device()
    with HostileGateway(gateway.state, [b"x" * (6 << 20)]) as hostile:
        running = subprocess.Popen(
            [PUSHCLI, "subscribe", "--state", gateway.state, "--device", device.name, "--gateway", hostile.address, "--json"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        words = next(line for line in running.stderr if "MiB" in line)
        running.terminate()
        running.communicate(timeout=HANG)
    assert "a line of more than 4 MiB" in words
    assert_safe(words)


def test_a_strangers_certificate_forges_no_line_of_the_log(gateway, tmp_path):
    subject = "/UID=a\n2026-01-01T00:00:00 error pushgateway: forged \x1b]0;owned\x07"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", tmp_path / "k.pem",
         "-out", tmp_path / "c.pem", "-subj", subject], check=True, capture_output=True)
    subprocess.run(
        ["openssl", "s_client", "-connect", gateway.address, "-cert", tmp_path / "c.pem", "-key", tmp_path / "k.pem", "-alpn", "h2"],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=HANG)
    gateway.wait_for_log("forged")
    assert_safe(gateway.log_path.read_bytes())


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[2J", "a\x9b2J", "a\u202eb", "\u3164", ""])
def test_names_that_cannot_be_shown_are_refused(gateway, name):
    for body in ({"name": name}, {"name": "fine" + str(len(name)), "person": name}):
        response = gateway.connect().request("POST", "/v1/devices", [], json.dumps(body).encode())
        assert response.status == 400, response.body
