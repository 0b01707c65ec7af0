"""The console: its page and its session over HTTP, and the whole of it in Chromium."""

import json
import re
import subprocess
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from gateway import TOPIC
from test_event_targets import receiver  # noqa: F401
from test_http import curl, http_address
from test_testmode import Sender, Server
from test_web import ROOT, alert, chromium, needs_node, page_request  # noqa: F401
from test_web_page import axe_core, wrong
from waiting import HANG, eventually

pytestmark = pytest.mark.alone("the page is of one gateway")

FILES = ROOT / "Sources/CWebPhone/console"
#: The largest size of all files, compressed.
BUDGET = 60_000


def link(gateway):
    """The address of the page, and the code of a link with the credentials of the admin socket."""
    link = gateway.run("open", "console", "--json").json["link"]
    assert link.startswith(f"http://pushgateway.localhost:{http_address(gateway).rsplit(':')[-1]}/console#")
    return link.partition("#")[2]


def token(gateway, name, role):
    return gateway.run("admin", "tokens", "create", name, "--role", role).out.strip()


def link_of(gateway, bearer):
    """The code of a link with the credentials of a token."""
    with gateway.connect() as connection:
        answer = connection.request("POST", "/admin/v1/console/links", [("authorization", f"bearer {bearer}")], b"{}")
    assert answer.status == 201, answer.body
    return answer.json["code"]


def sign_in(gateway, code):
    """The fields of a request with the session of a link."""
    status, fields, body = page_request(gateway, "/console/session", "-d", json.dumps({"code": code}))
    assert status == 201, body
    cookie, *marks = fields["set-cookie"].split("; ")
    assert cookie.startswith("pushgateway-console-") and {"path=/", "httponly", "samesite=strict"} < set(marks)
    return ["-H", f"cookie: {cookie}"]


@needs_node
def test_the_page_stays_within_its_budget():
    program = """
      const { brotliCompressSync } = require("node:zlib"), fs = require("node:fs"), folder = process.argv[1];
      console.log(fs.readdirSync(folder).reduce((sum, name) => sum + brotliCompressSync(fs.readFileSync(`${folder}/${name}`)).length, 0));
    """
    done = subprocess.run(["node", "-e", program, FILES], capture_output=True, text=True, timeout=HANG, check=True)
    assert int(done.stdout) <= BUDGET


def test_the_page_loads_nothing_of_another_origin_and_sets_no_html():
    for file in FILES.iterdir():
        text = file.read_text()
        assert "innerHTML" not in text and "outerHTML" not in text and "insertAdjacentHTML" not in text, file
        for address in ("https://", "http://", "//cdn"):
            found = [line for line in text.splitlines() if address in line and "w3.org/2000/svg" not in line]
            assert not found, (file, found)


def test_every_file_is_embedded_and_every_module_named_in_advance():
    source = (ROOT / "Sources/CWebPhone/CWebPhone.c").read_text()
    assert [file.name for file in FILES.iterdir() if f'#embed "console/{file.name}"' not in source] == []
    page = (FILES / "index.html").read_text()
    assert [file.name for file in FILES.glob("*.js") if f'"/console/{file.name}"' not in page] == []


