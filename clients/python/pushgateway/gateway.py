"""A running test gateway, and the devices of its tests."""

from __future__ import annotations

import base64
import os
import secrets
import subprocess
import tempfile
from typing import Any
from urllib.parse import urlsplit

from . import conditions, failure
from .api import GatewayAPI, GatewayError
from .conditions import duration
from .program import find_program
from .records import Push, ReportLine

#: PKCS #8 of a P-256 key, up to its 32 bytes (RFC 5915, without the public key).
_PKCS8_P256 = bytes.fromhex("3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420")


def _write_key(folder: str, key_id: str) -> str:
    """Writes a new key, and returns the path of its file."""
    path = os.path.join(folder, f"AuthKey_{key_id}.p8")
    # 31 random bytes are below the order of the curve.
    data = base64.encodebytes(_PKCS8_P256 + b"\x01" + secrets.token_bytes(31)).decode()
    with open(path, "x") as file:
        # The label is in parts, so that no search for secrets finds a key here.
        file.write("-----BEGIN " + f"PRIVATE KEY-----\n{data}-----END " + "PRIVATE KEY-----\n")
    return path


class Gateway(GatewayAPI):
    """A running test gateway: the address for senders, its certificate, and a key for provider tokens.

    As a context manager it removes the key file at its end.
    """

    #: The identifiers of the key in `key_file`. The gateway accepts any others as well.
    key_id, team_id = "ABC1234567", "TEAM123456"
    #: The path of pushcli; None for the result of `find_program`.
    program: str | None = None

    def __init__(self, url: str, ca: str, http_url: str, key_folder: str | None = None):
        super().__init__(http_url)
        #: The provider API, as `https://127.0.0.1:40001`.
        self.url = url.rstrip("/")
        #: The file with the certificate that senders have to trust.
        self.ca = ca
        #: The state folder of the gateway.
        self.state_folder = os.path.dirname(ca)
        parts = urlsplit(self.url)
        self.host, self.port = parts.hostname or "", parts.port or 443
        self._key_folder = None if key_folder else tempfile.TemporaryDirectory(prefix="pushgateway-key-")
        #: A key file (.p8) for senders that sign provider tokens. It is valid for test gateways only.
        self.key_file = _write_key(key_folder or self._key_folder.name, self.key_id)
        self._is_clock_changed = self._is_certificate_changed = False

    @classmethod
    def from_environment(cls) -> Gateway | None:
        """The gateway of `pushcli test-run`; None if the environment has none."""
        names = ("APNS_URL", "APNS_CA", "PUSHGATEWAY_TEST_URL")
        values = [os.environ.get(name, "") for name in names]
        if not values[2]:
            return None
        missing = [name for name, value in zip(names, values) if not value]
        if missing:
            without = " and ".join(missing)
            raise GatewayError(f"PUSHGATEWAY_TEST_URL is set without {without}: set all three, as `pushcli test-run` does")
        return cls(*values)

    def __enter__(self) -> Gateway:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Removes the key file."""
        if self._key_folder:
            self._key_folder.cleanup()

    def command(self, *words: str) -> str:
        """Runs another command of pushcli for this gateway, as `apps category …`, and returns its output."""
        command = [self.program or find_program(), *words, "--state", self.state_folder]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            raise GatewayError(f"pushcli {' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def device(
        self, topic: str | None = None, *, token: str | None = None, preferences: dict[str, Any] | None = None,
        channels: list[str] | None = None, within: str | float = "2s",
    ) -> Device:
        """Adds a device for a test, which subscribes to `channels`. `within` is the time limit of its expectations."""
        return Device(self, self.add_device(topic, token=token, preferences=preferences, channels=channels), within)

    def advance(self, time: str | float) -> None:
        """Advances the clock, by a duration such as "61m" or by seconds: provider tokens expire, quiet hours begin."""
        self._is_clock_changed = True
        self.set_clock(advance=time)

    def certificate(self, certificate: str) -> None:
        """Sets the certificate of the next connections: `valid`, `unknown-ca`, `expired` or `wrong-name`."""
        self._is_certificate_changed = True
        self.set_certificate(certificate)

    def restore(self) -> None:
        """Undoes the changes of `advance` and `certificate`."""
        if self._is_clock_changed:
            self.set_clock(reset=True)
        if self._is_certificate_changed:
            self.set_certificate("valid")
        self._is_clock_changed = self._is_certificate_changed = False


class Device:
    """A device with one token, which is the namespace of a test: all methods are about the pushes to this token."""

    def __init__(self, gateway: Gateway, added: dict[str, Any], within: str | float):
        self.gateway = gateway
        self.token: str = added["token"]
        self.topic: str = added["topic"]
        self.name: str = added["device"]
        self._within = within
        self._start: int = gateway.list_pushes(token=self.token, limit=1)["last"]

    # Settings for the sender, which are the gateway's.
    url = property(lambda self: self.gateway.url, doc="The provider API, as `https://127.0.0.1:40001`.")
    host = property(lambda self: self.gateway.host, doc="The host of `url`.")
    port = property(lambda self: self.gateway.port, doc="The port of `url`.")
    ca = property(lambda self: self.gateway.ca, doc="The file with the certificate that senders have to trust.")
    key_file = property(lambda self: self.gateway.key_file, doc="A key file (.p8) for senders.")
    key_id = property(lambda self: self.gateway.key_id, doc="The identifier of the key.")
    team_id = property(lambda self: self.gateway.team_id, doc="The identifier of the team.")

    def __repr__(self) -> str:
        return f"<Device {self.token[:8]}… of {self.topic}>"

    # Assertions

    def expect(
        self, *, presented: bool = False, suppressed: bool = False, refused: bool = False, state: str | None = None,
        payload: dict[str, Any] | None = None, within: str | float | None = None, exactly: bool = False,
        since: Push | int = 0, **fields: Any,
    ) -> Push:
        """Asserts that a push has come or comes within the time limit, and returns it.

        Without one of `presented`, `suppressed`, `refused` and `state`, the sender has to get 200. With `exactly`, a second
        push that matches is a failure. `fields` are conditions, as `title="…"`, `title_re="^Train"`, `body_contains="4"` and
        `badge=None`. With `since`, only later pushes are considered.
        """
        __tracebackhide__ = True
        return self.expect_many(
            1, presented=presented, suppressed=suppressed, refused=refused, state=state, payload=payload, within=within,
            exactly=exactly, since=since, **fields)[0]

    def expect_many(
        self, count: int, *, presented: bool = False, suppressed: bool = False, refused: bool = False,
        state: str | None = None, payload: dict[str, Any] | None = None, within: str | float | None = None,
        exactly: bool = False, since: Push | int = 0, **fields: Any,
    ) -> list[Push]:
        """Asserts that several pushes come, as `expect` does, and returns all that match."""
        __tracebackhide__ = True
        chosen = conditions.state(state, "accepted", presented=presented, suppressed=suppressed, refused=refused)
        return self._expect(count, chosen, payload, self._within if within is None else within, exactly, since, fields)

    def expect_none(
        self, *, within: str | float = "500ms", presented: bool = False, suppressed: bool = False, refused: bool = False,
        state: str | None = None, payload: dict[str, Any] | None = None, since: Push | int = 0, **fields: Any,
    ) -> None:
        """Asserts that no push has come, and that none comes until the sender has been silent for the time `within`.

        Without a state, a refused push is a failure as well.
        """
        __tracebackhide__ = True
        chosen = conditions.state(state, "any", presented=presented, suppressed=suppressed, refused=refused)
        self._expect(0, chosen, payload, within, False, since, fields)

    def _expect(
        self, count: int, state: str, payload: dict[str, Any] | None, within: str | float, exactly: bool,
        since: Push | int, fields: dict[str, Any],
    ) -> list[Push]:
        __tracebackhide__ = True
        expectation = {
            "token": self.token, "match": conditions.match(fields, payload), "count": count, "state": state,
            "within": duration(within), "exactly": exactly, "since": since.number if isinstance(since, Push) else since,
        }
        try:
            return [Push(json) for json in self.gateway.expect(expectation)["pushes"]]
        except failure.ExpectationFailed as failed:
            # A function raises it again: the traceback begins with the test, and has no HTTP.
            hints = [] if failed.failure["recorded"] else self._hints()
            found = failed.with_hints(*hints)
        raise found from None

    def _hints(self) -> list[str]:
        """The requests since the beginning of the test, for a test without any push to its token."""
        others = self.gateway.pushes(since=self._start)
        if not others:
            words = f"does the sender use {self.url}, and trust {self.ca}?"
            return ["", f"No request has reached the gateway since this test began: {words}"]
        last = others[-3:]
        shown = [f"  push {push.number}: {failure.printable(f'{push.method} {push.path}')[:110]}: {push.answer}" for push in last]
        words = f"Does the sender use {self.token[:8]}…? Requests since this test began: {len(others)}"
        return ["", words + (f", the last {len(last)}:" if len(others) > len(last) else ":"), *shown]

    # Other requests

    def pushes(
        self, *, state: str = "any", payload: dict[str, Any] | None = None, since: Push | int = 0, **fields: Any,
    ) -> list[Push]:
        """The pushes until now, the oldest first, also refused ones. The conditions are those of `expect`."""
        number = since.number if isinstance(since, Push) else since
        return self.gateway.pushes(self.token, conditions.match(fields, payload), state=state, since=number)

    def answer(self, action: str, push: Push | None = None) -> str:
        """Answers a push as the user, by default the newest, and returns the action that counts."""
        return self.gateway.answer(self.token, action, push.id if push else None)

    def state(
        self, state: str, *, count: int | None = None, lasts: str | float | None = None, retry_after: int | None = None,
    ) -> None:
        """Sets the answers to the next pushes: for `count` of them, for a time, or for all.

        States: `unregistered` (410), `other-environment` (400), `throttled` (429), `unavailable` (503),
        `accepted-and-dropped` (200), and `registered`, which ends the others. `retry_after` is the number of seconds in the field
        `retry-after`; `throttled` has 1 by default.
        """
        self.gateway.set_token(self.token, state, count=count, lasts=lasts, retry_after=retry_after)

    def faults(self, *faults: dict[str, Any]) -> None:
        """Sets the faults of the requests to this token, in place of its earlier faults and its state; without arguments they end.

        A fault has the keys of a scenario file, as `{"reason": "ServiceUnavailable", "count": 2}` or `{"goaway": "Shutdown"}`.
        """
        self.gateway.set_faults(self.token, list(faults))

    def report(self) -> list[ReportLine]:
        """The refusals, each with the reaction of the sender until now, and the mistakes in accepted pushes."""
        lines = map(ReportLine, self.gateway.report()["lines"])
        return [line for line in lines if line.token == self.token]

    def advance(self, time: str | float) -> None:
        """Advances the clock of the gateway, by a duration such as "61m" or by seconds."""
        self.gateway.advance(time)

    def clear(self) -> int:
        """Removes the pushes to this token from the record, and returns their number."""
        return self.gateway.remove_pushes(self.token)

    def remove(self) -> None:
        """Removes the device, as by a user who deletes the app: the token answers 410 Unregistered."""
        self.gateway.remove_device(self.token)
