"""The quarantine app: cards and nodes that are taken out of service, by whom and why, and how they return."""

from __future__ import annotations

from django.apps import AppConfig


class QuarantineConfig(AppConfig):
    name = "quarantine"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from inventory.extension import register
        from quarantine.extension import EXTENSION

        register(EXTENSION)
