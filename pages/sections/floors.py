"""What measurements are judged against: floors of card models, and the baselines that pools have learnt."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from pages.sections.measured import figure
from pages.words import runs as words
from pages.words.names import plain_html, short_model
from validations.floors import Floor
from validations.pool_baseline import pool_baselines
from validations.suites import find


@dataclass(frozen=True)
class FloorLine:
    """model: short. least: "460 GB/s". applies: where it does, in words; "" everywhere. own: from the administrator's file."""

    suite: str
    name: SafeString
    model: str
    least: str
    statistic: str
    applies: str
    floor: Floor


@dataclass(frozen=True)
class BaselineLine:
    """usual: "467 ± 2 GB/s". run_url: of the run that was judged against it last."""

    suite: str
    name: SafeString
    model: str
    cluster: str
    pool: str
    usual: str
    targets: int
    run_url: str


def floor_lines() -> list[FloorLine]:
    """Those of suites that this version has, the administrator's first."""
    return [
        FloorLine(
            suite=words.suite_title(one.suite),
            name=plain_html(one.measurement),
            model=short_model(one.model),
            least=f"{figure(one.least)} {one.unit}",
            statistic=_("peak") if one.statistic == "peak" else _("average"),
            applies=_applies(one),
            floor=one,
        )
        for one in settings.FLOORS
        if find(one.suite) is not None
    ]


def _applies(one: Floor) -> str:
    parts = [
        ngettext("%(n)s card", "%(n)s cards", one.cards) % {"n": one.cards} if one.cards else "",
        f"≥ {_size(one.message)}" if one.message else "",
        one.machine,
    ]
    return " · ".join(filter(None, parts))


def _size(size: int) -> str:
    return f"{size >> 30} GiB" if size >= 1 << 30 else f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def baseline_lines() -> list[BaselineLine]:
    """One query."""
    return [
        BaselineLine(
            suite=words.suite_title(one.suite),
            name=plain_html(one.measurement),
            model=one.model,
            cluster=one.cluster.name,
            pool=one.pool,
            usual=f"{figure(one.median)} ± {figure(one.spread)} {one.unit}",
            targets=one.targets,
            run_url=reverse("run", args=[one.run_id]),
        )
        for one in pool_baselines()
    ]
