"""Files of a gateway and of devices: their owner's alone from the first moment, and never in a folder that others share."""

import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest

from gateway import PUSHCLI, TOPIC, Gateway, run
from waiting import HANG

#: What everybody may read, if they get at the folder.
PUBLIC = {"http-listening", "ca.pem", "server.pem", "listening"}


def modes(folder):
    found = {"": stat.S_IMODE(folder.stat().st_mode)}
    for path in folder.rglob("*"):
        found[str(path.relative_to(folder))] = stat.S_IMODE(path.lstat().st_mode)
    return found


def test_all_files_are_their_owners_alone_whatever_the_umask(tmp_path):
    old = os.umask(0)
    gateway = Gateway(tmp_path / "state")
    try:
        gateway.start()
        device = gateway.device()
        gateway.accepted(device.token)
        gateway.run("subscribe", "--device", device.name, "--json", "--count", 1)
        # By the commands, which write the files.
        out = ("--out", tmp_path / "secrets", "--json")
        key = gateway.run("keys", "create", "--team", gateway.key.team_id, *out).json["path"]
        certificate_key = gateway.run("certs", "create", "--topic", TOPIC, *out).json["key"]
        gateway.run("admin", "backup", tmp_path / "all.backup")
        found = modes(gateway.state)
    finally:
        os.umask(old)
        gateway.stop()
    assert {"pushgateway.sqlite", "pushgateway.sqlite-wal", "delivery-log.sqlite", "ca.key", "server.key"} <= found.keys()
    for name, mode in found.items():
        is_folder = name in ("", "devices")
        assert mode == (0o700 if is_folder else 0o644 if name in PUBLIC else 0o600), (name, oct(mode))
    for path in (key, certificate_key, tmp_path / "all.backup"):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600, path


def test_a_folder_that_others_can_read_is_refused_with_the_command_that_mends_it(tmp_path):
    state = tmp_path / "state"
    state.mkdir()
    (state / "config.yaml").write_text("log_level: info\n")
    state.chmod(0o755)
    done = run("serve", "--listen", "127.0.0.1:0", state=state)
    assert done.code == 1
    assert f"chmod 700 '{state}'" in done.err
    assert len(done.err.splitlines()) <= 2, done.err
    subprocess.run(f"chmod 700 '{state}'", shell=True, check=True)
    Gateway(state).start().stop()


def test_an_empty_folder_is_narrowed_and_that_is_said(tmp_path):
    state = tmp_path / "state"
    state.mkdir()
    state.chmod(0o755)
    gateway = Gateway(state).start()
    gateway.stop()
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert "was accessible to other users" in gateway.log


@pytest.mark.parametrize("command", [["serve"], ["devices"], ["subscribe", "--device", "a"], ["doctor"], ["log"]])
def test_without_a_home_nothing_is_kept_in_a_folder_that_all_share(command):
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_DATA_HOME", "PUSHGATEWAY_STATE")}
    done = subprocess.run([PUSHCLI, *command], env=environment, capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 2
    assert "--state" in done.stderr
    assert not Path(tempfile.gettempdir(), ".local").exists()


def users(pid):
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {line.split()[0]: set(line.split()[1:]) for line in status if line.startswith(("Uid:", "Gid:", "Groups:"))}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
def test_root_binds_a_port_and_then_is_a_user_for_good():
    user = pwd.getpwnam("nobody")
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    try:
        gateway = Gateway(folder / "state", "--user", "nobody", listen="127.0.0.1:0").start()
        for task in Path(f"/proc/{gateway.process.pid}/task").iterdir():
            try:
                found = users(task.name)
            except (FileNotFoundError, ProcessLookupError):
                continue  # A thread of a pool, which has ended since it was listed.
            assert found["Uid:"] == {str(user.pw_uid)} and found["Gid:"] == {str(user.pw_gid)}, found
            assert "0" not in found["Groups:"], found
        device = gateway.device()
        gateway.accepted(device.token)
        assert {path.stat().st_uid for path in [gateway.state, *gateway.state.glob("*.sqlite*"), *gateway.state.glob("*.key")]} == {user.pw_uid}
        gateway.stop()
        # Again, on what is there.
        gateway.start()
        gateway.accepted(device.token)
        gateway.stop()
        # Below 1024, which only root may bind.
        port = next(port for port in range(1000, 600, -1) if is_free(port))
        gateway.listen = f"127.0.0.1:{port}"
        gateway.start()
        assert gateway.port == port
        gateway.stop()
        assert "runs as root" not in gateway.log
    finally:
        shutil.rmtree(folder)


def is_free(port):
    import socket

    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
def test_another_user_is_told_that_the_gateway_is_not_theirs(gateway):
    """A socket that may not be used is another thing than a gateway that does not run."""
    nobody = pwd.getpwnam("nobody").pw_uid
    if subprocess.run([PUSHCLI, "version"], user=nobody, capture_output=True).returncode:
        pytest.skip("nobody may not run this binary")

    def as_nobody(*line):
        return subprocess.run(
            [PUSHCLI, *line, "--state", gateway.state], user=nobody, stdin=subprocess.DEVNULL, capture_output=True, text=True)

    for line in [["devices"], ["send", "--to", "me/com.example.news", "x"], ["keys", "token"], ["config", "check"]]:
        done = as_nobody(*line)
        assert done.returncode == 4 and "may not be used by this user" in done.stderr, done.stderr
        assert len(done.stderr.splitlines()) == 1 and done.stdout == ""
    done = as_nobody("doctor")
    assert done.returncode == 1 and "may not be used by this user" in done.stdout
    # Files that this user can't see are not reported as missing, and the gateway is not reported as stopped.
    assert "is not there" not in done.stdout and "none runs" not in done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
def test_root_without_a_user_goes_on_and_says_so(tmp_path):
    gateway = Gateway(tmp_path / "state").start()
    gateway.stop()
    assert "runs as root: name an unprivileged user with --user NAME" in gateway.log
    done = run("serve", "--listen", "127.0.0.1:0", "--user", "no-such-user", state=tmp_path / "other")
    assert done.code == 1 and "there is no user no-such-user" in done.err
