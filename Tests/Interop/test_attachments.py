"""Attachments of messages: what curl sends with -F and -T, and what devices of its recipients read."""

import json
import subprocess
import uuid

import pytest

from gateway import PUSHCLI, TOPIC, run
from test_senders import Sender
from test_testmode import start as start_test_gateway  # noqa: F401
from waiting import HANG

LIMIT = 1 << 20


@pytest.fixture
def address(gateway):
    """The address of HTTP/1.1."""
    return (gateway.state / "http-listening").read_text().split()[0]


@pytest.fixture
def sender(gateway, device):
    return Sender(gateway, device.name)


@pytest.fixture
def file(tmp_path):
    """Makes a file and returns its path."""
    def make(name, content=b"done\n"):
        path = tmp_path / name
        path.write_bytes(content)
        return path
    return make


def references(gateway, device):
    """The descriptions of attachments in the pending pushes of a device."""
    stream = gateway.stream(device)
    lines = [line for line in stream.caught_up() if line["type"] == "push"]
    stream.connection.close()
    return [line["payload"]["attachment"] for line in lines if "attachment" in line["payload"]]


def read(connection, device, id):
    return connection.request(
        "GET", f"/v1/device/attachments/{id}", [("authorization", f"bearer {device.secret}")])


def test_curl_sends_a_file_and_only_the_recipient_reads_it(gateway, device, sender, connection, file):
    content = bytes(range(256)) * 400
    path = file("report.txt", content)
    status, _, answer = sender.curl("-F", "title=Backup", "-F", "body=done", "-F", f"attachment=@{path}")
    assert status == 200, answer
    [reference] = references(gateway, device)
    assert (reference["name"], reference["type"], reference["size"]) == ("report.txt", "text/plain", len(content))
    answer = read(connection, device, reference["id"])
    assert (answer.status, bytes(answer.body)) == (200, content)
    assert answer["content-type"] == "text/plain" and answer["x-content-type-options"] == "nosniff"
    assert answer["content-disposition"].startswith('attachment; filename="report.txt"')
    assert read(connection, gateway.device(), reference["id"]).status == 404
    assert read(connection, device, uuid.uuid4().hex).status == 404
    assert connection.request("GET", f"/v1/device/attachments/{reference['id']}").status == 401


def test_the_command_writes_it_and_replaces_no_file(gateway, device, sender, file, tmp_path):
    sender.curl("-F", f"attachment=@{file('a.bin', b'abc')}")
    [reference] = references(gateway, device)
    written, options = tmp_path / "written", ["--device", device.name]
    gateway.run("attachment", reference["id"], "--output", written, *options)
    assert written.read_bytes() == b"abc" and written.stat().st_mode & 0o777 == 0o600
    refused = gateway.run("attachment", reference["id"], "--output", written, *options, code=1)
    assert "--force" in refused.err and "\n" not in refused.err.strip()
    gateway.run("attachment", reference["id"], "--output", written, "--force", *options)
    assert gateway.run("attachment", reference["id"], *options).out == "abc"
    assert gateway.run("attachment", uuid.uuid4().hex, *options, code=3).err
    assert gateway.run("attachment", "../device", *options, code=2).err


@pytest.mark.parametrize("name, expected", [
    ("../../etc/passwd", "passwd"), ("C:\\\\temp\\\\a.txt", "a.txt"), ("a\\\"b.txt", 'a"b.txt'), (".bashrc", "bashrc"),
    ("x" * 200 + ".txt", "x" * 124 + ".txt"), ("\u202etxt.exe", "txt.exe"), ("\u001b[2J", "[2J"), ("..", "attachment"),
    ("\u00e4 \U0001f4f0.txt", "\u00e4 \U0001f4f0.txt"),
])
def test_a_hostile_name_is_made_safe(gateway, device, sender, connection, file, name, expected):
    status, _, answer = sender.curl("-F", f'attachment=@{file("content")};filename="{name}";type=text/html')
    assert status == 200, answer
    [reference] = references(gateway, device)
    assert (reference["name"], reference["type"]) in [(expected, "application/octet-stream"), (expected, "text/plain")]
    disposition = read(connection, device, reference["id"])["content-disposition"]
    assert disposition.startswith("attachment; filename=") and disposition.isascii() and "\n" not in disposition


