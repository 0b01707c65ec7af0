"""Commands: exit codes, JSON, and one clear line for whatever is wrong (design §6, §7)."""

import json
import os
import re
import select
import shutil
import signal
import socket
import sqlite3
import subprocess
import threading
from contextlib import closing, suppress

import pytest

from gateway import PUSHCLI, SOAK, TOPIC, Gateway, run
from waiting import HANG, Readable, wait_for


def assert_fails(done, code, *words):
    """One line for people on standard error, nothing on standard output, and the code that scripts rely on."""
    assert done.code == code, (done.code, done.out, done.err)
    lines = [line for line in done.err.splitlines() if line]
    assert len(lines) == 1, done.err
    assert lines[0].startswith("pushcli: "), done.err
    for word in words:
        assert word in lines[0], f"{word!r} is not in {lines[0]!r}"
    assert done.out == ""


def serve(state, *options, **more):
    """A gateway that is expected not to start."""
    return run("serve", "--listen", "127.0.0.1:0", *options, state=state, **more)


@pytest.fixture
def stopped(start):
    """A gateway that has been started and stopped in good order, with a device and a push that waits."""
    gateway = start()
    device = gateway.device()
    gateway.accepted(device.token)
    gateway.stop()
    return gateway


# The gateway does not start


def test_a_port_in_use_is_said(gateway, tmp_path):
    done = run("serve", "--state", tmp_path / "second", "--listen", gateway.address)
    assert_fails(lines_of_failure(done), 1, gateway.address, "in use", "--listen")


def lines_of_failure(done):
    """Without the words of a first start."""
    done.err = "".join(line + "\n" for line in done.err.splitlines() if line.startswith("pushcli: "))
    return done


def test_two_listeners_of_which_one_is_in_use_end_the_gateway(gateway, tmp_path):
    done = run("serve", "--state", tmp_path / "second", "--listen", "127.0.0.1:0", "--listen", gateway.address)
    assert_fails(done, 1, gateway.address, "in use")
    assert not (tmp_path / "second" / "listening").exists()


def test_an_address_that_is_not_this_machines_is_said(tmp_path):
    assert_fails(run("serve", "--state", tmp_path / "s", "--listen", "192.0.2.1:0"), 1, "192.0.2.1:0", "does not have that address")


@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1", "127.0.0.1:", ":2197", "127.0.0.1:70000", "127.0.0.1:x", ""])
def test_an_address_that_is_none_is_usage(tmp_path, address):
    assert_fails(run("serve", "--state", tmp_path / "s", "--listen", address), 2, "HOST:PORT")


def test_a_state_folder_below_a_file_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    assert_fails(serve(tmp_path / "file" / "state"), 1, "file/state", "--state")
    assert_fails(serve(tmp_path / "file"), 1, "file", "--state")


def test_a_state_folder_on_a_read_only_disk_is_said(tmp_path):
    place = tmp_path / "read-only"
    (place).mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,size=1m,mode=700", "tmpfs", place], capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        assert_fails(serve(place / "state"), 1, "read-only/state", "--state")
        assert_fails(serve(place), 1, "read-only", "--state")
    finally:
        subprocess.run(["umount", place], check=True)


def test_a_disk_that_is_too_small_is_said(tmp_path):
    place = tmp_path / "small"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        assert_fails(serve(place / "state"), 1, "full")
    finally:
        subprocess.run(["umount", place], check=True)


def test_a_second_gateway_on_the_same_state_is_said(gateway):
    assert_fails(serve(gateway.state), 1, "another gateway", str(gateway.state))
    assert (gateway.state / "listening").exists() and (gateway.state / "admin.sock").exists()
    gateway.run("apps")


