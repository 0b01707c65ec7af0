"""A gateway that was alone moves into a cell, and out of it again, with its devices and what waits for them."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import threading
import time
import urllib.request
import uuid
from pathlib import Path

import pytest
from brokers import Brokers, Cell, free_ports, needs_brokers
from gateway import PUSHCLI, TOPIC, Gateway, run
from machines import machine  # noqa: F401
from relay import Relay
from waiting import HANG, Bell, Flag, eventually, wait_for

pytestmark = [needs_brokers, pytest.mark.xdist_group("cell")]


@pytest.fixture
def brokers(tmp_path):
    brokers = Brokers(tmp_path / "brokers").start()
    yield brokers
    brokers.close()


class Phone:
    """A device of another machine, which appends what it receives to one file, wherever its gateway is."""

    def __init__(self, machine):
        self.machine, self.path = machine, machine.home / "pushes.jsonl"

    @property
    def titles(self):
        if not self.path.exists():
            return []
        lines = [json.loads(line) for line in self.path.read_bytes().split(b"\n")[:-1]]
        return [line["payload"]["aps"]["alert"]["body"] for line in lines if "payload" in line]

    def receive(self, gateway, *titles):
        """Receives until the file has these, in this order and once, and nothing waits at the gateway any longer."""
        with open(self.path, "ab") as out:
            process = subprocess.Popen(
                [PUSHCLI, "subscribe", "--app", TOPIC, "--json"], stdout=out, stderr=subprocess.DEVNULL,
                stdin=subprocess.DEVNULL, cwd=self.machine.home, env=self.machine.environment)
        try:
            wait_for(lambda: self.titles == list(titles), lambda: f"{titles}; there are {self.titles}", self.path)
            # The acknowledgement follows the line, and in a cell the brokers take the push out still later.
            eventually(lambda: gateway.admin("GET", "devices", "phone")["waiting"] == 0, "all of it is acknowledged")
        finally:
            process.terminate()
            process.wait(HANG)


def send(gateway, *titles):
    for title in titles:
        done = run("send", "--to", f"phone/{TOPIC}", title, state=gateway.state)
        assert done.code == 0, f"{title}: {done.code}\n{done.out}{done.err}"


def move(command, *arguments, state, code=0):
    done = run("admin", command, *arguments, state=state)
    assert done.code == code, f"{command} ended with {done.code}:\n{done.out}{done.err}"
    return done


def test_a_gateway_moves_into_a_cell_and_out_again(tmp_path, brokers, start, machine):  # noqa: F811
    (port,) = free_ports(1)
    address = f"127.0.0.1:{port}"
    alone = start("--http-listen", "none", name="alone", listen=address)
    phone = Phone(machine("phone"))
    phone.machine.join(alone)
    alone.register("phone", TOPIC)
    phone.machine.run("prefs", "set", "--app", TOPIC, "sound=off")
    send(alone, "one")
    phone.receive(alone, "one")
    send(alone, "two", "three")
    alone.app("com.example.mail")
    later = alone.run("send", "--to", f"phone/{TOPIC}", "later", "--in", "1h").out.split()[0]
    certificate = (alone.state / "ca.pem").read_bytes()
    file = tmp_path / "move.backup"
    # Only what is stopped is saved so, and only of a folder that has one.
    assert "another gateway runs" in move("backup", "--stopped", file, state=alone.state, code=1).err
    assert "holds no gateway" in move("backup", "--stopped", file, state=tmp_path / "nothing", code=1).err
    alone.stop()
    assert "2 waiting pushes" in move("backup", "--stopped", file, state=alone.state).err
    assert file.stat().st_mode & 0o777 == 0o600

    # Into a cell of two gateways, the first of which has the address that the phone knows.
    cell = Cell(tmp_path / "cell", brokers)
    first, second = cell.gateways
    broken = tmp_path / "broken.backup"
    broken.write_bytes(file.read_bytes()[:-20_000])
    words = move("restore", broken, "--backend", brokers.backend, state=first.state, code=1).err
    assert "damaged" in words and words.count("\n") == 1
    move("restore", file, "--backend", brokers.backend, "--cell-partitions", 3, state=first.state)
    assert "have a cluster's data already" in move(
        "restore", file, "--backend", brokers.backend, state=tmp_path / "other", code=1).err
    first.listen = address
    try:
        cell.start()
        assert (second.state / "ca.pem").read_bytes() == certificate
        phone.receive(first, "one", "two", "three")
        send(second, "four")
        phone.receive(first, "one", "two", "three", "four")
        prefs = second.run("prefs", "show", "--device", "phone", "--json").json
        assert prefs["apps"][TOPIC]["sound"] is False
        assert later in second.run("scheduled", "list").out
        send(second, "five")
        send(first, "six")
        one = str(uuid.uuid4())
        for gateway in cell.gateways:
            gateway.run("send", "--to", f"phone/{TOPIC}", "seven", "--id", one)
        # A backup of the cell while it serves has all of it, too.
        assert second.run("admin", "backup", tmp_path / "live.backup", "--json").json["waiting"] == 3
        for gateway in cell.gateways:
            gateway.stop()
    finally:
        cell.close()

    # And out of it: from the folder of either.
    back = tmp_path / "back.backup"
    assert "--backend" in move("backup", "--stopped", back, state=second.state, code=1).err
    assert "3 waiting pushes" in move(
        "backup", "--stopped", back, "--backend", brokers.backend, state=second.state).err
    home = Gateway(tmp_path / "home", "--http-listen", "none", listen=address)
    move("restore", back, state=home.state)
    home.start()
    try:
        phone.receive(home, "one", "two", "three", "four", "five", "six", "seven")
        assert (home.state / "ca.pem").read_bytes() == certificate
        send(home, "eight")
        phone.receive(home, "one", "two", "three", "four", "five", "six", "seven", "eight")
        assert home.run("prefs", "show", "--device", "phone", "--json").json["apps"][TOPIC]["sound"] is False
        assert later in home.run("scheduled", "list").out
    finally:
        home.stop()


def test_a_device_that_was_never_in_the_cell_loses_nothing(tmp_path, brokers, start, machine):  # noqa: F811
    (port,) = free_ports(1)
    address = f"127.0.0.1:{port}"
    alone = start("--http-listen", "none", name="alone", listen=address)
    phone = Phone(machine("phone"))
    phone.machine.join(alone)
    alone.register("phone", TOPIC)
    before = [f"before {number}" for number in range(10)]
    send(alone, *before)
    phone.receive(alone, *before)
    alone.stop()
    file = tmp_path / "move.backup"
    move("backup", "--stopped", file, state=alone.state)
    # The phone is off while there is a cell, in which nothing comes for it.
    first = Gateway(tmp_path / "first", "--http-listen", "none", "--backend", brokers.backend)
    move("restore", file, "--backend", brokers.backend, state=first.state)
    first.start().stop()
    move("backup", "--stopped", file, "--backend", brokers.backend, state=first.state)
    home = Gateway(tmp_path / "home", "--http-listen", "none", listen=address)
    move("restore", file, state=home.state)
    home.start()
    try:
        # They would have numbers that the phone has acknowledged, were they counted anew.
        then = [f"after {number}" for number in range(5)]
        send(home, *then)
        phone.receive(home, *before, *then)
    finally:
        home.stop()


def test_the_lines_of_the_page_move_a_gateway(tmp_path, brokers, start):
    rehearsal = Brokers(tmp_path / "rehearsal-broker", count=1).start()
    alone = start("--http-listen", "none", name="push")
    device = alone.device(name="phone")
    send(alone, "one", "two")
    page = (Path(__file__).parents[2] / "docs/cluster/move-and-leave.md").read_text()
    blocks = dict(re.findall(r"^```sh (\S+)\n(.*?)^```$", page, re.M | re.S))
    assert set(blocks) == {"rehearsal", "move", "leave"}
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "pushcli").symlink_to(PUSHCLI)

    def read(name):
        text = blocks[name].replace("nats://a:4222,b:4222,c:4222", brokers.backend)
        text = text.replace("nats://127.0.0.1:4333", rehearsal.backend)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text], cwd=tmp_path, capture_output=True, text=True, timeout=HANG,
            env=os.environ | {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "PUSHGATEWAY_STATE": str(alone.state)})
        assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def waits(folder, *options):
        gateway = start(*options, "--http-listen", "none", name=folder)
        found = gateway.run("subscribe", "--device", "phone", "--json", "--count", 2).records
        gateway.stop()
        return [record["payload"]["aps"]["alert"]["body"] for record in found]

    try:
        assert "2 waiting pushes" in read("rehearsal")
        assert waits("rehearsal", "--backend", rehearsal.backend) == ["one", "two"]
    finally:
        rehearsal.close()
    # The gateway did not notice.
    assert alone.accepted(device.token)
    alone.stop()
    assert "3 waiting pushes" in read("move")
    gateway = start("--backend", brokers.backend, "--http-listen", "none", name="first")
    gateway.stop()
    assert "3 waiting pushes" in read("leave")
    assert waits("alone") == ["one", "two"]


def fill(backup, device, app, count):
    """Adds pushes that wait to a backup, as an earlier version had them: without checksums."""
    database = sqlite3.connect(backup)
    now = int(time.time())
    (row, seq) = database.execute("SELECT ifnull(max(id), 0), ifnull(max(seq), 0) FROM mailbox").fetchone()
    database.executemany(
        "INSERT INTO mailbox (id, device, seq, app, apns_id, is_sender_id, unique_id, received, expires, priority,"
        " collapse_id, payload) VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, 10, '', ?)",
        [(row + number, device, seq + number, app, uuid.uuid4().bytes + bytes(4), uuid.uuid4().bytes + bytes(4), now * 1000,
          now + 86_400, json.dumps({"aps": {"alert": {"body": str(number)}}})) for number in range(1, count + 1)])
    database.commit()
    database.close()


class Gate(Relay):
    """A relay that passes so many bytes on to its target, then calls `shut`, and holds up all that follows."""

    def __init__(self, target, size, shut):
        self.left, self.shut, self.is_shut = size, shut, Flag()
        super().__init__(target)

    def copy(self, source, sink, pair):
        if source is not pair[0]:
            return super().copy(source, sink, pair)
        while data := source.recv(1 << 16):
            self.left -= len(data)
            if self.left < 0:
                self.shut()
                return self.is_shut.set()
            sink.sendall(data)


def stored(brokers):
    """How many messages the brokers have of mailboxes."""
    with urllib.request.urlopen(f"http://127.0.0.1:{brokers.monitors[0]}/jsz?streams=1&accounts=1") as answer:
        accounts = json.load(answer).get("account_details") or [{}]
    streams = accounts[0].get("stream_detail") or []
    return sum(stream["state"]["messages"] for stream in streams if stream["name"].startswith("MB_"))


def test_a_restore_that_is_killed_is_done_again_as_a_whole(tmp_path, brokers, start):
    alone = start("--http-listen", "none", name="alone")
    device = alone.device(name="phone")
    alone.stop()
    file = tmp_path / "move.backup"
    move("backup", "--stopped", file, state=alone.state)
    database = sqlite3.connect(file)
    numbers = database.execute("SELECT device, app FROM token").fetchone()
    database.close()
    count = 9_000
    fill(file, *numbers, count)
    first = Gateway(tmp_path / "first", "--http-listen", "none", "--backend", brokers.backend)

    def restore_by(backend):
        return ["admin", "restore", str(file), "--backend", backend, "--cell-partitions", "2"]

    restore, is_started = None, threading.Event()

    def stop():
        is_started.wait(HANG)
        restore.send_signal(signal.SIGSTOP)

    # All of it is more than three megabytes: it stops before the brokers have the half.
    gate = Gate(("127.0.0.1", brokers.clients[0]), 1 << 20, stop)
    restore = subprocess.Popen([PUSHCLI, *restore_by(f"nats://127.0.0.1:{gate.port}"), "--state", str(first.state)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    is_started.set()
    wait_for(lambda: gate.is_shut.is_set() or restore.poll() is not None, "it stops in the middle", gate.is_shut, restore)
    assert restore.poll() is None, restore.communicate()
    eventually(lambda: 0 < stored(brokers) < count, "something is stored")
    # A gateway that comes too early, and one that comes after the end of it.
    for end in [None, restore.kill]:
        if end:
            end()
            restore.communicate()
            gate.close()
        early = run("serve", "--listen", "127.0.0.1:0", "--http-listen", "none", "--backend", brokers.backend,
                    state=tmp_path / "early")
        assert early.code == 1 and "is being restored into this cluster" in early.err
    move(*restore_by(brokers.backend)[1:], state=first.state)
    assert stored(brokers) == count
    first.start()
    try:
        records = first.run("subscribe", "--device", device.name, "--json", "--count", count).records
        assert [record["payload"]["aps"]["alert"]["body"] for record in records] == [
            str(number) for number in range(1, count + 1)]
    finally:
        first.stop()


def test_a_backup_of_a_cell_under_load_has_all_that_was_accepted_before(tmp_path, brokers):
    cell = Cell(tmp_path / "cell", brokers).start()
    try:
        first, second = cell.gateways
        device = first.device(name="phone")
        accepted, is_over, changed = [], threading.Event(), Bell()

        def send_on():
            with first.connect() as connection:
                while not is_over.is_set():
                    one = str(uuid.uuid4())
                    if first.push(device.token, connection=connection, apns_id=one).status == 200:
                        accepted.append(one)
                        changed.ring()

        sender = threading.Thread(target=send_on)
        sender.start()
        try:
            for round in range(3):
                wait_for(lambda: len(accepted) >= 100 * (round + 1), "pushes are accepted", changed)
                before = list(accepted)
                file = tmp_path / f"{round}.backup"
                second.run("admin", "backup", file)
                database = sqlite3.connect(file)
                saved = [str(uuid.UUID(bytes=id[:16])) for (id,) in database.execute("SELECT apns_id FROM mailbox ORDER BY id")]
                database.close()
                assert saved[:len(before)] == before and len(set(saved)) == len(saved)
        finally:
            is_over.set()
            sender.join()
        assert run("admin", "restore", tmp_path / "2.backup", state=tmp_path / "alone").code == 0
    finally:
        cell.close()