def test_the_files_are_served_with_what_restricts_them(gateway):
    for path, kind in [("/console", "text/html"), ("/console/app.js", "text/javascript"), ("/console/style.css", "text/css")]:
        status, fields, body = curl(gateway, path)
        assert status == 200 and fields["content-type"].startswith(kind) and body
        policy = fields["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert fields["x-content-type-options"] == "nosniff" and fields["referrer-policy"] == "no-referrer"
        assert curl(gateway, path, "-H", f"if-none-match: {fields['etag']}")[0] == 304
        assert curl(gateway, path, "-H", "host: evil.example")[0] == 403
    assert b"<style>" + (FILES / "style.css").read_bytes() + b"</style>" in curl(gateway, "/console")[2]
    assert curl(gateway, "/console/nothing")[0] == 404


def test_the_page_can_be_turned_off(start):
    gateway = start("--web", "off")
    assert [curl(gateway, path)[0] for path in ("/console", "/console/session", "/admin/v1/status")] == [404, 404, 404]


def test_a_link_is_used_once_and_its_session_is_for_the_page(gateway):
    code = link(gateway)
    body = json.dumps({"code": code})
    assert page_request(gateway, "/console/session", "-d", body, site="cross-site")[0] == 403
    assert page_request(gateway, "/console/session", "-d", body, origin="http://localhost:1")[0] == 403
    session = sign_in(gateway, code)
    status, _, answer = page_request(gateway, "/console/session", "-d", body)
    assert status == 410 and "pushcli open console" in json.loads(answer)["detail"]
    status, _, answer = page_request(gateway, "/console/session", *session)
    assert status == 200 and json.loads(answer)["role"] == "admin"
    assert page_request(gateway, "/admin/v1/status", *session)[0] == 200
    group = ["-d", json.dumps({"name": "oncall", "members": []})]
    assert page_request(gateway, "/admin/v1/groups", *session, *group, origin="http://localhost:1")[0] == 403
    assert page_request(gateway, "/admin/v1/groups", *session, *group, site="same-site")[0] == 403
    assert page_request(gateway, "/admin/v1/status", *session, "-H", "host: evil.example")[0] == 403
    assert curl(gateway, "/admin/v1/status", *session)[0] == 403
    assert page_request(gateway, "/admin/v1/groups", *session, *group)[0] == 201
    assert page_request(gateway, "/admin/v1/groups/oncall", "-X", "DELETE", *session)[0] == 204
    assert page_request(gateway, "/admin/v1/status")[0] == 401
    # The cookie is no session of the device in a browser, and no credential of the API of devices.
    assert page_request(gateway, "/v1/device", *session)[0] == 401
    assert page_request(gateway, "/console/session", "-X", "DELETE", *session)[0] == 204
    assert page_request(gateway, "/admin/v1/status", *session)[0] == 401


def test_http_1_takes_no_token(start):
    gateway = start("--remote-admin", "on")
    bearer = token(gateway, "ada", "admin")
    assert curl(gateway, "/admin/v1/status", "-H", f"authorization: bearer {bearer}")[0] == 401


def test_a_session_has_the_role_of_its_token_and_ends_with_it(start):
    gateway = start("--remote-admin", "on")
    bearers = {role: token(gateway, role, role) for role in ("reader", "operator", "admin")}
    for role, expected in {"reader": (200, 403, 403), "operator": (200, 201, 403), "admin": (200, 201, 201)}.items():
        session = sign_in(gateway, link_of(gateway, bearers[role]))
        status, _, body = page_request(gateway, "/console/session", *session)
        assert json.loads(body)["role"] == role and json.loads(body)["who"] == f"{role} (token, {role})"
        statuses = [
            page_request(gateway, "/admin/v1/status", *session)[0],
            page_request(gateway, "/admin/v1/groups", *session, "-d", json.dumps({"name": role, "members": []}))[0],
            page_request(gateway, "/admin/v1/invitations", *session, "-d", '{"valid_seconds":60}')[0],
        ]
        assert tuple(statuses) == expected, role
        gateway.run("admin", "tokens", "remove", role)
        assert page_request(gateway, "/admin/v1/status", *session)[0] == 401
    [made] = [one for one in gateway.run("admin", "audit", "--json").records if one["path"] == "/admin/v1/groups" and one["status"] == 201
              and one["who"] == "operator (token, operator)"]
    assert "operator" in made["body"]


def test_over_tls_the_session_needs_remote_administration_only_on_other_machines(gateway):
    code = link(gateway)
    own = [("origin", f"https://{gateway.address}"), ("sec-fetch-site", "same-origin")]
    with gateway.connect() as connection:
        body = json.dumps({"code": code}).encode()
        for origin in ("https://evil.example", f"http://{gateway.address}", "null"):
            other = [("origin", origin), ("sec-fetch-site", "same-origin")]
            assert connection.request("POST", "/console/session", other, body).status == 403
        response = connection.request("POST", "/console/session", own, body)
        assert response.status == 201
        cookie = response["set-cookie"]
        assert cookie.startswith("__Host-pushgateway-console-") and "; Secure; HttpOnly; SameSite=Strict" in cookie
        crumbs = [("cookie", "other=1"), ("cookie", cookie.partition(";")[0])]
        assert connection.request("GET", "/admin/v1/status", own + crumbs).json["environment"] == "development"
        assert connection.request("GET", "/admin/v1/status", crumbs).status == 403
        # Without a session the API stays closed.
        assert connection.request("GET", "/admin/v1/status", own).status == 403


# In Chromium


class Console:
    """A browser with the console of a gateway."""

    def __init__(self, gateway, launch, folder, code, size=(1280, 800)):
        self.gateway, self.complaints = gateway, []
        self.address = f"http://localhost:{http_address(gateway).rsplit(':')[-1]}/console"
        self.context = launch(folder)
        self.page = self.context.pages[0]
        self.page.set_viewport_size({"width": size[0], "height": size[1]})
        self.page.set_default_timeout(HANG * 1000)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        # Also violations of the policy. Refusals that the page shows are none.
        self.page.on("console", lambda message: message.type == "error" and "Failed to load resource" not in message.text
                     and self.complaints.append(message.text))
        open_requests, failed = set(), []
        self.page.on("request", lambda request: open_requests.add(request.url))
        self.page.on("requestfinished", lambda request: open_requests.discard(request.url))
        self.page.on("requestfailed", lambda request: failed.append((request.url, request.failure)))
        self.page.goto(f"{self.address}#{code}")
        try:
            self.page.wait_for_selector("push-console nav")
        except Exception as error:
            words = f"{self.page.inner_text('body')!r}, requests without an answer: {open_requests}, failed: {failed}"
            raise AssertionError(f"the page shows {words}") from error

    def show(self, path):
        self.page.goto(f"{self.address}#/{path}")

    def live(self):
        self.page.wait_for_selector(".state >> text=Live")

    def events(self):
        """The events of the rows on screen, the newest first."""
        return self.page.eval_on_selector_all(".list .row .event", "(all) => all.map((one) => one.textContent)")

    def close(self):
        self.context.close()
        assert not self.complaints


@pytest.fixture
def console(gateway, chromium, tmp_path):  # noqa: F811
    console = Console(gateway, chromium, tmp_path / "profile", link(gateway))
    yield console
    console.close()


def quiet_push(gateway, name, device=None):
    """A push that was sent to a device, whose user does not want its sound."""
    device = device or gateway.device(name=name)
    gateway.prefer(name, "sound=off")
    stream = gateway.stream(device)
    stream.caught_up()
    sent = gateway.accepted(device.token, alert("Storm Warning", "Stay inside.", sound="chime", badge=1))
    gateway.events(sent, "suppressed")
    return sent


def test_a_page_without_a_session_says_how_to_sign_in(gateway, chromium, tmp_path):  # noqa: F811
    console = Console(gateway, chromium, tmp_path / "profile", link(gateway))
    assert "#" not in console.page.url
    console.page.click("text=Sign Out")
    console.page.wait_for_selector("form >> text=pushcli open console")
    console.page.fill("#code", "used")
    console.page.keyboard.press("Enter")
    console.page.wait_for_selector("p.error >> text=another one")
    console.page.fill("#code", f"{console.address}#{link(gateway)}")
    console.page.keyboard.press("Enter")
    console.page.wait_for_selector("push-console nav")
    console.page.reload()
    console.page.wait_for_selector("push-console nav")
    console.close()


@pytest.mark.parametrize("part", ["console/view-list.js", "console/session", "admin/v1/faults"])
def test_a_change_of_the_network_while_the_page_loads_is_no_failure(gateway, chromium, tmp_path, part):  # noqa: F811
    gateway.run("faults", "add", "slow", "--delay", "10ms", "--token", "ab" * 32)
    aborted = []

    def abort(route):
        # As Chromium does it with all requests of the moment.
        if aborted:
            return route.continue_()
        aborted.append(route.request.url)
        return route.abort("failed")

    def launch(folder):
        context = chromium(folder)
        context.route(f"**/{part}", abort)
        return context

    console = Console(gateway, launch, tmp_path / "profile", link(gateway))
    console.page.wait_for_selector(".faults >> text=slow")
    assert len(aborted) == 1
    gateway.run("faults", "remove", "--all")
    console.close()


def test_a_session_that_ended_asks_for_another_one(start, chromium, tmp_path):  # noqa: F811
    gateway = start("--remote-admin", "on")
    console = Console(gateway, chromium, tmp_path / "profile", link_of(gateway, token(gateway, "ada", "reader")))
    assert "ada (token, reader)" in console.page.inner_text(".who")
    console.live()
    gateway.run("admin", "tokens", "remove", "ada")
    console.page.reload()
    console.page.wait_for_selector("form >> text=pushcli open console")
    console.close()


def test_the_activity_is_live_and_its_filter_is_the_address(gateway, console):
    device = gateway.device(name="live")
    console.show("activity?q=device:live")
    console.page.wait_for_selector(".state >> text=Live · No event matches")
    quiet_push(gateway, "live", device)
    console.page.wait_for_selector(".list .row >> text=Not shown")
    assert console.events()[-1] == "Accepted"
    console.page.select_option("[data-name=event]", "suppressed")
    eventually(lambda: console.events() == ["Not shown"], "the rows of the event are shown")
    assert console.page.input_value("#filter") == "event:suppressed device:live"
    console.page.reload()
    console.page.wait_for_selector(".list .row >> text=no sound: sound is off (N4)")
    console.page.fill("#filter", "rule:N4 device:live")
    console.page.wait_for_url(lambda url: "rule%3AN4" in url)
    console.page.wait_for_selector(".list .row >> text=Not shown")
    console.page.fill("#filter", "rule:N7 device:live")
    console.page.wait_for_selector(".state >> text=No event matches")
    console.page.click("[aria-label='Remove the filter rule N7']")
    console.page.wait_for_selector(".list .row >> text=Accepted")
    console.page.go_back()
    console.page.wait_for_selector(".state >> text=No event matches")
    console.page.fill("#filter", "color:red")
    console.page.wait_for_selector("p.error >> text=Unknown filter “color”")


def test_a_push_has_its_steps_and_the_rule_that_removed_a_part(gateway, console):
    sent = quiet_push(gateway, "followed")
    console.show("activity?q=device:followed rule:N4")
    console.page.wait_for_selector(".list .row")
    console.page.keyboard.press("j")
    console.page.keyboard.press("Enter")
    console.page.wait_for_selector(".steps li >> text=Not shown")
    assert console.page.url.endswith(f"#/push/{sent}")
    console.page.reload()
    console.page.wait_for_selector(".steps")
    assert "No sound: sound is off" in console.page.inner_text(".steps .why")
    assert console.page.inner_text(".steps .why code") == "sound"
    titles = console.page.eval_on_selector_all(".steps > li b", "(all) => all.map((one) => one.textContent)")
    assert titles[:3] == ["Accepted", "Stored", "Sent"]
    # Later steps appear by themselves.
    gateway.admin("DELETE", "devices", "followed", "alerts", sent)
    console.page.wait_for_selector(".verdict >> text=This push was retracted")
    console.show("push/00000000-0000-4000-8000-000000000000")
    console.page.wait_for_selector("text=no rows about this push")


def test_the_rows_of_a_filter_are_saved_as_files(gateway, console):
    sent = quiet_push(gateway, "saved")
    rows = gateway.rows(device="saved")
    console.show("activity?q=device:saved")
    console.page.wait_for_selector(".list .row")
    files = {}
    for name in ("NDJSON", "CSV"):
        with console.page.expect_download() as download:
            console.page.click("summary >> text=Export")
            console.page.click(f".menu button >> text='{name}'")
        files[name] = Path(download.value.path()).read_text()
    assert [json.loads(line)["number"] for line in files["NDJSON"].splitlines()] == [row["number"] for row in rows]
    lines = files["CSV"].splitlines()
    assert lines[0].startswith("at,event,id,") and len(lines) == len(rows) + 1 and sent in lines[1]


def test_texts_of_senders_stay_texts(gateway, console):
    name = "hostile"
    device = gateway.device(name=name)
    # The device is in the state folder, so that it may change this preference.
    gateway.run("prefs", "set", "--device", name, "log-text=senders")
    stream = gateway.stream(device)
    stream.caught_up()
    sent = gateway.accepted(device.token, alert("<img src=x onerror=alert(1)>", "\u202e<b>bold</b>"))
    gateway.events(sent, "transmitted")
    console.show(f"push/{sent}")
    console.page.wait_for_selector("h1 >> text=<img src=x onerror=alert(1)>")
    assert console.page.query_selector("main img, main .body b") is None
    assert "\u202e" not in console.page.inner_text("main .body")


def test_a_push_is_checked_and_sent(gateway, console):
    """The form and the JSON, the findings, the decision of a device, and the steps of the push after sending."""
    device = gateway.device(name="receiver")
    gateway.prefer("receiver", "sound=off")
    stream = gateway.stream(device)
    stream.caught_up()
    page = console.page
    console.show("send")
    page.fill("#send-to", "receiver")
    page.keyboard.press("Tab")
    page.wait_for_selector(f"#send-topic option[value='{TOPIC}']", state="attached")
    page.fill("#send-title", "hello world")
    assert '"title": "hello world"' in page.input_value("#send-json")
    page.wait_for_selector(".findings >> text=T5")
    page.click(".findings button >> text=Use “Hello World”")
    page.wait_for_selector(".findings >> text=No findings")
    assert page.input_value("#send-title") == "Hello World"
    page.wait_for_selector(".parts li:has(s) >> text=N4")
    assert page.inner_text(".parts li:has(s) code") == "sound"
    assert "Hello World" in page.inner_text(".preview .alert")
    page.fill("#send-json", '{"aps":\n{"badge":')
    page.wait_for_selector(".findings >> text=invalid JSON")
    assert page.is_disabled("#send-title")
    page.select_option("[aria-label=Template]", "Alert")
    page.click("button.primary >> text=Send")
    page.wait_for_selector(".result .steps >> text=Not shown")
    sent = page.get_attribute(".result a", "href").rpartition("/")[2]
    assert stream.next("push")["id"] == sent
    # A push that breaks a rule is refused, with the rule.
    page.fill("#send-badge", "-1")
    page.wait_for_selector(".decision >> text=would refuse this push")
    page.focus("#send-json")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".result .error >> text=Rule B1 at /aps/badge")
    # The draft stays.
    page.reload()
    page.wait_for_selector("#send-json")
    assert '"badge": -1' in page.input_value("#send-json") and page.input_value("#send-to") == "receiver"


