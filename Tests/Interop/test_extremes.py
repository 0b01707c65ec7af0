"""Numbers at the ends of their types: no option of any command ends the process with them."""

import collections
import contextlib
import fcntl
import itertools
import json
import os
import struct
import subprocess
import termios
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from gateway import CRASH, PUSHCLI, SOAK, TOPIC, run
from waiting import HANG, Readable, wait_for

#: What an option gets instead of a sensible number or time.
EXTREMES = ["-9223372036854775808", "0", "9223372036854775807", "5e-324", "1e300", "nan", "9223372036854775807d"]

#: Options that take words. What is not here is tried, so that a new option is tried by itself.
WORDS = set("""
    action address ads also app backup batch body broadcast-feature-reason ca category certificate certificate-key channel
    client-ca collapse-id config data device durability environment environment-key-reason event exec file focus folder
    goaway histogram icon id image key key-id kind level link log-format log-level name open open-for out path person policy preferences push-type
    push-type-check reason record related role schema set sound state stream-limit subtitle team thread title to token topic user wait
""".split())

#: Where a number is a part of the value.
FORMS = {
    "at": ["{}:00", "{}-01-01T00:00:00Z"], "fail-if": ["p99>{}ms"],
    "gateway": ["127.0.0.1:{}"], "listen": ["127.0.0.1:{}"], "ramp": ["{}:1", "1:{}"],
}

#: How a command is called so that it comes as far as to compute with the number. {device} and {folder} are the test's.
CALLS = {
    "admin log-level": ["debug"],
    "ask": ["--to", f"{{device}}/{TOPIC}", "--title", "x", "--action", "a=A"],
    # Where no gateway runs: what a test does with its numbers is below.
    "bench": ["--state", "{folder}/none"],
    "certs create": ["--topic", TOPIC, "--out", "{folder}"],
    "channels create": [TOPIC],
    "devices register": ["{device}", TOPIC],
    "faults add": ["extreme", "--drop", "--app", "com.example.nobody"],
    "policy explain": ["--device", "{device}", "--topic", TOPIC, "{folder}/payload.json"],
    "policy replay": ["--device", "{device}", "--since", "1h"],
    "send": ["--to", f"{{device}}/{TOPIC}", "--title", "x", "--wait", "closed", "--timeout", "0"],
    "serve": ["--check"],
    "subscribe": ["--device", "{device}", "--plain"],
}

#: A command that still runs after this many seconds is alive.
PATIENCE = 2


def leaves(command, path=()):
    """Every command that has no subcommands, with its words."""
    subcommands = command.get("subcommands", [])
    if not subcommands:
        yield " ".join(path), command
    for subcommand in subcommands:
        yield from leaves(subcommand, (*path, subcommand["commandName"]))


COMMANDS = dict(leaves(json.loads(
    subprocess.run([PUSHCLI, "--experimental-dump-help"], capture_output=True, check=True).stdout)["command"]))


def name(argument):
    return argument.get("preferredName", {}).get("name", argument["valueName"])


def numeric(command):
    """The names of a command's options that take more than words."""
    options = [argument for argument in command.get("arguments", []) if argument["kind"] == "option"]
    return [name(option) for option in options if name(option) not in WORDS]


def call(path):
    """What a command needs besides the option that is tried: as above, or what it requires, whatever that is."""
    if path in CALLS:
        return CALLS[path]
    required = [argument for argument in COMMANDS[path].get("arguments", []) if not argument["isOptional"]]
    return list(itertools.chain(*(
        [f"--{name(argument)}", "x"] if argument["kind"] == "option" else ["x"]
        for argument in required if argument["kind"] != "flag")))


