"""The words that columns hold besides free text, each with its label: pages, REST, filters and docs read them here.

Values are those of the stacks, which know no Django.
"""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from inventory.stacks.engine import base


class Severity(models.TextChoices):
    """How bad a finding is, worst first."""

    ERROR = base.ERROR, _("error")
    WARNING = base.WARNING, _("warning")
    INFO = base.INFO, _("note")


class Health(models.TextChoices):
    """How well a card is, by all that say something of it. UNKNOWN: nobody says anything."""

    HEALTHY = base.HEALTHY, _("healthy")
    DEGRADED = base.DEGRADED, _("degraded")
    UNHEALTHY = base.UNHEALTHY, _("unhealthy")
    UNKNOWN = base.HEALTH_UNKNOWN, _("not reported")


class Mode(models.TextChoices):
    """How a card is given out."""

    WHOLE = base.WHOLE, _("as a whole")
    MEMORY = base.MEMORY, _("by memory")
    SHARES = base.SHARES, _("in turns")
    PARTS = base.PARTS, _("in parts")


class Evidence(models.TextChoices):
    """Where the card of an allocation is known from, best first."""

    CLAIM = base.CLAIM, _("resource claim")
    DEVICE_STATUS = base.DEVICE_STATUS, _("device status of the kubelet")
    ANNOTATION_V2 = base.ANNOTATION_V2, _("annotation v2 of the pod")
    ANNOTATION_V1 = base.ANNOTATION_V1, _("annotation v1 of the pod")
    ANNOTATION = base.ANNOTATION, _("annotation of the pod")
    ONLY_CARD = base.ONLY_CARD, _("the only card of the node")
    ALL_CARDS = base.ALL_CARDS, _("all cards of the node are held")
    EXPORTER = base.EXPORTER, _("exporter")
    COUNT_ONLY = base.COUNT_ONLY, _("count only")


class CardState(models.TextChoices):
    """How full a card is. UNKNOWN: held or not cannot be said. SHARED: held by n, memory not metered.

    APART: nobody holds it, and nobody is given it: see `KeptOff`.
    """

    FREE = "free", _("free")
    APART = "apart", _("free, kept apart")
    PARTLY = "partly", _("partly allocated")
    FULL = "full", _("fully allocated")
    OVER = "over", _("over-committed")
    SHARED = "shared", _("shared, not metered")
    UNKNOWN = "unknown", _("not known")


#: States of a card that nobody holds.
UNHELD = frozenset((CardState.FREE.value, CardState.APART.value))


class KeptOff(models.TextChoices):
    """What keeps pods off a card that is there. STALE is never stored: the clock decides it (`inventory.kept_off`)."""

    STALE = "stale-cluster", _("in a cluster without word")
    NOT_READY = "not-ready", _("on nodes that are not ready")
    READINESS_UNKNOWN = "readiness-unknown", _("on nodes of unknown readiness")
    CORDONED = "cordoned", _("on cordoned nodes")
    UNHEALTHY = "unhealthy", _("unhealthy")
