"""Options of a suite on a command line."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError

from validations.suites import registry


def pairs(suite_id: str, texts: list[str], returncode: int = 1) -> dict[str, Any]:
    """K=V; a number where the suite wants one, so that its own check can speak about the rest."""
    found: dict[str, Any] = {}
    suite = registry().get(suite_id)
    numbers = {option.name for option in suite.options if option.kind == "number"} if suite else set()
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise CommandError(f"--option {text!r}: must be NAME=VALUE", returncode=returncode)
        whole = name in numbers and value.lstrip("-").isdecimal() and len(value) < 19
        found[name] = int(value) if whole else value
    return found
