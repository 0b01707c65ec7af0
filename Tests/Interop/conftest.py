import os
import signal
import uuid
from pathlib import Path

import pytest

from brokers import BalancedCell, Brokers, Cell
from gateway import Gateway, Subscriber

# A run in the background ignores SIGINT, and so would all that is started here: a shell can't take that back.
signal.signal(signal.SIGINT, signal.default_int_handler)

#: What the tests speak to: with INTEROP_CELL=1 a cell of two gateways behind a balancer.
Served = BalancedCell if os.environ.get("INTEROP_CELL") else Gateway


#: The files that take longest, longest first. A process takes a file as a whole, so these begin before all others.
LONG = """
    cell_failures commands wrong phone_durability beside ask extremes python_client own_server killers owners wire faults service
    cluster_kills cell_move completion prometheus sharing cell cluster renewal scheduled
""".split()


def pytest_collection_modifyitems(items):
    places = {f"test_{name}": place for place, name in enumerate(LONG)}
    assert all((Path(__file__).parent / f"{name}.py").exists() for name in places)
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))


def pytest_runtest_setup(item):
    mark = item.get_closest_marker("alone")
    if mark and Served.is_cell:
        pytest.skip(f"of one machine: {mark.args[0]}")


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    """A gateway with nothing configured, for the tests of a module."""
    gateway = Served(tmp_path_factory.mktemp("gateway") / "state").start()
    yield gateway
    gateway.close()


@pytest.fixture
def start(tmp_path):
    """Starts a gateway of the test's own: `start("--rate-limit", 1)`."""
    gateways = []

    def start(*options, name="state", **more):
        gateway = Served(tmp_path / name, *options, **more)
        gateways.append(gateway)
        return gateway.start()

    yield start
    for gateway in gateways:
        gateway.close()


@pytest.fixture(scope="module")
def cell_of_module(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cell")
    brokers = Brokers(folder / "brokers").start()
    cell = Cell(folder, brokers)
    try:
        yield cell.start()
    finally:
        cell.close()
        brokers.close()


@pytest.fixture
def cell(cell_of_module):
    """Two gateways that share three brokers, those of the module; what a test kills is started again after it."""
    yield cell_of_module
    cell_of_module.mend()


@pytest.fixture
def name():
    """A name that no other device has."""
    return f"phone-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def subscribe(tmp_path):
    """Starts `pushcli subscribe --json`."""
    running = []

    def subscribe(gateway, device, *options):
        running.append(Subscriber(gateway, device, *options, path=tmp_path / f"subscriber-{len(running)}"))
        return running[-1]

    yield subscribe
    for subscriber in running:
        subscriber.close()


@pytest.fixture
def device(gateway):
    """A new device, registered for the sample app."""
    return gateway.device()


@pytest.fixture
def connection(gateway):
    """A connection to the module's gateway."""
    with gateway.connect() as connection:
        # The client acknowledges SETTINGS when it reads them; the gateway gives it ten seconds for that.
        connection.until(lambda: connection.settings)
        yield connection
