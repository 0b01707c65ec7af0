"""HTTP/1.1 for monitors and load balancers: health and metrics (`http_listen`), and who attacks it."""

import json
import os
import re
import resource
import socket
import subprocess
import threading
import time

import pytest

from gateway import run
from waiting import HANG, eventually

SECRET = "0123456789abcdefghijklmnopqrstuv"


def http_address(gateway):
    """Where HTTP/1.1 is served, as the state folder says."""
    return (gateway.state / "http-listening").read_text().split()[0]


def curl(gateway, path, *options, address=None):
    """Status, fields and body of what curl gets."""
    url = f"http://{address or http_address(gateway)}{path}"
    done = subprocess.run(
        ["curl", "-sS", "-i", "--http1.1", *options, url], capture_output=True, timeout=HANG)
    assert done.returncode == 0, done.stderr
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    fields = dict(line.lower().split(": ", 1) for line in lines[1:])
    return int(lines[0].split()[1]), fields, body


def raw(gateway, request, address=None):
    """All that the gateway says to these bytes until it hangs up."""
    host, port = (address or http_address(gateway)).rsplit(":", 1)
    with socket.create_connection((host, int(port)), HANG) as connection:
        answer = b""
        try:
            connection.sendall(request)
            while part := connection.recv(65536):
                answer += part
        except ConnectionError:
            pass
        return answer


def test_health_is_told_over_http_1(gateway):
    assert curl(gateway, "/healthz")[::2] == (200, b"ok\n")
    assert curl(gateway, "/readyz")[::2] == (200, b"ready\n")
    status, fields, body = curl(gateway, "/v1/health")
    assert status == 200 and fields["content-type"] == "application/json" and json.loads(body)["status"] == "ready"
    status, fields, body = curl(gateway, "/readyz", "--head")
    assert (status, fields["content-length"], body) == (200, "6", b"")
    assert curl(gateway, "/nothing")[0] == 404
    status, fields, _ = curl(gateway, "/metrics", "-X", "DELETE")
    assert (status, fields["allow"]) == (405, "get, head")
    assert curl(gateway, "/readyz", "--http1.0")[0] == 200


def test_the_same_is_told_over_http_2_and_by_commands(gateway):
    with gateway.connect() as connection:
        assert connection.request("GET", "/healthz").body == b"ok\n"
        assert connection.request("GET", "/readyz").body == b"ready\n"
        # Metrics are not for whoever reaches a listener.
        assert connection.request("GET", "/metrics").status in (404, 405)
    # The gateway is ready, and answers, a moment before it prints the line.
    gateway.wait_for_log(f"http://{http_address(gateway)}\n")


def test_connections_are_kept_for_the_next_request(gateway):
    url = f"http://{http_address(gateway)}"
    done = subprocess.run(
        ["curl", "-sSv", "--http1.1", f"{url}/healthz", f"{url}/readyz", f"{url}/metrics"], capture_output=True,
        text=True, timeout=HANG)
    assert "Re-using existing connection" in done.stderr
    assert done.stdout.startswith("ok\nready\n#")


def test_a_monitor_gets_the_format_that_it_asks_for(gateway):
    _, fields, body = curl(gateway, "/metrics")
    assert fields["content-type"].startswith("text/plain; version=0.0.4")
    assert subprocess.run(["promtool", "check", "metrics"], input=body, capture_output=True, timeout=HANG).stdout == b""
    _, fields, body = curl(gateway, "/metrics", "-H", "accept: application/openmetrics-text; version=1.0.0")
    assert fields["content-type"].startswith("application/openmetrics-text") and body.endswith(b"\n# EOF\n")


def test_promtool_finds_nothing_to_say(gateway):
    gateway.accepted(gateway.device().token)
    body = curl(gateway, "/metrics")[2]
    done = subprocess.run(["promtool", "check", "metrics"], input=body, capture_output=True, timeout=HANG)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_what_happens_is_in_the_metrics(gateway):
    device = gateway.device()

    def read(name):
        return float(re.search(rf"^{re.escape(name)} (\S+)$", curl(gateway, "/metrics")[2].decode(), re.M)[1])

    stored = read('pushgateway_requests_accepted_total{as="stored"}')
    gateway.accepted(device.token)
    assert read('pushgateway_requests_accepted_total{as="stored"}') == stored + 1
    assert read("pushgateway_mailbox_pushes") >= 1
    assert read("process_resident_memory_bytes") > 1 << 20
    assert read("pushgateway_certificate_expiry_timestamp_seconds{certificate=\"server\"}") > time.time()
    stream = gateway.stream(device)
    assert [line["type"] for line in stream.caught_up()] == ["push"]
    assert read("pushgateway_device_streams") >= 1
    assert read('pushgateway_clients{kind="device"}') >= 1
    stream.connection.close()


