"""What a cell does when its network, its brokers or its clocks fail: the table of docs/cluster/run.md, as tests."""

import contextlib
import json
import os
import resource
import select
import signal
import time
import uuid

import pytest
from brokers import Brokers, Cell, needs_brokers
from cluster_kills import replicas
from gateway import ALERT, Gateway
from kills import Recorder
from relay import Relay
from waiting import HANG, Readable, eventually, wait_for
from wire import Connection, DeviceStream

pytestmark = [needs_brokers, pytest.mark.xdist_group("cell-failures")]


@pytest.fixture
def make(tmp_path):
    """Starts a cell with brokers of its own: `make(relayed=True)`."""
    made = []

    def make(*, start=True, **options):
        brokers = Brokers(tmp_path / "brokers", **options).start()
        made.append(brokers)
        cell = Cell(tmp_path, brokers)
        made.insert(0, cell)
        return cell.start() if start else cell

    yield make
    for one in made:
        one.close()


@pytest.fixture
def record(tmp_path):
    """Starts a device that writes down what it gets, at one gateway."""
    running = []

    def record(gateway, device):
        recorder = Recorder(device.home, device, tmp_path / f"{device.name}.ndjson", 0, 1 << 40,
                            options=("--gateway", gateway.address))
        recorder.start()
        running.append(recorder)
        return recorder

    yield record
    for recorder in running:
        recorder.is_finishing.set()
    for recorder in running:
        recorder.join(HANG)
        assert not recorder.failure, recorder.failure


def push(gateway, device, payload=ALERT, **more):
    """Pushes once; returns the response, and the id."""
    apns_id = more.setdefault("apns_id", str(uuid.uuid4()))
    with Connection(gateway) as connection:
        stream = connection.send("POST", f"/3/device/{device.token}", device.home.fields(**more), payload)
        return connection.wait(stream), apns_id


def accepted(gateway, device, **more):
    response, apns_id = push(gateway, device, **more)
    assert response.status == 200, response.body
    return apns_id


def has(recorder, *ids, besides=()):
    """Returns when it has these; `besides` are pushes that were refused, of which nothing is known."""
    wait_for(lambda: [one for one in recorder.ids if one not in besides] == list(ids), f"{ids}, in this order and once",
             recorder.path)


def health(gateway):
    with gateway.connect(admin=True) as connection:
        return connection.request("GET", "/v1/health").json


def phone_of(cell):
    """A device of the cell; whoever pushes to it does so with the first gateway's key."""
    phone = cell.gateways[0].device()
    phone.home = cell.gateways[0]
    return phone


def test_a_gateway_leaves_a_broker_that_is_cut_off(make, record):
    cell = make(relayed=True)
    first, second = cell.gateways
    phone = phone_of(cell)
    recorder = record(second, phone)
    sent = [accepted(first, phone)]
    has(recorder, *sent)
    alone = cell.brokers.of(second)
    cell.brokers.isolate(alone)
    # The other gateway may have been at the same broker, and leaves it by itself, some time later or earlier.
    for gateway in cell.gateways:
        eventually(lambda: cell.brokers.of(gateway) not in (alone, None), "the gateway has another broker")
    sent += [accepted(gateway, phone) for gateway in cell.gateways]
    has(recorder, *sent)
    cell.brokers.heal()
    eventually(lambda: len({json.dumps(state, sort_keys=True) for state in replicas(cell.brokers)}) == 1,
               "the replicas agree")


def knows(gateway, device, other):
    """Whether a gateway names another one to a device."""
    with gateway.connect() as connection:
        return other.address in DeviceStream(connection, device.secret).next("welcome").get("gateways", [])


@contextlib.contextmanager
def still(gateway):
    """A gateway that stands still meanwhile, and answers nobody."""
    gateway.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        gateway.process.send_signal(signal.SIGCONT)


def test_without_brokers_a_push_is_503_and_devices_stay_connected(cell):
    first, second = cell.gateways
    phone = phone_of(cell)
    stream = first.stream(phone)
    stream.caught_up()
    cell.brokers.kill(0, 1, 2)
    response, _ = push(first, phone)
    assert (response.status, response.reason) == (503, "ServiceUnavailable")
    assert int(response["retry-after"]) > 0
    assert health(first)["status"] == "degraded" and health(first)["problems"]
    # Were the other gateway back before this one, this one would send its devices there.
    with still(second):
        cell.brokers.start()
        eventually(lambda: push(first, phone)[0].status == 200, "the gateway takes pushes again")
        assert stream.next("push")["payload"] == json.loads(ALERT)
    stream.connection.close()