def settle(path):
    """Moves what is in the write-ahead log into the database, as an administrator's backup would."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert os.path.getsize(path) > 3 * 4096


def overwrite(path, offset, data):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


def test_a_database_with_a_broken_header_is_said(stopped):
    path = stopped.state / "pushgateway.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    overwrite(path, 0, b"\xde\xad" * 50)
    assert_fails(serve(stopped.state), 1, path.name, "damaged", "backup")


@pytest.mark.parametrize("damage", ["header", "cut", "folder", "text"])
def test_a_delivery_log_that_is_damaged_is_kept_and_begun_anew(stopped, damage):
    path = stopped.state / "delivery-log.sqlite"
    if damage == "header":
        overwrite(path, 0, b"\xde\xad" * 50)
    elif damage == "cut":
        os.truncate(path, os.path.getsize(path) // 2 + 100)
    else:
        path.unlink()
        path.mkdir() if damage == "folder" else path.write_text("no database")
    doctor = run("doctor", state=stopped.state)
    assert "delivery log" in doctor.out and "damaged" in doctor.out, doctor.out
    stopped.start()
    # A thread of its own writes the gateway's log: the line may come after the gateway is ready.
    stopped.wait_for_log("the delivery log was damaged")
    kept = list(stopped.state.glob("delivery-log.damaged-*"))
    assert len(kept) == 1 and str(kept[0]) in stopped.log
    device = stopped.device()
    push = stopped.accepted(device.token)
    assert [row["event"] for row in run("log", push, "--json", state=stopped.state).records][:1] == ["accepted"]
    assert stopped.run("doctor").code == 0


def test_a_delivery_log_that_is_deleted_while_it_is_written_is_begun_anew(gateway):
    device = gateway.device()
    gateway.accepted(device.token)
    for file in gateway.state.glob("delivery-log.sqlite*"):
        file.unlink()
    push = gateway.accepted(device.token)
    assert [row["event"] for row in run("log", push, "--json", state=gateway.state).records][:1] == ["accepted"]
    gateway.wait_for_log("the delivery log was deleted")


def test_a_database_with_a_broken_page_in_the_middle_is_said(stopped):
    path = stopped.state / "pushgateway.sqlite"
    settle(path)
    pages = os.path.getsize(path) // 4096
    whole = path.read_bytes()
    # Each page in a long run; the first, the last and some between them in a short one.
    for page in range(1, pages) if SOAK else sorted({1, pages - 1, *range(2, pages, pages // 5)}):
        path.write_bytes(whole)
        overwrite(path, page * 4096, b"\xde\xad\xbe\xef" * 1024)
        for extra in ["-wal", "-shm"]:
            (stopped.state / (path.name + extra)).unlink(missing_ok=True)
        assert_fails(serve(stopped.state), 1, path.name, "damaged", "backup")


def test_a_database_that_is_cut_off_is_said(stopped):
    path = stopped.state / "pushgateway.sqlite"
    settle(path)
    os.truncate(path, os.path.getsize(path) // 2 + 100)
    assert_fails(serve(stopped.state), 1, path.name, "damaged")


def test_a_database_that_is_a_folder_is_said(tmp_path):
    state = tmp_path / "s"
    state.mkdir(mode=0o700)
    (state / "pushgateway.sqlite").mkdir()
    assert_fails(serve(state), 1, "pushgateway.sqlite")


def openssl(*arguments, cwd):
    subprocess.run(["openssl", *map(str, arguments)], cwd=cwd, check=True, capture_output=True)


def test_a_server_certificate_that_has_expired_is_said(stopped):
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "server.key", cwd=stopped.state)
    openssl("req", "-new", "-key", "server.key", "-subj", "/CN=localhost", "-out", "x.csr", cwd=stopped.state)
    ends = ["-not_before", "20200101000000Z", "-not_after", "20200201000000Z"]
    made = subprocess.run(
        ["openssl", "x509", "-req", "-in", "x.csr", "-signkey", "server.key", "-out", "server.pem", *ends],
        cwd=stopped.state, capture_output=True)
    if made.returncode:
        # OpenSSL before 3.4 takes no dates; a certificate authority does.
        (stopped.state / "index.txt").write_text("")
        (stopped.state / "ca.cnf").write_text(
            "[ca]\ndefault_ca=x\n[x]\ndatabase=index.txt\nnew_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n")
        openssl("ca", "-batch", "-config", "ca.cnf", "-selfsign", "-keyfile", "server.key", "-in", "x.csr", "-startdate",
            "20200101000000Z", "-enddate", "20200201000000Z", "-notext", "-out", "server.pem", cwd=stopped.state)
    assert_fails(serve(stopped.state), 1, "server.pem", "expired")


def test_a_certificate_or_key_that_is_none_is_said(stopped):
    certificate = (stopped.state / "server.pem").read_text()
    (stopped.state / "server.pem").write_text("nonsense\n")
    assert_fails(serve(stopped.state), 2, "server.pem", "no certificate")
    (stopped.state / "server.pem").write_text(certificate)
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "server.key", cwd=stopped.state)
    assert_fails(serve(stopped.state), 2, "server.key")


def test_a_missing_certificate_is_made_again_by_the_same_authority(stopped):
    trust = (stopped.state / "ca.pem").read_text()
    (stopped.state / "server.pem").unlink()
    stopped.start()
    assert (stopped.state / "ca.pem").read_text() == trust
    stopped.connect().close()


def test_an_authority_that_is_damaged_is_said(stopped):
    (stopped.state / "server.pem").unlink()
    (stopped.state / "ca.pem").write_text("nonsense")
    assert_fails(serve(stopped.state), 1, "ca.pem", "delete")


@pytest.mark.parametrize(
    ("text", "words"),
    [("colour: red\n", ["unknown setting colour", "mailbox_cap"]),
     ("mailbox_cap: many\n", ["mailbox_cap", "many", "file"]),
     ("mailbox_cap: 0\n", ["mailbox_cap", "1 to"]),
     ("mailbox_cap: [1\n", ["config.yaml", "YAML"]),
     ("just words\n", ["config.yaml"]),
     ("- a\n- b\n", ["config.yaml"]),
     ("listen: nowhere\n", ["nowhere", "HOST:PORT"]),
     ("environment: test\n", ["environment", "development or production"]),
     ("log_level: loud\n", ["log_level", "loud"]),
     ("\x00\x01", ["config.yaml"])])
def test_a_settings_file_that_is_wrong_is_usage(tmp_path, text, words):
    (tmp_path / "config.yaml").write_text(text)
    assert_fails(run("serve", "--state", tmp_path), 2, *words)
    assert_fails(run("serve", "--state", tmp_path, "--check"), 2, *words)


def test_a_settings_file_that_is_not_there_is_usage(tmp_path):
    assert_fails(run("serve", "--state", tmp_path, "--config", tmp_path / "none.yaml"), 2, "none.yaml")


def test_check_prints_each_setting_with_its_origin_and_starts_nothing(tmp_path):
    (tmp_path / "config.yaml").write_text("mailbox_cap: 20\nrate_limit: 5\nloops: 2\nlisten: ['127.0.0.1:1', '[::1]:2']\n")
    done = run("serve", "--state", tmp_path, "--check", "--json", "--mailbox-cap", "30",
        env={"PUSHGATEWAY_MAILBOX_CAP": "25", "PUSHGATEWAY_RATE_LIMIT": "7"})
    assert done.code == 0
    settings = {record["name"]: (record["value"], record["origin"]) for record in done.records}
    assert settings["mailbox_cap"] == ("30", "flag")
    assert settings["rate_limit"] == ("7", "environment")
    assert settings["loops"] == ("2", "file")
    assert settings["listen"] == ("127.0.0.1:1,[::1]:2", "file")
    assert settings["environment"] == ("development", "default")
    table = run("serve", "--state", tmp_path, "--check")
    assert table.code == 0 and re.search(r"^mailbox_cap +20 +file +restart$", table.out, re.M)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.yaml"]


def test_the_environment_names_the_state_folder(gateway):
    done = run("apps", "--json", env={"PUSHGATEWAY_STATE": str(gateway.state)})
    assert done.code == 0 and TOPIC in [app["topic"] for app in done.records]


# A first start, and its files


def test_a_first_start_makes_what_the_design_names(start):
    gateway = start()
    names = {path.name for path in gateway.state.iterdir()}
    key = gateway.key
    assert {"ca.pem", "server.pem", "server.key", "pushgateway.sqlite", "admin.sock", "listening", "development.json",
            f"AuthKey_{key.key_id}.p8"} <= names
    development = json.loads((gateway.state / "development.json").read_text())
    assert set(development) == {"team_id", "key_id", "key_path", "topic"}
    assert len(development["team_id"]) == len(development["key_id"]) == 10
    mode = lambda name: oct((gateway.state / name).stat().st_mode & 0o777)
    for name in ["server.key", "ca.key", "admin.sock", f"AuthKey_{key.key_id}.p8", "development.json"]:
        assert mode(name) == "0o600", name
    assert oct(gateway.state.stat().st_mode & 0o777) == "0o700"
    # The file is there a moment before the line.
    gateway.wait_for_log(f"listening on {gateway.address}\n")
    assert f"pushcli send --state {gateway.state}" in gateway.log
    gateway.stop()
    names = {path.name for path in gateway.state.iterdir()}
    assert "listening" not in names and "admin.sock" not in names
    gateway.start()
    assert gateway.key.key_id == key.key_id
    assert gateway.log.count("First start") == 1


@pytest.mark.parametrize("size", [103, 104, 107, 108, 250])
def test_a_state_folder_may_have_a_very_long_path(tmp_path, size):
    """A Unix socket's address holds 108 bytes, and what NIO makes of it 103."""
    rest = size - len(str(tmp_path / "admin.sock")) - 1
    folder = tmp_path / ("x" * rest) if rest < 120 else tmp_path / ("x" * 60) / ("y" * (rest - 61))
    gateway = Gateway(folder).start()
    assert len(str(gateway.state / "admin.sock")) == size
    try:
        assert gateway.run("apps", "--json").json["topic"] == TOPIC
    finally:
        gateway.stop()


