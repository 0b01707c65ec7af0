"""A push to a group, while the gateway is killed again and again: whoever was answered 200 has reached every member once."""

import threading
import uuid

from gateway import TOPIC
from waiting import HANG, Bell, wait_for
from wire import Closed

KILLS = 6
MEMBERS = ["anna", "ben", "cleo"]


def test_a_gateway_that_is_killed_loses_nothing_of_a_group(start, subscribe):
    gateway = start()
    phones = []
    for name in MEMBERS:
        phones.append(subscribe(gateway, gateway.device(name=name, person=name)))
    gateway.run("groups", "add", "crew", *MEMBERS)
    token = gateway.run("groups", "register", "crew", TOPIC).out.strip()
    accepted, sent, changed = [], threading.Event(), Bell()

    def send():
        """Sends one push after another, each until it is answered."""
        while not sent.is_set():
            name = str(uuid.uuid4()).upper()
            while True:
                try:
                    response = gateway.push(token, apns_id=name)
                except (OSError, Closed):
                    if sent.is_set():
                        return
                    continue
                if response.status == 200:
                    accepted.append(name)
                    changed.ring()
                    break

    sender = threading.Thread(target=send)
    sender.start()
    for kill in range(KILLS):
        goal = len(accepted) + 5
        wait_for(lambda: len(accepted) >= goal, "five more are accepted", changed)
        gateway.kill()
        gateway.restart()
    sent.set()
    sender.join(HANG)
    assert len(accepted) >= 5 * KILLS
    last = accepted[-1]
    for phone in phones:
        phone.until(lambda: any(line.get("id") == last for line in phone.lines), "the last one has arrived")
        got = [line["id"] for line in phone.lines if line.get("type") == "push"]
        assert len(got) == len(set(got)), "nothing comes twice"
        assert set(accepted) <= set(got), "nothing is lost"
