"""The page on a wide screen, and the buttons and keys of its dialogs."""

import pytest

from gateway import TOPIC
from test_web import alert, chromium  # noqa: F401
from test_web_page import browser  # noqa: F401

pytestmark = pytest.mark.alone("the page is of one gateway")

#: The edges of the first visible element that a selector names, without animations.
EDGES = """(selector) => {
  const one = [...document.querySelectorAll(selector)].find((element) => element.checkVisibility());
  const { left, top, width, height } = one.getBoundingClientRect();
  return { left, top, width, height };
}"""
OPTIONS = "dialog.alert .buttons button:last-child"


def ask(gateway, browser, title="Release?"):  # noqa: F811
    """Sends a question, and returns its id when it is on screen."""
    gateway.run("apps", "category", TOPIC, "RELEASE", "--action", "approve=Approve", "--action", "reject=Reject!")
    sent = gateway.accepted(browser.token, alert(title, category="RELEASE"))
    browser.alert()
    return sent


def open_sheet(page):
    page.wait_for_selector("dialog.sheet[open]")
    return page.evaluate(EDGES, "dialog.sheet")


def leave(page):
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog.sheet:not([open])", state="attached")


def test_an_action_sheet_is_at_the_button_that_opened_it(gateway, browser):  # noqa: F811
    page = browser.page
    page.emulate_media(reduced_motion="reduce")

    def is_under(selector, press):
        press()
        sheet, button = open_sheet(page), page.evaluate(EDGES, selector)
        leave(page)
        return abs(sheet["top"] - button["top"] - button["height"] - 8) < 1

    ask(gateway, browser)
    for width in (720, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        for press in (lambda: page.click(OPTIONS), lambda: page.keyboard.press("v")):
            assert is_under(OPTIONS, press), width
    # A page without room under the button has the sheet above it.
    page.set_viewport_size({"width": 1280, "height": 400})
    page.click(OPTIONS)
    sheet, button = open_sheet(page), page.evaluate(EDGES, OPTIONS)
    assert abs(sheet["top"] + sheet["height"] + 8 - button["top"]) < 1
    leave(page)
    # On a narrow page it is at the lower edge, as wide as the page.
    page.set_viewport_size({"width": 390, "height": 844})
    page.click(OPTIONS)
    sheet = open_sheet(page)
    assert (sheet["left"], sheet["width"], sheet["top"] + sheet["height"]) == (0, 390, 844)
    leave(page)
    browser.close_alerts()
    page.set_viewport_size({"width": 1280, "height": 844})
    browser.show("center")
    clear = "[data-command=clearAll]"
    page.wait_for_selector(".row.entry")
    for press in (lambda: page.click(clear), lambda: page.keyboard.press("D")):
        assert is_under(clear, press)


def test_keys_in_an_action_sheet_do_not_answer_the_alert_under_it(gateway, browser):  # noqa: F811
    page = browser.page
    asked = ask(gateway, browser)
    page.keyboard.press("v")
    open_sheet(page)
    # Keys of the alert.
    for key in ("c", "z", "v", "o"):
        page.keyboard.press(key)
    assert page.locator("dialog.sheet[open] >> text=Reject").count() == 1
    assert browser.alerts("push.id") == [asked]
    page.keyboard.press("2")
    browser.no_alert()
    assert [row["detail"] for row in gateway.events(asked, "action") if row["event"] in ("action", "closed")] == ["approve"]


def test_a_single_action_is_a_button_and_escape_never_chooses_it(gateway, browser):  # noqa: F811
    page = browser.page
    gateway.run("apps", "category", TOPIC, "CLEAN", "--action", "remove=Remove!")

    def answered(press, event):
        sent = gateway.accepted(browser.token, alert("Old Backup?", category="CLEAN"))
        browser.alert()
        assert page.eval_on_selector_all("dialog.alert .buttons button", "(all) => all.map((one) => one.textContent)") == ["Remove", "Close"]
        press()
        browser.no_alert()
        return [row["detail"] for row in gateway.events(sent, event) if row["event"] in ("action", "closed")]

    assert answered(lambda: page.keyboard.press("Escape"), "closed") == ["close"]
    assert answered(lambda: page.click("dialog.alert .buttons >> text=Close"), "closed") == ["close"]
    assert answered(lambda: page.keyboard.press("c"), "closed") == ["close"]
    assert answered(lambda: page.keyboard.press("v"), "action") == ["remove"]
    assert answered(lambda: page.click("dialog.alert .buttons button.destructive >> text=Remove"), "action") == ["remove"]


def test_an_alert_and_its_sheet_list_their_keys(gateway, browser):  # noqa: F811
    page = browser.page
    asked = ask(gateway, browser)
    page.keyboard.press("?")
    page.wait_for_selector("dialog.help[open] >> text=in an alert: view")
    # A key in the list answers nothing.
    page.keyboard.press("c")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog.help:not([open])", state="attached")
    assert browser.alerts("push.id") == [asked]
    page.keyboard.press("v")
    open_sheet(page)
    page.keyboard.press("?")
    page.wait_for_selector("dialog.help[open] >> text=in an action sheet: choose")
    page.keyboard.press("Escape")
    leave(page)
    browser.close_alerts()


def test_a_page_that_becomes_wide_has_the_center_and_the_selected_push(gateway, browser):  # noqa: F811
    page = browser.page
    gateway.accepted(browser.token, alert("Older"))
    gateway.accepted(browser.token, alert("Newer"))
    browser.alert()
    browser.close_alerts()
    browser.show("home")
    page.wait_for_selector(".app")
    page.set_viewport_size({"width": 1100, "height": 844})
    page.wait_for_selector("push-center .row.selected >> text=Newer")
    page.wait_for_selector("push-message h1 >> text=Newer")
    browser.show("center")
    page.keyboard.press("j")
    page.wait_for_selector("push-message h1 >> text=Older")
    page.set_viewport_size({"width": 1099, "height": 844})
    page.wait_for_selector("push-message", state="hidden")


def test_an_alert_on_the_smallest_screen_is_300_pixels_wide(gateway, browser):  # noqa: F811
    browser.page.emulate_media(reduced_motion="reduce")
    browser.page.set_viewport_size({"width": 320, "height": 568})
    gateway.accepted(browser.token, alert("Small"))
    browser.alert()
    assert browser.page.evaluate(EDGES, "dialog.alert")["width"] == 300
    browser.close_alerts()


def test_an_address_that_is_not_encoded_is_no_error(browser):  # noqa: F811
    browser.show("id/%E0%A4%A")
    browser.page.wait_for_selector("push-center:visible")
