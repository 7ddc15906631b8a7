"""Writes down what this process counts, every few seconds, for any web process to tell: a thread of its own in each process."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
from datetime import timedelta
from hashlib import sha256
from itertools import count
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection, connections
from django.db.models.functions import Now

from runtime.models import ProcessReport
from runtime.process_memory import let_go
from runtime.telemetry import figures

logger = logging.getLogger(__name__)

#: How often a process says how it does; and after how many times of that it lets unused memory go.
EVERY_S, LET_GO_EVERY = 15.0, 4
#: One that has not said anything for longer is not told any more; after the second it is forgotten.
GONE, FORGOTTEN = timedelta(seconds=60), timedelta(minutes=10)
#: Figures of a process are some 20 KB.
MOST_BYTES = 1 << 20


def code() -> str:
    """A fingerprint of the code that runs: processes of one installation have the same."""
    found = sha256()
    for path in sorted(Path(settings.BASE_DIR).glob("[a-z]*/**/*.py")):
        if path.parts[len(Path(settings.BASE_DIR).parts)] not in ("tests", "bench", "tools"):
            found.update(path.read_bytes())
    return found.hexdigest()[:12]


class Reporter:
    """role: what the process does, as its command says."""

    def __init__(self, role: str) -> None:
        self.role, self.name = role, f"{socket.gethostname()[:64]}/{os.getpid()}/{secrets.token_hex(4)}"
        self._code = code()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="telemetry", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """The process ends: its row goes with it."""
        self._ended.set()
        self._thread.join(timeout=5)

    def write(self) -> None:
        """One row. Raises DatabaseError."""
        said = {
            "role": self.role,
            "version": self._code,
            "written_at": Now(),
            "figures": figures.text()[:MOST_BYTES],
            "failures": list(figures.failures),
        }
        ProcessReport.objects.update_or_create(
            name=self.name, defaults=said, create_defaults={**said, "started_at": Now()}
        )
        ProcessReport.objects.filter(written_at__lt=Now() - FORGOTTEN).delete()

    def _run(self) -> None:
        quiet = False
        for turn in count(1):
            try:
                self.write()
                quiet = False
            except DatabaseError as error:
                # Whoever needs the database says that it is away; once is enough here.
                if not quiet:
                    logger.info("cannot write the metrics of this process: %s", type(error).__name__)
                quiet = True
            finally:
                connection.close()
            if turn % LET_GO_EVERY == 0:
                let_go()
            if self._ended.wait(EVERY_S):
                break
        try:
            ProcessReport.objects.filter(name=self.name).delete()
        except DatabaseError:
            logger.debug("the report of this process remains until it expires")
        finally:
            connections.close_all()


_own: Reporter | None = None


def start(role: str) -> Reporter:
    """From now on this process says how it does; the second call in one process changes nothing."""
    global _own
    if _own is None or not _own._thread.is_alive():
        _own = Reporter(role)
        _own.start()
    return _own
