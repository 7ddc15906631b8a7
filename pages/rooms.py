"""What would still fit on cards that are cut into slices, as rows of a table. Shared by the pages of nodes and of cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from inventory.stacks.engine import base


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
    """on_demand: on some of these cards a pod can have what fits; made: what fits on some is made and free; fixed: some have a layout
    that has to be changed for it."""

    lines: list[RoomLine]
    on_demand: bool
    made: bool
    fixed: bool


def rooms_of(found: Sequence[base.Room], cards: Mapping[str, tuple[str, str]]) -> Rooms | None:
    """None where no card is cut. cards: key → (name, url) of those that have a page."""
    if not found:
        return None
    lines = [_line(room, place, *cards.get(room.card, (room.card, ""))) for place, room in enumerate(found)]
    return Rooms(
        lines,
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
        return _("the cards that are cut")
    names = {"n": room.cards}
    if room.cards == 1:
        return _("the card that is cut")
    return (
        _("each of %(n)d cards that are cut") % names if room.each else _("%(n)d cards that are cut, together") % names
    )


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
            return _("There are too many ways to place these devices to try them all.")
        return _("The counters that the driver publishes for this card cannot be reckoned with.")
    return {
        base.STARTS: _("Where on a card its slices lie is not known, and it makes a difference."),
        base.PARENTS: _("Which slice is of which card is not known: these are upper bounds."),
        base.NO_TABLE: _("Of this model no placement table is known."),
        base.STRANGE_PROFILE: _("The placement table of this model has no such profile."),
        base.CARDS_UNKNOWN: _("How many cards are cut is not known."),
        base.CONTRADICTION: ngettext(
            "These slices cannot lie on %(n)d card: what the node says contradicts itself.",
            "These slices cannot lie on %(n)d cards: what the node says contradicts itself.",
            room.cards or 0,
        )
        % {"n": room.cards or 0},
    }.get(room.unknown, "")
