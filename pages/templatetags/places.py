"""Where something is: names of nodes, cards and pods as links, and of their cluster wherever there is more than one."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from pages.frame.freshness import freshness_of
from pages.frame.worded import middle, named, short

register = template.Library()


def _several(context: Any) -> bool:
    """Whether the reader sees several clusters. Two queries the first time in a request, none after."""
    return len(freshness_of(context["request"])) > 1


@register.simple_tag(takes_context=True)
def of_cluster(context: Any, cluster: str, between: str = " · ") -> SafeString:
    """The cluster before the name of what is in it, where there are several; else nothing. between: "" where it stands alone."""
    return format_html("{}{}", named(cluster), between) if _several(context) else SafeString("")


@register.simple_tag(takes_context=True)
def in_cluster(context: Any, cluster: str) -> str:
    """The cluster behind the name of what is in it, for the names of links, where there are several; else nothing."""
    return f", {cluster}" if _several(context) else ""


@register.simple_tag(takes_context=True)
def and_cluster(context: Any, cluster: str) -> str:
    """More of an address's query: the cluster, where there are several; else nothing."""
    return f"&cluster={quote(cluster)}" if _several(context) else ""


@register.simple_tag(takes_context=True)
def place_link(context: Any, url: str, name: str, cluster: str) -> SafeString:
    """A node, card or pod, linked where an address can carry it; with its cluster where there are several."""
    if not url:
        return format_html("{} {}", short(name), of_cluster(context, cluster, ""))
    shown = middle(name)
    whole = format_html(' title="{}"', name) if shown != name else ""
    if not _several(context):
        return format_html('<a href="{}" translate="no"{}>{}</a>', url, whole, shown)
    return format_html(
        '<a href="{}" translate="no"{} aria-label="{}, {}">{}</a> <small>{}</small>',
        *(url, whole, shown, cluster, shown, named(cluster)),
    )
