"""Kills gateways, brokers and devices of a cell under load, a hundred times, and counts what became of every 200.

    Tests/Interop/run PUSHCLI --program cluster_kills.py --kills 100        (make cluster-kills KILLS=100 SEED=7)

The accounts and their comparison are those of kills.py. Each sender goes to another gateway when a connection ends, and
so does each device. In the end the brokers are asked, by their own monitoring, whether all replicas agree.
"""

import argparse
import json
import random
import shutil
import signal
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path

from brokers import Brokers, Cell
from gateway import CRASH
from kills import Book, Recorder, Sender, compare, summary
from waiting import HANG, eventually, wait_for

#: The share of gateways that are killed once more while they start.
DURING_START = 0.2


class Storm:
    """What is done to a cell, one event after another; each ends with every process running again."""

    def __init__(self, cell, chance):
        self.cell, self.brokers, self.chance = cell, cell.brokers, chance
        self.done = Counter()
        #: How often, and what.
        self.events = {
            self.kill_gateway: 50, self.kill_broker: 20, self.kill_two_brokers: 5, self.kill_all_brokers: 3,
            self.kill_gateway_and_broker: 12, self.stop_gateway: 5, self.stop_broker: 5,
        }

    def strike(self):
        event = self.chance.choices(list(self.events), list(self.events.values()))[0]
        event()
        self.done[event.__name__] += 1
        return event.__name__

    def pause(self, longest):
        time.sleep(self.chance.uniform(0, longest))

    def kill_gateway(self):
        gateway = self.chance.choice(self.cell.gateways)
        gateway.kill()
        self.restart(gateway)

    def restart(self, gateway):
        gateway.listen = gateway.address
        if self.chance.random() < DURING_START:
            gateway.spawn()
            self.pause(1)
            gateway.kill()
            self.done["gateway killed while it starts"] += 1
        gateway.start()

    def kill_broker(self):
        self.kill_brokers(1, 5)

    def kill_two_brokers(self):
        self.kill_brokers(2, 3)

    def kill_all_brokers(self):
        self.kill_brokers(3, 2)

    def kill_brokers(self, count, longest):
        numbers = self.chance.sample(range(3), count)
        self.brokers.kill(*numbers)
        self.pause(longest)
        self.brokers.start(*numbers)

    def kill_gateway_and_broker(self):
        number, gateway = self.chance.randrange(3), self.chance.choice(self.cell.gateways)
        self.brokers.kill(number)
        gateway.kill()
        self.restart(gateway)
        self.brokers.start(number)

    def stop_gateway(self):
        """A machine that stands still, and comes back with all that it believed."""
        self.stop(self.chance.choice(self.cell.gateways).process, 4)

    def stop_broker(self):
        self.stop(self.chance.choice(self.brokers.processes), 8)

    def stop(self, process, longest):
        process.send_signal(signal.SIGSTOP)
        self.pause(longest)
        process.send_signal(signal.SIGCONT)


def replicas(brokers) -> list[dict]:
    """What each broker says of its streams: name to numbers, deleted messages included."""
    states = []
    for port in brokers.monitors:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/jsz?streams=1", timeout=HANG) as answer:
            report = json.load(answer)
        streams = [stream for account in report["account_details"] for stream in account["stream_detail"]]
        states.append({
            stream["name"]: {key: stream["state"].get(key, 0) for key in ("messages", "first_seq", "last_seq", "num_deleted")}
            for stream in streams
        })
    return states


def storm(folder, *, kills, seed, gateways=3, devices=4, pace=150, between=200, client_interval=40_000, progress=None):
    """Runs it all; returns the figures, with what went wrong by `apns-id`."""
    chance = random.Random(seed)
    begun = time.monotonic()
    folder = Path(folder)
    brokers = Brokers(folder / "brokers").start()
    cell = Cell(folder, brokers, count=gateways, partitions=3, options=("--mailbox-cap", 1_000_000)).start()
    home = cell.gateways[0]
    phones = [home.device() for _ in range(devices)]
    book = Book()
    crew = [
        Sender(cell.gateways[place:] + cell.gateways[:place], phones, book, chance.getrandbits(64), pace)
        for place in range(gateways)
    ]
    addresses = ",".join(gateway.address for gateway in cell.gateways)
    clients = [
        Recorder(home, phone, folder / f"{phone.name}.ndjson", chance.getrandbits(64), client_interval,
                 options=("--gateway", addresses))
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

    hurricane, longest = Storm(cell, chance), 0.0
    try:
        for number in range(kills):
            goal, start = book.accepted + chance.randrange(2 * between), time.monotonic()
            wait_for(lambda: grown(goal), f"{goal} pushes are accepted", book.changed)
            longest = max(longest, time.monotonic() - start)
            event = hurricane.strike()
            if progress:
                progress(number + 1, book.accepted, event)
        for sender in crew:
            sender.is_finishing.set()
        for sender in crew:
            sender.join(HANG)
            assert not sender.is_alive(), "a sender does not come to its end"
        check()
        for client in clients:
            client.is_spared.set()

        def is_settled():
            check()
            # The streams keep the ids of what was acknowledged for five minutes, and pushes no longer.
            states = replicas(brokers)
            return all(state == states[0] for state in states) and not any(map(home.waiting, phones))

        settled = True
        try:
            eventually(is_settled, "everything is acknowledged, and the replicas agree")
        except AssertionError:
            settled = False
        for client in clients:
            client.is_finishing.set()
        for client in clients:
            client.join(HANG)
        check()
        # What a device has stored never comes back to it, at any gateway.
        returned = 0
        for phone, gateway in zip(phones, cell.gateways * devices):
            stream = gateway.stream(phone)
            returned += len(stream.caught_up())
            stream.connection.close()
        log = "".join(gateway.log for gateway in cell.gateways)
        for gateway in cell.gateways:
            gateway.stop()
        states = replicas(brokers)
    finally:
        for thread in crew + clients:
            thread.is_finishing.set()
        for client in clients:
            client.join(HANG)
        cell.close()
        brokers.close()

    verdict = compare(book.pushes, [client.ids for client in clients])
    return {
        "seed": seed, "kills": sum(hurricane.done.values()), "events": dict(hurricane.done),
        "client_kills": sum(client.kills for client in clients), "devices": devices, "gateways": gateways,
        "offered": len(book.pushes), "accepted": verdict.accepted,
        "sent_again": sum(sender.retried for sender in crew), "recorded": verdict.recorded,
        "unanswered_recorded": verdict.unanswered_recorded, "lost": verdict.lost, "doubled": verdict.doubled,
        "misdelivered": verdict.misdelivered, "out_of_order": verdict.out_of_order, "returned": returned,
        "crash_reports": len(CRASH.findall(log)), "replicas_agree": settled, "replicas": [] if settled else states,
        "longest_wait_for_load": round(longest, 1), "seconds": round(time.monotonic() - begun, 1),
        "is_good": verdict.is_good and returned == 0 and settled and not CRASH.search(log),
    }


def main():
    parser = argparse.ArgumentParser(description="Kills gateways, brokers and devices of a cell, and counts every 200.")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--devices", type=int, default=4)
    parser.add_argument("--gateways", type=int, default=3)
    options = parser.parse_args()

    def progress(done, accepted, event):
        print(f"{done} of {options.kills}: {event}, {accepted} pushes accepted", file=sys.stderr, flush=True)

    folder = tempfile.mkdtemp(prefix="pushgateway-cluster-kills-")
    try:
        figures = storm(folder, kills=options.kills, seed=options.seed, devices=options.devices,
                        gateways=options.gateways, progress=progress)
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
