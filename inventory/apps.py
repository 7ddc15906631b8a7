"""The inventory app: a mirror of nodes, cards, pods and allocations. It knows nothing of validations."""

from __future__ import annotations

from django.apps import AppConfig


class InventoryConfig(AppConfig):
    name = "inventory"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from inventory.data_version import version
        from runtime.cached import add_version

        add_version(version)
