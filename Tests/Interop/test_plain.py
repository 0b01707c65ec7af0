"""The phone in lines, for screen readers and slow terminals: everything that the full screen does, typed in words."""

import json
import os
import subprocess
import wave
from pathlib import Path

import pytest

from gateway import PUSHCLI, TOPIC, run
from hostile import HostileGateway
from screen import Linear, Screen, needs_tmux
from waiting import HANG, eventually, wait_for

ALERT = b'{"aps":{"alert":{"title":"Train in 5 Minutes","body":"Platform 4."}},"url":"https://example.com/train"}'


@pytest.fixture
def linear():
    """Starts the phone in lines: `linear(gateway, device)`."""
    running = []

    def start(gateway, device, *options, **environment):
        running.append(Linear(gateway, device, *options, **environment))
        running[-1].shows("Connected to pushgateway.")
        return running[-1]

    yield start
    for one in running:
        one.close()


def title(text, **more):
    return {"aps": {"alert": {"title": text}, **more}}


# Answering


def test_an_alert_is_answered_by_place_or_word_and_the_answer_goes_back(gateway, device, linear):
    phone = linear(gateway, device)
    first = gateway.accepted(device.token, ALERT)
    phone.shows("Train in 5 Minutes", "Platform 4.", "Link: https://example.com/train", "News, Train in 5 Minutes: 1 Close  2 View?")
    second = gateway.accepted(device.token, title("Second", **{"interruption-level": "time-sensitive"}))
    phone.shows("time-sensitive", "Second")
    phone.settled("2", "News, Second: 1 Close  2 View?")
    gateway.events(first, until="viewed")
    phone.says("nonsense", 'unknown word "nonsense": help lists all words')
    phone.settled("7", "no button 7: it has 1 Close  2 View")
    phone.settled("close", "“Second”: Close.")
    gateway.events(second, until="closed")
    third = gateway.accepted(device.token, title("Third"))
    phone.shows("News, Third: 1 Close")
    phone.settled("answer 9", "no button 9")
    phone.process.terminate()
    assert phone.process.wait(HANG) == 130
    assert gateway.events(third, until="closed"), "leaving equals the cancelling button (A7)"


def test_a_question_is_answered_by_the_first_letters_of_its_button(gateway, device, linear):
    phone = linear(gateway, device)
    question = subprocess.Popen(
        [PUSHCLI, "ask", "--state", gateway.state, "--to", f"{device.name}/{TOPIC}", "--title", "Deploy?",
         "--action", "approve=Approve", "--action", "reject=Reject!", "--timeout", f"{HANG}s"],
        stdout=subprocess.PIPE, text=True)
    phone.shows("Deploy?: 1 Close  2 Approve  3 Reject (destructive)?")
    phone.settled("rej", "Reject (destructive).")
    assert question.wait(HANG) == 11 and question.stdout.read() == "reject\n"


def test_a_line_is_not_for_an_alert_that_appeared_while_it_was_typed(gateway, device, linear):
    phone = linear(gateway, device)

    def is_kept(number):
        phone.start = len(phone.text)
        pushed = gateway.accepted(device.token, title(f"Attempt {number}"))
        phone.shows(f"News, Attempt {number}:")
        return pushed if "only just appeared" in phone.answer("close") else None

    # A machine that stands still for half a second types too late, and tries again.
    pushed = next(filter(None, map(is_kept, range(1_000))))
    assert "closed" not in [record["event"] for record in gateway.rows(pushed)]
    phone.settled("close", "Close.")
    gateway.events(pushed, until="closed")


def test_a_number_of_a_list_is_of_that_list_whatever_comes(gateway, device, linear):
    phone = linear(gateway, device)
    gateway.accepted(device.token, title("Old"))
    phone.shows("News, Old:")
    phone.settled("close", "Close.")
    phone.says("center", "1. ", "Old")
    pushed = gateway.accepted(device.token, title("New"))
    phone.shows("News, New: answer 1 Close  2 View?")
    phone.settled("answer 9", "no button 9")
    assert "Old\nPayload" in phone.says("1", "Payload")
    assert "closed" not in [record["event"] for record in gateway.rows(pushed)]
    phone.says("", "News, New: 1 Close  2 View?")
    phone.says("1", "Close.")
    gateway.events(pushed, until="closed")


# The center


