"""Every file of the state folder is its owner's alone from the moment in which it exists, as the system's calls show it."""

import re
import stat
from pathlib import Path

import pytest

from faultlib import needs_strace
from gateway import TOPIC, Gateway
from waiting import wait_for

#: Calls that make a file, or change whose it is.
CALLS = "open,openat,creat,mkdir,mkdirat,mknod,mknodat,bind,umask,chmod,fchmod,fchmodat,rename,renameat,renameat2,link,linkat"
#: Runs the gateway as a careless system would: with a mask that takes nothing away.
CARELESS = ("sh", "-c", 'umask 0; exec "$@"', "sh")


#: What clients of other users have to read; in a folder that is its owner's alone it takes the owner to let them.
PUBLIC = {"ca.pem", "server.pem", "listening"}


def is_public(path):
    return Path(path).name.removesuffix(".new") in PUBLIC


def opened_to_others(trace: str, folder: str):
    """The files of a folder that were made, and those of them that others could open; from strace's words.

    What a call asks for is lessened by the mask that holds then; a socket gets what the mask leaves.
    """
    mask, made, open_to_others = 0, [], []
    for line in trace.splitlines():
        if found := re.search(r"\bumask\(0?([0-7]*)\)", line):
            mask = int(found[1] or "0", 8)
            continue
        paths = [path for path in re.findall(r'"([^"]+)"|^\d+ +fchmod\(\d+<([^>]+)>', line)]
        paths = [path for path in map("".join, paths) if path.startswith(folder)]
        if not paths:
            continue
        if "O_CREAT" in line or re.search(r"\b(creat|mkdir(at)?|mknod(at)?)\(", line):
            mode = int(re.findall(r", 0([0-7]{0,4})(?=\)| <unfinished)", line)[-1] or "0", 8) & ~mask
        elif re.search(r"\bbind\(", line):
            mode = 0o777 & ~mask
        elif re.search(r"\bf?chmod(at)?\(", line):
            mode = int(re.findall(r", 0([0-7]{0,4})(?=[,)]| <unfinished)", line)[-1] or "0", 8)
        else:
            continue
        made.append(paths[-1])
        if mode & 0o077 and not ("chmod(" in line and is_public(paths[-1])):
            open_to_others.append(line)
    return made, open_to_others


@pytest.mark.parametrize(("line", "is_open"), [
    ('7 openat(AT_FDCWD, "/s/a", O_WRONLY|O_CREAT|O_EXCL, 0600) = 3', False),
    ('7 openat(AT_FDCWD, "/s/a", O_WRONLY|O_CREAT|O_EXCL, 0644) = 3', True),
    ('7 openat(AT_FDCWD, "/s/a", O_WRONLY|O_CREAT, 0666 <unfinished ...>', True),
    ('7 umask(077) = 0\n7 openat(AT_FDCWD, "/s/a", O_WRONLY|O_CREAT, 0644) = 3', False),
    ('7 mkdir("/s/b", 0755) = 0', True), ('7 mkdir("/s/b", 0700) = 0', False), ('7 chmod("/s/a", 0640) = 0', True),
    ("7 fchmod(29</s/a.new>, 0644) = 0", True), ("7 fchmod(29</s/ca.pem.new>, 0644) = 0", False),
    ('7 bind(5, {sa_family=AF_UNIX, sun_path="/s/admin.sock"}, 110) = 0', True),
    ('7 umask(077) = 0\n7 bind(5, {sa_family=AF_UNIX, sun_path="/s/admin.sock"}, 110) = 0', False),
])
def test_what_strace_says_is_understood(line, is_open):
    made, found = opened_to_others(line, "/s")
    assert len(made) == 1 and bool(found) == is_open


def test_every_file_of_the_state_folder_is_made_for_its_owner_alone(tmp_path):
    needs_strace()
    calls, state = tmp_path / "calls", tmp_path / "state"
    traced = ("strace", "-D", "-f", "-y", "-s", "4096", "-o", str(calls), "-e", f"trace={CALLS}")
    gateway = Gateway(state, wrapper=(*CARELESS, *traced))

    def traced_calls():
        """What the run that has ended asked the system for."""
        wait_for(lambda: re.search(r"^%d\s+\+\+\+ exited" % pid, calls.read_text(), re.M), "strace has written it all", calls)
        return calls.read_text()

    gateway.start()
    pid = gateway.process.pid
    try:
        # What makes files: devices, keys, certificates, faults, pushes with their log, a backup, a second start.
        device = gateway.device()
        gateway.accepted(device.token)
        gateway.new_key()
        gateway.certificate()
        gateway.run("devices", "invite", "--json")
        gateway.run("channels", "enable", TOPIC)
        gateway.run("admin", "backup", state / "backup")
        gateway.stop()
        trace = traced_calls()
        gateway.restart()
        pid = gateway.process.pid
        gateway.accepted(device.token)
    finally:
        if gateway.process:
            gateway.stop()
    made, open_to_others = opened_to_others(trace, str(state))
    made_again, open_again = opened_to_others(traced_calls(), str(state))
    made, open_to_others = made + made_again, open_to_others + open_again
    assert not open_to_others, "\n".join(open_to_others)
    # The calls were seen: the files that matter most are among them, under the name that they had first.
    names = {Path(path).name.removesuffix(".new") for path in made}
    for name in [
        "ca.key", "server.key", "pushgateway.sqlite", "pushgateway.sqlite-wal", "delivery-log.sqlite", "development.json", "AuthKey_",
        "listening", "admin.sock", "backup"]:
        assert any(name in each for each in names), f"{name} was not seen among {sorted(names)}"
    wide = [path for path in state.rglob("*") if not path.is_symlink() and stat.S_IMODE(path.lstat().st_mode) & 0o077]
    assert all(map(is_public, wide)), wide
