"""Damages SQLite databases at random, and knows which rows a damage can't have touched."""

import random
import sqlite3
from pathlib import Path

KINDS = ["noise", "zeros", "torn", "header", "cut"]


def varint(data, place):
    value = 0
    for count in range(9):
        byte = data[place + count]
        if count == 8:
            return value << 8 | byte, place + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + count + 1


class Layout:
    """On which pages each row of a sound database lies (https://www.sqlite.org/fileformat2.html)."""

    def __init__(self, path):
        self.data = Path(path).read_bytes()
        self.page_size = int.from_bytes(self.data[16:18], "big")
        self.usable = self.page_size - self.data[20]
        self.count = len(self.data) // self.page_size
        database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        roots = database.execute("SELECT name, rootpage FROM sqlite_master WHERE type = 'table'").fetchall()
        self.rows = {name: {} for name, _ in roots}  # table → rowid → its pages
        for name, root in roots:
            self._walk(root, self.rows[name])
        database.close()

    def page(self, number):
        return self.data[(number - 1) * self.page_size : number * self.page_size]

    def _walk(self, number, rows):
        page = self.page(number)
        start = 100 if number == 1 else 0
        kind, cells = page[start], int.from_bytes(page[start + 3 : start + 5], "big")
        pointers = start + (12 if kind in (2, 5) else 8)
        places = [int.from_bytes(page[pointers + 2 * n : pointers + 2 * n + 2], "big") for n in range(cells)]
        if kind == 5:
            for place in places:
                self._walk(int.from_bytes(page[place : place + 4], "big"), rows)
            self._walk(int.from_bytes(page[start + 8 : start + 12], "big"), rows)
        elif kind == 13:
            for place in places:
                size, rest = varint(page, place)
                rowid, rest = varint(page, rest)
                rows[rowid] = {number, *self._overflow(page, rest, size)}

    def _overflow(self, page, place, size):
        most, least = self.usable - 35, (self.usable - 12) * 32 // 255 - 23
        if size <= most:
            return
        local = least + (size - least) % (self.usable - 4)
        local = local if local <= most else least
        number = int.from_bytes(page[place + local : place + local + 4], "big")
        while number:
            yield number
            number = int.from_bytes(self.page(number)[:4], "big")

    def untouched(self, table, pages) -> set[int]:
        """Rows of a table that lie wholly on other pages than these."""
        return {row for row, own in self.rows[table].items() if not own & pages}


def damage(layout, path, chance: random.Random) -> tuple[str, set[int]]:
    """Damages some pages of a copy; returns how, and which."""
    kind, data, size = chance.choice(KINDS), bytearray(layout.data), layout.page_size
    if kind == "cut":
        keep = chance.randrange(1, layout.count)
        Path(path).write_bytes(data[: keep * size])
        return f"{kind} after page {keep}", set(range(keep + 1, layout.count + 1))
    pages = set(chance.sample(range(1, layout.count + 1), chance.choice([1, 1, 2, 5])))
    for number in pages:
        start = (number - 1) * size
        match kind:
            case "noise": data[start : start + size] = chance.randbytes(size)
            case "zeros": data[start : start + size] = bytes(size)
            case "torn":
                sector = start + 512 * chance.randrange(size // 512)
                data[sector : sector + 512] = chance.randbytes(512)
            case "header": data[start : start + 16] = chance.randbytes(16)
    Path(path).write_bytes(data)
    return f"{kind} on {sorted(pages)}", pages
