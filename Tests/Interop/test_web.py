"""The device in a browser: its page and its session over HTTP, its logic in Node, and the whole of it in Chromium."""

import base64
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from brokers import free_ports
from gateway import TOPIC
from test_http import curl, http_address
from waiting import HANG, Bell, eventually, wait_for
from wire import Closed

pytestmark = pytest.mark.alone("the page is of one gateway")

ROOT = Path(__file__).parents[2]
FILES = ROOT / "Sources/CWebPhone/phone"
#: The largest size of all files, compressed.
BUDGET = 60_000
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")


def alert(title, body="", **aps):
    return {"aps": {"alert": {"title": title, "body": body}, **aps}}


def invitation(gateway, person=None):
    """The link that `pushcli open` prints, and the code in it."""
    link = gateway.run("open", *(["--person", person] if person else []), "--json").json["link"]
    assert link.startswith(f"http://pushgateway.localhost:{http_address(gateway).rsplit(':')[-1]}/phone#")
    return link, link.partition("#")[2]


def page_request(gateway, path, *options, site="same-origin", origin=None):
    """The answer to a request as the gateway's own page sends it."""
    origin = origin or f"http://{http_address(gateway)}"
    return curl(gateway, path, "-H", f"origin: {origin}", "-H", f"sec-fetch-site: {site}", *options)


def join(gateway, name):
    """A session of a new device: the value of its cookie."""
    _, code = invitation(gateway)
    body = json.dumps({"name": name, "invitation": code})
    status, fields, answer = page_request(gateway, "/phone/session", "-d", body)
    assert status == 201, answer
    assert json.loads(answer)["secret"] == ""
    return fields["set-cookie"]


