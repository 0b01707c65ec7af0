"""Devices of a cell: a gateway that dies or ends costs them about a second, and no push."""

import subprocess
import threading
import time

import pytest
from brokers import needs_brokers
from gateway import PUSHCLI, TOPIC
from waiting import HANG, Bell, eventually, wait_for, passes
from wire import DeviceStream

pytestmark = [needs_brokers, pytest.mark.xdist_group("cell")]


@pytest.fixture
def phone(cell, name):
    """A device that both gateways know, enrolled from the first one's state folder."""
    first, second = cell.gateways
    device = first.device(name=name)
    eventually(lambda: knows(second, name, TOPIC), "the device is registered at the other gateway")
    return device


def knows(gateway, name, topic):
    return any(row["name"] == name and topic in row["apps"] for row in gateway.devices())


class Subscriber:
    """`pushcli subscribe --gateway A,B --json` from the state folder of the first gateway."""

    def __init__(self, gateways, device, *options):
        path = gateways[0].state.parent
        self.lines, self.words = path / f"{device}.out", path / f"{device}.err"
        with open(self.lines, "ab") as out, open(self.words, "ab") as err:
            self.process = subprocess.Popen(
                [PUSHCLI, "subscribe", "--state", str(gateways[0].state), "--device", device, "--json", "--gateway",
                 ",".join(gateway.address for gateway in gateways), *options],
                stdout=out, stderr=err, stdin=subprocess.DEVNULL)

    @property
    def titles(self):
        # Whole lines only: a line that is being written may be read in part.
        lines = self.lines.read_text().split("\n")[:-1]
        return [line.split('"body":"')[1].split('"')[0] for line in lines if '"body":"' in line]

    def has(self, title):
        wait_for(lambda: title in self.titles, lambda: f"{title} is shown; there are {self.titles[-5:]}", self.lines)

    def connected(self, count=1):
        wait_for(lambda: self.words.read_text().count("connected to") >= count, "it is connected", self.words)

    def close(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def subscriber(cell, phone):
    subscriber = Subscriber(cell.gateways, phone.name)
    subscriber.connected()
    # Which gateways there are comes with the first line; each has to know of the other.
    yield subscriber
    subscriber.close()


class Load:
    """Pushes to a device, one after another, by a gateway that lives; their titles in the order of their 200s."""

    def __init__(self, gateway, token):
        self.gateway, self.token = gateway, token
        self.accepted, self.changed = [], Bell()
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.send)
        self.thread.start()

    def send(self):
        with self.gateway.connect() as connection:
            number = 0
            while not self.stopping.is_set():
                title = f"n{number}"
                payload = {"aps": {"alert": {"body": title}}}
                response = self.gateway.push(self.token, payload, connection=connection)
                assert response.status == 200, (response.status, response.body)
                self.accepted.append(title)
                self.changed.ring()
                number += 1

    def reach(self, count):
        wait_for(lambda: len(self.accepted) >= count, f"{count} pushes were accepted", self.changed)

    def end(self):
        self.stopping.set()
        self.thread.join(HANG)


def test_a_gateway_dies_under_load_and_each_push_is_shown_once_and_in_order(cell, phone, subscriber):
    first, second = cell.gateways
    load = Load(second, phone.token)
    try:
        load.reach(200)
        subscriber.has("n100")
        first.kill()
        behind = len(load.accepted) + 1
        load.reach(behind + 1)
        subscriber.has(f"n{behind}")
        load.reach(behind + 200)
    finally:
        load.end()
    subscriber.has(load.accepted[-1])
    assert subscriber.titles == load.accepted
    assert subscriber.words.read_text().count("connected to") == 2


def test_a_gateway_that_ends_says_where_to_go(cell, phone, subscriber):
    first, second = cell.gateways
    device = first.device()
    stream = first.stream(device)
    eventually(lambda: second.address in welcome(first, device).get("gateways", []), "the first gateway knows of the second")
    stream.caught_up()
    first.terminate()
    assert stream.next("bye")["gateways"] == [second.address]
    subscriber.connected(2)
    second.accepted(phone.token, {"aps": {"alert": {"body": "at the other"}}})
    subscriber.has("at the other")
    assert first.ended() == 0


def welcome(gateway, device):
    with gateway.connect() as connection:
        return DeviceStream(connection, device.secret).next("welcome")


def test_a_gateway_that_is_away_is_still_told_of(cell):
    first, second = cell.gateways
    device = first.device()
    eventually(lambda: second.address in welcome(first, device).get("gateways", []), "it is known")
    second.kill()
    # Longer than it takes to notice, which it announces to nobody.
    passes(time.time() + 7)
    assert welcome(first, device)["gateways"] == [second.address]


def test_a_device_enrolls_and_registers_where_a_gateway_answers(cell, phone):
    first, second = cell.gateways
    first.app("com.example.mail", name="Mail")
    eventually(lambda: "com.example.mail" in [app["topic"] for app in second.admin("GET", "apps")], "the app is known there")
    first.kill()
    subscriber = Subscriber(cell.gateways, phone.name, "--app", "com.example.mail")
    tablet = Subscriber(cell.gateways, "tablet", "--enroll", "--app", TOPIC)
    try:
        eventually(lambda: knows(second, phone.name, "com.example.mail"), "the device is registered")
        eventually(lambda: knows(second, "tablet", TOPIC), "another device is enrolled")
        token = second.register("tablet", TOPIC)
        second.accepted(token, {"aps": {"alert": {"body": "hello"}}})
        tablet.has("hello")
    finally:
        subscriber.close()
        tablet.close()
