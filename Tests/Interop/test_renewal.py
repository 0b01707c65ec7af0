"""The gateway's own certificates: names that are added, ends that are near, another authority (docs/operate/certificates.md)."""

import datetime
import ipaddress
import ssl
import subprocess

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gateway import TOPIC, run
from waiting import HANG

NAMES = ["localhost", "push.example"]


def certificate(path):
    return x509.load_pem_x509_certificate(path.read_bytes())


def names(path):
    found = certificate(path).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return [*found.get_values_for_type(x509.DNSName), *map(str, found.get_values_for_type(x509.IPAddress))]


def days_left(path):
    return (certificate(path).not_valid_after_utc - datetime.datetime.now(datetime.timezone.utc)).days


def issue(state, days, alternatives=(*map(x509.DNSName, NAMES), x509.IPAddress(ipaddress.ip_address("127.0.0.1")))):
    """Puts a server's certificate there that the gateway's own authority has issued: good for an hour less than so many days."""
    authority = certificate(state / "ca.pem")
    signer = serialization.load_pem_private_key((state / "ca.key").read_bytes(), None)
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder().subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")]))
        .issuer_name(authority.subject).public_key(key.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=800)).not_valid_after(now + datetime.timedelta(days=days, hours=-1))
        .add_extension(x509.SubjectAlternativeName(alternatives), False).sign(signer, hashes.SHA256()))
    (state / "server.key").write_bytes(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    (state / "server.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))


@pytest.mark.parametrize("days", [29, 1, -1])
def test_a_certificate_that_is_near_its_end_is_renewed_by_a_start(start, days):
    gateway = start()
    gateway.stop()
    issue(gateway.state, days)
    done = gateway.run("doctor", code=1 if days < 0 else 0)
    # A day that has begun does not count.
    assert (f"ends in {days - 1} days" if days > 0 else "has expired") in done.out
    gateway.restart()
    gateway.wait_for_log("certificate-renewed")
    assert days_left(gateway.state / "server.pem") > 800
    assert names(gateway.state / "server.pem") == [*NAMES, "127.0.0.1"]
    with gateway.connect(name="push.example") as connection:
        assert connection.request("GET", "/v1/health").status == 200
    findings = {record["check"]: record for record in gateway.run("doctor", "--json").records}
    assert findings["server certificate"]["state"] == findings["authority"]["state"] == "ok"


def test_one_that_is_good_for_longer_stays(start):
    gateway = start()
    gateway.stop()
    issue(gateway.state, 40)
    before = (gateway.state / "server.pem").read_bytes()
    gateway.restart()
    assert (gateway.state / "server.pem").read_bytes() == before
    assert "certificate-renewed" not in gateway.log


def test_doctor_elsewhere_tells_the_days_of_both(start):
    gateway = start()
    done = run("doctor", "--gateway", gateway.address, "--ca", gateway.trust, "--json", state=gateway.state)
    words = {record["check"]: record["words"] for record in done.records}
    for check, name in [("server certificate", "server.pem"), ("authority", "ca.pem")]:
        # A day may have begun since.
        days = days_left(gateway.state / name)
        assert any(f"valid for {number} days" in words[check] for number in (days, days + 1)), words[check]


def test_names_are_added_to_a_certificate(start):
    gateway = start()
    gateway.run("certs", "create-server", "--name", "push.example")
    made = gateway.run("certs", "create-server", "--name", "far.example", "--address", "10.0.0.1")
    assert "push.example" in made.err and "far.example" in made.err
    path = gateway.state / "server.pem"
    assert set(names(path)) == {"localhost", "push.example", "far.example", "127.0.0.1", "::1", "10.0.0.1"}
    before = path.read_bytes()
    gateway.run("certs", "create-server", "--name", "FAR.example")
    assert path.read_bytes() == before
    for name in ["push.example", "far.example"]:
        with gateway.connect(name=name) as connection:
            assert connection.request("GET", "/v1/health").status == 200


def test_a_certificate_of_the_settings_is_watched_and_names_are_not_added_to_it(start):
    first = start()
    first.stop()
    issue(first.state, 40)
    path = first.state / "server.pem"
    gateway = start("--certificate", path, "--certificate-key", first.state / "server.key", name="other")
    end = int(certificate(path).not_valid_after_utc.timestamp())
    shown = gateway.run("metrics").out
    assert f'pushgateway_certificate_expiry_timestamp_seconds{{certificate="server"}} {end}' in shown
    refused = gateway.run("certs", "create-server", "--name", "far.example", code=1)
    assert "certificate" in refused.err and "setting" in refused.err


def test_a_certificate_from_elsewhere_is_replaced_on_disk_and_commands_here_trust_what_is_shown(start):
    elsewhere = start()
    elsewhere.stop()
    public = [x509.DNSName("push.example.com")]
    issue(elsewhere.state, 40, public)
    path, key = elsewhere.state / "server.pem", elsewhere.state / "server.key"
    gateway = start("--certificate", path, "--certificate-key", key, name="other")

    def shown():
        pem = ssl.get_server_certificate(("127.0.0.1", int(gateway.address.rpartition(":")[2])))
        return x509.load_pem_x509_certificate(pem.encode())

    def use():
        """Sends, receives and looks, as the person on this machine does."""
        device = gateway.device()
        sent = gateway.run("send", "--to", f"{device.name}/{TOPIC}", "--title", "Hello", "--json").json
        assert sent["status"] == 200
        gateway.run("subscribe", "--device", device.name, "--count", "1")
        return {record["check"]: record for record in gateway.run("doctor", "--json").records}

    findings = use()
    assert findings["gateway"]["state"] == "ok", findings["gateway"]
    assert any(f"valid for {days} days" in findings["server certificate"]["words"] for days in (38, 39))
    before = shown()
    issue(elsewhere.state, 20, public)
    gateway.wait_for_log("certificate-replaced")
    assert shown() == certificate(path) != before
    assert any(f"ends in {days} days" in use()["server certificate"]["words"] for days in (18, 19))
    # One alone, which fits no key: the one before stays, and the log says so.
    whole = path.read_bytes()
    path.write_bytes((elsewhere.state / "ca.pem").read_bytes())
    gateway.wait_for_log("certificate-unusable")
    assert shown() == x509.load_pem_x509_certificate(whole)


def test_the_authority_is_told_to_whoever_asks(start):
    gateway = start()
    with gateway.connect() as connection:
        answer = connection.request("GET", "/v1/authority")
    assert answer.status == 200 and answer.body == (gateway.state / "ca.pem").read_bytes()


def test_another_authority_takes_over_and_nobody_is_cut_off(start):
    gateway = start()
    device, sender = gateway.device(), gateway.certificate()
    gateway.run("certs", "rollover", "--finish", code=1)
    old = (gateway.state / "ca.pem").read_bytes()
    assert "replaces it" in gateway.run("certs", "rollover").err
    with gateway.connect() as connection:
        both = connection.request("GET", "/v1/authority").body
    assert both.startswith(old) and both.count(b"BEGIN CERTIFICATE") == 2
    gateway.run("certs", "rollover", "--finish")
    assert (gateway.state / "ca.pem").read_bytes() == both[len(old):]
    # Who trusted both goes on, who trusted the one before alone does not.
    (gateway.state.parent / "both.pem").write_bytes(both)
    (gateway.state.parent / "old.pem").write_bytes(old)
    context = ssl.create_default_context(cafile=str(gateway.state.parent / "both.pem"))
    context.set_alpn_protocols(["h2"])
    with gateway.connect(context=context) as connection:
        assert connection.request("GET", "/v1/health").status == 200
    with pytest.raises(ssl.SSLCertVerificationError):
        gateway.connect(context=ssl.create_default_context(cafile=str(gateway.state.parent / "old.pem")))
    # The chain that is shown ends in the new one: who has its fingerprint finds it there.
    shown = subprocess.run(
        ["openssl", "s_client", "-showcerts", "-connect", gateway.address], input="", capture_output=True, text=True,
        errors="replace").stdout
    assert (gateway.state / "ca.pem").read_text().strip() in shown and old.decode().strip() not in shown
    # A sender's certificate of the authority before is good, also after a restart, and so is one of the new.
    for shown in [sender, gateway.certificate()]:
        with gateway.connect(certificate=shown) as connection:
            body = b'{"aps":{"alert":"Over"}}'
            assert connection.request("POST", f"/3/device/{device.token}", [("apns-topic", TOPIC)], body).status == 200
    gateway.stop()
    gateway.restart()
    with gateway.connect(certificate=sender) as connection:
        assert connection.request(
            "POST", f"/3/device/{device.token}", [("apns-topic", TOPIC)], b'{"aps":{"alert":"Over"}}').status == 200
    assert not list(gateway.state.glob("ca-next.*"))


def test_a_self_signed_certificate_that_is_also_a_ca_is_trusted_on_this_machine(start, tmp_path):
    """As `openssl req -x509` makes it. Its names are others than the local address."""
    path, key = tmp_path / "self.pem", tmp_path / "self.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "89",
         "-subj", "/CN=push.example.com", "-addext", "subjectAltName=DNS:push.example.com", "-keyout", key, "-out", path],
        check=True, capture_output=True, timeout=HANG)
    assert certificate(path).extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    gateway = start("--certificate", path, "--certificate-key", key)
    device = gateway.device()
    gateway.run("send", "--to", f"{device.name}/{TOPIC}", "--title", "Hello")
    gateway.run("subscribe", "--device", device.name, "--count", "1")
    findings = {record["check"]: record for record in gateway.run("doctor", "--json").records}
    assert findings["gateway"]["state"] == "ok", findings["gateway"]
