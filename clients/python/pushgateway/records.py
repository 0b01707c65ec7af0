"""The records of a gateway as objects. A member that a record lacks is None."""

from __future__ import annotations

from typing import Any


class Record:
    """A JSON object whose members are attributes: the annotations of the class name them."""

    def __init__(self, json: dict[str, Any]):
        self.json = json
        for name in type(self).__annotations__:
            setattr(self, name, json.get(name))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.json == other.json

    def __hash__(self) -> int:
        return hash((type(self), self.json["number"]))


class Push(Record):
    """A request of a sender: its headers, its payload, the answer, and the events of its delivery."""

    number: int
    id: str
    method: str
    path: str
    headers: dict[str, str]
    received: str
    answered: str | None
    size: int
    sender: dict[str, Any]
    token: str | None
    topic: str | None
    suffix: str | None
    push_type: str | None
    priority: int | None
    expiration: int | None
    collapse_id: str | None
    payload: Any
    payload_text: str | None
    outcome: str
    status: int | None
    reason: str | None
    retry_after: int | None
    states: list[str]
    presented: list[str]
    suppressed: list[dict[str, str]]
    findings: list[dict[str, Any]]
    lint: list[dict[str, str]]
    events: list[dict[str, str]]

    @property
    def aps(self) -> dict[str, Any]:
        """The member `aps` of the payload; empty if there is none."""
        aps = self.payload.get("aps") if isinstance(self.payload, dict) else None
        return aps if isinstance(aps, dict) else {}

    def _text(self, name: str) -> str | None:
        alert = self.aps.get("alert")
        return alert.get(name) if isinstance(alert, dict) else None

    @property
    def title(self) -> str | None:
        return self._text("title")

    @property
    def subtitle(self) -> str | None:
        return self._text("subtitle")

    @property
    def body(self) -> str | None:
        alert = self.aps.get("alert")
        return alert if isinstance(alert, str) else self._text("body")

    @property
    def answer(self) -> str:
        """The answer to the sender, as "200" or "410 Unregistered"."""
        if self.status is None:
            return "no answer"
        return f"{self.status} {self.reason}" if self.reason else str(self.status)

    def __repr__(self) -> str:
        text = self.title or self.body
        return f"<Push {self.number}{f' {text!r}' if text else ''}: {', '.join([self.answer, *self.states])}>"


class ReportLine(Record):
    """A refusal, and the reaction of the sender: `handled`, `retried-too-early`, `retried` or `never-retried`.

    The verdict of a request that is wrong itself is `mistake`. `expected` is the correct behavior.
    """

    number: int
    id: str
    at: str
    token: str | None
    status: int | None
    reason: str | None
    verdict: str
    expected: str
    next: int | None
    after: float | None
    text: str

    def __repr__(self) -> str:
        return f"<ReportLine {self.verdict}: {self.text}>"
