"""Out of service: what is recommended, what gpudash took out, which nodes others marked; the list of all cases; the switch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Exists, OuterRef, Q, QuerySet, Sum
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from inventory.marks import OURS
from inventory.models import Cluster, Node, NodeTotals
from pages.frame import choices
from pages.frame.labels import pool_words
from pages.frame.links import node_url, with_filters
from pages.frame.listing import Field, ListSpec, list_page
from pages.frame.refusals import BadParameter, answered
from pages.permission import may_quarantine, refused
from pages.sections.case_lines import CaseLine, case_lines, cost_words
from pages.validations import suite_choices
from pages.words import out_of_service as words
from quarantine import manage, reading
from quarantine.models import OPEN, Case, CaseState, QuarantineSwitch
from quarantine.reading import MarkedNode
from resources import node_mark
from resources.filter_sets import StrictFilterSet
from resources.node_mark import NODE_MARKS
from resources.out_of_service import CASES, of_pool
from runtime.scope import current
from validations.planning import Refused

#: Cases of each section; the rest is a link away.
SHOWN = 20
_TAKEN = (CaseState.ACCEPTED, CaseState.OUT, CaseState.RETURNING)


@dataclass(frozen=True)
class MarkedLine:
    """A marked node. first: the mark that names the row; more: what else marks it. cases: of gpudash there."""

    row: MarkedNode
    url: str
    first: words.MarkLine
    more: list[words.MarkLine]

    @property
    def others(self) -> str:
        """What else marks it, in one line."""
        return ", ".join(f"{one.tool} “{one.key}”" for one in self.more)


@dataclass(frozen=True)
class Section:
    """Cases of one kind: the first ones, how many there are, and the list of all."""

    lines: list[CaseLine]
    count: int
    url: str


@dataclass(frozen=True)
class Out:
    """The figures of the first line. costs: of the nodes that are out, in words; "" where nothing is known of them."""

    nodes: int
    costs: str
    recommended: int
    waiting: int


def marked_lines(rows: list[MarkedNode]) -> list[MarkedLine]:
    return [_marked_line(row) for row in rows]


def _marked_line(row: MarkedNode) -> MarkedLine:
    """A mark of another tool names the row, since ours have their own section."""
    ordered = sorted(row.marks, key=lambda one: (one.tool == OURS, not one.blocks))
    first, *more = [words.mark_line(one) for one in ordered]
    return MarkedLine(row, node_url(row.cluster.name, row.node.name), first, more)


def _by_others() -> QuerySet[Node]:
    """Nodes with a mark that is not ours, and those whose mark of ours no open case explains."""
    explained = Case.objects.filter(cluster_id=OuterRef("cluster_id"), node_name=OuterRef("name"), state__in=OPEN)
    stray = Q(marks__contains=f'"tool":"{OURS}"') & ~Exists(explained)
    found: QuerySet[Node] = node_mark.rows().filter(node_mark.BY_OTHERS | stray)
    return found


def tool_choices() -> list[tuple[str, str]]:
    return [*((tool, tool) for tool in words.TOOLS), (node_mark.NO_TOOL, _("unknown"))]


def pool_choices() -> list[tuple[str, str]]:
    names = NodeTotals.objects.exclude(pool="").order_by("pool").values_list("pool", flat=True).distinct()
    return [(name, pool_words(name)) for name in names[:100]]


MARKED = ListSpec(
    resource=NODE_MARKS,
    fields=(
        Field("q", gettext_lazy("Search"), placeholder=gettext_lazy("node, mark"), wide=True),
        Field("cluster", gettext_lazy("Cluster"), choices.clusters),
        Field("pool", gettext_lazy("Pool"), pool_choices),
        Field("tool", gettext_lazy("Tool"), tool_choices),
        Field(
            "out",
            gettext_lazy("Out of service"),
            (("true", gettext_lazy("Out of service")), ("false", gettext_lazy("In service"))),
        ),
    ),
    shape=marked_lines,
    page="out_of_service/page.html",
    part="out_of_service/part.html",
    title=gettext_lazy("Out of service"),
    caption=gettext_lazy("Marked by others"),
    cells="out_of_service/mark_cells",
    key=lambda line: f"marked-{line.row.node.pk}",
    rows=_by_others,
)


@require_safe
@answered
def out_of_service(request: HttpRequest) -> HttpResponseBase:
    return list_page(request, MARKED, lambda found: _context(request, found))


def _context(request: HttpRequest, found: StrictFilterSet) -> dict[str, Any]:
    query = _kept(request)
    cases = _cases(found)
    switch = manage.switch()
    sections = {
        name: _section(request, query, cases.filter(state__in=states), states)
        for name, states in (("recommended", (CaseState.RECOMMENDED,)), ("taken", _TAKEN))
    }
    return {
        **sections,
        "out": _out(found, cases, sections["recommended"].count),
        "urls": {
            "waiting": with_filters(reverse("cases"), query, {"state": CaseState.OUT.value}),
            "cases": with_filters(reverse("cases"), query, {}),
        },
        "cannot": _cannot(found),
        "switch": switch,
        "tripped_why": switch.said_tripped if current().everything else "",
        "may_switch": may_quarantine(request),
    }


def _cases(found: StrictFilterSet) -> QuerySet[Case]:
    """Open cases by the filters of the page; none where another tool than ours is asked for."""
    rows: QuerySet[Case] = reading.open_cases()
    asked = found.form.cleaned_data if found.is_valid() else {}
    if clusters := asked.get("cluster"):
        rows = rows.filter(cluster_id__in=clusters)
    if pools := asked.get("pool"):
        rows = rows.filter(of_pool(pools))
    if nodes := asked.get("node"):
        rows = rows.filter(node_name__in=nodes)
    for word in asked.get("q") or ():
        rows = rows.filter(Q(node_name__icontains=word) | Q(card_key__icontains=word) | Q(reason__icontains=word))
    tools = asked.get("tool")
    return rows.none() if tools and OURS not in tools else rows


def _section(request: HttpRequest, query: QueryDict, rows: QuerySet[Case], states: tuple[CaseState, ...]) -> Section:
    lines = case_lines(request, list(rows.order_by("-id")[:SHOWN]))
    count = len(lines) if len(lines) < SHOWN else rows.count()
    url = with_filters(reverse("cases"), query, {"open": "true"} if len(states) > 1 else {"state": states[0].value})
    return Section(lines, count, url)


def _out(found: StrictFilterSet, cases: QuerySet[Case], recommended: int) -> Out:
    asked = found.form.cleaned_data if found.is_valid() else {}
    nodes = node_mark.rows().filter(node_mark.OUT)
    if clusters := asked.get("cluster"):
        nodes = nodes.filter(cluster_id__in=clusters)
    if pools := asked.get("pool"):
        nodes = nodes.filter(of_pool(pools, "name"))
    named = Node.objects.filter(node_mark.OUT, cluster_id=OuterRef("cluster_id"), name=OuterRef("node_name"))
    totals = NodeTotals.objects.filter(Exists(named))
    if clusters:
        totals = totals.filter(cluster_id__in=clusters)
    if pools:
        totals = totals.filter(pool__in=pools)
    sums = totals.aggregate(cards=Sum("cards_total"), memory=Sum("memory_total_bytes"))
    return Out(
        nodes=nodes.count(),
        costs=cost_words(sums["cards"], sums["memory"]),
        recommended=recommended,
        waiting=cases.filter(state=CaseState.OUT).count(),
    )


def _cannot(found: StrictFilterSet) -> list[str]:
    """Names of clusters, of those that are asked for, where gpudash may not mark nodes."""
    asked = found.form.cleaned_data.get("cluster") if found.is_valid() else None
    rows = Cluster.objects.filter(quarantine_kubeconfig="")
    return list((rows.filter(pk__in=asked) if asked else rows).order_by("name").values_list("name", flat=True)[:5])


def _kept(request: HttpRequest) -> QueryDict:
    """The filters of the address that cases have too."""
    query = QueryDict(mutable=True)
    for name in ("cluster", "pool"):
        if values := [value for value in request.GET.getlist(name) if value]:
            query.setlist(name, values)
    return query


class _Lines:
    """Shapes a page of cases for who asks."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    def __call__(self, rows: list[Case]) -> list[CaseLine]:
        return case_lines(self._request, rows)


