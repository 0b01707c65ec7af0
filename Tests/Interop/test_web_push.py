"""Web Push: endpoints of a device, and what pywebpush (HTTP/1.1) and webpush (HTTP/2) send to them."""

import json
import uuid

import httpx
import pytest
import requests
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02, b64urlencode
from pywebpush import WebPushException, webpush
from webpush import WebPush, WebPushSubscription

from gateway import TOPIC, run
from test_web import Browser, chromium  # noqa: F401
from waiting import HANG

pytestmark = pytest.mark.alone("HTTP/1.1 is served by each machine itself")

CLAIMS = {"sub": "mailto:ada@example.com"}


@pytest.fixture(autouse=True)
def without_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def address(gateway):
    """The address of HTTP/1.1, which pywebpush uses."""
    return (gateway.state / "http-listening").read_text().split()[0]


def sender_key():
    """The key pair of a sender, and its public key as browsers take it."""
    key = Vapid02()
    key.generate_keys()
    return key, b64urlencode(key.public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint))


def endpoint(gateway, device, origin, *options):
    """The name and the subscription of a new endpoint."""
    name = f"e-{uuid.uuid4().hex[:8]}"
    added = gateway.run("endpoints", "add", name, "--app", TOPIC, "--device", device.name, "--origin", origin, *options)
    return name, json.loads(added.out)


@pytest.fixture
def subscription(gateway, device, address):
    return endpoint(gateway, device, f"http://{address}")[1]


def send(subscription, data, key=None, **options):
    """Sends with pywebpush; returns the answer, also to a refused message."""
    claims = dict(CLAIMS) if key else None
    try:
        return webpush(subscription, data, vapid_private_key=key, vapid_claims=claims, timeout=HANG, **options)
    except WebPushException as error:
        assert error.response is not None, error
        return error.response


def received(gateway, device, count=1):
    """The pushes that a terminal subscriber prints."""
    done = gateway.run("subscribe", "--device", device.name, "--json", "--count", count)
    return done.records


@pytest.mark.parametrize("data, title, body, link, badge", [
    ("Backup done", "", "Backup done", None, None),
    (json.dumps({"title": "Backup", "body": "Done ✓", "url": "https://example.com/1"}), "Backup", "Done ✓", "https://example.com/1", None),
    (json.dumps({"web_push": 8030, "notification": {
        "title": "Backup", "body": "Done", "navigate": "https://example.com/2", "app_badge": 3}}), "Backup", "Done", "https://example.com/2", 3),
    (json.dumps({"title": "Backup", "app_badge": "3"}), "Backup", "", None, None),
])
def test_pywebpush_sends_to_a_terminal(gateway, device, subscription, data, title, body, link, badge):
    answer = send(subscription, data, sender_key()[0], ttl=60)
    assert answer.status_code == 201 and answer.headers["ttl"] == "60", answer.text
    assert answer.headers["location"].startswith(subscription["endpoint"] + "/")
    [push] = received(gateway, device)
    assert (push["presentation"]["alert"]["title"], push["presentation"]["alert"]["body"]) == (title, body)
    assert push["payload"].get("url") == link and push["presentation"].get("badge") == badge
    assert push["id"] == answer.headers["location"].rsplit("/", 1)[1]
    assert "web_push" not in push["payload"]


def test_pywebpush_sends_to_a_browser(gateway, chromium, tmp_path, address):  # noqa: F811
    browser = Browser(gateway, chromium, tmp_path / "profile", "web-push-browser").join()
    page = browser.page
    browser.show("settings")
    page.click("text=Add an endpoint")
    for field, value in {"name": "blog", "app": TOPIC, "origin": f"http://{address}"}.items():
        page.fill(f"#endpoint-{field}", value)
    page.click("form:has(#endpoint-name) button >> text=Add")
    subscription = json.loads(page.inner_text("pre"))
    page.wait_for_selector("section[aria-label='Web Push Endpoints'] >> text=keys in this browser")
    message = {"title": "Backup", "body": "Done ✓", "url": "https://example.com/1"}
    assert send(subscription, json.dumps(message), sender_key()[0], ttl=60).status_code == 201
    shown = browser.alert().inner_text()
    assert "Backup" in shown and "Done ✓" in shown
    # The private key is not readable, and another page of the browser has the same keys.
    assert page.evaluate("""async () => {
      const { allKeys } = await import("/phone/webpush.js");
      return (await allKeys()).map(({ name, privateKey }) => [name, privateKey.extractable]);
    }""") == [["blog", False]]
    browser.close_alerts()
    page.click("[aria-label='Remove the endpoint blog']")
    page.click("text=Remove the Endpoint blog")
    page.wait_for_selector("[aria-label='Remove the endpoint blog']", state="detached")
    assert send(subscription, "x", sender_key()[0], ttl=60).status_code == 410
    browser.context.close()
    assert not browser.complaints