def test_it_is_not_ready_while_it_drains(start):
    gateway = start()
    address = http_address(gateway)
    device = gateway.device()
    stream = gateway.stream(device)
    stream.caught_up()
    # The gateway waits seven seconds for a device that does not end its side of the stream, and three for a request.
    with stream.connection:
        gateway.terminate()
        gateway.wait_for_drain()
        answer = raw(gateway, b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n", address=address)
    assert answer.startswith(b"HTTP/1.1 503 ") and b"\r\n\r\ndraining" in answer, answer
    gateway.ended()
    gateway.process = None
    assert not (gateway.state / "http-listening").exists()


def test_a_disk_that_fails_is_told_and_its_end_too(start):
    gateway = start()
    device = gateway.device()
    whole = resource.RLIM_INFINITY
    resource.prlimit(gateway.process.pid, resource.RLIMIT_FSIZE, (4096, whole))
    assert gateway.push(device.token).status == 503
    status, _, body = curl(gateway, "/readyz")
    assert status == 503 and body.strip(), body
    assert json.loads(curl(gateway, "/v1/health")[2])["status"] == "degraded"
    assert int(re.search(rb"^pushgateway_health_problems (\d+)$", curl(gateway, "/metrics")[2], re.M)[1]) >= 1
    assert curl(gateway, "/healthz")[0] == 200
    resource.prlimit(gateway.process.pid, resource.RLIMIT_FSIZE, (whole, whole))
    eventually(lambda: curl(gateway, "/readyz")[0] == 200, "ready again")


# Who may read metrics


def test_a_page_of_a_stranger_reads_nothing(gateway):
    """A browser sends Origin, or the name by which a name server has sent it here (DNS rebinding)."""
    assert curl(gateway, "/metrics", "-H", "origin: https://example.com")[0] == 403
    assert curl(gateway, "/metrics", "-H", "host: example.com")[0] == 403
    assert curl(gateway, "/metrics", "-H", "host: 127.0.0.1.example.com")[0] == 403
    assert curl(gateway, "/metrics", "-H", "host: localhost:1")[0] == 200


def other_address():
    """An address of this machine that is not loopback's; None where there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        return probe.getsockname()[0]


def test_another_machine_needs_the_secret(start, tmp_path):
    address = other_address()
    if not address or address.startswith("127."):
        pytest.skip("this machine has no address but loopback's")
    token = tmp_path / "token"
    token.write_text(SECRET + "\n")
    token.chmod(0o600)
    gateway = start("--http-listen", f"{address}:0", "--http-listen", "127.0.0.1:0", "--metrics-token-file", token)
    outside, inside = (gateway.state / "http-listening").read_text().split()
    assert curl(gateway, "/metrics", address=inside)[0] == 200
    status, fields, _ = curl(gateway, "/metrics", address=outside)
    assert (status, fields["www-authenticate"]) == (401, "bearer")
    assert curl(gateway, "/metrics", "-H", f"authorization: Bearer {SECRET[:-1]}x", address=outside)[0] == 401
    assert curl(gateway, "/metrics", "-H", f"authorization: Bearer {SECRET}", address=outside)[0] == 200
    assert curl(gateway, "/readyz", address=outside)[0] == 200
    # Another secret takes its place at once.
    token.write_text(SECRET[::-1])
    assert curl(gateway, "/metrics", "-H", f"authorization: Bearer {SECRET}", address=outside)[0] == 401
    assert curl(gateway, "/metrics", "-H", f"authorization: Bearer {SECRET[::-1]}", address=outside)[0] == 200


def test_a_secret_that_others_can_read_is_refused_at_the_start(tmp_path):
    token = tmp_path / "token"
    token.write_text(SECRET)
    token.chmod(0o644)
    done = run("serve", "--listen", "127.0.0.1:0", "--metrics-token-file", token, state=tmp_path / "state")
    assert done.code == 1 and "chmod 600" in done.err and "metrics_token_file" in done.err, done.err


# Where it listens


def test_there_is_none_where_none_is_wanted(start):
    gateway = start("--http-listen", "none")
    assert (gateway.state / "http-listening").read_text() == ""
    assert "http://" not in gateway.log


def test_an_address_that_is_taken_is_an_error_that_names_the_setting(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = run(
            "serve", "--listen", "127.0.0.1:0", "--http-listen", f"127.0.0.1:{port}", state=tmp_path / "state")
    assert done.code == 1 and f"127.0.0.1:{port}" in done.err and "--http-listen" in done.err, done.err


def test_an_address_that_is_none_is_a_wrong_usage(tmp_path):
    done = run("serve", "--http-listen", "everywhere", state=tmp_path / "state")
    assert done.code == 2 and "127.0.0.1:2197" in done.err, done.err


def test_provider_listeners_go_on_refusing_http_1(gateway):
    done = subprocess.run(
        ["curl", "-sS", "--http1.1", "--cacert", gateway.trust, f"https://{gateway.address}/healthz"],
        capture_output=True, timeout=HANG)
    assert done.returncode != 0


# Attacks


@pytest.mark.parametrize("request_bytes, status", [
    (b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nx: " + b"y" * 20_000 + b"\r\n\r\n", b"400"),
    (b"GET /readyz HTTP/1.1\r\nhost: localhost\r\n" + b"".join(b"x%d: y\r\n" % n for n in range(100)) + b"\r\n", b"400"),
    (b"GET /" + b"y" * 20_000 + b" HTTP/1.1\r\nhost: localhost\r\n\r\n", b"400"),
    (b"POST /readyz HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"
     b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n", b"400"),
    (b"POST /readyz HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"
     b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n", b"413"),
    (b"POST /readyz HTTP/1.1\r\nhost: localhost\r\ncontent-length: 42\r\n\r\n"
     b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n", b"413"),
    (b"GET /readyz HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\ncontent-length: 42\r\n\r\n", b"4"),
    (b"GET /readyz HTTP/1.1\r\n\r\n", b"400"),
    (b"GET /readyz HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", b"400"),
    (b"CONNECT localhost:22 HTTP/1.1\r\nhost: localhost\r\n\r\n", b"4"),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"4"),
    (b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n", b"400"),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"400"),
    (b"GET /readyz\r\n\r\n", b"400"),
])
def test_what_is_malformed_is_refused_once_and_ends(gateway, request_bytes, status):
    answer = raw(gateway, request_bytes)
    assert answer.startswith(b"HTTP/1.1 " + status), answer
    # Nothing that follows is taken for a request.
    assert len(re.findall(rb"HTTP/1.1 \d\d\d ", answer)) == 1 and b"pushgateway_" not in answer, answer
    assert curl(gateway, "/readyz")[0] == 200


def test_a_body_that_goes_on_is_not_read_for_ever(gateway):
    host, port = http_address(gateway).rsplit(":", 1)
    with socket.create_connection((host, int(port)), HANG) as connection:
        connection.sendall(b"POST /readyz HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000000\r\n\r\n")
        with pytest.raises(ConnectionError):
            for _ in range(1_000_000_000 // 65_536):
                connection.sendall(b"x" * 65536)


def test_slow_requests_are_ended_and_keep_nobody_out(gateway):
    """Slowloris: many heads, a byte now and then."""
    host, port = http_address(gateway).rsplit(":", 1)
    slow = [socket.create_connection((host, int(port)), HANG) for _ in range(300)]
    try:
        for connection in slow:
            try:
                connection.sendall(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nx: ")
            except ConnectionError:
                pass
        # More than there may be: the oldest have given way, and a monitor gets in.
        assert curl(gateway, "/readyz")[0] == 200
        limits = curl(gateway, "/metrics")[2].decode()
        assert int(re.search(r'limits_reached_total{limit="http_connections"} (\d+)', limits)[1]) > 0
        # The others are ended by their time.
        last = slow[-1]
        assert last.recv(1) == b""
    finally:
        for connection in slow:
            connection.close()


def test_many_requests_whose_answers_nobody_reads_end_the_connection(gateway):
    host, port = http_address(gateway).rsplit(":", 1)
    with socket.create_connection((host, int(port)), HANG) as connection:
        with pytest.raises(OSError):
            for _ in range(20_000):
                connection.sendall(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n" * 20)
    assert curl(gateway, "/readyz")[0] == 200


def test_pushes_go_on_while_metrics_are_read_flat_out(gateway):
    device = gateway.device()
    isOver = threading.Event()

    def scrape():
        while not isOver.is_set():
            curl(gateway, "/metrics")

    readers = [threading.Thread(target=scrape) for _ in range(4)]
    for reader in readers:
        reader.start()
    try:
        with gateway.connect() as connection:
            for _ in range(100):
                assert gateway.push(device.token, connection=connection).status == 200
    finally:
        isOver.set()
        for reader in readers:
            reader.join()


# doctor --gateway


def test_doctor_looks_at_a_gateway_elsewhere(gateway, tmp_path):
    def doctor(*options, code=0):
        done = run("doctor", *options, state=tmp_path / "none", env={"NO_COLOR": "1"})
        assert done.code == code, done.out + done.err
        return done.out

    table = doctor("--gateway", gateway.address, "--ca", gateway.trust)
    for word in ("answers; a push that it answers with 200 is stored (full)", "it accepts pushes", "HTTP/2 over TLSv1.3", "valid for"):
        assert word in table, table
    assert str(tmp_path) not in table
    table = doctor("--gateway", f"https://{gateway.address}", "--ca", gateway.trust, "--json")
    assert {json.loads(line)["state"] for line in table.splitlines()} == {"ok"}
    table = doctor("--gateway", f"http://{http_address(gateway)}")
    assert "it accepts pushes" in table and "certificate" not in table
    # What does not answer, is not trusted or is no gateway.
    # The port stays bound, so that no other process listens there meanwhile.
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        free = other.getsockname()[1]
        assert "nothing answers" in doctor("--gateway", f"127.0.0.1:{free}", "--ca", gateway.trust, code=1)
        assert "nothing answers" in doctor("--gateway", f"http://127.0.0.1:{free}", code=1)
    if os.path.exists("/etc/ssl/certs/ca-certificates.crt"):
        assert "not trusted" in doctor("--gateway", gateway.address, code=1)
    assert "not in HTTP/1.1" in doctor("--gateway", f"http://{gateway.address}", code=1)
    assert "expected HOST:PORT" in run("doctor", "--gateway", "nowhere").err
