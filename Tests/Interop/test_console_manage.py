"""The console's pages of users, devices, apps, keys and the gateway's certificate, in Chromium."""

import re

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from gateway import TOPIC
from test_console import Console, link, link_of, token
from test_web import chromium  # noqa: F401
from tokens import Key

pytestmark = pytest.mark.alone("the page is of one gateway")


class Objects:
    """The lists of a console: the pages of their objects, and the actions there."""

    def __init__(self, console):
        self.console, self.page, self.gateway = console, console.page, console.gateway

    def open(self, name, key):
        """Opens the page of an object from its list."""
        self.console.show(name)
        self.page.click(f".list .row a >> text='{key}'")
        self.page.wait_for_selector(f"h1 >> text='{key}'")

    def act(self, title, **fields):
        """Fills the form of an action, and confirms it."""
        self.page.click(f"main button >> text='{title}'")
        for name, value in fields.items():
            field = f"dialog[open] #field-{name}"
            self.page.wait_for_selector(field)
            choose = self.page.select_option if self.page.eval_on_selector(field, "(one) => one.localName") == "select" else self.page.fill
            choose(field, value)
        self.page.click("dialog[open] form button >> nth=-1")

    def said(self, words):
        self.page.wait_for_selector(f".toast >> text={words}")

    def undo(self):
        self.page.click(".toast button >> text=Undo")

    def row(self, table, *texts):
        """Waits for a row of a table that begins with texts."""
        self.page.wait_for_function("""([table, texts]) => [...document.querySelectorAll(`table[aria-label="${table}"] tbody tr`)]
          .some((row) => texts.every((one, index) => row.children[index].textContent === one))""", arg=[table, list(texts)])


@pytest.fixture
def objects(start, chromium, tmp_path):  # noqa: F811
    gateway = start()
    console = Console(gateway, chromium, tmp_path / "profile", link(gateway))
    yield Objects(console)
    console.close()


def reader_of(start, chromium, folder, *devices):  # noqa: F811
    """The lists of a console with the role reader, at a gateway with devices."""
    gateway = start("--remote-admin", "on")
    for name, person in devices:
        gateway.device(name=name, person=person)
    return Objects(Console(gateway, chromium, folder, link_of(gateway, token(gateway, "ada", "reader"))))


def names_of(gateway):
    return [one["name"] for one in gateway.admin("GET", "persons")]


def test_a_user_is_renamed_and_removed(objects):
    gateway, page = objects.gateway, objects.page
    gateway.device(name="phone", person="ada")
    gateway.enroll("tablet", "bob")
    objects.open("persons", "ada")
    page.wait_for_selector("main a >> text='Device phone'")
    objects.act("Rename …", name="bob")
    page.wait_for_selector("dialog[open] .error >> text=bob")
    page.keyboard.press("Escape")
    objects.act("Rename …", name="Ada Lovelace")
    objects.said("ada is Ada Lovelace now")
    page.wait_for_selector("h1 >> text='Ada Lovelace'")
    assert page.url.endswith("#/persons/Ada%20Lovelace") and names_of(gateway) == ["Ada Lovelace", "bob"]
    objects.undo()
    page.wait_for_selector("h1 >> text='ada'")
    assert names_of(gateway) == ["ada", "bob"]
    # The page of a device has the link back.
    page.click("main a >> text='Device phone'")
    page.click("main a >> text='User ada'")
    page.click("main button >> text='Remove …'")
    page.wait_for_selector("dialog[open] >> text=can't be undone")
    page.click("dialog[open] button.destructive")
    page.wait_for_selector(".state >> text='1'")
    assert names_of(gateway) == ["bob"] and [one["name"] for one in gateway.devices()] == ["tablet"]


