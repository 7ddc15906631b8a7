"""Saved views: which lists can be saved, what of an address still makes sense, and what it would tell.

The names of the lists are those of their addresses on pages.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Annotated, Any, ClassVar

from django.db.models import QuerySet, prefetch_related_objects
from django.http import QueryDict
from django.utils.translation import gettext as _

from accounts.roles import Role
from accounts.saved_views import SavedView
from inventory.models import Cluster
from resources.allocation import ALLOCATIONS
from resources.audit import AUDIT
from resources.campaign import CAMPAIGNS, MATRIX
from resources.card import CARDS
from resources.component import COMPONENTS
from resources.declared import Resource, Shape, fact, orders_of
from resources.filter_fields import BytesFilter, ChoiceFilter, OneOfFilter, SearchFilter, WordsFilter, YesNoFilter
from resources.filter_sets import StrictFilterSet
from resources.finding import FINDINGS
from resources.idle import IDLE
from resources.imported import RESULTS
from resources.lookups import contains
from resources.moments import MomentFilter
from resources.namespace import NAMESPACES
from resources.node import NODES
from resources.node_mark import NODE_MARKS
from resources.out_of_service import CASES
from resources.pod import PODS
from resources.policy import POLICIES, POLICY_CARDS
from resources.run import RUNS
from resources.user import USERS
from runtime.scope import Scope

#: Name of the page's address → what it lists.
LISTS: Mapping[str, Resource[Any]] = {
    "nodes": NODES,
    "cards": CARDS,
    "allocations": ALLOCATIONS,
    "pending": PODS,
    "idle": IDLE,
    "namespaces": NAMESPACES,
    "findings": FINDINGS,
    "component-list": COMPONENTS,
    "validations": RUNS,
    "campaigns": CAMPAIGNS,
    "campaign-targets": MATRIX,
    "results": RESULTS,
    "policies": POLICIES,
    "policy-cards": POLICY_CARDS,
    "out-of-service": NODE_MARKS,
    "cases": CASES,
    "users": USERS,
    "audit": AUDIT,
}
#: Lists whose pages want more than the role viewer: of their views nobody else is told, since filters say what is there.
ROLES: Mapping[str, Role] = {"users": Role.ADMIN, "audit": Role.ADMIN}
#: Columns that a page has besides those of its resource.
_MORE_COLUMNS = {"cards": ("validated",), "namespaces": ("month",), "campaign-targets": ("why", "took")}
#: Of a place, not of the list: they are not saved.
_NOT_SAVED = ("cursor", "format", "page_size")
#: Filters by words that are nobody's names.
_NOBODYS = frozenset({"stack", "model", "resource", "suite", "code", "profile", "os", "component", "version", "why"})
_CLOSED = (BytesFilter, ChoiceFilter, OneOfFilter, YesNoFilter, MomentFilter)


def closed_to(role: Role | None) -> list[str]:
    """The lists of LISTS whose pages somebody with this role may not open."""
    return [name for name, wanted in ROLES.items() if role is None or not role.covers(wanted)]


def open_to(role: Role | None) -> list[str]:
    closed = closed_to(role)
    return [name for name in LISTS if name not in closed]


def understood(page: str, query: str) -> tuple[str, dict[str, str]]:
    """(what of the parameters makes sense now, parameter → why it does not) of a list of LISTS."""
    resource = LISTS[page]
    left, wrong = QueryDict(query, mutable=True), {}
    for name in _NOT_SAVED:
        left.pop(name, None)
    if bad := _unknown_columns(page, left):
        wrong["columns"] = bad
        left.pop("columns")
    if bad := _unknown_group(page, left):
        wrong["group"] = bad
        left.pop("group")
    # What is wrong together is named at one of them: what is left is asked again.
    while errors := _errors(resource, left):
        for name, text in errors.items():
            found = [given for given in left if given[:64] == name] or list(left)
            wrong[name] = text
            for given in found:
                left.pop(given, None)
    return left.urlencode(), wrong


def _errors(resource: Resource[Any], query: QueryDict) -> dict[str, str]:
    asked = query.copy()
    for name in ("columns", "group"):
        asked.pop(name, None)
    found = resource.filterset(asked, queryset=resource.rows().none())
    errors = {} if found.is_valid() else {name: " ".join(map(str, texts)) for name, texts in found.errors.items()}
    return errors if query else {}


def _unknown_columns(page: str, query: QueryDict) -> str:
    there = {*LISTS[page].columns, *_MORE_COLUMNS.get(page, ())}
    given = [name for text in query.getlist("columns") for name in text.split(",") if name]
    unknown = [name[:64] for name in given if name not in there]
    return _("No column %(name)s.") % {"name": ", ".join(unknown)} if unknown else ""


def _unknown_group(page: str, query: QueryDict) -> str:
    unknown = [name[:64] for name in query.getlist("group") if name not in LISTS[page].groups]
    return _("No group %(name)s.") % {"name": ", ".join(unknown)} if unknown else ""


def telling(page: str, query: str, scope: Scope) -> list[str]:
    """The filters whose values may hold names that somebody with this scope does not see; none for who sees everything."""
    if scope.everything:
        return []
    asked, filters = QueryDict(query), LISTS[page].filterset.base_filters
    clusters, namespaces = asked.getlist("cluster"), asked.getlist("namespace")
    told = {"cluster": _tells_clusters(clusters, scope), "namespace": _tells_namespaces(namespaces, clusters, scope)}
    found = []
    for name in asked:
        one = filters.get(name)
        closed = one is None or isinstance(one, _CLOSED) or name in _NOBODYS
        if any(asked.getlist(name)) and told.get(name, not closed):
            found.append(name)
    return found


def _tells_clusters(names: Collection[str], scope: Scope) -> bool:
    seen = set(Cluster.objects.filter(scope.in_clusters("pk")).values_list("name", flat=True))
    return not seen.issuperset(names)


def _tells_namespaces(names: Collection[str], clusters: Collection[str], scope: Scope) -> bool:
    """A namespace is seen where the scope names it, or where the view is of clusters that are seen whole."""
    ids = Cluster.objects.filter(name__in=clusters).values_list("pk", flat=True)
    whole = bool(clusters) and all(scope.sees_whole(pk) for pk in ids)
    return not whole and any(name not in {place for _cluster, place in scope.namespaces} for name in names)


class View(Shape):
    """A saved view: a named list with its filters, order and columns."""

    id: Annotated[int, fact("ID of the view.")]
    page: Annotated[str, fact(f"The list: {', '.join(LISTS)}.", order=True)]
    name: Annotated[str, fact(order=True)]
    query: Annotated[str, fact("Parameters as in the URL of the page: filters, order, time and columns.")]
    user: Annotated[str, fact("Owner of the view.", of="user.username")]
    shared: Annotated[bool, fact("true: visible to users who see all of `scope`.")]
    scope: Annotated[
        list[str],
        fact(
            "Scope of a shared view: cluster, cluster/namespace, */namespace. Empty: users who see all clusters.",
            of="places_list",
        ),
    ]
    created_at: Annotated[datetime, fact(order=True)]
    changed_at: Annotated[datetime, fact(order=True)]


class ViewFilter(StrictFilterSet):
    page = ChoiceFilter(tuple(LISTS), "page", label="list")
    user = WordsFilter("user__username", label="owner name")
    shared = YesNoFilter("shared", method="on_shared", label="shared views")
    q = SearchFilter(method=contains("name", "query"), label="free search: name, parameters")

    orders: ClassVar[dict[str, str]] = orders_of(View)
    default_order = ("page", "name")

    class Meta(StrictFilterSet.Meta):
        model = SavedView
        fields: ClassVar[list[str]] = []

    def on_shared(self, rows: QuerySet[SavedView], name: str, value: str) -> QuerySet[SavedView]:
        return rows if value == "any" else rows.filter(shared=value == "true")


def _with_users(rows: list[Any]) -> list[Any]:
    """With whose they are: one query."""
    prefetch_related_objects(rows, "user")
    return rows


#: Which of them are told to somebody, who lists them says (`accounts.saved_views`).
VIEWS = Resource(
    "views",
    View,
    ViewFilter,
    SavedView.objects.none,
    csv=tuple(View.__struct_fields__),
    join=_with_users,
    related=("user",),
)
