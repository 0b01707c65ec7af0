"""Wrong invocations: the exit code of docs/reference/exit-codes.md, and one line that says what was wrong (design §7)."""

import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from gateway import PUSHCLI, TOPIC, run
from waiting import HANG

TO = f"me/{TOPIC}"
SEND = ["send", "--to", TO]
ASK = ["ask", "--to", TO, "--title", "Ready?"]
NO_SUCH_ID = "00000000-0000-0000-0000-000000000000"

#: What a library says, and no person should have to read.
LIBRARY = re.compile(
    r"improper structure|simdjson|crl|no start line|SocketAddressError|NIO[A-Z]|IOError|errno|DecodingError|Optional\(|self-signed"
    r"|Foundation\.|Error Domain|SQLite|GRDB|Yams|line 0|Swift\.")

#: Each a command line, its exit code, and words of its one line. {tmp} is a folder of the test's own.
CASES = [
    # 2: usage
    (["sned"], 2, ["no command sned", "did you mean send?"]),
    (["xyzzy"], 2, ["no command xyzzy", "pushcli --help"]),
    (["help", "sned"], 2, ["did you mean send?"]),
    (["help", "devices", "regster"], 2, ["did you mean register?"]),
    (["devices", "regster"], 2, ["no command regster of devices", "register"]),
    (["prefs", "sett"], 2, ["did you mean set?"]),
    (["policy", "explian"], 2, ["did you mean explain?"]),
    (["--nonsense"], 2, ["unknown option --nonsense", "pushcli --help"]),
    (["send"], 2, ["--to DEVICE/TOPIC"]),
    (["send", "--title", "x"], 2, ["--to DEVICE/TOPIC"]),
    (["send", "--to", "me", "--title", "x"], 2, ["--to is DEVICE/TOPIC"]),
    (["send", "--to", "", "--title", "x"], 2, ["--to is DEVICE/TOPIC"]),
    (["send", "--token", "00", "--title", "x"], 2, ["--topic is missing"]),
    (["send", "--to", TO, "--token", "z"], 2, ["say whom to send to"]),
    (SEND, 2, ["nothing to send", "--title"]),
    (SEND + ["--title", ""], 2, ["nothing to send"]),
    (SEND + ["--category", "NEWS"], 2, ["nothing to send"]),
    (SEND + ["--tilte", "x"], 2, ["unknown option --tilte", "--title", "pushcli send --help"]),
    (SEND + ["--title"], 2, ["--title TITLE needs a value"]),
    (SEND + ["--badge", "many"], 2, ["\"many\"", "--badge BADGE: expected a whole number"]),
    (SEND + ["--badge", "-1"], 2, ["--badge", "at least 0", "-1"]),
    (ASK + ["--action", "noequals"], 2, ["\"noequals\"", "--action ACTION: id=Title"]),
    (["log", "--limit", "abc"], 2, ["\"abc\"", "--limit LIMIT: expected a whole number"]),
    (SEND + ["--level", "loud", "x"], 2, ["\"loud\"", "--level"]),
    (SEND + ["--relevance", "2", "x"], 2, ["--relevance", "0 to 1"]),
    (SEND + ["--link", "example.com", "x"], 2, ["--link", "https://"]),
    (SEND + ["--data", "order", "x"], 2, ["\"order\"", "--data"]),
    (SEND + ["--data", "aps={}", "x"], 2, ["--data"]),
    (SEND + ["--expires", "soon", "x"], 2, ["--expires", "10m"]),
    (SEND + ["--timeout", "soon", "x"], 2, ["--timeout", "30s"]),
    (SEND + ["--wait", "eaten", "x"], 2, ["eaten", "--wait"]),
    (SEND + ["--environment", "test", "x"], 2, ["--environment is development or production"]),
    (SEND + ["--title", "x", "payload.json"], 2, ["flags", "payload.json", "not from both"]),
    (SEND + ["--body", "x", "y"], 2, ["given twice"]),
    (SEND + ["/etc/hostname"], 2, ["-f /etc/hostname", "--body"]),
    (SEND + ["/none.json"], 2, ["/none.json can't be read: there is no such file"]),
    (SEND + ["-f", "/etc"], 2, ["/etc can't be read: expected a file, not a folder"]),
    (SEND + ["-f", "/none.txt"], 2, ["/none.txt", "can't be read"]),
    (SEND + ["@/none"], 2, ["/none", "can't be read"]),
    (SEND + ["x", "--gateway", "nowhere"], 2, ["\"nowhere\"", "HOST:PORT"]),
    (SEND + ["x", "--gateway", "http://localhost:1"], 2, ["https://HOST:PORT"]),
    (SEND + ["x", "--gateway", "localhost:99999"], 2, ["1 to 65535"]),
    (SEND + ["x", "--ca", "/none.pem"], 2, ["/none.pem", "--ca FILE"]),
    (SEND + ["x", "--ca", "/etc/hostname"], 2, ["/etc/hostname", "no certificates"]),
    (["subscribe", "--device", "me", "--once", "--ca", "/none.pem"], 2, ["/none.pem", "--ca FILE"]),
    (["subscribe", "--device", "me", "--once", "--ca", "/etc/hostname"], 2, ["no certificates"]),
    (["subscribe", "--device", "me", "--once", "--gateway", "nowhere"], 2, ["HOST:PORT"]),
    (["subscribe", "--device", "me", "--plain", "--json"], 2, ["--plain or --json"]),
    (["subscribe", "--device", "me", "--count", "0"], 2, ["--count"]),
    (["subscribe", "--device", "me", "--jobs", "-3"], 2, ["--jobs", "1 to 64"]),
    (["subscribe", "--device", "me", "--open-for", "x"], 2, ["TOPIC=COMMAND"]),
    (["run"], 2, ["-- make test"]),
    (["run", "--", "true"], 2, ["--to DEVICE/TOPIC"]),
    (["run", "--to", TO, "--tile", "x", "--", "true"], 2, ["unknown option --tile"]),
    (["run", "--to", "me", "--", "true"], 2, ["DEVICE/TOPIC"]),
    (["run", "--to", TO, "--after", "soon", "--", "true"], 2, ["--after", "30s"]),
    (ASK, 2, ["--action"]),
    (ASK + ["--action", "yes"], 2, ["\"yes\"", "--action"]),
    (ASK + ["--action", "y=Y", "--timeout", "0s"], 2, ["--timeout"]),
    (["ask", "--to", "me", "--title", "x", "--action", "y=Y"], 2, ["DEVICE/TOPIC"]),
    (["ask", "--to", TO, "--title", "", "--action", "y=Y"], 2, ["--title"]),
    (["ask", "--to", TO, "--action", "y=Y"], 2, ["--title"]),
    (["mcp"], 2, ["--to"]),
    (["mcp", "--to", "me"], 2, ["DEVICE/TOPIC"]),
    (["serve", "--mailbox-cap", "-5"], 2, ["-5", "1 to"]),
    (["serve", "--state", "{tmp}/new", "--listen", "127.0.0.1:0", "--certificate", "/none.pem", "--certificate-key", "/none.key"], 2,
     ["/none.pem can't be read: there is no such file"]),
    (["serve", "--config", "/none.yaml"], 2, ["/none.yaml can't be read: there is no such file"]),
    (["config", "check", "/none.yaml"], 2, ["/none.yaml can't be read: there is no such file"]),
    (["login", "gateway.invalid", "--token-file", "/none"], 2, ["/none can't be read: there is no such file"]),
    (["serve", "--environment", "test"], 2, ["development or production"]),
    (["serve", "extra"], 2, ["unexpected argument \"extra\""]),
    (["log", "--since", "1y"], 2, ["--since", "2h or 7d"]),
    (["log", "--limit", "-1"], 2, ["--limit", "-1"]),
    (["log", "notanid"], 2, ["notanid", "UUID"]),
    (["log", "--event", "eaten"], 2, ["eaten"]),
    (["prefs", "--device"], 2, ["--device"]),
    (["prefs", "set", "--device", "me"], 2, ["missing"]),
    (["prefs", "set", "--device", "me", "bagde=off"], 2, ["bagde", "badge"]),
    (["prefs", "set", "--device", "me", "badge"], 2, ["badge"]),
    (["prefs", "set", "--device", "me", "badge=maybe"], 2, ["maybe", "on or off"]),
    (["prefs", "set", "--device", "me", "--category", "X", "alert=off"], 2, ["app"]),
    (["teams", "add", "short"], 2, ["10 characters", "short"]),
    (["teams", "add"], 2, ["TEAM is missing"]),
    (["apps", "add", "no topic", "--name", "x"], 2, ["no topic"]),
    (["apps", "add", "com.example.new"], 2, ["--name is missing"]),
    (["apps", "add", "com.example.new", "--name", "", "--team", "DEVTEAM001"], 2, ["name"]),
    (["apps", "set", TOPIC], 2, ["--ads hold"]),
    (["apps", "set", TOPIC, "--policy", "loud"], 2, ["enforce or report"]),
    (["apps", "category", TOPIC, "X", "--action", "yes"], 2, ["\"yes\""]),
    (["devices", "enroll", ""], 2, ["name"]),
    (["devices", "enroll", "a/b"], 2, ["name"]),
    (["devices", "register", "me", TOPIC, "--valid-for", "-1"], 2, ["--valid-for"]),
    (["devices", "invite", "--minutes", "0"], 2, ["--minutes"]),
    (["devices", "invite", "--role", "king"], 2, ["--role"]),
    (["devices", "--limit", "0"], 2, ["--limit"]),
    (["keys", "create", "--team", "DEVTEAM001", "--environment", "test"], 2, ["--environment"]),
    (["keys", "import", "/none.p8", "--team", "DEVTEAM001"], 2, ["/none.p8"]),
    (["keys", "import", "/etc/hostname", "--team", "DEVTEAM001"], 2, ["--key-id is missing"]),
    (["keys", "token", "--key", "/none.p8"], 2, ["/none.p8"]),
    (["keys", "token", "--key", "/etc/hostname"], 2, ["--key-id is missing"]),
    (["keys", "token", "--key", "/etc/hostname", "--key-id", "ABC123DEFG"], 2, ["--team is missing"]),
    (["certs", "create", "--topic", TOPIC, "--days", "0"], 2, ["--days"]),
    (["certs", "revoke"], 2, ["--file"]),
    (["certs", "revoke", "--file", "/none.pem"], 2, ["/none.pem"]),
    (["faults", "add", "x", "--reason", "NoReason"], 2, ["NoReason"]),
    (["faults", "add", "x", "--status", "-5"], 2, ["status"]),
    (["faults", "remove"], 2, ["--all"]),
    (["faults", "load", "/none.yaml"], 2, ["/none.yaml"]),
    (["channels", "create", TOPIC, "--count", "-2"], 2, ["--count"]),
    (["policy", "explain", "--device", "me", "/none.json"], 2, ["/none.json"]),
    (["policy", "explain", "--device", "me", "--topic", TOPIC, "{tmp}/bad.json"], 2, ["line 3, column 1"]),
    (["policy", "explain", "--device", "me", "--topic", TOPIC, "--at", "noon", "{tmp}/good.json"], 2, ["noon"]),
    (["policy", "replay", "--device", "me", "--since", "x"], 2, ["--since"]),
    (["policy", "replay", "--device", "me", "--since", "1d", "--set", "x=y"], 2, ["x"]),
    (["lint"], 2, ["files"]),
    (["lint", "--ads", "x.json"], 2, ["--ads"]),
    (["bench", "--devices", "-1"], 2, ["--devices"]),
    (["admin", "audit", "--limit", "0"], 2, ["--limit"]),
    (["--generate-completion-script", "tcsh"], 2, ["tcsh"]),
    (SEND + ["x", "--key", "/none.p8"], 2, ["/none.p8 can't be read: there is no such file", "--key"]),
    (SEND + ["x", "--certificate", "/none.pem"], 2, ["/none.pem can't be read: there is no such file"]),
    (["send", "--to", "me", "x"], 2, ["topic is missing", f"{TOPIC} in development"]),
    (["keys", "create", "--team", "NOPE", "--out", "{tmp}"], 2, ["10 characters"]),
    (["lint", "/none.json"], 2, ["/none.json"]),
    (["admin", "restore", "/none.sqlite", "--state", "{tmp}/restored"], 2, ["/none.sqlite can't be read: there is no such file"]),
    # 3: nobody of that name
    (["metrics", "nosuchmetric"], 3, ["nosuchmetric"]),
    (["send", "--to", f"nobody/{TOPIC}", "x"], 3, ["no device nobody"]),
    (["send", "--to", "me/com.example.none", "x"], 3, ["com.example.none"]),
    (["ask", "--to", f"nobody/{TOPIC}", "--title", "x", "--action", "y=Y"], 3, ["no device nobody"]),
    (["ask", "--to", "me/com.example.none", "--title", "x", "--action", "y=Y"], 3, ["com.example.none"]),
    (["subscribe", "--device", "mee", "--once"], 3, ["no device mee", "did you mean me?", "--enroll"]),
    (["prefs", "--device", "nobody"], 3, ["no device nobody"]),
    (["prefs", "set", "--device", "me", "--app", "com.example.none", "alert=off"], 3, ["no app"]),
    (["log", "--device", "nobody"], 3, ["no device nobody"]),
    (["apps", "set", "com.example.none", "--ads", "hold"], 3, ["no app com.example.none"]),
    (["apps", "category", "com.example.none"], 3, ["com.example.none"]),
    (["devices", "register", "nobody", TOPIC], 3, ["no device nobody"]),
    (["devices", "register", "me", "com.example.none"], 3, ["no app com.example.none"]),
    (["devices", "unregister", "nobody", TOPIC], 3, ["no device nobody"]),
    (["devices", "remove", "nobody"], 3, ["no device nobody", "`pushcli devices` shows them"]),
    (["devices", "rotate", "nobody"], 3, ["nobody"]),
    (["devices", "uninvite", "0000000000000000"], 3, ["0000000000000000"]),
    (["persons", "rename", "nobody", "x"], 3, ["nobody"]),
    (["persons", "remove", "nobody"], 3, ["nobody"]),
    (["keys", "create", "--team", "NOSUCHTEAM", "--out", "{tmp}"], 3, ["no team NOSUCHTEAM"]),
    (["keys", "remove", "NOSUCHKEY1"], 3, ["no key NOSUCHKEY1"]),
    (["certs", "create", "--topic", "com.example.none", "--out", "{tmp}"], 3, ["no app com.example.none", "--force"]),
    (["certs", "revoke", "0000000000000000"], 3, ["0000000000000000"]),
    (["channels", "subscribe", "AAAAAAAAAAAAAAAAAAAAAA==", "--batch", "none"], 3, ["no device has a name that begins with none-"]),
    (["channels", "delete", "AAAAAAAAAAAAAAAAAAAAAA=="], 3, ["AAAAAAAAAAAAAAAAAAAAAA=="]),
    (["faults", "remove", "nofault"], 3, ["nofault"]),
    (["policy", "explain", "--device", "nobody", "{tmp}/good.json"], 3, ["no device nobody"]),
    (["policy", "explain", "--device", "me", "--topic", "com.example.none", "{tmp}/good.json"], 3, ["no app com.example.none"]),
    (["policy", "replay", "--device", "nobody", "--since", "1d"], 3, ["no device nobody"]),
    (["policy", "replay", "--device", "me", "--since", "1d", "--app", "com.example.none"], 3, ["no app com.example.none"]),
    (["scheduled", "--device", "nobody"], 3, ["no device nobody"]),
    (["scheduled", "--app", "com.example.none"], 3, ["no app com.example.none"]),
    (["contexts", "use", "nowhere"], 3, ["no gateway is called nowhere"]),
    (["contexts", "refresh", "nowhere"], 3, ["no gateway is called nowhere"]),
    (["contexts", "trust", "nowhere"], 3, ["no gateway is called nowhere"]),
    # 4: not authorized
    (["send", "--to", "me/com.example.owned", "x"], 4, ["team OWNEDTEAM1", "keys create --team OWNEDTEAM1"]),
    # 5: refused for good
    (["send", "--token", "0" * 64, "--topic", TOPIC, "x"], 5, ["BadDeviceToken"]),
    (SEND + ["{tmp}/bad.json"], 5, ["PayloadEmpty", "line 3, column 1"]),
    (SEND + ["--sound", "../x"], 5, ["S1"]),
    # 6: unreachable
    (SEND + ["x", "--gateway", "127.0.0.1:1"], 6, ["127.0.0.1:1"]),
    (SEND + ["x", "--gateway", "https://127.0.0.1:1/"], 6, ["127.0.0.1:1"]),
    (SEND + ["x", "--gateway", "gateway.invalid:2197"], 6, ["gateway.invalid has no address: check the name"]),
    (["devices", "--gateway", "gateway.invalid:2197"], 6, ["gateway.invalid has no address: check the name"]),
    (["bench", "--devices", "1", "--duration", "1", "--ca", "/none.pem"], 2, ["/none.pem can't be read: there is no such file", "--ca FILE"]),
    (["bench", "--devices", "1", "--duration", "1", "--gateway", "127.0.0.1:1"], 6, ["nothing answers at 127.0.0.1:1: is the gateway"]),
    (["subscribe", "--device", "me", "--once", "--gateway", "127.0.0.1:1"], 6, ["127.0.0.1:1"]),
    # 1: failed
    (["devices", "enroll", "me"], 1, ["already"]),
    (["serve", "--state", "{tmp}/other", "--listen", "foo.invalid:2200"], 1, ["foo.invalid:2200", "no address"]),
    (["keys", "create", "--team", "DEVTEAM001", "--out", "/proc/none"], 1, ["/proc/none", "--out"]),
    # The status of what was run
    (["run", "--to", TO, "--", "/none/such"], 127, ["/none/such"]),
    (["run", "--to", TO, "--", "/etc/hostname"], 126, ["/etc/hostname"]),
]


