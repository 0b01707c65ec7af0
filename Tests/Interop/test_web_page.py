"""The page in Chromium beyond its first use: many pushes, notifications while it is hidden, accessibility, sign-out."""

import importlib.util
from pathlib import Path

import pytest

from gateway import TOPIC
from test_web import Browser, alert, chromium  # noqa: F401
from waiting import eventually

pytestmark = pytest.mark.alone("the page is of one gateway")

PHONE = "document.querySelector('push-phone')"


@pytest.fixture
def browser(gateway, chromium, tmp_path, request):  # noqa: F811
    name = request.node.name.removeprefix("test_").replace("_", "-")[:40]
    browser = Browser(gateway, chromium, tmp_path / "profile", name).join()
    yield browser
    browser.context.close()
    assert not browser.complaints


# Many pushes

#: Appends pushes without an alert to the history, as the stream does, and returns when they are stored and shown.
FILL = f"""async ([first, end]) => {{
  const phone = {PHONE};
  const {{ push }} = phone.state.entries[0];
  for (let start = first; start < end; start += 250) {{
    const pushes = Array.from({{ length: Math.min(250, end - start) }}, (_, index) => ({{
      ...push, seq: 0, id: `FILLED-${{start + index}}`, alert: null, received: push.received - (end - start - index) * 60_000,
      center: {{ ...push.alert, title: `Filled ${{start + index}}`, body: "Text of a push. ".repeat(40) }},
    }}));
    await phone.journal.append(pushes.map((one) => ({{ type: "received", push: one }})));
  }}
}}"""

#: The number of stored changes, and of stored entries.
STORED = """async () => {
  const request = indexedDB.open("phone");
  await new Promise((resolve) => { request.onsuccess = resolve; });
  const count = (name, range) => new Promise((resolve) => {
    request.result.transaction(name).objectStore(name).count(range).onsuccess = ({ target }) => resolve(target.result);
  });
  const counts = [await count("changes"), await count("snapshots", IDBKeyRange.bound(0, Infinity))];
  request.result.close();
  return counts;
}"""

#: Scrolls to a part of the list, waits for its frame, and returns the number of rows in the page.
SCROLL = """async (part) => {
  const list = document.querySelector("push-center .list");
  list.scrollTop = part * (list.scrollHeight - list.clientHeight);
  await new Promise(requestAnimationFrame);
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  return document.querySelectorAll(".row").length;
}"""