def test_a_state_folder_may_be_relative_and_have_spaces(tmp_path):
    gateway = Gateway(tmp_path / "a state: with, oddities ü")
    gateway.start()
    try:
        device = gateway.device()
        done = run("send", "--to", f"{device.name}/{TOPIC}", "--title", "x", "--json", "--state", gateway.state.name, cwd=tmp_path)
        assert done.code == 0 and done.json["status"] == 200
    finally:
        gateway.stop()


@pytest.mark.parametrize("listen", ["[::1]:0", "localhost:0", "127.0.0.1:0,[::1]:0"])
def test_the_gateway_listens_where_it_is_told(start, listen):
    gateway = start(listen=listen)
    addresses = (gateway.state / "listening").read_text().splitlines()
    # A name stands for its addresses, of IPv4 and IPv6.
    assert len(addresses) == sum(2 if entry.startswith("localhost") else 1 for entry in listen.split(","))
    device = gateway.device()
    for address in addresses:
        done = gateway.run("send", "--to", f"{device.name}/{TOPIC}", "--title", "x", "--gateway", address, "--json")
        assert done.json["status"] == 200
        # The gateway is ready, and answers, a moment before it prints the line.
        gateway.wait_for_log(f"listening on {address}\n")
    pushes = gateway.run("subscribe", "--device", device.name, "--json", "--count", len(addresses)).records
    assert len(pushes) == len(addresses)


