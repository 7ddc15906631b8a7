"""The settings of this installation as the context in which stacks read objects."""

from __future__ import annotations

from django.conf import settings
from django.utils.module_loading import import_string

from inventory.stacks.engine.base import Context
from inventory.stacks.engine.registry import registry


def stack_context(now: float = 0.0) -> Context:
    """The settings that stacks need, as their context."""
    return Context(
        now=now,
        settings=tuple((name, str(getattr(settings, name))) for name in registry.settings()),
        pod_labels=tuple(label for path in settings.MIRRORED_POD_LABELS for label in import_string(path)),
        assume_timeout_s=settings.ASSUME_TIMEOUT_S,
    )
