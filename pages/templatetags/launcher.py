"""What the page of a cluster says of its launcher. The inventory's templates load this; its code knows nothing of it."""

from __future__ import annotations

from django import template

from inventory.models import Cluster
from validations.copies import told

register = template.Library()


@register.simple_tag
def launcher_says(cluster: Cluster) -> list[str]:
    """That this database is a copy, and how many Jobs cannot be deleted; [] when all is well. Four queries at most."""
    return told(cluster)
