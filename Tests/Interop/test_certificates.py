"""Senders that show a certificate (reference §4.5), and the gateway's own names."""

import datetime
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from gateway import ALERT, TOPIC
from test_wire import assert_error
from wire import Closed, Connection, tls_context

DEVELOPMENT, PRODUCTION, VOIP, TOPICS = (f"1.2.840.113635.100.6.3.{number}" for number in (1, 2, 4, 6))


@pytest.fixture(scope="module")
def certificate(gateway):
    return gateway.certificate(kinds=["voip"])


def post(connection, token, fields=(), payload=ALERT):
    return connection.request("POST", f"/3/device/{token}", list(fields), payload)


def goaway(connection):
    """What the gateway says before it closes, when it serves nothing: SETTINGS, one GOAWAY, the end."""
    connection.drain()
    assert connection.goaway is not None
    assert (connection.goaway.error_code, connection.goaway.last_stream_id) == (0, 0)
    assert [frame.name for frame in connection.frames if frame.stream] == []
    assert [frame.name for frame in connection.frames].count("GOAWAY") == 1
    return bytes(connection.goaway.additional_data)


class Authority:
    """An authority that the gateway has not made."""

    def __init__(self, folder):
        self.folder, self.key = Path(folder), ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Another CA")])
        self.certificate = self._sign(self.name, self.key.public_key(), x509.BasicConstraints(True, None))
        self.path = self._write("other-ca.pem", self.certificate.public_bytes(serialization.Encoding.PEM))

    def issue(self, name, *, topic=TOPIC, extensions=(), purpose=ExtendedKeyUsageOID.CLIENT_AUTH, days=30):
        key = ec.generate_private_key(ec.SECP256R1())
        subject = [x509.NameAttribute(NameOID.USER_ID, topic)] if topic else []
        subject = x509.Name(subject + [x509.NameAttribute(NameOID.COMMON_NAME, f"Apple Push Services: {topic}")])
        certificate = self._sign(
            subject, key.public_key(), x509.BasicConstraints(False, None), x509.ExtendedKeyUsage([purpose]),
            *(x509.UnrecognizedExtension(x509.ObjectIdentifier(oid), value) for oid, value in extensions), days=days)
        pem = serialization.Encoding.PEM
        return (
            self._write(f"{name}.pem", certificate.public_bytes(pem)),
            self._write(f"{name}.key", key.private_bytes(
                pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())))

    def _sign(self, subject, public, *extensions, days=30):
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = (
            x509.CertificateBuilder().subject_name(subject).issuer_name(self.name).public_key(public)
            .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=60))
            .not_valid_after(now + datetime.timedelta(days=days)))
        for extension in extensions:
            builder = builder.add_extension(extension, isinstance(extension, x509.BasicConstraints))
        return builder.sign(self.key, hashes.SHA256())

    def _write(self, name, data):
        (self.folder / name).write_bytes(data)
        return str(self.folder / name)


NULL = b"\x05\x00"


def test_a_certificate_is_issued_with_the_extensions_of_apples(gateway, tmp_path):
    made = gateway.run("certs", "create", "--topic", TOPIC, "--kind", "voip", "--kind", "complication",
        "--environment", "development", "--out", tmp_path, "--json").json
    assert {"certificate", "key"} <= set(made)
    assert Path(made["key"]).stat().st_mode & 0o777 == 0o600
    certificate = x509.load_pem_x509_certificate(Path(made["certificate"]).read_bytes())
    [uid] = certificate.subject.get_attributes_for_oid(NameOID.USER_ID)
    [name] = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    assert (uid.value, name.value) == (TOPIC, f"Apple Push Services: {TOPIC}")
    found = {extension.oid.dotted_string: extension.value for extension in certificate.extensions}
    assert DEVELOPMENT in found and VOIP in found and PRODUCTION not in found
    listed = found[TOPICS].value
    assert [topic in listed for topic in (TOPIC.encode(), b"app", TOPIC.encode() + b".voip", b".complication")] == [True] * 4
    gateway.run("certs", "create", "--topic", TOPIC, "--out", tmp_path, code=1)
    gateway.run("certs", "create", "--topic", "no topic", "--out", tmp_path, code=3)
    gateway.run("certs", "create", "--topic", TOPIC, "--kind", "alert", "--out", tmp_path / "..", code=2)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_certificate_is_enough_to_push(gateway, device, version):
    single = gateway.certificate()
    with gateway.connect(certificate=single, version=version) as connection:
        # Its one topic is meant where none is named.
        assert post(connection, device.token).status == 200
        assert post(connection, device.token, [("apns-topic", TOPIC)]).status == 200
        assert_error(post(connection, device.token, [("apns-topic", TOPIC + ".voip")]), 400, "TopicDisallowed")
        assert_error(post(connection, device.token, [("apns-topic", "com.example.other")]), 400, "TopicDisallowed")


