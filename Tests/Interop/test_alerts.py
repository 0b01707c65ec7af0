"""The script and the receiver of docs/send/alerts-from-programs.md, as on the page, with folders and a port of the test's own."""

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from brokers import free_ports
from gateway import PUSHCLI
from waiting import HANG, eventually

PAGE = (Path(__file__).parents[2] / "docs/send/alerts-from-programs.md").read_text()
[GATEWAY] = re.findall(r"^```sh gateway\n(.*?)^```$", PAGE, re.M | re.S)
TRUST, SEND = re.findall(r"^```sh sender\n(.*?)^```$", PAGE, re.M | re.S)
[NOTIFY] = re.findall(r"^```sh notify\n(.*?)^```$", PAGE, re.M | re.S)
[RECEIVER] = re.findall(r"^```python receiver.py\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.fixture
def shell(start, tmp_path):
    gateway = start()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "pushcli").symlink_to(PUSHCLI)
    environment = os.environ | {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}

    def shell(text, **variables):
        text = text.replace("/var/lib/alerts", str(tmp_path / "alerts"))
        text = text.replace("/usr/local/bin/notify", str(tmp_path / "notify"))
        done = subprocess.run(
            ["bash", "-euc", text], cwd=tmp_path, capture_output=True, text=True, timeout=HANG,
            env=environment | variables)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    fingerprint = shell(GATEWAY, PUSHGATEWAY_STATE=str(gateway.state)).splitlines()[-1]
    shell(TRUST.replace("F85D-P90X-EWQC-C6B1@gateway.example:2197", f"{fingerprint}@localhost:{gateway.port}"))
    notify = tmp_path / "notify"
    notify.write_text(NOTIFY.replace("/var/lib/alerts", str(tmp_path / "alerts")))
    notify.chmod(0o755)
    shell.gateway, shell.notify, shell.environment = gateway, notify, environment
    return shell


def titles(gateway):
    rows = gateway.run("subscribe", "--device", "desk", "--json", "--count", "2").records
    return [(row["presentation"]["alert"]["title"], row["presentation"]["alert"]["body"]) for row in rows]


def test_the_script_and_the_receiver_send(shell, tmp_path):
    shell(SEND)
    [port] = free_ports(1)
    (tmp_path / "receiver.py").write_text(RECEIVER)
    receiver = subprocess.Popen(
        [sys.executable, "receiver.py", str(port), str(shell.notify)], cwd=tmp_path, env=shell.environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    body = json.dumps({"alerts": [{"status": "firing", "labels": {"alertname": "DiskFull"}, "annotations": {"summary": "db1"}}]})

    def post():
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", body.encode(), timeout=HANG) as answer:
                return answer.status
        except ConnectionRefusedError:
            return None
        except urllib.error.URLError as error:
            assert isinstance(error.reason, ConnectionRefusedError), error
            return None

    try:
        assert eventually(post, "the receiver listens") == 200
    finally:
        receiver.kill()
        receiver.wait()
    assert titles(shell.gateway) == [("Backup of db1", "All checks passed."), ("DiskFull", "db1")]
