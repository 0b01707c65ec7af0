"""Real faults against the real gateway and the real client; the long and the privileged ones are in `faults/`."""

import json
import random
import resource
import shutil
import socket
import sqlite3
import subprocess
import time
import uuid

import pytest

import kills
from damage import Layout, damage
from faultlib import cpu_seconds, descriptors, injected, stopped
from gateway import CRASH, PUSHCLI, SOAK, Gateway, run
from waiting import HANG, eventually
from wire import DeviceStream


def send(gateway, device, count, connection) -> list[str]:
    """Sends pushes that must be accepted, over many streams at once; returns their ids."""
    ids = [str(uuid.uuid4()) for _ in range(count)]
    sent = [
        connection.send(
            "POST", f"/3/device/{device.token}", gateway.fields(apns_id=name), b'{"aps":{"alert":"Platform 4"}}',
            flush=False)
        for name in ids
    ]
    assert {connection.wait(number).status for number in sent} == {200}
    return ids


# Kills


def book(*pushes):
    return {name: kills.Push(device, offered, accepted) for name, device, offered, accepted in pushes}


def test_the_count_finds_what_is_lost_doubled_misdelivered_and_out_of_order():
    pushes = book(("a", 0, 0, 1), ("b", 0, 2, 3), ("c", 0, 2, None), ("d", 1, 4, 5))
    good = kills.compare(pushes, [["a", "b"], ["d"]])
    assert good.is_good and (good.accepted, good.recorded) == (3, 3)
    assert kills.compare(pushes, [["a", "b", "c"], ["d"]]).unanswered_recorded == 1
    assert kills.compare(pushes, [["a"], ["d"]]).lost == ["b"]
    assert kills.compare(pushes, [["a", "b", "b"], ["d"]]).doubled == ["b"]
    assert kills.compare(pushes, [["a", "c", "b", "c"], ["d"]]).doubled == ["c"]
    assert kills.compare(pushes, [["a", "b", "d"], []]).misdelivered == ["d"]
    assert kills.compare(pushes, [["a", "b", "x"], ["d"]]).misdelivered == ["x"]
    assert kills.compare(pushes, [["b", "a"], ["d"]]).out_of_order == ["b"]
    # Which of two that were under way together comes first is nobody's to say.
    together = book(("a", 0, 0, 3), ("b", 0, 1, 2))
    assert kills.compare(together, [["a", "b"]]).is_good and kills.compare(together, [["b", "a"]]).is_good


def test_every_200_is_recorded_once_and_in_order_through_kills_of_gateway_and_clients(tmp_path):
    """SIGKILL a few times; `make soak` does it five hundred times."""
    figures = kills.storm(tmp_path, kills=15 if SOAK else 5, seed=random.randrange(1 << 32), devices=3, least=301)
    print(kills.summary(figures))
    assert figures["is_good"], json.dumps(figures)
    assert figures["accepted"] > 300 and figures["client_kills"] > 0


# Processes that stand still


def test_a_gateway_that_stands_still_for_a_while_loses_nothing_and_no_connection(gateway, device):
    stream = gateway.stream(device)
    stream.caught_up()
    with gateway.connect() as connection:
        ids = [str(uuid.uuid4()) for _ in range(300)]
        connection.ping()
        with stopped(gateway.process):
            sent = [
                connection.send(
                    "POST", f"/3/device/{device.token}", gateway.fields(apns_id=name), b'{"aps":{"badge":1}}')
                for name in ids
            ]
            late = socket.create_connection((gateway.host, gateway.port), timeout=HANG)
        assert [connection.wait(number).status for number in sent] == [200] * len(ids)
    assert [stream.next("push")["id"] for _ in ids] == ids
    late.close()
    stream.connection.close()


def test_a_client_that_stands_still_too_long_is_given_up_and_gets_everything_afterwards(start, subscribe):
    gateway = start("--ping-interval", 1)
    device = gateway.device()
    subscriber = subscribe(gateway, device)
    ids = [gateway.accepted(device.token) for _ in range(20)]
    subscriber.has(20)
    with stopped(subscriber.process):
        with gateway.connect() as connection:
            ids += send(gateway, device, 20, connection)
        # Two intervals without a sign of life: the connection goes, and the stream with it.
        eventually(lambda: gateway.admin("GET", "devices", device.name)["streams"] == 0, "the gateway has given it up")
    subscriber.has(40)
    assert [line["id"] for line in subscriber.lines] == ids