def test_the_center_is_listed_read_searched_cleared_and_brought_back(gateway, device, linear):
    phone = linear(gateway, device)
    for text in ["One", "Two", "Three"]:
        gateway.accepted(device.token, title(text, **{"interruption-level": "time-sensitive" if text == "Two" else "active"}))
        phone.shows(text)
    phone.says("alerts", "3 alerts wait:", "1. ")
    eventually(lambda: "no alert to close" in phone.answer("close everything"), "all are put away")
    phone.says("center", "News, ", "1. ", "3. ")
    phone.says("open 7", "no push 7: the list has 1 to 3")
    phone.says("open 1", "Three")
    phone.says("search two", "time-sensitive: Two")
    phone.says("search in time-sensitive", "1. ", "Two")
    phone.says("clear 1", "Cleared “Two” · undo undoes it")
    assert "Two" not in phone.says("center", "News", "2. ")
    phone.says("undo", "Undid Clear “Two” · redo does it again")
    phone.says("center", "Two", "3. ")
    phone.says("mark 1-3", "read")
    phone.says("clear news", "Cleared News")
    phone.says("center", "Nothing to read")
    phone.says("undo", "Undid Clear News")
    phone.says("status", f"{device.name}, connected to pushgateway.", "0 alerts wait, 0 unread, 1 app.", "redo: Redo Clear News")
    phone.type("quit")
    assert phone.process.wait(HANG) == 0


@needs_tmux
def test_it_is_the_same_phone_as_on_the_full_screen(gateway, device, linear):
    phone = linear(gateway, device)
    gateway.accepted(device.token, ALERT)
    phone.shows("News, Train")
    phone.settled("close", "Close.")
    phone.says("set volume 50", "Volume: 50")
    phone.type("quit")
    assert phone.process.wait(HANG) == 0
    screen = Screen(f"{PUSHCLI} subscribe --device {device.name} --state {gateway.state}")
    try:
        screen.shows("● pushgateway")
        screen.type("2")
        screen.shows("Train in 5 Minutes")
        screen.type("3")
        screen.shows("Volume", "‹ 50 ›")
    finally:
        screen.close()


def test_a_burst_is_told_in_short_and_put_away_with_a_line(gateway, device, linear):
    gateway.prefer(device.name, "budget=500", app=TOPIC)
    phone = linear(gateway, device)
    with gateway.connect() as connection:
        # At once: what comes half a second later is told anew.
        streams = [
            connection.send("POST", f"/3/device/{device.token}", gateway.fields(),
                            json.dumps(title(f"Number {number}")).encode(), flush=False)
            for number in range(100)
        ]
        connection.flush()
        assert {connection.wait(stream).status for stream in streams} == {200}
    phone.shows("News, 100 alerts: 1 Close All  2 View?", "came: center lists them")
    assert len(phone.text.splitlines()) < 100
    eventually(lambda: "no alert to close" in phone.answer("close all"), "all are put away")
    phone.says("center", "News, 100 unread of 100:", "90 of 100 are left: more prints them")
    assert len(phone.says("more", "80 of 100 are left").splitlines()) < 15


# Settings, the gateway


def test_settings_are_those_of_the_screen(gateway, device, linear):
    phone = linear(gateway, device)
    phone.says("settings device", "1. Silent: off", "3. Volume: 100")
    eventually(lambda: "News" in phone.answer("apps"), "the gateway has told the apps")
    phone.says("settings news", "News:", "1. Allow Notifications: on")
    phone.says("set News badge off", "Saved.")
    phone.says("set quiet 22:00-07:00 mon-fri Europe/Berlin", "Saved.")
    phone.says("set quiet late", "late")
    phone.says("silent", "Silent: no sounds")
    prefs = gateway.run("prefs", "show", "--device", device.name, "--json").json
    assert prefs["apps"][TOPIC]["badge"] is False and prefs["quiet"] == ["22:00-07:00 mon,tue,wed,thu,fri Europe/Berlin"]
    phone.says("settings", "more lines: more prints them")


def test_the_gateways_absence_is_told_once_and_try_connects_now(start, linear):
    gateway = start()
    device = gateway.device()
    phone = linear(gateway, device)
    gateway.kill()
    phone.shows("Not connected", "try connects now")
    phone.says("set badge off", "Not connected: the preferences can't be saved now")
    # It is connecting for a moment, again and again.
    eventually(lambda: "next try at" in phone.answer("status"), "the status between two tries")
    phone.shows("not connected", "next try at")
    # After `try` a failure is told again, also that of an attempt which had begun before.
    assert phone.text.count("Not connected (") == 1
    said = len(phone.text)
    gateway.restart()
    phone.type("try")
    # A try of its own may have come before this one.
    phone.start = said
    phone.shows("Connected to pushgateway.")


def test_a_push_is_written_and_sent(gateway, device, linear):
    phone = linear(gateway, device)
    eventually(lambda: "News" in phone.answer("apps"), "the gateway has told the apps")
    phone.says("compose news", "To which device?")
    phone.says("", "Title?")
    phone.says("Written in Lines", "Message?")
    phone.says("Here.", "send or cancel?")
    phone.says("send", "Sent to " + device.name, "News, Written in Lines:")


