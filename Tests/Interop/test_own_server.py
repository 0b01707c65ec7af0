"""The programs of docs/start/your-own-server.md, as on the page: each sends, reads the answers of a gateway, and tries again."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from gateway import PUSHCLI
from waiting import HANG

PAGE = (Path(__file__).parents[2] / "docs/start/your-own-server.md").read_text()
PROGRAMS = {name: text for name, text in re.findall(r"^```\w+ (\S+\.\w+)\n(.*?)^```$", PAGE, re.M | re.S)}
#: What runs a program, by the end of its name.
TOOLS = {".sh": ["sh"], ".py": [sys.executable], ".mjs": ["node"], ".go": ["go", "run"], ".java": ["java"]}
#: A program of Java is compiled at each call: without optimization this takes half the time.
JAVA = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
TOPIC = "com.example.shop"


@pytest.fixture(scope="module")
def folder(gateway, tmp_path_factory):
    """A folder with a key of one's own and a certificate, at a gateway that was prepared by the lines of the page."""
    folder = tmp_path_factory.mktemp("sender")
    (folder / "bin").mkdir()
    (folder / "bin" / "pushcli").symlink_to(PUSHCLI)
    (folder / "AuthKey_ABC123DEFG.p8").write_bytes(ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    [lines] = re.findall(r"^```sh gateway\n(.*?)^```$", PAGE, re.M | re.S)
    [certificate] = re.findall(r"`(pushcli certs create [^`]+)`", PAGE)
    done = subprocess.run(
        ["bash", "-euc", f"{lines}\n{certificate}"], cwd=folder, capture_output=True, text=True, timeout=HANG,
        env=os.environ | {"PATH": f"{folder}/bin:{os.environ['PATH']}", "PUSHGATEWAY_STATE": str(gateway.state)})
    assert done.returncode == 0, done.stderr
    assert re.search(r"^[0-9a-f]{64}$", done.stdout, re.M)
    for name, text in PROGRAMS.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(params=PROGRAMS)
def program(request, gateway, folder):
    """Runs a program with the variables of the page, for a device token."""
    tool = TOOLS[Path(request.param).suffix]
    if not shutil.which(tool[0]):
        pytest.skip(f"{tool[0]} is not there")

    def program(token, **changed):
        variables = {
            "GATEWAY": f"https://localhost:{gateway.port}", "CA": gateway.trust, "KEY_FILE": "AuthKey_ABC123DEFG.p8",
            "KEY_ID": "ABC123DEFG", "TEAM_ID": "A1B2C3D4E5", "TOPIC": TOPIC, "DEVICE_TOKEN": token}
        assert variables.keys() == set(re.findall(r"\b([A-Z_]+)=", "\n".join(re.findall(r"^export .*", PAGE, re.M))))
        done = subprocess.run(
            [*tool, request.param], cwd=folder, capture_output=True, text=True, timeout=HANG,
            env=os.environ | JAVA | {"PATH": f"{folder}/bin:{os.environ['PATH']}"} | variables | changed)
        return done.returncode, done.stdout.strip(), done.stderr

    program.name = request.param
    return program


def received(gateway, device):
    stream = gateway.stream(device)
    pushes = stream.caught_up()
    stream.connection.close()
    return [(push["id"], push["payload"]["aps"]["alert"]["title"]) for push in pushes]


def test_a_program_sends_and_its_device_receives(gateway, program):
    device = gateway.device(TOPIC)
    code, out, err = program(device.token)
    assert code == 0, err
    assert received(gateway, device) == [(out, "Your Order Was Shipped")]


def test_a_program_shows_why_it_was_refused(gateway, program):
    code, out, err = program("0" * 64)
    assert code == 1 and out == "" and "400" in err and "BadDeviceToken" in err
    device = gateway.device(TOPIC)
    gateway.unregister(device.name, TOPIC)
    code, out, err = program(device.token)
    assert code == 1 and out == "" and "410" in err and "Unregistered" in err
    if "certificate" not in program.name:
        code, out, err = program(gateway.device(TOPIC).token, KEY_ID="OTHERKEY01")
        assert code == 1 and out == "" and "403" in err and "InvalidProviderToken" in err


def test_a_program_sends_again_what_was_not_accepted(gateway, program):
    device = gateway.device(TOPIC)
    [line] = re.findall(r"`pushcli (faults add [^`]+)`", PAGE)
    for reason in ["ServiceUnavailable", "TooManyRequests"]:
        gateway.run(*line.replace("ServiceUnavailable", reason).replace("busy", reason).split(), "--token", device.token)
    code, out, err = program(device.token)
    assert code == 0, err
    assert received(gateway, device) == [(out, "Your Order Was Shipped")]
    events = [row["event"] for row in gateway.events(out, until="stored")]
    assert (events.count("fault"), events.count("accepted")) == (2, 1)
