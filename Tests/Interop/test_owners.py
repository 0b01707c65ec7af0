"""Everything has an owner: whose word counts, whose key reaches which app, who may become whom (docs/reference/access.md)."""

import contextlib
import json
import os
import sqlite3
import subprocess
import time
import uuid

import pytest

from gateway import PUSHCLI, TOPIC, Device, run
from waiting import HANG

QUESTION = {"aps": {"alert": {"title": "Deploy?"}, "category": "DEPLOY"}}


# What a device says of pushes


def ask(gateway, device, topic, *options):
    return subprocess.Popen(
        [PUSHCLI, "ask", "--state", str(gateway.state), "--to", f"{device.name}/{topic}", "--title", "Deploy?",
         "--action", "approve=Approve", "--action", "reject=Reject!", *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_strangers_answer_does_not_open_the_gate(gateway):
    topic = gateway.app()
    me, mine = gateway.device(topic, person="ada"), gateway.device(topic, person="ada")
    mallory = gateway.device(topic)
    stream, other, strange = gateway.stream(me), gateway.stream(mine), gateway.stream(mallory)
    for each in [stream, other, strange]:
        each.caught_up()
    process = ask(gateway, me, topic, "--timeout", f"{HANG}s")
    question = stream.next("push")["id"]
    for each in [strange, other]:
        each.say(type="answer", id=question, action="approve")
        # It is told that there is nothing to answer, and so need not say it again.
        # A push that is sent before this line came may be delivered before it.
        assert each.next("answered") == {"type": "answered", "id": question}
        # Lines are handled in their order: when this push is answered, the one before was looked at.
        device = mallory if each is strange else mine
        apns_id = gateway.accepted(device.token, topic=topic)
        assert each.next("push")["id"] == apns_id
        each.say(type="answer", id=apns_id, action="view")
        gateway.events(apns_id, "viewed")
        assert process.poll() is None
    stream.say(type="answer", id=question, action="something")
    stream.say(type="answer", id=question, action="reject")
    out, _ = process.communicate(timeout=HANG)
    assert (process.returncode, out.strip()) == (11, "reject")
    answers = [event["device"] for event in gateway.events(question) if event["event"] == "action"]
    assert answers == [me.name]


def test_send_with_wait_believes_the_device_that_it_went_to(gateway):
    me, mallory = gateway.device(), gateway.device()
    apns_id = str(uuid.uuid4())
    # The same id for both: each speaks for itself.
    strange = gateway.stream(mallory)
    strange.caught_up()
    waiting = subprocess.Popen(
        [PUSHCLI, "send", "--state", str(gateway.state), "--to", f"{me.name}/{TOPIC}", "--title", "x", "--id", apns_id,
         "--wait", "viewed", "--timeout", f"{HANG}s"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    gateway.events(apns_id, "stored")
    gateway.accepted(mallory.token, apns_id=apns_id)
    assert strange.next("push")["id"] == apns_id
    strange.say(type="answer", id=apns_id, action="view")
    gateway.events(apns_id, "viewed")
    assert waiting.poll() is None
    stream = gateway.stream(me)
    stream.caught_up()
    stream.say(type="answer", id=apns_id, action="view")
    waiting.communicate(timeout=HANG)
    assert waiting.returncode == 0


@pytest.mark.parametrize("acknowledges", [True, False])
def test_an_answer_is_believed_after_the_gateway_was_started_again(start, acknowledges):
    gateway = start()
    gateway.run("apps", "category", TOPIC, "DEPLOY", "--action", "approve=Approve")
    me, mallory = gateway.device(), gateway.device()
    stream = gateway.stream(me)
    stream.caught_up()
    apns_id = gateway.accepted(me.token, QUESTION)
    push = stream.next("push")
    if acknowledges:
        stream.acknowledge(push["seq"])
        gateway.events(apns_id, "acknowledged")
    gateway.stop()
    gateway.restart()
    strange = gateway.stream(mallory)
    strange.caught_up()
    strange.say(type="answer", id=apns_id, action="approve")
    stream = gateway.stream(me, cursor=push["seq"])
    stream.caught_up()
    stream.say(type="answer", id=apns_id, action="reject")
    stream.say(type="answer", id=apns_id, action="approve")
    [answer] = [event for event in gateway.events(apns_id, "action") if event["event"] == "action"]
    assert (answer["device"], answer["detail"], answer["topic"]) == (me.name, "approve", TOPIC)


# Whose key reaches which app


def test_a_key_reaches_the_apps_of_its_team(start):
    gateway = start()
    device = gateway.device()
    gateway.add_team("OTHERTEAM1")
    other = gateway.new_key(team="OTHERTEAM1")
    for body in [{"aps": {"badge": 1}}, b"nonsense"]:
        response = gateway.push(device.token, body, key=other)
        assert (response.status, response.reason) == (400, "TopicDisallowed")
    with gateway.connect() as connection:
        fields = [("authorization", gateway.bearer(other))]
        response = connection.request("GET", f"/1/apps/{TOPIC}/all-channels", fields)
        assert (response.status, response.reason) == (403, "TopicMismatch")
    refused = gateway.run("apps", "add", "com.example.shop", "--name", "Shop", code=2)
    assert "--team" in refused.err and "OTHERTEAM1" in refused.err
    gateway.run("apps", "add", "com.example.shop", "--name", "Shop", "--team", "OTHERTEAM1")
    token = gateway.register(device.name, "com.example.shop")
    assert gateway.push(token, key=other, topic="com.example.shop").status == 200
    assert gateway.push(token, topic="com.example.shop").status == 400
    gateway.run("apps", "set", TOPIC, "--team", "OTHERTEAM1")
    assert gateway.push(device.token, key=other).status == 200
    teams = {app["topic"]: app["team_id"] for app in gateway.run("apps", "--json").records}
    assert teams == {TOPIC: "OTHERTEAM1", "com.example.shop": "OTHERTEAM1"}
    assert "any team" not in gateway.run("apps").err


def test_apps_without_a_team_are_open_and_everybody_says_so(start):
    """As from a version before, where there were several teams: nothing is refused that was accepted then."""
    gateway = start()
    device = gateway.device()
    gateway.add_team("OTHERTEAM1")
    other = gateway.new_key(team="OTHERTEAM1")
    gateway.stop()
    with contextlib.closing(sqlite3.connect(gateway.state / "pushgateway.sqlite")) as database:
        database.execute("UPDATE app SET team = NULL")
        database.commit()
    gateway.start()
    assert gateway.push(device.token, key=other).status == gateway.push(device.token).status == 200
    gateway.until_logged(lambda: TOPIC in gateway.log and "apps set TOPIC --team" in gateway.log, "the apps are named")
    assert "apps set TOPIC --team" in gateway.run("apps").err
    [finding] = [record for record in gateway.run("doctor", "--json").records if record["check"] == "apps"]
    assert finding["state"] == "warning" and TOPIC in finding["words"]
    gateway.run("apps", "set", TOPIC, "--team", gateway.key.team_id)
    assert gateway.push(device.token, key=other).status == 400
    [finding] = [record for record in gateway.run("doctor", "--json").records if record["check"] == "apps"]
    assert finding["state"] == "ok"


# Who may become whom


def enroll(gateway, body, connection=None):
    with gateway.connect() as connection:
        return connection.request("POST", "/v1/devices", [], json.dumps(body).encode())


def test_a_program_on_this_machine_enrolls_new_persons_only(start):
    gateway = start()
    gateway.enroll("phone", "ada")
    for body in [{"name": "evil", "person": "ada"}, {"name": "ada"}]:
        response = enroll(gateway, body)
        assert response.status == 403 and "invite" in response.json["detail"]
    assert enroll(gateway, {"name": "bob"}).status == 201
    code = gateway.run("devices", "invite", "--person", "ada").out.strip()
    assert enroll(gateway, {"name": "laptop", "person": "bob", "invitation": code}).status == 403
    # As somebody types it who heard it on the telephone.
    heard = code.lower().replace("-", " ").replace("0", "o")
    assert enroll(gateway, {"name": "laptop", "invitation": heard}).status == 201
    assert enroll(gateway, {"name": "tablet", "invitation": code}).status == 403
    owners = {device["name"]: device["person"] for device in gateway.devices()}
    assert owners == {"phone": "ada", "laptop": "ada", "bob": "bob"}


def test_invitations_are_listed_and_taken_back(start):
    gateway = start()
    made = gateway.run("devices", "invite", "--person", "ada", "--role", "reader", "--minutes", "5", "--json").json
    assert set(made) == {"invitation", "id", "person", "role", "expires", "join"}
    [listed] = gateway.run("devices", "invitations", "--json").records
    assert listed == {key: made[key] for key in ["id", "person", "role", "expires"]} | {"uses": 1}
    assert made["id"] in gateway.run("devices", "invitations").out
    gateway.run("devices", "uninvite", made["id"])
    gateway.run("devices", "uninvite", made["id"], code=3)
    assert gateway.run("devices", "invitations", "--json").records == []
    assert enroll(gateway, {"name": "laptop", "invitation": made["invitation"]}).status == 403
    gateway.run("devices", "invite", "--role", "provider", code=2)


@pytest.mark.parametrize(
    ("options", "listen", "effective", "status"),
    [((), "127.0.0.1:0", "open-on-loopback", 201), ((), "0.0.0.0:0", "invitation", 403),
     (("--enrollment", "open-on-loopback"), "0.0.0.0:0", "open-on-loopback", 201),
     (("--enrollment", "invitation"), "127.0.0.1:0", "invitation", 403),
     (("--enrollment", "admin"), "127.0.0.1:0", "admin", 403)])
def test_who_may_enroll_is_a_setting(start, options, listen, effective, status):
    gateway = start(*options, listen=listen)
    done = run("serve", "--check", "--json", "--listen", listen, *options, state=gateway.state)
    assert [row["value"] for row in done.records if row["name"] == "enrollment"] == [effective]
    # Its certificate is for this address and no other.
    gateway.addresses = [["127.0.0.1", str(gateway.port)]]
    assert enroll(gateway, {"name": "phone"}).status == status
    code = gateway.run("devices", "invite").out.strip()
    assert enroll(gateway, {"name": "laptop", "invitation": code}).status == (403 if effective == "admin" else 201)
    # The administrator may always.
    gateway.enroll("tablet")


# What ends


@pytest.mark.parametrize("command", [("devices", "remove", "me"), ("persons", "remove", "ada")])
def test_a_device_that_is_removed_is_told_and_stays_away(start, subscribe, command):
    gateway = start()
    gateway.enroll("me", "ada")
    token = gateway.register("me", TOPIC)
    subscriber = subscribe(gateway, Device("me", "", token))
    subscriber.connected()
    gateway.run(*command)
    assert subscriber.wait() == 3
    assert "revoked" in subscriber.words and "does not know this device" in subscriber.words
    assert gateway.push(token).status == 410
    assert gateway.devices() == []
    # The name is free, and begins anew.
    gateway.enroll("me")
    apns_id = gateway.accepted(gateway.register("me", TOPIC))
    [push] = gateway.run("subscribe", "--device", "me", "--json", "--once").records
    assert push["id"] == apns_id and gateway.are_numbered([push], 1)


def test_a_device_of_this_machine_goes_on_with_its_new_secret(start, subscribe):
    gateway = start()
    device = gateway.device(name="me")
    subscriber = subscribe(gateway, device, "--count", 1)
    subscriber.connected()
    rotated = gateway.run("devices", "rotate", "me", "--json").json
    assert rotated["secret"] != device.secret
    with gateway.connect() as connection:
        old = [("authorization", f"bearer {device.secret}")]
        assert connection.request("GET", "/v1/device/preferences", old).status == 401
    apns_id = gateway.accepted(device.token)
    assert subscriber.wait() == 0
    assert [line["id"] for line in subscriber.lines] == [apns_id]
    assert "revoked" in subscriber.words


def test_devices_say_when_they_were_last_connected_also_after_a_restart(start):
    gateway = start()
    device = gateway.device()
    last_seen = lambda: [record.get("last_seen") for record in gateway.devices()]
    assert last_seen() == [None] and "never" in gateway.run("devices").out
    stream = gateway.stream(device)
    stream.caught_up()
    assert last_seen() != [None] and "now" in gateway.run("devices").out
    stream.connection.close()
    gateway.stop()
    gateway.restart()
    assert last_seen() != [None] and "now" not in gateway.run("devices").out


def test_nothing_of_a_person_is_left(start):
    gateway = start()
    device, other = gateway.device(person="ada"), gateway.device(person="bob")
    secret = f"secret-{uuid.uuid4().hex}"
    gateway.prefer(device.name, "badge=off")
    ids = [gateway.accepted(each.token, {"aps": {"alert": secret, "category": secret}}) for each in [device, other]]
    stream = gateway.stream(device)
    stream.caught_up()
    gateway.events(ids[0], "transmitted")
    gateway.events(ids[1], "stored")
    assert "ada" in gateway.run("persons").out
    assert gateway.run("persons", "rename", "ada", "Ada", "--json").json == {"name": "Ada", "devices": [device.name]}
    gateway.run("persons", "rename", "Ada", "bob", code=1)
    gateway.run("persons", "remove", "Ada")
    assert stream.next("bye") == {"type": "bye", "reason": "revoked"}
    stream.connection.close()
    assert gateway.rows(ids[0]) == []
    assert gateway.rows(ids[1]) != []
    assert gateway.run("persons", "--json").records == [{"name": "bob", "devices": [other.name]}]
    gateway.stop()
    gateway.start()
    assert gateway.run("persons", "--json").records == [{"name": "bob", "devices": [other.name]}]
    assert gateway.push(device.token).status == 410
    assert gateway.rows(ids[0]) == []


# The admin socket


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
@pytest.mark.parametrize(("user", "is_served"), [(0, True), (65534, False)])
def test_the_admin_socket_serves_its_own_user_also_where_its_mode_is_wide(start, tmp_path, user, is_served):
    gateway = start()
    path = gateway.state / "admin.sock"
    # A file descriptor leads there, whatever the folders above say.
    folder = os.open(gateway.state, os.O_PATH)
    os.chmod(path, 0o666)
    os.chmod(gateway.state, 0o755)
    talk = (
        "import os, socket, sys; os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))\n"
        "peer = socket.socket(socket.AF_UNIX)\n"
        "peer.connect('/proc/self/fd/' + sys.argv[1] + '/admin.sock')\n"
        "try:\n"
        "  peer.sendall(b'PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n\\0\\0\\0\\4\\0\\0\\0\\0\\0')\n"
        "  print(len(peer.recv(9)))\n"
        "except (BrokenPipeError, ConnectionResetError):\n"
        "  print(0)\n")
    done = subprocess.run(
        ["python3", "-c", talk, str(folder), str(user)], pass_fds=[folder], capture_output=True, text=True)
    os.close(folder)
    assert done.stderr == "" and (done.stdout.strip() != "0") == is_served


def test_a_backup_replaces_nothing_but_a_backup(start, tmp_path):
    gateway = start()
    letter = tmp_path / "letter"
    letter.write_text("dear")
    refused = gateway.run("admin", "backup", letter, code=1)
    assert "is not a backup" in refused.err and letter.read_text() == "dear"
    for _ in range(2):
        gateway.run("admin", "backup", tmp_path / "a.backup")


def test_send_signs_with_a_key_of_the_apps_team(gateway, tmp_path):
    device = gateway.device()
    topic = f"com.example.own{device.name[-6:]}"
    team = "OWN" + uuid.uuid4().hex[:7].upper()
    gateway.run("teams", "add", team)
    gateway.run("apps", "add", topic, "--name", "Own", "--team", team)
    gateway.run("devices", "register", device.name, topic)
    line = ["send", "--to", f"{device.name}/{topic}", "--title", "Hello", "--json"]
    assert f"keys create --team {team}" in gateway.run(*line, cwd=tmp_path, code=4).err
    path = gateway.run("keys", "create", "--team", team, "--out", tmp_path).out.strip()
    assert gateway.run(*line, cwd=tmp_path).json["status"] == 200
    # Elsewhere its name is all that can be said.
    (tmp_path / "away").mkdir()
    assert path.rpartition("/")[2] in gateway.run(*line, cwd=tmp_path / "away", code=4).err


# Apps and teams that are removed


def rows_of_app(gateway, app):
    """How many rows of each table of the database have an app, but for what the mailbox keeps to recognize retries."""
    database = sqlite3.connect(f"file:{gateway.state}/pushgateway.sqlite?mode=ro", uri=True)
    with contextlib.closing(database):
        counts = {}
        for table, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            if "app" not in [column[1] for column in database.execute(f"PRAGMA table_info({table})")]:
                continue
            waits = " AND payload IS NOT NULL" if table == "mailbox" else ""
            [count] = database.execute(f"SELECT count(*) FROM {table} WHERE app = ?{waits}", [app]).fetchone()
            if count:
                counts[table] = count
        return counts


def test_an_app_is_removed_with_everything_that_refers_to_it(gateway, connection):
    topic, person = gateway.app(), f"ada-{uuid.uuid4().hex[:6]}"
    device, former = gateway.device(topic, person=person), gateway.device(topic, person=person)
    kept = gateway.register(device.name, TOPIC)
    with contextlib.closing(sqlite3.connect(f"file:{gateway.state}/pushgateway.sqlite?mode=ro", uri=True)) as database:
        [app] = database.execute("SELECT id FROM app WHERE topic = ?", [topic]).fetchone()
    gateway.admin("DELETE", "devices", former.name)
    gateway.channel(topic, devices=[device])
    gateway.run("apps", "category", topic, "DEPLOY", "--action", "approve=Approve")
    gateway.prefer(device, "badge=off", app=topic)
    group = f"ops-{person[4:]}"
    gateway.admin("POST", "groups", body={"name": group, "members": [person]})
    shared = gateway.admin("POST", "groups", group, "registrations", body={"topic": topic})["token"]
    shown = gateway.accepted(device.token, connection=connection, topic=topic)
    stream = gateway.stream(device)
    stream.caught_up()
    stream.say(type="answer", id=shown, action="view")
    gateway.events(shown, "viewed")
    stream.connection.close()
    gateway.ask("POST", "/v1/device/ads/reports", {"id": shown, "topic": topic, "text": "Ad"}, secret=device.secret)
    taken = gateway.accepted(device.token, connection=connection, topic=topic)
    connection.request("DELETE", f"/v1/pushes/{device.token}/{taken}", gateway.fields(topic=topic))
    for token in (device.token, shared):
        gateway.accepted(token, connection=connection, topic=topic)
    later = int(time.time()) + 3600
    gateway.accepted(device.token, connection=connection, topic=topic, apns_deliver_at=later)
    assert set(rows_of_app(gateway, app)) > {"token", "former_token", "channel", "category", "scheduled", "group_token"}

    refused = gateway.run("apps", "remove", topic, code=1)
    assert f"{topic} has 2 registrations, 1 channel, 1 scheduled push: " in refused.err and "--yes" in refused.err
    gateway.accepted(device.token, connection=connection, topic=topic)
    assert gateway.run("apps", "remove", topic, "--yes", "--json").json == {"removed": topic}
    assert rows_of_app(gateway, app) == {}
    assert topic not in gateway.run("apps").out
    assert topic not in json.dumps(gateway.admin("GET", "devices", device.name, "preferences"))
    for token in (device.token, former.token, shared):
        answer = gateway.push(token, connection=connection, topic=topic)
        assert (answer.status, answer.reason) == (400, "BadDeviceToken")
    assert gateway.push(kept, connection=connection).status == 200
    assert "there is no app" in gateway.run("apps", "remove", topic, code=3).err
    # One of the same name is another one.
    gateway.app(topic)
    assert rows_of_app(gateway, app) == {}
    gateway.run("apps", "remove", topic)


def test_a_team_is_removed_when_it_has_no_keys_and_no_apps(gateway):
    team = gateway.add_team("OUT" + uuid.uuid4().hex[:7].upper())
    key, topic = gateway.new_key(team=team), gateway.app(team=team)
    refused = gateway.run("teams", "remove", team, code=1)
    assert f"team {team} has key {key.key_id}, app {topic}: remove these first" in refused.err
    gateway.run("keys", "remove", key.key_id)
    gateway.run("apps", "remove", topic)
    assert f"removed team {team}" in gateway.run("teams", "remove", team).err
    assert team not in gateway.run("teams").out
    gateway.run("teams", "remove", team, code=3)
