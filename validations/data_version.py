"""What changes whenever a run does: see `runtime.cached`."""

from __future__ import annotations

from collections.abc import Hashable

from django.db.models import Max

from validations.models import Campaign, ImportedStatement, Reparse, Run, RunStep


def version() -> Hashable:
    """Five look-ups in an index: each state that a run enters is a step."""
    grows = (RunStep, Run, Campaign, Reparse, ImportedStatement)
    newest = (model.objects.aggregate(newest=Max("pk"))["newest"] for model in grows)
    return tuple(newest)