def test_a_client_notices_a_gateway_that_stands_still_and_comes_back(start, subscribe):
    gateway = start()
    device = gateway.device()
    subscriber = subscribe(gateway, device, "--ping-interval", 1)
    ids = [gateway.accepted(device.token)]
    subscriber.has(1)
    with stopped(gateway.process):
        subscriber.until(lambda: "no answer to PINGs" in subscriber.words, "the client has given it up")
    ids += [gateway.accepted(device.token) for _ in range(20)]
    subscriber.has(21)
    assert [line["id"] for line in subscriber.lines] == ids


# Disk


def test_without_a_sync_there_is_no_200(start, tmp_path):
    """fdatasync fails: nothing may be answered 200, nothing refused may come back, and it goes on when it works."""
    gateway = start()
    device = gateway.device()
    with gateway.connect() as connection:
        push = lambda name: gateway.push(device.token, connection=connection, apns_id=name)
        accepted = [str(uuid.uuid4()) for _ in range(5)]
        assert [push(name).status for name in accepted] == [200] * 5
        with injected(gateway.process, "fdatasync,fsync:error=EIO", tmp_path / "calls"):
            refused = [push(str(uuid.uuid4())) for _ in range(5)]
            assert {(answer.status, answer.reason) for answer in refused} == {(503, "ServiceUnavailable")}
            assert connection.request("GET", "/v1/health").status == 503
        assert "-wal" in (tmp_path / "calls").read_text()
        more = [str(uuid.uuid4()) for _ in range(5)]
        assert [push(name).status for name in more] == [200] * 5
        eventually(lambda: connection.request("GET", "/v1/health").status == 200, "health is well again")
    gateway.kill()
    gateway.restart()
    stream = gateway.stream(device)
    assert [line["id"] for line in stream.caught_up()] == accepted + more
    stream.connection.close()


# The client


@pytest.mark.parametrize("failing, number", [("file", 1), ("cursor", 2)])
def test_a_push_is_acknowledged_only_when_it_and_the_cursor_are_on_disk(
    gateway, device, subscribe, tmp_path, failing, number
):
    """The sync of the file that pushes go to, or of the cursor, fails: no acknowledgement may go out."""
    subscriber = subscribe(gateway, device)
    subscriber.connected()
    calls = tmp_path / "calls"
    with injected(subscriber.process, f"fdatasync:error=EIO:when={number}", calls):
        first = gateway.accepted(device.token)
        assert subscriber.wait() == 1
    # What happens in another thread during a call divides its line: "fdatasync(… <unfinished ...>", "<... fdatasync resumed>".
    lines = [line for line in calls.read_text().splitlines() if "fdatasync" in line]
    synced = [line for line in lines if "fdatasync(" in line]
    paths = [str(subscriber.path), f"{device.name}.cursor"]
    assert len(synced) == number and all(path in line for path, line in zip(paths, synced)), synced
    assert "EIO" in lines[-1] and "can't be" in subscriber.words
    assert gateway.waiting(device) == 1, "acknowledged, and not on disk"

    # The next one shows what the first has not saved, and nothing twice.
    with open(subscriber.path, "ab") as out:
        again = subprocess.Popen(
            [PUSHCLI, "subscribe", "--state", gateway.state, "--device", device.name, "--json"], stdout=out,
            stderr=subprocess.DEVNULL)
    try:
        second = gateway.accepted(device.token)
        gateway.when(lambda: gateway.waiting(device) == 0, "it is acknowledged")
        assert [line["id"] for line in subscriber.lines] == [first, second]
    finally:
        again.kill()
        again.wait()


# Descriptors


