"""What the selects of the filter forms offer: few, and only what there is."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext_lazy as _

from inventory.models import Cluster, NodeAccount
from inventory.shared import shared
from inventory.stacks import STACKS
from inventory.stacks.engine import base

#: A select of more models than this serves nobody.
MOST_MODELS = 200
SEVERITIES = ((base.ERROR, _("error")), (base.WARNING, _("warning")), (base.INFO, _("note")))
HEALTHS = ((base.HEALTHY, _("healthy")), (base.UNHEALTHY, _("unhealthy")), (base.HEALTH_UNKNOWN, _("not known")))
STATES = (
    ("free", _("free")),
    ("partly", _("partly allocated")),
    ("full", _("fully allocated")),
    ("over", _("over-committed")),
    ("shared", _("shared, not metered")),
    ("unknown", _("not known")),
)
EVIDENCE = {
    base.CLAIM: _("resource claim"),
    base.DEVICE_STATUS: _("device status of the kubelet"),
    base.ANNOTATION_V2: _("annotation v2 of the pod"),
    base.ANNOTATION_V1: _("annotation v1 of the pod"),
    base.ANNOTATION: _("annotation of the pod"),
    base.EXPORTER: _("exporter"),
    base.COUNT_ONLY: _("count only"),
}


def clusters() -> Sequence[tuple[str, str]]:
    return [(name, name) for name in Cluster.objects.values_list("name", flat=True)[:MOST_MODELS]]


def stacks() -> Sequence[tuple[str, str]]:
    return [(stack.name, stack.name) for stack in STACKS]


def models() -> Sequence[tuple[str, str]]:
    """Card models that nodes have now: one query over the accounts, not over the cards."""
    return shared("models", None, _models)


def _models() -> Sequence[tuple[str, str]]:
    found = NodeAccount.objects.exclude(model="").order_by("model").values_list("model", flat=True).distinct()
    return [(name, name) for name in found[:MOST_MODELS]]
