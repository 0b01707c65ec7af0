"""The phone in a real terminal: tmux runs it, keys go in, the screen is read."""

import shutil
import subprocess
import uuid

import pytest
from gateway import PUSHCLI, TOPIC, poll

pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")

ALERT = (
    b'{"aps":{"alert":{"title":"Train in 5 Minutes","body":"Platform 4."},"badge":7,"sound":"default"}}')


class Screen:
    """A terminal of a given size in a tmux server of its own."""

    def __init__(self, command, columns=80, rows=24):
        self.server = f"pushgateway-test-{uuid.uuid4().hex[:8]}"
        # The shell stays behind, so that what the program leaves on the terminal can be seen.
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", rows,
                  f"{command}; echo ended with $?; exec cat")

    def tmux(self, *arguments) -> str:
        line = ["tmux", "-L", self.server, *map(str, arguments)]
        return subprocess.run(line, capture_output=True, text=True, check=True).stdout

    @property
    def text(self) -> str:
        return self.tmux("capture-pane", "-p")

    def shows(self, *words):
        def found():
            text = self.text
            return text if all(word in text for word in words) else None

        return poll(found, f"a screen with {words}, not\n{self.text}")

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", columns, "-y", rows)

    def close(self):
        subprocess.run(["tmux", "-L", self.server, "kill-server"], capture_output=True)


@pytest.fixture
def phone(gateway, device):
    screens = []

    def phone(columns=80, rows=24):
        command = f"{PUSHCLI} subscribe --device {device.name} --state {gateway.state}"
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
    poll(lambda: "Platform 4." not in screen.text, "the alert goes")
    assert "News" in screen.text and "7" in screen.text
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
    screen.shows("Home", "Payload", '"badge":7')
    gateway.events(apns_id, until="viewed")


def test_a_terminal_that_is_too_small_says_so_and_loses_nothing(gateway, device, phone):
    gateway.accepted(device.token, ALERT)
    screen = phone(20, 5)
    poll(lambda: "30" in screen.text, "it says how much it needs")
    screen.resize(80, 24)
    screen.shows("Train in 5 Minutes", "Close", "View")
    screen.resize(40, 12)
    screen.shows("Train in 5 Minutes", "Close", "View")


def test_a_phone_that_is_terminated_leaves_the_terminal_clean(gateway, device, phone):
    gateway.accepted(device.token, ALERT)
    screen = phone()
    screen.shows("Close", "View")
    pane = screen.tmux("display-message", "-p", "#{pane_pid}").strip()
    subprocess.run(["pkill", "-TERM", "-P", pane, "pushcli"], check=True)
    screen.shows("ended with")
    assert "Close" not in screen.text
    assert screen.tmux("display-message", "-p", "#{alternate_on}#{cursor_flag}").strip() == "01"


def test_a_killed_phone_comes_back_as_it_was(gateway, device, phone):
    gateway.accepted(device.token, ALERT)
    screen = phone()
    screen.shows("Close", "View")
    pane = screen.tmux("display-message", "-p", "#{pane_pid}").strip()
    subprocess.run(["pkill", "-KILL", "-P", pane, "pushcli"], check=True)
    again = phone()
    again.shows("Train in 5 Minutes", "Close", "View", "7")


def test_a_control_sequence_of_a_sender_never_reaches_the_terminal(gateway, device, phone):
    screen = phone()
    screen.shows("News")
    gateway.accepted(device.token, rb'{"aps":{"alert":"before \u001b]0;owned\u0007\u001b[31m after \u202egnp"}}')
    screen.shows("before", "after")
    assert screen.tmux("display-message", "-p", "#{pane_title}").strip() != "owned"
