"""The page from the view of a user with a phone: ten tasks without a keyboard, first and last visits, texts of hostile senders."""

import pytest

from brokers import free_ports
from gateway import TOPIC
from test_web import Browser, alert, chromium, invitation  # noqa: F401
from test_web_page import browser  # noqa: F401

pytestmark = pytest.mark.alone("the page is of one gateway")


def choose(browser, name):  # noqa: F811
    """Taps a tab."""
    browser.page.click(f"nav >> text={name}")


def settle(browser):  # noqa: F811
    """Waits until a setting was changed."""
    browser.page.wait_for_selector(".toast >> text=Changed")


def test_ten_tasks_by_touch(gateway, browser):  # noqa: F811
    page = browser.page

    def preferences():
        return gateway.run("prefs", "--device", browser.name, "--json").json

    # Read an alert: View opens its push.
    gateway.accepted(browser.token, alert("Storm Warning", "Stay inside", badge=2))
    browser.alert()
    page.click("dialog.alert >> text=View")
    page.wait_for_selector("push-message h1 >> text=Storm Warning")
    # Close all.
    for number in range(4):
        gateway.accepted(browser.token, alert(f"Train {number}", f"Platform {number}"))
    page.wait_for_selector("dialog.alert h2 >> text=4 Notifications")
    browser.alert()
    page.click("dialog.alert .buttons >> text=Close All")
    browser.no_alert()
    # Find an old push by its text. Back keeps the search.
    choose(browser, "Center")
    page.fill("input[type=search]", "platform 1")
    page.wait_for_selector(".row.entry[aria-setsize='2'] >> text=Train 1")
    page.click(".row.entry a")
    page.wait_for_selector("push-message h1 >> text=Train 1")
    page.click("push-message >> text=Back")
    page.wait_for_selector("push-center:visible")
    assert (browser.titles(), page.input_value("input[type=search]")) == (["Train 1"], "platform 1")
    # Quiet hours, and the reason for which a push was not shown, with the switch.
    choose(browser, "Settings")
    page.fill("[id='//quiet']", "00:00-12:00; 12:00-00:00")
    page.click("push-settings h1")
    settle(browser)
    sent = gateway.accepted(browser.token, alert("In Quiet Hours"))
    gateway.events(sent, "suppressed")
    choose(browser, "Home")
    page.click("text=Pushes that were not shown")
    page.wait_for_selector("push-why >> text=No alert: quiet hours.")
    page.click("push-why >> text=Show the switch")
    page.wait_for_selector("[id='//quiet']:focus")
    page.fill("[id='//quiet']", "off")
    page.click("push-settings h1")
    page.wait_for_selector(".toast >> text=Changed Quiet Hours to off")
    assert not preferences().get("quiet")
    # A Focus without a terminal.
    page.fill("#focus", "work")
    page.click("form:has(#focus) button")
    page.wait_for_selector("[id='//focus.work']")
    choose(browser, "Home")
    page.select_option("select[aria-label=Focus]", "work")
    browser.connected()
    page.select_option("select[aria-label=Focus]", "")
    # A question with a destructive choice.
    gateway.run("apps", "category", TOPIC, "RELEASE", "--action", "approve=Approve", "--action", "reject=Reject!")
    question = gateway.accepted(browser.token, alert("Release?", category="RELEASE"))
    browser.alert()
    page.click("dialog.alert >> text=Options")
    page.click("dialog.sheet .choices button.destructive:first-child >> text=Reject")
    browser.no_alert()
    assert gateway.events(question, "action")[-1]["detail"] == "reject"
    # Undo, also after the words at the lower edge are gone.
    choose(browser, "Center")
    page.wait_for_selector(".row.entry >> text=Release?")
    before = browser.titles()
    page.click(".row.group >> text=Clear")
    page.wait_for_selector(".empty >> text=No notifications.")
    page.evaluate("() => document.querySelector('.toasts').replaceChildren()")
    page.click("header >> text=Undo Clear")
    page.wait_for_selector(".toast >> text=Undid Clear")
    page.wait_for_selector(".row.entry >> text=Release?")
    assert browser.titles() == before
    page.click("header >> text=Undo Add Focus")
    page.wait_for_selector(".toast >> text=Undid Add Focus work")
    assert "work" not in preferences().get("focus", {})
    # Sign out everywhere.
    choose(browser, "Settings")
    page.click("text=Sign Out …")
    page.click("dialog.sheet .destructive")
    page.wait_for_selector("push-join form")
    assert page.evaluate("() => localStorage.length") == 0