@pytest.fixture(scope="module")
def me(gateway):
    device = gateway.device(name="me")
    gateway.run("teams", "add", "OWNEDTEAM1")
    gateway.run("apps", "add", "com.example.owned", "--name", "Owned", "--team", "OWNEDTEAM1")
    gateway.run("devices", "register", device.name, "com.example.owned")
    # More alerts come in these tests than an app may show in an hour.
    gateway.run("prefs", "set", "--device", device.name, "--app", TOPIC, "budget=unlimited")
    return gateway


@pytest.mark.parametrize(("line", "code", "words"), CASES, ids=[" ".join(line) for line, _, _ in CASES])
def test_a_wrong_invocation_is_one_line_and_its_code(me, tmp_path, line, code, words):
    (tmp_path / "bad.json").write_text('{"aps":{\n  "alert": "x",\n}}')
    (tmp_path / "good.json").write_text('{"aps":{"alert":"x"}}')
    line = [part.replace("{tmp}", str(tmp_path)) for part in line]
    done = run(*line, env={"PUSHGATEWAY_STATE": str(me.state)})
    assert done.code == code, (done.code, done.out, done.err)
    said = [text for text in done.err.splitlines() if not text.startswith("2")] if line[0] == "serve" else done.err.splitlines()
    assert len(said) == 1 and said[0].startswith("pushcli: "), done.err
    for word in words:
        assert word in said[0], f"{word!r} is not in {said[0]!r}"
    assert not LIBRARY.search(said[0]), said[0]
    assert done.out == ""


