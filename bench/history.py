"""Lists, the card page and retention with 90 days × 200,000 ended allocations on 4,000 cards: PostgreSQL, one process.

The rows are made by the database itself. Requests are made in a process of its own (`history_visits`); one day's rows, those that
are over when the next day begins, are then deleted at once (and put back) and in batches.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import psycopg

from bench.answers import Answers
from bench.report import emit, measure, note, progress
from bench.tables import tables
from tests.processes import ROOT, Processes

NODES, CARDS_OF_A_NODE = 500, 8
DAYS = 90
A_DAY, A_SMALL_DAY = 200_000, 2_000

_ALLOCATIONS = """
INSERT INTO inventory_allocation (cluster_id, node_name, card_id, card_key, pod_uid, namespace, pod, container, owner_kind,
  owner_name, resource, stack, mode, quantity, memory_bytes, core_percent, evidence, terminating, started_at, ended_at, digest)
SELECT card.cluster_id, card.node_name, card.id, card.key, 'uid-' || %(day)s::text || '-' || n, 'team-' || n %% 20,
  'train-' || n, 'main', 'Job', 'train-' || n %% 5000, 'nvidia.com/gpu', 'nvidia', 'whole', 1, 17179869184, NULL, 'exact', false,
  now() - make_interval(days => %(day)s, hours => 3, secs => n * 86400.0 / %(a_day)s),
  now() - make_interval(days => %(day)s, secs => n * 86400.0 / %(a_day)s), n
FROM generate_series(0, %(a_day)s - 1) g(n)
JOIN (SELECT *, row_number() OVER (ORDER BY id) - 1 AS number FROM inventory_card) card ON card.number = n %% %(cards)s
"""


def run(small: bool) -> None:
    """Raises Missing."""
    a_day = A_SMALL_DAY if small else A_DAY
    with tables("history", GPUDASH_HISTORY_DAYS=str(DAYS - 1)) as processes:
        _visit(processes, "fill")
        _fill(processes.environment["GPUDASH_DATABASE_URL"], a_day)
        for line in _visit(processes, "look"):
            emit("history", Answers.of_json(line.pop("answers")), rows=a_day * DAYS, **line)
        for line in _visit(processes, "prune"):
            gone = line.pop("deleted")
            if line.pop("judged"):
                answers = Answers()
                answers.expect("rows deleted", gone, a_day)
                emit("history retention", answers, rows=a_day * DAYS, deleted=gone, **line)
            else:
                note("history " + str(line.pop("name")), rows=a_day * DAYS, deleted=gone, **line)


def _fill(url: str, a_day: int) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for day in range(DAYS):
            if day % 10 == 0:
                progress(f"history: day {day} of {DAYS}, {a_day} rows each")
            cards = NODES * CARDS_OF_A_NODE
            connection.execute(_ALLOCATIONS, {"a_day": a_day, "day": day, "cards": cards})
        progress("history: VACUUM ANALYZE")
        connection.execute("VACUUM ANALYZE")


def _visit(processes: Processes, what: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "bench.history_visits", what]
    done = measure(command, {**os.environ, **processes.environment}, str(ROOT))
    return [json.loads(line) for line in done.output.splitlines()]