def test_a_certificate_of_several_topics_needs_one_named(gateway, device, certificate):
    with gateway.connect(certificate=certificate) as connection:
        assert_error(post(connection, device.token), 400, "MissingTopic")
        assert post(connection, device.token, [("apns-topic", TOPIC)]).status == 200
        assert post(connection, device.token, [("apns-topic", TOPIC + ".voip")]).status == 200
        assert_error(post(connection, device.token, [("apns-topic", TOPIC + ".complication")]), 400, "TopicDisallowed")


@pytest.mark.parametrize("authorization", ["bearer nonsense", "basic x", ""])
def test_a_certificate_wins_over_a_token(gateway, device, certificate, authorization):
    fields = [("apns-topic", TOPIC), ("authorization", authorization)]
    with gateway.connect(certificate=certificate) as connection:
        assert post(connection, device.token, fields).status == 200


def test_a_sender_without_a_certificate_is_asked_and_served(gateway, device):
    with gateway.connect() as connection:
        assert gateway.push(device.token, connection=connection).status == 200


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_certificate_of_the_other_environment_ends_in_goaway(gateway, version):
    production = gateway.certificate(environment="production")
    # The gateway may end the connection before anything is sent: the first write is taken all the same, a second is not.
    with gateway.connect(certificate=production, version=version, preface=False) as connection:
        connection.h2.initiate_connection()
        stream = connection.send("POST", "/3/device/" + "0" * 64, [("apns-topic", TOPIC)], ALERT)
        assert goaway(connection) == b'{"reason":"BadCertificateEnvironment"}'
        assert connection.responses[stream].status is None


@pytest.mark.alone("a session of another gateway begins anew")
def test_a_resumed_session_is_still_the_clients(gateway, device, certificate):
    for version in [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]:
        context = tls_context(gateway.trust, version=version, certificate=certificate)
        with gateway.connect(context=context) as connection:
            assert post(connection, device.token, [("apns-topic", TOPIC)]).status == 200
            session = connection.socket.session
        with gateway.connect(context=context, session=session) as connection:
            assert connection.socket.session_reused
            assert post(connection, device.token, [("apns-topic", TOPIC)]).status == 200
            assert_error(post(connection, device.token), 400, "MissingTopic")


def test_revoking_a_certificate_ends_its_connections_and_no_other(gateway, device):
    bad, good = gateway.certificate(), gateway.certificate()
    context = tls_context(gateway.trust, certificate=bad)
    with gateway.connect(context=context) as first, gateway.connect(certificate=good) as second:
        assert post(first, device.token).status == post(second, device.token).status == 200
        half = first.open("POST", f"/3/device/{device.token}")
        first.ping()
        session = first.socket.session
        listed = gateway.run("certs", "--json").records
        [record] = [each for each in listed if each["id"] == certificate_id(bad)]
        assert "revoked" not in record and record["topics"] == [TOPIC] and record["expires"] > "2026"
        gateway.run("certs", "revoke", record["id"])
        # The request that was not complete is answered, and then the connection ends.
        assert_error(first.wait(half), 403, "BadCertificate")
        first.drain()
        assert bytes(first.goaway.additional_data) == b'{"reason":"BadCertificate"}'
        assert post(second, device.token).status == 200
    with gateway.connect(certificate=bad) as connection:
        assert goaway(connection) == b'{"reason":"BadCertificate"}'
    # A session from before does not carry it in.
    with gateway.connect(context=context, session=session) as connection:
        assert goaway(connection) == b'{"reason":"BadCertificate"}'
    assert [each for each in gateway.run("certs", "--json").records if each["id"] == record["id"]][0]["revoked"]
    gateway.run("certs", "revoke", "0" * 16, code=3)


def certificate_id(certificate):
    return x509.load_pem_x509_certificate(Path(certificate[0]).read_bytes()).fingerprint(hashes.SHA256()).hex()[:16]


