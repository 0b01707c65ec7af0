"""The text of a failed expectation: the nearest pushes as a table, and the causes."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

from . import conditions
from .records import Push

#: The maximum width of a value.
WIDTH = 60


class ExpectationFailed(AssertionError):
    """Other pushes than expected. `failure` has the members of the schema `Failure`."""

    def __init__(self, failure: dict[str, Any], expectation: dict[str, Any], *hints: str):
        self.failure, self.expectation = failure, expectation
        super().__init__("\n".join([*_lines(failure, expectation), *hints]))

    # The name in the output of pytest.
    __module__ = "pushgateway"

    def with_hints(self, *hints: str) -> ExpectationFailed:
        return ExpectationFailed(self.failure, self.expectation, *hints)


def _lines(failure: dict[str, Any], expectation: dict[str, Any]) -> list[str]:
    lines = [failure["detail"]]
    if failure["matched"] > failure["expected"]:
        lines += ["", *pushes([Push(json) for json in failure["pushes"]])]
    elif failure["nearest"]:
        lines += ["", *_nearest(failure["nearest"], expectation.get("match", {}))]
    if failure["dropped"]:
        lines += ["", f"{failure['dropped']} pushes have left the record because of its limit (--keep)."]
    return lines


def _nearest(nearest: list[dict[str, Any]], match: dict[str, Any]) -> list[str]:
    """A table with each difference of the nearest pushes."""
    rows: list[tuple[str, ...]] = []
    for one in nearest:
        name = str(one["push"]["number"])
        for difference in one["differences"]:
            word, expected = conditions.wanted(match, difference)
            found = difference.get("found")
            if difference["field"] != "state":
                expected, found = _values(expected, found, is_missing="found" not in difference)
            rows.append((name, difference["field"], f"{word} {expected}".strip(), found))
            name = ""
        if one.get("cause"):
            rows.append((printable(one["cause"]),))
    return _table(("push", "field", "wanted", "found"), rows)


def pushes(list_of_pushes: list[Push]) -> list[str]:
    """A table with a push in each row, at most ten."""
    rows = []
    for push in list_of_pushes[:10]:
        text = push.title or push.body
        rows.append((str(push.number), push.answer, " ".join(push.states), text_of(text) if text else "-"))
    lines = _table(("push", "answer", "states", "text"), rows)
    more = len(list_of_pushes) - 10
    return lines + ([f"  and {more} more"] if more > 0 else [])


def text_of(value: Any) -> str:
    """A value as JSON, cut to a width, so that a text differs from a number."""
    text = printable(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


def printable(text: str) -> str:
    """A text without characters that would change the terminal."""
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in text)


def _values(expected: Any, found: Any, is_missing: bool) -> tuple[str, str]:
    """Both values as text. Long texts are cut before their first difference, so that it is visible."""
    if isinstance(expected, str) and isinstance(found, str) and max(len(expected), len(found)) > WIDTH - 2:
        same = next((i for i, (a, b) in enumerate(zip(expected, found)) if a != b), min(len(expected), len(found)))
        if same > WIDTH // 2:
            start = same - WIDTH // 4
            expected, found = "…" + expected[start:], "…" + found[start:]
    return text_of(expected), "(missing)" if is_missing else text_of(found)


def _width(text: str) -> int:
    """The number of columns of a text in a terminal."""
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text)


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """The lines of a table. A row with a single cell is a remark in the width of the table."""
    full = [row for row in rows if len(row) == len(head)]
    widths = [max(_width(row[column]) for row in [head, *full]) for column in range(len(head))]
    lines = []
    for row in [head, tuple("-" * width for width in widths), *rows]:
        if len(row) == 1:
            lines.append("  " + " " * (widths[0] + 2) + "(" + row[0] + ")")
        else:
            cells = [cell + " " * (width - _width(cell)) for cell, width in zip(row, widths)]
            lines.append(("  " + "  ".join(cells)).rstrip())
    return lines
