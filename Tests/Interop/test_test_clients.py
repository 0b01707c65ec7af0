"""The clients of the test API for JavaScript and Java: their examples, the texts of failures, and the routes that they use."""

import json
import os
import re
import select
import shutil
import subprocess
from pathlib import Path

import pytest

from gateway import PUSHCLI, run
from waiting import HANG

ROOT = Path(__file__).parents[2]
JAVASCRIPT = ROOT / "clients/javascript"
JAVA = ROOT / "clients/java"
CLIENTS = {"JavaScript": JAVASCRIPT / "pushgateway-test.mjs", "Java": JAVA / "PushGatewayExtension.java"}
PAGE = (ROOT / "docs/send/testing.md").read_text()
API = json.loads((ROOT / "docs/reference/test-api.openapi.json").read_text())
SCHEMAS = API["components"]["schemas"]
#: The files of Debian's package junit5.
JARS = Path("/usr/share/java")
needs_node = pytest.mark.skipif(not shutil.which("node"), reason="node is not there")


@pytest.fixture
def environment(tmp_path):
    """The environment of a test program. Afterwards all gateways that it started have ended."""
    started, program = tmp_path / "started", tmp_path / "pushcli"
    started.touch()
    program.write_text(f'#!/bin/sh\necho $$ >>"{started}"\nexec "{PUSHCLI}" "$@"\n')
    program.chmod(0o755)
    yield os.environ | {"PUSHCLI": str(program), "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
    for number in started.read_text().split():
        try:
            process = os.pidfd_open(int(number))
        except ProcessLookupError:
            continue
        # The descriptor of a process is readable when the process has ended.
        assert select.select([process], [], [], HANG)[0], "a gateway was left"
        os.close(process)


def started(environment):
    return len((Path(environment["PUSHCLI"]).parent / "started").read_text().split())


def completed(environment, *words, cwd=None):
    return subprocess.run(words, env=environment, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANG)


# JavaScript

SENDER = f"""
import {{ generateKeyPairSync }} from "node:crypto";
import {{ readFileSync }} from "node:fs";
import {{ startGateway }} from {json.dumps(CLIENTS["JavaScript"].as_uri())};
import {{ TrainServer }} from {json.dumps((JAVASCRIPT / "example/train.mjs").as_uri())};

const topic = "com.example.train";
async function shown(action) {{
  try {{
    return [await action()];
  }} catch (error) {{
    return [error.name, error.message, error.stack.slice(error.stack.indexOf(error.message) + error.message.length).trim()];
  }}
}}
function sender(gateway) {{
  const {{ privateKey: key }} = generateKeyPairSync("ec", {{ namedCurve: "P-256" }});
  return new TrainServer({{ url: gateway.apns, ca: readFileSync(gateway.ca), key, keyId: "ABC1234567", teamId: "TEAM123456", topic }});
}}
"""


@pytest.fixture
def node(environment, tmp_path):
    """Runs a program with the example sender; returns the JSON of each line."""
    def node(program):
        (tmp_path / "program.mjs").write_text(SENDER + program)
        done = completed(environment, "node", tmp_path / "program.mjs")
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return node


@needs_node
def test_the_example_of_javascript(environment):
    done = completed(environment, "node", "--test", "example/train.test.mjs", cwd=JAVASCRIPT)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^\S pass 2$", done.stdout, re.M)
    assert started(environment) == 1


#: A stand-in for Vitest and for Jest: it runs the tests, and prints the error of each, or null.
RUNNER = """
const [before, after, tests] = [[], [], []];
export const beforeAll = (body) => before.push(body);
export const afterAll = (body) => after.push(body);
export const test = (name, body) => tests.push([name, body]);
export function expect(found) {
  return { toBe(expected) { if (!Object.is(found, expected)) throw new Error(`expected ${expected}, found ${found}`); } };
}
setImmediate(async () => {
  for (const body of before) await body();
  for (const [name, body] of tests) {
    const error = await body().then(() => null, (error) => `${error.name}: ${error.message}`);
    console.log(JSON.stringify([name, error]));
  }
  for (const body of after) await body();
});
"""


@needs_node
@pytest.mark.parametrize("runner", ["vitest", "@jest/globals"])
def test_the_example_for_vitest_and_jest(environment, tmp_path, runner):
    for name, file in {runner: "index.mjs", "pushgateway-test": CLIENTS["JavaScript"].name}.items():
        folder = tmp_path / "node_modules" / name
        folder.mkdir(parents=True)
        (folder / "package.json").write_text(json.dumps({"name": name, "type": "module", "exports": f"./{file}"}))
        (folder / file).write_text(RUNNER if name == runner else source("JavaScript"))
    shutil.copy(JAVASCRIPT / "example/train.mjs", tmp_path)
    text = (JAVASCRIPT / "example/train.spec.mjs").read_text()
    assert text.count('from "vitest"') == 1
    text = text.replace('from "vitest"', f'from "{runner}"')
    (tmp_path / "train.spec.mjs").write_text(text)
    (tmp_path / "failing.spec.mjs").write_text(
        text + 'test("a failure", async () => (await gateway.device({ topic })).expect({ within: "1ms" }));')
    done = completed(environment, "node", tmp_path / "train.spec.mjs")
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)[1] for line in done.stdout.splitlines()] == [None, None]
    done = completed(environment, "node", tmp_path / "failing.spec.mjs")
    [name, error] = json.loads(done.stdout.splitlines()[2])
    assert name == "a failure" and error.startswith("AssertionError: expected 1 accepted push")


