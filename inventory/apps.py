"""The inventory app: a mirror of nodes, cards, pods and allocations. It knows nothing of validations."""

from django.apps import AppConfig


class InventoryConfig(AppConfig):
    name = "inventory"
    default_auto_field = "django.db.models.BigAutoField"
