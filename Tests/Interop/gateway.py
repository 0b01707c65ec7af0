"""Real processes of `pushcli`: gateways, and commands beside them."""

import atexit
import contextlib
import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

from tokens import Key
from waiting import HANG, wait_for
from wire import Connection, DeviceStream

PUSHCLI = os.environ["PUSHCLI"]
#: Whether loops have their full length (`make soak`), and not that of a run before each commit.
SOAK = bool(os.environ.get("INTEROP_SOAK"))
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


def run(*arguments, state=None, stdin=None, timeout=HANG, env=None, cwd=None) -> Done:
    """Runs a command to its end; whatever it does, it must not crash."""
    line = [PUSHCLI, *map(str, arguments)] + (["--state", str(state)] if state else [])
    done = subprocess.run(
        line, input=stdin if stdin is not None else "", capture_output=True, text=True, timeout=timeout, cwd=cwd,
        env=os.environ | (env or {}))
    assert done.returncode >= 0, f"{line} died of signal {-done.returncode}: {done.stderr}"
    assert not CRASH.search(done.stderr), done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


class Manager:
    """Stands in for systemd's end of `NOTIFY_SOCKET`; `told` has the messages that were taken so far."""

    _numbers = itertools.count()

    def __init__(self, address=None):
        self.address = address or f"{Manager._folder()}/{next(Manager._numbers)}"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.address.replace("@", "\0") if self.address.startswith("@") else self.address)
        if not self.address.startswith("@"):
            os.chmod(self.address, 0o777)
        self.socket.setblocking(False)
        self.told: list[dict[str, str]] = []

    @staticmethod
    def _folder() -> str:
        """A folder with a short name: the address of a socket has at most 107 bytes."""
        if not hasattr(Manager, "_made"):
            Manager._made = tempfile.mkdtemp(prefix="pg-")
            os.chmod(Manager._made, 0o755)
            atexit.register(shutil.rmtree, Manager._made, ignore_errors=True)
        return Manager._made

    @contextlib.contextmanager
    def events(self):
        yield self.socket.fileno(), self.take

    def take(self):
        """Takes the messages that are there."""
        with contextlib.suppress(BlockingIOError):
            while text := self.socket.recv(1 << 16).decode():
                self.told.append(dict(line.split("=", 1) for line in text.split("\n")))

    def forget(self):
        self.take()
        self.told.clear()

    def until(self, key, *sources) -> dict[str, str]:
        """The first message with this key; it and all before it are forgotten."""
        wait_for(lambda: self._has(key), f"{key} for the manager", self, *sources)
        while key not in (message := self.told.pop(0)):
            pass
        return message

    def _has(self, key):
        self.take()
        return any(key in message for message in self.told)


@dataclass
class Device:
    name: str
    secret: str
    token: str