def test_without_descriptors_accepting_pauses_and_nothing_open_breaks(start):
    gateway = start()
    device = gateway.device()
    pid = gateway.process.pid
    stream = gateway.stream(device)
    stream.caught_up()
    connections = []
    for _ in range(7):
        connections.append(gateway.connect())
        # A connection that has shown no credential is closed where descriptors run short, and any that does not
        # acknowledge SETTINGS within ten seconds, so that each sends a request at once.
        shown = connections[-1].request("GET", "/v1/device/preferences", [("authorization", f"bearer {device.secret}")])
        assert shown.status == 200
    connection, *others = connections
    ids = send(gateway, device, 1_000, connection)
    limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    # A few more than the gateway leaves to its database, its admin socket and the system's libraries.
    limit = descriptors(pid) + 72
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, limits[1]))
    taken = []

    def is_short():
        # The gateway ends idle connections of strangers to make room, so that there have to be new ones.
        taken.append(socket.create_connection((gateway.host, gateway.port), timeout=HANG))
        return descriptors(pid) >= limit - 64

    try:
        eventually(is_short, "accepting pauses")
        # Connections that the system has made for the gateway and that nobody accepts.
        for _ in range(200):
            is_short()

        # What is open goes on: pushes are stored and delivered, and devices that come over open connections, all at
        # the same time, catch up.
        ids += send(gateway, device, 300, connection)
        assert [stream.next("push")["id"] for _ in ids] == ids
        assert connection.request("GET", "/v1/health").status == 200
        assert gateway.devices()[0]["name"] == device.name
        streams = [DeviceStream(each, device.secret) for each in others]
        for each in streams:
            assert [line["id"] for line in each.caught_up()] == ids

        eventually(is_short, "accepting still pauses")
        assert descriptors(pid) < limit - 32
        # And it does not spin while it waits for two seconds of its own clock, those of a push for later.
        before, at = cpu_seconds(pid), int(time.time()) + 3
        later = gateway.accepted(device.token, connection=connection, apns_deliver_at=at)
        assert stream.next("push")["id"] == later
        spent = cpu_seconds(pid) - before
        assert spent < 1, f"{spent} s of processor time while accepting pauses"
        ids.append(later)
    finally:
        for other in taken:
            other.close()
    assert gateway.process.poll() is None
    # Room again, without a restart.
    with gateway.connect() as late:
        ids.append(gateway.accepted(device.token, connection=late))
    assert stream.next("push")["id"] == ids[-1]
    resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
    for each in [stream.connection, connection, *others]:
        each.close()


# A damaged database


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A stopped gateway's folder with pushes that wait for three devices, and what its database holds."""
    gateway = Gateway(tmp_path_factory.mktemp("sound") / "state").start()
    devices = [gateway.device() for _ in range(3)]
    chance = random.Random(1)
    with gateway.connect() as connection:
        for number in range(450):
            payload = {"aps": {"alert": "x" * chance.choice([10, 200, 3_900])}, "number": number}
            assert gateway.push(devices[number % 3].token, payload, connection=connection).status == 200
    gateway.stop()
    path = gateway.state / "pushgateway.sqlite"
    return gateway.state, Layout(path), mailbox(path)


def mailbox(path) -> dict:
    """What waits, by unique id: everything that makes a push."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    rows = database.execute("SELECT unique_id, id, device, app, seq, apns_id, expires, payload FROM mailbox").fetchall()
    database.close()
    return {row[0]: row for row in rows}


def examine(sound, folder, seed):
    """Damages a copy of the database and does what its words say; what can be read must still be there."""
    state, layout, before = sound
    copy = folder / f"seed-{seed}"
    shutil.copytree(state, copy)
    path = copy / "pushgateway.sqlite"
    how, pages = damage(layout, path, random.Random(seed))
    words = f"seed {seed}: {how}"
    gateway = Gateway(copy)
    gateway.spawn()
    if gateway.is_ready():
        # Nothing that a check of all pages sees.
        outcome = "started"
        gateway.stop()
    else:
        outcome = "repaired"
        assert gateway.process.returncode == 1, f"{words}: {gateway.log}"
        assert not CRASH.search(gateway.log), f"{words}: {gateway.log}"
        (line,) = gateway.log.splitlines()
        assert str(path) in line and "pushcli doctor --repair" in line, f"{words}: {line}"
        done = run("doctor", "--repair", "--json", state=copy)
        assert done.code == 0, f"{words}: {done.err}"
        # An index, or a page that holds no rows, is made anew: nothing is lost with it.
        repaired = mailbox(path)
        assert done.json["kept"].get("mailbox", 0) == len(repaired), words
        # A page with faults is a damage; a row that is whole and says what no row can say is refused.
        reported = done.json["damages"] + done.json["refused"]
        assert reported > 0 or len(repaired) == len(before), f"{words}: lost without a word"
        gateway.start()
        gateway.stop()
    after = mailbox(path)
    # A push whose device or app is lost belongs to nobody.
    devices, apps = layout.untouched("device", pages), layout.untouched("app", pages)
    rows = layout.untouched("mailbox", pages)
    readable = {key for key, row in before.items() if row[1] in rows and row[2] in devices and row[3] in apps}
    lost = readable - after.keys()
    assert not lost, f"{words}: {len(lost)} of {len(readable)} that can be read are gone ({outcome})"
    for key in readable:
        assert after[key][5:] == before[key][5:], f"{words}: {outcome}, another push than before"
    shutil.rmtree(copy)
    return outcome


def test_a_damaged_database_is_refused_and_the_repair_keeps_all_that_can_be_read(sound, tmp_path):
    """A few seeds; `make faults` takes hundreds."""
    first = random.randrange(1 << 32)
    outcomes = [examine(sound, tmp_path, seed) for seed in range(first, first + (6 if SOAK else 3))]
    print(outcomes)
