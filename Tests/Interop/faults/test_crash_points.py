"""Client and gateway, killed at every system call by which anything of them becomes visible or is stored."""

import itertools
import json
import signal
import subprocess
import uuid

import pytest

from faultlib import needs_strace
from gateway import PUSHCLI, Gateway
from waiting import HANG
from wire import Closed

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
    for call in CALLS:
        for number in range(1, ENOUGH):
            with gateway.connect() as connection:
                ids += [gateway.accepted(device.token, connection=connection) for _ in range(3)]
            tracer = [
                "strace", "-f", "-o", str(tmp_path / "calls"), "-e", f"trace={call}",
                "-e", f"inject={call}:signal=SIGKILL:when={number}"]
            code = subscribe(gateway, device, path, "--count", "3", wrapper=tracer).wait(HANG)
            if code == 0:
                break
            kills[call] = number
            assert code == -signal.SIGKILL, code
            # What the killed run has left behind is taken by one that nobody disturbs.
            last = subscribe(gateway, device, path)
            gateway.when(
                lambda: path.read_bytes().count(b"\n") >= len(ids) and gateway.waiting(device) == 0,
                f"all are there after a kill at {call} {number}", path)
            last.kill()
            last.wait()
            found = [json.loads(line)["id"] for line in path.read_bytes().splitlines()]
            assert found == ids, f"{call} {number}: {len(found)} lines for {len(ids)} pushes"
    print("killed at each of", kills)
    assert {"write", "pwrite64", "fdatasync"} <= kills.keys()


def offer(gateway, device, ids) -> list[str]:
    """Sends pushes one after another until all are accepted or the gateway dies; returns those answered 200."""
    accepted = []
    try:
        with gateway.connect() as connection:
            for name in ids:
                response = gateway.push(device.token, connection=connection, apns_id=name)
                assert response.status == 200, response.body
                accepted.append(name)
    except (Closed, OSError):
        pass
    return accepted


@pytest.mark.parametrize("call", ["pwrite64", "fdatasync", "write"])
def test_a_gateway_that_is_killed_at_any_system_call_keeps_what_it_answered(tmp_path, call):
    """Kills while it starts, and between any two writes of a commit; each time it finds what the last one left."""
    needs_strace()
    gateway = Gateway(tmp_path / "state").start()
    device = gateway.device()
    gateway.kill()
    gateway.listen = gateway.address
    everything, kills, answered_before_kill = [], 0, 0
    for number in itertools.chain(range(1, 30), range(30, 120, 5)):
        gateway.wrapper = [
            "strace", "-D", "-f", "-o", str(tmp_path / "calls"), "-e", f"trace={call}",
            "-e", f"inject={call}:signal=SIGKILL:when={number}"]
        gateway.spawn()
        gateway.is_ready()
        ids = [str(uuid.uuid4()) for _ in range(8)]
        accepted = offer(gateway, device, ids) if gateway.process.poll() is None else []
        if len(accepted) == len(ids):
            gateway.kill()
        else:
            kills += 1
            answered_before_kill += len(accepted)
            gateway.ended()
        gateway.wrapper = ()
        gateway.start()
        # What got no answer is sent again, under the same id.
        assert offer(gateway, device, ids[len(accepted):]) == ids[len(accepted):]
        everything += ids
        stream = gateway.stream(device)
        assert [line["id"] for line in stream.caught_up()] == everything, f"{call} {number}"
        stream.connection.close()
        gateway.kill()
    print(f"{kills} kills at {call}, {answered_before_kill} pushes answered 200 before one")
    assert kills > 0
