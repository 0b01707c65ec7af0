"""`ask` and `send --wait`: they wait for what happens, whatever happens to the gateway meanwhile."""

import contextlib
import os
import signal
import subprocess
import uuid

import pytest
from gateway import PUSHCLI, TOPIC
from waiting import HANG, eventually


class Command:
    """A command that waits for a person."""

    def __init__(self, gateway, *arguments):
        self.process = subprocess.Popen(
            [PUSHCLI, *map(str, arguments), "--state", str(gateway.state)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end_by(self, number):
        self.process.send_signal(number)
        return self.end()

    def end(self):
        out, err = self.process.communicate(timeout=HANG)
        return self.process.returncode, out.strip(), err


def ask(gateway, device, *options):
    return Command(
        gateway, "ask", "--to", f"{device.name}/{TOPIC}", "--title", "Deploy?", "--action", "approve=Approve", "--action",
        "reject=Reject!", *options)


def shown(gateway, device):
    """The device's stream, and the question that is on its screen."""
    stream = gateway.stream(device)
    return stream, stream.next_of("push")


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
    eventually(lambda: 'pushgateway_clients{kind="provider"} 0' in gateway.run("metrics", "clients").out,
               "the question was accepted, and only its answer is missing")
    gateway.kill()
    assert question.end()[0] == 7
    # Where none ran to begin with, nobody waits.
    assert ask(gateway, device, "--timeout", "60s").end()[0] == 6


@pytest.fixture
def without_waits(start):
    """A gateway of which others have taken all waits for the log."""
    gateway = start()
    with contextlib.ExitStack() as stack:
        while True:
            connection = stack.enter_context(gateway.connect(admin=True))
            streams = [
                connection.send("GET", "/admin/v1/log/next?event=expired&seconds=60") for _ in range(60)]
            # The refusals of the waits were sent before it.
            assert connection.request("GET", "/admin/v1/log/next?event=expired").status == 200
            if any(connection.responses[stream].is_ended for stream in streams):
                break
        yield gateway


def test_an_answer_arrives_while_others_hold_all_waits(without_waits):
    gateway = without_waits
    device = gateway.device()
    question = ask(gateway, device, "--timeout", "30s")
    stream, push = shown(gateway, device)
    stream.say(type="answer", id=push["id"], action="reject")
    assert question.end()[:2] == (11, "reject")


def test_a_push_is_followed_while_others_hold_all_waits(without_waits):
    gateway = without_waits
    device = gateway.device()
    waiting = Command(
        gateway, "send", "--to", f"{device.name}/{TOPIC}", "--title", "x", "--wait", "viewed", "--timeout", "30s")
    stream, push = shown(gateway, device)
    stream.acknowledge(push["seq"])
    stream.say(type="answer", id=push["id"], action="view")
    assert waiting.end()[0] == 0


def test_waiting_costs_nothing_while_nothing_happens(start):
    """Processor time, not of the clock: from when all wait until their own time is up."""
    gateway = start()
    device = gateway.device()
    waiting = [
        Command(gateway, "send", "--to", f"{device.name}/{TOPIC}", "--title", "x", "--wait", "viewed", "--timeout", "4s")
        for _ in range(8)
    ]
    stream = gateway.stream(device)
    pushes = [stream.next_of("push") for _ in waiting]
    stream.acknowledge(pushes[-1]["seq"])
    gateway.events(pushes[-1]["id"], "acknowledged")
    before = cpu(gateway.process) + sum(cpu(one.process) for one in waiting)
    ends = [os.wait4(one.process.pid, 0) for one in waiting]
    spent = cpu(gateway.process) + sum(usage.ru_utime + usage.ru_stime for _, _, usage in ends) - before
    # A search ten times a second for each was twenty times as much.
    assert spent < 1, spent
    assert {os.waitstatus_to_exitcode(status) for _, status, _ in ends} == {7}


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


def test_follow_prints_what_happens(gateway, device):
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


def categories(gateway):
    return gateway.admin("GET", "apps", TOPIC, "categories")


@pytest.mark.parametrize("setting, rule", [
    ({"app": None}, "N4"), ({"app": TOPIC}, "N5")])
def test_a_question_that_nobody_can_see_ends_at_once(gateway, device, setting, rule):
    gateway.prefer(device, "alert=off", **setting)
    # It would end with 7 after its time.
    code, out, err = ask(gateway, device, "--timeout", "60s").end()
    assert (code, out) == (3, "") and f"rule {rule}: " in err
    assert categories(gateway) == []


def test_a_push_of_which_nothing_can_be_shown_is_not_waited_for(gateway, device):
    gateway.prefer(device.name, "notifications=off", app=TOPIC)
    arguments = ("send", "--to", f"{device.name}/{TOPIC}", "--title", "x", "--sound", "default", "--badge", "3", "--wait")
    for awaited in ("acknowledged", "viewed", "closed"):
        code, out, err = Command(gateway, *arguments, awaited, "--timeout", "60s").end()
        assert code == 3 and len(out) == 36 and "rule N5: notifications are off" in err
    # Who has a key alone is told the 200, and not why nobody sees it.
    answer = gateway.push(device.token)
    assert (answer.status, answer.body) == (200, b"")
    assert not any("N5" in value or "policy" in name for name, value in answer.fields)


@pytest.mark.parametrize("setting, app", [("quiet=00:00-12:00; 12:00-00:00", None), ("delivery=summary", TOPIC)])
def test_what_is_kept_back_is_waited_for(gateway, device, setting, app):
    gateway.prefer(device, setting, app=app)
    question = ask(gateway, device, "--timeout", "60s")
    waiting = Command(
        gateway, "send", "--to", f"{device.name}/{TOPIC}", "--title", "x", "--wait", "viewed", "--timeout", "60s")
    stream = gateway.stream(device)
    pushes = [stream.next_of("push") for _ in range(2)]
    asked, other = sorted(pushes, key=lambda push: "actions" not in push["presentation"]["centre"])
    stream.acknowledge(pushes[-1]["seq"])
    gateway.events(other["id"], "acknowledged")
    assert question.process.poll() is None and waiting.process.poll() is None
    stream.say(type="answer", id=other["id"], action="view")
    stream.say(type="answer", id=asked["id"], action="reject")
    assert question.end()[:2] == (11, "reject")
    assert waiting.end()[0] == 0


@pytest.mark.parametrize("end", ["answer", "interrupt", "time"])
def test_a_question_leaves_nothing_behind(gateway, device, end):
    # Its time may be up before this machine comes to a next line: the device is there before the question.
    stream = gateway.stream(device)
    stream.caught_up()
    question = ask(gateway, device, "--timeout", "8s" if end == "time" else "60s")
    push = stream.next_of("push")
    assert [action["id"] for action in push["presentation"]["alert"]["actions"]] == ["approve", "reject"]
    if end != "time":
        [category] = categories(gateway)
        assert [action["id"] for action in category["actions"]] == ["approve", "reject"]
    if end == "answer":
        stream.say(type="answer", id=push["id"], action="approve")
    elif end == "interrupt":
        question.process.send_signal(signal.SIGINT)
    assert question.end()[0] == {"answer": 0, "interrupt": 130, "time": 7}[end]
    assert categories(gateway) == []
    if end != "answer":
        stream.next_of("retract", push["id"])


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
def test_a_question_goes_on_to_somebody_else(gateway, whom):
    first, second = gateway.device(), gateway.device()
    # All devices of a person are asked.
    third = gateway.device(person=second.name)
    question = ask(gateway, first, "--timeout", "60s", "--escalate-to", second.name, "--after", "1s")
    stream, push = shown(gateway, first)
    if whom == "person":
        question.end_by(signal.SIGINT)
        stream.next_of("retract", push["id"])
        gateway.admin("POST", "persons", second.name, "name", body={"name": "bob"})
        question = ask(gateway, first, "--timeout", "60s", "--escalate-to", "bob", "--after", "1s")
        push = stream.next_of("push")
    others = [shown(gateway, device) for device in ([second, third] if whom == "person" else [second])]
    assert {again["id"] for _, again in others} == {push["id"]}
    others[-1][0].say(type="answer", id=push["id"], action="reject")
    assert question.end()[:2] == (11, "reject")
    # It is of no use any longer where it was asked first, nor on the person's other device.
    for one in [stream] + [other for other, _ in others[:-1]]:
        one.next_of("retract", push["id"])
    assert categories(gateway) == []


def test_a_closed_question_goes_on_at_once(gateway):
    first, second = gateway.device(), gateway.device()
    question = ask(gateway, first, "--timeout", "60s", "--escalate-to", second.name, "--after", "50s")
    stream, push = shown(gateway, first)
    stream.say(type="answer", id=push["id"], action="close")
    other, _ = shown(gateway, second)
    other.say(type="answer", id=push["id"], action="approve")
    assert question.end()[:2] == (0, "approve")


def test_a_question_that_the_first_refuses_goes_on_at_once(gateway):
    first, second = gateway.device(), gateway.device()
    gateway.prefer(first.name, "alert=off")
    question = ask(gateway, first, "--timeout", "60s", "--escalate-to", second.name, "--after", "50s")
    other, push = shown(gateway, second)
    other.say(type="answer", id=push["id"], action="approve")
    assert question.end()[:2] == (0, "approve")
    gateway.prefer(second.name, "alert=off")
    assert ask(gateway, first, "--timeout", "60s", "--escalate-to", second.name).end()[0] == 3


def test_an_answered_question_does_not_wait_for_who_was_away(gateway):
    first, second = gateway.device(), gateway.device()
    question = ask(gateway, first, "--timeout", "60s", "--escalate-to", second.name, "--after", "1s")
    stream, push = shown(gateway, first)
    gateway.when(lambda: second.name in {row["device"] for row in gateway.rows(push["id"])}, "the second is asked")
    stream.say(type="answer", id=push["id"], action="approve")
    assert question.end()[:2] == (0, "approve")
    # Whoever comes now is not asked what has been answered.
    assert not any(line["type"] == "push" for line in gateway.stream(second).caught_up())


@pytest.mark.parametrize("options, code, words", [
    (["--after", "1m"], 2, "--escalate-to"),
    (["--escalate-to", "nobody-here"], 3, "no device and no user named nobody-here"),
    (["--escalate-to", "SELF"], 2, "expected another device or user"),
    (["--escalate-to", "SELF", "--after", "10m"], 2, "expected a shorter --after"),
    (["--escalate-to", "SELF", "--after", "soon"], 2, "--after is \"soon\"")])
def test_an_escalation_that_can_not_be_is_told_at_once(gateway, options, code, words):
    device = gateway.device()
    options = [device.name if option == "SELF" else option for option in options]
    end = ask(gateway, device, "--timeout", "5m", *options).end()
    assert end[0] == code and words in end[2], end
