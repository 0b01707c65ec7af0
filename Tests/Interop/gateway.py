"""Real processes of `pushcli`: gateways, and commands beside them."""

import json
import os
import re
import signal
import subprocess
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from tokens import Key
from wire import Connection, DeviceStream

PUSHCLI = os.environ["PUSHCLI"]
TOPIC = "com.example.news"
ALERT = b'{"aps":{"alert":"Platform 4"}}'

#: What a program that crashed leaves behind, whatever else it printed.
CRASH = re.compile(r"Fatal error|Program crashed|Backtrace|Swift runtime|precondition|Assertion|core dumped", re.I)


@dataclass
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def records(self):
        return [json.loads(line) for line in self.out.splitlines()]


def run(*arguments, state=None, stdin=None, timeout=30, env=None, cwd=None) -> Done:
    """Runs a command to its end; whatever it does, it must not crash."""
    line = [PUSHCLI, *map(str, arguments)] + (["--state", str(state)] if state else [])
    done = subprocess.run(
        line, input=stdin if stdin is not None else "", capture_output=True, text=True, timeout=timeout, cwd=cwd,
        env=os.environ | (env or {}))
    assert done.returncode >= 0, f"{line} died of signal {-done.returncode}: {done.stderr}"
    assert not CRASH.search(done.stderr), done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


def poll(condition, what, timeout=10.0):
    """Waits for something that announces itself to nobody."""
    end = time.monotonic() + timeout
    while not (result := condition()):
        assert time.monotonic() < end, f"in vain: {what}"
        time.sleep(0.005)
    return result


@dataclass
class Device:
    name: str
    secret: str
    token: str


