"""`ask` and `send --wait`: they wait for what happens, whatever happens to the gateway meanwhile."""

import os
import signal
import subprocess
import time
import uuid

import pytest
from gateway import PUSHCLI, TOPIC, poll


class Command:
    """A command that waits for a person."""

    def __init__(self, gateway, *arguments):
        self.process = subprocess.Popen(
            [PUSHCLI, *map(str, arguments), "--state", str(gateway.state)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end_by(self, number):
        self.process.send_signal(number)
        return self.end()

    def end(self, timeout=30):
        out, err = self.process.communicate(timeout=timeout)
        return self.process.returncode, out.strip(), err


def ask(gateway, device, *options):
    return Command(
        gateway, "ask", "--to", f"{device.name}/{TOPIC}", "--title", "Deploy?", "--action", "approve=Approve", "--action",
        "reject=Reject!", *options)


def shown(gateway, device):
    """The device's stream, and the question that is on its screen."""
    stream = gateway.stream(device)
    return stream, poll(lambda: next((line for line in stream.quiet() if line["type"] == "push"), None), "the question")


def cpu(process):
    fields = open(f"/proc/{process.pid}/stat").read().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("end", ["kill", "stop"])
@pytest.mark.parametrize("answered", ["before", "after"])
def test_a_question_survives_the_gateway(start, end, answered):
    gateway = start()
    device = gateway.device()
    question = ask(gateway, device, "--timeout", "60s")
    stream, push = shown(gateway, device)
    if answered == "before":
        # The answer is in the log, and nobody has been told of it.
        question.process.send_signal(signal.SIGSTOP)
        stream.say(type="answer", id=push["id"], action="reject")
        gateway.events(push["id"], "action")
    getattr(gateway, end)()
    if answered == "before":
        question.process.send_signal(signal.SIGCONT)
    gateway.restart()
    if answered == "after":
        stream = gateway.stream(device)
        stream.caught_up()
        stream.say(type="answer", id=push["id"], action="reject")
    assert question.end()[:2] == (11, "reject")


def test_a_push_that_is_waited_for_survives_the_gateway(start):
    gateway = start()
    device = gateway.device()
    waiting = Command(
        gateway, "send", "--to", f"{device.name}/{TOPIC}", "--title", "x", "--wait", "viewed", "--timeout", "60s")
    stream, push = shown(gateway, device)
    # It says so when the push was accepted, and waits from then on.
    assert waiting.process.stdout.readline().strip().lower() == push["id"].lower()
    # What the log's last moments held is lost with a kill.
    gateway.events(push["id"], "stored")
    gateway.kill()
    gateway.restart()
    stream = gateway.stream(device)
    stream.caught_up()
    stream.acknowledge(push["seq"])
    stream.say(type="answer", id=push["id"], action="view")
    code, _, words = waiting.end()
    assert code == 0
    # What had been told before the restart is not told again.
    events = [line.split()[1] for line in words.splitlines()]
    assert events.count("accepted") == 1 and events[-1] == "viewed"


def test_a_question_without_a_gateway_ends_in_time(start):
    gateway = start()
    device = gateway.device()
    question = ask(gateway, device, "--timeout", "8s")
    shown(gateway, device)
    gateway.kill()
    assert question.end(20)[0] == 7
    # Where none ran to begin with, nobody waits.
    assert ask(gateway, device, "--timeout", "60s").end(10)[0] == 6


def test_waiting_costs_nothing_while_nothing_happens(start):
    gateway = start()
    device = gateway.device()
    waiting = [
        Command(gateway, "send", "--to", f"{device.name}/{TOPIC}", "--title", "x", "--wait", "viewed", "--timeout", "60s")
        for _ in range(8)
    ]
    try:
        stream = gateway.stream(device)
        pushes = poll(
            lambda: (found := [line for line in stream.quiet() if line["type"] == "push"]) and len(found) == 8 and found,
            "the pushes", 30)
        stream.acknowledge(pushes[-1]["seq"])
        gateway.events(pushes[-1]["id"], "acknowledged")
        before = cpu(gateway.process) + sum(cpu(one.process) for one in waiting)
        time.sleep(2)
        spent = cpu(gateway.process) + sum(cpu(one.process) for one in waiting) - before
        # A search ten times a second for each was twenty times as much.
        assert spent < 0.3, spent
        for push in pushes:
            stream.say(type="answer", id=push["id"], action="view")
        assert [one.end()[0] for one in waiting] == [0] * 8
    finally:
        for one in waiting:
            one.process.kill()


def test_a_long_export_is_read_page_by_page(start):
    gateway = start()
    device = gateway.device()
    with gateway.connect() as connection:
        for _ in range(30):
            gateway.accepted(device.token, connection=connection, apns_id=str(uuid.uuid4()))
    whole = gateway.run("log", "--limit", "1000", "--json").records
    assert len(whole) == 60
    # One page holds no more than ten thousand rows; asking for more is asking for pages.
    for options in ([], ["--device", device.name], ["--event", "stored"]):
        few = gateway.run("log", "--limit", "1000", "--json", *options).records
        assert gateway.run("log", "--limit", "1000000", "--json", *options).records == few


def test_follow_prints_what_happens(start):
    gateway = start()
    device = gateway.device()
    first = gateway.accepted(device.token)
    follow = subprocess.Popen(
        [PUSHCLI, "log", "--follow", "--device", device.name, "--event", "accepted", "--state", str(gateway.state)],
        stdout=subprocess.PIPE, text=True)
    try:
        assert first in follow.stdout.readline()
        second = gateway.accepted(device.token)
        assert second in follow.stdout.readline()
    finally:
        follow.kill()
        follow.wait()


def next_of(stream, kind, id=None):
    """The next line of a kind, whatever came before it."""
    while (line := stream.next())["type"] != kind or (id or line["id"]) != line["id"]:
        pass
    return line


def categories(gateway):
    return gateway.run("apps", "category", TOPIC, "--json").records


@pytest.mark.parametrize("setting, rule", [
    (["notifications=off"], "N4"), (["alert=off"], "N4"), (["--app", TOPIC, "notifications=off"], "N5"),
    (["--app", TOPIC, "alert=off"], "N5")])
def test_a_question_that_nobody_can_see_ends_at_once(start, setting, rule):
    gateway = start()
    device = gateway.device()
    gateway.run("prefs", "set", "--device", device.name, *setting)
    began = time.monotonic()
    code, out, err = ask(gateway, device, "--timeout", "60s").end()
    assert (code, out) == (3, "") and f"rule {rule}: " in err
    assert time.monotonic() - began < 10
    assert categories(gateway) == []


def test_a_push_of_which_nothing_can_be_shown_is_not_waited_for(start):
    gateway = start()
    device = gateway.device()
    gateway.run("prefs", "set", "--device", device.name, "--app", TOPIC, "notifications=off")
    arguments = ("send", "--to", f"{device.name}/{TOPIC}", "--title", "x", "--sound", "default", "--badge", "3", "--wait")
    began = time.monotonic()
    for awaited in ("acknowledged", "viewed", "closed"):
        code, out, err = Command(gateway, *arguments, awaited, "--timeout", "60s").end()
        assert code == 3 and len(out) == 36 and "rule N5: notifications are off" in err
    assert time.monotonic() - began < 10
    # Who has a key alone is told the 200, and not why nobody sees it.
    answer = gateway.push(device.token)
    assert (answer.status, answer.body) == (200, b"")
    assert not any("N5" in value or "policy" in name for name, value in answer.fields)


@pytest.mark.parametrize("setting", [["quiet=00:00-12:00; 12:00-00:00"], ["--app", TOPIC, "delivery=summary"]])
def test_what_is_kept_back_is_waited_for(start, setting):
    gateway = start()
    device = gateway.device()
    gateway.run("prefs", "set", "--device", device.name, *setting)
    question = ask(gateway, device, "--timeout", "60s")
    waiting = Command(
        gateway, "send", "--to", f"{device.name}/{TOPIC}", "--title", "x", "--wait", "viewed", "--timeout", "60s")
    stream = gateway.stream(device)
    pushes = poll(
        lambda: (found := [line for line in stream.quiet() if line["type"] == "push"]) and len(found) == 2 and found, "both")
    asked, other = sorted(pushes, key=lambda push: "actions" not in push["presentation"]["centre"])
    stream.acknowledge(pushes[-1]["seq"])
    gateway.events(other["id"], "acknowledged")
    assert question.process.poll() is None and waiting.process.poll() is None
    stream.say(type="answer", id=other["id"], action="view")
    stream.say(type="answer", id=asked["id"], action="reject")
    assert question.end()[:2] == (11, "reject")
    assert waiting.end()[0] == 0


@pytest.mark.parametrize("end", ["answer", "interrupt", "time"])
def test_a_question_leaves_nothing_behind(start, end):
    gateway = start()
    device = gateway.device()
    question = ask(gateway, device, "--timeout", "3s" if end == "time" else "60s")
    stream, push = shown(gateway, device)
    [category] = categories(gateway)
    assert [action["id"] for action in category["actions"]] == ["approve", "reject"]
    if end == "answer":
        stream.say(type="answer", id=push["id"], action="approve")
    elif end == "interrupt":
        question.process.send_signal(signal.SIGINT)
    assert question.end()[0] == {"answer": 0, "interrupt": 130, "time": 7}[end]
    assert categories(gateway) == []
    if end != "answer":
        next_of(stream, "retract", push["id"])


def test_the_category_of_a_question_outlasts_the_gateway(start):
    gateway = start()
    device = gateway.device()
    question = ask(gateway, device, "--timeout", "60s")
    shown(gateway, device)
    question.process.kill()
    question.process.wait()
    [category] = categories(gateway)
    # Its asker may wait for the gateway to come back; else it ends soon after the question's time.
    gateway.kill()
    gateway.restart()
    assert categories(gateway) == [category]


@pytest.mark.parametrize("whom", ["device", "person"])
def test_a_question_goes_on_to_somebody_else(start, whom):
    gateway = start()
    first, second = gateway.device(), gateway.device()
    # All devices of a person are asked.
    third = gateway.device(person=second.name)
    question = ask(gateway, first, "--timeout", "60s", "--escalate-to", second.name, "--after", "1s")
    stream, push = shown(gateway, first)
    if whom == "person":
        question.end_by(signal.SIGINT)
        next_of(stream, "retract", push["id"])
        gateway.run("persons", "rename", second.name, "bob")
        question = ask(gateway, first, "--timeout", "60s", "--escalate-to", "bob", "--after", "1s")
        push = next_of(stream, "push")
    others = [shown(gateway, device) for device in ([second, third] if whom == "person" else [second])]
    assert {again["id"] for _, again in others} == {push["id"]}
    others[-1][0].say(type="answer", id=push["id"], action="reject")
    assert question.end()[:2] == (11, "reject")
    # It is of no use any longer where it was asked first, nor on the person's other device.
    for one in [stream] + [other for other, _ in others[:-1]]:
        next_of(one, "retract", push["id"])
    assert categories(gateway) == []


def test_a_closed_question_goes_on_at_once(start):
    gateway = start()
    first, second = gateway.device(), gateway.device()
    question = ask(gateway, first, "--timeout", "60s", "--escalate-to", second.name, "--after", "50s")
    stream, push = shown(gateway, first)
    stream.say(type="answer", id=push["id"], action="close")
    other, _ = shown(gateway, second)
    other.say(type="answer", id=push["id"], action="approve")
    assert question.end()[:2] == (0, "approve")


def test_a_question_that_the_first_refuses_goes_on_at_once(start):
    gateway = start()
    first, second = gateway.device(), gateway.device()
    gateway.run("prefs", "set", "--device", first.name, "alert=off")
    question = ask(gateway, first, "--timeout", "60s", "--escalate-to", second.name, "--after", "50s")
    other, push = shown(gateway, second)
    other.say(type="answer", id=push["id"], action="approve")
    assert question.end()[:2] == (0, "approve")
    gateway.run("prefs", "set", "--device", second.name, "alert=off")
    assert ask(gateway, first, "--timeout", "60s", "--escalate-to", second.name).end()[0] == 3


def test_an_answered_question_does_not_wait_for_who_was_away(start):
    gateway = start()
    first, second = gateway.device(), gateway.device()
    question = ask(gateway, first, "--timeout", "60s", "--escalate-to", second.name, "--after", "1s")
    stream, push = shown(gateway, first)
    gateway.events(push["id"])
    poll(
        lambda: second.name in {record["device"] for record in gateway.run("log", push["id"], "--json").records},
        "the second is asked")
    stream.say(type="answer", id=push["id"], action="approve")
    assert question.end()[:2] == (0, "approve")
    # Whoever comes now is not asked what has been answered.
    assert not any(line["type"] == "push" for line in gateway.stream(second).caught_up())


@pytest.mark.parametrize("options, code, words", [
    (["--after", "1m"], 2, "--escalate-to"),
    (["--escalate-to", "nobody-here"], 3, "no device and no person named nobody-here"),
    (["--escalate-to", "SELF"], 2, "somebody else"),
    (["--escalate-to", "SELF", "--after", "10m"], 2, "nobody else would be asked"),
    (["--escalate-to", "SELF", "--after", "soon"], 2, "--after is \"soon\"")])
def test_an_escalation_that_can_not_be_is_told_at_once(gateway, options, code, words):
    device = gateway.device()
    options = [device.name if option == "SELF" else option for option in options]
    end = ask(gateway, device, "--timeout", "5m", *options).end()
    assert end[0] == code and words in end[2], end