def cases_spec(request: HttpRequest) -> ListSpec:
    return ListSpec(
        resource=CASES,
        fields=(
            Field("q", gettext_lazy("Search"), placeholder=gettext_lazy("node, card, reason"), wide=True),
            Field("cluster", gettext_lazy("Cluster"), choices.clusters),
            Field("pool", gettext_lazy("Pool"), pool_choices),
            Field("state", gettext_lazy("State"), CaseState.choices),
            Field("open", gettext_lazy("Open"), (("true", gettext_lazy("Open")), ("false", gettext_lazy("Not open")))),
            Field("suite", gettext_lazy("Suite"), suite_choices),
        ),
        shape=_Lines(request),
        page="out_of_service/cases.html",
        caption=gettext_lazy("Cases"),
        cells="out_of_service/case_cells",
        key=lambda line: f"case-{line.row.pk}",
        gone=lambda line: not line.row.open,
    )


@require_safe
@answered
def cases(request: HttpRequest) -> HttpResponseBase:
    return list_page(request, cases_spec(request), lambda _found: {})


@require_POST
@answered
def quarantine_switch(request: HttpRequest) -> HttpResponseBase:
    if not may_quarantine(request):
        refused(request)
    text = request.POST.get("cap_percent", "")
    percent = int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 0
    try:
        row: QuarantineSwitch = manage.change_switch(
            request.user, automatic="automatic" in request.POST, cap_percent=percent
        )
    except Refused as error:
        back = (_("Out of service"), reverse("out-of-service"))
        raise BadParameter(
            {name: [str(text) for text in texts] for name, texts in error.problems.items()}, back
        ) from None
    said = _("Policies may take cards out of service.") if row.automatic else _("People decide about each card.")
    messages.info(request, said)
    return HttpResponseRedirect(reverse("out-of-service"))


@require_POST
@answered
def quarantine_reset(request: HttpRequest) -> HttpResponseBase:
    if not may_quarantine(request):
        refused(request)
    manage.reset(request.user)
    return HttpResponseRedirect(reverse("out-of-service"))
