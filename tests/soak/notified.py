"""A receiver that sometimes refuses and hangs, a rule that is about everything, and what arrived."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from tests.soak.checks import Check, few

#: Of so many requests one is answered with 503 and one not at all.
REFUSED, HANGS = 7, 11
HANGS_S = 20.0
#: What is due is sent within this, faults and tries included.
LATE = timedelta(minutes=5)


class Got(NamedTuple):
    """A message that the receiver took. changes: (topic, change) of its lines."""

    message: str
    changes: tuple[tuple[str, str], ...]


class Row(NamedTuple):
    """A row of the delivery log. due: from when it is to be sent, while it waits."""

    message: str
    state: str
    due: datetime | None


class Receiver:
    """Takes webhooks; what it took twice it dropped, as Standard Webhooks asks a receiver to."""

    def __init__(self) -> None:
        self.taken: dict[str, Got] = {}
        self.asked = 0
        receiver, lock = self, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    receiver.asked += 1
                    number = receiver.asked
                if number % HANGS == 0:
                    time.sleep(HANGS_S)
                    return
                refused = number % REFUSED == 0
                if not refused:
                    lines = tuple((line["topic"], line["change"]) for line in body["data"]["lines"])
                    receiver.taken.setdefault(self.headers["webhook-id"], Got(self.headers["webhook-id"], lines))
                self.send_response(503 if refused else 204)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"

    def start(self) -> None:
        """And a rule that tells it everything."""
        from notifications.manage import ChannelDraft, RuleDraft, create_channel, create_rule
        from notifications.topics import KINDS

        threading.Thread(target=self._server.serve_forever, name="receiver", daemon=True).start()
        values = {"url": self.url, "secrets": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
        create_channel(ChannelDraft(name="soak", kind="webhook", settings=values))
        about = [one.name for one in KINDS]
        create_rule(RuleDraft(name="soak", channel="soak", about=about, least_severity="info"))

    def stop(self) -> None:
        self._server.shutdown()


def checks(receiver: Receiver) -> Iterable[Check]:
    """Asks the tables."""
    from notifications.models import Delivery, Told
    from runtime.clock import database_now

    at = database_now()
    rows = [
        Row(str(row.message["id"]), row.state, row.next_at if row.state in ("waiting", "sending") else None)
        for row in Delivery.objects.order_by("id")
    ]
    late = Told.objects.filter(due_at__lt=at - LATE).count()
    got = list(receiver.taken.values())
    yield nothing_lost(got, rows, late, at)
    yield told_once(got)


def nothing_lost(got: Sequence[Got], rows: Sequence[Row], late: int, at: datetime) -> Check:
    """Pure. What is logged as delivered arrived, what arrived is logged, and nothing waits for long. late: overdue topics."""
    there, logged = {one.message for one in got}, {row.message for row in rows}
    bad = [
        f"{row.message} was delivered and did not arrive"
        for row in rows
        if row.state == "delivered" and row.message not in there
    ]
    bad += [f"{one} arrived and is not in the log" for one in sorted(there - logged)]
    bad += [f"{row.message} is {row.state}" for row in rows if row.state in ("failed", "uncertain")]
    bad += [f"{row.message} waits" for row in rows if row.due is not None and row.due < at - LATE]
    if late:
        bad.append(f"{late} topics are overdue")
    return Check("no notification is lost", bool(got) and not bad, f"{len(got)} messages of {len(rows)}", few(bad))


def told_once(got: Sequence[Got]) -> Check:
    """Pure. A topic begins, may become more, ends, and only then begins again; by the ids of messages, which sort by time."""
    state: dict[str, str] = {}
    bad: list[str] = []
    for one in sorted(got):
        for topic, change in one.changes:
            before = state.get(topic, "ended")
            if (change == "began") != (before == "ended"):
                bad.append(f"{topic}: {before}, then {change} ({one.message})")
            state[topic] = change
    figure = f"{len(state)} topics, {sum(len(one.changes) for one in got)} changes"
    return Check("each notification is sent once", bool(state) and not bad, figure, few(bad))
