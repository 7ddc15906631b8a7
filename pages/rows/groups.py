"""The heads of grouped lists: which node, model or namespace it is, and its sums. Shared by cards, nodes and allocations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from inventory.queries.grouped import Sums
from pages.frame import amounts
from pages.frame.freshness import freshness_of
from pages.frame.grouped import GroupHead, Heads, Key
from pages.frame.links import node_url, state_url

SumsOf = Callable[[Any, Sequence[str], Sequence[Key]], Mapping[Key, Sums]]
Facts = Callable[[Sums], Iterable[str]]


def by_model(sums_of: SumsOf, facts: Facts) -> Heads:
    def head(request: HttpRequest, key: Key, told: list[str]) -> GroupHead:
        (model,) = key
        if not model:
            return GroupHead("", facts=told, unknown=_("model unknown"))
        return GroupHead(model, state_url(request, model=model, group=None), told)

    return _heads(sums_of, facts, head)


def by_node(sums_of: SumsOf, facts: Facts) -> Heads:
    def head(request: HttpRequest, key: Key, told: list[str]) -> GroupHead:
        cluster, several = _cluster(request, key[0])
        return GroupHead(key[1], node_url(cluster, key[1]), told, cluster=cluster if several else "")

    return _heads(sums_of, facts, head)


def by_namespace(sums_of: SumsOf, facts: Facts) -> Heads:
    def head(request: HttpRequest, key: Key, told: list[str]) -> GroupHead:
        cluster, several = _cluster(request, key[0])
        url = state_url(request, namespace=key[1], cluster=cluster, group=None)
        return GroupHead(key[1], url, told, cluster=cluster if several else "", namespace=key[1])

    return _heads(sums_of, facts, head)


def _heads(sums_of: SumsOf, facts: Facts, head: Callable[[HttpRequest, Key, list[str]], GroupHead]) -> Heads:
    def made(request: HttpRequest, rows: Any, columns: Sequence[str], keys: Sequence[Key]) -> Mapping[Key, GroupHead]:
        found = sums_of(rows, columns, keys)
        return {key: head(request, key, list(facts(found[key])) if key in found else []) for key in keys}

    return made


def _cluster(request: HttpRequest, pk: int) -> tuple[str, bool]:
    """Its name, and whether there are several."""
    names = {one.cluster_id: one.cluster for one in freshness_of(request)}
    return names.get(pk, ""), len(names) > 1


def card_facts(sums: Sums) -> Iterable[str]:
    yield ngettext("%(n)s card", "%(n)s cards", sums.rows) % {"n": amounts.count(sums.rows)}
    if sums.cards is None:
        return
    if sums.cards_free:
        yield _("%(n)s free") % {"n": amounts.count(sums.cards_free)}
    yield from _memory(sums)


def node_facts(sums: Sums) -> Iterable[str]:
    yield ngettext("%(n)s node", "%(n)s nodes", sums.rows) % {"n": amounts.count(sums.rows)}
    if sums.cards is not None and sums.cards_free is not None:
        told = {"free": amounts.count(sums.cards_free), "all": amounts.count(sums.cards)}
        yield _("%(free)s of %(all)s cards free") % told
    yield from _memory(sums)


def allocation_facts(sums: Sums) -> Iterable[str]:
    number = ngettext("%(n)s allocation", "%(n)s allocations", sums.rows)
    yield number % {"n": amounts.count(sums.rows)}
    if sums.allocated is not None:
        yield amounts.gib(sums.allocated)
        if sums.unknown:
            yield _("%(n)s unknown or not metered") % {"n": amounts.count(sums.unknown)}
    else:
        yield _("memory unknown or not metered")


def _memory(sums: Sums) -> Iterable[str]:
    """Of rows whose allocation is known; how many there are besides."""
    if sums.allocated is None or sums.metered is None:
        yield _("memory unknown or not metered")
        return
    told = {"allocated": amounts.gib(sums.allocated), "total": amounts.gib(sums.metered)}
    yield _("%(allocated)s of %(total)s allocated") % told
    if sums.free:
        yield _("%(amount)s free") % {"amount": amounts.gib(sums.free)}
    if sums.unknown:
        yield _("%(n)s unknown or not metered") % {"n": amounts.count(sums.unknown)}
