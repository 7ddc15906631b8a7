"""Cases, marks and tools in words. Pure; asks no table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, datetime

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from inventory.marks import OURS, Mark, known
from pages.frame.labels import label_of
from pages.words.runs import Shown
from quarantine.models import Case, CaseState, How, ReturnReason

#: Tools that marks can name: ours first.
TOOLS = (
    OURS,
    *sorted(
        {*known.TAINTS.values(), known.KUBECTL, known.GCM}
        | {one.tool for one in known.CONDITIONS.values()}
        | {one.tool for one in known.LABELS.values()}
    ),
)
_LOOKS = {
    CaseState.RECOMMENDED: ("warning", "!"),
    CaseState.ACCEPTED: ("busy", "▶"),
    CaseState.OUT: ("error", "✕"),
    CaseState.RETURNING: ("busy", "▶"),
    CaseState.RETURNED: ("good", "✓"),
    CaseState.DECLINED: ("none", "–"),
    CaseState.WITHDRAWN: ("none", "–"),
}
_NO_TOOL: Promise = gettext_lazy("unknown")


@dataclass(frozen=True)
class MarkLine:
    """A mark as pages print it. tool, author: in words, "" for unknown. key: as kubectl has it, "cordon" for a cordon.

    whole: key and reason as they stand there, for a title.
    """

    mark: Mark
    tool: str
    key: str
    author: str
    whole: str
    since: datetime | None


def shown_state(state: str) -> Shown:
    level, sign = _LOOKS[CaseState(state)] if state in CaseState.values else ("none", "·")
    return Shown(level, sign, label_of(CaseState, state))


def tool_words(tool: str) -> str:
    return tool or str(_NO_TOOL)


def mark_line(mark: Mark) -> MarkLine:
    key = mark.key + (f"={mark.value}" if mark.value else "") + (f":{mark.effect}" if mark.effect else "")
    by = f"“{mark.by}”" if mark.by else ""
    author = _("%(name)s (by managedFields)") % {"name": by} if by and mark.hint else by
    whole = f"“{': '.join(filter(None, (key, mark.reason)))}”" if key or mark.reason else ""
    return MarkLine(mark, tool_words(mark.tool), key or _("cordon"), author, whole, moment_of(mark.since))


def moment_of(text: str) -> datetime | None:
    """Of RFC 3339, in UTC; None for what is none, or cannot be moved to every time zone."""
    try:
        found = datetime.fromisoformat(text)
        utc = found.astimezone(UTC) if found.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None
    return utc if utc is not None and MINYEAR < utc.year < MAXYEAR else None


def how_words(how: str) -> str:
    return label_of(How, how)


def how_choices(hows: Sequence[str]) -> list[tuple[str, str]]:
    return [(how, how_words(how)) for how in hows]


def return_words(reason: str) -> str:
    return label_of(ReturnReason, reason) if reason else ""


def taken_by(case: Case) -> str:
    """Who accepted it; "" while nobody has."""
    if case.automatic:
        return _("policy %(name)s") % {"name": case.policy.name if case.policy else "–"}
    return case.accepted_by_name or (_("command") if case.accepted_at else "")