@needs_node
def test_the_logic_of_the_page():
    done = subprocess.run(["node", "--test", ROOT / "Tests/Web"], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stdout


def test_an_invitation_has_a_link_for_browsers(gateway):
    done = gateway.run("devices", "invite", "--host", "localhost:2197")
    assert f"https://localhost:2197/join#{done.out.split('@')[0]}" in done.err


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
            found = [line for line in text.splitlines() if address in line and "w3.org/2000/svg" not in line and "isLink" not in line]
            assert not found, (file, found)


def test_the_worker_keeps_every_file():
    worker = (FILES / "worker.js").read_text()
    missing = [file.name for file in FILES.iterdir() if f'"{file.name}"' not in worker]
    assert sorted(missing) == ["index.html", "worker.js"]


def test_the_page_names_every_module_in_advance():
    page = (FILES / "index.html").read_text()
    assert [file.name for file in FILES.glob("*.js") if file.name != "worker.js" and f'"/phone/{file.name}"' not in page] == []


def test_every_file_is_embedded():
    source = (ROOT / "Sources/CWebPhone/CWebPhone.c").read_text()
    assert sorted(file.name for file in FILES.iterdir() if f'#embed "phone/{file.name}"' in source) == sorted(
        file.name for file in FILES.iterdir())


def test_the_files_are_served_with_what_restricts_them(gateway):
    for path, kind in [("/phone", "text/html"), ("/join", "text/html"), ("/phone/app.js", "text/javascript"), ("/phone/style.css", "text/css")]:
        status, fields, body = curl(gateway, path)
        assert status == 200 and fields["content-type"].startswith(kind) and body
        policy = fields["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert fields["x-content-type-options"] == "nosniff" and fields["referrer-policy"] == "no-referrer"
        status, _, body = curl(gateway, path, "-H", f"if-none-match: {fields['etag']}")
        assert (status, body) == (304, b"")
    _, fields, page = curl(gateway, "/phone")
    style = (FILES / "style.css").read_bytes()
    assert b"<style>" + style + b"</style>" in page
    # `curl` gives the fields in lower case.
    digest = base64.b64encode(hashlib.sha256(style).digest()).decode().lower()
    assert f"'sha256-{digest}'" in fields["content-security-policy"]
    assert curl(gateway, "/phone/app.js")[2] == (FILES / "app.js").read_bytes()
    assert curl(gateway, "/phone/nothing")[0] == 404


def test_the_page_is_served_over_http_2_too(gateway):
    with gateway.connect() as connection:
        response = connection.request("GET", "/phone")
        assert response.status == 200 and response.body == curl(gateway, "/phone")[2]
        assert "frame-ancestors 'none'" in response["content-security-policy"]
        assert connection.request("POST", "/phone/session", [], b'{"name":"foreign"}').status == 403
        own = [("origin", f"https://{gateway.address}"), ("sec-fetch-site", "same-origin")]
        for origin in ("https://evil.example", f"http://{gateway.address}", "null"):
            other = [("origin", origin), ("sec-fetch-site", "same-origin")]
            assert connection.request("POST", "/phone/session", other, b'{"name":"foreign"}').status == 403
        _, code = invitation(gateway)
        body = json.dumps({"name": "over-tls", "invitation": code}).encode()
        response = connection.request("POST", "/phone/session", own, body)
        assert response.status == 201
        cookie = response["set-cookie"]
        assert cookie.startswith("__Host-pushgateway-") and "; Secure; HttpOnly; SameSite=Strict" in cookie
        crumbs = [("cookie", "other=1"), ("cookie", cookie.partition(";")[0])]
        assert connection.request("GET", "/v1/device", own + crumbs).json["name"] == "over-tls"
        assert connection.request("GET", "/v1/device", crumbs).status == 403


def test_the_worker_has_the_version_of_the_page_and_its_modules(gateway):
    first, _, rest = curl(gateway, "/phone/worker.js")[2].decode().partition("\n")
    assert first.startswith('const version = "')
    own = re.split(r"^import .*\n", (FILES / "worker.js").read_text(), flags=re.MULTILINE)[-1]
    modules, _, after = rest.partition(own)
    assert modules.count("async function decrypt(") == 1 and after.strip() == ""


@needs_node
def test_the_worker_is_a_script_without_modules(gateway, tmp_path):
    script = tmp_path / "worker.cjs"
    script.write_bytes(curl(gateway, "/phone/worker.js")[2])
    done = subprocess.run(["node", "--check", script], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stderr


def test_signing_out_ends_the_session_on_every_machine(gateway):
    cookie = ["-H", f"cookie: {join(gateway, 'leaving').partition(';')[0]}"]
    assert page_request(gateway, "/phone/session", "-X", "DELETE", *cookie, origin="http://localhost:1")[0] == 403
    assert page_request(gateway, "/v1/device", *cookie)[0] == 200
    assert page_request(gateway, "/phone/session", "-X", "DELETE", *cookie)[0] == 204
    assert page_request(gateway, "/v1/device", *cookie)[0] == 401
    assert "leaving" in [one["name"] for one in gateway.devices()]


def test_a_page_of_another_name_is_refused(gateway):
    assert curl(gateway, "/phone", "-H", "host: evil.example")[0] == 403
    assert curl(gateway, "/v1/device", "-H", "host: evil.example")[0] == 403


def test_a_link_is_used_once_and_its_session_is_for_the_page(gateway):
    _, code = invitation(gateway)
    body = json.dumps({"name": "first", "invitation": code})
    assert page_request(gateway, "/phone/session", "-d", body, site="cross-site")[0] == 403
    assert page_request(gateway, "/phone/session", "-d", body, origin="http://localhost:1")[0] == 403
    status, fields, _ = page_request(gateway, "/phone/session", "-d", body)
    assert status == 201
    assert "httponly; samesite=strict" in fields["set-cookie"]
    assert page_request(gateway, "/phone/session", "-d", body.replace("first", "second"))[0] == 403
    cookie = ["-H", f"cookie: {fields['set-cookie'].partition(';')[0]}"]
    assert json.loads(page_request(gateway, "/v1/device", *cookie)[2])["name"] == "first"
    assert curl(gateway, "/v1/device", *cookie)[0] == 403
    assert page_request(gateway, "/v1/device/apps/com.example.news", "-X", "PUT", *cookie, origin="http://localhost:1")[0] == 403
    gateway.run("devices", "rotate", "first")
    assert page_request(gateway, "/v1/device", *cookie)[0] == 401


def test_the_stream_of_events_and_reports_over_http_1(gateway):
    cookie = join(gateway, "streams").partition(";")[0]
    token = gateway.register("streams", TOPIC)
    sent = gateway.accepted(token, alert("Streamed"))
    line = [
        "curl", "-sS", "-N", "--http1.1", f"http://{http_address(gateway)}/v1/device/stream?silent=true", "-H", f"cookie: {cookie}",
        "-H", "sec-fetch-site: same-origin"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as reader:
        lines = iter(line.removeprefix("data: ") for line in reader.stdout if line.startswith("data: "))
        assert json.loads(next(lines))["type"] == "welcome"
        push = json.loads(next(lines))
        assert push["id"] == sent
        assert json.loads(next(lines))["type"] == "caught-up"
        later = gateway.accepted(token, alert("Later"))
        assert json.loads(next(lines))["id"] == later
        reader.terminate()
    headers = ["-H", f"cookie: {cookie}"]
    body = json.dumps({"type": "presented", "id": sent, "parts": ["alert"]}) + "\n" + json.dumps(
        {"type": "answer", "id": sent, "action": "view"})
    status, _, answer = page_request(gateway, "/v1/device/reports", *headers, "-d", body)
    assert (status, json.loads(answer)) == (200, {"type": "answered", "id": sent, "action": "view"})
    assert page_request(gateway, "/v1/device/acknowledgements", *headers, "-d", json.dumps({"seq": push["seq"] + 1}))[0] == 204
    events = [row["event"] for row in gateway.events(sent, "viewed")]
    assert "presented" in events


def test_the_page_can_be_turned_off(start):
    gateway = start("--web", "off")
    assert curl(gateway, "/phone")[0] == 404
    assert curl(gateway, "/v1/device")[0] == 404
    with gateway.connect() as connection:
        assert connection.request("GET", "/phone").status in (404, 405)


# In Chromium


@pytest.fixture(scope="module")
def chromium():
    """Starts a browser with a folder of its own: `chromium(folder)`."""
    playwright = pytest.importorskip("playwright.sync_api", reason="there is no playwright")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    with playwright.sync_playwright() as driver:

        def launch(folder):
            # The sandbox of Chromium is not available to root.
            arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
            return driver.chromium.launch_persistent_context(
                folder, executable_path=path, args=arguments, viewport={"width": 390, "height": 844})

        yield launch


class Browser:
    """A browser that is a device of a gateway."""

    def __init__(self, gateway, launch, folder, name):
        self.gateway, self.launch, self.folder, self.name = gateway, launch, folder, name
        self.complaints = []
        self.address = f"http://localhost:{http_address(gateway).rsplit(':')[-1]}/phone"
        self.open()

    def open(self):
        self.context = self.launch(self.folder)
        self.page = self.watch(self.context.pages[0])

    def watch(self, page):
        """Collects errors of a page, also violations of its policy. Refusals that the page shows are none."""
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda message: message.type == "error" and "Failed to load resource" not in message.text
                and self.complaints.append(message.text))
        page.set_default_timeout(HANG * 1000)
        return page

    def join(self, person=None):
        _, code = invitation(self.gateway, person)
        self.page.goto(f"{self.address}#{code}")
        self.page.fill("#device-name", self.name)
        self.page.click("text=Use This Browser")
        self.connected()
        self.token = self.gateway.register(self.name, TOPIC)
        return self

    def connected(self, page=None):
        (page or self.page).wait_for_selector("push-status .dot.connected")

    def show(self, path, page=None):
        (page or self.page).goto(f"{self.address}#/{path}")

    def alert(self, page=None):
        """The alert on screen, when it takes keys."""
        return (page or self.page).wait_for_selector("dialog.alert[data-ready]")

    def no_alert(self, page=None):
        (page or self.page).wait_for_selector("dialog.alert:not([open])", state="attached")

    def close_alerts(self):
        """Closes the alerts on screen, and those that come until they are closed."""
        while queued := self.alerts("ordinal"):
            self.alert()
            self.page.click("dialog.alert .buttons button >> nth=0")
            eventually(lambda queued=queued: queued[0] not in self.alerts("ordinal"), "the alert is closed")
        self.no_alert()

    def alerts(self, path):
        """A member of each alert that is queued."""
        return self.page.evaluate(
            "(path) => document.querySelector('push-phone').state.alerts.map((one) => path.split('.').reduce((of, name) => of[name], one))",
            path)

    def titles(self):
        """The titles of all rows of the center, also of those outside of the window."""
        return self.page.evaluate("""() => document.querySelector("push-center").rows.filter((row) => row.entry)
          .map(({ entry: { push } }) => (push.alert ?? push.center).title)""")

    def kill(self):
        """Ends the browser as a crash does."""
        wanted = f"--user-data-dir={self.folder}"
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    words = (entry / "cmdline").read_text().split("\0")
                except OSError:
                    continue
                if wanted in words and not any(word.startswith("--type=") for word in words):
                    os.kill(int(entry.name), signal.SIGKILL)
        # The driver may already have closed the context, because its browser is gone.
        with suppress(pytest.importorskip("playwright.sync_api").Error):
            self.context.close()


@pytest.fixture
def browser(gateway, chromium, tmp_path, request):
    name = request.node.name.removeprefix("test_").replace("_", "-")[:40]
    browser = Browser(gateway, chromium, tmp_path / "profile", name).join()
    yield browser
    browser.context.close()
    assert not browser.complaints


def test_an_alert_is_shown_and_answered(gateway, browser):
    sent = gateway.accepted(browser.token, alert("Storm", "Stay inside", badge=3, sound="chime"))
    shown = browser.alert()
    assert "Storm" in shown.inner_text() and "Stay inside" in shown.inner_text()
    browser.page.keyboard.press("c")
    browser.no_alert()
    gateway.events(sent, "closed")
    gateway.events(sent, "acknowledged")
    assert browser.page.title().startswith("(3)")
    browser.show("home")
    assert browser.page.inner_text(".badge") == "3"


def test_the_first_answer_wins_between_a_browser_and_another_device(gateway, chromium, tmp_path):
    other = gateway.device(name="other-of-carl", person="carl")
    browser = Browser(gateway, chromium, tmp_path / "profile", "browser-of-carl").join("carl")
    stream = gateway.stream(other)
    stream.caught_up()
    sent = gateway.accepted(browser.token, alert("From the browser"))
    browser.alert()
    browser.page.keyboard.press("v")
    browser.page.wait_for_selector("push-message h1 >> text=From the browser")
    assert stream.next_of("retract", sent)["action"] == "view"
    browser.context.close()
    assert not browser.complaints


def test_a_setting_takes_effect_and_is_undone(gateway, browser):
    browser.show("settings")
    browser.page.click("[id='//alert']")
    browser.page.wait_for_selector("text=Changed Alerts to off")
    eventually(lambda: not gateway.run("prefs", "--device", browser.name, "--json").json["alert"], "alerts are off")
    browser.page.keyboard.press("u")
    eventually(lambda: gateway.run("prefs", "--device", browser.name, "--json").json["alert"], "alerts are on again")
    browser.page.fill("[id='//quiet']", "never")
    browser.page.keyboard.press("Tab")
    browser.page.wait_for_selector("p.error:not(:empty)")
    assert browser.page.input_value("[id='//quiet']") == "never"


def test_keys_go_to_a_field_until_it_is_left(gateway, browser):
    browser.show("settings")
    browser.page.fill("#topic", "com.")
    gateway.accepted(browser.token, alert("While Typing"))
    browser.alert()
    browser.page.keyboard.type("cv")
    assert browser.page.input_value("#topic") == "com.cv"
    browser.page.keyboard.press("Escape")
    browser.page.wait_for_selector("dialog.alert:modal")
    browser.page.keyboard.press("c")
    browser.no_alert()
    assert browser.page.input_value("#topic") == "com.cv"


def test_two_tabs_are_one_device(gateway, browser):
    other = browser.watch(browser.context.new_page())
    other.goto(browser.address)
    other.wait_for_selector("text=Connected in another tab")
    [listed] = [one for one in gateway.devices() if one["name"] == browser.name]
    assert listed["streams"] == 1
    gateway.accepted(browser.token, alert("To Both"))
    browser.alert(other)
    other.keyboard.press("c")
    browser.no_alert(other)
    browser.page.bring_to_front()
    browser.no_alert()
    browser.page.close()
    browser.connected(other)


def test_a_killed_browser_shows_each_push_once(gateway, browser):
    # Chromium writes cookies to disk at its end, or after half a minute.
    browser.context.close()
    browser.open()
    browser.show("center")
    browser.connected()
    expected = []
    for number in range(3):
        for part in range(5):
            expected.append(f"Push {number}.{part}")
            gateway.accepted(browser.token, alert(expected[-1]))
        browser.kill()
        browser.open()
        browser.show("center")
        browser.alert()
        browser.page.wait_for_selector(f".row.entry >> text={expected[-1]}")
        assert browser.titles() == expected[::-1]
        browser.close_alerts()


class Load(threading.Thread):
    """Sends pushes, and sends each again until it is accepted."""

    def __init__(self, gateway, token, count):
        super().__init__(daemon=True)
        self.gateway, self.token = gateway, token
        self.titles = [f"Push {number}" for number in range(count)]
        self.sent, self.changed, self.is_up = 0, Bell(), threading.Event()

    def run(self):
        for title in self.titles:
            apns_id = str(uuid.uuid4())
            while not self.is_accepted(title, apns_id):
                assert self.is_up.wait(HANG)
            self.sent += 1
            self.changed.ring()

    def is_accepted(self, title, apns_id):
        try:
            return self.gateway.push(self.token, alert(title), apns_id=apns_id).status == 200
        except (OSError, Closed):
            return False


def test_a_gateway_that_is_killed_under_load_has_each_push_shown_once(start, chromium, tmp_path):
    [port] = free_ports(1)
    gateway = start("--http-listen", f"127.0.0.1:{port}")
    browser = Browser(gateway, chromium, tmp_path / "profile", "killed").join()
    gateway.prefer("killed", "budget=none", app=TOPIC)
    browser.show("center")
    load = Load(gateway, browser.token, 80)
    load.is_up.set()
    load.start()
    for kill in range(3):
        wait_for(lambda kill=kill: load.sent > 20 * kill + 10, "pushes are accepted", load.changed)
        load.is_up.clear()
        gateway.kill()
        gateway.restart()
        load.is_up.set()
    load.join(HANG)
    assert load.sent == len(load.titles)
    eventually(lambda: len(browser.titles()) >= len(load.titles), "all are shown")
    assert browser.titles() == load.titles[::-1]
    assert browser.alerts("push.alert.title") == load.titles
    browser.context.close()
    assert not browser.complaints


def test_the_page_opens_without_a_network_and_connects_again(start, chromium, tmp_path):
    gateway = start()
    browser = Browser(gateway, chromium, tmp_path / "profile", "offline").join()
    gateway.accepted(browser.token, alert("Before"))
    browser.alert()
    browser.page.keyboard.press("c")
    browser.no_alert()
    browser.page.evaluate("async () => { await navigator.serviceWorker.ready; }")
    browser.page.reload()
    browser.connected()
    browser.context.set_offline(True)
    browser.page.reload()
    browser.page.wait_for_selector("text=Last connected")
    browser.show("center")
    browser.page.wait_for_selector(".row.entry >> text=Before")
    browser.context.set_offline(False)
    browser.connected()
    browser.context.close()


# How it looks

#: Pictures of the screens as numbers: the brightness of 39 × 84 fields. With PUSHGATEWAY_SCREENS=write they are written again.
PICTURES = Path(__file__).parent / "web-screens"
BRIGHTNESS = """async (data) => {
  const image = new Image();
  image.src = `data:image/png;base64,${data}`;
  await image.decode();
  const context = new OffscreenCanvas(39, 84).getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(image, 0, 0, 39, 84);
  const { data: pixels } = context.getImageData(0, 0, 39, 84);
  return Array.from({ length: 39 * 84 }, (_, index) => Math.round((pixels[4 * index] + pixels[4 * index + 1] + pixels[4 * index + 2]) / 3));
}"""


def test_the_screens_look_as_they_did(start, chromium, tmp_path):
    """Compared with tolerance: other fonts change few fields, and each only a little."""
    browser = Browser(start(), chromium, tmp_path / "profile", "pictures").join()
    browser.page.emulate_media(color_scheme="light", reduced_motion="reduce")
    canvas = browser.context.new_page()
    pictures = {}

    def take(name):
        shot = base64.b64encode(browser.page.screenshot()).decode()
        pictures[name] = canvas.evaluate(BRIGHTNESS, shot)

    browser.page.bring_to_front()
    browser.gateway.accepted(browser.token, alert("Storm Warning for the Coast", "Stay away from the shore.", badge=3))
    browser.alert()
    take("alert")
    browser.close_alerts()
    browser.show("center")
    browser.page.wait_for_selector(".row.entry")
    take("center")
    browser.show("settings")
    browser.page.wait_for_selector("[id='//alert']")
    take("settings")
    browser.context.close()
    for name, picture in pictures.items():
        path = PICTURES / f"{name}.txt"
        if os.environ.get("PUSHGATEWAY_SCREENS") == "write":
            path.write_text("".join(bytes(picture[start:start + 39]).hex() + "\n" for start in range(0, len(picture), 39)))
        stored = bytes.fromhex(path.read_text())
        differences = [abs(one - other) for one, other in zip(picture, stored, strict=True)]
        assert sum(differences) / len(differences) < 8, name
        assert sum(difference > 64 for difference in differences) / len(differences) < 0.05, name
