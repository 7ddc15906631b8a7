"""`gpudash schedule`: sends each task when it is due. A team's deployment needs one; more take over."""

from __future__ import annotations

from typing import Any

from gpudash.celery import app
from inventory.management.shown import ShownCommand


class Command(ShownCommand):
    help = "Run the schedule of a team's deployment, which sends each task when it is due."
    requires_system_checks: Any = ()

    def handle(self, *args: Any, **options: Any) -> None:
        # No pid file: two schedules are harmless, and one that was killed must not keep the next from starting.
        app.start(["beat", "--pidfile="])
