"""A run that went wrong, in the words of its page: since when, what differs from the last that passed, and the runs before it."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pages.rows.runs import RunLine, run_line
from pages.sections.measured import figure
from pages.words.names import plain_html
from validations import compared
from validations.models import Run

_SAME: dict[str, Promise] = {
    compared.CARD: gettext_lazy("same card"),
    compared.NODE: gettext_lazy("other card on the same node"),
    compared.MODEL: gettext_lazy("other node, same card model"),
}
_NAMES: dict[str, Promise] = {
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
}
_PARTS: dict[str, Promise] = {
    "option": gettext_lazy("option %(name)s"),
    "label": gettext_lazy("label %(name)s"),
    "plugin": gettext_lazy("plugin %(name)s"),
    "log": gettext_lazy("%(name)s (from the log)"),
}


@dataclass(frozen=True)
class Row:
    """Something that changed, or a measurement. then, now: "" when not known, or not there. more: percent, in words."""

    name: str
    then: str
    now: str
    more: str = ""


@dataclass(frozen=True)
class ComparedLines:
    """What the panel prints. passed: the run compared with, None for none; same: in words. first: of those that went wrong."""

    passed: RunLine | None
    same: str
    first: RunLine | None
    is_first: bool
    changes: list[Row]
    unknown: list[str]
    numbers: list[Row]
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
        changes=[Row(_name(one.name), one.then or "", one.now or "") for one in found.changes],
        unknown=[_name(one.name) for one in found.unknown],
        numbers=[_number(one) for one in found.measurements]
        if any(one.now is not None for one in found.measurements)
        else [],
        strip=[run_line(one) for one in found.strip],
    )


def _name(name: str) -> str:
    part, _space, rest = name.partition(" ")
    if rest and part in _PARTS:
        return str(_PARTS[part]) % {"name": rest}
    return str(_NAMES.get(name, name))


def _number(one: compared.Pair) -> Row:
    then, now = (f"{figure(value)} {one.unit}" if value is not None else "" for value in (one.then, one.now))
    more = "" if one.slower_percent is None else _percent(one.slower_percent)
    return Row(plain_html(one.name), then, now, more)


def _percent(slower: float) -> str:
    if abs(slower) < 0.5:
        return _("same")
    text = _("%(n)s %% slower") if slower > 0 else _("%(n)s %% faster")
    return text % {"n": f"{abs(slower):.0f}"}
