"""Findings counted by severity, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from pages.frame import amounts
from stacks.engine.base import ERROR, INFO, WARNING


class Counted(NamedTuple):
    """words: "18 errors"."""

    level: str
    number: int
    words: str


def counted(counts: Mapping[str, int]) -> list[Counted]:
    """Severities with a finding, worst first."""
    errors, warnings, infos = (counts.get(level, 0) for level in (ERROR, WARNING, INFO))
    found = [
        Counted(ERROR, errors, ngettext("%(n)s error", "%(n)s errors", errors) % {"n": amounts.count(errors)}),
        Counted(
            WARNING, warnings, ngettext("%(n)s warning", "%(n)s warnings", warnings) % {"n": amounts.count(warnings)}
        ),
        Counted(INFO, infos, _("%(n)s info") % {"n": amounts.count(infos)}),
    ]
    return [one for one in found if one.number]