def test_webpush_sends_over_http2(gateway, device):
    key, public = sender_key()
    _, subscription = endpoint(gateway, device, f"https://{gateway.address}", "--vapid", public)
    library = WebPush(
        private_key=key.private_pem(), public_key=key.public_pem(), subscriber="ada@example.com", ttl=60)
    message = library.get({"title": "Backup", "body": "Done"}, WebPushSubscription.model_validate(subscription))
    with httpx.Client(http2=True, verify=str(gateway.trust), timeout=HANG) as client:
        answer = client.post(subscription["endpoint"], content=message.encrypted, headers=dict(message.headers))
    assert (answer.status_code, answer.http_version) == (201, "HTTP/2"), answer.text
    [push] = received(gateway, device)
    assert push["presentation"]["alert"]["title"] == "Backup"


def test_the_gateway_has_no_plain_text(gateway, device, subscription):
    assert send(subscription, "a secret text", ttl=60).status_code == 201
    stream = gateway.stream(device)
    [line] = [line for line in stream.caught_up() if line["type"] == "push"]
    stream.connection.close()
    assert line["presentation"]["alert"]["body"] == "Encrypted message"
    assert "secret" not in json.dumps(line)
    files = [path for path in gateway.state.glob("*.sqlite*") if path.is_file()]
    assert files and not any(b"a secret text" in path.read_bytes() for path in files)


def test_a_topic_replaces_and_no_time_to_live_is_now_or_never(gateway, device, subscription):
    for text in ("1", "2"):
        assert send(subscription, text, ttl=60, headers={"Topic": "status", "Urgency": "low"}).status_code == 201
    assert send(subscription, "3", ttl=0).status_code == 201
    assert gateway.waiting(device) == 1
    [push] = received(gateway, device)
    assert (push.get("presentation", {}).get("centre") or push["presentation"]["alert"])["body"] == "2"
    assert push["payload"]["aps"]["interruption-level"] == "passive" and push["collapse"].endswith("/status")


def test_a_restricted_endpoint_takes_its_sender_only(gateway, device, address):
    key, public = sender_key()
    _, subscription = endpoint(gateway, device, f"http://{address}", "--vapid", public)
    assert send(subscription, "x", key, ttl=60).status_code == 201
    assert send(subscription, "x", sender_key()[0], ttl=60).status_code == 403
    assert send(subscription, "x", ttl=60).status_code == 401
    assert gateway.waiting(device) == 1


def test_a_removed_endpoint_is_gone(gateway, device, address):
    name, subscription = endpoint(gateway, device, f"http://{address}")
    assert send(subscription, "x", ttl=60).status_code == 201
    assert [row["name"] for row in gateway.run("endpoints", "--device", device.name, "--json").records] == [name]
    gateway.run("endpoints", "remove", name, "--device", device.name)
    answer = send(subscription, "x", ttl=60)
    assert answer.status_code == 410 and answer.json()["reason"] == "EndpointRemoved"
    assert send(subscription | {"endpoint": f"http://{address}/webpush/none"}, "x", ttl=60).status_code == 404
    assert not list((gateway.state / "devices").glob(f"{device.name}.*.webpush"))
    # The pending message can't be read any more.
    [push] = received(gateway, device)
    assert push["presentation"]["alert"]["body"] == "Encrypted message"


def test_a_message_is_withdrawn_and_has_a_receipt(gateway, device, subscription):
    answer = send(subscription, "x", ttl=60, headers={"Prefer": "respond-async"})
    assert answer.status_code == 202 and 'rel="urn:ietf:params:push:receipt"' in answer.headers["link"]
    place = answer.headers["location"]
    assert requests.get(place, timeout=HANG).status_code == 202
    assert requests.delete(place, timeout=HANG).status_code == 204
    assert gateway.waiting(device) == 0


def test_an_earlier_draft_is_refused_in_words(gateway, device, subscription):
    answer = send(subscription, "x", ttl=60, content_encoding="aesgcm")
    assert answer.status_code == 415 and "aes128gcm" in answer.json()["message"]
    answer = requests.post(subscription["endpoint"], timeout=HANG)
    assert answer.status_code == 400 and "ttl" in answer.json()["message"]


@pytest.mark.parametrize("options, code, words", [
    (["--vapid", "AAAA"], 2, "vapid"), (["--origin", "https://a/b"], 2, "origin"), (["--app", "com.example.none"], 3, "com.example.none"),
])
def test_mistakes_are_named(gateway, device, options, code, words):
    usual = {"--app": TOPIC, "--origin": "https://localhost:2197", "--device": device.name}
    given = usual | {options[0]: options[1]}
    done = run("endpoints", "add", "blog", *[word for pair in given.items() for word in pair], state=gateway.state)
    assert done.code == code and words in done.err and len(done.err.splitlines()) == 1, done.err
