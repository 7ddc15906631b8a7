"""A run that went wrong beside the last that passed: only what differs."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pages.rows.runs import RunLine, run_line
from pages.sections.beside import Differences, differences, listed
from validations import compared
from validations.models import Run

_SAME: dict[str, Promise] = {
    compared.CARD: gettext_lazy("same card"),
    compared.NODE: gettext_lazy("same node"),
    compared.MODEL: gettext_lazy("same model"),
}
#: What is said to be unchanged in one row: name → the columns that it stands for.
_UNCHANGED: dict[str, tuple[Promise, tuple[str, ...]]] = {
    "card": (gettext_lazy("card"), ("node_name", "card_key")),
    "driver": (gettext_lazy("driver"), ("driver_version",)),
    "image": (gettext_lazy("image"), ("image", "image_digest")),
}


@dataclass(frozen=True)
class ComparedLines:
    """What the panel prints. passed: the run compared with, None for none; same: in words. first: of those that went wrong."""

    passed: RunLine | None
    same: str
    first: RunLine | None
    is_first: bool
    found: Differences
    strip: list[RunLine]


def compared_lines(run: Run) -> ComparedLines | None:
    """None for a run that has not ended, or that went well."""
    if run.verdict not in compared.WRONG:
        return None
    found = compared.compared(run)
    return ComparedLines(
        passed=run_line(found.passed) if found.passed else None,
        same=str(_SAME.get(found.same, "")),
        first=run_line(found.first_failure) if found.first_failure else None,
        is_first=found.first_failure is not None and found.first_failure.pk == run.pk,
        found=run_differences(found),
        strip=[run_line(one) for one in found.strip],
    )


def run_differences(found: compared.Beside) -> Differences:
    """Of two runs."""
    return differences(found, unchanged=_unchanged(found))


def _unchanged(found: compared.Beside) -> str:
    """Card, driver, image and options, as far as they are known to be the same."""
    same, differ = set(found.unchanged), {one.name for one in (*found.changes, *found.unknown)}
    names = [str(words) for words, columns in _UNCHANGED.values() if same & set(columns) and not differ & set(columns)]
    if not any(name.startswith("option ") for name in differ):
        names.append(_("options"))
    return listed(names)
