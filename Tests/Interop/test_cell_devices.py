"""Devices of a cell: a gateway that dies or ends costs them about a second, and no push."""

import subprocess
import threading
import time

import pytest
from brokers import needs_brokers
from gateway import PUSHCLI, TOPIC, poll
from wire import DeviceStream

pytestmark = [needs_brokers, pytest.mark.xdist_group("cell")]


@pytest.fixture
def phone(cell):
    """A device that both gateways know, enrolled from the first one's state folder."""
    first, second = cell.gateways
    first.run("devices", "enrol", "phone", "--json")
    token = first.register("phone", TOPIC)
    poll(lambda: TOPIC in second.run("devices", "list").out, "the device is registered at the other gateway")
    return token


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
        text = self.lines.read_text()
        return [line.split('"body":"')[1].split('"')[0] for line in text.splitlines() if '"body":"' in line]

    def has(self, title, timeout=10):
        poll(lambda: title in self.titles, f"{title} is shown; there are {self.titles[-5:]}", timeout)

    def close(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def subscriber(cell, phone):
    subscriber = Subscriber(cell.gateways, "phone")
    poll(lambda: "connected to" in subscriber.words.read_text(), "it is connected")
    # Which gateways there are comes with the first line; each has to know of the other.
    yield subscriber
    subscriber.close()


class Load:
    """Pushes to a device, one after another, by a gateway that lives; their titles in the order of their 200s."""

    def __init__(self, gateway, token):
        self.gateway, self.token = gateway, token
        self.accepted = []
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
                number += 1

    def reach(self, count):
        poll(lambda: len(self.accepted) >= count, f"{count} pushes were accepted", 30)

    def end(self):
        self.stopping.set()
        self.thread.join(30)


def test_a_gateway_dies_under_load_and_each_push_is_shown_once_and_in_order(cell, phone, subscriber):
    first, second = cell.gateways
    load = Load(second, phone)
    try:
        load.reach(200)
        subscriber.has("n100")
        first.kill()
        died = time.monotonic()
        behind = len(load.accepted) + 1
        load.reach(behind + 1)
        subscriber.has(f"n{behind}")
        gap = time.monotonic() - died
        load.reach(behind + 200)
    finally:
        load.end()
    subscriber.has(load.accepted[-1], 30)
    assert subscriber.titles == load.accepted
    assert gap < 2, f"it took {gap:.1f} s"
    assert subscriber.words.read_text().count("connected to") == 2


def test_a_gateway_that_ends_says_where_to_go(cell, phone, subscriber):
    first, second = cell.gateways
    device = first.device(name="watch")
    stream = first.stream(device)
    poll(lambda: second.address in welcome(first, device)["gateways"], "the first gateway knows of the second")
    stream.caught_up()
    first.terminate()
    asked = time.monotonic()
    assert stream.next("bye")["gateways"] == [second.address]
    poll(lambda: subscriber.words.read_text().count("connected to") == 2, "it is at the other", 5)
    assert time.monotonic() - asked < 2
    second.accepted(phone, {"aps": {"alert": {"body": "at the other"}}})
    subscriber.has("at the other", 5)
    assert first.ended(20) == 0
    first.process = None


def welcome(gateway, device):
    with gateway.connect() as connection:
        return DeviceStream(connection, device.secret).next("welcome")


def test_a_gateway_that_is_away_is_still_told_of(cell):
    first, second = cell.gateways
    device = first.device(name="watch")
    poll(lambda: second.address in welcome(first, device).get("gateways", []), "it is known")
    second.kill()
    died = time.monotonic()
    # Longer than it takes to notice.
    poll(lambda: time.monotonic() - died > 7, "some seconds", 10)
    assert welcome(first, device)["gateways"] == [second.address]


def test_a_device_enrolls_and_registers_where_a_gateway_answers(cell, phone):
    first, second = cell.gateways
    first.run("apps", "add", "com.example.mail", "--name", "Mail")
    poll(lambda: "com.example.mail" in second.run("apps", "list").out, "the app is known at the other gateway")
    first.kill()
    subscriber = Subscriber(cell.gateways, "phone", "--app", "com.example.mail")
    tablet = Subscriber(cell.gateways, "tablet", "--enroll", "--app", TOPIC)
    try:
        poll(lambda: "com.example.mail" in second.run("devices", "list").out, "the device is registered", 20)
        poll(lambda: "tablet" in second.run("devices", "list").out, "another device is enrolled", 20)
        token = second.register("tablet", TOPIC)
        second.accepted(token, {"aps": {"alert": {"body": "hello"}}})
        tablet.has("hello", 20)
    finally:
        subscriber.close()
        tablet.close()
