"""States, verdicts, reasons and spans of time in the words and signs of the pages. Pure; knows no requests and asks no table."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pages.frame.labels import label_of
from validations.models import LOOKS, LevelChoice, Run, State, VerdictChoice
from validations.suites import find, reasons
from validations.suites.engine.base import Suite

ONLY_CARD = gettext_lazy("only card of the node")
#: What a pass says of the card, best first.
LEVELS = tuple(reversed(LevelChoice.choices))
_LEVEL_MEANS: dict[str, Promise] = {
    LevelChoice.CHECKED: gettext_lazy("a workload ran and its result was checked. This validates the card."),
    LevelChoice.RAN: gettext_lazy("a workload ran, its result was not checked. This does not validate the card."),
    LevelChoice.DETECTED: gettext_lazy(
        "the driver detected the card, no workload ran. This does not validate the card."
    ),
    LevelChoice.NONE: gettext_lazy("this pass proves nothing about the card."),
}
#: What a level is worth, after what the suite proves.
_LEVEL_EFFECTS: dict[str, Promise] = {
    LevelChoice.CHECKED: gettext_lazy("This validates the card."),
    LevelChoice.RAN: gettext_lazy("This does not validate the card."),
    LevelChoice.DETECTED: gettext_lazy("This does not validate the card."),
    LevelChoice.NONE: gettext_lazy("This proves nothing about the card."),
}


@dataclass(frozen=True)
class Shown:
    """How a run, verdict or state is shown. level: class of the sign."""

    level: str
    sign: str
    words: str


def shown(verdict_or_state: str) -> Shown:
    """The look of a verdict or of a state; what is not known is shown as such."""
    look = LOOKS.get(verdict_or_state)
    if look is None:
        return Shown("none", "·", verdict_or_state[:64] or _("unknown"))
    kind = VerdictChoice if verdict_or_state in VerdictChoice.values else State
    return Shown(look.tone, look.sign, label_of(kind, verdict_or_state))


@dataclass(frozen=True)
class ShownLevel:
    """How much a pass proves. level: class of the sign."""

    level: str
    sign: str
    words: str
    meaning: str


def level(name: str) -> ShownLevel | None:
    """None for a run that is no pass."""
    if name not in LevelChoice.values:
        return None
    validated = name == LevelChoice.CHECKED
    return ShownLevel(
        "good" if validated else "none", "✓" if validated else "·", label_of(LevelChoice, name), str(_LEVEL_MEANS[name])
    )


def proof(suite: Suite, level: str) -> str:
    """What a pass says, and what that is worth: the same sentences before the launch and after it. level: of the pass."""
    effect = str(_LEVEL_EFFECTS.get(level, "")) if suite.nodes == 1 else _("This validates the group, no card.")
    return effect if level == LevelChoice.NONE else f"{_(suite.proves)} {effect}".strip()


def shown_run(run: Run) -> Shown:
    """The verdict, a pass with its level where that is no proof, and whether another image than the suite's was run; or the state."""
    look = shown(run.verdict or run.state)
    if not run.own_image:
        # A pass of it is no good news: it says nothing of the card.
        level = "none" if look.level == "good" else look.level
        return Shown(level, look.sign, f"{look.words} ({_('another image')})")
    if run.verdict != VerdictChoice.PASSED or run.level in ("", LevelChoice.CHECKED):
        return look
    return Shown(look.level, look.sign, f"{look.words} ({label_of(LevelChoice, run.level)})")


def headline(code: str) -> str:
    """A reason code as the end of "Failed: …"; "" for a code of an older version, which has no words any more."""
    words = reasons().get(code)
    return _(words.headline) if words is not None else ""


def suite_title(suite_id: str) -> str:
    suite = find(suite_id)
    return _(suite.title) if suite is not None else suite_id


def duration(seconds: float) -> str:
    """A span of time with two units where the second one matters: 4.2 s, 58 s, 4 min 10 s, 2 h 5 min."""
    if seconds < 0:
        return _("%(n)d s") % {"n": 0}
    if seconds < 10:
        return _("%(n)s s") % {"n": f"{seconds:.1f}"}
    whole = int(seconds)
    if whole < 60:
        return _("%(n)d s") % {"n": whole}
    if whole < 3600:
        return _("%(min)d min %(s)d s") % {"min": whole // 60, "s": whole % 60}
    return _("%(h)d h %(min)d min") % {"h": whole // 3600, "min": whole % 3600 // 60}
