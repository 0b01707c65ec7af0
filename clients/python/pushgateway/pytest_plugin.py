"""The pytest plugin: the fixture `push` is a device with a token of its own for each test."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Iterator

import pytest

from .api import GatewayError
from .gateway import Device, Gateway
from .server import Server


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("pushgateway_topic", "The topic of the devices of tests.", default="com.example.app")
    parser.addini("pushgateway_within", "The time limit of push.expect(), as 10s.", default="2s")
    parser.addini(
        "pushgateway_strict", "Accept only registered keys, apps, device tokens and certificates.", type="bool", default=False)
    parser.addini(
        "pushgateway_record", "A file to which the gateway writes all pushes; with xdist one for each worker.", default="")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "push(topic=None, preferences=None, token=None, channels=None, within=None): settings of the device of the fixture `push`.")


def _recording(config: pytest.Config) -> Path | None:
    """The file for the pushes of this process: with xdist its name has the worker."""
    if not config.getini("pushgateway_record"):
        return None
    path = config.rootpath / config.getini("pushgateway_record")
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    return path.with_name(f"{path.stem}-{worker}{path.suffix}") if worker else path


@pytest.fixture(scope="session")
def push_gateway(pytestconfig: pytest.Config) -> Iterator[Gateway]:
    """The test gateway of this process: the one of `pushcli test-run`, or one that ends with the session."""
    strict = pytestconfig.getini("pushgateway_strict")
    gateway = Gateway.from_environment()
    if gateway and strict and not gateway.status()["strict"]:
        raise GatewayError("pushgateway_strict is set for a gateway that is not strict: start it with `pushcli test-run --strict`")
    with gateway or Server(strict=strict, record=_recording(pytestconfig)) as gateway:
        yield gateway


@pytest.fixture
def push(request: pytest.FixtureRequest, pytestconfig: pytest.Config, push_gateway: Gateway) -> Iterator[Device]:
    """A device with a token of its own, by which the test asserts its pushes."""
    mark = request.node.get_closest_marker("push")
    settings = {name: pytestconfig.getini(f"pushgateway_{name}") for name in ("topic", "within")}
    device = push_gateway.device(**settings | (mark.kwargs if mark else {}))
    yield device
    push_gateway.restore()
    try:
        device.remove()
    except GatewayError as error:
        # The test may have removed it.
        if error.status != 404:
            raise
