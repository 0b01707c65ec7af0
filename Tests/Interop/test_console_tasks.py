"""Sixteen tasks in the console, from its first page on: eight of an operator and eight of a sender, with the time of each."""

import json
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from test_console import Console, link, quiet_push
from test_web import chromium  # noqa: F401

pytestmark = pytest.mark.alone("the page is of one gateway")


class Tasks:
    """The tasks of a person, with their times in seconds. The times are reported, and none of them decides."""

    def __init__(self, console):
        self.console, self.page, self.times = console, console.page, {}

    @contextmanager
    def task(self, name):
        start = time.monotonic()
        yield self.page
        self.times[name] = time.monotonic() - start

    def choose(self, name):
        """Clicks a page in the navigation."""
        self.page.click(f"nav a >> text='{name}'")

    def confirm(self):
        self.page.click("dialog[open] form button >> nth=-1")

    def report(self):
        for name, seconds in self.times.items():
            print(f"{seconds:6.2f} s  {name}")
        return len(self.times)


@pytest.fixture
def tasks(start, chromium, tmp_path):  # noqa: F811
    gateway = start()
    console = Console(gateway, chromium, tmp_path / "profile", link(gateway))
    console.live()
    yield Tasks(console)
    console.close()


def test_eight_tasks_of_an_operator(tasks):
    gateway, page = tasks.console.gateway, tasks.page
    device = gateway.device(name="phone")
    sent = quiet_push(gateway, "phone", device)
    gateway.enroll("tablet")
    with tasks.task("find why a push was without sound"):
        page.fill("#filter", "device:phone rule:N4")
        page.click(".list .row .event >> text=Not shown")
        page.wait_for_selector(".steps .why >> text=No sound: sound is off")
        assert sent in page.url
    with tasks.task("register a device for an app"):
        tasks.choose("Devices")
        page.click(".list a >> text=tablet")
        page.click("text=Register …")
        tasks.confirm()
        page.wait_for_selector(".toast >> text=Registered tablet")
    with tasks.task("invite a device of another machine"):
        tasks.choose("Invitations")
        page.click("text=Invite …")
        page.fill("#field-host", "push.example:2197")
        tasks.confirm()
        page.wait_for_selector("dialog svg[role=img]")
        page.click("dialog button >> text=Done")
    with tasks.task("make a key and save it"):
        tasks.choose("Keys")
        page.click("text=Create …")
        tasks.confirm()
        with page.expect_download() as download:
            page.click("dialog button >> text=Save AuthKey_")
        assert "PRIVATE KEY" in Path(download.value.path()).read_text()
        page.click("dialog button >> text=Done")
    with tasks.task("set a fault and end it"):
        tasks.choose("Faults")
        page.click("text=Set Scenario …")
        page.select_option("#field-scenario", "An outage")
        tasks.confirm()
        page.wait_for_selector(".faults >> text=outage")
        page.click(".list a >> text=outage")
        page.click("button >> text=Remove")
        page.wait_for_selector(".faults", state="hidden")
    with tasks.task("read the end of the certificate and the durability"):
        tasks.choose("Status")
        page.wait_for_selector(".facts >> text=ends in")
        assert "survives" in page.inner_text(".facts")
    with tasks.task("save the refused pushes as a file"):
        gateway.push(device.token, {"aps": {"badge": -1}})
        tasks.choose("Activity")
        page.select_option("[data-name=event]", "refused")
        page.wait_for_selector(".list .row >> text=Refused")
        page.click("summary >> text=Export")
        with page.expect_download() as download:
            page.click(".menu button >> text='CSV'")
        assert ",refused," in Path(download.value.path()).read_text()
    with tasks.task("remove a device"):
        tasks.choose("Devices")
        page.click(".list a >> text=tablet")
        page.click("text=Remove …")
        tasks.confirm()
        page.wait_for_selector(".toast >> text=Done")
        assert [one["name"] for one in gateway.devices()] == ["phone"]
    assert tasks.report() == 8


def test_eight_tasks_of_a_sender(tasks):
    gateway, page = tasks.console.gateway, tasks.page
    device = gateway.device(name="phone")
    gateway.prefer("phone", "sound=off")
    stream = gateway.stream(device)
    stream.caught_up()
    with tasks.task("write an alert from a template"):
        tasks.choose("Send")
        page.select_option("[aria-label=Template]", "Alert")
        page.fill("#send-title", "storm warning")
        page.wait_for_selector(".preview .alert >> text=storm warning")
    with tasks.task("correct a finding"):
        page.click(".findings button >> text=Use “Storm Warning”")
        page.wait_for_selector(".findings >> text=No findings")
    with tasks.task("see what a device would present"):
        page.fill("#send-to", "phone")
        page.keyboard.press("Tab")
        page.wait_for_selector(".parts li:has(s) >> text=N4")
    with tasks.task("see the alert in the dark on a small phone"):
        page.check("#send-dark")
        page.select_option("[aria-label='Size of the phone']", "Small")
        assert page.evaluate("() => getComputedStyle(document.querySelector('.preview')).colorScheme") == "dark"
    with tasks.task("send the push and follow it"):
        page.click("button >> text='Send'")
        page.wait_for_selector(".result .steps >> text=Not shown")
        stream.next("push")
    with tasks.task("open the link of the push, and find it by its id"):
        page.click("text=Link of this push")
        page.wait_for_selector(".verdict")
        sent = page.url.rsplit("/", 1)[1]
        tasks.choose("Activity")
        page.fill("#filter", sent)
        page.wait_for_selector(".list .row >> text=Accepted")
    with tasks.task("keep a template and use it"):
        tasks.choose("Send")
        page.click("summary >> text=Templates")
        page.fill("[aria-label='Name of the template']", "Storm")
        page.click("button >> text='Save'")
        page.select_option("[aria-label=Template]", "Badge Only")
        page.select_option("[aria-label=Template]", "Storm")
        assert page.input_value("#send-title") == "Storm Warning"
    with tasks.task("see why a push is refused"):
        page.fill("#send-json", json.dumps({"aps": {"badge": -1}}))
        page.wait_for_selector(".decision >> text=would refuse this push")
        page.click("button >> text='Send'")
        page.wait_for_selector(".result .error >> text=Rule B1 at /aps/badge")
    assert tasks.report() == 8


#: Reads the draft of the form. The browser reads it after the writes before.
DRAFT = """() => new Promise((resolve) => {
  indexedDB.open("console").onsuccess = ({ target: { result } }) => {
    result.transaction("drafts").objectStore("drafts").get("send").onsuccess = ({ target }) => { result.close(); resolve(target.result); };
  };
})"""


def test_a_draft_is_in_the_database_as_soon_as_it_is_typed(tasks):
    page = tasks.page
    tasks.choose("Send")
    page.fill("#send-title", "Storm")
    page.click("summary >> text=Headers")
    page.fill("#send-collapse", "storm")
    draft = page.evaluate(DRAFT)
    assert (json.loads(draft["json"])["aps"]["alert"]["title"], draft["collapse"]) == ("Storm", "storm")
    page.reload()
    page.wait_for_selector(".preview .alert >> text=Storm")
    assert (page.input_value("#send-title"), page.input_value("#send-collapse")) == ("Storm", "storm")
