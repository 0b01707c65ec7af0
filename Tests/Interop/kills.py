"""Kills gateways and clients under load, hundreds of times, and counts what became of every 200.

    Tests/Interop/run PUSHCLI --program kills.py --kills 500        (make kills KILLS=500 SEED=7)

Senders write down which of their own pushes were answered 200, and between which other events. Each device is a
`pushcli subscribe --json` that appends to a file. The gateway gets SIGKILL at random moments, also while it starts, and
so do the clients. In the end the two counts are compared by `apns-id`; nothing of the gateway's own is asked.
"""

import argparse
import itertools
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from gateway import CRASH, PUSHCLI, Gateway
from waiting import HANG, Bell, Flag, wait_for
from wire import Closed, Connection

IN_FLIGHT = 64
#: Shares of: kills of the gateway while it starts; pushes without an answer that are given up instead of sent again.
DURING_START, GIVEN_UP = 0.15, 0.1


@dataclass
class Push:
    """What its sender knows of a push; times are places in the order of all events."""

    device: int
    offered: int
    accepted: int | None = None
    tries: int = 0


class Book:
    """The senders' account."""

    def __init__(self):
        self.time = itertools.count()
        self.pushes: dict[str, Push] = {}
        self.accepted, self.changed = 0, Bell()

    def accept(self, apns_id):
        push = self.pushes[apns_id]
        if push.accepted is None:
            push.accepted = next(self.time)
            self.accepted += 1
            self.changed.ring()


class Sender(threading.Thread):
    """Sends to all devices over one connection at a time, with many streams, until it is told to finish. When a
    connection ends, the next gateway has its turn."""

    def __init__(self, gateways, devices, book, seed, pace):
        super().__init__(daemon=True)
        self.gateways, self.devices, self.book, self.pace = deque(gateways), devices, book, pace
        self.chance = random.Random(seed)
        self.fields = gateways[0].fields()
        self.again: deque[str] = deque()
        self.is_finishing = threading.Event()
        self.offered, self.retried, self.failure = 0, 0, None
        self.begun = time.monotonic()

    def connect(self):
        self.gateways.rotate(-1)
        return Connection(self.gateways[0])

    def run(self):
        try:
            while not self.is_finishing.is_set() or self.again:
                try:
                    connection = self.connect()
                except (Closed, OSError):
                    self.is_finishing.wait(0.01)  # Nobody there: the gateway is being started.
                    continue
                self.talk(connection)
        except Exception as failure:
            self.failure = failure
            self.book.changed.ring()

    def take(self):
        """The id of the push that goes out next; None while there is none."""
        if self.again:
            return self.again.popleft()
        if self.is_finishing.is_set() or self.offered > self.pace * (time.monotonic() - self.begun):
            return None
        self.offered += 1
        apns_id = str(uuid.UUID(int=self.chance.getrandbits(128)))
        self.book.pushes[apns_id] = Push(self.chance.randrange(len(self.devices)), next(self.book.time))
        return apns_id

    def talk(self, connection):
        fields, flying = self.fields, {}
        try:
            while True:
                while len(flying) < IN_FLIGHT and (apns_id := self.take()):
                    push = self.book.pushes[apns_id]
                    push.tries += 1
                    # Noted before it is sent: wherever the connection ends, nothing is forgotten.
                    flying[connection._next] = apns_id
                    connection.send(
                        "POST", f"/3/device/{self.devices[push.device].token}", fields + [("apns-id", apns_id)],
                        b'{"aps":{"alert":"%s"}}' % apns_id.encode(), flush=False)
                if not flying and self.is_finishing.is_set():
                    return
                try:
                    connection.pump(0.01 if len(flying) < IN_FLIGHT else HANG)
                except TimeoutError:
                    continue
                self.settle(connection, flying)
        except (Closed, OSError):
            self.settle(connection, flying)
            for apns_id in flying.values():
                if self.chance.random() >= GIVEN_UP:
                    self.again.append(apns_id)
                    self.retried += 1
        finally:
            connection.close()

    def settle(self, connection, flying):
        for stream in [stream for stream in flying if connection.responses[stream].is_ended]:
            response, apns_id = connection.responses.pop(stream), flying.pop(stream)
            assert response["apns-id"] == apns_id
            if response.status == 200:
                self.book.accept(apns_id)
            else:
                assert response.status == 503, response.body
                self.again.append(apns_id)
        connection.frames.clear()


