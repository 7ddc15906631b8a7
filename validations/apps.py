"""The validations app: suites, runs and their verdicts."""

from __future__ import annotations

from django.apps import AppConfig


class ValidationsConfig(AppConfig):
    name = "validations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from inventory.extension import register
        from runtime.cached import add_version
        from validations.data_version import version
        from validations.extension import EXTENSION

        register(EXTENSION)
        add_version(version)
