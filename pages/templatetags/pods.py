"""Links to the pages of pods, where lists name holders without a line of their own."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from inventory.models import Allocation
from pages.frame.links import pod_url

register = template.Library()


@register.simple_tag
def holder(cluster: str, held: Allocation) -> SafeString:
    """Who holds, linked where the name is seen. cluster: its name, since a hold may come without its cluster's row."""
    url = "" if held.foreign else pod_url(cluster, held.namespace, held.pod)
    return format_html('<a href="{}">{}</a>', url, held.who) if url else format_html("{}", held.who)
