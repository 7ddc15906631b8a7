"""Addresses of pages and of their states. Knows URLs, not tables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import quote

from django.http import HttpRequest, QueryDict
from django.urls import NoReverseMatch, get_script_prefix, reverse


def node_url(cluster: str, name: str) -> str:
    """Page of a node; "" for a name that no address can carry (it is then shown without a link)."""
    try:
        return reverse("node", args=[cluster, name])
    except NoReverseMatch:
        return ""


def card_url(card_id: int) -> str:
    return f"{_before_card(get_script_prefix())}{card_id:d}"


@lru_cache(maxsize=8)
def _before_card(prefix: str) -> str:
    """What stands before the id in the address of a card: pages link to hundreds. prefix: under which all of this is served."""
    return reverse("card", args=[0]).removesuffix("0")


def pod_url(cluster: str, namespace: str, name: str) -> str:
    """Page of a pod; "" for one whose name is not seen, or that no address can carry."""
    try:
        return reverse("pod", args=[cluster, namespace, name]) if namespace and name else ""
    except NoReverseMatch:
        return ""


def with_query(path: str, **values: object) -> str:
    """A path with a query of these values, those that are not "" or None."""
    query = "&".join(f"{name}={quote(str(value))}" for name, value in values.items() if value not in ("", None))
    return f"{path}?{query}" if query else path


def with_filters(path: str, query: QueryDict, more: Mapping[str, str]) -> str:
    """A path with these parameters and some more."""
    whole = query.copy()
    for name, value in more.items():
        whole[name] = value
    text = whole.urlencode()
    return f"{path}?{text}" if text else path


def state_url(request: HttpRequest, **changes: str | None) -> str:
    """This page with some parameters changed, and without a place in the list. None takes a parameter away."""
    query: QueryDict = request.GET.copy()
    query.pop("cursor", None)
    for name, value in changes.items():
        if value is None:
            query.pop(name, None)
        else:
            query[name] = value
    text = query.urlencode()
    return f"{request.path}?{text}" if text else request.path
