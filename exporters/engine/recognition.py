"""Which exporters speak on a page, or in a Prometheus, by the names of metrics that are there."""

from __future__ import annotations

from collections.abc import Iterable

from exporters.engine.format import Format, Found

#: Longest prefix that an administrator puts before names.
_PREFIX_CHARS = 64


def recognised(
    formats: Iterable[Format], names: Iterable[str], exporter: str = "", *, page: bool = False
) -> tuple[Found, ...]:
    """The formats of which something is there, in the order of registration.

    exporter: the name of the format that the target is known to have (by its pod's labels), "" where it is not known.
    page: the names are those of one target, so plain words may be names; else they are those of a whole Prometheus.
    """
    here = frozenset(names)
    found: list[Found] = []
    unsure: list[Format] = []
    for format in formats:
        if format.bare and not (page and (exporter == format.name or format.marks <= here)):
            continue
        prefixes = _prefixes(format, here) if format.prefixed else [""] if format.marks & here else []
        if format.name == exporter and not prefixes:
            prefixes = [""]
        found += [Found(format, prefix) for prefix in prefixes]
        if not prefixes and format.shared & here:
            unsure.append(format)
    # Names that several have, and none of what only one has, nor is it known which one is there: the first.
    claimed = {name for item in found for name in item.format.metrics}
    left = [item for item in unsure if (item.shared & here) - claimed]
    found += [Found(item, "", sure=len(left) == 1) for item in left[:1]]
    return tuple(found)


def _prefixes(format: Format, here: frozenset[str]) -> list[str]:
    """What stands before a mark, for each way in which it is written; "" for as it is."""
    found: set[str] = set()
    for mark in format.marks:
        for name in here:
            if name.endswith(mark) and len(name) - len(mark) <= _PREFIX_CHARS:
                found.add(name[: len(name) - len(mark)])
    return sorted(found)