def test_every_code_of_the_page_is_in_the_table_or_has_a_test_of_its_own():
    page = (Path(__file__).parents[2] / "docs/reference/exit-codes.md").read_text()
    [rows] = re.findall(r"^\| code \| meaning \|\n\| --- \| --- \|\n((?:\|.*\n)+)", page, re.M)
    table = {int(code) for code in re.findall(r"^\| (\d+) \| [^|]+ \|$", rows, re.M)}
    assert table == {0, 1, 2, 3, 4, 5, 6, 7, 130}
    # 7 and 130 take a gateway that is there and a person who is not: test_commands.py has them.
    assert {code for _, code, _ in CASES} >= table - {0, 7, 130}


def test_what_can_not_be_trusted_is_not_tried_again(me, start):
    other = start(name="other")
    for line in [SEND + ["x"], ["subscribe", "--device", "me", "--once"], ["subscribe", "--device", "me", "--json"]]:
        done = run(*line, "--gateway", other.address, state=me.state)
        assert done.code == 6 and "not trusted" in done.err and "--ca" in done.err, (done.code, done.err)
        assert len(done.err.splitlines()) == 1, done.err


@pytest.mark.parametrize("line", [
    SEND + ["x"], ["subscribe", "--device", "me", "--once"], ["bench", "--devices", "1", "--duration", "1"],
], ids=" ".join)
def test_a_port_without_tls_is_reported_at_once(me, line):
    place = (me.state / "http-listening").read_text().split()[0]
    done = run(*line, "--gateway", place, state=me.state)
    assert done.code == 6, (done.code, done.err)
    assert f"pushcli: {place}: the answer is not TLS: expected an address of the setting listen" in done.err.splitlines()[-1], done.err


