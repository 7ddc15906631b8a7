"""The validations app: suites, runs and their verdicts."""

from django.apps import AppConfig


class ValidationsConfig(AppConfig):
    name = "validations"
    default_auto_field = "django.db.models.BigAutoField"
