"""What changed on a node in a window: allocations, findings, runs, components, and the node itself. Four queries."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from inventory.components.steps import DRIVERS
from inventory.mirror import node_changes
from inventory.models import ComponentChange, NodeChange, NodeTotals
from inventory.queries import rows as querysets
from pages.frame.holders import hue
from pages.frame.links import pod_url
from pages.rows.cards import card_name
from pages.rows.findings import FindingLine, row_key
from pages.rows.runs import run_line
from pages.sections.changes import Change
from pages.words.components import LEVELS, title_of
from runtime.spans import span
from validations.querysets import runs_of_node

#: Of each kind.
MOST_CHANGES = 200
#: Changes of a node that last until they are undone → level of their sign.
_STATES = {node_changes.CORDONED: "warning", node_changes.READY: "error"}
_TITLES = {
    node_changes.DRIVER: gettext_lazy("Driver"),
    "kernel": gettext_lazy("Kernel"),
    "kubelet": gettext_lazy("kubelet"),
    "os": gettext_lazy("Operating system"),
    "runtime": gettext_lazy("Container runtime"),
}


def changes_of(
    node_totals: NodeTotals, held: list[tuple[Any, Any]], findings: list[FindingLine], begin: datetime
) -> list[Change]:
    """held: (allocation, its card or None) of those that last. findings: those that are, and those that ended in the window."""
    cluster_id, name = node_totals.cluster_id, node_totals.node_name
    ended = querysets.holds_ended_on(cluster_id, name).filter(ended_at__gte=begin).order_by("-ended_at", "-id")
    runs = runs_of_node(cluster_id, name).filter(created_at__gte=begin)
    changed = querysets.component_changes().filter(at__gte=begin, cluster_id=cluster_id, node_name=name)
    own = querysets.node_changes().filter(at__gte=begin, cluster_id=cluster_id, node_name=name)
    components = list(changed.order_by("-at", "-id")[:MOST_CHANGES])
    return [
        *_pods([*held, *((one, one.card) for one in ended[:MOST_CHANGES])], node_totals.cluster.name),
        *_problems(findings),
        *map(_run, runs[:MOST_CHANGES]),
        *map(_component, components),
        *_of_node([row for row in own.order_by("-at", "-id")[:MOST_CHANGES] if not _is_told(row, components)]),
    ]


def _pods(held: list[tuple[Any, Any]], cluster: str) -> list[Change]:
    """(allocation, its card or None). A pod with several cards is one."""
    pods: dict[str, list[tuple[Any, Any]]] = {}
    for one in held:
        pods.setdefault(one[0].pod_uid, []).append(one)
    return [_pod(mine, cluster) for mine in pods.values()]


def _pod(mine: list[tuple[Any, Any]], cluster: str) -> Change:
    first = mine[0][0]
    cards = {card.pk: card for _one, card in mine if card is not None}
    begin, ends = min(one.started_at for one, _card in mine), [one.ended_at for one, _card in mine]
    end = None if None in ends else max(ends)
    where = ngettext("%(n)d card", "%(n)d cards", len(cards)) % {"n": len(cards)} if cards else ""
    if len(cards) == 1:
        where = card_name(*cards.values())
    return Change(
        key=f"pod-{first.pk}",
        kind=_("Allocations"),
        level="none",
        look=str(hue(first.namespace)),
        what=first.who,
        url="" if first.foreign else pod_url(cluster, first.namespace, first.pod),
        words=_("ended after %(span)s") % {"span": span((end - begin).total_seconds())} if end else _("allocated"),
        where=where,
        begin=begin,
        end=end,
        usual=True,
    )


def _problems(findings: list[FindingLine]) -> list[Change]:
    """What sources report of the health of one card is one change where it came together."""
    found: dict[tuple[object, ...], list[FindingLine]] = {}
    for line in findings:
        row = line.row
        times = tuple(at and at.replace(second=0, microsecond=0) for at in (row.first_seen_at, row.ended_at))
        found.setdefault((row_key(line), row.card_key, *times), []).append(line)
    return [_problem(mine) for mine in found.values()]


def _problem(mine: list[FindingLine]) -> Change:
    line, row = mine[0], mine[0].row
    words = _("ended") if row.ended_at else _("new")
    return Change(
        key=f"finding-{row.pk}",
        kind=_("Findings"),
        level="good" if row.ended_at else row.severity,
        look=row.severity,
        what=line.what,
        url=line.card_url,
        words=" · ".join([words, *(other.what for other in mine[1:])]),
        where=line.card,
        begin=row.first_seen_at,
        end=row.ended_at,
        name=f"{line.what}, {line.card}",
    )


def _run(run: Any) -> Change:
    line = run_line(run)
    return Change(
        key=f"run-{run.pk}",
        kind=_("Runs"),
        level=line.shown.level,
        look=line.shown.level,
        what=line.suite,
        url=line.url,
        words=line.shown.words,
        where=line.card,
        begin=run.created_at,
        end=run.ended_at,
        name=f"{line.suite}, {run.pk}",
    )


def _of_node(rows: list[NodeChange]) -> list[Change]:
    """rows: newest first. What lasts (a cordon, not ready) is from when it began until the next change of it, or until now."""
    made, ends = [], dict[str, datetime]()
    labels: dict[datetime, list[NodeChange]] = {}
    for row in rows:
        if row.what.startswith(node_changes.LABEL):
            labels.setdefault(row.at, []).append(row)
            continue
        lasts = row.what in _STATES and row.after
        look = _STATES[row.what] if lasts else "good" if row.what in _STATES else "info"
        made.append(_node_change(row, *_words(row), look, ends.get(row.what) if lasts else row.at))
        ends[row.what] = row.at
    return made + [_labels(together) for together in labels.values()]


def _is_told(row: NodeChange, components: list[ComponentChange]) -> bool:
    """Whether the driver's component says the same of it."""
    versions = (row.before, row.after)
    return row.what == node_changes.DRIVER and any(
        one.name in DRIVERS and versions == (one.version_before, one.version_after) for one in components
    )


