"""The delivery log of a cell: each gateway writes its own rows, and any of them shows the rows of all."""

import json
import signal
import subprocess

import pytest
from brokers import needs_brokers
from gateway import ALERT, PUSHCLI, TOPIC, run
from waiting import HANG, eventually, wait_for
from wire import DeviceStream

pytestmark = [needs_brokers, pytest.mark.xdist_group("cell")]


@pytest.fixture
def pair(cell):
    """The gateways, and a device that both know; each knows of the other."""
    first, second = cell.gateways
    device = first.device()
    eventually(lambda: any(row["name"] == device.name and row["apps"] for row in second.devices()),
               "the device is registered at the other gateway")
    for gateway in cell.gateways:
        eventually(lambda: cell_log(gateway)["unanswered"] == [] and knows(gateway, device),
                   "each gateway knows of the other")
    # The streams of these questions were closed here; each gateway hears of that some time later.
    for gateway in cell.gateways:
        eventually(lambda: record_of(gateway, device)["streams"] == 0, "no gateway has a stream of the device")
    return first, second, device


def record_of(gateway, device):
    """What a gateway lists of a device."""
    return next(one for one in gateway.devices() if one["name"] == device.name)


def knows(gateway, device):
    """Whether the gateway tells devices of another one."""
    with gateway.connect() as connection:
        return bool(DeviceStream(connection, device.secret).next("welcome").get("gateways"))


def cell_log(gateway, **query):
    """The answer of the admin API."""
    return gateway.admin("GET", "log", **query)