@pytest.mark.parametrize("option", ["--listen", "--http-listen"])
def test_a_first_start_on_a_taken_port_names_the_process_and_makes_no_folder(tmp_path, option):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        others = ["--listen", "127.0.0.1:0"] if option == "--http-listen" else []
        done = run("serve", option, place, *others, state=tmp_path / "new")
    holder = f"{Path('/proc/self/comm').read_text().strip()} (process {os.getpid()})"
    assert done.code == 1 and len(done.err.splitlines()) == 1, done.err
    assert f"can't listen on {place}: it is in use by {holder}: " in done.err and f"{option} HOST:PORT" in done.err
    assert not (tmp_path / "new").exists()


def test_a_later_start_on_a_taken_port_names_the_gateway_that_has_it(me, start):
    gateway = start(name="second")
    gateway.stop()
    done = run("serve", "--listen", me.address, state=gateway.state)
    assert done.code == 1 and f" (process {me.process.pid}): " in done.err.splitlines()[-1], done.err


@pytest.mark.parametrize("line", [["version"], ["--version"]], ids=" ".join)
def test_the_version_is_one_word(line):
    done = run(*line)
    assert done.code == 0 and re.fullmatch(r"\d+\.\d+\.\d+\n", done.out) and not done.err


@pytest.mark.parametrize("group", ["prefs", "policy", "apps", "devices", "persons", "teams", "keys", "certs", "channels", "faults", "admin", "ads"])
def test_the_page_of_a_group_has_examples(group):
    assert re.search(rf"Examples:\n +pushcli {group}", run(group, "--help").out)