def test_a_text_that_is_not_saved_stays_after_a_reload(gateway, browser):  # noqa: F811
    page = browser.page

    def quiet():
        return gateway.run("prefs", "--device", browser.name, "--json").json.get("quiet")

    browser.show("settings")
    page.fill("[id='//quiet']", "22:00-0")
    page.fill("#topic", "com.example.")
    page.reload()
    page.wait_for_selector(".setting:has([id='//quiet']) >> text=Not saved. The setting is off.")
    assert (page.input_value("[id='//quiet']"), page.input_value("#topic")) == ("22:00-0", "com.example.")
    assert not quiet()
    # A text that is refused stays, with the error; Enter sends the text.
    page.press("[id='//quiet']", "Enter")
    page.wait_for_selector(".setting p.error")
    assert page.input_value("[id='//quiet']") == "22:00-0"
    page.fill("[id='//quiet']", "22:00-07:00")
    page.press("[id='//quiet']", "Enter")
    page.wait_for_selector(".toast >> text=Changed Quiet Hours to 22:00-07:00")
    assert quiet() == ["22:00-07:00"]
    page.wait_for_selector(".setting p.error", state="detached")
    assert page.locator(".unsaved").count() == 0
    # Discard shows the setting again.
    page.fill("[id='//quiet']", "never")
    page.press("[id='//quiet']", "Enter")
    page.click("text=Discard")
    page.wait_for_selector(".unsaved", state="detached")
    assert (page.input_value("[id='//quiet']"), quiet()) == ("22:00-07:00", ["22:00-07:00"])


#: Reads a text that is not saved. The browser reads it after the writes before.
KEPT = """(id) => new Promise((resolve) => {
  indexedDB.open("phone").onsuccess = ({ target: { result } }) => {
    result.transaction("snapshots").objectStore("snapshots").get([id]).onsuccess = ({ target }) => { result.close(); resolve(target.result); };
  };
})"""


def test_a_text_that_was_just_typed_stays_after_a_crash(browser):  # noqa: F811
    # Chromium writes cookies to disk at its end, or after half a minute.
    browser.context.close()
    browser.open()
    browser.show("settings")
    browser.page.fill("[id='//quiet']", "22:00-0")
    assert browser.page.evaluate(KEPT, "//quiet") == "22:00-0"
    browser.kill()
    browser.open()
    browser.show("settings")
    browser.page.wait_for_selector(".setting:has([id='//quiet']) >> text=Not saved.")
    assert browser.page.input_value("[id='//quiet']") == "22:00-0"


def test_the_time_of_the_connection_is_stored_while_it_is_open(browser):  # noqa: F811
    """A crash of the browser ends the stream without a word."""
    assert browser.page.evaluate("() => Date.now() - Number(localStorage.getItem('lastConnected'))") < 86_400_000
    # The page without its stream.
    browser.context.route("**/v1/device/stream*", lambda route: route.abort())
    browser.page.reload()
    browser.page.wait_for_selector("push-status >> text=Last connected at")


def test_a_first_visit_and_an_expired_link_say_what_to_do(gateway, chromium, tmp_path):  # noqa: F811
    browser = Browser(gateway, chromium, tmp_path / "profile", "visitor")  # noqa: F811
    browser.page.goto(browser.address)
    browser.page.wait_for_selector("push-join >> text=pushcli open prints a link")
    browser.page.goto("about:blank")
    _, code = invitation(gateway)
    gateway.ask("POST", "/v1/devices", {"name": "used-it", "invitation": code})
    browser.page.goto(f"{browser.address}#{code}")
    browser.page.click("text=Use This Browser")
    browser.page.wait_for_selector("push-join .error >> text=This invitation is unknown, used or expired: ask for another.")
    # The code is selected, so that another one replaces it.
    assert browser.page.evaluate("() => getSelection().toString()") == code
    browser.page.fill("#invitation", invitation(gateway)[1])
    browser.page.click("text=Use This Browser")
    browser.connected()
    browser.context.close()
    assert not browser.complaints


