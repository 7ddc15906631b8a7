"""Commands of Django's that would act without an entry in the audit log: each says which of ours is to be used."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError


class RefusedCommand(BaseCommand):
    """Takes the arguments of Django's own beside it, and refuses them all. instead: what to do."""

    instead = ""

    def execute(self, *args: Any, **options: Any) -> str | None:
        raise CommandError(f"This command writes no audit log entry. {self.instead}")