class Recorder(threading.Thread):
    """A device: `pushcli subscribe --json` into a file, killed when the file has grown by so and so much, and started
    again."""

    def __init__(self, gateway, device, path, seed, interval, options=()):
        super().__init__(daemon=True)
        self.gateway, self.device, self.path, self.interval = gateway, device, Path(path), interval
        self.options = options
        self.chance = random.Random(seed)
        self.is_spared, self.is_finishing = Flag(), Flag()
        self.kills, self.failure = 0, None
        self.path.touch()

    def run(self):
        try:
            while not self.is_finishing.is_set():
                process = self.spawn()
                wanted = self.path.stat().st_size + self.chance.randrange(2 * self.interval)
                is_grown = lambda: not self.is_spared.is_set() and self.path.stat().st_size >= wanted
                wait_for(
                    lambda: self.is_finishing.is_set() or is_grown() or process.poll() is not None, "a client's next end",
                    self.path, process, self.is_finishing, self.is_spared, limit=86_400)
                assert process.poll() is None, f"a client ended with {process.returncode}: {self.words}"
                if self.is_finishing.is_set():
                    process.terminate()
                    # Of the signal itself, when it came before the client could listen to it.
                    code = process.wait(HANG)
                    assert code in (130, -signal.SIGTERM), f"a client ended with {code}: {self.words}"
                else:
                    process.kill()
                    process.wait()
                    self.kills += 1
            assert not CRASH.search(self.words), self.words
        except Exception as failure:
            self.failure = failure

    def spawn(self):
        with open(self.path, "ab") as out, open(f"{self.path}.err", "ab") as err:
            return subprocess.Popen(
                [PUSHCLI, "subscribe", "--state", str(self.gateway.state), "--device", self.device.name, "--json",
                 *self.options],
                stdout=out, stderr=err, stdin=subprocess.DEVNULL)

    @property
    def words(self):
        return Path(f"{self.path}.err").read_text()

    @property
    def ids(self) -> list[str]:
        # Whole lines only: a line that is being written may be read in part.
        return [json.loads(line)["id"] for line in self.path.read_bytes().split(b"\n")[:-1]]


@dataclass
class Verdict:
    """What the two accounts say when they are laid side by side."""

    accepted: int = 0
    recorded: int = 0
    unanswered_recorded: int = 0
    lost: list = field(default_factory=list)
    doubled: list = field(default_factory=list)
    misdelivered: list = field(default_factory=list)
    out_of_order: list = field(default_factory=list)

    @property
    def is_good(self):
        return not (self.lost or self.doubled or self.misdelivered or self.out_of_order)


def compare(pushes: dict[str, Push], recorded: list[list[str]]) -> Verdict:
    """Compares what senders know with what each device has recorded, in its order.

    Two pushes are out of order when one was answered 200 before the other was first sent, and is recorded after it.
    """
    verdict = Verdict(accepted=sum(push.accepted is not None for push in pushes.values()))
    known = set()
    for device, ids in enumerate(recorded):
        verdict.recorded += len(ids)
        for apns_id in ids:
            push = pushes.get(apns_id)
            if push is None or push.device != device:
                verdict.misdelivered.append(apns_id)
            elif apns_id in known:
                verdict.doubled.append(apns_id)
            elif push.accepted is None:
                verdict.unanswered_recorded += 1
            known.add(apns_id)
        earliest = None  # Of all that come later here, the first to have been answered.
        for apns_id in reversed(ids):
            if not (push := pushes.get(apns_id)):
                continue
            if earliest is not None and earliest < push.offered:
                verdict.out_of_order.append(apns_id)
            if push.accepted is not None:
                earliest = push.accepted if earliest is None else min(earliest, push.accepted)
    verdict.lost = [apns_id for apns_id, push in pushes.items() if push.accepted is not None and apns_id not in known]
    return verdict


