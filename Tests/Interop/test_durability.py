"""What was answered 200 arrives once and in order, through crashes of the gateway and of the subscriber."""

import random
import select
import signal
import threading
import uuid
from collections import deque

from gateway import SOAK
from waiting import HANG, Bell, wait_for
from wire import Closed, Connection

PUSHES = 10_000 if SOAK else 3_000
SENDERS = 3
IN_FLIGHT = 200


class Sender(threading.Thread):
    """Sends its share over one connection at a time; what got no answer is sent again with the same apns-id."""

    def __init__(self, gateway, token, ids):
        super().__init__(daemon=True)
        self.gateway, self.token = gateway, token
        self.waiting, self.accepted, self.failure, self.changed = deque(ids), [], None, Bell()
        self.retried = 0

    def run(self):
        try:
            while self.waiting:
                self.send()
        except Exception as error:
            self.failure = error
        finally:
            self.changed.ring()

    def send(self):
        try:
            connection = Connection(self.gateway)
        except (Closed, OSError):
            select.select([], [], [], 0.02)  # Nobody there, or killed in the handshake: the gateway is being restarted.
            return
        fields, path, flying = self.gateway.fields(), f"/3/device/{self.token}", {}
        try:
            while self.waiting or flying:
                while self.waiting and len(flying) < IN_FLIGHT:
                    offered = self.waiting.popleft()
                    body = b'{"aps":{"alert":"%s"}}' % offered.encode()
                    # In line before it is sent: wherever the connection ends, nothing is forgotten.
                    flying[connection._next] = offered
                    connection.send("POST", path, fields + [("apns-id", offered)], body, flush=False)
                connection.pump()
                self.changed.ring()
                for stream in [stream for stream in flying if connection.responses[stream].is_ended]:
                    response = connection.responses.pop(stream)
                    offered = flying.pop(stream)
                    assert response["apns-id"] == offered
                    if response.status == 200:
                        self.accepted.append(offered)
                    else:
                        assert response.status == 503, response.body
                        self.waiting.append(offered)
        except (Closed, OSError):
            # Answers that were read before the end of the connection count; all else is sent again.
            for stream, offered in flying.items():
                response = connection.responses.get(stream)
                if response and response.is_ended and response.status == 200:
                    self.accepted.append(offered)
                else:
                    self.waiting.append(offered)
                    self.retried += 1
        finally:
            connection.close()