# Other ends of a line


def test_nothing_but_text_reaches_a_dumb_terminal(gateway, device, linear):
    hostile = "a\x1b[31mb\x9b2Jc\u202ed\x07\r\ne"
    phone = linear(gateway, device, TERM="dumb")
    gateway.accepted(device.token, title(hostile, category="NONE") | {"url": "https://example.com/"})
    phone.shows("abcd")
    for line, words in [
        ("alerts", "1. "), ("open 1", "Link: "), ("payload 1", "{"), ("set notices always", "Desktop Notifications: always"), ("copy 1", "Not copied"),
        ("search \x1b[31m", "search needs more"), ("\x1b[A", "1 Close"),
    ]:
        phone.says(line, words)
    phone.settled("close", "Close.")
    gateway.accepted(device.token, title("Outside"))
    phone.shows("News, Outside")
    said = [line for line in phone.text.replace("\r\n", "\n").split("\n") if "^[" not in line]
    assert not [sign for line in said for sign in line if sign < " " and sign != "\a" or "\x7f" <= sign < "\xa0"]


def test_own_sounds_are_those_of_the_state_folder(gateway, device, linear, tmp_path):
    played, programs, sounds = tmp_path / "played", tmp_path / "bin", Path(gateway.state) / "sounds"
    programs.mkdir()
    sounds.mkdir()
    (programs / "pw-play").write_text(f'#!/bin/sh\necho "$@" >>{played}\n')
    (programs / "pw-play").chmod(0o755)
    with wave.open(str(sounds / "mine.wav"), "wb") as file:
        file.setparams((1, 2, 8_000, 0, "NONE", ""))
        file.writeframes(bytes(1_600))
    phone = linear(gateway, device, PATH=f"{programs}:{os.environ['PATH']}")
    gateway.accepted(device.token, {"aps": {"alert": "Ready", "sound": "mine.wav"}})
    phone.shows("Ready")
    wait_for(lambda: played.exists() and played.read_text(), "it is played", tmp_path)
    assert str(sounds / "mine.wav") in played.read_text()


def test_words_come_from_a_pipe_where_that_is_asked_for_and_its_end_is_the_end(gateway, device, linear):
    phone = linear(gateway, device)
    gateway.accepted(device.token, ALERT)
    phone.shows("Train in 5 Minutes")
    phone.settled("close", "Close.")
    phone.type("\x04")
    assert phone.process.wait(HANG) == 0, "^D is the end"
    done = gateway.run("subscribe", "--device", device.name, "--interactive", stdin="center\n1\nopen 7\nno end")
    assert "1. " in done.out and "Platform 4." in done.out and "no push 7: the list has 1 to 1" in done.out
    assert 'unknown word "no"' in done.out
    refused = run("subscribe", "--device", device.name, "--interactive", "--json", state=gateway.state)
    assert refused.code == 2 and "--interactive is for line mode" in refused.err


def test_without_a_terminal_pushes_are_told_and_the_input_is_left_alone(gateway, device):
    reader = subprocess.Popen(
        [PUSHCLI, "subscribe", "--state", gateway.state, "--device", device.name, "--plain"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        reader.stdin.write("clear all\n")
        reader.stdin.close()
        gateway.accepted(device.token, ALERT)
        lines = [next(reader.stdout) for _ in range(5)]
        assert "Train in 5 Minutes\n" in lines and "Buttons: Close, View\n" in lines
    finally:
        reader.kill()
        reader.wait()


def test_no_gateways_line_ends_it_or_writes_more_than_text(gateway, device):
    lines = [
        {"type": "welcome", "gateway": "g\x1b[2J", "device": "d", "apps": [{"topic": "t", "name": "N\x1b]0;x\x07", "icon": "\x1b"}], "preferences": {}},
        {"type": "gap", "dropped": 9_000_000_000_000_000_000},
        {"type": "push", "seq": 1, "id": "i", "topic": "t", "app": {"name": "\x1b[2JN"}, "received": "x",
         "presentation": {"alert": {"title": "\x1b[2JT", "body": "b" * 4_000, "buttons": [{"title": "\x1b", "action": "a"}]}}, "payload": {}},
    ]
    with HostileGateway(gateway.state, [json.dumps(line).encode() for line in lines]) as hostile:
        phone = Linear(gateway, device, "--gateway", hostile.address)
        try:
            phone.shows("N, T")
            for line, words in [
                ("status", "older pushes dropped"), ("apps", "(t)"), ("alerts", "1. "), ("1", "bbb"), ("payload", "{}"),
                ("settings", "more lines"), ("set t badge off", "S"), ("help", "more prints them"),
            ]:
                phone.says(line, words)
            assert "\x1b" not in phone.text and "\x07" not in phone.text
        finally:
            phone.close()