def _labels(rows: list[NodeChange]) -> Change:
    """Labels that changed at once are one change."""
    told = [(row.what.removeprefix(node_changes.LABEL), _arrow(row)) for row in rows]
    title = told[0][0] if len(told) == 1 else ngettext("%(n)d label", "%(n)d labels", len(told)) % {"n": len(told)}
    words = told[0][1] if len(told) == 1 else " · ".join(f"{name} {arrow}" for name, arrow in told)
    return _node_change(rows[0], title, words, "info", rows[0].at)


def _node_change(row: NodeChange, what: str, words: str, look: str, end: datetime | None) -> Change:
    return Change(
        key=f"node-{row.pk}",
        kind=_("Node"),
        level=look,
        look=look,
        what=what,
        url="",
        words=words,
        where="",
        begin=row.at,
        end=end,
        happened=row.at,
    )


def _words(row: NodeChange) -> tuple[str, str]:
    """What changed, and how."""
    match row.what:
        case node_changes.CORDONED:
            return (_("Cordoned") if row.after else _("Uncordoned")), ""
        case node_changes.READY:
            return (_("Not ready") if row.after else _("Ready")), _(
                "unknown"
            ) if row.after == node_changes.UNKNOWN else ""
        case node_changes.BOOT:
            return _("Restarted"), ""
    return str(_TITLES.get(row.what, row.what.removeprefix(node_changes.OFFERS))), _arrow(row)


def _arrow(row: NodeChange) -> str:
    return f"{row.before or '–'} → {row.after or '–'}"


def _component(row: Any) -> Change:
    return Change(
        key=f"change-{row.pk}",
        kind=_("Components"),
        level=LEVELS.get(row.state_after, "none"),
        look=LEVELS.get(row.state_after, "none"),
        what=title_of(row.name),
        url="",
        words="",
        where="",
        begin=row.at,
        end=row.at,
        row=row,
    )