class Command:
    """A command that waits."""

    def __init__(self, gateway, *arguments):
        self.process = subprocess.Popen(
            [PUSHCLI, *map(str, arguments), "--state", str(gateway.state)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end(self):
        out, err = self.process.communicate(timeout=HANG)
        return self.process.returncode, out.strip(), err


def push_of(stream):
    """The next push of a device's stream."""
    return stream.next_of("push")


def test_any_gateway_shows_the_rows_of_all_in_the_order_of_time(pair):
    first, second, device = pair
    stream = second.stream(device)
    stream.caught_up()
    accepted = first.accepted(device.token)
    push_of(stream)
    expected = {("accepted", first.address), ("stored", first.address), ("transmitted", second.address)}
    for gateway in [first, second]:
        rows = gateway.when(
            lambda: (found := gateway.rows(accepted))
            and expected <= {(row["event"], row["gateway"]) for row in found} and found,
            "the rows of both gateways")
        assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)

        def are_shown():
            shown = gateway.run("log", "--device", device.name).out
            return f"at {first.address}" in shown and f"at {second.address}" in shown

        # A gateway that takes too long for an answer is left out of it, here and below.
        eventually(are_shown, "the command shows the rows of both gateways")

    def are_own():
        with first.connect() as connection:
            own = connection.request("GET", "/v1/device/log", [("authorization", f"bearer {device.secret}")]).json
        return expected <= {(row["event"], row["gateway"]) for row in own["rows"]} and own["unanswered"] == []

    eventually(are_own, "the device is shown the rows of both gateways")
    # The unique id is in the row of acceptance, which the other gateway has.
    unique = next(row["unique_id"] for row in rows if row["event"] == "accepted")
    eventually(lambda: {row["id"] for row in second.rows(unique)} == {accepted}, "the push is found by its unique id")


def test_who_follows_sees_what_happens_at_the_other_gateway(pair, tmp_path):
    first, second, device = pair

    def accepted():
        # Whole lines only: a line that is being written may be read in part.
        lines = [json.loads(line) for line in (tmp_path / "follow").read_text().split("\n")[:-1]]
        return [line for line in lines if line["event"] == "accepted"]

    with open(tmp_path / "follow", "w") as out:
        following = subprocess.Popen(
            [PUSHCLI, "log", "--follow", "--json", "--state", str(first.state)], stdout=out, stdin=subprocess.DEVNULL)
    try:
        ids = []
        for gateway in [second, first, second]:
            ids.append(gateway.accepted(device.token))
            wait_for(lambda: ids[-1] in [line["id"] for line in accepted()], "the push is seen", tmp_path / "follow", following)
        assert [line["id"] for line in accepted() if line["id"] in ids] == ids
        assert [line["gateway"] for line in accepted() if line["id"] in ids] == [
            second.address, first.address, second.address]
    finally:
        following.kill()
        following.wait()


def test_a_sender_at_one_gateway_waits_for_a_person_at_the_other(pair):
    first, second, device = pair
    stream = second.stream(device)
    stream.caught_up()
    waiting = Command(
        first, "send", "--to", f"{device.name}/{TOPIC}", "Lunch", "--wait", "viewed", "--timeout", "30s")
    push = push_of(stream)
    stream.say(type="answer", id=push["id"], action="view")
    code, out, err = waiting.end()
    assert code == 0, out + err
    assert "transmitted" in err and "viewed" in err


def test_a_question_at_one_gateway_is_answered_at_the_other(pair):
    first, second, device = pair
    stream = second.stream(device)
    stream.caught_up()
    question = Command(
        first, "ask", "--to", f"{device.name}/{TOPIC}", "--title", "Deploy?", "--action", "approve=Approve", "--action",
        "reject=Reject!", "--timeout", "30s")
    push = push_of(stream)
    stream.say(type="answer", id=push["id"], action="approve")
    code, out, err = question.end()
    assert (code, out) == (0, "approve"), err


def test_a_push_is_answered_at_another_gateway_than_the_one_that_delivered_it(pair):
    first, second, device = pair
    question = Command(
        first, "ask", "--to", f"{device.name}/{TOPIC}", "--title", "Deploy?", "--action", "approve=Approve", "--action",
        "reject=Reject!", "--timeout", "30s")
    stream = first.stream(device)
    push = push_of(stream)
    stream.acknowledge(push["seq"])
    first.events(push["id"], "acknowledged")
    stream.connection.close()
    moved = second.stream(device)
    moved.caught_up()
    moved.say(type="answer", id=push["id"], action="reject")
    code, out, err = question.end()
    assert out == "reject", err
    # The first answer counts, at whichever gateway it comes.
    again = first.stream(device)
    again.caught_up()
    again.say(type="answer", id=push["id"], action="view")
    assert again.next_of("answered")["action"] == "reject"


def test_a_push_is_answered_after_the_gateway_that_delivered_it_is_dead(pair):
    first, second, device = pair
    question = Command(
        second, "ask", "--to", f"{device.name}/{TOPIC}", "--title", "Deploy?", "--action", "approve=Approve", "--action",
        "reject=Reject!", "--timeout", "30s")
    stream = first.stream(device)
    push = push_of(stream)
    stream.acknowledge(push["seq"])
    second.events(push["id"], "acknowledged")
    first.kill()
    moved = second.stream(device)
    moved.caught_up()
    moved.say(type="answer", id=push["id"], action="approve")
    code, out, err = question.end()
    assert (code, out) == (0, "approve"), err


def ask(gateway, device, *options):
    """A question with a time that no test waits for."""
    return Command(
        gateway, "ask", "--to", f"{device.name}/{TOPIC}", "--title", "Deploy?", "--action", "approve=Approve", "--action",
        "reject=Reject!", "--timeout", "10m", *options)


def asked(first, second, device):
    """A question at the first gateway that the device has, and that both gateways have logged."""
    question = ask(first, device)
    stream = first.stream(device)
    push = push_of(stream)
    stream.acknowledge(push["seq"])
    second.events(push["id"], "acknowledged")
    return question, stream, push["id"]


def answer(gateway, device, apns_id, action):
    """Answers at a gateway to which the device moves, and waits until it is logged there."""
    stream = gateway.stream(device)
    stream.caught_up()
    stream.say(type="answer", id=apns_id, action=action)
    gateway.events(apns_id, "action")


@pytest.mark.parametrize("end", ["killed", "stopped", "halted"])
def test_a_question_goes_on_at_another_gateway_while_its_own_is_away(pair, end):
    first, second, device = pair
    question, _, apns_id = asked(first, second, device)
    if end == "halted":
        first.process.send_signal(signal.SIGSTOP)
    else:
        {"killed": first.kill, "stopped": first.stop}[end]()
    try:
        answer(second, device, apns_id, "approve")
        code, out, err = question.end()
        assert (code, out) == (0, "approve"), err
    finally:
        if end == "halted":
            first.process.send_signal(signal.SIGCONT)


def test_a_question_goes_on_when_all_gateways_have_restarted(pair):
    first, second, device = pair
    question, _, apns_id = asked(first, second, device)
    # The answer is in the log, and nobody has been told of it.
    question.process.send_signal(signal.SIGSTOP)
    answer(second, device, apns_id, "reject")
    first.kill()
    second.kill()
    question.process.send_signal(signal.SIGCONT)
    second.restart()
    code, out, err = question.end()
    assert (code, out) == (11, "reject"), err


def test_an_answer_that_a_dead_gateway_has_logged_is_logged_by_the_others(pair):
    first, second, device = pair
    question, _, apns_id = asked(first, second, device)
    question.process.send_signal(signal.SIGSTOP)
    answer(second, device, apns_id, "approve")
    second.kill()
    question.process.send_signal(signal.SIGCONT)
    code, out, err = question.end()
    assert (code, out) == (0, "approve"), err
    second.restart()
    eventually(lambda: cell_log(first)["unanswered"] == [], "the other gateway is back")
    assert [row["event"] for row in first.rows(apns_id)].count("action") == 1


def test_a_budget_goes_on_at_the_gateway_to_which_a_device_moves(pair):
    first, second, device = pair
    budget = 20
    first.prefer(device.name, f"budget={budget}", app=TOPIC)
    stream = first.stream(device)
    stream.caught_up()
    for _ in range(budget):
        first.accepted(device.token, ALERT)
        push = stream.next("push")
        assert "alert" in push["presentation"]
        stream.acknowledge(push["seq"])
    stream.connection.close()
    moved = second.stream(device)
    moved.caught_up()

    def is_counted():
        second.accepted(device.token, ALERT)
        return "alert" not in moved.next("push")["presentation"]

    # The other gateway hands its count over some time after the device has come; this gateway alone counts to the budget.
    assert any(is_counted() for _ in range(budget)), f"{budget} alerts were shown in this hour, at the other gateway"
    first.accepted(device.token, ALERT)
    assert "alert" not in moved.next("push")["presentation"]


def dropped(gateway, token):
    """Pushes to a device that is nowhere, until the log says of one that it was dropped; returns their ids.

    Of a push about which another gateway does not answer within a second the log says nothing.
    """
    ids = []

    def is_said():
        ids.append(gateway.accepted(token, apns_expiration=0))
        return any("not connected" in gateway.run("log", one).out for one in ids)

    eventually(is_said, "the log says why it was dropped")
    return ids


def test_a_push_that_is_never_stored_says_that_its_device_is_nowhere(pair):
    first, second, device = pair
    gone = dropped(first, device.token)
    stream = second.stream(device)
    stream.caught_up()
    shown = first.accepted(device.token, apns_expiration=0)
    # The last of the others may have been on its way to the other gateway until now.
    while (seen := stream.next("push")["id"]) in gone:
        pass
    assert seen == shown
    # Its gateway asks one question at a time: the answer about a later push comes with the answer about this one, or after.
    dropped(first, first.device().token)
    assert "not connected" not in first.run("log", shown).out


def test_any_gateway_knows_who_is_connected_and_what_waits(pair):
    first, second, device = pair
    first.channel(TOPIC, devices=[device])
    for _ in range(3):
        second.accepted(device.token)

    def shows(gateway, **wanted):
        record = record_of(gateway, device)
        return all(record[name] == value for name, value in wanted.items())

    # A gateway that does not answer within a second counts as one without streams, here and below.
    eventually(lambda: shows(first, streams=0, waiting=3), "three pushes wait, and the device is nowhere")
    eventually(lambda: [one["subscriptions"] for one in second.admin("GET", "channels")] == [1],
               "the other gateway has the subscription")
    stream = second.stream(device, silent=True, focus="work")
    pushes = stream.caught_up()
    for gateway in pair[:2]:
        eventually(lambda: shows(gateway, streams=1, silent=True, focus="work"), "the gateway knows who is connected")
        eventually(lambda: gateway.run("channels", "list", "--json").json["connected"] == 1, "and who listens")
    stream.acknowledge(pushes[1]["seq"])
    first.when(lambda: shows(first, waiting=1), "one push waits")


@pytest.mark.parametrize("end", ["stopped", "killed"])
def test_a_gateway_that_does_not_answer_is_named_in_time(pair, end):
    first, second, device = pair
    accepted = first.accepted(device.token)
    if end == "stopped":
        second.process.send_signal(signal.SIGSTOP)
    else:
        second.kill()
    for _ in range(3):
        answer = cell_log(first, id=accepted)
        assert answer["unanswered"] == [second.address]
        assert "accepted" in [row["event"] for row in answer["rows"]]
    done = run("log", accepted, state=first.state)
    assert done.code == 0 and "accepted" in done.out
    assert f"no answer from {second.address}" in done.err and len(done.err.splitlines()) == 1
    if end == "stopped":
        second.process.send_signal(signal.SIGCONT)
    else:
        second.restart()
    eventually(lambda: cell_log(first)["unanswered"] == [], "it answers again, and the process that died is forgotten")


def test_an_answer_to_a_push_of_a_gateway_that_is_away_is_kept_until_it_is_there(pair):
    first, second, device = pair
    stream = second.stream(device)
    stream.caught_up()
    apns_id = second.accepted(device.token)
    stream.acknowledge(push_of(stream)["seq"])
    stream.connection.close()
    eventually(lambda: first.waiting(device) == 0, "it was taken")
    second.stop()
    stream = first.stream(device)
    stream.caught_up()
    stream.say(type="answer", id=apns_id, action="view")
    assert [line for line in stream.quiet() if line["type"] == "answered"] == []
    second.restart()
    assert stream.next_of("answered")["action"] == "view"
