"""Which options decide what a run tests? Runs of one suite with the same key test the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from itertools import product

import msgspec

from validations.suites.engine.base import OptionError, Suite
from validations.suites.engine.options import Option, Values

#: How a run is carried out, not what it tests. An image is compared by itself.
_HOW = frozenset(
    ("image", "resource", "deadline_s", "host_memory", "pull_secret", "gpu_memory_mib", "runtime_class", "run_as_user")
)


def options_key(suite: Suite, options: Mapping[str, object]) -> str:
    """16 hexadecimal digits; "" where the options no longer match the suite."""
    try:
        return _key(suite.settle(options))
    except OptionError:
        return ""


def covering_keys(suite: Suite, options: Mapping[str, object]) -> tuple[str, ...]:
    """The keys of runs whose pass says all that a pass with these options does: of the options themselves first, then of those that
    the suite declares to cover them (`Option.covers_less`). Empty where the options no longer match the suite."""
    try:
        settled = suite.settle(options)
    except OptionError:
        return ()
    return tuple(_key(settled | dict(more)) for more in product(*(_covering(one, settled) for one in suite.options)))


def _covering(option: Option, settled: Values) -> Iterator[tuple[str, str | int]]:
    """The option with each value that covers the settled one, that itself first."""
    value = settled[option.name]
    if not option.covers_less or not isinstance(value, int):
        return iter([(option.name, value)])
    return ((option.name, greater) for greater in range(value, option.maximum + 1))


def _key(settled: Values) -> str:
    what = {name: value for name, value in settled.items() if name not in _HOW}
    return hashlib.sha256(msgspec.json.encode(what, order="sorted")).hexdigest()[:16]
