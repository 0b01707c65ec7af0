"""The program `pushcli`."""

from __future__ import annotations

import os
import shutil
import sys

from .api import GatewayError

#: The program inside a wheel.
INCLUDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "pushcli")


def find_program() -> str:
    """The path of `pushcli`: inside this package, else named by the variable `PUSHCLI`, else on `PATH`."""
    if os.access(INCLUDED, os.X_OK):
        return INCLUDED
    named = os.environ.get("PUSHCLI")
    if named:
        if not os.access(named, os.X_OK):
            raise GatewayError(f"PUSHCLI is {named}, which is not a program: set it to the path of pushcli")
        return named
    found = shutil.which("pushcli")
    if not found:
        raise GatewayError("pushcli is missing: install a wheel of pushgateway that contains it, or set PUSHCLI to its path")
    return found


def main() -> None:
    """Replaces this process by the program inside the package: the command `pushcli` of a wheel."""
    if not os.access(INCLUDED, os.X_OK):
        sys.exit("pushcli: this installation of the Python package has no program: install a wheel for your platform")
    os.execv(INCLUDED, ["pushcli", *sys.argv[1:]])
