"""A device of PushGateway: shows pushes, acknowledges them and sends answers. Needs Python 3.10 and httpx[http2].

    DEVICE_GATEWAY=https://gateway.example:2197 DEVICE_CA=ca.pem DEVICE_INVITATION=K3PM-… DEVICE_TOPIC=com.example.news \\
        python3 device.py

The invitation is needed at the first start only. Each event is one line of JSON on standard output, and each line
`ID ACTION` of standard input answers the push of this id. The exit status is 3 if the gateway refuses the device.
"""

import json
import os
import queue
import random
import signal
import ssl
import sys
import threading
import time
from pathlib import Path

import httpx

GATEWAY = os.environ["DEVICE_GATEWAY"]
TOPIC, CA = os.environ.get("DEVICE_TOPIC"), os.environ.get("DEVICE_CA")
#: The gateway sends a PING every 30 seconds: a minute without any data means that the connection is lost.
TIMES = httpx.Timeout(10, read=60)


class Refused(Exception):
    """The gateway does not accept the device or its invitation: another attempt can't succeed."""


def report(**event):
    print(json.dumps(event) + "\n", end="", flush=True)  # One write: two threads report.


def say(text):
    print(f"device: {text}", file=sys.stderr, flush=True)


def checked(answer):
    """The answer of a request that succeeded. A refusal with 429 or 5xx permits another attempt."""
    if answer.status_code == 429 or answer.status_code >= 500:
        raise httpx.HTTPError(f"the gateway answers {answer.status_code}")
    if answer.status_code >= 400:
        raise Refused(f"{answer.status_code}: {answer.json().get('detail')}")
    return answer


class Store:
    """The files of the device: its secret, and its cursor. After a crash a file has its old or its new content."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.cursor, self.epoch = self.read("cursor.json") or (0, None)

    def read(self, name):
        path = self.folder / name
        return json.loads(path.read_text()) if path.exists() else None

    def write(self, name, value):
        draft = self.folder / f"{name}.new"
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(json.dumps(value))
            file.flush()
            os.fsync(file.fileno())
        draft.rename(self.folder / name)
        folder = os.open(self.folder, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def put(self, cursor, epoch):
        """Records that everything up to `cursor` is shown."""
        self.cursor, self.epoch = cursor, epoch
        self.write("cursor.json", [cursor, epoch])


class Device:
    def __init__(self):
        self.store = Store(Path(os.environ.get("DEVICE_FOLDER", ".")))
        self.client, self.replies, self.secret, self.bound = None, None, None, 0.5
        self.answers = queue.Queue()

    def request(self, *call, client=None, **options):
        return checked((client or self.client).request(*call, headers={"authorization": f"bearer {self.secret}"}, **options))

    def join(self):
        """Enrolls with the invitation at the first start, and registers for the app."""
        if (known := self.store.read("device.json")) is None:
            enrollment = {"name": os.environ.get("DEVICE_NAME", "desk")}
            if code := os.environ.get("DEVICE_INVITATION"):
                enrollment["invitation"] = code
            known = checked(self.client.post("/v1/devices", json=enrollment)).json()
            self.store.write("device.json", known)
        self.secret = known["secret"]
        if TOPIC:
            self.request("PUT", f"/v1/device/apps/{TOPIC}")

    def receive(self, client):
        """Reads one stream of events to its end. It has a connection of its own, so that no request waits for its next line."""
        fields = {"authorization": f"bearer {self.secret}"}
        if self.store.cursor:
            fields["last-event-id"] = f"{self.store.epoch}:{self.store.cursor}" if self.store.epoch else str(self.store.cursor)
        with client.stream("GET", "/v1/device/stream", headers=fields) as stream:
            if stream.status_code != 200:
                stream.read()
                checked(stream)
            rest = b""
            for piece in stream.iter_bytes():
                # A piece ends anywhere, also within a character. Only \n ends a line: texts may contain U+2028.
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    if line.startswith(b"data:"):
                        self.handle(json.loads(line[5:]))

    def handle(self, line):
        # A line of an unknown type has no function and is ignored, as are unknown members of other lines.
        if function := getattr(self, f"on_{line.get('type')}", None):
            function(line)

    def on_welcome(self, line):
        self.bound = 0.5
        if line.get("epoch") != self.store.epoch:
            self.store.put(0, line.get("epoch"))  # In another numbering the cursor has no meaning.

    def on_push(self, push):
        seq, presentation = push["seq"], push["presentation"]
        if 0 < seq <= self.store.cursor:
            return  # It was shown before.
        report(shown=push["id"], topic=push["topic"], alert=presentation.get("alert") or presentation.get("centre"))
        if "badge" in presentation:
            report(badge=presentation["badge"], topic=push["topic"])
        if seq > 0:
            self.store.put(seq, self.store.epoch)
            # Only now: the gateway does not send an acknowledged push again.
            epoch = {"epoch": self.store.epoch} if self.store.epoch else {}
            self.request("POST", "/v1/device/acknowledgements", json={"seq": seq} | epoch)
        if parts := [part for part in ("badge", "sound", "alert") if part in presentation]:
            self.send(type="presented", id=push["id"], parts=parts)

    def on_retract(self, line):
        report(retracted=line["id"])

    def on_gap(self, line):
        say(f"{line['dropped']} pushes are lost: the mailbox of this device was full")

    def on_bye(self, line):
        if line["reason"] == "revoked":
            raise Refused("the device was removed, or has a new secret")

    def send(self, client=None, **line):
        """Sends a report. Returns the lines `answered` of the gateway."""
        answer = self.request("POST", "/v1/device/reports", client=client, content=json.dumps(line) + "\n")
        return [json.loads(line) for line in answer.content.split(b"\n") if line]

    def send_answers(self):
        """Sends the answers of the user, each until the gateway confirms the answer that counts."""
        while True:
            push, action = self.answers.get()
            try:
                [answered] = self.send(self.replies, type="answer", id=push, action=action)
                report(answered=push, action=answered.get("action"))
            except Refused as refusal:
                say(refusal)
            except (httpx.HTTPError, ValueError, AttributeError, RuntimeError):  # No connection, or no confirmation.
                time.sleep(15)
                self.answers.put((push, action))

    def read_answers(self):
        for text in sys.stdin:
            if len(words := text.split()) == 2:
                self.answers.put(words)

    def run(self):
        for work in (self.read_answers, self.send_answers):
            threading.Thread(target=work, daemon=True).start()
        options = dict(base_url=GATEWAY, http1=False, http2=True, timeout=TIMES, verify=ssl.create_default_context(cafile=CA))
        while True:
            try:
                with (httpx.Client(**options) as self.replies, httpx.Client(**options) as self.client,
                      httpx.Client(**options) as streams):  # Two threads can't share a client for HTTP/2.
                    self.join()
                    self.receive(streams)
            except (httpx.HTTPError, OSError) as error:
                say(error)
            # A random pause below a growing bound: the devices of a restarted gateway do not return all at once.
            time.sleep(random.uniform(0.1, self.bound))
            self.bound = min(2 * self.bound, 60)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        Device().run()
    except KeyboardInterrupt:
        sys.exit(130)
    except Refused as refusal:
        say(refusal)
        sys.exit(3)
