"""The gateway's log: its forms, its level while it runs, who does not read it, and traces of pushes."""

import json
import os
import re

import pytest

from gateway import Gateway
from waiting import eventually

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


def events(gateway):
    """What was logged as JSON, in whole lines: the gateway may be writing the next one."""
    return [json.loads(line) for line in gateway.log.split("\n")[:-1] if line.startswith("{")]


def stages(gateway, apns_id):
    """The stages of a push that were logged as JSON."""
    return [event["stage"] for event in events(gateway) if event.get("event") == "push" and event["id"] == apns_id]


def test_the_log_is_pairs_on_a_line(start):
    gateway = start("--log-level", "debug")
    gateway.accepted(gateway.device().token)
    gateway.wait_for_log("stage=stored")
    line = next(line for line in gateway.log.splitlines() if "stage=accepted" in line)
    assert re.fullmatch(r'ts=\S+Z level=debug event=push msg="push accepted" id=[0-9A-Fa-f-]{36} stage=accepted', line), line


def test_the_log_is_json_with_all_stages_of_a_push(start, subscribe):
    gateway = start("--log-format", "json", "--log-level", "debug")
    device = gateway.device()
    subscribe(gateway, device)
    apns_id = gateway.accepted(device.token)
    gateway.until_logged(
        lambda: {"accepted", "stored", "transmitted", "acknowledged"} <= set(stages(gateway, apns_id)), "all stages")


def test_where_there_is_no_journal_lines_are_written(start):
    if os.path.exists("/run/systemd/journal/socket"):
        pytest.skip("a journal runs here, and would be sent the lines")
    gateway = start("--log-format", "journald", "--log-level", "debug")
    gateway.accepted(gateway.device().token)
    gateway.wait_for_log("stage=accepted")


def test_the_level_is_changed_for_a_time_while_it_runs(start):
    gateway = start("--log-level", "warning", "--log-format", "json")
    assert gateway.run("admin", "log-level").out == "warning\n"
    device = gateway.device()
    first = gateway.accepted(device.token)
    # A sender has its answer before the stages are logged.
    gateway.events(first, until="stored")
    said = gateway.run("admin", "log-level", "debug", "--for", "10m", "--json").json
    assert (said["level"], said["configured"]) == ("debug", "warning") and said["until"].endswith("Z")
    second = gateway.accepted(device.token)
    gateway.until_logged(lambda: "accepted" in stages(gateway, second), "the push's stages are logged")
    assert stages(gateway, first) == []
    assert gateway.run("admin", "log-level", "default").out == "warning\n"
    assert "/admin/v1/log-level" in [record["path"] for record in gateway.run("admin", "audit", "--json").records]
    # The gateway looks every ten seconds whether the time is over.
    gateway.run("admin", "log-level", "debug", "--for", "1s")
    eventually(lambda: gateway.admin("GET", "log-level")["level"] == "warning", "the time is over")


@pytest.mark.parametrize(
    "words, said", [
        (["debg"], "did you mean debug?"), (["loudest"], "expected one of"), (["debug", "--for", "x"], "--for"),
        (["default", "--for", "1m"], "--for needs a level"), (["--for", "1m"], "--for needs a level")])
def test_a_level_that_there_is_not_is_usage(gateway, words, said):
    done = gateway.run("admin", "log-level", *words, code=2)
    assert said in done.err and len(done.err.splitlines()) == 1


def test_a_reader_of_the_log_who_is_stuck_stops_no_push(tmp_path):
    """Standard error is a pipe that nobody reads: after 64 KiB whoever wrote to it would wait for ever."""
    reading, writing = os.pipe()
    gateway = Gateway(tmp_path / "state", "--log-level", "debug", log=writing)
    gateway.spawn()
    os.close(writing)
    try:
        assert gateway.is_ready()
        device = gateway.device()
        with gateway.connect() as connection:
            # Two lines of 110 bytes each.
            for _ in range(1200):
                assert gateway.push(device.token, connection=connection).status == 200
        gateway.terminate()
        assert gateway.ended() == 0
    finally:
        os.close(reading)
        if gateway.process.poll() is None:
            gateway.kill()


def test_a_trace_is_kept_and_told(gateway, device):
    apns_id = gateway.accepted(device.token, traceparent=PARENT)
    traced = [row for row in gateway.events(apns_id, until="traced") if row["event"] == "traced"]
    assert len(traced) == 1
    assert traced[0]["trace_id"] == TRACE and traced[0]["details"] == {"traceparent": PARENT}


@pytest.mark.parametrize("value", ["", "00-x", PARENT.upper(), PARENT + "-x", "ff" + PARENT[2:]])
def test_a_trace_that_is_none_is_ignored(gateway, device, value):
    apns_id = gateway.accepted(device.token, traceparent=value)
    assert all(row["event"] != "traced" for row in gateway.events(apns_id, until="stored"))
