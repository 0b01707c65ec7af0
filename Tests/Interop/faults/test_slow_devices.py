"""Devices that take nothing, and devices that were away for long: what they cost the gateway."""

import subprocess
import uuid

from faultlib import forget_peak, peak, resident
from gateway import Gateway, Subscriber
from waiting import HANG, wait_for
from wire import DeviceStream

MEGABYTE = 1 << 20


def load(gateway, token, count, body, folder, *fields):
    """Sends pushes with h2load, which is much faster than Python, and sees that all are accepted."""
    payload = folder / f"payload-{uuid.uuid4().hex[:8]}"
    payload.write_bytes(body)
    head = [f"{name}: {value}" for name, value in gateway.fields() + list(fields)]
    done = subprocess.run(
        ["h2load", "-n", str(count), "-c", "4", "-m", "100", "-d", str(payload),
         *[part for line in head for part in ("-H", line)], f"https://{gateway.address}/3/device/{token}"],
        capture_output=True, text=True, timeout=HANG)
    assert f"{count} 2xx" in done.stdout, done.stdout + done.stderr


def end_of(path) -> bytes:
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - 4096))
        return file.read()


def deaf_stream(gateway, device) -> DeviceStream:
    """A stream that gives the gateway no room: it answers PINGs, and takes no more than the first 64 KiB."""
    stream = gateway.stream(device)
    stream.connection.h2.acknowledge_received_data = lambda *_: None
    return stream


def test_a_device_that_takes_nothing_costs_bounded_memory_and_slows_nobody(tmp_path):
    """40,000 pushes of 4 KB, 160 MB, for five devices that take nothing; and a sixth that does."""
    gateway = Gateway(tmp_path / "state", "--mailbox-cap", 1_000_000).start()
    try:
        body = b'{"aps":{"alert":"%s"}}' % (b"x" * 4000)
        warm = gateway.device()
        load(gateway, warm.token, 2_000, body, tmp_path)
        deaf = [gateway.device() for _ in range(5)]
        streams = [deaf_stream(gateway, device) for device in deaf]
        before = resident(gateway.process.pid)
        for device in deaf:
            load(gateway, device.token, 8_000, body, tmp_path)
        cost = resident(gateway.process.pid) - before
        print(f"{cost / MEGABYTE:.0f} MB more for 160 MB that five devices do not take")
        assert cost < 48 * MEGABYTE

        device = gateway.device()
        subscriber = Subscriber(gateway, device, path=tmp_path / "subscriber")
        load(gateway, device.token, 2_000, body, tmp_path)
        subscriber.has(2_000)
        subscriber.close()
        for stream in streams:
            stream.connection.close()
    finally:
        gateway.stop()


def test_what_is_replaced_again_and_again_costs_a_device_that_takes_nothing_no_memory(tmp_path):
    """Each of 100,000 pushes replaces the one before it, and retracts it: none of that piles up."""
    gateway = Gateway(tmp_path / "state").start()
    try:
        device = gateway.device()
        body = b'{"aps":{"alert":"%s"}}' % (b"x" * 4000)
        stream = deaf_stream(gateway, device)
        load(gateway, device.token, 5_000, body, tmp_path)  # Its stream has no room from here on.
        load(gateway, device.token, 10_000, b'{"aps":{"badge":1}}', tmp_path, ("apns-collapse-id", "a"))
        before = resident(gateway.process.pid)
        load(gateway, device.token, 100_000, b'{"aps":{"badge":2}}', tmp_path, ("apns-collapse-id", "a"))
        cost = resident(gateway.process.pid) - before
        print(f"{cost / MEGABYTE:.1f} MB more after 100,000 retractions")
        assert cost < 8 * MEGABYTE
        stream.connection.close()
    finally:
        gateway.stop()


def test_a_hundred_thousand_waiting_pushes_are_caught_up_without_holding_them(tmp_path):
    gateway = Gateway(tmp_path / "state", "--mailbox-cap", 1_000_000).start()
    try:
        device = gateway.device()
        # 100 MB of payloads.
        load(gateway, device.token, 100_000, b'{"aps":{"alert":"%s"}}' % (b"x" * 1_000), tmp_path)
        before = resident(gateway.process.pid)
        forget_peak(gateway.process.pid)
        subscriber = Subscriber(gateway, device, path=tmp_path / "subscriber")
        path = subscriber.path
        wait_for(lambda: b'"seq":100000,' in end_of(path), "the last one has arrived", path, subscriber.process)
        cost = peak(gateway.process.pid) - before
        print(f"{cost / MEGABYTE:.1f} MB more at the most while 100,000 pushes went out")
        assert [line["seq"] for line in subscriber.lines] == list(range(1, 100_001))
        assert cost < 48 * MEGABYTE
        subscriber.close()
    finally:
        gateway.stop()
