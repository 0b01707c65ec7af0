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
