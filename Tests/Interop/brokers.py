"""Brokers of a NATS cluster with JetStream, as processes."""

import os
import socket
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from gateway import Gateway, poll

NATS_SERVER = os.environ.get("NATS_SERVER")

needs_brokers = pytest.mark.skipif(
    not NATS_SERVER, reason="there is no nats-server: NATS_SERVER=$(scripts/nats-server) names one")

CONFIGURATION = """\
server_name: n{number}
host: 127.0.0.1
port: {client}
http: 127.0.0.1:{monitor}
jetstream {{ store_dir: "{folder}/store-{number}", max_mem: 64M, max_file: 1G }}
"""

#: Not for one that is alone: it would wait for others.
CLUSTER = """\
cluster {{ name: C, host: 127.0.0.1, port: {route}, routes: [{routes}] }}
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Brokers:
    """Three brokers on this machine, or another number of them, each with a folder of its own."""

    def __init__(self, folder, count=3):
        self.folder, self.count = Path(folder), count
        self.folder.mkdir(parents=True)
        ports = free_ports(3 * count)
        self.clients, self.monitors, self.routes = ports[:count], ports[count:2 * count], ports[2 * count:]
        self.processes = [None] * count
        routes = ", ".join(f'"nats://127.0.0.1:{port}"' for port in self.routes)
        for number in range(count):
            (self.folder / f"{number}.conf").write_text((CONFIGURATION + (CLUSTER if count > 1 else "")).format(
                number=number, client=self.clients[number], monitor=self.monitors[number], route=self.routes[number],
                folder=self.folder, routes=routes))

    @property
    def backend(self):
        return "nats://" + ",".join(f"127.0.0.1:{port}" for port in self.clients)

    def start(self, *numbers):
        for number in numbers or range(self.count):
            with open(self.folder / f"{number}.log", "ab") as log:
                self.processes[number] = subprocess.Popen(
                    [NATS_SERVER, "-c", str(self.folder / f"{number}.conf")], stdout=log, stderr=log)
        for number in numbers or range(self.count):
            poll(lambda: self.is_well(number), f"broker {number} is well", timeout=60)
        return self

    def is_well(self, number):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.monitors[number]}/healthz", timeout=2) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def kill(self, *numbers):
        for number in numbers:
            self.processes[number].kill()
            self.processes[number].wait()
            self.processes[number] = None

    def close(self):
        self.kill(*[number for number, process in enumerate(self.processes) if process])


class Cell:
    """Gateways that share brokers."""

    def __init__(self, folder, brokers, count=2, partitions=2):
        self.brokers = brokers
        self.gateways = [
            Gateway(folder / f"gateway-{number}", "--backend", brokers.backend, "--cell-partitions", partitions,
                    "--http-listen", "none")
            for number in range(count)
        ]

    def start(self):
        for gateway in self.gateways:
            gateway.start()
        return self

    def close(self):
        for gateway in self.gateways:
            if gateway.process is not None:
                gateway.kill()
