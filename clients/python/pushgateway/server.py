"""A test gateway as a process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
from typing import IO

from .api import GatewayError
from .gateway import Gateway
from .program import find_program

#: Seconds until a start or an end counts as failed.
LIMIT = 60


class Server(Gateway):
    """A test gateway as a process, in a temporary folder. It ends with this program, even if this program is killed."""

    def __init__(self, *, strict: bool = False, record: str | os.PathLike[str] | None = None, program: str | None = None):
        """Starts the gateway.

        - strict: accept only registered keys, apps, device tokens and certificates.
        - record: a file to which the gateway writes its pushes at its end.
        - program: the path of pushcli.
        """
        self.program = program or find_program()
        command = [self.program, "serve", "--test", "--json"]
        command += ["--strict"] * strict + (["--record", os.fspath(record)] if record else [])
        self._log: IO[bytes] = tempfile.TemporaryFile()
        try:
            # A session of its own: Ctrl-C ends the tests, which then end the gateway.
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, start_new_session=True)
        except OSError as error:
            self._log.close()
            raise GatewayError(f"{self.program} can't be started: {error.strerror}") from error
        ready = self._read_ready()
        super().__init__(ready["apns"], ready["ca"], ready["http"], key_folder=ready["state"])

    def _read_ready(self) -> dict[str, str]:
        assert self.process.stdout
        timer = threading.Timer(LIMIT, self.process.kill)
        timer.daemon = True
        timer.start()
        line = self.process.stdout.readline()
        timer.cancel()
        try:
            return json.loads(line)
        except ValueError:
            self._end_process()
            words = self.log().strip() or f"it ended with status {self.process.returncode}"
            self._log.close()
            raise GatewayError(f"the test gateway did not start: {words}") from None

    def log(self) -> str:
        """The log of the gateway until now."""
        end = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), end, 0).decode(errors="replace")

    def _unreachable(self, error: Exception) -> str:
        if self.process.poll() is None:
            return super()._unreachable(error)
        return f"the test gateway has ended with status {self.process.returncode}: {self.log().strip()[-2000:]}"

    def _end_process(self) -> None:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        try:
            self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def close(self) -> None:
        """Ends the gateway, and removes its folder. Raises `GatewayError` if the process has failed."""
        super().close()
        if self._log.closed:
            return
        self._end_process()
        words = self.log().strip()[-2000:]
        self._log.close()
        if self.process.returncode:
            # A process that was killed could not remove it.
            shutil.rmtree(self.state_folder, ignore_errors=True)
            raise GatewayError(f"the test gateway has ended with status {self.process.returncode}: {words}")
