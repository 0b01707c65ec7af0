"""The version of the device protocol (docs/reference/device-protocol.md): ends of different versions understand each other."""

import pytest

from hostile import HostileGateway
from test_killers import push

#: This version, as `GatewayProtocol/DeviceProtocol` has it.
VERSION = 3


@pytest.mark.parametrize(
    "hello", [{}, {"version": 1}, {"version": VERSION}, {"version": 900, "later": {"deep": [1]}}, {"version": "x"}],
    ids=["before", "1", "this", "later", "none"])
def test_a_device_of_any_version_is_served(gateway, hello):
    device = gateway.device()
    waiting = gateway.accepted(device.token)
    stream = gateway.stream(device, **hello)
    assert stream.next("welcome")["version"] == VERSION
    push = stream.next("push")
    assert push["id"] == waiting and gateway.are_numbered([push], 1)
    assert stream.next("caught-up")["seq"] == push["seq"]
    stream.say(type="later", seq=push["seq"])
    stream.say(type="ack", seq=push["seq"], later=True)
    live = gateway.accepted(device.token)
    push = stream.next("push")
    assert push["id"] == live
    stream.acknowledge(push["seq"])
    gateway.events(live, until="acknowledged")
    stream.connection.close()


@pytest.mark.parametrize(
    "welcome",
    [
        b'{"type":"welcome","gateway":"old","device":"d","apps":[],"preferences":{}}',
        b'{"type":"welcome","version":1,"gateway":"old","device":"d","apps":[],"preferences":{}}',
        b'{"type":"welcome","version":900,"gateway":"new","later":[{}],"apps":[{"topic":"t","later":1}],"preferences":{}}',
        b'{"type":"welcome","version":"x","gateway":"odd"}',
    ],
    ids=["before", "1", "later", "none"])
def test_a_gateway_of_any_version_serves_pushcli(gateway, welcome):
    device = gateway.device()
    lines = [welcome, b'{"type":"later","seq":1}', push(1), push(2, later={"deep": [1]}), b'{"type":"caught-up","seq":2,"later":1}']
    with HostileGateway(gateway.state, lines) as hostile:
        done = gateway.run("subscribe", "--device", device.name, "--gateway", hostile.address, "--json", "--count", 2)
        assert [record["seq"] for record in done.records] == [1, 2]
        hostile.wait(lambda received: {"type": "ack", "seq": 2} in received)
        hello = hostile.received[0]
    assert hello == {"type": "hello", "version": VERSION, "cursor": 0, "silent": False}
