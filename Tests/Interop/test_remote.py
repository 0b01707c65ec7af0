"""Administration from another machine: a token, a role, and every command as on the gateway's own machine."""

import os
from pathlib import Path

import pytest
from gateway import TOPIC, Gateway
from machines import machine  # noqa: F401
from screen import Screen, needs_tmux
from waiting import HANG

ROLES = ["reader", "operator", "admin"]

#: What each command that speaks to the admin API takes: the least role, and the command. `{…}` are names that are there.
COMMANDS = [
    ("reader", "devices"), ("reader", "persons"), ("reader", "apps"), ("reader", "teams"), ("reader", "keys"),
    ("reader", "certs"), ("reader", "channels list --app {topic}"), ("reader", "faults"), ("reader", "faults connections"),
    ("reader", "scheduled"), ("reader", "log --limit 5"), ("reader", "prefs --device {device}"),
    ("reader", "policy explain --device {device} --topic {topic} {payload}"),
    ("reader", "policy replay --device {device} --since 1h"), ("reader", "metrics"), ("reader", "admin audit"),
    ("reader", "senders"), ("admin", "senders add s{n} --app {topic} --to desk"), ("admin", "senders rotate s{n}"),
    ("operator", "expect late-{n} --every 1h"), ("reader", "expect list"), ("operator", "expect remove late-{n}"),
    ("admin", "senders remove s{n}"), ("reader", "hooks"), ("operator", "hooks test alerts {alert}"),
    ("admin", "hooks add h{n} --kind gitlab --app {topic} --to desk"), ("admin", "hooks rotate h{n}"),
    ("admin", "hooks remove h{n}"),
    ("admin", "event-targets add e{n} --url http://127.0.0.1:9/"), ("admin", "event-targets"),
    ("admin", "event-targets rotate e{n}"), ("admin", "event-targets resume e{n}"), ("admin", "event-targets remove e{n}"),
    ("reader", "admin tokens"), ("reader", "admin log-level"), ("reader", "apps category {topic}"),
    ("operator", "ads"), ("reader", "ads standing"), ("admin", "ads appeal {topic}"), ("reader", "prefs advise --device {device}"),
    ("operator", "prefs set --device {device} sound=on"),
    ("operator", "apps add com.example.remote --name Remote --team {team}"),
    ("operator", "apps set {topic} --name News"), ("operator", "teams add TEAM00000{n}"),
    ("operator", "devices register {device} com.example.remote"),
    ("operator", "devices unregister {device} com.example.remote"), ("operator", "persons rename {device} {device}-{n}"),
    ("operator", "channels enable {topic}"), ("operator", "faults add slow --delay 1ms --rate 0.5"),
    ("operator", "faults remove --all"), ("operator", "admin reload"), ("operator", "admin log-level info"),
    ("operator", "admin compact"), ("operator", "groups add crew{n} {person}"), ("admin", "groups remove crew{n}"),
    ("admin", "open --person {person}"),
    ("reader", "devices invitations"), ("admin", "devices invite --host localhost"), ("admin", "devices enroll made-{n}"),
    ("admin", "devices rotate made-{n}"), ("admin", "devices remove made-{n}"), ("admin", "persons remove gone-{n}"),
    ("admin", "keys create --team {team} --out {out}"), ("admin", "certs create --topic {topic} --out {out}/c{n}"),
    ("admin", "certs create-server --name localhost --out {out}/s{n}"), ("admin", "admin tokens create t{n} --role reader"),
    ("admin", "admin tokens remove t{n}"), ("admin", "admin backup {out}/backup-{n}"),
]


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    """A gateway that lets itself be administered from elsewhere."""
    folder = tmp_path_factory.mktemp("office")
    gateway = Gateway(folder / "state", "--remote-admin", "on", "--enrollment", "invitation").start()
    gateway.device(name="desk", person="ada")
    gateway.run("hooks", "add", "alerts", "--kind", "alertmanager", "--app", TOPIC, "--to", "desk")
    (folder / "payload.json").write_text('{"aps":{"alert":"Hello"}}')
    yield gateway
    gateway.stop()


def login(gateway, machine, role, *options):
    token = gateway.run("admin", "tokens", "create", f"{machine.name}-{role}", "--role", role).out.strip()
    machine.run("login", f"localhost:{gateway.port}", *options, stdin=token + "\n")
    return token


@pytest.mark.parametrize("role", ROLES)
def test_each_role_does_what_it_may_and_nothing_else(office, machine, role):
    laptop = machine("laptop")
    login(office, laptop, role)
    office.device(name=f"of-{role}", person=f"of-{role}")
    office.run("devices", "enroll", f"gone-{ROLES.index(role)}")
    office.run("senders", "add", f"late-{ROLES.index(role)}", "--app", TOPIC, "--to", "desk")
    names = {"topic": TOPIC, "device": f"of-{role}", "team": office.key.team_id, "n": ROLES.index(role), "person": "ada",
             "payload": office.state.parent / "payload.json", "out": laptop.home,
             "alert": Path(__file__).parents[1] / "Webhooks/alertmanager-firing.json"}
    wrong = []
    for least, command in COMMANDS:
        done = laptop.try_run(*command.format(**names).split())
        if ROLES.index(role) >= ROLES.index(least):
            if done.code != 0:
                wrong.append((command, done.code, done.err))
        elif done.code != 4 or not any(words in done.err for words in [f"expected {least}", "needs an invitation"]):
            wrong.append((command, done.code, done.err))
    assert not wrong


