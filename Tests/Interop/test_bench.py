"""`pushcli bench`: short runs that check what it finds, never how fast it is."""

import json
import re
import subprocess
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest

from gateway import poll, run

ROOT = Path(__file__).resolve().parents[2]
SHORT = ["--devices", 5, "--providers", 2, "--duration", 0.5, "--warm-up", 0.1]


def assert_clean(result):
    pushes = result["pushes"]
    assert (pushes["lost"], pushes["duplicated"], pushes["reordered"], pushes["misdelivered"]) == (0, 0, 0, 0), result
    assert pushes["refused"] == pushes["unanswered"] == 0, result


def test_with_a_gateway_of_its_own(tmp_path):
    done = run("bench", *SHORT, "--rate", 400, "--json", "--folder", tmp_path,
               "--histogram", tmp_path / "a.hgrm", timeout=60)
    assert done.code == 0, done.err
    assert done.err == ""
    result = done.json
    assert_clean(result)
    # An open loop sends what the rate says, however fast the machine is.
    assert result["pushes"]["sent"] == result["pushes"]["accepted"] == result["pushes"]["delivered"] == 240
    assert result["setting"]["own_gateway"] and result["setting"]["durability"] == "full"
    assert result["delivery_latency_ms"]["count"] > 0
    assert result["gateway_process"]["resident_bytes_at_end"] > 0
    assert sum(second["delivered"] for second in result["seconds"]) == 240
    assert "Percentile" in (tmp_path / "a.hgrm").read_text()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("pushcli-bench")] == []


def picture(report):
    return subprocess.run([ROOT / "bench" / "picture"], input=report, capture_output=True, text=True, timeout=30, check=False)


def test_a_picture_of_a_report(tmp_path):
    done = run("bench", *SHORT, "--rate", 400, "--json", "--folder", tmp_path, timeout=60)
    assert done.code == 0, done.err
    made = picture(done.out)
    assert made.returncode == 0, made.stderr
    drawn = xml.fromstring(made.stdout)
    curves = [path.get("class") for path in drawn.iter("{http://www.w3.org/2000/svg}path")]
    assert curves == ["accepted", "delivered"] * 2
    # The slowest push is the last point of its curve, and an axis ends above it.
    slowest = done.json["delivery_latency_ms"]["max"]
    labels = [float(text.text.replace(",", "")) for text in drawn.iter("{http://www.w3.org/2000/svg}text")
              if text.get("text-anchor") == "end"]
    assert max(labels[:5]) >= slowest


def test_no_picture_of_something_else():
    done = picture("{}")
    assert done.returncode == 1 and "pushcli bench --json" in done.stderr and "Traceback" not in done.stderr


def test_flat_out_on_a_gateway_that_is_there(gateway):
    before = gateway.run("devices", "list", "--json").records
    done = run("bench", *SHORT, "--streams", 10, "--json", "--ids", "--offline", 20, state=gateway.state, timeout=60)
    assert done.code == 0, done.err
    assert_clean(done.json)
    assert done.json["connected_devices"] == 4
    assert done.json["pushes"]["delivered"] == done.json["pushes"]["expected"] > 0
    assert done.json["pushes"]["accepted"] > done.json["pushes"]["delivered"]
    # Nothing of it stays.
    assert gateway.run("devices", "list", "--json").records == before


@pytest.mark.parametrize("kind, sent", [
    (["--storm", "--rate", 200], None), (["--catch-up", 300], 300), (["--pushes", 300, "--loops", 2], 300),
    (["--accept-only", "--expiration", 0, "--pushes", 200], 200)])
def test_kinds(gateway, kind, sent):
    devices = [] if "--catch-up" in kind else ["--devices", 6]
    done = run("bench", *devices, "--duration", 1, "--warm-up", 0, *kind, "--json", state=gateway.state, timeout=60)
    assert done.code == 0, done.err
    assert_clean(done.json)
    pushes = done.json["pushes"]
    if sent:
        assert pushes["sent"] == pushes["accepted"] == sent
    if "--accept-only" in kind:
        assert pushes["delivered"] == 0
    else:
        assert pushes["delivered"] == pushes["accepted"]
    if "--storm" in kind:
        assert done.json["storm"]["resumed"] == 6
        assert done.json["storm"]["caught_up_seconds"] > 0
    if "--catch-up" in kind:
        assert done.json["catch_up"]["pushes"] == 300


def test_idle_streams(gateway):
    done = run("bench", "--idle", "--devices", 4, "--json", state=gateway.state, timeout=60)
    assert done.code == 0, done.err
    assert done.json["connected_devices"] == 4
    assert "resident_bytes_per_idle_stream" in done.json["gateway_process"]


def test_words_for_people(gateway):
    done = run("bench", *SHORT, "--rate", 100, state=gateway.state, timeout=60)
    assert done.code == 0, done.err
    assert re.search(r"^Delivered +60 .*lost 0, duplicated 0, reordered 0$", done.out, re.M), done.out
    assert "█" not in done.err


def test_a_condition_sets_the_exit_code(gateway):
    done = run("bench", *SHORT, "--rate", 100, "--json", "--fail-if", "max>=0ms", "--fail-if", "lost>0",
               state=gateway.state, timeout=60)
    assert done.code == 1
    assert [verdict["failed"] for verdict in done.json["verdicts"]] == [True, False]
    assert done.json["failed"]


@pytest.mark.parametrize("options, words", [
    (["--fail-if", "p98>1ms"], ["p98", "p999", "lost"]), (["--payload", 10], ["--payload"]),
    (["--rate", "fast"], ["--rate"]), (["--storm", "--idle"], ["--storm"]),
    (["--gateway", "127.0.0.1:1"], ["--state", "--accept-only"])])
def test_usage(options, words):
    done = run("bench", *options)
    assert done.code == 2, (done.code, done.err)
    assert all(word in done.err for word in words), done.err


def test_an_unreachable_gateway(gateway, tmp_path):
    done = run("bench", "--state", tmp_path / "nothing")
    assert done.code == 6, done.err
    assert len(done.err.splitlines()) == 1
    done = run("bench", "--accept-only", "--gateway", "127.0.0.1:1", "--ca", gateway.trust, "--path", "/", "--duration", 1)
    assert done.code == 6, done.err
    assert "127.0.0.1:1" in done.err
