"""The pages of docs/reference that follow from the program and have no test in Swift."""

import subprocess
import sys
from pathlib import Path

from gateway import PUSHCLI
from waiting import HANG

ROOT = Path(__file__).parents[2]


def test_the_page_of_commands_is_that_of_the_program():
    script = "scripts/command-reference"
    page = subprocess.run(
        [sys.executable, ROOT / script, PUSHCLI, "--print"], check=True, capture_output=True, text=True, timeout=HANG).stdout
    written = (ROOT / "docs/reference/commands.md").read_text()
    if page != written:
        lines, other = page.splitlines(), written.splitlines()
        first = next((index for index, pair in enumerate(zip(lines, other)) if pair[0] != pair[1]), min(len(lines), len(other)))
        difference = f"line {first + 1}: {other[first:first + 1]}, and the help has {lines[first:first + 1]}"
        raise AssertionError(f"docs/reference/commands.md is not the help of the program; {script} {PUSHCLI} writes it again: {difference}")
