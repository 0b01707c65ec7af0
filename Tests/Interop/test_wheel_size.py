"""The size of the wheel: scripts/trim-icu removes the data of ICU that pushcli has no use for."""

import struct
import subprocess
from pathlib import Path

from waiting import HANG

ROOT = Path(__file__).parents[2]


def program_with_icu_data(items):
    """A file with a package of ICU's data, in the form of icupkg: a header, a table of the items, their names, their data."""
    names = [f"icudt76l/{name}".encode() + b"\0" for name in items]
    table, data = b"", b""
    place = 4 + 8 * len(items)
    start = place + sum(map(len, names))
    for name, text in zip(names, items.values()):
        table += struct.pack("<II", place, start + len(data))
        place += len(name)
        data += text
    header = bytes.fromhex("9000da271400000000000200") + b"CmnD"
    return b"code" + header.ljust(144, b"\0") + struct.pack("<I", len(items)) + table + b"".join(names) + data + b"more code"


def icu_items(program):
    """The names of the items in the table of a program, each with the beginning of its data."""
    base = 4 + 144
    [count] = struct.unpack_from("<I", program, base)
    items = {}
    for index in range(count):
        name, data = struct.unpack_from("<II", program, base + 4 + 8 * index)
        items[program[base + name:program.index(b"\0", base + name)].decode()] = program[base + data:base + data + 4]
    return items


def test_the_program_of_a_wheel_has_no_more_data_of_icu_than_it_uses(tmp_path):
    kept = ["curr/en.res", "curr/root.res", "curr/supplementalData.res", "de.res", "zone/de.res", "zu.res"]
    removed = ["coll/de.res", "curr/de.res", "euc-jp-2007.cnv", "lang/en_GB.res", "translit/root_de.res"]
    items = {name: f"{number:04}".encode() for number, name in enumerate(sorted(kept + removed))}
    path = tmp_path / "program"
    path.write_bytes(before := program_with_icu_data(items))
    for count in [4 * len(removed), 0]:
        done = subprocess.run([ROOT / "scripts/trim-icu", path], capture_output=True, text=True, timeout=HANG)
        assert done.returncode == 0, done.stderr
        assert done.stderr == f"trim-icu: {count} bytes of ICU's data are zeros in program\n"
        after = path.read_bytes()
        assert icu_items(after) == {f"icudt76l/{name}": items[name] for name in kept}
    # Nothing moves: the addresses in the program stay right.
    end = sum(map(len, items.values())) + len(b"more code")
    assert (len(after), after[:148], after[-9:]) == (len(before), before[:148], b"more code")
    for name in removed:
        assert items[name] not in after[-end:]


def test_a_program_without_the_data_of_icu_stays_as_it_is(tmp_path):
    path = tmp_path / "program"
    path.write_bytes(b"code without data")
    done = subprocess.run([ROOT / "scripts/trim-icu", path], capture_output=True, text=True, timeout=HANG)
    assert (done.returncode, done.stderr, path.read_bytes()) == (0, "", b"code without data")


def test_data_of_icu_in_an_unknown_form_is_an_error(tmp_path):
    path = tmp_path / "program"
    path.write_bytes(before := program_with_icu_data({"zone/de.res": b"data", "de.res": b"data"}))
    done = subprocess.run([ROOT / "scripts/trim-icu", path], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 1 and "another form than expected" in done.stderr
    assert path.read_bytes() == before
