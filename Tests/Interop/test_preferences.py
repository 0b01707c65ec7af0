"""What a person chooses, end to end: quiet hours, Focus, summary, budget; and the commands that explain and replay it."""

import json

import pytest

from gateway import TOPIC, run

EVERYTHING = {"aps": {"alert": {"title": "Train Delayed"}, "badge": 2, "sound": "chime.caf"}}


def choose(gateway, device, *choices, app=TOPIC):
    return gateway.prefer(device, *choices, app=app)


def next_push(stream):
    """The next push, behind news of choices."""
    while (line := stream.next())["type"] == "preferences":
        pass
    assert line["type"] == "push", line
    return line


def wait_for(stream, parts, gateway, device, payload=EVERYTHING):
    gateway.accepted(device.token, payload)
    push = next_push(stream)
    assert set(push["presentation"]) == set(parts)
    return push


def request(gateway, device, method, path, body=None):
    with gateway.connect() as connection:
        return connection.request(
            method, f"/v1/device/preferences{path}", [("authorization", f"bearer {device.secret}")],
            json.dumps(body).encode() if body is not None else b"")


def test_all_choices_are_set_shown_and_kept(start):
    gateway = start()
    device = gateway.device()
    choose(gateway, device, "time-sensitive=on", "critical=on", "advertising=allow", "budget=5", "delivery=summary")
    choose(
        gateway, device, "quiet=22:00-07:00 mon-fri Europe/Berlin; 13:00-14:00", "summary=09:00 Asia/Shanghai",
        "focus.work=com.example.mail", app=None)
    gateway.stop()
    gateway.start()
    shown = gateway.run("prefs", "--device", device.name, "--json").json
    assert shown["quiet"] == ["22:00-07:00 mon,tue,wed,thu,fri Europe/Berlin", "13:00-14:00"]
    assert shown["summary"] == "09:00 Asia/Shanghai"
    assert shown["focus"] == {"work": ["com.example.mail"]}
    app = shown["apps"][TOPIC]
    assert (app["time_sensitive"], app["critical"], app["advertising"]) == (True, True, True)
    assert (app["alert_budget"], app["delivery"]) == (5, "summary")
    words = gateway.run("prefs", "--device", device.name).out
    for part in ["quiet hours: 22:00-07:00 mon,tue", "summary: 09:00 Asia/Shanghai", "focus work: com.example.mail",
                 "in the summary, time-sensitive, critical, advertising, 5 alerts an hour"]:
        assert part in words
    response = request(gateway, device, "GET", "")
    assert json.loads(response.body) == shown


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [("", {"volume": 3}, "/volume is unknown: expected one of notifications, "), ("", {"badge": "off"}, "/badge must be true or false"),
     (f"/apps/{TOPIC}", {"delivery": "never"}, '/delivery must be "now" or "summary"'),
     ("", {"quiet": ["22:00-07:00 Mars/Olympus"]}, "unknown time zone Mars/Olympus")])
def test_a_form_that_is_wrong_is_refused_in_one_line(gateway, device, path, body, words):
    before = request(gateway, device, "GET", "").body
    response = request(gateway, device, "PUT", path, body)
    assert response.status == 400
    detail = json.loads(response.body)["detail"]
    assert detail.startswith(words) and "\n" not in detail
    assert request(gateway, device, "GET", "").body == before


def test_quiet_hours_begin_on_a_live_stream_at_once(gateway, device):
    stream = gateway.stream(device)
    stream.caught_up()
    wait_for(stream, ["badge", "sound", "alert"], gateway, device)
    choose(gateway, device, "quiet=00:00-00:00 UTC", app=None)
    assert stream.next("preferences")["preferences"]["quiet"] == ["00:00-00:00 UTC"]
    push = wait_for(stream, ["badge", "centre"], gateway, device)
    assert push["presentation"]["centre"]["title"] == "Train Delayed"
    choose(gateway, device, "time-sensitive=on")
    urgent = {"aps": EVERYTHING["aps"] | {"interruption-level": "time-sensitive"}}
    wait_for(stream, ["badge", "sound", "alert"], gateway, device, urgent)
    stream.connection.close()


def test_a_focus_that_the_device_reports_holds_back_what_it_does_not_allow(gateway, device):
    choose(gateway, device, f"focus.work={TOPIC}", "focus.sleep=none", app=None)
    stream = gateway.stream(device)
    stream.caught_up()
    for focus, parts in [("sleep", ["badge", "centre"]), ("work", ["badge", "sound", "alert"]),
                         (None, ["badge", "sound", "alert"])]:
        stream.say(type="state", focus=focus)
        stream.quiet()
        wait_for(stream, parts, gateway, device)
    stream.connection.close()


