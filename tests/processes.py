"""gpudash's own processes, started as a team would start them, against a database and a broker of the test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tests.services import end, wait_until

ROOT = Path(__file__).resolve().parent.parent


class Processes:
    """Starts and ends processes with one environment. Each writes its log into the folder."""

    def __init__(self, folder: Path, database_url: str, broker_url: str = "", **settings: str) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            "GPUDASH_DATA_DIR": str(folder),
            "GPUDASH_DATABASE_URL": database_url,
            "GPUDASH_BROKER_URL": broker_url or "memory://",
            "GPUDASH_LOG_LEVEL": "INFO",
            "PYTHONFAULTHANDLER": "1",
            **settings,
        }
        self._running: list[subprocess.Popen[bytes]] = []

    def manage(self, *arguments: str, name: str = "", **settings: str) -> subprocess.Popen[bytes]:
        """`manage.py …` in the background."""
        return self.start(name or arguments[0], [sys.executable, "manage.py", *arguments], settings)

    def call(self, *arguments: str, timeout_s: float = 600.0) -> str:
        """`manage.py …` to its end; its output. Raises CalledProcessError."""
        command = [sys.executable, "manage.py", *arguments]
        with (self.folder / "call.log").open("ab") as log:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=log,
                check=True,
                timeout=timeout_s,
            )
        return done.stdout.decode()

    def call_with_input(self, text: str, *arguments: str) -> None:
        """`manage.py …` to its end, with this on its standard input. Raises CalledProcessError."""
        command = [sys.executable, "manage.py", *arguments]
        subprocess.run(
            command, cwd=ROOT, env=self.environment, input=text.encode(), check=True, capture_output=True, timeout=60
        )

    def python(self, *words: str, stdout: IO[bytes] | None = None, timeout_s: float = 300.0) -> None:
        """Python with these words, in the folder of the code, to its end. Raises CalledProcessError."""
        with (self.folder / "python.log").open("ab") as log:
            command = [sys.executable, *words]
            subprocess.run(
                command, cwd=ROOT, env=self.environment, stdout=stdout, stderr=log, check=True, timeout=timeout_s
            )

    def celery(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        """`celery -A gpudash …` in the background."""
        return self.start(name, [sys.executable, "-m", "celery", "-A", "gpudash", *arguments], {})

    def watch_worker(self, name: str) -> subprocess.Popen[bytes]:
        return self.celery(name, "worker", "-Q", "watch", "-P", "threads", "-n", f"{name}@test", "--loglevel", "INFO")

    def default_worker(self) -> subprocess.Popen[bytes]:
        return self.celery("default", "worker", "-Q", "default", "-P", "threads", "-n", "default@test")

    def launch_worker(self) -> subprocess.Popen[bytes]:
        return self.celery("launch", "worker", "-Q", "launch", "-P", "threads", "-n", "launch@test")

    def default_worker_and_schedule(self) -> tuple[subprocess.Popen[bytes], subprocess.Popen[bytes]]:
        worker = self.default_worker()
        return worker, self.celery("beat", "beat", "--pidfile", "", "--max-interval", "1")

    def start(self, name: str, command: list[str], settings: dict[str, str]) -> subprocess.Popen[bytes]:
        with self.log(name).open("ab") as log:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env={**self.environment, **settings},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._running.append(process)
        return process

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def stacks(self) -> None:
        """End all and have each write into its log what each of its threads was doing: for a failure's report."""
        for process in self._running:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.send_signal(signal.SIGABRT)
        for process in self._running:
            end(process)

    def tail(self) -> str:
        """The ends of all logs, for a failure's report."""
        parts = [
            f"--- {path.name}\n{path.read_text(errors='replace')[-6000:]}" for path in sorted(self.folder.glob("*.log"))
        ]
        return "\n".join(parts)

    @contextmanager
    def ended(self) -> Iterator[None]:
        """All are stopped at the end. A failure is told with what has ended by itself and the ends of the logs: a client that is
        refused does not say why nobody listens."""
        try:
            yield
        except Exception as error:
            gone = [f"ended with {one.returncode}: {one.args!r}" for one in self._running if one.poll() is not None]
            raise AssertionError("\n".join([repr(error), *gone, self.tail()])) from error
        finally:
            self.stop()

    def stop(self) -> None:
        """End all, each gently at first."""
        for process in self._running:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for process in self._running:
            end(process)
        self._running.clear()


def kill(process: subprocess.Popen[bytes]) -> float:
    """SIGKILL; the moment, of the monotonic clock."""
    process.kill()
    moment = time.monotonic()
    process.wait(5)
    return moment


def freeze(process: subprocess.Popen[bytes]) -> None:
    """SIGSTOP, and wait until it has stopped."""
    process.send_signal(signal.SIGSTOP)
    wait_until(lambda: state(process.pid) in ("T", "t"), "the process is stopped")


def thaw(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGCONT)


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def peak_rss(pid: int) -> int:
    """Bytes: the largest resident size so far (VmHWM)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise ValueError(f"process {pid} has no VmHWM")
