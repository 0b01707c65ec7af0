"""Several people, and one with several machines: real terminals, over TLS, in homes that share nothing."""

import subprocess

import pytest
from gateway import PUSHCLI, TOPIC
from machines import machine  # noqa: F401
from screen import Screen, needs_tmux
from waiting import HANG

pytestmark = needs_tmux


@pytest.fixture
def phone(gateway, machine):
    """A person's phone on a machine of its own: `phone("laptop", person="ada")`."""
    screens = []

    def phone(name, person):
        there = machine(name)
        there.join(gateway, device=name, person=person)
        gateway.register(name, TOPIC)
        screens.append(Screen(there.line("subscribe")))
        screens[-1].shows("News")
        screens[-1].machine = there
        return screens[-1]

    yield phone
    for screen in screens:
        screen.close()


def test_two_terminals_of_one_person_share_answers_and_choices(gateway, phone):
    laptop, tablet = phone("laptop", "ada"), phone("tablet", "ada")
    for name in ["laptop", "tablet"]:
        gateway.run("send", "--to", f"{name}/{TOPIC}", "--id", "11111111-2222-4333-8444-555555555555", "--title", "Both")
    laptop.shows("Both")
    tablet.shows("Both")
    laptop.press("c")
    # What she does on one she need not do on the other: her choices are one, and each screen has its own alerts.
    laptop.machine.run("prefs", "set", "--app", TOPIC, "sound=off")
    assert tablet.machine.run("prefs", "--json").json["apps"][TOPIC]["sound"] is False


def test_an_answer_on_one_terminal_takes_the_alert_off_the_other(gateway, phone):
    laptop, tablet = phone("first", "bea"), phone("second", "bea")
    line = [PUSHCLI, "ask", "--state", gateway.state, "--to", f"first/{TOPIC}", "--title", "Lunch?", "--action", "yes=Yes",
            "--timeout", f"{HANG}s", "--escalate-to", "second", "--after", "100ms"]
    asking = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
    laptop.shows("Lunch?", "Yes")
    tablet.shows("Lunch?", "Yes")
    tablet.press("v")
    assert asking.communicate(timeout=HANG)[0].strip() == "yes" and asking.returncode == 0
    laptop.drops("├")


def test_two_persons_see_what_is_theirs(gateway, phone):
    ada, bob = phone("adas", "cleo"), phone("bobs", "bob")
    gateway.run("send", "--to", f"adas/{TOPIC}", "--title", "For Her")
    ada.shows("For Her")
    gateway.run("send", "--to", f"bobs/{TOPIC}", "--title", "For Him")
    assert "For Her" not in bob.shows("For Him")
    # Neither reads the other's log, nor changes the other's choices.
    her = {row["id"] for row in ada.machine.run("log", "--json").records}
    his = {row["id"] for row in bob.machine.run("log", "--json").records}
    assert her and his and not her & his
    bob.machine.run("prefs", "set", "notifications=off")
    assert ada.machine.run("prefs", "--json").json["notifications"] is True
    assert "nobody is logged in" in bob.machine.run("prefs", "--device", "adas", code=4).err
    assert "nobody is logged in" in bob.machine.run("persons", "remove", "cleo", code=4).err


def test_a_person_is_renamed_and_removed_while_a_terminal_is_open(gateway, phone):
    screen = phone("daves", "dave")
    gateway.run("persons", "rename", "dave", "David")
    gateway.run("send", "--to", f"daves/{TOPIC}", "--title", "Still Here")
    screen.shows("Still Here")
    gateway.run("persons", "remove", "David")
    screen.shows("does not know this device")
    assert "pushcli join" in screen.machine.run("prefs", code=4).err
