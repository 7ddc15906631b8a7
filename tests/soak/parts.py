"""The processes of the installation: started as systemd would, killed, frozen, and started again when they are gone.

Each runs in a session of its own, so that all that it has started can be found, stopped and counted with it. A process that ends
although nobody has ended it is a death, which the soak fails on; it is started again all the same.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.processes import ROOT

#: As `RestartSec`, and the time that a person needs to see it.
RESTART_S = 5.0
LOOK_S = 0.2
#: As `TimeoutStopSec`.
STOP_S = 30.0
LAST_WORDS = 1500


@dataclass(frozen=True)
class Death:
    """A process that ended by itself. code: as `Popen.returncode`. at: seconds of the monotonic clock."""

    part: str
    code: int
    at: float
    last_words: str


class Part:
    """One service. role: what it is one of several of ("web" of "web-1")."""

    def __init__(self, name: str, role: str, command: list[str], environment: Mapping[str, str], log: Path) -> None:
        self.name, self.role, self.command, self.log = name, role, command, log
        self._environment = dict(environment)
        self._process: subprocess.Popen[bytes] | None = None
        self._due = 0.0
        self.wanted = False
        #: Somebody has killed it, and it is not yet started again.
        self.killed = False

    @property
    def pid(self) -> int:
        return 0 if self._process is None or self._process.returncode is not None else self._process.pid

    def start(self) -> None:
        self.wanted, self.killed = True, False
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command,
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self, pid: int) -> None:
        """SIGKILL to one of its processes."""
        self.killed = self.killed or pid == self.pid
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def end_gently(self) -> int:
        """Told to end while it works, as systemd does it; its exit code. Raises TimeoutError where it does not end in time."""
        process, self.killed = self._process, True
        if process is None:
            raise ProcessLookupError(f"{self.name} was never started")
        self.signal_all(signal.SIGTERM)
        until = time.monotonic() + STOP_S
        while process.returncode is None:  # `look` waits for it
            if time.monotonic() > until:
                process.kill()
                raise TimeoutError(f"{self.name} has not ended {STOP_S:.0f} s after it was told to")
            time.sleep(LOOK_S)
        return process.returncode

    def signal_all(self, number: int) -> None:
        for pid in members(self.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def look(self, now: float) -> Death | None:
        """Start it again when its time has come; the death, when it died by itself."""
        process = self._process
        if not self.wanted or process is None:
            return None
        if self._due:
            if now >= self._due:
                self._due = 0.0
                self.start()
            return None
        if process.poll() is None:
            return None
        self._due = now + RESTART_S
        self._clear(process.pid)
        if self.killed:
            return None
        return Death(self.name, process.returncode, now, self.log.read_text(errors="replace")[-LAST_WORDS:])

    @staticmethod
    def _clear(session: int) -> None:
        """What a process leaves behind ends with it, as in a control group."""
        for pid in members(session):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def tell(self) -> None:
        """To end, as systemd does: all of its processes at once, and only once, since a second word means at once."""
        self.wanted = False
        self.signal_all(signal.SIGCONT)
        self.signal_all(signal.SIGTERM)

    def stop(self) -> bool:
        """After `tell`: whether it has ended in time; otherwise it is killed."""
        if self._process is None:
            return True
        try:
            self._process.wait(STOP_S)
            return True
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(5)
            return False
        finally:
            self._clear(self._process.pid)


def members(session: int) -> list[int]:
    """Process ids of a session, its leader first; none when it is over."""
    if not session:
        return []
    found = [pid for pid, of in _sessions() if of == session]
    return sorted(found, key=lambda pid: (pid != session, pid))


def members_of_all() -> set[int]:
    """All processes that there are, zombies left out."""
    return {pid for pid, _ in _sessions()}


def _sessions() -> Iterator[tuple[int, int]]:
    """(process, its session), zombies left out."""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with suppress(OSError):
                fields = Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()
                if fields[0] != "Z":
                    yield int(entry), int(fields[3])


class Supervisor:
    """Looks after all parts in a thread."""

    def __init__(self, parts: list[Part]) -> None:
        self.parts = parts
        self.deaths: list[Death] = []
        self.late: list[str] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="supervisor", daemon=True)

    def start(self) -> None:
        for part in self.parts:
            part.start()
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.wait(LOOK_S):
            for part in self.parts:
                death = part.look(time.monotonic())
                if death is not None:
                    self.deaths.append(death)

    def stop(self) -> None:
        """End all side by side; `late`: those that had to be killed."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        for part in self.parts:
            if part.wanted:
                part.tell()
        self.late += [part.name for part in self.parts if not part.stop()]