def test_a_gateway_that_alone_is_cut_off_sends_its_devices_to_the_others(tmp_path):
    brokers = Brokers(tmp_path / "brokers", count=1).start()
    # The first gateway has a way of its own to the broker, which can be cut.
    way = Relay(("127.0.0.1", brokers.clients[0]))
    options = ("--cell-partitions", 2, "--cell-replicas", 1, "--http-listen", "none")
    first = Gateway(tmp_path / "first", "--backend", f"nats://127.0.0.1:{way.port}", *options)
    second = Gateway(tmp_path / "second", "--backend", brokers.backend, *options)
    try:
        first.start()
        second.start()
        phone = first.device()
        phone.home = first
        eventually(lambda: any(row["name"] == phone.name and row["apps"] for row in second.devices()),
                   "the device is registered at the other gateway")
        eventually(lambda: knows(first, phone, second), "the gateway has heard where devices reach the other")
        stream = first.stream(phone)
        stream.caught_up()
        way.cut()
        bye = stream.next("bye")
        assert (bye["reason"], bye["gateways"]) == ("mailbox-unavailable", [second.address])
        with first.connect() as connection:
            response = connection.request("POST", "/v1/device/stream", [("authorization", f"bearer {phone.secret}")])
        assert response.status == 503 and "connect to another gateway" in response.json["detail"]
        sent = accepted(second, phone)
        elsewhere = second.stream(phone)
        assert elsewhere.next_of("push")["id"] == sent
        # When nobody has a broker, devices stay where they are.
        brokers.kill(0)
        first.wait_for_log("event=gateway-back")
        waiting = first.stream(phone)
        waiting.next("welcome")
        # Were the other gateway back before this one, this one would send its devices there.
        with still(second):
            way.heal()
            brokers.start()
            assert waiting.next_of("push")["id"] == sent
    finally:
        for gateway in (first, second):
            if gateway.process:
                gateway.kill()
        brokers.close()
        way.close()


@pytest.mark.parametrize("sync", ["always", "30s"])
def test_full_durability_needs_brokers_that_sync_always(make, tmp_path, sync):
    cell = make(sync=sync, start=False)
    gateway = cell.gateways[0]
    gateway.options += ("--nats-monitors", ",".join(f"127.0.0.1:{port}" for port in cell.brokers.monitors))
    if sync == "always":
        gateway.start()
        assert "loses no push" in health(gateway)["promise"]
        return
    gateway.spawn()
    assert gateway.ended() == 1
    assert "durability: full requires sync_interval: always, but the broker n0" in gateway.log
    gateway.options += ("--durability", "normal")
    gateway.start()
    assert "the pushes of the last 30 s" in health(gateway)["promise"]


@pytest.mark.parametrize("late", [(0, 1, 2), (2,)], ids=["all", "one"])
def test_a_gateway_that_starts_first_waits_for_its_brokers(make, late):
    cell = make(start=False)
    gateway = cell.gateways[0]
    cell.brokers.kill(*late)
    gateway.spawn()
    # A majority makes the streams of three at once while it has not noticed that the third is gone; then nothing is awaited.
    words = ["brokers-awaited"] if len(late) == 3 else ["brokers-awaited", "listening on"]
    gateway.until_logged(lambda: any(one in gateway.log for one in words), f"one of {words} in the log")
    cell.brokers.start(*late)
    assert gateway.is_ready()


def test_a_gateway_that_waits_for_its_brokers_ends_when_it_is_asked_to(make):
    cell = make(start=False)
    gateway = cell.gateways[0]
    cell.brokers.kill(0, 1, 2)
    gateway.spawn()
    gateway.wait_for_log("brokers-awaited")
    gateway.terminate()
    assert gateway.ended() == 0
    cell.brokers.start()
    gateway.start()


