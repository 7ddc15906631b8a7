"""What would still fit on cards that are cut into slices, as rows of a table. Shared by the pages of nodes and of cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stacks.engine import base


@dataclass(frozen=True)
class RoomLine:
    """One row. url: of the card, "" where it is said of several. there, fits: (profile, number in words); a profile that does not
    fit is left out of fits. known: there are numbers at all. why: why they are bounds or missing, "" where they are exact."""

    key: str
    title: str
    url: str
    there: list[tuple[str, str]]
    fits: list[tuple[str, str]]
    known: bool
    why: str
    source: str


@dataclass(frozen=True)
class Rooms:
    """all: how many there are, more than `lines` where no more are kept.

    on_demand: on some of these cards a pod can have what fits; made: what fits on some is made and free; fixed: some have a layout
    that has to be changed for it.
    """

    lines: list[RoomLine]
    all: int
    on_demand: bool
    made: bool
    fixed: bool


def rooms_of(found: Sequence[base.Room], cards: Mapping[str, tuple[str, str]], of: int = 0) -> Rooms | None:
    """None where no card is cut. cards: key → (name, url) of those that have a page. of: how many are cut, where that are more."""
    if not found:
        return None
    lines = [_line(room, place, *cards.get(room.card, (room.card, ""))) for place, room in enumerate(found)]
    return Rooms(
        lines,
        all=max(of, len(lines)),
        on_demand=any(room.on_demand for room in found),
        made=any(room.made for room in found),
        fixed=any(not room.on_demand and not room.made for room in found),
    )


def _line(room: base.Room, place: int, name: str, url: str) -> RoomLine:
    return RoomLine(
        key=f"room-{place}",
        title=name if room.card else _of_several(room),
        url=url,
        there=[(_called(profile), f"× {number}") for profile, number in room.slices],
        fits=[(_called(fit.profile), _number(fit)) for fit in room.fits if fit.most],
        known=bool(room.fits),
        why=_why(room),
        source=room.source,
    )


def _of_several(room: base.Room) -> str:
    if room.cards is None:
        return _("the sliced cards")
    names = {"n": room.cards}
    if room.cards == 1:
        return _("the sliced card")
    return _("each of %(n)d sliced cards") % names if room.each else _("%(n)d sliced cards, together") % names


def _called(profile: str) -> str:
    return profile or _("the whole card")


def _number(fit: base.Fit) -> str:
    if fit.sure == fit.most:
        return f"× {fit.most}"
    if not fit.sure:
        return _("at most %(n)d") % {"n": fit.most}
    return _("%(sure)d to %(most)d") % {"sure": fit.sure, "most": fit.most}


def _why(room: base.Room) -> str:
    if room.unknown == base.COUNTERS:
        if room.fits:
            return _("Too many possible placements to check all.")
        return _("The driver's counters for this card are unusable.")
    return {
        base.STARTS: _("Slice positions on the card are unknown."),
        base.PARENTS: _("Slices are not mapped to cards. Numbers are upper bounds."),
        base.NO_TABLE: _("No placement table for this model."),
        base.STRANGE_PROFILE: _("The model's placement table lacks this profile."),
        base.CARDS_UNKNOWN: _("Number of sliced cards unknown."),
        base.CONTRADICTION: ngettext(
            "These slices do not fit on %(n)d card. The node reports contradicting values.",
            "These slices do not fit on %(n)d cards. The node reports contradicting values.",
            room.cards or 0,
        )
        % {"n": room.cards or 0},
    }.get(room.unknown, "")