def test_the_file_of_javascript_has_no_test_runner():
    imports = set(re.findall(r'\bfrom "(.*?)";|\bimport\("(.*?)"\)', source("JavaScript")))
    assert imports == {(f"node:{name}", "") for name in ["assert", "child_process", "http", "util"]}


@needs_node
def test_javascript_uses_the_gateway_of_test_run(environment):
    done = run("test-run", "--", "node", "--test", JAVASCRIPT / "example/train.test.mjs", env=environment)
    assert done.code == 0, done.out
    assert "2 pushes; refused: 1 handled" in done.err
    assert started(environment) == 0


@needs_node
def test_a_failure_in_javascript_is_a_table(node):
    missing, different, counted, unexpected, refused, other = node("""
const gateway = await startGateway();
const server = sender(gateway);
const preferences = { apps: { [topic]: { alert: false } } };
const device = await gateway.device({ topic, preferences });
const print = async (action) => console.log(JSON.stringify(await shown(action)));
await print(() => device.expect({ within: "1ms" }));
await server.announce(device.token, 5, 4);
await device.expect({ suppressed: true });
await print(() => device.expect({ title: "Train \\u001b\\u202e", badge: 1, sound: "x", presented: true, within: "1ms" }));
await print(() => device.expect({ count: 2, within: "1ms" }));
await print(() => device.expectNone({ within: "1ms" }));
await device.state("throttled", { count: 1, for: "60s" });
await server.announce(device.token, 3, 4);
await print(() => device.expect({ title: /^Train in 3/, within: "1ms" }));
const unused = await gateway.device({ topic });
await print(() => unused.expect({ title: "Train", within: "1ms" }));
server.close();
await gateway.stop();
""")
    assert {failure[0] for failure in [missing, different, counted, unexpected, refused, other]} == {"AssertionError"}
    for failure in [missing, different, counted, unexpected]:
        # The trace begins with the line of the test.
        assert "program.mjs:" in next(line for line in failure[2].splitlines() if "node:internal" not in line)
    head, *rows = different[1].splitlines()
    assert re.fullmatch(r"expected 1 presented push to [0-9a-f]{8}…, found 0 of 1 within 1ms", head)
    assert rows == [
        r'  push  field  expected                found',
        r'  1     sound  "x"                     (missing)',
        r'        title  "Train \u001b\u{202e}"  "Train in 5 Minutes"',
        r'        state  "presented"             "accepted suppressed"',
        r'        cause                          the alert was removed by rule N5 (apps/com.example.train/alert)',
    ]
    assert missing[1].splitlines()[1:] == [
        "The gateway has recorded no push at all: check the URL of the sender, and the certificate that it trusts."]
    match = ["  push  field    expected  found", '  1     matches            "Train in 5 Minutes"']
    assert counted[1].splitlines()[1:] == match
    assert unexpected[1].startswith("expected no ") and unexpected[1].splitlines()[1:] == match
    assert refused[1].splitlines()[2:4] == [
        '  2     state  "accepted"     "refused"', "        cause                 the push was refused with 429 TooManyRequests"]
    assert other[1].splitlines()[1:] == ["The gateway has recorded 2 other pushes: check the device token of the sender."]


