"""Two things side by side, only what differs: two runs, two nodes or two cards. Asks no table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pages.frame.worded import between, middle, named
from pages.sections.measured import figure
from pages.words.names import plain_html
from validations import compared

_NAMES: dict[str, Promise] = {
    "suite": gettext_lazy("suite"),
    "node_name": gettext_lazy("node"),
    "card_key": gettext_lazy("card"),
    "card_uuid": gettext_lazy("card UUID"),
    "card_model": gettext_lazy("card model"),
    "driver_version": gettext_lazy("driver"),
    "image": gettext_lazy("container image"),
    "image_digest": gettext_lazy("image digest"),
    "parser_version": gettext_lazy("parser"),
    "os": gettext_lazy("operating system"),
    "os_image": gettext_lazy("node OS image"),
    "kernel": gettext_lazy("kernel"),
    "kubelet": gettext_lazy("kubelet"),
    "runtime": gettext_lazy("container runtime"),
    "instance_type": gettext_lazy("instance type"),
    "zone": gettext_lazy("zone"),
    "driver_source": gettext_lazy("driver source"),
    "stack": gettext_lazy("stack"),
    "node_uid": gettext_lazy("node UID (node recreated)"),
    "cordoned": gettext_lazy("cordoned"),
    "status": gettext_lazy("status"),
    "health": gettext_lazy("health"),
    "validated": gettext_lazy("validated"),
    "cards": gettext_lazy("cards"),
    "memory": gettext_lazy("memory"),
    "physical_memory": gettext_lazy("physical memory"),
    "mode": gettext_lazy("allocation mode"),
    "shares": gettext_lazy("shares per card"),
    "unit": gettext_lazy("memory unit"),
    "state": gettext_lazy("state"),
    "slice": gettext_lazy("slice"),
}
#: What one of a list is called in a text, and the heading of the list.
_LISTS: dict[str, tuple[Promise, Promise]] = {
    "cards": (gettext_lazy("cards %(name)s"), gettext_lazy("Cards")),
    "slices": (gettext_lazy("slices %(name)s"), gettext_lazy("Slices")),
    "report": (gettext_lazy("health: %(name)s"), gettext_lazy("Health reports")),
    "result": (gettext_lazy("result: %(name)s"), gettext_lazy("Validation")),
    "metric": (gettext_lazy("metric %(name)s"), gettext_lazy("Metrics")),
    "component": (gettext_lazy("component %(name)s"), gettext_lazy("Components")),
    "finding": (gettext_lazy("finding %(name)s"), gettext_lazy("Findings")),
    "option": (gettext_lazy("option %(name)s"), gettext_lazy("Options")),
    "resource": (gettext_lazy("resource %(name)s"), gettext_lazy("Allocatable resources")),
    "taint": (gettext_lazy("taint %(name)s"), gettext_lazy("Taints")),
    "plugin": (gettext_lazy("plugin %(name)s"), gettext_lazy("Plugins")),
    "label": (gettext_lazy("label %(name)s"), gettext_lazy("Labels")),
    "log": (gettext_lazy("%(name)s (from the log)"), gettext_lazy("From the log")),
}
#: Lists whose items are called in words of ours; those of the others are names of the cluster.
_IN_WORDS = frozenset(("report", "result", "metric", "component", "finding", "log"))
#: A fact that says nothing more where another one differs.
_FOLLOWS = {"card_uuid": "card_key", "image_digest": "image"}
#: Rows of a panel that are shown; the others are one click away.
SHOWN = 6
_LONGEST = 300


@dataclass(frozen=True)
class Side:
    """One of two values. text: "" when not known, or not there. level: of its sign, "" without one. words: of ours, no name."""

    text: str
    level: str = ""
    words: bool = False


@dataclass(frozen=True)
class Facts:
    """What a node or a card is compared by, in words. known: as `validations.compared.apart` takes it.

    levels: name → sign of a state. words: names of facts whose values are words of ours; the others are names and amounts.
    """

    known: dict[str, str] = field(default_factory=dict)
    levels: dict[str, str] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)

    def put(self, name: str, value: object, level: str = "", words: bool = False) -> None:
        """What is not known is left out. A state, with a level, is told in words."""
        if value in ("", None):
            return
        self.known[name] = str(value)[:_LONGEST]
        if level:
            self.levels[name] = level
        if level or words:
            self.words.add(name)

    def side(self, name: str, text: str | None) -> Side:
        return Side(text or "", self.levels.get(name, ""), name in self.words)


_NOTHING = Facts()


@dataclass(frozen=True)
class Row:
    """Something that differs, or a measurement. name: in a text; item: below the heading of its list, `group`.

    more: faster or slower, in words. short: both values in one line, cut where they are long.
    """

    name: str
    item: str
    group: str
    then: Side
    now: Side
    more: str = ""

    @property
    def short(self) -> str:
        then, now = (_cut(one.text) for one in (self.then, self.now))
        return f"{then} → {now}"


@dataclass(frozen=True)
class Differences:
    """What a table of two things prints. unchanged: what is the same, in words. unknown: names of what is not known of one."""

    changed: list[Row]
    unchanged: str
    unknown: list[str]
    numbers: list[Row]

    @property
    def rows(self) -> list[Row]:
        """The first ones, for a panel."""
        return self.changed[:SHOWN]

    @property
    def more(self) -> list[Row]:
        return self.changed[SHOWN:]

    @property
    def groups(self) -> list[tuple[str, list[Row]]]:
        """All rows below the heading of their list; "" for those of none."""
        found: dict[str, list[Row]] = {}
        for row in (*self.changed, *self.numbers):
            found.setdefault(row.group, []).append(row)
        return list(found.items())


def differences(
    found: compared.Beside, then: Facts = _NOTHING, now: Facts = _NOTHING, unchanged: str | None = None
) -> Differences:
    """then, now: with the signs. unchanged: other words than the names of the facts that are the same."""
    names = {one.name for one in found.changes}
    told = [one for one in found.changes if _FOLLOWS.get(one.name) not in names]
    told.sort(key=lambda one: _order(one.name))
    same = [str(_NAMES[name]) for name in found.unchanged if name in _NAMES]
    return Differences(
        changed=[_row(one, then, now) for one in told],
        unchanged=listed(same) if unchanged is None else unchanged,
        unknown=[_name(one.name) for one in found.unknown],
        numbers=[number(one) for one in found.measurements]
        if any(one.now is not None for one in found.measurements)
        else [],
    )


def listed(names: Iterable[str]) -> str:
    return between().get(", ", ", ").join(names)


def _order(name: str) -> int:
    """Facts first, then list by list."""
    part, _space, rest = name.partition(" ")
    return list(_LISTS).index(part) + 1 if rest and part in _LISTS else 0


def _row(one: compared.Change, then: Facts, now: Facts) -> Row:
    part, _space, rest = one.name.partition(" ")
    of_list = bool(rest) and part in _LISTS
    return Row(
        name=_name(one.name),
        item=(rest if part in _IN_WORDS else named(rest)) if of_list else _name(one.name),
        group=str(_LISTS[part][1]) if of_list else "",
        then=then.side(one.name, one.then),
        now=now.side(one.name, one.now),
    )


def _cut(value: str) -> str:
    """A digest without its image, what else is long without its middle; a dash for what is not there."""
    _image, _at, digest = value.rpartition("@")
    return middle(digest or value) or "–"


def _name(name: str) -> str:
    part, _space, rest = name.partition(" ")
    if rest and part in _LISTS:
        return capfirst(str(_LISTS[part][0]) % {"name": rest})
    return capfirst(str(_NAMES.get(name, name)))


def number(one: compared.Pair, of: str = "") -> Row:
    """of: the suite, where there are several."""
    then, now = (Side(f"{figure(value)} {one.unit}" if value is not None else "") for value in (one.then, one.now))
    name = format_html("{} · {}", of, plain_html(one.name)) if of else plain_html(one.name)
    more = "" if one.slower_percent is None else speed(one.slower_percent)
    return Row(name, name, _("Measurements"), then, now, more)


def speed(slower_percent: float) -> str:
    """How much slower or faster, in words: percent, and above ten times the ratio."""
    if abs(slower_percent) < 0.5:
        return _("same")
    times = 1 + slower_percent / 100
    if times >= 10:
        return _("%(n)s× slower") % {"n": f"{times:,.0f}"}
    if 0 < times <= 0.1:
        return _("%(n)s× faster") % {"n": f"{1 / times:,.0f}"}
    text = _("%(n)s %% slower") if slower_percent > 0 else _("%(n)s %% faster")
    return text % {"n": f"{abs(slower_percent):.0f}"}