@pytest.mark.parametrize("line", [SEND + ["-"], SEND + ["--body", "-"], ["policy", "explain", "--device", "me", "-"], ["faults", "load", "-"]], ids=" ".join)
def test_standard_input_that_can_not_be_read_is_said(me, tmp_path, line):
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        done = subprocess.run([PUSHCLI, *line, "--state", me.state], stdin=folder, capture_output=True, text=True, timeout=HANG)
    finally:
        os.close(folder)
    assert done.returncode == 2 and done.stderr.startswith("pushcli: standard input can't be read"), done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_file_may_be_a_pipe_of_the_shell():
    payload = '{"aps":{"alert":{"title":"Build Failed","body":"The tests of main failed."}}}'
    done = subprocess.run(
        ["bash", "-c", '"$0" lint <(printf %s "$1")', PUSHCLI, payload], capture_output=True, text=True, timeout=HANG)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# What is sent


def sent(gateway, count=1):
    done = gateway.run("subscribe", "--device", "me", "--json", "--count", count)
    return [record["payload"] for record in done.records]


def test_words_are_the_message(me):
    assert run(*SEND, "Hello", "there", state=me.state).code == 0
    assert sent(me) == [{"aps": {"alert": {"body": "Hello there"}}}]


def test_what_is_piped_in_is_the_message(me):
    assert run(*SEND, state=me.state, stdin="one\ntwo\n\n").code == 0
    assert run(*SEND, "--title", "Disk", state=me.state, stdin="full\n").code == 0
    assert run(*SEND, "--title", "T", "--body", "-", state=me.state, stdin="b\n").code == 0
    assert [payload["aps"]["alert"] for payload in sent(me, 3)] == [
        {"body": "one\ntwo"}, {"title": "Disk", "body": "full"}, {"title": "T", "body": "b"}]


