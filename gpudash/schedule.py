"""The schedule's memory of when each task was last sent, in a file that is its owner's alone."""

from __future__ import annotations

import os

from celery.beat import PersistentScheduler


class PrivateScheduler(PersistentScheduler):
    def setup_schedule(self) -> None:
        """`celery beat` is a process of its own that writes no other files, so the mask may stay."""
        os.umask(0o077)
        super().setup_schedule()