def survives(line, patience=PATIENCE, **options):
    """Runs a command, which must not die; returns its exit code, and nothing of one that runs on."""
    process = subprocess.Popen(
        [PUSHCLI, *line], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        errors="replace", env=os.environ | {"SWIFT_BACKTRACE": "enable=no"}, **options)
    try:
        _, words = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None
    code = process.returncode
    assert code >= 0 and not 132 <= code <= 139 and not CRASH.search(words), (code, " ".join(line), words)
    return code


def at_once(body, values):
    """What becomes of all values, in their order; the first that fails fails."""
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(body, values))


@pytest.fixture(scope="module")
def place(gateway, tmp_path_factory):
    """What the calls above are filled in with."""
    folder = tmp_path_factory.mktemp("extremes")
    (folder / "payload.json").write_text('{"aps":{"alert":"Platform 4","badge":1}}')
    return {"device": gateway.device().name, "folder": folder}


def test_the_options_are_found():
    assert {"timeout", "expires", "badge", "priority"} <= set(numeric(COMMANDS["send"]))
    assert {"minutes"} <= set(numeric(COMMANDS["devices invite"]))
    assert not (set(CALLS) - set(COMMANDS))


#: How many commands have an option of a name. Those of many are one group of options, which one file reads.
SHARED = collections.Counter(option for command in COMMANDS.values() for option in set(numeric(command)))


def extremes(option):
    """All values in a long run. In a short one the largest integer, and for an option of few commands another one by its name."""
    if SOAK:
        return EXTREMES
    largest = EXTREMES[2]
    others = [value for value in EXTREMES if value != largest]
    return [largest] if SHARED[option] > 3 else [largest, others[zlib.crc32(option.encode()) % len(others)]]


@pytest.mark.parametrize("path", [path for path in COMMANDS if numeric(COMMANDS[path])])
def test_no_number_of_an_option_ends_the_command(gateway, place, path):
    def attempt(what):
        option, form, number = what
        words = [word.format(**place) for word in call(path)]
        state = [] if "--state" in words else ["--state", str(gateway.state)]
        return survives([*path.split(), *words, *state, f"--{option}={form.format(number)}"], cwd=place["folder"])

    attempts = [
        (option, form, number) for option in numeric(COMMANDS[path]) for form in FORMS.get(option, ["{}"])
        for number in (EXTREMES if path == "devices list" else extremes(option))
    ]
    assert set(at_once(attempt, attempts)) <= {None, *range(8)}


#: What ended the process once, and what lies one past a range: all of it is wrong usage now.
REFUSED = [
    "ads reports --limit=0", "ask --timeout=9223372036854775807", "ask --timeout=0", "ask --timeout=3651d",
    "bench --churn=0.0009", "bench --churn=1e-300", "bench --devices=1 --loops=2", "bench --duration=1e-300 --ramp=1:2",
    "bench --expiration=-1", "bench --expiration=9223372036854775807", "bench --expiration=315360001",
    "bench --gateway-loops=-5 --pin", "bench --gateway-loops=9223372036854775807 --pin", "bench --pid=0",
    "bench --pushes=4000000001", "bench --pushes=9223372036854775807 --loops=2", "bench --ramp=1e-300:1",
    "bench --rate=0.0009", "bench --rate=1e-300", "bench --catch-up=5 --devices=9 --loops=2", "certs create --days=0",
    "certs create --days=3651", "channels create --count=0", "channels create --count=10001",
    "devices invite --minutes=0", "devices invite --minutes=153722867280912930", "devices invite --minutes=525601",
    "devices register --valid-for=-1", "devices register --valid-for=315360001", "faults add --delay=1e308h",
    "faults add --for=99999999999999999999s", "faults add --rate=inf", "faults add --rate=nan",
    "log --since=106751991168d", "log --since=9223372036854775807s", "log --since=3651d", "log --limit=-1",
    "policy explain --at=10000-01-01T00:00:00Z", "policy explain --recent=-1",
    "policy replay --since=9223372036854775807d", "policy replay --since=99999999999999999999s",
    "send --expires=9223372036854775807d", "send --expires=99999999999999999999s", "send --expires=1e300s",
    "send --timeout=-1", "send --timeout=-1e300", "send --timeout=1e300", "send --timeout=inf", "send --timeout=nan",
]


