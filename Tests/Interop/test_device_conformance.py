"""`device-conformance` accepts docs/receive/device.py and `subscribe`, and finds the fault of each faulty client."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gateway import CRASH, PUSHCLI, TOPIC, run
from waiting import wait_for

DEVICE = Path(__file__).parents[2] / "docs/receive/device.py"

#: The terminal client: it joins at its first start, and its commands report the pushes. The last command is the client itself, so that
#: a signal reaches it.
SUBSCRIBE = r"""#!/bin/sh
set -eu
export PUSHGATEWAY_STATE="$DEVICE_FOLDER/state"
if [ ! -e "$DEVICE_FOLDER/joined" ]; then
  "$PUSHCLI" join --device "$DEVICE_NAME" "$DEVICE_INVITATION@${DEVICE_GATEWAY#https://}" >&2
  touch "$DEVICE_FOLDER/joined"
fi
exec "$PUSHCLI" subscribe --device "$DEVICE_NAME" --app "$DEVICE_TOPIC" --json \
  --exec 'printf "{\"shown\":\"%s\"}\n" "$PUSH_ID"
    if [ -n "$PUSH_BADGE" ]; then printf "{\"badge\":%s}\n" "$PUSH_BADGE"; fi' \
  --exec-for retracted='printf "{\"retracted\":\"%s\"}\n" "$PUSH_ID"'
"""

#: What is wrong with a client: a part of device.py, what replaces it, and the check that fails.
FAULTS = {
    "acknowledges before it stores": (
        """            self.store.put(seq, self.store.epoch)
            # Only now: the gateway does not send an acknowledged push again.
            epoch = {"epoch": self.store.epoch} if self.store.epoch else {}
            self.request("POST", "/v1/device/acknowledgements", json={"seq": seq} | epoch)
""",
        """            self.request("POST", "/v1/device/acknowledgements", json={"seq": seq})
            self.store.put(seq, self.store.epoch)
""", "shows-once"),
    "acknowledges before it shows": (
        """        report(shown=push["id"], topic=push["topic"], alert=presentation.get("alert") or presentation.get("centre"))
""",
        """        if seq > 0:
            self.store.put(seq, self.store.epoch)
            self.request("POST", "/v1/device/acknowledgements", json={"seq": seq})
        report(shown=push["id"])
""", "stores-first"),
    "acknowledges twice": (
        """            self.request("POST", "/v1/device/acknowledgements", json={"seq": seq} | epoch)
""",
        """            for _ in range(2):
                self.request("POST", "/v1/device/acknowledgements", json={"seq": seq} | epoch)
""", "acknowledges-once"),
    "trips over an unknown line": (
        """getattr(self, f"on_{line.get('type')}", None)""", """getattr(self, f"on_{line['type']}".replace("-", "_"))""", "unknown"),
    # It asks again over the connection that it has: attempts with a handshake each may take longer than a pause.
    "makes no pause": ("""                stream.read()
                checked(stream)
""", """                stream.read()
                for _ in range(20):
                    with client.stream("GET", "/v1/device/stream", headers=fields):
                        pass
                checked(stream)
""", "backoff"),
}


def conformance(*command, **environment):
    """The checks that failed, and the whole output. The command has limits of its own, which end a hang."""
    done = subprocess.run(
        [PUSHCLI, "device-conformance", "--", *map(str, command)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
        env=os.environ | environment)
    assert not CRASH.search(done.stderr), done.stderr
    lines = done.stdout.splitlines()
    assert lines and all(re.match(r"(passed|failed) [a-z-]+: ", line) for line in lines), done.stdout + done.stderr
    failed = [line.split(": ")[0].split()[1] for line in lines if line.startswith("failed")]
    assert done.returncode == (1 if failed else 0), done.stdout + done.stderr
    return failed, done.stdout + done.stderr


def test_the_client_of_the_page_conforms():
    failed, output = conformance(sys.executable, DEVICE)
    assert not failed, output


def test_subscribe_conforms(tmp_path):
    script = tmp_path / "subscribe"
    script.write_text(SUBSCRIBE)
    failed, output = conformance("sh", script, PUSHCLI=PUSHCLI)
    assert not failed, output


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_client_is_found(tmp_path, fault):
    part, replacement, check = FAULTS[fault]
    text = DEVICE.read_text()
    # A faulty unknown line also affects lines of known types without a function: they stay out of the way.
    assert text.count(part) == 1
    faulty = tmp_path / "faulty.py"
    faulty.write_text(text.replace(part, replacement).replace(
        "    def on_gap(", "    def on_caught_up(self, line):\n        pass\n\n    on_preferences = on_caught_up\n\n    def on_gap("))
    failed, output = conformance(sys.executable, faulty)
    assert check in failed, output


def test_the_command_after_the_options_is_needed():
    assert run("device-conformance").code == 2
    assert run("device-conformance", "--wait", "0", "--", "true").code == 2


def test_a_client_that_ends_at_once_fails_each_check():
    failed, output = conformance("true")
    assert "joins" in failed and "the client ended with 0" in output


class Client:
    """device.py with a gateway; its output goes to a file."""

    def __init__(self, gateway, folder):
        code = gateway.admin("POST", "invitations", body={"valid_seconds": 600})["invitation"]
        self.out, self.folder = folder / "out", folder / "device"
        self.folder.mkdir()
        with self.out.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, DEVICE], stdin=subprocess.PIPE, stdout=out, stderr=subprocess.STDOUT, env=os.environ | {
                    "DEVICE_GATEWAY": f"https://localhost:{gateway.port}", "DEVICE_CA": gateway.trust,
                    "DEVICE_INVITATION": code, "DEVICE_NAME": "conforming", "DEVICE_TOPIC": TOPIC,
                    "DEVICE_FOLDER": str(self.folder)})

    def event(self, name):
        """The first event of a kind."""

        def found():
            lines = [line for line in self.out.read_text().split("\n")[:-1] if line.startswith("{")]
            return next((event for line in lines if name in (event := json.loads(line))), None)

        return wait_for(found, lambda: self.out.read_text(), self.out, self.process)

    def close(self):
        self.process.kill()
        self.process.communicate()


def test_the_client_of_the_page_answers(gateway, tmp_path):
    client = Client(gateway, tmp_path)
    try:
        enrolled = client.folder / "device.json"
        wait_for(enrolled.exists, lambda: client.out.read_text(), client.folder, client.process)
        token = gateway.register("conforming", TOPIC)
        push = gateway.accepted(token)
        assert client.event("shown")["shown"] == push
        client.process.stdin.write(f"{push} view\n".encode())
        client.process.stdin.flush()
        assert client.event("answered") == {"answered": push, "action": "view"}
        assert "viewed" in [row["event"] for row in gateway.events(push, until="viewed")]
    finally:
        client.close()
