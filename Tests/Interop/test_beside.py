"""What is promised beside the mailbox: answers, unregistrations, the audit, and a start whatever the disk is like."""

import json
import os
import random
import subprocess
import uuid

import pytest

from gateway import PUSHCLI, Gateway
from waiting import HANG, eventually, wait_for
from wire import Closed

QUESTION = {"aps": {"alert": {"title": "Deploy?", "body": "Version 7"}, "category": "DEPLOY"}}


def answered(stream, apns_id):
    """The action that counts, as the gateway says it."""
    while True:
        line = stream.next()
        if line["type"] == "answered" and line["id"] == apns_id:
            return line.get("action")


def test_the_first_answer_counts_whatever_is_killed(start):
    """Killed between any two of its steps, the gateway never says anything else of an answer that it confirmed."""
    chance = random.Random(19)
    gateway = start()
    one, two = gateway.device(person="ada"), gateway.device(person="ada")
    confirmed = {}
    for round in range(8):
        ids = [str(uuid.UUID(int=chance.getrandbits(128), version=4)) for _ in range(8)]
        for apns_id in ids:
            for device in (one, two):
                gateway.accepted(device.token, QUESTION, **{"apns_id": apns_id})
        stream = gateway.stream(one)
        stream.caught_up()
        for apns_id in ids:
            stream.say(type="answer", id=apns_id, action=chance.choice(["view", "close"]))
        try:
            for apns_id in ids[: chance.randrange(9)]:
                confirmed[apns_id] = answered(stream, apns_id)
        except (AssertionError, Closed, OSError):
            pass
        gateway.kill()
        gateway.restart()
        other = gateway.stream(two)
        other.caught_up()
        for apns_id in ids:
            other.say(type="answer", id=apns_id, action="ok")
            action = answered(other, apns_id)
            assert action == confirmed.get(apns_id, action), f"round {round}: {apns_id} is answered twice"
            # One end in the log, which has lost no answer that was confirmed.
            events = [record["event"] for record in gateway.events(apns_id)]
            assert sum(event in ("viewed", "closed", "action") for event in events) == 1, events
        stream.connection.close()
        other.connection.close()


def test_what_was_unregistered_never_comes_back(start):
    """The device's 204 comes after the commit: a kill right after it brings nothing back."""
    gateway = start()
    for round in range(6):
        device = gateway.device()
        for number in range(20):
            gateway.accepted(device.token, {"aps": {"alert": "Old"}, "number": number})
        with gateway.connect() as connection:
            response = connection.request(
                "DELETE", f"/v1/device/apps/{topic(gateway)}",
                [("authorization", f"bearer {device.secret}")])
            assert response.status == 204, response.body
        gateway.kill()
        gateway.restart()
        assert gateway.push(device.token).status == 410
        gateway.register(device.name, topic(gateway))
        stream = gateway.stream(device)
        assert stream.caught_up() == [], f"round {round}"
        stream.connection.close()


def topic(gateway):
    return json.loads((gateway.state / "development.json").read_text())["topic"]


def test_what_an_administrator_did_is_written_down(start):
    gateway = start()
    gateway.app("com.example.audited", name="Audited")
    gateway.kill()
    gateway.restart()
    records = gateway.run("admin", "audit", "--json").records
    asked = [(record["method"], record["path"], record["status"]) for record in records]
    assert ("POST", "/admin/v1/apps", 201) in asked or ("POST", "/admin/v1/apps", 200) in asked, asked
    body = next(record["body"] for record in records if record["path"] == "/admin/v1/apps")
    assert "com.example.audited" in body
    assert "com.example.audited" in gateway.run("admin", "audit").out
    assert [record["number"] for record in records] == sorted(record["number"] for record in records)
    assert len(gateway.run("admin", "audit", "--json", "--limit", 1).records) == 1


@pytest.mark.parametrize("out", ["> /dev/full", "> /dev/full 2>&1", ">&-", ">&- 2>&-", ">&- 2>&- <&-"])
def test_it_runs_where_nobody_reads_what_it_says(tmp_path, out):
    gateway = Gateway(tmp_path / "state", wrapper=["sh", "-c", f'exec "$0" "$@" {out}']).start()
    try:
        device = gateway.device()
        gateway.accepted(device.token)
        database = (gateway.state / "pushgateway.sqlite").read_bytes()
        assert database.startswith(b"SQLite format 3\0")
    finally:
        gateway.stop()


@pytest.fixture
def small_disk(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m,mode=700", "tmpfs", place], capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def fill(place):
    with open(place / "fill", "wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                pass


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_it_starts_on_a_full_disk_and_serves_what_waits(small_disk, tmp_path, end):
    gateway = Gateway(small_disk / "state").start()
    try:
        device = gateway.device()
        for number in range(10):
            gateway.accepted(device.token, {"aps": {"alert": "Waits"}, "number": number})
        if end == "stop":
            gateway.stop()
            fill(small_disk)
        else:
            fill(small_disk)
            gateway.kill()
        gateway.listen = f"{gateway.host}:{gateway.port}"
        gateway.spawn()
        # It says that it serves, though the file that names its address can't be written.
        gateway.manager.until("READY", gateway.process)
        stream = gateway.stream(device)
        assert [line["payload"]["number"] for line in stream.caught_up()] == list(range(10))
        stream.connection.close()
        statuses = set()
        big = {"aps": {"alert": "x" * 3900}}
        for _ in range(1500):
            statuses.add(gateway.push(device.token, big).status)
            if 503 in statuses:
                break
        assert 503 in statuses and statuses <= {200, 503}, statuses
        os.remove(small_disk / "fill")
        eventually(lambda: gateway.push(device.token).status == 200, "there is room again")
        wait_for((gateway.state / "listening").exists, "commands find the gateway", gateway.state)
    finally:
        gateway.stop()


@pytest.mark.parametrize("suffix", ["-wal", "-shm", ""])
def test_files_that_are_deleted_under_it_are_noticed_and_nothing_is_lost(start, suffix):
    gateway = start()
    device = gateway.device()
    first = [gateway.accepted(device.token) for _ in range(5)]
    path = gateway.state / f"pushgateway.sqlite{suffix}"
    path.unlink()
    gateway.wait_for_log("was deleted or replaced while the gateway used it")
    with gateway.connect() as connection:
        health = connection.request("GET", "/v1/health")
        assert health.status == 503 and b"database" in health.body
    assert gateway.push(device.token).status == 503
    gateway.kill()
    if not suffix:
        os.rename(gateway.state / "pushgateway.sqlite.rescued", path)
        for rest in ("-wal", "-shm"):
            (gateway.state / f"pushgateway.sqlite{rest}").unlink(missing_ok=True)
    gateway.restart()
    stream = gateway.stream(device)
    assert [line["id"] for line in stream.caught_up()] == first
    stream.connection.close()


def test_a_backup_that_was_killed_leaves_nothing(start, tmp_path):
    gateway = start()
    device = gateway.device()
    for _ in range(200):
        gateway.accepted(device.token, {"aps": {"alert": "x" * 3000}})
    place = tmp_path / "backups"
    place.mkdir()
    for _ in range(4):
        backup = subprocess.Popen(
            [PUSHCLI, "admin", "backup", place / "gateway.backup", "--state", gateway.state],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: any(place.iterdir()) or backup.poll() is not None, "the backup has begun", place, backup)
        gateway.kill()
        backup.wait(HANG)
        gateway.restart()
        left = {file.name for file in place.iterdir()} - {"gateway.backup"}
        assert not left, left
