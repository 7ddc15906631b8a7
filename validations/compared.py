"""A run went wrong: since when, and what differs from the last one that passed? A constant number of queries.

The run compared with is the last one of the same suite that passed before: on the same card, else on the same node, else on a card
of the same model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from django.db.models import QuerySet

from validations import querysets
from validations.baseline import slower_percent
from validations.models import Run

CARD, NODE, MODEL = "card", "node", "model"
#: Runs of the strip of the card and suite.
STRIP = 20
#: Verdicts that are no good end: after one of them the page tells what differs.
WRONG = ("failed", "errored")
#: Columns that are compared, and parts of the snapshot of the node.
_COLUMNS = (
    "node_name",
    "card_key",
    "card_uuid",
    "card_model",
    "driver_version",
    "image",
    "image_digest",
    "parser_version",
)
_NODE = (
    "os",
    "os_image",
    "kernel",
    "kubelet",
    "runtime",
    "instance_type",
    "zone",
    "driver_source",
    "stack",
    "node_uid",
    "cordoned",
)
#: Parts of the snapshot that are objects themselves: name → how one of their entries is called.
_NESTED = {"labels": "label", "plugins": "plugin"}
#: Facts of a log that speak of software; the others are results.
_FACTS = ("version", "driver", "cuda", "runtime")


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is not the same. name: column, "option NAME", "label NAME", "plugin NAME" or "log NAME".

    then, now: None when not known, or not there.
    """

    name: str
    then: str | None
    now: str | None

    @property
    def known(self) -> bool:
        """Whether it is known of both runs; an option, a label or a plugin that is not there is known to be away."""
        return (self.then is not None and self.now is not None) or self.name.startswith(
            ("option ", "label ", "plugin ")
        )


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """A measurement of both runs, None where a run has none of this name and unit. slower_percent: None where not compared."""

    name: str
    unit: str
    then: float | None
    now: float | None
    slower_percent: float | None


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """A run beside the last that passed. same: what both have in common: card, node or model; "" with no such run.

    first_failure: the first run that failed or errored on this card (or place) since then; the run itself where none came before.
    changes: known of both. unknown: not known of one of them. strip: the last runs of this suite on this card (or place), oldest
    first, up to this one.
    """

    run: Run
    passed: Run | None
    same: str
    first_failure: Run | None
    changes: list[Change]
    unknown: list[Change]
    measurements: list[Pair]
    strip: list[Run]


def compared(run: Run) -> Compared:
    """run: of `querysets.run_whole`. At most seven queries."""
    strip = list(_before(run, _here(run))[:STRIP])
    passed = _passed(run)
    same = _same(run, passed) if passed is not None else ""
    found = _changes(run, passed) if passed is not None else []
    return Compared(
        run=run,
        passed=passed,
        same=same,
        first_failure=_first_bad(run, passed if same == CARD else None),
        changes=[one for one in found if one.known],
        unknown=[one for one in found if not one.known],
        measurements=_measurements(run, passed) if passed is not None else [],
        strip=strip[::-1],
    )


def _here(run: Run) -> QuerySet[Run]:
    """Runs of the suite on the card, or on "some card" of the node where the run's card is not known."""
    place = {"cluster_id": run.cluster_id, "node_name": run.node_name, "card_key": run.card_key}
    return querysets.runs().filter(suite=run.suite, **place)


def _before(run: Run, rows: QuerySet[Run]) -> QuerySet[Run]:
    """The ended ones up to this run, it included; newest first."""
    ended = rows.filter(ended_at__isnull=False)
    if run.ended_at is not None:
        ended = ended.filter(ended_at__lte=run.ended_at)
    return ended.order_by("-ended_at", "-id")


def _passed(run: Run) -> Run | None:
    """Three queries at most, each along an index: ids are in the order of time."""
    rows = querysets.runs().defer(None).defer("manifest").filter(suite=run.suite, verdict="passed").exclude(pk=run.pk)
    here = rows.filter(cluster_id=run.cluster_id, node_name=run.node_name)
    found = _before(run, here.filter(card_key=run.card_key)).first() or _before(run, here).first()
    if found is None and run.card_model:
        found = _before(run, rows.filter(card_model=run.card_model)).order_by("-id").first()
    return found


def _same(run: Run, other: Run) -> str:
    if (run.cluster_id, run.node_name) != (other.cluster_id, other.node_name):
        return MODEL
    return CARD if run.card_key == other.card_key else NODE


def _first_bad(run: Run, passed: Run | None) -> Run | None:
    """The first that went wrong after the last that passed on this card; None where this run did not go wrong."""
    if run.verdict not in WRONG:
        return None
    bad = _before(run, _here(run)).filter(verdict__in=WRONG)
    if passed is not None:
        bad = bad.filter(ended_at__gte=passed.ended_at)
    return bad.order_by("ended_at", "id").first() or run


def _changes(run: Run, passed: Run) -> list[Change]:
    then, now = _facts(passed), _facts(run)
    # Snapshots of older versions have neither labels nor plugins: of these it is not known what was there.
    whole = all("cordoned" in _object(one.node_snapshot) for one in (run, passed))
    skipped = () if whole else tuple(f"{word} " for word in _NESTED.values())
    if then["node_name"] != now["node_name"]:  # another node has another UID: that says nothing
        for facts in (then, now):
            facts.pop("node_uid", None)
    names = [name for name in dict.fromkeys([*now, *then]) if not (skipped and name.startswith(skipped))]
    made = [Change(name=name, then=then.get(name), now=now.get(name)) for name in names]
    return [one for one in made if one.then != one.now and not (one.name.startswith("log ") and not one.known)]


def _facts(run: Run) -> dict[str, str]:
    """What is known of the run by name; what is not known is left out."""
    node = _object(run.node_snapshot)
    found: dict[str, Any] = {name: getattr(run, name) for name in _COLUMNS}
    found |= {name: node.get(name) for name in _NODE}
    found |= {f"option {name}": value for name, value in _object(run.options).items()}
    for part, word in _NESTED.items():
        found |= {f"{word} {name}": value for name, value in _object(node.get(part)).items()}
    log = {name: value for name, value in _object(run.facts).items() if any(word in name for word in _FACTS)}
    found |= {f"log {name}": value for name, value in log.items() if isinstance(value, str | int | float)}
    return {name: str(value)[:300] for name, value in found.items() if value not in ("", None)}


def _object(stored: Any) -> Mapping[str, Any]:
    return stored if isinstance(stored, dict) else {}


def _measurements(run: Run, passed: Run) -> list[Pair]:
    now = {(row.name, row.unit): row.value for row in run.measurements.all()}
    then = {(row.name, row.unit): row.value for row in passed.measurements.order_by("id")}
    return [
        Pair(
            name=name,
            unit=unit,
            then=then.get((name, unit)),
            now=now.get((name, unit)),
            slower_percent=_slower(now.get((name, unit)), then.get((name, unit)), unit),
        )
        for name, unit in dict.fromkeys([*now, *then])
    ]


def _slower(now: float | None, then: float | None, unit: str) -> float | None:
    return None if now is None or then is None else slower_percent(now, then, unit)
