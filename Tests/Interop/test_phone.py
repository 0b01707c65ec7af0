"""The phone as a person meets it: sizes, answers, settings, the linear forms, and what it leaves behind."""

import json
import signal
import subprocess

import pytest
from gateway import PUSHCLI, TOPIC, run
from screen import Linear, Screen, needs_tmux
from waiting import HANG, eventually, wait_for

ALERT = b'{"aps":{"alert":{"title":"Train in 5 Minutes","body":"Platform 4."}},"url":"https://example.com/trains/4"}'


@pytest.fixture
def phone(gateway):
    screens = []

    def phone(device, columns=80, rows=24, options="", before=""):
        command = f"{before}{PUSHCLI} subscribe --device {device.name} --state {gateway.state} {options}"
        screens.append(Screen(command, columns, rows))
        return screens[-1]

    yield phone
    for screen in screens:
        screen.close()


@needs_tmux
def test_an_alert_is_whole_at_every_size_and_after_every_resize(gateway, device, phone):
    gateway.accepted(device.token, ALERT)
    screen = phone(device)
    for columns, rows in [(80, 24), (200, 60), (40, 12), (30, 10), (20, 5), (80, 24)]:
        screen.resize(columns, rows)
        screen.shows("Train in 5 Minutes", "Platform 4.", "Close", "View", "? keys" if columns >= 30 else "News")
    screen.resize(19, 5)
    screen.shows("needs", "30×10", "1 alert waits")
    screen.resize(80, 24)
    screen.shows("Platform 4.", "▸ View")
    screen.press("c")
    screen.press("2")
    screen.shows("Notification Center", "Train in 5 Minutes")


@needs_tmux
def test_what_is_being_typed_answers_no_alert(gateway, device, phone):
    apns_id = gateway.accepted(device.token, ALERT)
    screen = phone(device)
    screen.shows("Train in 5 Minutes", "▸")
    screen.press("c", "2", "/", "c")
    asked = gateway.accepted(device.token, b'{"aps":{"alert":{"title":"Deploy?"}}}')
    screen.shows("Deploy?", "esc alert")
    screen.type("c", "v")
    assert "▸" not in screen.text
    screen.type("Escape")
    screen.shows("Deploy?", "▸")
    screen.press("v")
    assert gateway.events(asked, until="viewed")[-1]["event"] == "viewed"
    assert gateway.events(apns_id, until="closed")[-1]["event"] == "closed"


@needs_tmux
def test_the_centre_reads_searches_clears_and_undoes(gateway, device, phone):
    for number in range(3):
        gateway.accepted(device.token, b'{"aps":{"alert":{"title":"Quake %d"},"thread-id":"quakes"}}' % number)
    gateway.accepted(device.token, b'{"aps":{"alert":{"title":"Weather"}}}', apns_collapse_id="weather")
    screen = phone(device)
    screen.shows("4 Notifications", "Quake 0", "Quake 1", "Quake 2", "Weather", "Close All")
    gateway.accepted(device.token, b'{"aps":{"alert":{"title":"Fairer Weather"}}}', apns_collapse_id="weather")
    screen.shows("4 Notifications", "Fairer Weather", "Close All")
    # Keys are for what was there half a second ago; what has come since follows.
    screen.close_alerts()
    screen.press("2")
    screen.shows("unread of 4")
    text = screen.shows("quakes · 3", "Fairer Weather")
    assert text.count("Weather") == 1
    screen.press("/", "q", "u", "a", "k", "e", "Enter")
    screen.drops("Fairer")
    screen.press("Escape", "d")
    screen.shows("Cleared News", "Nothing to Read")
    screen.press("u")
    screen.shows("Undid Clear News", "quakes · 3", "U Redo Clear News")
    screen.press("U")
    screen.shows("Cleared News", "Nothing to Read")


@needs_tmux
def test_a_choice_in_the_settings_reaches_the_gateway_and_every_other_screen(gateway, phone):
    person = "ann"
    one, two = gateway.device(person=person), gateway.device(person=person)
    first, second = phone(one), phone(two)
    for screen in [first, second]:
        screen.shows("News", "● ")
        screen.press("3")
        screen.shows("Settings", "Done", "Badges")
    first.press("]", "Down", "Space")
    first.shows("Badges (changed)")
    assert "(changed)" not in second.text
    first.press("d")
    second.shows("Badges", "off ●━")
    second.until(lambda: second.text.count("off ●━") == 2, "the badge is off there, too")
    assert gateway.run("prefs", "show", "--device", one.name, "--json").json["badge"] is False
    gateway.prefer(one.name, "badge=on")
    second.until(lambda: second.text.count("off ●━") == 1, "and it comes back")