@needs_node
def test_the_functions_of_javascript(node):
    [answers] = node("""
const gateway = await startGateway({ args: ["--keep", "100"] });
const server = sender(gateway);
const device = await gateway.device({ topic, name: "phone", token: "AB".repeat(32) });
await server.announce(device.token, 5, 4);
await server.announce(device.token, 3, 4);
const pushes = await device.expect({ title: /^Train/, pushType: "alert", "payload./platform": 4, threadId: null, count: 2,
  exactly: true, idle: "1ms" });
const answer = await device.answer("view", { id: pushes[0].id });
await device.faults({ reason: "ServiceUnavailable", "retry-after": 3600, count: 1 }, { status: 418, count: 1 });
const faulty = [await server.announce(device.token, 5, 4), await server.announce(device.token, 5, 4)].map((one) => one.status);
await device.faults();
const last = (await device.pushes()).at(-1).number;
await gateway.tls("wrong-name");
const stranger = sender(gateway);
const untrusted = await shown(() => stranger.announce(device.token, 5, 4));
await gateway.tls("valid");
const { offset } = await gateway.clock({ advance: "61m" });
await server.announce(device.token, 2, 4);
const [expired] = await device.expect({ refused: true, since: last });
await device.expectNone({ since: expired.number, within: "1ms" });
await device.delete();
console.log(JSON.stringify({
  device: [device.token, device.topic, device.name], answered: answer.id === pushes[0].id && answer.action, untrusted: untrusted[1],
  clock: [offset, (await gateway.clock()).offset, (await gateway.clock({ reset: true })).offset], reason: expired.reason,
  faulty, listed: [await device.pushes(), await device.pushes({ title: /5/, limit: 10 }), await device.pushes({ refused: true })]
    .map((list) => list.length),
  verdicts: (await gateway.report()).lines.map((line) => line.verdict),
  problems: [
    await shown(() => device.expect({ titel: "x" })), await shown(() => device.expect({ title: undefined })),
    await shown(() => device.expect({ title: /x/i })), await shown(() => device.expect({ presented: false })),
    await shown(() => startGateway({ args: ["--keep", "x"] })), await shown(() => startGateway({ command: "/nothing" })),
  ].map((problem) => problem.slice(0, 2)),
}));
server.close();
stranger.close();
await gateway.stop();
await gateway.stop();
""")
    assert answers["device"] == ["ab" * 32, "com.example.train", "phone"]
    assert answers["answered"] == "view" and answers["reason"] == "ExpiredProviderToken"
    assert "altname" in answers["untrusted"]
    assert answers["clock"] == [3_660_000, 3_660_000, 0]
    assert answers["faulty"] == [503, 418]
    assert answers["listed"] == [5, 3, 3]
    assert answers["verdicts"] == ["retried-too-early", "handled", "never-retried"]
    unknown, undefined, flags, state, option, command = answers["problems"]
    assert unknown[0] == "Error" and 'POST /test/v1/expect: 400 "match.titel": unknown field' in unknown[1]
    assert undefined == ["TypeError", "title is undefined: expected a value, or null for a missing field"]
    assert flags == ["TypeError", "title: the regular expression /x/i has flags: omit them"]
    assert state == ["TypeError", "presented: expected true, and only one state"]
    assert option[1].startswith("the test gateway ended with 2: pushcli:")
    assert command[1] == "/nothing can't be started: install pushcli, or set PUSHCLI to its path"


@needs_node
def test_a_program_of_node_that_forgets_its_gateway_ends(node, environment):
    assert node("await (await startGateway()).device(); console.log(1);") == [1]
    assert started(environment) == 1


def test_the_package_of_javascript():
    package = json.loads((JAVASCRIPT / "package.json").read_text())
    [version] = re.findall(r'VERSION "(.+)"', (ROOT / "Sources/CVersion/CVersion.c").read_text())
    assert (package["name"], package["version"]) == ("pushgateway-test", version)
    assert package["exports"] == "./pushgateway-test.mjs" and "dependencies" not in package


# Java

