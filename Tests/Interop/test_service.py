"""The gateway as a service: what it tells its manager, and what it does while it runs when it is asked for."""

import shutil
import signal
import socket
import subprocess
import threading
import urllib.request
import uuid
from pathlib import Path

import pytest
from h2.exceptions import ProtocolError

from brokers import free_ports
from faultlib import needs_strace, stopped
from gateway import ALERT, PUSHCLI, Gateway, Manager, Subscriber, run
from waiting import HANG, Bell, eventually, wait_for
from wire import Closed, Connection


UNITS = Path(__file__).resolve().parents[2] / "deploy/systemd"


@pytest.fixture
def manager():
    return Manager()


# Telling the manager


@pytest.mark.parametrize("unit", ["pushgateway.service", "user/pushgateway.service"])
def test_settings_that_can_not_be_used_are_no_reason_for_a_restart(unit):
    assert "RestartPreventExitStatus=2" in (UNITS / unit).read_text().splitlines()


@pytest.mark.parametrize("is_abstract", [False, True])
def test_the_manager_hears_of_the_start_a_reload_and_the_end(tmp_path, is_abstract):
    manager = Manager(f"@pushgateway-{uuid.uuid4().hex}" if is_abstract else None)
    gateway = Gateway(tmp_path / "state", manager=manager).start()
    assert manager.until("READY")["STATUS"] == f"listening on {gateway.address}"
    gateway.process.send_signal(signal.SIGHUP)
    assert int(manager.until("RELOADING")["MONOTONIC_USEC"]) > 0
    assert manager.until("READY")["READY"] == "1"
    gateway.stop()
    assert manager.until("STOPPING")["STOPPING"] == "1"


def test_the_manager_gets_signs_of_life_also_after_the_process_stood_still(tmp_path, manager):
    gateway = Gateway(tmp_path / "state", wrapper=["env", "WATCHDOG_USEC=400000"], manager=manager).start()
    for _ in range(3):
        manager.until("WATCHDOG")
    with stopped(gateway.process):
        # What it had sent before; it goes on by itself afterwards.
        manager.forget()
    manager.until("WATCHDOG")
    gateway.stop()


def test_a_start_that_fails_says_why(tmp_path, manager):
    state = tmp_path / "state"
    done = run(
        "serve", "--listen", "192.0.2.1:1", state=state, env={"NOTIFY_SOCKET": manager.address})
    assert done.code == 1
    assert "192.0.2.1:1" in manager.until("STATUS")["STATUS"]


# Sockets of the manager


def can_connect(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=HANG).close()
        return True
    except ConnectionRefusedError:
        return False