def test_preferences_of_a_user_are_shown_and_set(objects):
    gateway, page = objects.gateway, objects.page
    topic = gateway.app("com.example.quiet")
    gateway.device(topic, name="phone", person="ada")
    before = gateway.prefer("phone", "quiet=22:00-07:00", "focus.work=none")
    objects.open("persons", "ada")
    objects.row("Preferences", "Quiet Hours", "22:00-07:00")
    objects.act("Set Preferences …", settings="sound=off\nfocus.work=off")
    objects.said("Changed the preferences of ada")
    objects.row("Preferences", "Sounds", "Off")
    changed = gateway.admin("GET", "devices", "phone", "preferences")
    assert changed["sound"] is False and "focus" not in changed
    objects.undo()
    objects.row("Preferences", "Sounds", "On")
    assert gateway.admin("GET", "devices", "phone", "preferences") == before
    objects.act("Set Preferences …", settings="delivery=summary", app=topic)
    objects.row(topic, "Deliver", "In the Summary")
    # A wrong setting, and the one of the user alone, are refused where they were typed.
    objects.act("Set Preferences …", settings="sound=perhaps")
    page.wait_for_selector("dialog[open] .error >> text=perhaps")
    page.fill("dialog[open] #field-settings", "log-text=senders")
    page.click("dialog[open] form button >> nth=-1")
    page.wait_for_selector("dialog[open] .error >> text=only a device of the user can change log-text")
    page.keyboard.press("Escape")


def test_a_reader_sees_a_user_and_has_no_button(start, chromium, tmp_path):  # noqa: F811
    objects = reader_of(start, chromium, tmp_path / "profile", ("phone", "ada"))
    objects.open("persons", "ada")
    objects.row("Preferences", "Sounds", "On")
    assert objects.page.query_selector("main button") is None
    objects.console.close()


def subscriptions(gateway, device):
    return [one["id"] for one in gateway.admin("GET", "devices", device, "channels")]


def test_a_device_is_subscribed_and_unsubscribed(objects):
    gateway, page = objects.gateway, objects.page
    device = gateway.device(name="phone")
    other = gateway.app("com.example.other")
    channel, foreign = gateway.channel(), gateway.channel(other)
    objects.open("devices", "phone")
    objects.row("Registrations", TOPIC, "development", device.token)
    assert page.query_selector("table[aria-label=Subscriptions]") is None
    # The form offers no channel of an app that the device is not registered for.
    page.click("main button >> text='Subscribe …'")
    page.wait_for_selector("#field-channel option", state="attached")
    offered = page.eval_on_selector_all("#field-channel option", "(all) => all.map((one) => one.value)")
    assert offered == [channel] and foreign != channel
    page.keyboard.press("Escape")
    objects.act("Subscribe …", channel=channel)
    objects.row("Subscriptions", channel, TOPIC, "development")
    assert subscriptions(gateway, "phone") == [channel]
    objects.act("Unsubscribe …", channel=channel)
    objects.said("Unsubscribed phone")
    page.wait_for_selector("table[aria-label=Subscriptions]", state="detached")
    assert subscriptions(gateway, "phone") == []
    objects.undo()
    objects.row("Subscriptions", channel, TOPIC, "development")
    assert subscriptions(gateway, "phone") == [channel]
    # The registration ends with its device token.
    objects.act("Unregister …", topic=TOPIC)
    objects.said("Unregistered phone")
    page.wait_for_selector("table[aria-label=Registrations]", state="detached")
    assert gateway.admin("GET", "devices", "phone", "registrations") == []


def test_a_device_gets_another_secret_which_is_shown_once(objects):
    gateway, page = objects.gateway, objects.page
    device = gateway.device(name="phone")
    objects.open("devices", "phone")
    page.click("main button >> text='Rotate Secret …'")
    page.wait_for_selector("dialog[open] >> text=becomes invalid")
    page.keyboard.press("Escape")
    assert gateway.ask("GET", "/v1/device", secret=device.secret)["name"] == "phone"
    objects.act("Rotate Secret …")
    page.wait_for_selector("dialog[open] >> text=Shown Only Once")
    secret = page.inner_text("dialog[open] pre")
    page.click("dialog[open] button >> text=Done")
    page.wait_for_selector("dialog:not(.help)", state="detached")
    assert secret != device.secret and secret not in page.content()
    assert gateway.ask("GET", "/v1/device", secret=secret)["name"] == "phone"
    gateway.ask("GET", "/v1/device", secret=device.secret, status=401)


