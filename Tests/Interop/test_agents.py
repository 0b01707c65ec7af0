"""`ask --hook` and `mcp`: a coding agent asks a user, and the question goes when the agent goes."""

import json
import signal
import subprocess

import pytest
from gateway import CRASH, PUSHCLI, TOPIC, run
from waiting import HANG

EVENTS = ["PreToolUse", "PermissionRequest"]


def request(event, command="npm test"):
    """The request of Claude Code, as it documents it."""
    return json.dumps({
        "session_id": "5e0c", "transcript_path": "/home/ada/.claude/projects/shop/5e0c.jsonl", "cwd": "/home/ada/shop",
        "permission_mode": "default", "hook_event_name": event, "tool_name": "Bash",
        "tool_input": {"command": command, "description": "Runs the tests"}})


def answer(event, decision, reason):
    """The answer that Claude Code documents; none where it has its own prompt."""
    if event == "PreToolUse":
        return {"hookSpecificOutput": {
            "hookEventName": event, "permissionDecision": decision, "permissionDecisionReason": reason}}
    if decision == "ask":
        return None
    fields = {"behavior": decision} | ({"message": reason} if decision == "deny" else {})
    return {"hookSpecificOutput": {"hookEventName": event, "decision": fields}}


class Hook:
    """A hook of an agent, which has written its request."""

    def __init__(self, gateway, device, event, *options, text=None):
        self.process = subprocess.Popen(
            [PUSHCLI, "ask", "--hook", "--to", f"{device.name}/{TOPIC}", *options, "--state", str(gateway.state)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.process.stdin.write(text or request(event))
        self.process.stdin.close()
        # It is closed: communicate() must not flush it.
        self.process.stdin = None

    def end(self):
        out, err = self.process.communicate(timeout=HANG)
        assert not CRASH.search(err), err
        return self.process.returncode, json.loads(out) if out else None, err


def categories(gateway):
    return gateway.admin("GET", "apps", TOPIC, "categories")


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("action, decision, word", [("allow", "allow", "allowed"), ("deny", "deny", "denied")])
def test_the_answer_of_the_user_is_the_decision(gateway, device, event, action, decision, word):
    hook = Hook(gateway, device, event, "--timeout", "60s")
    stream = gateway.stream(device)
    push = stream.next_of("push")
    alert = push["presentation"]["alert"]
    assert alert["title"] == "Allow Bash?" and alert["body"] == "npm test\ndescription: Runs the tests\nin /home/ada/shop"
    assert {(choice["id"], choice["title"]) for choice in alert["actions"]} == {("allow", "Allow"), ("deny", "Deny")}
    stream.say(type="answer", id=push["id"], action=action)
    assert hook.end() == (0, answer(event, decision, f"{word} on {device.name}"), "")
    assert categories(gateway) == []


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("end, words", [
    ("time", "nobody answered in time"), ("close", "the question was closed without an answer")])
def test_without_an_answer_the_agent_decides(gateway, device, event, end, words):
    stream = gateway.stream(device)
    stream.caught_up()
    hook = Hook(gateway, device, event, "--timeout", "8s" if end == "time" else "60s")
    push = stream.next_of("push")
    if end == "close":
        stream.say(type="answer", id=push["id"], action="close")
    assert hook.end() == (0, answer(event, "ask", words), f"pushcli: {words}\n")
    if end == "time":
        stream.next_of("retract", push["id"])


@pytest.mark.parametrize("event", EVENTS)
def test_without_a_gateway_the_agent_decides(tmp_path, event):
    done = run("ask", "--hook", "--to", f"me/{TOPIC}", state=tmp_path / "none", stdin=request(event))
    assert done.code == 0 and done.err.startswith("pushcli: no gateway runs on ") and done.err.count("\n") == 1
    reason = done.err.removeprefix("pushcli: ").rstrip("\n")
    assert (json.loads(done.out) if done.out else None) == answer(event, "ask", reason)


def test_preferences_that_refuse_the_question_leave_the_decision_to_the_agent(gateway, device):
    gateway.prefer(device, "alert=off")
    code, out, err = Hook(gateway, device, "PreToolUse", "--timeout", "60s").end()
    assert code == 0 and out["hookSpecificOutput"]["permissionDecision"] == "ask" and "rule N4: " in err


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, "reader"])
def test_a_question_goes_with_its_agent(gateway, device, end):
    if end == signal.SIGHUP and signal.getsignal(end) == signal.SIG_IGN:
        pytest.skip("this process runs under nohup")
    hook = Hook(gateway, device, "PermissionRequest", "--timeout", "60s")
    stream = gateway.stream(device)
    push = stream.next_of("push")
    if end == "reader":
        hook.process.stdout.close()
        hook.process.stdout = None
    else:
        hook.process.send_signal(end)
    stream.next_of("retract", push["id"])
    assert hook.end()[:2] == (130, None)
    assert categories(gateway) == []


