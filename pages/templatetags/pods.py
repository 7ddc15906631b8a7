"""Links to the pages of pods, where lists name allocations without a line of their own."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from inventory.models import Allocation
from pages.frame.links import pod_url
from pages.templatetags.places import place_link

register = template.Library()


@register.simple_tag(takes_context=True)
def holder(context: Any, cluster: str, held: Allocation) -> SafeString:
    """Who holds, linked where the name is seen. cluster: its name, since a hold may come without its cluster's row."""
    url = "" if held.foreign else pod_url(cluster, held.namespace, held.pod)
    return place_link(context, url, held.who, cluster) if url else format_html("{}", held.who)