class Gateway:
    """`pushcli serve` on a state folder of its own."""

    #: Whether it is several machines' that look like one.
    is_cell = False

    def __init__(self, state, *options, listen="127.0.0.1:0", wrapper=(), program=PUSHCLI, manager=None, log=None):
        # Without `listen` the settings file says where. Standard error goes to `log`, or to a file beside the state folder.
        self.state, self.options, self.listen, self.program = Path(state), options, listen, program
        self.wrapper = wrapper  # A command before the command: `strace …`, `ip netns exec …`.
        self.process = None
        self.bearers = {}
        self.manager, self.log_descriptor = manager or Manager(), log
        self.kept = None

    # Its life

    def start(self):
        self.spawn()
        assert self.is_ready(), f"the gateway ended with {self.process.returncode}:\n{self.log}"
        return self

    def is_ready(self) -> bool:
        """Whether it serves, once it says so (`sd_notify`), or ended before."""
        wait_for(
            lambda: any("READY" in message for message in self.manager.told) or self.process.poll() is not None,
            "the gateway serves, or ends", self.manager, self.process)
        if self.process.poll() is not None:
            return False
        self.addresses = [line.rsplit(":", 1) for line in (self.state / "listening").read_text().splitlines()]
        self.host, port = self.addresses[0]
        self.port = int(port)
        self._release_port()
        return True

    @property
    def patience(self) -> list[str]:
        """Time for the streams of a test, which answers no PING while it does something else, however busy the machine is."""
        return [] if "--ping-interval" in self.options else ["--ping-interval", "600"]

    def spawn(self):
        """Starts the process, and waits for nothing."""
        (self.state / "listening").unlink(missing_ok=True)
        self.state.parent.mkdir(parents=True, exist_ok=True)
        self.manager.forget()
        self.log_path = self.state.parent / f"{self.state.name}.log"
        with open(self.log_path, "ab") as log:
            # SIGXFSZ stays ignored, as Python has it: a test makes files hit a limit.
            self.process = subprocess.Popen(
                [*self.wrapper, self.program, "serve", "--state", str(self.state),
                 *(["--listen", self.listen] if self.listen else []), *self.patience, *map(str, self.options)],
                stdout=log, stderr=log if self.log_descriptor is None else self.log_descriptor, stdin=subprocess.DEVNULL,
                restore_signals=False,
                env=os.environ | {"NOTIFY_SOCKET": self.manager.address})

    @property
    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    def wait_for_log(self, words, count=1):
        """Returns when the log holds these words so many times; a gateway that ended without them is a failure."""
        def is_said():
            has_ended = self.process is not None and self.process.poll() is not None
            is_said = self.log.count(words) >= count
            assert is_said or not has_ended, f"the gateway ended without {words!r} in its log:\n{self.log}"
            return is_said

        wait_for(is_said, f"{words!r} in the log", self.log_path, *[self.process] if self.process else [])

    def until_logged(self, condition, what):
        """Waits for a condition on the log."""
        return wait_for(condition, what, self.log_path)

    def wait_for_drain(self):
        """Returns when its TLS listeners are closed: it drains, or has ended."""
        listening = self.state / "listening"
        wait_for(lambda: not listening.exists(), "the gateway drains", self.state)

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def ended(self) -> int:
        return self.process.wait(HANG)

    def stop(self):
        """Ends it as an administrator would; it must go in good order."""
        if self.process is None:
            return
        if self.process.poll() is None:
            self.terminate()
        try:
            code = self.ended()
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the gateway did not end after SIGTERM:\n{self.log}") from None
        self.process = None
        self._keep_port()
        assert code == 0, f"the gateway ended with {code}:\n{self.log}"
        assert not CRASH.search(self.log), self.log

    #: Ends all that was started for it.
    close = stop

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process = None
        self._keep_port()

    def restart(self):
        """Starts it again on the same state and port, after it ended or was killed."""
        self.listen = f"{self.host}:{self.port}"
        return self.start()

    def _keep_port(self):
        """Keeps its port until it is started again: the system could give it to a listener that takes any.

        The port is bound and not listened on, which lets a listener that allows its reuse have it.
        """
        self._release_port()
        self.kept = socket.socket()
        self.kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # One that never served has none, and another process may listen there on purpose.
        with contextlib.suppress(OSError, AttributeError):
            self.kept.bind((self.host, self.port))

    def _release_port(self):
        if self.kept:
            self.kept.close()
            self.kept = None

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

    # Administering it, by its socket: what a test needs before it begins. The commands have tests of their own.

    def ask(self, method, path, body=None, *, status=(200, 201, 204), secret=None, **query):
        """The JSON of an answer of the administration socket, or of /v1/… there with the secret of a device."""
        query = {name: value for name, value in query.items() if value is not None}
        target = path + ("?" + urlencode(query) if query else "")
        fields = [("authorization", f"bearer {secret}")] if secret else []
        with self.connect(admin=True) as connection:
            response = connection.request(method, target, fields, b"" if body is None else json.dumps(body).encode())
        statuses = status if isinstance(status, tuple) else (status,)
        assert response.status in statuses, (method, target, response.status, response.body)
        return response.json if response.body else None

    def admin(self, method, *parts, body=None, **options):
        """The same of a path under /admin/v1, whose parts are escaped."""
        return self.ask(method, "/admin/v1/" + "/".join(quote(str(part), safe="") for part in parts), body, **options)

    def app(self, topic=None, name="Trains", team=None, policy=None, **properties) -> str:
        """A new app, or another one with the same topic; `ads`, `icon` and `strict` are as in the API."""
        topic = topic or f"com.example.app{uuid.uuid4().hex[:8]}"
        self.admin("POST", "apps", body={
            "topic": topic, "name": name, "team_id": team or self.key.team_id, "policy_mode": policy, **properties})
        return topic

    def enroll(self, name, person=None) -> str:
        """A device whose secret, which is returned, is in the state folder, as `devices enroll` does it."""
        enrolled = self.ask("POST", "/v1/devices", {"name": name, "person": person})
        folder = self.state / "devices"
        folder.mkdir(mode=0o700, exist_ok=True)
        path = folder / f"{enrolled['name']}.json"
        path.touch(mode=0o600)
        path.write_text(json.dumps(enrolled))
        return enrolled["secret"]

    def device(self, topic=TOPIC, name=None, person=None) -> Device:
        """A new device that is registered for an app."""
        name = name or f"device-{uuid.uuid4().hex[:12]}"
        secret = self.enroll(name, person)
        return Device(name, secret, self.register(name, topic))

    def devices(self, *devices, **options) -> list[dict]:
        """Records of the list of devices."""
        return self.admin("GET", "devices", **options)

    def waiting(self, device) -> int:
        """The number of pushes in a device's mailbox."""
        return self.admin("GET", "devices", device.name)["waiting"]

    def register(self, name, topic, environment=None, valid_seconds=None) -> str:
        return self.admin("POST", "devices", name, "registrations", body={
            "topic": topic, "environment": environment, "valid_seconds": valid_seconds})["token"]

    def unregister(self, name, topic):
        self.admin("DELETE", "devices", name, "registrations", topic)

    def prefer(self, device, *settings, app=None, category=None):
        """Sets preferences of the person of a device, and returns all of them."""
        name = device if isinstance(device, str) else device.name
        return self.admin("POST", "devices", name, "preferences", body={
            "settings": settings, "app": app, "category": category})

    def certificate(self, *, topic=TOPIC, also=(), kinds=(), environment=None, days=365) -> tuple[str, str]:
        """A provider's certificate of the gateway's own authority, and its key: two files."""
        made = self.admin("POST", "certificates", body={
            "topic": topic, "topics": also, "kinds": kinds, "environment": environment, "days": days})
        out = self.state.parent / f"certs-{uuid.uuid4().hex[:8]}"
        out.mkdir()
        files = out / f"{topic}.pem", out / f"{topic}.key"
        files[0].write_text(made["certificate"])
        files[1].write_text(made["key"])
        return str(files[0]), str(files[1])

    def channel(self, topic=TOPIC, *, stores=True, devices=()) -> str:
        """A new broadcast channel of an app, to which devices subscribe."""
        made = self.admin("POST", "channels", body={
            "topic": topic, "message_storage_policy": int(stores), "count": 1})[0]["id"]
        if devices:
            self.subscribe(made, *devices)
        return made

    def subscribe(self, channel, *devices):
        self.admin("POST", "channels", channel, "subscriptions", body={"devices": [device.name for device in devices]})

    def add_team(self, team) -> str:
        self.admin("POST", "teams", body={"team_id": team})
        return team

    def new_key(self, *, team=None, environment=None, topics=(), related=None) -> Key:
        """A key of the development team, or of another team, which need not exist."""
        made = self.admin("POST", "keys", body={
            "team": team or self.key.team_id, "environment": environment, "topics": topics, "related": related})
        out = self.state.parent / f"keys-{uuid.uuid4().hex[:8]}"
        out.mkdir()
        path = out / f"AuthKey_{made['key_id']}.p8"
        path.write_text(made["private_key"])
        return Key(path, made["key_id"], made["team_id"])

    def are_numbered(self, pushes, *numbers) -> bool:
        """Whether pushes have these numbers of their device."""
        return [push["seq"] for push in pushes] == list(numbers)

    def rows(self, apns_id=None, **query) -> list[dict]:
        """Rows of the delivery log."""
        found = self.admin("GET", "log", id=apns_id, **query)
        return found if isinstance(found, list) else found["rows"]

    def events(self, apns_id, until=None) -> list[dict]:
        """The delivery log of a push, once it holds the event `until` (the log is written behind)."""

        def found():
            rows = self.rows(apns_id)
            return rows if until is None or until in [row["event"] for row in rows] else None

        return self.when(found, f"{until} in the log of {apns_id}")

    def when(self, condition, what, *sources):
        """Waits for a condition that the delivery log announces: it is checked after new rows."""
        return wait_for(condition, what, LogRows(self), *sources)

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


