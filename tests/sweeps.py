"""Cases of which `make test` takes the first, and `make test-sweep` all others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def first_and_rest(cases: Iterable[Any], first: int = 1) -> list[Any]:
    """For `parametrize`: the cases behind the first few are marked `sweep`."""
    found = list(cases)
    return [*found[:first], *(pytest.param(one, marks=pytest.mark.sweep) for one in found[first:])]