def test_sockets_of_the_manager_are_listened_on(tmp_path, manager):
    ports = free_ports(2)
    state = tmp_path / "state"
    process = subprocess.Popen(
        ["systemd-socket-activate", f"--setenv=NOTIFY_SOCKET={manager.address}", "-l", f"127.0.0.1:{ports[0]}", "-l", f"127.0.0.1:{ports[1]}",
         "--fdname=production:whatever", PUSHCLI, "serve", "--state", str(state)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        # It is started by the first who connects.
        eventually(lambda: can_connect(ports[0]), "somebody listens for it")
        assert manager.until("READY", process)
        listening = (state / "listening").read_text()
        assert listening.split() == [f"127.0.0.1:{port}" for port in ports]
        status = run("doctor", "--json", state=state).records
        assert [row["state"] for row in status if row["check"] == "gateway"] == ["ok"]
        gateway = Gateway(state)
        gateway.host, gateway.port = "127.0.0.1", ports[0]
        with Connection(gateway, admin=True) as connection:
            listeners = connection.request("GET", "/admin/v1/status").json["listeners"]
        assert [listener["environment"] for listener in listeners] == ["production", "development"]
    finally:
        process.terminate()
        process.wait(HANG)


# Reloading


def settings(gateway, text):
    (gateway.state / "config.yaml").write_text(text)


def reload(gateway, code=0):
    return gateway.run("admin", "reload", "--json", code=code)


def test_a_reload_changes_what_can_change_without_ending_a_connection(start):
    gateway = start()
    device = gateway.device()
    with gateway.connect() as connection:
        assert gateway.push(device.token, connection=connection).status == 200
        settings(gateway, "rate_limit: 1\nmailbox_cap: 77\n")
        assert reload(gateway).json == {"changed": ["rate_limit"], "at_restart": ["mailbox_cap"]}
        # All are sent at once: pushes one after the other may each come in another second.
        streams = [
            connection.send("POST", f"/3/device/{device.token}", gateway.fields(), ALERT, flush=False) for _ in range(20)]
        connection.flush()
        assert 429 in [connection.wait(stream).status for stream in streams]
        settings(gateway, "")
        assert reload(gateway).json == {"changed": ["rate_limit"], "at_restart": []}
        assert gateway.push(device.token, connection=connection).status == 200


def test_a_reload_opens_and_closes_listeners(start, tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("listen: 127.0.0.1:0\n")
    gateway = start("--config", config, listen=None)
    [port] = free_ports(1)
    device = gateway.device()
    with gateway.connect() as connection:
        config.write_text(f"listen: 127.0.0.1:{port}=production\n")
        assert reload(gateway).json["changed"] == ["listen"]
        assert (gateway.state / "listening").read_text().split() == [f"127.0.0.1:{port}"]
        assert gateway.push(device.token, connection=connection).status == 200
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", gateway.port), timeout=HANG)
        # The same address with another word behind it.
        config.write_text(f"listen: 127.0.0.1:{port}=development\n")
        assert reload(gateway).json["changed"] == ["listen"]
    gateway.addresses = [("127.0.0.1", port)]
    assert gateway.push(device.token).status == 200


def test_a_reload_changes_between_one_address_and_all_addresses_of_a_port(start, tmp_path):
    config = tmp_path / "config.yaml"
    [port] = free_ports(1)
    config.write_text(f"listen: localhost:{port}\n")
    gateway = start("--config", config, listen=None)
    device = gateway.device()
    with gateway.connect() as connection:
        for host in ["0.0.0.0", "127.0.0.1", "[::]", "0.0.0.0", "localhost"]:
            config.write_text(f"listen: '{host}:{port}'\n")
            assert reload(gateway).json["changed"] == ["listen"]
            assert gateway.push(device.token, connection=connection).status == 200
            socket.create_connection(("127.0.0.1", port), timeout=HANG).close()
    # A second gateway can't share the port.
    other = run("serve", "--listen", f"0.0.0.0:{port}", state=tmp_path / "other")
    assert other.code == 1 and "it is in use by" in other.err


@pytest.mark.parametrize("text, words", [
    ("rate_limit: many\n", "rate_limit"), ("no_such: 1\n", "no_such"), ("listen: 192.0.2.1:1\n", "192.0.2.1:1"),
    ("client_ca: /no/such.pem\n", "/no/such.pem"), ("[", "YAML"),
])
def test_a_reload_of_what_can_not_be_used_changes_nothing(start, tmp_path, text, words):
    config = tmp_path / "config.yaml"
    config.write_text("listen: 127.0.0.1:0\nteam_rate: 1000000\n")
    gateway = start("--config", config, listen=None)
    config.write_text(text)
    refused = reload(gateway, code=1)
    assert words in refused.err and "the settings are unchanged" in refused.err
    gateway.process.send_signal(signal.SIGHUP)
    gateway.wait_for_log("the settings were not reloaded")
    assert gateway.push(gateway.device().token).status == 200


def shown(gateway) -> bytes:
    with gateway.connect() as connection:
        return connection.socket.getpeercert(binary_form=True)


def test_a_certificate_that_changes_on_disk_is_used_while_pushes_are_sent(start):
    gateway = start()
    device = gateway.device()
    before = shown(gateway)
    files = [gateway.state / "server.pem", gateway.state / "server.key"]
    old = [file.read_bytes() for file in files]
    gateway.run("certs", "create-server", "--name", "push.example.com")
    new = [file.read_bytes() for file in files]
    with gateway.connect() as connection:
        # The client reads SETTINGS and acknowledges them; the gateway gives it ten seconds for that.
        connection.ping()
        # First what does not fit together, as whoever writes one file after the other leaves it for a moment.
        files[0].write_bytes(old[0])
        assert "the settings are unchanged" in reload(gateway, code=1).err
        files[1].write_bytes(old[1])
        reload(gateway)
        assert shown(gateway) == before
        said = "the certificate was replaced"
        # The count is taken before the files change. A line about the old files may still come: the certificate tells.
        count = gateway.log.count(said)
        for file, content in zip(files, new):
            file.write_bytes(content)
        # Without being asked, too: it looks every ten seconds.
        gateway.until_logged(lambda: gateway.log.count(said) > count and shown(gateway) != before, said)
        assert gateway.push(device.token, connection=connection).status == 200


# Starting again


class Sender(threading.Thread):
    """Pushes one after another on connections of its own, as a client library does: what has no answer is sent again."""

    def __init__(self, gateway, device):
        super().__init__(daemon=True)
        self.gateway, self.device = gateway, device
        self.accepted, self.statuses, self.refusals, self.changed = [], set(), [], Bell()
        self.is_done = threading.Event()

    def run(self):
        connection = None
        while not self.is_done.is_set():
            apns_id = str(uuid.uuid4())
            while True:
                try:
                    connection = connection or self.gateway.connect()
                    response = self.gateway.push(self.device.token, connection=connection, apns_id=apns_id)
                    if response.reset is None:
                        break
                except ConnectionRefusedError as error:
                    self.refusals.append(str(error))
                except (Closed, OSError):
                    pass
                except ProtocolError:
                    # After GOAWAY the library neither takes nor sends a frame: the connection is over.
                    if connection.goaway is None:
                        raise
                connection = None
            self.statuses.add(response.status)
            self.accepted.append(apns_id)
            self.changed.ring()


def load(gateway, count=4):
    senders = [Sender(gateway, gateway.device()) for _ in range(count)]
    for sender in senders:
        sender.start()
    wait_for(lambda: all(sender.accepted for sender in senders), "pushes are accepted", *[one.changed for one in senders])
    return senders


def settle(gateway, senders):
    """Ends the load; nothing was refused, and each push that was accepted is delivered, once."""
    for sender in senders:
        sender.is_done.set()
        sender.join(HANG)
        assert not sender.is_alive()
    for sender in senders:
        assert sender.statuses == {200} and not sender.refusals
        stream = gateway.stream(sender.device)
        pushes = [line["id"] for line in stream.caught_up() if line["type"] == "push"]
        assert pushes == sender.accepted
        stream.connection.close()


@pytest.mark.parametrize("way", ["command", "signal"])
def test_a_restart_under_load_refuses_nobody_and_loses_nothing(start, way):
    gateway = start()
    pid = gateway.process.pid
    senders = load(gateway)
    for number in range(3):
        counts = [len(sender.accepted) for sender in senders]
        if way == "command":
            assert "seconds" in gateway.run("admin", "restart", "--json").json
        else:
            gateway.process.send_signal(signal.SIGUSR2)
            gateway.wait_for_log("listening on", count=number + 2)
        wait_for(lambda: all(len(s.accepted) > n + 10 for s, n in zip(senders, counts)), "pushes go on",
                 *[one.changed for one in senders])
    assert gateway.process.poll() is None and gateway.process.pid == pid
    assert (gateway.state / "listening").read_text().strip() == gateway.address
    settle(gateway, senders)


def test_a_gateway_that_restarts_takes_further_requests_for_it(start):
    gateway = start()
    while gateway.process.poll() is None and gateway.log.count("listening on") < 4:
        gateway.process.send_signal(signal.SIGUSR2)
    assert gateway.process.poll() is None
    # A request to stop has its effect among them. Between two programs the signal's default action ends the process.
    gateway.terminate()
    assert gateway.ended() in (0, -signal.SIGTERM)
    gateway.process = None


@pytest.mark.parametrize("command", ["serve", "subscribe"])
def test_no_request_to_stop_is_ignored_at_a_start(start, tmp_path, command):
    needs_strace()
    calls = tmp_path / "calls"
    tracer = ["strace", "-D", "-f", "-o", str(calls), "-e", "trace=rt_sigaction"]
    gateway = start(wrapper=tracer if command == "serve" else ())
    if command == "serve":
        gateway.stop()
    else:
        subscriber = Subscriber(gateway, gateway.device(), path=tmp_path / "lines", wrapper=tracer).connected()
        subscriber.process.terminate()
        assert subscriber.wait() == 130
        subscriber.close()
    actions = [line for line in calls.read_text().splitlines() if "rt_sigaction(SIGTERM, {" in line]
    assert actions and not [line for line in actions if "SIG_IGN" in line]


def test_a_restart_listens_on_changed_addresses(start, tmp_path):
    config = tmp_path / "config.yaml"
    [port] = free_ports(1)
    config.write_text(f"listen: localhost:{port}\n")
    gateway = start("--config", config, listen=None)
    pid = gateway.process.pid
    config.write_text(f"listen: 0.0.0.0:{port}\n")
    gateway.run("admin", "restart")
    assert (gateway.state / "listening").read_text().split() == [f"0.0.0.0:{port}"]
    assert gateway.process.poll() is None and gateway.process.pid == pid
    gateway.addresses = [("127.0.0.1", port)]
    assert gateway.push(gateway.device().token).status == 200


def test_a_restart_with_an_address_that_is_in_use_is_refused(start, tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("listen: 127.0.0.1:0\n")
    gateway = start("--config", config, listen=None)
    with socket.create_server(("127.0.0.1", 0)) as other:
        config.write_text(f"listen: 127.0.0.1:{other.getsockname()[1]}\n")
        refused = gateway.run("admin", "restart", code=1)
        assert "the running gateway is unchanged: can't listen on" in refused.err
        gateway.process.send_signal(signal.SIGUSR2)
        gateway.wait_for_log("restart refused")
        assert gateway.push(gateway.device().token).status == 200


def is_monitored(gateway, address):
    """Whether the gateway announces this address of HTTP/1.1 alone, where it then answers."""
    if (gateway.state / "http-listening").read_text().split() != [address]:
        return False
    with urllib.request.urlopen(f"http://{address.replace('0.0.0.0', '127.0.0.1')}/healthz", timeout=HANG) as answer:
        return answer.status == 200


def test_a_restart_serves_monitors_at_changed_addresses(start, tmp_path):
    config = tmp_path / "config.yaml"
    [port, other] = free_ports(2)
    gateway = None
    for address in [f"127.0.0.1:{port}", f"0.0.0.0:{port}", f"localhost:{port}", f"127.0.0.1:{other}"]:
        config.write_text(f"listen: 127.0.0.1:0\nhttp_listen: {address}\n")
        if gateway:
            gateway.run("admin", "restart")
        else:
            gateway = start("--config", config, listen=None)
            pid = gateway.process.pid
        eventually(lambda: is_monitored(gateway, address), "monitors find the address")
        assert gateway.process.poll() is None and gateway.process.pid == pid
    assert gateway.push(gateway.device().token).status == 200


@pytest.mark.parametrize("setting", ["http_listen", "metrics_token_file", "certificate"])
def test_a_restart_that_the_next_program_would_not_survive_is_refused(start, tmp_path, setting):
    config = tmp_path / "config.yaml"
    [port] = free_ports(1)
    wanted = f"listen: 127.0.0.1:0\nhttp_listen: 127.0.0.1:{port}\n"
    config.write_text(wanted)
    gateway = start("--config", config, listen=None)
    missing = tmp_path / "missing"
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = f"127.0.0.1:{other.getsockname()[1]}"
        config.write_text({
            "http_listen": f"listen: 127.0.0.1:0\nhttp_listen: {taken}\n",
            "metrics_token_file": wanted + f"metrics_token_file: {missing}\n",
            "certificate": wanted + f"certificate: {missing}\ncertificate_key: {missing}\n"}[setting])
        refused = gateway.run("admin", "restart", code=1)
        assert "the running gateway is unchanged" in refused.err
        assert (f"can't listen on {taken}: it is in use" if setting == "http_listen" else str(missing)) in refused.err
        gateway.process.send_signal(signal.SIGUSR2)
        gateway.wait_for_log("restart refused")
        assert is_monitored(gateway, f"127.0.0.1:{port}")
        assert gateway.push(gateway.device().token).status == 200
    config.write_text(wanted)
    gateway.run("admin", "restart")
    eventually(lambda: is_monitored(gateway, f"127.0.0.1:{port}"), "monitors find the address again")


def test_devices_come_back_after_a_restart(start, subscribe):
    gateway = start()
    device = gateway.device()
    subscriber = subscribe(gateway, device, "--count", 2)
    subscriber.connected()
    first = gateway.accepted(device.token)
    subscriber.has(1)
    gateway.run("admin", "restart")
    second = gateway.accepted(device.token)
    assert subscriber.wait() == 0
    assert [line["id"] for line in subscriber.lines] == [first, second]


def test_a_program_that_would_not_start_changes_nothing(start, tmp_path):
    program = tmp_path / "pushcli"
    shutil.copy(PUSHCLI, program)
    gateway = start(program=program)
    (gateway.state / "config.yaml").write_text("rate_limit: many\n")
    assert "rate_limit" in gateway.run("admin", "restart", code=1).err
    (gateway.state / "config.yaml").unlink()
    program.unlink()
    assert "can't be run" in gateway.run("admin", "restart", code=1).err
    program.write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    program.chmod(0o755)
    assert "broken" in gateway.run("admin", "restart", code=1).err
    assert gateway.push(gateway.device().token).status == 200
    program.unlink()
    shutil.copy(PUSHCLI, program)
    gateway.run("admin", "restart")
    assert gateway.push(gateway.device().token).status == 200
