"""What an operator does: looks after a gateway, saves it, brings it back, repairs it."""

import json
import random
import sqlite3

import pytest
from gateway import ALERT, TOPIC, Gateway, run


def numbers(gateway, device, count):
    """The numbers in the pushes that a new connection of a device gets."""
    done = gateway.run("subscribe", "--device", device.name, "--json", "--count", count)
    return [record["payload"]["number"] for record in done.records]


def send(gateway, device, numbers):
    with gateway.connect() as connection:
        for number in numbers:
            assert gateway.push(
                device.token, {"aps": {"alert": "Platform"}, "number": number}, connection=connection).status == 200


def test_a_backup_of_a_running_gateway_goes_on_elsewhere(start, tmp_path):
    gateway = start()
    device = gateway.device()
    send(gateway, device, range(50))
    file = tmp_path / "gateway.backup"
    summary = gateway.run("admin", "backup", file, "--json").json
    assert summary["waiting"] == 50 and summary["devices"] == 1
    assert file.stat().st_mode & 0o777 == 0o600
    gateway.kill()

    state = tmp_path / "restored"
    done = run("admin", "restore", file, state=state)
    assert done.code == 0, done.err
    restored = Gateway(state).start()
    try:
        # The same keys, certificates, tokens and pushes; the device goes on with its secret.
        send(restored, device, range(50, 60))
        assert numbers(restored, device, 60) == list(range(60))
        again = run("admin", "restore", file, state=state)
        assert again.code == 1 and "another gateway runs" in again.err
    finally:
        restored.stop()
    assert "holds a gateway already" in run("admin", "restore", file, state=state).err


def test_a_backup_that_cannot_be_written_is_said(gateway, tmp_path):
    done = run("admin", "backup", tmp_path / "nowhere" / "file", state=gateway.state)
    assert done.code == 1 and "can't be written" in done.err and done.err.count("\n") == 1


def test_a_backup_under_load_is_of_one_moment(start, tmp_path):
    gateway = start()
    device = gateway.device()
    for round in range(5):
        send(gateway, device, range(round * 20, round * 20 + 20))
        gateway.run("admin", "backup", tmp_path / "b")
        database = sqlite3.connect(tmp_path / "b")
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("SELECT count(*) FROM mailbox").fetchone()[0] == round * 20 + 20
        database.close()


def test_the_doctor_says_that_all_is_well_and_what_is_not(start):
    gateway = start()
    done = gateway.run("doctor", "--json")
    findings = {record["check"]: record for record in done.records}
    assert findings["gateway"]["state"] == "ok" and gateway.address in findings["gateway"]["words"]
    assert findings["state folder"]["state"] == "ok"
    assert all(record["state"] != "failed" for record in done.records)
    gateway.stop()
    done = gateway.run("doctor")
    assert "pushcli serve" in done.out
    (gateway.state / "server.pem").write_text("no certificate")
    done = gateway.run("doctor", code=1)
    assert "server.pem holds no certificate" in done.out


