"""How many pushes a team, and an app, may send (`team_rate`, `app_rate`); and who sends a little beside who sends flat out."""

import collections
import itertools
import re
import time

import pytest

from gateway import ALERT, TOPIC


def burst(gateway, connection, device, count, key=None, topic=TOPIC):
    """The answers to so many pushes at once: status and reason."""
    fields = gateway.fields(key=key, topic=topic)
    streams = [connection.send("POST", f"/3/device/{device.token}", fields, ALERT, flush=False) for _ in range(count)]
    connection.flush()
    responses = [connection.wait(stream) for stream in streams]
    return collections.Counter((response.status, response.reason) for response in responses)


def allowed(answers, limit, began):
    """As many were accepted as may be at once, and at most as many more as the time since `began` allows."""
    most = limit * (1 + time.monotonic() - began) + 1
    assert set(answers) <= {(200, None), (429, "TooManyRequests")}
    assert limit <= answers[200, None] <= most
    assert answers[429, "TooManyRequests"] or sum(answers.values()) <= most


@pytest.mark.alone("a limit of each gateway")
@pytest.mark.parametrize("loops", [1, 2])
def test_a_team_sends_no_more_than_its_rate_on_all_its_connections_and_others_send_on(start, loops):
    gateway = start("--team-rate", 20, "--loops", loops)
    device = gateway.device()
    gateway.add_team("OTHERTEAM1")
    other_app = gateway.app(team="OTHERTEAM1")
    other, other_key = gateway.device(other_app), gateway.new_key(team="OTHERTEAM1")
    connections = [gateway.connect() for _ in range(4)]
    began = time.monotonic()
    answers = sum((burst(gateway, each, device, 50) for each in connections), collections.Counter())
    allowed(answers, 20, began)
    with gateway.connect() as calm:
        assert burst(gateway, calm, other, 10, other_key, other_app) == {(200, None): 10}
    for each in connections:
        each.close()
    count = re.search(r'^pushgateway_limits_reached(?:_total)?\{limit="team_rate"\} (\d+)$', gateway.run("metrics").out, re.M)
    assert (int(count[1]) if count else 0) == answers[429, "TooManyRequests"]


def test_an_app_is_sent_no_more_than_its_rate_and_the_teams_others_are(start):
    gateway = start("--app-rate", 20)
    device, other_app = gateway.device(), gateway.app()
    other = gateway.device(other_app)
    with gateway.connect() as connection:
        began = time.monotonic()
        allowed(burst(gateway, connection, device, 100), 20, began)
        assert burst(gateway, connection, other, 10, topic=other_app) == {(200, None): 10}


def test_connections_that_send_more_than_fits_into_a_turn_take_turns(start):
    """All that they send is answered, while each has to wait for the others."""
    gateway = start("--loops", 1)
    device = gateway.device()
    payload = b'{"aps":{"alert":"%s"}}' % (b"x" * 3000)
    connections = [gateway.connect() for _ in range(5)]
    waiting = []
    for each, _ in itertools.product(connections, range(60)):
        stream = each.send("POST", f"/3/device/{device.token}", gateway.fields(apns_expiration=0), payload, flush=False)
        waiting.append((each, stream))
    for each in connections:
        each.flush()
    assert {each.wait(stream).status for each, stream in waiting} == {200}
    for each in connections:
        each.close()