def test_a_full_disk_at_one_broker_loses_nothing(make, record):
    cell = make()
    phone = phone_of(cell)
    recorder = record(cell.gateways[1], phone)
    sent = [accepted(gateway, phone) for gateway in cell.gateways]
    has(recorder, *sent)
    # No file of this broker grows any further.
    broker = cell.brokers.processes[0].pid
    limits = resource.prlimit(broker, resource.RLIMIT_FSIZE)
    resource.prlimit(broker, resource.RLIMIT_FSIZE, (4096, limits[1]))
    refused, large = [], json.dumps({"aps": {"alert": "x" * 3000}}).encode()
    for number in range(60):
        response, apns_id = push(cell.gateways[number % 2], phone, large)
        assert response.status in (200, 503), response.body
        (sent if response.status == 200 else refused).append(apns_id)
    assert len(sent) > 40, f"{len(refused)} were refused"
    # A push that was answered 503 may have been stored.
    has(recorder, *sent, besides=refused)
    sizes = [sum(file.stat().st_size for file in cell.brokers.folder.glob(f"store-{number}/**/*.blk"))
             for number in range(3)]
    assert sizes[0] * 4 < min(sizes[1:]), "this broker was to have no room"
    # With room again it goes on where the others are.
    cell.brokers.kill(0)
    cell.brokers.start(0)
    sent += [accepted(gateway, phone) for gateway in cell.gateways]
    has(recorder, *sent, besides=refused)
    eventually(lambda: len({json.dumps(state, sort_keys=True) for state in replicas(cell.brokers)}) == 1,
               "the replicas agree")


def test_a_gateway_whose_clock_is_wrong_keeps_the_order(cell, record):
    first, second = cell.gateways
    second.stop()
    # faketime stays between, and a signal ends it alone: the gateway has to go with it.
    second.wrapper = ("faketime", "-f", "+120s", "setpriv", "--pdeathsig", "KILL")
    second.restart()
    second.wrapper = ()
    phone = phone_of(cell)
    recorder = record(second, phone)
    sent = [accepted(gateway, phone) for gateway in (first, second) * 5]
    has(recorder, *sent)
    # Whoever is away meanwhile finds the same, also at the gateway whose clock is right.
    sent += [accepted(gateway, phone, apns_expiration=int(time.time()) + 600) for gateway in (second, first) * 2]
    has(recorder, *sent)
    # The end of faketime is not the end of the gateway, which has its port and its folder until then.
    end = os.pidfd_open(second.admin("GET", "status")["pid"])
    second.kill()
    wait_for(lambda: select.select([end], [], [], 0)[0], "the gateway ended, too", Readable(end))
    os.close(end)


def test_a_slow_network_to_the_brokers_loses_nothing(make, record):
    cell = make(slow=0.2)
    phone = phone_of(cell)
    recorder = record(cell.gateways[1], phone)
    sent = [accepted(gateway, phone) for gateway in cell.gateways * 3]
    has(recorder, *sent)


def mailboxes(cell):
    """The messages of all mailboxes, and the sum of their last numbers, as the first broker has them."""
    streams = [state for name, state in replicas(cell.brokers)[0].items() if name.startswith("MB_")]
    return sum(each["messages"] for each in streams), sum(each["last_seq"] for each in streams)


@pytest.mark.parametrize("collapses", [False, True])
def test_a_retry_is_known_when_its_push_has_left_and_all_brokers_were_started_again(make, record, collapses):
    cell = make()
    phone, more = phone_of(cell), {"apns_collapse_id": "score"} if collapses else {}
    _, before = mailboxes(cell)
    sent = [accepted(cell.gateways[0], phone, **more)]
    if collapses:
        sent.append(accepted(cell.gateways[0], phone, **more))
    else:
        recorder = record(cell.gateways[1], phone)
        has(recorder, *sent)
    # A push, and the mark before its delivery; or two, and which is the last. Then the id of the one that has left.
    numbers = 3 if not collapses else 5
    eventually(lambda: mailboxes(cell)[1] >= before + numbers, "the ids of what has left are in the stream")
    cell.brokers.kill(0, 1, 2)
    cell.brokers.start()

    def retried(gateway):
        response, _ = push(gateway, phone, apns_id=sent[0], **more)
        return response.status == 200

    for gateway in cell.gateways:
        eventually(lambda: retried(gateway), "brokers elect their leaders")
    if collapses:
        recorder = record(cell.gateways[1], phone)
        has(recorder, sent[1])
    last = accepted(cell.gateways[0], phone)
    has(recorder, sent[-1], last)
