"""A real Prometheus reads a gateway by the configuration that is shipped, and its alerts fire as they should."""

import json
import socket
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from test_http import http_address
from waiting import HANG, eventually

DEPLOY = Path(__file__).resolve().parents[2] / "deploy" / "prometheus"


def promtool(*arguments):
    done = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_is_shipped_is_right():
    assert "SUCCESS" in promtool("check", "rules", DEPLOY / "alerts.yaml")
    assert "SUCCESS" in promtool("check", "config", DEPLOY / "prometheus.yaml")
    assert "SUCCESS" in promtool("test", "rules", DEPLOY / "alerts-test.yaml")


class Prometheus:
    """A Prometheus with the shipped configuration, but for the gateway's address and the pace."""

    def __init__(self, gateway, folder):
        # Nobody else is given this port while it is bound, and Prometheus may listen on it, as both allow its reuse.
        self.port = socket.socket()
        self.port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.port.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.port.getsockname()[1]}"
        shipped = (DEPLOY / "prometheus.yaml").read_text()
        config = shipped.replace("127.0.0.1:2198", http_address(gateway)).replace("interval: 15s", "interval: 1s")
        assert config.count("interval: 1s") == 2 and http_address(gateway) in config
        (folder / "prometheus.yaml").write_text(config)
        # So that a test need not wait for minutes.
        rules = (DEPLOY / "alerts.yaml").read_text()
        (folder / "alerts.yaml").write_text(rules.replace("for: 1m", "for: 0s"))
        self.log = open(folder / "prometheus.log", "wb")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yaml", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address={self.address}", "--log.level=warn"],
            stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)

    def get(self, path, **query):
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=HANG) as answer:
                return json.load(answer)["data"]
        except OSError:
            return None  # It is not there yet.

    def value(self, query):
        """The value of the first sample; None where there is none yet."""
        found = self.get("query", query=query)
        return float(found["result"][0]["value"][1]) if found and found["result"] else None

    @property
    def target(self):
        """The health of the gateway, and what went wrong with the last scrape."""
        target = self.get("targets")["activeTargets"][0]
        return target["health"], target["lastError"]

    def alerts(self):
        return {alert["labels"]["alertname"] for alert in (self.get("alerts") or {"alerts": []})["alerts"]
                if alert["state"] == "firing"}

    def stop(self):
        self.process.terminate()
        self.process.wait(HANG)
        self.log.close()
        self.port.close()


@pytest.fixture
def prometheus(start, tmp_path):
    gateway = start()
    prometheus = Prometheus(gateway, tmp_path)
    yield gateway, prometheus
    prometheus.stop()


def test_prometheus_scrapes_a_gateway_and_tells_when_it_is_gone(prometheus):
    gateway, prometheus = prometheus
    eventually(lambda: prometheus.value("up") == 1, "the gateway is up")
    device = gateway.device()
    gateway.accepted(device.token)
    query = 'pushgateway_requests_accepted_total{as="stored"}'
    eventually(lambda: prometheus.value(query) == 1, "a push is counted")
    # A scrape that takes longer than its second leaves no values until the next one.
    eventually(lambda: prometheus.value("pushgateway_mailbox_pushes") == 1, "the push is in the mailbox")
    eventually(lambda: prometheus.value("pushgateway_build_info") == 1, "the build is told")
    eventually(lambda: (prometheus.value("process_cpu_seconds_total") or 0) > 0, "the time of the process is counted")
    eventually(lambda: prometheus.target == ("up", ""), "the target is up")
    # Every kind and help came over.
    metadata = prometheus.get("metadata")
    assert metadata["pushgateway_accept_seconds"][0]["type"] == "histogram"
    assert metadata["pushgateway_requests_accepted"][0]["type"] == "counter"
    # Every question of the dashboard is understood.
    dashboard = json.loads((DEPLOY.parent / "grafana" / "pushgateway.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            query = target["expr"].replace("$__rate_interval", "1m").replace("$instance", ".*")
            assert prometheus.get("query", query=query) is not None, query
    eventually(lambda: prometheus.get("rules"), "the rules are there")
    eventually(lambda: prometheus.alerts() == set(), "no alert fires")
    gateway.kill()
    eventually(lambda: "PushGatewayDown" in prometheus.alerts(), "the alert fires")
