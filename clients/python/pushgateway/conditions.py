"""Conditions on pushes: from keyword arguments to the members of the test API."""

from __future__ import annotations

import difflib
import json
import re
from typing import Any

#: The fields of a push; a keyword has underscores for hyphens.
FIELDS = (
    "title", "subtitle", "body", "badge", "sound", "category", "thread-id", "interruption-level", "content-available",
    "mutable-content", "marketing", "topic", "suffix", "push-type", "priority", "expiration", "collapse-id", "id",
    "status", "reason", "outcome", "key-id", "team-id",
)
STATES = ("accepted", "presented", "suppressed", "refused", "any")

#: The marks of the test API for the endings of keywords, as in `title_re` and `body_contains`.
MARKS = {"re": "~", "contains": "*"}


def duration(value: str | float | None) -> str | None:
    """A duration for the test API: a text such as "500ms", or a number of seconds."""
    if value is None or isinstance(value, str):
        return value
    return f"{round(value * 1000)}ms"


def match(fields: dict[str, Any], payload: dict[str, Any] | None) -> dict[str, Any]:
    """The member `match` of an expectation.

    `payload` has the names of members, as `url`, or JSON pointers, as `/aps/alert/loc-args/0`.
    """
    conditions = {}
    for keyword, value in fields.items():
        name, mark = _field(keyword)
        if mark and not isinstance(value, str):
            raise TypeError(f"{keyword} is {value!r}: expected a text")
        conditions[name + mark] = value
    for key, value in (payload or {}).items():
        pointer = key if key.startswith("/") else "/" + key.replace("~", "~0").replace("/", "~1")
        conditions["payload." + pointer] = value
    return conditions


def _field(keyword: str) -> tuple[str, str]:
    """The field of a keyword, and its mark."""
    name, mark = keyword, ""
    ending = re.fullmatch("(.+?)__?(re|contains)", keyword)
    if ending:
        name, mark = ending[1], MARKS[ending[2]]
    name = name.replace("_", "-")
    if name in FIELDS:
        return name, mark
    near = difflib.get_close_matches(name, FIELDS, 1)
    words = f"do you mean {near[0].replace('-', '_')}?" if near else "expected " + ", ".join(FIELDS).replace("-", "_")
    raise TypeError(f"there is no condition {keyword!r}: {words}, or payload={{…}}")


def state(given: str | None, default: str, **chosen: bool) -> str:
    """The one state that is chosen by keywords such as `presented=True`, or by its name."""
    names = [name for name, is_chosen in chosen.items() if is_chosen] + ([given] if given else [])
    if len(names) > 1:
        raise TypeError(f"an expectation has one state, not {' and '.join(names)}: expect them one after the other")
    if given and given not in STATES:
        raise TypeError(f"there is no state {given!r}: expected {', '.join(STATES)}")
    return names[0] if names else default


def in_query(conditions: dict[str, Any]) -> dict[str, str]:
    """Conditions as parameters of a URL, where a number, true, false and null are not texts."""
    query = {}
    for name, value in conditions.items():
        if not isinstance(value, str):
            query[name] = json.dumps(value)
        elif name[-1] in MARKS.values() or not _is_scalar(value):
            query[name] = value
        else:
            query[name + "~"] = "^" + re.sub("[.+]", r"[\g<0>]", value) + "$"
    return query


def _is_scalar(text: str) -> bool:
    """True for the JSON text of a number, true, false or null."""
    try:
        return not isinstance(json.loads(text), (str, list, dict))
    except ValueError:
        return False


def wanted(conditions: dict[str, Any], difference: dict[str, Any]) -> tuple[str, Any]:
    """The comparison that failed: "", "matches" or "contains", and the value."""
    value = difference.get("expected")
    for mark, word in (("~", "matches"), ("*", "contains")):
        if difference["field"] + mark in conditions and conditions[difference["field"] + mark] == value:
            return word, value
    return "", value