def test_thousands_of_pushes_survive_two_kills_of_the_gateway_and_one_of_the_subscriber(start, subscribe):
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    # Moments, as shares of the pushes that have arrived.
    kills = sorted(chance.uniform(0.1, 0.9) for _ in range(2))
    leave = chance.uniform(0.1, 0.9)
    print(f"seed {seed}: gateway killed at {kills}, subscriber at {leave}")

    gateway = start()
    device = gateway.device()
    ids = [str(uuid.UUID(int=chance.getrandbits(128))) for _ in range(PUSHES)]
    subscribers = [subscribe(gateway, device)]
    cursor_file = gateway.state / "devices" / f"{device.name}.cursor"
    senders = [Sender(gateway, device.token, ids[number::SENDERS]) for number in range(SENDERS)]
    for sender in senders:
        sender.start()
    accepted = lambda: sum(len(sender.accepted) for sender in senders)

    moments = sorted([(share, "gateway") for share in kills] + [(leave, "subscriber")])
    for share, what in moments:
        wait_for(lambda: accepted() >= share * PUSHES or any(s.failure for s in senders), f"{share:.0%} are accepted",
                 *[sender.changed for sender in senders])
        if what == "gateway":
            gateway.kill()
            gateway.restart()
        else:
            # The first one leaves as in a crash; its successor goes on. Before it has stored something it has no cursor.
            wait_for(lambda: cursor_file.exists() and cursor_file.read_text(), "the subscriber has a cursor",
                     cursor_file.parent, subscribers[-1].process)
            subscribers[-1].process.send_signal(signal.SIGKILL)
            subscribers[-1].process.wait()
            saved = int(cursor_file.read_text())
            subscribers.append(subscribe(gateway, device))
    for sender in senders:
        sender.join(HANG)
        assert not sender.is_alive() and sender.failure is None, sender.failure
    assert accepted() == PUSHES
    print("sent again:", sum(sender.retried for sender in senders))

    def lines(subscriber):
        return subscriber.lines

    subscribers[-1].until(
        lambda: len({line["id"] for each in subscribers for line in lines(each)}) == PUSHES, "all have arrived")
    # A subscriber that is asked to stop gives the gateway a second, and not more, to take its last acknowledgement.
    gateway.when(lambda: gateway.waiting(device) == 0, "all are acknowledged")
    subscribers[-1].process.send_signal(signal.SIGTERM)
    assert subscribers[-1].wait() == 130

    before, after = lines(subscribers[0]), lines(subscribers[1])
    for each in [before, after]:
        seqs = [line["seq"] for line in each]
        assert seqs == sorted(set(seqs)), "each is in the order of seq, and none comes twice"
    # What the killed one printed and had not saved yet comes again, under the same number; nothing else does.
    assert all(line["seq"] > saved for line in after)
    numbers = {line["seq"]: line["id"] for line in before}
    for line in after:
        assert numbers.setdefault(line["seq"], line["id"]) == line["id"]
    assert sorted(numbers.values()) == sorted(ids), "each push has one number: none is lost, none doubled"
    assert all(line["payload"] == {"aps": {"alert": line["id"]}} for line in before + after)

    # Nothing comes back. A gateway writes down acknowledgements together with the next push, before it answers that.
    stream = gateway.stream(device)
    assert stream.caught_up() == []
    stream.connection.close()
    last = gateway.accepted(device.token)
    gateway.kill()
    gateway.restart()
    stream = gateway.stream(device)
    assert [line["id"] for line in stream.caught_up()] == [last]
    stream.connection.close()


def test_a_subscriber_that_is_asked_to_stop_in_the_middle_has_printed_exactly_what_it_acknowledged(start, subscribe):
    """SIGTERM, five times while pushes pour in: over all runs each push is printed once."""
    gateway = start()
    device = gateway.device()
    ids = [str(uuid.uuid4()) for _ in range(3000)]
    sender = Sender(gateway, device.token, ids)
    sender.start()
    printed = []
    while len(printed) < len(ids):
        goal = min(len(ids), len(printed) + 500)
        subscriber = subscribe(gateway, device)
        subscriber.until(lambda: len(printed) + len(subscriber.lines) >= goal, f"{goal} have arrived")
        subscriber.process.send_signal(signal.SIGTERM)
        assert subscriber.wait() == 130
        printed += subscriber.lines
    sender.join(HANG)
    assert sender.failure is None
    assert [line["seq"] for line in printed] == list(range(1, len(ids) + 1))
    assert sorted(line["id"] for line in printed) == sorted(ids)


def test_count_ends_after_exactly_that_many_and_leaves_the_rest(gateway, device):
    ids = [gateway.accepted(device.token) for _ in range(7)]
    first = gateway.run("subscribe", "--device", device.name, "--json", "--count", 3)
    second = gateway.run("subscribe", "--device", device.name, "--json", "--count", 4)
    assert [line["id"] for line in first.records + second.records] == ids


def test_pushes_of_many_connections_at_once_have_one_order_for_every_stream(gateway, device):
    streams = [gateway.stream(device) for _ in range(3)]
    for stream in streams:
        stream.caught_up()
    senders = [Sender(gateway, device.token, [str(uuid.uuid4()) for _ in range(300)]) for _ in range(4)]
    for sender in senders:
        sender.start()
    orders = [[stream.next("push") for _ in range(1200)] for stream in streams]
    for sender in senders:
        sender.join()
        assert sender.failure is None
    assert [push["seq"] for push in orders[0]] == list(range(1, 1201))
    assert orders[0] == orders[1] == orders[2]
    for stream in streams:
        stream.connection.close()
