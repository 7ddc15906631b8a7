"""What changes whenever silences do: what pages share of findings says which of them are silenced."""

from __future__ import annotations

from collections.abc import Hashable

from django.db.models import Max

from notifications.models import Silence


def version() -> Hashable:
    """That an end comes is no change: nothing is shared for longer than some seconds."""
    return tuple(Silence.objects.aggregate(Max("pk"), Max("ended_at")).values())
