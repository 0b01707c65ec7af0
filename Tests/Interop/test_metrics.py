"""What a gateway counts, as a monitor reads it (docs/reference/metrics.md)."""

import re

LINE = re.compile(r'(\w+)(\{\w+="[^"\\]*"(?:,le="[^"]+")?\})? ([0-9.e+-]+|[+-]Inf)')


def metrics(gateway, *arguments):
    lines = gateway.run("metrics", *arguments).out.splitlines()
    return lines, {match[1] + (match[2] or ""): float(match[3]) for match in map(LINE.fullmatch, lines) if match}


def test_what_happens_to_a_push_is_counted(gateway):
    lines, before = metrics(gateway)
    assert lines[-1] == "# EOF"
    # Each line is a comment or a sample.
    assert len(before) == len([line for line in lines if not line.startswith("# ")])
    device = gateway.device()
    gateway.events(gateway.accepted(device.token), "stored")
    after = metrics(gateway)[1]
    assert before.keys() == after.keys()

    def rise(name):
        return after[name] - before[name]

    assert rise('pushgateway_requests_accepted_total{as="stored"}') == 1
    assert rise('pushgateway_delivery_events_total{event="stored"}') == 1
    assert rise("pushgateway_tls_handshakes_total") >= 1
    assert rise("pushgateway_commit_pushes_sum") == 1
    assert rise("pushgateway_commit_seconds_count") >= 1


def test_a_part_can_be_asked_for(gateway):
    lines, _ = metrics(gateway, "limits_reached")
    assert lines[0] == "# TYPE pushgateway_limits_reached counter"
    assert all("limits_reached" in line for line in lines)
