"""All facts of the cards of a policy as one statement in SQL: its tables are joined by names, which no foreign key says.
PostgreSQL and SQLite read it alike.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection

from inventory.models import Card, Node, NodeTotals
from validations.ids import new_id
from validations.models import ImportedStatement, LastResult, Policy, PolicyCard, Run, VerdictChoice
from validations.policies import rules
from validations.policies.standing import Rule

#: A run is found by when it was made, and passed later.
_MARGIN = timedelta(days=2)
_FAILED = VerdictChoice.FAILED.value


class Row(NamedTuple):
    """What `_SQL` selects, in its order. None: there is no such row."""

    cluster: int
    node: str
    key: str
    model: str
    unavailable: str
    allocations: int
    driver: str | None
    boot: str | None
    machine: str | None
    off: Any
    os: str | None
    pool: str | None
    unplaced: int | None
    said_verdict: str | None
    said_at: Any
    said_run: str | None
    ever: Any
    last_at: Any
    passed_run: str | None
    passed_at: Any
    passed_driver: str
    passed_boot: str
    passed_machine: str
    passed_image: str
    passed_parser: int | None
    refused: str | None
    refused_at: Any
    kept: int | None
    state: str | None
    reason: str | None
    hindrance: str | None
    since: Any
    valid_until: Any
    not_before: Any
    run: str | None
    failures: int | None
    tries: int | None
    #: The newest that another tool reported, under a policy that counts it.
    reported: str | None
    reported_at: Any
    reported_driver: str | None
    reported_boot: str | None
    reported_machine: str | None


_SQL = f"""
    SELECT c.cluster_id, c.node_name, c.key, c.model, c.unavailable_reason, c.allocations_count,
        n.driver_version, n.boot_id, n.machine_id, n.policies_off, n.os, t.pool, t.unplaced_count,
        r.said_verdict, r.said_at, r.said_id, r.passed_at, r.ended_at,
        p.id, p.ended_at, p.driver_version, p.boot_id, p.machine_id, p.image, p.parser_version,
        s.refused, s.refused_at,
        s.id, s.state, s.reason, s.hindrance, s.since, s.valid_until, s.not_before, s.run_id, s.failures, s.tries,
        REPORTED_COLUMNS
    FROM {Card._meta.db_table} c
    LEFT JOIN {Node._meta.db_table} n ON n.cluster_id = c.cluster_id AND n.name = c.node_name
    LEFT JOIN {NodeTotals._meta.db_table} t ON t.cluster_id = c.cluster_id AND t.node_name = c.node_name
    LEFT JOIN {LastResult._meta.db_table} r
        ON r.cluster_id = c.cluster_id AND r.node_name = c.node_name AND r.card_key = c.key AND r.suite = %s
    LEFT JOIN (
        SELECT cluster_id, node_name, card_key, MAX(id) AS id FROM {Run._meta.db_table}
        WHERE verdict = 'passed' AND card_key <> '' AND suite = %s AND options_key IN (KEYS) AND id >= %s
            AND level IN (LEVELS) PASSES_MORE
        GROUP BY cluster_id, node_name, card_key
    ) m ON m.cluster_id = c.cluster_id AND m.node_name = c.node_name AND m.card_key = c.key
    LEFT JOIN {Run._meta.db_table} p ON p.id = m.id
    LEFT JOIN {PolicyCard._meta.db_table} s
        ON s.policy_id = %s AND s.cluster_id = c.cluster_id AND s.node_name = c.node_name AND s.card_key = c.key
    REPORTED_JOIN
    WHERE c.removed_at IS NULL AND c.cluster_id IN (CLUSTERS) WHERE_MORE
"""  # noqa: S608 - names from our models
#: Of a policy that counts them, the last test, in whatever order reports came. A pass needs the policy's level; a failure has none.
_REPORTED = f"""
    LEFT JOIN (
        SELECT cluster_id, node_name, card_key, verdict, tested_at, driver_version, boot_id, machine_id, ROW_NUMBER() OVER (
            PARTITION BY cluster_id, node_name, card_key
            ORDER BY tested_at DESC, CASE verdict WHEN 'failed' THEN 0 ELSE 1 END, id DESC
        ) AS place
        FROM {ImportedStatement._meta.db_table}
        WHERE suite = %s AND suite <> '' AND card_key <> '' AND tested_at >= %s
            AND (verdict = 'failed' OR (verdict = 'passed' AND level IN (LEVELS))) PASSES_MORE
    ) i ON i.place = 1 AND i.cluster_id = c.cluster_id AND i.node_name = c.node_name AND i.card_key = c.key