#: Functions of the extension, and tests that fail.
FAILURES = Path(__file__).parent / "java/FailureTest.java"


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    """The compiled classes of the extension, the example and the tests of failures."""
    if not shutil.which("javac"):
        pytest.skip("javac is not there")
    jars = [JARS / f"{name}.jar" for name in [
        "junit-jupiter-api", "junit-platform-commons", "apiguardian-api", "opentest4j", "junit-platform-console-standalone"]]
    if not all(jar.exists() for jar in jars):
        pytest.skip(f"JUnit 5 is not in {JARS}: apt-get install junit5")
    folder = tmp_path_factory.mktemp("java")
    done = subprocess.run(
        ["javac", "-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-Xlint:all,-deprecation", "-Werror", "--release", "17", "-d", folder,
         "-cp", ":".join(map(str, jars[:4])), CLIENTS["Java"], *sorted((JAVA / "example").glob("*.java")), FAILURES],
        capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stderr
    return folder


def junit(folder, name):
    """The command that runs a class of tests."""
    return ["java", "-jar", JARS / "junit-platform-console-standalone.jar", "-cp", folder, "--select-class", name, "--disable-banner",
            "--disable-ansi-colors", "--details", "summary"]


def test_the_example_of_java(classes, environment):
    done = completed(environment, *junit(classes, "TrainServerTest"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\[ +2 tests successful +\]$", done.stdout, re.M)
    assert started(environment) == 1


def test_a_failure_in_java_is_a_table_under_test_run(classes, environment):
    """The gateway is that of test-run, so that all of the environment is tested in one JVM."""
    done = run("test-run", "--", *junit(classes, "FailureTest"), env=environment)
    assert done.code == 1 and started(environment) == 0
    assert re.search(r"^\[ +1 tests successful +\]$", done.out, re.M), done.out
    details = done.out.partition("Failures (")[2]
    failures = dict(re.findall(r"^  JUnit Jupiter:FailureTest:(\w+)\(.*?=> (.*?)^ {7}\[", details, re.M | re.S))
    assert list(failures) == ["a1Missing", "a3Different", "a4Counted", "a5Unexpected", "a6Refused", "a7UnknownField"]
    for name, failure in failures.items():
        if name != "a7UnknownField":
            # The first line of the trace is the line of the test.
            assert re.search(rf"^ {{7}}FailureTest\.{name}\(FailureTest\.java:\d+\)$", failure, re.M), failure
    lines = {name: re.sub(r"^ {7}\w.*\n", "", failure, flags=re.M).splitlines() for name, failure in failures.items()}
    head, *rows = lines["a3Different"]
    assert re.fullmatch(r"java\.lang\.AssertionError: expected 1 presented push to [0-9a-f]{8}…, found 0 of 1 within 1ms", head)
    assert [re.sub(r"^  \d+ +", "  N  ", row) for row in rows[1:]] == [
        r'  N  sound  "x"                       (missing)',
        r'        title  "Train \u001b\u{202e}\""  "Train in 5 Minutes"',
        r'        state  "presented"               "accepted suppressed"',
        r'        cause                            the alert was removed by rule N5 (apps/com.example.train/alert)',
    ]
    assert lines["a1Missing"][1:] == [
        "The gateway has recorded no push at all: check the URL of the sender, and the certificate that it trusts."]
    for name in ["a4Counted", "a5Unexpected"]:
        assert re.fullmatch(r'  \d+ +matches {12}"Train in 5 Minutes"', lines[name][2])
    assert lines["a6Refused"][3].split(None, 1) == ["cause", "the push was refused with 429 TooManyRequests"]
    assert 'POST /test/v1/expect: 400 "match.titel": unknown field' in lines["a7UnknownField"][0]


# Both

def source(language):
    return CLIENTS[language].read_text()


def routes(language):
    """The routes that a client calls, with {} for each placeholder."""
    text = source(language)
    calls = re.findall(r'call\("([A-Z]+)", ["`]([^"`?]*)', text)
    assert len(calls) == len(re.findall(r"[^\w#]call\((?!method|String)", text)), "a call in another form"
    return {(method, re.sub(r"\$\{.*?\}|%s", "{}", path)) for method, path in calls}


@pytest.mark.parametrize("language", CLIENTS)
def test_the_routes_of_a_client_are_in_the_document(language):
    documented = {
        (method.upper(), re.sub(r"\{.*?\}", "{}", path).removeprefix("/test/v1"))
        for path, methods in API["paths"].items() for method in methods}
    assert routes(language) <= documented
    assert routes(language) == routes("JavaScript")


@pytest.mark.parametrize("language", CLIENTS)
def test_the_options_of_a_client_are_in_the_schema(language):
    text = source(language)
    if language == "JavaScript":
        options, states = [set(json.loads(re.search(rf"^const {name} = (\[.*?\]);$", text, re.M)[1])) for name in ["OPTIONS", "STATES"]]
        states.add("any")
    else:
        options = set(re.findall(r'option\("(\w+)"', text))
        states = set(re.findall(r'option\("state", "(\w+)"\)', text)) | {"accepted"}
    schema = SCHEMAS["Expectation"]["properties"]
    # The device is the token, and the fields are `match`.
    assert options == schema.keys() - {"token", "match"}
    assert states == set(schema["state"]["enum"])
    for words in [SCHEMAS["TokenRequest"]["properties"]["state"]["enum"], SCHEMAS["TLS"]["properties"]["certificate"]["enum"]]:
        assert all(word in text for word in words)


def test_the_types_of_javascript_are_in_the_schema():
    types = re.search(r"@typedef \{object\} Push\n(.*?)\*/", source("JavaScript"), re.S)[1]
    members = {name: optional == "[" for optional, name in re.findall(r"@property \{.*?\}+ (\[?)(\w+)", types)}
    assert len(members) > 15 and members.keys() <= SCHEMAS["Push"]["properties"].keys()
    required = SCHEMAS["Push"]["required"]
    assert {name: name not in required for name in members} == members


def test_the_examples_of_the_page_are_run():
    programs = dict(re.findall(r"^```\w+ (\S+\.(?:mjs|java))\n(.*?)^```$", PAGE, re.M | re.S))
    assert programs == {
        path.name: path.read_text() for path in [
            JAVASCRIPT / "example/train.test.mjs", JAVASCRIPT / "example/train.spec.mjs", JAVA / "example/TrainServerTest.java"]}