def test_sigint_ends_the_gateway_as_sigterm_does(start):
    gateway = start()
    gateway.process.send_signal(signal.SIGINT)
    assert gateway.ended() == 0


def test_what_a_killed_gateway_left_behind_keeps_nothing_from_starting(start):
    gateway = start()
    gateway.kill()
    assert (gateway.state / "admin.sock").exists() and (gateway.state / "listening").exists()
    assert_fails(run("apps", state=gateway.state), 6, "no gateway runs")
    gateway.start()
    gateway.run("apps")


# Administration


def test_without_a_gateway_every_command_says_so(tmp_path):
    state = tmp_path / "none"
    for line in [["apps"], ["devices"], ["teams"], ["keys"], ["log"], ["prefs", "--device", "me"], ["devices", "enrol", "me"],
                 ["send", "--to", f"me/{TOPIC}", "--title", "x"]]:
        assert_fails(run(*line, state=state), 6, "no gateway runs", str(state), "pushcli serve")


def test_the_json_of_each_command_has_its_form(gateway, tmp_path):
    topic = "com.example.trains"
    assert gateway.run("apps", "add", topic, "--name", "Trains", "--icon", "🚆", "--json").json.items() >= {
        "topic": topic, "name": "Trains", "icon": "🚆"}.items()
    gateway.run("teams", "add", "A1B2C3D4E5")
    made = gateway.run("keys", "create", "--team", "A1B2C3D4E5", "--topic", topic, "--out", tmp_path, "--json").json
    assert set(made) == {"key_id", "team_id", "path"}
    assert made["path"] == str(tmp_path / f"AuthKey_{made['key_id']}.p8") and os.path.exists(made["path"])
    assert oct(os.stat(made["path"]).st_mode & 0o777) == "0o600"
    enrolled = gateway.run("devices", "enrol", "json", "--person", "p", "--json").json
    assert set(enrolled) == {"device", "secret", "name", "person", "role"} and enrolled["name"] == "json"
    registered = gateway.run("devices", "register", "json", topic, "--json").json
    assert re.fullmatch(r"[0-9a-f]{64}", registered["token"])
    sent = gateway.run("send", "--to", f"json/{topic}", "--title", "T", "--badge", "1", "--json").json
    assert set(sent) == {"apns_id", "apns_unique_id", "status"} and sent["status"] == 200
    refused = gateway.run("send", "--token", "0" * 64, "--topic", topic, "--title", "T", "--json", code=5).json
    assert refused["status"] == 400 and refused["reason"] == "BadDeviceToken" and refused["apns_id"]
    [push] = gateway.run("subscribe", "--device", "json", "--json", "--once").records
    assert {"seq", "id", "topic", "received", "presentation", "payload"} <= set(push)
    assert push["id"] == sent["apns_id"]
    for line in [["apps"], ["teams"], ["keys"], ["devices"], ["log"]]:
        for record in gateway.run(*line, "--json").records:
            assert all(re.fullmatch(r"[a-z][a-z_]*", name) for name in record), record


