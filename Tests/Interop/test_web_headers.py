"""All header fields of each response of the page, by the rules of Mozilla's HTTP Observatory, and the limits of both clients."""

import base64
import hashlib
import json
import re
import subprocess

import pytest

from test_http import curl
from test_web import FILES, ROOT, invitation, page_request
from waiting import HANG

pytestmark = pytest.mark.alone("the page is of one gateway")

#: The hashes of the style sheets of both pages.
STYLES = " ".join(
    f"'sha256-{base64.b64encode(hashlib.sha256((folder / 'style.css').read_bytes()).digest()).decode()}'"
    for folder in (FILES, FILES.parent / "console"))

#: The fields of each response of the page. A script or a style sheet in the HTML, a script from a text, another origin, a form,
#: a base address and a frame are impossible.
RESTRICTIONS = {
    "content-security-policy": "; ".join([
        "default-src 'none'", "script-src 'self'", f"style-src 'self' {STYLES}", "img-src 'self'", "connect-src 'self'",
        "manifest-src 'self'", "worker-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
        "require-trusted-types-for 'script'", "trusted-types phone"]),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), "
                          "magnetometer=(), microphone=(), midi=(), payment=(), serial=(), usb=()",
}
#: A file is compared with its validator at each visit; nothing else is kept.
KEPT = {"cache-control": "no-cache"}
NOT_KEPT = {"cache-control": "no-store"}
REFUSAL = {"content-type": "application/problem+json", "x-content-type-options": "nosniff", **NOT_KEPT}
#: Fields of the connection and of the body.
OTHERS = {":status", "connection", "content-length", "etag", "set-cookie"}

KINDS = {
    "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "svg": "image/svg+xml",
    "webmanifest": "application/manifest+json",
}
PATHS = ["/phone", "/join", *(f"/phone/{file.name}" for file in FILES.iterdir())]


def of_file(path):
    """The fields of a file."""
    kind = KINDS[path.rpartition(".")[2] if "." in path else "html"]
    scope = {"service-worker-allowed": "/phone"} if path == "/phone/worker.js" else {}
    return {"content-type": kind, **KEPT, **RESTRICTIONS, **scope}


def lowered(fields):
    """`curl` gives the fields in lower case."""
    return {name: value.lower() for name, value in fields.items()}


def named(fields):
    return {name: value for name, value in fields.items() if name not in OTHERS}


def test_each_file_has_exactly_these_fields(gateway):
    for path in PATHS:
        status, fields, _ = curl(gateway, path)
        assert (status, named(fields)) == (200, lowered(of_file(path))), path
        status, again, _ = curl(gateway, path, "-H", f"if-none-match: {fields['etag']}")
        assert status == 304 and again["etag"] == fields["etag"], path
        expected = of_file(path) | {"content-type": again["content-type"]}
        assert named(again) == lowered(expected), path


def test_the_session_has_exactly_these_fields(gateway):
    _, code = invitation(gateway)
    body = json.dumps({"name": "with-fields", "invitation": code})
    status, fields, _ = page_request(gateway, "/phone/session", "-d", body)
    assert status == 201
    assert named(fields) == lowered({"content-type": "application/json", **NOT_KEPT, **RESTRICTIONS})
    # Over HTTP no prefix and no `Secure` is possible; the cookie is for this host alone, and no script reads it.
    pattern = r"pushgateway-[0-9a-z]{1,8}=\S+; path=/; httponly; samesite=strict; max-age=34560000"
    assert re.fullmatch(pattern, fields["set-cookie"])
    cookie = ["-H", f"cookie: {fields['set-cookie'].partition(';')[0]}"]
    status, fields, _ = page_request(gateway, "/phone/session", "-X", "DELETE", *cookie)
    assert status == 204 and re.fullmatch(r"pushgateway-[0-9a-z]{1,8}=; path=/; httponly; samesite=strict; max-age=0", fields["set-cookie"])
    assert {name: value for name, value in named(fields).items() if name != "content-type"} == lowered({**NOT_KEPT, **RESTRICTIONS})


def test_refusals_have_exactly_these_fields(gateway):
    for path, options, status, more in [
            ("/phone/nothing", [], 404, {}), ("/phone", ["-X", "POST"], 405, {"allow": "get, head"}),
            ("/phone/session", ["-d", "{}"], 403, {}), ("/v1/device", [], 401, {"www-authenticate": "bearer"})]:
        found, fields, _ = curl(gateway, path, *options)
        assert (found, named(fields)) == (status, REFUSAL | more), path


def test_over_tls_browsers_use_https_only_and_the_cookie_has_its_prefix(gateway):
    # A name of this machine has other programs, and this gateway's page over HTTP, at other ports.
    for name, expected in [
            ("localhost", {}), ("pushgateway.localhost", {}), ("push.example.org", {"strict-transport-security": "max-age=31536000"})]:
        port = gateway.address.rpartition(":")[2]
        line = [
            "curl", "-sS", "-i", "--http2", "--insecure", "--connect-to", f"{name}:{port}:{gateway.address}", f"https://{name}:{port}/phone"]
        done = subprocess.run(line, capture_output=True, text=True, timeout=HANG, check=True)
        status, *lines = done.stdout.partition("\n\n")[0].splitlines()
        assert status.startswith("HTTP/2 200")
        assert named(dict(one.split(": ", 1) for one in lines)) == of_file("/phone") | expected, name
    with gateway.connect() as connection:
        _, code = invitation(gateway)
        own = [("origin", f"https://{gateway.address}"), ("sec-fetch-site", "same-origin")]
        body = json.dumps({"name": "with-prefix", "invitation": code}).encode()
        response = connection.request("POST", "/phone/session", own, body)
        assert response.status == 201
        pattern = r"__Host-pushgateway-[0-9a-z]{1,8}=\S+; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=34560000"
        assert re.fullmatch(pattern, response["set-cookie"])


def test_the_browser_and_the_terminal_have_the_same_limits():
    """One number for each, in the code of both and in their pages."""
    page = re.search(r"limits = \{ entries: ([\d_]+), alerts: (\d+), snoozed: \d+, pending: (\d+), dropped: (\S+), ", (FILES / "state.js").read_text())
    source = (ROOT / "Sources/pushcli/Phone/PhoneState.swift").read_text()
    names = ["Entries", "Alerts", "PendingAnswers", "Dropped"]
    terminal = [int(re.search(rf"maximum{name} = ([\d_]+)", source)[1]) for name in names]
    assert [int(float(number.replace("_", ""))) for number in page.groups()] == terminal
    entries, alerts = f"{terminal[0]:,}", str(terminal[1])
    for name in ["terminal", "browser"]:
        text = (ROOT / f"docs/receive/{name}.md").read_text()
        assert entries in text and re.search(rf"\b{alerts}\b", text), name