def test_the_status_has_charts_and_tables(gateway, console):
    quiet_push(gateway, "counted")
    page = console.page
    console.show("status")
    page.wait_for_selector("text=The gateway is ready")
    assert "survives" in page.inner_text(".facts") and "ends in" in page.inner_text(".facts")
    page.wait_for_selector(".counts tr:has-text('N4')")
    assert len(page.query_selector_all(".chart svg[role=img]")) == 6
    page.keyboard.press("v")
    page.wait_for_selector(".chart table th >> text=Connections")
    assert page.query_selector(".chart svg") is None
    page.click(".counts a >> text=N4")
    page.wait_for_selector(".list .row >> text=Not shown")


def test_reports_are_reviewed(gateway, console):
    device = gateway.device(name="reporter")
    sent = quiet_push(gateway, "reporter", device)
    with gateway.connect() as connection:
        fields = [("authorization", f"bearer {device.secret}")]
        body = json.dumps({"id": sent, "topic": TOPIC, "text": "Buy now, 50 % off"}).encode()
        assert connection.request("POST", "/v1/device/ads/reports", fields, body).status == 204
    page = console.page
    console.show("reports")
    page.wait_for_selector(".reports li >> text=50 % off")
    page.click("button >> text=Right: it is advertising")
    page.wait_for_selector(".toast >> text=Marked as right")
    page.wait_for_selector(".note >> text=No report is in this list")
    [report] = gateway.admin("GET", "ads", "reports")
    assert report["review"] == "right"
    page.click(".toast button >> text=Undo")
    page.wait_for_selector(".reports li >> text=50 % off")