def test_a_file_has_at_most_one_mebibyte(gateway, device, sender, file):
    assert sender.curl("-F", f"attachment=@{file('fits', b'x' * LIMIT)}")[0] == 200
    for size in (LIMIT + 1, 3 * LIMIT):
        status, _, answer = sender.curl("-F", f"attachment=@{file('large', b'x' * size)}")
        assert (status, answer["reason"]) == (413, "AttachmentTooLarge") and "\n" not in answer["message"]
    assert sender.curl("-F", f"attachment=@{file('large', b'x' * 100_000)}", token="pgs-WRONG")[0] == 401
    assert gateway.waiting(device) == 1


def test_mistakes_of_a_form_are_named(sender, file):
    path = file("a.txt")
    for options, words in [
        (["-F", f"file=@{path}"], "attachment"), (["-F", "attachment=x"], "attachment=@"),
        (["-F", f"attachment=@{path}", "-F", f"attachment=@{path}"], "one attachment"), (["-F", "titel=x"], "titel"),
        (["-H", "content-type: multipart/form-data; boundary=b", "--data-binary", "--b"], "boundary"),
    ]:
        status, _, answer = sender.curl(*options)
        assert status == 400 and words in answer["message"] and "\n" not in answer["message"], answer


def test_ntfy_sends_a_file_as_the_body(gateway, device, sender, connection, file):
    url = f"https://{gateway.address}/ntfy/{sender.name}"
    done = subprocess.run(
        ["curl", "-sS", "--cacert", gateway.trust, "-H", f"authorization: bearer {sender.token}", "-H", "filename: a.png",
         "-H", "message: Look", "-T", file("content", b"\x89PNG" + b"x" * 50_000), url], capture_output=True, timeout=HANG)
    answer = json.loads(done.stdout)
    assert answer["message"] == "Look", done
    [reference] = references(gateway, device)
    assert (reference["name"], reference["type"], reference["size"]) == ("a.png", "image/png", 50_004)
    # The recipient reads the path in the answer.
    assert answer["attachment"] == {
        "name": "a.png", "type": "image/png", "size": 50_004, "expires": answer["time"] + 86_400,
        "url": f"/v1/device/attachments/{reference['id']}"}
    assert read(connection, device, answer["attachment"]["url"].rpartition("/")[2]).status == 200


def test_a_device_that_is_removed_takes_its_attachments(gateway, device, sender, connection, file):
    group_mate = gateway.device()
    both = Sender(gateway, device.name, group_mate.name)
    both.curl("-F", f"attachment=@{file('a')}")
    [reference] = references(gateway, group_mate)
    gateway.run("devices", "remove", device.name)
    assert read(connection, group_mate, reference["id"]).status == 200
    assert read(connection, device, reference["id"]).status == 401


def test_after_a_day_it_is_gone(start_test_gateway, file):  # noqa: F811
    server = start_test_gateway()
    state = server.ready["state"]
    for words in [("apps", "add", TOPIC, "--name", "News"), ("devices", "enroll", "me"), ("devices", "register", "me", TOPIC)]:
        assert run(*words, state=state).code == 0, words
    token = run("senders", "add", "backup", "--app", TOPIC, "--to", "me", state=state).out.strip()
    sent = subprocess.run(
        ["curl", "-sS", "--cacert", server.ready["ca"], "-H", f"authorization: bearer {token}", "-F",
         f"attachment=@{file('a.txt')}", f"{server.ready['apns']}/send/backup"], capture_output=True, timeout=HANG)
    assert "recipients" in json.loads(sent.stdout), sent
    with subprocess.Popen(
            [PUSHCLI, "subscribe", "--device", "me", "--json", "--state", state], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE) as subscriber:
        push = next(line for line in map(json.loads, subscriber.stdout) if line.get("type") == "push")
        subscriber.terminate()
    id = push["payload"]["attachment"]["id"]
    assert run("attachment", id, "--device", "me", state=state).out == "done\n"
    assert server.call("POST", "/clock", {"advance": "24h"})[0] == 200
    assert run("attachment", id, "--device", "me", state=state).code == 3


def test_a_file_over_http_1_1(gateway, device, sender, file, address):
    done = subprocess.run(
        ["curl", "-sS", "-H", f"authorization: bearer {sender.token}", "-F", f"attachment=@{file('a.txt', b'x' * 200_000)}",
         f"http://{address}/send/{sender.name}"], capture_output=True, timeout=HANG)
    assert "recipients" in json.loads(done.stdout), done
    assert [reference["size"] for reference in references(gateway, device)] == [200_000]
