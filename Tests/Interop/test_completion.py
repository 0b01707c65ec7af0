"""What the shells complete: each is run on a terminal of its own, and a tab is pressed."""

import fcntl
import os
import pty
import re
import select
import shutil
import subprocess
import termios

import pytest

from gateway import PUSHCLI, TOPIC, run
from waiting import HANG, eventually

#: How each is started without anybody's own settings, and how it takes the script.
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; source {script}"),
    "zsh": (["zsh", "-f", "-i"], "bindkey -e; unset zle_bracketed_paste; unsetopt PROMPT_SP BEEP; autoload -Uz compinit; compinit -u -d {folder}/dump; source {script}"),
    "fish": (["fish", "--no-config", "-i"], "function fish_prompt; echo '> '; end; set -g fish_autosuggestion_enabled 0; source {script}"),
}

#: A line as far as it is written, and what a tab makes of it.
LINES = [
    ("pushcli sen", "pushcli send"),
    ("pushcli sched", "pushcli scheduled"),
    ("pushcli send --to lap", f"pushcli send --to laptop/{TOPIC}"),
    ("pushcli send --to laptop/com.example.n", f"pushcli send --to laptop/{TOPIC}"),
    ("pushcli prefs show --device lap", "pushcli prefs show --device laptop"),
    # Where no command of a group is named, its options are those of the one that is meant.
    ("pushcli prefs --device lap", "pushcli prefs --device laptop"),
    ("pushcli prefs --dev", "pushcli prefs --device"),
    ("pushcli prefs se", "pushcli prefs set"),
    ("pushcli devices --filt", "pushcli devices --filter"),
    ("pushcli subscribe --device lap", "pushcli subscribe --device laptop"),
    ("pushcli devices remove lap", "pushcli devices remove laptop"),
    ("pushcli prefs set --app com.example.n", f"pushcli prefs set --app {TOPIC}"),
    (f"pushcli send --to laptop/{TOPIC} --category DEP", f"pushcli send --to laptop/{TOPIC} --category DEPLOY"),
    (f"pushcli prefs set --device laptop --app {TOPIC} --category DEP", f"pushcli prefs set --device laptop --app {TOPIC} --category DEPLOY"),
    ("pushcli prefs set --device laptop notifications=of", "pushcli prefs set --device laptop notifications=off"),
    ("pushcli prefs set --device laptop qui", "pushcli prefs set --device laptop quiet="),
    ("pushcli log --event acce", "pushcli log --event accepted"),
    ("pushcli log --event accepted,drop", "pushcli log --event accepted,dropped"),
    ("pushcli faults add x --reason BadDev", "pushcli faults add x --reason BadDeviceToken"),
    ("pushcli send --sound whis", "pushcli send --sound whisper"),
    ("pushcli keys create --team DEVT", "pushcli keys create --team DEVTEAM001"),
]


@pytest.fixture(scope="module")
def laptop(gateway):
    gateway.device(name="laptop")
    gateway.run("apps", "category", TOPIC, "DEPLOY", "--action", "approve=Approve")
    return gateway


class Shell:
    """An interactive shell on a terminal."""

    def __init__(self, name, gateway, folder):
        (folder / "bin").mkdir()
        (folder / "bin" / "pushcli").symlink_to(PUSHCLI)
        script = folder / f"completion.{name}"
        script.write_text(run("--generate-completion-script", name).out)
        command, setup = SHELLS[name]
        ours, theirs = pty.openpty()
        environment = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": str(folder), "TERM": "dumb" if name != "fish" else "xterm",
                       "LC_ALL": "C.UTF-8", "PUSHGATEWAY_STATE": str(gateway.state), "COLUMNS": "200"}
        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=folder, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(theirs)
        self.terminal = ours
        self.seen = self.rest = ""
        self.send(setup.format(script=script, folder=folder) + "; echo READY\"\"NOW\n")
        self.wait(r"READYNOW")

    def send(self, text):
        os.write(self.terminal, text.encode())

    def wait(self, pattern):
        """Returns what follows once a pattern is there."""
        while not (match := re.search(pattern, self.seen)):
            assert select.select([self.terminal], [], [], HANG)[0], f"in vain: {pattern} in {self.seen!r}"
            chunk = os.read(self.terminal, 65536).decode(errors="replace")
            # A terminal that is asked what it is answers as a plain one; the question may come in two pieces.
            *questions, rest = re.split(r"\x1b\[0?c", self.rest + chunk)
            self.send("\x1b[?6c" * len(questions))
            self.rest = rest[-3:]
            self.seen += chunk
        self.seen = self.seen[match.end():]
        return match

    def completed(self, line):
        """The line after a tab, which is pressed again where a gateway did not say its names within two seconds."""
        return eventually(lambda: (found := self.after_tab(line)) != line and found, f"{line} is completed")

    def after_tab(self, line):
        """The line after a tab: the shell itself prints it, since `echo` is put in front of it."""
        self.send(line + "\t" + "\x01" + "echo '<<'\"<\" " + "\x05" + " '>>'\">\"\n")
        return self.wait(r"<<< (.*?) >>>").group(1).strip()

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)


@pytest.mark.parametrize("name", SHELLS)
def test_a_shell_completes_names(laptop, tmp_path, name):
    assert shutil.which(name), f"{name} is not installed: make test-packages"
    shell = Shell(name, laptop, tmp_path)
    try:
        assert [shell.completed(line) for line, _ in LINES] == [completed for _, completed in LINES]
    finally:
        shell.close()


def test_without_a_gateway_there_are_no_names_and_no_words(tmp_path):
    done = run("---completion", "prefs", "show", "--", "--device", "2", "0", "pushcli", "prefs", "--device", "", env={"PUSHGATEWAY_STATE": str(tmp_path / "none")})
    assert not done.err and not done.out.strip(), (done.out, done.err)
