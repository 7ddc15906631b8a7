"""The difference between what was measured and the rows that are there, written in one transaction under the collector's lease.

A row whose values changed by no more than noise is not written: `UsageSource.round_at` says that it was looked at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeAlias

import msgspec

from exporters.engine import measures
from exporters.engine.measures import MEASURES
from inventory.collect.merged import Measured
from inventory.health import signs
from inventory.models import CardUsage, DirtyNode
from inventory.queries.measured import KEPT_SINCE
from runtime import bulk

#: Work is seen when the best sign of it is above this.
IDLE_BELOW = 0.01
#: Between two rounds further apart nobody knows what happened.
MOST_GAP = timedelta(minutes=5)
#: Nodes whose rows are looked at together.
NODES_AT_ONCE = 500
#: An exporter asks the kubelet for the pods at each scrape; where that fails its labels are gone for once. They are kept for so long.
KEEP_HOLDERS_S = 180.0
#: What is less does not change a row, by unit; of numbers that only count, any change does.
_NOISE = {
    measures.BYTES: float(16 << 20),
    measures.RATIO: 0.02,
    measures.CELSIUS: 2.0,
    measures.WATTS: 5.0,
    measures.HERTZ: 50e6,
    measures.JOULES: 1e6,
}

Columns: TypeAlias = dict[str, Any]

#: Columns that a round writes, besides the key.
COLUMNS = (
    "uuid",
    "index",
    "card_id",
    "format",
    "version",
    "memory_used_bytes",
    "memory_measured_bytes",
    "utilization_ratio",
    "activity_ratio",
    "activity_measure",
    "temperature_celsius",
    "power_watts",
    "more",
    "signs",
    "pci",
    "holders",
    "age_s",
    "written_at",
    "lost_at",
    "watched_since",
    "active_at",
)
_KEY = ("cluster_id", "node_name", "ident")
_OF_MEASURE = {
    "memory_used_bytes": measures.MEMORY_USED.name,
    "memory_measured_bytes": measures.MEMORY_TOTAL.name,
    "utilization_ratio": measures.UTILIZATION.name,
    "temperature_celsius": measures.TEMPERATURE.name,
    "power_watts": measures.POWER.name,
}
_UNITS = {column: MEASURES[name].unit for column, name in _OF_MEASURE.items()} | {"activity_ratio": measures.RATIO}


class Written(msgspec.Struct, kw_only=True):
    """What a round did to the rows. dirty: nodes whose holders, cards or health are told otherwise than before."""

    written: int = 0
    lost: int = 0
    dirty: set[str] = set()


def stored_rows(cluster_id: int, nodes: Collection[str] | None = None) -> dict[tuple[str, str], Columns]:
    """What is stored of a cluster, or of some of its nodes, by node and ident."""
    rows = CardUsage.objects.filter(cluster_id=cluster_id)
    if nodes is not None:
        rows = rows.filter(node_name__in=nodes)
    return {(row["node_name"], row["ident"]): row for row in rows.values("id", "node_name", "ident", *COLUMNS)}


def write_round(
    cluster_id: int, source_id: int, measured: Iterable[Measured], now: datetime, last_round: datetime | None
) -> Written:
    """All that a round measured, some nodes after the other: what is stored of 40,000 cards is a hundred megabytes.

    Inside the caller's transaction. last_round: as for `write`.
    """
    by_node: dict[str, list[Measured]] = defaultdict(list)
    for one in measured:
        by_node[one.node].append(one)
    known = CardUsage.objects.filter(cluster_id=cluster_id, lost_at=None).order_by().values_list("node_name", flat=True)
    names = sorted(by_node.keys() | set(known.distinct()))
    result = Written(dirty=set())
    taken: set[int] = set()
    for start in range(0, len(names), NODES_AT_ONCE):
        nodes = names[start : start + NODES_AT_ONCE]
        here = [one for name in nodes for one in by_node.get(name, ())]
        done = write(cluster_id, source_id, here, stored_rows(cluster_id, nodes), now, last_round, taken)
        result.written, result.lost = result.written + done.written, result.lost + done.lost
        result.dirty |= done.dirty
    return result


def write(
    cluster_id: int,
    source_id: int,
    measured: Iterable[Measured],
    stored: Mapping[tuple[str, str], Columns],
    now: datetime,
    last_round: datetime | None,
    taken: set[int] | None = None,
) -> Written:
    """Inside the caller's transaction. last_round: when the round before this one was; None: there was none.

    taken: cards that have a row in this round already; those of this call are added.
    """
    result = Written(dirty=set())
    gap = last_round is None or now - last_round > MOST_GAP
    changed: list[tuple[Any, ...]] = []
    seen: set[tuple[str, str]] = set()
    taken = set() if taken is None else taken
    for one in measured:
        key = (one.node, one.ident)
        seen.add(key)
        old = stored.get(key)
        columns = _columns(one, old, now, None if gap else last_round)
        if (
            columns["card_id"] in taken
        ):  # two readings of one card under two names: the first, of the best exporter, has it
            columns["card_id"] = None
        elif columns["card_id"] is not None:
            taken.add(columns["card_id"])
        if old is not None and not _differs(old, columns):
            continue
        if old is None or _told_otherwise(old, columns):
            result.dirty.add(one.node)
        changed.append((cluster_id, source_id, one.node, one.ident, *(columns[name] for name in COLUMNS)))
    _free(cluster_id, changed)
    result.written = bulk.upsert(CardUsage, ("cluster_id", "source_id", "node_name", "ident", *COLUMNS), changed, _KEY)
    result.lost = _lose(stored, seen, now, result.dirty)
    if result.dirty:
        bulk.insert(DirtyNode, ("cluster_id", "node_name"), [(cluster_id, name) for name in sorted(result.dirty)])
    return result


def _free(cluster_id: int, changed: list[tuple[Any, ...]]) -> None:
    """A card has one row: one that was another's, under another name, is that one's no more."""
    place = 4 + COLUMNS.index("card_id")
    owners = {row[place]: (row[2], row[3]) for row in changed if row[place] is not None}
    held = CardUsage.objects.filter(cluster_id=cluster_id, card_id__in=owners) if owners else CardUsage.objects.none()
    for pk, card, node, ident in held.values_list("pk", "card_id", "node_name", "ident"):
        if owners[card] != (node, ident):
            CardUsage.objects.filter(pk=pk).update(card_id=None)


def _lose(stored: Mapping[tuple[str, str], Columns], seen: set[tuple[str, str]], now: datetime, dirty: set[str]) -> int:
    """What was not named in this round: its values are not known any more, and are kept as the last ones."""
    rows = []
    for key, row in stored.items():
        if key in seen or row["lost_at"] is not None:
            continue
        if row["holders"] or signs.unpacked(row["signs"]):
            dirty.add(key[0])
        rows.append((row["id"], *_emptied(row), now, now))
    columns = ("id", *_EMPTIED, "lost_at", "written_at")
    return bulk.update(CardUsage, columns, rows) if rows else 0


_EMPTIED = (*_OF_MEASURE, "activity_ratio", "activity_measure", "holders", "more", "watched_since")


def _emptied(row: Columns) -> tuple[Any, ...]:
    last = {name: row[name] for name in _OF_MEASURE if row[name] is not None}
    return (*(None for _ in _OF_MEASURE), None, "", [], {"last": last}, None)


def lose_all(cluster_id: int, now: datetime) -> int:
    """The source has said nothing for so long that nothing is known any more. Returns how many cards that is."""
    return write(cluster_id, 0, (), stored_rows(cluster_id), now, now).lost


def _columns(one: Measured, old: Columns | None, now: datetime, last_round: datetime | None) -> Columns:
    """last_round: None where there is a gap before this round."""
    activity, measure = one.activity
    columns: Columns = {column: one.values.get(name) for column, name in _OF_MEASURE.items()}
    for column in ("memory_used_bytes", "memory_measured_bytes"):
        columns[column] = None if columns[column] is None else int(columns[column])
    more: dict[str, Any] = {name: value for name, value in one.values.items() if name not in _OF_MEASURE.values()}
    broken = last_round is None or old is None or old["lost_at"] is not None
    works = activity is not None and activity > IDLE_BELOW
    # The row of a card that works is written rarely: it did until the round before.
    before = None if old is None or broken else last_round if _works(old) else old["active_at"]
    before_signs = signs.unpacked(old["signs"]) if old is not None else {}
    looked_at = old is not None and old["signs"] != ""
    now_found = signs.found(one.values, one.told, before_signs, one.by)
    holders, since = (one.holders, None) if one.holders or broken else _kept(old, now)
    if since is not None:
        more[KEPT_SINCE] = since
    return columns | {
        "uuid": one.uuid[:128],
        "index": one.index,
        "card_id": one.card.id if one.card else None,
        "format": one.format[:32],
        "version": one.version[:64],
        "activity_ratio": activity,
        "activity_measure": measure,
        "more": more | one.told,
        "signs": signs.packed(signs.aged(now_found, before_signs, now.timestamp(), not broken and looked_at)),
        "pci": one.pci[:32],
        "holders": holders,
        "age_s": one.age_s,
        "written_at": now,
        "lost_at": None,
        "watched_since": now if broken or old is None else old["watched_since"],
        "active_at": now if works else before,
    }


def _kept(old: Columns | None, now: datetime) -> tuple[list[dict[str, Any]], float | None]:
    """(the holders of before, since when they are kept) where the exporter names none now, for a while."""
    if old is None or not old["holders"]:
        return [], None
    since: float = old["more"].get(KEPT_SINCE, now.timestamp())
    return (old["holders"], since) if now.timestamp() - since <= KEEP_HOLDERS_S else ([], None)


#: Of these any change is written.
_EXACT = ("uuid", "index", "card_id", "format", "signs", "pci")


def _differs(old: Columns, new: Columns) -> bool:
    """Whether a row is to be written."""
    if old["lost_at"] is not None or any(old[name] != new[name] for name in _EXACT):
        return True
    if old["version"] != new["version"] or old["watched_since"] != new["watched_since"]:
        return True
    if any(_moved(old[name], new[name], unit) for name, unit in _UNITS.items()):
        return True
    if old["activity_measure"] != new["activity_measure"] or _works(old) != _works(new):
        return True
    return _holders_differ(old["holders"], new["holders"]) or _more_differs(old["more"], new["more"])


def _works(row: Columns) -> bool:
    return row["activity_ratio"] is not None and row["activity_ratio"] > IDLE_BELOW


def _moved(old: float | None, new: float | None, unit: str) -> bool:
    if old is None or new is None:
        return old is not new
    return abs(new - old) > _NOISE[unit] if unit in _NOISE else new != old


def _more_differs(old: Columns, new: Columns) -> bool:
    if old.keys() != new.keys():
        return True
    for name, value in new.items():
        measure = MEASURES.get(name)
        if measure is None or not isinstance(old[name], int | float) or not isinstance(value, int | float):
            if old[name] != value:
                return True
        elif _moved(old[name], value, measure.unit):
            return True
    return False


def _holders_differ(old: list[Columns], new: list[Columns]) -> bool:
    if len(old) != len(new):
        return True
    return any(
        any(before[name] != after[name] for name in after if name != "memory")
        or _moved(before["memory"], after["memory"], measures.BYTES)
        for before, after in zip(old, new, strict=True)
    )


def _told_otherwise(old: Columns, new: Columns) -> bool:
    """Whether the node's report may come out otherwise: which cards there are, who is on them, how well they are."""
    if old["lost_at"] is not None or any(old[name] != new[name] for name in ("uuid", "index")):
        return True
    now_found = signs.unpacked(new["signs"])
    if old["signs"] != new["signs"] and signs.unpacked(old["signs"]) != now_found:
        return True
    if now_found and old["card_id"] != new["card_id"]:
        return True
    names = [[(one["namespace"], one["pod"], one["container"]) for one in row["holders"]] for row in (old, new)]
    return names[0] != names[1]
