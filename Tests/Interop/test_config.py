"""The file of settings: the example, the schema, what is wrong in one, and a server's certificate from elsewhere."""

import json
import re
import socket
import subprocess
from pathlib import Path

import pytest
from gateway import run
from waiting import HANG

PAGE = Path(__file__).parents[2] / "docs/reference/configuration.md"


def test_the_example_sets_nothing_and_without_its_marks_everything(tmp_path):
    example = run("config", "example", "--schema", "/usr/share/x.json")
    assert example.code == 0 and example.out.startswith("# yaml-language-server: $schema=/usr/share/x.json\n")
    file = tmp_path / "config.yaml"
    file.write_text(example.out)
    checked = run("config", "check", file, "--json", state=tmp_path / "state")
    assert {record["origin"] for record in checked.records} == {"default"}
    file.write_text(re.sub(r"^#([a-z_]+: )", r"\1", example.out, flags=re.M))
    checked = run("config", "check", file, "--json", state=tmp_path / "state")
    assert checked.code == 0 and {record["origin"] for record in checked.records} == {"file"}
    names = set(json.loads(run("config", "schema").out)["properties"])
    assert {record["name"] for record in checked.records} == names


@pytest.mark.parametrize("example", re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(), re.M | re.S))
def test_an_example_of_the_page_is_valid(example, tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text(example)
    checked = run("config", "check", file, "--json", state=tmp_path / "state")
    assert checked.code == 0
    names = set(re.findall(r"^([a-z_]+): ", example, re.M))
    assert {record["name"] for record in checked.records if record["origin"] == "file"} == names


def test_what_is_wrong_is_said_with_its_line(tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text("loops: 2\n\nmailbox_cpa: 3\n")
    for command in (["config", "check", file], ["serve", "--config", file], ["serve", "--check", "--config", file]):
        done = run(*command, state=tmp_path / "state")
        assert done.code == 2
        assert done.err == f"pushcli: unknown setting mailbox_cpa ({file}, line 3): did you mean mailbox_cap?\n"


def test_check_shows_what_is_in_effect_in_the_gateway_that_runs(start, tmp_path):
    file = tmp_path / "elsewhere.yaml"
    file.write_text("mailbox_cap: 20\nrate_limit: 5\n")
    gateway = start("--config", file)
    (gateway.state / "config.yaml").write_text("mailbox_cap: 30\n")

    def settings(*options):
        done = gateway.run("serve", "--check", "--json", *options)
        return {record["name"]: (record["value"], record["origin"]) for record in done.records}, done.err

    shown, words = settings()
    assert (shown["mailbox_cap"], shown["rate_limit"], shown["listen"][1]) == (("20", "file"), ("5", "file"), "flag")
    assert f"runs on {gateway.state}" in words and f"config check {file}" in words
    # What takes a restart is not in effect after a reload.
    file.write_text("mailbox_cap: 40\n")
    gateway.run("admin", "reload")
    shown, _ = settings()
    assert (shown["mailbox_cap"], shown["rate_limit"]) == (("20", "file"), ("none", "default"))
    # A file and flags are checked as a start would take them.
    assert settings("--config", file)[0]["mailbox_cap"] == ("40", "file")
    assert settings("--loops", "1")[0]["mailbox_cap"] == ("30", "file")
    gateway.stop()
    done = gateway.run("serve", "--check")
    assert re.search(r"^mailbox_cap +30 +file ", done.out, re.M)
    assert f"settings file: {gateway.state}/config.yaml" in done.err


def test_a_variable_that_sets_nothing_is_a_warning(tmp_path, start, monkeypatch):
    done = run("config", "check", state=tmp_path / "state", env={"PUSHGATEWAY_MAILBOXCAP": "hush"})
    assert done.code == 0 and "did you mean PUSHGATEWAY_MAILBOX_CAP?" in done.err and "hush" not in done.err
    monkeypatch.setenv("PUSHGATEWAY_MAILBOXCAP", "hush")
    gateway = start()
    gateway.wait_for_log("event=variable-unknown")
    assert "hush" not in gateway.log


def test_a_certificate_from_elsewhere_is_shown(tmp_path, start, monkeypatch):
    """As an ACME client keeps it, handed over by systemd's LoadCredential."""
    credentials = tmp_path / "credentials"
    credentials.mkdir()
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=elsewhere",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", credentials / "key", "-out", credentials / "chain"],
        check=True, capture_output=True)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(credentials))
    gateway = start("--certificate", "credential:chain", "--certificate-key", "credential:key")
    shown = subprocess.run(
        ["openssl", "s_client", "-connect", gateway.address, "-alpn", "h2"], stdin=subprocess.DEVNULL, capture_output=True,
        errors="replace", timeout=HANG)
    assert "CN = elsewhere" in shown.stdout or "CN=elsewhere" in shown.stdout
    device = gateway.device()
    done = gateway.run(
        "send", "--to", f"{device.name}/com.example.news", "--title", "x", "--ca", credentials / "chain")
    assert done.code == 0


def test_half_of_a_certificate_is_usage(tmp_path):
    done = run("serve", "--certificate", "/a.pem", state=tmp_path / "state")
    assert done.code == 2 and "certificate and certificate_key belong together" in done.err


def test_a_name_is_listened_on_at_all_its_addresses_and_keeps_them(start):
    gateway = start(listen="localhost:0")

    def reached():
        for host in ["127.0.0.1", "::1"]:
            with socket.create_connection((host, gateway.port), HANG):
                pass
        return (gateway.state / "listening").read_text().split()

    before = reached()
    assert before == [f"127.0.0.1:{gateway.port}", f"[::1]:{gateway.port}"]
    gateway.run("admin", "reload")
    assert reached() == before
    gateway.run("admin", "restart")
    gateway.wait_for_log("listening on", 4)
    assert reached() == before