def test_an_app_is_strict_and_its_new_categories_start_quiet(objects):
    gateway, page = objects.gateway, objects.page
    topic = gateway.app("com.example.flags", name="Flags")

    def flags():
        [found] = [one for one in gateway.admin("GET", "apps") if one["topic"] == topic]
        return found["strict"], "known_categories" in found

    objects.open("apps", topic)
    page.wait_for_selector("dt:has-text('Strict') + dd >> text='false'")
    objects.act("Change …", strict="refuse")
    page.wait_for_selector("dt:has-text('Strict') + dd >> text='true'")
    assert flags() == (True, False)
    objects.act("New Categories …", new_categories="quiet")
    page.wait_for_selector("dt:has-text('New categories') + dd >> text='quiet'")
    assert flags() == (True, True)
    # The form has the present values.
    page.click("main button >> text='New Categories …'")
    assert page.input_value("#field-new_categories") == "quiet"
    page.select_option("#field-new_categories", "show")
    page.click("dialog[open] form button >> nth=-1")
    page.wait_for_selector("dt:has-text('New categories') + dd >> text='show'")
    assert flags() == (True, False)
    objects.act("Change …", name="Other", strict="report")
    objects.said("Changed Flags")
    objects.undo()
    page.wait_for_selector("dt:has-text('Strict') + dd >> text='true'")
    page.wait_for_selector("dt:has-text('Name') + dd >> text='Flags'")
    assert flags() == (True, False)


def test_a_key_of_a_sender_is_imported_from_a_file_or_a_text(objects, tmp_path):
    gateway, page = objects.gateway, objects.page
    device = gateway.device(name="phone")
    private = ec.generate_private_key(ec.SECP256R1())
    path = tmp_path / "AuthKey_IMPORTED01.p8"
    path.write_bytes(private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    public = private.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
    team = gateway.key.team_id
    objects.console.show("keys")
    page.click("main button >> text='Import …'")
    page.set_input_files("#field-pem-file", path)
    page.wait_for_function("() => document.querySelector('#field-id').value === 'IMPORTED01'")
    assert page.input_value("#field-pem").startswith("-----BEGIN PRIVATE KEY-----")
    page.select_option("#field-team", team)
    page.click("dialog[open] form button >> nth=-1")
    objects.said("Imported IMPORTED01")
    page.wait_for_selector(".list .row >> text='IMPORTED01'")
    # The same id again, and a text that is no key, are refused where they were typed; the public half of another one is enough.
    objects.act("Import …", pem=public, id="IMPORTED01", team=team)
    page.wait_for_selector("dialog[open] .error >> text=IMPORTED01")
    page.fill("#field-id", "IMPORTED02")
    page.fill("#field-pem", "words")
    page.click("dialog[open] form button >> nth=-1")
    page.wait_for_selector("dialog[open] .error >> text=invalid key")
    page.fill("#field-pem", public)
    page.click("dialog[open] form button >> nth=-1")
    objects.said("Imported IMPORTED02")
    for key_id in ("IMPORTED01", "IMPORTED02"):
        assert gateway.push(device.token, key=Key(path, key_id, team)).status == 200
    bodies = [one["body"] for one in gateway.run("admin", "audit", "--json").records if one["path"] == "/admin/v1/keys"]
    assert any("IMPORTED01" in one for one in bodies) and not any("BEGIN PRIVATE KEY" in one for one in bodies)


def test_the_status_has_the_certificate_of_the_gateway(objects):
    gateway, page = objects.gateway, objects.page
    gateway.run("certs", "create-server", "--name", "push.example.com")
    objects.console.show("status")

    def fact(name):
        return page.inner_text(f"dt:has-text('{name}') + dd")

    page.wait_for_selector("dt:has-text('Names of the certificate') + dd >> text=push.example.com")
    assert "localhost" in fact("Names of the certificate")
    assert fact("Issuer of the certificate") == "PushGateway local CA"
    assert fact("Fingerprint of the CA") == gateway.run("certs", "authority").out.strip()
    assert re.fullmatch(r"ends in \d+ days", fact("Certificate server"))
    assert page.query_selector("main button") is None