@pytest.mark.parametrize("line", [["--help"], ["--version"], ["serve", "--help"], ["send", "-h"], ["help", "subscribe"]], ids=" ".join)
def test_help_is_data_and_succeeds(line):
    done = run(*line)
    assert done.code == 0 and done.out and not done.err


# Sending


def send(gateway, *options, **more):
    return run("send", *options, state=gateway.state, **more)


def test_send_refused_for_good_is_5_and_says_the_reason(gateway, device):
    assert_fails(send(gateway, "--token", "0" * 64, "--topic", TOPIC, "--title", "x"), 5, "400", "BadDeviceToken")
    assert_fails(send(gateway, "--to", f"{device.name}/{TOPIC}", "--sound", "../x"), 5, "Forbidden", "S1", "/aps/sound")
    assert_fails(send(gateway, "--to", f"{device.name}/{TOPIC}", "--body", "x" * 5000), 5, "413", "PayloadTooLarge")
    gateway.run("devices", "unregister", device.name, TOPIC)
    assert_fails(send(gateway, "--token", device.token, "--topic", TOPIC, "--title", "x"), 5, "410", "Unregistered")


def test_devices_lists_an_app_once_with_its_environments(gateway, device):
    gateway.register(device.name, TOPIC, environment="production")
    row = gateway.run("devices", "list", "--filter", device.name, "--json").json
    assert row["apps"] == [TOPIC]
    assert row["registrations"] == [{"topic": TOPIC, "environments": ["development", "production"]}]
    [_, line] = gateway.run("devices", "list", "--filter", device.name).out.splitlines()
    assert line.endswith(f"  {TOPIC} (development production)")


def test_send_to_nobody_is_3(gateway, device):
    other = gateway.app()
    assert_fails(send(gateway, "--to", f"{device.name}/{other}", "--title", "x"), 3, "not registered", "devices register")
    assert_fails(send(gateway, "--to", f"{device.name}/com.example.none", "--title", "x"), 3, "com.example.none")


def test_send_to_an_unknown_device_is_said(gateway):
    done = send(gateway, "--to", f"nobody/{TOPIC}", "--title", "x")
    assert_fails(done, 3, "no device nobody")


