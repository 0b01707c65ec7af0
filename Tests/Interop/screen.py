"""A terminal that a test can read: tmux holds it, keys go in, the screen is read."""

import os
import pty
import shutil
import subprocess
import tempfile
import threading
import uuid
from pathlib import Path

import pytest
from gateway import PUSHCLI
from waiting import Bell, eventually, wait_for

needs_tmux = pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")


class Screen:
    """A terminal of a given size in a tmux server of its own."""

    def __init__(self, command, columns=80, rows=24):
        self.server = f"pushgateway-test-{uuid.uuid4().hex[:8]}"
        # The shell stays behind, so that what the program leaves on the terminal can be seen.
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", rows,
                  f"{command}; echo ended with $?; exec cat")
        # What the program writes goes to a file, too, after it is on the screen: the event of a change.
        self.folder = tempfile.TemporaryDirectory(prefix="pg-screen-")
        self.written = Path(self.folder.name) / "written"
        self.written.touch()
        self.tmux("pipe-pane", f"exec cat >> {self.written}")

    def tmux(self, *arguments) -> str:
        line = ["tmux", "-L", self.server, *map(str, arguments)]
        return subprocess.run(line, capture_output=True, text=True, check=True).stdout

    @property
    def text(self) -> str:
        return self.tmux("capture-pane", "-p")

    def until(self, condition, what, *sources):
        """Waits for a condition on what the screen shows, or on what the program does while it draws."""
        return wait_for(condition, lambda: f"{what}, but\n{self.text}", self.written, *sources)

    def shows(self, *words):
        def found():
            text = self.text
            return text if all(word in text for word in words) else None

        return self.until(found, f"a screen with {words}")

    def drops(self, *words):
        """Returns when none of these words are on the screen."""
        def found():
            text = self.text
            return not any(word in text for word in words)

        self.until(found, f"a screen without {words}")

    def press(self, *keys):
        """Presses keys, one after another; an alert that has only just appeared is waited for: no key counts for it."""
        for key in keys:
            self.until(self.takes_keys, "an alert that takes keys")
            self.tmux("send-keys", key)

    def close_alerts(self):
        """Closes alerts until none is left: a key is for those that were there half a second before."""
        while "├" in self.text:
            before = self.text
            self.press("c")
            self.until(lambda: self.text != before, "a key does something")

    def takes_keys(self):
        """Whether there is no alert, or one of its buttons has the focus."""
        text = self.text
        return "├" not in text or "▸" in text

    def type(self, *keys):
        """Presses keys at once, whatever is on screen."""
        self.tmux("send-keys", *keys)

    def resize(self, columns, rows):
        """Gives the terminal another size; returns when the program has begun to draw all of it anew.

        tmux crops what is on the screen at once, and tells the program up to a quarter of a second later.
        """
        before, cleared = self.tmux("display-message", "-p", "#{pane_width}x#{pane_height}").strip(), self._cleared()
        self.tmux("resize-window", "-x", columns, "-y", rows)
        if before != f"{columns}x{rows}":
            wait_for(
                lambda: self._cleared() > cleared,
                lambda: f"a screen of {columns}x{rows} that is drawn anew, on a terminal of {self._size()}, but\n{self.text}",
                self.written)

    def _size(self):
        """Returns the columns and rows that the kernel has for the terminal: after them, the program is to blame."""
        terminal = os.open(self.tmux("display-message", "-p", "#{pane_tty}").strip(), os.O_RDONLY | os.O_NOCTTY)
        try:
            return "x".join(map(str, os.get_terminal_size(terminal)))
        finally:
            os.close(terminal)

    def _cleared(self) -> int:
        """How many times the program has cleared the screen, as it does before it draws all of it."""
        return self.written.read_bytes().count(b"\x1b[2J")

    def close(self):
        subprocess.run(["tmux", "-L", self.server, "kill-server"], capture_output=True)
        self.folder.cleanup()


class Linear:
    """`subscribe --plain` on a terminal that is nothing but a line each way."""

    def __init__(self, gateway, device, *options, **environment):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [PUSHCLI, "subscribe", "--state", gateway.state, "--device", device.name, "--plain", *options],
            stdin=slave, stdout=slave, stderr=subprocess.DEVNULL, start_new_session=True,
            env=os.environ | {"LC_ALL": "C.UTF-8", "TMUX": ""} | environment)
        os.close(slave)
        self.text = ""
        self.start = 0
        self.said = Bell()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            while data := os.read(self.master, 4_096):
                self.text += data.decode(errors="replace")
                self.said.ring()
        except OSError:
            pass

    def type(self, line):
        """Types a line; what is shown from now on is looked for."""
        self.start = len(self.text)
        os.write(self.master, line.encode() + b"\n")

    def until(self, condition, what, *sources):
        return wait_for(condition, lambda: f"{what}, but\n{self.text}", self.said, *sources)

    def shows(self, *words):
        """Returns what was said since the last line was typed, once it has these words."""
        def found():
            text = self.text[self.start:]
            return text if all(word in text for word in words) else None

        return self.until(found, f"{words}").replace("\r", "")

    def says(self, line, *words):
        """What is said to a line."""
        self.type(line)
        return self.shows(*words)

    def answer(self, line):
        """The first lines of what is said to a line, whatever they are; a line that is still being read is none."""
        self.type(line)

        def found():
            answer = self.text[self.start:].partition("\n")[2]
            return answer if "\n" in answer else None

        return self.until(found, f"an answer to {line}").replace("\r", "")

    def settled(self, line, *words):
        """The same for an alert that has just appeared, which takes lines after half a second."""
        eventually(lambda: "only just appeared" not in self.answer(line), "an alert that takes lines")
        return self.shows(*words)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)