class LogRows:
    """New rows of a gateway's delivery log, as events: requests that wait for them, one after the other.

    One wait takes at most a second, so that a change that becomes visible after its row is found, too.
    """

    def __init__(self, gateway):
        self.gateway = gateway

    @contextlib.contextmanager
    def events(self):
        with self.gateway.connect(admin=True) as self.connection:
            start = self.connection.request("GET", "/admin/v1/log/start?limit=1").json
            self.wait(start.get("position") or start["after"])
            yield self.connection.socket.fileno(), self.take

    def wait(self, after):
        path = "/admin/v1/log/next?" + urlencode({"after": after, "seconds": 1})
        self.response = self.connection.responses[self.connection.send("GET", path)]

    def take(self):
        self.connection.pump()
        if self.response.is_ended:
            assert self.response.status == 200, self.response
            page = self.response.json
            self.wait(page.get("position") or page["next"])


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

    def until(self, condition, what):
        """Waits for a condition on what it has printed; its end does not end the wait."""
        return wait_for(condition, lambda: f"{what}; it printed {self.lines[-3:]}\n{self.words}", self.path, self.process)

    def connected(self, count=1):
        """Returns when it has connected so many times."""
        self.until(lambda: self.words.count("connected to") >= count, "the subscriber is connected")
        return self

    def has(self, count) -> list[dict]:
        """The lines, once there are so many."""
        self.until(lambda: len(self.lines) >= count, f"{count} lines")
        return self.lines

    def wait(self) -> int:
        code = self.process.wait(HANG)
        assert not CRASH.search(self.words), self.words
        return code

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._out.close()
        self._err.close()