def test_other_preferences_are_replayed_as_a_picture(gateway, console):
    quiet_push(gateway, "replayed")
    page = console.page
    console.show("devices/replayed")
    page.click("text=Replay with Other Preferences")
    page.fill("#replay-settings", "alert=off")
    page.click("text=Show Before and After")
    page.wait_for_selector(".verdict >> text=1 with less")
    assert len(page.query_selector_all(".chart rect")) == 48
    page.wait_for_selector("td >> text=alert is off")
    page.reload()
    page.wait_for_selector(".verdict >> text=1 with less")
    page.fill("#replay-settings", "alert=perhaps")
    page.click("text=Show Before and After")
    page.wait_for_selector(".error")


def test_objects_are_listed_made_and_removed(start, chromium, tmp_path):  # noqa: F811
    gateway = start()
    gateway.device(name="phone-1")
    gateway.enroll("phone-2")
    console = Console(gateway, chromium, tmp_path / "profile", link(gateway))
    page = console.page
    console.show("devices")
    page.wait_for_selector(".list .row >> text=phone-2")
    page.fill("#search", "phone-1")
    page.wait_for_selector(".state >> text=1 of 2")
    page.click(".list a >> text=phone-1")
    page.click("text=Register …")
    page.select_option("#field-topic", TOPIC)
    page.click("dialog button.primary")
    page.wait_for_selector(".toast >> text=Registered phone-1")
    page.click("text=Remove …")
    page.wait_for_selector("dialog >> text=can't be undone")
    page.keyboard.press("Escape")
    assert "phone-1" in [one["name"] for one in gateway.devices()]
    page.click("text=Remove …")
    page.click("dialog button.destructive")
    page.wait_for_selector(".toast >> text=Done")
    assert [one["name"] for one in gateway.devices()] == ["phone-2"]
    # A new key is shown once.
    console.show("keys")
    page.wait_for_selector(".list .row")
    page.keyboard.press("n")
    page.click("dialog button.primary")
    page.wait_for_selector("dialog >> text=BEGIN PRIVATE KEY")
    with page.expect_download() as download:
        page.click("dialog button >> text=Save AuthKey_")
    assert "PRIVATE KEY" in Path(download.value.path()).read_text()
    page.click("dialog button.primary")
    # Undo instead of a question, where the API can do it.
    console.show("faults")
    page.wait_for_selector("h1 >> text=Faults")
    page.keyboard.press("n")
    page.fill("#field-name", "slow")
    page.fill("#field-delay", "1")
    page.click("dialog button.primary")
    page.wait_for_selector(".faults >> text=slow")
    page.click(".list a >> text=slow")
    page.click("button >> text=Remove")
    page.wait_for_selector(".faults", state="hidden")
    page.click(".toast button >> text=Undo")
    page.wait_for_selector(".faults >> text=slow")
    console.close()