def test_a_damaged_database_is_repaired_and_the_rest_is_delivered(start):
    gateway = start()
    device = gateway.device()
    send(gateway, device, range(400))
    gateway.stop()
    path = gateway.state / "pushgateway.sqlite"
    whole = path.read_bytes()
    # A page of the mailbox, somewhere in the middle.
    pages = [n for n in range(1, len(whole) // 4096) if whole[n * 4096] == 13 and b'"number"' in whole[n * 4096:][:4096]]
    page = pages[len(pages) // 2]
    path.write_bytes(whole[:page * 4096] + random.Random(1).randbytes(4096) + whole[page * 4096 + 4096:])

    refused = run("serve", "--listen", "127.0.0.1:0", state=gateway.state)
    assert refused.code == 1 and "pushcli doctor --repair" in refused.err and refused.err.count("\n") == 1
    assert "failed" in gateway.run("doctor", code=1).out
    report = gateway.run("doctor", "--repair", "--json").json
    assert report["damages"] > 0 and 350 <= report["kept"]["mailbox"] < 400
    assert report["kept"]["token"] == 1
    assert gateway.run("doctor", "--repair").err.startswith("the database is sound")

    gateway.start()
    kept = numbers(gateway, device, report["kept"]["mailbox"])
    assert kept == sorted(set(kept)), "in order, and once"
    send(gateway, device, [1000])
    assert numbers(gateway, device, 1) == [1000]


def test_what_the_log_of_a_killed_gateway_holds_is_repaired_too(start):
    gateway = start()
    device = gateway.device()
    send(gateway, device, range(40))
    gateway.kill()
    path = gateway.state / "pushgateway.sqlite"
    assert (gateway.state / "pushgateway.sqlite-wal").stat().st_size > 0
    # The header of the main file: what the log holds of the same page is newer, and whole.
    path.write_bytes(b"\0" * 100 + path.read_bytes()[100:])
    report = gateway.run("doctor", "--repair", "--json").json
    assert report.get("repaired") is False or report["kept"]["mailbox"] == 40, json.dumps(report)
    gateway.start()
    assert numbers(gateway, device, 40) == list(range(40))


@pytest.mark.parametrize("is_moved_aside", [False, True])
def test_a_damaged_delivery_log_is_repaired_and_the_rest_is_found(start, is_moved_aside):
    gateway = start()
    device = gateway.device()
    with gateway.connect() as connection:
        pushes = []
        for _ in range(6):
            pushes += [gateway.accepted(device.token, ALERT, connection=connection) for _ in range(50)]
            # What is read is written before: these are a record, or several.
            gateway.events(pushes[-1], "stored")
    gateway.stop()
    path = gateway.state / "delivery-log.sqlite"
    whole = path.read_bytes()
    page = len(whole) // 4096 // 2
    path.write_bytes(whole[: page * 4096] + b"\xde" * 4096 + whole[page * 4096 + 4096 :])
    if is_moved_aside:
        path.rename(gateway.state / "delivery-log.damaged-20261121T120000Z.sqlite")
        gateway.start()
        later = gateway.accepted(device.token)
        gateway.stop()
        assert "doctor --repair" in gateway.run("doctor").out
    _, report = gateway.run("doctor", "--repair", "--json").records
    report = report["delivery_log"]
    assert report["events"] > 0 and len(report["aside"]) == 1 and "salvaged" in report["aside"][0]
    assert gateway.run("doctor", "--repair").err == "the database is sound: nothing to repair\n"
    gateway.start()
    rows = gateway.run("log", "--limit", "100000", "--json").records
    assert len(rows) == report["events"]
    assert [row["id"] for row in rows if row["event"] == "accepted"] == sorted(
        {row["id"] for row in rows if row["event"] == "accepted"}, key=(pushes + [rows[-1]["id"]]).index)
    if is_moved_aside:
        assert rows[-1]["id"] == later


def test_lists_are_read_page_by_page(start):
    gateway = start()
    for number in range(3):
        gateway.device(name=f"laptop-{number}", person="ada")
        gateway.device(name=f"phone-{number}")
    names = [f"laptop-{n}" for n in range(3)] + [f"phone-{n}" for n in range(3)]

    def listed(*arguments, key="name"):
        return [record[key] for record in gateway.run(*arguments, "--json").records]

    assert listed("devices", "list") == names
    assert listed("devices", "list", "--limit", 2) == names[:2]
    assert listed("devices", "list", "--after", "laptop-1", "--limit", 2) == names[2:4]
    assert listed("devices", "list", "--filter", "top") == names[:3]
    assert listed("devices", "list", "--filter", "%") == []
    assert listed("persons", "list", "--after", "ada") == names[3:]
    [ada] = gateway.run("persons", "list", "--filter", "ada", "--json").records
    assert ada == {"name": "ada", "devices": names[:3]}
    [header, *rows] = gateway.run("devices", "list").out.splitlines()
    assert header.split() == ["NAME", "PERSON", "CONNECTED", "LAST", "SEEN", "WAITING", "APPS"]
    assert [row.split()[0] for row in rows] == names and rows[0].split()[-1] == TOPIC
    for number in range(3):
        gateway.app(f"com.example.app{number}")
    assert listed("apps", "list", "--filter", "example.app", key="topic") == [f"com.example.app{n}" for n in range(3)]
    assert listed("apps", "list", "--after", "com.example.app1", "--limit", 1, key="topic") == ["com.example.app2"]
    channels = listed("channels", "create", TOPIC, "--count", 5, key="id")
    assert sorted(listed("channels", "list", "--limit", 3, key="id")) == sorted(channels)[:3]
    for _ in range(3):
        gateway.run("devices", "invite")
    invitations = listed("devices", "invitations", key="id")
    assert len(invitations) == 3 and listed("devices", "invitations", "--limit", 1, key="id") == [min(invitations)]