def test_subscribe_reports_a_focus(gateway, device):
    gateway.accepted(device.token, EVERYTHING)
    focus = ["--focus", "deep work"]
    [push] = gateway.run("subscribe", "--device", device.name, "--json", "--once", *focus).records
    assert set(push["presentation"]) == {"badge", "centre"}
    details = [event["detail"] for event in gateway.events(push["id"], "suppressed") if event["event"] == "suppressed"]
    assert details == ["sound N7 focus/deep work; alert N7 focus/deep work"]


def test_the_summary_comes_once_as_one_digest_also_over_a_restart(start):
    gateway = start()
    device = gateway.device()
    choose(gateway, device, "delivery=summary")
    stream = gateway.stream(device)
    stream.caught_up()
    for title, score in [("One", 0.1), ("Two", 0.9), ("Three", 0.5)]:
        payload = {"aps": {"alert": {"title": title}, "badge": 1, "relevance-score": score}}
        push = wait_for(stream, ["badge", "centre", "held"], gateway, device, payload)
        assert push["presentation"]["held"]["by"] == "summary"
        stream.say(type="ack", seq=push["seq"])
    stream.connection.close()
    gateway.stop()
    gateway.start()
    choose(gateway, device, "delivery=now")
    stream = gateway.stream(device, cursor=push["seq"])
    [digest] = stream.caught_up() or [stream.next("push")]
    assert digest["topic"] == "summary"
    assert [entry["title"] for entry in digest["payload"]["digest"]["entries"]] == ["Two", "Three", "One"]
    assert digest["payload"]["digest"]["badges"] == {TOPIC: 1}
    assert digest["presentation"]["alert"]["title"] == "3 Notifications"
    assert digest["presentation"]["alert"]["buttons"] == ["OK"]
    stream.say(type="ack", seq=digest["seq"])
    stream.connection.close()
    again = gateway.stream(device, cursor=digest["seq"])
    assert again.caught_up() == []
    again.connection.close()


def test_subscribe_shows_the_digest(gateway, device, subscribe):
    choose(gateway, device, "delivery=summary")
    gateway.accepted(device.token, EVERYTHING)
    gateway.run("subscribe", "--device", device.name, "--json", "--once")
    choose(gateway, device, "delivery=now")
    text = gateway.run("subscribe", "--device", device.name, "--plain", "--once").out
    assert "Summary" in text and "1 Notification" in text and "Train Delayed" in text


def test_beyond_its_budget_an_app_reaches_badge_and_centre(gateway, device):
    choose(gateway, device, "budget=1")
    stream = gateway.stream(device)
    stream.caught_up()
    wait_for(stream, ["badge", "sound", "alert"], gateway, device)
    wait_for(stream, ["badge", "centre", "budget"], gateway, device)
    stream.connection.close()


def test_a_new_app_shows_twenty_alerts_an_hour(gateway):
    device = gateway.device(topic=(topic := gateway.app()))
    stream = gateway.stream(device)
    stream.caught_up()
    def shown(**aps):
        gateway.accepted(device.token, {"aps": {"alert": "x"} | aps}, topic=topic)
        return stream.next("push")["presentation"]
    assert all("alert" in shown() for _ in range(20))
    beyond = shown(badge=21)
    assert (beyond["badge"], beyond["budget"], "centre" in beyond, "alert" in beyond) == (21, 20, True, False)
    assert "alert" in shown(**{"interruption-level": "time-sensitive"})
    choose(gateway, device, "budget=none", app=topic)
    stream.next("preferences")
    assert "alert" in shown()
    choose(gateway, device, "budget=default", app=topic)
    assert "alert_budget" not in gateway.run("prefs", "--device", device.name, "--json").json["apps"][topic]
    stream.connection.close()


def explain(gateway, device, payload, *options, code=3):
    return gateway.run(
        "policy", "explain", "--device", device.name, "--topic", TOPIC, "-", *options, "--json",
        stdin=json.dumps(payload), code=code).json


def test_explain_says_what_is_removed_why_and_how_to_change_it(gateway, device):
    choose(gateway, device, "sound=off")
    choose(gateway, device, "quiet=22:00-07:00 UTC", app=None)
    told = explain(gateway, device, EVERYTHING, "--at", "2026-11-21T23:00:00Z")
    assert told["verdict"] == "partly"
    assert set(told["presented"]) == {"badge", "centre"}
    sound, alert = told["removed"]
    assert (sound["part"], sound["rule"], sound["setting"]) == ("sound", "N5", f"apps/{TOPIC}/sound")
    assert (alert["part"], alert["rule"], alert["setting"]) == ("alert", "N7", "quiet/0")
    # The commands do what they say.
    for removal in told["removed"]:
        words = removal["remedy"].split()
        assert words[:3] == ["pushcli", "prefs", "set"]
        gateway.run(*words[1:])
    told = explain(gateway, device, EVERYTHING, "--at", "2026-11-21T23:00:00Z", code=0)
    assert (told["verdict"], told["removed"]) == ("presented", [])
    assert "quiet" not in gateway.run("prefs", "--device", device.name, "--json").json