def storm(
    folder, *, kills, seed, devices=4, senders=2, pace=400, between=300, client_interval=40_000, least=0, progress=None
):
    """Runs it all; returns the figures, with what went wrong by `apns-id`.

    There is load until so many (`least`) pushes are accepted, and until a client was killed, however slow the clients are.
    """
    chance = random.Random(seed)
    begun = time.monotonic()
    gateway = Gateway(Path(folder) / "state", "--mailbox-cap", 1_000_000).start()
    phones = [gateway.device() for _ in range(devices)]
    book = Book()
    crew = [Sender([gateway], phones, book, chance.getrandbits(64), pace) for _ in range(senders)]
    clients = [
        Recorder(gateway, phone, Path(folder) / f"{phone.name}.ndjson", chance.getrandbits(64), client_interval)
        for phone in phones
    ]
    for thread in crew + clients:
        thread.start()

    def check():
        for thread in crew + clients:
            if thread.failure:
                raise thread.failure

    def grown(goal):
        check()
        return book.accepted >= goal

    during_start, starts = 0, []
    try:
        for number in range(kills):
            # A moment among the pushes, not among the milliseconds: there is always load.
            goal = book.accepted + chance.randrange(2 * between)
            wait_for(lambda: grown(goal), f"{goal} pushes are accepted", book.changed)
            gateway.kill()
            gateway.listen = gateway.address
            if chance.random() < DURING_START:
                gateway.spawn()
                crew[0].is_finishing.wait(chance.uniform(0, 0.2))
                gateway.kill()
                during_start += 1
            start = time.monotonic()
            gateway.restart()
            starts.append(time.monotonic() - start)
            if progress:
                progress(number + 1, book.accepted)
        wait_for(lambda: grown(least) and any(client.kills for client in clients),
                 f"{least} pushes are accepted, and a client was killed", book.changed)
        for sender in crew:
            sender.is_finishing.set()
        for sender in crew:
            sender.join(HANG)
            assert not sender.is_alive(), "a sender does not come to its end"
        check()

        def waiting():
            check()
            return {record["name"]: record["waiting"] for record in gateway.devices()}

        # A client that met no gateway many times in a row comes again after up to a minute.
        for client in clients:
            client.is_spared.set()
        gateway.when(lambda: not any(waiting().values()), lambda: f"everything is acknowledged: {waiting()}")
        for client in clients:
            client.is_finishing.set()
        for client in clients:
            client.join(HANG)
        check()
        # What a device has stored never comes back to it, also not after one more crash.
        gateway.kill()
        gateway.restart()
        returned = 0
        for phone in phones:
            cursor = int((gateway.state / "devices" / f"{phone.name}.cursor").read_text())
            stream = gateway.stream(phone, cursor=cursor)
            returned += len(stream.caught_up())
            stream.connection.close()
        log = gateway.log
        gateway.stop()
    finally:
        for thread in crew + clients:
            thread.is_finishing.set()
        for client in clients:
            client.join(HANG)
        if gateway.process:
            gateway.kill()

    verdict = compare(book.pushes, [client.ids for client in clients])
    starts.sort()
    return {
        "seed": seed, "kills": kills + during_start, "kills_during_start": during_start,
        "client_kills": sum(client.kills for client in clients), "devices": devices, "senders": senders,
        "offered": len(book.pushes), "accepted": verdict.accepted,
        "sent_again": sum(sender.retried for sender in crew), "recorded": verdict.recorded,
        "unanswered_recorded": verdict.unanswered_recorded, "lost": verdict.lost, "doubled": verdict.doubled,
        "misdelivered": verdict.misdelivered, "out_of_order": verdict.out_of_order, "returned": returned,
        "crash_reports": len(CRASH.findall(log)),
        "start_seconds": {"median": round(starts[len(starts) // 2], 3), "longest": round(starts[-1], 3)},
        "seconds": round(time.monotonic() - begun, 1),
        "is_good": verdict.is_good and returned == 0 and not CRASH.search(log),
    }


def summary(figures) -> str:
    count = lambda name: f"{len(figures[name])} {name.replace('_', ' ')}"
    return (
        f"{figures['kills']} kills of the gateway and {figures['client_kills']} of clients in {figures['seconds']} s: "
        f"{figures['accepted']} pushes answered 200, {figures['recorded']} recorded "
        f"({figures['unanswered_recorded']} without an answer), {count('lost')}, {count('doubled')}, "
        f"{count('misdelivered')}, {count('out_of_order')} (seed {figures['seed']})")


def main():
    parser = argparse.ArgumentParser(description="Kills gateways and clients under load, and counts every 200.")
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--devices", type=int, default=4)
    options = parser.parse_args()

    def progress(done, accepted):
        if done % 25 == 0:
            print(f"{done} of {options.kills} kills, {accepted} pushes accepted", file=sys.stderr, flush=True)

    folder = tempfile.mkdtemp(prefix="pushgateway-kills-")
    try:
        figures = storm(folder, kills=options.kills, seed=options.seed, devices=options.devices, progress=progress)
    except BaseException:
        print(f"seed {options.seed}; everything is kept in {folder}", file=sys.stderr)
        raise
    print(summary(figures))
    print(json.dumps(figures))
    if not figures["is_good"]:
        sys.exit(f"everything is kept in {folder}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
