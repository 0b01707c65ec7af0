"""Networks that cut, lose and delay, between a gateway and its devices and senders in other namespaces."""

import random
import time
import uuid

import pytest

import kills
from gateway import Gateway, Subscriber
from link import Link
from waiting import HANG, eventually, wait_for, passes


@pytest.fixture
def interval():
    """Seconds between PINGs, at both ends."""
    return 2


@pytest.fixture
def link():
    link = Link()
    yield link
    link.remove()


@pytest.fixture
def gateway(link, tmp_path, interval):
    gateway = Gateway(
        tmp_path / "state", "--ping-interval", interval, listen=f"{Link.ADDRESSES['gateway']}:0",
        wrapper=link.within("gateway")).start()
    gateway.run("certs", "create-server", "--name", "gateway.example", "--address", Link.ADDRESSES["gateway"])
    yield gateway
    link.cut = set()
    gateway.stop()


@pytest.fixture
def subscriber(link, gateway, tmp_path, interval):
    device = gateway.device()
    subscriber = Subscriber(
        gateway, device, "--ping-interval", interval, path=tmp_path / "subscriber", wrapper=link.within("device"))
    subscriber.device = device
    subscriber.connected()
    yield subscriber
    subscriber.close()


def send(gateway, link, device, count):
    """Sends from the gateway's own side, which nothing cuts off."""
    with link.inside("gateway"):
        connection = gateway.connect()
    with connection:
        ids = [str(uuid.uuid4()) for _ in range(count)]
        for name in ids:
            assert gateway.push(device.token, connection=connection, apns_id=name).status == 200
    return ids


@pytest.mark.parametrize("cut", [{"gateway", "device"}, {"gateway"}, {"device"}], ids=["both", "downwards", "upwards"])
def test_a_partition_is_noticed_at_both_ends_and_nothing_is_lost(link, gateway, subscriber, cut):
    ids = send(gateway, link, subscriber.device, 50)
    subscriber.has(50)
    assert link.connections(gateway.process.pid) == 1

    link.cut = cut
    ids += send(gateway, link, subscriber.device, 50)

    # The system itself would give up a connection after minutes.
    eventually(lambda: not link.connections(gateway.process.pid), "the gateway has noticed")
    subscriber.until(lambda: "no answer to PINGs" in subscriber.words, "the device has noticed")

    link.cut = set()
    subscriber.has(100)
    assert [line["id"] for line in subscriber.lines] == ids


# However long the cut takes here, it is short beside this.
@pytest.mark.parametrize("interval", [600])
def test_a_short_cut_ends_no_connection(link, gateway, subscriber):
    ids = send(gateway, link, subscriber.device, 20)
    dropped = link.lost
    link.cut = {"gateway", "device"}
    ids += send(gateway, link, subscriber.device, 20)
    eventually(lambda: link.lost > dropped + 2, "something was lost")
    link.cut = set()
    subscriber.has(40)
    assert [line["id"] for line in subscriber.lines] == ids
    assert subscriber.words.count("connected to") == 1


class RemoteSender(kills.Sender):
    """A sender at the other end of the cable."""

    def __init__(self, link, *arguments):
        super().__init__(*arguments)
        self.link = link

    def run(self):
        self.link.enter("device")
        super().run()


def through(link, gateway, subscriber, seconds, pace, during=lambda: None):
    """Sends and receives over the link for a while; what both ends have counted."""
    book = kills.Book()
    seed = random.randrange(1 << 32)
    print("seed", seed)
    sender = RemoteSender(link, gateway, [subscriber.device], book, seed, pace)
    sender.start()
    during()
    wait_for(lambda: sender.failure or book.accepted >= pace * seconds, "enough are accepted", book.changed)
    sender.is_finishing.set()
    link.cut = set()
    sender.join(HANG)
    assert not sender.is_alive() and sender.failure is None, sender.failure
    subscriber.until(
        lambda: {line["id"] for line in subscriber.lines} >= {
            name for name, push in book.pushes.items() if push.accepted is not None},
        "everything is there")
    verdict = kills.compare(book.pushes, [[line["id"] for line in subscriber.lines]])
    assert verdict.is_good, verdict
    print(f"{verdict.accepted} accepted, {link.carried} packets carried, {link.lost} lost, {sender.retried} sent again")
    return verdict


def test_half_a_second_of_latency_and_five_per_cent_of_loss_lose_and_double_nothing(link, gateway, subscriber):
    link.delay, link.loss = 0.25, 0.05
    assert through(link, gateway, subscriber, 10, 100).accepted >= 1_000
    assert link.lost > 20


def test_a_network_that_comes_and_goes_loses_and_doubles_nothing(link, gateway, subscriber, interval):
    """Senders and devices are cut off again and again, often for longer than either waits."""
    link.delay, link.loss = 0.02, 0.02
    chance = random.Random()

    def during():
        for _ in range(5):
            link.cut = chance.choice([{"gateway", "device"}, {"gateway"}, {"device"}])
            passes(time.time() + chance.uniform(0.2, 2.5 * interval))
            link.cut = set()
            passes(time.time() + chance.uniform(0.2, 3))

    through(link, gateway, subscriber, 10, 100, during)
