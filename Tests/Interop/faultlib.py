"""What the tests of real faults have in common: looking into a process, and getting in its way."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from waiting import HANG, wait_for


def resident(pid) -> int:
    """The resident memory of a process, in bytes."""
    return _status(pid, "VmRSS")


def peak(pid) -> int:
    """The most resident memory since the start, or since `forget_peak`, in bytes."""
    return _status(pid, "VmHWM")


def forget_peak(pid):
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def _status(pid, name) -> int:
    return 1024 * int(re.search(rf"^{name}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.M)[1])


def cpu_seconds(pid) -> float:
    """User and system time that a process has taken so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def descriptors(pid) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


@contextlib.contextmanager
def stopped(process):
    """A process that does nothing for a while, as one whose machine swaps or sleeps."""
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


def needs_strace():
    """Skips the test where processes can't be traced."""
    if not shutil.which("strace"):
        pytest.skip("strace is not installed: apt-get install strace")
    done = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"processes can't be traced here: {done.stderr.strip()}")


@contextlib.contextmanager
def injected(process, fault, path):
    """Has system calls of a running process fail: `fdatasync:error=EIO`. What was called is in the file `path`."""
    needs_strace()
    calls = fault.split(":")[0]
    with open(f"{path}.err", "wb") as err:
        tracer = subprocess.Popen(
            ["strace", "-f", "-y", "-p", str(process.pid), "-o", str(path), "-e", f"trace={calls}", "-e", f"inject={fault}"],
            stderr=err, stdin=subprocess.DEVNULL)
    words = Path(f"{path}.err")
    wait_for(
        lambda: "attached" in words.read_text() or tracer.poll() is not None, "strace is attached", words, tracer)
    assert tracer.poll() is None, words.read_text()
    try:
        yield
    finally:
        if tracer.poll() is None:
            tracer.send_signal(signal.SIGINT)
        tracer.wait(HANG)
