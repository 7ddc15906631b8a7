"""Wiring of gpudash: settings, URLs, Celery, health, access, the API's frame, the demo."""

from gpudash.celery import app as celery_app

__all__ = ["celery_app"]