def test_the_audit_tells_who_did_it(office, machine):
    laptop = machine("auditor")
    login(office, laptop, "operator")
    laptop.run("prefs", "set", "--device", "desk", "sound=off")
    laptop.run("keys", "create", "--team", office.key.team_id, code=4)
    records = [row for row in office.run("admin", "audit", "--json").records if row.get("who", "").startswith("auditor-operator")]
    assert [(row["status"], row["path"]) for row in records] == [
        (200, "/admin/v1/devices/desk/preferences"), (403, "/admin/v1/keys")]


def test_what_waits_for_a_push_works_from_there(office, machine, subscribe):
    laptop = machine("waiter")
    login(office, laptop, "operator")
    device = office.device(name="couch", person="bob")
    subscribe(office, device).connected()
    key = ["--key", office.key.path, "--team", office.key.team_id]
    assert laptop.run("send", "--to", f"couch/{TOPIC}", *key, "--wait", "acknowledged", "Hello.").code == 0
    assert laptop.run("send", "--token", device.token, "--topic", TOPIC, *key, "Hello.").code == 0


@needs_tmux
def test_a_question_from_another_machine_is_answered_on_a_phone(office, machine):
    laptop, phone = machine("asker"), machine("answerer")
    login(office, laptop, "operator")
    phone.join(office, person="cat", device="cats-phone")
    office.register("cats-phone", TOPIC)
    screen = Screen(phone.line("subscribe"))
    try:
        screen.shows("News")
        asking = laptop.begin("ask", "--to", f"cats-phone/{TOPIC}", "--title", "Lunch?", "--action", "yes=Yes", "--key",
                              office.key.path, "--team", office.key.team_id, "--timeout", f"{HANG}s")
        screen.shows("Lunch?", "Yes")
        screen.press("Enter")
        out, err = asking.communicate(timeout=HANG)
        assert (asking.returncode, out.strip()) == (0, "yes"), err
    finally:
        screen.close()


def test_a_token_that_was_taken_back_is_good_no_longer(office, machine):
    laptop = machine("former")
    login(office, laptop, "reader")
    laptop.run("devices")
    office.run("admin", "tokens", "remove", "former-reader")
    assert "admin tokens create" in laptop.run("devices", code=4).err


def test_administration_from_elsewhere_is_off_unless_it_is_set(gateway, machine):
    laptop = machine("laptop")
    token = gateway.run("admin", "tokens", "create", "anna", "--role", "admin").out.strip()
    refused = laptop.run("login", f"localhost:{gateway.port}", stdin=token + "\n", code=4).err
    assert "remote_admin" in refused
    assert laptop.run("contexts", "--json").records[-1]["name"] == "local"


def test_a_token_is_shown_to_its_own_gateway_alone(office, gateway, machine):
    token = office.run("admin", "tokens", "create", "stranger", "--role", "admin").out.strip()
    refused = machine("laptop").run("login", f"localhost:{gateway.port}", stdin=token + "\n", code=6).err
    assert "Nothing was sent" in refused
    for wrong in ["", "pga-", "hunter2"]:
        machine(f"laptop-{len(wrong)}").run("login", f"localhost:{office.port}", stdin=wrong + "\n", code=2)


def test_an_invited_operator_needs_no_token(office, machine):
    laptop = machine("operator")
    laptop.join(office, device="operators", person="olga", role="operator")
    laptop.run("devices")
    laptop.run("admin", "reload")
    assert "expected admin" in laptop.run("keys", "create", "--team", office.key.team_id, code=4).err
    who = {row.get("who") for row in office.run("admin", "audit", "--json").records}
    assert any(name and name.startswith("operators") for name in who)


def test_the_token_is_in_no_argument_and_kept_for_the_user_alone(office, machine):
    laptop = machine("keeper")
    token = login(office, laptop, "reader")
    files = [path for path in (laptop.home / ".local").rglob("*") if path.is_file() and token in path.read_text()]
    assert [path.name for path in files] == ["login.json"]
    assert os.stat(files[0]).st_mode & 0o077 == 0
    audit = office.run("admin", "audit", "--json").out
    assert token not in audit
    assert token.encode() not in b"".join(path.read_bytes() for path in office.state.iterdir() if path.is_file())


def test_the_log_is_followed_from_there(start, machine):
    gateway = start("--remote-admin", "on")
    laptop = machine("follower")
    login(gateway, laptop, "reader")
    gateway.device(name="desk")
    following = laptop.begin("log", "--follow", "--json")
    try:
        gateway.run("send", "--to", f"desk/{TOPIC}", "First.")
        assert '"accepted"' in following.stdout.readline()
    finally:
        following.terminate()
        following.communicate()
