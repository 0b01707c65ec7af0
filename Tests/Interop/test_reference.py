"""The pages of docs/reference that follow from the program and have no test in Swift."""

import json
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


def test_each_command_of_a_page_is_in_the_page_of_commands():
    commands = set(re.findall(r"^#+ pushcli ([a-z][a-z -]*)$", (REFERENCE / "commands.md").read_text(), re.M))
    groups = {command.split()[0] for command in commands if " " in command}
    # Commands without a section: they have no options.
    commands |= {"help", "version", "expect"}
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*/*.md")]:
        code = "\n".join(re.findall(r"^```.*?^```|`[^`\n]+`", page.read_text(), re.M | re.S))
        for first, second in re.findall(r"\bpushcli ([a-z][a-z-]*)(?: ([a-z][a-z-]*)(?![\w./=@:-]))?", code):
            # `expect backup` is `expect add backup`: the command of a group that needs no name takes one.
            command = f"{first} {second}" if second and first in groups - {"expect"} else first
            assert command in commands, f"{page.relative_to(ROOT)}: there is no command {command}"


def options_of_commands():
    """The options of each command, by its path; a group has those of its default command, too."""
    dump = subprocess.run([PUSHCLI, "--experimental-dump-help"], check=True, capture_output=True, text=True, timeout=HANG).stdout
    found = {}

    def walk(command, path):
        found[path] = {f"--{name['name']}" for argument in command.get("arguments", []) for name in argument.get("names", [])}
        for sub in command.get("subcommands", []):
            for name in [sub["commandName"], *sub.get("aliases", [])]:
                walk(sub, (*path, name))
        if default := command.get("defaultSubcommand"):
            found[path] |= found[(*path, default)]

    walk(json.loads(dump)["command"], ())
    return found


def test_each_option_of_a_page_is_one_of_its_command():
    options = options_of_commands()
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*/*.md")]:
        code = re.findall(r"^```.*?^```|`[^`\n]+`", re.sub(r"\\\n\s*", " ", page.read_text()), re.M | re.S)
        for line in "\n".join(code).splitlines():
            for words in re.findall(r"\bpushcli ([a-z][^|;&`#]*)", line):
                words, path = words.split(), ()
                while words and (*path, words[0]) in options:
                    path = (*path, words.pop(0))
                # A command after -- has options of its own.
                own = " ".join(words).partition(" -- ")[0]
                for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", own):
                    assert option in options[path], f"{page.relative_to(ROOT)}: pushcli {' '.join(path)} has no {option}"


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


TYPES = {"Bool": "boolean", "Int": "number", "Int32": "number", "Int64": "number", "UInt64": "number", "Double": "number"}


def members(keyword, struct):
    """The JSON members of a Swift type: their names, with ? for an optional one, and the types of their values; None for a text."""
    # The class App reads files of earlier versions, and is never a body.
    properties = dict(re.findall(r"^  (?:package )?(?:var|let) (\w+): ([^={\n]+?)(?: =.*)?$", struct, re.M))
    keys = {name: name for name in properties}
    if coding := re.search(r"^  (?:package )?enum CodingKeys: [^{]*\{(.*?)\}", struct, re.M | re.S):
        listed = re.findall(r'(\w+)(?: = "([^"]+)")?', re.sub(r"\bcase\b", "", coding[1]))
        keys = {name: text or name for name, text in listed}
    optional = {name for name, kind in properties.items() if kind.endswith("?")
                or keyword == "struct" and f"decodeIfPresent({kind}.self, forKey: .{name})" in struct}
    return {
        keys[name] + "?" * (name in optional): "object" if re.match(r"\[\w+:", kind) else "array" if kind.startswith("[")
        else TYPES.get(kind.rstrip("?"))
        for name, kind in properties.items() if name in keys}


def shown_members(cell):
    """The members that a row of the page lists, each with the first word of its parentheses."""
    first = lambda found: f"({re.match(r'[a-zA-Z0-9]*', found[1])[0]})"
    listed = re.sub(r"\(([^()]*)\)", first, cell.partition("). ")[0] + ")")
    return dict(re.findall(r"`([a-z_-]+\??)`(?: \((\w*)\))?", listed))


def test_the_objects_of_the_admin_api_have_the_members_of_the_sources():
    files = [*(ROOT / "Sources/GatewayProtocol").rglob("*.swift"), *(ROOT / "Sources/PushGateway/Admin").rglob("*.swift"),
             ROOT / "Sources/PushPolicy/Decision.swift",
             ROOT / "Sources/PushStorage/Records.swift", ROOT / "Sources/PushStorage/SQLite/Maintenance/Backup.swift"]
    source = "\n".join(file.read_text() for file in files)
    objects = {name.strip("`"): cell for name, cell in rows("admin-api.md", "| object | members |")}
    assert list(objects) == sorted(objects) and len(objects) > 40
    used = {name for row in rows("admin-api.md", "| route | role | body | answer |") for cell in row[2:]
            for name in re.findall(r"`([A-Z][a-z]\w+)`", cell)}
    assert used <= objects.keys(), f"admin-api.md has no members of {used - objects.keys()}"
    for name, cell in objects.items():
        [(indentation, keyword, body)] = re.findall(
            rf"^( *)(?:package )?(struct|final class) {name}: [^\n]*\{{\n(.*?)^\1\}}", source, re.M | re.S)
        expected, shown = members(keyword, re.sub(rf"(?m)^{indentation}", "", body)), shown_members(cell)
        assert shown.keys() == expected.keys(), f"{name}: {shown.keys() ^ expected.keys()}"
        for member, kind in expected.items():
            assert kind in (None, shown[member]), f"{name}: {member} is a {kind}, and the page has {shown[member]!r}"
