"""Several gateways that share a cluster of NATS: what is done at one holds at all, and nothing is lost when one dies."""

import json
import socket
import ssl
import subprocess
import uuid

import pytest
from brokers import needs_brokers
from gateway import PUSHCLI, TOPIC, run
from waiting import HANG, eventually, wait_for

pytestmark = [needs_brokers, pytest.mark.xdist_group("cell")]


class Receiver:
    """A device that receives lines of JSON, from the gateways of a cell."""

    def __init__(self, gateway, name, *options):
        self.name, self.path = name, gateway.state.parent / f"{name}.jsonl"
        with open(self.path, "ab") as out:
            self.process = subprocess.Popen(
                [PUSHCLI, "subscribe", "--device", name, "--app", TOPIC, "--enroll", "--json", "--state",
                 str(gateway.state), *options],
                stdout=out, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    @property
    def titles(self):
        # Whole lines only: a line that is being written may be read in part.
        lines = [json.loads(line) for line in self.path.read_bytes().split(b"\n")[:-1]]
        return [line["payload"]["aps"]["alert"]["body"] for line in lines if "payload" in line]

    def has(self, *titles):
        wait_for(lambda: self.titles == list(titles), lambda: f"{titles}, in this order and once; there are {self.titles}",
                 self.path, self.process)

    def close(self):
        self.process.terminate()
        self.process.wait(HANG)


@pytest.fixture
def receiver(cell, name):
    receiver = Receiver(cell.gateways[1], name)
    eventually(lambda: any(row["name"] == name and row["apps"] == [TOPIC] for row in cell.gateways[0].devices()),
               "the device is registered at the other gateway")
    yield receiver
    receiver.close()


def send(gateway, receiver, title, *options, code=0):
    done = run("send", "--to", f"{receiver.name}/{TOPIC}", title, *options, state=gateway.state)
    assert done.code == code, f"{title}: {done.code}\n{done.out}{done.err}"


def send_over_election(gateway, receiver, title, apns_id=None):
    """Sends a push, again with the same id after each 503: brokers may take longer to elect a leader than a push waits."""
    one = apns_id or str(uuid.uuid4())

    def is_taken():
        done = run("send", "--to", f"{receiver.name}/{TOPIC}", title, "--id", one, state=gateway.state)
        assert done.code == 0 or "ServiceUnavailable" in done.out + done.err, f"{title}: {done.out}{done.err}"
        return done.code == 0

    eventually(is_taken, f"{title} is taken")


def test_what_is_done_at_one_gateway_holds_at_the_other(cell, receiver):
    first, second = cell.gateways
    assert (first.state / "ca.pem").read_bytes() == (second.state / "ca.pem").read_bytes()
    send(first, receiver, "from the first")
    send(second, receiver, "from the second")
    receiver.has("from the first", "from the second")
    send(first, receiver, "now or never", "--expires", "0")
    receiver.has("from the first", "from the second", "now or never")
    first.prefer(receiver.name, "sound=off", app=TOPIC)
    eventually(
        lambda: second.run("prefs", "show", "--device", receiver.name, "--json").json["apps"].get(TOPIC, {}).get("sound") is False,
        "the choice holds at the other gateway")
    first.app("com.example.mail", name="Mail")
    eventually(lambda: "com.example.mail" in second.run("apps", "list").out, "the app is known at the other gateway")


def test_the_same_id_at_two_gateways_is_one_push(cell, receiver):
    one = str(uuid.uuid4())
    for gateway in [*cell.gateways, *cell.gateways]:
        send(gateway, receiver, "once", "--id", one)
    send(cell.gateways[0], receiver, "and another")
    receiver.has("once", "and another")


def test_nothing_is_lost_when_brokers_die_one_after_another(cell, receiver):
    sent = []
    for number in range(3):
        cell.brokers.kill(number)
        for place, gateway in enumerate(cell.gateways):
            sent.append(f"{number}-{place}")
            send_over_election(gateway, receiver, sent[-1])
        cell.brokers.start(number)
    receiver.has(*sent)


def test_a_gateway_that_dies_and_comes_back_has_all_of_it(cell, receiver):
    first, second = cell.gateways
    send(first, receiver, "before")
    receiver.has("before")
    second.kill()
    send(first, receiver, "while it was away")
    first.app("com.example.late", name="Late")
    second.restart()
    receiver.has("before", "while it was away")
    assert "com.example.late" in second.run("apps", "list").out


def test_without_a_majority_a_push_is_refused_and_later_taken(cell, receiver):
    first = cell.gateways[0]
    send(first, receiver, "before")
    cell.brokers.kill(1, 2)
    one = str(uuid.uuid4())
    done = run("send", "--to", f"{receiver.name}/{TOPIC}", "after", "--id", one, state=first.state)
    assert done.code != 0 and "ServiceUnavailable" in done.out + done.err, done.out + done.err
    cell.brokers.start(1, 2)
    send_over_election(first, receiver, "after", one)
    receiver.has("before", "after")


def test_the_certificate_is_for_the_names_under_which_it_is_reached(cell, start):
    third = start("--backend", cell.brokers.backend, "--http-listen", "none",
                  "--advertise", "gateway-3.example.com:2197,192.0.2.7:2197", name="third")
    context = ssl.create_default_context(cafile=str(cell.gateways[0].state / "ca.pem"))
    for name in ["localhost", "gateway-3.example.com", "192.0.2.7"]:
        with socket.create_connection((third.host, third.port)) as connection:
            context.wrap_socket(connection, server_hostname=name).close()
