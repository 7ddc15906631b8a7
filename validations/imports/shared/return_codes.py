"""What a return code of SuperBench means (superbench/benchmarks/return_code.py). All but 0 say that the benchmark gave no result."""

from __future__ import annotations

from wording.said import gettext_noop, known

_CODES = (
    (1, 4, gettext_noop("wrong arguments or no result")),
    (10, 18, gettext_noop("the model benchmark did not run")),
    (30, 32, gettext_noop("the benchmark did not run")),
    (33, 33, gettext_noop("its output was not parsed")),
    (34, 34, gettext_noop("the architecture is not supported")),
    (35, 36, gettext_noop("the benchmark did not run")),
    (50, 54, gettext_noop("its container did not run")),
    (124, 124, gettext_noop("killed by timeout")),
)


def meaning(code: float) -> str:
    """A sentence without a full stop."""
    return known(
        next((text for first, last, text in _CODES if first <= code <= last), gettext_noop("unknown return code"))
    )
