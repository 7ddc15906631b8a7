"""What to do about a run that went wrong: the suspect with its evidence, and the tests that decide, as links to the launch form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pages.frame.links import with_query
from pages.rows.runs import card_short
from pages.words.runs import suite_title
from validations.models import Run
from validations.suspected import Next, suspected

_WORDS: dict[str, Promise] = {
    "card": gettext_lazy("card"),
    "driver or runtime": gettext_lazy("driver or runtime"),
    "image": gettext_lazy("image"),
    "configuration": gettext_lazy("configuration"),
    "scheduling": gettext_lazy("scheduling"),
    "unknown": gettext_lazy("unknown"),
}


@dataclass(frozen=True)
class Link:
    title: str
    url: str


@dataclass(frozen=True)
class Remedy:
    """suspect: in words. because, try_: sentences, to be worded."""

    suspect: str
    because: tuple[str, ...]
    try_: str
    tests: list[Link]


def remedy(run: Run) -> Remedy | None:
    """None for a run that is under way, went well or was cancelled."""
    told = suspected(run)
    if told is None:
        return None
    found = told.found
    # To rerun is the page's main action already.
    tests = [Link(_title(one), _url(one)) for one in told.next if one.test != "rerun"]
    return Remedy(suspect=str(_WORDS[found.what]), because=found.because, try_=found.try_, tests=tests)


def _title(one: Next) -> str:
    if one.test == "diagnostic":
        return _("Run %(suite)s on this card") % {"suite": suite_title(one.suite)}
    if one.test == "other-card":
        return _("Run on %(card)s") % {"card": card_short(one.card)}
    if one.nodes:
        return _("Run on nodes %(nodes)s") % {"nodes": ", ".join(one.nodes)}
    return _("Run on node %(node)s") % {"node": one.node}


def _url(one: Next) -> str:
    return form_url(one.suite, one.cluster, one.node, one.card, one.options, "\n".join(one.nodes))


def form_url(suite: str, cluster: str, node: str, card: str, options: Mapping[str, Any], nodes: str = "") -> str:
    """The launch form, filled in. nodes: of a group, one per line."""
    typed = {f"option.{name}": value for name, value in options.items()}
    return with_query(
        reverse("validation-new"), suite=suite, cluster=cluster, node=node, card=card, nodes=nodes, **typed
    )
