"""Provider tokens: every form that senders use, and every way to be refused (reference §4)."""

import json
import time
import uuid
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from gateway import ALERT, TOPIC, run
from tokens import Key
from test_wire import assert_error

SIGNATURES = ["raw", "der"]


def send(gateway, device, authorization, **fields):
    return gateway.push(device.token, authorization=authorization, **fields)


@pytest.mark.parametrize("scheme", ["bearer", "Bearer", "BEARER"])
@pytest.mark.parametrize("alphabet", ["url", "plain"])
@pytest.mark.parametrize("padded", [False, True], ids=["bare", "padded"])
@pytest.mark.parametrize("signature", SIGNATURES)
def test_every_encoding_is_accepted(gateway, device, signature, padded, alphabet, scheme):
    for _ in range(4):  # Signatures are random: some have a `+` or `/`, some DER forms are shorter.
        token = gateway.key.token(signature=signature, padded=padded, alphabet=alphabet)
        response = send(gateway, device, f"{scheme} {token}")
        assert response.status == 200, response.body


def test_both_alphabets_are_met_with_characters_that_tell_them_apart(gateway, device):
    """A claim is chosen so that its segment holds 62 and 63 in the alphabet."""
    for alphabet, marks in [("url", "-_"), ("plain", "+/")]:
        token = gateway.key.token(claims={"x": "~~~>>>???"}, alphabet=alphabet, padded=True, dumps=lambda value: json.dumps(value))
        assert all(mark in token for mark in marks) or any(mark in token for mark in marks)
        assert send(gateway, device, f"bearer {token}").status == 200


@pytest.mark.parametrize("signature", SIGNATURES)
@pytest.mark.parametrize("form", [int, str, float, lambda now: now + 0.789, lambda now: f"{now}.5"], ids=["integer", "string", "whole float", "float", "float in a string"])
def test_iat_may_be_a_number_or_a_string(gateway, device, form, signature):
    token = gateway.key.bearer(claims={"iat": form(int(time.time()))}, signature=signature)
    assert send(gateway, device, token).status == 200


def test_claims_and_headers_that_are_not_needed_are_ignored(gateway, device):
    claims = {"exp": 1, "nbf": 9e12, "jti": str(uuid.uuid4()), "aud": ["x"], "kid": "ANOTHER123", "nested": {"iat": 1, "iss": "x"}}
    token = gateway.key.bearer(claims=claims, header={"typ": "JWT", "x5u": None})
    assert send(gateway, device, token).status == 200


@pytest.mark.parametrize("dumps", [lambda v: json.dumps(v, indent=2), lambda v: "\n\t " + json.dumps(v, separators=(" ,\r\n", " : ")) + " \n"])
def test_white_space_in_the_json_is_accepted(gateway, device, dumps):
    assert send(gateway, device, gateway.key.bearer(dumps=dumps)).status == 200


@pytest.mark.parametrize("bit", [0, 7, 100, 255, 256, 300, 511])
def test_one_flipped_bit_is_invalid(gateway, device, bit):
    assert_error(send(gateway, device, gateway.key.bearer(flip=bit)), 403, "InvalidProviderToken")


def test_a_flipped_bit_is_also_found_after_a_good_token_on_the_same_connection(gateway, device, connection):
    assert gateway.push(device.token, connection=connection).status == 200
    token = gateway.bearer().removeprefix("bearer ")
    forged = token[:-10] + ("A" if token[-10] != "A" else "B") + token[-9:]
    for authorization, status in [(token, 200), (forged, 403), (token, 200), (forged, 403)]:
        response = gateway.push(device.token, connection=connection, authorization=f"bearer {authorization}")
        assert response.status == status


def test_claims_that_were_not_signed_are_invalid(gateway, device):
    head, _, signature = gateway.key.token().split(".")
    _, claims, _ = gateway.key.token(claims={"x": 1}).split(".")
    assert_error(send(gateway, device, f"bearer {head}.{claims}.{signature}"), 403, "InvalidProviderToken")


def invalid(gateway):
    key = gateway.key
    good = key.token()
    return {
        "an unknown kid": key.token(header={"kid": "NOSUCHKEY1"}),
        "no kid": key.token(header={"kid": None}),
        "another team": key.token(claims={"iss": "OTHERTEAM9"}),
        "no team": key.token(claims={"iss": None}),
        "a team that is a number": key.token(claims={"iss": 7}),
        "no iat": key.token(claims={"iat": None}),
        "an iat that is a word": key.token(claims={"iat": "soon"}),
        "an iat beyond all numbers": key.token(claims={"iat": 1e300}),
        "an iat in the far future": key.token(issued=int(time.time()) + 7200),
        "alg none": key.token(header={"alg": "none"}),
        "alg HS256": key.token(header={"alg": "HS256"}),
        "two segments": good.rsplit(".", 1)[0],
        "four segments": good + ".x",
        "an empty signature": good.rsplit(".", 1)[0] + ".",
        "a word": "nonsense",
        "dots": "..",
        "characters of no alphabet": good[:-1] + "*",
        "a claims segment that is no JSON": good.split(".")[0] + ".bm9wZQ." + good.split(".")[2],
        "a very long one": "a." * 3000,
    }