def test_more_objects_are_listed_made_and_removed(start, chromium, tmp_path):  # noqa: F811
    gateway = start()
    gateway.device(name="phone-1")
    console = Console(gateway, chromium, tmp_path / "profile", link(gateway))
    page = console.page
    console.show("apps")
    page.click(".list a >> nth=0")
    page.click("text=Set Category …")
    page.fill("#field-category", "DEPLOY")
    page.fill("#field-actions", "yes=Yes, no=No!")
    page.click("dialog button.primary")
    page.wait_for_selector(".facts >> text=DEPLOY (Yes, No)")
    console.show("certificates")
    page.click("button >> text=Issue")
    page.click("dialog[open] button.primary")
    page.wait_for_selector("dialog >> text=BEGIN PRIVATE KEY")
    page.click("dialog button >> text=Done")
    page.click(".list .row a")
    page.click("text=Revoke …")
    page.click("dialog button.destructive")
    page.wait_for_selector(".toast >> text=Revoked")
    channel = gateway.channel()
    console.show("channels")
    page.click(f".list .row a >> text=\"{channel}\"")
    page.click("text=Delete …")
    page.click("dialog button.destructive")
    page.wait_for_selector("dialog[open]", state="detached")
    # A scenario sets several faults, and one button ends them.
    console.show("faults")
    page.click("text=Set Scenario …")
    page.select_option("#field-scenario", "All of these")
    page.click("dialog button.primary")
    page.wait_for_selector(".faults >> text=outage")
    page.click("text=Remove All …")
    page.click("dialog button.destructive")
    page.wait_for_selector(".faults", state="hidden")
    # An invitation for another machine has its link as a QR code.
    console.show("invitations")
    page.wait_for_selector("h1 >> text=Invitations")
    page.keyboard.press("n")
    page.fill("#field-host", "push.example:2197")
    page.click("dialog button.primary")
    page.wait_for_selector("dialog svg[role=img]")
    assert "https://push.example:2197/join#" in page.inner_text("dialog[open]")
    page.click("dialog button >> text=Done")
    console.close()


