"""Drains a gateway under client libraries, again and again, and counts what became of every request.

    Tests/Interop/run PUSHCLI --program drains.py --drains 100        (make drains DRAINS=100 SEED=7)

aioapns, httpx, h2 and `pushcli send` push, each to a device of its own, and write down what they were told. The gateway gets
SIGTERM at random moments among them, ends, and is started again on its port. In the end each device's mailbox is compared
with its sender's account: what was answered 200 is there, once; what was refused, or never answered, is not. No sender
sends anything again: each request has an `apns-id` of its own, and one answer or none.
"""

import argparse
import asyncio
import collections
import itertools
import json
import logging
import random
import shutil
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

import aioapns
import h2.exceptions
import httpx2
from aioapns.connection import APNsTLSClientProtocol

from gateway import ALERT, CRASH, TOPIC, Gateway, run
from waiting import HANG, Bell, wait_for
from wire import Closed, Connection, tls_context

ACCEPTED, UNANSWERED = "200", "unanswered"


class Sender(threading.Thread):
    """Sends until it is told to finish, and keeps account of what it heard of each request."""

    def __init__(self, gateway, seed):
        super().__init__(daemon=True)
        self.gateway, self.device, self.chance = gateway, gateway.device(), random.Random(seed)
        self.is_finishing = threading.Event()
        self.outcomes: dict[str, str] = {}
        self.accepted, self.changed = 0, Bell()
        self.failure = None

    def offer(self):
        """The id of a new request, of which nothing is known yet."""
        apns_id = str(uuid.UUID(int=self.chance.getrandbits(128)))
        self.outcomes[apns_id] = UNANSWERED
        return apns_id

    def note(self, apns_id, outcome):
        self.outcomes[apns_id] = outcome
        self.accepted += outcome == ACCEPTED
        self.changed.ring()

    def counts(self):
        return collections.Counter(self.outcomes.values())

    @property
    def path(self):
        return f"/3/device/{self.device.token}"

    def run(self):
        try:
            self.send()
        except Exception as failure:
            self.failure = failure
            self.changed.ring()


class H2Sender(Sender):
    """Many streams on one connection, which writes on until it is closed."""

    in_flight = 100

    def send(self):
        while not self.is_finishing.is_set():
            try:
                with Connection(self.gateway) as connection:
                    self.talk(connection)
            except (Closed, OSError):
                self.is_finishing.wait(0.01)

    def talk(self, connection):
        flying = {}
        try:
            while connection.goaway is None and not (self.is_finishing.is_set() and not flying):
                while len(flying) < self.in_flight and not self.is_finishing.is_set():
                    apns_id = self.offer()
                    flying[connection._next] = apns_id
                    fields = self.gateway.fields(apns_id=apns_id)
                    connection.send("POST", self.path, fields, ALERT, flush=self.chance.random() < 0.1)
                connection.pump()
                self.settle(connection, flying)
            # A gateway that drains closes the connection; one that runs on keeps it for hours.
            if connection.goaway is not None:
                connection.drain()
        except Closed:
            # The gateway hangs up while this writes: what it said before can still be read.
            connection.drain()
            raise
        finally:
            self.settle(connection, flying)

    def settle(self, connection, flying):
        for stream in [stream for stream in flying if connection.responses[stream].is_ended]:
            response = connection.responses.pop(stream)
            self.note(flying.pop(stream), str(response.status))
        connection.frames.clear()


class AsyncSender(Sender):
    """A library that is used as asyncio has it: so many requests at a time."""

    in_flight = 50
    #: What it says of a request that had no answer. (aioapns also sends on connections that it has seen GOAWAY on.)
    failures = (
        httpx2.HTTPError, aioapns.exceptions.MaxAttemptsExceeded, h2.exceptions.ProtocolError, ConnectionError)

    def send(self):
        asyncio.run(self.serve())

    async def serve(self):
        while not self.is_finishing.is_set():
            client = self.client()
            await asyncio.gather(*(self.lane(client) for _ in range(self.in_flight)))
            await self.close(client)

    async def lane(self, client):
        while not self.is_finishing.is_set():
            apns_id = self.offer()
            try:
                self.note(apns_id, await asyncio.wait_for(self.one(client, apns_id), HANG))
            except self.failures:
                await asyncio.sleep(0.01)


class HTTPXSender(AsyncSender):
    def client(self):
        return httpx2.AsyncClient(verify=tls_context(self.gateway.trust), http2=True, timeout=HANG)

    async def one(self, client, apns_id):
        fields = dict(self.gateway.fields(apns_id=apns_id))
        response = await client.post(f"https://{self.gateway.address}{self.path}", headers=fields, content=ALERT)
        return str(response.status_code)

    async def close(self, client):
        await client.aclose()


class AioapnsSender(AsyncSender):
    def client(self):
        key = self.gateway.key
        client = aioapns.APNs(
            key=Path(key.path).read_text(), key_id=key.key_id, team_id=key.team_id, topic=TOPIC, max_connections=2,
            # What it would send again is to be seen.
            max_connection_attempts=1, ssl_context=tls_context(self.gateway.trust, alpn=None))
        client.pool.protocol_class = type(
            "Protocol", (APNsTLSClientProtocol,), {"APNS_SERVER": self.gateway.host, "APNS_PORT": self.gateway.port})
        return client

    async def one(self, client, apns_id):
        request = aioapns.NotificationRequest(self.device.token, json.loads(ALERT), notification_id=apns_id)
        return (await client.send_notification(request)).status

    async def close(self, client):
        client.pool.close()


