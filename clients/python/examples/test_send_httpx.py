import httpx
import pytest
from send_httpx import Sender, Settings


@pytest.fixture
def sender(push):
    return Sender(Settings(push.key_file, push.key_id, push.team_id, push.topic, push.url, push.ca))


def test_a_train_is_announced(push, sender):
    assert sender.train_leaves(push.token, minutes=5, platform=4)
    sent = push.expect(
        title="Train in 5 Minutes", body_contains="Platform", push_type="alert", priority=10, presented=True,
        payload={"url": "https://example.com/platforms/4"})
    assert sent.headers["apns-topic"] == push.topic


def test_an_unregistered_token_is_forgotten(push, sender):
    push.state("unregistered")
    assert not sender.train_leaves(push.token, minutes=5, platform=4)
    [line] = push.report()
    assert (line.reason, line.verdict) == ("Unregistered", "handled")


def test_an_expired_provider_token_is_renewed(push, sender):
    assert sender.train_leaves(push.token, minutes=5, platform=4)
    push.advance("61m")
    assert sender.train_leaves(push.token, minutes=4, platform=4)
    push.expect(title="Train in 4 Minutes")
    push.expect(reason="ExpiredProviderToken", refused=True)


def test_another_certificate_is_refused(push, sender):
    push.gateway.certificate("unknown-ca")
    with pytest.raises(httpx.ConnectError):
        sender.train_leaves(push.token, minutes=5, platform=4)
    push.expect_none(within="10ms")


@pytest.mark.push(preferences={"apps": {"com.example.app": {"alert": False}}})
def test_the_user_has_turned_alerts_off(push, sender):
    assert sender.train_leaves(push.token, minutes=5, platform=4)
    [removed] = push.expect(suppressed=True).suppressed
    assert removed["part"] == "alert"
