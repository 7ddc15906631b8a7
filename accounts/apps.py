"""Accounts, roles and API tokens."""

from __future__ import annotations

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AccessConfig(AppConfig):
    name = "accounts"
    label = "access"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from accounts import audited
        from accounts.groups import after_migrate

        audited.connect()
        post_migrate.connect(after_migrate, dispatch_uid="accounts.groups")
