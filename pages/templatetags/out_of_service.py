"""What pages of nodes and cards say of those that are out of service. Their templates load this; their code knows nothing of it."""

from __future__ import annotations

from typing import Any

from django import template

from inventory.models import Card, Node
from inventory.queries.rows import NodeRow
from pages.sections.case_lines import OutLine, out_line

register = template.Library()


@register.simple_tag(takes_context=True)
def out_of_node(context: Any, row: NodeRow) -> OutLine | None:
    """None for a node in service. Three queries at most."""
    return out_line(context["request"], row.totals.cluster_id, row.totals.node_name, row.own.found_marks)


@register.simple_tag(takes_context=True)
def out_of_card(context: Any, card: Card) -> OutLine | None:
    """The same of a card: by cases of it, and by what keeps pods off its node. Four queries at most."""
    node = Node.objects.filter(cluster_id=card.cluster_id, name=card.node_name).only("marks").first()
    marks = node.found_marks if node is not None else ()
    return out_line(context["request"], card.cluster_id, card.node_name, marks, card.key)
