"""The words that columns hold besides free text, each with its label: pages, REST, filters and docs read them here.

Values are those of the stacks, which know no Django.
"""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from stacks.engine import base
from stacks.engine.software import base as software


class Severity(models.TextChoices):
    """How bad a finding is, worst first."""

    ERROR = base.ERROR, _("error")
    WARNING = base.WARNING, _("warning")
    INFO = base.INFO, _("info")


class Health(models.TextChoices):
    """The health of a card, by all sources. UNKNOWN: no source reports."""

    HEALTHY = base.HEALTHY, _("healthy")
    DEGRADED = base.DEGRADED, _("degraded")
    UNHEALTHY = base.UNHEALTHY, _("unhealthy")
    UNKNOWN = base.HEALTH_UNKNOWN, _("unknown")


class Mode(models.TextChoices):
    """How a card is allocated."""

    WHOLE = base.WHOLE, _("whole card")
    MEMORY = base.MEMORY, _("by memory")
    SHARES = base.SHARES, _("shared")
    PARTS = base.PARTS, _("equal parts")


class Evidence(models.TextChoices):
    """What identifies the card of an allocation, best first."""

    CLAIM = base.CLAIM, _("ResourceClaim")
    DEVICE_STATUS = base.DEVICE_STATUS, _("kubelet device status")
    ANNOTATION_V2 = base.ANNOTATION_V2, _("pod annotation (v2)")
    ANNOTATION_V1 = base.ANNOTATION_V1, _("pod annotation (v1)")
    ANNOTATION = base.ANNOTATION, _("pod annotation")
    ONLY_CARD = base.ONLY_CARD, _("only card on the node")
    ALL_CARDS = base.ALL_CARDS, _("all cards allocated")
    EXPORTER = base.EXPORTER, _("exporter")
    COUNT_ONLY = base.COUNT_ONLY, _("unidentified (count only)")


class CardState(models.TextChoices):
    """How full a card is. UNKNOWN: allocated or not is unknown. SHARED: allocated to n pods, memory not metered.

    UNAVAILABLE: not allocated and cannot be: see `UnavailableReason`.
    """

    FREE = "free", _("free")
    UNAVAILABLE = "unavailable", _("unavailable")
    PARTLY = "partly", _("partially allocated")
    FULL = "full", _("fully allocated")
    OVER = "over", _("overcommitted")
    SHARED = "shared", _("shared, not metered")
    UNKNOWN = "unknown", _("unknown")


#: States of a card without allocations.
NOT_ALLOCATED = frozenset((CardState.FREE.value, CardState.UNAVAILABLE.value))


class UnavailableReason(models.TextChoices):
    """Why a card that is there is unavailable. STALE is never stored: the clock decides it (`inventory.queries.availability`)."""

    STALE = "stale-cluster", _("cluster data is stale")
    NOT_READY = "not-ready", _("node not ready")
    READINESS_UNKNOWN = "readiness-unknown", _("node readiness unknown")
    CORDONED = "cordoned", _("node cordoned")
    UNHEALTHY = "unhealthy", _("unhealthy")


class ComponentState(models.TextChoices):
    """State of a component, worst first."""

    CRASH_LOOPING = software.CRASH_LOOPING, _("crash-looping")
    MISSING = software.MISSING, _("missing")
    NOT_READY = software.NOT_READY, _("not ready")
    PENDING = software.PENDING, _("pending")
    WAITING = software.WAITING, _("waiting")
    PAUSED = software.PAUSED, _("paused")
    OUTDATED = software.OUTDATED, _("outdated")
    UNKNOWN = software.UNKNOWN, _("unknown")
    READY = software.READY, _("ready")
    DISABLED = software.DISABLED, _("disabled")
    NOT_NEEDED = software.NOT_NEEDED, _("not needed")
