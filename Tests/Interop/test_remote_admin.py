"""Administration from elsewhere: tokens, roles, and who did it, over TLS (docs/reference/access.md)."""

import json

import pytest


@pytest.fixture
def remote(start):
    return start("--remote-admin", "on")


def token(gateway, name, role, *options):
    return gateway.run("admin", "tokens", "create", name, "--role", role, *options).out.strip()


def ask(gateway, method, path, bearer=None, body=b"", connection=None, fields=()):
    fields = ([("authorization", f"bearer {bearer}")] if bearer else []) + list(fields)
    body = json.dumps(body).encode() if isinstance(body, dict) else body
    if connection:
        return connection.request(method, path, fields, body)
    with gateway.connect() as connection:
        return connection.request(method, path, fields, body)


def test_a_token_is_printed_alone_and_kept_nowhere(start):
    gateway = start()
    made = gateway.run("admin", "tokens", "create", "ada", "--role", "admin", "--days", 2)
    text = made.out.strip()
    assert made.out == text + "\n" and text.startswith("pga-") and len(text) == 4 + 16 + 1 + 26
    assert "login" in made.err and "remote_admin: on" in made.err
    [listed] = gateway.run("admin", "tokens", "--json").records
    assert listed["name"] == "ada" and listed["role"] == "admin" and "last_used" not in listed
    assert "never" in gateway.run("admin", "tokens").out
    secret = text.split("-")[2]
    assert secret not in gateway.run("admin", "audit", "--json").out
    for code, arguments in [
            (1, ("ada", "--role", "admin")), (2, ("eve", "--role", "device")),
            (2, ("eve", "--role", "admin", "--days", 0))]:
        assert gateway.run("admin", "tokens", "create", *arguments, code=code).out == ""
    gateway.stop()
    held = b"".join(path.read_bytes() for path in gateway.state.rglob("*") if path.is_file())
    assert secret.encode() not in held and secret not in gateway.log


def test_nothing_is_served_until_the_setting_says_so(start):
    gateway = start()
    admin = token(gateway, "ada", "admin")
    for bearer in [None, admin]:
        answer = ask(gateway, "GET", "/admin/v1/status", bearer)
        assert answer.status == 403 and "remote_admin: on" in answer.json["detail"]
    (gateway.state / "config.yaml").write_text("remote_admin: on\n")
    gateway.run("admin", "reload")
    assert ask(gateway, "GET", "/admin/v1/status").status == 401
    assert ask(gateway, "GET", "/admin/v1/status", admin).json["environment"] == "development"


def test_each_role_does_what_is_its_own(remote):
    bearers = {role: token(remote, role, role) for role in ["reader", "operator", "admin"]}
    app = {"topic": "com.example.far", "name": "Far", "icon": "F", "policy_mode": "enforce", "strict": False,
           "ads": "standard", "team_id": remote.key.team_id}
    expected = {
        ("GET", "/admin/v1/devices"): (200, 200, 200), ("POST", "/admin/v1/apps"): (403, 201, 201),
        ("POST", "/admin/v1/invitations"): (403, 403, 201), ("POST", "/admin/v1/tokens"): (403, 403, 400),
        ("GET", "/admin/v1/ads/reports"): (403, 200, 200), ("GET", "/admin/v1/invitations"): (200, 200, 200)}
    bodies = {"/admin/v1/apps": app, "/admin/v1/invitations": {"valid_seconds": 60, "role": "admin"}}
    for (method, path), statuses in expected.items():
        body = b"" if method == "GET" else bodies.get(path, {})
        found = tuple(ask(remote, method, path, bearers[role], body).status for role in bearers)
        assert found == statuses, (method, path)
    who = {(record["who"], record["status"]) for record in remote.run("admin", "audit", "--json").records}
    assert {("reader (token, reader)", 403), ("operator (token, operator)", 201), ("admin (token, admin)", 201)} <= who
    table = remote.run("admin", "audit").out
    assert "WHO" in table.splitlines()[0] and "operator (token, operator)" in table


