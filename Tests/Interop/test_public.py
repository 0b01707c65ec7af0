"""A gateway with a certificate of a public CA (docs/operate/domain-and-tls.md): what its codes contain, and who trusts it."""

import datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from machines import machine  # noqa: F401

#: The first four groups of a code without a fingerprint.
ZEROS = "0000-0000-0000-0000-"


class PublicCA:
    """A root that stands for the system's CAs, and certificates of intermediates under it."""

    def __init__(self, folder):
        self.folder, self.path = folder, folder / "roots.pem"
        self.certificate, self.key = self.sign("Root", None, None, is_authority=True)
        self.path.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))
        self.chain, self.chain_key = folder / "fullchain.pem", folder / "privkey.pem"

    @staticmethod
    def sign(name, issuer, issuer_key, *, is_authority, names=()):
        key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.timezone.utc)
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = (
            x509.CertificateBuilder().subject_name(subject).issuer_name(issuer.subject if issuer else subject)
            .public_key(key.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=60))
            .add_extension(x509.BasicConstraints(is_authority, None), True))
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName([*map(x509.DNSName, names)]), False)
        return builder.sign(issuer_key or key, hashes.SHA256()), key

    def renew(self, intermediate):
        """Writes a certificate for localhost and *.example, as certbot does: with its intermediate, and without the root."""
        between, between_key = self.sign(intermediate, self.certificate, self.key, is_authority=True)
        certificate, key = self.sign("localhost", between, between_key, is_authority=False, names=["localhost", "*.example"])
        pem = serialization.Encoding.PEM
        self.chain_key.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        self.chain.write_bytes(certificate.public_bytes(pem) + between.public_bytes(pem))
        return ["--certificate", self.chain, "--certificate-key", self.chain_key]


@pytest.fixture
def public(tmp_path):
    return PublicCA(tmp_path)


def invite(gateway, host=None) -> str:
    return gateway.run("devices", "invite", "--host", host or f"localhost:{gateway.port}").out.strip()


def stored_ca(machine):
    return machine.home / ".local/share/pushgateway/contexts/localhost/ca.pem"


def test_codes_stay_valid_when_a_renewed_certificate_has_another_intermediate(start, machine, public, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(public.path))
    gateway = start(*public.renew("First"), "--remote-admin", "on")
    invitation = invite(gateway)
    token = gateway.run("admin", "tokens", "create", "laptop", "--role", "reader").out.strip()
    assert invitation.startswith(ZEROS) and token.startswith("pga-" + "0" * 16 + "-")
    authority = gateway.run("certs", "authority")
    assert authority.out.strip() == ZEROS.rstrip("-") and "needs no fingerprint" in authority.err
    public.renew("Second")
    gateway.wait_for_log("certificate-replaced")
    laptop, desk = machine("laptop"), machine("desk")
    laptop.run("join", invitation, "--device", "laptop")
    desk.run("login", f"localhost:{gateway.port}", stdin=token + "\n")
    public.renew("Third")
    gateway.wait_for_log("certificate-replaced", 2)
    laptop.run("prefs")
    desk.run("devices")
    assert not stored_ca(laptop).exists() and not stored_ca(desk).exists()


def test_a_code_without_a_fingerprint_is_sent_only_where_the_system_verifies_the_host(start, machine, public, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(public.path))
    gateway, private = start(*public.renew("First")), start(name="private")
    code = invite(gateway).split("@")[0]
    laptop = machine("laptop")
    for place in [f"127.0.0.1:{gateway.port}", f"localhost:{private.port}"]:
        refused = laptop.run("join", f"{code}@{place}", code=6).err
        assert "the CAs of this system have to verify" in refused and "Nothing was sent" in refused
    # A code of a gateway with its own CA is not sent to another one, whatever CAs verify it.
    own = invite(private).split("@")[0]
    assert not own.startswith(ZEROS)
    assert "is not the gateway of this code" in laptop.run("join", f"{own}@localhost:{gateway.port}", code=6).err
    laptop.run("join", f"{code}@localhost:{gateway.port}", "--device", "laptop")
    monkeypatch.delenv("SSL_CERT_FILE")
    assert "ca-certificates" in machine("old").run("join", invite(gateway), code=6).err


def test_a_code_with_the_fingerprint_of_an_intermediate_stays_valid(start, machine, public, monkeypatch):
    gateway = start(*public.renew("First"))
    invitation = invite(gateway)
    assert not invitation.startswith(ZEROS)
    monkeypatch.setenv("SSL_CERT_FILE", str(public.path))
    laptop = machine("laptop")
    laptop.run("join", invitation, "--device", "laptop")
    laptop.run("prefs")
    assert not stored_ca(laptop).exists(), "the system trusts it already"


def test_a_machine_that_joined_before_the_public_certificate_trusts_it_by_one_command(start, machine, public, monkeypatch):
    gateway = start()
    laptop = machine("laptop")
    laptop.join(gateway)
    monkeypatch.setenv("SSL_CERT_FILE", str(public.path))
    # The gateway still has its own CA: what the system does not verify is not trusted by it.
    assert "have to verify" in laptop.run("contexts", "trust", code=6).err
    laptop.run("prefs")
    gateway.stop()
    gateway.options = (*gateway.options, *public.renew("First"))
    gateway.restart()
    for command in [["prefs"], ["subscribe", "--once", "--json"], ["contexts", "refresh"]]:
        refused = laptop.run(*command, code=6).err
        assert "its CA is not trusted" in refused and "run `pushcli contexts trust localhost`" in refused, command
    assert stored_ca(laptop).exists()
    assert "is verified by the CAs of this system" in laptop.run("contexts", "trust", "localhost").err
    assert not stored_ca(laptop).exists()
    laptop.run("prefs")
    assert "nothing has changed" in laptop.run("contexts", "trust", "localhost").err
    assert "expected a remote one" in laptop.run("contexts", "trust", "local", code=2).err


def test_an_invitation_names_only_a_host_that_the_certificate_lacks(start, public, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(public.path))
    gateway = start(*public.renew("First"))
    made = gateway.run("devices", "invite", "--host", "push.example:443")
    assert made.out.strip().endswith("@push.example:443") and "certificate" not in made.err
    made = gateway.run("devices", "invite", "--host", "push.elsewhere.test:443")
    assert "is not issued for push.elsewhere.test" in made.err
