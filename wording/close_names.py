"""Names that are close to one that is not there, for "did you mean". In time linear in the names, whatever they hold.

difflib compares each pair of characters: two thousand long names that look alike took half a minute of a request.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest
from itertools import pairwise

#: Of a name that is looked at: no name of Kubernetes is longer.
_CHARS = 253


def close_names(name: str, names: Iterable[str], most: int = 5, least: float = 0.5) -> list[str]:
    """At most `most` of the names, the closest first; of equals the first by name.

    least: from 0 to 1, which part of the pairs of neighbouring characters both have at least (Dice's coefficient).
    """
    wanted = _pairs(name)
    rated = ((2 * len(wanted & pairs) / (len(wanted) + len(pairs)), one) for one in names for pairs in (_pairs(one),))
    close = nsmallest(most, ((-part, one) for part, one in rated if part >= least))
    return [one for _, one in close]


def _pairs(name: str) -> set[tuple[str, str]]:
    """With a space at both ends, so that the first and the last character count like the others."""
    padded = f" {name[:_CHARS].lower()} "
    return set(pairwise(padded))
