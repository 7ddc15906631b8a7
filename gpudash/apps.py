"""What is done once at the start of every process."""

from __future__ import annotations

from django.apps import AppConfig
from django.conf import settings

from gpudash.config.data_folder import keep_private


class GpudashConfig(AppConfig):
    name = "gpudash"

    def ready(self) -> None:
        keep_private(settings.DATA_DIR, settings.DATABASES["default"])
