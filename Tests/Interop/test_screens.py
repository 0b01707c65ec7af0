"""Several screens of one device: one history, whichever screen shows it."""

import os
import re
import signal
from pathlib import Path

import pytest
from gateway import PUSHCLI
from screen import Linear, Screen, needs_tmux

pytestmark = needs_tmux


def push(title, badge=None):
    badge = b"" if badge is None else b',"badge":%d' % badge
    return b'{"aps":{"alert":{"title":"%s"}%s}}' % (title.encode(), badge)


@pytest.fixture
def open_screen(gateway, device):
    screens = []

    def open_screen():
        screens.append(Screen(f"{PUSHCLI} subscribe --device {device.name} --state {gateway.state}", columns=90))
        screens[-1].shows("● pushgateway")
        return screens[-1]

    yield open_screen
    for screen in screens:
        screen.close()


def kill(screen):
    """Kills the program of a screen, whose shell stays."""
    shell = screen.tmux("display-message", "-p", "#{pane_pid}").strip()
    child, = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
    os.kill(int(child), signal.SIGKILL)
    # The edge of the killed program's screen may break the shell's words on the screen.
    screen.until(lambda: b"ended with" in screen.written.read_bytes(), "the program has ended")


def leave(screen):
    screen.press("q")
    screen.shows("ended with 0")


def test_a_second_screen_has_the_history_of_the_first_and_each_shows_what_the_other_does(gateway, device, open_screen):
    gateway.accepted(device.token, push("Earthquake in Chile", badge=1))
    gateway.accepted(device.token, push("Rain Tomorrow", badge=2))
    first = open_screen()
    first.shows("2 Notifications")
    first.close_alerts()
    first.press("2")
    first.shows("Notification Center", "Earthquake in Chile", "Rain Tomorrow")

    second = open_screen()
    # It comes back where the last change left the device, with its center, read marks and badges.
    second.shows("Notification Center", "Earthquake in Chile", "Rain Tomorrow")
    second.press("1")
    second.shows("News", "(2)")

    gateway.accepted(device.token, push("Snow Tonight", badge=3))
    for screen in [first, second]:
        screen.shows("Snow Tonight", "▸ View")
    second.press("c")
    first.drops("├")
    first.shows("Notification Center", "Snow Tonight")
    second.shows("News", "(3)")

    first.press("Home", "Enter")
    second.press("2")
    second.shows("Notification Center", "Snow Tonight")
    second.press("Home", "d")
    second.shows("Nothing to Read")
    first.press("2")
    first.shows("Nothing to Read")
    second.press("u")
    first.shows("Earthquake in Chile", "Snow Tonight")
    second.press("s")
    first.shows("silent")


@pytest.mark.parametrize("ends", ["01", "10"])
@pytest.mark.parametrize("end", [leave, kill])
def test_what_came_to_one_screen_is_in_the_other_however_they_end(gateway, device, open_screen, end, ends):
    first = open_screen()
    gateway.accepted(device.token, push("One", badge=1))
    first.shows("One", "▸ View")
    second = open_screen()
    second.shows("One", "▸ View")
    gateway.accepted(device.token, push("Two", badge=2))
    for screen in [first, second]:
        screen.shows("2 Notifications", "▸")
        screen.until(lambda: "Two" in screen.text, "both are there")
    screens = [first, second]
    first.close_alerts()
    second.drops("├")
    gone, other = (screens[int(index)] for index in ends)
    end(gone)
    gateway.accepted(device.token, push("Three", badge=3))
    other.shows("Three", "▸ View")
    other.press("c", "2")
    other.shows("Notification Center", "One", "Two", "Three")
    end(other)
    gateway.accepted(device.token, push("Four", badge=4))
    last = open_screen()
    last.shows("Four", "▸ View")
    last.press("c", "2")
    text = last.shows("Notification Center", "One", "Two", "Three", "Four")
    assert re.findall(r"\d\d:\d\d +(One|Two|Three|Four)\b", text) == ["Four", "Three", "Two", "One"]
    last.press("1")
    last.shows("News", "(4)")
    gateway.when(lambda: gateway.waiting(device) == 0, "all are acknowledged")
    files = sorted(path.name for path in (gateway.state / "devices").glob(f"{device.name}.phone*"))
    assert files == [f"{device.name}.phone", f"{device.name}.phone.lock"]


def test_a_screen_and_lines_of_one_device_are_one_phone(gateway, device, open_screen):
    screen = open_screen()
    gateway.accepted(device.token, push("Dinner at Eight?"))
    screen.shows("Dinner at Eight?", "▸")
    lines = Linear(gateway, device)
    try:
        lines.shows("Dinner at Eight?")
        screen.press("c")
        lines.shows("No longer needed")
        lines.says("center", "News, 1:", "Dinner at Eight?")
        gateway.accepted(device.token, push("Lunch at Noon?"))
        lines.shows("Lunch at Noon?")
        lines.settled("close", "Close")
        screen.drops("├")
    finally:
        lines.close()
