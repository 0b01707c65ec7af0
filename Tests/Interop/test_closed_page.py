"""A closed page in Chromium: its worker shows the messages that the gateway sends to a push service, here one of the test."""

import json

import pytest

from gateway import TOPIC
from test_push_service import PATH, gateway, service  # noqa: F401
from test_senders import Sender
from test_web import Browser, chromium  # noqa: F401
from test_web_page import OPEN
from test_web_push import address, send, without_proxy  # noqa: F401

pytestmark = pytest.mark.alone("the page is of one gateway")

SUBSCRIBE = """async ([path, body]) => {
  const response = await fetch(path, { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  return response.status;
}"""
#: Gives the worker a message, as the push service of the browser does, and returns its notifications.
ARRIVE = """async (bytes) => {
  await arrived(read({ arrayBuffer: () => Uint8Array.from(bytes).buffer }));
  return (await registration.getNotifications()).map(({ title, body }) => [title, body]);
}"""


class ClosedPage:
    """A browser that has subscribed at the push service of the test, without a page."""

    def __init__(self, browser, service):  # noqa: F811
        self.browser, self.service = browser, service
        browser.page.evaluate("() => navigator.serviceWorker.ready.then(() => {})")
        browser.context.grant_permissions(["notifications"], origin=browser.address.removesuffix("/phone"))
        [self.worker] = browser.context.service_workers
        service.public = browser.page.evaluate("async (path) => (await (await fetch(path)).json()).key", PATH)
        body = {"endpoint": f"{service.origin}/push/1?device=a", "keys": service.browser.keys, "quiet": True}
        assert browser.page.evaluate(SUBSCRIBE, [PATH, body]) == 204
        browser.page.goto("about:blank")

    def receive(self):
        """The titles and the texts of the notifications after the next message."""
        self.service.has(1)
        return self.worker.evaluate(ARRIVE, list(self.service.browser.bytes))


@pytest.fixture
def browser(gateway, chromium, tmp_path, request):  # noqa: F811
    name = request.node.name.removeprefix("test_").replace("_", "-")[:40]
    browser = Browser(gateway, chromium, tmp_path / "profile", name).join()
    yield browser
    browser.context.close()
    assert not browser.complaints


def test_the_worker_decrypts_a_web_push_message(browser, service, address):  # noqa: F811
    browser.show("settings")
    browser.page.click("text=Add an endpoint")
    for field, value in {"name": "blog", "app": TOPIC, "origin": f"http://{address}"}.items():
        browser.page.fill(f"#endpoint-{field}", value)
    browser.page.click("form:has(#endpoint-name) button >> text=Add")
    subscription = json.loads(browser.page.inner_text("pre"))
    closed = ClosedPage(browser, service)
    assert send(subscription, json.dumps({"title": "Backup", "body": "Done ✓"}), ttl=60).status_code == 201
    assert closed.receive() == [["Backup", "Done ✓"]]
    [(_, message)] = service.has(1)
    assert message["presentation"]["alert"]["body"] == "Encrypted message" and b"Backup" not in service.browser.bytes


def test_a_notification_names_the_attachment_and_opens_its_push(gateway, browser, service, tmp_path):  # noqa: F811
    closed = ClosedPage(browser, service)
    file = tmp_path / "report.txt"
    file.write_bytes(b"done\n")
    status, _, answer = Sender(gateway, browser.name).curl("-F", "title=Backup", "-F", "body=Done", "-F", f"attachment=@{file}")
    assert status == 200, answer
    assert closed.receive() == [["Backup", "Done\nAttachment: report.txt (5 bytes)"]]
    [place] = closed.worker.evaluate(OPEN, "Backup")
    browser.page.goto(browser.address.removesuffix("/phone") + place)
    browser.page.wait_for_selector("push-message h1 >> text=Backup")
    browser.page.wait_for_selector("push-message .file a >> text=report.txt")