def test_webhooks_heartbeats_and_event_targets_are_listed_made_and_removed(start, chromium, receiver, tmp_path):  # noqa: F811
    gateway = start()
    gateway.device(name="phone")
    console = Console(gateway, chromium, tmp_path / "profile", link(gateway))
    page = console.page

    def add(path, **fields):
        """Fills the form of a new object, and sends it."""
        console.show(path)
        page.wait_for_selector("console-list .list")
        page.keyboard.press("n")
        for name, value in fields.items():
            page.wait_for_selector(f"#field-{name}")
            choose = page.select_option if page.eval_on_selector(f"#field-{name}", "(one) => one.localName") == "select" else page.fill
            choose(f"#field-{name}", value)
        page.click("dialog[open] button.primary")

    def shown(*words):
        """Closes the dialog with texts of the gateway, after it has these words."""
        for word in words:
            page.wait_for_selector(f"dialog[open] pre >> text={word}")
        page.click("dialog[open] button >> text=Done")

    def confirm(action):
        page.click(f"main button >> text={action}")
        page.click("dialog[open] button.destructive")

    add("senders", name="backup", app=TOPIC, recipients="phone", combine="10m")
    shown("pgs-", "send/backup")
    # A webhook of any JSON, with its pointers.
    add("hooks", name="monitor", kind="json", app=TOPIC, recipients="phone", fields="title=/monitor/name\nbody=/text")
    shown("pgs-", "hooks/monitor")
    page.click(".list a >> text=monitor")
    page.click("main button >> text=Test …")
    page.fill("#field-body", '{"monitor":{"name":"Disk Full"},"text":"db1"}')
    page.click("dialog[open] button.primary")
    shown("a message", "Disk Full", "phone would present")
    confirm("Rotate Token …")
    shown("pgs-")
    assert {one["name"]: one.get("fields") for one in gateway.admin("GET", "senders")} == {
        "backup": None, "monitor": {"title": "/monitor/name", "body": "/text"}}
    confirm("Remove …")
    page.wait_for_selector("dialog[open]", state="detached")
    # A heartbeat of the sender, which is no webhook. Its removal is undone.
    add("expectations", sender="backup", every="24")
    page.wait_for_selector("dialog[open] .error >> text=expected a time, as 30s")
    page.fill("#field-every", "24h")
    page.click("dialog[open] button.primary")
    page.click(".list a >> text=backup")
    page.click("main button >> text='Remove'")
    # The page offers it after the answer.
    page.wait_for_selector(".toast button >> text=Undo")
    assert gateway.admin("GET", "expectations") == []
    page.click(".toast button >> text=Undo")
    page.wait_for_selector(".list .row >> text=1d")
    [expected] = gateway.admin("GET", "expectations")
    assert (expected["sender"], expected["every"], expected["grace"]) == ("backup", 86_400, 8_640)
    # An event target, whose server answers.
    add("event-targets", name="shop", url=receiver.url, apps=TOPIC, events="viewed, expired")
    shown("whsec_")
    page.click(".list a >> text=shop")
    page.click("main button >> text='Test'")
    shown("the answer 204")
    assert json.loads(receiver.requests[-1][2])["type"] == "delivery.test"
    page.click("main button >> text=Rotate Secret …")
    page.click("dialog[open] button.primary")
    shown("whsec_")
    [target] = gateway.admin("GET", "event-targets")
    assert (target["apps"], target["events"]) == ([TOPIC], ["expired", "viewed"])
    assert page.query_selector("main button >> text=Resume") is None
    confirm("Remove …")
    page.wait_for_selector("dialog[open]", state="detached")
    assert gateway.admin("GET", "event-targets") == []
    console.close()


