"""A long run of good and bad requests, while the gateway's memory is watched. Not part of the suite:

    SOAK_MINUTES=60 Tests/Interop/run .build/release/pushcli soak.py -s
"""

import json
import os
import random
import threading
import time
from pathlib import Path

from gateway import ALERT, TOPIC
from waiting import HANG
from wire import Closed

MINUTES = float(os.environ.get("SOAK_MINUTES", 5))
WORKERS = int(os.environ.get("SOAK_WORKERS", 2))
UNKNOWN = "0" * 64
#: What may come on top of a tenth, for the allocator's own moods.
SLACK = 4 << 20


def resident(pid) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


class Worker(threading.Thread):
    """Does one thing after another, until it is told to stop."""

    def __init__(self, gateway, devices, channel, number):
        super().__init__(daemon=True)
        self.gateway, self.devices, self.channel = gateway, devices, channel
        self.random = random.Random(number)
        self.stop, self.failure, self.counts = threading.Event(), None, {}

    def run(self):
        connection = self.gateway.connect()
        try:
            while not self.stop.is_set():
                deed = self.random.choices(*zip(*self.DEEDS))[0]
                if deed(self, connection):
                    connection.close()
                    connection = self.gateway.connect()
                self.counts[deed.__name__] = self.counts.get(deed.__name__, 0) + 1
                if connection._next > 4000:
                    # What the client remembers of its streams is not what is watched here.
                    connection.close()
                    connection = self.gateway.connect()
        except BaseException as failure:
            self.failure = failure

    def post(self, connection, path, fields, body=ALERT, method="POST", **options):
        return connection.send(method, path, fields, body, flush=False, **options)

    def answers(self, connection, streams):
        connection.flush()
        return [connection.wait(stream).status for stream in streams]

    def good(self, connection):
        fields = self.gateway.fields(apns_collapse_id="soak")
        streams = [self.post(connection, f"/3/device/{self.random.choice(self.devices).token}", fields) for _ in range(50)]
        assert set(self.answers(connection, streams)) == {200}

    def never_stored(self, connection):
        fields = self.gateway.fields(apns_expiration=0)
        streams = [self.post(connection, f"/3/device/{self.random.choice(self.devices).token}", fields) for _ in range(50)]
        assert set(self.answers(connection, streams)) == {200}

    def bad(self, connection):
        gateway, token = self.gateway, self.devices[0].token
        streams = [
            self.post(connection, f"/3/device/{UNKNOWN}", gateway.fields()),
            self.post(connection, "/3/device/xyz", gateway.fields()),
            self.post(connection, f"/3/device/{token}", gateway.fields(authorization=None)),
            self.post(connection, f"/3/device/{token}", gateway.fields(authorization=f"bearer {self.random.random()}.a.b")),
            self.post(connection, f"/3/device/{token}", gateway.fields(topic=f"com.example.t{self.random.random()}")),
            self.post(connection, f"/3/device/{token}", gateway.fields(apns_id=self.random.random())),
            self.post(connection, f"/3/device/{token}", gateway.fields(), b'{"aps":{"badge":"x"}}'),
            self.post(connection, f"/3/device/{token}", gateway.fields(), b"{" * 1000),
            self.post(connection, f"/3/device/{token}", gateway.fields(), b"x" * 20_000),
            self.post(connection, f"/{self.random.random()}", gateway.fields()),
            self.post(connection, f"/3/device/{token}", (), b"", method="GET"),
        ]
        assert 200 not in self.answers(connection, streams)

    def broadcast(self, connection):
        fields = [
            ("authorization", self.gateway.bearer()), ("apns-channel-id", self.channel), ("apns-push-type", "liveactivity"),
            ("apns-expiration", str(int(time.time()) + 3600))]
        streams = [self.post(connection, f"/4/broadcasts/apps/{TOPIC}", fields) for _ in range(5)]
        assert set(self.answers(connection, streams)) == {200}

    def bad_broadcast(self, connection):
        fields = [("authorization", self.gateway.bearer()), ("apns-channel-id", "nonsense")]
        streams = [self.post(connection, f"/4/broadcasts/apps/{TOPIC}", fields, body) for body in (b"", b"{", b"{}")]
        assert set(self.answers(connection, streams)) == {400}

    def half_a_request(self, connection):
        stream = connection.open("POST", f"/3/device/{self.devices[0].token}", self.gateway.fields())
        connection.write(stream, b'{"aps":')
        return True

    def reset(self, connection):
        for _ in range(20):
            stream = connection.open("POST", f"/3/device/{self.devices[0].token}", self.gateway.fields(), flush=False)
            connection.h2.reset_stream(stream)
        connection.flush()
        connection.ping()

    def no_goodbye(self, connection):
        return True

    def nonsense(self, connection):
        connection.socket.sendall(self.random.randbytes(500))
        try:
            connection.drain()
        except (Closed, TimeoutError):
            pass
        return True

    def device(self, connection):
        device = self.random.choice(self.devices[5:])
        stream = self.gateway.stream(device)
        for line in stream.caught_up():
            if line.get("seq"):
                stream.acknowledge(line["seq"])
        if self.random.random() < 0.5:
            stream.end()
        stream.connection.close()

    DEEDS = [
        (good, 40), (never_stored, 20), (bad, 20), (broadcast, 5), (bad_broadcast, 3), (half_a_request, 2), (reset, 3),
        (no_goodbye, 2), (nonsense, 1), (device, 4),
    ]


def test_memory_is_steady(start):
    gateway = start()
    devices = [gateway.device() for _ in range(20)]
    channel = gateway.run("channels", "create", TOPIC, "--store").out.strip()
    gateway.admin("POST", "channels", channel, "subscriptions", body={"devices": [device.name for device in devices]})
    workers = [Worker(gateway, devices, channel, number) for number in range(WORKERS)]
    for worker in workers:
        worker.start()
    began, samples = time.monotonic(), []
    print(f"\n{'minutes':>8}{'MiB':>8}{'deeds':>10}")
    while (elapsed := time.monotonic() - began) < 60 * MINUTES:
        for worker in workers:
            worker.join(10 / WORKERS)
            assert worker.is_alive(), worker.failure
        samples.append(resident(gateway.process.pid))
        deeds = sum(sum(worker.counts.values()) for worker in workers)
        print(f"{elapsed / 60:8.1f}{samples[-1] / 2**20:8.1f}{deeds:10,}", flush=True)
    for worker in workers:
        worker.stop.set()
    for worker in workers:
        worker.join(HANG)
        assert worker.failure is None
    print(json.dumps({name: sum(worker.counts.get(name, 0) for worker in workers) for name in workers[0].counts}))
    quarter = max(1, len(samples) // 4)
    early, late = (sorted(part)[len(part) // 2] for part in (samples[quarter:2 * quarter], samples[-quarter:]))
    print(f"median of the second quarter {early / 2**20:.1f} MiB, of the last {late / 2**20:.1f} MiB")
    assert late <= early * 1.1 + SLACK
