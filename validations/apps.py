"""The validations app: suites, runs and their verdicts."""

from django.apps import AppConfig


class ValidationsConfig(AppConfig):
    name = "validations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from inventory.clusters import TAKE_OVER, TOLD, WANTED
        from validations import copies, csv_columns
        from validations.lifecycle.wanted import wanted

        csv_columns.register()
        if wanted not in WANTED:
            WANTED.append(wanted)
            TOLD.append(copies.told)
            TAKE_OVER.append(copies.take_over)