def test_a_reader_has_no_button_that_changes(start, chromium, tmp_path):  # noqa: F811
    gateway = start("--remote-admin", "on")
    gateway.device(name="phone")
    console = Console(gateway, chromium, tmp_path / "profile", link_of(gateway, token(gateway, "ada", "reader")))
    for name in ("devices", "persons", "apps", "groups", "channels", "senders", "hooks", "expectations", "scheduled", "invitations", "teams", "keys", "certificates", "tokens", "faults"):
        console.show(name)
        console.page.wait_for_selector("console-list .list")
        assert console.page.query_selector("main button") is None, name
    # The addresses of event targets are for the role admin.
    assert "Event Targets" not in console.page.eval_on_selector_all("nav a", "(all) => all.map((one) => one.textContent)")
    console.show("devices/phone")
    console.page.wait_for_selector(".facts")
    assert console.page.query_selector("main button") is None
    console.close()


def test_a_long_list_draws_the_rows_on_screen(gateway, console):
    gateway.admin("POST", "batches", body={"name": "many", "first": 0, "count": 10_000, "topic": TOPIC})
    page = console.page
    console.show("devices?q=many")
    page.wait_for_selector(".list .row")
    page.wait_for_selector(".state >> text=10000")
    count = page.evaluate("""async () => {
      const list = document.querySelector(".list");
      list.scrollTop = list.scrollHeight;
      await new Promise(requestAnimationFrame);
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      return document.querySelectorAll(".list .row").length;
    }""")
    assert 0 < count < 100
    page.wait_for_selector(".list .row >> text=many-9999")
    gateway.admin("DELETE", "batches", "many")


def test_a_list_of_100000_rows_scrolls_and_has_keys(console):
    """The test answers the requests for the list: the gateway would need a minute for so many devices."""
    page, count = console.page, 100_000

    def device(number):
        return {"device": f"id-{number}", "name": f"many-{number:06}", "role": "device", "person": "ada", "apps": [TOPIC],
                "registrations": [{"topic": TOPIC, "environments": ["development"]}], "waiting": 0, "streams": 0}

    def answer(route):
        address = urlsplit(route.request.url)
        query = parse_qs(address.query)
        if address.path.endswith(("/registrations", "/channels")):
            return route.fulfill(json=[])
        if not query:
            return route.fulfill(json=device(int(address.path[-6:])))
        first = int(query["after"][0][-6:]) + 1 if "after" in query else 0
        return route.fulfill(json=[device(number) for number in range(first, min(count, first + int(query["limit"][0])))])

    def has_focus(name):
        page.wait_for_function("(name) => document.activeElement.textContent === name", arg=name)

    page.route(re.compile(r"/admin/v1/devices[?/]"), answer)
    console.show("devices")
    page.wait_for_selector(".state[aria-busy=false] >> text='100000'")
    assert page.get_attribute(".list", "aria-rowcount") == "100001"
    for key, name in [("End", "many-099999"), ("ArrowUp", "many-099998"), ("Home", "many-000000"), ("j", "many-000001"), ("End", "many-099999")]:
        page.keyboard.press(key)
        has_focus(name)
        assert page.evaluate("() => document.querySelectorAll('.list .row').length") < 100
        assert page.evaluate("() => document.querySelectorAll('*').length") < 2_000
    # The row has the focus after the table has scrolled, and on the way back from its page.
    page.evaluate("() => { document.querySelector('.list').scrollTop = 36 * 50_000; }")
    page.wait_for_selector(".list .row >> text=many-050000")
    has_focus("many-099999")
    assert page.evaluate("() => document.querySelectorAll('.list a[tabindex=\"0\"]').length") == 1
    page.keyboard.press("k")
    has_focus("many-099998")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1 >> text=many-099998")
    page.keyboard.press("Escape")
    has_focus("many-099998")
    # Tab enters the rows at one place, and leaves them after it.
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.closest('.row') === null")
    page.fill("#search", "777 ada")
    page.wait_for_selector(".state >> text=of 100000")
    page.wait_for_selector(".list .row >> nth=0 >> text=many-000777")