def test_whatever_is_no_good_token_is_invalid(gateway, device):
    for name, token in invalid(gateway).items():
        response = send(gateway, device, f"bearer {token}")
        assert (response.status, response.reason) == (403, "InvalidProviderToken"), name


@pytest.mark.parametrize("authorization", [None, "", "bearer", "basic dXNlcjpwYXNz", "Token x"])
def test_no_token_is_missing_provider_token(gateway, device, authorization):
    assert_error(send(gateway, device, authorization), 403, "MissingProviderToken")


@pytest.mark.parametrize(("age", "status"), [(0, 200), (59 * 60 + 30, 200), (-60, 200), (61 * 60, 403), (86_400, 403), (10**9, 403)])
def test_a_token_is_good_for_an_hour(gateway, device, age, status):
    response = send(gateway, device, gateway.key.bearer(issued=int(time.time()) - age))
    assert response.status == status
    if status == 403:
        assert_error(response, 403, "ExpiredProviderToken")


def test_an_iat_in_milliseconds_is_invalid(gateway, device):
    """As in Apple's own sample, which breaks Apple's rule."""
    assert_error(send(gateway, device, gateway.key.bearer(issued=int(time.time() * 1000))), 403, "InvalidProviderToken")


@pytest.mark.parametrize(("environment", "status"), [("development", 200), ("both", 200), ("production", 403)])
def test_a_key_of_the_other_environment_is_refused(gateway, device, environment, status):
    key = gateway.new_key(environment=environment)
    response = gateway.push(device.token, key=key)
    assert response.status == status
    if status == 403:
        assert_error(response, 403, "BadEnvironmentKeyInToken")


def test_a_key_for_some_topics_may_push_to_no_other(gateway, device):
    other = gateway.app()
    key = gateway.new_key(topics=[other])
    assert_error(gateway.push(device.token, key=key), 400, "TopicDisallowed")
    token = gateway.register(device.name, other)
    assert gateway.push(token, key=key, topic=other).status == 200
    assert gateway.push(token, key=key, topic=other + ".voip", apns_push_type="voip").status == 200
    assert_error(gateway.push(token, key=key, topic=other + ".unknown"), 400, "TopicDisallowed")


def test_a_key_of_another_team_signs_for_that_team_only(gateway, device):
    gateway.add_team("SECONDTEAM")
    key = gateway.new_key(team="SECONDTEAM")
    assert_error(gateway.push(device.token, key=key), 400, "TopicDisallowed")
    topic = gateway.app(team="SECONDTEAM")
    assert gateway.push(gateway.register(device.name, topic), key=key, topic=topic).status == 200
    token = key.bearer(claims={"iss": gateway.key.team_id})
    assert_error(gateway.push(device.token, authorization=token), 403, "InvalidProviderToken")


def test_a_removed_key_is_refused_also_on_a_connection_that_used_it(gateway, device, connection):
    key = gateway.new_key()
    authorization = key.bearer()
    assert gateway.push(device.token, connection=connection, authorization=authorization).status == 200
    gateway.run("keys", "remove", key.key_id)
    response = gateway.push(device.token, connection=connection, authorization=authorization)
    assert_error(response, 403, "InvalidProviderToken")


def test_a_second_token_soon_after_the_first_on_a_connection_is_too_many_updates(gateway, device, connection):
    now = int(time.time())
    old, new = [gateway.key.bearer(issued=issued) for issued in (now - 60, now)]
    for authorization, status in [(old, 200), (old, 200), (new, 429), (old, 200), (new, 429)]:
        response = gateway.push(device.token, connection=connection, authorization=authorization)
        assert response.status == status
        if status == 429:
            assert_error(response, 429, "TooManyProviderTokenUpdates")
    # Another connection knows nothing of the old one.
    assert gateway.push(device.token, authorization=new).status == 200


def test_the_same_claims_signed_again_are_the_same_token(gateway, device, connection):
    now = int(time.time())
    for _ in range(3):
        response = gateway.push(device.token, connection=connection, authorization=gateway.key.bearer(issued=now))
        assert response.status == 200, response.body


def test_a_token_made_twenty_minutes_later_may_follow_at_once(gateway, device, connection):
    now = int(time.time())
    for issued in [now - 1200, now]:
        response = gateway.push(device.token, connection=connection, authorization=gateway.key.bearer(issued=issued))
        assert response.status == 200, response.body


def test_the_interval_between_tokens_is_a_setting(start):
    gateway = start("--token-update-interval", 0)
    device, now = gateway.device(), int(time.time())
    with gateway.connect() as connection:
        for age in range(5):
            token = gateway.key.bearer(issued=now - age)
            assert gateway.push(device.token, connection=connection, authorization=token).status == 200


