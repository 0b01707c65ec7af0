"""Waiting for events: a condition is checked again whenever one of its sources has changed."""

import contextlib
import ctypes
import os
import selectors
import subprocess
import threading
import time
from pathlib import Path

#: Seconds until a test counts as hung. A limit that ends a hang, of every wait in this suite; no test measures by it.
HANG = 120

_libc = ctypes.CDLL(None, use_errno=True)
_IN_MODIFY, _IN_CLOSE_WRITE, _IN_MOVED_FROM, _IN_MOVED_TO, _IN_CREATE, _IN_DELETE = 0x2, 0x8, 0x40, 0x80, 0x100, 0x200
_IN_ALL = _IN_MODIFY | _IN_CLOSE_WRITE | _IN_MOVED_FROM | _IN_MOVED_TO | _IN_CREATE | _IN_DELETE


class Bell:
    """An event of a thread of this process: `ring()` after each change that a test may wait for."""

    def __init__(self):
        self._lock, self._waiters = threading.Lock(), []

    def ring(self):
        with self._lock:
            for descriptor in self._waiters:
                os.eventfd_write(descriptor, 1)

    @contextlib.contextmanager
    def events(self):
        descriptor = os.eventfd(0, os.EFD_CLOEXEC)
        with self._lock:
            self._waiters.append(descriptor)
        try:
            yield descriptor, lambda: os.eventfd_read(descriptor)
        finally:
            with self._lock:
                self._waiters.remove(descriptor)
            os.close(descriptor)


@contextlib.contextmanager
def _file_events(path: Path):
    """Changes of a file, which need not exist yet, or of the files in a folder (inotify)."""
    folder = path if path.is_dir() else path.parent
    descriptor = _libc.inotify_init1(os.O_CLOEXEC)
    assert descriptor >= 0, os.strerror(ctypes.get_errno())
    try:
        added = _libc.inotify_add_watch(descriptor, os.fsencode(folder), _IN_ALL)
        assert added >= 0, f"{folder}: {os.strerror(ctypes.get_errno())}"
        yield descriptor, lambda: os.read(descriptor, 1 << 16)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _end_of(process: subprocess.Popen):
    """The end of a process that has not been reaped."""
    if process.returncode is not None:
        yield None, None
        return
    descriptor = os.pidfd_open(process.pid)
    try:
        yield descriptor, None
    finally:
        os.close(descriptor)


def _events(source):
    """The descriptor that becomes readable with a change of the source, and what takes the change from it."""
    match source:
        case str() | Path():
            return _file_events(Path(source))
        case subprocess.Popen():
            return _end_of(source)
        case _:
            return source.events()


class Readable:
    """A socket, or whatever else has a descriptor, as a source: it has something to read."""

    def __init__(self, file):
        self.file = file

    @contextlib.contextmanager
    def events(self):
        yield self.file if isinstance(self.file, int) else self.file.fileno(), lambda: None


class Flag(Bell):
    """A `threading.Event` that can be waited for among other sources."""

    def __init__(self):
        super().__init__()
        self._event = threading.Event()
        self.is_set, self.wait = self._event.is_set, self._event.wait

    def set(self):
        self._event.set()
        self.ring()


def wait_for(condition, what, *sources, limit=HANG):
    """Returns what `condition()` returned once that holds.

    It is checked at first, and after each event of the sources: a path (the file, or any file of the folder, was written,
    made, or removed), a process (it ended), or an object with `events()`, as a `Bell`.
    """
    end = time.monotonic() + limit
    with contextlib.ExitStack() as stack, selectors.DefaultSelector() as selector:
        for source in sources:
            descriptor, take = stack.enter_context(_events(source))
            if descriptor is not None:
                selector.register(descriptor, selectors.EVENT_READ, take)
        # From here on no event is lost: the sources are watched before the condition is checked.
        while not (result := condition()):
            left = end - time.monotonic()
            assert left > 0, f"in vain: {what() if callable(what) else what}"
            for key, _ in selector.select(left):
                if key.data:
                    key.data()
                else:
                    selector.unregister(key.fileobj)  # An end is reported once; the condition decides what it means.
    return result


def passes(moment):
    """Returns when the time of day, which a gateway has, too, is after a moment: the end of what has a lifetime."""
    while (left := moment - time.time()) >= 0:
        time.sleep(left + 0.01)


def eventually(condition, what):
    """The same for what no process announces, as the registry of another gateway of a cell: it asks again and again."""
    end = time.monotonic() + HANG
    while not (result := condition()):
        assert time.monotonic() < end, f"in vain: {what}"
        time.sleep(0.05)
    return result
