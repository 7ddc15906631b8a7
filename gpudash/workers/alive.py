"""A file that says by its age that the loop of a worker or of the schedule turns: for a liveness probe that asks nobody.

It says nothing of the database or the broker: a probe that needs them would end every worker when one of them is away.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from django.conf import settings


def touch() -> None:
    """Now. Without GPUDASH_ALIVE_FILE nothing is written; where it cannot be, its age says so."""
    if settings.ALIVE_FILE is not None:
        with suppress(OSError):
            Path(settings.ALIVE_FILE).touch()
