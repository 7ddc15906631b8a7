"""Before and after of a change: the cards that were counted, those that lost something, and by how much measurements moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from pages.frame import amounts, choices
from pages.frame.fields import Field, entries_of
from pages.frame.freshness import notices
from pages.frame.labels import pool_words
from pages.frame.links import card_url, node_url, state_url, with_filters, with_query
from pages.frame.refusals import BadParameter, answered
from pages.rows.cards import card_names
from pages.rows.runs import card_short
from pages.sections import moved
from pages.sections.measured import figure
from pages.words import policies as words
from pages.words import runs as run_words
from pages.words.names import plain_html
from pages.words.runs import Shown
from resources.csv_export import cluster_names
from runtime.clock import database_now
from validations.models import Policy
from validations.planning import Refused
from validations.policies import compare, losses, reading
from validations.policies.compare import DAY, DRIVER, IMAGE, KERNEL, MIG, OPERATOR, Compared, Group
from validations.policies.losses import OUTCOMES, Detail, Lost
from validations.policies.measured import CHANCE, LEAST_PERCENT
from validations.policies.reading import STATES, Counts
from validations.spread import LEAST

#: Groups, cards and measurements that are shown at once.
MOST_GROUPS, MOST_CARDS, MOST_MEASUREMENTS = 100, 50, 20
_TITLES = {
    DRIVER: gettext_lazy("Drivers"),
    IMAGE: gettext_lazy("Images"),
    KERNEL: gettext_lazy("Kernels"),
    OPERATOR: gettext_lazy("GPU Operators"),
    MIG: gettext_lazy("MIG layouts"),
    DAY: gettext_lazy("Days"),
}
#: What is typed where nothing is offered.
_HINTS = {
    DRIVER: "",
    IMAGE: "registry.example/image:tag",
    KERNEL: "6.8.0-52-generic",
    OPERATOR: "25.3.0",
    MIG: "all-1g.10gb",
    DAY: "2026-11-22",
}


@dataclass(frozen=True)
class Step:
    """A figure under A and under B, "" where there is none. level: "warning" where B is the worse one."""

    a: str
    b: str
    level: str = ""


@dataclass(frozen=True)
class GroupLine:
    """cluster: "" where all groups are of one. change: of the share of valid cards, in points; None: unknown.

    lost: (how, of how many cards).
    """

    cluster: str
    pool: str
    model: str
    cards: Step
    valid: Step
    change: str | None
    level: str
    hours: tuple[datetime | None, datetime | None]
    states: list[Step]
    lost: list[tuple[Shown, str]]


@dataclass(frozen=True)
class LossLine:
    """A card that lost. number: of the measurement that fell most: (name, before, after, unit, by how much); None: unknown."""

    row: Detail
    name: str
    url: str
    node_url: str
    cluster: str
    suite: str
    shown: Shown
    number: tuple[str, str, str, str, str] | None
    before_url: str
    after_url: str
    compare_url: str


@require_safe
@answered
def policies_compare(request: HttpRequest) -> HttpResponseBase:
    """?by=driver&a=&b=, and what narrows it (`compare.WAYS`). Without a and b: the two newest drivers, or this week."""
    given = {name: values for name, values in request.GET.lists() if any(values)}
    back = _("Policies"), reverse("policies")
    if unknown := given.keys() - {*compare.NAMES, "loss", "after"}:
        names = ", ".join(sorted({*compare.NAMES, "loss"}))
        text = _("Unknown filter. Valid filters: %(names)s.") % {"names": names}
        raise BadParameter({name[:64]: [text] for name in sorted(unknown)}, back)
    loss = request.GET.get("loss", "")
    if loss and loss not in OUTCOMES:
        raise BadParameter({"loss": [_("Must be one of: %(words)s.") % {"words": ", ".join(OUTCOMES)}]}, back)
    by = next((way for way in compare.WAYS if way == request.GET.get("by")), DRIVER)
    drivers = reading.drivers_of(database_now() - compare.SPAN) if by == DRIVER else []
    asked = given if given.keys() & {"a", "b"} else given | _usual(by, drivers)
    found = None
    if {"a", "b"} & asked.keys() or given.get("by", [by])[-1] != by:
        try:
            found = compare.compare(compare.read({name: asked[name] for name in asked if name in compare.NAMES}))
        except Refused as error:
            raise BadParameter(error.problems, back) from None
    context = {
        "by": by,
        "tabs": [(url, title, way == by) for way, title, url in _tabs(request)],
        "entries": entries_of(_with(request, asked), _fields(by, drivers), {}),
        "kept": [("by", by), *(("policy", one) for one in given.get("policy", ()))],
        "notices": notices(request),
        "any_policy": Policy.objects.exists(),
        "counted": by in compare.COUNTED,
    }
    return render(request, "policies/compare.html", context | (_shown(request, found, loss) if found else {}))


def _tabs(request: HttpRequest) -> list[tuple[str, str, str]]:
    """Way, title, address: narrowed as this page is."""
    return [
        (way, str(title), state_url(request, by=way, a=None, b=None, loss=None, after=None))
        for way, title in _TITLES.items()
    ]


def _usual(by: str, drivers: Sequence[str]) -> dict[str, list[str]]:
    """What is compared where the address names nothing."""
    if by == DAY:
        today = database_now().astimezone(UTC).date()
        return {"by": [DAY], "a": [(today - timedelta(days=7)).isoformat()], "b": [today.isoformat()]}
    return {"a": [drivers[1]], "b": [drivers[0]]} if len(drivers) > 1 else {}


def _with(request: HttpRequest, asked: dict[str, list[str]]) -> HttpRequest:
    """The request as if it had asked for this, for the fields of the form."""
    query = request.GET.copy()
    for name in ("a", "b"):
        if name in asked:
            query.setlist(name, asked[name])
    request.GET = query  # type: ignore[assignment] # one that is not to be changed again
    return request


def _fields(by: str, drivers: Sequence[str]) -> Sequence[Field]:
    pools, models = reading.groups_of(database_now() - compare.SPAN)
    offered, hint = [(name, name) for name in drivers], _HINTS[by]
    return (
        Field("a", gettext_lazy("Before"), offered, placeholder=hint, rest="–"),
        Field("b", gettext_lazy("After"), offered, placeholder=hint, rest="–"),
        Field("cluster", gettext_lazy("Cluster"), choices.clusters),
        Field("pool", gettext_lazy("Pool"), lambda: [(name, pool_words(name)) for name in pools]),
        Field("model", gettext_lazy("Model"), lambda: [(name, name) for name in models]),
    )


def _shown(request: HttpRequest, found: Compared, loss: str) -> dict[str, Any]:
    after = request.GET.get("after", "")
    rows, following = losses.page(found.losses, loss, after, MOST_CARDS)
    if rows is None:
        raise BadParameter(
            {"after": [_("Invalid list position. Start from the first page.")]},
            (_("Before and after"), state_url(request, after=None)),
        )
    names = cluster_names()
    several = len({one.cluster_id for one in found.groups}) > 1
    lost, measured = losses.details(rows), found.measurements[:MOST_MEASUREMENTS]
    called = card_names([*(one.card_id for one in lost), *moved.named(measured)])
    return {
        "found": found,
        "sides": [(side.name, _valid(side.counts)) for side in (found.before, found.after)],
        "change": _points(found.before.counts, found.after.counts)[0],
        "groups": [group_line(one, names[one.cluster_id] if several else "") for one in found.groups[:MOST_GROUPS]],
        "more_groups": max(0, len(found.groups) - MOST_GROUPS),
        "moved": moved.lines(measured, names, called),
        "more_moved": max(0, len(found.measurements) - MOST_MEASUREMENTS),
        "percent": f"{LEAST_PERCENT:g}%",
        "chance": f"{CHANCE:.0%}",
        "least": LEAST,
        "csv_url": _csv_url(request, found.by),
        "lost": [
            (shown, amounts.count(number), state_url(request, loss=outcome, after=None), outcome == loss)
            for outcome, shown, number in _lost(found.lost)
            if number or outcome == loss
        ],
        "all_url": state_url(request, loss=None, after=None) if loss else "",
        "cards": [_loss_line(one, names[one.cluster_id], called) for one in lost],
        "count": sum(number for outcome, _shown, number in _lost(found.lost) if not loss or outcome == loss),
        "first_url": state_url(request, after=None) if after else "",
        "next_url": state_url(request, after=str(following)) if following else "",
    }


def _csv_url(request: HttpRequest, by: str) -> str:
    query = request.GET.copy()
    for name in ("loss", "after"):
        query.pop(name, None)
    return with_filters(reverse("api-policies-compare"), query, {"by": by, "format": "csv"})


def _lost(lost: Lost) -> list[tuple[str, Shown, int]]:
    """Outcome, in words, cards."""
    return [(name, words.shown_loss(name), getattr(lost, name.replace("-", "_"))) for name in OUTCOMES]


def _valid(counts: Counts | None) -> str | None:
    """ "82% of 48 valid"; None: unknown."""
    if counts is None or not counts.cards:
        return None
    told = {"share": amounts.percent(counts.valid, counts.cards), "cards": amounts.count(counts.cards)}
    return _("%(share)s%% of %(cards)s valid") % told


def _points(before: Counts | None, after: Counts | None) -> tuple[str | None, str]:
    """(change of the share of valid cards, its level); None: unknown."""
    shares = [None if one is None else amounts.percent(one.valid, one.cards) for one in (before, after)]
    if shares[0] is None or shares[1] is None:
        return None, ""
    # Of the shares as they are printed, so that the three agree.
    points = shares[1] - shares[0]
    text = _("%(n)s points") % {"n": f"{points:+d}".replace("-", "−")} if points else "0"
    return text, "warning" if points < 0 else ""


def group_line(group: Group, cluster: str) -> GroupLine:
    points, level = _points(group.before, group.after)
    return GroupLine(
        cluster=cluster,
        pool=pool_words(group.pool),
        model=group.model,
        cards=Step(*(_number(None if one is None else one.cards) for one in (group.before, group.after))),
        valid=Step(*(_share(one) for one in (group.before, group.after))),
        change=points,
        level=level,
        hours=(group.before_at, group.after_at),
        states=[_state(group, name) for name in _STATES],
        lost=[(shown, amounts.count(number)) for _name, shown, number in _lost(group.lost) if number],
    )


#: Those of a group that stand in its row besides the valid ones.
_STATES = [name for name in STATES if name in ("failed", "due", "excluded")]


def _state(group: Group, name: str) -> Step:
    a, b = (None if one is None else int(getattr(one, name)) for one in (group.before, group.after))
    return Step(
        _number(a), _number(b), "warning" if name == "failed" and a is not None and b is not None and b > a else ""
    )


def _number(number: int | None) -> str:
    return "" if number is None else amounts.count(number)


def _share(counts: Counts | None) -> str:
    return "" if counts is None or not counts.cards else f"{amounts.percent(counts.valid, counts.cards)}%"


def _loss_line(one: Detail, cluster: str, called: Mapping[int, str]) -> LossLine:
    before, after = (reverse("run", args=[run]) if run else "" for run in (one.run_before, one.run_after))
    return LossLine(
        row=one,
        name=called.get(one.card_id) or card_short(one.card),
        url=card_url(one.card_id),
        node_url=node_url(cluster, one.node),
        cluster=cluster,
        suite=run_words.suite_title(one.suite),
        shown=words.shown_loss(one.lost),
        number=_measured(one),
        before_url=before,
        after_url=after,
        compare_url=with_query(reverse("run-compare"), a=one.run_before, b=one.run_after) if before and after else "",
    )


def _measured(one: Detail) -> tuple[str, str, str, str, str] | None:
    if one.measurement is None or one.value_before is None or one.value_after is None:
        return None
    percent = f"{(one.value_after / one.value_before - 1) * 100:+.0f}%".replace("-", "−")
    return plain_html(one.measurement), figure(one.value_before), figure(one.value_after), one.unit or "", percent