@pytest.mark.parametrize(
    "content", [b"", b"nonsense", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", b"\xff" * 100, "RSA", "P-384", "certificate"], ids=str)
def test_a_key_that_is_none_is_4(gateway, device, tmp_path, content):
    path = tmp_path / "AuthKey_ABCDEFGHIJ.p8"
    if content == "RSA":
        openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", path, cwd=tmp_path)
    elif content == "P-384":
        openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384", "-out", path, cwd=tmp_path)
    elif content == "certificate":
        shutil.copy(gateway.trust, path)
    else:
        path.write_bytes(content)
    done = send(gateway, "--to", f"{device.name}/{TOPIC}", "--title", "x", "--key", path, "--team", "DEVTEAM001")
    assert_fails(done, 4, "AuthKey_ABCDEFGHIJ.p8", "--key")


def test_a_key_that_the_gateway_does_not_know_is_4(start, gateway, device):
    other = start()
    done = send(gateway, "--to", f"{device.name}/{TOPIC}", "--title", "x", "--key", other.key.path, "--team", "DEVTEAM001")
    assert_fails(done, 4, "403", "InvalidProviderToken")


@pytest.mark.parametrize("payload", ["{", "[]", '"text"', "", "nonsense", '{"aps":'])
def test_a_payload_that_is_no_json_object_is_said(gateway, device, tmp_path, payload):
    path = tmp_path / "payload.json"
    path.write_text(payload)
    done = send(gateway, "--to", f"{device.name}/{TOPIC}", path)
    assert_fails(done, 5, "PayloadEmpty")
    assert_fails(send(gateway, "--to", f"{device.name}/{TOPIC}", "-", stdin=payload), 5, "PayloadEmpty")


def test_a_simulators_payload_file_names_its_app(gateway, device, tmp_path):
    path = tmp_path / "push.apns"
    path.write_text(json.dumps({"Simulator Target Bundle": TOPIC, "aps": {"alert": "From a file"}, "own": 1}))
    assert send(gateway, "--to", device.name, path).code == 0
    assert send(gateway, "--token", device.token, "-", stdin=path.read_text()).code == 0
    pushes = gateway.run("subscribe", "--device", device.name, "--json", "--count", 2).records
    assert [push["payload"] for push in pushes] == [{"aps": {"alert": "From a file"}, "own": 1}] * 2


def test_a_simulators_payload_file_never_sends_its_key(gateway, device, tmp_path):
    """The key names the app for tools; the app gets the payload without it (reference §9.3)."""
    path = tmp_path / "push.apns"
    path.write_text(json.dumps({"Simulator Target Bundle": "com.example.other", "aps": {"alert": "x"}}))
    assert send(gateway, "--to", f"{device.name}/{TOPIC}", path).code == 0
    [push] = gateway.run("subscribe", "--device", device.name, "--json", "--once").records
    assert push["payload"] == {"aps": {"alert": "x"}}


def test_a_simulators_payload_file_grows_by_nothing_when_its_key_goes(gateway, device, tmp_path):
    path = tmp_path / "push.apns"
    payload = {"aps": {"alert": "/" * 1000}, "number": 0.1, "pad": ""}
    payload["pad"] = "/" * (4096 - len(json.dumps(payload, separators=(",", ":"))))
    path.write_text(json.dumps({"Simulator Target Bundle": TOPIC} | payload))
    assert send(gateway, "--to", device.name, path).code == 0
    [push] = gateway.run("subscribe", "--device", device.name, "--json", "--once").records
    assert push["payload"] == payload


def test_a_gateway_that_is_not_there_is_6_after_retries(gateway, device):
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        done = send(gateway, "--token", device.token, "--topic", TOPIC, "--title", "x", "--gateway", address)
    assert_fails(done, 6, address)


def test_a_gateway_that_is_none_is_6(gateway, device):
    """Something listens there that hangs up at once."""
    with closing(socket.socket()) as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        sender = subprocess.Popen(
            [PUSHCLI, "send", "--token", device.token, "--topic", TOPIC, "--title", "x", "--gateway", address, "--state", gateway.state],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        other.setblocking(False)

        def hangs_up():
            with suppress(BlockingIOError):
                while True:
                    other.accept()[0].close()
            return sender.poll() is not None

        wait_for(hangs_up, "the sender gives up", Readable(other), sender)
        out, err = sender.communicate()
    assert sender.returncode == 6 and err.startswith(f"pushcli: {address}") and len(err.splitlines()) == 1, err


class Cutter(threading.Thread):
    """Stands between a sender and a gateway; cuts the first connection when the answer to its push is on its way."""

    def __init__(self, gateway, is_stored):
        super().__init__(daemon=True)
        self.gateway, self.is_stored, self.cut = gateway, is_stored, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.start()

    def run(self):
        while True:
            try:
                near = self.listener.accept()[0]
            except OSError:
                return
            with near, socket.create_connection((self.gateway.host, self.gateway.port)) as far:
                self.forward(near, far)

    def forward(self, near, far):
        while True:
            for source in select.select([near, far], [], [])[0]:
                try:
                    data = source.recv(65536)
                except ConnectionResetError:
                    return
                if not data:
                    return
                # The answer comes only when the push is stored, so before that it can't be among the bytes.
                if source is far and not self.cut and self.is_stored():
                    self.cut += 1
                    return
                (far if source is near else near).sendall(data)


def test_a_push_whose_answer_was_lost_is_sent_again_and_delivered_once(gateway, device):
    cutter = Cutter(gateway, lambda: gateway.waiting(device) > 0)
    done = send(gateway, "--token", device.token, "--topic", TOPIC, "--title", "x", "--gateway", cutter.address, "--json")
    cutter.listener.close()
    assert cutter.cut == 1
    assert done.code == 0 and done.json["status"] == 200
    stream = gateway.stream(device)
    assert [push["id"] for push in stream.caught_up()] == [done.json["apns_id"]]
    stream.connection.close()


def test_a_gateway_that_listens_everywhere_is_reached_on_its_own_machine(start):
    gateway = start(listen="0.0.0.0:0")
    device = gateway.device()
    assert (gateway.state / "listening").read_text().startswith("0.0.0.0:")
    gateway.run("send", "--to", f"{device.name}/{TOPIC}", "Hello")
    assert gateway.run("subscribe", "--device", device.name, "--json", "--once").json["type"] == "push"
    assert "answers at" in gateway.run("doctor").out


def test_a_gateway_of_another_authority_is_not_trusted(start, gateway, device):
    other = start()
    done = send(gateway, "--token", device.token, "--topic", TOPIC, "--title", "x", "--gateway", other.address)
    assert_fails(done, 6, "not trusted", "--ca")


def test_wait_ends_when_the_push_is_acknowledged(gateway, device, subscribe):
    subscriber = subscribe(gateway, device, "--once")
    # The default of --timeout is less than a busy machine may take to connect the device.
    waits = ("--wait", "acknowledged", "--timeout", f"{HANG}s")
    done = send(gateway, "--to", f"{device.name}/{TOPIC}", "--title", "x", *waits, "--json")
    assert done.code == 0 and done.json["status"] == 200
    assert subscriber.wait() == 0


def test_wait_that_is_in_vain_is_7(gateway, device):
    done = send(gateway, "--to", f"{device.name}/{TOPIC}", "--title", "x", "--wait", "viewed", "--timeout", "0.3")
    assert done.code == 7 and "not viewed" in done.err.splitlines()[-1]


def test_wait_for_a_push_that_is_dropped_is_3(gateway, device):
    done = send(gateway, "--to", f"{device.name}/{TOPIC}", "--title", "x", "--expires", "0", "--wait", "acknowledged")
    assert done.code == 3 and "dropped" in done.err.splitlines()[-1]


@pytest.mark.parametrize("suffix, options, code", [
    ("", (), 0), (".voip", (), 0), (".push-type.liveactivity", (), 0), (".voip-ptt", (), 0),
    (".voip", ("--push-type", "alert"), 5),
])
def test_the_push_type_is_what_the_topics_suffix_says(start, suffix, options, code):
    # A strict gateway refuses what does not fit.
    gateway = start("--push-type-check", "strict")
    device = gateway.device()
    gateway.run("send", "--token", device.token, "--topic", TOPIC + suffix, "--title", "Hello", *options, code=code)


def test_wait_for_a_push_that_is_suppressed_is_3(gateway, device, subscribe):
    gateway.run("prefs", "set", "--device", device.name, "notifications=off")
    subscribe(gateway, device, "--once")
    done = send(gateway, "--to", f"{device.name}/{TOPIC}", "--title", "x", "--wait", "acknowledged")
    assert done.code == 3 and "nothing of the push can be shown: rule N4: " in done.err.splitlines()[-1]
    assert "accepted" not in done.err


# Receiving


def test_subscribe_enrolls_a_device_that_is_new(gateway, subscribe):
    from gateway import Device

    subscriber = subscribe(gateway, Device("fresh", "", ""), "--enroll", "--app", TOPIC, "--once")
    subscriber.connected()
    assert send(gateway, "--to", f"fresh/{TOPIC}", "--title", "x").code == 0
    assert subscriber.wait() == 0
    assert subscriber.lines[0]["presentation"]["alert"]["title"] == "x"


def test_an_acknowledgement_that_a_hung_gateway_has_not_read_is_reported(start):
    gateway = start()
    device = gateway.device()
    gateway.accepted(device.token)
    # The gateway stops between the push and its acknowledgement.
    command = f"kill -STOP {gateway.process.pid}"
    try:
        done = run("subscribe", "--device", device.name, "--plain", "--once", "--exec", command, state=gateway.state)
    finally:
        gateway.process.send_signal(signal.SIGCONT)
    assert done.code == 0 and "the gateway has not confirmed the last acknowledgement" in done.err
    gateway.accepted(device.token, b'{"aps":{"alert":{"title":"Second"}}}')
    [push] = gateway.run("subscribe", "--device", device.name, "--json", "--once").records
    assert push["presentation"]["alert"]["title"] == "Second"
    gateway.when(lambda: gateway.waiting(device) == 0, "both pushes are acknowledged")


def test_subscribe_interrupted_is_130(gateway, device, subscribe):
    for number in [signal.SIGINT, signal.SIGTERM]:
        subscriber = subscribe(gateway, device)
        subscriber.connected()
        subscriber.process.send_signal(number)
        assert subscriber.wait() == 130


def test_a_reader_that_leaves_ends_subscribe_quietly(gateway, device):
    subscriber = subprocess.Popen(
        [PUSHCLI, "subscribe", "--state", gateway.state, "--device", device.name, "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    first = gateway.accepted(device.token)
    assert json.loads(subscriber.stdout.readline())["id"] == first
    subscriber.stdout.close()
    # It learns that its reader has gone when it has something to say.
    second = gateway.accepted(device.token)
    assert subscriber.wait() == 0
    assert subscriber.stderr.read() == "pushcli: connected to pushgateway\n"
    # What nobody read was not acknowledged.
    [push] = gateway.run("subscribe", "--device", device.name, "--json", "--once").records
    assert push["id"] == second


def test_credentials_that_are_damaged_are_said(gateway, device):
    (gateway.state / "devices" / f"{device.name}.json").write_text("{")
    assert_fails(run("subscribe", "--device", device.name, "--once", state=gateway.state), 1, "damaged", f"{device.name}.json")


def test_a_device_of_another_gateway_is_3(start, gateway):
    """Its secret is unknown here: trying again for ever helps nobody."""
    other = start()
    device = other.device()
    shutil.copy(other.state / "devices" / f"{device.name}.json", gateway.state / "devices")
    done = run("subscribe", "--device", device.name, "--once", state=gateway.state)
    assert done.code == 3 and "does not know this device" in done.err


def test_log_follows(gateway, device):
    follower = subprocess.Popen(
        [PUSHCLI, "log", "--follow", "--json", "--device", device.name, "--state", gateway.state], stdout=subprocess.PIPE, text=True)
    try:
        apns_id = gateway.accepted(device.token)
        events = [json.loads(follower.stdout.readline()) for _ in range(2)]
        assert [(event["event"], event["id"]) for event in events] == [("accepted", apns_id), ("stored", apns_id)]
    finally:
        follower.kill()
        follower.wait()


@pytest.mark.parametrize("since", ["soon", "10", "-5m", "m"])
def test_a_time_that_is_none_is_usage(gateway, since):
    assert_fails(run("log", "--since=" + since, state=gateway.state), 2, "30s")


def test_log_since_leaves_out_what_is_older(gateway, device):
    apns_id = gateway.accepted(device.token)
    gateway.events(apns_id, "stored")
    assert len(gateway.run("log", apns_id, "--since", "1h", "--json").records) == 2
    assert gateway.run("log", apns_id, "--since", "0s", "--json").records == []
