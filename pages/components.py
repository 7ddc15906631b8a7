"""Components: which GPU software works on the fleet, what is missing and why; and the list of all of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db.models import Count, Min, Q
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from inventory.models import Cluster, NodeTotals
from inventory.models.choices import ComponentState
from inventory.queries import rows as querysets
from pages.frame import choices
from pages.frame.freshness import incomplete, notices
from pages.frame.listing import Field, ListSpec, list_page
from pages.frame.live import live_page
from pages.frame.refusals import answered
from pages.frame.set_up import set_up_one_url
from pages.sections.rollouts import Rollouts, rollouts
from pages.words.components import (
    LEVELS,
    MUTED,
    PROBLEMS,
    ComponentLine,
    component_line,
    component_lines,
    list_url,
    plain_title,
    state_of,
    title_of,
    why_filter,
)
from resources.component import COMPONENTS, NONE, why_begins
from runtime.cached import shareable, shared
from stacks.engine.registry import registry
from stacks.engine.software import base

#: Causes that are drawn; the list has all.
MOST_CAUSES = 15
#: Versions that are named of a component.
VERSIONS_SHOWN = 2
#: Order of the columns: what works, what does not, what nobody has to act on.
_COLUMNS = (base.READY, *PROBLEMS, *MUTED)
_ERRORS = tuple(state for state in PROBLEMS if LEVELS[state] in ("error", "warning") and state != base.OUTDATED)


class Cell(NamedTuple):
    """How many nodes, or clusters, have a component in a state. level: of the state, where somebody has to act on it."""

    number: int
    url: str
    level: str
    muted: bool
    title: str
    label: str


@dataclass(frozen=True)
class MatrixRow:
    """A component, and how many are in which state. versions: those that run, the most frequent first; more: of how many others."""

    name: str
    title: SafeString
    versions: list[str]
    more: int
    counts: Mapping[str, int]
    cells: list[Cell]

    @property
    def problems(self) -> int:
        return sum(self.counts.get(state, 0) for state in PROBLEMS)

    @property
    def muted(self) -> bool:
        return not any(self.counts.get(state, 0) for state in (base.READY, *PROBLEMS))


@dataclass(frozen=True)
class Matrix:
    """heads: (state, its word, whether it is muted) of the columns that are not empty throughout."""

    heads: list[tuple[str, str, bool]]
    rows: list[MatrixRow]


@dataclass(frozen=True)
class Cause:
    """Components that are alike: same component, state, version and reason. line: one of them. url: all of them."""

    line: ComponentLine
    number: int
    clusters: int
    since: datetime
    url: str


@dataclass(frozen=True)
class Facts:
    """The first line. causes: groups. with_cause: nodes that have one."""

    nodes: int
    causes: int
    with_cause: int
    with_cause_url: str
    problems: int
    problems_url: str
    outdated: int
    outdated_url: str
    unknown: int
    unknown_url: str


@dataclass(frozen=True)
class Fleet:
    facts: Facts
    causes: list[Cause]
    causes_hidden: int
    nodes: Matrix
    clusters: Matrix
    rollouts: Rollouts


#: (component, state, version) → how many.
Counts = dict[tuple[str, str, str], int]


def _fleet() -> Fleet:
    of_all, once = _counts()
    of_nodes = {key: rest for key, number in of_all.items() if (rest := number - once.get(key, 0))}
    causes, hidden = _causes()
    return Fleet(
        facts=_facts(of_all, causes, hidden),
        causes=causes,
        causes_hidden=hidden,
        nodes=_matrix(of_nodes, "true"),
        clusters=_matrix(once, "false"),
        rollouts=rollouts(),
    )


def _counts() -> tuple[Counts, Counts]:
    """(of all components, of those that clusters have once). The order of the groups is that of the index, which has all of it."""
    grouped = querysets.components().select_related(None).values_list("cluster_id", "state", "name", "version")
    found: Counts = defaultdict(int)
    for _pk, state, name, version, number in grouped.order_by("cluster_id", "state", "name", "version").annotate(
        number=Count("*")
    ):
        found[name, state, version] += number
    once: Counts = defaultdict(int)
    rows = querysets.components().filter(cluster_id__in=list(Cluster.objects.values_list("pk", flat=True)))
    for key in rows.filter(node_name="").values_list("name", "state", "version"):
        once[key] += 1
    return found, once


def _matrix(counts: Counts, of_nodes: str) -> Matrix:
    by_name: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    versions: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for (name, state, version), number in counts.items():
        by_name[name][state] += number
        if version and state not in MUTED:
            versions[name][version] += number
    shown = [state for state in _COLUMNS if any(found.get(state) for found in by_name.values())]
    rows = [_row(name, found, versions[name], shown, of_nodes) for name, found in by_name.items()]
    order = {name: place for place, name in enumerate(_in_order())}
    rows.sort(key=lambda row: (row.muted, not row.problems, order.get(row.name, len(order)), row.name))
    return Matrix([(state, state_of(state), state in MUTED) for state in shown], rows)


def _in_order() -> list[str]:
    """Names of components of nodes, those of a stack in its order of blame."""
    return [component.name for declared in registry.software for component in declared.software.node]


def _row(name: str, counts: dict[str, int], versions: dict[str, int], shown: list[str], of_nodes: str) -> MatrixRow:
    often = sorted(versions, key=lambda version: (-versions[version], version))
    cells = [
        Cell(
            counts.get(state, 0),
            list_url(component=name, state=state, of_nodes=of_nodes),
            LEVELS[state] if state in PROBLEMS else "",
            state in MUTED,
            state_of(state),
            f"{plain_title(name)}, {state_of(state)}",
        )
        for state in shown
    ]
    more = max(0, len(often) - VERSIONS_SHOWN)
    return MatrixRow(name, title_of(name), often[:VERSIONS_SHOWN], more, counts, cells)


def _causes() -> tuple[list[Cause], int]:
    """(what explains the rest, the worst and most frequent first; how many more there are)."""
    once = Q(node_name="", state__in=_ERRORS)
    rows = querysets.components().filter(Q(first_cause=True) | once | Q(state=base.OUTDATED))
    alike = rows.order_by().values("name", "state", "version", "first_cause", why_head=why_begins())
    groups = list(
        alike.annotate(
            number=Count("id"), clusters=Count("cluster_id", distinct=True), since=Min("state_since"), first=Min("id")
        )
    )
    groups.sort(key=lambda one: (_rank(one["state"]), -one["number"], one["name"], one["why_head"]))
    shown = groups[:MOST_CAUSES]
    lines = {
        row.pk: component_line(row) for row in querysets.components().filter(pk__in=[one["first"] for one in shown])
    }
    causes = [_cause(one, lines[one["first"]]) for one in shown if one["first"] in lines]
    return causes, len(groups) - len(shown)


def _rank(state: str) -> int:
    return {"error": 0, "warning": 1}.get(LEVELS[state], 2) if state != base.OUTDATED else 3


def _cause(group: Mapping[str, Any], line: ComponentLine) -> Cause:
    url = list_url(
        component=group["name"],
        state=group["state"],
        version=group["version"] or NONE,
        why=why_filter(group["why_head"]),
        first_cause="true" if group["first_cause"] else "false",
    )
    return Cause(line, group["number"], group["clusters"], group["since"], url)


def _facts(counts: Counts, causes: list[Cause], hidden: int) -> Facts:
    states: dict[str, int] = defaultdict(int)
    for (_name, state, _version), number in counts.items():
        states[state] += number
    problems = [state for state in PROBLEMS if state != base.OUTDATED]
    asked = urlencode([("state", state) for state in problems])
    return Facts(
        nodes=NodeTotals.objects.count(),
        causes=sum(cause.line.row.state != base.OUTDATED for cause in causes) + hidden,
        with_cause=querysets.components().filter(first_cause=True).exclude(node_name="").count(),
        with_cause_url=list_url(first_cause="true", of_nodes="true"),
        problems=sum(states[state] for state in problems),
        problems_url=f"{reverse('component-list')}?{asked}",
        outdated=states[base.OUTDATED],
        outdated_url=list_url(state=base.OUTDATED),
        unknown=states[base.UNKNOWN],
        unknown_url=list_url(state=base.UNKNOWN),
    )


@shareable
@require_safe
@answered
def components(request: HttpRequest) -> HttpResponseBase:
    context = {
        "fleet": shared("components", get_language(), _fleet),
        "notices": notices(request),
        "incomplete": incomplete(request),
        "tab": "fleet",
        "set_up_url": set_up_one_url(request),
    }
    return live_page(request, "components/page.html", "components/part.html", context)


def _names() -> list[tuple[str, str]]:
    """Components of nodes; those that clusters have once are asked for by a link or the search."""
    return sorted(((name, plain_title(name)) for name in _in_order()), key=lambda one: one[1].lower())


SPEC = ListSpec(
    resource=COMPONENTS,
    fields=(
        Field("q", _("Search"), placeholder=_("node, component, reason"), wide=True),
        Field("cluster", _("Cluster"), choices.clusters),
        Field("component", _("Component"), _names),
        Field("state", _("State"), ComponentState.choices),
        Field("node", _("Node")),
        Field("version", _("Version")),
        Field("stack", _("Stack")),
        Field("first_cause", _("Root cause"), (("true", _("yes")), ("false", _("no")))),
    ),
    shape=component_lines,
    page="components/list.html",
    part="components/list_part.html",
    caption=_("Components"),
    cells="components/cells",
    key=lambda line: f"component-{line.row.id}",
    gone=lambda line: line.muted,
)


@shareable
@require_safe
@answered
def component_list(request: HttpRequest) -> HttpResponseBase:
    return list_page(request, SPEC, lambda _: {"tab": "list", "set_up_url": set_up_one_url(request)})
