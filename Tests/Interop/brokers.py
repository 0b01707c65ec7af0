"""Brokers of a NATS cluster with JetStream, as processes."""

import contextlib
import json
import os
import random
import socket
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from gateway import Gateway
from relay import Relay
from waiting import HANG, eventually

NATS_SERVER = os.environ.get("NATS_SERVER")

needs_brokers = pytest.mark.skipif(
    not NATS_SERVER, reason="there is no nats-server: NATS_SERVER=$(scripts/nats-server) names one")

CONFIGURATION = """\
server_name: n{number}
host: 127.0.0.1
port: {client}
http: 127.0.0.1:{monitor}
jetstream {{ store_dir: "{folder}/store-{number}", max_mem: 64M, max_file: 1G, sync_interval: {sync} }}
"""

#: Not for one that is alone: it would wait for others.
CLUSTER = """\
cluster {{ name: C, host: 127.0.0.1, port: {route}, {advertise} routes: [{routes}] }}
"""


def free_ports(count):
    """Ports that nobody has now, none of those that the system gives to connections and listeners by itself: those might go
    to somebody else until a broker takes them."""
    ports = []
    for port in random.sample(range(10_000, 32_000), 1000):
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            ports.append(port)
        if len(ports) == count:
            return ports
    raise AssertionError("there are no free ports")


class Brokers:
    """Three brokers on this machine, or another number of them, each with a folder of its own.

    With `relayed` there is a relay between each two, so that one can be cut off from the others. `sync` is their
    sync_interval. With `slow` gateways reach them through relays that hold everything up for so many seconds.
    """

    def __init__(self, folder, count=3, relayed=False, sync="2m", slow=0):
        self.folder, self.count = Path(folder), count
        self.folder.mkdir(parents=True)
        ports = free_ports(3 * count)
        self.clients, self.monitors, self.routes = ports[:count], ports[count:2 * count], ports[2 * count:]
        self.processes = [None] * count
        self.relays = {
            (near, far): Relay(("127.0.0.1", self.routes[far]))
            for near in range(count) for far in range(count) if relayed and near != far
        }
        self.fronts = [Relay(("127.0.0.1", port), delay=slow) for port in self.clients if slow]
        for number in range(count):
            ports = [port for port in self.routes if not relayed]
            ports += [relay.port for (near, _), relay in self.relays.items() if near == number]
            (self.folder / f"{number}.conf").write_text((CONFIGURATION + (CLUSTER if count > 1 else "")).format(
                number=number, client=self.clients[number], monitor=self.monitors[number], route=self.routes[number],
                sync=sync,
                # What others are told is of no use: they are to come through the relays.
                advertise='advertise: "127.0.0.1:1",' if relayed else "", folder=self.folder,
                routes=", ".join(f'"nats://127.0.0.1:{port}"' for port in ports)))

    @property
    def backend(self):
        ports = [relay.port for relay in self.fronts] or self.clients
        return "nats://" + ",".join(f"127.0.0.1:{port}" for port in ports)

    def start(self, *numbers):
        for number in numbers or range(self.count):
            with open(self.folder / f"{number}.log", "ab") as log:
                self.processes[number] = subprocess.Popen(
                    [NATS_SERVER, "-c", str(self.folder / f"{number}.conf")], stdout=log, stderr=log)
        for number in numbers or range(self.count):
            eventually(lambda: self.is_well(number), f"broker {number} is well")
        return self

    def is_well(self, number):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.monitors[number]}/healthz", timeout=HANG) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def kill(self, *numbers):
        for number in numbers:
            self.processes[number].kill()
            self.processes[number].wait()
            self.processes[number] = None

    def isolate(self, number):
        """Cuts a broker off from the others; who is connected to it stays."""
        for pair, relay in self.relays.items():
            if number in pair:
                relay.cut()

    def heal(self):
        for relay in self.relays.values():
            relay.heal()

    def of(self, gateway) -> int | None:
        """The number of the broker that a gateway is connected to."""
        for number in range(self.count):
            if self.processes[number] and self.is_well(number):
                with urllib.request.urlopen(f"http://127.0.0.1:{self.monitors[number]}/connz", timeout=HANG) as answer:
                    names = [one.get("name", "") for one in json.load(answer)["connections"]]
                if any(str(gateway.state) in name for name in names):
                    return number
        return None

    def close(self):
        self.kill(*[number for number, process in enumerate(self.processes) if process])
        for relay in [*self.relays.values(), *self.fronts]:
            relay.close()


class Cell:
    """Gateways that share brokers."""

    def __init__(self, folder, brokers, count=2, partitions=2, options=()):
        self.brokers = brokers
        self.gateways = [
            Gateway(folder / f"gateway-{number}", "--backend", brokers.backend, "--cell-partitions", partitions,
                    "--http-listen", "none", *options)
            for number in range(count)
        ]

    def start(self):
        for gateway in self.gateways:
            gateway.start()
        return self

    def mend(self):
        """Starts again what a test has killed."""
        if dead := [number for number, process in enumerate(self.brokers.processes) if process is None]:
            self.brokers.start(*dead)
        for gateway in self.gateways:
            if gateway.process is None or gateway.process.poll() is not None:
                gateway.restart()

    def close(self):
        for gateway in self.gateways:
            if gateway.process is not None:
                gateway.kill()


class BalancedCell(Gateway):
    """Two gateways of one cell that look like one: a balancer gives each connection to the other of the two.

    Administration is the first one's. They start and end together.
    """

    is_cell = True
    balancer = None

    def start(self):
        if self.balancer is None:
            self.brokers = Brokers(self.state.parent / f"{self.state.name}-brokers").start()
            self.options = (*self.options, "--backend", self.brokers.backend, "--cell-partitions", 2)
            self.second = Gateway(
                self.state.parent / f"{self.state.name}-second", *self.options, wrapper=self.wrapper,
                program=self.program)
            super().start()
            self.second.start()
            self.balancer = Relay()
        else:
            super().start()
            self.second.start()
        self.own = f"{self.host}:{self.port}"
        self.balancer.targets = [(self.host, self.port), (self.second.host, self.second.port)]
        self.port = self.balancer.port
        self.addresses[0] = [self.host, str(self.port)]
        return self

    def restart(self):
        self.listen = self.own
        self.second.listen = self.second.address
        return self.start()

    def are_numbered(self, pushes, *numbers):
        """The engine's numbers are of all devices: they begin anywhere, and have holes."""
        seqs = [push["seq"] for push in pushes]
        return len(seqs) == len(numbers) and seqs == sorted(set(seqs)) and min(seqs, default=1) > 0

    @property
    def log(self) -> str:
        return super().log + self.second.log

    def terminate(self):
        self.second.terminate()
        super().terminate()

    def ended(self) -> int:
        code = super().ended()
        if self.second.process.poll() is None:
            self.second.terminate()
        return max(code, self.second.ended())

    def kill(self):
        self.second.kill()
        super().kill()

    def stop(self):
        super().stop()
        self.second.process = None

    def close(self):
        """Ends all of it."""
        try:
            self.stop()
        finally:
            if self.balancer:
                self.balancer.close()
                self.brokers.close()
