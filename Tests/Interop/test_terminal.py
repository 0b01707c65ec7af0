"""The phone in a real terminal: tmux runs it, keys go in, the screen is read."""

import subprocess

import pytest
from gateway import PUSHCLI
from screen import Screen, needs_tmux

pytestmark = needs_tmux

ALERT = (
    b'{"aps":{"alert":{"title":"Train in 5 Minutes","body":"Platform 4."},"badge":7,"sound":"default"}}')


@pytest.fixture
def phone(gateway, device):
    screens = []

    def phone(columns=80, rows=24):
        # Swift's own backtracer asks questions on a terminal after a crash, once it is given back.
        command = f"SWIFT_BACKTRACE=enable=no {PUSHCLI} subscribe --device {device.name} --state {gateway.state}"
        screens.append(Screen(command, columns, rows))
        return screens[-1]

    yield phone
    for screen in screens:
        screen.close()


def test_an_alert_is_shown_and_close_only_dismisses_it(gateway, device, phone):
    apns_id = gateway.accepted(device.token, ALERT)
    screen = phone()
    screen.shows("Train in 5 Minutes", "Platform 4.", "Close", "View", "7")
    screen.press("c")
    screen.drops("├")
    # The lines below are drawn after it.
    screen.shows("News", "7")
    events = [event["event"] for event in gateway.events(apns_id, until="closed")]
    assert events[-1] == "closed" and "presented" in events and "acknowledged" in events
    screen.press("q")
    screen.shows("ended with 0")


def test_view_opens_the_app(gateway, device, phone):
    screen = phone()
    screen.shows("News")
    apns_id = gateway.accepted(device.token, ALERT)
    screen.shows("Train in 5 Minutes", "View")
    screen.press("v")
    screen.shows("Back", "Message", "p payload")
    screen.press("p")
    screen.shows('"badge":7')
    gateway.events(apns_id, until="viewed")


def test_a_terminal_that_is_too_small_says_so_and_loses_nothing(gateway, device, phone):
    gateway.accepted(device.token, ALERT)
    screen = phone(19, 5)
    screen.shows("30")
    screen.resize(20, 5)
    screen.shows("Train in 5 Minutes", "Close", "View")
    screen.resize(80, 24)
    screen.shows("Train in 5 Minutes", "Close", "View")
    screen.resize(40, 12)
    screen.shows("Train in 5 Minutes", "Close", "View")


@pytest.mark.parametrize("signal", ["TERM", "HUP", "SEGV", "ABRT"])
def test_a_phone_that_is_terminated_or_crashes_leaves_the_terminal_clean(gateway, device, phone, signal):
    gateway.accepted(device.token, ALERT)
    screen = phone()
    screen.shows("Close", "View")
    pane = screen.tmux("display-message", "-p", "#{pane_pid}").strip()
    subprocess.run(["pkill", f"-{signal}", "-P", pane, "pushcli"], check=True)
    screen.shows("ended with")
    assert "Close" not in screen.text
    assert screen.tmux("display-message", "-p", "#{alternate_on}#{cursor_flag}#{mouse_any_flag}").strip() == "010"


def test_a_killed_phone_comes_back_as_it_was(gateway, device, phone):
    gateway.accepted(device.token, ALERT)
    screen = phone()
    screen.shows("Close", "View")
    pane = screen.tmux("display-message", "-p", "#{pane_pid}").strip()
    subprocess.run(["pkill", "-KILL", "-P", pane, "pushcli"], check=True)
    # The shell's words, which the edge of the killed program's screen may break, come after the end.
    screen.until(lambda: b"ended with" in screen.written.read_bytes(), "the phone has ended")
    again = phone()
    again.shows("Train in 5 Minutes", "Close", "View", "7")


def test_a_control_sequence_of_a_sender_never_reaches_the_terminal(gateway, device, phone):
    screen = phone()
    screen.shows("News")
    gateway.accepted(device.token, rb'{"aps":{"alert":"before \u001b]0;owned\u0007\u001b[31m after \u202egnp"}}')
    screen.shows("before", "after")
    assert screen.tmux("display-message", "-p", "#{pane_title}").strip() != "owned"
