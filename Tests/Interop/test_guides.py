"""The lines of README and of the pages that are named below, run in their order as they are.

A block says on which machine it runs (```sh gateway): each has a home of its own. Other blocks are not run.
"""

import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import tempfile
import uuid
from pathlib import Path

import pytest
from brokers import NATS_SERVER, needs_brokers
from gateway import PUSHCLI, TOPIC, Gateway
from screen import Linear, Screen, needs_tmux
from waiting import HANG
from wire import DeviceStream

DOCS = Path(__file__).parents[2] / "docs"
#: A code of an invitation, and the fingerprint that it begins with.
CODE = r"\b[0-9A-Z]{4}(?:-[0-9A-Z]{4}){3}(?:-[0-9A-Z]{5}){2}\b"
AUTHORITY = r"\b[0-9A-Z]{4}(?:-[0-9A-Z]{4}){3}(?=@)"


class Machines:
    """The gateway's machine and others: the same computer, with a home for each."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "bin").mkdir()
        (folder / "bin" / "pushcli").symlink_to(PUSHCLI)
        self.gateway = Gateway(self.home("gateway") / ".local/share/pushgateway").start()
        self.gateway.device(name="me")
        self.said = ""
        self.known = {}

    def home(self, name):
        home = self.folder / name
        home.mkdir(exist_ok=True)
        return home

    def stream(self, name):
        """The stream of a device that a block has enrolled."""
        secret = json.loads((self.gateway.state / f"devices/{name}.json").read_text())["secret"]
        return DeviceStream(self.gateway.connect(), secret)

    def run(self, machine, block, during=lambda: None):
        """Runs a block; what it prints is known to the later ones, as to a person who reads it. `during` is called while it runs."""
        codes = re.findall(CODE, self.said)
        text = re.sub(CODE, codes[-1], block) if codes else block
        authorities = re.findall(r"^[0-9A-Z]{4}(?:-[0-9A-Z]{4}){3}$", self.said, re.M)
        text = re.sub(AUTHORITY, authorities[-1], text) if authorities else text
        # The other end of the wire is this machine.
        text = re.sub("gateway.example:2197|localhost:2197", self.gateway.address.replace("127.0.0.1", "localhost"), text)
        environment = {"HOME": str(self.home(machine)), "PATH": f"{self.folder}/bin:{os.environ['PATH']}", "LANG": "C.UTF-8", **self.known}
        process = subprocess.Popen(["bash", "-euo", "pipefail", "-c", text], cwd=self.home(machine), env=environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        during()
        out, err = process.communicate(timeout=HANG)
        assert process.returncode == 0, f"{text}\nended with {process.returncode}:\n{out}{err}"
        self.said += out + err
        return out


def blocks(page):
    found = re.findall(r"^```sh (\S+)\n(.*?)^```$", (DOCS / page).read_text(), re.M | re.S)
    assert found
    return found


def steps(page):
    """The blocks of a page, each with the text that the page shows as its output."""
    text = (DOCS / page).read_text()
    found = re.findall(r"^```sh (\S+)\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", text, re.M | re.S)
    assert len(found) == text.count("```sh ")
    return found


@pytest.fixture
def machines():
    # A socket's path is short.
    folder = Path(tempfile.mkdtemp(prefix="guides-"))
    machines = Machines(folder)
    yield machines
    machines.gateway.stop()
    shutil.rmtree(folder)


def bring(machines, name):
    """What a person copies and reads: keys, and the token that was printed last."""
    for key in (machines.home("gateway") / "keys").glob("AuthKey_*.p8"):
        (machines.home(name) / key.name).write_text(key.read_text())
        machines.known["KEYID"] = key.stem.removeprefix("AuthKey_")
    tokens = re.findall(r"^[0-9a-f]{64}$", machines.said, re.M)
    machines.known["TOKEN"] = tokens[-1] if tokens else ""


def test_the_readmes_first_request_is_accepted(machines):
    [block] = [block for machine, block in blocks("../README.md") if machine == "gateway"]
    printed = machines.run("gateway", block)
    assert printed.count("HTTP/2 200") == 1 and "apns-id" in printed


def test_the_readmes_quick_start_shows_a_push(tmp_path):
    [block] = [block for machine, block in blocks("../README.md") if machine == "quick-start"]
    serve, subscribe, send = block.splitlines()
    # A socket's path is short; the port is one that is free.
    with tempfile.TemporaryDirectory(prefix="quick-") as home:
        environment = {"HOME": home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PUSHGATEWAY_LISTEN": "127.0.0.1:0"}

        def begin(line):
            return subprocess.Popen(
                [PUSHCLI, *shlex.split(line)[1:]], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True)

        def read_to(stream, words):
            line = next((line for line in stream if words in line), None)
            assert line, f"the program ended without {words!r}"

        gateway = begin(serve)
        try:
            read_to(gateway.stdout, "listening on")
            device = begin(f"{subscribe} --plain --count 1")
            read_to(device.stderr, "connected")
            sent = begin(send)
            assert sent.communicate(timeout=HANG)[1] == "" and sent.returncode == 0
            assert "Train in 5 Minutes\nPlatform 4." in device.communicate(timeout=HANG)[0]
        finally:
            gateway.terminate()
            gateway.communicate(timeout=HANG)


class Tutorial:
    """The terminals of docs/start/first-push.md: a gateway, a device on a screen, and a shell. Its page shows what each block prints."""

    def __init__(self, home):
        self.home, self.screen, self.gateway = home, None, None
        (home / "bin").mkdir()
        (home / "bin" / "pushcli").symlink_to(PUSHCLI)
        # The port is one that is free.
        self.environment = {"HOME": str(home), "PATH": f"{home}/bin:{os.environ['PATH']}", "LANG": "C.UTF-8", "PUSHGATEWAY_LISTEN": "127.0.0.1:0"}

    def begin(self, line, stderr=subprocess.DEVNULL):
        return subprocess.Popen(
            shlex.split(line), cwd=self.home, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=stderr, text=True)

    def serve(self, block, shown):
        self.gateway = self.begin(block, stderr=subprocess.STDOUT)
        lines = []
        while len(lines) < len(shown.splitlines()) and (line := self.gateway.stdout.readline()):
            # Its log warns of root.
            lines += [] if line.startswith("ts=") else [line]
        return "".join(lines)

    def subscribe(self, block):
        settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in self.environment.items())
        self.screen = Screen(f"cd {self.home} && env {settings} {block.strip()}")
        self.screen.shows("News", "1 Home", "●")

    def run(self, block, shown):
        events = set(re.findall(r"^\S+ \S+  ([a-z]+) ", shown, re.M))
        if events:
            self.until_logged(block.replace("$ID", self.environment.get("ID", "")), events)
        # A later block knows the variables.
        text = f"{block}\necho \"ID=$ID\" >.variables"
        done = subprocess.run(["bash", "-c", text], cwd=self.home, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, text=True, timeout=HANG)
        self.environment["ID"] = (self.home / ".variables").read_text().strip().removeprefix("ID=")
        return done.stdout

    def until_logged(self, line, events):
        """Returns when the delivery log has these events: it is written behind."""
        log = self.begin(f"{line} --follow --json")
        try:
            for row in log.stdout:
                events = events - {json.loads(row)["event"]}
                if not events:
                    return
            raise AssertionError(f"no {events} in {line}")
        finally:
            log.kill()
            log.communicate()

    def close(self):
        if self.screen:
            self.screen.close()
        if self.gateway:
            self.gateway.terminate()
            self.gateway.communicate(timeout=HANG)


def fixed(text):
    """The parts of an output that are the same each time; the order of a push's rows is that of their times."""
    for pattern, name in [
        (r"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}", "UUID"), (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d", "TIME"),
        (r"127\.0\.0\.1:\d+", "ADDRESS"), (r"\S+/\.local/share/pushgateway", "STATE"), (r"AuthKey_\w+|\bkey DEV\w{7}", "KEY"),
    ]:
        text = re.sub(pattern, name, text)
    lines = text.rstrip("\n").split("\n")
    return sorted(lines) if lines[0].startswith("TIME") else lines


def test_the_objects_of_the_concepts_are_created_as_their_page_says(machines):
    [(machine, block)] = blocks("concepts/overview.md")
    machines.run(machine, block)
    waiting = machines.gateway.run("devices", "list", "--filter", "desk", "--json").json
    assert waiting["person"] == "ada" and waiting["waiting"] == 1


@needs_tmux
def test_the_first_push_goes_as_its_page_says():
    page = (DOCS / "start/first-push.md").read_text()
    assert sum(bool(shown) for _, _, shown in steps("start/first-push.md")) == page.count("```text")
    # A socket's path is short.
    with tempfile.TemporaryDirectory(prefix="first-") as home:
        tutorial = Tutorial(Path(home))
        try:
            for terminal, block, shown in steps("start/first-push.md"):
                if terminal == "terminal-2":
                    tutorial.subscribe(block)
                    continue
                printed = tutorial.serve(block, shown) if terminal == "terminal-1" else tutorial.run(block, shown)
                if shown:
                    assert fixed(printed) == fixed(shown), block
                if "--title" in block:
                    # The push of the first `pushcli send`, whose id its reader copies.
                    tutorial.environment["ID"] = printed.strip()
                    tutorial.screen.shows("Train in 5 Minutes", "Platform 4.", "Close", "▸ View")
                    tutorial.screen.press("v")
                if '"badge":7' in block:
                    tutorial.screen.shows("Train in 5 Minutes", "▸")
                    tutorial.screen.press("c")
        finally:
            tutorial.close()


def test_a_second_machine_is_set_up_as_its_page_says(machines):
    heard = ""
    for machine, block in blocks("start/second-machine.md"):
        if machine != "gateway":
            bring(machines, machine)
        printed = machines.run(machine, block)
        if "subscribe" in block:
            heard = printed
    assert "Hello over there." in heard
    # The one that the sender sent waits for it.
    waiting = machines.gateway.run("devices", "list", "--filter", "laptop", "--json").json
    assert waiting["person"] == "ada" and waiting["waiting"] == 1
    secret = machines.home("laptop") / ".local/share/pushgateway/contexts/localhost/devices/laptop.json"
    assert secret.stat().st_mode & 0o777 == 0o600


def test_a_gateway_is_administered_from_elsewhere_as_its_page_says(machines):
    (machines.home("gateway") / "keys").mkdir()
    made = machines.gateway.run("keys", "create", "--team", "DEVTEAM001", "--out", machines.home("gateway") / "keys")
    assert made
    for machine, block in blocks("operate/remote-administration.md"):
        if machine == "laptop":
            bring(machines, machine)
            token = re.findall(r"^pga-\S+$", machines.said, re.M)[-1]
            (machines.home("laptop") / "token.txt").write_text(token + "\n")
        printed = machines.run(machine, block)
        if "admin audit" in block:
            assert re.search(r"/admin/v1/tokens", printed)
        if "ask" in block:
            assert "nobody answered: 7" in printed
    assert "anna" not in machines.gateway.run("admin", "tokens").out


def test_the_requests_of_the_admin_api_are_answered_as_its_page_says(machines):
    gateway, laptop = machines.home("gateway"), machines.home("laptop")
    for machine, block in blocks("reference/admin-api.md"):
        printed = machines.run(machine, block)
        if "> token.txt" in block:
            shutil.copy(gateway / "token.txt", laptop)
            shutil.copy(machines.gateway.state / "ca.pem", laptop)
            continue
        assert '"environment":"development"' in printed and '"topic":"com.example.mail"' in printed
    assert '"name":"oncall"' in printed and '"rows":[' in printed


def test_persons_are_looked_after_as_their_page_says(machines):
    outputs = [machines.run(machine, block) for machine, block in blocks("receive/users-and-groups.md")]
    assert re.search(r"^ada +couch desk$", outputs[0], re.M)
    assert re.search(rf"{re.escape(TOPIC)} .*off", outputs[1])
    assert "nobody answered: 7" in outputs[2]
    assert "ada" not in machines.gateway.run("persons").out.lower()


def answer_next(stream, action):
    """Answers the next alert that offers this action."""

    def offered(push):
        alert = push["presentation"].get("alert", {})
        return [action["id"] for action in alert.get("actions", [])] or ["view"]

    while action not in offered(push := stream.next_of("push")):
        pass
    stream.acknowledge(push["seq"])
    stream.say(type="answer", id=push["id"], action=action)


def test_questions_are_asked_and_answered_as_their_page_says(machines):
    page = "receive/ask.md"
    [(_, first), *others] = blocks(page)
    machines.run("gateway", first)
    stream = machines.stream("phone")
    # The name of a block is the action of the user, or `gateway` where no user answers.
    outputs = [
        machines.run("gateway", block, during=(lambda: None) if action == "gateway" else lambda: answer_next(stream, action))
        for action, block in others
    ]
    stream.connection.close()
    assert outputs[0] == "approve\ndeploying\n" and outputs[1] == "reject\nrejected\n"
    [example] = re.findall(r"^```json\n(.*?)^```$", (DOCS / page).read_text(), re.M | re.S)
    printed = json.loads(outputs[2])
    assert json.loads(example) | {"apns_id": printed["apns_id"]} == printed
    assert "no answer: 7" in outputs[3] and "no answer: 7" in outputs[4]


def test_agents_ask_as_their_page_says(machines):
    page = "send/agents.md"
    found = steps(page)
    machines.run("gateway", found[0][1])
    stream = machines.stream("phone")
    # The name of a block is the action of the user, or `gateway` where no user answers.
    for action, block, shown in found[1:]:
        printed = machines.run("gateway", block, during=(lambda: None) if action == "gateway" else lambda: answer_next(stream, action))
        assert printed == shown
    [session] = re.findall(r"^```mcp\n(.*?)^```$", (DOCS / page).read_text(), re.M | re.S)
    environment = {"HOME": str(machines.home("gateway")), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    with subprocess.Popen([PUSHCLI, "mcp", "--to", "phone/com.example.agents"], env=environment, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as agent:
        for line in session.splitlines():
            text = line[2:]
            if line.startswith("> "):
                agent.stdin.write(text + "\n")
                agent.stdin.flush()
                continue
            if "answered" in text:
                answer_next(stream, "action-1")
            printed = re.sub(r'"version":"[^"]+"', '"version":"0.2.0"', agent.stdout.readline().rstrip("\n"))
            assert fixed(printed) == fixed(text)
    assert agent.returncode == 0
    stream.connection.close()


def test_quiet_hours_are_set_as_their_page_says(machines):
    page = "receive/quiet-hours.md"
    rows = re.findall(r"\| `(pushcli prefs set [^`]+)` \|$", (DOCS / page).read_text(), re.M)
    assert len(rows) == 7
    for machine, block, shown in steps(page):
        if "provisional=keep" in block:
            # It undoes the commands of the table before it.
            changed = machines.run(machine, "\n".join(rows))
            assert re.search(r"^  SPORT .* off$", changed, re.M)
        printed = machines.run(machine, block)
        assert not shown or printed == shown, block
        if "provisional=keep" in block:
            assert re.search(rf"^{re.escape(TOPIC)} +on +on +on +on *$", printed, re.M)
    assert '"quiet":["22:00-07:00 Europe/Berlin"]' in printed


def test_programs_receive_as_their_page_says(machines):
    page = "receive/scripts-and-programs.md"
    outputs = [machines.run(machine, block) for machine, block in blocks(page)]
    home = machines.home("gateway")
    assert "Train in 5 Minutes\nPlatform 4.\n" in outputs[1]
    [example] = re.findall(r"^```json\n(.*?)^```$", (DOCS / page).read_text(), re.M | re.S)
    example, received = json.loads(example), json.loads((home / "pushes.ndjson").read_text())
    changing = {name: received[name] for name in ("id", "received", "expires")}
    assert example | changing == received
    assert (home / "urgent.txt").read_text() == "critical: The disk is full.\n"
    assert json.loads((home / "news.ndjson").read_text())["payload"]["aps"]["thread-id"] == "trip-42"
    assert not (home / "others.txt").exists()
    assert outputs[5].startswith("ci, ")


def test_lines_are_typed_as_their_page_says(machines):
    [example] = re.findall(r"^```text\n(.*?)^```$", (DOCS / "receive/scripts-and-programs.md").read_text(), re.M | re.S)
    device = machines.gateway.device()
    phone = Linear(machines.gateway, device)
    try:
        phone.shows("Connected to pushgateway.")
        machines.gateway.accepted(device.token, {"aps": {"alert": {"title": "Train in 5 Minutes", "body": "Platform 4."}}})
        phone.shows("1 Close  2 View?")
        phone.settled("close", "Close.")
        phone.says("center", "1. ", "Platform 4.")
    finally:
        phone.close()
    typed = iter(re.sub(r"\d\d:\d\d", "TIME", phone.text).replace("\r", "").split("\n"))
    for line in re.sub(r"\d\d:\d\d", "TIME", example).splitlines():
        assert line in typed, f"{line!r} is missing in\n{phone.text}"


def test_pushes_are_scheduled_and_retracted_as_their_page_says(machines):
    machines.gateway.register("me", TOPIC)
    for machine, block in blocks("send/schedule-and-retract.md"):
        machines.run(machine, block)
    # The pushes of the first block are still scheduled.
    assert len(machines.gateway.run("scheduled", "list", "--device", "me", "--json").records) == 3
    assert "retracted: it leaves the screens" in machines.said
    stream = machines.stream("me")
    titles = [push["payload"]["aps"]["alert"]["title"] for push in stream.caught_up() if push["type"] == "push"]
    stream.connection.close()
    assert titles == ["Train in 5 Minutes", "Score 2:0"]


def test_payloads_are_checked_as_their_page_says(machines):
    for machine, block, shown in steps("send/check-payloads.md"):
        assert machines.run(machine, block) == shown, block


def test_faults_are_injected_as_their_page_says(machines):
    machines.gateway.register("me", TOPIC)
    shutil.copy(DOCS / "send/faults-example.yaml", machines.home("gateway") / "scenario.yaml")
    first, second = [machines.run(machine, block) for machine, block in blocks("send/test-error-handling.md")]
    assert first.count("exit code") == 3 and re.search(r"^[0-9A-F-]{36}$", first, re.M)
    assert "busy" in second
    assert machines.gateway.run("faults", "list", "--json").out == ""


def test_curl_sends_as_the_page_of_client_libraries_says(machines):
    outputs = [machines.run(machine, block) for machine, block in blocks("send/client-libraries.md")]
    assert len(outputs) == 2 and all("HTTP/2 200" in output for output in outputs)


def test_a_channel_is_used_and_shared_as_its_page_says(machines):
    outputs = []
    for machine, block in blocks("send/broadcasts.md"):
        if machine == "reader":
            machines.known["LINK"] = re.search(r"^\S+@\S+$", outputs[-1], re.M)[0]
        elif "$SHARE" in block:
            machines.known["SHARE"] = machines.gateway.run("channels", "shares", "--json").json["id"]
        outputs.append(machines.run(machine, block))
        machines.known["CHANNEL"] = machines.gateway.run("channels", "list", "--json").json["id"]
    # The device of the gateway's machine and that of the reader have the message.
    assert "Line 4 Is Closed" in outputs[0] and "Line 4 Is Closed" in outputs[3]
    assert machines.gateway.run("channels", "shares", "--json").out == ""


def test_the_cookbooks_lines_send(machines):
    [(_, block), (_, buttons)] = blocks("send/cookbook.md")
    machines.gateway.register("me", TOPIC)
    folder = machines.home("gateway")
    (folder / "Makefile").write_text("test:\n\t@echo tested\n")
    (folder / "payload").write_text('{"aps":{"alert":{"title":"A Whole Payload"}}}')
    (folder / "hosts").write_text("alpha\nbeta\n")
    secret = json.loads((machines.gateway.state / "devices/me.json").read_text())["secret"]
    stream = DeviceStream(machines.gateway.connect(), secret)
    # In the background: its push is viewed below.
    before, waiting, after = re.split(r"(^.*--wait viewed.*\n)", block, flags=re.M)
    machines.run("gateway", before)
    awaited = subprocess.Popen(["bash", "-euc", f"exec {waiting}"], cwd=folder, stdout=subprocess.PIPE, text=True, env={
        "HOME": str(folder), "PATH": f"{machines.folder}/bin:{os.environ['PATH']}", "LANG": "C.UTF-8"})
    texts = []
    while not texts or texts[-1] != "Ready":
        push = stream.next_of("push")
        alert = push["payload"]["aps"]["alert"]
        texts.append(alert.get("title") or alert["body"])
    stream.acknowledge(push["seq"])
    stream.say(type="answer", id=push["id"], action="view")
    assert awaited.communicate(timeout=HANG)[0].strip() == push["id"] and awaited.returncode == 0
    assert texts[0] == "The backup is done." and texts[1:4] == ["Room on Disk", "Train in 5 Minutes", "A Whole Payload"]
    assert len(texts) == 6 and "make test" in texts[4]
    machines.run("gateway", after)
    assert [stream.next_of("push")["payload"]["aps"]["alert"]["body"] for _ in range(2)] == ["alpha is down", "beta is down"]
    machines.run("gateway", buttons)
    assert [action["id"] for action in stream.next_of("push")["presentation"]["alert"]["actions"]] == ["approve", "reject"]
    stream.connection.close()


def test_the_cookbooks_flags_make_its_payloads(machines):
    page = (DOCS / "send/cookbook.md").read_text().partition("## Flags and payload keys")[2].partition("\n## ")[0]
    rows = [line.replace("https://…", "https://example.com/x").strip("| ").split(" | ") for line in page.splitlines() if "`--" in line]
    rows = [row for row in rows if len(row) == 3]
    assert len(rows) == 15
    machines.gateway.register("me", TOPIC)
    machines.gateway.run("apps", "category", TOPIC, "DEPLOY", "--action", "approve=Approve")
    sent = {}
    for purpose, flags, payload in rows:
        options = [word for flag in re.findall(r"`(--[^`]+)`", flags) for word in shlex.split(flag)]
        options = [str(uuid.uuid4()).upper() if word == "UUID" else word for word in options]
        done = machines.gateway.run("send", "--to", f"me/{TOPIC}", *options, *([] if "--title" in options else ["--title", "T"]))
        sent[done.out.strip()] = (purpose, payload)
        assert "--id" not in options or done.out.strip() == options[-1]
    secret = json.loads((machines.gateway.state / "devices/me.json").read_text())["secret"]
    stream = DeviceStream(machines.gateway.connect(), secret)
    received = {push["id"]: push["payload"] for push in stream.caught_up() if push["type"] == "push"}
    stream.connection.close()
    # `--expires 0` has one attempt, and no device is connected.
    assert sent.keys() - received.keys() == {id for id, (_, payload) in sent.items() if "apns-expiration: 0" in payload}
    for id, (purpose, payload) in sent.items():
        if whole := re.fullmatch(r"`(\{.*\})`", payload):
            assert received[id] == json.loads(whole[1]), purpose
        for member, at in re.findall(r"`(\"[^`]+)` (in|next to) ", payload):
            expected = json.loads(f"{{{member}}}").items()
            assert expected <= (received[id]["aps"] if at == "in" else received[id]).items(), purpose


def test_a_gateway_is_upgraded_and_goes_back_as_its_page_says(machines):
    for machine, block in blocks("operate/upgrading.md"):
        if machine == "after-stop":
            machines.gateway.stop()
            machine = "gateway"
        machines.run(machine, block)
    machines.gateway.restart()
    # The backup is of before the push.
    assert machines.gateway.run("devices", "list", "--filter", "me", "--json").json["waiting"] == 0


@needs_brokers
def test_the_configuration_and_the_certificates_of_the_brokers_page_are_valid(tmp_path):
    page = (DOCS / "cluster/brokers.md").read_text()
    [certificates] = re.findall(r"^```sh\n(openssl .*?)^```$", page, re.M | re.S)
    subprocess.run(["bash", "-euc", certificates], cwd=tmp_path, check=True, capture_output=True, timeout=HANG)
    [configuration] = re.findall(r"^```\n(server_name: .*?)^```$", page, re.M | re.S)
    # nsc writes the file of the account.
    configuration = configuration.replace('include "gateways.conf"\n', "").replace("/etc/nats", str(tmp_path))
    (tmp_path / "nats.conf").write_text(configuration.replace("/var/lib/nats", str(tmp_path / "store")))
    checked = subprocess.run(
        [NATS_SERVER, "-c", tmp_path / "nats.conf", "-t"], capture_output=True, text=True, timeout=HANG)
    assert checked.returncode == 0, checked.stderr
    issued = subprocess.run(
        ["openssl", "verify", "-CAfile", "ca.pem", "-verify_hostname", "a.example.com", "broker.pem"], cwd=tmp_path,
        capture_output=True, text=True, timeout=HANG)
    assert issued.returncode == 0, issued.stderr


def test_the_messages_of_troubleshooting_are_the_programs():
    sources = "".join(file.read_text() for file in (DOCS.parent / "Sources").rglob("*.swift"))
    rows = re.findall(r"^\| `([^`]+)`[^|]*\|", (DOCS / "operate/troubleshooting.md").read_text(), re.M)
    assert len(rows) > 20
    for message in rows:
        for part in message.split("…"):
            assert part.strip(" :()") in sources, f"nothing says {part!r} of {message!r}"


def test_monitoring_lists_each_alert_with_its_severity():
    rules = (DOCS.parent / "deploy/prometheus/alerts.yaml").read_text()
    alerts = re.findall(r"- alert: (\w+)\n.*?severity: (\w+)", rules, re.S)
    rows = re.findall(r"^\| `(PushGateway\w+)` \| (\w+) \|", (DOCS / "operate/monitoring.md").read_text(), re.M)
    assert len(alerts) == rules.count("- alert: ") and sorted(rows) == sorted(alerts)


@pytest.mark.parametrize("script, row, figures", [
    ("accept", "10 × 32, ours, never stored", {"requests/s": "{:,.0f}/s", "CPU µs": "{:.1f} µs"}),
    ("accept", "10 × 32, ours, durable full", {"requests/s": "{:,.0f}/s", "CPU µs": "{:.1f} µs"}),
    ("accept", "10 × 32, ours, durable normal", {"requests/s": "{:,.0f}/s", "CPU µs": "{:.1f} µs"}),
    ("accept", "1 × 1, ours, durable full", {"requests/s": "{:,.0f}/s", "CPU µs": "{:.0f} µs"}),
    ("deliver", "ours", {"delivered/s": "{:,.0f}/s", "CPU µs": "{:.1f} µs"}),
    ("start", "all", {"accepts, s": "{:.1f} s until it accepts", "delivers, s": "{:.1f} s until it delivers", "CPU, s": "{:.1f} s"}),
])
def test_the_rates_of_capacity_are_the_results_of_the_benchmarks(script, row, figures):
    page = (DOCS / "operate/capacity.md").read_text()
    values = json.loads((DOCS.parent / f"bench/results/{script}.json").read_text())["values"][row]
    for figure, form in figures.items():
        shown = form.format(statistics.median(values[figure]))
        assert shown in page, f"{script}, {row}: {shown}"


def is_pointer(file):
    """Recognizes a pointer, which names the new path of a page: each file directly in docs/ is one, except the index."""
    return file.is_file() and file.resolve().parent == DOCS.resolve() and file.name != "README.md"


def prose(page):
    """A page without its blocks of code."""
    return re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.M | re.S)


def anchors(page):
    """The anchors of a page: the names that GitHub gives to its headings, and the ids in its HTML."""
    text = prose(page)
    titles = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in re.findall(r"^#+ (.*)", text, re.M)]
    names = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]
    return {*names, *re.findall(r'<a id="([^"]+)"', text)}