def test_a_revocation_outlives_a_restart(start):
    gateway = start()
    certificate = gateway.certificate()
    gateway.run("certs", "revoke", "--file", certificate[0])
    gateway.stop()
    gateway.restart()
    with gateway.connect(certificate=certificate) as connection:
        assert goaway(connection) == b'{"reason":"BadCertificate"}'


def test_a_connection_ends_with_its_certificate(start, tmp_path):
    ours = Authority(tmp_path)
    for lifetime in (4, 20, 100):
        # It looks four times in the time after which it would call the connection idle.
        gateway = start("--client-ca", ours.path, "--idle-timeout", 2 * lifetime, name=f"lives-{lifetime}")
        device = gateway.device()
        certificate = ours.issue("short", days=lifetime / 86_400)
        with gateway.connect(certificate=certificate) as connection:
            try:
                status = post(connection, device.token).status
            except Closed:
                continue  # On a busy machine its time was over before the push was answered.
            assert status == 200
            connection.drain()
            assert bytes(connection.goaway.additional_data) == b'{"reason":"BadCertificate"}'
        gateway.wait_for_log("it has expired")
        return
    raise AssertionError("no certificate was good for long enough")


def test_certificates_of_a_configured_authority_are_accepted(start, tmp_path):
    ours, stranger = Authority(tmp_path), Authority(tmp_path_of(tmp_path, "stranger"))
    gateway = start("--client-ca", ours.path)
    device = gateway.device()
    # No environment is named: good for both. A VoIP extension adds its topic.
    plain = ours.issue("plain")
    with gateway.connect(certificate=plain) as connection:
        assert post(connection, device.token).status == 200
    voip = ours.issue("voip", extensions=[(DEVELOPMENT, NULL), (VOIP, NULL)])
    with gateway.connect(certificate=voip) as connection:
        assert post(connection, device.token, [("apns-topic", TOPIC + ".voip")]).status == 200
    with gateway.connect(certificate=gateway.certificate()) as connection:
        assert post(connection, device.token).status == 200
    for bad in [
        stranger.issue("plain"), ours.issue("nobody", topic=None), ours.issue("late", days=-1),
        ours.issue("server", purpose=ExtendedKeyUsageOID.SERVER_AUTH),
    ]:
        with gateway.connect(certificate=bad) as connection:
            assert goaway(connection) == b'{"reason":"BadCertificate"}'
    with gateway.connect(certificate=ours.issue("production", extensions=[(PRODUCTION, NULL)])) as connection:
        assert goaway(connection) == b'{"reason":"BadCertificateEnvironment"}'
    with gateway.connect(certificate=plain) as connection:
        assert post(connection, device.token).status == 200
        gateway.run("certs", "revoke", "--file", plain[0])
        assert connection.drain() is None and bytes(connection.goaway.additional_data) == b'{"reason":"BadCertificate"}'


def tmp_path_of(folder, name):
    (folder / name).mkdir()
    return folder / name


def test_send_shows_a_certificate(gateway, device, certificate):
    line = ["send", "--to", f"{device.name}/{TOPIC}", "--title", "Hello", "--json", "--certificate"]
    assert gateway.run(*line, certificate[0]).json["status"] == 200
    assert gateway.run(*line, certificate[0], "--certificate-key", certificate[1]).json["status"] == 200
    gateway.run(*line, gateway.trust, "--certificate-key", certificate[1], code=2)
    revoked = gateway.certificate(kinds=["voip"])
    gateway.run("certs", "revoke", "--file", revoked[0])
    refused = gateway.run(*line, revoked[0], code=4).err
    assert "refused with 403 BadCertificate: " in refused and len(refused.splitlines()) == 1, refused


@pytest.mark.alone("each has a certificate of its own")
def test_a_server_certificate_for_apples_names_is_used_at_once(start):
    gateway = start()
    device = gateway.device()
    with pytest.raises(ssl.SSLCertVerificationError):
        gateway.connect(name="api.push.apple.com")
    with gateway.connect() as before:
        names = ["api.push.apple.com", "api.sandbox.push.apple.com"]
        made = gateway.run("certs", "create-server", *[part for name in names for part in ("--name", name)], "--json").json
        assert made["certificate"] == str(gateway.state / "server.pem")
        for name in [*names, "localhost"]:
            with gateway.connect(name=name) as connection:
                assert gateway.push(device.token, connection=connection).status == 200
        assert gateway.push(device.token, connection=before).status == 200
    gateway.stop()
    gateway.restart()
    with gateway.connect(name="api.push.apple.com") as connection:
        assert gateway.push(device.token, connection=connection).status == 200
    gateway.run("certs", "create-server", "--name", "no name", code=2)