@pytest.mark.parametrize(
    "loop",
    ['while read line; do "$0" send --to "$1" "$line"; done < "$2"', 'cat "$2" | while read line; do "$0" send --to "$1" --title "$line"; done',
     'while read line; do "$0" send --to "$1" --title "$line" --badge 1; done < "$2"'])
def test_a_loop_keeps_its_lines(me, tmp_path, loop):
    (tmp_path / "lines").write_text("a\nb\nc\n")
    done = subprocess.run(
        ["bash", "-c", loop, PUSHCLI, TO, tmp_path / "lines"], env=os.environ | {"PUSHGATEWAY_STATE": str(me.state)},
        capture_output=True, text=True, timeout=HANG)
    assert len(done.stdout.splitlines()) == 3, done.stderr
    assert [next(iter(payload["aps"]["alert"].values())) for payload in sent(me, 3)] == ["a", "b", "c"]


def test_nothing_waits_for_standard_input_when_there_is_a_message(me):
    """A pipe that nobody closes, as a script may have it."""
    reader, writer = os.pipe()
    try:
        done = subprocess.run(
            [PUSHCLI, *SEND, "Hello", "--state", me.state], stdin=reader, capture_output=True, timeout=HANG)
        assert done.returncode == 0
    finally:
        os.close(reader)
        os.close(writer)
    sent(me)


def test_flags_become_the_payload(me):
    done = run(
        *SEND, "--title", "T", "--thread", "t1", "--level", "time-sensitive", "--relevance", "0.5", "--category", "NEWS",
        "--link", "https://x.example/a", "--image", "https://x.example/p.png", "--data", "order=4711", "B", state=me.state)
    assert done.code == 0, done.err
    assert sent(me) == [{
        "aps": {"alert": {"title": "T", "body": "B"}, "thread-id": "t1", "interruption-level": "time-sensitive",
                "relevance-score": 0.5, "category": "NEWS", "mutable-content": 1},
        "url": "https://x.example/a", "image": "https://x.example/p.png", "order": "4711"}]