class Gateway:
    """`pushcli serve` on a state folder of its own."""

    #: Whether it is several machines' that look like one.
    is_cell = False

    def __init__(self, state, *options, listen="127.0.0.1:0", wrapper=(), program=PUSHCLI):
        # Without `listen` the settings file says where.
        self.state, self.options, self.listen, self.program = Path(state), options, listen, program
        self.wrapper = wrapper  # A command before the command: `strace …`, `ip netns exec …`.
        self.process = None
        self.bearers = {}

    # Its life

    def start(self):
        self.spawn()
        listening = self.state / "listening"
        poll(
            lambda: listening.exists() or self.process.poll() is not None, "the gateway is listening", timeout=20)
        assert self.process.poll() is None, f"the gateway ended with {self.process.returncode}:\n{self.log}"
        self.addresses = [line.rsplit(":", 1) for line in listening.read_text().splitlines()]
        self.host, port = self.addresses[0]
        self.port = int(port)
        return self

    def spawn(self):
        """Starts the process, and waits for nothing."""
        (self.state / "listening").unlink(missing_ok=True)
        self.state.parent.mkdir(parents=True, exist_ok=True)
        self.log_path = self.state.parent / f"{self.state.name}.log"
        with open(self.log_path, "ab") as log:
            # SIGXFSZ stays ignored, as Python has it: a test makes files hit a limit.
            self.process = subprocess.Popen(
                [*self.wrapper, self.program, "serve", "--state", str(self.state),
                 *(["--listen", self.listen] if self.listen else []), *map(str, self.options)],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, restore_signals=False)

    @property
    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    def wait_for_log(self, words, timeout=10):
        """Returns when the log holds these words."""
        end = time.monotonic() + timeout
        while words not in self.log:
            assert time.monotonic() < end, f"the log does not say {words!r}"
            time.sleep(0.01)

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def ended(self, timeout=10) -> int:
        return self.process.wait(timeout)

    def stop(self):
        """Ends it as an administrator would; it must go in good order, within ten seconds."""
        if self.process is None:
            return
        if self.process.poll() is None:
            self.terminate()
        try:
            code = self.ended(10)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the gateway did not end within 10 s of SIGTERM:\n{self.log}") from None
        self.process = None
        assert code == 0, f"the gateway ended with {code}:\n{self.log}"
        assert not CRASH.search(self.log), self.log

    #: Ends all that was started for it.
    close = stop

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process = None

    def restart(self):
        """Starts it again on the same state and port, after it ended or was killed."""
        self.listen = f"{self.host}:{self.port}"
        return self.start()

    # What it knows

    @property
    def trust(self) -> str:
        return str(self.state / "ca.pem")

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def key(self) -> Key:
        """The first start's development key."""
        development = json.loads((self.state / "development.json").read_text())
        return Key(development["key_path"], development["key_id"], development["team_id"])

    def run(self, *arguments, code=0, **options) -> Done:
        done = run(*arguments, state=self.state, **options)
        assert done.code == code, f"{arguments} ended with {done.code}, not {code}:\n{done.out}{done.err}"
        return done

    def app(self, topic=None, name="Trains", **options) -> str:
        topic = topic or f"com.example.app{uuid.uuid4().hex[:8]}"
        flags = [part for option, value in options.items() for part in (f"--{option}", value)]
        team = [] if "team" in options else ["--team", self.key.team_id]
        self.run("apps", "add", topic, "--name", name, *flags, *team)
        return topic

    def device(self, topic=TOPIC, name=None, person=None) -> Device:
        """A new device that is registered for an app."""
        name = name or f"device-{uuid.uuid4().hex[:12]}"
        owner = ["--person", person] if person else []
        enrolled = self.run("devices", "enrol", name, *owner, "--json").json
        return Device(name, enrolled["secret"], self.register(name, topic))

    def register(self, name, topic, *options) -> str:
        return self.run("devices", "register", name, topic, *options, "--json").json["token"]

    def certificate(self, *options, topic=TOPIC) -> tuple[str, str]:
        """A provider's certificate of the gateway's own authority, and its key: two files."""
        out = self.state.parent / f"certs-{uuid.uuid4().hex[:8]}"
        out.mkdir()
        made = self.run("certs", "create", "--topic", topic, "--out", out, *options, "--json").json
        return made["certificate"], made["key"]

    def new_key(self, *options, team=None) -> Key:
        out = self.state.parent / f"keys-{uuid.uuid4().hex[:8]}"
        out.mkdir()
        team = team or self.key.team_id
        made = self.run("keys", "create", "--team", team, "--out", out, *options, "--json").json
        return Key(made["path"], made["key_id"], made["team_id"])

    def are_numbered(self, pushes, *numbers) -> bool:
        """Whether pushes have these numbers of their device."""
        return [push["seq"] for push in pushes] == list(numbers)

    def events(self, apns_id, until=None) -> list[dict]:
        """The delivery log of a push, once it holds the event `until` (the log is written behind)."""

        def found():
            records = self.run("log", apns_id, "--json").records
            return records if until is None or until in [record["event"] for record in records] else None

        return poll(found, f"{until} in the log of {apns_id}")

    # Speaking to it

    def connect(self, **options) -> Connection:
        return Connection(self, **options)

    def bearer(self, key=None) -> str:
        """A key's token, the same for every push, as a sender does it: a new one for each is refused (§4.2)."""
        key = key or self.key
        return self.bearers.setdefault(key.key_id, key.bearer())

    def fields(self, *, topic=TOPIC, key=None, **more) -> list:
        """The fields of an acceptable push; `apns_id=…` adds or replaces one, `None` leaves it out."""
        fields = {"authorization": self.bearer(key), "apns-topic": topic, "apns-push-type": "alert"}
        fields |= {name.replace("_", "-"): value for name, value in more.items()}
        return [(name, str(value)) for name, value in fields.items() if value is not None]

    def push(self, token, payload=ALERT, *, connection=None, **fields):
        """Sends one push and returns the response."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        if connection:
            return connection.request("POST", f"/3/device/{token}", self.fields(**fields), body)
        with self.connect() as connection:
            return connection.request("POST", f"/3/device/{token}", self.fields(**fields), body)

    def accepted(self, token, payload=ALERT, **fields) -> str:
        """Sends one push that must be accepted, and returns its apns-id."""
        response = self.push(token, payload, **fields)
        assert response.status == 200, (response.status, response.body)
        return response["apns-id"]

    def stream(self, device: Device, **options) -> DeviceStream:
        return DeviceStream(self.connect(), device.secret, **options)


class Subscriber:
    """`pushcli subscribe --json`, running; its lines go to a file."""

    def __init__(self, gateway, device, *options, path, wrapper=()):
        self.path = Path(path)
        self._out, self._err = open(self.path, "ab"), open(f"{self.path}.err", "ab")
        self.process = subprocess.Popen(
            [*wrapper, PUSHCLI, "subscribe", "--state", str(gateway.state), "--device", device.name, "--json",
             *map(str, options)],
            stdout=self._out, stderr=self._err, stdin=subprocess.DEVNULL)

    @property
    def lines(self) -> list[dict]:
        """Whole lines only: a killed process may leave a part."""
        return [json.loads(line) for line in self.path.read_bytes().split(b"\n")[:-1]]

    @property
    def words(self) -> str:
        return Path(f"{self.path}.err").read_text()

    @property
    def is_connected(self) -> bool:
        return "connected to" in self.words

    def wait(self, timeout=30) -> int:
        code = self.process.wait(timeout)
        assert not CRASH.search(self.words), self.words
        return code

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._out.close()
        self._err.close()