@needs_tmux
def test_a_focus_that_is_turned_on_keeps_alerts_in_the_centre(gateway, phone):
    device = gateway.device()
    gateway.prefer(device.name, "focus.work=none")
    screen = phone(device)
    screen.shows("● pushgateway")
    screen.press("3")
    screen.shows("Settings", "Focus", "‹ off ›")
    screen.press("Down", "Space")
    screen.shows("Focus (changed)", "‹ work ›")
    screen.press("d")
    screen.until(lambda: " work  " in screen.text.splitlines()[0], "the status bar says so")

    def is_known():
        explained = run("policy", "explain", "--device", device.name, "--topic", TOPIC, "-", "--json",
                        state=gateway.state, stdin=ALERT.decode())
        return "N7" in [removed["rule"] for removed in explained.json["removed"]]

    # The phone shows it before the gateway is told.
    eventually(is_known, "the gateway knows the Focus")
    apns_id = gateway.accepted(device.token, ALERT)
    gateway.events(apns_id, until="suppressed")
    screen.press("2")
    screen.shows("Notification Center", "Train in 5 Minutes")
    assert "Close" not in screen.text


@needs_tmux
def test_a_gateway_that_goes_away_is_told_in_the_status_bar_and_nothing_is_lost(start, phone):
    gateway = start()
    device = gateway.device()
    command = f"{PUSHCLI} subscribe --device {device.name} --state {gateway.state}"
    screen = Screen(command)
    try:
        screen.shows("● pushgateway")
        gateway.kill()
        screen.shows("○ last connected at")
        screen.press("2")
        screen.shows("Nothing to Read", "last connected at")
        gateway.restart()
        gateway.accepted(device.token, ALERT)
        screen.shows("Train in 5 Minutes", "● pushgateway")
    finally:
        screen.close()


@needs_tmux
def test_an_answer_that_is_given_while_the_gateway_is_away_arrives_later(start):
    gateway = start()
    device = gateway.device()
    apns_id = gateway.accepted(device.token, ALERT)
    command = f"{PUSHCLI} subscribe --device {device.name} --state {gateway.state}"
    screen = Screen(f"{command}; {command}")
    try:
        screen.shows("Train in 5 Minutes")
        gateway.events(apns_id, until="presented")
        gateway.kill()
        screen.shows("○ last connected at")
        screen.press("v")
        screen.shows("‹ Back")
        screen.press("q")
        screen.shows("○ not connected yet", "‹ Back")
        gateway.restart()
        gateway.events(apns_id, until="viewed")
    finally:
        screen.close()


@needs_tmux
def test_a_long_text_is_read_to_its_last_word(gateway, device, phone):
    text = "界" * 1_200 + "LASTWORD"
    gateway.accepted(device.token, json.dumps({"aps": {"alert": {"title": "Long", "body": text}}}, ensure_ascii=False).encode())
    screen = phone(device, 30, 10)
    screen.shows("Long", "more lines ↓", "View")
    screen.press("End")
    screen.shows("LASTWORD", "lines above", "View")
    screen.resize(20, 5)
    screen.shows("LASTWORD", "View")
    screen.press("Home")
    screen.shows("Long", "↓")
    screen.resize(30, 10)
    screen.shows("more lines ↓", "▸ View")
    screen.press("v")
    screen.shows("‹ Back")
    screen.press("Enter", "End")
    screen.shows("▸ p payload ·")
    # The line above the payload is empty.
    screen.press("Up", "Up")
    screen.shows("LASTWORD", "↓2")


@needs_tmux
def test_two_hundred_alerts_are_put_away_with_three_keys(gateway, phone):
    apps = [gateway.app() for _ in range(2)]
    device = gateway.device()
    tokens = [gateway.register(device.name, topic) for topic in apps]
    for topic in apps:
        gateway.prefer(device.name, "budget=none", app=topic)
    for number in range(60):
        body = b'{"aps":{"alert":{"title":"Alert %d"}}}' % number
        gateway.accepted(tokens[number % 2], body, topic=apps[number % 2])
    screen = phone(device)
    screen.shows("30 Notifications", "30 more", "Close All", "▸")
    screen.press("C")
    screen.shows("Close 30 of", "Close All 60", "Cancel")
    screen.press("2")
    screen.drops("├")
    screen.press("2")
    screen.shows("2 Center · 60", "30 unread of 30")


