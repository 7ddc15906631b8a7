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
    "suite",
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
    """Something that is not the same. name: of a column, or "LIST NAME" of one of a list: "option NAME", "label NAME", "log NAME".

    then, now: None when not known, or not there.
    """

    name: str
    then: str | None
    now: str | None

    @property
    def known(self) -> bool:
        """Whether it is known of both; one of a list that is not there is known to be away, but of what a log says."""
        if self.then is not None and self.now is not None:
            return True
        return " " in self.name and not self.name.startswith("log ")


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """A measurement of both runs, None where a run has none of this name and unit. slower_percent: None where not compared."""

    name: str
    unit: str
    then: float | None
    now: float | None
    slower_percent: float | None


class Beside(msgspec.Struct, frozen=True, kw_only=True):
    """Two things. changes: known of both. unknown: not known of one. unchanged: names of what is known of both and the same."""

    changes: list[Change] = []
    unknown: list[Change] = []
    unchanged: list[str] = []
    measurements: list[Pair] = []


class Compared(Beside, frozen=True, kw_only=True):
    """A run beside the last that passed. same: what both have in common: card, node or model; "" with no such run.

    first_failure: the first run that failed or errored on this card (or place) since then; the run itself where none came before.
    strip: the last runs of this suite on this card (or place), oldest first, up to this one.
    """

    run: Run
    passed: Run | None
    same: str
    first_failure: Run | None
    strip: list[Run]


def compared(run: Run) -> Compared:
    """run: of `querysets.run_whole`. At most seven queries."""
    strip = list(_before(run, _here(run))[:STRIP])
    passed = _passed(run)
    same = _same(run, passed) if passed is not None else ""
    found = beside(passed, run) if passed is not None else Beside()
    return Compared(
        run=run,
        passed=passed,
        same=same,
        first_failure=_first_bad(run, passed if same == CARD else None),
        strip=strip[::-1],
        **msgspec.structs.asdict(found),
    )


def beside(then: Run, now: Run) -> Beside:
    """Any two runs, read in full. One query or two, for their measurements."""
    return apart(*_known_facts(then, now), _measurements(now, then))


def apart(old: Mapping[str, str], new: Mapping[str, str], measurements: list[Pair]) -> Beside:
    """What two things are known by, name → value, told apart. The order is that of the second one."""
    made = [Change(name=name, then=old.get(name), now=new.get(name)) for name in dict.fromkeys([*new, *old])]
    differ = [one for one in made if one.then != one.now and not (one.name.startswith("log ") and not one.known)]
    return Beside(
        changes=[one for one in differ if one.known],
        unknown=[one for one in differ if not one.known],
        unchanged=[one.name for one in made if one.then == one.now],
        measurements=measurements,
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


def _known_facts(then: Run, now: Run) -> tuple[dict[str, str], dict[str, str]]:
    """What is known of both, without what says nothing when it differs."""
    old, new = _facts(then), _facts(now)
    # Snapshots of older versions have neither labels nor plugins: of these it is not known what was there.
    whole = all("cordoned" in _object(one.node_snapshot) for one in (then, now))
    skipped = () if whole else tuple(f"{word} " for word in _NESTED.values())
    if old["node_name"] != new["node_name"]:  # another node has another UID: that says nothing
        skipped += ("node_uid",)
    first, second = (
        {name: value for name, value in one.items() if not (skipped and name.startswith(skipped))} for one in (old, new)
    )
    return first, second


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


def _measurements(run: Run, other: Run) -> list[Pair]:
    now, then = (
        {(row.name, row.unit): row.value for row in sorted(one.measurements.all(), key=lambda row: row.pk)}
        for one in (run, other)
    )
    return [pair(*key, then.get(key), now.get(key)) for key in dict.fromkeys([*now, *then])]


def pair(name: str, unit: str, then: float | None, now: float | None) -> Pair:
    return Pair(name=name, unit=unit, then=then, now=now, slower_percent=_slower(now, then, unit))


def _slower(now: float | None, then: float | None, unit: str) -> float | None:
    return None if now is None or then is None else slower_percent(now, then, unit)