def test_a_device_administers_with_the_role_that_it_was_invited_for(remote):
    code = remote.run("devices", "invite", "--role", "operator", "--person", "opa", "--json").json["invitation"]
    enrolled = ask(remote, "POST", "/v1/devices", None, {"name": "console", "invitation": code}).json
    assert ask(remote, "GET", "/admin/v1/persons", enrolled["secret"]).status == 200
    refused = ask(remote, "POST", "/admin/v1/invitations", enrolled["secret"], {"valid_seconds": 60, "role": "admin"})
    assert refused.status == 403 and "admin" in refused.json["detail"] and "operator" in refused.json["detail"]
    plain = remote.device()
    refused = ask(remote, "GET", "/admin/v1/status", plain.secret)
    assert refused.status == 403 and "these credentials have device" in refused.json["detail"]
    remote.run("devices", "remove", "console")
    assert ask(remote, "GET", "/admin/v1/persons", enrolled["secret"]).status == 401


def test_a_token_that_is_removed_is_refused_on_an_open_connection_and_after_a_restart(remote):
    admin, other = token(remote, "ada", "admin"), token(remote, "bob", "reader")
    with remote.connect() as connection:
        assert ask(remote, "GET", "/admin/v1/status", admin, connection=connection).status == 200
        remote.run("admin", "tokens", "remove", "ada")
        assert ask(remote, "GET", "/admin/v1/status", admin, connection=connection).status == 401
        assert ask(remote, "GET", "/admin/v1/status", other, connection=connection).status == 200
    remote.run("admin", "tokens", "remove", "ada", code=3)
    remote.stop()
    remote.restart()
    assert ask(remote, "GET", "/admin/v1/status", admin).status == 401
    assert ask(remote, "GET", "/admin/v1/status", other).status == 200


@pytest.mark.parametrize(
    "path", ["//admin/v1/status", "/admin/../admin/v1/status", "/v1/../admin/v1/status", "/%61dmin/v1/status",
             "/admin%2fv1%2fstatus", "/admin/v1/../../healthz/../admin/v1/status", "/admin/v1\\status", "/admin"])
def test_no_spelling_of_a_path_goes_round_the_gate(remote, path):
    for bearer in [None, token(remote, "ada", "admin")]:
        assert ask(remote, "GET", path, bearer).status in (400, 401, 404, 405)


def test_two_credentials_are_refused(remote):
    admin = token(remote, "ada", "admin")
    for pair in [(admin, "pga-none"), ("pga-none", admin), (admin, admin)]:
        fields = [("authorization", f"bearer {text}") for text in pair]
        assert ask(remote, "GET", "/admin/v1/status", fields=fields).status == 400


def test_a_strangers_body_is_not_kept(remote):
    body = b"x" * 900_000
    assert ask(remote, "POST", "/admin/v1/apps", None, body).status == 401
    operator = token(remote, "opa", "operator")
    assert ask(remote, "POST", "/admin/v1/apps", operator, body).status == 400
    assert ask(remote, "POST", "/admin/v1/apps", operator, b"x" * (2 << 20)).status == 413


def test_an_admin_enrolls_from_elsewhere_and_the_audit_says_who(start):
    gateway = start("--remote-admin", "on", "--enrollment", "admin")
    gateway.run("devices", "enroll", "phone", "--person", "ada")
    body = {"name": "laptop", "person": "ada"}
    assert ask(gateway, "POST", "/v1/devices", token(gateway, "opa", "operator"), body).status == 403
    assert ask(gateway, "POST", "/v1/devices", token(gateway, "ada", "admin"), body).status == 201
    rows = [record for record in gateway.run("admin", "audit", "--json").records if record["path"] == "/v1/devices"]
    assert [row["status"] for row in rows] == [201, 201] and rows[1]["who"] == "ada (token, admin)"
    assert json.loads(rows[1]["body"]) == body


def test_the_log_is_waited_for_from_elsewhere(remote):
    reader = token(remote, "ada", "reader")
    device = remote.device()
    start = ask(remote, "GET", "/admin/v1/log/start", reader).json["after"]
    with remote.connect() as connection:
        stream = connection.send(
            "GET", f"/admin/v1/log/next?after={start}&seconds=50", [("authorization", f"bearer {reader}")])
        accepted = remote.accepted(device.token)
        page = connection.wait(stream).json
    assert accepted in [row["id"] for row in page["rows"]]


def test_when_a_token_was_last_used_is_known(remote):
    reader = token(remote, "ada", "reader")
    assert ask(remote, "GET", "/admin/v1/status", reader).status == 200
    [listed] = remote.run("admin", "tokens", "--json").records
    assert listed["last_used"].endswith(":00:00.000Z"), listed