def test_a_payload_is_named_in_four_ways(me, tmp_path):
    path = tmp_path / "payload"
    path.write_text('{"aps":{"badge":4}}')
    path.with_suffix(".json").write_text('{"aps":{"badge":5}}')
    for line in [["-f", path], [f"@{path}"], ["--file", path], [path.with_suffix(".json")]]:
        assert run(*SEND, *line, state=me.state).code == 0
    assert run(*SEND, "-", state=me.state, stdin='{"aps":{"badge":6}}').code == 0
    assert [payload["aps"]["badge"] for payload in sent(me, 5)] == [4, 4, 4, 5, 6]


# run


def push(gateway):
    [record] = gateway.run("subscribe", "--device", "me", "--json", "--once").records
    return record["presentation"]["alert"]


def test_run_passes_everything_through_and_tells_the_end(me):
    done = run("run", "--to", TO, "--", "sh", "-c", "cat; echo err >&2; exit 3", state=None, stdin="in",
               env={"PUSHGATEWAY_STATE": str(me.state)})
    assert (done.code, done.out, done.err) == (3, "in", "err\n")
    alert = push(me)
    assert alert["title"].startswith("Failed: sh -c")
    assert re.fullmatch(r"Exit status 3 after \d+\.\d s\.\nerr\nin", alert["body"])