@pytest.mark.parametrize("text, words", [
    ("{", "not JSON"), ("[" * 100_000, "not JSON"), ('{"hook_event_name":"Stop"}', "expected PreToolUse or PermissionRequest"),
    ('{"hook_event_name":"PreToolUse"}', "tool_name is missing"), (" " * (1 << 20) + "{}", "1 MiB")])
def test_another_input_is_one_line_and_no_refusal(gateway, device, text, words):
    done = run("ask", "--hook", "--to", f"{device.name}/{TOPIC}", state=gateway.state, stdin=text)
    # The agent takes 2 for a refusal.
    assert (done.code, done.out) == (1, "") and words in done.err and done.err.count("\n") == 1


def test_a_long_command_is_asked_about(gateway, device):
    text = request("PermissionRequest", command="\x01" * 50_000)
    hook = Hook(gateway, device, "PermissionRequest", "--timeout", "60s", text=text)
    stream = gateway.stream(device)
    push = stream.next_of("push")
    assert " more bytes)\nin /home/ada/shop" in push["presentation"]["alert"]["body"]
    stream.say(type="answer", id=push["id"], action="allow")
    assert hook.end()[:2] == (0, answer("PermissionRequest", "allow", ""))


@pytest.mark.parametrize("options", [["--title", "x"], ["--body", "x"], ["--action", "a=A"], ["--json"]])
def test_a_hook_has_the_texts_of_the_agent(options):
    done = run("ask", "--hook", "--to", f"me/{TOPIC}", *options)
    assert done.code == 2 and "--hook" in done.err


