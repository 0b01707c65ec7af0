"""The client, killed at every system call by which anything of it becomes visible."""

import json
import signal
import subprocess

from faultlib import needs_strace
from gateway import PUSHCLI, poll

#: Writing to files and sockets, and syncing.
CALLS = ["write", "writev", "pwrite64", "sendto", "sendmsg", "fdatasync", "fsync", "ftruncate", "rename"]
ENOUGH = 100


def subscribe(gateway, device, path, *options, wrapper=()):
    with open(path, "ab") as out:
        return subprocess.Popen(
            [*wrapper, PUSHCLI, "subscribe", "--state", str(gateway.state), "--device", device.name, "--json", *options],
            stdout=out, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)


def test_a_client_that_is_killed_at_any_system_call_shows_every_push_once(gateway, tmp_path):
    """For each call: the run number *n* gets SIGKILL as a thread enters its *n*th one, until a run needs fewer."""
    needs_strace()
    device = gateway.device()
    path = tmp_path / "pushes.ndjson"
    path.touch()
    ids, kills = [], {}
    waiting = lambda: {r["name"]: r["waiting"] for r in gateway.run("devices", "--json").records}[device.name]
    for call in CALLS:
        for number in range(1, ENOUGH):
            with gateway.connect() as connection:
                ids += [gateway.accepted(device.token, connection=connection) for _ in range(3)]
            tracer = [
                "strace", "-f", "-o", str(tmp_path / "calls"), "-e", f"trace={call}",
                "-e", f"inject={call}:signal=SIGKILL:when={number}"]
            code = subscribe(gateway, device, path, "--count", "3", wrapper=tracer).wait(30)
            if code == 0:
                break
            kills[call] = number
            assert code == -signal.SIGKILL, code
            # What the killed run has left behind is taken by one that nobody disturbs.
            last = subscribe(gateway, device, path)
            poll(
                lambda: path.read_bytes().count(b"\n") >= len(ids) and waiting() == 0,
                f"all are there after a kill at {call} {number}", 20)
            last.kill()
            last.wait()
            found = [json.loads(line)["id"] for line in path.read_bytes().splitlines()]
            assert found == ids, f"{call} {number}: {len(found)} lines for {len(ids)} pushes"
    print("killed at each of", kills)
    assert {"write", "pwrite64", "fdatasync"} <= kills.keys()
