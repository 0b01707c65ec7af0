"""`make cluster`: several gateways as one on this machine, for who sees it for the first time. Whatever happens, nothing stays."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from brokers import NATS_SERVER, needs_brokers
from gateway import PUSHCLI
from waiting import HANG, eventually

pytestmark = [needs_brokers, pytest.mark.xdist_group("cell")]
SCRIPT = Path(__file__).parents[2] / "scripts" / "cluster"


def begin(folder, *arguments, pushes=20):
    # In a group of its own, as a terminal has it.
    return subprocess.Popen(
        [SCRIPT, *(arguments or (PUSHCLI, NATS_SERVER))], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        stdin=subprocess.DEVNULL, env=os.environ | {"TMPDIR": str(folder), "PUSHES": str(pushes)},
        start_new_session=True)


def is_left(folder):
    """Whether a process has the folder in its command line, or files are left in it."""
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if f"{folder}/pushgateway-cluster" in line.read_bytes().decode(errors="replace"):
                return True
        except OSError:
            pass
    return bool(list(folder.iterdir()))


def test_nothing_is_lost_when_a_gateway_and_a_broker_are_killed(tmp_path):
    out, err = (process := begin(tmp_path)).communicate(timeout=HANG)
    assert process.returncode == 0, out + err
    for words in ["Two Gateways, One Service", "gateway 2 was killed", "broker 1 was killed", "accepted (200):   20 of 20",
                  "on the phone:     20 of these", "lost:             0", "shown twice:      0"]:
        assert words in out, out + err
    eventually(lambda: not is_left(tmp_path), "nothing is left")


@pytest.mark.parametrize("when", ["Three brokers", "was killed"])
def test_an_interrupted_one_leaves_nothing(tmp_path, when):
    process = begin(tmp_path)
    for line in process.stdout:
        if when in line:
            break
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=HANG)
    assert process.returncode == 130
    eventually(lambda: not is_left(tmp_path), "nothing is left")


def test_what_does_not_start_is_said_and_leaves_nothing(tmp_path):
    out, err = (process := begin(tmp_path, "/bin/false", NATS_SERVER)).communicate(timeout=HANG)
    assert process.returncode == 1 and "gateway 1 did not start" in err, out + err
    eventually(lambda: not is_left(tmp_path), "nothing is left")