class CommandSender(Sender):
    """`pushcli send`, one after another; it sends again by itself, under the same id, when it was not answered."""

    def send(self):
        while not self.is_finishing.is_set():
            apns_id = self.offer()
            done = run(
                "send", "--token", self.device.token, "--topic", TOPIC, "--title", "Hello", "--id", apns_id, "--gateway",
                self.gateway.address, state=self.gateway.state)
            assert done.code in (0, 6), done.err
            self.note(apns_id, ACCEPTED if done.code == 0 else UNANSWERED)


SENDERS = {"h2": H2Sender, "httpx": HTTPXSender, "aioapns": AioapnsSender, "pushcli": CommandSender}


def compare(sender):
    """What the device's mailbox says beside its sender's account."""
    stream = sender.gateway.stream(sender.device)
    stored = collections.Counter(line["id"] for line in stream.caught_up())
    stream.connection.close()
    outcome = lambda apns_id: sender.outcomes.get(apns_id, "unknown")
    return {
        "offered": len(sender.outcomes), **{name: count for name, count in sorted(sender.counts().items())},
        "lost": [apns_id for apns_id, told in sender.outcomes.items() if told == ACCEPTED and not stored[apns_id]],
        "doubled": [apns_id for apns_id, count in stored.items() if count > 1],
        "stored_unanswered": [apns_id for apns_id in stored if outcome(apns_id) == UNANSWERED],
        "stored_refused": [apns_id for apns_id in stored if outcome(apns_id) not in (ACCEPTED, UNANSWERED)],
    }


FAULTS = ("lost", "doubled", "stored_unanswered", "stored_refused")

#: The seconds of a drain after which a gateway closes connections with unread responses (`DrainTimes.stop`): a machine
#: that is too slow for them reaches this limit, and then the sender has to repeat these requests.
LIMIT = 7


def drain(folder, *, drains, seed, between=300, progress=None):
    """Runs it all; returns the figures, with what went wrong by `apns-id`."""
    # httpcore says of each connection that ends what it thinks of it.
    logging.disable(logging.ERROR)
    chance = random.Random(seed)
    gateway = Gateway(Path(folder) / "state", "--mailbox-cap", 1_000_000).start()
    crew = {name: kind(gateway, chance.getrandbits(64)) for name, kind in SENDERS.items()}
    for sender in crew.values():
        sender.start()

    def accepted():
        for name, sender in crew.items():
            if sender.failure:
                raise AssertionError(f"{name} failed") from sender.failure
        return {name: sender.accepted for name, sender in crew.items()}

    times = []
    try:
        for number in range(drains):
            # A moment among the pushes, after each of the senders has had an answer again.
            before = accepted()
            goal = sum(before.values()) + chance.randrange(2 * between)
            wait_for(
                lambda: sum((now := accepted()).values()) >= goal
                and all(now[name] > before[name] for name in crew),
                "all of them send", *[sender.changed for sender in crew.values()])
            began = time.monotonic()
            gateway.terminate()
            code = gateway.ended()
            times.append(time.monotonic() - began)
            assert code == 0 and not CRASH.search(gateway.log), gateway.log
            gateway.restart()
            if progress:
                progress(number + 1, sum(accepted().values()))
        for sender in crew.values():
            sender.is_finishing.set()
        for name, sender in crew.items():
            sender.join(HANG)
            assert not sender.is_alive(), f"{name} does not come to its end"
        accepted()
        found = {name: compare(sender) for name, sender in crew.items()}
        gateway.stop()
    finally:
        logging.disable(logging.NOTSET)
        for sender in crew.values():
            sender.is_finishing.set()
        if gateway.process:
            gateway.kill()
    times.sort()
    faults = [fault for fault in FAULTS if fault != "stored_unanswered" or times[-1] < LIMIT]
    return {
        "seed": seed, "drains": drains, "senders": found,
        "drain_seconds": {"median": round(times[len(times) // 2], 3), "longest": round(times[-1], 3)},
        "is_good": not any(one[fault] for one, fault in itertools.product(found.values(), faults)),
    }


def summary(figures) -> str:
    lines = [
        f"{figures['drains']} drains of {figures['drain_seconds']['median']} s, the longest of"
        f" {figures['drain_seconds']['longest']} s (seed {figures['seed']})"]
    for name, one in figures["senders"].items():
        told = ", ".join(f"{count} {what}" for what, count in one.items() if what not in FAULTS and what != "offered")
        wrong = ", ".join(f"{len(one[fault])} {fault.replace('_', ' ')}" for fault in FAULTS)
        lines.append(f"  {name}: {one['offered']} requests: {told}; {wrong}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="Drains a gateway under client libraries, and counts every request.")
    parser.add_argument("--drains", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()

    def progress(done, accepted):
        if done % 10 == 0:
            print(f"{done} of {options.drains} drains, {accepted} pushes accepted", file=sys.stderr, flush=True)

    folder = tempfile.mkdtemp(prefix="pushgateway-drains-")
    try:
        figures = drain(folder, drains=options.drains, seed=options.seed, progress=progress)
    except BaseException:
        print(f"seed {options.seed}; everything is kept in {folder}", file=sys.stderr)
        raise
    print(summary(figures))
    if not figures["is_good"]:
        sys.exit(f"everything is kept in {folder}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
