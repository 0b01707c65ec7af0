"""The pages of docs/reference that follow from the program and have no test in Swift."""

import re
import subprocess
import sys
from pathlib import Path

from gateway import PUSHCLI
from waiting import HANG

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"


def rows(page, header):
    """The cells of the rows of the tables with this first line."""
    found = re.findall(rf"^{re.escape(header)}\n\| --- .*\n((?:\|.*\n)*)", (REFERENCE / page).read_text(), re.M)
    assert found, f"{page} has no table {header}"
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for table in found for line in table.splitlines()]


def test_the_page_of_commands_is_that_of_the_program():
    script = "scripts/command-reference"
    page = subprocess.run(
        [sys.executable, ROOT / script, PUSHCLI, "--print"], check=True, capture_output=True, text=True, timeout=HANG).stdout
    written = (REFERENCE / "commands.md").read_text()
    if page != written:
        lines, other = page.splitlines(), written.splitlines()
        first = next((index for index, pair in enumerate(zip(lines, other)) if pair[0] != pair[1]), min(len(lines), len(other)))
        difference = f"line {first + 1}: {other[first:first + 1]}, and the help has {lines[first:first + 1]}"
        raise AssertionError(f"docs/reference/commands.md is not the help of the program; {script} {PUSHCLI} writes it again: {difference}")


def test_the_patterns_of_access_are_those_of_the_table():
    [header] = re.findall(r"^\| route \| .*", (REFERENCE / "access-table.md").read_text(), re.M)
    outcomes = {route: tuple(cells) for route, *cells in rows("access-table.md", header)}
    patterns = rows("access.md", "| pattern | permitted | other credentials | routes |")
    assert len(patterns) == len(set(outcomes.values()))
    answers = {}
    for name, _, _, text in patterns:
        # A path alone is a prefix, and a route after "except" or "use" is of another pattern.
        named = re.findall(r"`[A-Z]+ /[^`]+`", re.split(r"\b(?:except|clients use)\b", text)[0])
        distinct = {outcomes[route] for route in named}
        assert len(distinct) == 1, f"the routes of {name} have different answers"
        answers[name] = distinct.pop()
    assert len(set(answers.values())) == len(patterns), "two patterns have the same answers"


def test_each_reason_has_its_row():
    source = (ROOT / "Sources/GatewayProtocol/Reason.swift").read_text()
    texts = dict(re.findall(r'^  case (\w+) = "(\w+)"', source, re.M))
    statuses = {texts[name]: status for name, status in re.findall(r"^    case \.(\w+):\s+\(\s*(\d{3}),\s", source, re.M)}
    assert len(statuses) == len(texts) > 40
    table = rows("reasons.md", "| reason | status | cause | correction |")
    assert len(table) == len(statuses)
    assert {reason.strip("`"): status for reason, status, _, _ in table} == statuses
    assert all(cause and correction for _, _, cause, correction in table)


def test_each_behavior_of_the_compatibility_page_has_a_test():
    page = (REFERENCE / "compatibility.md").read_text()
    named = re.findall(r"^\|.*\| `(test_\w+\.py): (test_\w+)` \|[^|]*\|$", page, re.M)
    assert len(named) == sum(line.startswith("| ") for line in page.splitlines()) - 2 * page.count("\n| Apple |") > 60
    for file, name in named:
        assert f"\ndef {name}(" in (Path(__file__).parent / file).read_text(), f"{file} has no {name}"


def test_the_tested_versions_are_those_of_the_tests():
    interop = Path(__file__).parent
    packages = "".join((interop / name).read_text() for name in ("requirements.txt", "requirements-pyapns2.txt"))
    clients = {client: tested for client, _, tested in rows("supported.md", "| client | language | tested |")}
    for package in ("aioapns", "kalyke-apns", "compat-fork-apns2"):
        [version] = re.findall(rf"^{package}==(\S+)", packages, re.M)
        assert [tested.split(",")[0] for client, tested in clients.items() if client.startswith(package)] == [version]
    libraries = {library.lower(): tested for library, tested, _ in rows("supported.md", "| library | tested | other versions |")}
    pinned = re.findall(
        r"^\| `(\S+)` \| ([\d.]+) \|", (ROOT / "docs/internals/dependencies.md").read_text(), re.M)
    assert len(pinned) == 4 and all(libraries[library.lower()] == version for library, version in pinned)
    [broker] = re.findall(r"^version=(\S+)", (ROOT / "scripts/nats-server").read_text(), re.M)
    [brokers] = [tested for name, tested, _ in rows("supported.md", "| component | tested | other versions |") if name.startswith("brokers")]
    assert f"nats-server {broker} " in brokers
