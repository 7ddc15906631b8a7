"""The notifications app: which topics go to which channel."""

from __future__ import annotations

from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "notifications"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from notifications.data_version import version
        from runtime.cached import add_version

        add_version(version)
