"""Test gateways: assert the pushes that an unmodified sender sends to APNs.

With pytest, the fixture `push` is all a test needs. Other programs start a gateway as a context manager:

    with pushgateway.Server() as gateway:
        phone = gateway.device(topic="com.example.train")
        send_train(gateway.url, gateway.ca, phone.token)
        phone.expect(title="Train in 5 Minutes", presented=True)
"""

from .api import GatewayAPI, GatewayError
from .failure import ExpectationFailed
from .gateway import Device, Gateway
from .program import find_program
from .records import Push, ReportLine
from .server import Server

__version__ = "0.2.0"
__all__ = [
    "Device", "ExpectationFailed", "Gateway", "GatewayAPI", "GatewayError", "Push", "ReportLine", "Server", "find_program",
]