def test_ten_thousand_pushes_are_kept_and_scroll(gateway, browser):
    gateway.accepted(browser.token, alert("First"))
    browser.alert()
    browser.close_alerts()
    browser.show("center")
    browser.page.evaluate(FILL, [0, 10_050])
    # The page draws its changes with the next frame.
    eventually(lambda: browser.titles()[0] == "Filled 10049", "the list is drawn")
    assert browser.titles()[-1] == "Filled 50" and len(browser.titles()) == 10_000

    # The history is bounded while the page is open: the newest entries, and few changes that the snapshot lacks.
    def is_bounded():
        changes, others = browser.page.evaluate(STORED)
        return changes <= 1250 and others <= 10_000

    eventually(is_bounded, "the snapshot is written")

    # The time of the page's thread, which other programs do not lengthen.
    session = browser.context.new_cdp_session(browser.page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def used():
        return {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}["TaskDuration"]

    steps = 30
    for by in ("app", "day"):
        browser.page.select_option("select[aria-label=Group]", by)
        before = used()
        assert max(browser.page.evaluate(SCROLL, step / steps) for step in range(steps + 1)) < 80
        assert (used() - before) / steps < 0.05

    browser.page.reload()
    browser.show("center")
    browser.connected()
    # The page shows the snapshot first, and then the changes after it.
    eventually(lambda: browser.titles()[0] == "Filled 10049" and len(browser.titles()) == 10_000, "the history is shown")
    before = browser.titles()
    browser.page.click("text=Clear All")
    browser.page.click("dialog.sheet button >> nth=0")
    browser.page.click("text=Undo Clear All")
    eventually(lambda: len(browser.titles()) == 10_000, "all are there again")
    assert browser.titles() == before


# Notifications while no page is visible

#: What the browser reports of a page that is covered; Chromium without a screen has no covered pages.
HIDE = """(state) => {
  Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
NOTICES = """async () => {
  const registration = await navigator.serviceWorker.ready;
  return (await registration.getNotifications()).map(({ title, actions }) => [title, ...actions.map((one) => one.title)]);
}"""
#: Clicks on a button of the notification with a title. Chromium refuses to show a page without a real click.
CLICK = """async ([title, action]) => {
  const notices = await registration.getNotifications();
  await answerNotice(notices.find((one) => one.title === title), action).catch((error) => {
    if (error.name !== "InvalidAccessError" && error.name !== "NotAllowedError") throw error;
  });
}"""


class Notices:
    """A browser that shows notifications while its page is hidden."""

    def __init__(self, browser):
        self.browser, self.page = browser, browser.page
        assert self.page.evaluate("() => navigator.serviceWorker.ready.then(() => Notification.permission)") != "granted"
        browser.context.grant_permissions(["notifications"], origin=browser.address.removesuffix("/phone"))
        browser.show("settings")
        self.page.click("[id='//device.notices']")
        self.page.wait_for_selector("text=Changed Notifications While Hidden to on")
        [self.worker] = browser.context.service_workers
        self.hide("hidden")

    def hide(self, state):
        self.page.evaluate(HIDE, state)

    def push(self, gateway, payload):
        sent = gateway.accepted(self.browser.token, payload)
        # Chromium removes a notification if they are listed while it is shown.
        gateway.events(sent, "presented")
        assert payload["aps"]["alert"]["title"] in self.titles
        return sent

    @property
    def titles(self):
        """The titles of the notifications, which have no order."""
        return [title for title, *_ in self.page.evaluate(NOTICES)]

    def click(self, title, action):
        self.worker.evaluate(CLICK, [title, action])


def test_a_hidden_page_shows_notifications_that_answer(gateway, browser):
    notices = Notices(browser)
    closed = notices.push(gateway, alert("To Close"))
    assert notices.page.evaluate(NOTICES) == [["To Close", "Close", "View"]]
    gateway.events(closed, "presented")
    notices.click("To Close", "close")
    gateway.events(closed, "closed")
    eventually(lambda: notices.titles == [], "the notification is closed")
    # A click opens the push of the alert.
    viewed = notices.push(gateway, alert("To View"))
    notices.click("To View", "")
    gateway.events(viewed, "viewed")
    eventually(lambda: notices.page.evaluate("() => location.hash").startswith("#/push/"), "the push is opened")
    # An alert that is no longer queued has no notification.
    retracted = notices.push(gateway, alert("To Retract"))
    gateway.run("send", "--retract", retracted, "--to", f"{browser.name}/{TOPIC}")
    eventually(lambda: notices.titles == [], "the notification is closed")
    # No notification while another page of the browser is visible.
    other = browser.watch(browser.context.new_page())
    other.goto(browser.address)
    other.wait_for_selector("text=Connected in another tab")
    gateway.accepted(browser.token, alert("Seen"))
    browser.alert(other)
    assert notices.titles == []
    other.close()
    # The worker and the page have both reported the answer.
    assert [row["event"] for row in gateway.rows(closed)].count("closed") == 1


def test_a_notification_is_answered_without_a_page(gateway, browser):
    notices = Notices(browser)
    sent = notices.push(gateway, alert("No Page"))
    browser.page.goto("about:blank")
    notices.click("No Page", "close")
    gateway.events(sent, "closed")
    browser.page.goto(browser.address)
    browser.connected()
    assert browser.alerts("ordinal") == []
    eventually(lambda: browser.page.evaluate(f"() => {PHONE}.state.pending.length") == 0, "the gateway has the answer")
    assert [row["event"] for row in gateway.rows(sent)].count("closed") == 1


#: The number of pages that the worker can show.
PAGES = """async () => {
  const pages = await clients.matchAll({ type: "window", includeUncontrolled: true });
  return pages.filter((one) => one.url.includes("/phone")).length;
}"""
#: Clicks on a notification, and returns the addresses of the pages that the worker opens. Chromium opens none without a real click.
OPEN = """async (title) => {
  const opened = [];
  clients.openWindow = async (address) => { opened.push(address); };
  const notices = await registration.getNotifications();
  await answerNotice(notices.find((one) => one.title === title), "");
  return opened;
}"""


def test_a_click_on_a_notification_opens_its_push_in_a_new_page(gateway, browser):
    notices = Notices(browser)
    first = notices.push(gateway, alert("To Open", "Text"))
    notices.push(gateway, alert("To Leave"))
    browser.page.goto("about:blank")
    eventually(lambda: notices.worker.evaluate(PAGES) == 0, "the page is closed")
    [address] = notices.worker.evaluate(OPEN, "To Open")
    gateway.events(first, "viewed")
    browser.page.goto(browser.address.removesuffix("/phone") + address)
    browser.page.wait_for_selector("push-message h1 >> text=To Open")
    # The other alert is still open, in the page.
    browser.alert()
    assert browser.page.text_content("dialog.alert h2") == "To Leave"
    browser.close_alerts()
    assert browser.titles() == ["To Leave", "To Open"]


def test_a_question_is_answered_in_its_sheet_or_its_notification(gateway, browser):
    gateway.run("apps", "category", TOPIC, "RELEASE", "--action", "approve=Approve", "--action", "reject=Reject!")
    question = alert("Release?", category="RELEASE")
    first = gateway.accepted(browser.token, question)
    browser.alert()
    browser.page.keyboard.press("v")
    browser.page.wait_for_selector("dialog.sheet[open] .choices button.destructive:first-child >> text=Reject")
    browser.page.click("dialog.sheet >> text=Approve")
    browser.no_alert()
    assert gateway.events(first, "action")[-1]["detail"] == "approve"
    # A click on the notification opens the page with the question.
    notices = Notices(browser)
    second = notices.push(gateway, question)
    notices.click("Release?", "")
    notices.hide("visible")
    browser.alert()
    notices.hide("hidden")
    third = notices.push(gateway, question)
    notices.click("Release?", "reject")
    assert gateway.events(third, "action")[-1]["detail"] == "reject"
    assert browser.alerts("push.id") == [second]


# Looks and access


def wrong(page, axe):
    """The violations that axe-core finds in a page, with their elements."""
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found]


def axe_core():
    package = importlib.util.find_spec("axe_core_python")
    if package is None:
        pytest.skip("there is no axe-core-python")
    return (Path(package.origin).parent / "axe.min.js").read_text()


def test_every_screen_is_accessible_in_all_sizes(start, chromium, tmp_path):  # noqa: F811
    axe = axe_core()
    browser = Browser(start(), chromium, tmp_path / "profile", "accessible").join()
    page = browser.page
    page.emulate_media(reduced_motion="reduce")

    def check(screen):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert wrong(page, axe) == [], (screen, scheme)
        page.emulate_media(color_scheme="light")
        for direction in ("ltr", "rtl"):
            for width, size in [(320, "100%"), (390, "200%"), (3840, "100%")]:
                page.set_viewport_size({"width": width, "height": 844})
                page.evaluate("([dir, size]) => { document.dir = dir; document.documentElement.style.fontSize = size; }", [direction, size])
                overflowing = page.evaluate("() => document.documentElement.scrollWidth > innerWidth")
                assert not overflowing, (screen, direction, width, size)
        page.set_viewport_size({"width": 390, "height": 844})
        page.evaluate("() => { document.dir = ''; document.documentElement.style.fontSize = ''; }")

    browser.gateway.accepted(browser.token, alert("Storm Warning", "Stay away from the shore.", badge=3))
    browser.alert()
    # Nothing moves with reduced motion.
    assert page.evaluate("() => document.getAnimations().length") == 0
    check("alert")
    page.keyboard.press("c")
    browser.no_alert()
    for path, shown in [
            ("home", ".app"), ("center", ".row.entry"), ("settings", "[id='//alert']"), ("why", "push-why li"),
            ("push/1", "push-message h1")]:
        browser.show(path)
        page.wait_for_selector(shown)
        check(path)
    page.keyboard.press("?")
    page.wait_for_selector("dialog.help[open]")
    check("help")
    page.keyboard.press("Escape")
    browser.show("center")
    page.wait_for_selector(".row.entry")
    page.keyboard.press("D")
    page.wait_for_selector("dialog.sheet[open]")
    check("sheet")
    browser.context.close()
    assert not browser.complaints


def test_signing_out_ends_every_tab_and_deletes_the_history(gateway, browser):
    gateway.accepted(browser.token, alert("To Forget"))
    browser.alert()
    browser.close_alerts()
    other = browser.watch(browser.context.new_page())
    other.goto(browser.address)
    other.wait_for_selector("text=Connected in another tab")
    browser.page.bring_to_front()
    browser.show("settings")
    browser.page.click("text=Sign Out …")
    browser.page.click("dialog.sheet .destructive")
    browser.page.wait_for_selector("push-join form")
    other.wait_for_selector("push-join form")
    assert other.evaluate(f"() => {PHONE}.journal.state.entries") == []
    assert browser.page.evaluate(STORED)[1] == 0


def test_a_text_never_becomes_html_or_a_script(browser):
    """Trusted Types refuse texts where the page has no policy for them, and the only policy makes one address."""
    refused = browser.page.evaluate("""() => ["a", "b"].map((_, index) => {
      try {
        if (index) trustedTypes.createPolicy("other", {}); else document.createElement("p").innerHTML = "<b>text</b>";
        return "";
      } catch (error) {
        return error.name;
      }
    })""")
    assert refused == ["TypeError", "TypeError"]
    assert len(browser.complaints) >= 1
    browser.complaints.clear()
