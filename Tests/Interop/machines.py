"""Machines that share nothing: each has a home of its own, and one may be in a network namespace of its own."""

import os
import shlex
import subprocess
import uuid

import pytest
from gateway import CRASH, PUSHCLI, Done
from waiting import HANG

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="a network namespace takes root")


class Machine:
    """A home in which no gateway runs, and the commands of who sits there."""

    def __init__(self, folder, name, network=None):
        self.home, self.name = folder / name, name
        self.home.mkdir(parents=True)
        self.wrapper = ["ip", "netns", "exec", network.name] if network else []

    @property
    def environment(self):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PUSHGATEWAY_", "XDG_"))}
        return kept | {"HOME": str(self.home), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}

    def try_run(self, *arguments, stdin="") -> Done:
        done = subprocess.run([*self.wrapper, PUSHCLI, *map(str, arguments)], input=stdin, capture_output=True, text=True,
                              timeout=HANG, cwd=self.home, env=self.environment)
        assert done.returncode >= 0 and not CRASH.search(done.stderr), done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    def run(self, *arguments, code=0, **options) -> Done:
        done = self.try_run(*arguments, **options)
        assert done.code == code, f"{arguments} ended with {done.code}, not {code}:\n{done.out}{done.err}"
        return done

    def begin(self, *arguments) -> subprocess.Popen:
        """A command that goes on beside the test."""
        return subprocess.Popen([*self.wrapper, PUSHCLI, *map(str, arguments)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, cwd=self.home, env=self.environment)

    def line(self, *arguments) -> str:
        """A command as a shell of this machine would have it: for a terminal."""
        settings = [f"{name}={self.environment[name]}" for name in ("HOME", "LANG", "LC_ALL")]
        cleared = [part for name in os.environ if name.startswith(("PUSHGATEWAY_", "XDG_")) for part in ("-u", name)]
        return shlex.join([*self.wrapper, "env", *cleared, *settings, PUSHCLI, *map(str, arguments)])

    def join(self, gateway, *options, host=None, device=None, **terms) -> Done:
        """Becomes a device of a gateway by an invitation."""
        flags = [part for option, value in terms.items() for part in (f"--{option}", value)]
        invitation = gateway.run("devices", "invite", "--host", host or f"localhost:{gateway.port}", *flags).out.strip()
        return self.run("join", invitation, "--device", device or self.name, *options)


class Network:
    """A network namespace that reaches this machine by one address."""

    def __init__(self):
        number = uuid.uuid4().int
        self.name = f"pushgateway-{number % 10**8}"
        link = f"pg{number % 10**8}"
        prefix = f"10.{100 + number % 100}.{number // 100 % 250}"
        self.host = f"{prefix}.1"
        for line in [
            f"ip netns add {self.name}",
            f"ip link add {link}a type veth peer name {link}b netns {self.name}",
            f"ip addr add {self.host}/24 dev {link}a", f"ip link set {link}a up",
            f"ip -n {self.name} addr add {prefix}.2/24 dev {link}b", f"ip -n {self.name} link set {link}b up",
            f"ip -n {self.name} link set lo up",
        ]:
            subprocess.run(line.split(), check=True)

    def close(self):
        subprocess.run(["ip", "netns", "del", self.name], check=True)


@pytest.fixture
def network():
    network = Network()
    yield network
    network.close()


@pytest.fixture
def machine(tmp_path):
    """Makes machines: `machine("laptop")`."""
    return lambda name, network=None: Machine(tmp_path / "machines", name, network)