def test_run_sends_the_command_and_the_last_lines(me):
    script = r"seq 1000; printf '\033[31mred\033[0m\r\n10%%\r100%%\n' >&2"
    with subprocess.Popen(
            [PUSHCLI, "run", "--to", TO, "--", "sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=os.environ | {"PUSHGATEWAY_STATE": str(me.state)}) as child:
        out = child.stdout.read()
    assert out == b"".join(b"%d\n" % n for n in range(1, 1001)) + b"\033[31mred\033[0m\r\n10%\r100%\n"
    how, command, *lines = push(me)["body"].split("\n")
    assert how.startswith("Exit status 0 after") and command == "$ sh -c " + script
    assert lines == [str(n) for n in range(983, 1001)] + ["red", "100%"]


def test_run_sends_no_output_when_told_so(me):
    done = run("run", "--to", TO, "--output", "none", "--", "echo", "x", env={"PUSHGATEWAY_STATE": str(me.state)})
    assert (done.code, done.out) == (0, "x\n")
    assert re.fullmatch(r"Exit status 0 after \d+\.\d s\.", push(me)["body"])


def test_run_sends_the_end_also_when_the_output_is_refused(me):
    text = "Buy now: 50 % off everything, only today! Use code SAVE50 in our shop."
    done = run("run", "--to", TO, "--title", "Newsletter", "--", "echo", text, env={"PUSHGATEWAY_STATE": str(me.state)})
    assert (done.code, done.err) == (0, "")
    assert push(me)["body"].splitlines()[0].startswith("Exit status 0")


def test_run_ends_although_the_background_has_its_output(me, tmp_path):
    """What the command leaves behind writes on, as it would without `run`."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen(
            [PUSHCLI, "run", "--to", TO, "--", "sh", "-c", f"(read word < {fifo}; echo late $word) & echo early"],
            stdout=subprocess.PIPE, text=True, env=os.environ | {"PUSHGATEWAY_STATE": str(me.state)}) as child:
        assert child.stdout.readline() == "early\n"
        assert child.wait(HANG) == 0
        assert push(me)["body"].splitlines()[-1] == "early"
        fifo.write_text("word\n")
        assert child.stdout.read() == "late word\n"


def test_run_tells_success_and_needs_no_hyphens(me):
    assert run("run", "--to", TO, "true", env={"PUSHGATEWAY_STATE": str(me.state)}).code == 0
    assert push(me)["title"] == "Done: true"


def test_run_exits_as_a_shell_tells_a_signal(me):
    done = run("run", "--to", TO, "--", "sh", "-c", "kill -KILL $$", env={"PUSHGATEWAY_STATE": str(me.state)})
    assert done.code == 137
    assert push(me)["body"].startswith("Ended by signal 9 after ")


def test_run_hands_on_a_signal_that_ends_it(me):
    child = subprocess.Popen(
        [PUSHCLI, "run", "--to", TO, "--", "sh", "-c", "echo up; exec sleep 60"], stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PUSHGATEWAY_STATE": str(me.state)})
    assert child.stdout.readline() == "up\n"
    child.send_signal(signal.SIGTERM)
    assert child.wait(HANG) == 143
    assert push(me)["body"].startswith("Ended by signal 15 after ")


@pytest.mark.parametrize(
    "line", [["--to", f"nobody/{TOPIC}"], ["--to", TO, "--gateway", "127.0.0.1:1"], ["--token", "0" * 64, "--topic", TOPIC]], ids=" ".join)
def test_run_passes_the_status_through_when_nothing_can_be_sent(me, line):
    done = run("run", *line, "--", "sh", "-c", "exit 9", env={"PUSHGATEWAY_STATE": str(me.state)})
    assert done.code == 9
    [words] = done.err.splitlines()
    assert words.startswith("pushcli: the push was not sent: ")


def test_run_tells_only_what_it_is_asked_to(me):
    for line in [["--after", "1h", "--", "true"], ["--on-failure", "--", "true"]]:
        assert run("run", "--to", TO, *line, env={"PUSHGATEWAY_STATE": str(me.state)}).code == 0
    assert run("run", "--to", TO, "--on-failure", "--title", "Backup", "--", "false", env={"PUSHGATEWAY_STATE": str(me.state)}).code == 1
    assert push(me)["title"] == "Backup"


# Devices that are not there yet


def test_the_first_device_needs_no_name_and_no_question(start):
    gateway = start()
    for line in [["--enroll"], []]:
        done = subprocess.Popen(
            [PUSHCLI, "subscribe", *line, "--app", TOPIC, "--json", "--once", "--state", gateway.state],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while "connected" not in (text := done.stderr.readline()):
            assert text.startswith("enrolled me"), text
        assert run("send", "--to", TO, "Hello", state=gateway.state).code == 0
        assert '"Hello"' in done.communicate(timeout=HANG)[0] and done.returncode == 0
    assert [device["name"] for device in gateway.run("devices", "--json").records] == ["me"]
    gateway.device(name="second")
    done = run("subscribe", "--once", state=gateway.state)
    assert done.code == 2 and "me and second" in done.err


def test_a_name_that_was_mistyped_makes_no_device(me):
    done = run("subscribe", "--device", "mee", "--once", state=me.state)
    assert done.code == 3 and "did you mean me?" in done.err
    assert "mee" not in [device["name"] for device in me.run("devices", "--json").records]


# lint --ads


def test_lint_ads_tells_what_it_can_not_read(tmp_path):
    lines = b'{"id":"a\\tb\\n","body":"Hello"}\nnonsense\n\n{"id":7}\n{"body":"x"}\n\xff\n{"id":"z","body":"50% off, buy now!"}\n'
    done = subprocess.run([PUSHCLI, "lint", "--ads"], input=lines, capture_output=True, timeout=HANG)
    rows = done.stdout.decode().splitlines()
    assert [len(row.split("\t")) >= 3 for row in rows] == [True, True] and rows[0].startswith("a\\u{9}b\\u{a}\t"), rows
    said = done.stderr.decode().splitlines()
    assert done.returncode == 1 and [line.split(":")[0] for line in said[:4]] == ["line 2", "line 4", "line 5", "line 6"], said
    assert "4 lines are not a notification" in said[4]
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        done = subprocess.run([PUSHCLI, "lint", "--ads"], stdin=folder, capture_output=True, text=True, timeout=HANG)
    finally:
        os.close(folder)
    assert done.returncode == 2 and "folder" in done.stderr


def test_lint_ads_has_json():
    done = run("lint", "--ads", "--json", stdin='{"id":"a","body":"Hello"}\n{"id":"z","body":"50% off, buy now!"}\n')
    assert done.code == 0
    assert [record["id"] for record in done.records] == ["a", "z"]
    assert [record["label"] for record in done.records] == ["ok", "promo"] and done.records[1]["reasons"][0]["quote"]


@pytest.mark.parametrize(("answer", "code"), [("n", 3), ("", 3), ("y", 0)])
def test_on_a_terminal_a_new_name_is_asked_about(me, answer, code):
    name = f"desk{answer}"
    ours, theirs = os.openpty()
    child = subprocess.Popen(
        [PUSHCLI, "subscribe", "--device", name, "--app", TOPIC, "--plain", "--once", "--state", me.state], stdin=theirs,
        stdout=subprocess.PIPE, stderr=theirs, text=True)
    os.close(theirs)
    said = b""
    while b"[y/N] " not in said:
        said += os.read(ours, 4096)
    assert b"There is no device" in said
    os.write(ours, (answer + "\n").encode())
    if code == 0:
        while b"connected" not in said:
            said += os.read(ours, 4096)
        assert run("send", "--to", f"{name}/{TOPIC}", "Hello", state=me.state).code == 0
        assert "Hello" in child.communicate(timeout=HANG)[0]
    assert child.wait(HANG) == code
    os.close(ours)
    assert (name in [device["name"] for device in me.run("devices", "--json").records]) == (code == 0)
