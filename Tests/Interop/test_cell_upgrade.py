"""Gateways of a cell that are upgraded one after the other, while the others work.

PUSHCLI_OLD names the program of an earlier version; without it both are the same version, and what is shown is a rolling
restart.
"""

import json
import os

import pytest
from brokers import Brokers, Cell, needs_brokers
from cluster_kills import replicas
from gateway import PUSHCLI
from waiting import eventually
from test_cell_failures import accepted, has, phone_of, record  # noqa: F401 (a fixture)

pytestmark = [needs_brokers, pytest.mark.xdist_group("cell-upgrade")]

OLD = os.environ.get("PUSHCLI_OLD", PUSHCLI)


@pytest.fixture
def cell(tmp_path):
    brokers = Brokers(tmp_path / "brokers").start()
    cell = Cell(tmp_path, brokers)
    for gateway in cell.gateways:
        gateway.program = OLD
    yield cell.start()
    cell.close()
    brokers.close()


def upgrade(gateway):
    gateway.stop()
    gateway.program = PUSHCLI
    gateway.restart()


def names(gateway):
    return sorted(each["name"] for each in gateway.devices())


def test_gateways_are_upgraded_one_after_the_other(cell, record):  # noqa: F811
    first, second = cell.gateways
    phone = phone_of(cell)
    recorder = record(second, phone)
    sent = [accepted(gateway, phone) for gateway in cell.gateways]
    has(recorder, *sent)

    # The later beside the earlier: pushes, and what is set, go both ways. The device goes to where it is served.
    first.stop()
    sent += [accepted(second, phone) for _ in range(3)]
    first.program = PUSHCLI
    first.restart()
    sent += [accepted(gateway, phone) for gateway in cell.gateways * 5]
    has(recorder, *sent)
    here = [first.device().name, second.device().name]
    for gateway in cell.gateways:
        eventually(lambda: set(here) <= set(names(gateway)), "both know what was made at either")

    upgrade(second)
    sent += [accepted(gateway, phone) for gateway in cell.gateways * 5]
    has(recorder, *sent)
    assert names(first) == names(second) and set(here) <= set(names(first))
    eventually(lambda: len({json.dumps(state, sort_keys=True) for state in replicas(cell.brokers)}) == 1,
               "all brokers have the same")
