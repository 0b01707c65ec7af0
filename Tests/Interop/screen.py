"""A terminal that a test can read: tmux holds it, keys go in, the screen is read."""

import shutil
import subprocess
import uuid

import pytest
from gateway import poll

needs_tmux = pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")


class Screen:
    """A terminal of a given size in a tmux server of its own."""

    def __init__(self, command, columns=80, rows=24):
        self.server = f"pushgateway-test-{uuid.uuid4().hex[:8]}"
        # The shell stays behind, so that what the program leaves on the terminal can be seen.
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", rows,
                  f"{command}; echo ended with $?; exec cat")

    def tmux(self, *arguments) -> str:
        line = ["tmux", "-L", self.server, *map(str, arguments)]
        return subprocess.run(line, capture_output=True, text=True, check=True).stdout

    @property
    def text(self) -> str:
        return self.tmux("capture-pane", "-p")

    def shows(self, *words, timeout=10):
        def found():
            text = self.text
            return text if all(word in text for word in words) else None

        try:
            return poll(found, f"a screen with {words}", timeout)
        except AssertionError as failure:
            raise AssertionError(f"{failure}, but\n{self.text}") from None

    def press(self, *keys):
        """Presses keys, one after another; an alert that has only just appeared is waited for: no key counts for it."""
        for key in keys:
            poll(self.takes_keys, "an alert that takes keys")
            self.tmux("send-keys", key)

    def takes_keys(self):
        """Whether there is no alert, or one of its buttons has the focus."""
        text = self.text
        return "├" not in text or "▸" in text

    def type(self, *keys):
        """Presses keys at once, whatever is on screen."""
        self.tmux("send-keys", *keys)

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", columns, "-y", rows)

    def close(self):
        subprocess.run(["tmux", "-L", self.server, "kill-server"], capture_output=True)