class Session:
    """An agent with `pushcli mcp`."""

    def __init__(self, gateway, device, *options):
        self.process = subprocess.Popen(
            [PUSHCLI, "mcp", "--to", f"{device.name}/{TOPIC}", *options, "--state", str(gateway.state)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def write(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def send(self, method, id=None, **params):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self.write(json.dumps(message if id is None else message | {"id": id}))

    def call(self, id, tool, **arguments):
        self.send("tools/call", id, name=tool, arguments=arguments)

    def next(self):
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        return json.loads(line)

    def result(self, id):
        """Whether the result of a tool, which is the next line, is an error, and its text."""
        message = self.next()
        assert message["id"] == id, message
        [content] = message["result"]["content"]
        assert content["type"] == "text"
        return message["result"]["isError"], content["text"]

    def end(self):
        """Ends the input, and returns the exit code."""
        out, err = self.process.communicate(timeout=HANG)
        assert out == "" and not CRASH.search(err), err
        return self.process.returncode


def outcome(text):
    """The JSON of a result; an id in lower case is the same id."""
    found = json.loads(text)
    return found | {"apns_id": found["apns_id"].lower()}


@pytest.fixture
def session(gateway, device):
    session = Session(gateway, device)
    yield session
    session.process.kill()
    session.process.wait()


def test_an_agent_sends_a_message_and_asks(gateway, device, session):
    stream = gateway.stream(device)
    stream.caught_up()
    session.send("initialize", 0, protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "test", "version": "1"})
    begun = session.next()["result"]
    assert begun["protocolVersion"] == "2025-06-18" and begun["capabilities"] == {"tools": {}}
    session.send("notifications/initialized")
    session.send("tools/list", 1)
    tools = session.next()["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["notify", "ask"]
    assert {"question", "timeout", "escalate_to"} <= set(tools[1]["inputSchema"]["properties"])
    session.call(2, "notify", message="All tests passed.", title="Build Done", level="passive")
    is_error, text = session.result(2)
    message = stream.next_of("push")
    assert not is_error and outcome(text) == {"apns_id": message["id"].lower(), "outcome": "accepted"}
    session.call("three", "ask", question="Deploy?", details="To production.", actions=["Deploy", "Wait"], timeout="60s")
    question = stream.next_of("push")
    alert = question["presentation"]["alert"]
    assert (alert["title"], alert["body"], [action["title"] for action in alert["actions"]]) == (
        "Deploy?", "To production.", ["Deploy", "Wait"])
    stream.say(type="answer", id=question["id"], action=alert["actions"][1]["id"])
    is_error, text = session.result("three")
    assert not is_error and outcome(text) == {
        "apns_id": question["id"].lower(), "device": device.name, "outcome": "answered", "title": "Wait"}
    assert session.end() == 0
    assert categories(gateway) == []


def test_questions_are_open_at_the_same_time(gateway, device, session):
    stream = gateway.stream(device)
    stream.caught_up()
    ids = range(4)
    for id in ids:
        session.call(id, "ask", question=f"Question {id}", timeout="60s")
    pushes = {push["presentation"]["alert"]["title"]: push for push in (stream.next_of("push") for _ in ids)}
    for id in reversed(ids):
        stream.say(type="answer", id=pushes[f"Question {id}"]["id"], action="action-1")
        assert json.loads(session.result(id)[1])["title"] == "Yes"
    assert session.end() == 0


def test_a_canceled_question_leaves_the_screens(gateway, device, session):
    stream = gateway.stream(device)
    stream.caught_up()
    session.call(1, "ask", question="Go on?", timeout="60s")
    push = stream.next_of("push")
    session.send("notifications/cancelled", requestId=1, reason="the user stopped the agent")
    stream.next_of("retract", push["id"])
    # A canceled call has no answer, and the session continues.
    session.send("ping", 2)
    assert session.next() == {"jsonrpc": "2.0", "id": 2, "result": {}}
    assert session.end() == 0
    assert categories(gateway) == []


@pytest.mark.parametrize("end", ["input", "terminate"])
def test_questions_go_with_the_session(gateway, device, session, end):
    stream = gateway.stream(device)
    stream.caught_up()
    for id in range(2):
        session.call(id, "ask", question=f"Question {id}", timeout="60s")
    ids = {stream.next_of("push")["id"] for _ in range(2)}
    if end == "terminate":
        session.process.send_signal(signal.SIGTERM)
        # The input stays open until then: its end would also end the session.
        session.process.wait(HANG)
    assert session.end() == (130 if end == "terminate" else 0)
    # The stream may still get a retraction of an earlier question.
    retracted = set()
    while not ids <= retracted:
        retracted.add(stream.next_of("retract")["id"])
    assert categories(gateway) == []


def test_a_question_is_escalated(gateway, device, session):
    second = gateway.device()
    stream, other = gateway.stream(device), gateway.stream(second)
    stream.caught_up()
    session.call(1, "ask", question="Restart?", timeout="60s", escalate_to=second.name, after="1s")
    assert stream.next_of("push")["id"] == (push := other.next_of("push"))["id"]
    other.say(type="answer", id=push["id"], action="action-2")
    is_error, text = session.result(1)
    assert not is_error and json.loads(text)["title"] == "No" and json.loads(text)["device"] == second.name
    stream.next_of("retract", push["id"])


def test_a_question_without_an_answer_is_a_result(gateway, device, session):
    stream = gateway.stream(device)
    stream.caught_up()
    session.call(1, "ask", question="Anybody?", timeout="8s")
    push = stream.next_of("push")
    is_error, text = session.result(1)
    assert not is_error and outcome(text) == {"apns_id": push["id"].lower(), "outcome": "timed out"}
    stream.next_of("retract", push["id"])


def test_wrong_lines_are_answered_and_the_session_continues(gateway, device, session):
    for line, code in [
        ("{", -32700), ("[" * 100_000, -32700), ("[]", -32600), ('{"jsonrpc":"2.0","id":1,"method":"resources/list"}', -32601),
        ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}', -32602), ("x" * (1 << 20) + "x", -32600),
    ]:
        session.write(line)
        assert session.next()["error"]["code"] == code
    session.call(1, "ask", question="x", escalate_to="nobody-here")
    is_error, text = session.result(1)
    assert is_error and "no device and no user named nobody-here" in text
    session.call(2, "notify", message="x", to="somebody")
    assert session.result(2)[0]
    session.send("ping", 3)
    assert session.next()["id"] == 3
    assert session.end() == 0


def test_a_session_without_a_gateway_has_results(tmp_path):
    done = subprocess.run(
        [PUSHCLI, "mcp", "--to", f"me/{TOPIC}", "--state", str(tmp_path / "none")], capture_output=True, text=True, timeout=HANG,
        input='{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"notify","arguments":{"message":"x"}}}\n')
    [line] = done.stdout.splitlines()
    # A message is sent although the input has ended.
    assert done.returncode == 0 and json.loads(line)["result"]["isError"] and "no gateway runs on" in line