@needs_tmux
def test_the_mouse_clicks_and_is_given_back(gateway, device, phone):
    gateway.accepted(device.token, ALERT)
    screen = phone(device)
    screen.shows("Train in 5 Minutes", "▸ View")
    assert screen.tmux("display-message", "-p", "#{mouse_standard_flag}#{mouse_sgr_flag}").strip() == "11"

    def click(word, button=0):
        lines = screen.shows(word).splitlines()
        line, place = next((number, line.index(word)) for number, line in enumerate(lines) if word in line)
        sequence = f"\x1b[<{button};{place + 1};{line + 1}M".encode()
        screen.tmux("send-keys", "-H", *(f"{byte:02x}" for byte in sequence))

    click("View")
    screen.shows("‹ Back", "Platform 4.")
    click("2 Center")
    screen.shows("Notification Center")
    click("Train in 5")
    screen.shows("▸   ")
    screen.press("M")
    screen.shows("The mouse selects text")
    # The phone gives it back after it has drawn the notice.
    screen.until(lambda: screen.tmux("display-message", "-p", "#{mouse_standard_flag}").strip() == "0", "it is given back")
    screen.press("M")
    screen.shows("The mouse clicks here")
    pane = screen.tmux("display-message", "-p", "#{pane_pid}").strip()
    subprocess.run(["pkill", "-TERM", "-P", pane, "pushcli"], check=True)
    screen.shows("ended with")
    assert screen.tmux("display-message", "-p", "#{mouse_standard_flag}#{mouse_sgr_flag}#{alternate_on}").strip() == "000"


@needs_tmux
def test_a_terminal_is_drawn_on_as_it_can_be(gateway, device, phone):
    apns_id = gateway.accepted(device.token, ALERT)
    ascii_screen = phone(device, before="LC_ALL=C ")
    text = ascii_screen.shows("Train in 5 Minutes", "> View <")
    assert text.isascii()
    ascii_screen.press("c")
    # This phone tells the gateway its answer after that is on disk, from where the next phone of the device reads it.
    gateway.events(apns_id, until="closed")
    few = phone(device, before="TMUX= TERM=xterm ")
    few.shows("#======#", "Enter open")
    plain = phone(device, before="TERM=dumb ")
    plain.shows("Connected to pushgateway.")
    assert "+--" not in plain.text
    for before, words in [("", "drawn in full"), ("LC_ALL=C ", "the locale C is not UTF-8"),
                          ("TERM=dumb ", "line mode: TERM is dumb"), ("TMUX= TERM=xterm ", "TERM=xterm has 8 colors")]:
        doctor = Screen(f"{before}{PUSHCLI} doctor --state {gateway.state}", 200, 40)
        try:
            doctor.shows(words)
        finally:
            doctor.close()


@needs_tmux
def test_the_terminal_says_whether_it_is_light(gateway, device):
    """tmux answers OSC 11 with the color of its window; the faint words of the top row are darker on a light one."""
    for color, faint in [("colour255", "38;5;240m"), ("colour16", "38;5;246m")]:
        screen = Screen("sleep 60")
        try:
            screen.tmux("set-option", "-g", "window-style", f"bg={color}")
            command = f"{PUSHCLI} subscribe --device {device.name} --state {gateway.state}"
            screen.tmux("respawn-pane", "-k", command)
            screen.shows("● pushgateway")
            screen.until(lambda: f"{faint}pushgateway" in screen.tmux("capture-pane", "-pe"), f"{faint} on {color}")
        finally:
            screen.close()


@needs_tmux
def test_a_push_is_written_on_the_phone(gateway, phone):
    device = gateway.device()
    screen = phone(device)
    screen.shows("● pushgateway")
    screen.press("w")
    screen.shows("New Push", "Cancel", "Send", device.name)
    screen.press("H", "i", "Enter", "y", "o", "u", "C-s")
    screen.shows("Hi", "you", "▸ View")
    screen.press("c")
    screen.drops("New Push")


@needs_tmux
def test_r_tries_now(start, phone):
    gateway = start()
    device = gateway.device()
    screen = Screen(f"{PUSHCLI} subscribe --device {device.name} --state {gateway.state}")
    try:
        screen.shows("● pushgateway")
        gateway.kill()
        screen.shows("○ last connected at", "r try now")
        gateway.restart()
        screen.press("r")
        screen.shows("● pushgateway")
    finally:
        screen.close()


@needs_tmux
def test_view_runs_the_command_with_the_link(gateway, device, phone, tmp_path):
    seen = tmp_path / "seen"
    screen = phone(device, options=f"""--open-for com.example.other=false --open 'printf "%s|%s" "$PUSH_TITLE" "$PUSH_LINK" >{seen}'""")
    gateway.accepted(device.token, ALERT)
    screen.shows("Train in 5 Minutes")
    screen.press("v")
    screen.shows("‹ Back", "https://example.com/trains/4")
    wait_for(lambda: seen.exists() and seen.read_text().endswith("/4"), "the command has run", seen)
    assert seen.read_text() == "Train in 5 Minutes|https://example.com/trains/4"


