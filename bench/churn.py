"""Changes of pods at a steady rate, and the moments at which their rows were committed.

A change moves a gpushare pod to another card by its annotation, as a scheduler does. The moment of a commit comes from the
database itself: a trigger notifies, and PostgreSQL delivers notifications when a transaction commits.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import psycopg

from bench.large import Movable
from tests.controlplane import loader

_INDEX = "ALIYUN_COM_GPU_MEM_IDX"
#: Table → which of its columns tell the pod and the card after the change.
TABLES = {
    "inventory_pod": ("uid", f"(NEW.facts::json -> 'metadata' -> 'annotations' ->> '{_INDEX}')"),
    "inventory_allocation": ("pod_uid", "NEW.card_key"),
}
SENDERS = 4


class Change(NamedTuple):
    """Pod uid and the card that it is moved to; of one pod every change names another card."""

    uid: str
    card: str


class Listener:
    """Moments of commits by table and change, as long as it is open."""

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        for table, (uid, card) in TABLES.items():
            self._install(table, uid, card)
        self._connection.execute("LISTEN bench")
        self.committed: dict[str, dict[Change, float]] = {table: {} for table in TABLES}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _install(self, table: str, uid: str, card: str) -> None:
        self._connection.execute(
            f"CREATE OR REPLACE FUNCTION bench_{table}() RETURNS trigger AS $$ BEGIN "
            f"PERFORM pg_notify('bench', '{table} ' || NEW.{uid} || ' ' || coalesce({card}, '')); RETURN NEW; END $$ LANGUAGE plpgsql"
        )
        self._connection.execute(
            f"CREATE OR REPLACE TRIGGER bench AFTER INSERT OR UPDATE ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION bench_{table}()"
        )

    def _listen(self) -> None:
        while not self._ended.is_set():
            for notice in self._connection.notifies(timeout=0.2):
                moment = time.monotonic()
                table, uid, card = notice.payload.split(" ")
                self.committed[table].setdefault(Change(uid, card), moment)

    def close(self) -> None:
        """Stop listening, and take the triggers away."""
        self._ended.set()
        self._thread.join()
        for table in TABLES:
            self._connection.execute(f"DROP TRIGGER bench ON {table}")
        self._connection.close()


def send(etcd_port: int, pods: Movable, rate: float, count: int, first: int = 1) -> dict[Change, float]:
    """`count` changes at `rate` a second, the pods in turn; the moment at which etcd had stored each. Raises RuntimeError.

    They are made before the first is sent, and go to etcd, not through the API: to change an object by it costs the API server more
    than all that the watcher does with it.
    first: by how many cards each pod is moved in the first turn, from where it was made; others must not have moved it as far.
    """
    stored: dict[Change, float] = {}
    requests = [_request(pods, number, first) for number in range(count)]
    started = time.monotonic()

    def one_in(sender: int) -> None:
        puts = loader.Puts(etcd_port)
        try:
            for number in range(sender, count, SENDERS):
                change, body = requests[number]
                time.sleep(max(0.0, started + number / rate - time.monotonic()))
                puts.send(body)
                stored[change] = time.monotonic()
        finally:
            puts.close()

    with ThreadPoolExecutor(SENDERS) as pool:
        list(pool.map(one_in, range(SENDERS)))
    return stored


class Sending:
    """Changes in the background, until `stop`. sent: moment of each so far; last: the newest."""

    def __init__(self, etcd_port: int, pods: Movable, rate: float, most: int) -> None:
        self.rate = rate
        self.sent: list[float] = []
        self.last = Change("", "")
        self._stopped = threading.Event()
        self._pool = ThreadPoolExecutor(1)
        self._sending = self._pool.submit(self._send, etcd_port, pods, most)

    def _send(self, etcd_port: int, pods: Movable, most: int) -> None:
        puts, started = loader.Puts(etcd_port), time.monotonic()
        try:
            for number in range(most):
                if self._stopped.wait(max(0.0, started + number / self.rate - time.monotonic())):
                    return
                self.last, body = _request(pods, number, 1)
                puts.send(body)
                self.sent.append(time.monotonic())
        finally:
            puts.close()

    def stop(self) -> float:
        """Changes a second that were sent; 0 where they ended before. Raises what has ended the sender before its time."""
        ended_before = self._sending.done()
        self._stopped.set()
        self._sending.result()
        self._pool.shutdown()
        if ended_before or len(self.sent) < 2:
            return 0.0
        return (len(self.sent) - 1) / (self.sent[-1] - self.sent[0])


def _request(pods: Movable, number: int, first: int) -> tuple[Change, bytes]:
    key, value, uid, card = pods.moved(number % len(pods), first + number // len(pods))
    return Change(uid, card), loader.Puts.body(key, value)
