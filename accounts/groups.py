"""The groups of the roles and their Django permissions, set anew after each migrate.

Permissions come into being with the tables, after all migrations of all apps, so this cannot be a migration. It may run any
number of times. A permission that an app does not have (yet) is left out.
"""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig, apps
from django.contrib.auth.models import Group, Permission
from django.db.models import Q

from accounts.roles import Role

_VIEW = Q(content_type__app_label__in=("inventory", "validations", "quarantine"), codename__startswith="view_")
_RUN = Q(
    content_type__app_label="validations",
    codename__in=(
        *("add_run", "change_run", "add_campaign", "change_campaign"),
        *("add_policy", "change_policy", "delete_policy"),
    ),
)
_SILENCE = Q(content_type__app_label="notifications", codename__in=("add_silence", "change_silence"))
#: Whoever launches may also take a card out of service.
_CASE = Q(content_type__app_label="quarantine", codename="change_case")
#: Whoever launches may also have a cluster listed anew.
_RELIST = Q(content_type__app_label="inventory", codename="change_watch")
_KEEP = (
    Q(content_type__app_label="auth", content_type__model="user")
    | Q(content_type__app_label="access", content_type__model="apitoken")
    | Q(content_type__app_label="inventory", content_type__model="cluster")
)
_OPERATE = _VIEW | _RUN | _SILENCE | _CASE | _RELIST
ALLOWED = {Role.VIEWER: _VIEW, Role.OPERATOR: _OPERATE, Role.ADMIN: _OPERATE | _KEEP}


def after_migrate(sender: AppConfig, **_: Any) -> None:
    """Once per migrate: at the last app that has tables, when the permissions of all apps exist."""
    last = [app for app in apps.get_app_configs() if app.models_module is not None][-1]
    if sender.name == last.name:
        set_permissions()


def set_permissions() -> None:
    for role, condition in ALLOWED.items():
        group, _ = Group.objects.get_or_create(name=role.value)
        group.permissions.set(Permission.objects.filter(condition))
