"""A second machine: joined by a code that is told, and then a device like any other. Nothing is copied."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import termios

import pytest
import zxingcpp
from gateway import PUSHCLI, TOPIC, Gateway
from machines import machine, needs_root, network  # noqa: F401
from waiting import HANG, wait_for

CODE = re.compile(r"^[0-9A-Z]{4}(-[0-9A-Z]{4}){3}(-[0-9A-Z]{5}){2}@\S+$")


def invite(gateway, *options, host=None) -> str:
    said = gateway.run("devices", "invite", "--host", host or f"localhost:{gateway.port}", *options).out.strip()
    assert CODE.match(said), said
    return said


def mistyped(invitation, place) -> str:
    other = "X" if invitation[place] != "X" else "Y"
    return invitation[:place] + other + invitation[place + 1:]


@needs_root
def test_a_code_is_all_that_a_machine_across_the_network_needs(tmp_path, network, machine):
    gateway = Gateway(tmp_path / "state", listen="0.0.0.0:0").start()
    laptop = machine("laptop", network)
    invitation = invite(gateway, "--person", "ada", host=network.host)
    joined = laptop.run("join", invitation, "--device", "laptop", "--json").json
    assert joined == {"gateway": f"{network.host}:{gateway.port}", "context": network.host, "device": "laptop",
                      "person": "ada", "role": "device"}
    # Every command of a device.
    receiving = laptop.begin("subscribe", "--app", TOPIC, "--json", "--once")
    assert any("connected to" in line for line in iter(receiving.stderr.readline, ""))
    gateway.run("send", "--to", f"laptop/{TOPIC}", "--title", "Over There", "Hello.")
    out, err = receiving.communicate(timeout=HANG)
    push = json.loads(out)
    assert push["presentation"]["alert"]["title"] == "Over There", err
    assert laptop.run("prefs", "set", "alert=off", "--json").json["alert"] is False
    assert gateway.run("prefs", "--device", "laptop", "--json").json["alert"] is False
    gateway.events(push["id"], "acknowledged")
    rows = [row for row in laptop.run("log", push["id"], "--json").records if row["event"] == "acknowledged"]
    assert rows[0]["device"] == "laptop"
    assert laptop.run("log", "--text", "over there").out
    told = laptop.run("policy", "explain", "-", "--json", stdin='{"aps":{"alert":"Late"}}', code=3).json
    assert told["verdict"] == "suppressed" and told["removed"][0]["remedy"].startswith("pushcli prefs set --device laptop")
    assert laptop.run("policy", "replay", "--since", "1h", "--json").records
    assert laptop.run("ads", "--json").out == ""
    assert "valid for" in laptop.run("doctor").out
    # What is an administrator's is refused with the way there.
    assert "pushcli login" in laptop.run("devices", code=4).err
    gateway.stop()


def test_a_code_may_be_read_out(gateway, machine):
    invitation = invite(gateway, "--person", "ada", "--minutes", 10)
    code, host = invitation.split("@")
    spoken = code.lower().replace("-", " ").replace("0", "o").replace("1", "l")
    laptop = machine("laptop")
    laptop.run("join", *spoken.split(), f"@{host}", "--device", "read-out")
    assert "read-out" in gateway.run("devices", "--json").out


def test_a_code_that_is_asked_for_is_in_no_list_of_processes(gateway, machine):
    code, host = invite(gateway).split("@")
    machine("laptop").run("join", host, "--device", "asked", stdin=code + "\n")
    assert "asked" in gateway.run("devices", "--json").out


def test_a_code_is_good_once(gateway, machine):
    invitation = invite(gateway)
    machine("one").run("join", invitation, "--device", "one")
    two = machine("two")
    assert "unknown, used or expired" in two.run("join", invitation, "--device", "two", code=4).err
    assert not (two.home / ".local/share/pushgateway/contexts" / "localhost").exists()


def test_five_wrong_tries_end_a_code(start, machine):
    gateway = start()
    invitation = invite(gateway)
    guesser = machine("guesser")
    last = invitation.index("@") - 1
    for _ in range(5):
        assert "unknown" in guesser.run("join", mistyped(invitation, last), "--device", "guess", code=4).err
    refused = guesser.run("join", invitation, "--device", "guess", code=1).err
    assert "wrong codes came from this address" in refused
    assert gateway.run("devices", "invitations", "--json").out == ""
    # Somebody who did not guess is not kept out by who did: a code that is made later is good from elsewhere, and the
    # admin socket is not where guesses come from.
    gateway.enroll("other")


def test_a_mistyped_authority_is_somebody_else_and_is_told_nothing(gateway, machine):
    invitation = invite(gateway)
    before = gateway.run("metrics").out
    refused = machine("laptop").run("join", mistyped(invitation, 2), code=6).err
    assert "is not the gateway of this code" in refused and "Nothing was sent" in refused

    def requests(text):
        return [line for line in text.splitlines() if "wrong_invitations" in line]

    assert requests(gateway.run("metrics").out) == requests(before)
    assert gateway.run("devices", "invitations", "--json").records, "the code was not used up"


def test_a_gateway_that_is_somebody_elses_gets_no_code(start, machine):
    ours, theirs = start(name="ours"), start(name="theirs")
    invitation = invite(ours)
    laptop = machine("laptop")
    refused = laptop.run("join", f"{invitation.split('@')[0]}@localhost:{theirs.port}", code=6).err
    assert "is not the gateway of this code" in refused
    laptop.run("join", invitation, "--device", "laptop")


@pytest.mark.alone("each has a certificate of its own")
def test_a_changed_certificate_is_not_taken(start, machine):
    gateway = start()
    laptop = machine("laptop")
    laptop.join(gateway)
    laptop.run("prefs")
    gateway.stop()
    for name in ["ca.pem", "ca.key", "server.pem", "server.key"]:
        (gateway.state / name).unlink()
    gateway.restart()
    for command in [["prefs"], ["log"], ["subscribe", "--once", "--json"]]:
        refused = laptop.run(*command, code=6).err
        assert "another gateway answers at this address, or the gateway has a new CA" in refused
    # A new invitation settles it: as another gateway, which gets no secret of the first one.
    before = [row for row in laptop.run("contexts", "--json").records if "gateway" in row]
    laptop.join(gateway, device="again")
    laptop.run("prefs")
    after = [row for row in laptop.run("contexts", "--json").records if "gateway" in row]
    assert [row["devices"] for row in before] == [["laptop"]] and len(after) == 2
    assert [row["devices"] for row in after if row["current"]] == [["again"]]


def test_a_renewed_certificate_of_the_same_authority_is_taken(gateway, machine):
    laptop = machine("laptop")
    laptop.join(gateway, device="renewed")
    gateway.run("certs", "create-server", "--name", "other.example")
    laptop.run("prefs")


@pytest.mark.alone("each has a certificate of its own")
def test_a_certificate_for_another_name_is_not_taken(start, machine):
    gateway = start(listen="0.0.0.0:0")
    code = invite(gateway).split("@")[0]
    refused = machine("laptop").run("join", f"{code}@127.0.0.2:{gateway.port}", code=6).err
    assert "it is for other names" in refused


def test_a_code_of_a_certificate_from_elsewhere_names_its_authority(start, machine, tmp_path):
    other = start(name="other")
    other.run("certs", "create-server", "--name", "localhost", "--out", tmp_path)
    chain = tmp_path / "chain.pem"
    chain.write_text((tmp_path / "server.pem").read_text() + (other.state / "ca.pem").read_text())
    gateway = start("--certificate", chain, "--certificate-key", tmp_path / "server.key", name="own")
    laptop = machine("laptop")
    laptop.join(gateway)
    laptop.run("prefs")


def test_several_gateways_are_known_and_one_is_current(start, machine):
    home, work = start(name="home"), start(name="work")
    laptop = machine("laptop")
    laptop.join(home, "--name", "home", device="at-home")
    laptop.join(work, "--name", "work", device="at-work")
    known = {row["name"]: row for row in laptop.run("contexts", "--json").records}
    assert set(known) == {"local", "home", "work"} and known["work"]["current"] and known["home"]["devices"] == ["at-home"]
    laptop.run("prefs", "set", "badge=off")
    assert laptop.run("prefs", "--json").json["badge"] is False
    for named in ["home", f"localhost:{home.port}", f"https://localhost:{home.port}"]:
        assert laptop.run("prefs", "--gateway", named, "--json").json["badge"] is True, named
    laptop.run("contexts", "use", "home")
    assert laptop.run("prefs", "--json").json["badge"] is True
    laptop.run("contexts", "remove", "home")
    assert "no gateway runs on" in laptop.run("prefs", "--device", "x", code=6).err
    assert "did you mean work?" in laptop.run("contexts", "use", "werk", code=3).err


def test_a_gateway_is_honored_everywhere_or_refused_with_the_reason(gateway, machine):
    laptop = machine("laptop")
    address = f"localhost:{gateway.port}"
    for command in [["devices"], ["keys"], ["log"], ["prefs", "--device", "x"], ["admin", "backup", "/tmp/x"], ["faults"]]:
        assert f"nobody is logged in to {address}" in laptop.run(*command, "--gateway", address, code=4).err, command
    for command in [["serve"], ["admin", "restore", "x"]]:
        assert "gateway's own machine" in laptop.run(*command, "--gateway", address, code=2).err, command
    # On the gateway's machine the address is another way to the same one.
    gateway.run("keys", "--gateway", address)
    # Another one's is not, whatever it is called.
    assert "nothing answers at 127.0.0.1:1" in gateway.run("keys", "--gateway", "127.0.0.1:1", code=6).err


def test_an_invitation_can_be_photographed(gateway, machine):
    said = gateway.run("devices", "invite", "--host", f"localhost:{gateway.port}", "--qr")
    rows = [line for line in said.err.splitlines() if line.startswith("████")]
    pixels = []
    for line in rows:
        pixels.append([char in "█▀" for char in line])
        pixels.append([char in "█▄" for char in line])
    size = 4
    image = bytes(255 if light else 0 for row in pixels for _ in range(size) for light in row for _ in range(size))
    view = memoryview(image).cast("B", [len(pixels) * size, len(pixels[0]) * size])
    [read] = zxingcpp.read_barcodes(view)
    assert read.text == f"https://localhost:{gateway.port}/join#{said.out.split('@')[0]}"
    machine("laptop").run("join", read.text, "--device", "photographed")


def test_a_sender_elsewhere_needs_a_key_a_token_and_the_fingerprint(gateway, machine):
    device = gateway.device()
    office = machine("office")
    authority = gateway.run("certs", "authority").out.strip()
    place = f"localhost:{gateway.port}"
    assert "does not trust the certificate" in office.run("contexts", "add", place, code=6).err
    assert "is not the gateway" in office.run("contexts", "add", f"{mistyped(authority, 1)}@{place}", code=6).err
    office.run("contexts", "add", f"{authority.lower()}@{place}")
    key = ["--key", gateway.key.path, "--team", gateway.key.team_id]
    sent = office.run("send", "--token", device.token, "--topic", TOPIC, *key, "From the office.").out.strip()
    gateway.events(sent, "accepted")
    # Who can't follow it is told so before it is sent.
    before = len(gateway.run("log", "--json").records)
    office.run("send", "--token", device.token, "--topic", TOPIC, *key, "--wait", "acknowledged", "And?", code=4)
    assert len(gateway.run("log", "--json").records) == before


def test_a_new_authority_is_told_before_it_is_used(start, machine):
    gateway = start()
    laptop, tablet, late = machine("laptop"), machine("tablet"), machine("late")
    for there in [laptop, tablet, late]:
        there.join(gateway)
    gateway.run("certs", "rollover")
    assert "has another CA" in laptop.run("contexts", "refresh").err
    assert "nothing has changed" in laptop.run("contexts", "refresh").err
    # A phone asks by itself.
    trust = tablet.home / ".local/share/pushgateway/contexts/localhost/ca.pem"
    receiving = tablet.begin("subscribe", "--json")
    assert any("connected to" in line for line in iter(receiving.stderr.readline, ""))
    wait_for(lambda: trust.read_text().count("BEGIN CERTIFICATE") == 2, "the next authority is trusted, too", trust)
    receiving.terminate()
    receiving.communicate()
    gateway.run("certs", "rollover", "--finish")
    for there in [laptop, tablet]:
        there.run("prefs")
    assert "has a new CA" in late.run("prefs", code=6).err
    assert "has another CA" in laptop.run("contexts", "refresh").err
    assert (laptop.home / ".local/share/pushgateway/contexts/localhost/ca.pem").read_text().count("BEGIN CERT") == 1


def test_an_address_that_nothing_is_known_of_is_trusted_as_the_system_does(gateway, machine):
    device = gateway.device()
    office = machine("office")
    key = ["--key", gateway.key.path, "--team", gateway.key.team_id, "--gateway", f"localhost:{gateway.port}"]
    refused = office.run("send", "--token", device.token, "--topic", TOPIC, *key, "Hello.", code=6).err
    assert "not trusted" in refused and "contexts add" in refused
    office.run("send", "--token", device.token, "--topic", TOPIC, *key, "--ca", gateway.trust, "Hello.")


@pytest.mark.parametrize("end", [2, -signal.SIGINT, -signal.SIGTERM], ids=["typed", "^C", "killed"])
def test_the_code_is_not_shown_while_it_is_typed(tmp_path, end):
    ours, theirs = pty.openpty()
    # Not its controlling terminal, which the system would set anew at its end.
    process = subprocess.Popen(
        [PUSHCLI, "join", "gateway.example", "--state", tmp_path], stdin=theirs, stdout=theirs, stderr=theirs,
        start_new_session=True)
    seen = b""
    while b"Code of the invitation: " not in seen:
        assert select.select([ours], [], [], HANG)[0], seen
        seen += os.read(ours, 4_096)
    assert not termios.tcgetattr(theirs)[3] & termios.ECHO
    if end > 0:
        os.write(ours, b"nonsense\n")
    else:
        process.send_signal(-end)
    assert process.wait(HANG) == end
    assert termios.tcgetattr(theirs)[3] & termios.ECHO, "the terminal shows again what is typed"
    while select.select([ours], [], [], 0)[0]:
        seen += os.read(ours, 4_096)
    os.close(ours)
    os.close(theirs)
    assert b"nonsense" not in seen