"""  # noqa: S608 - names from our models
_REPORTED_COLUMNS = "i.verdict, i.tested_at, i.driver_version, i.boot_id, i.machine_id"
_NOT_REPORTED = "NULL, NULL, NULL, NULL, NULL"


def rows_of(
    policy: Policy, clusters: Sequence[int], at: datetime, node: tuple[int, str] | None, unless: Rule | None
) -> Iterator[Row]:
    """Those of the cards that the policy covers, but for labels of nodes. Raises NoRule."""
    levels = rules.levels_of(policy) or ("",)
    since = new_id(at - timedelta(seconds=policy.max_age_s) - _MARGIN)
    keys = rules.keys_of(policy)
    passes: list[Any] = [policy.suite, *keys, since, *levels]
    values, more = list[Any](), list[str]()
    for column, value in (("t.pool", policy.pool), ("c.model", policy.model), ("c.stack", policy.stack)):
        if value:
            more.append(f"AND {column} = %s")
            values.append(value)
    passes_more = ""
    if node is not None:
        more.append("AND c.node_name = %s")
        values.append(node[1])
        passes_more = "AND cluster_id = %s AND node_name = %s"
        passes += node
    reported = [policy.suite, at - timedelta(seconds=policy.max_age_s), *levels] if policy.counts_imported else []
    if reported and node is not None:
        reported += node
    if unless is not None:
        still, given = _still_valid(unless, at, policy.counts_imported)
        more.append(f"AND NOT COALESCE({still}, FALSE)")
        values += given
    query = _SQL.replace("REPORTED_COLUMNS", _REPORTED_COLUMNS if reported else _NOT_REPORTED)
    query = query.replace("REPORTED_JOIN", _REPORTED if reported else "")
    query = query.replace("LEVELS", _marks(levels)).replace("KEYS", _marks(keys)).replace("CLUSTERS", _marks(clusters))
    query = query.replace("PASSES_MORE", passes_more).replace("WHERE_MORE", " ".join(more))
    with connection.cursor() as cursor:
        cursor.execute(query, [policy.suite, *passes, policy.pk, *_adapted(reported), *clusters, *values])
        while rows := cursor.fetchmany(5000):
            yield from map(Row._make, rows)


def _adapted(values: Sequence[Any]) -> list[Any]:
    """Moments as the database compares them."""
    return [connection.ops.adapt_datetimefield_value(one) if isinstance(one, datetime) else one for one in values]


def _still_valid(rule: Rule, at: datetime, reported: bool) -> tuple[str, list[Any]]:
    """Condition on the rows of cards that `standing` finds as valid as they are kept, and its values. What it is not sure of is no
    such row: NULL counts as changed."""
    sure = ["s.state = 'valid'", "s.run_id = p.id", "s.valid_until > %s", f"r.said_verdict <> '{_FAILED}'"]
    values: list[Any] = [connection.ops.adapt_datetimefield_value(at)]
    if reported:
        sure.append("(i.verdict IS NULL OR i.verdict <> 'failed' OR i.tested_at <= p.ended_at)")
    for counts, column in (
        (rule.void_on_driver, "driver_version"),
        (rule.void_on_reboot, "boot_id"),
        (rule.void_on_machine, "machine_id"),
    ):
        if counts:
            sure.append(f"p.{column} = n.{column}")
    if rule.void_on_image:
        sure.append("p.parser_version = %s")
        values.append(rule.parser_version)
        if rule.image:
            sure.append("p.image IN ('', %s)")
            values.append(rule.image)
    return f"({' AND '.join(sure)})", values


def _marks(values: Collection[Any]) -> str:
    return ", ".join(["%s"] * len(values))