@needs_tmux
def test_every_screen_tells_its_keys(gateway, device, phone):
    screen = phone(device)
    screen.shows("? keys")
    for key, words in [("1", "open"), ("2", "search"), ("3", "change")]:
        screen.press(key)
        screen.press("?")
        screen.shows("Keys", "any key closes this", words)
        screen.press("x")
        screen.drops("any key")
    screen.press("Escape")


@needs_tmux
def test_a_killed_phone_leaves_what_the_next_start_puts_right(gateway, device, phone):
    """In a raw terminal without an echo, as SIGKILL leaves it, the phone starts; after it the terminal is as others are."""
    command = f"{PUSHCLI} subscribe --device {device.name} --state {gateway.state}"
    screen = Screen(f"{command}; {command}; stty -a; echo and so on")
    try:
        screen.shows("News")
        pane = screen.tmux("display-message", "-p", "#{pane_pid}").strip()
        phones = lambda: subprocess.run(["pgrep", "-P", pane, "pushcli"], capture_output=True).stdout
        first = phones()
        subprocess.run(["pkill", "-KILL", "-P", pane, "pushcli"], check=True)
        screen.shows("News", "? keys")
        # The first one is there until the shell has seen its end.
        eventually(lambda: phones() not in (b"", first), "the second one runs")
        screen.shows("● pushgateway")
        screen.press("q")
        words = screen.shows("and so on").replace(";", " ").split()
        assert {"icanon", "echo", "opost", "isig", "icrnl"} <= set(words)
        assert screen.tmux("display-message", "-p", "#{alternate_on}#{cursor_flag}").strip() == "01"
    finally:
        screen.close()


# Answers


