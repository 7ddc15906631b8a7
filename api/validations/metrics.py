"""The Prometheus scrape of the validations. Names, labels and units are an interface: add, never rename.

One series per suite and card (or node, label card "") that has a last result; a place that was never tested has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from django.db.models import Count

from api.inventory.metrics import CardLabels, Family, escaped_again, labels_of
from inventory.models import Card, Cluster
from runtime.clock import UnixTime
from validations.copies import COPY_STATES
from validations.models import ACTIVE, LastResult, Launcher, Run, State

#: cluster id, node, key of the card.
_Place = tuple[int, str, str]


def families() -> Iterator[str]:
    """The whole exposition in six queries."""
    verdicts = Family(
        "gpudash_validation_run_last_verdict",
        "1 for the verdict of the last validation run of this suite on this card (empty card: any card of the node).",
    )
    ends = Family(
        "gpudash_validation_run_last_end_timestamp_seconds",
        "End of the last validation run of this suite, unix time.",
    )
    goods = Family(
        "gpudash_validation_run_last_passed_timestamp_seconds",
        "Last pass of this suite on any level, unix time.",
    )
    validities = Family(
        "gpudash_validation_run_last_validated_timestamp_seconds",
        "Last pass of this suite that validates the card (level checked: result checked), unix time.",
    )
    levels = Family(
        "gpudash_validation_run_last_level",
        "1 for the level of the last run, if it passed: checked (result checked), ran, detected or none (proves "
        "nothing).",
    )
    others = Family(
        "gpudash_validation_run_last_other_image",
        "1 if the last run used another image than the suite's. Such a run proves nothing.",
    )
    for labels, row in _rows():
        verdicts.add(f'{labels},verdict="{escaped_again(row.verdict)}"', 1)
        ends.add(labels, row.ended_at)
        if row.passed_at is not None:
            goods.add(labels, row.passed_at)
        if row.good_at is not None:
            validities.add(labels, row.good_at)
        if row.verdict == "passed" and row.level:
            levels.add(f'{labels},level="{escaped_again(row.level)}"', 1)
        if not row.own_image:
            others.add(labels, 1)
    yield from (one.text() for one in (verdicts, ends, goods, validities, levels, others, _states(), *_launchers()))


class _Row(NamedTuple):
    """What is told of a last result. Moments: unix time. level, own_image: of the last run."""

    verdict: str
    ended_at: float
    passed_at: float | None
    good_at: float | None
    level: str
    own_image: bool


def _rows() -> Iterator[tuple[str, _Row]]:
    """Labels of every last result with what it says; cards that are gone are absent."""
    names = dict(Cluster.objects.values_list("pk", "name"))
    cards = _cards(names)
    rows = LastResult.objects.order_by("cluster_id", "node_name", "card_key", "suite")
    moments = (UnixTime("ended_at"), UnixTime("passed_at"), UnixTime("good_at"))
    columns = ("verdict", *moments, "run__level", "run__own_image")
    found = rows.values_list("cluster_id", "node_name", "card_key", "suite", *columns)
    for cluster, node, key, suite, *told in found.iterator(5000):
        place = cards.get((cluster, node, key))
        if place is None and key:
            continue
        if place is None:
            place = labels_of(cluster=names.get(cluster, ""), node=node, card="", uuid="", model="", stack="")
        yield f'{place},suite="{escaped_again(suite)}"', _Row(*told)


def _cards(names: Mapping[int, str]) -> dict[_Place, str]:
    """The labels of the cards of nodes that were tested, as the inventory's scrape has them."""
    tested = LastResult.objects.exclude(card_key="").values("node_name")
    rows = Card.objects.filter(removed_at=None, node_name__in=tested).order_by("id")
    columns = ("cluster_id", "node_name", "index", "key", "uuid", "model", "stack")
    labels = CardLabels(names)
    found: dict[_Place, str] = {}
    for cluster, node, index, key, uuid, model, stack in rows.values_list(*columns).iterator(5000):
        found[cluster, node, key] = labels.next(cluster, node, index, key, uuid, model, stack)
    return found


def _states() -> Family:
    family = Family("gpudash_validation_runs", "Validation runs that have not ended, by state.")
    counts = dict(Run.objects.filter(state__in=ACTIVE).order_by().values_list("state").annotate(Count("pk")))
    for state in ACTIVE:
        family.add(labels_of(state=state), counts.get(state, 0))
    return family


def _launchers() -> tuple[Family, Family]:
    """Per cluster: is this database the launcher there, and how many Jobs stay that are to be deleted?"""
    copies = Family(
        "gpudash_launcher_copy",
        "1 if another database is the launcher of the cluster. This database is a copy and launches and deletes "
        "nothing there.",
    )
    left = Family("gpudash_validation_jobs_left", "Jobs of ended validation runs that gpudash could not delete.")
    stays = Run.objects.filter(state=State.ENDED, job_removed=False).exclude(last_error="").order_by()
    counts = dict(stays.values_list("cluster_id").annotate(Count("pk")))
    rows = Launcher.objects.order_by("cluster__name").values_list("cluster_id", "cluster__name", "lock_state", "strays")
    for cluster, name, state, strays in rows:
        labels = labels_of(cluster=name)
        copies.add(labels, int(state in COPY_STATES))
        left.add(labels, counts.get(cluster, 0) + sum(1 for entry in strays.values() if entry[2]))
    return copies, left