def test_a_reader_has_no_page_that_sends(start, chromium, tmp_path):  # noqa: F811
    gateway = start("--remote-admin", "on")
    console = Console(gateway, chromium, tmp_path / "profile", link_of(gateway, token(gateway, "ada", "reader")))
    console.live()
    assert "Send" not in console.page.eval_on_selector_all("nav a", "(all) => all.map((one) => one.textContent)")
    console.show("send")
    console.live()
    assert console.page.query_selector("console-send") is None
    console.close()


def test_a_fault_has_a_line_on_every_page(start, chromium, tmp_path):  # noqa: F811
    gateway = start()
    console = Console(gateway, chromium, tmp_path / "profile", link(gateway))
    console.live()
    assert console.page.is_hidden(".faults")
    gateway.run("faults", "add", "slow", "--delay", "10ms")
    for path in ("activity", "push/00000000-0000-4000-8000-000000000000"):
        console.show(path)
        console.page.reload()
        console.page.wait_for_selector(".faults >> text=slow")
    gateway.run("faults", "remove", "--all")
    console.page.reload()
    console.page.wait_for_selector(".faults", state="hidden")
    console.close()


def test_the_console_of_a_test_gateway_needs_no_sign_in(chromium, tmp_path):  # noqa: F811
    server = Server(log=tmp_path / "log")
    token = "ab" * 32
    assert Sender(server.ready).push(token).status_code == 200
    assert server.expect(token=token)[0] == 200
    assert server.expect(token=token, match={"badge": 9}, within="1ms")[0] == 417
    context = chromium(tmp_path / "profile")
    page = context.pages[0]
    page.set_default_timeout(HANG * 1000)
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{server.url}/console")
    page.wait_for_selector("td.bad >> text=1 of 2 expectations failed")
    page.click("main tbody a")
    page.wait_for_selector(".card tr:has-text('badge') >> text=9")
    page.wait_for_selector("#pushes + table >> text=Train in 5 Minutes")
    page.click("#pushes + table a")
    page.wait_for_selector(".steps li")
    context.close()
    assert complaints == []
    assert server.end() == 0


#: The pages, each with an element that it shows when it is ready.
PAGES = [("activity", ".list .row"), ("push/SENT", ".steps li"), ("send", ".findings li"), ("status", ".chart svg"),
         ("reports", ".state"), ("replay?device=accessible&since=7d&set=alert%3Doff", ".chart svg"), ("devices", ".list .row"), ("devices/accessible", "table"),
         ("persons", ".list .row"), ("persons/USER", "table"), ("apps", ".list .row"), ("keys", ".list .row"), ("hooks", ".list"), ("expectations", ".list"), ("event-targets", ".list"), ("faults", ".list")]


def test_every_page_is_accessible_in_all_sizes(gateway, chromium, tmp_path):  # noqa: F811
    axe = axe_core()
    sent = quiet_push(gateway, "accessible")
    person = quote(gateway.admin("GET", "devices", "accessible")["person"])
    console = Console(gateway, chromium, tmp_path / "profile", link(gateway))
    page = console.page
    page.emulate_media(reduced_motion="reduce")
    for path, ready in PAGES:
        console.show(path.replace("SENT", sent).replace("USER", person))
        page.wait_for_selector(ready)
        assert page.evaluate("() => document.getAnimations().length") == 0
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert wrong(page, axe) == [], (path, scheme)
        page.emulate_media(color_scheme="light")
        for direction in ("ltr", "rtl"):
            for width, size in [(320, "100%"), (390, "200%"), (3840, "100%")]:
                page.set_viewport_size({"width": width, "height": 844})
                page.evaluate("([dir, size]) => { document.dir = dir; document.documentElement.style.fontSize = size; }", [direction, size])
                overflowing = page.evaluate("() => document.documentElement.scrollWidth > innerWidth")
                assert not overflowing, (path, direction, width, size)
        page.set_viewport_size({"width": 1280, "height": 800})
        page.evaluate("() => { document.dir = ''; document.documentElement.style.fontSize = ''; }")
    page.keyboard.press("?")
    page.wait_for_selector("dialog.help[open]")
    assert wrong(page, axe) == []
    console.close()
