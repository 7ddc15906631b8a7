"""What goes wrong, every 20 seconds one thing, in an order that the seed decides. Never two faults on the same part at once."""

from __future__ import annotations

import json
import signal
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from tests.lossy import Mode
from tests.processes import state
from tests.services import wait_until
from tests.soak.bed import Bed
from tests.soak.parts import RESTART_S, Part, members, members_of_all
from tests.soak.servers import falls_silent

EVERY_S = 20.0
FROZEN_S = LOST_S = 15.0
#: How long a server is away when it is restarted, and how long a process needs until it does its work again.
AWAY_S, START_S = 4.0, 20.0
#: How long a dead token stays in its file, when the old one is revoked first.
DEAD_TOKEN_S = 5.0
#: A process that was killed a moment ago is there again after so long.
THERE_S = 30.0
#: What a round holds; each round is shuffled.
ROUND = (
    "kill",
    "kill",
    "freeze",
    "freeze",
    "end",
    "api server",
    "database",
    "broker",
    "compaction",
    "packet loss",
    "token",
)


@dataclass
class Fault:
    """began, ended: seconds of the monotonic clock; ended 0.0 while it lasts. error: why it could not be carried out.

    hit: what it was to do was seen to have happened.
    """

    kind: str
    part: str
    began: float
    ended: float = 0.0
    note: str = ""
    error: str = ""
    hit: bool = False


class Faults:
    """Runs until `stop`, which waits until the last fault is over."""

    def __init__(self, bed: Bed, seed: int, every_s: float = EVERY_S) -> None:
        self.bed, self.every_s = bed, every_s
        self.made: list[Fault] = []
        self._chance = Random(seed)
        self._bag: list[str] = []
        self._busy: set[str] = set()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._under_way: list[threading.Thread] = []
        self._thread = threading.Thread(target=self._run, name="faults", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()
        for thread in self._under_way:
            thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(self.every_s):
            kind, part, work = self._next()
            fault = Fault(kind, part, time.monotonic())
            self.made.append(fault)
            thread = threading.Thread(target=self._carry_out, args=(fault, work), name=f"{kind} {part}", daemon=True)
            self._under_way.append(thread)
            thread.start()

    def _carry_out(self, fault: Fault, work: Callable[[Fault], float]) -> None:
        """work: returns how many seconds more the part is left alone."""
        rest_s = 0.0
        try:
            rest_s = work(fault)
        except Exception as error:  # noqa: BLE001 - said at the end, and the soak has failed
            fault.error = f"{type(error).__name__}: {error}\n{traceback.format_exc()}"
        fault.ended = time.monotonic()
        self._stopped.wait(rest_s)
        with self._lock:
            self._busy.discard(fault.part)

    def _next(self) -> tuple[str, str, Callable[[Fault], float]]:
        """The next kind of the round whose part is in order; what it hits; and what is done."""
        while True:
            if not self._bag:
                self._bag = self._chance.sample(ROUND, len(ROUND))
            for kind in list(self._bag):
                part, work = self._chosen(kind)
                with self._lock:
                    if part not in self._busy:
                        self._busy.add(part)
                        self._bag.remove(kind)
                        return kind, part, work
            self._stopped.wait(1.0)

    def _chosen(self, kind: str) -> tuple[str, Callable[[Fault], float]]:
        """Processes of one role count as one part: the other of two is left to do the work."""
        if kind in ("kill", "freeze", "end"):
            part = self._chance.choice(self.bed.parts)
            work = {"kill": self._kill, "freeze": self._freeze, "end": self._end}[kind]
            return part.role, lambda fault: work(fault, part)
        if kind == "token":
            use = self._chance.choice(sorted(self.bed.tokens))
            first = self._chance.random() < 0.5
            return use, lambda fault: self._token(fault, use, first)
        return kind, {
            "api server": self._api_server,
            "database": self._database,
            "broker": self._broker,
            "compaction": self._compaction,
            "packet loss": self._packet_loss,
        }[kind]

    def _kill(self, fault: Fault, part: Part) -> float:
        wait_until(lambda: bool(members(part.pid)), f"{part.name} runs", THERE_S)
        victim = self._chance.choice(members(part.pid))
        fault.note = part.name if victim == part.pid else f"{part.name}, a process that it has started"
        part.kill(victim)
        wait_until(lambda: victim not in members_of_all(), f"{victim} of {part.name} is gone", THERE_S)
        fault.hit = True
        time.sleep(RESTART_S)
        return START_S

    def _end(self, fault: Fault, part: Part) -> float:
        """As `systemctl restart` in the middle of the load: it ends by itself, in time and without an error, and is started again."""
        wait_until(lambda: bool(members(part.pid)), f"{part.name} runs", THERE_S)
        fault.note, pid = part.name, part.pid
        code = part.end_gently()
        wait_until(lambda: part.pid not in (0, pid), f"{part.name} is started again", THERE_S)
        if code != 0:
            raise RuntimeError(f"{part.name} ended with {code} when it was told to end")
        fault.hit = True
        return START_S

    def _freeze(self, fault: Fault, part: Part) -> float:
        fault.note = part.name
        wait_until(lambda: bool(members(part.pid)), f"{part.name} runs", THERE_S)
        part.signal_all(signal.SIGSTOP)
        wait_until(lambda: all(state(pid) in "TtZ" for pid in members(part.pid)), f"{part.name} is stopped", THERE_S)
        fault.hit = True
        time.sleep(FROZEN_S)
        part.signal_all(signal.SIGCONT)
        return START_S

    def _api_server(self, fault: Fault) -> float:
        self.bed.plane.stop("apiserver")
        fault.hit = falls_silent(self.bed.plane.port("apiserver"))
        time.sleep(AWAY_S)
        self.bed.plane.start("apiserver")
        self.bed.plane.wait_for("apiserver")
        return START_S

    def _database(self, fault: Fault) -> float:
        self.bed.postgres.stop()
        fault.hit = falls_silent(self.bed.postgres.port)
        time.sleep(AWAY_S)
        self.bed.postgres.start()
        return START_S

    def _broker(self, fault: Fault) -> float:
        self.bed.redis.stop()
        fault.hit = falls_silent(self.bed.redis.port)
        time.sleep(AWAY_S)
        self.bed.redis.start()
        return START_S

    def _compaction(self, fault: Fault) -> float:
        revision = self.bed.plane.compact()
        fault.note, fault.hit = f"revision {revision}", int(revision) > 0
        return 0.0

    def _packet_loss(self, fault: Fault) -> float:
        fault.hit = self.bed.line.carrying > 0
        self.bed.line.mode = Mode.DROP
        time.sleep(LOST_S)
        self.bed.line.mode = Mode.FORWARD
        return START_S

    def _token(self, fault: Fault, use: str, revoke_first: bool) -> float:
        """A stream that is open outlives its token, so the line to "far" is cut: what comes then needs the new one."""
        fault.note = "revoked before it was replaced" if revoke_first else "replaced, then revoked"
        token = self.bed.tokens[use]
        new = token.begin_change(revoke_first)
        if use.endswith(" far"):
            self.bed.line.mode = Mode.CUT
            self.bed.line.mode = Mode.FORWARD
        if revoke_first:
            time.sleep(DEAD_TOKEN_S)
            token.put(new)
        fault.hit = True  # `begin_change` has revoked the old one, or raised
        return START_S


def write(file: Path, faults: list[Fault], zero: float) -> None:
    """JSON lines, with times in seconds since `zero`."""
    lines = [{**asdict(fault), "began": fault.began - zero, "ended": fault.ended - zero} for fault in faults]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