def test_a_server_certificate_can_be_written_elsewhere(gateway, tmp_path):
    before = (gateway.state / "server.pem").read_bytes()
    made = gateway.run("certs", "create-server", "--name", "push.example", "--address", "10.0.0.1", "--out", tmp_path, "--json").json
    certificate = x509.load_pem_x509_certificate(Path(made["certificate"]).read_bytes())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost", "push.example"]
    assert "10.0.0.1" in map(str, names.get_values_for_type(x509.IPAddress))
    assert (gateway.state / "server.pem").read_bytes() == before


# Environments (reference §1.1)


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    from gateway import Gateway

    gateway = Gateway(tmp_path_factory.mktemp("both") / "state", "--listen", "127.0.0.1:0=production",
        "--listen", "127.0.0.1:0=by-name").start()
    names = ["api.push.apple.com", "api.sandbox.push.apple.com"]
    gateway.run("certs", "create-server", *[part for name in names for part in ("--name", name)])
    yield gateway
    gateway.stop()


WORLDS = {
    "development": [dict(listener=0), dict(listener=2), dict(listener=2, name="api.sandbox.push.apple.com")],
    "production": [dict(listener=1), dict(listener=2, name="api.push.apple.com")],
}


def test_each_listener_serves_its_environments_tokens_and_keys(both):
    device = both.device()
    tokens = {world: both.register(device.name, TOPIC, environment=world) for world in WORLDS}
    keys = {world: both.new_key(environment=world) for world in WORLDS}
    assert tokens["development"] == device.token != tokens["production"]
    for world, other in [("development", "production"), ("production", "development")]:
        for where in WORLDS[world]:
            with both.connect(**where) as connection:
                answer = both.push(tokens[world], connection=connection)
                assert answer.status == 200, (where, answer.body)
                assert (answer["apns-unique-id"] is not None) == (world == "development")
                assert_error(both.push(tokens[other], connection=connection), 400, "BadDeviceToken")
            with both.connect(**where) as connection:
                assert both.push(tokens[world], connection=connection, key=keys[world]).status == 200
                assert_error(
                    both.push(tokens[world], connection=connection, key=keys[other]), 403, "BadEnvironmentKeyInToken")
            certificate = both.certificate(environment=other)
            with both.connect(certificate=certificate, **where) as connection:
                assert goaway(connection) == b'{"reason":"BadCertificateEnvironment"}'


def test_a_device_registers_in_the_environment_of_its_listener(both):
    device = both.device()
    with both.connect(listener=1) as connection:
        answer = connection.request("PUT", f"/v1/device/apps/{TOPIC}", [("authorization", f"bearer {device.secret}")])
        token = answer.json["token"]
        assert token != device.token
        assert both.push(token, connection=connection).status == 200


def test_a_registration_without_an_environment_has_one_that_is_served(start):
    alone = start(listen="127.0.0.1:0=production", name="alone")
    alone.run("devices", "enroll", "me")
    alone.run("devices", "register", "me", TOPIC)
    assert alone.run("send", "--to", f"me/{TOPIC}", "--title", "Hello", "--json").json["status"] == 200
    several = start("--listen", "127.0.0.1:0=production", listen="127.0.0.1:0", name="several")
    several.run("devices", "enroll", "me")
    for address in (several.state / "listening").read_text().split():
        several.run("devices", "register", "me", TOPIC, "--gateway", address)
        line = ["send", "--to", f"me/{TOPIC}", "--title", "Hello", "--gateway", address, "--json"]
        assert several.run(*line).json["status"] == 200


def test_send_finds_the_listener_and_the_token_of_an_environment(both):
    device = both.device()
    for world in WORLDS:
        both.register(device.name, TOPIC, environment=world)
        line = ["send", "--to", f"{device.name}/{TOPIC}", "--title", "Hello", "--environment", world, "--json"]
        sent = both.run(*line).json
        assert sent["status"] == 200 and ("apns_unique_id" in sent) == (world == "development")
