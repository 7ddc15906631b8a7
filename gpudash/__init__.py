"""Wiring of gpudash: settings, URLs, Celery, health, access, the API's frame, the demo."""

from gpudash.celery import app as celery_app

#: The one place; `tests/deploy/test_version.py` holds package and chart to it.
__version__ = "1.0.0rc1"
__all__ = ["__version__", "celery_app"]