def test_a_stopped_gateway_and_a_removed_device_are_named_in_each_tab(start, chromium, tmp_path):  # noqa: F811
    [port] = free_ports(1)
    gateway = start("--http-listen", f"127.0.0.1:{port}")
    browser = Browser(gateway, chromium, tmp_path / "profile", "named").join()  # noqa: F811
    page = browser.page
    other = browser.watch(browser.context.new_page())
    other.goto(browser.address)
    other.wait_for_selector("text=Connected in another tab")
    gateway.kill()
    page.wait_for_selector("push-home >> text=The gateway does not answer")
    other.wait_for_selector("push-status:has(button) >> text=Last connected")
    gateway.restart()
    # Either tab can try at once, if the page has not connected again by then; only one of them has the stream.
    other.evaluate("() => document.querySelector('push-phone').command('retry')")
    other.wait_for_selector("text=Connected in another tab")
    browser.connected()
    gateway.run("devices", "remove", "named")
    for one in (page, other):
        one.bring_to_front()
        one.wait_for_selector("push-join >> text=with an empty history")
        assert one.title() == "Phone"
    other.close()
    # It becomes a device again, with another invitation.
    page.fill("#device-name", "named-again")
    page.fill("#invitation", invitation(gateway)[1])
    page.click("text=Use This Browser")
    browser.connected()
    # A browser that is no device has nothing to show without the gateway.
    page.evaluate("async () => { await navigator.serviceWorker.ready; }")
    browser.show("settings")
    page.click("text=Sign Out …")
    page.click("dialog.sheet .destructive")
    page.wait_for_selector("push-join form")
    gateway.kill()
    page.reload()
    page.wait_for_selector("text=The Gateway Does Not Answer")
    gateway.restart()
    page.click("text=Try Again")
    page.wait_for_selector("push-join form")
    browser.context.close()
    assert not browser.complaints


#: Texts of hostile senders, each with what is shown of it.
HOSTILE = {
    "a document": ("<img src=x onerror=alert(1)>", None), "a script": ("</script><script>alert(1)</script>", None),
    "a template": ("{{7*7}}", None), "an address": ("javascript:alert(1)", None),
    "an override of the direction": ("Pay \u202eevil\u202c now", "Pay evil now"), "isolates": ("\u2066\u2067a\u2069", "a"),
    "right to left": ("مرحبا", None), "zero width": ("Pay\u200bPal\u2060\ufeff", "PayPal"),
    "nothing visible": ("\u200b\u3164", "Notification"),
    "no space in 3 KB": ("a" * 3300, None), "combining marks": ("e" + "\u0301" * 400 + "!", "e" + "\u0301" * 15 + "!"),
    "wide": ("﷽" * 200, None), "lines": ("a\n" * 300, None), "emoji": ("👨‍👩‍👧" * 40, None),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_a_text_of_its_own(hostile, name):
    browser, gateway = hostile  # noqa: F811
    page = browser.page
    text, shown = HOSTILE[name]
    shown = text if shown is None else shown
    browser.show("center")
    count = len(browser.titles())
    gateway.accepted(browser.token, alert(text, text[:60]) | {"url": text[:60], "other": "http://example.com/?" + "q" * 200})
    dialog = browser.alert()
    # The list below it is drawn first.
    assert len(browser.titles()) == count + 1
    # The alert is whole: its buttons are on screen, and its text scrolls inside of it.
    heading = page.text_content("dialog.alert h2")
    assert heading == shown
    for size in [(390, 844), (320, 480)]:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        box = dialog.bounding_box()
        assert box["x"] >= 0 and box["y"] >= 0 and box["x"] + box["width"] <= size[0] and box["y"] + box["height"] <= size[1]
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 390, "height": 844})
    browser.close_alerts()
    # A row has its height; nothing of its text is outside of it.
    heights = page.evaluate(
        "() => [...document.querySelectorAll('.row.entry')].map((row) => Math.round(row.getBoundingClientRect().height))")
    assert set(heights) == {88}
    page.click(".row.entry >> nth=0")
    page.wait_for_selector("push-message h1")
    assert page.text_content("push-message h1") == shown
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    # Of all its texts only an address of the web is a link, which has no access to the page.
    links = page.eval_on_selector_all("push-message a", "(all) => all.map((one) => [one.protocol, one.rel, one.target])")
    assert links == [["http:", "noopener noreferrer", "_blank"]]
    assert page.locator("push-phone img, push-phone script, push-phone iframe, push-phone style").count() == 0


@pytest.fixture(scope="module")
def hostile(gateway, chromium, tmp_path_factory):  # noqa: F811
    browser = Browser(gateway, chromium, tmp_path_factory.mktemp("profile"), "hostile").join()  # noqa: F811
    gateway.prefer("hostile", "budget=none", app=TOPIC)
    yield browser, gateway
    browser.context.close()
    assert not browser.complaints