def test_what_is_out_of_its_range_is_wrong_usage_in_words(gateway, place):
    def attempt(line):
        *path, option = line.split(" --", 1)
        path = " ".join(path)
        words = [word.format(**place) for word in call(path)]
        return run(*path.split(), *words, *f"--{option}".split(), state=None if "--state" in words else gateway.state)

    for line, done in zip(REFUSED, at_once(attempt, REFUSED)):
        option = line.split(" --")[1].split("=")[0]
        assert done.code == 2, (line, done)
        assert option in done.err or "no time" in done.err or "--loops" in done.err, (line, done.err)


def test_a_load_test_survives_the_ends_of_its_ranges(gateway):
    usual = "--devices 2 --providers 2 --streams 2 --warm-up 0 --duration 0.2"
    at_once(lambda options: survives(["bench", *f"{usual} {options}".split(), "--state", str(gateway.state)]), [
        "--rate 0.001", "--ramp 0.001:10000000 --duration 0.001", "--rate 10 --churn 0.001 --storm",
        "--rate 10 --pushes 4000000000 --loops 2", "--rate 10 --expiration 315360000 --offline 100",
        "--accept-only --expiration 0",
    ])


def test_a_load_test_of_a_server_that_enrolls_nobody_sends_to_nobody(gateway):
    code = survives([
        "bench", "--accept-only", "--gateway", gateway.address, "--ca", gateway.trust, "--duration", "0.2", "--warm-up",
        "0", "--state", str(gateway.state / "none")], patience=HANG)
    assert code == 0


def test_no_number_of_a_cursor_ends_the_device(gateway):
    def attempt(cursor):
        device = gateway.device()
        (gateway.state / "devices" / f"{device.name}.cursor").write_text(cursor + "\n")
        survives(["subscribe", "--device", device.name, "--json", "--count", "1", "--state", str(gateway.state)])

    at_once(attempt, ["99999999999999999999", "18446744073709551615", "9223372036854775808", "-1", "nan"])


def test_no_size_of_the_terminal_and_no_number_of_a_key_ends_the_phone(gateway):
    def attempt(size):
        device = gateway.device()
        gateway.accepted(device.token)
        keys = [
            b"\x1b[99999999999999999999;99999999999999999999A", b"\x1b[9223372036854775808~", b"\x1b[-1~",
            b"\x1b[<0;-1;-1M", b"\x1b[8;99999;99999t", b"\x1b[" + b"9" * 1000 + b"B", b"?", b"?", b"c", b"\x03",
        ]
        ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *reversed(size), 0, 0))
        phone = subprocess.Popen(
            [PUSHCLI, "subscribe", "--device", device.name, "--state", str(gateway.state)], stdin=theirs, stdout=theirs,
            stderr=theirs, start_new_session=True, env=os.environ | {"SWIFT_BACKTRACE": "enable=no"})
        words, is_shown = b"", False

        def reads():
            """Writes the keys once the phone is on the screen; whether it has ended by the last of them."""
            nonlocal words, is_shown
            with contextlib.suppress(BlockingIOError, OSError):
                while chunk := os.read(ours, 1 << 16):
                    words = words[-4096:] + chunk
                    if not is_shown and b"\x1b[?1049h" in words:
                        is_shown = True
                        os.write(ours, b"".join(keys))
            return phone.poll() is not None

        os.set_blocking(ours, False)
        wait_for(reads, "the phone's end", Readable(ours), phone)
        assert phone.returncode == 0, (size, phone.returncode, words)
        os.close(ours)
        os.close(theirs)

    at_once(attempt, [(0, 0), (1, 1), (65_535, 1), (1, 65_535), (65_535, 65_535)])
