"""`pushcli bench`: short runs that check what it finds, never how fast it is."""

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest

from gateway import run
from waiting import HANG

ROOT = Path(__file__).resolve().parents[2]
SHORT = ["--devices", 5, "--providers", 2, "--duration", 0.5, "--warm-up", 0.1]
#: What a run says on a machine that is too slow, or too busy, for its load.
SATURATED = "pushcli: the load side was busy all the time: it was the limit, not the gateway (--loops)\n"


def assert_clean(result):
    pushes = result["pushes"]
    assert (pushes["lost"], pushes["duplicated"], pushes["reordered"], pushes["misdelivered"]) == (0, 0, 0, 0), result
    assert pushes["refused"] == pushes["unanswered"] == 0, result


def test_with_a_gateway_of_its_own(tmp_path):
    done = run("bench", *SHORT, "--rate", 400, "--json", "--folder", tmp_path,
               "--histogram", tmp_path / "a.hgrm")
    assert done.code == 0, done.err
    assert done.err in ("", SATURATED)
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
    return subprocess.run([ROOT / "bench" / "picture"], input=report, capture_output=True, text=True, timeout=HANG, check=False)


def test_a_picture_of_a_report(tmp_path):
    done = run("bench", *SHORT, "--rate", 400, "--json", "--folder", tmp_path)
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


def report(folder, *options):
    done = subprocess.run([folder / "bench" / "report", *options], capture_output=True, text=True, timeout=HANG, check=False)
    return done.returncode, done.stderr


def test_the_page_of_figures_has_no_others(tmp_path):
    for name in ("bench", "docs/internals"):
        (tmp_path / name).mkdir(parents=True)
    shutil.copy(ROOT / "bench" / "report", tmp_path / "bench")
    results, page = tmp_path / "bench" / "results", tmp_path / "docs/internals/performance.md"
    results.mkdir()
    result = {
        "command": "bench/catch-up", "commit": "0123456789ab", "rounds": 3, "options": {"pushes": 1000},
        "machine": {"date": "2026-01-02T03:04:05+00:00", "cpu": "one", "cores": 2, "kernel": "6.1", "load_average": 0.2},
        "values": {"all": {"pushes/s": [110000.0, 120000.0, 140000.0], "lost": [0, 0, 0]}}}
    (results / "catch-up.json").write_text(json.dumps(result))
    page.write_text("# Page\n\n## Catch-up\n\n<!-- bench:catch-up -->\n<!-- /bench -->\n\nTLS 1.3.\n\n## Other\n")
    assert report(tmp_path, "--check")[0] == 1
    assert report(tmp_path) == (0, "")
    assert report(tmp_path, "--check") == (0, "")
    good = page.read_text()
    assert "| ours | 120,000 (115,000–130,000) | 0 |" in good and "n = 3" in good

    # A figure of the text is in a result of its section, or fails.
    for text, wrong in [("It had 120,000 a second.", None), ("It had 987,654 a second.", "987,654")]:
        code, said = report_of(tmp_path, page, good.replace("TLS 1.3.", text))
        assert (code, "is in no result" in said) == ((1, True) if wrong else (0, False)), said
    code, said = report_of(tmp_path, page, good + "It had 120,000 a second.\n")
    assert code == 1 and "120,000 is in no result of its section" in said
    # A figure of a table that its result does not have.
    code, said = report_of(tmp_path, page, good.replace("| 120,000 ", "| 987,654 "))
    assert code == 1 and "run bench/report" in said


def report_of(folder, page, text):
    page.write_text(text)
    return report(folder, "--check")


def test_the_page_of_figures_is_what_the_results_give():
    assert report(ROOT, "--check") == (0, "")


def test_no_picture_of_something_else():
    done = picture("{}")
    assert done.returncode == 1 and "pushcli bench --json" in done.stderr and "Traceback" not in done.stderr


def test_flat_out_on_a_gateway_that_is_there(gateway):
    before = gateway.devices()
    done = run("bench", *SHORT, "--streams", 10, "--json", "--ids", "--offline", 20, state=gateway.state)
    assert done.code == 0, done.err
    assert_clean(done.json)
    assert done.json["connected_devices"] == 4
    assert done.json["pushes"]["delivered"] == done.json["pushes"]["expected"] > 0
    assert done.json["pushes"]["accepted"] > done.json["pushes"]["delivered"]
    # Nothing of it stays.
    assert gateway.devices() == before


@pytest.mark.parametrize("kind, sent", [
    (["--storm", "--rate", 200], None), (["--catch-up", 300], 300), (["--pushes", 300, "--loops", 2], 300),
    (["--accept-only", "--expiration", 0, "--pushes", 200], 200)])
def test_kinds(gateway, kind, sent):
    devices = [] if "--catch-up" in kind else ["--devices", 6]
    done = run("bench", *devices, "--duration", 1, "--warm-up", 0, *kind, "--json", state=gateway.state)
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
    done = run("bench", "--idle", "--devices", 4, "--json", state=gateway.state)
    assert done.code == 0, done.err
    assert done.json["connected_devices"] == 4
    assert "resident_bytes_per_idle_stream" in done.json["gateway_process"]


def test_words_for_people(gateway):
    done = run("bench", *SHORT, "--rate", 100, state=gateway.state)
    assert done.code == 0, done.err
    assert re.search(r"^Delivered +60 .*lost 0, duplicated 0, reordered 0$", done.out, re.M), done.out
    assert "█" not in done.err


def test_a_condition_sets_the_exit_code(gateway):
    done = run("bench", *SHORT, "--rate", 100, "--json", "--fail-if", "max>=0ms", "--fail-if", "lost>0",
               state=gateway.state)
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
