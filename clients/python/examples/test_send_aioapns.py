import asyncio
from pathlib import Path

import pytest
from send_aioapns import Doors


def ask(push, *visitors):
    """Asks for all visitors at the same time."""
    async def run():
        doors = Doors(
            key=Path(push.key_file).read_text(), key_id=push.key_id, team_id=push.team_id, topic=push.topic, host=push.host,
            port=push.port, ca=push.ca)
        try:
            return await asyncio.gather(*(doors.ask(push.token, visitor) for visitor in visitors))
        finally:
            doors.close()

    return asyncio.run(run())


def test_the_user_is_asked(push):
    [id] = ask(push, "Ann")
    asked = push.expect(title="Open the door for Ann?", category="DOOR", collapse_id="door", presented=True, exactly=True)
    assert asked.id == id


def test_each_visitor_is_asked_for(push):
    ask(push, "Ann", "Bob", "Eve")
    pushes = push.expect_many(3, title_re="^Open the door for (Ann|Bob|Eve)[?]$", exactly=True)
    assert len({one.title for one in pushes}) == 3


def test_a_throttled_token_is_an_error(push):
    push.state("throttled", count=1)
    with pytest.raises(RuntimeError, match="429 TooManyRequests"):
        ask(push, "Ann")
    push.expect(reason="TooManyRequests", refused=True)


def test_the_user_opens_the_door(push):
    push.gateway.command("apps", "category", push.topic, "DOOR", "--action", "open=Open", "--action", "ignore=Ignore")
    ask(push, "Ann")
    push.expect(category="DOOR", presented=True)
    assert push.answer("open") == "open"