def test_explain_shows_a_table_and_what_the_door_would_refuse(gateway, device):
    choose(gateway, device, "alert=off")
    table = gateway.run(
        "policy", "explain", "--device", device.name, "-", stdin=json.dumps(EVERYTHING), code=3).out
    assert "ASKED" in table and f"pushcli prefs set --device {device.name} --app {TOPIC} alert=on" in table
    told = explain(gateway, device, {"aps": {"badge": "3"}}, code=5)
    assert told["verdict"] == "refused" and told["refused"][0]["rule"] == "B1"


def test_explain_takes_the_silent_switch_from_the_device(gateway, device):
    stream = gateway.stream(device, silent=True)
    stream.caught_up()
    assert explain(gateway, device, EVERYTHING)["removed"][0]["rule"] == "S4"
    assert explain(gateway, device, EVERYTHING, "--no-silent", code=0)["removed"] == []
    stream.connection.close()


def test_replay_says_what_other_choices_would_have_changed(gateway, device):
    stream = gateway.stream(device)
    stream.caught_up()
    loud = gateway.accepted(device.token, EVERYTHING)
    stream.next("push")
    quiet = gateway.accepted(device.token, {"aps": {"badge": 1, "category": "SPORT; x"}})
    stream.next("push")
    gateway.events(quiet, "transmitted")
    replay = ["policy", "replay", "--device", device.name, "--since", "1h", "--json"]
    assert gateway.run(*replay).records == []
    [changed] = gateway.run(*replay, "--app", TOPIC, "--set", "alert=off", "--set", "sound=off").records
    assert (changed["id"], changed["was"], changed["would_be"]) == (loud, ["badge", "sound", "alert"], ["badge"])
    [changed] = gateway.run(*replay, "--set", "notifications=off", "--all").records[1:]
    assert changed["removed"] == [{"part": "badge", "rule": "N4", "setting": "notifications"}]
    [changed] = gateway.run(*replay, "--app", TOPIC, "--category", "SPORT; x", "--set", "badge=off").records
    assert changed["id"] == quiet
    choices = gateway.run("prefs", "--device", device.name, "--json").json | {"badge": False}
    file = gateway.state / "changed.json"
    file.write_text(json.dumps(choices))
    assert len(gateway.run(*replay, "--preferences", file).records) == 2
    words = replay[:-1]
    told = gateway.run(*words, "--set", "alert=off")
    assert "2 pushes, 1 different" in told.err
    [_, row] = told.out.splitlines()
    assert "alert is off" in row and "N4" not in row
    # Without a difference there is no heading; and of many only the newest are shown.
    assert gateway.run(*words).out == ""
    told = gateway.run(*words, "--set", "notifications=off", "--limit", 1)
    assert len(told.out.splitlines()) == 2 and "1 older push is not shown" in told.err
    stream.connection.close()


def test_a_word_that_fills_a_file_is_not_printed_whole(tmp_path):
    path = tmp_path / "long.json"
    path.write_text(json.dumps({"aps": {"alert": {"title": "w" * 6000, "body": "w" * 6000}}}))
    done = run("lint", path)
    assert done.code == 1 and max(map(len, done.out.splitlines())) < 800
    assert f"{path}: error aps" in done.out and "1 file: 1 error," in done.err


def test_lint_finds_mends_and_tells_by_its_exit_code(gateway, tmp_path):
    good, late, wrong = tmp_path / "good.json", tmp_path / "late.json", tmp_path / "wrong.json"
    good.write_text('{"aps":{"alert":{"title":"Train Delayed"}}}')
    late.write_text('{\n  "aps": {"alert": {"title": "train delayed."}}\n}\n')
    wrong.write_text('{"aps":{"badge":"3"}}')
    run = lambda *arguments, code=0: gateway.run("lint", *arguments, code=code)
    assert run(good).out == ""
    findings = run(late, "--json").records
    assert {finding["rule"] for finding in findings} == {"T4", "T5"}
    assert {finding["at"] for finding in findings} == {"/aps/alert/title"}
    assert {finding["severity"] for finding in findings} == {"warning"}
    run(late, "--strict", code=1)
    [finding] = run(wrong, "--json", code=1).records
    assert (finding["rule"], finding["at"], finding["severity"]) == ("B1", "/aps/badge", "error")
    run(good, late, "--fix", "--strict")
    assert late.read_text() == '{\n  "aps": {"alert": {"title": "Train Delayed"}}\n}\n'
    run(tmp_path / "nothing.json", code=2)
    mended = gateway.run("lint", "--fix", "-", stdin='{"aps":{"alert":{"title":"train delayed"}}}')
    assert mended.out == '{"aps":{"alert":{"title":"Train Delayed"}}}'