def test_each_page_is_in_the_index_and_each_link_leads_to_a_file():
    root = DOCS.parent
    index = DOCS / "README.md"
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", index.read_text(), re.M | re.S))
    pages = sorted(DOCS.glob("*/*.md"))
    assert len(pages) > 30
    assert "(docs/README.md)" in (root / "README.md").read_text()
    for page in pages:
        folder = page.parent.name
        line = rf"^- \[.+\]\({folder}/{page.name}\): .+\.$"
        assert re.search(line, sections.get(folder.title(), ""), re.M), f"docs/README.md has no line for {folder}/{page.name}"
    for page in [*pages, index, *root.glob("*.md")]:
        text = prose(page)
        for link, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", text):
            target = page.parent / link if link else page
            assert target.exists() and not is_pointer(target), f"{page.name} leads to {link}"
            assert not anchor or anchor in anchors(target), f"{page.name} leads to #{anchor} of {target.name}"
        for picture in re.findall(r'\b(?:src|srcset)="([^"]+)"', text):
            assert (page.parent / picture).exists(), f"{page.name} shows {picture}"


def test_each_page_that_another_file_names_exists():
    root = DOCS.parent
    folders = [root / name for name in ("Sources", "Tests", "Tools", "bench", "deploy", "packaging", "scripts")]
    files = [root / "Makefile", root / "Package.swift", *root.glob("*.md"), *DOCS.rglob("*.md")]
    files += [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    named = {(name, file) for file in files for name in re.findall(r"\bdocs/[\w/-]+\.(?:md|yaml)\b", file.read_text(errors="ignore"))}
    assert len(named) > 50
    missing = [f"{file.relative_to(root)}: {name}" for name, file in named
               if not (root / name).exists() or is_pointer(root / name)]
    assert not missing, "\n".join(missing)


def test_each_old_path_leads_to_its_page():
    for pointer in filter(is_pointer, DOCS.iterdir()):
        found = re.fullmatch(r"Moved to \[.+\]\(([\w-]+/[\w-]+\.md)\)\.\n", pointer.read_text())
        assert found, f"{pointer.name} is a page or a broken pointer: a page belongs into a folder of docs/"
        assert (DOCS / found[1]).exists(), f"{pointer.name} leads to {found[1]}"
