"""Components in words: what they are called, their states, and one of them as a template prints it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from inventory.models import Component
from inventory.models.choices import ComponentState
from inventory.queries import rows as querysets
from pages.frame.links import node_url, with_query
from pages.frame.worded import between, foreign, named, translated, worded_html
from resources.component import NONE
from resources.filter_fields import MAX_LENGTH
from stacks.engine.software import base
from wording import said

#: Names that are words; other components are called as in tables and addresses.
_TITLES: Mapping[str, Promise] = {
    "container-toolkit": gettext_lazy("Container toolkit"),
    "device-plugin": gettext_lazy("Device plugin"),
    "driver": gettext_lazy("Driver"),
    "gpu-feature-discovery": gettext_lazy("GPU feature discovery"),
    "gpu-operator": gettext_lazy("GPU Operator"),
    "mig-manager": gettext_lazy("MIG manager"),
    "mps-control-daemon": gettext_lazy("MPS control daemon"),
    "dcgm": gettext_lazy("DCGM"),
    "dcgm-exporter": gettext_lazy("DCGM exporter"),
    "operator-validator": gettext_lazy("Operator validator"),
    "gpushare-device-plugin": gettext_lazy("gpushare plugin"),
    "gpushare-scheduler-extender": gettext_lazy("gpushare extender"),
    "hami-device-plugin": gettext_lazy("HAMi plugin"),
    "hami-scheduler": gettext_lazy("HAMi scheduler"),
    "directx-alibaba": gettext_lazy("DirectX plugin (Alibaba)"),
    "directx-wddm": gettext_lazy("DirectX plugin (WDDM)"),
    "directx-mcdm": gettext_lazy("DirectX plugin (MCDM)"),
    "dra-kubelet-plugin": gettext_lazy("DRA kubelet plugin"),
    "amd-driver": gettext_lazy("AMD driver"),
    "amd-device-plugin": gettext_lazy("AMD device plugin"),
    "intel-gpu-plugin": gettext_lazy("Intel GPU plugin"),
}
LEVELS: Mapping[str, str] = {
    base.CRASH_LOOPING: "error",
    base.MISSING: "error",
    base.NOT_READY: "error",
    base.PENDING: "warning",
    base.WAITING: "none",
    base.PAUSED: "info",
    base.OUTDATED: "warning",
    base.UNKNOWN: "none",
    base.READY: "good",
    base.DISABLED: "none",
    base.NOT_NEEDED: "none",
}
#: States that are no fault by themselves: a component that explains others in one of them says why in a warning.
_WORKS = frozenset((base.READY, base.OUTDATED))
#: States in which a component should be in another one.
PROBLEMS = (
    *(base.CRASH_LOOPING, base.MISSING, base.NOT_READY, base.PENDING),
    *(base.WAITING, base.PAUSED, base.OUTDATED),
)
#: Of the rest, those that nobody has to act on.
MUTED = (base.UNKNOWN, base.DISABLED, base.NOT_NEEDED)
#: Components that a cluster has once, which are drawn; custom resources are as many as somebody has made.
MOST_OF_CLUSTER = 100
_COMMANDS = ("kubectl ", "helm ", "gpudash ")


def title_of(name: str) -> SafeString:
    """What a component is called, as HTML: a word, or its name as it stands in tables and addresses."""
    return escape(_TITLES[name]) if name in _TITLES else named(name)


def plain_title(name: str) -> str:
    """The same for an attribute."""
    return str(_TITLES.get(name, name))


def state_of(state: str) -> str:
    return str(ComponentState(state).label) if state in LEVELS else state


def list_url(**filters: str) -> str:
    """The list of components with these filters."""
    return with_query(reverse("component-list"), **filters)


@dataclass(frozen=True)
class ComponentLine:
    """What a template prints of a component. why, remedy: HTML. level, sign: of its state. muted: nobody has to act on it.

    since: since when it is in its state, as the object says, else as gpudash saw it.
    """

    row: Component
    title: SafeString
    state: str
    level: str
    muted: bool
    why: SafeString
    warnings: list[SafeString]
    remedy: SafeString
    since: datetime
    node_url: str

    @property
    def ready(self) -> bool:
        return self.row.state == base.READY

    @property
    def heading(self) -> SafeString:
        """Its title and its state; without that where it is ready, and wrong all the same."""
        return self.title if self.ready else format_html("{}: {}", self.title, self.state)

    @property
    def tip(self) -> str:
        """Its title, state and versions in one line, as text."""
        row = self.row
        parts = [plain_title(row.name), self.state]
        parts += [_("version %(version)s") % {"version": row.version}] if row.version else []
        parts += [_("expected %(version)s") % {"version": row.wanted}] if row.wanted else []
        return " · ".join(parts)


def component_line(row: Component) -> ComponentLine:
    forms = row.wording if isinstance(row.wording, dict) else {}
    of_warnings = forms.get("warnings") or []
    return ComponentLine(
        row=row,
        title=title_of(row.name),
        state=state_of(row.state),
        level="error" if row.first_cause and row.state in _WORKS else LEVELS.get(row.state, "none"),
        muted=row.state in MUTED,
        why=worded_html(row.why, forms.get("why")),
        warnings=[
            worded_html(str(text), of_warnings[place] if place < len(of_warnings) else None)
            for place, text in enumerate(row.warnings)
        ],
        remedy=remedy_html(row.remedy, forms.get("remedy")),
        since=row.since or row.state_since,
        node_url=node_url(row.cluster.name, row.node_name) if row.node_name else "",
    )


def component_lines(rows: Iterable[Component]) -> list[ComponentLine]:
    return [component_line(row) for row in rows]


def remedy_html(text: str, form: object) -> SafeString:
    """A command as code; of a sentence, the commands in it."""
    if not text:
        return SafeString()
    restored = said.restored(text, form) if form is not None else text
    if not isinstance(restored, said.Said):
        return command(text)
    made = said.worded(form, translated, between(), _commands_as_code)
    return mark_safe(made)  # noqa: S308 (template and arguments are escaped)


def command(text: str) -> SafeString:
    """To be copied: a click selects it whole."""
    return format_html('<code class="command">{}</code>', text)


def _commands_as_code(text: str) -> str:
    return command(text) if text.startswith(_COMMANDS) else foreign(text)


def why_filter(why: str) -> str:
    """What the list's filter `why` is for this reason."""
    return why[:MAX_LENGTH] or NONE


def lines_of_cluster(cluster_id: int) -> list[ComponentLine]:
    """What a cluster has once, what is wrong first."""
    rows = querysets.components().filter(cluster_id=cluster_id, node_name="").order_by("position", "id")
    return sorted(component_lines(rows[:MOST_OF_CLUSTER]), key=lambda line: (line.muted, line.ready))
