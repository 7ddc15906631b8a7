"""The settings of this installation as the context in which stacks read objects."""

from __future__ import annotations

from django.conf import settings

from inventory.extension import EXTENSIONS
from stacks.engine.base import Context
from stacks.engine.registry import registry


def stack_context(now: float = 0.0) -> Context:
    """The settings that stacks need, as their context."""
    return Context(
        now=now,
        settings=tuple((name, str(getattr(settings, name))) for name in registry.settings()),
        pod_labels=tuple(label for extension in EXTENSIONS.values() for label in extension.pod_labels),
        assume_timeout_s=settings.ASSUME_TIMEOUT_S,
    )
