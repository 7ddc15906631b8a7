"""The scope of a role or a token as a field: everything, or clusters to tick and namespaces to type or choose.

What it comes to is told in numbers beside it, while it is chosen (`scope_reach`) and where a page shows it. Names that a reader does
not see are neither offered nor counted: all is asked within the scope of whoever asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.places import ANYWHERE
from accounts.scopes import BadScope, places_in, scope_of
from inventory.models import Cluster, NodeTotals, Pod
from runtime.cached import shared
from runtime.scope import current, seeing

#: Names to choose from, those that have the typed text in them; and empty fields for further ones.
OFFERED, EMPTY = 200, 2
ALL, SOME = "all", "some"


class Typed(NamedTuple):
    """As it was sent. how: ALL, SOME, or "" where neither was."""

    how: str
    clusters: Sequence[str] = ()
    namespaces: Sequence[str] = ()


@dataclass(frozen=True)
class Reach:
    """What a scope comes to. nodes: as the list of nodes has them. unseen: its namespaces without a known pod, perhaps mistyped."""

    clusters: int
    nodes: int
    namespaces: int
    unseen: list[str]


class ScopeWidget(forms.Widget):
    """Radios, boxes and text fields of one name, `NAME`, `NAME_clusters` and `NAME_namespaces`."""

    use_fieldset = True

    def __init__(self, everything: str | Promise) -> None:
        super().__init__()
        self.everything = everything

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Typed:
        return typed_in(data, name)

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """value: as it was sent, or places as they are stored."""
        typed = value if isinstance(value, Typed) else _as_typed(value or ())
        known = list(Cluster.objects.values_list("name", flat=True))
        gone = [one for one in typed.clusters if one not in known]
        context = {
            "name": name,
            "how": typed.how,
            "everything": self.everything,
            "clusters": [(one, one in typed.clusters, one in known) for one in (*known, *gone)],
            "namespaces": [*typed.namespaces, *[""] * EMPTY],
        }
        return render_to_string("access/scope.html", context | _told(typed))


class ScopeField(forms.Field):
    """The cleaned value is a tuple of places (`accounts.places`), empty for everything."""

    def __init__(self, everything: str | Promise, **options: Any) -> None:
        """everything: what the empty scope is called."""
        super().__init__(widget=ScopeWidget(everything), label=gettext_lazy("Scope"), required=False, **options)

    def clean(self, value: Any) -> tuple[str, ...]:
        try:
            return _places(value)
        except BadScope as error:
            raise forms.ValidationError(str(error)) from None


def typed_in(data: Any, name: str) -> Typed:
    """data: a QueryDict."""
    how = data.get(name, "")
    # A list that was pasted is as many entries.
    namespaces = re.split(r"[\s,]+", "\n".join(data.getlist(f"{name}_namespaces")))
    return Typed(
        how if how in (ALL, SOME) else "", data.getlist(f"{name}_clusters"), [one for one in namespaces if one]
    )


def _as_typed(places: Iterable[str]) -> Typed:
    given = list(places)
    whole, parts = [one for one in given if "/" not in one], [one for one in given if "/" in one]
    return Typed(SOME if given else ALL, whole, parts)


def _places(typed: Typed) -> tuple[str, ...]:
    """Nothing chosen is never everything. Raises BadScope."""
    if typed.how == ALL:
        return ()
    if typed.how != SOME or not (typed.clusters or typed.namespaces):
        raise BadScope(_("Choose a cluster or a namespace."))
    if bare := next((one for one in typed.namespaces if "/" not in one), None):
        raise BadScope(
            _("Invalid namespace: %(text)s. Use cluster/namespace or */namespace.") % {"text": repr(bare[:100])}
        )
    return places_in("\n".join([*typed.clusters, *typed.namespaces]))


def reach_of(places: Sequence[str]) -> Reach:
    """Three queries."""
    with seeing(current().meet(scope_of(places))):
        clusters, nodes = Cluster.objects.count(), NodeTotals.objects.count()
        seen = _namespaces()
    asked = [one for one in places if "/" in one]
    known = {f"{cluster}/{name}" for cluster, name in seen} | {f"{ANYWHERE}/{name}" for _cluster, name in seen}
    return Reach(clusters, nodes, len(seen), [one for one in asked if one not in known])


def _namespaces() -> list[tuple[str, str]]:
    """(cluster, namespace) of all pods in the scope in force, in their order."""

    def read() -> list[tuple[str, str]]:
        names = dict(Cluster.objects.values_list("pk", "name"))
        found = Pod.objects.order_by().values_list("cluster_id", "namespace").distinct()
        return sorted((names[cluster], name) for cluster, name in found if cluster in names)

    return shared("namespaces of scopes", (), read)


def _told(typed: Typed) -> dict[str, Any]:
    """What stands beside the field: numbers, or what is wrong; and names to choose from."""
    known = [f"{cluster}/{name}" for cluster, name in _namespaces()]
    begun = [one for one in typed.namespaces if one not in known]
    offered = [one for one in known if not begun or any(text in one for text in begun)]
    try:
        return {"reach": reach_of(_places(typed)), "offered": offered[:OFFERED]}
    except BadScope as error:
        return {"wrong": str(error), "offered": offered[:OFFERED]}


@never_cache
@require_safe
def scope_reach(request: HttpRequest) -> HttpResponse:
    """What is chosen in a form that was not sent yet, in numbers: a part of its page."""
    return render(request, "access/scope_reach.html", _told(typed_in(request.GET, "scope")))