def ask(gateway, device, *options):
    return subprocess.Popen(
        [PUSHCLI, "ask", "--state", gateway.state, "--to", f"{device.name}/{TOPIC}", "--title", "Deploy to Production?",
         "--action", "approve=Approve", "--action", "reject=Reject!", *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@needs_tmux
def test_a_question_is_answered_once_and_its_exit_code_is_the_answer(gateway, phone):
    person = "bob"
    one, two = gateway.device(person=person), gateway.device(person=person)
    first, second = phone(one), phone(one)
    for screen in [first, second]:
        screen.shows("● pushgateway")
    question = ask(gateway, one, "--timeout", f"{HANG}s")
    for screen in [first, second]:
        screen.shows("Deploy to Production?", "Close", "Options")
    first.press("v")
    first.shows("Reject", "Approve", "Cancel")
    first.press("1")
    assert question.wait(HANG) == 11 and question.stdout.read() == "reject\n"
    second.drops("├")
    question = ask(gateway, one, "--timeout", f"{HANG}s", "--json")
    second.shows("Deploy to Production?", "├")
    second.press("v", "2")
    assert question.wait(HANG) == 0
    assert json.loads(question.stdout.read()) | {"apns_id": ""} == {
        "action": "approve", "title": "Approve", "apns_id": "", "outcome": "answered", "device": one.name}


def test_a_question_that_nobody_answers_times_out(gateway, device):
    question = ask(gateway, device, "--timeout", "1s")
    assert question.wait(HANG) == 7
    assert "nobody answered in time" in question.stderr.read()


@needs_tmux
def test_a_question_whose_time_is_up_leaves_every_screen(gateway, phone):
    person = "carol"
    one, two = gateway.device(person=person), gateway.device(person=person)
    screens = [phone(one), phone(two)]
    for screen in screens:
        screen.shows("● pushgateway")
    gateway.run("send", "--to", f"{two.name}/{TOPIC}", "--title", "Lunch?")
    screens[1].shows("Lunch?")

    def is_shown(seconds):
        question = ask(gateway, one, "--timeout", f"{seconds}s", "--json")
        assert question.wait(HANG) == 7
        rows = gateway.rows(json.loads(question.stdout.read())["apns_id"])
        return (one.name, "presented") in [(row["device"], row["event"]) for row in rows]

    # A machine that has not shown it within three seconds is given more.
    assert any(map(is_shown, [3, 30]))
    screens[0].drops("├")
    assert "Lunch?" in screens[1].text, "nothing else does"


@needs_tmux
def test_a_question_whose_sender_is_interrupted_leaves_the_screen(gateway, device, phone):
    screen = phone(device)
    screen.shows("● pushgateway")
    question = ask(gateway, device)
    screen.shows("Deploy to Production?")
    question.send_signal(signal.SIGINT)
    assert question.wait(HANG) == 130
    screen.drops("├")


def test_a_question_needs_actions_that_an_alert_can_have(gateway, device):
    refused = run("ask", "--to", f"{device.name}/{TOPIC}", "--title", "T", "--action", "close=Close", state=gateway.state)
    assert refused.code == 2 and "the action close is built in" in refused.err
    assert run("ask", "--to", f"{device.name}/{TOPIC}", "--title", "T", state=gateway.state).code == 2


@needs_tmux
def test_what_slipped_through_is_reported_as_an_advertisement(gateway, device, phone):
    accepted = gateway.accepted(device.token, ALERT)
    screen = phone(device)
    screen.shows("Train in 5 Minutes")
    screen.press("v")
    screen.shows("Platform 4.")
    screen.press("a")
    screen.shows("Reported", "as an advertisement")
    reports = [entry for entry in gateway.run("ads", "reports", "--json").records if entry["id"] == accepted]
    assert [(entry["device"], entry["topic"], entry["text"]) for entry in reports] == [
        (device.name, TOPIC, "Train in 5 Minutes\nPlatform 4.")]


def test_categories_are_listed(gateway):
    topic = gateway.app()
    gateway.run("apps", "category", topic, "SPORT", "--action", "more=More", "--action", "stop=Stop!", "--json")
    listed = gateway.run("apps", "category", topic, "--json").records
    assert listed == [{"category": "SPORT", "actions": [
        {"id": "more", "title": "More", "destructive": False}, {"id": "stop", "title": "Stop", "destructive": True}]}]


# The linear forms


def test_a_command_of_its_own_for_an_app_a_level_and_an_answer(gateway, device, tmp_path):
    out = tmp_path / "out"
    tell = lambda name: f'printf "{name} %s %s %s\\n" "$PUSH_EVENT" "$PUSH_TITLE" "$PUSH_ANSWER" >>{out}'
    linear = Linear(
        gateway, device, "--exec", tell("all"), "--exec-for", "time-sensitive=" + tell("level"),
        "--exec-for", "answered=" + tell("answered"))
    gateway.accepted(device.token, {"aps": {"alert": {"title": "One"}}})
    linear.shows("News, One: 1 Close  2 View?")

    def is_answered():
        linear.type("view")
        is_early = lambda: "only just appeared" in linear.text[linear.start:]
        linear.until(lambda: is_early() or out.exists() and "answered" in out.read_text(), "the answer's command has run", out)
        return not is_early()

    eventually(is_answered, "a question that takes lines")
    gateway.accepted(device.token, {"aps": {"alert": {"title": "Two"}, "interruption-level": "time-sensitive"}})
    wait_for(lambda: len(out.read_text().splitlines()) == 3, "the level's command has run", out)
    assert out.read_text().splitlines() == ["all push One ", "answered answered One view", "level push Two "]
    linear.process.terminate()
    assert linear.process.wait(HANG) == 130


@needs_tmux
def test_copied_is_said_of_what_tmux_has(gateway, device, phone):
    screen = phone(device)
    gateway.accepted(device.token, ALERT)
    screen.shows("Train in 5 Minutes")
    screen.press("c")
    screen.type("n")
    screen.type("Enter")
    screen.type("y")
    screen.shows("Copied")
    assert "Train in 5 Minutes" in screen.tmux("show-buffer")


def test_a_command_runs_for_each_push_and_only_its_success_acknowledges(gateway, device, tmp_path):
    for number in range(4):
        gateway.accepted(device.token, b'{"aps":{"alert":{"title":"Push %d \\u001b[31m"}}}' % number)
    out, fails = tmp_path / "out", tmp_path / "fails"
    fails.touch()
    command = f"""cat >/dev/null; printf '%s\\n' "$PUSH_TITLE" >>{out}; ! test -e {fails}"""
    process = subprocess.Popen(
        [PUSHCLI, "subscribe", "--state", gateway.state, "--device", device.name, "--json", "--exec", command,
         "--ack-on-success", "--jobs", "4"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: out.exists() and len(out.read_text().splitlines()) >= 4, "each has run", out, process)
    assert gateway.waiting(device) == 4
    fails.unlink()
    gateway.when(lambda: gateway.waiting(device) == 0, "all are acknowledged once they succeed")
    process.send_signal(signal.SIGTERM)
    assert process.wait(HANG) == 130
    assert set(out.read_text().splitlines()) == {f"Push {number} " for number in range(4)}