def test_a_key_of_topics_may_be_followed_by_its_related_one_only(gateway, device):
    first = gateway.new_key(topics=[TOPIC])
    related = gateway.new_key(topics=[TOPIC], related=first.key_id)
    other = gateway.new_key(topics=[TOPIC])
    now = int(time.time())
    for key, status, reason in [(related, 200, None), (other, 403, "UnrelatedKeyIdInToken"), (gateway.key, 403, "UnrelatedKeyIdInToken")]:
        with gateway.connect() as connection:
            authorization = first.bearer(issued=now - 1200)
            assert gateway.push(device.token, connection=connection, authorization=authorization).status == 200
            response = gateway.push(device.token, connection=connection, authorization=key.bearer(issued=now))
            assert (response.status, response.reason) == (status, reason)
            assert gateway.push(device.token, connection=connection, authorization=authorization).status == (
                200 if reason else 429)


def test_another_teams_token_is_invalid_on_a_connection(gateway, device, connection):
    gateway.add_team("THIRDTEAM1")
    other = gateway.new_key(team="THIRDTEAM1")
    assert gateway.push(device.token, connection=connection).status == 200
    assert_error(gateway.push(device.token, connection=connection, key=other), 403, "InvalidProviderToken")
    assert_error(gateway.push(device.token, key=other), 400, "TopicDisallowed")


def test_a_key_is_rotated_without_a_restart_on_the_same_connection(gateway, device, connection):
    old = gateway.new_key(topics=[TOPIC])
    assert gateway.push(device.token, connection=connection, key=old).status == 200
    new = gateway.new_key(topics=[TOPIC], related=old.key_id)
    gateway.run("keys", "remove", old.key_id)
    assert_error(gateway.push(device.token, connection=connection, key=old), 403, "InvalidProviderToken")
    assert gateway.push(device.token, connection=connection, key=new).status == 200


def test_a_key_that_a_sender_has_already_is_imported(gateway, device, tmp_path):
    gateway.add_team("IMPORTTEAM")
    private = ec.generate_private_key(ec.SECP256R1())
    path = tmp_path / "AuthKey_IMPORTED01.p8"
    path.write_bytes(private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    public = tmp_path / "public.pem"
    public.write_bytes(private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))
    gateway.run("keys", "import", path, "--team", "IMPORTTEAM")
    gateway.run("keys", "import", public, "--team", "IMPORTTEAM", "--key-id", "IMPORTED02")
    topic = gateway.app(team="IMPORTTEAM")
    token = gateway.register(device.name, topic)
    for key_id in ["IMPORTED01", "IMPORTED02"]:
        assert gateway.push(token, key=Key(path, key_id, "IMPORTTEAM"), topic=topic).status == 200
    gateway.run("keys", "import", path, "--team", "IMPORTTEAM", code=1)
    text = tmp_path / "AuthKey_IMPORTED03.p8"
    text.write_text("words")
    gateway.run("keys", "import", text, "--team", "IMPORTTEAM", code=2)


def test_keys_token_prints_a_token_for_each_program_that_sends(gateway, device, tmp_path):
    printed = gateway.run("keys", "token").out.strip()
    assert gateway.push(device.token, authorization=f"bearer {printed}").status == 200
    gateway.add_team("TOKENTEAM1")
    key = gateway.new_key(team="TOKENTEAM1")
    topic = gateway.app(team="TOKENTEAM1")
    token = gateway.register(device.name, topic)
    # Another file name has no key id in it.
    renamed = tmp_path / "key.p8"
    renamed.write_bytes(Path(key.path).read_bytes())
    for line in [["--key", key.path], ["--key", renamed, "--key-id", key.key_id]]:
        made = gateway.run("keys", "token", *line, "--team", "TOKENTEAM1", "--json").json["token"]
        assert gateway.push(token, authorization=f"bearer {made}", topic=topic).status == 200
    # No gateway is needed: the key is a file.
    elsewhere = run("keys", "token", "--key", key.path, "--team", "TOKENTEAM1", state=tmp_path / "none")
    assert elsewhere.code == 0 and elsewhere.out.count(".") == 2
    assert run("keys", "token", state=tmp_path / "none").code == 4


def test_the_documented_spelling_of_the_environments_reason_is_a_setting(start):
    gateway = start("--environment-key-reason", "BadEnvironmentKeyIdInToken")
    key = gateway.new_key(environment="production")
    assert_error(gateway.push(gateway.device().token, key=key), 403, "BadEnvironmentKeyIdInToken")


def test_the_same_token_may_come_with_every_push_of_many_connections(gateway, device):
    authorization = gateway.key.bearer()
    for _ in range(5):
        with gateway.connect() as connection:
            for _ in range(5):
                assert gateway.push(device.token, connection=connection, authorization=authorization).status == 200


def test_pushoks_es512_by_a_p256_key_is_accepted_and_checked(gateway, device):
    key = gateway.key
    form = {"header": {"alg": "ES512"}, "signature": "es512"}
    for bearer, reason in [
        (key.bearer(**form), None), (key.bearer(**form, flip=1050), "InvalidProviderToken"),
        (key.bearer(header={"alg": "ES512"}), "InvalidProviderToken"),
        (key.bearer(signature="es512"), "InvalidProviderToken"),
    ]:
        assert gateway.push(device.token, authorization=bearer).reason == reason
